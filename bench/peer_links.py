"""Batches of links with a negative each, by the loaders of PyG, DGL and Graphmill: links, negatives, subgraph, features.

usage: peer_links.py STORE FEATURES.npy --loader graphmill|graphmill-given|graphmill-nodes|graphmill-dgl|pyg|dgl --batches N [--threads T] [--workers W]

Prints one JSON. STORE and FEATURES.npy are as for peer_loader.py. Links are edges of the graph, drawn once and shuffled.
A batch has 256 links, a negative per link, and a subgraph of fanout 15,10 around their ends. graphmill and pyg draw both ends of
a negative (PyG's binary), graphmill-dgl and dgl its target alone (DGL's Uniform). graphmill, graphmill-dgl and dgl leave the
links of a batch out of its messages; PyG has no such option. graphmill-nodes makes batches of 1024 seed nodes, as many as
the links and negatives of a batch have ends; most of these nodes have fewer neighbours than the ends of edges.
graphmill-given makes batches of 256 links and 256 random pairs that are given: the same ends, without negatives to draw
and links to leave out. The clock starts after 20 batches and --warm-seconds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from peer_loader import FANOUT, HOMOGENEOUS, WARM, adjacency

LINKS = 256


def chosen(args: argparse.Namespace) -> npt.NDArray[Any]:
    """Links of the graph as [2, links]: source and destination."""
    indptr, far = adjacency(args.store)
    at = np.random.default_rng(0).permutation(len(far))[: LINKS * (WARM + args.batches)]
    dst = np.searchsorted(indptr.numpy(), at, side="right") - 1
    return np.stack([far.numpy()[at], dst])


def graphmill(args: argparse.Namespace, count: int, **options: Any) -> Iterator[Any]:
    from graphmill import NodeLoader

    with NodeLoader(args.store, fanout=FANOUT, threads=args.threads, features=["x"], **options) as loader:
        while True:
            for batch in loader:
                yield (batch[3][0].srcdata["x"], sum(b.num_edges() for b in batch[3])) if options["as_"] == "dgl" else (batch.x, batch.num_edges)
                del batch


def graphmill_links(args: argparse.Namespace, count: int, as_: str = "pyg", how: str = "binary") -> Iterator[Any]:
    return graphmill(
        args, count, as_=as_, seeds=chosen(args), seed_type=tuple(HOMOGENEOUS.split(":")), batch_size=LINKS, negatives=1, negatives_how=how, exclude="self"
    )


def graphmill_dgl(args: argparse.Namespace, count: int) -> Iterator[Any]:
    return graphmill_links(args, count, "dgl", "triplet")


def graphmill_nodes(args: argparse.Namespace, count: int) -> Iterator[Any]:
    seeds = np.random.default_rng(0).permutation(count)[: 4 * LINKS * (WARM + args.batches)]
    return graphmill(args, count, as_="pyg", seeds=seeds, batch_size=4 * LINKS)


def graphmill_given(args: argparse.Namespace, count: int) -> Iterator[Any]:
    links = chosen(args).reshape(2, -1, LINKS)
    pairs = np.concatenate([links, np.random.default_rng(1).integers(0, count, links.shape)], axis=2).reshape(2, -1)
    return graphmill(args, count, as_="pyg", seeds=pairs, seed_type=tuple(HOMOGENEOUS.split(":")), batch_size=2 * LINKS)


def pyg(args: argparse.Namespace, count: int) -> Iterator[Any]:
    from torch_geometric.data import Data
    from torch_geometric.loader import LinkNeighborLoader

    indptr, far = adjacency(args.store)
    dst = torch.repeat_interleave(torch.arange(count), indptr.diff())
    data = Data(x=torch.from_numpy(np.load(args.features)), edge_index=torch.stack([far, dst]), num_nodes=count)
    loader = LinkNeighborLoader(
        data,
        FANOUT,
        edge_label_index=torch.from_numpy(chosen(args)),
        batch_size=LINKS,
        neg_sampling="binary",
        is_sorted=True,
        num_workers=args.workers,
        persistent_workers=args.workers > 0,
    )
    while True:
        for batch in loader:
            yield batch.x, batch.num_edges


def dgl(args: argparse.Namespace, count: int) -> Iterator[Any]:
    import dgl as d

    indptr, far = adjacency(args.store)
    graph = d.graph(("csc", (indptr, far, torch.empty(0, dtype=torch.int64))))
    graph.ndata["x"] = torch.from_numpy(np.load(args.features))
    at = torch.from_numpy(np.random.default_rng(0).permutation(len(far))[: LINKS * (WARM + args.batches)])
    sampler = d.dataloading.as_edge_prediction_sampler(
        d.dataloading.NeighborSampler(FANOUT[::-1], prefetch_node_feats=["x"]), exclude="self", negative_sampler=d.dataloading.negative_sampler.Uniform(1)
    )
    loader = d.dataloading.DataLoader(graph, at, sampler, batch_size=LINKS)
    while True:
        for _, _, _, blocks in loader:
            yield blocks[0].srcdata["x"], sum(b.num_edges() for b in blocks)


LOADERS = {
    "graphmill": graphmill_links,
    "graphmill-given": graphmill_given,
    "graphmill-nodes": graphmill_nodes,
    "graphmill-dgl": graphmill_dgl,
    "pyg": pyg,
    "dgl": dgl,
}


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("store")
    p.add_argument("features")
    p.add_argument("--loader", required=True, choices=list(LOADERS))
    p.add_argument("--threads", type=int, default=1, help="threads of Graphmill's feed; the peers sample in the trainer's thread")
    p.add_argument("--workers", type=int, default=0, help="processes in which PyG samples and gathers features; 0 is the trainer's own")
    p.add_argument("--warm-seconds", type=float, default=10, help="time before the clock starts")
    p.add_argument("--batches", type=int, required=True)
    args = p.parse_args()
    torch.set_num_threads(1)
    count = len(np.load(args.features, mmap_mode="r"))
    warm = rows = edges = done = 0
    start, began = 0.0, time.perf_counter()
    for x, drawn in LOADERS[args.loader](args, count):
        if start:
            rows, edges, done = rows + len(x), edges + drawn, done + 1
            if done == args.batches:
                break
        else:
            warm += 1
            if warm >= WARM and time.perf_counter() - began >= args.warm_seconds:
                start = time.perf_counter()
        del x
    seconds = time.perf_counter() - start
    print(json.dumps({"batches": done, "seconds": seconds, "batches_per_second": done / seconds, "rows": rows, "edges": edges}))


if __name__ == "__main__":
    main()
