"""`write_top`: the table has what a sort of all scores has, for random graphs, scores and blocks; pairs of nodes in `write_predictions`.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import sqlite3
import tempfile
import unittest
from typing import Any
from unittest import mock

import graphmill
import numpy as np
from graphmill import GraphmillError, _dot_products, _known, write_predictions, write_top
from graphmill._arrays import Array

Rows = list[tuple[str, str, int, float]]


def shop(path: str, users: int, items: int, buys: Array, likes: Array, split: list[str], **options: Any) -> graphmill.Store:
    """A store of users and items with ids, two edge types from users to items, one back and one among the items."""
    nodes = {"user": {"id": [f"u{i * 7 % 1009}" for i in range(users)]}, "item": {"id": [f"i{i * 5 % 1013}" for i in range(items)]}}

    def edges(pairs: Array, back: bool = False) -> dict[str, Any]:
        source, target = ([nodes[t]["id"][i] for i in of] for t, of in zip(("user", "item"), pairs.tolist()))
        return {"src": target, "dst": source} if back else {"src": source, "dst": target}

    of: dict[Any, Any] = {("user", "buys", "item"): edges(buys), ("user", "likes", "item"): edges(likes), ("item", "bought_by", "user"): edges(buys, True)}
    of["item", "like", "item"] = {"src": nodes["item"]["id"][:1], "dst": nodes["item"]["id"][:1]}
    store = graphmill.from_tables(nodes, of, path, **options)
    if len(split):
        where = np.asarray(store.edges["buys"]["#input_position"]) if "#input_position" in store.edges["buys"].columns else np.arange(len(split))
        store.add_column("buys", "split", [split[i] for i in where], category=True)
    return store


def naive(scores: Array, k: int, left_out: set[tuple[int, int]], store: graphmill.Store, sources: list[int], items: list[int], ends: tuple[str, str]) -> Rows:
    """The definition: for each source, its items by falling score and then by node, without those that are left out."""
    ids = [[str(i) for i in store.nodes[t].ids] if store.nodes[t].ids is not None else list(map(str, range(store.nodes[t].count))) for t in ends]  # type: ignore[union-attr]
    rows: Rows = []
    for row, s in enumerate(sources):
        order = sorted((c for c in range(len(items)) if (s, items[c]) not in left_out), key=lambda c: (-scores[row, c], items[c]))
        rows += [(ids[0][s], ids[1][items[c]], rank, float(scores[row, c])) for rank, c in enumerate(order[:k], 1)]
    return rows


def product(a: Array, b: Array, cosine: bool = False) -> Array:
    """All scores, each on its own: the sum in float64, rounded to the dtype of the embeddings."""
    x = np.array([[float((p * q).sum()) for q in b.astype(np.float64)] for p in a.astype(np.float64)]).reshape(len(a), len(b))
    if cosine:
        length = [np.array([float(np.sqrt((p * p).sum())) for p in z.astype(np.float64)]) for z in (a, b)]
        both = np.multiply.outer(*length)
        x = np.divide(x, both, out=np.zeros_like(x), where=both > 0)
    return x.astype(np.float32) if max(a.dtype.itemsize, b.dtype.itemsize) <= 4 else x


class Top(unittest.TestCase):
    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory(prefix="graphmill-")
        self.addCleanup(made.cleanup)
        self.folder = made.name
        self.tables = os.path.join(made.name, "tables")
        os.mkdir(self.tables)

    def graph(self, r: np.random.Generator, users: int, items: int, name: str = "g", **options: Any) -> tuple[graphmill.Store, Array, Array, list[str]]:
        both: list[Array] = []
        for n in (users * 3, users // 2):
            both.append(np.asarray(r.integers(0, [[users], [items]], (2, n))) if users and items else np.empty((2, 0), np.int64))
        buys, likes = both
        split = [("train", "test")[i] for i in np.asarray(r.integers(0, 2, buys.shape[1])).tolist()]
        return shop(os.path.join(self.folder, name), users, items, buys, likes, split, **options), buys, likes, split

    def read(self, path: str) -> Rows:
        with open(path, newline="") as f:
            header, *rows = csv.reader(f)
        self.assertEqual(header, ["source", "target", "rank", "score"])
        self.assertEqual(os.listdir(self.tables), [os.path.basename(path)], "expected nothing beside the table")
        os.remove(path)
        return [(a, b, int(rank), float(score)) for a, b, rank, score in rows]

    def top(self, store: graphmill.Store, types: Any, scores: Any, k: int, **more: Any) -> Rows:
        out = os.path.join(self.tables, "top.csv")
        self.assertEqual(write_top(store, types, scores, k, out, **more), out)
        return self.read(out)

    def same(self, found: Rows, want: Rows, dtype: type = np.float32) -> None:
        self.assertEqual([row[:3] for row in found], [row[:3] for row in want])
        np.testing.assert_array_equal(np.array([row[3] for row in found], dtype), np.array([row[3] for row in want], dtype))

    def test_laws(self) -> None:
        """Random graphs, embeddings with ties, kinds of scores, sets of sources and items, known links with and without a condition, and blocks."""
        for seed in range(15):
            with self.subTest(seed=seed):
                self.law(seed, *(("in", False), ("out", False), ("in", True))[seed // 3 % 3])

    def law(self, seed: int, primary: str, both: bool) -> None:
        r = np.random.default_rng(seed)
        users, items, d = int(r.integers(1, 60)), int(r.integers(1, 40)), int(r.integers(1, 20))
        g, buys, likes, split = self.graph(r, users, items, f"{seed}{primary}{both}", primary=primary, both=both)
        k, dtype = int(r.integers(1, 50 if seed % 2 else 4)), [np.float32, np.float64, np.float16][seed % 3]
        few = r.integers(0, 2) == 0  # few values make equal scores
        a, b = (r.integers(-1, 2, (n, d)).astype(dtype) if few else r.standard_normal((n, d)).astype(dtype) for n in (users, items))
        a[r.random(users) < 0.1] = 0
        b[r.random(items) < 0.2] = b[0]
        train = {(int(s), int(t)) for s, t, of in zip(*buys, split) if of == "train"}
        links = {"buys": set(zip(*buys.tolist())), "likes": set(zip(*likes.tolist()))}
        known, left_out = [
            (None, set()),
            ("user:buys:item", links["buys"]),
            (["buys", ("user", "likes", "item")], links["buys"] | links["likes"]),
            ({"buys": "split=train", "likes": None}, train | links["likes"]),
            ({("user", "buys", "item"): ["split=train", "split=test"]}, links["buys"]),
        ][seed % 5]
        sources = list(range(users)) if seed % 2 else r.permutation(users)[: users // 2 + 1].tolist()
        columns = list(range(items)) if seed % 3 else sorted(r.permutation(items)[: items // 2 + 1].tolist())
        given: dict[str, Any] = {} if seed % 2 else {"sources": np.array(sources, np.int32)}
        given |= {} if seed % 3 else {"items": columns}
        cosine = seed % 4 == 1
        p, q = a[sources], b[columns]
        scores = product(p, q, cosine)
        kind = np.float64 if dtype == np.float64 else np.float32
        want = naive(scores, k, left_out, g, sources, columns, ("user", "item"))
        blocks = (None, 1, 7)
        for block in blocks:
            small: dict[str, Any] = {"_PRODUCTS": 3, "_GROUP": 2} if block else {"_GROUP": 64}
            with mock.patch.object(_known, "_CHUNK", 5 if block == 7 else 1 << 22), mock.patch.multiple(_dot_products, **small):
                self.same(self.top(g, ("user", "item"), (p, q), k, known=known, block=block, similarity="cosine" if cosine else "dot", **given), want, kind)
        self.same(self.top(g, "user:buys:item", scores, k, known=known, block=3, **given), want, kind)
        rows = {s: i for i, s in enumerate(sources)}
        asked = {**given, "sources": np.array(sources)}
        self.same(self.top(g, "likes", lambda of: scores[[rows[s] for s in of.tolist()]], k, known=known, **asked), want, kind)

    def test_command(self) -> None:
        """`graphmill export predictions --top` writes the same bytes: random embeddings of any size and dtype, with ties, and known links."""
        for seed in range(12):
            r = np.random.default_rng(seed)
            users, items, d = int(r.integers(1, 60)), int(r.integers(1, 40)), [0, 1, 7, 8, 9, 64, 127, 130, 300][seed % 9]
            g, *_ = self.graph(r, users, items, f"c{seed}", primary=("in", "out")[seed % 2], both=seed % 3 == 0)
            dtype, few = [np.float32, np.float64, np.float16, np.int16][seed % 4], seed % 3 == 1
            a, b = (np.asarray(r.integers(-1, 2, (n, d)) if few else r.standard_normal((n, d)) * 9).astype(dtype) for n in (users, items))
            b[r.random(items) < 0.2] = b[0]
            known, flags = [
                (None, []),
                ("buys", ["--known=user:buys:item"]),
                ({"buys": "split=train", "likes": None}, ["--known=buys:split=train", "--known=likes"]),
            ][seed % 3]
            similarity, k = ("dot", "cosine")[seed // 3 % 2], int(r.integers(1, 50 if seed % 2 else 4))
            files = [os.path.join(self.folder, name) for name in ("a.npy", "b.npy")]
            for file, x in zip(files, (a, b)):
                np.save(file, x)
            for end in ("csv", "parquet"):
                ours, theirs = os.path.join(self.folder, f"ours.{end}"), os.path.join(self.folder, f"theirs.{end}")
                write_top(g, ("user", "item"), (a, b), k, ours, known=known, similarity=similarity, overwrite=True)
                options = [f"--top={k}", f"--source-embeddings={files[0]}", f"--target-embeddings={files[1]}", f"--similarity={similarity}", *flags]
                graphmill.run("export", "predictions", "--type=user:item", *options, f"--out={theirs}", "--force", "--", g.path)
                with self.subTest(seed=seed, end=end), open(ours, "rb") as mine, open(theirs, "rb") as other:
                    self.assertEqual(mine.read(), other.read())

    def test_corners(self) -> None:
        """All items known, types without nodes, no sources, no items, k beyond the items, and one node each."""
        r = np.random.default_rng(0)
        every = np.array([[u for u in range(3) for _ in range(4)], [*range(4)] * 3])
        g = shop(os.path.join(self.folder, "all"), 3, 4, every, every[:, :5], [])
        a, b = r.random((3, 2)), r.random((4, 2))
        self.assertEqual(self.top(g, ("user", "item"), (a, b), 9, known="buys"), [])
        found = self.top(g, ("user", "item"), (a, b), 9, known="likes")
        self.assertEqual([len([row for row in found if row[0] == u]) for u in ("u0", "u7", "u14")], [0, 3, 4])
        self.assertEqual(len(self.top(g, ("user", "item"), (a, b), 1 << 40)), 12)
        self.assertEqual(self.top(g, ("user", "item"), (a[:0], b), 2, sources=[]), [])
        self.assertEqual(self.top(g, ("user", "item"), (a, b[:0]), 2, items=[], known="buys"), [])
        self.assertEqual(self.top(g, ("user", "item"), np.empty((3, 0)), 2, items=[]), [])
        self.assertEqual(self.top(g, ("user", "item"), (a[:, :0], b[:, :0]), 1), [(u, "i0", 1, 0.0) for u in ("u0", "u7", "u14")])
        for users, items in ((0, 3), (3, 0), (0, 0), (1, 1)):
            with self.subTest(users=users, items=items):
                empty, *_ = self.graph(r, users, items, f"{users}-{items}")
                x = np.ones((users, 2), np.float32), np.ones((items, 2), np.float32)
                want = [("u0", "i0", 1, 2.0)] if users and items else []
                self.assertEqual(self.top(empty, ("user", "item"), x, 3), want)
                self.assertEqual(self.top(empty, ("user", "item"), np.full((users, items), 2.0), 3), want)

    def test_one_type(self) -> None:
        """A node is not among its own items."""
        g, *_ = self.graph(np.random.default_rng(1), 5, 30)
        x = np.random.default_rng(2).standard_normal((30, 4)).astype(np.float32)
        want = naive(product(x, x), 6, {(i, i) for i in range(30)} | {(0, 0)}, g, [*range(30)], [*range(30)], ("item", "item"))
        self.same(self.top(g, ("item", "item"), (x, x), 6, known="like"), want)
        self.same(self.top(g, ("item", "item"), product(x, x), 6), want)

    def test_hard_products(self) -> None:
        """Cancellation, numbers of any size, and equal rows: the scores and ties are those of the definition."""
        r = np.random.default_rng(3)
        g, *_ = self.graph(r, 20, 300)
        for name, a, b in (
            ("cancelled", np.array([[1e8, 1, -1e8]] * 20, np.float32), np.stack([np.ones(300), r.random(300), np.ones(300)], 1).astype(np.float32)),
            ("large", (r.standard_normal((20, 3)) * 1e18).astype(np.float32), (r.standard_normal((300, 3)) * 1e18).astype(np.float32)),
            ("small", (r.standard_normal((20, 3)) * 1e-25).astype(np.float32), (r.standard_normal((300, 3)) * 1e-18).astype(np.float32)),
            ("mixed", r.standard_normal((20, 3)), 10.0 ** r.integers(-30, 30, (300, 3)) * r.standard_normal((300, 3))),
            ("equal", np.ones((20, 1000), np.float32), np.tile(r.standard_normal(1000).astype(np.float32), (300, 1))),
            ("near", np.ones((20, 64), np.float32), (1 + r.integers(0, 3, (300, 64)) * 2.0**-23).astype(np.float32)),
        ):
            for cosine in (False, True):
                with self.subTest(name, cosine=cosine):
                    want = naive(product(a, b, cosine), 10, set(), g, [*range(20)], [*range(300)], ("user", "item"))
                    for group in (2, 64):
                        with mock.patch.object(_dot_products, "_GROUP", group):
                            found = self.top(g, ("user", "item"), (a, b), 10, similarity="cosine" if cosine else "dot")
                        self.same(found, want, np.float64 if name == "mixed" else np.float32)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_tensors(self) -> None:
        """Embeddings, scores and sources may be tensors; a function gets sources as they were given."""
        import torch

        r = np.random.default_rng(10)
        g, buys, *_ = self.graph(r, 12, 9)
        a, b = (r.standard_normal((n, 4)).astype(np.float32) for n in (12, 9))
        x, y = torch.from_numpy(a).requires_grad_(), torch.from_numpy(b)
        want = naive(product(a, b), 3, set(zip(*buys.tolist())), g, [*range(12)], [*range(9)], ("user", "item"))
        self.same(self.top(g, "buys", (x, y), 3, known="buys"), want)
        scores = torch.from_numpy(product(a, b))
        self.same(self.top(g, "buys", scores.requires_grad_(), 3, known="buys"), want)

        def of(sources: Any) -> Any:
            self.assertIsInstance(sources, torch.Tensor)
            return scores[sources]

        self.same(self.top(g, "buys", of, 3, known="buys", sources=torch.arange(12)), want)
        half = (x.detach().half(), y.bfloat16())
        want = naive(product(half[0].float().numpy(), half[1].float().numpy()), 3, set(), g, [*range(12)], [*range(9)], ("user", "item"))
        self.same(self.top(g, "buys", half, 3), want)

    def test_formats(self) -> None:
        g, *_ = self.graph(np.random.default_rng(4), 9, 6)
        a, b = np.random.default_rng(5).random((9, 3)), np.random.default_rng(6).random((6, 3))
        want = naive(product(a, b), 2, set(), g, [*range(9)], [*range(6)], ("user", "item"))
        path = os.path.join(self.folder, "a.npy")
        np.save(path, a)
        out = os.path.join(self.tables, "r.db")
        write_top(g, ("user", "item"), (path, np.asfortranarray(b)), 2, out, table="top")
        with self.assertRaisesRegex(GraphmillError, "found a table 'TOP', expected none"), mock.patch("graphmill._top.greatest", side_effect=AssertionError):
            write_top(g, ("user", "item"), (a, b), 2, out, table="TOP")
        write_top(g, ("user", "item"), (a, b), 2, f"sqlite:{out}#top", overwrite=True)
        db = sqlite3.connect(out)
        self.addCleanup(db.close)
        self.assertEqual(db.execute("SELECT source, target, rank, score FROM top").fetchall(), want)
        for name in ("top.parquet", "top.arrow"):
            path = os.path.join(self.tables, name)
            write_top(g.path, ("user", "item"), (a, b), 2, path)
            if importlib.util.find_spec("pyarrow"):
                from pyarrow import feather, parquet

                rows = (parquet if name.endswith("parquet") else feather).read_table(path)
                self.assertEqual([tuple(row.values()) for row in rows.to_pylist()], want)
                self.assertEqual([str(c.type) for c in rows.schema], ["string", "string", "int32", "double"])

    def test_errors(self) -> None:
        g, *_ = self.graph(np.random.default_rng(7), 4, 3)
        a, b = np.ones((4, 2), np.float32), np.ones((3, 2), np.float32)
        nan, infinite, huge = a.copy(), b.astype(np.float64), np.full((4, 2), 1e30, np.float32)
        nan[2, 1], infinite[1, 0] = np.nan, np.inf
        out = os.path.join(self.tables, "t.csv")
        there = os.path.join(self.folder, "there.csv")
        with open(there, "w"):
            pass
        scores = np.zeros((4, 3))
        scores[3, 1] = np.nan
        base: dict[str, Any] = {"types": ("user", "item"), "scores": (a, b), "k": 2, "out": out}
        for more, want in (
            ({"scores": (nan, b)}, "scores: sources: found nan in row 2, expected finite numbers"),
            ({"scores": (a, infinite)}, "scores: items: found inf in row 1, expected finite numbers"),
            ({"scores": (huge, huge[:3])}, "found a product of source row 0 and item row 0 beyond the range of float32"),
            ({"scores": (a.astype(float) * 1e300, b)}, "leave the range of float64"),
            ({"scores": scores}, "found NaN in row 3 of scores, expected a number"),
            ({"scores": (a[:3], b)}, "scores: sources: found shape \\[3, 2\\], expected \\[4, d\\], a row per node of the sources"),
            ({"scores": (a, b[:, :1])}, "scores: items: found shape \\[3, 1\\], expected \\[3, 2\\]"),
            ({"scores": (a, b, b)}, "scores: found a tuple of 3"),
            ({"scores": np.zeros((4, 2))}, "scores: found 2 per source, expected 3, one per item"),
            ({"scores": np.zeros((3, 3))}, "found 3 rows of scores and 4 sources"),
            ({"scores": lambda of: np.zeros((1, 3))}, "found scores of shape \\[1, 3\\], expected \\[4, items\\]"),
            ({"scores": np.zeros((4, 3)), "similarity": "cosine"}, "found similarity='cosine' with scores that are no tuple"),
            ({"similarity": "cos"}, "found similarity='cos', expected one of dot, cosine"),
            ({"k": 0}, "found k=0, expected at least 1"),
            ({"types": ("user", "itme")}, "types: found 'itme', expected one of item, user; did you mean item\\?"),
            ({"types": "user"}, "found types='user', expected the node types of sources and items"),
            ({"types": "user:bys:item"}, "types: .*user:buys:item"),
            ({"known": "bys"}, "known: .*bys"),
            ({"known": "bought_by"}, "known: found item:bought_by:user, whose edges lead from item to user, expected an edge type from user to item"),
            ({"known": {"buys": "splt=train"}}, "known: column of user:buys:item: found 'splt'"),
            ({"known": {"buys": "split=trian"}}, "known: column 'split' of user:buys:item: found the category 'trian'"),
            ({"sources": [0, 4, 1, 2]}, "sources: row 1: found 4, expected 0 to 3, below the number of nodes of user"),
            ({"items": [0, 2, 1]}, "items: row 2: found 1 after 2, expected increasing nodes"),
            ({"out": there}, "there.csv: found that it exists"),
            ({"out": os.path.join(self.tables, "t.txt")}, "expected a name that ends with .parquet, .arrow, .csv or .db"),
            ({"out": os.path.join(self.tables, "no", "t.csv")}, "found no folder"),
            ({"out": os.path.join(self.tables, "t.db")}, "found no table for the database"),
            ({"table": "t"}, "found table='t' with out="),
        ):
            with self.subTest(want), self.assertRaisesRegex((GraphmillError, ValueError), want):
                write_top(g, **{**base, **more})
            self.assertEqual(os.listdir(self.tables), [])
        with self.assertRaisesRegex(TypeError, "found known=3, expected an edge type"):
            write_top(g, **base, known=3)

    def test_pairs(self) -> None:
        """Pairs of nodes that are no edges have the ids of both ends, by all forms of their types."""
        g, *_ = self.graph(np.random.default_rng(8), 40, 30)
        pairs = np.random.default_rng(9).integers(0, [[40], [30]], (2, 500))
        ids = [[str(i) for i in g.nodes[t].ids] for t in ("user", "item")]  # type: ignore[union-attr]
        out = os.path.join(self.tables, "pairs.csv")
        path = os.path.join(self.folder, "pairs.npy")
        np.save(path, pairs.astype(np.uint16))
        for types, nodes in ((("user", "item"), pairs), ("user:item", np.asfortranarray(pairs)), ("user:item", path)):
            write_predictions(g, types, {"x": np.arange(500)}, out, nodes=nodes, overwrite=True)
            with open(out, newline="") as f:
                rows = list(csv.reader(f))
            self.assertEqual(rows, [["source", "target", "x"], *([ids[0][s], ids[1][t], str(i)] for i, (s, t) in enumerate(pairs.T.tolist()))])
        os.remove(out)
        for more, want in (
            ({}, "found no nodes with the pairs of user:item, expected nodes="),
            ({"nodes": pairs[0]}, "nodes: found int64 \\[500\\], expected integers \\[2, rows\\]"),
            ({"nodes": pairs[:, :7]}, "arrays: x: found 500 rows, expected 7, one per row of nodes"),
            ({"nodes": pairs[::-1] + 25}, "row .: found .., expected 0 to .., below the number of nodes of (user|item)"),
            ({"nodes": pairs, "rows": "split=train"}, "rows: found column"),
            ({"nodes": pairs, "include": ["id"]}, 'include: found no column "id" of pair type user:item, expected one of none'),
            ({"nodes": pairs, "id_name": "key"}, "found id_name with the pairs of type user:item"),
            ({"nodes": pairs, "edge_ids": True}, "found edge_ids with the pairs of types user:item"),
        ):
            with self.subTest(want), self.assertRaisesRegex((GraphmillError, ValueError), want):
                write_predictions(g, ("user", "item"), {"x": np.arange(500)}, out, **more)
            self.assertEqual(os.listdir(self.tables), [])


if __name__ == "__main__":
    unittest.main()
