"""Files of ``torch.save``, read without torch and without running their pickles: both the archives of version 1.6 and the older form."""

from __future__ import annotations

import errno
import math
import mmap
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from .._arrays import Array
from ._pickled import Ndarray, Storage, Tensor
from ._pickles import Reader

_MAGIC = 0x1950A86A20F9469CFC6C  # by which a file of the older form begins
_OLD = 1001  # its version

Storages = Mapping[str, Array]


def load(path: str) -> Any:
    """The object of a file: dicts with keys of text, lists, texts, numbers and arrays. Tensors become arrays.

    Raises:
        ValueError: the file is damaged, or has something else.
        OSError: it cannot be read.
    """
    data = contents(path)
    if bytes(data[:4]) == b"PK\x03\x04":
        return _archive(path)
    return _older(path, data)


def contents(path: str) -> memoryview:
    """The bytes of a file, which is not read before they are looked at."""
    with open(path, "rb") as f:
        if not f.seek(0, 2):
            raise ValueError(f"{path}: found an empty file, expected a pickle")
        return memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))


def plain(x: Any, path: str, storages: Storages) -> Any:
    """A dict, or one of dicts, with arrays in place of what a pickle says of them."""
    if type(x) is not dict:
        return _plain(x, path, storages)
    splits = {id(v): {k: _plain(w, path, storages) for k, w in v.items()} for v in x.values() if type(v) is dict}  # one that occurs again is made once
    return {k: splits[id(v)] if type(v) is dict else _plain(v, path, storages) for k, v in x.items()}


def _plain(x: Any, path: str, storages: Storages) -> Any:
    if type(x) is Ndarray:
        return _shaped(np.frombuffer(x.data, x.dtype.numpy()) if len(x.data) else np.empty(0, x.dtype.numpy()), x.shape, path, "F" if x.fortran else "C")
    return _view(x, path, storages[x.key]) if type(x) is Tensor else x


def _shaped(x: Array, shape: tuple[int, ...], path: str, order: Literal["C", "F"] = "C") -> Array:
    try:
        return x.reshape(shape, order=order)
    except ValueError:
        raise ValueError(f"{path}: found an array of shape {list(shape)}, expected a possible one; the file is damaged") from None


def _view(t: Tensor, path: str, storage: Array) -> Array:
    """The part of a storage that a tensor is, checked to lie in it, and to be no larger."""
    if 0 in t.shape:
        return _shaped(np.empty(0, storage.dtype), t.shape, path)
    size = math.prod(t.shape)
    last = t.offset + sum((n - 1) * step for n, step in zip(t.shape, t.strides))
    if last >= len(storage) or size > len(storage):
        raise ValueError(
            f"{path}: found a tensor of shape {list(t.shape)} of {len(storage)} values, expected as many; the file is damaged, or the tensor was expanded"
        )
    item = storage.itemsize
    return np.lib.stride_tricks.as_strided(storage[t.offset :], t.shape, [s * item for s in t.strides], writeable=False)


def _archive(path: str) -> Any:
    try:
        with zipfile.ZipFile(path) as z:
            top = [n[: -len("data.pkl")] for n in z.namelist() if n.endswith("data.pkl") and n.count("/") <= 1]
            if len(top) != 1:
                raise ValueError(f"{path}: found {len(top)} members named data.pkl, expected the one that torch.save writes")
            if f"{top[0]}byteorder" in z.namelist() and _member(z, path, f"{top[0]}byteorder") != b"little":
                raise ValueError(f"{path}: found numbers of another byte order, expected little-endian; save it on a machine as this one")
            reader = Reader(memoryview(_member(z, path, f"{top[0]}data.pkl")), path)
            found = reader.load()
            storages = {key: _storage(_member(z, path, f"{top[0]}data/{key}"), 0, of, path) for key, of in reader.storages.items()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error, UnicodeDecodeError, OverflowError) as e:
        raise _damaged(path, e) from None
    except OSError as e:
        if e.errno != errno.EINVAL:  # a place before the begin of the file
            raise
        raise _damaged(path, e) from None
    return plain(found, path, storages)


def _damaged(path: str, e: Exception) -> ValueError:
    return ValueError(f"{path}: found an archive that cannot be read ({str(e)[:200]}), expected one of torch.save; the file is cut or damaged")


def _member(z: zipfile.ZipFile, path: str, name: str) -> bytes:
    try:
        of = z.getinfo(name)
    except KeyError:
        raise ValueError(f"{path}: found no member {name!a}, expected one; the file is damaged") from None
    if of.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{path}: found the compressed member {name!a}, expected members as torch.save writes them")
    return z.read(of)


def _storage(data: Any, at: int, of: Storage, path: str) -> Array:
    dtype = np.dtype(of.dtype)
    if of.length * dtype.itemsize > len(data) - at:
        raise ValueError(f"{path}: found {len(data) - at} bytes of a tensor, expected {of.length * dtype.itemsize}; the file is cut or damaged")
    return np.frombuffer(data, dtype, of.length, at) if of.length else np.empty(0, dtype)


def _older(path: str, data: memoryview) -> Any:
    """A pickle of a magic number, one of a version, one of the sizes of C's types, one of the object, one of the keys of its storages, and the storages."""
    reader = Reader(data, path)
    if reader.load() != _MAGIC:
        raise ValueError(f"{path}: found a pickle that is none of torch.save, expected a file of torch.save")
    reader = Reader(data, path, reader.at)
    version = reader.load()
    if version != _OLD:
        raise ValueError(f"{path}: found version {str(version)[:20]} of the form of torch.save, expected {_OLD}")
    reader = Reader(data, path, reader.at)
    sizes = reader.load()
    if type(sizes) is not dict or sizes.get("little_endian") is not True:
        raise ValueError(f"{path}: found numbers of another byte order, expected little-endian; save it on a machine as this one")
    of = Reader(data, path, reader.at)
    found = of.load()
    reader = Reader(data, path, of.at)
    keys, at, storages = reader.load(), reader.at, {}
    if type(keys) is not list or any(type(k) is not str for k in keys):
        raise ValueError(f"{path}: found no list of storages, expected one; the file is damaged")
    for key in keys:
        if key not in of.storages:
            raise ValueError(f"{path}: found the storage {key[:40]!a} that no tensor has, expected those of tensors; the file is damaged")
        storages[key] = _storage(data, at + 8, of.storages[key], path)
        if int.from_bytes(data[at : at + 8], "little") != of.storages[key].length:
            raise ValueError(f"{path}: byte {at}: found another length of the storage {key[:40]!a} than its tensors have; the file is damaged")
        at += 8 + storages[key].nbytes
    for key in of.storages:
        if key not in storages:
            raise ValueError(f"{path}: found no storage {key[:40]!a}, which a tensor has, expected one; the file is damaged")
    return plain(found, path, storages)
