"""Whole graphs as DGLGraph. DGL and torch are imported by the functions that need them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._folder import Column, EdgeType
from .._makers import makes
from .._store import Store
from .build import Edges, Nodes, build
from .columns import column
from .input_order import input_order, take


def from_dgl(
    g: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Store:
    """Make a store of a ``DGLGraph``, with its types, and ``ndata`` and ``edata`` as columns.

    Ids are int64 in a store and in all that is made of it; a warning says so of a graph with int32 ids. ``store.to_dgl(idtype=torch.int32)``
    gives them back.

    Args:
        g: the graph; it is not changed. Blocks and batches of graphs are refused.
        path: the folder to write; None makes a store in a temporary folder, which is removed when the `Store` is.
        overwrite, memory, threads, options: as for `from_arrays`.

    Example:
        >>> store = from_dgl(g, "g.store")
        >>> again = store.to_dgl()
    """
    import dgl

    if not isinstance(g, dgl.DGLGraph) or g.is_block or g.batch_size > 1:
        raise TypeError(
            f"found {type(g).__name__}{', a block or a batch' if isinstance(g, dgl.DGLGraph) else ''}, expected one DGLGraph; dgl.unbatch divides a batch"
        )
    if str(g.idtype) == "torch.int32":
        warnings.warn(
            "found a graph with int32 ids, which become int64, as in all blocks; store.to_dgl(idtype=torch.int32) has int32, and so has block.int()",
            stacklevel=2,
        )
    left: list[str] = []
    nodes = {t: Nodes(g.num_nodes(t), _columns(g.nodes[t].data, t, left)) for t in g.ntypes}
    edges: dict[EdgeType, Edges] = {}
    for e in g.canonical_etypes:
        source, target = (Column("", "int64", (), len(x), x, (), None) for x in (v.detach().cpu().long().numpy() for v in g.edges(etype=e, order="eid")))
        edges[e] = Edges(source, target, _columns(g.edges[e].data, ":".join(e), left))
    if left:
        warnings.warn(f"found {', '.join(map(repr, left))}, expected data of numbers with names that do not begin with #; they are left out", stacklevel=2)
    return build(nodes, edges, path, overwrite, memory, threads, options)


def _columns(data: Mapping[str, Any], what: str, left: list[str]) -> dict[str, Column]:
    out = {}
    for name, x in data.items():
        try:
            c = column(name, x, what)
        except TypeError:
            c = None
        if c is None or 0 in c.shape or name.startswith("#"):
            left.append(f"{what}.{name}")
        else:
            out[name] = c
    return out


@makes("store", "dgl")
def to_dgl(store: Store, idtype: Any = None) -> Any:
    import dgl
    import torch

    from .._tensors import tensor

    def data(to: Any, columns: Any, rows: Any) -> None:
        for name in columns:
            c = columns.column(name)
            if name.startswith("#"):
                continue
            if not c.fixed:
                left.append(name)
                continue
            to[name] = tensor(take(c, rows).values, name, c.dtype == "bfloat16")

    left: list[str] = []
    orders = {e: input_order(store, e) for e in store.edge_types}
    pairs = {e: tuple(torch.from_numpy(np.ascontiguousarray(x)) for x in store.edges[e].edge_index()[:, orders[e]]) for e in store.edge_types}
    g = dgl.heterograph(pairs, {t: n.count for t, n in store.nodes.items()}, idtype=idtype)
    for t in g.ntypes:
        data(g.nodes[t].data, store.nodes[t].columns, slice(None))
    for e in g.canonical_etypes:
        data(g.edges[e].data, store.edges[e].columns, orders[e])
    if left:
        warnings.warn(
            f"found the columns {', '.join(map(repr, dict.fromkeys(left)))} of strings or lists, expected numbers; DGL has no data of these, and they are left out",
            stacklevel=3,
        )
    return g
