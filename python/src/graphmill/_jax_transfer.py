"""Batches of a feed that come to a device of JAX, where their rows are joined with those of a cache, and features of few bits become numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import Array
from ._cache import Cache
from ._features import Piece
from ._feed import Batch, Connection
from ._jax_device import JaxDevice, Places, bits, padded, values
from ._narrow import Narrow
from ._schema import Raw, Schema, key, parts_of


class JaxTransfer:
    """Brings batches of a connection to a device of JAX. The copies and the joins are queued, and nothing waits for the device.

    Args:
        cache: the rows that batches leave out; None for none.
        narrow: the features that batches bring in pieces.
    """

    def __init__(self, device: JaxDevice, cache: Cache | None, connection: Connection, narrow: Narrow) -> None:
        self._device, self._cache, self.connection, self._narrow = device, cache, connection, narrow
        self._numbers: dict[tuple[str, str], Any] = {}  # the bits of the numbers of all codes, by the type and column of a piece

    def begin(self) -> None:
        """Begin a pass."""

    def __call__(self, b: Batch, schema: Schema, raw: Raw, make: Callable[[Raw], Any]) -> tuple[Any, Any]:
        """What ``make`` makes of the columns of a batch, on the device; and None, because JAX waits for what it reads."""
        c: dict[str, Any] = raw.columns
        if self._cache is not None:
            self._join(self._cache, schema, c)
        self._narrow.make(c, lambda t, dtype, pieces: _Wide(self, t, dtype, pieces))
        return self._device.moved(make(raw))[0], None

    def _join(self, cache: Cache, schema: Schema, columns: dict[str, Any]) -> None:
        """Put columns with all rows in the place of those whose rows a cache has."""
        for t in cache.nodes:
            order = _Order(columns.pop(key("nodes", t, "place")).astype(np.int32))
            del columns[key("nodes", t, "sent")]
            for name in [n for n in columns if n in cache._tables and parts_of(n)[1] == t]:
                columns[name] = _Kept(self._device, cache._tables[name], order, columns[name], name, name in schema.bfloat16)

    def close(self) -> None:
        """End the transfers."""

    def numbers(self, t: str, p: Piece) -> Any:
        """The `bits` of the numbers of all codes of a piece, on the device."""
        if (t, p.column) not in self._numbers:
            self._numbers[t, p.column] = self._device.on(bits(p.numbers))
        return self._numbers[t, p.column]


class _Order:
    """The places of the rows of a type, in the order of the batch or another one, which all columns of the type share."""

    def __init__(self, place: Array) -> None:
        self.place = place
        self._padded: dict[int, Places] = {}
        self._other: tuple[Array, _Order] | None = None

    def __getitem__(self, order: Array) -> _Order:
        if self._other is None or self._other[0] is not order:
            self._other = order, _Order(self.place[order])
        return self._other[1]

    def padded(self, n: int, end: int, device: JaxDevice) -> Places:
        """The places, and ``end`` after them: n places."""
        if n not in self._padded:
            out = np.full(n, end, np.int32)
            out[: len(self.place)] = self.place
            self._padded[n] = device.places(out)
        return self._padded[n]


class _Kept:
    """A column of nodes of a batch whose rows are in a table and in the batch."""

    def __init__(self, device: JaxDevice, table: Any, order: _Order, sent: Array, name: str, bfloat16: bool) -> None:
        self._of, self._order = (device, table, sent, name, bfloat16), order

    def __len__(self) -> int:
        return len(self._order.place)

    def __getitem__(self, order: Array) -> _Kept:
        device, table, sent, name, bfloat16 = self._of
        return _Kept(device, table, self._order[order], sent, name, bfloat16)

    def padded(self, n: int) -> Any:
        """The rows, and zeros after them: n rows, on the device."""
        device, table, sent, name, bfloat16 = self._of
        return device.take(table, self._order.padded(n, len(table) + len(sent), device), sent, name, bfloat16)


class _Wide:
    """A feature of nodes of a batch that came in pieces.

    Args:
        pieces: with the rows of each, as arrays or `_Kept`.
    """

    def __init__(self, of: JaxTransfer, t: str, dtype: str, pieces: Sequence[tuple[Piece, Any]]) -> None:
        self._of, self._type, self._dtype, self._pieces = of, t, dtype, pieces

    def __len__(self) -> int:
        return len(self._pieces[0][1])

    def __getitem__(self, order: Array) -> _Wide:
        return _Wide(self._of, self._type, self._dtype, [(p, x[order]) for p, x in self._pieces])

    def padded(self, n: int) -> Any:
        """The rows, and zeros after them: n rows, on the device."""
        device = self._of._device
        parts = tuple(device.on(padded(x, n)) if isinstance(x, np.ndarray) else x.padded(n) for _, x in self._pieces)
        numbers = tuple(self._of.numbers(self._type, p) if p.kind == "low-bit" else None for p, _ in self._pieces)
        kinds = tuple((p.kind, p.width, p.bits) for p, _ in self._pieces)
        return _widened(parts, numbers, device.on(np.int32(len(self))), kinds, self._dtype)


def _widen(parts: tuple[Any, ...], numbers: tuple[Any, ...], rows: Any, kinds: tuple[tuple[str, int, int], ...], dtype: str) -> Any:
    """The numbers of a feature of its pieces, [rows, numbers], and rows of zeros.

    Args:
        parts: the rows of the pieces.
        numbers: the bits of the numbers of codes, for pieces that have codes.
        rows: how many rows there are. Others become zeros.
        kinds: of the pieces: kind, width and bits.
        dtype: of the feature.
    """
    of = np.dtype("u2" if dtype in ("float16", "bfloat16") else "u4")
    one = np.array({"float32": 0x3F800000, "float16": 0x3C00, "bfloat16": 0x3F80}[dtype], of)
    wide = []
    for x, table, (kind, width, size) in zip(parts, numbers, kinds):
        if kind == "low-bit":
            if size == 4:
                x = jnp.stack([x & 15, x >> 4], 2).reshape(len(x), -1)[:, :width]
            first = jnp.arange(width, dtype=jnp.int32) << size
            wide.append(jnp.take(table, x.astype(jnp.int32) + first, axis=0, mode="clip"))
        elif kind == "one-hot":
            wide.append(jnp.where(x.reshape(-1, 1).astype(jnp.int32) == jnp.arange(width, dtype=jnp.int32), one, of.type(0)))
        elif kind == "multi-hot":
            hot = (x[:, :, None] >> jnp.arange(8, dtype=x.dtype)) & 1
            wide.append(jnp.where(hot.reshape(len(x), -1)[:, :width] != 0, one, of.type(0)))
        else:
            wide.append(jax.lax.bitcast_convert_type(x, of).reshape(len(x), width))
    out = jnp.concatenate(wide, 1)
    return values(jnp.where((jnp.arange(len(out)) < rows)[:, None], out, of.type(0)), dtype)


_widened = jax.jit(_widen, static_argnames=("kinds", "dtype"))
