"""The client of `graphmill serve`: its answers are the batches of a loader, and what goes wrong is said.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.util
import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import unittest
from collections.abc import Iterator
from typing import Any

import numpy as np
import random_graphs
from graphmill import Busy, Client, GraphmillError, NodeLoader, Store, from_arrays
from graphmill._command import command

PYG = unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")


def shop(seed: int, folder: str | None = None) -> Store:
    """Users and items with texts as ids, one edge type that is nearly empty, and one without edges."""
    r = np.random.default_rng(seed)
    users, items, m = int(r.integers(1, 30)), int(r.integers(1, 20)), int(r.integers(0, 120))
    ids = np.array([f"u{i}" for i in range(users)])
    of: dict[Any, Any] = {
        ("user", "buys", "item"): {
            "edge_index": [ids[r.integers(0, users, m)].tolist(), r.integers(0, items, m).tolist()],
            "time": r.integers(0, 50, m),
            "w": r.random((m, 2), np.float32),
        },
        ("user", "follows", "user"): {"edge_index": ids[r.integers(0, users, (2, 3))].tolist(), "time": r.integers(0, 50, 3)},
        ("item", "like", "item"): {"edge_index": np.zeros((2, 0), np.int64), "time": np.zeros(0, np.int64)},
    }
    nodes = {
        "user": {"#id": ids.tolist(), "f": r.random((users, 3), np.float32), "joined": r.integers(0, 50, users)},
        "item": {"price": r.random(items, np.float32)},
    }
    return from_arrays(nodes, of, folder, both=True)


@contextlib.contextmanager
def serving(store: Any, *flags: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server, and the path of its socket."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "g.sock")
        with subprocess.Popen([command(), "serve", str(getattr(store, "path", store)), "--socket", path, *flags], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                assert json.loads(server.stdout.readline())["socket"] == path
                yield path, server
            finally:
                ran = server.poll() is None
                server.terminate()
                status = server.wait()
        assert not ran or status == 0, status


class TestClient(unittest.TestCase):
    def equal(self, a: Any, b: Any, what: str = "batch") -> None:
        """Two batches have the same arrays."""
        if isinstance(a, dict):
            self.assertEqual(list(a), list(b), what)
            for k in a:
                self.equal(a[k], b[k], f"{what} {k}")
        elif hasattr(a, "__dataclass_fields__"):
            for name in a.__dataclass_fields__:
                if name not in ("number", "input_id"):
                    self.equal(getattr(a, name), getattr(b, name), name)
        else:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b), what)

    def test_random_graphs(self) -> None:
        """Answers of random typed graphs, with sparse corners, equal the first batch of a loader with these seeds, and show their seeds."""
        for seed in range(6):
            store = shop(seed)
            scope = "seed" if seed % 2 else "batch"
            fanout = {"user:buys:item": [3, 2], "user:follows:user": [1, 2], "item:like:item": [2, 2]}
            text = ";".join(f"{t}={','.join(map(str, of))}" for t, of in fanout.items())
            with (
                serving(
                    store,
                    "--fanout",
                    text,
                    "--seed-type",
                    "user",
                    "--direction",
                    "out",
                    "--scope",
                    scope,
                    "--edge-features",
                    "all",
                    "--batch-size",
                    "5",
                    "--seed",
                    "3",
                ) as (
                    path,
                    _,
                ),
                Client(path) as client,
            ):
                r = np.random.default_rng(seed)
                for _ in range(8):
                    seeds = r.integers(0, store.nodes["user"].count, int(r.integers(1, 6)))
                    answer = client.ask(ids=[f"u{i}" for i in seeds], epoch=0, batch=0)
                    np.testing.assert_array_equal(answer.n_id["user"][answer.seed_local], seeds)
                    np.testing.assert_array_equal(answer.x["user"]["f"], store.nodes["user"].columns["f"][answer.n_id["user"]])
                    self.equal(answer, client.ask(seeds=seeds))
                    if scope == "seed" or len(set(seeds)) == len(seeds):
                        with NodeLoader(
                            store, fanout, 5, seeds, "user", direction="out", scope=scope, edge_features="all", seed=3
                        ) as loader:  # fmt: skip
                            self.equal(answer, next(iter(loader)))

    def test_odd_types(self) -> None:
        """Types with any names, without edges, and in any direction."""
        for number in range(8):
            c = random_graphs.case(number)
            text = ";".join(f"{':'.join(e)}={','.join(map(str, takes))}" for e, takes in c.fanout.items())
            flags = ["--fanout", text, "--seed-type", c.seed_type, "--features", "none", "--batch-size", str(len(c.seeds))]
            with serving(c.store, *flags) as (path, _), Client(path) as client, NodeLoader(c.store, **random_graphs.loader_arguments(c)) as loader:
                self.equal(next(iter(loader)), client.ask(seeds=c.seeds))

    def test_times(self) -> None:
        """Neighbours are before the time of each seed; times come as numbers, and as dates where the store has a unit."""
        store = shop(1)
        flags = ["--fanout", "5,5", "--seed-type", "user", "--direction", "out", "--scope", "seed", "--before", "time", "--edge-features", "time"]
        with serving(store, *flags) as (path, _), Client(path) as client:
            for at in (0, 10, 30, 100):
                answer = client.ask(ids=["u0", "u1"], times=at)
                for of in answer.edge_attr.values():
                    self.assertTrue((of["time"] < at).all())
            for times, error, text in (
                (None, GraphmillError, "seeds without times"),
                ([1, 2, 3], ValueError, "for each of 2 seeds"),
                (1.5, GraphmillError, "expected a whole number"),
                (datetime.datetime(2024, 1, 1), ValueError, "have no unit"),
                (["a", "b"], ValueError, "expected a number"),
            ):
                with self.assertRaisesRegex(error, text):
                    client.ask(ids=["u0", "u1"], times=times)
        dated = from_arrays({"x": np.arange(3.0)}, {"edge_index": [[0, 1], [2, 2]], "time": np.array(["2024-01-02", "2024-01-05"], "datetime64[s]")})
        with serving(dated, "--fanout", "5", "--scope", "seed", "--before", "time", "--age", "_N:_E:_N=time") as (path, _):
            with Client(path) as client:
                day = datetime.datetime(2024, 1, 3, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
                for when in (np.datetime64("2024-01-03"), datetime.date(2024, 1, 3), day):
                    self.assertEqual(client.ask(seeds=2, times=when).n_id.tolist(), [2, 0])
                self.assertEqual(client.ask(seeds=2, times=np.datetime64("2024-01-06")).edge_attr["age"].tolist(), [4.0, 1.0])

    def test_texts(self) -> None:
        """Texts and original ids of nodes are those of the store, also empty ones, ids that are numbers, and of types without any ids."""
        titles = ["", "α", "a/b", "long " * 50, "x"]
        nodes = {"paper": {"#id": np.array([7, 5, 10**12, 0, 3]), "title": titles}, "author": {"#id": ["ada", "", "bob"]}, "topic": 4}
        edges: dict[Any, Any] = {
            ("author", "writes", "paper"): [["ada", "ada", "", "bob"], [7, 10**12, 0, 3]],
            ("topic", "of", "paper"): [[0, 3], [7, 7]],
        }
        store = from_arrays(nodes, edges)
        for form in ("numpy", "pyg") if importlib.util.find_spec("torch_geometric") else ("numpy",):
            flags = ["--fanout", "5,5", "--seed-type", "paper", "--texts", "title,#id", "--features", "none"]
            with serving(store, *flags) as (path, _), Client(path, form) as client:
                for asked in (7, 5, 10**12, [0, 3, 7]):
                    answer = client.ask(ids=asked)
                    for t, ids in (("paper", ["7", "5", "1000000000000", "0", "3"]), ("author", ["ada", "", "bob"]), ("topic", ["0", "1", "2", "3"])):
                        n_id = answer.n_id[t] if form == "numpy" else answer[t].n_id
                        of = answer.x[t] if form == "numpy" else answer[t]
                        self.assertEqual(list(of["#id"]), [ids[i] for i in n_id])
                        if t == "paper":
                            self.assertEqual(list(of["title"]), [titles[i] for i in n_id])
        with self.assertRaises((AssertionError, ValueError)), serving(store, "--fanout", "5", "--seed-type", "paper", "--texts", "author/name"):
            pass

    def test_wrong_questions(self) -> None:
        with serving(shop(2), "--fanout", "2", "--seed-type", "user", "--batch-size", "2") as (path, _), Client(path) as client:
            for arguments, error, text in (
                ({}, ValueError, "found both or neither"),
                ({"ids": ["u0"], "seeds": [0]}, ValueError, "found both or neither"),
                ({"ids": [1.5]}, TypeError, "found 1.5 in ids="),
                ({"ids": 2.5}, TypeError, "expected original ids"),
                ({"seeds": [0.5]}, TypeError, "expected row numbers"),
                ({"seeds": 0, "epoch": -1}, ValueError, "epoch"),
                ({"ids": ["nobody"]}, GraphmillError, 'found the id "nobody"'),
                ({"ids": []}, GraphmillError, "found 0 seeds"),
                ({"seeds": [0, 0, 0]}, GraphmillError, "expected 1 to 2, the batch size"),
                ({"seeds": 0, "times": 1}, GraphmillError, "a plan without times"),
            ):
                with self.subTest(arguments), self.assertRaisesRegex(error, text):
                    client.ask(**arguments)
            self.assertEqual(client.ask(seeds=0).n_id["user"][0], 0)
        with self.assertRaisesRegex(GraphmillError, "found no server"):
            Client("/nowhere/g.sock")
        with self.assertRaises(ValueError):
            Client("/nowhere/g.sock", timeout=0)  # which is no time
        with self.assertRaises(ValueError):
            Client("/nowhere/g.sock", as_="frames")

    def test_plans(self) -> None:
        """Plans of one server answer as servers of their own do, one after the other, also with other seeds and units of times, and before their first answer."""
        nodes: dict[str, Any] = {"user": {"#id": ["ada", "bob"]}, "item": {"#id": ["pen", "ink", "cup"], "price": np.arange(3.0)}}
        times = np.array(["2024-01-02", "2024-01-05", "2024-01-09"], "datetime64[s]")
        edges: dict[Any, Any] = {("user", "buys", "item"): {"edge_index": [["ada", "ada", "bob"], ["pen", "ink", "ink"]], "time": times}}
        store = from_arrays(nodes, edges, both=True)
        with tempfile.TemporaryDirectory() as folder:
            flags = {}
            for name, seed, way, more in (("buyers", "item", "in", {}), ("goods", "user", "out", {"before": {"column": "time", "or_equal": False}})):
                plan = {
                    "seed_type": seed,
                    "scope": "seed",
                    "expand": "new",
                    "ops": [{"from": [0], "edges": "user:buys:item", "dir": way, "take": -1, "how": "uniform"}],
                    **more,
                }
                with open(os.path.join(folder, name), "w") as f:
                    json.dump(plan, f)
                flags[name] = os.path.join(folder, name)
            both = [f"--plan={name}={path}" for name, path in flags.items()]
            with serving(store, *both) as (path, _), Client(path) as client:
                self.assertEqual(client.plans, ("buyers", "goods"))
                when = np.datetime64("2024-01-06")
                for asked, question in (
                    ("goods", {"ids": "ada", "times": when}),
                    ("buyers", {"ids": ["ink", "cup"]}),
                    ("goods", {"ids": "bob", "times": when}),
                ):
                    with serving(store, "--plan", flags[asked]) as (alone, _), Client(alone) as other:
                        self.assertEqual(other.plans, ())
                        self.equal(other.ask(**question), client.ask(**question, plan=asked))
                self.equal(client.ask(ids="ink"), client.ask(ids="ink", plan="buyers"))
                self.assertEqual(client.ask(ids="ada", times=when, plan="goods").n_id["item"].tolist(), [0, 1])
                for wrong, error, text in (
                    ("sellers", GraphmillError, "expected one of buyers, goods"),
                    ("", TypeError, "found plan=''"),
                    (3, TypeError, "name of a plan"),
                ):
                    with self.assertRaisesRegex(error, text):
                        client.ask(ids="ink", plan=wrong)  # type: ignore[arg-type]
                with pickle.loads(pickle.dumps(client)) as copied:
                    self.equal(client.ask(ids="ink"), copied.ask(ids="ink"))

    def test_links(self) -> None:
        store = shop(3)
        with serving(store, "--fanout", "2", "--seed-type", "user,item", "--direction", "out", "--batch-size", "4") as (path, _), Client(path) as client:
            answer = client.ask(ids=[("u0", 0), ("u1", 0)])
            self.assertEqual(answer.n_id["user"][answer.seed_local[:, 0]].tolist(), [0, 1])
            self.assertEqual(answer.n_id["item"][answer.seed_local[:, 1]].tolist(), [0, 0])
            with self.assertRaisesRegex(GraphmillError, "pairs of source and target"):
                client.ask(ids=["u0", 0, "u1"])

    def test_processes_and_threads(self) -> None:
        """A fork and a pickled copy connect by themselves, threads share a client, and a server that was started again is found."""
        with tempfile.TemporaryDirectory() as folder:
            store = shop(4, os.path.join(folder, "g.store"))
            flags = ["--fanout", "2,2", "--seed-type", "user", "--direction", "out"]
            with serving(store, *flags) as (path, server):
                client = Client(path)
                want = client.ask(seeds=0)
                with pickle.loads(pickle.dumps(client)) as copied:
                    self.equal(want, copied.ask(seeds=0))
                pid = os.fork()
                if pid == 0:
                    os._exit(0 if (client.ask(seeds=0).n_id["user"] == want.n_id["user"]).all() else 1)
                self.assertEqual(os.waitpid(pid, 0)[1], 0)
                wrong: list[int] = []

                def asks() -> None:
                    for _ in range(50):
                        if (
                            client.ask(seeds=0, batch=1).edge_index["user", "buys", "item"].shape
                            != client.ask(seeds=0, batch=1).edge_index["user", "buys", "item"].shape
                        ):
                            wrong.append(1)

                threads = [threading.Thread(target=asks) for _ in range(4)]
                for t in threads:
                    t.start()
                for t in threads:
                    t.join()
                self.assertEqual(wrong, [])
                server.send_signal(signal.SIGKILL)
                server.wait()
                with self.assertRaisesRegex(GraphmillError, "found no server"):
                    client.ask(seeds=0)
                again = [command(), "serve", str(store.path), "--socket", path, *flags]
                with subprocess.Popen(again, stdout=subprocess.PIPE, text=True) as second:  # at the socket that the killed one left
                    assert second.stdout is not None
                    second.stdout.readline()
                    self.equal(want, client.ask(seeds=0))
                    client.close()
                    second.terminate()
                    self.assertEqual(second.wait(), 0)

    def test_hostile_servers(self) -> None:
        """Whatever a socket sends, the client says that it cannot be read, and takes no memory that a length alone asks for."""
        description = json.dumps({"version": 1, "batch_size": 1, "hops": 1, "seed_types": ["a"], "columns": [], "ops": []}).encode()
        head = struct.Struct("<IIQ")
        for name, sent, text in (
            ("nothing", b"", "ended the connection"),
            ("half a head", b"\1\0", "ended the connection"),
            ("another protocol", head.pack(13, 2, 0) + b'{"version":2}', "expected version 1"),
            ("no JSON", head.pack(1, 2, 0) + b"{", "expected version 1"),
            ("another kind", head.pack(2, 9, 0) + b"{}", "expected version 1"),
            ("a huge frame", head.pack(0xFFFFFFFF, 2, 0), "ended the connection"),
            ("busy", head.pack(29, 4, 0) + b'{"error":"full","code":"busy"}'[:29], "cannot be read"),
            ("an answer of one byte", head.pack(len(description), 2, 0) + description + head.pack(1, 3, 1) + b"x", "cannot be read"),
            ("an answer of zeros", head.pack(len(description), 2, 0) + description + head.pack(64, 3, 1) + bytes(64), "cannot be read"),
        ):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
                path = os.path.join(folder, "s")
                listening.bind(path)
                listening.listen()

                def answers(listening: socket.socket = listening, sent: bytes = sent) -> None:
                    with contextlib.suppress(OSError):
                        while True:
                            with listening.accept()[0] as s:
                                s.sendall(sent)
                                s.shutdown(socket.SHUT_WR)
                                s.recv(100)

                threading.Thread(target=answers, daemon=True).start()
                with self.assertRaisesRegex(GraphmillError, text):
                    with Client(path, timeout=5) as client:  # against a hang
                        client.ask(seeds=0)
                listening.shutdown(socket.SHUT_RDWR)
        self.assertTrue(issubclass(Busy, GraphmillError))

    def test_interrupted(self) -> None:
        """After an interrupt in the middle of an answer, the next question has its own answer."""
        with serving(shop(4), "--fanout", "2,2", "--seed-type", "user", "--direction", "out") as (path, _), Client(path) as client:
            want = [client.ask(seeds=0, batch=b) for b in range(3)]
            assert client._socket is not None
            read, left = client._socket._exactly, [2]

            def interrupted(n: int) -> Any:
                left[0] -= 1
                if left[0] == 0:
                    read(n // 2)
                    raise KeyboardInterrupt
                return read(n)

            client._socket._exactly = interrupted  # type: ignore[method-assign]
            with self.assertRaises(KeyboardInterrupt):
                client.ask(seeds=0, batch=1)
            for b in (2, 0, 1):
                self.equal(want[b], client.ask(seeds=0, batch=b))

    @PYG
    def test_pyg(self) -> None:
        store = shop(5)
        fanout = {"user:buys:item": [3], "user:follows:user": [1]}
        with (
            serving(store, "--fanout", "user:buys:item=3;user:follows:user=1", "--seed-type", "user", "--direction", "out") as (path, _),
            Client(path, "pyg") as client,
        ):
            data = client.ask(ids="u0")
            with NodeLoader(store, fanout, 1, np.array([0]), "user", "pyg", direction="out") as loader:
                want = next(iter(loader))
            self.assertEqual(data.node_types, want.node_types)
            for a, b in zip(data.stores, want.stores):
                self.assertEqual(set(a.keys()), set(b.keys()))
                for k in a.keys():
                    self.assertTrue(np.array_equal(np.asarray(a[k]), np.asarray(b[k])), k)


if __name__ == "__main__":
    unittest.main()
