"""Writes tables of Iceberg with random histories, by pyiceberg, and the rows that it reads at random snapshots.

Usage: histories.py FOLDER SEED TABLES
"""

import datetime
import decimal
import random
import sys
import tempfile

import make_pyiceberg
import pyarrow as pa
from pyiceberg.expressions import AlwaysTrue, And, EqualTo, GreaterThan, IsNull, LessThan, Or
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
)

EPOCH = make_pyiceberg.EPOCH
KINDS = [
    BooleanType(),
    IntegerType(),
    LongType(),
    FloatType(),
    DoubleType(),
    DecimalType(9, 2),
    DecimalType(12, 0),
    DateType(),
    TimestampType(),
    TimestamptzType(),
    StringType(),
    StringType(),
    ListType(0, LongType(), element_required=False),
]
WIDER = {IntegerType(): LongType(), FloatType(): DoubleType(), DecimalType(9, 2): DecimalType(18, 2), DecimalType(12, 0): DecimalType(20, 0)}
NAMES = ["w", "größe", "a b", "x.y", "KIND", "kind", "_", "n/a", "day=1", "1st"]


def value(r, kind):
    """A random value of a type of Arrow, or none."""
    if r.random() < 0.25:
        return None
    if pa.types.is_boolean(kind):
        return r.random() < 0.5
    if pa.types.is_integer(kind):
        return r.randrange(-50, 50)
    if pa.types.is_floating(kind):
        return r.randrange(-1000, 1000) / 8
    if pa.types.is_decimal(kind):
        return decimal.Decimal(r.randrange(-99999, 99999)).scaleb(-kind.scale)
    if pa.types.is_date(kind):
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=r.randrange(-9, 9))
    if pa.types.is_timestamp(kind):
        at = EPOCH + datetime.timedelta(microseconds=r.randrange(-(10**12), 10**12))
        return at if kind.tz else at.replace(tzinfo=None)
    if pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return [r.randrange(9) for _ in range(r.randrange(4))]
    return r.choice(["", "a", "b c", "é/%=", "x:y", "long " * 9])


def rows(r, table, n):
    """Random rows with the schema of a table."""
    schema = table.schema().as_arrow()
    return pa.Table.from_pylist([{f.name: value(r, f.type) for f in schema} for _ in range(n)], schema=schema)


def condition(r, table):
    """A random condition on the columns of numbers and texts."""
    fields = [f for f in table.schema().fields if isinstance(f.field_type, (IntegerType, LongType, DoubleType, StringType))]
    if not fields:
        return AlwaysTrue()
    f = r.choice(fields)
    if r.random() < 0.2:
        return IsNull(f.name)
    if isinstance(f.field_type, StringType):
        return EqualTo(f.name, r.choice(["a", "b c", "é/%="]))
    low = r.randrange(-50, 40)
    return r.choice([GreaterThan(f.name, low), And(GreaterThan(f.name, low), LessThan(f.name, low + 20)), Or(LessThan(f.name, -30), GreaterThan(f.name, 30))])


def change_schema(r, table):
    """Adds, renames, drops, widens or moves a column."""
    fields = list(table.schema().fields)
    used = {n for s in table.metadata.partition_specs for f in s.fields for n in [f.source_id]}
    with table.update_schema(allow_incompatible_changes=True) as u:
        what = r.randrange(5)
        f = r.choice(fields)
        if what == 0:
            u.add_column((f"new.{len(fields)}" if r.random() < 0.2 else f"new{r.randrange(1000)}",), r.choice(KINDS[:12]))
        elif what == 1:
            u.rename_column((f.name,) if "." in f.name else f.name, f"renamed{r.randrange(1000)}")
        elif what == 2 and len(fields) > 2 and f.field_id not in used:
            u.delete_column((f.name,))
        elif what == 3 and f.field_type in WIDER and f.field_id not in used:
            u.update_column((f.name,), WIDER[f.field_type])
        elif what == 4 and "." not in f.name:
            u.move_first(f.name)


def change_spec(r, table):
    """Adds or drops a field of the partition."""
    with table.update_spec() as u:
        old = [f for f in table.spec().fields if str(f.transform) != "void"]
        if old and r.random() < 0.4:
            u.remove_field(r.choice(old).name)
            return
        f = r.choice(table.schema().fields)
        if "." in f.name or any(x.source_id == f.field_id for x in table.spec().fields):
            return
        if isinstance(f.field_type, (DateType, TimestampType, TimestamptzType)):
            u.add_field(f.name, DayTransform())
        elif isinstance(f.field_type, (IntegerType, LongType)):
            u.add_field(f.name, r.choice([IdentityTransform(), BucketTransform(2), TruncateTransform(10)]))
        elif isinstance(f.field_type, StringType):
            u.add_field(f.name, r.choice([IdentityTransform(), TruncateTransform(1)]))


def history(r, catalog, name):
    """A table after random commits."""
    names = ["src", "dst", *r.sample(NAMES, r.randrange(5))]
    kinds = [LongType(), IntegerType()] + [r.choice(KINDS) for _ in names[2:]]
    from pyiceberg.schema import Schema, assign_fresh_schema_ids
    from pyiceberg.types import NestedField

    schema = assign_fresh_schema_ids(Schema(*[NestedField(i + 1, n, k, required=False) for i, (n, k) in enumerate(zip(names, kinds))]))
    table = catalog.create_table(
        f"n.{name}", schema, properties={"format-version": str(r.choice([1, 2])), "write.metadata.compression-codec": r.choice(["none", "gzip"])}
    )
    for _ in range(r.randrange(9)):
        what = r.randrange(8)
        try:
            if what <= 2:
                table.append(rows(r, table, r.randrange(12)))
            elif what == 3:
                table.delete(condition(r, table))
            elif what == 4:
                table.overwrite(rows(r, table, r.randrange(6)), overwrite_filter=condition(r, table))
            elif what <= 6:
                change_schema(r, table)
            else:
                change_spec(r, table)
        except (ValueError, NotImplementedError) as e:  # what pyiceberg does not do
            print(name, what, type(e).__name__, str(e)[:100], file=sys.stderr)
            table = catalog.load_table(f"n.{name}")
    return table


def main(out, seed, tables):
    catalog = make_pyiceberg.catalog(tempfile.mkdtemp())
    for number in range(tables):
        r = random.Random(1000 * seed + number)
        table = history(r, catalog, f"t{number}")
        snapshots = [s.snapshot_id for s in table.metadata.snapshots]
        make_pyiceberg.write(out, f"t{number}", table, r.sample(snapshots, min(2, len(snapshots))))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
