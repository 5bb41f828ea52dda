"""Columns of times and of categories, from tables to batches."""

from __future__ import annotations

import unittest
import warnings
from typing import Any

import made
import numpy as np
from graphmill import NodeLoader, Store

YAML = """
nodes:
  user: {table: users.csv, id: id, columns: {born: datetime, kind: category, name: string, w: float32}}
edges:
  "user:knows:user": {table: knows.csv}
"""
USERS = "id,born,kind,name,w\na,2000-01-01,high,Ada,1\nb,,low,Bob,2\nc,1999-12-31T23:59:59.5Z,,Cy,3\n"
KNOWS = "src,dst,since,how\na,b,2020-01-01,work\nb,c,,\nc,a,2020-01-02,school\n"


class TestValues(unittest.TestCase):
    path: str

    @classmethod
    def setUpClass(cls) -> None:
        folder = made.write("values", {"graph.yaml": YAML, "users.csv": USERS, "knows.csv": KNOWS})
        made.graphmill("import", folder, "--out", folder + ".store")
        cls.path = folder + ".store"

    def test_store_has_texts_and_units(self) -> None:
        with Store(self.path) as s:
            users: Any = s.nodes["user"].columns
            self.assertEqual(users["kind"].tolist(), [0, 1, -1])
            self.assertEqual(users.column("kind").categories.tolist(), ["high", "low"])
            self.assertIsNone(users.column("born").categories)
            self.assertIsNone(users.column("kind").unit)
            self.assertEqual(users.column("born").unit, "ms")
            born = users["born"].view("datetime64[ms]")
            self.assertEqual(born[0], np.datetime64("2000-01-01"))
            self.assertTrue(np.isnat(born[1]))
            self.assertEqual(str(born[2]), "1999-12-31T23:59:59.500")
            self.assertEqual(s.edges["knows"].columns.column("since").unit, "s")

    def said(self, **options: Any) -> tuple[list[str], list[Any]]:
        """What a loader warns of in two epochs, and the features of its batches."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with NodeLoader(self.path, [2], seeds="user", batch_size=3, as_="numpy", **options) as loader:
                batches = [b for _ in range(2) for b in loader]
        return [str(w.message) for w in caught if "leave out" in str(w.message)], batches

    def test_batches_have_codes_and_the_loader_says_once_what_they_leave_out(self) -> None:
        said, batches = self.said()
        self.assertEqual(len(said), 1)
        self.assertIn("user/name; name those that you want", said[0])
        for b in batches:
            x = b.x
            self.assertEqual(sorted(x), ["born", "kind", "w"])
            self.assertEqual(x["kind"].dtype, np.int32)
            self.assertEqual(x["born"].dtype, np.int64)

    def test_nothing_is_said_of_columns_that_were_not_asked_for(self) -> None:
        self.assertEqual(self.said(features=["kind"])[0], [])

    def test_edge_features(self) -> None:
        said, _ = self.said(edge_features="all")
        self.assertIn("user/name, user:knows:user/how; name those", said[0])


if __name__ == "__main__":
    unittest.main()
