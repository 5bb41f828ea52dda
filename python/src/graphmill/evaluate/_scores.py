"""What an evaluation returns."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType

from .._arrays import Array

_MOST = 20  # groups that are shown


class Scores(Mapping[str, float]):
    """The values of metrics by their names, such as ``scores["mrr"]``. They cannot be changed.

    Attributes:
        count: the number of items that were evaluated: links, lists, labels or values.
        each: by metric, the value of each item, float64, for metrics that are a mean of them. Items that were left out have NaN.
        intervals: by metric, the least and the greatest value of its interval, if ``bootstrap`` was given.
        groups: the Scores of each group, in the order of the groups, if ``groups`` were given. A metric is NaN in a group where
            it is not defined.
    """

    __slots__ = ("_count", "_each", "_groups", "_intervals", "_values", "_what")

    def __init__(
        self,
        values: Mapping[str, float],
        what: str,
        count: int,
        each: Mapping[str, Array],
        intervals: Mapping[str, tuple[float, float]],
        groups: Mapping[Hashable, Scores],
    ) -> None:
        self._values, self._what, self._count = dict(values), what, count
        self._each, self._intervals, self._groups = dict(each), dict(intervals), dict(groups)

    @property
    def count(self) -> int:
        return self._count

    @property
    def each(self) -> Mapping[str, Array]:
        return MappingProxyType(self._each)

    @property
    def intervals(self) -> Mapping[str, tuple[float, float]]:
        return MappingProxyType(self._intervals)

    @property
    def groups(self) -> Mapping[Hashable, Scores]:
        return MappingProxyType(self._groups)

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        rows = [[name, _text(x), *self._interval(name)] for name, x in self.items()]
        lines = [f"Scores of {self._count:,} {self._what}", *_aligned(rows)]
        if self._groups:
            shown = list(self._groups.items())[:_MOST]
            lines += ["", *_aligned([["group", self._what, *self], *([str(g), f"{s.count:,}", *map(_text, s.values())] for g, s in shown)])]
            if len(self._groups) > _MOST:
                lines.append(f"and {len(self._groups) - _MOST:,} other groups")
        return "\n".join(lines)

    def _interval(self, name: str) -> list[str]:
        if not self._intervals:
            return []
        low, high = self._intervals[name]
        return [f"{_text(low)} to {_text(high)}"]


def _text(x: float) -> str:
    if x != x:
        return "-"
    return f"{x:.4f}" if x == 0 or 0.01 <= abs(x) < 1e5 else f"{x:.3g}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of cells: the first column aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]) for row in rows]
