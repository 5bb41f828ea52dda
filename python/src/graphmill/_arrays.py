"""The array functions that batching needs, for NumPy, torch on any device, and JAX."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def module(x: Any) -> str:
    """The package of the type of ``x``, found without an import."""
    return type(x).__module__.partition(".")[0]


def is_torch(x: Any) -> bool:
    return module(x) == "torch"


def array(x: Any, what: str) -> Any:
    """``x`` itself if it is an array or a tensor, else ``x`` as a NumPy array."""
    if is_torch(x) or module(x) in ("jax", "jaxlib"):
        a = x
    else:
        a = np.asanyarray(x)
        if a.dtype == object:
            raise TypeError(f"{what}: found {type(x).__name__} that is not an array of numbers, expected an array or a tensor")
    if a.ndim == 0:
        raise ValueError(f"{what}: found a single value, expected one row per item")
    return a


def index(like: Any, rows: Array) -> Any:
    """Row numbers in the form that indexes ``like`` without another copy: on its device."""
    if is_torch(like):
        import torch

        return torch.from_numpy(rows).to(like.device, non_blocking=True)
    return rows


def take(x: Any, rows: Any) -> Any:
    """The given rows of ``x``, in order, newly allocated."""
    if is_torch(x):
        return x.index_select(0, rows)
    if isinstance(x, np.ndarray):
        return x.take(rows, axis=0)
    return x[rows]


_TOGETHER = 256 << 10  # bytes of small takes that are allocated together


def takes(x: Any, rows: Any, sizes: list[int]) -> Iterator[Any]:
    """`take` of the first ``sizes[0]`` of the rows, of the next ``sizes[1]``, ...

    Small ones are taken together, because a call for each would take longer than the copy of its rows. Each is an array of
    its own: a tensor has its own storage and version.
    """
    at, together = 0, _together(x, sizes)
    if together is None:
        for n in sizes:
            yield take(x, rows[at : at + n])
            at += n
        return
    per, dtype = together
    for k in range(0, len(sizes), per):
        group = sizes[k : k + per]
        end = at + sum(group)
        if isinstance(x, np.ndarray):
            taken = x.take(rows[at:end], axis=0)
            for n in group:
                yield taken[:n]
                taken = taken[n:]
        else:
            import torch

            taken = np.empty((end - at, *x.shape[1:]), dtype)
            torch.index_select(x, 0, rows[at:end], out=torch.from_numpy(taken))
            for n in group:
                yield torch.from_numpy(taken[:n])
                taken = taken[n:]
        at = end


def _together(x: Any, sizes: list[int]) -> tuple[int, Any] | None:
    """How many takes of these sizes are made together, and NumPy's dtype of them; None for takes one by one."""
    if type(x) is np.ndarray:
        dtype = x.dtype
    elif is_torch(x) and x.device.type == "cpu" and not x.requires_grad and type(x).__name__ == "Tensor":
        try:
            dtype = x[:0].numpy().dtype
        except (TypeError, RuntimeError):  # such as bfloat16
            return None
    else:
        return None
    each = max(sizes, default=0) * int(np.prod(x.shape[1:])) * dtype.itemsize
    per = _TOGETHER // max(each, 1)
    return (per, dtype) if per > 1 else None


def numpy(x: Any) -> Array:
    """The values as a NumPy array; values of dtypes that NumPy lacks become float32."""
    if not is_torch(x):
        return np.asarray(x)
    x = x.detach().cpu()
    return np.asarray((x.float() if x.dtype.is_floating_point and x.element_size() < 4 else x).numpy())


def widened(x: Array) -> Array:
    """bfloat16 values, given by their bits as uint16, as float32, which can hold each of them."""
    return (x.astype(np.uint32) << 16).view(np.float32)


def padded(x: Any, rows: Any, places: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of shape ``shape`` + the shape of a row, with the rows at their places."""
    n = int(np.prod(shape))
    if is_torch(x):
        out = x.new_zeros((n, *x.shape[1:]))
        out[places] = x.index_select(0, rows)
        return out.reshape(*shape, *x.shape[1:])
    out = np.zeros((n, *x.shape[1:]), x.dtype)
    out[np.asarray(places)] = np.asarray(x)[np.asarray(rows)]
    if isinstance(x, np.ndarray):
        return out.reshape(*shape, *x.shape[1:])
    import jax.numpy as jnp

    return jnp.asarray(out.reshape(*shape, *x.shape[1:]))


def ones(like: Any, mask: Array) -> Any:
    """A mask as an array of the same kind as ``like``, on its device."""
    return index(like, mask) if is_torch(like) else mask


def ranges(starts: Array, ends: Array) -> Array:
    """The numbers of each range [start, end), one range after another."""
    if len(starts) and (starts[1:] == ends[:-1]).all():  # one range
        return np.arange(starts[0], ends[-1], dtype=np.int64)
    sizes = ends - starts
    before = np.cumsum(sizes) - sizes
    out: Array = np.arange(int(sizes.sum()), dtype=np.int64)
    out += np.repeat(starts - before, sizes)
    return out


def sample(x: Any) -> bytes:
    """The dtype, the shape and up to 64 rows of ``x``, for a fingerprint."""
    n = x.shape[0]
    rows = np.unique(np.linspace(0, max(n - 1, 0), min(n, 64)).astype(np.int64))
    part = take(x, index(x, rows))
    if is_torch(part):
        import torch

        part = part.detach().cpu().contiguous().reshape(len(rows), -1).view(torch.uint8).numpy()
    return f"{x.dtype} {tuple(x.shape)} ".encode() + np.ascontiguousarray(part).tobytes()


def worker() -> tuple[int, int] | None:
    """The number of this DataLoader worker and the number of workers; None outside a worker."""
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data is not None else None
    return None if info is None else (info.id, info.num_workers)
