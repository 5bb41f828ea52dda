"""The kinds of files that a Python library reads."""

from __future__ import annotations

import dataclasses
import re
from typing import Callable

from .gexf import gexf
from .graphs import dl, dot, gdf, gml, graph6, leda, pajek, sparse6
from .made import File, Given, Graph, Graphs
from .matrices import hdf5, mat
from .molecules import sdf, smiles, xyz
from .ontologies import jsonld, n3, obo, rdfxml, trig, turtle
from .roads import osm
from .source import ending
from .tables import avro, orc

_FILES = 'pip install "graphmill[files]"'


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        what: what errors call it.
        library: the library that reads it.
        endings: in lower case, without compression.
        reads: the function that reads it.
        install: the command that installs the library.
        magic: what such files begin with, whatever they are called.
        takes: the arguments of `read` that are about such files.
    """

    what: str
    library: str
    endings: tuple[str, ...]
    reads: Callable[[Given], Graph | Graphs | File]
    install: str = _FILES
    magic: tuple[bytes, ...] = ()
    takes: tuple[str, ...] = ()


KINDS: dict[str, Kind] = {
    "gml": Kind("a GML file", "networkx", (".gml",), gml),
    "gexf": Kind("a GEXF file", "networkx", (".gexf",), gexf),
    "pajek": Kind("a network of Pajek", "networkx", (".paj",), pajek),
    "dot": Kind("a Graphviz file", "pydot", (".dot", ".gv"), dot),
    "dl": Kind("a UCINET DL file", "igraph", (".dl",), dl, "pip install igraph"),
    "gdf": Kind("a GDF file", "graphmill", (".gdf",), gdf),
    "graph6": Kind("a graph6 file", "networkx", (".g6",), graph6),
    "sparse6": Kind("a sparse6 file", "networkx", (".s6",), sparse6),
    "leda": Kind("a LEDA file", "graphmill", (".lgr", ".leda", ".gw"), leda),
    "turtle": Kind("RDF in Turtle", "rdflib", (".ttl",), turtle),
    "trig": Kind("RDF in TriG", "rdflib", (".trig",), trig),
    "n3": Kind("RDF in Notation 3", "rdflib", (".n3",), n3),
    "rdfxml": Kind("RDF in XML", "rdflib", (".rdf", ".owl"), rdfxml),
    "jsonld": Kind("RDF in JSON-LD", "rdflib", (".jsonld",), jsonld),
    "obo": Kind("an ontology in OBO", "fastobo", (".obo",), obo),
    "mat": Kind("a MATLAB file", "SciPy", (".mat",), mat, magic=(b"MATLAB 5.0", b"MATLAB 7.3"), takes=("key",)),
    "hdf5": Kind("an HDF5 file", "h5py", (".h5", ".hdf5", ".hdf", ".h5ad"), hdf5, magic=(b"\x89HDF\r\n\x1a\n",), takes=("key",)),
    "smiles": Kind("a list of SMILES", "RDKit", (".smi", ".smiles"), smiles, takes=("drop_invalid",)),
    "sdf": Kind("a file of molecules in SDF", "RDKit", (".sdf", ".mol"), sdf, takes=("drop_invalid",)),
    "xyz": Kind("a file of molecules in XYZ", "RDKit", (".xyz",), xyz, takes=("drop_invalid", "charge")),
    "osm": Kind("a map of OpenStreetMap", "pyosmium", (".osm", ".pbf"), osm),
    "orc": Kind("an ORC file", "pyarrow", (".orc",), orc, magic=(b"ORC",)),
    "avro": Kind("an Avro file", "fastavro", (".avro",), avro, magic=(b"Obj\x01",)),
}

_PAJEK = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s*%[^\n]*\n|\s*\n)*\s*\*(?:vertices|network)\b", re.IGNORECASE)


def kind_of(path: str) -> Kind | None:
    """The kind of a file by its name, or else by its first bytes; None if no library here reads it."""
    last = ending(path)
    for k in KINDS.values():
        if last in k.endings:
            return k
    first = b""
    try:
        with open(path, "rb") as f:
            first = f.read(512)
    except OSError:
        return None
    if _PAJEK.match(first):
        return KINDS["pajek"]
    return next((k for k in KINDS.values() if k.magic and first.startswith(k.magic)), None)
