"""FeatureStore and GraphStore in PyG's own loaders.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with debian.store.
"""

from __future__ import annotations

import functools
import importlib.util
import pickle
import unittest
import warnings
from collections.abc import Callable
from typing import Any

import graphmill
import made
import numpy as np
import numpy.typing as npt
from graphmill import Store

if importlib.util.find_spec("torch_geometric"):
    import torch
    from torch_geometric.loader import LinkNeighborLoader, NeighborLoader


@functools.lru_cache(None)
def plain(**options: Any) -> Store:
    r = np.random.default_rng(1)
    nodes = {"x": r.standard_normal((1500, 4)).astype(np.float32), "y": r.integers(0, 5, 1500), "small": r.integers(0, 60000, 1500).astype(np.uint16)}
    return graphmill.from_arrays(nodes, r.integers(0, 1500, (2, 12000)), made.path(f"remote{len(options)}.store"), **options)


@functools.lru_cache(None)
def typed() -> Store:
    r = np.random.default_rng(2)
    nodes = {"user": {"x": r.standard_normal((700, 3)).astype(np.float32)}, "item": 400, "shop": {"y": np.arange(9), "half": Half(r.standard_normal((9, 2)))}}
    edges = {
        ("user", "buys", "item"): (700, 400, 3000),
        ("item", "bought", "user"): (400, 700, 2500),
        ("user", "knows", "user"): (700, 700, 1500),
        ("shop", "sells", "item"): (9, 400, 800),
    }
    return graphmill.from_arrays(
        nodes, {e: np.stack([r.integers(0, s, n), r.integers(0, d, n)]) for e, (s, d, n) in edges.items()}, made.path("remote-typed.store")
    )


def Half(x: npt.NDArray[Any]) -> Any:
    return torch.from_numpy(x).bfloat16()


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestRemote(unittest.TestCase):
    def setUp(self) -> None:
        warnings.simplefilter("ignore")  # PyG's about pyg-lib

    def data(self, store: Store) -> tuple[Any, Any]:
        from graphmill.pyg import FeatureStore, GraphStore

        return FeatureStore(store), GraphStore(store)

    def nodes(self, b: Any) -> dict[Any, dict[str, Any]]:
        """The nodes of a batch by type: their ids in ascending order, and the rows of their columns in this order."""
        out = {}
        for store in b.node_stores:
            order = store.n_id.argsort()
            out[store._key] = {
                name: x[order]
                for name, x in store.items()
                if torch.is_tensor(x) and len(x) == len(order) and name in ("n_id", "x", "y", "small", "half", "size", "label", "essential")
            }
        return out

    def edges(self, b: Any) -> dict[Any, dict[str, Any]]:
        """The edges of a batch by type: [3, edges], ids of source, destination and edge, by ascending edge."""
        out = {}
        for store in b.edge_stores:
            s, d = (b, b) if store._key is None else (b[store._key[0]], b[store._key[2]])
            row = torch.stack([s.n_id[store.edge_index[0]], d.n_id[store.edge_index[1]], store.e_id])
            out[store._key] = {"edges": row[:, row[2].argsort()]}
            if "edge_label_index" in store:
                out[store._key].update(
                    ends=torch.stack([s.n_id[store.edge_label_index[0]], d.n_id[store.edge_label_index[1]]]),
                    label=store.get("edge_label"),
                    input_id=store.input_id,
                )
        return out

    def same(self, got: Any, want: Any) -> None:
        """Two batches have the same nodes, edges, columns and seeds."""
        for of in (self.nodes, self.edges):
            a, b = of(got), of(want)
            self.assertEqual(set(a), set(b))
            for t in b:
                for name, x in b[t].items():
                    name = "y" if of == self.nodes and name == "label" else name  # as in batches of graphmill.NodeLoader
                    self.assertTrue((x is None and a[t][name] is None) or torch.equal(a[t][name], x), (t, name))
        for to, store in zip(got.node_stores, want.node_stores):
            if "batch_size" in store:
                to = got if store._key is None else got[store._key]
                self.assertTrue(torch.equal(to.n_id[: to.batch_size], store.n_id[: store.batch_size]))
                self.assertTrue(torch.equal(to.input_id, store.input_id))

    def equal(self, store: Store, kind: Any, seeds: dict[str, Any], **options: Any) -> None:
        """The batches of a store equal the batches of its graph in memory."""
        whole, batches = store.to_pyg(), []
        for of in whole.stores:
            for name in [n for n, x in of.items() if isinstance(x, list)]:  # of strings, which PyG's loaders refuse
                del of[name]
        for data in (whole, self.data(store)):
            torch.manual_seed(5)
            given = {k: x[1] if data is whole and x[0] is None else x for k, x in seeds.items()}
            batches.append(list(kind(data, num_neighbors=[-1, -1], **{"batch_size": 64, **given, **options})))
        self.assertGreater(len(batches[0]), 3)
        self.assertEqual(len(batches[0]), len(batches[1]))
        for want, got in zip(*batches):
            self.same(got, want)

    def test_plain(self) -> None:
        for options in ({}, {"primary": "out"}):
            self.equal(plain(**options), NeighborLoader, dict(input_nodes=torch.arange(300, 700)))
            self.equal(plain(**options), LinkNeighborLoader, dict(edge_label_index=(None, torch.randint(0, 1500, (2, 400)))), neg_sampling_ratio=1.0)

    def test_types(self) -> None:
        self.equal(typed(), NeighborLoader, dict(input_nodes="item"))
        self.equal(typed(), NeighborLoader, dict(input_nodes=("user", torch.arange(9, 300))))
        buys = ("user", "buys", "item")
        self.equal(typed(), LinkNeighborLoader, dict(edge_label_index=buys))
        self.equal(typed(), LinkNeighborLoader, dict(edge_label_index=(buys, None)), neg_sampling_ratio=1.0)
        self.equal(Store(made.DEBIAN), NeighborLoader, dict(input_nodes="package"), batch_size=900)

    def test_workers(self) -> None:
        store = typed()
        for method in made.methods(self):
            data = pickle.loads(pickle.dumps(self.data(store)))
            got = list(NeighborLoader(data, num_neighbors=[-1], input_nodes="item", batch_size=100, num_workers=2, multiprocessing_context=method))
            for a, b in zip(got, NeighborLoader(store.to_pyg(), num_neighbors=[-1], input_nodes="item", batch_size=100)):
                self.same(a, b)
            self.assertEqual(len(got), 4)

    def test_edges_of_a_batch(self) -> None:
        """e_id is the position in the imported input, by which `find` reads edge columns, as in a batch of graphmill.NodeLoader."""
        store = plain()
        pairs = torch.from_numpy(store.edges["_E"].edge_index("input"))
        b = next(iter(NeighborLoader(self.data(store), num_neighbors=[-1], input_nodes=torch.arange(50), batch_size=50)))
        self.assertTrue(torch.equal(pairs[:, b.e_id], b.n_id[b.edge_index]))

    def test_tensors(self) -> None:
        features, _ = self.data(typed())
        self.assertEqual(features.get_tensor("shop", "half", index=None).dtype, torch.bfloat16)
        self.assertEqual(features.get_tensor("shop", "y", index=slice(2, 5)).tolist(), [2, 3, 4])
        self.assertEqual(features.get_tensor("shop", "y", index=torch.tensor([8, 0])).tolist(), [8, 0])
        self.assertEqual(features.get_tensor("shop", "y", index=torch.arange(9) > 6).tolist(), [7, 8])
        self.assertEqual(features.get_tensor_size("user", "x"), (700, 3))
        self.assertEqual(features["item", "n_id", torch.tensor([3])].tolist(), [3])
        small = self.data(plain())[0].get_tensor(None, "small", index=None)
        self.assertEqual((small.dtype, small.tolist()), (torch.int32, plain().nodes["_N"]["small"].tolist()))
        whole = self.data(plain())[0].get_tensor(None, "x", index=None)
        self.assertEqual(whole.data_ptr(), np.asarray(plain().nodes["_N"]["x"]).ctypes.data)  # the map itself

    def test_names(self) -> None:
        from graphmill.pyg import FeatureStore

        names: Callable[[Any], Any] = lambda f: sorted((a.group_name, a.attr_name) for a in f.get_all_tensor_attrs())
        self.assertEqual(
            names(FeatureStore(made.DEBIAN, ["size"], label="label")),
            [("maintainer", "n_id"), ("package", "x"), ("package", "y"), ("source", "n_id"), ("tag", "n_id")],
        )
        self.assertEqual(names(FeatureStore(plain().path, "small")), [(None, "x")])

    def test_errors(self) -> None:
        from graphmill.pyg import FeatureStore

        features, graph = self.data(plain())
        for call, error, text in (
            (lambda: FeatureStore(plain(), ["smal"]), ValueError, "features: found 'smal', expected one of small, x, y; did you mean small"),
            (lambda: FeatureStore(plain(), label="z"), ValueError, "label: found 'z', expected one of"),
            (
                lambda: FeatureStore(made.store(), ["name"]),
                ValueError,
                "features: found Column.'name', string.* of node type person, expected numbers of one shape",
            ),
            (lambda: features.get_tensor(None, "z", index=None), KeyError, "node type None: tensor: found 'z', expected one of small, x, y"),
            (lambda: features.put_tensor(torch.zeros(3), None, "x", index=None), TypeError, "found put_tensor.'x'., expected reads only"),
            (lambda: features.remove_tensor(None, "x", None), TypeError, "found remove_tensor.'x'., expected reads only"),
            (lambda: graph.put_edge_index((torch.zeros(1), torch.zeros(1)), None, "coo"), TypeError, "found put_edge_index, expected reads only"),
            (lambda: graph.remove_edge_index(None, "coo"), TypeError, "found remove_edge_index, expected reads only"),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()


if __name__ == "__main__":
    unittest.main()
