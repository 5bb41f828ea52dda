"""The graphs of a collection as rows of a table, for libraries that have no graphs: the fields of a row, by name.

``TYPE/num_nodes``, ``TYPE/src``, ``TYPE/dst`` and ``TYPE/COLUMN`` are fields of a node type or edge type; ``COLUMN`` alone is
a field of the context. docs/integrations.md lists them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array, widened
from .._collection import Collection
from .._folder import NO_TIME, Column, int64


class Field(NamedTuple):
    """What a row has under one name.

    Attributes:
        column: the values of all graphs, or of the store that the graphs were sampled from.
        ptr: graph i has the rows ``ptr[i]`` to ``ptr[i + 1]``, so its value is a list; None: it has row i.
        ids: the rows of the column, if it is one of the store.
    """

    column: Column
    ptr: Array | None = None
    ids: Array | None = None

    def rows(self, start: int, stop: int) -> Column:
        """The rows of some graphs, one after another. Those of a store are copied."""
        if self.ptr is not None:
            start, stop = int(self.ptr[start]), int(self.ptr[stop])
        return self.column.slice(start, stop) if self.ids is None else self.column.take(self.ids[start:stop])

    def bounds(self, start: int, stop: int) -> Array | None:
        """The first of `rows` of each graph, and the end of the last, int64."""
        return None if self.ptr is None else self.ptr[start : stop + 1] - self.ptr[start]


def fields(c: Collection) -> dict[str, Field]:
    """The fields of the graphs of a collection, by name, in the order of its types.

    Raises:
        ValueError: two fields have one name.
    """
    out: dict[str, Field] = {}
    for name, field in _fields(c):
        if name in out:
            raise ValueError(
                f"{c.path}: found {name!r} twice, as a column and as a part of the graph, expected it once; rename the column and import again, or read the graphs with graphmill.Collection"
            )
        out[name] = field
    return out


def _fields(c: Collection) -> Iterator[tuple[str, Field]]:
    for n in c.nodes.values():
        ptr = int64(n.graph_ptr)
        yield f"{n.name}/num_nodes", _array(np.diff(ptr))
        yield from _items(c, n, ptr)
    for e in c.edges.values():
        ptr = int64(e.graph_ptr)
        yield f"{e.name}/src", _array(e.src, ptr)
        yield f"{e.name}/dst", _array(e.dst, ptr)
        yield from _items(c, e, ptr)
    components = None if c.component_ptr is None else int64(c.component_ptr)
    for name in c.context:
        yield name, Field(c.context.column(name), components)
    for name, x in (("seed_local", c.seed_local), ("negative_local", c.negative_local)):
        if x is not None and c.seed_ptr is not None:
            yield name, _array(x, int64(c.seed_ptr))


def _items(c: Collection, x: Any, ptr: Array) -> Iterator[tuple[str, Field]]:
    """What node types and edge types have in common."""
    if c.component_ptr is not None and x.component_ptr is not None:
        yield f"{x.name}/sizes", _array(np.diff(int64(x.component_ptr)), int64(c.component_ptr))
    if x._by_hop is not None:
        yield f"{x.name}/{x._hops}", _array(x._by_hop)
    if x._of_store is not None:
        yield f"{x.name}/{x._ids}", _array(x._of_store, ptr)
    joined = x._joined()
    for name in sorted({*x.columns, *(n for n in joined or () if not n.startswith("#"))}):
        if name in x.columns:
            yield f"{x.name}/{name}", Field(x.columns.column(name), ptr)
        else:
            yield f"{x.name}/{name}", Field(joined.column(name), ptr, x._of_store)


def _array(x: Array, ptr: Array | None = None) -> Field:
    return Field(Column("", x.dtype.name, x.shape[1:], len(x), x, (), None), ptr)


def arrow(field: Field, start: int, stop: int) -> Any:
    """The values of a field for some graphs, as an array of pyarrow.

    Numbers are the maps of the files. Times and categories, int64 here, have null for a missing one.

    Raises:
        pyarrow.ArrowInvalid: strings that are not UTF-8.
    """
    import pyarrow

    c = field.rows(start, stop)
    flat = np.ascontiguousarray(c.values).reshape(-1)
    if c.string_offsets is not None:
        at = np.ascontiguousarray(c.string_offsets, np.int64)
        array = pyarrow.LargeStringArray.from_buffers(len(at) - 1, pyarrow.py_buffer(at), pyarrow.py_buffer(flat))
        array.validate(full=True)
    elif c.categories is not None:
        array = pyarrow.array(flat, pyarrow.int64(), mask=flat < 0)
    elif c.unit is not None:
        array = pyarrow.array(flat, pyarrow.int64(), mask=flat == NO_TIME).cast(pyarrow.timestamp(c.unit))
    else:
        array = pyarrow.array(widened(flat) if c.dtype == "bfloat16" else flat)
    offsets = list(c.offsets)
    for d in reversed(c.shape):
        array = _lists(offsets.pop(), array) if d == -1 else pyarrow.FixedSizeListArray.from_arrays(array, d)
    bounds = field.bounds(start, stop)
    return array if bounds is None else _lists(bounds, array)


def _lists(offsets: Array, values: Any) -> Any:
    """Lists of any lengths. Those of fewer than 2^31 values have the type that every library reads."""
    import pyarrow

    if int(offsets[-1]) >= 1 << 31:
        return pyarrow.LargeListArray.from_arrays(offsets.astype(np.int64), values)
    return pyarrow.ListArray.from_arrays(offsets.astype(np.int32), values)
