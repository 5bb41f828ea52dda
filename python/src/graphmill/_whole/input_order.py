"""The edges of a store in the order of the imported input."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._folder import Column, EdgeType, int64
from .._store import Store


def input_order(store: Store, e: EdgeType) -> Any:
    """The rows of an edge type's columns in the order of the imported input; a slice if they are in it, or if it is not known."""
    at = store.edges[e].columns.get("#input_position")
    if at is None:
        return slice(None)
    at = np.asarray(at)
    if len(at) < 2 or (at[1:] >= at[:-1]).all():
        return slice(None)
    at = int64(at)
    if int(at.max()) < len(at):
        order = np.full(len(at), -1)
        order[at] = np.arange(len(at))
        if (order >= 0).all():
            return order
    return np.argsort(at, kind="stable")  # some rows of the input became no edge, or two


def take(c: Column, rows: Any) -> Column:
    """The rows of a column; all of them for a slice."""
    return c if isinstance(rows, slice) else c.take(rows)
