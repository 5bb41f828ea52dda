"""Feeds that die, stall, or send torn and hostile messages: the client raises its own error, in time, and keeps no descriptor."""

from __future__ import annotations

import array
import contextlib
import functools
import gc
import json
import os
import random
import socket
import stat
import struct
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from collections.abc import Callable
from typing import Any

import numpy as np
from graphmill import FeedDied, GraphmillError, _feed
from graphmill._feed import Connection
from graphmill._process import Process

COLUMNS = [{"name": "input_id", "dtype": "int64", "shape": []}, {"name": "x", "dtype": "float32", "shape": [3]}]
WELCOME = {"version": 2, "slots": 4, "slot_bytes": 4096, "batches": 2, "total": 2, "hops": 1, "seeds": 4, "seed_types": ["n"], "columns": COLUMNS, "ops": []}
MESSAGE = struct.Struct("<IIQQQQ")


def ring(size: int = 4 * 4096) -> int:
    fd = os.memfd_create("test-ring")
    os.ftruncate(fd, size)
    return fd


def batch(gen: int = 1, seq: int = 0, run: int = 1, rows: int = 2, offset: int = 128, columns: int = 2) -> bytes:
    """A batch with one column of rows numbers, and one of none."""
    head = struct.pack("<8Q", 0x31444545464D47, gen, seq, 512, rows, columns, run, 0)
    return (head + struct.pack("<4Q", offset, rows, 448, 0)).ljust(128, b"\0") + np.arange(2, dtype=np.int64).tobytes()


class Fake:
    """A feed of one connection, whose answers are given: packets, or functions of the socket."""

    def __init__(self, *answers: Any, welcome: Any = WELCOME, descriptors: int = 1, size: int = 4 * 4096) -> None:
        self.name = f"graphmill-fake-{os.getpid()}-{random.getrandbits(40)}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.bind("\0" + self.name)
        self._socket.listen(1)
        self._given = answers, welcome, descriptors, size
        self._thread = threading.Thread(target=self._serve)
        self._over = threading.Event()

    def __enter__(self) -> Fake:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def connect(self) -> Connection:
        return Connection(self.name, "token", 0, 1, 4, lambda: FeedDied("the feed ended"))

    def _serve(self) -> None:
        answers, welcome, descriptors, size = self._given
        with self._socket, self._socket.accept()[0] as s:
            s.recv(1 << 16)
            fds = [ring(size) for _ in range(descriptors)]
            if fds:
                os.pwrite(fds[0], batch(), 0)
            body = welcome if isinstance(welcome, bytes) else json.dumps(welcome).encode()
            if body:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
                s.sendmsg([body], rights)
            for a in answers:
                try:
                    s.recv(1 << 16)
                    if callable(a):
                        a(s)
                    else:
                        s.send(a)
                except OSError:
                    break
            if answers and answers[-1] is stall:
                self._over.wait()
            for fd in fds:
                os.close(fd)


def stall(_: socket.socket) -> None:
    """Send nothing, and stay."""


def jumbo(size: int, length: int) -> Callable[[socket.socket], None]:
    def answer(s: socket.socket) -> None:
        fd = ring(length)
        s.sendmsg([MESSAGE.pack(4, 0, 1, 0, size, 1)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        os.close(fd)

    return answer


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


class Hostile(unittest.TestCase):
    def setUp(self) -> None:
        patch = unittest.mock.patch.object(_feed, "_PATIENCE", 1)
        patch.start()
        self.addCleanup(patch.stop)
        gc.collect()
        self.before = descriptors()

    def tearDown(self) -> None:
        gc.collect()  # maps in the frames of exceptions
        self.assertEqual(descriptors(), self.before)

    def refused(self, error: type[BaseException], text: str, fake: Fake, use: Callable[[Connection], object] = lambda c: c.next(c.start(0, 0))) -> None:
        start = time.monotonic()  # against a hang
        with fake:
            with self.assertRaises(GraphmillError) as caught:
                c = fake.connect()
                try:
                    use(c)
                finally:
                    c.close()
            self.assertIs(type(caught.exception), error, repr(caught.exception))
            self.assertIn(text, str(caught.exception))
        self.assertLess(time.monotonic() - start, 60)  # against a hang

    def test_a_good_feed(self) -> None:
        with Fake(MESSAGE.pack(1, 0, 1, 0, 512, 1)) as fake:
            c = fake.connect()
            b = c.next(c.start(0, 0))
            assert b is not None
            self.assertEqual(b.columns["input_id"].tolist(), [0, 1])
            self.assertEqual(b.columns["x"].shape, (0, 3))
            c.close()

    def test_a_place_that_overflows(self) -> None:
        for offset in (513, (1 << 63) - 1, (1 << 64) - 1):
            with unittest.mock.patch(f"{__name__}.batch", functools.partial(batch, offset=offset)):
                self.refused(GraphmillError, f"it sent the place {offset} of a column", Fake(MESSAGE.pack(1, 0, 1, 0, 512, 1)))

    def test_a_feed_that_dies(self) -> None:
        self.refused(FeedDied, "the feed ended", Fake(welcome=b"", descriptors=0))
        self.refused(FeedDied, "the feed ended", Fake())
        self.refused(FeedDied, "the feed ended", Fake(lambda s: s.shutdown(socket.SHUT_RDWR)))
        with self.assertRaises(FeedDied):
            Connection("graphmill-nobody", "token", 0, 1, 4, lambda: FeedDied("the feed ended"))

    def test_a_feed_that_stalls(self) -> None:
        self.refused(FeedDied, "sent nothing for 1 s", Fake(stall))
        self.refused(FeedDied, "sent nothing for 1 s", Fake(stall), lambda c: c.sample(np.arange(3), 0, 0))

    def test_hostile_welcomes(self) -> None:
        changed: Any
        for changed in (
            {"slots": 0}, {"slots": -1}, {"slots": 1 << 40}, {"slots": "4"}, {"slot_bytes": 0}, {"slot_bytes": 1 << 62}, {"slot_bytes": -4096}, {"columns": None},
            {"columns": [{}]}, {"columns": [{"name": "x", "dtype": "object]", "shape": []}]}, {"columns": 5}, {"ops": 7}, {"negatives": 3},
        ):  # fmt: skip
            with self.subTest(changed=changed):
                self.refused(GraphmillError, "violated the protocol", Fake(welcome={**WELCOME, **changed}))
        for body in (b"{", b"\xff\xfe", b"[]", b"null", b"5", b"{}", b"[" * 5000):
            with self.subTest(body=body[:10]):
                self.refused(GraphmillError, "violated the protocol", Fake(welcome=body))
        self.refused(GraphmillError, "violated the protocol", Fake(size=100))  # a ring that is shorter than its slots
        self.refused(GraphmillError, "violated the protocol", Fake(descriptors=0))

    def test_errors(self) -> None:
        text = json.dumps({"error": "found a wrong token", "code": "protocol"}).encode()
        self.refused(GraphmillError, "found a wrong token", Fake(welcome=MESSAGE.pack(3, 0, 0, 0, len(text), 0) + text, descriptors=0))
        self.refused(GraphmillError, "found a wrong token", Fake(MESSAGE.pack(3, 0, 0, 0, len(text), 0) + text))
        for body in (b"", b"{", b"[]", b"\xff", b"7"):
            self.refused(GraphmillError, "an error that cannot be read", Fake(MESSAGE.pack(3, 0, 0, 0, 0, 0) + body))

    def test_messages_cut_at_every_byte(self) -> None:
        whole = MESSAGE.pack(1, 0, 1, 0, 512, 1)
        for n in range(1, len(whole)):
            with self.subTest(n=n):
                self.refused(GraphmillError, f"a message of {n} bytes", Fake(whole[:n]))

    def test_hostile_messages(self) -> None:
        for name, answer in {
            "type": MESSAGE.pack(9, 0, 1, 0, 512, 1),
            "slot": MESSAGE.pack(1, 4, 1, 0, 512, 1),
            "last slot": MESSAGE.pack(1, 2**32 - 1, 1, 0, 512, 1),
            "no batch in the slot": MESSAGE.pack(1, 3, 1, 0, 512, 1),
            "size": MESSAGE.pack(1, 0, 1, 0, 4097, 1),
            "huge": MESSAGE.pack(1, 0, 1, 0, 2**64 - 1, 1),
            "short": MESSAGE.pack(1, 0, 1, 0, 10, 1),
            "jumbo without memory": MESSAGE.pack(4, 0, 1, 0, 512, 1),
            "jumbo that is longer than its memory": jumbo(1 << 20, 4096),
            "jumbo of nothing": jumbo(0, 4096),
            "jumbo of 2^63": jumbo(1 << 63, 4096),
        }.items():
            with self.subTest(name):
                self.refused(GraphmillError, "violated the protocol", Fake(answer))

    def test_hostile_batches(self) -> None:
        for name, made in {
            "rows": batch(rows=1 << 40),
            "rows of 2^63": batch(rows=1 << 63),
            "offset": batch(offset=1 << 30),
            "offset of 2^64": batch(offset=2**64 - 1),
            "columns": batch(columns=99),
            "magic": b"\0" * 200,
        }.items():
            with self.subTest(name):
                fake = Fake(MESSAGE.pack(1, 0, 1, 0, 512, 1))
                with unittest.mock.patch(__name__ + ".batch", lambda made=made: made):
                    self.refused(GraphmillError, "violated the protocol", fake)

    def test_noise(self) -> None:
        r = random.Random(1)
        for _ in range(200):
            noise = bytes(r.getrandbits(8) for _ in range(r.randrange(1, 80)))
            if r.random() < 0.7:
                noise = struct.pack("<I", r.randrange(6)) + noise.ljust(36, b"\0")
            with Fake(noise) as fake:
                c = fake.connect()
                with contextlib.suppress(GraphmillError):
                    c.next(c.start(0, 0))
                c.close()

    def test_hostile_lifelines(self) -> None:
        """A program that is no feed says something else on the lifeline, or nothing."""
        for line, text in {
            "": "the feed ended without a word",
            "hello": "on the lifeline of a feed",
            "[]": "on the lifeline of a feed",
            "{}": "on the lifeline of a feed",
            '{"addr":"x","token":"y","pid":"z"}': "on the lifeline of a feed",
            "x" * (2 << 20): "found more than 1048576 bytes on the lifeline",
        }.items():
            with self.subTest(line=line[:10]), tempfile.TemporaryDirectory() as folder:
                said, program = os.path.join(folder, "line"), os.path.join(folder, "graphmill")
                with open(said, "w") as f:
                    f.write(line + "\n" if line else "")
                with open(program, "w") as f:
                    f.write(f"#!{sys.executable}\nimport os, sys\nos.write(int(sys.argv[sys.argv.index('--lifeline') + 1]), open({said!r}, 'rb').read())\n")
                os.chmod(program, stat.S_IRWXU)
                with unittest.mock.patch.dict(os.environ, GRAPHMILL_COMMAND=program), self.assertRaises(GraphmillError) as caught:
                    Process(["x.store"])
                self.assertIn(text, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
