"""Whole graphs as PyG's Data and HeteroData. Torch and PyG are imported by the functions that need them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._folder import Column, EdgeType, apart, typed
from .._makers import makes
from .._store import Store
from .build import EDGE, NODE, Edges, Nodes, build
from .columns import column
from .input_order import input_order, take

_STRUCTURE = {"num_nodes", "edge_index", "adj_t"}  # what becomes nodes and edges, and no columns


def from_pyg(
    data: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Store:
    """Make a store of a PyG ``Data`` or ``HeteroData``.

    Every attribute with a row per node or edge becomes a column of its name: tensors, NumPy arrays, and lists of numbers,
    strings or lists. The ends of the edges are ``edge_index``, or ``adj_t``, whose values become ``edge_weight`` (with
    more than one value per edge, ``edge_attr``). One warning names the attributes that are left out.

    Args:
        data: the graph; it is not changed.
        path: the folder to write; None makes a store in a temporary folder, which is removed when the `Store` is.
        overwrite, memory, threads, options: as for `from_arrays`.

    Example:
        >>> store = from_pyg(data, "g.store")
        >>> again = store.to_pyg()
    """
    from torch_geometric.data import Data, HeteroData

    if not isinstance(data, (Data, HeteroData)):
        raise TypeError(f"found {type(data).__name__}, expected a Data or HeteroData of PyG")
    left: list[str] = []
    nodes: dict[str, Nodes] = {}
    edges: dict[EdgeType, Edges] = {}
    if isinstance(data, HeteroData):
        for t in data.node_types:
            store = data[t]
            rows = int(store.num_nodes or 0)
            nodes[t] = Nodes(rows, _columns(store, [k for k in store.keys() if k not in _STRUCTURE], rows, t, left))
        for e in data.edge_types:
            for t in (e[0], e[2]):
                if t not in nodes:
                    nodes[t] = Nodes(int(data[t].num_nodes or 0))
            edges[e] = _edges(data[e], [k for k in data[e].keys() if k not in _STRUCTURE], e, left)
        left += list(data._global_store.keys())
    else:
        rows = int(data.num_nodes or 0)
        of_edges = [k for k in data.keys() if k not in _STRUCTURE and data.is_edge_attr(k)]
        of_nodes = [k for k in data.keys() if k not in _STRUCTURE and data.is_node_attr(k)]
        nodes[NODE] = Nodes(rows, _columns(data, of_nodes, rows, "node", left))
        edges[EDGE] = _edges(data, of_edges, EDGE, left)
        left += [k for k in data.keys() if k not in _STRUCTURE and k not in of_edges and k not in of_nodes]
    if not edges:
        raise ValueError(
            f"found a HeteroData without edge types, expected at least one; data[{(list(nodes) or ['node'])[0]!r}, 'to', {(list(nodes) or ['node'])[0]!r}].edge_index = torch.empty(2, 0, dtype=torch.long) is one without edges"
        )
    if left:
        warnings.warn(
            f"found {', '.join(map(repr, sorted(left)))}, expected attributes with a row per node or edge of numbers or strings; they are left out",
            stacklevel=2,
        )
    return build(nodes, edges, path, overwrite, memory, threads, options)


def _edges(store: Any, names: Iterable[str], e: EdgeType, left: list[str]) -> Edges:
    import torch

    pair, more = store.get("edge_index"), {}
    if pair is None and store.get("adj_t") is not None:
        pair, value = _adjacency(store["adj_t"], ":".join(e))
        if value is not None:
            more["edge_weight" if value.dim() == 1 else "edge_attr"] = value
    if pair is None:
        raise ValueError(
            f"edge type {':'.join(e)}: found no edge_index and no adj_t, expected one of them; torch.empty(2, 0, dtype=torch.long) is an edge_index without edges"
        )
    pair = torch.as_tensor(pair).detach().cpu()
    if pair.is_floating_point() or pair.dim() != 2 or pair.shape[0] != 2:
        raise ValueError(f"edge type {':'.join(e)}: found edge_index of {str(pair.dtype)[6:]} and shape {tuple(pair.shape)}, expected integers of shape (2, E)")
    source, target = (Column("", "int64", (), len(x), x, (), None) for x in pair.long().numpy())
    return Edges(
        source, target, _columns({**more, **{k: store[k] for k in names}}, list(more) + [k for k in names if k not in more], len(source), ":".join(e), left)
    )


def _adjacency(adj_t: Any, what: str) -> tuple[Any, Any]:
    """The edges [2, edges] of a transposed adjacency matrix, and their values, None for none.

    It is a SparseTensor of torch-sparse, or a sparse tensor of torch of any layout. A matrix of torch always has values.
    """
    import torch

    if hasattr(adj_t, "coo"):
        target, source, value = adj_t.coo()
        return torch.stack([source, target]), value
    if not isinstance(adj_t, torch.Tensor) or adj_t.layout not in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc) or adj_t.sparse_dim() != 2:
        raise TypeError(
            f"edge type {what}: found adj_t of {type(adj_t).__name__}{f' {adj_t.layout}' if isinstance(adj_t, torch.Tensor) else ''}, expected a SparseTensor, or a sparse tensor of torch"
        )
    if adj_t.layout == torch.sparse_coo:
        target, source = adj_t._indices()  # also of matrices that are not coalesced: edges that come twice stay two
        value = adj_t._values()
    else:
        starts, ids, value = (
            (adj_t.crow_indices(), adj_t.col_indices(), adj_t.values())
            if adj_t.layout == torch.sparse_csr
            else (adj_t.ccol_indices(), adj_t.row_indices(), adj_t.values())
        )
        rows = torch.repeat_interleave(torch.arange(len(starts) - 1, device=starts.device), starts.diff())
        target, source = (rows, ids) if adj_t.layout == torch.sparse_csr else (ids, rows)
    return torch.stack([source, target]), value


def _columns(store: Any, names: Iterable[str], rows: int, what: str, left: list[str]) -> dict[str, Column]:
    """The attributes with a row per item; the names of the others go to ``left``."""
    out = {}
    for k in names:
        try:
            c = column(k, store[k], what)
        except TypeError:
            c = None
        if c is None or len(c) != rows or 0 in c.shape or k.startswith("#"):
            left.append(f"{what}.{k}")
        else:
            out[k] = c
    return out


@makes("store", "pyg")
def to_pyg(store: Store) -> Any:
    import torch
    from torch_geometric.data import Data, HeteroData

    with_types = typed(store.node_types, store.edge_types)
    data: Any = HeteroData() if with_types else Data()
    for t, n in store.nodes.items():
        to = data[t] if with_types else data
        for name, attribute in apart([c for c in n.columns if not c.startswith("#")], _STRUCTURE, "node_").items():
            to[attribute] = _value(n.columns.column(name))
        to.num_nodes = n.count
    for e, x in store.edges.items():
        to = data[e] if with_types else data
        order = input_order(store, e)
        to.edge_index = torch.from_numpy(np.ascontiguousarray(x.edge_index()[:, order]))
        taken = _STRUCTURE | (set() if with_types else set(to.keys()))
        for name, attribute in apart([c for c in x.columns if not c.startswith("#")], taken, "edge_").items():
            to[attribute] = _value(take(x.columns.column(name), order))
    return data


def _value(c: Column) -> Any:
    from .._tensors import tensor

    return tensor(c.values, c.name, c.dtype == "bfloat16") if c.fixed else c.tolist()
