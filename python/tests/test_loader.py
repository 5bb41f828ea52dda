"""NodeLoader: its batches, and its behaviour when processes die or fork.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store (one type, scale 12) and
debian.store (from the quickstart).
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import unittest
import warnings
from collections.abc import Iterator
from typing import Any

import graphmill
import made
import numpy as np
from graphmill import FeedDied, GraphmillError, NodeLoader, Store
from graphmill._feed import Connection, batches
from graphmill._order import ORDER, Order, key

RMAT, DEBIAN = made.RMAT, made.DEBIAN


def available(*modules: str) -> bool:
    import importlib.util

    return all(importlib.util.find_spec(m) for m in modules)


def flat(b: Any) -> list[Any]:
    """The content of a batch, copied."""
    return [b.number, b.n_id.tolist(), b.edge_index.tolist(), b.e_id.tolist(), b.input_id.tolist()]


def gone(pid: int, seconds: float = 60) -> bool:
    """Whether a process ends in time; a zombie counts as ended."""
    end = time.time() + seconds  # against a hang
    while time.time() < end:  # against a hang
        try:
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)  # between two looks
    return False


class TestBatches(unittest.TestCase):
    def test_a_batch(self) -> None:
        with NodeLoader(RMAT, fanout=[5, 3], batch_size=100, seeds=np.arange(1000, 2010), seed=3, shuffle=True) as loader:
            self.assertEqual(len(loader), 11)
            for epoch in range(2):
                order = Order(1010, key(3, epoch, ORDER))(np.arange(1010))
                for i, b in enumerate(loader):
                    self.assertEqual(b.number, i)
                    want = order[i * 100 : (i + 1) * 100]
                    self.assertEqual(b.input_id.tolist(), want.tolist())
                    self.assertEqual(b.n_id[b.seed_local].tolist(), (want + 1000).tolist())
                    self.assertEqual(len(set(b.n_id.tolist())), len(b.n_id))
                    self.assertEqual(sum(b.num_sampled_nodes), len(b.n_id))
                    self.assertEqual(sum(b.num_sampled_edges), b.edge_index.shape[1])
                    self.assertLess(b.edge_index.max(), len(b.n_id))
                    degrees = np.bincount(b.edge_index[1], minlength=len(b.n_id))
                    self.assertLessEqual(degrees.max(), 5)
                self.assertEqual(i, 10)
                del b

    def test_types(self) -> None:
        with NodeLoader(DEBIAN, fanout=[4, 4], batch_size=64, seed_type="package", direction="out", edge_features="versioned") as loader:
            b = next(iter(loader))
            self.assertEqual(b.n_id["package"][:64].tolist(), list(range(64)))
            self.assertEqual(set(b.x["package"]), {"essential", "installed_size", "label", "size"})
            self.assertEqual(len(b.x["package"]["label"]), len(b.n_id["package"]))
            depends = ("package", "depends", "package")
            self.assertEqual(len(b.edge_attr[depends]["versioned"]), b.edge_index[depends].shape[1])
            self.assertEqual(b.edge_attr[("package", "has_tag", "tag")], {})

    def test_types_that_no_fanout_names(self) -> None:
        with NodeLoader(DEBIAN, fanout={"depends": [4]}, batch_size=64, seed_type="package", direction="out") as loader:
            b = next(iter(loader))
        self.assertEqual(sorted(b.n_id), ["maintainer", "package", "source", "tag"])
        self.assertEqual((len(b.n_id["tag"]), b.num_sampled_nodes["tag"]), (0, [0, 0]))
        self.assertEqual(b.edge_index[("package", "has_tag", "tag")].shape, (2, 0))
        self.assertGreater(b.edge_index[("package", "depends", "package")].shape[1], 64)

    def test_ranks_epochs_and_resume(self) -> None:
        options: dict[str, Any] = dict(fanout=[3, 3], batch_size=128, seed=5, shuffle=True)
        with NodeLoader(RMAT, **options) as loader:
            epochs = [[flat(b) for b in loader] for _ in range(2)]
        self.assertNotEqual(epochs[0], epochs[1])
        ranks = []
        for r in range(3):
            with NodeLoader(RMAT, rank=r, world_size=3, threads=2, **options) as loader:
                ranks.append([flat(b) for b in loader])
                self.assertEqual(len(loader), len(ranks[-1]))
        together = sorted(sum(ranks, []))
        self.assertEqual(together[:-1], epochs[0])
        self.assertEqual((together[-1][0], together[-1][4]), (32, epochs[0][0][4]))  # the seeds of batch 0 again,
        self.assertNotEqual(together[-1][3], epochs[0][0][3])  # and other draws
        for left in (1, 7, len(epochs[1])):
            with NodeLoader(RMAT, **options) as loader:
                loader.set_epoch(1)
                for i, b in enumerate(loader, 1):
                    del b
                    if i == left:
                        break
                state = json.loads(json.dumps(loader.state_dict()))
            with NodeLoader(RMAT, **options) as loader:
                loader.load_state_dict(state)
                got = [flat(b) for b in loader]
                self.assertEqual(got[:3], epochs[1][left : left + 3] if left < len(epochs[1]) else got[:3])
                self.assertEqual(len(got), len(epochs[1]) - left or len(epochs[1]))

    def test_tails(self) -> None:
        """With random seeds, batch sizes, worlds and tails, the batches of each rank equal the reference's, also in a resumed epoch."""
        random = np.random.default_rng(3)
        for k in range(30):
            n, size, world, tail = int(random.integers(1, 400)), int(random.integers(1, 90)), int(random.integers(1, 5)), ("fill", "drop", "short")[k % 3]
            order = Order(n, key(4, 1, ORDER))(np.arange(n)).tolist()
            batches = made.law.batches(order, size, tail == "drop")
            first = int(random.integers(0, len(batches) + 1)) if k % 2 else 0
            for rank, want in enumerate(made.law.ranks(batches, world, tail, first)):
                with NodeLoader(RMAT, [1], size, np.arange(n), shuffle=True, seed=4, tail=tail, rank=rank, world_size=world, features="none") as loader:
                    loader.set_epoch(1)
                    if first:
                        loader.load_state_dict({**loader.state_dict(), "batch": first})
                    else:
                        self.assertEqual(len(loader), len(want))
                    self.assertEqual([(b.number, b.input_id.tolist()) for b in loader], want, (n, size, world, tail, first))
                    self.assertEqual(loader.state_dict()["epoch"], 2)
        with NodeLoader(RMAT, [1], 64, np.arange(320), world_size=2) as loader:
            state = loader.state_dict()
            with self.assertRaisesRegex(ValueError, "found 6 batches taken, expected 0 to 5"):
                loader.load_state_dict({**state, "batch": 6})
        for options, want in (
            (dict(tail="pad"), "tail='pad', expected one of fill, drop, short"),
            (dict(tail="short", drop_last=True), "drop_last=True with tail='short'"),
        ):
            with self.assertRaisesRegex(ValueError, want):
                NodeLoader(RMAT, [1], **options)

    def test_integers(self) -> None:
        with NodeLoader(RMAT, [2, 2], 64, seed=7) as a:
            numbers = [flat(b) for b in a]
        of: Any = np  # whose integers are no int for mypy
        with NodeLoader(
            RMAT, of.array([2, 2]), of.int32(64), seed=of.int64(7), threads=of.int8(1), slots=of.int64(3), rank=of.int64(0), world_size=of.int64(1)
        ) as a:
            a.set_epoch(of.int64(0))
            self.assertEqual([flat(b) for b in a], numbers)
        options: Any
        for options, want in (
            (dict(seed=7.0), "found seed=7.0, expected an integer"),
            (dict(batch_size=True), "found batch_size=True, expected an integer"),
            (dict(threads="2"), "found threads='2', expected an integer"),
            (dict(slots=2.5), "found slots=2.5, expected an integer"),
            (dict(fanout=5), "found fanout=5, expected a list"),
            (dict(fanout=[2, 1.5]), "found fanout=1.5, expected an integer"),
            (dict(fanout={"_E": [2, True]}), "found fanout=True, expected an integer"),
            (dict(world_size=1.0), "found world_size=1.0, expected an integer"),
        ):
            with self.assertRaisesRegex(TypeError, want):
                NodeLoader(RMAT, **{**dict(fanout=[2]), **options})
        for options, want in (
            (dict(batch_size=0), "batch_size=0, expected 1 to 2"),
            (dict(seed=1 << 64), "expected 0 to 2\\^64 - 1"),
            (dict(fanout=[-2]), "fanout=-2"),
        ):
            with self.assertRaisesRegex(ValueError, want):
                NodeLoader(RMAT, **{**dict(fanout=[2]), **options})

    def test_masks_of_another_length(self) -> None:
        options: Any
        for store, n, options in ((RMAT, 4096, {}), (DEBIAN, 4000, dict(seed_type="package"))):
            for m in (n - 1, n + 1, 1, 2 * n):
                for mask in (np.ones(m, bool), [True] * m):
                    with self.assertRaisesRegex(ValueError, f"a mask of {m} values, expected {n}, one per node of type"):
                        NodeLoader(store, [2], seeds=mask, **options)
        # Only the plan has the seed type.
        op = {"from": [0], "edges": "package:depends:package", "dir": "out", "take": 2, "how": "uniform"}
        text = json.dumps({"seed_type": "package", "scope": "batch", "expand": "new", "ops": [op]})
        plan = os.path.join(made.write("plan", {"plan.json": text}), "plan.json")
        with NodeLoader(DEBIAN, plan=plan, seeds=np.ones(4000, bool), batch_size=4000) as loader:
            self.assertEqual([b.batch_size for b in loader], [4000])
        with self.assertRaisesRegex(ValueError, "a mask of 3999 values, expected 4000, one per node of type package"):
            NodeLoader(DEBIAN, plan=plan, seeds=np.ones(3999, bool))

    def test_seeds(self) -> None:
        mask = np.zeros(4096, bool)
        mask[[5, 17, 4000]] = True
        for seeds in (mask, [5, 17, 4000], np.array([5, 17, 4000], np.uint16)):
            with NodeLoader(RMAT, fanout=[2], seeds=seeds) as loader:
                (b,) = loader
                self.assertEqual(b.n_id[:3].tolist(), [5, 17, 4000])
        with self.assertRaisesRegex(ValueError, "expected node ids, a mask, or links"):
            NodeLoader(RMAT, fanout=[2], seeds=np.array([0.5]))

    def test_one_pass_at_a_time(self) -> None:
        with NodeLoader(RMAT, fanout=[2], batch_size=1000, seeds=np.arange(4000), features="none") as loader:
            first = iter(loader)
            next(first)
            self.assertEqual([b.number for b in loader], [0, 1, 2, 3])
            with self.assertRaisesRegex(RuntimeError, "one pass at a time"):
                next(first)
            with self.assertRaisesRegex(RuntimeError, "one pass at a time"):
                list(zip(loader, loader))
            self.assertEqual([b.number for b in loader], [0, 1, 2, 3])
            last = iter(loader)
            next(last)
        for left in (last, iter(loader)):
            with self.assertRaisesRegex(FeedDied, "closed"):
                next(left)

    def test_numbers_that_no_epoch_has(self) -> None:
        with NodeLoader(RMAT, fanout=[2], seeds=np.arange(10), batch_size=2**40, features="none") as loader:
            self.assertEqual([b.batch_size for b in loader], [10])
            for epoch in (-1, 2**63):
                with self.assertRaisesRegex(ValueError, f"found epoch={epoch}"):
                    loader.set_epoch(epoch)
            with self.assertRaisesRegex(ValueError, "found batch=-1"):
                loader.load_state_dict({**loader.state_dict(), "batch": -1})
            with self.assertRaisesRegex(ValueError, "found version 1 of the draw law, expected 2"):
                loader.load_state_dict({**loader.state_dict(), "version": 1})

    def test_stats_have_the_last_step(self) -> None:
        with NodeLoader(RMAT, fanout=[2], batch_size=64, seeds=np.arange(64)) as loader:
            for _epoch in range(2):
                for b in loader:  # noqa: B007  the last batch is held
                    time.sleep(0.2)  # the step, which is not in the times of the loader
            del b
        stats = loader.stats()
        self.assertEqual(stats.batches, 2)
        self.assertGreaterEqual(stats.seconds, 0.4)
        self.assertLessEqual(stats.waited + stats.converted, stats.seconds - 0.4 + 1e-6)

    def test_errors_have_the_commands_words(self) -> None:
        arguments: Any
        for arguments, want in [
            (dict(store="/no/such.store", fanout=[2]), "/no/such.store"),
            (dict(store=DEBIAN, fanout=[2]), "no node type for the seeds"),
            (dict(store=RMAT, fanout=[2], order="weighted:nothing"), "nothing"),
            (dict(store=RMAT), r"found 0 of fanout, plan and sampling_spec, expected one; try fanout=\[15, 10\]"),
        ]:
            with self.assertRaisesRegex(GraphmillError, want):
                NodeLoader(**arguments)


class TestLifeCycle(unittest.TestCase):
    def test_views_stay_and_slots_run_out(self) -> None:
        """However many batches are kept, all slots but one hold views, and the others are copies with the same content."""
        options: Any
        for options in (dict(slots=4), dict(slots=1), dict(slots=2, batch_size=3000), dict(slots=3, as_="pyg")):
            if options.get("as_") and not available("torch_geometric"):
                continue
            with NodeLoader(RMAT, **{**dict(fanout=[5, 5], batch_size=64), **options}) as loader:
                want = [(b.n_id.tolist(), b.edge_index.tolist()) for b in loader]
                loader.set_epoch(0)
                kept = list(loader)
                assert loader._connection
                self.assertEqual(len(loader._connection._held), loader._slots - 1)
                self.assertEqual([(b.n_id.tolist(), b.edge_index.tolist()) for b in kept], want)
                for b in kept[1:]:
                    b.n_id[:] = -1  # no batch is in the place of another one
                self.assertEqual(kept[0].n_id.tolist(), want[0][0])
                del kept, b
                # Slots are free again.
                held = []
                for b in loader:  # noqa: B007  the last batch is held
                    held.append(len(loader._connection._held))
                self.assertLessEqual(max(held), loader._slots - 1)
        with NodeLoader(RMAT, fanout=[5, 5], batch_size=64, slots=4) as loader:
            part: Any = None
            for i, b in enumerate(loader):
                if i == 3:  # a view of a view keeps its batch for the rest of the epoch
                    part, want = b.n_id[10:][::2], b.n_id[10:][::2].tolist()
            del b
            self.assertEqual(part.tolist(), want)
        self.assertEqual(part.tolist(), want)  # and after the loader is closed

    def test_batches_larger_than_a_slot(self) -> None:
        """They have memory of their own, and are kept as they are when slots run out."""
        with NodeLoader(RMAT, fanout=[-1, -1], batch_size=1024, scope="seed") as loader:
            want = [(b.number, b.n_id.tolist()) for b in loader]
            c = Connection(loader._addr, loader._token, 0, 1, 2, loader._died, slot_bytes=1)
            kept = list(batches(c, 0, 0))
            self.assertLess(c._slot_bytes, sum(x.nbytes for x in kept[0].columns.values()))
            self.assertEqual([(b.number, b.columns["nodes/_N/n_id"].tolist()) for b in kept], want)
            self.assertEqual(len(c._held), 1)
            c.close()

    def test_feed_killed(self) -> None:
        with NodeLoader(RMAT, fanout=[5, 5], batch_size=16) as loader:
            it = iter(loader)
            b = next(it)
            before = flat(b)
            os.kill(made.feed_of(loader), signal.SIGKILL)
            with self.assertRaisesRegex(FeedDied, "exit status -9"):
                while True:
                    next(it)
            self.assertEqual(flat(b), before)

    def owner(self, code: str) -> tuple[subprocess.Popen[bytes], int]:
        """Run a program that makes a loader, prints its feed's pid, and then runs code."""
        text = f"""
import os, sys, time, signal
from graphmill import NodeLoader
loader = NodeLoader({RMAT!r}, fanout=[5, 5], batch_size=16)
it = iter(loader)
next(it)
print(loader._process.pid, flush=True)
{code}
"""
        p = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
        assert p.stdout
        pid = int(p.stdout.readline())
        return p, pid

    def test_owner_killed(self) -> None:
        p, pid = self.owner("time.sleep(600)")  # until it is killed
        p.kill()
        p.wait()
        self.assertTrue(gone(pid))
        assert p.stdout
        p.stdout.close()

    def test_owner_killed_with_a_forked_child(self) -> None:
        p, pid = self.owner("child = os.fork()\nif child:\n    print(child, flush=True)\ntime.sleep(600)")  # until they are killed
        assert p.stdout
        child = int(p.stdout.readline())
        p.kill()
        p.wait()
        self.assertTrue(gone(pid))
        self.assertFalse(gone(child, 0.1))
        os.kill(child, signal.SIGKILL)
        p.stdout.close()

    def test_owner_ends_without_closing(self) -> None:
        p, pid = self.owner("")
        self.assertEqual(p.wait(timeout=60), 0)  # against a hang
        self.assertTrue(gone(pid))
        assert p.stdout
        p.stdout.close()

    def test_fork_in_mid_epoch(self) -> None:
        with NodeLoader(RMAT, fanout=[5, 5], batch_size=64) as loader:
            want = [flat(b) for b in loader]
            loader.set_epoch(0)
            got = []
            for i, b in enumerate(loader):
                got.append(flat(b))
                if i == 5:
                    child = os.fork()
                    if not child:
                        os._exit(0)
                    self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(got, want)

    def test_memory_is_flat(self) -> None:
        def resident(pid: int) -> int:
            with open(f"/proc/{pid}/status") as f:
                return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))

        with NodeLoader(RMAT, fanout=[5, 5], batch_size=128, shuffle=True) as loader:
            pids, sizes = (os.getpid(), made.feed_of(loader)), []
            for passes in (100, 500):
                for _ in range(passes):
                    for b in loader:
                        del b
                gc.collect()
                sizes.append([resident(p) for p in pids])
            self.assertEqual(loader.stats().batches, 600 * len(loader))
        for before, after in zip(*sizes):
            self.assertLess(after - before, 4 << 10, sizes)

    def test_a_dropped_loader_ends_its_feed(self) -> None:
        """With the last reference, without Python's collector and without a warning; batches that are held stay readable."""

        def used(form: str, how: str) -> tuple[int, Any]:
            loader = NodeLoader(RMAT, fanout=[3, 2], batch_size=100, as_=form)
            if how == "none":
                return made.feed_of(loader), None
            passing = iter(loader)
            b = next(passing)
            if how == "whole":
                list(passing)
            return made.feed_of(loader), b

        self.addCleanup(gc.enable)
        gc.collect()
        gc.disable()
        forms = ["numpy", *["pyg"] * available("torch_geometric"), *["dgl"] * available("dgl")]
        for form in forms:
            for how in ("none", "first", "whole"):
                with self.subTest(form=form, how=how), warnings.catch_warnings(record=True) as found:
                    warnings.simplefilter("always", ResourceWarning)
                    pid, b = used(form, how)
                    self.assertTrue(gone(pid))
                    self.assertEqual([str(w.message) for w in found if w.category is ResourceWarning], [])
                if form == "numpy" and b is not None:
                    self.assertEqual(b.n_id[:100].tolist(), list(range(100)))
        loader = NodeLoader(RMAT, fanout=[3, 2], batch_size=100)
        pid, passing = made.feed_of(loader), iter(loader)
        next(passing)
        del loader  # a pass needs its loader
        self.assertEqual(len(list(passing)), 40)
        del passing
        self.assertTrue(gone(pid))

    def test_nothing_is_left(self) -> None:
        fds = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            loader = NodeLoader(RMAT, fanout=[5, 5], batch_size=64)
            next(iter(loader))
            pid = made.feed_of(loader)
            loader.close()
            loader.close()
            self.assertTrue(gone(pid))
        del loader
        gc.collect()
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), fds)


@unittest.skipUnless(available("torch"), "torch is not installed")
class TestDataLoader(unittest.TestCase):
    def test_workers(self) -> None:
        import torch

        for method in made.methods(self):
            with NodeLoader(RMAT, fanout=[4, 4], batch_size=64, seed=2, shuffle=True, as_="numpy") as loader:
                want = sorted(flat(b)[:4] for b in loader)
                loader.set_epoch(0)
                data = torch.utils.data.DataLoader(pickle.loads(pickle.dumps(Flat(loader))), batch_size=None, num_workers=2, multiprocessing_context=method)
                got = sorted([int(n), *(x.tolist() for x in rest)] for n, *rest in data)
                self.assertEqual(got, want, method)


class _Flat:
    """Batches as tensors, which workers can send."""

    def __init__(self, loader: NodeLoader) -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[Any]:
        import torch

        for b in self.loader:
            yield b.number, torch.from_numpy(b.n_id), torch.from_numpy(b.edge_index), torch.from_numpy(b.e_id)

    def __getstate__(self) -> dict[str, NodeLoader]:
        return {"loader": self.loader}


if available("torch"):
    import torch

    class Flat(_Flat, torch.utils.data.IterableDataset):  # type: ignore[misc, unused-ignore]
        pass


@unittest.skipUnless(available("torch_geometric"), "PyG is not installed")
class TestPyG(unittest.TestCase):
    def test_names_of_types_make_hetero_data(self) -> None:
        """A graph comes back as what it was: batches of a HeteroData are HeteroData, also of one type, as from PyG's loaders and from to_pyg."""
        import torch
        from torch_geometric.data import Data, HeteroData
        from torch_geometric.loader import NeighborLoader

        ends = torch.tensor([[0, 1, 2], [1, 2, 3]])
        typed, plain = HeteroData(), Data(x=torch.rand(5, 3), edge_index=ends)
        typed["paper"].x, typed["paper", "cites", "paper"].edge_index = torch.rand(5, 3), ends
        for data, nodes in ((typed, "paper"), (plain, None)):
            store = graphmill.from_pyg(data)
            with NodeLoader(store, [2], 5, as_="pyg") as loader:
                (got,) = loader
            (want,) = NeighborLoader(data, [2], batch_size=5, input_nodes=nodes)
            self.assertEqual({type(got), type(store.to_pyg())}, {type(want)})
            if nodes:
                self.assertEqual((got["paper"].x.tolist(), got["cites"].edge_index.tolist()), (want["paper"].x.tolist(), want["cites"].edge_index.tolist()))

    def test_data(self) -> None:
        import torch
        from torch_geometric.nn import SAGEConv

        with NodeLoader(RMAT, fanout=[5, 5], batch_size=64, as_="pyg") as loader, NodeLoader(RMAT, fanout=[5, 5], batch_size=64) as plain:
            for data, b in zip(loader, plain):
                self.assertEqual(data.n_id.tolist(), b.n_id.tolist())
                self.assertEqual(data.edge_index.tolist(), b.edge_index.tolist())
                self.assertEqual(data.e_id.tolist(), b.e_id.tolist())
                self.assertEqual((data.batch_size, data.input_id.tolist()), (b.batch_size, b.input_id.tolist()))
                self.assertEqual((data.num_sampled_nodes, data.num_sampled_edges), (b.num_sampled_nodes, b.num_sampled_edges))
                self.assertEqual({data.edge_index.dtype, data.n_id.dtype, data.e_id.dtype}, {torch.int64})
                self.assertTrue(data.validate())
            out = SAGEConv(4, 2)(torch.ones(data.num_nodes, 4), data.edge_index)
            self.assertEqual(out.shape, (data.num_nodes, 2))

    def test_names_that_are_taken(self) -> None:
        folder = made.write(
            "taken",
            {
                "n.csv": "id,batch,weight,y\n" + "".join(f"{i},{i},{i / 2},{i % 2}\n" for i in range(4)),
                "e.csv": "src,dst,weight\n0,1,5\n2,1,6\n3,1,7\n",
                "graph.yaml": "nodes: {_N: {table: n.csv, columns: {batch: int64, weight: float32, y: int64}}}\nedges: {'_N:_E:_N': {table: e.csv, columns: {weight: int64}}}\n",
            },
        )
        made.graphmill("import", folder, "--out", made.path("taken.store"))
        with NodeLoader(made.path("taken.store"), fanout=[-1], seeds=[1], edge_features="all", as_="pyg", label="y") as loader:
            (data,) = loader
            self.assertEqual((data.node_batch.tolist(), data.weight.tolist()), (data.n_id.tolist(), (data.n_id / 2).tolist()))
            self.assertEqual((data.edge_attr.tolist(), data.y.tolist()), ([5, 6, 7], (data.n_id % 2).tolist()))

    def test_a_label_need_not_be_a_feature(self) -> None:
        for features, others in ((["size"], {"x"}), ("size,essential", {"essential", "size"}), ([], set()), ("none", set()), (["size", "label"], {"x"})):
            with NodeLoader(DEBIAN, fanout=[4], batch_size=64, seed_type="package", direction="out", as_="pyg", features=features, label="label") as loader:
                data = next(iter(loader))["package"]
                self.assertEqual(data.y.tolist(), Store(DEBIAN).nodes["package"]["label"][data.n_id.numpy()].tolist())
                self.assertEqual(set(data.keys()) & {"x", "size", "essential", "label"}, others)

    def test_hetero(self) -> None:
        with NodeLoader(DEBIAN, fanout=[4, 4], batch_size=64, seed_type="package", direction="out", as_="pyg", label="label") as loader:
            data = next(iter(loader))
            self.assertEqual((data["package"].batch_size, len(data["package"].input_id)), (64, 64))
            self.assertEqual(len(data["package"].y), data["package"].num_nodes)
            self.assertFalse(hasattr(data["package"], "label"))
            self.assertEqual(len(data["package"].num_sampled_nodes), 3)
            self.assertTrue(data.validate())


@unittest.skipUnless(available("dgl"), "DGL is not installed")
class TestDGL(unittest.TestCase):
    def test_blocks(self) -> None:
        import dgl
        import torch

        with NodeLoader(RMAT, fanout=[5, 4], batch_size=64, as_="dgl", slots=8) as loader:
            for input_nodes, output_nodes, blocks in loader:
                self.assertEqual(len(blocks), 2)
                outer, inner = blocks
                self.assertEqual(outer.srcdata[dgl.NID].tolist(), input_nodes.tolist())
                self.assertEqual(inner.dstdata[dgl.NID].tolist(), output_nodes.tolist())
                self.assertEqual(outer.dstdata[dgl.NID].tolist(), inner.srcdata[dgl.NID].tolist())
                for b, take in zip(blocks, (4, 5)):
                    self.assertLessEqual(int(b.in_degrees().max()), take)
                    n = b.num_dst_nodes()
                    self.assertEqual(b.srcdata[dgl.NID][:n].tolist(), b.dstdata[dgl.NID].tolist())
                    self.assertEqual(len(b.edata[dgl.EID]), b.num_edges())
                conv = dgl.nn.SAGEConv(3, 2, "mean")
                h = conv(outer, torch.ones(outer.num_src_nodes(), 3))
                self.assertEqual(h.shape, (outer.num_dst_nodes(), 2))
            del input_nodes, output_nodes, blocks, outer, inner, b, h

    def test_types(self) -> None:
        import dgl

        store = Store(DEBIAN)
        ends = {e: store.edges[e].edge_index("input") for e in store.edges}
        drawn = 0
        with NodeLoader(DEBIAN, fanout=[4, 3], seed_type="package", seeds=np.arange(300), batch_size=64, as_="dgl", slots=8) as loader:
            for input_nodes, output_nodes, (outer, inner) in loader:
                self.assertEqual(sorted(input_nodes), sorted(store.nodes))
                self.assertEqual(outer.dstnodes["package"].data[dgl.NID].tolist(), inner.srcnodes["package"].data[dgl.NID].tolist())
                self.assertEqual(inner.dstnodes["package"].data[dgl.NID].tolist(), output_nodes["package"].tolist())
                for block in (outer, inner):
                    self.assertEqual(sorted(block.canonical_etypes), sorted(store.edges))
                    for e in block.canonical_etypes:
                        src, dst = block.edges(etype=e)
                        id_ = block.edges[e].data[dgl.EID].numpy()
                        self.assertEqual(block.srcnodes[e[0]].data[dgl.NID][src].tolist(), ends[e][0][id_].tolist())
                        self.assertEqual(block.dstnodes[e[2]].data[dgl.NID][dst].tolist(), ends[e][1][id_].tolist())
                        drawn += len(id_)
        self.assertGreater(drawn, 1000)


@unittest.skipUnless(available("jraph"), "jraph is not installed")
class TestJraph(unittest.TestCase):
    def test_padded(self) -> None:
        import jraph

        shapes = set()
        with NodeLoader(RMAT, fanout=[5, 5], batch_size=64, as_="jraph") as loader, NodeLoader(RMAT, fanout=[5, 5], batch_size=64) as plain:
            for g, b in zip(loader, plain):
                shapes.add((len(g.nodes["n_id"]), len(g.senders)))
                self.assertEqual(int(g.n_node.sum()), len(g.nodes["n_id"]))
                self.assertEqual(int(g.n_edge.sum()), len(g.senders))
                mask = np.asarray(jraph.get_node_padding_mask(g))
                self.assertEqual(g.nodes["n_id"][mask].tolist(), b.n_id.tolist())
                edges = np.asarray(jraph.get_edge_padding_mask(g))
                self.assertEqual(np.stack([g.senders, g.receivers])[:, edges].tolist(), b.edge_index.tolist())
                self.assertTrue((g.senders[~edges] == g.n_node[0]).all())
        self.assertLess(len(shapes), 12)


@unittest.skipUnless(available("tensorflow_gnn"), "TF-GNN is not installed")
class TestTFGNN(unittest.TestCase):
    def test_graph_tensor(self) -> None:
        with NodeLoader(DEBIAN, fanout=[4], batch_size=32, seed_type="package", direction="out", as_="tfgnn") as loader:
            with NodeLoader(DEBIAN, fanout=[4], batch_size=32, seed_type="package", direction="out") as plain:
                g, b = next(iter(loader)), next(iter(plain))
        self.assertEqual(int(g.context["num_seeds"][0]), 32)
        self.assertEqual(g.node_sets["package"]["label"].numpy().tolist(), b.x["package"]["label"].tolist())
        pair = b.edge_index[("package", "has_tag", "tag")]
        self.assertEqual(g.edge_sets["has_tag"].adjacency.source.numpy().tolist(), pair[0].tolist())
        self.assertEqual(g.edge_sets["has_tag"].adjacency.target.numpy().tolist(), pair[1].tolist())


if __name__ == "__main__":
    unittest.main()
