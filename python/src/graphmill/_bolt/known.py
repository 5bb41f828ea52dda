"""What of the rows that were read is in a store already."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._arrays import Array
from .._command import GraphmillError
from .._folder import EdgeType
from .._store import Store
from .._whole.columns import MISSING
from .._whole.tables import ends_names, id_name
from .rows import Rows
from .values import SRID, Form

SOURCE, TARGET, ID = "#source", "#target", "#id"  # the columns of keys


class Known:
    """Which of the rows that were read are in a store already.

    Args:
        elements: says of a node type whether its ids are the element ids of the database.
    """

    def __init__(self, store: Store, rows: Rows, place: str, elements: bool) -> None:
        self._store, self._rows, self._place = store, rows, place
        self.changed: list[str] = []
        self.new: list[str] = []
        self.edges: list[EdgeType] = []
        for t, table in rows.tables.items():
            if not isinstance(t, str):
                self.edges.append(t)
                self._warn_of_parallels(t)
            elif not table.keys:  # of a query
                self.new.append(t)
            else:
                known = 0
                for chunk in table.chunks():
                    ids = [k for k, _ in chunk]
                    known += int(self._has(t, ids).sum())
                    if elements:
                        self._check_types(t, ids)
                if known:
                    self.changed.append(t)
                if known < table.rows:
                    self.new.append(t)

    def nodes(self, t: str, changed: bool) -> Any:
        """The nodes of a type that are in the store, or the others, as a reader of pyarrow."""
        have, flagged = _forms(self._store.nodes[t].columns) if t in self._store.nodes else (None, {})
        table = self._rows.tables[t]
        if table.keys:
            return table.stream((ID,), have, flagged, self._place, True, take=lambda ids: self._has(t, ids) == changed)
        key = id_name(table.columns, t, table.what)
        return table.stream((), have, flagged, self._place, True, () if key is None else (key,))

    def of_edges(self, e: EdgeType) -> Any:
        """The edges of a type as a reader of pyarrow."""
        have, flagged = _forms(self._store.edges[e].columns) if e in self._store.edges else (None, {})
        table = self._rows.tables[e]
        if table.keys:
            return table.stream((SOURCE, TARGET), have, flagged, self._place, True)
        ids = {t: id_name(x.columns, t, x.what) or "" for t, x in self._rows.tables.items() if isinstance(t, str)}
        return table.stream((), have, flagged, self._place, True, ends_names(table.columns, e, ids, table.what))

    def _has(self, t: str, ids: list[Any]) -> Array:
        """Which ids, each alone in a tuple, the store has."""
        if t not in self._store.nodes:
            return np.zeros(len(ids), bool)
        found: Array = self._store.nodes[t]._found([i for (i,) in ids]) >= 0
        return found

    def _check_types(self, t: str, ids: list[Any]) -> None:
        """Refuses nodes that the store has with other labels."""
        for other in self._store.nodes:
            if other == t:
                continue
            has = self._has(other, ids)
            if has.any():
                raise GraphmillError(
                    f"{self._place}: node {ids[int(np.argmax(has))][0]}: found the labels {t}, expected {other} as in the store, since a node keeps its type; import the database anew with overwrite=True"
                )

    def _warn_of_parallels(self, e: EdgeType) -> None:
        table = self._rows.tables[e]
        if e not in self._store.edges or not table.keys:
            return
        x, parallel = self._store.edges[e], 0
        near, far = (1, 0) if x.primary == "in" else (0, 1)
        ptr, neighbours = x.indptr, x.neighbours
        for chunk in table.chunks():
            ends = [self._store.nodes[e[2 * k]]._found([keys[k] for keys, _ in chunk]) for k in (0, 1)]
            for a, b in zip(ends[near].tolist(), ends[far].tolist()):
                if a >= 0 and b >= 0:
                    parallel += bool((neighbours[int(ptr[a]) : int(ptr[a + 1])] == b).any())
        if parallel:
            warnings.warn(
                f"{self._place}: relationships {':'.join(e)}: found {parallel} between nodes that have an edge of the type in the store, expected new ones: they are further edges; a relationship whose mark changed comes twice",
                stacklevel=2,
            )


def _forms(columns: Any) -> tuple[dict[str, Form], dict[str, bool]]:
    """The forms of the columns of a type of a store, and which have a column that says where they are missing."""
    forms: dict[str, Form] = {}
    names = [n for n in columns if not n.startswith("#")]
    for n in names:
        if n.endswith((MISSING, SRID)) and n[: n.rindex("_" if n.endswith(MISSING) else ".")] in names:
            continue
        c = columns.column(n)
        if n + SRID in names and len(c.shape) == 1:
            forms[n] = Form("point", size=c.shape[0])
        else:
            forms[n] = Form("string" if c.categories is not None else c.dtype, c.unit, bool(c.shape))
    return forms, {n: n + MISSING in names for n in forms}
