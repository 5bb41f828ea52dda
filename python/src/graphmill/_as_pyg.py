"""Batches as PyG's Data and HeteroData, field by field as its NeighborLoader gives them."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric.data import Data, HeteroData

from ._loader import Raw, Schema


def _tensor(x: Any) -> torch.Tensor:
    return torch.from_numpy(x)


def _attributes(store: Any, columns: dict[str, torch.Tensor], label: str | None, only: str) -> None:
    """Columns as attributes; one single column besides the label is x (edge_attr) too, where no column is named so."""
    for name, x in columns.items():
        store["y" if name == label else name] = x
    rest = [n for n in columns if n != label]
    if only not in columns and len(rest) == 1:
        x = columns[rest[0]]
        if rest[0] != "y":
            store[only] = x
            del store[rest[0]]


def convert(schema: Schema, raw: Raw, label: str | None) -> Data | HeteroData:
    c = raw.columns
    if schema.homogeneous:
        data = Data()
        t, e = schema.nodes[0], schema.edges[0] if schema.edges else None
        _attributes(data, {n: _tensor(schema.node(c, t, f"x/{n}")) for n in schema.node_columns[t]}, label, "x")
        data.n_id = _tensor(schema.node(c, t, "n_id"))
        data.num_nodes = data.n_id.numel()
        if e is not None:
            data.edge_index = _tensor(schema.edge(c, e, "edge_index"))
            data.e_id = _tensor(schema.edge(c, e, "e_id"))
            _attributes(data, {n: _tensor(schema.edge(c, e, f"x/{n}")) for n in schema.edge_columns[e]}, None, "edge_attr")
            data.num_sampled_edges = schema.edge(c, e, "by_hop").tolist()
        data.num_sampled_nodes = schema.node(c, t, "by_hop").tolist()
        data.input_id = _tensor(raw.input_id)
        data.batch_size = raw.seeds
        return data
    data = HeteroData()
    for t in schema.nodes:
        store = data[t]
        _attributes(store, {n: _tensor(schema.node(c, t, f"x/{n}")) for n in schema.node_columns[t]}, label, "x")
        store.n_id = _tensor(schema.node(c, t, "n_id"))
        store.num_nodes = store.n_id.numel()
        store.num_sampled_nodes = schema.node(c, t, "by_hop").tolist()
    for e in schema.edges:
        store = data[e]
        store.edge_index = _tensor(schema.edge(c, e, "edge_index"))
        store.e_id = _tensor(schema.edge(c, e, "e_id"))
        store.num_sampled_edges = schema.edge(c, e, "by_hop").tolist()
        _attributes(store, {n: _tensor(schema.edge(c, e, f"x/{n}")) for n in schema.edge_columns[e]}, None, "edge_attr")
    # The seeds are of the type with nodes in hop 0.
    seeds = next(t for t in schema.nodes if schema.node(c, t, "by_hop")[0] or len(schema.nodes) == 1)
    data[seeds].input_id = _tensor(raw.input_id)
    data[seeds].batch_size = raw.seeds
    return data
