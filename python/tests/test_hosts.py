"""Loaders whose edges and rows come from hosts: their batches are those of the whole store, also when a host is killed and started again.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any

from graphmill import GraphmillError, NodeLoader, Store
from graphmill._command import command
from test_client import shop
from test_stream import same


def start(store: Any, part: str, listen: str = "127.0.0.1:0") -> tuple[subprocess.Popen[str], str]:
    """A host and its address."""
    process = subprocess.Popen([command(), "host", str(getattr(store, "path", store)), "--part", part, "--listen", listen], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())["addr"]


def end(process: subprocess.Popen[str], how: int = signal.SIGTERM) -> int:
    process.send_signal(how)
    assert process.stdout is not None
    process.stdout.close()
    return process.wait()


@contextlib.contextmanager
def hosting(store: Any, parts: int) -> Iterator[list[str]]:
    """The addresses of hosts."""
    started = [start(store, f"{i}/{parts}") for i in range(parts)]
    try:
        yield [address for _, address in started]
    finally:
        for process, _ in started:
            assert end(process) == 0


class TestHosts(unittest.TestCase):
    def same(self, store: Store, hosts: list[str], **options: Any) -> None:
        with NodeLoader(store, **options) as whole, NodeLoader(store, hosts=hosts, **options) as hosted:
            for _ in range(2):
                n = 0
                for a, b in zip(whole, hosted, strict=True):
                    same(self, a, b)
                    n += 1
                self.assertGreater(n, 0)

    def test_equals_whole(self) -> None:
        """On graphs with empty types and text ids, by batch, by seed with times, with links."""
        for seed in range(3):
            with tempfile.TemporaryDirectory() as folder:
                store = shop(seed, os.path.join(folder, "g.store"))
                with hosting(store, 1 + seed) as hosts:
                    fanout = {"buys": [3, 2], "follows": [2, 2], "like": [1, 1]}
                    for options in (
                        {"seed_type": "user", "edge_features": "all", "shuffle": True},
                        {"seed_type": "item", "scope": "seed", "before": "time", "seed_time": 25},
                        {"seed_type": "user", "threads": 3, "slots": 2, "x": {"user": ["f"]}},
                    ):
                        self.same(store, hosts, fanout=fanout, batch_size=4, **options)

    def test_killed(self) -> None:
        """Each host is killed in the middle of a pass, and started again at its address; the pass goes on with the same batches."""
        with tempfile.TemporaryDirectory() as folder:
            store = shop(7, os.path.join(folder, "g.store"))
            options: dict[str, Any] = {"fanout": {"buys": [3, 2], "follows": [2, 2]}, "seed_type": "user", "batch_size": 1, "slots": 1, "threads": 1}
            with NodeLoader(store, **options) as whole:
                want = list(whole)
            started = [start(store, f"{i}/2") for i in range(2)]
            try:
                with NodeLoader(store, hosts=[address for _, address in started], **options) as hosted:
                    for i, (a, b) in enumerate(zip(want, hosted, strict=True)):
                        same(self, a, b)
                        if i % 4 == 1:
                            process, address = started[i // 4 % 2]
                            self.assertEqual(end(process, signal.SIGKILL), -signal.SIGKILL)
                            started[i // 4 % 2] = start(store, f"{i // 4 % 2}/2", address)
            finally:
                for process, _ in started:
                    end(process)

    def test_state(self) -> None:
        """The state of a loader is that of one with the whole store."""
        with tempfile.TemporaryDirectory() as folder:
            store = shop(3, os.path.join(folder, "g.store"))
            options: dict[str, Any] = {"fanout": {"buys": [3]}, "seed_type": "user", "batch_size": 2}
            with hosting(store, 2) as hosts, NodeLoader(store, **options) as whole, NodeLoader(store, hosts=hosts, **options) as hosted:
                passed = iter(hosted)
                next(passed)
                whole.load_state_dict(hosted.state_dict())
                for a, b in zip(whole, passed, strict=True):
                    same(self, a, b)

    def test_refusals(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = shop(3, os.path.join(folder, "g.store"))
            refused: list[tuple[Any, type[Exception], str]] = [
                (7, TypeError, "found hosts=7, expected a list of addresses HOST:PORT"),
                ([], TypeError, r"found hosts=\[\], expected"),
                (["nowhere"], GraphmillError, "expected HOST:PORT"),
            ]
            for hosts, error, text in refused:
                with self.assertRaisesRegex(error, text):
                    NodeLoader(store, fanout={"buys": [2]}, seed_type="user", hosts=hosts)
            with self.assertRaisesRegex(GraphmillError, "hosts_token"):
                NodeLoader(store, fanout={"buys": [2]}, seed_type="user", hosts_token=os.path.join(folder, "none"))


if __name__ == "__main__":
    unittest.main()
