"""The weights of GraphSAINT: how often its batches have each node and each edge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Array
from ._schema import Raw, Schema, key

if TYPE_CHECKING:
    from ._schema import NodeBatch

NAMES = ("node_norm", "edge_norm")  # of the columns of nodes and edges
SAMPLERS = ("saint-node", "saint-edge", "saint-walk")
FIRST_EPOCH = 1 << 62  # of the batches that are only counted; no training gets there
_MOST = 1e4  # of edge_norm, as in PyG
_NEVER = 0.1  # the times of a node, and edge_norm of an edge, that no counted batch has, as in PyG


class Norms:
    """The number of counted batches that have each node and each edge.

    Args:
        nodes, edges: how many the graph has.
    """

    def __init__(self, nodes: int, edges: int) -> None:
        self.nodes, self.edges = np.zeros(nodes, np.int64), np.zeros(edges, np.int64)
        self.batches = self.drawn = 0

    def count(self, batches: Iterable[NodeBatch]) -> None:
        for b in batches:
            self.nodes[b.n_id] += 1
            self.edges[b.e_id] += 1
            self.batches += 1
            self.drawn += len(b.n_id)

    def name(self, schema: Schema) -> None:
        """Add the columns to the schema of the batches."""
        (t,), (e,) = schema.nodes, schema.edges
        schema.node_columns[t].append(NAMES[0])
        schema.edge_columns[e].append(NAMES[1])

    def add(self, schema: Schema, raw: Raw) -> None:
        """Add the columns to a batch. They are float32, by the formulas of PyG's GraphSAINTSampler.

        node_norm is batches / (times of the node * nodes), by which the loss of a node is multiplied; edge_norm is the times of the source
        / times of the edge, by which its message is multiplied.
        """
        (t,), (e,) = schema.nodes, schema.edges
        c = raw.columns
        ids, (src, _) = schema.node(c, t, "n_id"), schema.edge(c, e, "edge_index")
        times = self.nodes[ids]
        with np.errstate(divide="ignore", invalid="ignore"):
            node: Array = self.batches / np.where(times == 0, _NEVER, times) / len(self.nodes)
            edge: Array = np.minimum(times[src] / self.edges[schema.edge(c, e, "e_id")], _MOST)
        edge[np.isnan(edge)] = _NEVER
        c[key("nodes", t, "x", NAMES[0])], c[key("edges", ":".join(e), "x", NAMES[1])] = node.astype(np.float32), edge.astype(np.float32)


def check(sampler: Any, coverage: int, columns: Iterable[str], edge_ids: bool) -> None:
    """Reject a coverage that batches cannot have.

    Raises:
        ValueError: the text names the keyword.
    """
    if not coverage:
        return
    if sampler not in SAMPLERS:
        raise ValueError(f"found coverage={coverage} with sampler={sampler!r}, expected one of {', '.join(map(repr, SAMPLERS))}, whose losses are weighted")
    if not edge_ids:
        raise ValueError("found coverage= with edge_ids=False, expected edge_ids=True, because edges are counted by e_id")
    both = sorted(set(NAMES).intersection(columns))
    if both:
        raise ValueError(f"found coverage= and the column {both[0]} of the store, expected another name; leave it out of features= and edge_features=")
