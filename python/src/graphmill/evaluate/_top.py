"""The items with the highest scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import integer
from .._arrays import Array, is_torch
from ._blocks import Known, scores_of
from ._input import whole


def top_k(scores: Any, k: int, known: Any = None, items: Any = None, *, sources: Any = None, block: int | None = None) -> tuple[Array, Array]:
    """The k items with the highest scores of each row, without those that are known. Of equal scores, the lower item is first.

    Args:
        scores: [n, items], or a function that gets an array of sources, of the kind of ``sources``, and returns [sources, items].
        k: number of items.
        known: [2, m], sources and items that are left out, such as the links of the training.
        items: the item that each column is of, in increasing order. By default they are numbered from 0.
        sources: [n], the source of each row, which ``known`` refers to. By default they are numbered from 0. A function needs it.
        block: number of rows of scores that are looked at together. By default they have about 2^24 scores, 64 MiB of float32.

    Returns:
        Two arrays [n, k]: the items, int64, with -1 where a row has no further one, and their scores, NaN there. `lists` takes the first.

    Raises:
        ValueError: a score is NaN, or shapes differ.
    """
    most = integer("k", k, 1)
    if sources is None:
        if callable(scores):
            raise TypeError("found a function of scores without sources, expected sources=, the sources to ask it for")
        of = np.arange(len(scores))
    else:
        of = whole("sources", sources)
    column = None if items is None else _columns(items)
    left_out = None if known is None else Known(known)
    found: list[tuple[Array, Array]] = []
    for at, x in scores_of(scores, of, block, sources if is_torch(sources) else None, "sources"):
        if column is not None and len(column) != x.shape[1]:
            raise ValueError(f"found {len(column)} items and scores of {x.shape[1]}, expected an item per column")
        if left_out is not None:
            left_out.remove(x, of[at : at + len(x)], column)
        found.append(highest(x, most, column))
    if not found:
        return np.empty((0, most), np.int64), np.empty((0, most))
    return np.concatenate([f for f, _ in found]), np.concatenate([s for _, s in found])


def _columns(items: Any) -> Array:
    column = whole("items", items)
    if len(column) and int(column[0]) < 0:
        raise ValueError(f"found the item {column[0]} in items, expected items from 0")
    if (column[1:] <= column[:-1]).any():
        bad = int(np.argmax(column[1:] <= column[:-1]))
        raise ValueError(
            f"found the item {column[bad + 1]} after {column[bad]} in items, expected increasing items; sort them, and the columns of the scores alike"
        )
    return column


def highest(x: Array, k: int, column: Array | None) -> tuple[Array, Array]:
    """The highest scores of a block; NaN stands for no item."""
    n, width = x.shape
    items, scores = np.full((n, k), -1, np.int64), np.full((n, k), np.nan, x.dtype)
    if not width:
        return items, scores
    low = -x  # NaN is behind all numbers, so that the highest scores are first
    if k < width:
        bound = -np.partition(low, k - 1, axis=1)[:, k - 1 : k]
        row, item = np.nonzero(np.where(np.isnan(bound), ~np.isnan(x), x >= bound))
    else:
        row, item = np.nonzero(~np.isnan(x))
    order = np.lexsort((low[row, item], row))  # it is stable, and items are in their order
    row, item = row[order], item[order]
    sizes = np.bincount(row, minlength=n)
    place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    row, item, place = row[place < k], item[place < k], place[place < k]
    items[row, place] = item if column is None else column[item]
    scores[row, place] = x[row, item]
    return items, scores
