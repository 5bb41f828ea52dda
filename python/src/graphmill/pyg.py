"""A sampler for PyG's own loaders that uses a feed.

    from torch_geometric.loader import NodeLoader

    sampler = GraphmillSampler("g.store", fanout=[15, 10])
    loader = NodeLoader(data, node_sampler=sampler, input_nodes=data.train_mask, batch_size=1024, num_workers=2)

PyG takes the features from ``data``, by node id, and edge attributes by ``e_id``, the position of each edge in the imported
input. ``data`` needs an ``edge_index``, of which PyG uses only the type; `graphmill.Store` makes one
(``edges[...].edge_index()``). `graphmill.NodeLoader` is faster: it samples ahead, and its batches include the features.

`FeatureStore` and `GraphStore` are PyG's interfaces to data elsewhere, for its own samplers:

    loader = NeighborLoader((FeatureStore("g.store"), GraphStore("g.store")), num_neighbors=[15, 10], input_nodes="paper")
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch_geometric.sampler import BaseSampler, EdgeSamplerInput, HeteroSamplerOutput, NegativeSampling, NodeSamplerInput, SamplerOutput

from ._arguments import integer
from ._command import GraphmillError
from ._feed import Batch, Connection, Feeding
from ._options import feed_arguments
from ._pyg_remote import FeatureStore, GraphStore
from ._schema import Schema
from ._seeds import link_ends, seed_file
from ._store import Store
from ._table import SETS

__all__ = ["FeatureStore", "GraphStore", "GraphmillSampler"]


class GraphmillSampler(Feeding, BaseSampler):  # type: ignore[misc, unused-ignore]
    """Samples around seed nodes in a store, for ``torch_geometric.loader.NodeLoader``, or around links, for its ``LinkLoader``.

    The draws of a batch are a pure function of (seed, epoch, the batch's seeds), so the subgraphs are the same with any number
    of workers and threads. Batches of the same seeds have the same subgraph in each pass, unless `set_epoch` is called in
    between. Negative links are drawn uniformly, by torch's generator, as in PyG.

    Each process makes its own connection when it first samples, so workers can be forked or spawned. Tensors are copies.

    Args:
        store: path of a store.
        fanout: as for `graphmill.NodeLoader`.
        seed_type: node type of the seeds, if the store has several; for links, the types of source and destination, or
            their edge type.
        seed: the random seed of all draws.
        threads: number of sampling threads; default: one less than the number of cores.
        options: other flags of ``graphmill feed``, as keywords; ``scope="seed"`` is PyG's ``disjoint``.

    Raises:
        GraphmillError: an error of the command, with its text.
    """

    def __init__(
        self,
        store: str | os.PathLike[str],
        fanout: Sequence[int] | Mapping[Any, Sequence[int]] | None = None,
        seed_type: str | Sequence[str] | None = None,
        seed: int = 0,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        if options.get("before"):
            raise ValueError("found before=, expected none, because seeds from PyG have no times here; graphmill.NodeLoader samples before a time")
        if options.get("negatives"):
            raise ValueError("found negatives=, expected none, because PyG's LinkLoader draws them; give it neg_sampling=")
        if options.get("sampler") in SETS:
            raise ValueError(
                f"found sampler={options['sampler']!r}, expected 'neighbor', 'labor' or 'shadow', because PyG's loaders give the seeds; graphmill.NodeLoader makes batches of sets of nodes"
            )
        opened = Store(store)
        self._epoch, self._counts = 0, {t: n.count for t, n in opened.nodes.items()}
        ends, _ = link_ends(opened, None, seed_type)
        # A feed must have seeds of its own, for links in a file; this class does not use them.
        with seed_file(np.zeros((2, 1), np.int64) if ends and ("," in ends or ":" in ends) else None) as given:
            self._start(feed_arguments(store, fanout, seed, threads, ends, {"features": "none", **options}) + given)
        self._connect()

    def _connect(self) -> Connection:
        c = self._connection
        if c is None or c._pid != os.getpid():
            c = self._connected(0, 1, 2)  # with one slot, each batch would be copied twice
            self._schema = Schema(c.names, c.ops, c.seed_types)
        return c

    def set_epoch(self, epoch: int) -> None:
        """Change the epoch of all further draws; running workers keep theirs."""
        self._epoch = integer("epoch", epoch, 0, (1 << 63) - 1)

    def sample_from_nodes(self, index: NodeSamplerInput, **_: Any) -> SamplerOutput | HeteroSamplerOutput:
        """The subgraph around the seed nodes."""
        if index.time is not None:
            raise ValueError("found input_time, expected none; graphmill.NodeLoader samples before a time, with before= and scope='seed'")
        self._check([index.input_type])
        return self._output(self._sample(index.node.numpy()), index.input_type is None, (index.input_id, index.time))

    def sample_from_edges(self, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None) -> SamplerOutput | HeteroSamplerOutput:
        """The subgraph around the ends of links and of negative links, for which both ends or only the destinations are drawn."""
        if index.time is not None:
            raise ValueError("found edge_label_time, expected none; graphmill.NodeLoader samples before a time, with before= and scope='seed'")
        type_ = index.input_type
        self._check([None, None] if type_ is None else [type_[0], type_[2]])
        row, col, label = index.row, index.col, index.label
        links = row.numel()
        negative = 0 if neg_sampling is None else math.ceil(links * neg_sampling.amount)
        counts = [self._counts[t] for t in self._schema.seed_types]
        if neg_sampling is None or neg_sampling.is_binary():
            if neg_sampling is not None:
                row = torch.cat([row, neg_sampling.sample(negative, "src", counts[0])])
                col = torch.cat([col, neg_sampling.sample(negative, "dst", counts[-1])])
                label = torch.ones(links) if label is None else label
                label = torch.cat([label, label.new_zeros(negative, *label.shape[1:])])
        else:
            row = torch.cat([row, row.repeat(negative // max(links, 1))])
            col = torch.cat([col, neg_sampling.sample(negative, "dst", counts[-1])])
        batch = self._sample(torch.stack([row, col], 1).numpy().ravel())
        ends = _copied(batch.columns["seed_local"]).view(-1, 2).t()
        metadata: Any = (index.input_id, ends, label, None)
        if neg_sampling is not None and not neg_sampling.is_binary():
            others = ends[1, links:].view(-1, links).t().squeeze(-1)
            metadata = (index.input_id, ends[0, :links], ends[1, :links], others, None)
        out = self._output(batch, type_ is None, metadata)
        if out.batch is not None:  # a negative link belongs to one of the given links
            out.batch = {t: x % links for t, x in out.batch.items()} if isinstance(out.batch, dict) else out.batch % links
        return out

    def _check(self, types: list[str | None]) -> None:
        """Reject seeds of another type than the sampler's; None is the type of a homogeneous graph."""
        self._connect()
        schema = self._schema
        want = schema.seed_types
        if len(types) != len(want):
            which = ("links", "nodes") if len(types) == 2 else ("nodes", "links")
            raise ValueError(f"found {which[0]}, expected {which[1]}, for which the sampler was made; seed_type=(SOURCE, TARGET) makes a sampler for links")
        if types[0] is None and not schema.homogeneous:
            raise ValueError("found data of one type, expected HeteroData, because the store has several types")
        found = ",".join(t for t in types if t is not None)
        if found and types != want:
            raise ValueError(f"found input nodes of type {found!r}, expected {','.join(want)!r}, the seed_type of the sampler")

    def _sample(self, seeds: Any) -> Batch:
        """The batch of the given seeds; links are given as source, destination, source, ..."""
        seeds = seeds.astype(np.int64)
        unit = int.from_bytes(hashlib.blake2b(seeds.tobytes(), digest_size=8).digest(), "little")
        return self._connect().sample(seeds, self._epoch, unit)

    def _output(self, batch: Batch, plain: bool, metadata: Any) -> SamplerOutput | HeteroSamplerOutput:
        return _plain(self._schema, batch, metadata) if plain else _typed(self._schema, batch, metadata)


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
        batch=_copied(schema.node(c, t, "batch")) if schema.disjoint else None,
        num_sampled_nodes=schema.node(c, t, "by_hop").tolist() if schema.hopped else None,
        num_sampled_edges=schema.edge(c, e, "by_hop").tolist() if schema.hopped else None,
        metadata=metadata,
    )


def _typed(schema: Schema, b: Batch, metadata: Any) -> HeteroSamplerOutput:
    """Only the entries of types that the plan reaches, because PyG adds all types that it gets to the user's data."""
    c = b.columns
    drawn = {name for name, _ in schema.op_list}
    edges = [e for e in schema.edges if ":".join(e) in drawn]
    nodes = [t for t in schema.nodes if t in schema.seed_types or any(t in (e[0], e[2]) for e in edges)]
    pairs = {e: schema.edge(c, e, "edge_index") for e in edges}
    return HeteroSamplerOutput(
        node={t: _copied(schema.node(c, t, "n_id")) for t in nodes},
        row={e: _copied(p[0]) for e, p in pairs.items()},
        col={e: _copied(p[1]) for e, p in pairs.items()},
        edge={e: _copied(schema.edge(c, e, "e_id")) for e in edges},
        batch={t: _copied(schema.node(c, t, "batch")) for t in nodes} if schema.disjoint else None,
        num_sampled_nodes={t: schema.node(c, t, "by_hop").tolist() for t in nodes} if schema.hopped else None,
        num_sampled_edges={e: schema.edge(c, e, "by_hop").tolist() for e in edges} if schema.hopped else None,
        metadata=metadata,
    )
