"""The filtered ranking of knowledge graphs, over the scores of all items."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array, is_torch
from . import _ranks
from ._blocks import Known, scores_of
from ._input import pairs

_FEW = 4  # links of one source up to which comparing all items for each is faster than sorting them once


def full_ranks(scores: Any, links: Any, known: Any = None, *, ties: str = "mean", block: int | None = None) -> Array:
    """The rank of each link's target among all items, but for other targets that are known: the filtered ranking of knowledge graphs.

    Args:
        scores: the scores of all items: [n, items] with a row per link, or a function that gets an array of sources, of the kind of
            ``links``, and returns [sources, items]. Each source is asked for once.
        links: [2, n], the sources and targets of the links. A target is the number of an item.
        known: [2, m], links that exist, such as ``store.edges[t].edge_index()``. For a link, the targets of its source are left out,
            but for its own.
        ties: the share of equal scores that counts as higher: ``"mean"``, ``"worst"`` or ``"best"``, as in `links`.
        block: number of rows of scores that are looked at together. By default they have about 2^24 scores, 64 MiB of float32.

    Returns:
        [n], the ranks, float64. `ranked` makes Scores of them.

    Raises:
        ValueError: a score is NaN, shapes differ, or a target is no item.
    """
    ends = pairs("links", links, "sources and targets")
    share = _ranks.tie_rule(ties)
    source, target = ends
    if callable(scores):
        rows, row = np.unique(source, return_inverse=True)
    else:
        rows, row = source, np.arange(len(source))
    order = np.argsort(row.reshape(-1), kind="stable")
    row = row.reshape(-1)[order]
    filtered = None if known is None else Known(known)
    above, equal = np.zeros(len(source), np.int64), np.zeros(len(source), np.int64)
    for at, x in scores_of(scores, rows, block, links if is_torch(links) else None, "links"):
        first, end = np.searchsorted(row, [at, at + len(x)])
        of = order[first:end]
        above[of], equal[of] = _block(x, row[first:end] - at, target[of], rows[at : at + len(x)], filtered)
    return _ranks.ranked(above, equal, share)


def _block(x: Array, row: Array, target: Array, sources: Array, known: Known | None) -> tuple[Array, Array]:
    """How many items are above the target of each link, and how many others are equal."""
    if len(target) and int(target.max()) >= x.shape[1]:
        raise ValueError(f"found the target {int(target.max())} in links, expected numbers below {x.shape[1]}, the number of items that have scores")
    own = x[row, target]
    if known is not None:
        known.remove(x, sources)
    links = np.bincount(row, minlength=len(x))
    few = links[row] <= _FEW
    above, equal = np.zeros(len(row), np.int64), np.zeros(len(row), np.int64)
    each_its_own = bool((links == 1).all())
    above[few], equal[few] = _ranks.counts(x, own[few], None if each_its_own else row[few])
    for r in np.flatnonzero(links > _FEW):
        mine = row == r
        there = np.sort(x[r][~np.isnan(x[r])])
        upto = np.searchsorted(there, own[mine], "right")
        above[mine], equal[mine] = len(there) - upto, upto - np.searchsorted(there, own[mine], "left")
    equal -= ~np.isnan(x[row, target])  # the target itself, unless it is known
    return above, equal
