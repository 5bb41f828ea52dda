"""Batches as TF-GNN's GraphTensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_gnn as tfgnn

from ._loader import Raw, Schema

_NODE, _EDGE = "node", "edge"  # what TF-GNN is given for _N and _E: sets with underscores are auxiliary there


def _set_name(t: str) -> str:
    return _NODE if t == "_N" else t


def _edge_names(schema: Schema) -> dict[tuple[str, str, str], str]:
    """The relation where it is unique, else src_rel_dst: the names of our TFRecords."""
    relations = [e[1] for e in schema.edges]
    return {e: _EDGE if e[1] == "_E" else e[1] if relations.count(e[1]) == 1 else "_".join(e) for e in schema.edges}


def _constant(x: Any) -> tf.Tensor:
    return tf.constant(np.ascontiguousarray(x))


def convert(schema: Schema, raw: Raw, label: str | None) -> tfgnn.GraphTensor:
    """One component. The first nodes of the seeds' set are the seeds; the context has ``num_seeds``."""
    c = raw.columns
    nodes = {}
    for t in schema.nodes:
        features = {name: _constant(schema.node(c, t, f"x/{name}")) for name in schema.node_columns[t]}
        ids = schema.node(c, t, "n_id")
        features["n_id"] = _constant(ids)
        nodes[_set_name(t)] = tfgnn.NodeSet.from_fields(sizes=tf.constant([len(ids)], tf.int64), features=features)
    edges = {}
    for e, name in _edge_names(schema).items():
        pair = schema.edge(c, e, "edge_index")
        features = {n: _constant(schema.edge(c, e, f"x/{n}")) for n in schema.edge_columns[e]}
        features["e_id"] = _constant(schema.edge(c, e, "e_id"))
        edges[name] = tfgnn.EdgeSet.from_fields(
            sizes=tf.constant([pair.shape[1]], tf.int64),
            features=features,
            adjacency=tfgnn.Adjacency.from_indices(
                source=(_set_name(e[0]), _constant(pair[0])), target=(_set_name(e[2]), _constant(pair[1]))
            ),
        )
    seeds = max(int(schema.node(c, t, "by_hop")[0]) for t in schema.nodes)
    context = tfgnn.Context.from_fields(features={"num_seeds": tf.constant([seeds], tf.int64)})
    return tfgnn.GraphTensor.from_pieces(context=context, node_sets=nodes, edge_sets=edges)
