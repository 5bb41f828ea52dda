"""Predicted numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array
from ._evaluation import Evaluation, options, scored, total
from ._input import numbers, same_length, skips
from ._names import Metric, parsed
from ._scores import Scores


class _Values(Evaluation):
    what = "values"

    def __init__(self, metrics: Sequence[Metric], predicted: Array, actual: Array) -> None:
        super().__init__(metrics, len(actual))
        self._predicted, self._actual = predicted, actual
        self._errors = predicted - actual

    def each(self) -> Mapping[str, Array]:
        of = {"mae": np.abs, "mse": np.square}
        return {m.name: of[m.of](self._errors) for m in self.metrics if m.of in of}

    def joint(self, weights: Array | None) -> Mapping[str, float]:
        n = self.count  # a resample has as many items
        squares = total(self._errors**2, weights)
        around = total((self._actual - total(self._actual, weights) / n) ** 2, weights)
        return {"rmse": math.sqrt(squares / n), "r2": 1 - squares / around if around > 0 else math.nan}

    def part(self, items: Array) -> Evaluation:
        return _Values(self.metrics, self._predicted[items], self._actual[items])

    def lacking(self, metric: str) -> str:
        return f"found only one number in actual, {self._actual[0]:g}, expected at least two different ones for {metric}"


def values(
    predicted: Any,
    actual: Any,
    metrics: Any = ("rmse", "mae", "r2"),
    *,
    missing: str = "error",
    groups: Any = None,
    bootstrap: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Scores:
    """Scores of regression: how far predicted numbers are from the actual ones. They are compared in float64.

    Args:
        predicted: [n], the predicted numbers.
        actual: [n], the actual ones.
        metrics: of ``rmse``, the root of the mean squared error; ``mse``; ``mae``, the mean absolute error; ``r2``, the share of the
            variance that is explained.
        missing: ``"error"``: an actual number that is NaN is an error; ``"skip"``: it is left out.
        groups: [n], the group of each value: numbers or texts. The result has Scores of each.
        bootstrap: number of resamples of the values for intervals; 0 is none.
        level: the share of the resamples that an interval has.
        seed: random seed of the resamples.

    Returns:
        The Scores.

    Raises:
        ValueError: lengths differ, there are no values, one is NaN or infinite, or a metric is not known.
    """
    names = parsed(metrics, ("rmse", "mse", "mae", "r2"))
    a, b = numbers("predicted", predicted, 1).astype(np.float64), numbers("actual", actual, 1).astype(np.float64)
    same_length("predicted values", len(a), "actual values", len(b), "one for each")
    of = options(groups, len(a), "values", bootstrap, level, seed)
    kept = ~np.isnan(b) if skips(missing) else np.ones(len(b), bool)
    if not kept.any():
        raise ValueError("found no actual values, expected at least one")
    for name, x in (("predicted", a), ("actual", b)):
        bad = ~np.isfinite(x) & kept
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(f"found {x[row]} in row {row} of {name}, expected a finite number")
    return scored(_Values(names, a[kept], b[kept]), of, kept)
