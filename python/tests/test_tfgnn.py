"""GraphTensors and their Examples.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import copy
import importlib.util
import multiprocessing
import os
import random
import unittest
from collections.abc import Callable, Mapping
from typing import Any

import graphmill
import made
import numpy as np
import numpy.typing as npt
from graphmill import GraphmillError
from graphmill.tfgnn import (
    Adjacency,
    Context,
    EdgeSet,
    GraphSchema,
    GraphTensor,
    NodeSet,
    Ragged,
    parse_example,
    parse_examples,
    parse_single_example,
    random_graph_tensor,
    read_schema,
    write_example,
    write_examples,
    write_schema,
)  # fmt: skip

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "object"]
SEEDS = 40


def random_values(r: random.Random, dtype: str, n: int) -> npt.NDArray[Any]:
    if dtype == "object":
        x = np.empty(n, object)
        x[:] = [bytes(r.randrange(256) for _ in range(r.randint(0, 5))) for _ in range(n)]
        return x
    if dtype.startswith("float"):
        return np.array([r.choice([0.0, -1.5, np.inf, 1 / 1024]) for _ in range(n)], dtype)
    if dtype == "bool":
        return np.array([r.random() < 0.5 for _ in range(n)], bool)
    info = np.iinfo(dtype if r.random() < 0.5 else dtype.lstrip("u"))
    return np.array([r.choice([0, 1, max(int(info.min), int(np.iinfo(dtype).min)), int(info.max)]) for _ in range(n)], dtype)


def random_feature(r: random.Random, kind: tuple[str, tuple[int, ...]], items: int) -> Ragged | npt.NDArray[Any]:
    """A feature of a (dtype, shape) with a row per item."""
    dtype, shape = kind
    rows = items
    lengths: list[list[int]] = []
    tail: list[int] = []
    for d in shape:
        if d == -1:
            lengths.append([r.randint(0, 3) for _ in range(rows)])
            rows, tail = sum(lengths[-1]), []
        else:
            rows *= d
            tail.append(d)
    values = random_values(r, dtype, rows).reshape(-1, *tail)
    return Ragged(values, lengths, shape) if lengths else values


def random_kinds(r: random.Random) -> dict[str, tuple[str, tuple[int, ...]]]:
    shapes = [(), (), (2,), (1,), (2, 3), (-1,), (-1, 2), (-1, -1), (2, -1), (-1, 3, -1)]
    return {f"f.{k}": (r.choice(DTYPES), r.choice(shapes)) for k in range(r.randint(0, 3))}


def random_graphs(seed: int, count: int) -> list[GraphTensor]:
    """Random GraphTensors of one random schema."""
    r = random.Random(seed)
    nodes = {n: random_kinds(r) for n in r.sample(["a", "b", "a.b", "ü"], r.randint(1, 3))}
    edges = {n: (random_kinds(r), r.choice(list(nodes)), r.choice(list(nodes))) for n in r.sample(["e", "to", "to.to"], r.randint(0, 3))}
    context = random_kinds(r)
    out = []
    for _ in range(count):
        components = r.choice([1, 1, 1, 2, 3])
        sizes = {n: np.array([r.randint(0, 4) for _ in range(components)]) for n in nodes}
        node_sets = {
            n: NodeSet.from_fields(sizes=sizes[n], features={k: random_feature(r, f, sizes[n].sum()) for k, f in kinds.items()}) for n, kinds in nodes.items()
        }
        edge_sets = {}
        for n, (kinds, source, target) in edges.items():
            many = np.array([r.randint(0, 5) if sizes[source][c] and sizes[target][c] else 0 for c in range(components)])
            ends = []
            for t in (source, target):
                first = np.cumsum(sizes[t]) - sizes[t]
                ends.append(np.array([first[c] + r.randrange(sizes[t][c]) for c in range(components) for _ in range(many[c])], np.int64))
            features = {k: random_feature(r, f, many.sum()) for k, f in kinds.items()}
            edge_sets[n] = EdgeSet.from_fields(sizes=many, features=features, adjacency=Adjacency.from_indices((source, ends[0]), (target, ends[1])))
        of_context = {k: random_feature(r, f, components) for k, f in context.items()}
        out.append(GraphTensor.from_pieces(Context.from_fields(features=of_context, sizes=[1] * components), node_sets, edge_sets))
    return out


def plain(x: Any) -> Any:
    """The content of a GraphTensor, its parts and features, as Python's values."""
    if isinstance(x, GraphTensor):
        return plain(x.context), {n: plain(s) for n, s in x.node_sets.items()}, {n: plain(s) for n, s in x.edge_sets.items()}
    if isinstance(x, (Context, NodeSet, EdgeSet)):
        a = getattr(x, "adjacency", None)
        ends = a and (a.source_name, a.source.tolist(), a.target_name, a.target.tolist())
        return x.sizes.tolist(), {k: plain(v) for k, v in x.features.items()}, ends
    if isinstance(x, Ragged):
        return x.shape, plain(x.values), [n.tolist() for n in x.row_lengths]
    return str(x.dtype), x.shape, x.tolist()


def dense(g: GraphTensor) -> list[npt.NDArray[Any]]:
    """The features that are arrays."""
    sets: list[Context | NodeSet | EdgeSet] = [g.context, *g.node_sets.values(), *g.edge_sets.values()]
    return [x for s in sets for x in s.features.values() if not isinstance(x, Ragged)]


def write(path: str, data: bytes) -> None:
    with open(path, "wb") as f:
        f.write(data)


class TestExamples(unittest.TestCase):
    def test_random_graphs_come_back(self) -> None:
        for seed in range(SEEDS):
            graphs = random_graphs(seed, 7)
            with self.subTest(seed):
                schema = graphs[0].schema
                records = [write_example(g) for g in graphs]
                for got in (parse_example(schema, records), [parse_single_example(schema, b) for b in records]):
                    self.assertEqual([plain(g) for g in got], [plain(g) for g in graphs])
                    self.assertEqual([write_example(g) for g in got], records)
                path = made.path(f"graphs-{seed}.tfrecord")
                self.assertEqual(write_examples(path, iter(graphs), gzip=seed % 2 == 0), len(graphs))
                self.assertEqual([plain(g) for g in parse_examples(path, schema)], [plain(g) for g in graphs])

    def test_the_bytes_are_those_of_the_command(self) -> None:
        for seed in range(SEEDS):
            schema, folder = random_graphs(seed, 1)[0].schema, made.path(f"random-tensors-{seed}")
            write_schema(schema, folder + ".pbtxt")
            self.assertEqual(read_schema(folder + ".pbtxt"), schema)
            graphmill.run("tfgnn", "random", folder + ".pbtxt", count=9, seed=seed, out=folder)
            (file,) = (os.path.join(folder, f) for f in os.listdir(folder) if "tfrecord" in f)
            graphs = list(parse_examples(file, schema))
            self.assertEqual([plain(g) for g in graphs], [plain(random_graph_tensor(schema, seed, k)) for k in range(9)])
            write_examples(folder + ".again", graphs)
            with open(file, "rb") as a, open(folder + ".again", "rb") as b:
                self.assertEqual(a.read(), b.read())

    def test_many_batches(self) -> None:
        graphs = [random_graphs(3, 1)[0] for _ in range(5)] * 200
        path = made.path("many.tfrecord")
        self.assertEqual(write_examples(path, graphs), 1000)
        stream: Any = parse_examples([path, path], graphs[0].schema)
        self.assertEqual(plain(next(stream)), plain(graphs[0]))
        stream.close()
        self.assertEqual(sum(1 for _ in parse_examples([path, path], graphs[0].schema)), 2000)
        self.assertEqual(write_examples(path, [], graphs[0].schema), 0)
        self.assertEqual(os.path.getsize(path), 0)
        self.assertEqual(parse_example(graphs[0].schema, []), [])

    def test_large_values(self) -> None:
        x = np.arange(6 << 20, dtype=np.float32).reshape(-1, 4)  # several buffers of a pipe
        g = GraphTensor.from_pieces(node_sets={"n": NodeSet.from_fields(sizes=[len(x)], features={"x": x})})
        path = made.path("large.tfrecord")
        write_examples(path, [g, g, g])
        for h in parse_examples(path, g.schema):
            self.assertTrue(np.asarray(h.node_sets["n"]["x"] == x).all())

    def test_forked(self) -> None:
        g = random_graphs(1, 1)[0]
        want = write_example(g)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(write_example_of_seed, [1, 1, 1, 1]), [want] * 4)
        self.assertEqual(write_example(g), want)

    def test_broken_examples(self) -> None:
        g = GraphTensor.from_pieces(node_sets={"n": NodeSet.from_fields(sizes=[2], features={"x": np.array([1, 2])})})
        wide = GraphTensor.from_pieces(node_sets={"n": NodeSet.from_fields(sizes=[2], features={"x": np.array([1, 2, 3, 4]).reshape(2, 2)})})
        record = write_example(g)
        with self.assertRaisesRegex(GraphmillError, r"record 1: nodes/n\.x: "):
            parse_example(wide.schema, [write_example(wide), record])
        with self.assertRaisesRegex(GraphmillError, "record 0: .*byte"):
            parse_single_example(g.schema, record[:-1])
        path = made.path("broken.tfrecord")
        write_examples(path, [g, g])
        with open(path, "rb") as f:
            data = bytearray(f.read())
        data[-6] ^= 1
        write(path, bytes(data))
        with self.assertRaisesRegex(GraphmillError, "broken.tfrecord: .*record 1"):
            list(parse_examples(path, g.schema))
        with self.assertRaisesRegex(GraphmillError, "/no/such"):
            list(parse_examples("/no/such", g.schema))
        self.assertEqual(parse_single_example(wide.schema, record, lenient=True).num_components, 1)
        self.assertEqual(write_example(g), record)

    def test_what_does_not_fit_the_schema(self) -> None:
        a = GraphTensor.from_pieces(node_sets={"n": NodeSet.from_fields(sizes=[2], features={"x": np.array([1, 2])})})

        def other(**features: Any) -> GraphTensor:
            return GraphTensor.from_pieces(node_sets={"n": NodeSet.from_fields(sizes=[2], features=features)})

        path = made.path("refused.tfrecord")
        for b, text in (
            (other(x=np.array([1.0, 2.0])), r"node set 'n': feature 'x': found float64 \[\], expected int64 \[\], as in the schema"),
            (other(x=np.zeros((2, 1), int)), r"found int64 \[1\], expected int64 \[\]"),
            (other(x=Ragged.from_rows([[1], []])), r"found ragged int64 \[-1\]"),
            (other(y=np.array([1, 2])), "found the features of node set 'n' y, expected those of the schema: x"),
            (other(x=np.array([1, 2]), y=np.array([1, 2])), "found the features of node set 'n' x, y, expected those of the schema: x"),
            (GraphTensor.from_pieces(), "found the node sets none, expected those of the schema: n"),
        ):
            with self.subTest(text):
                with self.assertRaisesRegex(ValueError, text):
                    write_examples(path, [a, b])
                with self.assertRaisesRegex(ValueError, text):
                    write_example(b, a.schema)
        self.assertEqual([f for f in os.listdir(os.path.dirname(path)) if f.startswith(("tmp", "refused"))], [])

    def test_pieces(self) -> None:
        nodes = {"n": NodeSet.from_fields(sizes=[2, 1])}

        def edges(sizes: list[int], source: list[Any], target: list[int], of: str = "n") -> Callable[[], GraphTensor]:
            return lambda: GraphTensor.from_pieces(
                None, nodes, {"e": EdgeSet.from_fields(sizes=sizes, adjacency=Adjacency.from_indices((of, source), ("n", target)))}
            )

        for make, error, text in (
            (edges([1, 1], [0, 2], [1, 2]), None, ""),
            (edges([1, 1], [0, 1], [1, 2]), ValueError, "edge set 'e': found source 1 of edge 1, expected 2 to 2, the nodes of its component in 'n'"),
            (edges([1, 0], [0], [-1]), ValueError, "found target -1 of edge 0, expected 0 to 1"),
            (edges([1], [0], [0]), ValueError, "edge set 'e': found 1 components, expected 2"),
            (edges([1, 0], [0], [0], "m"), ValueError, "edge set 'e': source node set: found 'm', expected one of n"),
            (edges([1, 1], [0], [0]), ValueError, "found 1 edges in the adjacency, expected 2"),
            (edges([1, 0], [0], [0, 1]), ValueError, "found 1 sources and 2 targets"),
            (edges([1, 0], [0.5], [0]), TypeError, "adjacency: source: found float64"),
            (lambda: NodeSet.from_fields(sizes=[2], features={"x": [1, 2, 3]}), ValueError, "node set: feature 'x': found 3 rows, expected 2"),
            (lambda: NodeSet.from_fields(sizes=[2], features={"x": [[1], [2, 3]]}), TypeError, "is Ragged"),
            (lambda: NodeSet.from_fields(sizes=[1], features={"x": np.zeros(1, complex)}), TypeError, "feature 'x': found values of dtype complex128"),
            (lambda: NodeSet.from_fields(sizes=[-1]), ValueError, "found sizes"),
            (lambda: NodeSet.from_fields(sizes=[1.5]), ValueError, "found sizes"),
            (lambda: Context.from_fields(features={"y": [1, 2]}, sizes=[1]), ValueError, "context: found sizes"),
            (lambda: Ragged([1, 2, 3], [[1, 1]]), ValueError, "found 3 values, expected 2"),
            (lambda: Ragged([1, 2], [[1, -1, 2]]), ValueError, "found row lengths"),
            (lambda: Ragged([1], [[2], [1]]), ValueError, "found 1 row lengths of variable dimension 1, expected 2"),
            (lambda: Ragged([1], []), ValueError, "expected one list per variable dimension"),
            (lambda: nodes["n"]["x"], KeyError, "node set: feature: found 'x', expected one of none"),
        ):
            with self.subTest(text):
                if error is None:
                    make()
                else:
                    with self.assertRaisesRegex(error, text):
                        make()

    def test_ragged(self) -> None:
        x = Ragged.from_rows([[10, 15, 23], [89], [], [64, 53]])
        self.assertEqual((x.values.tolist(), x.row_lengths[0].tolist(), x.shape, len(x)), ([10, 15, 23, 89, 64, 53], [3, 1, 0, 2], (-1,), 4))
        self.assertEqual(x.tolist(), [[10, 15, 23], [89], [], [64, 53]])
        deep = [[[1, 2], []], [], [[3]]]
        self.assertEqual(Ragged.from_rows(deep).tolist(), deep)
        self.assertEqual(Ragged(np.arange(6).reshape(3, 2), [[1, 2]]).tolist(), [[[0, 1]], [[2, 3], [4, 5]]])
        self.assertEqual(Ragged(np.arange(3), [[1, 0, 2, 0]], (2, -1)).tolist(), [[[0], []], [[1, 2], []]])
        self.assertEqual(len(Ragged(np.arange(3), [[1, 0, 2, 0]], (2, -1))), 2)
        self.assertEqual(Ragged.from_rows([["a", "ü"], []]).tolist(), [[b"a", "ü".encode()], []])
        self.assertEqual(x, copy.copy(x))

    def test_bad_schemas(self) -> None:
        for schema, text in (
            ({"edge_sets": {"e": {"source": "a", "target": "b"}}}, "source"),
            ({"node_sets": {"n": {"features": {"x": {"dtype": "DT_INT64", "shape": {"dim": [{"size": "0"}]}}}}}}, "size"),
            ({"nodes": {}}, "found no schema"),
        ):
            with self.subTest(text), self.assertRaisesRegex(GraphmillError, text):
                random_graph_tensor(GraphSchema(schema))
        with self.assertRaisesRegex(GraphmillError, "/no/such"):
            read_schema("/no/such")


def varint(n: int) -> bytes:
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def write_example_of_seed(seed: int) -> bytes:
    return write_example(random_graphs(seed, 1)[0])


@unittest.skipUnless(importlib.util.find_spec("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNNExamples(unittest.TestCase):
    """Examples of ours in TF-GNN, and of TF-GNN in ours."""

    def tensor(self, x: Any) -> Any:
        import tensorflow as tf

        if not isinstance(x, Ragged):
            return tf.constant(x.tolist() if x.dtype == object else x, tf.string if x.dtype == object else None, shape=x.shape)
        values, level = self.tensor(x.values), len(x.row_lengths)
        last = max(k for k, d in enumerate(x.shape) if d == -1)
        for d in reversed(x.shape[: last + 1]):
            if d == -1:
                level -= 1
                values = tf.RaggedTensor.from_row_lengths(values, x.row_lengths[level])
            else:
                values = tf.RaggedTensor.from_uniform_row_length(values, d)
        return values

    def theirs(self, g: GraphTensor) -> Any:
        import tensorflow as tf
        import tensorflow_gnn as tfgnn

        def of(features: Mapping[str, Any]) -> dict[str, Any]:
            return {k: self.tensor(x) for k, x in features.items()}

        def ends(name: str, x: npt.NDArray[Any]) -> tuple[str, Any]:
            return name, tf.constant(x, tf.int64)

        return tfgnn.GraphTensor.from_pieces(
            context=tfgnn.Context.from_fields(features=of(g.context.features), sizes=tf.constant(g.context.sizes)),
            node_sets={n: tfgnn.NodeSet.from_fields(sizes=tf.constant(s.sizes), features=of(s.features)) for n, s in g.node_sets.items()},
            edge_sets={
                n: tfgnn.EdgeSet.from_fields(
                    sizes=tf.constant(s.sizes),
                    features=of(s.features),
                    adjacency=tfgnn.Adjacency.from_indices(
                        ends(s.adjacency.source_name, s.adjacency.source), ends(s.adjacency.target_name, s.adjacency.target)
                    ),
                )
                for n, s in g.edge_sets.items()
            },
        )

    def same(self, ours: bytes, theirs: Any) -> None:
        """The messages are equal, and so are the bytes but for the order of the map, which TF-GNN leaves open."""
        import tensorflow as tf

        got = tf.train.Example.FromString(ours)
        self.assertEqual(got, theirs)
        entries = [tf.train.Features(feature={k: theirs.features.feature[k]}).SerializeToString() for k in sorted(theirs.features.feature, key=str.encode)]
        features = tf.train.Example(features=tf.train.Features.FromString(b"")).SerializeToString()[:1] + varint(sum(map(len, entries))) + b"".join(entries)
        self.assertEqual(ours, features)

    def test_equal_bytes(self) -> None:
        import tensorflow_gnn as tfgnn

        for seed in range(SEEDS):
            for g in random_graphs(seed, 3):
                with self.subTest(seed):
                    ours, theirs = write_example(g), tfgnn.write_example(self.theirs(g))
                    self.same(ours, theirs)
                    self.assertEqual(plain(parse_single_example(g.schema, theirs.SerializeToString())), plain(g))

    def test_parsed_by_tfgnn(self) -> None:
        import tensorflow_gnn as tfgnn

        for seed in range(SEEDS):
            for g in random_graphs(seed, 3):
                sets: list[Context | NodeSet | EdgeSet] = [g.context, *g.node_sets.values(), *g.edge_sets.values()]
                if g.num_components > 1 or any(isinstance(x, Ragged) and x.shape[0] != -1 for s in sets for x in s.features.values()):
                    continue  # a schema means one component
                with self.subTest(seed):
                    path = made.path("peer.pbtxt")
                    write_schema(g.schema, path)
                    got = tfgnn.parse_single_example(tfgnn.create_graph_spec_from_schema_pb(tfgnn.read_schema(path)), write_example(g))
                    self.same(write_example(g), tfgnn.write_example(got))
                    for n, s in g.node_sets.items():
                        for k, x in s.features.items():
                            y = got.node_sets[n][k]
                            self.assertEqual((y.to_list() if isinstance(x, Ragged) else y.numpy().tolist()), x.tolist())


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestPyGExamples(unittest.TestCase):
    def test_to_pyg(self) -> None:
        import torch

        for seed in range(SEEDS):
            for g in random_graphs(seed, 3):
                parsed = parse_single_example(g.schema, write_example(g))
                if any(x.dtype == np.uint64 and x.size and x.max() >= 1 << 63 for x in dense(g)):
                    with self.assertRaisesRegex(ValueError, "expected values below 2"):
                        parsed.to_pyg()
                    continue
                data = parsed.to_pyg()
                for n, s in g.node_sets.items():
                    self.assertEqual(data[n].num_nodes, s.total_size)
                    for k, x in s.features.items():
                        got = data[n][k]
                        self.assertEqual(got.tolist() if torch.is_tensor(got) else got, x.tolist())
                    if g.num_components > 1:
                        self.assertEqual(torch.bincount(data[n].batch, minlength=g.num_components).tolist(), s.sizes.tolist())
                for n, e in g.edge_sets.items():
                    a = e.adjacency
                    self.assertEqual(data[a.source_name, n, a.target_name].edge_index.tolist(), [a.source.tolist(), a.target.tolist()])


@unittest.skipUnless(importlib.util.find_spec("jraph"), "jraph is not installed")
class TestJraphExamples(unittest.TestCase):
    def test_to_jraph(self) -> None:
        g = GraphTensor.from_pieces(
            Context.from_fields(features={"y": [1.0]}),
            {"n": NodeSet.from_fields(sizes=[3], features={"x": np.ones((3, 2))})},
            {"e": EdgeSet.from_fields(sizes=[2], features={"s": ["a", "b"]}, adjacency=Adjacency.from_indices(("n", [0, 1]), ("n", [1, 2])))},
        )
        got = g.to_jraph()
        self.assertEqual((got.n_node.tolist(), got.n_edge.tolist(), got.senders.tolist(), got.receivers.tolist()), ([3], [2], [0, 1], [1, 2]))
        self.assertEqual((got.nodes["x"].shape, got.edges, got.globals["y"].tolist()), ((3, 2), {}, [1.0]))
        with self.assertRaisesRegex(ValueError, "found 0 node sets"):
            GraphTensor.from_pieces().to_jraph()


if __name__ == "__main__":
    unittest.main()
