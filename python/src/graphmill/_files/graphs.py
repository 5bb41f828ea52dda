"""Files of graph drawing and network analysis, which networkx reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .._command import GraphmillError
from .._whole.networkx import _counted
from .made import Given, Graph, graph
from .source import text


def of_networkx(g: Any, keys: bool = False) -> Graph:
    """A graph of networkx of any class. With ``keys``, those of parallel edges are the column key, unless they are 0, 1, ..."""
    both = not g.is_directed()
    if not g.is_multigraph():
        return graph(list(g.nodes(data=True)), [(a, b, data, both) for a, b, data in g.edges(data=True)])
    listed = list(g.edges(keys=True, data=True))
    keys = keys and not _counted(listed, g.is_directed())
    return graph(list(g.nodes(data=True)), [(a, b, {"key": k, **data} if keys else data, both) for a, b, k, data in listed])


def gml(given: Given) -> Graph:
    """GML by networkx. The ids are those of the file, since labels may be absent or repeat; parallel edges need no word in the file."""
    import networkx

    content = text(given.path)
    try:
        g = networkx.parse_gml(content.split("\n"), label="id")
    except networkx.NetworkXError as e:
        if "more than one graph" in str(e):
            raise GraphmillError(f"{given.path}: found several graphs, expected one; write each to a file of its own") from None
        if not re.match(r"edge #.* is duplicated", str(e)):
            raise
        many = re.sub(r"^([^\"\n]*\bgraph\s*\[)", r"\1 multigraph 1 ", content, count=1, flags=re.MULTILINE)
        g = networkx.parse_gml(many.split("\n"), label="id")
    return of_networkx(g, keys=True)
