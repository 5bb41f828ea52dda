"""Ranks of one machine that share a feed: who shares, and what happens when owners or the feed die.

GRAPHMILL_COMMAND and GRAPHMILL_TEST_STORES are as for test_loader.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from collections.abc import Iterator
from typing import Any, NoReturn

import made
import numpy as np
from graphmill import FeedDied, GraphmillError, NodeLoader
from test_loader import available, flat, gone

OPTIONS: dict[str, Any] = dict(fanout=[4, 3], batch_size=64, seed=7, shuffle=True)
# A rank: it says the process of its feed, runs an epoch for each line of its input, and tells the numbers and a digest
# of its batches.
RANK = """
import hashlib, json, os, sys
from graphmill import NodeLoader
rank, world, options = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
loader = NodeLoader(rank=rank, world_size=world, **options)
print(loader._process.pid, flush=True)
for line in sys.stdin:
    h, numbers = hashlib.blake2b(), []
    for b in loader:
        numbers.append(b.number)
        for x in (b.n_id, b.edge_index, b.e_id, *b.x.values()):
            h.update(x.tobytes())
    print(json.dumps([numbers, h.hexdigest()]), flush=True)
"""


class TestNUMA(unittest.TestCase):
    def test_nodes_of_a_process(self) -> None:
        """Ranks that are bound to different NUMA nodes have feeds of their own."""
        from graphmill import _identity

        with tempfile.TemporaryDirectory() as root, unittest.mock.patch("os.sched_getaffinity", lambda _: {1, 9}, create=True):
            self.assertEqual(_identity.numa_nodes(root), [])
            for name, cpus in (("node0", "0-3,12-15"), ("node1", "4-7"), ("node2", "8-11"), ("node3", ""), ("power", "0-99")):
                os.mkdir(os.path.join(root, name))
                with open(os.path.join(root, name, "cpulist"), "w") as f:
                    f.write(cpus + "\n")
            self.assertEqual(_identity.numa_nodes(root), ["node0", "node2"])
            names = set()
            for nodes in ([], ["node0"], ["node1"]):
                with unittest.mock.patch.object(_identity, "numa_nodes", lambda nodes=nodes: nodes):
                    names.add(_identity.shared_name("x.store", {}))
            self.assertEqual(len(names), 3)


class Rank:
    """A training process with a loader."""

    def __init__(self, rank: int, world: int, environment: Any = (), **options: Any) -> None:
        given = json.dumps({"store": made.RMAT, **OPTIONS, **options})
        self._child = subprocess.Popen([sys.executable, "-c", RANK, str(rank), str(world), given], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env={**os.environ, **dict(environment)})  # fmt: skip
        self.pid = self._child.pid

    def feed(self) -> int:
        """The process of its feed."""
        assert self._child.stdout
        line = self._child.stdout.readline()
        return int(line) if line else self.fail()

    def epoch(self) -> Any:
        assert self._child.stdin
        self._child.stdin.write("\n")
        self._child.stdin.flush()
        assert self._child.stdout
        line = self._child.stdout.readline()
        return json.loads(line) if line else self.fail()

    def fail(self) -> NoReturn:
        raise AssertionError(self._child.communicate()[1])

    def kill(self) -> None:
        self._child.kill()
        self._child.communicate()

    def end(self) -> None:
        self._child.communicate()


@contextlib.contextmanager
def ranks(n: int, **options: Any) -> Iterator[list[Rank]]:
    all_ = [Rank(r, n, **options) for r in range(n)]
    try:
        yield all_
    finally:
        for r in all_:
            r.kill()


def anonymous(pid: int) -> int:
    """The bytes of a process that no file backs and no other process has."""
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return sum(int(line.split()[1]) for line in f if line.startswith("Anonymous:")) * 1024


def names() -> list[str]:
    """The sockets of feeds that ranks share, of processes that know the stores of this run of the tests: others may run beside it."""
    with open("/proc/net/unix") as f:
        shared = {f"socket:[{line.split()[-2]}]": line.split()[-1] for line in f if "@graphmill-ranks-" in line}
    own = []
    for process in glob.glob("/proc/[0-9]*") if shared else []:
        with contextlib.suppress(OSError):  # a process that ended
            with open(process + "/environ", "rb") as f:
                if made.STORES.encode() not in f.read():
                    continue
            own += [shared[link] for fd in os.listdir(process + "/fd") if (link := os.readlink(f"{process}/fd/{fd}")) in shared]
    return own


class TestSharing(unittest.TestCase):
    def setUp(self) -> None:
        self.others = set(names())

    def tearDown(self) -> None:
        """No feed of a test outlives it."""
        end = time.time() + 60  # against a hang
        while set(names()) - self.others and time.time() < end:  # against a hang
            time.sleep(0.01)  # between two looks
        self.assertEqual(set(names()) - self.others, set())

    def test_ranks_share_a_process(self) -> None:
        """Two and four ranks have one feed, and the batches that they have with feeds of their own."""
        for n in (2, 4):
            with ranks(n) as shared, ranks(n, share=False) as own:
                feeds = {r.feed() for r in shared}
                self.assertEqual(len(feeds), 1)
                self.assertEqual(len({r.feed() for r in own}), n)
                for _ in range(2):
                    self.assertEqual([r.epoch() for r in shared], [r.epoch() for r in own])
            self.assertTrue(gone(feeds.pop()))

    def test_one_copy_of_the_columns(self) -> None:
        n, width = 1 << 16, 256  # 64 MiB
        store = made.path("wide.store")
        folder = tempfile.mkdtemp(prefix="wide-", dir=os.path.dirname(store))
        np.save(os.path.join(folder, "x.npy"), np.ones((n, width), np.float32))
        np.save(os.path.join(folder, "e.npy"), np.stack([np.arange(n), np.roll(np.arange(n), 1)]))
        with open(os.path.join(folder, "graph.yaml"), "w") as f:
            f.write("nodes:\n  n: {columns: {x: x.npy}}\nedges:\n  n:to:n: {table: e.npy}\n")
        made.graphmill("import", folder, "--out", store)
        columns = 4 * n * width
        taken = {}
        for share in (None, False):
            with ranks(4, store=store, share=share, seed_type="n", features=["x"]) as four:
                feeds = {r.feed() for r in four}
                for r in four:
                    r.epoch()
                taken[share] = sum(map(anonymous, feeds))
        self.assertGreater(taken[False], 4 * columns)  # so that the bound below says something
        self.assertGreater(taken[None], columns)
        self.assertLess(taken[None], columns * 1.5)

    def test_the_first_rank_is_killed(self) -> None:
        """The others go on, those that come later join, and the end of the last one leaves nothing."""
        first = Rank(0, 3)
        feed = first.feed()
        with ranks(3) as others:
            for r in others:
                self.assertEqual(r.feed(), feed)
            want = [r.epoch() for r in others]
            self.assertEqual(first.epoch(), want[0])
            first.kill()
            late = Rank(0, 3)
            self.assertEqual(late.feed(), feed)
            self.assertEqual(late.epoch(), want[0])
            late.end()
            self.assertEqual(len([r.epoch() for r in others]), 3)
            self.assertFalse(gone(feed, 0.2))
        self.assertTrue(gone(feed))

    def test_each_order_of_death(self) -> None:
        for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
            with ranks(3) as all_:
                feed = {r.feed() for r in all_}.pop()
                all_[0].epoch()
                for i in order:
                    self.assertFalse(gone(feed, 0.05))
                    os.kill(all_[i].pid, signal.SIGKILL)
                    os.waitpid(all_[i].pid, 0)
                self.assertTrue(gone(feed))

    def test_killed_while_it_starts(self) -> None:
        """Wherever in its start the first rank dies, the second one gets its batches."""
        for delay in (0, 0.02, 0.05, 0.08, 0.11, 0.14, 0.17, 0.2, 0.25):
            first = Rank(0, 2)
            time.sleep(delay)  # the moment of the death
            second = Rank(1, 2)
            time.sleep(0.05)  # the moment of the death
            first.kill()
            feed = second.feed()
            self.assertEqual(second.epoch()[0], list(range(1, 64, 2)))
            second.end()
            self.assertTrue(gone(feed))

    def test_the_feed_is_killed(self) -> None:
        with NodeLoader(made.RMAT, rank=0, world_size=2, **OPTIONS) as first, NodeLoader(made.RMAT, rank=1, world_size=2, **OPTIONS) as second:
            feed = made.feed_of(first)
            passes = [iter(first), iter(second)]
            for p in passes:
                next(p)
            os.kill(feed, signal.SIGKILL)
            for p, words in zip(passes, ("exit status -9", f"process {feed}., which another rank started")):
                with self.assertRaisesRegex(FeedDied, words):
                    list(p)
            with NodeLoader(made.RMAT, rank=1, world_size=2, **OPTIONS) as third:  # finds no feed, so it starts one
                self.assertNotEqual(made.feed_of(third), feed)
                self.assertEqual(len(list(map(flat, third))), 32)

    def test_the_first_closes_and_the_second_goes_on(self) -> None:
        first = NodeLoader(made.RMAT, rank=0, world_size=2, **OPTIONS)
        with NodeLoader(made.RMAT, rank=1, world_size=2, **OPTIONS) as second:
            feed = made.feed_of(first)
            self.assertEqual(made.feed_of(second), feed)
            first.close()  # does not wait for the feed, which goes on
            self.assertEqual(len([flat(b) for b in second]), 32)
        self.assertTrue(gone(feed))

    def test_who_shares(self) -> None:
        """Ranks of one training with the same store and arguments share a feed, and nobody else."""
        nodes = np.arange(100)
        np.save(made.path("some.npy"), nodes)
        base: dict[str, Any] = dict(OPTIONS, rank=0, world_size=2, seeds=nodes)
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(NodeLoader(made.RMAT, **base))

            def feed(**options: Any) -> int:
                return made.feed_of(stack.enter_context(NodeLoader(**{"store": made.RMAT, **base, **options})))

            for options in (dict(), dict(rank=1), dict(rank=2, world_size=3), dict(rank=0, world_size=1, share=True), dict(slots=2), dict(tail="drop"),
                            dict(store=os.path.relpath(made.RMAT)), dict(seeds=made.path("some.npy")), dict(seeds=nodes.tolist())):  # fmt: skip
                self.assertEqual(feed(**options), made.feed_of(first), options)
            others = [feed(**options) for options in (dict(share=False), dict(world_size=1), dict(seed=8), dict(fanout=[4, 4]), dict(batch_size=65), dict(seeds=nodes[1:]),
                                                      dict(features="none"), dict(threads=2), dict(store=made.DEBIAN, seed_type="package", features=["size"]))]  # fmt: skip
            with unittest.mock.patch.dict(os.environ, MASTER_PORT="1"):
                others.append(feed())
            self.assertEqual(len({made.feed_of(first), *others}), len(others) + 1)

    def test_an_error_of_all_ranks(self) -> None:
        for r in range(2):
            with self.assertRaisesRegex(GraphmillError, "no.json"):
                NodeLoader(made.RMAT, rank=r, world_size=2, plan="no.json", **{**OPTIONS, "fanout": None})

    def test_a_name_that_nobody_serves(self) -> None:
        """If the name is taken by a process that is no feed, a rank has a feed of its own."""
        from unittest import mock

        from graphmill import _identity, _process

        with NodeLoader(made.RMAT, rank=0, world_size=2, **OPTIONS) as loader:
            (name,) = (n[1:] for n in set(names()) - self.others)
        with (
            socket.socket(socket.AF_UNIX) as other,
            mock.patch.object(_process, "_PATIENCE", 0.2),
            mock.patch.object(_identity, "shared_name", lambda *_: name),
        ):
            other.bind("\0" + name)  # it never listens
            with NodeLoader(made.RMAT, rank=0, world_size=2, **OPTIONS) as loader:
                self.assertEqual(len([flat(b) for b in loader]), 32)
                feed = made.feed_of(loader)
            self.assertTrue(gone(feed, 0.1))  # close has waited

    def test_fork(self) -> None:
        """A forked child is no owner, and can start a pass of its own."""
        loader = NodeLoader(made.RMAT, rank=0, world_size=2, **OPTIONS)
        with NodeLoader(made.RMAT, rank=1, world_size=2, **OPTIONS) as second:
            feed = made.feed_of(loader)
            want = [flat(b) for b in second]
            second.set_epoch(0)
            child = os.fork()
            if child == 0:
                ok = [flat(b) for b in second] == want
                os.kill(os.getpid(), signal.SIGSTOP)  # it outlives the owners
                os._exit(0 if ok else 1)
            _, status = os.waitpid(child, os.WUNTRACED)
            self.assertTrue(os.WIFSTOPPED(status))
            loader.close()
            self.assertEqual([flat(b) for b in second], want)
        self.assertTrue(gone(feed))
        os.kill(child, signal.SIGCONT)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    @unittest.skipUnless(available("torch"), "needs torch")
    def test_data_loader_workers(self) -> None:
        from test_loader import Flat
        from torch.utils.data import DataLoader

        with NodeLoader(made.RMAT, rank=0, world_size=2, **OPTIONS) as first, NodeLoader(made.RMAT, rank=1, world_size=2, **OPTIONS) as second:
            self.assertEqual(made.feed_of(first), made.feed_of(second))
            want = [(b.number, b.n_id.tolist()) for b in second]
            for context in made.methods(self):
                second.set_epoch(0)
                workers = DataLoader(pickle.loads(pickle.dumps(Flat(second))), batch_size=None, num_workers=2, multiprocessing_context=context)
                self.assertEqual([(number, n_id.tolist()) for number, n_id, *_ in workers], want)


class TestStates(unittest.TestCase):
    def test_what_differs(self) -> None:
        """A state that does not fit names each argument that differs, with both values."""
        nodes = np.arange(100)
        base: dict[str, Any] = dict(store=made.RMAT, seeds=nodes, **OPTIONS)
        with NodeLoader(**base) as loader:
            state = json.loads(json.dumps(loader.state_dict()))
        options: Any
        for options, want in (
            (dict(seed=8), "found seed 7, expected 8;"),
            (dict(batch_size=65, fanout=[4, 4]), "found batch_size 64, expected 65; fanout 4,3, expected 4,4;"),
            (dict(shuffle=False), "found shuffle True, expected none;"),
            (dict(replace=True), "found replace none, expected True;"),
            (dict(seeds=nodes[1:]), "found seeds [0-9a-f]{16}, expected [0-9a-f]{16};"),
            (
                dict(store=made.DEBIAN, seed_type="package", features=["size"]),
                "found seed_type none, expected package; store [0-9a-f]{16}, expected [0-9a-f]{16};",
            ),
        ):
            with (
                NodeLoader(**{**base, **options}) as other,
                self.assertRaisesRegex(ValueError, f"state does not match: {want} make the loader with the arguments of the state"),
            ):
                other.load_state_dict(state)
        with NodeLoader(**base, threads=3, features="none") as other:
            other.load_state_dict(state)  # what changes no draw may differ
            with self.assertRaisesRegex(ValueError, "state does not match: found data '8c4f', expected the arguments of a loader by name"):
                other.load_state_dict({**state, "data": "8c4f"})


if __name__ == "__main__":
    unittest.main()
