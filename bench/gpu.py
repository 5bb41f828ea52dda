"""What loaders do beside a graphics card: checks and timings, in one call of at most eight minutes.

    bench/gpu.py prepare --folder gpu            on a machine with Go and PyPI: the command, the client, PyG, and the tests, below gpu/ (30 MB)
    gpu/run --device cuda:0 --out OUT            on the machine with the card, which needs torch and Triton: OUT/gpu.json and OUT/gpu.md
    gpu/run --device cpu --small --out OUT       the same steps on small graphs without a card, for tests

Each step is independent of the others: what fails or does not fit its time says so in its row, and OUT has all rows that were made so far. Steps come in the order
of their importance.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "bench" / "peers" / "pyg-requirements.txt"
TIMES = {
    "machine": 20,
    "checks": 90,
    "products": 150,
    "papers": 110,
    "card": 60,
    "threads": 50,
}  # seconds of the steps, of which the sum is below eight minutes


def prepare(folder: Path) -> None:
    """Put what travels into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("bin", "python", "site"):
        (folder / part).mkdir(parents=True)
    env = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-trimpath"}
    subprocess.run(["go", "build", "-ldflags=-s -w", "-o", str(folder.resolve() / "bin" / "graphmill"), "./cmd/graphmill"], cwd=ROOT, env=env, check=True)
    with open(folder / "bin" / "graphmill", "rb") as whole, gzip.open(folder / "graphmill.gz", "wb") as packed:
        shutil.copyfileobj(whole, packed)
    shutil.rmtree(folder / "bin")
    shutil.copytree(ROOT / "python" / "src" / "graphmill", folder / "python" / "graphmill", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "python" / "tests", folder / "repository" / "python" / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for reference in ("internal/sample/testdata/reference", "batch/testdata/reference"):
        shutil.copytree(ROOT / reference, folder / "repository" / reference, ignore=shutil.ignore_patterns("__pycache__", "*.json", "*.npz"))
    shutil.copy(__file__, folder / "gpu.py")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target", str(folder / "site")]
    subprocess.run([*pip, "--constraint", str(PINS), "torch_geometric"], check=True)
    for of in ("numpy*", "bin"):  # NumPy comes with torch there
        for path in (folder / "site").glob(of):
            shutil.rmtree(path)
    run = folder / "run"
    run.write_text('#!/bin/sh\nexec "${PYTHON:-python3}" -B "$(dirname "$0")/gpu.py" run --folder "$(dirname "$0")" "$@"\n')
    run.chmod(0o755)


class Rows:
    """The rows of the result, which are written after each step."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self.rows: list[dict[str, Any]] = []
        out.mkdir(parents=True, exist_ok=True)

    def add(self, step: str, what: str, value: Any, unit: str = "", note: str = "") -> None:
        row = {"step": step, "what": what, "value": value, "unit": unit, "note": note}
        self.rows.append(row)
        print(f"{step}: {what}: {shown(value)} {unit} {note}".rstrip(), flush=True)
        self.write()

    def write(self) -> None:
        (self._out / "gpu.json").write_text(json.dumps(self.rows, indent=1) + "\n")
        lines = ["| step | what | value | |", "|---|---|--:|---|"]
        lines += [f"| {r['step']} | {r['what']} | {shown(r['value'])} {r['unit']} | {r['note']} |" for r in self.rows]
        (self._out / "gpu.md").write_text("\n".join(lines) + "\n")


def shown(x: Any) -> str:
    """A value as text, with three digits."""
    return str(x) if isinstance(x, (str, int)) else "not run" if x is None else f"{x:.3g}"


class Bench:
    """The steps.

    Args:
        folder: what `prepare` made.
        device: of torch.
        small: graphs of a thousandth of the size.
    """

    def __init__(self, folder: Path, device: str, small: bool, rows: Rows, work: Path) -> None:
        self.folder, self.device, self.small, self.rows, self.work = folder.resolve(), device, small, rows, work
        self.command = os.environ["GRAPHMILL_COMMAND"]
        self.cores = len(os.sched_getaffinity(0))
        self.end = 0.0  # of the step, by the clock of time.monotonic

    def left(self) -> float:
        """Seconds of the step that are left."""
        return self.end - time.monotonic()

    def graphmill(self, *args: object) -> str:
        """The standard output of the command."""
        p = subprocess.run([self.command, *map(str, args)], capture_output=True, text=True, timeout=max(1, self.left()))
        if p.returncode:
            raise RuntimeError(f"graphmill {args[0]}: {p.stderr.strip()[-500:]}")
        return p.stdout

    def synchronize(self) -> None:
        import torch

        if self.device != "cpu":
            torch.cuda.synchronize()

    def run(self) -> None:
        for name, seconds in TIMES.items():
            self.end = time.monotonic() + seconds
            began = time.monotonic()
            try:
                getattr(self, name)()
            except Exception as e:
                traceback.print_exc()
                self.rows.add(name, "ended early", None, "", f"{type(e).__name__}: {' '.join(str(e).split())[:300]}")
            self.rows.add(name, "whole step", time.monotonic() - began, "s")

    def machine(self) -> None:
        """The machine, and the rates of its bus."""
        import torch

        self.rows.add("machine", "processors", self.cores, "", platform.processor() or platform.machine())
        self.rows.add("machine", "torch", torch.__version__)
        if self.device == "cpu":
            return
        p = torch.cuda.get_device_properties(self.device)
        self.rows.add("machine", "card", p.name, "", f"{p.total_memory >> 30} GiB")
        n = 1 << 30
        for what, host in (("pageable memory", torch.ones(n, dtype=torch.uint8)), ("pinned memory", torch.ones(n, dtype=torch.uint8).pin_memory())):
            best = 0.0
            for _ in range(3):
                self.synchronize()
                began = time.perf_counter()
                host.to(self.device, non_blocking=True)
                self.synchronize()
                best = max(best, n / (time.perf_counter() - began))
            self.rows.add("machine", f"copies from {what}", best / 1e9, "GB/s")

    def checks(self) -> None:
        """The client's tests of loaders on a device, with the device in place of a made-up one."""
        for module, graphs in (("test_cache", 8), ("test_cache_packs.TestPyGCached.test_packs", 8), ("test_card.TestCard.test_random_plans", 300)):
            env = {**os.environ, "GRAPHMILL_TEST_DEVICE": self.device, "GRAPHMILL_TEST_GRAPHS": str(2 if self.small else graphs)}
            at = self.folder / "repository" / "python" / "tests"
            try:
                p = subprocess.run(
                    [sys.executable, "-B", "-m", "unittest", module], cwd=at, env=env, capture_output=True, text=True, timeout=max(1, self.left())
                )
            except subprocess.TimeoutExpired:
                self.rows.add("checks", module, None, "", "did not end in time")
                continue
            if "skipped" in p.stderr and module != "test_cache":
                self.rows.add("checks", module, None, "", "Triton is not installed")
                continue
            last = p.stderr.strip().splitlines()[-1:] or [""]
            self.rows.add("checks", module, "equal" if p.returncode == 0 else "DIFFERENT", "", last[0])
            if p.returncode:
                print(p.stderr[-6000:], flush=True)

    def store(self, name: str, divide: int, *args: object) -> str:
        """A graph with the sizes of a data set."""
        path = self.work / f"{name}-{divide}.store"
        if not path.exists():
            began = time.monotonic()
            self.graphmill("generate", f"like:{name}/{divide}", "--out", path, "--quiet", "--no-report", *args)
            self.rows.add("machine", f"generate like:{name}/{divide}", time.monotonic() - began, "s")
        return str(path)

    def loader(self, store: str, **options: Any) -> Any:
        """A loader of the training nodes, in the form of PyG."""
        import graphmill

        plain: dict[str, Any] = dict(fanout=[15, 10, 5], batch_size=1024, seeds="_N:split=train", shuffle=True, as_="pyg", label="label", edge_ids=False)
        return graphmill.NodeLoader(store, **{**plain, "device": self.device, "threads": max(1, self.cores - 2), **options})

    def epoch(self, batches: Any, step: Callable[[Any], None]) -> tuple[float, float, int]:
        """Seconds of an epoch, the share of it that the trainer waited for batches, and the number of batches; as far as the time goes."""
        self.synchronize()
        stats = batches.stats() if hasattr(batches, "stats") else None  # of a loader, which also waits for the device where that has much to do
        before = 0.0 if stats is None else stats.waited
        began = asked = time.perf_counter()
        waited, n = 0.0, 0
        for b in batches:
            waited += time.perf_counter() - asked
            step(b)
            n += 1
            if self.left() < 5:
                break
            asked = time.perf_counter()
        self.synchronize()
        seconds = time.perf_counter() - began
        waited = waited if stats is None else stats.waited - before
        return seconds, waited / seconds, n

    def trainer(self, inputs: int, classes: int) -> Callable[[Any], None]:
        """A step of GraphSAGE with three layers of 256, whose layers compute no more than they need."""
        import torch
        from torch_geometric.nn import GraphSAGE

        model = GraphSAGE(inputs, 256, 3, classes).to(self.device)
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)

        def step(b: Any) -> None:
            hops = {} if "num_sampled_nodes" not in b else {"num_sampled_nodes_per_hop": b.num_sampled_nodes, "num_sampled_edges_per_hop": b.num_sampled_edges}
            out = model(b.x.float(), b.edge_index, **hops)  # PyG without pyg-lib does not count hops
            loss = torch.nn.functional.cross_entropy(out[: b.batch_size], b.y[: b.batch_size].long())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

        return step

    def products(self) -> None:
        """A training of the size of ogbn-products: how long it waits, and what it would take on batches that are on the card."""
        store = self.store("ogbn-products", 1000 if self.small else 1)
        step = self.trainer(100, 47)
        with self.loader(store) as plain:
            kept = []
            for b in plain:
                kept.append(b)
                if sum(x.x.nbytes for x in kept) > (1 << 20 if self.small else 24 << 30):
                    break
            for b in kept[:3]:
                step(b)
            seconds, _, n = self.epoch(kept, step)
            on_card = seconds / n
            self.rows.add(
                "products",
                "batches that are on the card",
                1000 * on_card,
                "ms per batch",
                f"{n} batches of {kept[0].num_nodes:,} nodes, {kept[0].x.nbytes >> 20} MiB of rows",
            )
            del kept
        for what, options in (("rows from the feed", {}), ("cache of all rows", {"cache": "2GiB"}), ("sampled on the card", {"executor": "cuda"})):
            if "executor" in options and self.device == "cpu":
                self.rows.add("products", what, None, "", "no card")
                continue
            try:
                with self.loader(store, **options) as loader:
                    for b in loader:
                        step(b)
                        break
                    seconds, waited, n = self.epoch(loader, step)
                    self.rows.add(
                        "products", what, seconds / n * len(loader), "s per epoch", f"{seconds / n / on_card:.2f} x of batches on the card, waited {waited:.1%}"
                    )
            except Exception as e:
                self.rows.add("products", what, None, "", f"{type(e).__name__}: {' '.join(str(e).split())[:200]}")
        self.pyg(store, step)

    def pyg(self, store: str, step: Callable[[Any], None]) -> None:
        """The same training with PyG's NeighborLoader, at the best number of workers."""
        try:
            import graphmill
            import numpy as np
            import torch
            from torch_geometric.loader import NeighborLoader
            from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE

            if not (WITH_PYG_LIB or WITH_TORCH_SPARSE):
                self.rows.add("products", "PyG's NeighborLoader", None, "", "neither pyg-lib nor torch-sparse is installed")
                return
            data = graphmill.Store(store).to_pyg()
            data.x, data.y = data.feat, data.label
            train = torch.from_numpy(np.flatnonzero(np.asarray(graphmill.Store(store).nodes["_N"]["split"]) == 0))
            best = None
            for workers in (self.cores // 2, self.cores):
                loader = NeighborLoader(
                    data, [15, 10, 5], input_nodes=train, batch_size=1024, shuffle=True, num_workers=workers, pin_memory=self.device != "cpu"
                )
                seconds, waited, n = self.epoch((b.to(self.device, non_blocking=True) for b in loader), step)
                each = seconds / n * len(loader)
                if best is None or each < best[0]:
                    best = each, workers, waited
            assert best is not None
            self.rows.add("products", "PyG's NeighborLoader", best[0], "s per epoch", f"{best[1]} workers, waited {best[2]:.1%}")
        except Exception as e:
            self.rows.add("products", "PyG's NeighborLoader", None, "", f"{type(e).__name__}: {' '.join(str(e).split())[:200]}")

    def over_the_bus(self, loader: Any, seconds: float) -> tuple[int, float, float]:
        """Batches, batches per second, and bytes per batch of a loader that is read for some seconds."""
        self.synchronize()
        began, n = time.perf_counter(), 0
        for _ in loader:
            n += 1
            if time.perf_counter() - began > seconds:
                break
        self.synchronize()
        return n, n / (time.perf_counter() - began), loader.stats().bytes_sent / max(1, loader.stats().batches)

    def papers(self) -> None:
        """Rows over the bus of a part of ogbn-papers100M, with a cache of the same part of 5 GB and without."""
        divide = 20_000 if self.small else 4
        store = self.store("ogbn-papers100M", divide, "--feature-dtype", "float16", "--symmetrise")
        plain = 0.0
        for what, options in (("no cache", {}), ("cache of 5 GB / the part", {"cache": 5_000_000_000 // divide})):
            began = time.perf_counter()
            with self.loader(store, fanout=[10, 10, 10], **options) as loader:
                made = time.perf_counter() - began
                _, rate, size = self.over_the_bus(loader, min(15, max(2, self.left() / 3)))
                plain = plain or size
                note = f"{size / 1e6:.0f} MB per batch" + (
                    f", {plain / size:.2f} x less, {loader.stats().kept_share:.0%} of the rows kept, ready after {made:.1f} s" if options else ""
                )
                self.rows.add("papers", f"ogbn-papers100M/{divide}, {what}", rate, "batches/s", note)

    def card(self) -> None:
        """Draws on the card against those of all processors, on R-MAT 22."""
        if self.device == "cpu":
            self.rows.add("card", "draws", None, "", "no card")
            return
        store = self.work / "rmat22.store"
        self.graphmill("generate", "rmat", "--scale", 14 if self.small else 22, "--edge-factor", 16, "--out", store, "--quiet", "--no-report")
        rates = {}
        for what, options in (("cuda", {"executor": "cuda"}), ("memory", {"threads": self.cores})):
            with self.loader(str(store), fanout=[15, 10], seeds=None, label=None, features="none", **options) as loader:
                edges, began = 0, 0.0
                for n, b in enumerate(loader):
                    if n == 5:
                        self.synchronize()
                        edges, began = 0, time.perf_counter()
                    edges += b.edge_index.shape[1]
                    if n > 5 and time.perf_counter() - began > 10:
                        break
                self.synchronize()
                rates[what] = edges / (time.perf_counter() - began)
                self.rows.add("card", f"executor {what}", rates[what] / 1e6, "million edges/s")
        self.rows.add("card", "ratio", rates["cuda"] / rates["memory"], "x")

    def threads(self) -> None:
        """Draws and feeding by the number of threads."""
        store = self.store("ogbn-products", 1000 if self.small else 1)
        first = 0.0
        for n in [n for n in (1, 4, 8, 16, 32) if n <= self.cores]:
            out = json.loads(self.graphmill("bench", "sample", store, "--fanout", "15,10", "--threads", n, "--batches", 20 if self.small else 200, "--json"))
            rate = out["sampled_edges_per_second"]
            first = first or rate
            self.rows.add("threads", f"draws, {n} threads", rate / 1e6, "million edges/s", f"efficiency {rate / first / n:.2f}")
        first = 0.0
        for n in [n for n in (1, 4, 8, 15) if n <= self.cores]:
            with self.loader(store, fanout=[15, 10], threads=n, as_="numpy", label=None, device=None, slots=8) as loader:
                got, rate, _ = self.over_the_bus(loader, min(4, max(1, self.left() / 6)))
                first = first or rate
                self.rows.add("threads", f"batches with rows, {n} threads", rate, "batches/s", f"efficiency {rate / first / n:.2f}, {got} batches")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("--folder", type=Path, default=Path("gpu"))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--small", action="store_true", help="graphs of a thousandth of the size")
    parser.add_argument("--out", type=Path, default=Path("gpu-results"))
    parser.add_argument("--work", type=Path, help="folder for graphs; default: below --out")
    parser.add_argument("--only", action="append", choices=list(TIMES), help="a step; can be repeated; default: all")
    a = parser.parse_args()
    if a.what == "prepare":
        prepare(a.folder)
        return
    for part in ("python", "site"):
        sys.path.insert(0, str((a.folder / part).resolve()))
    os.environ["PYTHONPATH"] = os.pathsep.join(str((a.folder / part).resolve()) for part in ("python", "site"))
    for step in set(TIMES) - set(a.only or TIMES):
        del TIMES[step]
    work = a.work or a.out / "work"
    work.mkdir(parents=True, exist_ok=True)
    command = work.resolve() / "graphmill"
    with gzip.open(a.folder / "graphmill.gz", "rb") as packed, open(command, "wb") as whole:
        shutil.copyfileobj(packed, whole)
    command.chmod(0o755)
    os.environ["GRAPHMILL_COMMAND"] = str(command)
    Bench(a.folder, a.device, a.small, Rows(a.out), work).run()
    if a.work is None:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
