"""Batches in the form of DGL's DataLoader: input nodes, output nodes, message-flow blocks."""

from __future__ import annotations

from typing import Any

import dgl
import numpy as np
import torch

from .._arrays import Array, index, ranges, take
from .._folder import apart, triple
from .._makers import makes
from .._schema import Raw, Schema, key
from .._tensors import as_tensor as _tensor
from .._tensors import tensor
from . import dgl_blocks

_EMPTY = np.empty((2, 0), np.int64)
_TAKEN = (dgl.NID, dgl.EID, "_TYPE")  # names of data that DGL uses


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    return torch.cat(parts, -1) if isinstance(parts[0], torch.Tensor) else np.concatenate(parts, -1)


def _pair(x: Any) -> Any:
    """The ends of edges, [2, edges]."""
    return x.reshape(2, len(x) // 2) if x.ndim == 1 else x


def _host(x: Any) -> Array:
    """A column as an array of this process."""
    return np.asarray(x.cpu() if isinstance(x, torch.Tensor) else x)


def _beside(x: Array, column: Any) -> Any:
    """An array in the form of a column of the batch: on its device."""
    return index(column, x)


@makes("batch", "dgl")
def convert(schema: Schema, raw: Raw, label: str | None) -> tuple[Any, ...]:
    """The input nodes, the output nodes, and the blocks. Links are a graph in place of the output nodes, and their negatives
    a graph after it.

    Hop h expands all nodes found before it. Local ids ascend with the hop, so the nodes of hops below h are the first
    of each type, and a block's destinations are the first of its sources.
    """
    if not schema.linked and raw.seeds > schema.node(raw.columns, schema.seed_types[0], "by_hop")[0]:
        raw = _repeated(schema, raw)
    c = raw.columns
    found = {t: np.cumsum(schema.node(c, t, "by_hop")) for t in schema.nodes}
    n_id = {t: _tensor(schema.node(c, t, "n_id")) for t in schema.nodes}
    none = n_id[schema.nodes[0]].new_empty((2, 0))
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
            pair = _joined([_pair(c[f"ops/{k}/edge_index"]) for k in ops] or [none])
            # The edges of several ops of a relation are not in one order.
            indptr = c[f"ops/{ops[0]}/indptr"] if len(ops) == 1 else _EMPTY[0]
            data[e] = dgl_blocks.edges(pair[0], pair[1], indptr, src[e[0]], dst[e[2]])
            if schema.numbered:
                ids[e] = _tensor(_joined([c[f"ops/{k}/e_id"] for k in ops] or [none[0]]))
        block = dgl_blocks.homogeneous(data[schema.edges[0]]) if schema.homogeneous else dgl_blocks.typed(data, src, dst)
        for t in schema.nodes:
            name = block.srctypes[0] if schema.homogeneous else t
            block.srcnodes[name].data[dgl.NID] = n_id[t][: src[t]]
            block.dstnodes[name].data[dgl.NID] = n_id[t][: dst[t]]
        for e in schema.edges:
            edata = block.edata if schema.homogeneous else block.edges[e].data
            if schema.numbered:
                edata[dgl.EID] = ids[e]
            of_edges = schema.edge_features(e)
            names = apart(of_edges, _TAKEN, "edge_")
            for column, full in of_edges.items():
                parts = [c[key("ops", str(k), "x", column)] for k in drew.get(":".join(e), [])] or [c[full][:0]]
                x = parts[0] if len(parts) == 1 else torch.cat(parts) if isinstance(parts[0], torch.Tensor) else np.concatenate(parts)
                edata[names[column]] = tensor(x, full, full in schema.bfloat16)
        blocks.append(block)
    outer, inner = blocks[0], blocks[-1]
    for t in schema.nodes:
        name = outer.srctypes[0] if schema.homogeneous else t
        of_nodes = schema.node_features(t)
        for column, to in apart(of_nodes, _TAKEN, "node_").items():
            full = of_nodes[column]
            x = tensor(c[full], full, full in schema.bfloat16)
            outer.srcnodes[name].data[to] = x[: int(found[t][raw.hops])]
            inner.dstnodes[name].data[to] = x[: int(found[t][0])]
    outputs = {t: n_id[t][: int(found[t][0])] for t in schema.nodes}
    single = len(schema.nodes) == 1  # DGL has dicts only for several node types
    inputs = n_id[schema.nodes[0]] if single else n_id
    if not schema.linked:
        return inputs, outputs[schema.nodes[0]] if single else outputs, blocks
    of_links = schema.link_features()
    links = {
        to: tensor(c[of_links[name]], of_links[name], of_links[name] in schema.bfloat16)
        for name, to in apart(of_links, (*_TAKEN, "input_id", "seed_time"), "link_").items()
    }
    if schema.timed:
        links["seed_time"] = _tensor(c["seed_time"])
    pair_graph = _pairs(schema, raw.links, {"input_id": _tensor(raw.input_id), **links}, outputs)
    if not schema.negatives:
        return inputs, pair_graph, blocks
    of = _tensor(np.repeat(raw.input_id, np.diff(raw.negative_ptr)))
    return inputs, pair_graph, _pairs(schema, raw.negative_pairs, {"input_id": of}, outputs), blocks


def _repeated(schema: Schema, raw: Raw) -> Raw:
    """A batch in which a seed is several times, with a node for each, as in DGL: each has the edges that were drawn for the seed. Edges from the
    seed come from the first of its nodes.
    """
    of, c = schema.seed_types[0], dict(raw.columns)
    by_hop = schema.node(c, of, "by_hop").copy()
    have, more = int(by_hop.sum()), raw.seeds - int(by_hop[0])
    rows = np.concatenate([_host(raw.seed_local), np.arange(by_hop[0], have)])  # of each node, where it was
    to = np.empty(have, np.int64)
    to[rows[::-1]] = np.arange(len(rows))[::-1]
    by_hop[0] = raw.seeds
    c[key("nodes", of, "by_hop")] = by_hop
    for name in (key("nodes", of, "n_id"), *schema.node_features(of).values()):
        c[name] = take(c[name], _beside(rows, c[name]))
    for k, (name, _) in enumerate(schema.op_list, 1):
        source, _, target = name.split(":")
        pair = c[f"ops/{k}/edge_index"]
        src, dst = _pair(_host(pair))
        src = to[src] if source == of else src
        if target == of:
            indptr = _host(c[f"ops/{k}/indptr"])
            nodes = rows[: len(indptr) - 1 + more]  # the destinations
            starts, ends = indptr[nodes], indptr[nodes + 1]
            counts, taken = ends - starts, ranges(starts, ends)
            src, dst = src[taken], np.repeat(np.arange(len(nodes)), counts)
            c[f"ops/{k}/indptr"] = _beside(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), pair)
            for column in (f"ops/{k}/e_id", *(key("ops", str(k), "x", n) for n in schema.edge_columns[triple(name)])):
                if column in c:
                    c[column] = take(c[column], _beside(taken, c[column]))
        c[f"ops/{k}/edge_index"] = _beside(np.stack([src, dst]), pair)
    return Raw(c, raw.seeds, raw.number, raw.hops)


def _pairs(schema: Schema, pairs: Any, columns: dict[str, torch.Tensor], outputs: dict[str, torch.Tensor]) -> Any:
    """Pairs [pairs, 2] as a graph among the output nodes, with all types of the store."""
    pair = _tensor(pairs).T.contiguous().to(outputs[schema.nodes[0]].device).unbind()
    if schema.homogeneous:
        graph = dgl.graph(pair, num_nodes=len(outputs[schema.nodes[0]]))
        data = graph.edata
    else:
        none = pair[0][:0]
        edges = dict.fromkeys(schema.edges, (none, none))
        ends: dict[Any, Any] = {**edges, schema.link_type: pair}
        graph = dgl.heterograph(ends, {t: len(ids) for t, ids in outputs.items()})
        data = graph.edges[schema.link_type].data
    for t in graph.ntypes:
        graph.nodes[t].data[dgl.NID] = outputs[schema.nodes[0] if schema.homogeneous else t]
    for name, x in columns.items():
        data[name] = x.to(graph.device)
    return graph
