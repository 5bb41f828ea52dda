"""Arrays that users give, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import choice
from .._arrays import Array, is_torch
from .._arrays import numpy as as_numpy

_MISSING = ("error", "skip")


def numbers(name: str, x: Any, *dims: int) -> Array:
    """An array of numbers with one of these numbers of dimensions. Floats of 16 bits become float32, and bools uint8, which have the same order."""
    try:
        a = as_numpy(x) if is_torch(x) else np.asarray(x)
    except ValueError:  # a list of lists of several lengths
        raise TypeError(f"found {name} that is no array, expected an array of numbers or a tensor") from None
    if a.dtype.name == "bfloat16":
        a = a.astype(np.float32)
    if a.size == 0 and a.dtype.kind == "O":
        a = a.astype(np.float64)
    if a.dtype.kind not in "biuf":
        raise TypeError(f"found {name} of dtype {a.dtype}, expected an array of numbers or a tensor")
    if a.ndim not in dims:
        what = " or ".join({0: "one number", 1: "[n]", 2: "[n, k]"}[d] for d in dims)
        hint = f"; give {name}.reshape(-1)" if 1 in dims and a.ndim > 1 and max(a.shape) == a.size else ""
        raise ValueError(f"found {name} of shape {list(a.shape)}, expected {what}{hint}")
    if a.dtype == np.float16:
        return a.astype(np.float32)
    return a.astype(np.uint8) if a.dtype.kind == "b" else a


def whole(name: str, x: Any, dims: int = 1) -> Array:
    """An array of integers, as int64."""
    a = numbers(name, x, dims)
    if a.dtype.kind == "f" and a.size:
        raise TypeError(f"found {name} of dtype {a.dtype}, expected integers")
    if a.dtype == np.uint64 and a.size and int(a.max()) >= 1 << 63:
        raise ValueError(f"found {int(a.max())} in {name}, expected integers below 2^63")
    return a.astype(np.int64, copy=False)


def pairs(name: str, x: Any, what: str) -> Array:
    """A [2, n] array of integers, none of them negative. ``what`` names its two rows."""
    a = whole(name, x, 2)
    if len(a) != 2:
        hint = f"; give {name}.T" if a.shape[1] == 2 else ""
        raise ValueError(f"found {name} of shape {list(a.shape)}, expected [2, n]: {what}{hint}")
    if a.size and int(a.min()) < 0:
        raise ValueError(f"found {int(a.min())} in {name}, expected integers of at least 0")
    return a


def same_length(name: str, n: int, of: str, m: int, unit: str = "one per item") -> None:
    if n != m:
        raise ValueError(f"found {n} {name} and {m} {of}, expected {unit}")


def finite(name: str, x: Array, rows: Array | range | None = None) -> None:
    """Raise a ValueError that names the first row with a NaN. ``rows`` are the numbers of the rows of ``x``."""
    if x.dtype.kind != "f" or not x.size or not np.isnan(np.maximum.reduce(x, axis=None)):
        return
    bad = int(np.argmax(np.isnan(x).reshape(len(x), -1).any(1)))
    raise ValueError(f"found NaN in row {bad if rows is None else int(rows[bad])} of {name}, expected a number")


def skips(missing: Any) -> bool:
    """Whether missing values are left out."""
    return choice("missing", missing, _MISSING) == "skip"
