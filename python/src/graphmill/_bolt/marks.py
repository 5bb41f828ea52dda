"""Marks: up to where the rows of a database are taken. The manifest of the store has them by type, as texts, and an append's segment those of its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from .._command import GraphmillError
from .values import Time, plain

_EPOCH = 719163  # the ordinal of 1970-01-01


class Mark(NamedTuple):
    """A value of the property that grows with each row: an int, a str, or a `Time`."""

    name: str
    value: Any

    @property
    def kind(self) -> str:
        return self.value.kind if isinstance(self.value, Time) else "integer" if isinstance(self.value, int) else "string"

    @property
    def order(self) -> Any:
        """What is compared: of times, the moment. Texts are compared as the database does."""
        return self.value[1:3] if isinstance(self.value, Time) else self.value

    @property
    def text(self) -> str:
        value = {"seconds": self.value.seconds, "nanoseconds": self.value.nanoseconds} if isinstance(self.value, Time) else self.value
        return json.dumps({"property": self.name, self.kind: value}, ensure_ascii=False)

    def parameter(self) -> Any:
        """The value as the driver takes it."""
        if not isinstance(self.value, Time):
            return self.value
        import datetime

        import neo4j.time

        days, seconds = divmod(self.value.seconds, 86400)
        date = neo4j.time.Date.from_ordinal(days + _EPOCH)
        if self.kind == "date":
            return date
        at = neo4j.time.Time(
            seconds // 3600, seconds // 60 % 60, seconds % 60, self.value.nanoseconds, datetime.timezone.utc if self.kind == "datetime" else None
        )
        return neo4j.time.DateTime.combine(date, at)


def mark_of(name: str, value: Any, where: str) -> Mark:
    """The mark of a row.

    Raises:
        GraphmillError: the row has no value that can be one.
    """
    v = plain(value)
    if isinstance(v, bool) or not isinstance(v, (int, str, Time)):
        found = "no value" if v is None else f"{value!r}"
        raise GraphmillError(
            f"{where}: found {found} in {name!r}, expected a time, an integer or a text, which is the mark; set it, or name another property with mark="
        )
    return Mark(name, v)


def later(mark: Mark | None, other: Mark, where: str) -> Mark:
    """The larger one of two marks.

    Raises:
        GraphmillError: they are of different kinds.
    """
    if mark is None:
        return other
    if mark.kind != other.kind:
        raise GraphmillError(f"{where}: found a {other.kind} and a {mark.kind} in {other.name!r}, expected marks of one kind; correct the values")
    return max(mark, other, key=lambda m: m.order)


def marks_of(meta: Mapping[str, Any]) -> dict[str, str]:
    """The last marks of a store, by type."""
    made = meta.get("made", {})
    of = dict(made.get("marks") or {})
    for part in [*(made.get("appended") or []), *(s.get("made", {}) for s in meta.get("segments") or [])]:
        of.update(part.get("marks") or {})
    return of


def parsed(text: str, name: str, place: str) -> Mark | None:
    """The mark of a text, which must be of a property; None: the text is no mark of a graph database.

    Raises:
        GraphmillError: it is of another property.
    """
    try:
        of = json.loads(text)
        had = of.pop("property")
        [(kind, value)] = of.items()
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
    if had != name:
        raise GraphmillError(
            f"{place}: found a store whose mark is the property {had!r}, expected mark={had!r}; name it, or import the database anew with overwrite=True"
        )
    return Mark(name, Time(kind, int(value["seconds"]), int(value["nanoseconds"]), "") if isinstance(value, dict) else value)
