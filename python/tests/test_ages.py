"""NodeLoader with the ages of nodes and edges at the times of their seeds, against the differences of the times themselves.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import tempfile
import unittest
import warnings
from typing import Any

import graphmill
import numpy as np
import numpy.typing as npt
from graphmill import GraphmillError, NodeLoader, Store

PYG = unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
BUYS, SOLD = ("user", "buys", "item"), ("item", "sold", "user")
SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 604800, "years": 31556952}


def moments(r: np.random.Generator, n: int) -> npt.NDArray[Any]:
    return np.datetime64("2020-01-01", "s") + r.integers(0, 100_000_000, n)


@functools.lru_cache(None)
def shop(number: int = 0) -> Store:
    """Users and items with times, purchases in both directions, and types without nodes or edges. By number, it is sparse or dense."""
    r = np.random.default_rng(number)
    users, items, buys = (int(r.integers(1, 40)) for _ in range(3))
    ends = np.stack([r.integers(0, users, buys * 4), r.integers(0, items, buys * 4)])[:, : 0 if number == 1 else None]
    at = moments(r, ends.shape[1])
    nodes: Any = {
        "user": {"joined": moments(r, users), "age": np.arange(users)},
        "item": {"listed": moments(r, items), "score": r.random(items)},
        "none": {"since": moments(r, 0)},
    }
    edges: Any = {
        BUYS: {"edge_index": ends, "at": at, "sent": at + np.timedelta64(1, "D")},
        SOLD: {"edge_index": ends[::-1], "at": at},
        ("none", "likes", "item"): {"edge_index": np.empty((2, 0), np.int64), "at": moments(r, 0)},
    }
    return graphmill.from_arrays(nodes, edges)


@functools.lru_cache(None)
def people() -> Store:
    """One node type and one edge type, whose times are plain numbers."""
    r = np.random.default_rng(3)
    return graphmill.from_arrays(
        {"born": r.integers(0, 50, 60)}, {"edge_index": r.integers(0, 60, (2, 500)), "time": r.integers(0, 50, 500), "w": r.random(500)}
    )


def ticks(x: Any) -> npt.NDArray[Any]:
    return np.asarray(x).astype(np.int64)


def ages(store: Store, b: Any, t: str, column: str, per: int) -> npt.NDArray[Any]:
    """The ages of the nodes of a type in a batch."""
    difference = b.seed_time[b.batch[t]] - ticks(store.nodes[t][column])[b.n_id[t]]
    out: npt.NDArray[Any] = (difference / per).astype(np.float32)
    return out


def edge_ages(store: Store, b: Any, e: tuple[str, str, str], column: str, per: int) -> npt.NDArray[Any]:
    """The same for edges, which are of the seed of their destination."""
    of = store.edges[e]
    difference = b.seed_time[b.batch[e[2]][b.edge_index[e][1]]] - ticks(of[column])[of.find(b.e_id[e])]
    out: npt.NDArray[Any] = (difference / per).astype(np.float32)
    return out


AGE = {"user": "joined", "item": "listed", "none": "since", "buys": "sent", SOLD: "at", ("none", "likes", "item"): "at"}
OPTIONS: dict[str, Any] = dict(seed_type="item", before="at", scope="seed", direction="in", batch_size=7, features="none", age=AGE)


class TestAges(unittest.TestCase):
    def check(self, store: Store, b: Any, per: int) -> int:
        """Compare the ages of a batch. The result is their number."""
        n = 0
        for t, column in (("user", "joined"), ("item", "listed"), ("none", "since")):
            got = b.x[t]["age"]
            self.assertEqual((got.dtype, got.shape), (np.dtype(np.float32), b.n_id[t].shape))
            np.testing.assert_array_equal(got, ages(store, b, t, column, per))
            n += len(got)
        for e, column in ((BUYS, "sent"), (SOLD, "at"), (("none", "likes", "item"), "at")):
            np.testing.assert_array_equal(b.edge_attr[e]["age"], edge_ages(store, b, e, column, per))
            n += len(b.edge_attr[e]["age"])
        return n

    def test_random(self) -> None:
        """On random stores: fanouts that draw nothing, seeds that are earlier than all, all units, both executors."""
        some = 0
        for number in range(8):
            store, r = shop(number), np.random.default_rng(100 + number)
            n = store.nodes["item"].count
            seeds = r.integers(0, n, 20)
            times = np.concatenate([moments(r, 15), np.repeat(np.datetime64("1999-01-01", "s"), 5)])
            unit = [*SECONDS, None, None][number]
            fanout: Any = [{"buys": [3, 0, 2], "sold": [0, 2, 0]}, [-1, -1], [0, 5]][number % 3]
            for executor in ("memory", "stream"):
                with NodeLoader(store, fanout, seeds=seeds, seed_time=times, age_unit=unit, executor=executor, shuffle=True, **OPTIONS) as loader:
                    for b in loader:
                        np.testing.assert_array_equal(b.seed_time, ticks(times)[b.input_id])
                        some += self.check(store, b, SECONDS[unit or "days"])
        self.assertGreater(some, 1000)

    def test_links(self) -> None:
        """Both ends of a link and its negatives have its time."""
        store = shop(2)
        r, negative = np.random.default_rng(4), 0
        pairs = np.stack([r.integers(0, store.nodes["user"].count, 30), r.integers(0, store.nodes["item"].count, 30)])
        own = {**OPTIONS, "seed_type": BUYS, "before_nodes": {"user": "joined<="}, "before": "at<="}
        for how in ("binary", "triplet"):
            with NodeLoader(store, [3, 3], seeds=pairs, seed_time=moments(r, 30), negatives=2, negatives_how=how, **own) as loader:
                for b in loader:
                    self.check(store, b, 86400)
                    for end, t in enumerate(("user", "item")):
                        self.assertEqual(b.batch[t][b.seed_local[:, end]].tolist(), list(range(b.batch_size)))
                        self.assertEqual(b.batch[t][b.negatives[:, :, end]].tolist(), [[i] * 2 for i in range(b.batch_size)])
                        negative += b.negatives[:, :, end].size
        with NodeLoader(store, [3], seeds="user:buys:item", **{**own, "seed_type": None}) as loader:  # whose times are their own
            for b in loader:
                self.assertEqual(b.seed_time.tolist(), b.links["at"].tolist())
                self.check(store, b, 86400)
        self.assertEqual(negative, 240)

    def test_true(self) -> None:
        """The columns by which the draws look at times."""
        store = shop(2)
        common: dict[str, Any] = dict(scope="seed", features="none", batch_size=50, seed_time="2023-01-01", seed_type="user", fanout=[2, 2])
        more: dict[str, Any]
        for more, want in (
            (dict(before="at"), {BUYS: "at", SOLD: "at", ("none", "likes", "item"): "at"}),
            (dict(before="at <=", untimed=["buys"]), {SOLD: "at", ("none", "likes", "item"): "at"}),
            (dict(before="at", before_columns={BUYS: "sent"}, untimed="sold,likes"), {BUYS: "sent"}),
            (dict(before_nodes={"item": "listed<="}), {"item": "listed"}),
            (dict(before_nodes="item=listed<="), {"item": "listed"}),
            (dict(before_columns="buys=sent; item:sold:user = at"), {BUYS: "sent", SOLD: "at"}),
            (dict(time_attr="at", scope=None), {BUYS: "at", SOLD: "at", ("none", "likes", "item"): "at"}),
        ):
            with NodeLoader(store, age=True, **{**common, **more}) as loader:
                (b,) = loader
                have = {t: names["age"] for t, names in {**b.x, **b.edge_attr}.items() if "age" in names}
                self.assertEqual(set(have), set(want), more)
                for t, column in want.items():
                    np.testing.assert_array_equal(have[t], ages(store, b, t, column, 86400) if isinstance(t, str) else edge_ages(store, b, t, column, 86400))
        with NodeLoader(store, age=False, **{**common, "before": "at"}) as loader:
            self.assertNotIn("age", next(iter(loader)).x["item"])

    def test_true_of_draws(self) -> None:
        """Types that are not drawn from have no say, whatever their column of that name is."""
        times = np.array(["2020-01-01", "2020-01-02"], "datetime64[s]")
        ends = np.array([[0, 1], [1, 0]])
        for at, other, seed_time, want in ((times, ["a", "b"], "2020-01-03", [2, 1]), (np.arange(2), np.array([-np.inf, 1]), "2", [2, 1])):
            edges: Any = {("user", "knows", "user"): {"edge_index": ends, "at": at}, ("item", "like", "item"): {"edge_index": ends, "at": other}}
            store = graphmill.from_arrays({"user": {"x": np.arange(2.0)}, "item": {"x": np.arange(2.0)}}, edges)
            with NodeLoader(store, [2], seed_type="user", before="at", scope="seed", seed_time=seed_time, features="none", age=True) as loader:
                b = next(iter(loader))
                e = ("user", "knows", "user")
                self.assertEqual(b.edge_attr[e]["age"][np.argsort(b.e_id[e])].tolist(), want)

    def test_plan(self) -> None:
        """The times of a plan in a file."""
        op = {"from": [0], "edges": "user:buys:item", "dir": "in", "take": 3, "how": "uniform", "hop": 1}
        plan = {
            "seed_type": "item",
            "scope": "seed",
            "expand": "new",
            "hops": 1,
            "ops": [op],
            "before": {"columns": {"user:buys:item": "at"}, "or_equal": False},
        }
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(plan, f)
            f.flush()
            with NodeLoader(shop(2), plan=f.name, seed_time="2022-06-01", features="none", age=AGE) as loader:
                (b,) = loader
                self.assertGreater(self.check(shop(2), b, 86400), 20)
            with self.assertRaisesRegex(ValueError, "found age=True without before=, .*; or give the columns"):
                NodeLoader(shop(2), plan=f.name, seed_time="2022-06-01", age=True)

    def test_plain_numbers(self) -> None:
        """Times without a unit: ages are differences, also of floats."""
        store = people()
        own: dict[str, Any] = dict(fanout=[3, 2], before="time", scope="seed", batch_size=16, age={"_N": "born", "_E": "time"})
        for times in (np.arange(60) - 5, np.arange(60) / 7):
            with NodeLoader(store, seed_time=times, edge_ids=False, edge_features=["time"], **own) as loader:
                for b in loader:
                    want = b.seed_time[b.batch] - store.nodes["_N"]["born"][b.n_id]
                    np.testing.assert_array_equal(b.x["age"], want.astype(np.float32))
                    want = b.seed_time[b.batch[b.edge_index[0]]] - b.edge_attr["time"]
                    np.testing.assert_array_equal(b.edge_attr["age"], want.astype(np.float32))
                    self.assertIsNone(b.e_id)

    def test_draws_stay(self) -> None:
        """Ages are columns: a state of a loader without them continues with them."""
        own = {**OPTIONS, "fanout": [2, 2], "seed_time": "2022-01-01"}
        with NodeLoader(shop(2), **own) as loader, NodeLoader(shop(2), **{**own, "age": None}) as plain:
            batches = iter(plain)
            next(batches)
            loader.load_state_dict(plain.state_dict())
            for a, b in zip(batches, loader, strict=True):
                self.assertEqual((a.number, a.n_id["item"].tolist()), (b.number, b.n_id["item"].tolist()))

    def test_ranks(self) -> None:
        own = {**OPTIONS, "fanout": [2, 2], "seed_time": "2022-01-01", "shuffle": True}
        store, numbers = shop(2), []
        loaders = [NodeLoader(store, rank=r, world_size=2, tail="short", **own) for r in range(2)]
        for loader in loaders:
            for b in loader:
                self.check(store, b, 86400)
                numbers.append(b.number)
        for loader in loaders:
            loader.close()
        self.assertEqual(sorted(numbers), list(range(-(-store.nodes["item"].count // 7))))

    def test_refused(self) -> None:
        store: Any
        own: dict[str, Any] = dict(fanout=[2], seed_type="item", scope="seed", before="at", seed_time="2022-01-01", features="none")
        for error, words, text in (
            (
                ValueError,
                dict(age={"usr": "joined"}),
                "found age= for 'usr', expected node types and edge types among item, none, user, .*; did you mean user?",
            ),
            (ValueError, dict(age={("user", "buys", "user"): "at"}), "age: edge type: found 'user:buys:user', expected one of "),
            (ValueError, dict(age={"user": "join"}), r"found age=\{'user': 'join'\}, expected a column of user among age, joined; did you mean joined\?"),
            (ValueError, dict(age={"buys": "at", BUYS: "at"}), "found age= of user:buys:item twice, expected each type once"),
            (ValueError, dict(age={"user": 3}), r"found age=\{'user': 3\}, expected a column of user"),
            (TypeError, dict(age={3: "at"}), "found age= for 3, expected an edge type"),
            (TypeError, dict(age="joined"), "found age='joined', expected a dict from types to columns with their times, .*or True"),
            (TypeError, dict(age=["joined"]), "expected a dict from types to columns"),
            (
                ValueError,
                dict(age=True, before=None, scope=None, seed_time=None),
                "found age=True without before=, before_columns= or before_nodes=, expected one of them",
            ),
            (ValueError, dict(age=AGE, age_unit="months"), "found age_unit='months', expected one of seconds, minutes, hours, days, weeks, years"),
            (ValueError, dict(age=True, before=None, before_columns="at"), "found 'at' in before_columns=, expected TYPE=COLUMN, separated by semicolons"),
            (GraphmillError, dict(age_unit="days"), "found age_unit without age, expected them together"),
            (
                GraphmillError,
                dict(age=AGE, before=None, seed_time=None),
                "found age with a plan that does not use times, expected before, and with it a time per seed",
            ),
            (GraphmillError, dict(age=AGE, scope=None), "found before with scope batch, expected scope seed; times belong to single seeds"),
            (GraphmillError, dict(age={"item": "score"}), 'found plain numbers in column "score" of item with age, expected times'),
            (
                GraphmillError,
                dict(age={"user": "joined"}, features="all"),
                'found a column "age" of user in batches with age of user, .*; leave the column out of features, or put it beside others in x',
            ),
        ):
            with self.assertRaisesRegex(error, text):
                NodeLoader(shop(2), **{**own, **words})
        with self.assertRaisesRegex(ValueError, "label: found 'age', expected one of born"):  # ages are no labels
            NodeLoader(people(), [2], as_="pyg", label="age", age={"_N": "born"}, before="time", seed_time=30, scope="seed")
        gaps = np.array(["2020-01-01", "NaT", "2020-01-03", "NaT"], "datetime64[s]")
        store = graphmill.from_arrays({"since": gaps}, {"edge_index": np.array([[0, 1, 2], [1, 2, 3]]), "at": gaps[:3]})
        own = dict(fanout=[2], scope="seed", before="at", seed_time="2022-01-01", features="none")
        with self.assertRaisesRegex(GraphmillError, 'column "since" of _N: found 2 of 4 rows without a time, the first is row 1, expected one in each for age'):
            NodeLoader(store, age={"_N": "since"}, **own)
        with self.assertRaisesRegex(GraphmillError, "found 2 of 4 seeds without a time, the first is seed 1, expected a time for each with age"):
            NodeLoader(store, age=True, **{**own, "seed_time": "since"})
        with NodeLoader(store, age=True, **own) as loader:  # the edge without a time is not drawn
            self.assertEqual(next(iter(loader)).edge_attr["age"].tolist(), [731, 729])


@PYG
class TestPyGAges(unittest.TestCase):
    def test_pyg(self) -> None:
        store = shop(2)
        own = {**OPTIONS, "fanout": [3, 3], "seed_time": "2022-01-01"}
        with NodeLoader(store, as_="pyg", **own) as loader, NodeLoader(store, **own) as plain:
            for a, b in zip(loader, plain, strict=True):
                self.assertTrue(a.validate())
                self.assertEqual((str(a["user"].age.dtype), a["user"].age.tolist()), ("torch.float32", b.x["user"]["age"].tolist()))
                self.assertEqual(a[BUYS].age.tolist(), b.edge_attr[BUYS]["age"].tolist())
                self.assertEqual(set(a.age_dict), {"user", "item", "none", BUYS, SOLD, ("none", "likes", "item")})
                self.assertNotIn("x", a["user"])
        # A column that is alone is x, also beside ages; an age of the store, in x, is no age at the seed's time.
        with NodeLoader(store, as_="pyg", **{**own, "features": ["score"], "x": {"user": ["age"]}}) as loader:
            b = next(iter(loader))
            self.assertEqual((b["item"].x.ndim, b["item"].age.shape), (1, b["item"].x.shape))
            self.assertEqual((b["user"].x[:, 0].tolist(), b["user"].age.shape), (b["user"].n_id.tolist(), b["user"].n_id.shape))
        with NodeLoader(store, as_="pyg", **{**own, "age": None, "features": ["user/age"]}) as loader:
            self.assertIn("x", next(iter(loader))["user"])
        with NodeLoader(people(), [3], as_="pyg", before="time", seed_time=30, scope="seed", edge_features=["w"], age={"_N": "born", "_E": "time"}) as loader:
            (b,) = loader
            self.assertEqual((b.age.shape, b.edge_age.shape, b.edge_attr.shape), (b.n_id.shape, b.e_id.shape, b.e_id.shape))
            self.assertTrue((b.edge_age > 0).all())
            np.testing.assert_array_equal(b.age, 30 - people().nodes["_N"]["born"][b.n_id])

    def test_column_of_that_name(self) -> None:
        """A Data has one edge_age."""
        r = np.random.default_rng(5)
        nodes = {"edge_age": r.random(9), "other": r.random(9)}
        store = graphmill.from_arrays(nodes, {"edge_index": r.integers(0, 9, (2, 40)), "time": r.integers(0, 9, 40)})
        own: dict[str, Any] = dict(fanout=[3], as_="pyg", before="time", seed_time=9, scope="seed", age=True)
        with self.assertRaisesRegex(ValueError, "found a column 'edge_age' of nodes with age= of edges and as_='pyg', expected one of them"):
            NodeLoader(store, features=["edge_age", "other"], **own)
        with NodeLoader(store, features=["edge_age"], **own) as loader:  # which is x
            b = next(iter(loader))
            self.assertEqual((len(b.x), len(b.edge_age)), (len(b.n_id), len(b.e_id)))
        with NodeLoader(store, features=["edge_age", "other"], **{**own, "age": None}) as loader:
            b = next(iter(loader))
            self.assertEqual(b.edge_age.tolist(), nodes["edge_age"][b.n_id].tolist())

    def test_workers(self) -> None:
        import torch

        own = {**OPTIONS, "fanout": [3, 3], "seed_time": "2022-01-01"}
        with NodeLoader(shop(2), as_="pyg", **own) as loader:
            alone = [(b["item"].n_id.tolist(), b["user"].age.tolist()) for b in loader]
            loader.set_epoch(0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch advises against more workers than processors
                workers = [(b["item"].n_id.tolist(), b["user"].age.tolist()) for b in torch.utils.data.DataLoader(loader, batch_size=None, num_workers=2)]
        self.assertEqual(workers, alone)


@unittest.skipUnless(importlib.util.find_spec("jraph"), "jraph is not installed")
class TestJraphAges(unittest.TestCase):
    def test_nodes_and_edges(self) -> None:
        own: dict[str, Any] = dict(fanout=[3, 2], before="time", seed_time=30, scope="seed", batch_size=16, age={"_N": "born", "_E": "time"})
        with NodeLoader(people(), as_="jraph", **own) as loader:
            g = next(iter(loader))
            real = int(g.n_node[:-1].sum())
            np.testing.assert_array_equal(g.nodes["age"][:real], 30 - people().nodes["_N"]["born"][g.nodes["n_id"][:real]])
            self.assertEqual((g.edges["age"].dtype, g.edges["age"].shape), (np.float32, g.edges["e_id"].shape))


@unittest.skipUnless(importlib.util.find_spec("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNNAges(unittest.TestCase):
    def test_nodes_and_edges(self) -> None:
        with NodeLoader(shop(2), as_="tfgnn", **{**OPTIONS, "fanout": [3, 3], "seed_time": "2022-01-01"}) as loader:
            g = next(iter(loader))
            of = g.node_sets["user"].features
            want = (ticks(np.datetime64("2022-01-01", "s")) - ticks(shop(2).nodes["user"]["joined"])[of["n_id"].numpy()]) / 86400
            np.testing.assert_array_equal(of["age"].numpy(), want.astype(np.float32))
            self.assertIn("age", g.edge_sets["buys"].features)


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGLAges(unittest.TestCase):
    def test_refused(self) -> None:
        with self.assertRaisesRegex(GraphmillError, "found ops with scope seed, expected scope batch or epoch"):
            NodeLoader(shop(2), as_="dgl", **{**OPTIONS, "fanout": [3, 3], "seed_time": "2022-01-01"})


if __name__ == "__main__":
    unittest.main()
