"""Graphs as jraph's GraphsTuple, padded so that there are few shapes to compile."""

from __future__ import annotations

from typing import Any

import jraph
import numpy as np

from .._arrays import Array
from .._folder import apart
from .._jax_device import padded, room
from .._kept_packs import KeptColumn
from .._makers import makes
from .._packs import PackBatch, PackSchema
from .._schema import Raw, Schema
from .disjoint import by_seed


def _padded(x: Any, n: int) -> Any:
    """The rows of a column and zeros after them; what a device has or makes stays there."""
    return padded(x, n) if isinstance(x, np.ndarray) else x.padded(n)


@makes("batch", "jraph")
def convert(schema: Schema, raw: Raw, label: str | None) -> jraph.GraphsTuple:
    """One graph, or with ``scope="seed"`` one graph per seed, followed by a graph with the padding nodes and edges, and by
    empty graphs in place of the seeds that a short last batch lacks.

    ``nodes`` and ``edges`` are dicts of columns, with ``n_id`` and ``e_id``, int32. ``globals`` has ``num_seeds``: the
    first nodes of a graph are its seeds.

    For links, ``globals`` has ``num_links`` and ``links``, int32 [graphs, most links of a graph, 2]: the indices in ``nodes``
    of source and destination; ``negatives``, int32 [graphs, most links, negatives, 2]; and ``input_id`` and the columns of
    the links as ``link_NAME`` [graphs, most links, ...]. Beyond ``num_links``, links are pairs of the first padding node,
    and the rest is zeros.
    """
    if not schema.homogeneous:
        raise ValueError("found a graph of several types, expected one node type and one edge type, because jraph's GraphsTuple has no types")
    t, e = schema.nodes[0], schema.edges[0]
    if schema.disjoint:
        raw, counts = by_seed(schema, raw)
        graphs, seeds = schema.batch_size, np.ones(raw.seeds, np.int32)
    else:
        graphs, seeds = 1, schema.node(raw.columns, t, "by_hop")[:1]
        counts = {t: np.array([len(schema.node(raw.columns, t, "n_id"))]), e: np.array([schema.edge(raw.columns, e, "edge_index").shape[1]])}
    c = raw.columns
    src, dst = schema.edge(c, e, "edge_index")
    n, m = len(schema.node(c, t, "n_id")), len(src)
    nodes, edges = room(n + 1), room(m)

    def rows_of(names: dict[str, str], size: int) -> dict[str, Any]:
        return {name: _padded(_column(c[full], full in schema.bfloat16), size) for name, full in names.items()}

    of_nodes, of_edges = schema.node_features(t), schema.edge_features(e)
    names, edge_names = apart(of_nodes, ["n_id"], "node_"), apart(of_edges, ["e_id"], "edge_")  # in the dicts of the graph
    columns = rows_of({names[name]: full for name, full in of_nodes.items()}, nodes)
    columns["n_id"] = _padded(schema.node(c, t, "n_id").astype(np.int32), nodes)
    rows = rows_of({edge_names[name]: full for name, full in of_edges.items()}, edges)
    if schema.numbered:
        rows["e_id"] = _padded(schema.edge(c, e, "e_id").astype(np.int32), edges)
    ends = []
    for x in (src, dst):
        out = np.full(edges, n, np.int32)  # padding edges are loops at the first padding node
        out[:m] = x
        ends.append(out)

    def sizes(real: Array, padding: int) -> Array:
        out = np.zeros(graphs + 1, np.int32)
        out[: len(real)] = real
        out[len(real)] = padding
        return out

    return jraph.GraphsTuple(
        nodes=columns,
        edges=rows,
        senders=ends[0],
        receivers=ends[1],
        globals={"num_seeds": sizes(seeds, 0), **_links(schema, raw, graphs, n)},
        n_node=sizes(counts[t], nodes - n),
        n_edge=sizes(counts[e], edges - m),
    )


def _links(schema: Schema, raw: Raw, graphs: int, padding: int) -> dict[str, Any]:
    """The links of graphs, of which each has one with ``scope="seed"``, and else the first has all."""
    if not schema.linked:
        return {}
    most = 1 if schema.disjoint else schema.batch_size

    def padded(x: Array, fill: int) -> Array:
        out = np.full(((graphs + 1) * most, *x.shape[1:]), fill, x.dtype)
        out[: len(x)] = x  # links of the only graph, or one per graph: both are the first rows
        return out.reshape(graphs + 1, most, *x.shape[1:])

    c = raw.columns
    count = np.zeros(graphs + 1, np.int32)
    count[: raw.seeds if schema.disjoint else 1] = 1 if schema.disjoint else raw.seeds
    out = {"num_links": count, "links": padded(raw.links.astype(np.int32), padding), "input_id": padded(raw.input_id.astype(np.int32), 0)}
    if schema.negatives:
        out["negatives"] = padded(raw.negatives(schema).astype(np.int32), padding)
    for name, full in schema.link_features().items():
        out[f"link_{name}"] = padded(_bfloat16(c[full]) if full in schema.bfloat16 else c[full], 0)
    if schema.timed:
        out["seed_time"] = padded(c["seed_time"], 0)
    return out


@makes("packs", "jraph")
def packs(schema: PackSchema, b: PackBatch) -> jraph.GraphsTuple:
    """A pack with the padding of jraph.pad_with_graphs; several packs are stacked.

    ``nodes``, ``edges`` and ``globals`` are dicts of columns. ``globals`` also has ``graph_id``, -1 for padding; nodes and
    edges of sampled collections have ``node_id`` and ``edge_id``. A dict that would be empty has the mask, from which jraph
    finds its length.
    """
    if not schema.homogeneous:
        raise ValueError("found graphs of several types, expected one node type and one edge type, because jraph's GraphsTuple has no types")
    if not schema.stacked:
        b = b.flat()
    ((t, n),), ((e, x),) = b.nodes.items(), b.edges.items()

    def columns(type_: Any, of: dict[str, Array], id_name: str, ids: Array | None, mask: Array) -> dict[str, Array]:
        out = {k: v.made() if isinstance(v, KeptColumn) else _column(v, (type_, k) in schema.bfloat16) for k, v in of.items()}
        if ids is not None:
            out.setdefault(id_name, ids.astype(np.int32))
        return out or {"mask": mask}

    return jraph.GraphsTuple(
        nodes=columns(t, n.columns, "node_id", n.node_id, n.mask),
        edges=columns(e, x.columns, "edge_id", x.edge_id, x.mask),
        senders=x.src,
        receivers=x.dst,
        globals=columns(None, b.context, "graph_id", b.graph_id, b.graph_mask),
        n_node=n.n_node,
        n_edge=x.n_edge,
    )


def _column(x: Any, bfloat16: bool) -> Any:
    return _bfloat16(x) if bfloat16 and isinstance(x, np.ndarray) else x


def _bfloat16(x: Array) -> Array:
    import ml_dtypes  # JAX installs it

    return x.view(ml_dtypes.bfloat16)
