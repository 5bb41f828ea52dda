"""MixedLoader: batches of several loaders, each as it is alone.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with debian.store.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import unittest
from typing import Any

import made
import numpy as np
from graphmill import MixedLoader, NodeLoader, from_tables


def loaders(**options: Any) -> dict[str, NodeLoader]:
    """Loaders of nodes of two types and of links, of several lengths, the last with one batch."""
    more: dict[str, Any] = {**dict(fanout=[2], features="none", shuffle=True, seed=3), **options}
    return {
        "package": NodeLoader(made.DEBIAN, seeds="package", batch_size=300, **more),
        "tag": NodeLoader(made.DEBIAN, seeds="tag", batch_size=100, **more),
        "link": NodeLoader(made.DEBIAN, seeds="package:has_tag:tag", batch_size=5000, negatives=1, **more),
        "source": NodeLoader(made.DEBIAN, seeds="source", batch_size=100_000, **more),
    }


def flat(b: Any) -> list[Any]:
    return [b.number, b.input_id.tolist(), {t: x.tolist() for t, x in b.n_id.items()}]


def share_law(counts: list[int]) -> list[int]:
    """The order "proportion": batch j of n of a loader stands at (j + 1/2) / n; equal places in the order of the loaders."""
    places = sorted(((2 * j + 1) / (2 * n), i) for i, n in enumerate(counts) for j in range(n))
    return [i for _, i in places]


def turns_law(counts: list[int]) -> list[int]:
    return [i for _, i in sorted((j, i) for i, n in enumerate(counts) for j in range(n))]


class TestMixed(unittest.TestCase):
    def test_batches(self) -> None:
        """Over two epochs, each loader's batches are those that it makes alone; and the orders are their laws."""
        alone: dict[str, list[Any]] = {}
        for name, x in loaders().items():
            with x:
                alone[name] = [[flat(b) for b in x] for _ in range(2)]
        names, counts = list(alone), [len(x[0]) for x in alone.values()]
        self.assertGreater(len(set(counts)), 2)
        for order, law in (("proportion", share_law), ("turns", turns_law)):
            with self.subTest(order), MixedLoader(loaders(), order) as mixed:
                self.assertEqual(len(mixed), sum(counts))
                for epoch in range(2):
                    seen = [(name, flat(b)) for name, b in mixed]
                    self.assertEqual([name for name, _ in seen], [names[i] for i in law(counts)])
                    for name in names:
                        self.assertEqual([b for n, b in seen if n == name], alone[name][epoch])

    def test_laws(self) -> None:
        """The orders of any numbers of batches, some 0."""
        rng = np.random.default_rng(1)
        mixed = MixedLoader.__new__(MixedLoader)
        for _ in range(200):
            counts = rng.integers(0, 9, rng.integers(1, 5)).tolist()
            for order, law in (("proportion", share_law), ("turns", turns_law)):
                mixed.order, taken, got = order, [0] * len(counts), []
                while (i := mixed._next(taken, counts)) is not None:
                    taken[i] += 1
                    got.append(i)
                self.assertEqual(got, law(counts), (order, counts))

    def test_states(self) -> None:
        """From any batch on, a pass continues as it was; a pass that is left begins the next epoch."""
        with MixedLoader(loaders()) as mixed:
            want = [[(name, flat(b)) for name, b in mixed] for _ in range(2)]
            for stop in (1, 2, len(want[0]) // 2, len(want[0]) - 1, len(want[0])):
                mixed.set_epoch(0)
                for at, _ in enumerate(mixed, 1):
                    if at == stop:
                        break
                state = json.loads(json.dumps(mixed.state_dict()))
                self.assertEqual([(name, flat(b)) for name, b in mixed], want[1])  # the pass that was left is over
                with MixedLoader(loaders()) as other:
                    other.load_state_dict(state)
                    self.assertEqual(other.state_dict(), state)
                    if stop < len(want[0]):
                        self.assertEqual([(name, flat(b)) for name, b in other], want[0][stop:])
                    self.assertEqual([(name, flat(b)) for name, b in other], want[1])
            with MixedLoader(loaders(), "turns") as other, self.assertRaisesRegex(ValueError, "found order 'proportion', expected 'turns'"):
                other.load_state_dict(state)
            few = loaders()
            few.pop("tag").close()
            with MixedLoader(few) as other, self.assertRaisesRegex(ValueError, "found loaders .*'tag'.*, expected"):
                other.load_state_dict(state)

    def test_ranks(self) -> None:
        """Two ranks take the same turns, and together the batches of both."""
        parts = []
        for rank in range(2):
            with MixedLoader(loaders(rank=rank, world_size=2, share=False)) as mixed:
                parts.append([(name, b.number) for name, b in mixed])
        self.assertEqual([name for name, _ in parts[0]], [name for name, _ in parts[1]])
        self.assertFalse(set(parts[0]) & set(parts[1]))

    def test_errors(self) -> None:
        with NodeLoader(made.DEBIAN, fanout=[1], seeds="tag", features="none") as x:
            for given, error, words in (
                ([x], TypeError, "expected a dict"),
                ({"a": 1}, TypeError, "found loaders that are no NodeLoaders"),
                ({}, ValueError, "found no loader"),
                ({"a": x, "b": x}, ValueError, "a loader under two names"),
            ):
                with self.subTest(words), self.assertRaisesRegex(error, words):
                    MixedLoader(given)  # type: ignore[arg-type]
            with self.assertRaisesRegex(ValueError, "order"):
                MixedLoader({"a": x}, "random")


@functools.lru_cache(None)
def shop() -> Any:
    """Users with texts as ids, items with integers, and tags with the numbers of the rows."""
    rng = np.random.default_rng(4)
    users, items = [f"u{i}" for i in range(40)], rng.permutation(900)[:60]
    edges: dict[Any, Any] = {
        ("user", "buys", "item"): {"src": [users[i] for i in rng.integers(0, 40, 300)], "dst": items[rng.integers(0, 60, 300)], "at": np.arange(300)},
        ("item", "has", "tag"): {"src": items[rng.integers(0, 60, 80)], "dst": rng.integers(0, 9, 80), "at": np.arange(80)},
    }
    return from_tables({"user": {"id": users}, "item": {"id": items}, "tag": 9}, edges)


def rows_of(rng: np.random.Generator, n: int) -> dict[str, list[Any]]:
    """A random table of seeds."""
    store = shop()
    known = {"user": store.nodes["user"].ids.tolist(), "item": store.nodes["item"].ids.tolist(), "tag": list(range(9))}
    table: dict[str, list[Any]] = {"label": list(range(n)), "type": [], "id": [], "source": [], "target": [], "time": rng.integers(0, 300, n).tolist()}
    for _ in range(n):
        kind = str(rng.choice(["user", "item", "tag", "buys", "user:buys:item", "item:has:tag", "user:likes:tag"]))
        full = "user:buys:item" if kind == "buys" else kind
        ends = [full.split(":")[0], full.split(":")[-1]]
        picked = [known[t][rng.integers(len(known[t]))] for t in ends]
        table["type"].append(kind)
        table["id"].append(str(picked[0]) if ":" not in full else None)
        table["source"].append(str(picked[0]) if ":" in full else None)
        table["target"].append(int(picked[1]) if ":" in full else None)
    return table


class TestTables(unittest.TestCase):
    """Seeds of several types from one table."""

    def check(self, table: dict[str, list[Any]], given: Any, **options: Any) -> None:
        """Batches are those of loaders of each type alone, of the nodes that the ids stand for, and name the rows of the table."""
        store, rows = shop(), len(table["type"])
        full = ["user:buys:item" if t == "buys" else t for t in table["type"]]
        seen: list[int] = []
        with MixedLoader.from_table(store, given, batch_size=7, fanout=[3, 2], seed=5, shuffle=True, **options) as mixed:
            self.assertEqual(list(mixed.loaders), list(dict.fromkeys(full)))
            batches = list(mixed)
        for name in dict.fromkeys(full):
            at = [i for i in range(rows) if full[i] == name]
            more: dict[str, Any] = {**{k: v for k, v in options.items() if k not in ("times", "each")}, **options.get("each", {}).get(name, {})}
            if "times" in options:
                more["seed_time"] = np.array([table["time"][i] for i in at])
            if ":" in name:
                more["seed_type"] = tuple(name.split(":"))
                ends = [[table[c][i] for i in at] for c in ("source", "target")]
                more["seeds"] = np.stack([store.nodes[t].find(ids) for t, ids in zip((name.split(":")[0], name.split(":")[2]), ends)])
            else:
                more.update(seed_type=name, seeds=store.nodes[name].find([table["id"][i] for i in at]))
            with NodeLoader(store, batch_size=7, fanout=[3, 2], seed=5, shuffle=True, **more) as alone:
                want = list(alone)
            got = [b for n, b in batches if n == name]
            self.assertEqual(len(got), len(want))
            for b, w in zip(got, want):
                self.assertEqual(b.input_id.tolist(), [at[i] for i in w.input_id])
                self.assertEqual(flat(b)[2], flat(w)[2])
                self.assertEqual((b.seed_time is None) or b.seed_time.tolist(), (w.seed_time is None) or w.seed_time.tolist())
                seen += b.input_id.tolist()
        self.assertEqual(sorted(seen), list(range(rows)))

    def test_random(self) -> None:
        rng = np.random.default_rng(8)
        for n in (1, 2, 30, 200):
            table = rows_of(rng, n)
            with self.subTest(n):
                self.check(table, table)
                self.check(table, {k: np.array(x) if None not in x else x for k, x in table.items()}, times="time", before="at", scope="seed")
        each = {"user:buys:item": {"negatives": 2, "edge_label": list(range(sum(t in ("buys", "user:buys:item") for t in table["type"])))}}
        self.check(table, table, each=each)

    def test_data_frames(self) -> None:
        """Tables of pandas, polars and Arrow, those that are installed."""
        table = rows_of(np.random.default_rng(9), 60)
        for library, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
            try:
                of = importlib.import_module(library)
            except ImportError:
                continue
            with self.subTest(library):
                self.check(table, getattr(of, make)(table), times="time", before="at", scope="seed")

    def test_labels_of_links(self) -> None:
        """Labels of links are in the order of their rows."""
        table = {
            "type": ["tag", "buys", "buys", "tag"],
            "id": [3, None, None, 4],
            "source": [None, "u7", "u5", None],
            "target": [None, *shop().nodes["item"].ids[:2].tolist(), None],
        }
        each = {"buys": {"edge_label": [50, 60]}}
        with MixedLoader.from_table(shop(), table, fanout=[1], batch_size=1, each=each) as mixed:
            found = {int(b.input_id[0]): b.links["edge_label"].tolist() for name, b in mixed if name == "user:buys:item"}
        self.assertEqual(found, {1: [50], 2: [60]})

    def test_times(self) -> None:
        """Times of a table, in the unit of the table, for edges whose times have one."""
        when = np.array(["2024-01-01", "2024-01-03"], "datetime64[s]")
        store = from_tables({"a": 3, "b": 2}, {("a", "to", "b"): {"src": [0, 1], "dst": [0, 0], "at": when}})
        table: dict[str, Any] = {"type": ["b", "a"], "id": [0, 2], "at": np.array(["2024-01-02", "2024-01-05"], "datetime64[D]")}
        with MixedLoader.from_table(store, table, times="at", before="at", scope="seed", fanout=[-1]) as mixed:
            found = {name: b.n_id["a"].tolist() for name, b in mixed}
        self.assertEqual(found, {"b": [0], "a": [2]})
        table["at"] = np.array(["2024-01-02", "NaT"], "datetime64[D]")
        with self.assertRaisesRegex(ValueError, "table: row 1, column 'at': found a missing value"):
            MixedLoader.from_table(store, table, times="at", before="at", scope="seed", fanout=[-1])

    def test_bad_tables(self) -> None:
        """What a table lacks or has wrong is named with its row; no feed is left."""
        table: dict[str, Any] = {
            "type": ["user", "buys", "tag", "item:has:tag"],
            "id": ["u1", None, 3, None],
            "source": [None, "u2", None, str(shop().nodes["item"].ids[0])],
        }
        table.update(id=["u1", None, "3", None], target=[None, int(shop().nodes["item"].ids[5]), None, 8], time=[1, 2, 3, 4])
        plain: dict[str, Any] = {"fanout": [1]}
        with MixedLoader.from_table(shop(), table, **plain) as mixed:
            self.assertEqual(len(mixed), 4)
        cases: list[tuple[dict[str, Any], dict[str, Any], type[Exception], str]] = [
            (
                {"type": ["user", "buy", "tag", "item:has:tag"]},
                {},
                ValueError,
                "table: row 1, column 'type': found 'buy', expected a node type or an edge type.*did you mean buys",
            ),
            ({"type": ["user", "buys", "tag", "item:has:tags"]}, {}, ValueError, "table: row 3, column 'type': found 'item:has:tags', expected node types"),
            (
                {"type": ["user", "user:buy:item", "tag", "item:has:tag"]},
                {},
                ValueError,
                "row 1, column 'type': found links of the edge type user:buy:item.*give 'user:item'",
            ),
            ({"type": ["user", None, "tag", "item:has:tag"]}, {}, ValueError, "table: row 1, column 'type': found a missing value"),
            ({"type": [1, 2, 3, 4]}, {}, TypeError, "table: column 'type': found int64 .*, expected texts"),
            ({"id": ["u1", None, "99", None]}, {}, ValueError, "table: row 2, column 'id': tag: found id '99', expected 0 to 8"),
            ({"id": ["u99", None, "3", None]}, {}, ValueError, "table: row 0, column 'id': user: found no node with the id 'u99'"),
            ({"id": ["u1", None, None, None]}, {}, ValueError, "table: row 2, column 'id': found a missing value"),
            ({"id": [1.5, None, 3, None]}, {}, ValueError, "table: row 0, column 'id': found 1.5, expected an original id of user"),
            ({"id": [True, False, True, True]}, {}, TypeError, "table: column 'id': found bool"),
            ({"target": [None, None, None, 8]}, {}, ValueError, "table: row 1, column 'target': found a missing value"),
            ({"target": [None, 1, None, 9]}, {}, ValueError, "table: row 1, column 'target': item: found no node with the id 1"),
            ({"time": [1, 2]}, {}, ValueError, "table: found columns of several lengths, .*time: 2"),
            ({"time": ["a", "b", "c", "d"]}, {"times": "time"}, TypeError, "table: column 'time': found string"),
            (
                {"time": [1.0, None, 3.0, 4.0]},
                {"times": "time", "before": "at", "scope": "seed"},
                ValueError,
                "table: row 1, column 'time': found a missing value",
            ),
            ({k: [] for k in table}, {}, ValueError, "found no row"),
            ({}, {"types": "kind"}, KeyError, "expected 'kind' among them"),
            ({}, {"times": "when"}, KeyError, "expected 'when' among them"),
            ({}, {"ends": "source"}, TypeError, "found ends='source'"),
            ({}, {"ids": 3}, TypeError, "found ids=3, expected the name of a column"),
            ({}, {"seeds": "user"}, TypeError, "found seeds=, expected it not"),
            ({}, {"each": {"user": {"seed_time": 3}}}, TypeError, "found seed_time=, expected it not"),
            ({}, {"each": {"item": {}}}, ValueError, "each: found 'item', of which the table has no row"),
            ({}, {"each": {"users": {}}}, ValueError, "each: found 'users', expected a node type"),
            ({}, {"each": {"user": 3}}, TypeError, "each\\['user'\\]"),
            ({}, {"order": "random"}, ValueError, "order"),
            ({}, {"batch_sise": 3}, TypeError, "batch_sise"),
        ]
        for change, options, error, words in cases:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                MixedLoader.from_table(shop(), {**table, **change}, **{**plain, **options})
        again = {"type": ["tag", "user", "user", "user"], "id": ["1", "u4", "u3", "u4"]}
        if importlib.util.find_spec("torch_geometric"):
            with self.assertRaisesRegex(ValueError, "^row 3 of the table: found node 4 again, which is row 1 of the table, expected each once"):
                MixedLoader.from_table(shop(), again, as_="pyg", **plain)
        with self.assertRaisesRegex(TypeError, "expected a table of pandas"):
            MixedLoader.from_table(shop(), 3, **plain)


if __name__ == "__main__":
    unittest.main()
