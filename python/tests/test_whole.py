"""Whole graphs from and to arrays, PyG, DGL, NetworkX and tables, and graphmill.run.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import io
import os
import random
import re
import unittest
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import graphmill
import made
import numpy as np
import numpy.typing as npt
import random_graphs
from graphmill import Column, GraphmillError, Store, from_arrays, from_dgl, from_networkx, from_pyg, from_tables
from graphmill._whole import tables

COUNT = random_graphs.COUNT // 5
NUMBERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]
UNSIGNED = ["uint16", "uint32", "uint64"]
TEXTS = ["", "a", "Ada ü", 'quo"te, and comma', "two\nlines\r\n", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "\0", " "]

_F = TypeVar("_F", bound=Callable[..., Any])


def installed(*names: str) -> Callable[[_F], _F]:
    return unittest.skipUnless(all(importlib.util.find_spec(n) for n in names), f"{', '.join(names)}: not installed")


def numbers(r: random.Random, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Random values of a dtype, with its extremes."""
    n = int(np.prod(shape))
    x: list[Any]
    if dtype == "bool":
        x = [r.random() < 0.5 for _ in range(n)]
    elif dtype.startswith("float"):
        x = [r.choice([0.0, -0.0, 1.5, -3.25, np.inf, -np.inf, r.gauss(0, 1)]) for _ in range(n)]
    else:
        info = np.iinfo(dtype)
        x = [r.choice([0, 1, 7, int(info.min), int(info.max)]) for _ in range(n)]
    return np.array(x, dtype).reshape(shape)


def names(r: random.Random, n: int) -> list[str]:
    """Different names of columns, with any characters."""
    out: set[str] = set()
    while len(out) < n:
        out.add("".join(r.choice("abcXYZ019_ .:-+/%é*[]{}\"'@,😀") for _ in range(r.randint(1, 5))))
    return sorted(out)


def lists(r: random.Random, name: str, dtype: str, rows: int, depth: int) -> Column:
    """A random column of lists."""
    n, offsets = rows, []
    for _ in range(depth):
        offsets.append(np.append(0, np.cumsum([r.randint(0, 3) for _ in range(n)], dtype=np.int64)))
        n = int(offsets[-1][-1])
    if dtype != "string":
        return Column(name, dtype, (-1,) * depth, rows, numbers(r, dtype, (n,)), tuple(offsets), None)
    data = [r.choice(TEXTS).encode() for _ in range(n)]
    ends = np.append(0, np.cumsum([len(b) for b in data], dtype=np.int64))
    return Column(name, "string", (-1,) * depth, rows, np.frombuffer(b"".join(data), np.uint8), tuple(offsets), ends)


def columns(r: random.Random, rows: int, dtypes: Sequence[str], more: bool = True) -> dict[str, Any]:
    """Random columns with a row per item."""
    out: dict[str, Any] = {}
    for name in names(r, r.randint(0, 4)):
        kind = r.random()
        if kind < 0.6 or not more:
            out[name] = numbers(r, r.choice(dtypes), (rows, *[r.randint(1, 3) for _ in range(r.randint(0, 2))]))
        elif kind < 0.8:
            out[name] = [r.choice(TEXTS) for _ in range(rows)]
        else:
            out[name] = lists(r, name, r.choice(["int32", "float64", "string"]), rows, r.randint(1, 2))
    return out


def found_in(pattern: str, text: str) -> str:
    """The group of a pattern where a text first has it."""
    match = re.search(pattern, text)
    assert match, pattern
    return match[1]


def ids_of(store: Store, type_: str) -> Any:
    """The original ids of the nodes of a type, which the store has."""
    ids = store.nodes[type_].ids
    assert ids is not None
    return ids.tolist()


def texts_of(store: Store, type_: str, column: str) -> Any:
    """The categories of a column of nodes, which has some."""
    categories = store.nodes[type_].columns.column(column).categories
    assert categories is not None
    return categories.tolist()


def plain(x: Any) -> Any:
    """Values as Python's, with the bits of floats."""
    if isinstance(x, Column):
        x = x.tolist()
    if isinstance(x, np.ndarray):
        return [str(x.dtype), x.shape, x.tobytes()] if x.size else []
    return [plain(v) for v in x] if isinstance(x, (list, tuple)) else x


class TestArrays(unittest.TestCase):
    def same(self, got: Mapping[str, Any], want: Mapping[str, Any]) -> None:
        self.assertEqual(set(got), set(want))
        for k in want:
            self.assertEqual(plain(got[k]), plain(want[k]), k)

    def test_random_graphs_come_back(self) -> None:
        for number in range(COUNT):
            c, r = random_graphs.case(number), random.Random(number)
            nodes = {t: columns(r, n, NUMBERS + UNSIGNED) or n for t, n in c.nodes.items()}
            edges = {e: {"edge_index": pair, **columns(r, pair.shape[1], NUMBERS + UNSIGNED)} for e, pair in c.edges.items()}
            with self.subTest(number):
                store = from_arrays(nodes, edges, threads=r.choice([1, 4]), both=r.random() < 0.5)
                got_nodes, got_edges = store.to_arrays()
                self.assertEqual(set(got_nodes), set(nodes))
                for t, n in nodes.items():
                    if isinstance(n, int):
                        self.assertEqual(got_nodes[t], n)
                    else:
                        self.same(got_nodes[t], n)
                self.assertEqual(set(got_edges), set(edges))
                for e, x in edges.items():
                    self.same(got_edges[e], x)
                again = from_arrays(got_nodes, got_edges)
                for name in ("nodes", "edges"):
                    self.assertEqual(again.meta[name], store.meta[name] if again.meta[name] == store.meta[name] else from_arrays(nodes, edges).meta[name])

    def test_times(self) -> None:
        """datetime64 is a column of times, in each unit, with NaT; and so it comes back."""
        for unit, want in (("D", "s"), ("h", "s"), ("s", "s"), ("ms", "ms"), ("us", "us"), ("ns", "ns"), ("10ms", "ms"), ("M", "s")):
            x = np.array(["2024-04-01", "1969-12-01", "NaT"], f"datetime64[{unit}]")
            store = from_arrays({"t": x, "y": [1, 2, 3]}, {"edge_index": [[0], [1]], "at": x[:1].astype(x.dtype.newbyteorder(">"))})
            c = store.nodes["_N"].columns.column("t")
            self.assertEqual((c.unit, c.values.view(f"datetime64[{want}]").tolist()), (want, x.astype(f"datetime64[{want}]").tolist()), unit)
            self.assertEqual(store.edges["_E"].columns.column("at").unit, want)
            nodes, edges = store.to_arrays()
            self.assertEqual(from_arrays(nodes, edges).meta, store.meta)
        for bad, found in (
            (np.array(["2024-01-01"], "datetime64[s]").reshape(1, 1), "one time per row"),
            (np.array([1], "timedelta64[s]"), "timedelta64"),
            (np.array(["NaT"], "datetime64"), "of a unit"),
        ):
            with self.assertRaisesRegex(TypeError, found):
                from_arrays({"t": bad}, [[0], [0]])
        with self.assertRaisesRegex(ValueError, "of the unit ps that no unit of a store has"):
            from_arrays({"t": np.array([1], "datetime64[ps]")}, [[0], [0]])

    def test_ids(self) -> None:
        for ids in (["b", "a", "c"], [7, 5, 1 << 62], np.array([3, 4, 5], np.uint8), np.array(["x", "yy", "z"])):
            listed = list(ids)
            store = from_arrays({"u": {"#id": ids, "x": [1.5, 2.5, 3.5]}}, {("u", "to", "u"): ([listed[2], listed[0]], [listed[1], listed[1]])})
            have: Any = store.nodes["u"].ids
            self.assertEqual(list(have), listed)
            self.assertEqual(store.edges["to"].edge_index("input").tolist(), [[2, 0], [1, 1]])
            nodes, edges = store.to_arrays()
            self.assertEqual([list(e) for e in edges["u", "to", "u"]["edge_index"]], [[listed[2], listed[0]], [listed[1], listed[1]]])
            again = from_arrays(nodes, edges)
            self.assertEqual(again.meta["nodes"], store.meta["nodes"])

    def test_options(self) -> None:
        pair = np.array([[0, 1, 1, 5], [1, 1, 0, 0]])
        with self.assertRaisesRegex(GraphmillError, r"^_N:_E:_N: column 'source'\[3\]: found source 5, expected .*dangling_edges"):
            from_arrays(3, pair)
        store = from_arrays(3, pair, dangling_edges="drop", self_loops="drop", primary="out")
        self.assertEqual(store.edges["_E"].primary, "out")
        self.assertEqual(store.to_arrays()[1]["_N", "_E", "_N"]["edge_index"].tolist(), [[0, 1], [1, 0]])
        for options, want in (
            (dict(dangling=True), "found dangling=, expected keywords of this function, or flags of graphmill import such as both=True"),
            (dict(reverse=True), "found reverse=, expected keywords"),
            (dict(bothh=True), r"found bothh=, .*; did you mean both=\?$"),
            (dict(dangling_edges="x"), 'dangling_edges=: found "x", expected one of error, drop, zeros$'),
        ):
            with self.assertRaisesRegex(GraphmillError, want) as e:
                from_arrays(3, pair, **options)
            self.assertNotRegex(str(e.exception), "flag:|--|import help|Try")

    def test_errors_in_words_of_python(self) -> None:
        nodes, edges = {"u": {"user id": ["a", "b"]}}, {("u", "e", "u"): {"src": ["a", "b"], "dst": ["b", "zz"]}}
        with self.assertRaisesRegex(
            GraphmillError, r"^u:e:u: column 'target'\[1\]: found destination \"zz\", expected an id of node type u; add the node, or give dangling_edges"
        ):
            from_tables(nodes, edges, ids={"u": "user id"})
        with self.assertRaisesRegex(GraphmillError, r"^u: column 'id'\[2\]: found id \"a\" again, first at u: column 'id'\[0\]"):
            from_tables({"u": {"user id": ["a", "b", "a"]}}, edges, ids={"u": "user id"})
        for values, want in (
            (
                [1, "x"],
                r"node type _N: column 'a': found values of several types, int \(1\) and str \('x'\), expected numbers, strings, or lists of one of them",
            ),
            ([[1], "x", "y"], r"several types, list \(\[1\]\) and str \('x'\)"),
            ([1, None, 2], r"several types, int \(1\) and NoneType \(None\)"),
            ([{}, {}], r"found \{\} among the values"),
        ):
            with self.assertRaisesRegex(TypeError, want):
                from_arrays({"a": values}, [[0], [0]])
        make: Callable[[], Any]
        for make in (lambda: from_arrays({"a": 3}, {}), lambda: from_tables({"u": {"id": [0]}}, {})):
            with self.assertRaisesRegex(ValueError, r"found no edge type, expected at least one; a type without edges has an edge_index of shape \[2, 0\]"):
                make()
        store = from_tables({"u": {"id": []}}, {("u", "e", "u"): {"src": [], "dst": []}})
        self.assertEqual((store.nodes["u"].count, store.edges["e"].count), (0, 0))

    def test_place(self) -> None:
        out = made.path("placed.store")
        self.assertEqual(from_arrays(2, [[0], [1]], out).path, out)
        before = os.listdir(os.path.dirname(out))
        with self.assertRaisesRegex(GraphmillError, "overwrite"):
            from_arrays(2, [[0], [1]], out)
        self.assertEqual(from_arrays(3, [[0], [1]], out, overwrite=True).num_nodes, 3)
        with self.assertRaises(GraphmillError):
            from_arrays(3, [[0], [-1]], out, overwrite=True)
        self.assertEqual(os.listdir(os.path.dirname(out)), before)
        self.assertEqual(Store(out).num_nodes, 3)

    def test_temporary(self) -> None:
        store = from_arrays({"x": np.arange(3)}, [[0], [1]])
        place, x = store.path, store.nodes["_N"]["x"]
        self.assertTrue(os.path.isdir(place))
        del store
        gc.collect()
        self.assertFalse(os.path.exists(os.path.dirname(place)))
        self.assertEqual(x.tolist(), [0, 1, 2])

    def test_errors(self) -> None:
        pair = [[0], [1]]
        for nodes, edges, error, text in (
            ({"x": [1, 2], "y": [1, 2, 3]}, pair, ValueError, "column 'y': found 3 rows, expected 2"),
            ({"x": np.zeros(2, complex)}, pair, TypeError, "column 'x': found complex128, expected one of bool"),
            ({"x": [1, "a"]}, pair, TypeError, "column 'x': found values of several types, int \\(1\\) and str \\('a'\\), expected numbers, strings"),
            ({"x": [1 << 63, -1]}, pair, TypeError, "expected numbers"),
            ({"x": [[1], "a"]}, pair, TypeError, "expected numbers"),
            ({"x": [object()]}, pair, TypeError, "expected numbers"),
            ({"x": 1.5}, pair, TypeError, "expected an array"),
            (2, [[0.5], [1.0]], TypeError, "found ends of dtype float64"),
            (2, [[0, 1], [1]], ValueError, "found 2 sources and 1 targets"),
            (2, np.zeros((3, 2), int), ValueError, r"found edges of shape \[3, 2\], expected \[2, edges\]"),
            ({"u": 2}, {("u", "to"): pair}, ValueError, "expected three names"),
            ({"u": 2}, {"u:to:u": {"w": [1]}}, ValueError, "expected edge_index"),
            ({"u": 0}, {"u:to:u": pair}, ValueError, "which has no nodes"),
            ({"u": 2}, {"u:to:v": pair}, GraphmillError, 'found the node type "v"'),
            ({"u": 2}, {}, ValueError, "found no edge type"),
            ({"x": np.zeros((2, 0))}, pair, GraphmillError, "expected rows with values"),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                from_arrays(nodes, edges)


class TestRun(unittest.TestCase):
    def test_reports(self) -> None:
        report = graphmill.run("generate", "rmat", "--scale", 5, edge_factor=2, out=made.path("run.store"))
        self.assertEqual(graphmill.run("verify", made.path("run.store"))["ok"], True)
        self.assertEqual(graphmill.run("info", made.path("run.store"), "--json"), graphmill.run("info", made.path("run.store")))
        self.assertIn("Usage", graphmill.run("--help"))
        del report

    def test_errors(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaisesRegex(GraphmillError, r"^/no/such: found no such file or folder"):
            graphmill.run("import", "/no/such", out=made.path("no.store"))
        self.assertEqual(said.getvalue(), "")
        with self.assertRaisesRegex(GraphmillError, "unknown flag: --force-it"):
            graphmill.run("import", "x", force_it=True)
        store = from_arrays(2, [[0], [1]], made.path("damage.store"))
        with open(os.path.join(store.path, "edges", "_N+_E+_N", "far.npy"), "r+b") as f:
            f.seek(-1, 2)
            f.write(b"\1")
        with self.assertRaises(GraphmillError):
            graphmill.run("verify", store.path)
        self.assertEqual(graphmill.run("verify", store.path, check=False)["ok"], False)

    def test_warnings_are_shown(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            folder = made.write(
                "tiny",
                {
                    "x.npy": np.array([1e-300, 1]),
                    "e.npy": np.array([[0], [1]]),
                    "graph.yaml": """
nodes: {u: {columns: {x: {file: x.npy, dtype: float32}}}}
edges: {"u:to:u": {table: e.npy}}
""",
                },
            )
            graphmill.run("import", folder, out=folder + ".store")
        self.assertRegex(said.getvalue(), "^graphmill: warning: .*float32")


@installed("torch", "torch_geometric")
class TestPyGWhole(unittest.TestCase):
    def tensors(self, r: random.Random, rows: int) -> dict[str, Any]:
        import torch

        out = {}
        for name in names(r, r.randint(0, 4)):
            if name.startswith("edge") or "batch" in name or name == "ptr":
                continue
            x = torch.from_numpy(numbers(r, r.choice(NUMBERS), (rows, *[r.randint(1, 3) for _ in range(r.randint(0, 2))])))
            out[name] = x.bfloat16() if x.dtype == torch.float32 and r.random() < 0.5 else x
        return out

    def same(self, got: Any, want: Any, but: Iterable[str] = ()) -> None:
        import torch

        for k in want.keys():
            a, b = got[k], want[k]
            if torch.is_tensor(b):
                self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape), k)
                self.assertTrue(torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)), k)
            else:
                self.assertEqual(a, b, k)
        self.assertEqual(set(got.keys()) - {"num_nodes"}, set(want.keys()) - {"num_nodes"})

    def test_random_graphs_come_back(self) -> None:
        import torch
        from torch_geometric.data import Data, HeteroData

        for number in range(COUNT):
            c, r = random_graphs.case(number), random.Random(number)
            data = HeteroData()
            for t, n in c.nodes.items():
                for name, x in self.tensors(r, n).items():
                    data[t][name] = x
                if r.random() < 0.3:
                    data[t]["texts"] = [r.choice(TEXTS) for _ in range(n)]
                data[t].num_nodes = n
            data["empty"].num_nodes = 0
            for e, pair in c.edges.items():
                data[e].edge_index = torch.from_numpy(pair)
                for name, x in self.tensors(r, pair.shape[1]).items():
                    data[e][name] = x
            with self.subTest(number):
                got = from_pyg(data).to_pyg()
                self.assertIsInstance(got, HeteroData)
                self.assertEqual((set(got.node_types), set(got.edge_types)), (set(data.node_types), set(data.edge_types)))
                for t in data.node_types:
                    self.same(got[t], data[t])
                    self.assertEqual(got[t].num_nodes, data[t].num_nodes)
                for e in data.edge_types:
                    self.same(got[e], data[e])
                m, n = 30 + number, 20
                one = Data(
                    x=torch.randn(n, 3),
                    y=torch.arange(n),
                    edge_index=torch.randint(0, n, (2, m)),
                    edge_attr=torch.randn(m, 2),
                    edge_weight=torch.rand(m),
                    num_nodes=n,
                )
                one.train_mask, one.time = torch.rand(n) < 0.5, torch.arange(n)
                again = from_pyg(one).to_pyg()
                self.assertIsInstance(again, Data)
                self.same(again, one)

    def test_adjacency(self) -> None:
        import torch
        from torch_geometric.data import Data
        from torch_geometric.typing import SparseTensor

        pair = torch.tensor([[0, 2, 1], [1, 1, 3]])
        adj = SparseTensor(row=pair[1], col=pair[0], value=torch.tensor([1.0, 2.0, 3.0]), sparse_sizes=(4, 4))
        got = from_pyg(Data(adj_t=adj, num_nodes=4)).to_pyg()
        self.assertEqual(sorted(zip(*got.edge_index.tolist(), got.edge_weight.tolist())), [(0, 1, 1.0), (1, 3, 3.0), (2, 1, 2.0)])

    def test_what_is_left_out(self) -> None:
        import torch
        from torch_geometric.data import Data

        data = Data(x=torch.zeros(3, 2), edge_index=torch.tensor([[0], [1]]), title="a graph", pairs=torch.zeros(7, 2), z=torch.zeros(3, dtype=torch.complex64))
        with self.assertWarnsRegex(UserWarning, "'node.z', 'pairs', 'title'"):
            store = from_pyg(data)
        self.assertEqual(list(store.nodes["_N"].columns), ["x"])
        from torch_geometric.data import HeteroData

        data = HeteroData()
        data["paper"].x = torch.zeros(3, 2)
        with self.assertRaisesRegex(
            ValueError,
            r"found a HeteroData without edge types, expected at least one; data\['paper', 'to', 'paper'\].edge_index = torch.empty\(2, 0, dtype=torch.long\)",
        ):
            from_pyg(data)
        data["paper", "to", "paper"].edge_index = torch.empty(2, 0, dtype=torch.long)
        self.assertEqual(from_pyg(data).nodes["paper"].count, 3)
        with self.assertRaisesRegex(ValueError, "found no edge_index"):
            from_pyg(Data(x=torch.zeros(3, 2)))
        with self.assertRaisesRegex(TypeError, "found dict"):
            from_pyg({})

    def test_adjacency_matrices(self) -> None:
        """Sparse tensors of torch in each layout, as ToSparseTensor makes them, are the edges and their weights."""
        import torch
        from torch_geometric.data import Data, HeteroData
        from torch_geometric.transforms import ToSparseTensor

        ends, w = torch.tensor([[0, 1, 2, 0, 4], [1, 2, 3, 3, 1]]), torch.tensor([1.0, 2, 3, 4, 5])
        pairs = set(zip(*ends.tolist(), w.tolist()))
        made_ = [
            ToSparseTensor(attr="edge_weight", layout=layout)(Data(edge_index=ends, edge_weight=w, num_nodes=5)).adj_t
            for layout in (torch.sparse_coo, torch.sparse_csr)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made_.append(made_[0].to_dense().to_sparse_csc())
        for adj_t in made_:
            store = from_pyg(Data(adj_t=adj_t, num_nodes=5))
            pair, weight = store.edges["_E"].edge_index(), store.edges["_E"].columns["edge_weight"]
            self.assertEqual(set(zip(*pair.tolist(), weight.tolist())), pairs, adj_t.layout)
        twice = torch.sparse_coo_tensor([[1, 1], [0, 0]], [2.0, 3.0], (2, 2))  # edges that come twice stay two
        data = HeteroData()
        data["a"].num_nodes, data["a", "e", "a"].adj_t = 2, twice
        store = from_pyg(data)
        self.assertEqual((store.edges["e"].edge_index().tolist(), store.edges["e"].columns["edge_weight"].tolist()), ([[0, 0], [1, 1]], [2, 3]))
        with self.assertRaisesRegex(TypeError, "found adj_t of Tensor torch.strided, expected a SparseTensor, or a sparse tensor of torch"):
            from_pyg(Data(adj_t=torch.ones(2, 2), num_nodes=2))

    def test_names_of_both(self) -> None:
        store = from_arrays({"w": [1, 2]}, {"edge_index": [[0], [1]], "w": [5]})
        got = store.to_pyg()
        self.assertEqual((got.w.tolist(), got.edge_w.tolist()), ([1, 2], [5]))


@installed("torch", "dgl")
class TestDGLWhole(unittest.TestCase):
    def test_random_graphs_come_back(self) -> None:
        import dgl
        import torch

        for number in range(COUNT):
            c, r = random_graphs.case(number), random.Random(number)
            kept = {t: n for t, n in c.nodes.items() if any(t in (e[0], e[2]) for e in c.edges)}
            g = dgl.heterograph({e: (torch.from_numpy(p[0].copy()), torch.from_numpy(p[1].copy())) for e, p in c.edges.items()}, kept)
            if number % 2:
                g = g.int()
            for t in g.ntypes:
                for name, x in columns(r, g.num_nodes(t), NUMBERS, more=False).items():
                    g.nodes[t].data[name] = torch.from_numpy(x)
            for e in g.canonical_etypes:
                for name, x in columns(r, g.num_edges(e), NUMBERS, more=False).items():
                    g.edges[e].data[name] = torch.from_numpy(x)
            with self.subTest(number):
                with self.assertWarnsRegex(UserWarning, "found a graph with int32 ids, which become int64") if number % 2 else contextlib.nullcontext():
                    store = from_dgl(g)
                got = store.to_dgl(g.idtype)
                self.assertEqual((got.ntypes, got.canonical_etypes, got.idtype), (g.ntypes, g.canonical_etypes, g.idtype))
                for t in g.ntypes:
                    self.assertEqual(got.num_nodes(t), g.num_nodes(t))
                    self.same(got.nodes[t].data, g.nodes[t].data)
                for e in g.canonical_etypes:
                    for a, b in zip(got.edges(etype=e, order="eid"), g.edges(etype=e, order="eid")):
                        self.assertTrue(torch.equal(a, b))
                    self.same(got.edges[e].data, g.edges[e].data)

    def test_types_without_nodes_and_edges(self) -> None:
        """No type is lost: neither one without nodes nor one without edges."""
        store = from_arrays({"a": 2, "b": 2, "none": 0, "alone": 3}, {("a", "r", "b"): [[0], [1]], ("none", "x", "none"): [[], []]})
        g = store.to_dgl()
        self.assertEqual({t: g.num_nodes(t) for t in g.ntypes}, {"a": 2, "b": 2, "none": 0, "alone": 3})
        g = from_arrays({"a": 2, "b": 2, "none": 0}, {("a", "r", "b"): [[0], [1]]}).to_dgl()
        self.assertEqual((g.ntypes, g.num_nodes("none")), (["a", "b", "none"], 0))
        self.assertEqual(list(from_dgl(g).nodes), ["a", "b", "none"])

    def same(self, got: Mapping[Any, Any], want: Mapping[Any, Any]) -> None:
        import torch

        self.assertEqual(set(got), set(want))
        for k in want:
            self.assertEqual((got[k].dtype, got[k].shape), (want[k].dtype, want[k].shape))
            self.assertTrue(torch.equal(got[k], want[k]), k)

    def test_errors(self) -> None:
        import dgl
        import torch

        g = dgl.graph(([0], [1]))
        for bad, found in ((dgl.batch([g, g]), "a block or a batch"), (dgl.to_block(g), "a block or a batch"), ({}, "found dict")):
            with self.assertRaisesRegex(TypeError, found):
                from_dgl(bad)
        store = from_arrays({"s": ["a", "b"], "x": [1, 2]}, [[0], [1]])
        with self.assertWarnsRegex(UserWarning, "'s' of strings"):
            got = store.to_dgl(torch.int32)
        self.assertEqual((set(got.ndata), got.idtype), ({"x"}, torch.int32))


@installed("networkx")
class TestNetworkX(unittest.TestCase):
    def test_random_graphs_come_back(self) -> None:
        import networkx as nx

        for number in range(COUNT):
            r = random.Random(number)
            g = r.choice([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])()
            size = r.choice([0, 1, 5, 12])
            keys: list[Any] = r.choice([list(range(size)), r.sample(range(1 << 40), size), [f"n{TEXTS[i % len(TEXTS)]}{i}" for i in range(size)]])
            value: dict[str, Callable[[], Any]] = {
                "f": lambda: r.gauss(0, 1),
                "i": lambda: r.randint(-9, 9),
                "b": lambda: r.random() < 0.5,
                "s": lambda: r.choice(TEXTS),
                "v": lambda: [1.5, 2.5],
                "r": lambda: [1] * r.randint(0, 3),
            }

            def some() -> dict[str, Any]:
                return {k: make() for k, make in value.items() if r.random() < 0.7}

            for k in keys:
                g.add_node(k, **some())
            for _ in range(r.choice([0, 3, 30]) if keys else 0):
                if g.is_multigraph() and number % 3 == 0:
                    g.add_edge(r.choice(keys), r.choice(keys), key=r.choice(["x", "y", "z"]), **some())
                else:
                    g.add_edge(r.choice(keys), r.choice(keys), **some())
            with self.subTest(number):
                got = from_networkx(g).to_networkx(g.is_directed(), g.is_multigraph())
                self.assertIs(type(got), type(g))
                self.assertEqual(list(got), list(g))
                self.assertTrue(nx.utils.graphs_equal(got, g), (g.nodes(data=True), got.nodes(data=True), list(g.edges(data=True)), list(got.edges(data=True))))

    def test_keys(self) -> None:
        import networkx as nx

        g = nx.path_graph(3, nx.DiGraph)
        store = from_networkx(nx.relabel_nodes(g, {0: (0, 1), 1: 2.5, 2: frozenset()}))
        self.assertEqual(ids_of(store, "_N"), ["(0, 1)", "2.5", "frozenset()"])
        with self.assertRaisesRegex(ValueError, "found the nodes '1' and 1, expected nodes whose texts differ"):
            from_networkx(nx.relabel_nodes(g, {0: "1"}))
        with self.assertRaisesRegex(TypeError, r"edge: column 'w': found values of several types, int \(1\) and str \('a'\)"):
            from_networkx(nx.DiGraph([(0, 1, {"w": 1}), (1, 2, {"w": "a"})]))
        with self.assertRaisesRegex(ValueError, "one direction only"):
            from_networkx(g).to_networkx(directed=False)
        with self.assertRaisesRegex(ValueError, "homogeneous=True"):
            Store(made.DEBIAN).to_networkx()
        with self.assertRaisesRegex(TypeError, "found list"):
            from_networkx([])
        self.assertIs(type(from_networkx(nx.MultiDiGraph([(0, 1), (0, 1)])).to_networkx()), nx.MultiDiGraph)
        undirected = from_networkx(nx.Graph([(0, 1), (1, 1)]))
        self.assertEqual(undirected.edges["_E"].edge_index("input").tolist(), [[0, 1, 1], [1, 0, 1]])


if TYPE_CHECKING:
    _Case = unittest.TestCase
else:
    _Case = object  # the tests of Tables run in its subclasses only


class Tables(_Case):
    """The tests of tables, for each library. A subclass has make(columns) and `as_`."""

    as_: str

    def make(self, columns: dict[str, Any]) -> Any:
        raise NotImplementedError

    def rows(self, table: Any) -> dict[str, list[Any]]:
        raise NotImplementedError

    def table(self, r: random.Random, rows: int, first: Mapping[str, Any]) -> dict[str, Any]:
        out = dict(first)
        for name in names(r, 4):
            kind = r.choice(["int", "float", "text", "bool", "vector", "list", "texts"])
            value: Callable[[], Any] = {
                "int": lambda: r.randint(-(1 << 40), 1 << 40), "float": lambda: r.gauss(0, 1), "text": lambda: r.choice(TEXTS), "bool": lambda: r.random() < 0.5,
                "vector": lambda: [r.gauss(0, 1), 1.0], "list": lambda: [r.randint(0, 9) for _ in range(r.randint(0, 3))], "texts": lambda: [r.choice(TEXTS) for _ in range(r.randint(0, 2))],
            }[kind]  # fmt: skip
            gaps = kind in ("int", "float", "text", "bool") and r.random() < 0.5
            out[name] = [None if gaps and i and r.random() < 0.3 else value() for i in range(rows)]
        return out

    def test_random_tables_come_back(self) -> None:
        for number in range(COUNT):
            r = random.Random(number)
            users, items, n = r.randint(1, 9), r.randint(1, 9), r.choice([1, 20])
            keys = r.sample([f"u{i}{TEXTS[i % len(TEXTS)]}" for i in range(20)], users)
            numbers = r.sample(range(1000), items)
            nodes = {"user": self.table(r, users, {"id": keys}), "item": self.table(r, items, {"item_id": numbers})}
            edges = {
                ("user", "buys", "item"): self.table(r, n, {"source": [r.choice(keys) for _ in range(n)], "item_id": [r.choice(numbers) for _ in range(n)]})
            }
            with self.subTest(number):
                store = from_tables({t: self.make(x) for t, x in nodes.items()}, {e: self.make(x) for e, x in edges.items()}, threads=r.choice([1, 4]))
                got_nodes, got_edges = store.to_tables(self.as_)
                nodes["item"]["id"] = nodes["item"].pop("item_id")
                buys = edges["user", "buys", "item"]
                buys["target"] = buys.pop("item_id")
                for got, want in ((got_nodes["user"], nodes["user"]), (got_nodes["item"], nodes["item"]), (got_edges["user", "buys", "item"], buys)):
                    got = self.rows(got)
                    self.assertEqual(set(got), set(want))
                    for name in want:
                        self.assertEqual(got[name], want[name], name)

    def test_dtypes(self) -> None:
        for dtype in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]:
            x = numbers(random.Random(1), dtype, (5,))
            store = from_tables({"u": self.make({"x": x})}, {"u:to:u": self.make({"src": np.array([0]), "dst": np.array([1])})})
            self.assertEqual(store.nodes["u"]["x"].dtype, x.dtype)
            self.assertIsNone(store.nodes["u"].ids)
            self.assertEqual(np.asarray(store.nodes["u"]["x"]).tobytes(), x.tobytes())


@installed("polars", "pyarrow")
class TestPolars(Tables, unittest.TestCase):
    as_ = "polars"

    def make(self, columns: dict[str, Any]) -> Any:
        import polars

        return polars.DataFrame(columns)

    def test_lists_keep_their_dtypes(self) -> None:
        import polars

        for dtype, name in ((polars.Float32, "float32"), (polars.Int8, "int8"), (polars.UInt16, "uint16"), (polars.Float64, "float64")):
            table = polars.DataFrame(
                {"vector": [[1, 2], [3, 4], [5, 6]], "same": [[1, 2], [3, 4], [5, 6]], "lists": [[], [1], [2, 3]], "empty": [[], [], []]},
                {"vector": polars.Array(dtype, 2), "same": polars.List(dtype), "lists": polars.List(dtype), "empty": polars.List(dtype)},
            )
            for t, first in ((table, 0), (table[1:], 1)):
                u = from_tables({"u": t}, {"u:to:u": {"src": [0], "dst": [1]}}).nodes["u"].columns
                for column, shape in (("vector", (2,)), ("same", (2,)), ("lists", (-1,)), ("empty", (-1,))):
                    c = u.column(column)
                    self.assertEqual(
                        (c.dtype, c.shape, [x.tolist() for x in (c.tolist() if c.offsets else c.values)]), (name, shape, table[column].to_list()[first:])
                    )
        gaps = polars.DataFrame({"a": [[1.0, None], [3.0, 4.0]], "b": [None, [1.0]]})
        with self.assertRaisesRegex(TypeError, "column 'a'"):
            from_tables({"u": gaps}, {"u:to:u": {"src": [0], "dst": [1]}})

    def rows(self, table: Any) -> dict[str, list[Any]]:
        return {n: [v.to_list() if hasattr(v, "to_list") else v for v in table[n].to_list()] for n in table.columns}


@installed("pyarrow", "polars")
class TestArrow(Tables, unittest.TestCase):
    as_ = "arrow"

    def make(self, columns: dict[str, Any]) -> Any:
        import pyarrow

        return pyarrow.table(columns)

    def rows(self, table: Any) -> Any:
        return table.to_pydict()

    def test_times_and_categories(self) -> None:
        import pyarrow

        for texts in (["z", "ü", "p"], [f"{i:04}" for i in range(3000, 0, -1)], []):
            codes = [None, 0, len(texts) - 1] if texts else [None, None, None]
            c = pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes, pyarrow.int32()), pyarrow.array(texts, pyarrow.string()))
            times = {u: pyarrow.array([None, -1, 1 << 50], pyarrow.timestamp(u)) for u in ("s", "ms", "us", "ns")}
            table = pyarrow.table({"c": c, **times})
            store = from_tables({"u": table}, {"u:to:u": pyarrow.table({"src": [0], "dst": [1]})})
            self.assertEqual(texts_of(store, "u", "c"), texts)
            got = store.to_tables("arrow")[0]["u"]
            for name in table.column_names:
                self.assertEqual(
                    got[name].to_pylist() if name == "c" else got[name].cast(pyarrow.int64()).to_pylist(),
                    table[name].to_pylist() if name == "c" else table[name].cast(pyarrow.int64()).to_pylist(),
                )
            self.assertEqual(from_arrays(*store.to_arrays()).meta["nodes"], store.meta["nodes"])
        with self.assertRaisesRegex(ValueError, "column 'c': found an empty category"):
            from_tables({"u": pyarrow.table({"c": pyarrow.array(["", "a"]).dictionary_encode()})}, {"u:to:u": {"src": [0], "dst": [1]}})

    def test_chunks_and_slices(self) -> None:
        import pyarrow

        half = pyarrow.table({"id": ["x", "a", "b"], "l": [[9], [1, 2], []], "d": pyarrow.array(["p", "q", None]).dictionary_encode()})
        both = pyarrow.concat_tables([half.slice(1), half.slice(0, 1)])
        store = from_tables({"u": both}, {"u:to:u": pyarrow.table({"src": ["x"], "dst": ["b"]})})
        self.assertEqual(ids_of(store, "u"), ["a", "b", "x"])
        self.assertEqual([v.tolist() for v in store.nodes["u"]["l"]], [[1, 2], [], [9]])
        self.assertEqual(store.edges["to"].edge_index().tolist(), [[2], [1]])


@installed("pandas")
class TestPandas(Tables, unittest.TestCase):
    as_ = "pandas"

    def make(self, columns: dict[str, Any]) -> Any:
        import pandas

        out = {}
        for name, x in columns.items():
            whole = isinstance(x, list) and any(v is None for v in x) and all(v is None or isinstance(v, (bool, int)) for v in x)
            kind = "boolean" if whole and any(isinstance(v, bool) for v in x) else "Int64" if whole else None
            out[name] = pandas.Series(
                x, dtype=kind or ("Float64" if isinstance(x, list) and None in x and isinstance(next(v for v in x if v is not None), float) else None)
            )
        return pandas.DataFrame(out)

    def rows(self, table: Any) -> dict[str, list[Any]]:
        import pandas

        def value(v: Any) -> Any:
            return v.tolist() if isinstance(v, np.ndarray) else None if not isinstance(v, list) and pandas.isna(v) else v

        return {n: [value(v) for v in table[n].tolist()] for n in table.columns}

    def test_index_and_dtypes(self) -> None:
        import pandas

        frame = pandas.DataFrame({"key": ["b", "a"], "c": pandas.Categorical(["y", "x"], ["z", "y", "x"]), "s": pandas.array(["p", None], "string")}).set_index(
            "key"
        )
        store = from_tables({"u": frame}, {"u:to:u": {"src": ["a"], "dst": ["b"]}}, ids={"u": "key"})
        self.assertEqual(ids_of(store, "u"), ["b", "a"])
        self.assertEqual(store.nodes["u"]["s_missing"].tolist(), [False, True])
        self.assertEqual(texts_of(store, "u", "c"), ["z", "y", "x"])
        frame = pandas.DataFrame(
            {
                "t": pandas.to_datetime(["2020-01-01", None]).tz_localize("Europe/Paris"),
                "c": pandas.Categorical(["y", None], ["z", "y"]),
                "n": pandas.Categorical([3, 1]),
            }
        )
        got = from_tables({"u": frame}, {"u:to:u": {"src": [0], "dst": [1]}}).to_tables()[0]["u"]
        self.assertEqual(got["t"].tolist()[0], frame["t"].dt.tz_convert(None)[0])
        self.assertTrue(pandas.isna(got["t"][1]))
        self.assertEqual((got["c"].dtype, got["c"].tolist()[0], got["c"].isna().tolist(), got["n"].tolist()), (frame["c"].dtype, "y", [False, True], [3, 1]))


class TestMappings(unittest.TestCase):
    def test_ends_are_those_of_the_command(self) -> None:
        """The names of ends, and the rule that finds them, are the same as `graphmill import` has; several possible ends are an error in both."""
        with open(os.path.join(os.path.dirname(__file__), "../../internal/ingest/header.go"), encoding="utf-8") as f:
            source = f.read()
        lists = [re.findall('"([^"]*)"', found_in(f"{kind}Names = .*?{{(.*?)}}", source)) for kind in ("src", "dst")]
        self.assertEqual(lists, [list(tables._SOURCES), list(tables._TARGETS)])
        usual = sorted({n for of in lists for n in of if not n.startswith(":")} | {"Source", "TARGET", "From", "To", "w"})
        fixed = [
            ["from", "to", "source"],
            ["src", "dst", "source", "target"],
            ["from", "to", "u", "v"],
            ["source", "destination"],
            ["src", "to"],
            ["From", "To"],
            ["#source", "#target", "src", "dst"],
        ]
        found = set()
        for number in range(len(fixed) + 60):
            names = fixed[number] if number < len(fixed) else random.Random(number).sample(usual, 2 + number % 3)
            file = os.path.join(made.path("pairs.csv"))
            with open(file, "w") as f:
                f.write(",".join(names) + "\n" + ",".join(str(k) for k in range(len(names))) + "\n")
            got: list[Any] = []
            make: Callable[[], Any]
            for make in (
                lambda: graphmill.run("import", file, out=made.path("pairs.store"), overwrite=True) and Store(made.path("pairs.store")),
                lambda: from_tables({"_N": {"id": list(map(str, range(len(names))))}}, {("_N", "_E", "_N"): {n: [k] for k, n in enumerate(names)}}),
            ):
                try:
                    store = make()
                    left = [n for n in store.edges["_E"].columns if not n.startswith("#")]
                    ids, ends = store.nodes["_N"].ids, store.edges["_E"].edge_index()[:, 0]
                    got.append((sorted(left), [int(e if ids is None else ids[int(e)]) for e in ends]))
                except (GraphmillError, KeyError, ValueError) as e:
                    got.append("twice" if re.search("which can (both|all) be", str(e)) else "none")
            with self.subTest(names=names):
                self.assertEqual(got[1], got[0])
                found.add(got[0] if isinstance(got[0], str) else "ends")
        self.assertEqual(found, {"ends", "twice", "none"})

    def test_ids_are_those_of_the_command(self) -> None:
        """The names of ids, and the rule that finds them, are the same for tables in memory and in graph.yaml."""
        with open(os.path.join(os.path.dirname(__file__), "../../internal/ingest/header.go"), encoding="utf-8") as f:
            usual = re.findall('"([^"]*)"', found_in("idNames *= .*?{(.*?)}", f.read()))
        self.assertEqual(usual, list(tables._IDS))
        cases = [["id", "node_id"], ["node_id"], ["NODE_ID"], ["node_id", "nodeId"], ["x", "#id", "id"], ["x"], ["ID"], ["Id", "id"], ["nodeid", "Node_Id"]]
        found = set()
        for names in cases:
            for file, text in (
                ("ids.csv", ",".join(names) + "\n" + ",".join("b" * len(names)) + "\n" + ",".join("a" * len(names)) + "\n"),
                ("e.csv", "src,dst\na,b\n" if names != ["x"] else "src,dst\n1,0\n"),
                ("graph.yaml", 'nodes: {u: {table: ids.csv}}\nedges: {"u:e:u": {table: e.csv}}\n'),
            ):
                with open(made.path(file), "w") as f:
                    f.write(text)
            ends = ["a", "b"] if names != ["x"] else [1, 0]
            got: list[Any] = []
            make: Callable[[], Any]
            for make in (
                lambda: graphmill.run("import", made.path("graph.yaml"), out=made.path("ids.store"), overwrite=True) and Store(made.path("ids.store")),
                lambda: from_tables({"u": {n: ["b", "a"] for n in names}}, {"u:e:u": {"src": ends[:1], "dst": ends[1:]}}),
            ):
                try:
                    got.append(sorted(make().nodes["u"].columns))
                except (GraphmillError, ValueError) as e:
                    got.append("twice" if re.search("which can (both|all) be", str(e)) else str(e))
            with self.subTest(names=names):
                self.assertEqual(got[1], got[0])
                found.add(str(got[0]))
        self.assertIn("twice", found)
        self.assertIn("['x']", found)

    def test_ids_and_ends(self) -> None:
        users = {"key": ["b", "a", "c"], "x": np.arange(3)}
        follows = {"who": ["a"], "whom": ["c"], "w": [1.5]}
        store = from_tables({"u": users, "v": 4}, {"u:follows:u": follows}, ids={"u": "key"}, ends={"u:follows:u": ("who", "whom")})
        self.assertEqual(store.edges["follows"].edge_index().tolist(), [[1], [2]])
        self.assertEqual((list(store.edges["follows"].columns), store.nodes["v"].count), (["#input_position", "w"], 4))
        with self.assertRaisesRegex(KeyError, r"found the columns 'who', 'whom', 'w', expected one of #source, .* for the ids of u; name both with ends="):
            from_tables({"u": users}, {"u:follows:u": follows}, ids={"u": "key"})
        with self.assertRaisesRegex(KeyError, "found the columns 'key', 'x', expected 'kee' among them"):
            from_tables({"u": users}, {"u:follows:u": follows}, ids={"u": "kee"})
        with self.assertRaisesRegex(ValueError, "column 'src': found missing values, expected an id in every row"):
            from_tables({"u": 3}, {"u:to:u": {"src": [0, None], "dst": [1, 1]}})
        with self.assertRaisesRegex(TypeError, "column 'id': found float64"):
            from_tables({"u": {"id": [0.5]}}, {"u:to:u": {"src": [0], "dst": [0]}})
        table = type("DataFrame", (), {})()
        with self.assertRaisesRegex(TypeError, r'nodes: found DataFrame, expected a table by type: \{"user": users\}'):
            from_tables(table, table)
        with self.assertRaisesRegex(TypeError, r'edges: found DataFrame, expected a table by type: \{\("user", "buys", "item"\): buys\}'):
            from_tables({"u": users}, table)
        with self.assertRaisesRegex(TypeError, "node type u: found int64|found list"):
            from_tables({"u": [1]}, {"u:to:u": {"src": [0], "dst": [0]}})

    def test_negative_ids_are_strings(self) -> None:
        store = from_tables({"u": {"id": [-1, 5]}}, {"u:to:u": {"src": [5, -1], "dst": [-1, -1]}})
        self.assertEqual(ids_of(store, "u"), ["-1", "5"])
        self.assertEqual(store.edges["to"].edge_index("input").tolist(), [[1, 0], [0, 0]])

    def test_times(self) -> None:
        for unit in ("s", "ms", "us", "ns", "h", "D", "25ns"):
            t = np.array(["2020-01-01", "NaT"], "datetime64[D]").astype(f"datetime64[{unit}]")
            store = from_tables({"u": {"t": t}}, {"u:to:u": {"src": [0], "dst": [1]}})
            c = store.nodes["u"].columns.column("t")
            self.assertEqual(c.unit, unit if unit in ("s", "ms", "us", "ns") else "ns" if "ns" in unit else "s")
            self.assertEqual(np.array_equal(c.values.view(f"datetime64[{c.unit}]"), t, equal_nan=True), True)
            again = from_arrays(*store.to_arrays())
            self.assertEqual(again.meta["nodes"], store.meta["nodes"])


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
