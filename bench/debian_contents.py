#!/usr/bin/env python3
"""Makes the homogeneous graph "debian_contents": files, folders and packages of
Debian 12 and what joins them, as edge pairs that `graphmill import` reads.

usage: debian_contents.py debian_contents.tar.gz PAIRS.npy      (needs NumPy)

PAIRS.npy is (2, 31186818) int64 with the sources in row 0: a simple graph with every
edge in both directions, sorted by (destination, source). Its 7,999,808 nodes are the
files, then the folders, then the packages. The result is checked against its sha256.
"""

from __future__ import annotations

import hashlib
import io
import os
import pathlib
import sys
import tarfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

PACKAGES = 63436
EDGES = 31186818
SHA256 = "69e96c04e7bbb9a0b4a7b5890b632bc88410324866df89a71a5983a9351dd85b"


def array(tar: tarfile.TarFile, path: str) -> npt.NDArray[Any]:
    """An array of an archive, widened."""
    file = tar.extractfile(path)
    assert file, path  # a file, not a folder
    widened: npt.NDArray[Any] = np.load(io.BytesIO(file.read())).astype(np.int64)
    return widened


def arrays(archive: str | pathlib.Path, *names: str) -> Iterator[npt.NDArray[Any]]:
    """The named arrays of the archive, widened."""
    with tarfile.open(archive) as tar:
        for name in names:
            yield array(tar, f"debian_contents/{name}.npy")


def pairs(archive: str | pathlib.Path) -> tuple[int, npt.NDArray[Any], npt.NDArray[Any]]:
    """The graph as (nodes, source of each edge, destination of each edge)."""
    file_dir, parent, holds, depends = arrays(archive, "file_dir", "dir_parent", "package_file", "package_package")
    files, dirs = len(file_dir), len(parent)
    package, nodes = files + dirs, files + dirs + PACKAGES
    s = np.r_[np.arange(files), files + np.arange(1, dirs), package + holds[0], package + depends[0]]
    t = np.r_[files + file_dir, files + parent[1:], holds[1], package + depends[1]]
    proper = s != t
    low, high = np.minimum(s, t)[proper], np.maximum(s, t)[proper]
    simple = np.unique(low * nodes + high)
    low, high = simple // nodes, simple % nodes
    both = np.sort(np.r_[simple, high * nodes + low])
    return nodes, both % nodes, both // nodes


def main(archive: str, out: str) -> None:
    nodes, src, dst = pairs(archive)
    indptr = np.zeros(nodes + 1, np.uint64)
    np.cumsum(np.bincount(dst, minlength=nodes), out=indptr[1:])
    found = hashlib.sha256(indptr.tobytes() + src.astype(np.uint32).tobytes()).hexdigest()
    if len(src) != EDGES or found != SHA256:
        sys.exit(f"{archive}: found {len(src)} edges of sha256 {found}, expected {EDGES} of {SHA256}; take the archive that the figures were measured with")
    with open(out + ".partial", "wb") as f:
        np.save(f, np.stack([src, dst]))
    os.replace(out + ".partial", out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
