"""Examples and files of them, as GraphTensors and back."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .._arguments import integer
from .._arrays import Array
from ._codec import Codec, codec
from ._ragged import Ragged
from ._schema import Feature, GraphSchema, SetSchema
from ._tensor import Adjacency, Context, EdgeSet, GraphTensor, NodeSet

_BATCH, _BYTES = 256, 2 << 20  # GraphTensors of a batch, and about its bytes: they stay in the caches


def write_example(graph: GraphTensor, schema: GraphSchema | None = None) -> bytes:
    """A GraphTensor as a serialized ``tf.train.Example``.

    Args:
        graph: it has the sets, features, dtypes and shapes of the schema.
        schema: by default the GraphTensor's.

    Raises:
        GraphmillError, ValueError: the GraphTensor does not fit the schema.
    """
    schema = schema or graph.schema
    c = codec()
    _, (_, data) = c.call({"op": "encode", "codec": c.number(schema)}, _packed(schema, [graph]))
    return bytes(data)


def write_examples(path: str | os.PathLike[str], graphs: Iterable[GraphTensor], schema: GraphSchema | None = None, *, gzip: bool = False) -> int:
    """Write GraphTensors as the records of a TFRecord file, and return their number.

    A file that is there is replaced when the new one is complete.

    Args:
        path: the file.
        graphs: GraphTensors of one schema.
        schema: by default the schema of the first one. A dimension is variable only where the first one is `Ragged`.
        gzip: compress the file.
    """
    path = os.path.abspath(os.fsdecode(path))
    c, count, waiting = Codec(), 0, 0
    with contextlib.closing(c), tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as f:
        try:
            out: Any = f
            if gzip:
                import gzip as gz

                out = gz.GzipFile("", "wb", 6, f, 0)
            rest, size = iter(graphs), 8
            while some := list(itertools.islice(rest, size)):
                schema = schema or some[0].schema
                if not count:
                    number = c.number(schema)
                arrays = _packed(schema, some)
                # While the process encodes this batch, the next one is packed.
                c.send({"op": "encode", "codec": number, "frames": True}, arrays)
                each = sum(x.nbytes if isinstance(x, np.ndarray) else len(x) for x in arrays) // len(some) + 1
                size = min(max(_BYTES // each, 1), _BATCH)
                if waiting:
                    out.write(c.receive()[1][1])
                waiting = 1
                count += len(some)
            if waiting:
                out.write(c.receive()[1][1])
            if gzip:
                out.close()
            f.close()
            os.chmod(f.name, 0o644)
            os.replace(f.name, path)
        except BaseException:
            os.unlink(f.name)
            raise
    return count


def parse_single_example(schema: GraphSchema, example: bytes, *, lenient: bool = False) -> GraphTensor:
    """The GraphTensor of a serialized Example. See `parse_example`."""
    return parse_example(schema, [example], lenient=lenient)[0]


def parse_example(schema: GraphSchema, examples: Sequence[bytes], *, lenient: bool = False) -> list[GraphTensor]:
    """The GraphTensors of serialized Examples. Their arrays are views of the arrays of all of them.

    Args:
        lenient: repair an Example that is no GraphTensor of the schema where that is possible.

    Raises:
        GraphmillError: an Example is no GraphTensor of the schema; the text names the key.
    """
    if not len(examples):
        return []
    c = codec()
    lengths = np.fromiter(map(len, examples), np.int64, len(examples))
    _, arrays = c.call({"op": "decode", "codec": c.number(schema), "lenient": lenient}, [lengths, b"".join(examples)])
    return _unpacked(schema, arrays)


def parse_examples(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], schema: GraphSchema, *, lenient: bool = False) -> Iterator[GraphTensor]:
    """The GraphTensors of TFRecord files, one after another. A process of its own reads ahead.

    Args:
        paths: files, globs or ``base@N``; gzip is recognised.
        schema, lenient: as for `parse_example`.

    Raises:
        GraphmillError: a record is damaged or no GraphTensor of the schema; the text names the file and the record.
    """
    names = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    with contextlib.closing(Codec()) as c:
        c.send({"op": "read", "codec": c.number(schema), "files": [os.fsdecode(p) for p in names], "graphs": _BATCH, "limit": _BYTES, "lenient": lenient})
        while True:
            header, arrays = c.receive()
            if not header.get("more"):
                return
            yield from _unpacked(schema, arrays)


def random_graph_tensor(schema: GraphSchema, seed: int = 0, number: int = 0) -> GraphTensor:
    """A small random GraphTensor of a schema: the one that ``graphmill tfgnn random`` makes with the same random seed and number."""
    seed, number = integer("seed", seed, 0, (1 << 64) - 1), integer("number", number, 0, (1 << 64) - 1)
    c = codec()
    return _unpacked(schema, c.call({"op": "random", "codec": c.number(schema), "seed": seed, "number": number, "graphs": 1})[1])[0]


def _packed(schema: GraphSchema, graphs: Sequence[GraphTensor]) -> list[Any]:
    """A batch as the arrays of the codec: of the context, each node set and each edge set, by name."""
    out: list[Any] = [np.fromiter((len(g.context.sizes) for g in graphs), np.int64, len(graphs))]
    for g in graphs:
        if len(g.node_sets) != len(schema.node_sets) or len(g.edge_sets) != len(schema.edge_sets):
            _differ(schema, g)
    try:
        _pack_features(out, "context", schema.context, [g.context.features for g in graphs])
        for name, s in schema.node_sets.items():
            nodes = [g.node_sets[name] for g in graphs]
            out.append(np.concatenate([n.sizes for n in nodes]))
            _pack_features(out, f"node set {name!r}", s, [n.features for n in nodes])
        for name, s in schema.edge_sets.items():
            edges = [g.edge_sets[name] for g in graphs]
            out.append(np.concatenate([e.sizes for e in edges]))
            ends = [e.adjacency for e in edges]
            if any(a.source_name != s.source or a.target_name != s.target for a in ends):
                raise ValueError(f"edge set {name!r}: found edges of other node sets, expected those of the schema, from {s.source!r} to {s.target!r}")
            out.append(np.concatenate([a.source for a in ends]))
            out.append(np.concatenate([a.target for a in ends]))
            _pack_features(out, f"edge set {name!r}", s, [e.features for e in edges])
    except KeyError:
        for g in graphs:
            _differ(schema, g)
        raise
    return out


def _differ(schema: GraphSchema, g: GraphTensor) -> None:
    """Raises an error if a GraphTensor has other names than the schema."""
    for what, have, want in (
        ("node sets", g.node_sets, schema.node_sets),
        ("edge sets", g.edge_sets, schema.edge_sets),
        ("features of the context", g.context.features, schema.context.features),
        *((f"features of node set {n!r}", g.node_sets[n].features, s.features) for n, s in schema.node_sets.items() if n in g.node_sets),
        *((f"features of edge set {n!r}", g.edge_sets[n].features, s.features) for n, s in schema.edge_sets.items() if n in g.edge_sets),
    ):
        if set(have) != set(want):
            raise ValueError(f"found the {what} {', '.join(sorted(have)) or 'none'}, expected those of the schema: {', '.join(sorted(want)) or 'none'}")


def _pack_features(out: list[Any], what: str, s: SetSchema, of: Sequence[Any]) -> None:
    for features in of:
        if len(features) != len(s.features):
            raise KeyError(what)
    for name, f in s.features.items():
        values = [features[name] for features in of]
        _check(what, name, f, values)
        if f.ragged:
            for k in range(f.shape.count(-1)):
                out.append(np.concatenate([x.row_lengths[k] for x in values]))
            values = [x.values for x in values]
        if f.dtype == "DT_STRING":
            texts = list(itertools.chain.from_iterable(x.ravel().tolist() for x in values))
            out.append(np.fromiter(map(len, texts), np.int64, len(texts)))
            out.append(b"".join(texts))
        else:
            out.append(np.concatenate([x.ravel() for x in values], dtype=np.float32 if f.numpy.kind == "f" else np.int64, casting="unsafe"))


def _check(what: str, name: str, f: Feature, values: Sequence[Any]) -> None:
    """The values have the shape and dtype of the schema; a float of 64 bits may stand for one of 32 and the like."""
    for kind in {(type(x), x.dtype, x.shape if isinstance(x, Ragged) else x.shape[1:]) for x in values}:
        if (kind[0] is Ragged) != f.ragged or kind[2] != f.shape or kind[1] != f.numpy:
            raise ValueError(
                f"{what}: feature {name!r}: found {'ragged ' if kind[0] is Ragged else ''}{kind[1]} {list(kind[2])}, expected {f.numpy} {list(f.shape)}, as in the schema"
            )


class _Rows:
    """A feature of a batch, and where the rows of each GraphTensor begin."""

    def __init__(self, f: Feature, arrays: Iterator[Array], items: Array) -> None:
        rows, self.lengths, self.at = items, [], []
        self.shape, self.ragged = f.shape, f.ragged
        tail: list[int] = []
        for d in f.shape:
            if d != -1:
                rows = rows * d
                tail.append(d)
                continue
            lengths = _ints(next(arrays))
            bounds = np.append(0, np.cumsum(rows))
            self.lengths.append(lengths)
            self.at.append(bounds.tolist())
            ends = np.append(0, np.cumsum(lengths))
            rows = np.diff(ends[bounds])
            tail = []
        raw = next(arrays)
        if f.dtype == "DT_STRING":
            lengths = _ints(raw)
            data = bytes(next(arrays))
            cuts = np.append(0, np.cumsum(lengths)).tolist()
            values: Array = np.empty(len(lengths), object)
            values[:] = [data[a:b] for a, b in zip(cuts, cuts[1:])]
        elif f.numpy.kind == "f":
            values = np.frombuffer(raw, np.float32).astype(f.numpy, copy=False)
        else:
            values = np.frombuffer(raw, np.int64).astype(f.numpy, copy=False)
        per_row = int(np.prod(tail, dtype=np.int64))
        self.values = values.reshape(-1, *tail)
        self.bounds = (np.append(0, np.cumsum(rows)) // per_row).tolist()

    def of(self, k: int) -> Any:
        values = self.values[self.bounds[k] : self.bounds[k + 1]]
        if not self.ragged:
            return values
        return Ragged._of(values, tuple(x[at[k] : at[k + 1]] for x, at in zip(self.lengths, self.at)), self.shape)


def _ints(raw: Array) -> Array:
    return np.frombuffer(raw, np.int64)


def _unpacked(schema: GraphSchema, arrays: Sequence[Array]) -> list[GraphTensor]:
    """The GraphTensors of a batch, whose arrays are views of the batch's arrays."""
    rest = iter(arrays)
    components = _ints(next(rest))
    graphs = len(components)
    bounds = np.append(0, np.cumsum(components))
    at = bounds.tolist()
    single = bool((components == 1).all())

    def features(s: SetSchema, items: Array) -> list[tuple[str, _Rows]]:
        return [(name, _Rows(f, rest, items)) for name, f in s.features.items()]

    def totals(sizes: Array) -> Array:
        return sizes if single else np.diff(np.append(0, np.cumsum(sizes))[bounds])

    context = features(schema.context, components)
    nodes = []
    for name, s in schema.node_sets.items():
        sizes = _ints(next(rest))
        nodes.append((name, sizes, features(s, totals(sizes))))
    edges = []
    for name, s in schema.edge_sets.items():
        sizes = _ints(next(rest))
        items = totals(sizes)
        source, target = _ints(next(rest)), _ints(next(rest))
        edges.append((name, s, sizes, source, target, np.append(0, np.cumsum(items)).tolist(), features(s, items)))
    ones = np.ones(int(components.max()) if graphs else 0, np.int64)
    out = []
    for k in range(graphs):
        a, b = at[k], at[k + 1]
        of_nodes = {name: NodeSet(sizes[a:b], {f: rows.of(k) for f, rows in fs}) for name, sizes, fs in nodes}
        of_edges = {}
        for name, s, sizes, source, target, first, fs in edges:
            lo, hi = first[k], first[k + 1]
            of_edges[name] = EdgeSet(sizes[a:b], {f: rows.of(k) for f, rows in fs}, Adjacency(s.source, source[lo:hi], s.target, target[lo:hi]))
        out.append(GraphTensor(Context({f: rows.of(k) for f, rows in context}, ones[: b - a]), of_nodes, of_edges, schema))
    return out
