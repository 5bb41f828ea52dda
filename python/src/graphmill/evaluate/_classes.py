"""Predicted classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array
from ._curve import Curve
from ._evaluation import Evaluation, mean, options, scored
from ._input import finite, numbers, same_length, skips, whole
from ._names import Metric, parsed
from ._scores import Scores

_COUNTED = ("f1", "f1-micro", "f1-weighted", "precision", "recall")
_AREAS = ("auc", "ap")
_SUM = 1e-3  # by which a row of probabilities may differ from 1: halves of bits of float16 add up to less
_MANY = 1 << 20  # class numbers from which on only those that occur are counted


class _Classes(Evaluation):
    what = "labels"

    def __init__(self, metrics: Sequence[Metric], label: Array, guess: Array, scores: Array | None, classes: int) -> None:
        super().__init__(metrics, len(label))
        self._label, self._guess, self._scores, self._classes = label, guess, scores, classes
        self._curves: list[Curve] | None = None

    def each(self) -> Mapping[str, Array]:
        out = {}
        for m in self.metrics:
            if m.of == "accuracy":
                out[m.name] = (self._guess == self._label).astype(np.float64)
            elif m.of == "log-loss" and self._scores is not None:
                out[m.name] = _loss(self._scores, self._label)
        return out

    def joint(self, weights: Array | None) -> Mapping[str, float]:
        out: dict[str, float] = {}
        if any(m.of in _COUNTED for m in self.metrics):
            out.update(self._counted(weights))
        if names := [m.of for m in self.metrics if m.of in _AREAS]:
            areas = [c.areas(names, weights) for c in self._each_curve()]
            out.update({name: mean(np.array([a[name] for a in areas])) for name in names})
        return out

    def _counted(self, weights: Array | None) -> dict[str, float]:
        """Metrics of how often each class is a label, a prediction and both. Classes that are neither do not count."""
        right = self._guess == self._label
        labels, guesses = (np.bincount(x, weights, self._classes) for x in (self._label, self._guess))
        both = np.bincount(self._label[right], None if weights is None else weights[right], self._classes)
        seen = labels + guesses > 0
        labels, guesses, both = labels[seen], guesses[seen], both[seen]
        f1 = 2 * both / (labels + guesses)
        return {
            "f1": mean(f1),
            "f1-micro": float(both.sum() / labels.sum()),
            "f1-weighted": math.fsum((labels * f1).tolist()) / float(labels.sum()),
            "precision": mean(both / np.maximum(guesses, 1)),
            "recall": mean(both / np.maximum(labels, 1)),
        }

    def _each_curve(self) -> list[Curve]:
        """The curve of class 1 of two classes, and of each class against the others of more."""
        if self._curves is None:
            assert self._scores is not None
            self._curves = [self._curve(c) for c in ([1] if self._classes == 2 else range(self._classes))]
        return self._curves

    def _curve(self, c: int) -> Curve:
        assert self._scores is not None
        x = self._scores if self._scores.ndim == 1 else self._scores[:, c]
        of_class = self._label == c
        positive, negative = np.flatnonzero(of_class), np.flatnonzero(~of_class)
        return Curve(x[positive], positive, lambda: iter([(x[negative], negative)]))

    def part(self, items: Array) -> Evaluation:
        scores = None if self._scores is None else self._scores[items]
        return _Classes(self.metrics, self._label[items], self._guess[items], scores, self._classes)

    def lacking(self, metric: str) -> str:
        absent = int(np.argmin(np.bincount(self._label, minlength=self._classes) > 0))
        return f"found no label of class {absent}, expected at least one of each of the {self._classes} classes for {metric}"


def _loss(p: Array, label: Array) -> Array:
    """-log of the probability of each label. Probabilities are kept from 0 and 1 by the precision of their dtype."""
    mine = np.where(label == 1, p, 1 - p) if p.ndim == 1 else np.take_along_axis(p, label[:, None], axis=1)[:, 0]
    least = np.finfo(p.dtype).eps
    out: Array = -np.log(np.clip(mine, least, 1 - least).astype(np.float64))
    return out


def classes(
    predicted: Any,
    label: Any,
    metrics: Any = ("accuracy", "f1"),
    *,
    threshold: float = 0.5,
    missing: str = "error",
    groups: Any = None,
    bootstrap: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Scores:
    """Scores of classification, such as of nodes.

    Args:
        predicted: [n, classes], floats: the scores of each class, of which the highest is the prediction (of equal ones the lowest
            class); [n], floats: the score of class 1 of two classes; [n], integers: the predicted classes.
        label: [n], the class of each item, from 0.
        metrics: of ``accuracy``; ``f1``, ``precision`` and ``recall``, each the mean over the classes that are a label or a prediction;
            ``f1-micro``; ``f1-weighted``, by the numbers of labels; ``auc`` and ``ap``, the areas under the ROC curve and of average
            precision, of class 1 of two classes, and of more the mean over each class against the others; ``log-loss``. The
            last three need scores. With [n, classes] they need probabilities, because scores of different rows are compared.
        threshold: the score of class 1 above which it is predicted, if there is one score per item. For logits it is 0.
        missing: ``"error"``: a label below 0 is an error; ``"skip"``: its row is left out.
        groups: [n], the group of each item: numbers or texts. The result has Scores of each.
        bootstrap: number of resamples of the items for intervals; 0 is none. Those in which a class is absent that a metric
            needs are left out.
        level: the share of the resamples that an interval has.
        seed: random seed of the resamples.

    Returns:
        The Scores.

    Raises:
        ValueError: lengths differ, there are no labels, a score is NaN or no probability where one is needed, a class that a metric
            needs has no label, or a metric is not known.
    """
    names = parsed(metrics, ("accuracy", *_COUNTED, *_AREAS, "log-loss"))
    x, of_class = numbers("predicted", predicted, 1, 2), whole("label", label)
    same_length("rows of predicted", len(x), "labels", len(of_class), "a label per row")
    of = options(groups, len(x), "rows of predicted", bootstrap, level, seed)
    kept = of_class >= 0
    complete = bool(kept.all())
    if not skips(missing) and not complete:
        bad = int(np.argmin(kept))
        raise ValueError(f'found the label {of_class[bad]} in row {bad}, expected classes from 0; missing="skip" leaves such rows out')
    if not kept.any():
        raise ValueError("found no labels, expected at least one")
    rows: Array | range = range(len(x)) if complete else np.flatnonzero(kept)
    if not complete:
        x, of_class = x[rows], of_class[rows]
    finite("predicted", x, rows)
    if x.dtype.kind == "f":
        # The areas and the loss need no predictions.
        count = _columns(x)
        guess = of_class if all(m.of in (*_AREAS, "log-loss") for m in names) else _guesses(x, threshold)
        _check_labels(of_class, count, rows, x.ndim)
        _check_probabilities(x, rows, names)
        return scored(_Classes(names, of_class, guess, x, count), of, kept)
    guess = _class_numbers(x, rows, names)
    if max(int(guess.max()), int(of_class.max())) >= _MANY:
        both = np.unique(np.concatenate([guess, of_class]), return_inverse=True)[1].reshape(-1)
        guess, of_class = both[: len(guess)], both[len(guess) :]
    return scored(_Classes(names, of_class, guess, None, max(int(guess.max()), int(of_class.max())) + 1), of, kept)


def _columns(x: Array) -> int:
    """The number of classes of scores."""
    if x.ndim == 1:
        return 2
    if x.shape[1] < 2:
        raise ValueError(f"found predicted of shape [n, {x.shape[1]}], expected a column per class; give predicted.reshape(-1) for the scores of class 1")
    return int(x.shape[1])


def _guesses(x: Array, threshold: float) -> Array:
    """The predicted classes of scores."""
    return (x > threshold).astype(np.int64) if x.ndim == 1 else np.argmax(x, axis=1)


def _class_numbers(x: Array, rows: Array | range, names: Sequence[Metric]) -> Array:
    if x.ndim == 2:
        raise TypeError(f"found predicted of dtype {x.dtype} with a column per class, expected floats")
    of = next((m.name for m in names if m.of in (*_AREAS, "log-loss")), None)
    if of is not None:
        raise ValueError(f"found predicted classes, expected scores for {of}; give floats, [n, classes] or [n]")
    guess = whole("predicted", x)
    if int(guess.min()) < 0:
        bad = int(np.argmax(guess < 0))
        raise ValueError(f"found the predicted class {guess[bad]} in row {rows[bad]}, expected classes from 0")
    return guess


def _check_labels(label: Array, classes: int, rows: Array | range, ndim: int) -> None:
    if int(label.max()) >= classes:
        bad = int(np.argmax(label >= classes))
        why = "because predicted has the scores of class 1 alone" if ndim == 1 else f"because predicted has {classes} columns"
        raise ValueError(f"found the label {label[bad]} in row {rows[bad]}, expected 0 to {classes - 1}, {why}")


def _check_probabilities(x: Array, rows: Array | range, names: Sequence[Metric]) -> None:
    """Raise a ValueError if a metric needs probabilities, and the scores are none."""
    of = next((m.name for m in names if m.of == "log-loss" or (m.of in _AREAS and x.ndim == 2)), None)
    if of is None:
        return
    bad = (x < 0) | (x > 1)
    if x.ndim == 2:
        bad = bad.any(1) | (np.abs(x.sum(1, dtype=np.float64) - 1) > _SUM)
    if bad.any():
        row = int(np.argmax(bad))
        what = f"the score {x[row]:g}" if x.ndim == 1 else f"scores from {x[row].min():g} to {x[row].max():g} with the sum {x[row].sum():g}"
        do = "a sigmoid" if x.ndim == 1 else "a softmax"
        raise ValueError(f"found {what} in row {rows[bad.argmax()]} of predicted, expected probabilities for {of}; apply {do} first")
