"""XXH3 with 64 bits and seed 0: the checksum of a manifest and the hash of an original id.

The functions follow the xxHash specification: one formula per range of lengths, and eight lanes over stripes of 64 bytes
for more than 240 bytes.
"""

from __future__ import annotations

import numpy as np

from ._arrays import Array

_M64 = (1 << 64) - 1
_P32 = (2654435761, 2246822519, 3266489917)
_P64 = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)
_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def _word(b: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(b[at : at + size], "little")


def _fold(x: int, y: int) -> int:
    z = x * y
    return (z ^ z >> 64) & _M64


def _pair(b: bytes, at: int, secret: int) -> int:
    """16 bytes, mixed with 16 of the secret."""
    return _fold(_word(b, at) ^ _word(_SECRET, secret), _word(b, at + 8) ^ _word(_SECRET, secret + 8))


def _avalanche(x: int) -> int:
    x &= _M64
    x = (x ^ x >> 37) * 0x165667919E3779F9 & _M64
    return x ^ x >> 32


def _short(b: bytes) -> int:
    """Up to 16 bytes."""
    n = len(b)
    if n > 8:
        low = _word(b, 0) ^ _word(_SECRET, 24) ^ _word(_SECRET, 32)
        high = _word(b, n - 8) ^ _word(_SECRET, 40) ^ _word(_SECRET, 48)
        return _avalanche(n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + _fold(low, high))
    if n > 3:
        x = (_word(b, n - 4, 4) + (_word(b, 0, 4) << 32)) ^ _word(_SECRET, 8) ^ _word(_SECRET, 16)
        x ^= ((x << 49 | x >> 15) ^ (x << 24 | x >> 40)) & _M64
        x = x * 0x9FB21C651E98DF25 & _M64
        x ^= (x >> 35) + n
        x = x * 0x9FB21C651E98DF25 & _M64
        return x ^ x >> 28
    if n:
        x = b[0] << 16 | b[n >> 1] << 24 | b[n - 1] | n << 8
        x ^= _word(_SECRET, 0, 4) ^ _word(_SECRET, 4, 4)
    else:
        x = _word(_SECRET, 56) ^ _word(_SECRET, 64)
    x = (x ^ x >> 33) * _P64[1] & _M64
    x = (x ^ x >> 29) * _P64[2] & _M64
    return x ^ x >> 32


def _long(b: bytes) -> int:
    """More than 240 bytes. The contributions of a block's stripes are summed, so their order does not matter."""
    u = np.uint64
    n = len(b)
    secret = np.array([[_word(_SECRET, 8 * (s + i)) for i in range(8)] for s in range(16)], u)
    acc = np.array([_P32[2], *_P64[:4], _P32[1], _P64[4], _P32[0]], u)
    swapped = np.arange(8) ^ 1

    def add(stripes: Array, keys: Array) -> None:
        keyed = stripes ^ keys
        acc[:] += (stripes[:, swapped] + (keyed & u(0xFFFFFFFF)) * (keyed >> u(32))).sum(0, dtype=u)

    with np.errstate(over="ignore"):
        blocks = (n - 1) // 1024
        scramble = np.array([_word(_SECRET, 128 + 8 * i) for i in range(8)], u)
        for k in range(blocks):
            add(np.frombuffer(b, "<u8", 128, 1024 * k).reshape(16, 8), secret)
            acc[:] = (acc ^ acc >> u(47) ^ scramble) * u(_P32[0])
        rest = (n - 1 - 1024 * blocks) // 64
        add(np.frombuffer(b, "<u8", 8 * rest, 1024 * blocks).reshape(rest, 8), secret[:rest])
        last = np.array([[_word(_SECRET, 121 + 8 * i) for i in range(8)]], u)
        add(np.frombuffer(b, "<u8", 8, n - 64).reshape(1, 8), last)
    a = acc.tolist()
    return _avalanche(n * _P64[0] + sum(_fold(a[2 * i] ^ _word(_SECRET, 11 + 16 * i), a[2 * i + 1] ^ _word(_SECRET, 19 + 16 * i)) for i in range(4)))


def xxh3(b: bytes) -> int:
    """The hash of ``b``."""
    n = len(b)
    if n <= 16:
        return _short(b)
    if n > 240:
        return _long(b)
    x = n * _P64[0]
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            x += _pair(b, 16 * i, 32 * i) + _pair(b, n - 16 - 16 * i, 32 * i + 16)
        return _avalanche(x)
    for i in range(8):
        x += _pair(b, 16 * i, 16 * i)
    x = _avalanche(x)
    for i in range(8, n // 16):
        x += _pair(b, 16 * i, 16 * i - 125)
    return _avalanche(x + _pair(b, n - 16, 119))
