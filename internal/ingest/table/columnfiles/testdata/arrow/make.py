"""Writes the files of this folder, and prints the rows of a file as JSON: make.py DIR, make.py --rows FILE.

The files are written with pyarrow 26.0.1 and polars 2.1.0: bench/peers.sh tables.
"""

import datetime
import decimal
import json
import math
import sys

import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc

N = 40


def table():
    """A table of every type that is read, with a null in each column that can have one."""
    at = datetime.datetime(2024, 1, 2, 3, 4, 5, 678900)
    null = lambda values: [None if i % 7 == 3 else v for i, v in enumerate(values)]
    numbers = range(N)
    columns = {}
    for name in ("int8", "int16", "int32", "int64"):
        columns[name] = pa.array(null([i - 20 for i in numbers]), name)
    for name in ("uint8", "uint16", "uint32", "uint64"):
        columns[name] = pa.array(null([2 ** int(name[4:]) - 1 - i for i in numbers]), name)
    columns["half"] = pa.array(null([i / 4 for i in numbers]), pa.float16())
    columns["float"] = pa.array(null([i / 8 for i in numbers]), pa.float32())
    columns["double"] = pa.array(null([math.pi * i for i in numbers]), pa.float64())
    columns["bool"] = pa.array(null([i % 3 == 0 for i in numbers]), pa.bool_())
    words = [("x" * (i % 15)) + str(i) + "é" for i in numbers]
    for typ in (pa.utf8(), pa.large_utf8(), pa.binary(), pa.large_binary(), pa.string_view()):
        columns[str(typ)] = pa.array(null([w.encode() if "binary" in str(typ) else w for w in words]), typ)
    columns["fixed_binary"] = pa.array(null([b"%03d" % i for i in numbers]), pa.binary(3))
    for unit in ("s", "ms", "us", "ns"):
        columns["at_" + unit] = pa.array(null([at + datetime.timedelta(days=i) for i in numbers]), pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)
    columns["zoned"] = columns["at_ms"].cast(pa.timestamp("ms", "Europe/Paris"))
    columns["date32"] = pa.array(null([at.date() - datetime.timedelta(days=20000 * (i % 2) + i) for i in numbers]), pa.date32())
    columns["date64"] = columns["date32"].cast(pa.date64())
    columns["decimal"] = pa.array(null([decimal.Decimal(i * 12345 - 7) / 100 for i in numbers]), pa.decimal128(12, 2))
    columns["whole"] = pa.array(null([decimal.Decimal(i * 12345 - 7) for i in numbers]), pa.decimal128(15, 0))
    columns["large"] = pa.array(null([decimal.Decimal(10**40 + i) for i in numbers]), pa.decimal256(50, 3))
    columns["category"] = pa.array(null([f"c{i % 4}" for i in numbers])).dictionary_encode()
    columns["coded"] = pa.array(null([100 * (i % 4) for i in numbers])).dictionary_encode()
    columns["none"] = pa.nulls(N)
    columns["list"] = pa.array(null([[i] * (i % 4) for i in numbers]), pa.list_(pa.int32()))
    columns["large_list"] = pa.array(null([[str(i)] * (i % 3) for i in numbers]), pa.large_list(pa.utf8()))
    columns["sized"] = pa.array(null([[i, i / 2, -i] for i in numbers]), pa.list_(pa.float32(), 3))
    columns["deep"] = pa.array(null([[[i], []] * (i % 3) for i in numbers]), pa.list_(pa.list_(pa.int64())))
    columns["struct"] = pa.array([{"a": i, "b": "x"} for i in numbers])
    columns["map"] = pa.array([[("k", i)] for i in numbers], pa.map_(pa.utf8(), pa.int64()))
    columns["last"] = pa.array(numbers)
    return pa.table(columns)


def make(out):
    t = table()
    for codec in (None, "lz4", "zstd"):
        options = ipc.IpcWriteOptions(compression=codec)
        name = codec or "plain"
        for kind, new in (("arrow", ipc.new_file), ("arrows", ipc.new_stream)):
            with new(f"{out}/{name}.{kind}", t.schema, options=options) as w:
                w.write_table(t, max_chunksize=16)
    # A slice, whose offsets do not start at 0, and dictionaries that are replaced and extended.
    small = t.select(["string", "list", "bool", "category", "int8"])
    with ipc.new_stream(f"{out}/slices.arrows", small.schema) as w:
        for i in (5, 0, 30):
            b = small.slice(i, 9).combine_chunks().to_batches()[0]
            columns = [c.dictionary_decode().dictionary_encode() if pa.types.is_dictionary(c.type) else c for c in b.columns]
            w.write_batch(pa.record_batch(columns, schema=small.schema))
    with ipc.new_stream(
        f"{out}/deltas.arrows", pa.schema({"c": pa.dictionary(pa.int32(), pa.utf8())}), options=ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    ) as w:
        for words in (["a", "b"], ["a", "b", "c"]):
            d = pa.DictionaryArray.from_arrays(pa.array(range(len(words)), pa.int32()), pa.array(words))
            w.write_batch(pa.record_batch([d], names=["c"]))
    feather.write_feather(t.drop(["string_view"]), f"{out}/pyarrow.feather")
    with ipc.new_file(f"{out}/empty.arrow", t.schema):
        pass
    df = pl.DataFrame(
        {
            "id": range(N),
            "text": [None if i % 7 == 3 else f"long enough for a view {i}" for i in range(N)],
            "weight": [i / 8 for i in range(N)],
            "kind": pl.Series(["a", "b", None, "c"] * (N // 4), dtype=pl.Categorical),
            "feat": pl.Series([[i, i + 1] for i in range(N)], dtype=pl.Array(pl.Float32, 2)),
            "tags": [[f"t{k}" for k in range(i % 3)] for i in range(N)],
            "at": pl.Series([datetime.datetime(2024, 1, 1 + i % 28) for i in range(N)]),
        }
    )
    df.write_ipc(f"{out}/polars.arrow", compression="zstd")
    df.write_ipc(f"{out}/polars-lz4.arrow", compression="lz4")
    df.write_ipc_stream(f"{out}/polars.arrows")


def text(v, typ):
    """A value as the test of the table prints it."""
    if v is None:
        return None
    if pa.types.is_list(typ) or pa.types.is_large_list(typ) or pa.types.is_fixed_size_list(typ):
        return [text(x, typ.value_type) for x in v]
    if pa.types.is_dictionary(typ):
        return text(v, typ.value_type)
    if isinstance(v, bytes):
        return v.decode()
    if isinstance(v, bool):
        return v
    if isinstance(v, decimal.Decimal):
        return int(v) if typ.scale == 0 and typ.precision <= 18 else float(v)
    return v


def rows(path):
    """The rows of a file: a list per column that is read."""
    try:
        t = ipc.open_file(path).read_all()
    except pa.ArrowInvalid:
        t = ipc.open_stream(path).read_all()
    out = {}
    for name in t.column_names:
        c = t[name].combine_chunks()
        if isinstance(c, pa.ChunkedArray):
            c = c.combine_chunks() if c.num_chunks else pa.array([], c.type)
        if pa.types.is_struct(c.type) or pa.types.is_map(c.type):
            continue
        if pa.types.is_date32(c.type):
            c = pa.array([None if v is None else v * 86400 for v in c.cast(pa.int32()).to_pylist()], pa.int64())
        elif pa.types.is_date64(c.type) or pa.types.is_timestamp(c.type):
            c = c.cast(pa.int64())
        out[name] = [text(v, c.type) for v in c.to_pylist()]
    return out


if __name__ == "__main__":
    if sys.argv[1] == "--rows":
        print(json.dumps({p: rows(p) for p in sys.argv[2:]}))
    else:
        make(sys.argv[1])
