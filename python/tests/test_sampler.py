"""GraphmillSampler in PyG's own NodeLoader.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import signal
import unittest
from typing import Any

import made
import numpy as np
from graphmill import FeedDied, GraphmillError, Store


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestSampler(unittest.TestCase):
    def data(self) -> Any:
        import torch
        from torch_geometric.data import Data

        edges = Store(made.RMAT).edges["_E"]
        # Attributes whose values identify their node or edge.
        data = Data(x=torch.arange(4096.0)[:, None], edge_index=torch.from_numpy(edges.edge_index("input")))
        data.edge_attr = torch.arange(edges.count)
        return data

    def loader(self, sampler: Any, **options: Any) -> Any:
        import torch
        from torch_geometric.loader import NodeLoader

        return NodeLoader(self.data(), node_sampler=sampler, **{"input_nodes": torch.arange(1000, 2010), "batch_size": 100, **options})

    def test_homogeneous(self) -> None:
        import torch
        from graphmill.pyg import GraphmillSampler

        whole = self.data().edge_index
        with GraphmillSampler(made.RMAT, fanout=[5, 3], seed=1) as sampler:
            loader = self.loader(sampler)
            batches = list(loader)  # copies: no batch holds a slot of the feed
            self.assertEqual(len(batches), 11)
            for i, b in enumerate(batches):
                self.assertTrue(b.validate())
                n = len(b.input_id)
                self.assertEqual((b.batch_size, b.input_id.tolist()), (n, list(range(1010))[100 * i :][:n]))
                self.assertEqual(b.n_id[:n].tolist(), (b.input_id + 1000).tolist())
                self.assertEqual(b.x[:, 0].long().tolist(), b.n_id.tolist())
                self.assertEqual(b.edge_attr.tolist(), b.e_id.tolist())
                self.assertTrue(torch.equal(whole[:, b.e_id], b.n_id[b.edge_index]))
                self.assertEqual((sum(b.num_sampled_nodes), sum(b.num_sampled_edges)), (len(b.n_id), len(b.e_id)))
                self.assertLessEqual(int(torch.bincount(b.edge_index[1]).max()), 5)
            drawn = [b.e_id.tolist() for b in batches]
            self.assertEqual([b.e_id.tolist() for b in loader], drawn)
            of: Any = np  # whose integers are no int for mypy
            sampler.set_epoch(of.int64(1))
            self.assertNotEqual([b.e_id.tolist() for b in loader], drawn)
            with self.assertRaisesRegex(TypeError, "found epoch=1.0, expected an integer"):
                sampler.set_epoch(1.0)  # type: ignore[arg-type]
        with GraphmillSampler(made.RMAT, fanout=of.array([5, 3]), seed=of.uint8(1), threads=of.int64(1)) as sampler:
            self.assertEqual([b.e_id.tolist() for b in self.loader(sampler)], drawn)
        options: Any
        for options in (dict(seed=True), dict(threads=1.0), dict(fanout=[2.0])):
            with self.assertRaisesRegex(TypeError, "expected an integer"):
                GraphmillSampler(made.RMAT, **{**dict(fanout=[2]), **options})

    def test_workers(self) -> None:
        from graphmill.pyg import GraphmillSampler

        got = []
        for method in (None, *made.methods(self)):
            with GraphmillSampler(made.RMAT, fanout=[4, 4], seed=2) as sampler:
                copy, workers = (sampler, 0) if method is None else (pickle.loads(pickle.dumps(sampler)), 3)
                got.append([(b.n_id.tolist(), b.e_id.tolist()) for b in self.loader(copy, num_workers=workers, multiprocessing_context=method)])
        for of_workers in got[1:]:
            self.assertEqual(of_workers, got[0])

    def test_types(self) -> None:
        import torch
        from graphmill.pyg import GraphmillSampler
        from torch_geometric.data import HeteroData
        from torch_geometric.loader import NodeLoader

        store = Store(made.DEBIAN)
        data = HeteroData()
        for t, nodes in store.nodes.items():
            data[t].num_nodes = nodes.count
        for e in (("package", "depends", "package"), ("package", "has_tag", "tag")):
            data[e].edge_index = torch.from_numpy(store.edges[e].edge_index("input"))
        data["package"].y = torch.from_numpy(np.array(store.nodes["package"]["label"]))
        with GraphmillSampler(made.DEBIAN, fanout={"depends": [4, 3], "has_tag": [2, 2]}, seed_type="package", direction="out") as sampler:
            for b in NodeLoader(data, node_sampler=sampler, input_nodes="package", batch_size=512):
                self.assertTrue(b.validate())
                self.assertEqual(set(b.edge_types), set(data.edge_types))
                package = b["package"]
                self.assertEqual((package.batch_size, package.n_id[: package.batch_size].tolist()), (len(package.input_id), package.input_id.tolist()))
                self.assertTrue(torch.equal(package.y, data["package"].y[package.n_id]))
                for s, r, d in data.edge_types:
                    e = b[s, r, d]
                    ends = torch.stack([b[s].n_id[e.edge_index[0]], b[d].n_id[e.edge_index[1]]])
                    self.assertTrue(torch.equal(data[s, r, d].edge_index[:, e.e_id], ends))
            with self.assertRaisesRegex(ValueError, "expected 'package', the seed_type"):
                next(iter(NodeLoader(data, node_sampler=sampler, input_nodes="tag", batch_size=4)))

    def test_errors(self) -> None:
        import torch
        from graphmill.pyg import GraphmillSampler
        from torch_geometric.sampler import EdgeSamplerInput, NodeSamplerInput

        with self.assertRaisesRegex(ValueError, "graphmill.NodeLoader samples before a time"):
            GraphmillSampler(made.RMAT, fanout=[2], before="time", scope="seed")
        with self.assertRaisesRegex(GraphmillError, "no node type for the seeds"):
            GraphmillSampler(made.DEBIAN, fanout=[2])
        with GraphmillSampler(made.RMAT, fanout=[2], threads=1) as sampler:
            seeds = torch.tensor([1, 2])
            with self.assertRaisesRegex(ValueError, "found links, expected nodes"):
                sampler.sample_from_edges(EdgeSamplerInput(seeds, seeds, seeds))
            with self.assertRaisesRegex(ValueError, "before="):
                sampler.sample_from_nodes(NodeSamplerInput(seeds, seeds, time=seeds))
            with self.assertRaisesRegex(GraphmillError, "found node 5000"):
                sampler.sample_from_nodes(NodeSamplerInput(seeds, torch.tensor([5000])))
            out = sampler.sample_from_nodes(NodeSamplerInput(seeds, seeds))  # which still works
            self.assertEqual(out.node[:2].tolist(), [1, 2])
            many = torch.arange(4096)  # more than a batch of the feed can hold
            self.assertEqual(sampler.sample_from_nodes(NodeSamplerInput(many, many)).node.tolist(), many.tolist())
            os.kill(made.feed_of(sampler), signal.SIGKILL)
            with self.assertRaisesRegex(FeedDied, "exit status -9"):
                sampler.sample_from_nodes(NodeSamplerInput(seeds, seeds))


if __name__ == "__main__":
    unittest.main()
