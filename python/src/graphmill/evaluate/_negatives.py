"""The scores of negative links in their three forms: a row per positive, rows of several lengths, and one list for all positives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from .._arrays import Array, ranges
from ._input import finite
from ._ranks import BLOCK, counts


class Negatives(ABC):
    """Scores of negatives. With ``skip``, NaN among them are not there; else they are an error."""

    def __init__(self, values: Array, skip: bool) -> None:
        self.values, self.skip = values, skip

    @abstractmethod
    def counts(self, positive: Array) -> tuple[Array, Array]:
        """How many negatives of each positive are above it, and how many are equal."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[Array, Array | None]]:
        """All scores that are there in blocks, each with the number of its positive, unless it belongs to all."""

    @abstractmethod
    def part(self, rows: Array) -> Negatives:
        """The negatives of some positives."""

    def _there(self, x: Array, owner: Array | None) -> tuple[Array, Array | None]:
        if not self.skip or x.dtype.kind != "f":
            return x, owner
        there = ~np.isnan(x)
        return x[there], None if owner is None else owner[there]


class Matrix(Negatives):
    """[n, k]: a row per positive."""

    def counts(self, positive: Array) -> tuple[Array, Array]:
        n, k = self.values.shape
        above, equal = np.zeros(n, np.int64), np.zeros(n, np.int64)
        step = max(1, BLOCK // max(k, 1))
        for at in range(0, n, step):
            x = self.values[at : at + step].astype(positive.dtype, copy=False)
            if not self.skip:
                finite("negative", x, np.arange(at, at + len(x)))
            above[at : at + step], equal[at : at + step] = counts(x, positive[at : at + step])
        return above, equal

    def blocks(self) -> Iterator[tuple[Array, Array | None]]:
        n, k = self.values.shape
        step = max(1, (BLOCK << 3) // max(k, 1))
        for at in range(0, n, step):
            x = self.values[at : at + step]
            yield self._there(x.reshape(-1), np.repeat(np.arange(at, at + len(x)), k))

    def part(self, rows: Array) -> Negatives:
        return Matrix(self.values[rows], self.skip)


class Ragged(Negatives):
    """[m], with the negatives of positive i from ``offsets[i]`` to ``offsets[i + 1]``."""

    def __init__(self, values: Array, offsets: Array, skip: bool) -> None:
        super().__init__(values, skip)
        self.offsets = offsets

    def _steps(self, size: int) -> Iterator[tuple[int, int]]:
        """Ranges of positives that have about as many negatives together."""
        at, n = 0, len(self.offsets) - 1
        while at < n:
            end = int(np.searchsorted(self.offsets, self.offsets[at] + size, "right")) - 1
            end = min(max(end, at + 1), n)
            yield at, end
            at = end

    def counts(self, positive: Array) -> tuple[Array, Array]:
        above, equal = np.zeros(len(positive), np.int64), np.zeros(len(positive), np.int64)
        for at, end in self._steps(BLOCK):
            bounds = self.offsets[at : end + 1]
            x, sizes = self.values[bounds[0] : bounds[-1]], np.diff(bounds)
            own = np.repeat(positive[at:end], sizes)
            if not self.skip:
                finite("negative", x, np.repeat(np.arange(at, end), sizes))
            for out, flags in ((above, x > own), (equal, x == own)):
                before = np.concatenate([[0], np.cumsum(flags)])
                out[at:end] = np.diff(before[bounds - bounds[0]])
        return above, equal

    def blocks(self) -> Iterator[tuple[Array, Array | None]]:
        for at, end in self._steps(BLOCK << 3):
            bounds = self.offsets[at : end + 1]
            yield self._there(self.values[bounds[0] : bounds[-1]], np.repeat(np.arange(at, end), np.diff(bounds)))

    def part(self, rows: Array) -> Negatives:
        starts, ends = self.offsets[rows], self.offsets[rows + 1]
        return Ragged(self.values[ranges(starts, ends)], np.concatenate([[0], np.cumsum(ends - starts)]), self.skip)


class Shared(Negatives):
    """[m]: every positive is ranked among all of them."""

    def __init__(self, values: Array, skip: bool) -> None:
        super().__init__(values, skip)
        if not skip:
            finite("negative", values)
        self.values = np.sort(self._there(values, None)[0])

    def counts(self, positive: Array) -> tuple[Array, Array]:
        upto = np.searchsorted(self.values, positive, "right")
        return len(self.values) - upto, upto - np.searchsorted(self.values, positive, "left")

    def blocks(self) -> Iterator[tuple[Array, Array | None]]:
        yield self.values, None

    def part(self, rows: Array) -> Negatives:
        return self
