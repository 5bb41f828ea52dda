"""Walks have the laws of the operators of PyG and DGL: two-sample chi-square tests over the first steps of many walks.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import functools
import importlib.util
import pathlib
import subprocess
import tempfile
import unittest
from typing import Any

import graphmill
import numpy as np
import numpy.typing as npt
from graphmill._command import command
from test_peer_laws import Laws

NODES, WALKS = 12, 2000


@functools.lru_cache(None)
def ends() -> npt.NDArray[Any]:
    """A connected undirected graph with triangles, as pairs in both directions; node 11 has one neighbour."""
    draw = np.random.default_rng(5)
    pairs = {(i, (i + 1) % 11) for i in range(11)} | {(int(a), int(b)) for a, b in draw.integers(0, 11, (14, 2)) if a != b} | {(3, 11)}
    both = sorted({(a, b) for a, b in pairs} | {(b, a) for a, b in pairs})
    return np.array(both).T


@functools.lru_cache(None)
def store() -> graphmill.Store:
    weight = 1.0 + np.arange(ends().shape[1]) % 4
    return graphmill.from_arrays(NODES, {("_N", "_E", "_N"): {"edge_index": ends(), "w": weight}})


def walk(of: graphmill.Store, *flags: str) -> npt.NDArray[Any]:
    """The rows of graphmill walk."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "walks")
        subprocess.run([command(), "walk", str(of.path), "--walks", str(WALKS), "--seed", "1", "--out", str(out), *flags], check=True, capture_output=True)
        return np.asarray(np.load(out / "walks.npy"))


def rows(walks: Any) -> list[tuple[int, ...]]:
    return [tuple(row) for row in np.asarray(walks).tolist()]


def starts() -> npt.NDArray[Any]:
    return np.tile(np.arange(NODES), WALKS)


@unittest.skipUnless(importlib.util.find_spec("torch_sparse"), "PyG is not installed")
class TestPyG(Laws):
    def test_uniform(self) -> None:
        import torch
        from torch_sparse import SparseTensor

        torch.manual_seed(1)
        src, dst = map(torch.from_numpy, ends())
        theirs = SparseTensor(row=src, col=dst, sparse_sizes=(NODES, NODES)).random_walk(torch.from_numpy(starts()), 3)
        ours = walk(store(), "--length", "3")
        self.assertEqual(ours.shape, tuple(theirs.shape))
        self.assertEqual(ours[:, 0].tolist(), starts().tolist())
        self.alike(rows(ours), rows(theirs))


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGL(Laws):
    def setUp(self) -> None:
        import dgl
        import torch

        dgl.seed(1)
        torch.manual_seed(1)
        self.graph = dgl.graph(tuple(map(torch.from_numpy, ends())), num_nodes=NODES)
        self.graph.edata["w"] = 1.0 + torch.arange(self.graph.num_edges(), dtype=torch.float64) % 4
        self.starts = torch.from_numpy(starts())

    def test_uniform(self) -> None:
        import dgl

        self.alike(rows(walk(store(), "--length", "3")), rows(dgl.sampling.random_walk(self.graph, self.starts, length=3)[0]))

    def test_weights(self) -> None:
        import dgl

        theirs = rows(dgl.sampling.random_walk(self.graph, self.starts, length=2, prob="w")[0])
        self.alike(rows(walk(store(), "--length", "2", "--weight", "w")), theirs)
        self.unlike(rows(walk(store(), "--length", "2")), theirs)

    def test_node2vec(self) -> None:
        import dgl

        for p, q in ((0.25, 4.0), (4.0, 0.25), (0.5, 0.5)):
            theirs = rows(dgl.sampling.node2vec_random_walk(self.graph, self.starts, p, q, 3))
            self.alike(rows(walk(store(), "--length", "3", "--p", str(p), "--q", str(q))), theirs)
            self.unlike(rows(walk(store(), "--length", "3")), theirs)

    def test_stop(self) -> None:
        """DGL's restart_prob ends a walk."""
        import dgl

        theirs = rows(dgl.sampling.random_walk(self.graph, self.starts, length=3, restart_prob=0.3)[0])
        self.alike(rows(walk(store(), "--length", "3", "--stop", "0.3")), theirs)

    def test_visits(self) -> None:
        """The neighbours of PinSAGE: which nodes are visited, and how often, in each of many copies of the graph."""
        import dgl
        import torch

        copies, step = 1500, ends().shape[1]
        many = np.tile(ends(), copies) + np.repeat(np.arange(copies) * NODES, step)
        of = graphmill.from_arrays(NODES * copies, many)
        graph = dgl.graph(tuple(map(torch.from_numpy, many)), num_nodes=NODES * copies)
        near = dgl.sampling.RandomWalkNeighborSampler(graph, 2, 0.4, 3, 100, ["_E", "_E"])(torch.arange(NODES * copies))
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "near")
            flags = "--metapath", "_E,_E", "--length", "4", "--end", "0.4", "--walks", "3", "--visits", "100", "--out", str(out)
            subprocess.run([command(), "walk", str(of.path), *flags], check=True, capture_output=True)
            ours = [np.load(out / f"{name}.npy") for name in ("src", "dst", "visits")]
        src, dst = near.edges()
        kinds: tuple[list[Any], list[Any]] = [], []
        for found, (a, b, n) in zip(kinds, (ours, (src.numpy(), dst.numpy(), near.edata["weights"].numpy()))):
            order = np.lexsort((a, b))
            a, b, n = a[order] % NODES, b[order], n[order]
            for v in (0, 3, 11):
                for start in range(v, NODES * copies, NODES):
                    at = slice(*np.searchsorted(b, (start, start + 1)))
                    found.append((v, *zip(a[at].tolist(), n[at].tolist())))
        self.alike(*kinds)

    def test_subgraphs(self) -> None:
        """The nodes of sampler="walk" are those that as many of DGL's walks visit."""
        import dgl
        import torch
        from graphmill import NodeLoader

        walks, length, copies = 3, 4, 2000
        many = np.tile(ends(), copies) + np.repeat(np.arange(copies) * NODES, ends().shape[1])
        of = graphmill.from_arrays(NODES * copies, many)
        graph = dgl.graph(tuple(map(torch.from_numpy, ends())), num_nodes=NODES)
        kinds: tuple[list[Any], list[Any]] = [], []
        for v in (0, 3, 11):
            nodes, _ = dgl.sampling.random_walk(graph, torch.full((copies * walks,), v), length=length)
            kinds[1].extend((v, *sorted({u for u in row if u >= 0} - {v})) for row in nodes.reshape(copies, -1).tolist())
            seeds = np.arange(v, NODES * copies, NODES)
            with NodeLoader(of, [-1], 1, seeds, sampler="walk", direction="out", walks=walks, walk_length=length) as loader:
                kinds[0].extend((v, *sorted((b.n_id[1:] % NODES).tolist())) for b in loader)
        self.alike(*kinds)

    def test_metapath(self) -> None:
        import dgl
        import torch

        draw = np.random.default_rng(6)
        rates = np.unique(draw.integers(0, 6, (20, 2)), axis=0).T
        types = {("user", "rates", "movie"): rates, ("movie", "rated", "user"): rates[::-1].copy()}
        graph = dgl.heterograph({t: tuple(map(torch.from_numpy, e)) for t, e in types.items()}, num_nodes_dict={"user": 6, "movie": 6})
        ours = graphmill.from_arrays({"user": 6, "movie": 6}, {t: {"edge_index": e} for t, e in types.items()})
        theirs, _ = dgl.sampling.random_walk(graph, torch.arange(6).repeat(WALKS), metapath=["rates", "rated", "rates"])
        self.alike(rows(walk(ours, "--metapath", "rates,rated", "--length", "3")), rows(theirs))


if __name__ == "__main__":
    unittest.main()
