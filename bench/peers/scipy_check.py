#!/usr/bin/env python3
"""Compares imports of sparse matrices with SciPy (see ogb-requirements.txt).

usage: scipy_check.py make DIR SEED COUNT   writes random matrices, DIR/N.npz or DIR/N.mtx(.gz), and their entries
       scipy_check.py check DIR             compares the stores DIR/N.store with the matrices as SciPy reads them

The matrices are of all dtypes, square or not, with entries that occur twice and zeros that are stored; symmetric and
skew-symmetric ones are written as such by scipy.io.mmwrite.

stdout: one JSON object with the number of matrices. exit 0 equal, 1 not equal (with a message), 2 usage.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import sys
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse

sys.path.insert(0, str(pathlib.Path(__file__).parent))


def random_matrix(rng: np.random.Generator, i: int) -> Any:
    rows = int(rng.integers(1, 400 if i % 5 == 0 else 9))
    columns = rows if rng.random() < 0.7 else int(rng.integers(1, 20))
    n = int(rng.integers(0, 3 * rows))
    dtypes: list[Any] = [np.float64, np.float32, np.int64, np.int32, np.int8]
    dtype = rng.choice(dtypes)
    values = rng.integers(-9, 9, n).astype(dtype)
    if dtype in (np.float64, np.float32):
        values /= 7
    return scipy.sparse.coo_matrix((values, (rng.integers(0, rows, n), rng.integers(0, columns, n))), (rows, columns))


def make(directory: str, seed: int, count: int) -> None:
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        a, path = random_matrix(rng, i), pathlib.Path(directory) / str(i)
        if i % 2:
            a = getattr(a, ["tocsr", "tocsc", "tocoo"][i // 2 % 3])()
            if i % 3 == 0:
                a = scipy.sparse.csr_array(a) if a.format == "csr" else a
            scipy.sparse.save_npz(str(path) + ".npz", a, compressed=bool(i & 4))
            continue
        square = a.shape[0] == a.shape[1]
        if square and i % 8 == 2:
            a = a + a.T
        elif square and i % 8 == 4:
            a = scipy.sparse.coo_matrix(a - a.T)
        field = "pattern" if i % 8 == 6 else None
        if field is None and a.dtype == np.int8:
            a = a.astype(np.int64)
        scipy.io.mmwrite(str(path) + ".mtx", a, comment="a comment\nin two lines" if i & 8 else "", field=field)
        if i & 16:
            name = pathlib.Path(str(path) + ".mtx")
            pathlib.Path(str(name) + ".gz").write_bytes(gzip.compress(name.read_bytes()))
            name.unlink()


def check(directory: str) -> None:
    from ogb_check import Store

    files = sorted(p for p in pathlib.Path(directory).iterdir() if p.is_file() and p.suffix in (".npz", ".mtx", ".gz"))
    for f in files:
        a = scipy.sparse.load_npz(f) if f.suffix == ".npz" else scipy.io.mmread(f)
        store = Store(f.parent / (f.name.split(".")[0] + ".store"))
        (name,) = store.meta["edges"]
        source, _, target = name.split(":")
        shape = store.nodes(source)[0], store.nodes(target)[0]
        ends, columns = store.edges(name)
        weight = columns.get("weight", np.ones(ends.shape[1]))
        if f.suffix == ".npz" and weight.dtype != a.dtype:
            raise SystemExit(f"{f}: found weights of {weight.dtype}, expected {a.dtype}")
        b = scipy.sparse.coo_matrix((weight, ends), shape)
        if shape != a.shape or a.nnz != b.nnz or not np.array_equal(a.toarray(), b.toarray()):
            raise SystemExit(f"{f}: found {shape}, {b.nnz} entries\n{b}\nexpected {a.shape}, {a.nnz} entries\n{a}")
    print(json.dumps({"matrices": len(files)}))


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        sys.exit(__doc__)
