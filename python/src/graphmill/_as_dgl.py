"""Batches in the form of DGL's DataLoader: input nodes, output nodes, message-flow blocks."""

from __future__ import annotations

from typing import Any

import dgl
import numpy as np
import torch

from ._arrays import Array
from ._schema import Raw, Schema
from ._tensors import tensor

_tensor = torch.from_numpy
_EMPTY = np.empty((2, 0), np.int64)
_IN_ORDER = torch.empty(0, dtype=torch.int64)  # DGL then numbers the edges in their order


def _edges(src: Array, dst: Array, n: int) -> Any:
    """The edges in the form from which DGL builds a block: CSC if they are ordered by destination, which saves a sort, else COO."""
    if (dst[1:] >= dst[:-1]).all():
        indptr = np.zeros(n + 1, np.int64)
        np.bincount(dst, minlength=n).cumsum(out=indptr[1:])
        return "csc", (_tensor(indptr), _tensor(src), _IN_ORDER)
    return "coo", (_tensor(src), _tensor(dst))


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, -1)


def convert(schema: Schema, raw: Raw, label: str | None) -> tuple[Any, Any, list[Any]]:
    """The input nodes, the output nodes (or the graph of the links), and the blocks.

    Hop h expands all nodes found before it. Local ids ascend with the hop, so the nodes of hops below h are the first
    of each type, and a block's destinations are the first of its sources.
"""
    c = raw.columns
    found = {t: np.cumsum(schema.node(c, t, "by_hop")) for t in schema.nodes}
    n_id = {t: _tensor(schema.node(c, t, "n_id")) for t in schema.nodes}
    blocks = []
    for hop in range(raw.hops, 0, -1):
        dst = {t: int(found[t][hop - 1]) for t in schema.nodes}
        src = {t: int(found[t][hop]) for t in schema.nodes}
        drew: dict[str, list[int]] = {}
        for k, (name, at) in enumerate(schema.op_list, 1):
            if at == hop:
                drew.setdefault(name, []).append(k)
        data, ids = {}, {}
        for e in schema.edges:
            ops = drew.get(":".join(e), [])
            pair = _joined([c[f"ops/{k}/edge_index"].reshape(2, -1) for k in ops] or [_EMPTY])
            data[e] = _edges(pair[0], pair[1], dst[e[2]])
            ids[e] = _tensor(_joined([c[f"ops/{k}/e_id"] for k in ops] or [_EMPTY[0]]))
        if schema.homogeneous:
            t, e = schema.nodes[0], schema.edges[0]
            block = dgl.create_block(data[e], num_src_nodes=src[t], num_dst_nodes=dst[t])
        else:
            block = dgl.create_block(data, num_src_nodes=src, num_dst_nodes=dst)
        for t in schema.nodes:
            name = block.srctypes[0] if schema.homogeneous else t
            block.srcnodes[name].data[dgl.NID] = n_id[t][: src[t]]
            block.dstnodes[name].data[dgl.NID] = n_id[t][: dst[t]]
        for e in schema.edges:
            if schema.homogeneous:
                block.edata[dgl.EID] = ids[e]
            else:
                block.edges[e].data[dgl.EID] = ids[e]
        blocks.append(block)
    outer, inner = blocks[0], blocks[-1]
    for t in schema.nodes:
        name = outer.srctypes[0] if schema.homogeneous else t
        for column, full in schema.node_features(t).items():
            x = tensor(c[full], full, full in schema.bfloat16)
            outer.srcnodes[name].data[column] = x[: int(found[t][raw.hops])]
            inner.dstnodes[name].data[column] = x[: int(found[t][0])]
    outputs = {t: n_id[t][: int(found[t][0])] for t in schema.nodes}
    middle = _pair_graph(schema, raw, outputs) if schema.linked else outputs[schema.nodes[0]] if schema.homogeneous else outputs
    return n_id[schema.nodes[0]] if schema.homogeneous else n_id, middle, blocks


def _pair_graph(schema: Schema, raw: Raw, outputs: dict[str, torch.Tensor]) -> Any:
    """The links as a graph among the output nodes."""
    src, dst = raw.seed_local.reshape(-1, 2).T
    pair = _tensor(src), _tensor(dst)
    if schema.homogeneous:
        graph = dgl.graph(pair, num_nodes=len(outputs[schema.nodes[0]]))
    else:
        graph = dgl.heterograph({schema.link_type: pair}, {t: len(ids) for t, ids in outputs.items()})
    for t in graph.ntypes:
        graph.nodes[t].data[dgl.NID] = outputs[schema.nodes[0] if schema.homogeneous else t]
    graph.edata["input_id"] = _tensor(raw.input_id)
    for name, full in schema.link_features().items():
        graph.edata[name] = tensor(raw.columns[full], full, full in schema.bfloat16)
    return graph
