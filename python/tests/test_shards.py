"""Folders with arrays in shards, as the workers of a cluster write them."""

from __future__ import annotations

import gc
import json
import mmap
import os
import re
import shutil
import tempfile
import unittest
from typing import Any

import made
import numpy as np
from graphmill import GraphmillError, NodeLoader, Store
from graphmill._folder import Column, Folder
from graphmill._shards import shards
from graphmill._xxh3 import xxh3


def divide(source: str, out: str) -> list[str]:
    """Copy a store with each array that is longer than a page in shards of a page, three at most. Returns the names of the shards."""
    shutil.copytree(source, out)
    with open(os.path.join(out, "manifest.json")) as f:
        m = json.load(f)
    made_shards = []
    for name in list(m["files"]):
        path = os.path.join(out, name)
        size = os.path.getsize(path)
        if not name.endswith(".npy") or size <= mmap.PAGESIZE:
            continue
        with open(path, "rb") as f:
            b = f.read()
        cuts = [0, mmap.PAGESIZE, *([2 * mmap.PAGESIZE] if size > 2 * mmap.PAGESIZE else []), size]
        os.remove(path)
        del m["files"][name]
        for i, (a, z) in enumerate(zip(cuts, cuts[1:])):
            shard = f"{name}.{i:05d}-of-{len(cuts) - 1:05d}"
            with open(os.path.join(out, shard), "wb") as f:
                f.write(b[a:z])
            m["files"][shard] = {"bytes": z - a, "xxh3": f"{xxh3(b[a:z]):016x}"}
            made_shards.append(shard)
    save(out, {**m, "format": 2})
    return made_shards


def save(folder: str, manifest: object) -> None:
    text = json.dumps(manifest).encode()
    with open(os.path.join(folder, "manifest.json"), "wb") as f:
        f.write(text)
    with open(os.path.join(folder, "manifest.json.xxh3"), "w") as f:
        f.write(f"{xxh3(text):016x}  manifest.json\n")


def plain(x: Any) -> Any:
    """Columns in dicts of dicts as lists."""
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(value) for value in x]
    return list(x) if isinstance(x, Column) else x


class TestShards(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "divided.store")

    def test_arrays_and_batches(self) -> None:
        self.assertGreater(len(divide(made.DEBIAN, self.path)), 3)
        whole, divided = Store(made.DEBIAN), Store(self.path)
        for t in whole.node_types:
            for name in whole.nodes[t].columns:
                a, b = whole.nodes[t][name], divided.nodes[t][name]
                self.assertEqual(len(a), len(b))
                for i in range(0, len(a), max(len(a) // 50, 1)):
                    np.testing.assert_equal(a[i], b[i])
        for x, y in zip(whole.to_arrays(), divided.to_arrays()):
            np.testing.assert_equal(plain(x), plain(y))
        loaders = [NodeLoader(s, fanout=[3], batch_size=50, seed_type="package", direction="out") for s in (whole, divided)]
        with loaders[0], loaders[1]:
            for one, other in zip(*loaders):
                np.testing.assert_equal(dict(one.n_id), dict(other.n_id))

    def test_an_array_outlives_its_store(self) -> None:
        divide(made.RMAT, self.path)
        name = "edges/_N+_E+_N/far.npy"
        folder = Folder(self.path, "graph.json", "a store", "graphmill import")
        far = folder.index(name, None)
        self.assertFalse(far.flags.writeable)
        folder.close()
        del folder
        gc.collect()
        np.testing.assert_array_equal(far, np.load(os.path.join(made.RMAT, name)))

    def test_faults(self) -> None:
        names = divide(made.RMAT, self.path)
        os.remove(os.path.join(self.path, names[1]))
        with self.assertRaisesRegex(GraphmillError, re.escape(names[1])):
            Store(self.path)
        shutil.rmtree(self.path)
        names = divide(made.RMAT, self.path)
        with open(os.path.join(self.path, "manifest.json")) as f:
            m = json.load(f)
        del m["files"][names[1]]
        save(self.path, m)
        with self.assertRaisesRegex(GraphmillError, "expected all of them"):
            Store(self.path)

    def test_names(self) -> None:
        self.assertEqual(
            shards(["a.npy.00000-of-00002", "a.npy.00001-of-00002", "b", "c-00000-of-00001"]), {"a.npy": ["a.npy.00000-of-00002", "a.npy.00001-of-00002"]}
        )
        for wrong in (["a.00001-of-00002"], ["a.00000-of-00001", "a"], ["a.00000-of-00002", "a.00001-of-00003"]):
            with self.assertRaises(ValueError):
                shards(wrong)


if __name__ == "__main__":
    unittest.main()
