"""Training on a graph larger than memory: Graphmill's stream executor, PyG's and DGL's loaders over memory maps of the same arrays.

usage: peer_larger.py features NODES COLUMNS OUT.npy
       peer_larger.py edges STORE OUT.npy
       peer_larger.py arrays STORE OUT
       peer_larger.py train STORE ARRAYS --loader graphmill|graphmill-dgl|pyg|dgl --memory BYTES --cgroup FOLDER --batches N --seconds S [--threads T]

`features` writes float16 noise. `edges` writes the edges of a store, block by block, as a table that `graphmill import` takes. `arrays` writes the adjacency of a store as the int64 arrays that PyG and DGL take: indptr.npy, far.npy, and
edge_index.npy of both ends. `train` joins the memory cgroup FOLDER, whose limit counts the page cache too, takes the inputs out of the page cache, and trains a
two-layer GraphSAGE (hidden 64, Adam, one thread of torch) on batches of 1024 shuffled seeds, fanout 15,10. --memory is what Graphmill's feed
may hold. The clock runs from the first batch for at least N batches and S seconds, and the JSON has the rate, the share of the time
that the trainer waited, and the bytes that its processes read from the disk, per epoch.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("DGLBACKEND", "pytorch")

import numpy as np
import numpy.typing as npt

BLOCK = 1 << 22  # values that are in memory at a time
HOMOGENEOUS = "_N:_E:_N"


def arrays_of(store: str) -> list[npt.NDArray[Any]]:
    """The maps of the in-edges of a store, and its features."""
    with open(os.path.join(store, "graph.json")) as f:
        meta = json.load(f)
    arrays = meta["edges"][HOMOGENEOUS]["arrays"]
    return [np.load(os.path.join(store, arrays[a]), mmap_mode="r") for a in ("indptr", "far")]


def features(nodes: int, columns: int, out: str) -> None:
    draw, x = np.random.default_rng(1), np.lib.format.open_memmap(out, "w+", np.float16, (nodes, columns))
    for first in range(0, nodes, BLOCK // columns):
        end = min(first + BLOCK // columns, nodes)
        x[first:end] = draw.random((end - first, columns), np.float32)


def edges(store: str, out: str) -> None:
    indptr, far = arrays_of(store)
    count = len(indptr) - 1
    pairs = np.lib.format.open_memmap(out, "w+", np.uint32, (2, len(far)))
    for first in range(0, count, BLOCK):
        end = min(first + BLOCK, count)
        ptr = indptr[first : end + 1].astype(np.int64)
        pairs[0, ptr[0] : ptr[-1]] = far[ptr[0] : ptr[-1]]
        pairs[1, ptr[0] : ptr[-1]] = np.repeat(np.arange(first, end, dtype=np.uint32), np.diff(ptr))
    pairs.flush()


def arrays(store: str, out: str) -> None:
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    indptr, far = arrays_of(store)
    count = len(indptr) - 1
    to = np.lib.format.open_memmap(folder / "indptr.npy", "w+", np.int64, indptr.shape)
    pairs = np.lib.format.open_memmap(folder / "edge_index.npy", "w+", np.int64, (2, len(far)))
    for first in range(0, len(indptr), BLOCK):
        to[first : first + BLOCK] = indptr[first : first + BLOCK]
    for first in range(0, len(far), BLOCK):
        pairs[0, first : first + BLOCK] = far[first : first + BLOCK]
    for first in range(0, count, BLOCK):
        end = min(first + BLOCK, count)
        pairs[1, to[first] : to[end]] = np.repeat(np.arange(first, end), np.diff(to[first : end + 1]))
    for x in (to, pairs):
        x.flush()


def mapped(path: pathlib.Path) -> Any:
    """A map whose pages are read one by one: around each row that is wanted, the system would read up to megabytes that are not."""
    import torch

    x = np.load(path, mmap_mode="c")  # nothing writes, but torch takes no map that is read-only
    x._mmap.madvise(mmap.MADV_RANDOM)
    return torch.from_numpy(x)


def graphmill(args: argparse.Namespace, as_: str = "pyg") -> Iterator[Any]:
    from graphmill import NodeLoader

    with NodeLoader(
        args.store,
        fanout=[15, 10],
        batch_size=1024,
        shuffle=True,
        as_=as_,
        threads=args.threads,
        features=["x"],
        memory=args.memory,
        executor="stream",
        edge_ids=False,
    ) as loader:
        print("\n".join(loader.notes), file=sys.stderr)
        assert loader._process  # started with the loader
        yield loader._process.pid
        while True:
            for batch in loader:
                yield (batch[2][0].srcdata["x"], batch[2], 1024) if as_ == "dgl" else (batch.x, batch.edge_index, batch.batch_size)
                del batch


def graphmill_dgl(args: argparse.Namespace) -> Iterator[Any]:
    return graphmill(args, "dgl")


def pyg(args: argparse.Namespace) -> Iterator[Any]:
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    pairs, x = mapped(args.arrays / "edge_index.npy"), mapped(args.x)
    loader = NeighborLoader(Data(x=x, edge_index=pairs, num_nodes=len(x)), [15, 10], batch_size=1024, shuffle=True, is_sorted=True)
    yield None
    while True:
        for batch in loader:
            yield batch.x, batch.edge_index, batch.batch_size


def dgl(args: argparse.Namespace) -> Iterator[Any]:
    import dgl as d
    import torch

    pairs, x = mapped(args.arrays / "edge_index.npy"), mapped(args.x)
    graph = d.graph(("csc", (mapped(args.arrays / "indptr.npy"), pairs[0], torch.empty(0, dtype=torch.int64))))
    sampler = d.dataloading.NeighborSampler([10, 15])
    loader = d.dataloading.DataLoader(graph, torch.arange(len(x)), sampler, batch_size=1024, shuffle=True)
    yield None
    while True:
        for inputs, _, blocks in loader:
            yield x[inputs], blocks, 1024


LOADERS = {"graphmill": graphmill, "graphmill-dgl": graphmill_dgl, "pyg": pyg, "dgl": dgl}


def read(pids: list[int]) -> int:
    """Bytes that processes have read from the disk."""
    n = 0
    for pid in pids:
        with open(f"/proc/{pid}/io") as f:
            n += int(next(line for line in f if line.startswith("read_bytes")).split()[1])
    return n


def train(args: argparse.Namespace) -> None:
    with open(os.path.join(args.cgroup, "cgroup.procs"), "w") as f:
        f.write(str(os.getpid()))
    args.arrays, args.x = pathlib.Path(args.arrays), pathlib.Path(args.arrays) / "x.npy"
    for path in [*pathlib.Path(args.store).rglob("*"), *args.arrays.glob("*.npy")]:
        if path.is_file():
            with open(path, "rb") as f:
                os.fdatasync(f.fileno())
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    import peer_loader
    import torch

    torch.set_num_threads(1)
    count, width = np.load(args.x, mmap_mode="r").shape
    step = peer_loader.model(width, args.loader in ("graphmill-dgl", "dgl"))
    made = LOADERS[args.loader](args)
    feed = next(made)
    pids = [os.getpid(), *([feed] if feed else [])]
    done = rows = 0
    waited = start = before = 0.0
    asked = time.perf_counter()
    for x, graph, seeds in made:
        came = time.perf_counter()
        if start:
            waited += came - asked
            done += 1
            rows += len(x)
        else:
            first, start, before = came - asked, came, read(pids)
        step(x.float(), graph, seeds)
        del x, graph
        asked = time.perf_counter()
        if done >= args.batches and asked - start >= args.seconds:
            break
    seconds = time.perf_counter() - start
    each = (read(pids) - before) / done
    print(json.dumps({"batches": done, "seconds": seconds, "batches_per_second": done / seconds, "waiting": waited / seconds, "first_batch_seconds": first,
                      "rows_per_batch": rows / done, "bytes_read_per_epoch": each * (-(-count // 1024))}))  # fmt: skip


def main() -> None:
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(dest="what", required=True)
    f = sub.add_parser("features")
    f.add_argument("nodes", type=int)
    f.add_argument("columns", type=int)
    f.add_argument("out")
    e = sub.add_parser("edges")
    e.add_argument("store")
    e.add_argument("out")
    a = sub.add_parser("arrays")
    a.add_argument("store")
    a.add_argument("out")
    t = sub.add_parser("train")
    t.add_argument("store")
    t.add_argument("arrays")
    t.add_argument("--loader", required=True, choices=list(LOADERS))
    t.add_argument("--memory", required=True)
    t.add_argument("--cgroup", required=True)
    t.add_argument("--batches", type=int, required=True)
    t.add_argument("--seconds", type=float, required=True)
    t.add_argument("--threads", type=int, default=2)
    args = p.parse_args()
    if args.what == "features":
        features(args.nodes, args.columns, args.out)
    elif args.what == "edges":
        edges(args.store, args.out)
    elif args.what == "arrays":
        arrays(args.store, args.out)
    else:
        train(args)


if __name__ == "__main__":
    main()
