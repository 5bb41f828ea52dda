"""Which batches of an epoch each rank takes.

The definition is ``ranks`` of batch/testdata/reference/orders.py; the Go library follows it too.
"""

from __future__ import annotations

from typing import Any

from ._arguments import integer


def checked(rank: Any, world_size: Any) -> tuple[int, int]:
    """A rank and the number of ranks."""
    world = integer("world_size", world_size, 1)
    r = integer("rank", rank, 0)
    if r >= world:
        raise ValueError(f"found rank={r} of world_size={world}, expected 0 to {world - 1}")
    return r, world


def tail_of(tail: str | None, drop_last: Any, world_size: int, tails: tuple[str, ...]) -> str:
    """The tail that the arguments say: by default "fill" of several ranks, "short" of one."""
    if tail is not None and tail not in tails:
        raise ValueError(f"found tail={tail!r}, expected one of {', '.join(tails)}")
    if drop_last is not None:
        if type(drop_last).__name__ not in ("bool", "bool_"):
            raise TypeError(f"found drop_last={drop_last!r}, expected True or False")
        if tail is not None and bool(drop_last) != (tail == "drop"):
            raise ValueError(f"found drop_last={drop_last} with tail={tail!r}, expected one of the two: drop_last=True is tail='drop'")
        if drop_last:
            return "drop"
    return tail or ("fill" if world_size > 1 else "short")


def end(tail: str, batches: int, first: int, world_size: int) -> int:
    """The number at which a pass ends that goes through an epoch of so many batches from ``first`` on.

    Rank r takes ``first + r``, ``first + r + world_size``, ... below it. Numbers from ``batches`` on repeat
    batches ("fill") or are padding. With "drop" the batches are full ones.
    """
    left = max(0, batches - first)
    if tail == "drop":
        left -= left % world_size
    elif tail in ("fill", "pad"):
        left += -left % world_size
    return first + left
