"""Batches in which each seed has its own subgraph, for frameworks that need one graph after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array
from ._folder import Column
from ._schema import Raw, Schema


def by_seed(schema: Schema, raw: Raw) -> tuple[Raw, dict[Any, Array]]:
    """A batch with the nodes and edges ordered by seed; and, for each type, their number per seed.

    A feed orders them by hop. The columns are copies; ``by_hop`` and ``batch`` are left out.
    """
    out = {k: v for k, v in raw.columns.items() if not k.startswith(("nodes/", "edges/"))}
    counts: dict[Any, Array] = {}
    place = {}
    for t in schema.nodes:
        of = schema.node(raw.columns, t, "batch")
        order = np.argsort(of, kind="stable")
        place[t] = np.empty_like(order)
        place[t][order] = np.arange(len(order))
        counts[t] = np.bincount(of, minlength=raw.seeds)
        for name in ("n_id", *(f"x/{n}" for n in schema.node_columns[t])):
            out[f"nodes/{t}/{name}"] = _rows(schema.node(raw.columns, t, name), order)
    for e in schema.edges:
        src, dst = schema.edge(raw.columns, e, "edge_index")
        of = schema.node(raw.columns, e[0], "batch")[src]
        order = np.argsort(of, kind="stable")
        counts[e] = np.bincount(of, minlength=raw.seeds)
        at = f"edges/{':'.join(e)}"
        out[f"{at}/edge_index"] = np.concatenate([place[e[0]][src[order]], place[e[2]][dst[order]]])
        for name in (*(("e_id",) if schema.numbered else ()), *(f"x/{n}" for n in schema.edge_columns[e])):
            out[f"{at}/{name}"] = _rows(schema.edge(raw.columns, e, name), order)
    for name in ("seed_local", *(["negative_local"] if schema.negatives else [])):
        local, moved = raw.columns[name], np.empty_like(raw.columns[name])
        ends = len(schema.seed_types)
        for i, t in enumerate(schema.seed_types):
            moved[i::ends] = place[t][local[i::ends]]
        out[name] = moved
    return Raw(out, raw.seeds, raw.number, raw.hops), counts


def _rows(x: Any, order: Array) -> Any:
    return x.take(order) if isinstance(x, Column) else x[order]
