"""Writes the files of this folder, and prints the rows of a file as JSON: make.py DIR, make.py --rows FILES.

The files are written with pyarrow 26.0.1 and polars 2.1.0: bench/peers.sh tables.
"""

import datetime
import decimal
import json
import sys

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

N = 40


def table():
    at = datetime.datetime(2024, 1, 2, 3, 4, 5, 678900)
    null = lambda values: [None if i % 7 == 3 else v for i, v in enumerate(values)]
    numbers = range(N)
    columns = {"id": pa.array(numbers), "text": pa.array(null([f"word {i % 5}" for i in numbers]))}
    for unit in ("ms", "us", "ns"):
        columns["at_" + unit] = pa.array(null([at + datetime.timedelta(days=i) for i in numbers]), pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)
    columns["date"] = pa.array(null([at.date() - datetime.timedelta(days=20000 * (i % 2) + i) for i in numbers]), pa.date32())
    for digits, scale in ((7, 2), (15, 3), (15, 0), (30, 4), (38, 0)):
        values = [decimal.Decimal(i * 12345 - 70000) / 10 ** min(scale, 2) for i in numbers]
        columns[f"decimal_{digits}_{scale}"] = pa.array(null(values), pa.decimal128(digits, scale))
    columns["category"] = pa.array(null([f"c{i % 4}" for i in numbers])).dictionary_encode()
    columns["list"] = pa.array(null([[decimal.Decimal(i)] * (i % 3) for i in numbers]), pa.list_(pa.decimal128(9, 0)))
    return pa.table(columns)


def make(out):
    t = table()
    for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
        pq.write_table(t, f"{out}/{codec}.parquet", compression=codec, row_group_size=16)
    pq.write_table(t, f"{out}/integers.parquet", store_decimal_as_integer=True, use_dictionary=False)
    times = t.select(["id", "at_us", "at_ns"])
    pq.write_table(times, f"{out}/int96.parquet", use_deprecated_int96_timestamps=True, use_dictionary=False)
    with pq.ParquetWriter(f"{out}/groups.parquet", t.schema) as w:
        for part in (t.slice(0, 0), t.slice(0, 9), t.slice(9, 0), t.slice(9, 31)):
            w.write_table(part)
    pl.from_arrow(t.drop(["list"])).write_parquet(f"{out}/polars.parquet", compression="lz4")


def rows(path):
    t = pq.read_table(path)
    out = {}
    for name in t.column_names:
        c = t[name]
        if pa.types.is_date32(c.type):
            values = [None if v is None else v * 86400 for v in c.cast(pa.int32()).to_pylist()]
        elif pa.types.is_timestamp(c.type):
            values = c.cast(pa.int64()).to_pylist()
        else:
            of = c.type.value_type if pa.types.is_list(c.type) else c.type
            whole = pa.types.is_decimal(of) and of.scale == 0 and of.precision <= 18
            number = lambda v: v if not isinstance(v, decimal.Decimal) else int(v) if whole else float(v)
            values = [[number(x) for x in v] if isinstance(v, list) else number(v) for v in c.to_pylist()]
        out[name] = values
    return out


if __name__ == "__main__":
    if sys.argv[1] == "--rows":
        print(json.dumps({p: rows(p) for p in sys.argv[2:]}))
    else:
        make(sys.argv[1])
