"""Threads that use one loader: a pass has all its batches, or the error of a pass that another one ended.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import pickle
import sys
import threading
import unittest
from collections.abc import Callable
from typing import Any

import made
from graphmill import GraphmillError, NodeLoader

ENDED = "found a pass that ended because another one began"


def in_threads(*calls: Callable[[], Any]) -> list[Any]:
    """What each call returns or raises, each in a thread of its own. A thread that hangs is a failure."""
    out: list[Any] = [None] * len(calls)
    ready = threading.Barrier(len(calls))

    def run(i: int) -> None:
        ready.wait()
        try:
            out[i] = calls[i]()
        except BaseException as e:
            out[i] = e

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(calls))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)  # against a hang
    if any(t.is_alive() for t in threads):
        raise AssertionError(f"found {out}, expected threads that end")
    return out


class TestThreads(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-5)

    def check(self, results: list[Any], batches: int) -> None:
        """All batches, or the error; the pass that began last has all."""
        for r in results:
            if isinstance(r, BaseException):
                self.assertIs(type(r), RuntimeError, r)
                self.assertIn(ENDED, str(r))
            else:
                self.assertEqual(r, list(range(batches)))
        self.assertTrue(any(not isinstance(r, BaseException) for r in results), results)

    def test_passes(self) -> None:
        with NodeLoader(made.RMAT, fanout=[3, 2], batch_size=100, seeds=range(4000), shuffle=True) as loader:
            for _ in range(15):
                self.check(in_threads(*[lambda: [b.number for b in loader]] * 3), len(loader))
            self.assertEqual([b.number for b in loader], list(range(40)))
            copy = pickle.loads(pickle.dumps(loader))  # it connects when it is used
            self.check(in_threads(*[lambda: [b.number for b in copy]] * 3), 40)

    def test_passes_that_a_thread_takes_ahead(self) -> None:
        """A device's thread reads for each pass."""
        from graphmill import _ahead

        class Mover:
            def __call__(self, batch: Any) -> tuple[Any, Any]:
                return batch, None

            def arrived(self, batch: Any, event: Any) -> None:
                pass

            def hold_back(self) -> None:
                pass

        self.addCleanup(setattr, _ahead.Mover, "of", _ahead.Mover.__dict__["of"])
        setattr(_ahead.Mover, "of", classmethod(lambda cls, device, pin, warn: Mover()))  # noqa: B010  it is a method
        with NodeLoader(made.RMAT, fanout=[3, 2], batch_size=100, seeds=range(2000)) as loader:
            for _ in range(8):
                self.check(in_threads(*[lambda: [b.number for b in loader]] * 3), 20)
            passing = iter(loader)
            next(passing)
            loader.close()
            with self.assertRaisesRegex(GraphmillError, "found a loader that was closed"):
                list(passing)

    def test_close_while_a_thread_waits(self) -> None:
        """Closing a loader ends a thread that waits for it, also where others keep its feed alive."""
        for share in (False, True):
            with NodeLoader(made.RMAT, fanout=[3, 2], batch_size=10, share=share) as loader, NodeLoader(made.RMAT, fanout=[3, 2], batch_size=10, share=share):
                passing = iter(loader)
                next(passing)

                def read() -> None:
                    for _ in range(3):
                        list(passing)
                        list(loader)

                got, _ = in_threads(read, loader.close)
                self.assertIsInstance(got, GraphmillError)


if __name__ == "__main__":
    unittest.main()
