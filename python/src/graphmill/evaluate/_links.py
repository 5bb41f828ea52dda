"""Positive links among their negatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array
from . import _ranks
from ._curve import Curve
from ._evaluation import Evaluation, options, scored
from ._input import finite, numbers, same_length, skips, whole
from ._names import Metric, parsed
from ._negatives import Matrix, Negatives, Ragged, Shared
from ._scores import Scores

_DEFAULT = ("mrr", "hits@1", "hits@3", "hits@10")
_AREAS = ("auc", "ap")


class _Links(Evaluation):
    what = "positive links"

    def __init__(self, metrics: Sequence[Metric], ranks: Array, positive: Array | None = None, negative: Negatives | None = None) -> None:
        super().__init__(metrics, len(ranks))
        self._ranks, self._positive, self._negative = ranks, positive, negative
        self._curve: Curve | None = None

    def each(self) -> Mapping[str, Array]:
        out = {"rank": self._ranks}
        for m in self.metrics:
            if m.of == "mrr":
                out[m.name] = 1 / self._ranks
            elif m.of == "mr":
                out[m.name] = self._ranks
            elif m.of == "hits":
                out[m.name] = (self._ranks <= m.k).astype(np.float64)
        return out

    def joint(self, weights: Array | None) -> Mapping[str, float]:
        names = [m.of for m in self.metrics if m.of in _AREAS]
        if self._positive is None or self._negative is None or not names:
            return {}
        if self._curve is None:
            self._curve = Curve(self._positive, np.arange(self.count), self._negative.blocks)
        return self._curve.areas(names, weights)

    def part(self, items: Array) -> Evaluation:
        if self._positive is None or self._negative is None:
            return _Links(self.metrics, self._ranks[items])
        negative = self._negative.part(items) if any(m.of in _AREAS for m in self.metrics) else self._negative
        return _Links(self.metrics, self._ranks[items], self._positive[items], negative)


def links(
    positive: Any,
    negative: Any,
    metrics: Any = _DEFAULT,
    *,
    offsets: Any = None,
    ties: str = "mean",
    missing: str = "error",
    groups: Any = None,
    bootstrap: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Scores:
    """Scores of link prediction: how positive links rank among negative ones.

    The rank of a positive is 1, plus the number of its negatives with a higher score, plus a share of those with the same score.

    Args:
        positive: [n], the scores of the positive links.
        negative: the scores of the negatives: [n, k] with a row per positive; flat with ``offsets``; or [m], one list for all
            positives, as OGB's hits@K has it.
        metrics: of ``mrr``, the mean of 1 / rank; ``hits@K``, the share of ranks of at most K; ``mr``, the mean rank; ``auc`` and
            ``ap``, the areas under the ROC curve and of average precision, over all positives and negatives.
        offsets: [n + 1]: the negatives of positive i are ``negative[offsets[i]:offsets[i + 1]]``. A positive without negatives
            has rank 1.
        ties: which share of the equal negatives counts as higher: ``"mean"``, the half, as in the MRR of OGB and TGB;
            ``"worst"``, all, as in OGB's hits@K; ``"best"``, none.
        missing: ``"error"``: a negative without a score (NaN) is an error; ``"skip"``: it is not there.
        groups: [n], the group of each positive: numbers or texts. The result has Scores of each.
        bootstrap: number of resamples for intervals; 0 is none. A positive comes with its negatives; a list for all stays as it is.
        level: the share of the resamples that an interval has.
        seed: random seed of the resamples.

    Returns:
        The Scores. Its ``each`` also has the ranks, as ``each["rank"]``.

    Raises:
        ValueError: lengths differ, a score is NaN, there are no positives or no negatives, or a metric is not known.
    """
    names = parsed(metrics, ("mrr", "mr", *_AREAS), ("hits",))
    share, skip = _ranks.tie_rule(ties), skips(missing)
    own = numbers("positive", positive, 1)
    if not len(own):
        raise ValueError("found no positive links, expected at least one")
    finite("positive", own)
    others = numbers("negative", negative, *((1,) if offsets is not None else (1, 2)))
    if not others.size or (skip and np.isnan(np.fmax.reduce(others, axis=None))):
        raise ValueError("found no negative links, expected at least one")
    of = options(groups, len(own), "positive links", bootstrap, level, seed)
    own = own.astype(np.result_type(own.dtype, others.dtype), copy=False)  # float32 and float64 are compared as float64
    found: Negatives
    if offsets is not None:
        found = Ragged(others.astype(own.dtype, copy=False), _offsets(offsets, len(own), len(others)), skip)
    elif others.ndim == 2:
        same_length("positive links", len(own), "rows of negative", len(others), "a row per positive link")
        found = Matrix(others, skip)
    else:
        found = Shared(others.astype(own.dtype, copy=False), skip)
    above, equal = found.counts(own)
    return scored(_Links(names, _ranks.ranked(above, equal, share), own, found), of)


def _offsets(offsets: Any, n: int, m: int) -> Array:
    at = whole("offsets", offsets)
    if len(at) != n + 1:
        raise ValueError(f"found {len(at)} offsets and {n} positive links, expected {n + 1} offsets")
    if at[0] != 0 or at[-1] != m:
        raise ValueError(f"found offsets from {at[0]} to {at[-1]}, expected 0 to {m}, the number of negative links")
    if (np.diff(at) < 0).any():
        bad = int(np.argmax(np.diff(at) < 0))
        raise ValueError(f"found offset {at[bad + 1]} after {at[bad]}, expected no offset below the one before it")
    return at


def ranked(ranks: Any, metrics: Any = _DEFAULT, *, groups: Any = None, bootstrap: int = 0, level: float = 0.95, seed: int = 0) -> Scores:
    """Scores of ranks that are known, such as those of `full_ranks`.

    Args:
        ranks: [n], the rank of each link, from 1.
        metrics: of ``mrr``, ``mr`` and ``hits@K``, as in `links`.
        groups, bootstrap, level, seed: as in `links`.

    Returns:
        The Scores.

    Raises:
        ValueError: there are no ranks, one is below 1 or NaN, or a metric is not known.
    """
    names = parsed(metrics, ("mrr", "mr"), ("hits",))
    x = numbers("ranks", ranks, 1).astype(np.float64)
    if not len(x):
        raise ValueError("found no ranks, expected at least one")
    if not (x >= 1).all():
        bad = int(np.argmin(x >= 1))
        raise ValueError(f"found the rank {x[bad]:g} in row {bad} of ranks, expected at least 1")
    return scored(_Links(names, x), options(groups, len(x), "ranks", bootstrap, level, seed))
