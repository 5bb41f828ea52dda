"""Messages: loaders and inference see the edges with a value of a column alone, as a store that has only these edges.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import unittest
import warnings
from collections.abc import Callable
from typing import Any

import graphmill
import made
import numpy as np
from graphmill import GraphmillError, NodeLoader, Store

BUYS, BACK, KNOWS = ("user", "buys", "item"), ("item", "rev_buys", "user"), ("user", "knows", "user")
SPLITS = np.array(["train", "valid", "test"])


class Sets:
    """A graph whose edges are divided, and the graph of the edges for training alone."""

    def __init__(self, number: int) -> None:
        r = np.random.default_rng(number)
        self.users, self.items = int(r.integers(1, 60)), int(r.integers(1, 40))
        n = int(r.integers(0, 400))
        buys = np.stack([r.integers(0, self.users, n), r.integers(0, self.items, n)])
        part = r.choice(3, n, p=(0.5, 0.25, 0.25)).astype(np.int8)
        order = np.lexsort((np.arange(n), buys[1]))  # as the store numbers edges
        back = np.lexsort((np.arange(n), buys[0]))
        m = int(r.integers(0, 200))
        knows = r.integers(0, self.users, (2, m))
        self.nodes = {"user": {"x": r.random((self.users, 3), np.float32)}, "item": {"x": r.random((self.items, 2), np.float32)}}
        self.edges = {
            BUYS: (buys[:, order], part[order]),
            BACK: (buys[::-1][:, back], part[back]),
            KNOWS: (knows[:, np.argsort(knows[1], kind="stable")], None),
        }
        self.whole = self.store({}, f"messages-{number}.store")
        self.train = self.store({BUYS: 0, BACK: 0}, f"messages-{number}-train.store")

    def store(self, only: dict[Any, int], name: str) -> Store:
        edges = {}
        for e, (ends, part) in self.edges.items():
            keep = np.ones(ends.shape[1], bool) if e not in only or part is None else part == only[e]
            columns = {} if part is None else {"part": part[keep], "train": part[keep] == 0, "split": SPLITS[part[keep]].astype(str)}
            edges[e] = {"edge_index": ends[:, keep], **columns}
        return graphmill.from_arrays(self.nodes, edges, made.path(name), both=True, overwrite=True)

    def ids(self, e: Any) -> Any:
        """The ids in the whole store of the edges that the store of training has."""
        part = self.whole.edges[e].columns["part"]
        return np.flatnonzero(np.asarray(part) == 0)


WAYS: tuple[Any, ...] = (
    {BUYS: "part=0", BACK: "part=0"},
    {BUYS: "train", BACK: ["train"]},
    {BUYS: "split=train", BACK: "split=train"},
)


class MessagesTest(unittest.TestCase):
    def test_loader(self) -> None:
        """Batches are those of the store with these edges alone, by each executor and kind of subgraph."""
        for number in range(4):
            s = Sets(number)
            edges = 0
            for more in (
                {},
                {"subgraph_type": "induced"},
                {"subgraph_type": "bidirectional"},
                {"expand": "all"},
                {"executor": "stream", "memory": "128MiB"},
                {"sampler": "labor"},
                {"direction": "out"},
            ):
                options: dict[str, Any] = {"fanout": [4, 3], "seeds": "user", "batch_size": 16, "seed": number, "features": "none", **more}
                way = WAYS[number % len(WAYS)]
                with NodeLoader(s.whole, messages=way, **options) as got, NodeLoader(s.train, **options) as want:
                    for a, b in zip(got, want):
                        for t in ("user", "item"):
                            np.testing.assert_array_equal(a.n_id[t], b.n_id[t])
                        for e in (BUYS, BACK, KNOWS):
                            np.testing.assert_array_equal(a.edge_index[e], b.edge_index[e], f"{number} {more} {e}")
                            of = s.ids(e) if e != KNOWS else np.arange(s.edges[KNOWS][0].shape[1])
                            np.testing.assert_array_equal(a.e_id[e], of[b.e_id[e]])
                            edges += len(a.e_id[e])
                    self.assertEqual(len(got), len(want))
            self.assertTrue(edges or s.edges[BUYS][0].shape[1] < 10)

    def test_sets(self) -> None:
        """Several values are alternatives, and a set of edges that is empty leaves the seeds alone."""
        s = Sets(1)
        both = {BUYS: ["split=train", "split=valid"], BACK: ["part=0", "part=1"]}
        with NodeLoader(s.whole, fanout=[-1], seeds="user", batch_size=100, messages=both) as loader:
            (b,) = loader
            part = s.edges[BACK][1]
            assert part is not None
            np.testing.assert_array_equal(np.sort(b.e_id[BACK]), np.flatnonzero(part < 2))
        with NodeLoader(s.whole, fanout={BACK: [-1, -1]}, seeds="user", messages="part=9", executor="memory") as loader:
            for b in loader:
                self.assertEqual(len(b.e_id[BACK]), 0)
            self.assertIn("messages of item:rev_buys:user: 0 of", " ".join(loader.notes))

    def test_sets_of_nodes(self) -> None:
        """GraphSAINT's sets and walks see the messages alone, as those of a store that has no other edges."""
        for number in range(3):
            r = np.random.default_rng(number)
            n = int(r.integers(2, 50))
            edges = r.integers(0, n, (2, int(r.integers(1, 200))))
            edges = edges[:, np.argsort(edges[1], kind="stable")]
            part = np.append(0, r.integers(0, 3, edges.shape[1] - 1))
            whole = graphmill.from_arrays(n, {"edge_index": edges, "part": part}, made.path(f"sets-{number}.store"), both=True, overwrite=True)
            train = graphmill.from_arrays(n, {"edge_index": edges[:, part == 0]}, made.path(f"sets-{number}-train.store"), both=True, overwrite=True)
            ids = np.flatnonzero(part == 0)
            for more in ({"sampler": "saint-node"}, {"sampler": "saint-edge"}, {"sampler": "saint-walk", "walk_length": 2}):
                options: dict[str, Any] = {"batch_size": 4, "seed": number, "features": "none", **more}
                with NodeLoader(whole, messages="part=0", **options) as got, NodeLoader(train, **options) as want:
                    self.assertEqual(len(got), len(want))
                    for a, b in zip(got, want):
                        np.testing.assert_array_equal(a.n_id, b.n_id)
                        np.testing.assert_array_equal(a.e_id, ids[b.e_id])
            with tempfile.TemporaryDirectory() as folder:
                graphmill.run("walk", whole.path, out=f"{folder}/got", length=5, walks=3, q=0.5, messages="part=0")
                graphmill.run("walk", train.path, out=f"{folder}/want", length=5, walks=3, q=0.5)
                (file,) = (f for f in os.listdir(f"{folder}/got") if f.endswith(".npy"))
                np.testing.assert_array_equal(np.load(f"{folder}/got/{file}"), np.load(f"{folder}/want/{file}"))
            for sampler in ("saint-node", "saint-edge"):
                with self.assertRaisesRegex((GraphmillError, ValueError), "no edge that is a message"):
                    NodeLoader(whole, sampler=sampler, batch_size=4, messages="part=7")

    def test_links(self) -> None:
        """Seeds may be any edges; negatives are drawn and refused by messages alone."""
        s = Sets(2)
        options: dict[str, Any] = {
            "fanout": [3, 3], "seeds": s.whole.edges[BUYS].edge_index()[:, :50], "seed_type": BUYS, "negatives": 2, "negatives_by": "degree",
            "negatives_strict": "count", "batch_size": 20,
        }  # fmt: skip
        with NodeLoader(s.whole, messages=WAYS[0], **options) as got, NodeLoader(s.train, **options) as want:
            for a, b in zip(got, want):
                np.testing.assert_array_equal(a.negatives, b.negatives)
                np.testing.assert_array_equal(a.seed_local, b.seed_local)
                self.assertTrue(np.isin(a.e_id[BUYS], s.ids(BUYS)).all())

    def test_warnings(self) -> None:
        """Held-out links that can be messages, and reverses that are left open, are warnings of the feed."""
        s = Sets(3)
        for messages, text in ((None, "can be messages, also those"), ({BUYS: "split=train"}, "through their reverses")):
            with NodeLoader(s.whole, fanout=[2], seeds="user:buys:item:split=train", features="none", messages=messages) as loader:
                list(loader)
                self.assertIn(text, " ".join(loader.notes))

    def test_refused(self) -> None:
        s = Sets(4)
        calls: list[Callable[[Any], Any]] = [lambda m: NodeLoader(s.whole, fanout=[2], seeds="user", messages=m)]
        if importlib.util.find_spec("torch"):
            calls.append(lambda m: graphmill.inference(s.whole, [lambda x, e: x], made.path("refused"), messages=m))
        wrong: list[tuple[Any, str]] = [
            ("split=train", "user:knows:user without the column"),
            ("splt=train", "splt"),
            ({BUYS: "splt=train"}, "split"),
            ({BUYS: "part=x"}, "expected a number"),
            ({BUYS: ["part=0", "split=train"]}, "one column per edge type"),
            ({"bought": "split=train"}, "bought"),
        ]
        for messages, text in wrong:
            for call in calls:
                with self.assertRaisesRegex((GraphmillError, ValueError), text):
                    call(messages)
        nothing: list[Any] = [3, [], {BUYS: 4}]
        for messages in nothing:
            with self.assertRaisesRegex(TypeError, "COLUMN=VALUE"):
                NodeLoader(s.whole, fanout=[2], seeds="user", messages=messages)

    def test_linked_before(self) -> None:
        """Strict negatives are no links of their time, and with "before" they may be links of later times."""
        rng = np.random.default_rng(8)
        ends, at = np.stack([rng.integers(0, 6, 120), rng.integers(0, 7, 120)]), rng.integers(0, 30, 120)
        nodes: dict[str, Any] = {"user": {"id": np.arange(6)}, "item": {"id": np.arange(7)}}
        store = graphmill.from_arrays(nodes, {BUYS: {"edge_index": ends, "at": at}}, made.path("linked.store"), overwrite=True)
        options: dict[str, Any] = {
            "fanout": [2],
            "seeds": "user:buys:item",
            "scope": "seed",
            "before": "at",
            "negatives": 3,
            "batch_size": 40,
            "edge_features": "none",
        }
        first: dict[tuple[int, int], int] = {}
        for u, i, t in zip(*ends.tolist(), at.tolist()):
            first[u, i] = min(t, first.get((u, i), t))
        later = {}
        for linked in ("before", "ever", None):
            later[linked] = 0
            with graphmill.NodeLoader(store, **options, negatives_strict="count", negatives_linked=linked) as loader, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for b in loader:
                    users, items = b.n_id["user"][b.negatives[..., 0]], b.n_id["item"][b.negatives[..., 1]]
                    refused = 0
                    for row in range(len(b.input_id)):
                        for pair in zip(users[row].tolist(), items[row].tolist()):
                            linked_at = first.get(pair, 99)
                            refused += linked_at <= b.seed_time[row] if linked == "before" else pair in first
                            later[linked] += b.seed_time[row] < linked_at < 99
                    self.assertLessEqual(refused, loader.stats().negative_edges)
        self.assertGreater(later["before"], 20)
        self.assertEqual(later["ever"], later[None])
        with self.assertRaisesRegex((GraphmillError, ValueError), "negatives_linked=?'? ?'?before.*without negatives_strict"):
            NodeLoader(store, **options, negatives_linked="before")
        with self.assertRaisesRegex((GraphmillError, ValueError), "times of user:buys:item"):
            NodeLoader(store, **{**options, "before": None, "before_nodes": None, "scope": "batch"}, negatives_strict="count", negatives_linked="before")

    def test_existing(self) -> None:
        """Negatives of timed links are nodes that exist at the time of the link, where one does."""
        r = np.random.default_rng(5)
        born = {"user": r.integers(0, 50, 40), "item": r.integers(5, 60, 30)}
        n = 300
        ends = np.stack([r.integers(0, 40, n), np.sort(r.integers(0, 30, n))])
        at = r.integers(0, 60, n)
        nodes = {t: {"born": x} for t, x in born.items()}
        store = graphmill.from_arrays(nodes, {BUYS: {"edge_index": ends, "at": at}}, made.path("existing.store"), overwrite=True)
        options: dict[str, Any] = {
            "fanout": [2], "seeds": "user:buys:item", "scope": "seed", "before": "at", "before_nodes": {"user": "born", "item": "born"}, "negatives": 4, "batch_size": 50,
        }  # fmt: skip
        for how, by in (("binary", None), ("triplet", "degree")):
            later = 0
            for when in ("existing", "any", None):
                with NodeLoader(store, negatives_how=how, negatives_by=by, negatives_when=when, **options) as loader:
                    for b in loader:
                        for end, t in enumerate(("user", "item")):
                            ids = b.n_id[t][b.negatives[:, :, end]]
                            own = b.n_id[t][b.seed_local[:, end]][:, None]
                            bad = (born[t][ids] > b.seed_time[:, None]) & (ids != own)
                            later += int(bad.sum())
                            if when != "any":
                                self.assertFalse(bad.any(), f"{how} {t}")
            self.assertGreater(later, 50)
        with self.assertRaisesRegex((GraphmillError, ValueError), "before_nodes"):
            NodeLoader(store, **{**options, "before_nodes": None}, negatives_when="existing")
        own = {**options, "negatives": None, "seeds": ends, "seed_type": BUYS, "seed_time": at}
        for width in ((), (2,)):  # given ones are taken as they are, with a warning
            given = r.integers(0, 30, (n, 3, *width))
            late = born["item"][given[..., 1] if width else given] > at[:, None]
            count = int(late.sum()) + (int((born["user"][given[..., 0]] > at[:, None]).sum()) if width else 0)
            with NodeLoader(store, **own, negatives_from=given) as loader:
                self.assertIn(f"{count:,} ends of 900 given negatives do not exist", " ".join(loader.notes))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "inference needs torch")
    def test_inference(self) -> None:
        """Inference with messages is that of the store with these edges alone."""
        import torch

        def layer(x: Any, edge_index: Any) -> Any:
            out = {t: v[:, :2].clone() for t, v in x.items()}
            for (a, _, b), ends in edge_index.items():
                out[b].index_add_(0, ends[1], x[a][ends[0], :2])
            return out

        for number in range(4):
            s = Sets(number)
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = graphmill.inference(s.whole, [layer, layer], f"{folder}/got", messages=WAYS[number % len(WAYS)], batch_size=7)
                want = graphmill.inference(s.train, [layer, layer], f"{folder}/want", batch_size=7)
                for t in want:
                    torch.testing.assert_close(torch.tensor(np.array(got[t])), torch.tensor(np.array(want[t])))


if __name__ == "__main__":
    unittest.main()
