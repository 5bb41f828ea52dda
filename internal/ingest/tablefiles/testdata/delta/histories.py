"""Writes tables of Delta Lake with random histories, by delta-rs, and the rows that it reads at random versions.

Usage: histories.py FOLDER SEED TABLES
"""

import datetime
import json
import os
import random
import sys

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

OUT, SEED, TABLES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def values(r: random.Random, kind: pa.DataType, n: int, nulls: bool) -> pa.Array:
    """Random values of a type, some of them missing."""

    def one():
        if nulls and r.random() < 0.3:
            return None
        if pa.types.is_integer(kind):
            return r.randrange(-100, 100)
        if pa.types.is_floating(kind):
            return r.randrange(-1000, 1000) / 8
        if pa.types.is_boolean(kind):
            return r.random() < 0.5
        if pa.types.is_date(kind):
            return datetime.date(1970, 1, 1) + datetime.timedelta(days=r.randrange(-20000, 20000))
        if pa.types.is_timestamp(kind):
            return EPOCH + datetime.timedelta(microseconds=r.randrange(-(10**15), 10**16))
        if pa.types.is_list(kind):
            return [r.randrange(100) for _ in range(r.randrange(4))]
        return r.choice(["", "a", "b c", "é/%=", "x:y", "long " * 9])

    return pa.array([one() for _ in range(n)], kind)


KINDS = [
    pa.int8(),
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.bool_(),
    pa.string(),
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.list_(pa.int64()),
]


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%fZ").rjust(27, "0")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


def write(path: str, r: random.Random) -> None:
    """Makes one table and the files of its rows."""
    names = ["src", "dst"] + [f"c{i}" for i in range(r.randrange(5))]
    kinds = [pa.int64(), pa.int64()] + [r.choice(KINDS) for _ in names[2:]]
    partitions = [n for n, k in zip(names, kinds) if n.startswith("c") and not pa.types.is_list(k) and r.random() < 0.3]

    def table(n: int) -> pa.Table:
        columns = [values(r, k, n, name.startswith("c")) for name, k in zip(names, kinds)]
        return pa.table(columns, pa.schema([pa.field(a, b) for a, b in zip(names, kinds)]))

    write_deltalake(path, table(r.randrange(20)), partition_by=partitions or None)
    for _ in range(r.randrange(8)):
        t = DeltaTable(path)
        op = r.randrange(8)
        if op <= 1:
            write_deltalake(path, table(r.randrange(1, 20)), mode="append")
        elif op == 2:
            t.delete(f"src > {r.randrange(-100, 100)}")
        elif op == 3:
            t.update(updates={"dst": "dst + 1"}, predicate=f"src < {r.randrange(-100, 100)}")
        elif op == 4 and len(partitions) == 0:
            names.append(f"c{len(names)}")
            kinds.append(r.choice(KINDS))
            write_deltalake(path, table(r.randrange(1, 9)), mode="append", schema_mode="merge")
        elif op == 5:
            t.create_checkpoint()
        elif op == 6:
            t.optimize.compact()
        else:
            write_deltalake(path, table(r.randrange(9)), mode="overwrite")
    last = DeltaTable(path).version()
    for version in {last, r.randrange(last + 1)}:
        rows = DeltaTable(path, version=version).to_pyarrow_table()
        content = {
            "columns": rows.column_names,
            "rows": [{k: plain(v) for k, v in row.items()} for row in rows.to_pylist()],
        }
        with open(f"{path}@{version}.json", "w", encoding="utf-8") as f:
            json.dump(content, f)


for number in range(TABLES):
    write(os.path.join(OUT, f"t{number}"), random.Random(1000 * SEED + number))
