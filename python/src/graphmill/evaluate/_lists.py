"""Lists of items: what of a list is relevant, and how early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array, is_torch
from ._evaluation import Evaluation, options, scored
from ._input import pairs, same_length, whole
from ._names import Metric, parsed
from ._scores import Scores

_DEFAULT = ("precision@10", "recall@10", "ndcg@10", "map@10", "mrr@10", "hits@10")
_METRICS = ("precision", "recall", "f1", "ndcg", "map", "mrr", "hits")
_BLOCK = 1 << 13  # items that are looked up at a time


class _Lists(Evaluation):
    what = "lists"

    def __init__(self, metrics: Sequence[Metric], values: Mapping[str, Array], count: int) -> None:
        super().__init__(metrics, count)
        self._values = values

    def each(self) -> Mapping[str, Array]:
        return dict(self._values)

    def part(self, items: Array) -> Evaluation:
        return _Lists(self.metrics, {name: x[items] for name, x in self._values.items()}, len(items))


def lists(top: Any, relevant: Any, metrics: Any = _DEFAULT, *, groups: Any = None, bootstrap: int = 0, level: float = 0.95, seed: int = 0) -> Scores:
    """Scores of lists of items, such as recommendations: how much of what is relevant they have, and how early.

    The definitions are as of PyG's ``LinkPredPrecision``, ``LinkPredRecall``, ``LinkPredF1``, ``LinkPredNDCG``, ``LinkPredMAP``,
    ``LinkPredMRR`` and ``LinkPredHitRatio``, but for items that are relevant twice, which count once. Lists for which nothing is
    relevant are left out, as PyG does: ``count`` is the number of the others.

    Args:
        top: [n, K], the items of each list in their order, from 0; -1 stands after its last item. `top_k` makes it.
        relevant: the relevant items: a list with an array per list, or a [2, m] array of the number of a list and an item.
        metrics: of ``precision@K``, ``recall@K``, ``f1@K``, ``ndcg@K``, ``map@K``, ``mrr@K`` and ``hits@K``, for the first K items. K may
            exceed the length of the lists: the places beyond have no items.
        groups: [n], the group of each list: numbers or texts. The result has Scores of each.
        bootstrap: number of resamples of the lists for intervals; 0 is none.
        level: the share of the resamples that an interval has.
        seed: random seed of the resamples.

    Returns:
        The Scores.

    Raises:
        ValueError: no list has a relevant item, a list has an item twice, or a metric is not known.
    """
    names = parsed(metrics, (), _METRICS)
    items = whole("top", top, 2)[:, : max(m.k for m in names)]
    of = options(groups, len(items), "lists", bootstrap, level, seed)
    _check(items)
    rows, wanted = _relevant(relevant, len(items))
    if not len(rows):
        raise ValueError("found no relevant items, expected at least one for one of the lists")
    found, sizes = _found(items, rows, wanted)
    kept = sizes > 0
    if not kept.all():
        found, sizes = found[kept], sizes[kept]
    return scored(_Lists(names, {m.name: _value(m, found[:, : m.k], sizes) for m in names}, len(sizes)), of, kept)


def _value(m: Metric, found: Array, relevant: Array) -> Array:
    """The value of each list. ``found`` says which of its first k items are relevant, and ``relevant`` how many are in all."""
    hits = found.sum(1)
    places = np.arange(1, found.shape[1] + 1)
    most = np.minimum(relevant, m.k)
    out: Array
    if m.of == "precision":
        out = hits / m.k
    elif m.of == "recall":
        out = hits / relevant
    elif m.of == "f1":
        out = 2 * hits / (m.k + relevant)  # 2 P R / (P + R), and 0 without hits
    elif m.of == "hits":
        out = (hits > 0).astype(np.float64)
    elif not found.shape[1]:
        out = np.zeros(len(found))
    elif m.of == "mrr":
        out = np.where(hits > 0, 1 / (np.argmax(found, axis=1) + 1), 0.0)
    elif m.of == "map":
        # A cumulative sum adds in the order of the places, in every version of NumPy.
        out = np.cumsum(np.cumsum(found, axis=1) / places * found, axis=1)[:, -1] / most
    else:
        gains = np.cumsum(1 / np.log2(np.arange(2, int(most.max()) + 2)))
        out = np.cumsum(found / np.log2(places + 1), axis=1)[:, -1] / gains[most - 1]
    return out


def _check(items: Array) -> None:
    """Raise a ValueError unless each row has distinct items and then only -1."""
    if not items.size:
        return
    if int(items.min()) < -1:
        bad = int(np.argmax((items < -1).any(1)))
        raise ValueError(f"found the item {int(items[bad].min())} in row {bad} of top, expected items from 0, and -1 after the last")
    late = (items[:, 1:] >= 0) & (items[:, :-1] < 0)
    if late.any():
        raise ValueError(f"found an item after -1 in row {int(np.argmax(late.any(1)))} of top, expected -1 only after the last item")
    step = max(1, _BLOCK // items.shape[1])
    for at in range(0, len(items), step):
        x = np.sort(items[at : at + step], axis=1)
        twice = (x[:, 1:] == x[:, :-1]) & (x[:, 1:] >= 0)
        if twice.any():
            row, place = (int(i[0]) for i in np.nonzero(twice))
            raise ValueError(f"found the item {int(x[row, place])} twice in row {at + row} of top, expected it once")


def _relevant(relevant: Any, n: int) -> tuple[Array, Array]:
    """Pairs of a list and an item."""
    if isinstance(relevant, (list, tuple)):
        same_length("lists in top", n, "arrays in relevant", len(relevant), "an array per list")
        each = [whole(f"relevant[{i}]", x) for i, x in enumerate(relevant)]
        rows = np.repeat(np.arange(n), [len(x) for x in each])
        items = np.concatenate([np.empty(0, np.int64), *each])
        if items.size and int(items.min()) < 0:
            bad = int(np.argmax(items < 0))
            raise ValueError(f"found the item {items[bad]} in relevant[{rows[bad]}], expected items from 0")
        return rows, items
    if not is_torch(relevant) and not hasattr(relevant, "shape"):
        raise TypeError(f"found relevant of type {type(relevant).__name__}, expected a list with an array per list, or a [2, m] array")
    rows, items = pairs("relevant", relevant, "numbers of lists and items")
    if rows.size and int(rows.max()) >= n:
        raise ValueError(f"found the list {int(rows.max())} in relevant, expected numbers below {n}, the number of lists in top")
    return rows, items


def _found(items: Array, rows: Array, wanted: Array) -> tuple[Array, Array]:
    """Which items of each row are among the pairs of rows and wanted items, and how many items each row wants."""
    highest = max(int(items.max(initial=0)), int(wanted.max()))
    if highest + 2 > (1 << 63) // len(items):
        # The places of items among the wanted ones, so that a row and an item are one integer.
        names, place = np.unique(wanted, return_inverse=True)
        wanted, of = place.reshape(-1), np.searchsorted(names, items)
        items = np.where(names[np.minimum(of, len(names) - 1)] == items, of, -1)
        highest = len(names)
    width = highest + 2
    pairs = rows * width + (wanted + 1)  # so no pair has the number of -1
    if not (pairs[1:] > pairs[:-1]).all():
        pairs = np.unique(pairs)
    sizes = np.bincount(pairs // width, minlength=len(items))
    out = np.zeros(items.shape, bool)
    if items.size:
        ends = np.cumsum(sizes)
        step = max(1, _BLOCK // items.shape[1])
        for at in range(0, len(items), step):
            end = min(at + step, len(items))
            mine = pairs[ends[at] - sizes[at] : ends[end - 1]]
            if len(mine):
                asked = items[at:end] + (np.arange(at, end)[:, None] * width + 1)
                out[at:end] = mine[np.minimum(np.searchsorted(mine, asked), len(mine) - 1)] == asked
    return out, sizes
