"""What the trainings with PyG and with DGL have in common, besides their data."""

import json
import sys

import numpy as np
import torch


def tensors(folder):
    """The arrays of prepare.py."""
    return {k: torch.from_numpy(x) for k, x in np.load(f"{folder}/arrays.npz").items()}


def some(x, n, seed):
    """A random n of the last axis."""
    return x[..., torch.randperm(x.shape[-1], generator=torch.Generator().manual_seed(seed))[:n]]


def descend(optimiser, loss):
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def mrr(h, test, others):
    """The mean reciprocal rank of the targets among other nodes; equal scores share their ranks."""
    true = (h[test[0]] * h[test[1]]).sum(1, keepdim=True)
    other = torch.einsum("ld,lkd->lk", h[test[0]], h[others])
    rank = 1 + (other > true).sum(1) + (other == true).sum(1) / 2
    return float((1 / rank).mean())


def main(trainings, what, folder, seeds):
    """Runs a training for each of its contestants and random seeds; trainings: by name, the function and the contestants."""
    torch.set_num_threads(1)
    train, contestants = trainings[what]
    results = {}
    for who in contestants:
        results[who] = []
        for seed in range(int(seeds)):
            torch.manual_seed(seed)
            results[who].append(train(folder, who, seed))
            print(f"{what}, {who}, {seed}: {results[who][-1]:.4f}", file=sys.stderr, flush=True)
    print(json.dumps(results))
