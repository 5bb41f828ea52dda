"""Compares message-flow blocks of random typed graphs with the blocks of DGL's own NeighborSampler."""

from __future__ import annotations

import importlib.util
import itertools
import unittest
import warnings
from collections.abc import Iterable
from typing import Any

import random_graphs
from graphmill import NodeLoader


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


if __name__ == "__main__":
    unittest.main()
