"""Intervals of metrics by resampling.

A resample of n items has n draws with replacement: draw j of the state ``key(seed, WORD, resample)`` of the draw law, times n, divided
by 2^64. So it is the same in every version of NumPy and on every machine.
"""

from __future__ import annotations

import math

import numpy as np

from .._arrays import Array
from .._order import _draws, key

WORD = 0x626F6F74  # "boot", which distinguishes these draws from others of the same seed


def times(seed: int, resample: int, n: int) -> Array:
    """How often each of ``n`` items is in a resample."""
    u = np.uint64
    x = _draws(key(seed, WORD, resample), n)
    with np.errstate(over="ignore"):
        # The upper 64 bits of the product with a number of at most 32 bits, by halves.
        chosen = ((x >> u(32)) * u(n) + ((x & u(0xFFFFFFFF)) * u(n) >> u(32))) >> u(32)
    out: Array = np.bincount(chosen.astype(np.int64), minlength=n)
    return out


def interval(values: Array, level: float) -> tuple[float, float]:
    """The percentiles that ``level`` of the values lie between; NaN among them are left out, and NaN is returned if there is no other."""
    x = np.sort(values[~np.isnan(values)])
    if not len(x):
        return math.nan, math.nan
    return _percentile(x, (1 - level) / 2), _percentile(x, (1 + level) / 2)


def _percentile(x: Array, q: float) -> float:
    at = q * (len(x) - 1)
    low = min(int(at), len(x) - 1)
    high = min(low + 1, len(x) - 1)
    return float(x[low] + (x[high] - x[low]) * (at - low))
