"""Links of a data set that are given with their negatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from .._arguments import integer
from .._arrays import Array, ranges


@dataclass(frozen=True)
class Links:
    """Links, one per column of ``edge_index``. What a data set does not have is None.

    Attributes:
        edge_index: [2, n], int64, the numbers of the sources and targets.
        time: [n], int64, the times, of sets of TGB.
        relation: [n], int64, the relations, of knowledge graphs.
        source_type: [n], the names of the types of the sources, of graphs where numbers count within a type.
        target_type: [n], those of the targets.
        weight: [n], float64, the weights, of TGB's node sets.
    """

    edge_index: Array
    time: Array | None = None
    relation: Array | None = None
    source_type: Array | None = None
    target_type: Array | None = None
    weight: Array | None = None

    def __len__(self) -> int:
        return int(self.edge_index.shape[1])

    def rows(self, first: int, end: int) -> Links:
        """The links from ``first`` up to ``end``, views."""
        return Links(self.edge_index[:, first:end], *(None if x is None else x[first:end] for x in self._more()))

    def among(self, sizes: Array, others: Array, place: Array, end: int) -> Links:
        """Each link, and behind it its negatives.

        Args:
            sizes: how many negatives each link has.
            others: the nodes of the negatives, one link after another.
            place: the number of each link in the result.
            end: which of the two ends of a negative is another node: 0 the source, 1 the target.
        """
        ends = np.repeat(self.edge_index, sizes + 1, axis=1)
        negative = np.ones(ends.shape[1], bool)
        negative[place] = False
        ends[end, negative] = others
        return Links(ends, *(None if x is None else np.repeat(x, sizes + 1) for x in self._more()))

    def _more(self) -> tuple[Array | None, ...]:
        return self.time, self.relation, self.source_type, self.target_type, self.weight


class Nodes(ABC):
    """The nodes that stand in negatives for one end of each of n links."""

    @abstractmethod
    def sizes(self, first: int, end: int) -> Array:
        """How many nodes each of some links has, or more."""

    @abstractmethod
    def of(self, first: int, end: int) -> tuple[Array, Array]:
        """The nodes of some links, one link after another, and where the nodes of each link begin, and the last ends."""

    @abstractmethod
    def whole(self) -> Array:
        """All nodes: [n, k], or one link after another with offsets."""

    def offsets(self) -> Array | None:
        """[n + 1], or None for [n, k]."""
        return None


class Table(Nodes):
    """[n, k]."""

    def __init__(self, nodes: Array) -> None:
        self._nodes = nodes

    def sizes(self, first: int, end: int) -> Array:
        return np.full(end - first, self._nodes.shape[1])

    def of(self, first: int, end: int) -> tuple[Array, Array]:
        return self._nodes[first:end].reshape(-1), np.arange(end - first + 1) * self._nodes.shape[1]

    def whole(self) -> Array:
        return self._nodes


class Lists(Nodes):
    """The nodes of link i are ``flat[starts[i]:ends[i]]``. Links may share them."""

    def __init__(self, flat: Array, starts: Array, ends: Array) -> None:
        self._flat, self._starts, self._ends = flat, starts, ends

    def sizes(self, first: int, end: int) -> Array:
        return self._ends[first:end] - self._starts[first:end]

    def of(self, first: int, end: int) -> tuple[Array, Array]:
        starts, ends = self._starts[first:end], self._ends[first:end]
        offsets = np.concatenate([[0], np.cumsum(ends - starts)])
        if len(starts) and (starts[1:] == ends[:-1]).all():
            return self._flat[starts[0] : ends[-1]], offsets
        return self._flat[ranges(starts, ends)], offsets

    def whole(self) -> Array:
        return self.of(0, len(self._starts))[0]

    def offsets(self) -> Array | None:
        return np.concatenate([[0], np.cumsum(self._ends - self._starts)])


class Others(Nodes):
    """All nodes of a graph but for the nodes of lists."""

    def __init__(self, nodes: int, known: Lists) -> None:
        self._nodes, self._known = nodes, known

    def sizes(self, first: int, end: int) -> Array:
        return np.full(end - first, self._nodes)

    def of(self, first: int, end: int) -> tuple[Array, Array]:
        known, offsets = self._known.of(first, end)
        there = np.ones((end - first, self._nodes), bool)
        there[np.repeat(np.arange(end - first), np.diff(offsets)), known] = False
        row, node = np.nonzero(there)
        return node, np.concatenate([[0], np.cumsum(np.bincount(row, minlength=end - first))])

    def whole(self) -> Array:
        raise ValueError(
            f"found a set where each link ranks among about {self._nodes:,} nodes, expected one with lists of them; ask for the negatives of some links, negatives_of(first, end)"
        )


@dataclass(frozen=True)
class Given:
    """The links of a split of a data set, and their negatives, as `given` reads them.

    Attributes:
        name: the data set, such as ``"ogbl-collab"``.
        split: ``"train"``, ``"valid"`` or ``"test"``.
        links: the positive links. Those of TGB are in the order of time.
        columns: other values of the links by their names, such as ``weight`` and ``year`` of ogbl-collab.
        shared: [2, m], the negative links that all positives have in common, or None.
        names: by number of node, its name in the files, if the files do not have these numbers.
    """

    name: str
    split: str
    links: Links
    columns: Mapping[str, Array] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    shared: Array | None = field(default=None, repr=False)
    names: tuple[str, ...] | None = field(default=None, repr=False)
    targets: Nodes | None = field(default=None, repr=False)
    sources: Nodes | None = field(default=None, repr=False)

    @property
    def negatives(self) -> Array | None:
        """The negatives of the links: [2, m], links for all of them; [n, k], targets of each; or [m], targets of each, with ``offsets``.

        None if the split has none. Where links have the same list, such as two at one time, it is there for each of them.

        Raises:
            ValueError: each link ranks among all nodes that it has no link with.
        """
        return self.shared if self.targets is None else self.targets.whole()

    @property
    def offsets(self) -> Array | None:
        """[n + 1]: the negatives of link i are ``negatives[offsets[i]:offsets[i + 1]]``. None if they have another form."""
        return None if self.targets is None else self.targets.offsets()

    @property
    def source_negatives(self) -> Array | None:
        """[n, k], the sources of negatives of each link, of knowledge graphs of OGB; else None."""
        return None if self.sources is None else self.sources.whole()

    def negatives_of(self, first: int, end: int) -> tuple[Array, Array]:
        """The targets of the negatives of some links alone.

        Args:
            first: the number of the first link.
            end: that behind the last one.

        Returns:
            Their nodes, one link after another, and offsets [end - first + 1].

        Raises:
            ValueError: the set has no negatives of its own for each link, or there are no such links.
        """
        low = integer("first", first, 0, len(self.links))
        high = integer("end", end, low, len(self.links))
        if self.targets is None:
            raise ValueError(f"found the split {self.split} of {self.name}, whose links have no negatives of their own, expected such; ask for negatives")
        return self.targets.of(low, high)
