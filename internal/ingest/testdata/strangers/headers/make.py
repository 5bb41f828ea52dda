"""Makes text files with other first lines than a header of their columns, and the rows that pandas and DuckDB read from them.

Run in this folder with pandas 3.1.1 and duckdb 2.0.1. Files that pandas does not write are in the form of the program that is named.
"""

import json
from pathlib import Path

import duckdb
import pandas as pd

frame = pd.DataFrame({"src": [3, 0, 7], "dst": [0, 7, 3], "w": [0.5, 0.25, 2.0]})
frame.to_csv("index.csv")
frame.to_csv("index.tsv.gz", sep="\t", compression={"method": "gzip", "mtime": 0})
# R: write.table(x, "rows.txt"), write.csv(x, "rows.csv"), write.table(x, "rows.tsv", sep="\t", quote=FALSE)
Path("rows.txt").write_text('"src" "dst" "w"\n"1" 3 0 0.5\n"2" 0 7 0.25\n"3" 7 3 2\n')
Path("rows.csv").write_text('"","src","dst","w"\n"1",3,0,0.5\n"2",0,7,0.25\n"3",7,3,2\n')
Path("rows.tsv").write_text("src\tdst\tw\nr1\t3\t0\t0.5\nr2\t0\t7\t0.25\nr3\t7\t3\t2\n")
# Excel, where the list separator of the country is another one.
Path("excel.csv").write_bytes(b"sep=;\r\nsrc;dst;w\r\n3;0;0.5\r\n0;7;0.25\r\n7;3;2\r\n")
Path("excelbom.csv").write_bytes(b'\xef\xbb\xbf"sep=|"\r\nsrc|dst|w\r\n3|0|0.5\r\n0|7|0.25\r\n7|3|2\r\n')
# A delimiter at the end of each line, of the header too or not.
Path("trailing.csv").write_text("src,dst,w,\n3,0,0.5,\n0,7,0.25,\n7,3,2,\n")
Path("trailingrows.csv").write_text("src,dst,w\n3,0,0.5,\n0,7,0.25,\n7,3,2,\n")
# Comments above the header, in which one has a delimiter.
Path("comment.csv").write_text("# exported 2024-04-01\n# 3 rows, 3 columns\nsrc,dst,w\n3,0,0.5\n0,7,0.25\n7,3,2\n")
# PostgreSQL: COPY e TO STDOUT (FORMAT csv, HEADER)
Path("postgres.csv").write_text("src,dst,ok\n3,0,t\n0,7,f\n7,3,t\n")

index = "column 1 has no name and is left out"
tables = {
    "index.csv": (pd.read_csv("index.csv", index_col=0), index),
    "index.tsv.gz": (pd.read_csv("index.tsv.gz", sep="\t", index_col=0), index),
    "rows.txt": (pd.read_csv("rows.txt", sep=" "), index),  # pandas takes the names of the rows as its index
    "rows.csv": (pd.read_csv("rows.csv", index_col=0), index),
    "rows.tsv": (pd.read_csv("rows.tsv", sep="\t"), index),
    "excel.csv": (pd.read_csv("excel.csv", skiprows=1, sep=";"), None),
    "excelbom.csv": (pd.read_csv("excelbom.csv", skiprows=1, sep="|"), None),
    "trailing.csv": (pd.read_csv("trailing.csv", usecols=["src", "dst", "w"]), None),
    "trailingrows.csv": (pd.read_csv("trailingrows.csv", index_col=False), None),
    "comment.csv": (duckdb.sql("FROM read_csv('comment.csv')").df(), None),
    "postgres.csv": (duckdb.sql("FROM read_csv('postgres.csv', types={'ok': 'BOOLEAN'})").df(), None),
}
out = {}
for name, (rows, warning) in tables.items():
    out[name] = {"rows": [{k: str(v) if k in ("src", "dst") else v for k, v in row.items()} for row in rows.to_dict("records")]}
    assert list(rows) in (["src", "dst", "w"], ["src", "dst", "ok"]) and len(rows) == 3, name
    if warning:
        out[name]["warning"] = warning
out["postgres.csv"]["columns"] = "src,dst,ok:bool"
with open("expected.json", "w") as f:
    json.dump({"program": f"duckdb {duckdb.__version__}, pandas {pd.__version__}", "tables": out}, f, indent=1)
    f.write("\n")
