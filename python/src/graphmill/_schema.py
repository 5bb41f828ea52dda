"""Batches as a feed sends them: their columns by type, and their form as NumPy arrays."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from . import _arrays
from ._arrays import Array
from ._folder import typed
from ._makers import makes


@dataclass
class NodeBatch:
    """A sampled batch as NumPy arrays. They are views of shared memory and hold their slot in it.

    For a graph with one node type and one edge type, these are arrays; otherwise they are dicts by type.

    Attributes:
        n_id: int64 [nodes], type-wise ids: the seeds first, then in the order of discovery.
        edge_index: int64 [2, edges], local ids of source and destination.
        e_id: int64 [edges], the position of each edge in the imported input; `Edges.find` makes the edge ids of it, by which
            the columns of a store are ordered. None with ``edge_ids=False``.
        x: columns of the nodes, by name; bfloat16 as float32. With ``age=`` also age, float32 [nodes].
        edge_attr: columns of the edges, by name; with ``age=`` also age, float32 [edges].
        input_id: int64 [seeds], the index of each seed in the loader's ``seeds``; of a mask, the node's own id; of a table, its row.
        seed_local: int64 [seeds], the local id of each seed; equal seeds share a node. For links [links, 2], source and
            destination.
        batch_size: number of seeds.
        num_sampled_nodes: number of nodes that each hop found, from hop 0.
        num_sampled_edges: number of edges that were kept in each hop, from hop 1; None for ``subgraph_type`` "induced" and
            "bidirectional", whose edges have no hops.
        number: the batch's number in the epoch, over all ranks.
        batch: int64 [nodes], with ``scope="seed"`` the index in the batch of each node's seed; else None.
        seed_time: the time of each seed, with ``before=``; else None.
        links: columns of the links, by name, if seeds are links.
        negatives: int64 [links, negatives, 2], with ``negatives=`` the local ids of the negative links of each link, source and
            destination; else None. With lists of several lengths in ``negatives_from=``, or a fraction in ``negatives=``, [all negatives, 2].
        negative_ptr: int64 [links + 1], where links have several numbers of negatives: the negatives of link i are those from ``negative_ptr[i]`` to
            ``negative_ptr[i + 1]``; else None.
    """

    n_id: Any
    edge_index: Any
    e_id: Any
    x: Any
    edge_attr: Any
    input_id: Array
    seed_local: Array
    batch_size: int
    num_sampled_nodes: Any
    num_sampled_edges: Any
    number: int
    batch: Any = None
    seed_time: Array | None = None
    links: dict[str, Array] = field(default_factory=dict)
    negatives: Array | None = None
    negative_ptr: Array | None = None


class Raw:
    """The columns of a batch by type, from which the frameworks' objects are made."""

    def __init__(self, columns: dict[str, Array], seeds: int, number: int, hops: int) -> None:
        self.columns, self.seeds, self.number, self.hops = columns, seeds, number, hops

    @property
    def input_id(self) -> Array:
        return self.columns["input_id"]

    @property
    def seed_local(self) -> Array:
        return self.columns["seed_local"]

    @property
    def links(self) -> Array:
        """int64 [links, 2], the local ids of source and destination."""
        return self.columns["seed_local"].reshape(-1, 2)

    @property
    def negative_pairs(self) -> Array:
        """int64 [negatives, 2], the local ids of source and destination of each negative, link by link."""
        return self.columns["negative_local"].reshape(-1, 2)

    @property
    def negative_ptr(self) -> Array:
        """int64 [links + 1], the first negative of each link, and the number of all."""
        ends = self.columns.get("negative_end")
        if ends is not None:
            return np.concatenate([np.zeros(1, np.int64), ends])
        n = len(self.columns["negative_local"]) // 2
        return np.arange(self.seeds + 1) * (n // self.seeds)

    def negatives(self, schema: Schema) -> Array:
        """int64 [links, negatives, 2], or [negatives, 2] where links have several numbers of negatives."""
        return self.negative_pairs if schema.uneven else self.columns["negative_local"].reshape(self.seeds, -1, 2)


@functools.lru_cache(1 << 16)
def key(*parts: str) -> str:
    """The name of a column of a feed: a path, whose parts have no slashes."""
    return "/".join([p.replace("%", "%25").replace("/", "%2F") for p in parts])


def parts_of(name: str) -> list[str]:
    """The parts of the name of a column."""
    return [p.replace("%2F", "/").replace("%25", "%") for p in name.split("/")]


class Schema:
    """The types in a feed's columns and the names of their features."""

    def __init__(
        self,
        names: Sequence[str],
        ops: Sequence[tuple[str, int]],
        seed_types: Sequence[str],
        batch_size: int = 0,
        link_type: tuple[str, str, str] | None = None,
        bfloat16: frozenset[str] = frozenset(),
        seed_edges: str = "",
        negatives: tuple[str, int, bool] | None = None,
        least: Mapping[str, float] | None = None,
        ages: frozenset[str] = frozenset(),
    ) -> None:
        self.batch_size = batch_size  # of all batches except the last
        self.bfloat16 = bfloat16  # names of bfloat16 columns, whose values are given as uint16
        self.ages = ages  # names of the columns with ages at the times of seeds
        self.op_list = list(ops)  # edge type and hop of each op, from op 1
        self.seed_types = list(seed_types)  # one, or two for links
        paths = [parts_of(n) for n in names]
        self.link_columns = [p[1] for p in paths if p[0] == "links"]
        self.timed = "seed_time" in names
        # How many negatives a link has, or the most of them where lists are uneven; and whether all of them have the source of their link.
        self.negatives, self.keeps_sources = (negatives[1], negatives[2]) if negatives else (0, False)
        self.negatives_how = negatives[0] if negatives else ""  # "binary", "triplet", "in-batch" or "listed"
        self.uneven = "negative_end" in names
        self.least = dict(least or {})  # the least value of columns of links over all links, with negatives
        self.disjoint = key("nodes", seed_types[0], "batch") in names
        self.nodes: list[str] = []
        self.edges: list[tuple[str, str, str]] = []
        for kind, *rest in paths:
            if kind == "nodes" and rest[1:] == ["n_id"]:
                self.nodes.append(rest[0])
            elif kind == "edges" and rest[1:] == ["edge_index"]:
                self.edges.append(_triple(rest[0]))
        self.node_columns = {t: [p[3] for p in paths if p[:3] == ["nodes", t, "x"]] for t in self.nodes}
        self.edge_columns = {e: [p[3] for p in paths if p[:3] == ["edges", ":".join(e), "x"]] for e in self.edges}
        self.typed = typed(self.nodes, self.edges)
        self.homogeneous = len(self.nodes) == 1 and len(self.edges) <= 1
        self.linked = len(self.seed_types) == 2
        of = [e for e in self.edges if [e[0], e[2]] == self.seed_types]
        if link_type is None and seed_edges:
            link_type = _triple(seed_edges)
        self.link_type = link_type or (of[0] if len(of) == 1 else None)  # edge type of the links, None if it is not known
        self.numbered = all(key("edges", ":".join(e), "e_id") in names for e in self.edges)  # edges have e_id
        self.hopped = all(key("edges", ":".join(e), "by_hop") in names for e in self.edges)  # edges have hops

    def node(self, c: Mapping[str, Any], t: str, what: str) -> Any:
        return c[key("nodes", t, what)]

    def edge(self, c: Mapping[str, Any], e: tuple[str, str, str], what: str) -> Any:
        x = c[key("edges", ":".join(e), what)]
        return x.reshape(2, len(x) // 2) if what == "edge_index" else x

    def node_features(self, t: str) -> dict[str, str]:
        """The feed's names of a type's features, by feature name."""
        return {n: key("nodes", t, "x", n) for n in self.node_columns[t]}

    def edge_features(self, e: tuple[str, str, str]) -> dict[str, str]:
        return {n: key("edges", ":".join(e), "x", n) for n in self.edge_columns[e]}

    def link_features(self) -> dict[str, str]:
        return {n: key("links", n) for n in self.link_columns}

    def add_link_column(self, name: str, values: Array) -> None:
        """A column of the links that is not in the feed's batches, with its values for all links."""
        self.link_columns.append(name)
        if len(values):
            self.least[key("links", name)] = values.min()


def _triple(name: str) -> tuple[str, str, str]:
    src, rel, dst = name.split(":")
    return src, rel, dst


@makes("batch", "numpy")
def as_numpy(schema: Schema, raw: Raw, label: str | None) -> NodeBatch:
    c = raw.columns
    nodes = {t: t for t in schema.nodes}
    edges = {e: e for e in schema.edges}

    def of(types: dict[Any, Any], f: Callable[[Any], Any]) -> Any:
        out = {t: f(t) for t in types}
        return next(iter(out.values()), None) if schema.homogeneous else out

    def values(names: dict[str, str]) -> dict[str, Array]:
        return {n: _arrays.widened(c[full]) if full in schema.bfloat16 else c[full] for n, full in names.items()}

    return NodeBatch(
        n_id=of(nodes, lambda t: schema.node(c, t, "n_id")),
        edge_index=of(edges, lambda e: schema.edge(c, e, "edge_index")),
        e_id=of(edges, lambda e: schema.edge(c, e, "e_id")) if schema.numbered else None,
        x=of(nodes, lambda t: values(schema.node_features(t))),
        edge_attr=of(edges, lambda e: values(schema.edge_features(e))),
        input_id=raw.input_id,
        seed_local=raw.links if schema.linked else raw.seed_local,
        batch_size=raw.seeds,
        num_sampled_nodes=of(nodes, lambda t: schema.node(c, t, "by_hop").tolist()),
        num_sampled_edges=of(edges, lambda e: schema.edge(c, e, "by_hop").tolist()) if schema.hopped else None,
        number=raw.number,
        batch=of(nodes, lambda t: schema.node(c, t, "batch")) if schema.disjoint else None,
        seed_time=c["seed_time"] if schema.timed else None,
        links=values(schema.link_features()),
        negatives=raw.negatives(schema) if schema.negatives else None,
        negative_ptr=raw.negative_ptr if schema.uneven else None,
    )
