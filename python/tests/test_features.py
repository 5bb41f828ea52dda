"""Features: what a loader and a store give of them, what their numbers are, and their state applied to other tables.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import tempfile
import unittest
import warnings
from typing import Any, ClassVar

import graphmill
import numpy as np
from graphmill import GraphmillError, NodeLoader, Store
from graphmill._features import Piece, bfloat16_bits

N, M = 300, 2000

X = [
    {"from": "age", "impute": "median", "scale": "standard", "flag": True},
    {"from": "city", "encode": "one-hot", "least": 2},
    {"from": "income", "scale": "normal-quantiles"},
    {"from": "tags", "encode": "multi-hot", "separator": ";"},
    {"from": "joined", "encode": "calendar", "parts": ["year", "weekday-cycle"], "scale": "min-max"},
]
FEATURES: dict[Any, Any] = {
    "user": {
        "x": X,
        "city_code": {"from": "city", "encode": "code"},
        "half": {"dtype": "float16", "parts": X},
        "brain": {"dtype": "bfloat16", "parts": X[:2]},
        "wide": [{"from": "city", "encode": "one-hot"}],
    },
    "item": {"level": {"from": "price", "encode": "buckets", "count": 4, "by": "rows"}},
    ("user", "buys", "item"): {"e": [{"from": "amount", "scale": "log"}, {"from": "kind", "encode": "one-hot"}]},
}


def tables(seed: int = 7) -> tuple[dict[str, Any], dict[Any, Any]]:
    """Users with gaps, 60 cities and 70 tags; items; edges with 50 kinds."""
    r = np.random.default_rng(seed)
    users = {
        "id": [f"u{i}" for i in range(N)],
        "age": np.where(r.random(N) < 0.1, np.nan, r.integers(18, 80, N)),
        "income": r.lognormal(size=N),
        "city": [f"city {i}" if i < 60 else "" for i in r.integers(0, 63, N)],
        "tags": [";".join(f"t{k}" for k in r.integers(0, 70, r.integers(0, 4))) for _ in range(N)],
        "joined": np.datetime64("2012-01-01", "s") + r.integers(0, 300_000_000, N),
        "height": r.random(N).astype("float32"),
        "split": r.random(N),
    }
    items = {"id": np.arange(50), "price": r.lognormal(size=50), "weight": r.random(50)}
    buys = {
        "src": [f"u{i}" for i in r.integers(0, N, M)],
        "dst": r.integers(0, 50, M),
        "amount": r.integers(1, 9, M),
        "kind": [f"k{i}" for i in r.integers(0, 50, M)],
    }
    return {"user": users, "item": items}, {("user", "buys", "item"): buys}


@functools.lru_cache(None)
def store() -> Store:
    return graphmill.from_tables(*tables(), features=FEATURES, both=True)


def state(of: Store) -> dict[str, Any]:
    with open(os.path.join(of.path, "features.json")) as f:
        return dict(json.load(f))


def quiet(**options: Any) -> NodeLoader:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return NodeLoader(store(), **{**dict(fanout=[4, 3], batch_size=32, seed_type="item", shuffle=True, features="none", as_="numpy"), **options})


class TestBatches(unittest.TestCase):
    def test_all_features(self) -> None:
        """Of both executors, x has the features and the columns that no feature is made of, in the order of their names."""
        users, edges = store().nodes["user"].columns, store().edges["buys"]
        want = np.concatenate([np.asarray(users.column(n)).reshape(N, -1) for n in ("brain", "half", "height", "wide", "x")], 1, dtype=np.float64)
        for executor in ("memory", "stream"):
            with quiet(x={"user": ["brain", "half", "height", "wide", "x"], "item": "*"}, edge_attr="*", executor=executor) as batches:
                seen = 0
                for b in batches:
                    got = b.x["user"]["x"]
                    np.testing.assert_array_equal(got, want[b.n_id["user"]].astype(got.dtype))
                    self.assertEqual(b.x["item"]["x"].shape[1], 1)  # weight: level is a code, and price its source
                    e = b.edge_attr["user", "buys", "item"]["edge_attr"]
                    np.testing.assert_array_equal(e, edges.columns["e"][edges.find(b.e_id["user", "buys", "item"])])
                    seen += len(got)
                self.assertGreater(seen, 0)

    def test_star(self) -> None:
        with quiet(x={"user": ["x", "height"]}, edge_attr={"buys": "*"}) as named, quiet(x="*") as star:
            a, b = next(iter(named)), next(iter(star))
            width = store().features("user")
            self.assertEqual(a.x["user"]["x"].shape[1], width["x"].width + 1)
            self.assertEqual(b.x["user"]["x"].shape[1], sum(width[n].width for n in ("brain", "half", "wide", "x")) + 2)  # height and split
            self.assertTrue(np.isfinite(b.x["user"]["x"].astype(float)).all())

    def test_named_features(self) -> None:
        """A feature of several columns is named like any column, and "all" has it."""
        for features in (["user/x", "city_code"], "all"):
            with quiet(features=features) as batches:
                b = next(iter(batches))
                for name in ("x", "city_code"):
                    np.testing.assert_array_equal(b.x["user"][name], np.asarray(store().nodes["user"][name])[b.n_id["user"]])
                self.assertEqual("half" in b.x["user"], features == "all")

    def test_codes_are_no_numbers(self) -> None:
        with self.assertRaisesRegex(ValueError, "found 'city_code' in x=, a column of codes, expected columns of numbers"):
            quiet(x={"user": ["city_code"]})

    def test_no_pieces_are_shown(self) -> None:
        self.assertNotIn("#", repr(store().nodes["user"]))
        with self.assertRaisesRegex(ValueError, "found 'z' in x="):
            quiet(x={"user": ["z"]})


class TestStore(unittest.TestCase):
    def test_names_and_widths(self) -> None:
        of = store().features("user")
        self.assertEqual(list(of), ["brain", "city_code", "half", "wide", "x"])
        x = of["x"]
        self.assertEqual(x.width, np.asarray(store().nodes["user"]["x"]).shape[1])
        self.assertEqual(x.names[:3], ["age", "age flag", "city=city 0"])
        self.assertEqual(x.names[-3:], ["joined year", "joined weekday-cycle sine", "joined weekday-cycle cosine"])
        self.assertEqual(of["city_code"].codes, 61)
        self.assertEqual(store().features(("user", "buys", "item"))["e"].sources, ["amount", "kind"])
        self.assertEqual(store().features("item")["level"].codes, 5)

    def test_inverse(self) -> None:
        users, x = tables()[0]["user"], store().features("user")["x"]
        back = x.inverse(store().nodes["user"]["x"])
        age = np.where(np.isnan(users["age"]), np.nanmedian(users["age"]), users["age"])
        np.testing.assert_allclose(back["age"], age, rtol=1e-5)
        np.testing.assert_allclose(np.sort(back["income"]), np.sort(users["income"]), rtol=0.02)
        self.assertTrue(all(a in (b or None, "") for a, b in zip(back["city"], users["city"])))
        self.assertEqual([sorted(t) for t in back["tags"]], [sorted({*t.split(";")} - {""}) for t in users["tags"]])
        self.assertNotIn("joined", back)
        codes = store().features("user")["city_code"].inverse(store().nodes["user"]["city_code"])
        self.assertEqual(codes, {"city": users["city"]})
        with self.assertRaisesRegex(ValueError, r"found values of shape \[2, 3\], expected \[rows\] x"):
            x.inverse(np.zeros((2, 3)))

    def test_rows_of_wide_columns(self) -> None:
        for name in ("x", "half", "brain", "wide"):
            c = store().nodes["user"].columns.column(name)
            every = c.values
            np.testing.assert_array_equal(c[5], every[5])
            np.testing.assert_array_equal(c[3:9].values, every[3:9])
            np.testing.assert_array_equal(c.take(np.array([7, 2, 7])).values, every[[7, 2, 7]])
        half, full = np.asarray(store().nodes["user"]["half"]), np.asarray(store().nodes["user"]["x"])
        np.testing.assert_allclose(half, full, rtol=1e-3, atol=1e-3)

    def test_whole_graphs(self) -> None:
        nodes, edges = store().to_arrays()
        np.testing.assert_array_equal(nodes["user"]["x"], store().nodes["user"]["x"])
        self.assertEqual(len(edges["user", "buys", "item"]["e"]), M)


class TestLike(unittest.TestCase):
    def test_same_tables_give_the_same_bytes(self) -> None:
        again = graphmill.from_tables(*tables(), like=store(), both=True)
        for kind in ("nodes", "edges"):
            for t, of in getattr(store(), kind).items():
                other = getattr(again, kind)[t]
                for name in of.columns:
                    self.assertEqual(np.asarray(of.columns.column(name).values).tobytes(), np.asarray(other.columns.column(name).values).tobytes(), (t, name))
        self.assertEqual(state(store()), state(again))

    def test_new_tables(self) -> None:
        """What is fitted stays; a text that is new is one of the others."""
        nodes, edges = tables(8)
        nodes["user"]["city"] = ["Atlantis"] * N
        new = graphmill.from_tables(nodes, edges, like=store())
        names = store().features("user")["x"].names
        x = np.asarray(new.nodes["user"]["x"])
        np.testing.assert_array_equal(x[:, names.index("city other")], 1)
        self.assertEqual(set(new.nodes["user"]["city_code"]), {0})
        of = state(store())["nodes"]["user"]["features"]["x"]["parts"][0]["numbers"][0]
        age = np.where(np.isnan(nodes["user"]["age"]), of["fill"], nodes["user"]["age"])
        np.testing.assert_array_equal(x[:, 0], ((age - of["center"]) / of["by"]).astype("float32"))

    def test_refused(self) -> None:
        nodes, edges = tables()
        gone = {**nodes["user"]}
        del gone["tags"]
        plain = graphmill.from_tables(*tables())
        times = {**nodes["user"], "age": nodes["user"]["joined"]}
        for of, like, text in (
            (gone, store(), 'feature user/half, tags: found no column "tags", expected one of .*'),
            (times, store(), "feature user/brain, age: found a column of times, expected numbers"),
            (nodes["user"], plain, "found a store without features, expected one that was imported with features"),
        ):
            with self.subTest(text), self.assertRaisesRegex(GraphmillError, text):
                graphmill.from_tables({**nodes, "user": of}, edges, like=like)


class TestStructures(unittest.TestCase):
    KINDS = ("degree", "log-degree", "pagerank", "core-number", "clustering", "component-size")

    def make(self, **options: Any) -> Store:
        nodes, edges = tables()
        parts = [{"structure": k} for k in self.KINDS] + [
            {"structure": "degree", "typed": True},
            {"structure": "random-walk-pe", "steps": 4},
            {"structure": "laplacian-pe", "dims": 2},
        ]
        return graphmill.from_tables(nodes, edges, **{"features": {"user": {"s": parts}, "item": {"s": [{"structure": "degree"}]}}, **options})

    def test_degrees(self) -> None:
        """Degrees are counted as NumPy counts; with a split of the edges only the edges of the fit are."""
        _, edges = tables()
        source = np.array([int(u[1:]) for u in edges["user", "buys", "item"]["src"]])
        for options in ({}, {"split": "user:buys:item=0.5,0.2,0.3"}):
            s = self.make(**options)
            buys = s.edges["buys"]
            part = np.asarray(buys["split"])[np.argsort(buys["#input_position"])] if options else np.zeros(M)
            degree = np.bincount(source[part == 0], minlength=N)
            x = np.asarray(s.nodes["user"]["s"])
            self.assertEqual(x.shape[1], len(self.KINDS) + 1 + 4 + 2)
            np.testing.assert_array_equal(x[:, 0], degree)
            np.testing.assert_allclose(x[:, 1], np.log1p(degree), rtol=1e-6)
            np.testing.assert_array_equal(x[:, len(self.KINDS)], degree)
            self.assertTrue(np.isfinite(x).all())
            self.assertLess(np.asarray(s.nodes["item"]["s"]).sum(), M + 1)
        self.assertEqual(s.features("user")["s"].names[:3], ["degree both", "log-degree both", "pagerank"])
        self.assertEqual(s.features("user")["s"].names[-7:-2], ["degree user:buys:item out"] + [f"random-walk-pe step {k}" for k in (1, 2, 3, 4)])

    def test_like(self) -> None:
        s = self.make()
        again = graphmill.from_tables(*tables(), like=s)
        np.testing.assert_array_equal(np.asarray(s.nodes["user"]["s"]), np.asarray(again.nodes["user"]["s"]))

    def test_refused(self) -> None:
        for features, text in (
            ({"user": {"s": [{"structure": "degrees"}]}}, 'found structure "degrees", expected .*did you mean "degree"'),
            ({"user": {"s": [{"structure": "degree", "steps": 3}]}}, "found steps in structure degree, expected none"),
            ({"user": {"s": [{"structure": "degree", "from": "age"}]}}, "found structure degree with a column"),
            ({"user": {"s": [{"from": "income", "steps": 3}]}}, "found steps without structure, expected one of degree"),
            ({"user": {"s": [{"structure": "pagerank", "edges": ["sells"]}]}}, 'found edge type "sells", expected one of user:buys:item'),
            (
                {("user", "buys", "item"): {"s": [{"structure": "degree"}]}},
                "feature user:buys:item/s, degree: found structure degree of edges, expected it of nodes",
            ),
        ):
            with self.subTest(text), self.assertRaisesRegex(GraphmillError, text):
                self.make(features=features)


class TestBits(unittest.TestCase):
    """Features of which the store has a code of 8 or 4 bits per number."""

    PARTS: ClassVar[list[Any]] = [
        {"from": "vector"},
        {"from": "age", "impute": "median", "scale": "standard", "flag": True},
        {"from": "city", "encode": "one-hot"},
        {"from": "level", "encode": "one-hot"},
        {"from": "income", "scale": "normal-quantiles"},
    ]

    @classmethod
    @functools.lru_cache(None)
    def make(cls) -> Store:
        """Each dtype in both sizes of codes, and the same without codes; vectors of 3 numbers, and a part of the users as the fit."""
        nodes, edges = tables()
        r = np.random.default_rng(5)
        nodes["user"] |= {"vector": r.normal(size=(N, 3)).astype("f4"), "level": r.choice(["low", "high"], N).tolist()}
        nodes["user"]["vector"][:, 2] = 2.5
        del nodes["user"]["split"]
        edges["user", "buys", "item"]["vector"] = r.normal(size=(M, 5)).astype("f4")
        features: dict[Any, Any] = {
            "user": {f"{d}_{b}": {"bits": b, "dtype": d, "parts": cls.PARTS} for d in ("float32", "float16", "bfloat16") for b in (4, 8)},
            ("user", "buys", "item"): {"e": {"bits": 4, "norm": "l2", "parts": ["vector", "amount"]}},
        }
        features["user"]["whole"] = cls.PARTS
        return graphmill.from_tables(nodes, edges, features=features, split="user=0.6,0.2,0.2", both=True)

    def numbers(self, name: str) -> Any:
        """The numbers of a feature as float64."""
        return np.asarray(self.make().nodes["user"][name]).astype("f8")

    def test_error(self) -> None:
        """A number of the fit is at most half a step away, one outside has the bound, and one that is 0 or 1 comes back."""
        s, whole = self.make(), self.numbers("whole")
        fit = np.asarray(s.nodes["user"]["split"]) == 0
        least, greatest = whole[fit].min(0), whole[fit].max(0)
        binary = np.array([p.kind in ("flag", "text", "other", "missing") for p in s.features("user")["whole"].positions])
        half = {"float32": 2.0**-23, "float16": 2.0**-11, "bfloat16": 2.0**-8}
        for name in s.features("user"):
            if name == "whole":
                continue
            dtype, bits = name.split("_")
            x = self.numbers(name)
            np.testing.assert_array_equal(x[:, binary], whole[:, binary])
            most = (greatest - least) / (2 ** int(bits) - 1) / 2 + half[dtype] * np.maximum(abs(least), abs(greatest))
            self.assertTrue((abs(x - np.clip(whole, least, greatest)) <= most)[:, ~binary].all(), name)
            np.testing.assert_allclose(x[:, 2], 2.5)
            self.assertEqual((s.features("user")[name].bits, s.features("user")[name].dtype), (int(bits), dtype))
        self.assertIn("70 numbers in 8 bits of vector, age, city, level, income", repr(s.features("user")["float32_8"]))
        self.assertIsNone(s.features("user")["whole"].bits)

    def test_batches(self) -> None:
        """Rows of batches are those of the store, to the bit: alone, and beside each other in a wider dtype."""
        s = self.make()
        users, edges = s.nodes["user"], s.edges["buys"]
        names = list(s.features("user"))
        for executor in ("memory", "stream"):
            options: dict[str, Any] = dict(fanout=[4, 3], batch_size=32, seed_type="item", as_="numpy", executor=executor)
            with NodeLoader(s, features=names, edge_attr={"buys": "e"}, **options) as batches:
                for b in batches:
                    for name in names:
                        want = np.asarray(users.columns.column(name))[b.n_id["user"]]
                        self.assertEqual(b.x["user"][name].dtype, want.dtype)
                        np.testing.assert_array_equal(b.x["user"][name], want)
                    e = b.edge_attr["user", "buys", "item"]["edge_attr"]
                    np.testing.assert_array_equal(e, edges.columns["e"][edges.find(b.e_id["user", "buys", "item"])])
            with NodeLoader(s, features="none", x={"user": ["float16_4", "income", "float32_8", "float16_8"]}, **options) as batches:
                b = next(iter(batches))
                beside = [np.asarray(users[n]).reshape(N, -1)[b.n_id["user"]] for n in ("float16_4", "income", "float32_8", "float16_8")]
                np.testing.assert_array_equal(b.x["user"]["x"], np.concatenate(beside, 1, dtype=np.float64))

    def test_links(self) -> None:
        """Links that are edges of the store have the numbers of their features, in every form."""
        s = self.make()
        buys = s.edges["buys"]
        want = np.asarray(buys.columns["e"])
        options: dict[str, Any] = dict(fanout=[2], seeds="user:buys:item", batch_size=900)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # texts and lists are left out
            for executor in ("memory", "stream"):
                with NodeLoader(s, as_="numpy", executor=executor, **options) as batches:
                    for b in batches:
                        np.testing.assert_array_equal(b.links["e"], want[b.input_id])
                        self.assertFalse([name for name in b.links if name.startswith("#")])
            if importlib.util.find_spec("torch_geometric"):
                with NodeLoader(s, as_="pyg", **options) as batches:
                    for b in batches:
                        links = b["user", "buys", "item"]
                        np.testing.assert_array_equal(links.link_e, want[links.input_id])
            if importlib.util.find_spec("dgl"):
                with NodeLoader(s, as_="dgl", **options) as batches:
                    for _, pairs, _ in batches:
                        links = pairs.edges["buys"].data
                        np.testing.assert_array_equal(links["e"], want[links["input_id"]])

    def test_rows(self) -> None:
        for name in self.make().features("user"):
            c = self.make().nodes["user"].columns.column(name)
            every = c.values
            self.assertEqual((every.shape, c.fixed), ((N, 70), True))
            np.testing.assert_array_equal(c[5], every[5])
            np.testing.assert_array_equal(c[3:9].values, every[3:9])
            np.testing.assert_array_equal(c.take(np.array([7, 2, 7])).values, every[[7, 2, 7]])
            self.assertEqual(c.take(np.array([], int)).values.shape, (0, 70))
        nodes, edges = self.make().to_arrays()
        np.testing.assert_array_equal(nodes["user"]["float32_4"], self.make().nodes["user"]["float32_4"])
        buys = self.make().edges["buys"]
        np.testing.assert_array_equal(edges["user", "buys", "item"]["e"], np.asarray(buys["e"])[np.argsort(buys["#input_position"])])

    def test_inverse(self) -> None:
        s, users = self.make(), tables()[0]["user"]
        back = s.features("user")["float32_8"].inverse(s.nodes["user"]["float32_8"])
        age = np.where(np.isnan(users["age"]), np.nan, users["age"])
        self.assertLessEqual(
            np.nanmax(abs(back["age"] - np.clip(age, *[f(age[np.asarray(s.nodes["user"]["split"]) == 0]) for f in (np.nanmin, np.nanmax)]))), 62 / 510 + 1e-4
        )
        self.assertTrue(all(a in (b or None, "") for a, b in zip(back["city"], users["city"])))
        self.assertEqual(set(back["level"]), {"low", "high"})

    def test_one_row(self) -> None:
        """The bytes of a row do not depend on others: a table of one row has the numbers that the row has in the store."""
        s = self.make()
        nodes, _ = s.to_arrays()
        users = tables()[0]["user"]
        one = {k: v[7:8] for k, v in {**users, "vector": nodes["user"]["vector"], "level": nodes["user"]["level"]}.items()}
        buys = {"src": one["id"], "dst": [0], "amount": [1], "vector": np.zeros((1, 5), "f4")}
        alone = graphmill.from_tables({"user": one, "item": {"id": [0]}}, {("user", "buys", "item"): buys}, like=s)
        for name in s.features("user"):
            np.testing.assert_array_equal(alone.nodes["user"][name][0], s.nodes["user"][name][7])

    def test_bfloat16(self) -> None:
        """Numbers are rounded once: also those between two bfloat16 whose nearest float32 is their middle."""
        r = np.random.default_rng(3)
        x = np.concatenate([r.normal(size=2000) * np.exp(np.clip(r.normal(size=2000) * 40, -120, 80)), [0.0, 1.0, -2.5, 1e-45, -1e-60]])
        middle = (r.integers(0x0080, 0x7F00, 2000).astype("u4") << 16 | 0x8000).view("f4").astype("f8")
        x = np.concatenate([x, middle, middle * (1 + 2.0**-40), -middle * (1 - 2.0**-40)])
        bits = bfloat16_bits(x)
        values = {k: (bits + k).astype("u4") << 16 for k in (0, 1)} | {-1: (bits.astype("u4") - (bits & 0x7FFF > 0)) << 16}
        near = {k: abs(v.view("f4").astype("f8") - x) for k, v in values.items()}
        self.assertTrue((near[0] <= near[1]).all() and (near[0] <= near[-1]).all())
        tie = (near[0] == near[1]) | ((near[0] == near[-1]) & (bits & 0x7FFF > 0))
        self.assertTrue((bits[tie] & 1 == 0).all() and tie.sum() >= 2000)

    def test_refused(self) -> None:
        for bits, text in (
            (3, "found bits 3, expected 4 or 8"),
            (16, "found bits 16, expected 4 or 8"),
            ("low", "found bits low, expected 4 or 8"),
            (None, "found nothing, expected 4 or 8"),
        ):
            with self.subTest(text), self.assertRaisesRegex(GraphmillError, text):
                graphmill.from_tables(*tables(), features={"user": {"x": {"bits": bits, "parts": ["income"]}}})
        with self.assertRaisesRegex(GraphmillError, "found bits without a list of parts"):
            graphmill.from_tables(*tables(), features={"user": {"x": {"bits": 8, "from": "city", "encode": "code"}}})

    def test_damaged(self) -> None:
        """A range that is gone is an error that names the file."""
        changes: tuple[dict[str, Any], ...] = ({"least": []}, {"bits": 5}, {"width": 0})
        for change in changes:
            meta = {"column": "#x.0", "kind": "low-bit", "width": 1, "bits": 8, "least": [0.0], "greatest": [1.0], **change}
            with self.subTest(change), self.assertRaises(ValueError):
                Piece(meta, "float32")


class TestFit(unittest.TestCase):
    def make(self, **options: Any) -> Any:
        nodes, edges = tables()
        return graphmill.from_tables(nodes, edges, features={"user": {"x": [{"from": "income", "scale": "standard"}]}}, **options)

    def test_rows(self) -> None:
        users = tables()[0]["user"]
        early = users["joined"] < np.datetime64("2016-01-01")
        for rows, options in (
            (np.ones(N, bool), dict(fit="all")),
            (early, dict(fit={"before": "2016-01-01"})),
            (early, dict(fit={"before": "2016-01-01", "by": "joined"})),
        ):
            x = np.asarray(self.make(**options).nodes["user"]["x"])[:, 0]
            of = users["income"][rows]
            np.testing.assert_allclose(x, (users["income"] - of.mean()) / of.std(), rtol=1e-5, atol=1e-6)

    def test_split(self) -> None:
        nodes, edges = tables()
        del nodes["user"]["split"]
        nodes["item"]["income"] = nodes["item"]["price"]
        of: dict[Any, Any] = {t: {"x": [{"from": "income", "scale": "standard"}]} for t in ("user", "item")}
        for fit, part in ((None, 0), ({"split": "train"}, 0), ({"split": "test"}, 2)):
            s = graphmill.from_tables(nodes, edges, features=of, fit=fit, split="user=0.5,0.3,0.2", split_seed=3)
            for t, mask in (("user", np.asarray(s.nodes["user"]["split"]) == part), ("item", np.ones(50, bool))):
                income = np.asarray(nodes[t]["income"])
                x = np.asarray(s.nodes[t]["x"])[:, 0]
                np.testing.assert_allclose(x, (income - income[mask].mean()) / income[mask].std(), rtol=1e-5, atol=1e-6)

    def test_refused(self) -> None:
        for options, text in (
            (dict(fit={"split": "train"}), "fit of the split train: found no type with features and a split"),
            (dict(fit={"before": "1990-01-01"}), "found no row in the rows of times before 1990-01-01T00:00:00Z, expected at least one"),
            (dict(fit={"before": "soon"}), 'found the time "soon", expected a date'),
            (dict(fit={"until": 3}), 'found the key "until", expected one of split, before, by'),
        ):
            with self.subTest(text), self.assertRaisesRegex(GraphmillError, text):
                self.make(**options)
        with self.assertRaisesRegex(ValueError, "found fit= without a mapping as features="):
            graphmill.from_tables(*tables(), fit="all")

    def test_added_nodes(self) -> None:
        """Nodes that only edges name have zeros in their columns, which are no values of a fit."""
        nodes, edges = tables()
        edges["user", "buys", "item"]["src"][0] = "nobody"
        s = graphmill.from_tables(nodes, edges, features={"user": {"x": [{"from": "income", "scale": "standard"}]}}, dangling_edges="zeros")
        self.assertEqual(s.nodes["user"].count, N + 1)
        np.testing.assert_array_equal(np.asarray(s.nodes["user"]["x"])[:N], np.asarray(self.make(fit="all").nodes["user"]["x"]))
        self.assertEqual(state(s)["nodes"]["user"]["rows"], N)

    def test_file(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "features.yaml")
            with open(path, "w") as f:
                f.write("fit: all\nnodes:\n  user: {features: {x: [{from: income, scale: max-abs}]}}\n")
            nodes, edges = tables()
            s = graphmill.from_tables(nodes, edges, features=path)
            self.assertEqual(np.asarray(s.nodes["user"]["x"]).max(), 1)


if __name__ == "__main__":
    unittest.main()
