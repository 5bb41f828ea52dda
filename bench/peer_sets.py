"""Batches that are sets of nodes with all edges between them, by PyG's loaders and by Graphmill's.

usage: peer_sets.py STORE --kind saint-node|saint-walk|cluster|shadow|ppr --by graphmill|pyg --size N --batches N [--assignment FOLDER] [--threads T]

STORE is homogeneous. A batch has N nodes drawn by their out-edges (saint-node), the nodes of N walks of 2 steps (saint-walk), the nodes of N
parts of the assignment (cluster), or N subgraphs of 10,10 edges (shadow) or of the 25 nodes of the largest PageRank (ppr, Graphmill alone). Both yield PyG's Data without features; PyG's ClusterData gets
the parts of the assignment, as Graphmill. PyG makes its batches in the trainer's process. The clock starts after 5 batches.

Prints one JSON with the batches per second, and the nodes and edges of the timed batches.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch

WARM = 5
HOMOGENEOUS = "_N:_E:_N"


def data_of(store: str) -> Any:
    """The graph as PyG's Data, with the number of each node."""
    from torch_geometric.data import Data

    with open(os.path.join(store, "graph.json")) as f:
        arrays = json.load(f)["edges"][HOMOGENEOUS]["arrays"]
    indptr, far = (np.load(os.path.join(store, arrays[a])).astype(np.int64) for a in ("indptr", "far"))
    near = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return Data(edge_index=torch.from_numpy(np.stack([far, near])), num_nodes=len(indptr) - 1)


def pyg(args: argparse.Namespace) -> Any:
    from torch_geometric import loader

    data = data_of(args.store)
    if args.kind == "saint-node":
        return loader.GraphSAINTNodeSampler(data, args.size, num_steps=WARM + args.batches, log=False)
    if args.kind == "saint-walk":
        return loader.GraphSAINTRandomWalkSampler(data, args.size, walk_length=2, num_steps=WARM + args.batches, log=False)
    if args.kind == "shadow":
        return loader.ShaDowKHopSampler(data, depth=2, num_neighbors=10, batch_size=args.size, shuffle=True)

    class Parts(loader.ClusterData):
        """Parts that METIS did not make."""

        def _metis(self, *_: object) -> Any:
            return torch.from_numpy(np.loadtxt(os.path.join(args.assignment, "_N.txt"), np.int64))

    parts = 1 + int(np.loadtxt(os.path.join(args.assignment, "_N.txt"), np.int64).max())
    return loader.ClusterLoader(Parts(data, parts, log=False), batch_size=args.size, shuffle=True)


def graphmill(args: argparse.Namespace) -> Any:
    from graphmill import NodeLoader

    more = {
        "saint-node": {},
        "saint-walk": {"walk_length": 2},
        "cluster": {"assignment": args.assignment, "shuffle": True},
        "shadow": {"fanout": [10, 10], "shuffle": True},
        "ppr": {"fanout": [25], "shuffle": True},
    }
    return NodeLoader(args.store, sampler=args.kind, batch_size=args.size, as_="pyg", threads=args.threads, **more[args.kind])


def forever(batches: Iterable[Any]) -> Iterator[Any]:
    while True:
        yield from batches


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("store")
    p.add_argument("--kind", choices=["saint-node", "saint-walk", "cluster", "shadow", "ppr"], required=True)
    p.add_argument("--by", choices=["graphmill", "pyg"], required=True)
    p.add_argument("--size", type=int, required=True)
    p.add_argument("--batches", type=int, required=True)
    p.add_argument("--assignment")
    p.add_argument("--threads", type=int, default=1)
    args = p.parse_args()
    torch.set_num_threads(1)
    it = forever({"graphmill": graphmill, "pyg": pyg}[args.by](args))
    for _ in range(WARM):
        next(it)
    nodes = edges = 0
    begin = time.perf_counter()
    for _ in range(args.batches):
        b = next(it)
        nodes, edges = nodes + b.num_nodes, edges + b.edge_index.shape[1]
    seconds = time.perf_counter() - begin
    print(json.dumps({"batches_per_second": args.batches / seconds, "nodes_per_batch": nodes / args.batches, "edges_per_batch": edges / args.batches}))


if __name__ == "__main__":
    main()
