"""The work of `graphmill walk --direction in`, done by PyG's and DGL's operators.

usage: peer_walks.py STORE --peer torch_sparse|dgl --starts N --walks R --length L --threads T [--p P --q Q]

torch_sparse is the operator of PyG's GraphSAINTRandomWalkSampler, alike for all edges. dgl is random_walk, or with P or Q
node2vec_random_walk. Both walk over the in-edges of the homogeneous store, from the same starts as Graphmill, BATCH at a
time, and discard the walks.

Prints one JSON with the steps per second. A walk of torch_sparse never ends: at a node without edges it takes one of another
node, which counts as a step.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

BATCH = 1 << 16
HOMOGENEOUS = "_N:_E:_N"


def adjacency(store: str) -> list[Any]:
    """indptr and sources of the in-edges of a homogeneous store, as tensors."""
    with open(os.path.join(store, "graph.json")) as f:
        edges = json.load(f)["edges"][HOMOGENEOUS]
    if edges["primary"] != "in":
        raise SystemExit(f"{store}: found primary direction {edges['primary']!r}, expected in")
    return [torch.from_numpy(np.load(os.path.join(store, edges["arrays"][a])).astype(np.int64)) for a in ("indptr", "far")]


def walker(args: argparse.Namespace, indptr: Any, far: Any) -> Callable[[Any], Any]:
    """A function of starts that returns their walks."""
    if args.peer == "torch_sparse":
        from torch_sparse import SparseTensor

        matrix = SparseTensor(rowptr=indptr, col=far, sparse_sizes=(len(indptr) - 1, len(indptr) - 1), is_sorted=True)
        return lambda starts: matrix.random_walk(starts, args.length)
    os.environ.setdefault("DGLBACKEND", "pytorch")
    import dgl

    graph = dgl.graph(("csr", (indptr, far, torch.empty(0, dtype=torch.int64))), num_nodes=len(indptr) - 1)
    if args.p == 1 and args.q == 1:
        return lambda starts: dgl.sampling.random_walk(graph, starts, length=args.length)[0]
    return lambda starts: dgl.sampling.node2vec_random_walk(graph, starts, args.p, args.q, args.length)


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("store")
    p.add_argument("--peer", choices=["torch_sparse", "dgl"], required=True)
    p.add_argument("--starts", type=int, required=True)
    p.add_argument("--walks", type=int, required=True)
    p.add_argument("--length", type=int, required=True)
    p.add_argument("--threads", type=int, required=True)
    p.add_argument("--p", type=float, default=1)
    p.add_argument("--q", type=float, default=1)
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    walk = walker(args, *adjacency(args.store))
    starts = torch.arange(args.starts).repeat(args.walks)
    walk(starts[:BATCH])
    steps, begin = 0, time.perf_counter()
    for batch in starts.split(BATCH):
        rows = walk(batch)
        steps += int((rows[:, 1:] >= 0).sum())
    print(json.dumps({"steps_per_second": steps / (time.perf_counter() - begin), "steps": steps}))


if __name__ == "__main__":
    main()
