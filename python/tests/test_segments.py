"""Python reads the same arrays from a store with segments as from a store that was imported from all tables.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import pathlib
import unittest
from typing import Any

import made
import numpy as np
from graphmill import GraphmillError, NodeLoader, Store, run

YAML = """
nodes:
  user: {table: user.csv, id: {column: id, dtype: string}, columns: {age: int64, bio: string, feat: "float32[2]"}}
  item: {table: item.csv, id: null, columns: {price: float64}}
edges:
  user:buys:item: {table: buys.csv, columns: {w: float32, at: "datetime[s]", note: string}}
  user:knows:user: {table: knows.csv}
"""


def tables(r: np.random.Generator, batch: int, users: int, items: int) -> dict[str, list[str]]:
    """New rows of each table; the users and items before are ``users`` and ``items`` in number."""
    new = [f"u{users + i},{r.integers(9)},{'x' * int(r.integers(4))},[{r.integers(9)} {r.integers(9)}]" for i in range(int(r.integers(4)) + (batch == 0))]
    prices = [str(r.integers(99)) for _ in range(int(r.integers(4)) + (batch == 0))]
    u, i = users + len(new), items + len(prices)
    return {
        "user.csv": new,
        "item.csv": prices,
        "buys.csv": [
            f"u{r.integers(u)},{r.integers(i)},{r.integers(9)},2020-01-0{r.integers(1, 9)},{'n' * int(r.integers(3))}" for _ in range(int(r.integers(9)))
        ],
        "knows.csv": [f"u{r.integers(u)},u{r.integers(u)}" for _ in range(int(r.integers(5)))],
    }


HEADS = {"user.csv": "id,age,bio,feat", "item.csv": "price", "buys.csv": "src,dst,w,at,note", "knows.csv": "src,dst"}


def write(folder: pathlib.Path, rows: dict[str, list[str]]) -> pathlib.Path:
    folder.mkdir()
    for name, head in HEADS.items():
        (folder / name).write_text("\n".join([head, *rows[name], ""]))
    (folder / "graph.yaml").write_text(YAML)
    return folder


class TestSegments(unittest.TestCase):
    def grown(self, seed: int, both: bool) -> tuple[Store, Store]:
        """A store that was appended to, and the store of all tables."""
        r = np.random.default_rng(seed)
        folder = pathlib.Path(made.path(f"segments{seed}"))
        folder.mkdir()
        batches: list[dict[str, list[str]]] = []
        for k in range(3):
            batches.append(tables(r, k, sum(len(b["user.csv"]) for b in batches), sum(len(b["item.csv"]) for b in batches)))
        whole, grown = folder / "whole.store", folder / "grown.store"
        run("import", write(folder / "all", {name: sum((b[name] for b in batches), []) for name in HEADS}), out=whole, both=both)
        run("import", write(folder / "0", batches[0]), out=grown, both=both)
        store = Store(grown)
        for k in (1, 2):
            store.append(write(folder / str(k), batches[k]))
        return store, Store(whole)

    def same(self, got: Any, want: Any) -> None:
        if hasattr(want, "tolist") and not isinstance(want, np.ndarray):
            self.assertEqual([getattr(x, "tolist", lambda x=x: x)() for x in got.tolist()], [getattr(x, "tolist", lambda x=x: x)() for x in want.tolist()])
        elif want is None:
            self.assertIsNone(got)
        else:
            np.testing.assert_array_equal(got, want)
            self.assertEqual(got.dtype, want.dtype)

    def test_equals_a_store_of_all_tables(self) -> None:
        for seed in range(6):
            grown, whole = self.grown(seed, both=seed % 2 == 0)
            for t, n in whole.nodes.items():
                self.assertEqual(grown.nodes[t].count, n.count)
                self.assertEqual(list(grown.nodes[t].columns), list(n.columns))
                for c in n.columns:
                    self.same(grown.nodes[t][c], n[c])
                self.same(grown.nodes[t].ids, n.ids)
            for k in range(whole.nodes["user"].count):
                self.assertEqual(grown.nodes["user"].find(f"u{k}"), k)
            with self.assertRaises(KeyError):
                grown.nodes["user"].find("u99")
            for e, of in whole.edges.items():
                got = grown.edges[e]
                for name in ("indptr", "neighbours", "other_indptr", "other_neighbours", "other_edge_id"):
                    self.same(getattr(got, name), getattr(of, name))
                self.assertEqual(list(got.columns), list(of.columns))
                for c in of.columns:
                    self.same(got[c], of[c])
                np.testing.assert_array_equal(got.edge_index("input"), of.edge_index("input"))

    def test_equals_its_compaction(self) -> None:
        """Also with edges that were dropped: what the command writes in one piece."""
        for seed in range(6):
            grown, _ = self.grown(seed + 30, both=seed % 2 == 0)
            r = np.random.default_rng(seed)
            buys = grown.edges["buys"]
            gone = buys.edge_index()[:, r.random(buys.count) < 0.5]
            folder = pathlib.Path(grown.path).parent / "gone"
            folder.mkdir()
            (folder / "buys.csv").write_text("src,dst\n" + "".join(f"u{u},{i}\n" for u, i in gone.T))
            (folder / "graph.yaml").write_text("nodes: {user: {}, item: {}}\nedges: {'user:buys:item': {table: buys.csv}}\n")
            if gone.size:
                run("append", grown.path, drop=folder)
            before = Store(grown.path)
            got = {
                e: [x.indptr, x.neighbours, x.other_indptr, x.other_neighbours, x.other_edge_id, *(x[c] for c in x.columns)] for e, x in before.edges.items()
            }
            run("compact", grown.path)
            after = Store(grown.path)
            self.assertNotIn("segments", after.meta)
            for e, x in after.edges.items():
                for a, b in zip(got[e], [x.indptr, x.neighbours, x.other_indptr, x.other_neighbours, x.other_edge_id, *(x[c] for c in x.columns)], strict=True):
                    self.same(a, b)

    def test_new_categories(self) -> None:
        """Nodes and edges have the categories of all appends, before a compaction and after it."""
        folder = pathlib.Path(made.path("categories"))
        folder.mkdir()
        yaml = "nodes:\n  p: {table: p.csv, id: {column: id, dtype: string}, columns: {kind: category}}\nedges:\n  p:r:p: {table: e.csv, columns: {how: category}}\n"
        for k, (nodes, edges) in enumerate([("n0,x\nn1,m\n", "n0,n1,slow\n"), ("n2,a\nn3,\n", "n2,n0,air\nn0,n0,slow\n"), ("n4,m\n", "n4,n4,rail\n")]):
            (folder / str(k)).mkdir()
            for name, text in (("graph.yaml", yaml), ("p.csv", "id,kind\n" + nodes), ("e.csv", "src,dst,how\n" + edges)):
                (folder / str(k) / name).write_text(text)
        run("import", folder / "0", out=folder / "g.store")
        for k in (1, 2):
            Store(folder / "g.store").append(folder / str(k))
        for _ in range(2):
            store = Store(folder / "g.store")
            texts = []
            for c in (store.nodes["p"].columns.column("kind"), store.edges["r"].columns.column("how")):
                assert c.categories is not None
                texts.append([c.categories[int(code)] if code >= 0 else None for code in c.values])
            self.assertEqual(texts, [["x", "m", "a", None, "m"], ["air", "slow", "slow", "rail"]])
            self.assertEqual(store.nodes["p"]["kind"].tolist(), [1, 0, 2, -1, 0])
            run("compact", folder / "g.store")

    def test_first_nodes_of_a_type(self) -> None:
        """A type without a table that has no edges at the import has the ids of the appends that bring its first nodes, before a compaction and after it."""
        folder = pathlib.Path(made.path("first"))
        folder.mkdir()
        for k, edges in enumerate(("", "ada,pen\ncy,ink\n", "bo,pen\nada,cup\n")):
            (folder / str(k)).mkdir()
            (folder / str(k) / "graph.yaml").write_text("nodes: {user: {}, item: {}}\nedges: {'user:buys:item': {table: e.csv}}\n")
            (folder / str(k) / "e.csv").write_text("src,dst\n" + edges)
        run("import", folder / "0", out=folder / "g.store")
        self.assertEqual(Store(folder / "g.store").nodes["item"].count, 0)
        for k in (1, 2):
            Store(folder / "g.store").append(folder / str(k))
        for _ in range(2):
            store = Store(folder / "g.store")
            for t, ids in (("user", ["ada", "cy", "bo"]), ("item", ["pen", "ink", "cup"])):
                self.assertEqual([store.nodes[t].find(i) for i in ids], [0, 1, 2])
            self.assertEqual(store.edges["buys"].count, 4)
            run("compact", folder / "g.store")

    def test_changed_values(self) -> None:
        """Of few rows and of many, of strings, and of edges in several segments, before a compaction and after it."""
        n, folder, r = 60_000, pathlib.Path(made.path("changed")), np.random.default_rng(5)
        yaml = "nodes:\n  p: {{table: p.csv, id: {{column: id, dtype: integer}}, columns: {{{nodes}}}}}\n"
        links = "edges:\n  p:r:p: {table: e.csv, columns: {w: float64, note: string}}\n"
        want: dict[int, list[Any]] = {}
        edges: dict[tuple[int, int], list[Any]] = {}

        def put(name: str, nodes: dict[int, list[Any]], more: dict[tuple[int, int], list[Any]], columns: str = "v: float64, bio: string") -> pathlib.Path:
            at = folder / name
            at.mkdir(parents=True)
            (at / "graph.yaml").write_text(yaml.format(nodes=columns) + (links if more else ""))
            heads = ",".join(c.split(":")[0].strip() for c in columns.split(","))
            (at / "p.csv").write_text(f"id,{heads}\n" + "".join(f"{i},{','.join(map(str, x))}\n" for i, x in nodes.items()))
            (at / "e.csv").write_text("src,dst,w,note\n" + "".join(f"{a},{b},{w},{note}\n" for (a, b), (w, note) in more.items()))
            return at

        def links_of(k: int) -> dict[tuple[int, int], list[Any]]:
            return {(int(a), int(b)): [float(r.integers(99)), "x" * int(r.integers(4))] for a, b in r.integers(n, size=(k, 2)) if (int(a), int(b)) not in edges}

        def same(store: Store) -> None:
            self.assertEqual(store.nodes["p"]["v"].tolist(), [x[0] for x in want.values()])
            self.assertEqual(store.nodes["p"]["bio"].tolist(), [x[1] for x in want.values()])
            of = store.edges["r"]
            pairs = zip(of.edge_index()[0].tolist(), of.edge_index()[1].tolist(), strict=True)
            self.assertEqual([edges[p] for p in pairs], [list(x) for x in zip(of["w"].tolist(), of["note"].tolist(), strict=True)])

        want.update({i: [float(r.integers(1 << 20)), "b" * int(r.integers(5))] for i in range(n)})
        edges.update(links_of(500))
        run("import", put("first", want, edges), out=folder / "g.store", both=True)
        store = Store(folder / "g.store")
        new = {n: [1.0, "new"]}
        more = links_of(40)
        want.update(new)
        edges.update(more)
        store.append(put("more", new, more))
        for k, (rows, of) in enumerate([(3, 99), (15_000, n + 1), (4, 999)]):
            change = {int(i): [float(r.integers(1 << 20))] for i in r.permutation(of)[:rows]}
            some = {p: [-1.0 - k, "changed"] for p in edges if r.random() < 0.1}
            for i, (v,) in change.items():
                want[i][0] = v
            edges.update(some)
            store.append(change=put(f"change{k}", change, some, "v: float64"))
            same(store)
        bios = {5: ["a longer text"], n: [""]}
        for i, (bio,) in bios.items():
            want[i][1] = bio
        store.append(change=put("bios", bios, {}, "bio: string"))
        same(store)
        files = list(store._folder.sizes)
        self.assertIn("segments/2/nodes/p/v.npy.blocks", files)
        self.assertIn("segments/3/nodes/p/v.npy", files)
        run("compact", store.path)
        same(Store(store.path))

    def test_batches_are_those_of_all_tables(self) -> None:
        for seed in (1, 2):
            grown, whole = self.grown(seed + 10, both=True)
            options: dict[str, Any] = {
                "fanout": [2, 2],
                "batch_size": 2,
                "seeds": np.arange(whole.nodes["user"].count),
                "seed_type": "user",
                "direction": "out",
                "x": {"user": ["feat"]},
            }
            with NodeLoader(grown, **options) as a, NodeLoader(whole, **options) as b:
                for x, y in zip(a, b, strict=True):
                    for t in whole.node_types:
                        np.testing.assert_array_equal(x.n_id[t], y.n_id[t])
                    for e in whole.edge_types:
                        np.testing.assert_array_equal(x.edge_index[e], y.edge_index[e])
                        np.testing.assert_array_equal(x.e_id[e], y.e_id[e])

    def test_columns_of_one_piece(self) -> None:
        store, _ = self.grown(21, both=False)
        with self.assertRaisesRegex(GraphmillError, "found a store with segments.*graphmill compact"):
            store.add_column("user", "z", np.zeros(store.nodes["user"].count))

    def test_tables_that_do_not_fit_leave_the_store_as_it_was(self) -> None:
        store, _ = self.grown(20, both=False)
        before, count = store._folder.fingerprint, store.num_edges
        bad = write(pathlib.Path(made.path("segments-bad")), {"user.csv": ["u0,1,,[1 2]"], "item.csv": [], "buys.csv": [], "knows.csv": []})
        with self.assertRaisesRegex(GraphmillError, 'user.csv:2.*found the id "u0".*expected new nodes'):
            store.append(bad)
        self.assertEqual((Store(store.path)._folder.fingerprint, store.num_edges), (before, count))


if __name__ == "__main__":
    unittest.main()
