"""Columns of a store on a device, whose rows batches have."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch

from .._arrays import Array
from .._folder import Column

_SIGNED: dict[str, Any] = {"u2": np.int16, "u4": np.int32, "u8": np.int64}  # of as many bytes
_WIDER = {"u2": (torch.int32, 0xFFFF), "u4": (torch.int64, 0xFFFFFFFF)}


@dataclasses.dataclass
class Table:
    """A column: an array of this process until `to` copies it.

    Attributes:
        values: the rows, unsigned integers as signed ones with their bits, as torch has few unsigned dtypes.
        kind: of unsigned integers of two bytes or more, their dtype without the byte order; else "".
    """

    values: Any
    kind: str = ""

    @classmethod
    def of(cls, column: Column) -> Table:
        """The rows of a column. Those of bfloat16 stay as their bits.

        Raises:
            ValueError: an integer of 2^63 or more.
        """
        x, kind = column.values, column.values.dtype.str[1:]
        if kind not in _SIGNED or column.dtype == "bfloat16":
            return cls(x.view(np.int16) if column.dtype == "bfloat16" else x)
        if kind == "u8" and x.size and x.max() >= 1 << 63:
            raise ValueError(f"column {column.name}: found {x.max()}, expected values below 2^63, because torch computes with no larger integers")
        return cls(x.view(_SIGNED[kind]), kind)

    @property
    def bytes(self) -> int:
        """The bytes of the rows."""
        n: int = self.values.nbytes
        return n

    def to(self, device: torch.device) -> Table:
        """The column on a device."""
        return Table(torch.from_numpy(_writable(self.values)).to(device), self.kind)

    def rows(self, ids: torch.Tensor) -> torch.Tensor:
        """The rows with these ids, newly allocated. uint16 becomes int32, uint32 and uint64 become int64."""
        out: torch.Tensor = self.values[ids]
        if self.kind in _WIDER:
            dtype, mask = _WIDER[self.kind]
            out = out.to(dtype) & mask
        return out


def _writable(x: Array) -> Array:
    """An array of which torch makes a tensor: maps that are read-only are copied."""
    x = np.ascontiguousarray(x)
    return x if x.flags.writeable else x.copy()
