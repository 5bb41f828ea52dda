"""Compares message-flow blocks of random typed graphs with the blocks of DGL's own NeighborSampler."""

from __future__ import annotations

import importlib.util
import itertools
import unittest
import warnings
from collections.abc import Iterable
from typing import Any
from unittest import mock

import made
import numpy as np
import random_graphs
from graphmill import NodeLoader, Store, _makers, from_arrays, from_tables
from graphmill._schema import Raw


def _graph(c: random_graphs.Case) -> Any:
    """The graph in DGL, which has no node types without a relation."""
    import dgl
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dgl.heterograph(
            {e: tuple(torch.from_numpy(x)) for e, x in c.edges.items()}, {t: n for t, n in c.nodes.items() if any(t in (e[0], e[2]) for e in c.edges)}
        )


def _edges(block: Any, e: tuple[str, str, str]) -> list[tuple[int, ...]]:
    """The edges of a relation by their source, destination and input position in the graph."""
    import dgl

    src, dst = block.edges(etype=e)
    src, dst = block.srcnodes[e[0]].data[dgl.NID][src], block.dstnodes[e[2]].data[dgl.NID][dst]
    return sorted(zip(src.tolist(), dst.tolist(), block.edges[e].data[dgl.EID].tolist()))


def _edges_of_nodes(block: Any, e: tuple[str, str, str]) -> list[list[tuple[int, ...]]]:
    """For each destination, with its id, the sources and input positions of its edges; destinations of equal ids in one list of lists."""
    import dgl

    src, dst = block.edges(etype=e)
    ids = block.dstnodes[e[2]].data[dgl.NID].tolist()
    of: list[list[tuple[int, ...]]] = [[(i,)] for i in ids]
    for a, b, k in zip(block.srcnodes[e[0]].data[dgl.NID][src].tolist(), dst.tolist(), block.edges[e].data[dgl.EID].tolist()):
        of[b].append((a, k))
    return sorted([x[0], *sorted(x[1:])] for x in of)


def _nodes(block: Any, types: Iterable[str]) -> dict[str, tuple[list[int], list[int]]]:
    import dgl

    return {t: (sorted(block.srcnodes[t].data[dgl.NID].tolist()), sorted(block.dstnodes[t].data[dgl.NID].tolist())) for t in types}


def _lost(blocks: Iterable[Any]) -> bool:
    """Whether DGL loses the nodes of a block because the fanouts allow no edge for it."""
    return any(b.num_src_nodes(t) < b.num_dst_nodes(t) for b in blocks for t in b.srctypes)


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGLBlocks(unittest.TestCase):
    def test_random_graphs(self) -> None:
        import dgl
        import torch

        compared, shapes = 0, set()
        for number in itertools.count():
            if compared == random_graphs.COUNT:
                break
            c = random_graphs.case(number)
            g = _graph(c)
            if c.seed_type not in g.ntypes or len(c.nodes) == len(c.edges) == 1:
                continue  # blocks of one type have other names: see below
            # DGL's fanouts are in the opposite order.
            sampler = dgl.dataloading.NeighborSampler([{e: c.fanout[e][hop] for e in c.edges} for hop in reversed(range(c.hops))])
            _, _, theirs = sampler.sample(g, {c.seed_type: torch.from_numpy(c.seeds)})
            if _lost(theirs):
                continue
            with NodeLoader(c.store, **random_graphs.loader_arguments(c), as_="dgl") as loader:
                ((_, _, ours),) = list(loader)
            with self.subTest(number=number, case=c):
                self.assertEqual(len(ours), c.hops)
                for mine, real in zip(ours, theirs, strict=True):
                    self.assertEqual(_nodes(mine, g.ntypes), _nodes(real, g.ntypes))
                    for e in c.edges:
                        found = _edges(mine, e)
                        self.assertEqual(found, _edges(real, e), e)
                        shapes.add((len(c.edges), c.hops, bool(found)))
            compared += 1
        self.assertGreater(len(shapes), 20)

    def test_one_type(self) -> None:
        import dgl
        import torch

        compared = 0
        for number in itertools.count():
            if compared == random_graphs.COUNT // 10:
                break
            c = random_graphs.case(number)
            if not len(c.nodes) == len(c.edges) == 1:
                continue
            (takes,) = c.fanout.values()
            _, _, theirs = dgl.dataloading.NeighborSampler(takes[::-1]).sample(_graph(c), torch.from_numpy(c.seeds))
            if _lost(theirs):
                continue
            with NodeLoader(c.store, **random_graphs.loader_arguments(c), as_="dgl") as loader:
                ((_, _, ours),) = list(loader)
            with self.subTest(number=number, case=c):
                for mine, real in zip(ours, theirs, strict=True):
                    got = []
                    for block in (mine, real):
                        src, dst = block.edges()
                        src, dst = block.srcdata[dgl.NID][src], block.dstdata[dgl.NID][dst]
                        got.append((sorted(block.srcdata[dgl.NID].tolist()), sorted(zip(src.tolist(), dst.tolist(), block.edata[dgl.EID].tolist()))))
                    self.assertEqual(*got)
            compared += 1

    def test_repeated_seeds(self) -> None:
        """A seed that is given several times has a node each time, with its edges, in all blocks, as in DGL."""
        import dgl
        import torch

        rng, compared, kinds = np.random.default_rng(6), 0, set()
        for number in itertools.count():
            if compared == max(random_graphs.COUNT // 3, 20):
                break
            c = random_graphs.case(number)
            g = _graph(c)
            if c.seed_type not in g.ntypes:
                continue
            one = len(c.nodes) == len(c.edges) == 1
            seeds = rng.choice(c.seeds, len(c.seeds) + rng.integers(1, 5))
            layers: Any = [{e: c.fanout[e][hop] for e in c.edges} for hop in reversed(range(c.hops))]
            sampler = dgl.dataloading.NeighborSampler([next(iter(x.values())) for x in layers] if one else layers)
            _, _, theirs = sampler.sample(g, torch.from_numpy(seeds) if one else {c.seed_type: torch.from_numpy(seeds)})
            if _lost(theirs):
                continue
            options = {**random_graphs.loader_arguments(c), "seeds": seeds, "batch_size": len(seeds)}
            with NodeLoader(c.store, **options, as_="dgl") as loader:
                ((_, mine_out, ours),) = list(loader)
            with self.subTest(number=number, case=c, seeds=seeds):
                self.assertEqual((mine_out if isinstance(mine_out, torch.Tensor) else mine_out[c.seed_type]).tolist(), seeds.tolist())
                for mine, real in zip(ours, theirs, strict=True):
                    for ntype in real.srctypes:
                        mtype = mine.srctypes[0] if one else ntype
                        # The repeated seeds are the first of each block in the order in which they were given; the order of the others is free.
                        self.assertEqual(*(sorted(b.srcnodes[t].data[dgl.NID].tolist()) for b, t in ((mine, mtype), (real, ntype))))
                        sources, destinations = (mine.srcnodes[mtype].data[dgl.NID], mine.dstnodes[mtype].data[dgl.NID])
                        self.assertEqual(sources[: len(destinations)].tolist(), destinations.tolist())
                        if one or ntype == c.seed_type:
                            self.assertEqual(destinations[: len(seeds)].tolist(), seeds.tolist())
                    for e in c.edges:
                        self.assertEqual(*(_edges_of_nodes(b, b.canonical_etypes[0] if one else e) for b in (mine, real)))
                        kinds.add((e[0] == c.seed_type, e[2] == c.seed_type, c.hops > 1))
            compared += 1
        self.assertEqual(len(kinds), 8)

    def test_repeated_seeds_and_columns(self) -> None:
        """The columns of repeated seeds and their edges are those of the seed; equal draws at each; orders with replacement."""
        import dgl

        with NodeLoader(made.DEBIAN, fanout=[3, 2], seeds=[5, 9, 5, 5], seed_type="package", batch_size=4, features=["size"], as_="dgl") as loader:
            ((inputs, outputs, blocks),) = list(loader)
        store = Store(made.DEBIAN)
        size = store.nodes["package"]["size"]
        self.assertEqual(outputs["package"].tolist(), [5, 9, 5, 5])
        self.assertEqual(blocks[0].srcnodes["package"].data["size"].tolist(), size[inputs["package"].numpy()].tolist())
        self.assertEqual(blocks[-1].dstnodes["package"].data["size"].tolist(), size[[5, 9, 5, 5]].tolist())
        drawn = 0
        for block in blocks:
            for e in block.canonical_etypes:
                src, dst = block.edges(etype=e)
                ends = np.stack([block.srcnodes[e[0]].data[dgl.NID][src], block.dstnodes[e[2]].data[dgl.NID][dst]])
                edges = store.edges[e]
                self.assertEqual(ends.tolist(), edges.edge_index()[:, edges.find(block.edges[e].data[dgl.EID].numpy())].tolist())
                if e[2] == "package":
                    of = [sorted(ends[0][dst.numpy() == i].tolist()) for i in range(4)]
                    self.assertEqual(of[0], of[2])
                    self.assertEqual(of[0], of[3])
                    drawn += len(of[0])
        self.assertGreater(drawn, 0)
        with NodeLoader(made.DEBIAN, fanout=[2], seeds="package", order="weighted:size", batch_size=500, features="none", as_="dgl") as loader:
            repeated = 0
            for _, outputs, _ in loader:
                repeated += len(outputs["package"]) - len(set(outputs["package"].tolist()))
            self.assertGreater(repeated, 0)

    def test_repeated_links(self) -> None:
        """A link that is given several times is an edge each time, between the same two nodes, as in DGL."""
        import dgl
        import torch

        rng = np.random.default_rng(1)
        src, dst = rng.integers(0, 9, 30), rng.integers(0, 9, 30)
        g = dgl.graph((torch.from_numpy(src), torch.from_numpy(dst)), num_nodes=9)
        at = np.array([3, 3, 8, 3, 0])
        sampler = dgl.dataloading.as_edge_prediction_sampler(dgl.dataloading.NeighborSampler([-1]))
        ((theirs_in, theirs, _),) = dgl.dataloading.DataLoader(g, torch.from_numpy(at), sampler, batch_size=5)
        store = from_tables({"_N": 9}, {("_N", "_E", "_N"): {"src": src, "dst": dst}})
        with NodeLoader(store, fanout=[-1], seeds=np.stack([src, dst])[:, at], batch_size=5, as_="dgl") as loader:
            ((ours_in, ours, _),) = list(loader)
        pairs = []
        for inputs, graph in ((theirs_in, theirs), (ours_in, ours)):
            ends = np.stack([graph.ndata[dgl.NID][x] for x in graph.edges()])
            pairs.append((sorted(map(tuple, ends.T.tolist())), sorted(inputs.tolist()), sorted(graph.ndata[dgl.NID].tolist())))
        self.assertEqual(*pairs)

    def test_tensors(self) -> None:
        """What a card draws comes as tensors, of which the blocks and graphs are those of arrays."""
        import torch

        convert = _makers.maker("batch", "dgl")

        def both(schema: Any, raw: Raw, label: Any) -> Any:
            def as_is(name: str) -> bool:
                return name.endswith("/by_hop") or name.startswith("links/") or name in ("input_id", "seed_time", "negative_end")

            columns = {name: np.array(x) if as_is(name) else torch.from_numpy(np.array(x)) for name, x in raw.columns.items()}
            return convert(schema, raw, label), convert(schema, Raw(columns, raw.seeds, raw.number, raw.hops), label)

        both.__module__ = "graphmill._as.dgl"
        r = np.random.default_rng(1)

        def pair(a: int, b: int, n: int) -> Any:
            return np.stack([r.integers(0, a, n), r.integers(0, b, n)])

        users = {"f": r.standard_normal((40, 2)).astype(np.float32)}
        buys = {"edge_index": pair(40, 30, 150), "w": r.random(150)}
        typed = from_arrays(
            {"user": users, "item": 30},
            {("user", "buys", "item"): buys, ("item", "of", "user"): pair(30, 40, 99), ("user", "knows", "user"): np.zeros((2, 0), np.int64)},
        )
        one = from_arrays({"f": r.standard_normal(50)}, {"edge_index": pair(50, 50, 300), "w": r.random(300)})
        cases: tuple[tuple[Store, dict[str, Any]], ...] = (
            (typed, {"seed_type": "item"}),
            (typed, {"seed_type": "item", "seeds": np.array([1, 2, 3, 3, 1, 9])}),
            (one, {"seeds": np.array([1, 1, 2, 3, 3, 1])}),
            (typed, {"seed_type": ("user", "buys", "item"), "seeds": pair(40, 30, 20), "negatives": 1.5}),
            (one, {"seeds": pair(50, 50, 20), "negatives": 1}),
        )
        with mock.patch.dict(_makers._MAKERS, {("batch", "dgl"): both}):
            for store, o in cases:
                with NodeLoader(store, fanout=[3, 2], batch_size=8, as_="dgl", edge_features="all", **o) as loader:
                    for want, found in loader:
                        self.same(found, want)

    def same(self, a: Any, b: Any) -> None:
        """Compare what a loader of DGL yields."""
        import torch

        if isinstance(a, torch.Tensor):
            self.assertTrue(a.dtype == b.dtype and torch.equal(a, b))
        elif isinstance(a, (tuple, list)):
            self.assertEqual(len(a), len(b))
            for x, y in zip(a, b):
                self.same(x, y)
        elif isinstance(a, dict):
            self.assertEqual(list(a), list(b))
            self.same(list(a.values()), list(b.values()))
        else:
            self.assertEqual(a.canonical_etypes, b.canonical_etypes)
            for e in a.canonical_etypes:
                self.same(a.edges(etype=e, order="eid"), b.edges(etype=e, order="eid"))
                self.same(dict(a.edges[e].data), dict(b.edges[e].data))
            self.same(*([dict(g.srcnodes[t].data) for t in g.srctypes] + [dict(g.dstnodes[t].data) for t in g.dsttypes] for g in (a, b)))


if __name__ == "__main__":
    unittest.main()
