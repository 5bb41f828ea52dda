"""The options of a loader as the arguments of ``graphmill feed``."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from ._arguments import integer
from ._store import Store


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
        threads = max(1, len(os.sched_getaffinity(0)) - (int(local) if local.isdecimal() else 1))
    seed, threads = integer("seed", seed, 0, (1 << 64) - 1), integer("threads", threads, 1)
    flags = {"seed": seed, "threads": threads, "fanout": None if fanout is None else fanout_text(fanout), "seed_type": seed_type, **options}
    arguments = [os.fspath(store)]
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(flag)
        elif value is not False and value is not None:
            arguments += [flag, str(value)]
    return arguments


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


def names_of(names: str | Sequence[str]) -> str:
    return names if isinstance(names, str) else ",".join(names) or "none"


def with_label(store: str | os.PathLike[str], features: str | Sequence[str], label: str | None) -> str | Sequence[str]:
    """The features, with a label that is a column of nodes; labels of links need not be named."""
    names = [n for n in features.split(",") if n != "none"] if isinstance(features, str) else list(features)
    if label is None or names == ["all"] or label in names or not any(label in n.columns for n in Store(store).nodes.values()):
        return features
    return [*names, label]
