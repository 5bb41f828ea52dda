"""Rows of the graphs of a collection that stay on a device, so that packs bring their numbers alone."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import Array
from ._cache import ROWS, Cache, Device, identity
from ._folder import human
from ._schema import key

_NUMBER = 4  # bytes of the number of a row
_MOST = 1 << 30  # rows of a type that are kept, so that int32 numbers them and those of a batch


class KeptGraphs:
    """The rows of nodes and edges of the first graphs of a collection, in a cache.

    An epoch has each graph once, so that all graphs save as many bytes as they take. Where not all fit, the first ones are kept. Left out are columns that the
    device does not hold, and types whose kept rows take no more bytes than the numbers of all rows of the type, which packs bring for them.

    Args:
        cache: to fill, or that a loader of the collection has filled.
        fingerprint: of the collection.
        columns: by type, name to rows; None as a type is the context, whose rows are not kept.
        bfloat16: the columns among them that have the bits of bfloat16.
        ptr: by type, the first row of each graph, and the number of rows.

    Attributes:
        rows: number of rows of types with kept rows that `packed` columns had, without padding; and `kept`, how many of them were on the device.
        saved: bytes of the columns that were made on the device, less the bytes that were sent for them.

    Raises:
        ValueError: the rows in the cache are of another collection, device or other columns; or there is nothing to keep.
    """

    def __init__(
        self,
        cache: Cache,
        device: Device,
        fingerprint: str,
        columns: Mapping[Any, Mapping[str, Array]],
        bfloat16: frozenset[tuple[Any, str]],
        ptr: Mapping[Any, Array],
    ) -> None:
        self._cache, self._device, self._bfloat16 = cache, device, bfloat16
        self.rows = self.kept = self.saved = 0
        held = {t: {name: x for name, x in columns[t].items() if device.holds(x.dtype)} for t in ptr}
        sizes = {t: sum(device.row_bytes(x.dtype, x.shape[1:], (t, name) in bfloat16) for name, x in of.items()) for t, of in held.items()}
        held = {t: of for t, of in held.items() if sizes[t] > _NUMBER}
        of = identity(fingerprint, device, {_named(t, name): (str(x.dtype), x.shape[1:]) for t, names in held.items() for name, x in names.items()})
        if cache.has(of, "collection"):
            return
        if not held:
            more = "" if all(device.holds(x.dtype) for t in ptr for x in columns[t].values()) else ", or enable 64 bits in JAX (jax_enable_x64)"
            raise ValueError(
                f"found cache= with packs that have no columns of nodes or edges which {device.name} holds in more than 4 bytes per row, expected some, whose rows it keeps; leave it out{more}"
            )
        size: Array = np.sum([np.diff(ptr[t]) * sizes[t] for t in held], 0)  # of each graph
        graphs = int(np.searchsorted(np.cumsum(size), cache.memory, "right"))
        for t in held:
            graphs = min(graphs, int(np.searchsorted(ptr[t], _MOST, "right")) - 1)
        counts = {t: int(ptr[t][graphs]) for t in held}
        counts = {t: n for t, n in counts.items() if n * sizes[t] > int(ptr[t][-1]) * _NUMBER}
        need = sum(n * sizes[t] for t, n in counts.items())
        tables: dict[str, Any] = {}
        with device.room(cache.memory, need):
            for t, rows in counts.items():
                for name, x in held[t].items():
                    table = None
                    for at in range(0, rows, ROWS):
                        table = device.put(table, rows, at, x[at : min(at + ROWS, rows)], name, (t, name) in bfloat16)
                    tables[_named(t, name)] = table
        cache.keep(of, {t: np.arange(n) for t, n in counts.items() if isinstance(t, str)}, tables, sum(counts.values()), need)
        if not counts and graphs < len(size):
            warnings.warn(
                f"cache={human(cache.memory)!r} keeps no rows, because those that fit save fewer bytes than the numbers of all rows take: give more bytes",
                stacklevel=3,
            )

    def packed(self, t: Any, columns: Mapping[str, Array], rows: Array) -> dict[str, KeptColumn]:
        """The columns of a type whose rows are kept, in packs.

        Args:
            rows: [packs, rows], the number of each row in the collection; -1 for padding.
        """
        tables = {name: self._cache._tables[_named(t, name)] for name in columns if _named(t, name) in self._cache._tables}
        if not tables:
            return {}
        slots = _Slots(self, rows, len(next(iter(tables.values()))))
        return {name: KeptColumn(slots, table, columns[name], name, (t, name) in self._bfloat16) for name, table in tables.items()}


class _Slots:
    """Where the rows of a type in packs are: on the device, or among those that are sent. All columns of the type share it."""

    def __init__(self, of: KeptGraphs, rows: Array, kept: int) -> None:
        self.of, self.rows, self.kept = of, rows, kept
        self._part: tuple[Any, _Slots] | None = None

    def __getitem__(self, at: Any) -> _Slots:
        if self._part is None or self._part[0] != at:
            self._part = at, _Slots(self.of, self.rows[at], self.kept)
        return self._part[1]

    @functools.cached_property
    def sent(self) -> Array:
        """The numbers of the rows that are sent."""
        return self.rows[self.rows >= self.kept]

    @functools.cached_property
    def places(self) -> Any:
        """The places of all rows, on the device."""
        rows = self.rows.ravel()
        place = rows.astype(np.int32)  # of those that are sent, it is written below
        place[rows >= self.kept] = np.arange(self.kept, self.kept + len(self.sent), dtype=np.int32)
        place[rows < 0] = self.kept + len(self.sent)
        real = int((rows >= 0).sum())
        self.of.rows += real
        self.of.kept += real - len(self.sent)
        self.of.saved -= place.nbytes
        return self.of._device.places(place)


class KeptColumn:
    """A column of packs whose rows are on a device or are sent.

    Attributes:
        shape: [packs, rows, ...], or [rows, ...] of one pack.
    """

    def __init__(self, slots: _Slots, table: Any, values: Array, name: str, bfloat16: bool) -> None:
        self._slots, self._of = slots, (table, values, name, bfloat16)
        self.shape = (*slots.rows.shape, *values.shape[1:])

    def __getitem__(self, at: Any) -> KeptColumn:
        """Some of the packs, or one of them without the axis of the packs."""
        return KeptColumn(self._slots[at], *self._of)

    def made(self) -> Any:
        """The rows on the device, and zeros for padding."""
        (table, values, name, bfloat16), s = self._of, self._slots
        sent = values[s.sent]
        out = s.of._device.take(table, s.places, sent, name, bfloat16).reshape(self.shape)
        s.of.saved += int(out.nbytes) - s.of._device.sent(len(sent)) * s.of._device.row_bytes(sent.dtype, sent.shape[1:], bfloat16)
        return out


def _named(t: Any, name: str) -> str:
    """The name of a column, as that of a feed."""
    return key("nodes", t, "x", name) if isinstance(t, str) else key("edges", ":".join(t), "x", name)
