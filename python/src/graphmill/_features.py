"""Features of a store: what each of their numbers is, and their columns as arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import Array
from ._folder import Column, Columns, Folder, described, metadata

FILE = "features.json"


@dataclass(frozen=True)
class Position:
    """What a number of a feature is.

    Attributes:
        column: the column that it is made of.
        kind: "number", "flag" (1 where the value is missing), "text", "other" (a text that is rare or unknown), "missing", "bucket", "hash", or the
            part of a time; "structure" of a structure of the graph.
        text: the text of "text"; the bounds of "bucket"; which number of a "structure" it is.
    """

    column: str
    kind: str
    text: str = ""

    def __str__(self) -> str:
        if self.kind == "number":
            return self.column
        if self.kind == "structure":
            return f"{self.column} {self.text}".strip()
        if self.kind == "text":
            return f"{self.column}={self.text}"
        return f"{self.column} {self.kind}" + (f" {self.text}" if self.text else "")


class Feature:
    """A feature of a type: a column that was made of others.

    Attributes:
        name: its name.
        dtype: "float32", "float16" or "bfloat16"; "int32" for codes.
        width: how many numbers a row has.
        bits: the bits of the codes that the store has for its numbers, 8 or 4; None where it has the numbers.
        codes: how many codes there are, with 0 for all that is missing or unknown: the ``num_embeddings`` of an ``nn.Embedding``. None for others.
        positions: what each number is; of a code, the text of each code from 1 on.
    """

    def __init__(self, name: str, meta: Mapping[str, Any]) -> None:
        self.name, self.dtype, self._meta = name, str(meta["dtype"]), meta
        self.bits: int | None = int(meta["bits"]) if meta.get("bits") else None
        self.codes: int | None = int(meta["codes"]) if meta.get("code") else None
        self.positions: list[Position] = [p for part in meta["parts"] for p in _positions(part, self.codes is not None)]
        self.width = 1 if self.codes is not None else len(self.positions)

    @property
    def names(self) -> list[str]:
        """A text for each number, such as ``"age"`` and ``"city=Berlin"``, as for a plot of importance."""
        return [str(p) for p in self.positions]

    @property
    def sources(self) -> list[str]:
        """The columns and structures that it is made of, in the order of the parts."""
        return [_source(part) for part in self._meta["parts"]]

    def inverse(self, values: Any) -> dict[str, Any]:
        """The values of the columns that rows of the feature are made of.

        Numbers come back as float64, up to the rounding of the dtype and of ``bits``; texts as a list with None for a missing one and "" for one that is rare or unknown; tags
        as a list of lists. Columns that cannot come back are left out: hashes, lengths, shares, calendars, buckets, and features with a norm.

        Args:
            values: [rows, width], or [rows] of codes.

        Raises:
            ValueError: values of another shape.
        """
        x = np.asarray(values)
        if x.shape[1:] != (() if self.codes is not None else (self.width,)):
            raise ValueError(f"found values of shape {list(x.shape)}, expected [rows]" + ("" if self.codes is not None else f" x {self.width}"))
        out: dict[str, Any] = {}
        if self._meta.get("norm"):
            return out
        at = 0
        for part in self._meta["parts"]:
            width = int(part["width"])
            of = x if self.codes is not None else x[:, at : at + width]
            back = _inverse(part, of, self.codes is not None)
            if back is not None:
                out.setdefault(_source(part), back)
            at += width
        return out

    def __repr__(self) -> str:
        what = f"{self.codes} codes" if self.codes is not None else f"{self.width} numbers" + (f" in {self.bits} bits" if self.bits else "")
        return f"Feature({self.name!r}, {self.dtype}, {what} of {', '.join(dict.fromkeys(self.sources))})"


def _source(part: Mapping[str, Any]) -> str:
    """The column that a part is made of, or the structure of the graph."""
    return str(part["from"] if "from" in part else part["structure"]["structure"])


def _positions(part: Mapping[str, Any], code: bool) -> list[Position]:
    """What the numbers of a part are."""
    column, encode = _source(part), part.get("encode", "")
    if "structured" in part:
        names = [str(n) for n in part["structured"]["positions"]]
        return [Position(column, "structure", n.removeprefix(column).strip()) for n in names] + [Position(column, "flag")] * bool(part.get("flag"))
    texts = [str(t) for t in (part.get("categories") or {}).get("texts", [])]
    of_texts = [Position(column, "text", t) for t in texts]
    if encode in ("code", "ordinal") and code:
        return of_texts
    if encode == "one-hot":
        return [*of_texts, Position(column, "other"), Position(column, "missing")]
    if encode == "multi-hot":
        return [*of_texts, Position(column, "other")]
    if encode == "hash":
        return [Position(column, "hash", str(i)) for i in range(int(part["width"]))]
    if encode == "buckets":
        edges = [-math.inf, *part["numbers"][0].get("edges", []), math.inf]
        buckets = [Position(column, "bucket", f"{a:g} to {b:g}") for a, b in zip(edges, edges[1:])]
        return buckets if code else [*buckets, Position(column, "missing")]
    if encode == "calendar":
        names = [n for p in part["parts"] for n in ((p + " sine", p + " cosine") if p.endswith("-cycle") else (p,))]
    else:
        count = len(part["numbers"])
        kind = {"frequency": "share", "age": "age", "length": "length", "ordinal": "rank"}.get(encode, "number")
        if count > 1:
            return [Position(f"{column}[{i}]", kind) for i in range(count)] + [Position(column, "flag")] * bool(part.get("flag"))
        names = [kind]
    return [Position(column, n) for n in names] + [Position(column, "flag")] * bool(part.get("flag"))


def _inverse(part: Mapping[str, Any], x: Array, code: bool) -> Any:
    """The values of the column of a part; None where they cannot come back."""
    encode = part.get("encode", "")
    if "structure" in part:
        return None
    texts = [str(t) for t in (part.get("categories") or {}).get("texts", [])]
    if code:
        return ["" if c == 0 else texts[int(c) - 1] for c in x] if texts else None
    if encode == "one-hot":
        return [texts[i] if i < len(texts) else "" if i == len(texts) else None for i in x.argmax(1).tolist()]
    if encode == "multi-hot":
        return [[texts[i] if i < len(texts) else "" for i in np.flatnonzero(row).tolist()] for row in x]
    if encode == "ordinal":
        ranks = np.rint(_unscaled(part["numbers"][0], x[:, 0])).astype(int).tolist()
        return [texts[r - 1] if 0 < r <= len(texts) else "" for r in ranks]
    if encode:
        return None
    numbers = part["numbers"]
    back = np.stack([_unscaled(n, x[:, k]) for k, n in enumerate(numbers)], 1)
    return back[:, 0] if len(numbers) == 1 else back


def _unscaled(n: Mapping[str, Any], y: Array) -> Array:
    """The numbers that a scale made y of."""
    y = y.astype(np.float64)
    scale = n.get("scale", "")
    if scale == "log":
        return np.expm1(y)
    if scale == "signed-log":
        return np.copysign(np.expm1(np.abs(y)), y)
    if scale in ("uniform-quantiles", "normal-quantiles"):
        q = np.asarray(n["quantiles"])
        if scale == "normal-quantiles":
            y = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in y])
        return np.interp(y, np.linspace(0, 1, len(q)), q) if q[0] < q[-1] else np.full(len(y), q[0])
    return y * float(n.get("by") or 1.0) + float(n.get("center", 0.0))


def features_of(folder: Folder, kind: str, name: str) -> Mapping[str, Any]:
    """The features of a type as features.json has them: of, rows, from, features; empty for none.

    Args:
        kind: "nodes" or "edges".
        name: the type, as graph.json has it.
    """
    if FILE not in folder.sizes:
        return {}
    of: Mapping[str, Any] = folder.json(FILE)[kind].get(name, {})
    return of


class Piece:
    """A column of the store that holds some of the numbers of a feature.

    Attributes:
        column: its name.
        width: how many numbers a row has.
        kind: "low-bit": codes of the numbers; "one-hot": which number is 1; "multi-hot": a bit per number; or the numbers themselves.
        bits: of a code of a low-bit piece, 4 or 8; else 0.
    """

    def __init__(self, meta: Mapping[str, Any], dtype: str) -> None:
        self.column, self.width, self.kind, self._dtype = str(meta["column"]), int(meta["width"]), str(meta["kind"]), dtype
        self.bits = int(meta.get("bits", 0))
        self._range = np.asarray([meta.get("least", ()), meta.get("greatest", ())], np.float64)
        if self.kind == "low-bit" and (self.bits not in (4, 8) or self.width < 1 or self._range.shape != (2, self.width)):
            raise ValueError(
                f"found a range of shape {list(self._range.shape)} for {self.width} numbers of {self.bits} bits, expected one of 4 or 8 bits per number"
            )

    def widen(self, x: Array, to: Array) -> None:
        """Write the numbers of rows of the column.

        Args:
            x: the rows of the column.
            to: [rows, width] of zeros.
        """
        one = 0x3F80 if self._dtype == "bfloat16" else 1
        if self.kind == "low-bit":
            self._widen_codes(x, to)
        elif self.kind == "one-hot":
            to[np.arange(len(x)), x] = one
        elif self.kind == "multi-hot":
            to[np.unpackbits(x, axis=1, count=self.width, bitorder="little").astype(bool)] = one
        else:
            to[:] = x

    def _widen_codes(self, x: Array, to: Array) -> None:
        numbers, first = self.numbers, np.arange(self.width) << self.bits
        step = max(1, (1 << 18) // self.width)  # rows whose places stay in the cache
        for at in range(0, len(x), step):
            codes = x[at : at + step]
            if self.bits == 4:
                codes = np.stack([codes & 15, codes >> 4], 2).reshape(len(codes), -1)[:, : self.width]
            to[at : at + step] = numbers.take(codes + first)

    @functools.cached_property
    def numbers(self) -> Array:
        """Of a low-bit piece, the numbers of all codes of all positions, flat: the greatest itself for the last code, and steps from the least for others."""
        least, greatest = self._range[:, :, None]
        top = (1 << self.bits) - 1
        x = least + np.arange(top + 1) * ((greatest - least) / top)
        x[:, top:] = greatest
        x = x.ravel()
        return bfloat16_bits(x) if self._dtype == "bfloat16" else x.astype("<f2" if self._dtype == "float16" else "<f4")


def bfloat16_bits(x: Array) -> Array:
    """The bits of finite float64 numbers in bfloat16, rounded once, ties to even."""
    near = x.astype("<f4")
    bits = near.view("<u4").copy()
    bits -= np.abs(near.astype("<f8")) > np.abs(x)  # cut to float32: the magnitude does not grow
    bits |= bits.view("<f4") != x  # what is cut off is no tie
    rounded: Array = (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype("<u2")
    return rounded


class WideColumn(Column):
    """A feature of several columns of the store, or of codes, whose rows are widened when they are read."""

    __slots__ = ("_pieces",)

    def __init__(self, name: str, dtype: str, rows: int, pieces: Sequence[tuple[Piece, Column]]) -> None:
        self.name, self.dtype, self.shape, self._rows = name, dtype, (sum(p.width for p, _ in pieces),), rows
        self.offsets, self.string_offsets, self.unit, self.categories = (), None, None, None
        self._pieces = pieces

    @property
    def values(self) -> Array:  # type: ignore[override]
        """All rows."""
        return self._widened(slice(None), self._rows)

    def _widened(self, at: Any, rows: int) -> Array:
        out: Array = np.zeros((rows, self.shape[0]), {"bfloat16": "<u2", "float16": "<f2"}.get(self.dtype, "<f4"))
        first = 0
        for piece, c in self._pieces:
            piece.widen(c.values[at], out[:, first : first + piece.width])
            first += piece.width
        return out

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return super().__getitem__(i)
        i = range(self._rows)[i]
        return self._widened(slice(i, i + 1), 1)[0]

    def slice(self, start: int, stop: int) -> Column:
        """The rows from ``start`` up to ``stop``."""
        return Column(self.name, self.dtype, self.shape, stop - start, self._widened(slice(start, stop), stop - start), (), None)

    def take(self, rows: Array) -> Column:
        """The given rows, copied."""
        return Column(self.name, self.dtype, self.shape, len(rows), self._widened(rows.astype(np.int64), len(rows)), (), None)


class TypeColumns(Columns):
    """The columns of a type of a store, with its features.

    A feature of several columns is one column here.
    """

    def __init__(self, folder: Folder, what: str, metas: Mapping[str, Any], rows: int, kind: str, name: str) -> None:
        super().__init__(folder, what, metas, rows)
        with metadata(folder, FILE):
            of = features_of(folder, kind, name)
            self.features: Mapping[str, Feature] = {n: Feature(n, m) for n, m in sorted(of.get("features", {}).items())}
            self.sources = frozenset(of.get("from", ()))
            self.codes = frozenset(n for n, f in self.features.items() if f.codes is not None)
            # Features that are not a column of their own name, and the columns that hold their numbers.
            self.wide: Mapping[str, list[Piece]] = {
                n: [Piece(p, str(m["dtype"])) for p in m["pieces"]] for n, m in of.get("features", {}).items() if [p["column"] for p in m["pieces"]] != [n]
            }

    def column(self, name: str) -> Column:
        """A column as a `Column`, whatever it holds."""
        if name not in self.wide:
            return super().column(name)
        return WideColumn(name, self.features[name].dtype, self.rows, [(p, super(TypeColumns, self).column(p.column)) for p in self.wide[name]])

    def pieces(self, name: str) -> list[str]:
        """The names of the columns of the store that hold a column: its own, or the names of the pieces of a feature."""
        return [p.column for p in self.wide[name]] if name in self.wide else [name]

    def fixed(self, name: str) -> bool:
        """Whether all rows of a column have the same number of bytes: neither strings nor lists. No file is opened."""
        return name in self.wide or super().fixed(name)

    def number(self, name: str) -> bool:
        """Whether the values of a column are numbers: fixed, and neither times, categories nor codes. No file is opened."""
        return name in self.wide or (name not in self.codes and super().number(name))

    def described(self, name: str) -> str:
        """The dtype and shape of a column, and whether it holds times, categories or codes. No file is opened."""
        if name in self.wide:
            return described(self.features[name].dtype, (self.features[name].width,))
        return super().described(name) + (f", {self.features[name].codes} codes" if name in self.codes else "")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self.wide or name in self._metas)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted([*self._metas, *self.wide]))

    def __len__(self) -> int:
        return len(self._metas) + len(self.wide)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{n}: {self.described(n)}" for n in self if not n.startswith("#")) + "}"
