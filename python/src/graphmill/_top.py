"""The items with the highest scores of each source, as a table under the original ids."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import numpy as np

from ._arguments import choice, integer, truth
from ._arguments import path as path_of
from ._arrays import Array, is_torch
from ._command import GraphmillError
from ._dot_products import greatest
from ._known import KnownLinks
from ._predictions import array_of, check_out, export, folder_of, text_or_none, type_and_count
from ._store import Store

_SIMILARITIES = ("dot", "cosine")
_HEADER = 128  # bytes before the values of a .npy file
_FINITE = 1 << 20  # numbers that are checked at a time


def write_top(
    store: Store | str | os.PathLike[str],
    types: str | tuple[str, ...],
    scores: Any,
    k: int,
    out: str | os.PathLike[str],
    *,
    known: Any = None,
    sources: Any = None,
    items: Any = None,
    similarity: str = "dot",
    block: int | None = None,
    integer_ids: bool = False,
    table: str | None = None,
    overwrite: bool = False,
) -> str:
    """Write the k items with the highest scores of each source, such as the products to show to a user, as a table with the original ids.

    The table has a row per source and item: ``source``, ``target`` (the item), ``rank`` from 1, and ``score``; by source and rank. Of equal
    scores, the lower node number of the item is first. A source with fewer than k items left has fewer rows. All scores are looked at, in
    blocks: memory holds about 2^22 scores (2^24 of a function), and 8 bytes per source and item. A node is not among its own items.

    Args:
        store: the store, or its folder.
        types: the node types of sources and items, ``("user", "item")``; or an edge type, which has them as ends.
        scores: a tuple of two arrays or tensors of numbers, or paths of .npy files: the embeddings of sources [sources, d] and items [items, d],
            whose products are the scores; or the scores themselves, [sources, items], or the path of their .npy file; or a function that gets some of the sources, int64
            (a tensor if ``sources`` is one), and returns theirs. Products are exact to the rounding of float64, and float32 where the
            embeddings have at most 32 bits.
        k: the number of items.
        out: the file or database, as for `write_predictions`.
        known: links that are left out: an edge type from sources to items, a list of these, or a dict with a condition on the edges of
            each, such as ``{"buys": "split=train"}``, in which None takes all.
        sources: [sources], the nodes that the rows of scores belong to; default: all of the type.
        items: [items], the nodes that the embeddings or columns of items belong to, in increasing order; default: all of the type.
        similarity: of embeddings: "dot", or "cosine", which divides by the lengths; it is 0 where a length is 0.
        block: the number of sources that are looked at together. It changes nothing in the table.
        integer_ids, table, overwrite: as for `write_predictions`.

    Returns:
        The path of ``out``.

    Raises:
        GraphmillError: the file is there, or the command failed.
        TypeError, ValueError: a wrong argument; scores or embeddings of another shape, or with a NaN; embeddings that are infinite. Nothing was
            written.

    Example:
        >>> graphmill.write_top("shop.store", ("user", "item"), (emb["user"], emb["item"]), 10, "top.parquet", known="buys")
    """
    store = store if isinstance(store, Store) else Store(store)
    out = path_of("out", out)
    ends = _ends(store, types)
    k = integer("k", k, 1)
    choice("similarity", similarity, _SIMILARITIES)
    block = None if block is None else integer("block", block, 1)
    flags: dict[str, Any] = {"type": ":".join(ends), "out": out, "table": text_or_none("table", table)}
    flags |= {"integer_ids": truth("integer_ids", integer_ids), "overwrite": truth("overwrite", overwrite)}
    check_out(out, table, overwrite)
    counts = tuple(store.nodes[t].count for t in ends)
    of = _nodes("sources", sources, ends[0], counts[0])
    columns = None if items is None else _increasing(_nodes("items", items, ends[1], counts[1]))
    if not isinstance(scores, tuple) and similarity != "dot":
        raise ValueError(f"found similarity={similarity!r} with scores that are no tuple of embeddings, expected a tuple of two arrays; leave it out")
    width = counts[1] if columns is None else len(columns)
    with tempfile.TemporaryDirectory(prefix=".graphmill-", dir=folder_of(out)) as folder:
        links = None if known is None else KnownLinks(store, known, ends, folder)
        left_out = _left_out(of, columns, links, ends[0] == ends[1])
        if isinstance(scores, tuple):
            a, b = _embeddings(scores, len(of), width)
            found = greatest(a, b, k, similarity == "cosine", block, left_out)
        else:
            found = _of_scores(scores, of, sources if is_torch(sources) else None, width, k, block, left_out)
        with _Columns(folder) as to:
            for row, item, rank, score in found:
                to.append(of[row], item if columns is None else columns[item], rank, score)
            export(store, to.complete(), flags)
    return out


def _ends(store: Store, types: Any) -> tuple[str, str]:
    """The node types of sources and items."""
    if isinstance(types, str) and types in store.nodes:
        raise ValueError(f"found types={types!r}, expected the node types of sources and items, such as ({types!r}, {store.node_types[-1]!r}), or an edge type")
    name, count = type_and_count(store, types, "types")
    if count is None:
        raise TypeError(f"found types={types!r}, expected two node types, such as ('user', 'item'), or an edge type")
    parts = name.split(":")
    return parts[0], parts[-1]


def _nodes(what: str, x: Any, type_: str, count: int) -> Array:
    """The numbers of nodes of a type."""
    if x is None:
        return np.arange(count)
    a = array_of(what, x)
    if a.ndim != 1 or (a.dtype.kind not in "iu" and a.size):
        raise ValueError(f"{what}: found {a.dtype} {list(a.shape)}, expected one integer per node")
    bad = (a < 0) | (a >= count)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{what}: row {row}: found {a[row]}, expected 0 to {count - 1}, below the number of nodes of {type_}")
    return np.asarray(a, np.int64)


def _increasing(items: Array) -> Array:
    if (items[1:] <= items[:-1]).any():
        row = int(np.argmax(items[1:] <= items[:-1])) + 1
        raise ValueError(
            f"items: row {row}: found {items[row]} after {items[row - 1]}, expected increasing nodes; sort them, and the embeddings or scores of the items alike"
        )
    return items


def _embeddings(scores: tuple[Any, ...], *rows: int) -> list[Array]:
    """The embeddings of sources and items."""
    if len(scores) != 2:
        raise ValueError(f"scores: found a tuple of {len(scores)}, expected two arrays: the embeddings of sources and items")
    out: list[Array] = []
    for x, of, n in zip(scores, ("sources", "items"), rows):
        a = array_of(f"scores: {of}", x)
        if a.ndim != 2 or len(a) != n or (out and a.shape[1] != out[0].shape[1]):
            want = f"[{n}, {out[0].shape[1] if out else 'd'}]"
            raise ValueError(f"scores: {of}: found shape {list(a.shape)}, expected {want}, a row per node of the {of}")
        for at in range(0, n, max(1, _FINITE // max(a.shape[1], 1))):
            part = a[at : at + max(1, _FINITE // max(a.shape[1], 1))]
            if part.dtype.kind == "f" and not np.isfinite(part).all():
                row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(part)))
                raise ValueError(f"scores: {of}: found {part[row, column]} in row {at + row}, expected finite numbers")
        out.append(a)
    return out


def _left_out(of: Array, columns: Array | None, links: KnownLinks | None, same: bool) -> Callable[[int, int], tuple[Array, Array]]:
    """The pairs of each range of rows that are left out: the row within the range, and the column."""

    def pairs(at: int, stop: int) -> tuple[Array, Array]:
        nodes = of[at:stop]
        row, item = (np.empty(0, np.int64),) * 2 if links is None else links.of(nodes)
        if same:
            row, item = np.append(row, np.arange(len(nodes))), np.append(item, nodes)
        if columns is None:
            return row, item
        if not len(columns):
            return row[:0], item[:0]
        place = np.minimum(np.searchsorted(columns, item), len(columns) - 1)
        there = columns[place] == item
        return row[there], place[there]

    return pairs


def _of_scores(
    scores: Any, of: Array, like: Any, width: int, k: int, block: int | None, left_out: Callable[[int, int], tuple[Array, Array]]
) -> Iterator[tuple[Array, Array, Array, Array]]:
    """What `greatest` returns, of scores that are given."""
    from .evaluate._blocks import scores_of
    from .evaluate._top import highest

    if not callable(scores) and not is_torch(scores):
        scores = array_of("scores", scores)
    if not callable(scores) and scores.ndim != 2:
        raise ValueError(f"scores: found shape {list(scores.shape)}, expected [sources, items]")
    for at, x in scores_of(scores, of, block, like, "sources"):
        if x.shape[1] != width:
            raise ValueError(f"scores: found {x.shape[1]} per source, expected {width}, one per item")
        x[left_out(at, at + len(x))] = np.nan
        item, score = highest(x, k, None)
        row, place = np.nonzero(item >= 0)
        yield row + at, item[row, place], place + 1, score[row, place]


class _Columns:
    """The columns of the table as files that grow."""

    def __init__(self, folder: str) -> None:
        self._folder, self._rows, self._dtype = folder, 0, np.dtype(np.float32)
        self._files = {name: open(self._path(name), "wb") for name in ("pairs", "target", "rank", "score")}
        for name, f in self._files.items():
            f.write(b"" if name == "target" else bytes(_HEADER))

    def __enter__(self) -> _Columns:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for f in self._files.values():
            f.close()

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{name}.npy")

    def append(self, source: Array, target: Array, rank: Array, score: Array) -> None:
        """Add rows."""
        if self._rows and score.dtype != self._dtype and len(score):
            raise ValueError(f"scores: found {score.dtype} after {self._dtype}, expected one dtype")
        if len(score):
            self._dtype = score.dtype
        self._rows += len(source)
        try:
            for name, x in (("pairs", source), ("target", target), ("rank", rank)):
                self._files[name].write(x.astype("<i8" if name != "rank" else "<i4").data)
            self._files["score"].write(score.astype(score.dtype.newbyteorder("<")).data)
        except OSError as e:
            raise GraphmillError(f"{self._folder}: found {e.strerror or e}, expected space for {self._rows} rows; free some") from e

    def complete(self) -> list[str]:
        """Complete the files, and return the arguments of the command."""
        try:
            self._files["target"].close()
            with open(self._path("target"), "rb") as target:
                shutil.copyfileobj(target, self._files["pairs"], 1 << 20)
            os.remove(self._path("target"))
            for name, dtype, shape in (
                ("pairs", "<i8", (2, self._rows)),
                ("rank", "<i4", (self._rows,)),
                ("score", self._dtype.newbyteorder("<").str, (self._rows,)),
            ):
                f = self._files[name]
                f.seek(0)
                f.write(_header(dtype, shape))
                f.close()
        except OSError as e:
            raise GraphmillError(f"{self._folder}: found {e.strerror or e}, expected space for {self._rows} rows; free some") from e
        return [f"--nodes={self._path('pairs')}", *(f"--column={name}={self._path(name)}" for name in ("rank", "score"))]


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """The header of a .npy file, of a fixed length."""
    text = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    return np.lib.format.magic(1, 0) + (_HEADER - 10).to_bytes(2, "little") + text + b" " * (_HEADER - 11 - len(text)) + b"\n"
