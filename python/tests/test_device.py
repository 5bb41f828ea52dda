"""Batches that a thread copies to a device. The device of the tests is torch's "meta", which has no values.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import re
import signal
import threading
import time
import unittest
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

import made
from graphmill import FeedDied, NodeLoader, _ahead
from graphmill._ahead import Ahead, Mover, check_device


def threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "graphmill-ahead"]


def with_first(b: Any) -> Any:
    b.first = b.n_id[:3].tolist()
    return b


class TestAhead(unittest.TestCase):
    def tearDown(self) -> None:
        self.assertEqual(threads(), [])

    def test_items_in_order(self) -> None:
        taken = []

        def items() -> Iterator[int]:
            for i in range(20):
                taken.append(i)
                yield i

        got = []
        for i in Ahead(items(), depth=2):
            got.append(i)
            self.assertLessEqual(len(taken), i + 5)  # this one, two that wait, one to be put, one in the making
        self.assertEqual(got, list(range(20)))

    def test_errors_come_in_their_place(self) -> None:
        def items() -> Iterator[int]:
            yield 1
            raise KeyError("two")

        ahead = Ahead(items())
        self.assertEqual(next(ahead), 1)
        with self.assertRaisesRegex(KeyError, "two"):
            next(ahead)
        with self.assertRaises(StopIteration):
            next(ahead)

    def test_close(self) -> None:
        ahead = Ahead(iter(range(1000)))
        next(ahead)
        ahead.close()
        ahead.close()
        with self.assertRaises(StopIteration):
            next(ahead)


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestDevice(unittest.TestCase):
    def tearDown(self) -> None:
        self.assertEqual(threads(), [])

    def loader(self, **options: Any) -> NodeLoader:
        return NodeLoader(made.RMAT, **{**dict(fanout=[3, 2], batch_size=64, as_="pyg", seed=3, shuffle=True), **options})

    def test_batches(self) -> None:
        with self.loader() as plain, self.loader(device="meta", transform=with_first) as moved:
            for _epoch in range(2):
                n = 0
                for a, b in zip(plain, moved):
                    self.assertEqual((b.n_id.device.type, b.edge_index.shape, b.first), ("meta", a.edge_index.shape, a.n_id[:3].tolist()))
                    n += 1
                self.assertEqual(n, len(plain))
            self.assertEqual(moved.state_dict(), plain.state_dict())
            self.assertEqual(moved.stats().batches, 2 * n)
            again = pickle.loads(pickle.dumps(moved))
            self.assertEqual(sum(1 for _ in again), n)

    def test_the_state_is_that_of_the_batch_that_was_yielded(self) -> None:
        with self.loader(device="meta") as loader:
            for i, _b in enumerate(loader):
                time.sleep(0.01)  # the thread is ahead now
                self.assertEqual(loader.state_dict()["batch"] or len(loader), i + 1)
                if i == 4:
                    break
            state = loader.state_dict()
        with self.loader(device="meta") as loader, self.loader() as plain:
            for x in (loader, plain):
                x.load_state_dict(state)
            self.assertEqual([b.n_id.shape for b in loader], [b.n_id.shape for b in plain])

    def test_passes_that_end_early(self) -> None:
        with self.loader(device="meta") as loader:
            first = iter(loader)
            next(first)
            self.assertEqual(len(threads()), 1)
            self.assertEqual(sum(1 for _ in loader), len(loader))  # another pass ends the thread of the first
            with self.assertRaisesRegex(RuntimeError, "one pass at a time"):
                while True:
                    next(first)
            for _b in loader:
                break
            del first
        # The loader was closed in a pass.

    def test_a_feed_that_dies(self) -> None:
        with self.loader(device="meta", batch_size=8) as loader:
            it = iter(loader)
            next(it)
            os.kill(made.feed_of(loader), signal.SIGKILL)
            with self.assertRaises(FeedDied):
                while True:
                    next(it)

    def test_the_processor_needs_no_copy(self) -> None:
        with self.loader(device="cpu") as loader:
            b = next(iter(loader))
            self.assertEqual(threads(), [])
            assert loader._connection
            self.assertEqual(len(loader._connection._held), 1)  # a view
            self.assertEqual(b.n_id.device.type, "cpu")

    def test_pinning_without_a_device(self) -> None:
        import torch

        if torch.cuda.is_available():
            self.skipTest("needs a machine without CUDA")
        with self.loader(pin_memory=True) as loader, self.assertWarnsRegex(UserWarning, "found pin_memory=True without a CUDA device"):
            self.assertEqual(sum(1 for _ in loader), len(loader))

    def test_cuda_calls(self) -> None:
        """The calls for a CUDA device, on one that is made up: copies from pinned memory on a stream, for which the trainer's stream waits."""
        import torch

        calls: list[str] = []

        def called(name: str, result: Any) -> Any:
            calls.append(name)
            return result

        stream, current = mock.MagicMock(), mock.MagicMock()
        streams = mock.MagicMock(return_value=stream)
        stream.record_event.side_effect = lambda: called("event", "event")
        current.wait_event.side_effect = lambda e: calls.append(f"wait {e}")
        tensor = mock.MagicMock(spec=["pin_memory", "to", "record_stream"])
        tensor.pin_memory.side_effect = lambda: called("pin", tensor)
        tensor.to.side_effect = lambda d, non_blocking: called(f"to {d} {non_blocking}", tensor)
        tensor.record_stream.side_effect = lambda s: calls.append("keep" if s is current else "wrong")
        with (
            mock.patch.multiple(
                torch.cuda,
                Stream=streams,
                is_available=lambda: True,
                current_stream=lambda d: current,
                current_device=lambda: 1,
                stream=lambda s: mock.MagicMock(),
            ),
            mock.patch.dict(_ahead._streams, clear=True),
        ):
            for device in ("cuda:1", "cuda", torch.device("cuda")):  # the current one by its number, as threads have others
                mover = Mover.of(device, False)
            self.assertEqual([call.args for call in streams.mock_calls], [(torch.device("cuda:1"),)])  # one for all passes and loaders
            assert mover
            out, event = mover(({"a": tensor}, [tensor], "text"))
            mover.arrived(out, event)
        self.assertEqual(calls, ["pin"] * 2 + ["to cuda:1 True"] * 2 + ["event", "wait event"] + ["keep"] * 2)
        self.assertEqual(out, ({"a": tensor}, [tensor], "text"))

    def test_a_trainer_that_is_far_ahead(self) -> None:
        """It waits until the device has done the work of all batches but three, so that few have memory there."""
        import torch

        done: list[int] = []
        events = [mock.MagicMock(**{"synchronize.side_effect": lambda n=n: done.append(n)}) for n in range(6)]
        current = mock.MagicMock(**{"record_event.side_effect": events})
        with (
            mock.patch.multiple(torch.cuda, Stream=mock.MagicMock(), is_available=lambda: True, current_stream=lambda d: current),
            mock.patch.dict(_ahead._streams, clear=True),
        ):
            mover = Mover.of("cuda:0", False)
            assert mover
            for n in range(6):
                mover.hold_back()
                self.assertEqual(done, list(range(max(0, n - 2))))
        mover = Mover.of("meta", False)
        assert mover
        mover.hold_back()

    def test_devices_that_are_not_there(self) -> None:
        """They are refused when the loader is made."""
        import torch

        for device in ("cuda:99", "cuda:0" if not torch.cuda.is_available() else "cuda:98", torch.device("cuda:97"), "gpu", "cuda:x"):
            with self.assertRaisesRegex(ValueError, f"found device={re.escape(repr(device))}, expected a device that torch has: cpu"):
                self.loader(device=device)
        with (
            mock.patch("torch.cuda.device_count", return_value=0),
            self.assertRaisesRegex(ValueError, "^found device='cuda', expected a device that torch has: cpu; "),
        ):
            self.loader(device="cuda")
        with mock.patch("torch.cuda.device_count", return_value=2):
            check_device("cuda:1")
            with self.assertRaisesRegex(ValueError, "found device='cuda:2', expected a device that torch has: cpu, cuda:0, cuda:1"):
                check_device("cuda:2")

    def test_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "found device='cuda' with as_='numpy', expected as_='pyg', 'dgl' or 'jraph'"):
            self.loader(as_="numpy", device="cuda")
        with self.assertRaisesRegex(ValueError, "found pin_memory=True with as_='jraph'"):
            self.loader(as_="jraph", pin_memory=True)


class TestRepr(unittest.TestCase):
    def test_what_it_says(self) -> None:
        with NodeLoader(made.RMAT, [3, 2], 64, rank=1, world_size=2) as loader:
            self.assertEqual(
                repr(loader), f"NodeLoader({made.RMAT!r}, as_='numpy'): 4,096 _N seeds in batches of 64, 2 hops, 32 batches per epoch, rank 1 of 2"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loader = NodeLoader(made.DEBIAN, {"depends": [2]}, seeds=[[1, 2], [3, 4]], seed_type=("package", "depends", "package"))
        with loader:
            self.assertIn("2 package and package links in batches of 1024, 1 hop, 1 batch per epoch", repr(loader))
        self.assertIn("as_='numpy')", repr(pickle.loads(pickle.dumps(loader))))


if __name__ == "__main__":
    unittest.main()
