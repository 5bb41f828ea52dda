"""Writes Cora as tables that graphmill imports: 2,708 papers, their words and subjects, 5,429 citations.

    python prepare.py DATA cora && graphmill import cora --out cora.store

DATA has edges.csv.gz (src,dst), labels.npy, and the words of each paper in feat_indptr.npy and feat_indices.npy.
"""

import pathlib
import shutil
import sys

import numpy as np

GRAPH = """\
nodes:
  paper: {columns: {x: x.npy, y: labels.npy}}
edges:
  paper:cites:paper: {table: edges.csv.gz, symmetrise: true}
"""


def main(data: pathlib.Path, out: pathlib.Path) -> None:
    out.mkdir()
    indptr, words = np.load(data / "feat_indptr.npy"), np.load(data / "feat_indices.npy")
    x = np.zeros((len(indptr) - 1, words.max() + 1), np.float32)
    x[np.repeat(np.arange(len(x)), np.diff(indptr)), words] = 1
    np.save(out / "x.npy", x)
    for name in ("labels.npy", "edges.csv.gz"):
        shutil.copy(data / name, out)
    (out / "graph.yaml").write_text(GRAPH)


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
