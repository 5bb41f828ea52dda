"""The seeds of a loader: nodes or links, as the feed takes them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any, Iterator, Sequence

import numpy as np

from . import _arrays
from ._folder import EdgeType
from ._store import Store


def link_ends(store: str | os.PathLike[str], seeds: Any, seed_type: str | Sequence[str] | None) -> tuple[str | None, EdgeType | None]:
    """The value of ``--seed-type``, and the edge type of links if it was given."""
    linked = isinstance(seeds, np.ndarray) and seeds.ndim == 2
    if seed_type is None and linked:
        types = Store(store).node_types
        if len(types) != 1:
            raise ValueError(f"found links in a store of the node types {', '.join(types)}, expected seed_type=(SOURCE, TARGET) of them")
        seed_type = types[0]
    if seed_type is None or isinstance(seed_type, str):
        return (f"{seed_type},{seed_type}" if linked and seed_type and "," not in seed_type else seed_type), None
    if len(seed_type) not in (2, 3):
        raise ValueError(f"found seed_type={seed_type!r}, expected a node type, or for links the two types of their ends or their edge type")
    ends = f"{seed_type[0]},{seed_type[-1]}"
    return ends, (seed_type[0], seed_type[1], seed_type[2]) if len(seed_type) == 3 else None


def seed_ids(seeds: Any) -> Any:
    """Seeds as an array: ids, links [2, links], or a mask. A text or None is returned unchanged."""
    if seeds is None or isinstance(seeds, (str, os.PathLike)):
        return seeds
    ids = _arrays.numpy(seeds)
    fits = ids.ndim == 1 and ids.dtype == bool or ids.dtype.kind in "iu" and (ids.ndim == 1 or ids.ndim == 2 and len(ids) == 2)
    if not fits:
        raise ValueError(f"found seeds of dtype {ids.dtype} and shape {ids.shape}, expected node ids, a mask, or links [2, links]")
    return ids


def check_mask(store: str | os.PathLike[str], seeds: Any, seed_type: Any) -> None:
    """Reject a mask whose length is not the number of nodes of the seed type, if that is known."""
    if not isinstance(seeds, np.ndarray) or seeds.dtype != bool:
        return
    nodes = Store(store).nodes
    if seed_type is None and len(nodes) == 1:
        (seed_type,) = nodes
    if isinstance(seed_type, str) and seed_type in nodes and nodes[seed_type].count != len(seeds):
        raise ValueError(f"found seeds that are a mask of {len(seeds)} values, expected {nodes[seed_type].count}, one per node of type {seed_type}")


@contextlib.contextmanager
def seed_file(seeds: Any) -> Iterator[list[str]]:
    """The flag for the result of `seed_ids`; an array is in a temporary file while the feed starts."""
    if seeds is None:
        yield []
        return
    if isinstance(seeds, (str, os.PathLike)):
        yield ["--seeds", os.fspath(seeds)]
        return
    ids = np.flatnonzero(seeds) if seeds.dtype == bool else seeds
    with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
        path = os.path.join(folder, "seeds.npy")
        np.save(path, np.ascontiguousarray(ids, np.int64))
        yield ["--seeds", path]
