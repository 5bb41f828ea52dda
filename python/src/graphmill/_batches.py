"""Iterating over rows and over groups of rows in batches."""

from __future__ import annotations

import hashlib
import time
from typing import Any, Iterator

import numpy as np

from . import _arrays
from ._order import BUCKET, LAW, ORDER, Order, check_state, key
from ._stats import LoaderStats

_TAILS = ("keep", "drop", "pad", "error")
_BLOCK = 1 << 20  # positions of an order that are made at a time


class _Batches:
    """What rows and groups have in common: epochs, ranks, tails and states."""

    def __init__(self, arrays: tuple[Any, ...], batch_size: int, shuffle: bool, seed: int, tail: str, rank: int, world_size: int) -> None:
        if batch_size < 1:
            raise ValueError(f"found batch_size={batch_size}, expected at least 1")
        if tail not in _TAILS:
            raise ValueError(f"found tail={tail!r}, expected one of {', '.join(_TAILS)}")
        if not 0 <= rank < world_size:
            raise ValueError(f"found rank={rank} of world_size={world_size}, expected 0 to {world_size - 1}")
        if not 0 <= seed < 1 << 64:
            raise ValueError(f"found seed={seed}, expected 0 to 2^64-1")
        for i, x in enumerate(arrays):
            if x.shape[0] != arrays[0].shape[0]:
                raise ValueError(f"array {i}: found {x.shape[0]} rows, expected {arrays[0].shape[0]} as in array 0")
        self._arrays, self._size, self._shuffle, self._seed = arrays, batch_size, bool(shuffle), seed
        self._tail, self._rank, self._world = tail, rank, world_size
        self._epoch, self._skip = 0, 0  # of the next pass
        self._at = (0, 0)  # epoch and batches taken, over all ranks
        self._data: str | None = None
        self._stats = LoaderStats()

    def _all(self, real: int) -> int:
        """Batches over all ranks when ``real`` of them have items."""
        if self._tail == "drop":
            return real - real % self._world
        if self._tail == "pad":
            return -(-real // self._world) * self._world
        return real

    def _check_whole(self, items: int, what: str) -> None:
        if self._tail != "error":
            return
        if items % self._size:
            raise ValueError(f"found {items} {what}, expected a multiple of batch_size={self._size}; keep, drop or pad the tail")
        if items // self._size % self._world:
            raise ValueError(f"found {items // self._size} batches, expected a multiple of world_size={self._world}; keep, drop or pad the tail")

    def _options(self) -> str:
        return f"{type(self).__name__} {self._size} {self._shuffle} {self._tail}"

    def _fingerprint(self) -> str:
        if self._data is None:
            h = hashlib.blake2b(self._options().encode(), digest_size=8)
            for x in self._arrays:
                h.update(_arrays.sample(x))
            self._data = h.hexdigest()
        return self._data

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration stands: after the batch that was handed out last.

        It is the same for all ranks and serves any number of them. It can be pickled and
        written as JSON.
        """
        return {"version": LAW, "data": self._fingerprint(), "seed": self._seed, "epoch": self._at[0], "batch": self._at[1]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Make the next pass go on where a state says.

        Raises:
            ValueError: the state is of other data, options or another seed.
        """
        check_state(state, seed=self._seed, data=self._fingerprint())
        epoch, batch = state["epoch"], state["batch"]
        if not 0 <= batch <= self._all(self._count(epoch)):
            raise ValueError(f"state does not match: found {batch} batches taken, expected 0 to {self._all(self._count(epoch))}")
        self._epoch, self._skip, self._at = epoch, batch, (epoch, batch)

    def set_epoch(self, epoch: int) -> None:
        """Make the next pass that of an epoch, from its beginning."""
        if not 0 <= epoch < 1 << 64:
            raise ValueError(f"found epoch {epoch}, expected 0 to 2^64-1")
        self._epoch, self._skip, self._at = epoch, 0, (epoch, 0)

    def _count(self, epoch: int) -> int:
        """Batches with items of an epoch, over all ranks."""
        raise NotImplementedError

    def _make(self, epoch: int, numbers: range, real: int) -> Iterator[tuple[Any, ...]]:
        """The batches with these numbers, of which those from ``real`` on are padding."""
        raise NotImplementedError

    def _share(self, numbers: range) -> range:
        """Of the batches of this rank those that this process makes."""
        return numbers

    def __len__(self) -> int:
        """Batches of a pass from its beginning, of this rank."""
        return len(range(self._rank, self._all(self._count(self._epoch)), self._world))

    def _convert(self, batch: Any) -> Any:
        """What is handed out for a batch that was made."""
        return batch

    def stats(self) -> LoaderStats:
        """How the time went: batches, seconds, and the share that the trainer waited."""
        return self._stats

    def __iter__(self) -> Iterator[Any]:
        asked = time.perf_counter()
        epoch, skip = self._epoch, self._skip
        self._epoch, self._skip = epoch + 1, 0
        self._at = (epoch, skip)
        real = self._count(epoch)
        total = self._all(real)
        numbers = self._share(range(skip + self._rank, total, self._world))
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
            self._at = (epoch, taken) if taken < total else (epoch + 1, 0)
            yield batch
            asked = time.perf_counter()
            stats.seconds += asked - now  # what the trainer did with the batch


class BatchIter(_Batches):
    """Batches of rows of any number of arrays or tensors of the same length.

    Each pass over it is the next epoch, from 0, also after a pass that was left early. The
    order of epoch ``e`` is a pure function of (seed, e): the same on every machine, in Go
    and in Python, on any device.

    Args:
        arrays: NumPy arrays, or torch tensors on any device; a row an item.
        batch_size: rows a batch.
        shuffle: walk in the shuffled order of the epoch; otherwise as the rows are.
        seed: of the orders, 0 to 2^64-1. Take seeds above all epoch numbers where runs are to
            share no order.
        tail: what becomes of rows that do not fill a batch, and of batches that do not go
            round among ranks: "keep" them, "drop" them, "pad" them with zeros, or raise an "error".
            With "pad" a mask of the real rows comes last in each batch.
        rank, world_size: rank r takes the batches r, r + world_size, ...

    Yields:
        a tuple of arrays, one an argument, in fresh memory (views where nothing is shuffled).

    Example:
        >>> for xb, yb in BatchIter(x, y, batch_size=64, seed=42):
        ...     train(xb, yb)
    """

    def __init__(
        self, *arrays: Any, batch_size: int, shuffle: bool = True, seed: int = 0, tail: str = "keep", rank: int = 0, world_size: int = 1
    ) -> None:
        if not arrays:
            raise TypeError("found no array, expected at least one")
        arrays = tuple(_arrays.array(x, f"array {i}") for i, x in enumerate(arrays))
        super().__init__(arrays, batch_size, shuffle, seed, tail, rank, world_size)
        self._n = int(arrays[0].shape[0])
        self._check_whole(self._n, "rows")

    def _count(self, epoch: int) -> int:
        return self._n // self._size if self._tail == "drop" else -(-self._n // self._size)

    def _make(self, epoch: int, numbers: range, real: int) -> Iterator[tuple[Any, ...]]:
        size = self._size
        if not self._shuffle:
            for b in numbers:
                rows = slice(b * size, min((b + 1) * size, self._n))
                yield self._finish(tuple(x[rows] for x in self._arrays), max(0, rows.stop - rows.start))
            return
        order = Order(self._n, key(self._seed, epoch, ORDER))
        per = max(1, _BLOCK // size)  # batches whose rows are found together
        devices = [_device(x) for x in self._arrays]
        for at in range(0, len(numbers), per):
            block = numbers[at : at + per]
            starts = np.minimum(np.arange(block.start, block.stop, block.step, dtype=np.int64) * size, self._n)
            ends = np.minimum(starts + size, self._n)
            shuffled = order(_arrays.ranges(starts, ends))
            # The rows go to each device once a block.
            on = {d: _arrays.index(x, shuffled) for d, x in zip(devices, self._arrays)}
            done = 0
            for n in (ends - starts).tolist():
                part = tuple(_arrays.take(x, on[d][done : done + n]) for d, x in zip(devices, self._arrays))
                done += n
                yield self._finish(part, n)

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
    """Batches of groups: rows with one id, which stay together and in order.

    Each pass is the next epoch, as with `BatchIter`; what is shuffled are the groups.

    Args:
        group_id: the group of each row; the rows of a group stand together.
        arrays: further NumPy arrays or torch tensors of the same length.
        batch_size: groups a batch, or rows with ``count="rows"``.
        shuffle, seed, tail, rank, world_size: as in `BatchIter`; ``shuffle_seed`` is another name of the
            seed.
        count: "groups", or "rows": as many groups, in order, as fit ``batch_size`` rows,
            and at least one.
        form: what is yielded after the arrays: "flat" nothing; "ragged" the offsets of the groups
            (groups + 1); "padded" a mask [groups, longest], and arrays of shape [groups, longest, ...]
            filled up with zeros.
        bucketed: batches of groups of like size (1 row, 2, 3 and 4, 5 to 8, ...): less
            padding. Padded batches of a bucket have one shape.

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
        tail: str = "keep",
        rank: int = 0,
        world_size: int = 1,
        count: str = "groups",
        form: str = "flat",
        bucketed: bool = False,
    ) -> None:
        group_id = _arrays.array(group_id, "group_id")
        arrays = (group_id, *(_arrays.array(x, f"array {i}") for i, x in enumerate(arrays)))
        super().__init__(arrays, batch_size, shuffle, seed if shuffle_seed is None else shuffle_seed, tail, rank, world_size)
        if count not in ("groups", "rows"):
            raise ValueError(f"found count={count!r}, expected groups or rows")
        if form not in ("flat", "ragged", "padded"):
            raise ValueError(f"found form={form!r}, expected flat, ragged or padded")
        if bucketed and count == "rows":
            raise ValueError("found bucketed=True with count='rows', expected one of the two")
        if bucketed and not shuffle:
            raise ValueError("found bucketed=True with shuffle=False, expected shuffle: batches of like groups are an order of their own")
        self._by_rows, self._form, self._bucketed = count == "rows", form, bucketed
        ids = group_id.detach().cpu().numpy() if _arrays.is_torch(group_id) else np.asarray(group_id)
        self._ptr = _groups(ids)
        self._cut: tuple[int, _arrays.Array] | None = None  # of an epoch: where batches begin
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

    def _options(self) -> str:
        return f"{super()._options()} {self._by_rows} {self._form} {self._bucketed}"

    def _groups_at(self, epoch: int, positions: _arrays.Array) -> _arrays.Array:
        return Order(self._n, key(self._seed, epoch, ORDER))(positions) if self._shuffle else positions

    def _starts(self, epoch: int) -> _arrays.Array:
        """Where the batches of an epoch begin among the positions of its order, and the end."""
        if not self._by_rows:
            n = self._n - self._n % self._size if self._tail == "drop" else self._n
            return np.append(np.arange(0, n, self._size), n)
        if self._cut is None or self._cut[0] != epoch:
            groups = self._groups_at(epoch, np.arange(self._n))
            end = np.cumsum(np.diff(self._ptr)[groups])
            starts, at = [0], 0
            while at < self._n:
                before = int(end[at - 1]) if at else 0
                at = max(at + 1, int(np.searchsorted(end, before + self._size, side="right")))
                starts.append(at)
            self._cut = epoch, np.array(starts)
        return self._cut[1]

    def _bucket_starts(self) -> _arrays.Array:
        """The number of the first batch of each bucket, bucket after bucket, and of all."""
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
            yield self._gather(groups[starts[b] : starts[b + 1]] if b < real else groups[:0], None)

    def _make_bucketed(self, epoch: int, numbers: range, real: int) -> Iterator[tuple[Any, ...]]:
        first, sizes = self._bucket_starts(), np.diff(self._ptr)
        orders = [Order(len(g), key(self._seed, epoch, BUCKET, k)) for k, g in enumerate(self._buckets, 1)]
        order = Order(real, key(self._seed, epoch, BUCKET, 0))
        for b in numbers:
            if b >= real:
                yield self._gather(np.empty(0, np.int64), int(sizes.max(initial=0)))
                continue
            at = int(order(np.array([b]))[0])
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
        first = self._arrays[min(1, len(self._arrays) - 1)]  # masks and offsets are where the columns are, not the ids
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
    """Where each group begins, and the number of rows."""
    if ids.ndim != 1:
        raise ValueError(f"group_id: found shape {ids.shape}, expected one id a row")
    if not len(ids):
        return np.zeros(1, np.int64)
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    values, where, counts = np.unique(ids[starts], return_index=True, return_counts=True)
    if (counts > 1).any():
        again = values[counts > 1][0]
        first, second = starts[ids[starts] == again][:2]
        raise ValueError(f"group_id: found group {again} at row {first} and again at row {second}, expected the rows of a group together; sort the rows by it")
    return np.append(starts, len(ids)).astype(np.int64)
