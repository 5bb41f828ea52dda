"""Which edges are messages: conditions COLUMN=VALUE on the edges of a store, as the ``messages=`` of loaders and of ``inference`` has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._arrays import Array
from ._folder import Column, EdgeType, edge_type, unknown
from ._store import Store


def condition_texts(name: str, x: Any, store: Store) -> list[str]:
    """The conditions of a keyword as texts: COLUMN=VALUE or, for one edge type, SRC:REL:DST:COLUMN=VALUE.

    Raises:
        TypeError: it is no condition, list of conditions, or dict of these by edge type.
        ValueError: an edge type that the store lacks.
    """

    def listed(conditions: Any) -> list[str]:
        found = [conditions] if isinstance(conditions, str) else list(conditions) if isinstance(conditions, (list, tuple, set, frozenset)) else []
        if not found or not all(isinstance(text, str) for text in found):
            raise TypeError(f"found {name}={x!r}, expected COLUMN=VALUE, such as 'split=train', a list of these, or a dict of them by edge type")
        return sorted(found) if isinstance(conditions, (set, frozenset)) else found

    if not isinstance(x, Mapping):
        return listed(x)
    out = []
    for t, conditions in x.items():
        try:
            of = ":".join(edge_type(t, store.edge_types))
        except KeyError as e:
            raise ValueError(f"{name}: {e.args[0]}") from None
        out += [f"{of}:{text}" for text in listed(conditions)]
    return out


def message_tests(x: Any, store: Store, keyword: str = "messages") -> dict[EdgeType, Callable[[Array], Array]]:
    """For each edge type that ``messages=``, or another keyword, restricts, which of some edge ids are messages, as an array of bools.

    Raises:
        TypeError: as `condition_texts`.
        ValueError: an edge type, a column or a value that the store lacks.
    """
    if x is None:
        return {}
    values: dict[EdgeType, dict[str, list[str]]] = {}
    general: list[tuple[str, str]] = []
    for text in condition_texts(keyword, x, store):
        e, rest = _typed(text, store)
        column, equals, value = rest.partition("=")
        if e is None:
            general.append((column, value if equals else "true"))
        else:
            values.setdefault(e, {}).setdefault(column, []).append(value if equals else "true")
    own = set(values)
    for column, value in general:
        for e in store.edge_types:
            if e in own:
                continue
            if column not in store.edges[e].columns:
                raise ValueError(
                    f"found {keyword}={x!r}, and {':'.join(e)} without the column {column!r}, whose edges would all be messages, expected the column in each edge type; "
                    f"give {keyword}= as a dict by edge type"
                )
            values.setdefault(e, {}).setdefault(column, []).append(value)
    tests = {}
    for e, columns in values.items():
        if len(columns) > 1:
            raise ValueError(f"found {keyword}= by the columns {' and '.join(columns)} of {':'.join(e)}, expected one column per edge type")
        ((name, texts),) = columns.items()
        have = store.edges[e].columns
        if name not in have:
            raise ValueError(unknown(f"{keyword}: column of {':'.join(e)}", name, [c for c in have if not c.startswith("#")]))
        tests[e] = _test(have.column(name), texts, f"{keyword}: column {name!r} of {':'.join(e)}")
    return tests


def _typed(text: str, store: Store) -> tuple[EdgeType | None, str]:
    """The edge type with which a condition begins, if it does, and the rest."""
    for e in store.edge_types:
        if text.startswith(":".join(e) + ":"):
            return e, text[len(":".join(e)) + 1 :]
    relation, colon, rest = text.partition(":")
    if colon and "=" not in relation and len([e for e in store.edge_types if e[1] == relation]) == 1:
        return edge_type(relation, store.edge_types), rest
    return None, text


def _test(column: Column, texts: list[str], what: str) -> Callable[[Array], Array]:
    """Whether the rows of a column have one of the values that texts name."""
    if column.shape or column.offsets:
        raise ValueError(f"{what}: found shape {list(column.shape)}, expected one value per row; take another column")
    if column.string_offsets is not None:
        return lambda ids: np.array([column[int(i)] in texts for i in ids], bool)
    if column.categories is not None:
        names = [str(t) for t in column.categories]
        missing = [t for t in texts if t and t not in names]
        if missing:
            raise ValueError(f"{what}: found the category {missing[0]!r}, expected one of {', '.join(names[:8])}; check upper and lower case")
        codes = np.array([names.index(t) if t else -1 for t in texts], np.int32)
        return lambda ids: np.isin(column.values[ids], codes)
    wanted = np.array([_value(column, t, what) for t in texts])
    return lambda ids: np.isin(column.values[ids], wanted)


def _value(column: Column, text: str, what: str) -> Any:
    """The value of a column of numbers, bools or times that a text names."""
    if column.dtype == "bool":
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError(f"{what}: found value {text!r}, expected true or false")
        return text.lower() in ("true", "1")
    if column.dtype in ("bfloat16", "float16"):
        raise ValueError(f"{what}: found dtype {column.dtype}, expected bool, an integer, float32, float64 or string; take another column")
    dtype = np.dtype(column.dtype)
    try:
        if column.unit is not None and not text.lstrip("-").isdigit():
            time: Any = np.datetime64(text).astype(f"datetime64[{column.unit}]")
            return dtype.type(time.astype(np.int64))
        return dtype.type(int(text) if dtype.kind in "iu" else float(text))
    except (ValueError, OverflowError):
        raise ValueError(f"{what}: found value {text!r}, expected a number of dtype {column.dtype}") from None
