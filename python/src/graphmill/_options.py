"""The options of a loader as the arguments of ``graphmill feed``."""

from __future__ import annotations

import numbers
import os
from collections.abc import Container, Mapping, Sequence
from typing import Any, Callable

from ._arguments import choice, integer, meant, truth
from ._folder import edge_type
from ._messages import condition_texts
from ._store import Store
from ._table import CHOICES, DEFAULTS, FLAGS

_REPEATED = ("messages",)  # whose flags are given once per element of a list
_SAID = ("executor", "subgraph_type", "temporal_strategy")  # whose defaults are left out, as the plan says them


def feed_arguments(
    store: str | os.PathLike[str],
    fanout: Sequence[int] | Mapping[Any, Sequence[int]] | None,
    seed: int,
    threads: int | None,
    seed_type: str | None,
    options: Mapping[str, Any],
) -> list[str]:
    """The arguments of ``graphmill feed``; options are other flags, with the value True for flags without a value."""
    if threads is None:
        local = os.environ.get("LOCAL_WORLD_SIZE", "")
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = max(1, processors - (int(local) if local.isdecimal() else 1))
        if options.get("hosts"):
            threads *= 4  # they wait for answers much of the time
    seed, threads = integer("seed", seed, 0, (1 << 64) - 1), integer("threads", threads, 1)
    flags = {"seed": seed, "threads": threads, "fanout": None if fanout is None else fanout_text(fanout), "seed_type": seed_type, **options}
    arguments = [os.fspath(store)]
    for name, value in flags.items():
        flag = "--" + FLAGS.get(name, name.replace("_", "-"))
        if value is True:
            arguments.append(flag)
        elif name in _REPEATED and value is not None:
            arguments += [part for one in value for part in (flag, one)]
        elif value is not False and value is not None:
            arguments += [flag, str(value)]
    return arguments


def path_of(store: Any) -> str:
    """The path of a store.

    Raises:
        TypeError: it is no path.
    """
    try:
        return os.fsdecode(store)
    except TypeError:
        peer = {"torch_geometric": "from_pyg", "dgl": "from_dgl"}.get(type(store).__module__.partition(".")[0])
        advice = f"; graphmill.{peer} makes a Store of it" if peer else ""
        raise TypeError(f"found store= of type {type(store).__name__}, expected the path of a store, or a Store{advice}") from None


def flags_of(o: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """Keywords of the plan and its seeds as values of flags, checked as far as the store and the values tell.

    Raises:
        TypeError: a value of a wrong type.
        ValueError: a value that is none of those that the keyword has; a type or a column that the store lacks.
    """
    out: dict[str, Any] = {}
    for name, x in o.items():
        if x is None:
            continue
        if name in _READERS:
            x = _READERS[name](name, x, store)
        elif name in CHOICES:
            x = choice(name, getattr(x, "value", x), CHOICES[name])  # PyG has enums for some
            x = None if name in _SAID and x == DEFAULTS[name] else x
        elif not isinstance(x, (str, os.PathLike)):
            raise TypeError(f"found {name}={x!r}, expected a text")
        out[name] = x
    return out


def _positive(name: str, x: Any, _: Store) -> int:
    return integer(name, x, 1)


def _each(name: str, x: Any, _: Store) -> int | None:
    return integer(name, x, 0) or None


def negatives_each(name: str, x: Any) -> int | float:
    """A number of negatives per link, whole or with a fraction; 0 is none."""
    expected = "expected a number of negatives per link, such as 1, 0.5 or 1.5"
    if not isinstance(x, numbers.Real) or isinstance(x, numbers.Integral):
        try:
            return integer(name, x, 0)
        except TypeError:
            raise TypeError(f"found {name}={x!r}, {expected}") from None
    each = float(x)
    if not 0 <= each < float("inf"):
        raise ValueError(f"found {name}={x!r}, {expected}")
    return int(each) if each.is_integer() else each


def _amount(name: str, x: Any, _: Store) -> str | None:
    n = negatives_each(name, x)
    return repr(n) if n else None


def _flag(name: str, x: Any, _: Store) -> bool:
    return truth(name, x)


def _edge_column(name: str, x: Any, store: Store) -> str:
    have = {c for e in store.edges.values() for c in e.columns if not c.startswith("#")}
    if not isinstance(x, str):
        raise TypeError(f"found {name}={x!r}, expected the name of a column of edges")
    column: str = _spaced(x, have)
    if column.removesuffix("<=") not in have:
        raise ValueError(f"found {name}={column!r}, expected a column of edges among {', '.join(sorted(have)) or 'none'}{meant(column, have)}")
    return column


def _spaced(x: Any, have: Container[str]) -> Any:
    """The column of "time <=" without the space."""
    column, at, rest = x.partition("<=") if isinstance(x, str) else (x, "", "")
    return column.strip() + "<=" if at and not rest.strip() and column not in have else x


def edge_types(name: str, x: Any, store: Store) -> str:
    return ",".join(type_text(name, e, store) for e in _listed(name, x))


def _listed(name: str, x: Any) -> list[Any]:
    try:
        return x.split(",") if isinstance(x, str) else list(x)
    except TypeError:
        raise TypeError(f"found {name}={x!r}, expected edge types") from None


def _columns_by_type(name: str, x: Any, store: Store) -> str:
    if isinstance(x, str):
        return x
    if not isinstance(x, Mapping):
        raise TypeError(f"found {name}={x!r}, expected a dict from types to columns")
    parts = []
    for t, column in x.items():
        if name == "before_nodes":
            if t not in store.nodes:
                raise ValueError(f"found {name}= for {t!r}, expected node types among {', '.join(store.node_types)}{meant(t, store.node_types)}")
            have, text = store.nodes[t].columns, t
        else:
            text = type_text(name, t, store)
            have = store.edges[text].columns
        column = _spaced(column, have)
        if not isinstance(column, str) or column.removesuffix("<=") not in have:
            raise ValueError(
                f"found {name}={{{t!r}: {column!r}}}, expected a column of {text} among {', '.join(c for c in have if c[0] != '#') or 'none'}{meant(column, have)}"
            )
        parts.append(f"{text}={column}")
    return ";".join(parts)


def _exclude(name: str, x: Any, store: Store) -> str:
    if isinstance(x, str) and x.startswith("reverse:"):
        return "reverse:" + type_text(name, x[len("reverse:") :], store)
    return choice(name, x, ("self", "reverse:RELATION"))


def _number(name: str, x: Any, _: Store) -> str:
    if isinstance(x, (bool, bytes)) or (not isinstance(x, (str, int, float)) and not hasattr(x, "__index__")):
        raise TypeError(f"found {name}={x!r}, expected a number or a text")
    return str(x)


def _seed_time(name: str, x: Any, _: Store) -> str:
    if not isinstance(x, str):
        raise TypeError(f"found {name}= of type {type(x).__name__}, expected the name of the column of the seed nodes or links that has their times")
    return x


def _negatives_from(name: str, x: Any, _: Store) -> str:
    return str(os.fspath(x))  # arrays are no flag


def _edge_type(name: str, x: Any, store: Store) -> str:
    return type_text(name, x, store)


def _sampler(name: str, x: Any, _: Store) -> str:
    if not isinstance(x, str):  # a sampler of torch
        raise ValueError(
            f"found {name}=, expected one of {', '.join(map(repr, CHOICES[name]))}, or seeds= with shuffle=True or order=, because the feed orders the seeds itself"
        )
    return choice(name, x, CHOICES[name])


LAYERED = ("ladies", "fastgcn", "hgt")  # a fanout is a budget of nodes of a type


def _above_0(name: str, x: Any, _: Store) -> str:
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        raise TypeError(f"found {name}={x!r}, expected a number")
    if not x > 0:
        raise ValueError(f"found {name}={x!r}, expected a number above 0")
    return repr(float(x))


def _hosts(name: str, x: Any, _: Store) -> str:
    hosts = [x] if isinstance(x, str) else list(x) if isinstance(x, Sequence) else []
    if not hosts or not all(isinstance(host, str) for host in hosts):
        raise TypeError(f"found {name}={x!r}, expected a list of addresses HOST:PORT")
    return ",".join(hosts)


_READERS: dict[str, Callable[[str, Any, Store], Any]] = {
    "sampler": _sampler,
    "walk_length": _positive,
    "importance": _each,
    "alpha": _above_0,
    "eps": _above_0,
    "walks": _positive,
    "restart": _above_0,
    "replace": _flag,
    "weight": _edge_column,
    "before": _edge_column,
    "before_columns": _columns_by_type,
    "before_nodes": _columns_by_type,
    "untimed": edge_types,
    "window": _number,
    "half_life": _number,
    "memory": _number,
    "seed_time": _seed_time,
    "limit_seeds": _positive,
    "negatives": _amount,
    "negatives_from": _negatives_from,
    "positives": _edge_type,
    "exclude": _exclude,
    "messages": condition_texts,
    "hosts": _hosts,
}


def type_text(keyword: str, name: Any, store: Store) -> str:
    """An edge type as "src:rel:dst"; errors name the keyword that it was given to."""
    try:
        return ":".join(edge_type(name, store.edge_types))
    except KeyError as e:
        raise ValueError(f"{keyword}: {e.args[0]}") from None
    except TypeError:
        raise TypeError(f"found {keyword}= for {name!r}, expected an edge type: three names, or a relation") from None


def checked_fanout(fanout: Any, store: Store, sampler: Any = None) -> Any:
    """A fanout whose edge types are edge types of the store, written with all three names; with a sampler that has budgets of nodes, whose
    node types are node types of the store."""
    if isinstance(fanout, (list, tuple, str, Mapping)) and len(fanout) == 0:
        raise ValueError(f"found fanout={fanout!r} without a hop, expected the edges per node at each hop; try fanout=[15, 10]")
    if not isinstance(fanout, Mapping):
        return fanout
    out: dict[str, Any] = {}
    for name, hops in fanout.items():
        if isinstance(hops, (list, tuple, str)) and len(hops) == 0:
            raise ValueError(f"found fanout= with {hops!r} for {name!r}, expected the edges per node at each hop; leave out edge types that are not followed")
        if sampler in LAYERED:
            if name not in store.nodes:
                raise ValueError(
                    f"found fanout= for {name!r}, expected one of the node types {list(store.nodes)}, because sampler={sampler!r} chooses nodes of a type"
                )
            out[name] = hops
            continue
        text = type_text("fanout", name, store)
        if text in out:
            raise ValueError(f"found fanout= of {text} twice, expected each edge type once")
        out[text] = hops
    return out


def fanout_text(fanout: Sequence[int] | Mapping[Any, Sequence[int]]) -> str:
    if isinstance(fanout, Mapping):
        return ";".join(f"{name if isinstance(name, str) else ':'.join(name)}={fanout_text(f)}" for name, f in fanout.items())
    if isinstance(fanout, str):
        return fanout
    try:
        hops = list(fanout)
    except TypeError:
        raise TypeError(f"found fanout={fanout!r}, expected a list with the edges per node at each hop") from None
    return ",".join(str(integer("fanout", n, -1)) for n in hops)
