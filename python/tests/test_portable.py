"""The client on systems without abstract sockets and sockets of packets, tested on Linux with these forms.

GRAPHMILL_TEST_PORTABLE is a command built with the tag portable; GRAPHMILL_COMMAND and GRAPHMILL_TEST_STORES are as for test_loader.
"""

from __future__ import annotations

import array
import gc
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
from typing import Any

import made
from graphmill import GraphmillError, NodeLoader
from graphmill._meeting import _Path, place
from graphmill._packets import Framed, Packets, TooLong, dial
from test_loader import flat, gone

PORTABLE = os.environ.get("GRAPHMILL_TEST_PORTABLE", "")
OPTIONS: dict[str, Any] = dict(fanout=[4, 3], batch_size=64, seed=7, shuffle=True)
# A rank of two: it says the process of its feed, and the numbers of its batches when a line comes.
RANK = """
import sys
from graphmill import NodeLoader, _meeting, _process
_process.place = _meeting._Path
with NodeLoader(sys.argv[1], rank=int(sys.argv[2]), world_size=2, fanout=[4, 3], batch_size=64, seed=7) as loader:
    print(loader._process.pid, flush=True)
    sys.stdin.readline()
    print(*[b.number for b in loader], flush=True)
    sys.stdin.readline()
"""


def framed(packet: bytes) -> bytes:
    return struct.pack("<I", len(packet)) + packet


class TestFramed(unittest.TestCase):
    """Packets in a stream."""

    def setUp(self) -> None:
        self._dir = tempfile.TemporaryDirectory()
        addr = os.path.join(self._dir.name, "feed")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(addr)
            listener.listen(1)
            self.packets = dial(addr, 1 << 16, 5)
            self.packets.connect(addr)
            self.feed, _ = listener.accept()

    def tearDown(self) -> None:
        self.packets.close()
        self.feed.close()
        self._dir.cleanup()

    def test_kind(self) -> None:
        self.assertIs(type(self.packets), Framed)
        other = dial("graphmill-feed-1", 64, 1)
        self.assertIs(type(other), Packets)
        other.close()

    def test_pieces(self) -> None:
        """Packets that arrive in pieces, and several at a time, are the packets that were sent."""
        sent = [b"a", b"bc" * 1000, b"d"]
        stream = b"".join(map(framed, sent))
        for cut in (1, 3, 5, 7, 1000, len(stream)):

            def send(cut: int = cut) -> None:
                for i in range(0, len(stream), cut):
                    self.feed.sendall(stream[i : i + cut])

            thread = threading.Thread(target=send)
            thread.start()
            self.assertEqual([self.packets.receive() for _ in sent], [(p, []) for p in sent])
            thread.join()

    def test_descriptors(self) -> None:
        """A descriptor arrives with its packet, not with one before or after."""
        r, w = os.pipe()
        self.feed.sendall(framed(b"before"))
        self.feed.sendmsg([framed(b"with")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [r]))])
        self.feed.sendall(framed(b"after"))
        self.assertEqual(self.packets.receive(), (b"before", []))
        packet, (found,) = self.packets.receive()
        self.assertEqual(packet, b"with")
        self.assertEqual(self.packets.receive(), (b"after", []))
        os.write(w, b"x")
        self.assertEqual(os.read(found, 1), b"x")
        for fd in (r, w, found):
            os.close(fd)

    def test_end(self) -> None:
        """A stream that ends is an empty packet, also within a packet."""
        for start in (b"", b"\1\0", framed(b"abc")[:5]):
            with self.subTest(start):
                self.feed.sendall(start)
                self.feed.close()
                self.assertEqual(self.packets.receive(), (b"", []))
                self.tearDown()
                self.setUp()

    def test_too_long(self) -> None:
        self.feed.sendall(struct.pack("<I", 1 << 20))
        with self.assertRaisesRegex(TooLong, "more than 65536 bytes"):
            self.packets.receive()
        with self.assertRaises(OSError):
            self.packets.send(b"x" * (1 << 17))

    def test_full(self) -> None:
        """Packets for which there is no room yet are sent later, whole and in order."""
        sent = 0
        with self.assertRaises(BlockingIOError):
            while True:
                self.packets.send_now(sent.to_bytes(8, "little") * 100)
                sent += 1
        got = bytearray()

        def read() -> None:
            while len(got) < (sent + 2) * 804:
                got.extend(self.feed.recv(1 << 16))

        reader = threading.Thread(target=read)
        reader.start()
        self.packets.send((sent + 1).to_bytes(8, "little") * 100)
        reader.join()
        self.assertEqual(bytes(got), b"".join(framed(i.to_bytes(8, "little") * 100) for i in range(sent + 2)))

    def test_threads(self) -> None:
        """Packets of several threads are not mixed."""

        def send(t: int) -> None:
            for _ in range(200):
                self.packets.send(bytes([t]) * 10)

        threads = [threading.Thread(target=send, args=(t,)) for t in range(4)]
        got = bytearray()
        for t in threads:
            t.start()
        while len(got) < 4 * 200 * 14:
            got.extend(self.feed.recv(1 << 16))
        for t in threads:
            t.join()
        packets = [bytes(got[i : i + 14]) for i in range(0, len(got), 14)]
        self.assertEqual(sorted(packets), sorted(framed(bytes([t]) * 10) for t in range(4) for _ in range(200)))


class TestPath(unittest.TestCase):
    """The folder in which ranks meet."""

    def setUp(self) -> None:
        self._dir = tempfile.TemporaryDirectory()
        patch = unittest.mock.patch.object(tempfile, "tempdir", self._dir.name)
        patch.start()
        self.addCleanup(self._dir.cleanup)
        self.addCleanup(patch.stop)

    def test_platform(self) -> None:
        with unittest.mock.patch.object(sys, "platform", "darwin"):
            self.assertIs(type(place("graphmill-ranks-0-abc")), _Path)

    def test_claim(self) -> None:
        """One process has the name until it closes both descriptors; what it leaves does not matter."""
        for _ in range(2):
            first = _Path("graphmill-ranks-0-abc").claim()
            self.assertEqual(len(first), 2)
            self.assertEqual(_Path("graphmill-ranks-0-abc").claim(), [])
            other = _Path("graphmill-ranks-0-def").claim()
            self.assertEqual(len(other), 2)
            with socket.socket(socket.AF_UNIX) as s:
                self.assertTrue(_Path("graphmill-ranks-0-abc").join(s))
            for held in first + other:
                held.close()
            with socket.socket(socket.AF_UNIX) as s, self.assertRaises(ConnectionError):
                _Path("graphmill-ranks-0-abc").join(s)

    def test_folder_of_others(self) -> None:
        """A folder that others can use is refused."""
        folder = os.path.join(self._dir.name, f"graphmill-{os.geteuid()}")
        os.mkdir(folder)
        os.chmod(folder, 0o755)
        with self.assertRaisesRegex(GraphmillError, "with mode 755, expected one of user"):
            _Path("graphmill-ranks-0-abc")


@unittest.skipUnless(PORTABLE, "GRAPHMILL_TEST_PORTABLE is not set")
class TestPortableFeed(unittest.TestCase):
    """A feed with the portable forms gives the batches of Linux."""

    def loader(self, portable: bool = True, **options: Any) -> NodeLoader:
        environment = {"GRAPHMILL_COMMAND": PORTABLE} if portable else {}
        with unittest.mock.patch.dict(os.environ, environment):
            return NodeLoader(made.RMAT, **OPTIONS, **options)

    def test_batches(self) -> None:
        with self.loader(portable=False) as linux, self.loader() as loader:
            self.assertTrue(loader._addr.startswith("/"))
            for _ in range(2):
                self.assertEqual([flat(b) for b in loader], [flat(b) for b in linux])
            feed = made.feed_of(loader)
        self.assertTrue(gone(feed))
        self.assertFalse(os.path.exists(os.path.dirname(loader._addr)))

    def test_batches_that_are_kept(self) -> None:
        """Batches are given back from the collection of garbage, while the loader goes on."""
        gc.freeze()  # a collection looks at what this test makes, not at each library that is loaded
        self.addCleanup(gc.unfreeze)
        with self.loader() as loader:
            for _ in range(3):
                kept = []
                for b in loader:
                    kept.append(b)
                    if len(kept) == 3:
                        kept.clear()
                        gc.collect()
            self.assertEqual(len([b.number for b in loader]), len(loader))

    def test_ranks(self) -> None:
        """Ranks share a feed through a path, and the next training has the name again."""
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "GRAPHMILL_COMMAND": PORTABLE, "TMPDIR": folder}
            for _ in range(2):
                ranks = [
                    subprocess.Popen([sys.executable, "-c", RANK, made.RMAT, str(r)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
                    for r in range(2)
                ]
                ends: list[tuple[Any, Any]] = [(r.stdin, r.stdout) for r in ranks]
                feeds = [int(out.readline()) for _, out in ends]
                self.assertEqual(feeds[0], feeds[1])
                for to, _ in ends:
                    to.write("\n")
                    to.flush()
                numbers = [[int(n) for n in out.readline().split()] for _, out in ends]
                self.assertEqual(sorted(numbers[0] + numbers[1]), list(range(64)))
                for r in ranks:
                    r.communicate("\n")
                    self.assertEqual(r.returncode, 0)
                self.assertTrue(gone(feeds[0]))


if __name__ == "__main__":
    unittest.main()
