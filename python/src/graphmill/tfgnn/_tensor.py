"""GraphTensors in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from .._arrays import Array
from .._folder import unknown
from ._ragged import Ragged, values_of
from ._schema import GraphSchema, feature

Value = Union[Array, Ragged]


class Context:
    """Features of the graph as a whole: an item per component."""

    __slots__ = ("features", "sizes")

    def __init__(self, features: Mapping[str, Value], sizes: Array) -> None:
        self.features, self.sizes = features, sizes

    @classmethod
    def from_fields(cls, *, features: Mapping[str, Any] | None = None, sizes: Any = None) -> Context:
        """Features by name, arrays [components, ...] or `Ragged`; ``sizes`` is a one per component."""
        of, items = _features("context", features)
        if sizes is None:
            return cls(of, np.ones(1 if items is None else items, np.int64))
        x = _sizes("context", sizes)
        if (x != 1).any() or items not in (None, len(x)):
            raise ValueError(f"context: found sizes {x.tolist()} and features of {items} items, expected a one per component, and as many items")
        return cls(of, x)

    def __getitem__(self, name: str) -> Value:
        return _of("context", self.features, name)

    def __repr__(self) -> str:
        return f"Context({_shown(self.features)})"


class NodeSet:
    """The nodes of a set.

    Attributes:
        sizes: the number of nodes of each component, int64.
        features: by name, an array or `Ragged` with a row per node; ``node_set["x"]`` is ``node_set.features["x"]``.
    """

    __slots__ = ("features", "sizes")

    def __init__(self, sizes: Array, features: Mapping[str, Value]) -> None:
        self.sizes, self.features = sizes, features

    @classmethod
    def from_fields(cls, *, sizes: Any, features: Mapping[str, Any] | None = None) -> NodeSet:
        return cls(*_set("node set", sizes, features))

    @property
    def total_size(self) -> int:
        """The number of nodes of all components."""
        return int(self.sizes.sum())

    def __getitem__(self, name: str) -> Value:
        return _of("node set", self.features, name)

    def __repr__(self) -> str:
        return f"NodeSet(sizes={self.sizes.tolist()}, {_shown(self.features)})"


class Adjacency:
    """The ends of edges, as indices of nodes in their sets, counted over all components.

    Attributes:
        source, target: int64 arrays with a value per edge.
        source_name, target_name: the node sets.
    """

    __slots__ = ("source", "source_name", "target", "target_name")

    def __init__(self, source_name: str, source: Array, target_name: str, target: Array) -> None:
        self.source_name, self.source, self.target_name, self.target = source_name, source, target_name, target

    @classmethod
    def from_indices(cls, source: tuple[str, Any], target: tuple[str, Any]) -> Adjacency:
        """Pairs of a node set and the indices of the ends in it."""
        ends = []
        for what, pair in (("source", source), ("target", target)):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], str):
                raise TypeError(f"adjacency: found {what}={pair!r}, expected (name of the node set, indices)")
            ends.append(_indices(f"adjacency: {what}", pair[1]))
        if len(ends[0]) != len(ends[1]):
            raise ValueError(f"adjacency: found {len(ends[0])} sources and {len(ends[1])} targets, expected equally many")
        return cls(source[0], ends[0], target[0], ends[1])

    def __repr__(self) -> str:
        return f"Adjacency({self.source_name!r} -> {self.target_name!r}, {len(self.source)} edges)"


class EdgeSet:
    """The edges of a set: `sizes` and `features` as of a `NodeSet`, and the ends, as `adjacency`."""

    __slots__ = ("adjacency", "features", "sizes")

    def __init__(self, sizes: Array, features: Mapping[str, Value], adjacency: Adjacency) -> None:
        self.sizes, self.features, self.adjacency = sizes, features, adjacency

    @classmethod
    def from_fields(cls, *, sizes: Any, adjacency: Adjacency, features: Mapping[str, Any] | None = None) -> EdgeSet:
        n, of = _set("edge set", sizes, features)
        if len(adjacency.source) != n.sum():
            raise ValueError(f"edge set: found {len(adjacency.source)} edges in the adjacency, expected {n.sum()}, the sum of sizes")
        return cls(n, of, adjacency)

    @property
    def total_size(self) -> int:
        """The number of edges of all components."""
        return int(self.sizes.sum())

    def __getitem__(self, name: str) -> Value:
        return _of("edge set", self.features, name)

    def __repr__(self) -> str:
        return f"EdgeSet(sizes={self.sizes.tolist()}, {self.adjacency!r}, {_shown(self.features)})"


class GraphTensor:
    """A graph, or several (its components), with features.

    Attributes:
        context: the `Context`.
        node_sets, edge_sets: `NodeSet` and `EdgeSet` by name.

    Example:
        >>> g = GraphTensor.from_pieces(
        ...     node_sets={"user": NodeSet.from_fields(sizes=[3], features={"age": np.array([20, 30, 40])})},
        ...     edge_sets={"knows": EdgeSet.from_fields(sizes=[2], adjacency=Adjacency.from_indices(("user", [0, 1]), ("user", [1, 2])))},
        ... )
        >>> record = write_example(g)
    """

    __slots__ = ("_schema", "context", "edge_sets", "node_sets")

    def __init__(self, context: Context, node_sets: Mapping[str, NodeSet], edge_sets: Mapping[str, EdgeSet], schema: GraphSchema | None = None) -> None:
        self.context, self.node_sets, self.edge_sets, self._schema = context, node_sets, edge_sets, schema

    @classmethod
    def from_pieces(
        cls, context: Context | None = None, node_sets: Mapping[str, NodeSet] | None = None, edge_sets: Mapping[str, EdgeSet] | None = None
    ) -> GraphTensor:
        """A graph of its parts, which are checked.

        Raises:
            ValueError: sets with different numbers of components; edges whose ends are no nodes of their component.
        """
        nodes, edges = dict(node_sets or {}), dict(edge_sets or {})
        sets = [("node set", n, len(s.sizes)) for n, s in nodes.items()] + [("edge set", n, len(e.sizes)) for n, e in edges.items()]
        if context is None:
            context = Context({}, np.ones(sets[0][2] if sets else 1, np.int64))
        for kind, name, count in sets:
            if count != len(context.sizes):
                raise ValueError(f"{kind} {name!r}: found {count} components, expected {len(context.sizes)}, as of the context and the other sets")
        for name, e in edges.items():
            a = e.adjacency
            for what, of, at in (("source", a.source_name, a.source), ("target", a.target_name, a.target)):
                if of not in nodes:
                    raise ValueError(unknown(f"edge set {name!r}: {what} node set", of, nodes))
                _check_ends(name, what, of, at, e.sizes, nodes[of].sizes)
        return cls(context, nodes, edges)

    @property
    def num_components(self) -> int:
        return len(self.context.sizes)

    @property
    def schema(self) -> GraphSchema:
        """The schema that the GraphTensor was read with, or that follows from its arrays.

        A dimension is variable only where a feature is `Ragged`.
        """
        if self._schema is None:
            self._schema = _schema(self)
        return self._schema

    def to_pyg(self) -> Any:
        """The graph as a PyG ``HeteroData``: node sets are node types, edge sets relations, and features attributes.

        Context features are attributes of the whole. Ragged features and strings are lists. With several components, each
        node type has ``batch``, the component of each node.
        """
        import torch
        from torch_geometric.data import HeteroData

        from .._tensors import tensor

        def value(name: str, x: Value) -> Any:
            if isinstance(x, Ragged) or x.dtype == object:
                return x.tolist()
            return tensor(x, name)

        data = HeteroData()
        for name, n in self.node_sets.items():
            data[name].num_nodes = n.total_size
            if self.num_components > 1:
                data[name].batch = torch.from_numpy(np.repeat(np.arange(self.num_components), n.sizes))
            for k, x in n.features.items():
                data[name][k] = value(k, x)
        for name, e in self.edge_sets.items():
            store = data[e.adjacency.source_name, name, e.adjacency.target_name]
            store.edge_index = torch.from_numpy(np.stack([e.adjacency.source, e.adjacency.target]))
            for k, x in e.features.items():
                store[k] = value(k, x)
        for k, x in self.context.features.items():
            data[k] = value(k, x)
        return data

    def to_jraph(self) -> Any:
        """A graph of one node set and one edge set as a jraph ``GraphsTuple``; features are dicts of NumPy arrays.

        Ragged features and strings are left out.
        """
        import jraph

        if len(self.node_sets) != 1 or len(self.edge_sets) != 1:
            raise ValueError(
                f"found {len(self.node_sets)} node sets and {len(self.edge_sets)} edge sets, expected one of each, because a GraphsTuple has no types"
            )
        (n,), (e,) = self.node_sets.values(), self.edge_sets.values()
        nodes, edges, context = ({k: x for k, x in s.features.items() if isinstance(x, np.ndarray) and x.dtype != object} for s in (n, e, self.context))
        return jraph.GraphsTuple(
            nodes=nodes, edges=edges, globals=context, senders=e.adjacency.source.astype(np.int32), receivers=e.adjacency.target.astype(np.int32),
            n_node=n.sizes.astype(np.int32), n_edge=e.sizes.astype(np.int32),
        )  # fmt: skip

    def __repr__(self) -> str:
        parts = [f"  {name}: {s!r}" for name, s in (*self.node_sets.items(), *self.edge_sets.items())]
        return "\n".join([f"GraphTensor({self.num_components} component{'s' * (self.num_components != 1)}): {self.context!r}", *parts])


def _check_ends(name: str, what: str, of: str, at: Array, edges: Array, nodes: Array) -> None:
    if not len(at):
        return
    if len(edges) == 1:
        first, last = 0, int(nodes[0])
        bad = int(at.min()) < 0 or int(at.max()) >= last
    else:
        ends = np.cumsum(nodes)
        lows, highs = np.repeat(ends - nodes, edges), np.repeat(ends, edges)
        bad = bool(((at < lows) | (at >= highs)).any())
    if bad:
        if len(edges) > 1:
            k = int(np.argmax((at < lows) | (at >= highs)))
            first, last = int(lows[k]), int(highs[k])
        else:
            k = int(np.argmax((at < 0) | (at >= last)))
        raise ValueError(f"edge set {name!r}: found {what} {int(at[k])} of edge {k}, expected {first} to {last - 1}, the nodes of its component in {of!r}")


def _sizes(what: str, x: Any) -> Array:
    n = np.asarray(x)
    if n.ndim == 0:
        n = n[None]
    if n.ndim != 1 or n.dtype.kind not in "iu" or not len(n) or n.min() < 0:
        raise ValueError(f"{what}: found sizes {n.tolist()}, expected the number of items of each component")
    return n.astype(np.int64, copy=False)


def _indices(what: str, x: Any) -> Array:
    x = x.detach().cpu().numpy() if hasattr(x, "detach") else np.asarray(x) if len(x) else np.zeros(0, np.int64)
    if x.ndim != 1 or x.dtype.kind not in "iu":
        raise TypeError(f"{what}: found {x.dtype} {list(x.shape)}, expected a list of integers, an index per edge")
    return x.astype(np.int64, copy=False)  # type: ignore[no-any-return]


def _features(what: str, features: Mapping[str, Any] | None, items: int | None = None) -> tuple[dict[str, Value], int | None]:
    out: dict[str, Value] = {}
    for name, x in (features or {}).items():
        if not isinstance(x, Ragged):
            try:
                x = values_of(x)
            except (TypeError, ValueError) as e:
                raise TypeError(f"{what}: feature {name!r}: {e}; a feature whose items differ in shape is Ragged") from None
            if x.ndim == 0:
                raise ValueError(f"{what}: feature {name!r}: found a single value, expected a row per item")
        if items is None:
            items = len(x)
        if len(x) != items:
            raise ValueError(f"{what}: feature {name!r}: found {len(x)} rows, expected {items}")
        out[name] = x
    return out, items


def _set(what: str, sizes: Any, features: Mapping[str, Any] | None) -> tuple[Array, dict[str, Value]]:
    n = _sizes(what, sizes)
    return n, _features(what, features, int(n.sum()))[0]


def _of(what: str, features: Mapping[str, Value], name: str) -> Value:
    if name not in features:
        raise KeyError(unknown(f"{what}: feature", name, features))
    return features[name]


def _shown(features: Mapping[str, Value]) -> str:
    return "{" + ", ".join(f"{k}: {x!r}" if isinstance(x, Ragged) else f"{k}: {x.dtype} {list(x.shape)}" for k, x in features.items()) + "}"


def _schema(g: GraphTensor) -> GraphSchema:
    def of(features: Mapping[str, Value], **ends: str) -> dict[str, Any]:
        each = {k: feature(x, x.shape if isinstance(x, Ragged) else x.shape[1:]) for k, x in features.items()}
        return {**({"features": each} if each else {}), **ends}

    parts = {
        "context": of(g.context.features),
        "node_sets": {name: of(n.features) for name, n in g.node_sets.items()},
        "edge_sets": {name: of(e.features, source=e.adjacency.source_name, target=e.adjacency.target_name) for name, e in g.edge_sets.items()},
    }
    return GraphSchema({k: v for k, v in parts.items() if v})
