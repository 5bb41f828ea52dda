"""NumPy arrays as torch tensors."""

from __future__ import annotations

import numpy as np
import torch

from ._arrays import Array

_SIGNED = {"u2": np.int32, "u4": np.int64, "u8": np.int64}  # most of torch supports no unsigned types but uint8


def as_tensor(x: Array | torch.Tensor) -> torch.Tensor:
    """An array of a dtype of torch as a tensor that shares its memory; a tensor as it is."""
    return x if isinstance(x, torch.Tensor) else torch.from_numpy(x)


def tensor(x: Array | torch.Tensor, name: str, bfloat16: bool = False) -> torch.Tensor:
    """A column as a tensor, itself if it is one, that shares its memory, unless it is a map or its dtype changes.

    uint16 becomes int32, uint32 and uint64 become int64, in every version of torch. ``bfloat16`` says that ``x`` has the
    bits of bfloat16 values, as uint16.

    Raises:
        ValueError: the column has uint64 values that do not fit an int64.
    """
    if isinstance(x, torch.Tensor):  # on the device that drew the batch
        return x.view(torch.bfloat16) if bfloat16 else x
    dtype = x.dtype if bfloat16 else np.dtype(_SIGNED.get(x.dtype.str[1:], x.dtype))
    if dtype.kind == "i" and x.dtype.str[1:] == "u8" and x.size and x.max() >= 1 << 63:
        raise ValueError(f"column {name}: found {x.max()}, expected values below 2^63, because torch computes with no larger integers")
    x = x if x.flags.writeable and x.dtype == dtype else np.array(x, dtype)
    return torch.from_numpy(x.view(np.int16)).view(torch.bfloat16) if bfloat16 else torch.from_numpy(x)
