"""Batches with all neighbours equal the batches of the real PyG and DGL: nodes, edges, ids, seeds, links.

PyG's disjoint and temporal sampling need pyg-lib, which PyPI lacks: disjoint subgraphs are compared with PyG's batches of single
seeds, times of nodes with torch-sparse's sampler.
"""

from __future__ import annotations

import functools
import importlib.util
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import graphmill
import made
import numpy as np
import numpy.typing as npt
from graphmill import NodeLoader

USER, ITEM, BUYS, SOLD = "user", "item", ("user", "buys", "item"), ("item", "sold", "user")


@functools.lru_cache(None)
def simple() -> npt.NDArray[Any]:
    """The ends of a random graph of 60 nodes, without parallel edges and self-loops."""
    r = np.random.default_rng(3)
    pairs = np.unique(r.integers(0, 60, (2, 260)), axis=1)
    pairs = pairs[:, pairs[0] != pairs[1]]
    return np.ascontiguousarray(pairs[:, r.permutation(pairs.shape[1])])


@functools.lru_cache(None)
def plain() -> tuple[Any, graphmill.Store]:
    """A PyG graph with columns, and its store."""
    import torch
    from torch_geometric.data import Data

    edges = torch.from_numpy(simple())
    data = Data(x=torch.arange(60.0)[:, None], y=torch.arange(60) % 7, edge_index=edges, edge_attr=torch.arange(edges.shape[1]))
    return data, graphmill.from_pyg(data)


@functools.lru_cache(None)
def typed() -> tuple[Any, graphmill.Store]:
    """A PyG graph with two node types, all nodes and edges with times, and its store."""
    import torch
    from torch_geometric.data import HeteroData

    r, data = np.random.default_rng(4), HeteroData()
    for t, n in ((USER, 40), (ITEM, 30)):
        data[t].num_nodes, data[t].time = n, torch.from_numpy(r.integers(0, 100, n))
    ends = np.unique(np.stack([r.integers(0, 40, 250), r.integers(0, 30, 250)]), axis=1)
    data[BUYS].edge_index = torch.from_numpy(np.ascontiguousarray(ends))
    data[SOLD].edge_index = torch.from_numpy(np.ascontiguousarray(ends[::-1]))
    return data, graphmill.from_pyg(data)


def canonical(b: Any) -> tuple[Any, Any]:
    """The nodes and edges of a PyG batch, by their ids in the graph; by type if it has types."""
    if hasattr(b, "edge_types"):
        nodes = {t: sorted(b[t].n_id.tolist()) for t in b.node_types if len(b[t].n_id)}
        edges = {e: sorted(zip(b[e[0]].n_id[b[e].edge_index[0]].tolist(), b[e[2]].n_id[b[e].edge_index[1]].tolist(), b[e].e_id.tolist())) for e in b.edge_types}
        return nodes, {e: x for e, x in edges.items() if x}
    return sorted(b.n_id.tolist()), sorted(zip(*b.n_id[b.edge_index].tolist(), b.e_id.tolist()))


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestPyG(unittest.TestCase):
    def both(self, loader: Any, graph: tuple[Any, graphmill.Store], **words: Any) -> Iterator[tuple[Any, Any]]:
        """Our batches with PyG's of a loader with the same words; their nodes and edges are equal."""
        data, store = graph
        count = 0
        with NodeLoader(store, as_="pyg", **words) as ours:
            for a, b in zip(ours, loader(data, **words), strict=True):
                self.assertEqual(canonical(a), canonical(b))
                count += 1
                yield a, b
        self.assertGreater(count, 0)

    def test_words(self) -> None:
        from torch_geometric.loader import NeighborLoader

        def marked(batch: Any) -> Any:
            batch.mark = True
            return batch

        takes: Any
        for takes in ([-1], [-1, -1], [-1, 0]):
            for a, b in self.both(NeighborLoader, plain(), num_neighbors=takes, batch_size=9, transform=marked):
                self.assertTrue(a.mark and b.mark)
        takes = {BUYS: [-1, -1], SOLD: [-1, 0]}
        for _ in self.both(NeighborLoader, typed(), num_neighbors=takes, input_nodes=USER, batch_size=9):
            pass

    def test_input_nodes(self) -> None:
        import torch
        from torch_geometric.loader import NeighborLoader

        mask = torch.arange(60) % 3 == 1
        for nodes in (None, torch.tensor([5, 3, 50]), mask):
            for a, b in self.both(NeighborLoader, plain(), num_neighbors=[-1], input_nodes=nodes, batch_size=8):
                self.assertEqual(a.n_id[: a.batch_size].tolist(), b.n_id[: b.batch_size].tolist())
                self.assertEqual(a.input_id.tolist(), b.input_id.tolist())
        for nodes in (ITEM, (ITEM, None), (ITEM, torch.tensor([7, 2])), (ITEM, torch.arange(30) % 2 == 0)):
            for a, b in self.both(NeighborLoader, typed(), num_neighbors=[-1, -1], input_nodes=nodes, batch_size=8):
                self.assertEqual(a[ITEM].n_id[: a[ITEM].batch_size].tolist(), b[ITEM].n_id[: b[ITEM].batch_size].tolist())
                self.assertEqual(a[ITEM].input_id.tolist(), b[ITEM].input_id.tolist())

    def test_attributes(self) -> None:
        from torch_geometric.loader import NeighborLoader

        words: dict[str, Any] = dict(num_neighbors=[-1, -1], batch_size=8)
        data, store = plain()
        with NodeLoader(store, as_="pyg", edge_features="all", **words) as ours:
            for a, b in zip(ours, NeighborLoader(data, **words), strict=True):
                self.assertEqual((a.batch_size, a.input_id.tolist()), (b.batch_size, b.input_id.tolist()))
                for batch in (a, b):
                    self.assertEqual(batch.x[:, 0].tolist(), batch.n_id.tolist())
                    self.assertEqual(batch.y.tolist(), (batch.n_id % 7).tolist())
                    self.assertEqual(batch.edge_attr.flatten().tolist(), batch.e_id.tolist())
                    self.assertEqual(batch.n_id[batch.edge_index].tolist(), data.edge_index[:, batch.e_id].tolist())
                for name in ("x", "y", "edge_index", "edge_attr", "n_id", "e_id", "input_id"):
                    self.assertEqual((a[name].dtype, a[name].shape), (b[name].dtype, b[name].shape), name)

    def test_batches(self) -> None:
        from torch_geometric.loader import NeighborLoader

        data, store = plain()
        words: Any
        for words in (dict(batch_size=8), dict(batch_size=8, drop_last=True), dict(batch_size=8, shuffle=True), dict(batch_size=60, shuffle=True)):
            theirs = [b.input_id.tolist() for b in NeighborLoader(data, num_neighbors=[1], **words)]
            with NodeLoader(store, num_neighbors=[1], as_="pyg", **words) as loader:
                ours = [b.input_id.tolist() for b in loader]
            self.assertEqual([len(b) for b in ours], [len(b) for b in theirs])
            for got in (ours, theirs):
                joined: list[int] = sum(got, [])
                self.assertEqual(sorted(joined) if words.get("shuffle") else joined, list(range(len(joined))))
                self.assertEqual(joined == sorted(joined), not words.get("shuffle"))

    def test_subgraph_types(self) -> None:
        import torch
        from torch_geometric.loader import NeighborLoader

        (data, store), seeds = plain(), torch.arange(0, 60, 7)
        for kind in ("directional", "induced"):
            for takes in ([-1], [-1, -1]):
                for _ in self.both(NeighborLoader, plain(), num_neighbors=takes, input_nodes=seeds, subgraph_type=kind, batch_size=3):
                    pass
        reverses = 0
        for takes in ([-1], [-1, -1]):
            words = dict(num_neighbors=takes, input_nodes=seeds, subgraph_type="bidirectional", batch_size=3)
            with NodeLoader(store, as_="pyg", **words) as loader:
                for a, b in zip(loader, NeighborLoader(data, **words), strict=True):
                    (nodes, edges), (want_nodes, want) = canonical(a), canonical(b)
                    self.assertEqual((nodes, [e[:2] for e in edges]), (want_nodes, [e[:2] for e in want]))
                    for s, d, e in edges:  # where both directions were drawn, PyG gives them any of their two ids
                        ends = data.edge_index[:, e].tolist()
                        self.assertIn(ends, ([s, d], [d, s]))
                        reverses += ends != [s, d]
        self.assertGreater(reverses, 50)

    def test_disjoint(self) -> None:
        import torch
        from torch_geometric.loader import NeighborLoader

        data, store = plain()
        words: dict[str, Any] = dict(num_neighbors=[-1, -1], input_nodes=[5, 9, 40, 41])
        with NodeLoader(store, as_="pyg", disjoint=True, batch_size=4, **words) as loader:
            (a,) = loader
        for i, b in enumerate(NeighborLoader(data, batch_size=1, **{**words, "input_nodes": torch.tensor(words["input_nodes"])})):
            nodes, edges = a.batch == i, a.batch[a.edge_index[0]] == i
            self.assertEqual(sorted(a.n_id[nodes].tolist()), sorted(b.n_id.tolist()))
            self.assertEqual(sorted(a.e_id[edges].tolist()), sorted(b.e_id.tolist()))
            self.assertTrue((a.batch[a.edge_index[1, edges]] == i).all())

    def past(self, seed: int, hops: int) -> dict[Any, list[int]]:
        """The edges that torch-sparse's temporal sampler finds from a user, by type and id."""
        import torch
        from torch_geometric.sampler.utils import remap_keys, to_hetero_csc

        data, _ = typed()
        times = {t: data[t].time for t in data.node_types}
        colptr, row, perm = to_hetero_csc(data, device="cpu", node_time_dict=times)
        names = {e: "__".join(e) for e in data.edge_types}
        takes = {names[e]: [-1] * hops for e in data.edge_types}
        _, _, _, edge = torch.ops.torch_sparse.hetero_temporal_neighbor_sample(
            *data.metadata(), remap_keys(colptr, names), remap_keys(row, names), {USER: torch.tensor([seed])}, takes, times, hops, False, True
        )
        return {e: sorted((edge[n] if perm[e] is None else perm[e][edge[n]]).tolist()) for e, n in names.items()}

    def test_times(self) -> None:
        data, store = typed()
        with NodeLoader(store, num_neighbors=[-1, -1], input_nodes=USER, time_attr="time", as_="pyg", batch_size=40) as loader:
            (b,) = loader
        self.assertEqual(b[USER].seed_time.tolist(), data[USER].time.tolist())
        later = 0
        for seed in range(40):
            ours = {e: sorted(b[e].e_id[b[e[0]].batch[b[e].edge_index[0]] == seed].tolist()) for e in data.edge_types}
            self.assertEqual(ours, self.past(seed, 2), seed)
            later += sum((data[e].edge_index[1] == seed).sum() for e in [SOLD]) - len(ours[SOLD])
        self.assertGreater(later, 50)  # times leave edges out

    def test_last(self) -> None:
        """The latest of the edges that the sampler without a fanout finds; an edge is as old as its source."""
        data = typed()[0].clone()
        for e in data.edge_types:
            data[e].at = data[e[0]].time[data[e].edge_index[0]]
        words: dict[str, Any] = dict(num_neighbors=[3], input_nodes=USER, time_attr="at", input_time="time", temporal_strategy="last", batch_size=40)
        with NodeLoader(graphmill.from_pyg(data), as_="pyg", **words) as loader:
            (b,) = loader
        short = 0
        for seed in range(40):
            found = b[SOLD].e_id[b[USER].batch[b[SOLD].edge_index[1]] == seed]
            every = sorted(data[SOLD].at[self.past(seed, 1)[SOLD]].tolist())
            self.assertEqual(sorted(data[SOLD].at[found].tolist()), every[-3:])
            short += len(every) > 3
        self.assertGreater(short, 10)

    def test_links(self) -> None:
        import torch
        from torch_geometric.loader import LinkNeighborLoader

        pairs = torch.randint(0, 60, (2, 30), generator=torch.Generator().manual_seed(1))
        for more in ({}, {"edge_label": torch.arange(30) % 4}):
            for a, b in self.both(LinkNeighborLoader, plain(), num_neighbors=[-1, -1], edge_label_index=pairs, batch_size=8, **more):
                self.assertEqual(a.n_id[a.edge_label_index].tolist(), b.n_id[b.edge_label_index].tolist())
                self.assertEqual(a.input_id.tolist(), b.input_id.tolist())
                if more:
                    self.assertEqual((a.edge_label.tolist(), a.edge_label.dtype), (b.edge_label.tolist(), b.edge_label.dtype))
        pairs = torch.stack([torch.arange(20), torch.arange(20) + 5])
        for links in (BUYS, (BUYS, None), (BUYS, pairs)):
            for a, b in self.both(LinkNeighborLoader, typed(), num_neighbors=[-1], edge_label_index=links, batch_size=64):
                ends = [torch.stack([x[USER].n_id[x[BUYS].edge_label_index[0]], x[ITEM].n_id[x[BUYS].edge_label_index[1]]]).tolist() for x in (a, b)]
                self.assertEqual(*ends)

    def test_link_times(self) -> None:
        """PyG needs pyg-lib for times of links; its batches then have the times that it was given."""
        import torch

        data = typed()[0].clone()
        data[BUYS].at = data[SOLD].at = torch.arange(data[BUYS].num_edges)
        rows = [(i % 40, i % 30, 3 * i) for i in range(60)]
        folder = made.write("timed-links", {"links.csv": "source,target,at\n" + "".join(f"{s},{t},{at}\n" for s, t, at in rows)})
        with NodeLoader(graphmill.from_pyg(data), [-1], 25, f"{folder}/links.csv", BUYS, "pyg", time_attr="at") as loader:
            for b in loader:
                self.assertEqual(b[BUYS].edge_label_time.tolist(), (3 * b[BUYS].input_id).tolist())
                for e in (BUYS, SOLD):
                    seed_of = b[e[2]].batch[b[e].edge_index[1]]
                    self.assertTrue((data[e].at[b[e].e_id] <= b[BUYS].edge_label_time[seed_of]).all())

    def test_negatives(self) -> None:
        import torch
        from torch_geometric.loader import LinkNeighborLoader
        from torch_geometric.sampler import NegativeSampling

        data, store = plain()
        pairs = torch.randint(0, 60, (2, 30), generator=torch.Generator().manual_seed(2))
        for words in (
            {"neg_sampling": "binary"},
            {"neg_sampling": NegativeSampling("binary", 3)},
            {"neg_sampling": dict(mode="binary", amount=2), "edge_label": torch.arange(30) % 3},
            {"neg_sampling_ratio": 2},
            {"neg_sampling": "triplet"},
            {"neg_sampling": dict(mode="triplet", amount=3)},
        ):
            words = dict(num_neighbors=[-1], edge_label_index=pairs, batch_size=8, **words)
            with NodeLoader(store, as_="pyg", **words) as loader:
                for a, b in zip(loader, LinkNeighborLoader(data, **words), strict=True):
                    n = len(b.input_id)
                    self.assertEqual("edge_label_index" in a, "edge_label_index" in b)
                    if "edge_label_index" in b:
                        self.assertEqual(a.edge_label_index.shape, b.edge_label_index.shape)
                        self.assertEqual((a.edge_label.tolist(), a.edge_label.dtype), (b.edge_label.tolist(), b.edge_label.dtype))
                        self.assertEqual(a.n_id[a.edge_label_index[:, :n]].tolist(), b.n_id[b.edge_label_index[:, :n]].tolist())
                    else:
                        for name in ("src_index", "dst_pos_index"):
                            self.assertEqual(a.n_id[a[name]].tolist(), b.n_id[b[name]].tolist())
                        self.assertEqual(a.dst_neg_index.shape, b.dst_neg_index.shape)


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGL(unittest.TestCase):
    def graph(self) -> tuple[Any, graphmill.Store, Any]:
        """The simple graph and its reverses: reverse_eids has the reverse of each edge."""
        import dgl
        import torch

        pairs = simple()
        pairs = np.unique(np.concatenate([pairs, pairs[::-1]], 1), axis=1)
        g = dgl.graph(tuple(torch.from_numpy(pairs)), num_nodes=60)
        return g, graphmill.from_arrays(60, np.ascontiguousarray(pairs)), torch.from_numpy(pairs)

    def test_batches(self) -> None:
        import dgl
        import torch

        g, store, _ = self.graph()
        words: Any
        for words in (dict(batch_size=8), dict(batch_size=8, drop_last=True), dict(batch_size=60, shuffle=True)):
            theirs = [out.tolist() for _, out, _ in dgl.dataloading.DataLoader(g, torch.arange(60), dgl.dataloading.NeighborSampler([1]), **words)]
            with NodeLoader(store, fanout=[1], as_="dgl", **words) as loader:
                ours = [out.tolist() for _, out, _ in loader]
            self.assertEqual([len(b) for b in ours], [len(b) for b in theirs])
            for got in (ours, theirs):
                joined: list[int] = sum(got, [])
                self.assertEqual(sorted(joined) if words.get("shuffle") else joined, list(range(len(joined))))
                self.assertEqual(joined == sorted(joined), not words.get("shuffle"))

    def test_exclude(self) -> None:
        import dgl
        import torch

        g, store, pairs = self.graph()
        ids = torch.arange(0, g.num_edges(), 5)
        reverse = g.edge_ids(pairs[1], pairs[0])
        sizes = set()
        for theirs, ours in ((None, None), ("self", "self"), ("reverse_id", "reverse:_E")):
            sampler = dgl.dataloading.MultiLayerFullNeighborSampler(2)
            sampler = dgl.dataloading.as_edge_prediction_sampler(sampler, exclude=theirs, reverse_eids=reverse)
            real = dgl.dataloading.DataLoader(g, ids, sampler, batch_size=16)
            with NodeLoader(store, fanout=[-1, -1], seeds=pairs[:, ids], seed_type="_E", exclude=ours, batch_size=16, as_="dgl") as loader:
                for (_, pair, blocks), (_, want_pair, want_blocks) in zip(loader, real, strict=True):
                    named: Callable[[Any], Any] = lambda x: [x.ndata[dgl.NID][e].tolist() for e in x.edges()]
                    self.assertEqual(named(pair), named(want_pair))
                    for block, want in zip(blocks, want_blocks, strict=True):
                        self.assertEqual(sorted(block.edata[dgl.EID].tolist()), sorted(want.edata[dgl.EID].tolist()))
                        self.assertEqual(sorted(block.dstdata[dgl.NID].tolist()), sorted(want.dstdata[dgl.NID].tolist()))
                    sizes.add((theirs, blocks[-1].num_edges()))
        self.assertGreater(len({n for _, n in sizes}), 3)

    def test_negatives(self) -> None:
        import dgl
        import torch

        g, store, pairs = self.graph()
        ids = torch.arange(0, g.num_edges(), 5)
        sampler = dgl.dataloading.MultiLayerFullNeighborSampler(1)
        sampler = dgl.dataloading.as_edge_prediction_sampler(sampler, negative_sampler=dgl.dataloading.negative_sampler.Uniform(3))
        real = dgl.dataloading.DataLoader(g, ids, sampler, batch_size=16)
        with NodeLoader(store, fanout=[-1], seeds=pairs[:, ids], seed_type="_E", negatives=3, negatives_how="triplet", batch_size=16, as_="dgl") as loader:
            for (_, pair, negative, blocks), (_, want_pair, want, _) in zip(loader, real, strict=True):
                sources = [x.ndata[dgl.NID][x.edges()[0]].tolist() for x in (negative, want)]
                self.assertEqual(*sources)
                self.assertEqual(negative.ndata[dgl.NID].tolist(), pair.ndata[dgl.NID].tolist())
                self.assertEqual(blocks[-1].dstdata[dgl.NID].tolist(), negative.ndata[dgl.NID].tolist())
                self.assertEqual(pair.num_edges(), want_pair.num_edges())

    def test_transform(self) -> None:
        import dgl.graphbolt as gb
        import torch

        g, store, _ = self.graph()
        items = gb.ItemSet(torch.arange(60), names="seed_nodes")
        pipe = gb.ItemSampler(items, batch_size=8).sample_neighbor(gb.from_dglgraph(g, True), [-1])

        def counted(m: Any) -> Any:
            m.labels = len(m.input_nodes)
            return m

        theirs = [m.labels for m in pipe.transform(counted)]
        with NodeLoader(store, fanout=[-1], batch_size=8, as_="dgl", transform=lambda batch: len(batch[0])) as loader:
            self.assertEqual(list(loader), theirs)


if __name__ == "__main__":
    unittest.main()
