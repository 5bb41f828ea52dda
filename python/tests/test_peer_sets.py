"""Batches that are the subgraphs of sets of nodes are those of PyG and DGL: GraphSAINT, Cluster-GCN and ShaDow.

GRAPHMILL_COMMAND is the path of the command.
"""

import collections
import functools
import importlib.util
import pathlib
import pickle
import tempfile
import unittest

import numpy as np

import graphmill
from graphmill import NodeLoader
from test_peer_laws import Laws

NODES, TIMES = 14, 3000


@functools.lru_cache(None)
def ends():
    """A directed graph with hubs, in which each node has an in-edge and an out-edge; no edge comes twice."""
    draw = np.random.default_rng(6)
    pairs = {(i, (i + 1) % NODES) for i in range(NODES)}
    pairs |= {(int(a), int(b) // 4) for a, b in draw.integers(0, NODES, (25, 2))}
    return np.array(sorted(pairs)).T


@functools.lru_cache(None)
def store():
    return graphmill.from_arrays(NODES, ends())


def pairs_of(b):
    """The edges of a NodeBatch by the ids of their ends, ascending."""
    return sorted(zip(*b.n_id[b.edge_index].tolist()))


def induced(nodes):
    return [e for e in sorted(zip(*ends().tolist())) if e[0] in nodes and e[1] in nodes]


def sets_of(size, times=TIMES, **words):
    """The node sets of some batches."""
    with NodeLoader(store(), batch_size=size, seed=1, features="none", **words) as loader:
        out = []
        while len(out) < times:
            for b in loader:
                nodes = b.n_id.tolist()
                if nodes != sorted(set(nodes)) or pairs_of(b) != induced(set(nodes)):
                    raise AssertionError(f"found nodes {nodes} and edges {pairs_of(b)}, expected each node once, and all edges between them")
                out.append(tuple(nodes))
    return out[:times]


@unittest.skipUnless(importlib.util.find_spec("torch_sparse"), "PyG is not installed")
class TestPyG(Laws):
    def setUp(self):
        import torch
        from torch_geometric.data import Data

        torch.manual_seed(1)
        self.data = Data(edge_index=torch.from_numpy(ends()), num_nodes=NODES)

    def saint(self, kind, size, **words):
        from torch_geometric import loader

        of = getattr(loader, f"GraphSAINT{kind}Sampler")(self.data, size, log=False, **words)
        return [tuple(of[i][0].tolist()) for i in range(TIMES)]

    def test_saint_nodes(self):
        self.alike(sets_of(2, sampler="saint-node"), self.saint("Node", 2))

    def test_saint_walks(self):
        ours = sets_of(1, sampler="saint-walk", walk_length=2)
        self.alike(ours, self.saint("RandomWalk", 1, walk_length=2))

    def test_norms(self):
        """The weights are those of PyG, as far as both are counted, and any one batch agrees with the formula."""
        from torch_geometric.loader import GraphSAINTNodeSampler

        theirs = GraphSAINTNodeSampler(self.data, 4, num_steps=500, sample_coverage=2000, log=False)
        with NodeLoader(store(), batch_size=4, sampler="saint-node", coverage=2000, as_="pyg", seed=1) as loader:
            for b in loader:
                self.assertNotIn("x", b)
                node = theirs.node_norm[b.n_id].numpy()
                edge = theirs.edge_norm[b.e_id].numpy()
                np.testing.assert_allclose(b.node_norm.numpy(), node, rtol=0.1)
                np.testing.assert_allclose(b.edge_norm.numpy(), edge, rtol=0.2)

    def test_shadow(self):
        """All neighbours of two hops: the same subgraph of each seed."""
        from torch_geometric.loader import ShaDowKHopSampler

        theirs = next(iter(ShaDowKHopSampler(self.data, depth=2, num_neighbors=100, batch_size=NODES)))
        names = []
        with NodeLoader(store(), [-1, -1], NODES, sampler="shadow", as_="pyg") as loader:
            (b,) = loader
        # PyG does not say which node is which: compare the number of nodes and edges, and the degrees, per subgraph.
        for x in (b, theirs):
            of = x.batch[x.edge_index[0]]
            names.append([(int((x.batch == i).sum()), sorted(np.bincount(x.edge_index[1][of == i].numpy()).tolist())[-5:]) for i in range(NODES)])
        self.assertEqual(names[0], names[1])

    def test_clusters(self):
        """The nodes and edges of ClusterLoader's batches, for the same parts."""
        import torch
        from torch_geometric.loader import ClusterData, ClusterLoader

        part = np.arange(NODES) * 7 % 3

        class Given(ClusterData):
            """Parts that METIS did not make."""

            def _metis(self, *_):
                return torch.from_numpy(part)

        self.data.nid = torch.arange(NODES)
        theirs = set()
        for b in ClusterLoader(Given(self.data, 3, log=False), batch_size=2):
            nodes = b.nid.tolist()
            self.assertEqual(sorted(zip(*b.nid[b.edge_index].tolist())), induced(set(nodes)))
            theirs.add(tuple(sorted(nodes)))
        with clusters(part) as folder:
            self.assertEqual(set(sets_of(2, 2, sampler="cluster", assignment=folder)), theirs)


class clusters:
    """A folder with the part of each node."""

    def __init__(self, part):
        self.part = part

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        pathlib.Path(self.folder.name, "_N.txt").write_text("".join(f"{p}\n" for p in self.part))
        return self.folder.name

    def __exit__(self, *_):
        self.folder.cleanup()


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGL(Laws):
    def setUp(self):
        import dgl
        import torch

        dgl.seed(1)
        torch.manual_seed(1)
        np.random.seed(1)
        self.graph = dgl.graph(tuple(map(torch.from_numpy, ends())), num_nodes=NODES)

    def saint(self, mode, budget):
        import dgl

        sampler = dgl.dataloading.SAINTSampler(mode, budget)
        return [tuple(sampler.sample(self.graph, 0).ndata[dgl.NID].tolist()) for _ in range(TIMES)]

    def test_saint_nodes(self):
        self.alike(sets_of(2, sampler="saint-node"), self.saint("node", 2))

    def test_saint_edges(self):
        self.alike(sets_of(1, sampler="saint-edge"), self.saint("edge", 1))

    def test_saint_walks(self):
        self.alike(sets_of(1, sampler="saint-walk", walk_length=2), self.saint("walk", (1, 2)))

    def test_clusters(self):
        """The same nodes and edges as ClusterGCNSampler, for each pair of parts."""
        import dgl
        import torch

        part = np.arange(NODES) * 7 % 5
        order = np.argsort(part, kind="stable")
        with clusters(part) as folder:
            cache = pathlib.Path(folder, "cache")
            cache.write_bytes(pickle.dumps((np.searchsorted(part[order], np.arange(6)), torch.from_numpy(order))))
            sampler = dgl.dataloading.ClusterGCNSampler(self.graph, 5, cache_path=str(cache))
            seen = collections.Counter()
            with NodeLoader(store(), batch_size=2, sampler="cluster", assignment=folder, shuffle=True, seed=1) as loader:
                for _ in range(20):
                    for b in loader:
                        parts = sorted(set(part[b.n_id]))
                        seen[tuple(parts)] += 1
                        theirs = sampler.sample(self.graph, torch.tensor(parts))
                        nodes = theirs.ndata[dgl.NID]
                        self.assertEqual(b.n_id.tolist(), sorted(nodes.tolist()))
                        self.assertEqual(pairs_of(b), sorted(zip(*(nodes[x].tolist() for x in theirs.edges()))))
        self.assertGreater(len(seen), 10)  # each epoch joins other parts

    def test_shadow(self):
        import dgl
        import torch

        sampler = dgl.dataloading.ShaDowKHopSampler([-1, -1])
        with NodeLoader(store(), [-1, -1], 1, sampler="shadow", expand="all") as loader:
            for b in loader:
                _, _, theirs = sampler.sample(self.graph, torch.from_numpy(b.n_id[:1].copy()))
                nodes = theirs.ndata[dgl.NID]
                self.assertEqual(sorted(b.n_id.tolist()), sorted(nodes.tolist()))
                self.assertEqual(pairs_of(b), sorted(zip(*(nodes[x].tolist() for x in theirs.edges()))))


if __name__ == "__main__":
    unittest.main()
