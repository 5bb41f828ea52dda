"""The columns of a loader's batches: which the feed sends, which it joins, and which are looked up in the store."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._arguments import meant, texts
from ._folder import Columns, EdgeType, triple
from ._gaps import gaps, listed
from ._schema import Raw, Schema, key
from ._store import Store


@dataclass
class Chosen:
    """Columns by type, as the keywords name them.

    Attributes:
        sent: the value of the flag with the names of columns that the feed sends.
        looked: by type, names of columns of strings and lists, whose rows are looked up in the store for each batch.
    """

    sent: str
    looked: dict[Any, list[str]] = field(default_factory=dict)


def chosen(keyword: str, names: str | Sequence[str], columns: Mapping[str, Columns], joined: Mapping[str, Sequence[str]]) -> Chosen:
    """The columns that a keyword names: "all", "none", or a list of COLUMN or TYPE/COLUMN, also with "all" in it.

    Args:
        columns: the columns of each type, by name of the type.
        joined: columns of each type that "all" leaves out, because they come joined.

    Raises:
        TypeError: a name that is no text.
        ValueError: a column that no type has.
    """
    items = names.split(",") if isinstance(names, str) else texts(keyword, names, "names of columns")
    if items in (["none"], []) or (items == ["all"] and not any(joined.values())):
        return Chosen(items[0] if items else "none")
    have = {c for of in columns.values() for c in of if not c.startswith("#")}
    sent: dict[str, None] = {}
    looked: dict[str, list[str]] = {}
    for x in items:
        if x == "all":
            sent.update((f"{t}/{c}", None) for t, of in columns.items() for c in of if of.fixed(c) and not c.startswith("#") and c not in joined.get(t, ()))
            continue
        found = [(t, x) for t, of in columns.items() if x in of] or [
            (t, x[len(t) + 1 :]) for t, of in columns.items() if x.startswith(t + "/") and x[len(t) + 1 :] in of
        ]
        if not found:
            raise ValueError(f"found {x!r} in {keyword}=, expected columns among {', '.join(sorted(have)) or 'none'}{meant(x, have)}")
        for t, c in found:
            if columns[t].fixed(c):
                sent[f"{t}/{c}"] = None
            elif c not in looked.setdefault(t, []):
                looked[t].append(c)
    return Chosen(",".join(sent) or "none", looked)


@dataclass
class Joined:
    """Columns by type that a keyword joins.

    Attributes:
        columns: their names, in order.
        with_gaps: those named by themselves that have missing or infinite values, with the numbers of these rows.
        left_out: the same of those that patterns left out.
    """

    columns: dict[str, list[str]] = field(default_factory=dict)
    with_gaps: dict[str, dict[str, int]] = field(default_factory=dict)
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)


def joined(keyword: str, patterns: Any, columns: Mapping[str, Columns], left_out: Sequence[str]) -> Joined:
    """The columns of each type that a keyword joins, in the order of the patterns, and within a pattern by name, in which
    numbers count as numbers.

    Patterns match columns of finite numbers: no times, categories, codes, strings and lists, none with missing or infinite values, none that features are
    made of, and none of `left_out`.

    Args:
        patterns: a pattern or a list of them for all types that have such columns, or a dict of these by type.

    Raises:
        TypeError: something that is no pattern.
        ValueError: a type that does not exist; a pattern that matches nothing; a column that cannot be joined.
    """
    out = Joined()
    if patterns is None:
        return out
    if isinstance(patterns, Mapping):
        for t, of in patterns.items():
            name = t if isinstance(t, str) else ":".join(t)
            if name not in columns:  # an edge type can be named by its relation
                same = [e for e in columns if e.split(":")[1:2] == [name]]
                if len(same) != 1:
                    raise ValueError(f"found {keyword}= for {t!r}, expected types among {', '.join(columns)}{meant(name, columns)}")
                name = same[0]
            _match(out, keyword, of, {name: columns[name]}, left_out)
        return out
    _match(out, keyword, patterns, columns, left_out)
    out.columns = {t: of for t, of in out.columns.items() if of}
    return out


def _match(out: Joined, keyword: str, patterns: Any, columns: Mapping[str, Columns], left_out: Sequence[str]) -> None:
    """Add the columns that patterns match to the columns of a keyword."""
    out.columns.update((t, []) for t in columns)
    named: dict[str, list[str]] = {t: [] for t in columns}  # by their own names, not by a pattern
    for p in [patterns] if isinstance(patterns, str) else texts(keyword, patterns, "names of columns, or patterns such as 'f*'"):
        hits, without = 0, {}
        for t, of in columns.items():
            if p in of:
                if not of.number(p):
                    raise ValueError(f"found {p!r} in {keyword}=, {_no_number(keyword, of, p)}")
                names = [p]
            else:
                numbers = sorted(
                    (c for c in fnmatch.filter(of, p) if of.number(c) and not c.startswith("#") and c not in left_out and c not in of.sources), key=_natural
                )
                without[t] = {c: gaps(of, c) for c in numbers if gaps(of, c)}
                names = [c for c in numbers if c not in without[t]]
            if p in of and p in named[t]:
                raise ValueError(f"found {p!r} twice in {keyword}=, expected each column once")
            named[t] += [p] * (p in of)
            hits += len(names)
            out.columns[t] += [c for c in names if c not in out.columns[t]]
        for t, found in without.items():
            out.left_out.setdefault(t, {}).update(found)
        if not hits and any(without.values()):
            raise ValueError(
                f"found {p!r} in {keyword}=, a pattern of columns with missing or infinite values: {listed(without, columns)}; name them to take them, or fill them before the import"
            )
        if not hits:
            have = sorted({c for of in columns.values() for c in of if not c.startswith("#")}, key=_natural)
            raise ValueError(
                f"found {p!r} in {keyword}=, expected a column of numbers, or a pattern of some, among {', '.join(have) or 'none'}{meant(p, have)}"
            )
    for t, names in named.items():
        out.with_gaps[t] = {c: gaps(columns[t], c) for c in names if gaps(columns[t], c)}
        out.left_out[t] = {c: n for c, n in out.left_out.get(t, {}).items() if c not in names}


def _no_number(keyword: str, columns: Columns, name: str) -> str:
    """What a column is that cannot be joined, and what to give in its place."""
    other = "features" if keyword == "x" else "edge_features"
    if not columns.fixed(name):
        return "a column of strings or lists, expected columns of numbers"
    if name in columns.codes:
        return f"a column of codes, expected columns of numbers, because codes are no quantities; give {other}=[{name!r}], whose codes an embedding takes"
    if columns.column(name).categories is not None:
        return f"a column of categories, expected columns of numbers, because codes are no quantities; give {other}=[{name!r}], whose codes an embedding takes"
    return f"a column of times, expected columns of numbers; give {other}=[{name!r}], of which the model makes differences, or import a column of numbers made of it"


def _natural(name: str) -> list[Any]:
    return [int(x) if x.isdecimal() else x for x in re.split("([0-9]+)", name)]


class Looked:
    """Columns of strings and lists, whose rows are looked up in the store by the ids of a batch.

    They are `Column` objects in the batch. Rows of edges are found by their positions (`Edges.find`), for which 16 bytes per
    edge are kept.
    """

    def __init__(self, store: Store, nodes: Mapping[str, list[str]], edges: Mapping[str, list[str]]) -> None:
        self.nodes = dict(nodes)
        self.edges: dict[EdgeType, list[str]] = {triple(e): names for e, names in edges.items()}
        self._store = store
        if self:
            # An object of its own, which stays at the version that the feed opens when a column of the store changes.
            self._store = Store(store.path)
            for columns, names in [(self._store.nodes[t].columns, of) for t, of in nodes.items()] + [
                (self._store.edges[e].columns, of) for e, of in edges.items()
            ]:
                for name in names:
                    columns.column(name)

    def __bool__(self) -> bool:
        return bool(self.nodes or self.edges)

    def name(self, schema: Schema) -> None:
        """Add the names of the columns to a schema of batches."""
        for t, names in self.nodes.items():
            schema.node_columns[t] += names
        for e, names in self.edges.items():
            schema.edge_columns[e] += names

    def add(self, schema: Schema, raw: Raw) -> None:
        """Add the rows to a batch."""
        c: dict[str, Any] = raw.columns
        for t, names in self.nodes.items():
            for name in names:
                c[key("nodes", t, "x", name)] = self._store.nodes[t].columns.column(name).take(schema.node(c, t, "n_id"))
        for e, names in self.edges.items():
            of = self._store.edges[e]
            ids = of.find(schema.edge(c, e, "e_id"))
            for name in names:
                c[key("edges", ":".join(e), "x", name)] = of.columns.column(name).take(ids)


def flags_of_columns(
    store: Store, form: str, label: str | None, nodes: tuple[Any, Any], edges: tuple[Any, Any], side: str = "edge_attr"
) -> tuple[dict[str, str | None], Looked, str]:
    """The flags of the columns of batches, the columns that are looked up, and a warning of missing values, empty for none.

    Args:
        nodes: the keywords ``features`` and ``x``.
        edges: the keywords ``edge_features`` and ``edge_attr``.
        side: the keyword of the columns of edges that come side by side, and the name of their column.
    """
    of_nodes = {t: n.columns for t, n in store.nodes.items()}
    of_edges = {":".join(e): of.columns for e, of in store.edges.items()}
    node_side = joined("x", nodes[1], of_nodes, ("y", "label") if label is None else (label,))
    edge_side = joined(side, edges[1], of_edges, ())
    warned = [_warned("x", node_side, of_nodes), _warned(side, edge_side, of_edges)]
    features = _with_label(store, nodes[0], label) if form == "pyg" else nodes[0]
    node_columns, edge_columns = chosen("features", features, of_nodes, node_side.columns), chosen("edge_features", edges[0], of_edges, edge_side.columns)
    looked = Looked(store, node_columns.looked, edge_columns.looked)
    if looked and form in ("dgl", "jraph"):
        names = [c for of in (node_columns, edge_columns) for names in of.looked.values() for c in names]
        raise ValueError(
            f"found the columns {', '.join(names)} of strings or lists with as_={form!r}, expected as_='numpy', 'pyg' or 'tfgnn', because its graphs hold arrays alone"
        )
    pairs = {**{f"{t}/x": of for t, of in node_side.columns.items()}, **{f"{e}/{side}": of for e, of in edge_side.columns.items()}}
    text = ";".join(f"{name}={','.join(of)}" for name, of in pairs.items() if of)
    return {"features": node_columns.sent, "edge_features": edge_columns.sent, "joined": text or None}, looked, "; ".join(filter(None, warned))


def _warned(keyword: str, of: Joined, columns: Mapping[str, Columns]) -> str:
    """What a warning says of the missing values of the columns that a keyword joins; empty for none."""
    parts = []
    if any(of.left_out.values()):
        parts.append(
            f"{keyword}= leaves out columns with missing or infinite values, which patterns do not match: {listed(of.left_out, columns)}; name them to take them, or fill them before the import"
        )
    if any(of.with_gaps.values()):
        parts.append(
            f"{keyword}= has columns with missing or infinite values, of which a loss becomes nan: {listed(of.with_gaps, columns)}; fill them before the import, or in the model"
        )
    return "; ".join(parts)


def _with_label(store: Store, features: str | Sequence[str], label: str | None) -> str | Sequence[str]:
    """The features, with a label that is a column of nodes; labels of links need not be named."""
    names = [n for n in features.split(",") if n != "none"] if isinstance(features, str) else list(features)
    if label is None or names == ["all"] or label in names or not any(label in n.columns for n in store.nodes.values()):
        return features
    return [*names, label]
