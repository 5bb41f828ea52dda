"""Rows of the scores of all items, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._arguments import integer
from .._arrays import Array, index, ranges
from ._input import finite, numbers, pairs, same_length

_TOGETHER = 1 << 24  # scores that are looked at together, unless the user says how many rows
_FIRST = 16  # rows that a function is first asked for, when it is not known how many scores a row has


def scores_of(scores: Any, sources: Array, block: Any, like: Any, name: str) -> Iterator[tuple[int, Array]]:
    """Blocks of scores, each with the number of its first row. They are new arrays of floats.

    Args:
        scores: an array with a row per source, or a function of an array of sources.
        sources: the source of each row.
        block: rows of a block; None is as many as have 2^24 scores.
        like: a tensor, if the function gets its sources as one on the same device; else None.
        name: the argument that the sources are from, for errors.

    Raises:
        ValueError: shapes differ, or a score is NaN.
    """
    if not callable(scores):
        if len(getattr(scores, "shape", (0, 0))) != 2:
            scores = numbers("scores", scores, 2)
        same_length("rows of scores", len(scores), name, len(sources), "a row for each")
    rows = None if block is None else integer("block", block, 1)
    items = None if callable(scores) else int(scores.shape[1])
    at = 0
    while at < len(sources):
        step = rows or (_FIRST if items is None else max(1, _TOGETHER // max(items, 1)))
        of = sources[at : at + step]
        x = numbers("scores", scores(of.copy() if like is None else index(like, of)) if callable(scores) else scores[at : at + step], 2)
        if len(x) != len(of) or x.shape[1] != (x.shape[1] if items is None else items):
            raise ValueError(f"found scores of shape {list(x.shape)}, expected [{len(of)}, {'items' if items is None else items}]: a row for each source")
        items = x.shape[1]
        finite("scores", x, of if callable(scores) else np.arange(at, at + len(x)))
        yield at, np.array(x, x.dtype if x.dtype.kind == "f" else np.float64)
        at += len(of)


class Known:
    """Links that exist, by their sources."""

    def __init__(self, known: Any, name: str = "known") -> None:
        self._source, self._item = pairs(name, known, "sources and items")
        if (self._source[1:] < self._source[:-1]).any():
            order = np.argsort(self._source, kind="stable")
            self._source, self._item = self._source[order], self._item[order]

    def remove(self, x: Array, sources: Array, column: Array | None = None) -> None:
        """Make NaN of the scores of known items.

        Args:
            x: the scores, a row for each of the sources.
            sources: the sources.
            column: the items of the columns, sorted; None is an item per column, from 0.
        """
        starts, ends = np.searchsorted(self._source, sources, "left"), np.searchsorted(self._source, sources, "right")
        row = np.repeat(np.arange(len(sources)), ends - starts)
        item = self._item[ranges(starts, ends)]
        if column is not None:
            place = np.searchsorted(column, item)
            there = column[np.minimum(place, len(column) - 1)] == item
            row, item = row[there], place[there]
        elif len(item) and int(item.max()) >= x.shape[1]:
            raise ValueError(f"found the item {int(item.max())} in known, expected numbers below {x.shape[1]}, the number of items that have scores")
        x[row, item] = np.nan
