"""Files of graph drawing and network analysis, which networkx reads."""

from __future__ import annotations

import contextlib
import io
import os
import re
import warnings
from collections.abc import Iterator
from typing import Any, Callable

from .._command import GraphmillError
from .._whole.networkx import _counted
from .made import GRAPH, SOURCE, TARGET, Given, Graph, Graphs, graph
from .rows import Rows, Unfit
from .source import opened, text


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


def dot(given: Given) -> Graph:
    """Graphviz's DOT by pydot, with the nodes and edges of subgraphs. Defaults that ``node [...]`` and ``edge [...]`` set are not read."""
    import pydot
    from pydot import dot_parser

    with contextlib.redirect_stdout(io.StringIO()) as said, _prefixed(dot_parser):
        graphs = pydot.graph_from_dot_data(text(given.path))
    if not graphs:
        raise ValueError(said.getvalue().strip().splitlines()[-1] if said.getvalue().strip() else "no graph")
    if len(graphs) > 1:
        raise GraphmillError(f"{given.path}: found several graphs, expected one; write each to a file of its own")
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[tuple[str, str, dict[str, Any], bool]] = []
    both = graphs[0].get_type() == "graph"

    def walk(g: Any) -> list[str]:
        inside: list[str] = []
        for n in g.get_node_list():
            name = _unquoted(n.get_name())
            if n.get_name() not in ("node", "edge", "graph", "\\n", '"\\n"'):
                nodes.setdefault(name, {}).update(_attributes(n))
                inside.append(name)
        for sub in g.get_subgraph_list():
            inside += walk(sub)
        for e in g.get_edge_list():
            ends = [[_node(x)] if isinstance(x, str) else [_unquoted(n) for n in x["nodes"]] for x in (e.get_source(), e.get_destination())]
            for a in ends[0]:
                for b in ends[1]:
                    edges.append((a, b, _attributes(e), both))
                    inside += [a, b]
        for name in inside:
            nodes.setdefault(name, {})
        return inside

    walk(graphs[0])
    if graphs[0].get_strict():
        edges = list({(frozenset(e[:2]) if both else e[:2]): e for e in edges}.values())
    return graph(list(nodes.items()), edges)


_PREFIX = "attribute:"


@contextlib.contextmanager
def _prefixed(parser: Any) -> Iterator[None]:
    """pydot makes keywords of attributes, so one with the name of its own parameters fails, such as the name that igraph writes. Within, attributes have a prefix."""
    expand = parser.expand_attr_lists
    parser.expand_attr_lists = lambda lists: {_PREFIX + a: v for a, v in expand(lists).items()}
    try:
        yield
    finally:
        parser.expand_attr_lists = expand


def _attributes(x: Any) -> dict[str, Any]:
    return {a.removeprefix(_PREFIX): _unquoted(v) for a, v in x.get_attributes().items()}


def _unquoted(x: Any) -> Any:
    return x[1:-1].replace('\\"', '"') if isinstance(x, str) and len(x) > 1 and x[0] == x[-1] == '"' else x


def _node(end: str) -> str:
    """The node of an end, without its port."""
    found = re.match(r'"(?:[^"\\]|\\.)*"|[^:]*', end)
    return str(_unquoted(found[0] if found else end))


def pajek(given: Given) -> Graph:
    """Pajek by networkx, section by section: it would read edges below arcs as arcs, and lists as weights. The ids are the numbers, since labels may repeat."""
    import networkx

    vertices, labels, sections, left = _pajek(given.path)
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[tuple[int, int, dict[str, Any], bool]] = []
    for head, lines in [("", []), *sections]:
        g = networkx.parse_pajek(iter([f"*Vertices {len(vertices)}", *vertices, head.split(":")[0], *lines]))
        if not head:
            nodes = {k: {**({"label": labels[k]} if k in labels else {}), **{n: v for n, v in data.items() if n != "id"}} for k, data in g.nodes(data=True)}
            continue
        relation = re.search(r":\s*(\d+)", head)
        more = {"relation": int(relation[1])} if relation else {}
        both = head.lower().startswith("*edges")
        for a, b, data in g.edges(data=True):
            edges.append((int(a), int(b), {**data, **more}, both))
    if left:
        warnings.warn(
            f"{given.path}: found the sections {', '.join(sorted(left))}, expected vertices, arcs, edges and matrices; they are left out", stacklevel=2
        )
    return graph([(int(k), d) for k, d in nodes.items()], edges)


def _pajek(path: str) -> tuple[list[str], dict[str, str], list[tuple[str, list[str]]], set[str]]:
    """The lines of a file of Pajek for networkx: those of the vertices with their numbers as labels; the labels; the sections of edges; the names of other sections."""
    content = text(path)
    lines = [(i, x) for i, x in enumerate((line.strip() for line in content.split("\n")), 1) if x and not x.startswith("%")]
    given: dict[int, tuple[str, str]] = {}
    count, head = 0, ""
    left: set[str] = set()
    sections: list[tuple[str, list[str]]] = []

    def fits(row: str, what: str, words: list[str], ends: int, numbers: int) -> None:
        """Raise an error unless the first words are vertices, and then others numbers: networkx would leave the line or the word out."""
        if len(words) < ends or not all(w.isdecimal() and 1 <= int(w) <= count for w in words[:ends]) or not all(map(_is_number, words[ends:][:numbers])):
            raise GraphmillError(f"{path}:{number}: found {row[:40]!r}, expected {what}, with vertices of 1 to {count}; correct the line")

    for number, line in lines:
        word = line.split()[0].lower().split(":")[0]
        if line.startswith("*"):
            if word == "*network" and count:
                raise Unfit("found several networks, expected one; write each to a file of its own")
            head = "*vertices" if word == "*vertices" and not sections and not left else word
            if word == "*vertices" and head == word and not count:
                count = int(line.split()[1])
                if count > 64 * len(content):
                    raise Unfit(f"found {count} vertices in {len(content)} bytes, expected at most 64 for each byte; correct the line *Vertices")
            elif word in ("*arcs", "*edges", "*matrix", "*arcslist", "*edgeslist"):
                sections.append((line.replace("slist", "s", 1).replace("sList", "s", 1), []))
            elif word not in ("*network", "*vertices"):
                left.add(line.split()[0])
        elif head == "*vertices" and not sections and not left:
            m = re.match(r'(\d+)(?:\s+("(?:[^"]*)"|\S+))?(.*)', line)
            if m is None or not 1 <= int(m[1]) <= count:
                raise Unfit(f"found the vertex {line[:40]!r}, expected a number of 1 to {count}; correct the line")
            z = re.match(r"(\s*\S+\s+\S+)\s+([+-]?[\d.]+(?:[eE][+-]?\d+)?)(?=\s|$)(.*)", m[3])  # networkx takes a third coordinate for the shape
            rest = (
                f"{z[1]} {z[3].strip() or 'point'} z {z[2]}"
                if z and re.fullmatch(r"\s*[+-]?[\d.]+(?:[eE][+-]?\d+)?\s+[+-]?[\d.]+(?:[eE][+-]?\d+)?", z[1])
                else m[3]
            )
            given[int(m[1])] = ((m[2] or "").strip('"'), rest)
        elif head in ("*arcslist", "*edgeslist"):
            first, *others = line.split()
            fits(line, "a vertex and its neighbours", line.split(), 1 + len(others), 0)
            sections[-1][1].extend(f"{first} {x}" for x in others)
        elif head in ("*arcs", "*edges", "*matrix"):
            if head != "*matrix":
                fits(line, "two vertices and perhaps a number", line.split(), 2, 1)
            elif len(line.split()) != count or len(sections[-1][1]) == count:
                raise GraphmillError(f"{path}:{number}: found {line[:40]!r}, expected {count} rows of {count} numbers, one per vertex; correct the matrix")
            sections[-1][1].append(line)
    for title, rows in sections:
        if title.lower().startswith("*matrix") and len(rows) != count:
            raise Unfit(f"found {len(rows)} rows in {title}, expected {count}, one per vertex; correct the matrix")
    vertices = [f'{i} "{i}"{" " + given[i][1] if i in given else ""}' for i in range(1, count + 1)]
    return vertices, {str(i): g[0] for i, g in given.items() if g[0]}, sections, left


def _is_number(word: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", word) is not None


def dl(given: Given) -> Graph:
    """UCINET's DL by igraph. The ids are the labels, if these differ, and otherwise the numbers from 0."""
    import igraph

    path = os.path.join(given.folder, "text.dl")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text(given.path))
    g = igraph.Graph.Read_DL(path, directed=True)
    names = g.vs["name"] if "name" in g.vs.attributes() else []
    apart = bool(names) and len(set(names)) == len(names)
    keys = names if apart else list(range(g.vcount()))
    nodes = [(k, {n: v for n, v in x.attributes().items() if not (apart and n == "name")}) for k, x in zip(keys, g.vs)]
    return graph(nodes, [(keys[e.source], keys[e.target], e.attributes(), False) for e in g.es])


def leda(given: Given) -> Graph:
    """LEDA, whose lines are read here: networkx makes one node of those with equal labels, and one edge of parallel ones. The ids are the numbers from 1."""
    lines = ((i, x.strip()) for i, x in enumerate(text(given.path).split("\n"), 1) if x.strip() and not x.startswith("#"))
    at = 0

    def next_of(what: str, pattern: str) -> re.Match[str]:
        nonlocal at
        at, line = next(lines, (at + 1, ""))
        m = re.fullmatch(pattern, line)
        if m is None:
            raise GraphmillError(f"{given.path}:{at}: found {line[:40]!r}, expected {what}; correct the line, or the number of lines that the file says")
        return m

    def value(kind: str, label: str) -> dict[str, Any]:
        try:
            return {} if kind == "void" or not label else {"label": _LEDA.get(kind, str)(label)}
        except ValueError:
            raise GraphmillError(f"{given.path}:{at}: found {label[:40]!r}, expected the type {kind}; correct the line") from None

    next_of("LEDA.GRAPH", r"LEDA\.GRAPH")
    kinds = [next_of(f"the type of the {what}", r"[^|].*")[0] for what in ("nodes", "edges")]
    both = next_of("-1 for directed edges or -2 for others", "-[12]")[0] == "-2"
    count = int(next_of("the number of nodes", r"\d+")[0])
    nodes = [(i + 1, value(kinds[0], next_of(f"|{{LABEL}}| of node {i + 1} of {count}", r"\|\{(.*)\}\|")[1])) for i in range(count)]
    edges = []
    total = int(next_of("the number of edges", r"\d+")[0])
    for i in range(total):
        m = next_of(f"SOURCE TARGET REVERSAL |{{LABEL}}| of edge {i + 1} of {total}", r"(\d+)\s+(\d+)\s+\d+\s*\|\{(.*)\}\|")
        a, b = int(m[1]), int(m[2])
        if not (1 <= a <= count and 1 <= b <= count):
            raise GraphmillError(f"{given.path}:{at}: found the ends {a} and {b}, expected numbers of 1 to {count}; correct the line")
        edges.append((a, b, value(kinds[1], m[3]), both))
    for at, line in lines:
        if re.match(r"\d+\s+\d+\s+\d+\s*\|", line):
            raise GraphmillError(f"{given.path}:{at}: found {line[:40]!r}, expected {total} edges, as the file says; correct the number")
    return graph(nodes, edges)


_LEDA: dict[str, Callable[[str], Any]] = {**dict.fromkeys(("int", "short", "long"), int), **dict.fromkeys(("float", "double"), float)}


def graph6(given: Given) -> Graph | Graphs:
    """graph6 by networkx: one graph, or a collection of several."""
    import networkx

    return _many(given, networkx.read_graph6)


def sparse6(given: Given) -> Graph | Graphs:
    """sparse6 by networkx: one graph, or a collection of several."""
    import networkx

    return _many(given, networkx.read_sparse6)


def _many(given: Given, read: Callable[[Any], Any]) -> Graph | Graphs:
    with opened(given.path) as f:
        lines = io.BytesIO(f.read().replace(b"\r\n", b"\n"))
    found = read(lines)
    if not isinstance(found, list):
        return of_networkx(found)
    import pyarrow

    def edges() -> Iterator[dict[str, int]]:
        for i, g in enumerate(found):
            for a, b in g.edges():
                yield {GRAPH: i, SOURCE: a, TARGET: b}
                if a != b:
                    yield {GRAPH: i, SOURCE: b, TARGET: a}

    of_nodes = Rows(lambda: ({GRAPH: i} for i, g in enumerate(found) for _ in g), {GRAPH: pyarrow.int64()})
    return Graphs(len(found), None, of_nodes, Rows(edges, {GRAPH: pyarrow.int64(), SOURCE: pyarrow.int64(), TARGET: pyarrow.int64()}))


_CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(?:,|$)""")
_CASTS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "LONG"), int),
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL", "DECIMAL", "NUMERIC"), float),
    "BOOLEAN": lambda x: x.lower() in ("true", "1", "t"),
}


def gdf(given: Given) -> Graph:
    """GDF of GUESS and Gephi, whose rows are split here, since no library reads it. An edge has no direction unless its field directed is true."""
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[tuple[str, str, dict[str, Any], bool]] = []
    fields: list[tuple[str, str]] = []
    of_nodes = True
    for number, line in enumerate(text(given.path).split("\n"), 1):
        head = re.match(r"\s*(node|edge)def>\s*(.*)", line, re.IGNORECASE)
        if head:
            of_nodes = head[1].lower() == "node"
            fields = [(n, t.upper()) for n, t, *_ in ((*f.split(), "VARCHAR") for f in head[2].split(",") if f.strip())]
            continue
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [next((c for c in m.groups() if c is not None), "") for m in _CELL.finditer(line)]
        cells = cells[:-1] if len(cells) > 1 and not line.rstrip().endswith(",") and cells[-1] == "" else cells
        if not fields or len(cells) > len(fields):
            raise GraphmillError(
                f"{given.path}:{number}: found {len(cells)} cells, expected {len(fields)}, as the line with nodedef> or edgedef> has; correct the line"
            )
        try:
            row = {n: _CASTS.get(t.split("(")[0], str)(c) for (n, t), c in zip(fields, cells) if c != ""}
        except ValueError as e:
            raise GraphmillError(f"{given.path}:{number}: found {e}, expected the types of the line with nodedef> or edgedef>; correct the line") from None
        if of_nodes:
            nodes[str(row.pop("name"))] = row
        else:
            a, b, directed = str(row.pop("node1")), str(row.pop("node2")), row.pop("directed", False)
            edges.append((a, b, row, not directed))
            nodes.setdefault(a, {})
            nodes.setdefault(b, {})
    return graph(list(nodes.items()), edges)
