"""Predicts the section of Debian packages from their dependencies, maintainers and tags, with PyG's typed graphs.

    python train.py debian.store

Trains the same network with neighbours and without, on a tenth of the packages.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from graphmill import NodeLoader, Store
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

GOAL = 0.70  # validation accuracy for "time to accuracy"
SECTIONS, PRIORITIES, WIDTH = 58, 5, 64
NAMED = {"maintainer": 2248, "tag": 598}  # types without columns: each node has a learnt vector


class Net(torch.nn.Module):
    def __init__(self, edge_types: list[tuple[str, str, str]], neighbours: bool) -> None:
        super().__init__()
        self.neighbours = neighbours
        self.package = torch.nn.Linear(4 + PRIORITIES, WIDTH)
        self.named = torch.nn.ModuleDict({t: torch.nn.Embedding(n, WIDTH) for t, n in NAMED.items()})
        self.layers = torch.nn.ModuleList(HeteroConv({e: SAGEConv((-1, -1), WIDTH) for e in edge_types}, aggr="sum") for _ in range(2))
        self.out = torch.nn.Linear(WIDTH, SECTIONS)

    def forward(self, data: HeteroData) -> torch.Tensor:
        p = data["package"]
        numbers = torch.stack([p.size.log1p() / 10, p.installed_size.log1p() / 10, p.arch_all, p.essential], 1)
        h = {t: torch.zeros(data[t].num_nodes, WIDTH) for t in data.node_types}
        h["package"] = self.package(torch.cat([numbers, F.one_hot(p.priority, PRIORITIES)], 1)).relu()
        for t, vectors in self.named.items():
            h[t] = vectors(data[t].n_id)
        for layer in self.layers if self.neighbours else ():
            h |= {t: x.relu() for t, x in layer(h, data.edge_index_dict).items()}
        return self.out(h["package"][: p.batch_size])  # the seeds are the first nodes


@torch.no_grad()
def accuracy(model: Net, loader: NodeLoader) -> float:
    model.eval()
    right = total = 0
    for data in loader:
        n = data["package"].batch_size
        right += int((model(data).argmax(1) == data["package"].y[:n]).sum())
        total += n
    return right / total


def train(store: str, neighbours: bool, parts: list[np.ndarray]) -> tuple[float, float | None, float]:
    torch.manual_seed(0)
    options: dict[str, Any] = dict(seed_type="package", as_="pyg", label="section")
    loaders = [NodeLoader(store, [5, 3], 512, part, shuffle=i == 0, **options) for i, part in enumerate(parts)]
    batches, validate, test = loaders
    model = Net(Store(store).edge_types, neighbours)
    model(next(iter(validate)))  # PyG finds the widths of its layers on first use
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    reached, seconds = None, 0.0
    for _ in range(4):
        start = time.perf_counter()
        model.train()
        for data in batches:
            optimiser.zero_grad()
            F.cross_entropy(model(data), data["package"].y[: data["package"].batch_size]).backward()
            optimiser.step()
        seconds += time.perf_counter() - start
        now = accuracy(model, validate)
        if reached is None and now >= GOAL:
            reached = seconds
    result = accuracy(model, test)
    for loader in loaders:
        loader.close()
    return result, reached, batches.stats().waiting_share


def main(store: str) -> None:
    torch.set_num_threads(1)
    y = Store(store).nodes["package"]["section"]
    order = np.random.default_rng(0).permutation(len(y))
    parts = [order[:6000], order[6000:8000], order[8000:14000]]
    print(f"largest section: test accuracy {(y[parts[2]] == np.bincount(y[parts[0]]).argmax()).mean():.3f}")
    for name, neighbours in (("without neighbours", False), ("with neighbours", True)):
        result, reached, waited = train(store, neighbours, parts)
        goal = f"validation accuracy {GOAL:.2f} after {reached:.1f} s" if reached else f"validation accuracy {GOAL:.2f} not reached"
        print(f"{name}: test accuracy {result:.3f}, {goal}, waited {waited:.0%} of the time")


if __name__ == "__main__":
    main(sys.argv[1])
