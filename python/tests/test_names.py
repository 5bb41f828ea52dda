"""The tables of names in docs/coming-from-pyg.md and docs/coming-from-dgl.md are complete, and what they call "same" is tested.

A row has the peer's name, or several, and one of "same", "named otherwise: `OURS`" and "not, because REASON".
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import unittest
from collections.abc import Callable, Container, Iterable
from typing import Any

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
VERDICT = re.compile(r"same|named otherwise: `[^`]+`|not, because \S.*")

# The tests against the real peer of each name that is "same", by table. Tests of draws compare distributions by chi-square.
STRUCTURE, LAWS = "test_peer_structure.TestPyG.", "test_peer_laws.TestPyG."
SAMPLING = {
    "num_neighbors": ["test_pyg_hops.TestPyGHops.test_random_graphs", STRUCTURE + "test_words", LAWS + "test_uniform", "test_peer_laws.TestDGL.test_uniform"],
    "replace": [LAWS + "test_replace"],
    "subgraph_type": [STRUCTURE + "test_subgraph_types"],
    "disjoint": [STRUCTURE + "test_disjoint"],
    "temporal_strategy": [STRUCTURE + "test_last"],
    "time_attr": [STRUCTURE + "test_times"],
    "weight_attr": ["test_peer_laws.TestDGL.test_weights"],
    "transform": [STRUCTURE + "test_words"],
}
COVERED = {
    "coming-from-pyg.md": {
        "NeighborLoader": {**SAMPLING, "input_nodes": [STRUCTURE + "test_input_nodes"]},
        "LinkNeighborLoader": {
            **SAMPLING,
            "edge_label_index": [STRUCTURE + "test_links"],
            "edge_label": [STRUCTURE + "test_links"],
            "neg_sampling": [STRUCTURE + "test_negatives", LAWS + "test_negatives"],
            "neg_sampling_ratio": [STRUCTURE + "test_negatives"],
        },
        "torch.utils.data.DataLoader": {key: [STRUCTURE + "test_batches"] for key in ["batch_size", "shuffle", "drop_last"]},
        "Attributes of a batch": {
            **{key: [STRUCTURE + "test_attributes"] for key in ["x", "y", "edge_index", "edge_attr", "n_id", "e_id", "input_id", "batch_size"]},
            **{key: ["test_pyg_hops.TestPyGHops.test_random_graphs"] for key in ["num_sampled_nodes", "num_sampled_edges"]},
            "batch": [STRUCTURE + "test_disjoint"],
            "seed_time": [STRUCTURE + "test_times"],
            **{key: [STRUCTURE + "test_links"] for key in ["edge_label_index", "edge_label"]},
            "edge_label_time": [STRUCTURE + "test_link_times"],
            **{key: [STRUCTURE + "test_negatives"] for key in ["src_index", "dst_pos_index", "dst_neg_index"]},
        },
    },
    "coming-from-dgl.md": {
        "DataLoader": {key: ["test_peer_structure.TestDGL.test_batches"] for key in ["batch_size", "drop_last", "shuffle"]},
        "NeighborSampler": {"replace": ["test_peer_laws.TestDGL.test_replace"]},
        "as_edge_prediction_sampler": {key: ["test_peer_structure.TestDGL.test_exclude"] for key in ["exclude", "None", '"self"']},
        "Blocks": {
            **{key: ["test_dgl_blocks.TestDGLBlocks.test_one_type"] for key in ["input_nodes", "output_nodes", "blocks"]},
            **{key: ["test_dgl_blocks.TestDGLBlocks.test_random_graphs"] for key in ["srcdata[dgl.NID]", "dstdata[dgl.NID]", "edata[dgl.EID]"]},
            "pair_graph": ["test_links.TestDGLLinks.test_as_dgl_with_all_neighbours"],
            "neg_graph": ["test_peer_structure.TestDGL.test_negatives", "test_peer_laws.TestDGL.test_negatives"],
        },
        "Steps of GraphBolt": {"transform": ["test_peer_structure.TestDGL.test_transform"]},
        "Arguments of GraphBolt's steps": {
            **{key: ["test_peer_structure.TestDGL.test_batches"] for key in ["batch_size", "drop_last", "shuffle"]},
            "replace": ["test_peer_laws.TestDGL.test_replace"],
        },
        "Fields of a `MiniBatch`": {"input_nodes": ["test_dgl_blocks.TestDGLBlocks.test_one_type"]},
    },
}
# Words that the peer's environment of the tests cannot run: they need a GPU.
DEVICE = {"pin_memory", "device"}


def tables(page: str) -> dict[str, dict[str, str]]:
    """By heading, the names of a table's rows, each with its verdict."""
    out: dict[str, dict[str, str]] = {}
    heading = ""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as f:
        for line in f.read().split("\n## Names", 1)[1].split("\n## ", 1)[0].splitlines():
            if line.startswith("### "):
                heading = re.sub(r"^`(.*)`$", r"\1", line[4:])
                out[heading] = {}
            elif line.startswith("| ") and not re.match(r"\| \S+( of `exclude`)? \| Graphmill \|", line) and heading:
                names, verdict, _ = (cell.strip() for cell in line.strip("|").split("|"))
                for name in re.findall(r"`([^`]+)`", names) or [names]:
                    out[heading][name] = verdict
    return out


def arguments(f: Callable[..., Any]) -> list[str]:
    """The names of the arguments of a class or function, with kwargs for those that it passes on."""
    return [p.name for p in inspect.signature(f).parameters.values() if p.name != "self"]


def tests(file: str) -> set[str]:
    """The names of the tests of a file, as CLASS.test."""
    with open(os.path.join(ROOT, "python", "tests", file + ".py"), encoding="utf-8") as f:
        tree = ast.parse(f.read())
    return {f"{c.name}.{t.name}" for c in tree.body if isinstance(c, ast.ClassDef) for t in c.body if isinstance(t, ast.FunctionDef)}


class TestTables(unittest.TestCase):
    def test_verdicts(self) -> None:
        for page in COVERED:
            for heading, rows in tables(page).items():
                self.assertTrue(rows, (page, heading))
                for name, verdict in rows.items():
                    self.assertRegex(verdict, f"^({VERDICT.pattern})$", (page, heading, name))

    def test_each_same_has_a_test(self) -> None:
        for page, covered in COVERED.items():
            same = {h: {n for n, verdict in rows.items() if verdict == "same"} - DEVICE for h, rows in tables(page).items()}
            self.assertEqual({h: n for h, n in same.items() if n}, {h: set(rows) for h, rows in covered.items()})
            for rows in covered.values():
                for name, of in rows.items():
                    self.assertTrue(of, name)
                    for test in of:
                        file, _, rest = test.partition(".")
                        self.assertIn(rest, tests(file), (name, test))

    def test_our_names_exist(self) -> None:
        """What an argument is called here is a keyword of NodeLoader, and so is what is the same."""
        from graphmill import NodeLoader
        from graphmill._keywords import PyGWords

        ours, words = set(arguments(NodeLoader.__init__)), set(PyGWords.__annotations__)
        for page, headings in (
            ("coming-from-pyg.md", ["NeighborLoader", "LinkNeighborLoader", "NegativeSampling", "torch.utils.data.DataLoader"]),
            (
                "coming-from-dgl.md",
                ["DataLoader", "NeighborSampler", "MultiLayerFullNeighborSampler", "as_edge_prediction_sampler", "Arguments of GraphBolt's steps"],
            ),
        ):
            found = tables(page)
            for heading in headings:
                for name, verdict in found[heading].items():
                    if verdict == "same" and re.fullmatch(r"\w+", name) and name != "None":
                        self.assertIn(name, ours | words, (page, heading, name))
                    elif verdict.startswith("named"):
                        named = re.search("`(\\w+)", verdict)
                        assert named
                        self.assertIn(named[1], ours, (page, heading, name))


class TestOtherNames(unittest.TestCase):
    def test_loaders_of_other_libraries(self) -> None:
        for name in ("NeighborLoader", "LinkNeighborLoader", "LinkLoader"):
            with self.assertRaisesRegex(ImportError, r"expected graphmill\.NodeLoader"):
                exec(f"from graphmill import {name}")
        with self.assertRaisesRegex(ImportError, "cannot import name 'NodeLoaders'"):
            exec("from graphmill import NodeLoaders")


class TestPeer(unittest.TestCase):
    def complete(self, table: Container[str], names: Iterable[str], where: str) -> None:
        self.assertEqual([n for n in names if n not in table], [], f"{where}: names of the peer that the table lacks")


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestPyGNames(TestPeer):
    def test_arguments(self) -> None:
        import torch
        from torch_geometric import loader, sampler

        found = tables("coming-from-pyg.md")
        for name, of in (("NeighborLoader", loader), ("LinkNeighborLoader", loader), ("NegativeSampling", sampler)):
            real = [a for a in arguments(getattr(of, name)) if a != "kwargs"]
            self.complete(found[name], real, name)
            self.assertEqual([n for n in found[name] if n not in real], [], f"{name}: names that PyG lacks")
        self.complete(found["torch.utils.data.DataLoader"], arguments(torch.utils.data.DataLoader), "DataLoader")
        self.complete(found["Classes"], loader.__all__, "torch_geometric.loader")

    def test_attributes(self) -> None:
        """Each attribute that PyG's loaders add to a batch is in the table."""
        import torch
        from torch_geometric.data import Data
        from torch_geometric.loader import LinkNeighborLoader, NeighborLoader

        data = Data(x=torch.rand(9, 2), y=torch.zeros(9), edge_index=torch.randint(0, 9, (2, 40)), edge_attr=torch.rand(40, 1))
        pairs, found = torch.randint(0, 9, (2, 7)), tables("coming-from-pyg.md")["Attributes of a batch"]
        for batch in (
            next(iter(NeighborLoader(data, [2], batch_size=4))),
            next(iter(LinkNeighborLoader(data, [2], pairs, neg_sampling="binary", batch_size=4))),
            next(iter(LinkNeighborLoader(data, [2], pairs, neg_sampling="triplet", batch_size=4))),
        ):
            self.complete(found, list(batch._store.keys()), "batch")


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGLNames(TestPeer):
    def test_arguments(self) -> None:
        from dgl import dataloading

        found = tables("coming-from-dgl.md")
        for name in ("DataLoader", "NeighborSampler", "MultiLayerFullNeighborSampler", "as_edge_prediction_sampler"):
            real = arguments(getattr(dataloading, name))
            self.complete(found[name], real, name)
            extra = [n for n in found[name] if re.fullmatch(r"\w+", n) and n not in real and n != "None"]
            self.assertEqual([n for n in extra if n != "a"], [], f"{name}: names that DGL lacks")
        negative = dataloading.negative_sampler
        classes = [n for n, c in vars(negative).items() if inspect.isclass(c) and n[0] != "_" and c.__module__ == negative.__name__]
        for name in classes:
            self.complete(found["Negative samplers"], [name, *arguments(getattr(negative, name))], name)

    def test_classes(self) -> None:
        from dgl import dataloading

        real = [
            n
            for n, c in vars(dataloading).items()
            if inspect.isclass(c) and n[0] != "_" and re.search("Loader$|Sampler$|Collator$|SpotTarget", n) and c.__module__.startswith("dgl.")
        ]
        self.complete(tables("coming-from-dgl.md")["Classes of `dgl.dataloading`"], real, "dgl.dataloading")

    def test_graphbolt(self) -> None:
        import dataclasses

        from dgl import graphbolt
        from torch.utils.data import IterDataPipe

        found = tables("coming-from-dgl.md")
        steps = {name: f.args[0] for name, f in IterDataPipe.functions.items() if getattr(f, "args", None) and f.args[0].__module__.startswith("dgl.graphbolt")}
        self.assertIn("sample_neighbor", steps)
        self.complete(found["Steps of GraphBolt"], [*steps, "ItemSampler", "DistributedItemSampler", "DataLoader"], "GraphBolt")
        self.complete(found["Fields of a `MiniBatch`"], [f.name for f in dataclasses.fields(graphbolt.MiniBatch)], "MiniBatch")
        for c in (
            graphbolt.ItemSampler, graphbolt.DistributedItemSampler, graphbolt.NeighborSampler, graphbolt.TemporalNeighborSampler, graphbolt.UniformNegativeSampler,
            graphbolt.FeatureFetcher, graphbolt.CopyTo, graphbolt.MiniBatchTransformer, graphbolt.DataLoader, graphbolt.exclude_seed_edges,
        ):  # fmt: skip
            names = [n for n in arguments(c) if n not in ("datapipe", "minibatch")]
            self.complete(found["Arguments of GraphBolt's steps"], names, c.__name__)


if __name__ == "__main__":
    unittest.main()
