"""Features of the cases on the standard input by scikit-learn, as JSON; null for a case that it makes by another rule (docs/features.md)."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import KBinsDiscretizer, MaxAbsScaler, MinMaxScaler, OneHotEncoder, QuantileTransformer, RobustScaler, StandardScaler, normalize

warnings.simplefilter("ignore")
NEAR = 10 * np.finfo(np.float64).eps  # scikit-learn leaves smaller ranges unscaled


def scaled(how: str, x: Any, fit: Any) -> Any:
    of = x[fit]
    known = of[~np.isnan(of)]
    spread = float(np.ptp(known)) if len(known) else 0.0
    if how in ("uniform-quantiles", "normal-quantiles"):
        if spread < 1e-3:
            return None
        t = QuantileTransformer(n_quantiles=min(1000, len(of)), subsample=None, output_distribution=how.removesuffix("-quantiles"))
    else:
        if 0 < spread < max(NEAR, 1e-6 * float(np.abs(known).max(initial=0))) or 0 < float(np.abs(known).max(initial=0)) < NEAR:
            return None
        t = {
            "standard": StandardScaler,
            "min-max": MinMaxScaler,
            "min-max-clip": lambda: MinMaxScaler(clip=True),
            "max-abs": MaxAbsScaler,
            "robust": RobustScaler,
        }[how]()
    t.fit(of)
    if isinstance(t, QuantileTransformer):
        # Its percentiles have rounding errors, which move the ranks of ties by one.
        values = np.unique(known)
        near = values[np.abs(t.quantiles_ - values).argmin(1)][:, None]
        t.quantiles_ = np.where(np.abs(t.quantiles_ - near) <= 1e-12 * spread + 4 * np.spacing(np.abs(near)), near, t.quantiles_)
    return t.transform(x)


def made(case: dict[str, Any]) -> Any:
    fit = np.array(case["fit"], bool)
    how = case["how"]
    if how == "one-hot":
        x = np.array(case["values"], object)[:, None]
        encoder = OneHotEncoder(
            min_frequency=case["least"] or None, max_categories=case["most"] or None, handle_unknown="infrequent_if_exist", sparse_output=False
        )
        encoder.fit(x[fit])
        rare = encoder.infrequent_categories_[0] if case["least"] or case["most"] else None
        kept = [c for c in encoder.categories_[0] if rare is None or c not in rare]
        out = encoder.transform(x)[:, : len(kept)]
        return np.column_stack([out, out.sum(1) == 0, np.zeros(len(x))])
    x = np.array([np.nan if v is None else v for v in case["values"]], np.float64)[:, None]
    if how in ("mean", "median", "mode", "constant"):
        imputer = SimpleImputer(strategy={"mode": "most_frequent"}.get(how, how), fill_value=0.0)
        return imputer.fit(x[fit]).transform(x)
    if how in ("width", "rows"):
        at = np.linspace(0, 100, case["count"] + 1) / 100 * fit.sum()
        if how == "rows" and np.any((at != np.rint(at)) & (np.abs(at - np.rint(at)) < 1e-9)):
            return None  # a share of rows that is met exactly, but for the rounding of percents
        options = {"quantile_method": "averaged_inverted_cdf"} if how == "rows" else {}
        bins = KBinsDiscretizer(case["count"], encode="ordinal", strategy={"width": "uniform", "rows": "quantile"}[how], subsample=None, **options).fit(x[fit])
        if len(bins.bin_edges_[0]) > 1 and np.diff(bins.bin_edges_[0]).min() < 1e-7:
            return None
        return bins.transform(x)
    if how in ("l1", "l2", "max"):
        return normalize(x.reshape(-1, 2), how)
    return scaled(how, x, fit)


def listed(rows: Any) -> Any:
    return None if rows is None else [[None if v != v else float(v) for v in row] for row in rows]


json.dump([listed(made(case)) for case in json.load(sys.stdin)], sys.stdout)
