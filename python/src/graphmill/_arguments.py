"""Checks of arguments."""

from __future__ import annotations

import operator
from typing import Any


def integer(name: str, x: Any, least: int, most: int | None = None) -> int:
    """An argument as an int: any kind of integer (Python's, NumPy's, a tensor of one element), but no bool.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is out of bounds.
    """
    try:
        if isinstance(x, bool) or "bool" in str(getattr(x, "dtype", "")):
            raise TypeError
        n = operator.index(x)
    except TypeError:
        raise TypeError(f"found {name}={x!r}, expected an integer") from None
    if n < least or most is not None and n > most:
        raise ValueError(f"found {name}={n}, expected {f'at least {least}' if most is None else f'{least} to {_shown(most)}'}")
    return n


def _shown(n: int) -> str:
    return f"2^{n.bit_length()} - 1" if n > 1 << 31 and n & n + 1 == 0 else str(n)
