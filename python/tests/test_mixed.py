"""MixedLoader: batches of several loaders, each as it is alone.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with debian.store.
"""

from __future__ import annotations

import json
import unittest
from typing import Any

import made
import numpy as np
from graphmill import MixedLoader, NodeLoader


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


if __name__ == "__main__":
    unittest.main()
