"""Features of the cases on the standard input, as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import features


def infinite(x: Any) -> Any:
    """A value, whose infinities are texts in JSON."""
    if isinstance(x, list):
        return [infinite(v) for v in x]
    return float(x) if x in ("inf", "-inf") else x


def fitted(case: dict[str, Any]) -> dict[str, Any]:
    columns = {name: [infinite(x) for x in values] for name, values in case["columns"].items()}
    try:
        return features.feature(case["feature"], columns, case["fit"])
    except features.Refused as e:
        return {"refused": str(e)}


json.dump([fitted(case) for case in json.load(sys.stdin)], sys.stdout)
