"""Names of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._arguments import meant, texts

# What other libraries call a metric. The error about an unknown name says what it is called here.
_ELSEWHERE = {
    "acc": "accuracy",
    "average-precision": "ap",
    "auprc": "ap",
    "auroc": "auc",
    "cross-entropy": "log-loss",
    "f1-macro": "f1",
    "hit": "hits",
    "hit-rate": "hits",
    "hit-ratio": "hits",
    "hr": "hits",
    "logloss": "log-loss",
    "macro-f1": "f1",
    "mean-rank": "mr",
    "mean-reciprocal-rank": "mrr",
    "micro-f1": "f1-micro",
    "pr-auc": "ap",
    "roc-auc": "auc",
    "rocauc": "auc",
    "weighted-f1": "f1-weighted",
}


class Metric(NamedTuple):
    """A metric with the name that the user gave, such as hits@10, and its parts: "hits" and 10, or 0 for metrics without a number."""

    name: str
    of: str
    k: int


def parsed(given: Any, plain: Sequence[str], at: Sequence[str] = ()) -> list[Metric]:
    """Metrics by their names, each once. The ones of ``plain`` have no number; the ones of ``at`` are followed by @ and a number.

    Raises:
        ValueError: there is no such metric, or none is given.
    """
    names = [given] if isinstance(given, str) else texts("metrics", given, f'a list of names, such as ["{plain[0] if plain else at[0] + "@10"}"]')
    if not names:
        raise ValueError(f"found no metrics, expected at least one of {_listed(plain, at)}")
    return [_metric(name, plain, at) for name in dict.fromkeys(names)]


def _metric(name: str, plain: Sequence[str], at: Sequence[str]) -> Metric:
    of, sign, number = name.partition("@")
    if of in at:
        if number.isascii() and number.isdigit() and int(number) >= 1:
            return Metric(name, of, int(number))
        raise ValueError(f"found the metric {name!r}, expected {of}@K with an integer K of at least 1, such as {of}@10")
    if of in plain:
        if not sign:
            return Metric(name, of, 0)
        raise ValueError(f"found the metric {name!r}, expected {of}, which has no number here")
    like = of.lower().replace("_", "-").replace(" ", "-")
    like = _ELSEWHERE.get(like, like)
    ends = {**{n: n for n in plain}, **{n: f"{n}@{number if sign else 10}" for n in at}}
    hint = f"; did you mean {ends[like]}?" if like in ends else meant(like, ends.values())
    raise ValueError(f"found the metric {name!r}, expected one of {_listed(plain, at)}{hint}")


def _listed(plain: Sequence[str], at: Sequence[str]) -> str:
    return ", ".join([*plain, *(f"{n}@K" for n in at)])
