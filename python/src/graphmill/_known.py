"""The links of a store by their sources, read in blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ._arrays import Array, ranges
from ._folder import EdgeType, edge_type, int64
from ._messages import message_tests
from ._store import Edges, Store

_CHUNK = 1 << 22  # edges that are sorted at a time


class KnownLinks:
    """The links of edge types from one node type to another.

    Edge types that the store has by source are read where they are. Others are sorted into a file, which takes 4 bytes per edge on the
    disk (8 from 2^32 nodes on).

    Args:
        store: the store.
        known: edge types, or a dict with a condition on the edges of each, such as ``{"buys": "split=train"}``; None in it takes all.
        ends: the node types.
        folder: an existing folder for files, which must stay.

    Raises:
        TypeError: ``known`` is something else.
        ValueError: an edge type, a column or a value that the store lacks, or an edge type between other node types.
    """

    def __init__(self, store: Store, known: Any, ends: tuple[str, str], folder: str) -> None:
        self._of: list[tuple[Array, Array, Array | None, Callable[[Array], Array] | None]] = []
        for number, (e, test) in enumerate(_types(store, known, ends)):
            edges = store.edges[e]
            ptr, far, ids = edges.other_indptr, edges.other_neighbours, edges.other_edge_id
            if edges.primary == "out":
                self._of.append((edges.indptr, edges.neighbours, None, test))
            elif ptr is not None and far is not None and ids is not None:
                self._of.append((ptr, far, ids, test))
            else:
                path = os.path.join(folder, f"known_{number}")
                self._of.append((*_by_source(edges, store.nodes[ends[0]].count, store.nodes[ends[1]].count, test, path), None, None))

    def of(self, sources: Array) -> tuple[Array, Array]:
        """The place among some sources and the target of each link that they have; links that are there twice are twice."""
        rows, targets = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for ptr, far, ids, test in self._of:
            starts, ends = int64(ptr[sources]), int64(ptr[sources + 1])
            row, at = np.repeat(np.arange(len(sources)), ends - starts), ranges(starts, ends)
            if test is not None:
                there = test(at if ids is None else int64(ids[at]))
                row, at = row[there], at[there]
            rows.append(row)
            targets.append(int64(far[at]))
        return np.concatenate(rows), np.concatenate(targets)


def _types(store: Store, known: Any, ends: tuple[str, str]) -> list[tuple[EdgeType, Callable[[Array], Array] | None]]:
    """The edge types, and which of the ids of their edges are known; None: all."""
    if isinstance(known, Mapping):
        given = dict(known)
    else:
        several = isinstance(known, (list, set, frozenset)) or (isinstance(known, tuple) and not all(isinstance(t, str) for t in known))
        try:
            given = dict.fromkeys(known if several else [known])
        except TypeError:  # what is in it cannot be a key
            raise TypeError(f"found known={known!r}, expected an edge type, a list of these, or a dict with a condition for each") from None
    names: dict[EdgeType, Any] = {}
    for t, condition in given.items():
        if not isinstance(t, str) and not (isinstance(t, tuple) and all(isinstance(n, str) for n in t)):
            raise TypeError(f"found known={known!r}, expected an edge type, a list of these, or a dict with a condition for each")
        try:
            e = edge_type(t, store.edge_types)
        except KeyError as error:
            raise ValueError(f"known: {error.args[0]}") from None
        if (e[0], e[2]) != ends:
            raise ValueError(f"known: found {':'.join(e)}, whose edges lead from {e[0]} to {e[2]}, expected an edge type from {ends[0]} to {ends[1]}")
        names[e] = condition
    tests = message_tests({e: c for e, c in names.items() if c is not None} or None, store, "known")
    return [(e, tests.get(e)) for e in names]


def _chunks(edges: Edges) -> Iterator[tuple[int, Array, Array]]:
    """The edges of a type that the store has by destination: the first id of each chunk, sources and destinations."""
    ptr = edges.indptr
    for at in range(0, edges.count, _CHUNK):
        stop = min(at + _CHUNK, edges.count)
        first, last = (int(np.searchsorted(ptr, i, side="right")) - 1 for i in (at, stop - 1))
        bounds = np.clip(int64(ptr[first : last + 2]), at, stop)
        yield at, int64(edges.neighbours[at:stop]), np.repeat(np.arange(first, last + 1), np.diff(bounds))


def _by_source(edges: Edges, sources: int, targets: int, test: Callable[[Array], Array] | None, path: str) -> tuple[Array, Array]:
    """The offset of each source's edges, and their targets, in a file."""

    def kept() -> Iterator[tuple[Array, Array]]:
        for at, source, target in _chunks(edges):
            there = slice(None) if test is None else test(np.arange(at, at + len(source)))
            yield source[there], target[there]

    ptr = np.zeros(sources + 1, np.int64)
    for source, _ in kept():
        ptr[1:] += np.bincount(source, minlength=sources)
    np.cumsum(ptr, out=ptr)
    dtype = np.uint32 if targets <= 1 << 32 else np.int64
    if not ptr[-1]:
        return ptr, np.empty(0, dtype)
    out = np.memmap(path, dtype, "w+", shape=(int(ptr[-1]),))
    free = ptr[:-1].copy()
    for source, target in kept():
        order = np.argsort(source, kind="stable")
        source = source[order]
        counts = np.bincount(source, minlength=sources)
        before = np.cumsum(counts) - counts
        out[free[source] + np.arange(len(source)) - before[source]] = target[order]
        free += counts
    return ptr, out
