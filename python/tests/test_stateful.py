"""NodeLoader in torch's DataLoader and in torchdata's StatefulDataLoader.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import pickle
import unittest
from collections.abc import Iterable
from typing import Any

import made
from graphmill import NodeLoader


def has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def flat(b: Any) -> list[Any]:
    return [b.number, b.n_id.tolist(), b.e_id.tolist()]


def loader(**options: Any) -> NodeLoader:
    return NodeLoader(made.RMAT, **{**dict(fanout=[3, 2], batch_size=400, seed=1, shuffle=True, threads=1), **options})


@unittest.skipUnless(has("torch"), "torch is not installed")
class TestDataLoader(unittest.TestCase):
    def test_without_a_wrapper(self) -> None:
        import torch

        with loader() as own:
            self.assertIsInstance(own, torch.utils.data.IterableDataset)
            self.assertIs(type(pickle.loads(pickle.dumps(own))), type(own))
            want = [flat(b) for b in own]
            self.assertEqual(len(want), 11)
            for method in (None, *made.methods(self)):
                own.set_epoch(0)
                copy, workers = (own, 0) if method is None else (pickle.loads(pickle.dumps(own)), 3)
                torchs = torch.utils.data.DataLoader(copy, batch_size=None, num_workers=workers, multiprocessing_context=method)
                self.assertEqual(len(torchs), 11)
                self.assertEqual([flat(b) for b in torchs], want)

    def test_persistent_workers(self) -> None:
        import torch

        with loader() as own:
            want = [[flat(b) for b in own] for _ in range(3)]
            own.set_epoch(0)
            torchs = torch.utils.data.DataLoader(own, batch_size=None, num_workers=2, persistent_workers=True)
            self.assertEqual([[flat(b) for b in torchs] for _ in range(3)], want)

    def test_own_state(self) -> None:
        """The state of a pass that has returned its last batch is the end of the pass; the state of the loader is the next epoch."""
        with loader() as own:
            one: Any = iter(own)
            for _ in range(11):
                next(one)
            state, of_loader = one.state_dict(), own.state_dict()
            again: Any = iter(own)
            again.load_state_dict(json.loads(json.dumps(state)))
            self.assertEqual(list(again), [])
            self.assertEqual((own.state_dict()["epoch"], of_loader["epoch"], of_loader["batch"]), (1, 1, 0))
            for change, text in (
                (dict(workers=2), "found workers=2, expected 1"),
                (dict(rank=1), "found rank=1, expected 0"),
                (dict(world_size=None), "found world_size=None, expected 1"),
                (dict(data="x"), "state does not match"),
            ):
                with self.assertRaisesRegex(ValueError, text):
                    last: Any = iter(own)
                    last.load_state_dict({**state, **change})


@unittest.skipUnless(has("torchdata.stateful_dataloader"), "torchdata is not installed")
class TestStateful(unittest.TestCase):
    def check(self, workers: int, cuts: Iterable[int], **options: Any) -> None:
        """After any number of batches, a new process-wide state gives exactly the batches that are left, and then the next epoch."""
        from torchdata.stateful_dataloader import StatefulDataLoader

        for cut in cuts:
            with loader(**options) as own:
                own.set_epoch(4)
                whole = [flat(b) for b in StatefulDataLoader(own, batch_size=None, num_workers=workers)]
                own.set_epoch(4)
                first = StatefulDataLoader(own, batch_size=None, num_workers=workers)
                taken = [flat(b) for b in itertools.islice(first, cut)]
                state = pickle.loads(pickle.dumps(first.state_dict()))
                del first
            self.assertEqual(taken, whole[:cut])
            with loader(**options) as own:
                again = StatefulDataLoader(own, batch_size=None, num_workers=workers)
                again.load_state_dict(state)
                self.assertEqual([flat(b) for b in again], whole[cut:], (workers, cut, options))
                own.set_epoch(5)
                five = [flat(b) for b in own]
                if not workers:
                    own.set_epoch(5)
                    self.assertEqual([flat(b) for b in again], five)

    def test_no_workers(self) -> None:
        self.check(0, (0, 1, 7, 10, 11))

    def test_workers(self) -> None:
        self.check(2, (0, 1, 4, 5, 10, 11))
        self.check(3, (0, 2, 3, 10))

    def test_ranks(self) -> None:
        for tail, rank in (("fill", 0), ("fill", 1), ("fill", 2), ("short", 2), ("drop", 1)):
            self.check(2, (0, 1, 2, 3), world_size=3, rank=rank, tail=tail)
            self.check(0, (2, 3), world_size=3, rank=rank, tail=tail)

    def test_resumed_twice(self) -> None:
        from torchdata.stateful_dataloader import StatefulDataLoader

        for workers in (0, 2):
            with loader() as own:
                whole = [flat(b) for b in own]
                own.set_epoch(0)
                got, state = [], None
                for n in (3, 4, 1, 3):
                    dl = StatefulDataLoader(own, batch_size=None, num_workers=workers)
                    if state:
                        dl.load_state_dict(state)
                    got += [flat(b) for b in itertools.islice(dl, n)]
                    state = dl.state_dict()
                    del dl
                self.assertEqual(got, whole)

    def test_persistent_workers(self) -> None:
        from torchdata.stateful_dataloader import StatefulDataLoader

        with loader() as own:
            want = [[flat(b) for b in own] for _ in range(3)]
            own.set_epoch(0)
            dl = StatefulDataLoader(own, batch_size=None, num_workers=2, persistent_workers=True)
            [flat(b) for b in dl]
            self.assertEqual([flat(b) for b in itertools.islice(dl, 5)], want[1][:5])
            state = dl.state_dict()
            del dl
            dl = StatefulDataLoader(own, batch_size=None, num_workers=2, persistent_workers=True)
            dl.load_state_dict(state)
            self.assertEqual([[flat(b) for b in dl] for _ in range(2)], [want[1][5:], want[2]])


if __name__ == "__main__":
    unittest.main()
