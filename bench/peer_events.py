"""Batches of events with their latest neighbours: PyG's TemporalDataLoader and LastNeighborLoader, or graphmill's EventLoader.

usage: peer_events.py STORE --make EVENTS --nodes N
       peer_events.py STORE --peer pyg|graphmill [--history pyg|event] --batch-size B --neighbors K --threads T

With --make it makes a store of random events. Each row of the batches' arrays is touched by both: nodes, edges, events of neighbours, ends and times of the events.

Prints one JSON with the events per CPU second, of the process and the feed that it starts, in one pass; opening is not counted. "neighbors" is the number of all.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from typing import Any

import graphmill
import numpy as np


def make(path: str, events: int, nodes: int) -> None:
    """A store of random events, a second apart."""
    r = np.random.default_rng(1)
    graphmill.from_arrays({"x": np.zeros(nodes, np.float32)}, {"edge_index": r.integers(0, nodes, (2, events)), "time": np.arange(events)}, path)


def pyg(args: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    import torch
    from torch_geometric.data import TemporalData
    from torch_geometric.loader import TemporalDataLoader
    from torch_geometric.nn.models.tgn import LastNeighborLoader

    torch.set_num_threads(args.threads)
    store = graphmill.Store(args.store)
    (of,) = store.edges.values()
    args.events = of.count
    src, dst = torch.from_numpy(of.edge_index("input").astype(np.int64))  # the input is ordered by time
    data = TemporalData(src=src, dst=dst, t=torch.from_numpy(np.array(of.columns["time"])[of.find(np.arange(of.count))]))
    latest = LastNeighborLoader(next(iter(store.nodes.values())).count, size=args.neighbors)
    yield ()
    for batch in TemporalDataLoader(data, batch_size=args.batch_size):
        n_id, edge_index, e_id = latest(torch.cat([batch.src, batch.dst]).unique())
        latest.insert(batch.src, batch.dst)
        yield n_id, edge_index, e_id, batch.src, batch.dst, batch.t


def ours(args: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    import torch

    torch.set_num_threads(args.threads)
    with graphmill.EventLoader(
        args.store,
        args.batch_size,
        neighbors=args.neighbors,
        history=args.history,
        features="none",
        edge_features="none",
        edge_ids=False,
        threads=args.threads,
        as_="torch",
    ) as loader:
        args.feed, args.events = loader._process.pid if loader._process else 0, sum(e.count for e in loader.store.edges.values())
        yield ()
        for b in loader:
            yield b.n_id, b.edge_index, b.neighbor_event, b.src, b.dst, b.t


def cpu(feed: int) -> float:
    """CPU seconds of this process, and of a feed."""
    seconds = time.process_time()
    if feed:
        with open(f"/proc/{feed}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("store")
    p.add_argument("--make", type=int)
    p.add_argument("--nodes", type=int)
    p.add_argument("--peer", choices=["pyg", "graphmill"])
    p.add_argument("--history", choices=["event", "batch", "pyg"], default="pyg")
    p.add_argument("--batch-size", type=int, default=200)
    p.add_argument("--neighbors", type=int, default=10)
    p.add_argument("--threads", type=int, default=1)
    args = p.parse_args()
    if args.make:
        make(args.store, args.make, args.nodes)
        return
    args.feed, taken = 0, 0.0
    batches = pyg(args) if args.peer == "pyg" else ours(args)
    next(batches)
    events = neighbors = 0
    start, began = time.perf_counter(), cpu(args.feed)
    for n_id, edge_index, *_, t in batches:
        assert len(n_id)
        events += len(t)
        neighbors += edge_index.shape[1]
        taken = cpu(args.feed) - began if events == args.events else 0.0  # before the feed ends
    wall = time.perf_counter() - start
    print(json.dumps({"events_per_cpu_second": events / taken, "events_per_second": events / wall, "neighbors": neighbors}))


if __name__ == "__main__":
    main()
