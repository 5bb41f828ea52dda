"""Rows of Python values as streams of Arrow."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Callable

import numpy as np

_BATCH = 1 << 15  # rows
_WHOLE = 1 << 53  # integers below it are floats of 64 bits


class Unfit(ValueError):
    """What a library read, and no graph here can have; the text says what to do."""


class Rows:
    """A table of rows, which are mappings from names to values, with ``__arrow_c_stream__``.

    A column has int64 for integers (uint64 where these need it), float64 for integers and floats, bool, times and dates, fixed lists of numbers, or else text: a column
    of several kinds has the text of each value. A value that is None, or that a row lacks, is missing; a column without a value is none.

    Args:
        rows: gives the rows; it is called twice, for the types of the columns and for their values, and must give the same.
        types: the types of columns that are known, as types of pyarrow, which are there although no row has a value.
    """

    def __init__(self, rows: Callable[[], Iterable[Mapping[str, Any]]], types: Mapping[str, Any] | None = None) -> None:
        self._rows, self._types = rows, dict(types or {})

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        import pyarrow

        found: dict[str, _Kind] = {}
        for row in self._rows():
            for name, value in row.items():
                if value is not None and name not in self._types:
                    found.setdefault(name, _Kind()).add(value)
        types = {**self._types, **{name: k.type() for name, k in found.items()}}
        schema = pyarrow.schema(list(types.items()))
        texts = {name for name in found if types[name] == pyarrow.string()}
        return pyarrow.RecordBatchReader.from_batches(schema, _batches(self._rows(), schema, texts)).__arrow_c_stream__(requested)


def _batches(rows: Iterable[Mapping[str, Any]], schema: Any, texts: set[str]) -> Iterator[Any]:
    import pyarrow

    held: list[Mapping[str, Any]] = []

    def batch() -> Any:
        arrays = []
        for field in schema:
            values = [row.get(field.name) for row in held]
            if field.name in texts:
                values = [v if v is None or isinstance(v, str) else str(v) for v in values]
            arrays.append(pyarrow.array(values, field.type))
        return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)

    for row in rows:
        held.append(row)
        if len(held) == _BATCH:
            yield batch()
            held = []
    if held:
        yield batch()


class _Kind:
    """What the values of a column are."""

    def __init__(self) -> None:
        self.kinds: set[Any] = set()
        self.least = self.most = 0

    def add(self, value: Any) -> None:
        kind: Any = type(value)
        if isinstance(value, np.generic):
            kind = type(value.item())
        if kind is int:
            self.least, self.most = min(self.least, int(value)), max(self.most, int(value))
        elif kind in (list, tuple, np.ndarray):
            kind = (len(value), np.asarray(value).dtype.kind)
        self.kinds.add(kind)

    def type(self) -> Any:
        import pyarrow

        plain: dict[Any, Any] = {bool: pyarrow.bool_(), float: pyarrow.float64(), datetime.datetime: pyarrow.timestamp("us"), datetime.date: pyarrow.date32()}
        if self.kinds == {int} and self.least >= -(1 << 63) and self.most < 1 << 63:
            return pyarrow.int64()
        if self.kinds == {int} and self.least >= 0 and self.most < 1 << 64:
            return pyarrow.uint64()
        if self.kinds == {int, float} and self.least >= -_WHOLE and self.most <= _WHOLE:
            return pyarrow.float64()
        only = next(iter(self.kinds)) if len(self.kinds) == 1 else None
        if isinstance(only, tuple) and only[0] and only[1] in "iuf":
            return pyarrow.list_(pyarrow.float64() if only[1] == "f" else pyarrow.int64(), only[0])
        return plain.get(only, pyarrow.string())


def flat(attributes: Mapping[Any, Any], left: set[str]) -> dict[str, Any]:
    """Attributes as the fields of a row: the members of a mapping have its name, a point and their own.

    Args:
        left: receives the names of attributes that are left out, which are lists and other objects.

    Raises:
        Unfit: two attributes have one name, or a name begins with #.
    """
    out: dict[str, Any] = {}
    for name, value in attributes.items():
        inner = {f"{name}.{n}": v for n, v in flat(value, left).items()} if isinstance(value, Mapping) else {str(name): value}
        for n, v in inner.items():
            if n in out or n.startswith("#"):
                raise Unfit(f"found the attribute {n!r}, expected different names that do not begin with #")
            if v is None or isinstance(v, (str, int, float, np.generic, datetime.date)):
                out[n] = v
            else:
                left.add(n)
    return out


def ids_of(keys: Sequence[Any]) -> tuple[Callable[[Any], Any], Any]:
    """What makes ids of the keys of nodes, and the type of the ids: the keys if all are integers from 0 on, and otherwise their texts.

    Raises:
        Unfit: two keys have the same text.
    """
    import pyarrow

    if keys and all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) and 0 <= k < 1 << 63 for k in keys):
        return int, pyarrow.int64()
    texts: dict[str, Any] = {}
    for k in keys:
        if texts.setdefault(str(k), k) is not k:
            raise Unfit(f"found the nodes {texts[str(k)]!r} and {k!r}, expected nodes whose texts differ, because the text of a node is its id; relabel them")
    return str, pyarrow.string()
