"""Return probabilities of random walks by PyG, and the graph for them.

usage: peer_structure.py make --nodes N --edges M FOLDER   edges.npy, and the features.yaml that graphmill imports
       peer_structure.py run FOLDER --out FILE             AddRandomWalkPE of 16 steps, as NumPy

The graph is uniform, and a walk takes an edge in both directions. Prints one JSON.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time

import numpy as np

STEPS = 16

parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["make", "run"])
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--nodes", type=int, default=5_000)
parser.add_argument("--edges", type=int, default=50_000)
parser.add_argument("--out", type=pathlib.Path)
args = parser.parse_args()


def make() -> None:
    args.folder.mkdir(parents=True, exist_ok=True)
    np.save(args.folder / "edges.npy", np.random.default_rng(0).integers(0, args.nodes, (args.edges, 2)).astype(np.uint32))
    (args.folder / "features.yaml").write_text(
        f"nodes:\n  _N:\n    features:\n      pe: [{{structure: random-walk-pe, steps: {STEPS}, method: exact}}]\n", encoding="utf-8"
    )


def run() -> None:
    import torch
    from torch_geometric.data import Data
    from torch_geometric.transforms import AddRandomWalkPE

    torch.set_num_threads(1)
    src, dst = np.load(args.folder / "edges.npy").astype(np.int64).T
    both = torch.from_numpy(np.stack([np.concatenate([src, dst]), np.concatenate([dst, src])]))
    start = time.perf_counter()
    data = AddRandomWalkPE(STEPS)(Data(edge_index=both, num_nodes=args.nodes))
    with args.out.open("wb") as f:  # np.save would change the name
        np.save(f, data.random_walk_pe.numpy())
    print(json.dumps({"nodes": args.nodes, "nodes_per_second": args.nodes / (time.perf_counter() - start)}))


if args.command == "make":
    make()
else:
    run()
