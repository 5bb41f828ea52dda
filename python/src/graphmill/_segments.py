"""Stores with segments: what was appended is merged with the base where it is read.

Columns of nodes go on in other files, which are mapped next to each other, and so are blocks of files whose values were changed. The lists of edges that segments change, and the columns of these edges, are merged by
NumPy on first use: they take the bytes of the arrays, and while they are made 16 bytes per edge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ._arrays import Array
from ._folder import Column, Folder
from ._shards import Piece

_ALIGN = 1 << 16  # the files of a segment go on at multiples of this


def merged(folder: Folder) -> dict[str, Any]:
    """The metadata of the graph with its segments. The folder then has the arrays that they name."""
    meta = folder.meta
    whole: dict[str, Any] = {**meta, "nodes": {t: dict(n) for t, n in meta["nodes"].items()}, "edges": {t: dict(e) for t, e in meta["edges"].items()}}
    counts = [{t: int(n["count"]) for t, n in meta["nodes"].items()}]
    changed: set[str] = set()
    for segment in meta["segments"]:
        for file, by in segment.get("replaced", {}).items():
            _replace(folder, file, by)
        for t, n in segment.get("nodes", {}).items():
            _join_nodes(folder, whole["nodes"], t, n)
        for e, of in segment.get("edges", {}).items():
            changed.add(e)
            whole["edges"].setdefault(e, {k: of[k] for k in ("primary", "columns")})
        counts.append({t: int(n["count"]) for t, n in whole["nodes"].items()})
    for e in whole["edges"]:  # lists have an offset for each of the nodes
        if any(counts[0].get(t) != counts[-1].get(t) for t in (e.split(":")[0], e.split(":")[2])):
            changed.add(e)
    both = any("other_indptr" in e["arrays"] for e in meta["edges"].values())
    for e in changed:
        parts = [of["edges"].get(e) for of in [meta, *({"edges": {}, **s} for s in meta["segments"])]]
        src, _, dst = e.split(":")
        near, far = (dst, src) if whole["edges"][e]["primary"] == "in" else (src, dst)
        x = _Edges(folder, e, parts, (counts[0].get(near, 0), counts[-1][near]), counts[-1][far])
        whole["edges"][e] = x.describe(both if parts[0] is None else "other_indptr" in parts[0]["arrays"])
    return whole


def _join_nodes(folder: Folder, all_: dict[str, Any], t: str, n: Mapping[str, Any]) -> None:
    """Add the nodes of a segment to those of a type before it."""
    index = {"first": 0, "count": int(n["count"]), "arrays": n.get("arrays", {})}
    known = all_.get(t)
    if known is None or (int(known["count"]) == 0 and "ids" not in known and not known["columns"]):  # a new type, or one whose first nodes these are
        all_[t] = {**n, "indexes": [index]}
        return
    to = all_[t]
    to.setdefault("indexes", [{"first": 0, "count": int(to["count"]), "arrays": to.get("arrays", {})}])
    index["first"] = int(to["count"])
    to["indexes"].append(index)
    to["count"] = int(to["count"]) + int(n["count"])
    pairs = [(to["columns"][c], more) for c, more in n["columns"].items()]
    if "ids" in n:
        pairs.append((to["ids"], n["ids"]))
    for before, more in pairs:
        for file, rest in zip(_files(before), _files(more)):
            _join(folder, file, rest)
    grown = {c: {**to["columns"][c], "categories": more["categories"]} for c, more in n["columns"].items() if "categories" in more}  # those of all rows so far
    to["columns"] = {**to["columns"], **grown}


def _files(column: Mapping[str, Any]) -> list[str]:
    """The files of a column that have its rows."""
    return [column["file"], *column.get("row_offsets", []), *([column["string_offsets"]] if "string_offsets" in column else [])]


def _join(folder: Folder, file: str, rest: str) -> None:
    """Add a file that goes on with another."""
    pieces = folder.parts(file)
    at = sum(n for _, _, n in pieces) // _ALIGN * _ALIGN
    folder.joined[file] = [*_range(pieces, 0, at), (rest, 0, folder.sizes[rest])]


def _replace(folder: Folder, file: str, by: Mapping[str, str]) -> None:
    """Put the bytes of a segment in the place of a file's: its blocks, or all."""
    if "blocks" not in by:
        folder.joined[file] = [(by["file"], 0, folder.sizes[by["file"]])]
        return
    pieces, made, at, next_ = folder.parts(file), [], 0, 0
    size = sum(n for _, _, n in pieces)
    numbers = folder.index(by["blocks"], None).astype(np.int64)
    for run in np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1):
        first, end = int(run[0]) * _ALIGN, min((int(run[-1]) + 1) * _ALIGN, size)
        made += [*_range(pieces, next_, first), (by["file"], at, end - first)]
        at, next_ = at + end - first, end
    folder.joined[file] = [*made, *_range(pieces, next_, size)]


def _range(pieces: list[Piece], start: int, stop: int) -> list[Piece]:
    """The pieces of a range of bytes."""
    out, at = [], 0
    for name, first, n in pieces:
        lo, hi = max(start, at), min(stop, at + n)
        if lo < hi:
            out.append((name, first + lo - at, hi - lo))
        at += n
    return out


class _Edges:
    """The edges of one type in the base and in each segment; a part is None where it has none."""

    def __init__(self, folder: Folder, name: str, parts: list[Any], near: tuple[int, int], far: int) -> None:
        self._folder, self._name, self._parts, self._near, self._far = folder, name, parts, near, far
        self._made: dict[str, Array] = {}
        self._rows = sum(int(p["count"]) for p in parts if p is not None)
        dropped = [len(folder.index(p["arrays"]["dropped"], None)) for p in parts if p is not None and "dropped" in p["arrays"]]
        self._count = self._rows - sum(dropped)

    def describe(self, both: bool) -> dict[str, Any]:
        """The metadata of the type, whose arrays the folder makes."""
        first = next(p for p in self._parts if p is not None and "columns" in p)
        arrays: dict[str, Callable[[], Array]] = {"indptr": self._indptr, "far": self._neighbours}
        if both:
            arrays.update(other_indptr=self._other_indptr, other_far=self._other_far, other_edge_id=self._other_edge_id)
        names = {key: f"merged/{self._name}/{key}" for key in arrays}
        for key, make in arrays.items():
            self._folder.made[names[key]] = make
        columns: dict[str, Any] = {}
        last = [p for p in self._parts if p is not None and p.get("columns")][-1:]
        for c, of in first["columns"].items():
            if "categories" in of:  # those of a later part begin with those before
                of = {**of, "categories": last[0]["columns"][c]["categories"]}
            if c == "#input_position" and any(p["columns"][c]["dtype"] == "uint64" for p in self._with_edges()):
                of = {**of, "dtype": "uint64"}
            columns[c] = {**of, "file": f"merged/{self._name}/{c}"}
            self._folder.made[columns[c]["file"]] = partial(self._values, c)
            if "row_offsets" in of:
                columns[c]["row_offsets"] = [f"merged/{self._name}/{c}.{k}" for k in range(len(of["row_offsets"]))]
                for k, file in enumerate(columns[c]["row_offsets"]):
                    self._folder.made[file] = partial(self._offsets, c, k)
            if "string_offsets" in of:
                columns[c]["string_offsets"] = f"merged/{self._name}/{c}.strings"
                self._folder.made[columns[c]["string_offsets"]] = partial(self._strings, c)
        meta = {"count": self._count, "primary": first["primary"], "arrays": names, "columns": columns}
        if "#input_position" not in columns:
            meta["no_positions"] = True
        return meta

    def _once(self, name: str, make: Callable[[], Array]) -> Array:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def _width(self, values: Array) -> Array:
        """Offsets and ids in 32 bits where those of all edges fit."""
        return values.astype(np.uint32 if self._count < 1 << 32 else np.uint64)

    def _with_edges(self) -> list[Any]:
        """The parts that have edges, and the first of all, which has the columns."""
        parts = [p for p in self._parts if p is not None and int(p["count"])]
        return parts or [next(p for p in self._parts if p is not None)]

    def _part_nodes(self, i: int) -> Array:
        """The near node of each edge of a part."""
        p = self._parts[i]
        if p is None or not int(p["count"]):
            return np.zeros(0, np.int64)
        if i == 0:
            ptr = self._folder.index(p["arrays"]["indptr"], self._near[0] + 1).astype(np.int64)
            return np.repeat(np.arange(self._near[0]), np.diff(ptr))
        nodes, starts = self._sparse(p, "nodes", "starts")
        return np.repeat(nodes, np.diff(starts))

    def _sparse(self, p: Mapping[str, Any], nodes: str, starts: str) -> tuple[Array, Array]:
        """The nodes and offsets of a sparse list."""
        of = self._folder.index(p["arrays"][nodes], None).astype(np.int64)
        return of, self._folder.index(p["arrays"][starts], len(of) + 1).astype(np.int64)

    def _nodes(self) -> Array:
        """The near node of each edge, parts one after the other."""
        return self._once("nodes", lambda: np.concatenate([self._part_nodes(i) for i in range(len(self._parts))]))

    def _order(self) -> Array:
        """The edges, as `_nodes` has them, in the order of their ids."""

        def make() -> Array:
            near, at = self._nodes(), 0
            order = np.zeros(0, np.int64)
            for i, p in enumerate(self._parts):
                if p is not None and "dropped" in p["arrays"]:  # places in the lists before this part
                    order = order[np.argsort(near[order], kind="stable")]
                    nodes, starts = self._sparse(p, "dropped_nodes", "dropped_starts")
                    first = np.searchsorted(near[order], nodes)
                    places = self._folder.index(p["arrays"]["dropped"], None).astype(np.int64)
                    order = np.delete(order, np.repeat(first, np.diff(starts)) + places)
                n = len(self._part_nodes(i))
                order = np.concatenate([order, np.arange(at, at + n)])
                at += n
            out: Array = order[np.argsort(near[order], kind="stable")]
            return out

        return self._once("order", make)

    def _indptr(self) -> Array:
        counts = np.bincount(self._nodes()[self._order()], minlength=self._near[1])
        return self._width(np.concatenate([[0], np.cumsum(counts)]))

    def _neighbours(self) -> Array:
        far = [self._folder.index(p["arrays"]["far"], int(p["count"])) for p in self._with_edges()]
        return self._once("far", lambda: np.concatenate(far)[self._order()])

    def _other(self) -> Array:
        """The edge ids in the order of the far ends."""
        return self._once("other", lambda: np.argsort(self._neighbours(), kind="stable"))

    def _other_indptr(self) -> Array:
        counts = np.bincount(self._neighbours().astype(np.int64), minlength=self._far)
        return self._width(np.concatenate([[0], np.cumsum(counts)]))

    def _other_far(self) -> Array:
        out: Array = self._nodes()[self._order()][self._other()].astype(np.uint32)
        return out

    def _other_edge_id(self) -> Array:
        return self._width(self._other())

    def _values(self, name: str) -> Array:
        return self._column(name).values

    def _offsets(self, name: str, k: int) -> Array:
        return self._column(name).offsets[k].astype(np.uint64)

    def _strings(self, name: str) -> Array:
        offsets = self._column(name).string_offsets
        assert offsets is not None
        return offsets.astype(np.uint64)

    def _column(self, name: str) -> Column:
        """A column of all edges."""
        parts = [self._folder.column(name, p["columns"][name], int(p["count"])) for p in self._with_edges()]
        first = parts[0]
        offsets = tuple(_chained([p.offsets[k] for p in parts]) for k in range(len(first.offsets)))
        strings = None if first.string_offsets is None else _chained([p.string_offsets for p in parts])
        values = np.concatenate([p.values for p in parts])
        return Column(name, first.dtype, first.shape, self._rows, values, offsets, strings, first.unit, parts[-1].categories).take(self._order())


def _chained(lists: list[Any]) -> Array:
    """Lists of offsets one after the other."""
    out, end = [np.zeros(1, np.int64)], 0
    for x in lists:
        out.append(x[1:].astype(np.int64) + end)
        end += int(x[-1])
    chained: Array = np.concatenate(out)
    return chained
