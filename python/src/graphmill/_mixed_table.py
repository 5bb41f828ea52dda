"""The seeds of several types that a table has, with the type of each as a column."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arguments import mapping, meant
from ._arrays import Array
from ._folder import NO_TIME, Column
from ._loader import NodeLoader
from ._seeds import link_ends
from ._store import Nodes, Store
from ._whole.columns import MISSING
from ._whole.frames import fields

_OURS = ("seeds", "seed_type", "seed_time")  # keywords of a loader that the table takes the place of


class SeedTable:
    """A table whose rows are seeds, in types.

    Args:
        types, ids, ends, times: the names of its columns, as `MixedLoader.from_table` takes them.

    Attributes:
        rows: by name of a node type or edge type, in the order of their first rows, the rows of the table that are its seeds.
    """

    def __init__(self, store: Store, table: Any, types: str, ids: str, ends: tuple[str, str], times: str | None) -> None:
        if not (isinstance(ends, (tuple, list)) and len(ends) == 2):
            raise TypeError(f"found ends={ends!r}, expected the names of two columns, such as ('source', 'target')")
        names = {"types": types, "ids": ids, "ends[0]": ends[0], "ends[1]": ends[1], **({} if times is None else {"times": times})}
        for keyword, name in names.items():
            if not isinstance(name, str):
                raise TypeError(f"found {keyword}={name!r}, expected the name of a column of the table")
        self._store, self._ids, self._ends, self._times = store, ids, tuple(ends), times
        self._columns = fields(table, "table")
        lengths = {n: len(c) for n, c in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"table: found columns of several lengths, {', '.join(f'{n}: {k}' for n, k in lengths.items())}, expected one")
        of = self._column(types)
        if not len(of):
            raise ValueError("table: found no row, expected at least one seed")
        self._types: dict[str, tuple[str, ...]] = {}  # the node type, or the types of the ends with the relation between them
        self.rows = self._grouped(types, of)

    def _grouped(self, types: str, of: Column) -> dict[str, Array]:
        """The rows of each type."""
        texts = of.categories if of.categories is not None else of
        self._check_missing(types, of, np.arange(len(of)))
        if texts.string_offsets is None or of.shape:
            raise TypeError(f"table: column {types!r}: found {of.dtype} {list(of.shape)}, expected texts, names of node types or edge types")
        values = of.values.tolist() if of.categories is not None else of.tolist()
        spelled = of.categories.tolist() if of.categories is not None else None
        numbers: dict[Any, int] = {}
        codes = np.fromiter((numbers.setdefault(v, len(numbers)) for v in values), np.int64, len(values))
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(numbers) + 1))
        out: dict[str, list[Array]] = {}
        for i, v in enumerate(numbers):
            rows = order[starts[i] : starts[i + 1]]
            try:
                out.setdefault(self._named(spelled[v] if spelled is not None else v), []).append(rows)
            except ValueError as e:
                raise ValueError(f"table: row {rows[0]}, column {types!r}: {e}") from None
        return {name: parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts)) for name, parts in out.items()}

    def _named(self, name: str) -> str:
        """The full name of a type; two spellings of one, "buys" and "user:buys:item", are one."""
        if name in self._store.nodes:
            self._types[name] = (name,)
            return name
        relations = [e[1] for e in self._store.edge_types]
        if ":" not in name and name not in relations:
            known = [*self._store.nodes, *map(":".join, self._store.edge_types)]
            raise ValueError(f"found {name!r}, expected a node type or an edge type, one of {', '.join(known)}{meant(name, [*known, *relations])}")
        try:
            ends, of = link_ends(self._store, np.empty((2, 1), np.int64), name)
        except ValueError as e:
            text = re.sub(r"seed_type=\('(.*)', '(.*)'\)", r"'\1:\2'", str(e))  # a table has texts
            raise ValueError(re.sub("seed_type(=|: )", "", text)) from None
        if of is None:  # the two types of a link without a relation
            of = tuple((ends or "").split(","))  # type: ignore[assignment]
        assert of is not None
        self._types[":".join(of)] = of
        return ":".join(of)

    def _column(self, name: str) -> Column:
        if name not in self._columns:
            have = ", ".join(map(repr, (n for n in self._columns if not n.endswith(MISSING))))
            raise KeyError(f"table: found the columns {have or 'none'}, expected {name!r} among them")
        return self._columns[name]

    def _check_missing(self, name: str, c: Column, rows: Array) -> None:
        """Refuse a missing value in the rows of a column, naming the first."""
        flags = self._columns.get(name + MISSING)
        gone = np.zeros(len(rows), bool) if flags is None or flags.dtype != "bool" else flags.values[rows]
        if c.categories is not None:
            gone = gone | (c.values[rows] < 0)
        elif c.unit is not None:
            gone = gone | (c.values[rows] == NO_TIME)
        elif c.string_offsets is None and not c.shape and c.values.dtype.kind == "f":
            gone = gone | np.isnan(c.values[rows])
        if gone.any():
            raise ValueError(f"table: row {rows[np.argmax(gone)]}, column {name!r}: found a missing value, expected one; fill it, or drop the row")

    def _nodes(self, column: str, rows: Array, nodes: Nodes) -> Array:
        """The type-wise ids of the original ids that a column has in some rows."""
        c = self._column(column)
        self._check_missing(column, c, rows)
        if c.categories is not None:
            texts, found = c.categories.tolist(), c.values[rows].tolist()
            values: list[Any] = [texts[k] for k in found]
        else:
            some = c.take(rows)
            if c.shape or c.unit is not None or (c.string_offsets is None and c.values.dtype.kind not in "iuf"):
                raise TypeError(
                    f"table: column {column!r}: found {'times' if c.unit else f'{c.dtype} {list(c.shape)}'}, expected integers or texts, which are original ids"
                )
            values = some.tolist() if c.string_offsets is not None else some.values.tolist()
        # A column of integers with missing values, which other rows have, is one of floats.
        wanted = [int(x) if isinstance(x, float) and x.is_integer() else x for x in values]
        for row, x in zip(rows, wanted):
            if isinstance(x, float):
                raise ValueError(f"table: row {row}, column {column!r}: found {x!r}, expected an original id of {nodes.type}, an integer or a text")
        out = nodes._found(wanted)
        if (out < 0).any():
            i = int(np.argmax(out < 0))
            try:
                nodes.find(wanted[i])
            except KeyError as e:
                raise ValueError(f"table: row {rows[i]}, column {column!r}: {e.args[0]}") from None
        return out

    def seeds(self, name: str) -> dict[str, Any]:
        """The keywords of a loader for the seeds of a type."""
        rows, types = self.rows[name], self._types[name]
        if len(types) == 1:
            out: dict[str, Any] = {"seeds": self._nodes(self._ids, rows, self._store.nodes[name]), "seed_type": name}
        else:
            pair = [self._nodes(c, rows, self._store.nodes[t]) for c, t in zip(self._ends, (types[0], types[-1]))]
            out = {"seeds": np.stack(pair), "seed_type": types}
        if self._times is not None:
            c = self._column(self._times)
            self._check_missing(self._times, c, rows)
            values = c.values[rows] if c.string_offsets is None and not c.shape and c.categories is None else None
            if values is None or values.dtype.kind not in "iuf":
                raise TypeError(f"table: column {self._times!r}: found {c.dtype} {list(c.shape)}, expected a time per row: integers, floats or times")
            out["seed_time"] = values if c.unit is None else values.view(f"datetime64[{c.unit}]")
        return out

    def loaders(self, options: Mapping[str, Any], each: Mapping[str, Mapping[str, Any]] | None) -> dict[str, NodeLoader]:
        """A loader for each type, whose batches have the rows of the table as ``input_id``."""
        of: dict[str, Mapping[str, Any]] = {}
        for t, more in mapping("each", {} if each is None else each, '{"user": {"batch_size": 256}}').items():
            try:
                name = self._named(":".join(t) if isinstance(t, tuple) else str(t))
            except ValueError as e:
                raise ValueError(f"each: {e}") from None
            if name not in self.rows:
                raise ValueError(f"each: found {t!r}, of which the table has no row, expected types among {', '.join(self.rows)}")
            of[name] = mapping(f"each[{t!r}]", more, "keywords of its loader, such as {'batch_size': 256}")
        for given in (options, *of.values()):
            for keyword in _OURS:
                if keyword in given:
                    raise TypeError(f"found {keyword}=, expected it not, because the table has the seeds and their times")
        out: dict[str, NodeLoader] = {}
        try:
            for name, rows in self.rows.items():
                try:
                    out[name] = NodeLoader(self._store, **{**options, **of.get(name, {}), **self.seeds(name)})
                except (TypeError, ValueError) as e:
                    e.args = (_in_rows(str(e.args[0]), rows),)
                    raise
                out[name]._places = rows
        except BaseException:
            for x in out.values():
                x.close()
            raise
        return out


def _in_rows(text: str, rows: Array) -> str:
    """An error about seeds, with the rows of the table that they are."""
    return re.sub(r"\bseeds\[(\d+)\]", lambda m: f"row {rows[int(m[1])]} of the table", text)
