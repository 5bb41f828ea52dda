"""What pickles of numbers and arrays name: the few functions and classes that are allowed, and what stands for their results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array

STORAGES = {"Long": "<i8", "Int": "<i4", "Short": "<i2", "Char": "i1", "Byte": "u1", "Bool": "?", "Double": "<f8", "Float": "<f4", "Half": "<f2"}
ALLOWED = {
    **{f"{numpy}.multiarray.{f}": f for numpy in ("numpy.core", "numpy._core") for f in ("_reconstruct", "scalar")},
    **{f"{numpy}.numeric._frombuffer": "_frombuffer" for numpy in ("numpy.core", "numpy._core")},
    **{f"numpy.{f}": f for f in ("ndarray", "dtype")},
    **{f"torch._utils.{f}": f for f in ("_rebuild_tensor", "_rebuild_tensor_v2")},
    **{f"torch.{s}Storage": f"{s}Storage" for s in STORAGES},
    "_codecs.encode": "encode",
    "__builtin__.bytes": "bytes",
    "builtins.bytes": "bytes",
    "collections.OrderedDict": "OrderedDict",
}
_DIMENSIONS = 32


class Damaged(ValueError):
    """A pickle that is cut, is no pickle, or has what is not read."""


class Named(str):
    """A function or a class of `ALLOWED`, by its short name."""


class Text(NamedTuple):
    """A long text, in UTF-8."""

    utf8: memoryview


class DType:
    __slots__ = ("kind", "order")

    def __init__(self, kind: str) -> None:
        if kind not in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"):
            raise Damaged(f"found an array of dtype {kind[:20]}, expected one of numbers")
        self.kind, self.order = kind, "<"

    def numpy(self) -> np.dtype[Any]:
        return np.dtype(self.order + self.kind)


class Ndarray:
    """A NumPy array: what its pickle says of it."""

    __slots__ = ("data", "dtype", "fortran", "shape")

    def __init__(self) -> None:
        self.dtype, self.shape, self.fortran, self.data = DType("u1"), (0,), False, b""

    def fill(self, dtype: Any, shape: Any, fortran: bool, data: Any) -> None:
        if not isinstance(dtype, DType):
            raise Damaged("found an array without a dtype, expected one of numbers")
        if not _sizes(shape):
            raise Damaged("found an array of an impossible shape")
        size = math.prod(shape) * dtype.numpy().itemsize
        if size != len(data):
            raise Damaged(f"found {len(data)} bytes of an array, expected {size}")
        self.dtype, self.shape, self.fortran, self.data = dtype, shape, fortran, data


class Tensor(NamedTuple):
    """A torch tensor: the key of its storage in the file, and what part of that it is."""

    key: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Storage(NamedTuple):
    dtype: str
    length: int


class Key(str):
    """The key of a storage."""


# The functions.


def as_bytes(x: Any) -> Any:
    if not isinstance(x, (bytes, memoryview, np.ndarray)):
        raise TypeError
    return x


def _encode(text: Any, encoding: Any) -> Any:
    """Bytes, which protocol 2 writes as a text of the characters 0 to 255."""
    if encoding != "latin1":
        raise TypeError
    if type(text) is str:
        return text.encode("latin1")
    utf8: Array = np.frombuffer(text.utf8, np.uint8)
    count = sum(int(np.count_nonzero(utf8[at : at + _BLOCK] & 0xC0 != 0x80)) for at in range(0, len(utf8), _BLOCK))
    out = np.empty(count, np.uint8)
    at = done = 0
    while at < len(utf8):
        end = min(at + _BLOCK, len(utf8))
        while end < len(utf8) and utf8[end] & 0xC0 == 0x80:  # a character stays in one block
            end += 1
            if end - at > _BLOCK + 4:
                raise TypeError
        part = np.frombuffer(str(text.utf8[at:end], "utf-8").encode("latin1"), np.uint8)
        out[done : done + len(part)] = part
        at, done = end, done + len(part)
    return out.data


_BLOCK = 1 << 20


def _reconstruct(of: Any, shape: Any, kind: Any) -> Ndarray:
    if of != "ndarray":
        raise TypeError
    return Ndarray()


def _frombuffer(data: Any, dtype: Any, shape: Any, order: Any, *_: Any) -> Ndarray:
    out = Ndarray()
    if order not in ("C", "F") or type(shape) is not tuple:
        raise TypeError
    out.fill(dtype, shape, order == "F", as_bytes(data))
    return out


def _scalar(dtype: Any, data: Any) -> int | float | bool:
    if type(dtype) is not DType or len(data) != int(dtype.kind[1]):
        raise TypeError
    if dtype.kind[0] in "iu":
        return int.from_bytes(data, "big" if dtype.order == ">" else "little", signed=dtype.kind[0] == "i")
    x: int | float | bool = np.frombuffer(as_bytes(data), dtype.numpy())[0].item()
    return x


def _new_dtype(kind: Any, *_: Any) -> DType:
    if type(kind) is not str:
        raise TypeError
    return DType(kind)


def _no_bytes() -> bytes:
    return b""


def _new_dict() -> dict[Any, Any]:
    return {}


def _tensor(key: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> Tensor:
    if type(key) is not Key or not _sizes((offset,)) or not _sizes(shape) or not _sizes(strides) or len(shape) != len(strides):
        raise TypeError
    return Tensor(str(key), offset, shape, strides)


def _sizes(x: Any) -> bool:
    return type(x) is tuple and len(x) <= _DIMENSIONS and all(type(n) is int and 0 <= n < 1 << 62 for n in x)


CALLS: Mapping[str, Callable[..., Any]] = {
    "_reconstruct": _reconstruct,
    "_frombuffer": _frombuffer,
    "scalar": _scalar,
    "dtype": _new_dtype,
    "encode": _encode,
    "bytes": _no_bytes,
    "OrderedDict": _new_dict,
    "_rebuild_tensor": _tensor,
    "_rebuild_tensor_v2": _tensor,
}
