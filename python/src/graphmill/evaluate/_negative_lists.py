"""The negatives of TGB: a pickle of a dict of keys of integers and arrays or lists of nodes, read into one array."""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array
from ._pickled import Damaged as _Bad
from ._pickled import Ndarray
from ._pickles import stream
from ._torch_files import contents

_TOGETHER = 1 << 18  # nodes that are checked and copied together
_MOST = 1 << 12  # lists
_KEY = 3  # integers of a key


class Found(NamedTuple):
    """The items of the dict in the order of the file.

    Attributes:
        keys: [m, 3], int64.
        flat: the nodes, one list after another, int32 if they fit.
        offsets: [m + 1].
    """

    keys: Array
    flat: Array
    offsets: Array


def negative_lists(path: str) -> Found:
    """The dict of a file. Beside the array of all nodes, memory has the keys, and a part of the lists.

    Raises:
        ValueError: the file is damaged, or has something else.
        OSError: it cannot be read.
    """
    data = contents(path)
    made: list[_Lists] = []

    def new() -> _Lists:
        made[:] = [_Lists(path, len(data))]
        return made[0]

    stream(data, path, new)
    return made[0].found()


class _Lists:
    """Gets keys and lists one after another."""

    def __init__(self, path: str, size: int) -> None:
        self._path, self._size = path, size
        self._keys, self._lengths = array("q"), array("q")
        self._flat: Array = np.empty(0, np.int32)
        self._pending: list[Array] = []
        self._count = self._waiting = 0

    def __call__(self, key: Any, value: Any) -> None:
        if type(key) is not tuple or len(key) != _KEY:
            raise self._bad(f"a key that is no tuple of {_KEY} integers")
        for x in key:
            if type(x) is float and x.is_integer():
                x = int(x)
            if type(x) is not int or not -(1 << 62) < x < 1 << 62:
                raise self._bad(f"a key with a {type(x).__name__}, or one of more than 62 bits")
            self._keys.append(x)
        if type(value) is Ndarray:
            if len(value.shape) != 1:
                raise self._bad(f"an array of shape {list(value.shape)}")
            x = np.frombuffer(value.data, value.dtype.numpy()) if value.shape[0] else np.empty(0, np.int64)
        elif type(value) is list and all(type(i) is int and -(1 << 62) < i < 1 << 62 for i in value):
            x = np.array(value, np.int64)
        else:
            raise self._bad(f"a {type(value).__name__}")
        if x.dtype.kind == "f":  # TGB writes an empty history and the nodes behind it as floats
            with np.errstate(invalid="ignore"):
                whole = x.astype(np.int64)
            if (whole != x).any():
                raise self._bad("a fraction")
            x = whole
        elif x.dtype.kind not in "iu" or x.dtype == np.uint64:
            raise self._bad(f"an array of dtype {x.dtype}")
        self._lengths.append(len(x))
        self._pending.append(x)
        self._waiting += len(x)
        if self._waiting >= _TOGETHER or len(self._pending) >= _MOST:
            self._flush()

    def _bad(self, found: str) -> ValueError:
        n = len(self._lengths)
        return _Bad(f"found {found} in item {n} of the dict, expected a tuple of {_KEY} integers and an array or a list of nodes, from 0")

    def _flush(self) -> None:
        if not self._waiting:
            self._pending.clear()
            return
        x = np.concatenate(self._pending)
        self._pending.clear()
        self._waiting = 0
        if int(x.min()) < 0:
            raise _Bad(f"found the node {int(x.min())} before item {len(self._lengths)} of the dict, expected nodes from 0")
        end = self._count + len(x)
        if end > self._size:
            raise _Bad(f"found lists that occur again and again, {end:,} nodes of {self._size:,} bytes, expected a list of its own for each key")
        if self._flat.dtype == np.int32 and int(x.max()) >= 1 << 31:
            self._flat = self._flat.astype(np.int64)
        if end > len(self._flat):
            self._flat.resize(end + (end >> 3), refcheck=False)
        self._flat[self._count : end] = x
        self._count = end

    def found(self) -> Found:
        try:
            self._flush()
        except _Bad as e:
            raise ValueError(f"{self._path}: {e}") from None
        self._flat.resize(self._count, refcheck=False)
        offsets = np.zeros(len(self._lengths) + 1, np.int64)
        np.cumsum(self._lengths, out=offsets[1:])
        keys = np.array(self._keys, np.int64).reshape(-1, _KEY)
        return Found(keys, self._flat, offsets)
