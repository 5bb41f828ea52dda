"""`write_predictions`: what comes out is what went in, under the original ids.

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
from graphmill import GraphmillError, write_predictions

N = 40
IDS = [f"u{i * 7 % 101}" for i in range(N)]
LABELS = ["ham", "spam", "eggs"]


def graph(path: str) -> graphmill.Store:
    """A store of users with labels and splits, and of links between them."""
    csv_of = {
        "users.csv": "id,label,split,name\n" + "".join(f'{IDS[i]},{LABELS[i % 3]},{("train", "test")[i % 2]},"a, {i}"\n' for i in range(N)),
        "links.csv": "src,dst\n" + "".join(f"{IDS[i]},{IDS[(i * 3 + 1) % N]}\n" for i in range(N)),
        "graph.yaml": "nodes:\n  user:\n    table: users.csv\n    columns: {label: {dtype: category, categories: [ham, spam, eggs]}, split: category, name: string}\n"
        "edges:\n  user:knows:user: {table: links.csv}\n",
    }
    os.makedirs(path + ".tables")
    for name, text in csv_of.items():
        with open(os.path.join(path + ".tables", name), "w") as f:
            f.write(text)
    graphmill.run("import", path + ".tables", out=path, quiet=True)
    return graphmill.Store(path)


class Predictions(unittest.TestCase):
    folder: str
    g: graphmill.Store

    @classmethod
    def setUpClass(cls) -> None:
        made = tempfile.TemporaryDirectory(prefix="graphmill-")
        cls.addClassCleanup(made.cleanup)
        cls.folder = made.name
        cls.g = graph(os.path.join(made.name, "g.store"))

    def out(self, name: str) -> str:
        folder = tempfile.TemporaryDirectory(prefix="graphmill-")
        self.addCleanup(folder.cleanup)
        return os.path.join(folder.name, name)

    def lines(self, path: str) -> list[list[str]]:
        with open(path, newline="") as f:
            rows = list(csv.reader(f))
        self.assertEqual(os.listdir(os.path.dirname(path)), [os.path.basename(path)], "expected nothing beside the table")
        return rows

    def test_round_trip(self) -> None:
        r = np.random.default_rng(1)
        emb, score, pred, flag = r.standard_normal((N, 3)).astype(np.float32), r.random(N), r.integers(-1, 3, N), r.random(N) < 0.5
        out = self.out("users.csv")
        arrays = {"emb": np.asfortranarray(emb), "score": score.astype(">f8"), "pred": pred, "flag": flag}
        self.assertEqual(write_predictions(self.g, "user", arrays, out, classes={"pred": "label"}, include=["name", "label"]), out)
        rows = self.lines(out)
        self.assertEqual(rows[0], ["id", "emb_0", "emb_1", "emb_2", "score", "pred", "flag", "name", "label"])
        self.assertEqual([row[0] for row in rows[1:]], IDS)
        np.testing.assert_array_equal(np.array([row[1:4] for row in rows[1:]], np.float32), emb)
        np.testing.assert_array_equal(np.array([row[4] for row in rows[1:]], np.float64), score)
        self.assertEqual(
            [row[5:] for row in rows[1:]],
            [["" if p < 0 else LABELS[p], str(bool(f)).lower(), f"a, {i}", LABELS[i % 3]] for i, (p, f) in enumerate(zip(pred, flag))],
        )

    def test_some_rows(self) -> None:
        nodes = np.array([5, 0, 39, 2], np.int32)
        out = self.out("some.csv")
        write_predictions(self.g.path, "user", {"x": [1, 2, 3, 4]}, out, nodes=nodes, rows="split=test", id_name="user")
        self.assertEqual(self.lines(out), [["user", "x"], [IDS[5], "1"], [IDS[39], "3"]])
        write_predictions(self.g, "user", {"x": [7.5]}, out, nodes=[3], overwrite=True)
        self.assertEqual(self.lines(out), [["id", "x"], [IDS[3], "7.5"]])

    def test_edges(self) -> None:
        edges = self.g.edges["knows"]
        for type_ in (("user", "knows", "user"), "user:knows:user", "knows"):
            out = self.out("edges.csv")
            write_predictions(self.g, type_, {"w": np.arange(N)}, out, edge_ids=True)
            rows = self.lines(out)
            self.assertEqual(rows[0], ["source", "target", "edge_id", "w"])
            place = np.asarray(edges["#input_position"])
            self.assertEqual(rows[1:], [[IDS[p], IDS[(p * 3 + 1) % N], str(i), str(i)] for i, p in enumerate(place.tolist())])

    def test_maps(self) -> None:
        path = os.path.join(self.folder, "emb.npy")
        emb = np.random.default_rng(2).random((N, 2)).astype(np.float32)
        np.save(path, emb)
        whole = np.load(path, mmap_mode="r")
        out = self.out("maps.csv")
        with mock.patch("numpy.save", side_effect=AssertionError("a whole map was copied")):
            write_predictions(self.g, "user", {"emb": whole, "file": path}, out)
            for part in (whole[::-1], whole[:, :1]):
                with self.assertRaises(AssertionError):
                    write_predictions(self.g, "user", {"emb": part}, out, overwrite=True)
        np.testing.assert_array_equal(np.array([row[1:] for row in self.lines(out)[1:]], np.float32), np.hstack([emb, emb]))
        write_predictions(self.g, "user", {"emb": whole[::-1]}, out, overwrite=True)
        np.testing.assert_array_equal(np.array([row[1:] for row in self.lines(out)[1:]], np.float32), emb[::-1])

    def test_databases_and_parquet(self) -> None:
        x = np.arange(N, dtype=np.float32)
        out = self.out("r.db")
        write_predictions(self.g, "user", {"x": x}, out, table="users")
        write_predictions(self.g, "user", {"x": x}, f"sqlite:{out}#users", overwrite=True)
        db = sqlite3.connect(out)
        self.assertEqual(db.execute("SELECT id, x FROM users").fetchall(), [(i, float(k)) for k, i in enumerate(IDS)])
        db.close()
        with self.assertRaisesRegex(GraphmillError, 'found a table "users", expected none of this name; choose another table, or give overwrite=True'):
            write_predictions(self.g, "user", {"x": x}, out, table="users")
        parquet = self.out("x.parquet")
        write_predictions(self.g, "user", {"x": x}, parquet)
        with open(parquet, "rb") as f:
            self.assertEqual(f.read(4), b"PAR1")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs torch")
    def test_tensors(self) -> None:
        import torch

        x = torch.arange(2 * N, dtype=torch.float32, requires_grad=True).reshape(N, 2)
        out = self.out("t.csv")
        write_predictions(self.g, "user", {"x": x, "b": x[:, 0].bfloat16(), "h": x[:, 1].half(), "c": x.argmax(1)}, out)
        want = [[IDS[i], str(2 * i), str(2 * i + 1), str(2 * i), str(2 * i + 1), "1"] for i in range(N)]
        self.assertEqual(self.lines(out)[1:], want)

    def test_wrong_arguments(self) -> None:
        x = np.zeros(N)
        there = os.path.join(self.folder, "there.csv")
        with open(there, "w") as f:
            f.write("mine")
        before = sorted(os.listdir(self.folder))
        new = os.path.join(self.folder, "new.csv")
        cases: list[tuple[str, type[Exception], str, tuple[Any, ...], dict[str, Any]]] = [
            ("rows", ValueError, "arrays: x: found 3 rows, expected 40, one per node of user", ("user", {"x": [1, 2, 3]}, new), {}),
            ("rows of nodes", ValueError, "found 40 rows, expected 2, one per row of nodes", ("user", {"x": x}, new), {"nodes": [1, 2]}),
            ("type", ValueError, "did you mean user", ("usr", {"x": x}, new), {}),
            ("edge type", ValueError, "expected one of user:knows:user", ("user:know:user", {"x": x}, new), {}),
            ("no type", TypeError, "found type_=3", (3, {"x": x}, new), {}),
            ("cube", ValueError, r"found shape \[40, 1, 1\]", ("user", {"x": x.reshape(N, 1, 1)}, new), {}),
            ("texts", TypeError, "expected an array of numbers or bools", ("user", {"x": np.array(IDS)}, new), {}),
            ("complex", TypeError, "expected an array of numbers or bools", ("user", {"x": x + 1j}, new), {}),
            ("name", ValueError, "found the name 'a=b'", ("user", {"a=b": x}, new), {}),
            ("none", ValueError, "found no arrays", ("user", {}, new), {}),
            ("no mapping", TypeError, "arrays", ("user", x, new), {}),
            ("classes", ValueError, "classes: found 'y'", ("user", {"x": x}, new), {"classes": {"y": "label"}}),
            (
                "floats as classes",
                GraphmillError,
                "expected one integer per row, the number of a class; leave classes out",
                ("user", {"x": x}, new),
                {"classes": {"x": "label"}},
            ),
            ("a class", GraphmillError, "row 1: found class 3, expected 0 to 2", ("user", {"x": np.arange(N) % 2 * 3}, new), {"classes": {"x": "label"}}),
            ("column", GraphmillError, 'include: found no column "nam"', ("user", {"x": x}, new), {"include": ["nam"]}),
            ("include", TypeError, "found include='name'", ("user", {"x": x}, new), {"include": "name"}),
            ("condition", GraphmillError, 'rows: found column "fold"', ("user", {"x": x}, new), {"rows": "fold=1"}),
            ("node", GraphmillError, "row 1: found 40, expected 0 to 39", ("user", {"x": [1, 2]}, new), {"nodes": [3, N]}),
            ("floats as nodes", ValueError, "nodes: found float64", ("user", {"x": [1, 2]}, new), {"nodes": [3.0, 4.0]}),
            ("there", GraphmillError, "there.csv: found that it exists", ("user", {"x": x}, there), {}),
            ("folder", GraphmillError, "found no folder", ("user", {"x": x}, os.path.join(self.folder, "no", "x.csv")), {}),
            ("ending", GraphmillError, "expected a name that ends with .parquet", ("user", {"x": x}, new + ".txt"), {}),
            ("overwrite", TypeError, "overwrite=1", ("user", {"x": x}, new), {"overwrite": 1}),
            ("integer ids", GraphmillError, 'found the id "u0" with integer_ids, expected integers', ("user", {"x": x}, new), {"integer_ids": True}),
        ]
        for name, kind, text, args, options in cases:
            with self.subTest(name):
                with self.assertRaisesRegex(kind, text):
                    write_predictions(self.g, *args, **options)
                self.assertEqual(sorted(os.listdir(self.folder)), before, "expected that nothing was written")


if __name__ == "__main__":
    unittest.main()
