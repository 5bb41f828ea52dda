"""Rows that stay on a device of torch, and their join with the rows of batches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ._ahead import Mover
from ._arrays import Array
from ._cache import Cache, no_room
from ._schema import key, parts_of
from ._tensors import tensor


class TorchDevice:
    """A device of torch, as `graphmill._cache.Device` describes it. Tables are tensors.

    Args:
        device: of torch; None is the processor.
    """

    def __init__(self, device: Any) -> None:
        self.device: torch.device = Mover.device_of(device)
        self.name = str(self.device)

    def holds(self, dtype: np.dtype[Any]) -> bool:
        return True

    def row_bytes(self, dtype: np.dtype[Any], shape: tuple[int, ...], bfloat16: bool) -> int:
        wide = 2 if bfloat16 else {"u2": 4, "u4": 8}.get(dtype.str[1:], dtype.itemsize)  # uint16 and uint32 take the next signed dtype
        return int(wide) * int(np.prod(shape, dtype=np.int64))

    @contextlib.contextmanager
    def room(self, memory: int, need: int) -> Iterator[None]:
        try:
            yield
            if self.device.type == "cuda":
                torch.cuda.synchronize(self.device)  # loaders read the rows on streams of their own
        except torch.cuda.OutOfMemoryError as e:
            raise no_room(memory, need, self.name, e) from e

    def put(self, table: torch.Tensor | None, total: int, first: int, x: Array, name: str, bfloat16: bool) -> torch.Tensor:
        rows = tensor(x, name, bfloat16)
        if table is None:
            table = torch.empty((total, *rows.shape[1:]), dtype=rows.dtype, device=self.device)
        table[first : first + len(rows)] = rows.to(self.device)
        return table

    def places(self, x: Array) -> torch.Tensor:
        return torch.from_numpy(x).to(self.device)

    def take(self, table: torch.Tensor, place: torch.Tensor, more: Array, name: str, bfloat16: bool) -> torch.Tensor:
        kept = len(table)
        # Zeros come last, for the places beyond the rows.
        zeros = table.new_zeros((1, *table.shape[1:]))
        rows = zeros if not len(more) else torch.cat([tensor(more, name, bfloat16).to(self.device), zeros])
        here = (place < kept).reshape(-1, *[1] * (table.dim() - 1))
        return torch.where(here, table.index_select(0, place.clamp(max=kept - 1)), rows.index_select(0, (place - kept).clamp(0, len(rows) - 1)))

    def sent(self, rows: int) -> int:
        return rows

    def moved(self, batch: Any) -> tuple[Any, int]:
        size = 0

        def move(x: torch.Tensor) -> torch.Tensor:
            nonlocal size
            size += x.numel() * x.element_size()
            return x.to(self.device)

        return batch.apply(move), size  # of PyG


def joined(cache: Cache, columns: dict[str, Any]) -> None:
    """Join the rows that batches of a feed bring with those that are kept.

    Args:
        columns: of a batch, on the device of the cache. The columns of nodes get their rows in the order of the batch.
    """
    for t in cache.nodes:
        place, sent = columns.pop(key("nodes", t, "place")), columns.pop(key("nodes", t, "sent"))
        for name in [n for n in columns if n in cache._tables and parts_of(n)[1] == t]:
            kept, rows = cache._tables[name], columns[name]
            out = kept.index_select(0, place.clamp(max=len(kept) - 1))
            if len(rows):
                out.index_copy_(0, sent, rows)
            columns[name] = out
