"""The batches of an epoch that each rank gets.

``ranks`` in batch/testdata/reference/orders.py defines them, for the Go library as well.
"""

from __future__ import annotations

from typing import Any

from ._arguments import choice, integer


def checked(rank: Any, world_size: Any) -> tuple[int, int]:
    """A rank and the number of ranks, checked."""
    world = integer("world_size", world_size, 1)
    r = integer("rank", rank, 0)
    if r >= world:
        raise ValueError(f"found rank={r} of world_size={world}, expected 0 to {world - 1}")
    return r, world


def tail_of(tail: str | None, drop_last: Any, world_size: int, tails: tuple[str, ...]) -> str:
    """The tail that the arguments select; the default is "fill" for several ranks, "short" for one."""
    if tail is not None:
        tail = choice("tail", tail, tails)
    if drop_last is not None:
        if type(drop_last).__name__ not in ("bool", "bool_"):
            raise TypeError(f"found drop_last={drop_last!r}, expected True or False")
        if tail is not None and bool(drop_last) != (tail == "drop"):
            raise ValueError(f"found drop_last={drop_last} with tail={tail!r}, expected one of the two, because drop_last=True means tail='drop'")
        if drop_last:
            return "drop"
    return tail or ("fill" if world_size > 1 else "short")


def end(tail: str, batches: int, first: int, world_size: int) -> int:
    """The batch number at which a pass ends that goes through an epoch of ``batches`` batches from ``first`` on.

    Rank r gets ``first + r``, ``first + r + world_size``, ... below this number. Batches from ``batches`` on repeat earlier
    ones ("fill") or are padding ("pad"). With "drop", ``batches`` counts only full batches.
    """
    left = max(0, batches - first)
    if tail == "drop":
        left -= left % world_size
    elif tail in ("fill", "pad"):
        left += -left % world_size
    return first + left
