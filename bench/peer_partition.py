#!/usr/bin/env python3
"""Partitions a graph by other partitioners, and times them.

  peer_partition.py PREFIX --peer gpmetis --parts 8

PREFIX is what partition_graphs.py wrote: PREFIX.graph (METIS text), PREFIX.xadj.npy,
PREFIX.adjncy.npy. Peers: gpmetis (one thread), kaminpar and kaminpar-fast, mtkahypar
and mtkahypar-quality.

Prints one JSON: cut, balance and edge_balance by the definition of cut_check.py, and
seconds and cpu_seconds of the partitioning only, without loading the graph.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt


def gpmetis(a: argparse.Namespace) -> tuple[npt.NDArray[Any], float, float]:
    """METIS by its own program, which prints the time of partitioning without reading and writing. pymetis is built with
    ids of 64 bits and is slower."""
    program = shutil.which("gpmetis") or sys.exit("found no gpmetis, expected METIS's program; install it (Debian: apt-get install metis)")
    command = [program, f"-seed={a.seed}", f"-ufactor={round((a.imbalance - 1) * 1000)}", f"{a.prefix}.graph", str(a.parts)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    took = re.search(r"Partitioning:\s+([\d.]+) sec", told)
    assert took, told
    seconds = float(took[1])
    output = pathlib.Path(f"{a.prefix}.graph.part.{a.parts}")
    part = np.loadtxt(output, np.int64)
    output.unlink()
    return part, seconds, seconds  # one thread


def kaminpar(preset: str) -> Callable[[argparse.Namespace], Callable[[], Any]]:
    def prepare(a: argparse.Namespace) -> Callable[[], Any]:
        import kaminpar

        graph = kaminpar.load_graph(str(a.prefix) + ".graph", kaminpar.GraphFileFormat.METIS)
        kaminpar.reseed(a.seed)
        instance = kaminpar.KaMinPar(num_threads=a.threads, ctx=kaminpar.context_by_name(preset))
        return lambda: instance.compute_partition(graph, k=a.parts, eps=a.imbalance - 1)

    return prepare


@functools.cache
def mtkahypar_started(threads: int) -> Any:
    import mtkahypar

    return mtkahypar.initialize(threads)  # once per process


def mtkahypar(preset: str) -> Callable[[argparse.Namespace], Callable[[], Any]]:
    def prepare(a: argparse.Namespace) -> Callable[[], Any]:
        import mtkahypar

        start = mtkahypar_started(a.threads)
        mtkahypar.set_seed(a.seed)
        context = start.context_from_preset(getattr(mtkahypar.PresetType, preset))
        context.set_partitioning_parameters(a.parts, a.imbalance - 1, mtkahypar.Objective.CUT)
        context.logging = False
        graph = start.graph_from_file(str(a.prefix) + ".graph", context, mtkahypar.FileFormat.METIS)
        return lambda: graph.partition(context).get_partition()

    return prepare


def timed(prepare: Callable[[argparse.Namespace], Callable[[], Any]]) -> Callable[[argparse.Namespace], tuple[npt.NDArray[Any], float, float]]:
    def run(a: argparse.Namespace) -> tuple[npt.NDArray[Any], float, float]:
        partition = prepare(a)
        cpu, start = os.times(), time.perf_counter()
        part = partition()
        seconds, after = time.perf_counter() - start, os.times()
        return np.asarray(part, np.int64), seconds, after.user + after.system - cpu.user - cpu.system

    return run


PEERS = {
    "gpmetis": gpmetis,
    "kaminpar": timed(kaminpar("default")),
    "kaminpar-fast": timed(kaminpar("fast")),
    "mtkahypar": timed(mtkahypar("DEFAULT")),
    "mtkahypar-quality": timed(mtkahypar("QUALITY")),
}


def quality(xadj: npt.NDArray[Any], adjncy: npt.NDArray[Any], part: npt.NDArray[Any], parts: int) -> dict[str, Any]:
    nodes, step, cut = len(xadj) - 1, 1 << 20, 0
    for i in range(0, nodes, step):  # slices keep memory small
        j = min(nodes, i + step)
        cut += int((np.repeat(part[i:j], np.diff(xadj[i : j + 1])) != part[adjncy[xadj[i] : xadj[j]]]).sum())
    share: Callable[[npt.NDArray[Any]], float] = lambda weights: float(np.bincount(part, weights, parts).max()) * parts / float(weights.sum())
    return {"cut": cut // 2, "balance": share(np.ones(nodes)), "edge_balance": share(np.diff(xadj).astype(float))}


def judged(a: argparse.Namespace) -> dict[str, Any]:
    """Runs a peer, and measures what it found."""
    part, seconds, cpu = PEERS[a.peer](a)
    xadj = np.load(str(a.prefix) + ".xadj.npy").astype(np.int64)
    adjncy = np.load(str(a.prefix) + ".adjncy.npy", mmap_mode="r")
    if len(part) != len(xadj) - 1 or part.min() < 0 or part.max() >= a.parts:
        sys.exit(f"{a.peer}: found {len(part)} parts from {part.min()} to {part.max()}, expected {len(xadj) - 1} below {a.parts}")
    return {"seconds": seconds, "cpu_seconds": cpu, "edges": len(adjncy) // 2, **quality(xadj, adjncy, part, a.parts)}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("prefix", type=pathlib.Path)
    p.add_argument("--peer", choices=sorted(PEERS), required=True)
    p.add_argument("--parts", type=int, required=True)
    p.add_argument("--imbalance", type=float, default=1.03)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=1)
    a = p.parse_args()
    print(json.dumps(judged(a)))


if __name__ == "__main__":
    main()
