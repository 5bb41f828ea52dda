"""Values of the driver, and the columns of Arrow that they become.

Rows are read once, and the type of a column follows from all of its values. So values are kept in a form that says what they are (`plain`), a `Kinds` per column collects
what came, and `Form` makes the arrays in the end.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple

from .._whole.columns import MISSING

_WHOLE = 1 << 53  # integers up to it are floats of 64 bits
_DAY = 86400
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_NAN = float("nan")
_NOTHING: dict[str, Any] = {"bool": False, "int64": 0, "float64": _NAN, "string": ""}  # where a value is missing
SRID = ".srid"  # ends the name of a column with the systems of coordinates of points
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_INT64 = 1 << 63


class Time(NamedTuple):
    """A date, or a time with or without a zone.

    Attributes:
        kind: "date", "datetime" or "local datetime".
        seconds: since 1970, in UTC; of a local time as if it were in UTC.
        nanoseconds: 0 to 999,999,999.
        text: in ISO 8601, with the offset that the database has.
    """

    kind: str
    seconds: int
    nanoseconds: int
    text: str


class Point(NamedTuple):
    """A point: two or three numbers, and the number of their system of coordinates."""

    at: tuple[float, ...]
    srid: int


class Other(NamedTuple):
    """A value that no column can have, such as a map."""

    kind: str


def plain(value: Any) -> Any:
    """A value of the driver as None, a bool, int, float, str, bytes, `Time`, `Point`, a list of these, or `Other`. Durations and times of day are their texts."""
    make = _MAKERS.get(type(value))
    if make is None:
        return value if value is None or isinstance(value, (bool, int, float, str, bytes)) else _of_driver(value)
    return make(value)


def _of_driver(value: Any) -> Any:
    import neo4j.spatial
    import neo4j.time

    for type_, make in (
        (neo4j.time.DateTime, _datetime),
        (neo4j.time.Date, _date),
        (neo4j.time.Time, _text),
        (neo4j.time.Duration, _text),
        (neo4j.spatial.Point, _point),
    ):
        if isinstance(value, type_):
            _MAKERS[type(value)] = make
            return make(value)
    return bytes(value) if isinstance(value, bytearray) else Other(type(value).__name__)


def _date(v: Any) -> Time:
    return Time("date", (v.to_ordinal() - _EPOCH) * _DAY, 0, str(v.iso_format()))


def _datetime(v: Any) -> Time:
    seconds = (v.to_ordinal() - _EPOCH) * _DAY + v.hour * 3600 + v.minute * 60 + int(v.second)
    offset = v.utcoffset()
    if offset is None:
        return Time("local datetime", seconds, int(v.nanosecond), str(v.iso_format()))
    return Time("datetime", seconds - round(offset.total_seconds()), int(v.nanosecond), str(v.iso_format()))


def _text(v: Any) -> str:
    return str(v.iso_format())


def _point(v: Any) -> Point:
    return Point(tuple(map(float, v)), int(v.srid))


def _list(v: list[Any]) -> list[Any]:
    return [plain(x) for x in v]


_MAKERS: dict[type, Callable[[Any], Any]] = {list: _list, bytearray: bytes, dict: lambda v: Other("map")}


def text_of(value: Any) -> str:
    """The text of a value where those of a column are of several kinds."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Time):
        return value.text
    if isinstance(value, Point):
        return f"point({{{', '.join(f'{n}: {x!r}' for n, x in zip('xyz', value.at))}, srid: {value.srid}}})"
    return str(value)


def size_of(value: Any) -> int:
    """About how many bytes of memory a value takes."""
    if isinstance(value, (str, bytes)):
        return 50 + len(value)
    if isinstance(value, list):
        return 60 + sum(map(size_of, value))
    return 150 if isinstance(value, tuple) else 32


class Kinds:
    """What the values of a column are."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.inner: Kinds | None = None  # of the elements of lists
        self.digits = 0  # of fractions of seconds
        self.most = 0  # the largest absolute integer
        self.early = self.late = 0  # seconds
        self.values = 0

    def add(self, value: Any) -> None:
        """Take a value of `plain`, which is not None."""
        self.values += 1
        kind = _KINDS.get(type(value))
        if kind is not None:
            self.kinds.add(kind)
            if kind == "integer":
                self.most = max(self.most, abs(value))
            return
        if isinstance(value, Time):
            self.kinds.add(value.kind)
            self.early, self.late = min(self.early, value.seconds), max(self.late, value.seconds)
            if value.nanoseconds:
                self.digits = max(self.digits, 9 if value.nanoseconds % 1000 else 6 if value.nanoseconds % 1_000_000 else 3)
        elif isinstance(value, Point):
            self.kinds.add(f"point of {len(value.at)} numbers")
        elif isinstance(value, Other):
            self.kinds.add(value.kind)
        else:
            self.kinds.add("list")
            self.inner = self.inner or Kinds()
            for x in value:
                if x is None:
                    self.inner.kinds.add("null")
                else:
                    self.inner.add(x)


_KINDS: dict[type, str] = {bool: "bool", int: "integer", float: "float", str: "string", bytes: "bytes"}
_TIMES = ("date", "datetime", "local datetime")
_PLAIN = {*_KINDS.values(), *_TIMES}


@dataclasses.dataclass(frozen=True)
class Form:
    """The form of a column.

    Attributes:
        dtype: "bool", "int64", "float64", "string", "uint8", or "point".
        unit: of times, whose dtype is int64.
        listed: rows are lists of the dtype.
        size: the numbers of a point.
    """

    dtype: str
    unit: str | None = None
    listed: bool = False
    size: int = 0

    @property
    def called(self) -> str:
        """What errors call it."""
        one = f"times in {self.unit}" if self.unit else f"points of {self.size} numbers" if self.size else self.dtype
        return f"lists of {one}" if self.listed else one


def form_of(k: Kinds) -> tuple[Form | None, str]:
    """The form that holds all values of a column exactly, and what a warning says of it, if anything. None: the column is left out."""
    mixed = " and ".join(sorted(k.kinds))
    if "list" in k.kinds:
        if k.kinds != {"list"} or k.inner is None:
            return None, f"found {mixed}, expected lists alone; it is left out"
        inner = " and ".join(sorted(k.inner.kinds))
        if k.inner.kinds and k.inner.kinds <= {"integer", "float"} and (len(k.inner.kinds) == 1 or k.inner.most <= _WHOLE):
            return Form("int64" if k.inner.kinds == {"integer"} else "float64", listed=True), ""
        if k.inner.kinds == {"bool"}:
            return Form("bool", listed=True), ""
        if len(k.inner.kinds) <= 1 and k.inner.kinds <= {"string", *_TIMES, "point of 2 numbers", "point of 3 numbers"}:
            return Form("string", listed=True), ""
        return None, f"found lists of {inner}, expected lists of numbers, of bools or of texts; it is left out"
    if k.kinds == {"bytes"}:
        return Form("uint8", listed=True), ""
    if k.kinds == {"integer"}:
        return Form("int64"), ""
    if k.kinds <= {"integer", "float"} and ("integer" not in k.kinds or k.most <= _WHOLE):
        return Form("float64"), ""
    if len(k.kinds) == 1 and k.kinds <= set(_TIMES):
        unit = next(u for u, d in _DIGITS.items() if d >= k.digits)
        return Form("int64", unit), ""
    only = next(iter(k.kinds)) if len(k.kinds) == 1 else ""
    if only.startswith("point"):
        return Form("point", size=2 if "2" in only else 3), ""
    if only in ("bool", "string"):
        return Form(only), ""
    if all(x in _PLAIN or x.startswith("point") for x in k.kinds):
        return Form("string"), f"found values of several kinds, {mixed}, expected one; the column has the text of each"
    return None, f"found {mixed}, expected numbers, bools, texts, times, points or lists of them; it is left out"


def finest(k: Kinds, form: Form) -> Form:
    """A form that also later values of a column fit: times in nanoseconds, if those that are there allow it."""
    most = _INT64 // 10**9 - 1
    return dataclasses.replace(form, unit="ns") if form.unit and "date" not in k.kinds and -most < k.early and k.late < most else form


def fits(k: Kinds, form: Form) -> bool:
    """Whether a column of a form can hold values exactly: those of `form_of`, integers as floats, and times in a finer unit."""
    own, _ = form_of(k)
    if not k.values or own == form:
        return True
    if own is None:
        return False
    if own.unit and form.unit:
        return _DIGITS[own.unit] <= _DIGITS[form.unit]
    if form.listed and own.listed and k.inner is not None and not k.inner.kinds:  # empty lists
        return True
    integers = k.inner if form.listed and k.inner is not None else k
    return form.dtype == "float64" and own.dtype == "int64" and not own.unit and form.listed == own.listed and integers.most <= _WHOLE


class Unheld(ValueError):
    """A value that a store cannot have; the text says why."""


def arrays_of(name: str, form: Form, values: Sequence[Any], flags: bool) -> list[tuple[str, Any]]:
    """The arrays of pyarrow of a column by their names: the column itself, of points also NAME.srid, and with ``flags`` the bools that say where a value is missing. There the
    column has NaN, 0, False, "", or an empty list. A time that is missing is a null, without flags.

    Raises:
        Unheld: a time is beyond what the unit can have, or beyond the years 1 to 9999.
    """
    import pyarrow

    type_ = arrow_type(form)
    flags = flags and not form.unit
    gone = [v is None for v in values] if flags else []
    if form.unit:
        return [(name, pyarrow.array([None if v is None else _ticks(name, v, form.unit) for v in values], pyarrow.int64()).cast(type_))]
    if form.size:
        flat = pyarrow.array([x for v in values for x in ((_NAN,) * form.size if v is None else v.at)], pyarrow.float64())
        srid = pyarrow.array([0 if v is None else v.srid for v in values], pyarrow.int32())
        out = [(name, pyarrow.FixedSizeListArray.from_arrays(flat, form.size)), (name + SRID, srid)]
    elif form.listed:
        rows: Iterable[Any] = ([] if v is None else v for v in values)
        if form.dtype == "string":
            rows = ([text_of(x) for x in v] for v in rows)
        elif form.dtype == "uint8":
            rows = (list(v) for v in rows)
        out = [(name, pyarrow.array(list(rows), type_))]
    else:
        nothing = _NOTHING[form.dtype]
        filled = [nothing if v is None else v for v in values]
        if form.dtype == "string":
            filled = [v if isinstance(v, str) else text_of(v) for v in filled]
        elif form.dtype == "float64":
            filled = list(map(float, filled))
        out = [(name, pyarrow.array(filled, type_))]
    return [*out, (name + MISSING, pyarrow.array(gone, pyarrow.bool_()))] if flags else out


def arrow_type(form: Form) -> Any:
    """The type of pyarrow of a column of a form."""
    import pyarrow

    if form.size:
        return pyarrow.list_(pyarrow.float64(), form.size)
    one = pyarrow.timestamp(form.unit) if form.unit else {"bool": pyarrow.bool_()}.get(form.dtype) or getattr(pyarrow, form.dtype)()
    return pyarrow.list_(one) if form.listed else one


def _ticks(name: str, v: Time, unit: str) -> int:
    ticks: int = v.seconds * 10 ** _DIGITS[unit] + v.nanoseconds // 10 ** (9 - _DIGITS[unit])
    if not -_INT64 < ticks < _INT64:
        raise Unheld(
            f"found {v.text} in the property {name!r}, expected a time from 1678 to 2261, as others of it have nanoseconds; correct the value, or return the property as a text by a query of your own"
        )
    return ticks
