"""The lists of edges that ops draw from, first as arrays of this process and then on the device."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from .._arrays import Array, widened
from .._folder import NO_TIME, Column, int64
from .._messages import message_tests
from .._store import Edges, Store
from . import kernels
from .plan import edge_time, ends, node_time


@dataclasses.dataclass
class Lists:
    """The edges of a type by the node that an op expands. Those that no draw can take are left out, so a list may be shorter than the node has edges.

    Attributes:
        indptr: int64 [nodes + 1], the place of the first edge of each node.
        far: int32 or int64 [edges], the other end of each edge.
        edge_id: int32 or int64 [edges]; None: an edge has its place as its id.
        weights: float64 [edges], all above 0, of ops that draw by weight; else None.
        prefix: their sums within each list, added in order, of ops that draw one after the other.
        ages: int64 or float64 [edges], the times of ops that draw late edges more often; else None.
        timed: the least of their whole numbers is no time.
        times: int64 or float64 [edges], the times by which edges are left out; else None.
        longest: the length of the longest list.
    """

    indptr: torch.Tensor
    far: torch.Tensor
    edge_id: torch.Tensor | None
    weights: torch.Tensor | None
    prefix: torch.Tensor | None
    times: torch.Tensor | None
    ages: torch.Tensor | None
    timed: bool
    longest: int


def numbers(column: Column) -> Array:
    """The values of a column of numbers as they are compared: int64, or float64."""
    x = widened(column.values) if column.dtype == "bfloat16" else column.values
    return np.asarray(x).astype(np.float64 if x.dtype.kind == "f" else np.int64)


def missing(column: Column, values: Array) -> Array:
    """Which of the `numbers` of a column are none."""
    if values.dtype == np.float64:
        return np.isnan(values)
    return values == NO_TIME if column.unit is not None else np.zeros(len(values), bool)


class HostLists:
    """The arrays of `Lists` in this process.

    Args:
        op: of the plan. Ops with an equal `key` have equal lists.
    """

    def __init__(self, store: Store, plan: Mapping[str, Any], op: Mapping[str, Any]) -> None:
        edges = store.edges[op["edges"]]
        near, _ = ends(op)
        ptr, far, ids = _by_end(edges, op["dir"], store.nodes[near].count)
        places: Array | None = None  # those that are taken, if not all are, in the order of the lists

        def of(column: Column) -> Array:
            """The values of all edges, in the order of the lists."""
            values = numbers(column)
            return values if ids is None else values[ids]

        conditions = plan.get("messages", {}).get(op["edges"])
        if conditions:
            texts = [f"{conditions['column']}={value}" for value in conditions["values"]]
            is_message = message_tests({edges.type: texts}, store)[edges.type]
            places = np.flatnonzero(is_message(np.arange(edges.count) if ids is None else int64(ids)))
        self.weights: Array | None = None
        how = op.get("how", "uniform")
        if how in ("weighted", "labor") and op.get("column"):
            self.weights = of(edges.columns.column(op["column"])).astype(np.float64)
            above = self.weights > 0
            places = np.flatnonzero(above) if places is None else places[above[places]]
        if how == "top":
            column = edges.columns.column(op["column"])
            values = of(column)
            there = ~missing(column, values)
            places = np.flatnonzero(there) if places is None else places[there[places]]
            nodes = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))[places]
            # The largest value first, of equal ones the later edge.
            places = places[np.lexsort((places, values[places], -nodes))[::-1]]
        late = edges.columns.column(op["column"]) if how == "recent" else None
        self.ages, self.timed, self.summed = None if late is None else of(late), late is not None and late.unit is not None, how == "weighted"
        time = edge_time(plan, op["edges"])
        self.times = None if time is None else of(edges.columns.column(time))
        self.unit_of_times = None if time is None else edges.columns.column(time).unit
        if places is not None:
            ids = places if ids is None else ids[places]
            ptr = np.append(0, np.cumsum(np.bincount(np.searchsorted(ptr, places, side="right") - 1, minlength=len(ptr) - 1)))
            far = far[places]
            self.weights = None if self.weights is None else self.weights[places]
            self.times = None if self.times is None else self.times[places]
            self.ages = None if self.ages is None else self.ages[places]
        self.indptr, self.far, self.ids = ptr, _narrow(far, store.nodes[ends(op)[1]].count), None if ids is None else _narrow(ids, edges.count)
        self.longest = int(np.diff(ptr).max()) if len(ptr) > 1 else 0

    @staticmethod
    def key(plan: Mapping[str, Any], op: Mapping[str, Any]) -> tuple[Any, ...]:
        """What the lists of an op depend on."""
        how = op.get("how", "uniform")
        return op["edges"], op["dir"], *((how, op["column"]) if op.get("column") else ())

    @property
    def bytes(self) -> int:
        """The bytes on the device, the sums of weights included."""
        arrays = (self.indptr, self.far, self.ids, self.weights, self.weights if self.summed else None, self.times, self.ages)
        return sum(x.nbytes for x in arrays if x is not None)

    def to(self, device: torch.device) -> Lists:
        """The lists on a device."""
        indptr, far, ids, weights, times, ages = (
            None if x is None else torch.from_numpy(np.ascontiguousarray(x)).to(device)
            for x in (self.indptr, self.far, self.ids, self.weights, self.times, self.ages)
        )
        assert indptr is not None and far is not None
        prefix = None if weights is None or not self.summed else kernels.sums(weights, indptr[:-1], indptr.diff())
        return Lists(indptr, far, ids, weights, prefix, times, ages, self.timed, self.longest)


def _narrow(ids: Array, count: int) -> Array:
    """Ids below a count in the narrowest signed integers, which torch can index by once they are wide."""
    return ids.astype(np.int32 if count < 1 << 31 else np.int64)


def _by_end(edges: Edges, direction: str, nodes: int) -> tuple[Array, Array, Array | None]:
    """The edges by the end that an op expands, each list by ascending edge id: int64 offsets, far ends, and edge ids; None if these are the places."""
    if edges.primary == direction:
        return int64(edges.indptr), edges.neighbours, None
    ptr, far, ids = edges.other_indptr, edges.other_neighbours, edges.other_edge_id
    if ptr is not None and far is not None and ids is not None:
        return int64(ptr), far, ids
    pair = edges.edge_index()
    near, other = (pair[1], pair[0]) if direction == "in" else (pair[0], pair[1])
    order = np.argsort(near, kind="stable")
    return np.append(0, np.cumsum(np.bincount(near, minlength=nodes))), other[order], order


def node_times(store: Store, plan: Mapping[str, Any]) -> dict[str, tuple[Array, str | None]]:
    """By node type, the times by which edges to its nodes are left out, and their unit."""
    out = {}
    for t, n in store.nodes.items():
        name = node_time(plan, t)
        if name is not None:
            column = n.columns.column(name)
            out[t] = numbers(column), column.unit
    return out
