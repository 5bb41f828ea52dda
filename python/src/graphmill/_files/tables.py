"""Tables in ORC, which pyarrow reads, and in Avro, which fastavro reads."""

from __future__ import annotations

import datetime
from typing import Any

from .made import File, Given
from .rows import Rows, flat
from .source import opened, unpacked, written

_PLAIN = (bool, int, float, str, dict, datetime.date, type(None))


def orc(given: Given) -> File:
    """A table of edges in ORC by pyarrow, a stripe at a time."""
    import pyarrow
    import pyarrow.orc

    source = pyarrow.orc.ORCFile(unpacked(given))
    path = written(given, ".arrow")
    with pyarrow.ipc.new_stream(path, source.schema) as to:
        for i in range(source.nstripes):
            to.write(source.read_stripe(i))
    return File(path)


def avro(given: Given) -> File:
    """A table of edges in Avro by fastavro, a batch of records at a time. Members of records have the names of both, with a point between."""
    import fastavro
    import pyarrow

    with opened(given.path) as f:
        reader = fastavro.reader(f)
        fields = {} if next(iter(reader), None) is not None else {x["name"]: _type(x["type"]) for x in dict(reader.writer_schema)["fields"]}

    def rows() -> Any:
        left: set[str] = set()
        with opened(given.path) as f:
            for record in fastavro.reader(f):
                row = flat({n: str(v) if not isinstance(v, _PLAIN) else v for n, v in record.items()}, left)
                yield row

    path = written(given, ".arrow")
    batches = pyarrow.RecordBatchReader.from_stream(Rows(rows, fields))
    with pyarrow.ipc.new_stream(path, batches.schema) as to:
        for batch in batches:
            to.write(batch)
    return File(path)


def _type(of: Any) -> Any:
    """The type of a column without rows, of a type of Avro."""
    import pyarrow

    of = next((t for t in of if t != "null"), "null") if isinstance(of, list) else of
    if isinstance(of, dict):
        logical = str(of.get("logicalType", ""))
        if logical.startswith(("timestamp-", "local-timestamp-")):
            return pyarrow.timestamp("us")
        return pyarrow.date32() if logical == "date" else pyarrow.string() if logical else _type(of["type"])
    plain = {"boolean": pyarrow.bool_(), **dict.fromkeys(("int", "long"), pyarrow.int64()), **dict.fromkeys(("float", "double"), pyarrow.float64())}
    return plain.get(of, pyarrow.string())
