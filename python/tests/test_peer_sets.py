"""Batches that are the subgraphs of sets of nodes equal the batches of PyG and DGL: GraphSAINT, Cluster-GCN and ShaDow.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import collections
import functools
import importlib.util
import pathlib
import pickle
import tempfile
import types
import unittest
import unittest.mock
from collections.abc import Container
from typing import Any

import graphmill
import numpy as np
import numpy.typing as npt
from graphmill import NodeLoader
from test_peer_laws import Laws

NODES, TIMES = 14, 3000


@functools.lru_cache(None)
def ends() -> npt.NDArray[Any]:
    """A directed graph with hubs, in which each node has an in-edge and an out-edge; no edge comes twice."""
    draw = np.random.default_rng(6)
    pairs = {(i, (i + 1) % NODES) for i in range(NODES)}
    pairs |= {(int(a), int(b) // 4) for a, b in draw.integers(0, NODES, (25, 2))}
    return np.array(sorted(pairs)).T


@functools.lru_cache(None)
def store() -> graphmill.Store:
    return graphmill.from_arrays(NODES, ends())


def pairs_of(b: Any) -> list[tuple[int, ...]]:
    """The edges of a NodeBatch by the ids of their ends, ascending."""
    return sorted(zip(*b.n_id[b.edge_index].tolist()))


def induced(nodes: Container[int]) -> list[tuple[int, ...]]:
    return [e for e in sorted(zip(*ends().tolist())) if e[0] in nodes and e[1] in nodes]


def sets_of(size: int, times: int = TIMES, **words: Any) -> list[tuple[int, ...]]:
    """The node sets of some batches."""
    with NodeLoader(store(), batch_size=size, seed=1, features="none", **words) as loader:
        out: list[tuple[int, ...]] = []
        while len(out) < times:
            for b in loader:
                nodes = b.n_id.tolist()
                if nodes != sorted(set(nodes)) or pairs_of(b) != induced(set(nodes)):
                    raise AssertionError(f"found nodes {nodes} and edges {pairs_of(b)}, expected each node once, and all edges between them")
                out.append(tuple(nodes))
    return out[:times]


@unittest.skipUnless(importlib.util.find_spec("torch_sparse"), "PyG is not installed")
class TestPyG(Laws):
    def setUp(self) -> None:
        import torch
        from torch_geometric.data import Data

        torch.manual_seed(1)
        self.data = Data(edge_index=torch.from_numpy(ends()), num_nodes=NODES)

    def saint(self, kind: str, size: int, **words: Any) -> list[tuple[int, ...]]:
        from torch_geometric import loader

        of = getattr(loader, f"GraphSAINT{kind}Sampler")(self.data, size, log=False, **words)
        return [tuple(of[i][0].tolist()) for i in range(TIMES)]

    def test_saint_nodes(self) -> None:
        self.alike(sets_of(2, sampler="saint-node"), self.saint("Node", 2))

    def test_saint_walks(self) -> None:
        ours = sets_of(1, sampler="saint-walk", walk_length=2)
        self.alike(ours, self.saint("RandomWalk", 1, walk_length=2))

    def test_norms(self) -> None:
        """The weights equal PyG's, as far as both are counted, and any one batch agrees with the formula."""
        from torch_geometric.loader import GraphSAINTNodeSampler

        theirs = GraphSAINTNodeSampler(self.data, 4, num_steps=500, sample_coverage=2000, log=False)
        with NodeLoader(store(), batch_size=4, sampler="saint-node", coverage=2000, as_="pyg", seed=1) as loader:
            for b in loader:
                self.assertNotIn("x", b)
                node = theirs.node_norm[b.n_id].numpy()
                edge = theirs.edge_norm[b.e_id].numpy()
                np.testing.assert_allclose(b.node_norm.numpy(), node, rtol=0.1)
                np.testing.assert_allclose(b.edge_norm.numpy(), edge, rtol=0.2)

    def test_random_nodes(self) -> None:
        """Each epoch is a partition of the nodes, alike: what is between two of them is drawn as often as by PyG's RandomNodeLoader."""
        from torch_geometric.loader import RandomNodeLoader

        loader = RandomNodeLoader(self.data, num_parts=2, shuffle=True)
        theirs = [b.edge_index.shape[1] for _ in range(TIMES // 2) for b in loader]
        with NodeLoader(store(), [0], NODES // 2, np.arange(NODES), subgraph_type="induced", shuffle=True, seed=1) as ours:
            self.assertEqual(len(ours), len(loader))
            epochs = [list(ours) for _ in range(TIMES // 2)]
        for batches in epochs[:20]:
            self.assertEqual(sorted(np.concatenate([b.n_id for b in batches]).tolist()), list(range(NODES)))
        self.alike([b.edge_index.shape[1] for batches in epochs for b in batches], theirs)

    def test_shadow(self) -> None:
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

    def test_budgets(self) -> None:
        """The nodes of HGTLoader's batches, which draws with replacement: its law is ours where a hop adds one node of a type."""
        import torch
        from torch_geometric.data import HeteroData
        from torch_geometric.loader import HGTLoader

        draw, counts = np.random.default_rng(3), {"a": 8, "b": 7}
        sizes = {("a", "x", "b"): (20, 8, 7), ("b", "y", "a"): (22, 7, 8), ("b", "z", "b"): (16, 7, 7)}
        edges = {t: np.array(sorted({(int(u) % n, int(v) % m) for u, v in draw.integers(0, 56, (k, 2))})).T for t, (k, n, m) in sizes.items()}
        data = HeteroData()
        for t, n in counts.items():
            data[t].num_nodes = n
            data[t].id = torch.arange(n)
        for relation, e in edges.items():
            data[relation].edge_index = torch.from_numpy(e)
        torch.manual_seed(1)
        theirs: list[Any] = []
        ours: list[Any] = []
        while len(theirs) < TIMES:
            for b in HGTLoader(data, num_samples=[1, 1], input_nodes=("b", torch.tensor([3])), batch_size=1):
                theirs.append(tuple(tuple(sorted(b[t].id.tolist())) for t in counts))
        of = graphmill.from_arrays(counts, edges)
        with NodeLoader(of, {"a": [1, 1], "b": [1, 1]}, 1, np.array([3]), seed_type="b", sampler="hgt", features="none") as loader:
            while len(ours) < TIMES:
                for b in loader:
                    nodes = b.n_id
                    for (s, r, d), e in edges.items():
                        have = sorted(zip(nodes[s][b.edge_index[s, r, d][0]].tolist(), nodes[d][b.edge_index[s, r, d][1]].tolist()))
                        self.assertEqual(have, [(u, v) for u, v in sorted(zip(*e.tolist())) if u in nodes[s] and v in nodes[d]])
                    ours.append(tuple(tuple(sorted(nodes[t].tolist())) for t in counts))
        self.alike(ours, theirs)
        self.assertGreater(len(set(ours)), 20)

    def test_weights(self) -> None:
        """The weights of edges keep their name in PyG's batches, also as the only column."""
        with NodeLoader(store(), [3, 2], 4, sampler="ladies", as_="pyg") as loader:
            for b in loader:
                self.assertEqual(b.edge_weights.shape, b.e_id.shape)
                self.assertNotIn("edge_attr", b)

    def test_ranks(self) -> None:
        """The nodes of the largest PageRanks equal the result of PyG's get_ppr."""
        import torch
        from torch_geometric.utils import ppr

        order = np.lexsort(ends())  # by destination: a walk goes to the sources
        far = torch.from_numpy(np.ascontiguousarray(ends()[::-1, order]))
        compiled = types.SimpleNamespace(prange=range, int64=int, jit=lambda **_: lambda function: function)
        with unittest.mock.patch.multiple(ppr, create=True, numba=compiled, WITH_NUMBA=True):  # PyG's code without its compiler
            (source, node), rank = ppr.get_ppr(far, alpha=0.15, eps=1e-7, num_nodes=NODES)
        with NodeLoader(store(), [4], 1, sampler="ppr", alpha=0.15, eps=1e-7, features="none") as loader:
            for v, b in enumerate(loader):
                ranks = {int(u): float(r) for u, r in zip(node[source == v], rank[source == v]) if u != v}
                best = sorted(ranks, key=ranks.__getitem__, reverse=True)
                self.assertGreater(ranks[best[3]] - ranks[best[4]], 1e-5, "found no gap after the fourth node, expected a graph with one")
                self.assertEqual(b.n_id.tolist(), [v, *best[:4]])
                self.assertEqual(pairs_of(b), induced({v, *best[:4]}))

    def test_clusters(self) -> None:
        """The nodes and edges of ClusterLoader's batches, for the same parts."""
        import torch
        from torch_geometric.loader import ClusterData, ClusterLoader

        part = np.arange(NODES) * 7 % 3

        class Given(ClusterData):  # type: ignore[misc, unused-ignore]
            """Parts that METIS did not make."""

            def _metis(self, *_: object) -> Any:
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

    def __init__(self, part: npt.NDArray[Any]) -> None:
        self.part = part

    def __enter__(self) -> str:
        self.folder = tempfile.TemporaryDirectory()
        pathlib.Path(self.folder.name, "_N.txt").write_text("".join(f"{p}\n" for p in self.part))
        return self.folder.name

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGL(Laws):
    def setUp(self) -> None:
        import dgl
        import torch

        dgl.seed(1)
        torch.manual_seed(1)
        np.random.seed(1)
        self.graph = dgl.graph(tuple(map(torch.from_numpy, ends())), num_nodes=NODES)

    def saint(self, mode: str, budget: Any) -> list[tuple[int, ...]]:
        import dgl

        sampler = dgl.dataloading.SAINTSampler(mode, budget)
        return [tuple(sampler.sample(self.graph, 0).ndata[dgl.NID].tolist()) for _ in range(TIMES)]

    def test_saint_nodes(self) -> None:
        self.alike(sets_of(2, sampler="saint-node"), self.saint("node", 2))

    def test_saint_edges(self) -> None:
        self.alike(sets_of(1, sampler="saint-edge"), self.saint("edge", 1))

    def test_saint_walks(self) -> None:
        self.alike(sets_of(1, sampler="saint-walk", walk_length=2), self.saint("walk", (1, 2)))

    def test_clusters(self) -> None:
        """The same nodes and edges as ClusterGCNSampler, for each pair of parts."""
        import dgl
        import torch

        part = np.arange(NODES) * 7 % 5
        order = np.argsort(part, kind="stable")
        with clusters(part) as folder:
            cache = pathlib.Path(folder, "cache")
            cache.write_bytes(pickle.dumps((np.searchsorted(part[order], np.arange(6)), torch.from_numpy(order))))
            sampler = dgl.dataloading.ClusterGCNSampler(self.graph, 5, cache_path=str(cache))
            seen: collections.Counter[tuple[int, ...]] = collections.Counter()
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

    def test_shadow(self) -> None:
        import dgl
        import torch

        sampler = dgl.dataloading.ShaDowKHopSampler([-1, -1])
        with NodeLoader(store(), [-1, -1], 1, sampler="shadow", expand="all") as loader:
            for b in loader:
                _, _, theirs = sampler.sample(self.graph, torch.from_numpy(b.n_id[:1].copy()))
                nodes = theirs.ndata[dgl.NID]
                self.assertEqual(sorted(b.n_id.tolist()), sorted(nodes.tolist()))
                self.assertEqual(pairs_of(b), sorted(zip(*(nodes[x].tolist() for x in theirs.edges()))))

    def test_blocks_of_budgets(self) -> None:
        """A block has all edges from its destinations to the nodes of its budget."""
        for sampler in ("ladies", "fastgcn"):
            with NodeLoader(store(), [3, 2], 4, sampler=sampler, as_="dgl") as loader:
                for inputs, _, blocks in loader:
                    self.assertEqual(len(inputs), blocks[0].num_src_nodes())
                    for block, budget in zip(blocks, (2, 3)):
                        src, dst = block.edges()
                        ids = block.srcdata["_ID"]
                        chosen = set(ids[src].tolist())
                        self.assertLessEqual(len(chosen), budget)
                        want = [(u, v) for u, v in zip(*ends().tolist()) if u in chosen and v in set(block.dstdata["_ID"].tolist())]
                        self.assertEqual(sorted(zip(ids[src].tolist(), block.dstdata["_ID"][dst].tolist())), sorted(want))

    def test_importance(self) -> None:
        """LABOR with importance reaches as many nodes, by as many edges of the same weights, as DGL's."""
        import dgl
        import torch

        seeds, pool, take, times = 80, 300, 5, 300
        draw = np.random.default_rng(4)
        chances = draw.random(pool) ** 3
        lists = [draw.choice(pool, n, replace=False, p=chances / chances.sum()) for n in draw.integers(take, 60, seeds)]
        src, dst = seeds + np.concatenate(lists), np.repeat(np.arange(seeds), [len(x) for x in lists])
        graph, of = dgl.graph((torch.from_numpy(src), torch.from_numpy(dst)), num_nodes=seeds + pool), graphmill.from_arrays(seeds + pool, np.stack([src, dst]))
        last = pool
        for rounds in (1, 2, 50):
            sampler = dgl.dataloading.LaborSampler([take], importance_sampling=rounds if rounds < 50 else -1)  # -1: as many as change something
            theirs: list[Any] = []
            ours: list[Any] = []
            for _ in range(times):
                _, _, (block,) = sampler.sample_blocks(graph, torch.arange(seeds))
                theirs.append((block.num_src_nodes() - seeds, block.num_edges(), float((block.edata["edge_weights"] ** 2).sum())))
            with NodeLoader(of, [take], seeds, np.arange(seeds), sampler="labor", importance=rounds, seed=1, features="none") as loader:
                while len(ours) < times:
                    for b in loader:
                        few = np.bincount(b.edge_index[1], minlength=seeds)[[i for i, x in enumerate(lists) if len(x) == take]]
                        self.assertEqual(set(few.tolist()) | {take}, {take})
                        weights = b.edge_attr["edge_weights"]
                        np.testing.assert_allclose(np.bincount(b.edge_index[1], weights, seeds), np.bincount(b.edge_index[1], minlength=seeds), rtol=1e-4)
                        ours.append((len(b.n_id) - seeds, b.edge_index.shape[1], float((weights**2).sum())))
            np.testing.assert_allclose(np.mean(ours, 0), np.mean(theirs, 0), rtol=0.03, err_msg=f"{rounds} rounds")
            self.assertLess(np.mean(ours, 0)[0], last)
            last = np.mean(ours, 0)[0]


if __name__ == "__main__":
    unittest.main()
