"""Ray Data, datasets of Hugging Face, TensorBoard, Weights & Biases and Jupyter, each with its real library.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store. The environment is
the one of bench/peers.sh integrations. No test asks for anything beyond this machine.
"""

from __future__ import annotations

import datetime
import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest
from typing import Any
from unittest import mock

# These are read when the libraries are imported. Ray reports to its makers that reports are turned off, and asks what cloud it is in
# unless a file in the home folder says it.
os.environ.update(
    HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", WANDB_MODE="offline", WANDB_ERROR_REPORTING="false", WANDB_SILENT="true",
    RAY_USAGE_STATS_ENABLED="0", RAY_USAGE_STATS_REPORT_URL="http://127.0.0.1:9", RAY_DATA_DISABLE_PROGRESS_BARS="1",
)  # fmt: skip

import graphmill
import made
import numpy as np
from graphmill import BatchIter, Collection, GraphmillError, NodeLoader, tfgnn
from graphmill._as.fields import fields
from graphmill._folder import Column

COLLECTIONS = [("molecules", None), ("typed", None), ("small_samples", None), ("sampled", made.DEBIAN), ("odd", None)]
_HERE = os.path.dirname(os.path.abspath(__file__))


def has(*modules: str) -> bool:
    return all(importlib.util.find_spec(m) for m in modules)


def odd() -> str:
    """Four graphs, one of them empty, with columns of every form."""
    if not os.path.exists(made.path("odd.coll")):
        folder = made.write(
            "odd",
            {
                "nodes.csv": 'name,tags,deep,at,kind\nä,1 2,"[[1 2] [3]]",2024-05-01T00:00:00Z,red\n"",,[],,blue\nc,3,"[[] [4]]",2025-01-31T12:00:00Z,\nd,4 5 6,[[5]],1969-12-31T23:59:59Z,red\n',
                "ptr.npy": np.array([0, 2, 2, 3, 4]),
                "e_ptr.npy": np.array([0, 2, 2, 2, 3]),
                "src.npy": np.array([0, 1, 0]),
                "dst.npy": np.array([1, 0, 0]),
                "flag.npy": np.array([True, False, True]),
                "half.npy": np.array([[0.5, 1.5], [2, 3], [4, 5]], np.float16),
                "mat.npy": np.arange(24, dtype=np.int16).reshape(4, 2, 3),
                "big.npy": np.array([1, 2**63, 2**64 - 1, 0], np.uint64),
                "graph.yaml": """
graphs: {columns: {big: big.npy}}
nodes:
  n: {table: nodes.csv, graph_ptr: ptr.npy, columns: {name: string, tags: "int64[]", deep: "int64[,]", at: "datetime[s]", kind: category, mat: mat.npy}}
edges:
  n:to:n: {graph_ptr: e_ptr.npy, src: src.npy, dst: dst.npy, ends: local, columns: {flag: flag.npy, half: half.npy}}
""",
            },
        )
        made.graphmill("import", folder, "--out", made.path("odd.coll"))
    return made.path("odd.coll")


def collection(name: str, store: str | graphmill.Store | None = None) -> Collection:
    return Collection(odd() if name == "odd" else getattr(made, name)(), store=store)


def plain(x: Any) -> Any:
    """A value as Python's numbers, texts and lists."""
    if isinstance(x, Column):
        return plain(np.asarray(x)) if x.fixed else plain(x.tolist())
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else [plain(v) for v in x] if isinstance(x, (list, tuple)) else x


def row(g: Any, typed: bool) -> dict[str, Any]:
    """A graph as a row, from the arrays of `Collection`; with ``typed``, times and categories as `hf_dataset` has them."""

    def value(c: Any) -> Any:
        x = plain(c)
        if typed and c.unit is not None:
            return [None if v == np.iinfo(np.int64).min else v for v in x]
        return [None if v < 0 else v for v in x] if typed and c.categories is not None else x

    out = {}
    for t, n in g.nodes.items():
        out[f"{t}/num_nodes"] = n.count
        for key in ("num_sampled_nodes", "node_id"):
            if getattr(n, key) is not None:
                out[f"{t}/{key}"] = plain(getattr(n, key))
        out.update({f"{t}/{name}": value(n.columns.column(name)) for name in n.columns})
    for t, e in g.edges.items():
        at = ":".join(t)
        out[f"{at}/src"], out[f"{at}/dst"] = e.src.tolist(), e.dst.tolist()
        for key in ("num_sampled_edges", "edge_id"):
            if getattr(e, key) is not None:
                out[f"{at}/{key}"] = plain(getattr(e, key))
        out.update({f"{at}/{name}": value(e.columns.column(name)) for name in e.columns})
    out.update({name: value(g.context.column(name))[0] for name in g.context})
    if g.seed_local is not None:
        out["seed_local"] = plain(g.seed_local)
    return out


class TestFields(unittest.TestCase):
    def test_a_name_twice(self) -> None:
        folder = made.write(
            "twice",
            {"ptr.npy": np.array([0, 1]), "src.npy": np.array([0]), "dst.npy": np.array([0]),
             "graph.yaml": "graphs: {}\nnodes: {n: {graph_ptr: ptr.npy}}\nedges:\n  n:to:n: {graph_ptr: ptr.npy, src: src.npy, dst: dst.npy, ends: local, columns: {src: src.npy}}\n"},
        )  # fmt: skip
        made.graphmill("import", folder, "--out", made.path("twice.coll"))
        with self.assertRaisesRegex(ValueError, "found 'n:to:n/src' twice"):
            fields(Collection(made.path("twice.coll")))

    def test_without_the_library(self) -> None:
        for function, package in ((graphmill.hf_dataset, "datasets"), (graphmill.ray_dataset, "ray")):
            with mock.patch.dict(sys.modules, {package: None, f"{package}.data": None}):
                with self.assertRaisesRegex(ModuleNotFoundError, f"pip install .?{package}"):
                    function(made.molecules())


@unittest.skipUnless(has("datasets"), "datasets is not installed")
class TestDatasetsIntegration(unittest.TestCase):
    def test_equals_collection(self) -> None:
        for name, store in COLLECTIONS:
            with self.subTest(name):
                c = collection(name, store)
                ds = graphmill.hf_dataset(c.path, store)
                self.assertEqual((len(ds), ds.cache_files), (len(c), []))
                for g, got in zip(c, ds):
                    for k in [k for k, f in ds.features.items() if "timestamp" in str(f)]:
                        got[k] = [None if t is None else int(t.replace(tzinfo=datetime.timezone.utc).timestamp()) for t in got[k]]
                    self.assertEqual(got, row(g, True), g)

    def test_features(self) -> None:
        from datasets import ClassLabel, Sequence, Value

        f = graphmill.hf_dataset(odd()).features
        self.assertEqual(
            f,
            {
                "n/num_nodes": Value("int64"),
                "n/at": Sequence(Value("timestamp[s]")),
                "n/deep": Sequence(Sequence(Sequence(Value("int64")))),
                "n/kind": Sequence(ClassLabel(names=["blue", "red"])),
                "n/mat": Sequence(Sequence(Sequence(Value("int16"), 3), 2)),
                "n/name": Sequence(Value("large_string")),
                "n/tags": Sequence(Sequence(Value("int64"))),
                "n:to:n/src": Sequence(Value("uint32")),
                "n:to:n/dst": Sequence(Value("uint32")),
                "n:to:n/flag": Sequence(Value("bool")),
                "n:to:n/half": Sequence(Sequence(Value("float16"), 2)),
                "big": Value("uint64"),
            },
        )
        self.assertEqual(f["n/kind"].feature.int2str(1), "red")

    def test_arrays_are_the_maps(self) -> None:
        """Numbers are not copied: the buffers of Arrow are the maps of the files."""
        c = Collection(made.molecules())
        table = graphmill.hf_dataset(c).data.table
        x: Any
        for name, x in (("atom/x", c.nodes["atom"]["x"]), ("atom:bond:atom/order", c.edges["bond"]["order"]), ("atom:bond:atom/src", c.edges["bond"].src)):
            buffers = [b for b in table.column(name).chunk(0).buffers() if b is not None]
            self.assertEqual(buffers[-1].address, x.ctypes.data, name)

    def test_fingerprint(self) -> None:
        ds = graphmill.hf_dataset(made.small_samples())
        self.assertEqual(ds._fingerprint, graphmill.hf_dataset(Collection(made.small_samples()))._fingerprint)
        others = {graphmill.hf_dataset(made.small_samples(), made.RMAT)._fingerprint, graphmill.hf_dataset(made.molecules())._fingerprint}
        self.assertEqual(len(others | {ds._fingerprint}), 3)

    def test_formats_map_and_files(self) -> None:
        """What users do with a data set: formats, map, selection, and writing it."""
        import datasets

        ds = graphmill.hf_dataset(made.molecules())
        c = Collection(made.molecules())
        x = ds.with_format("numpy")[17]["atom/x"]
        self.assertTrue((x == c[17].nodes["atom"]["x"]).all() and x.dtype == np.float32)
        counted = ds.map(lambda r: {"bonds": len(r["atom:bond:atom/src"])}).filter(lambda r: r["label"] == 1)
        self.assertEqual([r["bonds"] for r in counted], [g.edges["bond"].count for g in c if g.context["label"][0] == 1])
        with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
            ds.save_to_disk(folder + "/ds")
            again = datasets.load_from_disk(folder + "/ds")
            self.assertEqual((again.features, list(again)), (ds.features, list(ds)))

    def test_errors(self) -> None:
        with self.assertRaisesRegex(GraphmillError, "expected a collection"):
            graphmill.hf_dataset(made.DEBIAN)
        n = tfgnn.NodeSet.from_fields(sizes=[1], features={"name": [b"\xff"]})
        e = tfgnn.EdgeSet.from_fields(sizes=[0], adjacency=tfgnn.Adjacency.from_indices(("n", []), ("n", [])))
        g = tfgnn.GraphTensor.from_pieces(node_sets={"n": n}, edge_sets={"to": e})
        tfgnn.write_examples(made.path("bytes.tfrecord"), [g])
        tfgnn.write_schema(g.schema, made.path("bytes.pbtxt"))
        made.graphmill("import", made.path("bytes.tfrecord"), "--schema", made.path("bytes.pbtxt"), "--out", made.path("bytes.coll"))
        with self.assertRaisesRegex(ValueError, "n/name: found strings that are not UTF-8"):
            graphmill.hf_dataset(made.path("bytes.coll"))


@unittest.skipUnless(has("ray"), "ray is not installed")
class TestRayIntegration(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        import ray

        # The workers of Ray have working folders of their own. HOME stays, because a second Ray in this process wants the token that
        # the first one wrote there.
        cls.enterClassContext(mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.abspath(os.path.join(_HERE, "..", "src")), _HERE])))
        ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False, logging_level="ERROR", object_store_memory=100 << 20)
        cls.addClassCleanup(ray.shutdown)
        ray.data.DataContext.get_current().execution_options.preserve_order = True  # tasks end in any order

    def test_equals_collection(self) -> None:
        for name, store in COLLECTIONS:
            with self.subTest(name):
                c = collection(name, store)
                ds = graphmill.ray_dataset(c.path, store, override_num_blocks=3)
                self.assertEqual(ds.count(), len(c))
                rows = ds.take_all()
                for g, got in zip(c, rows):
                    self.assertEqual({k: plain(v) for k, v in got.items()}, row(g, False), g)

    def test_arrays(self) -> None:
        """The dtypes and shapes of rows and batches: as in batches of a loader."""
        r = graphmill.ray_dataset(made.molecules()).take(1)[0]
        c = Collection(made.molecules())[0].nodes["atom"]
        for name, dtype in (
            ("atom/x", np.float32),
            ("atom/charge", np.float32),
            ("atom:bond:atom/src", np.uint32),
            ("atom:bond:atom/order", np.uint16),
            ("target", np.float64),
        ):
            self.assertEqual(r[name].dtype, dtype, name)
        self.assertEqual(r["atom/x"].shape, c["x"].shape)
        sums = graphmill.ray_dataset(made.molecules(), override_num_blocks=4).map_batches(
            lambda b: {"sum": np.array([x.sum() for x in b["atom/x"]])}, batch_size=32
        )
        want = [np.asarray(g.nodes["atom"]["x"]).sum() for g in Collection(made.molecules())]
        self.assertTrue(np.allclose([x["sum"] for x in sums.take_all()], want))

    def test_read_in_parallel(self) -> None:
        """A task per range of graphs, in their order, and the ranges are all graphs."""
        for blocks in (1, 7, 1000):
            ds = graphmill.ray_dataset(made.small_samples(), override_num_blocks=blocks).materialize()
            self.assertEqual(ds.num_blocks(), min(blocks, 100))
            self.assertEqual([plain(r["seed_local"]) for r in ds.take_all()], [plain(g.seed_local) for g in Collection(made.small_samples())])

    def test_records(self) -> None:
        """TFRecords of a sample: the same subgraphs as its collection, a task per file."""
        with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
            made.graphmill(
                "sample",
                made.DEBIAN,
                "--fanout",
                "depends=4,3",
                "--seeds",
                "package",
                "--limit-seeds",
                50,
                "--scope",
                "seed",
                "--format",
                "tfrecord",
                "--shards",
                3,
                "--out",
                folder + "/out",
            )
            rows = graphmill.ray_dataset(folder + "/out").take_all()
            schema = tfgnn.read_schema(folder + "/out/schema.pbtxt")
            graphs = list(tfgnn.parse_examples(folder + "/out/*.tfrecord*", schema))
            self.assertEqual((len(rows), len(graphs)), (50, 50))
            for r, g in zip(rows, graphs):
                want: dict[str, Any] = {}
                sets: list[tuple[str, Any]] = [*g.node_sets.items(), *g.edge_sets.items()]
                for name, s in sets:
                    want[f"{name}/sizes"] = plain(s.sizes)
                    want.update({f"{name}/{f}": plain(x) if isinstance(x, np.ndarray) else x.tolist() for f, x in s.features.items()})
                want.update({f"{name}/num_nodes": s.total_size for name, s in g.node_sets.items()})
                for name, e in g.edge_sets.items():
                    want[f"{name}/src"], want[f"{name}/dst"] = plain(e.adjacency.source), plain(e.adjacency.target)
                want.update({f: plain(x) for f, x in g.context.features.items()})
                self.assertEqual({k: plain(v) for k, v in r.items()}, want)
            with self.assertRaisesRegex(ValueError, "found store= and TFRecords"):
                graphmill.ray_dataset(folder + "/out", made.DEBIAN)
            os.rename(folder + "/out/schema.pbtxt", folder + "/schema.pbtxt")
            with self.assertRaisesRegex(GraphmillError, "found TFRecords without schema.pbtxt"):
                graphmill.ray_dataset(folder + "/out")

    def test_errors(self) -> None:
        for path, text in ((made.DEBIAN, "expected a collection"), (made.path("nothing"), "expected a collection")):
            with self.assertRaisesRegex(GraphmillError, text):
                graphmill.ray_dataset(path)


class TestStats(unittest.TestCase):
    def test_writers(self) -> None:
        batches = BatchIter(np.arange(100), batch_size=10)
        list(batches)
        with self.assertRaisesRegex(TypeError, "writer: found list, expected a SummaryWriter"):
            graphmill.log_stats(batches, [])
        writer = mock.Mock(spec=["log"])
        got = graphmill.log_stats(batches, writer, 3)
        writer.log.assert_called_once_with(got, step=3)
        s = batches.stats()
        want = {
            "batches": 10,
            "batches_per_second": 10 / s.seconds,
            "seconds": s.seconds,
            "waited": s.waited,
            "converted": s.converted,
            "waiting_share": s.waiting_share,
        }
        self.assertEqual(got, {f"graphmill/{name}": x for name, x in want.items()})

    def test_negatives(self) -> None:
        with NodeLoader(made.RMAT, fanout=[2], seeds="_N:_E:_N", limit_seeds=2000, negatives=2, negatives_strict="count") as loader:
            list(loader)
            got = graphmill.log_stats(loader, mock.Mock(spec=["add_scalar"]))
        self.assertEqual(got["graphmill/negatives"], 4000)

    @unittest.skipUnless(has("tensorboard", "torch"), "tensorboard is not installed")
    def test_tensorboard_integration(self) -> None:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        from torch.utils.tensorboard import SummaryWriter

        batches = BatchIter(np.arange(100), batch_size=10)
        with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
            with SummaryWriter(folder) as writer:
                for epoch in range(3):
                    list(batches)
                    last = graphmill.log_stats(batches, writer, epoch)
            events = EventAccumulator(folder)
            events.Reload()
            self.assertEqual(sorted(events.Tags()["scalars"]), sorted(last))
            self.assertEqual([(e.step, e.value) for e in events.Scalars("graphmill/batches")], [(0, 10), (1, 20), (2, 30)])

    @unittest.skipUnless(has("wandb"), "wandb is not installed")
    def test_wandb_integration(self) -> None:
        import wandb

        self.addCleanup(wandb.teardown)
        batches = BatchIter(np.arange(100), batch_size=10)
        list(batches)
        with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
            with wandb.init(mode="offline", dir=folder, project="graphmill") as run:
                for writer, step in ((run, 0), (wandb, 1)):
                    last = graphmill.log_stats(batches, writer, step)
                self.assertEqual({k: run.summary[k] for k in last}, last)
            self.assertTrue(list(pathlib.Path(folder).rglob("*.wandb")))


@unittest.skipUnless(has("nbclient", "ipykernel"), "nbclient is not installed")
class TestJupyterIntegration(unittest.TestCase):
    def test_tables_and_progress(self) -> None:
        import nbformat
        from nbclient import NotebookClient

        with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
            cells = [
                f"import graphmill\ngraphmill.Collection({made.molecules()!r})",
                f"r = graphmill.run('generate', 'rmat', scale=18, edge_factor=16, threads=1, out={folder + '/g.store'!r})",
            ]
            notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
            NotebookClient(notebook, timeout=120, kernel_name="python3").execute()  # against a hang
        shown, progress = (c.outputs for c in notebook.cells)
        self.assertEqual(shown[0].data["text/html"], Collection(made.molecules())._repr_html_())
        self.assertEqual(shown[0].data["text/plain"], repr(Collection(made.molecules())))
        self.assertIn("rows/s", "".join(o.text for o in progress if o.output_type == "stream" and o.name == "stderr"))


if __name__ == "__main__":
    unittest.main()
