"""The seeds of a loader: nodes or links, as the feed takes them."""

from __future__ import annotations

import contextlib
import datetime
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _arrays
from ._arguments import meant, texts
from ._arrays import Array
from ._command import GraphmillError
from ._folder import EdgeType, edge_type
from ._negatives import NegativeLists
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
        names = tuple(texts("seed_type", seed_type, "a node type, or for links the two types of their ends or their edge type"))
    if len(names) not in (1, 2, 3) or not all(isinstance(n, str) for n in names):
        raise ValueError(f"found seed_type={seed_type!r}, expected a node type, or for links the two types of their ends or their edge type")
    for name in names[:1] + names[-1:]:
        if name not in types:
            raise ValueError(f"found seed_type={seed_type!r}, expected node types among {', '.join(types)}{meant(name, types)}")
    if of_edges and len(names) != 3:
        of = [e for e in store.edge_types if names[0] == e[0] and names[-1] == e[2]]
        if len(of) != 1:
            raise ValueError(
                f"found {of_edges}= with seed_type={seed_type!r}, expected the edge type of the links, one of {', '.join(map(':'.join, of or store.edge_types))}"
            )
        names = of[0]
    if len(names) < 3:
        return ",".join(names), None
    link_type = names[0], names[1], names[2]
    if not of_edges and link_type not in store.edge_types:
        near = meant(link_type[1], [e[1] for e in store.edge_types if e[0] == link_type[0] and e[2] == link_type[2]])
        if near:
            raise ValueError(
                f"found links of the edge type {':'.join(link_type)}, which the store lacks, expected one of {', '.join(map(':'.join, store.edge_types))}{near} "
                f"For links of a new relation, give seed_type={(link_type[0], link_type[2])!r}"
            )
    if of_edges or link_type in store.edge_types:
        return ":".join(_edge_type(store, link_type)), link_type
    return f"{names[0]},{names[2]}", link_type


def check_linked(store: Store, seeds: Any, seed_type: Any, of_edges: str) -> None:
    """Reject seeds that are nodes.

    Args:
        seeds: the result of `seed_ids`.
        of_edges: the keyword that is of links.
    """
    nodes = isinstance(seeds, np.ndarray) and seeds.ndim == 1
    if isinstance(seeds, str):
        nodes = seeds in store.nodes or ("=" in seeds and seeds.partition(":")[0] in store.nodes and seeds.count(":") == 1)
    if seeds is None:
        nodes = seed_type is None or (isinstance(seed_type, str) and seed_type in store.nodes)
    if nodes:
        raise ValueError(
            f"found {of_edges}= with seeds that are nodes, expected links, because negatives and exclusion are of links; give edge_label_index= or seeds= with links"
        )


def check_positives(store: Store, text: str | None, seeds: Any, edge_label: Any) -> EdgeType | None:
    """The edge type of which each seed node draws a link; None without any. Rejects seeds that are links, and labels of links."""
    if text is None:
        return None
    links = isinstance(seeds, np.ndarray) and seeds.ndim == 2
    if links or (isinstance(seeds, str) and any((seeds + ":").startswith(":".join(e) + ":") for e in store.edge_types)):
        raise ValueError(
            f"found positives= with seeds{f' of shape {seeds.shape}' if links else f'={seeds!r}, which are links'}, expected nodes, each of which draws a link; give nodes, or leave positives= out"
        )
    if edge_label is not None:
        raise ValueError(
            "found positives= and edge_label=, expected one of them, because other links are drawn in each epoch; label= names a column of the edges"
        )
    source, relation, target = text.split(":")
    return source, relation, target


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
    try:
        ids = _arrays.numpy(seeds)
    except ValueError:  # lists of several lengths
        raise ValueError("found seeds= that are lists of several lengths, expected node ids, a mask, or links [2, links]") from None
    if isinstance(seeds, (list, tuple)) and ids.dtype.kind not in "biu" and ids.size:
        odd = next((x for of in seeds for x in (of if isinstance(of, (list, tuple)) else [of]) if not isinstance(x, (int, np.integer))), None)
        if odd is not None and not isinstance(odd, np.ndarray) and not _arrays.is_torch(odd):
            raise ValueError(
                f"found {odd!r}, of type {type(odd).__name__}, in seeds=, expected node ids, a mask, or links [2, links], of integers or bools; store.nodes[TYPE].find gives the node ids of original ids"
            )
    if ids.size == 0 and ids.ndim in (1, 2):
        raise ValueError("found seeds= without a seed, expected at least one; leave it out for all nodes of the seed type")
    fits = (ids.ndim == 1 and ids.dtype == bool) or (ids.dtype.kind in "iu" and (ids.ndim == 1 or (ids.ndim == 2 and len(ids) == 2)))
    if not fits:
        raise ValueError(f"found seeds= of dtype {ids.dtype} and shape {ids.shape}, expected node ids, a mask, or links [2, links], of integers or bools")
    if ids.dtype == bool and not ids.any():
        raise ValueError(f"found seeds= that are a mask of {len(ids)} values of which none is True, expected at least one seed")
    return ids


def check_seeds(store: Store, seeds: Any, types: Sequence[str]) -> None:
    """Reject ids that no node of their type has, and a mask of another length.

    Args:
        types: the node type of the seeds; for links, the types of source and target.

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


def seed_times(times: Any, seeds: Any, unit: str | None) -> Array | None:
    """An array of times as int64 or float64, one per seed; None for a name or None.

    Args:
        times: an array of integers, floats or datetime64, or the name of a column.
        seeds: the result of `seed_ids`.
        unit: the unit of the times of the edges or nodes, if they have one.

    Raises:
        ValueError: another dtype, shape or length; a datetime64 that the unit cannot hold.
    """
    if times is None or isinstance(times, str):
        return None
    x = _arrays.numpy(times)
    if x.ndim == 0:
        raise TypeError(
            f"found seed_time= of type {type(times).__name__}, expected the name of the column of the seed nodes or links that has their times, or an array of a time per seed"
        )
    if x.ndim != 1 or x.dtype.kind not in "iufM":
        raise ValueError(
            f"found seed_time= of dtype {x.dtype} and shape {x.shape}, expected the name of a column, or a time per seed: integers, floats or datetime64"
        )
    if isinstance(seeds, np.ndarray):
        n = int(np.count_nonzero(seeds)) if seeds.dtype == bool else seeds.shape[-1]
        if len(x) != n:
            raise ValueError(f"found seed_time= of {len(x)} values, expected {n}, one per seed")
    if x.dtype.kind == "M":
        if unit is None:
            raise ValueError("found seed_time= of dtype datetime64, expected integers or floats, because the times of the store have no unit")
        exact = x.astype(f"datetime64[{unit}]")
        if not ((exact == x) | np.isnat(x)).all():
            raise ValueError(f"found seed_time= of dtype {x.dtype}, expected whole {unit}, the unit of the times of the store")
        return exact.astype(np.int64)
    if x.dtype == np.uint64 and x.size and int(x.max()) >= 1 << 63:
        raise ValueError(f"found seed_time= with {x.max()}, expected times below 2^63")
    return x.astype(np.float64 if x.dtype.kind == "f" else np.int64)


def one_time(time: Any, keyword: str = "seed_time") -> Any:
    """A time of all seeds as the text that the feed reads; anything else as it is.

    Args:
        time: a datetime64, date or datetime, which are UTC without a zone; an integer or a float, in the unit of the times of the edges.

    Raises:
        ValueError: NaT, NaN or an infinite number.
    """
    if isinstance(time, np.datetime64):
        if np.isnat(time):
            raise ValueError(f"found {keyword}=NaT, expected a time")
        unit = np.datetime_data(time.dtype)[0]
        return np.datetime_as_string(time, "D" if unit in ("Y", "M", "W") else "m" if unit == "h" else None)
    if isinstance(time, datetime.date):
        return time.isoformat()
    if isinstance(time, (int, float, np.integer, np.floating)) and not isinstance(time, (bool, np.bool_)):
        if not np.isfinite(time):
            raise ValueError(f"found {keyword}={time}, expected a time")
        return repr(float(time)) if isinstance(time, (float, np.floating)) else str(int(time))
    return time


def unit_of_times(store: Store, o: Mapping[str, Any]) -> str | None:
    """The unit of the columns that ``before=`` and its like name; None if they have none, or several."""
    names = [o.get("before"), *(c for k in ("before_columns", "before_nodes") if isinstance(o.get(k), Mapping) for c in o[k].values())]
    wanted = {n.removesuffix("<=") for n in names if isinstance(n, str)}
    every = [of.columns for kind in (store.nodes, store.edges) for of in kind.values()]
    units = {columns.column(name).unit for columns in every for name in wanted if name in columns}
    return units.pop() if len(units) == 1 else None


@contextlib.contextmanager
def seed_file(seeds: Any, times: Array | None = None, negatives: NegativeLists | None = None) -> Iterator[list[str]]:
    """The flags for the results of `seed_ids`, `seed_times` and `negative_lists`; arrays are in temporary files while the feed starts."""
    arrays = isinstance(seeds, np.ndarray) or times is not None or negatives is not None
    with tempfile.TemporaryDirectory(prefix="graphmill-") if arrays else contextlib.nullcontext("") as folder:
        flags = []
        if isinstance(seeds, np.ndarray):
            ids = np.flatnonzero(seeds) if seeds.dtype == bool else seeds
            flags += ["--seeds", os.path.join(folder, "seeds.npy")]
            np.save(flags[-1], np.ascontiguousarray(ids, np.int64))
        elif seeds is not None:
            flags += ["--seeds", os.fspath(seeds)]
        if times is not None:
            flags += ["--seed-time", os.path.join(folder, "times.npy")]
            np.save(flags[-1], times)
        if negatives is not None:
            flags += ["--negatives-from", negatives.save(folder)]
        try:
            yield flags
        except GraphmillError as e:  # the user knows arrays, and no temporary files
            text = str(e)
            for keyword, file in (
                ("seed_time=", "times.npy"),
                ("seeds=", "seeds.npy"),
                ("negatives_from=", "negatives.npy"),
                ("offsets of negatives_from=", "negative_offsets.npy"),
            ):
                text = text.replace(os.path.join(folder, file), keyword) if folder else text
            e.args = (text,)
            raise


def check_last(links: int, batch_size: int, drop: bool) -> None:
    """Reject batches of one link, for negatives that are exchanged between the links of a batch."""
    if batch_size == 1 or links == 1:
        raise ValueError(
            f"found {'batch_size=1' if batch_size == 1 else 'one link'} with negatives_how='in-batch', expected two links or more per batch, whose destinations are exchanged; or give negatives_how='triplet'"
        )
    if links % batch_size == 1 and not drop:
        raise ValueError(
            f"found {links} links in batches of {batch_size} with negatives_how='in-batch', so that the last batch has one link, expected two or more, whose destinations are "
            "exchanged; give drop_last=True, another batch_size=, or negatives_how='triplet'"
        )
