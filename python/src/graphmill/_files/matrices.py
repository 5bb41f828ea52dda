"""Matrices and arrays of MATLAB, which SciPy reads, and of HDF5, which h5py reads."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .._arrays import Array
from .._command import GraphmillError
from .._whole.build import EDGE, NODE
from .made import ID, SOURCE, TARGET, Given, Graph
from .source import unpacked

# The usual names of adjacency matrices, without what stands before a point or a slash, in lower case.
_ADJACENCY = ("a", "adj", "adjacency", "adj_matrix", "connectivities", "graph", "net", "network", "w")
_OF_NODES = ("x", "y", "pos", "train_mask", "val_mask", "test_mask")  # as of archives of NumPy
_PAIRS = (("src", "dst"), ("source", "target"), ("row", "col"))


def mat(given: Given) -> Graph:
    """A file of MATLAB by SciPy, or by h5py from version 7.3 on: its adjacency matrix, and what has a row per node as columns."""
    import scipy.io

    path = unpacked(given)
    with open(path, "rb") as f:
        if f.read(19).startswith((b"MATLAB 7.3", b"\x89HDF")):
            return hdf5(given, first=1)
    return _graph(given, dict(_fields("", {n: x for n, x in scipy.io.loadmat(path).items() if not n.startswith("__")})), first=1)


def _fields(before: str, of: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arrays of structures, by their names with points; cells of texts are arrays of texts."""
    for name, x in of.items():
        if isinstance(x, np.ndarray) and x.dtype.names and x.size == 1:
            yield from _fields(f"{before}{name}.", {n: x[n].item() for n in x.dtype.names})
        elif (
            isinstance(x, np.ndarray)
            and x.dtype == object
            and x.size
            and all(isinstance(c, np.ndarray) and c.dtype.kind == "U" and c.size <= 1 for c in x.ravel())
        ):
            yield before + name, np.array([c.item() if c.size else "" for c in x.ravel()], dtype=str)
        else:
            yield before + name, x


def hdf5(given: Given, first: int = 0) -> Graph:
    """Arrays of HDF5 by h5py: an adjacency matrix, sparse ones as AnnData, PyTables and MATLAB write them, or pairs; and what has a row per node or edge as columns.

    Args:
        first: the number of the first node in pairs.
    """
    import h5py

    with h5py.File(unpacked(given), "r") as f:
        away: list[str] = []  # links to other files
        names: list[str] = []
        # These callbacks raise nothing, which h5py would lose.
        f.visititems_links(lambda name, x: away.append(name) if isinstance(x, h5py.ExternalLink) else None)
        f.visititems(lambda name, x: names.append(name))
        away += [n for n in names if isinstance(f[n], h5py.Dataset) and (f[n].external or f[n].is_virtual)]
        if away:
            raise GraphmillError(f"{given.path}: found values of {away[0]} in another file, expected them in this one; copy them into it")
        if f.attrs.get("encoding-type") == "anndata" or {"obs", "var"} <= set(f):
            return _anndata(given, f)
        arrays: dict[str, Any] = {}
        inside: list[str] = ["#refs#/"]
        for name in names:
            x = f[name]
            if "pandas_type" in x.attrs:
                raise GraphmillError(
                    f"{given.path}: found a table of pandas, expected arrays; write it with pandas.read_hdf(FILE, {name!r}).to_parquet('x.parquet')"
                )
            if name.startswith(tuple(inside)):
                continue
            if isinstance(x, h5py.Dataset):
                arrays[name] = _Turned(x) if "MATLAB_class" in x.attrs else x
            elif (sparse := _sparse(x)) is not None:
                arrays[name] = sparse
                inside.append(f"{name}/")
        return _graph(given, arrays, first=first)


class _Turned:
    """A data set of MATLAB, whose axes are in the other order."""

    def __init__(self, x: Any) -> None:
        self._x, self.shape, self.dtype = x, x.shape[::-1], x.dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.asarray(self._x, dtype).T


def _sparse(group: Any) -> Any:
    """A sparse matrix that a group of HDF5 holds, None for another group or a data set."""
    import scipy.sparse

    if hasattr(group, "dtype"):
        return None
    if "MATLAB_sparse" in group.attrs:
        rows = int(group.attrs["MATLAB_sparse"])
        ptr = np.asarray(group["jc"], np.int64)
        empty = np.zeros(0)
        data, indices = (np.asarray(group[n]) if n in group else empty for n in ("data", "ir"))
        return scipy.sparse.csc_matrix((data, indices.astype(np.int64), ptr), (rows, len(ptr) - 1))
    if not {"data", "indices", "indptr"} <= set(group):
        return None
    ptr = np.asarray(group["indptr"], np.int64)
    shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape", np.asarray(group["shape"]) if "shape" in group else None))
    by_column = "csc" in str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "csr")))
    indices = np.asarray(group["indices"], np.int64)
    if shape is None:
        other = max(len(ptr) - 1, int(indices.max(initial=-1)) + 1)
        shape = (other, len(ptr) - 1) if by_column else (len(ptr) - 1, other)
    make = scipy.sparse.csc_matrix if by_column else scipy.sparse.csr_matrix
    return make((np.asarray(group["data"]), indices, ptr), tuple(int(n) for n in shape))


def _anndata(given: Given, f: Any) -> Graph:
    """A file of AnnData: cells are nodes, with the columns of obs and the vectors of obsm; the matrix of obsp is the graph. X and layers are not read."""
    matrices = {n: x for n in f.get("obsp", {}) if (x := _sparse(f["obsp"][n])) is not None}
    name = given.key or ("connectivities" if "connectivities" in matrices else next(iter(matrices), ""))
    if name not in matrices or (given.key is None and len(matrices) > 1 and "connectivities" not in matrices):
        raise GraphmillError(f"{given.path}: found the matrices {', '.join(matrices) or 'none'} in obsp, expected {given.key or 'one'}; name one with key=")
    obs = f["obs"]
    arrays: dict[str, Any] = {}
    for n in obs:
        x = obs[n]
        if hasattr(x, "dtype"):
            arrays[n] = x
        elif {"categories", "codes"} <= set(x):
            texts, codes = _values(x["categories"]), np.asarray(x["codes"])
            arrays[n] = np.array([None if k < 0 else texts[k] for k in codes.tolist()], dtype=object)
    index = str(obs.attrs.get("_index", "_index"))
    ids = arrays.pop(index, None)
    arrays.update({n: x for n, x in f.get("obsm", {}).items() if hasattr(x, "dtype")})
    return _graph(given, {**arrays, name: matrices[name]}, name, None if ids is None else _values(ids))


def _values(x: Any) -> Array:
    """The values of a data set or an array, bytes as texts."""
    out: Array = np.asarray(x)
    if out.dtype.kind == "O":
        return np.array([v.decode() if isinstance(v, bytes) else v for v in out.ravel().tolist()], dtype=object).reshape(out.shape)
    return np.char.decode(out, "utf-8") if out.dtype.kind == "S" else out


def _graph(given: Given, arrays: Mapping[str, Any], key: str | None = None, ids: Array | None = None, first: int = 0) -> Graph:
    """The graph of named arrays, of which one is a matrix or a list of pairs; the others have a row per node or per edge, or are left out."""
    name, (source, target, weight), (rows, cols) = _edges(given, arrays, key or given.key, first)
    left: list[str] = []
    nodes: dict[str, Any] = {ID: np.arange(rows) if ids is None else ids}
    edges: dict[str, Any] = {SOURCE: source if ids is None else ids[source], TARGET: target if ids is None else ids[target]}
    edges.update({} if weight is None else {"weight": weight})
    for n, x in arrays.items():
        if n in name:
            continue
        shape = tuple(x.shape)
        shape = (max(shape),) if len(shape) == 2 and 1 in shape else shape  # a vector of MATLAB
        count = shape[0] if shape else -1
        base = os.path.basename(n).rpartition(".")[2]
        of_edges = base.startswith("edge_") or (count != rows and not base.startswith("node_") and base not in _OF_NODES)
        if rows != cols or count != (len(source) if of_edges else rows) or len(shape) > 2 or x.dtype.kind not in "biufOSU":
            left.append(n)
            continue
        dense = x.toarray() if hasattr(x, "toarray") else _values(x)
        (edges if of_edges else nodes)[n] = dense.reshape(shape)
    if left:
        warnings.warn(f"{given.path}: found {', '.join(map(repr, left))}, expected arrays with a row per node or edge; they are left out", stacklevel=2)
    if rows == cols:
        return Graph({NODE: nodes}, {EDGE: edges})
    return Graph({"row": {ID: np.arange(rows)}, "column": {ID: np.arange(cols)}}, {("row", "_E", "column"): edges})


def _edges(given: Given, arrays: Mapping[str, Any], key: str | None, first: int) -> tuple[set[str], tuple[Any, Any, Any], tuple[int, int]]:
    """The names of the arrays that say the edges, their ends and weights, and the numbers of the nodes at both ends."""
    import scipy.sparse

    if key is not None and key not in arrays:
        raise GraphmillError(f"{given.path}: found {', '.join(map(repr, arrays))}, expected {key!r}; correct key=")
    pairs = next(
        (
            {key} if key else {n}
            for n, x in arrays.items()
            if (n == key or (key is None and os.path.basename(n) in ("edge_index", "edges"))) and 2 in x.shape[:2] and x.shape != (2, 2)
        ),
        None,
    )
    if pairs is None and key is None:
        pairs = next((set(p) for p in _PAIRS if set(p) <= set(arrays)), None)
    if pairs is not None:
        one = [np.asarray(arrays[n]) for n in pairs]
        both = next(p for p in _PAIRS if set(p) == pairs) if len(pairs) == 2 else ()
        ends = np.stack([np.asarray(arrays[n]).ravel() for n in both]) if both else one[0] if one[0].shape[0] == 2 else one[0].T
        if first and ends.dtype.kind == "f" and np.isfinite(ends).all() and (ends == np.trunc(ends)).all() and (np.abs(ends) < 1 << 53).all():
            ends = ends.astype(np.int64)  # the usual type of MATLAB
        bad = str(ends.dtype) if ends.dtype.kind not in "iu" else str(ends.min()) if ends.size and ends.min() < first else ""
        if bad:
            counted = ", as MATLAB counts; add 1 to each" if first else ""
            raise GraphmillError(f"{given.path}: found {bad} in {', '.join(sorted(pairs))}, expected whole numbers from {first} on{counted}")
        ends = ends - ends.dtype.type(first) if first else ends
        given_count = next((int(np.asarray(arrays[n])) for n in ("num_nodes",) if n in arrays), None)
        sizes = [x.shape[0] for n, x in arrays.items() if n not in pairs and os.path.basename(n).startswith(("x", "y", "node_")) and x.shape]
        count = max([given_count or 0, *sizes[:1], int(ends.max()) + 1 if ends.size else 0])
        return pairs | {"num_nodes"}, (ends[0], ends[1], None), (count, count)
    square = {n: x for n, x in arrays.items() if len(x.shape) == 2 and x.shape[0] == x.shape[1] and x.shape[0] > 1 and x.dtype.kind in "biuf"}
    sparse = {n: x for n, x in arrays.items() if hasattr(x, "tocoo")}
    named = [n for n in square if n.replace("/", ".").split(".")[-1].lower() in _ADJACENCY]
    choices = [key] if key else next((c for c in ([n for n in sparse if n in square], named, list(sparse)) if c), [])
    choices = [n for n in choices if n in named] if len(choices) > 1 and any(n in named for n in choices) else choices
    if len(choices) != 1:
        shown = ", ".join(f"{n} {list(x.shape)}" for n, x in arrays.items())
        raise GraphmillError(f"{given.path}: found the arrays {shown or 'none'}, expected one that is an adjacency matrix or edge_index; name it with key=")
    x = arrays[choices[0]]
    matrix = (x if hasattr(x, "tocoo") else scipy.sparse.coo_matrix(np.asarray(x))).tocoo()
    if matrix.dtype.kind not in "biuf":
        raise GraphmillError(f"{given.path}: found {matrix.dtype} in {choices[0]}, expected real numbers")
    return {choices[0]}, (matrix.row, matrix.col, matrix.data), matrix.shape
