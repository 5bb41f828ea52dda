"""Consecutive nodes with all their in-edges, in local ids, read from the maps of a store."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping

import numpy as np

from ._arrays import Array
from ._folder import EdgeType, int64
from ._store import Edges, Store


@dataclasses.dataclass
class Neighbourhood:
    """The nodes ``start`` to ``stop - 1`` of a type, and all edges that lead to them.

    Attributes:
        type: the node type.
        start, stop: the nodes.
        nodes: int64, the type-wise ids of the nodes by type: the ids of ``type`` begin with start to stop - 1 and, after them,
            the ``added`` ones; then the sources follow in ascending order. Only types of sources have an entry, and ``type``.
        edge_index: int64 [2, edges] by edge type, local ids of source and destination, ascending by destination.
        edge_id: the edge ids by edge type, in the same order.
        added: the number of nodes after ``stop`` that are there only to give each edge type an edge.
    """

    type: str
    start: int
    stop: int
    nodes: dict[str, Array]
    edge_index: dict[EdgeType, Array]
    edge_id: dict[EdgeType, Array]
    added: int = 0


class InEdges:
    """The in-edges of a store's nodes.

    It holds 4 bytes for each node that is a source (8 from 2^31 nodes on). An edge type that the store has by source alone is
    sorted in memory, which takes 16 bytes per edge; ``graphmill import --both`` saves that.

    Args:
        store: the store.
        fill: whether an edge type without edges to a range of nodes gets one, to a node that is added to them. Without it, nodes of a
            type to which no edges lead get one edge between nodes of other types, because layers do not take what has no edges.
        messages: for edge types that are not whole: which of some edge ids are edges here.
    """

    def __init__(self, store: Store, fill: bool = False, messages: Mapping[EdgeType, Callable[[Array], Array]] | None = None) -> None:
        self._fill, self._messages = fill, messages or {}
        self._counts = {t: n.count for t, n in store.nodes.items()}
        self._to: dict[str, list[EdgeType]] = {t: [] for t in store.nodes}
        for e in store.edges:
            self._to[e[2]].append(e)
        self._store = store
        self._of: dict[EdgeType, tuple[Array, Array, Array | None]] = {}
        self._local: dict[str, Array] = {}

    def types(self, t: str) -> list[EdgeType]:
        """The edge types that lead to a node type."""
        return self._to[t]

    def _arrays(self, e: EdgeType) -> tuple[Array, Array, Array | None]:
        """Offsets by destination, sources, and edge ids; None if the edges are in the order of their ids."""
        if e not in self._of:
            self._of[e] = _by_destination(self._store.edges[e], self._counts[e[2]])
        return self._of[e]

    def stop(self, t: str, start: int, nodes: int, edges: int, of: Iterable[EdgeType]) -> int:
        """The end of the range from ``start`` on that has at most so many nodes, and at most so many edges unless it is one node."""
        last = min(start + nodes, self._counts[t])
        total = np.zeros(last - start + 1, np.int64)
        for e in of:
            total += self._arrays(e)[0][start : last + 1].astype(np.int64)
        fits = int(np.searchsorted(total, total[0] + edges, side="right")) - 1
        return start + max(fits, 1)

    def read(self, t: str, start: int, stop: int, of: Iterable[EdgeType], types: Container[str]) -> Neighbourhood:
        """The edges of some edge types to the nodes ``start`` to ``stop - 1`` of type ``t``; nodes are only of the given types."""
        of = list(of)
        if not of and not self._fill:
            return self._alone(t, start, stop, types)
        first = [np.arange(start, stop, dtype=np.int64)]
        added = 0
        sources: dict[EdgeType, Array] = {}
        targets: dict[EdgeType, Array] = {}
        ids: dict[EdgeType, Array] = {}
        for e in of:
            ptr, far, edge_id = self._arrays(e)
            at = ptr[start : stop + 1].astype(np.int64)
            lo, hi = int(at[0]), int(at[-1])
            targets[e] = np.repeat(np.arange(stop - start), np.diff(at))
            ids[e] = np.arange(lo, hi) if edge_id is None else int64(edge_id[lo:hi])
            sources[e] = far[lo:hi]
            if e in self._messages:
                there = self._messages[e](ids[e])
                targets[e], ids[e], sources[e] = targets[e][there], ids[e][there], sources[e][there]
            if not len(ids[e]) and self._fill and len(far):  # any edge does, because nothing is read of the node that it leads to
                first.append(np.array([np.searchsorted(ptr, 0, side="right") - 1], np.int64))
                targets[e] = np.array([stop - start + added], np.int64)
                added += 1
                sources[e] = far[:1]
                ids[e] = np.zeros(1, np.int64) if edge_id is None else int64(edge_id[:1])
        nodes = {t: np.concatenate(first)}
        local: dict[EdgeType, Array] = {}
        for s in dict.fromkeys(e[0] for e in sources):
            have = nodes.get(s, np.empty(0, np.int64))
            parts = {e: x for e, x in sources.items() if e[0] == s}
            nodes[s] = self._compact(s, parts, have, (start, stop) if s == t else (0, 0), local)
        pairs = {e: np.stack([local[e], targets[e]]) for e in sources}
        return Neighbourhood(t, start, stop, nodes, pairs, ids, added)

    def _alone(self, t: str, start: int, stop: int, types: Container[str]) -> Neighbourhood:
        out = Neighbourhood(t, start, stop, {t: np.arange(start, stop, dtype=np.int64)}, {}, {})
        for e, edges in self._store.edges.items():
            if e[0] in types and e[2] in types and e[2] != t and len(edges):
                ptr, far, edge_id = self._arrays(e)
                for s, node in ((e[2], np.searchsorted(ptr, 0, side="right") - 1), (e[0], far[0])):
                    out.nodes[s] = np.append(out.nodes.get(s, np.empty(0, np.int64)), np.int64(node))
                out.edge_index[e] = np.array([[len(out.nodes[e[0]]) - 1], [0]], np.int64)
                out.edge_id[e] = np.zeros(1, np.int64) if edge_id is None else int64(edge_id[:1])
                break
        return out

    def _compact(self, s: str, parts: dict[EdgeType, Array], have: Array, own: tuple[int, int], local: dict[EdgeType, Array]) -> Array:
        """Sets the local ids of sources of type ``s``, and returns the nodes: ``have``, which begin with the range ``own``, and the others."""
        if s not in self._local:
            n = self._counts[s]
            self._local[s] = np.empty(n, np.int32 if n < 1 << 31 else np.int64)
        at = self._local[s]
        every = np.concatenate(list(parts.values()))
        # The last write to a place stays, so each node is kept exactly once, without sorting the edges.
        places = np.arange(len(every), dtype=at.dtype)
        at[every] = places
        others = every[at[every] == places]
        others = others[(others < own[0]) | (others >= own[1])]
        others.sort()
        at[others] = np.arange(len(have), len(have) + len(others), dtype=at.dtype)
        at[own[0] : own[1]] = np.arange(own[1] - own[0], dtype=at.dtype)
        for e, x in parts.items():
            local[e] = at[x].astype(np.int64)
        return np.concatenate([have, others.astype(np.int64)])


def _by_destination(edges: Edges, nodes: int) -> tuple[Array, Array, Array | None]:
    if edges.primary == "in":
        return edges.indptr, edges.neighbours, None
    ptr, far, ids = edges.other_indptr, edges.other_neighbours, edges.other_edge_id
    if ptr is not None and far is not None and ids is not None:
        return ptr, far, ids
    source, target = edges.edge_index()
    order = np.argsort(target, kind="stable")
    return np.append(0, np.cumsum(np.bincount(target, minlength=nodes))), source[order].astype(edges.neighbours.dtype), order
