"""Pack layouts: the shapes of the graphs in each pack, and the graphs that an epoch deals to them.

docs/packing.md describes the files and the draw law: in each epoch, the graphs of a shape and the packs have random
orders. So pack p of an epoch is computed without the packs before it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import Array, ranges
from ._collection import Collection
from ._command import GraphmillError
from ._folder import EdgeType, Folder, int64, metadata
from ._order import ORDER, Order, key

META = "layout.json"
_MOST = (1 << 31) - 1


@dataclass(frozen=True)
class PackShape:
    """The shape of every pack, including padding.

    Attributes:
        graphs: number of graphs.
        nodes: number of nodes, by node type.
        edges: number of edges, by edge type.
    """

    graphs: int
    nodes: dict[str, int]
    edges: dict[EdgeType, int]


class Layout:
    """A pack layout, opened. ``limits`` and ``max_graphs`` exclude the reserve."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        f = Folder(path, META, "a pack layout", "graphmill pack --out")
        m = f.meta
        self.path, self.fingerprint = f.path, f.fingerprint
        with metadata(f, META):
            self.components: list[str] = m["components"]
            self.packs, self.oversize = int(m["packs"]), str(m.get("oversize", ""))
            reserve = bool(m.get("reserve"))
            self.limits = [n - (reserve and (c == "num_nodes" or c.startswith("num_nodes:"))) for c, n in zip(self.components, m["limits"])]
            self.max_graphs = int(m["max_graphs"]) - (reserve and m["max_graphs"] > 0)
            k, shapes, parts = len(self.components), m["shapes"], m["parts"]
            self.sizes = f.array("shape_size.npy", ("uint32",), (shapes, k)).astype(np.int64)
            self.counts = int64(f.array("shape_count.npy", ("uint64",), (shapes,)))
            self.pattern_packs = int64(f.array("pattern_packs.npy", ("uint64",), (m["patterns"],)))
            self.pattern_ptr = int64(f.array("pattern_ptr.npy", ("uint64",), (m["patterns"] + 1,)))
            self.part_shape = f.array("part_shape.npy", ("uint32",), (parts,)).astype(np.int64)
            self.part_copies = f.array("part_copies.npy", ("uint32",), (parts,)).astype(np.int64)
            over = m.get("oversize_shapes", 0)
            self.over_sizes, self.over_counts = np.empty((0, k), np.int64), np.empty(0, np.int64)
            if over:
                self.over_sizes = f.array("oversize_size.npy", ("uint32",), (over, k)).astype(np.int64)
                self.over_counts = int64(f.array("oversize_count.npy", ("uint64",), (over,)))
        self._places()

    def _places(self) -> None:
        """The first pack of each pattern; for each part, the first of its places among the places of its shape."""
        of = np.diff(self.pattern_ptr)
        ends = self.pattern_ptr[[0, -1]].tolist()
        if ends != [0, len(self.part_shape)] or (of < 0).any() or (self.part_shape >= len(self.counts)).any():
            raise GraphmillError(f"{self.path}: damaged: found parts that are in no pattern or of no shape, expected those of the layout")
        self.first_pack = np.append(0, np.cumsum(self.pattern_packs))
        amounts = self.part_copies * np.repeat(self.pattern_packs, of)
        dealt = np.zeros(len(self.counts), np.int64)
        np.add.at(dealt, self.part_shape, amounts)
        if (dealt != self.counts).any() or int(self.first_pack[-1]) != self.packs:
            raise GraphmillError(
                f"{self.path}: damaged: found {int(dealt.sum())} places in {int(self.first_pack[-1])} packs, expected {int(self.counts.sum())} in {self.packs}"
            )
        by_shape = np.argsort(self.part_shape, kind="stable")
        before = np.cumsum(amounts[by_shape]) - amounts[by_shape]
        shape_start = np.cumsum(self.counts) - self.counts
        self.first_place = np.empty(len(amounts), np.int64)
        self.first_place[by_shape] = before - shape_start[self.part_shape[by_shape]]

    def most_graphs(self) -> int:
        """The largest number of graphs in a pack."""
        per = np.append(0, np.cumsum(self.part_copies))
        return int((per[self.pattern_ptr[1:]] - per[self.pattern_ptr[:-1]]).max(initial=0))

    def shape(self, c: Collection) -> PackShape:
        """The shape of padded packs. For a layout without a reserve, the padding comes on top of its limits."""
        missing = []

        def limit(prefix: str, name: str, types: int, names: list[str]) -> int:
            for n in [*(f"{prefix}:{n}" for n in names), *([prefix] if types == 1 else [])]:
                if n in self.components:
                    return int(self.limits[self.components.index(n)])
            missing.append(f"{prefix}:{name}")
            return 0

        nodes = {t: limit("num_nodes", t, len(c.nodes), [t]) + 1 for t in c.node_types}
        relations = [e[1] for e in c.edge_types]
        edges = {}
        for e in c.edge_types:
            name = ":".join(e)
            edges[e] = limit("num_edges", name, len(c.edges), [name, *([e[1]] if relations.count(e[1]) == 1 else [])])
        if missing:
            raise GraphmillError(
                f"found limits of {', '.join(self.components)}, expected one for each type, for arrays of fixed shape; "
                f"pack again with a limit for {', '.join(missing)}"
            )
        out = PackShape((self.max_graphs or self.most_graphs()) + 1, nodes, edges)
        most = max(out.graphs, *nodes.values(), *edges.values(), 0)
        if most > _MOST:
            raise GraphmillError(
                f"{self.path}: found a limit of {most} with the padding, expected at most 2^31 - 1, for arrays of int32; make a layout with lower limits"
            )
        return out

    def sort(self, c: Collection) -> Graphs:
        """The graphs of a collection by shape. The layout must have been made from these graphs."""
        sizes = np.stack([_sizes(c, name) for name in self.components], 1)
        wrong = np.flatnonzero((sizes < 0).any(1) | (sizes > _MOST).any(1))
        if len(wrong):
            raise GraphmillError(
                f"graph {wrong[0]}: found a size in {', '.join(self.components)} that is negative or beyond 2^31 - 1, expected sizes that a pack can have"
            )
        order = np.lexsort(sizes.T[::-1])  # stable: ids ascend within a shape
        found = sizes[order]
        starts = np.flatnonzero(np.append(True, (found[1:] != found[:-1]).any(1))) if len(found) else np.empty(0, np.int64)
        counts = np.diff(np.append(starts, len(found)))
        number = {tuple(row): s for s, row in enumerate(self.sizes.tolist())}
        over = {tuple(row): s for s, row in enumerate(self.over_sizes.tolist())}
        ids: list[Array] = [np.empty(0, np.int64)] * len(self.counts)
        large: list[Array] = [np.empty(0, np.int64)] * len(self.over_counts)
        for start, n, row in zip(starts.tolist(), counts.tolist(), found[starts].tolist()):
            part = order[start : start + n]
            if tuple(row) in number:
                ids[number[tuple(row)]] = part
            elif tuple(row) in over:
                large[over[tuple(row)]] = part
            else:
                raise GraphmillError(
                    f"graph {part[0]}: found sizes {row}, expected one of the {len(self.counts)} shapes of the layout; make a layout of these graphs"
                )
        for have, want, rows, what in ((ids, self.counts, self.sizes, ""), (large, self.over_counts, self.over_sizes, ", which are larger than a pack")):
            for part, n, row in zip(have, want.tolist(), rows.tolist()):
                if len(part) != n:
                    raise GraphmillError(f"found {len(part)} graphs of sizes {row}, expected the {n} of the layout{what}; make a layout of these graphs")
        none = [np.empty(0, np.int64)]
        return Graphs(np.append(0, np.cumsum(self.counts)), np.concatenate(none + ids), np.sort(np.concatenate(none + large)))


@dataclass(frozen=True)
class Graphs:
    """The ids of the graphs of each shape, ascending, and of those that are larger than a pack."""

    ptr: Array
    ids: Array
    over: Array


class Deal:
    """A layout filled with graphs for one epoch."""

    def __init__(self, layout: Layout, graphs: Graphs, seed: int, epoch: int) -> None:
        self._l, self._ptr = layout, graphs.ptr
        self._packs = Order(layout.packs, key(seed, epoch, ORDER, 0))
        self._ids = np.empty_like(graphs.ids)  # the graph at each place, one shape after another
        for s, (start, n) in enumerate(zip(graphs.ptr.tolist(), layout.counts.tolist())):
            order = Order(n, key(seed, epoch, ORDER, s + 1))
            self._ids[start : start + n] = graphs.ids[start + order(np.arange(n))]

    def graphs(self, packs: range) -> list[Array]:
        """The graph ids of each of some packs of the epoch, by ascending shape."""
        layout = self._l
        if not len(packs):
            return []
        qs = self._packs(np.arange(packs.start, packs.stop, packs.step))
        ts = np.searchsorted(layout.first_pack, qs, side="right") - 1
        out = []
        for q, t in zip(qs.tolist(), ts.tolist()):
            parts = slice(int(layout.pattern_ptr[t]), int(layout.pattern_ptr[t + 1]))
            copies = layout.part_copies[parts]
            first = self._ptr[layout.part_shape[parts]] + layout.first_place[parts] + (q - layout.first_pack[t]) * copies
            out.append(self._ids[ranges(first, first + copies)])
        return out


def _sizes(c: Collection, component: str) -> Array:
    """The size of each graph in a component, int64; -1 for an invalid size."""
    kind, typed, name = component.partition(":")
    of: list[Any] = []
    if kind == "num_nodes":
        of = [n for t, n in c.nodes.items() if not typed or t == name]
    elif kind == "num_edges":
        of = [e for t, e in c.edges.items() if not typed or ":".join(t) == name]
        if typed and not of:
            of = [e for t, e in c.edges.items() if t[1] == name]
    else:
        if component not in c.context:
            raise GraphmillError(
                f"{c.path}: found component {component!r}, expected num_nodes, num_edges, num_nodes:TYPE, num_edges:TYPE or an integer column of the context"
            )
        x = c.context.column(component)
        if not x.plain or x.values.dtype.kind not in "iu" or x.values.size != len(c) or len(x) != len(c):
            raise GraphmillError(
                f"{c.path}: found column {component!r} of the context with dtype {x.dtype}, shape {list(x.shape)} and {len(x)} rows, expected one integer per graph"
            )
        flat = x.values.reshape(-1)
        return np.where(flat > _MOST, -1, flat).astype(np.int64)
    if typed and len(of) != 1:
        raise GraphmillError(f"{c.path}: found component {component!r}, expected one type of the collection")
    total = np.zeros(len(c), np.int64)
    for x in of:
        total += np.diff(int64(x.graph_ptr))
    return total
