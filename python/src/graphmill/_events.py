"""The loader of events: the edges of a store in the order of their times."""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

import numpy as np

from . import _arrays, _identity, _ranks
from ._arguments import choice, integer, truth
from ._arrays import Array
from ._columns import flags_of_columns
from ._command import GraphmillError
from ._feed import Connection, Feeding
from ._folder import EdgeType, edge_type
from ._messages import condition_texts
from ._negatives import negative_lists
from ._options import edge_types, feed_arguments, path_of
from ._order import LAW, check_state
from ._schema import key
from ._store import Store

_FORMS = ("numpy", "torch")
_HISTORIES = ("event", "batch", "pyg")
_MOST = (1 << 63) - 1


class _Slot:
    """Batches that came together: their columns by name, one batch after the other, and the rows of each batch in them."""

    def __init__(self, columns: Mapping[str, Any], sizes: Mapping[str, list[int]], loader: EventLoader) -> None:
        self.columns, self.sizes, self.loader = columns, sizes, loader
        self._parts: dict[str, Sequence[Any]] = {}

    def part(self, column: str, of: str, at: int) -> Any:
        """The rows of one batch in a column, which has as many as ``of`` says. A column is divided at the first use, for all batches: one call for many tensors."""
        parts = self._parts.get(column)
        if parts is None:
            x, sizes = self.columns[column], self.sizes[of]
            parts = [p.reshape(2, n) for p, n in zip(_divided(x, [2 * n for n in sizes]), sizes)] if column == "edge_index" else _divided(x, sizes)
            self._parts[column] = parts
        return parts[at]


def _divided(x: Any, sizes: list[int]) -> Sequence[Any]:
    if not isinstance(x, np.ndarray):
        parts: Sequence[Any] = x.split(sizes)
        return parts
    ends = list(itertools.accumulate(sizes))
    return [x[end - n : end] for n, end in zip(sizes, ends)]


class EventBatch:
    """A batch of events, as NumPy arrays or torch tensors. They are views of shared memory, made when they are asked for, and hold it.

    Nodes of all types share one numbering, as in PyG's ``to_homogeneous``: those of the first type of the store come first (`EventLoader.first`). With one node
    type, a node's number is its row in the store.

    Attributes:
        number: the batch's number in the epoch, over all ranks.
        n_id: int64 [nodes], the ends of the events, the negatives and all neighbours, ascending and each once.
        src, dst, t: int64 [events], the numbers of the ends of each event, and its time (float64 where times are floats).
        src_index, dst_index: int64 [events], their places in ``n_id``.
        event: int64 [events], the number of each event in the order of time, among all events of the store.
        e_id: int64 [events], the position of each event in the imported input; with several edge types of events within its type. None with
            ``edge_ids=False``.
        neg_dst, neg_index: with negatives, int64 [events, negatives], their numbers and places in ``n_id``; [all] where events have several
            numbers of them.
        neg_ptr: int64 [events + 1], where events have several numbers of negatives: those of event i are from ``neg_ptr[i]`` to ``neg_ptr[i + 1]``; else None.
        edge_index: int64 [2, neighbours]: the place of each neighbour in ``n_id``, and its root. With ``history="event"`` a root is a place in
            ``root_index``, else in ``n_id``. The neighbours of a root follow each other, latest first.
        root_index: int64 [roots], with ``history="event"`` the places of the roots in ``n_id``: all sources, all destinations, then all negatives; else None.
        neighbor_event: int64 [neighbours], the number of the event by which each is a neighbour.
        neighbor_t: the times of these events, where edges have columns; else None.
        x: columns of the nodes, by name; with several node types by type, for the nodes of ``n_id`` that have it, in their order.
        edge_attr: columns of the events, by name; with several edge types of events by type, for the events that have it, in their order.
        neighbor_attr: the same of the neighbours' events.
        msg, neighbor_msg: the columns of ``msg=``, side by side, of events and of neighbours' events.
        event_type, neighbor_type: with several edge types of events, int64: their places in `EventLoader.event_types`; else None.
    """

    def __init__(self, slot: _Slot, at: int, number: int) -> None:
        self._slot, self._at, self.number = slot, at, number

    def __getattr__(self, name: str) -> Any:
        make = _MADE.get(name)
        if make is None:
            raise AttributeError(f"found no attribute {name!r} of a batch of events, expected one of {', '.join(_MADE)}")
        made = make(self)
        self.__dict__[name] = made
        return made

    def __len__(self) -> int:
        """The number of events."""
        return self._slot.sizes["ends/events"][self._at]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_MADE]

    def __repr__(self) -> str:
        sizes = self._slot.sizes
        return f"EventBatch({self.number}: {len(self)} events, {sizes['ends/nodes'][self._at]} nodes, {sizes['ends/edges'][self._at]} neighbours)"

    def to(self, device: Any, non_blocking: bool = False) -> EventBatch:
        """A copy on a device, of tensors.

        Raises:
            ValueError: the batch has arrays.
        """
        if self._slot.loader._form != "torch":
            raise ValueError(f"found device={device!r} for a batch of NumPy arrays, expected tensors; give as_='torch'")
        out = EventBatch(self._slot, self._at, self.number)
        for name in _MADE:
            out.__dict__[name] = _moved(getattr(self, name), device, non_blocking)
        return out

    def _part(self, column: str, of: str) -> Any:
        return self._slot.part(column, of, self._at)

    def _typed(self, at: str) -> Any:
        """The columns of each type below a place; of one type without its name."""
        s = self._slot
        out = {t: {c: self._part(path, of) for c, path in names.items()} for t, of, names in s.loader._columns[at]}
        return out if s.loader._several[at] else next(iter(out.values()), {})

    def _side(self, at: str) -> Any:
        columns = self._typed(at)
        if not self._slot.loader._several[at]:
            return columns.get("msg")
        return {t: of["msg"] for t, of in columns.items() if "msg" in of}

    def _roots(self) -> Any:
        if not self._slot.loader._roots:
            return None
        parts = [self.src_index, self.dst_index]
        if "neg_index" in self._slot.columns:
            parts.append(self._part("neg_index", "ends/negatives"))
        return self._slot.loader._joined(parts)

    def _negatives(self) -> Any:
        if "neg_index" not in self._slot.columns:
            return None
        flat = self._part("neg_index", "ends/negatives")
        return flat if "neg_end" in self._slot.columns else flat.reshape(len(self), -1) if len(self) else flat

    def _negative_ptr(self) -> Any:
        if "neg_end" not in self._slot.columns:
            return None
        ends = self._part("neg_end", "ends/events")
        return self._slot.loader._joined([ends[:0].new_zeros(1) if hasattr(ends, "new_zeros") else np.zeros(1, np.int64), ends])

    def _input(self) -> Any:
        return self._slot.loader._typed_ids(self)

    def _if(self, column: str, ends: str) -> Any:
        return self._part(column, ends) if column in self._slot.columns else None


_ENDS = {"nodes": "", "events": "ends/events", "neighbors": "ends/edges"}
_MADE: dict[str, Callable[[EventBatch], Any]] = {
    "n_id": lambda b: b._part("n_id", "ends/nodes"),
    "src": lambda b: b._part("src", "ends/events"),
    "dst": lambda b: b._part("dst", "ends/events"),
    "t": lambda b: b._part("t", "ends/events"),
    "src_index": lambda b: b._part("src_index", "ends/events"),
    "dst_index": lambda b: b._part("dst_index", "ends/events"),
    "event": lambda b: b._part("event", "ends/events"),
    "e_id": lambda b: b._input(),
    "neg_dst": lambda b: None if b.neg_index is None else b.n_id[b.neg_index],
    "neg_index": lambda b: b._negatives(),
    "neg_ptr": lambda b: b._negative_ptr(),
    "edge_index": lambda b: b._part("edge_index", "ends/edges"),
    "root_index": lambda b: b._roots(),
    "neighbor_event": lambda b: b._part("neighbor/event", "ends/edges"),
    "neighbor_t": lambda b: b._if("neighbor/t", "ends/edges"),
    "x": lambda b: b._typed("nodes"),
    "edge_attr": lambda b: b._typed("events"),
    "neighbor_attr": lambda b: b._typed("neighbors"),
    "msg": lambda b: b._side("events"),
    "neighbor_msg": lambda b: b._side("neighbors"),
    "event_type": lambda b: b._if("type", "ends/events"),
    "neighbor_type": lambda b: b._if("neighbor/type", "ends/edges"),
}


def _moved(x: Any, device: Any, non_blocking: bool) -> Any:
    if isinstance(x, dict):
        return {name: _moved(of, device, non_blocking) for name, of in x.items()}
    return x.to(device, non_blocking=non_blocking) if hasattr(x, "to") else x


class EventLoader(Feeding):
    """The edges of a store as events, in the order of their times, with the neighbours that their ends had before. A separate process makes the batches ahead.

    Each pass over it is the next epoch, from the first event to the last; epochs differ in the negatives that are drawn. Batch b of an epoch is the same with any
    number of threads and ranks, and after any restart: no memory of neighbours is replayed.

    Args:
        store: path of a store, or a `Store`.
        batch_size: events per batch; default: 200.
        neighbors: the latest neighbours of each end of an event, and of each negative; 0 is none. An event makes each of its ends a neighbour of the other.
        types: the edge types whose edges are events; default: all that have the column ``time``.
        time: the column of edges with their times; default: the only column of times or, where there is none, the one named time, timestamp, ts or t. Events of
            one time are in the order of the imported input.
        events: the events that batches have: ``"split=train"``, a list of several values, a column of bools, or a dict by edge type. Neighbours are of all events,
            so batches of ``"split=test"`` see those of train and valid that came before. Default: all.
        every: make a batch of each window of time that has events, in place of ``batch_size``: a number in the unit of the times, or ``"1d"``, ``"12h"``.
            Windows begin at the multiples of this length, days so at midnight UTC. With ``neighbors=0``, batches are the snapshots of a graph in discrete time.
        history: which neighbours count. "event", the default: those by events whose time is below the event's, so that nothing of an event's own moment is
            seen, and its neighbours do not depend on the batch; "batch": those by events before the batch; "pyg": the same as PyG's LastNeighborLoader keeps
            them, which of more than ``neighbors`` events of a node in a batch are not always the latest.
        negatives: destinations to draw per event, between the least and the greatest of its edge type, as PyG's TemporalDataLoader does.
        negatives_from: the destinations of each event that batches have, in place of draws: node ids [events, negatives] in the order of time; a list of arrays,
            or (ids, offsets), for lists of several lengths, such as those of TGB; or an .npy file.
        as_: "numpy", the default, or "torch".
        features: names of the columns of nodes of a batch, as COLUMN or TYPE/COLUMN, "all" (the default) or "none".
        edge_features: the same of edges: they come with events (``edge_attr``) and with neighbours (``neighbor_attr``).
        x: columns of nodes that come side by side as one column x: names or patterns, or a dict of these by node type.
        msg: columns of edges that come side by side as ``msg`` and ``neighbor_msg``: names or patterns, or a dict by edge type.
        seed: the random seed of the draws.
        rank, world_size: rank r gets the batches r, r + world_size, ...
        drop_last: leave out a last batch of fewer events.
        threads: number of threads that make batches; default: the number of cores less one.
        slots: how many lots of batches can be ready or held at a time; batches come in lots of about 4 MiB.
        memory: a bound on the memory of the events and columns: bytes, or "8GiB". What needs more is refused.
        http: an address "HOST:PORT" at which the feed answers /healthz, /readyz and /metrics, as in `NodeLoader`.
        edge_ids: False leaves e_id out.

    Raises:
        GraphmillError: the store cannot be read, or lacks what is asked for.
        ValueError: an argument that cannot be, or a type or column that the store lacks.

    Example::

        loader = graphmill.EventLoader("wiki.store", batch_size=200, neighbors=10, events="split=train", negatives=1, msg=["f*"], as_="torch")
        for batch in loader:
            memory, last = model.memory(batch.n_id)
            root = batch.root_index
            z = model.attend(memory, memory[root], batch.edge_index, last, batch.neighbor_t, batch.neighbor_msg)
            src, dst, neg = z.split([len(batch), len(batch), len(batch)])
            ...
            model.memory.update_state(batch.src, batch.dst, batch.t, batch.msg)
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | Store,
        batch_size: int | None = None,
        neighbors: int = 10,
        *,
        types: Any = None,
        time: str | None = None,
        events: str | Sequence[str] | Mapping[Any, Any] | None = None,
        every: float | str | None = None,
        history: str = "event",
        negatives: int = 0,
        negatives_from: Any = None,
        as_: str = "numpy",
        features: str | Sequence[str] = "all",
        edge_features: str | Sequence[str] = "all",
        x: Any = None,
        msg: Any = None,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        drop_last: bool = False,
        threads: int | None = None,
        slots: int = 4,
        memory: int | str | None = None,
        http: str | None = None,
        edge_ids: bool = True,
    ) -> None:
        self._form = choice("as_", as_, _FORMS)
        self._rank, self._world = _ranks.checked(rank, world_size)
        self._slots = integer("slots", slots, 1, 1024)
        if batch_size is not None and every is not None:
            raise ValueError(f"found batch_size={batch_size} and every={every!r}, expected one of them")
        self._store = store if isinstance(store, Store) else Store(path_of(store))
        for name, value in (("time", time), ("every", every)):
            if value is not None and (not isinstance(value, str) if name == "time" else isinstance(value, bool) or not isinstance(value, (str, int, float))):
                raise TypeError(f"found {name}={value!r}, expected {'the name of a column' if name == 'time' else 'a number, or a text such as 1d'}")
        if http is not None and not isinstance(http, str):
            raise TypeError(f"found http={http!r}, expected a text")
        given = negative_lists(negatives_from, None)
        of_columns, looked, gaps = flags_of_columns(self._store, "numpy", None, (features, x), (edge_features, msg), "msg")
        if looked:
            names = [c for of in (looked.nodes, looked.edges) for names in of.values() for c in names]
            raise ValueError(f"found the columns {', '.join(names)} of strings or lists, expected columns of numbers, as batches of events have no others")
        flags = {
            "types": None if types is None else _types(types, self._store),
            "time": time,
            "batch_size": None if batch_size is None else integer("batch_size", batch_size, 1, _MOST),
            "every": every,
            "drop_last": truth("drop_last", drop_last),
            "neighbors": integer("neighbors", neighbors, 0),
            "history": choice("history", history, _HISTORIES),
            "negatives": integer("negatives", negatives, 0) or None,
            "negatives_from": given if isinstance(given, str) else None,
            "no_edge_ids": not truth("edge_ids", edge_ids),
            "memory": memory,
            "http": http,
            **of_columns,
        }
        arguments = feed_arguments(self._store.path, None, seed, threads, None, flags)
        if events is not None:
            arguments += [part for one in condition_texts("events", events, self._store) for part in ("--events", one)]
        with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
            if given is not None and not isinstance(given, str):
                arguments += ["--negatives-from", given.save(folder)]
            self._data = _identity.of_draws(_identity.identity(self._store._folder.fingerprint, arguments))
            try:
                self._start([*arguments, "--rank", f"{self._rank}/{self._world}"], program="events")
            except GraphmillError as e:  # the user knows arrays, and no temporary files
                text = str(e)
                for file, keyword in (("negatives.npy", "negatives_from="), ("negative_offsets.npy", "offsets of negatives_from=")):
                    text = text.replace(os.path.join(folder, file), keyword)
                e.args = (text,)
                raise
        self._epoch = self._first = 0
        self._at = (0, 0)
        self._of = -1
        left = self._connect().left_out
        if gaps:
            warnings.warn(gaps, stacklevel=2)
        if left:
            shown = ", ".join(left[:8]) + (f" and {len(left) - 8} others" if len(left) > 8 else "")
            warnings.warn(f"batches leave out columns of strings and lists: {shown}; a list of columns ends this warning", stacklevel=2)

    def _connect(self) -> Connection:
        """The connection of this process; a forked child makes a new one."""
        if self._connection is not None and self._of == os.getpid():
            return self._connection
        c = self._connected(0, 1, self._slots)
        self._of = os.getpid()
        info = c.events
        if info is None:
            raise GraphmillError("the feed violated the protocol: it has no events; install client and command of one release")
        self._together, self._total, self._events = int(info["together"]), int(info["batches"]), int(info["events"])
        self._roots = bool(info["roots"])
        self.event_types: list[EdgeType] = [edge_type(t, self._store.edge_types) for t in info["types"]]
        self.unit: str | None = info["unit"] or None
        self.first: dict[str, int] = {n["type"]: int(n["first"]) for n in info["nodes"]}
        names = set(c.names)
        self._bfloat16 = c.bfloat16
        ends = [n for n in c.names if n.startswith("ends/") or n.endswith("/ends")]
        self._names_of_ends = ends
        self._columns: dict[str, list[tuple[Any, str, dict[str, str]]]] = {}
        self._several: dict[str, bool] = {}
        for at, of_all in _ENDS.items():
            types: list[tuple[Any, str]] = [(t, t) for t in self._store.node_types] if at == "nodes" else [(t, ":".join(t)) for t in self.event_types]
            self._several[at] = len(types) > 1
            self._columns[at] = []
            for t, text in types:
                prefix = key(at, text, "x") + "/"
                columns = {n[len(prefix) :].replace("%2F", "/").replace("%25", "%"): n for n in c.names if n.startswith(prefix)}
                of = key(at, text, "ends")
                self._columns[at].append((t, of if of in names else of_all, columns))
        return c

    @property
    def store(self) -> Store:
        """The store."""
        return self._store

    @property
    def notes(self) -> list[str]:
        """Which edges are events, and what they take, in lines of text."""
        return list(self._connect().notes)

    def __len__(self) -> int:
        """The number of batches of an epoch for this rank."""
        self._connect()
        return max(0, (self._total - self._rank + self._world - 1) // self._world)

    def __iter__(self) -> Iterator[EventBatch]:
        worker = _arrays.worker()
        if worker is not None and worker[1] > 1:
            raise ValueError(
                f"found {worker[1]} workers of a DataLoader, each of which would yield all events, expected at most one; the loader makes batches ahead in a process of its own, with threads="
            )
        connection = self._connect()
        epoch, first = self._epoch, self._first
        self._epoch, self._first = epoch + 1, 0
        self._at = (epoch, first)
        mine = -(-max(0, first - self._rank) // self._world)  # batches of this rank that were taken
        slot, skip = divmod(mine, self._together)
        run = connection.start(epoch, slot)
        number = self._rank + slot * self._together * self._world
        while True:
            b = connection.next(run)
            if b is None:
                break
            sizes = {name: b.columns[name].tolist() for name in self._names_of_ends}
            lot = _Slot(self._shaped(b.columns), sizes, self)
            for at in range(len(sizes["ends/events"])):
                if at >= skip:
                    taken = number - self._rank + self._world
                    self._at = (epoch, taken) if taken < self._total else (epoch + 1, 0)
                    yield EventBatch(lot, at, number)
                number += self._world
            skip = 0
            del b, lot
        self._at = (epoch + 1, 0)

    def _shaped(self, columns: Mapping[str, Array]) -> Mapping[str, Any]:
        if self._form == "numpy":
            return columns
        from ._tensors import tensor

        return {name: tensor(x, name, name in self._bfloat16) for name, x in columns.items() if name not in self._names_of_ends}

    def _joined(self, parts: list[Any]) -> Any:
        if self._form == "numpy":
            return np.concatenate(parts)
        import torch

        return torch.cat(parts)

    def _typed_ids(self, b: EventBatch) -> Any:
        """The positions of events in the input, in the order of the events."""
        paths = [key("events", ":".join(t), "e_id") for t in self.event_types]
        columns = b._slot.columns
        if any(p not in columns for p in paths):
            return None
        if len(paths) == 1:
            return b._part(paths[0], "ends/events")
        types = b.event_type
        out = types.clone() if hasattr(types, "clone") else types.copy()
        for k, p in enumerate(paths):
            out[types == k] = b._part(p, key("events", ":".join(self.event_types[k]), "ends"))
        return out

    def state_dict(self) -> dict[str, Any]:
        """The position of the iteration: after the batch that was returned last; the same for all ranks."""
        return {"version": LAW, "data": self._data, "epoch": self._at[0], "batch": self._at[1]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next pass continue from a state.

        Raises:
            ValueError: the state is for another store, or options that give other batches; the text lists them.
        """
        check_state(state, data=self._data)
        epoch, first = integer("epoch", state["epoch"], 0, _MOST), integer("batch", state["batch"], 0)
        self._connect()
        if first > self._total:
            raise ValueError(f"state does not match: found {first} batches taken, expected 0 to {self._total}")
        self._epoch, self._first = epoch, first
        self._at = (epoch, first)

    def set_epoch(self, epoch: int) -> None:
        """Make the next pass begin the given epoch."""
        self._epoch, self._first = integer("epoch", epoch, 0, _MOST), 0
        self._at = (self._epoch, 0)

    def __repr__(self) -> str:
        ranks = f", rank {self._rank} of {self._world}" if self._world > 1 else ""
        if self._connection is None:
            return f"EventLoader({self._store.path!r}{ranks})"
        return f"EventLoader({self._store.path!r}): {self._events:,} events in {self._total:,} batches{ranks}"


def _types(types: Any, store: Store) -> str:
    """Edge types of a keyword: one, or a list of them."""
    one = isinstance(types, tuple) and len(types) == 3 and types in store.edge_types
    return edge_types("types", [types] if one else types, store)
