"""The work of `graphmill bench sample` and of an npy import, done by DGL.

usage: peer_dgl.py sample STORE --peer neighbor_sampler|graphbolt|labor --ids 32|64 --fanout 15,10 --batch-size B --threads T --batches N
       peer_dgl.py csc PAIRS.npy NODES --threads T
       peer_dgl.py partition FOLDER ASSIGNMENT --out DIR --threads T

`partition` runs partition_graph on the arrays of debian_typed.py, with 1 hop, COO and CSC, and the parts of
ASSIGNMENT (a folder of <node type>.txt) instead of METIS's. Everything except METIS is timed.

Prints one JSON. `sample` reads the homogeneous store's own arrays. The samplers run
without a loader's processes, with no shuffling on the clock; GraphBolt returns no
edge ids. Both count fanouts from the far end, so the list is turned around: the
seeds draw as many as Graphmill's. Edges are counted in what came out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("DGLBACKEND", "pytorch")

import dgl
import dgl.distributed
import dgl.graphbolt as gb
import numpy as np
import numpy.typing as npt
import torch

WARM = 20  # batches before the clock starts, as in `graphmill bench sample`
HOMOGENEOUS = "_N:_E:_N"


def adjacency(store: str, ids: int) -> tuple[Any, Any]:
    """indptr and sources of the in-edges of a homogeneous store, as tensors."""
    with open(os.path.join(store, "graph.json")) as f:
        edges = json.load(f)["edges"][HOMOGENEOUS]
    if edges["primary"] != "in":
        raise SystemExit(f"{store}: found primary direction {edges['primary']!r}, expected in; import it as an edge list")
    indptr, far = (np.load(os.path.join(store, edges["arrays"][a])) for a in ("indptr", "far"))
    return torch.from_numpy(indptr.astype(np.int64)), torch.from_numpy(far.astype({32: np.int32, 64: np.int64}[ids]))


def batches_of(indptr: Any, dtype: Any, batch_size: int, count: int) -> list[Any]:
    """Yields batches of the shuffled nodes with in-edges, and starts again at the end."""
    seeds = torch.nonzero(indptr.diff()).flatten()
    seeds = seeds[torch.randperm(len(seeds), generator=torch.Generator().manual_seed(0))].to(dtype)
    whole = list(seeds.split(batch_size))
    if len(whole) > 1 and len(whole[-1]) < batch_size:
        whole.pop()
    return [whole[i % len(whole)] for i in range(count)]


def neighbor_sampler(indptr: Any, far: Any, fanouts: list[int], batches: list[Any]) -> Iterator[int]:
    """Yields the edges drawn for each batch."""
    graph = dgl.graph(("csc", (indptr.to(far.dtype), far, torch.empty(0, dtype=far.dtype))))
    sampler = dgl.dataloading.NeighborSampler(fanouts)
    for seeds in batches:
        yield sum(block.num_edges() for block in sampler.sample_blocks(graph, seeds)[2])


def graphbolt(indptr: Any, far: Any, fanouts: list[int], batches: list[Any]) -> Iterator[int]:
    """Yields the edges drawn for each batch."""
    graph = gb.fused_csc_sampling_graph(indptr, far)
    items = gb.ItemSampler(gb.ItemSet(torch.cat(batches), names="seed_nodes"), batch_size=len(batches[0]))
    for batch in items.sample_neighbor(graph, fanouts):
        yield sum(len(sub.sampled_csc.indices) for sub in batch.sampled_subgraphs)


def labor(indptr: Any, far: Any, fanouts: list[int], batches: list[Any]) -> Iterator[tuple[int, int]]:
    """Yields the edges drawn for each batch by GraphBolt's LayerNeighborSampler, and the number of its nodes."""
    graph = gb.fused_csc_sampling_graph(indptr, far)
    items = gb.ItemSampler(gb.ItemSet(torch.cat(batches), names="seed_nodes"), batch_size=len(batches[0]))
    for batch in items.sample_layer_neighbor(graph, fanouts):
        yield sum(len(sub.sampled_csc.indices) for sub in batch.sampled_subgraphs), len(batch.input_nodes)


def sample_layers(args: argparse.Namespace) -> dict[str, Any]:
    indptr, far = adjacency(args.store, args.ids)
    drawn = labor(indptr, far, [int(f) for f in reversed(args.fanout.split(","))], batches_of(indptr, far.dtype, args.batch_size, WARM + args.batches))
    for _ in range(WARM):
        next(drawn)
    start = time.perf_counter()
    edges, nodes = map(sum, zip(*drawn))
    seconds = time.perf_counter() - start
    return {"batches": args.batches, "sampled_edges": edges, "nodes": nodes, "seconds": seconds, "sampled_edges_per_second": edges / seconds}


def sample(args: argparse.Namespace) -> dict[str, Any]:
    if args.peer == "labor":
        return sample_layers(args)
    indptr, far = adjacency(args.store, args.ids)
    batches = batches_of(indptr, far.dtype, args.batch_size, WARM + args.batches)
    drawn = {"neighbor_sampler": neighbor_sampler, "graphbolt": graphbolt}[args.peer](indptr, far, [int(f) for f in reversed(args.fanout.split(","))], batches)
    for _ in range(WARM):
        next(drawn)
    start = time.perf_counter()
    edges = sum(drawn)
    seconds = time.perf_counter() - start
    return {"batches": args.batches, "sampled_edges": edges, "seconds": seconds, "sampled_edges_per_second": edges / seconds}


def csc(args: argparse.Namespace) -> dict[str, Any]:
    src, dst = torch.from_numpy(np.load(args.pairs))
    start = time.perf_counter()
    graph = dgl.graph((src, dst), num_nodes=args.nodes)
    graph.create_formats_()
    graph.adj_tensors("csc")
    seconds = time.perf_counter() - start
    return {"edges": len(src), "seconds": seconds, "edges_per_second": len(src) / seconds}


def partition(args: argparse.Namespace) -> dict[str, Any]:
    load: Callable[[str], npt.NDArray[Any]] = lambda name: np.load(os.path.join(args.folder, name + ".npy"))
    edges = {
        t: tuple(map(torch.from_numpy, load("-".join(t))))
        for t in (("dir", "in", "dir"), ("file", "in", "dir"), ("package", "holds", "file"), ("package", "needs", "package"))
    }
    parts = {t: torch.from_numpy(np.loadtxt(os.path.join(args.assignment, t + ".txt"), np.int64)) for t in ("dir", "file", "package")}
    graph = dgl.heterograph(edges, {t: len(p) for t, p in parts.items()})
    for column in ("ext", "namelen"):
        graph.nodes["file"].data[column] = torch.from_numpy(load(column))
    # DGL numbers node types in alphabetical order. The nodes that it passes to METIS have the same order.
    dgl.distributed.partition.metis_partition_assignment = lambda *_, **__: torch.cat([parts[t] for t in graph.ntypes])
    count = 1 + max(int(p.max()) for p in parts.values())
    start = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        dgl.distributed.partition_graph(graph, "debian", count, args.out, num_hops=1, part_method="metis", graph_formats=["coo", "csc"], return_mapping=True)
    seconds = time.perf_counter() - start
    return {"edges": graph.num_edges(), "parts": count, "seconds": seconds, "edges_per_second": graph.num_edges() / seconds}


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    p = commands.add_parser("sample")
    p.add_argument("store")
    p.add_argument("--peer", required=True, choices=["neighbor_sampler", "graphbolt", "labor"])
    p.add_argument("--ids", type=int, required=True, choices=[32, 64])
    p.add_argument("--fanout", required=True)
    p.add_argument("--batch-size", type=int, required=True)
    p.add_argument("--batches", type=int, required=True)
    p.set_defaults(run=sample)
    q = commands.add_parser("csc")
    q.add_argument("pairs")
    q.add_argument("nodes", type=int)
    q.set_defaults(run=csc)
    r = commands.add_parser("partition")
    r.add_argument("folder")
    r.add_argument("assignment")
    r.add_argument("--out", required=True)
    r.set_defaults(run=partition)
    for c in (p, q, r):
        c.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    dgl.utils.set_num_threads(args.threads)
    print(json.dumps(args.run(args)))


if __name__ == "__main__":
    main()
