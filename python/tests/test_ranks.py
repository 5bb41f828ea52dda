"""Loaders in trainings: with processes that average their gradients, and in DataLoaders with workers.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import subprocess
import sys
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import made
import numpy as np
from graphmill import BatchIter, GroupBatchIter, NodeLoader, PackedLoader

HERE = os.path.dirname(__file__)


def available(*modules: str) -> bool:
    return all(importlib.util.find_spec(m) for m in modules)


# One rank that trains with several loaders: it prints the seeds of each step of each epoch of each loader.
TRAINER = """
import json, sys
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from graphmill import BatchIter, NodeLoader

store, rank, world, rendezvous = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
dist.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=world)
model = DistributedDataParallel(torch.nn.Linear(1, 1))
optimiser = torch.optim.SGD(model.parameters(), lr=1e-6)
options = dict(batch_size=64, shuffle=True, seed=3, rank=rank, world_size=world)
ids = np.arange(320)
out = {}
for name, loader in {
    "NodeLoader": NodeLoader(store, [2], seeds=ids, **options),
    "NodeLoader, drop": NodeLoader(store, [2], seeds=ids, tail="drop", **options),
    "BatchIter": BatchIter(torch.from_numpy(ids), **options),
}.items():
    out[name] = []
    for epoch in range(3):
        steps = []
        for b in loader:
            seeds = b[0] if name == "BatchIter" else torch.from_numpy(b.input_id.copy())
            model(seeds[:, None].float()).mean().backward()
            optimiser.step()
            optimiser.zero_grad()
            # Each step is one of the same epoch on every rank.
            step = torch.tensor([epoch, len(steps)])
            dist.all_reduce(step)
            assert step.tolist() == [epoch * world, len(steps) * world], step
            steps.append(seeds.tolist())
            del b
        out[name].append(steps)
print(json.dumps([out, [p.tolist() for p in model.parameters()]]))
dist.destroy_process_group()
"""


@unittest.skipUnless(available("torch"), "torch is not installed")
class TestDistributed(unittest.TestCase):
    def train(self, world: int) -> list[Any]:
        file = made.path(f"{world}.rendezvous")
        run = [sys.executable, "-c", TRAINER, made.RMAT]
        ranks = [
            subprocess.Popen([*run, str(r), str(world), file], stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
            for r in range(world)
        ]
        try:
            out = [json.loads(p.communicate(timeout=120)[0]) for p in ranks]  # against a hang
        finally:
            for p in ranks:
                p.kill()
                p.wait()
                assert p.stdout
                p.stdout.close()
        self.assertTrue(all(parameters == out[0][1] for _, parameters in out))  # all ranks have the same model
        return [loaders for loaders, _ in out]

    def test_every_rank_steps_as_often(self) -> None:
        for world, each, dropped in ((3, 2, 1), (2, 3, 2)) if made.long(self, "two ranks") else ((3, 2, 1),):
            ranks = self.train(world)
            for name in ("BatchIter", "NodeLoader"):
                for epoch in range(3):
                    of = [rank[name][epoch] for rank in ranks]
                    self.assertEqual([len(steps) for steps in of], [each] * world)
                    self.assertEqual({s for steps in of for seeds in steps for s in seeds}, set(range(320)))
                    together = list(itertools.chain.from_iterable(zip(*of)))
                    self.assertEqual(together[5], together[0])
                self.assertNotEqual(ranks[0][name][0], ranks[0][name][1])
            self.assertEqual([[len(steps) for steps in rank["NodeLoader, drop"]] for rank in ranks], [[dropped] * 3] * world)


if available("torch"):
    import torch

    class Wrapped(torch.utils.data.IterableDataset):  # type: ignore[misc, unused-ignore]
        """A loader as a dataset of a DataLoader; it yields a batch's number or rows, as a list."""

        def __init__(self, loader: Any, seen: Callable[[Any], list[int]]) -> None:
            self.loader, self.seen = loader, seen

        def __iter__(self) -> Iterator[list[int]]:
            for b in self.loader:
                yield self.seen(b)

        def __len__(self) -> int:
            return len(self.loader)


def rows(batch: Any) -> list[int]:
    return list(batch[-1].tolist())


def seeds(batch: Any) -> list[int]:
    return list(batch.input_id.tolist())


def graphs(batch: Any) -> list[int]:
    return [i for i in batch.graph_id.ravel().tolist() if i >= 0]


LOADERS: dict[str, tuple[Callable[..., Any], Callable[[Any], list[int]]]] = {
    "BatchIter": (lambda **o: BatchIter(np.arange(103), batch_size=8, seed=2, **o), rows),
    "GroupBatchIter": (lambda **o: GroupBatchIter(np.repeat(np.arange(40), 3), np.arange(120), batch_size=3, seed=2, **o), rows),
    "rows": (lambda **o: GroupBatchIter(np.repeat(np.arange(40), 3), np.arange(120), batch_size=8, seed=2, count="rows", **o), rows),
    "bucketed": (lambda **o: GroupBatchIter(np.repeat(np.arange(15), np.arange(15) + 1), np.arange(120), batch_size=2, seed=2, bucketed=True, **o), rows),
    "PackedLoader": (lambda **o: PackedLoader(made.layout("molecules", "--reserve"), made.molecules(), batch=3, seed=2, **o), graphs),
    "NodeLoader": (lambda **o: NodeLoader(made.RMAT, [2], 64, np.arange(1000), shuffle=True, seed=2, **o), seeds),
}


@unittest.skipUnless(available("torch"), "torch is not installed")
class TestWorkers(unittest.TestCase):
    def data(self, loader: Any, seen: Callable[[Any], list[int]], workers: int, persistent: bool = False, method: str = "fork") -> Any:
        self.addCleanup(getattr(loader, "close", int))
        options: dict[str, Any] = dict(persistent_workers=persistent, multiprocessing_context=method) if workers else {}
        return torch.utils.data.DataLoader(Wrapped(loader, seen), batch_size=None, num_workers=workers, **options)

    def test_each_row_once_in_the_order_without_workers(self) -> None:
        for name, (make, seen) in LOADERS.items():
            plain = make()
            want = [[seen(b) for b in plain] for _ in range(3)]
            self.assertNotEqual(want[0], want[1])
            for drawn in want:
                self.assertEqual(len(set(sum(drawn, []))), len(sum(drawn, [])))
            for workers in range(4):
                for persistent in (False, True)[: workers + 1]:
                    loader = make()
                    data = self.data(loader, seen, workers, persistent)
                    self.assertEqual(len(data), len(want[0]))
                    for epoch in range(3 if persistent else 2):
                        # New workers of a pass are copies of the loader, whose epoch must be set.
                        if workers and not persistent:
                            loader.set_epoch(epoch)
                        self.assertEqual([list(b) for b in data], want[epoch], (name, workers, persistent, epoch))

    def test_spawned(self) -> None:
        for name in ("BatchIter", "NodeLoader") if made.long(self, "BatchIter") else ("NodeLoader",):
            make, seen = LOADERS[name]
            plain = make()
            want = [[seen(b) for b in plain] for _ in range(2)]
            data = self.data(make(), seen, 2, True, "spawn")
            self.assertEqual([[list(b) for b in data] for _ in range(2)], want)

    def test_ranks_of_workers(self) -> None:
        """Workers divide the batches of their rank: all of them, and no others."""
        for name, (make, seen) in LOADERS.items():
            for tail in ("fill", "drop"):
                for rank in range(2):
                    options = dict(rank=rank, world_size=2, tail=tail)
                    plain = make(**options)
                    want = [seen(b) for b in plain]
                    self.assertEqual(len(want), len(plain))
                    self.assertEqual([list(b) for b in self.data(make(**options), seen, 2)], want, (name, tail, rank))


if __name__ == "__main__":
    unittest.main()
