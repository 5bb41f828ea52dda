"""Wrong types in every parameter of every public call: the errors are the client's own, which say what was found and expected.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import tempfile
import unittest
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import graphmill
import made
import numpy as np
from graphmill import (
    BatchIter,
    Collection,
    EventLoader,
    GraphmillError,
    GroupBatchIter,
    NodeLoader,
    PackedLoader,
    Store,
    _keywords,
    from_arrays,
    from_tables,
    run,
)

WRONG = [
    None, True, 3, -1, 1.5, float("nan"), "zzz", "", "8", b"x", [], ["a", None], {}, {"a": 1}, object(), np.zeros(3), np.zeros((0, 2)),
    np.array(["x", "y"], dtype=object), (1,), {1, 2}, print, np.int64(5), 10**19,
]  # fmt: skip
ITEMS = np.arange(10)


@functools.lru_cache(None)
def small() -> Store:
    r = np.random.default_rng(1)
    buys = {"edge_index": np.stack([r.integers(0, 50, 400), r.integers(0, 30, 400)]), "w": r.random(400), "time": np.arange(400)}
    return from_arrays({"user": {"born": np.arange(50)}, "item": {"made": np.arange(30) % 7}}, {("user", "buys", "item"): buys})


def first(x: Any) -> None:
    """Begin to use what a call made, and close it."""
    try:
        if hasattr(x, "__next__") or isinstance(x, (BatchIter, EventLoader, GroupBatchIter, NodeLoader, PackedLoader)):
            next(iter(x), None)
    finally:
        getattr(x, "close", lambda: None)()


class TestWrongTypes(unittest.TestCase):
    def sweep(self, name: str, f: Callable[..., Any], given: Any = (), called: Sequence[str] = ()) -> int:
        """Give each parameter of f each wrong value, with ``given`` for the others; in the short form a third of the values, other ones for each parameter. Returns
        the number of errors, in the short form three times it."""
        errors = 0
        share = 1 if made.long(self, f"two thirds of the wrong values of {name}") else 3
        for at, p in enumerate(called or [p.name for p in inspect.signature(f).parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]):
            for v in WRONG[at % share :: share]:
                with self.subTest(call=name, parameter=p, value=repr(v)[:30]), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        first(f(**{**dict(given), p: v}))
                    except GraphmillError:
                        errors += 1
                    except (TypeError, ValueError, KeyError, FileNotFoundError) as e:
                        self.assertRegex(str(e), "found.*expected|expected.*found")
                        errors += 1
                    except ImportError:  # of a framework that is not installed
                        errors += 1
        return share * errors

    def test_iterators(self) -> None:
        def rows(
            array: Any = ITEMS,
            batch_size: Any = 2,
            shuffle: Any = True,
            seed: Any = 0,
            tail: Any = None,
            drop_last: Any = None,
            rank: Any = 0,
            world_size: Any = 1,
        ) -> BatchIter:
            return BatchIter(array, batch_size=batch_size, shuffle=shuffle, seed=seed, tail=tail, drop_last=drop_last, rank=rank, world_size=world_size)

        def groups(group_id: Any = ITEMS, array: Any = ITEMS, **options: Any) -> GroupBatchIter:
            return GroupBatchIter(group_id, array, **options)

        self.assertGreater(self.sweep("BatchIter", rows), 100)
        named = [p for p in inspect.signature(GroupBatchIter).parameters if p not in ("self", "arrays")]
        self.assertGreater(self.sweep("GroupBatchIter", groups, called=[*named, "array"]), 150)
        for x in (BatchIter(ITEMS, batch_size=2), GroupBatchIter(ITEMS, ITEMS)):
            self.assertGreater(self.sweep(type(x).__name__ + ".load_state_dict", x.load_state_dict), len(WRONG) - 1)

    def test_folders(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            out = os.path.join(d, "out")
            self.assertGreater(self.sweep("Store", Store), 18)
            subgraphs = os.path.join(d, "subgraphs")
            run("sample", small().path, fanout=2, seeds="user", direction="out", scope="seed", limit_seeds=5, out=subgraphs)
            self.assertGreater(self.sweep("Collection", Collection, {"path": subgraphs}), 30)
            graph = {"nodes": {"a": 3}, "edges": {("a", "r", "a"): np.zeros((2, 3), np.int64)}, "path": out, "overwrite": True}
            self.assertGreater(self.sweep("from_arrays", from_arrays, graph, ["nodes", "edges", "memory", "threads"]), 30)
            tables = {"nodes": {"a": {"id": [1, 2]}}, "edges": {("a", "r", "a"): {"src": [1], "dst": [2]}}, "path": out, "overwrite": True}
            self.assertGreater(self.sweep("from_tables", from_tables, tables, ["nodes", "edges", "ids", "ends"]), 30)
            self.assertGreater(self.sweep("PackedLoader", PackedLoader, {"layout": d, "collection": d}), 100)
            changed = from_arrays({"a": {"x": np.arange(3)}}, {("a", "r", "a"): np.zeros((2, 3), np.int64)}, os.path.join(d, "changed"))
            column = {"type_": "a", "name": "y", "values": lambda of: of["x"], "source": "x"}
            self.assertGreater(self.sweep("add_column", changed.add_column, column), 100)
            self.assertGreater(self.sweep("drop_column", changed.drop_column, {"type_": "a", "name": "none"}), 40)
            table = {"store": changed, "type_": "a", "arrays": {"x": np.arange(3)}, "out": os.path.join(d, "t.csv"), "overwrite": True}
            self.assertGreater(self.sweep("write_predictions", graphmill.write_predictions, table), 150)
            x = np.ones((3, 2))
            best = {"store": changed, "types": ("a", "a"), "scores": (x, x), "k": 2, "out": os.path.join(d, "top.csv"), "overwrite": True}
            self.assertGreater(self.sweep("write_top", graphmill.write_top, best), 150)
            if importlib.util.find_spec("torch"):
                self.assertGreater(self.sweep("inference", graphmill.inference, {"store": small(), "layers": [], "out": out}), 50)

    def test_run(self) -> None:
        self.assertGreater(self.sweep("run", lambda argument: run(argument)), 15)  # noqa: PLW0108  run has no named parameters
        self.assertGreater(self.sweep("run", lambda threads: run("info", small().path, threads=threads)), 5)

    def test_loader(self) -> None:
        store = small()
        options: dict[str, Any] = {"store": store, "fanout": [2], "batch_size": 8, "seeds": np.arange(20), "seed_type": "user", "direction": "out"}
        own = [p.name for p in inspect.signature(NodeLoader).parameters.values() if p.kind is not p.VAR_KEYWORD]
        self.assertGreater(self.sweep("NodeLoader", NodeLoader, options, own), 400)
        for word in [*_keywords.PyGWords.__annotations__, *_keywords._REFUSED, *_keywords._DGL]:
            left = {"input_nodes": ("seeds", "seed_type"), "edge_label_index": ("seeds", "seed_type"), "num_neighbors": ("fanout",)}.get(word, ())
            self.sweep("NodeLoader", NodeLoader, {k: v for k, v in options.items() if k not in left}, [word])
        with NodeLoader(**options) as loader:
            self.assertGreaterEqual(self.sweep("load_state_dict", loader.load_state_dict), len(WRONG))
            b = next(iter(loader))
            for x in (store, loader, b):
                for name, f in inspect.getmembers(type(x), inspect.isfunction):
                    if name.startswith("_") or name == "close":
                        continue
                    parameters = list(inspect.signature(f).parameters.values())[1:]
                    for p in parameters:
                        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD) and all(q is p or q.default is not q.empty for q in parameters):
                            self.sweep(f"{type(x).__name__}.{name}", getattr(x, name), called=[p.name])

    def test_events(self) -> None:
        options: dict[str, Any] = {"store": small(), "batch_size": 100, "neighbors": 2}
        self.assertGreater(self.sweep("EventLoader", EventLoader, options), 200)
        with EventLoader(**options) as loader:
            self.assertGreaterEqual(self.sweep("load_state_dict", loader.load_state_dict), len(WRONG))
            self.sweep("set_epoch", loader.set_epoch)

    def test_of_the_issue(self) -> None:
        wrong: Any = None
        with NodeLoader(small(), fanout=[2], seed_type="user", direction="out") as loader:
            with self.assertRaisesRegex(TypeError, r"found state=None, expected the result of state_dict\(\)"):
                loader.load_state_dict(wrong)
        wrong = "8"
        with self.assertRaisesRegex(TypeError, "found batch_size='8', expected an integer"):
            NodeLoader(small(), fanout=[2], batch_size=wrong, seed_type="user")
        with self.assertRaisesRegex(TypeError, "found batch_size='8', expected an integer"):
            BatchIter(ITEMS, batch_size=wrong)


class TestFolderStaysInside(unittest.TestCase):
    """A store whose files lie elsewhere, or are no files, is refused by the client as by the command."""

    def test_links_and_pipes(self) -> None:
        def link(f: str, d: str) -> None:
            os.rename(f, os.path.join(d, "kept"))
            os.symlink(os.path.join(d, "kept"), f)

        def pipe(f: str, d: str) -> None:
            os.remove(f)
            os.mkfifo(f)

        for change, want in ((link, "symbolic link"), (pipe, "pipe or device")):
            for name in ("graph.json", "manifest.json", "edges/user+buys+item/far.npy"):
                with tempfile.TemporaryDirectory() as d:
                    out = os.path.join(d, "s")
                    from_arrays({"user": 3}, {("user", "buys", "user"): np.zeros((2, 2), np.int64)}, out).close()
                    file = os.path.join(out, name.replace("item", "user"))
                    change(file, d)
                    with self.assertRaisesRegex(GraphmillError, want):
                        Store(out)


if __name__ == "__main__":
    unittest.main()
