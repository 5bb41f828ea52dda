"""Rows on the disk, until the types of all columns are known."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

from .._arrays import Array
from .._command import GraphmillError
from .values import Form, Kinds, Other, Point, Time, Unheld, arrays_of, finest, fits, form_of, plain, size_of

_ROWS, _BYTES = 1 << 15, 16 << 20  # rows, and about the bytes of memory, that wait at most for all tables together


def _written(v: Any) -> Any:
    """A value of `plain` as JSON has it: what JSON lacks is an object with one key."""
    if isinstance(v, Time):
        return {"time": list(v)}
    if isinstance(v, Point):
        return {"point": [list(v.at), v.srid]}
    if isinstance(v, Other):
        return {"other": v.kind}
    if isinstance(v, bytes):
        return {"bytes": v.hex()}
    return [_written(x) for x in v] if isinstance(v, (list, tuple)) else v


def _read(v: Any) -> Any:
    """The value that `_written` was given."""
    if isinstance(v, list):
        return [_read(x) for x in v]
    if not isinstance(v, dict):
        return v
    [(kind, of)] = v.items()
    return Time(*of) if kind == "time" else Point(tuple(of[0]), of[1]) if kind == "point" else Other(of) if kind == "other" else bytes.fromhex(of)


class Rows:
    """Tables of rows in a file of a folder. The file is read by the process alone that wrote it."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "rows")
        self._file = open(self._path, "wb")
        self.tables: dict[Any, Table] = {}  # by type, in the order of their first rows
        self._rows = self._bytes = 0

    def add(self, type_: Any, what: str, keys: Sequence[Any], values: Mapping[str, Any]) -> None:
        """Add a row to the table of a type.

        Args:
            what: what messages call the table.
            keys: the values of the columns of keys, which `stream` is given the names of.
            values: of the driver, by the names of columns; None is missing.
        """
        t = self.tables.get(type_)
        if t is None:
            t = self.tables[type_] = Table(self._path, what)
        self._bytes += t.add(keys, values)
        self._rows += 1
        if self._rows >= _ROWS or self._bytes >= _BYTES:
            self._write()

    def _write(self) -> None:
        for t in self.tables.values():
            t.write(self._file)
        self._rows = self._bytes = 0

    def end(self) -> None:
        """Write what waits."""
        self._write()
        self._file.close()

    def close(self) -> None:
        """Close the file, also after an error."""
        self._file.close()


class Table:
    """The rows of a type."""

    def __init__(self, path: str, what: str) -> None:
        self._path, self.what = path, what
        self.rows = 0
        self.columns: dict[str, Kinds] = {}
        self.keys: list[set[type]] = []
        self._waiting: list[tuple[Sequence[Any], dict[str, Any]]] = []
        self._chunks: list[int] = []  # where they begin

    def add(self, keys: Sequence[Any], values: Mapping[str, Any]) -> int:
        row, size = {}, 200
        for name, value in values.items():
            v = plain(value)
            if v is None:
                continue
            k = self.columns.get(name)
            if k is None and (not name or name.startswith("#")):
                raise GraphmillError(
                    f"{self.what}: found the property {name!r}, expected a name that does not begin with #; rename it, or read it by a query of your own"
                )
            if k is None:
                k = self.columns[name] = Kinds()
            k.add(v)
            row[name] = v
            size += size_of(v)
        self.keys = self.keys or [set() for _ in keys]
        for of, key in zip(self.keys, keys):
            of.add(type(key))
        self._waiting.append((keys, row))
        self.rows += 1
        return size

    def write(self, file: Any) -> None:
        if self._waiting:
            self._chunks.append(file.tell())
            file.write(json.dumps([[_written(list(keys)), {name: _written(v) for name, v in row.items()}] for keys, row in self._waiting]).encode() + b"\n")
            self._waiting = []

    def chunks(self) -> Iterator[list[tuple[Sequence[Any], dict[str, Any]]]]:
        """The rows, in the batches in which they were written: keys and values."""
        with open(self._path, "rb") as f:
            for at in self._chunks:
                f.seek(at)
                yield [(_read(keys), {name: _read(v) for name, v in row.items()}) for keys, row in json.loads(f.readline())]

    def stream(
        self,
        keys: Sequence[str],
        have: Mapping[str, Form] | None,
        flagged: Mapping[str, bool],
        place: str,
        fine: bool = False,
        own: Sequence[str] = (),
        take: Callable[[list[Sequence[Any]]], Array] | None = None,
    ) -> Any:
        """The table as a reader of pyarrow.

        Args:
            keys: the names of the columns of keys.
            have: the forms that the columns of a store have, by name; None: there is no store, and columns get the form of their values.
            flagged: the columns of the store that have another one which says where they are missing.
            place: begins messages.
            fine: columns get a form that later values fit, too.
            own: columns that the store does not have as such, which are ids.
            take: says of keys, the items of a list, which rows are in the stream; None: all.

        Raises:
            GraphmillError: a column does not fit the store.
        """
        import pyarrow

        forms = self._forms(place, fine) if have is None else self._forms_in(have, flagged, own, place)
        flags = {n: flagged.get(n, False) or (n in self.columns and self.columns[n].values < self.rows) for n in forms}
        ids = [pyarrow.int64() if of == {int} else pyarrow.string() for of in self.keys]
        for name, of in zip(keys, self.keys):
            if len(of) > 1:
                raise GraphmillError(
                    f"{place}: {self.what}: found keys that are integers and keys that are texts ({name}), expected one kind; choose another property as key="
                )
        schema = pyarrow.schema([*zip(keys, ids), *((n, a.type) for name in forms for n, a in arrays_of(name, forms[name], [], flags[name]))])

        def batches() -> Iterator[Any]:
            for rows in self.chunks():
                if take is not None:
                    rows = [row for row, wanted in zip(rows, take([k for k, _ in rows]).tolist()) if wanted]
                out = [pyarrow.array([k[i] for k, _ in rows], type_) for i, type_ in enumerate(ids)]
                try:
                    for name, form in forms.items():
                        out += [a for _, a in arrays_of(name, form, [v.get(name) for _, v in rows], flags[name])]
                except Unheld as e:
                    raise GraphmillError(f"{place}: {self.what}: {e}") from None
                yield pyarrow.RecordBatch.from_arrays(out, schema=schema)

        return pyarrow.RecordBatchReader.from_batches(schema, batches())

    def _forms(self, place: str, fine: bool) -> dict[str, Form]:
        forms = {}
        for name in sorted(self.columns):
            form, said = form_of(self.columns[name])
            if said:
                warnings.warn(f"{place}: {self.what}: property {name!r}: {said}", stacklevel=2)
            if form is not None:
                forms[name] = finest(self.columns[name], form) if fine else form
        return forms

    def _forms_in(self, have: Mapping[str, Form], flagged: Mapping[str, bool], own: Sequence[str], place: str) -> dict[str, Form]:
        """The forms of the columns of a store, which the values must fit, and those of columns of ids."""
        ids = {}
        for name, k in sorted(self.columns.items()):
            if name not in have:
                form, said = form_of(k)
                if name in own and form is not None:
                    ids[name] = form
                    continue
                if form is None:
                    warnings.warn(f"{place}: {self.what}: property {name!r}: {said}", stacklevel=2)
                    continue
                raise GraphmillError(
                    f"{place}: {self.what}: found the property {name!r}, expected the columns of the store, {', '.join(have) or 'none'}; import the database anew with overwrite=True"
                )
            if not fits(k, have[name]):
                raise GraphmillError(
                    f"{place}: {self.what}: property {name!r}: found {' and '.join(sorted(k.kinds))} in new or changed rows, expected {have[name].called} as in the store; correct the values, or import the database anew with overwrite=True"
                )
        for name, form in have.items():
            gone = self.rows - (self.columns[name].values if name in self.columns else 0)
            if gone and not flagged.get(name, False) and not form.unit:
                raise GraphmillError(
                    f"{place}: {self.what}: property {name!r}: found {gone} new or changed rows without it, expected it in each, as each row of the store has it; add the values, or import the database anew with overwrite=True"
                )
        return {**have, **ids}
