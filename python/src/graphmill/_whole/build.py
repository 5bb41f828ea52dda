"""Whole graphs on their way into a store: arrays and a graph.yaml in a temporary folder, which the importer reads.

`Nodes` and `Edges` hold the types of a graph as columns. The modules of libraries make them of objects of the library. There is no second
importer: `build` runs ``graphmill import``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shutil
import tempfile
import urllib.parse
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, Callable, TypeVar, Union

import numpy as np

from .._arguments import path as as_path
from .._arrays import Array
from .._collection import Collection
from .._command import GraphmillError
from .._folder import Column, EdgeType
from .._run import keywords, run
from .._store import Store
from .columns import strings
from .streams import is_whole

_LISTED = 64 << 10  # the bytes of categories that graph.yaml may list
NODE, EDGE = "_N", ("_N", "_E", "_N")  # the types of a graph without types


@dataclasses.dataclass
class Nodes:
    """The nodes of a type: how many there are, their columns, and their ids if these are not the row numbers."""

    count: int
    columns: dict[str, Column] = dataclasses.field(default_factory=dict)
    ids: Column | None = None


@dataclasses.dataclass
class Edges:
    """The edges of a type: the ids of both ends, as integers or strings, and their columns."""

    source: Column
    target: Column
    columns: dict[str, Column] = dataclasses.field(default_factory=dict)


def triple_of(e: Any) -> EdgeType:
    """An edge type by its three names, or by these joined with ":"."""
    names = tuple(e.split(":")) if isinstance(e, str) else tuple(e) if isinstance(e, (tuple, list)) else ()
    if len(names) != 3 or not all(isinstance(n, str) for n in names):
        raise ValueError(f"edge type: found {e!r}, expected three names: (source type, relation, destination type)")
    return names


def build(
    nodes: Mapping[str, Nodes],
    edges: Mapping[EdgeType, Edges],
    path: str | os.PathLike[str] | None,
    overwrite: bool,
    memory: Any,
    threads: int | None,
    options: Mapping[str, Any],
) -> Store:
    """Import a graph into a store at ``path``; without a path, into a temporary folder.

    It is removed when nothing uses it any more: neither the `Store` nor its nodes, edges and columns.
    """
    if not edges:
        raise ValueError("found no edge type, expected at least one; a type without edges has an edge_index of shape [2, 0], or a table without rows")

    def write(folder: str, given: dict[str, Any]) -> tuple[str, Mapping[str, str]]:
        return folder, write_graph(folder, nodes, edges, splits_of(folder, given))

    return imported(write, path, overwrite, memory, threads, options, Store)


_Opened = TypeVar("_Opened", bound=Union[Store, Collection])


def imported(
    write: Callable[[str, dict[str, Any]], tuple[str, Mapping[str, str]]],
    path: str | os.PathLike[str] | None,
    overwrite: bool,
    memory: Any,
    threads: int | None,
    options: Mapping[str, Any],
    opens: Callable[[str], _Opened],
) -> _Opened:
    """Import what a function writes to a temporary folder beside ``path``; without a path, into a temporary folder.

    Args:
        write: takes the folder and the options, which it may change; returns what is imported, and what errors call its files.
        opens: the class of the output.
    """
    own = None if path is not None else tempfile.mkdtemp(prefix="graphmill-", suffix=".store")
    out = os.path.join(own, "g.store") if own else os.path.abspath(as_path("path", path))
    try:
        folder = tempfile.mkdtemp(prefix=".graphmill-", dir=os.path.dirname(out))
        try:
            given = _prepared(folder, options)
            source, files = write(folder, given)
            with said_of(folder, files):
                run("import", source, out=out, overwrite=overwrite, memory=memory, threads=threads, **given)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        made = opens(out)
    except BaseException:
        if own:
            shutil.rmtree(own, ignore_errors=True)
        raise
    if own:
        weakref.finalize(made._folder, shutil.rmtree, own, ignore_errors=True)
    return made


_FEATURES = "features.yaml"


def _prepared(folder: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, with features that are given as a mapping as a file of the folder."""
    given = dict(options)
    of, fit = given.get("features"), given.pop("fit", None)
    if isinstance(given.get("like"), Store):
        given["like"] = given["like"].path
    if not isinstance(of, Mapping):
        if fit is not None:
            raise ValueError("found fit= without a mapping as features=, expected both; a file of features has its own fit")
        return given
    kinds: dict[str, dict[str, Any]] = {"nodes": {}, "edges": {}}
    for t, features in of.items():
        edge = not isinstance(t, str) or t.count(":") == 2
        kinds["edges" if edge else "nodes"][":".join(triple_of(t)) if edge else t] = {"features": features}
    content = {**({"fit": fit} if fit is not None else {}), **kinds}
    try:
        text = json.dumps(content, ensure_ascii=False, indent=1, default=str)
    except ValueError as e:
        raise ValueError(f"found features= that cannot be written ({e}), expected texts, numbers, lists and dicts") from e
    given["features"] = os.path.join(folder, _FEATURES)
    with open(given["features"], "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)
    return given


@contextlib.contextmanager
def said_of(folder: str, files: Mapping[str, str]) -> Iterator[None]:
    """Makes errors of the command name columns instead of the files of the folder, which is gone, and keywords instead of flags.

    Args:
        files: the columns by file.
    """
    try:
        yield
    except GraphmillError as e:
        text = str(e).replace(folder + os.sep, "").removesuffix("\nTry 'graphmill import --help'.")
        for file, what in files.items():
            text = text.replace(file, what)
        text = re.sub(r"^--([\w-]+): ", lambda m: m[1].replace("-", "_") + "=: ", text)
        raise GraphmillError(_of_flags(keywords(text))) from None


def _of_flags(text: str) -> str:
    """An error about flags as one about keywords."""
    if m := re.fullmatch(r"unknown flag: (\w+)(?:; did you mean (\w+)\?)?", text):
        return f"found {m[1]}=, expected keywords of this function, or flags of graphmill import such as both=True, symmetrise=True, dangling_edges='drop'" + (
            f"; did you mean {m[2]}=?" if m[2] else ""
        )
    return text


def splits_of(folder: str, given: dict[str, Any]) -> str:
    """The lines of graph.yaml for splits that are given as a mapping, which they take out of the options."""
    of = given.get("split")
    if not isinstance(of, Mapping):
        return ""
    del given["split"]
    splits: dict[str, Any] = {}
    for t, how in of.items():
        name = t if isinstance(t, str) else ":".join(triple_of(t))
        if isinstance(how, Mapping) and isinstance(how.get("files"), Mapping):
            how = {**how, "files": {p: x if p == "columns" else _list_of_ids(folder, f"{len(splits)}.{p}", x) for p, x in how["files"].items()}}
        splits[name] = how
    try:
        return "transforms:\n  split: " + json.dumps(splits, ensure_ascii=False, indent=4, default=_plain) + "\n"
    except (TypeError, ValueError) as e:
        raise ValueError(f"found split= that cannot be written ({e}), expected texts, numbers, lists and dicts") from e


def _plain(x: Any) -> Any:
    """A scalar or array of NumPy as a number or a list."""
    if isinstance(x, (np.generic, np.ndarray)):
        return x.tolist()
    return str(x)


def _list_of_ids(folder: str, name: str, ids: Any) -> str:
    """A file of ids in the folder: a copy of a file, or a file of an array of integers or texts, or of pairs of them [pairs, 2]."""
    if isinstance(ids, (str, os.PathLike)):
        source = os.fspath(ids)
        base = f"split {name} {os.path.basename(source)}"
        shutil.copyfile(source, os.path.join(folder, base))
        return base
    x = np.asarray(ids)
    if x.dtype.kind not in "iuUO" or x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[1] != 2):
        raise TypeError(f"split: files: found {x.dtype} {list(x.shape)}, expected integers or texts: ids, or pairs of ids [pairs, 2], or the path of a file")
    if x.dtype.kind in "iu" and x.size:
        base = f"split {name}.npy"
        np.save(os.path.join(folder, base), np.ascontiguousarray(x.T))  # two pairs as [pairs, 2] could be either way round
        return base
    base = f"split {name}.jsonl"
    with open(os.path.join(folder, base), "w", encoding="utf-8", errors="surrogateescape") as f:
        f.writelines(
            json.dumps(dict(zip(("id",) if len(row) == 1 else ("src", "dst"), map(str, row))), ensure_ascii=False) + "\n"
            for row in x.reshape(len(x), -1).tolist()
        )
    return base


def write_graph(folder: str, nodes: Mapping[str, Nodes], edges: Mapping[EdgeType, Edges], transforms: str = "", prefix: str = "") -> dict[str, str]:
    """Write graph.yaml and its files into a folder, and say which column each file has.

    Args:
        transforms: further lines of graph.yaml.
        prefix: what the names of files begin with.
    """
    w = Writer(folder, prefix)
    lines = ["nodes:" if nodes else "nodes: {}"]
    for t, n in nodes.items():
        # A column that is called id is no id unless it is given as #id.
        fields = ["    id: null", f"    columns: {{{w.columns(t, n.columns)}}}"] if n.columns else []
        if n.ids is not None:
            name = _free("id", n.columns)
            fields = [
                f"    id: {{column: {name}, dtype: {'string' if n.ids.dtype == 'string' else 'integer'}}}",
                f"    columns: {{{w.columns(t, {name: n.ids, **n.columns})}}}",
            ]
        elif not n.columns and n.count:
            fields = [f"    count: {n.count}"]
        lines += [f"  {_text(t)}:", *fields] if fields else [f"  {_text(t)}: {{}}"]
    lines.append("edges:" if edges else "edges: {}")
    for e, x in edges.items():
        name = ":".join(e)
        for end, t in ((x.source, e[0]), (x.target, e[2])):
            if not prefix and t in nodes and not nodes[t].count and len(end):
                raise ValueError(f"edge type {name}: found edges of the node type {t!r}, which has no nodes, expected none")
        lines.append(f"  {_text(name)}:")
        source, target = _free("source", x.columns), _free("target", x.columns)
        lines += [f"    src: {source}", f"    dst: {target}"]
        lines.append(f"    columns: {{{w.columns(name, {source: x.source, target: x.target, **x.columns})}}}")
    with open(os.path.join(folder, "graph.yaml"), "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write("\n".join(lines) + "\n" + transforms)
    return w.saved


def _free(name: str, taken: Mapping[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def _text(s: str) -> str:
    return json.dumps(s, ensure_ascii=False)


class Writer:
    """Writes columns as .npy files of a folder."""

    def __init__(self, folder: str, prefix: str) -> None:
        self._folder, self._prefix, self._listed = folder, prefix, 0
        self.saved: dict[str, str] = {}  # the column of each file

    def columns(self, type_: str, of: Mapping[str, Column]) -> str:
        """The entries of columns in graph.yaml, a line each."""
        return "".join(f"\n      {_text(name)}: {self._column(type_, name, c)}," for name, c in of.items()) + "\n    "

    def _column(self, type_: str, name: str, c: Column) -> str:
        if c.categories is c:  # texts that become categories
            return self._column(type_, name, Column(name, "string", c.shape, len(c), c.values, c.offsets, c.string_offsets)).replace(
                'dtype: "string"', "dtype: category"
            )
        if c.categories is not None:
            return self._categories(type_, name, c)
        entry = [f"file: {_text(self.save(type_, name, c.values))}"]
        if c.unit is not None:
            entry.append(f'dtype: "datetime[{c.unit}]"')
        elif not c.plain:
            dims = ",".join("" if d == -1 else str(d) for d in c.shape)
            entry.append(f"dtype: {_text(c.dtype + (f'[{dims}]' if c.shape else ''))}")
        if c.offsets:
            entry.append("row_offsets: [" + ", ".join(_text(self.save(type_, f"{name}.rows{k}", x)) for k, x in enumerate(c.offsets)) + "]")
        if c.string_offsets is not None:
            entry.append(f"string_offsets: {_text(self.save(type_, name + '.strings', c.string_offsets))}")
        return "{" + ", ".join(entry) + "}"

    def _categories(self, type_: str, name: str, c: Column) -> str:
        """Categories as their texts, which are empty where one is missing, and the list that keeps their order."""
        assert c.categories is not None
        texts = c.categories.tolist()
        if "" in texts:
            raise ValueError(f"{type_}: column {name!r}: found an empty category, expected a text, because empty means missing")
        empty = strings("", [*texts, ""])
        entry = self._column(type_, name, empty.take(np.where(c.values < 0, len(texts), c.values)))
        listed = ",\n        ".join(map(_text, texts))
        self._listed += len(listed.encode("utf-8", "surrogateescape"))
        if not texts or self._listed > _LISTED or any(len(t) > 250 for t in texts):  # an order that is too long for graph.yaml is lost
            return entry.replace('dtype: "string"', "dtype: category")
        return entry.replace('dtype: "string"', f"dtype: category, categories: [\n        {listed}]")

    def save(self, type_: str, name: str, x: Array) -> str:
        """Write an array, and return the name of its file, which errors of the importer show."""
        part = urllib.parse.quote(f"{type_} {name}", safe=" ,;!()+=", errors="surrogatepass").replace("%3A", "-")
        file = f"{self._prefix}{len(self.saved)} {part[:150]}.npy"
        self.saved[file] = f"{type_}: column {name!r}"
        path = os.path.join(self._folder, file)
        if is_whole(x):
            with contextlib.suppress(OSError):  # of a folder on another disk
                os.link(x.filename, path)  # type: ignore[attr-defined]
                return file
        np.save(path, np.ascontiguousarray(x, x.dtype.newbyteorder("<")).reshape(x.shape))
        return file
