"""What a loader asks: the batch of some seeds, drawn on a card."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from .. import _arrays
from .._ahead import Mover, stream_of
from .._ahead import check_device as check_there
from .._arrays import Array
from .._folder import Column, human
from .._schema import Raw, parts_of
from .._store import Store
from . import plan as plans
from .lists import HostLists, node_times
from .rows import Table
from .subgraph import Drawer, Edges, Subgraph

KINDS = ["cuda"]
"""The kinds of devices that have the graph. Tests add "cpu", where kernels are interpreted."""
FORMS = ["pyg", "dgl"]
"""The forms of batches."""


def check_device(form: str, device: Any) -> torch.device:
    """The device of a loader whose batches have a form.

    Raises:
        ValueError: it is none that draws, or there is none; a form without tensors.
    """
    if form not in FORMS:
        raise ValueError(f"found executor='cuda' with as_={form!r}, expected as_='pyg' or 'dgl', whose batches are torch tensors")
    found = torch.device("cuda" if device is None else device)
    if found.type not in KINDS:
        raise ValueError(f"found executor='cuda' with device={device!r}, expected a CUDA device, such as 'cuda:0'")
    if found.type == "cuda" and not torch.cuda.is_available():
        why = "this torch is built without CUDA" if torch.version.cuda is None else "torch.cuda.is_available() is False"
        raise ValueError(f"found executor='cuda' without a CUDA device: {why}; leave executor= out")
    if found.type == "cuda":
        check_there(found)
    return Mover.device_of(found)


class Card:
    """The graph, the plan and the columns of a loader on a device. One thread uses it.

    Args:
        store: what is sampled.
        plan: as JSON (docs/plan.md).
        made: the columns of batches, as the feed describes them: "name", "dtype" and "shape" of a row.
        joined: by type, a node type or an edge type as text, columns that come side by side as one: its name, and their names.
        seed: the random seed.
        device: of the tensors.

    Raises:
        ValueError: a plan, a column or a graph that the device cannot have, with the reason.
    """

    def __init__(
        self,
        store: Store,
        plan: Mapping[str, Any],
        made: Sequence[Mapping[str, Any]],
        joined: Mapping[str, tuple[str, list[str]]],
        seed: int,
        device: torch.device,
    ) -> None:
        plans.check(plan)
        self._plan, self._made, self.device = plan, [c["name"] for c in made], device
        self._stream: Stream | None = None
        ops = plan["ops"]
        host: dict[tuple[Any, ...], HostLists] = {}
        for op in ops:
            k = HostLists.key(plan, op)
            if k not in host:
                host[k] = HostLists(store, plan, op)
        times = node_times(store, plan)
        self._width = 1 if isinstance(plan["seed_type"], str) else 2
        tables = _tables(store, made, joined)
        need = sum(x.bytes for x in host.values()) + sum(x.bytes for x in tables.values()) + sum(x.nbytes for x, _ in times.values())
        check_room(need, device)
        self.note = f"executor cuda: the graph and the columns take {human(need)} of {device}"
        self._check_times(made, [x.times for x in host.values()] + [x for x, _ in times.values()])
        self._units = [host[HostLists.key(plan, op)].unit_of_times for op in ops]
        with torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext():  # of the kernel of sums
            lists = {k: x.to(device) for k, x in host.items()}
        self._tables = {k: x.to(device) for k, x in tables.items()}
        self._drawer = Drawer(
            plan,
            seed,
            {t: n.count for t, n in store.nodes.items()},
            {":".join(e): x.count for e, x in store.edges.items()},
            [lists[HostLists.key(plan, op)] for op in ops],
            self._units,
            {t: (torch.from_numpy(np.array(x)).to(device), unit) for t, (x, unit) in times.items()},
            device,
        )
        if device.type == "cuda":
            torch.cuda.synchronize(device)  # batches are made on another stream

    @staticmethod
    def _check_times(made: Sequence[Mapping[str, Any]], times: Sequence[Array | None]) -> None:
        """Refuse times of edges and nodes of another kind than those of the seeds, which the other executors compare exactly.

        Raises:
            ValueError: they are.
        """
        want = next((np.dtype(c["dtype"]) for c in made if c["name"] == "seed_time"), None)
        if want is not None and any(x is not None and x.dtype != want for x in times):
            raise ValueError(
                "found executor='cuda' with times of which some are whole numbers and others are floats, expected one kind; import them alike, or leave executor= out"
            )

    def batch(self, raw: Raw, epoch: int) -> Raw:
        """The batch of the seeds that the feed sent: its columns as tensors on the device, but for the numbers per hop and what is of the seeds alone."""
        sent = raw.columns
        times = sent.get("seed_time")
        sub = self._drawer.draw(np.array(sent["seeds"]).reshape(-1, self._width), _negatives(sent, raw.seeds), times, epoch, raw.number)
        return Raw({name: self._column(sent, sub, name) for name in self._made}, raw.seeds, raw.number, raw.hops)

    def mover(self) -> Mover | None:
        """What copies the rest of a batch to the device, on the stream on which the batches of a pass are made. None of a processor.

        Raises:
            ValueError: this process is a worker of a DataLoader.
        """
        if _arrays.worker() is not None:
            raise ValueError(
                "found executor='cuda' in a worker of a DataLoader, expected the process that trains; give num_workers=0, as a thread draws ahead of the trainer"
            )
        self._stream = Stream(self.device) if self.device.type == "cuda" else None
        return self._stream

    def on_stream(self, made: Iterator[Any]) -> Iterator[Any]:
        """What an iterator makes, made on the stream of the pass."""
        stream = self._stream
        while True:
            with contextlib.nullcontext() if stream is None else torch.cuda.stream(stream.stream):
                item = next(made, None)
            if item is None:
                return
            yield item
            del item

    def rows(self, kind: str, type_: str, column: str, ids: torch.Tensor) -> torch.Tensor:
        """The rows of a column of a type, "nodes" or "edges", by type-wise ids or edge ids."""
        return self._tables[kind, type_, column].rows(ids)

    def _column(self, sent: Mapping[str, Array], sub: Subgraph, name: str) -> Any:
        """A column of a batch."""
        if name in sent:
            return sent[name]
        kind, *rest = parts_of(name)
        if kind in ("seed_local", "negative_local"):
            return sub.seed_local if kind == "seed_local" else sub.negative_local
        if kind == "nodes":
            t, what = rest[0], rest[1]
            if what == "by_hop":
                return sub.nodes_by_hop[t]
            if what == "x":
                return self.rows("nodes", t, rest[2], sub.nodes[t])
            return sub.nodes[t] if what == "n_id" else sub.batch[t]
        if kind == "edges":
            if rest[1] == "by_hop":
                return sub.edges_by_hop[rest[0]]
            return self._of_edges(rest[0], sub.edges[rest[0]], rest[1:])
        number = int(rest[0])
        op = self._plan["ops"][number - 1]
        frontier, edges = sub.ops[number - 1]
        if rest[1] == "frontier":
            return frontier
        if rest[1] == "indptr":
            found = int(sub.nodes_by_hop[op["edges"].split(":")[2]][: plans.hops(self._plan)[number]].sum())
            return _offsets(edges.dst, found)
        return self._of_edges(op["edges"], edges, rest[1:])

    def _of_edges(self, e: str, edges: Edges, what: list[str]) -> torch.Tensor:
        """A column of edges."""
        if what[0] == "edge_index":
            return torch.cat([edges.src, edges.dst])
        if what[0] == "e_id":
            return self.rows("edges", e, _POSITION, edges.id).long() if ("edges", e, _POSITION) in self._tables else edges.id
        return self.rows("edges", e, what[1], edges.id)


def _negatives(sent: Mapping[str, Array], seeds: int) -> tuple[Array, Array]:
    """The negatives of links that were sent, int64 [negatives, 2], and the link of each; without any, [0, 0]."""
    if "negatives" not in sent:
        return np.empty((0, 0), np.int64), np.empty(0, np.int64)
    pairs = np.array(sent["negatives"]).reshape(-1, 2)
    ends = sent.get("negative_end")
    counts = np.diff(ends, prepend=0) if ends is not None else np.full(seeds, len(pairs) // max(seeds, 1))
    return pairs, np.repeat(np.arange(seeds), counts)


_POSITION = "#input_position"


def _offsets(dst: torch.Tensor, found: int) -> torch.Tensor:
    """The offset of the edges of each of the destinations, and the end; empty if they are not in this order, or there are others."""
    if len(dst) and (bool((dst[1:] < dst[:-1]).any()) or int(dst[-1]) >= found):
        return dst[:0]
    return torch.searchsorted(dst, torch.arange(found + 1, device=dst.device))


def _tables(store: Store, made: Sequence[Mapping[str, Any]], joined: Mapping[str, tuple[str, list[str]]]) -> dict[tuple[str, str, str], Table]:
    """The columns of the store that batches have, by kind, type and name.

    Raises:
        ValueError: a column that batches have and the store has otherwise.
    """
    out = {}
    for c in made:
        kind, *rest = parts_of(c["name"])
        if kind not in ("nodes", "edges"):
            continue  # the columns of ops are those of their edge types
        of: Any = store.nodes[rest[0]] if kind == "nodes" else store.edges[rest[0]]
        if rest[1] == "e_id" and _POSITION in of.columns:
            out[kind, rest[0], _POSITION] = Table.of(of.columns.column(_POSITION))
        if rest[1] != "x":
            continue
        name, names = joined.get(rest[0], ("", []))
        if rest[2] == name:
            out[kind, rest[0], name] = _joined([of.columns.column(n) for n in names], c)
            continue
        column = of.columns.column(rest[2]) if rest[2] in of.columns else None
        if column is None or (column.dtype, list(column.shape)) != (c["dtype"], c["shape"]):
            raise ValueError(
                f"found executor='cuda' with the column {rest[2]} of {rest[0]}, which batches have in another form than the store, expected columns as they are; leave it out, or executor="
            )
        out[kind, rest[0], rest[2]] = Table.of(column)
    return out


def _joined(columns: list[Column], made: Mapping[str, Any]) -> Table:
    """Columns side by side, in the dtype that batches have.

    Raises:
        ValueError: columns that the feed converts in a way of its own.
    """
    dtypes = {c.dtype for c in columns}
    width = sum(int(np.prod(c.shape)) for c in columns)
    if [width] != made["shape"] or (dtypes != {made["dtype"]} and "bfloat16" in dtypes):
        raise ValueError(
            f"found executor='cuda' with x= or edge_attr= of the columns {', '.join(c.name for c in columns)}, expected columns of numbers as they are; leave executor= out"
        )
    parts = [c.values.reshape(len(c), int(np.prod(c.shape))) for c in columns]
    if dtypes != {made["dtype"]}:
        parts = [x.astype(made["dtype"]) for x in parts]
    return Table.of(Column(made["name"], made["dtype"], (width,), len(columns[0]), np.concatenate(parts, 1), (), None))


def check_room(need: int, device: torch.device) -> None:
    """Refuse a graph that is larger than the free memory of a device.

    Raises:
        ValueError: it is.
    """
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)  # what torch has and does not use
        if need > free:
            raise ValueError(
                f"found executor='cuda' and a graph with columns of {human(need)} ({need} bytes), expected at most the {human(free)} ({free} bytes) that {device} has free; take fewer features, or leave executor= out"
            )


class Stream(Mover):
    """The stream of a card on which batches are made, beside that of the trainer, which waits for its batch alone."""

    def __init__(self, device: torch.device) -> None:
        self._torch, self._device, self._pin = torch, device, False
        self._used = collections.deque()
        self.stream = self._stream = stream_of(device)
        self.stream.wait_stream(torch.cuda.current_stream(device))  # on which transforms may have tables
