"""The process of a feed, and its owners.

A feed has one owner, or several that found it by name: the ranks of a training on one machine. Each owner holds one end
of a lifeline. The feed ends when the last lifeline is closed, however the owners end.

- The name belongs to a Unix socket, which only one process can claim (_meeting.py). That process starts the feed and hands the
  listening socket to it; the others connect, and each connection is a lifeline. The name is free again when the feed ends.
- After a fork, the child closes the lifeline that it inherited: a copy would keep the feed alive after its owner was killed.
"""

from __future__ import annotations

import atexit
import collections
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import IO, Any

from ._command import GraphmillError, command
from ._meeting import Claimed, place

_PATIENCE = 10.0  # seconds for which a name may be taken while nobody can be joined

_LONGEST = 1 << 20  # bytes of the line of a feed


# Whether batches come over a socket of the loopback address: Windows hands no memory to another process by a descriptor.
LOOPBACK = sys.platform == "win32"


class _Pipes:
    """A lifeline of two pipes."""

    def __init__(self, to: IO[bytes], back: IO[bytes]) -> None:
        self._to, self._back = to, back

    def fileno(self) -> int:
        return -1 if self._to.closed else self._to.fileno()

    def close(self) -> None:
        self._to.close()
        self._back.close()


class FeedDied(GraphmillError):
    """The feed has ended or was killed."""


_processes: weakref.WeakSet[Process] = weakref.WeakSet()


def _after_fork() -> None:
    for p in list(_processes):
        p._forget()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


class Process:
    """A running feed that this process owns, perhaps with others. It ends when its last owner calls `close` or ends.

    ``name`` is that under which owners find each other: the processes with one name, the same user and the same network
    namespace share a feed. With None, the feed has one owner. ``program`` is the command of graphmill that is the feed.
    """

    def __init__(self, arguments: list[str], name: str | None = None, program: str = "feed") -> None:
        self._program = program
        self._pid = os.getpid()
        self._lines: collections.deque[str] = collections.deque(maxlen=50)
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline: socket.socket | _Pipes | None = None
        self._claim: list[Claimed] = []
        if LOOPBACK:
            name = None  # the owner alone has the pipes
        self._shared = name is not None
        _processes.add(self)
        atexit.register(_close_at_exit, weakref.ref(self))
        ready = None if name is None else self._find(name)
        if ready is None:
            try:
                ready = self._begin(arguments)
            except GraphmillError:
                self.close()
                raise
        if "addr" not in ready:
            self.close()
            # A feed that could not read its arguments names flags; here they are keywords.
            words = re.sub("--([a-z][a-z-]*)", lambda m: m[1].replace("-", "_"), self.last_words())
            raise GraphmillError(ready.get("error") or words or "the feed ended without a word")
        self.addr, self.token, self.pid = ready["addr"], ready["token"], ready["pid"]
        self.http: str | None = ready["http"]

    def _find(self, name: str) -> dict[str, Any] | None:
        """What the feed with a name says; None if this process has to start it."""
        end = time.monotonic() + _PATIENCE
        meeting = place(name)
        while time.monotonic() < end:
            self._claim = meeting.claim()
            if self._claim:
                return None
            s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._lifeline = s
            try:
                if not meeting.join(s):
                    break
                line = _line(s.recv)
                if line:
                    return line
                end = time.monotonic() + _PATIENCE  # that feed ended before it could tell its address
            except (ConnectionError, FileNotFoundError):  # the process that has the name does not listen yet, or has just ended
                pass
            s.close()
            time.sleep(0.01)
        # The name belongs to somebody else, so the feed of this process is its own.
        self._shared = False
        if self._lifeline is not None:
            self._lifeline.close()
        return None

    def _begin(self, arguments: list[str]) -> dict[str, Any]:
        """What a feed says that this process starts."""
        if LOOPBACK:
            return self._begin_loopback(arguments)
        ours, theirs = socket.socketpair()
        given = [theirs, *self._claim]
        flags = [x for flag, s in zip(("--lifeline", "--joining"), given) for x in (flag, str(s.fileno()))]
        try:
            self._process = subprocess.Popen(
                [command(), self._program, *arguments, *flags],
                pass_fds=[s.fileno() for s in given],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            for s in given:
                s.close()
        self._lifeline = ours
        self._listen()
        return _line(ours.recv)

    def _begin_loopback(self, arguments: list[str]) -> dict[str, Any]:
        """What a feed says that this process starts without shared memory: its lifeline is its stdin and stdout."""
        apart: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        self._process = subprocess.Popen(
            [command(), self._program, *arguments, "--lifeline", "0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **apart,  # an interrupt of this process, from the keyboard, is none of the feed
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._lifeline = _Pipes(self._process.stdin, self._process.stdout)
        self._listen()
        return _line(self._process.stdout.read1)  # type: ignore[attr-defined]

    def _listen(self) -> None:
        assert self._process is not None
        self._listener = threading.Thread(target=_collect, args=(self._process, self._lines), daemon=True)
        self._listener.start()

    def last_words(self) -> str:
        """The end of the text that the feed printed, if this process started it."""
        if self._process is not None:
            self._listener.join(timeout=1)
        return "\n".join(self._lines)

    def died(self) -> FeedDied:
        if self._lifeline is None or self._lifeline.fileno() < 0:
            return FeedDied("found a loader that was closed, expected one that is open")
        if self._process is None:
            return FeedDied(f"the feed (process {self.pid}), which another rank started, was killed or ended; its last words are in the error of that rank")
        try:
            code: Any = self._process.wait(timeout=1) if os.getpid() == self._pid else "unknown"
        except subprocess.TimeoutExpired:
            code = "none: it is still running"
        words = self.last_words() if os.getpid() == self._pid else ""
        return FeedDied(f"the feed ended (exit status {code})" + (f": {words}" if words else ""))

    def close(self) -> None:
        """Leave the feed, and wait for its end unless it has other owners."""
        if os.getpid() != self._pid or self._lifeline is None or self._lifeline.fileno() < 0:
            return
        if self._shared and isinstance(self._lifeline, socket.socket):
            # The feed closes its end at once if it has other owners, else when it has ended.
            try:
                self._lifeline.shutdown(socket.SHUT_WR)
                self._lifeline.settimeout(5)
                while self._lifeline.recv(4096):
                    pass
            except OSError:
                pass
            self._lifeline.close()
            return  # _collect waits for the process
        self._lifeline.close()
        assert self._process is not None
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(timeout=1)

    def _forget(self) -> None:
        for s in (self._lifeline, *self._claim):
            if s is not None:
                s.close()

    def __del__(self) -> None:
        if hasattr(self, "_lifeline"):
            self.close()


def _line(receive: Callable[[int], bytes]) -> dict[str, Any]:
    """The JSON line that a feed writes; empty if it ends before."""
    line = b""
    while not line.endswith(b"\n"):
        part = receive(65536)
        if not part:
            return {}
        line += part
        if len(line) > _LONGEST:
            raise GraphmillError(f"found more than {_LONGEST} bytes on the lifeline of a feed, expected one line; install client and command of one release")
    try:
        found: dict[str, Any] = json.loads(line)
        if "error" not in found:
            found = {"addr": str(found["addr"]), "token": str(found["token"]), "pid": int(found["pid"]), "http": found.get("http")}
    except (LookupError, TypeError, ValueError, RecursionError) as e:
        raise GraphmillError(f"found {line[:100]!r} on the lifeline of a feed, expected its address ({e}); install client and command of one release") from e
    return found


def _close_at_exit(process: weakref.ref[Process]) -> None:
    p = process()
    if p is not None:
        p.close()


def _collect(process: subprocess.Popen[bytes], lines: collections.deque[str]) -> None:
    """Keep the last lines of a feed until it ends, and then take its exit status, so that no zombie is left."""
    assert process.stderr is not None
    with process.stderr as pipe:
        for line in pipe:
            lines.append(line.decode(errors="replace").rstrip())
    process.wait()
