#!/usr/bin/env python3
"""Subgraphs with features, by the in-memory sampler of Google's DGF: one JSON on stdout.

  peer_dgf.py GRAPH PLAN --set NODESET [--batch 1024] [--threads 2] [--seconds 10]

GRAPH is a folder that DGF reads, and PLAN the JSON of a plan of DGF. Seeds are the nodes of the set, again and again. The clock starts
after the graph is read and the first batch is made. DGF lists files by TensorFlow, in whose place stands glob.
"""

from __future__ import annotations

import argparse
import glob
import json
import pathlib
import time
import types

import dgf
import numpy as np
from dgf.src.util import shard


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("graph")
    p.add_argument("plan", type=pathlib.Path)
    p.add_argument("--set", required=True)
    p.add_argument("--batch", type=int, default=1024)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--seconds", type=float, default=10)
    args = p.parse_args()
    shard.tf = types.SimpleNamespace(io=types.SimpleNamespace(gfile=types.SimpleNamespace(glob=glob.glob)))
    began = time.perf_counter()
    graph, schema = dgf.io.read_graph(args.graph)
    read = time.perf_counter() - began
    config = dgf.sampling.SimpleSamplingConfig.from_json(args.plan.read_text())
    threads = args.threads if args.threads > 1 else 0
    sampler = dgf.sampling.create_sampler(graph, config, schema, batch_size=args.batch, num_threads=threads, seed=1)
    order = np.random.default_rng(0).permutation(graph.node_sets[args.set].num_nodes)
    sampler.sample(order[: args.batch])
    done, edges, start = 0, 0, time.perf_counter()
    while (seconds := time.perf_counter() - start) < args.seconds:
        at = done % len(order)
        for subgraph in sampler.sample(order[at : at + args.batch]):
            done += 1
            edges += sum(e.adjacency.shape[1] for e in subgraph.edge_sets.values())
    print(json.dumps({"subgraphs": done, "edges": edges, "read_seconds": read, "seconds": seconds, "subgraphs_per_second": done / seconds}))


if __name__ == "__main__":
    main()
