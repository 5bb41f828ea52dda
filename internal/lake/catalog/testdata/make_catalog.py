"""Makes tables in a catalog by pyiceberg, and writes down the answers of the catalog.

    python make_catalog.py URI OUT

URI is the address of a server that README.md starts. OUT gets the answers, one file each, and objects/BUCKET/KEY. The objects lie in buckets that
there are not: a file system of this program maps them into OUT.
"""

import json
import os
import sys

import pyarrow as pa
import requests
from pyiceberg.catalog import load_catalog
from pyiceberg.io.pyarrow import PyArrowFileIO

URI, OUT = sys.argv[1:]


class Mapped(PyArrowFileIO):
    """Keeps s3://BUCKET/KEY in OUT/objects/BUCKET/KEY."""

    def _mapped(self, make, location):
        path = os.path.abspath(os.path.join(OUT, "objects", location.removeprefix("s3://")))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = make(path)
        file._location = location
        return file

    def new_input(self, location):
        return self._mapped(super().new_input, location)

    def new_output(self, location):
        return self._mapped(super().new_output, location)


def note(name, path):
    """Writes the answer to a request down, without the stack of the server."""
    answer = requests.get(URI + path, timeout=30).json()
    answer.get("error", {}).pop("stack", None)
    with open(os.path.join(OUT, name + ".json"), "w", encoding="utf-8") as f:
        json.dump(answer, f, indent=1)
        f.write("\n")


def rows(*pairs):
    return pa.table({"src": [p[0] for p in pairs], "dst": [p[1] for p in pairs]}, schema=pa.schema([("src", pa.int64()), ("dst", pa.int64())]))


os.makedirs(OUT, exist_ok=True)
catalog = load_catalog("rest", uri=URI)
catalog._load_file_io = lambda *_, **__: Mapped({})
note("config", "/v1/config")

namespace = ("social", "year 2026")
catalog.create_namespace("social")
catalog.create_namespace(namespace)
at = "/v1/namespaces/social%1Fyear%202026/tables/"
table = catalog.create_table((*namespace, "fol.lows"), schema=rows((0, 0)).schema)
note("empty", at + "fol.lows")
table.append(rows((0, 1), (1, 2)))
note("first", at + "fol.lows")
table.append(rows((2, 0)))
note("second", at + "fol.lows")
table.delete("src = 0")
note("third", at + "fol.lows")

spread = catalog.create_table((*namespace, "spread"), schema=rows((0, 0)).schema, properties={"write.data.path": "s3://files/spread"})
spread.append(rows((5, 6), (6, 7), (7, 5)))
note("spread", at + "spread")

note("no-table", at + "none")
note("no-namespace", "/v1/namespaces/none/tables/none")
