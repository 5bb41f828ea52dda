"""What a file becomes, before it is imported."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._folder import EdgeType
from .._whole.build import EDGE, NODE
from .rows import Rows, flat, ids_of

SOURCE, TARGET, ID, GRAPH = "#source", "#target", "#id", "#graph"


@dataclasses.dataclass
class Given:
    """A file that is read.

    Attributes:
        path: the file.
        folder: a temporary folder, for files that are read on.
        key: the name of the matrix or the arrays in the file that are the graph; None: the only one.
        drop_invalid: leave out molecules that the library cannot read.
        charge: of molecules whose file does not give it; None: 0.
    """

    path: str
    folder: str
    key: str | None = None
    drop_invalid: bool = False
    charge: int | None = None


@dataclasses.dataclass
class Graph:
    """A graph as tables, for `from_tables`: with the columns #id, and #source and #target.

    Attributes:
        both: edges of the file have no direction, and are there in both.
    """

    nodes: dict[str, Any]
    edges: dict[EdgeType, Any]
    both: bool = False


@dataclasses.dataclass
class Graphs:
    """Many graphs as tables, whose rows are one graph after another.

    Attributes:
        graphs: the number of graphs.
        context: a table with a row per graph, None without columns.
        nodes: the table of the nodes, with the column #graph, the number of the graph.
        edges: the same with the columns #source and #target, which count from the first node of the graph.
    """

    graphs: int
    context: Any
    nodes: Any
    edges: Any


@dataclasses.dataclass
class File:
    """A file in a format that ``graphmill import`` reads, which says the rest.

    Attributes:
        path: the file, in the folder of `Given`.
        flags: flags of ``graphmill import``, without which it would not know the file.
    """

    path: str
    flags: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def graph(nodes: Sequence[tuple[Any, Mapping[Any, Any]]], edges: Sequence[tuple[Any, Any, Mapping[Any, Any], bool]]) -> Graph:
    """A graph of one node type and one edge type.

    Args:
        nodes: keys and attributes.
        edges: keys of the ends, attributes, and whether the edge has no direction: such an edge becomes two, one right after the other, and a self-loop one.
    """
    id_of, type_ = ids_of([k for k, _ in nodes])
    left: set[str] = set()
    for name in ("node", "edge"):
        given: Iterable[Mapping[Any, Any]] = (a for _, a in nodes) if name == "node" else (e[2] for e in edges)
        for a in given:
            flat(a, left)
    if left:
        warnings.warn(f"found {', '.join(map(repr, sorted(left)))}, expected attributes of numbers or texts; they are left out", stacklevel=2)

    def of_nodes() -> Iterator[dict[str, Any]]:
        return ({ID: id_of(k), **flat(a, left)} for k, a in nodes)

    def of_edges() -> Iterator[dict[str, Any]]:
        for a, b, attributes, both in edges:
            row = flat(attributes, left)
            yield {SOURCE: id_of(a), TARGET: id_of(b), **row}
            if both and a != b:
                yield {SOURCE: id_of(b), TARGET: id_of(a), **row}

    return Graph({NODE: Rows(of_nodes, {ID: type_})}, {EDGE: Rows(of_edges, {SOURCE: type_, TARGET: type_})}, any(both and a != b for a, b, _, both in edges))
