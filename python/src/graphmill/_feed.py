"""The client of a feed, which is a graphmill process that fills shared memory with batches, or sends them over a socket where none can be shared.

docs/format-feed.md describes the protocol. Two points are subtle:

- Arrays are views of the ring. NumPy, and torch.from_numpy, keep the base array of a view (also of a view of a view)
  alive; when the base is freed, its slot is released. So a batch can be kept for any time. If only one slot is left, the next
  batch is copied out of it, because without a free slot the feed would wait for ever.
- After a fork, the child closes the connection that it inherited, because replies of one socket must not be shared.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import mmap
import os
import struct
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from ._arrays import Array
from ._command import GraphmillError
from ._packets import Loopback, TooLong, dial
from ._process import FeedDied, Process

_VERSION = 2
_MESSAGE = struct.Struct("<IIQQQQ")  # kind, slot, gen, seq, bytes, run
_BATCH, _END, _ERROR, _JUMBO = 1, 2, 3, 4
_REQUEST = struct.Struct("<IIQQ")
_RETURN, _START, _SAMPLE = 2, 3, 4
_MAGIC, _HEAD = 0x31444545464D47, struct.Struct("<8Q")  # magic, gen, seq, bytes, seeds, columns, run, 0
_PACKET = 1 << 20
_PATIENCE = 600  # seconds without a message after which a feed counts as dead
_COLLECT = 64  # copied batches after which cycles are looked for again


_connections: weakref.WeakSet[Connection] = weakref.WeakSet()
_connecting = threading.RLock()


def connecting() -> threading.RLock:
    """What a thread holds while it looks for a connection and makes one, so that two threads make one."""
    return _connecting


def _after_fork() -> None:
    global _connecting
    _connecting = threading.RLock()  # a thread that the child does not have may hold the other one
    for c in list(_connections):
        c._forget()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


class Batch:
    """A batch in shared memory: its bytes, and its columns by name. They are views that hold the slot."""

    __slots__ = ("base", "columns", "epoch_run", "number", "seeds")

    def __init__(self, run: int, number: int, seeds: int, columns: dict[str, Array], base: Array) -> None:
        self.epoch_run, self.number, self.seeds, self.columns, self.base = run, number, seeds, columns, base


class Described:
    """What a server says of the batches that it makes, and how they are read."""

    def _describe(self, said: Mapping[str, Any]) -> None:
        """Take a description."""
        self.hops: int = said["hops"]
        self._columns = [(c["name"], _dtype(c["dtype"]), tuple(c["shape"])) for c in said["columns"]]
        self.made: list[dict[str, Any]] = said.get("made", said["columns"])  # the columns of batches, of which seeds alone may be sent
        self.plan: dict[str, Any] | None = said.get("plan")  # where seeds alone are sent
        self.names = [c["name"] for c in self.made]
        self.bfloat16 = frozenset(c["name"] for c in self.made if c["dtype"] == "bfloat16")
        self.seed_types: list[str] = said["seed_types"]
        self.seed_edges: str = said.get("seed_edges", "")
        n = said.get("negatives")
        self.negatives: tuple[str, int, bool] | None = (n["how"], n["each"], n.get("keeps_sources", False)) if n else None
        self.least: dict[str, float] = {c["name"]: c["least"] for c in self.made if "least" in c}
        self.ops: list[tuple[str, int]] = [(o["edges"], o["hop"]) for o in said["ops"] or []]
        self._words = struct.Struct(f"<{2 * len(self._columns)}Q")

    def _head(self, memory: Any, offset: int) -> tuple[int, tuple[int, ...]]:
        """The number of seeds of the batch at an offset of some memory, and the place and the number of rows of each column.

        Raises:
            ValueError: no batch is there.
        """
        magic, _, _, _, seeds, columns, _, _ = _HEAD.unpack_from(memory, offset)
        if magic != _MAGIC or columns != len(self._columns):
            raise ValueError("it sent the place of a batch where none is")
        return seeds, self._words.unpack_from(memory, offset + _HEAD.size)

    def _arrays(self, base: Array, words: tuple[int, ...]) -> dict[str, Array]:
        """The columns of the batch that some bytes are, as views."""
        out: dict[str, Array] = {}
        for i, (name, dtype, shape) in enumerate(self._columns):
            if words[2 * i] > len(base):  # NumPy's own check can overflow
                raise ValueError(f"it sent the place {words[2 * i]} of a column in a batch of {len(base)} bytes")
            out[name] = np.ndarray((words[2 * i + 1], *shape), dtype, base, words[2 * i])
        return out


class Connection(Described):
    """A consumer's connection. Only the process that made it may use it.

    Several threads may: each message belongs to the pass that was started last, and what reads another pass raises an error.
    """

    def __init__(
        self, addr: str, token: str, rank: int, world: int, slots: int, died: Any, slot_bytes: int = 0, tail: str = "", worker: tuple[int, int] = (0, 1)
    ) -> None:
        self._pid = os.getpid()
        self._died = died
        self._using = threading.Lock()  # held while messages are read, so that no pass gets another pass's messages
        self._packets = dial(addr, _PACKET, _PATIENCE)
        _connections.add(self)
        fds: list[int] = []
        try:
            self._packets.connect(addr)
            hello = {"version": _VERSION, "token": token, "rank": rank, "world": world, "tail": tail, "slots": slots, "slot_bytes": slot_bytes}
            self._packets.send(json.dumps({**hello, "worker": worker[0], "workers": worker[1]}).encode())
            body, fds = self._receive()
            if not body:
                raise died()
            if not fds and (self._packets.shared or not body.startswith(b"{")):
                raise _failure(body)
            self._welcome(body, fds[0] if fds else None)
        except (ConnectionError, FileNotFoundError) as e:
            self._packets.close()
            raise died() from e
        except BlockingIOError as e:
            self._packets.close()
            raise _stalled() from e
        except (LookupError, TypeError, ValueError, OverflowError, AttributeError, OSError, RecursionError, struct.error) as e:
            self._packets.close()
            raise _violated(f"its answer to the greeting cannot be used ({e})") from e
        except BaseException:
            self._packets.close()
            raise
        finally:
            for fd in fds:
                os.close(fd)
        self._run = self._uncollected = 0
        self._held: dict[int, Any] = {}  # weak references to the bases of leased slots, which must be kept

    def _welcome(self, body: bytes, ring: int | None) -> None:
        """Take what the feed says of itself, and its ring."""
        welcome = json.loads(body)
        self.slots, self._slot_bytes = welcome["slots"], welcome["slot_bytes"]
        self.batches, self.total, self.seeds = welcome["batches"], welcome["total"], welcome["seeds"]
        self.notes: list[str] = welcome.get("notes", [])
        self.left_out: list[str] = welcome.get("left_out", [])
        self.events: dict[str, Any] | None = welcome.get("events")
        self._describe(welcome)
        if self.slots < 1 or self._slot_bytes < _HEAD.size + self._words.size:
            raise ValueError(f"found {self.slots} slots of {self._slot_bytes} bytes")
        self._ring = None if ring is None else mmap.mmap(ring, self.slots * self._slot_bytes, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)

    def _receive(self) -> tuple[bytes, list[int]]:
        try:
            return self._packets.receive()
        except TooLong as e:
            raise _violated(str(e)) from None

    def _check(self) -> None:
        if os.getpid() != self._pid:
            raise GraphmillError("found a connection that was made before a fork, expected one of this process")

    def start(self, epoch: int, first: int) -> int:
        """Start an epoch at batch ``first`` (over all ranks); pending batches of another epoch are dropped. Returns the pass, for `next`."""
        self._check()
        with self._using:
            self._run += 1
            self._send(_REQUEST.pack(_START, 0, first, epoch))
            return self._run

    def sample(self, seeds: Array, epoch: int, unit: int) -> Batch:
        """The batch of the given seeds. No pass may be in progress."""
        self._check()
        with self._using:
            self._send(_REQUEST.pack(_SAMPLE, 0, unit, epoch) + np.ascontiguousarray(seeds, np.int64).tobytes())
            batch = self._next(0)
        if batch is None:
            raise GraphmillError("found the end of an epoch, expected a batch")
        return batch

    def next(self, run: int) -> Batch | None:
        """The next batch of a pass; None at its end."""
        self._check()
        with self._using:
            if run != self._run:
                raise self.ended()  # no batch of it will arrive, so waiting would never end
            return self._next(run)

    def ended(self) -> Exception:
        """The error of a pass that ended early."""
        if self._packets.closed:
            error: Exception = self._died()
            return error
        return RuntimeError("found a pass that ended because another one began, expected one pass at a time; make a loader for each")

    def _send(self, packet: bytes) -> None:
        try:
            self._packets.send(packet)
        except OSError as e:
            if e.errno == errno.EMSGSIZE:
                raise GraphmillError(f"found {len(packet) // 8 - 3} seeds, expected fewer, because the system accepts no packet of {len(packet)} bytes") from e
            if isinstance(e, BlockingIOError):
                raise _stalled() from e
            raise self._died() from e

    def _next(self, run: int) -> Batch | None:
        while True:
            try:
                body, fds = self._receive()
            except BlockingIOError as e:
                raise _stalled() from e
            except OSError as e:  # also if this side closed the socket
                raise self._died() from e
            if not body:
                raise self._died()
            try:
                if len(body) < _MESSAGE.size:
                    raise _violated(f"it sent a message of {len(body)} bytes")
                kind, slot, gen, seq, size, of = _MESSAGE.unpack_from(body)
                if kind == _ERROR:
                    raise _failure(body)
                if kind not in (_BATCH, _END, _JUMBO):
                    raise _violated(f"it sent a message of type {kind}")
                whole = self._packets.body(size) if isinstance(self._packets, Loopback) and kind in (_BATCH, _JUMBO) else None
                if of != run:  # of an epoch that ended early
                    if kind in (_BATCH, _JUMBO):
                        self._give_back(slot, gen)
                    continue
                if kind == _END:
                    return None
                if whole is not None:
                    return self._copied(whole, slot, gen, seq, run)
                if slot >= self.slots or (kind == _BATCH and size > self._slot_bytes):
                    raise _violated(f"it sent a batch of {size} bytes in slot {slot}, of {self.slots} slots of {self._slot_bytes} bytes")
                assert self._ring is not None
                memory, offset = self._ring, slot * self._slot_bytes
                try:
                    if kind == _JUMBO:
                        memory, offset = mmap.mmap(fds[0], size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE), 0
                    return self._batch(memory, offset, size, slot, gen, seq, run)
                except (IndexError, TypeError, ValueError, OverflowError, OSError, struct.error) as e:
                    raise _violated(f"its batch {seq} cannot be read ({e})") from e
            finally:
                for fd in fds:
                    os.close(fd)

    def _copied(self, base: Array, slot: int, gen: int, seq: int, run: int) -> Batch:
        """The batch whose bytes were sent, which holds no slot."""
        try:
            seeds, words = self._head(base, 0)
            columns = self._arrays(base, words)
        except (IndexError, TypeError, ValueError, OverflowError, struct.error) as e:
            raise _violated(f"its batch {seq} cannot be read ({e})") from e
        self._give_back(slot, gen)
        return Batch(run, seq, seeds, columns, base)

    def _batch(self, memory: mmap.mmap, offset: int, size: int, slot: int, gen: int, seq: int, run: int) -> Batch:
        base = np.frombuffer(memory, np.uint8, size, offset)
        seeds, words = self._head(memory, offset)
        if self._last_free():
            if memory is self._ring:
                base = base.copy()
            self._give_back(slot, gen)
        else:
            self._lease(base, slot, gen)
        return Batch(run, seq, seeds, self._arrays(base, words), base)

    def _last_free(self) -> bool:
        """Whether all slots but one are held by arrays that are in use."""
        if len(self._held) < self.slots - 1:
            return False
        if self._uncollected == 0 and self._held:
            gc.collect()  # some frameworks' objects are in cycles
        self._uncollected = (self._uncollected + 1) % _COLLECT
        return bool(len(self._held) >= self.slots - 1)

    def _lease(self, base: Array, slot: int, gen: int) -> None:
        connection = weakref.ref(self)

        def back(_: Any) -> None:
            c = connection()
            if c is not None:
                c._held.pop(slot, None)
                c._give_back(slot, gen)

        self._held[slot] = weakref.ref(base, back)

    def _give_back(self, slot: int, gen: int) -> None:
        if os.getpid() != self._pid:
            return
        with contextlib.suppress(OSError):  # the feed has ended, so nobody needs the slot
            # Released at once, even if a reader is blocked, because it may wait for this slot.
            self._packets.send_now(_REQUEST.pack(_RETURN, slot, gen, 0))

    def close(self) -> None:
        """Disconnect. Arrays that are in use stay readable."""
        self._packets.hang_up()

    def _forget(self) -> None:
        self._packets.close()


class Feeding:
    """The base of NodeLoader, EventLoader and PyG's sampler, which start a feed, or join one, and connect to it in each process.

    A pickled copy, or a copy in a forked child, connects to the same feed. The process that started or joined the feed owns it.
    """

    _process: Process | None
    _connection: Connection | None
    _pid: int
    http: str | None  # the address of health and metrics

    def _start(self, arguments: list[str], name: str | None = None, program: str = "feed") -> None:
        """Start a feed; with a name, join the one that other processes of this machine started under it."""
        self._pid, self._connection = os.getpid(), None
        self._process = Process(arguments, name, program)
        self._addr, self._token = self._process.addr, self._process.token
        self.http = self._process.http

    def _connected(self, rank: int, world: int, slots: int, tail: str = "", worker: tuple[int, int] = (0, 1)) -> Connection:
        """A new connection of this process, which replaces an earlier one."""
        self._disconnect()
        of = weakref.WeakMethod(self._died)  # a cycle would keep the feed until Python's collector runs

        def died() -> Exception:
            f = of()
            return FeedDied("found a loader that is gone, expected one that is open") if f is None else f()

        self._connection = Connection(self._addr, self._token, rank, world, slots, died, tail=tail, worker=worker)
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None and self._connection._pid == os.getpid():
            self._connection.close()
        self._connection = None

    def _died(self) -> Exception:
        if self._process is not None and os.getpid() == self._pid:
            return self._process.died()
        return FeedDied("the feed ended: the process that started it ended it, or it was killed")

    def close(self) -> None:
        """End the feed, or leave it to the other ranks that use it. Batches that are in use stay readable."""
        self._disconnect()
        if self._process is not None:
            self._process.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None or getattr(self, "_connection", None) is not None:
            Feeding.close(self)

    def __enter__(self: _F) -> _F:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_process"] = state["_connection"] = None
        return state


_F = TypeVar("_F", bound=Feeding)


def _failure(body: bytes) -> GraphmillError:
    """The error of an ERROR."""
    try:
        return GraphmillError(str(json.loads(body[_MESSAGE.size :])["error"]))
    except (LookupError, TypeError, ValueError, RecursionError):
        return _violated("it sent an error that cannot be read")


def _violated(how: str) -> GraphmillError:
    return GraphmillError(f"the feed violated the protocol: {how}; install client and command of one release")


def _stalled() -> FeedDied:
    return FeedDied(f"the feed sent nothing for {_PATIENCE} s, expected a message; it was stopped, or its disk does not answer")


_NAMES = {"bool", "bfloat16", *(f"{kind}int{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)), "float16", "float32", "float64"}


def _dtype(name: str) -> np.dtype[Any]:
    if name not in _NAMES:
        raise ValueError(f"found dtype {name!r}")
    return np.dtype({"bool": "?", "bfloat16": "uint16"}.get(name, name))


def batches(connection: Connection, epoch: int, first: int) -> Iterator[Batch]:
    """The batches of an epoch from batch ``first`` on, which is counted over all ranks."""
    run = connection.start(epoch, first)
    while True:
        b = connection.next(run)
        if b is None:
            return
        yield b
