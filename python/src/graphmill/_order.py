"""The draw law and shuffled orders, with NumPy.

The Go package draw implements the same definition, so both go through the same data in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arguments import mapping
from ._arrays import Array

_M64 = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_ROOT = 0x6A09E667F3BCC909  # separates random seeds from words
_MUL1, _MUL2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

LAW = 2
"""The version of the draw law. A state of another version is refused: its order is another."""
ORDER = 3
"""The word after the epoch in the key of an order."""
BUCKET = 9
"""The word after the epoch in the keys of batches of groups of like size."""

_SORTED = 65536  # up to this size an order sorts draws; above it, it computes a permutation
_ROUNDS = 8
_PIECE = 1 << 14  # positions that go through all rounds at a time, so that their values stay in the caches


def check_state(state: Mapping[str, Any], **want: Any) -> None:
    """Raise a ValueError unless a loader's state has this version of the draw law and these values."""
    mapping("state", state, "the result of state_dict()")
    if state.get("version") != LAW:
        raise ValueError(
            f"state does not match: found version {state.get('version')!r} of the draw law, expected {LAW}; the order of an "
            "epoch differs between versions, so begin a new epoch or use the release that made the state"
        )
    for name, value in want.items():
        found = state.get(name)
        if isinstance(value, dict):
            _check_same(found, value)
        elif found != value:
            raise ValueError(f"state does not match: found {name} {found!r}, expected {value!r}")


def _check_same(found: Any, want: dict[str, str]) -> None:
    """Raise a ValueError that lists the arguments in which a state differs from the loader."""
    if not isinstance(found, Mapping):
        raise ValueError(f"state does not match: found data {found!r}, expected the arguments of a loader by name; the state is of another release")
    differ = [f"{name} {_shown(found.get(name))}, expected {_shown(want.get(name))}" for name in sorted({*found, *want}) if found.get(name) != want.get(name)]
    if differ:
        raise ValueError(f"state does not match: found {'; '.join(differ)}; make the loader with the arguments of the state")


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


def _mix(x: int) -> int:
    x &= _M64
    x = (x ^ x >> 30) * _MUL1 & _M64
    x = (x ^ x >> 27) * _MUL2 & _M64
    return x ^ x >> 31


def key(seed: int, *words: int) -> int:
    """The state after a random seed and a list of words, all unsigned 64-bit."""
    h = _mix(seed ^ _ROOT)
    for w in words:
        h = _mix((h ^ _mix(w + _GAMMA)) + _GAMMA)
    return h


def draw(h: int, j: int) -> int:
    """Draw number ``j`` (from 0) of state ``h``: 64 random bits."""
    return _mix(h + (j + 1) * _GAMMA)


def _draws(h: int, n: int) -> Array:
    u = np.uint64
    with np.errstate(over="ignore"):
        x = np.arange(1, n + 1, dtype=u) * u(_GAMMA) + u(h)
        x = (x ^ x >> u(30)) * u(_MUL1)
        x = (x ^ x >> u(27)) * u(_MUL2)
        out: Array = x ^ x >> u(31)
    return out


class Order:
    """The shuffled order of ``n`` items under a key.

    Calling it with an array of positions returns the items there. For up to 65,536 items it holds the whole order; for
    more, it holds tables of at most 4 MiB.
    """

    def __init__(self, n: int, key: int) -> None:
        if not 0 <= n < 1 << 63:
            raise ValueError(f"found {n} items, expected 0 to 2^63-1")
        self._n = n
        if n <= _SORTED:
            # A stable sort leaves equal draws in the order of their items.
            self._items: Array = np.argsort(_draws(key, n), kind="stable").astype(np.int64)
            return
        bits = (n - 1).bit_length()
        self._low, self._high = bits // 2, bits - bits // 2
        self._keys = [draw(key, r) for r in range(_ROUNDS)]
        # Up to 2^32 items, half a value has at most 16 bits, and each round is a table lookup. NumPy takes from a table
        # fastest by indices of its own type, so the tables and the values have that type.
        self._tables: list[Array] | None = None
        if self._high <= 16:
            self._tables = [
                self._half(np.arange(1 << width, dtype=np.uint64), r, out).astype(np.intp)
                for r in range(_ROUNDS)
                for width, out in [(self._low, self._high) if r % 2 == 0 else (self._high, self._low)]
            ]

    def __len__(self) -> int:
        return self._n

    def _half(self, x: Array, r: int, width: int) -> Array:
        u = np.uint64
        with np.errstate(over="ignore"):
            y: Array = (x + u(self._keys[r])) * u(_GAMMA)
            y ^= y >> u(32)
            y *= u(_MUL1)
            y >>= u(64 - width)
        return y

    def _permute(self, x: Array) -> Array:
        """The permutation of all values of the width of ``n - 1``, at int64 values."""
        if self._tables is not None:
            return self._looked_up(self._tables, x)
        u = np.uint64
        v = x.astype(u)
        lo: Array = v & u((1 << self._low) - 1)
        hi: Array = v >> u(self._low)
        for r in range(0, _ROUNDS, 2):
            hi ^= self._half(lo, r, self._high)
            lo ^= self._half(hi, r + 1, self._low)
        out: Array = (hi << u(self._low) | lo).astype(np.int64)
        return out

    def _looked_up(self, tables: list[Array], x: Array) -> Array:
        out: Array = np.empty(len(x), np.int64)
        space = np.empty(min(len(x), _PIECE), np.intp)
        for at in range(0, len(x), _PIECE):
            piece = x[at : at + _PIECE]
            lo = (piece & ((1 << self._low) - 1)).astype(np.intp, copy=False)
            hi = (piece >> self._low).astype(np.intp, copy=False)
            taken = space[: len(piece)]
            for r in range(0, _ROUNDS, 2):
                hi ^= np.take(tables[r], lo, out=taken, mode="clip")  # "clip" is fast, and no index is beyond a table
                lo ^= np.take(tables[r + 1], hi, out=taken, mode="clip")
            hi <<= self._low
            np.bitwise_or(hi, lo, out=out[at : at + _PIECE])
        return out

    def __call__(self, positions: Array) -> Array:
        """The items, int64, at an array of positions, each below ``len(self)``."""
        if self._n <= _SORTED:
            return self._items[positions]
        x = self._permute(np.asarray(positions).astype(np.int64, copy=False))
        while True:
            # Values of n and above are permuted again until they are below n.
            beyond = np.flatnonzero(x >= self._n)
            if not len(beyond):
                return x
            x[beyond] = self._permute(x[beyond])
