"""From items and their values to Scores: means, groups and intervals."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arguments import integer
from .._arrays import Array, is_torch
from .._arrays import numpy as as_numpy
from ._bootstrap import interval, times
from ._names import Metric
from ._scores import Scores


class Evaluation(ABC):
    """Items, what each of them scores, and what they score together."""

    what: str
    """The items, in the plural: "positive links"."""

    def __init__(self, metrics: Sequence[Metric], count: int) -> None:
        self.metrics, self.count = metrics, count

    @abstractmethod
    def each(self) -> Mapping[str, Array]:
        """The values of each item in float64, of metrics that are their mean, and possibly of others that are no metrics."""

    def joint(self, weights: Array | None) -> Mapping[str, float]:
        """The other metrics, NaN where one is not defined. ``weights`` says how often each item counts; None is once."""
        return {}

    @abstractmethod
    def part(self, items: Array) -> Evaluation:
        """The evaluation of some of the items alone."""

    def lacking(self, metric: str) -> str:
        """The error about a metric that is NaN."""
        raise NotImplementedError


class Options(NamedTuple):
    """The arguments that all evaluations have."""

    groups: Array | None
    bootstrap: int
    level: float
    seed: int


def options(groups: Any, items: int, what: str, bootstrap: Any, level: Any, seed: Any) -> Options:
    """The arguments that all evaluations have, checked. ``items`` is the number of items that the user gave."""
    if isinstance(level, bool) or not isinstance(level, (int, float, np.floating)) or not 0 < level < 1:
        raise ValueError(f"found level={level!r}, expected a number between 0 and 1, such as 0.95")
    of = None
    if groups is not None:
        of = as_numpy(groups) if is_torch(groups) else np.asarray(groups)
        if of.ndim != 1 or len(of) != items:
            raise ValueError(f"found groups of shape {list(of.shape)}, expected [{items}]: the group of each of the {what}")
    return Options(of, integer("bootstrap", bootstrap, 0), float(level), integer("seed", seed, 0, (1 << 64) - 1))


def scored(e: Evaluation, of: Options, kept: Array | None = None) -> Scores:
    """The Scores of an evaluation.

    Args:
        e: the evaluation.
        of: the checked arguments.
        kept: of all items that the user gave, a mask of those that the evaluation has; None is all.
    """
    groups: dict[Hashable, Scores] = {}
    if of.groups is not None:
        for name, items in _groups(of.groups if kept is None else of.groups[kept]):
            groups[name] = _alone(e.part(items), of, None)
    return _alone(e, of, kept, groups, strict=True)


def _alone(e: Evaluation, of: Options, kept: Array | None, groups: Mapping[Hashable, Scores] | None = None, strict: bool = False) -> Scores:
    each, joint = e.each(), e.joint(None)
    values = {m.name: mean(each[m.name]) if m.name in each else joint[m.name] for m in e.metrics}
    if strict:
        for name, x in values.items():
            if math.isnan(x):
                raise ValueError(e.lacking(name))
    return Scores(values, e.what, e.count, {k: _placed(x, kept) for k, x in each.items()}, _intervals(e, each, of), groups or {})


def _placed(x: Array, kept: Array | None) -> Array:
    """Values at the places of their items, NaN at other places."""
    if kept is not None:
        out = np.full(len(kept), np.nan)
        out[kept] = x
        x = out
    x.setflags(write=False)
    return x


def _groups(of: Array) -> Iterator[tuple[Hashable, Array]]:
    """Each group with its items, in the order of the groups."""
    try:
        names, group = np.unique(of, return_inverse=True)
    except TypeError:
        raise TypeError(f"found groups of several types, such as {_kinds(of)}, expected numbers or texts") from None
    order = np.argsort(group.reshape(-1), kind="stable")
    yield from zip(names.tolist(), np.split(order, np.cumsum(np.bincount(group.reshape(-1)))[:-1]))


def _kinds(of: Array) -> str:
    return " and ".join(sorted({type(x).__name__ for x in of.tolist()})[:2])


def _intervals(e: Evaluation, each: Mapping[str, Array], of: Options) -> dict[str, tuple[float, float]]:
    if not of.bootstrap:
        return {}
    found = np.empty((len(e.metrics), of.bootstrap))
    for b in range(of.bootstrap):
        w = times(of.seed, b, e.count)
        joint = e.joint(w)
        found[:, b] = [total(each[m.name], w) / e.count if m.name in each else joint[m.name] for m in e.metrics]
    return {m.name: interval(x, of.level) for m, x in zip(e.metrics, found)}


def total(x: Array, weights: Array | None) -> float:
    """The sum of values, exactly rounded; with weights it is rounded at each step, in a fixed order."""
    return math.fsum(x.tolist()) if weights is None else float((x * weights).sum())


def mean(x: Array) -> float:
    return total(x, None) / len(x)
