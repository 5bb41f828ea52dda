"""Collections of many graphs, from tables."""

from __future__ import annotations

import os
from typing import Any, Callable

import numpy as np

from .._whole.build import Writer
from .made import GRAPH, SOURCE, TARGET, Graphs


def write_graphs(folder: str, made: Graphs, columns: Callable[[Any, str], Any]) -> dict[str, str]:
    """Write graph.yaml of a collection and its files into a folder, and say which column each file has.

    Args:
        columns: the columns of a table, and what errors say the table is.
    """
    w = Writer(folder, "")

    def of(table: Any, what: str) -> dict[str, Any]:
        return {c.name: c for _, some in columns(table, what) for c in some}

    def ptr(what: str, graph: Any) -> str:
        counts = np.bincount(graph.values, minlength=made.graphs)
        return w.save(what, "offsets", np.append(0, np.cumsum(counts)).astype(np.int64))

    context = {} if made.context is None else of(made.context, "graphs")
    nodes, edges = of(made.nodes, "nodes"), of(made.edges, "edges")
    lines = [f"graphs: {{columns: {{{w.columns('graphs', context)}}}}}" if context else "graphs: {}", "nodes:", "  _N:"]
    lines += [f"    graph_ptr: {_quoted(ptr('nodes', nodes.pop(GRAPH)))}"]
    lines += [f"    columns: {{{w.columns('nodes', nodes)}}}"] if nodes else []
    lines += ["edges:", "  _N:_E:_N:", "    ends: local", f"    graph_ptr: {_quoted(ptr('edges', edges.pop(GRAPH)))}"]
    for name, end in (("src", edges.pop(SOURCE)), ("dst", edges.pop(TARGET))):
        lines += [f"    {name}: {_quoted(w.save('edges', name, end.values))}"]
    lines += [f"    columns: {{{w.columns('edges', edges)}}}"] if edges else []
    with open(os.path.join(folder, "graph.yaml"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return w.saved


def _quoted(name: str) -> str:
    return f'"{name}"'
