"""Columns of every dtype in every form of batches: their values and dtypes.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import functools
import importlib.util
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import made
import numpy as np
import numpy.typing as npt
from graphmill import Collection, NodeLoader, PackedLoader

COUNT = 60
KINDS = {d: np.dtype(d) for d in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")}
WIDER = {"uint16": "int32", "uint32": "int64", "uint64": "int64"}  # in torch
NAMES = [*KINDS, "bfloat16"]


def available(*modules: str) -> bool:
    return all(importlib.util.find_spec(m) for m in modules)


@functools.lru_cache(None)
def values(name: str, rows: int, seed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A column [rows] and one [rows, 2], with the extremes of the dtype; bfloat16 as float32."""
    r = np.random.default_rng([seed, NAMES.index(name)])
    if name == "bfloat16":
        bits = r.integers(0, 0x7F00, (rows, 3)) | r.integers(0, 2, (rows, 3)) << 15  # all bits except NaN and infinity
        x = (bits.astype(np.uint32) << 16).view(np.float32)
    elif name == "bool":
        x = r.integers(0, 2, (rows, 3)).astype(bool)
    elif name.startswith("float"):
        x = (r.standard_normal((rows, 3)) * 100).astype(name)
    else:
        most = (1 << 63) - 1 if name == "uint64" else np.iinfo(name).max  # the largest integer in torch
        x = r.integers(np.iinfo(name).min, most, (rows, 3), KINDS[name], endpoint=True)
        x[0] = most
        x[1] = np.iinfo(name).min
    return x[:, 0].copy(), x[:, 1:].copy()


def table(rows: int, seed: int, **more: Any) -> tuple[str, str]:
    """A CSV of all columns, and the columns of graph.yaml."""
    text = {**more}
    for name in NAMES:
        one, two = values(name, rows, seed)
        shown: Callable[[Any], str] = (lambda v: str(int(v))) if name == "bool" else (lambda v: repr(v.item()))
        text[name], text[name + "_2"] = [shown(v) for v in one], [f"{shown(a)} {shown(b)}" for a, b in two]
    lines = [",".join(text), *(",".join(map(str, row)) for row in zip(*text.values()))]
    return "\n".join(lines) + "\n", "{" + ", ".join(f"{n}: {n}, {n}_2: '{n}[2]'" for n in NAMES) + "}"


@functools.lru_cache(None)
def store() -> str:
    """A graph whose nodes and edges have a column and one of rows of two of each dtype."""
    r = np.random.default_rng(1)
    nodes, columns = table(COUNT, 1, id=range(COUNT))
    edges, _ = table(3 * COUNT, 2, src=r.integers(0, COUNT, 3 * COUNT), dst=r.integers(0, COUNT, 3 * COUNT))
    yaml = f"nodes: {{n: {{table: n.csv, id: id, columns: {columns}}}}}\nedges: {{'n:e:n': {{table: e.csv, columns: {columns}}}}}\n"
    made.graphmill("import", made.write("types", {"n.csv": nodes, "e.csv": edges, "graph.yaml": yaml}), "--out", made.path("types.store"))
    return made.path("types.store")


@functools.lru_cache(None)
def collection() -> tuple[str, str]:
    """Graphs whose nodes have such columns, and a layout of packs of them."""
    nodes, columns = table(COUNT, 1)
    files = {"n.csv": nodes, "ptr.npy": np.arange(0, COUNT + 1, 3), "e.npy": np.zeros(COUNT // 3 + 1, np.int64), "none.npy": np.empty(0, np.int64)}
    files["graph.yaml"] = (
        f"graphs: {{}}\nnodes: {{n: {{table: n.csv, graph_ptr: ptr.npy, columns: {columns}}}}}\nedges: {{'n:e:n': {{graph_ptr: e.npy, src: none.npy, dst: none.npy, ends: local}}}}\n"
    )
    made.graphmill("import", made.write("graphs", files), "--out", made.path("types.coll"))
    made.graphmill("pack", made.path("types.coll"), "--limit", "num_nodes=12", "--limit", "num_edges=1", "--reserve", "--out", made.path("types.plan"))
    return made.path("types.coll"), made.path("types.plan")


@functools.lru_cache(None)
def large() -> str:
    """A store with uint64 values that do not fit an int64."""
    files = {"n.csv": "id,small,big\n0,1,5\n1,2,9223372036854775808\n2,3,18446744073709551615\n", "e.csv": "src,dst\n0,1\n1,2\n"}
    files["graph.yaml"] = "nodes: {n: {table: n.csv, id: id, columns: {small: uint64, big: uint64}}}\nedges: {'n:e:n': {table: e.csv}}\n"
    made.graphmill("import", made.write("large", files), "--out", made.path("large.store"))
    return made.path("large.store")


def columns(seed: int, rows: int) -> Iterator[tuple[str, str, npt.NDArray[Any]]]:
    for name in NAMES:
        for suffix, x in zip(("", "_2"), values(name, rows, seed)):
            yield name, name + suffix, x


class Forms(unittest.TestCase):
    def loader(self, form: str, **options: Any) -> NodeLoader:
        loader = NodeLoader(store(), [-1], 16, as_=form, edge_features="all", slots=8, **options)
        self.addCleanup(loader.close)
        return loader

    def refused(self, form: str) -> None:
        """Values that do not fit torch's integers are an error with the name of their column."""
        with NodeLoader(large(), [1], as_=form) as loader:
            with self.assertRaisesRegex(ValueError, "column nodes/n/x/big: found 18446744073709551615, expected values below 2\\^63"):
                next(iter(loader))
        with NodeLoader(large(), [1], as_=form, seeds=[0]) as loader:  # values outside the batch do not matter
            next(iter(loader))

    def check(self, n_id: Any, nodes: Any, e_id: Any, edges: Any, array: Callable[[Any], npt.NDArray[Any]], dtype: Callable[[str], str]) -> None:
        """Each column has the values of its ids, and the dtype of the form that its name says."""
        n_id, e_id = np.asarray(n_id), np.asarray(e_id)
        for ids, got, seed, rows in ((n_id, nodes, 1, COUNT), (e_id, edges, 2, 3 * COUNT)):
            for name, column, want in columns(seed, rows):
                if got is not None:
                    x = got[column]
                    self.assertEqual(str(x.dtype).rpartition(".")[2], dtype(name), column)
                    found = array(x)[: len(ids)]
                    self.assertEqual(found.shape, want[ids].shape)
                    self.assertTrue((found == want[ids]).all(), column)


class TestNumpy(Forms):
    def dtype(self, name: str) -> str:
        return "float32" if name == "bfloat16" else name

    def test_batches(self) -> None:
        for options in ({}, dict(scope="seed")):
            for b in self.loader("numpy", **options):
                self.check(b.n_id, b.x, b.e_id, b.edge_attr, np.asarray, self.dtype)

    def test_large(self) -> None:
        with NodeLoader(large(), [1]) as loader:
            (b,) = loader
            self.assertEqual(b.x["big"].tolist(), [5, 1 << 63, (1 << 64) - 1])

    def test_packs(self) -> None:
        path, plan = collection()
        for batch in (None, 2):
            seen = 0
            for p in PackedLoader(plan, path, batch=batch):
                first = np.where(p.graph_id < 0, COUNT, 3 * p.graph_id)
                ids = (np.take_along_axis(first, p.nodes["n"].graph, -1) + np.arange(p.nodes["n"].graph.shape[-1]) % 3)[p.nodes["n"].mask]
                self.check(ids, {k: x[p.nodes["n"].mask] for k, x in p.nodes["n"].columns.items()}, ids, None, np.asarray, self.dtype)
                seen += len(ids)
            self.assertEqual(seen, COUNT)


def torch_array(x: Any) -> npt.NDArray[Any]:
    """bfloat16 as float32, which can hold all its values."""
    return np.asarray((x.float() if str(x.dtype) == "torch.bfloat16" else x).numpy())


@unittest.skipUnless(available("torch_geometric"), "PyG is not installed")
class TestPyG(Forms):
    def dtype(self, name: str) -> str:
        return WIDER.get(name, name)

    def test_batches(self) -> None:
        for options in ({}, dict(scope="seed")):
            for b in self.loader("pyg", **options):
                nodes, edges = b["n"], b["n", "e", "n"]
                self.check(nodes.n_id, nodes, edges.e_id, edges, torch_array, self.dtype)

    def test_large(self) -> None:
        self.refused("pyg")

    def test_graphs_and_packs(self) -> None:
        path, plan = collection()
        for g, data in zip(Collection(path), Collection(path).to_pyg()):
            ids = np.arange(3) + 3 * g.number
            self.check(ids, data, ids, None, torch_array, self.dtype)
        for b in PackedLoader(plan, path, as_="pyg"):
            ids = (3 * b.graph_id[b.batch].numpy() + np.arange(b.num_nodes) % 3)[b.node_mask.numpy()]
            self.check(ids, {n: b[n] for of in NAMES for n in (of, of + "_2")}, ids, None, lambda x: torch_array(x)[b.node_mask.numpy()], self.dtype)


@unittest.skipUnless(available("dgl"), "DGL is not installed")
class TestDGL(Forms):
    def test_batches(self) -> None:
        for nodes, _, blocks in self.loader("dgl"):
            self.check(nodes, blocks[0].srcdata, nodes[:0], None, torch_array, lambda name: WIDER.get(name, name))

    def test_large(self) -> None:
        self.refused("dgl")


@unittest.skipUnless(available("jraph"), "jraph is not installed")
class TestJraph(Forms):
    def test_batches(self) -> None:
        for options in ({}, dict(scope="seed")):
            for g in self.loader("jraph", **options):
                nodes, edges = int(g.n_node[:-1].sum()), int(g.n_edge[:-1].sum())
                if not options:
                    nodes, edges = int(g.n_node[0]), int(g.n_edge[0])
                elif nodes == len(g.nodes["n_id"]):
                    continue  # a short last batch, in which the padding is not the last graph
                self.check(g.nodes["n_id"][:nodes], g.nodes, g.edges["e_id"][:edges], g.edges, np.asarray, lambda name: name)


@unittest.skipUnless(available("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNN(Forms):
    def test_batches(self) -> None:
        for options in ({}, dict(scope="seed")):
            for g in self.loader("tfgnn", **options):
                nodes, edges = g.node_sets["n"], g.edge_sets["e"]
                got = [{n: of[n].numpy() for kind in NAMES for n in (kind, kind + "_2")} for of in (nodes, edges)]
                self.check(nodes["n_id"], got[0], edges["e_id"], got[1], np.asarray, lambda name: name)


if __name__ == "__main__":
    unittest.main()
