"""Compares the numbers per hop for random typed graphs with PyG's own NeighborLoader and trim_to_layer.

PyG returns these numbers only with pyg-lib. With torch-sparse they follow from the sizes of its batches: the nodes that a
loader of h hops has in addition to the nodes of h - 1 hops were found in hop h.
"""

from __future__ import annotations

import importlib.util
import unittest
from collections.abc import Callable, Iterable
from typing import Any

import made
import numpy as np
import random_graphs
from graphmill import NodeLoader, Store


def _data(c: random_graphs.Case) -> Any:
    import torch
    from torch_geometric.data import HeteroData

    data = HeteroData()
    for t, n in c.nodes.items():
        data[t].num_nodes = n
    for e, ends in c.edges.items():
        data[e].edge_index = torch.from_numpy(ends)
    return data


def _theirs(c: random_graphs.Case, hops: int) -> Any:
    """PyG's batch of the seeds with the given number of hops."""
    import torch
    from torch_geometric.loader import NeighborLoader

    takes = {e: takes[:hops] for e, takes in c.fanout.items()}
    (batch,) = NeighborLoader(_data(c), takes, input_nodes=(c.seed_type, torch.from_numpy(c.seeds)), batch_size=len(c.seeds))
    return batch


def _counts(batches: Iterable[Any], types: Iterable[Any], size: Callable[[Any], int]) -> dict[Any, list[int]]:
    """For each type, the size of a batch minus the size of the previous one."""
    return {t: np.diff([0, *(size(b[t]) for b in batches)]).tolist() for t in types}


def _left(c: random_graphs.Case, batch: Any, nodes: Any, edges: Any) -> list[Any]:
    """For each layer and type, the nodes and edges that trim_to_layer leaves, by their ids in the graph."""
    import torch
    from torch_geometric.utils import trim_to_layer

    x = {t: batch[t].n_id for t in c.nodes}
    ends = {e: batch[e].edge_index for e in c.edges}
    ids = {e: batch[e].e_id for e in c.edges}
    out = []
    for layer in range(c.hops):
        x, ends, ids = trim_to_layer(layer, nodes, edges, x, ends, ids)
        out.append(
            (
                {t: sorted(n.tolist()) for t, n in x.items()},
                {e: sorted(i.tolist()) for e, i in ids.items()},
                {e: sorted(torch.stack([x[e[0]][i[0]], x[e[2]][i[1]]], 1).tolist()) for e, i in ends.items()},
            )
        )
    return out


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestPyGHops(unittest.TestCase):
    def test_random_graphs(self) -> None:
        shapes = set()
        for number in range(random_graphs.COUNT):
            c = random_graphs.case(number)
            theirs = [_theirs(c, hops) for hops in range(1, c.hops + 1)]
            nodes = {t: [len(c.seeds) if t == c.seed_type else 0] for t in c.nodes}
            for t, counts in _counts(theirs, c.nodes, lambda s: s.num_nodes).items():
                nodes[t] += [counts[0] - nodes[t][0], *counts[1:]]
            edges = _counts(theirs, c.edges, lambda s: s.num_edges)
            with NodeLoader(c.store, **random_graphs.loader_arguments(c), as_="pyg") as loader:
                (ours,) = list(loader)
            with self.subTest(number=number, case=c):
                self.assertEqual({t: ours[t].num_sampled_nodes for t in c.nodes}, nodes)
                self.assertEqual({e: ours[e].num_sampled_edges for e in c.edges}, edges)
                self.assertEqual(_left(c, ours, nodes, edges), _left(c, theirs[-1], nodes, edges))
            shapes.add((len(c.edges), c.hops))
        self.assertGreater(len(shapes), 10)

    def test_a_trimmed_model(self) -> None:
        """PyG's models take the numbers per hop as they are, and the seeds have the outputs that they have in the whole graph."""
        import torch
        from torch_geometric.nn import GraphSAGE

        torch.manual_seed(1)
        store = Store(made.RMAT)
        (edges,) = store.edges.values()
        x = torch.rand(store.nodes["_N"].count, 8)
        model = GraphSAGE(8, 16, num_layers=3, out_channels=4).eval()
        whole = model(x, torch.from_numpy(edges.edge_index()))
        for fanout in ([-1, -1, -1], [3, 2, 2]):
            with NodeLoader(made.RMAT, fanout, batch_size=64, seeds=np.arange(5, 205), as_="pyg") as loader:
                for b in loader:
                    h = model(x[b.n_id], b.edge_index)[: b.batch_size]
                    trimmed = model(x[b.n_id], b.edge_index, num_sampled_nodes_per_hop=b.num_sampled_nodes, num_sampled_edges_per_hop=b.num_sampled_edges)[
                        : b.batch_size
                    ]
                    torch.testing.assert_close(trimmed, h)
                    blocks = x[b.n_id]
                    for number, conv in enumerate(model.convs):
                        hops = 3 - number
                        blocks = conv((blocks, blocks[: sum(b.num_sampled_nodes[:hops])]), b.edge_index[:, : sum(b.num_sampled_edges[:hops])])
                        blocks = blocks.relu() if hops > 1 else blocks
                    torch.testing.assert_close(blocks, h)
                    if fanout[0] < 0:
                        torch.testing.assert_close(trimmed, whole[b.n_id[: b.batch_size]])

    def test_a_trimmed_model_of_types(self) -> None:
        import torch
        from torch_geometric.nn import HeteroConv, SAGEConv
        from torch_geometric.utils import trim_to_layer

        torch.manual_seed(1)
        types = Store(made.DEBIAN)
        layers = [HeteroConv({e: SAGEConv((8, 8), 8) for e in types.edges}) for _ in range(3)]
        tables = {t: torch.rand(n.count, 8) for t, n in types.nodes.items()}
        dropped = 0
        with NodeLoader(made.DEBIAN, [4, 3, 2], batch_size=64, seeds=np.arange(200), seed_type="package", features="none", as_="pyg") as loader:
            for b in loader:
                out = []
                for trim in (False, True):
                    x, edges = {t: tables[t][b[t].n_id] for t in b.node_types}, b.edge_index_dict
                    for number, layer in enumerate(layers):
                        if trim:
                            x, edges, _ = trim_to_layer(number, b.num_sampled_nodes_dict, b.num_sampled_edges_dict, x, edges)
                        dropped += trim * sum(e.shape[1] < b.edge_index_dict[t].shape[1] for t, e in edges.items())
                        x = {**x, **layer(x, edges)}
                    out.append(x["package"][: b["package"].batch_size])
                torch.testing.assert_close(*out)
        self.assertGreater(dropped, 10)


if __name__ == "__main__":
    unittest.main()
