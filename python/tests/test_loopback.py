"""Loaders whose batches come over the loopback address, as on Windows. Elsewhere they equal the batches in shared memory.

GRAPHMILL_COMMAND is the command.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import unittest
import unittest.mock
from typing import Any

import graphmill
import numpy as np
from graphmill import GraphmillError, NodeLoader, _process
from graphmill._feed import Connection
from graphmill._packets import Loopback, TooLong

OPTIONS: dict[str, Any] = dict(fanout=[4, 3], batch_size=64, seed=7, shuffle=True)


def values(b: Any) -> bytes:
    """The bytes of a batch: nodes, edges and features."""
    return b"".join(np.asarray(x).tobytes() for x in (b.n_id, b.edge_index, b.e_id)) + b"".join(
        np.asarray(x).tobytes() for of in b.x.values() for x in (of.values() if isinstance(of, dict) else [of])
    )


class TestLoopback(unittest.TestCase):
    def setUp(self) -> None:
        self._dir = tempfile.TemporaryDirectory()
        self.store = os.path.join(self._dir.name, "g.store")
        r = np.random.default_rng(1)
        graphmill.from_arrays({"x": r.random((500, 4), np.float32)}, r.integers(0, 500, (2, 3000)), self.store)
        self._loopback = unittest.mock.patch.object(_process, "LOOPBACK", True)
        self._loopback.start()

    def tearDown(self) -> None:
        self._loopback.stop()
        self._dir.cleanup()

    def test_equal(self) -> None:
        """The batches are those in shared memory, in every epoch, however few slots there are."""
        with NodeLoader(self.store, **OPTIONS) as loader:
            self.assertTrue(loader._process is not None and loader._process.addr.startswith("tcp:127.0.0.1:"))
            got = [[(b.number, b.batch_size, values(b)) for b in loader] for _ in range(3)]
        self.assertEqual(sum(n for _, n, _ in got[0]), 500)
        self.assertNotEqual(got[0], got[1])
        if sys.platform == "win32":
            return
        self._loopback.stop()
        with NodeLoader(self.store, **OPTIONS) as loader:
            want = [[(b.number, b.batch_size, values(b)) for b in loader] for _ in range(3)]
        self._loopback.start()
        self.assertEqual(got, want)

    def test_left(self) -> None:
        """An epoch that is left early does not reach the next one, and batches that are kept stay as they were."""
        with NodeLoader(self.store, **OPTIONS) as loader:
            kept = next(iter(loader))
            before = values(kept)
            rest = [b.number for b in loader]
            self.assertEqual(rest, list(range(len(rest))))
            self.assertEqual(values(kept), before)

    def test_token(self) -> None:
        """Whoever does not know the token gets no batch."""
        with NodeLoader(self.store, **OPTIONS) as loader:
            next(iter(loader))
            assert loader._process is not None
            with self.assertRaisesRegex(GraphmillError, "wrong token"):
                Connection(loader._process.addr, "0" * 32, 0, 1, 3, RuntimeError)

    def test_start(self) -> None:
        """A feed that cannot start says why."""
        with self.assertRaisesRegex(GraphmillError, "memory"):
            NodeLoader(self.store, memory="1KiB", **OPTIONS)

    def test_died(self) -> None:
        """A feed that is killed is an error, with what it said."""
        with NodeLoader(self.store, **OPTIONS) as loader:
            it = iter(loader)
            next(it)
            assert loader._process is not None
            assert loader._process._process is not None
            loader._process._process.kill()
            with self.assertRaisesRegex(GraphmillError, "the feed ended"):
                for _ in range(100):
                    for _ in loader:
                        pass


class TestPackets(unittest.TestCase):
    """Packets over the loopback, with the other end in hand."""

    def setUp(self) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            addr = f"tcp:127.0.0.1:{listener.getsockname()[1]}"
            self.packets = Loopback(1 << 16, 1)
            self.packets.connect(addr)
            self.feed, _ = listener.accept()

    def tearDown(self) -> None:
        self.packets.close()
        self.feed.close()

    def test_body(self) -> None:
        """The bytes of a batch follow its packet, in any pieces, and are not bound by the size of a packet."""
        body = bytes(range(256)) * 1000
        self.feed.sendall(b"\3\0\0\0abc" + body[:1000])
        self.assertEqual(self.packets.receive(), (b"abc", []))
        self.feed.sendall(body[1000:] + b"\1\0\0\0d")
        self.assertEqual(self.packets.body(len(body)).tobytes(), body)
        self.assertEqual(self.packets.receive(), (b"d", []))

    def test_ends(self) -> None:
        self.feed.sendall(b"ab")
        self.feed.close()
        with self.assertRaises(ConnectionResetError):
            self.packets.body(3)
        self.assertEqual(self.packets.receive(), (b"", []))

    def test_too_long(self) -> None:
        self.feed.sendall(b"\xff\xff\xff\xff")
        with self.assertRaises(TooLong):
            self.packets.receive()

    def test_patience(self) -> None:
        """A feed that sends nothing is not waited for for ever."""
        with self.assertRaises(BlockingIOError):
            self.packets.receive()


if __name__ == "__main__":
    unittest.main()
