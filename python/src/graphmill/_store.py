"""Stores as NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ._arguments import integer
from ._arrays import Array, numpy
from ._command import GraphmillError
from ._features import Feature, TypeColumns
from ._folder import Column, Columns, EdgeType, Folder, edge_type, human, int64, metadata, triple, unknown
from ._html import counted, table
from ._made_columns import Rows, drop_column, write_column
from ._makers import maker
from ._run import run
from ._segments import merged
from ._xxh3 import xxh3

META = "graph.json"
_SPARSE = 256  # nodes per id from which on looking ids up is faster than reading all
_BLOCK = 1 << 16  # nodes whose ids are read at once


class Store:
    """A store: its arrays as read-only maps, each opened on first use.

    Args:
        path: the folder that ``graphmill import`` or ``generate`` wrote.

    Attributes:
        nodes: `Nodes` by node type.
        edges: `Edges` by edge type: ``("author", "writes", "paper")``, "author:writes:paper", or "writes" if
            only one edge type has that relation.
        context: columns of the graph as a whole.
        meta: graph.json.

    Raises:
        GraphmillError: the folder is not a store, or has changed since it was written.

    Note:
        The process ends with SIGBUS where it reads an array whose file another program has cut meanwhile, as with
        any map of NumPy. Replace a store by a new folder; never write into one.

    Example:
        >>> g = Store("g.store")
        >>> g.nodes["paper"]["feat"][:3]          # float32 [3, 128]
        >>> cites = g.edges["cites"]
        >>> cites.neighbours[cites.indptr[7] : cites.indptr[8]]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._folder = Folder(path, META, "a store", "graphmill import or graphmill generate", (1, 2))
        m = self.meta = self._folder.meta
        if m.get("kind") != "store":
            raise GraphmillError(f"{self.path}: found a {m.get('kind')}, expected a store of one graph; graphmill.Collection opens a collection")
        with metadata(self._folder, META):
            if "segments" in m:
                m = merged(self._folder)
            self.nodes: Mapping[str, Nodes] = NodeTypes({t: Nodes(self._folder, t, m["nodes"][t]) for t in sorted(m["nodes"])})
            counts = {t: n.count for t, n in self.nodes.items()}
            self.edges: Mapping[Any, Edges] = EdgeTypes({triple(e): Edges(self._folder, triple(e), m["edges"][e], counts) for e in sorted(m["edges"])})
            context = m.get("context") or {"count": 0, "columns": {}}
            self.context = Columns(self._folder, f"{self.path}: context", context["columns"], context["count"])

    @property
    def path(self) -> str:
        """The folder."""
        return self._folder.path

    @property
    def node_types(self) -> list[str]:
        """The node types, in order of their numbers."""
        return list(self.nodes)

    @property
    def edge_types(self) -> list[EdgeType]:
        """The edge types, in order of their numbers."""
        return list(self.edges)

    @property
    def num_nodes(self) -> int:
        """The number of nodes of all types."""
        return sum(n.count for n in self.nodes.values())

    @property
    def num_edges(self) -> int:
        """The number of edges of all types."""
        return sum(e.count for e in self.edges.values())

    def to_arrays(self) -> tuple[dict[str, Any], dict[EdgeType, Any]]:
        """The nodes and edges as `from_arrays` takes them, in the order of the imported input.

        Columns of numbers are arrays, which may be maps of the store's files; columns of strings, lists, times,
        categories and bfloat16 are `Column`. The edges and their columns are copies, unless the store has them in that order.
        """
        made: tuple[dict[str, Any], dict[EdgeType, Any]] = maker("store", "arrays")(self)
        return made

    def to_tables(self, as_: str = "pandas") -> tuple[dict[str, Any], dict[EdgeType, Any]]:
        """A table per node type and per edge type, in the order of the imported input.

        Tables of nodes begin with the column ``id``, tables of edges with ``source`` and ``target``; these are the original
        ids. Times, categories and missing values are as the library has them.

        Args:
            as_: "pandas", "polars" or "arrow".
        """
        made: tuple[dict[str, Any], dict[EdgeType, Any]] = maker("store", "tables")(self, as_)
        return made

    def to_pyg(self) -> Any:
        """The graph as a `Data` if it has no types, else as a `HeteroData`, in the order of the imported input.

        Every column is an attribute of its name; columns of strings and lists are Python lists. If a graph without types has
        a column of nodes and one of edges with the same name, the column of the edges gets the prefix ``edge_``.
        """
        return maker("store", "pyg")(self)

    def to_dgl(self, idtype: Any = None) -> Any:
        """The graph as a ``DGLGraph`` with its types, in the order of the imported input; columns are its ndata and edata.

        Columns of strings and lists are left out, with a warning.

        Args:
            idtype: ``torch.int32``, or ``torch.int64``, the default.
        """
        return maker("store", "dgl")(self, idtype)

    def to_networkx(self, directed: bool = True, multigraph: bool | None = None) -> Any:
        """The graph, which has no types, as a NetworkX graph, in the order of the imported input.

        The nodes are the original ids. Columns are attributes, and values that ``NAME_missing`` marks are left out.

        Args:
            directed: False makes one edge of both directions of an edge, which must follow each other, as `from_networkx`
                writes them.
            multigraph: whether parallel edges are kept; by default the graph is a multigraph if it has any.
        """
        return maker("store", "networkx")(self, directed, multigraph)

    def features(self, type_: Any) -> Mapping[str, Feature]:
        """The features of a node or edge type, by name: what each number of them is, and how to get back what they are made of.

        Example:
            >>> x = Store("g.store").features("user")["x"]
            >>> x.names
            ['age', 'city=Berlin', 'city=Paris', 'city other', 'city missing']

        Raises:
            KeyError: the store has no such type, or several edge types of the relation.
        """
        return self._of(type_).columns.features

    def add_column(
        self,
        type_: Any,
        name: str,
        values: Any,
        source: str | Sequence[str] = (),
        *,
        rows: int = 4096,
        category: bool = False,
        resume: bool = False,
    ) -> None:
        """Add a column that a function makes from other columns, or that an array has.

        The function gets a dict by the names of ``source`` with the next rows of these columns, and returns the values of its rows.
        Columns of numbers are arrays, times are ``datetime64``, bfloat16 is float32; strings, lists and categories are lists (of str, of
        arrays, of str or None), and ``"#id"`` stands for the original ids. The values are an array or a tensor (also of bfloat16), a list of
        texts, or a list of arrays of different lengths; each block must have the dtype and shape of the first.

        What the function returned is collected in a folder beside the store and recorded every 10 seconds, and when the function
        fails. Then the store gets a new version in one step: no other file is written again, as its other files are
        hard links to the files of the version before. This object shows the new version. Other objects, and loaders that run, keep the
        version that they have opened.

        Args:
            type_: a node type; or an edge type by its three names, as "src:rel:dst", or by its relation. The rows are in the order of
                the type-wise ids of the nodes, or of the edge ids.
            name: the name of the column.
            values: a function, or an array, tensor or list with a row for each node or edge.
            source: the columns of the type that the function gets.
            rows: the number of rows that the function gets at a time, but for the last.
            category: whether the values, which are texts, become categories, which batches have as codes.
            resume: continue the work of a call with the same arguments, if there is any. The function must be the same too: nothing
                checks that. What was begun with other arguments, or from other values, begins anew, with a warning.

        Raises:
            GraphmillError: the function raised an error, or returned another number of rows, or rows of another dtype or shape; the error names
                the block. What was done stays for ``resume=True``.
            KeyError: an unknown type.
            ValueError: a column of the name is there; an unknown column; another number of rows.

        Example:
            >>> store.add_column("paper", "emb", lambda of: model.encode(of["title"]), source=["title"])
        """
        self._change(write_column, type_, "add", name, values, source, rows, category, resume)

    def replace_column(
        self,
        type_: Any,
        name: str,
        values: Any,
        source: str | Sequence[str] = (),
        *,
        rows: int = 4096,
        category: bool = False,
        resume: bool = False,
    ) -> None:
        """`add_column` for a column that is there, which may be among ``source``. The new values may have another dtype."""
        self._change(write_column, type_, "replace", name, values, source, rows, category, resume)

    def drop_column(self, type_: Any, name: str) -> None:
        """Remove a column, as `add_column` adds one."""
        self._change(drop_column, type_, name)

    def append(
        self,
        source: Any = None,
        *more: str | os.PathLike[str],
        ids: Mapping[str, str] | None = None,
        ends: Mapping[Any, tuple[str, str]] | None = None,
        **options: Any,
    ) -> Any:
        """Add the new nodes and edges of tables, as if they had been imported with the others: edges come after those that a node has.

        With ``drop=`` edges end first, and with ``change=`` in place of ``source`` columns get new values.

        The store gets a new version in one step. This object shows it; other objects, and loaders that run, keep the version that they have opened.

        Args:
            source: the tables: a file of edges, a graph.yaml or its folder, or a dict by node type and edge type of tables as `from_tables` takes them:
                ``{"user": users, ("user", "buys", "item"): buys}``. None with ``drop=`` or ``change=`` alone.
            more: further files of edges.
            ids, ends: as for `from_tables`, for all dicts.
            options: flags of ``graphmill append`` as keywords: ``missing="float=nan"``. ``drop=`` and ``change=`` may be dicts of tables, too.

        Returns:
            The report of the command.

        Raises:
            GraphmillError: the tables do not fit the store, which is as it was.

        Example:
            >>> store.append("monday/")
            >>> store.append({("user", "buys", "item"): duckdb.sql("FROM 'tuesday.parquet'")})
            >>> store.append(change={"user": corrected})
        """
        given: dict[str, Any] = {"source": source, **{name: options[name] for name in ("drop", "change") if name in options}}
        with maker("append", "tables")(self, given, ids, ends) as of:
            source = of.pop("source")
            report = run("append", self.path, *([] if source is None else [source]), *more, **{**options, **of})
        self._reopen()
        return report

    def _change(self, change: Callable[..., None], type_: Any, *given: Any) -> None:
        """Change a column of a type, and open the new version."""
        if "segments" in self.meta:
            raise GraphmillError(f"{self.path}: found a store with segments, expected one in one piece; run graphmill compact on it")
        change(self._rows(type_), *given)
        self._reopen()

    def _reopen(self) -> None:
        """Open the new version of the folder."""
        old = self._folder
        Store.__init__(self, self.path)
        self._folder.kept = old if old.kept is None else old.kept  # a temporary folder is removed with the object of its first version
        old.close()

    def _rows(self, type_: Any) -> Rows:
        """The rows of a type, whose columns can be changed."""
        x = self._of(type_)
        if isinstance(x, Nodes):
            return Rows(self._folder, x.type, x.count, x.columns, x.ids, sorted([x._meta["ids"]["file"]] if x.ids is not None else []))
        return Rows(self._folder, x.name, x.count, x.columns, None, sorted(x._meta["arrays"].values()))

    def _of(self, type_: Any) -> Nodes | Edges:
        """The nodes or edges of a type."""
        if isinstance(type_, str) and type_ in self.nodes:
            nodes: Nodes = self.nodes[type_]
            return nodes
        if not isinstance(type_, str) and not (isinstance(type_, (tuple, list)) and all(isinstance(n, str) for n in type_)):
            raise TypeError(f"found type_={type_!r}, expected a node type, or an edge type such as ('author', 'writes', 'paper')")
        try:
            edges: Edges = self.edges[type_]
        except KeyError:
            name = type_ if isinstance(type_, str) else ":".join(type_)
            if name in [e[1] for e in self.edges]:  # of several edge types, which the error lists
                raise
            raise KeyError(unknown("type", name, [*self.nodes, *map(":".join, self.edges)])) from None
        return edges

    def close(self) -> None:
        """Release the maps. Arrays that are in use stay readable; further accesses open the files again."""
        self._folder.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getstate__(self) -> str:
        return self.path

    def __setstate__(self, path: str) -> None:
        Store.__init__(self, path)  # each process maps the files itself

    def __repr__(self) -> str:
        types = (
            f"{counted(n, what)} of {counted(len(of), 'type')}" for n, what, of in ((self.num_nodes, "node", self.nodes), (self.num_edges, "edge", self.edges))
        )
        return f"Store({self.path!r}): {', '.join(types)}, {human(sum(self._folder.sizes.values()))}"

    def __str__(self) -> str:
        return "\n".join([repr(self)] + [f"  {x!r}" for x in [*self.nodes.values(), *self.edges.values()]])

    def _repr_html_(self) -> str:
        both: list[Nodes | Edges] = [*self.nodes.values(), *self.edges.values()]
        rows = [(x.name, x.count, x.columns.listed()) for x in both]
        return table(repr(self), ("type", "count", "columns"), rows)


class NodeTypes(Mapping[str, Any]):
    """A mapping from node types."""

    def __init__(self, of: Mapping[str, Any]) -> None:
        self._of = of

    def __getitem__(self, name: str) -> Any:
        if name not in self._of:
            raise KeyError(unknown("node type", name, self._of))
        return self._of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._of.values()))


class EdgeTypes(Mapping[Any, Any]):
    """A mapping from edge types; a key is the three names or the relation."""

    def __init__(self, of: Mapping[EdgeType, Any]) -> None:
        self._of = of

    def __getitem__(self, name: Any) -> Any:
        return self._of[edge_type(name, list(self._of))]

    def __iter__(self) -> Iterator[EdgeType]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._of.values()))


class Nodes:
    """The nodes of a type.

    Attributes:
        type: the node type.
        count: the number of nodes; type-wise ids are 0 to count - 1.
        columns: by name; ``nodes["feat"]`` is ``nodes.columns["feat"]``.
    """

    def __init__(self, folder: Folder, type_: str, meta: Mapping[str, Any]) -> None:
        self._folder, self._meta = folder, meta
        self.type, self.count = type_, int(meta["count"])
        self.columns = TypeColumns(folder, f"{folder.path}: node type {type_}", meta["columns"], self.count, "nodes", type_)

    @property
    def name(self) -> str:
        """The node type."""
        return self.type

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, name: str) -> Array | Column:
        return self.columns[name]

    @property
    def ids(self) -> Array | Column | None:
        """Original ids: a `Column` of strings, an array of integers, or None if they equal the type-wise ids."""
        meta = self._meta.get("ids")
        if meta is None:
            return None
        c = self._folder.column("#id", meta, self.count)
        return c.values if c.plain else c

    def find(self, ids: Any) -> Any:
        """The type-wise id of an original id, as an int; for a sequence of ids, an int64 array.

        Each id costs about two random reads; for a sequence that has more than one for each 256 nodes, all ids are read once.

        Raises:
            KeyError: no node has the id.
        """
        if isinstance(ids, (str, bytes, int, float, np.generic)):
            return self._find(ids)
        given = list(ids)
        out = self._found(given)
        if (out < 0).any():
            self._find(given[int(np.argmax(out < 0))])  # which raises the error
        return out

    def _found(self, ids: Any) -> Array:
        """`find` for a sequence of ids, with -1 for those that no node has."""
        have = self.ids
        keys = [_key(x, isinstance(have, Column)) for x in ids]
        if have is None:
            return np.fromiter((k if 0 <= k < self.count else -1 for k in keys), np.int64, len(keys))
        wanted = dict.fromkeys(keys, -1)
        if len(wanted) <= self.count // _SPARSE:
            for k in wanted:
                wanted[k] = self._at(k)
            return np.fromiter((wanted[k] for k in keys), np.int64, len(keys))
        for start in range(0, self.count, _BLOCK):
            for i, k in enumerate(have[start : start + _BLOCK].tolist(), start):
                if k in wanted:
                    wanted[k] = i
        return np.fromiter((wanted[k] for k in keys), np.int64, len(keys))

    def _find(self, x: Any) -> int:
        key = _key(x, isinstance(self.ids, Column))
        if self.ids is None:
            if 0 <= key < self.count:
                return int(key)
            raise KeyError(f"{self.type}: found id {x!r}, expected 0 to {self.count - 1}")
        at = self._at(key)
        if at < 0:
            raise KeyError(f"{self.type}: found no node with the id {x!r}")
        return at

    def _at(self, key: Any) -> int:
        """The type-wise id of the node with an id of the store's form, by the index of the store; -1 if there is none."""
        have = self.ids
        if not isinstance(key, str) and not 0 <= key < 1 << 64:
            return -1
        b = key.encode("utf-8", "surrogateescape") if isinstance(key, str) else key.to_bytes(8, "little")
        digest = xxh3(b)
        for x in self._meta.get("indexes") or [{"first": 0, "count": self.count, "arrays": self._meta["arrays"]}]:
            bits = max(x["count"] - 1, 0).bit_length()
            buckets = self._folder.index(x["arrays"]["id_buckets"], (1 << bits) + 1)
            slots = self._folder.index(x["arrays"]["id_slots"], x["count"])
            bucket = digest >> (64 - bits)
            for slot in slots[int(buckets[bucket]) : int(buckets[bucket + 1])].tolist():
                k = x["first"] + slot
                if slot >= x["count"]:  # a damaged index
                    continue
                if isinstance(have, Column):
                    at = have.string_offsets
                    assert at is not None
                    same = have.values[int(at[k]) : int(at[k + 1])].tobytes() == b
                else:
                    assert have is not None
                    same = have[k].tobytes() == b
                if same:
                    return int(k)
        return -1

    def __repr__(self) -> str:
        return f"{self.type}: {self.count:,} nodes {self.columns!r}"


def _key(x: Any, text: bool) -> Any:
    """An id in the form of a store whose ids are texts or integers."""
    if text:
        return x if isinstance(x, str) else x.decode("utf-8", "surrogateescape") if isinstance(x, bytes) else str(x)
    try:
        return int(x) if isinstance(x, (str, bytes)) else integer("id", x, -(1 << 63))
    except ValueError:
        return -1


class Edges:
    """The edges of a type, numbered by (primary end, input order).

    Attributes:
        type: source node type, relation, destination node type.
        count: the number of edges; edge ids are 0 to count - 1.
        primary: "in": edges are numbered by destination; "out": by source.
        columns: by name, in edge-id order; ``edges["weight"]`` is ``edges.columns["weight"]``. `find` gives the edge ids of a
            batch's ``e_id``, which counts in the order of the input.
    """

    def __init__(self, folder: Folder, type_: EdgeType, meta: Mapping[str, Any], counts: Mapping[str, int]) -> None:
        self._folder, self._meta = folder, meta
        self.type, self.count, self.primary = type_, int(meta["count"]), str(meta["primary"])
        self.columns = TypeColumns(folder, f"{folder.path}: edge type {self.name}", meta["columns"], self.count, "edges", self.name)
        ends = (type_[2], type_[0]) if self.primary == "in" else (type_[0], type_[2])
        for t in ends:
            if t not in counts:
                raise GraphmillError(f"{folder.path}: edge type {':'.join(type_)}: found no node type {t!r}")
        self._near, self._far = counts[ends[0]], counts[ends[1]]
        self._by_position: tuple[Array, Array] | None = None  # the positions in ascending order, and their edge ids

    @property
    def name(self) -> str:
        """The edge type as one text, "src:rel:dst"."""
        return ":".join(self.type)

    @property
    def has_positions(self) -> bool:
        """Whether the order of the edges in the input is known: False after ``graphmill import --no-positions``."""
        return not self._meta.get("no_positions", False)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, name: str) -> Array | Column:
        return self.columns[name]

    def _index(self, key: str, length: int) -> Array | None:
        name = self._meta["arrays"].get(key)
        return None if name is None else self._folder.index(name, length)

    def _need(self, key: str, length: int) -> Array:
        x = self._index(key, length)
        if x is None:
            raise GraphmillError(f"{self._folder.path}: edge type {':'.join(self.type)}: found no array {key!r} in {META}, expected its file")
        return x

    @property
    def indptr(self) -> Array:
        """The offset of each node's edges in `neighbours`, and the end of the last: [nodes + 1]."""
        return self._need("indptr", self._near + 1)

    @property
    def neighbours(self) -> Array:
        """The other end of each edge, in edge-id order: the source if primary is "in", else the destination."""
        return self._need("far", self.count)

    @property
    def other_indptr(self) -> Array | None:
        """Like `indptr`, in the other direction; None if that is not stored."""
        return self._index("other_indptr", self._far + 1)

    @property
    def other_neighbours(self) -> Array | None:
        """Like `neighbours`, in the other direction; None if that is not stored."""
        return self._index("other_far", self.count)

    @property
    def other_edge_id(self) -> Array | None:
        """The edge id of each of `other_neighbours`."""
        return self._index("other_edge_id", self.count)

    def edge_index(self, order: str = "id") -> Array:
        """Sources and destinations, int64 [2, count], newly allocated.

        Args:
            order: "id": in edge-id order, like the columns; "input": in the order of the imported input, like ``e_id``. In a symmetrised type
                an edge and its reverse share a position, so that there is one column for both: the column of the edge that `find` gives.

        Raises:
            GraphmillError: with "input": some edges of the input are not in the store, or the store has no positions.
        """
        if order not in ("id", "input"):
            raise ValueError(f"found order={order!r}, expected id or input")
        near_ptr, far = int64(self.indptr), self.neighbours  # the sizes of these files confirm the number of edges
        out = np.empty((2, self.count), np.int64)
        near = int(self.primary == "in")
        if order == "input" and not self.has_positions:
            raise GraphmillError(
                f"{':'.join(self.type)}: found no positions of the edges in the input, because the import left them out (--no-positions); give order='id'"
            )
        out[near] = np.repeat(np.arange(self._near), np.diff(near_ptr))
        out[1 - near] = far
        return out if order == "id" or "#input_position" not in self.columns else out[:, self._by_input()]

    def _by_input(self) -> Array:
        """The edge id at each position of the input, the lower one where two edges share it."""
        have = np.asarray(self.columns["#input_position"])
        ids = np.flatnonzero(have != np.iinfo(have.dtype).max)  # of edges that the import did not add
        at = int64(have)[ids]
        rows = int(at.max()) + 1 if len(at) else 0
        out = np.full(min(rows, self.count), -1)
        if rows <= self.count:
            out[at[::-1]] = ids[::-1]
        if rows > self.count or (out < 0).any():
            raise GraphmillError(
                f"{':'.join(self.type)}: found edges at some positions of the input only, expected one at each, because the import left some out; give order='id'"
            )
        return out

    def find(self, e_id: Any) -> Any:
        """The edge id at a position of the imported input, which batches have as ``e_id``; for an array, an int64 array.

        ``edges["weight"][edges.find(batch.e_id)]`` are the weights of a batch's edges. An edge and the reverse that a
        symmetrised type has of it share a position: this is the lower of their edge ids. Both have the same columns, unless
        a weight was normalised; ``edge_features=`` of the loader tells them apart. The first call sorts all positions, and
        keeps 16 bytes per edge.

        Raises:
            KeyError: no edge has the position, or it belongs to self-loops that the import added.
        """
        at = integer("e_id", e_id, 0) if isinstance(e_id, (int, np.integer)) else numpy(e_id)
        want = np.atleast_1d(at)
        if want.size == 0:
            return np.empty(want.shape, np.int64)
        if want.dtype.kind not in "iu":
            raise ValueError(f"found e_id of dtype {want.dtype}, expected integers")
        added = None
        if "#input_position" in self.columns:
            if self._by_position is None:
                have = np.asarray(self.columns["#input_position"])
                order = np.argsort(have, kind="stable")
                self._by_position = int64(have[order]), order
            positions, ids = self._by_position
            k = np.minimum(np.searchsorted(positions, want), max(self.count - 1, 0))
            added = np.iinfo(np.asarray(self.columns["#input_position"]).dtype).max
            bad = np.ones(want.shape, bool) if not self.count else (positions[k] != want) | (want == added)
            out = ids[k] if self.count else k
        else:  # e_id is the edge id
            out, bad = int64(want), (want < 0) | (want >= self.count)
        if bad.any():
            p = int(want[bad][0])
            if p == added:
                raise KeyError(
                    f"{':'.join(self.type)}: found position {p}, the one of self-loops that the import added, expected a position of the input; give edge_features= to the loader"
                )
            raise KeyError(f"{':'.join(self.type)}: found no edge at position {p} of the input")
        return out if isinstance(at, np.ndarray) else int(out[0])

    def __repr__(self) -> str:
        both = ", both directions" if self.other_indptr is not None else ""
        return f"{':'.join(self.type)}: {self.count:,} edges by {'destination' if self.primary == 'in' else 'source'}{both} {self.columns!r}"
