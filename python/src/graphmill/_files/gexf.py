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
from .source import opened

_NS, _VIZ = "{http://www.gexf.net/1.2draft}", "{http://www.gexf.net/1.2draft/viz}"
_TYPES = {"int": "integer", "short": "integer", "byte": "integer", "biginteger": "integer", "bigdecimal": "double"}
_KNOWN = ("integer", "long", "float", "double", "boolean", "string", "liststring", "anyURI")


def gexf(given: Given) -> Graph:
    """GEXF by networkx. Starts become the column time and ends the column end; an edge with several spells becomes an edge for each."""
    import networkx

    with opened(given.path) as f:
        root = ElementTree.parse(f).getroot()
    form = _normalised(root)
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
    both = not g.is_directed()
    return graph(nodes, [(a, b, _timed(d, spell), both) for a, b, d in g.edges(data=True) for spell in d["spells"]])


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


def _normalised(root: ElementTree.Element) -> str:
    """Change a document to what networkx reads, and return the format of its times.

    Any version of the namespaces becomes one. Attributes that are not declared become texts; types that networkx does not know become those that it knows. Where
    edges of both kinds are mixed, one without a direction becomes two.
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
        return "double"
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
    _directed(g)
    return form


def _directed(g: ElementTree.Element) -> None:
    edges = list(g.iter(f"{_NS}edge"))
    usual = g.get("defaultedgetype", "undirected")
    kinds = [e.get("type") or usual for e in edges]
    mixed = len({k if k == "undirected" else "directed" for k in kinds}) > 1
    g.attrib["defaultedgetype"] = "directed" if mixed or "directed" in kinds or "mutual" in kinds or (not kinds and usual != "undirected") else "undirected"
    seen: set[Any] = set()
    for i, (e, kind) in enumerate(zip(edges, kinds)):
        e.attrib.pop("type", None)
        if (mixed and kind == "undirected") or kind == "mutual":
            e.attrib.setdefault("id", f"{i}")
            if e.get("source") != e.get("target"):
                e.attrib["type"] = "mutual"
        ends = (e.get("source"), e.get("target"))
        key = (e.get("id"), *(ends if g.get("defaultedgetype") == "directed" else sorted(map(str, ends))))
        if key in seen:  # networkx would replace the first one
            e.attrib.pop("id", None)
        seen.add(key)
