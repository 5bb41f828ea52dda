"""Features whose items differ in shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._arrays import Array


class Ragged:
    """Rows of which some dimensions are variable: flat values, and the lengths of the rows.

    Attributes:
        values: the values of all rows, in order: [values, fixed dimensions after the last variable one].
        row_lengths: for each variable dimension, the outermost first, the lengths of its rows, int64.
        shape: the shape of a row; -1 is a variable dimension.

    Example:
        >>> Ragged.from_rows([[10, 15, 23], [89], [64, 53, 25, 29]])
        Ragged(int64, (-1,), 3 rows)
    """

    __slots__ = ("row_lengths", "shape", "values")

    def __init__(self, values: Any, row_lengths: Sequence[Any], shape: Sequence[int] | None = None) -> None:
        self.values: Array = values_of(values)
        self.row_lengths: tuple[Array, ...] = tuple(_lengths(x) for x in row_lengths)
        tail = self.values.shape[1:]
        self.shape: tuple[int, ...] = (*([-1] * len(self.row_lengths)), *tail) if shape is None else tuple(int(d) for d in shape)
        last = max((k for k, d in enumerate(self.shape) if d == -1), default=-1)
        if (
            not self.row_lengths
            or self.shape.count(-1) != len(self.row_lengths)
            or self.shape[last + 1 :] != tail
            or any(d < 1 and d != -1 for d in self.shape)
        ):
            raise ValueError(
                f"found {len(self.row_lengths)} lists of row lengths and values of shape {list(self.values.shape)} for rows of shape {list(self.shape)}, "
                "expected one list per variable dimension (-1), and the dimensions after the last of them in the values"
            )
        # Each element of a level has as many rows of the next one as the fixed dimensions between them multiply to.
        rows, level = None, 0
        for d in self.shape[: last + 1]:
            if d != -1:
                rows = None if rows is None else rows * d
                continue
            have = len(self.row_lengths[level])
            if rows is not None and have != rows:
                raise ValueError(f"found {have} row lengths of variable dimension {level}, expected {rows}")
            rows, level = int(self.row_lengths[level].sum()), level + 1
        if rows != len(self.values):
            raise ValueError(f"found {len(self.values)} values, expected {rows}, the sum of the row lengths")
        before = self._before()
        if len(self.row_lengths[0]) % before:
            raise ValueError(f"found {len(self.row_lengths[0])} row lengths, expected a multiple of {before} for rows of shape {list(self.shape)}")

    def _before(self) -> int:
        return int(np.prod(self.shape[: self.shape.index(-1)], dtype=np.int64))

    @classmethod
    def _of(cls, values: Array, row_lengths: tuple[Array, ...], shape: tuple[int, ...]) -> Ragged:
        """Without checks."""
        r = object.__new__(cls)
        r.values, r.row_lengths, r.shape = values, row_lengths, shape
        return r

    @classmethod
    def from_row_lengths(cls, values: Any, *row_lengths: Any) -> Ragged:
        """Values, and the lengths of the rows of each variable dimension, the outermost first."""
        return cls(values, row_lengths)

    @classmethod
    def from_rows(cls, rows: Sequence[Any], dtype: Any = None) -> Ragged:
        """A list of rows, each a list or an array of values, or of lists in any depth."""
        lengths: list[Array] = []
        items: list[Any] = list(rows)
        while True:
            lengths.append(np.fromiter((len(r) for r in items), np.int64, len(items)))
            items = [v for r in items for v in (r.tolist() if isinstance(r, np.ndarray) and r.dtype != object else r)]
            if not items or not isinstance(items[0], (list, tuple, np.ndarray)):
                break
        return cls(np.asarray(items, dtype) if items or dtype is not None else np.asarray(items, np.float32), lengths)

    @property
    def dtype(self) -> Any:
        """The dtype of the values; object for strings, which are bytes."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.row_lengths[0]) // self._before()

    def tolist(self) -> list[Any]:
        """All rows as nested lists; fixed dimensions after the last variable one too."""
        last = max(k for k, d in enumerate(self.shape) if d == -1)
        items: list[Any] = self.values.tolist()
        level = len(self.row_lengths)
        for d in reversed(self.shape[: last + 1]):
            if d == -1:
                level -= 1
                ends = np.cumsum(self.row_lengths[level]).tolist()
                items = [items[a:b] for a, b in zip([0, *ends], ends)]
            else:
                items = [items[k : k + d] for k in range(0, len(items), d)]
        return items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ragged):
            return NotImplemented
        return (
            self.shape == other.shape
            and len(self.values) == len(other.values)
            and all(np.array_equal(a, b) for a, b in zip((self.values, *self.row_lengths), (other.values, *other.row_lengths)))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Ragged({self.values.dtype}, {self.shape}, {len(self)} rows)"


def _lengths(x: Any) -> Array:
    lengths = np.asarray(x) if len(x) else np.zeros(0, np.int64)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or (len(lengths) and lengths.min() < 0):
        raise ValueError(f"found row lengths {lengths.dtype} {list(lengths.shape)}, expected a list of integers from 0 on")
    return lengths.astype(np.int64, copy=False)


def values_of(x: Any) -> Array:
    """Values as an array that a feature can have: numbers or bools, or bytes as objects."""
    if type(x) is not np.ndarray:
        x = x.detach().cpu().numpy() if hasattr(x, "detach") else np.asarray(x)
    kind = x.dtype.kind
    if kind in "biuf":
        return x  # type: ignore[no-any-return]
    if x.dtype.name == "bfloat16":
        return x.astype(np.float32)  # type: ignore[no-any-return]
    if kind in "US" or (kind == "O" and all(isinstance(s, (str, bytes)) for s in x.ravel().tolist())):
        out = np.empty(x.size, object)
        out[:] = [s.encode("utf-8", "surrogateescape") if isinstance(s, str) else s for s in x.ravel().tolist()]
        return out.reshape(x.shape)
    raise TypeError(f"found values of dtype {x.dtype}, expected numbers, bools or strings")
