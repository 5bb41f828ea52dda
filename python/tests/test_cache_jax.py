"""Loaders whose batches come to a device of JAX, with rows that stay there or without: their batches equal those of loaders without a device.

GRAPHMILL_COMMAND is the path of the command. GRAPHMILL_TEST_JAX_DEVICE is a device of JAX, such as gpu; default: JAX's own.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import pickle
import subprocess
import sys
import unittest
import unittest.mock
import warnings
from typing import Any

import graphmill
import made
import numpy as np
import numpy.typing as npt
from graphmill import Cache, NodeLoader, Store
from test_cache import plain, typed

DEVICE = os.environ.get("GRAPHMILL_TEST_JAX_DEVICE")
JAX = unittest.skipUnless(importlib.util.find_spec("jraph"), "jraph is not installed")


def any_bits(r: np.random.Generator, dtype: str, *shape: int) -> npt.NDArray[Any]:
    """Values of any bits, NaNs of all kinds among them."""
    return r.integers(0, 256, (*shape, np.dtype(dtype).itemsize), dtype=np.uint8).view(dtype)[..., 0]


@functools.lru_cache(None)
def bits() -> Store:
    """One type of nodes, whose floats have any bits, with bfloat16 among them."""
    r = np.random.default_rng(6)
    n, m = 300, 2500
    columns = {"f4": any_bits(r, "f4", n, 5), "f2": any_bits(r, "f2", n), "f8": any_bits(r, "f8", n, 2), "i1": any_bits(r, "i1", n, 2, 3)}
    folder = made.write(
        "bits",
        {
            **{f"{name}.npy": x for name, x in columns.items()},
            "nodes.csv": "half\n" + "".join(f"{x}\n" for x in r.normal(size=n)),
            "edges.csv": "src,dst\n" + "".join(f"{int(a**3 * n)},{b}\n" for a, b in zip(r.random(m), r.integers(0, n, m))),
            "graph.yaml": f"""
nodes:
  node: {{table: nodes.csv, columns: {{half: bfloat16, {", ".join(f"{name}: {name}.npy" for name in columns)}}}}}
edges:
  node:to:node: {{table: edges.csv}}
""",
        },
    )
    made.graphmill("import", folder, "--out", made.path("bits.store"))
    return Store(made.path("bits.store"))


@functools.lru_cache(None)
def pieces() -> Store:
    """One type of nodes, with features that the store has as codes of few bits, one-hot and multi-hot."""
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
    edges = {("user", "knows", "user"): {"src": r.integers(0, n, m), "dst": r.integers(0, n, m)}}
    return graphmill.from_tables({"user": users}, edges, features={"user": {**features, "hot": hot, "half": {"dtype": "bfloat16", "parts": hot}}}, both=True)


def equal(test: unittest.TestCase, a: Any, b: Any, path: str = "") -> None:
    """Asserts that a batch of NumPy arrays and one with arrays of JAX have the same bits."""
    if isinstance(a, dict):
        test.assertEqual(list(a), list(b), path)
        for k in a:
            equal(test, a[k], b[k], f"{path}/{k}")
    elif isinstance(a, tuple):
        test.assertIs(type(a), type(b), path)
        for i, (x, y) in enumerate(zip(a, b)):
            equal(test, x, y, f"{path}/{i}")
    else:
        import jax

        if a.dtype.itemsize < 8 or jax.config.jax_enable_x64:
            test.assertIsInstance(b, jax.Array, path)
        else:  # JAX would cut it
            test.assertIsInstance(b, np.ndarray, path)
        got = np.asarray(b)
        test.assertEqual((a.dtype, a.shape), (got.dtype, got.shape), path)
        test.assertEqual(a.tobytes(), got.tobytes(), path)


def taken(schema: Any, raw: Any, label: Any) -> dict[str, Any]:
    """What stands in for a form that has types: the columns of nodes, padded."""
    from graphmill._jax_device import padded, room

    return {
        name: x.padded(room(len(x))) if hasattr(x, "padded") else padded(x, room(len(x)))
        for t in schema.nodes
        for name in sorted(schema.node_features(t).values())
        for x in (raw.columns[name],)
    }


@JAX
class TestJraphCached(unittest.TestCase):
    def check(self, store: Store, cache: Any, epochs: int = 1, **options: Any) -> Cache:
        """Epochs with a cache equal those without it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with (
                NodeLoader(store, threads=1, as_="jraph", **options) as a,
                NodeLoader(store, threads=1, as_="jraph", cache=cache, device=DEVICE, **options) as b,
            ):
                for _epoch in range(epochs):
                    n = 0
                    for x, y in zip(a, b):
                        equal(self, x, y)
                        n += 1
                    self.assertEqual(n, len(a))
                self.assertEqual(a.state_dict(), b.state_dict())
                assert b.cache is not None
                return b.cache

    def test_random_graphs(self) -> None:
        """Columns of several types, some of which have no nodes in a batch. jraph has no types, so the columns are taken without their form."""
        sizes, kept = ["1", "300", "3KiB", "1GiB"], 0
        with unittest.mock.patch("graphmill._loader.maker", lambda kind, form: taken), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number in range(8):
                store = typed(number)
                options: dict[str, Any] = dict(fanout=[3, 2], seeds="user", batch_size=13, as_="jraph", shuffle=True, seed=number)
                with NodeLoader(store, **options) as a, NodeLoader(store, cache=sizes[number % 4], device=DEVICE, **options) as b:
                    for x, y in zip(a, b):
                        equal(self, x, y)
                    assert b.cache is not None
                    self.assertLessEqual(b.cache.nbytes, b.cache.memory)
                    kept += sum(map(len, b.cache.nodes.values()))
        self.assertGreater(kept, 100)

    def test_one_type(self) -> None:
        links = np.array([[1, 2, 3, 5], [3, 4, 1, 9]])
        cases: list[dict[str, Any]] = [
            dict(fanout=[4, 4], x=["x", "half", "f*"], features=["label", "u16"]),
            dict(fanout=[4], features=["x"], edge_features="all"),
            dict(fanout=[4], executor="stream", memory="64MiB"),
            dict(fanout=[2, 2], limit_seeds=1),
            dict(fanout=[3], world_size=2, rank=1, share=False),
            dict(fanout=[3, 3], scope="seed"),
            dict(fanout=[3], seeds=links, negatives=1, negatives_how="binary", edge_label=np.arange(4), seed_type=("_N", "_E", "_N")),
            dict(sampler="shadow", fanout=[3]),
        ]
        for options in cases:
            cache = self.check(plain(), "6KiB", batch_size=50, shuffle=True, **options)
            self.assertGreater(cache.nbytes, 0)
            self.assertLessEqual(cache.nbytes, 6 << 10)

    def test_bits(self) -> None:
        """XLA computes with no value: each keeps its bits, also a NaN."""
        for scope in ("batch", "seed"):
            for size in ("2KiB", "1GiB"):
                self.check(bits(), size, 2, fanout=[4, 2], batch_size=40, shuffle=True, scope=scope)

    def test_64_bits(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        try:
            self.check(bits(), "3KiB", fanout=[4], batch_size=40)
        finally:
            jax.config.update("jax_enable_x64", False)

    def test_features_in_pieces(self) -> None:
        """Codes of few bits and what is one-hot travel as the store has them, and are kept so: their numbers are made on the device."""
        store = pieces()
        options: dict[str, Any] = dict(fanout=[3, 2], batch_size=20, shuffle=True)
        for features in ("all", ["float32_4", "hot", "age"], ["bfloat16_8"]):
            cache = self.check(store, "2KiB", features=features, scope="seed" if features == "all" else "batch", **options)
            self.assertGreater(cache.nbytes, 0)
        cache = self.check(store, "1GiB", features=["float32_4"], **options)
        self.assertLess(cache.nbytes / len(cache.nodes["user"]), store.features("user")["float32_4"].width / 2)
        self.check(store, "3KiB", x=["float16_8", "age"], features=["bfloat16_4"], **options)
        with NodeLoader(store, as_="jraph", **options) as a, NodeLoader(store, as_="jraph", device=DEVICE or "cpu", **options) as b:  # without kept rows
            for x, y in zip(a, b):
                equal(self, x, y)
            self.assertGreater(b.stats().bytes_sent, 0)

    def test_hosts(self) -> None:
        """Rows that are kept do not come from hosts."""
        from test_hosts import hosting

        with hosting(plain(), 2) as hosts:
            self.check(plain(), "6KiB", fanout=[4, 3], batch_size=50, features=["x", "label"], hosts=hosts)

    def test_what_is_kept(self) -> None:
        """The rows are those that a loader of another form keeps, on the device, and a second loader uses the same."""
        import jax

        options: dict[str, Any] = dict(fanout=[4, 4], batch_size=50, as_="jraph", shuffle=True, features=["x", "label"])
        with NodeLoader(plain(), cache="2KiB", threads=1, device=DEVICE, **options) as loader:
            cache = loader.cache
            assert cache is not None
            (ids,) = cache.nodes.values()
            self.assertEqual((len(ids), cache.nbytes), (2048 // 28, 2048 // 28 * 28))
            self.assertRegex(repr(cache), rf"^Cache\(2 KiB\): {len(ids)} rows, .* on [a-z]+:[0-9]+ of JAX$")
            self.assertEqual({name.split("/")[-1]: isinstance(x, jax.Array) for name, x in cache._tables.items()}, {"x": True, "label": False})
            nodes = sum(int(b.n_node[0]) for b in loader)
            stats = loader.stats()
            self.assertEqual(stats.rows, nodes)
            self.assertGreater(stats.kept_share, len(ids) / 400)
            shapes = {b.nodes["x"].shape for b in loader}
            self.assertTrue(all(n >= 64 and n % 16 == 0 for n, _ in shapes))
            same = self.check(plain(), cache, fanout=[2], batch_size=50, features=["x"])
            self.assertIs(same, cache)

    def test_a_pass_that_continues(self) -> None:
        options: dict[str, Any] = dict(fanout=[3], batch_size=40, as_="jraph", shuffle=True)
        with NodeLoader(plain(), cache="3KiB", **options) as b, NodeLoader(plain(), **options) as a:
            for _ in zip(range(3), b):
                pass
            a.load_state_dict(b.state_dict())
            for x, y in zip(a, self.continued(b.state_dict(), options)):
                equal(self, x, y)

    def continued(self, state: dict[str, Any], options: dict[str, Any]) -> list[Any]:
        """The batches after a state."""
        with NodeLoader(plain(), cache="1KiB", **options) as loader:
            loader.load_state_dict(state)
            return list(loader)

    def test_transform(self) -> None:
        """It gets all rows with a cache; without one, batches before they are copied."""
        import jax

        def transform(b: Any) -> Any:
            seen.append(type(b.nodes["x"]))
            return {"graph": b, "more": np.arange(3, dtype=np.int32), "text": "text"}

        options: dict[str, Any] = dict(fanout=[3], batch_size=100, as_="jraph", transform=transform)
        for cache in ("1KiB", None):
            seen: list[Any] = []
            with NodeLoader(plain(), cache=cache, device=DEVICE or "cpu", **options) as loader, NodeLoader(plain(), **options) as want:
                for x, y in zip(want, loader):
                    self.assertEqual((y["text"], type(y["more"]).__name__), ("text", type(y["graph"].nodes["x"]).__name__))
                    equal(self, x["graph"], y["graph"])
            self.assertEqual({issubclass(t, jax.Array) for t in seen[1::2]}, {cache is not None})

    def test_a_device_without_a_cache(self) -> None:
        options: dict[str, Any] = dict(fanout=[3], batch_size=100, as_="jraph")
        with NodeLoader(plain(), device="cpu", **options) as loader, NodeLoader(plain(), **options) as want:
            again = pickle.loads(pickle.dumps(loader))
            for x, y, z in zip(want, loader, again):
                equal(self, x, y)
                equal(self, x, z)

    def test_committed(self) -> None:
        """Arrays are committed to a device that was named, and to none otherwise, so that compiled functions of several devices take them."""
        for device, committed in (("cpu", True), (None, False)):
            with NodeLoader(plain(), [3], 100, as_="jraph", cache="1KiB", device=device) as loader:
                b = next(iter(loader))
                self.assertEqual({b.nodes["x"].committed, b.nodes["n_id"].committed, b.senders.committed}, {committed})

    def test_two_devices(self) -> None:
        """A batch is on the device that was named, and nothing comes there that was not sent."""
        program = """
import sys
import jax
from graphmill import NodeLoader
for device, cache in (("cpu:1", "2KiB"), (jax.devices()[1], None)):
    loader = NodeLoader(sys.argv[1], [3], 50, as_="jraph", cache=cache, device=device)
    with jax.transfer_guard("disallow"):
        for b in loader:
            assert {x.devices().pop() for x in (b.nodes["f4"], b.nodes["half"], b.senders, b.n_node)} == {jax.devices()[1]}
    if cache:
        print(loader.cache)
        try:
            NodeLoader(sys.argv[1], [3], as_="jraph", cache=loader.cache)
        except ValueError as e:
            print(e)
"""
        env = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
        p = subprocess.run([sys.executable, "-W", "ignore", "-c", program, bits().path], capture_output=True, text=True, env=env)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertRegex(p.stdout, "on cpu:1 of JAX\nfound cache= on cpu:1 of JAX with device='cpu:0 of JAX', expected one device")

    def test_without_torch(self) -> None:
        """Neither torch nor, without a device, JAX is imported."""
        program = """
import sys, importlib.abc
class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        assert name.partition(".")[0] not in refused, name
refused = {"torch", "jax", "jraph"}
sys.meta_path.insert(0, Refuse())
from graphmill import NodeLoader
NodeLoader(sys.argv[1], [2], as_="jraph").close()
next(iter(NodeLoader(sys.argv[1], [2])))
refused = {"torch"}
next(iter(NodeLoader(sys.argv[1], [2], as_="jraph", device="cpu")))
b = next(iter(NodeLoader(sys.argv[1], [2], as_="jraph", cache="1KiB")))
print(type(b.nodes["f4"]).__name__)
"""
        p = subprocess.run([sys.executable, "-W", "ignore", "-c", program, bits().path], capture_output=True, text=True)
        self.assertEqual((p.stdout, p.returncode), ("ArrayImpl\n", 0), p.stderr)

    def test_a_device_without_room(self) -> None:
        for why, error in (("RESOURCE_EXHAUSTED: Out of memory", ValueError), ("INTERNAL: other", RuntimeError)):
            with (
                unittest.mock.patch("graphmill._cache._rows", side_effect=RuntimeError(why)),
                self.assertRaisesRegex(
                    error, r"^found cache='1 KiB' with rows of .* for which [a-z]+:0 of JAX has memory; .*RESOURCE" if error is ValueError else why
                ),
            ):
                NodeLoader(plain(), [2], cache="1KiB", as_="jraph", features=["x"])

    def test_refused(self) -> None:
        with NodeLoader(plain(), [2], cache="1KiB", as_="jraph", features=["x"]) as loader:
            cache = loader.cache
            with self.assertRaisesRegex(TypeError, "found a loader with cache= that is sent to another process"):
                pickle.dumps(loader)
        with self.assertRaisesRegex(ValueError, r"found cache= without the columns _N/small, expected columns of the loader that filled it"):
            NodeLoader(plain(), [2], cache=cache, as_="jraph", features=["x", "small"])
        with self.assertRaisesRegex(ValueError, "found cache= with the rows of another store"):
            NodeLoader(bits(), [2], cache=cache, as_="jraph")
        with self.assertRaisesRegex(ValueError, "found cache= with batches that have no columns of nodes"):
            NodeLoader(plain(), [2], cache="1KiB", as_="jraph", features="none")
        for wrong in ("gpu:99", "cpu:x", "toaster", 7, ""):
            with self.assertRaisesRegex(ValueError, rf"^found device={wrong!r}, expected a device that JAX has: .*cpu:0"):
                NodeLoader(plain(), [2], as_="jraph", device=wrong)
        with self.assertRaisesRegex(ValueError, "found cache= for 2147483648 rows of x, expected fewer than 2\\^31"):
            from graphmill._jax_device import JaxDevice

            JaxDevice(None).put(None, 1 << 31, 0, np.zeros(1, np.int8), "x", False)


if __name__ == "__main__":
    unittest.main()
