#!/usr/bin/env python3
"""Judges partitioners by profiles over many graphs.

  partition_profiles.py FOLDER --graphmill bin/graphmill --cuts cuts.json [--parts 8] [--seeds 5] [--graphs A,B]

FOLDER holds the graphs of partition_families.py. Each contestant divides each graph with each random seed on one thread: Graphmill's
presets, METIS (gpmetis), KaMinPar and Mt-KaHyPar (both by their default). What a peer found is kept in the file of --cuts, by
graph, version, parts, imbalance and random seed, and computed once; --fresh computes it again, which ratios of times need.

Prints one JSON:
  profiles  of each contestant, the share of graphs whose mean cut is at most 1.00, 1.01, ... of the least mean cut on that graph
  graphs    of each graph and contestant: mean cut, spread (largest cut by the least), balance, edge_balance, CPU seconds of dividing (least)
  ratios    of preset default to the better of METIS and KaMinPar, of preset high to Mt-KaHyPar, and of times and edge balances to METIS's:
            geometric mean, largest, the graph of the largest, and the graphs above 1
  cached    whether figures of peers, and so their times, are from an earlier run
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import math
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import peer_partition

TAUS = [1.0, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0]
PRESETS = {"graphmill": "default", "graphmill fast": "fast", "graphmill high": "high"}
PEERS = {"METIS": "gpmetis", "KaMinPar": "kaminpar", "Mt-KaHyPar": "mtkahypar"}


def version(peer: str) -> str:
    if peer == "gpmetis":  # it tells no version without a graph
        program = shutil.which(peer) or sys.exit("found no gpmetis, expected METIS's program; install it (Debian: apt-get install metis)")
        return "sha256:" + hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()[:12]
    return importlib.metadata.version(peer)


class Cuts:
    """What peers found, in a file."""

    def __init__(self, path: pathlib.Path, fresh: bool) -> None:
        self.path, self.used = path, False
        self.known = json.loads(path.read_text()) if path.exists() and not fresh else {}

    def of(self, key: str, compute: Callable[[], Any]) -> Any:
        if key in self.known:
            self.used = True
            return self.known[key]
        self.known[key] = compute()
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(self.known, indent=0, sort_keys=True))
        os.replace(partial, self.path)
        return self.known[key]


def graphmill(a: argparse.Namespace, prefix: pathlib.Path, seed: int, *more: object) -> tuple[dict[str, Any], float]:
    """What a run tells, and its CPU seconds, all threads and the start included."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            a.graphmill,
            "partition",
            f"{prefix}.graph",
            "--parts",
            a.parts,
            "--imbalance",
            a.imbalance,
            "--seed",
            seed,
            *more,
            "--threads",
            1,
            "--out",
            pathlib.Path(folder, "parts"),
            "--json",
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(out), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(a: argparse.Namespace, prefix: pathlib.Path, preset: str, seed: int, rest: float) -> dict[str, float]:
    told, cpu = graphmill(a, prefix, seed, "--preset", preset)
    return {"cut": told["cut"], "balance": told["balance"]["nodes"], "edge_balance": told["edge_balance"], "cpu_seconds": cpu - rest}


def theirs(a: argparse.Namespace, prefix: pathlib.Path, peer: str, seed: int) -> dict[str, Any]:
    return peer_partition.judged(argparse.Namespace(prefix=prefix, peer=peer, parts=a.parts, imbalance=a.imbalance, seed=seed, threads=1))


def mean(found: list[dict[str, Any]]) -> dict[str, float]:
    """The figures of one contestant on one graph, over the seeds."""
    cuts = [f["cut"] for f in found]
    average: Callable[[str], float] = lambda name: statistics.mean(f[name] for f in found)
    return {
        "cut": average("cut"),
        "spread": max(cuts) / max(1, min(cuts)),
        "balance": average("balance"),
        "edge_balance": average("edge_balance"),
        "seconds": min(f["cpu_seconds"] for f in found),
    }


def profiles(graphs: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Performance profiles (Dolan and More 2002)."""
    rows: dict[str, list[float]] = {name: [] for name in next(iter(graphs.values()))}
    for table in graphs.values():
        least = min(f["cut"] for f in table.values())
        for name, f in table.items():
            rows[name].append((f["cut"] + 1) / (least + 1))  # some trees are divided without a cut
    return {name: {str(t): sum(r <= t for r in ratios) / len(ratios) for t in TAUS} for name, ratios in rows.items()}


def ratio(graphs: dict[str, dict[str, Any]], ours: Callable[[dict[str, Any]], float], theirs: Callable[[dict[str, Any]], float]) -> dict[str, Any]:
    """One figure for each graph, from two functions of its table."""
    each = {name: ours(table) / theirs(table) for name, table in graphs.items()}
    most = max(each, key=lambda name: each[name])
    return {
        "mean": math.exp(statistics.mean(map(math.log, each.values()))),
        "most": each[most],
        "on": most,
        "above": {name: r for name, r in each.items() if r > 1},
    }


def ratios(graphs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    cut: Callable[[str], Callable[[dict[str, Any]], float]] = lambda name: lambda table: table[name]["cut"] + 1
    better: Callable[[dict[str, Any]], float] = lambda table: min(cut("METIS")(table), cut("KaMinPar")(table))
    of: Callable[[str, str], Callable[[dict[str, Any]], float]] = lambda name, what: lambda table: max(table[name][what], 1e-3)
    return {
        "default by the better of METIS and KaMinPar": ratio(graphs, cut("graphmill"), better),
        "fast by the better of METIS and KaMinPar": ratio(graphs, cut("graphmill fast"), better),
        "high by Mt-KaHyPar": ratio(graphs, cut("graphmill high"), cut("Mt-KaHyPar")),
        "CPU seconds of default by METIS's": ratio(graphs, of("graphmill", "seconds"), of("METIS", "seconds")),
        "CPU seconds of fast by METIS's": ratio(graphs, of("graphmill fast", "seconds"), of("METIS", "seconds")),
        "edge balance of default by METIS's": ratio(graphs, of("graphmill", "edge_balance"), of("METIS", "edge_balance")),
    }


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--graphmill", type=pathlib.Path, required=True)
    p.add_argument("--cuts", type=pathlib.Path, required=True, help="file of what peers found")
    p.add_argument("--fresh", action="store_true", help="do not read that file")
    p.add_argument("--graphs", help="names of graphs (default: all of the folder)")
    p.add_argument("--parts", type=int, default=8)
    p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--imbalance", type=float, default=1.03)
    a = p.parse_args()
    cuts, graphs = Cuts(a.cuts, a.fresh), {}
    versions = {peer: version(peer) for peer in PEERS.values()}
    for path in sorted(a.folder.glob("*.graph")):
        if a.graphs and path.stem not in a.graphs.split(","):
            continue
        prefix, seeds = path.with_suffix(""), range(1, a.seeds + 1)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        rest = min(graphmill(a, prefix, s, "--method", "hash")[1] for s in range(3))  # CPU seconds without dividing: reading, writing
        table = {title: mean([ours(a, prefix, preset, s, rest) for s in seeds]) for title, preset in PRESETS.items()}
        for title, peer in PEERS.items():
            key: Callable[[int], str] = lambda s: f"{digest} {peer} {versions[peer]} {a.parts} {a.imbalance} {s}"
            table[title] = mean([cuts.of(key(s), lambda: theirs(a, prefix, peer, s)) for s in seeds])
        graphs[path.stem] = table
        print(f"partition_profiles.py: {path.stem}: " + ", ".join(f"{t} {f['cut']:,.0f}" for t, f in table.items()), file=sys.stderr)
    if not graphs:
        sys.exit(f"{a.folder}: found no graph, expected those of partition_families.py")
    print(json.dumps({"profiles": profiles(graphs), "ratios": ratios(graphs), "graphs": graphs, "cached": cuts.used, "versions": versions}, indent=1))


if __name__ == "__main__":
    main()
