#!/usr/bin/env python3
"""Writes random molecules as a graph.yaml with arrays, for Graphmill and for programs that read the arrays alone.

usage: random_molecules.py HIST.csv COPIES WIDTH FOLDER

HIST.csv has the columns num_nodes, num_edges and count; there are COPIES x count graphs of each size, in a random order. Each has random edges between its own
atoms, WIDTH float32 per atom (x) and one label. Equal NumPy versions give equal bytes.
"""

from __future__ import annotations

import csv
import pathlib
import sys

import numpy as np

YAML = """graphs: {columns: {label: label.npy}}
nodes:
  atom: {graph_ptr: atom_ptr.npy, columns: {x: x.npy}}
edges:
  atom:bond:atom: {graph_ptr: bond_ptr.npy, src: src.npy, dst: dst.npy, ends: local}
"""


def main(histogram: str, copies: int, width: int, folder: pathlib.Path) -> None:
    partial = folder.with_name(f"{folder.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    with open(histogram) as f:
        rows = np.array([(int(r["num_nodes"]), int(r["num_edges"]), int(r["count"])) for r in csv.DictReader(f)])
    draw = np.random.default_rng(1)
    atoms, bonds = draw.permutation(np.repeat(rows[:, :2], copies * rows[:, 2], axis=0)).T
    of = np.repeat(atoms, bonds)  # atoms of the graph of each edge
    arrays = {
        "atom_ptr": np.append(0, np.cumsum(atoms)),
        "bond_ptr": np.append(0, np.cumsum(bonds)),
        "src": draw.integers(0, of),
        "dst": draw.integers(0, of),
        "x": draw.random((atoms.sum(), width), np.float32),
        "label": draw.integers(0, 2, len(atoms)),
    }
    for name, array in arrays.items():
        np.save(partial / f"{name}.npy", array)
    (partial / "graph.yaml").write_text(YAML)
    partial.rename(folder)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4]))
