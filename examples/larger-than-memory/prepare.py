"""Writes a graph whose columns and neighbours can be larger than memory, in little memory.

    python prepare.py FOLDER [SCALE [COLUMNS]]

The graph has 2^SCALE papers (default: 18) of 16 fields, 16 citations of each, and COLUMNS float16 values per paper (default: 64). Two
of three citations stay in the field. The values are noise and a weak trace of the field, so a paper alone says little and
its neighbours say more. A twentieth of the papers is for training, and a hundredth for validation. `graphmill import FOLDER` reads the folder.
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np

FIELDS, DEGREE, TRACE = 16, 16, 0.2
BLOCK = 1 << 16  # papers that are in memory at a time
TRAIN, VALID, REST = 0, 1, 2

GRAPH = """nodes:
  paper: {columns: {x: x.npy, field: field.npy, split: split.npy}}
edges:
  paper:cites:paper: {table: cites.npy}
"""


def main() -> None:
    folder, scale = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 18
    columns = int(sys.argv[3]) if len(sys.argv) > 3 else 64
    folder.mkdir(parents=True)
    n, r = 1 << scale, np.random.default_rng(0)

    def array(name: str, shape: tuple[int, ...], dtype: type[np.generic]) -> np.ndarray:
        return np.lib.format.open_memmap(folder / name, "w+", dtype, shape)

    x, field, split = array("x.npy", (n, columns), np.float16), array("field.npy", (n,), np.int64), array("split.npy", (n,), np.int8)
    cites = array("cites.npy", (n * DEGREE, 2), np.int64)
    centres = r.standard_normal((FIELDS, columns))
    for first in range(0, n, BLOCK):
        papers = np.arange(first, min(first + BLOCK, n))
        m = len(papers)
        of = papers % FIELDS  # papers of field f are f, f + FIELDS, ...
        field[papers] = of
        x[papers] = TRACE * centres[of] + r.standard_normal((m, columns))
        u = r.random(m)
        split[papers] = np.where(u < 0.05, TRAIN, np.where(u < 0.06, VALID, REST))
        # Few papers have many citations, as in an R-MAT graph.
        cited = (r.random((m, DEGREE)) ** 2 * n).astype(np.int64)
        stays = r.random((m, DEGREE)) < 2 / 3
        cited = np.where(stays, cited // FIELDS * FIELDS + of[:, None], cited)
        rows = slice(first * DEGREE, (first + m) * DEGREE)
        cites[rows, 0], cites[rows, 1] = cited.ravel(), np.repeat(papers, DEGREE)
    (folder / "graph.yaml").write_text(GRAPH)


if __name__ == "__main__":
    main()
