#!/usr/bin/env python3
"""How the time, memory and bytes of each stage grow with the number of edges.

usage:
  bench/bench.py scaling --sizes 18,27,2 > RESULTS.json
      measures graphs of 2^18, 2^20, ... edges
  $(bench/peers.sh plots) bench/scaling.py plot RESULTS.json DOCS
      writes DOCS/scaling-time.svg, -memory.svg and -bytes.svg, and prints the table of docs/scaling.md; leaves disturbed runs out

The graphs are R-MAT with 16 edges per node. The work of each stage is proportional to the edges: samples and feeds have one
seed per 1,024 edges, and the graphs of pack have 64 edges each.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
EDGE_FACTOR, PER_SEED, PER_GRAPH, PARTS = 16, 1024, 64, 8
STAGES = {
    "generate": "`generate rmat`",
    "import": "`import` of pairs in npy",
    "sample, memory": "`sample --executor memory`, fanout 15,10",
    "sample, stream": "`sample --executor stream`, fanout 15,10",
    "feed": "`NodeLoader`, fanout 15,10, NumPy",
    "partition": "`partition`, 8 parts",
    "dispatch": "`dispatch --graph-formats csc` into 8 random parts",
    "pack": "`pack --stream`",
}
QUANTITIES = {"time": ("seconds", 1), "memory": ("peak MiB", 1 << 20), "bytes": ("MiB read from and written to the disk", 1 << 20)}
FITTED = 3  # sizes of a fit, the largest ones: small graphs fit caches
SHORTEST = 0.5  # seconds; a shorter run is mostly the start of a process, and is left out of fits
BOUND = 0.7  # share of a resource from which it is called the bound


def run(bench: Any, measure: Callable[[Sequence[object], dict[str, str], pathlib.Path], dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Runs each stage at each size and number of threads. Returns a point per run, and the speed of the disk."""
    args, points = bench.args, []
    numpy, folder = bench.python("tables", "numpy"), bench.work / "scaling"
    folder.mkdir(exist_ok=True)
    disk = disk_speed(folder / "speed")
    store, pairs, sizes, parts, out = (folder / n for n in ("rmat.store", "pairs.npy", "sizes.csv", "parts", "out"))
    memory = ["--memory", args.scaling_memory]
    first, last, *step = args.sizes
    for size in range(first, last + 1, *step):
        seeds = max(1, (1 << size) // PER_SEED)
        generate = [bench.graphmill, "generate", "rmat", "--scale", size - int(math.log2(EDGE_FACTOR)), "--edge-factor", EDGE_FACTOR, "--seed", 1, *memory]
        sample = [bench.graphmill, "sample", store, "--fanout", "15,10", "--batch-size", 1024, "--limit-seeds", seeds, "--shuffle", "--executor"]
        stages = {
            "generate": generate,
            "import": [bench.graphmill, "import", pairs, *memory],
            "sample, memory": [*sample, "memory"],
            "sample, stream": [*sample, "stream", *memory],
            "feed": [numpy, HERE / "scaling.py", "feed", store, seeds],
            "partition": [bench.graphmill, "partition", store, "--parts", PARTS, "--memory", args.partition_memory],
            "dispatch": [bench.graphmill, "dispatch", store, "--assignment", parts, "--graph-formats", "csc", *memory],
            "pack": [bench.graphmill, "pack", sizes, "--stream", "--limit", "num_nodes=1024", "--limit", "num_edges=4096"],
        }
        try:
            make(*generate, "--out", store)
            make(numpy, HERE / "scaling.py", "inputs", store, pairs, sizes, (1 << size) // PER_GRAPH)
            make(bench.graphmill, "partition", store, "--method", "random", "--parts", PARTS, "--out", parts)
            for stage, command in stages.items():
                if stage == "partition" and size > args.partition_edges:
                    continue
                for t in args.threads[:1] if stage == "pack" else args.threads:  # pack --stream has one thread
                    points.append(
                        {"stage": stage, "edges": 1 << size, "threads": t}
                        | measure([*command, "--threads", t, *([] if stage == "feed" else ["--out", out])], bench.client(), out)
                    )
                    p = points[-1]
                    print(f"bench.py: 2^{size} edges, {stage}, {t} threads: {p['time']:.3g} s, {p['memory'] / 2**20:,.0f} MiB", file=sys.stderr)
        finally:
            for path in (store, pairs, sizes, parts, out):
                remove(path)
    return points, disk


def make(*command: object) -> None:
    subprocess.run([str(a) for a in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def remove(path: pathlib.Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def disk_speed(path: pathlib.Path, size: int = 1 << 30, block: int = 4 << 20) -> dict[str, float]:
    """Bytes per second of writing and of reading a file past the page cache, one block after another."""
    buffer, speeds = mmap.mmap(-1, block), {}
    try:
        for name, flags, call in (("write", os.O_WRONLY | os.O_CREAT, os.write), ("read", os.O_RDONLY, lambda f, b: os.readv(f, [b]))):
            f = os.open(path, flags | os.O_DIRECT)
            try:
                start = time.perf_counter()
                for _ in range(size // block):
                    call(f, buffer)
                speeds[name] = size / (time.perf_counter() - start)
            finally:
                os.close(f)
    finally:
        path.unlink(missing_ok=True)
    return speeds


def inputs(store: str, pairs: str, sizes: str, graphs: str) -> None:
    """Writes the edges of a store as pairs, a block of nodes at a time, and the sizes of graphs of about 64 edges."""
    import numpy as np

    folder = pathlib.Path(store)
    edges = next(iter(json.loads((folder / "graph.json").read_text())["edges"].values()))
    indptr, far = (np.load(folder / name, mmap_mode="r") for name in (edges["arrays"]["indptr"], edges["arrays"]["far"]))
    out = np.lib.format.open_memmap(pairs, mode="w+", dtype=np.int32, shape=(len(far), 2))
    block = 1 << 20
    for at in range(0, len(indptr) - 1, block):
        ends = indptr[at : at + block + 1].astype(np.int64)
        out[ends[0] : ends[-1], 1] = np.repeat(np.arange(at, at + len(ends) - 1, dtype=np.int32), np.diff(ends))
        out[ends[0] : ends[-1], 0] = far[ends[0] : ends[-1]]
    draw = np.random.default_rng(1)
    with open(sizes, "w") as f:
        f.write("num_nodes,num_edges\n")
        for at in range(0, int(graphs), block):
            n = draw.integers(PER_GRAPH // 4, PER_GRAPH, min(block, int(graphs) - at))
            np.savetxt(f, np.stack([n, n + draw.integers(0, 2 * PER_GRAPH - n)], axis=1), "%d", ",")


def feed(store: str, seeds: str, threads: str) -> None:
    """One epoch of a NodeLoader, whose batches are discarded."""
    import numpy as np
    from graphmill import NodeLoader

    nodes = next(iter(json.loads((pathlib.Path(store) / "graph.json").read_text())["nodes"].values()))["count"]
    picked = np.random.default_rng(1).integers(0, nodes, int(seeds))
    with NodeLoader(store, fanout=[15, 10], batch_size=1024, seeds=picked, threads=int(threads)) as loader:
        for _ in loader:
            pass


def slope(xs: list[float], ys: list[float]) -> float:
    """The exponent of the power law that fits best, by least squares of the logarithms."""
    xs, ys = [math.log(x) for x in xs], [math.log(max(y, 1e-9)) for y in ys]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def bound(point: dict[str, Any], disk: dict[str, float]) -> str:
    """What rules the time of a run: the cores, the disk, or waiting for both in turn."""
    cores = point["cpu"] / point["time"] / point["threads"]
    io = (point["read"] / disk["read"] + point["written"] / disk["write"]) / point["time"]
    name = "cores" if cores >= BOUND and cores >= io else "disk" if io >= BOUND else "both in turn" if cores + io >= BOUND else "waiting"
    return f"{name} ({cores:.0%} of the cores, {io:.0%} of the disk)"


def quiet(result: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The result without the runs that other programs disturbed, and a sentence that names these."""
    points = result["points"]
    calm = [p for p in points if p["others"] is not None and p["others"] <= result["disturbed_from"]]
    gone = [f"{p['stage']} 2^{int(math.log2(p['edges']))} ({p['threads']})" for p in points if p not in calm]
    text = (
        f"{len(gone)} of {len(points)} runs were disturbed by other programs or by the host, and are left out: {'; '.join(gone)}."
        if gone
        else "No run was disturbed."
    )
    return result | {"points": calm}, text


def tables(result: dict[str, Any]) -> Iterator[str]:
    """The fits, and what rules at the largest size, as Markdown."""
    yield "| stage | threads | time | peak memory | bytes | edges, seconds, peak MiB of the largest run | what rules it |"
    yield "|---|--:|--:|--:|--:|---|---|"
    for stage, what in STAGES.items():
        for t in sorted({p["threads"] for p in result["points"] if p["stage"] == stage}):
            points = [p for p in result["points"] if p["stage"] == stage and p["threads"] == t]
            fitted = [p for p in points if p["time"] >= SHORTEST][-FITTED:]
            fits = [
                "-" if len(fitted) < FITTED else f"{slope([p['edges'] for p in fitted], [p[q] for p in fitted]):.2f}" if max(p[q] for p in fitted) > 0 else "0"
                for q in QUANTITIES
            ]
            last = points[-1]
            yield (
                f"| {what} | {t} | {' | '.join(fits)} | 2^{int(math.log2(last['edges']))}, {last['time']:.3g}, {last['memory'] / 2**20:,.0f} | "
                f"{bound(last, result['disk'])} |"
            )


def plot(result: dict[str, Any], folder: str) -> None:
    """Three plots, one per quantity: a line per stage, solid for the most threads."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "graphmill"  # the same bytes for the same figures
    import matplotlib.pyplot as plt

    most = max(p["threads"] for p in result["points"])
    for name, (label, unit) in QUANTITIES.items():
        fig, ax = plt.subplots(figsize=(8, 5))
        ends = []
        for k, stage in enumerate(STAGES):
            for t in sorted({p["threads"] for p in result["points"] if p["stage"] == stage}):
                points = [p for p in result["points"] if p["stage"] == stage and p["threads"] == t and p[name] > 0]
                if not points:
                    continue
                solid = t == most or stage == "pack"
                ax.plot(
                    [p["edges"] for p in points],
                    [p[name] / unit for p in points],
                    color=f"C{k}",
                    marker=".",
                    linewidth=1.5 if solid else 0.8,
                    linestyle="-" if solid else ":",
                )
                if solid:
                    ends.append((points[-1][name] / unit, stage, f"C{k}", points[-1]["edges"]))
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        at, gap = 0.0, 0.045  # of the height: labels of close lines move apart
        for y, stage, color, _x in sorted(ends):
            at = max(at + gap, math.log(y / low) / math.log(high / low))
            ax.annotate(stage, (1.01, at), xycoords="axes fraction", color=color, va="center")
        ax.set_xlabel("edges")
        ax.set_ylabel(label)
        ax.grid(True, which="major", linewidth=0.3)
        ax.set_title(f"{label} (solid: {most} threads, dotted: fewer)", fontsize=10)
        fig.savefig(pathlib.Path(folder) / f"scaling-{name}.svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(fig)


def main(what: str, *rest: str) -> None:
    if what == "plot":
        result, left_out = quiet(json.loads(pathlib.Path(rest[0]).read_text())["scaling"])
        plot(result, rest[1])
        print("\n".join([*tables(result), "", left_out]))
    elif what == "inputs":
        inputs(*rest)
    elif what == "feed":
        feed(rest[0], rest[1], rest[rest.index("--threads") + 1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["help"]))
