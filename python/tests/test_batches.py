"""Compares BatchIter and GroupBatchIter with naive definitions; also with torch, if it is installed."""

from __future__ import annotations

import json
import os
import time
import unittest
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from graphmill import BatchIter, GroupBatchIter
from graphmill._order import ORDER, Order, key
from made import law

VECTORS = os.path.join(os.path.dirname(__file__), "../../internal/sample/testdata/vectors.json")
ORDERS = os.path.join(os.path.dirname(__file__), "../../batch/testdata/orders.json")

try:
    import torch
except ImportError:
    torch = None


def kinds() -> list[Callable[[Any], Any]]:
    """The functions that make arrays: NumPy's, and torch's if it is installed."""
    return [np.asarray] if torch is None else [np.asarray, lambda x: torch.from_numpy(np.ascontiguousarray(x))]


class TestOrder(unittest.TestCase):
    def test_vectors(self) -> None:
        with open(VECTORS) as f:
            want = json.load(f)
        self.assertEqual(key(42, 7, 1, 3, 1, 1000), want["key(42,7,BATCH=1,3,1,1000)"])
        self.assertEqual([[key(s, e, ORDER) for e in range(3)] for s in range(3)], want["key(s,e,ORDER), s and e of 0..2"])
        for n, name in [(10, "order(n=10,key(42,7,ORDER=3))")] + [
            (n, f"order(n={t})[:5]") for n, t in [(65536, "65536"), (65537, "65537"), (1000003, "1000003"), (2**32 + 1, "2**32+1")]
        ]:
            got = Order(n, key(42, 7, ORDER))(np.arange(len(want[name])))
            self.assertEqual(got.tolist(), want[name], name)

    def test_permutations(self) -> None:
        for n in [*range(300), 65535, 65536, 65537, 131071, 131072, 131073, 262145]:
            got = Order(n, key(n, 1))(np.arange(n))
            self.assertTrue((np.sort(got) == np.arange(n)).all(), n)


class TestBatchIter(unittest.TestCase):
    def test_every_row_once_in_the_order_of_the_law(self) -> None:
        for kind in kinds():
            for n in [0, 1, 7, 64, 100]:
                x, y = np.arange(3 * n).reshape(n, 3), np.arange(n)
                for epoch in range(2):
                    it = BatchIter(kind(x), kind(y), batch_size=8, seed=5)
                    it.set_epoch(epoch)
                    length = len(it)
                    batches = list(it)
                    self.assertEqual(len(batches), length)
                    rows = np.concatenate([np.asarray(b[1]) for b in batches]) if batches else np.empty(0, int)
                    self.assertEqual(rows.tolist(), Order(n, key(5, epoch, ORDER))(np.arange(n)).tolist())
                    for xb, yb in batches:
                        self.assertTrue((np.asarray(xb) == x[np.asarray(yb)]).all())

    def test_each_pass_is_the_next_epoch(self) -> None:
        it = BatchIter(np.arange(100), batch_size=10, seed=3)
        passes = []
        for _ in range(3):
            passes.append(np.concatenate([b for (b,) in it]).tolist())
        next(iter(it))  # epoch 3, left early
        passes.append(np.concatenate([b for (b,) in it]).tolist())
        for e, got in zip([0, 1, 2, 4], passes):
            self.assertEqual(got, Order(100, key(3, e, ORDER))(np.arange(100)).tolist())

    def test_small_batches_are_arrays_of_their_own(self) -> None:
        """Small batches are allocated together; a change of one changes no other, and no size of rows changes the result."""
        for width in (0, 1, 3, 2000, 9000):
            x = np.arange(300 * width, dtype=np.float32).reshape(300, width)
            rows = Order(300, key(5, 0, ORDER))(np.arange(300))
            batches = [b for b, _ in BatchIter(x, np.arange(300), batch_size=7, seed=5)]
            for b in batches[::2]:
                b += 1
            for i, b in enumerate(batches):
                np.testing.assert_array_equal(b, x[rows[7 * i : 7 * i + 7]] + (i % 2 == 0))

    @unittest.skipUnless(torch, "torch is not installed")
    def test_tensors_have_storages_and_versions_of_their_own(self) -> None:
        x = torch.arange(3000.0).reshape(300, 10)
        first, second, *_ = [b for (b,) in BatchIter(x, batch_size=7)]
        want = second.clone()
        first.add_(1)
        self.assertEqual((first._version, second._version), (1, 0))
        self.assertTrue(torch.equal(second, want))
        self.assertEqual(second.untyped_storage().nbytes(), 7 * 10 * 4)
        for y in (x.bfloat16(), x.requires_grad_()):
            taken = torch.cat([b for (b,) in BatchIter(y, batch_size=7)])
            self.assertEqual((taken.dtype, taken.requires_grad), (y.dtype, y.requires_grad))
            self.assertEqual(taken.detach().sort(0).values.tolist(), y.detach().sort(0).values.tolist())

    def test_ranks_are_those_of_the_reference(self) -> None:
        r = np.random.default_rng(4)
        for k in range(300):
            n, size, world, shuffle = int(r.integers(0, 60)), int(r.integers(1, 9)), int(r.integers(1, 6)), bool(r.integers(2))
            tail = ["short", "fill", "drop", "pad"][k % 4]
            items = Order(n, key(9, 2, ORDER))(np.arange(n)).tolist() if shuffle else list(range(n))
            batches = law.batches(items, size, tail == "drop")
            first = int(r.integers(0, len(batches) + 1)) if k % 3 == 0 else 0
            given = [
                dict(tail=tail),
                dict(tail=None) if tail == ("fill" if world > 1 else "short") else dict(drop_last=True) if tail == "drop" else dict(tail=tail, drop_last=False),
            ]
            for rank, want in enumerate(law.ranks(batches, world, tail, first)):
                for options in given:
                    it = BatchIter(np.arange(n), batch_size=size, shuffle=shuffle, seed=9, rank=rank, world_size=world, **options)
                    it.set_epoch(2)
                    if first:
                        it.load_state_dict({**it.state_dict(), "batch": first})
                    else:
                        self.assertEqual(len(it), len(want))
                    got = [(x[m] if tail == "pad" else x).tolist() for x, *rest in it for m in rest or [None]]
                    self.assertEqual(got, [of for _, of in want], (n, size, world, tail, first, rank))

    def test_uneven_ranks_are_an_error_if_they_are_to_be(self) -> None:
        with self.assertRaisesRegex(ValueError, "multiple of batch_size=8"):
            BatchIter(np.arange(103), batch_size=8, tail="error")
        with self.assertRaisesRegex(ValueError, "found 5 batches, expected a multiple of world_size=2"):
            BatchIter(np.arange(40), batch_size=8, tail="error", world_size=2)
        it = GroupBatchIter(np.arange(5), batch_size=1, count="rows", tail="error", world_size=2)
        with self.assertRaisesRegex(ValueError, "found 5 batches, expected a multiple of world_size=2"):
            next(iter(it))
        two = BatchIter(np.arange(6), batch_size=1, tail="error", world_size=2)
        two.load_state_dict({**two.state_dict(), "batch": 3})
        with self.assertRaisesRegex(ValueError, "found 3 batches"):
            next(iter(two))

    def test_a_state_serves_any_number_of_ranks(self) -> None:
        whole = [b.tolist() for (b,) in BatchIter(np.arange(50), batch_size=4, seed=2)]
        ranks = [BatchIter(np.arange(50), batch_size=4, seed=2, rank=r, world_size=2) for r in range(2)]
        taken = [[b.tolist() for _, (b,) in zip(range(3), it)] for it in ranks]
        states = [it.state_dict() for it in ranks]
        self.assertEqual(states[0], states[1])
        others = [BatchIter(np.arange(50), batch_size=4, seed=2, rank=r, world_size=5) for r in range(5)]
        rest = []
        for it in others:
            it.load_state_dict(states[0])
            rest.append([b.tolist() for (b,) in it])
        self.assertEqual({len(x) for x in rest}, {2})
        self.assertEqual(sum(map(list, zip(*taken)), []), whole[:6])
        self.assertEqual(sum(map(list, zip(*rest)), []), whole[6:] + whole[:3])
        for it in others:  # and all begin the next epoch at once
            self.assertEqual(it.state_dict()["epoch"], 1)
        one = BatchIter(np.arange(50), batch_size=4, seed=2)
        one.load_state_dict(states[0])
        self.assertEqual([b.tolist() for (b,) in one], whole[6:])

    def test_resume_anywhere(self) -> None:
        for shuffle in [True, False]:
            want = list(BatchIter(np.arange(50), batch_size=7, seed=2, shuffle=shuffle))
            for left in range(1, len(want)):
                it = BatchIter(np.arange(50), batch_size=7, seed=2, shuffle=shuffle)
                for i, _ in enumerate(it, 1):
                    if i == left:
                        break
                state = json.loads(json.dumps(it.state_dict()))
                again = BatchIter(np.arange(50), batch_size=7, seed=2, shuffle=shuffle)
                again.load_state_dict(state)
                self.assertEqual([b[0].tolist() for b in again], [b[0].tolist() for b in want[left:]])

    def test_state_of_another(self) -> None:
        state = BatchIter(np.arange(50), batch_size=7).state_dict()
        for it in [
            BatchIter(np.arange(51), batch_size=7),
            BatchIter(np.arange(50) + 1, batch_size=7),
            BatchIter(np.arange(50), batch_size=8),
            BatchIter(np.arange(50), batch_size=7, seed=1),
            BatchIter(np.arange(50), batch_size=7, shuffle=False),
        ]:
            with self.assertRaisesRegex(ValueError, "state does not match"):
                it.load_state_dict(state)

    def test_state_of_another_law(self) -> None:
        it = BatchIter(np.arange(50), batch_size=7)
        with self.assertRaisesRegex(ValueError, "found version 1 of the draw law, expected 2"):
            it.load_state_dict({**it.state_dict(), "version": 1})

    def test_stats(self) -> None:
        ids = np.arange(20)
        for it in (BatchIter(ids, batch_size=3), GroupBatchIter(ids, batch_size=3)):
            self.assertEqual((it.stats().batches, it.stats().waiting_share), (0, 0))
            for batches, left in ((7, 7), (9, 2)):  # a whole pass, and one left early
                for i, _ in enumerate(it, 1):
                    time.sleep(0.001)  # the step, which is not in the times of the loader
                    if i == left:
                        break
                s = it.stats()
                self.assertEqual(s.batches, batches)
                self.assertGreaterEqual(s.seconds - s.waited, 0.006)
                self.assertGreater(s.waited, 0)
                self.assertEqual(s.waiting_share, s.waited / s.seconds)

    def test_bad_input(self) -> None:
        f: Any
        for f, want in [
            (lambda: BatchIter(batch_size=3), "found no array"),
            (lambda: BatchIter(np.arange(3), batch_size=0), "batch_size=0"),
            (lambda: BatchIter(np.arange(3), np.arange(4), batch_size=1), "array 1: found 4 rows, expected 3"),
            (lambda: BatchIter(np.array(5), batch_size=1), "single value"),
            (lambda: BatchIter([object()], batch_size=1), "not an array of numbers"),
            (lambda: BatchIter(np.arange(3), batch_size=1, rank=2, world_size=2), "rank=2"),
            (lambda: BatchIter(np.arange(3), batch_size=1, tail="x"), "tail='x'"),
            (lambda: BatchIter(np.arange(3), batch_size=1, tail="keep"), "tail='keep', expected one of fill, drop, short, pad, error"),
            (lambda: BatchIter(np.arange(3), batch_size=1, tail="fill", drop_last=True), "drop_last=True with tail='fill'"),
            (lambda: BatchIter(np.arange(3), batch_size=1, tail="drop", drop_last=False), "drop_last=False with tail='drop'"),
            (lambda: BatchIter(np.arange(3), batch_size=1, drop_last=1), "drop_last=1, expected True or False"),  # type: ignore[arg-type]
            (lambda: BatchIter(np.arange(3), batch_size=1, seed=-1), "seed=-1, expected 0 to 2\\^64 - 1"),
            (lambda: BatchIter(np.arange(3), batch_size=1).set_epoch(-1), "epoch=-1"),
            (lambda: BatchIter(np.arange(3), batch_size=True), "found batch_size=True, expected an integer"),
            (lambda: BatchIter(np.arange(3), batch_size=2.0), "found batch_size=2.0, expected an integer"),  # type: ignore[arg-type]
            (lambda: BatchIter(np.arange(3), batch_size=1, seed="7"), "found seed='7', expected an integer"),  # type: ignore[arg-type]
            (lambda: BatchIter(np.arange(3), batch_size=1, rank=np.bool_(True), world_size=2), "rank=.*True.*, expected an integer"),  # type: ignore[arg-type]
            (lambda: BatchIter(np.arange(3), batch_size=1, world_size=None), "world_size=None, expected an integer"),  # type: ignore[arg-type]
            (lambda: BatchIter(np.arange(3), batch_size=1).set_epoch(0.5), "epoch=0.5, expected an integer"),  # type: ignore[arg-type]
        ]:
            with self.assertRaisesRegex((ValueError, TypeError), want):
                f()

    def test_integers_of_any_kind(self) -> None:
        want = [b.tolist() for (b,) in BatchIter(np.arange(50), batch_size=4, seed=7, rank=1, world_size=2)]
        kinds: list[Any] = [np.int64, np.uint8, np.int16, np.array] + ([torch.tensor] if torch is not None else [])
        for kind in kinds:
            it = BatchIter(np.arange(50), batch_size=kind(4), seed=kind(7), rank=kind(1), world_size=kind(2))
            it.set_epoch(kind(0))
            self.assertEqual([b.tolist() for (b,) in it], want)
            json.dumps(it.state_dict())


class TestGroupBatchIter(unittest.TestCase):
    def setUp(self) -> None:
        sizes = np.array([1, 4, 2, 9, 3, 1, 6, 2, 2, 5, 7, 1])
        self.ids = np.repeat(np.random.default_rng(1).permutation(len(sizes)) * 10, sizes)
        self.rows = np.arange(len(self.ids))
        self.sizes = sizes
        self.starts = np.cumsum(sizes) - sizes

    def groups(self, order: Iterable[int]) -> list[list[int]]:
        return [list(range(self.starts[g], self.starts[g] + self.sizes[g])) for g in order]

    def test_groups_whole_and_in_order(self) -> None:
        for kind in kinds():
            for shuffle in [True, False]:
                it = GroupBatchIter(kind(self.ids), kind(self.rows), batch_size=5, shuffle=shuffle, seed=4)
                n = len(it)
                got = [np.asarray(r).tolist() for _, r in it]
                order = Order(12, key(4, 0, ORDER))(np.arange(12)) if shuffle else np.arange(12)
                want = [sum(self.groups(order[i : i + 5]), []) for i in range(0, 12, 5)]
                self.assertEqual((got, n), (want, len(want)))

    def test_rows_a_batch(self) -> None:
        it = GroupBatchIter(self.ids, self.rows, batch_size=8, seed=4, count="rows")
        batches = [r.tolist() for _, r in it]
        for b in batches:
            self.assertTrue(len(b) <= 8 or len(set(self.ids[b])) == 1)
        order = Order(12, key(4, 0, ORDER))(np.arange(12))
        self.assertEqual(sum(batches, []), sum(self.groups(order), []))
        for b, c in zip(batches, batches[1:]):  # no batch had room for one more group
            self.assertGreater(len(b) + int((self.ids == self.ids[c[0]]).sum()), 8)

    def test_ragged_and_padded(self) -> None:
        for kind in kinds():
            flat = [np.asarray(r) for _, r in GroupBatchIter(kind(self.ids), kind(self.rows), batch_size=5, seed=4)]
            for (_, r, ptr), want in zip(GroupBatchIter(kind(self.ids), kind(self.rows), batch_size=5, seed=4, form="ragged", tail="pad"), flat):
                self.assertEqual(np.asarray(r).tolist(), want.tolist())
                self.assertEqual((len(ptr), int(ptr[-1])), (6, len(want)))
                for a, b in zip(ptr, ptr[1:]):
                    self.assertLessEqual(len(set(self.ids[want[a:b]])), 1)
            for (_g, r, mask), want in zip(GroupBatchIter(kind(self.ids), kind(self.rows), batch_size=5, seed=4, form="padded"), flat):
                r, mask = np.asarray(r), np.asarray(mask)
                self.assertEqual(r[mask].tolist(), want.tolist())
                self.assertTrue((r[~mask] == 0).all())
                self.assertEqual(mask.shape[1], mask.sum(1).max())
            # Ids are in NumPy and columns are tensors: the mask is of the same kind as the columns.
            _, r, mask = next(iter(GroupBatchIter(self.ids, kind(self.rows), batch_size=5, form="padded")))
            self.assertEqual(type(mask).__module__ == "torch", type(r).__module__ == "torch")

    def test_ranks(self) -> None:
        """Batches below the number for one rank are the same, further ones repeat them, and all ranks have equally many."""
        for options in (dict(), dict(shuffle=False), dict(count="rows"), dict(bucketed=True), dict(bucketed=True, form="padded"), dict(form="ragged")):
            for size in (1, 2, 5, 30):
                for tail in (None, "drop"):
                    alone = [[x.tolist() for x in b] for b in GroupBatchIter(self.ids, self.rows, batch_size=size, seed=4, tail=tail, **options)]
                    for world in (2, 3, 7):
                        each = len(alone) // world if tail else -(-len(alone) // world)
                        for rank in range(world):
                            it = GroupBatchIter(self.ids, self.rows, batch_size=size, seed=4, tail=tail, rank=rank, world_size=world, **options)
                            self.assertEqual(len(it), each)
                            got = [[x.tolist() for x in b] for b in it]
                            self.assertEqual(got, [alone[b % len(alone)] for b in range(rank, rank + world * each, world)], (options, size, tail, world))

    def test_buckets_are_those_of_the_reference(self) -> None:
        with open(ORDERS) as f:
            want = json.load(f)
        sizes = np.array(want["sizes"])
        # A group without rows has no id, so groups of one row, in the same bucket, replace them.
        ids = np.repeat(np.arange(len(sizes)), np.maximum(sizes, 1))
        for tail, name in [("short", "bucketed(1,2,sizes,4)"), ("drop", "bucketed(1,2,sizes,4,drop)")]:
            it = GroupBatchIter(ids, batch_size=4, seed=1, bucketed=True, tail=tail)
            it.set_epoch(2)
            got = [g[np.append(True, g[1:] != g[:-1])].tolist() for (g,) in it]
            self.assertEqual(got, want[name])

    def test_bad_input(self) -> None:
        with self.assertRaisesRegex(ValueError, "group 1 at row 0 and again at row 3"):
            GroupBatchIter(np.array([1, 1, 2, 1]), batch_size=1)
        with self.assertRaisesRegex(ValueError, "expected one of groups, rows"):
            GroupBatchIter(self.ids, count="x")
        for kind in kinds():
            with self.assertRaisesRegex(ValueError, "group_id: found nan at row 2"):
                GroupBatchIter(kind(np.array([1.0, 1.0, np.nan, np.nan])))
        with self.assertRaisesRegex(ValueError, "group_id: found NaT at row 1"):
            GroupBatchIter(np.array(["2020-01-01", "NaT"], "datetime64[D]"))
        with self.assertRaisesRegex(TypeError, "found seed=1.5, expected an integer"):
            GroupBatchIter(self.ids, shuffle_seed=1.5)  # type: ignore[arg-type]
        if torch is not None:
            ids = torch.tensor([1, 1, 2], dtype=torch.bfloat16)
            self.assertEqual([len(g) for (g,) in GroupBatchIter(ids, shuffle=False)], [2, 1])


if __name__ == "__main__":
    unittest.main()
