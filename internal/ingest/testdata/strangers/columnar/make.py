"""Makes the files of ids that are not plain integers, and the rows that DuckDB and polars read from them.

Run in this folder with pyarrow 26.0.1, duckdb 2.0.1 and polars 2.1.0.
"""

import decimal
import json

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

wide = pa.decimal128(38, 0)


def number(x: int) -> decimal.Decimal:
    return decimal.Decimal(x)


pq.write_table(  # as Snowflake unloads NUMBER
    pa.table({"src": pa.array([number(0), number(7), number(3)], wide), "dst": pa.array([number(3), number(0), number(7)], wide)}),
    "number.parquet",
)
t = pa.table(
    {
        "src": pa.array([number(12345678901234567890), number(-7), number(2**80)], wide),
        "dst": pa.array([number(-7), number(2**80), number(2**80 + 1)], wide),
        "w": pa.array([decimal.Decimal("0.10"), None, decimal.Decimal("7.25")], pa.decimal128(38, 2)),
    }
)
with pa.OSFile("large.arrow", "wb") as f, pa.ipc.new_file(f, t.schema) as out:
    out.write_table(t)
# DuckDB writes its HUGEINT, the type of sum(), as double.
duckdb.sql(
    "COPY (SELECT sum(a) AS src, sum(b) AS dst, max(c) AS c FROM (VALUES (0, 5, 'x'), (5, 9, 'y'), (9, 0, 'z')) t(a, b, c) GROUP BY a ORDER BY a) TO 'hugeint.parquet'"
)
pl.DataFrame({"src": [4, -2, 4], "dst": [-2, 4, 0]}, schema={"src": pl.Int32, "dst": pl.Int64}).write_ipc(
    "negative.arrow", compat_level=pl.CompatLevel.oldest()
)
pq.write_table(pa.table({"src": [0, 7, -3], "dst": [7, 0, 0]}), "groups.parquet", row_group_size=1)
pl.DataFrame({"src": [0.0, 16777215.0], "dst": [2.0, 1.0]}, schema={"src": pl.Float32, "dst": pl.Float64}).write_parquet("whole.parquet")

# Latin-1 that is declared as text: DuckDB and polars refuse it. The bytes of the two values together are UTF-8.
latin1 = pa.Array.from_buffers(pa.utf8(), 2, [None, pa.py_buffer(b"\0\0\0\0\x02\0\0\0\x03\0\0\0"), pa.py_buffer(b"a\xc3\xa9")])
t = pa.table({"src": latin1, "dst": pa.array(["b", "c"])})
pq.write_table(t, "latin1.parquet")
with pa.OSFile("latin1.arrow", "wb") as f, pa.ipc.new_file(f, t.schema) as out:
    out.write_table(t)
# The same bytes as binary are no text.
t = pa.table({"src": latin1.view(pa.binary()), "dst": pa.array([b"b", b"c"])})
pq.write_table(t, "binary.parquet")

tables = {}
for name in ["latin1.parquet", "latin1.arrow"]:
    try:
        duckdb.sql(f"SELECT * FROM '{name}'").fetchall() if name.endswith("parquet") else pl.read_ipc(name)
    except (duckdb.InvalidInputException, pl.exceptions.ComputeError) as e:
        print(e)
        tables[name] = {
            "error": r"row 0 " + ("(row group 0)" if name.endswith("parquet") else "(record batch 0)") + r': found "a\xc3" in column "src", expected UTF-8'
        }
assert len(tables) == 2
rows = [(a.decode("latin1"), b.decode()) for a, b in duckdb.sql("SELECT * FROM 'binary.parquet'").fetchall()]
tables["binary.parquet"] = {"rows": [{"src": a, "dst": b} for a, b in rows]}
for name in ["number.parquet", "large.arrow", "hugeint.parquet", "negative.arrow", "groups.parquet", "whole.parquet"]:
    rows = (pl.read_parquet(name) if name.endswith("parquet") else pl.read_ipc(name)).rows(named=True)
    if name.endswith("parquet"):
        r = duckdb.sql(f"SELECT * FROM '{name}'")
        assert [dict(zip(r.columns, row)) for row in r.fetchall()] == rows
    for row in rows:
        for k, v in row.items():
            if k in ("src", "dst"):
                assert v == int(v)
                row[k] = str(int(v))
            elif isinstance(v, decimal.Decimal):
                row[k] = float(v)
    tables[name] = {"rows": rows}
for name in ["large.arrow", "negative.arrow", "groups.parquet"]:
    tables[name]["warning"] = "all ids are read as strings"
tables["large.arrow"]["empty"] = "nan"
with open("expected.json", "w") as f:
    json.dump({"program": f"duckdb {duckdb.__version__}, polars {pl.__version__}", "tables": tables}, f, indent=1)
    f.write("\n")
