"""PackedLoader: its arrays equal the command's, to the bit; and the objects of each framework.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import pickle
import random
import shutil
import time
import unittest
import unittest.mock
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import made
import numpy as np
import numpy.typing as npt
from graphmill import Collection, GraphmillError, PackedLoader, _packs
from made import law

CASES = [
    ("molecules", "--reserve"),
    ("molecules", "--max-graphs", "5"),
    ("molecules", "--reserve", "--max-graphs", "6", "--ranks", "4"),
    ("typed", "--reserve"),
    ("small_samples", "--reserve"),
]


def flat(x: Any) -> Any:
    """All that a batch has, with the bytes of its arrays."""
    if isinstance(x, np.ndarray):
        return x.dtype.str, x.shape, x.tobytes()
    if isinstance(x, dict):
        return [(k, flat(v)) for k, v in x.items()]
    return [flat(v) for v in vars(x).values()] if hasattr(x, "__dict__") else x


def collection(name: str) -> Any:
    return getattr(made, name)()


def available(*modules: str) -> bool:
    return all(importlib.util.find_spec(m) for m in modules)


def loader(name: str, *flags: str, **options: Any) -> PackedLoader:
    return PackedLoader(made.layout(name, *flags), collection(name), **options)


def arrays(meta: dict[str, Any], batch: Any) -> Iterator[tuple[str, Any]]:
    """Each array of packs.json: its file, and the array of the loader."""
    for key, file in meta["arrays"].items():
        yield file, getattr(batch, key)
    for kind, of in (("nodes", batch.nodes), ("edges", {":".join(e): x for e, x in batch.edges.items()})):
        for t, m in meta[kind].items():
            for key, file in m["arrays"].items():
                yield file, getattr(of[t], key)
            for name, column in m["columns"].items():
                yield column["file"], of[t].columns[name]
    for name, column in meta["context"].items():
        yield column["file"], batch.context[name]


class TestPacks(unittest.TestCase):
    def same(self, got: Any, want: npt.NDArray[Any], what: str) -> None:
        """Equal bit for bit; the files have the bits of bfloat16, the loader has float32."""
        got = np.asarray(got)
        if "charge" in what:
            want = (want.astype(np.uint32) << 16).view(np.float32)
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), what)
        self.assertEqual(got.tobytes(), want.tobytes(), what)

    def test_the_commands_arrays(self) -> None:
        for name, *flags in CASES:
            for seed, epoch in ((0, 0), (3, 2)):
                meta, read = made.materialised(name, seed, epoch, *flags)
                packs = loader(name, *flags, seed=seed)
                packs.set_epoch(epoch)
                self.assertEqual(len(packs), meta["packs"])
                count = 0
                for p, batch in enumerate(packs):
                    seen = 0
                    for file, x in arrays(meta, batch):
                        self.same(x, read(file)[p], f"{name} {flags} {p} {file}")
                        seen += 1
                    count += 1
                self.assertEqual(count, meta["packs"])
                for t, of in itertools.chain(meta["nodes"].items(), ((tuple(e.split(":")), x) for e, x in meta["edges"].items())):
                    have = (batch.nodes if t in batch.nodes else batch.edges)[t]
                    self.assertEqual(set(of["columns"]), set(have.columns))
                self.assertGreater(seen, 8)

    def test_several_a_batch(self) -> None:
        meta, read = made.materialised("molecules", 3, 2, "--reserve")
        for tail in ("short", "drop", "pad"):
            packs = loader("molecules", "--reserve", seed=3, batch=7, tail=tail)
            packs.set_epoch(2)
            batches = list(packs)
            self.assertEqual(len(batches), len(packs))
            self.assertNotEqual(meta["packs"] % 7, 0)
            self.assertEqual(len(batches), meta["packs"] // 7 + (tail != "drop"))
            for b, batch in enumerate(batches):
                real = min(7, meta["packs"] - 7 * b)
                for file, x in arrays(meta, batch):
                    self.assertEqual(len(x), 7 if tail == "pad" else real)
                    self.same(x[:real], read(file)[7 * b : 7 * b + real], file)
        empty = batches[-1]  # from tail="pad"
        self.assertEqual((int(empty.num_graphs[-1]), empty.graph_mask[-1].any(), empty.graph_id[-1].max()), (0, False, -1))
        atom, bond = empty.nodes["atom"], empty.edges["atom", "bond", "atom"]
        self.assertEqual((int(atom.n_node[-1][0]), atom.mask[-1].any(), bond.src[-1].max()), (packs.shape.nodes["atom"], False, 0))
        with self.assertRaisesRegex(ValueError, "expected a multiple of batch_size=7"):
            loader("molecules", "--reserve", batch=7, tail="error")

    def test_epochs_resume_and_ranks(self) -> None:
        ids: Callable[[Any], Any] = lambda b: (b.number, b.graph_id.tolist())
        packs = loader("molecules", "--reserve", seed=1, batch=2)
        epochs = [[ids(b) for b in packs] for _ in range(2)]
        self.assertNotEqual(epochs[0], epochs[1])
        for epoch in epochs:
            real = [i for _, rows in epoch for row in rows for i in row if i >= 0]
            self.assertEqual(sorted(real), list(range(300)))
        for world, tail in ((2, "fill"), (3, "fill"), (50, "fill"), (3, "short"), (3, "drop")):
            options: dict[str, Any] = dict(seed=1, batch=2, world_size=world, tail=tail)
            ranks = [[ids(b) for b in loader("molecules", "--reserve", rank=r, **options)] for r in range(world)]
            full = [rows for _, rows in epochs[0] if tail != "drop" or len(rows) == 2]
            self.assertEqual(ranks, law.ranks(full, world, tail))
        packs = loader("molecules", "--reserve", seed=1, batch=2)
        packs.set_epoch(1)
        for _ in zip(range(3), packs):
            pass
        state = json.loads(json.dumps(packs.state_dict()))
        again = pickle.loads(pickle.dumps(loader("molecules", "--reserve", seed=1, batch=2)))
        again.load_state_dict(state)
        self.assertEqual([ids(b) for b in again], epochs[1][3:])
        for other in (
            loader("molecules", "--reserve", seed=2, batch=2),
            loader("molecules", "--reserve", seed=1, batch=3),
            loader("typed", "--reserve", seed=1, batch=2),
        ):
            with self.assertRaisesRegex(ValueError, "state does not match"):
                other.load_state_dict(state)

    def test_stats(self) -> None:
        packs = loader("molecules", "--reserve", batch=2)
        for passes in (1, 2):
            for _ in packs:
                time.sleep(0.001)  # the step, which is not in the times of the loader
            s = packs.stats()
            self.assertEqual(s.batches, passes * len(packs))
            self.assertGreaterEqual(s.seconds - s.waited - s.converted, 0.001 * s.batches)
            self.assertGreater(min(s.waited, s.converted), 0)
            self.assertEqual(s.waiting_share, s.waited / s.seconds)

    def test_what_is_not_in_packs(self) -> None:
        self.assertEqual(loader("molecules", "--reserve").left_out, ["atom: column element (strings)"])
        self.assertEqual(
            loader("small_samples", "--reserve").left_out, ["_N: num_sampled_nodes", "_N:_E:_N: num_sampled_edges", "context: seed_ptr, seed_local"]
        )
        plan = made.path("oversize.plan")
        made.graphmill("pack", made.molecules(), "--limit", "num_nodes=7", "--limit", "num_edges=40", "--oversize", "alone", "--out", plan)
        packs = PackedLoader(plan, made.molecules())
        nodes, _ = made.sizes(300, 2)
        self.assertEqual(packs.alone.tolist(), np.flatnonzero(nodes == 8).tolist())
        real = np.concatenate([b.graph_id[b.graph_mask] for b in packs])
        self.assertEqual(sorted(real.tolist()), np.flatnonzero(nodes < 8).tolist())

    def test_closed(self) -> None:
        with loader("molecules", "--reserve") as packs:
            p = next(iter(packs))
        self.assertGreater(int(p.num_graphs), 0)
        with self.assertRaisesRegex(ValueError, "was closed"):
            next(iter(packs))

    def test_blocks(self) -> None:
        # Packs are gathered in blocks: batches do not depend on the size of a block.
        draw = random.Random(5)
        for case in CASES:
            for tail in ("fill", "drop", "short", "pad"):
                options: dict[str, Any] = dict(seed=draw.randrange(99), batch=draw.choice([None, 1, 2, 3]), tail=tail, world_size=2, rank=draw.randrange(2))
                with loader(*case, **options) as packs:
                    whole = [flat(b) for b in packs]
                for size in (1, draw.randrange(2_000, 60_000)):
                    with unittest.mock.patch.object(_packs, "_BLOCK", size), loader(*case, **options) as packs:
                        self.assertEqual([flat(b) for b in packs], whole, (case, options, size))

    def test_rows_out_of_range(self) -> None:
        damaged = made.path("shifted.coll")
        shutil.copytree(made.molecules(), damaged)
        with open(os.path.join(damaged, "graph.json")) as f:
            name = os.path.join(damaged, json.load(f)["nodes"]["atom"]["arrays"]["graph_ptr"])
        np.save(name, np.load(name) + np.array(1, np.load(name).dtype))
        with self.assertRaisesRegex(GraphmillError, "atom: found graphs from row 1 to [0-9]+, expected 0 to"):
            PackedLoader(made.layout("molecules", "--reserve"), damaged)

    def test_errors(self) -> None:
        with self.assertRaisesRegex(GraphmillError, "found no layout.json, expected a pack layout; graphmill pack --out makes one"):
            PackedLoader(made.molecules(), made.molecules())
        options: Any
        for options, want in (
            (dict(label="labl", as_="pyg"), "found 'labl', .*did you mean label"),
            (dict(label="label"), "expected as_='pyg'"),
            (dict(as_="dgl"), "as_='dgl'"),
        ):
            with self.assertRaisesRegex(ValueError, want):
                loader("molecules", "--reserve", **options)
        with self.assertRaisesRegex(GraphmillError, "make a layout of these graphs"):
            PackedLoader(made.layout("molecules", "--reserve"), made.small_samples())
        with self.assertRaisesRegex(GraphmillError, "no component|found component"):
            PackedLoader(made.layout("typed", "--reserve"), made.molecules())
        plan = made.path("one-limit.plan")
        made.graphmill("pack", made.molecules(), "--limit", "num_nodes=24", "--out", plan)
        with self.assertRaisesRegex(GraphmillError, "pack again with a limit for num_edges:atom:bond:atom"):
            PackedLoader(plan, made.molecules())
        for options in (dict(as_="dgl"), dict(batch=0), dict(tail="x"), dict(rank=2, world_size=2), dict(seed=-1)):
            with self.assertRaisesRegex(ValueError, "expected"):
                loader("molecules", "--reserve", **options)


def padded(c: Collection, ids: Iterable[int], shape: Any) -> Any:
    """The graphs as a batch that jraph makes and pads."""
    import jraph

    graphs = []
    for i in ids:
        g = c[i]
        n, e = g.nodes["atom"], g.edges["bond"]
        graphs.append(
            jraph.GraphsTuple(
                nodes={"x": n["x"], "charge": bfloat16(n["charge"])},
                edges={"order": e["order"]},
                senders=e.src.astype(np.int32),
                receivers=e.dst.astype(np.int32),
                globals={"label": g.context["label"], "target": g.context["target"]},
                n_node=np.array([n.count], np.int32),
                n_edge=np.array([e.count], np.int32),
            )
        )
    (nodes,), (edges,) = shape.nodes.values(), shape.edges.values()
    return jraph.pad_with_graphs(jraph.batch_np(graphs), nodes, edges, shape.graphs)


def bfloat16(column: Any) -> npt.NDArray[Any]:
    import ml_dtypes

    return np.asarray(column.values.view(ml_dtypes.bfloat16))


@unittest.skipUnless(available("jraph"), "jraph is not installed")
class TestJraph(unittest.TestCase):
    def test_as_pad_with_graphs(self) -> None:
        import jax
        import jraph

        c = Collection(made.molecules())
        packs, plain = (loader("molecules", "--reserve", seed=4, as_=form) for form in ("jraph", "numpy"))
        shapes = set()
        for g, b in zip(packs, plain):
            want = padded(c, b.graph_id[b.graph_mask], packs.shape)
            ids = g.globals.pop("graph_id")
            self.assertEqual((ids.dtype, ids.tolist()), (np.dtype(np.int32), b.graph_id.tolist()))
            self.assertEqual(jax.tree_util.tree_structure(g), jax.tree_util.tree_structure(want))
            for x, y in zip(jax.tree_util.tree_leaves(g), jax.tree_util.tree_leaves(want)):
                self.assertEqual(x.shape, y.shape)
                self.assertTrue((np.asarray(x) == np.asarray(y)).all())
            for kind in ("nodes", "edges", "globals"):
                self.assertEqual({k: x.dtype for k, x in getattr(g, kind).items()}, {k: x.dtype for k, x in getattr(want, kind).items()})
            self.assertEqual({x.dtype for x in (g.senders, g.receivers, g.n_node, g.n_edge)}, {np.dtype(np.int32)})
            self.assertEqual(np.asarray(jraph.get_graph_padding_mask(g)).tolist(), b.graph_mask.tolist())
            self.assertEqual(np.asarray(jraph.get_node_padding_mask(g)).tolist(), b.nodes["atom"].mask.tolist())
            shapes.add(str(jax.tree_util.tree_map(np.shape, g)))
        self.assertEqual(len(shapes), 1)

    def test_stacked(self) -> None:
        import jax

        one = list(loader("small_samples", "--reserve", as_="jraph"))
        (four, *_) = loader("small_samples", "--reserve", as_="jraph", batch=4)
        for k in range(4):
            got = jax.tree_util.tree_map(lambda x: x[k].tolist(), four)
            self.assertEqual(got, jax.tree_util.tree_map(lambda x: x.tolist(), one[k]))
        with self.assertRaisesRegex(ValueError, "has no types"):
            next(iter(loader("typed", "--reserve", as_="jraph")))


@unittest.skipUnless(available("torch_geometric"), "PyG is not installed")
class TestPyG(unittest.TestCase):
    def same(self, got: Any, want: Any) -> None:
        import torch

        self.assertEqual(
            set(got.keys()) - {"node_mask", "edge_mask", "graph_mask", "graph_id"},
            set(want.keys()) - {"element", "seed_index", "num_sampled_nodes", "num_sampled_edges"},
        )
        for a, b in zip(got.stores, want.stores):
            for key in a.keys():
                if key in b:
                    self.assertTrue(torch.equal(a[key], b[key]) if torch.is_tensor(b[key]) else a[key] == b[key], key)

    def test_graphs_come_back(self) -> None:
        for name, label in (("molecules", "label"), ("typed", "label"), ("small_samples", None)):
            c = Collection(collection(name))
            for batch in (None, 3):
                seen = []
                for b in loader(name, "--reserve", as_="pyg", batch=batch, seed=2, label=label):
                    self.assertTrue(b.validate())
                    for i, d in zip(b.graph_id.tolist(), b.to_data_list()):
                        if i >= 0:
                            self.same(d, c.to_pyg(i, label=label))
                            seen.append(i)
                self.assertEqual(sorted(seen), list(range(len(c))))

    def test_as_from_data_list(self) -> None:
        import torch
        from torch_geometric.data import Batch
        from torch_geometric.nn import GCNConv, global_add_pool

        c = Collection(made.molecules())
        conv = GCNConv(3, 4)
        for b in itertools.islice(loader("molecules", "--reserve", as_="pyg", batch=2, label="label"), 4):
            want = Batch.from_data_list(c.to_pyg(b.graph_id[b.graph_mask].tolist(), label="label"))
            self.assertEqual(b.batch[b.node_mask].tolist(), torch.arange(b.num_graphs)[b.graph_mask][want.batch].tolist())
            self.assertEqual((b.x[b.node_mask].tolist(), b.y[b.graph_mask].tolist()), (want.x.tolist(), want.y.tolist()))
            self.assertEqual(b.ptr.diff().tolist(), torch.bincount(b.batch, minlength=b.num_graphs).tolist())
            got = global_add_pool(conv(b.x, b.edge_index), b.batch, size=b.num_graphs)[b.graph_mask]
            torch.testing.assert_close(got, global_add_pool(conv(want.x, want.edge_index), want.batch))

    def test_workers(self) -> None:
        import torch

        packs = loader("molecules", "--reserve", seed=5)
        want = sorted(b.graph_id.tolist() for b in packs)
        for method in made.methods(self):
            packs.set_epoch(0)
            copy = pickle.loads(pickle.dumps(Packs(packs)))
            data = torch.utils.data.DataLoader(copy, batch_size=None, num_workers=3, multiprocessing_context=method)
            self.assertEqual(sorted(x.tolist() for x in data), want, method)


if available("torch"):
    import torch

    class Packs(torch.utils.data.IterableDataset):  # type: ignore[misc, unused-ignore]
        """The graph ids of packs as tensors, which workers can send."""

        def __init__(self, loader: PackedLoader) -> None:
            self.loader = loader

        def __iter__(self) -> Iterator[Any]:
            return (torch.from_numpy(b.graph_id) for b in self.loader)


@unittest.skipUnless(available("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNN(unittest.TestCase):
    def test_components(self) -> None:
        import tensorflow as tf
        import tensorflow_gnn as tfgnn

        c = Collection(made.molecules())
        for batch in (None, 2):
            packs = loader("molecules", "--reserve", as_="tfgnn", batch=batch, seed=6)
            for g, mask in itertools.islice(packs, 4):
                self.assertEqual(g.num_components.numpy(), packs.shape.graphs * (batch or 1))
                ids = g.context["graph_id"].numpy()
                self.assertEqual(mask.numpy().tolist(), (ids >= 0).tolist())
                sums = tfgnn.pool(g, tfgnn.CONTEXT, node_set_name="atom", reduce_type="sum", feature_name="x").numpy()
                sent = tfgnn.pool(
                    g,
                    tfgnn.CONTEXT,
                    edge_set_name="bond",
                    reduce_type="sum",
                    feature_value=tfgnn.broadcast(g, tfgnn.TARGET, edge_set_name="bond", feature_name="x"),
                ).numpy()
                for i, got, of_edges, charge in zip(ids, sums, sent, g.context["target"].numpy()):
                    if i >= 0:
                        x, edges = c[i].nodes["atom"]["x"], c[i].edges["bond"]
                        np.testing.assert_allclose(got, x.sum(0), rtol=1e-5, atol=1e-5)
                        np.testing.assert_allclose(of_edges, x[edges.dst].sum(0), rtol=1e-5, atol=1e-5)
                        self.assertEqual(charge.tolist(), c[i].context["target"][0].tolist())
                self.assertEqual(g.node_sets["atom"]["charge"].dtype, tf.bfloat16)

    def test_as_pad_to_total_sizes(self) -> None:
        import tensorflow_gnn as tfgnn

        packs = loader("typed", "--reserve", as_="tfgnn")
        sizes = tfgnn.SizeConstraints(
            total_num_components=packs.shape.graphs,
            total_num_nodes=packs.shape.nodes,
            total_num_edges={"_".join(e): n for e, n in packs.shape.edges.items()},
        )
        for g, _ in itertools.islice(packs, 3):
            self.assertTrue(tfgnn.satisfies_size_constraints(g, sizes).numpy())
            padded, mask = tfgnn.pad_to_total_sizes(g, sizes)
            self.assertTrue(mask.numpy().all())
            self.assertEqual(padded.node_sets["a"].sizes.numpy().tolist(), g.node_sets["a"].sizes.numpy().tolist())


if __name__ == "__main__":
    unittest.main()
