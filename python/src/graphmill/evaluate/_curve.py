"""The areas under the curves of thresholds: auc (ROC) and ap (precision and recall)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Optional

import numpy as np

from .._arrays import Array

_SORTED = 1 << 20  # negatives that are sorted at a time

Blocks = Callable[[], Iterator[tuple[Array, Optional[Array]]]]


class Curve:
    """Positives against negatives, by thresholds at the scores of the positives.

    Args:
        positive: the scores of the positives.
        items: the item that each positive belongs to.
        negatives: a function that goes through the scores of the negatives in blocks, with the item of each, or None if they
            always count once.

    What a threshold needs are the numbers of negatives below it and up to it. These are integers, so their order does not matter.
    """

    def __init__(self, positive: Array, items: Array, negatives: Blocks) -> None:
        self._thresholds, self._number = _distinct(positive)
        self._positive, self._items, self._negatives = positive, items, negatives
        self._once: tuple[Array, Array, int] | None = None
        self._at: Array | None = None
        self._codes: list[tuple[Array, Array | None]] | None = None

    def areas(self, names: Iterable[str], weights: Array | None) -> dict[str, float]:
        """Those of "auc" and "ap" that are named; NaN if there are no positives or no negatives. ``weights`` says how often each item counts."""
        if weights is None:
            at = self._number
            below, upto, negatives = self._plain()
        else:
            if self._at is None:
                self._at = np.searchsorted(self._thresholds, self._positive)
            at = _summed(self._at, weights[self._items], len(self._thresholds))
            below, upto, negatives = self._weighted(weights)
        positives = int(at.sum())
        out = dict.fromkeys(names, math.nan)
        if not positives or not negatives:
            return out
        if "auc" in out:
            out["auc"] = int((at * (below + upto)).sum()) / (2 * positives * negatives)
        if "ap" in out:
            some = at > 0  # a threshold where no positive is left adds nothing, and may have nothing above it
            found = np.cumsum(at[::-1])[::-1][some]
            out["ap"] = math.fsum((at[some] * (found / (found + (negatives - below[some])))).tolist()) / positives
        return out

    def _plain(self) -> tuple[Array, Array, int]:
        if self._once is None:
            below, upto, n = np.zeros(len(self._thresholds), np.int64), np.zeros(len(self._thresholds), np.int64), 0
            step = max(_SORTED, len(self._thresholds))
            for x, _ in self._negatives():
                for at in range(0, len(x), step):
                    part = np.sort(x[at : at + step])
                    left = np.searchsorted(part, self._thresholds, "left")
                    below += left
                    upto += left
                    # Where scores are many, few are equal, and only those are looked up again.
                    equal = np.flatnonzero(part.take(left, mode="clip") == self._thresholds)
                    upto[equal] += np.searchsorted(part, self._thresholds[equal], "right") - left[equal]
                n += len(x)
            self._once = below, upto, n
        return self._once

    def _weighted(self, weights: Array) -> tuple[Array, Array, int]:
        n = len(self._thresholds)
        if self._codes is None:
            # 2i of a score between thresholds i - 1 and i, and 2i + 1 of one that equals threshold i.
            kept = np.int32 if n < 1 << 29 else np.int64
            self._codes = [
                ((np.searchsorted(self._thresholds, x, "left") + np.searchsorted(self._thresholds, x, "right")).astype(kept), owner)
                for x, owner in self._negatives()
            ]
        seen = np.zeros(2 * n + 1, np.int64)
        for codes, owner in self._codes:
            seen += np.bincount(codes, minlength=2 * n + 1) if owner is None else _summed(codes, weights[owner], 2 * n + 1)
        upto = np.cumsum(seen)
        return upto[: 2 * n : 2], upto[1::2], int(upto[-1])


def _distinct(x: Array) -> tuple[Array, Array]:
    """The different values in ascending order, and how often each is there. It is np.unique, faster where most values differ."""
    values = np.sort(x)
    first = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    if first.all():
        return values, np.ones(len(values), np.int64)
    at = np.flatnonzero(first)
    return values[at], np.diff(at, append=len(values))


def _summed(at: Array, weights: Array, n: int) -> Array:
    """Sums of integers by their places. NumPy adds floats, which are exact below 2^53."""
    out: Array = np.bincount(at, weights, n).astype(np.int64)
    return out
