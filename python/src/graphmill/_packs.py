"""A loader of packs: many small graphs in arrays of one shape."""

from __future__ import annotations

import hashlib
import importlib
import os
from dataclasses import dataclass
from typing import Any, Callable, Iterator

import numpy as np

from ._arrays import ranges, worker
from ._batches import _Batches
from ._collection import Collection
from ._folder import Array, EdgeType, int64
from ._layout import Deal, Layout, PackShape

_FORMS = ("numpy", "pyg", "jraph", "tfgnn")


@dataclass
class PackNodes:
    """The nodes of a type in packs, with P packs, G graphs and N nodes a pack.

    Attributes:
        n_node: int32 [P, G], nodes of each graph.
        ptr: int32 [P, G + 1], the first node of each graph, and the end of the last.
        graph: int32 [P, N], the graph of each node.
        mask: bool [P, N], which are no padding.
        node_id: [P, N], of sampled collections the row in the store; else None.
        columns: by name, [P, N, ...]; bfloat16 as uint16.
    """

    n_node: Array
    ptr: Array
    graph: Array
    mask: Array
    node_id: Array | None
    columns: dict[str, Array]


@dataclass
class PackEdges:
    """The edges of a type in packs, with E edges a pack.

    Attributes:
        n_edge: int32 [P, G].
        ptr: int32 [P, G + 1].
        src, dst: int32 [P, E], nodes of the pack.
        mask: bool [P, E].
        edge_id: [P, E], of sampled collections the edge id in the store; else None.
        columns: by name, [P, E, ...].
    """

    n_edge: Array
    ptr: Array
    src: Array
    dst: Array
    mask: Array
    edge_id: Array | None
    columns: dict[str, Array]


@dataclass
class PackBatch:
    """Packs as NumPy arrays: those that ``graphmill pack materialise`` writes.

    Attributes:
        number: of the batch in the epoch, over all ranks.
        num_graphs: int32 [P], real graphs.
        graph_id: int64 [P, G], in the collection; -1 for padding.
        graph_mask: bool [P, G].
        nodes: by node type.
        edges: by edge type.
        context: columns of the graphs, [P, G, ...].
    """

    number: int
    num_graphs: Array
    graph_id: Array
    graph_mask: Array
    nodes: dict[str, PackNodes]
    edges: dict[EdgeType, PackEdges]
    context: dict[str, Array]

    def flat(self) -> "PackBatch":
        """The one pack, without the axis of the packs."""

        def first(x: Any) -> Any:
            if isinstance(x, np.ndarray):
                return x[0]
            if isinstance(x, dict):
                return {k: first(v) for k, v in x.items()}
            if isinstance(x, (PackNodes, PackEdges)):
                return type(x)(*(first(v) for v in vars(x).values()))
            return x

        return PackBatch(self.number, *(first(v) for k, v in vars(self).items() if k != "number"))


@dataclass(frozen=True)
class PackSchema:
    """What packs are, beside their arrays: for the frameworks' objects."""

    shape: PackShape
    homogeneous: bool
    bfloat16: frozenset[tuple[Any, str]]  # (type, or None for the context; column)
    label: str | None
    stacked: bool


class PackedLoader(_Batches):
    """Batches of packs, each of one shape: a model is compiled once.

    Each epoch deals the graphs into the packs afresh, as ``graphmill pack fill`` does: the graphs of a pack are a
    pure function of (seed, epoch, pack). Each pass over the loader is the next epoch. It reads the collection's maps in this
    process; in a ``torch.utils.data.DataLoader`` worker it takes the worker's share (give ``batch_size=None`` there,
    and call `set_epoch` before each pass).

    Padding is as jraph has it: behind the real graphs of a pack comes one with all padding nodes and edges, then
    empty ones; padding edges join the first padding nodes of their types. All other values of padding are 0.

    Args:
        layout: path of a pack layout (``graphmill pack COLLECTION --limit ... --out LAYOUT``).
        collection: a `Collection`, or its path: that which the layout was made of.
        batch: packs a batch. Arrays then have an axis of packs in front, for ``vmap`` and devices; PyG and TF-GNN get one
            batch of all their graphs. None: one pack, without that axis.
        as_: what is yielded: "numpy" (`PackBatch`), "jraph" (``GraphsTuple``; nodes, edges and globals are dicts of columns),
            "pyg" (``Batch`` with node_mask, edge_mask and graph_mask), "tfgnn" (``GraphTensor`` and a mask of its components).
        seed: of the deals.
        label: the column that is y (PyG).
        tail: what becomes of packs that do not fill a batch, and of batches that do not go round among ranks: "keep", "drop",
            "pad" them with packs of padding alone, or raise an "error".
        rank, world_size: rank r takes the batches r, r + world_size, ...

    Attributes:
        shape: places for graphs, nodes and edges in a pack.
        alone: graphs that are larger than a pack, and in none.
        left_out: columns that are no arrays of a fixed shape, and what else packs do not have.

    Raises:
        GraphmillError: the layout was not made of these graphs, or a folder is not as it was written.

    Example:
        >>> for g in PackedLoader("plan", "molecules.coll", as_="jraph", seed=1):
        ...     state = train(state, g, jraph.get_graph_padding_mask(g))
    """

    def __init__(
        self,
        layout: str | os.PathLike[str],
        collection: Collection | str | os.PathLike[str],
        batch: int | None = None,
        as_: str = "numpy",
        seed: int = 0,
        label: str | None = None,
        tail: str = "keep",
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        if as_ not in _FORMS:
            raise ValueError(f"found as_={as_!r}, expected one of {', '.join(_FORMS)}")
        super().__init__((), 1 if batch is None else batch, True, seed, tail, rank, world_size)
        self._layout = Layout(layout)
        self._c = collection if isinstance(collection, Collection) else Collection(collection)
        self._graphs = self._layout.sort(self._c)
        self.shape = self._layout.shape(self._c)
        self.alone, self.left_out = self._graphs.over, [*_left_out(self._c)]
        self._form, self._stacked, self._label = as_, batch is not None, label
        self._check_whole(self._layout.packs, "packs")
        self._deal: tuple[int, Deal] | None = None
        self._sources()

    def _sources(self) -> None:
        """The arrays that packs are gathered from."""
        c = self._c
        bfloat16 = set()
        columns: dict[Any, dict[str, Array]] = {}
        for t, of in [(None, c.context if c.component_ptr is None else None), *((t, x.columns) for t, x in [*c.nodes.items(), *c.edges.items()])]:
            columns[t] = {}
            for name in of or ():
                x = of.column(name)  # type: ignore[union-attr]
                if x.fixed:
                    columns[t][name] = x.values
                    if x.dtype == "bfloat16":
                        bfloat16.add((t, name))
        self._columns = columns
        self._ptr = {t: int64(x.graph_ptr) for t, x in [*c.nodes.items(), *c.edges.items()]}
        self._schema = PackSchema(self.shape, len(c.nodes) == 1 and len(c.edges) == 1, frozenset(bfloat16), self._label, self._stacked)

    def _options(self) -> str:
        return f"PackedLoader {self._size} {self._tail} {self._layout.fingerprint} {self._c.fingerprint}"

    def _fingerprint(self) -> str:
        return hashlib.blake2b(self._options().encode(), digest_size=8).hexdigest()

    def _count(self, epoch: int) -> int:
        packs = self._layout.packs
        return packs // self._size if self._tail == "drop" else -(-packs // self._size)

    def _share(self, numbers: range) -> range:
        share = worker()
        return numbers if share is None else numbers[share[0] :: share[1]]

    def _make(self, epoch: int, numbers: range, real: int) -> Iterator[Any]:
        convert = _converter(self._form)
        if self._deal is None or self._deal[0] != epoch:
            self._deal = epoch, Deal(self._layout, self._graphs, self._seed, epoch)
        deal = self._deal[1]
        none = np.empty(0, np.int64)
        for b in numbers:
            packs = range(b * self._size, min((b + 1) * self._size, self._layout.packs)) if b < real else range(0)
            graphs = [deal.pack(p) for p in packs]
            if self._tail == "pad":
                graphs += [none] * (self._size - len(graphs))
            yield convert(self._schema, self._gather(b, graphs))

    def _gather(self, number: int, packs: list[Array]) -> PackBatch:
        shape, c = self.shape, self._c
        p, g = len(packs), shape.graphs
        lengths = np.array([len(x) for x in packs], np.int32)
        graph_id = np.full((p, g), -1, np.int64)
        for row, ids in zip(graph_id, packs):
            row[: len(ids)] = ids
        nodes: dict[str, PackNodes] = {}
        for t, of in c.nodes.items():
            rows, counts, ptr, mask = self._rows(self._ptr[t], packs, shape.nodes[t])
            graph = np.stack([np.repeat(np.arange(g, dtype=np.int32), n) for n in counts])
            nodes[t] = PackNodes(counts, ptr, graph, mask, _placed(of.node_id, rows, mask), {k: _wanted(x, rows, mask) for k, x in self._columns[t].items()})
        edges: dict[EdgeType, PackEdges] = {}
        for e, of in c.edges.items():
            rows, counts, ptr, mask = self._rows(self._ptr[e], packs, shape.edges[e])
            ends = []
            for t, local in ((e[0], of.src), (e[2], of.dst)):
                first = nodes[t].ptr
                # Padding edges join the first padding node of their type.
                x = np.repeat(first[np.arange(p), lengths][:, None], shape.edges[e], 1)
                for k, (ids, r) in enumerate(zip(packs, rows)):
                    x[k, : len(r)] = local[r].astype(np.int32) + np.repeat(first[k, : len(ids)], counts[k, : len(ids)])
                ends.append(x)
            edges[e] = PackEdges(counts, ptr, ends[0], ends[1], mask, _placed(of.edge_id, rows, mask), {k: _wanted(x, rows, mask) for k, x in self._columns[e].items()})
        real = graph_id >= 0
        context = {k: _wanted(x, packs, real) for k, x in self._columns[None].items()}
        return PackBatch(number, lengths, graph_id, real, nodes, edges, context)

    def _rows(self, starts: Array, packs: list[Array], room: int) -> tuple[list[Array], Array, Array, Array]:
        """What the graphs of each pack have of a type: rows, counts and offsets by graph, and the mask."""
        p, g = len(packs), self.shape.graphs
        rows, counts = [], np.zeros((p, g), np.int32)
        mask = np.zeros((p, room), bool)
        for k, ids in enumerate(packs):
            first, last = starts[ids], starts[ids + 1]
            rows.append(ranges(first, last))
            counts[k, : len(ids)] = last - first
            counts[k, len(ids)] = room - len(rows[-1])
            mask[k, : len(rows[-1])] = True
        ptr = np.zeros((p, g + 1), np.int32)
        np.cumsum(counts, axis=1, out=ptr[:, 1:])
        return rows, counts, ptr, mask


def _wanted(values: Array, rows: list[Array], mask: Array) -> Array:
    """The rows of each pack, in zeros."""
    out = np.zeros((*mask.shape, *values.shape[1:]), values.dtype)
    for place, r in zip(out, rows):
        place[: len(r)] = values[r]
    return out


def _placed(values: Array | None, rows: list[Array], mask: Array) -> Array | None:
    return None if values is None else _wanted(values, rows, mask)


def _left_out(c: Collection) -> Iterator[str]:
    for what, x in [*((n.name, n) for n in c.nodes.values()), *((e.name, e) for e in c.edges.values())]:
        if x._by_hop is not None:
            yield f"{what}: {x._hops}"
        yield from _unfixed(what, x.columns)
    if c.seed_ptr is not None:
        yield "context: seed_ptr, seed_local"
    if c.component_ptr is not None:
        yield from (f"context: column {name} (a row a component)" for name in c.context)
    else:
        yield from _unfixed("context", c.context)


def _unfixed(what: str, columns: Any) -> Iterator[str]:
    for name in columns:
        x = columns.column(name)
        if not x.fixed:
            yield f"{what}: column {name} ({f'shape {list(x.shape)}' if x.offsets else 'strings'})"


def _converter(form: str) -> Callable[[PackSchema, PackBatch], Any]:
    """What makes a framework's object of packs. The framework is imported here, on first use."""
    if form == "numpy":
        return lambda schema, batch: batch if schema.stacked else batch.flat()
    convert: Callable[[PackSchema, PackBatch], Any] = importlib.import_module(f"._as_{form}", __package__).packs
    return convert
