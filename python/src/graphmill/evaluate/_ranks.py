"""The rank of a score among others: how many are above it, and how many are equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import choice
from .._arrays import Array

BLOCK = 1 << 17  # values that are compared at a time, so that they stay in a processor's cache

_TIES = {"mean": 0.5, "worst": 1.0, "best": 0.0}


def tie_rule(ties: Any) -> float:
    """The share of the equal scores that counts as above."""
    return _TIES[choice("ties", ties, tuple(_TIES))]


def ranked(above: Array, equal: Array, share: float) -> Array:
    """Ranks from 1, float64."""
    out: Array = 1.0 + above + share * equal
    return out


def counts(values: Array, own: Array, rows: Array | None = None) -> tuple[Array, Array]:
    """How many values of its row are above each score, and how many are equal. NaN among the values are neither.

    Args:
        values: [rows, k].
        own: a score per row, of the same dtype.
        rows: the row of each score, if it is not the score's own number.
    """
    n, k = len(own), values.shape[1]
    above, equal = np.zeros(n, np.int64), np.zeros(n, np.int64)
    if not n or not k:
        return above, equal
    step = max(1, BLOCK // k)
    flags = np.zeros((min(step, n), -(-k // 8) * 8), bool)  # the columns beyond k stay False
    for at in range(0, n, step):
        mine = own[at : at + step, None]
        x = values[at : at + step] if rows is None else values[rows[at : at + step]]
        of = flags[: len(x)]
        np.greater(x, mine, out=of[:, :k])
        above[at : at + step] = _true(of)
        np.greater_equal(x, mine, out=of[:, :k])
        equal[at : at + step] = _true(of)
    equal -= above
    return above, equal


def _true(flags: Array) -> Array:
    """The number of True in each row; a row's length is a multiple of 8.

    Eight flags are one integer of 64 bits. Sums of up to 255 of them count in each byte on its own, several times as fast as NumPy
    counts along an axis.
    """
    words = flags.view(np.uint64)
    if words.shape[1] > 1 << 12:
        return np.array([np.count_nonzero(row) for row in flags], np.int64)
    out = np.zeros(len(flags), np.int64)
    for at in range(0, words.shape[1], 255):
        out += np.add.reduce(words[:, at : at + 255], axis=1).view(np.uint8).reshape(-1, 8).sum(1, dtype=np.int64)
    return out
