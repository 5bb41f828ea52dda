"""Batches of events: what one batch shows by itself, a loop over all events that says the same, and PyG's loaders.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import unittest
from typing import Any

import numpy as np
from graphmill import EventBatch, EventLoader, GraphmillError, Store, from_arrays

PYG = unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")


def shop(seed: int, users: int = 30, items: int = 20, events: int = 400, moments: int = 60) -> tuple[Store, dict[str, Any]]:
    """Users who buy and view items and follow each other: rows out of order, many at one moment, and an edge type without times."""
    r = np.random.default_rng(seed)
    n = {"user": users, "item": items}

    def edges(src: str, dst: str, m: int) -> dict[str, Any]:
        return {"edge_index": np.stack([r.integers(0, n[src], m), r.integers(0, n[dst], m)]), "time": r.integers(-moments, moments, m), "w": r.random((m, 2), np.float32), "late": r.random(m) < 0.3}  # fmt: skip

    of: dict[Any, dict[str, Any]] = {
        ("user", "buys", "item"): edges("user", "item", events),
        ("user", "views", "item"): edges("user", "item", events // 2),
        ("user", "follows", "user"): edges("user", "user", 7),
        ("item", "like", "item"): {"edge_index": np.stack([np.arange(3), np.arange(3)])},
    }
    nodes = {t: {"f": r.random((k, 3), np.float32)} for t, k in n.items()}
    return from_arrays(nodes, of), {"nodes": nodes, "edges": of}


def flat(store: Store, arrays: dict[str, Any], types: list[Any], first: dict[str, int]) -> list[tuple[Any, ...]]:
    """All events in order: (time, type, row, source, destination), ends as numbers among all nodes."""
    out = []
    for k, t in enumerate(types):
        e = arrays["edges"][t]
        for row in range(e["edge_index"].shape[1]):
            out.append((int(e["time"][row]), k, row, first[t[0]] + int(e["edge_index"][0, row]), first[t[2]] + int(e["edge_index"][1, row])))
    return sorted(out)


def same(test: unittest.TestCase, a: EventBatch, b: EventBatch) -> None:
    test.assertEqual(a.number, b.number)
    for name in ("n_id", "src", "dst", "t", "event", "e_id", "edge_index", "neighbor_event", "neg_index"):
        x, y = getattr(a, name), getattr(b, name)
        test.assertEqual(x is None, y is None)
        if x is not None:
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


class TestEvents(unittest.TestCase):
    def check(self, loader: EventLoader, arrays: dict[str, Any], k: int, negatives: int) -> int:
        """Each batch by itself, against the arrays that the store was made of."""
        events = flat(loader.store, arrays, loader.event_types, loader.first)
        seen = 0
        for b in loader:
            m = len(b)
            np.testing.assert_array_equal(b.n_id, np.unique(b.n_id))
            np.testing.assert_array_equal(b.n_id[b.src_index], b.src)
            np.testing.assert_array_equal(b.n_id[b.dst_index], b.dst)
            self.assertEqual([(events[e][0], events[e][3], events[e][4]) for e in b.event], list(zip(b.t, b.src, b.dst)))
            self.assertEqual([events[e][1:3] for e in b.event], list(zip(b.event_type, b.e_id)))
            for at, t in enumerate(loader.event_types):
                rows = b.e_id[b.event_type == at]
                np.testing.assert_array_equal(b.edge_attr[t]["w"], arrays["edges"][t]["w"][rows])
                of = [events[e][2] for e in b.neighbor_event[b.neighbor_type == at]]
                np.testing.assert_array_equal(b.neighbor_attr[t]["w"], arrays["edges"][t]["w"][of])
            for of_nodes in loader.store.node_types:
                rows = (
                    b.n_id[(b.n_id >= loader.first[of_nodes]) & (b.n_id < loader.first[of_nodes] + loader.store.nodes[of_nodes].count)] - loader.first[of_nodes]
                )
                np.testing.assert_array_equal(b.x[of_nodes]["f"], arrays["nodes"][of_nodes]["f"][rows])
            np.testing.assert_array_equal(b.neighbor_t, [events[e][0] for e in b.neighbor_event])
            roots = np.concatenate([b.src, b.dst, b.neg_dst.reshape(-1)]) if negatives else np.concatenate([b.src, b.dst])
            np.testing.assert_array_equal(b.n_id[b.root_index], roots)
            moment = np.concatenate([b.t, b.t, np.repeat(b.t, negatives)])
            got: list[list[tuple[int, int]]] = [[] for _ in roots]
            for far, root, by in zip(b.n_id[b.edge_index[0]], b.edge_index[1], b.neighbor_event):
                got[root].append((int(far), int(by)))
            for root, (node, t) in enumerate(zip(roots, moment)):
                want = [(e[4] if e[3] == node else e[3], i) for i, e in enumerate(events) if e[0] < t for end in (3, 4) if e[end] == node]
                self.assertEqual(got[root], want[::-1][:k])
            if negatives:
                self.assertEqual(b.neg_dst.shape, (m, negatives))
                for at, t in enumerate(loader.event_types):
                    of_type = b.neg_dst[b.event_type == at] - loader.first[t[2]]
                    to = arrays["edges"][t]["edge_index"][1]
                    self.assertTrue(not of_type.size or (of_type.min() >= to.min() and of_type.max() <= to.max()))
            seen += m
        return seen

    def test_by_itself(self) -> None:
        for seed in range(3):
            store, arrays = shop(seed)
            with EventLoader(store, 16 + seed, neighbors=4, negatives=seed) as loader:
                self.assertEqual(self.check(loader, arrays, 4, seed), 607)
                self.assertIn("item:like:item", " ".join(loader.notes))
            with EventLoader(store, 50, neighbors=2, types=[("user", "follows", "user"), "views"], seed=3) as loader:
                self.assertEqual(self.check(loader, arrays, 2, 0), 207)

    def test_sparse(self) -> None:
        store, _ = shop(5, users=2000, items=3000, events=6)
        with EventLoader(store, 4, neighbors=3, types="buys") as loader:
            batches = list(loader)
        self.assertEqual([len(b) for b in batches], [4, 2])
        with EventLoader(store, 4, neighbors=3, types="buys", drop_last=True) as loader:
            self.assertEqual((len(loader), [len(b) for b in loader]), (1, [4]))
        empty = from_arrays({"a": {"x": np.zeros(3)}}, {("a", "r", "a"): {"edge_index": np.zeros((2, 0), np.int64), "time": np.zeros(0, np.int64)}})
        with EventLoader(empty, neighbors=3, negatives=2) as loader:
            self.assertEqual((len(loader), list(loader)), (0, []))

    def test_chosen(self) -> None:
        store, arrays = shop(6)
        with (
            EventLoader(store, 16, neighbors=3, events="late", types=["buys", "views"]) as some,
            EventLoader(store, 16, neighbors=3, types=["buys", "views"]) as all_,
        ):
            everything = {int(e): (b, i) for b in all_ for i, e in enumerate(b.event)}
            seen = 0
            for b in some:
                for i, e in enumerate(b.event):
                    whole, j = everything[int(e)]
                    for end in (0, 1):
                        mine, theirs = b.edge_index[1] == end * len(b) + i, whole.edge_index[1] == end * len(whole) + j
                        np.testing.assert_array_equal(b.neighbor_event[mine], whole.neighbor_event[theirs])
                seen += len(b)
        late = sum(int(arrays["edges"][("user", t, "item")]["late"].sum()) for t in ("buys", "views"))
        self.assertEqual(seen, late)

    def test_windows(self) -> None:
        store, arrays = shop(7, events=90, moments=200)
        with EventLoader(store, neighbors=0, every=25, types="buys") as loader:
            times = np.sort(arrays["edges"][("user", "buys", "item")]["time"])
            want = [list(w) for _, w in itertools.groupby(times, lambda t: t // 25)]
            self.assertEqual([b.t.tolist() for b in loader], want)
            self.assertEqual(len(loader), len(want))
        with EventLoader(store, neighbors=40, every=1000, types="buys", negatives=90) as loader:  # two batches, each with a slot of its own
            self.assertEqual((loader._together, [len(b) for b in loader]), (1, [int((times < 0).sum()), int((times >= 0).sum())]))
            for b in loader:
                np.testing.assert_array_equal(b.n_id[b.src_index], b.src)
                self.assertEqual(b.edge_attr["w"].shape, (len(b), 2))
        for every, error in ((2.5, "whole number"), ("1d", "plain numbers"), (0, "above 0"), ("soon", "above 0")):
            with self.assertRaisesRegex(GraphmillError, error):
                EventLoader(store, every=every, types="buys")

    def test_windows_of_days(self) -> None:
        days = np.array(["2024-01-01T23:59", "2024-01-02T00:00", "2024-01-02T12:00", "2024-01-05"], "datetime64[s]")
        store = from_arrays({"a": {"x": np.zeros(3)}}, {("a", "r", "a"): {"edge_index": np.array([[0, 1, 2, 0], [1, 2, 0, 0]]), "when": days}})
        with EventLoader(store, every="1d", neighbors=1) as loader:
            self.assertEqual([len(b) for b in loader], [1, 2, 1])
            self.assertEqual(loader.unit, "s")
            self.assertEqual([t for b in loader for t in b.t.tolist()], days.astype(np.int64).tolist())

    def test_state(self) -> None:
        store, _ = shop(8, events=2600)
        given: dict[str, Any] = {"batch_size": 3, "neighbors": 2, "negatives": 1}
        with EventLoader(store, **given) as loader:
            first, second = list(loader), list(loader)
            self.assertGreater(len(first), loader._together)  # more than one lot
            self.assertFalse(all((a.neg_dst == b.neg_dst).all() for a, b in zip(first, second)))
            for at in (0, loader._together, loader._together + 1, len(first)):
                loader.set_epoch(0)
                for _, _ in zip(range(at), loader):
                    pass
                state = loader.state_dict() if at else {**loader.state_dict(), "epoch": 0, "batch": 0}
                with EventLoader(store, **given, threads=2) as other:
                    other.load_state_dict(state)
                    rest = list(other)
                    for a, b in zip(rest, (first[at:] if at < len(first) else second), strict=True):
                        same(self, a, b)
            with EventLoader(store, batch_size=4, neighbors=2, negatives=1) as other, self.assertRaisesRegex(ValueError, "batch_size 3, expected 4"):
                other.load_state_dict(state)
        for world in (2, 3):
            parts = []
            for rank in range(world):
                with EventLoader(store, **given, rank=rank, world_size=world) as loader:
                    parts.append(list(loader))
                    self.assertEqual(len(loader), len(parts[-1]))
                    loader.load_state_dict({**loader.state_dict(), "epoch": 0, "batch": 5 * world})
                    for a, b in zip(list(loader), parts[-1][5:], strict=True):
                        same(self, a, b)
            merged = sorted(itertools.chain(*parts), key=lambda b: b.number)
            for a, b in zip(merged, first, strict=True):
                same(self, a, b)

    def test_given_negatives(self) -> None:
        store, _ = shop(9, events=50)
        r = np.random.default_rng(1)
        given = r.integers(0, 20, (50, 3))
        with EventLoader(store, 8, neighbors=2, types="buys", negatives_from=given) as loader:
            for b, want in zip(loader, np.split(given, range(8, 50, 8))):
                np.testing.assert_array_equal(b.neg_dst - loader.first["item"], want)
                self.assertEqual(len(b.root_index), 5 * len(b))
        lists = [r.integers(0, 20, n) for n in r.integers(0, 4, 50)]
        with EventLoader(store, 8, neighbors=2, types="buys", negatives_from=lists) as loader:
            at = 0
            for b in loader:
                for i in range(len(b)):
                    np.testing.assert_array_equal(b.neg_dst[b.neg_ptr[i] : b.neg_ptr[i + 1]] - loader.first["item"], lists[at])
                    at += 1
        self.assertEqual(at, 50)
        for bad, error in (
            (given[:40], "40 links, expected 50|negatives of 40"),
            (given + 10, "found node .* of type item"),
            (given[:, 0].astype(float), "integers"),
        ):
            with self.assertRaisesRegex((GraphmillError, ValueError), error):
                EventLoader(store, types="buys", negatives_from=bad)
        with self.assertRaisesRegex(GraphmillError, "one type of destinations"):
            EventLoader(store, negatives_from=given)

    def test_bad(self) -> None:
        store, _ = shop(10, events=20)
        refused: list[tuple[dict[str, Any], str]] = [
            ({"time": "when"}, 'no column "when"'),
            ({"types": "like"}, "no column of times"),
            ({"types": ["buys", "like"], "time": "time"}, 'no column "time" of item:like:item'),
            ({"types": ["buys", "buys"]}, "twice"),
            ({"events": "split=train"}, 'no.*has "split"|column'),
            ({"negatives": 1, "negatives_from": np.zeros((20, 1), np.int64), "types": "buys"}, "one of them"),
            ({"memory": "1MiB"}, "expected at least .*more memory"),
        ]
        for given, error in refused:
            with self.assertRaisesRegex(GraphmillError, error):
                EventLoader(store, **given)
        impossible: list[tuple[dict[str, Any], str]] = [
            ({"batch_size": 10, "every": 5}, "one of them"),
            ({"types": "sells"}, "found 'sells'"),
            ({"history": "past"}, "expected one of event, batch, pyg"),
            ({"as_": "pyg"}, "expected one of numpy, torch"),
            ({"features": "g"}, "found 'g' in features="),
            ({"rank": 2, "world_size": 2}, "expected 0 to 1"),
        ]
        for given, error in impossible:
            with self.assertRaisesRegex(ValueError, error):
                EventLoader(store, **given)
        late = from_arrays({"a": {"x": np.zeros(2)}}, {("a", "r", "a"): {"edge_index": np.zeros((2, 2), np.int64), "time": np.array([1.0, np.nan])}})
        with self.assertRaisesRegex(GraphmillError, "edge 1: found no time"):
            EventLoader(late)
        with EventLoader(store) as loader:
            loader.close()
            with self.assertRaisesRegex(GraphmillError, "closed"):
                list(loader)

    def test_kept(self) -> None:
        """Batches stay as they were while others come, and in a forked child."""
        store, _ = shop(11, events=4000)
        with EventLoader(store, 5, neighbors=3, slots=2) as loader:
            held = list(loader)
            copies = [(b.n_id.copy(), b.edge_index.copy()) for b in held]
            again = list(loader)
            for b, c, d in zip(held, copies, again, strict=True):
                np.testing.assert_array_equal(b.n_id, c[0])
                np.testing.assert_array_equal(b.edge_index, c[1])
                same(self, b, d)
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    status = int(len(list(loader)) != len(held))
                finally:
                    os._exit(status)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(len(list(loader)), len(held))

    def test_side_by_side(self) -> None:
        store, arrays = shop(12)
        with EventLoader(store, 32, neighbors=2, types="buys", msg=["w"], x=["f"], features="none", edge_features="none") as loader:
            w = arrays["edges"][("user", "buys", "item")]["w"]
            for b in loader:
                np.testing.assert_array_equal(b.msg, w[b.e_id])
                self.assertEqual(b.neighbor_msg.shape, (b.edge_index.shape[1], 2))
                self.assertEqual(sorted(b.x), ["item", "user"])
                self.assertEqual(b.edge_attr.keys(), {"msg"})
        with EventLoader(store, 32, neighbors=2, types="buys", edge_features="none", edge_ids=False) as loader:
            b = next(iter(loader))
            self.assertIsNone(b.e_id)
            self.assertIsNone(b.neighbor_t)
            self.assertRegex(repr(b), r"EventBatch\(0: 32 events, \d+ nodes, \d+ neighbours\)")
            self.assertIn("400 events in 13 batches", repr(loader))
            with self.assertRaisesRegex(ValueError, "expected tensors; give as_='torch'"):
                b.to("cpu")
            with self.assertRaisesRegex(AttributeError, "found no attribute 'x_id'"):
                b.x_id  # noqa: B018


@PYG
class TestPyG(unittest.TestCase):
    def compare(self, nodes: int, events: int, k: int, batch: int, seed: int, stable: bool) -> None:
        """The batches of TemporalDataLoader and LastNeighborLoader, with given negatives."""
        import torch
        from graphmill import from_pyg
        from torch_geometric.data import Data, TemporalData
        from torch_geometric.loader import TemporalDataLoader
        from torch_geometric.nn.models.tgn import LastNeighborLoader

        r = np.random.default_rng(seed)
        src, dst, t = r.integers(0, nodes, events), r.integers(0, nodes, events), np.sort(r.integers(0, events, events))
        msg, neg = r.random((events, 3), np.float32), r.integers(0, nodes, (events, 2))
        a = {name: torch.from_numpy(x) for name, x in (("src", src), ("dst", dst), ("t", t), ("msg", msg), ("neg", neg))}
        store = from_pyg(Data(edge_index=torch.stack([a["src"], a["dst"]]), num_nodes=nodes, time=a["t"], edge_attr=a["msg"]))
        sort = torch.Tensor.sort
        if stable:  # what a node with more than k events in a batch keeps depends on the order of equal nodes
            torch.Tensor.sort = lambda self, *args, **words: sort(self, *args, **words) if args or words else sort(self, stable=True)  # type: ignore[method-assign, unused-ignore]
        try:
            latest = LastNeighborLoader(nodes, size=k)
            with EventLoader(store, batch, neighbors=k, history="pyg", negatives_from=neg, as_="torch", msg=["edge_attr"]) as loader:
                count = 0
                for theirs, ours in zip(TemporalDataLoader(TemporalData(**a), batch_size=batch), loader, strict=True):
                    n_id, edge_index, e_id = latest(torch.cat([theirs.src, theirs.dst, theirs.neg.reshape(-1)]).unique())
                    latest.insert(theirs.src, theirs.dst)
                    for x, y in ((n_id, ours.n_id), (edge_index, ours.edge_index), (e_id, ours.neighbor_event), (theirs.src, ours.src), (theirs.dst, ours.dst), (theirs.t, ours.t), (theirs.msg, ours.msg), (theirs.neg, ours.neg_dst), (a["msg"][e_id], ours.neighbor_msg), (a["t"][e_id], ours.neighbor_t)):  # fmt: skip
                        self.assertTrue(torch.equal(x, y))
                    count += 1
                self.assertEqual(count, len(loader))
        finally:
            torch.Tensor.sort = sort  # type: ignore[method-assign, unused-ignore]

    def test_few_events_per_node(self) -> None:
        self.compare(3000, 6000, 10, 200, 1, stable=False)

    def test_busy_nodes(self) -> None:
        """Nodes with far more events in a batch than are kept."""
        for seed in range(3):
            self.compare(12, 900, 4, 50, seed, stable=True)
            self.compare(300, 900, 1, 90, seed, stable=True)

    def test_workers(self) -> None:
        from torch.utils.data import DataLoader, IterableDataset

        store, _ = shop(14)
        with EventLoader(store, 32) as loader:

            class Numbers(IterableDataset):  # type: ignore[type-arg, misc, unused-ignore]
                def __iter__(self) -> Any:
                    return (b.number for b in loader)

            self.assertEqual(list(DataLoader(Numbers(), batch_size=None)), list(range(len(loader))))
            with self.assertRaisesRegex(ValueError, "found 2 workers"):
                list(DataLoader(Numbers(), batch_size=None, num_workers=2))

    def test_tensors(self) -> None:
        import torch

        store, _ = shop(13)
        with EventLoader(store, 32, neighbors=3, negatives=1, as_="torch") as loader, EventLoader(store, 32, neighbors=3, negatives=1) as arrays:
            for a, b in zip(loader, arrays, strict=True):
                self.assertIs(type(a.n_id), torch.Tensor)
                self.assertEqual(a.edge_index.dtype, torch.int64)
                same(self, a, b)
                np.testing.assert_array_equal(a.root_index.numpy(), b.root_index)
            moved = a.to("cpu")
            self.assertTrue(torch.equal(moved.n_id, a.n_id))
            self.assertEqual(moved.edge_attr.keys(), a.edge_attr.keys())
