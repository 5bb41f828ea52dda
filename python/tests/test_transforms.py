"""Compares the transforms of an import with PyG's, on random graphs."""

from __future__ import annotations

import importlib.util
import unittest
from collections.abc import Callable
from typing import Any

import made
import numpy as np
import numpy.typing as npt
from graphmill import Store


def _graph(seed: int) -> tuple[int, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Edges with weights that add up exactly, and features that PyG and Graphmill normalise alike: none negative, the least 0."""
    rng = np.random.default_rng(seed)
    n, e = int(rng.integers(2, 40)), int(rng.integers(1, 120))
    x = rng.integers(0, 5, (n, 3)).astype(np.float32)
    x[0] = 0
    return n, rng.integers(0, n, (2, e)), rng.integers(1, 64, e).astype(np.float32) / 8, x


def _imported(name: str, graph: tuple[int, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]], *flags: str) -> Store:
    _n, ends, weight, x = graph
    folder = made.write(
        name,
        {
            "graph.yaml": "nodes: {_N: {columns: {x: x.npy}}}\nedges: {'_N:_E:_N': {table: e.npy, columns: {edge_weight: w.npy}}}\n",
            "e.npy": ends,
            "w.npy": weight,
            "x.npy": x,
        },
    )
    made.graphmill("import", folder, "--out", folder + ".store", *flags)
    return Store(folder + ".store")


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestTransforms(unittest.TestCase):
    def check(self, what: str, change: Callable[[Any], Any], *flags: str) -> None:
        import torch
        from torch_geometric.data import Data

        for seed in range(20):
            n, ends, weight, x = graph = _graph(seed)
            data = change(Data(x=torch.from_numpy(x), edge_index=torch.from_numpy(ends), edge_weight=torch.from_numpy(weight), num_nodes=n))
            with _imported(f"{what}{seed}", graph, *flags) as s, self.subTest(what=what, seed=seed):
                self.assertEqual(s.nodes["_N"].count, data.num_nodes)
                np.testing.assert_allclose(s.nodes["_N"]["x"], data.x, rtol=1e-6)
                e = s.edges[("_N", "_E", "_N")]
                src, dst = np.asarray(e.edge_index())
                mine = sorted(zip(src.tolist(), dst.tolist(), np.asarray(e["edge_weight"]).tolist()))
                theirs = sorted(zip(*data.edge_index.tolist(), data.edge_weight.tolist()))
                self.assertEqual(mine, theirs)

    def test_self_loops(self) -> None:
        from torch_geometric.transforms import AddRemainingSelfLoops

        self.check("loops", lambda d: AddRemainingSelfLoops(attr="edge_weight", fill_value=1.0)(_summed(d)), "--self-loops", "add", "--duplicate-edges", "sum")

    def test_merge(self) -> None:
        self.check("merged", _summed, "--duplicate-edges", "sum")

    def test_largest_component(self) -> None:
        from torch_geometric.transforms import LargestConnectedComponents

        self.check("largest", LargestConnectedComponents(), "--largest-component")

    def test_normalise(self) -> None:
        from torch_geometric.transforms import NormalizeFeatures

        self.check("normalised", NormalizeFeatures(["x"]), "--normalise", "x")


def _summed(data: Any) -> Any:
    from torch_geometric.utils import coalesce

    data.edge_index, data.edge_weight = coalesce(data.edge_index, data.edge_weight, data.num_nodes, reduce="sum")
    return data
