"""RDF, which rdflib reads, and ontologies in OBO, which the parser of pronto reads."""

from __future__ import annotations

import json
import pathlib
import re
import warnings
from collections.abc import Mapping
from typing import IO, Any

from .._command import GraphmillError
from .._folder import EdgeType
from .made import ID, SOURCE, TARGET, File, Given, Graph
from .rows import Rows, Unfit
from .source import opened, written

_TERM = "term"
_UNWRITTEN = re.compile(r'[\x00-\x20<>"{}|^`\\]')  # in an IRI of N-Triples


def rdf(given: Given, form: str) -> File:
    """RDF by rdflib, as the N-Triples of its set of triples, in the order of the file. Blank nodes are numbered as they appear.

    Args:
        form: the name of the format in rdflib.
    """
    import rdflib

    path = written(given, ".nt")
    blank: dict[Any, str] = {}

    def term(x: Any) -> str | None:
        if isinstance(x, rdflib.BNode):
            return blank.setdefault(x, f"_:b{len(blank)}")
        if isinstance(x, rdflib.URIRef):
            return "<" + _UNWRITTEN.sub(lambda m: f"\\u{ord(m[0]):04x}", x) + ">"
        return None

    counts = [0, 0]
    with open(path, "w", encoding="utf-8") as f, opened(given.path) as source:

        def write(s: Any, p: Any, o: Any) -> None:
            line = [term(s), term(p), term(o)]
            counts[None in line] += 1
            if None not in line:
                f.write(" ".join(map(str, line)) + " .\n")

        in_order(source, form, given.path, write)
    if not counts[0]:
        raise GraphmillError(f"{given.path}: found no triple whose object is a node, expected one; {counts[1]} triples have literals, which are no nodes")
    if counts[1]:
        warnings.warn(f"{given.path}: {counts[1]} triples are left out, because their object is a literal and not a node", stacklevel=2)
    return File(path)


def in_order(source: IO[bytes], form: str, path: str, write: Any) -> None:
    """Parse RDF, and write each triple when it is first met. All triples stay in rdflib's memory, which a set of them needs.

    Args:
        path: the file, against which its relative IRIs are resolved.
        write: takes subject, predicate and object.
    """
    import rdflib
    import rdflib.plugins.stores.memory

    class Store(rdflib.plugins.stores.memory.Memory):  # type: ignore[misc]
        """Tells of each triple that is new."""

        def __init__(self) -> None:
            super().__init__()
            self.seen: set[Any] = set()

        def add(self, triple: Any, context: Any, quoted: bool = False) -> None:
            if not quoted and triple not in self.seen:
                self.seen.add(triple)
                write(*triple)

    store = Store()
    rdflib.Dataset(store=store).parse(source, format=form, publicID=pathlib.Path(path).absolute().as_uri())


def turtle(given: Given) -> File:
    """Turtle by rdflib."""
    return rdf(given, "turtle")


def trig(given: Given) -> File:
    """TriG by rdflib; the names of graphs are not read."""
    return rdf(given, "trig")


def n3(given: Given) -> File:
    """Notation 3 by rdflib; formulas are not read."""
    return rdf(given, "n3")


def jsonld(given: Given) -> File:
    """JSON-LD by rdflib. A context that is not in the file is refused, since rdflib would fetch it."""

    def check(x: Any) -> None:
        if isinstance(x, Mapping):
            for name, value in x.items():
                for away in value if isinstance(value, list) else [value]:
                    if name in ("@context", "@import") and isinstance(away, str):
                        raise GraphmillError(
                            f"{given.path}: found the {name} {away!r}, expected it in the file, because nothing is fetched; write it into the file"
                        )
                check(value)
        elif isinstance(x, list):
            for value in x:
                check(value)

    with opened(given.path) as f:
        check(json.load(f))
    return rdf(given, "json-ld")


def rdfxml(given: Given) -> File:
    """RDF in XML by rdflib, or in Turtle, which files named .owl and .rdf may be too."""
    with opened(given.path) as f:
        first = f.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if first.startswith((b"Ontology(", b"Prefix(")) or (b"http://www.w3.org/2002/07/owl#" in first and first.startswith(b"<") and b"<Ontology" in first):
        raise Unfit("found OWL in functional or OWL/XML syntax, expected RDF; save it as RDF/XML or Turtle in Protégé")
    return rdf(given, "xml" if first.startswith(b"<") and not re.match(rb"<[^>\s]+>\s", first) else "turtle")


def obo(given: Given) -> Graph:
    """An ontology by fastobo, the parser of pronto: the node type term, and an edge type for is_a and for each relationship.

    A term that the file names and does not describe, as it is of another ontology, has its id alone. Imports are not followed.
    """
    import fastobo
    import pyarrow

    terms: dict[str, dict[str, Any]] = {}
    pairs: dict[str, dict[tuple[str, str], None]] = {"is_a": {}}
    with opened(given.path) as f:
        document = fastobo.load(f)
    usual = next((str(c.namespace) for c in document.header if type(c).__name__ == "DefaultNamespaceClause"), None)
    for frame in document:
        if type(frame).__name__ != "TermFrame":
            continue
        id_ = str(frame.id)
        row = terms.setdefault(id_, {ID: id_, "namespace": usual, "obsolete": False})
        for clause in frame:
            kind = type(clause).__name__
            if kind == "IsAClause":
                pairs["is_a"][id_, str(clause.term)] = None
            elif kind == "RelationshipClause":
                pairs.setdefault(str(clause.typedef), {})[id_, str(clause.term)] = None
            elif kind == "IsObsoleteClause":
                row["obsolete"] = bool(clause.obsolete)
            elif kind in ("NameClause", "NamespaceClause", "DefClause", "CommentClause"):
                name = kind.removesuffix("Clause").lower()
                row["definition" if name == "def" else name] = str(getattr(clause, "definition" if name == "def" else name))
    outside = dict.fromkeys(b for of in pairs.values() for _, b in of if b not in terms)
    if outside:
        warnings.warn(
            f"{given.path}: found {len(outside)} terms that the file names and does not describe, such as {next(iter(outside))}; they are nodes with ids alone",
            stacklevel=2,
        )
    rows = [*terms.values(), *({ID: x} for x in outside)]

    def edges(of: Mapping[tuple[str, str], None]) -> Rows:
        return Rows(lambda: ({SOURCE: a, TARGET: b} for a, b in of), {SOURCE: pyarrow.string(), TARGET: pyarrow.string()})

    of_edges: dict[EdgeType, Any] = {(_TERM, name.replace(":", "%3A"), _TERM): edges(of) for name, of in pairs.items()}
    return Graph({_TERM: Rows(lambda: rows, {ID: pyarrow.string()})}, of_edges)
