#!/usr/bin/env python3
"""Packs many small graphs into packs of fixed limits by other programs, and times them.

  peer_pack.py listing HIST.csv NODES EDGES    tuple longest-pack-first histogram packing in Python and NumPy, after its published description
  peer_pack.py jraph HIST.csv NODES EDGES      jraph.dynamically_batch over the graphs in a fixed shuffle
  peer_pack.py pyg HIST.csv NODES EDGES        torch_geometric.loader.DynamicBatchSampler by nodes, as it has only one limit

Prints one JSON: packs, the shares of the limits that graphs fill, graphs per second. The
clock starts after the imports and after the graphs are made.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

CAP = 256


def listing(histogram: dict[tuple[int, int], int], limits: list[int]) -> int:
    """Best fit on the histogram, by the product of what is left in nodes and edges:
    shapes in descending order, each into the open packs with the least room that it
    fits into; after a placement packs with more room than the shape are looked at."""
    rate: Callable[[Sequence[int]], int] = lambda room: room[0] * room[1]
    open_packs: dict[int, list[tuple[tuple[int, int], list[tuple[int, int]], int]]] = collections.defaultdict(list)
    closed: list[int] = []
    shapes = sorted(((rate(s), s, n) for s, n in histogram.items()), reverse=True)
    for rating, shape, count in shapes:
        least = rating
        while count > 0:
            place = None
            for key in sorted(k for k in open_packs if k >= least):
                for i, (room, _, _) in enumerate(open_packs[key]):
                    if shape[0] <= room[0] and shape[1] <= room[1]:
                        place = key, i
                        break
                if place:
                    break
            if place is None:
                room, content, packs = (limits[0] - shape[0], limits[1] - shape[1]), [shape], count
                count = 0
            else:
                key, i = place
                room, content, have = open_packs[key].pop(i)
                packs = min(have, count)
                if have > packs:
                    open_packs[key].append((room, content, have - packs))
                if not open_packs[key]:
                    del open_packs[key]
                room, content = (room[0] - shape[0], room[1] - shape[1]), [*content, shape]
                count -= packs
                least = rating + 1
            if rate(room) == 0 or len(content) == CAP:
                closed.append(packs)
            else:
                open_packs[rate(room)].append((room, content, packs))
    return sum(closed) + sum(n for packs in open_packs.values() for _, _, n in packs)


def jraph_batches(sizes: npt.NDArray[Any], limits: list[int]) -> tuple[int, float]:
    import jraph

    empty = np.zeros(0, np.int32)
    graphs = [
        jraph.GraphsTuple(
            nodes=np.zeros((n, 1), np.float32),
            edges=None,
            receivers=np.zeros(e, np.int32),
            senders=np.zeros(e, np.int32),
            globals=empty[:0],
            n_node=np.array([n], np.int32),
            n_edge=np.array([e], np.int32),
        )._replace(globals=None)
        for n, e in sizes
    ]
    start = time.perf_counter()
    # One node and one graph of each batch are padding.
    packs = sum(1 for _ in jraph.dynamically_batch(iter(graphs), n_node=limits[0] + 1, n_edge=limits[1], n_graph=CAP + 1))
    return packs, time.perf_counter() - start


def pyg_batches(sizes: npt.NDArray[Any], limits: list[int]) -> tuple[int, float]:
    from torch_geometric.data import Data
    from torch_geometric.loader import DynamicBatchSampler

    class Sizes:
        def __len__(self) -> int:
            return len(sizes)

        def __getitem__(self, i: int) -> Any:
            return Data(num_nodes=int(sizes[i][0]))

    start = time.perf_counter()
    packs = sum(1 for _ in DynamicBatchSampler(Sizes(), max_num=limits[0], mode="node", num_steps=len(sizes)))
    return packs, time.perf_counter() - start


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["listing", "jraph", "pyg"])
    p.add_argument("histogram")
    p.add_argument("limits", type=int, nargs=2)
    args = p.parse_args()
    with open(args.histogram) as f:
        rows = [(int(r["num_nodes"]), int(r["num_edges"]), int(r["count"])) for r in csv.DictReader(f)]
    graphs = sum(n for _, _, n in rows)
    if args.what == "listing":
        histogram = {(a, b): n for a, b, n in rows}
        start = time.perf_counter()
        packs = listing(histogram, args.limits)
        seconds = time.perf_counter() - start
    else:
        sizes = np.repeat([(a, b) for a, b, _ in rows], [n for _, _, n in rows], axis=0)
        sizes = sizes[np.random.default_rng(1).permutation(graphs)]
        packs, seconds = (jraph_batches if args.what == "jraph" else pyg_batches)(sizes, args.limits)
    full = {name: sum(r[i] * r[2] for r in rows) / (packs * args.limits[i]) for i, name in enumerate(("num_nodes", "num_edges"))}
    print(json.dumps({"packs": packs, "efficiency": full, "seconds": seconds, "graphs_per_second": graphs / seconds}))


if __name__ == "__main__":
    main()
