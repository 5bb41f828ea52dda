"""Tables that come in batches of Arrow, and tables that are appended: the stores are those of whole tables.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.util
import os
import random
import tempfile
import unittest
from typing import Any

import numpy as np
from graphmill import GraphmillError, Store, from_tables

ARROW = unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
DUCKDB = unittest.skipUnless(importlib.util.find_spec("duckdb"), "DuckDB is not installed")
COUNT = 60 if os.environ.get("TORTURE") == "long" else 10
BUYS = ("user", "buys", "item")


def plain(x: Any) -> Any:
    """Values as nested lists, in which NaN equals itself."""
    if isinstance(x, np.ndarray):
        return plain(x.tolist())
    if isinstance(x, list):
        return [plain(v) for v in x]
    return repr(x) if isinstance(x, (float, np.floating)) else x


def content(store: Store) -> dict[Any, Any]:
    """All of a store as lists."""
    out: dict[Any, Any] = {}
    for t, n in store.nodes.items():
        out[t] = n.count
        out[t, "ids"] = None if n.ids is None else n.ids.tolist()
        for name in n.columns:
            c = n.columns.column(name)
            texts = None if c.categories is None else c.categories.tolist()
            out[t, name] = (c.dtype, c.shape, c.unit, plain(c.tolist()) if texts is None else [texts[k] if k >= 0 else None for k in c.values.tolist()])
    for e, x in store.edges.items():
        out[":".join(e)] = x.edge_index().tolist()
        for name in x.columns:
            c = x.columns.column(name)
            out[e, name] = (c.dtype, c.shape, c.unit, plain(c.tolist()))
    return out


def rows(r: random.Random, n: int, missing: bool = True) -> dict[str, Any]:
    """Columns of all kinds as arrays of pyarrow, some of whose values are missing."""
    import pyarrow

    def some(make: Any, gaps: bool = missing) -> list[Any]:
        return [None if gaps and r.random() < 0.2 else make() for _ in range(n)]

    width, late = r.randint(1, 3), r.random() < 0.5
    return {
        "i": pyarrow.array(some(lambda: r.randint(-9, 9)), r.choice([pyarrow.int8(), pyarrow.int64(), pyarrow.int32()])),
        "f": pyarrow.array(some(r.random), pyarrow.float32()),
        "b": pyarrow.array(some(lambda: r.random() < 0.5), pyarrow.bool_()),
        "s": pyarrow.array(some(lambda: r.choice(["", "a", "ü€", "long " * 9])), r.choice([pyarrow.string(), pyarrow.large_string()])),
        "c": pyarrow.array(some(lambda: r.choice(["x", "y", "z", "rare"])), pyarrow.string()).dictionary_encode(),
        "t": pyarrow.array(some(lambda: datetime.datetime(2026, 1, r.randint(1, 28))), pyarrow.timestamp(r.choice(["s", "us"]))),
        "d": pyarrow.array(some(lambda: datetime.date(2026, 1, r.randint(1, 28))), pyarrow.date32()),
        "v": pyarrow.array(some(lambda: [r.random() for _ in range(width)], False), pyarrow.list_(pyarrow.float32(), width)),
        "l": pyarrow.array(some(lambda: [r.randint(0, 9) for _ in range(r.randint(0, 3))], False), pyarrow.list_(pyarrow.int64())),
        "e": pyarrow.array(some(lambda: [1.0, 2.0], False), pyarrow.list_(pyarrow.float64())),
        "m": pyarrow.array([None if late and i == n - 1 else i for i in range(n)], pyarrow.uint16()),
    }


class Batches:
    """An object that has nothing but a stream of Arrow."""

    def __init__(self, table: Any, size: int) -> None:
        self._reader = table.to_reader(size)

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        return self._reader.__arrow_c_stream__(requested)


class Case(unittest.TestCase):
    def same(self, got: Store, want: dict[Any, Any], message: str) -> None:
        have = content(got)
        self.assertEqual(list(map(str, have)), list(map(str, want)), message)
        for what, x in want.items():
            self.assertEqual(have[what], x, f"{message}: {what}")


class TestStreams(Case):
    @ARROW
    def test_equals_whole(self) -> None:
        """Of tables without rows, of one row, and of many batches; ids are integers, texts, or numbers of rows."""
        import pyarrow

        for seed in range(COUNT):
            r = random.Random(seed)
            n = r.choice([0, 1, 2, 9, 60])
            ids: list[Any] = r.choice([[f"u{i}" for i in range(n)], [7 * i for i in range(n)], list(range(n)), [i - 3 for i in range(n)]])
            users = pyarrow.table({"id": pyarrow.array(ids, None if n else pyarrow.int64()), **rows(r, n)})
            m = 0 if not n else r.choice([0, 1, 30])
            of = rows(r, m, False)
            links = pyarrow.table(
                {
                    "src": pyarrow.array([r.choice(ids) for _ in range(m)], users.schema.field("id").type),
                    "dst": pyarrow.array([r.randint(0, 4) for _ in range(m)], pyarrow.int64()),
                    **of,
                }
            )
            want = content(from_tables({"user": users, "item": 5}, {BUYS: links}))
            for size in (1, 7, 1000):
                with tempfile.TemporaryDirectory() as folder:
                    got = from_tables({"user": users.to_reader(size), "item": 5}, {BUYS: Batches(links, size)}, os.path.join(folder, "g.store"))
                    self.same(got, want, f"seed {seed}, batches of {size}")
                    self.assertEqual(os.listdir(folder), ["g.store"])

    @ARROW
    def test_forms(self) -> None:
        """What gives batches in other ways, and columns that are read as a whole."""
        import decimal

        import pyarrow
        import pyarrow.dataset

        of = {"id": [3, 1, 2], "x": [0.5, 1.5, 2.5]}
        table, edges = pyarrow.table(of), {("user", "knows", "user"): pyarrow.table({"src": [3], "dst": [2]})}
        want = content(from_tables({"user": table}, edges))
        data = pyarrow.dataset.dataset(table)

        class Scan:
            def to_arrow_batch_reader(self) -> Any:
                return table.to_reader()

        class Table:
            def scan(self) -> Scan:
                return Scan()

        given: list[Any] = [table, table.to_batches()[0], table.to_reader(), data, data.scanner(), Scan(), Table()]
        for x in given:
            self.assertEqual(content(from_tables({"user": x}, edges)), want, type(x).__name__)
        lists = pyarrow.table({"id": [3, 1, 2], "x": pyarrow.array([[["a"]], [], [["b", "c"]]])})
        self.assertEqual(content(from_tables({"user": lists.to_reader()}, edges)), content(from_tables({"user": lists}, edges)))
        decimals = pyarrow.table({"id": [1, 2], "x": pyarrow.array([decimal.Decimal("1.5"), None])})
        with self.assertRaisesRegex(TypeError, "column 'x'"):
            from_tables({"user": decimals.to_reader()}, edges)
        gaps = pyarrow.table({"id": [3, 1, 2], "x": pyarrow.array([[1], None, [2]])})
        with self.assertRaisesRegex(ValueError, "column 'x': found missing values in a column of lists, expected none in a table that comes in batches"):
            from_tables({"user": gaps.to_reader()}, edges)

    @ARROW
    @DUCKDB
    def test_duckdb(self) -> None:
        import duckdb

        with contextlib.closing(duckdb.connect()) as c:
            users = c.sql("SELECT 'u' || i AS id, i * 2 AS x, CASE WHEN i % 3 = 0 THEN NULL ELSE i END AS y FROM range(5000) t(i)")
            buys = c.sql("SELECT 'u' || (i % 5000) AS src, (i * 7) % 100 AS dst, i / 2.0 AS w FROM range(20000) t(i)")
            got = from_tables({"user": users, "item": 100}, {BUYS: buys})
            self.assertEqual(got.nodes["user"].count, 5000)
            self.assertEqual(int(np.sum(np.asarray(got.nodes["user"].columns["y_missing"]))), 1667)
            self.assertEqual(float(np.sum(np.asarray(got.edges[BUYS].columns["w"]))), 20000 * 19999 / 4)


class TestAppend(Case):
    @ARROW
    def test_equals_whole(self) -> None:
        """Tables of new nodes and edges, in parts: the store is that of all tables."""
        import pyarrow

        for seed in range(COUNT // 2):
            r = random.Random(seed)
            n, m = r.choice([3, 12]), r.choice([4, 30])
            of, on = rows(r, n), rows(r, m, False)
            for name in ("c", "m"):
                del of[name], on[name]
            ids: list[Any] = r.choice([[f"u{i}" for i in range(n)], list(range(n))])
            users = pyarrow.table({"id": ids, "kind": [r.choice("ab") for _ in range(n)], **of})
            buys = pyarrow.table({"src": [ids[i % 2] for i in range(m)], "dst": [r.randint(0, 4) for _ in range(m)], **on})
            options: dict[str, Any] = {"both": True}
            want = from_tables({"user": users, "item": 5}, {BUYS: buys}, **options)
            cut, at = r.randint(2, n - 1), r.randint(1, m - 1)
            if any(users.slice(cut)[x].null_count and not users.slice(0, cut)[x].null_count for x in of):
                continue  # whose column of missing values would be new
            got = from_tables({"user": users.slice(0, cut), "item": 5}, {BUYS: buys.slice(0, at)}, **options)
            got.append({"user": r.choice([users.slice(cut), users.slice(cut).to_reader(2)])})
            got.append({BUYS: r.choice([buys.slice(at), buys.slice(at).to_reader(3)])})
            self.same(got, content(want), f"seed {seed}")

    @ARROW
    def test_categories(self) -> None:
        """Texts are the categories of the store, and types without a table keep their nodes."""
        import pyarrow

        knows = ("user", "knows", "user")
        edges = {knows: {"src": ["a"], "dst": ["b"], "at": [1]}}
        kinds = pyarrow.array(["x", "y"]).dictionary_encode()
        store = from_tables({"user": pyarrow.table({"id": ["a", "b"], "k": kinds})}, edges)
        store.append({knows: {"src": ["b"], "dst": ["a"], "at": [2]}})
        store.append({"user": {"id": ["c", "d"], "k": ["y", "x"]}, knows: {"src": ["c"], "dst": ["a"], "at": [2]}})
        store.append({"user": pyarrow.table({"id": ["e"], "k": pyarrow.array(["z"]).dictionary_encode()})})
        store.append({knows: {"src": ["b"], "dst": ["a"], "at": [2]}})  # the same edge again
        self.assertEqual(content(store)["user", "k"][3], ["x", "y", "y", "x", "z"])
        self.assertEqual(store.edges[knows].count, 4)

    def test_drop_and_change(self) -> None:
        edges = ("user", "knows", "user")
        store = from_tables({"user": {"id": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]}}, {edges: {"src": ["a", "b", "c"], "dst": ["b", "c", "a"], "at": [1, 2, 3]}})
        store.append({edges: {"src": ["a"], "dst": ["c"], "at": [4]}}, drop={edges: {"src": ["b"], "dst": ["c"]}})
        self.assertEqual(sorted(store.edges[edges].columns["at"].tolist()), [1, 3, 4])
        store.append(change={"user": {"id": ["b"], "x": [9.0]}, edges: {"src": ["c"], "dst": ["a"], "at": [7]}})
        self.assertEqual(store.nodes["user"].columns["x"].tolist(), [1.0, 9.0, 3.0])
        self.assertEqual(sorted(store.edges[edges].columns["at"].tolist()), [1, 4, 7])
        store.append(drop={"user": {"id": ["a"]}})
        self.assertEqual(store.edges[edges].count, 0)

    def test_refusals(self) -> None:
        edges = ("user", "knows", "user")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.store")
            store = from_tables({"user": {"id": ["a", "b"], "x": [1.0, 2.0]}}, {edges: {"src": ["a"], "dst": ["b"]}}, path)
            before = content(store)
            refused: list[tuple[dict[str, Any], str]] = [
                ({"source": {edges: {"src": ["a"], "dst": ["nobody"]}}}, "found .*nobody"),
                ({"source": {"user": {"id": ["a"], "x": [1.0]}}}, "user: column 'id'.*found the id .a., which a node of type user in the store has"),
                ({"source": {"user": {"id": ["c"]}}}, "x"),
                ({"change": {"user": {"x": [1.0]}}}, "found a table of nodes without a column of ids"),
                ({"drop": {edges: {"src": ["b"], "dst": ["a"]}}}, "found an edge of type user:knows:user to drop that the store does not have"),
            ]
            for given, text in refused:
                with self.assertRaisesRegex((GraphmillError, ValueError), text):
                    store.append(**given)
                self.assertEqual(content(Store(path)), before)
                self.assertEqual(os.listdir(folder), ["g.store"])
            self.assertTrue(np.array_equal(store.nodes["user"].columns["x"], [1.0, 2.0]))


if __name__ == "__main__":
    unittest.main()
