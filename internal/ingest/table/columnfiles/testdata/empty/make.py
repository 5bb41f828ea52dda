"""Makes the Parquet tables of 0 rows in this folder, or in the one given, as they are written in the wild.

    python -m venv v && v/bin/pip install pyarrow==26.0.1 pandas==3.1.1 fastparquet==2026.9.0 polars==2.1.0 duckdb==2.0.0
    v/bin/python make.py                                        # all but the next
    python -m venv w && w/bin/pip install pyarrow==10.0.1 'pandas==2.0.3' 'numpy<2'
    w/bin/python make.py old                                    # the files of an old pyarrow

All have the columns id (string), n (int64), x (float64) and, but for the files of fastparquet, which knows no
lists, l (lists of int32) and ll (lists of lists of float32).
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def schema() -> pa.Schema:
    return pa.schema([("id", pa.string()), ("n", pa.int64()), ("x", pa.float64()), ("l", pa.list_(pa.int32())), ("ll", pa.list_(pa.list_(pa.float32())))])


def pyarrow(out: Path, name: str) -> None:
    empty = schema().empty_table()
    for codec in ("none", "snappy", "gzip", "zstd"):
        pq.write_table(empty, out / f"{name}-{codec}.parquet", compression=codec)
    pq.write_table(empty, out / f"{name}-v2.parquet", version="2.6", data_page_version="2.0", use_dictionary=False, write_statistics=False)
    with pq.ParquetWriter(out / f"{name}-no-group.parquet", schema()):
        pass
    with pq.ParquetWriter(out / f"{name}-groups.parquet", schema()) as w:  # groups of 0 rows around one of 2
        rows = pa.table({"id": ["a", "b"], "n": [1, 2], "x": [0.5, None], "l": [[1, 2], []], "ll": [[[0.5], []], []]}, schema=schema())
        for table in (empty, rows, empty):
            w.write_table(table)
    required = pa.schema([pa.field(f.name, f.type, nullable=False) for f in schema()])
    pq.write_table(required.empty_table(), out / f"{name}-required.parquet")


def pandas(out: Path, name: str) -> None:
    import pandas as pd

    frame = schema().empty_table().to_pandas()
    frame.to_parquet(out / f"{name}.parquet", engine="pyarrow", index=False, schema=schema())
    # Without a schema, objects of no rows are of the type null.
    rows = pd.DataFrame({"id": pd.Series(["a"], dtype=object), "n": [1], "x": [0.5], "l": [[1]], "ll": [[[0.5]]]})
    rows.iloc[:0].to_parquet(out / f"{name}-null.parquet", engine="pyarrow")


def lists(out: Path) -> None:
    import duckdb
    import polars as pl

    pl.from_arrow(schema().empty_table()).write_parquet(out / "polars.parquet")
    duckdb.execute(f"copy (select ''::varchar id, 0::int64 n, 0::double x, [0::int32] l, [[0::float]] ll where false) to '{out}/duckdb.parquet'")


def fastparquet(out: Path) -> None:
    import fastparquet as fp
    import pandas as pd

    frame = pd.DataFrame({"id": pd.Series([], dtype=object), "n": pd.Series([], dtype="int64"), "x": pd.Series([], dtype="float64")})
    for codec in ("UNCOMPRESSED", "SNAPPY", "GZIP"):
        fp.write(str(out / f"fastparquet-{codec.lower()}.parquet"), frame, compression=codec, object_encoding="utf8")


if __name__ == "__main__":
    old = sys.argv[1:2] == ["old"]
    folder = Path(sys.argv[-1]) if len(sys.argv) > 1 + old else Path(__file__).parent
    pyarrow(folder, "pyarrow10" if old else "pyarrow26")
    pandas(folder, "pandas2" if old else "pandas3")
    if not old:
        lists(folder)
        fastparquet(folder)
