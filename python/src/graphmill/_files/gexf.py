"""GEXF of Gephi, which networkx reads."""

from __future__ import annotations

import datetime
import io
import re
import warnings
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from .made import Given, Graph, graph
from .rows import Unfit
from .source import opened

_NS, _VIZ = "{http://www.gexf.net/1.2draft}", "{http://www.gexf.net/1.2draft/viz}"
_TYPES = {"int": "integer", "short": "integer", "byte": "integer", "biginteger": "integer", "bigdecimal": "double"}
_PLACE = "#place"
_NUMBERS = (_PLACE, "networkx_key")  # attributes with the number of an edge; the latter is its key in networkx
_KNOWN = ("integer", "long", "float", "double", "boolean", "string", "liststring", "anyURI")


def gexf(given: Given) -> Graph:
    """GEXF by networkx. Starts become the column time and ends the column end; an edge with several spells becomes an edge for each."""
    import networkx

    with opened(given.path) as f:
        root = ElementTree.parse(f).getroot()
    form, directions = _normalised(root)
    g = networkx.read_gexf(io.BytesIO(ElementTree.tostring(root)))
    last: set[str] = set()
    for kind, of in (("node", [d for _, d in g.nodes(data=True)]), ("edge", [d for _, _, d in g.edges(data=True)])):
        start = "start" if any("time" in d for d in of) else "time"
        for d in of:
            for name, value in g.graph.get(f"{kind}_default", {}).items():
                d.setdefault(name, value)
            for name, value in list(d.items()):
                if name not in ("spells", "parents") and isinstance(value, list):  # of (value, start, end)
                    last.add(name)
                    d[name] = value[-1][0]
            first, end = _time(d.pop("start", None), form), _time(d.pop("end", None), form)
            d["spells"] = [(_time(a, form), _time(b, form)) for a, b in d.pop("spells", None) or [(first, end)]]
            d["spells", "names"] = start
    if last:
        warnings.warn(
            f"{given.path}: found values that change over time in {', '.join(map(repr, sorted(last)))}, expected one; the last one is taken", stacklevel=2
        )
    unlisted = sum("label" not in d for _, d in g.nodes(data=True))
    if unlisted:
        warnings.warn(f"{given.path}: found {unlisted} ends of edges that no node of the file is, expected none; they become nodes", stacklevel=2)
    nodes = []
    for k, d in g.nodes(data=True):
        spells = d.pop("spells")
        starts, ends = [a for a, _ in spells if a is not None], [b for _, b in spells if b is not None]
        whole = (min(starts) if len(starts) == len(spells) else None, max(ends) if len(ends) == len(spells) else None)
        nodes.append((k, _timed(d, whole)))
    edges = sorted(((d.pop(_PLACE), a, b, d) for a, b, d in g.edges(data=True)), key=lambda e: e[0])  # as the file has them
    if len(edges) != len(directions):
        raise Unfit(f"found {len(directions)} edges, of which networkx gives {len(edges)}, expected all; give each edge its own source and target")
    return graph(nodes, [(a, b, _timed(d, spell), directions[i]) for i, a, b, d in edges for spell in d["spells"]])


def _timed(d: Mapping[Any, Any], spell: tuple[Any, Any]) -> dict[str, Any]:
    out = {n: v for n, v in d.items() if isinstance(n, str) and n != "spells"}
    return {**out, d["spells", "names"]: spell[0], "end": spell[1]}


def _time(x: Any, form: str) -> Any:
    """A time of the file as an integer, a float or a time of day in UTC; None for one that is open."""
    if x is None or not isinstance(x, str) or x.strip().lower() in ("none", "", "infinity", "-infinity"):
        return None if isinstance(x, str) else x
    if not form.startswith("date"):
        return int(x) if re.fullmatch(r"[+-]?\d+", x) and form != "double" else float(x)
    t = datetime.datetime.fromisoformat(re.sub(r"(?<=:\d\d)\.(\d{1,6})\d*", lambda m: "." + m[1].ljust(6, "0"), x.strip().replace("Z", "+00:00")))
    return t if t.tzinfo is None else t.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def _normalised(root: ElementTree.Element) -> tuple[str, list[bool]]:
    """Change a document to what networkx reads, and return the format of its times, and of each edge whether it has both directions.

    Any version of the namespaces becomes one. Attributes that are not declared become texts; types that networkx does not know become those that it knows. Edges
    become directed.
    """
    for x in root.iter():
        space, _, name = x.tag.rpartition("}") if isinstance(x.tag, str) else ("", "", "comment")
        x.tag = (_VIZ if "viz" in space else _NS) + {"slices": "spells", "slice": "spell"}.get(name, name)
        if name == "color" and x.get("r") is None:  # networkx wants all three
            rgb = re.fullmatch(r"#?((?:[0-9a-fA-F]{3}){1,2})", x.get("hex", ""))
            digits = "" if rgb is None else rgb[1] if len(rgb[1]) == 6 else "".join(2 * d for d in rgb[1])
            x.attrib.update({c: str(int(digits[2 * i : 2 * i + 2], 16)) for i, c in enumerate("rgb")} if rgb else {})
            x.tag += "" if rgb else "less"
        if x.get("timestamp") is not None:
            x.attrib.update(start=x.attrib["timestamp"], end=x.attrib["timestamp"])
    g = root.find(f"{_NS}graph")
    if g is None:
        return "double", []
    for x in [x for kind in ("node", "edge") for x in g.iter(_NS + kind)]:
        spells = [(t, t) for t in re.findall(r"[^\s,;<>\[\]()]+", x.get("timestamps", ""))]
        spells += re.findall(r"[\[(\]]\s*([^\s,;]+)\s*,\s*([^\s,;\])]+)", x.get("intervals", ""))
        if spells and x.find(f"{_NS}spells") is None:
            inside = ElementTree.SubElement(x, f"{_NS}spells")
            for start, end in spells:
                ElementTree.SubElement(inside, f"{_NS}spell", {"start": start, "end": end})
    form, g.attrib["timeformat"] = g.get("timeformat", "double").lower(), "string"
    for kind in ("node", "edge"):
        types: dict[str, str] = {}
        for a in (a for s in g.findall(f"{_NS}attributes") if s.get("class") == kind for a in s.findall(f"{_NS}attribute")):
            t = a.get("type", "string")
            types[a.get("id", "")] = a.attrib["type"] = t if t in _KNOWN else _TYPES.get(t.lower(), "string")
            a.attrib.setdefault("title", a.get("id", ""))
        more = ElementTree.SubElement(g, f"{_NS}attributes", {"class": kind})
        for x in g.iter(f"{_NS}{kind}"):
            for values in x.findall(f"{_NS}attvalues"):
                for v in list(values):
                    v.attrib["for"] = name = v.get("for", v.get("id", ""))
                    if name not in types:
                        types[name] = "string"
                        ElementTree.SubElement(more, f"{_NS}attribute", {"id": name, "title": name, "type": "string"})
                    if v.get("value") in ("", None) and types[name] not in ("string", "liststring", "anyURI"):
                        values.remove(v)
    return form, _numbered(g)


def _numbered(g: ElementTree.Element) -> list[bool]:
    """Number the edges, as keys for networkx, which otherwise keeps one of those with equal ids and ends. Returns of each whether it has both directions."""
    usual = g.get("defaultedgetype", "undirected")
    g.attrib["defaultedgetype"] = "directed"
    listed = [(holder, e) for holder in list(g.iter(f"{_NS}edges")) for e in holder.findall(f"{_NS}edge")]
    top = g.find(f"{_NS}edges")
    top = ElementTree.SubElement(g, f"{_NS}edges") if top is None else top
    more = ElementTree.SubElement(g, f"{_NS}attributes", {"class": "edge"})
    for name in _NUMBERS:
        ElementTree.SubElement(more, f"{_NS}attribute", {"id": f"#{name}", "title": name, "type": "integer"})
    both = []
    for i, (holder, e) in enumerate(listed):
        if holder is not top:  # of nodes inside a node, which networkx does not visit
            holder.remove(e)
            top.append(e)
        both.append((e.attrib.pop("type", None) or usual) in ("undirected", "mutual"))
        values = e.find(f"{_NS}attvalues")
        values = ElementTree.SubElement(e, f"{_NS}attvalues") if values is None else values
        for name in _NUMBERS:
            ElementTree.SubElement(values, f"{_NS}attvalue", {"for": f"#{name}", "value": str(i)})
    return both
