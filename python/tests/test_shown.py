"""What terminals and notebooks show of stores, collections and loaders.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import html.parser
import io
import re
import sys
import tempfile
import unittest
from unittest import mock

import graphmill
import made
import numpy as np
from graphmill import Collection, NodeLoader, PackedLoader, Store
from graphmill._html import listed, table


class Table(html.parser.HTMLParser):
    """The rows of the tables of a text of HTML, whose elements must all be closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.title = ""
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self._open and self._open[-1] == "p":
            self.title += data


class TestShown(unittest.TestCase):
    def test_store(self) -> None:
        store = Store(made.store())
        self.assertRegex(repr(store), rf"^Store\({re.escape(repr(made.store()))}\): 8 nodes of 2 types, 4 edges of 1 type, [\d.]+ KiB$")
        shown = Table(store._repr_html_())
        self.assertEqual(shown.title, repr(store))
        self.assertEqual(
            shown.rows,
            [
                ["type", "count", "columns"],
                ["item", "4", "price: float32"],
                ["person", "4", "deep: int64 [-1, -1], half: bfloat16, name: string, tags: int64 [-1], vec: float32 [2]"],
                ["person:likes:item", "4", "#input_position: uint32, weight: int64"],
            ],
        )
        self.assertEqual(Store(made.store())._repr_html_(), store._repr_html_())
        self.assertEqual(str(store).splitlines(), [repr(store)] + [f"  {x!r}" for x in [*store.nodes.values(), *store.edges.values()]])

    def test_times_and_categories(self) -> None:
        columns = {"at": np.array([1, 2], "datetime64[s]"), "kind": ["a", "b"]}
        with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
            store = graphmill.from_tables({"x": columns}, {"x:to:x": {"src": [0], "dst": [1]}}, folder + "/g.store")
            self.assertIn(["x", "2", "at: int64, times in s, kind: string"], Table(store._repr_html_()).rows)

    def test_collection(self) -> None:
        c = Collection(made.molecules())
        self.assertRegex(repr(c), r"\): 300 graphs, 1,367 nodes, 1,332 edges, [\d.]+ KiB$")
        self.assertEqual(
            Table(c._repr_html_()).rows[1:],
            [
                ["atom", "1,367", "charge: bfloat16, element: string, x: float32 [3]"],
                ["atom:bond:atom", "1,332", "order: uint16"],
                ["context", "300", "label: int64, target: float64 [2]"],
            ],
        )

    def test_packs(self) -> None:
        with PackedLoader(made.layout("molecules", "--reserve"), made.molecules()) as packs:
            shape = packs.shape
            self.assertRegex(repr(packs), rf"\): 300 graphs in \d+ packs of {shape.graphs} graphs, {len(packs)} batches per epoch$")
            self.assertEqual(
                Table(packs._repr_html_()).rows,
                [
                    ["type", "rows per pack", "columns"],
                    ["atom", str(shape.nodes["atom"]), "charge: bfloat16, x: float32 [3]"],
                    ["atom:bond:atom", str(shape.edges["atom", "bond", "atom"]), "order: uint16"],
                    ["context", str(shape.graphs), "label: int64, target: float64 [2]"],
                ],
            )

    def test_loader(self) -> None:
        with NodeLoader(made.DEBIAN, fanout={"depends": [3]}, seed_type="package", features=["size", "section"], edge_features=["versioned"]) as loader:
            shown = Table(loader._repr_html_())
            self.assertEqual(shown.title, repr(loader))
            self.assertIn(["package", "size: int64, section: string"], shown.rows)
            self.assertIn(["package:depends:package", "versioned: int64"], shown.rows)

    def test_escapes(self) -> None:
        text = table("<b>&", ("<i>",), [("<script>alert(1)</script>", 1234567)])
        self.assertEqual((Table(text).title, Table(text).rows), ("<b>&", [["<i>"], ["<script>alert(1)</script>", "1,234,567"]]))
        self.assertNotIn("<script>", text)

    def test_many_columns(self) -> None:
        self.assertEqual(listed([str(i) for i in range(30)]).count(","), 29)
        self.assertTrue(listed([str(i) for i in range(32)]).endswith(", 29 and 2 others"))


class Notebook(io.StringIO):
    """Like the stderr of a notebook: no terminal, of a class of ipykernel."""


Notebook.__module__ = "ipykernel.iostream"


class TestProgress(unittest.TestCase):
    def test_notebook(self) -> None:
        """The output of a notebook gets the line of progress, with spaces that clear it; another file gets none."""
        for out, want in ((Notebook(), True), (io.StringIO(), False)):
            with tempfile.TemporaryDirectory(prefix="graphmill-") as folder, mock.patch.object(sys, "stderr", out):
                graphmill.run("generate", "rmat", scale=18, edge_factor=16, threads=1, out=folder + "/g.store")
            self.assertEqual("rows/s" in out.getvalue(), want, out.getvalue())
            self.assertNotIn("\x1b[2K", out.getvalue())
            if want:
                self.assertTrue(out.getvalue().endswith("\r" + " " * 79 + "\r"), out.getvalue()[-200:])


if __name__ == "__main__":
    unittest.main()
