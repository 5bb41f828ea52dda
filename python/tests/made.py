"""Stores, collections and packs for tests, which the command makes once."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
from graphmill._command import command

STORES = os.environ.get("GRAPHMILL_TEST_STORES", "")
RMAT, DEBIAN = os.path.join(STORES, "rmat.store"), os.path.join(STORES, "debian.store")

_spec = importlib.util.spec_from_file_location("orders", os.path.join(os.path.dirname(__file__), "../../batch/testdata/reference/orders.py"))
assert _spec and _spec.loader
law = importlib.util.module_from_spec(_spec)  # the reference of orders and ranks
_spec.loader.exec_module(law)


def long(test: unittest.TestCase, what: str) -> bool:
    """Whether the long form of the tests runs: see internal/proof. It then reports `what`, which the short form leaves out of the test."""
    if os.environ.get("TORTURE") != "long":
        return False
    if report := os.environ.get("TORTURE_REPORT"):
        with open(report, "a") as f:
            f.write(f"{test.id()}: not in the short form: {what}\n")
    return True


def methods(test: unittest.TestCase) -> tuple[str, ...]:
    """How the workers of a DataLoader start. Each worker that is spawned loads torch, so at a push those of test_ranks are alone, and other
    tests take a copy of what is pickled for such workers."""
    return ("fork", "spawn") if long(test, "workers that are spawned; the short form has forked workers of a pickled copy") else ("fork",)


_folder = tempfile.TemporaryDirectory(prefix="graphmill-")
atexit.register(_folder.cleanup)


def path(name: str) -> str:
    return os.path.join(_folder.name, name)


def graphmill(*args: object) -> None:
    """Run the command; raise an error with its output if it fails."""
    p = subprocess.run([command(), *map(str, args)], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"{args}: {p.stderr}")


@contextlib.contextmanager
def cold_command() -> Iterator[None]:
    """Runs use a copy of the command that is read from the disk. Some systems map what was just written in pieces of MiB, which count as memory of the process."""
    copy = path("cold-graphmill")
    shutil.copy(command(), copy)
    with open(copy, "rb") as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with mock.patch.dict(os.environ, GRAPHMILL_COMMAND=copy):
        yield


def write(name: str, files: Mapping[str, Any]) -> str:
    """A folder of texts and arrays."""
    folder = path(name)
    os.makedirs(folder)
    for file, x in files.items():
        if isinstance(x, str):
            with open(os.path.join(folder, file), "w") as f:
                f.write(x)
        else:
            np.save(os.path.join(folder, file), x)
    return folder


PEOPLE = [  # id, name, tags, deep, half, vec
    ("ada", "Ada ü", [1, 2, 3], [[1, 2], [3]], 0.5, [1.0, 2.0]),
    ("bob", "", [], [], -1.5, [3.0, 4.0]),
    ("cy" * 200, "Cy", [7], [[], [4, 5, 6]], 3.0, [5.0, 6.0]),
    ("dee", "Dee", [8, 9], [[9]], 0.0, [7.0, 8.0]),
]
LIKES = [("dee", "17"), ("ada", "1000"), ("ada", "17"), ("bob", "5")]
ITEMS = [17, 5, 1000, 2]


@functools.lru_cache(None)
def store() -> str:
    """A store of people with strings, lists, bfloat16 and string ids, and items with integer ids; people like items, with both directions stored."""
    rows = ["id,name,tags,deep,half,vec"]
    for id_, name, tags, deep, half, vec in PEOPLE:
        nested = "[" + " ".join("[" + " ".join(map(str, d)) + "]" for d in deep) + "]"
        rows.append(f"{id_},{name},{' '.join(map(str, tags))},{nested},{half},{' '.join(map(str, vec))}")
    folder = write(
        "people",
        {
            "people.csv": "\n".join(rows) + "\n",
            "items.csv": "id,price\n" + "".join(f"{i},{i / 2}\n" for i in ITEMS),
            "likes.csv": "src,dst,weight\n" + "".join(f"{a},{b},{k}\n" for k, (a, b) in enumerate(LIKES)),
            "graph.yaml": """
nodes:
  person: {table: people.csv, id: {column: id, dtype: string}, columns: {name: string, tags: "int64[]", deep: "int64[,]", half: bfloat16, vec: "float32[2]"}}
  item: {table: items.csv, id: {column: id, dtype: integer}, columns: {price: float32}}
edges:
  person:likes:item: {table: likes.csv, columns: {weight: int64}}
""",
        },
    )
    graphmill("import", folder, "--both", "--out", path("people.store"))
    return path("people.store")


def sizes(graphs: int, seed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The numbers of nodes and edges of each graph."""
    r = np.random.default_rng(seed)
    nodes = r.integers(1, 9, graphs)
    return nodes, r.integers(0, 12, graphs) * (nodes > 1)


@functools.lru_cache(None)
def molecules() -> str:
    """300 graphs of atoms and bonds, with columns everywhere, of several dtypes."""
    r = np.random.default_rng(1)
    nodes, edges = sizes(300, 2)
    ptr = np.append(0, np.cumsum(nodes))
    of = np.repeat(np.arange(300), edges)
    folder = write(
        "molecules",
        {
            "atoms.csv": "element,charge\n" + "".join(f"{'CNO'[k % 3]},{k % 7 / 4}\n" for k in range(nodes.sum())),
            "graph_ptr.npy": ptr,
            "edge_ptr.npy": np.append(0, np.cumsum(edges)),
            "x.npy": r.standard_normal((nodes.sum(), 3)).astype(np.float32),
            "src.npy": (r.random(len(of)) * nodes[of]).astype(np.int64),
            "dst.npy": (r.random(len(of)) * nodes[of]).astype(np.int64),
            "order.npy": r.integers(1, 4, len(of)).astype(np.uint16),
            "label.npy": r.integers(0, 2, 300),
            "target.npy": r.standard_normal((300, 2)),
            "graph.yaml": """
graphs: {columns: {label: label.npy, target: target.npy}}
nodes:
  atom: {table: atoms.csv, graph_ptr: graph_ptr.npy, columns: {element: string, charge: bfloat16, x: x.npy}}
edges:
  atom:bond:atom: {graph_ptr: edge_ptr.npy, src: src.npy, dst: dst.npy, ends: local, columns: {order: order.npy}}
""",
        },
    )
    graphmill("import", folder, "--out", path("molecules.coll"))
    return path("molecules.coll")


@functools.lru_cache(None)
def typed() -> str:
    """40 graphs with two node types and two relations of one name."""
    nodes, edges = sizes(40, 3)
    more, _ = sizes(40, 4)
    of = np.repeat(np.arange(40), edges)
    r = np.random.default_rng(5)
    folder = write(
        "typed",
        {
            "a_ptr.npy": np.append(0, np.cumsum(nodes)),
            "b_ptr.npy": np.append(0, np.cumsum(more)),
            "e_ptr.npy": np.append(0, np.cumsum(edges)),
            "feat.npy": r.standard_normal((nodes.sum(), 2)).astype(np.float32),
            "src.npy": (r.random(len(of)) * nodes[of]).astype(np.int64),
            "dst.npy": (r.random(len(of)) * more[of]).astype(np.int64),
            "label.npy": r.integers(0, 2, 40),
            "graph.yaml": """
graphs: {columns: {label: label.npy}}
nodes:
  a: {graph_ptr: a_ptr.npy, columns: {feat: feat.npy}}
  b: {graph_ptr: b_ptr.npy}
edges:
  a:of:b: {graph_ptr: e_ptr.npy, src: src.npy, dst: dst.npy, ends: local}
  b:of:a: {graph_ptr: e_ptr.npy, src: dst.npy, dst: src.npy, ends: local}
""",
        },
    )
    graphmill("import", folder, "--out", path("typed.coll"))
    return path("typed.coll")


def feed_of(loader: Any) -> int:
    """The process of a loader's feed, which runs."""
    pid: int = loader._process.pid
    return pid


@functools.lru_cache(None)
def sampled() -> str:
    """Batches sampled from the Debian graph, with ops."""
    graphmill(
        "sample",
        DEBIAN,
        "--fanout",
        "depends=4,3;has_tag=2,0",
        "--direction",
        "out",
        "--seeds",
        "package",
        "--limit-seeds",
        700,
        "--batch-size",
        64,
        "--epochs",
        2,
        "--ops",
        "--out",
        path("sampled.coll"),
    )
    return path("sampled.coll")


@functools.lru_cache(None)
def small_samples() -> str:
    """A sampled collection of one type: a graph per seed of the R-MAT graph."""
    graphmill("sample", RMAT, "--fanout", "3,2", "--scope", "seed", "--limit-seeds", 100, "--out", path("small.coll"))
    return path("small.coll")


LIMITS = {
    "molecules": ["num_nodes=24", "num_edges=40"],
    "typed": ["num_nodes:a=20", "num_nodes:b=20", "num_edges:a:of:b=30", "num_edges:b:of:a=30"],
    "small_samples": ["num_nodes=30", "num_edges=40"],
}


@functools.lru_cache(None)
def layout(collection: str, *flags: str) -> str:
    """A pack layout of molecules, typed or small_samples."""
    out = path(f"{collection}{'-'.join(flags)}.plan".replace("/", "_"))
    limits = [x for limit in LIMITS[collection] for x in ("--limit", limit)]
    graphmill("pack", globals()[collection](), *limits, *flags, "--effort", "0.1", "--out", out)
    return out


@functools.lru_cache(None)
def materialised(collection: str, seed: int, epoch: int, *flags: str) -> tuple[dict[str, Any], Callable[[str], npt.NDArray[Any]]]:
    """The packs of an epoch that the command writes: the content of packs.json, and a reader of its files."""
    out = path(f"{collection}-{seed}-{epoch}{'-'.join(flags)}.packs")
    graphmill("pack", "materialise", layout(collection, *flags), globals()[collection](), "--seed", seed, "--epoch", epoch, "--out", out)
    with open(os.path.join(out, "packs.json")) as f:
        return json.load(f), lambda file: np.load(os.path.join(out, file))
