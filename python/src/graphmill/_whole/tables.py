"""Whole graphs as data frames and tables: which columns are the ids of nodes and the ends of edges."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, Callable

import numpy as np

from .._arguments import choice, mapping
from .._folder import _DTYPES, Column, EdgeType, apart
from .._makers import makes
from .._store import Nodes as StoreNodes
from .._store import Store
from .build import Edges, Nodes, build, said_of, triple_of, write_graph
from .columns import MISSING, column, columns, strings
from .frames import fields, to_arrow, to_pandas, to_polars
from .input_order import input_order, take
from .streams import Spool, reader_of

# The usual names of ids and of the ends, as in internal/ingest/header.go; names that belong together have the same places.
_IDS = ("#id", "id", "node_id", "nodeId", ":ID")
_SOURCES = ("#source", "src", "source", "from", "from_id", "src_id", "source_id", "FromNodeId", ":START_ID", "head", "u", "source", "src")
_TARGETS = ("#target", "dst", "target", "to", "to_id", "dst_id", "target_id", "ToNodeId", ":END_ID", "tail", "v", "destination", "destination")


def from_tables(
    nodes: Mapping[str, Any],
    edges: Mapping[Any, Any],
    path: str | os.PathLike[str] | None = None,
    *,
    ids: Mapping[str, str] | None = None,
    ends: Mapping[Any, tuple[str, str]] | None = None,
    overwrite: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Store:
    """Make a store of tables: data frames of pandas or polars, Arrow tables, mappings from names to arrays or lists, or what gives batches of Arrow (which needs
    pyarrow): any object with ``__arrow_c_stream__``, such as a result of DuckDB, scanners and datasets of pyarrow and Lance, tables of delta-rs and pyiceberg.

    Batches are written to a temporary folder beside ``path`` as they come, so such a table may be larger than memory.

    Numbers and bools keep their dtypes. Strings are columns of strings, lists of one length are vectors, other lists have
    variable rows. Times are int64 in their unit. Where values are missing, the column has NaN, 0 or the empty string, and
    the column ``NAME_missing`` is True.

    Args:
        nodes: by node type, a table with a row per node, or the number of nodes.
        edges: by edge type, ``("user", "buys", "item")`` or "user:buys:item", a table with a row per edge.
        path: the folder to write; None makes a store in a temporary folder, which is removed when the `Store` is.
        ids: by node type, the column of the ids that edges refer to, integers or strings. By default it is ``#id``, ``id``,
            ``node_id``, ``nodeId`` or ``:ID``, in any case of the letters, or ``TYPE_id``; without such a column the ids are the row numbers.
        ends: by edge type, the columns of the sources and targets. By default they are a pair of usual names, such as ``src`` and ``dst``,
            ``source`` and ``target``, ``from`` and ``to``, as ``graphmill import`` finds them (docs/graph-yaml.md lists them); else the columns that are named
            like the id columns of the node types, or ``TYPE_id``. Two such pairs are an error.
        overwrite, memory, threads, options: as for `from_arrays`.

    Raises:
        KeyError: a column of ids or ends does not exist.
        ValueError: several columns can be the ends.
        TypeError: a column has values that are neither numbers, strings, times, nor lists.

    Example:
        >>> store = from_tables({"user": users, "item": items}, {("user", "buys", "item"): buys}, "g.store")
        >>> users, items = store.to_tables("polars")[0].values()
    """
    for what, of, form in (("nodes", nodes, '{"user": users}'), ("edges", edges, '{("user", "buys", "item"): buys}')):
        if not isinstance(of, Mapping):
            raise TypeError(f"{what}: found {type(of).__name__}, expected a table by type: {form}")
    with _spool(os.path.dirname(os.path.abspath(path)) if path is not None else None) as spool:
        return build(*graph_of(nodes, edges, ids, ends, spool), path, overwrite, memory, threads, options)


_Spooled = Callable[..., Any]  # the columns of a table that comes in batches, and what errors say the table is


@contextlib.contextmanager
def _spool(beside: str | None) -> Iterator[_Spooled]:
    """What spools tables to a folder, which is made for the first one and removed at the end."""
    with contextlib.ExitStack() as stack:
        spools: list[Spool] = []

        def spooled(table: Any, what: str) -> Any:
            reader = reader_of(table)
            if reader is None:
                return None
            if not spools:
                spools.append(Spool(stack.enter_context(tempfile.TemporaryDirectory(prefix=".graphmill-", dir=beside))))
            return spools[0].columns(reader, what)

        yield spooled


def graph_of(
    nodes: Mapping[str, Any], edges: Mapping[Any, Any], ids: Any, ends: Any, spool: _Spooled, keep: bool = False
) -> tuple[dict[str, Nodes], dict[EdgeType, Edges]]:
    """The types of a graph of tables. With ``keep``, ids that are the row numbers stay ids."""
    ids = dict(mapping("ids", {} if ids is None else ids, 'a dict such as {"user": "id"}'))
    ends = {triple_of(e): pair for e, pair in mapping("ends", {} if ends is None else ends, "a dict from edge types to the names of two columns").items()}
    of_nodes: dict[str, Nodes] = {}
    for t, table in nodes.items():
        what = f"node type {t}"
        if isinstance(table, (int, np.integer)):
            of_nodes[t] = Nodes(int(table))
            continue
        of = fields(table, what, functools.partial(spool, what=what))
        name = ids.get(t) or id_name(of, t, what)
        ids[t] = name or ""
        key = None if name is None else _key(of, name, what)
        rows, of = columns(of, None if key is None else len(key), what)
        of_nodes[t] = Nodes(rows, of, None if key is None or (not keep and _counts(key)) else key)
    of_edges: dict[EdgeType, Edges] = {}
    for e, table in edges.items():
        e = triple_of(e)
        what = f"edge type {':'.join(e)}"
        of = fields(table, what, functools.partial(spool, what=what))
        names = ends.get(e)
        if names is None:
            names = ends_names(of, e, ids, what)
        keys = {n: of[n] for n in names if n in of}
        source, target = (_key(dict(keys), n, what, of) for n in names)
        rest = {n: c for n, c in of.items() if n not in names}
        of_edges[e] = Edges(source, target, columns(rest, len(source), what)[1])
    return of_nodes, of_edges


@makes("append", "tables")
@contextlib.contextmanager
def appended(store: Store, given: Mapping[str, Any], ids: Any, ends: Any, lines: str = "") -> Iterator[dict[str, Any]]:
    """The arguments of ``graphmill append`` with folders in place of mappings from types to tables.

    Args:
        store: the store.
        given: the tables by argument: a mapping of types, or what is no mapping and stays.
        ids: as for `from_tables`.
        ends: as for `from_tables`.
        lines: further lines of graph.yaml.
    """
    with _spool(os.path.dirname(os.path.abspath(store.path))) as spool, contextlib.ExitStack() as stack:
        out: dict[str, Any] = {}
        for argument, tables in given.items():
            out[argument] = tables
            if not isinstance(tables, Mapping):
                continue
            nodes = {t: x for t, x in tables.items() if isinstance(t, str) and t.count(":") != 2}
            edges = {e: x for e, x in tables.items() if e not in nodes}
            of_nodes, of_edges = graph_of(nodes, edges, ids, ends, spool, keep=True)
            for n in of_nodes.values():
                if n.ids is None and argument != "source":
                    raise ValueError(
                        f"{argument}=: found a table of nodes without a column of ids, expected one, which says which nodes are meant; name it with ids="
                    )
            for t, n in of_nodes.items():
                if t in store.nodes:
                    n.columns = _as_in(store.nodes[t].columns, n.columns, argument == "source")
            known = [t for t in store.nodes if t not in of_nodes]
            for e, x in of_edges.items():
                if e in store.edges:
                    x.columns = _as_in(store.edges[e].columns, x.columns, argument == "source")
                for end, t in ((x.source, e[0]), (x.target, e[2])):
                    if t in known:
                        _check_numbers(end, store.nodes[t], f"edge type {':'.join(e)}")
                        of_nodes[t] = _none_of(store.nodes[t])
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=".graphmill-", dir=os.path.dirname(os.path.abspath(store.path))))
            stack.enter_context(said_of(folder, write_graph(folder, of_nodes, of_edges, lines, prefix="rows of ")))
            out[argument] = folder
        yield out


def _check_numbers(end: Column, n: StoreNodes, what: str) -> None:
    """Refuses ends beyond the nodes of a type whose ids are their numbers: without a table of new nodes, they would be new ones."""
    if n.ids is None and end.dtype != "string" and len(end) and int(end.values.max()) >= n.count:
        raise ValueError(
            f"{what}: found the node {int(end.values.max())} of the type {n.type!r}, expected at most {n.count - 1}; give the table of the new nodes, too"
        )


def _none_of(n: StoreNodes) -> Nodes:
    """A table of nodes of a store without rows."""
    of = {}
    for name in n.columns:
        c = n.columns.column(name)
        if not name.startswith("#") and name not in n.columns.features:
            of[name] = c[0:0] if c.categories is None else _texts(strings(name, []))
    return Nodes(0, of, None if n.ids is None else _ids(n)[0:0])


def _texts(c: Column) -> Column:
    """A column of texts that become categories: it is its own categories."""
    out = Column(c.name, "string", (), len(c), c.values, (), c.string_offsets)
    out.categories = out
    return out


def _as_in(have: Any, of: dict[str, Column], whole: bool) -> dict[str, Column]:
    """Columns in the form that those of a store have: texts as categories where it has these, and with ``whole`` no missing values where it has columns that say where."""
    out: dict[str, Column] = {}
    for name, c in of.items():
        if name in have and have.column(name).categories is not None and c.dtype == "string" and c.categories is None and not c.shape:
            c = _texts(c)
        if (
            name in have and have.column(name).shape == (-1,) and len(c.shape) == 1 and c.shape[0] >= 0 and c.dtype != "string"
        ):  # lists that happen to have one length
            c = Column(name, c.dtype, (-1,), len(c), c.values.reshape(-1), (np.arange(len(c) + 1, dtype=np.int64) * c.shape[0],), None)
        out[name] = c
    for name in have:
        if whole and name.endswith(MISSING) and name not in out and name.removesuffix(MISSING) in out:
            out[name] = Column(name, "bool", (), len(out[name.removesuffix(MISSING)]), np.zeros(len(out[name.removesuffix(MISSING)]), bool), (), None)
    return out


def id_name(of: Mapping[str, Any], t: str, what: str) -> str | None:
    """The column of ids of a node type, by the rule of ``graphmill import``: a usual name, as it is written or else in any case of its
    letters; else ``TYPE_id``. None: the ids are the row numbers.

    Raises:
        ValueError: there are several.
    """
    for exact in (True, False):
        found: list[str] = []
        for usual in _IDS:
            found += [n for n in of if _means(n, usual, exact) and n not in found]
            if len(found) == 1 and (usual.startswith("#") or usual == "id"):
                return found[0]
        if len(found) > 1:
            raise ValueError(
                f"{what}: found the columns {', '.join(map(repr, found))}, which can all be the ids, expected one; name it with ids={{{t!r}: {found[0]!r}}}"
            )
        if found:
            return found[0]
    return f"{t}_id" if f"{t}_id" in of else None


def ends_names(of: Mapping[str, Any], e: EdgeType, ids: Mapping[str, str], what: str) -> tuple[str, str]:
    """The columns of the sources and the targets, by the rule of ``graphmill import``: a pair of usual names that belong together, as they are
    written or else in any case of their letters; else the ids of two node types, by the names that they have there; else one usual name for each end.

    Raises:
        KeyError: there is none.
        ValueError: there are several.
    """

    def named(usual: str, exact: bool) -> list[str]:
        return [n for n in of if _means(n, usual, exact)]

    def twice(*pairs: tuple[str, ...]) -> ValueError:
        return ValueError(
            f"{what}: found the columns {' and '.join(', '.join(map(repr, p)) for p in pairs)}, which can all be the ends, expected one pair; name both with ends={{{e!r}: {pairs[0] if len(pairs[0]) == 2 else ('SOURCE', 'TARGET')!r}}}"
        )

    for exact in (True, False):
        pairs = []
        for usual in zip(_SOURCES, _TARGETS):
            x, y = (named(n, exact) for n in usual)
            if len(x) == len(y) == 1 and (x[0], y[0]) not in pairs:
                pairs.append((x[0], y[0]))
                if usual[0] == "#source":
                    return pairs[0]
        if len(pairs) > 1:
            raise twice(*pairs)
        if pairs:
            return pairs[0]
    keys = [[n for n in dict.fromkeys((ids.get(t), f"{t}_id")) if n and n not in _IDS and n in of] if e[0] != e[2] else [] for t in (e[0], e[2])]
    if all(keys):
        return keys[0][0], keys[1][0]
    out = []
    for usual_names, key, t in ((_SOURCES, keys[0], e[0]), (_TARGETS, keys[1], e[2])):
        found = next((f for exact in (True, False) if (f := list(dict.fromkeys(n for usual in usual_names for n in named(usual, exact))))), []) or key
        found = found[:1] if found and found[0].startswith("#") else found
        if not found:
            expected = [*dict.fromkeys(usual_names), *([n for n in dict.fromkeys((ids.get(t), f"{t}_id")) if n and n not in _IDS] if e[0] != e[2] else [])]
            raise KeyError(
                f"{what}: found the columns {', '.join(map(repr, of))}, expected one of {', '.join(expected)} for the ids of {t}; name both with ends="
            )
        if len(found) > 1:
            raise twice(*((n,) for n in found))
        out.append(found[0])
    return out[0], out[1]


def _means(header: str, usual: str, exact: bool) -> bool:
    """Whether a header is a usual name. Neo4j's headers have an id space in parentheses: ":START_ID(Person)"."""
    if exact:
        return header == usual
    if usual.startswith(":"):
        name, colon, kind = header.partition(":")
        return not name and bool(colon) and kind.partition("(")[0].lower() == usual[1:].lower()
    return header.lower() == usual.lower()


def _key(of: dict[str, Column], name: str, what: str, shown: Mapping[str, Column] | None = None) -> Column:
    """Takes the column of ids out of the columns."""
    if name not in of:
        raise KeyError(f"{what}: found the columns {', '.join(map(repr, shown or of))}, expected {name!r} among them")
    c = of.pop(name)
    if of.pop(name + MISSING, None) is not None or (shown is not None and name + MISSING in shown):
        raise ValueError(f"{what}: column {name!r}: found missing values, expected an id in every row; drop these rows")
    if c.categories is not None:
        c = c.categories.take(c.values)
    if not len(c) and c.dtype == "float64" and not c.shape:  # an empty list
        c = column(name, np.zeros(0, np.int64), what)
    if c.shape or (c.dtype != "string" and np.dtype(_DTYPES[c.dtype]).kind not in "iu"):
        raise TypeError(f"{what}: column {name!r}: found {c.dtype} {list(c.shape)}, expected integers or strings, which are ids")
    if c.dtype != "string" and len(c) and c.values.min() < 0:  # the ids of a store are unsigned; others are strings
        c = strings(name, list(map(str, c.values.tolist())))
    return c


def _counts(c: Column) -> bool:
    """Whether ids are the row numbers."""
    step = 1 << 20  # which bounds the memory
    return c.dtype != "string" and all(bool((c.values[at : at + step] == np.arange(at, min(at + step, len(c)))).all()) for at in range(0, len(c), step))


@makes("store", "tables")
def to_tables(store: Store, as_: str) -> tuple[dict[str, Any], dict[EdgeType, Any]]:
    makers = {"pandas": to_pandas, "polars": to_polars, "arrow": to_arrow}
    make = makers[choice("as_", as_, tuple(makers))]
    nodes: dict[str, Any] = {}
    for t, n in store.nodes.items():
        names = apart([name for name in n.columns if not name.startswith("#")], ["id"], "node_")
        nodes[t] = make({"id": _ids(n), **{to: n.columns.column(name) for name, to in names.items()}})
    edges: dict[EdgeType, Any] = {}
    for e, x in store.edges.items():
        order = input_order(store, e)
        of = {}
        for name, t, rows in zip(("source", "target"), (e[0], e[2]), x.edge_index()[:, order]):
            of[name] = _ids(store.nodes[t]).take(rows)
        names = apart([name for name in x.columns if not name.startswith("#")], ["source", "target"], "edge_")
        of.update({to: take(x.columns.column(name), order) for name, to in names.items()})
        edges[e] = make(of)
    return nodes, edges


def _ids(n: StoreNodes) -> Column:
    """The original ids of all nodes; integers are int64 if they fit."""
    if n.ids is None:
        return column("id", np.arange(n.count), n.type)
    if isinstance(n.ids, Column):
        return n.ids
    return column("id", n.ids.astype(np.int64) if not n.count or n.ids.max() < 1 << 63 else n.ids, n.type)
