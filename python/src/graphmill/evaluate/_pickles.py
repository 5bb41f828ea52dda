"""Pickles of numbers, lists and arrays, read by an interpreter of their opcodes that can call nothing.

A pickle is a program. Python's reader runs it, and so it can run any code that a file names. This one knows the opcodes that protocols 2
to 5 write for dicts, lists, tuples, texts, numbers, NumPy arrays and torch tensors, and the few functions that these name; every
other name is refused. Arrays are views of the file, so no length that a file claims takes memory that the file does not have.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any

from ._pickled import ALLOWED, CALLS, STORAGES, Damaged, DType, Key, Named, Ndarray, Storage, Text, as_bytes

_LAZY = 1 << 12  # bytes of a text from which on it is decoded only when it is needed
_RECENT = 1 << 16  # objects that are remembered at a time, besides those that were asked for again
_INTEGER = 16  # bytes of an integer


class _Forgotten(Exception):
    """An object is asked for again that was not kept."""


class _Mark:
    pass


class Reader:
    """Reads one pickle.

    Args:
        data: the bytes, of which a pickle begins at ``at``.
        name: the file, for errors.
        at: where it begins.
        sink: a function of a key and a value. If it is given, the pickle is of a dict, and its items go there, one after another, in place of
            into memory.
        recent: with a sink, how many objects are remembered, besides those that were asked for again; None is all.

    Attributes:
        at: behind `load`, the end of the pickle.
        storages: the storages of tensors, by their keys.
    """

    def __init__(self, data: memoryview, name: str, at: int = 0, sink: Callable[[Any, Any], None] | None = None, recent: int | None = None) -> None:
        self._data, self._name, self.at, self._sink, self._recent = data, name, at, sink, recent
        self.storages: dict[str, Storage] = {}
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._kept: dict[int, Any] = {}
        self._put = self._decoded = 0
        self._streamed: dict[Any, Any] | None = None

    def load(self) -> Any:
        """The object of the pickle. Arrays in it are `Ndarray` and `Tensor`.

        Raises:
            ValueError: the pickle is cut or damaged, or names what is not allowed.
        """
        data, ops, start, stack, memo, kept = self._data, _OPS, self.at, self._stack, self._memo, self._kept
        most = sys.maxsize if self._recent is None else 2 * self._recent
        try:
            while True:
                start = self.at
                op = data[start]
                self.at = start + 1
                if op == 0x94 and len(memo) < most:  # the two most frequent ones, MEMOIZE and BINGET, in short
                    memo[self._put] = stack[-1]
                    self._put += 1
                elif op == 0x68 and data[start + 1] in kept:
                    stack.append(kept[data[start + 1]])
                    self.at = start + 2
                elif op == 0x2E:  # STOP
                    return stack.pop()
                else:
                    ops[op](self)
        except Damaged as e:
            raise ValueError(f"{self._name}: byte {start}: {e}") from None
        except (IndexError, struct.error):
            raise ValueError(
                f"{self._name}: byte {start}: found the end of the file or of a list, expected more of a pickle; the file is cut or damaged"
            ) from None
        except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
            raise ValueError(f"{self._name}: byte {start}: found a damaged pickle, expected one of numbers, lists and arrays") from None

    # Parts of the file.

    def _take(self, n: int) -> memoryview:
        end = self.at + n
        if end > len(self._data):
            raise Damaged(f"found {len(self._data) - self.at} bytes up to the end, expected {n}; the file is cut or damaged")
        x = self._data[self.at : end]
        self.at = end
        return x

    def _number(self, form: struct.Struct) -> Any:
        (x,) = form.unpack_from(self._data, self.at)
        self.at += form.size
        return x

    def _line(self) -> str:
        end = self.at
        while self._data[end] != 0x0A:
            end += 1
            if end - self.at > 200:
                raise Damaged("found a name of more than 200 bytes")
        x = bytes(self._data[self.at : end]).decode()
        self.at = end + 1
        return x

    def _to_mark(self) -> list[Any]:
        stack = self._stack
        at = len(stack) - 1
        while stack[at] is not _Mark:
            at -= 1
            if at < 0:
                raise IndexError
        items = stack[at + 1 :]
        del stack[at:]
        return items

    # Opcodes.

    def unknown(self) -> None:
        raise Damaged(f"found the opcode 0x{self._data[self.at - 1]:02x}, expected one that protocols 2 to 5 write for numbers, lists and arrays")

    def proto(self) -> None:
        version = self._number(_U1)
        if not 2 <= version <= 5:
            raise Damaged(f"found protocol {version} of pickles, expected 2 to 5")

    def frame(self) -> None:
        if self._number(_U8) > len(self._data) - self.at:
            raise Damaged("found a frame that is longer than the file; the file is cut or damaged")

    def mark(self) -> None:
        self._stack.append(_Mark)

    def pop(self) -> None:
        self._stack.pop()

    def none(self) -> None:
        self._stack.append(None)

    def true(self) -> None:
        self._stack.append(True)

    def false(self) -> None:
        self._stack.append(False)

    def int1(self) -> None:
        self._stack.append(self._data[self.at])
        self.at += 1

    def int2(self) -> None:
        self._stack.append(self._number(_U2))

    def int4(self) -> None:
        self._stack.append(self._number(_I4))

    def float8(self) -> None:
        self._stack.append(self._number(_F8))

    def long1(self) -> None:
        self._long(self._number(_U1))

    def _long(self, n: int) -> None:
        if n > _INTEGER:
            raise Damaged(f"found an integer of {n} bytes, expected at most {_INTEGER}")
        self._stack.append(int.from_bytes(self._take(n), "little", signed=True))

    def text1(self) -> None:
        self._text(self._number(_U1))

    def text4(self) -> None:
        self._text(self._number(_U4))

    def text8(self) -> None:
        self._text(self._number(_U8))

    def _text(self, n: int) -> None:
        x = self._take(n)
        self._stack.append(Text(x) if n >= _LAZY else str(x, "utf-8", "surrogatepass"))

    def bytes1(self) -> None:
        self._stack.append(self._take(self._number(_U1)))

    def bytes4(self) -> None:
        self._stack.append(self._take(self._number(_U4)))

    def bytes8(self) -> None:
        self._stack.append(self._take(self._number(_U8)))

    def empty_list(self) -> None:
        self._stack.append([])

    def append(self) -> None:
        x = self._stack.pop()
        self._list().append(x)

    def appends(self) -> None:
        items = self._to_mark()
        self._list().extend(items)

    def _list(self) -> list[Any]:
        x = self._stack[-1]
        if type(x) is not list:
            raise TypeError
        return x

    def empty_tuple(self) -> None:
        self._stack.append(())

    def tuple_(self) -> None:
        self._stack.append(tuple(self._to_mark()))

    def tuple1(self) -> None:
        self._last(1)

    def tuple2(self) -> None:
        self._last(2)

    def tuple3(self) -> None:
        self._last(3)

    def _last(self, n: int) -> None:
        stack = self._stack
        if len(stack) < n:
            raise IndexError
        stack[-n:] = [tuple(stack[-n:])]

    def empty_dict(self) -> None:
        new: dict[Any, Any] = {}
        if self._streamed is None and not self._stack:
            self._streamed = new
        self._stack.append(new)

    def set_item(self) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._set(key, value)

    def set_items(self) -> None:
        items = self._to_mark()
        if len(items) % 2:
            raise IndexError
        for i in range(0, len(items), 2):
            self._set(items[i], items[i + 1])

    def _set(self, key: Any, value: Any) -> None:
        of = self._stack[-1]
        if type(of) is not dict:
            raise TypeError
        if self._sink is not None and of is self._streamed:
            self._sink(key, value)
        elif type(key) in (str, int):  # others could take long to hash
            of[key] = value
        else:
            raise Damaged(f"found a key that is a {type(key).__name__.strip('_').lower()}, expected a text or an integer")

    def global_(self) -> None:
        module = self._line()
        self._name_of(module, self._line())

    def stack_global(self) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        if type(name) is not str or type(module) is not str:
            raise TypeError
        self._name_of(module, name)

    def _name_of(self, module: str, name: str) -> None:
        short = ALLOWED.get(f"{module}.{name}")
        if short is None:
            raise Damaged(f"found {f'{module}.{name}'[:100]!a}, which a pickle could run, expected names of NumPy arrays and torch tensors only; it is not run")
        self._stack.append(Named(short))

    def reduce(self) -> None:
        args, of = self._stack.pop(), self._stack.pop()
        if type(of) is not Named or type(args) is not tuple:
            raise TypeError
        if of not in CALLS:
            raise Damaged(f"found a call of {of}, expected one that makes an array")
        x = CALLS[of](*args)
        if of == "encode":  # what the file has once is decoded once
            self._decoded += len(x)
            if self._decoded > len(self._data):
                raise Damaged("found a text of bytes that occurs again and again, expected one of its own for each array")
        self._stack.append(x)

    def build(self) -> None:
        state, of = self._stack.pop(), self._stack[-1]
        if type(of) is Ndarray:
            _, shape, dtype, fortran, data = state
            of.fill(dtype, shape, bool(fortran), as_bytes(data))
        elif type(of) is DType:
            order = state[1]
            if order not in ("<", ">", "|", "="):
                raise TypeError
            of.order = order
        else:
            raise TypeError

    def persistent(self) -> None:
        what, of, key, _, count = self._stack.pop()[:5]
        if what != "storage" or type(of) is not Named or not of.endswith("Storage") or type(key) is not str or type(count) is not int or count < 0:
            raise TypeError
        dtype = STORAGES[of[: -len("Storage")]]
        if self.storages.setdefault(key, Storage(dtype, count)).dtype != dtype:
            raise TypeError
        self._stack.append(Key(key))

    # The memo: objects that the pickle may ask for again.

    def memoize(self) -> None:
        self._remember(self._put)

    def put1(self) -> None:
        self._put_at(self._number(_U1))

    def put4(self) -> None:
        self._put_at(self._number(_U4))

    def _put_at(self, at: int) -> None:
        self._kept.pop(at, None)
        self._remember(at)

    def _remember(self, at: int) -> None:
        memo = self._memo
        memo[at] = self._stack[-1]
        self._put += 1
        if self._recent is not None and len(memo) >= 2 * self._recent:
            for old in list(memo)[: self._recent]:
                del memo[old]

    def get1(self) -> None:
        self._again(self._number(_U1))

    def get4(self) -> None:
        self._again(self._number(_U4))

    def _again(self, at: int) -> None:
        x = self._kept.get(at, _Mark)
        if x is _Mark:
            if at not in self._memo:
                raise IndexError if self._recent is None else _Forgotten
            x = self._kept[at] = self._memo[at]
        self._stack.append(x)


_U1, _U2, _U4, _U8 = (struct.Struct(f"<{c}") for c in "BHIQ")
_I4, _F8 = struct.Struct("<i"), struct.Struct(">d")
_OPS: list[Callable[[Reader], None]] = [Reader.unknown] * 256
for _code, _op in {
    0x80: Reader.proto,
    0x95: Reader.frame,
    0x28: Reader.mark,
    0x30: Reader.pop,
    0x4E: Reader.none,
    0x88: Reader.true,
    0x89: Reader.false,
    0x4B: Reader.int1,
    0x4D: Reader.int2,
    0x4A: Reader.int4,
    0x47: Reader.float8,
    0x8A: Reader.long1,
    0x8C: Reader.text1,
    0x58: Reader.text4,
    0x8D: Reader.text8,
    0x43: Reader.bytes1,
    0x42: Reader.bytes4,
    0x8E: Reader.bytes8,
    0x96: Reader.bytes8,  # a bytearray, which nothing changes here
    0x5D: Reader.empty_list,
    0x61: Reader.append,
    0x65: Reader.appends,
    0x29: Reader.empty_tuple,
    0x74: Reader.tuple_,
    0x85: Reader.tuple1,
    0x86: Reader.tuple2,
    0x87: Reader.tuple3,
    0x7D: Reader.empty_dict,
    0x73: Reader.set_item,
    0x75: Reader.set_items,
    0x63: Reader.global_,
    0x93: Reader.stack_global,
    0x52: Reader.reduce,
    0x62: Reader.build,
    0x51: Reader.persistent,
    0x94: Reader.memoize,
    0x71: Reader.put1,
    0x72: Reader.put4,
    0x68: Reader.get1,
    0x6A: Reader.get4,
}.items():
    _OPS[_code] = _op


def stream(data: memoryview, name: str, new: Callable[[], Callable[[Any, Any], None]], recent: int = _RECENT) -> None:
    """Read the pickle of a dict item by item.

    Args:
        data: the pickle.
        name: the file, for errors.
        new: makes the function that gets each key and value. Where the pickle asks for an object that was not kept, it is read again, and the
            items go to a new one.
        recent: how many objects are kept that may be asked for again.

    Raises:
        ValueError: as `Reader.load` does, or the pickle is of something else.
    """
    for kept in (recent, None):
        reader = Reader(data, name, 0, new(), kept)
        try:
            found = reader.load()
        except _Forgotten:
            continue
        if type(found) is not dict or found is not reader._streamed:
            raise ValueError(f"{name}: found a pickle of a {type(found).__name__.strip('_').lower()}, expected one of a dict of links and their negatives")
        return
