"""Importing a database into a store, and appending what is new in it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

from .._command import GraphmillError
from .._folder import EdgeType
from .._run import run
from .._store import Store
from .._whole.build import imported, splits_of, write_graph
from .._whole.streams import Spool
from .._whole.tables import appended, graph_of
from .asked import Asked
from .known import ID, SOURCE, TARGET, Known
from .server import Server


def read_database(
    address: str,
    path: str | os.PathLike[str] | None,
    *,
    auth: Any,
    database: str | None,
    key: str | Mapping[str, str] | None,
    mark: Any,
    queries: Mapping[Any, str] | None,
    overwrite: bool,
    memory: int | str | None,
    threads: int | None,
    options: Mapping[str, Any],
) -> Store:
    """Import a database, as `read` describes it; with ``mark``, append what is new to a store that is there."""
    asked = Asked(Server(address, auth, database), key, mark, queries)
    if asked.marked and path is not None and not overwrite and os.path.exists(path):
        store = Store(path)
        _append(store, asked, memory, threads, options)
        return store
    said = asked.server.name

    def write(folder: str, given: dict[str, Any]) -> tuple[str, Mapping[str, str]]:
        rows = asked.rows(folder)
        nodes: dict[str, Any] = {}
        edges: dict[EdgeType, Any] = {}
        for t, table in rows.tables.items():
            keys = () if not table.keys else (ID,) if isinstance(t, str) else (SOURCE, TARGET)
            (nodes if isinstance(t, str) else edges)[t] = table.stream(keys, None, {}, said, asked.marked)
        if not nodes:
            raise GraphmillError(f"{said}: found no nodes, expected some; name another database with database=, or fill it")
        if not edges:
            raise GraphmillError(f"{said}: found no relationships, expected some; name another database with database=, or add them")
        os.mkdir(os.path.join(folder, "spool"))
        spool = Spool(os.path.join(folder, "spool"))
        try:
            types = graph_of(nodes, edges, None, None, spool.columns)
        except (ValueError, TypeError, KeyError) as e:
            raise GraphmillError(f"{said}: {e.args[0] if e.args else e}") from e
        return folder, write_graph(folder, *types, splits_of(folder, given) + asked.lines())

    return imported(write, path, overwrite, memory, threads, options, Store)


def _append(store: Store, asked: Asked, memory: Any, threads: int | None, options: Mapping[str, Any]) -> None:
    """Append what is new to a store, and change the nodes of it that are there with a new mark. The marks appear with the last step, so that a run that was ended goes on."""
    asked.after(store)
    place = asked.server.name
    beside = os.path.dirname(os.path.abspath(store.path))
    with tempfile.TemporaryDirectory(prefix=".graphmill-", dir=beside) as folder:
        rows = asked.rows(folder)
        known = Known(store, rows, place, asked.elements)
        steps: list[tuple[str, dict[Any, Any]]] = []
        if known.changed:
            steps.append(("change", {t: known.nodes(t, True) for t in known.changed}))
        if known.new or known.edges:
            tables: dict[Any, Any] = {t: known.nodes(t, False) for t in known.new}
            tables.update({e: known.of_edges(e) for e in known.edges})
            steps.append(("source", tables))
        for i, (argument, of_types) in enumerate(steps):
            lines = asked.lines() if i == len(steps) - 1 else ""
            try:
                with appended(store, {argument: of_types}, None, None, lines) as of:
                    source = [] if argument == "change" else [of["source"]]
                    change = {"change": of["change"]} if argument == "change" else {}
                    run("append", store.path, *source, memory=memory, threads=threads, **options, **change)
            except (ValueError, TypeError, KeyError) as e:
                raise GraphmillError(f"{place}: {e.args[0] if e.args else e}") from e
            store._reopen()
