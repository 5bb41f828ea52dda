"""The name at which the ranks of a training on one machine find their feed.

Linux has abstract sockets: only one process can bind a name, and the name is free when the feed ends. Other systems have sockets with
paths, which stay when a process ends. There, the one that holds the lock of a file beside the path may replace the socket. The feed inherits the
lock, so that it is free when the feed ends in any way. On Windows owners do not meet: each has a feed of its own.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
import sys
import tempfile
from typing import Union

from ._command import GraphmillError

if sys.platform != "win32":
    import fcntl


class _Lock:
    """A locked file. The lock is held until every process that has the descriptor has closed it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


Claimed = Union[socket.socket, _Lock]


class _Abstract:
    """A name in the kernel."""

    def __init__(self, name: str) -> None:
        self._name = "\0" + name

    def claim(self) -> list[Claimed]:
        """What the feed inherits: its listening socket first. Empty if another process has the name."""
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            s.bind(self._name)
            s.listen(128)
        except OSError as e:
            s.close()
            if e.errno != errno.EADDRINUSE:
                raise
            return []
        return [s]

    def join(self, s: socket.socket) -> bool:
        """Connect to the feed; whether it belongs to this user."""
        s.connect(self._name)
        _, uid, _ = struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return bool(uid == os.geteuid())


class _Path:
    """A name in a folder that only this user can use."""

    def __init__(self, name: str) -> None:
        # A path of a socket has at most 103 bytes on macOS, and the folder for temporary files takes half of them.
        user = os.geteuid()
        self._folder = os.path.join(tempfile.gettempdir(), f"graphmill-{user}")
        self._path = os.path.join(self._folder, name.rpartition("-")[2][:24])
        os.makedirs(self._folder, 0o700, exist_ok=True)
        found = os.lstat(self._folder)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & 0o077:
            raise GraphmillError(
                f"{self._folder}: found a folder of user {found.st_uid} with mode {stat.S_IMODE(found.st_mode):o}, expected one of user {user} with mode 700; remove it, or set TMPDIR"
            )

    def claim(self) -> list[Claimed]:
        """What the feed inherits: its listening socket, and the lock. Empty if another process has the lock."""
        lock = _Lock(os.open(self._path + ".lock", os.O_RDWR | os.O_CREAT, 0o600))
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.lexists(self._path):  # of a feed that has ended
                os.remove(self._path)
            s.bind(self._path)
            s.listen(128)
        except BlockingIOError:
            s.close()
            lock.close()
            return []
        except BaseException:
            s.close()
            lock.close()
            raise
        return [s, lock]

    def join(self, s: socket.socket) -> bool:
        """Connect to the feed, which belongs to this user, as its folder does."""
        s.connect(self._path)
        return True


def place(name: str) -> _Abstract | _Path:
    """The place where the owners of a feed with this name meet."""
    return (_Abstract if sys.platform == "linux" else _Path)(name)
