"""Whole graphs on their way into a store: arrays and a graph.yaml in a temporary folder, which the importer reads.

`Nodes` and `Edges` hold the types of a graph as columns. Modules _whole_pyg, _whole_dgl, _whole_networkx and _whole_tables
make them of other libraries' objects, and back. There is no second importer: `build` runs ``graphmill import``.
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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ._arguments import _brief, integer
from ._arguments import path as as_path
from ._arrays import Array, is_torch, numpy
from ._command import GraphmillError
from ._folder import _DTYPES, Column, EdgeType, apart, int64
from ._makers import makes
from ._run import keywords, run
from ._store import Store

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
    own = None if path is not None else tempfile.mkdtemp(prefix="graphmill-", suffix=".store")
    out = os.path.join(own, "g.store") if own else os.path.abspath(as_path("path", path))
    try:
        folder = tempfile.mkdtemp(prefix=".graphmill-", dir=os.path.dirname(out))
        try:
            files = _write(folder, nodes, edges)
            with _said_of(folder, files):
                run("import", folder, out=out, overwrite=overwrite, memory=memory, threads=threads, **options)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        store = Store(out)
    except BaseException:
        if own:
            shutil.rmtree(own, ignore_errors=True)
        raise
    if own:
        weakref.finalize(store._folder, shutil.rmtree, own, ignore_errors=True)
    return store


@contextlib.contextmanager
def _said_of(folder: str, files: Mapping[str, str]) -> Iterator[None]:
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


def _write(folder: str, nodes: Mapping[str, Nodes], edges: Mapping[EdgeType, Edges]) -> dict[str, str]:
    """Write the files, and say which column each has."""
    w = _Writer(folder)
    lines = ["nodes:"]
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
    lines.append("edges:")
    for e, x in edges.items():
        name = ":".join(e)
        for end, t in ((x.source, e[0]), (x.target, e[2])):
            if t in nodes and not nodes[t].count and len(end):
                raise ValueError(f"edge type {name}: found edges of the node type {t!r}, which has no nodes, expected none")
        lines.append(f"  {_text(name)}:")
        source, target = _free("source", x.columns), _free("target", x.columns)
        lines += [f"    src: {source}", f"    dst: {target}"]
        lines.append(f"    columns: {{{w.columns(name, {source: x.source, target: x.target, **x.columns})}}}")
    with open(os.path.join(folder, "graph.yaml"), "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write("\n".join(lines) + "\n")
    return w.saved


def _free(name: str, taken: Mapping[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def _text(s: str) -> str:
    return json.dumps(s, ensure_ascii=False)


class _Writer:
    """Writes columns as .npy files of a folder."""

    def __init__(self, folder: str) -> None:
        self._folder, self._listed = folder, 0
        self.saved: dict[str, str] = {}  # the column of each file

    def columns(self, type_: str, of: Mapping[str, Column]) -> str:
        """The entries of columns in graph.yaml, a line each."""
        return "".join(f"\n      {_text(name)}: {self._column(type_, name, c)}," for name, c in of.items()) + "\n    "

    def _column(self, type_: str, name: str, c: Column) -> str:
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
        file = f"{len(self.saved)} {part[:150]}.npy"
        self.saved[file] = f"{type_}: column {name!r}"
        np.save(os.path.join(self._folder, file), np.ascontiguousarray(x, x.dtype.newbyteorder("<")).reshape(x.shape))
        return file


def column(name: str, x: Any, what: str) -> Column:
    """Values with a row per item as a `Column`: an array or tensor, or a list of numbers, strings, or arrays or lists of these.

    Lists that all have the same length become rows of a fixed shape.

    Raises:
        TypeError: no column can hold the values.
    """
    if isinstance(x, Column):
        return x
    if is_torch(x):
        x = x.detach().cpu()
        if not hasattr(x, "numpy") or str(getattr(x, "layout", "torch.strided")) != "torch.strided" or getattr(x, "is_quantized", False):
            raise TypeError(f"{what}: column {name!r}: found a sparse or quantized tensor, expected a dense one")
        if str(x.dtype) == "torch.bfloat16":
            import torch

            return _plain(name, x.contiguous().view(torch.int16).numpy().view(np.uint16), "bfloat16", what)
        x = numpy(x) if not x.dtype.is_floating_point else x.numpy()
    if not isinstance(x, np.ndarray) and hasattr(x, "__array__"):
        x = np.asarray(x)
    if isinstance(x, np.ndarray):
        if x.dtype.kind in "US":
            return strings(name, x.ravel().tolist(), x.shape)
        if x.dtype.kind == "M":
            return times(name, x)
        if x.dtype.kind != "O":
            return _plain(name, x.view(np.uint16) if x.dtype.name == "bfloat16" else x, x.dtype.name, what)
        x = x.tolist()
    if isinstance(x, (list, tuple)):
        return _nested(name, list(x), what)
    raise TypeError(f"{what}: column {name!r}: found {type(x).__name__}, expected an array, a tensor or a list")


def times(name: str, x: Array) -> Column:
    """Times of NumPy, datetime64 of any unit, in a unit of the store: s, ms, us or ns.

    Raises:
        TypeError: more than one time per row, or numbers without a unit.
        ValueError: a time that does not fit the unit.
    """
    unit = np.datetime_data(x.dtype)[0]
    if x.ndim != 1 or unit == "generic":
        raise TypeError(f"column {name!r}: found {x.dtype} {list(x.shape)}, expected one time per row, of a unit")
    if unit not in ("s", "ms", "us", "ns") or np.datetime_data(x.dtype)[1] != 1:
        to = unit if unit in ("s", "ms", "us", "ns") else "s" if unit in ("Y", "M", "W", "D", "h", "m") else "ns"
        y = x.astype(f"datetime64[{to}]")
        if not ((y == x) | np.isnat(x)).all():
            raise ValueError(f"column {name!r}: found times of the unit {unit} that no unit of a store has, expected s, ms, us or ns")
        x, unit = y, to
    return Column(name, "int64", (), len(x), np.ascontiguousarray(x.astype(x.dtype.newbyteorder("="))).view(np.int64), (), None, unit)


def _plain(name: str, x: Array, dtype: str, what: str) -> Column:
    if dtype not in _DTYPES or dtype == "string":
        raise TypeError(f"{what}: column {name!r}: found {dtype}, expected one of {', '.join(_DTYPES)}")
    if x.ndim == 0:
        raise TypeError(f"{what}: column {name!r}: found a single value, expected a row per item")
    return Column(name, dtype, x.shape[1:], len(x), x, (), None)


def strings(name: str, x: Sequence[Any], shape: Sequence[int] | None = None, offsets: tuple[Array, ...] = (), rows: int | None = None) -> Column:
    """Strings, of all rows, as a column; a string is str or bytes."""
    data = [s.encode("utf-8", "surrogateescape") if isinstance(s, str) else bytes(s) for s in x]
    ends = np.zeros(len(data) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, data), np.int64, len(data)), out=ends[1:])
    dims = (len(data),) if shape is None else tuple(shape)
    return Column(name, "string", dims[1:], dims[0] if rows is None else rows, np.frombuffer(b"".join(data), np.uint8), offsets, ends)


def _nested(name: str, items: list[Any], what: str) -> Column:
    """Numbers, strings, or lists of them in any depth."""
    rows, dims, offsets = len(items), [], []
    while items and all(isinstance(i, (list, tuple)) or ((isinstance(i, np.ndarray) or is_torch(i)) and i.ndim) for i in items):
        lengths = np.fromiter(map(len, items), np.int64, len(items))
        if lengths[0] and (lengths == lengths[0]).all():
            dims.append(int(lengths[0]))
        else:
            dims.append(-1)
            offsets.append(np.append(0, np.cumsum(lengths)))
        if all(isinstance(i, np.ndarray) and i.dtype.kind != "O" for i in items) and len({(i.dtype, i.shape[1:]) for i in items}) == 1:
            items = np.concatenate(items)  # type: ignore[assignment]
            break
        items = [v for i in items for v in (i.tolist() if isinstance(i, np.ndarray) else i)]
    if items and isinstance(items, list) and all(isinstance(i, (str, bytes)) for i in items):
        return strings(name, items, (rows, *dims), tuple(offsets), rows)
    given = isinstance(items, list)
    try:
        x: Array = np.asarray(items, None if items else np.float64) if isinstance(items, list) else items
    except ValueError:  # numbers and lists
        x = np.empty(0, object)
    mixed = given and (x.dtype.kind in "US" or (x.dtype.kind == "f" and all(isinstance(i, (int, np.integer)) for i in items) and len(items)))
    if x.dtype.kind in "US" and not mixed:
        flat = strings(name, x.ravel().tolist())
        return Column(name, "string", (*dims, *x.shape[1:]), rows, flat.values, tuple(offsets), flat.string_offsets)
    if x.dtype.kind not in "biuf" or mixed:
        kinds: dict[str, Any] = {}  # the first value of each type
        for i in items:
            kinds.setdefault(type(i).__name__, i)
        if len(kinds) > 1:
            raise TypeError(
                f"{what}: column {name!r}: found values of several types, {' and '.join(f'{k} ({_brief(i)})' for k, i in kinds.items())}, expected numbers, strings, or lists of one of them"
            )
        raise TypeError(f"{what}: column {name!r}: found {_brief(items[0])} among the values, expected numbers, strings, or lists of one of them")
    tail = tuple(x.shape[1:])
    last = max((k for k, d in enumerate(dims) if d == -1), default=-1)
    x = x.reshape((-1, *dims[last + 1 :], *tail) if last >= 0 else (rows, *dims, *tail))
    return Column(name, x.dtype.name, (*dims, *tail), rows, x, tuple(offsets), None)


def columns(of: Mapping[str, Any], rows: int | None, what: str) -> tuple[int, dict[str, Column]]:
    """Columns by name, which must have equally many rows, and that number."""
    out = {str(name): column(str(name), x, what) for name, x in of.items()}
    for name, c in out.items():
        if rows is None:
            rows = len(c)
        if len(c) != rows:
            raise ValueError(f"{what}: column {name!r}: found {len(c)} rows, expected {rows}")
    return rows or 0, out


def ends(pair: Any, what: str) -> tuple[Column, Column]:
    """The ends of edges, [2, edges]: one array or tensor, or a pair of them."""
    if isinstance(pair, (tuple, list)) and len(pair) == 2:
        source, target = (column(n, x if len(x) else np.zeros(0, np.int64), what) for n, x in zip(("source", "target"), pair))
    else:
        x = column("edge_index", pair, what)
        if x.shape != () and len(x) == 2 and x.fixed and len(x.shape) == 1:
            source, target = (column(n, v, what) for n, v in zip(("source", "target"), x.values))
        else:
            raise ValueError(f"{what}: found edges of shape {[len(x), *x.shape]}, expected [2, edges]")
    for c in (source, target):
        if c.shape or (c.dtype != "string" and np.dtype(_DTYPES[c.dtype]).kind not in "iu"):
            raise TypeError(f"{what}: found ends of dtype {c.dtype} {list(c.shape)}, expected integers or strings")
    if len(source) != len(target):
        raise ValueError(f"{what}: found {len(source)} sources and {len(target)} targets, expected equally many")
    return source, target


def from_arrays(
    nodes: Any,
    edges: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Store:
    """Make a store of arrays.

    Args:
        nodes: by node type, the number of nodes, or the columns by name; for a graph without types, that of the one type.
            A column is an array or tensor with a row per node, or a list of numbers, strings, or lists of these. The column
            ``#id`` has the ids that edges refer to, integers or strings; without it they are the row numbers.
        edges: by edge type, ``("author", "writes", "paper")`` or "author:writes:paper", the ends of its edges [2, edges], or
            a mapping with the ends as ``edge_index`` and columns by name; for a graph without types, that of the one type.
        path: the folder to write; None makes a store in a temporary folder, which is removed when the `Store` is.
        overwrite: replace a store that is there.
        memory: bound on the memory of the command, such as "2GiB".
        threads: number of threads; the store does not depend on it.
        options: flags of ``graphmill import`` as keywords, such as ``both=True`` or ``dangling_edges="drop"``.

    Raises:
        GraphmillError: an error of the import.
        TypeError, ValueError: values that no column can hold, or columns with different numbers of rows.

    Example:
        >>> store = from_arrays({"x": x, "y": y}, edge_index, "g.store")
        >>> store = from_arrays({"user": 100, "item": {"price": price}}, {("user", "buys", "item"): edge_index})
    """
    if not isinstance(nodes, Mapping) or not all(isinstance(v, (int, np.integer, Mapping)) for v in nodes.values()):
        nodes = {NODE: nodes}
    if not isinstance(edges, Mapping) or "edge_index" in edges:
        edges = {EDGE: edges}
    of_nodes, of_edges = {}, {}
    for t, n in nodes.items():
        what = f"node type {t}"
        if isinstance(n, Mapping):
            rest = dict(n)
            given = rest.pop("#id", None)
            ids = None if given is None else column("#id", given, what)
            count, of = columns(rest, None if ids is None else len(ids), what)
            of_nodes[t] = Nodes(count, of, ids)
        else:
            try:
                of_nodes[t] = Nodes(integer(what, n, 0))
            except TypeError:
                raise TypeError(f"{what}: found {type(n).__name__}, expected the number of nodes, or a dict of columns") from None
    for e, x in edges.items():
        e = triple_of(e)
        what = f"edge type {':'.join(e)}"
        rest = dict(x) if isinstance(x, Mapping) else {"edge_index": x}
        if "edge_index" not in rest:
            raise ValueError(f"{what}: found {', '.join(map(repr, rest)) or 'nothing'}, expected edge_index, the ends of its edges")
        source, target = ends(rest.pop("edge_index"), what)
        of_edges[e] = Edges(source, target, columns(rest, len(source), what)[1])
    return build(of_nodes, of_edges, path, overwrite, memory, threads, options)


def triple_of(e: Any) -> EdgeType:
    """An edge type by its three names, or by these joined with ":"."""
    names = tuple(e.split(":")) if isinstance(e, str) else tuple(e) if isinstance(e, (tuple, list)) else ()
    if len(names) != 3 or not all(isinstance(n, str) for n in names):
        raise ValueError(f"edge type: found {e!r}, expected three names: (source type, relation, destination type)")
    return names


def input_order(store: Store, e: EdgeType) -> Any:
    """The rows of an edge type's columns in the order of the imported input; a slice if they are in it, or if it is not known."""
    at = store.edges[e].columns.get("#input_position")
    if at is None:
        return slice(None)
    at = np.asarray(at)
    if len(at) < 2 or (at[1:] >= at[:-1]).all():
        return slice(None)
    at = int64(at)
    if int(at.max()) < len(at):
        order = np.full(len(at), -1)
        order[at] = np.arange(len(at))
        if (order >= 0).all():
            return order
    return np.argsort(at, kind="stable")  # some rows of the input became no edge, or two


def take(c: Column, rows: Any) -> Column:
    """The rows of a column; all of them for a slice."""
    return c if isinstance(rows, slice) else c.take(rows)


@makes("store", "arrays")
def to_arrays(store: Store) -> tuple[dict[str, Any], dict[EdgeType, Any]]:
    """The graph as `from_arrays` takes it: nodes and edges, in the order of the imported input.

    Columns of numbers are arrays, which may be maps of the store's files; those of strings, lists, times, categories and
    bfloat16 are `Column`.
    """

    def value(c: Column) -> Any:
        return c.values if c.plain and c.unit is None and c.categories is None else c

    nodes: dict[str, Any] = {}
    for t, n in store.nodes.items():
        of = {name: value(n.columns.column(name)) for name in n.columns if not name.startswith("#")}
        if n.ids is not None:
            of = {"#id": n.ids, **of}
        nodes[t] = of or n.count
    edges: dict[EdgeType, Any] = {}
    for e, x in store.edges.items():
        order = input_order(store, e)
        pair: Any = x.edge_index()[:, order]
        ids = [store.nodes[t].ids for t in (e[0], e[2])]
        if any(i is not None for i in ids):
            pair = tuple(p if i is None else column("", i, "").take(p) if isinstance(i, Column) else i[p] for p, i in zip(pair, ids))
        names = apart([name for name in x.columns if not name.startswith("#")], ["edge_index"], "edge_")
        edges[e] = {"edge_index": pair, **{to: value(take(x.columns.column(name), order)) for name, to in names.items()}}
    return nodes, edges
