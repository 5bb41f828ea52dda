"""The loader of packs, which hold many small graphs in arrays of one shape."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._ahead import check_device
from ._arguments import choice, integer
from ._arrays import Array, ranges, widened
from ._batches import _Batches
from ._cache import Cache, Device
from ._collection import Collection
from ._command import GraphmillError
from ._folder import EdgeType, int64, unknown
from ._html import counted, listed, table
from ._kept_packs import KeptGraphs
from ._layout import Deal, Layout, PackShape
from ._makers import maker, makes

_FORMS = ("numpy", "pyg", "jraph", "tfgnn")
_BLOCK = 4 << 20  # bytes of packs that are gathered together, because a call of NumPy costs as much as the copy of a small pack


@dataclass
class PackNodes:
    """The nodes of a type in P packs, with G graphs and N nodes per pack.

    Attributes:
        n_node: int32 [P, G], the number of nodes of each graph.
        ptr: int32 [P, G + 1], the first node of each graph, and the end of the last.
        graph: int32 [P, N], the graph of each node.
        mask: bool [P, N], False for padding.
        node_id: [P, N], for sampled collections the row in the store; else None.
        columns: by name, [P, N, ...]; bfloat16 as float32.
    """

    n_node: Array
    ptr: Array
    graph: Array
    mask: Array
    node_id: Array | None
    columns: dict[str, Array]


@dataclass
class PackEdges:
    """The edges of a type in P packs, with E edges per pack.

    Attributes:
        n_edge: int32 [P, G], the number of edges of each graph.
        ptr: int32 [P, G + 1], the first edge of each graph, and the end of the last.
        src, dst: int32 [P, E], ids of nodes in the pack.
        mask: bool [P, E], False for padding.
        edge_id: [P, E], for sampled collections the edge id in the store; else None.
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
    """Packs as NumPy arrays: those that ``graphmill pack materialise`` writes, with bfloat16 as float32.

    Attributes:
        number: the number of the batch in the epoch, over all ranks.
        num_graphs: int32 [P], the number of real graphs.
        graph_id: int64 [P, G], the number in the collection; -1 for padding.
        graph_mask: bool [P, G], False for padding.
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

    def flat(self) -> PackBatch:
        """The one pack, without the axis of the packs."""
        return self._at(self.number, 0)

    def _at(self, number: int, packs: int | slice) -> PackBatch:
        """Views of some of the packs, or of one without the axis of the packs, as the batch of a number."""

        def columns(of: dict[str, Array]) -> dict[str, Array]:
            return {k: x[packs] for k, x in of.items()}

        nodes = {
            t: PackNodes(x.n_node[packs], x.ptr[packs], x.graph[packs], x.mask[packs], None if x.node_id is None else x.node_id[packs], columns(x.columns))
            for t, x in self.nodes.items()
        }
        edges = {
            e: PackEdges(
                x.n_edge[packs], x.ptr[packs], x.src[packs], x.dst[packs], x.mask[packs], None if x.edge_id is None else x.edge_id[packs], columns(x.columns)
            )
            for e, x in self.edges.items()
        }
        return PackBatch(number, self.num_graphs[packs], self.graph_id[packs], self.graph_mask[packs], nodes, edges, columns(self.context))


@dataclass(frozen=True)
class PackSchema:
    """The properties of packs that the frameworks' objects need in addition to the arrays."""

    shape: PackShape
    homogeneous: bool
    bfloat16: frozenset[tuple[Any, str]]  # (type, or None for the context; column)
    label: str | None
    stacked: bool


class PackedLoader(_Batches):
    """Batches of packs, all of one shape, so that a model is compiled once.

    Each epoch deals the graphs into the packs anew, like ``graphmill pack fill``: the graphs of a pack are a pure function of
    (seed, epoch, pack). Each pass over the loader is the next epoch. The loader reads the collection's maps in this process.
    In a ``torch.utils.data.DataLoader`` worker, it yields the worker's share. Give the DataLoader ``batch_size=None``, and
    ``persistent_workers=True``, or call `set_epoch` before each pass: new workers begin with the epoch of this loader.

    Padding follows jraph: the real graphs of a pack are followed by one graph with all padding nodes and edges, then by empty
    graphs; padding edges join the first padding nodes of their types. All other padding values are 0, except graph_id. Arrays
    are newly allocated, but small packs are views of blocks of up to 4 MiB that several packs share: copy one that you keep.

    Args:
        layout: path of a pack layout (``graphmill pack COLLECTION --limit ... --out LAYOUT``).
        collection: a `Collection`, or its path, from which the layout was made.
        batch: packs per batch. Arrays then have a first axis of packs, for ``vmap`` and devices; PyG and TF-GNN get one
            batch of all their graphs. None: one pack, without that axis.
        as_: what is yielded: "numpy" (`PackBatch`), "jraph" (``GraphsTuple``; nodes, edges and globals are dicts of columns),
            "pyg" (``Batch`` with node_mask, edge_mask and graph_mask), "tfgnn" (``GraphTensor`` and a mask of its components).
        seed: the random seed of the deals.
        label: the column that becomes y (PyG).
        tail: what happens to packs that do not fill a batch, and to batches that cannot be divided evenly between ranks, as
            for `BatchIter`: "fill", "drop", "short", "pad" (with packs of padding only) or "error".
        drop_last: True means ``tail="drop"``.
        rank, world_size: rank r gets the batches r, r + world_size, ...
        device: where the arrays of "pyg" and "jraph" come to, such as ``"cuda:0"``: a device of torch, or of JAX ("cpu", "gpu", "tpu:1", a ``jax.Device``).
        cache: rows of nodes and edges that stay on the device, so that batches bring only their numbers: the most bytes of them, "2GiB", or the `Cache` of another
            loader of the collection. Batches have the same values. docs/gpu.md says what it takes.

    Attributes:
        cache: the rows that stay on the device, which other loaders can be given; None without ``cache``.
        shape: the numbers of graphs, nodes and edges of a pack, including padding.
        alone: ids of the graphs that are larger than a pack, and in no pack.
        left_out: columns without a fixed shape, and other data that packs lack.

    Raises:
        GraphmillError: the layout was made from other graphs, or a folder has changed since it was written.
        ValueError: a wrong value; the text names the keyword.

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
        tail: str | None = None,
        drop_last: bool | None = None,
        rank: int = 0,
        world_size: int = 1,
        *,
        device: Any = None,
        cache: int | str | Cache | None = None,
    ) -> None:
        as_ = choice("as_", as_, _FORMS)
        self.cache = cache if cache is None or isinstance(cache, Cache) else Cache(cache)
        self._device = _device(as_, device, cache)
        super().__init__((), 1 if batch is None else integer("batch", batch, 1), True, seed, tail, drop_last, rank, world_size)
        self._layout = Layout(layout)
        self._owned, self._closed = not isinstance(collection, Collection), False
        self._c = collection if isinstance(collection, Collection) else Collection(collection)
        self._graphs = self._layout.sort(self._c)
        self.shape = self._layout.shape(self._c)
        self.alone, self.left_out = self._graphs.over, [*_left_out(self._c)]
        self._form, self._stacked, self._label = as_, batch is not None, label
        self._check_whole(self._layout.packs, "packs")
        self._check_even(self._count(0))
        self._deal: tuple[int, Deal] | None = None
        self._sources()
        names = {n for t in (None, *self._c.node_types) for n in self._columns[t]}
        if label is not None and as_ != "pyg":
            raise ValueError(f"found label={label!r} with as_={as_!r}, expected as_='pyg', because other forms have columns by name")
        if label is not None and label not in names:
            raise ValueError(unknown("label", label, names))
        self._kept: KeptGraphs | None = None
        if self.cache is not None and self._device is not None:
            self._kept = KeptGraphs(self.cache, self._device, self._c.fingerprint, self._columns, self._schema.bfloat16, self._ptr)

    def _sources(self) -> None:
        """The arrays from which packs are gathered."""
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
        for t, of_type in [*c.nodes.items(), *c.edges.items()]:  # rows are taken without a check of their range
            ptr = self._ptr[t]
            if ptr[0] != 0 or ptr[-1] != of_type.count:
                raise GraphmillError(f"{c.path}: {of_type.name}: found graphs from row {ptr[0]} to {ptr[-1]}, expected 0 to {of_type.count}")
        rows: dict[Any, int] = {**self.shape.nodes, **self.shape.edges, None: self.shape.graphs}
        # A row of nodes or edges has about 16 bytes besides its columns.
        self._bytes = max(1, sum(n * (16 + sum(x.itemsize * int(np.prod(x.shape[1:])) for x in columns[t].values())) for t, n in rows.items()))
        self._schema = PackSchema(self.shape, len(c.nodes) == 1 and len(c.edges) == 1, frozenset(bfloat16), self._label, self._stacked)

    def close(self) -> None:
        """Release the maps, except the maps of a `Collection` that was given."""
        self._columns, self._ptr, self._closed = {}, {}, True
        if self._owned:
            self._c.close()

    def __enter__(self) -> PackedLoader:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        of = f"{counted(len(self._graphs.ids), 'graph')} in {counted(self._layout.packs, 'pack')} of {counted(self.shape.graphs, 'graph')}"
        return f"PackedLoader({self._layout.path!r}, {self._c.path!r}, as_={self._form!r}): {of}, {counted(len(self), 'batch', 'batches')} per epoch"

    def _repr_html_(self) -> str:
        """The shape of a pack: rows of each type, including padding, and the columns that packs have."""
        rows = []
        sizes: list[tuple[Any, str, int]] = [(t, t, n) for t, n in self.shape.nodes.items()] + [(e, ":".join(e), n) for e, n in self.shape.edges.items()]
        for t, name, n in [*sizes, (None, "context", self.shape.graphs)]:
            of = self._c.context if t is None else (self._c.edges if isinstance(t, tuple) else self._c.nodes)[t].columns
            rows.append((name, n, listed([f"{c}: {of.described(c)}" for c in self._columns.get(t, ())])))
        return table(repr(self), ("type", "rows per pack", "columns"), rows)

    def _options(self) -> str:
        return f"PackedLoader {self._size} {self._tail_of_state()} {self._layout.fingerprint} {self._c.fingerprint}"

    def _fingerprint(self) -> str:
        return hashlib.blake2b(self._options().encode(), digest_size=8).hexdigest()

    def _count(self, epoch: int) -> int:
        packs = self._layout.packs
        return packs // self._size if self._tail == "drop" else -(-packs // self._size)

    def _make(self, epoch: int, numbers: range, real: int) -> Iterator[Any]:
        if self._closed:
            raise ValueError("found a loader that was closed, expected an open one")
        if self._deal is None or self._deal[0] != epoch:
            self._deal = epoch, Deal(self._layout, self._graphs, self._seed, epoch)
        deal = self._deal[1]
        none = np.empty(0, np.int64)
        per = max(1, _BLOCK // (self._size * self._bytes))
        for first in range(0, len(numbers), per):
            block, graphs, ends = numbers[first : first + per], [], []
            for b in block:
                at = self._source(b, real)
                packs = range(0) if at is None else range(at * self._size, min((at + 1) * self._size, self._layout.packs))
                graphs += deal.graphs(packs)
                if self._tail == "pad":
                    graphs += [none] * (self._size - len(packs))
                ends.append(len(graphs))
            made = self._gather(block[0], graphs)
            for b, start, end in zip(block, [0, *ends], ends):
                yield made._at(b, slice(start, end))

    def _convert(self, batch: PackBatch) -> Any:
        out = maker("packs", self._form)(self._schema, batch)
        if self._device is None:
            return out
        out, size = self._device.moved(out)
        self._stats.bytes_sent += size
        if self._kept is not None:
            self._stats.rows, self._stats.kept = self._kept.rows, self._kept.kept
            self._stats.bytes_sent -= self._kept.saved
            self._kept.saved = 0
        return out

    def __getstate__(self) -> dict[str, Any]:
        if self.cache is not None:
            raise TypeError(
                "found a loader with cache= that is sent to another process, expected one without: its rows are on a device of this process; leave num_workers=0"
            )
        return self.__dict__

    def _in_packs(self, t: Any, x: _Rows) -> dict[str, Any]:
        """The columns of a type."""
        columns = self._columns[t]
        kept = {} if self._kept is None else self._kept.packed(t, columns, x.put.rows())
        return {k: kept[k] if k in kept else x.put(v) for k, v in columns.items()}

    def _gather(self, number: int, packs: list[Array]) -> PackBatch:
        shape, c = self.shape, self._c
        at = _Places(packs, shape.graphs)
        graph_id = np.full((at.packs, shape.graphs), -1, np.int64)
        graph_id[at.pack, at.place] = at.ids
        graph_mask = graph_id >= 0
        nodes: dict[str, PackNodes] = {}
        for t, of in c.nodes.items():
            x = _Rows(at, self._ptr[t], shape.nodes[t])
            graph = np.repeat(np.arange(x.counts.size, dtype=np.int32) % shape.graphs, x.counts.ravel()).reshape(x.mask.shape)
            columns = self._in_packs(t, x)
            nodes[t] = PackNodes(x.counts, x.ptr, graph, x.mask, None if of.node_id is None else x.put(of.node_id), columns)
        edges: dict[EdgeType, PackEdges] = {}
        for e, of in c.edges.items():
            x = _Rows(at, self._ptr[e], shape.edges[e])
            ends = []
            for t, local in ((e[0], of.src), (e[2], of.dst)):
                first = nodes[t].ptr
                # Padding edges join the first padding node of their type.
                end = np.repeat(first[np.arange(at.packs), at.lengths][:, None], shape.edges[e], 1)
                end[x.mask] = local[x.rows].astype(np.int32) + np.repeat(first[at.pack, at.place], x.sizes)
                ends.append(end)
            columns = self._in_packs(e, x)
            edges[e] = PackEdges(x.counts, x.ptr, ends[0], ends[1], x.mask, None if of.edge_id is None else x.put(of.edge_id), columns)
        of_graphs = _Put(at.ids, graph_mask)
        context = {k: of_graphs(v) for k, v in self._columns[None].items()}
        return PackBatch(number, at.lengths, graph_id, graph_mask, nodes, edges, context)


class _Places:
    """The graphs of all packs, one pack after another: their ids, pack, and index in the pack."""

    def __init__(self, packs: list[Array], room: int) -> None:
        self.packs, self.room = len(packs), room
        self.ids = np.concatenate(packs)
        self.lengths = np.array([len(x) for x in packs], np.int32)
        self.pack = np.repeat(np.arange(self.packs), self.lengths)
        self.place = np.arange(len(self.ids)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)


class _Rows:
    """The rows of a type in all packs: their indices, the counts and offsets by graph, and the mask."""

    def __init__(self, at: _Places, starts: Array, room: int) -> None:
        first, last = starts[at.ids], starts[at.ids + 1]
        self.sizes, self.rows = last - first, ranges(first, last)
        self.counts = np.zeros((at.packs, at.room), np.int32)
        self.counts[at.pack, at.place] = self.sizes
        total = self.counts.sum(1)
        self.counts[np.arange(at.packs), at.lengths] = room - total
        self.ptr = np.zeros((at.packs, at.room + 1), np.int32)
        np.cumsum(self.counts, axis=1, out=self.ptr[:, 1:])
        self.mask = np.arange(room) < total[:, None]
        self.put = _Put(self.rows, self.mask)


class _Put:
    """Puts the given rows of arrays, in order, at the places where a mask is True, and zeros elsewhere."""

    def __init__(self, rows: Array, mask: Array) -> None:
        self._mask, self._padding = mask, np.flatnonzero(~mask)
        self._rows = np.zeros(mask.size, np.int64)
        self._rows[mask.ravel()] = rows

    def rows(self) -> Array:
        """The row at each place, int64; -1 where the mask is False."""
        out = self._rows.copy()
        out[self._padding] = -1
        return out.reshape(self._mask.shape)

    def __call__(self, values: Array) -> Array:
        if not len(values):
            return np.zeros((*self._mask.shape, *values.shape[1:]), values.dtype)
        out = np.empty((self._mask.size, *values.shape[1:]), values.dtype)
        np.take(values, self._rows, axis=0, out=out, mode="clip")  # "raise" would copy twice; all rows are in range
        out[self._padding] = 0
        return out.reshape(*self._mask.shape, *values.shape[1:])


def _device(form: str, device: Any, cache: Any) -> Device | None:
    """The device to which packs come; None if they stay where they are made."""
    if device is None and cache is None:
        return None
    if form == "jraph":
        from ._jax_device import JaxDevice

        return JaxDevice(device)
    if form != "pyg":
        given = "cache=" if device is None else f"device={device!r}"
        raise ValueError(f"found {given} with as_={form!r}, expected as_='pyg' or 'jraph', whose packs can be on a device")
    from ._torch_device import TorchDevice

    if device is not None:
        check_device(device)
    return TorchDevice(device)


def _left_out(c: Collection) -> Iterator[str]:
    for what, x in [*((n.name, n) for n in c.nodes.values()), *((e.name, e) for e in c.edges.values())]:
        if x._by_hop is not None:
            yield f"{what}: {x._hops}"
        yield from _unfixed(what, x.columns)
    if c.seed_ptr is not None:
        yield "context: seed_ptr, seed_local" + (", negative_local" if c.negatives else "")
    if c.component_ptr is not None:
        yield from (f"context: column {name} (one row per component)" for name in c.context)
    else:
        yield from _unfixed("context", c.context)


def _unfixed(what: str, columns: Any) -> Iterator[str]:
    for name in columns:
        x = columns.column(name)
        if not x.fixed:
            yield f"{what}: column {name} ({f'shape {list(x.shape)}' if x.offsets else 'strings'})"


@makes("packs", "numpy")
def _numpy(schema: PackSchema, batch: PackBatch) -> PackBatch:
    columns: dict[Any, dict[str, Array]] = {None: batch.context}
    columns.update((t, n.columns) for t, n in batch.nodes.items())
    columns.update((t, e.columns) for t, e in batch.edges.items())
    for t, name in schema.bfloat16:
        columns[t][name] = widened(columns[t][name])
    return batch if schema.stacked else batch.flat()
