"""Makes the tables that pyiceberg writes, with the rows that pyiceberg reads of them.

    python make_pyiceberg.py OUT

needs pyiceberg 0.12.0 with its extra sql-sqlite, and pyarrow 26. Names of files, ids of snapshots and times differ from run to run;
the rows do not.
"""

import datetime
import decimal
import glob
import json
import math
import os
import shutil
import sys
import tempfile
import uuid

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import EqualTo, GreaterThan
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import (
    BinaryType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def cell(v):
    """The value as the test has it: times are integers of their unit, and bytes hexadecimal digits."""
    if isinstance(v, list):
        return [cell(x) for x in v]
    if isinstance(v, datetime.datetime):
        v = v if v.tzinfo else v.replace(tzinfo=datetime.timezone.utc)
        return (v - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(v, datetime.date):
        return (v - EPOCH.date()).days * 86400
    if isinstance(v, uuid.UUID):
        return v.bytes.hex()
    if isinstance(v, bytes):
        return v.hex()
    if isinstance(v, decimal.Decimal):
        return int(v) if v == v.to_integral_value() else float(v)
    if isinstance(v, float) and not math.isfinite(v):
        return str(v)
    return v


def rows(scan):
    """The rows that a scan reads, but for times of day, structs and maps."""
    found = scan.to_arrow()
    keep = [f.name for f in found.schema if not (pa.types.is_struct(f.type) or pa.types.is_map(f.type) or pa.types.is_time(f.type))]
    return {
        "columns": keep,
        "rows": sorted(([cell(r[c]) for c in keep] for r in found.to_pylist()), key=json.dumps),
    }


def write(out, name, table, versions=()):
    """Puts a table and its rows into a folder."""
    expected = {"": rows(table.scan())}
    for v in versions:
        expected[f"@version={v}"] = rows(table.scan(snapshot_id=v))
    target = f"{out}/{name}"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(table.location().removeprefix("file://"), target)
    for path in sorted(glob.glob(f"{target}/metadata/*.metadata.json"))[:-1]:
        os.remove(path)
    with open(f"{target}.json", "w") as f:
        f.write(
            "{\n"
            + ",\n".join(
                f' {json.dumps(ref)}: {{"columns": {json.dumps(e["columns"], ensure_ascii=False)}, "rows": [\n  '
                + ",\n  ".join(json.dumps(r, ensure_ascii=False) for r in e["rows"])
                + "\n ]}"
                for ref, e in expected.items()
            )
            + "\n}\n"
        )


def catalog(folder):
    c = SqlCatalog("c", uri="sqlite:///:memory:", warehouse="file://" + folder)
    c.create_namespace("n")
    return c


def evolved(c, version):
    """Appends, overwrites, deletes and changes of the schema and of partitions."""
    schema = Schema(
        NestedField(1, "src", IntegerType(), required=False),
        NestedField(2, "dst", LongType(), required=False),
        NestedField(3, "w", FloatType(), required=False),
        NestedField(4, "kind", StringType(), required=False),
        NestedField(5, "price", DecimalType(9, 2), required=False),
    )
    spec = PartitionSpec(
        PartitionField(source_id=4, field_id=1000, transform=IdentityTransform(), name="kind"),
        PartitionField(source_id=1, field_id=1001, transform=BucketTransform(3), name="src_bucket"),
    )
    t = c.create_table(f"n.evolved{version}", schema, partition_spec=spec, properties={"format-version": version})
    first = pa.schema([("src", pa.int32()), ("dst", pa.int64()), ("w", pa.float32()), ("kind", pa.string()), ("price", pa.decimal128(9, 2))])
    t.append(pa.table([[0, 1, 2], [1, 2, 3], [0.1, None, 1.5], ["a", None, "ü/=%"], [decimal.Decimal("1.25"), None, decimal.Decimal(-3)]], schema=first))
    with t.update_schema() as u:
        u.update_column("src", LongType())
        u.update_column("w", DoubleType())
        u.update_column("price", DecimalType(18, 2))
        u.rename_column("dst", "target")
        u.add_column("note", StringType())
        u.move_first("note")
    second = pa.schema(
        [("note", pa.string()), ("src", pa.int64()), ("target", pa.int64()), ("w", pa.float64()), ("kind", pa.string()), ("price", pa.decimal128(18, 2))]
    )
    t.append(pa.table([["x", None], [5_000_000_000, 7], [8, 9], [0.1, None], ["a", "a"], [None, decimal.Decimal("9999999999.99")]], schema=second))
    before = t.current_snapshot().snapshot_id
    t.delete(EqualTo("src", 1))
    with t.update_spec() as u:
        u.remove_field("src_bucket")
        u.add_field("note", TruncateTransform(1), "note_first")
    t.overwrite(pa.table([["over"], [20], [21], [3.0], [None], [None]], schema=second), overwrite_filter=GreaterThan("target", 8))
    with t.update_schema(allow_incompatible_changes=True) as u:
        u.delete_column("price")
    return t, [before]


def types(c):
    """Types that Spark does not write."""
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "key", UUIDType(), required=False),
        NestedField(3, "code", FixedType(3), required=False),
        NestedField(4, "raw", BinaryType(), required=False),
        NestedField(5, "clock", TimeType(), required=False),
        NestedField(6, "at", TimestamptzType(), required=False),
        NestedField(7, "day", DateType(), required=False),
        NestedField(8, "feat", ListType(9, FloatType(), element_required=False), required=False),
    )
    t = c.create_table("n.types", schema, properties={"format-version": "2"})
    arrow = pa.schema(
        [
            pa.field("id", pa.int64(), False),
            ("key", pa.uuid()),
            ("code", pa.binary(3)),
            ("raw", pa.binary()),
            ("clock", pa.time64("us")),
            ("at", pa.timestamp("us", "UTC")),
            ("day", pa.date32()),
            ("feat", pa.list_(pa.float32())),
        ]
    )
    t.append(
        pa.Table.from_pylist(
            [
                {
                    "id": 1,
                    "key": uuid.UUID(int=5),
                    "code": b"\x00ab",
                    "raw": b"\xff",
                    "clock": datetime.time(1),
                    "at": EPOCH,
                    "day": EPOCH.date(),
                    "feat": [0.5, 1.5],
                },
                {"id": 2},
                {"id": 3, "feat": []},
            ],
            schema=arrow,
        )
    )
    return t, []


def main(out):
    folder = tempfile.mkdtemp()
    c = catalog(folder)
    os.makedirs(out, exist_ok=True)
    for version in ("1", "2"):  # pyiceberg 0.12 does not write version 3
        write(out, f"pyiceberg{version}", *evolved(c, version))
    write(out, "pyiceberg_types", *types(c))
    empty = c.create_table("n.nothing", pa.schema([("src", pa.int64()), ("dst", pa.int64())]))
    write(out, "pyiceberg_nothing", empty)


if __name__ == "__main__":
    main(sys.argv[1])
