"""Iterators over batches of rows and over batches of groups of rows."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _arrays, _ranks
from ._arguments import choice, integer, truth
from ._order import BUCKET, LAW, ORDER, Order, check_state, key
from ._stats import LoaderStats

_TAILS = ("fill", "drop", "short", "pad", "error")
_BLOCK = 1 << 16  # positions of an order that are computed at a time: they stay in the caches


class _Batches:
    """The common base of iterators over rows and groups: epochs, ranks, tails and states."""

    def __init__(
        self, arrays: tuple[Any, ...], batch_size: int, shuffle: bool, seed: int, tail: str | None, drop_last: bool | None, rank: int, world_size: int
    ) -> None:
        for i, x in enumerate(arrays):
            if x.shape[0] != arrays[0].shape[0]:
                raise ValueError(f"array {i}: found {x.shape[0]} rows, expected {arrays[0].shape[0]} as in array 0")
        self._arrays, self._size, self._shuffle = arrays, integer("batch_size", batch_size, 1, 1 << 40), truth("shuffle", shuffle)
        self._seed = integer("seed", seed, 0, (1 << 64) - 1)
        self._rank, self._world = _ranks.checked(rank, world_size)
        self._tail = _ranks.tail_of(tail, drop_last, self._world, _TAILS)
        self._epoch, self._skip = 0, 0  # of the next pass
        self._at = (0, 0)  # epoch and batches taken, over all ranks
        self._data: str | None = None
        self._stats = LoaderStats()

    def _check_whole(self, items: int, what: str) -> None:
        if self._tail != "error":
            return
        if items % self._size:
            raise ValueError(f"found {items} {what}, expected a multiple of batch_size={self._size}; give another tail=")

    def _check_even(self, batches: int) -> None:
        if self._tail == "error" and batches % self._world:
            raise ValueError(f"found {batches} batches, expected a multiple of world_size={self._world}; give another tail=")

    def _tail_of_state(self) -> str:
        """The tail in a state. The default tail is None, because it follows from the number of ranks, which may change."""
        return "short" if self._tail == "fill" else self._tail

    def _options(self) -> str:
        return f"{type(self).__name__} {self._size} {self._shuffle} {self._tail_of_state()}"

    def _fingerprint(self) -> str:
        if self._data is None:
            h = hashlib.blake2b(self._options().encode(), digest_size=8)
            for x in self._arrays:
                h.update(_arrays.sample(x))
            self._data = h.hexdigest()
        return self._data

    def state_dict(self) -> dict[str, Any]:
        """The position of the iteration: after the batch that was returned last.

        It is the same for all ranks, and any number of ranks can load it. It can be pickled and written as JSON.
        """
        return {"version": LAW, "data": self._fingerprint(), "seed": self._seed, "epoch": self._at[0], "batch": self._at[1]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Make the next pass continue from a state.

        Raises:
            ValueError: the state is for other data, other options or another random seed.
        """
        check_state(state, seed=self._seed, data=self._fingerprint())
        epoch = integer("epoch", state["epoch"], 0, (1 << 64) - 1)
        batch, most = integer("batch", state["batch"], 0), self._count(epoch)
        if batch > most:
            raise ValueError(f"state does not match: found {batch} batches taken, expected 0 to {most}")
        self._epoch, self._skip, self._at = epoch, batch, (epoch, batch)

    def set_epoch(self, epoch: int) -> None:
        """Make the next pass begin the given epoch. Running DataLoader workers are not affected."""
        epoch = integer("epoch", epoch, 0, (1 << 64) - 1)
        self._epoch, self._skip, self._at = epoch, 0, (epoch, 0)

    def _count(self, epoch: int) -> int:
        """The number of batches with items in an epoch, over all ranks."""
        raise NotImplementedError

    def _make(self, epoch: int, numbers: range, real: int) -> Iterator[tuple[Any, ...]]:
        """The batches with these numbers, in an epoch of ``real`` batches."""
        raise NotImplementedError

    def _source(self, number: int, real: int) -> int | None:
        """The number of the batch whose items a batch has; None for a batch of padding."""
        if number < real:
            return number
        return None if self._tail == "pad" else number % real

    def __len__(self) -> int:
        """The number of batches of a whole pass for this rank, over all DataLoader workers."""
        return len(range(self._rank, _ranks.end(self._tail, self._count(self._epoch), 0, self._world), self._world))

    def _convert(self, batch: Any) -> Any:
        """The object that is yielded for a batch."""
        return batch

    def stats(self) -> LoaderStats:
        """The number of batches, the seconds, and the share of the time that the trainer waited."""
        return self._stats

    def __iter__(self) -> Iterator[Any]:
        asked = time.perf_counter()
        epoch, skip = self._epoch, self._skip
        self._epoch, self._skip = epoch + 1, 0
        self._at = (epoch, skip)
        real = self._count(epoch)
        self._check_even(max(0, real - skip))
        end = _ranks.end(self._tail, real, skip, self._world)
        numbers = range(skip + self._rank, end, self._world)
        worker = _arrays.worker()
        if worker is not None:  # workers take turns, as the DataLoader expects
            numbers = numbers[worker[0] :: worker[1]]
        stats = self._stats
        for number, made in zip(numbers, self._make(epoch, numbers, real)):
            came = time.perf_counter()
            batch = self._convert(made)
            now = time.perf_counter()
            stats.batches += 1
            stats.waited += came - asked
            stats.converted += now - came
            stats.seconds += now - asked
            taken = number - self._rank + self._world
            self._at = (epoch, taken) if taken < end else (epoch + 1, 0)
            yield batch
            asked = time.perf_counter()
            stats.seconds += asked - now  # the trainer's time for the batch


class BatchIter(_Batches):
    """Batches of rows of any number of arrays or tensors of the same length.

    Each pass over it is the next epoch, from 0, also after a pass that was left early. The order of epoch ``e`` is a pure
    function of (seed, e): the same on every machine, in Go and in Python, on any device. In a
    ``torch.utils.data.DataLoader`` worker, it yields the worker's share. Give the DataLoader ``batch_size=None``, and
    ``persistent_workers=True``, or call `set_epoch` before each pass: new workers begin with the epoch of this iterator.

    Args:
        arrays: NumPy arrays, or torch tensors on any device, with a row per item.
        batch_size: rows per batch.
        shuffle: use the shuffled order of the epoch; otherwise the order of the rows.
        seed: the random seed of the orders, 0 to 2^64-1.
        tail: what happens to rows that do not fill a batch, and to batches that cannot be divided evenly between ranks.
            "fill", the default for several ranks: all ranks get equally many batches, some of which are repeated.
            "short", the default for one rank: some ranks may get one batch less. "drop": only full batches, equally
            many for every rank. "pad": batches are padded with zeros, and each batch ends with a mask [batch_size] of the
            real rows. "error": raise a ValueError if anything is left over.
        drop_last: True means ``tail="drop"``.
        rank, world_size: rank r gets the batches r, r + world_size, ...

    Yields:
        a tuple of arrays, one per argument, newly allocated, small ones several at a time (views if nothing is shuffled).

    Example:
        >>> for xb, yb in BatchIter(x, y, batch_size=64, seed=42):
        ...     train(xb, yb)
    """

    def __init__(
        self,
        *arrays: Any,
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
        tail: str | None = None,
        drop_last: bool | None = None,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        if not arrays:
            raise TypeError("found no array, expected at least one")
        arrays = tuple(_arrays.array(x, f"array {i}") for i, x in enumerate(arrays))
        super().__init__(arrays, batch_size, shuffle, seed, tail, drop_last, rank, world_size)
        self._n = int(arrays[0].shape[0])
        self._check_whole(self._n, "rows")
        self._check_even(self._count(0))

    def _count(self, epoch: int) -> int:
        return self._n // self._size if self._tail == "drop" else -(-self._n // self._size)

    def _make(self, epoch: int, numbers: range, real: int) -> Iterator[tuple[Any, ...]]:
        size = self._size
        if not self._shuffle:
            for b in numbers:
                at = self._source(b, real)
                rows = slice(0, 0) if at is None else slice(at * size, min((at + 1) * size, self._n))
                yield self._finish(tuple(x[rows] for x in self._arrays), rows.stop - rows.start)
            return
        order = Order(self._n, key(self._seed, epoch, ORDER))
        per = max(1, _BLOCK // size)  # batches whose rows are computed together
        devices = [_device(x) for x in self._arrays]
        for at in range(0, len(numbers), per):
            block = numbers[at : at + per]
            sources = np.arange(block.start, block.stop, block.step, dtype=np.int64)
            if self._tail == "fill":
                sources %= real
            starts = np.minimum(sources * size, self._n)
            ends = np.minimum(starts + size, self._n)
            shuffled = order(_arrays.ranges(starts, ends))
            # The row numbers are sent to each device once per block.
            on = {d: _arrays.index(x, shuffled) for d, x in zip(devices, self._arrays)}
            sizes = (ends - starts).tolist()
            parts: Iterator[tuple[Any, ...]] = zip(*(_arrays.takes(x, on[d], sizes) for d, x in zip(devices, self._arrays)))
            if self._tail == "pad":
                parts = map(self._finish, parts, sizes)
            yield from parts

    def _finish(self, batch: tuple[Any, ...], n: int) -> tuple[Any, ...]:
        if self._tail != "pad":
            return batch
        if n < self._size:
            places = np.arange(n)
            batch = tuple(_arrays.padded(x, _arrays.index(x, places), _arrays.index(x, places), (self._size,)) for x in batch)
        return (*batch, _arrays.ones(self._arrays[0], np.arange(self._size) < n))


def _device(x: Any) -> str:
    return str(x.device) if _arrays.is_torch(x) else "numpy"


class GroupBatchIter(_Batches):
    """Batches of groups. A group is the rows with one id, which stay together and in order.

    Each pass is the next epoch, as for `BatchIter`; the groups are shuffled.

    Args:
        group_id: the group of each row, one id per row; the rows of a group must be consecutive.
        arrays: further NumPy arrays or torch tensors of the same length.
        batch_size: groups per batch, or rows with ``count="rows"``.
        shuffle, seed, tail, drop_last, rank, world_size: as for `BatchIter`; ``shuffle_seed`` is another name of ``seed``.
        count: "groups", or "rows": each batch has as many groups, in order, as fit ``batch_size`` rows, and at least one.
        form: "flat": the arrays only; "ragged": also the offsets of the groups (groups + 1); "padded": arrays of shape
            [groups, longest, ...], padded with zeros, and a mask [groups, longest].
        bucketed: put groups of similar size (1 row, 2, 3 and 4, 5 to 8, ...) into a batch, for less padding. Padded batches
            of a bucket have one shape.

    Yields:
        a tuple of the group ids, the arrays, and what ``form`` adds.

    Example:
        >>> for group, x, y, mask in GroupBatchIter(query, x, y, batch_size=32, form="padded"):
        ...     loss = listwise(model(x), y, mask)
    """

    def __init__(
        self,
        group_id: Any,
        *arrays: Any,
        batch_size: int = 1,
        shuffle: bool = True,
        seed: int = 0,
        shuffle_seed: int | None = None,
        tail: str | None = None,
        drop_last: bool | None = None,
        rank: int = 0,
        world_size: int = 1,
        count: str = "groups",
        form: str = "flat",
        bucketed: bool = False,
    ) -> None:
        group_id = _arrays.array(group_id, "group_id")
        arrays = (group_id, *(_arrays.array(x, f"array {i}") for i, x in enumerate(arrays)))
        super().__init__(arrays, batch_size, shuffle, seed if shuffle_seed is None else shuffle_seed, tail, drop_last, rank, world_size)
        choice("count", count, ("groups", "rows"))
        choice("form", form, ("flat", "ragged", "padded"))
        bucketed = truth("bucketed", bucketed)
        if bucketed and count == "rows":
            raise ValueError("found bucketed=True with count='rows', expected one of the two")
        if bucketed and not shuffle:
            raise ValueError("found bucketed=True with shuffle=False, expected shuffle=True, because batches of similar groups have their own order")
        self._by_rows, self._form, self._bucketed = count == "rows", form, bucketed
        self._ptr = _groups(_arrays.numpy(group_id))
        self._starts_of: tuple[int, _arrays.Array] | None = None  # an epoch, and the offsets of its batches
        self._n = len(self._ptr) - 1
        self._buckets: list[_arrays.Array] = []
        if bucketed:
            sizes = np.diff(self._ptr)
            number = np.where(sizes > 1, np.ceil(np.log2(np.maximum(sizes, 1))), 0).astype(np.int64)
            self._buckets = [np.flatnonzero(number == k) for k in np.unique(number)]
            for groups in self._buckets:
                self._check_whole(len(groups), f"groups of up to {int(sizes[groups].max())} rows")
        elif not self._by_rows:
            self._check_whole(self._n, "groups")
        if not self._by_rows:  # by rows, each epoch has its own number of batches
            self._check_even(self._count(0))

    def _options(self) -> str:
        return f"{super()._options()} {self._by_rows} {self._form} {self._bucketed}"

    def _groups_at(self, epoch: int, positions: _arrays.Array) -> _arrays.Array:
        return Order(self._n, key(self._seed, epoch, ORDER))(positions) if self._shuffle else positions

    def _starts(self, epoch: int) -> _arrays.Array:
        """The offsets of an epoch's batches among the positions of its order, and the end."""
        if not self._by_rows:
            n = self._n - self._n % self._size if self._tail == "drop" else self._n
            return np.append(np.arange(0, n, self._size), n)
        if self._starts_of is None or self._starts_of[0] != epoch:
            groups = self._groups_at(epoch, np.arange(self._n))
            end = np.cumsum(np.diff(self._ptr)[groups])
            starts, at = [0], 0
            while at < self._n:
                before = int(end[at - 1]) if at else 0
                at = max(at + 1, int(np.searchsorted(end, before + self._size, side="right")))
                starts.append(at)
            self._starts_of = epoch, np.array(starts)
        return self._starts_of[1]

    def _bucket_starts(self) -> _arrays.Array:
        """The number of the first batch of each bucket, and the number of all batches."""
        counts = [len(g) // self._size if self._tail == "drop" else -(-len(g) // self._size) for g in self._buckets]
        return np.cumsum([0, *counts])

    def _count(self, epoch: int) -> int:
        return int(self._bucket_starts()[-1]) if self._bucketed else len(self._starts(epoch)) - 1

    def _make(self, epoch: int, numbers: range, real: int) -> Iterator[tuple[Any, ...]]:
        if self._bucketed:
            yield from self._make_bucketed(epoch, numbers, real)
            return
        starts = self._starts(epoch)
        groups = self._groups_at(epoch, np.arange(int(starts[-1])))
        for b in numbers:
            at = self._source(b, real)
            yield self._gather(groups[:0] if at is None else groups[starts[at] : starts[at + 1]], None)

    def _make_bucketed(self, epoch: int, numbers: range, real: int) -> Iterator[tuple[Any, ...]]:
        first, sizes = self._bucket_starts(), np.diff(self._ptr)
        orders = [Order(len(g), key(self._seed, epoch, BUCKET, k)) for k, g in enumerate(self._buckets, 1)]
        order = Order(real, key(self._seed, epoch, BUCKET, 0))
        for b in numbers:
            source = self._source(b, real)
            if source is None:
                yield self._gather(np.empty(0, np.int64), int(sizes.max(initial=0)))
                continue
            at = int(order(np.array([source]))[0])
            k = int(np.searchsorted(first, at, side="right")) - 1
            groups = self._buckets[k]
            begin = (at - int(first[k])) * self._size
            places = np.arange(begin, min(begin + self._size, len(groups)))
            yield self._gather(groups[orders[k](places)], int(sizes[groups].max()))

    def _gather(self, groups: _arrays.Array, longest: int | None) -> tuple[Any, ...]:
        starts, ends = self._ptr[groups], self._ptr[groups + 1]
        sizes = ends - starts
        rows = _arrays.ranges(starts, ends)
        places = self._size if self._tail == "pad" and not self._by_rows else len(groups)
        on: dict[str, Any] = {}
        for x in self._arrays:
            on.setdefault(_device(x), _arrays.index(x, rows))
        first = self._arrays[min(1, len(self._arrays) - 1)]  # masks and offsets are on the device of the columns, not of the ids
        if self._form != "padded":
            out = tuple(_arrays.take(x, on[_device(x)]) for x in self._arrays)
            if self._form == "flat":
                return out
            offsets = np.full(places + 1, len(rows), np.int64)
            offsets[0] = 0
            offsets[1 : len(groups) + 1] = np.cumsum(sizes)
            return (*out, _arrays.index(first, offsets))
        if longest is None:
            longest = int(sizes.max(initial=0))
        at = _arrays.ranges(np.arange(len(groups)) * longest, np.arange(len(groups)) * longest + sizes)
        shape = (places, longest)
        out = tuple(_arrays.padded(x, on[_device(x)], _arrays.index(x, at), shape) for x in self._arrays)
        mask = np.zeros(places * longest, bool)
        mask[at] = True
        return (*out, _arrays.ones(first, mask.reshape(shape)))


def _groups(ids: _arrays.Array) -> _arrays.Array:
    """The offset of each group, and the number of rows."""
    if ids.ndim != 1:
        raise ValueError(f"group_id: found shape {ids.shape}, expected one id per row")
    if not len(ids):
        return np.zeros(1, np.int64)
    unequal = np.flatnonzero(ids != ids)  # NaN and NaT
    if len(unequal):
        raise ValueError(f"group_id: found {ids[unequal[0]]} at row {unequal[0]}, expected the id of a group, which must equal itself")
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    values, _where, counts = np.unique(ids[starts], return_index=True, return_counts=True)
    if (counts > 1).any():
        again = values[counts > 1][0]
        first, second = starts[ids[starts] == again][:2]
        raise ValueError(
            f"group_id: found group {again} at row {first} and again at row {second}, expected the rows of a group together; sort the rows by group_id"
        )
    return np.append(starts, len(ids)).astype(np.int64)
