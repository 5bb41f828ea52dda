"""Whole graphs as arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arguments import integer
from .._folder import _DTYPES, Column, EdgeType, apart
from .._makers import makes
from .._store import Store
from .build import EDGE, NODE, Edges, Nodes, build, triple_of
from .columns import column, columns
from .input_order import input_order, take


def from_arrays(
    nodes: Any,
    edges: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Store:
    """Make a store of arrays.

    Args:
        nodes: by node type, the number of nodes, or the columns by name; for a graph without types, that of the one type.
            A column is an array or tensor with a row per node, or a list of numbers, strings, or lists of these. The column
            ``#id`` has the ids that edges refer to, integers or strings; without it they are the row numbers.
        edges: by edge type, ``("author", "writes", "paper")`` or "author:writes:paper", the ends of its edges [2, edges], or
            a mapping with the ends as ``edge_index`` and columns by name; for a graph without types, that of the one type.
        path: the folder to write; None makes a store in a temporary folder, which is removed when the `Store` is.
        overwrite: replace a store that is there.
        memory: bound on the memory of the command, such as "2GiB".
        threads: number of threads; the store does not depend on it.
        options: flags of ``graphmill import`` as keywords, such as ``both=True`` or ``dangling_edges="drop"``. ``features`` says what a
            model takes, made of the columns: a mapping from types to features by name, ``{"user": {"x": [{"from": "age", "scale":
            "standard"}]}}``, or the path of a file; ``fit`` which rows they are fitted on; ``like``, a `Store` or its path, applies the
            features of another store. ``split`` divides types into train, valid and test: a mapping from types to how, as in
            graph.yaml (docs/graph-yaml.md), ``{"user": {"ratios": [0.8, 0.1, 0.1], "stratify": "label"}}``, where ``files`` can be
            arrays of ids, too; or a text as for ``--split``.

    Raises:
        GraphmillError: an error of the import.
        TypeError, ValueError: values that no column can hold, or columns with different numbers of rows.

    Example:
        >>> store = from_arrays({"x": x, "y": y}, edge_index, "g.store")
        >>> store = from_arrays({"user": 100, "item": {"price": price}}, {("user", "buys", "item"): edge_index})
    """
    if not isinstance(nodes, Mapping) or not all(isinstance(v, (int, np.integer, Mapping)) for v in nodes.values()):
        nodes = {NODE: nodes}
    if not isinstance(edges, Mapping) or "edge_index" in edges:
        edges = {EDGE: edges}
    of_nodes, of_edges = {}, {}
    for t, n in nodes.items():
        what = f"node type {t}"
        if isinstance(n, Mapping):
            rest = dict(n)
            given = rest.pop("#id", None)
            ids = None if given is None else column("#id", given, what)
            count, of = columns(rest, None if ids is None else len(ids), what)
            of_nodes[t] = Nodes(count, of, ids)
        else:
            try:
                of_nodes[t] = Nodes(integer(what, n, 0))
            except TypeError:
                raise TypeError(f"{what}: found {type(n).__name__}, expected the number of nodes, or a dict of columns") from None
    for e, x in edges.items():
        e = triple_of(e)
        what = f"edge type {':'.join(e)}"
        rest = dict(x) if isinstance(x, Mapping) else {"edge_index": x}
        if "edge_index" not in rest:
            raise ValueError(f"{what}: found {', '.join(map(repr, rest)) or 'nothing'}, expected edge_index, the ends of its edges")
        source, target = _ends(rest.pop("edge_index"), what)
        of_edges[e] = Edges(source, target, columns(rest, len(source), what)[1])
    return build(of_nodes, of_edges, path, overwrite, memory, threads, options)


def _ends(pair: Any, what: str) -> tuple[Column, Column]:
    """The ends of edges, [2, edges]: one array or tensor, or a pair of them."""
    if isinstance(pair, (tuple, list)) and len(pair) == 2:
        source, target = (column(n, x if len(x) else np.zeros(0, np.int64), what) for n, x in zip(("source", "target"), pair))
    else:
        x = column("edge_index", pair, what)
        if x.shape != () and len(x) == 2 and x.fixed and len(x.shape) == 1:
            source, target = (column(n, v, what) for n, v in zip(("source", "target"), x.values))
        else:
            raise ValueError(f"{what}: found edges of shape {[len(x), *x.shape]}, expected [2, edges]")
    for c in (source, target):
        if c.shape or (c.dtype != "string" and np.dtype(_DTYPES[c.dtype]).kind not in "iu"):
            raise TypeError(f"{what}: found ends of dtype {c.dtype} {list(c.shape)}, expected integers or strings")
    if len(source) != len(target):
        raise ValueError(f"{what}: found {len(source)} sources and {len(target)} targets, expected equally many")
    return source, target


@makes("store", "arrays")
def to_arrays(store: Store) -> tuple[dict[str, Any], dict[EdgeType, Any]]:
    """The graph as `from_arrays` takes it: nodes and edges, in the order of the imported input.

    Columns of numbers are arrays, which may be maps of the store's files; those of strings, lists, times, categories and
    bfloat16 are `Column`.
    """

    def value(c: Column) -> Any:
        return c.values if c.plain and c.unit is None and c.categories is None else c

    nodes: dict[str, Any] = {}
    for t, n in store.nodes.items():
        of = {name: value(n.columns.column(name)) for name in n.columns if not name.startswith("#")}
        if n.ids is not None:
            of = {"#id": n.ids, **of}
        nodes[t] = of or n.count
    edges: dict[EdgeType, Any] = {}
    for e, x in store.edges.items():
        order = input_order(store, e)
        pair: Any = x.edge_index()[:, order]
        ids = [store.nodes[t].ids for t in (e[0], e[2])]
        if any(i is not None for i in ids):
            pair = tuple(p if i is None else column("", i, "").take(p) if isinstance(i, Column) else i[p] for p, i in zip(pair, ids))
        names = apart([name for name in x.columns if not name.startswith("#")], ["edge_index"], "edge_")
        edges[e] = {"edge_index": pair, **{to: value(take(x.columns.column(name), order)) for name, to in names.items()}}
    return nodes, edges
