"""Batches that are drawn on a card: on the processor, where torch has the tensors and Triton interprets the kernels.

GRAPHMILL_COMMAND is the path of the command. GRAPHMILL_TEST_GRAPHS is the number of random graphs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import random
import subprocess
import sys
import tempfile
import unittest
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

import made
import numpy as np
import random_graphs
from graphmill import GraphmillError, NodeLoader, _ahead, _makers, from_arrays

DEVICE = os.environ.get("GRAPHMILL_TEST_DEVICE", "cpu")  # for random plans, also a card
HAVE = bool(importlib.util.find_spec("triton") and importlib.util.find_spec("torch_geometric"))
if HAVE:
    if DEVICE == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"  # read when the kernels are decorated
    import torch
    from graphmill._cuda import card as cards
    from graphmill._cuda import kernels
    from graphmill._cuda import least as draws_of_least

_spec = importlib.util.spec_from_file_location("draws", os.path.join(os.path.dirname(__file__), "../../internal/sample/testdata/reference/draws.py"))
assert _spec and _spec.loader
law = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(law)

M64 = (1 << 64) - 1


def signed(x: int) -> int:
    """The bits of an unsigned integer, as those of a signed one."""
    return x - (1 << 64) if x >> 63 else x


@contextlib.contextmanager
def on_the_processor() -> Iterator[None]:
    """Loaders take the processor for a card, and any form."""
    with mock.patch.object(cards, "KINDS", ["cuda", "cpu"]), mock.patch.object(cards, "FORMS", ["pyg", "dgl", "numpy"]):
        yield


@contextlib.contextmanager
def raw_batches() -> Iterator[None]:
    """Loaders of the form "numpy" yield what batches are made of: all columns."""

    def convert(schema: Any, raw: Any, label: Any) -> Any:
        return raw

    convert.__module__ = "graphmill._schema"
    before = _makers._MAKERS["batch", "numpy"]
    _makers._MAKERS["batch", "numpy"] = convert
    try:
        with on_the_processor():
            yield
    finally:
        _makers._MAKERS["batch", "numpy"] = before


def array(x: Any) -> Any:
    return x.cpu().numpy() if isinstance(x, torch.Tensor) else x


class Case:
    """A random graph with columns, and random plans on it."""

    def __init__(self, number: int) -> None:
        self.r = r = random.Random(number)
        c = random_graphs.case(number)
        self.nodes, self.ends = c.nodes, c.edges
        self.values = np.random.default_rng(number)
        self.kind = r.choice(["int64", "int64", "float64", "float32", "datetime64[s]"])  # of times
        nodes = {t: self.of_nodes(n) for t, n in self.nodes.items()}
        edges = {e: {"edge_index": pair, **self.of_edges(pair.shape[1])} for e, pair in self.ends.items()}
        options: dict[str, Any] = {**({"both": True} if r.random() < 0.5 else {}), **({"primary": "out"} if r.random() < 0.3 else {})}
        self.store = made.path(f"card-{number}.store")
        from_arrays(nodes, edges, self.store, **options)

    def of_nodes(self, n: int) -> dict[str, Any]:
        """Columns of nodes."""
        v = self.values
        f = v.standard_normal((n, 3)).astype(np.float32)
        return {
            "born": self.times(n),
            "f": f,
            "u": v.integers(0, 1 << 16, n).astype(np.uint16),
            "wide": v.integers(0, 1 << 32, n).astype(np.uint32),
            "half": torch.tensor(f[:, 0]).bfloat16(),
        }

    def of_edges(self, n: int) -> dict[str, Any]:
        """Columns of edges. Some weights are none."""
        v = self.values
        w = v.choice([0.0, -1.0, np.nan, 1e-9, 1.0, 2.5, 1e12], n, p=[0.1, 0.05, 0.05, 0.1, 0.3, 0.3, 0.1])
        return {"w": w, "t": self.times(n), "flag": v.random(n) < 0.6, "attr": v.standard_normal((n, 2)), "count": v.integers(0, 9, n)}

    def times(self, n: int) -> Any:
        """Times of n rows, some of which are missing where times can be."""
        x = self.values.integers(-5, 6, n)
        if self.kind == "int64":
            return x
        return np.where(self.values.random(n) < 0.1, np.array("nan" if self.kind[0] == "f" else "nat", self.kind), x.astype(self.kind))

    def plan(self) -> dict[str, Any]:
        """The arguments of a loader."""
        r = self.r
        hops = r.randint(1, 3)
        o: dict[str, Any] = {
            "fanout": [r.choice([-1, 1, 2, 3, 5, 40]) for _ in range(hops)],
            "seed": r.choice([0, 7, M64]),
            "direction": r.choice(["in", "out"]),
            "expand": r.choice(["new", "all"]),
        }
        if r.random() < 0.4:
            o["fanout"] = {":".join(e): [r.choice([0, -1, 1, 2, 4]) for _ in range(hops)] for e in self.ends}
        o["scope"] = r.choice(["batch", "batch", "epoch", "seed"])
        how = r.choice(["uniform", "uniform", "weight", "replace"])
        if how == "weight":
            o["weight"] = r.choice(["w", "count"])
        elif how == "replace":
            o["replace"] = True
            o["fanout"] = [r.choice([0, 1, 3]) for _ in range(hops)]
        if how != "replace" and r.random() < 0.25:
            o["sampler"] = "labor"
        if r.random() < 0.3:
            o["messages"] = "flag=true"
        links = r.random() < 0.3 and any(x.shape[1] for x in self.ends.values())
        if links:
            e = r.choice([e for e, x in self.ends.items() if x.shape[1]])
            n = r.randint(1, 12)
            o.update(seed_type=e, seeds=np.array([[r.randrange(self.nodes[e[0]]) for _ in range(n)], [r.randrange(self.nodes[e[2]]) for _ in range(n)]]))
        else:
            t = r.choice(list(self.nodes))
            n = r.randint(1, 2 * self.nodes[t])
            o.update(seed_type=t, seeds=np.array([r.randrange(self.nodes[t]) for _ in range(n)]))
        if r.random() < 0.4:
            o.update(scope="seed", before=r.choice(["t", "t<="]), seed_time=self.values.integers(-6, 7, n))
            if self.kind != "int64":
                o["seed_time"] = o["seed_time"].astype("float64" if self.kind[0] == "f" else self.kind)
            if r.random() < 0.5:
                o["window"] = r.randint(1, 6)
            if r.random() < 0.3:
                o["before_nodes"] = dict.fromkeys(self.nodes, o["before"].replace("t", "born"))
            if r.random() < 0.3:
                o["untimed"] = [r.choice(list(self.ends))]
            if how == "uniform" and "sampler" not in o and r.random() < 0.4:
                o["temporal_strategy"] = r.choice(["last", "recent"])
                if o["temporal_strategy"] == "recent":
                    o["half_life"] = r.choice([0.5, 3])
        if links and r.random() < 0.6:
            o.update(
                negatives=r.choice([1, 2, 0.5, 1.5]), negatives_how=r.choice(["binary", "triplet", "in-batch"]), negatives_strict=r.choice(["no", "count"])
            )
            if r.random() < 0.3:
                o["negatives_by"] = "degree"
        if links and r.random() < 0.6:
            back = [":".join(x) for x in self.ends if (x[0], x[2]) == (e[2], e[0])]
            o["exclude"] = r.choice(["self", *(f"reverse:{x}" for x in back)])
            if r.random() < 0.7:  # the seeds are edges, some of them twice
                o["seeds"] = self.ends[e][:, [r.randrange(self.ends[e].shape[1]) for _ in range(n)]]
        o.update(batch_size=r.randint(1, n + 2), shuffle=r.random() < 0.5, edge_ids=r.random() < 0.8)
        if r.random() < 0.5:
            o.update(edge_features="all")
        elif r.random() < 0.5:
            o.update(x=["f", "u"], edge_attr=["attr", "w"], features=["u", "wide"])
        if r.random() < 0.3:
            o.update(world_size=2, rank=r.randrange(2), share=False, tail=r.choice(["fill", "drop", "short"]))
        return o


@unittest.skipUnless(HAVE, "torch, PyG and Triton are not installed")
class TestLaw(unittest.TestCase):
    """The kernels draw what the reference draws."""

    def rows(self, number: int) -> tuple[Any, ...]:
        """Rows of an op: the states of their subgraphs as numbers and on the device, the subgraph of each, its node, and its state."""
        r = random.Random(number)
        states = [law.key(r.choice([0, M64, r.randrange(1 << 64)]), r.choice([0, 3, M64]), law.SEED, w) for w in range(4)]
        of = [r.randrange(4) for _ in range(150)]
        nodes = [r.choice([0, 1, 1 << 31, (1 << 32) - 1, r.randrange(1 << 32)]) for _ in of]
        op = r.randint(1, 9)
        h = [law.absorb(law.absorb(states[s], op), v) for s, v in zip(of, nodes)]
        return r, op, h, torch.tensor([signed(s) for s in states]), torch.tensor(of), torch.tensor(nodes)

    def test_alike(self) -> None:
        for take in (1, 2, 3, 8, 33):
            r, op, h, heads, of, nodes = self.rows(take)
            counts = [r.choice([0, 1, take - 1, take, take + 1, 100, 10**9, (1 << 40) + 1]) for _ in h]
            for replace, f in ((False, law.without_replacement), (True, law.with_replacement)):
                found = kernels.alike(heads, of, nodes, torch.tensor(counts), op, take, replace).tolist()
                for row, state, n in zip(found, h, counts):
                    want = f(state, n, take)
                    self.assertEqual(row[: len(want)], want, (take, replace, n))

    def test_weighted(self) -> None:
        for take in (1, 3, 5):
            r, op, h, heads, of, nodes = self.rows(take)
            # Heavy weights are drawn again and again, so that light ones are found by the walk.
            lists = [[r.choice([1.0, 1e-3, 1e6, 1e300, 5e-324, r.random()]) for _ in range(r.choice([0, 1, take, take + 1, 9, 30]))] for _ in h]
            lists = [x if sum(x) < float("inf") else [1.0, 2.0] for x in lists]
            weights, counts = torch.tensor([w for x in lists for w in x], dtype=torch.float64), torch.tensor([len(x) for x in lists])
            starts = counts.cumsum(0) - counts
            prefix = kernels.sums(weights, starts, counts)
            self.assertEqual(prefix.tolist(), [s for x in lists for s in np.cumsum(x)])
            found = kernels.heavy(heads, of, nodes, prefix, weights, starts, counts, op, take).tolist()
            for row, state, x in zip(found, h, lists):
                want = law.weighted(state, x, take)
                self.assertEqual(row[: len(want)], want, (take, x))

    def test_least(self) -> None:
        """LABOR and draws by age. Of equal numbers the first position comes first."""
        for take in (1, 3, 40):
            r, op, h, heads, of, nodes = self.rows(take)
            lists = [[r.choice([0, 3, 1 << 31, (1 << 32) - 1]) for _ in range(r.choice([0, 1, take, take + 1, 9]))] for _ in h]
            weights = [[r.choice([1e-300, 0.5, 1.0, 3.0]) for _ in x] for x in lists]
            times = [[r.choice([-(1 << 63) + 1, -5, 0, 5, (1 << 63) - 1]) for _ in x] for x in lists]
            rows = torch.tensor([k for k, x in enumerate(lists) for _ in x], dtype=torch.int64)
            at = torch.tensor([p for x in lists for p in range(len(x))], dtype=torch.int64)
            far = torch.tensor([v for x in lists for v in x], dtype=torch.int64)
            labor = kernels.units(heads, of[rows], None, far, op)
            heavy = labor / torch.tensor([w for x in weights for w in x], dtype=torch.float64)
            ages = draws_of_least.ages(rows, torch.tensor([t for x in times for t in x], dtype=torch.int64), len(lists))
            late = draws_of_least.decayed(kernels.units(heads, of[rows], nodes[rows], at, op), ages, 1e18)
            shared = [law.absorb(int(heads[s]) & M64, op) for s in of.tolist()]
            for numbers, want in (
                (labor, [law.labor(s, x, None, take) for s, x in zip(shared, lists)]),
                (heavy, [law.labor(s, x, w, take) for s, x, w in zip(shared, lists, weights)]),
                (late, [law.recent(s, t, 1e18, take) for s, t in zip(h, times)]),
            ):
                row, place = draws_of_least.least(rows, at, numbers, take)
                self.assertEqual(list(zip(row.tolist(), place.tolist())), [(k, p) for k, x in enumerate(want) for p in x])

    def test_no_rows(self) -> None:
        none = torch.empty(0, dtype=torch.int64)
        self.assertEqual(kernels.alike(torch.zeros(1, dtype=torch.int64), none, none, none, 1, 3, False).shape, (0, 3))
        self.assertEqual(kernels.sums(none.double(), none, none).shape, (0,))


@unittest.skipUnless(HAVE, "torch, PyG and Triton are not installed")
class TestCard(unittest.TestCase):
    """A card makes the batches of the memory executor, bit for bit."""

    def loaders(self, store: str, **o: Any) -> Any:
        """Loaders of the memory executor and of a card; None where the options have no loader."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                plain = NodeLoader(store, threads=1, **o)
            except (GraphmillError, ValueError) as e:
                with self.assertRaises(type(e)):
                    NodeLoader(store, threads=1, executor="cuda", device=DEVICE, **o)
                return None
            return plain, NodeLoader(store, threads=1, executor="cuda", device=DEVICE, **o)

    def compare(self, store: str, **o: Any) -> int:
        """Compare all columns of the batches of two epochs; the number of batches, of which a plan that no loader takes has none."""
        both = self.loaders(store, **o)
        if both is None:
            return 0
        n = 0
        with both[0] as plain, both[1] as card:
            for _epoch in range(2):
                batches = iter(card)
                for want in plain:
                    n += 1
                    found = next(batches)
                    self.assertEqual((found.seeds, found.number, found.hops), (want.seeds, want.number, want.hops), o)
                    self.assertEqual(set(found.columns), set(want.columns), o)
                    for name, x in want.columns.items():
                        y = array(found.columns[name])
                        self.assertEqual((y.shape, y.dtype), (x.shape, made_signed(name, x.dtype)), (o, name))
                        y = y.view(x.dtype) if y.dtype == np.int16 else y
                        np.testing.assert_array_equal(y, x, f"{o} {name}")
                self.assertIsNone(next(batches, None))
                self.assertEqual(card.state_dict(), plain.state_dict())
        return n

    def test_random_plans(self) -> None:
        """Random typed graphs, with types without edges, nodes without edges and lists shorter than the fanout, and plans of all kinds."""
        batches = plans = 0
        with raw_batches():
            for number in range(random_graphs.COUNT):
                case = Case(number)
                for _ in range(3):
                    o = case.plan()
                    n = self.compare(case.store, **o)
                    batches, plans = batches + n, plans + (n > 0)
        self.assertGreater(plans, random_graphs.COUNT)
        self.assertGreater(batches, random_graphs.COUNT)

    def test_segments(self) -> None:
        """A store that grew, and lost edges, is read as the memory executor reads it."""
        r = np.random.default_rng(3)
        types = 'nodes: {user: {table: user.csv, columns: {age: int64}}, item: {count: 9}}\nedges: {"user:buys:item": {table: buys.csv, columns: {w: float32, t: int64}}}\n'
        rows = [f"{r.integers(20)},{r.integers(9)},{r.integers(5)},{r.integers(50)}" for _ in range(120)]
        folders = []
        for k, some in enumerate((rows[:50], rows[50:100], rows[100:])):
            text = types if k == 0 else types.replace("{count: 9}", "{}")
            users = range(20) if k == 0 else range(2)
            folders.append(
                made.write(
                    f"card-part{k}",
                    {"graph.yaml": text, "user.csv": "age\n" + "".join(f"{u}\n" for u in users), "buys.csv": "\n".join(["src,dst,w,t", *some, ""])},
                )
            )
        store = made.path("card-grown.store")
        made.graphmill("import", folders[0], "--out", store)
        for folder in folders[1:]:
            made.graphmill("append", store, folder)
        gone = made.write(
            "card-gone",
            {
                "graph.yaml": 'nodes: {user: {}, item: {}}\nedges: {"user:buys:item": {table: buys.csv}}\n',
                "buys.csv": "\n".join(["src,dst", *(",".join(x.split(",")[:2]) for x in rows[10:30]), ""]),
            },
        )
        made.graphmill("append", store, "--drop", gone)
        with raw_batches():
            plans: tuple[dict[str, Any], ...] = (
                {},
                {"weight": "w"},
                {"scope": "seed", "before": "t", "seed_time": 30},
                {"direction": "out", "seed_type": "user"},
            )
            for o in plans:
                self.assertGreater(self.compare(store, **{"fanout": [3, 2], "seed_type": "item", "batch_size": 4, "edge_features": "all", **o}), 0)

    def test_positives(self) -> None:
        """Seed links that are drawn of seed nodes, with negatives and with times."""
        timed = {"scope": "seed", "before": "t", "seed_time": 40, "untimed": ["knows"]}
        with raw_batches():
            more: dict[str, Any]
            for more in ({}, {"negatives": 1.5}, {"negatives": 2, "exclude": "self", "negatives_strict": "count"}, timed):
                o: dict[str, Any] = {"positives": ("user", "buys", "item"), "seeds": np.arange(20), "features": "none", "edge_features": "all", **more}
                self.assertGreater(self.compare(self.graph(), fanout=[3, 2], batch_size=6, shuffle=True, **o), 0)

    def graph(self, n: int = 60) -> Any:
        """A store with two node types."""
        r = np.random.default_rng(n)

        def pair(a: int, b: int, m: int) -> Any:
            return np.stack([r.integers(0, a, m), r.integers(0, b, m)])

        users = {"f": r.standard_normal((n, 2)).astype(np.float32), "age": r.integers(0, 99, n).astype(np.uint16), "name": [f"u{k}" for k in range(n)]}
        buys = {"edge_index": pair(n, 30, 4 * n), "w": r.random(4 * n), "t": r.integers(0, 50, 4 * n)}
        return from_arrays(
            {"user": users, "item": {"label": r.integers(0, 3, 30), "born": r.integers(0, 9, 30)}},
            {("user", "buys", "item"): buys, ("user", "knows", "user"): pair(n, n, 2 * n)},
        )

    def test_pyg(self) -> None:
        """Data and HeteroData are alike, of nodes, of links and of seeds with their own subgraphs; and a state goes from one executor to the other."""
        store = self.graph()
        one = from_arrays({"f": np.arange(40.0)}, {"edge_index": np.random.default_rng(1).integers(0, 40, (2, 200)), "w": np.ones(200)})
        links = np.stack([np.arange(20), np.arange(20)])
        cases: tuple[tuple[Any, dict[str, Any]], ...] = (
            (one, {"fanout": [3, 2], "edge_features": "all"}),
            (store, {"fanout": [3, 2], "seed_type": "item", "label": "label"}),
            (store, {"fanout": [3, 2], "seed_type": ("user", "buys", "item"), "seeds": links, "edge_label": np.arange(20)}),
            (store, {"fanout": [3, 2], "seed_type": "item", "scope": "seed", "before": "t", "seed_time": 25, "untimed": ["knows"]}),
        )
        for of, more in cases:
            o: dict[str, Any] = {"batch_size": 8, "shuffle": True, "as_": "pyg", "features": "none" if of is store else "all", "threads": 1, **more}
            with on_the_processor(), NodeLoader(of, **o) as plain, NodeLoader(of, executor="cuda", device=DEVICE, **o) as card:
                batches = iter(card)
                for k, want in enumerate(plain):
                    found = next(batches)
                    self.assertEqual(str(found), str(want))
                    for a, b in zip(found.stores, want.stores):
                        for name, x in b.items():
                            if isinstance(x, torch.Tensor):
                                self.assertTrue(torch.equal(a[name].cpu(), x) and a[name].dtype == x.dtype, name)
                            else:
                                self.assertEqual(a[name], x)
                    if k == 0:
                        state = plain.state_dict()
                for loader in (plain, card):
                    loader.load_state_dict(state)
                self.assertEqual(str(next(iter(card))), str(next(iter(plain))))

    def test_refused(self) -> None:
        """What a card cannot draw is refused when the loader is made, with the reason."""
        store = self.graph()
        base: dict[str, Any] = {"fanout": [3, 2], "seed_type": "user", "as_": "pyg", "features": "none", "executor": "cuda", "device": "cpu", "threads": 1}
        refused: tuple[tuple[dict[str, Any], str], ...] = (
            ({"sampler": "labor", "importance": 1}, "importance=, expected none"),
            ({"sampler": "hgt"}, "draws of the kind hgt, expected uniform, replace, weighted, top, labor or recent"),
            ({"sampler": "ladies"}, "draws of the kind ladies"),
            ({"replace": True, "fanout": [-1]}, "replace=True and a fanout of -1"),
            ({"fanout": [100000]}, "a fanout above 4096"),
            ({"subgraph_type": "induced"}, "subgraph_type='induced', expected 'directional'"),
            (
                {"age": {"item": "born"}, "seed_type": "item", "scope": "seed", "before": "t", "seed_time": 30, "untimed": ["knows"]},
                "executor='cuda' with age=, expected none",
            ),
            ({"features": ["name"]}, "columns of strings or lists, expected numbers"),
            ({"as_": "numpy", "device": None}, "as_='numpy', expected as_='pyg' or 'dgl'"),
            ({"device": "meta"}, "device='meta', expected a CUDA device"),
            ({"memory": "1MiB"}, ""),
        )
        for o, text in refused:
            with mock.patch.object(cards, "KINDS", ["cuda", "cpu"]), self.subTest(o):
                with self.assertRaisesRegex((ValueError, GraphmillError), text):
                    NodeLoader(store, **{**base, **o})
        with self.assertRaisesRegex(ValueError, "^found executor='cuda' with device='cpu', expected a CUDA device, such as 'cuda:0'$"):
            NodeLoader(store, [3], as_="pyg", seed_type="user", executor="cuda", device="cpu")
        if not torch.cuda.is_available():
            with self.assertRaisesRegex(ValueError, "^found executor='cuda' without a CUDA device: "):
                NodeLoader(store, [3], as_="pyg", seed_type="user", executor="cuda")
        with mock.patch("torch.cuda.mem_get_info", return_value=(100, 1000)):
            cards.check_room(100, torch.device("cuda:0"))
            with self.assertRaisesRegex(
                ValueError, r"a graph with columns of 101 B \(101 bytes\), expected at most the 100 B \(100 bytes\) that cuda:0 has free"
            ):
                cards.check_room(101, torch.device("cuda:0"))
            with mock.patch.multiple(torch.cuda, memory_reserved=lambda d: 50, memory_allocated=lambda d: 10):
                cards.check_room(140, torch.device("cuda:0"))  # torch has memory that it does not use
        with (
            on_the_processor(),
            mock.patch.multiple(torch.cuda, is_available=lambda: True, device_count=lambda: 1),
            self.assertRaisesRegex(ValueError, "found device=.*cuda.*7.*, expected a device that torch has: cpu, cuda:0"),
        ):
            NodeLoader(store, [3], as_="pyg", seed_type="user", executor="cuda", device="cuda:7")
        with (
            mock.patch.dict(sys.modules, {"triton": None, "graphmill._cuda.card": None}),
            self.assertRaisesRegex(ModuleNotFoundError, "expected torch and Triton"),
        ):
            NodeLoader(store, [3], as_="pyg", seed_type="user", executor="cuda")

    def test_copies(self) -> None:
        """A copy of a loader has the graph on the device by itself; workers of a DataLoader do not draw."""
        with (
            on_the_processor(),
            NodeLoader(self.graph(), [3, 2], 8, seed_type="item", as_="pyg", features="none", executor="cuda", device="cpu", threads=1) as loader,
        ):
            self.assertEqual([b["item"].n_id.tolist() for b in pickle.loads(pickle.dumps(loader))], [b["item"].n_id.tolist() for b in loader])
            with mock.patch("graphmill._arrays.worker", return_value=(0, 1)), self.assertRaisesRegex(ValueError, "in a worker of a DataLoader"):
                next(iter(loader))

    def test_stream(self) -> None:
        """The calls for a CUDA device, on one that is made up: batches are made on a stream that waits for the graph, and the trainer waits for its batch."""
        calls: list[str] = []

        def noted(call: str, result: Any = None) -> Any:
            calls.append(call)
            return result

        stream, current, batch = mock.MagicMock(), mock.MagicMock(), mock.MagicMock(spec=["to", "record_stream"])
        stream.wait_stream.side_effect = lambda s: noted("graph")
        stream.record_event.side_effect = lambda: noted("event", "event")
        current.wait_event.side_effect = lambda e: noted(f"wait {e}")
        batch.to.side_effect = lambda d, non_blocking: noted(f"to {d}", batch)
        batch.record_stream.side_effect = lambda s: noted("keep")
        on: list[bool] = []

        @contextlib.contextmanager
        def used(s: Any) -> Iterator[None]:
            on.append(s is stream)
            yield
            on.pop()

        def seen(_: Any) -> Any:
            return noted(f"made on the stream: {on == [True]}", batch)

        with (
            on_the_processor(),
            NodeLoader(self.graph(), [3], 32, seed_type="item", as_="pyg", features="none", executor="cuda", device="cpu", threads=1, transform=seen) as loader,
            mock.patch.multiple(torch.cuda, Stream=lambda d: stream, current_stream=lambda d: current, stream=used),
            mock.patch.dict(_ahead._streams, clear=True),
        ):
            loader._card.device = torch.device("cuda:0")
            self.assertEqual(list(loader), [batch])
        self.assertEqual(calls, ["graph", "made on the stream: True", "to cuda:0", "event", "wait event", "keep"])


@unittest.skipUnless(HAVE, "torch, PyG and Triton are not installed")
class TestRounding(unittest.TestCase):
    def test_divisions(self) -> None:
        """torch on CUDA divides by a number as it multiplies by its reciprocal, which rounds twice, so divisors are tensors."""
        from torch.utils._python_dispatch import TorchDispatchMode

        seen: list[Any] = []

        class Divisions(TorchDispatchMode):  # type: ignore[misc]
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if "div" in str(func):
                    seen.append(args[1])
                return func(*args, **(kwargs or {}))

        units, old = torch.rand(50, dtype=torch.float64), torch.arange(50).double()
        with Divisions():
            draws_of_least.decayed(units, old, 3.0)
        self.assertGreater(len(seen), 1)
        for x in seen:
            self.assertIsInstance(x, torch.Tensor)
            self.assertGreater(x.dim(), 0)


@unittest.skipUnless(HAVE, "torch, PyG and Triton are not installed")
class TestMachineCode(unittest.TestCase):
    def test_kernels(self) -> None:
        """Triton makes machine code of an H100 of each kernel, where products and sums of float64 are rounded one after the other."""
        program = """
from graphmill._cuda import kernels
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
import triton

types = {"prefix": "*fp64", "weights": "*fp64", "rows": "i32", "number": "i32", "take": "i32"}
for kernel, constants in ((kernels._alike, {"REPLACE": True, "SLOTS": 16}), (kernels._alike, {"REPLACE": False, "SLOTS": 16}), (kernels._sums, {}), (kernels._units, {"OWN": True}), (kernels._units, {"OWN": False}), (kernels._heavy, {"SLOTS": 16})):
    constants["ROWS"] = 128
    types["out"] = "*fp64" if kernel is kernels._units else "*i64"
    signature = {name: "constexpr" if name in constants else types.get(name, "*i64") for name in kernel.arg_names}
    made = triton.compile(ASTSource(fn=kernel, signature=signature, constexprs=constants), target=GPUTarget("cuda", 90, 32), options=kernels.EXACT)
    print(len(made.asm["cubin"]) > 0, "fma.rn.f64" in made.asm["ptx"])
"""
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": cache}
            p = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, env=environment)
        self.assertEqual((p.stdout, p.returncode), ("True False\n" * 6, 0), p.stderr)


def made_signed(name: str, dtype: Any) -> Any:
    """The dtype that torch has for the numbers of a column; of bfloat16 for the bits."""
    return np.dtype("int16" if name.endswith("/half") else {"uint16": "int32", "uint32": "int64", "uint64": "int64"}.get(str(dtype), dtype))


if __name__ == "__main__":
    unittest.main()
