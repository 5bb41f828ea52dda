"""Writes MUTAG as the tables of a collection: 188 molecules with a class each, atoms with a kind, and bonds.

    python prepare.py DATA mutag && graphmill import mutag --out mutag.coll

DATA has the arrays that are named below. Each molecule gets one of ten folds at random.
"""

import pathlib
import shutil
import sys

import numpy as np

GRAPH = """\
graphs: {columns: {label: graph_label.npy, fold: fold.npy}}
nodes:
  atom: {graph_ptr: graph_node_ptr.npy, columns: {kind: node_tag.npy}}
edges:
  atom:bond:atom: {graph_ptr: graph_edge_ptr.npy, src: edge_src_local.npy, dst: edge_dst_local.npy, ends: local}
"""


def main(data: pathlib.Path, out: pathlib.Path) -> None:
    out.mkdir()
    for name in ("graph_node_ptr", "node_tag", "graph_edge_ptr", "edge_src_local", "edge_dst_local"):
        shutil.copy(data / f"{name}.npy", out)
    classes = np.unique(np.load(data / "graph_label.npy"), return_inverse=True)[1]
    np.save(out / "graph_label.npy", classes.astype(np.int32))
    fold = np.random.default_rng(0).permutation(len(classes)).astype(np.int32) % 10
    np.save(out / "fold.npy", fold)
    (out / "graph.yaml").write_text(GRAPH)


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
