"""Reading a file into a store or a collection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .._arguments import choice
from .._arguments import path as as_path
from .._bolt.read import read_database
from .._bolt.server import is_address
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
    key: str | Mapping[str, str] | None = None,
    drop_invalid: bool = False,
    charge: int | None = None,
    auth: Any = None,
    database: str | None = None,
    mark: str | tuple[str, str] | Mapping[Any, str] | None = None,
    queries: Mapping[Any, str] | None = None,
    overwrite: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Store | Collection:
    """Make a store, or a collection of many graphs, of a file: of a kind that a Python library reads, such as GML, GEXF, Pajek, Turtle, OBO, MATLAB, HDF5, ORC, SDF or
    OpenStreetMap (docs/files.md lists them), or of any kind that ``graphmill import`` reads. Or make a store of a running Neo4j or Memgraph (docs/databases.md).

    The library reads the file as it does, mostly into memory: the memory of this is the library's, and ``memory`` does not bound it. What it read is then imported as
    streams of Arrow. ``pip install "graphmill[files]"`` installs the libraries.

    Args:
        file: the file; it may be compressed, as .gz, .bz2, .xz or .zst. Or the address of a Neo4j or Memgraph: ``bolt://HOST:PORT``, ``neo4j://HOST``, with ``+s`` for TLS.
        path: the folder to write; None makes it in a temporary folder, which is removed when the result is.
        kind: the kind of the file, such as "gml"; by default its name says it, or else its first bytes.
        key: of files with several matrices or graphs, the name of the one to take. Of a database, the property whose value is the id of a node, of all nodes or by label; by
            default ids are the element ids of the database.
        drop_invalid: leave out molecules that RDKit cannot read, with a warning that counts them; by default they are an error.
        charge: of the molecules of a file of XYZ whose comment line gives none, as ``charge=-1`` does; by default 0.
        auth: of a database, a user and a password, or an object of the driver; by default NEO4J_USERNAME and NEO4J_PASSWORD of the environment.
        database: its name; by default NEO4J_DATABASE, or the user's own.
        mark: of a database, the property that grows with each row, such as the time when it came; a pair of properties of nodes and of relationships; or, of ``queries``, the column,
            of all or by type. If the store is there and ``overwrite`` is False, the rows above its last mark are appended.
        queries: of a database, queries of Cypher by node type and edge type, in place of the whole graph: their columns are found as those of `from_tables`, and the parameter
            ``$mark`` is the last mark, or null.
        overwrite, memory, threads, options: as for `from_arrays`; ``missing`` may be a mapping, such as ``{"age": 0, "float": "nan"}``.

    Raises:
        ModuleNotFoundError: the library is not installed; the text says how to install it.
        GraphmillError: the library cannot read the file, the database cannot be read, or the import failed. Nothing is written then.

    Example:
        >>> store = read("lesmis.gml", "lesmis.store")
        >>> store = read("neo4j://db.example.com", "movies.store", key={"Person": "name", "Movie": "title"})
    """
    source = as_path("file", file)
    if isinstance(options.get("missing"), Mapping):
        options["missing"] = ",".join(f"{what}={value}" for what, value in options["missing"].items())
    if kind is None and is_address(source):
        return read_database(
            source,
            path,
            auth=auth,
            database=database,
            key=key,
            mark=mark,
            queries=queries,
            overwrite=overwrite,
            memory=memory,
            threads=threads,
            options=options,
        )
    for name, given in (("auth", auth), ("database", database), ("mark", mark), ("queries", queries)):
        if given is not None:
            raise ValueError(f"found {name}= with the file {source}, expected it with the address of a database, such as bolt://HOST:7687; leave it out")
    if isinstance(key, Mapping):
        raise TypeError(f"key: found {type(key).__name__}, expected the name of a matrix or graph of the file")
    if charge is not None and (isinstance(charge, bool) or not isinstance(charge, int)):
        raise TypeError(f"charge: found {type(charge).__name__}, expected a whole number")
    of = kind_of(source) if kind is None else KINDS[choice("kind", kind, tuple(KINDS))]
    for name, is_given in (("key", key is not None), ("drop_invalid", drop_invalid), ("charge", charge is not None)):
        if is_given and (of is None or name not in of.takes):
            kinds = ", ".join(n for n, k in KINDS.items() if name in k.takes)
            raise ValueError(f"found {name}= with {source}, expected it with a file of the kinds {kinds}; leave it out")
    opens = _opened

    def write(folder: str, given: dict[str, Any]) -> tuple[str, Mapping[str, str]]:
        if of is None:
            return source, {}
        made = _read(of, Given(source, folder, key, drop_invalid, charge))
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
