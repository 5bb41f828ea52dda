"""Collections as data sets of Hugging Face."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from .._collection import Collection
from .._folder import Column
from .._store import Store
from .fields import arrow, fields


def hf_dataset(path: str | os.PathLike[str] | Collection, store: Store | str | os.PathLike[str] | None = None) -> Any:
    """The graphs of a collection as a ``datasets.Dataset`` of Hugging Face, with a row per graph.

    Its Arrow arrays are the maps of the files, so a collection larger than memory opens at once, and nothing is written to the
    cache of ``datasets``. Copied are the bools, bfloat16 (as float32), times, categories, and the columns of ``store``. A row
    has ``TYPE/num_nodes`` and ``TYPE/COLUMN`` for each node type, ``TYPE/src``, ``TYPE/dst`` and ``TYPE/COLUMN`` for each edge
    type, and the columns of the context. Categories are ``ClassLabel``, with None for a missing one. The data set of equal
    files has an equal fingerprint. It needs the package ``datasets``.

    Args:
        path: the folder of a collection, or a `Collection`.
        store: the store from which the graphs were sampled: rows then have its columns.

    Raises:
        GraphmillError: the folder is not a collection, or has changed since it was written.
        ModuleNotFoundError: ``datasets`` is not installed.
        ValueError: a column of strings that are not UTF-8, or one with the name of a part of the graph.

    Example:
        >>> ds = graphmill.hf_dataset("molecules.coll").with_format("numpy")
        >>> ds[17]["atom/x"], ds[17]["atom:bond:atom/src"], ds[17]["label"]
    """
    try:
        import datasets
        import pyarrow
    except ModuleNotFoundError as e:
        raise ModuleNotFoundError(f"found no package {e.name}, expected datasets of Hugging Face; pip install datasets", name=e.name) from e
    c = path if isinstance(path, Collection) and store is None else Collection(path.path if isinstance(path, Collection) else path, store)
    arrays, features = {}, {}
    for name, field in fields(c).items():
        try:
            arrays[name] = arrow(field, 0, len(c))
        except pyarrow.ArrowInvalid as e:
            raise ValueError(
                f"{c.path}: {name}: found strings that are not UTF-8 ({e}), expected texts; read the graphs with graphmill.Collection, or import the column in another form"
            ) from e
        features[name] = _feature(arrays[name].type, field.column)
    made = " ".join(["graphmill.hf_dataset 1", c.fingerprint, "" if c.store is None else c.store._folder.fingerprint])
    fingerprint = hashlib.blake2b(made.encode(), digest_size=8).hexdigest()
    return datasets.Dataset(pyarrow.table(arrays), datasets.DatasetInfo(features=datasets.Features(features)), fingerprint=fingerprint)


def _feature(kind: Any, c: Column) -> Any:
    """The feature of an Arrow type: lists, down to the values of the column."""
    import datasets
    import pyarrow

    if pyarrow.types.is_fixed_size_list(kind):
        return datasets.Sequence(_feature(kind.value_type, c), kind.list_size)
    if pyarrow.types.is_large_list(kind):
        return datasets.LargeList(_feature(kind.value_type, c))
    if pyarrow.types.is_list(kind):
        return datasets.Sequence(_feature(kind.value_type, c))
    if c.categories is not None:
        return datasets.ClassLabel(names=c.categories.tolist())
    special = {"string": "large_string", "bfloat16": "float32"}
    return datasets.Value(f"timestamp[{c.unit}]" if c.unit is not None else special.get(c.dtype, c.dtype))
