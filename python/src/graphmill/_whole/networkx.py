"""Whole graphs as NetworkX graphs. NetworkX is imported by the functions that need it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._folder import Column
from .._makers import makes
from .._store import Store
from .build import EDGE, NODE, Edges, Nodes, build
from .columns import MISSING, column, filled, strings
from .input_order import input_order, take


def from_networkx(
    g: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Store:
    """Make a store of a NetworkX graph of any of its four classes, without types.

    The keys of the nodes become their ids: integers if all of them are integers from 0 on, else ``str(key)``. Attributes of
    nodes and edges become columns. Where some have no value, or None, the column has NaN, 0 or the empty string, and the
    column ``NAME_missing`` is True. Each edge of an undirected graph becomes two, one in each direction, one right after the
    other; a self-loop stays one. Keys of parallel edges that are not 0, 1, ... become the column ``key``.

    Args:
        g: the graph; it is not changed.
        path: the folder to write; None makes a store in a temporary folder, which is removed when the `Store` is.
        overwrite, memory, threads, options: as for `from_arrays`.

    Raises:
        TypeError: the values of an attribute are neither numbers, strings, nor lists of these.
        ValueError: two keys have the same text.

    Example:
        >>> store = from_networkx(g, "g.store")
        >>> again = store.to_networkx()
    """
    for name in ("is_directed", "is_multigraph", "nodes", "edges"):
        if not hasattr(g, name):
            raise TypeError(f"found {type(g).__name__}, expected a graph of NetworkX")
    keys = list(g.nodes)
    ids = _ids(keys)
    place = {k: i for i, k in enumerate(keys)}
    listed = list(g.edges(keys=True, data=True)) if g.is_multigraph() else [(a, b, 0, data) for a, b, data in g.edges(data=True)]
    pair = np.array([[place[x[0]] for x in listed], [place[x[1]] for x in listed]], np.int64).reshape(2, len(listed))
    of_edges = _attributes([x[3] for x in listed], "edge")
    if g.is_multigraph() and not _counted(listed, g.is_directed()):
        if "key" in of_edges:
            raise ValueError("found keys of parallel edges and an edge attribute named 'key', expected another name of the attribute")
        whole = all(type(x[2]) is int for x in listed)
        of_edges["key"] = column("key", [x[2] if whole or isinstance(x[2], str) else str(x[2]) for x in listed], "edge")
    if not g.is_directed():
        times = np.where(pair[0] == pair[1], 1, 2)
        rows = np.repeat(np.arange(len(listed)), times)
        back = np.append(False, rows[1:] == rows[:-1])[: len(rows)]
        pair = np.where(back, pair[::-1, rows], pair[:, rows])
        of_edges = {name: c.take(rows) for name, c in of_edges.items()}
    source, target = (_of(ids, row) for row in pair)
    nodes = {NODE: Nodes(len(keys), _attributes([g.nodes[k] for k in keys], "node"), ids)}
    return build(nodes, {EDGE: Edges(source, target, of_edges)}, path, overwrite, memory, threads, options)


def _ids(keys: Sequence[Any]) -> Column | None:
    """The ids of nodes; None if they are the row numbers."""
    if all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) and 0 <= k < 1 << 63 for k in keys):
        x = np.array(keys, np.int64)
        return None if (x == np.arange(len(x))).all() else Column("", "int64", (), len(x), x, (), None)
    texts: dict[str, Any] = {}
    for k in keys:
        t = k if isinstance(k, str) else str(k)
        if t in texts:
            raise ValueError(f"found the nodes {texts[t]!r} and {k!r}, expected nodes whose texts differ, because the text of a node is its id; relabel them")
        texts[t] = k
    return strings("", list(texts))


def _of(ids: Column | None, rows: Any) -> Column:
    return Column("", "int64", (), len(rows), rows, (), None) if ids is None else ids.take(rows)


def _counted(listed: Sequence[tuple[Any, ...]], directed: bool) -> bool:
    """Whether the keys of parallel edges are 0, 1, ... in their order."""
    seen: dict[Any, int] = {}
    for a, b, key, _ in listed:
        at = (a, b) if directed else frozenset((a, b))
        if type(key) is not int or key != seen.get(at, 0):
            return False
        seen[at] = seen.get(at, 0) + 1
    return True


def _attributes(of: Sequence[Mapping[Any, Any]], what: str) -> dict[str, Column]:
    names: dict[Any, str] = {}
    for data in of:
        for name in data:
            names.setdefault(name, str(name))
    out: dict[str, Column] = {}
    for key, name in names.items():
        if name in out or name.startswith("#"):
            raise ValueError(f"{what}: found the attribute {key!r}, expected different names that do not begin with #")
        for c in filled(name, [data.get(key) for data in of], what):
            out[c.name] = c
    return out


@makes("store", "networkx")
def to_networkx(store: Store, directed: bool = True, multigraph: bool | None = None) -> Any:
    import networkx

    if store.node_types != [NODE] or store.edge_types != [EDGE]:
        raise ValueError(
            f"{store.path}: found types {', '.join(map(str, [*store.node_types, *map(':'.join, store.edge_types)]))}, expected a graph without types; import it with homogeneous=True"
        )
    nodes, edges = store.nodes[NODE], store.edges[EDGE]
    order = input_order(store, EDGE)
    pair = edges.edge_index()[:, order]
    of_edges = _rows({n: take(edges.columns.column(n), order) for n in edges.columns if not n.startswith("#")}, edges.count)
    if not directed:
        loop = pair[0] == pair[1]
        rest = np.flatnonzero(~loop)
        if len(rest) % 2 or (pair[:, rest[::2]] != pair[::-1, rest[1::2]]).any():
            raise ValueError(f"{store.path}: found edges in one direction only, expected both directions of each edge, one after the other; give directed=True")
        once = np.sort(np.append(np.flatnonzero(loop), rest[::2]))
        pair, of_edges = pair[:, once], [of_edges[i] for i in once]
    keys: Sequence[Any] = range(nodes.count) if nodes.ids is None else nodes.ids.tolist()
    named = [data.pop("key", None) for data in of_edges] if multigraph is not False and "key" in edges.columns else None
    if multigraph is None:
        ends = pair if directed else np.sort(pair, axis=0)
        multigraph = named is not None or len(np.unique(ends[0] * max(nodes.count, 1) + ends[1])) < ends.shape[1]
    kinds = {(True, False): networkx.DiGraph, (True, True): networkx.MultiDiGraph, (False, False): networkx.Graph, (False, True): networkx.MultiGraph}
    g = kinds[directed, multigraph]()
    g.add_nodes_from(zip(keys, _rows({n: nodes.columns.column(n) for n in nodes.columns if not n.startswith("#")}, nodes.count)))
    both: Iterable[Any] = ((keys[a], keys[b]) for a, b in pair.T.tolist())
    if named is not None:
        g.add_edges_from((a, b, key, data) for (a, b), key, data in zip(both, named, of_edges))
    else:
        g.add_edges_from((a, b, data) for (a, b), data in zip(both, of_edges))
    return g


def _rows(columns: Mapping[str, Column], count: int) -> list[dict[str, Any]]:
    """The values of each row by name, without those that are missing."""
    out: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, c in columns.items():
        if name.endswith(MISSING) and name[: -len(MISSING)] in columns and c.dtype == "bool":
            continue
        flags = columns.get(name + MISSING)
        missing = flags.values.tolist() if flags is not None and flags.dtype == "bool" else None
        values = np.asarray(c).tolist() if c.fixed else _lists(c.tolist())
        for i, v in enumerate(values):
            if missing is None or not missing[i]:
                out[i][name] = v
    return out


def _lists(x: Any) -> Any:
    return x.tolist() if isinstance(x, np.ndarray) else [_lists(v) for v in x] if isinstance(x, list) else x
