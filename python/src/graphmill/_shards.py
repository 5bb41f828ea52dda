"""Array files that lie in shards: NAME.npy.00000-of-00003 and so on have the bytes of NAME.npy, one after the other.

The workers of a cluster write them. The size of each shard but the last is a multiple of a page, so that the shards can be
mapped next to each other, as one file.
"""

from __future__ import annotations

import ctypes
import io
import mmap
import os
import re
import weakref
from collections.abc import Iterable, Sequence

import numpy as np

from ._arrays import Array

Piece = tuple[str, int, int]  # a file, the first byte, and the number of bytes

_NAME = re.compile(r"(.+)\.(\d{5,})-of-(\d{5,})")
_FIXED = 0x10  # MAP_FIXED of Linux and macOS


def shards(names: Iterable[str]) -> dict[str, list[str]]:
    """The shards of each file that has some, in order. ValueError where one is missing, or the file is there as well."""
    files: dict[str, list[str]] = {}
    all_names = set(names)
    for name in sorted(all_names):
        if m := _NAME.fullmatch(name):
            files.setdefault(m[1], []).append(name)
    for file, list_ in files.items():
        if file in all_names:
            raise ValueError(f"found {file} beside its shard {list_[0]}, expected one of them")
        if list_ != [f"{file}.{i:05d}-of-{len(list_):05d}" for i in range(len(list_))]:
            raise ValueError(f"found the shards {', '.join(list_)} of {file}, expected all of them")
    return files


def mapped(parts: Sequence[Piece], counted: bool) -> Array:
    """The array of an .npy file in pieces, as a read-only map that lives as long as the array.

    Args:
        parts: the pieces, one after the other.
        counted: whether the header has the number of rows; otherwise they are as many as there are bytes for.
    """
    for i, (p, first, size) in enumerate(parts):
        if os.path.getsize(p) < first + size:
            raise ValueError(f"{p} has fewer than {first + size} bytes")
        if first % mmap.PAGESIZE or (size % mmap.PAGESIZE and i < len(parts) - 1):
            raise ValueError(f"{p} has a piece of {size} bytes from byte {first} on, which are not multiples of {mmap.PAGESIZE}")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

    def place(address: int | None, size: int, protection: int, flags: int, fd: int, first: int) -> int:
        found = libc.mmap(address, size, protection, flags, fd, first)
        if found in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return int(found)

    total = sum(size for _, _, size in parts)
    start = place(None, total, 0, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0)  # addresses alone
    memory = (ctypes.c_ubyte * total).from_address(start)
    # Not at the end of the process, when a thread may still read.
    weakref.finalize(memory, libc.munmap, start, total).atexit = False
    view = memoryview(memory)
    at = start
    for path, first, size in parts:
        with open(path, "rb") as f:
            if size:
                place(at, size, mmap.PROT_READ, mmap.MAP_SHARED | _FIXED, f.fileno(), first)
        at += size
    head = io.BytesIO(bytes(view[: 1 << 16]))
    version = np.lib.format.read_magic(head)
    shape, fortran, dtype = (np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0)(head)
    if fortran and len(shape) > 1:
        raise ValueError("its values are in Fortran's order")
    if not counted:
        shape = ((total - head.tell()) // (dtype.itemsize * int(np.prod(shape[1:], dtype=np.int64))), *shape[1:])
    count = int(np.prod(shape, dtype=np.int64))
    values: Array = np.frombuffer(view, dtype, count, head.tell()).reshape(shape)
    values.flags.writeable = False
    return values
