"""The plans that can be drawn on a card, and why others cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HOWS = ("uniform", "replace", "weighted", "top", "labor", "recent")
MOST = 1 << 12  # the largest take that is drawn: a program of a kernel holds it


def check(plan: Mapping[str, Any]) -> None:
    """Refuse a plan that only the other executors can draw.

    Raises:
        ValueError: it is such a plan.
    """
    for found, reason in _reasons(plan):
        if found:
            raise ValueError(f"found executor='cuda' with {reason}; leave executor= out, or take another plan")


def _reasons(plan: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """Whether a plan has something, and how an error names it."""
    ops = plan["ops"]
    hows = sorted({op.get("how", "uniform") for op in ops} - set(HOWS))
    kind = plan.get("subgraph", "directional")
    return [
        (hows, f"draws of the kind {', '.join(hows)}, expected {', '.join(HOWS[:-1])} or {HOWS[-1]}"),
        (any(op.get("importance") for op in ops), "importance=, expected none"),
        (any(op["take"] < 0 and op.get("how") == "replace" for op in ops), "replace=True and a fanout of -1, expected a number of draws"),
        (any(op["take"] > MOST for op in ops), f"a fanout above {MOST}, expected at most that, or -1"),
        (kind != "directional", f"subgraph_type={kind!r}, expected 'directional'"),
    ]


def ends(op: Mapping[str, Any]) -> tuple[str, str]:
    """The type that an op expands, and the type that it reaches."""
    src, _, dst = op["edges"].split(":")
    return (dst, src) if op["dir"] == "in" else (src, dst)


def hops(plan: Mapping[str, Any]) -> list[int]:
    """The hop of each op, op 0 included."""
    out = [0]
    for op in plan["ops"]:
        out.append(max(1, op.get("hop", 0), out[-1], *(out[f] + 1 for f in op["from"])))
    return out


def edge_time(plan: Mapping[str, Any], edges: str) -> str | None:
    """The column of the times by which the edges of a type are left out; None: they are drawn at any time."""
    before = plan.get("before")
    if not before or edges in before.get("untimed", []):
        return None
    return before.get("columns", {}).get(edges) or before.get("column") or None


def excluded(plan: Mapping[str, Any], edges: str) -> list[bool]:
    """Which edges of a type are left out because they are seeds: False, those from the source to the target of a seed; True, those from the target to the source."""
    exclude = plan.get("exclude")
    if exclude is None:
        return []
    return [back for back, name in ((False, plan["seed_edges"]), (True, exclude.get("reverse"))) if name == edges]


def node_time(plan: Mapping[str, Any], t: str) -> str | None:
    """`edge_time` of the nodes of a type that edges lead to."""
    column: str | None = (plan.get("before") or {}).get("node_columns", {}).get(t)
    return column
