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

    def rows() -> Any:
        left: set[str] = set()
        with opened(given.path) as f:
            for record in fastavro.reader(f):
                row = flat({n: str(v) if not isinstance(v, _PLAIN) else v for n, v in record.items()}, left)
                yield row

    path = written(given, ".arrow")
    reader = pyarrow.RecordBatchReader.from_stream(Rows(rows))
    with pyarrow.ipc.new_stream(path, reader.schema) as to:
        for batch in reader:
            to.write(batch)
    return File(path)
