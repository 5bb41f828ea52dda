"""Packs whose rows stay on a device, or that come to one: they equal the packs of loaders without a device, to the bit.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store. With GRAPHMILL_TEST_DEVICE and
GRAPHMILL_TEST_JAX_DEVICE, the rows are on those devices of torch and JAX in place of the processor.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import random
import unittest
import unittest.mock
import warnings
from typing import Any

import made
import numpy as np
from graphmill import Cache, Collection, NodeLoader, PackedLoader, _kept_packs, _packs

CASES = [("molecules", "--reserve"), ("molecules", "--max-graphs", "5"), ("typed", "--reserve"), ("small_samples", "--reserve")]
TAILS = ("fill", "drop", "short", "pad")


def loader(name: str, *flags: str, **options: Any) -> PackedLoader:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PackedLoader(made.layout(name, *flags), getattr(made, name)(), **options)


def equal(test: unittest.TestCase, a: Any, b: Any, path: str = "") -> None:
    """Asserts that two batches have arrays of the same dtypes, shapes and bits."""
    if isinstance(a, dict):
        test.assertEqual(list(a), list(b), path)
        for k in a:
            equal(test, a[k], b[k], f"{path}/{k}")
    elif isinstance(a, (list, tuple)):
        test.assertIs(type(a), type(b), path)
        for i, (x, y) in enumerate(zip(a, b)):
            equal(test, x, y, f"{path}/{i}")
    elif hasattr(a, "to_dict"):  # of PyG
        equal(test, a.to_dict(), b.to_dict(), path)
        equal(test, a._slice_dict, b._slice_dict, path)
    elif hasattr(a, "untyped_storage"):
        import torch

        test.assertEqual((a.dtype, a.shape), (b.dtype, b.shape), path)
        x, y = ((z.view(torch.int16) if z.dtype == torch.bfloat16 else z).cpu().numpy() for z in (a, b))
        test.assertEqual(x.tobytes(), y.tobytes(), path)
    elif hasattr(a, "tobytes"):
        got = np.asarray(b)
        test.assertEqual((a.dtype, a.shape), (got.dtype, got.shape), path)
        test.assertEqual(a.tobytes(), got.tobytes(), path)
    else:
        test.assertEqual(a, b, path)


class Cached(unittest.TestCase):
    """Loaders of a form, which subclasses name."""

    form: str
    device: str | None
    cases = tuple(CASES)

    def check(self, case: tuple[str, ...], cache: Any, **options: Any) -> PackedLoader:
        """Two epochs with a cache equal two without it."""
        a, b = loader(*case, as_=self.form, **options), loader(*case, as_=self.form, cache=cache, device=self.device, **options)
        for _epoch in range(2):
            n = 0
            for x, y in zip(a, b):
                equal(self, x, y, str((case, cache, options)))
                n += 1
            self.assertEqual(n, len(a))
        self.assertEqual(a.state_dict(), b.state_dict())
        return b

    def test_packs(self) -> None:
        r, kept = random.Random(3), 0
        for case in self.cases:
            for size in ("10", "1000", "8KiB", "1GiB"):  # typed graphs have rows of 1,392 bytes, molecules of 18.7 KiB
                if case[0] == "small_samples":  # it has no columns
                    continue
                options: dict[str, Any] = dict(seed=r.randrange(99), batch=r.choice([None, 1, 3]), tail=r.choice(TAILS), world_size=2, rank=r.randrange(2))
                b = self.check(case, size, **options)
                assert b.cache is not None
                self.assertLessEqual(b.cache.nbytes, b.cache.memory)
                s = b.stats()
                self.assertTrue(s.kept_share == 1 or size != "1GiB")
                kept += b.cache.nbytes
        self.assertGreater(kept, 30_000)

    def test_blocks(self) -> None:
        """Packs are gathered in blocks, and rows are read in pieces: batches depend on neither."""
        for size in (1, 9_000):
            with unittest.mock.patch.object(_packs, "_BLOCK", size), unittest.mock.patch.object(_kept_packs, "ROWS", 100):
                self.check(("molecules", "--reserve"), "8KiB", seed=4, batch=2)

    def test_what_is_kept(self) -> None:
        """The rows of nodes and edges of the first graphs, as far as all their bytes fit. Types whose rows take no more than their numbers are not kept."""
        c = Collection(made.molecules())
        atoms = np.diff(c.nodes["atom"].graph_ptr.astype(np.int64))
        b = loader("molecules", "--reserve", as_=self.form, cache="8KiB", device=self.device)
        cache = b.cache
        assert cache is not None
        graphs = int(np.searchsorted(np.cumsum(atoms * 14), 8192, "right"))  # x, float32[3], and charge, bfloat16; an edge has two bytes, or four in torch
        self.assertEqual({t: x.tolist() for t, x in cache.nodes.items()}, {"atom": list(range(int(atoms[:graphs].sum())))})
        self.assertEqual(cache.nbytes, int(atoms[:graphs].sum()) * 14)
        self.assertRegex(repr(cache), rf"^Cache\(8 KiB\): {atoms[:graphs].sum()} rows, .* KiB, on ")
        rows = sum(int(atoms[i]) for p in loader("molecules", "--reserve") for i in p.graph_id[p.graph_mask])
        sent = 0
        for _ in b:
            pass
        s = b.stats()
        self.assertEqual((s.rows, s.kept), (rows, int(atoms[:graphs].sum())))
        whole = loader("molecules", "--reserve", as_=self.form, device=self.device or "cpu")
        full = loader("molecules", "--reserve", as_=self.form, cache="1MiB", device=self.device)
        for one in (whole, full):
            for _ in one:
                sent += 1
        places = sum(14 - 4 for _ in range(whole.shape.nodes["atom"])) * len(whole)
        self.assertEqual(whole.stats().bytes_sent - full.stats().bytes_sent, places)
        self.assertEqual(sent, 2 * len(whole))

    def test_loaders_that_share(self) -> None:
        first = loader("molecules", "--reserve", as_=self.form, cache="9KiB", device=self.device)
        second = self.check(("molecules", "--max-graphs", "5"), first.cache, batch=2)
        self.assertIs(second.cache, first.cache)

    def test_a_pass_that_continues(self) -> None:
        case = ("molecules", "--reserve")
        a, b, again = (loader(*case, as_=self.form, seed=2, **more) for more in ({}, {"cache": "7KiB"}, {"cache": "1MiB"}))
        for _ in zip(range(4), b):
            pass
        for x in (a, again):
            x.load_state_dict(b.state_dict())
        n = 0
        for x, y in zip(a, again):
            equal(self, x, y)
            n += 1
        self.assertEqual(n, len(a) - 4)

    def test_a_device_alone(self) -> None:
        for case in self.cases:
            a, b = loader(*case, as_=self.form), loader(*case, as_=self.form, device="cpu")
            again = pickle.loads(pickle.dumps(b))
            for x, y, z in zip(a, b, again):
                equal(self, x, y)
                equal(self, x, z)

    def test_refused(self) -> None:
        case = ("molecules", "--reserve")
        b = loader(*case, as_=self.form, cache="2KiB")
        with self.assertRaisesRegex(TypeError, "found a loader with cache= that is sent to another process"):
            pickle.dumps(b)
        for form in ("numpy", "tfgnn"):
            for given in ({"cache": "2KiB"}, {"device": "cpu"}):
                with self.assertRaisesRegex(ValueError, rf"^found {next(iter(given))}=.* with as_='{form}', expected as_='pyg' or 'jraph'"):
                    loader(*case, as_=form, **given)
        with self.assertRaisesRegex(ValueError, "found cache='2XB', expected at least one byte"):
            loader(*case, as_=self.form, cache="2XB")
        with self.assertRaisesRegex(ValueError, "found device='toaster', expected a device"):
            loader(*case, as_=self.form, device="toaster")
        with self.assertRaisesRegex(
            ValueError, "found cache= with packs that have no columns of nodes or edges which cpu.* holds in more than 4 bytes per row.*leave it out$"
        ):
            loader("small_samples", "--reserve", as_=self.form, cache="2KiB")
        with self.assertRaisesRegex(ValueError, "found cache= with the rows of another collection"):
            loader("small_samples", "--reserve", as_=self.form, cache=b.cache)
        with self.assertRaisesRegex(ValueError, "found cache= with the rows of another (store|collection)"):
            if self.form == "pyg":
                NodeLoader(made.DEBIAN, [2], seeds="package", as_="pyg", cache=b.cache)
            else:
                loader("small_samples", "--reserve", as_=self.form, cache=b.cache)
        with self.assertWarnsRegex(UserWarning, "^cache='10 B' keeps no rows, because those that fit save fewer bytes than the numbers of all rows take"):
            PackedLoader(made.layout(*case), made.molecules(), as_=self.form, cache=10)
        self.assertIsInstance(b.cache, Cache)


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestPyGCached(Cached):
    form, device = "pyg", os.environ.get("GRAPHMILL_TEST_DEVICE")

    def test_labels(self) -> None:
        self.check(("molecules", "--reserve"), "8KiB", label="label")
        self.check(("molecules", "--reserve"), "1GiB", label="x")


@unittest.skipUnless(importlib.util.find_spec("jraph"), "jraph is not installed")
class TestJraphCached(Cached):
    form, device = "jraph", os.environ.get("GRAPHMILL_TEST_JAX_DEVICE")
    cases = tuple(case for case in CASES if case[0] != "typed")

    def test_bytes(self) -> None:
        """The bytes that are counted are those that are copied, and those of arrays that JAX cannot hold."""
        from graphmill._jax_device import JaxDevice

        on, copied = JaxDevice.on, [0]

        def counted(of: Any, x: Any) -> Any:
            copied[0] += sum(y.nbytes for y in (x if isinstance(x, list) else [x]))
            return on(of, x)

        for more in ({"device": "cpu"}, {"cache": "8KiB"}, {"cache": "1MiB"}):
            packs = loader("molecules", "--reserve", as_="jraph", batch=2, **more)
            copied[0] = left = 0
            with unittest.mock.patch.object(JaxDevice, "on", counted):
                for b in packs:
                    left += sum(x.nbytes for x in b.globals.values() if isinstance(x, np.ndarray))
            self.assertEqual(packs.stats().bytes_sent, copied[0] + left)
            self.assertGreater(left, 0)


del Cached  # whose tests are those of the subclasses


if __name__ == "__main__":
    unittest.main()
