"""Values in memory as columns: arrays, tensors and lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arguments import _brief
from .._arrays import Array, is_torch, numpy
from .._folder import _DTYPES, Column

MISSING = "_missing"  # ends the name of a column that says which values are missing


def column(name: str, x: Any, what: str) -> Column:
    """Values with a row per item as a `Column`: an array or tensor, or a list of numbers, strings, or arrays or lists of these.

    Lists that all have the same length become rows of a fixed shape.

    Raises:
        TypeError: no column can hold the values.
    """
    if isinstance(x, Column):
        return x
    if is_torch(x):
        x = x.detach().cpu()
        if not hasattr(x, "numpy") or str(getattr(x, "layout", "torch.strided")) != "torch.strided" or getattr(x, "is_quantized", False):
            raise TypeError(f"{what}: column {name!r}: found a sparse or quantized tensor, expected a dense one")
        if str(x.dtype) == "torch.bfloat16":
            import torch

            return _plain(name, x.contiguous().view(torch.int16).numpy().view(np.uint16), "bfloat16", what)
        x = numpy(x) if not x.dtype.is_floating_point else x.numpy()
    if not isinstance(x, np.ndarray) and hasattr(x, "__array__"):
        x = np.asarray(x)
    if isinstance(x, np.ndarray):
        if x.dtype.kind in "US":
            return strings(name, x.ravel().tolist(), x.shape)
        if x.dtype.kind == "M":
            return times(name, x)
        if x.dtype.kind != "O":
            return _plain(name, x.view(np.uint16) if x.dtype.name == "bfloat16" else x, x.dtype.name, what)
        x = x.tolist()
    if isinstance(x, (list, tuple)):
        return _nested(name, list(x), what)
    raise TypeError(f"{what}: column {name!r}: found {type(x).__name__}, expected an array, a tensor or a list")


def times(name: str, x: Array) -> Column:
    """Times of NumPy, datetime64 of any unit, in a unit of the store: s, ms, us or ns.

    Raises:
        TypeError: more than one time per row, or numbers without a unit.
        ValueError: a time that does not fit the unit.
    """
    unit = np.datetime_data(x.dtype)[0]
    if x.ndim != 1 or unit == "generic":
        raise TypeError(f"column {name!r}: found {x.dtype} {list(x.shape)}, expected one time per row, of a unit")
    if unit not in ("s", "ms", "us", "ns") or np.datetime_data(x.dtype)[1] != 1:
        to = unit if unit in ("s", "ms", "us", "ns") else "s" if unit in ("Y", "M", "W", "D", "h", "m") else "ns"
        y = x.astype(f"datetime64[{to}]")
        if not ((y == x) | np.isnat(x)).all():
            raise ValueError(f"column {name!r}: found times of the unit {unit} that no unit of a store has, expected s, ms, us or ns")
        x, unit = y, to
    return Column(name, "int64", (), len(x), np.ascontiguousarray(x.astype(x.dtype.newbyteorder("="))).view(np.int64), (), None, unit)


def _plain(name: str, x: Array, dtype: str, what: str) -> Column:
    if dtype not in _DTYPES or dtype == "string":
        raise TypeError(f"{what}: column {name!r}: found {dtype}, expected one of {', '.join(_DTYPES)}")
    if x.ndim == 0:
        raise TypeError(f"{what}: column {name!r}: found a single value, expected a row per item")
    return Column(name, dtype, x.shape[1:], len(x), x, (), None)


def strings(name: str, x: Sequence[Any], shape: Sequence[int] | None = None, offsets: tuple[Array, ...] = (), rows: int | None = None) -> Column:
    """Strings, of all rows, as a column; a string is str or bytes."""
    data = [s.encode("utf-8", "surrogateescape") if isinstance(s, str) else bytes(s) for s in x]
    ends = np.zeros(len(data) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, data), np.int64, len(data)), out=ends[1:])
    dims = (len(data),) if shape is None else tuple(shape)
    return Column(name, "string", dims[1:], dims[0] if rows is None else rows, np.frombuffer(b"".join(data), np.uint8), offsets, ends)


def _nested(name: str, items: list[Any], what: str) -> Column:
    """Numbers, strings, or lists of them in any depth."""
    rows, dims, offsets = len(items), [], []
    while items and all(isinstance(i, (list, tuple)) or ((isinstance(i, np.ndarray) or is_torch(i)) and i.ndim) for i in items):
        lengths = np.fromiter(map(len, items), np.int64, len(items))
        if lengths[0] and (lengths == lengths[0]).all():
            dims.append(int(lengths[0]))
        else:
            dims.append(-1)
            offsets.append(np.append(0, np.cumsum(lengths)))
        if all(isinstance(i, np.ndarray) and i.dtype.kind != "O" for i in items) and len({(i.dtype, i.shape[1:]) for i in items}) == 1:
            items = np.concatenate(items)  # type: ignore[assignment]
            break
        items = [v for i in items for v in (i.tolist() if isinstance(i, np.ndarray) else i)]
    if items and isinstance(items, list) and all(isinstance(i, (str, bytes)) for i in items):
        return strings(name, items, (rows, *dims), tuple(offsets), rows)
    given = isinstance(items, list)
    try:
        x: Array = np.asarray(items, None if items else np.float64) if isinstance(items, list) else items
    except ValueError:  # numbers and lists
        x = np.empty(0, object)
    mixed = given and (x.dtype.kind in "US" or (x.dtype.kind == "f" and all(isinstance(i, (int, np.integer)) for i in items) and len(items)))
    if x.dtype.kind in "US" and not mixed:
        flat = strings(name, x.ravel().tolist())
        return Column(name, "string", (*dims, *x.shape[1:]), rows, flat.values, tuple(offsets), flat.string_offsets)
    if x.dtype.kind not in "biuf" or mixed:
        kinds: dict[str, Any] = {}  # the first value of each type
        for i in items:
            kinds.setdefault(type(i).__name__, i)
        if len(kinds) > 1:
            raise TypeError(
                f"{what}: column {name!r}: found values of several types, {' and '.join(f'{k} ({_brief(i)})' for k, i in kinds.items())}, expected numbers, strings, or lists of one of them"
            )
        raise TypeError(f"{what}: column {name!r}: found {_brief(items[0])} among the values, expected numbers, strings, or lists of one of them")
    tail = tuple(x.shape[1:])
    last = max((k for k, d in enumerate(dims) if d == -1), default=-1)
    x = x.reshape((-1, *dims[last + 1 :], *tail) if last >= 0 else (rows, *dims, *tail))
    return Column(name, x.dtype.name, (*dims, *tail), rows, x, tuple(offsets), None)


def filled(name: str, values: list[Any], what: str) -> list[Column]:
    """A column of values of which some may be None, and then the column that says which."""
    missing = np.fromiter((v is None for v in values), bool, len(values))
    if not missing.any():
        return [column(name, values, what)]
    some = next((v for v in values if v is not None), 0.0)
    zero: Any = "" if isinstance(some, (str, bytes)) else False if isinstance(some, (bool, np.bool_)) else 0
    if any(isinstance(v, (float, np.floating)) for v in values):
        zero = np.nan
    if isinstance(some, (list, tuple, np.ndarray)) and np.ndim(some):
        zero = [0] * len(some) if all(v is None or len(v) == len(some) for v in values) else []
    flags = Column(name + MISSING, "bool", (), len(values), missing, (), None)
    return [column(name, [zero if v is None else v for v in values], what), flags]


def columns(of: Mapping[str, Any], rows: int | None, what: str) -> tuple[int, dict[str, Column]]:
    """Columns by name, which must have equally many rows, and that number."""
    out = {str(name): column(str(name), x, what) for name, x in of.items()}
    for name, c in out.items():
        if rows is None:
            rows = len(c)
        if len(c) != rows:
            raise ValueError(f"{what}: column {name!r}: found {len(c)} rows, expected {rows}")
    return rows or 0, out
