"""Graphs as PyG's Data and HeteroData; sampled batches have the fields of PyG's NeighborLoader."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Batch, Data, HeteroData

from .._collection import Graph
from .._folder import Column, EdgeType
from .._kept_packs import KeptColumn
from .._makers import makes
from .._packs import PackBatch, PackSchema
from .._saint import NAMES as NORMS
from .._schema import Raw, Schema, key
from .._tensors import as_tensor as _tensor
from .._tensors import tensor

_TAKEN = {
    "batch", "ptr", "edge_index", "n_id", "e_id", "edge_id", "num_nodes", "num_graphs", "node_mask", "edge_mask", "graph_mask", "graph_id",
    "seed_index", "input_id", "batch_size", "num_sampled_nodes", "num_sampled_edges",
}  # fmt: skip


_MADE = (*NORMS, "edge_weights")  # columns that samplers make


def _named(store: Any, columns: Mapping[str, Any], label: str | None, alone: str | None, prefix: str) -> dict[str, Any]:
    """Columns by the names of their attributes.

    The column feat, as OGB and DGL name features, is named ``alone``, and so is a column that is the only one besides the label,
    unless its name is y or a sampler made it. The label is named y; without one, the column label of nodes and graphs is.
    """
    if label is None and alone != "edge_attr" and "label" in columns and "y" not in columns:
        label = "label"
    rest = [n for n in columns if n != label and n not in _MADE]
    features = "feat" if "feat" in rest and alone not in rest else rest[0] if len(rest) == 1 and rest != ["y"] else None
    out = {}
    for name, x in columns.items():
        to = "y" if name == label else alone if alone and name == features else name
        while to in _TAKEN or to in store or to in out:
            to = prefix + to
        out[to] = x
    return out


@makes("batch", "pyg")
def convert(schema: Schema, raw: Raw, label: str | None) -> Data | HeteroData:
    c = raw.columns

    def put(store: Any, columns: dict[str, str], label: str | None, alone: str, prefix: str, age: str = "age") -> None:
        for full in schema.ages.intersection(columns.values()):
            store[age] = feature(full)
        for name, full in _named(store, {n: full for n, full in columns.items() if full not in schema.ages}, label, alone, prefix).items():
            store[name] = feature(full)

    def feature(full: str) -> Any:
        x = c[full]
        return _value(x) if isinstance(x, Column) else tensor(x, full, full in schema.bfloat16)

    of_nodes = None if label in schema.link_columns else label
    if not schema.typed:
        data = Data()
        t, e = schema.nodes[0], schema.edges[0] if schema.edges else None
        put(data, schema.node_features(t), of_nodes, "x", "node_")
        data.n_id = _tensor(schema.node(c, t, "n_id"))
        data.num_nodes = data.n_id.numel()
        if e is not None:
            data.edge_index = _tensor(schema.edge(c, e, "edge_index"))
            if schema.numbered:
                data.e_id = _tensor(schema.edge(c, e, "e_id"))
            put(data, schema.edge_features(e), None, "edge_attr", "edge_", "edge_age")
            if schema.hopped:
                data.num_sampled_edges = schema.edge(c, e, "by_hop").tolist()
        if schema.hopped:
            data.num_sampled_nodes = schema.node(c, t, "by_hop").tolist()
        if schema.disjoint:
            data.batch = _tensor(schema.node(c, t, "batch"))
        _seeds(schema, raw, label, data, (data, data))
        return data
    data = HeteroData()
    for t in schema.nodes:
        store = data[t]
        put(store, schema.node_features(t), of_nodes, "x", "node_")
        store.n_id = _tensor(schema.node(c, t, "n_id"))
        store.num_nodes = store.n_id.numel()
        if schema.hopped:
            store.num_sampled_nodes = schema.node(c, t, "by_hop").tolist()
        if schema.disjoint:
            store.batch = _tensor(schema.node(c, t, "batch"))
    for e in schema.edges:
        store = data[e]
        store.edge_index = _tensor(schema.edge(c, e, "edge_index"))
        if schema.numbered:
            store.e_id = _tensor(schema.edge(c, e, "e_id"))
        if schema.hopped:
            store.num_sampled_edges = schema.edge(c, e, "by_hop").tolist()
        put(store, schema.edge_features(e), None, "edge_attr", "edge_")
    ends = data[schema.seed_types[0]], data[schema.seed_types[-1]]
    _seeds(schema, raw, label, data[schema.link_type] if schema.linked else ends[0], ends)
    return data


def _seeds(schema: Schema, raw: Raw, label: str | None, store: Any, ends: tuple[Any, Any]) -> None:
    """Sets the attributes of PyG's loaders for the seed nodes or links; `ends` are the stores of their node types."""
    c = raw.columns
    store.input_id = _tensor(raw.input_id)
    if not schema.linked:
        if schema.timed:
            store.seed_time = _tensor(c["seed_time"])
        if not schema.disjoint and int(schema.node(c, schema.seed_types[0], "by_hop")[0]) != raw.seeds:
            raise ValueError(
                f"batch {raw.number}: found a seed twice, expected each once, because the first batch_size nodes are the seeds; give scope='seed', or as_='numpy'"
            )
        store.batch_size = raw.seeds
        return
    labels = None
    for name, full in schema.link_features().items():
        x = tensor(c[full], full, full in schema.bfloat16)
        if name == label:
            labels = x
        else:
            store[f"link_{name}"] = x
    times = _tensor(c["seed_time"]) if schema.timed else None
    if schema.negatives and schema.keeps_sources:
        negatives = raw.negatives(schema)[..., 1]
        if schema.uneven:
            ends[1].dst_neg_ptr = _tensor(raw.negative_ptr)
        ends[0].src_index, ends[1].dst_pos_index = (_tensor(np.ascontiguousarray(x)) for x in raw.links.T)
        of_links = _tensor(np.ascontiguousarray(negatives))
        ends[1].dst_neg_index = of_links if schema.uneven else of_links.squeeze(-1)
        for end in ends if times is not None else ():
            end.seed_time = times
        return
    pairs = raw.links
    if schema.negatives:
        # The first negative of each link, then the second of each, ...: with scope="seed" PyG's are in this order, too.
        ptr = raw.negative_ptr
        of = np.repeat(np.arange(raw.seeds), np.diff(ptr))
        order = np.lexsort((of, np.arange(len(of)) - ptr[of]))
        pairs = np.concatenate([pairs, raw.negative_pairs[order]])
        if labels is None:
            labels = torch.ones(raw.seeds)
        elif schema.least.get(key("links", str(label))) == 0:
            labels = labels + 1  # 0 is the label of a negative
        labels = torch.cat([labels, labels.new_zeros(len(pairs) - raw.seeds, *labels.shape[1:])])
        times = None if times is None else torch.cat([times, times[_tensor(of[order])]])
    store.edge_label_index = _tensor(pairs.T)
    if labels is not None:
        store.edge_label = labels
    if times is not None:
        store.edge_label_time = times


def _value(c: Column) -> Any:
    return tensor(c.values, c.name, c.dtype == "bfloat16") if c.fixed else c.tolist()


@makes("graph", "pyg")
def graph(g: Graph, label: str | None) -> Data | HeteroData:
    """A graph of a collection, copied, so that it can be kept, sent and collated."""
    nodes, edges, context = g.nodes, g.edges, g.context
    homogeneous = len(nodes) == 1 and len(edges) <= 1
    data = Data() if homogeneous else HeteroData()
    of_context = label if label in context else None
    of_nodes = None if of_context else label
    if of_nodes is not None and not any(of_nodes in n.columns for n in nodes.values()):
        raise KeyError(f"label: found {label!r}, expected a column of the context ({', '.join(context) or 'none'}) or of nodes")
    for t, n in nodes.items():
        store = data if homogeneous else data[t]
        for name, c in _named(store, {name: n.columns.column(name) for name in n.columns}, of_nodes, "x", "node_").items():
            store[name] = _value(c)
        if n.node_id is not None:
            store.n_id = tensor(n.node_id, "node_id")
        if n.num_sampled_nodes is not None:
            store.num_sampled_nodes = n.num_sampled_nodes
        store.num_nodes = n.count
    for e, x in edges.items():
        store = data if homogeneous else data[e]
        store.edge_index = _tensor(x.edge_index)
        for name, c in _named(store, {name: x.columns.column(name) for name in x.columns}, None, "edge_attr", "edge_").items():
            store[name] = _value(c)
        if x.edge_id is not None:
            store.edge_id = tensor(x.edge_id, "edge_id")
        if x.num_sampled_edges is not None:
            store.num_sampled_edges = x.num_sampled_edges
    for name, c in _named(data, {name: context.column(name) for name in context}, of_context, None, "graph_").items():
        data[name] = _value(c)
    types, local = g.collection.seed_type, g.seed_local
    if local is not None:
        # When PyG makes batches, it adds the number of nodes before a graph to attributes with "index" in their names.
        if homogeneous or len(types) < 2:
            (data if homogeneous else data[types[0]]).seed_index = tensor(local.T, "seed_local")
        else:
            for i, name in enumerate(("seed_src_index", "seed_dst_index")):
                data[types[i]][name] = tensor(local[:, i], "seed_local")
    negatives = g.negative_local
    if negatives is not None:
        pair = negatives.reshape(-1, 2)
        if homogeneous:
            data.negative_index = tensor(pair.T, "negative_local")
        else:
            for i, name in enumerate(("negative_src_index", "negative_dst_index")):
                data[types[i]][name] = tensor(pair[:, i], "negative_local")
    return data


# PyG makes a class for each Batch that is constructed, which takes longer than filling it.
_EMPTY = {True: Batch(_base_cls=Data), False: Batch(_base_cls=HeteroData)}


class _Joined:
    """A batch in the making, and for each attribute the offsets of the parts of each graph."""

    def __init__(self, homogeneous: bool, graphs: int) -> None:
        self.batch: Any = copy.copy(_EMPTY[homogeneous])
        self._homogeneous = homogeneous
        self.slices: dict[Any, Any] = {}
        self.incs: dict[Any, Any] = {}
        self._zeros = torch.zeros(graphs, dtype=torch.int64)

    def store(self, type_: str | EdgeType) -> Any:
        return self.batch if self._homogeneous else self.batch[type_]

    def put(self, type_: Any, name: str, x: torch.Tensor, ptr: torch.Tensor, inc: torch.Tensor | None = None) -> None:
        """Sets an attribute of a type, or of the graphs (None)."""
        (self.batch if type_ is None else self.store(type_))[name] = x
        at = (None if self._homogeneous else type_) if type_ is not None else None
        slices, incs = (self.slices, self.incs) if at is None else (self.slices.setdefault(at, {}), self.incs.setdefault(at, {}))
        slices[name] = ptr
        incs[name] = self._zeros if inc is None else inc


@makes("packs", "pyg")
def packs(schema: PackSchema, b: PackBatch) -> Batch:
    """All graphs of the packs, including padding, as one Batch."""
    graphs = b.graph_id.size
    out = _Joined(schema.homogeneous, graphs)
    label = schema.label
    of_nodes = None if label in b.context else label

    def joined(type_: Any, name: str, x: Any) -> torch.Tensor:
        x = x.made() if isinstance(x, KeptColumn) else x
        return tensor(x.reshape(-1, *x.shape[2:]), name, (type_, name) in schema.bfloat16)

    ptrs = {}
    for t, n in b.nodes.items():
        store, ptr = out.store(t), np.append(0, np.cumsum(n.n_node.ravel(), dtype=np.int64))
        starts = ptrs[t] = _tensor(ptr)
        for name, (column, x) in _named(store, {k: (k, x) for k, x in n.columns.items()}, of_nodes, "x", "node_").items():
            out.put(t, name, joined(t, column, x), starts)
        if n.node_id is not None:
            out.put(t, "n_id", joined(t, "", n.node_id), starts)
        out.put(t, "node_mask", joined(t, "", n.mask), starts)
        store.num_nodes = int(ptr[-1])
        store._num_nodes = n.n_node.ravel().tolist()
        store.batch = _tensor(np.repeat(np.arange(graphs), n.n_node.ravel()))
        store.ptr = starts
    for e, edges in b.edges.items():
        store = out.store(e)
        bounds = _tensor(np.append(0, np.cumsum(edges.n_edge.ravel(), dtype=np.int64)))
        ends = []
        for t, local in ((e[0], edges.src), (e[2], edges.dst)):
            first = np.arange(len(local), dtype=np.int64)[:, None] * schema.shape.nodes[t]
            ends.append((local + first).ravel())
        before = ptrs[e[0]][:-1] if schema.homogeneous else torch.stack([ptrs[e[0]][:-1], ptrs[e[2]][:-1]], 1)[:, :, None]
        out.put(e, "edge_index", _tensor(np.stack(ends)), bounds, before)
        for name, (column, values) in _named(store, {k: (k, v) for k, v in edges.columns.items()}, None, "edge_attr", "edge_").items():
            out.put(e, name, joined(e, column, values), bounds)
        if edges.edge_id is not None:
            out.put(e, "edge_id", joined(e, "", edges.edge_id), bounds)
        out.put(e, "edge_mask", joined(e, "", edges.mask), bounds)
    each = torch.arange(graphs + 1)
    of_context = label if label in b.context else None
    for name, (column, x) in _named(out.batch, {k: (k, x) for k, x in b.context.items()}, of_context, None, "graph_").items():
        out.put(None, name, joined(None, column, x), each)
    out.put(None, "graph_mask", joined(None, "", b.graph_mask), each)
    out.put(None, "graph_id", joined(None, "", b.graph_id), each)
    out.batch._num_graphs, out.batch._slice_dict, out.batch._inc_dict = graphs, out.slices, out.incs
    return out.batch
