"""The link sets of TGB, in the layout of their folders: NAME_edgelist.csv, NAME_val_ns.pkl and NAME_test_ns.pkl, and those of version 2 with _v2.

The numbers of nodes are those that TGB gives them, which the negatives have, too: in the order of their first occurrence, or the items of a set of users and
items behind the users.
"""

from __future__ import annotations

import csv
import os
import re
from array import array
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from .._arrays import Array
from ._given import Given, Links, Lists, Others
from ._negative_lists import Found, negative_lists


class Set(NamedTuple):
    """A data set: how its table is read, and what its negatives are.

    Attributes:
        columns: the columns of the source, the target, the time and the relation, or None.
        items: the targets are items, numbered on their own.
        named: relations are named, too.
        others: the negatives of a link are all nodes but for those that the file has.
        share: the share of the times that validation and test have, each.
    """

    columns: tuple[int, int, int, int | None] = (1, 2, 0, None)
    items: bool = False
    named: bool = False
    others: bool = False
    share: float = 0.15


_ITEMS, _GRAPH = Set((0, 1, 2, None), items=True), Set((1, 2, 0, 3))
SETS: Mapping[str, Set] = {
    **dict.fromkeys(("tgbl-wiki", "tgbl-subreddit", "tgbl-lastfm", "tgbl-uci", "tgbl-enron"), _ITEMS),
    **dict.fromkeys(("tgbl-review", "tgbl-coin", "tgbl-comment", "tgbl-flight"), Set()),
    **dict.fromkeys(("tkgl-polecat", "tkgl-icews"), _GRAPH._replace(others=True)),
    "tkgl-yago": _GRAPH._replace(others=True, share=0.1),
    "tkgl-smallpedia": _GRAPH._replace(others=True, named=True),
    "tkgl-wikidata": _GRAPH._replace(named=True),
    **dict.fromkeys(("thgl-software", "thgl-github", "thgl-forum", "thgl-myket"), _GRAPH),
}
METRIC = "mrr"


def read(folder: str, name: str, split: str) -> Given:
    """A split of a set.

    Raises:
        ValueError: a file is damaged, or has no negatives of a link.
        OSError: it cannot be read.
    """
    of = SETS[name]
    table, version = _newest(folder, name)
    source, target, time, relation, names = _table(table, of)
    if name.startswith("tkgl-"):  # the inverse of each link is a link, of a relation of its own
        assert relation is not None
        inverse = relation + len(np.unique(relation))
        source, target, time = np.concatenate([source, target]), np.concatenate([target, source]), np.concatenate([time, time])
        relation = np.concatenate([relation, inverse])
    rows = _rows(time, of.share, split)
    rows = rows[np.argsort(time[rows], kind="stable")]
    links = Links(np.stack([source[rows], target[rows]]), time[rows], None if relation is None else relation[rows])
    if split == "train":
        return Given(name, split, links, names=names)
    path = os.path.join(folder, f"{name}_{'val' if split == 'valid' else split}_ns{version}.pkl")
    found = negative_lists(path)
    lists = Lists(found.flat, *_starts(path, found, links))
    if not of.others:
        return Given(name, split, links, names=names, targets=lists)
    nodes = int(target.max()) + 1 if len(target) else 0
    if len(found.flat) and int(found.flat.max()) >= nodes:
        raise ValueError(f"{path}: found the node {int(found.flat.max())}, expected numbers below {nodes}; give the file that belongs to {table}")
    return Given(name, split, links, names=names, targets=Others(nodes, lists))


def _newest(folder: str, name: str) -> tuple[str, str]:
    """The table of the newest version, and how names of that version end: "_v2"."""
    versions = [re.fullmatch(re.escape(name) + r"_edgelist(?:_v([0-9]{1,4}))?\.csv", f) for f in os.listdir(folder)]
    of = max((int(m.group(1) or 1) for m in versions if m), default=0)
    if not of:
        raise ValueError(f"{folder}: found no {name}_edgelist.csv, nor one of a version, such as {name}_edgelist_v2.csv, expected the table of the links")
    end = f"_v{of}" if os.path.exists(os.path.join(folder, f"{name}_edgelist_v{of}.csv")) else ""
    return os.path.join(folder, f"{name}_edgelist{end}.csv"), end


def _table(path: str, of: Set) -> tuple[Array, Array, Array, Array | None, tuple[str, ...] | None]:
    source, target, time, relation = (array("q") for _ in range(4))
    nodes: dict[str, int] = {}
    relations: dict[str, int] = {}
    last = max(c for c in of.columns if c is not None)
    for line, row in _csv(path):
        if len(row) <= last:
            raise ValueError(f"{path}:{line}: found {len(row)} columns, expected at least {last + 1}")
        u, v, t, r = of.columns
        time.append(_integer(path, line, "time", row[t]))
        if of.items:
            source.append(_integer(path, line, "user", row[u], 0))
            target.append(_integer(path, line, "item", row[v], 0))
        else:
            source.append(nodes.setdefault(_name(row[u], of), len(nodes)))
            target.append(nodes.setdefault(_name(row[v], of), len(nodes)))
        if r is not None:
            relation.append(relations.setdefault(row[r], len(relations)) if of.named else _integer(path, line, "relation", row[r], 0))
    sources, targets, times, of_links = (np.frombuffer(x, np.int64) if len(x) else np.empty(0, np.int64) for x in (source, target, time, relation))
    if of.items and len(sources):
        targets = targets + int(sources.max()) + 1
    return sources, targets, times, None if of.columns[3] is None else of_links, None if of.items else tuple(nodes)


def _name(x: str, of: Set) -> str:
    """A name of a node; of graphs with numbers for names, 01 is 1."""
    if of.columns[3] is not None and not of.named:
        try:
            return str(int(x))
        except ValueError:
            pass
    return x


def _csv(path: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with their lines, without the names of the columns."""
    with open(path, encoding="utf-8", newline="") as f:
        rows = csv.reader(f)
        try:
            next(rows, None)
            for row in rows:
                yield rows.line_num, row
        except (csv.Error, UnicodeDecodeError) as e:
            raise ValueError(f"{path}:{rows.line_num + 1}: found a line that is no CSV ({e}), expected one; the file is damaged") from None


def _integer(path: str, line: int, what: str, x: str, least: int = -(1 << 62)) -> int:
    """An integer, which some tables write as 5.0."""
    try:
        n = int(x)
    except ValueError:
        try:
            n = int(float(x))
        except (ValueError, OverflowError):
            raise ValueError(f"{path}:{line}: found the {what} {x[:40]!a}, expected an integer") from None
    if not least <= n < 1 << 62:
        raise ValueError(f"{path}:{line}: found the {what} {x[:40]!a}, expected an integer {'of at least 0' if not least else 'of 62 bits'}")
    return n


def _rows(time: Array, share: float, split: str) -> Array:
    """The links of a split: those behind the quantile of the times where it begins."""
    if not len(time):
        return np.empty(0, np.int64)
    valid, test = np.quantile(time, [1 - share - share, 1 - share])
    mask = {"train": time <= valid, "valid": (time <= test) & (time > valid), "test": time > test}[split]
    return np.flatnonzero(mask)


def _starts(path: str, found: Found, links: Links) -> tuple[Array, Array]:
    """Where the list of each link begins and ends. Its key is source, target and time, or time, source and relation."""
    source, target = links.edge_index
    time, relation = links.time, links.relation
    assert time is not None
    want = [source, target, time] if relation is None else [time, source, relation]
    if not len(source):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    row = matched(found.keys, want)
    if (row < 0).any():
        bad = int(np.argmin(row >= 0))
        of = ", ".join(str(int(c[bad])) for c in want)
        what = "(source, target, time)" if relation is None else "(time, source, relation)"
        raise ValueError(f"{path}: found no negatives of {what} = ({of}), expected those of each link; give the file that belongs to the table")
    return found.offsets[row], found.offsets[row + 1]


def matched(keys: Array, want: list[Array]) -> Array:
    """The number of the last key that equals each wanted one, or -1.

    Args:
        keys: [m, w].
        want: w arrays of [n].
    """
    m = len(keys)
    code = np.zeros(m + len(want[0]), np.int64)
    for c, column in enumerate(want):
        _, of = np.unique(np.concatenate([keys[:, c], column]), return_inverse=True)
        _, code = np.unique(code * (int(of.max()) + 1) + of.reshape(-1), return_inverse=True)
        code = code.reshape(-1)
    last = np.full(len(code) + 1, -1, np.int64)
    last[code[:m]] = np.arange(m)  # of equal keys the last one stays, as in a dict
    return last[code[m:]]
