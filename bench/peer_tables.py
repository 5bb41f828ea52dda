"""Reads tables by other programs, which do less than an import, and makes inputs of the benchmarks.

usage: peer_tables.py read PAIRS.csv --peer polars|duckdb|pyarrow --threads T
       peer_tables.py scan EDGES.parquet|EDGES.arrow --peer polars|duckdb|pyarrow --threads T
       peer_tables.py sort EDGES.parquet|EDGES.arrow --peer polars|duckdb --threads T --out FILE
       peer_tables.py join FOLDER    --peer polars|duckdb --threads T
       peer_tables.py edges STORE OUT.csv|OUT.npy|OUT.parquet|OUT.arrow     a homogeneous store's edges in input order
       peer_tables.py strings FOLDER --keys N --refs N

`read` loads integer pairs into columns; `scan` reads all columns of a table and sums each, so that every value is
read; `sort` reads them, sorts the rows by destination, and writes them (polars: in the order of the input at each
destination, as Arrow without compression; DuckDB: in any order there, as Parquet without compression); `join` reads the tables that `strings`
writes and finds the row number of every reference. Their clock starts after the
imports. Prints one JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["read", "scan", "sort", "join", "edges", "strings"])
parser.add_argument("paths", nargs="+")
parser.add_argument("--peer", choices=["polars", "duckdb", "pyarrow"])
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--keys", type=int)
parser.add_argument("--refs", type=int)
parser.add_argument("--out")
args = parser.parse_args()
os.environ["POLARS_MAX_THREADS"] = str(args.threads)  # read when polars is loaded

import numpy as np  # noqa: E402

HOMOGENEOUS = "_N:_E:_N"


def duck() -> Any:
    import duckdb

    return duckdb.connect(config={"threads": args.threads})


def read(path: str) -> tuple[int, float]:
    """Returns the rows read and the clock's start."""
    if args.peer == "polars":
        import polars as pl

        start = time.perf_counter()
        frame = pl.read_csv(path, schema={"src": pl.Int64, "dst": pl.Int64})
        return frame.height, start
    if args.peer == "duckdb":
        db = duck()
        start = time.perf_counter()
        db.execute(
            "CREATE TABLE pairs AS FROM read_csv(?, columns = {'src': 'BIGINT', 'dst': 'BIGINT'}, header = true, auto_detect = false, delim = ',')", [path]
        )
        return db.execute("SELECT count(*) FROM pairs").fetchone()[0], start
    import pyarrow as pa
    from pyarrow import csv

    pa.set_cpu_count(args.threads)
    start = time.perf_counter()
    return csv.read_csv(path).num_rows, start


def scan(path: str) -> tuple[int, float]:
    """Returns the rows whose columns were summed and the clock's start."""
    arrow = path.endswith(".arrow")
    if args.peer == "polars":
        import polars as pl

        start = time.perf_counter()
        sums = (pl.scan_ipc if arrow else pl.scan_parquet)(path).select(pl.len(), pl.all().exclude("len").sum()).collect(engine="streaming")
        return sums["len"][0], start
    if args.peer == "duckdb":
        db = duck()
        start = time.perf_counter()
        return db.execute("SELECT count(*), sum(src), sum(dst), sum(weight) FROM read_parquet(?)", [path]).fetchone()[0], start
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    pa.set_cpu_count(args.threads)
    start = time.perf_counter()
    rows = 0
    for batch in ds.dataset(path, format="ipc" if arrow else "parquet").to_batches():
        rows += batch.num_rows
        for column in batch.columns:
            pc.sum(column)
    return rows, start


def sort(path: str) -> tuple[int, float]:
    """Returns the rows that were sorted and written, and the clock's start. Ids are written with 32 bits, as a store has them."""
    os.makedirs(os.path.dirname(args.out), exist_ok=True)
    if args.peer == "polars":
        import polars as pl

        start = time.perf_counter()
        frame = (pl.read_ipc(path) if path.endswith(".arrow") else pl.read_parquet(path)).cast({"src": pl.UInt32, "dst": pl.UInt32})
        frame.sort("dst", maintain_order=True).write_ipc(args.out, compression="uncompressed")
        return frame.height, start
    db = duck()
    start = time.perf_counter()
    db.execute(
        "COPY (SELECT src::UINTEGER AS src, dst::UINTEGER AS dst, weight FROM read_parquet(?) ORDER BY dst) TO '"
        + args.out.replace("'", "''")
        + "' (FORMAT parquet, COMPRESSION uncompressed)",
        [path],
    )
    return db.execute("SELECT count(*) FROM read_parquet(?)", [args.out]).fetchone()[0], start


def join(folder: str) -> tuple[int, float]:
    """Returns the references found and the clock's start."""
    nodes, edges = os.path.join(folder, "node.csv"), os.path.join(folder, "edge.csv")
    if args.peer == "polars":
        import polars as pl

        start = time.perf_counter()
        keys = pl.read_csv(nodes).with_row_index("row")
        refs = pl.read_csv(edges)
        found = 0
        for end in "source", "target":
            rows = refs.select(pl.col(end).alias("id")).join(keys, on="id", how="left", maintain_order="left")["row"]
            found += len(rows) - rows.null_count()
        return found, start
    db = duck()
    start = time.perf_counter()
    db.execute("CREATE TABLE keys AS SELECT id, row_number() OVER () - 1 AS row FROM read_csv(?, header = true)", [nodes])
    db.execute(
        "CREATE TABLE refs AS SELECT s.row AS source, t.row AS target FROM read_csv(?, header = true) e "
        "JOIN keys s ON e.source = s.id JOIN keys t ON e.target = t.id",
        [edges],
    )
    return 2 * db.execute("SELECT count(*) FROM refs").fetchone()[0], start


def edges(store: str, out: str) -> None:
    """Writes the edges in a random order, which is the same for the same store."""
    with open(os.path.join(store, "graph.json")) as f:
        meta = json.load(f)["edges"][HOMOGENEOUS]
    if meta["primary"] != "in":
        raise SystemExit(f"{store}: found primary direction {meta['primary']!r}, expected in; generate it anew")
    load: Callable[[str], Any] = lambda name: np.load(os.path.join(store, name), mmap_mode="r")
    indptr, far = load(meta["arrays"]["indptr"]), load(meta["arrays"]["far"])
    position = np.random.default_rng(1).permutation(len(far))
    pairs = np.empty((2, len(far)), np.int64)
    pairs[0, position] = far
    pairs[1, position] = np.repeat(np.arange(len(indptr) - 1, dtype=np.int64), np.diff(indptr.astype(np.int64)))
    if out.endswith(".npy"):
        with open(out + ".partial", "wb") as f:
            np.save(f, pairs)
    elif out.endswith((".parquet", ".arrow")):
        import polars as pl

        weight = np.random.default_rng(1).random(pairs.shape[1], np.float32)
        frame = pl.DataFrame({"src": pairs[0], "dst": pairs[1], "weight": weight})
        (frame.write_parquet if out.endswith(".parquet") else frame.write_ipc)(out + ".partial")
    else:
        import polars as pl

        pl.DataFrame({"src": pairs[0], "dst": pairs[1]}).write_csv(out + ".partial")
    os.replace(out + ".partial", out)


def strings(folder: str) -> None:
    """A unigraph of N string keys in random order, with random references to them."""
    import polars as pl

    rng = np.random.default_rng(1)
    os.makedirs(folder + ".partial", exist_ok=True)

    def write(name: str, frame: Any) -> None:
        frame.write_csv(os.path.join(folder + ".partial", name))

    number = rng.permutation(args.keys)
    # Hexadecimal of a bijection of the row's number: 16 letters, all distinct.
    key = pl.Series("id", (number.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(">u8").tobytes().hex("\n", 8).split("\n"))
    write("node.csv", key.to_frame())
    ends = {end: key.gather(rng.integers(0, args.keys, args.refs // 2, dtype=np.uint32)) for end in ("source", "target")}
    write("edge.csv", pl.DataFrame(ends))
    with open(os.path.join(folder + ".partial", "schema.pbtxt"), "w") as f:
        f.write(
            'node_sets { key: "node" value { metadata { filename: "node.csv" } } }\n'
            'edge_sets { key: "edge" value { source: "node" target: "node" metadata { filename: "edge.csv" } } }\n'
        )
    os.replace(folder + ".partial", folder)


if args.command in ("read", "scan", "sort", "join"):
    rows, start = {"read": read, "scan": scan, "sort": sort, "join": join}[args.command](*args.paths)
    seconds = time.perf_counter() - start
    print(json.dumps({"rows": rows, "seconds": seconds, "rows_per_second": rows / seconds}))
else:
    make: Callable[..., None] = edges if args.command == "edges" else strings
    make(*args.paths)
