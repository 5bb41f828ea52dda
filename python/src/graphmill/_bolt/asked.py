"""What is asked of a database: its whole graph or queries, and of these what is above the marks."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

from .._command import GraphmillError
from .._store import Store
from .._whole.build import EDGE, NODE, triple_of
from .marks import Mark, later, mark_of, marks_of, parsed
from .rows import Rows
from .server import Server


class Asked:
    """What is read of a database.

    Args:
        server: the database.
        key: the property whose value is the id of a node, of all nodes or by label; None: the element id of the database.
        mark: the property that grows with each row, of nodes and of relationships, or of both as a pair; of queries, by type. None: all rows are read.
        queries: queries by node type and edge type in place of the whole graph.
    """

    def __init__(self, server: Server, key: Any, mark: Any, queries: Mapping[Any, str] | None) -> None:
        self.server = server
        if queries is not None and key is not None:
            raise ValueError("found key= with queries=, expected one of them; return the key AS id")
        for name, texts in (("key", key), ("mark", mark)):
            of = [texts] if isinstance(texts, str) else [x for pair in texts.items() for x in pair] if isinstance(texts, Mapping) else texts or ()
            if "" in of:
                raise ValueError(f"found an empty name in {name}=, expected a property of the database; name it, or leave {name}= out")
        self._key = key
        self._keys = sorted({key} if isinstance(key, str) else set(key.values()) if key else set())
        self.queries: dict[Any, str] | None = None
        if queries is not None:
            self.queries = {t if isinstance(t, str) and t.count(":") != 2 else triple_of(t): q for t, q in queries.items()}
        pair = (mark, mark) if isinstance(mark, str) or mark is None else mark
        if self.queries is not None:
            others = sorted(map(_name, set(mark) - {*self.queries, *map(_name, self.queries)})) if isinstance(mark, Mapping) else []
            if others:
                raise ValueError(
                    f"found mark= of {', '.join(others)}, expected types among those of queries=, {', '.join(map(_name, self.queries))}; correct the name"
                )
            self._marks: dict[Any, str | None] = {
                t: mark if isinstance(mark, str) else mark.get(t) or mark.get(_name(t)) if mark else None for t in self.queries
            }
        else:
            if isinstance(pair, Mapping) or len(pair) != 2 or (not all(isinstance(n, str) for n in pair) and mark is not None):
                raise ValueError(f"found mark={mark!r}, expected the name of a property, or two: of nodes and of relationships")
            self._marks = {NODE: pair[0], EDGE: pair[1]}
        self._types: dict[tuple[str, ...], str] = {}  # by labels
        self.had: dict[Any, Mark | None] = {}  # of the store, as _marks
        self.last: dict[Any, Mark] = {}  # of the rows that were read, by type
        self.marked = any(self._marks.values())
        self.elements = queries is None and key is None

    def after(self, store: Store) -> None:
        """Ask for what the store has not.

        Raises:
            GraphmillError: the store has no marks, or those of other properties.
        """
        texts = marks_of(store.meta)
        for of, name in self._marks.items():
            if name is None:
                continue
            self.had[of] = None
            for t, text in texts.items():
                if (_name(of) == t) if self.queries is not None else ((t.count(":") == 2) == (of == EDGE)):
                    m = parsed(text, name, store.path)
                    if m is not None:
                        self.had[of] = later(self.had[of], m, store.path)
        if not any(self.had.values()):
            raise GraphmillError(
                f"{store.path}: found a store without marks of a database, expected one that was read with mark=; import the database anew with overwrite=True"
            )

    def rows(self, folder: str) -> Rows:
        """Read all rows into a file of a folder."""

        def work(tx: Any) -> Rows:
            rows = Rows(folder)
            self.last = {}
            try:
                if self.queries is not None:
                    for t, query in self.queries.items():
                        self._add_query(rows, tx, t, query)
                else:
                    self._add_graph(rows, tx)
                    self._warn_of_labels()
                rows.end()
            finally:
                rows.close()
            return rows

        return self.server.read(work)

    def _warn_of_labels(self) -> None:
        """Warn of labels of the key that no node has, which may be misspelled. What is new in a database need not have all labels."""
        found = {x for labels in self._types for x in labels}
        missing = sorted(set(self._key) - found) if isinstance(self._key, Mapping) and not any(self.had.values()) else []
        if missing:
            warnings.warn(
                f"{self.server.name}: key=: found no node with the label {' or '.join(map(repr, missing))}, expected one of {', '.join(sorted(found)) or 'none'}; nodes of labels without a key have their element ids",
                stacklevel=2,
            )

    def lines(self) -> str:
        """The lines of graph.yaml that say the marks."""
        if not self.last:
            return ""
        return "marks:\n" + "".join(f"  {json.dumps(_name(t), ensure_ascii=False)}: {json.dumps(m.text, ensure_ascii=False)}\n" for t, m in self.last.items())

    def _add_graph(self, rows: Rows, tx: Any) -> None:
        # Values and no nodes or relationships, since the driver keeps these until the last row. Relationships first: then the nodes that they lead to are there, unless somebody
        # deletes meanwhile.
        id_, name = self.server.element_id, self._marks[EDGE]
        query = (
            f"MATCH ()-[r]->() {_new('r', name)}WITH r, startNode(r) AS a, endNode(r) AS b RETURN {id_('r')} AS id, type(r) AS type, properties(r) AS properties, "
            f"{id_('a')} AS source, labels(a) AS from, {_values('a', self._keys)} AS out, {id_('b')} AS target, labels(b) AS to, {_values('b', self._keys)} AS in{_order('r', name)}"
        )
        for r, rel, properties, source, from_, out, target, to, in_ in tx.run(query, mark=self._parameter(EDGE)):
            type_ = (self._type(from_, source), _rel(rel), self._type(to, target))
            if name is None or self._is_new(EDGE, type_, properties.get(name), f"{self.server.name}: relationship {r} ({rel})"):
                rows.add(type_, f"relationships {':'.join(type_)}", (self._id(from_, out, source), self._id(to, in_, target)), properties)
        name = self._marks[NODE]
        query = f"MATCH (n) {_new('n', name)}RETURN {id_('n')} AS id, labels(n) AS labels, properties(n) AS properties{_order('n', name)}"
        for n, labels, properties in tx.run(query, mark=self._parameter(NODE)):
            label = self._type(labels, n)
            if name is None or self._is_new(NODE, label, properties.get(name), f"{self.server.name}: node {n} ({label})"):
                key = self._id(labels, [properties.get(k) for k in self._keys], n)
                if self._key is not None:
                    properties.pop(self._property(labels), None)
                rows.add(label, f"nodes {label}", (key,), properties)

    def _add_query(self, rows: Rows, tx: Any, type_: Any, query: str) -> None:
        name = self._marks[type_]
        place = f"{self.server.name}: query of {_name(type_)}"
        for record in tx.run(query, mark=self._parameter(type_)):
            if name is not None and name not in record.keys():
                raise GraphmillError(f"{place}: found the columns {', '.join(record.keys())}, expected the mark {name!r} among them; return it AS {name}")
            for n, v in record.items():
                if hasattr(v, "element_id") or hasattr(v, "start_node"):
                    raise GraphmillError(
                        f"{place}: found a node, a relationship or a path in the column {n!r}, expected values; return its properties, as in RETURN n.name AS name"
                    )
            if name is None or self._is_new(type_, type_, record[name], place):
                rows.add(type_, f"query of {_name(type_)}", (), record)
            else:
                raise GraphmillError(
                    f"{place}: found a row whose {name!r} is not above the mark of the store, expected new rows; let the query have: WHERE $mark IS NULL OR x.{name} > $mark"
                )
        if type_ not in rows.tables and not self.had:
            raise GraphmillError(f"{place}: found no rows, expected some; correct the query")

    def _parameter(self, of: Any) -> Any:
        m = self.had.get(of)
        return None if m is None else m.parameter()

    def _is_new(self, of: Any, type_: Any, value: Any, where: str) -> bool:
        """Whether a row is above the mark, which then grows. The database compares times also by their zones, so it may give rows that are not."""
        name = self._marks[of]
        if name is None:
            return True
        m, had = mark_of(name, value, where), self.had.get(of)
        if had is not None and later(had, m, where) is had:
            return False
        self.last[type_] = later(self.last.get(type_), m, where)
        return True

    def _type(self, labels: Any, element_id: str) -> str:
        """The node type of labels, as an import of an export has it."""
        known = self._types.get(tuple(labels))
        if known is not None:
            return known
        names = sorted({x.strip() for x in labels} - {""}, key=str.encode)
        for n in names:
            if ";" in n or n == NODE:
                raise GraphmillError(
                    f"{self.server.name}: node {element_id}: found the label {n!r}, expected one without ';' that is not {NODE}; rename the label"
                )
        type_ = self._types[tuple(labels)] = _plain(";".join(names)) or NODE
        return type_

    def _property(self, labels: Any) -> str | None:
        """The property that is the id of nodes with labels; None: they have their element ids."""
        if self._key is None or isinstance(self._key, str):
            return self._key
        found = sorted({self._key[x] for x in labels if x in self._key})
        if len(found) > 1:
            raise GraphmillError(
                f"{self.server.name}: found nodes with the labels {', '.join(sorted(labels))}, which have the keys {' and '.join(found)}, expected one; correct key="
            )
        return found[0] if found else None

    def _id(self, labels: Any, values: list[Any], element_id: str) -> Any:
        used = self._property(labels)
        if used is None:
            return element_id
        value = values[self._keys.index(used)]
        if isinstance(value, bool) or not isinstance(value, (int, str)) or value == "":
            raise GraphmillError(
                f"{self.server.name}: node {element_id} ({self._type(labels, element_id)}): found {'no value' if value is None else repr(value)} in {used!r}, expected an integer or a text, which is the key; set it, or leave key= out"
            )
        return value


def _name(t: Any) -> str:
    return t if isinstance(t, str) else ":".join(t)


def _plain(name: str) -> str:
    """A name of the database as the name of a type, which can have neither ':' nor control characters."""
    name = "".join(" " if c < " " or c == "\x7f" else c for c in name)
    return name.replace("%", "%25").replace(":", "%3A") if ":" in name else name


def _rel(name: str) -> str:
    return _plain(name.strip()) or EDGE[1]


def _quoted(name: str) -> str:
    """A name of Cypher."""
    return "`" + name.replace("`", "``") + "`"


def _values(of: str, names: list[str]) -> str:
    return "[" + ", ".join(f"{of}.{_quoted(n)}" for n in names) + "]"


def _new(of: str, name: str | None) -> str:
    """The rows above the mark, and those that are not comparable with it, which must be errors."""
    return "" if name is None else f"WHERE $mark IS NULL OR NOT coalesce({of}.{_quoted(name)} <= $mark, false) "


def _order(of: str, name: str | None) -> str:
    return "" if name is None else f" ORDER BY {of}.{_quoted(name)}"
