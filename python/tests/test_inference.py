"""Layer-wise inference: its outputs equal the outputs of the whole graph, also after kills and full disks.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

import graphmill
import made
import numpy as np
from graphmill import GraphmillError


def has(*modules: str) -> bool:
    return all(map(importlib.util.find_spec, modules))


@functools.lru_cache(None)
def plain(**options: Any) -> graphmill.Store:
    """A store without types: 2,000 nodes of which some have no in-edges and one has many."""
    r = np.random.default_rng(1)
    edges = r.integers(0, 2000, (2, 9000))
    edges[1, :1500] = 7
    edges[1][edges[1] % 10 == 3] = 5
    x = r.standard_normal((2000, 12)).astype(np.float32)
    weight = r.random(9000).astype(np.float32)
    return graphmill.from_arrays({"x": x}, {"edge_index": edges, "weight": weight}, made.path(f"inference{len(options)}.store"), **options)


@functools.lru_cache(None)
def typed() -> graphmill.Store:
    """A store with types: one has no in-edges, and many nodes have none of some relation."""
    r = np.random.default_rng(2)
    count = {"paper": 900, "author": 500, "venue": 11}
    nodes = {t: {"x": r.standard_normal((n, k)).astype(np.float32)} for (t, n), k in zip(count.items(), (6, 4, 3))}
    edges = {}
    for e, n in {
        ("author", "writes", "paper"): 1500,
        ("paper", "cites", "paper"): 2500,
        ("venue", "holds", "paper"): 40,
        ("paper", "by", "author"): 1200,
    }.items():
        edges[e] = np.stack([r.integers(0, count[e[0]], n), r.integers(0, count[e[2]], n)])
    return graphmill.from_arrays(nodes, edges, made.path("inference-typed.store"))


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="graphmill-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name: str = "out") -> str:
        return os.path.join(self.folder, name)

    def near(self, got: Any, want: Any) -> None:
        want = want.detach().numpy()
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@unittest.skipUnless(has("torch_geometric"), "PyG is not installed")
class TestPyG(Folder):
    def test_plain(self) -> None:
        """All forms of layers, sizes of batches and directions of the store give the output on the whole graph."""
        import torch
        from torch_geometric import nn

        torch.manual_seed(1)
        convs = [nn.SAGEConv(12, 16), nn.GATConv(16, 5, heads=2), nn.SAGEConv(10, 3)]
        for conv in convs:
            conv.eval()
        functions = [lambda x, e: convs[0](x, e).relu(), lambda x, e: convs[1](x, e).relu(), convs[2]]
        data = plain().to_pyg()
        want = data.x
        for f in functions:
            want = f(want, data.edge_index)
        options: Any
        store: Any
        for i, (store, layers, options) in enumerate(
            [
                (plain(), functions, {}),
                (plain().path, functions, dict(batch_size=np.int64(100))),
                (plain(), functions, dict(as_="bipartite", batch_size=333)),
                (plain(), functions, dict(batch_edges=50)),
                (plain(), functions, dict(x=data.x, device="cpu")),
                (plain(), functions, dict(x=data.x.numpy(), batch_size=1999)),
                (plain(primary="out"), functions, dict(batch_size=700)),
                (plain(primary="out", both=True), functions, dict(batch_size=700, x="x")),
            ]
        ):
            with self.subTest(i):
                got = graphmill.inference(store, layers, self.path(f"out{i}"), **options)
                self.near(got, want)
                self.assertFalse(got.flags.writeable)
                self.assertEqual(sorted(os.listdir(self.path(f"out{i}"))), ["_N.npy", "inference.json"])

    def tables(self, *names: str) -> list[str]:
        """Paths in a folder of tables."""
        os.makedirs(self.path("tables"), exist_ok=True)
        return [os.path.join(self.path("tables"), name) for name in names]

    def test_tables(self) -> None:
        """The output of the last layer is written under the original ids, of a graph without types and for the types that are asked for."""

        def rows(path: str) -> Any:
            return np.genfromtxt(path, delimiter=",", skip_header=1, dtype=np.float64)

        csv_file, database, users, items = self.tables("rows.csv", "rows.db", "paper.csv", "author.arrow")
        got = graphmill.inference(plain(), [lambda x, e: x[:, :6].reshape(-1, 2, 3)], self.path(), write=csv_file)
        self.assertEqual(got.shape, (2000, 2, 3))
        table = rows(csv_file)
        np.testing.assert_array_equal(table[:, 0], np.arange(2000))
        np.testing.assert_array_equal(table[:, 1:].astype(np.float32), got.reshape(2000, 6))
        graphmill.inference(plain(), [lambda x, e: x[:, 0]], self.path("more"), write={"_N": f"sqlite:{database}#scores"})
        with contextlib.closing(sqlite3.connect(database)) as db:
            found = db.execute("SELECT id, output FROM scores").fetchall()
        np.testing.assert_array_equal(np.array(found, np.float32), np.stack([np.arange(2000), got[:, 0, 0]], 1))
        calls = [lambda x, e: {t: v[:, :2] for t, v in x.items()}, lambda x, e: {t: v.bfloat16() for t, v in x.items() if t != "author"}]
        typed_rows = graphmill.inference(typed(), calls, self.path("typed"), write={"paper": users, "venue": self.tables("venue.parquet")[0]})
        np.testing.assert_array_equal(rows(users)[:, 1:].astype(np.float32), typed_rows["paper"])
        self.assertEqual(sorted(os.listdir(self.path("tables"))), ["paper.csv", "rows.csv", "rows.db", "venue.parquet"])
        with self.assertRaisesRegex(GraphmillError, "write: node type author: the last layer returned no rows of the type; what is computed stays"):
            graphmill.inference(typed(), calls, self.path("none"), write={"author": items})
        self.assertFalse(os.path.exists(self.path("none")))
        graphmill.inference(typed(), calls, self.path("none"), resume=True)

    def test_tables_refused(self) -> None:
        """What cannot be written is an error before the first layer is called."""
        there, new, database = self.tables("there.csv", "new.csv", "there.db")
        with open(there, "w") as f:
            f.write("kept")
        with contextlib.closing(sqlite3.connect(database)) as db:
            db.execute("CREATE TABLE t (x)")
        before = sorted(os.listdir(self.path("tables")))

        def never(x: Any, edge_index: Any) -> Any:
            raise AssertionError("a layer was called")

        for store, write, want in (
            (plain(), there, "there.csv: found that it exists"),
            (plain(), self.path("tables/new.txt"), "expected a name that ends with .parquet, .arrow, .csv or .db"),
            (plain(), self.path("no/new.csv"), "found no folder"),
            (plain(), database, "found no table for the database"),
            (plain(), f"sqlite:{database}#t", "found a table 't', expected none of this name"),
            (plain(), "postgres://me:word@127.0.0.1/shop#t", "found a password in out"),
            (plain(), "postgres://me@127.0.0.1/shop", "found no table for the database in out"),
            (plain(), {"_M": new}, "write: found '_M', expected one of _N"),
            (plain(), {"_N": 3}, "found write=3, expected a path"),
            (typed(), new, "found write='.*' for the node types .*, expected a dict by type"),
            (typed(), {"paper": new, "author": new}, "write: found .*new.csv twice"),
        ):
            with self.subTest(want), self.assertRaisesRegex((GraphmillError, TypeError, ValueError), want):
                graphmill.inference(store, [never], self.path(), write=write)
            self.assertEqual(sorted(os.listdir(self.path("tables"))), before)
            self.assertFalse(os.path.exists(self.path()))

    def test_tables_resumed(self) -> None:
        """After a table fails, the layers are not computed again, and a table that was written is not written again."""
        first, second = self.tables("first.csv", "second.csv")
        called: list[int] = []

        def layer(x: Any, edge_index: Any) -> Any:
            called.append(1)
            return {t: v[:, 0] for t, v in x.items()}

        def run(**more: Any) -> Any:
            return graphmill.inference(typed(), [layer], self.path(), write={"paper": first, "author": second}, **more)

        def failing(store: Any, type_: str, *given: Any, **more: Any) -> str:
            if type_ == "author":
                raise GraphmillError("disk full")
            return graphmill.write_predictions(store, type_, *given, **more)

        with (
            mock.patch("graphmill._inference.write_predictions", failing),
            self.assertRaisesRegex(GraphmillError, "write: node type author: disk full"),
        ):
            run()
        self.assertEqual(os.listdir(self.path("tables")), ["first.csv"])
        self.assertFalse(os.path.exists(self.path()))
        before, times = os.stat(first).st_mtime_ns, len(called)
        run(resume=True)
        self.assertEqual((os.stat(first).st_mtime_ns, len(called)), (before, times + 3), "expected the first row of each type alone to be computed again")
        self.assertEqual(sorted(os.listdir(self.path("tables"))), ["first.csv", "second.csv"])

    def test_features(self) -> None:
        """A feature that the store holds as codes is the input as if it were numbers."""
        import torch

        cities = [f"city {i % 50}" for i in range(2000)]
        parts = [{"from": "city", "encode": "one-hot"}, {"from": "n", "scale": "standard"}]
        of: Any = {"_N": {"x": parts, "low": {"bits": 4, "parts": parts}, "brain": {"bits": 8, "dtype": "bfloat16", "parts": parts[1:]}}}
        data = plain().to_arrays()[1]["_N", "_E", "_N"]
        tables = {"_N": {"city": cities, "n": np.arange(2000.0)}}, {("_N", "_E", "_N"): {"src": data["edge_index"][0], "dst": data["edge_index"][1]}}
        store = graphmill.from_tables(*tables, features=of)
        self.assertEqual(store.nodes["_N"].columns.column("x").shape, (53,))
        torch.manual_seed(1)
        layer = torch.nn.Linear(53, 4)
        for name in ("x", "low"):
            got = graphmill.inference(store, [lambda x, e: layer(x)], self.path(name), x=name, batch_size=300)
            self.near(got, layer(torch.from_numpy(np.asarray(store.nodes["_N"][name]))))
        got = graphmill.inference(store, [lambda x, e: x.float()], self.path("brain"), x="brain", batch_size=300)
        np.testing.assert_array_equal(got, np.asarray(store.nodes["_N"]["brain"]))

    def test_states(self) -> None:
        """Random features of random tables: a store of other rows that is made with `like=` has the state of the first, the numbers of the rows that both have, and so have inference and batches."""
        for seed in range(6):
            with self.subTest(seed):
                self.check_state(np.random.default_rng(seed), self.path(f"out{seed}"))

    def check_state(self, r: np.random.Generator, out: str) -> None:
        n = int(r.integers(1, 400))
        cities, tags = int(r.integers(1, 50)), int(r.integers(1, 60))
        rows: dict[str, Any] = {
            "id": [f"u{i}" for i in range(n)],
            "a": np.where(r.random(n) < 0.2, np.nan, r.normal(size=n) * 10.0 ** r.integers(-3, 4)),
            "b": r.integers(-5, 5, n),
            "city": [f"c{i}" if r.random() < 0.9 else "" for i in r.integers(0, cities, n)],
            "tags": [";".join(f"t{k}" for k in r.integers(0, tags, r.integers(0, 4))) for _ in range(n)],
            "at": np.datetime64("2012-01-01", "s") + r.integers(0, 300_000_000, n),
        }
        rows["a"][0] = 1.5  # a column without any value has no fit
        pool: list[dict[str, Any]] = [
            {
                "from": "a",
                "impute": str(r.choice(["mean", "median", "mode"])),
                "scale": str(r.choice(["standard", "robust", "normal-quantiles", "min-max"])),
                "flag": True,
            },
            {"from": "a", "impute": "constant", "value": 2, "encode": "buckets", "count": 5},
            {"from": "b", "scale": str(r.choice(["max-abs", "signed-log", "uniform-quantiles"]))},
            {"from": "b", "encode": "one-hot", "least": int(r.integers(1, 4))},
            {"from": "city", "encode": "one-hot"},
            {"from": "city", "encode": "frequency", "impute": "constant"},
            {"from": "tags", "encode": "multi-hot", "separator": ";"},
            {"from": "tags", "encode": "hash", "dim": 7},
            {"from": "at", "encode": "calendar", "parts": ["year", "weekday-cycle"], "scale": "standard"},
        ]
        parts = [pool[k] for k in r.permutation(len(pool))[: r.integers(1, len(pool) + 1)]]
        whole = {"parts": parts, **({"bits": 8} if r.random() < 0.3 else {}), **({"norm": "l2"} if r.random() < 0.3 else {})}
        first = graphmill.from_tables(
            {"user": rows}, {("user", "e", "user"): {"src": rows["id"][:1], "dst": rows["id"][:1]}}, features={"user": {"x": whole}}, fit="all"
        )

        # Other rows: some of the first in another order, and new ones with other texts.
        kept, new = r.permutation(n)[: r.integers(1, n + 1)], int(r.integers(0, 30))
        other = {k: np.concatenate([np.asarray(v)[kept], np.asarray(v)[r.integers(0, n, new)]]) for k, v in rows.items()}
        other |= {k: other[k].tolist() for k in ("id", "city", "tags")}
        other["id"][len(kept) :] = [f"new{i}" for i in range(new)]
        other["city"][len(kept) :] = [f"elsewhere{i}" for i in range(new)]
        ends = {"src": [other["id"][i] for i in r.integers(0, len(other["id"]), 50)], "dst": [other["id"][i] for i in r.integers(0, len(other["id"]), 50)]}
        second = graphmill.from_tables({"user": other}, {("user", "e", "user"): ends}, like=first)
        x, y = np.asarray(first.nodes["user"]["x"]), np.asarray(second.nodes["user"]["x"])
        np.testing.assert_array_equal(x[kept], y[: len(kept)])
        self.assertEqual(first.features("user")["x"].names, second.features("user")["x"].names)
        third = graphmill.from_tables({"user": other}, {("user", "e", "user"): ends}, like=second)
        np.testing.assert_array_equal(np.asarray(third.nodes["user"]["x"]), y)
        np.testing.assert_array_equal(graphmill.inference(second, [lambda x, e: x], out, x="x", batch_size=64), y)
        with graphmill.NodeLoader(second, [5], 16, "user", x="x", as_="numpy") as loader:
            for batch in loader:
                np.testing.assert_array_equal(
                    batch.x["x"] if "x" in batch.x else batch.x["user"]["x"],
                    y[np.asarray(batch.n_id if not isinstance(batch.n_id, dict) else batch.n_id["user"])],
                )

    def test_models(self) -> None:
        """PyG's models, against their own inference on subgraphs, and a loop as users write it."""
        import torch
        from torch_geometric.loader import NeighborLoader
        from torch_geometric.nn.models import GAT, GIN, GraphSAGE

        data = plain().to_pyg()
        loader = NeighborLoader(data, num_neighbors=[-1], batch_size=256)
        for i, kind in enumerate((GraphSAGE, GAT, GIN)):
            torch.manual_seed(i)
            model = kind(12, 16, num_layers=2, out_channels=4, norm="batch_norm", dropout=0.5).eval()
            with torch.no_grad():
                want = model(data.x, data.edge_index)
            got = graphmill.inference(plain(), model, self.path(f"out{i}"), batch_size=300)
            self.near(got, want)
            self.near(got, model.inference(loader))
            self.near(graphmill.inference(plain(), model, self.path(f"pairs{i}"), batch_size=300, as_="bipartite"), want)
        model = GraphSAGE(12, 16, num_layers=2, out_channels=4).eval()
        convs, x_all = model.convs, data.x
        with torch.no_grad():
            for i, conv in enumerate(convs):
                xs = []
                for batch in loader:
                    x = conv(x_all[batch.n_id], batch.edge_index)
                    xs.append((x if i else x.relu())[: batch.batch_size])
                x_all = torch.cat(xs)
        self.near(graphmill.inference(plain(), [lambda x, e: convs[0](x, e).relu(), convs[1]], self.path("hand")), x_all)

    def test_edge_attr(self) -> None:
        import torch
        from torch_geometric.nn import GraphConv

        torch.manual_seed(1)
        a, b = GraphConv(12, 8), GraphConv(8, 8)
        data = plain().to_pyg()
        want = b(a(data.x, data.edge_index, data.weight).relu(), data.edge_index, data.weight)
        options: Any
        for i, options in enumerate(({}, {"primary": "out"}, {"primary": "out", "both": True})):
            store = plain(**options)
            layers = [lambda x, e, w: a(x, e, w).relu(), b.eval()]
            self.near(graphmill.inference(store, layers, self.path(f"out{i}"), edge_attr="weight", batch_size=123), want)

    def test_degrees(self) -> None:
        """GCNConv, which needs the degrees of sources, is warned of; with normalised weights it equals itself on the whole graph."""
        import torch
        from torch_geometric.nn import GCNConv
        from torch_geometric.nn.conv.gcn_conv import gcn_norm

        torch.manual_seed(1)
        data = plain().to_pyg()
        conv = GCNConv(12, 4).eval()
        with self.assertWarnsRegex(
            UserWarning, "GCNConv divides by the degrees of sources, .*; give it normalised weights with edge_attr= and normalize=False"
        ):
            got = graphmill.inference(plain(), [conv], self.path("wrong"), batch_size=100)
        want = conv(data.x, data.edge_index).detach()
        self.assertGreater(float((torch.from_numpy(np.array(got)) - want).abs().max()), 0.01)
        pairs, weights = gcn_norm(data.edge_index, num_nodes=2000)
        store = graphmill.from_arrays({"x": data.x.numpy()}, {"edge_index": pairs.numpy(), "weight": weights.numpy()})
        conv.normalize = False
        self.near(graphmill.inference(store, [conv], self.path(), batch_size=100, edge_attr="weight"), want)

    def test_types(self) -> None:
        import torch
        from torch_geometric.nn import GATConv, HeteroConv, SAGEConv

        torch.manual_seed(1)
        data = typed().to_pyg()
        first = HeteroConv({e: SAGEConv((-1, -1), 8) for e in data.edge_types}).eval()
        second = HeteroConv({e: GATConv((-1, -1), 5, add_self_loops=False) for e in data.edge_types if e[0] != "venue"}).eval()
        x = first(data.x_dict, data.edge_index_dict)
        edges = {e: i for e, i in data.edge_index_dict.items() if e[0] in x}  # as no edges lead to venues, they have no rows now
        want = second({t: h.relu() for t, h in x.items()}, edges)
        layers = [lambda x, e: {t: h.relu() for t, h in first(x, e).items()}, second]
        options: Any
        for i, options in enumerate(({}, dict(batch_size=7), dict(x={t: data[t].x for t in data.node_types}), dict(x={"venue": data["venue"].x}))):
            got = graphmill.inference(typed(), layers, self.path(f"out{i}"), **options)
            self.assertEqual(sorted(got), ["author", "paper"])
            for t in got:
                self.near(got[t], want[t])
        both = [lambda x, e: {t: h.relu() for t, h in first(x, e).items()}, second]
        got = graphmill.inference(typed(), both, self.path("all"), keep="all", batch_size=200)
        for t in got:
            self.near(got[t], want[t])
            self.near(np.load(self.path(f"all/layer_1/{t}.npy")), x[t].relu())

    def test_attention_over_types(self) -> None:
        """HGTConv takes no batch without edges, such as one of a type to which none lead."""
        from torch_geometric.nn import HGTConv

        data = typed().to_pyg()
        conv = HGTConv({t: data[t].x.shape[1] for t in data.node_types}, 8, data.metadata(), heads=2).eval()
        want = conv(data.x_dict, data.edge_index_dict)
        for size in (1000, 50):
            got = graphmill.inference(typed(), [conv], self.path(f"out{size}"), batch_size=size)
            self.assertEqual(sorted(got), sorted(want))
            for t in got:
                self.near(got[t], want[t])

    def test_dtypes(self) -> None:
        """bfloat16 is written as float32, and the next layer gets bfloat16; integers go to an embedding."""
        import torch

        table = torch.nn.Embedding(2000, 4).bfloat16().eval()
        seen = []

        def second(x: Any, e: Any) -> Any:
            seen.append(x.dtype)
            return x * 2

        ids = np.arange(2000, dtype=np.uint16)[::-1]
        got = graphmill.inference(plain(), [lambda x, e: table(x), second], self.path(), x=ids)
        self.assertEqual((got.dtype, set(seen)), (np.float32, {torch.bfloat16}))
        self.assertTrue(np.array_equal(got, 2 * table.weight.detach().float().numpy()[::-1]))

    def test_errors(self) -> None:
        from torch_geometric.nn import GraphSAGE, SAGEConv

        same = [lambda x, e: x]
        wide = SAGEConv(100, 4).eval()
        for layers, options, error, text in (
            (same, dict(as_="numpy"), ValueError, "found as_='numpy', expected one of pyg, bipartite, dgl"),
            (same, dict(keep="none"), ValueError, "found keep='none', expected one of last, all"),
            (same, dict(batch_size=0), ValueError, "found batch_size=0, expected at least 1"),
            (same, dict(batch_size=1.0), TypeError, "found batch_size=1.0, expected an integer"),
            (same, dict(x="y"), ValueError, "x: column of node type _N: found 'y', expected one of x"),
            (same, dict(x=np.zeros((3, 4))), ValueError, "x: found float64 .3, 4. for node type _N, expected numbers with 2000 rows"),
            (same, dict(x={"node": None}), ValueError, "x: found 'node', expected one of _N"),
            (same, dict(edge_attr="wieght"), ValueError, "edge_attr: found 'wieght', expected one of weight; did you mean weight?"),
            ([], {}, ValueError, "found no layers"),
            ([3], {}, TypeError, "found int as layer 1, expected a module or a function"),
            (wide, {}, TypeError, "found layers=SAGEConv, expected a list"),
            ([SAGEConv(12, 4)], {}, ValueError, "found SAGEConv in training mode, expected evaluation; call eval"),
            (GraphSAGE(12, 8, 2, jk="cat").eval(), {}, ValueError, "found a model with jk='cat', expected None or 'last'"),
            ([wide], {}, GraphmillError, r"layer 1, nodes 0 to 1999 of _N, which got x float32 \[2000, 12\]: found RuntimeError: .*mat1 and mat2"),
            ([lambda x, e: x[:5]], {}, GraphmillError, "found 5 rows, expected 2000, one per node"),
            (
                [lambda x, e: x[:5]],
                dict(batch_size=10),
                GraphmillError,
                r"layer 1, nodes 0 to 9 of _N, .*: found 5 rows, expected 10, one per node, or \d+, one per row of x",
            ),
            ([lambda x, e: [x]], {}, GraphmillError, "found list, expected a tensor with a row per node"),
            ([lambda x, e: x.sum()], {}, GraphmillError, "found Tensor of no dimension, expected a tensor with a row per node"),
            (
                [lambda x, e: x[:, : 3 + (len(x) % 7)]],
                dict(batch_size=10),
                GraphmillError,
                r"layer 1, nodes from \d+ of _N: found float32 \[\d\] per node, expected float32 \[\d\]",
            ),
        ):
            with self.subTest(text):
                with self.assertRaisesRegex(error, text):
                    graphmill.inference(plain(), layers, self.path(), **options)
                self.assertFalse(os.path.exists(self.path()))
        with self.assertRaisesRegex(ValueError, "found x=ndarray for the node types author, paper, venue, expected a dict by type"):
            graphmill.inference(typed(), same, self.path(), x=np.zeros(3))
        with self.assertRaisesRegex(ValueError, "found as_='bipartite' with a graph that has types, expected 'pyg'"):
            graphmill.inference(typed(), same, self.path(), as_="bipartite")
        with self.assertRaisesRegex(GraphmillError, "found Tensor, expected a dict of tensors by node type"):
            graphmill.inference(typed(), [lambda x, e: x["paper"]], self.path())
        with self.assertRaisesRegex(GraphmillError, "layer 1: found no rows of any node type"):
            graphmill.inference(typed(), [lambda x, e: {}] * 2, self.path())
        with self.assertRaisesRegex(ValueError, "x: found the columns .* of node type package, expected x, feat or one column of floats"):
            graphmill.inference(
                graphmill.from_arrays({"package": {"a": np.zeros(3), "b": np.zeros(3)}}, {("package", "r", "package"): np.zeros((2, 1), int)}),
                same,
                self.path(),
            )

    def test_folders(self) -> None:
        same = [lambda x, e: x]
        os.mkdir(self.path())
        options: Any
        for options, text in (
            ({}, "found that it exists, expected a new folder; overwrite=True"),
            (dict(overwrite=True), "found no folder of an earlier inference"),
        ):
            with self.assertRaisesRegex(GraphmillError, text):
                graphmill.inference(plain(), same, self.path(), **options)
        os.rmdir(self.path())
        graphmill.inference(plain(), same, self.path())
        with self.assertRaisesRegex(GraphmillError, "found that it exists"):
            graphmill.inference(plain(), same, self.path(), resume=True)
        self.near(graphmill.inference(plain(), [lambda x, e: x + 1], self.path(), overwrite=True), plain().to_pyg().x + 1)
        self.assertEqual(os.listdir(self.folder), ["out"])
        with self.assertRaisesRegex(GraphmillError, "found No such file or directory|found Not a directory"):
            graphmill.inference(plain(), same, self.path("out/_N.npy/under"))

    def test_resume_after_any_batch(self) -> None:
        """However many calls of layers succeed before one fails, the run that continues gives the same rows, and computes no batch twice but those it checks."""
        import torch

        torch.manual_seed(1)
        lin = [torch.nn.Linear(12, 6), torch.nn.Linear(6, 6), torch.nn.Linear(6, 2)]
        calls, fail = [], None

        def layer(i: int) -> Callable[[Any, Any], Any]:
            def f(x: Any, e: Any) -> Any:
                if fail is not None and len(calls) == fail:
                    raise RuntimeError("no more")
                calls.append(i)
                out = lin[i](x)
                return out + torch.zeros_like(out).index_add(0, e[1], lin[i](x)[e[0]])

            return f

        options: Any
        layers, options = [layer(0), layer(1), layer(2)], dict(batch_size=500, batch_edges=1 << 20)
        want = torch.from_numpy(np.array(graphmill.inference(plain(), layers, self.path("want"), **options)))
        whole = len(calls)
        self.assertEqual(whole, 12)
        for keep in ("last", "all"):
            for n in range(whole):
                out = self.path(f"{keep}{n}")
                calls.clear()
                fail = n
                with self.assertRaisesRegex(GraphmillError, "RuntimeError: no more"):
                    graphmill.inference(plain(), layers, out, keep=keep, **options)
                fail = None
                self.assertFalse(os.path.exists(out))
                calls.clear()
                self.near(graphmill.inference(plain(), layers, out, keep=keep, resume=True, **options), want)
                checked = (n > 0) + (n > 4) * (n not in (4, 8))
                self.assertEqual(len(calls), whole - n + checked, (n, calls))
        self.assertFalse([name for name in os.listdir(self.folder) if name.startswith(".")])

    def test_resume_with_other_things(self) -> None:

        def stops(x: Any, e: Any) -> Any:
            if len(x) < 1500:
                raise RuntimeError("no more")
            return x

        options: dict[str, Any] = dict(batch_size=1990, batch_edges=1 << 20)
        graphmill.inference(plain(), [lambda x, e: x], self.path("old"), resume=True, **options)  # nothing to continue
        with self.assertRaises(GraphmillError):
            graphmill.inference(plain(), [stops], self.path(), **options)
        more: Any
        for more, layers, text in (
            (dict(batch_size=100), [stops], "found a run with batch_size=1990, expected batch_size=100; give the same arguments, or leave out resume="),
            (dict(keep="all"), [stops], "keep='last', expected keep='all'"),
            (dict(x=np.zeros((2000, 12), np.float32)), [stops], "x={'_N': 'column x'}, expected x={'_N': 'float32 .2000, 12.'}"),
            ({}, [lambda x, e: x * 2], "found another first row of layer 1 of _N, expected the row of the run to continue; give the same layers"),
            ({}, [lambda x, e: x, lambda x, e: x], "layers=1, expected layers=2"),
        ):
            with self.assertRaisesRegex(GraphmillError, text):
                graphmill.inference(plain(), layers, self.path(), resume=True, **{**options, **more})
        state = self.path(".out.partial/inference.json")
        with open(state) as f:
            content = f.read()
        for damaged in ("", "[]", "{}", content[:50], content.replace('"format": 1', '"format": 2')):
            with open(state, "w") as f:
                f.write(damaged)
            with self.assertRaisesRegex(GraphmillError, "inference.json: damaged: .*leave out resume="):
                graphmill.inference(plain(), [lambda x, e: x], self.path(), resume=True, **options)
        with open(state, "w") as f:
            f.write(content)
        os.truncate(self.path(".out.partial/_N.npy"), 999)
        with self.assertRaisesRegex(GraphmillError, "_N.npy: found another size or header, expected 2000 rows of float32"):
            graphmill.inference(plain(), [lambda x, e: x], self.path(), resume=True, **options)
        self.near(graphmill.inference(plain(), [lambda x, e: x], self.path(), **options), plain().to_pyg().x)

    def test_killed(self) -> None:
        """A run that is killed while layer 2 is computed continues, and of layer 1 only the rows of the first batch are computed again."""
        program = f"""
import os, signal, sys
import graphmill, graphmill._inference
graphmill._inference._EVERY = 0
calls = 0
def layer(x, e):
    global calls
    calls += 1
    if calls == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return x + 1
graphmill.inference({plain().path!r}, [layer, layer], {self.path()!r}, batch_size=100, resume=True)
print(calls)
"""
        run = [sys.executable, "-c", program]
        for kill in (13, 17, 15, 0):
            p = subprocess.run([*run, str(kill)], capture_output=True, text=True)
            self.assertEqual(p.returncode, -signal.SIGKILL if kill else 0, p.stderr)
        whole = int(p.stdout)
        self.assertLess(whole, 45)
        self.assertTrue(np.array_equal(np.load(self.path("out/_N.npy")), np.asarray(plain().nodes["_N"]["x"]) + np.float32(1) + np.float32(1)))

    def test_full_disk(self) -> None:
        """A disk without space for the outputs is an error before the first row is written; the run continues with more space."""
        files: Any = importlib.import_module("graphmill._row_file")

        real, left = os.posix_fallocate, [100_000]

        def fallocate(fd: int, at: int, size: int) -> None:
            if size > left[0]:
                raise OSError(28, "No space left on device")
            real(fd, at, size)

        files.os.posix_fallocate = fallocate
        try:
            wide = [lambda x, e: x, lambda x, e: x.repeat(1, 2)]
            left[0] = 110_000
            with self.assertRaisesRegex(GraphmillError, "_N.npy: found No space left on device, expected 192128 bytes; free some, and give resume=True"):
                graphmill.inference(plain(), wide, self.path())
            left[0] = 1 << 20
            x = plain().to_pyg().x
            self.near(graphmill.inference(plain(), wide, self.path(), resume=True), x.repeat(1, 2))
        finally:
            files.os.posix_fallocate = real

    def test_one_process_at_a_time(self) -> None:
        def inner(x: Any, e: Any) -> Any:
            with self.assertRaisesRegex(GraphmillError, "found that another process writes it"):
                graphmill.inference(plain(), [lambda x, e: x], self.path())
            return x

        graphmill.inference(plain(), [inner], self.path())


@unittest.skipUnless(has("dgl"), "DGL is not installed")
class TestDGL(Folder):
    def test_plain(self) -> None:
        import dgl.nn as nn
        import torch

        torch.manual_seed(1)
        g = plain().to_dgl()
        a, b = nn.SAGEConv(12, 16, "mean").eval(), nn.GATConv(16, 4, 2, allow_zero_in_degree=True).eval()
        with torch.no_grad():
            want = b(g, a(g, g.ndata["x"]).relu())
        layers = [lambda block, x: a(block, x).relu(), b]
        options: Any
        for i, options in enumerate(({}, dict(batch_size=111))):
            self.near(graphmill.inference(plain(), layers, self.path(f"out{i}"), as_="dgl", **options), want)

    def test_degrees(self) -> None:
        import dgl.nn as nn

        with self.assertWarnsRegex(UserWarning, "GraphConv divides by the degrees of sources, .* norm=none"):
            graphmill.inference(plain(), [nn.GraphConv(12, 4, allow_zero_in_degree=True).eval()], self.path(), as_="dgl")
        right = nn.GraphConv(12, 4, norm="right", allow_zero_in_degree=True).eval()
        g = plain().to_dgl()
        self.near(graphmill.inference(plain(), [right], self.path("right"), as_="dgl", batch_size=77), right(g, g.ndata["x"]))

    def test_by_hand(self) -> None:
        """The loop of DGL's examples: one layer at a time with MultiLayerFullNeighborSampler(1)."""
        import dgl
        import dgl.nn as nn
        import torch

        torch.manual_seed(1)
        g = plain().to_dgl()
        layers = [nn.SAGEConv(12, 16, "mean").eval(), nn.SAGEConv(16, 4, "mean").eval()]
        loader = dgl.dataloading.DataLoader(g, torch.arange(g.num_nodes()), dgl.dataloading.MultiLayerFullNeighborSampler(1), batch_size=256)
        h = g.ndata["x"]
        with torch.no_grad():
            for layer in layers:
                y = [layer(blocks[0], h[input_nodes]) for input_nodes, _, blocks in loader]
                h = torch.cat(y)
        self.near(graphmill.inference(plain(), layers, self.path(), as_="dgl"), h)

    def test_edge_attr(self) -> None:
        import dgl.nn as nn
        import torch

        torch.manual_seed(1)
        g = plain().to_dgl()
        conv = nn.SAGEConv(12, 5, "mean").eval()
        with torch.no_grad():
            want = conv(g, g.ndata["x"], edge_weight=g.edata["weight"])
        got = graphmill.inference(plain(), [lambda b, x: conv(b, x, edge_weight=b.edata["weight"])], self.path(), as_="dgl", edge_attr="weight", batch_size=99)
        self.near(got, want)

    def test_types(self) -> None:
        """DGL's HeteroGraphConv leaves out relations without edges; every batch has an edge of each, so that it computes the same."""
        import dgl.nn as nn
        import torch

        torch.manual_seed(1)
        g = typed().to_dgl()
        width = {"paper": 6, "author": 4, "venue": 3}
        a = nn.HeteroGraphConv({r: nn.SAGEConv((width[s], width[d]), 8, "mean") for s, r, d in g.canonical_etypes}).eval()
        b = nn.HeteroGraphConv({r: nn.SAGEConv(8, 5, "mean") for s, r, d in g.canonical_etypes}).eval()
        with torch.no_grad():
            h = a(g, g.ndata["x"])
            want = b(g, {t: x.relu() for t, x in h.items()})
        layers = [lambda block, x: {t: h.relu() for t, h in a(block, x).items()}, b]
        options: Any
        for i, options in enumerate(({}, dict(batch_size=5))):
            got = graphmill.inference(typed(), layers, self.path(f"out{i}"), as_="dgl", **options)
            self.assertEqual(sorted(got), ["author", "paper"])
            for t in got:
                self.near(got[t], want[t])


if __name__ == "__main__":
    unittest.main()
