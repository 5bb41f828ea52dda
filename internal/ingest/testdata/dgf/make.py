"""Writes graphs with Google's DGF: python make.py FOLDER [SEED ...], with the python that `bench/peers.sh frames` prints.

Without seeds it writes the folders of this folder; DGF 0.1.0 wrote those that are here. With seeds it writes random graphs.
expected.json has, for each folder, what dgf.io.read_graph makes of it: the features of the nodes of each set, and the ids of the ends
and the features of the edges of each set. DGF cannot read a set without rows, for which it writes no file: these have no rows in
expected.json.

DGF lists files by tf.io.gfile, which is the one thing that it needs TensorFlow for when it reads; here it lists them by glob.
"""

import glob
import json
import random
import sys
import types
from pathlib import Path

import dgf
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from dgf.src.util import shard

shard.tf = types.SimpleNamespace(io=types.SimpleNamespace(gfile=types.SimpleNamespace(glob=glob.glob)))

Feature, Format, Semantic = dgf.data.FeatureSchema, dgf.data.FeatureFormat, dgf.data.FeatureSemantic
DTYPES = {Format.INTEGER_32: np.int32, Format.INTEGER_64: np.int64, Format.FLOAT_32: np.float32, Format.FLOAT_64: np.float64, Format.BOOL: np.bool_}


def plain(value):
    """A value of a feature for JSON."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return [plain(x) for x in (value.tolist() if value.dtype != object else value)]
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def known(path, schema, empty):
    """What DGF reads from a folder. empty are the sets without rows."""
    keep = dgf.data.GraphSchemaFilter(nodeset_fn=lambda name, _: name not in empty, edgeset_fn=lambda name, _: name not in empty)
    graph, read = dgf.io.read_graph(str(path), schema_filter=keep)
    ids = {}
    out = {"nodes": {}, "edges": {}}
    for name, nodes in graph.node_sets.items():
        key = next(f for f, s in read.node_sets[name].features.items() if s.semantic == Semantic.PRIMARY_ID)
        ids[name] = [str(x) for x in plain(nodes.features[key])]
        out["nodes"][name] = {"ids": ids[name], "features": {f: plain(v) for f, v in nodes.features.items() if f != key}}
    for name, edges in graph.edge_sets.items():
        source, target = read.edge_sets[name].source, read.edge_sets[name].target
        ends = [[ids[source][u], ids[target][v]] for u, v in edges.adjacency.T.tolist()]
        out["edges"][name] = {"ends": ends, "features": {f: plain(v) for f, v in edges.features.items()}}
    for name in empty:
        at, one = ("nodes", "ids") if name in schema.node_sets else ("edges", "ends")
        out[at][name] = {one: [], "features": {}}
    return out


def lists(rows, dtype):
    """Rows of different lengths."""
    out = np.empty(len(rows), object)
    out[:] = [np.array(r, dtype) for r in rows]
    return out


def save(out, name, node_sets, edge_sets, **options):
    """Writes sets, each its schema and its features; edge sets have the ends first."""
    schema = dgf.data.GraphSchema(
        node_sets={k: dgf.data.NodeSchema(s) for k, (s, _) in node_sets.items()},
        edge_sets={k: dgf.data.EdgeSchema(source=ends[0], target=ends[1], features=s) for k, (ends, s, _, _) in edge_sets.items()},
    )
    nodes = {k: dgf.data.InMemoryNodeSet(num_nodes=len(next(iter(v.values()))), features=v) for k, (_, v) in node_sets.items()}
    edges = {k: dgf.data.InMemoryEdgeSet(adjacency=a, features=v) for k, (_, _, a, v) in edge_sets.items()}
    timestamp = options.pop("timestamp", None)
    path = out / name
    dgf.io.write_graph(dgf.data.InMemoryGraph(nodes, edges, timestamp), schema, str(path), **options)
    empty = [k for k, n in nodes.items() if n.num_nodes == 0] + [k for k, e in edges.items() if e.num_edges() == 0]
    return known(path, schema, empty)


def papers(out):
    """Features of all formats and shapes, ids of both kinds, a set without rows, shards of which the last have none."""
    rng = np.random.default_rng(1)
    n, m = 7, 3
    paper = {
        "#id": np.array([f"p{i}" for i in range(n - 1)] + ["größe 7"]).astype(object),
        "year": np.arange(2000, 2000 + n),
        "published": np.arange(n) * 86400 + 1_600_000_000,
        "x": rng.random((n, 4), np.float32),
        "m": rng.random((n, 2, 3), np.float32),
        "one": rng.random((n, 1), np.float32),
        "title": np.array([b"", b"a,b", "Ünï".encode(), b'"q"', b"x", b"line\nbreak", b"z"]),
        "venues": np.array([[b"v%d" % i, b"w"] for i in range(n)]),
        "history": lists([range(i % 4) for i in range(n)], np.int64),
        "flag": np.arange(n) % 2 == 0,
        "score": np.array([0.1, np.nan, -0.0, 1e300, np.inf, 5e-324, 3]),
        "small": np.array([-(2**31), 2**31 - 1, 0, 1, 2, 3, 4], np.int32),
        "split": rng.integers(0, 3, n),
    }
    paper["#id"] = np.array([x.encode() for x in paper["#id"]])
    paper_schema = {
        "#id": Feature(Format.BYTES, Semantic.PRIMARY_ID),
        "year": Feature(Format.INTEGER_64, Semantic.NUMERICAL),
        "published": Feature(Format.INTEGER_64, Semantic.TIMESTAMP, is_creation_time=True),
        "x": Feature(Format.FLOAT_32, Semantic.EMBEDDING, shape=(4,)),
        "m": Feature(Format.FLOAT_32, shape=(2, 3)),
        "one": Feature(Format.FLOAT_32, shape=(1,)),
        "title": Feature(Format.BYTES, Semantic.CATEGORICAL, shape=()),
        "venues": Feature(Format.BYTES, shape=(2,)),
        "history": Feature(Format.INTEGER_64, Semantic.TIMESERIES, shape=(None,), is_timeseries=True, group="h"),
        "flag": Feature(Format.BOOL),
        "score": Feature(Format.FLOAT_64, Semantic.NUMERICAL),
        "small": Feature(Format.INTEGER_32),
        "split": Feature(Format.INTEGER_64, Semantic.CATEGORICAL, num_categorical_values=3),
    }
    author = {"id": np.array([40, 7, -2]), "h": np.array([1.5, 2.5, np.nan], np.float32)}
    author_schema = {"id": Feature(Format.INTEGER_64, Semantic.PRIMARY_ID), "h": Feature(Format.FLOAT_32)}
    venue_schema = {"#id": Feature(Format.BYTES, Semantic.PRIMARY_ID), "rank": Feature(Format.INTEGER_64), "v": Feature(Format.FLOAT_32, shape=(2,))}
    venue = {"#id": np.empty(0, "S1"), "rank": np.empty(0, np.int64), "v": np.empty((0, 2), np.float32)}
    writes = np.array([[0, 1, 2, 0, 0], [0, 0, 6, 3, 3]])
    writes_features = {"time": np.array([5, 4, 3, 2, 1]), "w": rng.random(5), "pos": rng.random((5, 2), np.float32)}
    writes_schema = {
        "time": Feature(Format.INTEGER_64, Semantic.TIMESTAMP, is_creation_time=True),
        "w": Feature(Format.FLOAT_64),
        "pos": Feature(Format.FLOAT_32, shape=(2,)),
    }
    assert m == len(author["id"])
    return save(
        out,
        "papers",
        {"paper": (paper_schema, paper), "author": (author_schema, author), "venue": (venue_schema, venue)},
        {
            "writes": (("author", "paper"), writes_schema, writes, writes_features),
            "cites": (("paper", "paper"), {}, np.array([[0, 1, 1, 6], [1, 2, 2, 6]]), {}),
            "in": (("paper", "venue"), {"since": Feature(Format.INTEGER_32)}, np.empty((2, 0), int), {"since": np.empty(0, np.int32)}),
        },
        num_shards=5,
    )


def exported(out):
    """A folder as BigQuery exports it: other file names, types and lists of Arrow, and null. Two sets share the beginning of their name."""
    path = out / "exported"
    for folder in ("nodesets", "edgesets"):
        (path / folder).mkdir(parents=True)
    schema = dgf.data.GraphSchema(
        node_sets={
            "user": dgf.data.NodeSchema(
                {
                    "ID": Feature(Format.BYTES),
                    "age": Feature(Format.FLOAT_32),
                    "name": Feature(Format.BYTES, is_utf8_string=True),
                    "code": Feature(Format.BYTES),
                    "count": Feature(Format.INTEGER_64),
                    "emb": Feature(Format.FLOAT_32),
                }
            )
        },
        edge_sets={"knows": dgf.data.EdgeSchema("user", "user", {"w": Feature(Format.FLOAT_64)})},
    )
    dgf.io.write_schema(schema, str(path / "schema.json"))
    (path / "metadata.json").write_text('{"version": 0}')
    for i, rows in enumerate([["a", "b"], ["c"]]):
        table = pa.table(
            {
                "ID": pa.array(rows, pa.string()),
                "age": pa.array([None, 2.5][: len(rows)], pa.float32()),
                "name": pa.array(["x", "y"][: len(rows)], pa.string()),
                "code": pa.array([None, b"k"][: len(rows)], pa.binary()),
                "count": pa.array([3, 4][: len(rows)], pa.int32()),
                "emb": pa.array([[1.0, 2.0], [3.0, 4.0]][: len(rows)], pa.list_(pa.float32(), 2)),
                "unused": pa.array([{"a": 1}, None][: len(rows)]),
            }
        )
        pq.write_table(table, path / "nodesets" / f"user-{i:012}.parquet", compression="gzip")
    pq.write_table(pa.table({"#source": ["a", "c", "c"], "#target": ["b", "a", "a"], "w": [1.0, None, 3.0]}), path / "edgesets" / "knows-000000000000.parquet")
    return known(path, schema, [])


def rows_of(rng, fmt, shape, n):
    """Random values of a feature, of n rows."""

    def one(dims):
        if dims:
            return [one(dims[1:]) for _ in range(rng.randrange(4) if dims[0] is None else dims[0])]
        if fmt == Format.BOOL:
            return rng.random() < 0.5
        if fmt == Format.BYTES:  # DGF cannot read a file whose byte strings are all empty
            return rng.choice(["a", "ü", "long text " * 3, "1", "日本"]).encode()
        if fmt == Format.INTEGER_32:
            return rng.randrange(-(2**31), 2**31)
        if fmt == Format.INTEGER_64:
            return rng.randrange(-(2**63), 2**63)
        if fmt == Format.FLOAT_32:
            return rng.choice([float(np.float32(rng.gauss(0, 1))), float("nan"), float("inf"), 0.0])
        return rng.choice([rng.gauss(0, 1e9), float("nan"), float("-inf"), 5e-324])

    rows = [one(shape or ()) for _ in range(n)]
    dtype = DTYPES.get(fmt, "S40")
    if shape and None in shape:
        return lists(rows, dtype)
    return np.array(rows, dtype).reshape(n, *(shape or ()))


def random_graph(out, seed):
    rng = random.Random(seed)
    shapes = [None, (), (1,), (3,), (2, 2), (None,), (2, 1, 3)]
    names = rng.sample(["a", "b b", "user", "größe", "x.y", "n_1", "日本"], rng.randint(1, 4))
    node_sets, edge_sets = {}, {}

    def features(n):
        schema, values = {}, {}
        for i in range(rng.randrange(6)):
            fmt, shape = rng.choice(list(Format)), rng.choice(shapes)
            name = rng.choice(["f", "ä ", "#w", "time", "x,y"]) + str(i)
            schema[name], values[name] = Feature(fmt, shape=shape), rows_of(rng, fmt, shape, n)
        return schema, values

    for name in names:
        n = rng.choice([0, 1, 5, 30])
        schema, values = features(n)
        if rng.random() < 0.7:
            key, ids = Feature(Format.BYTES, Semantic.PRIMARY_ID), np.array([f"id{i}é".encode() for i in rng.sample(range(999), n)], "S10")
        else:
            key, ids = Feature(Format.INTEGER_64, Semantic.PRIMARY_ID), np.array(rng.sample(range(-500, 500), n), np.int64)
        node_sets[name] = ({"key": key, **schema}, {"key": ids, **values})
    for i in range(rng.randrange(5)):
        source, target = rng.choice(names), rng.choice(names)
        most = min(len(node_sets[s][1]["key"]) for s in (source, target))
        n = rng.choice([0, 1, 40]) if most else 0
        ends = np.array([[rng.randrange(len(node_sets[s][1]["key"])) for _ in range(n)] for s in (source, target)], int).reshape(2, n)
        schema, values = features(n)
        edge_sets[rng.choice(["e", "to ", "über"]) + str(i)] = ((source, target), schema, ends, values)
    compression = rng.choice(["none", "snappy", "gzip", "zstd"])
    return save(out, f"random{seed}", node_sets, edge_sets, num_shards=rng.choice([1, 2, 7]), compression=compression, timestamp=rng.choice([None, 5]))


def main():
    out, seeds = Path(sys.argv[1]), [int(x) for x in sys.argv[2:]]
    expected = {f"random{s}": random_graph(out, s) for s in seeds} if seeds else {"papers": papers(out), "exported": exported(out)}
    (out / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


main()
