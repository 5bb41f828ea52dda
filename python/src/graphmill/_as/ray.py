"""Collections and TFRecords as data sets of Ray Data."""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .._arguments import path as as_path
from .._arrays import Array
from .._collection import Collection
from .._command import GraphmillError
from .._store import META, Store
from ..tfgnn import GraphSchema, GraphTensor, Ragged, parse_examples, read_schema
from .fields import arrow, fields

_SCHEMA = "schema.pbtxt"
_BYTES, _GRAPHS = 8 << 20, 1024  # of a block: about as many bytes of a collection, and GraphTensors of a TFRecord


def ray_dataset(path: str | os.PathLike[str], store: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    """The graphs of a folder as a ``ray.data.Dataset``, with a row per graph, which tasks of Ray read in parallel.

    The folder is a collection, whose ranges of graphs are read in parallel, or has TFRecords of GraphTensors with their
    ``schema.pbtxt``, as ``graphmill sample`` writes them, whose files are read in parallel. A row is a dict:
    ``TYPE/num_nodes`` and ``TYPE/COLUMN`` for each node type, ``TYPE/src``, ``TYPE/dst`` and ``TYPE/COLUMN`` for each edge type,
    and the columns of the context. Numbers are NumPy arrays with the dtypes of batches, also times and categories; strings and
    lists are lists. In TFRecords, the types are the names of the sets, ``TYPE/sizes`` has the number of items of each component,
    a column of the context has a row per component, and strings are bytes. All nodes of the cluster must be able to read the
    folder. It needs the package ``ray`` with its part ``data``.

    Args:
        path: the folder.
        store: the store from which the graphs of a collection were sampled: rows then have its columns.
        options: the options of ``ray.data.read_datasource``, such as ``override_num_blocks`` and ``concurrency``.

    Raises:
        GraphmillError: the folder has neither a collection nor TFRecords, or has changed since it was written.
        ModuleNotFoundError: ``ray`` is not installed.
        ValueError: a column with the name of a part of the graph; a store with TFRecords.

    Example:
        >>> ds = graphmill.ray_dataset("molecules.coll")
        >>> ds.map_batches(train, batch_size=64)           # batch["atom/x"]: an array of 64 arrays [atoms, values]
    """
    try:
        import ray.data
        from ray.data.block import BlockMetadata
    except ModuleNotFoundError as e:
        raise ModuleNotFoundError(f"found no package {e.name}, expected Ray Data; pip install 'ray[data]'", name=e.name) from e
    folder = os.path.abspath(as_path("path", path))  # the workers have working folders of their own
    of: _Collection | _Records = _Records(folder) if not os.path.exists(os.path.join(folder, META)) and _records(folder) else _Collection(folder, store)
    if store is not None and isinstance(of, _Records):
        raise ValueError(
            f"{folder}: found store= and TFRecords, expected no store, because graphmill sample writes the columns to TFRecords; for a collection, give --format collection"
        )

    class GraphmillDatasource(ray.data.Datasource):  # type: ignore[misc, unused-ignore]
        """The parts of the folder as read tasks."""

        def estimate_inmemory_data_size(self) -> int:
            return sum(p[2] for p in of.parts(1))

        def get_read_tasks(self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None) -> list[Any]:
            tasks = []
            for read, rows, size, files in of.parts(max(parallelism, 1)):
                metadata = BlockMetadata(num_rows=rows, size_bytes=size, input_files=files, exec_stats=None)
                tasks.append(ray.data.ReadTask(read, metadata, per_task_row_limit=per_task_row_limit))
            return tasks

    return ray.data.read_datasource(GraphmillDatasource(), **options)


def _records(folder: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.tfrecord*")))


class _Collection:
    """Ranges of the graphs of a collection."""

    def __init__(self, folder: str, store: str | os.PathLike[str] | None) -> None:
        self._folder, self._store = folder, None if store is None else os.path.abspath(as_path("store", store))
        with self._open() as c:
            fields(c)  # its errors are raised here, and not in a task
            self._graphs, self._bytes = len(c), sum(c._folder.sizes.values())

    def _open(self) -> Collection:
        return Collection(self._folder, None if self._store is None else Store(self._store))

    def parts(self, most: int) -> Iterator[tuple[Any, int | None, int, list[str]]]:
        """For each range: the function that reads it, its graphs, bytes, and files."""
        n = min(most, self._graphs)
        at = [self._graphs * i // max(n, 1) for i in range(n + 1)]
        each = max(_BYTES * self._graphs // max(self._bytes, 1), 1)
        for start, stop in zip(at, at[1:]):
            yield functools.partial(self.blocks, start, stop, each), stop - start, self._bytes * (stop - start) // self._graphs, [self._folder]

    def blocks(self, start: int, stop: int, each: int) -> Iterator[Any]:
        """The blocks of some graphs, with ``each`` graphs per block. A task of Ray runs this."""
        with self._open() as c:
            of = fields(c)
            for a in range(start, stop, each):
                b = min(a + each, stop)
                columns: dict[str, Any] = {}
                for name, field in of.items():
                    rows, bounds = field.rows(a, b), field.bounds(a, b)
                    if not rows.fixed:
                        columns[name] = arrow(field, a, b)
                        continue
                    x = np.asarray(rows)
                    columns[name] = x if bounds is None else _several([x[i:j] for i, j in zip(bounds.tolist(), bounds[1:].tolist())])
                yield _block(columns)


class _Records:
    """The files of TFRecords in a folder."""

    def __init__(self, folder: str) -> None:
        self._files, self._schema = _records(folder), os.path.join(folder, _SCHEMA)
        if not os.path.exists(self._schema):
            raise GraphmillError(f"{folder}: found TFRecords without {_SCHEMA}, expected the GraphSchema of their GraphTensors; copy it there")
        read_schema(self._schema)

    def parts(self, most: int) -> Iterator[tuple[Any, int | None, int, list[str]]]:
        """For each file: the function that reads it, None, because its graphs were not counted, its bytes, and its name."""
        for file in self._files:
            yield functools.partial(self.blocks, file), None, os.path.getsize(file), [file]

    def blocks(self, file: str) -> Iterator[Any]:
        """The blocks of a file. A task of Ray runs this."""
        schema, graphs = read_schema(self._schema), list[GraphTensor]()
        for g in parse_examples(glob.escape(file), schema):
            graphs.append(g)
            if len(graphs) == _GRAPHS:
                yield _block(_columns(schema, graphs))
                graphs = []
        if graphs:
            yield _block(_columns(schema, graphs))


def _columns(schema: GraphSchema, graphs: Sequence[GraphTensor]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name in schema.node_sets:
        sets = [g.node_sets[name] for g in graphs]
        out[f"{name}/num_nodes"] = np.array([s.total_size for s in sets], np.int64)
        out[f"{name}/sizes"] = _several([s.sizes for s in sets])
        out.update(_features(f"{name}/", schema.node_sets[name].features, [s.features for s in sets]))
    for name in schema.edge_sets:
        of = [g.edge_sets[name] for g in graphs]
        out[f"{name}/src"], out[f"{name}/dst"] = _several([s.adjacency.source for s in of]), _several([s.adjacency.target for s in of])
        out[f"{name}/sizes"] = _several([s.sizes for s in of])
        out.update(_features(f"{name}/", schema.edge_sets[name].features, [s.features for s in of]))
    out.update(_features("", schema.context.features, [g.context.features for g in graphs]))
    return out


def _features(prefix: str, of: Any, sets: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    import pyarrow

    for name, feature in of.items():
        values = [s[name] for s in sets]
        if not isinstance(values[0], Ragged) and values[0].dtype != object:
            yield prefix + name, _several(values)
            continue
        kind = pyarrow.large_binary() if feature.numpy.kind == "O" else pyarrow.from_numpy_dtype(feature.numpy)
        for _ in range(len(feature.shape) + 1):
            kind = pyarrow.list_(kind)
        yield prefix + name, pyarrow.array([v.tolist() for v in values], kind)


def _several(arrays: Iterable[Array]) -> Array:
    """Arrays of different lengths as the values of a column."""
    arrays = list(arrays)
    out = np.empty(len(arrays), object)
    for i, x in enumerate(arrays):
        out[i] = x
    return out


def _block(columns: dict[str, Any]) -> Any:
    """A block of Ray: NumPy arrays become tensors, and Arrow arrays stay."""
    from ray.data.block import BlockAccessor

    block = BlockAccessor.batch_to_block({name: x for name, x in columns.items() if isinstance(x, np.ndarray)})
    for name, x in columns.items():
        if not isinstance(x, np.ndarray):
            block = block.append_column(name, x)
    return block.select(list(columns))
