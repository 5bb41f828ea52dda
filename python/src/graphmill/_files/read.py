"""Reading a file into a store or a collection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .._arguments import choice
from .._arguments import path as as_path
from .._collection import Collection
from .._command import GraphmillError
from .._store import Store
from .._whole.build import imported, splits_of, write_graph
from .._whole.streams import Spool, reader_of
from .._whole.tables import graph_of
from .collections import write_graphs
from .kinds import KINDS, Kind, kind_of
from .made import File, Given, Graph, Graphs
from .rows import Unfit
from .source import opened


def read(
    file: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    kind: str | None = None,
    key: str | None = None,
    drop_invalid: bool = False,
    overwrite: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Store | Collection:
    """Make a store, or a collection of many graphs, of a file: of a kind that a Python library reads, such as GML, GEXF, Pajek, Turtle, OBO, MATLAB, HDF5, ORC, SDF or
    OpenStreetMap (docs/files.md lists them), or of any kind that ``graphmill import`` reads.

    The library reads the file as it does, mostly into memory: the memory of this is the library's, and ``memory`` does not bound it. What it read is then imported as
    streams of Arrow. ``pip install "graphmill[files]"`` installs the libraries.

    Args:
        file: the file; it may be compressed, as .gz, .bz2, .xz or .zst.
        path: the folder to write; None makes it in a temporary folder, which is removed when the result is.
        kind: the kind of the file, such as "gml"; by default its name says it, or else its first bytes.
        key: of files with several matrices or graphs, the name of the one to take.
        drop_invalid: leave out molecules that RDKit cannot read, with a warning that counts them; by default they are an error.
        overwrite, memory, threads, options: as for `from_arrays`; ``missing`` may be a mapping, such as ``{"age": 0, "float": "nan"}``.

    Raises:
        ModuleNotFoundError: the library is not installed; the text says how to install it.
        GraphmillError: the library cannot read the file, or the import failed. Nothing is written then.

    Example:
        >>> store = read("lesmis.gml", "lesmis.store")
    """
    source = as_path("file", file)
    if isinstance(options.get("missing"), Mapping):
        options["missing"] = ",".join(f"{what}={value}" for what, value in options["missing"].items())
    of = kind_of(source) if kind is None else KINDS[choice("kind", kind, tuple(KINDS))]
    opens = _opened

    def write(folder: str, given: dict[str, Any]) -> tuple[str, Mapping[str, str]]:
        if of is None:
            return source, {}
        made = _read(of, Given(source, folder, key, drop_invalid))
        if isinstance(made, File):
            given.update({k: v for k, v in made.flags.items() if k not in given})
            return made.path, {os.path.basename(made.path): source}
        if given.get("symmetrise") and (isinstance(made, Graphs) or made.both):
            raise GraphmillError(f"{source}: found symmetrise=, expected it with directed edges: edges of the file are read in both directions; leave it out")
        os.mkdir(os.path.join(folder, "spool"))
        spool = Spool(os.path.join(folder, "spool"))

        def columns(table: Any, what: str) -> Any:
            return spool.columns(reader_of(table), what)

        try:
            if isinstance(made, Graphs):
                return folder, write_graphs(folder, made, columns)
            return folder, write_graph(folder, *graph_of(made.nodes, made.edges, None, None, columns), splits_of(folder, given))
        except (ValueError, TypeError, KeyError, OverflowError) as e:
            raise GraphmillError(f"{source}: {e}") from e

    return imported(write, path, overwrite, memory, threads, options, opens)


def _read(of: Kind, given: Given) -> Graph | Graphs | File:
    """Let the library read, whose errors become errors about the file."""
    if not os.path.isfile(given.path):
        raise GraphmillError(f"{given.path}: found no file, expected {of.what}; correct the path")
    try:
        with opened(given.path) as f:
            if not f.read(1):
                raise GraphmillError(f"{given.path}: found an empty file, expected {of.what}; write it again")
        return of.reads(given)
    except GraphmillError:
        raise
    except Unfit as e:
        raise GraphmillError(f"{given.path}: {e}") from e
    except ModuleNotFoundError as e:
        raise ModuleNotFoundError(
            f"{given.path}: found no module {e.name}, which reads {of.what}, expected it; install it: {of.install}", name=e.name
        ) from None
    except MemoryError:
        raise
    except Exception as e:
        said = " ".join(str(e).split()) or type(e).__name__
        raise GraphmillError(
            f"{given.path}: found what {of.library} cannot read ({said}), expected {of.what}; correct the file, or name its kind with kind="
        ) from e


def _opened(path: str) -> Store | Collection:
    try:
        return Store(path)
    except GraphmillError:
        return Collection(path)
