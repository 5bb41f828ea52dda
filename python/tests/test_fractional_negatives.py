"""NodeLoader with a number of negatives per link that has a fraction: the links have several numbers of them, in all forms of batches and by both executors.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import importlib.util
import unittest
from types import SimpleNamespace
from typing import Any

import made
import numpy as np
import random_graphs
from graphmill import GraphmillError, NodeLoader
from test_links import PYG, links
from test_negatives import by_type, cases, options


def lists(b: Any, n_id: Any) -> list[Any]:
    """The original ids of the negatives of each link of a batch."""
    pairs = [[n_id[0][s], n_id[1][d]] for s, d in b.negatives.reshape(-1, 2).tolist()]
    ptr = np.arange(len(b.input_id) + 1) * b.negatives.shape[1] if b.negative_ptr is None else b.negative_ptr
    return [pairs[i:j] for i, j in zip(ptr, ptr[1:])]


class TestFractionalNegatives(unittest.TestCase):
    def test_random_graphs(self) -> None:
        """Both executors make the same batches, and a link has the first negatives of those that it has of the next whole number."""
        for number, c, e, pairs in cases(random_graphs.COUNT // 3):
            how = ("binary", "triplet", "in-batch")[number % 3]
            scope = ("batch", "seed", "epoch")[number % 2 if how != "in-batch" else 0]
            more: Any = dict(negatives_how=how, scope=scope, shuffle=bool(number % 2), seed=number)
            got: dict[Any, list[Any]] = {}
            for each, executor in ((1.5, "memory"), (1.5, "stream"), (0.25, "memory"), (2, "memory")):
                with self.subTest(number=number), NodeLoader(c.store, **options(c, e, pairs, **more, negatives=each, executor=executor)) as loader:
                    (b,) = loader
                    ids = by_type(c, b.n_id, c.nodes)
                    got[each, executor] = lists(b, (ids[e[0]], ids[e[2]]))
                    self.assertEqual(b.negative_ptr is None, each == 2)
            self.assertEqual(got[1.5, "memory"], got[1.5, "stream"])
            for each, counts in ((1.5, (1, 2)), (0.25, (0, 1))):
                for some, every in zip(got[each, "memory"], got[2, "memory"]):
                    self.assertIn(len(some), counts)
                    self.assertEqual(some, every[: len(some)])

    def test_share(self) -> None:
        """The share over many links is within five standard deviations of the binomial law, and other links have more in the next epoch."""
        pairs = np.unique(links(4000), axis=1)
        n = pairs.shape[1]
        for each in (0.1, 0.5, 1.5, 2.75):
            whole = int(each)
            with NodeLoader(made.RMAT, fanout=[1], seeds=pairs, negatives=each, scope="seed", batch_size=512) as loader:
                first, second = (np.concatenate([np.diff(b.negative_ptr) for b in loader]) for _ in range(2))
            self.assertEqual(len(first), n)
            self.assertLessEqual(set(first.tolist()), {whole, whole + 1})
            self.assertLess(abs(first.mean() - each), 5 * np.sqrt((each - whole) * (1 - each + whole) / n))
            self.assertFalse((first == second).all())

    def test_words(self) -> None:
        """PyG's words say the same."""
        pairs = links(50)
        amount = SimpleNamespace(mode="triplet", amount=1.5, src_weight=None, dst_weight=None)
        for words, own in (
            (dict(neg_sampling_ratio=0.5), dict(negatives=0.5, negatives_how="binary")),
            (dict(neg_sampling=amount), dict(negatives=1.5, negatives_how="triplet")),
            (dict(neg_sampling_ratio=2.0), dict(negatives=2, negatives_how="binary")),
            (dict(negatives=2.0), dict(negatives=2)),
        ):
            both: list[Any] = []
            for given in (words, own):
                with NodeLoader(made.RMAT, fanout=[2], seeds=pairs, **given) as loader:
                    (b,) = loader
                both.append((b.n_id.tolist(), b.negatives.tolist(), None if b.negative_ptr is None else b.negative_ptr.tolist()))
            self.assertEqual(*both)

    def test_errors(self) -> None:
        for given, words in (
            (float("nan"), "found negatives=nan, expected a number of negatives per link"),
            (float("inf"), "found negatives=inf, expected a number of negatives per link"),
            (-0.5, "found negatives=-0.5, expected a number of negatives per link"),
            (65536.5, r"found negatives 65536.5, expected a number above 0 and at most 65536 per link"),
            ("half", "found negatives='half', expected a number of negatives per link"),
            (True, "found negatives=True, expected a number of negatives per link"),
            (np.float32(-0.5), r"found negatives=.*-0.5.*, expected a number of negatives per link"),
        ):
            with self.subTest(given), self.assertRaisesRegex((ValueError, TypeError, GraphmillError), words):
                NodeLoader(made.RMAT, fanout=[2], seeds=links(30), negatives=given)  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "found neg_sampling= with 0.0 negatives per link, expected a number above 0"):
            NodeLoader(made.RMAT, fanout=[2], seeds=links(30), neg_sampling={"mode": "binary", "amount": 0.0})

    @PYG
    def test_pyg(self) -> None:
        from torch_geometric.sampler import NegativeSampling

        pairs = links(40)
        for how in ("binary", "triplet"):
            with (
                NodeLoader(made.RMAT, fanout=[2], seeds=pairs, negatives=1.5, negatives_how=how, batch_size=16) as loader,
                NodeLoader(made.RMAT, as_="pyg", fanout=[2], seeds=pairs, neg_sampling=NegativeSampling(how, 2), batch_size=16) as whole,
                NodeLoader(made.RMAT, as_="pyg", fanout=[2], seeds=pairs, negatives=1.5, negatives_how=how, batch_size=16) as pyg,
            ):
                for a, b, w in zip(loader, pyg, whole):
                    self.assertTrue(b.validate())
                    want, n = lists(a, (a.n_id, a.n_id)), len(a.input_id)
                    if how == "binary":
                        self.assertEqual(b.edge_label.tolist(), [1] * n + [0] * len(a.negatives))
                        self.assertEqual(b.n_id[b.edge_label_index[:, n:]].T.tolist(), [x[j] for j in range(2) for x in want if j < len(x)])
                        self.assertEqual(w.edge_label_index.shape[1], 3 * n)
                        continue
                    got, ptr = b.n_id[b.dst_neg_index].tolist(), b.dst_neg_ptr.tolist()
                    self.assertEqual([got[i:j] for i, j in zip(ptr, ptr[1:])], [[d for _, d in x] for x in want])


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGLFractions(unittest.TestCase):
    def test_neg_graph(self) -> None:
        import dgl

        more: Any = dict(fanout=[2], seeds=links(40), negatives=0.5, expand="all", batch_size=16)
        with NodeLoader(made.RMAT, **more) as loader, NodeLoader(made.RMAT, as_="dgl", **more) as blocks:
            for b, (_, pair, negative, _) in zip(loader, blocks):
                ends = [negative.ndata[dgl.NID][x].tolist() for x in negative.edges()]
                want = [(i, *x) for i, own in zip(b.input_id.tolist(), lists(b, (b.n_id, b.n_id))) for x in own]
                self.assertEqual(list(zip(negative.edata["input_id"].tolist(), *ends)), want)
                self.assertEqual(pair.num_edges(), len(b.input_id))


@unittest.skipUnless(importlib.util.find_spec("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNNFractions(unittest.TestCase):
    def test_readout(self) -> None:
        more: Any = dict(fanout=[2], seeds=links(40), negatives=0.5, batch_size=16)
        with NodeLoader(made.RMAT, **more) as loader, NodeLoader(made.RMAT, as_="tfgnn", **more) as tensors:
            for b, g in zip(loader, tensors):
                want = [x for own in np.diff(b.negative_ptr) for x in (1, *[0] * own)]
                self.assertEqual(g.node_sets["_readout"]["label"].numpy().tolist(), want)


@unittest.skipUnless(importlib.util.find_spec("jraph"), "jraph is not installed")
class TestJraphFractions(unittest.TestCase):
    def test_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "found links with several numbers of negatives and as_='jraph', expected one number"):
            NodeLoader(made.RMAT, as_="jraph", fanout=[2], seeds=links(40), negatives=0.5)


if __name__ == "__main__":
    unittest.main()
