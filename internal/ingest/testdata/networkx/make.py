"""Writes graphs with networkx: python make.py FOLDER [SEED ...].

Without seeds it writes the files of this folder; networkx 3.6.1 wrote those that are here. With seeds it writes random
graphs. expected.json has, for each file, the nodes with their values, and the edges with theirs; an undirected edge is
in both directions.
"""

import json
import random
import sys
from pathlib import Path

import networkx as nx

out, seeds = Path(sys.argv[1]), sys.argv[2:]
expected = {}


def known(graph, values):
    def pick(data):
        return {k: data[k] for k in sorted(data)} if values else {}

    nodes = [[str(n), pick(d)] for n, d in graph.nodes(data=True)]
    edges = []
    for u, v, d in graph.edges(data=True):
        edges.append([str(u), str(v), pick(d)])
        if not graph.is_directed() and u != v and values:  # an adjacency list does not say that it is undirected
            edges.append([str(v), str(u), pick(d)])
    return {"nodes": nodes, "edges": sorted(edges, key=json.dumps)}


def write(graph, name):
    nx.write_graphml(graph, out / f"{name}.graphml")
    expected[f"{name}.graphml"] = known(graph, True)
    (out / f"{name}.json").write_text(json.dumps(nx.node_link_data(graph, edges="links"), indent=1) + "\n")
    expected[f"{name}.json"] = known(graph, True)
    (out / f"{name}.cyjs").write_text(json.dumps(nx.cytoscape_data(graph), indent=1) + "\n")
    expected[f"{name}.cyjs"] = known(graph, True)
    for node in expected[f"{name}.cyjs"]["nodes"]:
        node[1] |= {"name": node[0], "value": node[0]}  # cytoscape_data adds them
    nx.write_adjlist(graph, out / f"{name}.adjlist")
    expected[f"{name}.adjlist"] = known(graph, False)


def make(seed, kind):
    rng = random.Random(seed)
    graph = kind()
    names = ["a", "b&b", "ü<ñ>", "x\"y'", "e", "f", "0", "7"]
    for name in names:
        graph.add_node(name, size=rng.randrange(-9, 9), rank=rng.random(), label=rng.choice(["", "α", "<&>", " p q "]), ok=rng.random() < 0.5)
    for _ in range(12):
        graph.add_edge(rng.choice(names), rng.choice(names), weight=rng.choice([0.5, 2.25, -1e-30]), count=rng.randrange(1 << 40))
    return graph


if not seeds:
    write(make(0, nx.DiGraph), "directed")
    write(make(0, nx.Graph), "undirected")
for s in seeds:
    for kind in (nx.Graph, nx.DiGraph, nx.MultiDiGraph, nx.MultiGraph):
        write(make(s, kind), f"{kind.__name__}-{s}")
(out / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
