"""NodeLoader with positives around seed nodes: each seed is a link by one of its edges, which is drawn anew in each epoch.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import importlib.util
import unittest
from typing import Any

import graphmill
import made
import numpy as np
from graphmill import Collection, GraphmillError, NodeLoader
from test_links import PYG

BUYS, BACK = ("user", "buys", "item"), ("item", "rev_buys", "user")


class Shop:
    """A sparse random graph, whose edges have a number, a part and a time, and some seeds, of which some are twice there."""

    def __init__(self, number: int) -> None:
        r = np.random.default_rng(number)
        self.users, self.items = int(r.integers(1, 40)), int(r.integers(1, 30))
        n = int(r.choice([0, 1, 5, 30, 120]))
        self.ends = np.stack([r.integers(0, self.users, n), r.integers(0, self.items, n)])
        self.part, self.time = r.integers(0, 2, n), r.integers(0, 50, n)
        self.seeds = r.integers(0, self.users, int(r.integers(1, 60)))
        self.times = r.integers(0, 50, len(self.seeds))
        columns = {"number": np.arange(n), "part": self.part, "time": self.time}
        self.store = graphmill.from_arrays(
            {"user": {"x": r.random((self.users, 2), np.float32)}, "item": {"x": r.random((self.items, 2), np.float32)}},
            {BUYS: {"edge_index": self.ends, **columns}, BACK: {"edge_index": self.ends[::-1], **columns}},
            made.path(f"positives-{number}.store"),
            both=bool(number % 2),
            overwrite=True,
        )

    def may(self, i: int, messages: bool, timed: bool) -> set[int]:
        """The numbers of the edges that a seed may take."""
        of = self.ends[0] == self.seeds[i]
        if messages:
            of &= self.part == 1
        if timed:
            of &= self.time <= self.times[i]
        return set(np.flatnonzero(of).tolist())


class TestPositives(unittest.TestCase):
    def drawn(self, s: Shop, epochs: int, messages: bool, timed: bool, **more: Any) -> list[dict[int, int]]:
        """By epoch, the number of the edge that each seed took, given by its place. Checks the ends of each link and its columns."""
        out: list[dict[int, int]] = []
        with NodeLoader(s.store, fanout=[2], seeds=s.seeds, positives=BUYS, messages="part=1" if messages else None, **more) as loader:
            for _ in range(epochs):
                taken: dict[int, int] = {}
                for b in loader:
                    users, items = (b.n_id[t][b.seed_local[:, end]].tolist() for end, t in enumerate(("user", "item")))
                    numbers = b.links["number"].tolist()
                    self.assertEqual(users, s.seeds[b.input_id].tolist())
                    self.assertEqual([users, items], s.ends[:, numbers].tolist())
                    self.assertEqual(b.links["part"].tolist(), s.part[numbers].tolist())
                    for i, number in zip(b.input_id.tolist(), numbers):
                        self.assertNotIn(i, taken)
                        self.assertIn(number, s.may(i, messages, timed))
                        taken[i] = number
                    if timed:
                        self.assertEqual(b.seed_time.tolist(), s.times[b.input_id].tolist())
                out.append(taken)
        return out

    def test_random_graphs(self) -> None:
        """Each seed that has an edge to take comes once per epoch, by an edge of its own; by both executors, in any order and batches, on any ranks."""
        changed = alone = 0
        for number in range(40):
            s, r = Shop(number), np.random.default_rng(number)
            messages, timed = bool(number % 3 == 0), bool(number % 4 == 1)
            more: dict[str, Any] = dict(seed=number, scope="seed") if timed else dict(seed=number, scope=("batch", "seed", "epoch")[number % 3])
            if timed:
                more.update(before="time", seed_time=s.times)
            if number % 2:
                more.update(negatives=1.5, negatives_how="triplet")
            want = {i for i in range(len(s.seeds)) if s.may(i, messages, timed)}
            with self.subTest(number=number):
                if not want:
                    with self.assertRaisesRegex(GraphmillError, "found no edge of user:buys:item that one of the .* seeds may take as its positive"):
                        self.drawn(s, 1, messages, timed, **more)
                    alone += 1
                    continue
                got = self.drawn(s, 3, messages, timed, **more)
                self.assertEqual([set(x) for x in got], [want] * 3)
                changed += got[0] != got[1]
                other = dict(more, batch_size=int(r.integers(1, 9)), shuffle=True)
                self.assertEqual(self.drawn(s, 3, messages, timed, executor="stream", **other), got)
                both = [self.drawn(s, 3, messages, timed, rank=k, world_size=2, **other) for k in (0, 1)]
                self.assertEqual([{**a, **b} for a, b in zip(*both)], got)
                if len({*s.seeds}) < len(s.seeds) and not timed:  # a node that is twice among the seeds has one link per epoch
                    for x in got:
                        self.assertEqual(len({(int(s.seeds[i]), n) for i, n in x.items()}), len({int(s.seeds[i]) for i in x}))
        self.assertGreater(changed, 10)
        self.assertGreater(alone, 2)

    def test_resumes(self) -> None:
        """An epoch, and the rest of one, have the same links whenever they are taken."""
        s = Shop(7)
        more: dict[str, Any] = dict(fanout=[2], seeds=s.seeds, positives="buys", batch_size=3, shuffle=True)
        with NodeLoader(s.store, **more) as loader:
            every = [[b.links["number"].tolist() for b in loader] for _ in range(3)]
            loader.set_epoch(1)
            self.assertEqual([b.links["number"].tolist() for b in loader], every[1])
            loader.set_epoch(2)
            for _ in zip(range(2), loader):
                pass
            state = loader.state_dict()
        with NodeLoader(s.store, **more) as loader:
            loader.load_state_dict(state)
            self.assertEqual([b.links["number"].tolist() for b in loader], every[2][2:])

    def test_files(self) -> None:
        """The command samples the same links, by both executors, and verify draws the records anew."""
        s = Shop(11)
        np.save(made.path("seeds.npy"), s.seeds)
        arguments: list[Any] = ["--seeds", made.path("seeds.npy"), "--positives", "user:buys:item", "--messages", "part=1", "--fanout", 2, "--batch-size", 4]
        arguments += ["--shuffle", "--epochs", 3, "--negatives", 2, "--negatives-how", "triplet"]
        want = []
        with NodeLoader(
            s.store, fanout=[2], seeds=s.seeds, positives=BUYS, messages="part=1", batch_size=4, shuffle=True, negatives=2, negatives_how="triplet"
        ) as loader:
            for _ in range(3):
                for b in loader:
                    want.append([b.n_id[t][x[..., end]].tolist() for x in (b.seed_local, b.negatives) for end, t in enumerate(("user", "item"))])
        for executor in ("memory", "stream"):
            out = made.path(f"positives-{executor}")
            made.graphmill("sample", s.store.path, *arguments, "--executor", executor, "--out", out, "--force")
            got = []
            for g in Collection(out):
                ids = [np.asarray(g.nodes[t].node_id) for t in ("user", "item")]
                got.append([ids[end][np.asarray(x)[..., end]].tolist() for x in (g.seed_local, g.negative_local) for end in (0, 1)])
            self.assertEqual(got, want)
            made.graphmill("verify", out, "--against", s.store.path)
            made.graphmill("sample", s.store.path, *arguments, "--format", "tfrecord", "--executor", executor, "--out", out, "--force")
            made.graphmill("verify", out, "--against", s.store.path, "--seeds", made.path("seeds.npy"))

    def test_seeds(self) -> None:
        """Seeds as a mask, as a type, and the first of them; the warning counts those that are left out."""
        s = next(x for x in map(Shop, range(40)) if len({*x.ends[0, x.ends[0] % 2 == 0].tolist()}) > 3 and len({*x.ends[0].tolist()}) < x.users)
        mask = np.zeros(s.users, bool)
        mask[::2] = True
        having = [v for v in range(s.users) if v in s.ends[0]]
        for seeds, want in ((mask, [v for v in having if v % 2 == 0]), ("user", having), (None, having)):
            with NodeLoader(s.store, fanout=[2], seeds=seeds, positives=BUYS) as loader:
                (b,) = loader
                self.assertEqual(b.n_id["user"][b.seed_local[:, 0]].tolist(), want)
                self.assertEqual(b.input_id.tolist(), want)
                if seeds is None:
                    left = f"{s.users - len(having)} of {s.users} seeds have no edge of user:buys:item that they may take"
                    self.assertIn(left, " ".join(loader.notes))
        with NodeLoader(s.store, fanout=[2], seeds="user", positives=BUYS, limit_seeds=5) as loader:
            (b,) = loader
            self.assertEqual(b.input_id.tolist(), [v for v in having if v < 5])

    def test_errors(self) -> None:
        s = Shop(5)
        for more, words in (
            (
                dict(positives=BACK, seeds=s.seeds, seed_type="user"),
                "found positives item:rev_buys:user with seeds of type user, expected an edge type that leads from them",
            ),
            (dict(positives=BACK, seeds="user"), "found positives item:rev_buys:user with seeds of type user"),
            (dict(positives="sold"), "positives: edge type: found 'sold'"),
            (dict(positives=BUYS, seeds=np.zeros((2, 3), np.int64)), "found positives= with seeds of shape .*, expected nodes"),
            (dict(positives=BUYS, seeds=s.seeds, seed_type=BUYS), "found positives and seed_type user:buys:item, expected the node type user"),
            (dict(positives=BUYS, edge_label=np.ones(3)), "found positives= and edge_label="),
            (dict(positives=BUYS, seeds="user:buys:item"), "found positives= with seeds='user:buys:item', which are links, expected nodes"),
            (dict(positives=BUYS, seeds="user", scope="seed", before="time"), 'found no column "time" of node type user for the times of the seeds'),
            (dict(positives=BUYS, seeds=[0, 99]), r"seeds\[1\]: found node 99 of type user"),
        ):
            with self.subTest(words), self.assertRaisesRegex((GraphmillError, ValueError), words):
                NodeLoader(s.store, fanout=[2], **more).close()

    @PYG
    def test_pyg(self) -> None:
        s = Shop(11)
        more: dict[str, Any] = dict(fanout=[2], seeds=s.seeds, positives=BUYS, negatives=1, batch_size=16)
        for how in ("triplet", "binary"):
            with NodeLoader(s.store, as_="pyg", negatives_how=how, exclude="reverse:rev_buys", **more) as loader:
                for data in loader:
                    self.assertTrue(data.validate())
                    n = len(data[BUYS].input_id)
                    if how == "binary":
                        ends = data[BUYS].edge_label_index[:, :n]
                        self.assertEqual(data[BUYS].edge_label.tolist(), [1] * n + [0] * n)
                    else:
                        ends = data["user"].src_index, data["item"].dst_pos_index
                        self.assertEqual(data["item"].dst_neg_index.shape, (n,))
                    got = [data[t].n_id[x].tolist() for t, x in zip(("user", "item"), ends)]
                    self.assertEqual(got, s.ends[:, data[BUYS].link_number].tolist())
                    self.assertFalse(set(zip(*got)) & set(zip(*(data[t].n_id[x].tolist() for t, x in zip(("user", "item"), data[BUYS].edge_index)))))


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGLPositives(unittest.TestCase):
    def test_pair_graph(self) -> None:
        import dgl

        s = Shop(11)
        with NodeLoader(s.store, as_="dgl", fanout=[2], seeds=s.seeds, positives=BUYS, negatives=1, negatives_how="triplet") as loader:
            for _, pair, negative, _ in loader:
                ends = [pair.nodes[t].data[dgl.NID][x].tolist() for t, x in zip(("user", "item"), pair.edges(etype=BUYS))]
                self.assertEqual(ends, s.ends[:, pair.edges[BUYS].data["number"].tolist()].tolist())
                self.assertEqual(negative.num_edges(BUYS), pair.num_edges(BUYS))


@unittest.skipUnless(importlib.util.find_spec("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNNPositives(unittest.TestCase):
    def test_readout(self) -> None:
        s = Shop(11)
        with NodeLoader(s.store, as_="tfgnn", fanout=[2], seeds=s.seeds, positives=BUYS) as loader:
            for g in loader:
                ends = [
                    g.node_sets[t]["n_id"].numpy()[g.edge_sets[f"_readout/{end}"].adjacency.source.numpy()].tolist()
                    for t, end in (("user", "source"), ("item", "target"))
                ]
                self.assertEqual(ends, s.ends[:, g.node_sets["_readout"]["number"].numpy()].tolist())


if __name__ == "__main__":
    unittest.main()
