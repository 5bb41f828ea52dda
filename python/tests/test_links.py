"""NodeLoader and GraphmillSampler with links as seeds, and with a subgraph per seed.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import datetime
import functools
import importlib.util
import unittest
from collections.abc import Callable
from typing import Any

import made
import numpy as np
import numpy.typing as npt
from graphmill import GraphmillError, NodeLoader, Store

PYG = unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")


@functools.lru_cache(None)
def whole(path: str = made.RMAT, edge_type: str = "_E") -> npt.NDArray[Any]:
    """The ends of the imported edges."""
    return Store(path).edges[edge_type].edge_index("input")


def links(n: int, seed: int = 1, most: int = 4096) -> npt.NDArray[Any]:
    return np.random.default_rng(seed).integers(0, most, (2, n))


@functools.lru_cache(None)
def timed() -> str:
    """A store of nodes and edges with times, and links with times and labels."""
    r = np.random.default_rng(2)
    ends = r.integers(0, 60, (2, 600))
    times, born = r.integers(0, 50, 600), r.integers(0, 60, 60)
    folder = made.write(
        "timed",
        {
            "users.csv": "time\n" + "".join(f"{t}\n" for t in born),
            "knows.csv": "src,dst,time\n" + "".join(f"{s},{d},{t}\n" for s, d, t in zip(*ends, times)),
            "graph.yaml": """
nodes:
  user: {table: users.csv, columns: {time: int64}}
edges:
  user:knows:user: {table: knows.csv, columns: {time: int64}}
""",
        },
    )
    made.graphmill("import", folder, "--out", made.path("timed.store"))
    with open(made.path("links.csv"), "w") as f:
        f.write("source,target,label,time,word\n")
        f.writelines(f"{i * 7 % 60},{i * 11 % 60},{i % 3},{i % 55},w{i}\n" for i in range(90))
    return made.path("timed.store")


@functools.lru_cache(None)
def times_of_edges() -> npt.NDArray[Any]:
    """The times of the imported edges."""
    edges = Store(timed()).edges["knows"]
    out = np.array(edges["time"])
    if edges["#input_position"] is not None:
        out[np.asarray(edges["#input_position"])] = out.copy()
    return out


def reached(v: int, time: int, or_equal: bool) -> set[int]:
    """The nodes and edges within two hops of a node, against the edges' direction and before a time, as positions."""
    ends, at = whole(timed(), "knows"), np.array(Store(timed()).edges["knows"]["time"])
    near = np.flatnonzero(at <= time if or_equal else at < time)
    order = Store(timed()).edges["knows"]["#input_position"]
    near = near if order is None else np.asarray(order)[near]
    frontier, found, edges = {v}, {v}, set()
    for _ in range(2):
        new = {int(e) for e in near if ends[1, e] in frontier}
        edges |= new
        frontier = {int(ends[0, e]) for e in new} - found
        found |= frontier
    return edges


class TestLinks(unittest.TestCase):
    def test_ends_are_where_seed_local_says(self) -> None:
        pairs = links(500)
        with NodeLoader(made.RMAT, fanout=[3, 2], seeds=pairs, batch_size=64, shuffle=True) as loader:
            self.assertEqual(len(loader), 8)
            seen = []
            for b in loader:
                self.assertEqual(b.n_id[b.seed_local].T.tolist(), pairs[:, b.input_id].tolist())
                self.assertEqual(whole()[:, b.e_id].tolist(), b.n_id[b.edge_index].tolist())
                self.assertEqual((b.batch_size, b.links, b.batch), (len(b.input_id), {}, None))
                seen += b.input_id.tolist()
            self.assertEqual(sorted(seen), list(range(500)))

    def test_without_positions(self) -> None:
        made.graphmill("import", made.write("ends", {"e.csv": "src,dst\n4,0\n2,1\n3,0\n"}) + "/e.csv", "--no-positions", "--out", made.path("ends.store"))
        edges = Store(made.path("ends.store")).edges["_E"]
        self.assertFalse(edges.has_positions)
        self.assertTrue(Store(made.RMAT).edges["_E"].has_positions)
        with self.assertRaisesRegex(GraphmillError, "found no positions of the edges in the input"):
            edges.edge_index("input")
        pairs = edges.edge_index()
        with NodeLoader(made.path("ends.store"), fanout=[-1], edge_label_index=("_N", "_E", "_N"), batch_size=2) as loader:
            for b in loader:  # in the order of the edge ids, which e_id is, too
                self.assertEqual(b.n_id[b.seed_local].T.tolist(), pairs[:, b.input_id].tolist())
                self.assertEqual(pairs[:, edges.find(b.e_id)].tolist(), b.n_id[b.edge_index].tolist())
        with self.assertRaisesRegex(ValueError, "found edge_label= with all links of _N:_E:_N, whose order in the input the import left out"):
            NodeLoader(made.path("ends.store"), fanout=[-1], edge_label_index=("_N", "_E", "_N"), edge_label=np.arange(3), batch_size=2)
        with self.assertRaisesRegex(GraphmillError, "found no positions of the edges in the input"):
            NodeLoader(made.path("ends.store"), fanout=[-1], seeds="_N:_E:_N:#input_position", batch_size=2)

    def test_columns_of_a_file(self) -> None:
        options: dict[str, Any] = dict(fanout=[-1, -1], seeds=made.path("links.csv"), seed_type=("user", "user"), batch_size=16, shuffle=True)
        with NodeLoader(timed(), **options) as loader:
            for b in loader:
                self.assertEqual((sorted(b.links), b.links["label"].tolist()), (["label", "time"], (b.input_id % 3).tolist()))
        options["shuffle"] = False
        with NodeLoader(timed(), order="stratified:label", **options) as loader:
            labels: list[int] = sum((b.links["label"].tolist() for b in loader), [])
            self.assertEqual([sorted(labels[i : i + 3]) for i in range(0, 90, 3)], [[0, 1, 2]] * 30)

    def test_edges_in_the_order_of_the_input(self) -> None:
        """Edges as seeds have their columns, in the order in which the table has them."""
        edges, (ends, times) = Store(timed()).edges["knows"], (whole(timed(), "knows"), times_of_edges())
        self.assertFalse(np.array_equal(np.array(edges["time"]), times))  # the store has another order
        options: Any
        for options in (dict(edge_label_index="knows"), dict(seeds="user:knows:user:#input_position")):
            with NodeLoader(timed(), fanout=[3], batch_size=64, before="time<=", scope="seed", shuffle=True, **options) as loader:
                for b in loader:
                    self.assertEqual(b.n_id[b.seed_local].T.tolist(), ends[:, b.input_id].tolist())
                    self.assertEqual((b.links["time"].tolist(), b.seed_time.tolist()), (times[b.input_id].tolist(),) * 2)

    def test_times_of_an_array(self) -> None:
        ends, times = whole(timed(), "knows"), times_of_edges()
        own: dict[str, Any] = dict(fanout=[-1], before="time<=", scope="seed", batch_size=64)
        seeds: Any
        for seeds in (ends, ("knows", ends), "knows", ("user", "knows", "user")):
            for given in (times, times.tolist(), times.astype(np.int16), times + 0.5):
                with NodeLoader(timed(), edge_label_index=seeds, edge_label_time=given, shuffle=True, **own) as loader:
                    for b in loader:
                        self.assertEqual(b.seed_time.tolist(), np.asarray(given)[b.input_id].tolist())
        mask, born = np.arange(60) % 7 == 0, np.array(Store(timed()).nodes["user"]["time"])
        for seeds, n in ((None, 60), (mask, 9), ([5, 4], 2), (f"user:time={born[0]}", int((born == born[0]).sum()))):
            with NodeLoader(timed(), seeds=seeds, input_time=np.arange(n) + 20, **own) as loader:
                (b,) = loader
                self.assertEqual(b.seed_time.tolist(), list(range(20, 20 + n)))
                for i, v in enumerate(b.n_id[b.seed_local].tolist()):
                    self.assertTrue(set(b.e_id[b.batch[b.edge_index[0]] == i].tolist()) <= reached(v, 20 + i, True))
        for seeds, given, want in (
            (ends, times[:5], r"found seed_time= of 5 values, expected 600, one per seed \(edge_label_time= gives seed_time=\)"),
            ("knows", times[:5], "seed_time=: found 5 times, expected 600, one per seed"),
            ("knows", np.arange(700), "found seed_time= of 700 values, expected 600"),
            ("knows", np.zeros((600, 1)), r"found seed_time= of dtype float64 and shape \(600, 1\), expected the name of a column, or a time per seed"),
            ("knows", times > 3, "found seed_time= of dtype bool"),
            ("knows", times.astype("datetime64[s]"), "of dtype datetime64, expected integers or floats, because the times of the store have no unit"),
        ):
            with self.assertRaisesRegex((ValueError, GraphmillError), want):
                NodeLoader(timed(), edge_label_index=seeds, edge_label_time=given, **own)

    def test_times_in_a_unit(self) -> None:
        text = "src,dst,at\n" + "".join(f"{i},{i + 1},1970-01-01T00:00:{i:02}Z\n" for i in range(9))
        yaml = "nodes:\n  n: {count: 10}\nedges:\n  n:e:n: {table: e.csv, columns: {at: 'datetime'}}\n"
        made.graphmill("import", made.write("moments", {"e.csv": text, "graph.yaml": yaml}), "--out", made.path("moments.store"))
        own: dict[str, Any] = dict(fanout=[-1], before="at<=", scope="seed", seeds=[3, 9])
        given = np.array(["1970-01-01T00:00:02", "1970-01-01T00:00:07"], "datetime64[ms]")
        with NodeLoader(made.path("moments.store"), seed_time=given, **own) as loader:
            (b,) = loader
            self.assertEqual((b.seed_time.tolist(), b.e_id.tolist()), ([2, 7], [2]))
        with self.assertRaisesRegex(ValueError, "expected whole s, the unit of the times"):
            NodeLoader(made.path("moments.store"), seed_time=given + np.timedelta64(1, "ms"), **own)

    def test_one_time_of_all_seeds(self) -> None:
        text = "src,dst,at\n0,1,2024-03-31\n2,1,2024-04-01\n3,1,2024-04-01T12:30:00Z\n"
        made.graphmill(
            "import",
            made.write("days", {"e.csv": text, "graph.yaml": "nodes: {n: {count: 4}}\nedges: {'n:e:n': {table: e.csv, columns: {at: datetime}}}\n"}),
            "--out",
            made.path("days.store"),
        )
        april, noon = datetime.datetime(2024, 4, 1), datetime.datetime(2024, 4, 1, 14, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
        own: dict[str, Any] = dict(fanout=[-1], before="at<=", scope="seed", seeds=[1, 3])
        time: Any
        for time, edges, seconds in (
            ("2024-04-01", [0, 1], 1711929600), (np.datetime64("2024-04-01"), [0, 1], 1711929600), (np.datetime64("2024-04"), [0, 1], 1711929600), (april, [0, 1], 1711929600),
            (april.date(), [0, 1], 1711929600), (1711929600, [0, 1], 1711929600), (np.int64(1711929600), [0, 1], 1711929600), (noon, [0, 1, 2], 1711974600), (np.datetime64("2024-04-01T12:30:00.000"), [0, 1, 2], 1711974600),
            (np.datetime64("2024-04-01T12"), [0, 1], 1711972800), ("2024-03-30", [], 1711756800),
        ):  # fmt: skip
            for word in ("seed_time", "input_time"):
                with self.subTest(time=time, word=word), NodeLoader(made.path("days.store"), **{word: time}, **own) as loader:
                    (b,) = loader
                    self.assertEqual((sorted(b.e_id.tolist()), b.seed_time.tolist()), (edges, [seconds] * 2))
        for bad, want in (
            ("2024-13-01", 'found no column "2024-13-01" .* one time for all seeds such as 2024-04-01'),
            (np.datetime64("2024-04-01T00:00:00.5"), "found 2024-04-01T00:00:00.500, expected whole s"),
            (np.datetime64("NaT"), "found seed_time=NaT"),
            (float("nan"), "found seed_time=nan"),
            (True, "found seed_time= of type bool"),
        ):
            with self.subTest(bad=bad), self.assertRaisesRegex((ValueError, TypeError, GraphmillError), want):
                NodeLoader(made.path("days.store"), seed_time=bad, **own)

    def test_unknown_edge_types(self) -> None:
        pairs = links(3, 1, 60)
        for index, want in (
            (
                (("user", "knos", "user"), pairs),
                r"found links of the edge type user:knos:user, which the store lacks.*did you mean knows\? For links of a new relation, give seed_type=\('user', 'user'\)",
            ),
            (("user", "knos", "user"), r"edge_label_index: edge type: found 'user:knos:user'"),
            (("knos", pairs), r"edge_label_index: edge type: found 'knos', expected one of user:knows:user; did you mean knows\?"),
            ("knos", r"did you mean knows\?"),
        ):
            with self.assertRaisesRegex(ValueError, want):
                NodeLoader(timed(), fanout=[1], edge_label_index=index)
        NodeLoader(timed(), fanout=[1], edge_label_index=(("user", "buys", "user"), pairs)).close()  # a relation to be predicted

    def test_a_relation_with_a_value(self) -> None:
        whole = "'_N:_E:_N:weight=1'"
        with self.assertRaisesRegex(ValueError, f"did you mean {whole}"):
            NodeLoader(made.RMAT, fanout=[1], edge_label_index="_E:weight=1", as_="numpy")
        with self.assertRaisesRegex(GraphmillError, whole.replace("'", '"')), NodeLoader(made.RMAT, fanout=[1], seeds="_E:weight=1", as_="numpy") as loader:
            next(iter(loader))

    def test_notes_of_links_that_are_messages(self) -> None:
        for exclude, said in ((None, True), ("self", False)):
            with NodeLoader(made.RMAT, fanout=[2], edge_label_index=("_E", links(8)), as_="numpy", batch_size=4, exclude=exclude) as loader:
                self.assertEqual(sum("exclude self leaves them out" in n for n in loader.notes), said)

    def test_errors(self) -> None:
        f: Callable[[], object]
        for f, want in (
            (lambda: NodeLoader(made.DEBIAN, fanout=[1], seeds=links(3)), "found links in a store of the node types maintainer, "),
            (lambda: NodeLoader(made.RMAT, fanout=[1], seeds=np.zeros((3, 2), int)), "expected node ids, a mask, or links"),
            (lambda: NodeLoader(made.RMAT, fanout=[1], seeds=links(3), seed_type=["a", "b", "c", "d"]), "their edge type"),
            (lambda: NodeLoader(made.RMAT, fanout=[1], direction="out", as_="dgl"), "found direction='out' with as_='dgl'"),
            (lambda: NodeLoader(made.RMAT, fanout=[1], scope="seed", as_="dgl"), "found ops with scope seed"),
            (
                lambda: NodeLoader(made.DEBIAN, fanout=[1], seeds=links(3, 1, 9), seed_type="package", as_="pyg"),
                "links of package and package, expected their edge type",
            ),
            (lambda: NodeLoader(made.RMAT, fanout=[1], label="y"), "expected as_='pyg'"),
            (lambda: NodeLoader(made.DEBIAN, fanout=[1], seed_type="package", as_="pyg", label="labl"), "did you mean label"),
            (lambda: NodeLoader(made.RMAT, fanout=[1], seeds=links(3, 1, 5000) + 4000), r"seeds\[0, 0\]: found node \d+ of type _N, expected 0 to 4095"),
        ):
            with self.assertRaisesRegex((ValueError, GraphmillError), want):
                f()

    @PYG
    def test_pyg(self) -> None:
        import torch

        pairs = links(100)
        with NodeLoader(made.RMAT, fanout=[3, 2], seeds=torch.from_numpy(pairs), batch_size=64, as_="pyg") as loader:
            for b in loader:
                self.assertTrue(b.validate())
                self.assertEqual(b.n_id[b.edge_label_index].tolist(), pairs[:, b.input_id].tolist())
                self.assertEqual(
                    set(b.keys()), {"edge_index", "n_id", "e_id", "num_nodes", "num_sampled_nodes", "num_sampled_edges", "input_id", "edge_label_index"}
                )
        with NodeLoader(timed(), fanout=[2], seeds=made.path("links.csv"), seed_type="user,user", as_="pyg", label="label") as loader:
            (b,) = loader
            b = b["knows"]
            self.assertEqual((b.edge_label.tolist(), b.link_time.tolist()), ((b.input_id % 3).tolist(), (b.input_id % 55).tolist()))

    @PYG
    def test_pyg_types(self) -> None:
        tags = Store(made.DEBIAN).edges["has_tag"]
        pairs = tags.edge_index("input")[:, :300]
        for seed_type in (("package", "tag"), ("package", "has_tag", "tag"), "package,tag", ("package", "like", "tag")):
            with NodeLoader(made.DEBIAN, fanout={"depends": [2, 2]}, direction="out", seeds=pairs, seed_type=seed_type, as_="pyg", batch_size=50) as loader:
                for b in loader:
                    e = b["package", "like" if "like" in seed_type else "has_tag", "tag"]
                    got = [b["package"].n_id[e.edge_label_index[0]].tolist(), b["tag"].n_id[e.edge_label_index[1]].tolist()]
                    self.assertEqual(got, pairs[:, e.input_id].tolist())
                    self.assertNotIn("batch_size", b["package"])


class TestDisjoint(unittest.TestCase):
    def test_each_seed_alone(self) -> None:
        seeds = [5, 17, 5, 4000, 17, 99]
        options: dict[str, Any] = dict(fanout=[3, 2], seeds=seeds, scope="seed")
        with NodeLoader(made.RMAT, batch_size=1, **options) as one, NodeLoader(made.RMAT, batch_size=6, **options) as all_:
            (b,) = all_
            self.assertEqual((b.n_id[:6].tolist(), b.batch[:6].tolist(), b.seed_local.tolist()), (seeds, list(range(6)), list(range(6))))
            self.assertEqual((sum(b.num_sampled_nodes), sum(b.num_sampled_edges)), (len(b.n_id), len(b.e_id)))
            for i, alone in enumerate(one):
                self.assertEqual(b.n_id[b.batch == i].tolist(), alone.n_id.tolist())
                self.assertEqual(b.e_id[b.batch[b.edge_index[0]] == i].tolist(), alone.e_id.tolist())
            self.assertEqual(b.batch[b.edge_index[0]].tolist(), b.batch[b.edge_index[1]].tolist())
            self.assertEqual(whole()[:, b.e_id].tolist(), b.n_id[b.edge_index].tolist())

    def test_before(self) -> None:
        born = np.array(Store(timed()).nodes["user"]["time"])
        for before in ("time", "time<="):
            with NodeLoader(timed(), fanout=[-1, -1], scope="seed", before=before, batch_size=16, shuffle=True) as loader:
                for b in loader:
                    seeds = b.n_id[b.seed_local]
                    self.assertEqual(b.seed_time.tolist(), born[seeds].tolist())
                    of = b.batch[b.edge_index[0]]
                    for i, v in enumerate(seeds.tolist()):
                        self.assertEqual(set(b.e_id[of == i].tolist()), reached(v, born[v], before == "time<="))
        with NodeLoader(timed(), fanout=[-1], scope="seed", before="time", seeds=made.path("links.csv"), seed_type=("user", "user")) as loader:
            (b,) = loader
            self.assertEqual((b.seed_time.tolist(), b.batch[b.seed_local[:, 1]].tolist()), ([i % 55 for i in range(90)], list(range(90))))

    @PYG
    def test_pyg(self) -> None:
        options: dict[str, Any] = dict(fanout=[3, 2], scope="seed", batch_size=64)
        with NodeLoader(made.RMAT, as_="pyg", order="windowed:64,4", **options) as loader, NodeLoader(made.RMAT, order="windowed:64,4", **options) as plain:
            for a, b in zip(loader, plain):
                self.assertTrue(a.validate())
                self.assertEqual((a.batch.tolist(), a.batch[: a.batch_size].tolist()), (b.batch.tolist(), list(range(a.batch_size))))
                self.assertNotIn("seed_time", a)
                del a, b
        with NodeLoader(made.DEBIAN, as_="pyg", seed_type="package", direction="out", order="weighted:size", **options) as loader:
            for b in loader:
                package = b["package"]
                self.assertEqual(package.n_id[: package.batch_size].tolist(), package.input_id.tolist())  # some twice
                for s, r, d in b.edge_types:
                    ends = b[s, r, d].edge_index
                    self.assertEqual(b[s].batch[ends[0]].tolist(), b[d].batch[ends[1]].tolist())
        with self.assertRaisesRegex(ValueError, r"seeds\[2\]: found node 3 again, which is seeds\[0\]"):
            NodeLoader(made.RMAT, fanout=[2], seeds=[3, 4, 3], as_="pyg")
        with NodeLoader(timed(), fanout=[-1], scope="seed", before="time", as_="pyg") as loader:
            (b,) = loader
            self.assertEqual(b["user"].seed_time.tolist(), Store(timed()).nodes["user"]["time"].tolist())


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGLLinks(unittest.TestCase):
    def test_pair_graph(self) -> None:
        import dgl

        pairs = links(100)
        with NodeLoader(made.RMAT, fanout=[3, 2], seeds=pairs, batch_size=64, as_="dgl") as loader:
            at = 0
            for inputs, graph, blocks in loader:
                n = graph.num_edges()
                self.assertEqual(graph.edata["input_id"].tolist(), list(range(at, at + n)))
                self.assertEqual([graph.ndata[dgl.NID][x].tolist() for x in graph.edges()], pairs[:, at : at + n].tolist())
                self.assertEqual(blocks[-1].dstdata[dgl.NID].tolist(), graph.ndata[dgl.NID].tolist())
                self.assertEqual(blocks[0].srcdata[dgl.NID].tolist(), inputs.tolist())
                at += n
            self.assertEqual(at, 100)

    def test_as_dgl_with_all_neighbours(self) -> None:
        import dgl
        import torch

        ends = torch.from_numpy(whole())
        graph = dgl.graph((ends[0], ends[1]), num_nodes=4096)
        ids = torch.arange(0, 2000, 7)
        sampler = dgl.dataloading.as_edge_prediction_sampler(dgl.dataloading.MultiLayerFullNeighborSampler(2))
        theirs = dgl.dataloading.DataLoader(graph, ids, sampler, batch_size=32)
        with NodeLoader(made.RMAT, fanout=[-1, -1], seeds=ends[:, ids], batch_size=32, as_="dgl") as loader:
            self.assertEqual(len(loader), len(theirs))
            for (inputs, pair, blocks), (want_inputs, want_pair, want_blocks) in zip(loader, theirs):
                named: Callable[[Any], Any] = lambda g: [g.ndata[dgl.NID][x].tolist() for x in g.edges()]
                self.assertEqual(named(pair), named(want_pair))
                self.assertEqual(sorted(inputs.tolist()), sorted(want_inputs.tolist()))
                for block, want in zip(blocks, want_blocks):
                    self.assertEqual(sorted(block.edata[dgl.EID].tolist()), sorted(want.edata[dgl.EID].tolist()))
                    self.assertEqual(sorted(block.dstdata[dgl.NID].tolist()), sorted(want.dstdata[dgl.NID].tolist()))

    def test_types(self) -> None:
        import dgl

        pairs, e = Store(made.DEBIAN).edges["has_tag"].edge_index()[:, :100], ("package", "has_tag", "tag")
        with NodeLoader(made.DEBIAN, fanout={"depends": [2]}, seeds=pairs, seed_type=e, as_="dgl") as loader:
            ((_, graph, blocks),) = loader
        ends = [graph.nodes[t].data[dgl.NID][x].tolist() for t, x in zip(("package", "tag"), graph.edges(etype=e))]
        self.assertEqual(ends, pairs.tolist())
        self.assertEqual(blocks[-1].dstnodes["tag"].data[dgl.NID].tolist(), graph.nodes["tag"].data[dgl.NID].tolist())
        with NodeLoader(timed(), fanout=[2], seeds=made.path("links.csv"), seed_type=("user", "user"), as_="dgl") as loader:
            ((_, graph, _),) = loader
        self.assertEqual(graph.edata["label"].tolist(), [i % 3 for i in range(90)])


@unittest.skipUnless(importlib.util.find_spec("jraph"), "jraph is not installed")
class TestJraphDisjoint(unittest.TestCase):
    def test_a_graph_a_seed(self) -> None:
        import jraph

        options: dict[str, Any] = dict(fanout=[4, 4], seeds=np.arange(100) * 7 % 90, scope="seed")
        with NodeLoader(made.RMAT, batch_size=32, as_="jraph", **options) as loader, NodeLoader(made.RMAT, batch_size=1, **options) as one:
            alone = iter(one)
            for g, real in zip(loader, (32, 32, 32, 4)):
                self.assertEqual((g.n_node.shape, g.globals["num_seeds"].tolist()), ((33,), [1] * real + [0] * (33 - real)))
                self.assertEqual(np.asarray(jraph.get_graph_padding_mask(g)).tolist(), [True] * real + [False] * (33 - real))
                self.assertEqual((int(g.n_node.sum()), int(g.n_edge.sum())), (len(g.nodes["n_id"]), len(g.senders)))
                nodes, edges = np.cumsum(g.n_node) - g.n_node, np.cumsum(g.n_edge) - g.n_edge
                for i, b in zip(range(real), alone):
                    at, of = slice(nodes[i], nodes[i] + g.n_node[i]), slice(edges[i], edges[i] + g.n_edge[i])
                    self.assertEqual(g.nodes["n_id"][at].tolist(), b.n_id.tolist())
                    self.assertEqual((np.stack([g.senders, g.receivers])[:, of] - nodes[i]).tolist(), b.edge_index.tolist())
                    self.assertEqual(g.edges["e_id"][of].tolist(), b.e_id.tolist())


@unittest.skipUnless(importlib.util.find_spec("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNNDisjoint(unittest.TestCase):
    def test_a_component_a_seed(self) -> None:
        import tensorflow_gnn as tfgnn

        options: dict[str, Any] = dict(fanout={"depends": [3, 2], "has_tag": [2]}, seed_type="package", direction="out", scope="seed", seeds=np.arange(40))
        with NodeLoader(made.DEBIAN, batch_size=40, as_="tfgnn", **options) as loader, NodeLoader(made.DEBIAN, batch_size=1, **options) as one:
            (g,) = loader
            self.assertEqual((int(g.num_components), g.context["num_seeds"].numpy().tolist()), (40, [1] * 40))
            first = tfgnn.gather_first_node(g, "package", feature_name="n_id")
            self.assertEqual(first.numpy().tolist(), list(range(40)))
            start = dict.fromkeys(g.node_sets, 0)
            for i, b in enumerate(one):
                for t, nodes in g.node_sets.items():
                    n = int(nodes.sizes[i])
                    self.assertEqual(nodes["n_id"].numpy()[start[t] : start[t] + n].tolist(), b.n_id[t].tolist())
                depends, n = g.edge_sets["depends"], g.edge_sets["depends"].sizes.numpy()
                of = slice(n[:i].sum(), n[: i + 1].sum())
                pair = np.stack([depends.adjacency.source.numpy()[of], depends.adjacency.target.numpy()[of]]) - start["package"]
                self.assertEqual(pair.tolist(), b.edge_index["package", "depends", "package"].tolist())
                self.assertEqual(depends["e_id"].numpy()[of].tolist(), b.e_id["package", "depends", "package"].tolist())
                for t, nodes in g.node_sets.items():
                    start[t] += int(nodes.sizes[i])


@PYG
class TestSampler(unittest.TestCase):
    def data(self) -> Any:
        import torch
        from torch_geometric.data import Data

        return Data(x=torch.arange(4096.0)[:, None], edge_index=torch.from_numpy(whole()))

    def loader(self, sampler: Any, **options: Any) -> Any:
        import torch
        from torch_geometric.loader import LinkLoader

        self.pairs = torch.from_numpy(links(300))
        return LinkLoader(self.data(), link_sampler=sampler, edge_label_index=self.pairs, batch_size=64, **options)

    def test_links(self) -> None:
        import torch
        from graphmill.pyg import GraphmillSampler

        whole_ = torch.from_numpy(whole())
        options: Any
        for options in ({}, {"scope": "seed"}):
            with GraphmillSampler(made.RMAT, fanout=[3, 2], seed_type=("_N", "_N"), **options) as sampler:
                for workers in (0, 2):
                    for b in self.loader(sampler, num_workers=workers):
                        self.assertTrue(b.validate())
                        self.assertEqual(b.n_id[b.edge_label_index].tolist(), self.pairs[:, b.input_id].tolist())
                        self.assertTrue(torch.equal(whole_[:, b.e_id], b.n_id[b.edge_index]))
                        self.assertNotIn("edge_label", b)
                        self.assertEqual(b.batch is None, not options)
                for b in self.loader(sampler, neg_sampling="binary", edge_label=torch.arange(300)):
                    n = len(b.input_id)
                    self.assertEqual(b.n_id[b.edge_label_index[:, :n]].tolist(), self.pairs[:, b.input_id].tolist())
                    self.assertEqual((b.edge_label[:n].tolist(), b.edge_label[n:].tolist()), ((b.input_id + 1).tolist(), [0] * n))
                    if options:
                        self.assertEqual(b.batch[b.edge_label_index].tolist(), [list(range(n)) * 2] * 2)
                for amount in (1, 3):
                    for b in self.loader(sampler, neg_sampling=dict(mode="triplet", amount=amount)):
                        n = len(b.input_id)
                        self.assertEqual(b.n_id[torch.stack([b.src_index, b.dst_pos_index])].tolist(), self.pairs[:, b.input_id].tolist())
                        self.assertEqual(tuple(b.dst_neg_index.shape), (n,) if amount == 1 else (n, amount))
                        if options:
                            self.assertTrue((b.batch[b.dst_neg_index].view(n, -1) == b.batch[b.src_index][:, None]).all())
                with self.assertRaisesRegex(ValueError, "found nodes, expected links"):
                    from torch_geometric.sampler import NodeSamplerInput

                    sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([1])))

    def test_types(self) -> None:
        import torch
        from graphmill.pyg import GraphmillSampler
        from torch_geometric.data import HeteroData
        from torch_geometric.loader import LinkLoader

        store, data, e = Store(made.DEBIAN), HeteroData(), ("package", "has_tag", "tag")
        for t, nodes in store.nodes.items():
            data[t].num_nodes = nodes.count
        data[e].edge_index = torch.from_numpy(store.edges[e].edge_index("input"))
        with GraphmillSampler(made.DEBIAN, fanout={"has_tag": [2, 2]}, seed_type=e, direction="out") as sampler:
            for mode in ("binary", "triplet"):
                for b in LinkLoader(data, link_sampler=sampler, edge_label_index=e, neg_sampling=mode, batch_size=512):
                    n = len(b[e].input_id)
                    ends = b[e].edge_label_index[:, :n] if mode == "binary" else torch.stack([b["package"].src_index, b["tag"].dst_pos_index])
                    got = torch.stack([b["package"].n_id[ends[0]], b["tag"].n_id[ends[1]]])
                    self.assertTrue(torch.equal(got, data[e].edge_index[:, b[e].input_id]))
            with self.assertRaisesRegex(ValueError, "found input nodes of type"):
                next(iter(LinkLoader(data, link_sampler=sampler, edge_label_index=(("tag", "of", "tag"), torch.zeros(2, 3, dtype=torch.int64)))))


if __name__ == "__main__":
    unittest.main()
