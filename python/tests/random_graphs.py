"""Random typed graphs, as stores and as arrays, for comparing loaders with the loaders of PyG and DGL."""

from __future__ import annotations

import dataclasses
import functools
import os
import random
from typing import Any

import made
import numpy as np
import numpy.typing as npt

COUNT = int(os.environ.get("GRAPHMILL_TEST_GRAPHS", "300"))
"""How many graphs a comparison takes."""

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCXYZ_09éß"


@dataclasses.dataclass
class Case:
    number: int
    nodes: dict[str, int]  # node type -> count
    edges: dict[tuple[str, str, str], npt.NDArray[Any]]  # (src, rel, dst) -> int64[2, E], in input order
    seed_type: str
    seeds: npt.NDArray[Any]
    fanout: dict[tuple[str, str, str], list[int]]  # (src, rel, dst) -> -1 or 0 per hop, from the seeds outwards
    hops: int

    @functools.cached_property
    def store(self) -> str:
        """The path of the graph's store."""
        files = {f"{k}.npy": x for k, x in enumerate(self.edges.values())}
        lines = ["nodes:", *(f"  {t!r}: {{count: {n}}}" for t, n in self.nodes.items()), "edges:"]
        lines += [f"  {':'.join(e)!r}: {{table: {k}.npy}}" for k, e in enumerate(self.edges)]
        folder = made.write(f"random-{self.number}", {**files, "graph.yaml": "\n".join(lines) + "\n"})
        made.graphmill("import", folder, "--out", folder + ".store")
        return folder + ".store"


def _names(r: random.Random, n: int) -> list[str]:
    names: set[str] = set()
    while len(names) < n:
        names.add("".join(r.choice(_LETTERS) for _ in range(r.randint(1, 4))))
    return r.sample(sorted(names), n)


def _types(r: random.Random, types: list[str]) -> list[tuple[str, str]]:
    """Pairs of node types: any pairs, pairs along an order of the types (acyclic), or pairs between two sides (bipartite)."""
    shape = r.choice(["any", "acyclic", "bipartite"]) if len(types) > 1 else "any"
    pairs = []
    for _ in range(r.randint(1, 5)):
        a, b = r.randrange(len(types)), r.randrange(len(types))
        if shape == "acyclic":
            a, b = sorted(r.sample(range(len(types)), 2))
        elif shape == "bipartite":
            a, b = r.randrange(0, len(types) // 2), r.randrange(len(types) // 2, len(types))
        pairs.append((types[a], types[b]))
    return pairs


@functools.lru_cache(None)
def case(number: int) -> Case:
    """The random graph with a number, with seeds and a fanout that takes all or no edges of a relation."""
    r = random.Random(number)
    names = _names(r, 10)
    types, relations = names[: r.randint(1, 4)], names[4:]
    nodes = {t: r.randint(1, 15) for t in types}
    edges = {}
    for s, d in _types(r, types):
        # Relations with different types share names.
        e = (s, r.choice(relations[: r.randint(1, len(relations))]), d)
        n = r.choice([0, 1, 2, 7, 20, 40])
        edges[e] = np.array([[r.randrange(nodes[s]) for _ in range(n)], [r.randrange(nodes[d]) for _ in range(n)]], np.int64).reshape(2, n)
    hops = r.randint(1, 4)
    every = r.random() < 0.5
    fanout = {e: [-1 if every or r.random() < 0.7 else 0 for _ in range(hops)] for e in edges}
    seed_type = r.choice(types)
    seeds = np.array(r.sample(range(nodes[seed_type]), r.randint(1, nodes[seed_type])), np.int64)
    return Case(number, nodes, edges, seed_type, seeds, fanout, hops)


def loader_arguments(c: Case) -> dict[str, Any]:
    """The arguments of NodeLoader for one batch of all seeds."""
    return dict(
        fanout={":".join(e): takes for e, takes in c.fanout.items()}, seeds=c.seeds, seed_type=c.seed_type, batch_size=len(c.seeds), features="none", threads=1
    )
