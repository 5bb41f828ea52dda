"""Compares NodeLoader's orders with the reference's definitions.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import json
import unittest
from collections.abc import Callable
from typing import Any

import made
import numpy as np
import numpy.typing as npt
from graphmill import GraphmillError, NodeLoader, Store
from made import law


def loader(**options: Any) -> NodeLoader:
    return NodeLoader(made.DEBIAN, **{**dict(fanout={"depends": [2]}, seed_type="package", batch_size=64, seed=3, features="none"), **options})


class TestOrders(unittest.TestCase):
    def setUp(self) -> None:
        package = Store(made.DEBIAN).nodes["package"]
        self.size, self.label, self.count = np.array(package["size"]), np.array(package["label"]), package.count

    def check(self, order: str, want: Callable[[int], list[int]], **options: Any) -> None:
        """The seeds of two epochs, and of three ranks, follow the draw law."""
        with loader(order=order, **options) as whole:
            self.assertEqual(len(whole), -(-len(want(0)) // 64))
            for epoch in range(2):
                self.assertEqual(sum((b.input_id.tolist() for b in whole), []), want(epoch))
            whole.set_epoch(5)
            for b in whole:
                self.assertEqual(b.n_id["package"][b.seed_local].tolist(), self.seeds(options)[b.input_id].tolist())
        for tail in ("fill", "drop"):
            ranks = law.ranks(law.batches(want(0), 64, tail == "drop"), 3, tail)
            for rank in range(3):
                with loader(order=order, rank=rank, world_size=3, tail=tail, **options) as part:
                    self.assertEqual([(b.number, b.input_id.tolist()) for b in part], ranks[rank])

    def seeds(self, options: dict[str, Any]) -> npt.NDArray[Any]:
        return np.asarray(options.get("seeds", np.arange(self.count)))

    def test_weighted(self) -> None:
        seeds = np.arange(5, 805)
        self.check("weighted:size", lambda e: law.weighted(3, e, self.size[seeds].astype(float).tolist(), len(seeds)), seeds=seeds)

    def test_stratified(self) -> None:
        seeds = np.arange(1, 701)
        _, classes = np.unique(self.label[seeds], return_inverse=True)
        self.check("stratified:label", lambda e: law.stratified(3, e, classes.tolist()), seeds=seeds)

    def test_windowed(self) -> None:
        self.check("windowed:50,4", lambda e: law.windowed(3, e, self.count, 50, 4))

    def test_resume(self) -> None:
        with loader(order="weighted:size") as a, loader(order="weighted:size") as b:
            want = [x.input_id.tolist() for x in a]
            for _ in zip(range(2), b):
                pass
            state = json.loads(json.dumps(b.state_dict()))
            b.load_state_dict(state)
            self.assertEqual([x.input_id.tolist() for x in b], want[2:])
        for same in (dict(threads=2), dict(features="size"), dict(rank=1, world_size=2)):
            with loader(order="weighted:size", **same) as other:
                other.load_state_dict(state)
        for change in (dict(order=None), dict(seed=4), dict(seeds=[1, 2, 3]), dict(seeds="package:section=net"), dict(batch_size=32), dict(fanout=[2])):
            with loader(**{**dict(order="weighted:size"), **change}) as other:
                with self.assertRaisesRegex(ValueError, "state does not match: found .*, expected .*; make the loader with the arguments of the state"):
                    other.load_state_dict(state)

    def test_errors(self) -> None:
        for options, want in (
            (dict(order="weighted:sise"), 'no column "sise" of node type package, expected one of'),
            (dict(order="weighted:section"), "found dtype string, expected bool, an integer"),
            (dict(order="random"), "found order random, expected weighted:COLUMN"),
            (dict(order="windowed:4096"), "windowed:4096,16"),
            (dict(order="windowed:0,1"), "found order windowed:0,1"),
            (dict(order="weighted:size", shuffle=True), "found shuffle and order"),
        ):
            with self.assertRaisesRegex(GraphmillError, want):
                loader(**options)
        with self.assertRaisesRegex(ValueError, "a seed that is drawn twice"):
            loader(order="weighted:size", as_="pyg")


if __name__ == "__main__":
    unittest.main()
