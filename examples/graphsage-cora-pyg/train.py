"""GraphSAGE on Cora with PyG: training with sampled neighbours is as good as with all neighbours.

    python train.py cora.store
    python train.py cora.store 3      # with three random seeds in place of ten

Trains the same model on the same splits twice, on sampled and on full neighbourhoods, with ten random seeds each, or as many as are given.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from graphmill import NodeLoader, Store
from torch_geometric.nn import SAGEConv

GOAL = 0.72  # validation accuracy for "time to accuracy"


class SAGE(torch.nn.Module):
    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = SAGEConv(features, 64), SAGEConv(64, classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        h = F.dropout(x, 0.5, self.training)
        h = F.dropout(self.conv1(h, edge_index).relu(), 0.5, self.training)
        return self.conv2(h, edge_index)


def split(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """20 papers of each class to train, 500 to validate, 1,000 to test."""
    order = np.random.default_rng(seed).permutation(len(y))
    train = np.concatenate([order[y[order] == c][:20] for c in np.unique(y)])
    rest = order[~np.isin(order, train)]
    return train, rest[:500], rest[500:1500]


def train(store: Store, fanout: list[int], seed: int) -> tuple[float, float | None, float]:
    """Test accuracy at the epoch with the best validation accuracy, seconds to the goal, and the share of waiting."""
    torch.manual_seed(seed)
    paper, cites = store.nodes["paper"], store.edges["cites"]
    x, y, edges = (torch.from_numpy(np.array(v)) for v in (paper["x"], paper["y"], cites.edge_index()))
    fit, check, test = split(y.numpy(), seed)
    model = SAGE(x.shape[1], int(y.max()) + 1)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, result, reached, seconds = 0.0, 0.0, None, 0.0
    with NodeLoader(store.path, fanout, 64, fit, shuffle=True, seed=seed, as_="pyg", label="y") as loader:
        for _ in range(20):
            start = time.perf_counter()
            model.train()
            for data in loader:
                papers = data["paper"]
                out = model(papers.x, data["cites"].edge_index)[: papers.batch_size]  # the seeds are the first nodes
                optimiser.zero_grad()
                F.cross_entropy(out, papers.y[: papers.batch_size]).backward()
                optimiser.step()
            seconds += time.perf_counter() - start
            model.eval()
            with torch.no_grad():  # on the whole graph
                right = (model(x, edges).argmax(1) == y).float()
            now = float(right[check].mean())
            if now >= GOAL and reached is None:
                reached = seconds
            if now > best:
                best, result = now, float(right[test].mean())
        return result, reached, loader.stats().waiting_share


def main(path: str, seeds: int = 10) -> None:
    torch.set_num_threads(1)
    store = Store(path)
    for name, fanout in (("sampled", [10, 10]), ("full", [-1, -1])):
        runs = [train(store, fanout, seed) for seed in range(seeds)]
        times = [t for _, t, _ in runs if t is not None]
        print(
            f"{name}: test accuracy {statistics.mean(r for r, _, _ in runs):.3f} ({', '.join(f'{r:.3f}' for r, _, _ in runs)}), "
            f"validation accuracy {GOAL:.2f} after {statistics.mean(times) if times else float('nan'):.1f} s in {len(times)} of {len(runs)} runs, "
            f"waited {statistics.mean(w for _, _, w in runs):.0%} of the time"
        )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
