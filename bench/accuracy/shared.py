"""What the trainings with PyG and with DGL have in common, besides their data."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch


def tensors(folder: str) -> dict[str, Any]:
    """The arrays that prepare.py wrote, as tensors, by name."""
    return {k: torch.from_numpy(x) for k, x in np.load(f"{folder}/arrays.npz").items()}


def some(x: Any, n: int, seed: int) -> Any:
    """n random columns of x, in random order: a choice along the last axis."""
    return x[..., torch.randperm(x.shape[-1], generator=torch.Generator().manual_seed(seed))[:n]]


def descend(optimiser: Any, loss: Any) -> None:
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def mrr(h: Any, test: Any, others: Any) -> float:
    """The mean reciprocal rank of the targets among other nodes; equal scores share their ranks."""
    true = (h[test[0]] * h[test[1]]).sum(1, keepdim=True)
    other = torch.einsum("ld,lkd->lk", h[test[0]], h[others])
    rank = 1 + (other > true).sum(1) + (other == true).sum(1) / 2
    return float((1 / rank).mean())


def main(trainings: Mapping[str, tuple[Callable[[str, str, int], float], tuple[str, ...]]], what: str, folder: str, seeds: str) -> None:
    """Runs a training for each of its contestants and random seeds; trainings: by name, the function and the contestants."""
    torch.set_num_threads(1)
    train, contestants = trainings[what]
    results: dict[str, list[float]] = {}
    for who in contestants:
        results[who] = []
        for seed in range(int(seeds)):
            torch.manual_seed(seed)
            results[who].append(train(folder, who, seed))
            print(f"{what}, {who}, {seed}: {results[who][-1]:.4f}", file=sys.stderr, flush=True)
    print(json.dumps(results))
