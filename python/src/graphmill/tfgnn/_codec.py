"""The client of ``graphmill tfgnn codec``, a process that encodes and decodes Examples."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import Array
from .._command import GraphmillError, command

_SIZE = struct.Struct("<I")
_PIPE = 1031  # F_SETPIPE_SZ of Linux, which Python has a name for from 3.10 on


class Codec:
    """A process, and the requests to it. At most two may be open: one whose reply is read, and the next one."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._p = subprocess.Popen([command(), "tfgnn", "codec"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if sys.platform == "linux":
            import fcntl

            for pipe in (self._p.stdin, self._p.stdout):
                with contextlib.suppress(OSError):
                    fcntl.fcntl(pipe, _PIPE, 1 << 20)  # type: ignore[arg-type]
        self._lock = threading.Lock()
        self._opened: dict[Any, int] = {}

    def call(self, header: dict[str, Any], arrays: Sequence[Any] = ()) -> tuple[dict[str, Any], list[Array]]:
        """Send a request and return the reply; arrays are bytes."""
        with self._lock:
            self.send(header, arrays)
            return self.receive()

    def number(self, schema: Any) -> int:
        """The number of the codec of a schema."""
        have = self._opened.get(schema)
        if have is None:
            have = self._opened[schema] = int(self.call({"op": "open", "schema": schema.json})[0]["codec"])
        return have

    def send(self, header: dict[str, Any], arrays: Sequence[Any] = ()) -> None:
        parts = [memoryview(x).cast("B") if len(x) else b"" for x in arrays]
        text = json.dumps({**header, "bytes": [len(x) for x in parts]}).encode()
        out: Any = self._p.stdin
        try:
            out.write(_SIZE.pack(len(text)) + text)
            for x in parts:
                out.write(x)
            out.flush()
        except OSError as e:
            raise self._ended() from e

    def receive(self) -> tuple[dict[str, Any], list[Array]]:
        header = json.loads(self._read(_SIZE.unpack(self._read(4))[0]))
        arrays = [self._read(n) for n in header.get("bytes", ())]
        if "error" in header:
            raise GraphmillError(header["error"])
        return header, arrays

    def _read(self, n: int) -> Any:
        b = np.empty(n, np.uint8)
        if n and self._p.stdout.readinto(b) != n:  # type: ignore[union-attr]
            raise self._ended()
        return b.tobytes() if n < 4096 else b

    def _ended(self) -> GraphmillError:
        return GraphmillError(
            f"graphmill tfgnn codec: found its end (exit status {self._p.poll()}), expected a reply; import graphmill.tfgnn again, or report its last words"
        )

    def close(self) -> None:
        """End the process, whatever it does."""
        if os.getpid() == self.pid:
            self._p.kill()
            self._p.wait()
        for pipe in (self._p.stdin, self._p.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


_shared: Codec | None = None
_inherited: list[Codec] = []  # of the parent of a forked child, which must not end them
_starting = threading.Lock()


def codec() -> Codec:
    """The process of this one; a forked child starts its own. It ends when its stdin does, with this process."""
    global _shared
    with _starting:
        if _shared is not None and _shared.pid != os.getpid():
            _inherited.append(_shared)
            _shared = None
        if _shared is None or _shared._p.poll() is not None:
            _shared = Codec()
        return _shared


@atexit.register
def _end() -> None:
    if _shared is not None:
        _shared.close()
