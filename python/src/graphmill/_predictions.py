"""What a model computed for the nodes or edges of a store, as a table under the original ids."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
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
_KEYWORDS = {"--column": "arrays", "--with": "include", "--out": "out", "--force": "overwrite=True"}  # of flags with other names


def write_predictions(
    store: Store | str | os.PathLike[str],
    type_: str | tuple[str, str, str],
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

    The table has the column ``id``, or ``source`` and ``target`` for an edge type, then a column per array, then those of
    ``include``. It gets its name once it is whole.

    Args:
        store: the store, or its folder.
        type_: the node type, or the edge type: ``("user", "buys", "item")``, "user:buys:item", or the relation of one.
        arrays: by name, arrays or tensors of numbers or bools, [rows] or [rows, values of a vector], or paths of .npy files. The
            rows are in the order of the store, unless ``nodes`` is given. A map of a whole .npy file, such as `inference` returns, is
            read where it is; others are written beside the output first. bfloat16 becomes float32.
        out: the file. ``.parquet`` has vectors as lists. ``.csv`` has a column per value of a vector, NAME_0, NAME_1 and so on.
            ``.db``, or "sqlite:FILE#TABLE", is a new table in a file of SQLite, with the columns of CSV.
        nodes: the node, or the edge id, of each row of the arrays; default: a row per node or edge.
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
    name, count = _type(store, type_)
    if count is None:
        raise TypeError(f"found type_={type_!r}, expected the name of a node type or an edge type")
    flags: dict[str, Any] = {"type": name, "out": out, "rows": _text("rows", rows), "id_name": _text("id_name", id_name), "table": _text("table", table)}
    for key, value in (("integer_ids", integer_ids), ("edge_ids", edge_ids), ("overwrite", overwrite)):
        flags[key] = truth(key, value)
    columns = [_column(n) for n in texts("include", include, "names of columns")]
    given = _arrays(arrays)
    if nodes is not None:
        nodes = _values("nodes", nodes)
        if not isinstance(nodes, str):
            if nodes.ndim != 1 or (nodes.dtype.kind not in "iu" and nodes.size):
                raise ValueError(f"nodes: found {nodes.dtype} {list(nodes.shape)}, expected one integer per row of the arrays")
            nodes, count = nodes if nodes.size else nodes.astype(np.int64), len(nodes)
        else:
            count = -1  # the command compares them
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
    with tempfile.TemporaryDirectory(prefix=".graphmill-", dir=_folder_of(out)) as folder:
        call = [f"--column={n}={_file(folder, k, x)}" for k, (n, x) in enumerate(given.items())]
        call += [f"--classes={n}={c}" for n, c in labels.items()] + [f"--with={c}" for c in columns]
        if nodes is not None:
            call.append(f"--nodes={_file(folder, len(given), nodes)}")
        try:
            run("export", "predictions", "--json", *call, *_flags(flags), "--", store.path)
        except GraphmillError as e:
            raise GraphmillError(_said(str(e))) from None
    return out


def _flags(flags: Mapping[str, Any]) -> list[str]:
    """Flags whose values may begin with a hyphen."""
    names = {"overwrite": "force"}
    return [f"--{names.get(k, k).replace('_', '-')}{'' if v is True else f'={v}'}" for k, v in flags.items() if v is not False and v is not None]


def _said(text: str) -> str:
    """A message of the command, with arguments in place of its flags."""
    text = re.sub(r"\nTry 'graphmill .*", "", text)
    return keywords(re.sub("|".join(_KEYWORDS), lambda m: _KEYWORDS[m[0]], text))


def _type(store: Store, name: Any) -> tuple[str, int | None]:
    """The full name of a type, and the number of its nodes or edges."""
    if isinstance(name, str) and name in store.nodes:
        return name, store.nodes[name].count
    if not isinstance(name, (str, tuple, list)):
        return "", None
    try:
        edges = store.edges[name]
    except KeyError as e:
        if isinstance(name, str) and ":" not in name and "relation" not in str(e):
            known = [*store.nodes, *(":".join(t) for t in store.edges)]
            raise ValueError(unknown("type_", name, known)) from None
        raise ValueError(f"type_: {e.args[0]}") from None
    return ":".join(edges.type), edges.count


def _text(name: str, x: Any) -> str | None:
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
        given[n] = _values(f"arrays: {n}", x)
        if not isinstance(given[n], str) and (given[n].ndim not in (1, 2) or (given[n].ndim == 2 and not given[n].shape[1])):
            raise ValueError(f"arrays: {n}: found shape {list(given[n].shape)}, expected [rows] or [rows, values of a row]")
    if not given:
        raise ValueError("found no arrays, expected at least one")
    return given


def _values(what: str, x: Any) -> Any:
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
    if not out.startswith(_DATABASES) and not out.endswith((".db", ".sqlite", ".sqlite3")) and os.path.lexists(out) and not overwrite:
        raise GraphmillError(f"{out}: found that it exists, expected a new file; choose another out, or give overwrite=True to replace it")


def _folder_of(out: str) -> str | None:
    """The folder that arrays are written in: that of a file on this machine."""
    path = out.removeprefix("sqlite:").partition("#")[0] if out.startswith("sqlite:") else out
    if "://" in path:
        return None
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise GraphmillError(f"{out}: found no folder {folder}, expected one to write the file in; make it, or choose another out")
    return folder
