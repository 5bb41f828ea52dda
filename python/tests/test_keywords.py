"""The keywords of NodeLoader: PyG's words for them, and the errors of wrong ones.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import itertools
import re
import unittest
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import graphmill
import made
import numpy as np
from graphmill import GraphmillError, NodeLoader, Store, _keywords

DEPENDS, TAGGED = ("package", "depends", "package"), ("package", "has_tag", "tag")


@functools.lru_cache(None)
def small() -> Store:
    """A store of users and items, whose edges have columns w and time, and whose nodes have a time as well."""
    r = np.random.default_rng(1)
    nodes = {"user": {"born": np.arange(50)}, "item": {"made": np.arange(30) % 7}}
    buys = {"edge_index": np.stack([r.integers(0, 50, 400), r.integers(0, 30, 400)]), "w": r.random(400), "time": np.arange(400)}
    bought = {"edge_index": buys["edge_index"][::-1], "w": buys["w"], "time": buys["time"]}
    return graphmill.from_arrays(nodes, {("user", "buys", "item"): buys, ("item", "sold", "user"): bought})


def flat(b: Any) -> list[Any]:
    """All of a batch that its draws decide."""
    typed: Callable[[Any], Any] = lambda x: {t: v.tolist() for t, v in x.items()} if isinstance(x, dict) else x.tolist()
    return [typed(b.n_id), typed(b.edge_index), typed(b.e_id), b.input_id.tolist(), b.seed_local.tolist()]


class TestWords(unittest.TestCase):
    def same(self, store: str | Store, words: dict[str, Any], own: dict[str, Any]) -> None:
        """Loaders with PyG's words and with ours have the same batches."""
        got = []
        for options in (words, own):
            with NodeLoader(store, batch_size=37, seed=5, **options) as loader:
                got.append([flat(b) for b in loader])
        self.assertEqual(got[0], got[1])

    def test_nodes(self) -> None:
        mask = np.arange(4096) % 3 == 0
        for word, own in (
            ({"input_nodes": None}, {}),
            ({"input_nodes": [7, 5]}, {"seeds": [7, 5]}),
            ({"input_nodes": mask}, {"seeds": mask}),
            ({"replace": True}, {"replace": True}),
            ({"disjoint": True}, {"scope": "seed"}),
            ({"disjoint": False, "directed": True, "is_sorted": True, "filter_per_worker": None}, {}),
            ({"num_workers": 3, "prefetch_factor": 4, "persistent_workers": True}, {"threads": 3}),
            ({"num_workers": 0, "weight_attr": None, "time_attr": None, "neg_sampling": None, "neg_sampling_ratio": 0.0}, {}),
            ({"drop_last": True}, {"tail": "drop"}),
            ({"subgraph_type": SimpleNamespace(value="directional")}, {}),
            ({"input_nodes": (None, mask)}, {"seeds": mask}),
            ({"input_nodes": (None, None)}, {}),
            (dict.fromkeys(["collate_fn", "worker_init_fn", "generator", "sampler", "batch_sampler", "neighbor_sampler"]), {}),
            (dict.fromkeys(["transform_sampler_output", "custom_cls", "input_id"]), {}),
            ({"timeout": 0, "pin_memory_device": "", "in_order": True}, {}),
        ):
            self.same(made.RMAT, {"num_neighbors": [3, 2], **word}, {"fanout": [3, 2], **own})

    def test_types(self) -> None:
        mask = np.arange(Store(made.DEBIAN).nodes["package"].count) % 5 == 0
        fanout = {DEPENDS: [3, 2], TAGGED: [2, 2]}
        for nodes, own in (("package", {}), (("package", None), {}), (("package", [9, 8]), {"seeds": [9, 8]}), (("package", mask), {"seeds": mask})):
            words = {"num_neighbors": fanout, "input_nodes": nodes, "direction": "out"}
            self.same(made.DEBIAN, words, {"fanout": {"depends": [3, 2], "has_tag": [2, 2]}, "seed_type": "package", "direction": "out", **own})

    def test_edges(self) -> None:
        own = {"fanout": [3], "seed_type": TAGGED}
        word: Any
        for word in (":".join(TAGGED), "has_tag", ("has_tag",)):
            self.same(made.DEBIAN, {"num_neighbors": [3], "edge_label_index": word}, {"fanout": [3], "seeds": ":".join(TAGGED) + ":#input_position"})
        pairs = Store(made.DEBIAN).edges["has_tag"].edge_index("input")
        for word in (TAGGED, (TAGGED, None), (TAGGED, pairs), ("has_tag", pairs), (":".join(TAGGED), pairs)):
            self.same(made.DEBIAN, {"num_neighbors": [3], "edge_label_index": word}, {**own, "seeds": pairs})
        pairs = np.array([[5, 6, 7], [1, 2, 3]])
        self.same(made.RMAT, {"num_neighbors": [3], "edge_label_index": pairs}, {"fanout": [3], "seeds": pairs})
        with NodeLoader(made.RMAT, num_neighbors=[1], edge_label_index=None, batch_size=1 << 20, features="none") as loader:
            (b,) = loader
            self.assertEqual(b.n_id[b.seed_local].T.tolist(), Store(made.RMAT).edges["_E"].edge_index("input")[:, b.input_id].tolist())

    def test_columns(self) -> None:
        self.same(small(), {"num_neighbors": [3], "input_nodes": "user", "weight_attr": "w"}, {"fanout": [3], "seed_type": "user", "weight": "w"})
        own = {"fanout": [3, 3], "seed_type": "user", "seed_time": "born", "before": "time<=", "scope": "seed"}
        words = {"num_neighbors": [3, 3], "input_nodes": "user", "time_attr": "time", "input_time": "born"}
        self.same(small(), words, own)
        self.same(small(), {**own, "before": "time <="}, own)
        self.same(small(), {**words, "disjoint": True}, own)

    def test_a_time_of_nodes(self) -> None:
        """Every node that is reached has the time of the seed or an earlier one; some are left out."""
        at = Store(small().path)
        reached = 0
        stores = graphmill.from_arrays(
            {t: {"t": np.asarray(n["born" if t == "user" else "made"]) * (1 if t == "user" else 7)} for t, n in at.nodes.items()},
            {e: of.edge_index() for e, of in at.edges.items()},
        )
        with NodeLoader(stores, num_neighbors=[-1, -1], input_nodes="user", time_attr="t", batch_size=64) as loader:
            for b in loader:
                for t in ("user", "item"):
                    late = np.asarray(stores.nodes[t]["t"])[b.n_id[t]] > b.seed_time[b.batch[t]]
                    self.assertFalse(late.any())
                    reached += len(late)
        with NodeLoader(stores, num_neighbors=[-1, -1], input_nodes="user", disjoint=True, batch_size=64) as loader:
            self.assertGreater(sum(len(ids) for b in loader for ids in b.n_id.values()), reached)

    def test_labels_of_links(self) -> None:
        pairs, labels = np.random.default_rng(2).integers(0, 4096, (2, 200)), np.arange(200) * 10
        with NodeLoader(made.RMAT, fanout=[2], seeds=pairs, edge_label=labels, batch_size=64, shuffle=True, drop_last=True) as loader:
            batches = [(b.links["edge_label"], b.input_id) for b in loader]
        self.assertEqual(len(batches), 3)
        for got, ids in batches:
            self.assertEqual(got.tolist(), (ids * 10).tolist())

    def test_transform_and_store(self) -> None:
        with NodeLoader(small(), [2], 10, seed_type="item", transform=lambda b: (b.number, len(b.input_id))) as loader:
            self.assertEqual(list(loader), [(0, 10), (1, 10), (2, 10)])
        # A store in a temporary folder stays while a loader of it does.
        loader = NodeLoader(graphmill.from_arrays(3, np.array([[0, 1], [1, 2]])), [1])
        self.assertEqual([b.batch_size for b in loader], [3])
        loader.close()


class TestErrors(unittest.TestCase):
    def refused(self, error: type[Exception], want: str, store: Any = None, **options: Any) -> None:
        with self.assertRaisesRegex(error, want):
            NodeLoader(made.RMAT if store is None else store, **{"fanout": [2], **options})

    def test_keywords(self) -> None:
        self.refused(TypeError, r"found the keyword fanot=, expected one of NodeLoader; did you mean fanout\?", fanot=[1])
        self.refused(TypeError, r"found the keyword btach_size=.*; did you mean batch_size\?", btach_size=[1])
        self.refused(TypeError, r"found the keyword nothing_like_it=, expected one of NodeLoader$", nothing_like_it=1)
        self.refused(ValueError, "found fanout= and num_neighbors=, expected one of them", num_neighbors=[2])
        self.refused(ValueError, "found seeds= and input_nodes=, expected one of them", seeds=[1], input_nodes=[1])
        self.refused(ValueError, "found input_nodes= and edge_label_index=, expected one", input_nodes=[1], edge_label_index=[[1], [2]])
        self.refused(ValueError, "found scope= and disjoint=, expected one of them", scope="batch", disjoint=True)
        self.refused(ValueError, "found threads= and num_workers=, expected one of them", threads=1, num_workers=2)
        self.refused(ValueError, "found neg_sampling= and neg_sampling_ratio=", neg_sampling="binary", neg_sampling_ratio=1)
        for word, want in (
            ("data", "store="),
            ("generator", "seed="),
            ("collate_fn", "transform="),
            ("sampler", "order="),
            ("custom_cls", "transform="),
            ("in_order", "in_order=True"),
        ):
            self.refused(ValueError, f"found {word}=, expected .*{want}", **{word: False})
        self.refused(ValueError, "found timeout=, expected none", timeout=np.arange(2))
        self.refused(ValueError, "found data=, expected store=", data=None)

    def test_words_of_dgl(self) -> None:
        for word, want in (
            ("reverse_etypes", "exclude='reverse:RELATION'"),
            ("reverse_eids", "exclude='reverse:RELATION'"),
            ("indices", "seeds="),
            ("item_set", "seeds="),
            ("graph_sampler", "fanout="),
            ("fanouts", "fanout="),
            ("prefetch_node_feats", "features="),
            ("prefetch_edge_feats", "edge_features="),
            ("prefetch_labels", "features= .*edge_label="),
            ("fused", "none"),
            ("prob", "weight="),
            ("use_ddp", "rank= and world_size="),
            ("use_uva", "none, .*device="),
            ("negative_sampler", "negatives="),
            ("edge_dir", "direction="),
            ("output_device", "device="),
        ):
            self.refused(ValueError, f"^found {word}=, expected {want}", **{word: [1]})
        for name in _keywords._DGL:  # the keywords that the answers name exist
            given = set(re.findall(r"\b([a-z_]+)=", _keywords._DGL[name]))
            self.assertLessEqual(given, set(inspect.signature(NodeLoader).parameters), name)
            self.assertTrue(given or _keywords._DGL[name].startswith("none"), name)
        for x in ("reverse_types", "reverse_id"):
            self.refused(ValueError, f"found exclude='{x}', expected 'self' or 'reverse:RELATION'", seeds=[[1], [2]], exclude=x)
        graph = type("DGLGraph", (), {"__module__": "dgl.heterograph"})()
        self.refused(TypeError, "found store= of type DGLGraph, .*; graphmill.from_dgl makes a Store of it", store=graph)
        self.refused(TypeError, "found seeds= that is a dict by type, .*; give seeds=..., seed_type='user'", store=small(), seeds={"user": [1]})
        self.refused(TypeError, "found input_nodes= that is a dict by type", store=small(), input_nodes={"user": [1]})

    def test_values(self) -> None:
        options: Any
        for options, want in (
            (dict(fanout=None, num_neighbors=[]), r"found fanout=\[\] without a hop, .*; try fanout=\[15, 10\] \(num_neighbors= gives fanout=\)"),
            (dict(fanout={}), r"found fanout=\{\} without a hop"),
            (dict(as_="pgy"), r"found as_='pgy', expected one of numpy, pyg, dgl, tfgnn, jraph; did you mean pyg\?"),
            (dict(direction="inn"), r"found direction='inn', expected one of in, out; did you mean in\?"),
            (dict(scope="sede"), r"found scope='sede', .* did you mean seed\?"),
            (dict(subgraph_type="inducd"), r"found subgraph_type='inducd', .* did you mean induced\?"),
            (dict(temporal_strategy="latest"), "found temporal_strategy='latest', expected one of uniform, recent, last"),
            (dict(negatives_how="in_batch"), r"found negatives_how='in_batch', .* did you mean in-batch\?"),
            (dict(negatives_strict=True), "found negatives_strict=True, expected one of no, count, error"),
            (dict(exclude="slef"), r"found exclude='slef', expected one of self, reverse:RELATION; did you mean self\?"),
            (dict(exclude="reverse:_R"), r"exclude: edge type: found '_R', expected one of _N:_E:_N"),
            (dict(neg_sampling="tripled"), r"found neg_sampling='tripled', .* did you mean triplet\?"),
            (dict(neg_sampling={"mode": "binary", "src_weight": [1]}), "found neg_sampling= with weights of nodes, expected none; negatives_by="),
            (dict(neg_sampling={"amount": 2}), "expected the keys mode and amount"),
            (dict(neg_sampling_ratio=-0.5), "found neg_sampling_ratio=-0.5, expected a number of negatives per link"),
            (dict(fanout={"_D": [2]}), "fanout: edge type: found '_D', expected one of _N:_E:_N"),
            (dict(fanout={"_E": [2], ("_N", "_E", "_N"): [2]}), "found fanout= of _N:_E:_N twice"),
            (dict(weight="w"), "found weight='w', expected a column of edges among none"),
            (dict(seed_type="_M"), "found seed_type='_M', expected node types among _N"),
            (dict(edge_label=[1]), "found edge_label= with seeds that are nodes, expected links"),
            (dict(edge_label=[1], seeds=[[1, 2], [3, 4]]), "found edge_label= of 1 values, expected 2, one per link"),
            (dict(time_attr="time"), "found time_attr='time', expected a column of nodes or edges"),
            (dict(fanout={"_E": []}), r"found fanout= with \[\] for '_E', expected the edges per node at each hop"),
            (dict(seeds=[1, "a"]), "found 'a', of type str, in seeds=, expected node ids"),
            (dict(seeds=[1, 2.5]), "found 2.5, of type float, in seeds="),
            (dict(seeds=[[1, 2], [3]]), "found seeds= that are lists of several lengths"),
            (dict(limit_seeds=0), "found limit_seeds=0, expected at least 1"),
            (dict(negatives=-1), "found negatives=-1, expected at least 0"),
            (dict(as_="dgl", expand="new"), "found expand='new' with as_='dgl', expected 'all'"),
        ):
            self.refused(ValueError, want, **options)
        for options, want in (
            (dict(replace=1), "found replace=1, expected True or False"),
            (dict(shuffle="yes"), "found shuffle='yes', expected True or False"),
            (dict(disjoint=1), "found disjoint=1, expected True or False"),
            (dict(num_workers=1.5), "found num_workers=1.5, expected an integer"),
            (dict(transform=3), "found transform=3, expected a function of a batch"),
            (dict(plan=3), "found plan=3, expected a text"),
            (dict(before_columns="t", before_nodes=["t"]), r"found before_nodes=\['t'\], expected a dict from types to columns"),
            (dict(input_time={}), "found seed_time= of type dict, expected the name of the column"),
        ):
            self.refused(TypeError, want, **options)
        self.refused(TypeError, "found store= of type Data, expected the path of a store, or a Store", type("Data", (), {})())

    def test_columns(self) -> None:
        debian = dict(store=made.DEBIAN, seed_type="package")
        self.refused(ValueError, r"found 'sizw' in features=, expected columns among .*; did you mean size\?", features=["sizw"], **debian)
        self.refused(ValueError, "found 'tag/size' in features=", features=["tag/size"], **debian)
        self.refused(ValueError, r"found 'verzioned' in edge_features=.*; did you mean versioned\?", edge_features="verzioned", **debian)
        users: dict[str, Any] = dict(store=small(), seed_type="user")
        self.refused(ValueError, r"found weight_attr|found weight='ww', expected a column of edges among time, w; did you mean w\?", weight_attr="ww", **users)
        self.refused(
            GraphmillError,
            "^found time_attr='time' without input_time=, expected the times of the seeds, because there is no such column of node type user; give input_time=",
            time_attr="time",
            **users,
        )
        self.refused(
            GraphmillError, "^found time_attr='time' without edge_label_time=, expected", time_attr="time", edge_label_index=("buys", [[0], [0]]), store=small()
        )
        self.refused(ValueError, r"found before='tim<=', .*; did you mean time\?", before="tim<=", **users)
        self.refused(
            ValueError, r"found before_nodes= for 'usr', expected node types among item, user; did you mean user\?", before_nodes={"usr": "born"}, **users
        )
        self.refused(
            ValueError,
            r"found before_nodes=\{'user': 'bron'\}, expected a column of user among born; did you mean born\?",
            before_nodes={"user": "bron"},
            **users,
        )
        self.refused(ValueError, r"found before_columns=\{'buys': 't'\}, expected a column of user:buys:item", before_columns={"buys": "t"}, **users)

    def test_seeds(self) -> None:
        for seeds, want in (
            ([1, 2, 4096, 5000], r"seeds\[2\]: found node 4096 of type _N, expected 0 to 4095"),
            (np.array([-1], np.int8), r"seeds\[0\]: found node -1 of type _N"),
            (np.array([1 << 63], np.uint64), r"seeds\[0\]: found node 9223372036854775808"),
            ([[1, 2], [3, 4096]], r"seeds\[1, 1\]: found node 4096"),
            ([], "found seeds= without a seed, expected at least one; leave it out"),
            (np.empty((2, 0), int), "found seeds= without a seed"),
            (np.zeros(4096, bool), "found seeds= that are a mask of 4096 values of which none is True"),
            (np.array([0.5]), r"found seeds= of dtype float64 and shape \(1,\), expected node ids, a mask, or links"),
            (np.array([["a"]]), r"found seeds= of dtype <U1 and shape \(1, 1\)"),
        ):
            self.refused(ValueError, want, seeds=seeds)
        tags = Store(made.DEBIAN).nodes["tag"].count
        self.refused(
            ValueError, rf"seeds\[1, 0\]: found node {tags} of type tag, expected 0 to {tags - 1}", store=made.DEBIAN, seeds=[[tags], [tags]], seed_type=TAGGED
        )
        self.refused(ValueError, r"\(input_nodes= gives seeds=\)", input_nodes=[5000], seeds=None)

    @unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
    def test_seeds_that_must_differ(self) -> None:
        self.refused(
            ValueError,
            r"seeds\[3\]: found node 8 again, which is seeds\[1\], expected each once, because .*; give scope='seed'",
            as_="pyg",
            seeds=[9, 8, 7, 8, 9],
        )
        for form in ("tfgnn", "jraph"):
            self.refused(ValueError, r"seeds\[1\]: found node 1 again, which is seeds\[0\], expected each once", as_=form, seeds=[1, 1])
        again = np.concatenate([np.arange(64)] * 2)
        with NodeLoader(made.RMAT, [2], 64, again, as_="pyg") as loader:  # equal seeds are in different batches
            self.assertEqual([b.batch_size for b in loader], [64, 64])
        self.refused(ValueError, r"seeds\[64\]: found node 0 again", as_="pyg", seeds=again, batch_size=64, shuffle=True)
        options: Any
        for options in (dict(as_="numpy"), dict(as_="pyg", scope="seed")):
            with NodeLoader(made.RMAT, [2], seeds=again, **options) as loader:
                self.assertEqual(len(next(iter(loader)).input_id), 128)


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestPyGWords(unittest.TestCase):
    """The same keywords for PyG's own loaders and for ours give the same subgraphs, where all neighbours are taken."""

    def homogeneous(self) -> Any:
        import torch
        from torch_geometric.data import Data

        r = torch.Generator().manual_seed(3)
        return Data(x=torch.rand(200, 4, generator=r), edge_index=torch.randint(0, 200, (2, 900), generator=r))

    def typed(self) -> Any:
        import torch
        from torch_geometric.data import HeteroData

        r, data = torch.Generator().manual_seed(4), HeteroData()
        data["a"].x, data["b"].x = torch.rand(90, 2, generator=r), torch.rand(70, 3, generator=r)
        for s, name, d in (("a", "r", "b"), ("b", "r", "a"), ("a", "q", "a")):
            data[s, name, d].edge_index = torch.stack([torch.randint(0, data[t].num_nodes, (300,), generator=r) for t in (s, d)])
        return data

    def content(self, data: Any) -> dict[Any, Any]:
        """The nodes and edges of a batch as sets of ids, its seeds and its features."""
        stores = [(None, data)] if not hasattr(data, "node_types") else [(t, data[t]) for t in (*data.node_types, *data.edge_types)]
        out = {}
        for t, s in stores:
            for name in ("n_id", "e_id", "input_id", "batch_size", "edge_label"):
                if name in s and s[name] is not None:
                    x = s[name] if isinstance(s[name], int) else s[name].tolist()
                    out[t, name] = sorted(x) if name in ("n_id", "e_id") else x
            if "n_id" in s and "x" in s:
                out[t, "x"] = sorted(map(tuple, s.x.tolist()))
            if "edge_label_index" in s:
                ends = (data.n_id, data.n_id) if t is None else (data[t[0]].n_id, data[t[2]].n_id)
                out[t, "links"] = [ids[row].tolist() for ids, row in zip(ends, s.edge_label_index)]
        return out

    def same(self, data: Any, theirs: Any, words: dict[str, Any]) -> None:
        with NodeLoader(graphmill.from_pyg(data), as_="pyg", **words) as loader:
            ours = [self.content(b) for b in loader]
        want = [self.content(b) for b in theirs(data, **words)]
        self.assertEqual(len(ours), len(want))
        for a, b in zip(ours, want):
            self.assertEqual(a, b)

    def test_neighbour_loader(self) -> None:
        import torch
        from torch_geometric.loader import NeighborLoader

        ids = torch.randperm(200, generator=torch.Generator().manual_seed(1))[:50]
        for nodes in (None, ids, ids.tolist()):
            for more in ({}, {"drop_last": True, "is_sorted": False}):
                self.same(self.homogeneous(), NeighborLoader, dict(num_neighbors=[-1, -1], input_nodes=nodes, batch_size=16, **more))
        fanout = {("a", "r", "b"): [-1, -1], ("b", "r", "a"): [-1, 0], ("a", "q", "a"): [0, -1]}
        ids = torch.arange(40, 10, -1)
        for nodes in ("a", "b", ("a", None), ("b", ids)):
            for takes in ([-1, -1], fanout):
                self.same(self.typed(), NeighborLoader, dict(num_neighbors=takes, input_nodes=nodes, batch_size=16))

    def test_a_mask(self) -> None:
        """The input_id of a mask is the ids of its nodes."""
        import torch
        from torch_geometric.loader import NeighborLoader

        data, mask = self.homogeneous(), torch.arange(200) % 3 == 0
        words = dict(num_neighbors=[-1], input_nodes=mask, batch_size=50)
        with NodeLoader(graphmill.from_pyg(data), as_="pyg", **words) as loader:
            for got, want in itertools.zip_longest(loader, NeighborLoader(data, **words)):
                self.assertEqual(got.n_id[: got.batch_size].tolist(), want.n_id[: want.batch_size].tolist())
                self.assertEqual(got.input_id.tolist(), want.input_id.tolist())
                self.assertEqual((got.input_id.dtype, got.input_id.tolist()), (torch.int64, got.n_id[: got.batch_size].tolist()))

    def test_link_neighbour_loader(self) -> None:
        import torch
        from torch_geometric.loader import LinkNeighborLoader

        pairs = torch.stack([torch.arange(50), torch.arange(50) + 60])
        for links in (None, pairs):
            self.same(self.homogeneous(), LinkNeighborLoader, dict(num_neighbors=[-1, -1], edge_label_index=links, batch_size=16))
        self.same(self.homogeneous(), LinkNeighborLoader, dict(num_neighbors=[-1], edge_label_index=pairs, edge_label=torch.arange(50) % 3, batch_size=16))
        of = ("a", "r", "b")
        for links in (of, (of, None), (of, pairs - torch.tensor([[0], [45]]))):
            self.same(self.typed(), LinkNeighborLoader, dict(num_neighbors=[-1], edge_label_index=links, batch_size=64))


if __name__ == "__main__":
    unittest.main()
