#!/usr/bin/env python3
"""Makes the graphs for the comparison of partitioners.

usage: partition_graphs.py NAME DATA PREFIX.graph      (needs NumPy)

Writes PREFIX.xadj.npy, PREFIX.adjncy.npy and, last, PREFIX.graph (METIS text): a simple
undirected graph, both directions stored, neighbours ascending. community2m is generated; debian_contents,
delaunay_n15, rgg_n_2_15_s0 and web_cnr2000 are made from files in the folder DATA. Each is checked against its sha256.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
from typing import Any

import debian_contents
import numpy as np
import numpy.typing as npt

SHA256 = {
    "community2m": "b171db2522012e5e7e5102a7e5e521ba5968317f580eb26d82443dc5cfeb10fe",
    "debian_contents": debian_contents.SHA256,
    "delaunay_n15": "e2ce39e7a053d4c2116445494935a191c47d4213d402e070eef8e0fd8e7e22b5",
    "rgg_n_2_15_s0": "5ef71f1a89446a99d24e6b2fb66c1b4f9d01a39202815575a174a94487eff0f8",
    "web_cnr2000": "7e539c4205b2f8f774ecf43f1c4f0f417d75fe8a0303b2b0076b789bb988a484",
}


def simple(nodes: int, s: npt.NDArray[Any], t: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The simple undirected graph of pairs, as CSR."""
    proper = s != t
    low, high = np.minimum(s, t)[proper], np.maximum(s, t)[proper]
    once = np.unique(low * nodes + high)
    both = np.sort(np.r_[once, once % nodes * nodes + once // nodes])
    return offsets(nodes, both // nodes), (both % nodes).astype(np.uint32)


def offsets(nodes: int, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    xadj = np.zeros(nodes + 1, np.uint64)
    np.cumsum(np.bincount(rows, minlength=nodes), out=xadj[1:])
    return xadj


def make(name: str, data: pathlib.Path, prefix: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    if name == "community2m":
        subprocess.run(
            [sys.executable, pathlib.Path(__file__).parent / "gen_community.py", prefix, "--n", "2000000", "--seed", "1"], check=True, stdout=sys.stderr
        )
        return np.load(prefix + ".xadj.npy"), np.load(prefix + ".adjncy.npy")
    if name == "debian_contents":
        nodes, src, dst = debian_contents.pairs(data / "debian_contents.tar.gz")
        return offsets(nodes, dst), src.astype(np.uint32)
    if name == "web_cnr2000":
        with tarfile.open(data / "web_cnr2000.tar.gz") as tar:
            indptr, t = (debian_contents.array(tar, f"web_cnr2000/{file}.npy") for file in ("csr_indptr", "csr_dst"))
        nodes = len(indptr) - 1
        return simple(nodes, np.repeat(np.arange(nodes), np.diff(indptr)), t)
    with gzip.open(data / "partition" / f"{name}.graph.gz", "rt") as f:
        nodes = int(f.readline().split()[0])
        rows = [np.array(line.split(), np.int64) - 1 for line in f]
    return simple(nodes, np.repeat(np.arange(nodes), [len(r) for r in rows]), np.concatenate(rows))


def write_metis(xadj: npt.NDArray[Any], adjncy: npt.NDArray[Any], out: str) -> None:
    with open(out + ".partial", "w") as f:
        f.write(f"{len(xadj) - 1} {len(adjncy) // 2}\n")
        step = 1 << 16
        for i in range(0, len(xadj) - 1, step):
            bounds = xadj[i : i + step + 1].astype(np.int64)
            words = [str(v) for v in (adjncy[bounds[0] : bounds[-1]] + np.uint32(1)).tolist()]
            f.writelines(" ".join(words[a:b]) + "\n" for a, b in zip(bounds - bounds[0], bounds[1:] - bounds[0]))
    os.replace(out + ".partial", out)


def main(name: str, data: str, out: str) -> None:
    prefix = out.removesuffix(".graph")
    if name not in SHA256:
        sys.exit(f"found graph {name!r}, expected one of {', '.join(SHA256)}")
    try:
        xadj, adjncy = make(name, pathlib.Path(data), prefix)
    except FileNotFoundError as e:
        sys.exit(f"{name}: {e}; set GRAPHMILL_DATA to the folder that holds it")
    found = hashlib.sha256(xadj.tobytes() + adjncy.tobytes()).hexdigest()
    if found != SHA256[name]:
        sys.exit(f"{name}: found sha256 {found}, expected {SHA256[name]}; take the file of that graph")
    np.save(prefix + ".xadj.npy", xadj)
    np.save(prefix + ".adjncy.npy", adjncy)
    write_metis(xadj, adjncy, out)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
