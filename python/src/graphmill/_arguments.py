"""Checks of arguments."""

from __future__ import annotations

import difflib
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
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
    if n < least or (most is not None and n > most):
        raise ValueError(f"found {name}={n}, expected {f'at least {least}' if most is None else f'{least} to {_shown(most)}'}")
    return n


def truth(name: str, x: Any) -> bool:
    """An argument as a bool: Python's or NumPy's.

    Raises:
        TypeError: it is neither.
    """
    if type(x).__name__ not in ("bool", "bool_"):
        raise TypeError(f"found {name}={x!r}, expected True or False")
    return bool(x)


def choice(name: str, x: Any, choices: Sequence[str]) -> str:
    """An argument that is one of a few texts.

    Raises:
        ValueError: it is another one.
    """
    if isinstance(x, str) and x in choices:
        return x
    raise ValueError(f"found {name}={x!r}, expected one of {', '.join(choices)}{meant(x, choices)}")


def path(name: str, x: Any) -> str:
    """An argument that is a path, as text.

    Raises:
        TypeError: it is no path.
    """
    try:
        return os.fsdecode(x)
    except TypeError:
        raise TypeError(f"found {name}={_brief(x)}, expected a path") from None


def texts(name: str, x: Any, what: str) -> list[str]:
    """An argument that is a list of texts: any iterable of them, but no text and no mapping. ``what`` names them in the error.

    Raises:
        TypeError: it is something else.
    """
    try:
        if isinstance(x, (str, bytes, Mapping)):
            raise TypeError
        items = list(x)
    except TypeError:
        items = [None]
    if not all(isinstance(i, str) for i in items):
        raise TypeError(f"found {name}={_brief(x)}, expected {what}")
    return items


def mapping(name: str, x: Any, what: str) -> Mapping[Any, Any]:
    """An argument that is a mapping. ``what`` shows one in the error.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(x, Mapping):
        raise TypeError(f"found {name}={_brief(x)}, expected {what}")
    return x


def _brief(x: object) -> str:
    text = repr(x)
    return text if len(text) <= 80 else f"{text[:77]}..."


def meant(x: object, names: Iterable[str]) -> str:
    """The end of an error about an unknown name: the known name that is near to it, if there is one."""
    near = difflib.get_close_matches(str(x), list(names), 1)
    return f"; did you mean {near[0]}?" if near else ""


def _shown(n: int) -> str:
    return f"2^{n.bit_length()} - 1" if n > 1 << 31 and n & n + 1 == 0 else str(n)
