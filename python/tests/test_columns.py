"""Columns of batches that are joined, what of them is missing, and columns of strings and lists.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import functools
import importlib.util
import pickle
import unittest
import warnings
from collections.abc import Iterable
from typing import Any

import graphmill
import made
import numpy as np
import numpy.typing as npt
from graphmill import Column, NodeLoader

N, M = 40, 200


def available(*modules: str) -> bool:
    return all(importlib.util.find_spec(m) for m in modules)


@functools.lru_cache(None)
def store() -> graphmill.Store:
    """Items with numbers, strings and lists; users with some of the same names; edges with strings."""
    r = np.random.default_rng(7)
    item: dict[str, Any] = {f"f{i}": r.random(N).astype("float32") for i in range(12)}
    item.update(count=np.arange(N), flag=np.arange(N) % 2 == 0, wide=r.random((N, 3)), label=np.arange(N) % 4)
    item["day"] = np.arange(N).astype("datetime64[D]").astype("datetime64[s]")
    item["title"] = [f"title {i} ü" for i in range(N)]
    item["words"] = [[f"w{k}" for k in range(i % 3)] for i in range(N)]
    item["bag"] = [list(range(i % 4)) for i in range(N)]
    item["item_id"] = list(range(N))
    user = {"user_id": list(range(N)), "f1": r.random(N).astype("float32"), "f10": r.random(N).astype("float32"), "age": np.arange(N, dtype="int16")}
    ends = r.integers(0, N, (2, M))
    buys = {"user_id": ends[0], "item_id": ends[1], "w": r.random(M).astype("float32"), "n": np.arange(M), "note": [f"n{i}" for i in range(M)]}
    sold = {"item_id": ends[1], "user_id": ends[0]}
    return graphmill.from_tables({"item": item, "user": user}, {("user", "buys", "item"): buys, ("item", "sold", "user"): sold})


def loader(**options: Any) -> NodeLoader:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return NodeLoader(store(), **{**dict(fanout=[3, 2], batch_size=16, seed_type="item", shuffle=True, features="none"), **options})


def rows(type_: str, names: Iterable[str], ids: Any, dtype: str) -> npt.NDArray[Any]:
    columns = [np.asarray(store().nodes[type_][n])[ids].reshape(len(ids), -1) for n in names]
    return np.concatenate(columns, 1).astype(dtype)


class TestJoined(unittest.TestCase):
    def test_order_and_dtype(self) -> None:
        f = [f"f{i}" for i in range(12)]
        for x, names, dtype in (
            ("f[0-9]*", f, "float32"),
            (["f*"], [*f, "flag"], "float32"),
            (["f10", "f1?", "f2"], ["f10", "f11", "f2"], "float32"),
            (["count"], ["count"], "int64"),
            (["count", "f0"], ["count", "f0"], "float32"),
            (["wide", "count"], ["wide", "count"], "float64"),
            (["flag", "count"], ["flag", "count"], "float32"),
            (["flag"], ["flag"], "bool"),
        ):
            with loader(x={"item": x}) as batches:
                for b in batches:
                    got = b.x["item"]["x"]
                    self.assertEqual((got.dtype, b.x["user"]), (np.dtype(dtype), {}))
                    self.assertEqual(got.tolist(), rows("item", names, b.n_id["item"], dtype).tolist(), x)

    def test_every_type_that_has_them(self) -> None:
        with loader(x=["f1", "f10", "age"], threads=4) as batches:
            for b in batches:
                for t, names in (("item", ["f1", "f10"]), ("user", ["f1", "f10", "age"])):
                    self.assertEqual(b.x[t]["x"].tolist(), rows(t, names, b.n_id[t], "float32").tolist())

    def test_all_numbers(self) -> None:
        """A pattern takes no label, time, string or list; "all" leaves out what is joined."""
        names = ["count", *(f"f{i}" for i in range(12)), "flag", "wide"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            batches = loader(x={"item": "*"}, features="all")
        with batches:
            b = next(iter(batches))
        self.assertEqual(b.x["item"]["x"].tolist(), rows("item", names, b.n_id["item"], "float64").tolist())
        self.assertEqual((set(b.x["item"]), set(b.x["user"])), ({"x", "label", "day"}, {"f1", "f10", "age"}))

    def test_edges(self) -> None:
        e = ("user", "buys", "item")
        have = store().edges[e]
        for edge_attr in ("*", ["n", "w"], {"buys": ["n", "w"]}, {e: ["n", "w"]}):
            with loader(edge_attr=edge_attr) as batches:
                b = next(iter(batches))
            ids = have.find(b.e_id[e])
            self.assertEqual(b.edge_attr[e]["edge_attr"].tolist(), np.stack([have["n"][ids], have["w"][ids]], 1).astype("float32").tolist())
            self.assertEqual((list(b.edge_attr[e]), b.edge_attr["item", "sold", "user"]), (["edge_attr"], {}))

    def test_refused(self) -> None:
        options: Any
        for options, want in (
            (dict(x="g*"), r"found 'g\*' in x=, expected a column of numbers, or a pattern of some, among age, bag, count"),
            (dict(x=["cuont"]), r"found 'cuont' in x=.*; did you mean count\?"),
            (dict(x=["title"]), "found 'title' in x=, a column of strings or lists, expected columns of numbers"),
            (dict(x=["day"]), r"found 'day' in x=, a column of times, expected columns of numbers; give features=\['day'\]"),
            (dict(x=["f1", "f1"]), "found 'f1' twice in x=, expected each column once"),
            (dict(x={"user": ["f1", "age", "f1"]}), "found 'f1' twice in x="),
            (dict(x={"itm": "f*"}), r"found x= for 'itm', expected types among item, user; did you mean item\?"),
            (dict(edge_attr={"bys": "*"}), "found edge_attr= for 'bys', expected types among"),
            (dict(x=["f1"], features=["user/age", "x"]), "found 'x' in features="),
        ):
            with self.assertRaisesRegex(ValueError, want):
                loader(**options)
        with self.assertRaisesRegex(TypeError, r"found x=\[3\], expected names of columns, or patterns"):
            loader(x=[3])

    def test_missing(self) -> None:
        """Patterns match finite and complete columns of numbers alone. A warning says once what has missing values."""
        kind = ["a", "b", "", "a"]
        users = {"user_id": list("abcd"), "age": [1.0, np.nan, np.inf, 4], "wide": [[1, 2], [3, 4], [5, np.nan], [7, 8]], "all": [1, 2, 3, 4]}
        users.update(count=[1, 0, 3, 4], count_missing=[False, True, False, False])
        knows = {"user_id": list("abcd"), "to": list("bcda"), "w": [1, np.nan, 3, 4], "ok": [1.0, 2, 3, 4]}
        folder = made.write(
            "gaps",
            {
                "users.csv": "id,kind,joined\n" + "".join(f"{i},{k},2024-0{n}-01\n" for n, (i, k) in enumerate(zip("abcd", kind), 1)),
                "knows.csv": "src,dst,split,at\na,b,x,2024-01-01\nb,c,y,2024-01-02\n",
                "graph.yaml": "nodes: {u: {table: users.csv, id: {column: id, dtype: string}, columns: {kind: category, joined: datetime}}}\n"
                "edges: {'u:knows:u': {table: knows.csv, columns: {split: category, at: datetime}}}\n",
            },
        )
        made.graphmill("import", folder, "--out", made.path("gaps.store"))
        options: Any
        for options, want in (
            (
                dict(x=["kind"]),
                r"found 'kind' in x=, a column of categories, expected columns of numbers, because codes are no quantities; give features=\['kind'\]",
            ),
            (dict(x="joined"), "a column of times"),
            (dict(edge_attr=["split"]), r"a column of categories, .*; give edge_features=\['split'\]"),
            (dict(weight="split"), "whose values are categories, expected one weight per row"),
            (dict(weight="at"), "whose values are times, expected one weight per row"),
            (dict(order="weighted:kind"), "found categories as weights"),
            (dict(order="weighted:joined"), "found times as weights"),
        ):
            with self.assertRaisesRegex((ValueError, graphmill.GraphmillError), want):
                NodeLoader(made.path("gaps.store"), [2], features="none", **options)
        s = graphmill.from_tables(
            {"user": users}, {("user", "knows", "user"): {"src": knows["user_id"], "dst": knows["to"], "w": knows["w"], "ok": knows["ok"]}}
        )
        options = dict(fanout=[2], features="none", seeds=[0, 1, 2, 3])
        for _ in range(2):
            with self.assertWarns(UserWarning) as w, NodeLoader(s, x="*", edge_attr="*", **options) as batches:
                b = next(iter(batches))
            self.assertEqual((b.x["x"].tolist(), b.edge_attr["edge_attr"].shape[1]), ([[1, 0], [2, 1], [3, 0], [4, 0]], 1))
            self.assertEqual(len(w.warnings), 1)
            self.assertIn(
                "x= leaves out columns with missing or infinite values, which patterns do not match: user/age (2 of 4 rows), user/count (1 of 4 rows), user/wide (1 of 4 rows)",
                str(w.warning),
            )
            self.assertIn(
                "edge_attr= leaves out columns with missing or infinite values, which patterns do not match: user:knows:user/w (1 of 4 rows)", str(w.warning)
            )
        with (
            self.assertWarnsRegex(UserWarning, r"x= has columns with missing or infinite values, of which a loss becomes nan: user/age \(2 of 4 rows\)"),
            NodeLoader(s, x=["age", "all"], **options) as batches,
        ):
            self.assertEqual(next(iter(batches)).x["x"].shape, (4, 2))
        with self.assertRaisesRegex(ValueError, r"found 'a\[g\]e' in x=, a pattern of columns with missing or infinite values: user/age \(2 of 4 rows\)"):
            NodeLoader(s, x="a[g]e", **options)

    @unittest.skipUnless(available("torch_geometric"), "PyG is not installed")
    def test_pyg(self) -> None:
        import torch

        options = dict(as_="pyg", label="label", x={"item": ["f1", "count"], "user": "age"}, edge_attr={"buys": "w"})
        with loader(**options) as batches:
            for b in batches:
                self.assertTrue(torch.equal(b["item"].x, torch.from_numpy(rows("item", ["f1", "count"], b["item"].n_id.numpy(), "float32"))))
                self.assertEqual((b["user"].x.dtype, tuple(b["user"].x.shape)), (torch.int16, (b["user"].num_nodes, 1)))
                self.assertEqual(b["item"].y.tolist(), (b["item"].n_id % 4).tolist())
                self.assertEqual(tuple(b["user", "buys", "item"].edge_attr.shape), (b["user", "buys", "item"].num_edges, 1))


class TestStringsAndLists(unittest.TestCase):
    def test_rows(self) -> None:
        with loader(features=["title", "item/words", "bag", "count"], edge_features=["note", "n"]) as batches:
            again = pickle.loads(pickle.dumps(batches))
            for source in (batches, again):
                source.set_epoch(0)
                for b in source:
                    ids = b.n_id["item"].tolist()
                    x = b.x["item"]
                    self.assertIsInstance(x["title"], Column)
                    self.assertEqual(x["title"].tolist(), [f"title {i} ü" for i in ids])
                    self.assertEqual(x["words"].tolist(), [[f"w{k}" for k in range(i % 3)] for i in ids])
                    self.assertEqual([row.tolist() for row in x["bag"].tolist()], [list(range(i % 4)) for i in ids])
                    self.assertEqual(x["bag"].offsets[0].tolist(), np.append(0, np.cumsum([i % 4 for i in ids])).tolist())
                    self.assertEqual((x["count"].tolist(), b.x["user"]), (ids, {}))
                    of = b.edge_attr["user", "buys", "item"]
                    self.assertEqual(of["note"].tolist(), [f"n{i}" for i in of["n"]])

    def test_all_and_some(self) -> None:
        with loader(features=["all", "title"]) as batches:  # no warning
            b = next(iter(batches))
        numbers = {*(f"f{i}" for i in range(12)), "count", "flag", "wide", "label", "day"}
        self.assertEqual((set(b.x["item"]), set(b.x["user"])), ({*numbers, "title"}, {"f1", "f10", "age"}))

    def test_the_warning_says_how(self) -> None:
        with self.assertWarnsRegex(
            UserWarning, r"batches leave out columns of strings and lists: .*item/title.*; name those that you want, such as features=\['all', 'title'\]"
        ):
            NodeLoader(store(), [2], seed_type="item").close()

    def test_one_type(self) -> None:
        one = graphmill.from_tables({"n": {"id": [0, 1, 2], "name": ["a", "", "ccc"]}}, {("n", "e", "n"): {"source": [0, 1], "target": [1, 2]}})
        with NodeLoader(one, [1], seeds=[2, 0], features="name") as batches:
            (b,) = batches
        self.assertEqual(b.x["name"].tolist()[:2], ["ccc", "a"])

    @unittest.skipUnless(available("pandas"), "pandas is not installed")
    def test_categories(self) -> None:
        """Batches have the codes; the loader's store has their texts."""
        import pandas as pd

        table = pd.DataFrame({"id": [0, 1, 2], "kind": pd.Categorical(["b", "a", "b"])})
        with NodeLoader(graphmill.from_tables({"n": table}, {("n", "e", "n"): {"source": [0], "target": [1]}}), [1]) as batches:
            (b,) = batches
            kinds: Any = batches.store.nodes["n"].columns.column("kind")
            texts = kinds.categories.tolist()
        self.assertEqual([texts[k] for k in b.x["kind"]], ["b", "a", "b"])

    @unittest.skipUnless(available("torch_geometric"), "PyG is not installed")
    def test_pyg(self) -> None:
        for options in ({}, {"scope": "seed"}):
            with loader(as_="pyg", features=["title", "bag", "f0", "f1"], **options) as batches:
                for b in batches:
                    ids = b["item"].n_id.tolist()
                    self.assertEqual(b["item"].title, [f"title {i} ü" for i in ids])
                    self.assertEqual([row.tolist() for row in b["item"].bag], [list(range(i % 4)) for i in ids])

    def test_forms_without_them(self) -> None:
        for form in ("dgl", "jraph"):
            with self.assertRaisesRegex(ValueError, f"found the columns title of strings or lists with as_='{form}', expected as_='numpy', 'pyg' or 'tfgnn'"):
                loader(as_=form, features=["title"])


@unittest.skipUnless(available("dgl"), "DGL is not installed")
class TestDGLColumns(unittest.TestCase):
    def test_edges_of_blocks(self) -> None:
        """Each block has the columns of its own edges, also where a relation is drawn at one hop only."""
        import dgl

        e = ("user", "buys", "item")
        have = store().edges[e]
        for options in (dict(fanout=[3, 2]), dict(fanout={"buys": [3, 2], "sold": [1, 2]}), dict(fanout={"buys": [2, 0], "sold": [0, 2]})):
            seen = 0
            with loader(as_="dgl", edge_features=["n"], edge_attr={"buys": ["w", "n"]}, x="f1", **options) as batches:
                for inputs, _, blocks in batches:
                    self.assertEqual(tuple(blocks[0].srcnodes["item"].data["x"].shape), (len(inputs["item"]), 1))
                    for block in blocks:
                        ids = have.find(block.edges[e].data[dgl.EID].numpy())
                        self.assertEqual(block.edges[e].data["n"].tolist(), have["n"][ids].tolist())
                        self.assertEqual(block.edges[e].data["edge_attr"].tolist(), np.stack([have["w"][ids], have["n"][ids]], 1).astype("float32").tolist())
                        seen += len(ids)
            self.assertGreater(seen, 0)


@unittest.skipUnless(available("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNNColumns(unittest.TestCase):
    def test_ragged(self) -> None:
        for options in ({}, {"scope": "seed"}):
            with loader(as_="tfgnn", features=["title", "words", "bag", "f0"], edge_features=["note", "n"], x={"user": "*"}, **options) as batches:
                for g in batches:
                    item, ids = g.node_sets["item"], g.node_sets["item"]["n_id"].numpy().tolist()
                    self.assertEqual([s.decode() for s in item["title"].numpy()], [f"title {i} ü" for i in ids])
                    self.assertEqual(item["words"].to_list(), [[f"w{k}".encode() for k in range(i % 3)] for i in ids])
                    self.assertEqual(item["bag"].to_list(), [list(range(i % 4)) for i in ids])
                    buys = g.edge_sets["buys"]
                    self.assertEqual([s.decode() for s in buys["note"].numpy()], [f"n{i}" for i in buys["n"].numpy()])
                    self.assertEqual(g.node_sets["user"]["x"].shape[1], 3)


if __name__ == "__main__":
    unittest.main()
