"""A device of JAX: rows that stay there, their join with others, and batches that come to it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import Array
from ._cache import no_room

_MOST = 1 << 31  # rows that int32 numbers


def room(n: int) -> int:
    """The least of 64, 80, 96, 112, 128, 160, ... that is at least n; the steps are an eighth to a quarter. So few shapes are compiled."""
    step = 16
    while 8 * step < n:
        step *= 2
    return max(64, -(-n // step) * step)


def padded(x: Array, n: int) -> Array:
    """The rows of an array, copied, and zeros after them: n rows."""
    out = np.zeros((n, *x.shape[1:]), x.dtype)
    out[: len(x)] = x
    return out


class JaxDevice:
    """A device of JAX, as `graphmill._cache.Device` describes it.

    Tables are JAX arrays of the `bits` of rows. Without 64 bits (``jax_enable_x64``), JAX has no values of 64 bits: their tables are NumPy arrays, and so are
    their rows of batches, as without a device.

    Args:
        device: a ``jax.Device``, or its text, such as "cpu", "gpu" or "cuda:1". None is JAX's default device, to which arrays are not committed: a function
            that is compiled for others takes them.

    Raises:
        ValueError: JAX does not have the device.
    """

    def __init__(self, device: Any) -> None:
        self._asked = device
        self.device = None if device is None else _found(device)
        on = next(iter(jnp.zeros(()).devices())) if self.device is None else self.device
        self.name = f"{on.platform}:{on.id} of JAX"

    def __reduce__(self) -> tuple[Any, ...]:
        return JaxDevice, (self._asked,)

    def holds(self, dtype: np.dtype[Any]) -> bool:
        return dtype.itemsize < 8 or bool(jax.config.jax_enable_x64)

    def row_bytes(self, dtype: np.dtype[Any], shape: tuple[int, ...], bfloat16: bool) -> int:
        return int(dtype.itemsize) * int(np.prod(shape, dtype=np.int64))

    @contextlib.contextmanager
    def room(self, memory: int, need: int) -> Iterator[None]:
        try:
            yield
        except RuntimeError as e:  # of XLA
            if "RESOURCE_EXHAUSTED" not in str(e):
                raise
            raise no_room(memory, need, self.name, e) from e

    def put(self, table: Any, total: int, first: int, x: Array, name: str, bfloat16: bool) -> Any:
        if total >= _MOST:
            raise ValueError(f"found cache= for {total} rows of {name}, expected fewer than 2^31, because JAX numbers rows by int32; give fewer bytes")
        if not self.holds(x.dtype):
            table = np.empty((total, *x.shape[1:]), x.dtype) if table is None else table
            table[first : first + len(x)] = x
            return table
        rows = bits(x)
        if table is None:
            with contextlib.nullcontext() if self.device is None else jax.default_device(self.device):
                table = self.on(jnp.zeros((total, *rows.shape[1:]), rows.dtype))
        return jax.block_until_ready(_written(table, self.on(rows), self.on(np.int32(first))))  # JAX may read the rows where they are until then

    def places(self, x: Array) -> Places:
        return Places(self, x)

    def take(self, table: Any, place: Places, more: Array, name: str, bfloat16: bool) -> Any:
        if isinstance(table, np.ndarray):
            return _taken_here(table, place.host, more)
        rows = self.on(bits(padded(more, self.sent(len(more))))) if len(more) else None
        return _taken(table, place.there, rows, "bfloat16" if bfloat16 else more.dtype.name)

    def sent(self, rows: int) -> int:
        return room(rows + 1) if rows else 0  # the last one is zeros

    def moved(self, batch: Any) -> tuple[Any, int]:
        arrays: list[Array] = []
        size = 0

        def collect(x: Any) -> None:
            nonlocal size
            size += getattr(x, "nbytes", 0)
            if self._moves(x):
                arrays.append(x)

        _each(batch, collect)
        there = iter(self.on(arrays))
        return _each(batch, lambda x: next(there) if self._moves(x) else x), size

    def _moves(self, x: Any) -> bool:
        return isinstance(x, np.ndarray) and (x.dtype.kind in "biuf" or x.dtype == jnp.bfloat16) and self.holds(x.dtype)

    def on(self, x: Any) -> Any:
        """Arrays on the device. NumPy arrays must not change any more, because JAX may keep them."""
        return jax.device_put(x, self.device)


class Places:
    """Numbers of rows, int32, in this process and, from the first use on, on a device."""

    def __init__(self, device: JaxDevice, host: Array) -> None:
        self._device, self.host = device, host

    @functools.cached_property
    def there(self) -> Any:
        return self._device.on(self.host)


def _found(device: Any) -> Any:
    if isinstance(device, jax.Device):
        return device
    name, _, number = str(device).partition(":")
    with contextlib.suppress(RuntimeError, ValueError, IndexError):
        found = jax.local_devices(backend=name or "none")
        if number.isdecimal() or not number:
            return found[int(number or 0)]
    have = []
    for backend in dict.fromkeys([jax.default_backend(), "cpu"]):
        with contextlib.suppress(RuntimeError):  # JAX_PLATFORMS leaves it out
            have += [f"{d.platform}:{i}" for i, d in enumerate(jax.local_devices(backend=backend))]
    raise ValueError(f"found device={device!r}, expected a device that JAX has: {', '.join(have)}")


def _each(x: Any, change: Callable[[Any], Any]) -> Any:
    """A batch with its arrays changed. Dicts keep their order, which JAX's own functions sort."""
    if isinstance(x, (list, tuple)):
        parts = [_each(v, change) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)  # a named tuple takes its fields
    if isinstance(x, dict):
        return {k: _each(v, change) for k, v in x.items()}
    return jax.tree_util.tree_map(change, x)


def bits(x: Array) -> Array:
    """The bits of values, as unsigned integers of their size. Computing with values, XLA could change those of a NaN."""
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def values(x: Any, dtype: str) -> Any:
    """The values of a dtype that some `bits` on a device are."""
    if dtype == "bool":
        return x != 0
    return jax.lax.bitcast_convert_type(x, jnp.bfloat16 if dtype == "bfloat16" else np.dtype(dtype))


def _write(table: Any, rows: Any, first: Any) -> Any:
    return jax.lax.dynamic_update_slice_in_dim(table, rows, first, 0)


_written = jax.jit(_write, donate_argnums=0)


def _take(table: Any, place: Any, more: Any, dtype: str) -> Any:
    kept = len(table)
    out = jnp.take(table, place, axis=0, mode="clip")
    others = jnp.zeros((), table.dtype) if more is None else jnp.take(more, place - kept, axis=0, mode="clip")
    return values(jnp.where((place < kept).reshape(-1, *[1] * (table.ndim - 1)), out, others), dtype)


_taken = jax.jit(_take, static_argnames="dtype")


def _taken_here(table: Array, place: Array, more: Array) -> Array:
    kept = len(table)
    out: Array = table.take(np.minimum(place, kept - 1), axis=0)
    others = np.flatnonzero(place >= kept)
    out[others] = 0
    others = others[place[others] < kept + len(more)]
    out[others] = more[place[others] - kept]
    return out
