"""Compares the splits of an import with scikit-learn's and PyG's, on random graphs, and checks how Python gives them."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import unittest
from typing import Any

import graphmill
import numpy as np
import numpy.typing as npt

SKLEARN = unittest.skipUnless(importlib.util.find_spec("sklearn"), "scikit-learn is not installed")


def _parts(y: npt.NDArray[Any], how: Any, groups: npt.NDArray[Any] | None = None, **options: Any) -> dict[str, npt.NDArray[Any]]:
    """The columns of the splits of nodes with a label."""
    nodes = {"user": {"label": y, **({} if groups is None else {"group": groups})}}
    s = graphmill.from_tables(nodes, {("user", "knows", "user"): {"src": np.zeros(1, int), "dst": np.zeros(1, int)}}, split={"user": how}, **options)
    return {name: np.asarray(s.nodes["user"][name]) for name in s.nodes["user"].columns if name.startswith("split")}


def _counts(y: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.bincount(y[rows], minlength=int(y.max()) + 1)


@SKLEARN
class TestScikitLearn(unittest.TestCase):
    def test_stratified(self) -> None:
        """The counts of each class are those of train_test_split, or differ by one where several are as near to the shares; sums are equal."""
        from sklearn.model_selection import train_test_split

        for seed in range(6):
            rng = np.random.default_rng(seed)
            y = np.repeat(np.arange(4), rng.integers(5, 90, 4))
            rng.shuffle(y)
            got = _parts(y, {"ratios": [0.7, 0, 0.3], "stratify": "label"}, split_seed=seed + 1)["split"]
            test = len(y) - int(np.floor(0.7 * len(y) + 0.5))
            train_rows, test_rows = train_test_split(np.arange(len(y)), test_size=test, stratify=y, random_state=seed)
            with self.subTest(seed=seed):
                self.assertEqual((got == 2).sum(), len(test_rows))
                for part, rows in ((0, train_rows), (2, test_rows)):
                    self.assertLessEqual(np.abs(_counts(y, got == part) - _counts(y, rows)).max(), 1)
                mine, theirs = (float(((_counts(y, rows) - 0.3 * np.bincount(y)) ** 2).sum()) for rows in (got == 2, test_rows))
                self.assertLessEqual(mine, theirs + 1e-9)

    def test_folds(self) -> None:
        """The folds have the sizes of StratifiedKFold and GroupKFold."""
        from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

        for seed in range(3):
            rng = np.random.default_rng(seed)
            y = np.repeat(np.arange(3), rng.integers(5, 60, 3))
            groups = rng.integers(0, 15, len(y))
            for how, peer in (({}, KFold(5)), ({"stratify": "label"}, StratifiedKFold(5)), ({"group": "group"}, GroupKFold(5))):
                with self.subTest(seed=seed, how=how):
                    got = _parts(y, {"folds": 5, **how}, groups)
                    self.assertEqual(list(got), [f"split_{i}" for i in range(5)])
                    tests = [np.flatnonzero(s == 2) for s in got.values()]
                    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(y)))
                    theirs = [test for _, test in peer.split(y, y, *([groups] if "group" in how else []))]
                    self.assertEqual(sorted(map(len, tests)), sorted(map(len, theirs)))
                    if "stratify" in how:
                        for c in range(3):
                            self.assertEqual(sorted((y[t] == c).sum() for t in tests), sorted((y[t] == c).sum() for t in theirs))
                    if "group" in how:
                        self.assertTrue(all(not set(groups[t]) & set(np.delete(groups, t)) for t in tests))

    def test_groups(self) -> None:
        """Groups stay together as with GroupShuffleSplit, and the rows are nearer to the ratios."""
        from sklearn.model_selection import GroupShuffleSplit

        mine = theirs = 0.0
        for seed in range(5):
            rng = np.random.default_rng(seed)
            groups = rng.zipf(1.7, 400).clip(max=60)
            got = _parts(groups, {"ratios": [0.8, 0, 0.2], "group": "label"}, split_seed=seed + 1)["split"]
            self.assertFalse(set(groups[got == 0]) & set(groups[got == 2]))
            mine += abs(float((got == 2).mean()) - 0.2)
            theirs += abs(len(next(GroupShuffleSplit(1, test_size=0.2, random_state=seed).split(groups, groups=groups))[1]) / 400 - 0.2)
        self.assertLess(mine, theirs)


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestPyG(unittest.TestCase):
    def _data(self, seed: int) -> Any:
        import torch
        from torch_geometric.data import Data

        g = torch.Generator().manual_seed(seed)
        n = 300
        return Data(x=torch.rand(n, 2, generator=g), y=torch.randint(0, 4, (n,), generator=g), edge_index=torch.randint(0, n, (2, 900), generator=g))

    def test_per_class(self) -> None:
        """The sizes are those of RandomNodeSplit, and its masks become the split."""
        from torch_geometric.transforms import RandomNodeSplit

        for rest in (False, True):
            data = RandomNodeSplit("test_rest" if rest else "random", num_train_per_class=20, num_val=50, num_test=100)(self._data(1))
            given = {"per_class": 20, "stratify": "y", "valid": 50, **({} if rest else {"test": 100})}
            s = graphmill.from_pyg(data, split={"_N": given})
            split, y = np.asarray(s.nodes["_N"]["split"]), data.y.numpy()
            for part, mask in ((0, data.train_mask), (1, data.val_mask), (2, data.test_mask)):
                self.assertEqual((split == part).sum(), int(mask.sum()))
            np.testing.assert_array_equal(np.bincount(y[split == 0]), [20] * 4)
            masks = graphmill.from_pyg(data, split={"_N": {"masks": {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}}})
            split = np.asarray(masks.nodes["_N"]["split"])
            for part, mask in ((0, data.train_mask), (1, data.val_mask), (2, data.test_mask)):
                np.testing.assert_array_equal(split == part, mask.numpy())

    def test_many_masks(self) -> None:
        from torch_geometric.transforms import RandomNodeSplit

        data = RandomNodeSplit("random", num_splits=3, num_train_per_class=20, num_val=50, num_test=100)(self._data(2))
        s = graphmill.from_pyg(data, split={"_N": {"masks": {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}}})
        for i in range(3):
            split = np.asarray(s.nodes["_N"][f"split_{i}"])
            for part, mask in ((0, data.train_mask), (1, data.val_mask), (2, data.test_mask)):
                np.testing.assert_array_equal(split == part, mask[:, i].numpy())

    def test_inductive(self) -> None:
        """Batches of the messages of train are the graph of PyG's subgraph of the training nodes."""
        data = self._data(3)
        edge = ("_N", "_E", "_N")
        s = graphmill.from_pyg(data, split={"_N": [0.6, 0.2, 0.2], edge: {"like": "nodes"}}, both=True)
        train = np.asarray(s.nodes["_N"]["split"]) == 0
        import torch

        part = data.subgraph(torch.from_numpy(train))
        kept = np.flatnonzero(train)[part.edge_index.numpy()]
        ends = np.asarray(s.edges[edge].edge_index())[:, np.asarray(s.edges[edge]["split"]) == 0]
        self.assertEqual(sorted(map(tuple, kept.T.tolist())), sorted(map(tuple, ends.T.tolist())))
        with graphmill.NodeLoader(s, [5, 5], 64, "_N:split=train", messages="split=train") as loader:
            for batch in loader:
                self.assertTrue(train[np.asarray(batch.n_id)].all())


class TestForms(unittest.TestCase):
    def test_files(self) -> None:
        """Arrays of ids, files of others, and pairs of ids of edges."""
        ids = np.array(["ann", "bob", "cid", "dee"])
        nodes = {"user": {"id": ids}}
        edges = {("user", "knows", "user"): {"src": ids, "dst": ids[[1, 2, 3, 0]]}}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test.csv")
            with open(path, "w", encoding="utf-8") as f:
                f.write("name,why\ndee,x\n")
            of = {"files": {"train": ["bob", "ann"], "test": path}}
            with self.assertRaisesRegex(graphmill.GraphmillError, "found 2 columns, expected the ids of nodes"):
                graphmill.from_tables(nodes, edges, split={"user": of})
            s = graphmill.from_tables(
                nodes,
                edges,
                split={
                    "user": {"files": {"train": ["bob", "ann"], "valid": np.array(["cid"]), "test": ["dee"]}},
                    ("user", "knows", "user"): {"files": {"train": [("ann", "bob"), ("bob", "cid")], "test": [("dee", "ann")]}},
                },
            )
        np.testing.assert_array_equal(s.nodes["user"]["split"], [0, 0, 1, 2])
        e = s.edges[("user", "knows", "user")]
        src = ids[np.asarray(e.edge_index())[0]]
        self.assertEqual(dict(zip(src.tolist(), np.asarray(e["split"]).tolist())), {"ann": 0, "bob": 0, "cid": -1, "dee": 2})

    def test_pairs(self) -> None:
        """Pairs of integers, also just two of them."""
        edges = {("user", "knows", "user"): {"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0]}}
        e = ("user", "knows", "user")
        s = graphmill.from_tables({"user": 4}, edges, split={e: {"files": {"train": np.array([[1, 2], [3, 0]]), "test": [[0, 1]]}}})
        src = np.asarray(s.edges[e].edge_index())[0]
        self.assertEqual(dict(zip(src.tolist(), np.asarray(s.edges[e]["split"]).tolist())), {0: 2, 1: 0, 2: -1, 3: 0})

    def test_fit(self) -> None:
        """Features are fitted on the training rows of one of several folds, and on none by default."""
        y = np.arange(20, dtype=np.float32)
        nodes = {"user": {"v": y}}
        edges = {("user", "knows", "user"): {"src": np.zeros(1, int), "dst": np.zeros(1, int)}}
        of: dict[str, Any] = {"split": {"user": {"folds": 4, "valid_folds": 1}}, "features": {"user": {"x": [{"from": "v", "scale": "standard"}]}}}
        with self.assertRaisesRegex(graphmill.GraphmillError, "several splits and no fit"):
            graphmill.from_tables(nodes, edges, **of)
        s = graphmill.from_tables(nodes, edges, fit={"split": "train", "by": "split_2"}, **of)
        train = np.asarray(s.nodes["user"]["split_2"]) == 0
        self.assertEqual(train.sum(), 10)
        np.testing.assert_allclose(np.asarray(s.nodes["user"]["x"]).ravel(), (y - y[train].mean()) / y[train].std(), rtol=1e-5, atol=1e-6)

    def test_roles(self) -> None:
        """Supervision is a share of the edges of train, each with its reverse, and no batch of it has it among its messages."""
        for number in range(12):
            rng = np.random.default_rng(number)
            n, share = int(rng.integers(30, 300)), float(rng.choice([0.1, 0.3, 0.5]))
            src = rng.integers(0, 25, n)
            ends = {"src": src, "dst": (src + rng.integers(1, 25, n)) % 25}  # no self-loops, which have no reverses
            how: dict[str, Any] = {"ratios": [0.8, 0.1, 0.1], "disjoint": share, **({"group": "source"} if number % 3 == 0 else {})}
            both = number % 2 == 1 and "group" not in how  # in a store of edges and their reverses
            of: dict[Any, Any] = {("user", "knows", "user"): ends}
            more: dict[str, Any] = {"symmetrise": True} if both else {}
            s = graphmill.from_tables({"user": 25}, of, split={("user", "knows", "user"): how}, split_seed=number + 1, **more)
            e = s.edges[("user", "knows", "user")]
            split, role, (src, dst) = np.asarray(e["split"]), np.asarray(e["role"]), np.asarray(e.edge_index())
            with self.subTest(number=number):
                self.assertTrue(((role >= 0) == (split == 0)).all())
                per = 2 if both else 1
                self.assertEqual((role == 1).sum(), per * int((split == 0).sum() // per * share))
                if both:  # as many edges each way, of each role
                    for code in (0, 1):
                        pairs = np.sort(np.stack([src, dst])[:, role == code], axis=0)
                        forward = np.sort(pairs[0] * 25 + pairs[1])
                        self.assertTrue((forward[::2] == forward[1::2]).all())
                with graphmill.NodeLoader(s, fanout=[4, 4], seeds="user:knows:user:role=supervision", messages="role=message", batch_size=16) as loader:
                    seen = 0
                    for b in loader:
                        self.assertTrue((role[e.find(b.e_id)] == 0).all())
                        seen += len(b.input_id)
                    self.assertEqual(seen, (role == 1).sum())
        for how, words in (
            ({"ratios": [0.8, 0.1, 0.1], "disjoint": 1.5}, "a number between 0 and 1|a share of the edges of train"),
            ({"folds": 3, "disjoint": 0.5}, "found disjoint with like, folds"),
            ({"ratios": [0.8, 0.1, 0.1], "disjoint": 0.0001}, "leaves no supervision or no message"),
        ):
            with self.subTest(words), self.assertRaisesRegex(graphmill.GraphmillError, words):
                graphmill.from_tables({"user": 25}, of, split={("user", "knows", "user"): how})
        with self.assertRaisesRegex(graphmill.GraphmillError, "found disjoint for nodes"):
            graphmill.from_tables({"user": 25}, of, split={"user": {"ratios": [0.8, 0.1, 0.1], "disjoint": 0.3}})

    def test_wrong(self) -> None:
        for split, error in (
            ({"user": {"ratio": [1, 0, 0]}}, 'found the key "ratio"'),
            ({"user": {"per_class": 3}}, "found per_class without a label"),
            ({"user": {"files": {"train": np.ones(3), "test": [1]}}}, "expected integers or texts"),
            ({("user", "knows"): [1, 0, 0]}, "expected three names"),
            ({"user": object()}, "found"),
        ):
            with self.subTest(split=split), self.assertRaisesRegex((graphmill.GraphmillError, TypeError, ValueError), error):
                graphmill.from_tables({"user": 4}, {("user", "knows", "user"): {"src": [0], "dst": [1]}}, split=split)


if __name__ == "__main__":
    unittest.main()
