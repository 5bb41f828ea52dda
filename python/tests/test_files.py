"""Files that a Python library reads: the stores have what the library itself reads.

GRAPHMILL_COMMAND is the path of the command. The environment is the one of bench/peers.sh files. Files of other programs are in testdata/files beside this one.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import tempfile
import unittest
from typing import Any

import numpy as np
from graphmill import Collection, GraphmillError, Store, read

FILES = pathlib.Path(__file__).parent / "testdata" / "files"
E = ("_N", "_E", "_N")


def values(columns: Any, rows: int) -> list[dict[str, Any]]:
    """The fields of each row that are not missing."""
    out: list[dict[str, Any]] = [{} for _ in range(rows)]
    for name in columns:
        if name.startswith("#") or name.endswith("_missing"):
            continue
        gone = columns.column(name + "_missing").values if name + "_missing" in columns else np.zeros(rows, bool)
        c = columns.column(name)
        for i, v in enumerate(c.tolist() if c.unit is None else c.values.view(f"datetime64[{c.unit}]").tolist()):
            if not gone[i] and (c.unit is None or v is not None):
                out[i][name] = v
    return out


def content(store: Any) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any, Any]]]:
    """The nodes of a store of one type, and its edges by their original ids, both with their fields."""
    assert isinstance(store, Store)
    n, x = store.nodes["_N"], store.edges[E]
    ids: list[Any] = list(range(n.count)) if n.ids is None else n.ids.tolist()
    pairs = x.edge_index().tolist()
    return list(zip(ids, values(n.columns, n.count))), [(ids[a], ids[b], f) for a, b, f in zip(*pairs, values(x.columns, len(pairs[0])))]


def in_order(edges: Any) -> list[Any]:
    return sorted(edges, key=repr)


class Case(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def file(self, name: str, content: str | bytes) -> pathlib.Path:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def refused(self, path: pathlib.Path, *words: str, **options: Any) -> None:
        """The file is refused in a line that names it, and nothing is left beside it."""
        before = sorted(os.listdir(self.folder))
        with self.assertRaises(GraphmillError) as e:
            read(path, self.folder / "refused.store", **options)
        text = str(e.exception)
        self.assertTrue(text.startswith(str(path) + ":"), text)
        self.assertNotIn("\n", text)
        for word in words:
            self.assertIn(word, text)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def same(self, got: Any, nodes: Any, edges: Any) -> None:
        have_nodes, have_edges = content(got)
        self.assertEqual(have_nodes, list(nodes))
        self.assertEqual(in_order(have_edges), in_order(edges))


def both(edges: Any) -> list[Any]:
    """Each edge in both directions, and a self-loop once."""
    return [e for a, b, f in edges for e in ([(a, b, f)] if a == b else [(a, b, f), (b, a, f)])]


@unittest.skipUnless(importlib.util.find_spec("networkx"), "networkx is not installed")
class TestFilesGML(Case):
    def test_gml(self) -> None:
        import networkx

        g = networkx.MultiGraph([("ü", "€", {"w": 1}), ("ü", "€", {"w": 2}), ("ü", "ü", {"w": 3})])
        text = "\n".join(networkx.generate_gml(g))
        want = networkx.parse_gml(text, label="id")
        for name, content in (("a.gml", text), ("b.gml", text.replace("multigraph 1", ""))):  # networkx alone refuses the latter
            self.same(read(self.file(name, content)), want.nodes(data=True), both(want.edges(data=True)))


if __name__ == "__main__":
    unittest.main()
