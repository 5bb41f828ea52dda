"""Columns that programs make: values of a function or an array as files beside a store, which the command takes into it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arguments import integer, meant, texts, truth
from ._arrays import Array
from ._command import GraphmillError
from ._features import FILE, TypeColumns
from ._folder import _DTYPES, Column, Folder, described
from ._row_file import _sync as sync
from ._row_file import empty_folder, locked_folder, write_json
from ._run import _CLEAR, _notebook, _show, flags_of, keywords, run
from ._whole.columns import column
from ._xxh3 import xxh3

_STATE = "column.json"
_EVERY = 10.0  # seconds between two records of what is done
_HEADER = 256  # bytes of the header of a file, whose number of rows is written last


@dataclass
class Rows:
    """The nodes or edges of a type.

    Attributes:
        folder: of the store.
        type: node type, or edge type "src:rel:dst".
        count: the number of rows.
        ids: the original ids of nodes; None if they are the row numbers, and for edges.
        files: names of the files that give the rows their order.
    """

    folder: Folder
    type: str
    count: int
    columns: TypeColumns
    ids: Array | Column | None
    files: list[str]


def write_column(of: Rows, verb: str, name: Any, values: Any, source: Any, rows: Any, category: bool, resume: bool) -> None:
    """Add or replace a column, as `Store.add_column` says. ``verb`` is "add" or "replace"."""
    if of.folder.remote:
        raise GraphmillError(f"{of.folder.path}: found a store in an object store, expected one on this machine; copy it here, and then to its place again")
    rows, category, resume = integer("rows", rows, 1), truth("category", category), truth("resume", resume)
    name = _new_name(of, verb, name)
    names = [source] if isinstance(source, str) else texts("source", source, "names of columns")
    if callable(values):
        make = _blocks(of, name, values, names, rows)
    else:
        if names or resume:
            raise ValueError(f"found {'source' if names else 'resume'}= with values that are no function, expected it with a function; leave it out")
        whole, make = _whole(of, name, values), None
    folder = os.path.join(
        os.path.dirname(os.path.abspath(of.folder.path)),
        f".{os.path.basename(os.path.abspath(of.folder.path))}.{xxh3(f'{of.type}/{name}'.encode()):016x}.column",
    )
    with locked_folder(folder, ", which the values are collected in", "makes this column"):
        file = _ColumnFiles(folder, _request(of, name, names, rows), of, name, resume)
        try:
            if make is None:
                file.append(whole)
            else:
                file.fill(make)
            flags = file.finish()
        finally:
            file.close()
        if category:
            if flags["dtype"] != "string":
                raise GraphmillError(f"{of.type}/{name}: found values of {flags['dtype']} with category=True, expected one text per row; leave category= out")
            flags["dtype"] = "category"
        if make is not None:
            flags["source"] = ",".join(names)
        _command(verb, of, name, file.path("values"), flags)
        shutil.rmtree(folder)


def drop_column(of: Rows, name: Any) -> None:
    """Remove a column, as `Store.drop_column` says."""
    _command("drop", of, _new_name(of, "drop", name), None, {})


def _command(verb: str, of: Rows, name: str, file: str | None, flags: Mapping[str, Any]) -> None:
    given = [f"--row-offsets={f}" for f in flags.get("row_offsets", [])] + flags_of({k: v for k, v in flags.items() if k != "row_offsets"})
    try:
        run("column", verb, "--json", *given, "--", of.folder.path, of.type, name, *([file] if file else []))
    except GraphmillError as e:
        raise GraphmillError(keywords(re.sub(r"\nTry 'graphmill .*", "", str(e)))) from None


def _new_name(of: Rows, verb: str, name: Any) -> str:
    """The name of a column that is to be added, or that is there."""
    if not isinstance(name, str):
        raise TypeError(f"found name={name!r}, expected the name of a column")
    have = [n for n in of.columns if not n.startswith("#")]
    if verb == "add" and name in of.columns:
        raise ValueError(f"found the column {name!r} of {of.type}, expected a new name; give another one, or call replace_column")
    if verb != "add" and name not in have:
        raise ValueError(f"found no column {name!r} of {of.type}, expected one of {', '.join(have) or 'none'}{meant(name, have)}")
    if not name or name.startswith("#"):
        raise ValueError(f"found the name {name!r} of a column, expected one that is not empty and does not begin with #: graphmill keeps those itself")
    return name


def _request(of: Rows, name: str, source: Sequence[str], rows: int) -> dict[str, Any]:
    """What the values depend on, apart from the function. The store may have got other columns meanwhile."""
    files = {}
    for n in source:
        if n != "#id":
            pieces = of.columns.pieces(n)
            files[n] = [of.folder.sums[f] for p in pieces for f in _files(of.columns.meta(p))]
            if pieces != [n]:
                files[n].append(of.folder.sums[FILE])  # which has the ranges of its numbers
    return {
        "type": of.type,
        "column": name,
        "count": of.count,
        "rows": rows,
        "source": files,
        "names": list(source),
        "order": [of.folder.sums[f] for f in of.files],
    }


def _files(meta: Mapping[str, Any]) -> Iterator[str]:
    """The files of a column."""
    yield meta["file"]
    yield from meta.get("row_offsets", [])
    if meta.get("string_offsets"):
        yield meta["string_offsets"]
    if meta.get("categories"):
        yield from _files(meta["categories"])


def _whole(of: Rows, name: str, values: Any) -> Column:
    """An array, tensor or list with a row per node or edge as a column."""
    if isinstance(values, (str, bytes, os.PathLike)):
        raise TypeError(
            f"found {values!r} as the values of {name!r}, expected a function, an array or a list; graphmill.run('column', 'add', STORE, TYPE, NAME, FILE) takes a file"
        )
    x = column(name, values, of.type)
    if len(x) != of.count:
        raise ValueError(f"{of.type}: column {name!r}: found {len(x)} rows, expected {of.count}, one for each in the order of the store")
    return x


def _blocks(of: Rows, name: str, fn: Callable[[dict[str, Any]], Any], source: Sequence[str], rows: int) -> Callable[[int], tuple[Column, bool]]:
    """A function of the first row of a block that returns its values, and whether they were a list."""
    if not source:
        raise ValueError(f"found no source=, expected the columns of {of.type} that the function gets")
    have = [n for n in of.columns if not n.startswith("#")]
    for n in source:
        if n not in have and n != "#id":
            raise ValueError(f"source: found no column {n!r} of {of.type}, expected one of {', '.join([*have, '#id'])}{meant(n, have)}")
    columns = {n: None if n == "#id" else of.columns.column(n) for n in source}

    def make(start: int) -> tuple[Column, bool]:
        stop = min(start + rows, of.count)
        where = f"{of.type}: column {name!r}: block {start // rows}, rows {start} to {stop - 1}"
        given = {n: _ids(of, start, stop) if c is None else _values(c.slice(start, stop)) for n, c in columns.items()}
        try:
            y = fn(given)
        except Exception as e:
            raise GraphmillError(
                f"{where}: found {type(e).__name__}: {e}, expected values; what is done is kept, and resume=True continues from this block"
            ) from e
        try:
            x = column(name, y, where)
        except (TypeError, ValueError) as e:
            raise GraphmillError(f"{e if where in str(e) else f'{where}: {e}'}; resume=True continues from this block") from e
        if len(x) != stop - start:
            raise GraphmillError(
                f"{where}: found {len(x)} rows, expected {stop - start}, one for each that the function was given; resume=True continues from this block"
            )
        return x, isinstance(y, (list, tuple))

    return make


def _ids(of: Rows, start: int, stop: int) -> Any:
    """Ids as a list of str, or an array of integers."""
    if of.ids is None:
        return np.arange(start, stop)
    part = of.ids[start:stop]
    return part.tolist() if isinstance(part, Column) else np.array(part)


def _values(c: Column) -> Any:
    """The rows of a column as a function gets them: an array that it may change, or a list."""
    if c.categories is not None:
        known = c.categories.tolist()
        return [None if k < 0 else known[k] for k in c.values.tolist()]
    if not c.fixed:
        return c.tolist()
    x = np.array(np.asarray(c))
    return x.view(f"datetime64[{c.unit}]") if c.unit else x


class _ColumnFiles:
    """The files of the values of a column, which are appended to block by block, and the state of the work.

    The folder has ``values.npy`` and, for lists and strings, ``rows0.npy``, ... and ``strings.npy``, as a store has them, and
    column.json: the request, the number of rows that are safe on the disk, and their dtype, shape and unit.
    """

    def __init__(self, folder: str, request: dict[str, Any], of: Rows, name: str, resume: bool) -> None:
        self._folder, self._of, self._name = folder, of, name
        self._files: dict[str, _GrowingFile] = {}
        self._ends: dict[str, int] = {}  # the last offset of each file of offsets
        self._state: dict[str, Any] = {"format": 1, "of": request, "done": 0, "kind": None, "files": {}}
        self._recorded = time.monotonic()
        old = self._read() if resume else None
        if old is not None and old["of"] != request:
            changed = [k for k in request if old["of"].get(k) != request[k]]
            warnings.warn(f"{folder}: found the work of another request ({', '.join(changed)} differ), which cannot be continued; it begins anew", stacklevel=5)
            old = None
        if old is None:
            empty_folder(folder)
        else:
            self._state = old
            self._open()

    def path(self, file: str) -> str:
        return os.path.join(self._folder, file + ".npy")

    def _read(self) -> dict[str, Any] | None:
        """The state of an earlier run, if there is one that can be read."""
        try:
            with open(os.path.join(self._folder, _STATE)) as f:
                state = json.load(f)
            if state["format"] != 1 or not isinstance(state["of"], dict) or not isinstance(state["files"], dict) or not isinstance(state["done"], int):
                raise ValueError
        except FileNotFoundError:
            return None
        except (OSError, KeyError, TypeError, ValueError):
            warnings.warn(f"{self._folder}/{_STATE}: damaged, so that the work begins anew", stacklevel=6)
            return None
        return dict(state)

    def fill(self, make: Callable[[int], tuple[Column, bool]]) -> None:
        """Append the blocks that are not done. What is done is recorded every few seconds, and where the function fails."""
        with _Progress(f"column {self._name}", self._of.count) as told:
            try:
                if not self._of.count and self._state["kind"] is None:
                    self.append(*make(0))
                while self._state["done"] < self._of.count:
                    self.append(*make(self._state["done"]))
                    told(self._state["done"])
                    if time.monotonic() - self._recorded > _EVERY:
                        self._record()
            except BaseException:
                with contextlib.suppress(GraphmillError, OSError):  # the first error is the one that is told
                    self._record()
                raise

    def append(self, c: Column, listed: bool = False) -> None:
        """Append rows. All have the dtype, shape and unit of the first ones, but lists of lists may have another length."""
        have, at = self._state["kind"], self._state["done"]
        if 0 in c.shape:
            raise GraphmillError(f"{self._of.type}: column {self._name!r}: rows from {at}: found shape {list(c.shape)}, expected rows with values")
        if have is None:
            have = self._state["kind"] = _kind_of(c)
            self._open()
        if listed and _kind_of(c) != have:
            c = self._alike(c)
            have = self._state["kind"]
        if _kind_of(c) != have:
            raise GraphmillError(
                f"{self._of.type}: column {self._name!r}: rows from {at}: found {_kind(_kind_of(c))}, expected {_kind(have)}, as in the rows before; "
                "return arrays of one dtype and shape"
            )
        for k, x in enumerate(c.offsets):
            self._append_offsets(f"rows{k}", x)
        if c.string_offsets is not None:
            self._append_offsets("strings", c.string_offsets)
        self._files["values"].append(c.values)
        self._state["done"] += len(c)

    def _alike(self, c: Column) -> Column:
        """A block of lists in the form of the blocks before, which may become lists of any length for it.

        Lists that all have one length look like rows of a fixed shape, and those without values have no dtype.
        """
        have = self._state["kind"]
        if len(c.shape) != 1 or len(have["shape"]) != 1 or c.unit or have["unit"]:
            return c
        if c.shape != (-1,):
            k = c.shape[0]
            c = Column(c.name, c.dtype, (-1,), len(c), c.values.reshape(-1), (np.arange(len(c) + 1) * k,), c.string_offsets)
        if have["shape"] != [-1]:
            self._vary(have["shape"][0])
        if not int(c.offsets[0][-1]):
            return Column(c.name, have["dtype"], (-1,), len(c), c.values[:0], c.offsets, np.zeros(1, np.int64) if have["dtype"] == "string" else None)
        if self._ends["rows0"] == 0:
            self._reopen({**have, "dtype": c.dtype})
        return c

    def _vary(self, length: int) -> None:
        """Make rows of a fixed length lists. Their values stay as they are."""
        rows, done = {name: f.rows for name, f in self._files.items()}, self._state["done"]
        if self._state["kind"]["dtype"] != "string":
            rows["values"] *= length
        self._reopen({**self._state["kind"], "shape": [-1]}, rows)
        for start in range(0, done, 1 << 20):
            self._append_offsets("rows0", np.arange(start, min(start + (1 << 20), done) + 1) * length)

    def _reopen(self, kind: dict[str, Any], rows: dict[str, int] | None = None) -> None:
        """Open the files for values of another kind, with so many rows in each."""
        self._state["files"] = {name: f.rows for name, f in self._files.items()} if rows is None else rows
        self.close()
        self._files.clear()
        self._state["kind"] = kind
        self._open()

    def _append_offsets(self, file: str, x: Array) -> None:
        ends = x[1:].astype(np.int64) - int(x[0]) + self._ends[file]
        self._files[file].append(ends)
        if len(ends):
            self._ends[file] = int(ends[-1])

    def _open(self) -> None:
        """Open the files, at the rows that are recorded."""
        kind = self._state["kind"]
        if kind is None:
            return
        shape, rows = kind["shape"], self._state["files"]
        variable = [i for i, d in enumerate(shape) if d == -1]
        for file in [f"rows{k}" for k in range(len(variable))] + (["strings"] if kind["dtype"] == "string" else []):
            self._files[file] = f = _GrowingFile(self.path(file), np.dtype("<i8"), (), rows.get(file, 0))
            if not f.rows:
                f.append(np.zeros(1, np.int64))
            self._ends[file] = int(f.last())
        tail = () if kind["dtype"] == "string" else tuple(shape[variable[-1] + 1 :] if variable else shape)
        self._files["values"] = _GrowingFile(self.path("values"), np.dtype(_DTYPES[kind["dtype"]]).newbyteorder("<"), tail, rows.get("values", 0))

    def _record(self) -> None:
        """Record what is done, after it is on the disk."""
        for f in self._files.values():
            f.sync()
        self._state["files"] = {name: f.rows for name, f in self._files.items()}
        write_json(os.path.join(self._folder, _STATE), self._state)
        self._recorded = time.monotonic()

    def finish(self) -> dict[str, Any]:
        """Complete the files, and say what they are, as flags of the command."""
        for f in self._files.values():
            f.write_header()
        self._record()
        kind = self._state["kind"]
        dims = ",".join("" if d == -1 else str(d) for d in kind["shape"])
        flags: dict[str, Any] = {"dtype": f"datetime[{kind['unit']}]" if kind["unit"] else kind["dtype"] + (f"[{dims}]" if kind["shape"] else "")}
        flags["row_offsets"] = [self.path(f) for f in self._files if f.startswith("rows")]
        if "strings" in self._files:
            flags["string_offsets"] = self.path("strings")
        return flags

    def close(self) -> None:
        for f in self._files.values():
            f.close()


def _kind_of(c: Column) -> dict[str, Any]:
    return {"dtype": c.dtype, "shape": list(c.shape), "unit": c.unit}


def _kind(kind: Mapping[str, Any]) -> str:
    return f"times in {kind['unit']}" if kind["unit"] else described(kind["dtype"], kind["shape"])


class _GrowingFile:
    """A .npy file whose number of rows is written last.

    Args:
        rows: the number of rows to keep of a file that is there; 0 makes a new one.
    """

    def __init__(self, path: str, dtype: np.dtype[Any], shape: tuple[int, ...], rows: int) -> None:
        self.path, self.rows, self._dtype, self._shape = path, rows, dtype, shape
        self._width = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        size = _HEADER + rows * self._width
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | (0 if rows else os.O_TRUNC), 0o666)
        try:
            if rows and os.fstat(self._fd).st_size < size:
                raise GraphmillError(f"{path}: found {os.fstat(self._fd).st_size} bytes, expected at least {size}; leave out resume= to begin again")
            os.ftruncate(self._fd, size)
        except BaseException:
            self.close()
            raise

    def append(self, x: Array) -> None:
        self._write(np.ascontiguousarray(x, self._dtype).reshape(-1).view(np.uint8).data, _HEADER + self.rows * self._width)
        self.rows += len(x)

    def last(self) -> int:
        """The last value, of a file of offsets."""
        return int(np.frombuffer(os.pread(self._fd, self._width, _HEADER + (self.rows - 1) * self._width), self._dtype)[0])

    def write_header(self) -> None:
        shape = "".join(f"{n}, " for n in (self.rows, *self._shape))
        text = f"{{'descr': {np.lib.format.dtype_to_descr(self._dtype)!r}, 'fortran_order': False, 'shape': ({shape}), }}".encode()
        if len(text) > _HEADER - 11:
            raise GraphmillError(f"{self.path}: found rows of shape {list(self._shape)}, expected fewer dimensions")
        self._write(b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little") + text.ljust(_HEADER - 11) + b"\n", 0)

    def _write(self, b: Any, at: int) -> None:
        try:
            while len(b):
                n = os.pwrite(self._fd, b, at)
                b, at = b[n:], at + n
        except OSError as e:
            raise GraphmillError(f"{self.path}: found {e.strerror}, expected space for {len(b)} bytes; free some, and give resume=True to continue") from e

    def sync(self) -> None:
        try:
            sync(self._fd)
        except OSError as e:
            raise GraphmillError(f"{self.path}: found {e.strerror}, expected the rows on the disk; give resume=True to continue") from e

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class _Progress:
    """A line on a terminal or in the output of a notebook with the rows that are done."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._last = what, total, 0.0
        self._shown = sys.stderr is not None and (sys.stderr.isatty() or _notebook())

    def __enter__(self) -> _Progress:
        return self

    def __call__(self, done: int) -> None:
        if self._shown and time.monotonic() - self._last > 0.1:
            self._last = time.monotonic()
            _show(f"{_CLEAR}{self._what}  {done:,} of {self._total:,} rows ({done / max(self._total, 1):.0%})")

    def __exit__(self, *_: Any) -> None:
        if self._last:
            _show(_CLEAR)
