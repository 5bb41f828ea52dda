"""Two layers of GraphSAGE for all nodes of a graph, by Graphmill and by the peers' own ways of inference.

usage: peer_inference.py STORE FEATURES.npy --by graphmill|graphmill-bipartite|graphmill-dgl|pyg|dgl [--batch-size N]

Prints one JSON. STORE and FEATURES.npy are as for peer_loader.py. pyg is PyG's BasicGNN.inference with a NeighborLoader that
takes all neighbours; dgl is the loop of DGL's examples with MultiLayerFullNeighborSampler(1). Both hold all outputs in memory;
Graphmill writes them to files. The sum of the outputs says that the work is the same.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from peer_loader import adjacency

HIDDEN, CLASSES = 128, 47


def graphmill(args: argparse.Namespace, x: npt.NDArray[Any], **options: Any) -> tuple[float, float]:
    import graphmill as g

    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        began = time.perf_counter()
        out = g.inference(args.store, options.pop("layers"), os.path.join(folder, "out"), x=x, **options)
        return time.perf_counter() - began, float(out.sum(dtype=np.float64))


def of_pyg(args: argparse.Namespace, x: npt.NDArray[Any]) -> Any:
    from torch_geometric.nn.models import GraphSAGE

    torch.manual_seed(1)
    return GraphSAGE(x.shape[1], HIDDEN, num_layers=2, out_channels=CLASSES).eval()


def of_dgl(args: argparse.Namespace, x: npt.NDArray[Any]) -> list[Callable[..., Any]]:
    import dgl.nn

    torch.manual_seed(1)
    a, b = dgl.nn.SAGEConv(x.shape[1], HIDDEN, "mean").eval(), dgl.nn.SAGEConv(HIDDEN, CLASSES, "mean").eval()
    return [lambda block, h: a(block, h).relu(), b]


def pyg(args: argparse.Namespace, x: npt.NDArray[Any]) -> tuple[float, float]:
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    model = of_pyg(args, x)
    indptr, far = adjacency(args.store)
    dst = torch.repeat_interleave(torch.arange(len(x)), indptr.diff())
    data = Data(x=torch.from_numpy(x), edge_index=torch.stack([far, dst]), num_nodes=len(x))
    loader = NeighborLoader(data, [-1], batch_size=args.batch_size, is_sorted=True)
    began = time.perf_counter()
    out = model.inference(loader)
    return time.perf_counter() - began, float(out.double().sum())


def dgl(args: argparse.Namespace, x: npt.NDArray[Any]) -> tuple[float, float]:
    import dgl as d

    layers = of_dgl(args, x)
    indptr, far = adjacency(args.store)
    graph = d.graph(("csc", (indptr, far, torch.empty(0, dtype=torch.int64))))
    loader = d.dataloading.DataLoader(graph, torch.arange(len(x)), d.dataloading.MultiLayerFullNeighborSampler(1), batch_size=args.batch_size)
    began, h = time.perf_counter(), torch.from_numpy(x)
    with torch.no_grad():
        for layer in layers:
            h = torch.cat([layer(blocks[0], h[nodes]) for nodes, _, blocks in loader])
    return time.perf_counter() - began, float(h.double().sum())


BY = {
    "graphmill": lambda args, x: graphmill(args, x, layers=of_pyg(args, x)),
    "graphmill-bipartite": lambda args, x: graphmill(args, x, layers=of_pyg(args, x), as_="bipartite"),
    "graphmill-dgl": lambda args, x: graphmill(args, x, layers=of_dgl(args, x), as_="dgl"),
    "pyg": pyg,
    "dgl": dgl,
}


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("store")
    p.add_argument("features")
    p.add_argument("--by", required=True, choices=list(BY))
    p.add_argument("--batch-size", type=int, default=1024, help="nodes per batch of a peer; Graphmill has its default")
    p.add_argument("--work", help="folder of Graphmill's outputs")
    args = p.parse_args()
    x = np.load(args.features)
    seconds, total = BY[args.by](args, x)
    print(json.dumps({"nodes": len(x), "seconds": seconds, "nodes_per_second": len(x) / seconds, "sum": total}))


if __name__ == "__main__":
    main()
