"""Batches that are the subgraphs of sets of nodes: arguments, weights, forms and states. test_peer_sets.py compares with the peers.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import functools
import importlib.util
import pathlib
import pickle
import tempfile
import unittest
from typing import Any

import graphmill
import made
import numpy as np
import numpy.typing as npt
from graphmill import GraphmillError, NodeLoader

NODES = 60


@functools.lru_cache(None)
def ends() -> npt.NDArray[Any]:
    draw = np.random.default_rng(3)
    return draw.integers(0, NODES, (2, 300))


@functools.lru_cache(None)
def store() -> graphmill.Store:
    return graphmill.from_arrays({"_N": {"x": np.arange(NODES, dtype=np.float32)}}, {("_N", "_E", "_N"): {"edge_index": ends(), "w": np.arange(300.0)}})


@functools.lru_cache(None)
def parts() -> str:
    out = made.path("parts_of_sets")
    made.graphmill("partition", store().path, "--parts", 7, "--method", "hash", "--out", out)
    return out


def kinds() -> list[dict[str, Any]]:
    return [
        {"sampler": "cluster", "assignment": parts(), "batch_size": 2, "shuffle": True},
        {"sampler": "saint-node", "batch_size": 12},
        {"sampler": "saint-edge", "batch_size": 6},
        {"sampler": "saint-walk", "batch_size": 5, "walk_length": 2},
    ]


class TestSets(unittest.TestCase):
    def test_batches(self) -> None:
        for words in kinds():
            with self.subTest(**words), NodeLoader(store(), seed=3, edge_features="w", **words) as loader:
                for b in loader:
                    src, dst = b.n_id[b.edge_index]
                    self.assertEqual(b.n_id.tolist(), sorted(set(b.n_id.tolist())))
                    self.assertEqual(b.batch_size, len(b.n_id))
                    np.testing.assert_array_equal(b.input_id, b.n_id)
                    np.testing.assert_array_equal(b.x["x"], b.n_id)
                    want = np.flatnonzero(np.isin(ends()[0], b.n_id) & np.isin(ends()[1], b.n_id))
                    np.testing.assert_array_equal(np.sort(b.e_id), want)
                    np.testing.assert_array_equal(ends()[:, b.e_id], [src, dst])
                    np.testing.assert_array_equal(b.edge_attr["w"], b.e_id)

    def test_files(self) -> None:
        """The command writes the subgraphs of the loader."""
        cases = [*kinds(), {"sampler": "ladies", "fanout": [8, 8], "batch_size": 16}, {"sampler": "labor", "fanout": [3, 3], "batch_size": 16, "importance": 2}]
        for i, words in enumerate(cases):
            with self.subTest(**words), NodeLoader(store(), seed=3, **words) as loader:
                flags = [
                    x for k, v in words.items() for x in ("--" + k.replace("_", "-"), ",".join(map(str, v)) if isinstance(v, list) else v) if x is not True
                ]
                out = pathlib.Path(made.path(f"files_of_sets_{i}"))
                made.graphmill("sample", store().path, "--seed", 3, "--force", "--out", out, *flags)
                edges, nodes = out / "edges" / "_N+_E+_N", out / "nodes" / "_N"
                of = {
                    name: np.split(np.load(folder / f"{name}.npy"), np.load(folder / "graph_ptr.npy")[1:-1].astype(int))
                    for folder, names in ((nodes, ["node_id"]), (edges, ["src", "dst"]))
                    for name in names
                }
                batches = list(loader)
                self.assertEqual(len(batches), len(of["node_id"]))
                for at, b in enumerate(batches):
                    np.testing.assert_array_equal(b.n_id, of["node_id"][at])
                    np.testing.assert_array_equal(b.edge_index, [of["src"][at], of["dst"][at]])
                if "fanout" in words:
                    weights = np.concatenate([b.edge_attr["edge_weights"] for b in batches])
                    np.testing.assert_array_equal(weights, np.load(edges / "edge_weights.npy"))

    def test_state(self) -> None:
        """A pass that goes on from a state, ranks, and a copy in another process have the same batches."""
        for words in kinds():
            with self.subTest(**words), NodeLoader(store(), seed=3, **words) as loader:
                want = [b.n_id.tolist() for b in loader]
                loader.set_epoch(0)
                it = iter(loader)
                self.assertEqual(next(it).n_id.tolist(), want[0])
                state = loader.state_dict()
                del it
                with NodeLoader(store(), seed=3, threads=3, **words) as other:
                    other.load_state_dict(state)
                    self.assertEqual([b.n_id.tolist() for b in other], want[1:])
                loader.set_epoch(0)
                copy = pickle.loads(pickle.dumps(loader))
                self.assertEqual([b.n_id.tolist() for b in copy], want)
                shares = []
                for rank in range(2):
                    with NodeLoader(store(), seed=3, rank=rank, world_size=2, tail="short", share=False, **words) as mine:
                        shares.append([b.n_id.tolist() for b in mine])
                self.assertEqual(shares, [want[0::2], want[1::2]])
        with NodeLoader(store(), sampler="saint-node", batch_size=12) as a, NodeLoader(store(), sampler="saint-edge", batch_size=12) as b:
            with self.assertRaisesRegex(ValueError, "sampler"):
                b.load_state_dict(a.state_dict())

    def test_weights(self) -> None:
        """The columns of coverage are what the counted batches say, and are the same for every loader."""
        words: dict[str, Any] = {"sampler": "saint-node", "batch_size": 20, "seed": 3}
        with NodeLoader(store(), coverage=30, **words) as loader:
            got = [(b.n_id.tolist(), b.e_id.tolist(), b.x["node_norm"].copy(), b.edge_attr["edge_norm"].copy()) for b in loader]
        nodes, edges, batches, total = np.zeros(NODES), np.zeros(300), 0, 0
        with NodeLoader(store(), **words) as counted:
            counted.set_epoch(1 << 62)
            while total < 30 * NODES:
                for b in counted:
                    nodes[b.n_id] += 1
                    edges[b.e_id] += 1
                    batches, total = batches + 1, total + len(b.n_id)
        for ids, of, node, edge in got:
            self.assertEqual((node.dtype, edge.dtype), (np.float32, np.float32))
            np.testing.assert_allclose(node, batches / nodes[ids] / NODES, rtol=1e-6)
            np.testing.assert_allclose(edge, nodes[ends()[0][of]] / edges[of], rtol=1e-6)
        # The loss of a node counts once, in the mean over many batches.
        self.assertAlmostEqual(float(np.mean([n.sum() for _, _, n, _ in got])), 1, delta=0.1)

    @unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
    def test_pyg(self) -> None:
        with NodeLoader(store(), as_="pyg", sampler="saint-walk", walk_length=2, batch_size=5, coverage=5) as loader:
            for b in loader:
                self.assertEqual((b.x.shape, b.node_norm.shape, b.edge_norm.shape), ((b.num_nodes,), (b.num_nodes,), (b.num_edges,)))
                self.assertNotIn("edge_attr", b)
                self.assertEqual(b.batch_size, b.num_nodes)

    @unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
    def test_pyg_loader(self) -> None:
        """PyG's own loader gives the seeds, so that a sampler for it draws no sets."""
        from graphmill.pyg import GraphmillSampler

        with self.assertRaisesRegex(ValueError, "sampler='saint-node'"):
            GraphmillSampler(store().path, sampler="saint-node")
        GraphmillSampler(store().path, [3], sampler="labor").close()

    def test_shadow(self) -> None:
        with NodeLoader(store(), [3, 2], 8, sampler="shadow") as a, NodeLoader(store(), [3, 2], 8, scope="seed", subgraph_type="induced") as b:
            for x, y in zip(a, b, strict=True):
                np.testing.assert_array_equal(x.edge_index, y.edge_index)
                np.testing.assert_array_equal(x.batch, y.batch)

    def test_wrong(self) -> None:
        """Wrong words are refused before the first batch, by name."""
        empty = tempfile.TemporaryDirectory()
        self.addCleanup(empty.cleanup)
        words: Any
        for words, want in [
            ({"sampler": "saint"}, "sampler='saint', expected .*saint-node"),
            ({"sampler": "saint-node", "fanout": [3]}, "fanout with sampler saint-node"),
            ({"sampler": "saint-node", "seeds": [1]}, "seeds with sampler"),
            ({"sampler": "saint-node", "shuffle": True}, "shuffle with sampler"),
            ({"sampler": "saint-walk"}, "no walk_length"),
            ({"sampler": "saint-walk", "walk_length": 0}, "walk_length=0, expected at least 1"),
            ({"sampler": "saint-node", "walk_length": 2}, "walk_length with sampler"),
            ({"sampler": "cluster"}, "no assignment"),
            ({"sampler": "cluster", "assignment": empty.name}, "_N.txt"),
            ({"sampler": "cluster", "assignment": parts(), "coverage": 3}, "coverage=3 with sampler='cluster'"),
            ({"fanout": [3], "coverage": 3}, "coverage=3 with sampler=None"),
            ({"sampler": "saint-node", "coverage": -1}, "coverage=-1"),
            ({"sampler": "saint-node", "coverage": 2, "edge_ids": False}, "edge_ids=False"),
            ({"sampler": "saint-node", "as_": "dgl"}, "as_='dgl'"),
            ({"sampler": "saint-node", "batch_size": 0}, "batch_size=0"),
        ]:
            with self.subTest(**words), self.assertRaisesRegex((ValueError, GraphmillError), want):
                NodeLoader(store(), **words).close()
        of = graphmill.from_arrays({"_N": {"node_norm": np.zeros(4)}}, np.array([[0, 1], [1, 2]]))
        with self.assertRaisesRegex(ValueError, "column node_norm"):
            NodeLoader(of, sampler="saint-node", coverage=2).close()
        with self.assertRaisesRegex((ValueError, GraphmillError), "node types"):
            NodeLoader(made.DEBIAN, sampler="saint-node").close()

    def test_other_assignment(self) -> None:
        """An assignment of another store is refused."""
        other = graphmill.from_arrays(NODES + 1, ends())
        with self.assertRaisesRegex(GraphmillError, "_N.txt: found 60 lines, expected 61"):
            NodeLoader(other, sampler="cluster", assignment=parts()).close()

    def test_default_batch_size(self) -> None:
        with NodeLoader(store(), sampler="cluster", assignment=parts()) as loader:
            self.assertEqual(len(loader), 7)


class TestLayers(unittest.TestCase):
    def test_budgets(self) -> None:
        for sampler in ("ladies", "fastgcn", "hgt"):
            with self.subTest(sampler=sampler), NodeLoader(store(), [5, 4], 6, np.arange(12), sampler=sampler, seed=1) as loader:
                for b in loader:
                    self.assertLessEqual(len(b.n_id), 6 + 5 + 4)
                    np.testing.assert_array_equal(ends()[:, b.e_id], b.n_id[b.edge_index])

    def test_weights(self) -> None:
        """Of the samplers whose edges have other chances, in all forms and also with a subgraph per seed."""
        for words in ({"sampler": "ladies"}, {"sampler": "fastgcn"}, {"sampler": "labor", "importance": 1}):
            for scope in ("batch", "seed"):
                with self.subTest(**words, scope=scope), NodeLoader(store(), [5, 4], 6, np.arange(12), scope=scope, seed=1, **words) as loader:
                    for b in loader:
                        weights = b.edge_attr["edge_weights"]
                        self.assertEqual(weights.dtype, np.float32)
                        edges = np.bincount(b.edge_index[1], minlength=len(b.n_id))
                        np.testing.assert_allclose(np.bincount(b.edge_index[1], weights, len(b.n_id)), edges, rtol=1e-4)
        with NodeLoader(store(), [5], 6, sampler="hgt") as loader:
            self.assertEqual(next(iter(loader)).edge_attr, {})
        named = graphmill.from_arrays({"_N": {"x": np.arange(NODES)}}, {("_N", "_E", "_N"): {"edge_index": ends(), "edge_weights": np.arange(300.0)}})
        NodeLoader(named, [5], 6, sampler="ladies").close()
        with self.assertRaisesRegex(
            (ValueError, GraphmillError), "found the column edge_weights of _N:_E:_N with a sampler whose batches have the weights of edges in it"
        ):
            NodeLoader(named, [5], 6, sampler="ladies", edge_features="edge_weights").close()

    def test_ranks(self) -> None:
        with NodeLoader(store(), [7], 6, sampler="ppr", seed=1) as loader:
            for b in loader:
                self.assertLessEqual(len(b.n_id), 6 * 8)

    def test_refusals(self) -> None:
        for words, want in (
            (
                {"fanout": {("_N", "_E", "_N"): [3]}, "sampler": "hgt"},
                "expected one of the node types \\['_N'\\], because sampler='hgt' chooses nodes of a type",
            ),
            ({"fanout": [3], "importance": 2}, "found importance 2 with sampler neighbor|found importance"),
            ({"fanout": [3], "importance": -1, "sampler": "labor"}, "importance"),
            ({"fanout": [3], "alpha": 0.5}, "alpha"),
            ({"fanout": [3], "alpha": 0, "sampler": "ppr"}, "found alpha=0, expected a number above 0"),
            ({"fanout": [3], "eps": float("nan"), "sampler": "ppr"}, "found eps=nan, expected a number above 0"),
            ({"fanout": [3], "alpha": 2.0, "sampler": "ppr"}, "found alpha 2, expected a probability above 0 and below 1"),
            ({"fanout": [3], "sampler": "ladies", "weight": "w"}, "expected one of them"),
        ):
            with self.subTest(**words), self.assertRaisesRegex((ValueError, GraphmillError), want):
                NodeLoader(store(), batch_size=6, **words).close()
        with self.assertRaisesRegex(TypeError, "found alpha='x', expected a number"):
            NodeLoader(store(), [3], sampler="ppr", alpha="x")  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
