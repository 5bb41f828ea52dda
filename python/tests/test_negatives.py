"""NodeLoader with negative links, and without the edges of the links among the messages: against a model, PyG and DGL.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import unittest
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import made
import numpy as np
import numpy.typing as npt
import random_graphs
from graphmill import Collection, GraphmillError, NodeLoader, Store
from test_dgl_blocks import _lost
from test_links import PYG, timed

HOW = ("binary", "triplet", "in-batch")


def link_type(c: random_graphs.Case) -> tuple[str, str, str]:
    """The edge type of a random graph with the most edges."""
    return max(c.edges, key=lambda e: int(c.edges[e].shape[1]))


def cases(count: int) -> Iterator[tuple[int, random_graphs.Case, tuple[str, str, str], npt.NDArray[Any]]]:
    """Random graphs with at least two links, and these: the edges of a type, each once."""
    for number in itertools.count():
        c = random_graphs.case(number)
        e = link_type(c)
        pairs = np.unique(c.edges[e], axis=1)
        if pairs.shape[1] > 1:
            yield number, c, e, pairs[:, np.random.default_rng(number).permutation(pairs.shape[1])]
            count -= 1
        if count == 0:
            return


def options(c: random_graphs.Case, e: tuple[str, str, str], pairs: npt.NDArray[Any], **more: Any) -> dict[str, Any]:
    own = dict(seeds=pairs, seed_type=e, batch_size=pairs.shape[1])
    return {**random_graphs.loader_arguments(c), **own, **more}


def by_type(c: random_graphs.Case, x: Any, types: Iterable[Any]) -> dict[Any, Any]:
    return x if isinstance(x, dict) else {next(iter(types)): x}


def neighbours(
    c: random_graphs.Case, seeds: Mapping[str, Iterable[int]], excluded: Mapping[Any, Container[Any]]
) -> tuple[dict[str, set[int]], dict[tuple[str, str, str], set[int]]]:
    """The nodes that are reached and the edges that are taken from nodes, by type; excluded has the pairs that are left out, by edge type."""
    found = {t: set(seeds.get(t, ())) for t in c.nodes}
    frontier = {t: set(x) for t, x in found.items()}
    edges: dict[tuple[str, str, str], set[int]] = {e: set() for e in c.edges}
    for hop in range(c.hops):
        new: dict[str, set[int]] = {t: set() for t in c.nodes}
        for e, ends in c.edges.items():
            if c.fanout[e][hop] == 0:
                continue
            for i, (s, d) in enumerate(ends.T.tolist()):
                if d in frontier[e[2]] and (s, d) not in excluded.get(e, ()):
                    edges[e].add(i)
                    if s not in found[e[0]]:
                        new[e[0]].add(s)
        for t, x in new.items():
            found[t] |= x
        frontier = new
    return found, edges


class TestNegatives(unittest.TestCase):
    def check_pairs(self, c: random_graphs.Case, e: tuple[str, str, str], pairs: npt.NDArray[Any], b: Any, how: str, each: int) -> Any:
        """The ends of links and negatives are nodes of their types, and of the first hop; returns the ids of the negatives."""
        n_id, first = (
            by_type(c, b.n_id, c.nodes),
            by_type(c, {t: x[0] for t, x in b.num_sampled_nodes.items()} if isinstance(b.num_sampled_nodes, dict) else b.num_sampled_nodes[0], c.nodes),
        )
        self.assertEqual((b.negatives.shape, b.negatives.dtype), ((len(b.input_id), each, 2), np.int64))
        ends = []
        for i, t in enumerate((e[0], e[2])):
            self.assertEqual(n_id[t][b.seed_local[:, i]].tolist(), pairs[i, b.input_id].tolist())
            self.assertTrue((b.negatives[:, :, i] < first[t]).all())
            ends.append(n_id[t][b.negatives[:, :, i]])
        if how != "binary":
            self.assertTrue((ends[0] == pairs[0, b.input_id][:, None]).all())
        if how == "in-batch":
            for i, row in enumerate(ends[1].tolist()):
                self.assertLessEqual(set(row), set(np.delete(pairs[1, b.input_id], i).tolist()))
        return ends

    def test_random_graphs(self) -> None:
        """With all neighbours, subgraphs equal the subgraphs of a model, without the edges of the links."""
        left = 0
        for number, c, e, pairs in cases(random_graphs.COUNT // 3):
            how, each, exclude = HOW[number % 3], 1 + number % 2, number % 4 > 0
            with (
                self.subTest(number=number),
                NodeLoader(c.store, **options(c, e, pairs, negatives=each, negatives_how=how, exclude="self" if exclude else None)) as loader,
            ):
                (b,) = loader
                ends = self.check_pairs(c, e, pairs, b, how, each)
                seeds: dict[str, set[int]] = {}
                for t, *ids in ((e[0], pairs[0], ends[0]), (e[2], pairs[1], ends[1])):
                    seeds.setdefault(t, set()).update(*(x.ravel().tolist() for x in ids))
                excluded = {e: set(map(tuple, pairs.T.tolist()))} if exclude else {}
                nodes, edges = neighbours(c, seeds, excluded)
                self.assertEqual({t: set(x.tolist()) for t, x in by_type(c, b.n_id, c.nodes).items()}, nodes)
                self.assertEqual({t: set(x.tolist()) for t, x in by_type(c, b.e_id, c.edges).items()}, edges)
                left += sum(len(x) for x in neighbours(c, seeds, {})[1].values()) - sum(len(x) for x in edges.values())
        self.assertGreater(left, 2 * random_graphs.COUNT)  # exclusion leaves edges out

    def test_reverse(self) -> None:
        """No pair of links can be read off the edges of its batch, in either direction."""
        has_tag = "package", "has_tag", "tag"
        pairs = Store(made.DEBIAN).edges[has_tag].edge_index()
        readable = {}
        for exclude in (None, "self", "reverse:tags"):
            readable[exclude] = 0
            with NodeLoader(
                made.DEBIAN, fanout=[5, 5], seeds="package:has_tag:tag", negatives=1, exclude=exclude, batch_size=256, shuffle=True, features="none"
            ) as loader:
                for b in loader:
                    links = set(map(tuple, b.seed_local.tolist()))
                    forward = set(map(tuple, b.edge_index[has_tag].T.tolist()))
                    back = set(map(tuple, b.edge_index["tag", "tags", "package"][::-1].T.tolist()))
                    readable[exclude] += len(links & (forward | back))
                    if exclude:
                        self.assertFalse(links & forward)
        self.assertEqual(readable["reverse:tags"], 0)
        self.assertGreater(readable[None], pairs.shape[1] // 4)
        self.assertGreater(readable["self"], 0)

    def test_one_by_one(self) -> None:
        """With scope seed, a link has the same subgraph and negatives in any batch."""
        for number, c, e, pairs in cases(12):
            more = dict(negatives=3, negatives_how=HOW[number % 2], scope="seed", exclude="self")
            with (
                self.subTest(number=number),
                NodeLoader(c.store, **options(c, e, pairs, **more)) as all_,
                NodeLoader(c.store, **{**options(c, e, pairs, **more), "batch_size": 1}) as one,
            ):
                (b,) = all_
                n_id, batch = by_type(c, b.n_id, c.nodes), by_type(c, b.batch, c.nodes)
                for i, alone in enumerate(one):
                    ids = by_type(c, alone.n_id, c.nodes)
                    for end, t in enumerate((e[0], e[2])):
                        local = b.negatives[i, :, end]
                        self.assertEqual(n_id[t][local].tolist(), ids[t][alone.negatives[0, :, end]].tolist())
                        self.assertEqual(batch[t][local].tolist(), [i] * 3)
                    for t in c.nodes:
                        self.assertEqual(n_id[t][batch[t] == i].tolist(), ids[t].tolist())

    def test_kinds(self) -> None:
        """Subgraphs with all edges and with reverses have no counts of edges per hop; disjoint ones are the same as single ones."""
        for kind in ("induced", "bidirectional"):
            more: dict[str, Any] = dict(fanout=[2, 2], seeds=np.arange(64), subgraph_type=kind)
            with NodeLoader(made.RMAT, batch_size=64, **more) as loader:
                (b,) = loader
                edges = set(map(tuple, b.edge_index.T.tolist()))
                self.assertEqual((b.num_sampled_edges, sum(b.num_sampled_nodes)), (None, len(b.n_id)))
                if kind == "bidirectional":
                    self.assertEqual(edges, {(d, s) for s, d in edges})
                else:
                    src, dst = Store(made.RMAT).edges["_E"].edge_index("input")
                    inside = np.isin(src, b.n_id) & np.isin(dst, b.n_id)
                    self.assertEqual(sorted(b.e_id.tolist()), np.flatnonzero(inside).tolist())
            with NodeLoader(made.RMAT, batch_size=64, scope="seed", **more) as loader, NodeLoader(made.RMAT, batch_size=1, scope="seed", **more) as one:
                (b,) = loader
                self.assertEqual(b.batch[b.edge_index[0]].tolist(), b.batch[b.edge_index[1]].tolist())
                for i, alone in enumerate(one):
                    self.assertEqual(b.e_id[b.batch[b.edge_index[0]] == i].tolist(), alone.e_id.tolist())
                    self.assertEqual(b.n_id[b.batch == i].tolist(), alone.n_id.tolist())

    def test_edges_as_seeds(self) -> None:
        """The edges of a split are links with the columns of the edges."""
        store = rated()
        rates = Store(store).edges["rates"]
        split, stars = rates.columns.column("split").tolist(), rates["stars"]
        for text, rows in (("user:rates:movie", range(len(stars))), ("user:rates:movie:split=train", [i for i, x in enumerate(split) if x == "train"])):
            rows = list(rows)
            for seed_type in (None, ("user", "rates", "movie")):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    loader = NodeLoader(store, fanout=[2], seeds=text, seed_type=seed_type, batch_size=7, shuffle=True)
                with loader:
                    seen = []
                    for b in loader:
                        at = np.array(rows)[b.input_id]
                        got = [b.n_id["user"][b.seed_local[:, 0]].tolist(), b.n_id["movie"][b.seed_local[:, 1]].tolist()]
                        self.assertEqual(got, rates.edge_index()[:, at].tolist())
                        self.assertEqual((sorted(b.links), b.links["stars"].tolist()), (["stars", "time"], stars[at].tolist()))
                        seen += at.tolist()
                    self.assertEqual(sorted(seen), rows)

    def test_times_of_edges(self) -> None:
        """Links that are edges have the edges' times: a batch has no edge that is not older than its link."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loader = NodeLoader(
                rated(), fanout=[-1, -1], seeds="user:rates:movie", scope="seed", before="time", untimed=["rated_by"], negatives=1, exclude="reverse:rated_by"
            )
        time = Store(rated()).edges["rates"]
        with loader:
            for b in loader:
                self.assertEqual(b.seed_time.tolist(), b.links["time"].tolist())
                e = "user", "rates", "movie"
                at = np.asarray(time["time"])[time.find(b.e_id[e])]
                self.assertTrue((at < b.seed_time[b.batch["user"][b.edge_index[e][0]]]).all())
                self.assertGreater(len(at), 0)

    def test_all_pairs_are_edges(self) -> None:
        """Where no negative exists, draws end: they are counted, or an error."""
        store = complete()
        for how in HOW[:2]:
            with NodeLoader(store, fanout=[1], seeds="a:r:b", negatives=2, negatives_how=how, negatives_strict="count") as loader:
                with self.assertWarnsRegex(RuntimeWarning, "12 of 12 negatives of this pass are edges all the same"):
                    (b,) = loader
                self.assertEqual(b.negatives.shape, (6, 2, 2))
                with self.assertWarnsRegex(RuntimeWarning, "12 of 12 negatives of this pass"):
                    list(loader)
                self.assertEqual((loader.stats().negatives, loader.stats().negative_edges), (24, 24))
            with NodeLoader(store, fanout=[1], seeds="a:r:b", negatives=2, negatives_how=how, negatives_strict="count", scope="seed", batch_size=4) as loader:
                with self.assertWarns(RuntimeWarning):
                    list(loader)
                self.assertEqual((loader.stats().negatives, loader.stats().negative_edges), (12, 12))
            with NodeLoader(store, fanout=[1], seeds="a:r:b", negatives=2, negatives_how=how, negatives_strict="error") as loader:
                with self.assertRaisesRegex(GraphmillError, "64"):
                    next(iter(loader))

    def test_collections(self) -> None:
        """A collection has the negatives of its batches, which are the same as a loader's."""
        out = made.path("negatives.coll")
        made.graphmill(
            "sample",
            made.DEBIAN,
            "--seeds",
            "package:has_tag:tag",
            "--limit-seeds",
            200,
            "--batch-size",
            64,
            "--negatives",
            2,
            "--negatives-how",
            "triplet",
            "--exclude",
            "self",
            "--fanout",
            "3",
            "--out",
            out,
        )
        graphs: Any = Collection(out)
        self.assertEqual((graphs.negatives, graphs.negative_local.shape), (2, (200, 2, 2)))
        more: dict[str, Any] = dict(
            seeds="package:has_tag:tag", limit_seeds=200, batch_size=64, negatives=2, negatives_how="triplet", exclude="self", features="none"
        )
        with warnings.catch_warnings(), NodeLoader(made.DEBIAN, fanout=[3], **more) as loader:
            for g, b in zip(graphs, loader):
                self.assertEqual(g.negative_local.tolist(), b.negatives.tolist())
                self.assertEqual(g.seed_local.tolist(), b.seed_local.tolist())

    def test_a_last_batch_of_one_link(self) -> None:
        own: dict[str, Any] = dict(fanout=[1], seeds="a:r:b", negatives=1, negatives_how="in-batch")
        with self.assertRaisesRegex(
            ValueError, "found 6 links in batches of 5 with negatives_how='in-batch', so that the last batch has one link.*; give drop_last=True, "
        ):
            NodeLoader(complete(), batch_size=5, **own)
        with self.assertRaisesRegex(ValueError, "found batch_size=1 with negatives_how='in-batch'"):
            NodeLoader(complete(), batch_size=1, drop_last=True, **own)
        with NodeLoader(complete(), batch_size=5, drop_last=True, **own) as loader:
            self.assertEqual([[b.batch_size for b in loader] for _ in range(2)], [[5], [5]])

    def test_seeds_that_are_nodes(self) -> None:
        for more, want in (
            (dict(exclude="self"), "found exclude= with seeds that are nodes, expected links"),
            (dict(exclude="self", seeds=[1, 2]), "found exclude= with seeds that are nodes"),
            (dict(exclude="self", seeds="_N"), "found exclude= with seeds that are nodes"),
            (
                dict(neg_sampling="binary", input_nodes=np.ones(4096, bool)),
                r"found negatives= .*; give edge_label_index= or seeds= with links .*neg_sampling= gives negatives=",
            ),
            (
                dict(input_nodes=np.zeros((2, 5), int)),
                r"found input_nodes= of shape \(2, 5\), expected node ids or a mask; links are given to edge_label_index=",
            ),
            (dict(input_nodes=[[1, 2], [3, 4]]), r"found input_nodes= of shape \(2, 2\)"),
        ):
            with self.subTest(want=want), self.assertRaisesRegex(ValueError, want):
                NodeLoader(made.RMAT, num_neighbors=[5], **more)

    def test_errors(self) -> None:
        pairs, tagged = np.zeros((2, 3), int), ("package", "has_tag", "tag")
        for more, want in (
            (dict(seed_type="package", negatives=1), "found negatives= with seeds that are nodes|expected the edge type of the links"),
            (
                dict(seeds=pairs, seed_type=tagged, exclude="reverse:depends"),
                "found exclude reverse:package:depends:package, whose edges lead from package to package and not from tag to package, expected one of tag:tags:package",
            ),
            (dict(seeds=pairs, seed_type=tagged, exclude="reverse:has_tagg"), "exclude: .*has_tagg"),
            (
                dict(seeds=pairs, seed_type=tagged, negatives=1, negatives_by="sizes"),
                'found negatives_by sizes, expected uniform, degree, or a column of node type package: .*; did you mean "size"',
            ),
            (dict(seeds=pairs, seed_type=tagged, negatives=1, negatives_how="in-batch", scope="seed"), "found negatives_how in-batch"),
            (dict(seeds=pairs, seed_type=tagged, negatives_how="triplet"), "found negatives_how without negatives, .*, such as negatives=1$"),
            (dict(seeds="package:has_tag:tag:relevance=1"), 'found column "relevance", expected a column of edge type package:has_tag:tag'),
            (dict(seed_type="package", window="3d"), "found window without before"),
            (dict(seed_type="package", as_="dgl", subgraph_type="induced"), "subgraph_type other than 'directional'"),
        ):
            with self.subTest(want=want), self.assertRaisesRegex((ValueError, GraphmillError), want), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                NodeLoader(made.DEBIAN, fanout=[1], **more)


@functools.lru_cache(None)
def rated() -> str:
    """Ratings of movies with splits, stars from 0, and times."""
    r = np.random.default_rng(5)
    ends = np.stack([r.integers(0, 20, 80), r.integers(0, 15, 80)])
    rows = [f"{u},{m},{r.integers(0, 100)},{('train', 'test')[i % 3 == 0]},{i % 5}\n" for i, (u, m) in enumerate(ends.T)]
    text = """
nodes:
  user: {columns: {number: users.npy}}
  movie: {columns: {number: movies.npy}}
edges:
  user:rates:movie: {table: e.csv, columns: {time: int64, split: string, stars: int64}}
  movie:rated_by:user: {table: r.npy}
"""
    folder = made.write(
        "rated",
        {
            "e.csv": "src,dst,time,split,stars\n" + "".join(rows),
            "r.npy": ends[::-1].copy(),
            "users.npy": np.arange(20),
            "movies.npy": np.arange(15),
            "graph.yaml": text,
        },
    )
    made.graphmill("import", folder, "--out", made.path("rated.store"))
    return made.path("rated.store")


@functools.lru_cache(None)
def complete() -> str:
    """Each a has an edge to each b."""
    ends = np.array([[i // 3 for i in range(6)], [i % 3 for i in range(6)]])
    folder = made.write("complete", {"e.npy": ends, "graph.yaml": "nodes:\n  a: {count: 2}\n  b: {count: 3}\nedges:\n  a:r:b: {table: e.npy}\n"})
    made.graphmill("import", folder, "--out", made.path("complete.store"))
    return made.path("complete.store")


SEEDS = ("input_id", "edge_label_index", "edge_label", "edge_label_time", "src_index", "dst_pos_index", "dst_neg_index", "seed_time")


def seed_attributes(batch: Any) -> dict[Any, Any]:
    """The attributes of a batch about its links, with their dtypes and shapes."""
    stores = [(t, batch[t]) for t in (*batch.node_types, *batch.edge_types)]
    return {(t, name): (s[name].dtype, tuple(s[name].shape)) for t, s in stores for name in SEEDS if name in s and s[name] is not None}


@PYG
class TestPyGNegatives(unittest.TestCase):
    def data(self, c: random_graphs.Case) -> Any:
        import torch
        from torch_geometric.data import HeteroData

        data = HeteroData()
        for t, n in c.nodes.items():
            data[t].num_nodes = n
        for e, ends in c.edges.items():
            data[e].edge_index = torch.from_numpy(ends)
        return data

    def ids(
        self, c: random_graphs.Case, e: tuple[str, str, str], batch: Any
    ) -> tuple[npt.NDArray[Any], dict[str, list[int]], dict[tuple[str, str, str], list[int]]]:
        """The ids of the links and the negatives [pairs, 2], in the order of their attributes, and the nodes and edges."""
        import torch

        src, dst, link = batch[e[0]], batch[e[2]], batch[e]
        if "src_index" in src:
            each = src.src_index.repeat_interleave(dst.dst_neg_index.numel() // len(src.src_index))
            pairs = torch.stack([torch.cat([src.src_index, each]), torch.cat([dst.dst_pos_index, dst.dst_neg_index.reshape(-1)])])
        else:
            pairs = link.edge_label_index
        stores = [(t, batch[t]) for t in c.nodes], [(t, batch[t]) for t in c.edges]
        nodes = {t: sorted(s.n_id.tolist()) for t, s in stores[0]}
        edges = {t: sorted(s.e_id.tolist()) for t, s in stores[1]}
        return np.stack([src.n_id[pairs[0]].numpy(), dst.n_id[pairs[1]].numpy()]), nodes, edges

    def test_random_graphs(self) -> None:
        """Ours has PyG's attributes, with their dtypes and shapes, and the subgraph that PyG takes around our links and negatives."""
        import torch
        from torch_geometric.loader import LinkNeighborLoader

        for number, c, e, pairs in cases(random_graphs.COUNT // 5):
            how, each = HOW[number % 2], 1 + number // 2 % 3
            n, data = pairs.shape[1], self.data(c)
            labels = {None: None, 0: torch.arange(n) % 3, 1: torch.arange(n) % 3 + 1, 2: (torch.arange(n) % 2).float()}[number % 4 if how == "binary" else None]
            (want,) = LinkNeighborLoader(
                data, c.fanout, (e, torch.from_numpy(pairs)), edge_label=labels, neg_sampling=dict(mode=how, amount=each), batch_size=n
            )
            more = {} if labels is None else {"edge_label": labels}
            with (
                self.subTest(number=number, how=how, each=each),
                NodeLoader(c.store, **options(c, e, pairs, negatives=each, negatives_how=how, as_="pyg", **more)) as loader,
            ):
                (got,) = loader
                self.assertTrue(got.validate())
                self.assertEqual(seed_attributes(got), seed_attributes(want))
                ids, nodes, edges = self.ids(c, e, got)
                self.assertEqual(ids[:, :n].tolist(), pairs.tolist())
                if how == "binary":
                    store, theirs = got[e], want[e]
                    self.assertEqual(store.edge_label.tolist(), theirs.edge_label.tolist())
                both = torch.from_numpy(ids)
                (want,) = LinkNeighborLoader(data, c.fanout, (e, both), batch_size=1 << 20)
                self.assertEqual((nodes, edges), self.ids(c, e, want)[1:])

    def test_times(self) -> None:
        """The times are those that PyG gives links and negatives."""
        import torch
        from torch_geometric.sampler import EdgeSamplerInput, NegativeSampling, SamplerOutput
        from torch_geometric.sampler.neighbor_sampler import edge_sample

        for how in HOW[:2]:
            with NodeLoader(
                timed(), fanout=[-1], scope="seed", before="time", seeds="user:knows:user", negatives=2, negatives_how=how, limit_seeds=40, as_="pyg"
            ) as loader:
                (whole,) = loader
            b: Any = whole["user"] if how == "triplet" else SimpleNamespace(**whole["knows"].to_dict(), batch=whole["user"].batch)
            time = torch.from_numpy(np.array(Store(timed()).edges["knows"]["time"])[:40])
            ends = torch.from_numpy(Store(timed()).edges["knows"].edge_index()[:, :40].copy())

            def subgraph(seed: Any, _: Any) -> Any:
                none = torch.empty(0, dtype=torch.int64)
                return SamplerOutput(seed, none, none, none, torch.arange(len(seed)))

            links = EdgeSamplerInput(torch.arange(40), ends[0], ends[1], time=time)
            out = edge_sample(links, subgraph, 60, True, None, NegativeSampling(how, 2))
            if how == "binary":
                _, pairs, label, times = out.metadata
                self.assertEqual((b.edge_label_time.tolist(), b.edge_label.tolist()), (times.tolist(), label.tolist()))
                self.assertEqual(out.batch[pairs].tolist(), b.batch[b.edge_label_index].tolist())
                self.assertFalse(hasattr(b, "seed_time"))
            else:
                _, src, pos, neg, times = out.metadata
                self.assertEqual(b.seed_time.tolist(), times.tolist())
                for name, want in (("src_index", src), ("dst_pos_index", pos), ("dst_neg_index", neg)):
                    self.assertEqual(b.batch[b[name]].tolist(), out.batch[want].tolist(), name)

    def test_labels(self) -> None:
        """As in PyG, labels from 0 count one more with binary negatives, over all links, and triplets have none."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for text, more in (("user:rates:movie", 1), ("user:rates:movie:stars=3", 0)):
                with (
                    NodeLoader(rated(), fanout=[1], seeds=text, negatives=2, label="stars", as_="pyg", batch_size=8) as loader,
                    NodeLoader(rated(), fanout=[1], seeds=text, batch_size=8) as plain,
                ):
                    for b, p in zip(loader, plain):
                        got = b["user", "rates", "movie"]
                        self.assertEqual(got.edge_label.tolist(), (p.links["stars"] + more).tolist() + [0] * 2 * len(p.input_id))
                        self.assertEqual(got.link_time.tolist(), p.links["time"].tolist())
                        del b, p, got
            with self.assertRaisesRegex(ValueError, "found label='stars' with negatives_how='triplet' and as_='pyg', expected none, as in PyG"):
                NodeLoader(rated(), fanout=[1], seeds="user:rates:movie", negatives=1, negatives_how="triplet", label="stars", as_="pyg")

    def test_kinds(self) -> None:
        """Where PyG takes all neighbours, its kinds of subgraphs have the same edges; ours keep the edge ids where PyG drops them."""
        import torch
        from torch_geometric.loader import NeighborLoader

        compared = 0
        for number in itertools.count():
            c = random_graphs.case(number)
            if len(c.nodes) != 1 or len(c.edges) != 1:
                continue
            (t,), (e,) = c.nodes, c.edges
            for kind in ("induced", "bidirectional"):
                (want,) = NeighborLoader(self.data(c), c.fanout, input_nodes=(t, torch.from_numpy(c.seeds)), batch_size=len(c.seeds), subgraph_type=kind)
                with self.subTest(number=number, kind=kind), NodeLoader(c.store, **random_graphs.loader_arguments(c), subgraph_type=kind, as_="pyg") as loader:
                    (got,) = loader
                    edges = [sorted(set(map(tuple, b[t].n_id[b[e].edge_index].T.tolist()))) for b in (got, want)]
                    self.assertEqual(sorted(got[t].n_id.tolist()), sorted(want[t].n_id.tolist()))
                    self.assertEqual(*edges)
                    self.assertNotIn("num_sampled_edges", got[e])
                    self.assertNotIn("num_sampled_edges", want[e])
            compared += 1
            if compared == 20:
                return


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGLNegatives(unittest.TestCase):
    def test_random_graphs(self) -> None:
        """DGL, given our negatives, makes the same graphs and blocks, with and without exclusion."""
        import dgl
        import torch

        compared = 0
        for number, c, e, pairs in cases(10**9):
            if compared == random_graphs.COUNT // 5:
                break
            linked = {t for k in c.edges for t in (k[0], k[2])}
            if len(c.nodes) == len(c.edges) == 1 or set(c.nodes) != linked or any(0 in takes for takes in c.fanout.values()):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                g = dgl.heterograph({k: tuple(torch.from_numpy(x)) for k, x in c.edges.items()}, c.nodes)
            first = {tuple(p): i for i, p in reversed(list(enumerate(c.edges[e].T.tolist())))}
            eid = torch.tensor([first[p] for p in map(tuple, pairs.T.tolist())])
            distinct = len(first) == c.edges[e].shape[1]
            exclude, each = ("self" if number % 2 and distinct else None), 1 + number % 3
            with NodeLoader(c.store, **options(c, e, pairs, negatives=each, negatives_how=HOW[number % 2], exclude=exclude, as_="dgl")) as loader:
                ((inputs, pair, neg, blocks),) = loader
            ends = [neg.nodes[t].data[dgl.NID][x] for t, x in zip((e[0], e[2]), neg.edges(etype=e))]
            sampler = dgl.dataloading.as_edge_prediction_sampler(
                dgl.dataloading.MultiLayerFullNeighborSampler(c.hops), exclude=exclude, negative_sampler=lambda *_: {e: tuple(ends)}
            )
            want_inputs, want_pair, want_neg, want_blocks = sampler.sample(g, {e: eid})
            if _lost(want_blocks):
                continue
            with self.subTest(number=number):
                self.assertEqual(neg.num_edges(e), each * pairs.shape[1])
                for ours, theirs in ((pair, want_pair), (neg, want_neg)):
                    self.assertEqual((ours.ntypes, sorted(ours.canonical_etypes)), (theirs.ntypes, sorted(theirs.canonical_etypes)))
                    for k in c.edges:
                        named = [[x.nodes[t].data[dgl.NID][ids].tolist() for t, ids in zip((k[0], k[2]), x.edges(etype=k))] for x in (ours, theirs)]
                        self.assertEqual(*named)
                    for t in c.nodes:
                        self.assertEqual(sorted(ours.nodes[t].data[dgl.NID].tolist()), sorted(theirs.nodes[t].data[dgl.NID].tolist()))
                        self.assertEqual(blocks[-1].dstnodes[t].data[dgl.NID].tolist(), ours.nodes[t].data[dgl.NID].tolist())
                self.assertEqual(pair.edges[e].data["input_id"].tolist(), list(range(pairs.shape[1])))
                self.assertEqual(neg.edges[e].data["input_id"].tolist(), np.repeat(np.arange(pairs.shape[1]), each).tolist())
                for ours, theirs in zip(blocks, want_blocks, strict=True):
                    for k in c.edges:
                        self.assertEqual(sorted(ours.edges[k].data[dgl.EID].tolist()), sorted(theirs.edges[k].data[dgl.EID].tolist()))
                found = [{t: sorted(ids.tolist()) for t, ids in x.items()} if isinstance(x, dict) else sorted(x.tolist()) for x in (inputs, want_inputs)]
                self.assertEqual(*found)
            compared += 1

    def test_one_type(self) -> None:
        import dgl
        import torch

        ends = torch.from_numpy(Store(made.RMAT).edges["_E"].edge_index("input").copy())
        g, ids = dgl.graph((ends[0], ends[1]), num_nodes=4096), torch.arange(0, 300, 3)
        sampler = dgl.dataloading.as_edge_prediction_sampler(
            dgl.dataloading.MultiLayerFullNeighborSampler(1), negative_sampler=dgl.dataloading.negative_sampler.Uniform(3)
        )
        (theirs,) = dgl.dataloading.DataLoader(g, ids, sampler, batch_size=100)
        with NodeLoader(made.RMAT, fanout=[-1], seeds=ends[:, ids], negatives=3, negatives_how="triplet", as_="dgl", batch_size=100) as loader:
            (ours,) = loader
        for a, b in zip(ours, theirs, strict=True):
            self.assertIs(type(a), type(b))
        for k in (1, 2):
            self.assertEqual((ours[k].num_edges(), ours[k].ndata[dgl.NID].dtype), (theirs[k].num_edges(), theirs[k].ndata[dgl.NID].dtype))
            src = [x[k].ndata[dgl.NID][x[k].edges()[0]].tolist() for x in (ours, theirs)]
            self.assertEqual(*src)  # Uniform keeps sources, and gives the negatives of a link one after the other


@unittest.skipUnless(importlib.util.find_spec("jraph"), "jraph is not installed")
class TestJraphNegatives(unittest.TestCase):
    def test_globals(self) -> None:
        pairs = Store(made.RMAT).edges["_E"].edge_index()[:, :100]
        for scope in ("batch", "seed"):
            more: dict[str, Any] = dict(fanout=[2], seeds=pairs, seed_type="_E", negatives=2, batch_size=32, scope=scope, edge_label=np.arange(100) % 3)
            with NodeLoader(made.RMAT, as_="jraph", **more) as loader, NodeLoader(made.RMAT, **more) as plain:
                shapes = set()
                for g, b in zip(loader, plain):
                    n, m = len(b.input_id), g.globals["num_links"]
                    self.assertEqual((m.sum(), len(m)), (n, len(g.n_node)))
                    shapes.add(g.globals["links"].shape + g.globals["negatives"].shape)
                    flat = {k: x.reshape(-1, *x.shape[2:])[:n] for k, x in g.globals.items() if x.ndim > 1}
                    self.assertEqual(g.nodes["n_id"][flat["links"]].tolist(), b.n_id[b.seed_local].tolist())
                    self.assertEqual(g.nodes["n_id"][flat["negatives"]].tolist(), b.n_id[b.negatives].tolist())
                    self.assertEqual((flat["input_id"].tolist(), flat["link_edge_label"].tolist()), (b.input_id.tolist(), b.links["edge_label"].tolist()))
                    del g, b
                self.assertEqual(len(shapes), 1)  # one compilation


@unittest.skipUnless(importlib.util.find_spec("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNNNegatives(unittest.TestCase):
    def test_readout(self) -> None:
        import tensorflow_gnn as tfgnn

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for scope, each in itertools.product(("batch", "seed"), (None, 1, 2)):
                more: dict[str, Any] = dict(fanout=[2, 2], seeds="user:rates:movie", negatives=each, scope=scope, batch_size=80)
                with NodeLoader(rated(), as_="tfgnn", **more) as loader, NodeLoader(rated(), **more) as plain:
                    (g,), (b,) = loader, plain
                    tfgnn.check_scalar_graph_tensor(g)
                    readout, rows = g.node_sets["_readout"], 1 + (each or 0)
                    self.assertEqual(readout.sizes.numpy().tolist(), [rows] * 80 if scope == "seed" else [80 * rows])
                    self.assertEqual(readout["input_id"].numpy().tolist(), np.repeat(b.input_id, rows).tolist())
                    self.assertEqual(readout["time"].numpy().tolist(), np.repeat(b.links["time"], rows).tolist())
                    pairs = b.seed_local[:, None] if each is None else np.concatenate([b.seed_local[:, None], b.negatives], 1)
                    for i, (name, t) in enumerate((("source", "user"), ("target", "movie"))):
                        ids = g.node_sets[t]["n_id"].numpy()
                        at = g.edge_sets[f"_readout/{name}"].adjacency
                        self.assertEqual(at.target.numpy().tolist(), list(range(80 * rows)))
                        self.assertEqual(ids[at.source.numpy()].tolist(), b.n_id[t][pairs[..., i]].ravel().tolist())
                        gathered = tfgnn.structured_readout(g, name, feature_name="n_id") if each is None else None
                        if gathered is not None:
                            self.assertEqual(gathered.numpy().tolist(), b.n_id[t][b.seed_local[:, i]].tolist())
                    if each:
                        self.assertEqual(readout["label"].numpy().reshape(80, rows).tolist(), [[1] + [0] * each] * 80)
                    else:
                        self.assertNotIn("label", readout.features)

    def test_records(self) -> None:
        """The real TF-GNN reads the links and negatives of TFRecords, which are the same as a loader's."""
        import tensorflow as tf
        import tensorflow_gnn as tfgnn

        for number, (scope, components, label) in enumerate((("seed", 1, None), ("seed", 4, None), ("batch", 1, None), ("seed", 1, "label"))):
            out, store, split = made.path(f"negatives-{number}"), rated(), "user:rates:movie:split=train"
            links = ["--seeds", split]
            if label:  # a file of links with labels
                with open(made.path("labelled.csv"), "w") as f:
                    f.write("source,target,label\n" + "".join(f"{i % 20},{i % 15},{i % 3}\n" for i in range(52)))
                links = ["--seeds", made.path("labelled.csv"), "--seed-type", "rates"]
            made.graphmill("sample", store, *links, "--negatives", 2, "--exclude", "reverse:rated_by", "--fanout", "2,2", "--scope", scope, "--batch-size", 16,
                           "--format", "tfrecord", *(["--components", components] if components > 1 else []), "--out", out)  # fmt: skip
            spec = tfgnn.create_graph_spec_from_schema_pb(tfgnn.read_schema(out + "/schema.pbtxt"))
            more: dict[str, Any] = dict(seeds=made.path("labelled.csv") if label else split, seed_type=("user", "rates", "movie"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loader = NodeLoader(store, fanout=[2, 2], negatives=2, exclude="reverse:rated_by", scope=scope, batch_size=1 if scope == "seed" else 16, **more)
            with loader:
                want = []  # of each link: the ids of its ends, and of the ends of its negatives
                for b in loader:
                    pairs = np.concatenate([b.seed_local[:, None], b.negatives], 1)
                    want += np.stack([b.n_id["user"][pairs[..., 0]], b.n_id["movie"][pairs[..., 1]]], -1).tolist()
            got: list[Any] = []
            labels: list[int] = []
            stars: list[int] = []
            for record in tf.data.TFRecordDataset(sorted(tf.io.gfile.glob(out + "/samples.tfrecord-*"))):
                g = tfgnn.parse_single_example(spec.relax(num_components=True) if components > 1 else spec, record)
                tfgnn.check_scalar_graph_tensor(g)
                readout: Any = g.node_sets["_readout"]
                ends: list[Any] = []
                for name, t in (("source", "user"), ("target", "movie")):
                    at = g.edge_sets[f"_readout/{name}"].adjacency
                    self.assertEqual(at.target.numpy().tolist(), list(range(int(readout.total_size))))
                    ends.append(tf.gather(g.node_sets[t]["number"], at.source).numpy())
                    self.assertEqual(tfgnn.structured_readout(g, name, feature_name="number").numpy().tolist(), ends[-1].tolist())
                got += np.stack(ends, -1).reshape(-1, 3, 2).tolist()
                labels += readout["label"].numpy().tolist()
                stars += [] if label else readout["stars"].numpy().tolist()
                self.assertEqual(readout.sizes.numpy().tolist(), [3 * (len(ends[0]) // 3 if scope == "batch" else 1)] * int(g.num_components))
            self.assertEqual(got, want)
            count = len(want)
            ones = [i % 3 + 1 for i in range(52)] if label else [1] * count
            self.assertEqual(np.reshape(labels, (-1, 3)).tolist(), [[x, 0, 0] for x in ones])
            if not label:
                self.assertEqual([len(set(row)) for row in np.reshape(stars, (-1, 3)).tolist()], [1] * count)


if __name__ == "__main__":
    unittest.main()
