"""The seeds of a loader: nodes or links, as the feed takes them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any, Iterator, Sequence

import numpy as np

from . import _arrays
from ._arguments import meant
from ._arrays import Array
from ._folder import EdgeType, edge_type
from ._store import Store


def link_ends(store: Store, seeds: Any, seed_type: str | Sequence[str] | None, of_edges: str = "") -> tuple[str | None, EdgeType | None]:
    """The value of ``--seed-type``, and the edge type of links if it was given or is the only one.

    Args:
        seeds: the result of `seed_ids`.
        of_edges: the keyword for which links must have an edge type of the store, or "".
    """
    linked = isinstance(seeds, np.ndarray) and seeds.ndim == 2
    types = store.node_types
    if seed_type is None and linked and not of_edges:
        if len(types) != 1:
            raise ValueError(f"found links in a store of the node types {', '.join(types)}, expected seed_type=(SOURCE, RELATION, TARGET) of them")
        seed_type = types[0]
    if seed_type is None and isinstance(seeds, str):
        of_seeds = next((e for e in store.edge_types if (seeds + ":").startswith(":".join(e) + ":")), None)
        if of_seeds is not None:  # the seeds are edges of the store
            return ":".join(of_seeds), of_seeds
    if seed_type is None and of_edges:
        if len(store.edges) != 1:
            raise ValueError(f"found {of_edges}= without seed_type=, expected the edge type of the links, one of {', '.join(map(':'.join, store.edge_types))}")
        seed_type = store.edge_types[0]
    if seed_type is None:
        return None, None
    if isinstance(seed_type, str):
        names = tuple(seed_type.split(":")) if ":" in seed_type else tuple(seed_type.split(","))
        if len(names) == 1 and names[0] not in types and any(names[0] == e[1] for e in store.edge_types):
            names = _edge_type(store, seed_type)
        elif len(names) == 1 and linked:
            names *= 2
    else:
        names = tuple(seed_type)
    if len(names) not in (1, 2, 3) or not all(isinstance(n, str) for n in names):
        raise ValueError(f"found seed_type={seed_type!r}, expected a node type, or for links the two types of their ends or their edge type")
    for name in names[:1] + names[-1:]:
        if name not in types:
            raise ValueError(f"found seed_type={seed_type!r}, expected node types among {', '.join(types)}{meant(name, types)}")
    if of_edges and len(names) != 3:
        of = [e for e in store.edge_types if names[0] == e[0] and names[-1] == e[2]]
        if len(of) != 1:
            raise ValueError(f"found {of_edges}= with seed_type={seed_type!r}, expected the edge type of the links, one of {', '.join(map(':'.join, of or store.edge_types))}")
        names = of[0]
    if len(names) < 3:
        return ",".join(names), None
    link_type = names[0], names[1], names[2]
    if of_edges or link_type in store.edge_types:
        return ":".join(_edge_type(store, link_type)), link_type
    return f"{names[0]},{names[2]}", link_type


def _edge_type(store: Store, name: Any) -> EdgeType:
    try:
        return edge_type(name, store.edge_types)
    except KeyError as e:
        raise ValueError(f"seed_type: {e.args[0]}") from None


def seed_ids(seeds: Any) -> Any:
    """Seeds as an array: ids, links [2, links], or a mask. A text or None is returned unchanged.

    Raises:
        ValueError: another dtype or shape, or no seed.
    """
    if seeds is None or isinstance(seeds, (str, os.PathLike)):
        return seeds
    ids = _arrays.numpy(seeds)
    if ids.size == 0 and ids.ndim in (1, 2):
        raise ValueError("found seeds= without a seed, expected at least one; leave it out for all nodes of the seed type")
    fits = ids.ndim == 1 and ids.dtype == bool or ids.dtype.kind in "iu" and (ids.ndim == 1 or ids.ndim == 2 and len(ids) == 2)
    if not fits:
        raise ValueError(f"found seeds= of dtype {ids.dtype} and shape {ids.shape}, expected node ids, a mask, or links [2, links], of integers or bools")
    if ids.dtype == bool and not ids.any():
        raise ValueError(f"found seeds= that are a mask of {len(ids)} values of which none is True, expected at least one seed")
    return ids


def check_seeds(store: Store, seeds: Any, types: Sequence[str]) -> None:
    """Reject ids that are not those of nodes of their types, and a mask of another length.

    Args:
        types: the node type of the seeds; for links, those of source and target.

    Raises:
        ValueError: with the position in the user's array.
    """
    if not isinstance(seeds, np.ndarray):
        return
    if seeds.dtype == bool:
        n = store.nodes[types[0]].count
        if n != len(seeds):
            raise ValueError(f"found seeds= that are a mask of {len(seeds)} values, expected {n}, one per node of type {types[0]}")
        return
    for end, ids in enumerate(seeds if seeds.ndim == 2 else [seeds]):
        t = types[-1 if end else 0]
        n = store.nodes[t].count
        if int(ids.min()) >= 0 and int(ids.max()) < n:
            continue
        i = int(np.flatnonzero((ids < 0) | (ids >= n))[0])
        place = f"{end}, {i}" if seeds.ndim == 2 else str(i)
        raise ValueError(f"seeds[{place}]: found node {ids[i]} of type {t}, expected 0 to {n - 1}")


def check_distinct(seeds: Any, batch_size: int, in_order: bool, why: str) -> None:
    """Reject node ids of which a batch can have the same one twice.

    Args:
        in_order: batches take the seeds as they are given; otherwise any two seeds can be in one batch.
        why: the reason and the remedy, for the error.
    """
    if not isinstance(seeds, np.ndarray) or seeds.ndim != 1 or seeds.dtype == bool:
        return
    order = np.argsort(seeds, kind="stable")
    same = seeds[order[1:]] == seeds[order[:-1]]
    if in_order:
        same &= order[1:] // batch_size == order[:-1] // batch_size
    if same.any():
        at: Array = np.flatnonzero(same)
        k = int(at[np.argmin(order[at + 1])])
        raise ValueError(f"seeds[{order[k + 1]}]: found node {seeds[order[k]]} again, which is seeds[{order[k]}], expected each once, {why}")


def link_labels(labels: Any, links: int, linked: bool) -> Array:
    """The labels of links as an array with a row per link."""
    if not linked:
        raise ValueError("found edge_label= with seeds that are nodes, expected links")
    x = _arrays.numpy(_arrays.array(labels, "edge_label="))
    if len(x) != links:
        raise ValueError(f"found edge_label= of {len(x)} values, expected {links}, one per link")
    return x


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
