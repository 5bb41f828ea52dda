"""The columns of the times of nodes and edges, of which batches have ages at the times of seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._arguments import meant
from ._features import TypeColumns
from ._options import type_text
from ._schema import key
from ._store import Store

NAME = "age"  # of the column in batches


def ages(age: Any, o: Mapping[str, Any], store: Store) -> dict[str, str]:
    """The column of the times of each type whose batches have ages, by name of the type; edge types are "src:rel:dst".

    Args:
        age: a dict from types to columns; True: the columns by which the draws look at times; None or False: none.
        o: the keywords of the draws, which have been checked.

    Raises:
        TypeError: something else.
        ValueError: a type or a column that the store lacks; True without times.
    """
    if age is None or age is False:
        return {}
    if age is True:
        return _of_draws(o, store)
    if not isinstance(age, Mapping):
        raise TypeError(
            f"found age={age!r}, expected a dict from types to columns with their times, such as {{'user': 'joined'}}, or True for the columns of before="
        )
    out: dict[str, str] = {}
    for t, column in age.items():
        text = t if t in store.nodes else None
        if text is None and isinstance(t, str) and not any(t in (e[1], ":".join(e)) for e in store.edge_types):
            every = [*store.node_types, *map(":".join, store.edge_types)]
            raise ValueError(f"found age= for {t!r}, expected node types and edge types among {', '.join(every)}{meant(t, every)}")
        text = text or type_text("age", t, store)
        have = store.nodes[text].columns if text in store.nodes else store.edges[text].columns
        if not isinstance(column, str) or column not in have:
            raise ValueError(
                f"found age={{{t!r}: {column!r}}}, expected a column of {text} among {', '.join(c for c in have if c[0] != '#') or 'none'}{meant(column, have)}"
            )
        if text in out:
            raise ValueError(f"found age= of {text} twice, expected each type once")
        out[text] = column
    return out


def _of_draws(o: Mapping[str, Any], store: Store) -> dict[str, str]:
    """The columns of before=, before_columns= and before_nodes=."""

    def column(x: str) -> str:
        return x.removesuffix("<=").rstrip()

    out = {t: column(c) for t, c in _assigned(o, "before_nodes").items()}
    of_edges = {type_text("before_columns", t, store): column(c) for t, c in _assigned(o, "before_columns").items()}
    untimed = o.get("untimed") or ()
    left = {type_text("untimed", t, store) for t in (untimed.split(",") if isinstance(untimed, str) else untimed)}
    if o.get("before"):
        name = column(o["before"])
        of_edges = {**{":".join(e): name for e, of in store.edges.items() if _has_times(of.columns, name) and ":".join(e) not in left}, **of_edges}
    if not out and not of_edges:
        raise ValueError(
            "found age=True without before=, before_columns= or before_nodes=, expected one of them, whose columns it takes; or give the columns, such as age={'user': 'joined'}"
        )
    return {**out, **of_edges}


def _assigned(o: Mapping[str, Any], keyword: str) -> Mapping[str, str]:
    """Columns by type: a dict, or a text as the command takes it, "TYPE=COLUMN;TYPE=COLUMN"."""
    x = o.get(keyword) or {}
    if not isinstance(x, str):
        of: Mapping[str, str] = x
        return of
    out: dict[str, str] = {}
    for part in x.split(";"):
        at = part.removesuffix("<=").rfind("=")
        if at < 1:
            raise ValueError(f"found {part!r} in {keyword}=, expected TYPE=COLUMN, separated by semicolons")
        out[part[:at].strip()] = part[at + 1 :].strip()
    return out


_TIMES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float32", "float64")


def _has_times(columns: TypeColumns, name: str) -> bool:
    """Whether there is a column with a time or a number per row. Types whose column has anything else are not drawn from, or the draws are refused."""
    if name not in columns or columns.pieces(name) != [name]:
        return False
    meta = columns.meta(name)
    return meta["dtype"] in _TIMES and all(d == 1 for d in meta["shape"]) and not meta.get("categories")


def keys(of: Mapping[str, str]) -> frozenset[str]:
    """The feed's names of the ages of types."""
    return frozenset(key("edges" if ":" in t else "nodes", t, "x", NAME) for t in of)
