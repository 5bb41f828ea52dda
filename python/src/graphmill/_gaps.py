"""Rows of columns that a model cannot take: those with missing or infinite values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ._arrays import Array, widened
from ._folder import Columns

_BLOCK = 1 << 20  # values that are looked at together
_MOST = 1 << 28  # values of a column that are looked at; of a longer one, blocks with equal distances between them
_MASK = "_missing"  # the importer adds it to the name of a column, for the bools that say which of its rows are missing


def gaps(columns: Columns, name: str) -> int:
    """The number of rows of a column of numbers that have a NaN, an infinite value, or True in the column ``NAME_missing``.

    A feature has none. Of a column of more than 2^28 values only so many are looked at, and columns in an object store are not.
    """
    if columns.remote or name in columns.features:
        return 0
    if name not in columns.gaps:
        c = columns.column(name)
        mask = columns.column(name + _MASK) if name + _MASK in columns else None
        bad = np.asarray(mask.values) if mask is not None and mask.dtype == "bool" and mask.shape == c.shape else None
        floats = c.dtype in ("float16", "bfloat16", "float32", "float64")
        columns.gaps[name] = (
            sum(_bad(c.values[of], bad[of] if bad is not None else None, c.dtype) for of in _blocks(c.values)) if floats or bad is not None else 0
        )
    return columns.gaps[name]


def _blocks(values: Array) -> list[slice]:
    rows, width = len(values), max(1, values[:1].size)
    each = max(1, _BLOCK // width)
    step = each * max(1, -(-rows * width // _MOST))
    return [slice(at, min(at + each, rows)) for at in range(0, rows, step)]


def _bad(x: Array, masked: Array | None, dtype: str) -> int:
    """Of rows, the number of those with a gap."""
    out = np.zeros(len(x), bool) if masked is None else masked.reshape(len(x), -1).any(1)
    if dtype == "bfloat16":
        x = widened(x)
    with np.errstate(all="ignore"):
        # A sum is fast, and it is finite unless a value is not, or many are large.
        if x.dtype.kind == "f" and not np.isfinite(x.sum(dtype=np.float32 if x.itemsize == 2 else None)):
            out = out | ~np.isfinite(x.reshape(len(x), -1)).all(1)
    return int(out.sum())


def listed(found: Mapping[str, Mapping[str, int]], columns: Mapping[str, Columns]) -> str:
    """Columns by type, with their numbers of rows with gaps, as text."""
    all_ = [f"{t}/{name} ({n:,} of {columns[t].rows:,} rows)" for t, of in found.items() for name, n in of.items()]
    return ", ".join(all_[:8]) + (f" and {len(all_) - 8} others" if len(all_) > 8 else "")
