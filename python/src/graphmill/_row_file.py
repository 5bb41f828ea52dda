"""Files of rows that are written from front to back and can be continued after a kill, and the folders of such work."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._arrays import Array
from ._command import GraphmillError

if sys.platform != "win32":
    import fcntl


class RowFile:
    """A .npy file of a known number of rows. All of its space is taken when it is made.

    Args:
        path: the file; an existing one is continued if ``done`` is given, else replaced.
        rows: the number of rows.
        row: an array like one row, which gives its dtype and shape.
        done: the number of rows that are written already.
    """

    def __init__(self, path: str, rows: int, row: Array, done: int = 0) -> None:
        self.path, self.rows, self.done = path, rows, done
        self._shape, self._dtype = row.shape, row.dtype
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": np.lib.format.dtype_to_descr(row.dtype), "fortran_order": False, "shape": (rows, *row.shape)})
        self._row = row.nbytes
        self._start = len(header.getvalue())
        size = self._start + rows * self._row
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | (0 if done else os.O_TRUNC) | getattr(os, "O_BINARY", 0), 0o666)
        try:
            if done and (os.fstat(self._fd).st_size != size or _read(self._fd, self._start) != header.getvalue()):
                raise GraphmillError(
                    f"{path}: found another size or header, expected {rows} rows of {row.dtype} {list(row.shape)}; leave out resume= to begin again"
                )
            self._write(header.getvalue(), 0)
            if size > self._start:
                self._allocate(size)
        except BaseException:
            self.close()
            raise

    def _allocate(self, size: int) -> None:
        if not hasattr(os, "posix_fallocate"):  # macOS: a full disk is noticed later, by a write
            os.ftruncate(self._fd, size)
            return
        try:
            os.posix_fallocate(self._fd, 0, size)
        except OSError as e:
            if e.errno in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):  # the file system has no such call
                os.ftruncate(self._fd, size)
                return
            raise self._error(e, f"{size} bytes") from e

    def append(self, x: Array) -> None:
        """Write rows after those that are written. They are safe from a crash after the next `sync`."""
        self._write(np.ascontiguousarray(x, self._dtype).reshape(-1).view(np.uint8).data, self._start + self.done * self._row)
        self.done += len(x)

    def _write(self, b: Any, at: int) -> None:
        try:
            while len(b):
                n = _write(self._fd, b, at)
                b, at = b[n:], at + n
        except OSError as e:
            raise self._error(e, f"space for {len(b)} bytes") from e

    def sync(self) -> None:
        """Wait until the rows are on the disk."""
        try:
            _sync(self._fd)
        except OSError as e:
            raise self._error(e, "the rows on the disk") from e

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _error(self, e: OSError, expected: str) -> GraphmillError:
        return GraphmillError(f"{self.path}: found {e.strerror}, expected {expected}; free some, and give resume=True to continue")


def _read(fd: int, n: int) -> bytes:
    """The first n bytes of a file."""
    if hasattr(os, "pread"):
        return os.pread(fd, n, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    return os.read(fd, n)


def _write(fd: int, b: Any, at: int) -> int:
    """Write bytes at an offset of a file, which no other thread uses; returns how many."""
    if hasattr(os, "pwrite"):
        return os.pwrite(fd, b, at)
    os.lseek(fd, at, os.SEEK_SET)
    return os.write(fd, b)


def write_json(path: str, x: Any) -> None:
    """Replace a file as a whole: after a crash it has its old or its new content."""
    beside = path + ".new"
    try:
        with open(beside, "w") as f:
            json.dump(x, f, indent=1)
            f.flush()
            _sync(f.fileno())
        os.replace(beside, path)
        sync_folder(os.path.dirname(path))
    except OSError as e:
        raise GraphmillError(f"{path}: found {e.strerror}, expected to write it; give resume=True to continue") from e


def sync_folder(path: str) -> None:
    """Wait until the names in a folder are on the disk. Windows opens no folder: its file system orders names itself."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        _sync(fd)
    finally:
        os.close(fd)


def _sync(fd: int) -> None:
    """Wait until a file or folder is on the disk. fsync of macOS does not wait for the disk: F_FULLFSYNC does, where the file system has it."""
    full = None if sys.platform == "win32" else getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        try:
            fcntl.fcntl(fd, full)
            return
        except OSError as e:
            if e.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOTTY):
                raise
    os.fsync(fd)


@contextlib.contextmanager
def locked_folder(folder: str, purpose: str, work: str) -> Iterator[None]:
    """The folder of unfinished work, made if there is none, which one process may use at a time.

    Args:
        purpose, work: what the folder is for, and what another process does with it, for errors.
    """
    try:
        os.makedirs(folder, exist_ok=True)
        # Windows locks files alone: there it is one beside the folder.
        fd = os.open(folder + ".lock", os.O_RDWR | os.O_CREAT, 0o666) if sys.platform == "win32" else os.open(folder, os.O_RDONLY)
    except OSError as e:
        raise GraphmillError(f"{folder}: found {e.strerror}, expected to make this folder{purpose}") from e
    try:
        try:
            _lock(fd)
        except OSError as e:
            if e.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise
            raise GraphmillError(f"{folder}: found that another process {work}, expected none") from None
        yield
    finally:
        os.close(fd)
        if sys.platform == "win32":
            with contextlib.suppress(OSError):  # another process has it open
                os.remove(folder + ".lock")


def _lock(fd: int) -> None:
    """Lock a file or folder until it is closed, without waiting."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def empty_folder(folder: str) -> None:
    """Remove everything in a folder. Links are removed, never followed."""
    for name in os.listdir(folder):
        entry = os.path.join(folder, name)
        if os.path.isdir(entry) and not os.path.islink(entry):
            shutil.rmtree(entry)
        else:
            os.remove(entry)
