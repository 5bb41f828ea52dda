"""Who orders again within 30 days: a heterogeneous GraphSAGE on the graph of a database, trained on early dates and judged on later ones.

    python train.py shop.store rows.csv

shop.store is the import of the database that shop.py writes, and rows.csv what rows.sql selects. Every row is a seed with a time of its
own, and its subgraph has only what had happened before. AUROC is the chance that a row with an order is ranked above one without.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from graphmill import NodeLoader
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

TRAIN, TEST = np.datetime64("2025-01-01", "s"), np.datetime64("2025-02-01", "s")  # train before the one, test from the other on
COLUMNS = {"people": ["age"], "items": ["lasts", "price"], "orders": ["amount"], "reviews": ["stars"]}
TIMED = ["orders", "reviews"]
LINKS = [("orders", "person", "people"), ("orders", "item", "items"), ("reviews", "person", "people"), ("reviews", "item", "items")]
WEEK = 7 * 86400  # seconds
FANOUT, BATCH, WIDTH, EPOCHS = [32, 8], 128, 64, 10


class Net(torch.nn.Module):
    """Two layers over the keys in both directions. Rows with a time have their age before the seed's time too, in two forms."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = torch.nn.ModuleList([torch.nn.Linear(len(c) + 2 * (t in TIMED), WIDTH) for t, c in COLUMNS.items()])
        both = LINKS + [(p, f"rev_{rel}", t) for t, rel, p in LINKS]
        self.layers = torch.nn.ModuleList([HeteroConv({e: SAGEConv(WIDTH, WIDTH, aggr="sum") for e in both}) for _ in range(2)])
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(WIDTH) for _ in range(2)])
        self.out = torch.nn.Linear(WIDTH, 1)

    def forward(self, batch: HeteroData) -> torch.Tensor:
        """The score of each seed. `batch` has `x` by type, [nodes, columns]; the times of orders and reviews as `at`; and `seed_time` of people, in seconds."""
        h = {}
        for t, enter in zip(COLUMNS, self.enter):
            x = batch[t].x.float()
            x = x.sign() * x.abs().log1p()
            if t in TIMED:
                age = (batch["people"].seed_time[batch[t].batch] - batch[t].at).float() / WEEK
                x = torch.cat([x, torch.stack([age.log1p(), torch.exp(-age / 4)], 1)], 1)
            h[t] = enter(x).relu()
        for layer, norm in zip(self.layers, self.norms):
            h = {t: norm(x).relu() for t, x in layer(h, batch.edge_index_dict).items()}
        return self.out(h["people"][: batch["people"].batch_size]).flatten()  # the seeds are the first people


def auroc(score: np.ndarray, label: np.ndarray) -> float:
    """Area under the ROC curve; equal scores count half."""
    _, at, count = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[at]
    ones = int(label.sum())
    return float((rank[label == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(label) - ones)))


def check(batch: HeteroData) -> None:
    """No order or review of the batch is as late as the time of its seed, or later."""
    for t in TIMED:
        assert (batch[t].at < batch["people"].seed_time[batch[t].batch]).all(), f"found {t} at or after the time of their seed"


def learn(fit: Iterable[HeteroData], test: Iterable[HeteroData], parts: Sequence[np.ndarray], seed: int) -> tuple[float, float]:
    """Test AUROC, and seconds of training. `fit` and `test` are batches of the two parts of the rows; `input_id` is the position of a seed in its part."""
    labels = [torch.from_numpy(p["again"].astype(np.float32)) for p in parts]
    torch.manual_seed(seed)
    model = Net()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    began = time.perf_counter()
    for _ in range(EPOCHS):
        for batch in fit:
            check(batch)
            optimiser.zero_grad()
            F.binary_cross_entropy_with_logits(model(batch), labels[0][batch["people"].input_id]).backward()
            optimiser.step()
    seconds = time.perf_counter() - began
    score, label = [], []
    with torch.no_grad():
        for batch in test:
            check(batch)
            score.append(model(batch).numpy())
            label.append(labels[1][batch["people"].input_id].numpy())
    return auroc(np.concatenate(score), np.concatenate(label)), seconds


def rows(path: str) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the rows to train on, and of those to test: person, at, again and recent."""
    table: np.ndarray = np.genfromtxt(path, delimiter=",", names=True, dtype=np.int64)
    early, late = table["at"] < TRAIN.astype(np.int64), table["at"] >= TEST.astype(np.int64)
    return table[early], table[late]


def report(name: str, runs: list[tuple[float, float]], more: str = "") -> None:
    """Prints the mean AUROC of the runs of `learn`, and the AUROC of each run."""
    found = [a for a, _ in runs]
    print(
        f"{name}: test AUROC {statistics.mean(found):.3f} ({', '.join(f'{a:.3f}' for a in found)}), each after {statistics.mean(s for _, s in runs):.1f} s of training{more}"
    )


def main(store: str, path: str, seeds: int = 5) -> None:
    torch.set_num_threads(1)
    parts = rows(path)
    print(f"{len(parts[0])} rows to train on, {len(parts[1])} to test")
    print(f"orders of the last 30 days: test AUROC {auroc(parts[1]['recent'], parts[1]['again']):.3f}")

    def batches(part: np.ndarray, seed: int, shuffle: bool) -> NodeLoader:
        # Seeds are row numbers of the store, which are in the order of the key: here the key itself.
        return NodeLoader(
            store,
            FANOUT,
            BATCH,
            part["person"],
            "people",
            as_="pyg",
            x=COLUMNS,
            shuffle=shuffle,
            seed=seed,
            scope="seed",
            before_nodes=dict.fromkeys(TIMED, "at"),
            seed_time=part["at"],
        )

    runs, waited = [], []
    for seed in range(seeds):
        with batches(parts[0], seed, True) as fit, batches(parts[1], seed, False) as test:
            runs.append(learn(fit, test, parts, seed))
            waited.append(fit.stats().waiting_share)
    report("graphmill", runs, f", waited {statistics.mean(waited):.0%} of the time for batches")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
