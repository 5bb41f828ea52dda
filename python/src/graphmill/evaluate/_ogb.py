"""The link sets of OGB, in the layout of their folders: split/NAME/train.pt, valid.pt and test.pt, or split/NAME/split_dict.pt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array
from . import _torch_files
from ._given import Given, Links, Table


class Set(NamedTuple):
    """A data set: the folder of its splits, and its metric."""

    folder: str
    metric: str


SETS: Mapping[str, Set] = {
    "ogbl-ppa": Set("throughput", "hits@100"),
    "ogbl-collab": Set("time", "hits@50"),
    "ogbl-ddi": Set("target", "hits@20"),
    "ogbl-citation2": Set("time", "mrr"),
    "ogbl-wikikg2": Set("time", "mrr"),
    "ogbl-biokg": Set("random", "mrr"),
    "ogbl-vessel": Set("spatial", "auc"),
}
_LINKS = ("edge", "edge_neg", "source_node", "target_node", "target_node_neg", "head", "tail", "relation", "head_neg", "tail_neg", "head_type", "tail_type")


def read(folder: str, name: str, split: str) -> Given:
    """A split of a set.

    Raises:
        ValueError: a file is damaged, or has other keys, shapes or dtypes.
        OSError: it cannot be read.
    """
    path, data = _file(folder, name, split)
    if type(data) is not dict:
        raise ValueError(f"{path}: found a {type(data).__name__}, expected a dict of arrays, as OGB writes it")
    of = _Arrays(path, data)
    columns = {k: x for k, x in data.items() if type(k) is str and k not in _LINKS and isinstance(x, np.ndarray)}
    if "edge" in data:
        return Given(name, split, Links(of.pairs("edge")), columns, of.pairs("edge_neg") if "edge_neg" in data else None)
    if "source_node" in data:
        source = of.integers("source_node", (-1,))
        links = Links(np.stack([source, of.integers("target_node", source.shape)]))
        return Given(name, split, links, columns, targets=of.table("target_node_neg", len(links)))
    if "head" in data:
        head = of.integers("head", (-1,))
        relation, n = of.integers("relation", head.shape), len(head)
        links = Links(np.stack([head, of.integers("tail", head.shape)]), None, relation, of.texts("head_type", n), of.texts("tail_type", n))
        return Given(name, split, links, columns, targets=of.table("tail_neg", n), sources=of.table("head_neg", n))
    raise ValueError(f"{path}: found the keys {', '.join(sorted(map(str, data)))[:200]!a}, expected edge, or source_node, or head, as OGB writes them")


def _file(folder: str, name: str, split: str) -> tuple[str, Any]:
    """The file that has a split, and what it has of it."""
    of = os.path.join(folder, "split")
    there = sorted(d for d in os.listdir(of) if os.path.isdir(os.path.join(of, d)))
    own = SETS[name].folder
    if own not in there:
        if len(there) != 1:
            raise ValueError(f"{of}: found the splits {', '.join(there) or 'none'}, expected {own}")
        own = there[0]
    path = os.path.join(of, own, "split_dict.pt")
    if os.path.exists(path):  # OGB, too, prefers it
        found = _torch_files.load(path)
        if type(found) is not dict or split not in found:
            raise ValueError(f"{path}: found no split {split}, expected a dict of train, valid and test")
        return path, found[split]
    path = os.path.join(of, own, f"{split}.pt")
    return path, _torch_files.load(path)


class _Arrays:
    """The arrays of a split by their keys, checked."""

    def __init__(self, path: str, data: dict[Any, Any]) -> None:
        self._path, self._data = path, data

    def integers(self, key: str, shape: tuple[int, ...]) -> Array:
        """Integers of at least 0, as int64. A length of -1 is any."""
        x = self._data.get(key)
        if type(x) is list and all(type(i) is int for i in x):
            x = np.array(x, np.int64)
        if not isinstance(x, np.ndarray):
            raise ValueError(f"{self._path}: found {'no ' + key if x is None else f'{key} that is a {type(x).__name__}'}, expected an array of integers")
        if x.dtype.kind not in "iu" and x.size:
            raise ValueError(f"{self._path}: found {key} of dtype {x.dtype}, expected integers")
        if x.ndim != len(shape) or any(want not in (-1, n) for n, want in zip(x.shape, shape)):
            raise ValueError(f"{self._path}: found {key} of shape {list(x.shape)}, expected [{', '.join('n' if n < 0 else str(n) for n in shape)}]")
        x = x.astype(np.int64, copy=False)
        if x.size and int(x.min()) < 0:
            raise ValueError(f"{self._path}: found {int(x.min())} in {key}, expected numbers of nodes or relations, from 0")
        return x

    def pairs(self, key: str) -> Array:
        """[n, 2] as [2, n]."""
        return np.array(self.integers(key, (-1, 2)).T, order="C")

    def table(self, key: str, n: int) -> Table | None:
        return Table(self.integers(key, (n, -1))) if key in self._data else None

    def texts(self, key: str, n: int) -> Array | None:
        if key not in self._data:
            return None
        x = self._data[key]
        if type(x) is not list or any(type(i) is not str for i in x):
            raise ValueError(f"{self._path}: found {key} that is no list of texts, expected one")
        if len(x) != n:
            raise ValueError(f"{self._path}: found {len(x)} texts in {key}, expected {n}")
        out = np.empty(n, object)  # all of them refer to the few texts that there are
        out[:] = x
        return out
