"""Reads the packs of graphmill pack materialise (--format npy) for JAX and PyG, with NumPy.

packs = Packs("packs")
graph = jraph.GraphsTuple(**packs.graphs_tuple(p))
batch = torch_geometric.data.Data(**{k: torch.from_numpy(v) for k, v in packs.pyg(p).items()})
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np


class Packs:
    """All packs of a folder, each of one shape; arrays are mapped, not read."""

    def __init__(self, folder: str) -> None:
        path = pathlib.Path(folder)
        self.meta = json.loads((path / "packs.json").read_text())
        load: Callable[[str], np.ndarray] = lambda file: np.load(path / file, mmap_mode="r")
        arrays: Callable[[dict[str, Any]], dict[str, np.ndarray]] = lambda m: {k: load(f) for k, f in m["arrays"].items()}
        columns: Callable[[dict[str, Any]], dict[str, np.ndarray]] = lambda m: {k: load(c["file"]) for k, c in m.items()}
        self.packs = arrays(self.meta)
        self.nodes = {t: (arrays(m), columns(m["columns"])) for t, m in self.meta["nodes"].items()}
        self.edges = {t: (arrays(m), columns(m["columns"])) for t, m in self.meta["edges"].items()}
        self.context = columns(self.meta["context"])

    def __len__(self) -> int:
        return int(self.meta["packs"])

    def graphs_tuple(self, p: int) -> dict[str, Any]:
        """The fields of jraph.GraphsTuple, for collections with one node type and one edge type."""
        (n, nodes), (e, edges) = *self.nodes.values(), *self.edges.values()
        row: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]] = lambda columns: {k: v[p] for k, v in columns.items()}
        return dict(
            nodes=row(nodes),
            edges=row(edges),
            globals=row(self.context),
            senders=e["src"][p],
            receivers=e["dst"][p],
            n_node=n["n_node"][p],
            n_edge=e["n_edge"][p],
        )

    def pyg(self, p: int) -> dict[str, Any]:
        """The fields of a PyG Batch: node columns by name, edge columns as edge_NAME, context columns as graph_NAME."""
        (n, nodes), (e, edges) = *self.nodes.values(), *self.edges.values()
        index = np.stack([e["src"][p], e["dst"][p]]).astype(np.int64)
        fields = dict(
            edge_index=index,
            batch=n["graph"][p].astype(np.int64),
            ptr=n["ptr"][p].astype(np.int64),
            node_mask=np.array(n["mask"][p]),
            edge_mask=np.array(e["mask"][p]),
            graph_mask=np.array(self.packs["graph_mask"][p]),
        )
        named = {"": nodes, "edge_": edges, "graph_": self.context}
        return {prefix + k: np.array(v[p]) for prefix, columns in named.items() for k, v in columns.items()} | fields
