"""Loaders whose rows stay on a device: their batches equal those of loaders without a cache. The device of the tests is the processor, or a made-up one
that records the calls of CUDA.

GRAPHMILL_COMMAND is the path of the command. With GRAPHMILL_TEST_DEVICE, such as cuda:0, the rows are on that device in place of the processor.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import os
import pickle
import unittest
import unittest.mock
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import graphmill
import numpy as np
import numpy.typing as npt
from graphmill import Cache, NodeLoader, Store
from graphmill._cache import most

DEVICE = os.environ.get("GRAPHMILL_TEST_DEVICE")  # of torch, where there is one; default: the processor
TORCH = importlib.util.find_spec("torch") is not None
PYG = unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")


def rows(r: np.random.Generator, n: int) -> dict[str, Any]:
    """Columns of many dtypes and shapes."""
    return {
        "x": r.random((n, 5)).astype(np.float32),
        "half": r.random((n, 3)).astype(np.float16),
        "small": r.integers(0, 200, n).astype(np.uint8),
        "u16": r.integers(0, 60000, (n, 2)).astype(np.uint16),
        "u32": r.integers(0, 1 << 32, n).astype(np.uint32),
        "u64": r.integers(0, 1 << 63, n).astype(np.uint64),
        "yes": r.random(n) < 0.5,
        "label": r.integers(0, 7, n),
        "f64": r.random((n, 2, 2)),
    }


def typed(number: int) -> Store:
    """Users, items and a type without nodes, and edges between them: some or none."""
    r = np.random.default_rng(number)
    users, items = int(r.integers(1, 60)), int(r.integers(1, 30))
    n = int(r.choice([0, 1, 30, 300]))
    buys = np.stack([r.integers(0, users, n), r.integers(0, items, n)])
    return graphmill.from_arrays(
        {"user": rows(r, users), "item": {k: x for k, x in rows(r, items).items() if k in ("x", "label")}, "none": rows(r, 0)},
        {
            ("user", "buys", "item"): {"edge_index": buys, "w": r.random(n)},
            ("item", "sold", "user"): {"edge_index": buys[::-1]},
            ("user", "knows", "user"): {"edge_index": r.integers(0, users, (2, n))},
            ("none", "likes", "item"): {"edge_index": np.empty((2, 0), np.int64)},
        },
    )


def plain() -> Store:
    """One type of nodes and one of edges."""
    r = np.random.default_rng(4)
    ends = (r.random((2, 3000)) ** 3 * 400).astype(np.int64)
    return graphmill.from_arrays(rows(r, 400), {"edge_index": ends, "w": r.random(3000)})


@functools.lru_cache(None)
def pieces() -> Store:
    """Users with features that the store has as codes of few bits, one-hot and multi-hot."""
    r = np.random.default_rng(5)
    n, m = 120, 900
    users = {
        "id": np.arange(n),
        "age": r.integers(18, 80, n).astype(float),
        "city": [f"city {i}" for i in r.integers(0, 60, n)],
        "tags": [";".join(f"t{k}" for k in r.integers(0, 70, r.integers(0, 4))) for _ in range(n)],
        "vector": r.normal(size=(n, 3)).astype("f4"),
    }
    hot = [{"from": "city", "encode": "one-hot"}, {"from": "tags", "encode": "multi-hot", "separator": ";"}, {"from": "age", "scale": "standard"}]
    features = {f"{d}_{b}": {"bits": b, "dtype": d, "parts": ["vector", *hot[::2]]} for d in ("float32", "float16", "bfloat16") for b in (4, 8)}
    edges = {("user", "buys", "item"): {"src": r.integers(0, n, m), "dst": r.integers(0, 30, m)}}
    items = {"id": np.arange(30), "weight": r.random(30)}
    return graphmill.from_tables(
        {"user": users, "item": items}, edges, features={"user": {**features, "hot": hot, "half": {"dtype": "bfloat16", "parts": hot}}}, both=True
    )


def equal(test: unittest.TestCase, a: Any, b: Any, path: str = "") -> None:
    """Asserts that two batches have equal tensors of equal dtypes, and equal values."""
    import torch

    test.assertIs(type(a), type(b), path)
    if isinstance(a, torch.Tensor):
        test.assertEqual((a.dtype, a.shape), (b.dtype, b.shape), path)
        test.assertTrue(torch.equal(a.cpu(), b.cpu()), path)
    elif isinstance(a, dict):
        test.assertEqual(list(a), list(b), path)
        for k in a:
            equal(test, a[k], b[k], f"{path}/{k}")
    elif isinstance(a, (list, tuple)):
        test.assertEqual(len(a), len(b), path)
        for i, (x, y) in enumerate(zip(a, b)):
            equal(test, x, y, f"{path}/{i}")
    elif hasattr(a, "to_dict"):  # of PyG
        equal(test, a.to_dict(), b.to_dict(), path)
    elif hasattr(a, "canonical_etypes"):  # of DGL
        test.assertEqual((a.ntypes, a.canonical_etypes), (b.ntypes, b.canonical_etypes))
        for e in a.canonical_etypes:
            equal(test, a.edges(etype=e, order="eid"), b.edges(etype=e, order="eid"), f"{path}/{e}")
            equal(test, dict(a.edges[e].data), dict(b.edges[e].data), f"{path}/{e}")
        for t in a.srctypes:
            equal(test, dict(a.srcnodes[t].data), dict(b.srcnodes[t].data), f"{path}/src {t}")
        for t in a.dsttypes:
            equal(test, dict(a.dstnodes[t].data), dict(b.dstnodes[t].data), f"{path}/dst {t}")
    else:
        test.assertEqual(a, b, path)


class Two(NamedTuple):
    """What a transform can make."""

    x: Any
    text: str


class TestMost(unittest.TestCase):
    def test_counts_alone_decide(self) -> None:
        """A brute force over all rows, most counts first, then types in their order, then ids."""
        r = np.random.default_rng(1)
        for _ in range(300):
            counts = {t: r.integers(0, 4, int(r.integers(0, 12))).astype(np.int32) for t in "abc"}
            sizes, memory = {"a": int(r.integers(1, 9)), "b": int(r.integers(1, 9)), "c": 0}, int(r.integers(1, 120))
            left, want = memory, {"a": [], "b": []}  # type: tuple[int, dict[str, list[int]]]
            for c in (3, 2, 1):
                level = [(t, v) for t in "ab" for v in np.flatnonzero(counts[t] == c)]
                whole = sum(sizes[t] for t, _ in level) <= left
                for t, v in level:
                    if sizes[t] <= left:
                        want[t].append(int(v))
                        left -= sizes[t]
                if not whole:
                    break
            got = most(counts, sizes, memory)
            self.assertEqual({t: x.tolist() for t, x in got.items()}, {t: sorted(x) for t, x in want.items() if x})

    def test_memory(self) -> None:
        for text, n in (("2GiB", 2 << 30), ("500MB", 500_000_000), ("4k", 4096), (" 1.5 MiB ", 3 << 19), ("77", 77), (5, 5), (np.int64(6), 6), ("7b", 7)):
            self.assertEqual(Cache(text).memory, n)  # type: ignore[arg-type]
        for wrong in ("", "2XB", "-1", 0, -5, True, 2.5, None, "0GiB", "GiB"):
            with self.assertRaisesRegex(ValueError, "^found cache="):
                Cache(wrong)  # type: ignore[arg-type]


class Cached(unittest.TestCase):
    """Loaders of a form, which subclasses name."""

    form: str

    def check(self, store: Store, cache: Any, **options: Any) -> Cache:
        """Two epochs with a cache equal two without it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with NodeLoader(store, threads=1, **options) as a, NodeLoader(store, threads=1, cache=cache, device=DEVICE, **options) as b:
                for _epoch in range(2):
                    n = 0
                    for x, y in zip(a, b):
                        equal(self, x, y)
                        n += 1
                    self.assertEqual(n, len(a))
                self.assertEqual(a.state_dict(), b.state_dict())
                assert b.cache is not None
                return b.cache

    def test_random_graphs(self) -> None:
        sizes, kept = ["1", "300", "3KiB", "1GiB"], 0
        for number in range(8):
            options: dict[str, Any] = dict(fanout=[3, 2], seeds="user", batch_size=13, as_=self.form, shuffle=True, seed=number, edge_features="all")
            cache = self.check(typed(number), sizes[number % 4], **options)
            self.assertLessEqual(cache.nbytes, cache.memory)
            kept += sum(map(len, cache.nodes.values()))
        self.assertGreater(kept, 100)

    def test_one_type(self) -> None:
        cases: list[dict[str, Any]] = [
            dict(fanout=[4, 4], x=["x", "half", "f*"], features=["label", "u16"]),
            dict(fanout=[4], features=["x"]),
            dict(fanout=[4], executor="stream", memory="64MiB"),
            dict(fanout=[2, 2], limit_seeds=1),
            dict(fanout=[3], world_size=2, rank=1, share=False),
            *self.more(),
        ]
        for options in cases:
            cache = self.check(plain(), "6KiB", batch_size=50, as_=self.form, shuffle=True, **options)
            self.assertGreater(cache.nbytes, 0)
            self.assertLessEqual(cache.nbytes, 6 << 10)

    def more(self) -> list[dict[str, Any]]:
        """Options of this form alone."""
        raise NotImplementedError

    def test_features_in_pieces(self) -> None:
        """Codes of few bits and what is one-hot travel as the store has them, and are kept so: their numbers are made on the device."""
        store = pieces()
        options: dict[str, Any] = dict(fanout=[3, 2], seed_type="item", batch_size=20, as_=self.form, shuffle=True)
        for features in ("all", "none", ["user/float32_4", "hot", "weight"], ["bfloat16_8", "item/weight"]):
            if features != "none":
                cache = self.check(store, "3KiB", features=features, **options)
                self.assertEqual(cache.nodes.keys() & {"user"}, {"user"})
        cache = self.check(store, "1GiB", features=["user/float32_4"], **options)
        self.assertLess(cache.nbytes / len(cache.nodes["user"]), store.features("user")["float32_4"].width / 2)
        self.check(store, "3KiB", x={"user": ["float16_8", "age"]}, features=["bfloat16_4"], **options)

    def test_hosts(self) -> None:
        """Rows that are kept do not come from hosts."""
        from test_hosts import hosting

        store = plain()
        with hosting(store, 2) as hosts:
            cache = self.check(store, "6KiB", fanout=[4, 3], batch_size=50, as_=self.form, features=["x", "label"], hosts=hosts)
        self.assertGreater(cache.nbytes, 0)

    def test_what_is_kept(self) -> None:
        """The rows are those of the nodes that most batches have, and a second loader uses the same."""
        store, form = plain(), self.form
        options: dict[str, Any] = dict(fanout=[4, 4], batch_size=50, as_=form, shuffle=True, features=["x"])
        with NodeLoader(store, cache="2KiB", threads=1, device=DEVICE, **options) as loader:
            cache = loader.cache
            assert cache is not None
            counts = np.zeros(400, np.int64)
            with NodeLoader(store, **{**options, "as_": "numpy", **({"expand": "all"} if form == "dgl" else {})}) as counted:
                for b in counted:
                    counts[b.n_id] += 1
            (ids,) = cache.nodes.values()
            self.assertEqual(len(ids), 2048 // 20)
            self.assertGreaterEqual(counts[ids].min(), np.sort(counts)[-len(ids)])
            self.assertEqual(repr(cache), f"Cache(2 KiB): {len(ids)} rows, {len(ids) * 20 / 1024:.3g} KiB, on {DEVICE or 'cpu'}")
            nodes = brought = 0
            for b in loader:
                rows = len(b.x) if self.form == "pyg" else len(b[2][0].srcdata["x"])
                n_id = (b.n_id if self.form == "pyg" else b[0]).cpu()
                nodes, brought = nodes + rows, brought + int((~np.isin(n_id, ids)).sum())
            stats = loader.stats()
            self.assertEqual((stats.rows, stats.kept), (nodes, nodes - brought))
            self.assertGreater(stats.kept_share, len(ids) / 400)
            self.assertGreater(stats.bytes_sent, 20 * brought)
            same = self.check(store, cache, **{**options, "fanout": [2], "shuffle": False})
            self.assertIs(same, cache)

    def test_refused(self) -> None:
        store, form = plain(), self.form
        with NodeLoader(store, [2], cache="1KiB", as_=form, features=["x"]) as loader:
            cache = loader.cache
            with self.assertRaisesRegex(TypeError, "found a loader with cache= that is sent to another process"):
                pickle.dumps(loader)
        with self.assertRaisesRegex(ValueError, r"found cache= without the columns _N/small, expected columns of the loader that filled it"):
            NodeLoader(store, [2], cache=cache, as_=form, features=["x", "small"])
        with self.assertRaisesRegex(ValueError, "found cache= with the rows of another store"):
            NodeLoader(typed(3), [2], seeds="user", cache=cache, as_=form, features=["user/x"])
        with self.assertRaisesRegex(ValueError, "found cache= on cpu with device='meta', expected one device"):
            NodeLoader(store, [2], cache=cache, as_=form, features=["x"], device="meta")
        with self.assertRaisesRegex(ValueError, "found cache= with batches that have no columns of nodes"):
            NodeLoader(store, [2], cache="1KiB", as_=form, features="none")
        with self.assertRaisesRegex(ValueError, "found cache= with as_='numpy', expected as_='pyg', 'dgl' or 'jraph'"):
            NodeLoader(store, [2], cache="1KiB")
        with self.assertRaisesRegex(ValueError, "found cache='2XB', expected at least one byte"):
            NodeLoader(store, [2], cache="2XB", as_=form)


@PYG
class TestCached(Cached):
    form = "pyg"

    def more(self) -> list[dict[str, Any]]:
        links = np.array([[1, 2, 3, 5], [3, 4, 1, 9]])
        return [
            dict(fanout=[3, 3], scope="seed"),
            dict(fanout=[3], seeds=links, negatives=1, negatives_how="binary", edge_label=np.arange(4), seed_type=("_N", "_E", "_N")),
            dict(num_neighbors=[3], input_nodes=np.arange(0, 400, 3), label="small"),
            dict(sampler="shadow", fanout=[3]),
        ]

    def test_devices_by_other_names(self) -> None:
        import torch

        with NodeLoader(plain(), [2], cache="1KiB", as_="pyg", features=["x"], device="cpu") as loader:
            for device in ("cpu:0", torch.device("cpu"), None):
                with NodeLoader(plain(), [2], cache=loader.cache, as_="pyg", features=["x"], device=device) as other:
                    self.assertIs(other.cache, loader.cache)

    def test_pinned(self) -> None:
        """Batches with rows in the memory of this process are copied to pinned memory, where that is asked."""
        import torch
        from torch_geometric.data import Data

        with NodeLoader(plain(), [2], 100, cache="1KiB", as_="pyg", features=["x"], pin_memory=True) as loader:
            with (
                unittest.mock.patch.object(torch.cuda, "is_available", return_value=True),
                unittest.mock.patch.object(Data, "pin_memory", autospec=True, side_effect=lambda b: b) as pin,
            ):
                self.assertEqual(sum(1 for _ in loader), 4)
            self.assertEqual(pin.call_count, 4)

    def test_too_few_bytes(self) -> None:
        with self.assertWarnsRegex(UserWarning, "^cache='2 B' keeps no rows, because a row takes 20 B or more: give more bytes"):
            NodeLoader(plain(), [2], cache="2", as_="pyg", features=["x"]).close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with NodeLoader(typed(3), [2], seeds="none", cache="1KiB", as_="pyg") as loader:
                self.assertEqual((list(loader), loader.cache and loader.cache.nbytes), ([], 0))  # no batch, and so no node

    def test_transform_to_a_named_tuple(self) -> None:
        with NodeLoader(plain(), [2], cache="1KiB", as_="pyg", features=["x"], transform=lambda b: Two(b.x, "text")) as loader:
            b = next(iter(loader))
            self.assertEqual((type(b), b.x.shape[1], b.text), (Two, 5, "text"))

    def test_a_device_without_room(self) -> None:
        import torch

        error = torch.cuda.OutOfMemoryError("Tried to allocate 2 KiB")
        with (
            unittest.mock.patch("graphmill._cache._rows", side_effect=error),
            self.assertRaisesRegex(ValueError, r"found cache='1 KiB' with rows of .*, expected rows for which cpu has memory; give fewer bytes \(Tried"),
        ):
            NodeLoader(plain(), [2], cache="1KiB", as_="pyg", features=["x"])

    def test_transform_has_all_rows(self) -> None:
        seen = []

        def transform(b: Any) -> Any:
            seen.append((len(b.x), b.num_nodes))
            return b

        with NodeLoader(plain(), [3, 3], 50, as_="pyg", features=["x"], cache="1KiB", transform=transform) as loader:
            self.assertEqual(sum(1 for _ in loader), len(seen))
        self.assertTrue(all(a == b for a, b in seen))


@unittest.skipUnless(importlib.util.find_spec("dgl"), "DGL is not installed")
class TestDGLCached(Cached):
    form = "dgl"

    def more(self) -> list[dict[str, Any]]:
        return [dict(fanout=[3, 3], seeds=np.arange(300) % 40)]  # a seed that comes twice has two nodes


del Cached  # whose tests are those of the subclasses


class Fake:
    """The calls of CUDA, on the processor. Copies end when an event is waited for."""

    def __init__(self, refuses: bool = False) -> None:
        self.calls: list[str] = []
        self.registered: dict[int, int] = {}
        self.refuses, self.inside = refuses, False
        self.events: list[Event] = []

    def wait(self) -> None:
        self.calls.append("wait")

    @contextlib.contextmanager
    def within(self) -> Iterator[None]:
        self.inside = True
        try:
            yield
        finally:
            self.inside = False

    def copied(self, host: Any) -> Any:
        at, n = host.data_ptr(), host.numel()
        pinned = any(first <= at and at + n <= first + size for first, size in self.registered.items())
        self.calls.append(f"copy {'in place' if pinned else 'pinned' if host in PINNED else 'pageable'}")
        assert self.inside
        return host.clone()

    def event(self) -> Event:
        self.events.append(Event(self))
        return self.events[-1]

    def register(self, address: int, size: int) -> str:
        self.calls.append("register")
        if not self.refuses:
            assert not any(address < first + n and first < address + size for first, n in self.registered.items())
            self.registered[address] = size
        return "not supported" if self.refuses else ""

    def unregister(self, address: int) -> None:
        assert all(e.done for e in self.events)
        del self.registered[address]


class Event:
    def __init__(self, of: Fake) -> None:
        self.of, self.done, self.fails = of, False, False

    def query(self) -> bool:
        return self.done

    def synchronize(self) -> None:
        self.done = True
        if self.fails:
            raise RuntimeError("CUDA error: device-side assert triggered")


class Pinned:
    """Tensors that were copied to pinned memory."""

    def __init__(self) -> None:
        self.of: list[Any] = []

    def __contains__(self, x: Any) -> bool:
        return any(x is y for y in self.of)


PINNED = Pinned()


@PYG
class TestTransfer(unittest.TestCase):
    """Transfers to a CUDA device, which is made up."""

    def batches(self, cuda: Fake, **options: Any) -> tuple[NodeLoader, list[Any]]:
        """All batches of an epoch, which a loader copies by the calls of ``cuda``."""
        import torch
        from graphmill._transfer import Transfer

        loader = NodeLoader(plain(), [4, 4], 50, as_="pyg", shuffle=True, threads=1, **options)
        connection = loader._connect()
        loader._transfer = Transfer(torch.device("cpu"), loader.cache, connection, loader._narrow, cuda)
        out = []
        for _, b, _, _, event in loader._made(connection, connection.start(0, 0), 0, None, loader._transfer):
            self.assertIsNotNone(event)
            self.assertLessEqual(len(connection._held), 2)  # of 4 slots, which copies hold that have not ended
            out.append(b.clone())  # what the made-up device shares with the slot, a device has copied
            del b
        return loader, out

    def check(self, cuda: Fake, **options: Any) -> None:
        loader, got = self.batches(cuda, **options)
        with NodeLoader(loader.store, [4, 4], 50, as_="pyg", shuffle=True, threads=1) as want:
            for a, b in zip(want, got):
                equal(self, a, b)
        self.assertEqual(len(got), len(loader))
        loader.close()
        self.assertEqual(cuda.registered, {})

    def test_one_copy_per_batch_in_place(self) -> None:
        for options in ({}, {"cache": "6KiB"}):
            cuda = Fake()
            self.check(cuda, **options)
            copies = [c for c in cuda.calls if c.startswith("copy")]
            self.assertEqual(copies, ["copy in place"] * 8)
            self.assertLessEqual(cuda.calls.count("register"), 8)  # once per slot, and again for larger batches

    def test_memory_that_cannot_be_registered(self) -> None:
        import torch

        def pin(x: Any) -> Any:
            PINNED.of.append(x.clone())
            return PINNED.of[-1]

        cuda = Fake(refuses=True)
        with (
            unittest.mock.patch.object(torch.Tensor, "pin_memory", pin),
            self.assertWarnsRegex(RuntimeWarning, r"CUDA cannot register the shared memory of the feed \(not supported\)"),
        ):
            self.check(cuda)
        self.assertEqual(cuda.calls, ["register", *["copy pinned"] * 8])

    def one(self, cuda: Fake, **options: Any) -> tuple[NodeLoader, Any, Iterator[Any]]:
        """A loader whose first batch is copied by the calls of ``cuda``."""
        import torch
        from graphmill._transfer import Transfer

        loader = NodeLoader(plain(), [4, 4], 50, as_="pyg", threads=1, cache="6KiB", **options)
        connection = loader._connect()
        transfer = Transfer(torch.device("cpu"), loader.cache, connection, loader._narrow, cuda)
        return loader, transfer, loader._made(connection, connection.start(0, 0), 0, None, transfer)

    def test_a_batch_that_fails_after_its_copy_began(self) -> None:
        """Its copy goes on, so its slot is held, and memory stays registered until the copy has ended."""

        def fails(_: Any) -> Any:
            raise KeyError("mine")

        cuda = Fake()
        loader, transfer, made = self.one(cuda, transform=fails)
        with loader:
            with self.assertRaisesRegex(KeyError, "mine"):
                next(made)
            self.assertEqual((len(cuda.events), len(transfer._under_way), len(cuda.registered)), (1, 1, 1))
            loader._transfer = transfer
        self.assertTrue(cuda.events[0].done)
        self.assertEqual(cuda.registered, {})

    def test_a_loader_that_is_forgotten(self) -> None:
        """Memory that comes to be where the feed's was would be copied as what was registered there."""
        cuda = Fake()
        loader, transfer, made = self.one(cuda)
        loader._transfer = transfer
        next(made)
        self.assertEqual(len(cuda.registered), 1)
        del loader, transfer, made
        gc.collect()
        self.assertEqual(cuda.registered, {})

    def test_a_device_that_failed(self) -> None:
        """The feed ends all the same."""
        cuda = Fake()
        loader, loader_transfer, made = self.one(cuda)
        loader._transfer = loader_transfer
        next(made)
        cuda.events[0].fails = True
        process = loader._process
        loader.close()
        assert process is not None
        self.assertEqual(cuda.registered, {})
        with self.assertRaises(graphmill.FeedDied):
            len(loader)

    def test_a_pass_begins(self) -> None:
        """The stream of the copies waits for what the trainer's has, such as the tables of a transform."""
        cuda = Fake()
        loader, transfer, _ = self.one(cuda)
        with loader:
            loader._transfer = transfer
            self.assertIs(loader._transfers(transfer.connection), transfer)
            self.assertEqual(cuda.calls, ["wait"])

    def test_a_forked_child(self) -> None:
        """It makes no calls of CUDA for what its parent has."""
        cuda = Fake()
        loader, transfer, made = self.one(cuda)
        with loader:
            next(made)
            with unittest.mock.patch("os.getpid", return_value=1):
                transfer.close()
            self.assertEqual((len(cuda.registered), cuda.events[0].done), (1, False))
            transfer.close()
            self.assertEqual((len(cuda.registered), cuda.events[0].done), (0, True))

    def test_calls(self) -> None:
        """A refusal is told in the words of CUDA, which then has no error left for the launch of a kernel; threads sleep while they wait for an event."""
        import torch
        from graphmill import _ahead
        from graphmill._transfer import Cuda

        mock = unittest.mock
        runtime, stream, event = mock.MagicMock(), mock.MagicMock(), mock.MagicMock()
        runtime.cudaHostRegister.side_effect = [0, 801]
        runtime.cudaGetErrorString.side_effect = lambda e: f"error {e}"
        zeros = mock.MagicMock(side_effect=RuntimeError("CUDA error: error 801"))
        with (
            mock.patch.multiple(torch.cuda, Stream=lambda d: stream, cudart=lambda: runtime, device=lambda d: contextlib.nullcontext(), Event=event),
            mock.patch.object(torch, "zeros", zeros),
            mock.patch.dict(_ahead._streams, clear=True),
        ):
            cuda = Cuda(torch.device("cuda:1"))
            self.assertEqual(cuda.register(4096, 10), "")
            zeros.assert_not_called()
            self.assertEqual(cuda.register(8192, 10), "error 801")
            zeros.assert_called_once_with(1, device=torch.device("cuda:1"))
            self.assertIs(cuda.event(), stream.record_event.return_value)
            event.assert_called_once_with(blocking=True)

    def test_batches_larger_than_a_slot(self) -> None:
        """They have memory of their own, which is not registered."""
        import torch
        from graphmill._transfer import Registered

        cuda = Fake()
        with NodeLoader(plain(), [4, 4], 50, as_="pyg") as loader:
            of = Registered(cuda, loader._connect())
            self.assertFalse(of.covers(np.zeros(100, np.uint8)))
            b = loader._connect().next(loader._connect().start(0, 0))
            assert b is not None
            self.assertTrue(of.covers(b.base))
            self.assertTrue(of.covers(b.base))
            self.assertEqual(cuda.calls, ["register"])
            (n,) = cuda.registered.values()
            self.assertEqual(n % (2 << 20), 0)
            del b
            of.close()
        self.assertIsInstance(torch.device("cpu"), torch.device)


class TestDTypes(unittest.TestCase):
    @unittest.skipUnless(TORCH, "torch is not installed")
    def test_views_equal_tensors(self) -> None:
        """Bytes on a device become the tensors that arrays become."""
        import torch
        from graphmill._tensors import tensor
        from graphmill._transfer import _viewed

        r = np.random.default_rng(2)
        for dtype in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"):
            for shape in ((7,), (5, 3), (2, 2, 2)):
                x: npt.NDArray[Any] = r.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
                if dtype in ("u2", "u4"):
                    x = ~x
                data = torch.from_numpy(np.frombuffer(bytearray(x.tobytes()), np.uint8).copy())
                for bfloat16 in (False, True) if dtype == "u2" else (False,):
                    want, got = tensor(x, "x", bfloat16), _viewed(data, x, bfloat16)
                    self.assertEqual((want.dtype, want.shape), (got.dtype, got.shape))
                    self.assertTrue(torch.equal(want.view(torch.int16) if bfloat16 else want, got.view(torch.int16) if bfloat16 else got))


if __name__ == "__main__":
    unittest.main()
