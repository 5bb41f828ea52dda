"""Makes tables whose names say another kind of file, and the rows that pandas reads from them.

Run in this folder with pandas 3.1.1 and pyarrow 26.0.1.
"""

import json

import pandas as pd
import pyarrow as pa

t = pd.DataFrame({"src": [0, 2, 1], "dst": [2, 1, 0], "w": [0.5, 1.5, 2.5]})
t.to_csv("gzip.csv", index=False, compression={"method": "gzip", "mtime": 0})
with pa.output_stream("zstd.txt", compression="zstd") as out:
    out.write(t.to_csv(index=False, sep="\t").encode())
t.to_json("gzip.jsonl", orient="records", lines=True, compression={"method": "gzip", "mtime": 0})
t.to_parquet("parquet.csv", index=False)
t.to_feather("arrow.txt")
read = {
    "gzip.csv": pd.read_csv("gzip.csv", compression="gzip"),
    "zstd.txt": pd.read_csv(pa.input_stream("zstd.txt", compression="zstd"), sep="\t"),
    "gzip.jsonl": pd.read_json("gzip.jsonl", lines=True, compression="gzip"),
    "parquet.csv": pd.read_parquet("parquet.csv"),
    "arrow.txt": pd.read_feather("arrow.txt"),
}
tables = {}
for name, table in read.items():
    tables[name] = {"rows": table.astype({"src": "string", "dst": "string"}).to_dict("records")}
with open("expected.json", "w") as out:
    json.dump({"program": "pandas 3.1.1", "tables": tables}, out, indent=1)
    out.write("\n")
