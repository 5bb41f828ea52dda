"""What a model computed for the nodes, edges or pairs of nodes of a store, as a table under the original ids."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import tempfile
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._arguments import mapping, texts, truth
from ._arguments import path as path_of
from ._arrays import Array, is_torch, numpy
from ._command import GraphmillError
from ._folder import unknown
from ._run import keywords, run
from ._store import Store

_DATABASES = ("sqlite:", "postgres:", "postgresql:")
_SQLITE = (".db", ".sqlite", ".sqlite3")
_ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".csv", *_SQLITE)
_KEYWORDS = {"--column": "arrays", "--with": "include", "--out": "out", "--force": "overwrite=True"}  # of flags with other names


def write_predictions(
    store: Store | str | os.PathLike[str],
    type_: str | tuple[str, ...],
    arrays: Mapping[str, Any],
    out: str | os.PathLike[str],
    *,
    nodes: Any = None,
    rows: str | None = None,
    classes: Mapping[str, str] | None = None,
    include: Iterable[str] = (),
    id_name: str | None = None,
    integer_ids: bool = False,
    edge_ids: bool = False,
    table: str | None = None,
    overwrite: bool = False,
) -> str:
    """Write arrays with a row per node of a type as a table with the original ids of the nodes; it is ``graphmill export predictions``.

    The table has the column ``id``, or ``source`` and ``target`` for edges and pairs of nodes, then a column per array, then the columns of
    ``include``. It gets its name once it is whole.

    Args:
        store: the store, or its folder.
        type_: the node type, or the edge type: ``("user", "buys", "item")``, "user:buys:item", or the relation of one; or two
            node types, ``("user", "item")``, for pairs of nodes, which ``nodes`` has and which need not be edges.
        arrays: by name, arrays or tensors of numbers or bools, [rows] or [rows, values of a vector], or paths of .npy files. The
            rows are in the order of the store, unless ``nodes`` is given. A map of a whole .npy file, such as `inference` returns, is
            read where it is; others are written beside the output first. bfloat16 becomes float32.
        out: the file. ``.parquet`` and ``.arrow`` have vectors as lists. ``.csv`` has a column per value of a vector, NAME_0, NAME_1 and
            so on. ``.db``, or "sqlite:FILE#TABLE", is a new table in a file of SQLite, with the columns of CSV.
            "postgres://USER@HOST/DATABASE#TABLE" is one of PostgreSQL, with vectors as arrays; the password is in PGPASSWORD.
        nodes: the node, or the edge id, of each row of the arrays; default: a row per node or edge. Of pairs, the sources and targets, [2, rows].
        rows: "COLUMN=VALUE" writes only the rows of nodes or edges with a value in a column of the store, such as "split=test".
        classes: by name of an array of integers, the column of categories in the store whose texts are written in their place. -1 is
            missing: null, and empty in CSV.
        include: columns of the store to write too: one value per row, or a vector of numbers. Categories are texts.
        id_name: the name of the column of ids, in place of ``id``.
        integer_ids: write ids that the store has as texts of integers as integers, which a join with other tables may need.
        edge_ids: write the ids of edges too, as ``edge_id``.
        table: the name of the table in a database.
        overwrite: replace a file or table that is there.

    Returns:
        The path of ``out``.

    Raises:
        GraphmillError: the command failed, for instance because the file is there.
        TypeError, ValueError: a wrong argument, such as an array of another number of rows. Nothing was written.

    Example:
        >>> rows = graphmill.inference("g.store", model, "embeddings")
        >>> graphmill.write_predictions("g.store", "user", {"emb": rows, "pred": scores.argmax(1)}, "users.parquet", classes={"pred": "label"})
    """
    store = store if isinstance(store, Store) else Store(store)
    out = path_of("out", out)
    name, count = type_and_count(store, type_)
    if count is None:
        raise TypeError(f"found type_={type_!r}, expected the name of a node type or an edge type")
    flags: dict[str, Any] = {
        "type": name,
        "out": out,
        "rows": text_or_none("rows", rows),
        "id_name": text_or_none("id_name", id_name),
        "table": text_or_none("table", table),
    }
    flags |= {"integer_ids": truth("integer_ids", integer_ids), "edge_ids": truth("edge_ids", edge_ids), "overwrite": truth("overwrite", overwrite)}
    columns = [_column(n) for n in texts("include", include, "names of columns")]
    given = _arrays(arrays)
    pairs = name.count(":") == 1 and name not in store.nodes
    if nodes is not None:
        nodes = values_of("nodes", nodes)
        if not isinstance(nodes, str):
            shaped = nodes.ndim == 2 and len(nodes) == 2 if pairs else nodes.ndim == 1
            if not shaped or (nodes.dtype.kind not in "iu" and nodes.size):
                want = f"integers [2, rows], the sources and targets of pairs of {name}" if pairs else "one integer per row of the arrays"
                raise ValueError(f"nodes: found {nodes.dtype} {list(nodes.shape)}, expected {want}")
            nodes, count = nodes if nodes.size else nodes.astype(np.int64), nodes.shape[-1]
        else:
            count = -1  # the command compares them
    elif pairs:
        raise ValueError(f"found no nodes with the pairs of {name}, expected nodes=, integers [2, rows] of their sources and targets")
    for n, x in given.items():
        if not isinstance(x, str) and len(x) != count and count >= 0:
            per = f"one per {'edge' if ':' in name else 'node'} of {name}" if nodes is None else "one per row of nodes"
            raise ValueError(f"arrays: {n}: found {len(x)} rows, expected {count}, {per}")
    labels = mapping("classes", {} if classes is None else classes, '{"pred": "label"}')
    for n, c in labels.items():
        if n not in given:
            raise ValueError(unknown("classes", n, given))
        if not isinstance(c, str):
            raise TypeError(f"classes: found {c!r} for {n!r}, expected the name of a column of categories")
    _vacant(out, flags["overwrite"])
    with tempfile.TemporaryDirectory(prefix=".graphmill-", dir=folder_of(out)) as folder:
        call = [f"--column={n}={_file(folder, k, x)}" for k, (n, x) in enumerate(given.items())]
        call += [f"--classes={n}={c}" for n, c in labels.items()] + [f"--with={c}" for c in columns]
        if nodes is not None:
            call.append(f"--nodes={_file(folder, len(given), nodes)}")
        export(store, call, flags)
    return out


def export(store: Store, arguments: Sequence[str], flags: Mapping[str, Any]) -> None:
    """Run the command: its arguments, and flags by their names in Python."""
    try:
        run("export", "predictions", "--json", *arguments, *_flags(flags), "--", store.path)
    except GraphmillError as e:
        raise GraphmillError(_said(str(e))) from None


def _flags(flags: Mapping[str, Any]) -> list[str]:
    """Flags whose values may begin with a hyphen."""
    names = {"overwrite": "force"}
    return [f"--{names.get(k, k).replace('_', '-')}{'' if v is True else f'={v}'}" for k, v in flags.items() if v is not False and v is not None]


def _said(text: str) -> str:
    """A message of the command, with arguments in place of its flags."""
    text = re.sub(r"\nTry 'graphmill .*", "", text)
    return keywords(re.sub("|".join(_KEYWORDS), lambda m: _KEYWORDS[m[0]], text))


def type_and_count(store: Store, name: Any, keyword: str = "type_") -> tuple[str, int | None]:
    """The full name of a type, and the number of its nodes or edges; of two node types, -1."""
    if isinstance(name, str) and name in store.nodes:
        return name, store.nodes[name].count
    ends = name.split(":") if isinstance(name, str) else name
    if isinstance(ends, (list, tuple)) and len(ends) == 2 and all(isinstance(t, str) for t in ends):
        for t in ends:
            if t not in store.nodes:
                raise ValueError(unknown(keyword, t, store.nodes))
        return ":".join(ends), -1
    if not isinstance(name, (str, tuple, list)):
        return "", None
    try:
        edges = store.edges[name]
    except KeyError as e:
        if isinstance(name, str) and ":" not in name and "relation" not in str(e):
            known = [*store.nodes, *(":".join(t) for t in store.edges)]
            raise ValueError(unknown(keyword, name, known)) from None
        raise ValueError(f"{keyword}: {e.args[0]}") from None
    return ":".join(edges.type), edges.count


def text_or_none(name: str, x: Any) -> str | None:
    if x is not None and not isinstance(x, str):
        raise TypeError(f"found {name}={x!r}, expected a text")
    return x


def _column(name: str) -> str:
    """The name of a column in a list of CSV."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n\r') else name


def _arrays(arrays: Any) -> dict[str, Any]:
    """The arrays by name, or the paths of their files."""
    given = {}
    for n, x in mapping("arrays", arrays, '{"emb": array}').items():
        if not isinstance(n, str) or not n or "=" in n:
            raise ValueError(f"arrays: found the name {n!r}, expected a text that is not empty and has no =")
        given[n] = values_of(f"arrays: {n}", x)
        if not isinstance(given[n], str) and (given[n].ndim not in (1, 2) or (given[n].ndim == 2 and not given[n].shape[1])):
            raise ValueError(f"arrays: {n}: found shape {list(given[n].shape)}, expected [rows] or [rows, values of a row]")
    if not given:
        raise ValueError("found no arrays, expected at least one")
    return given


def values_of(what: str, x: Any) -> Any:
    """Values as an array of numbers or bools, or the path of the .npy file that holds them."""
    if isinstance(x, (str, os.PathLike)):
        return os.path.abspath(path_of(what, x))
    if is_torch(x) and str(getattr(x, "layout", "torch.strided")) != "torch.strided":
        raise TypeError(f"{what}: found a sparse tensor, expected a dense one")
    a: Array
    if isinstance(x, np.memmap):
        a = x
    elif is_torch(x) and str(x.dtype) == "torch.bfloat16":
        a = x.detach().cpu().float().numpy()
    else:
        a = _plain(x)
    if a.dtype.kind not in "biuf" or a.dtype.itemsize > 8 or a.ndim == 0:
        raise TypeError(f"{what}: found {type(x).__name__} of {a.dtype} {list(a.shape)}, expected an array of numbers or bools with a row per node or edge")
    return a


def array_of(what: str, x: Any) -> Array:
    """`values_of`, or the map of a file."""
    values = values_of(what, x)
    if not isinstance(values, str):
        return np.asarray(values) if not isinstance(values, np.memmap) else values
    try:
        found = np.load(values, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as e:
        raise ValueError(f"{what}: found {values}, which cannot be read ({getattr(e, 'strerror', None) or e}), expected a .npy file") from None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{what}: found {values}, which has several arrays, expected a .npy file")
    return np.asarray(values_of(what, found))


def _plain(x: Any) -> Array:
    """An array or tensor as NumPy has it, without loss."""
    if not is_torch(x):
        return np.asarray(x)
    x = x.detach().cpu()
    return np.asarray(x.numpy()) if str(x.dtype) in ("torch.float16", "torch.float32", "torch.float64") else numpy(x)


def _file(folder: str, number: int, x: Any) -> str:
    """The path of a .npy file with the values: that which they are a map of, or a new one."""
    if isinstance(x, str):
        return x
    whole = _map_of(x)
    if whole is not None:
        return whole
    path = os.path.join(folder, f"{number}.npy")
    try:
        np.save(path, np.ascontiguousarray(x, x.dtype.newbyteorder("<")), allow_pickle=False)
    except OSError as e:
        raise GraphmillError(f"{path}: found {e.strerror or e}, expected space for {x.nbytes} bytes; free some") from e
    return path


def _map_of(x: Any) -> str | None:
    """The .npy file that an array is a map of, as a whole."""
    if not isinstance(x, np.memmap) or x.mode == "c" or x.filename is None or not x.flags.c_contiguous:
        return None
    try:
        whole = np.load(x.filename, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError):
        return None
    same = isinstance(whole, np.memmap) and (whole.shape, whole.dtype, whole.offset) == (x.shape, x.dtype, x.offset)
    return os.path.abspath(x.filename) if same and x.dtype.kind in "biuf" and whole.flags.c_contiguous and x.dtype.isnative else None


def _vacant(out: str, overwrite: bool) -> None:
    """Refuse a file that is there, before arrays are written."""
    if not out.startswith(_DATABASES) and not out.lower().endswith(_SQLITE) and os.path.lexists(out) and not overwrite:
        raise GraphmillError(f"{out}: found that it exists, expected a new file; choose another out, or give overwrite=True to replace it")


def folder_of(out: str) -> str | None:
    """The folder that arrays are written in: the folder of a file on this machine."""
    path = out.removeprefix("sqlite:").partition("#")[0] if out.startswith("sqlite:") else out
    if "://" in path:
        return None
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise GraphmillError(f"{out}: found no folder {folder}, expected one to write the file in; make it, or choose another out")
    return folder


def check_out(out: str, table: str | None, overwrite: bool) -> None:
    """Refuse what a table cannot be written to, before long work for it begins.

    Raises:
        GraphmillError: the name has no known ending, there is no folder, or the file or table is there.
        ValueError: a database without the name of a table, or a file with one.
    """
    database = out.startswith(_DATABASES)
    if out.startswith(_DATABASES[1:]) and ("password=" in out or re.match(r"[a-z]+://[^/@]*:[^/@]*@", out)):
        raise GraphmillError("found a password in out, the address of a database, expected it in PGPASSWORD or in ~/.pgpass: an address is seen by others")
    path, hash_, named = out.rpartition("#") if database and "#" in out else (out, "", "")
    if table is not None and hash_ and named != table:
        raise ValueError(f"found the table {named!r} in out and table={table!r}, expected one; leave one out")
    table = named or table
    if not database and not out.lower().endswith(_ENDINGS):
        raise GraphmillError(
            f"found out={out!r}, expected a name that ends with .parquet, .arrow, .csv or .db, or the address of a database, such as sqlite:FILE#TABLE"
        )
    if (database or out.lower().endswith(_SQLITE)) and not table:
        raise ValueError("found no table for the database in out, expected the name of the table to write, as in sqlite:FILE#TABLE")
    if not database and not out.lower().endswith(_SQLITE) and table is not None:
        raise ValueError(f"found table={table!r} with out={out!r}, expected it with a database; leave it out")
    _vacant(out, overwrite)
    folder_of(out)
    if table and not overwrite and not path.startswith(_DATABASES[1:]) and _has_table(path.removeprefix("sqlite:"), table):
        raise GraphmillError(f"{path}: found a table {table!r}, expected none of this name; choose another table, or give overwrite=True to replace it")


def _has_table(path: str, table: str) -> bool:
    """Whether a file of SQLite has a table; False if it cannot be read, which the command will say."""
    if not os.path.isfile(path):
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"file:{urllib.parse.quote(path)}?mode=ro", uri=True)) as db:
            return bool(db.execute("SELECT count(*) FROM sqlite_master WHERE name = ? COLLATE NOCASE", (table,)).fetchone()[0])
    except sqlite3.Error:
        return False
