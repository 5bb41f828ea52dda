"""Shuffled batches of rows by loaders that exist for Python.

usage: peer_batches.py ROWS WIDTH BATCH --loader index_select|batch-iter|graphmill|grain|dataloader|dataloader-default

Prints one JSON: rows per second of one whole epoch, after a warm-up epoch (a tenth of an epoch for slow loaders).
torch runs with one thread. index_select copies into a warm buffer in an order that is already computed. dataloader is torch's
DataLoader at its fastest, with a BatchSampler that asks the data set for a batch of rows at once; dataloader-default
asks for one row after another.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import torch


def index_select(x: Any, size: int) -> Iterator[Any]:
    order = torch.randperm(len(x))
    buffer = torch.empty((size, x.shape[1]))
    for at in range(0, len(x), size):
        rows = order[at : at + size]
        yield torch.index_select(x, 0, rows, out=buffer[: len(rows)])


def batch_iter(x: Any, size: int) -> Iterator[Any]:
    from batch_iter import BatchIter

    for (b,) in BatchIter(x, batch_size=size, shuffle=True):
        yield b


def graphmill(x: Any, size: int) -> Iterator[Any]:
    from graphmill import BatchIter

    for (b,) in BatchIter(x, batch_size=size):
        yield b


def grain(x: Any, size: int) -> Iterator[Any]:
    import grain.python as g

    rows = x.numpy()
    yield from map(torch.from_numpy, g.MapDataset.source(rows).shuffle(seed=1).batch(size).to_iter_dataset())


def dataloader(x: Any, size: int) -> Iterator[Any]:
    from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

    data = TensorDataset(x)
    for (b,) in DataLoader(data, sampler=BatchSampler(RandomSampler(data), size, drop_last=False), batch_size=None):
        yield b


def dataloader_default(x: Any, size: int) -> Iterator[Any]:
    from torch.utils.data import DataLoader, TensorDataset

    for (b,) in DataLoader(TensorDataset(x), batch_size=size, shuffle=True):
        yield b


LOADERS = {
    "index_select": index_select,
    "batch-iter": batch_iter,
    "graphmill": graphmill,
    "grain": grain,
    "dataloader": dataloader,
    "dataloader-default": dataloader_default,
}
SLOW = ("grain", "dataloader-default")  # a tenth of an epoch tells their rate


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("rows", type=int)
    p.add_argument("width", type=int)
    p.add_argument("batch", type=int)
    p.add_argument("--loader", required=True, choices=list(LOADERS))
    args = p.parse_args()
    torch.set_num_threads(1)
    x = torch.arange(args.rows * args.width, dtype=torch.float32).reshape(args.rows, args.width)
    loader, slow = LOADERS[args.loader], args.loader in SLOW
    for _, _b in zip(range(args.rows // args.batch // 10 if slow else sys.maxsize), loader(x, args.batch)):
        pass
    limit = args.rows // 10 if slow else args.rows
    start, rows = time.perf_counter(), 0
    for b in loader(x, args.batch):
        rows += len(b)
        if rows >= limit:
            break
    seconds = time.perf_counter() - start
    print(json.dumps({"rows": rows, "seconds": seconds, "rows_per_second": rows / seconds}))


if __name__ == "__main__":
    main()
