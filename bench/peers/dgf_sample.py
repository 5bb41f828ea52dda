"""Samples random graphs with Google's DGF: python dgf_sample.py FILE, with the python that `bench/peers.sh frames` prints.

FILE has graphs as JSON: the numbers of nodes per node set, and the ends and times of the edges of each edge set. Stdout gets, for each
graph, plans as DGF writes them, and the nodes and edges of the subgraph that DGF samples of each seed. Hop widths are above all degrees,
so nothing is random.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import dgf
import numpy as np

Feature, Format, Semantic = dgf.data.FeatureSchema, dgf.data.FeatureFormat, dgf.data.FeatureSemantic


def graph_of(case: dict[str, Any]) -> tuple[Any, Any]:
    nodes, node_schemas, edges, edge_schemas = {}, {}, {}, {}
    for name, n in case["nodes"].items():
        nodes[name] = dgf.data.InMemoryNodeSet(n, {"#id": np.array([b"%d" % i for i in range(n)])})
        node_schemas[name] = dgf.data.NodeSchema({"#id": Feature(Format.BYTES, Semantic.PRIMARY_ID)})
    for name, e in case["edges"].items():
        adjacency = np.array(e["ends"], np.int64).reshape(-1, 2).T
        edges[name] = dgf.data.InMemoryEdgeSet(adjacency, {"time": np.array(e["times"], np.int64)})
        time = Feature(Format.INTEGER_64, Semantic.TIMESTAMP, is_creation_time=True)
        edge_schemas[name] = dgf.data.EdgeSchema(e["source"], e["target"], {"time": time})
    return dgf.data.InMemoryGraph(nodes, edges), dgf.data.GraphSchema(node_schemas, edge_schemas)


def sampled(graph: Any, schema: Any, plan: Any, seeds: Sequence[int], times: Sequence[int] | None) -> list[dict[str, Any]]:
    sampler = dgf.sampling.create_sampler(graph, plan, schema, return_features=False, return_node_idxs=True, num_threads=0, seed=1)
    out = []
    for x in sampler.sample(seeds, times):
        ids = {name: s.features["#idx"].tolist() for name, s in x.node_sets.items()}
        edges = {}
        for name, s in x.edge_sets.items():
            of = schema.edge_sets[name]
            edges[name] = sorted({(ids[of.source][u], ids[of.target][v]) for u, v in s.adjacency.T.tolist()})
        out.append({"nodes": {name: sorted(set(v)) for name, v in ids.items()}, "edges": edges})
    return out


def main() -> None:
    answers = []
    with open(sys.argv[1]) as f:
        cases = json.load(f)
    for case in cases:
        graph, schema = graph_of(case)
        plans = []
        for seed_set in case["nodes"]:
            for options in (
                {"num_hops": 1, "multi_visit": True},
                {"num_hops": 2, "reverse": False},
                {"num_hops": 3},
                {"num_hops": 2, "temporal_sampling": True, "propagate_timestamp_to_edges": False},
            ):
                config = dgf.sampling.SimpleSamplingConfig(seed_set, hop_width=100, **{"multi_visit": False, **options})
                seeds = list(range(case["nodes"][seed_set]))
                times = [5] * len(seeds) if config.temporal_sampling else None
                whole = dgf.sampling.simple_sampling_config_to_sampling_plan(config, schema)
                of = sampled(graph, schema, config, seeds, times)
                plans += [{"plan": json.loads(p.to_json()), "temporal": times is not None, "subgraphs": of} for p in (config, whole)]
        answers.append(plans)
    json.dump(answers, sys.stdout)


main()
