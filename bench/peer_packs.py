#!/usr/bin/env python3
"""Makes batches of packed molecules with features in memory, by Graphmill and by other programs, and times an epoch.

  peer_packs.py numpy|jraph-form|pyg-form FOLDER NODES EDGES --layout PLAN --collection COLL    graphmill.PackedLoader, by its as_=
  peer_packs.py jraph FOLDER NODES EDGES    jraph.dynamically_batch: padded to the limits
  peer_packs.py pyg FOLDER NODES EDGES      PyG's DataLoader with DynamicBatchSampler by nodes, without workers: not padded

FOLDER is the output of random_molecules.py. The graphs of jraph and PyG are views of its arrays, made before the clock starts, in a fixed
shuffle. Graphmill reads the mapped collection, in an epoch's order of its own. Prints one JSON: packs, graphs per second, and for padded packs the bytes of their arrays per second (0 for PyG).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

CAP = 256


class Molecules:
    """The arrays of a folder, and views of each graph."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
        self.order = np.random.default_rng(2).permutation(len(self.arrays["label"]))

    def views(self) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]]:
        a = self.arrays
        for i in self.order:
            atoms, bonds = slice(*a["atom_ptr"][i : i + 2]), slice(*a["bond_ptr"][i : i + 2])
            yield a["x"][atoms], a["src"][bonds], a["dst"][bonds], a["label"][i : i + 1]


def bytes_of(tree: Any) -> int:
    """Bytes of all arrays in nested dicts, tuples and objects of a batch."""
    if isinstance(tree, np.ndarray):
        return tree.nbytes
    if isinstance(tree, dict):
        return sum(map(bytes_of, tree.values()))
    if isinstance(tree, tuple):
        return sum(map(bytes_of, tree))
    return sum(map(bytes_of, vars(tree).values())) if hasattr(tree, "__dict__") else 0


def ours(args: argparse.Namespace, form: str) -> tuple[Iterable[Any], int]:
    from graphmill import PackedLoader

    loader = PackedLoader(args.layout, args.collection, as_=form, seed=1)
    next(iter(loader))  # imports the framework
    return loader, len(np.load(args.folder / "label.npy", mmap_mode="r"))


def jraph_batches(args: argparse.Namespace) -> tuple[Iterable[Any], int]:
    import jraph

    graphs = [
        jraph.GraphsTuple(
            nodes={"x": x},
            edges=None,
            senders=src.astype(np.int32),
            receivers=dst.astype(np.int32),
            globals={"label": label},
            n_node=np.array([len(x)], np.int32),
            n_edge=np.array([len(src)], np.int32),
        )
        for x, src, dst, label in Molecules(args.folder).views()
    ]
    # One node and one graph of each batch are padding.
    return jraph.dynamically_batch(iter(graphs), n_node=args.limits[0] + 1, n_edge=args.limits[1], n_graph=CAP + 1), len(graphs)


def pyg_batches(args: argparse.Namespace) -> tuple[Iterable[Any], int]:
    import torch
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader, DynamicBatchSampler

    torch.set_num_threads(1)
    tensor = torch.from_numpy
    graphs = [Data(x=tensor(x), edge_index=tensor(np.stack([src, dst])), y=tensor(label)) for x, src, dst, label in Molecules(args.folder).views()]
    sampler = DynamicBatchSampler(graphs, max_num=args.limits[0], mode="node", num_steps=len(graphs))
    return DataLoader(graphs, batch_sampler=sampler), len(graphs)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["numpy", "jraph-form", "pyg-form", "jraph", "pyg"])
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("limits", type=int, nargs=2)
    p.add_argument("--layout")
    p.add_argument("--collection")
    args = p.parse_args()
    if args.what in ("jraph", "pyg"):
        batches, graphs = (jraph_batches if args.what == "jraph" else pyg_batches)(args)
    else:
        batches, graphs = ours(args, args.what.removesuffix("-form"))
    size = 0
    start = time.perf_counter()
    packs = 0
    for b in batches:
        packs += 1
        if packs == 1 and not args.what.startswith("pyg"):
            size = bytes_of(b)
    seconds = time.perf_counter() - start
    print(json.dumps({"packs": packs, "seconds": seconds, "graphs_per_second": graphs / seconds, "bytes_per_second": packs * size / seconds}))


if __name__ == "__main__":
    main()
