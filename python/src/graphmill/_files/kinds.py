"""The kinds of files that a Python library reads."""

from __future__ import annotations

import dataclasses
from typing import Callable

from .graphs import gml
from .made import File, Given, Graph, Graphs
from .source import ending

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
    """

    what: str
    library: str
    endings: tuple[str, ...]
    reads: Callable[[Given], Graph | Graphs | File]
    install: str = _FILES
    magic: tuple[bytes, ...] = ()


KINDS: dict[str, Kind] = {
    "gml": Kind("a GML file", "networkx", (".gml",), gml),
}


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
    return next((k for k in KINDS.values() if k.magic and first.startswith(k.magic)), None)
