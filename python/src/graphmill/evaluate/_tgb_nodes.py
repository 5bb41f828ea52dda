"""The node sets of TGB, in the layout of their folders: NAME_edgelist.csv, the links in the order of time, and NAME_node_labels.csv, the weights of classes of nodes
at times.

The numbers of nodes and classes are those that TGB gives them: classes in the order of their first occurrence among the links, and other nodes likewise from a
number of their set on. The classes of tgbn-trade are its nodes.
"""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._arrays import Array, ranges
from ._evaluation import Evaluation
from ._given import Links
from ._names import Metric
from ._tgb import _csv, _integer, _newest


class Set(NamedTuple):
    """A data set.

    Attributes:
        first: the number of the first node that is no class; None: the classes are the nodes.
        weight: the column of the weight of a link.
    """

    first: int | None
    weight: int = 3


SETS: Mapping[str, Set] = {"tgbn-trade": Set(None), "tgbn-genre": Set(513), "tgbn-reddit": Set(698, 4), "tgbn-token": Set(1001)}
METRIC = "ndcg@10"
_SHARE = 0.15  # of the times of links, that validation and test have each
_CELLS = 1 << 20  # scores of classes that are looked at together


@dataclass(frozen=True)
class Asked:
    """Nodes whose classes are asked for.

    Attributes:
        time: when, in the unit of the links.
        nodes: [n], int64, their numbers.
        classes: the number of classes.
    """

    time: int
    nodes: Array
    classes: int

    def __len__(self) -> int:
        return len(self.nodes)


class NodeSet:
    """A set, read.

    Args:
        folder: its folder.
        name: its name.

    Attributes:
        links: all links, by time; of equal times in the order of the table.
        names: by number of node, its name in the table; "" for numbers between the classes and the other nodes.
        classes: the number of classes.
        times: the times of the labels, ascending, for which a link follows.

    Raises:
        ValueError: a file is damaged, or the labels do not belong to the links.
        OSError: it cannot be read.
    """

    def __init__(self, folder: str, name: str) -> None:
        of = SETS[name]
        table, version = _newest(folder, name)
        nodes: dict[str, int] = {}
        kinds = nodes if of.first is None else dict[str, int]()
        first = of.first or 0
        source, target, time, weight = array("q"), array("q"), array("q"), array("d")
        for line, row in _csv(table):
            if len(row) <= of.weight:
                raise ValueError(f"{table}:{line}: found {len(row)} columns, expected at least {of.weight + 1}")
            time.append(_integer(table, line, "time", row[0]))
            source.append(nodes.setdefault(row[1], first + len(nodes)))
            target.append(kinds.setdefault(row[2], len(kinds)))
            weight.append(_weight(table, line, row[of.weight]))
        if of.first is not None and len(kinds) > of.first:
            raise ValueError(f"{table}: found {len(kinds)} classes, expected at most {of.first}, as {name} has")
        order = np.argsort(np.array(time, np.int64), kind="stable")
        ends = np.stack([np.array(source, np.int64), np.array(target, np.int64)])[:, order]
        self.links = Links(ends, np.array(time, np.int64)[order], weight=np.array(weight)[order])
        self.classes = len(kinds)
        self.names = tuple(nodes) if of.first is None else (*kinds, *[""] * (of.first - len(kinds)), *nodes)
        self._read(os.path.join(folder, f"{name}_node_labels{version}.csv"), nodes, kinds)

    def _read(self, path: str, nodes: Mapping[str, int], kinds: Mapping[str, int]) -> None:
        """The labels, by time and node."""
        time, node, kind, weight = array("q"), array("q"), array("q"), array("d")
        for line, row in _csv(path):
            if len(row) < 4:
                raise ValueError(f"{path}:{line}: found {len(row)} columns, expected at least 4: time, node, class, weight")
            for what, x, of in (("node", row[1], nodes), ("class", row[2], kinds)):
                if x not in of:
                    raise ValueError(f"{path}:{line}: found the {what} {x[:40]!a}, expected one of the links; give the file that belongs to them")
            time.append(_integer(path, line, "time", row[0]))
            node.append(nodes[row[1]])
            kind.append(kinds[row[2]])
            weight.append(_weight(path, line, row[3], 0))
        t, v = np.array(time, np.int64), np.array(node, np.int64)
        k, w = np.array(kind, np.int64), np.array(weight)
        order = np.lexsort((v, t))  # it is stable: of equal labels the last one stays, as in a dict
        t, v, self._kind, self._weight = t[order], v[order], k[order], w[order]
        new = np.ones(len(t), bool)
        new[1:] = (t[1:] != t[:-1]) | (v[1:] != v[:-1])
        at = np.flatnonzero(new)
        self._node, self._ptr = v[at], np.append(at, len(t))  # of each node at a time, its labels
        self.times, rows = np.unique(t[at], return_index=True)
        self._rows = np.append(rows, len(at))
        assert self.links.time is not None
        self.times = self.times[np.searchsorted(self.links.time, self.times) < len(self.links)]  # TGB asks once a link follows

    def split(self, split: str) -> tuple[int, int, Array]:
        """The first link of a split, that behind its last one, and the times of labels whose first link at or after them is in it."""
        time = self.links.time
        assert time is not None
        if not len(time):
            return 0, 0, self.times
        valid, test = np.searchsorted(time, np.quantile(time, [1 - _SHARE - _SHARE, 1 - _SHARE]), "right").tolist()
        low, high = {"train": (0, valid), "valid": (valid, test), "test": (test, len(time))}[split]
        follows = np.searchsorted(time, self.times)
        return low, high, self.times[(follows >= low) & (follows < high)]

    def asked(self, time: int) -> Asked:
        """The nodes that have labels at a time."""
        first, end = self._places(time)
        return Asked(time, self._node[first:end], self.classes)

    def labels(self, time: int, first: int, end: int) -> Array:
        """[rows, classes], the labels of some of the nodes that have some at a time."""
        begin, _ = self._places(time)
        starts, ends = self._ptr[begin + first : begin + end], self._ptr[begin + first + 1 : begin + end + 1]
        out = np.zeros((end - first, self.classes))
        at = ranges(starts, ends)
        row = np.repeat(np.arange(end - first), ends - starts)
        out[row, self._kind[at]] = self._weight[at]
        return out

    def _places(self, time: int) -> tuple[int, int]:
        i = int(np.searchsorted(self.times, time))
        return int(self._rows[i]), int(self._rows[i + 1])

    def scored(self, of: Asked, scores: Array, ks: Sequence[int]) -> list[float]:
        """The mean NDCG of the nodes at a time, for each k."""
        step = max(1, _CELLS // max(self.classes, 1))
        parts: list[list[float]] = [[] for _ in ks]
        for at in range(0, len(of), step):
            end = min(at + step, len(of))
            labels = self.labels(of.time, at, end)
            for part, k in zip(parts, ks):
                part += ndcg(labels, scores[at:end], k).tolist()
        return [math.fsum(part) / len(of) for part in parts]


def _weight(path: str, line: int, x: str, least: float = -math.inf) -> float:
    try:
        weight = float(x)
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight) or weight < least:
        raise ValueError(f"{path}:{line}: found the weight {x[:40]!a}, expected a number{'' if least < 0 else ' of at least 0'}")
    return weight


def ndcg(labels: Array, scores: Array, k: int) -> Array:
    """The NDCG of each row, 0 without a label: classes of equal scores have the mean of their labels at each of their places.

    Args:
        labels: [n, classes], at least 0.
        scores: [n, classes].
        k: the number of places that count.
    """
    n, classes = labels.shape
    discount = np.where(np.arange(classes) < k, 1 / np.log2(np.arange(classes) + 2.0), 0)
    order = np.argsort(-scores, axis=1, kind="stable")
    by = np.take_along_axis(scores, order, 1)
    first = np.ones((n, classes), bool)  # of the classes of a score
    first[:, 1:] = by[:, 1:] != by[:, :-1]
    of = np.cumsum(first.reshape(-1)) - 1
    sums, places = (np.bincount(of, x.reshape(-1)) for x in (np.take_along_axis(labels, order, 1), np.broadcast_to(discount, (n, classes))))
    gains = np.bincount(np.nonzero(first)[0], sums / np.bincount(of) * places, n)
    best = (-np.sort(-labels, axis=1) * discount).sum(1)
    out: Array = np.divide(gains, best, out=np.zeros(n), where=best > 0)
    return out


class Times(Evaluation):
    """The times of labels, each with the mean of its nodes."""

    what = "label times"

    def __init__(self, metrics: Sequence[Metric], found: Array) -> None:
        super().__init__(metrics, found.shape[1])
        self._found = found

    def each(self) -> Mapping[str, Array]:
        return {m.name: x for m, x in zip(self.metrics, self._found)}

    def part(self, items: Array) -> Evaluation:
        return Times(self.metrics, self._found[:, items])
