"""Folders that the graphmill command wrote: manifest, metadata, arrays and columns.

Arrays are read-only maps that are opened on first use and never read whole. Only files in the manifest are opened.
"""

from __future__ import annotations

import base64
import contextlib
import difflib
import json
import math
import os
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from ._arguments import path as as_path
from ._arrays import Array, ranges, widened
from ._command import GraphmillError, command
from ._html import listed
from ._shards import Piece, mapped, shards
from ._xxh3 import xxh3

EdgeType = tuple[str, str, str]

MANIFEST = "manifest.json"
_MAX_META = 256 << 20  # the bound of the command

_DTYPES = {
    "bool": "?", "int8": "i1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "uint8": "u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8",
    "float16": "<f2", "bfloat16": "<u2", "float32": "<f4", "float64": "<f8", "string": "u1",
}  # fmt: skip
NO_TIME = np.iinfo(np.int64).min  # a missing time, and NumPy's NaT


class Folder:
    """An output folder, opened: the manifest is valid, and every file has the size in the manifest.

    Only the checksums of the manifest and of the metadata are checked; ``graphmill verify`` checks all. Of a folder in an
    object store only these files are read, by the command, and its arrays are errors.

    Args:
        path: path of the folder, or its address: s3://BUCKET/KEY, gs://BUCKET/KEY or https://HOST/PATH.
        meta: file name of its metadata.
        kind, maker: the kind of such a folder, and the command that makes one, for errors.
        formats: the formats of the metadata that the caller knows.
    """

    def __init__(self, path: str | os.PathLike[str], meta: str, kind: str, maker: str, formats: tuple[int, ...] = (1,)) -> None:
        self.path, self.meta_name = as_path("path", path), meta
        self.remote = is_address(self.path)
        self._fetched = fetched(self.path) if self.remote else None
        try:
            text = self._read(meta)
        except (FileNotFoundError, NotADirectoryError) as e:
            found = f"no {meta}" if os.path.isdir(self.path) else "a file" if os.path.exists(self.path) else "no such folder"
            raise GraphmillError(f"{self.path}: found {found}, expected {kind}; {maker} makes one") from e
        try:
            manifest = self._read(MANIFEST)
            summed = self._read(MANIFEST + ".xxh3")
        except FileNotFoundError as e:
            raise GraphmillError(f"{self.path}: damaged: found no {os.path.basename(e.filename)}, expected one; writing or copying it was not completed") from e
        if summed.split()[:1] != [b"%016x" % xxh3(manifest)]:
            raise GraphmillError(f"{self.path}/{MANIFEST}: damaged: found checksum {xxh3(manifest):016x}, expected that of {MANIFEST}.xxh3")
        m = self._json(MANIFEST, manifest)
        self._format(m, MANIFEST, 1, 2)  # 2: files in shards
        self.sizes: dict[str, int] = {}
        self.sums: dict[str, str] = {}  # checksums that the manifest has
        self._found: dict[str, os.stat_result] = {}
        self.kept: Folder | None = None  # an earlier version of the same folder, which must live as long
        files = m.get("files")
        if not isinstance(files, dict) or not all(isinstance(want, dict) for want in files.values()):
            raise GraphmillError(f"{self.path}/{MANIFEST}: damaged: found no list of files, expected the size and checksum of each file by name")
        for name, want in files.items():
            try:
                if self._fetched is not None:
                    size = want.get("bytes")
                else:
                    self._found[name] = self._stat(name)
                    size = self._found[name].st_size
            except OSError as e:
                raise GraphmillError(f"{self.path}: damaged: {e}") from e
            if size != want.get("bytes"):
                raise GraphmillError(f"{self.path}/{name}: damaged: found {size} bytes, expected {want.get('bytes')}")
            self.sizes[name], self.sums[name] = size, str(want.get("xxh3"))
        try:
            self._shards = shards(files)
        except ValueError as e:
            raise GraphmillError(f"{self.path}/{MANIFEST}: damaged: {e}; copy the folder again") from e
        found = f"{xxh3(text):016x}"
        if files.get(meta, {}).get("xxh3") != found:
            raise GraphmillError(f"{self.path}/{meta}: damaged: found checksum {found}, expected that of {MANIFEST}")
        self.meta: dict[str, Any] = self._json(meta, text)
        self._format(self.meta, meta, *formats)
        self.fingerprint = f"{xxh3(manifest):016x}"
        self._open: dict[str, Array] = {}
        self.joined: dict[str, list[Piece]] = {}  # files whose bytes lie in others
        self.made: dict[str, Callable[[], Array]] = {}  # arrays that have no file

    def parts(self, name: str) -> list[Piece]:
        """The pieces of files that have the bytes of an array file, one after the other."""
        if name in self.joined:
            return self.joined[name]
        return [(part, 0, self.sizes.get(part, 0)) for part in self._shards.get(name, [name])]

    def json(self, name: str) -> dict[str, Any]:
        """A file of metadata that the manifest names."""
        text = self._read(name)
        if self.sums.get(name) != f"{xxh3(text):016x}":
            raise GraphmillError(f"{self.path}/{name}: damaged: found checksum {xxh3(text):016x}, expected that of {MANIFEST}")
        m = self._json(name, text)
        self._format(m, name)
        return m

    def _stat(self, name: str) -> os.stat_result:
        """A file of the folder. What lies outside it, a link, a folder, a pipe and a device are errors."""
        at = self.path
        for part in name.split("/"):
            if part in ("", ".", "..") or "\\" in part or "\0" in part:
                raise GraphmillError(f"{self.path}: damaged: found file name {name!r}, expected a path inside the folder")
            at = os.path.join(at, part)
            s = os.lstat(at)
            if stat.S_ISLNK(s.st_mode):
                raise GraphmillError(f"{at}: found a symbolic link, which can lead out of the folder, expected a file or folder; copy there what it points to")
        if not stat.S_ISREG(s.st_mode):
            raise GraphmillError(f"{at}: found a folder, pipe or device, expected a regular file")
        return s

    def _read(self, name: str) -> bytes:
        if self._fetched is not None:
            return self._fetched[name]
        path = os.path.join(self.path, name)
        self._stat(name)
        with open(path, "rb") as f:
            try:
                b = f.read(_MAX_META + 1)
            except OSError as e:  # which does not name the file
                raise GraphmillError(f"{path}: found a file that cannot be read ({e.strerror}), expected its bytes; is the disk well?") from e
        if len(b) > _MAX_META:
            raise GraphmillError(f"{path}: found more than {_MAX_META} bytes, expected metadata")
        return b

    def _json(self, name: str, text: bytes) -> dict[str, Any]:
        try:
            m = json.loads(text)
        except (ValueError, RecursionError) as e:
            raise GraphmillError(f"{self.path}/{name}: {e}") from e
        if not isinstance(m, dict):
            raise GraphmillError(f"{self.path}/{name}: found {type(m).__name__}, expected an object")
        return m

    def _format(self, m: dict[str, Any], name: str, *known: int) -> None:
        if m.get("format") not in (known or (1,)):
            raise GraphmillError(f"{self.path}/{name}: found format {m.get('format')}, expected {' or '.join(map(str, known or (1,)))}; use a newer graphmill")

    def close(self) -> None:
        """Let the maps go. Arrays that are held stay readable; those that are asked for are opened anew."""
        self._open.clear()

    def array(self, name: str, dtypes: Iterable[str], shape: Sequence[int | None]) -> Array:
        """A file as a read-only map. It must have one of the dtypes and the shape, in which None is any length."""
        if name in self._open:
            return self._open[name]
        path = f"{self.path}/{name}"
        pieces = self.parts(name)
        parts = list(dict.fromkeys(part for part, _, _ in pieces))
        if name not in self.made and parts[0] not in self.sizes:
            raise GraphmillError(f"{path}: found no such file in {MANIFEST}, expected the array that the metadata refer to")
        if self._fetched is not None:
            raise GraphmillError(
                f"{path}: found an array in an object store, expected one on this machine, which can be mapped; copy the folder here, or take the rows from batches"
            )
        try:
            if name in self.made:
                x, parts = self.made[name](), []
            elif parts == [name]:
                x = np.load(path, mmap_mode="r", allow_pickle=False)
            else:
                x = mapped([(f"{self.path}/{part}", first, size) for part, first, size in pieces], counted=name not in self.joined)
            now = [os.stat(f"{self.path}/{part}") for part in parts]
        except GraphmillError:
            raise
        except Exception as e:  # NumPy reads the header as Python's text, and raises what its tokenizer raises
            raise GraphmillError(f"{path}: found no .npy file that can be read ({type(e).__name__}: {e}), expected one; graphmill verify finds damage") from e
        was = [self._found[part] for part in parts]
        if any(n.st_ino != w.st_ino and n.st_mtime_ns != w.st_mtime_ns for n, w in zip(now, was)):  # some file systems give the same file other numbers
            raise GraphmillError(f"{path}: found another file than when the folder was opened, expected the same; the folder was replaced, so open it again")
        want = [np.dtype(_DTYPES[d]) for d in dtypes]
        fits = x.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, x.shape))
        if x.dtype not in want or not fits:
            shown = ["any" if n is None else n for n in shape]
            raise GraphmillError(f"{path}: found {x.dtype} {list(x.shape)}, expected {' or '.join(map(str, want))} {shown}")
        plain: Array = x.view(np.ndarray)  # slices faster than a memmap; it keeps the map alive
        self._open[name] = plain
        return plain

    def index(self, name: str, length: int | None) -> Array:
        """A list of offsets or ids."""
        return self.array(name, ("uint32", "uint64"), (length,))

    def column(self, name: str, meta: Mapping[str, Any], rows: int) -> Column:
        dtype, shape, files = meta["dtype"], tuple(meta["shape"]), meta.get("row_offsets", [])
        if dtype not in _DTYPES:
            raise GraphmillError(f"{self.path}: column {name!r}: found dtype {dtype!r}, expected one of {', '.join(_DTYPES)}")
        offsets: list[Array] = []
        elements, values, fixed = rows, rows, shape
        for i, d in enumerate(shape):
            if d == -1 and len(offsets) < len(files):
                offsets.append(self.index(files[len(offsets)], values + 1))
                elements = values = int(offsets[-1][-1])
                fixed = shape[i + 1 :]
            elif d < 1:
                raise GraphmillError(
                    f"{self.path}: column {name!r}: found shape {list(shape)} with {len(files)} files of offsets, expected one per variable dimension"
                )
            else:
                values *= d
        strings: Array | None = None
        want: tuple[int, ...] = (elements, *fixed)
        if dtype == "string":
            strings = self.index(meta["string_offsets"], values + 1)
            want = (int(strings[-1]),)
        unit, texts, categories = meta.get("unit"), meta.get("categories"), None
        if texts is not None:
            categories = self.column(name, texts, len(self.index(texts["string_offsets"], None)) - 1)
        return Column(name, dtype, shape, rows, self.array(meta["file"], (dtype,), want), tuple(offsets), strings, unit, categories)


def is_address(path: str) -> bool:
    """Whether a path is an address of an object store or a web server."""
    return path.startswith(("s3://", "gs://", "https://", "http://"))


def fetched(address: str) -> dict[str, bytes]:
    """The files that describe a folder in an object store, by name. The command reads them, with its credentials."""
    p = subprocess.run([command(), "metadata", "--", address], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode:
        raise GraphmillError(p.stderr.strip().removeprefix("graphmill: "))
    return {name: base64.b64decode(text) for name, text in json.loads(p.stdout).items()}


@contextlib.contextmanager
def metadata(folder: Folder, name: str) -> Iterator[None]:
    """Converts errors about missing or wrong keys of the metadata into an error that names their file."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
        raise GraphmillError(
            f"{folder.path}/{name}: found metadata of another format ({type(e).__name__}: {e}), expected the metadata that graphmill writes"
        ) from e


class Column:
    """A column of any dtype and shape: its values and their offsets.

    A row is ``column[i]``: an array, a string, or nested lists of these, as deep as the shape. A slice is a column of those
    rows. Only offsets are copied.

    Attributes:
        name: the name of the column.
        dtype: "bool", "int8" to "uint64", "float16", "bfloat16", "float32", "float64" or "string".
        shape: the shape of a row; -1 is a variable dimension.
        values: the values of all rows; the bytes of all strings; bfloat16 as uint16.
        offsets: for each variable dimension, the offset of each list, and the end of the last.
        string_offsets: the offset of each string in the bytes, and the end of the last; None if these are not strings.
        unit: the unit of times since 1970-01-01T00:00:00Z, "s", "ms", "us" or "ns", which are int64, with the least int64 for
            a missing one; None if these are not times.
        categories: the column of strings whose rows the values, which are int32, name, with -1 for a missing one; None if
            these are not categories.
    """

    __slots__ = ("_rows", "categories", "dtype", "name", "offsets", "shape", "string_offsets", "unit", "values")

    def __init__(
        self,
        name: str,
        dtype: str,
        shape: tuple[int, ...],
        rows: int,
        values: Array,
        offsets: tuple[Array, ...],
        string_offsets: Array | None,
        unit: str | None = None,
        categories: Column | None = None,
    ) -> None:
        self.name, self.dtype, self.shape, self._rows = name, dtype, shape, rows
        self.values, self.offsets, self.string_offsets = values, offsets, string_offsets
        self.unit, self.categories = unit, categories

    @property
    def plain(self) -> bool:
        """Whether the column is one array of numbers with a row per item: neither strings, nor lists, nor bfloat16."""
        return self.fixed and self.dtype != "bfloat16"

    @property
    def fixed(self) -> bool:
        """Whether all rows have the same number of bytes: neither strings nor lists."""
        return not self.offsets and self.string_offsets is None

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            start, stop, step = i.indices(self._rows)
            if step != 1:
                raise IndexError(f"column {self.name!r}: found a slice with step {step}, expected step 1")
            return self.slice(start, max(start, stop))
        i = range(self._rows)[i]
        return self.values[i] if self.fixed else self.slice(i, i + 1).tolist()[0]

    def slice(self, start: int, stop: int) -> Column:
        """The rows from ``start`` up to ``stop``."""
        offsets: list[Array] = []
        lo, hi = start, stop  # in elements of the dimensions so far
        first, last = lo, hi  # of the elements of the last variable dimension
        for d in self.shape:
            if d != -1:
                lo, hi = lo * d, hi * d
                continue
            part, lo, hi = _narrow(self.offsets[len(offsets)], lo, hi)
            offsets.append(part)
            first, last = lo, hi
        strings = self.string_offsets
        if strings is not None:
            strings, first, last = _narrow(strings, lo, hi)
        return Column(self.name, self.dtype, self.shape, stop - start, self.values[first:last], tuple(offsets), strings, self.unit, self.categories)

    def take(self, rows: Array) -> Column:
        """The given rows, copied."""
        offsets: list[Array] = []
        at = element = rows.astype(np.int64)
        for d in self.shape:
            if d != -1:
                at = (at[:, None] * d + np.arange(d)).ravel()
                continue
            part, at = _gather(self.offsets[len(offsets)], at)
            offsets.append(part)
            element = at
        strings = self.string_offsets
        if strings is not None:
            strings, element = _gather(strings, at)
        return Column(self.name, self.dtype, self.shape, len(rows), self.values[element], tuple(offsets), strings, self.unit, self.categories)

    def tolist(self) -> list[Any]:
        """All rows as a list: strings as str (bytes that are not UTF-8 as surrogates), lists of numbers as arrays."""
        items: Any = self.values
        dims = self.shape
        if self.string_offsets is not None:
            data, at = self.values.tobytes(), self.string_offsets.tolist()
            items = [data[a:b].decode("utf-8", "surrogateescape") for a, b in zip(at, at[1:])]
        elif self.offsets:
            dims = dims[: len(dims) - dims[::-1].index(-1)]
        else:
            return list(items)
        left = len(self.offsets)
        for d in reversed(dims):
            if d == -1:
                left -= 1
                at = self.offsets[left].tolist()
                items = [items[a:b] for a, b in zip(at, at[1:])]
            else:
                items = [items[k : k + d] for k in range(0, len(items), d)]
        return items  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, self._rows, 4096):
            yield from self.slice(start, min(start + 4096, self._rows)).tolist()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        if not self.fixed:
            raise TypeError(f"column {self.name!r}: found {self}, which is not an array; use values with offsets or string_offsets, or tolist()")
        x = self.values
        if self.dtype == "bfloat16":
            x = widened(x)
        return x if dtype is None else x.astype(dtype)

    def __repr__(self) -> str:
        return f"Column({self.name!r}, {described(self.dtype, self.shape)}, {self._rows} rows)"


def described(dtype: str, shape: Sequence[int]) -> str:
    return dtype + (f" [{', '.join(map(str, shape))}]" if len(shape) else "")


def _narrow(offsets: Array, lo: int, hi: int) -> tuple[Array, int, int]:
    """The offsets of the elements from ``lo`` up to ``hi``, shifted to begin at 0, and the range that they bound."""
    part = offsets[lo : hi + 1]
    first, last = int(part[0]), int(part[-1])
    return part - part.dtype.type(first), first, last


def _gather(offsets: Array, at: Array) -> tuple[Array, Array]:
    """The offsets of the elements at some indices, from 0 on, and the indices of the values that they bound."""
    starts, ends = offsets[at].astype(np.int64), offsets[at + 1].astype(np.int64)
    return np.append(0, np.cumsum(ends - starts)), ranges(starts, ends)


class Columns(Mapping[str, Union[Array, Column]]):
    """Columns by name, opened on first use.

    A column of numbers of a fixed shape is an array; a column of strings, lists or bfloat16 is a `Column`.
    """

    def __init__(self, folder: Folder, what: str, metas: Mapping[str, Any], rows: int) -> None:
        self._folder, self._what, self._metas, self.rows = folder, what, metas, rows
        self.remote = folder.remote
        self.gaps: dict[str, int] = {}  # numbers of rows, by the name of the column (_gaps)
        self.sources: frozenset[str] = frozenset()  # columns that features are made of
        self.features: Mapping[str, Any] = {}
        self.codes: frozenset[str] = frozenset()  # features of codes
        sound = isinstance(metas, dict) and all(
            isinstance(m, dict) and isinstance(m.get("dtype"), str) and isinstance(m.get("shape"), list) for m in metas.values()
        )
        if not sound:
            raise GraphmillError(f"{folder.path}/{folder.meta_name}: found columns of another form, expected the dtype and shape of each by name ({what})")

    def column(self, name: str) -> Column:
        """A column as a `Column`, whatever it holds."""
        if not isinstance(name, str) or name not in self._metas:
            raise KeyError(unknown(f"{self._what}: column", name, self._metas))
        with metadata(self._folder, self._folder.meta_name):
            return self._folder.column(name, self._metas[name], self.rows)

    def meta(self, name: str) -> Mapping[str, Any]:
        """What the metadata say of a column: its files, dtype and shape."""
        of: Mapping[str, Any] = self._metas[name]
        return of

    def fixed(self, name: str) -> bool:
        """Whether all rows of a column have the same number of bytes: neither strings nor lists. No file is opened."""
        meta = self._metas[name]
        return meta["dtype"] != "string" and -1 not in meta["shape"]

    def number(self, name: str) -> bool:
        """Whether the values of a column are numbers: fixed, and neither times nor categories. No file is opened."""
        meta = self._metas[name]
        return self.fixed(name) and meta.get("unit") is None and meta.get("categories") is None

    def __getitem__(self, name: str) -> Array | Column:
        c = self.column(name)
        return c.values if c.plain else c

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._metas))

    def __len__(self) -> int:
        return len(self._metas)

    def described(self, name: str) -> str:
        """The dtype and shape of a column, and whether it holds times or categories. No file is opened."""
        meta = self._metas[name]
        kind = f", times in {meta['unit']}" if meta.get("unit") else ", categories" if meta.get("categories") else ""
        return described(meta["dtype"], meta["shape"]) + kind

    def listed(self) -> str:
        """The columns with their dtypes and shapes, as one text."""
        return listed([f"{n}: {self.described(n)}" for n in self])

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{n}: {described(self._metas[n]['dtype'], self._metas[n]['shape'])}" for n in self) + "}"


def unknown(what: str, name: object, have: Iterable[str]) -> str:
    """The text of an error about an unknown name."""
    names = sorted(have)
    close = difflib.get_close_matches(str(name), names, 1)
    listed = ", ".join(names) if names else "none"
    return f"{what}: found {name!r}, expected one of {listed}" + (f"; did you mean {close[0]}?" if close else "")


def edge_type(name: Any, types: Sequence[EdgeType]) -> EdgeType:
    """An edge type by its three names, by "src:rel:dst", or by its relation if that is unique."""
    wanted = tuple(name.split(":")) if isinstance(name, str) else tuple(name)
    if wanted in types:
        return wanted  # type: ignore[return-value]
    of = [t for t in types if wanted == (t[1],)]
    if len(of) == 1:
        return of[0]
    if len(of) > 1:
        raise KeyError(f"edge type: found relation {name!r} of {', '.join(':'.join(t) for t in of)}, expected all three names")
    text = unknown("edge type", name if isinstance(name, str) else ":".join(map(str, name)), [":".join(t) for t in types])
    close = difflib.get_close_matches(str(wanted[0]), [t[1] for t in types], 1) if len(wanted) == 1 and "did you mean" not in text else []
    raise KeyError(text + (f"; did you mean {close[0]}?" if close else ""))


def typed(nodes: Sequence[str], edges: Sequence[EdgeType]) -> bool:
    """Whether a graph has types with names of its own."""
    return list(nodes) != ["_N"] or any(e != ("_N", "_E", "_N") for e in edges)


def apart(names: Iterable[str], taken: Iterable[str], prefix: str) -> dict[str, str]:
    """Names of columns, each with the name that it has beside others that are taken: with the prefix, perhaps several times, where it is one of them."""
    have = list(names)
    used = {*taken}
    out = {name: name for name in have if name not in used}
    for name in have:
        to = name
        while to in used or to in out.values():
            to = prefix + to
        out.setdefault(name, to)
    return {name: out[name] for name in have}


def triple(name: str) -> EdgeType:
    src, rel, dst = name.split(":")
    return src, rel, dst


def int64(x: Array) -> Array:
    """Offsets or ids as int64, without a copy if they are uint64."""
    return x.view(np.int64) if x.dtype == np.uint64 else x.astype(np.int64)


def human(n: float) -> str:
    """A number of bytes as readable text."""
    power = min(int(math.log2(n) // 10), 5) if n >= 1 else 0
    return f"{n:.0f} B" if power == 0 else f"{n / (1 << 10 * power):.3g} {'KMGTP'[power - 1]}iB"
