"""Collections of many small graphs, as NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union, overload

import numpy as np

from ._arguments import integer
from ._arrays import Array
from ._command import GraphmillError
from ._folder import Column, Columns, EdgeType, Folder, human, metadata, triple, unknown
from ._html import counted, table
from ._makers import maker
from ._store import META, EdgeTypes, NodeTypes, Store

MAKER = "graphmill sample --format collection or graphmill import"


class Collection(Sequence["Graph"]):
    """Many graphs: a sequence of `Graph`, whose arrays are views of read-only maps.

    Args:
        path: the folder that ``graphmill import``, ``sample --format collection`` or ``pack materialise --format
            collection`` wrote.
        store: the store from which the graphs were sampled, or its path. The graphs then have its columns, whose rows
            ``node_id`` and ``edge_id`` select.

    Attributes:
        nodes: `CollectionNodes` by node type.
        edges: `CollectionEdges` by edge type, as in `Store`.
        context: columns with a row per graph (a row per component, if graphs have several).
        seed_type: the node types of the seeds of sampled graphs: one, or two for links.
        negatives: the number of negative links per link of sampled graphs; 0: none.
        meta: graph.json.

    Raises:
        GraphmillError: the folder is not a collection, or has changed since it was written.

    Example:
        >>> c = Collection("molecules.coll")
        >>> g = c[17]
        >>> g.nodes["atom"]["feat"], g.edges["bond"].edge_index, g.context["label"]
    """

    def __init__(self, path: str | os.PathLike[str], store: Store | str | os.PathLike[str] | None = None) -> None:
        self._folder = Folder(path, META, "a collection", MAKER)
        m = self.meta = self._folder.meta
        if m.get("kind") != "collection" or not m.get("context"):
            raise GraphmillError(
                f"{self.path}: found a {m.get('kind')} of one graph, expected a collection of many; {MAKER} makes one, graphmill.Store opens a store"
            )
        if store is not None and not isinstance(store, Store):
            store = Store(store)
        self.store = store
        with metadata(self._folder, META):
            context = m["context"]
            self._graphs, self._arrays = int(context["count"]), context.get("arrays") or {}
            self.seed_type: list[str] = context.get("seed_type") or []
            self.negatives = int(context.get("negatives") or 0)
            parts = self._graphs if self.component_ptr is None else int(self.component_ptr[-1])
            self.context = Columns(self._folder, f"{self.path}: context", context["columns"], parts)
            self.nodes: Mapping[str, CollectionNodes] = NodeTypes({t: CollectionNodes(self, t, m["nodes"][t]) for t in sorted(m["nodes"])})
            self.edges: Mapping[Any, CollectionEdges] = EdgeTypes({triple(e): CollectionEdges(self, triple(e), m["edges"][e]) for e in sorted(m["edges"])})
        for e in self.edges:
            for t in (e[0], e[2]):
                if t not in m["nodes"]:
                    raise GraphmillError(f"{self.path}: edge type {':'.join(e)}: found no node type {t!r}")

    @property
    def path(self) -> str:
        """The folder."""
        return self._folder.path

    @property
    def fingerprint(self) -> str:
        """The checksum of the manifest: equal for equal files."""
        return self._folder.fingerprint

    @property
    def node_types(self) -> list[str]:
        """The node types, in order of their numbers."""
        return list(self.nodes)

    @property
    def edge_types(self) -> list[EdgeType]:
        """The edge types, in order of their numbers."""
        return list(self.edges)

    def _index(self, arrays: Mapping[str, str], key: str, length: int | None) -> Array | None:
        name = arrays.get(key)
        return None if name is None else self._folder.index(name, length)

    @property
    def component_ptr(self) -> Array | None:
        """Graph i has the components ``component_ptr[i]`` to ``component_ptr[i + 1]``; None: each graph has one component."""
        return self._index(self._arrays, "component_ptr", self._graphs + 1)

    @property
    def seed_ptr(self) -> Array | None:
        """Graph i was sampled for the seeds ``seed_ptr[i]`` to ``seed_ptr[i + 1]``; None: it was not sampled."""
        return self._index(self._arrays, "seed_ptr", self._graphs + 1)

    @property
    def seed_local(self) -> Array | None:
        """The local id of each seed; for links [links, 2], source and destination."""
        ptr = self.seed_ptr
        if ptr is None:
            return None
        ends = max(1, len(self.seed_type))
        x = self._index(self._arrays, "seed_local", int(ptr[-1]) * ends)
        return x if x is None or ends == 1 else x.reshape(-1, ends)

    @property
    def negative_local(self) -> Array | None:
        """The local ids of the negative links of each link, [links, negatives, 2]; None without any."""
        ptr = self.seed_ptr
        if ptr is None or not self.negatives:
            return None
        x = self._index(self._arrays, "negative_local", int(ptr[-1]) * 2 * self.negatives)
        return None if x is None else x.reshape(-1, self.negatives, 2)

    def __len__(self) -> int:
        return self._graphs

    @overload
    def __getitem__(self, i: int) -> Graph: ...

    @overload
    def __getitem__(self, i: slice) -> list[Graph]: ...

    def __getitem__(self, i: int | slice) -> Graph | list[Graph]:
        if isinstance(i, slice):
            return [Graph(self, k) for k in range(self._graphs)[i]]
        k = integer("graph", i, -(1 << 63))
        if not -self._graphs <= k < self._graphs:
            raise IndexError(f"found graph {k}, expected 0 to {self._graphs - 1}")
        return Graph(self, k % self._graphs)

    def __iter__(self) -> Iterator[Graph]:
        for i in range(self._graphs):
            yield Graph(self, i)

    def to_pyg(self, graphs: int | slice | Iterable[int] = slice(None), label: str | None = None) -> Any:
        """A graph as PyG's ``Data``, or ``HeteroData`` if it has types; several graphs as a list.

        Columns become attributes of the node or edge store, and columns of the context attributes of the graph. They are
        copied; strings become lists. If one node column remains besides the label, it is named ``x``; likewise one edge
        column is named ``edge_attr``. A name that PyG uses, such as ``batch``, gets the prefix ``node_``, ``edge_`` or
        ``graph_``.

        Args:
            graphs: the number of a graph; a slice or numbers of several graphs.
            label: the column that becomes ``y``, of the context or else of nodes.
        """
        graph = maker("graph", "pyg")
        if isinstance(graphs, slice):
            return [graph(g, label) for g in self[graphs]]
        if isinstance(graphs, (int, np.integer)):
            return graph(self[graphs], label)
        return [graph(self[i], label) for i in graphs]

    def close(self) -> None:
        """Release the maps. Arrays that are in use stay readable; further accesses open the files again."""
        self._folder.close()

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getstate__(self) -> tuple[str, Store | None]:
        return self.path, self.store

    def __setstate__(self, state: tuple[str, Store | None]) -> None:
        Collection.__init__(self, *state)  # each process maps the files itself

    def __repr__(self) -> str:
        counts = (counted(sum(x.count for x in of.values()), what) for of, what in ((self.nodes, "node"), (self.edges, "edge")))
        return f"Collection({self.path!r}): {counted(self._graphs, 'graph')}, {', '.join(counts)}, {human(sum(self._folder.sizes.values()))}"

    def __str__(self) -> str:
        lines = [repr(self)] + [f"  {x!r}" for x in [*self.nodes.values(), *self.edges.values()]]
        return "\n".join([*lines, f"  context: {self.context!r}"])

    def _repr_html_(self) -> str:
        rows: list[tuple[str, int, str]] = [(x.name, x.count, x.columns.listed()) for x in [*self.nodes.values(), *self.edges.values()]]
        return table(repr(self), ("type", "count", "columns"), [*rows, ("context", self.context.rows, self.context.listed())])


class CollectionNodes:
    """The nodes of a type of all graphs.

    Attributes:
        type: the node type.
        count: the number of nodes.
        columns: by name, with the rows of all graphs.
    """

    _key, _ids, _hops = "node type", "node_id", "num_sampled_nodes"

    def __init__(self, collection: Collection, type_: Any, meta: Mapping[str, Any]) -> None:
        self._c, self._meta = collection, meta
        self.type, self.count = type_, int(meta["count"])
        self.name: str = type_ if isinstance(type_, str) else ":".join(type_)
        self.columns = Columns(collection._folder, f"{collection.path}: {self._key} {self.name}", meta["columns"], self.count)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, name: str) -> Array | Column:
        return self.columns[name]

    def _array(self, key: str, length: int | None) -> Array:
        x = self._c._index(self._meta["arrays"], key, length)
        if x is None:
            raise GraphmillError(f"{self._c.path}: {self._key} {self.name}: found no array {key!r} in {META}, expected its file")
        return x

    @property
    def graph_ptr(self) -> Array:
        """Graph i has the rows ``graph_ptr[i]`` to ``graph_ptr[i + 1]``."""
        return self._array("graph_ptr", len(self._c) + 1)

    @property
    def component_ptr(self) -> Array | None:
        """Component k has the rows ``component_ptr[k]`` to ``component_ptr[k + 1]``; None: each graph has one component."""
        return self._c._index(self._meta["arrays"], "component_ptr", None)

    @property
    def _of_store(self) -> Array | None:
        return self._c._index(self._meta["arrays"], self._ids, self.count)

    @property
    def _by_hop(self) -> Array | None:
        name = self._meta["arrays"].get(self._hops)
        return None if name is None else self._c._folder.array(name, ("uint32",), (len(self._c), None))

    @property
    def node_id(self) -> Array | None:
        """The type-wise id of each node in the store that was sampled, or None."""
        return self._of_store

    @property
    def num_sampled_nodes(self) -> Array | None:
        """The number of nodes that each hop found, from hop 0: [graphs, hops + 1]; None: the graphs were not sampled."""
        return self._by_hop

    def _joined(self) -> Columns | None:
        return None if self._c.store is None or self._of_store is None else self._c.store.nodes[self.name].columns

    def __repr__(self) -> str:
        return f"{self.name}: {self.count:,} nodes {self.columns!r}"


class CollectionEdges(CollectionNodes):
    """The edges of a type of all graphs."""

    _key, _ids, _hops = "edge type", "edge_id", "num_sampled_edges"

    @property
    def src(self) -> Array:
        """The source of each edge, counted from its graph's first node of the type."""
        return self._array("src", self.count)

    @property
    def dst(self) -> Array:
        """The destination of each edge."""
        return self._array("dst", self.count)

    @property
    def edge_id(self) -> Array | None:
        """The id of each edge in the store that was sampled, or None."""
        return self._of_store

    @property
    def num_sampled_edges(self) -> Array | None:
        """The number of edges that were kept in each hop, from hop 1: [graphs, hops]; None: the graphs were not sampled."""
        return self._by_hop

    def _joined(self) -> Columns | None:
        return None if self._c.store is None or self._of_store is None else self._c.store.edges[self.type].columns

    def __repr__(self) -> str:
        return f"{self.name}: {self.count:,} edges {self.columns!r}"


class Rows(Mapping[str, Union[Array, Column]]):
    """The rows of a graph in columns. They are views; rows of a store's columns are copied."""

    def __init__(self, columns: Columns, start: int, stop: int, joined: Columns | None = None, ids: Array | None = None) -> None:
        self._columns, self._start, self._stop, self._joined, self._ids = columns, start, stop, joined, ids

    def column(self, name: str) -> Column:
        """A column as a `Column`, whatever it holds."""
        if name not in self._columns and self._joined is not None and name in self._joined and self._ids is not None:
            return self._joined.column(name).take(self._ids)
        if name not in self._columns:
            raise KeyError(unknown("column", name, list(self)))
        return self._columns.column(name).slice(self._start, self._stop)

    def __getitem__(self, name: str) -> Array | Column:
        c = self.column(name)
        return c.values if c.plain else c

    def __iter__(self) -> Iterator[str]:
        joined = [] if self._joined is None else [n for n in self._joined if not n.startswith("#")]
        return iter(sorted({*self._columns, *joined}))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<{', '.join(self)}: {self._stop - self._start} rows>"


class GraphNodes:
    """The nodes of a type of one graph; ``nodes["feat"]`` is one of their columns.

    Attributes:
        type: the node type.
        count: the number of nodes; local ids are 0 to count - 1.
        columns: by name.
    """

    def __init__(self, of: CollectionNodes, i: int) -> None:
        ptr = of.graph_ptr
        self._of, self._i = of, i
        self._start, self._stop = int(ptr[i]), int(ptr[i + 1])
        self.type, self.count = of.type, self._stop - self._start
        self.columns = Rows(of.columns, self._start, self._stop, of._joined(), self._ids)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, name: str) -> Array | Column:
        return self.columns[name]

    @property
    def _ids(self) -> Array | None:
        x = self._of._of_store
        return None if x is None else x[self._start : self._stop]

    @property
    def _by_hop(self) -> list[int] | None:
        x = self._of._by_hop
        return None if x is None else x[self._i].tolist()

    @property
    def node_id(self) -> Array | None:
        """The type-wise id of each node in the store that was sampled, or None."""
        return self._ids

    @property
    def num_sampled_nodes(self) -> list[int] | None:
        """The number of nodes that each hop found, from hop 0."""
        return self._by_hop

    def __repr__(self) -> str:
        return f"{self._of.name}: {self.count} {self.columns!r}"


class GraphEdges(GraphNodes):
    """The edges of a type of one graph."""

    _of: CollectionEdges

    @property
    def src(self) -> Array:
        """The source of each edge, a local id."""
        return self._of.src[self._start : self._stop]

    @property
    def dst(self) -> Array:
        """The destination of each edge, a local id."""
        return self._of.dst[self._start : self._stop]

    @property
    def edge_index(self) -> Array:
        """Sources and destinations, int64 [2, count]: a copy."""
        return np.stack([self.src, self.dst]).astype(np.int64)

    @property
    def edge_id(self) -> Array | None:
        """The id of each edge in the store that was sampled, or None."""
        return self._ids

    @property
    def num_sampled_edges(self) -> list[int] | None:
        """The number of edges that were kept in each hop, from hop 1."""
        return self._by_hop


class Op(NamedTuple):
    """The nodes that an op expanded and the edges that it drew in one graph: local ids, and edge ids of the store."""

    frontier: Array
    src: Array
    dst: Array
    edge_id: Array


class Graph:
    """One graph of a collection.

    Attributes:
        collection: the collection that has the graph.
        number: the graph's number in the collection.
    """

    def __init__(self, collection: Collection, i: int) -> None:
        self.collection, self.number = collection, i

    @property
    def nodes(self) -> Mapping[str, GraphNodes]:
        """`GraphNodes` by node type."""
        return NodeTypes({t: GraphNodes(n, self.number) for t, n in self.collection.nodes.items()})

    @property
    def edges(self) -> Mapping[Any, GraphEdges]:
        """`GraphEdges` by edge type."""
        return EdgeTypes({t: GraphEdges(e, self.number) for t, e in self.collection.edges.items()})

    @property
    def components(self) -> int:
        """The number of components."""
        ptr = self.collection.component_ptr
        return 1 if ptr is None else int(ptr[self.number + 1]) - int(ptr[self.number])

    @property
    def context(self) -> Rows:
        """The columns of the graph as a whole, with a row per component, so usually one row."""
        ptr, i = self.collection.component_ptr, self.number
        return Rows(self.collection.context, *((i, i + 1) if ptr is None else (int(ptr[i]), int(ptr[i + 1]))))

    @property
    def seed_local(self) -> Array | None:
        """The local id of each seed; for links [links, 2]."""
        ptr, x = self.collection.seed_ptr, self.collection.seed_local
        return None if ptr is None or x is None else x[int(ptr[self.number]) : int(ptr[self.number + 1])]

    @property
    def negative_local(self) -> Array | None:
        """The local ids of the negative links of each link, [links, negatives, 2]; None without any."""
        ptr, x = self.collection.seed_ptr, self.collection.negative_local
        return None if ptr is None or x is None else x[int(ptr[self.number]) : int(ptr[self.number + 1])]

    def op(self, k: int) -> Op:
        """The work of op k of the plan, from 1, if the collection was sampled with ops."""
        c, i = self.collection, self.number
        parts = []
        for ptr_name, names in (("frontier_ptr", ("frontier",)), ("edge_ptr", ("src", "dst", "edge_id"))):
            ptr = c._index(c._arrays, f"op_{k}_{ptr_name}", len(c) + 1)
            if ptr is None:
                raise KeyError(f"{c.path}: found no op {k}, expected an op of a collection that was sampled with ops")
            for name in names:
                x = c._index(c._arrays, f"op_{k}_{name}", int(ptr[-1]))
                assert x is not None
                parts.append(x[int(ptr[i]) : int(ptr[i + 1])])
        return Op(*parts)

    def to_pyg(self, label: str | None = None) -> Any:
        """This graph as PyG's ``Data`` or ``HeteroData``; see `Collection.to_pyg`."""
        return self.collection.to_pyg(self.number, label)

    def __repr__(self) -> str:
        nodes = ", ".join(f"{n.count} {t}" for t, n in self.nodes.items())
        edges = ", ".join(f"{e.count} {':'.join(t)}" for t, e in self.edges.items())
        return f"Graph({self.number}: nodes {nodes}; edges {edges})"
