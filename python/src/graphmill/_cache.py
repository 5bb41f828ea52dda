"""Rows that stay on a device, so that batches bring only the others."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ._arrays import Array
from ._command import GraphmillError
from ._feed import Connection, Feeding, batches
from ._folder import human
from ._options import feed_arguments
from ._schema import Schema, key, parts_of
from ._seeds import seed_file

if TYPE_CHECKING:
    from ._store import Store

_TRIAL = 1024  # batches whose nodes are counted
ROWS = 1 << 16  # rows that are read at a time


class Device(Protocol):
    """Where the rows of a cache are: a device of a framework. A table has the kept rows of a column.

    Attributes:
        name: devices of equal names are one.
    """

    name: str

    def holds(self, dtype: np.dtype[Any]) -> bool:
        """Whether the device has values of a dtype as they are; the rows of others stay in the memory of this process."""

    def row_bytes(self, dtype: np.dtype[Any], shape: tuple[int, ...], bfloat16: bool) -> int:
        """The bytes that a row takes in a table."""

    def room(self, memory: int, need: int) -> contextlib.AbstractContextManager[None]:
        """A context in which tables are filled. At its end, they are complete.

        Args:
            memory: the bytes of the cache, for the error.
            need: the bytes of all tables.

        Raises:
            ValueError: the device lacks the memory for them.
        """

    def put(self, table: Any, total: int, first: int, x: Array, name: str, bfloat16: bool) -> Any:
        """A table with the rows ``x`` from row ``first`` on.

        Args:
            table: what `put` returned for the rows before, which is used up; None begins a table.
            total: rows of the table.
            x: [rows, ...]; the bits of bfloat16 as uint16.
            name: of the column, for errors.
        """

    def places(self, x: Array) -> Any:
        """Numbers of rows, int32, as `take` reads them."""

    def take(self, table: Any, place: Any, more: Array, name: str, bfloat16: bool) -> Any:
        """Rows of a table and of a batch, [places, ...], with the dtype of the column.

        Args:
            place: of `places`, for each row its number in the table, or the number of rows of the table plus its number in ``more``; beyond both, the row is zeros.
            more: rows of the batch as in `put`, perhaps none.
        """

    def sent(self, rows: int) -> int:
        """How many rows come to the device in `take` for some ``more``."""

    def moved(self, batch: Any) -> tuple[Any, int]:
        """A framework's object with its arrays on the device, and the bytes of all of them."""


class Cache:
    """Rows on a device, of the columns of a loader's batches.

    A loader fills it before its first batch. Batches of loaders that were given it bring all other rows, and one gather on the device
    joins both, in the order of the batch. The batches have the same values as without it.

    A `NodeLoader` keeps rows of nodes: of those that most batches of the first epoch have, of at most 1,024 batches spread over it, which are sampled once
    without columns. By the law of draws, the counts are exact for these batches. A `PackedLoader`, whose epochs have each graph once, keeps the rows of nodes and
    edges of the first graphs of the collection; all of them, if they fit.

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
        self._tables: dict[str, Any] = {}  # by the feed's name of the column: the rows that are kept, in their order
        self._rows = 0
        self._of: tuple[str, str, frozenset[Any]] | None = None  # what was kept: fingerprint of the folder, device, columns

    def __repr__(self) -> str:
        if self._of is None:
            return f"Cache({human(self.memory)})"
        return f"Cache({human(self.memory)}): {self._rows:,} rows, {human(self.nbytes)}, on {self._of[1]}"

    def fill(self, store: Store, device: Device, connection: Connection, schema: Schema, arguments: list[str], flags: Mapping[str, Any]) -> None:
        """Choose the nodes and read their rows, or check that those that are kept are a loader's.

        Args:
            device: of the loader.
            connection: of the loader, whose batches have all rows.
            arguments: of the loader's feed.
            flags: of the loader, which are among the arguments.

        Raises:
            ValueError: the rows that are kept are of another store, device or other columns.
        """
        columns = columns_of(connection, schema)
        of = identity(store._folder.fingerprint, device, {name: (str(dtype), shape) for name, (dtype, shape) in columns.items()})
        if self.has(of, "store"):
            return
        names = by_type(columns)
        sizes = {t: sum(device.row_bytes(*columns[name], name in connection.bfloat16) for name in of_type) for t, of_type in names.items()}
        if not any(sizes.values()):
            raise ValueError("found cache= with batches that have no columns of nodes, expected some, whose rows it keeps; leave it out")
        nodes = most(_counts(store, schema, connection.total, without_columns(arguments)), sizes, self.memory)
        tables: dict[str, Any] = {}
        need = sum(len(ids) * sizes[t] for t, ids in nodes.items())
        with device.room(self.memory, need):
            for t, ids in nodes.items():
                tables.update(_rows(store, t, ids, names[t], device, flags))
        self.keep(of, nodes, tables, sum(map(len, nodes.values())), need)
        least = min(filter(None, sizes.values()))
        if self.memory < least:
            warnings.warn(f"cache={human(self.memory)!r} keeps no rows, because a row takes {human(least)} or more: give more bytes", stacklevel=5)

    def keep(self, of: tuple[str, str, frozenset[Any]], nodes: dict[str, Array], tables: dict[str, Any], rows: int, need: int) -> None:
        """Take the rows that were read.

        Args:
            of: their `identity`.
            rows: their number.
            need: their bytes.
        """
        self.nodes, self._tables, self._rows, self.nbytes, self._of = nodes, tables, rows, need, of

    def has(self, of: tuple[str, str, frozenset[Any]], what: str) -> bool:
        """Whether it has the rows of a loader; False if it has none yet.

        Args:
            of: the `identity` of the rows.
            what: the kind of the folder that they are of.

        Raises:
            ValueError: it has rows of another folder, on another device, or of other columns.
        """
        if self._of is None:
            return False
        if of[0] != self._of[0]:
            raise ValueError(
                f"found cache= with the rows of another {what}, or of another version of it, expected the {what} that filled it; make a cache for each"
            )
        if of[1] != self._of[1]:
            raise ValueError(f"found cache= on {self._of[1]} with device={of[1]!r}, expected one device; make a cache for each")
        more = sorted("/".join(parts_of(name)[1::2]) for name, _, _ in of[2] - self._of[2])
        if more:
            raise ValueError(
                f"found cache= without the columns {', '.join(more)}, expected columns of the loader that filled it; begin with the loader that has most columns"
            )
        return True


def identity(fingerprint: str, device: Device, columns: Mapping[str, tuple[str, tuple[int, ...]]]) -> tuple[str, str, frozenset[Any]]:
    """What the rows of a cache are: of which folder, on which device, and of which columns, by name with their dtype and the shape of a row."""
    return fingerprint, device.name, frozenset((name, *of) for name, of in columns.items())


def no_room(memory: int, need: int, device: str, why: object) -> ValueError:
    """The error of a device that lacks the memory for the rows of a cache."""
    return ValueError(f"found cache={human(memory)!r} with rows of {human(need)}, expected rows for which {device} has memory; give fewer bytes ({why})")


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


def _rows(store: Store, t: str, ids: Array, names: list[str], device: Device, flags: Mapping[str, Any]) -> dict[str, Any]:
    """The rows of nodes of a type, of columns by the feed's name, as batches have them. They are read as batches of seeds without neighbours."""
    same = {name: flags.get(name) for name in ("features", "joined", "memory", "executor", "hosts", "hosts_token", "hosts_ca", "slots")}
    out: dict[str, Any] = {}
    at = 0
    with seed_file(ids) as files:
        feed = _Batches(feed_arguments(store.path, [0], 0, None, t, {**same, "edge_features": "none", "batch_size": ROWS, "no_edge_ids": True}) + files)
    with feed:
        connection = feed._connected(0, 1, 4)
        for b in batches(connection, 0, 0):
            for name in names:
                out[name] = device.put(out.get(name), len(ids), at, b.columns[name], name, name in connection.bfloat16)
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
