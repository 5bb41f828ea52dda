"""RDF, which rdflib reads, and ontologies in OBO, which pronto reads."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from typing import IO, Any

from .._folder import EdgeType
from .made import ID, SOURCE, TARGET, File, Given, Graph
from .rows import Rows
from .source import opened

_TERM = "term"
_UNWRITTEN = re.compile(r'[\x00-\x20<>"{}|^`\\]')  # in an IRI of N-Triples


def rdf(given: Given, form: str) -> File:
    """RDF by rdflib, as the N-Triples of its set of triples, in the order of the file. Blank nodes are numbered as they appear.

    Args:
        form: the name of the format in rdflib.
    """
    import rdflib

    written = os.path.join(given.folder, "triples.nt")
    blank: dict[Any, str] = {}

    def term(x: Any) -> str:
        if isinstance(x, rdflib.BNode):
            return blank.setdefault(x, f"_:b{len(blank)}")
        if isinstance(x, rdflib.URIRef):
            return "<" + _UNWRITTEN.sub(lambda m: f"\\u{ord(m[0]):04x}", x) + ">"
        return '""'  # a literal, which the import counts and leaves out

    with open(written, "w", encoding="utf-8") as f, opened(given.path) as source:
        in_order(source, form, os.path.abspath(given.path), lambda s, p, o: f.write(f"{term(s)} {term(p)} {term(o)} .\n"))
    return File(written)


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

        seen: set[Any] = set()

        def add(self, triple: Any, context: Any, quoted: bool = False) -> None:
            if not quoted and triple not in self.seen:
                self.seen.add(triple)
                write(*triple)

    store = Store()
    store.seen = set()
    rdflib.Dataset(store=store).parse(source, format=form, publicID="file://" + path)


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
    """JSON-LD by rdflib."""
    return rdf(given, "json-ld")


def rdfxml(given: Given) -> File:
    """RDF in XML by rdflib, or in Turtle, which files named .owl and .rdf may be too."""
    with opened(given.path) as f:
        first = f.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if first.startswith((b"Ontology(", b"Prefix(")) or b"http://www.w3.org/2002/07/owl#" in first and first.startswith(b"<") and b"<Ontology" in first:
        raise ValueError("OWL in functional or OWL/XML syntax, expected RDF; save it as RDF/XML or Turtle in Protégé")
    return rdf(given, "xml" if first.startswith(b"<") and not re.match(rb"<[^>\s]+>\s", first) else "turtle")


def obo(given: Given) -> Graph:
    """An ontology by pronto: the node type term, and an edge type for is_a and for each relationship. Imports are not followed."""
    import pronto
    import pyarrow

    with opened(given.path) as f, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pronto, about the style of the file
        ontology = pronto.Ontology(f, import_depth=0)
    terms = sorted(ontology.terms(), key=lambda t: t.id)
    pairs: dict[str, list[tuple[str, str]]] = {"is_a": []}
    for t in terms:
        for above in t.superclasses(distance=1, with_self=False):
            pairs["is_a"].append((t.id, above.id))
        for relation, others in t.relationships.items():
            pairs.setdefault(relation.id, []).extend((t.id, x.id) for x in others)
    known = {t.id for t in terms}
    gone = sum(b not in known for of in pairs.values() for _, b in of)
    if gone:
        warnings.warn(f"{given.path}: found {gone} edges to terms that the file does not have, expected none; they are left out", stacklevel=2)

    def nodes() -> Iterator[dict[str, Any]]:
        for t in terms:
            definition = None if t.definition is None else str(t.definition)
            yield {ID: t.id, "name": t.name, "namespace": t.namespace, "definition": definition, "obsolete": bool(t.obsolete)}

    def rows(of: list[tuple[str, str]]) -> Rows:
        kept = sorted((a, b) for a, b in of if b in known)
        return Rows(lambda: ({SOURCE: a, TARGET: b} for a, b in kept), {SOURCE: pyarrow.string(), TARGET: pyarrow.string()})

    edges: dict[EdgeType, Any] = {(_TERM, name.replace(":", "%3A"), _TERM): rows(of) for name, of in sorted(pairs.items())}
    return Graph({_TERM: Rows(nodes, {ID: pyarrow.string()})}, edges)


