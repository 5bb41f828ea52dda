"""Names of types and columns that are words of the structure of batches and graphs, or that look like parts of its paths.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import importlib.util
import random
import unittest
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import graphmill
import numpy as np
import numpy.typing as npt
from graphmill import NodeLoader

WORDS = [
    "n_id",
    "e_id",
    "by_hop",
    "batch",
    "edge_index",
    "x",
    "nodes",
    "edges",
    "links",
    "ops",
    "input_id",
    "seed_local",
    "num_nodes",
    "_ID",
    "_TYPE",
    "edge_attr",
    "batch_size",
    "num_sampled_nodes",
    "y1",
    "edge_edge_index",
    "node_n_id",
]
PIECES = [*WORDS, "/", "//", "%", "%2F", "%25", "q", "é", " ", ".", "_N"]

_F = TypeVar("_F", bound=Callable[..., Any])


def installed(*names: str) -> Callable[[_F], _F]:
    return unittest.skipUnless(all(importlib.util.find_spec(n) for n in names), f"{', '.join(names)}: not installed")


def name(r: random.Random, taken: set[str]) -> str:
    while True:
        n = r.choice(WORDS) if r.random() < 0.5 else "".join(r.choice(PIECES) for _ in range(r.randint(1, 4)))
        if n.strip() == n and n not in taken:
            taken.add(n)
            return n


def graph(number: int) -> tuple[list[str], dict[str, Any], dict[Any, Any]]:
    """A random graph with such names; each column has other values than all others. One in three has no types."""
    r = random.Random(number)
    taken: set[str] = set()
    made = [0]

    def columns(rows: int) -> dict[str, npt.NDArray[Any]]:
        of: set[str] = set()
        out = {}
        for _ in range(r.randint(1, 5)):
            out[name(r, of)] = np.arange(rows) + 1000 * made[0]
            made[0] += 1
        return out

    types = ["_N"] if number % 3 == 0 else [name(r, taken) for _ in range(r.randint(1, 3))]
    nodes = {t: columns(6) for t in types}
    edges = {}
    for _ in range(1 if number % 3 == 0 else r.randint(1, 3)):
        e = ("_N", "_E", "_N") if number % 3 == 0 else (r.choice(types), name(r, taken), r.choice(types))
        edges[e] = {"edge_index": np.array([[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 3]]), **{n: x for n, x in columns(7).items() if n != "edge_index"}}
    return types, nodes, edges


def check_each(test: unittest.TestCase, check: Callable[[graphmill.Store, list[str], dict[str, Any], dict[Any, Any]], None]) -> None:
    for number in range(24):
        types, nodes, edges = graph(number)
        with test.subTest(number=number, nodes=list(nodes.values()), edges=list(edges)), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", module="torch|dgl|jax")
            check(graphmill.from_arrays(nodes, edges), types, nodes, edges)


def columns_of(x: Iterable[Any], ids: npt.NDArray[Any]) -> dict[int, list[int]]:
    """The values that are rows of a column of the graphs above, by the number of the column."""
    return {
        int(v[0] // 1000): v.tolist()
        for v in map(np.asarray, x)
        if v.ndim == 1 and len(v) == len(ids) and len(v) and v.dtype.kind == "i" and (v % 1000 == ids).all()
    }


def numbers_of(columns: dict[str, npt.NDArray[Any]]) -> set[int]:
    """The numbers of columns of the graphs above."""
    return {int(x[0] // 1000) for x in columns.values() if x.ndim == 1}


class TestNames(unittest.TestCase):
    def rows(self, of: dict[str, npt.NDArray[Any]], ids: Any) -> dict[str, list[int]]:
        return {n: x[ids].tolist() for n, x in of.items() if x.ndim == 1}

    def test_batches(self) -> None:
        def check(store: graphmill.Store, types: list[str], nodes: dict[str, Any], edges: dict[Any, Any]) -> None:
            one = len(types) == len(edges) == 1
            for scope in ("batch", "seed"):
                with NodeLoader(store, [-1, -1], 4, seed_type=types[0], edge_features="all", scope=scope, slots=8) as loader:
                    for b in loader:
                        for ids, x, of in ((b.n_id, b.x, nodes), (b.e_id, b.edge_attr, edges)):
                            for t in of:
                                self.assertEqual({n: v.tolist() for n, v in (x if one else x[t]).items()}, self.rows(of[t], ids if one else ids[t]))
                for t, of in nodes.items():
                    first = min(of)
                    with NodeLoader(store, [-1], 4, seed_type=t, features=[f"{t}/{first}"], scope=scope) as loader:
                        b = next(iter(loader))
                        ids, x = (b.n_id, b.x) if one else (b.n_id[t], b.x[t])
                        self.assertEqual(x[first].tolist(), of[first][ids].tolist())

        check_each(self, check)

    def test_arrays(self) -> None:
        def check(store: graphmill.Store, types: list[str], nodes: dict[str, Any], edges: dict[Any, Any]) -> None:
            got_nodes, got_edges = store.to_arrays()
            again = graphmill.from_arrays(got_nodes, got_edges)
            self.assertEqual((again.meta["nodes"], again.meta["edges"]), (store.meta["nodes"], store.meta["edges"]))

        check_each(self, check)
        for column in ("id", "node_id", "nodeId", ":ID", "ID"):  # what the importer takes for the ids of a table
            store = graphmill.from_arrays({column: [1, 0, 2]}, [[0, 0], [1, 2]])
            self.assertEqual((store.edges["_E"].edge_index().tolist(), store.nodes["_N"].ids), ([[0, 0], [1, 2]], None), column)
        of = {"src": [0, 1], "dst": [1, 0], "edge_index": [5, 6], "source": [7, 8]}
        store = graphmill.from_tables({"_N": {"id": [0, 1], "node_id": [3, 4]}}, {("_N", "_E", "_N"): of}, ends={("_N", "_E", "_N"): ("src", "dst")})
        edges = store.to_arrays()[1]["_N", "_E", "_N"]
        self.assertEqual((edges["edge_index"].tolist(), edges["edge_edge_index"].tolist()), ([[0, 1], [1, 0]], [5, 6]))

    @installed("pandas")
    def test_tables(self) -> None:
        store = graphmill.from_arrays(
            {"id": [5, 6], "node_id": [7, 8]}, {"edge_index": [[0, 1], [1, 0]], "source": [3, 4], "edge_target": [1, 2], "target": [8, 9]}
        )
        (nodes,), (edges,) = (list(of.values()) for of in store.to_tables("pandas"))
        self.assertEqual(nodes.to_dict("list"), {"id": [0, 1], "node_node_id": [5, 6], "node_id": [7, 8]})
        self.assertEqual(edges.to_dict("list"), {"source": [0, 1], "target": [1, 0], "edge_source": [3, 4], "edge_target": [1, 2], "edge_edge_target": [8, 9]})

    @installed("torch_geometric")
    def test_pyg(self) -> None:
        def check(store: graphmill.Store, types: list[str], nodes: dict[str, Any], edges: dict[Any, Any]) -> None:
            with NodeLoader(store, [-1], 6, seed_type=types[0], edge_features="all", as_="pyg") as loader:
                batch = next(iter(loader))
            for whole, b in ((False, batch), (True, store.to_pyg())):
                typed = types != ["_N"] or list(edges) != [("_N", "_E", "_N")]
                for name, of in ((n, of) for kind in (nodes, edges) for n, of in kind.items()):
                    s, count, ids = b[name] if typed else b, 6 if name in nodes else 7, "n_id" if name in nodes else "e_id"
                    found = columns_of([v.numpy() for v in s.values() if hasattr(v, "numpy")], np.arange(count) if whole else s[ids].numpy())
                    if count and len(s[ids] if not whole else [0]):
                        self.assertLessEqual(numbers_of(of), set(found), name)
                    self.assertTrue(name not in edges or next(iter(s.edge_index.shape)) == 2)
                    self.assertTrue(name not in nodes or s.num_nodes == (6 if whole else len(s.n_id)))

        check_each(self, check)

    @installed("dgl")
    def test_dgl(self) -> None:
        import dgl

        def check(store: graphmill.Store, types: list[str], nodes: dict[str, Any], edges: dict[Any, Any]) -> None:
            with NodeLoader(store, [-1], 6, seed_type=types[0], edge_features="all", as_="dgl") as loader:
                _, _, (block,) = next(iter(loader))
            for t, of in nodes.items():
                s = block.srcnodes[block.srctypes[0] if len(types) == len(edges) == 1 else t].data
                ids = s[dgl.NID].numpy()
                if len(ids):
                    self.assertEqual(set(columns_of([s[n].numpy() for n in s if n != dgl.NID], ids)), numbers_of(of))
            g = store.to_dgl()
            for t, of in nodes.items():
                self.assertEqual(set(columns_of([g.nodes[t].data[n].numpy() for n in g.nodes[t].data], np.arange(6))), numbers_of(of))

        check_each(self, check)


if __name__ == "__main__":
    unittest.main()
