#!/usr/bin/env python3
"""Makes the typed graph "debian_contents": files in folders, folders in folders, packages that hold
files and need packages, as arrays that `graphmill import` and peer_dgl.py read.

usage: debian_typed.py debian_contents.tar.gz FOLDER      (needs NumPy)
       debian_typed.py random FOLDER                      a random graph of the same types

FOLDER gets graph.yaml, an array of (2, E) int64 per edge type, and the columns ext (int32) and namelen
(uint8) of the files. Debian's graph has 7,999,808 nodes and 15.6 million edges; the random one a quarter of these.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from debian_contents import PACKAGES, arrays


def drawn() -> tuple[npt.NDArray[Any], ...]:
    """Random arrays with the same names and types. A few folders and packages hold most files."""
    draw = np.random.default_rng(1)
    files, dirs = 1_830_000, 155_000
    skewed: Callable[[Any, int], npt.NDArray[Any]] = lambda n, count: (n * draw.random(count) ** 3).astype(np.int64)
    parent = np.r_[0, skewed(np.arange(1, dirs), dirs - 1)]
    return (
        skewed(dirs, files),
        parent,
        np.stack([skewed(PACKAGES, files), np.arange(files)]),
        np.stack([draw.integers(0, PACKAGES, 80_000), skewed(PACKAGES, 80_000)]),
        draw.integers(0, 500, files),
        draw.integers(1, 60, files),
    )


def main(archive: str, out: str) -> None:
    partial = out + ".partial"
    os.makedirs(partial, exist_ok=True)
    folder, parent, holds, needs, ext, namelen = (
        drawn() if archive == "random" else arrays(archive, "file_dir", "dir_parent", "package_file", "package_package", "file_ext", "file_namelen")
    )
    files, dirs = len(folder), len(parent)
    for name, src, dst in (
        ("dir-in-dir", np.arange(1, dirs), parent[1:]),
        ("file-in-dir", np.arange(files), folder),
        ("package-holds-file", *holds),
        ("package-needs-package", *needs[:2]),
    ):
        np.save(os.path.join(partial, name + ".npy"), np.stack([src, dst]))
    np.save(os.path.join(partial, "ext.npy"), ext.astype(np.int32))
    np.save(os.path.join(partial, "namelen.npy"), namelen.astype(np.uint8))
    with open(os.path.join(partial, "graph.yaml"), "w") as f:
        f.write(f"""nodes:
  dir: {{count: {dirs}}}
  file: {{columns: {{ext: ext.npy, namelen: namelen.npy}}}}
  package: {{count: {PACKAGES}}}
edges:
  dir:in:dir: {{table: dir-in-dir.npy}}
  file:in:dir: {{table: file-in-dir.npy}}
  package:holds:file: {{table: package-holds-file.npy}}
  package:needs:package: {{table: package-needs-package.npy}}
""")
    os.replace(partial, out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
