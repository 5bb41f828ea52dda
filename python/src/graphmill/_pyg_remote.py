"""A store as PyG's FeatureStore and GraphStore, from which PyG's own loaders sample."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch_geometric.data import EdgeAttr, TensorAttr
from torch_geometric.data import FeatureStore as PyGFeatureStore
from torch_geometric.data import GraphStore as PyGGraphStore
from torch_geometric.data.graph_store import EdgeLayout

from ._as.pyg import _named
from ._folder import Column, int64, typed, unknown
from ._layer_calls import mapped, rows
from ._store import Store

_ONLY_READ = "expected reads only, because a store does not change; make another one with graphmill.from_pyg"


def _opened(store: Store | str | os.PathLike[str]) -> Store:
    return store if isinstance(store, Store) else Store(store)


def _homogeneous(store: Store) -> bool:
    return not typed(store.node_types, store.edge_types)


class FeatureStore(PyGFeatureStore):  # type: ignore[misc, unused-ignore]
    """The node columns of a store, for ``data=(FeatureStore(store), GraphStore(store))`` of PyG's loaders.

    A batch gets the rows of its nodes, which are copied from the maps of the store's files; nothing else is read. Names and dtypes
    are as with `graphmill.NodeLoader` and ``as_="pyg"``: the column ``feat``, or one that is alone besides the label, is ``x``. PyG
    asks such stores for no edge columns.

    Args:
        store: a store, or its path.
        features: names of the columns, or "all", which are the columns of numbers of one shape.
        label: the column that becomes ``y``; None: the column ``label``.

    Raises:
        ValueError: a feature that no node type has, or whose rows differ in shape.
    """

    def __init__(self, store: Store | str | os.PathLike[str], features: str | Sequence[str] = "all", label: str | None = None) -> None:
        super().__init__()
        s = _opened(store)
        have = {n for of in s.nodes.values() for n in of.columns if not n.startswith("#")}
        wanted = None if features == "all" else {features} if isinstance(features, str) else set(features)
        for name in sorted((wanted or set()) | ({label} if label else set())):
            if name not in have:
                raise ValueError(unknown("features" if name != label else "label", name, have))
        self._store, self._single = s, _homogeneous(s)
        self._columns: dict[tuple[str | None, str], Column | None] = {}
        for t, nodes in s.nodes.items():
            columns = {}
            for name in nodes.columns:
                if name.startswith("#") or (wanted is not None and name not in wanted and name != label):
                    continue
                c = nodes.columns.column(name)
                if c.fixed:
                    columns[name] = c
                elif wanted is not None:
                    raise ValueError(f"features: found {c!r} of node type {t}, expected numbers of one shape")
            group = None if self._single else t
            for name, c in _named({}, columns, label, "x", "node_").items():
                self._columns[group, name] = c
            if not columns:
                self._columns[group, "n_id"] = None  # PyG takes the node types from the tensors; this is what it sets itself

    def _column(self, attr: TensorAttr) -> Column | None:
        at = attr.group_name, attr.attr_name
        if at not in self._columns:
            names = [n for t, n in self._columns if t == attr.group_name]
            raise KeyError(unknown(f"node type {attr.group_name}: tensor", attr.attr_name, names))
        return self._columns[at]

    def _rows(self, attr: TensorAttr) -> int:
        return self._store.num_nodes if self._single else self._store.nodes[attr.group_name].count

    def _get_tensor(self, attr: TensorAttr) -> torch.Tensor:
        c, index = self._column(attr), attr.index
        if index is None or isinstance(index, slice):
            whole = torch.arange(self._rows(attr)) if c is None else mapped(c, attr.attr_name)
            return whole if index is None else whole[index]
        ids = index.cpu().numpy() if isinstance(index, torch.Tensor) else np.asarray(index)
        ids = np.flatnonzero(ids) if ids.dtype == bool else ids.astype(np.int64, copy=False)
        return torch.from_numpy(ids) if c is None else rows(c, attr.attr_name)(ids)

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...]:
        c = self._column(attr)
        return (self._rows(attr), *(c.shape if c is not None else ()))

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        """All tensors, by node type and name."""
        return [TensorAttr(t, name) for t, name in self._columns]  # new ones, because PyG's loaders set their index

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:
        raise TypeError(f"found put_tensor({attr.attr_name!r}), {_ONLY_READ}")

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise TypeError(f"found remove_tensor({attr.attr_name!r}), {_ONLY_READ}")

    def __repr__(self) -> str:
        return f"FeatureStore({self._store.path!r})"


class GraphStore(PyGGraphStore):  # type: ignore[misc, unused-ignore]
    """The edges of a store, for ``data=(FeatureStore(store), GraphStore(store))`` of PyG's loaders.

    ``e_id`` of a batch is the position of an edge in the imported input, as with `graphmill.NodeLoader`.

    PyG keeps offsets, sources and positions of all edges as int64, 24 bytes per edge. They are maps of the store's files if
    the edges are numbered by destination; otherwise PyG sorts them.

    Args:
        store: a store, or its path.
    """

    def __init__(self, store: Store | str | os.PathLike[str]) -> None:
        super().__init__()
        self._store = _opened(store)
        self._single = _homogeneous(self._store)

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        """All edge types, as pairs in the order of the input."""
        counts = {t: n.count for t, n in self._store.nodes.items()}
        return [EdgeAttr(None if self._single else e, EdgeLayout.COO, size=(counts[e[0]], counts[e[2]])) for e in self._store.edges]

    def _edges(self, attr: EdgeAttr) -> Any:
        return next(iter(self._store.edges.values())) if attr.edge_type is None and self._single else self._store.edges[attr.edge_type]

    def _get_edge_index(self, attr: EdgeAttr) -> tuple[torch.Tensor, torch.Tensor] | None:
        if attr.layout != EdgeLayout.COO:
            return None  # PyG makes it of the pairs
        source, target = self._edges(attr).edge_index("input")
        return torch.from_numpy(source), torch.from_numpy(target)

    def _edge_to_layout(self, attr: EdgeAttr, layout: EdgeLayout, store: bool = False) -> Any:
        edges = self._edges(attr)
        if layout != EdgeLayout.CSC or edges.primary != "in":
            return super()._edge_to_layout(attr, layout, store)
        position = edges.columns.column("#input_position").values if "#input_position" in edges.columns else None
        return _tensor(edges.neighbours), _tensor(edges.indptr), None if position is None else _tensor(position)

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:
        raise TypeError(f"found put_edge_index, {_ONLY_READ}")

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        raise TypeError(f"found remove_edge_index, {_ONLY_READ}")

    def __repr__(self) -> str:
        return f"GraphStore({self._store.path!r})"


def _tensor(x: Any) -> torch.Tensor:
    return torch.from_numpy(np.require(int64(x), requirements="W"))
