"""Makes data sets of nodes in OGB's layouts, and reads them with OGB's own readers, which load all into memory.

usage: ogb_layout.py make --layout text|npz --edges N FOLDER   with polars, for text
       ogb_layout.py read --layout text|npz FOLDER             with ogb; prints one JSON

The data sets have the proportions of ogbn-products: 25 edges per node, and 128 float32 features per node with six
decimals, and labels. `text` is the layout of ogbn-products and ogbn-arxiv, `npz` the layout of DatasetSaver and of
ogbn-papers100M: one archive, compressed. The clock of `read` starts after the imports.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import pathlib
import sys
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["make", "read"])
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--layout", choices=["text", "npz"], required=True)
parser.add_argument("--edges", type=int)
args = parser.parse_args()

EDGES_PER_NODE, WIDTH, CHUNK = 25, 128, 1 << 18


def chunks(rows: int) -> Iterator[tuple[int, int]]:
    return ((i, min(CHUNK, rows - i)) for i in range(0, rows, CHUNK))


def columns(
    edges: int, nodes: int
) -> tuple[Callable[[], Iterator[npt.NDArray[Any]]], Callable[[], Iterator[npt.NDArray[Any]]], Callable[[], Iterator[npt.NDArray[Any]]]]:
    """The arrays in chunks of rows, always the same ones."""

    def ends() -> Iterator[npt.NDArray[Any]]:
        rng = np.random.default_rng(1)
        for _, n in chunks(edges):
            yield (nodes * rng.random((n, 2)) ** 2).astype(np.int64)

    def feat() -> Iterator[npt.NDArray[Any]]:
        rng = np.random.default_rng(2)
        for _, n in chunks(nodes):
            yield rng.normal(size=(n, WIDTH)).round(6).astype(np.float32)

    def label() -> Iterator[npt.NDArray[Any]]:
        rng = np.random.default_rng(3)
        for _, n in chunks(nodes):
            yield rng.integers(0, 47, (n, 1))

    return ends, feat, label


def make_text(raw: pathlib.Path, edges: int, nodes: int) -> None:
    import polars

    ends, feat, label = columns(edges, nodes)
    for name, rows in (
        ("edge", ends()),
        ("node-feat", feat()),
        ("node-label", label()),
        ("num-node-list", [np.array([[nodes]])]),
        ("num-edge-list", [np.array([[edges]])]),
    ):
        with gzip.open(raw / f"{name}.csv.gz", "wb", compresslevel=4) as f:
            for x in rows:
                f.write(polars.DataFrame(x, orient="row").write_csv(None, include_header=False, float_precision=6).encode())


def make_npz(raw: pathlib.Path, edges: int, nodes: int) -> None:
    ends, feat, label = columns(edges, nodes)

    def archive(name: str, arrays: dict[str, tuple[str, tuple[int, ...], Iterable[npt.NDArray[Any]]]]) -> None:
        with zipfile.ZipFile(raw / name, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as z:
            for key, (dtype, shape, rows) in arrays.items():
                with z.open(key + ".npy", "w", force_zip64=True) as f:
                    np.lib.format.write_array_header_1_0(f, {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape})
                    for x in rows:
                        f.write(np.ascontiguousarray(x).tobytes())

    def transposed() -> Iterator[npt.NDArray[Any]]:
        for k in range(2):
            yield from (x[:, k] for x in ends())

    archive(
        "data.npz",
        {
            "num_nodes_list": ("i8", (1,), [np.array([nodes])]),
            "num_edges_list": ("i8", (1,), [np.array([edges])]),
            "edge_index": ("i8", (2, edges), transposed()),
            "node_feat": ("f4", (nodes, WIDTH), feat()),
        },
    )
    archive("node-label.npz", {"node_label": ("i8", (nodes, 1), label())})


def read(raw: pathlib.Path) -> tuple[int, float]:
    """Returns the edges, and the clock's start."""
    os.environ["OUTDATED_IGNORE"] = "1"
    import pandas
    from ogb.io.read_graph_raw import read_binary_graph_raw, read_csv_graph_raw

    start = time.perf_counter()
    if args.layout == "text":
        graph = read_csv_graph_raw(raw)[0]
        label = pandas.read_csv(raw / "node-label.csv.gz", compression="gzip", header=None).values
    else:
        graph = read_binary_graph_raw(raw)[0]
        label = np.load(raw / "node-label.npz")["node_label"]
    assert graph["node_feat"].shape == (len(label), WIDTH)
    return graph["edge_index"].shape[1], start


if args.command == "make":
    temp = args.folder.with_name(args.folder.name + ".partial")
    raw = temp / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    (make_text if args.layout == "text" else make_npz)(raw, args.edges, args.edges // EDGES_PER_NODE)
    temp.rename(args.folder)
else:
    with contextlib.redirect_stdout(sys.stderr):  # ogb prints what it does
        edges, start = read(args.folder / "raw")
    seconds = time.perf_counter() - start
    print(json.dumps({"edges": edges, "seconds": seconds, "edges_per_second": edges / seconds}))
