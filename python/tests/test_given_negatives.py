"""NodeLoader with the negatives of each link given: every batch has exactly those, in all forms of batches and by both executors.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import unittest
from typing import Any

import made
import numpy as np
import random_graphs
from graphmill import Collection, GraphmillError, NodeLoader, from_tables
from test_links import PYG, links, timed
from test_negatives import by_type, cases, options


def lists_of(rng: np.random.Generator, form: int, counts: tuple[int, int], pairs: Any) -> tuple[Any, list[Any]]:
    """What is given, in one of six forms, and the negatives [n, 2] of each link, of which one at least has some."""
    n = pairs.shape[1]
    both, uneven = form % 2 == 1, form >= 2
    lengths = rng.integers(0, 4, n) if uneven else np.full(n, 3)
    lengths[rng.integers(n)] = 3
    rows = [np.stack([rng.integers(0, counts[0], k) if both else np.full(k, pairs[0, i]), rng.integers(0, counts[1], k)], -1) for i, k in enumerate(lengths)]
    given: Any = [row if both else row[:, 1] for row in rows]
    if not uneven:
        given = np.stack(given)
    elif form >= 4:
        given = np.concatenate(given), np.concatenate([[0], np.cumsum(lengths)])
    return given, rows


class TestGivenNegatives(unittest.TestCase):
    def check(self, b: Any, n_id: Any, types: Any, pairs: Any, rows: Any) -> None:
        got = np.stack([n_id[types[0]][b.negatives[..., 0]], n_id[types[1]][b.negatives[..., 1]]], -1)
        for k, i in enumerate(b.input_id):
            self.assertEqual(n_id[types[0]][b.seed_local[k, 0]], pairs[0, i])
            own = got[k] if b.negative_ptr is None else got[b.negative_ptr[k] : b.negative_ptr[k + 1]]
            self.assertEqual(own.tolist(), rows[i].tolist())

    def test_random_graphs(self) -> None:
        """Random typed graphs, orders, batch sizes and lists, some empty."""
        for number, c, e, pairs in cases(random_graphs.COUNT // 2):
            rng, t = np.random.default_rng(number), (e[0], e[2])
            given, rows = lists_of(rng, number % 6, (c.nodes[t[0]], c.nodes[t[1]]), pairs)
            more: dict[str, Any] = dict(
                batch_size=int(rng.integers(1, 5)),
                shuffle=bool(rng.integers(2)),
                scope=("batch", "seed", "epoch")[number % 3],
                executor=("memory", "stream")[number % 2],
                negatives_from=given,
                exclude="self" if number % 2 == 0 and number % 5 == 0 else None,
            )
            seen = 0
            with self.subTest(number=number), NodeLoader(c.store, **options(c, e, pairs, **more)) as loader:
                for b in loader:
                    n_id, first = (
                        by_type(c, b.n_id, c.nodes),
                        by_type(c, b.num_sampled_nodes, c.nodes) if isinstance(b.num_sampled_nodes, dict) else {t[0]: b.num_sampled_nodes},
                    )
                    self.check(b, n_id, t, pairs, rows)
                    for end in (0, 1):
                        self.assertTrue((b.negatives[..., end] < first[t[end]][0]).all() or more["scope"] == "seed")
                    self.assertEqual(b.negative_ptr is None, len({len(r) for r in rows}) == 1)
                    seen += len(b.input_id)
                self.assertEqual(seen, pairs.shape[1])

    def test_a_mask_and_the_first_seeds(self) -> None:
        pairs = links(60)
        given = np.arange(180).reshape(60, 3)
        with NodeLoader(made.RMAT, fanout=[2], seeds=pairs, negatives_from=given, limit_seeds=20, batch_size=7) as loader:
            for b in loader:
                self.check(b, {"_N": b.n_id}, ("_N", "_N"), pairs, [np.stack([np.full(3, pairs[0, i]), given[i]], -1) for i in range(60)])

    def test_a_column_of_original_ids(self) -> None:
        """A list column of the links, of which the ids are those of the tables."""
        users, items = {"id": ["ada", "bob", "cy"]}, {"id": [10, 30, 20, 40]}
        buys: dict[str, Any] = {"src": ["cy", "ada", "bob"], "dst": [20, 30, 10], "not_bought": [[10], [40, 20, 10], []]}
        with tempfile.TemporaryDirectory() as folder:
            g = from_tables({"user": users, "item": items}, {("user", "buys", "item"): buys}, os.path.join(folder, "g.store"))
            with NodeLoader(g, fanout=[2], seeds="user:buys:item", negatives_from="not_bought", edge_features="none") as loader:
                (b,) = loader
                ids: Any = {t: g.nodes[t].ids for t in ("user", "item")}
                user, item = ids["user"].tolist(), ids["item"].tolist()
                got = {}
                for k in range(3):
                    source, target = b.seed_local[k]
                    key = user[b.n_id["user"][source]], item[b.n_id["item"][target]]
                    got[key] = [item[v] for v in b.n_id["item"][b.negatives[b.negative_ptr[k] : b.negative_ptr[k + 1], 1]]]
            self.assertEqual(got, {("cy", 20): [10], ("ada", 30): [40, 20, 10], ("bob", 10): []})
            buys["not_bought"][1][1] = 50
            g = from_tables({"user": users, "item": items}, {("user", "buys", "item"): buys}, os.path.join(folder, "bad.store"))
            with self.assertRaisesRegex(GraphmillError, r'column "not_bought" of the links: row 1: found id "50", expected the id of a node of type item'):
                NodeLoader(g, fanout=[2], seeds="user:buys:item", negatives_from="not_bought")

    def test_times(self) -> None:
        """Negatives have the time of their link."""
        given = np.arange(90)[::-1].reshape(90, 1) % 60
        more: Any = dict(fanout=[-1], scope="seed", before="time", seeds=made.path("links.csv"), seed_type=("user", "user"))
        with NodeLoader(timed(), negatives_from=given, **more) as loader:
            (b,) = loader
            self.assertEqual(b.n_id[b.negatives[:, 0, 1]].tolist(), given[:, 0].tolist())
            self.assertEqual(b.batch[b.negatives[:, 0, 1]].tolist(), list(range(90)))

    def test_errors(self) -> None:
        pairs, good = links(30), np.zeros((30, 2), np.int64)
        outside = good.copy()
        outside[4, 1] = 4096
        for given, error, words in (
            (good[:3], ValueError, "found negatives_from= with the negatives of 3 links, expected 30"),
            (good.astype(float), ValueError, "found negatives_from= of dtype float64, expected integers"),
            (3, TypeError, "negatives= is the number of negatives to draw"),
            (True, TypeError, "found negatives_from=True"),
            ([1, 2], ValueError, "expected a list per link"),
            (np.zeros((30, 0), int), ValueError, "without a negative"),
            ([[]] * 30, ValueError, "without a negative"),
            (np.zeros((30, 2, 3), int), ValueError, r"of shape \(30, 2, 3\)"),
            ((good.reshape(-1), [0, 5]), ValueError, "expected offsets"),
            ((good.reshape(-1), [0, *range(30, 0, -1)]), ValueError, "expected offsets"),
            (outside, ValueError, r"negatives_from\[4, 1\]: found node 4096 of type _N, expected 0 to 4095"),
            ("none", GraphmillError, 'found no column "none" of the links'),
            ("none.npy", GraphmillError, "none.npy: no such file"),
        ):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                NodeLoader(made.RMAT, fanout=[2], seeds=pairs, negatives_from=given)
        with self.assertRaisesRegex(GraphmillError, "found negatives 2 and negatives_from|found negatives=2"):
            NodeLoader(made.RMAT, fanout=[2], seeds=pairs, negatives_from=good, negatives=2)
        with self.assertRaisesRegex(ValueError, "found negatives_from= with seeds that are nodes"):
            NodeLoader(made.RMAT, fanout=[2], seeds=[1, 2], negatives_from=good)

    @PYG
    def test_pyg(self) -> None:
        pairs = links(40)
        for form in range(6):
            rng = np.random.default_rng(form)
            given, rows = lists_of(rng, form, (4096, 4096), pairs)
            for scope in ("batch", "seed"):
                more: Any = dict(fanout=[2], seeds=pairs, negatives_from=given, batch_size=16, scope=scope)
                with self.subTest(form=form, scope=scope), NodeLoader(made.RMAT, as_="pyg", **more) as loader:
                    for b in loader:
                        self.assertTrue(b.validate())
                        of, n = b.input_id.tolist(), len(b.input_id)
                        if form % 2:  # both ends: labels, as of binary negatives
                            self.assertEqual(b.edge_label.tolist(), [1] * n + [0] * (b.edge_label_index.shape[1] - n))
                            got = b.n_id[b.edge_label_index[:, n:]].T.tolist()
                            want = [rows[i][j].tolist() for j in range(3) for i in of if j < len(rows[i])]
                            self.assertEqual(got, want)
                            continue
                        self.assertEqual(b.n_id[b.dst_pos_index].tolist(), pairs[1, of].tolist())
                        got = b.n_id[b.dst_neg_index]
                        if form < 2:
                            self.assertEqual(got.tolist(), [rows[i][:, 1].tolist() for i in of])
                        else:
                            ptr = b.dst_neg_ptr.tolist()
                            self.assertEqual([got[ptr[k] : ptr[k + 1]].tolist() for k in range(n)], [rows[i][:, 1].tolist() for i in of])


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGLGivenNegatives(unittest.TestCase):
    def test_neg_graph(self) -> None:
        import dgl

        pairs = links(40)
        for form in range(6):
            given, rows = lists_of(np.random.default_rng(form), form, (4096, 4096), pairs)
            with self.subTest(form=form), NodeLoader(made.RMAT, as_="dgl", fanout=[2], seeds=pairs, negatives_from=given, batch_size=16) as loader:
                for _, pair, negative, _ in loader:
                    of = pair.edata["input_id"].tolist()
                    want = [(i, *row) for i in of for row in rows[i].tolist()]
                    ends = [negative.ndata[dgl.NID][x].tolist() for x in negative.edges()]
                    self.assertEqual(list(zip(negative.edata["input_id"].tolist(), *ends)), want)


@unittest.skipUnless(importlib.util.find_spec("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNNGivenNegatives(unittest.TestCase):
    def test_readout(self) -> None:
        pairs = links(40)
        for form in range(6):
            given, rows = lists_of(np.random.default_rng(form), form, (4096, 4096), pairs)
            for scope in ("batch", "seed"):
                more: Any = dict(fanout=[2], seeds=pairs, negatives_from=given, batch_size=16, scope=scope)
                with self.subTest(form=form, scope=scope), NodeLoader(made.RMAT, as_="tfgnn", **more) as loader:
                    for g in loader:
                        readout, n_id = g.node_sets["_readout"], g.node_sets[next(t for t in g.node_sets if t != "_readout")]["n_id"].numpy()
                        got = np.stack([n_id[g.edge_sets[f"_readout/{end}"].adjacency.source.numpy()] for end in ("source", "target")], -1).tolist()
                        of = list(dict.fromkeys(readout["input_id"].numpy().tolist()))
                        want = [row for i in of for row in (pairs[:, i].tolist(), *rows[i].tolist())]
                        self.assertEqual(got, want)
                        self.assertEqual(readout["label"].numpy().tolist(), [x for i in of for x in (1, *[0] * len(rows[i]))])
                        self.assertEqual(int(readout.total_size), len(want))
                        if scope == "seed":
                            self.assertEqual(readout.sizes.numpy().tolist(), [1 + len(rows[i]) for i in of])


@unittest.skipUnless(importlib.util.find_spec("jraph"), "jraph is not installed")
class TestJraphGivenNegatives(unittest.TestCase):
    def test_arrays(self) -> None:
        pairs = links(40)
        given, rows = lists_of(np.random.default_rng(0), 0, (4096, 4096), pairs)
        with NodeLoader(made.RMAT, as_="jraph", fanout=[2], seeds=pairs, negatives_from=given, batch_size=40) as loader:
            (g,) = loader
            n_id = np.asarray(g.nodes["n_id"])
            self.assertEqual(n_id[np.asarray(g.globals["negatives"])[0]].tolist(), [r.tolist() for r in rows])
        given, _ = lists_of(np.random.default_rng(0), 2, (4096, 4096), pairs)
        with self.assertRaisesRegex(ValueError, "found links with several numbers of negatives and as_='jraph'"):
            NodeLoader(made.RMAT, as_="jraph", fanout=[2], seeds=pairs, negatives_from=given)


class TestFiles(unittest.TestCase):
    """The command takes the same files."""

    def test_collection(self) -> None:
        pairs, rng = links(30), np.random.default_rng(3)
        given = rng.integers(0, 4096, (30, 2, 2))
        with tempfile.TemporaryDirectory() as folder:
            seeds, lists, out = (os.path.join(folder, name) for name in ("seeds.npy", "lists.npy", "out"))
            np.save(seeds, pairs)
            np.save(lists, given)
            made.graphmill(
                "sample", made.RMAT, "--seeds", seeds, "--seed-type", "_N:_E:_N", "--fanout", 2, "--negatives-from", lists, "--batch-size", 8, "--out", out
            )
            at = 0
            for graph in Collection(out):
                local, n_id = np.asarray(graph.negative_local), np.asarray(next(iter(graph.nodes.values())).node_id)
                self.assertEqual(n_id[local].tolist(), given[at : at + len(local)].tolist())
                at += len(local)
            self.assertEqual(at, 30)


if __name__ == "__main__":
    unittest.main()
