"""Batches in which each seed has its own subgraph, for frameworks that need one graph after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array
from .._folder import Column
from .._schema import Raw, Schema, key


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
        for name in (key("nodes", t, "n_id"), *schema.node_features(t).values()):
            out[name] = _rows(raw.columns[name], order)
    for e in schema.edges:
        src, dst = schema.edge(raw.columns, e, "edge_index")
        of = schema.node(raw.columns, e[0], "batch")[src]
        order = np.argsort(of, kind="stable")
        counts[e] = np.bincount(of, minlength=raw.seeds)
        out[key("edges", ":".join(e), "edge_index")] = np.concatenate([place[e[0]][src[order]], place[e[2]][dst[order]]])
        ids = [key("edges", ":".join(e), "e_id")] if schema.numbered else []
        for name in (*ids, *schema.edge_features(e).values()):
            out[name] = _rows(raw.columns[name], order)
    for name in ("seed_local", *(["negative_local"] if schema.negatives else [])):
        local, moved = raw.columns[name], np.empty_like(raw.columns[name])
        ends = len(schema.seed_types)
        for i, t in enumerate(schema.seed_types):
            moved[i::ends] = place[t][local[i::ends]]
        out[name] = moved
    return Raw(out, raw.seeds, raw.number, raw.hops), counts


def _rows(x: Any, order: Array) -> Any:
    return x.take(order) if isinstance(x, Column) else x[order]
