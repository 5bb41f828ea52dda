"""Writes pyarrow.parquet, the file of pyarrow that the program damages.

    python -m venv v && v/bin/pip install pyarrow==26.0.1 && v/bin/python make.py
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = range(48)
table = pa.table({
    "id": [f"node-{i}" for i in ROWS],
    "type": [("author", "paper")[i % 2] for i in ROWS],
    "time": pa.array([None if i % 3 == 0 else i << 20 for i in ROWS], pa.int64()),
    "score": [i / 7 for i in ROWS],
    "list": pa.array([[1.0, 2.0, 3.0][: i % 4] for i in ROWS], pa.list_(pa.float32())),
})
pq.write_table(table, Path(__file__).with_name("pyarrow.parquet"), compression="snappy", row_group_size=48)
