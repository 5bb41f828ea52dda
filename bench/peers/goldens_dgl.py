#!/usr/bin/env python3
"""Makes the golden files of testdata/golden/dgl with the real DGL, from graphs that it makes itself.

usage: DGL_PYTHON goldens_dgl.py OUT      (DGL_PYTHON is what `bench/peers.sh dgl` prints)

Each folder has the graph that was partitioned (graph.bin), DGL's configuration and its parts, and the mapping to
the ids of the input (orig_nids.dgl, orig_eids.dgl: new type-wise id -> id of the input). partition_graph gets its
parts from `assignment` and not from METIS, because METIS gives different cuts in each run; everything else is DGL's. The
bytes 32 to 4095 of a graph file differ between runs, because they are memory that DGL does not set. This script sets them
to zero.

chunked_in, chunked_assign and chunked_out are not made here: DGL's wheel does not have the tools that wrote them. testdata/README.md
says how they were made.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import sys
from typing import Any

os.environ.setdefault("DGLBACKEND", "pytorch")

import dgl
import dgl.distributed
import numpy as np
import torch


def homogeneous() -> Any:
    """A graph with a few hubs, with features of nodes and edges."""
    draw = np.random.default_rng(1)
    n, m = 200, 700
    src = (n * draw.random(m) ** 2).astype(np.int64)
    dst = draw.integers(0, n, m)
    g = dgl.graph((torch.from_numpy(src), torch.from_numpy(dst)), num_nodes=n)
    g.ndata["feat"] = torch.from_numpy(draw.random((n, 4), np.float32))
    g.ndata["label"] = torch.from_numpy(draw.integers(0, 7, n))
    g.ndata["train_mask"] = torch.arange(n) % 10 < 6
    g.edata["w"] = torch.from_numpy(draw.random(m, np.float32))
    return g


def tiny() -> Any:
    """A ring with chords, a self-loop and a double edge."""
    n = 40
    s = torch.cat([torch.arange(n), torch.arange(n), torch.tensor([3, 5, 5])])
    d = torch.cat([(torch.arange(n) + 1) % n, (torch.arange(n) * 7 + 3) % n, torch.tensor([3, 6, 6])])
    return dgl.graph((s, d), num_nodes=n)


def typed() -> Any:
    """Four types of nodes, five of edges, and columns of many dtypes."""
    draw = np.random.default_rng(2)
    count = {"maintainer": 20, "package": 120, "source": 40, "tag": 15}
    edges = {
        ("package", "depends", "package"): 180,
        ("package", "has", "tag"): 70,
        ("package", "maintained-by", "maintainer"): 120,
        ("package", "recommends", "package"): 30,
        ("source", "builds", "package"): 120,
    }
    ends = {e: (torch.from_numpy(draw.integers(0, count[e[0]], m)), torch.from_numpy(draw.integers(0, count[e[2]], m))) for e, m in edges.items()}
    g = dgl.heterograph(ends, num_nodes_dict=count)
    n = count["package"]
    g.nodes["package"].data["size"] = torch.from_numpy(draw.random((n, 2)))
    g.nodes["package"].data["section"] = torch.from_numpy(draw.integers(0, 50, n).astype(np.int32))
    g.nodes["package"].data["train_mask"] = torch.arange(n) % 5 == 0
    g.nodes["source"].data["key"] = torch.from_numpy(draw.permutation(1000)[: count["source"]])
    g.nodes["tag"].data["key"] = torch.from_numpy(draw.integers(0, 99, count["tag"]).astype(np.int16))
    g.edges["depends"].data["or_group"] = torch.from_numpy(draw.integers(0, 4, edges["package", "depends", "package"]))
    g.edges["has"].data["w"] = torch.from_numpy(draw.random((edges["package", "has", "tag"], 3)).astype(np.float16))
    return g


def assignment(count: int, parts: int) -> Any:
    """The part of each node: blocks of the ids, with every ninth node elsewhere."""
    v = torch.arange(count)
    part = v * parts // count
    return torch.where(v % 9 == 4, (part + 1) % parts, part)


def partition(out: pathlib.Path, name: str, g: Any, graph_name: str, parts: int, **more: Any) -> None:
    folder = out / name
    folder.mkdir(parents=True)
    # DGL numbers the nodes of all types in the order of its types, and asks METIS for one of k for each: a part, or a trainer of a part.
    dgl.distributed.partition.metis_partition_assignment = lambda _, k, *__, **___: torch.cat([assignment(g.num_nodes(t), k) for t in g.ntypes])
    nodes, edges = dgl.distributed.partition_graph(g, graph_name, parts, str(folder), part_method="metis", return_mapping=True, **more)
    if g.is_homogeneous:
        nodes, edges = {"_N": nodes}, {("_N", "_E", "_N"): edges}
    dgl.data.utils.save_tensors(str(folder / "orig_nids.dgl"), nodes)
    dgl.data.utils.save_tensors(str(folder / "orig_eids.dgl"), {":".join(k): v for k, v in edges.items()})


def graphbolt(out: pathlib.Path, name: str, config: str, into: str) -> None:
    """The configuration after DGL's conversion to GraphBolt."""
    work = out / ".work"
    shutil.copytree(out / name, work)
    dgl.distributed.dgl_partition_to_graphbolt(str(work / config), store_eids=True, store_inner_node=True, store_inner_edge=True)
    (out / into).mkdir()
    shutil.copy(work / config, out / into)
    shutil.rmtree(work)


def main(folder: str) -> None:
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    dgl.utils.set_num_threads(1)
    partition(out, "homo", homogeneous(), "homo", 4)
    dgl.save_graphs(str(out / "homo" / "graph.bin"), [homogeneous()])
    partition(out, "homo_tiny_csr", tiny(), "tiny", 2, graph_formats=["coo", "csr", "csc"])
    dgl.save_graphs(str(out / "homo_tiny_csr" / "graph.bin"), [tiny()])
    partition(out, "hetero_hop1", typed(), "typed", 3, num_hops=1)
    dgl.save_graphs(str(out / "hetero_hop1" / "graph.bin"), [typed()])
    partition(out, "hetero_hop2", typed(), "typed", 3, num_hops=2, num_trainers_per_machine=2, graph_formats=["coo", "csc"])
    graphbolt(out, "homo", "homo.json", "homo_graphbolt")
    graphbolt(out, "hetero_hop1", "typed.json", "hetero_hop1_graphbolt")
    for path in out.rglob("graph.*"):
        with open(path, "r+b") as f:
            f.seek(32)
            f.write(bytes(4096 - 32))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with contextlib.redirect_stdout(sys.stderr):  # DGL prints its progress
        main(sys.argv[1])
