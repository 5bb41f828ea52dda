"""Calls of the layers of a model on neighbourhoods, in the forms of PyG and DGL. It needs torch."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from typing import Any, Callable

import numpy as np
import torch

from ._arrays import Array, is_torch
from ._command import GraphmillError
from ._features import WideColumn
from ._folder import Column, EdgeType
from ._in_edges import Neighbourhood
from ._store import Store
from ._tensors import tensor

Rows = Callable[[Array], torch.Tensor]  # the rows of some nodes, newly allocated
_SIGNED = ("u2", "u4", "u8")  # what torch cannot gather


def mapped(x: Any, name: str) -> torch.Tensor:
    """An array, a map or a `Column` of fixed shape as a tensor of the same memory, unless torch has not its dtype; nothing may write to it."""
    if isinstance(x, Column):
        if x.dtype == "bfloat16":
            return tensor(x.values, name, True)
        x = x.values
    if x.dtype.str[1:] in _SIGNED:
        return tensor(x, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch has no read-only tensors
        return torch.from_numpy(x)


def rows(x: Any, name: str, bfloat16: bool = False) -> Rows:
    """A reader of the rows of an array, a map, a tensor or a `Column` of fixed shape.

    Args:
        name: of the array, for errors.
        bfloat16: make bfloat16 of the values, which are float32.
    """
    bits = isinstance(x, Column) and x.dtype == "bfloat16"
    if isinstance(x, WideColumn):
        return lambda ids: tensor(x.take(ids).values, name, bits)
    values: Any = x.values if isinstance(x, Column) else x
    if bits or (not is_torch(values) and values.dtype.str[1:] in _SIGNED):
        return lambda ids: tensor(values[ids], name, bits)
    whole = values.detach() if is_torch(values) else mapped(values, name)

    def take(ids: Array) -> torch.Tensor:
        out = whole.index_select(0, torch.from_numpy(ids).to(whole.device))
        return out.bfloat16() if bfloat16 else out

    return take


class Layers:
    """The layers of a model.

    Args:
        layers: modules or functions, or a model of PyG with ``inference_per_layer``.
        as_: "pyg", "bipartite" or "dgl": what a layer is called with, see `graphmill.inference`.
        store: the store; its types say whether a layer gets dicts.
        edge_attr: the column of edges that a layer gets, or None.
        device: where batches are moved; None is the device of the first parameter.
    """

    def __init__(self, layers: Any, as_: str, store: Store, edge_attr: str | None, device: Any) -> None:
        self._per_layer = hasattr(layers, "inference_per_layer")
        if self._per_layer:
            if getattr(layers, "jk_mode", None) not in (None, "last"):
                raise ValueError(
                    f"found a model with jk={layers.jk_mode!r}, expected None or 'last', because the output of a layer is the input of the next one alone"
                )
            if edge_attr is not None or as_ == "dgl":
                raise ValueError("found edge_attr= or as_='dgl' with a model of PyG, expected neither; give a list of its layers")
            self.layers: list[Any] = [functools.partial(layers.inference_per_layer, i) for i in range(layers.num_layers)]
        else:
            if not hasattr(layers, "__iter__"):
                raise TypeError(
                    f"found layers={type(layers).__name__}, expected a list with a module or function per layer, or a model of PyG with inference_per_layer"
                )
            self.layers = list(layers)
        modules = [m for m in ([layers] if self._per_layer else self.layers) if isinstance(m, torch.nn.Module)]
        if not self.layers:
            raise ValueError("found no layers, expected at least one")
        for i, layer in enumerate(self.layers):
            if not callable(layer):
                raise TypeError(f"found {type(layer).__name__} as layer {i + 1}, expected a module or a function")
        for m in modules:
            if m.training:
                raise ValueError(f"found {type(m).__name__} in training mode, expected evaluation; call eval()")
            _warn_of_degrees(m)
        if device is None:
            device = next((p.device for m in modules for p in m.parameters()), "cpu")
        self._device = torch.device(device)
        self._as, self._nodes, self._edge_types = as_, store.node_types, store.edge_types
        self.homogeneous = len(store.nodes) == 1 and len(store.edges) <= 1
        if as_ == "bipartite" and not self.homogeneous:
            raise ValueError("found as_='bipartite' with a graph that has types, expected 'pyg', because PyG makes pairs of dicts by type itself")
        self._edge_rows: dict[EdgeType, Rows] = {}
        self._edge_attr = edge_attr
        if edge_attr is not None:
            for e, edges in store.edges.items():
                if edge_attr in edges.columns:
                    self._edge_rows[e] = rows(fixed(edges.columns.column(edge_attr), f"edge type {':'.join(e)}: column"), edge_attr)

    def call(self, i: int, hood: Neighbourhood, inputs: Mapping[str, Rows]) -> tuple[Array | None, bool]:
        """The output of layer ``i`` for the nodes of a neighbourhood, and whether its values are bfloat16.

        bfloat16 becomes float32. The output is None if a layer of a graph with types returns no rows of the type.

        Raises:
            GraphmillError: the layer raised an error, or returned what has not a row per node.
        """
        x = {t: inputs[t](ids).to(self._device) for t, ids in hood.nodes.items()}
        shown = ", ".join(f"x{'' if self.homogeneous else f' of {t}'} {str(v.dtype)[6:]} {list(v.shape)}" for t, v in x.items())
        place = f"layer {i + 1}, nodes {hood.start} to {hood.stop - 1} of {hood.type}, which got {shown}"
        try:
            with torch.no_grad():
                y = self._forward(self.layers[i], hood, x)
        except Exception as e:
            raise GraphmillError(f"{place}: found {type(e).__name__}: {e}") from e
        if not self.homogeneous:
            if not isinstance(y, Mapping):
                raise GraphmillError(f"{place}: found {type(y).__name__}, expected a dict of tensors by node type")
            y = y.get(hood.type)
            if y is None:
                return None, False
        n, most = hood.stop - hood.start, len(x[hood.type])
        if not isinstance(y, torch.Tensor) or y.dim() == 0:
            raise GraphmillError(
                f"{place}: found {type(y).__name__}{' of no dimension' if isinstance(y, torch.Tensor) else ''}, expected a tensor with a row per node"
            )
        if len(y) not in (n, n + hood.added, most):
            raise GraphmillError(f"{place}: found {len(y)} rows, expected {n}, one per node" + (f", or {most}, one per row of x" if most != n else ""))
        y = y[:n].cpu()
        return (y.float() if y.dtype == torch.bfloat16 else y).numpy(), y.dtype == torch.bfloat16

    def _forward(self, layer: Any, hood: Neighbourhood, x: dict[str, torch.Tensor]) -> Any:
        if self._as == "dgl":
            block = self._block(hood)
            return layer(block, x[hood.type] if self.homogeneous else x)
        n = hood.stop - hood.start
        pairs = {e: torch.from_numpy(p).to(self._device) for e, p in hood.edge_index.items()}
        values = {e: self._edge_rows[e](ids).to(self._device) for e, ids in hood.edge_id.items() if e in self._edge_rows}
        if not self.homogeneous:
            return layer(x, pairs, values) if self._edge_attr is not None else layer(x, pairs)
        nodes = x[hood.type]
        pair = next(iter(pairs.values()), torch.empty((2, 0), dtype=torch.int64, device=self._device))
        given = (nodes, nodes[:n]) if self._as == "bipartite" else nodes
        return layer(given, pair, n) if self._per_layer else layer(given, pair, *values.values())

    def _block(self, hood: Neighbourhood) -> Any:
        """The neighbourhood as a block of DGL; the edge column is in its edata."""
        import dgl

        n = hood.stop - hood.start + hood.added
        data = {}
        for e in self._edge_types:
            pair = hood.edge_index.get(e, np.empty((2, 0), np.int64))
            size = n if e[2] == hood.type else 0
            ptr = np.append(0, np.cumsum(np.bincount(pair[1], minlength=size)))
            data[e] = ("csc", (torch.from_numpy(ptr), torch.from_numpy(pair[0]), torch.empty(0, dtype=torch.int64)))
        src = {t: len(hood.nodes.get(t, ())) for t in self._nodes}
        dst = {t: n if t == hood.type else 0 for t in self._nodes}
        if self.homogeneous:
            (of,) = data.values()
            block = dgl.create_block(of, num_src_nodes=src[hood.type], num_dst_nodes=n)
        else:
            block = dgl.create_block(data, num_src_nodes=src, num_dst_nodes=dst)
        block = block.to(self._device)
        for e, take in self._edge_rows.items():
            if e in hood.edge_id:
                (block.edata if self.homogeneous else block.edges[e].data)[self._edge_attr] = take(hood.edge_id[e]).to(self._device)
        return block


def _warn_of_degrees(module: torch.nn.Module) -> None:
    """Warn of modules inside a module that normalise by the degrees of sources, which a batch does not have."""
    for m in module.modules():
        of_pyg = hasattr(m, "_cached_edge_index") and getattr(m, "normalize", False)
        of_dgl = type(m).__module__.startswith("dgl.") and getattr(m, "_norm", None) in ("both", "left")
        if of_pyg or of_dgl:
            warnings.warn(
                f"{type(m).__name__} divides by the degrees of sources, of which a batch has only some edges: its output differs from that on the "
                f"whole graph; give it normalised weights with edge_attr= and {'normalize=False' if of_pyg else 'norm=none'}",
                stacklevel=4,
            )
            return


def fixed(c: Column, what: str) -> Column:
    """The column, if it has numbers of one shape."""
    if not c.fixed or c.categories is not None or c.unit is not None:
        kind = "categories" if c.categories is not None else "times" if c.unit is not None else repr(c)
        raise ValueError(f"{what} {c.name!r}: found {kind}, expected numbers of one shape")
    return c
