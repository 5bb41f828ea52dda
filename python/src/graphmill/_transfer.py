"""Batches that come to a device as a whole: one copy of their bytes out of the feed's shared memory, which CUDA reads in place.

The thread of `Ahead` makes the copies on a stream of their own. A batch holds its slot until its copy has ended, which an event says; nothing waits for the
device but a thread that is two batches ahead.
"""

from __future__ import annotations

import collections
import contextlib
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ._ahead import each, stream_of
from ._arrays import Array
from ._cache import Cache
from ._feed import Batch, Connection
from ._narrow import Narrow
from ._schema import Raw, Schema, parts_of
from ._torch_device import joined

_UNSIGNED = {"u2": (torch.int16, torch.int32, 0xFFFF), "u4": (torch.int32, torch.int64, 0xFFFFFFFF)}
_DTYPES = {
    "b1": torch.bool, "i1": torch.int8, "i2": torch.int16, "i4": torch.int32, "i8": torch.int64, "u1": torch.uint8, "u8": torch.int64,
    "f2": torch.float16, "f4": torch.float32, "f8": torch.float64,
}  # fmt: skip
_PAGE = 2 << 20  # the memory that is registered is a multiple of it, as slots are
_AHEAD = 2  # copies that may be under way


class Cuda:
    """The calls of CUDA that transfers make, on one device."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._stream = stream_of(device)

    def wait(self) -> None:
        """Make the stream wait for what the current one has to do, such as tables of a transform."""
        self._stream.wait_stream(torch.cuda.current_stream(self.device))

    def within(self) -> Any:
        """A context whose calls go to the stream of the copies."""
        return torch.cuda.stream(self._stream)

    def event(self) -> Any:
        """An event at the end of what the stream has to do. It has ``query`` and ``synchronize``, in which a thread sleeps."""
        return self._stream.record_event(torch.cuda.Event(blocking=True))

    def copied(self, host: torch.Tensor) -> torch.Tensor:
        """A copy of bytes on the device, which is complete when the stream is there."""
        return host.to(self.device, non_blocking=True)

    def register(self, address: int, size: int) -> str:
        """Make CUDA read memory in place. Returns why it does not; empty if it does."""
        runtime: Any = torch.cuda.cudart()
        with torch.cuda.device(self.device):
            error = runtime.cudaHostRegister(address, size, 0)
            if int(error) == 0:
                return ""
            with contextlib.suppress(RuntimeError):  # CUDA keeps the error of a call for whatever asks next, which is the launch of a kernel
                torch.zeros(1, device=self.device)
        return str(runtime.cudaGetErrorString(error))

    def unregister(self, address: int) -> None:
        runtime: Any = torch.cuda.cudart()
        with torch.cuda.device(self.device):
            runtime.cudaHostUnregister(address)


class Registered:
    """The part of each slot of a ring that CUDA reads in place. It grows with the largest batch, because slots are mostly room that no batch takes."""

    def __init__(self, cuda: Any, connection: Connection) -> None:
        self._cuda, self._refused = cuda, False
        ring = connection._ring
        self._first = 0 if ring is None else np.frombuffer(ring, np.uint8).ctypes.data
        self._slot, self._ring = connection._slot_bytes, ring  # memory stays mapped while it is registered
        self._end = self._first + (0 if ring is None else len(ring))
        self._of: dict[int, int] = {}  # registered bytes by the address of a slot

    def covers(self, x: Array) -> bool:
        """Whether CUDA reads the bytes of a batch in place, which may register them."""
        address, size = x.ctypes.data, len(x)
        if self._refused or not self._first <= address < self._end or (address - self._first) % self._slot:
            return False  # a batch that is larger than a slot, or was copied out of one
        have = self._of.get(address, 0)
        if size <= have:
            return True
        need = min(-(-(size + size // 4) // _PAGE) * _PAGE, self._slot)
        if have:
            self._cuda.unregister(address)  # no copy is under way: the slot was given back, and filled again
            del self._of[address]
        why = self._cuda.register(address, need)
        if why:
            self._refused = True
            warnings.warn(
                f"CUDA cannot register the shared memory of the feed ({why}), so each batch is copied to pinned memory first; where memory is limited, raise the limit of locked memory (ulimit -l) of this process or container",
                RuntimeWarning,
                stacklevel=2,
            )
            return False
        self._of[address] = need
        return True

    def close(self) -> None:
        while self._of:
            self._cuda.unregister(self._of.popitem()[0])
        self._ring = None


class Transfer:
    """Copies batches to a device, and joins their rows with those of a cache.

    Args:
        device: any of torch. The rows of a cache are there.
        cache: the rows that batches leave out; None for none.
        narrow: the features that batches bring in pieces; None for none.
        cuda: the calls of CUDA; None for other devices.
    """

    def __init__(self, device: torch.device, cache: Cache | None, connection: Connection, narrow: Narrow | None = None, cuda: Any = None) -> None:
        self._cache, self._narrow, self._cuda = cache, narrow, cuda
        self.device, self.connection = device, connection
        self._registered = None if cuda is None else Registered(cuda, connection)
        self._under_way: collections.deque[tuple[Any, Any]] = collections.deque()  # events of copies, and the bytes that they read
        self._pid = os.getpid()

    def begin(self) -> None:
        """Begin a pass, in the trainer's thread."""
        if self._cuda is not None:
            self._cuda.wait()

    def __call__(self, b: Batch, schema: Schema, raw: Raw, make: Callable[[Raw], Any]) -> tuple[Any, Any]:
        """What ``make`` makes of the columns of a batch, on the device; and the event at the end of the copies, None where they have ended."""
        with contextlib.nullcontext() if self._cuda is None else self._cuda.within():
            event = None
            try:
                raw.columns = self._columns(b, schema, raw.columns)
                out = each(make(raw), "to", self.device, non_blocking=self._cuda is not None)  # other devices could read the slot after it is given back
            finally:
                if self._cuda is not None:  # what was begun goes on, also where the rest fails
                    event = self._cuda.event()
                    self._under_way.append((event, b.base))  # which holds the slot
            return out, event

    def _columns(self, b: Batch, schema: Schema, columns: dict[str, Any]) -> dict[str, Any]:
        """The columns of a batch with those of nodes, edges and ops on the device.

        Args:
            b: the batch as it came.
            columns: by the feed's name, with what was added to them.
        """
        device = self._copied(torch.from_numpy(b.base))
        first = b.base.ctypes.data
        out: dict[str, Any] = {}
        added = {name for name, x in columns.items() if b.columns.get(name) is not x}
        for name, x in columns.items():
            if name in added or not _moves(name):
                out[name] = x
            elif not x.size:
                out[name] = torch.empty(x.shape, dtype=torch.bfloat16 if name in schema.bfloat16 else _wide(x.dtype), device=self.device)
            else:
                if x.dtype.str[1:] == "u8" and x.max() >= 1 << 63:
                    raise ValueError(f"column {name}: found {x.max()}, expected values below 2^63, because torch computes with no larger integers")
                at = x.ctypes.data - first
                out[name] = _viewed(device[at : at + x.nbytes], x, name in schema.bfloat16)
            if name not in added and _is_ids(name) and isinstance(out[name], torch.Tensor):
                out[name] = out[name].long()
        if self._cache is not None:
            joined(self._cache, out)
        if self._narrow is not None:
            self._narrow.widen(out)
        return out

    def _copied(self, host: torch.Tensor) -> torch.Tensor:
        if self._cuda is None:
            return host.to(self.device)
        assert self._registered is not None
        while len(self._under_way) >= _AHEAD or (self._under_way and self._under_way[0][0].query()):
            self._under_way.popleft()[0].synchronize()
        if not self._registered.covers(host.numpy()):
            host = host.pin_memory()
        copy: torch.Tensor = self._cuda.copied(host)
        return copy

    def close(self) -> None:
        """Wait for the copies, and end the registration of the feed's memory."""
        if self._cuda is None or os.getpid() != self._pid:
            return  # a forked child has no CUDA, and its parent has the registration
        with contextlib.suppress(RuntimeError):  # of a device that has failed, which copies nothing more
            while self._under_way:
                self._under_way.popleft()[0].synchronize()
        self._under_way.clear()
        if self._registered is not None:
            self._registered.close()

    def __del__(self) -> None:
        # CUDA would take other memory that comes to be where the feed's was for what it registered, and copy wrong bytes.
        with contextlib.suppress(Exception):  # Python may be ending
            self.close()


def _moves(name: str) -> bool:
    kind, *rest = parts_of(name)
    return kind in ("nodes", "edges", "ops") and rest[-1] != "by_hop"


def _is_ids(name: str) -> bool:
    """Whether a column has ids, which a feed sends as int32 where they fit."""
    kind, *rest = parts_of(name)
    return kind in ("nodes", "edges", "ops") and rest[1] != "x"


def _wide(dtype: np.dtype[Any]) -> torch.dtype:
    of = dtype.str[1:]
    return _UNSIGNED[of][1] if of in _UNSIGNED else _DTYPES[of]


def _viewed(data: torch.Tensor, x: Array, bfloat16: bool) -> torch.Tensor:
    """Bytes on a device as the tensor that `tensor` makes of the array ``x``, whose bytes they are."""
    of = x.dtype.str[1:]
    if bfloat16:
        return data.view(torch.bfloat16).reshape(x.shape)
    if of not in _UNSIGNED:
        return data.view(_DTYPES[of]).reshape(x.shape)
    narrow, wide, mask = _UNSIGNED[of]
    return (data.view(narrow).to(wide) & mask).reshape(x.shape)
