"""For PyG's own loaders: a sampler that asks a feed.

    from torch_geometric.loader import NodeLoader

    sampler = GraphmillSampler("g.store", fanout=[15, 10])
    loader = NodeLoader(data, node_sampler=sampler, input_nodes=data.train_mask, batch_size=1024, num_workers=2)

``data`` is the user's: PyG takes the features from it, by node id, and edge attributes by ``e_id``, the place of each
edge in what was imported. It needs an ``edge_index``, of which PyG looks at the type alone; ``Store.edge_index`` makes
one, and so does the graph that the store was imported from. `graphmill.NodeLoader` is faster: it runs ahead, and its
batches bring their features.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any, Mapping, Sequence

import numpy as np
import torch
from torch_geometric.sampler import BaseSampler, EdgeSamplerInput, HeteroSamplerOutput, NegativeSampling, NodeSamplerInput, SamplerOutput

from ._command import GraphmillError
from ._feed import Batch, Connection, Feeding
from ._loader import Schema, feed_arguments


class GraphmillSampler(Feeding, BaseSampler):  # type: ignore[misc, unused-ignore]
    """Samples the neighbours of seed nodes in a store, for ``torch_geometric.loader.NodeLoader``.

    The draws of a batch are a pure function of (seed, epoch, the batch's seed nodes), so the subgraphs are the same at any number of
    workers and threads. Batches of the same nodes have the same subgraph in each pass, unless `set_epoch` is called in between.

    Each process connects for itself when it first samples: workers can be forked or spawned. Tensors are copies.

    Args:
        store: path of a store.
        fanout: as of `graphmill.NodeLoader`.
        seed_type: node type of the seeds, where the store has several.
        seed: of all draws.
        threads: that sample; default: one less than the cores.
        options: further flags of ``graphmill feed``, as keywords.

    Raises:
        GraphmillError: what the command says, with its words.
    """

    def __init__(
        self,
        store: str | os.PathLike[str],
        fanout: Sequence[int] | Mapping[Any, Sequence[int]] | None = None,
        seed_type: str | None = None,
        seed: int = 0,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        self._seed_type, self._epoch = seed_type, 0
        self._start(feed_arguments(store, fanout, seed, threads, seed_type, {"features": "none", **options}))
        self._connect()

    def _connect(self) -> Connection:
        c = self._connection
        if c is None or c._pid != os.getpid():
            c = self._connected(0, 1, 1)
            self._schema = Schema(c.names, c.ops)
        return c

    def set_epoch(self, epoch: int) -> None:
        """Make other draws from now on; workers that are running keep theirs."""
        self._epoch = epoch

    def sample_from_nodes(self, index: NodeSamplerInput, **_: Any) -> SamplerOutput | HeteroSamplerOutput:
        """The subgraph around the seed nodes."""
        if index.time is not None:
            raise ValueError("found input_time, expected none: give before= and seed_time=, columns of the store")
        if index.input_type is not None and self._seed_type is not None and index.input_type != self._seed_type:
            raise ValueError(f"found input nodes of type {index.input_type!r}, expected {self._seed_type!r}, the seed_type of the sampler")
        connection = self._connect()
        schema = self._schema
        if index.input_type is None and not schema.homogeneous:
            raise ValueError("found data of one type, expected HeteroData: the store has several types")
        seeds = index.node.numpy().astype(np.int64)
        unit = int.from_bytes(hashlib.blake2b(seeds.tobytes(), digest_size=8).digest(), "little")
        batch = connection.sample(seeds, self._epoch, unit)
        metadata = (index.input_id, index.time)
        return _plain(schema, batch, metadata) if index.input_type is None else _typed(schema, batch, index.input_type, metadata)

    def sample_from_edges(self, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None) -> SamplerOutput | HeteroSamplerOutput:
        """Not there: a feed samples around nodes."""
        raise NotImplementedError("GraphmillSampler samples around nodes, for NodeLoader; for links, sample both ends with graphmill sample --seeds LINKS --seed-type SOURCE,TARGET")


def _copied(x: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(x))


def _plain(schema: Schema, b: Batch, metadata: Any) -> SamplerOutput:
    if not schema.edges:
        raise GraphmillError("found a plan without edges, expected a fanout")
    t, e, c = schema.nodes[0], schema.edges[0], b.columns
    row, col = schema.edge(c, e, "edge_index")
    return SamplerOutput(
        node=_copied(schema.node(c, t, "n_id")),
        row=_copied(row),
        col=_copied(col),
        edge=_copied(schema.edge(c, e, "e_id")),
        num_sampled_nodes=schema.node(c, t, "by_hop").tolist(),
        num_sampled_edges=schema.edge(c, e, "by_hop").tolist(),
        metadata=metadata,
    )


def _typed(schema: Schema, b: Batch, seed_type: str, metadata: Any) -> HeteroSamplerOutput:
    """Of the types that the plan reaches: PyG adds to the user's data those that it gets besides."""
    c = b.columns
    drawn = {name for name, _ in schema.op_list}
    edges = [e for e in schema.edges if ":".join(e) in drawn]
    nodes = [t for t in schema.nodes if t == seed_type or any(t in (e[0], e[2]) for e in edges)]
    pairs = {e: schema.edge(c, e, "edge_index") for e in edges}
    return HeteroSamplerOutput(
        node={t: _copied(schema.node(c, t, "n_id")) for t in nodes},
        row={e: _copied(p[0]) for e, p in pairs.items()},
        col={e: _copied(p[1]) for e, p in pairs.items()},
        edge={e: _copied(schema.edge(c, e, "e_id")) for e in edges},
        num_sampled_nodes={t: schema.node(c, t, "by_hop").tolist() for t in nodes},
        num_sampled_edges={e: schema.edge(c, e, "by_hop").tolist() for e in edges},
        metadata=metadata,
    )
