"""Columns that programs make: `Store.add_column`, `replace_column` and `drop_column`.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from collections.abc import Callable
from typing import Any

import graphmill
import made
import numpy as np
from graphmill import GraphmillError, Store
from graphmill._folder import Column

N, E = 53, 211
CITES = ("paper", "cites", "paper")


def graph(path: str) -> Store:
    """A store with a column of each kind, string ids, and a type and an edge type without any rows."""
    r = np.random.default_rng(7)
    ids = [f"p{i * 37 % 101}" for i in range(N)]
    ends = r.integers(0, N, (2, E))
    nodes = {
        "paper": {
            "#id": ids,
            "title": ["", *(f"title {i} ü" for i in range(1, N))],
            "x": r.standard_normal((N, 3)).astype(np.float32),
            "tags": [list(range(i % 4)) for i in range(N)],
            "at": np.where(np.arange(N) % 5 == 0, np.datetime64("NaT", "ms"), np.datetime64("2020-01-01", "ms") + np.arange(N)),
        },
        "venue": {"x": np.zeros(0, np.float32)},
    }
    edges: dict[Any, Any] = {
        CITES: {"edge_index": tuple([ids[k] for k in end] for end in ends), "w": r.random(E)},
        ("paper", "at", "venue"): {"edge_index": ([], np.zeros(0, np.int64))},
    }
    g: Store = graphmill.from_arrays(nodes, edges, path)
    return g


class Columns(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="graphmill-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.g = graph(os.path.join(folder.name, "g.store"))

    def verified(self) -> None:
        made.graphmill("verify", self.g.path)

    def left(self) -> list[str]:
        """What is beside the store."""
        return [name for name in os.listdir(self.folder) if name != "g.store"]

    def files(self) -> dict[str, Any]:
        with open(os.path.join(self.g.path, "manifest.json")) as f:
            of: dict[str, Any] = json.load(f)["files"]
            return of


class TestAddColumn(Columns):
    def test_values(self) -> None:
        """Every kind of values comes back, whatever the number of rows of a block."""
        paper = self.g.nodes["paper"]
        x, titles, tags = np.array(paper["x"]), paper["title"].tolist(), paper["tags"].tolist()
        at = np.array(paper["at"]).view("datetime64[ms]")
        cases: dict[str, tuple[Callable[[dict[str, Any]], Any], list[str], Any]] = {
            "floats": (lambda of: of["x"].sum(1, dtype=np.float64), ["x"], x.sum(1, dtype=np.float64)),
            "rows": (lambda of: of["x"][:, ::-1].astype(np.float16), ["x"], x[:, ::-1].astype(np.float16)),
            "nan": (lambda of: np.full(len(of["x"]), np.nan), ["x"], np.full(N, np.nan)),
            "bools": (lambda of: [bool(t) for t in of["title"]], ["title"], np.array([bool(t) for t in titles])),
            "texts": (lambda of: [t[::-1] for t in of["title"]], ["title"], [t[::-1] for t in titles]),
            "lists": (lambda of: [[*t, 9] if len(t) != 2 else [] for t in of["tags"]], ["tags"], [[*t, 9] if len(t) != 2 else [] for t in tags]),
            "words": (lambda of: [["w"] * (len(t) // 2) for t in of["tags"]], ["tags"], [["w"] * (len(t) // 2) for t in tags]),
            "pairs": (lambda of: [[1, 2] for _ in of["tags"]], ["tags"], np.array([[1, 2]] * N)),
            "times": (lambda of: of["at"] + np.timedelta64(1, "ms"), ["at"], (at + np.timedelta64(1, "ms")).view(np.int64)),
            "ids": (lambda of: [i + t for i, t in zip(of["#id"], of["title"])], ["#id", "title"], [i + t for i, t in zip(paper.ids.tolist(), titles)]),  # type: ignore[union-attr]
        }
        sums: dict[str, Any] = {}
        for rows in (1, 20):
            for name, (fn, source, want) in cases.items():
                with self.subTest(name, rows=rows):
                    (self.g.add_column if rows == 1 else self.g.replace_column)("paper", name, fn, source, rows=rows)
                    have = self.g.nodes["paper"].columns.column(name)
                    if isinstance(want, list):
                        self.assertEqual([v if isinstance(v, str) else list(v) for v in have.tolist()], want)
                    else:
                        self.assertEqual(have.values.dtype, want.dtype)
                        np.testing.assert_array_equal(have.values, want)
                    files = {f: of for f, of in self.files().items() if f.startswith(f"nodes/paper/{name}.")}
                    self.assertEqual(sums.setdefault(name, files), files)
        self.assertEqual(self.g.nodes["paper"].columns.column("times").unit, "ms")
        self.verified()
        self.assertEqual(self.left(), [])

    def test_blocks(self) -> None:
        """The function gets each row once, in order, and at most ``rows`` at a time."""
        seen: list[list[str]] = []

        def fn(of: dict[str, Any]) -> Any:
            self.assertEqual(set(of), {"title", "x"})
            self.assertTrue(of["x"].flags.writeable)
            seen.append(of["title"])
            return of["x"]

        self.g.add_column("paper", "copy", fn, ["title", "x"], rows=20)
        self.assertEqual(list(map(len, seen)), [20, 20, 13])
        self.assertEqual([t for block in seen for t in block], self.g.nodes["paper"]["title"].tolist())

    def test_edges(self) -> None:
        """Rows of edges are in the order of the edge ids."""
        self.g.add_column("cites", "twice", lambda of: 2 * of["w"], "w", rows=50)
        self.g.add_column(CITES, "number", np.arange(E, dtype=np.uint16))
        cites = self.g.edges["cites"]
        np.testing.assert_array_equal(cites["twice"], 2 * np.asarray(cites["w"]))
        np.testing.assert_array_equal(cites["number"], np.arange(E))
        self.verified()

    def test_categories(self) -> None:
        self.g.add_column("paper", "kind", lambda of: ["even" if len(t) % 2 == 0 else "odd" for t in of["title"]], "title", category=True)
        c = self.g.nodes["paper"].columns.column("kind")
        assert c.categories is not None
        self.assertEqual(c.categories.tolist(), ["even", "odd"])
        self.g.add_column("paper", "code", lambda of: [k == "even" for k in of["kind"]], "kind")
        np.testing.assert_array_equal(self.g.nodes["paper"]["code"], np.asarray(c) == 0)

    def test_no_rows(self) -> None:
        self.g.add_column("venue", "y", lambda of: of["x"] + 1, "x")
        self.g.add_column("at", "z", np.zeros((0, 4), np.int8))
        self.assertEqual(np.asarray(self.g.nodes["venue"]["y"]).dtype, np.float32)
        self.assertEqual(np.asarray(self.g.edges["at"]["z"]).shape, (0, 4))
        self.verified()

    def test_links(self) -> None:
        """No other file of the store is written again."""
        before, sums = os.stat(os.path.join(self.g.path, "nodes/paper/x.npy")).st_ino, self.files()
        self.g.add_column("paper", "n", np.arange(N))
        self.assertEqual(os.stat(os.path.join(self.g.path, "nodes/paper/x.npy")).st_ino, before)
        after = self.files()
        self.assertEqual(
            {f: of for f, of in sums.items() if f != "graph.json"}, {f: of for f, of in after.items() if f not in ("graph.json", "nodes/paper/n.npy")}
        )
        self.g.drop_column("paper", "n")
        self.assertEqual(self.files(), sums)

    def test_lineage(self) -> None:
        self.g.add_column("paper", "n", lambda of: [len(t) for t in of["title"]], "title")
        amended = self.g.meta["made"]["amended"]
        self.assertEqual([(a["type"], a["column"], a["change"], a["options"]["source"]) for a in amended], [("paper", "n", "add", "title")])
        self.assertEqual(self.g.meta["made"]["command"], "import")

    def test_column_of_bits(self) -> None:
        bits = np.arange(N, dtype=np.uint16) + 16000
        self.g.add_column("paper", "half", Column("half", "bfloat16", (), N, bits, (), None))
        c = self.g.nodes["paper"].columns.column("half")
        self.assertEqual(c.dtype, "bfloat16")
        np.testing.assert_array_equal(c.values, bits)

    def test_features_in_pieces(self) -> None:
        """A function gets the numbers of a feature that has no column of its name, and what it made of them is continued."""
        nodes = {"v": np.random.default_rng(1).random((N, 2), np.float32), "city": [f"c{i % 40}" for i in range(N)]}
        features = {"u": {"few": {"bits": 8, "parts": ["v"]}, "wide": [{"from": "city", "encode": "one-hot"}]}}
        g = graphmill.from_arrays({"u": nodes}, {("u", "knows", "u"): np.array([[0, 1], [1, 2]])}, os.path.join(self.folder, "f.store"), features=features)
        calls: list[int] = []

        def fn(of: dict[str, Any], fails: int | None = None) -> Any:
            calls.append(len(calls))
            if calls[-1] == fails:
                raise RuntimeError("no memory")
            return of["few"].sum(1) + of["wide"].argmax(1)

        with self.assertRaisesRegex(GraphmillError, "no memory"):
            g.add_column("u", "y", lambda of: fn(of, 2), ["few", "wide"], rows=20)
        g.add_column("u", "y", fn, ["few", "wide"], rows=20, resume=True)
        self.assertEqual(len(calls), 4)
        few, wide = (np.asarray(g.nodes["u"][n]) for n in ("few", "wide"))
        np.testing.assert_array_equal(g.nodes["u"]["y"], few.sum(1) + wide.argmax(1))

    def test_versions(self) -> None:
        """A store that is open elsewhere keeps what it has read, and does not mix it with another version."""
        other, nodes = Store(self.g.path), self.g.nodes["paper"]
        read = np.asarray(other.nodes["paper"]["x"])
        copy = read.copy()
        self.g.replace_column("paper", "x", np.zeros((N, 3), np.float32))
        np.testing.assert_array_equal(read, copy)
        np.testing.assert_array_equal(other.nodes["paper"]["x"], copy)
        self.assertEqual(other.nodes["paper"]["title"].tolist(), nodes["title"].tolist())
        with self.assertRaisesRegex(GraphmillError, "folder was replaced, so open it again"):
            nodes["x"]
        np.testing.assert_array_equal(self.g.nodes["paper"]["x"], np.zeros((N, 3)))

    def test_temporary(self) -> None:
        """A store in a temporary folder lives as long as its object, whatever version that shows."""
        g = graphmill.from_arrays({"x": np.arange(4.0)}, np.array([[0, 1], [1, 2]]))
        g.add_column("_N", "y", np.arange(4))
        g.add_column("_N", "z", lambda of: of["x"] + of["y"], ["x", "y"])
        np.testing.assert_array_equal(g.nodes["_N"]["z"], [0, 2, 4, 6])
        path = g.path
        del g
        self.assertFalse(os.path.exists(path))

    def test_loader(self) -> None:
        """A loader that runs keeps the version that it has opened, and a new one has the column."""

        def batches(store: Store, executor: str, during: Callable[[], None] = lambda: None) -> list[Any]:
            out, features = [], ["paper/x", "paper/title"]
            with graphmill.NodeLoader(store, fanout=[3, 2], batch_size=4, seeds="paper", as_="numpy", features=features, executor=executor) as loader:
                for k, batch in enumerate(loader):
                    of = batch.x["paper"]
                    out.append((batch.n_id["paper"].tolist(), of["x"].tolist(), of["title"].tolist()))
                    if k == 1:
                        during()
            return out

        want = batches(self.g, "memory")

        def change() -> None:
            self.g.replace_column("paper", "x", np.full((N, 3), 5, np.float32))
            self.g.replace_column("paper", "title", ["new"] * N)

        for executor in ("memory", "stream"):
            with self.subTest(executor):
                g = graph(os.path.join(self.folder, executor))
                self.g = g
                self.assertEqual(batches(g, executor, change), want)
                for ids, x, titles in batches(g, executor):
                    self.assertEqual((x, titles), ([[5.0] * 3] * len(ids), ["new"] * len(ids)))


class TestFaults(Columns):
    def test_refused(self) -> None:
        """Wrong arguments, and values that are none, change nothing and leave nothing that a call does not continue."""

        def add(*a: Any, **o: Any) -> Callable[[], None]:
            return lambda: self.g.add_column(*a, **o)

        per_block = {0: np.zeros(30, np.float32), 1: np.zeros(23, np.float64)}
        counted = iter(range(9))
        for call, error, text in (
            (add("papr", "y", [1]), KeyError, "did you mean paper"),
            (add("paper", "x", np.zeros(N)), ValueError, "call replace_column"),
            (lambda: self.g.replace_column("paper", "y", np.zeros(N)), ValueError, "found no column 'y' of paper, expected one of at, tags, title, x"),
            (lambda: self.g.drop_column("paper", "titel"), ValueError, "did you mean title"),
            (lambda: self.g.drop_column("cites", "#input_position"), ValueError, "expected one of w"),
            (add("paper", "#y", np.zeros(N)), ValueError, "does not begin with #"),
            (add("paper", "", np.zeros(N)), ValueError, "not empty"),
            (add("paper", "y", np.zeros(N - 1)), ValueError, "found 52 rows, expected 53"),
            (add("paper", "y", "y.npy"), TypeError, "takes a file"),
            (add("paper", "y", np.zeros((N, 0))), GraphmillError, "expected rows with values"),
            (add("paper", "y", np.zeros(N), ["x"]), ValueError, "no function"),
            (add("paper", "y", np.zeros(N, complex)), TypeError, "complex128"),
            (add("paper", "y", len), ValueError, "found no source="),
            (add("paper", "y", len, ["tite"]), ValueError, "did you mean title"),
            (add("paper", "y", len, "x", rows=0), ValueError, "found rows=0"),
            (add("paper", "y", lambda of: of["x"][1:], "x", rows=30), GraphmillError, "block 0, rows 0 to 29: found 29 rows, expected 30"),
            (add("paper", "y", lambda of: 1 / 0, "x"), GraphmillError, "block 0, rows 0 to 52: found ZeroDivisionError: division by zero"),
            (add("paper", "y", lambda of: None, "x"), GraphmillError, "block 0, rows 0 to 52: .*found NoneType"),
            (add("paper", "y", lambda of: per_block[next(counted)], "x", rows=30), GraphmillError, "rows from 30: found float64, expected float32"),
            (add("paper", "y", np.arange(N), category=True), GraphmillError, "category=True"),
        ):
            with self.subTest(text):
                before = self.files()
                with self.assertRaisesRegex(error, text):
                    call()
                self.assertEqual(self.files(), before)
        self.verified()

    def test_types(self) -> None:
        """A type is found by one rule: an unknown one is told beside those that there are, and of a relation of several types all names are asked for."""
        ends = np.array([[0, 1], [1, 0]])
        edges: Any = {("u", "r", "v"): {"edge_index": ends}, ("v", "r", "u"): {"edge_index": ends}}
        g = graphmill.from_arrays({"u": {"x": np.zeros(2)}, "v": {"x": np.zeros(2)}}, edges, os.path.join(self.folder, "r.store"))
        calls: list[Callable[[Any], Any]] = [g.features, lambda t: g.add_column(t, "y", np.zeros(2)), lambda t: g.drop_column(t, "x")]
        for call in calls:
            for type_, error, text in (
                ("r", KeyError, "found relation 'r' of u:r:v, v:r:u, expected all three names"),
                ("w", KeyError, "type: found 'w', expected one of u, u:r:v, v, v:r:u"),
                (("u", "r", "u"), KeyError, "type: found 'u:r:u', expected one of u, u:r:v, v, v:r:u"),
                (3, TypeError, "found type_=3, expected a node type, or an edge type such as"),
                (("u", 3), TypeError, "found type_=.*, expected a node type, or an edge type such as"),
            ):
                with self.assertRaisesRegex(error, text):
                    call(type_)
        self.assertEqual([len(g.features(t)) for t in ("u", "u:r:v", ("v", "r", "u"), ["v", "r", "u"])], [0] * 4)

    def test_resume(self) -> None:
        """What was done before an error is not done again, unless other values are asked for."""
        calls: list[int] = []

        def fn(of: dict[str, Any], fails: int | None = None) -> Any:
            calls.append(len(calls))
            if calls[-1] == fails:
                raise RuntimeError("no memory")
            return [t + "!" for t in of["title"]]

        for rows, resume, begins in ((10, True, 3), (10, False, 0), (11, True, 0)):
            with self.subTest(rows=rows, resume=resume):
                calls.clear()
                with self.assertRaisesRegex(GraphmillError, "block 3, rows 30 to 39: found RuntimeError: no memory.*resume=True"):
                    self.g.add_column("paper", "y", lambda of: fn(of, 3), "title", rows=10)
                calls.clear()
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    self.g.add_column("paper", "y", fn, "title", rows=rows, resume=resume)
                self.assertEqual(len(calls), -(-N // rows) - begins)
                self.assertEqual(["begins anew" in str(w.message) for w in said], [True] if rows == 11 else [])
                self.assertEqual(self.g.nodes["paper"]["y"].tolist(), [t + "!" for t in self.g.nodes["paper"]["title"].tolist()])
                self.assertEqual(self.left(), [])
                self.g.drop_column("paper", "y")

    def test_resume_of_another_version(self) -> None:
        """Another column of the store does not matter, and another version of a source does."""
        changes: list[tuple[Callable[[], None], int]] = [
            (lambda: self.g.add_column("paper", "other", np.zeros(N)), 4),
            (lambda: self.g.replace_column("paper", "title", ["t"] * N), 0),
        ]
        for change, begins in changes:
            done: list[int] = []

            def fn(of: dict[str, Any], done: list[int] = done) -> Any:
                done.append(1)
                if len(done) == 5:
                    raise RuntimeError
                return [len(t) for t in of["title"]]

            with self.assertRaises(GraphmillError):
                self.g.add_column("paper", "y", fn, "title", rows=10)
            change()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.g.add_column("paper", "y", fn, "title", rows=10, resume=True)
            self.assertEqual(len(done), 5 + 6 - begins)
            np.testing.assert_array_equal(self.g.nodes["paper"]["y"], [len(t) for t in self.g.nodes["paper"]["title"].tolist()])
            self.g.drop_column("paper", "y")

    def test_killed(self) -> None:
        """A process that is killed leaves the store as it was, and the blocks that it had recorded."""
        program = f"""
import os, signal, graphmill, graphmill._made_columns as m
m._EVERY = 0
calls = 0
def fn(of):
    global calls
    calls += 1
    if calls == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return [[len(t)] * (len(t) % 3) for t in of["title"]]
graphmill.Store({self.g.path!r}).add_column("paper", "y", fn, "title", rows=7)
"""
        before = self.files()
        p = subprocess.run([sys.executable, "-c", program])
        self.assertEqual(p.returncode, -signal.SIGKILL)
        self.assertEqual(self.files(), before)
        calls = []

        def fn(of: dict[str, Any]) -> Any:
            calls.append(1)
            return [[len(t)] * (len(t) % 3) for t in of["title"]]

        self.g.add_column("paper", "y", fn, "title", rows=7, resume=True)
        self.assertEqual(len(calls), 8 - 3)
        have = [list(v) for v in self.g.nodes["paper"]["y"].tolist()]
        self.assertEqual(have, [[len(t)] * (len(t) % 3) for t in self.g.nodes["paper"]["title"].tolist()])
        self.verified()

    def test_command_fails(self) -> None:
        """Where the command cannot change the store, the values stay, and the function is not called again."""
        blocked = os.path.join(self.g.path, "mine.txt")
        with open(blocked, "w") as f:
            f.write("mine")
        with self.assertRaisesRegex(GraphmillError, "mine.txt, which manifest.json does not name"):
            self.g.add_column("paper", "y", lambda of: of["x"], "x")
        os.remove(blocked)

        def never(of: dict[str, Any]) -> Any:
            raise AssertionError("found a block that was done, expected none")

        self.g.add_column("paper", "y", never, "x", resume=True)
        np.testing.assert_array_equal(self.g.nodes["paper"]["y"], self.g.nodes["paper"]["x"])

    def test_two_at_a_time(self) -> None:
        """Two programs do not make one column at once."""

        def fn(of: dict[str, Any]) -> Any:
            with self.assertRaisesRegex(GraphmillError, "another process makes this column"):
                Store(self.g.path).add_column("paper", "y", lambda of: of["x"], "x")
            return of["x"]

        self.g.add_column("paper", "y", fn, "x")


if __name__ == "__main__":
    unittest.main()
