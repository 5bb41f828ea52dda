"""Learning to rank with whole queries as batches: compares a list-wise loss with a point-wise one.

    python train.py DATA

DATA is the folder of LightGBM's ranking example: rank.train.gz and rank.test.gz (LibSVM: a grade of 0 to 4 and 300
features), and .query.gz with the rows of each query. The same network is trained with both losses.
"""

from __future__ import annotations

import gzip
import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from graphmill import BatchIter, GroupBatchIter

GOAL = 0.70  # validation NDCG@10 for "time to accuracy"
SEEDS = range(5)


def read(data: pathlib.Path, part: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Features, grades and the query of each row."""
    with gzip.open(data / f"rank.{part}.query.gz", "rt") as f:
        sizes = [int(line) for line in f]
    query = np.repeat(np.arange(len(sizes)), sizes)
    x, y = np.zeros((len(query), 301), np.float32), np.zeros(len(query), np.float32)
    with gzip.open(data / f"rank.{part}.gz", "rt") as f:
        for row, line in enumerate(f):
            y[row], *cells = line.split()
            for cell in cells:
                column, value = cell.split(":")
                x[row, int(column)] = value
    return torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(query)


def ndcg(scores: torch.Tensor, y: torch.Tensor, query: torch.Tensor, k: int = 10) -> float:
    """Mean of NDCG@k over the queries that have an answer of a grade above 0."""
    every = GroupBatchIter(query, scores, y, batch_size=len(query), shuffle=False, form="padded")
    ((_, scores, y, mask),) = every  # [queries, longest]
    gains = 2**y - 1  # padding has grade 0, and so no gain
    discount = 1 / torch.log2(torch.arange(2, 2 + k))
    order = scores.masked_fill(~mask, -torch.inf).argsort(dim=1, descending=True, stable=True)
    found = (gains.gather(1, order)[:, :k] * discount).sum(1)
    best = (gains.sort(1, descending=True).values[:, :k] * discount).sum(1)
    return float((found / best)[best > 0].mean())


def pointwise(model: torch.nn.Module, xb: torch.Tensor, yb: torch.Tensor) -> torch.Tensor:
    """The squared error of each row's grade."""
    return F.mse_loss(model(xb).squeeze(-1), yb)


def listwise(model: torch.nn.Module, _: torch.Tensor, xb: torch.Tensor, yb: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Cross-entropy per query, of the softmax of its scores and each answer's share of the gain."""
    scores = model(xb).squeeze(-1).masked_fill(~mask, -torch.inf).log_softmax(1)
    gains = 2**yb - 1
    shares = gains / gains.sum(1, keepdim=True).clamp(min=1)
    return -(shares * scores.masked_fill(~mask, 0)).sum(1).mean()


def train(
    make: Callable[..., Iterable[Any]], loss: Callable[..., torch.Tensor], rows: dict[str, tuple[torch.Tensor, torch.Tensor, torch.Tensor]], seed: int
) -> tuple[float, float | None, float]:
    """Test NDCG@10 at the epoch with the best validation NDCG, seconds to the goal, and the share of time spent on batches."""
    torch.manual_seed(seed)
    kept = rows["train"][2] % 5 != 0  # every fifth query validates
    fit, check = ([v[part] for v in rows["train"]] for part in (kept, ~kept))
    model = torch.nn.Sequential(torch.nn.Linear(301, 64), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(64, 1))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-3)
    batches = make(*fit, seed)  # made once, because each pass over it is the next epoch
    best, result, reached, seconds, waited = 0.0, 0.0, None, 0.0, 0.0
    for _ in range(20):
        model.train()
        start = asked = time.perf_counter()
        for batch in batches:
            waited += time.perf_counter() - asked
            optimiser.zero_grad()
            loss(model, *batch).backward()
            optimiser.step()
            asked = time.perf_counter()
        seconds += time.perf_counter() - start
        model.eval()
        with torch.no_grad():
            now = ndcg(model(check[0]).squeeze(-1), *check[1:])
            if now >= GOAL and reached is None:
                reached = seconds
            if now > best:
                best, result = now, ndcg(model(rows["test"][0]).squeeze(-1), *rows["test"][1:])
    return result, reached, waited / seconds


def main(data: pathlib.Path) -> None:
    torch.set_num_threads(1)
    rows = {part: read(data, part) for part in ("train", "test")}
    losses: dict[str, tuple[Callable[..., torch.Tensor], Callable[..., Iterable[Any]]]] = {
        "point-wise": (pointwise, lambda x, y, _, seed: BatchIter(x, y, batch_size=128, seed=seed)),
        "list-wise": (listwise, lambda x, y, query, seed: GroupBatchIter(query, x, y, batch_size=8, form="padded", seed=seed)),
    }
    _x, y, query = rows["test"]
    print(f"no model: NDCG@10 {ndcg(torch.zeros(len(y)), y, query):.3f}")
    for name, (loss, make) in losses.items():
        runs = [train(make, loss, rows, seed) for seed in SEEDS]
        times = [t for _, t, _ in runs if t is not None]
        print(
            f"{name}: NDCG@10 {statistics.mean(r for r, _, _ in runs):.3f} ({', '.join(f'{r:.3f}' for r, _, _ in runs)}), "
            f"validation NDCG@10 {GOAL:.2f} after {statistics.mean(times) if times else float('nan'):.1f} s in {len(times)} of {len(runs)} runs, "
            f"waited {statistics.mean(w for _, _, w in runs):.0%} of the time"
        )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
