"""Graphs as TF-GNN's GraphTensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_gnn as tfgnn

from .._arrays import Array
from .._folder import Column, EdgeType, apart
from .._makers import makes
from .._packs import PackBatch, PackSchema
from .._schema import Raw, Schema
from .disjoint import by_seed

_READOUT = "_readout"
_NODE, _EDGE = "node", "edge"  # names in place of _N and _E, because sets with underscores are auxiliary to TF-GNN


def _set_name(t: str) -> str:
    return _NODE if t == "_N" else t


def _edge_names(edges: Iterable[EdgeType]) -> dict[EdgeType, str]:
    """The relation if it is unique, else src_rel_dst: the same names as in Graphmill's TFRecords."""
    relations = [e[1] for e in edges]
    return {e: _EDGE if e[1] == "_E" else e[1] if relations.count(e[1]) == 1 else "_".join(e) for e in edges}


def _constant(x: Any) -> tf.Tensor:
    return tf.constant(np.ascontiguousarray(x))


def _ragged(c: Column) -> Any:
    """A column of strings or lists as a tensor, which is ragged in its variable dimensions."""
    dims, left = c.shape, len(c.offsets)
    if c.string_offsets is not None:
        data, at = c.values.tobytes(), c.string_offsets.tolist()
        x: Any = tf.constant([data[a:b] for a, b in zip(at, at[1:])], tf.string)
    else:
        x = _constant(_bfloat16(c.values) if c.dtype == "bfloat16" else c.values)
        dims = dims[: len(dims) - dims[::-1].index(-1)]
    for d in reversed(dims):
        left -= d == -1
        x = tf.RaggedTensor.from_row_splits(x, c.offsets[left].astype(np.int64)) if d == -1 else tf.RaggedTensor.from_uniform_row_length(x, d)
    return x


def _bfloat16(x: Array) -> Array:
    return x.view(tf.bfloat16.as_numpy_dtype)


@makes("batch", "tfgnn")
def convert(schema: Schema, raw: Raw, label: str | None) -> tfgnn.GraphTensor:
    """One component, in which the first nodes of the seeds' set are the seeds; the context has ``num_seeds``.

    With ``scope="seed"``, one component per seed, with the seed as its first node.

    Links are TF-GNN's readout sets: ``_readout`` has a node per link, with the columns of the links and ``input_id``, and
    ``_readout/source`` and ``_readout/target`` have its ends. With negatives, the node of a link is followed by the nodes of its
    negatives, which have the columns of their link and the ``label`` 0. The ``label`` of a link is its column ``label``, one more
    where the least of all links is 0; without such a column it is 1. There is no ``num_seeds`` then.
    """
    if schema.disjoint:
        raw, counts = by_seed(schema, raw)
        seeds, links = np.ones(raw.seeds, np.int64), np.ones(raw.seeds, np.int64)
    else:
        counts = {t: np.array([len(schema.node(raw.columns, t, "n_id"))]) for t in schema.nodes}
        counts.update({e: np.array([schema.edge(raw.columns, e, "edge_index").shape[1]]) for e in schema.edges})
        seeds, links = schema.node(raw.columns, schema.seed_types[0], "by_hop")[:1], np.array([raw.seeds])
    c: dict[str, Any] = raw.columns

    def constants(names: dict[str, str]) -> dict[str, tf.Tensor]:
        return {
            name: _ragged(c[full]) if isinstance(c[full], Column) else _constant(_bfloat16(c[full]) if full in schema.bfloat16 else c[full])
            for name, full in names.items()
        }

    nodes = {}
    for t in schema.nodes:
        features = constants(_apart(schema.node_features(t), "n_id", "node_"))
        features["n_id"] = _constant(schema.node(c, t, "n_id"))
        nodes[_set_name(t)] = tfgnn.NodeSet.from_fields(sizes=tf.constant(counts[t], tf.int64), features=features)
    edges = {}
    for e, name in _edge_names(schema.edges).items():
        pair = schema.edge(c, e, "edge_index")
        features = constants(_apart(schema.edge_features(e), "e_id", "edge_"))
        if schema.numbered:
            features["e_id"] = _constant(schema.edge(c, e, "e_id"))
        edges[name] = tfgnn.EdgeSet.from_fields(
            sizes=tf.constant(counts[e], tf.int64),
            features=features,
            adjacency=tfgnn.Adjacency.from_indices(source=(_set_name(e[0]), _constant(pair[0])), target=(_set_name(e[2]), _constant(pair[1]))),
        )
    of_seeds = {} if schema.linked else {"num_seeds": _constant(seeds)}
    if schema.linked:
        _readout(schema, raw, links, nodes, edges)
    elif schema.timed:
        of_seeds["seed_time"] = _constant(c["seed_time"])
    context = tfgnn.Context.from_fields(features=of_seeds)
    return tfgnn.GraphTensor.from_pieces(context=context, node_sets=nodes, edge_sets=edges)


def _apart(columns: dict[str, str], taken: str, prefix: str) -> dict[str, str]:
    names = apart(columns, [taken], prefix)
    return {names[name]: full for name, full in columns.items()}


def _readout(schema: Schema, raw: Raw, links: Array, nodes: dict[str, Any], edges: dict[str, Any]) -> None:
    """Adds the readout sets; links is the number of links of each component."""
    c, pairs = raw.columns, raw.links
    each = np.ones(len(pairs), np.int64)  # rows of each link: its own, and its negatives'
    first = np.arange(len(pairs))
    if schema.negatives:
        ptr = raw.negative_ptr
        each += np.diff(ptr)
        pairs = np.insert(raw.negative_pairs, ptr[:-1], pairs, 0)
        first = ptr[:-1] + first

    def column(full: str) -> Array:
        x = _bfloat16(c[full]) if full in schema.bfloat16 else c[full]
        return np.repeat(x, each, 0)

    columns = {name: column(full) for name, full in _apart(schema.link_features(), "input_id", "link_").items()}
    columns["input_id"] = column("input_id")
    if schema.timed:
        columns["seed_time"] = column("seed_time")
    if schema.negatives:
        label = columns.get("label")
        if label is None:
            label = np.ones(len(pairs), np.int64)
        elif schema.least.get("links/label") == 0:
            label = label + np.ones((), np.int64 if label.dtype == bool else label.dtype)
        columns["label"] = np.zeros_like(label)
        columns["label"][first] = label[first]
    rows_before = np.concatenate([[0], np.cumsum(each)])
    links_before = np.concatenate([[0], np.cumsum(links)])
    sizes = tf.constant(np.diff(rows_before[links_before]), tf.int64)
    nodes[_READOUT] = tfgnn.NodeSet.from_fields(sizes=sizes, features={name: _constant(x) for name, x in columns.items()})
    rows = _constant(np.arange(len(pairs)))
    for i, (name, t) in enumerate(zip(("source", "target"), schema.seed_types)):
        adjacency = tfgnn.Adjacency.from_indices(source=(_set_name(t), _constant(pairs[:, i])), target=(_READOUT, rows))
        edges[f"{_READOUT}/{name}"] = tfgnn.EdgeSet.from_fields(sizes=sizes, features={}, adjacency=adjacency)


@makes("packs", "tfgnn")
def packs(schema: PackSchema, b: PackBatch) -> tuple[tfgnn.GraphTensor, tf.Tensor]:
    """All graphs of the packs as components, including padding, and the mask of the real ones, as pad_to_total_sizes returns them."""

    def features(type_: Any, of: dict[str, Array], **ids: Array | None) -> dict[str, tf.Tensor]:
        out = {}
        for name, x in of.items():
            x = x.reshape(-1, *x.shape[2:])
            out[name] = _constant(_bfloat16(x) if (type_, name) in schema.bfloat16 else x)
        for name, of_store in ids.items():
            if of_store is not None:
                out.setdefault(name, _constant(of_store.ravel().astype(np.int64)))
        return out

    def sizes(x: Array) -> tf.Tensor:
        return tf.constant(x.ravel(), tf.int64)

    nodes = {_set_name(t): tfgnn.NodeSet.from_fields(sizes=sizes(n.n_node), features=features(t, n.columns, node_id=n.node_id)) for t, n in b.nodes.items()}
    edges = {}
    for e, name in _edge_names(b.edges).items():
        x = b.edges[e]
        ends = []
        for t, local in ((e[0], x.src), (e[2], x.dst)):
            first = np.arange(len(local), dtype=np.int64)[:, None] * schema.shape.nodes[t]
            ends.append((_set_name(t), _constant((local + first).ravel())))
        edges[name] = tfgnn.EdgeSet.from_fields(
            sizes=sizes(x.n_edge), features=features(e, x.columns, edge_id=x.edge_id), adjacency=tfgnn.Adjacency.from_indices(source=ends[0], target=ends[1])
        )
    ones = tf.ones([b.graph_id.size], tf.int64)
    context = tfgnn.Context.from_fields(features=features(None, b.context, graph_id=b.graph_id), sizes=ones)
    return tfgnn.GraphTensor.from_pieces(context=context, node_sets=nodes, edge_sets=edges), _constant(b.graph_mask.ravel())
