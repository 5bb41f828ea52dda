"""Trains on a graph that is larger than the memory of the loader.

    python train.py STORE [MEMORY]

STORE is the import of what prepare.py wrote, and MEMORY the bound of the feed (default: 80MiB). The same network is trained
with neighbours and without. It is plain PyTorch: a layer takes each node's values and the mean of its neighbours'.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch
import torch.nn.functional as F
from graphmill import NodeBatch, NodeLoader

FIELDS, WIDTH, EPOCHS = 16, 64, 3


class Net(torch.nn.Module):
    def __init__(self, columns: int, neighbours: bool) -> None:
        super().__init__()
        self.neighbours = neighbours
        self.own = torch.nn.ModuleList([torch.nn.Linear(columns, WIDTH), torch.nn.Linear(WIDTH, WIDTH)])
        self.mean = torch.nn.ModuleList([torch.nn.Linear(columns, WIDTH), torch.nn.Linear(WIDTH, WIDTH)])
        self.out = torch.nn.Linear(WIDTH, FIELDS)

    def forward(self, batch: NodeBatch) -> torch.Tensor:
        h = torch.from_numpy(batch.x["x"]).float()
        src, dst = torch.from_numpy(batch.edge_index)
        degree = torch.zeros(len(h)).index_add_(0, dst, torch.ones(len(dst))).clamp_(min=1)
        for own, mean in zip(self.own, self.mean):
            of = own(h)
            if self.neighbours:
                of = of + mean(torch.zeros_like(h).index_add_(0, dst, h[src]) / degree[:, None])
            h = of.relu()
        return self.out(h[: batch.batch_size])  # the seeds are the first nodes


def labels(batch: NodeBatch) -> torch.Tensor:
    return torch.from_numpy(batch.x["field"][: batch.batch_size])


@torch.no_grad()
def accuracy(model: Net, loader: NodeLoader) -> float:
    right = total = 0
    for batch in loader:
        right += int((model(batch).argmax(1) == labels(batch)).sum())
        total += batch.batch_size
    return right / total


def train(store: str, memory: str, neighbours: bool) -> None:
    torch.manual_seed(0)
    options: dict[str, Any] = dict(fanout=[10, 5], batch_size=256, threads=2, features=["x", "field"], memory=memory, edge_ids=False)
    began = time.perf_counter()
    with NodeLoader(store, seeds="paper:split=0", shuffle=True, **options) as loader, NodeLoader(store, seeds="paper:split=1", **options) as valid:
        if neighbours:
            print("\n".join(loader.notes))
        model = Net(next(iter(valid)).x["x"].shape[1], neighbours)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(EPOCHS):
            for batch in loader:
                optimiser.zero_grad()
                F.cross_entropy(model(batch), labels(batch)).backward()
                optimiser.step()
        found = accuracy(model, valid)
        stats = loader.stats()
    name = "with neighbours" if neighbours else "without"
    print(f"{name}: validation accuracy {found:.3f} after {time.perf_counter() - began:.1f} s, waited {stats.waiting_share:.0%} of the time for batches")


def main() -> None:
    store, memory = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "80MiB"
    train(store, memory, True)
    train(store, memory, False)


if __name__ == "__main__":
    main()
