"""Rows of nodes that stay on a device, so that batches bring only the others."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Array
from ._command import GraphmillError
from ._feed import Connection, Feeding, batches
from ._folder import human
from ._options import feed_arguments
from ._schema import Schema, key, parts_of
from ._seeds import seed_file

if TYPE_CHECKING:
    import torch

    from ._store import Store

_TRIAL = 1024  # batches whose nodes are counted
_ROWS = 1 << 16  # rows per batch when the rows are read


class Cache:
    """Rows of nodes on a device: of the columns of a `NodeLoader`'s batches, for the nodes that its batches have most often.

    A loader fills it before its first batch. Batches of loaders that were given it bring the rows of all other nodes, and one gather on the device
    joins both, in the order of the batch. The batches have the same values as without it.

    The nodes are those that most batches of the first epoch have, of at most 1,024 batches spread over it, which are sampled once without columns. By the
    law of draws, the counts are exact for these batches.

    Args:
        memory: the most bytes of the rows: a number, or "2GiB".

    Attributes:
        nodes: int64 ids by node type, ascending, of the nodes whose rows are kept.
        nbytes: bytes of the rows that are kept.

    Raises:
        ValueError: a memory that is no number of bytes.
    """

    def __init__(self, memory: int | str) -> None:
        self.memory = _bytes(memory)
        self.nodes: dict[str, Array] = {}
        self.nbytes = 0
        self._tables: dict[str, torch.Tensor] = {}  # by the feed's name of the column: the rows of nodes, in their order
        self._of: tuple[str, str, frozenset[Any]] | None = None  # what was kept: fingerprint of the store, device, columns

    def __repr__(self) -> str:
        if self._of is None:
            return f"Cache({human(self.memory)})"
        return f"Cache({human(self.memory)}): {sum(map(len, self.nodes.values())):,} rows, {human(self.nbytes)}, on {self._of[1]}"

    def fill(self, store: Store, device: torch.device, connection: Connection, schema: Schema, arguments: list[str], flags: Mapping[str, Any]) -> None:
        """Choose the nodes and read their rows, or check that those that are kept are a loader's.

        Args:
            device: of the loader. A CUDA device has its number.
            connection: of the loader, whose batches have all rows.
            arguments: of the loader's feed.
            flags: of the loader, which are among the arguments.

        Raises:
            ValueError: the rows that are kept are of another store, device or other columns.
        """
        columns = columns_of(connection, schema)
        of = store._folder.fingerprint, str(device), frozenset((name, str(dtype), shape) for name, (dtype, shape) in columns.items())
        if self._of is not None:
            self._check(of)
            return
        names = by_type(columns)
        sizes = {t: sum(_width(name, *columns[name], connection) for name in of_type) for t, of_type in names.items()}
        if not any(sizes.values()):
            raise ValueError("found cache= with batches that have no columns of nodes, expected some, whose rows it keeps; leave it out")
        nodes = most(_counts(store, schema, connection.total, without_columns(arguments)), sizes, self.memory)
        tables: dict[str, torch.Tensor] = {}
        with _room(self.memory, sum(len(ids) * sizes[t] for t, ids in nodes.items()), device):
            for t, ids in nodes.items():
                tables.update(_rows(store, t, ids, names[t], device, flags))
        self.nodes, self._tables, self._of = nodes, tables, of
        self.nbytes = sum(x.numel() * x.element_size() for x in tables.values())
        least = min(filter(None, sizes.values()))
        if self.memory < least:
            warnings.warn(f"cache={human(self.memory)!r} keeps no rows, because a row takes {human(least)} or more: give more bytes", stacklevel=5)

    def _check(self, of: tuple[str, str, frozenset[Any]]) -> None:
        assert self._of is not None
        if of[0] != self._of[0]:
            raise ValueError(
                "found cache= with the rows of another store, or of another version of it, expected the store that filled it; make a cache for each"
            )
        if of[1] != self._of[1]:
            raise ValueError(f"found cache= on {self._of[1]} with device={of[1]!r}, expected one device; make a cache for each")
        more = sorted("/".join(parts_of(name)[1::2]) for name, _, _ in of[2] - self._of[2])
        if more:
            raise ValueError(
                f"found cache= without the columns {', '.join(more)}, expected columns of the loader that filled it; begin with the loader that has most columns"
            )


@contextlib.contextmanager
def _room(memory: int, need: int, device: torch.device) -> Iterator[None]:
    """A context that puts rows on a device, and waits until they are there: loaders read them on streams of their own.

    Raises:
        ValueError: the device lacks the memory for them.
    """
    import torch

    try:
        yield
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    except torch.cuda.OutOfMemoryError as e:
        raise ValueError(
            f"found cache={human(memory)!r} with rows of {human(need)}, expected rows for which {device} has memory; give fewer bytes ({e})"
        ) from e


class _Batches(Feeding):
    """Batches as a feed sends them."""

    def __init__(self, arguments: list[str]) -> None:
        self._start(arguments)


_COLUMNS = ("--features", "--edge-features", "--joined", "--age", "--age-unit")  # with a value
_PARTS = ("--ops", "--no-edge-ids")  # without


def without_columns(arguments: list[str]) -> list[str]:
    """The arguments of a feed that sends the nodes of batches alone."""
    out, at = [], 0
    while at < len(arguments):
        if arguments[at] in _COLUMNS:
            at += 2
            continue
        if arguments[at] not in _PARTS:
            out.append(arguments[at])
        at += 1
    return [*out, "--features", "none", "--edge-features", "none", "--no-edge-ids"]


def _counts(store: Store, schema: Schema, total: int, arguments: list[str]) -> dict[str, Array]:
    """By type, how many batches have each node, of at most `_TRIAL` of the first epoch."""
    counts = {t: np.zeros(store.nodes[t].count, np.int32) for t in schema.nodes}
    with _Batches(arguments) as feed:
        for b in batches(feed._connected(0, max(1, -(-total // _TRIAL)), 4, "short"), 0, 0):
            for t in schema.nodes:
                counts[t][b.columns[key("nodes", t, "n_id")]] += 1  # once, also where several seeds of the batch have the node
    return counts


def _rows(store: Store, t: str, ids: Array, names: list[str], device: Any, flags: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The rows of nodes of a type, of columns by the feed's name, as batches have them. They are read as batches of seeds without neighbours."""
    import torch

    from ._tensors import tensor

    same = {name: flags.get(name) for name in ("features", "joined", "memory", "executor", "hosts", "hosts_token", "hosts_ca", "slots")}
    out: dict[str, torch.Tensor] = {}
    at = 0
    with seed_file(ids) as files:
        feed = _Batches(feed_arguments(store.path, [0], 0, None, t, {**same, "edge_features": "none", "batch_size": _ROWS, "no_edge_ids": True}) + files)
    with feed:
        connection = feed._connected(0, 1, 4)
        for b in batches(connection, 0, 0):
            for name in names:
                x = tensor(b.columns[name], name, name in connection.bfloat16)
                if not at:
                    out[name] = torch.empty((len(ids), *x.shape[1:]), dtype=x.dtype, device=device)
                out[name][at : at + len(x)] = x.to(device)
            at += b.seeds
    if at != len(ids):
        raise GraphmillError(f"found {at} rows of {t}, expected {len(ids)}; make the loader again")
    return out


def columns_of(connection: Connection, schema: Schema) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """The columns of nodes whose rows can be kept, by the feed's name: their dtype and the shape of a row. Ages differ by the seed."""
    return {
        name: (dtype, shape)
        for name, dtype, shape in connection._columns
        if parts_of(name)[:1] + parts_of(name)[2:3] == ["nodes", "x"] and name not in schema.ages
    }


def by_type(columns: Mapping[str, Any]) -> dict[str, list[str]]:
    """The names of columns by node type."""
    out: dict[str, list[str]] = {}
    for name in columns:
        out.setdefault(parts_of(name)[1], []).append(name)
    return out


def _width(name: str, dtype: Any, shape: tuple[int, ...], connection: Connection) -> int:
    """The bytes of a row on the device, where uint16 and uint32 take the next signed dtype."""
    wide = {"u2": 4, "u4": 8}.get(dtype.str[1:], dtype.itemsize) if name not in connection.bfloat16 else 2
    return int(wide) * int(np.prod(shape, dtype=np.int64))


def most(counts: Mapping[str, Array], sizes: Mapping[str, int], memory: int) -> dict[str, Array]:
    """The nodes of each type that most batches have, ascending, whose rows fit a memory.

    A row saves its own bytes each time it is there, so the nodes of all types are compared by their counts alone. Of nodes with equal counts come those of
    the first types, and the first of a type. Nodes that no batch has are left out.

    Args:
        counts: by type, how many batches have each node.
        sizes: by type, the bytes of a row. Types with no bytes are left out.
    """
    types = [t for t in counts if sizes.get(t) and counts[t].max(initial=0) > 0]
    levels = {t: np.bincount(counts[t]) for t in types}
    left, least = memory, max((len(x) for x in levels.values()), default=1)
    for c in range(least - 1, 0, -1):
        need = sum(int(levels[t][c]) * sizes[t] for t in types if c < len(levels[t]))
        if need > left:
            break
        left, least = left - need, c
    out = {}
    for t in types:
        ids = np.flatnonzero(counts[t] >= least)
        if least > 1 and left >= sizes[t]:
            more = np.flatnonzero(counts[t] == least - 1)[: left // sizes[t]]
            left -= len(more) * sizes[t]
            ids = np.sort(np.concatenate([ids, more]))
        if len(ids):
            out[t] = ids.astype(np.int64)
    return out


@contextlib.contextmanager
def kept_file(cache: Cache, store: Store, types: list[str]) -> Iterator[list[str]]:
    """The arguments that tell a feed which rows a cache has, in a temporary file while it starts. The types are all of the store, in its order."""
    first, parts = 0, [np.empty(0, np.int64)]
    for t in types:
        parts.append(cache.nodes.get(t, parts[0]) + first)
        first += store.nodes[t].count
    with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
        path = os.path.join(folder, "kept.npy")
        np.save(path, np.concatenate(parts))
        yield ["--kept", path]


def joined(cache: Cache, columns: dict[str, Any]) -> None:
    """Join the rows that batches bring with those that are kept.

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


def _bytes(memory: Any) -> int:
    """A number of bytes, as the options of the command read it."""
    n: Any = memory
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]i?b?|b?)\s*", memory.lower())
        n = None
        if found:
            unit = found[2]
            power = "bkmgt".index((unit or "b")[0])
            n = int(float(found[1]) * (1000**power if len(unit) == 2 and unit[1] == "b" else 1024**power))
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"found cache={memory!r}, expected at least one byte, such as '2GiB', or the cache of another loader")
    return int(n)
