#!/usr/bin/env python3
"""Writes the edges of a store of one edge type as Parquet files, in another order, so that a large import has tables to read.

usage: edge_tables.py STORE FOLDER [--files 16] [--run 1000000]

The edges are cut into runs of about --run edges. All in-edges of a node are in one run, in the order of the store, so an import of
the tables gives the arrays of the store again, to the byte. The order of the runs is random. The columns are src and dst, of uint32,
compressed by zstd. Two processes write; each holds one run.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq


def arrays(store: pathlib.Path) -> list[npt.NDArray[Any]]:
    (edges,) = json.loads((store / "graph.json").read_text())["edges"].values()
    return [np.load(store / edges["arrays"][name], mmap_mode="r") for name in ("indptr", "far")]


def write(store: pathlib.Path, path: pathlib.Path, runs: list[tuple[int, int]]) -> None:
    indptr, far = arrays(store)
    schema = pa.schema([("src", pa.uint32()), ("dst", pa.uint32())])
    with pq.ParquetWriter(
        path, schema, compression="zstd", compression_level=1, use_dictionary=False, column_encoding={"src": "PLAIN", "dst": "DELTA_BINARY_PACKED"}
    ) as out:
        for first, last in runs:
            offsets = np.asarray(indptr[first : last + 1]).astype(np.int64)
            dst = np.repeat(np.arange(first, last, dtype=np.uint32), np.diff(offsets))
            src = np.asarray(far[offsets[0] : offsets[-1]]).astype(np.uint32)
            out.write_table(pa.table([src, dst], schema=schema), row_group_size=len(dst) or None)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("store", type=pathlib.Path)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--files", type=int, default=16)
    p.add_argument("--run", type=int, default=1_000_000)
    a = p.parse_args()
    indptr, far = arrays(a.store)
    # Needles of the dtype of indptr, because NumPy would convert all of it otherwise.
    cuts = np.unique(np.append(np.searchsorted(indptr, np.arange(0, len(far), a.run, dtype=indptr.dtype)), len(indptr) - 1))
    runs = list(zip(cuts.tolist(), cuts[1:].tolist()))
    runs = [runs[i] for i in np.random.default_rng(1).permutation(len(runs))]
    a.folder.mkdir(parents=True)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        each = [pool.submit(write, a.store, a.folder / f"part-{i:02}.parquet", runs[i :: a.files]) for i in range(a.files)]
        for done in each:
            done.result()


if __name__ == "__main__":
    main()
