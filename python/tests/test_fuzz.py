"""Mutated packets of a feed, and mutated files of a store under right checksums: the client raises its own error, or reads them.

The mutations follow from a number, so that a failure repeats. GRAPHMILL_FUZZ_EXECUTIONS is their number per test; the
default is 300. With it, the tests print what they did.
GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
import unittest
import unittest.mock
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from graphmill import GraphmillError, Store, _feed, from_arrays
from graphmill._xxh3 import xxh3
from test_hostile import MESSAGE, WELCOME, Fake, batch

EXECUTIONS = int(os.environ.get("GRAPHMILL_FUZZ_EXECUTIONS", "300"))
MEMORY = 64 << 20  # and 4 times the input, which is small
EDGES = [0, 1, 2, 127, 255, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 63) - 1, (1 << 64) - 1, -1]


def mutated(r: random.Random, given: bytes) -> bytes:
    """Bytes with one to four changes: of a bit, a byte, a word, a length."""
    b = bytearray(given)
    for _ in range(r.randint(1, 4)):
        at = r.randrange(len(b) + 1)
        how = r.randrange(5)
        if how == 0 and at < len(b):
            b[at] ^= 1 << r.randrange(8)
        elif how == 1:
            b[at : at + r.randrange(9)] = b""
        elif how == 2:
            b[at:at] = r.randbytes(r.randrange(9))
        elif how == 3:
            at -= at % 8
            b[at : at + 8] = (r.choice(EDGES) % (1 << 64)).to_bytes(8, "little")
        elif len(b) > 1:
            start = r.randrange(len(b))
            b[at:at] = b[start : start + r.randrange(64)]
    return bytes(b)


def changed(r: random.Random, x: Any) -> Any:
    """JSON with one value replaced, removed or repeated, somewhere in it."""
    odd: list[Any] = [None, True, -1, 1 << 63, 10**30, 1.5, "", "../x", "a\0b", [], {}, [[]], {"a": {}}, "x" * 1000]
    if isinstance(x, dict) and x and r.random() < 0.8:
        k = r.choice(sorted(x))
        y = dict(x)
        if r.random() < 0.15:
            del y[k]
        elif r.random() < 0.1:
            y[r.choice(["zz", "", k + "x"])] = y.pop(k)
        else:
            y[k] = changed(r, x[k])
        return y
    if isinstance(x, list) and x and r.random() < 0.8:
        i = r.randrange(len(x))
        return x[:i] + r.choice([[], [changed(r, x[i])], [x[i], x[i]]]) + x[i + 1 :]
    return r.choice(odd)


class TestFuzz(unittest.TestCase):
    def each(self, run: Callable[[random.Random], int], found: Iterable[int] = ()) -> None:
        """Call run with random sources, and check the errors and the memory of the process.

        found are numbers whose mutations once found a fault. They run first.
        """
        refused = 0
        for known in (0, *found):
            run(random.Random(known))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        for number in range(1, EXECUTIONS + 1):
            with self.subTest(number=number), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                refused += run(random.Random(number))
        self.assertGreater(refused, EXECUTIONS // 10)
        self.assertLess((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before, MEMORY)
        if "GRAPHMILL_FUZZ_EXECUTIONS" in os.environ:
            print(f"{self.id()}: {EXECUTIONS} executions, {refused} refused", file=sys.stderr)

    def test_a_feed(self) -> None:
        def run(r: random.Random) -> int:
            welcome: Any = WELCOME
            message, frame = MESSAGE.pack(1, 0, 1, 0, 512, 1), batch()
            what = r.randrange(4)
            if what == 0:
                welcome = changed(r, WELCOME)
            elif what == 1:
                welcome = mutated(r, json.dumps(WELCOME).encode())
            elif what == 2:
                message = mutated(r, message)
            else:
                frame = mutated(r, frame)
            with unittest.mock.patch("test_hostile.batch", lambda: frame), Fake(message, welcome=welcome) as fake:
                try:
                    c = fake.connect()
                    try:
                        b = c.next(c.start(0, 0))
                        if b is not None:
                            for x in b.columns.values():
                                x.sum()
                    finally:
                        c.close()
                except GraphmillError:
                    return 1
            return 0

        with unittest.mock.patch.object(_feed, "_PATIENCE", 1):
            self.each(run)

    def test_a_store(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            out = os.path.join(d, "s")
            nodes = {"a": {"x": np.arange(6, dtype=np.float32).reshape(3, 2), "t": np.array(["p", "", "rst"])}, "b": {"y": [[1], [], [2, 3]]}}
            from_arrays(nodes, {("a", "r", "b"): {"edge_index": np.array([[0, 1, 2], [2, 1, 0]]), "w": np.arange(3)}}, out).close()
            good = {}
            for folder, _, files in os.walk(out):
                for f in files:
                    path = os.path.join(folder, f)
                    with open(path, "rb") as file:
                        good[path] = file.read()
            manifest = os.path.join(out, "manifest.json")
            names = json.loads(good[manifest])["files"]

            def run(r: random.Random) -> int:
                name = "graph.json" if r.random() < 0.5 else r.choice(sorted(names))
                path = os.path.join(out, name)
                bad = mutated(r, good[path]) if r.random() < 0.5 or name != "graph.json" else json.dumps(changed(r, json.loads(good[path]))).encode()
                text = {"format": 1, "files": {**names, name: {"bytes": len(bad), "xxh3": f"{xxh3(bad):016x}"}}}
                if r.random() < 0.1:
                    text = changed(r, text)
                sealed = json.dumps(text).encode()
                changes = {path: bad, manifest: sealed, manifest + ".xxh3": f"{xxh3(sealed):016x}  manifest.json\n".encode()}
                for p, b in changes.items():
                    with open(p, "wb") as f:
                        f.write(b)
                try:
                    with Store(out) as s:
                        every: list[Any] = [*s.nodes.values(), *s.edges.values()]
                        for n in every:
                            for c in n.columns:
                                n.columns.column(c).tolist()
                        for e in s.edges.values():
                            np.asarray(e.edge_index).sum()
                except GraphmillError:
                    return 1
                finally:  # the next run replaces the manifest
                    with open(path, "wb") as f:
                        f.write(good[path])
                return 0

            self.each(run, found=(3088, 5333))


if __name__ == "__main__":
    unittest.main()
