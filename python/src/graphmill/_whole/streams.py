"""Tables that come in batches of Arrow: their columns are spooled to files and mapped, so that memory holds one batch at a time."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .._arrays import Array
from .._folder import Column
from .columns import MISSING
from .frames import arrow_column

_HEAD = 128  # bytes before the values of a spooled .npy file


def reader_of(table: Any) -> Any:
    """The batches of a table as a reader of pyarrow; None for an object that has none.

    Such are readers, results and relations of DuckDB, whatever has ``__arrow_c_stream__``, scanners and datasets of pyarrow and Lance, and tables of
    delta-rs and pyiceberg.
    """
    for name in ("to_arrow_batch_reader", "to_reader"):  # pyiceberg's scan; a scanner
        if not hasattr(table, "__arrow_c_stream__") and callable(getattr(table, name, None)):
            return getattr(table, name)()
    for name in ("to_pyarrow_dataset", "scan"):  # delta-rs's table, pyiceberg's table
        if not hasattr(table, "__arrow_c_stream__") and callable(getattr(table, name, None)):
            return reader_of(getattr(table, name)())
    if hasattr(table, "__arrow_c_stream__"):
        import pyarrow

        return table if isinstance(table, pyarrow.RecordBatchReader) else pyarrow.RecordBatchReader.from_stream(table)
    if hasattr(table, "schema") and callable(getattr(table, "to_batches", None)):
        import pyarrow

        return pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    return None


class Spool:
    """A folder of the files of columns, which must outlive them."""

    def __init__(self, folder: str) -> None:
        self._folder, self._files = folder, 0
        self._open: list[_File] = []  # of the table that is read

    def columns(self, reader: Any, what: str) -> list[tuple[str, list[Column]]]:
        """The columns of a reader of pyarrow. One with missing values is followed by the column that says where.

        Values of types that are rare, such as decimals and structs, are read as a whole.

        Raises:
            ValueError: a column of lists with missing values.
        """
        import pyarrow

        if not all(map(_streams, reader.schema.types)):
            table = pyarrow.Table.from_batches(list(reader), reader.schema)
            return [(n, arrow_column(n, table.column(i), what)) for i, n in enumerate(table.schema.names)]
        self._open = []
        try:
            parts = [_Part(self, f.name, f.type, what) for f in reader.schema]
            for batch in reader:
                for part, x in zip(parts, batch.columns):
                    part.write(x)
            return [(part.name, part.close()) for part in parts]
        finally:
            for f in self._open:
                f.abandon()

    def file(self) -> _File:
        self._files += 1
        self._open.append(_File(os.path.join(self._folder, f"{self._files}.npy")))
        return self._open[-1]


def _streams(type_: Any) -> bool:
    """Whether rows of a type can be taken batch by batch."""
    import pyarrow

    is_ = pyarrow.types
    if is_.is_dictionary(type_):
        return bool(is_.is_string(type_.value_type) or is_.is_large_string(type_.value_type))
    if _is_list(type_) and _by_element(type_):
        return True
    if _is_list(type_) or is_.is_fixed_size_list(type_):
        return bool(is_.is_integer(type_.value_type) or is_.is_floating(type_.value_type))
    texts = (pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary())
    numbers = is_.is_integer(type_) or is_.is_floating(type_) or is_.is_boolean(type_)
    return bool(numbers or is_.is_timestamp(type_) or is_.is_date(type_) or type_ in texts or str(type_).endswith("_view"))


def _is_list(type_: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_list(type_) or pyarrow.types.is_large_list(type_))


def _by_element(type_: Any) -> bool:
    """Whether the elements of lists are taken as a column of their own: texts and bools."""
    import pyarrow

    return type_.value_type in (pyarrow.string(), pyarrow.large_string(), pyarrow.bool_())


class _File:
    """An array that grows in a file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._f = open(path, "wb")
        self._f.seek(_HEAD)
        self._bytes = 0

    def write(self, x: Array) -> None:
        self._bytes += np.ascontiguousarray(x).nbytes
        np.ascontiguousarray(x, x.dtype.newbyteorder("<")).tofile(self._f)

    def abandon(self) -> None:
        """Close the file, if close has not."""
        self._f.close()

    def close(self, dtype: Any, row: tuple[int, ...] = ()) -> Array:
        """The array, mapped, with rows of a shape."""
        dtype = np.dtype(dtype).newbyteorder("<")
        width = dtype.itemsize * int(np.prod(row, dtype=np.int64))
        shape = (self._bytes // width if width else 0, *row)
        text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
        self._f.flush()
        self._f.seek(0)
        self._f.write(b"\x93NUMPY\x01\x00" + (_HEAD - 10).to_bytes(2, "little") + text.ljust(_HEAD - 11).encode() + b"\n")
        self._f.close()
        if not self._bytes:
            return np.zeros(shape, dtype)
        mapped: Array = np.load(self._path, mmap_mode="r")
        return mapped


class _Part:
    """A column that comes in batches."""

    def __init__(self, spool: Spool, name: str, type_: Any, what: str) -> None:
        import pyarrow

        self.name, self._what, self._spool = name, what, spool
        self._listed = _is_list(type_)
        self._fixed = pyarrow.types.is_fixed_size_list(type_)
        self._values = spool.file()
        self._rows = 0
        self._elements = self._listed and _by_element(type_)
        form = type_.value_type if self._elements else type_
        self._form = arrow_column(name, pyarrow.array([], form), what)[0]  # a column without rows, for its dtype and unit
        self._row = (type_.list_size,) if self._fixed else ()
        self._offsets = spool.file()  # of strings, or the lengths of lists
        self._end = 0
        if self._form.string_offsets is not None and self._form.categories is None:
            self._offsets.write(np.zeros(1, np.int64))
        self._lengths = spool.file() if self._elements and self._form.string_offsets is not None else None  # of lists of strings
        self._codes: dict[str, int] = {}  # of categories
        self._missing: _File | None = None
        self._missed = 0  # rows that are in it

    def write(self, x: Any) -> None:
        if (self._listed or self._fixed) and (x.null_count or x.flatten().null_count):
            raise ValueError(
                f"{self._what}: column {self.name!r}: found missing values in a column of lists, expected none in a table that comes in batches; fill them, or give the whole table, as pyarrow.table(...)"
            )
        if self._elements:
            self._write_elements(x)
            return
        c, *flags = arrow_column(self.name, x, self._what)
        if self._listed:
            lengths = np.diff(c.offsets[0]) if c.offsets else np.full(len(c), c.shape[0] if c.shape else 0, np.int64)
            self._offsets.write(lengths.astype(np.int64))
            self._values.write(c.values.astype(self._form.values.dtype, copy=False).reshape(-1))
        elif self._form.categories is not None:
            assert c.categories is not None
            texts = c.categories.tolist()
            codes = np.fromiter((self._codes.setdefault(t, len(self._codes)) for t in texts), np.int32, len(texts))
            self._values.write(np.where(c.values < 0, -1, codes[c.values] if texts else -1).astype(np.int32))
        elif c.string_offsets is not None:
            self._offsets.write(c.string_offsets[1:] + self._end)
            self._end += int(c.string_offsets[-1])
            self._values.write(c.values)
        else:
            self._values.write(c.values)
        if flags:
            if self._missing is None:
                self._missing = self._spool.file()
            self._missing.write(np.zeros(self._rows - self._missed, bool))
            self._missing.write(flags[0].values)
            self._missed = self._rows + len(c)
        self._rows += len(c)

    def _write_elements(self, x: Any) -> None:
        """Lists whose elements are texts or bools."""
        (c,) = arrow_column(self.name, x.flatten(), self._what)
        (self._lengths or self._offsets).write(np.diff(x.offsets.to_numpy().astype(np.int64)))
        if c.string_offsets is not None:
            self._offsets.write(c.string_offsets[1:] + self._end)
            self._end += int(c.string_offsets[-1])
        self._values.write(c.values)
        self._rows += len(x)

    def close(self) -> list[Column]:
        return [self._column(), *self._flags()]

    def _column(self) -> Column:
        form, dtype = self._form, self._form.values.dtype
        if self._lengths is not None:
            lengths, at, values = self._lengths.close(np.int64), self._offsets.close(np.int64), self._values.close(np.uint8)
            if self._rows and lengths[0] and (lengths == lengths[0]).all():
                return Column(self.name, "string", (int(lengths[0]),), self._rows, values, (), at)
            return Column(self.name, "string", (-1,), self._rows, values, (np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),), at)
        if self._listed:
            lengths, rows = self._offsets.close(np.int64), self._rows
            if rows and lengths[0] and (lengths == lengths[0]).all():
                return Column(self.name, dtype.name, (int(lengths[0]),), rows, self._values.close(dtype, (int(lengths[0]),)), (), None)
            return Column(self.name, dtype.name, (-1,), rows, self._values.close(dtype), (np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),), None)
        offsets, values = self._offsets.close(np.int64), self._values.close(np.int32 if form.categories is not None else dtype, self._row)
        if form.categories is not None:
            from .columns import strings

            return Column(self.name, "int32", (), self._rows, values, (), None, None, strings(self.name, list(self._codes)))
        if form.string_offsets is not None:
            return Column(self.name, "string", (), self._rows, values, (), offsets)
        return Column(self.name, form.dtype, self._row, self._rows, values, (), None, form.unit)

    def _flags(self) -> list[Column]:
        if self._missing is None:
            return []
        self._missing.write(np.zeros(self._rows - self._missed, bool))
        return [Column(self.name + MISSING, "bool", (), self._rows, self._missing.close(bool), (), None)]


def is_whole(x: Array) -> bool:
    """Whether an array is all of a spooled file, so that the file is its .npy file."""
    if not isinstance(x, np.memmap) or x.offset != _HEAD or not isinstance(x.filename, (str, os.PathLike)):
        return False
    if not x.flags.c_contiguous or os.path.getsize(x.filename) != _HEAD + x.nbytes:
        return False
    of: Array = np.load(x.filename, mmap_mode="r")
    return bool(of.shape == x.shape and of.dtype == x.dtype)
