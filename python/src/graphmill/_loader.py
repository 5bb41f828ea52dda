"""The loader of batches sampled from a store."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from . import _arrays, _ranks
from ._arguments import integer
from ._arrays import Array
from ._feed import Connection, Feeding
from ._folder import EdgeType, unknown
from ._order import LAW, check_state
from ._stats import LoaderStats
from ._store import Store

_FORMS = ("numpy", "pyg", "dgl", "tfgnn", "jraph")
_TAILS = ("fill", "drop", "short")
_MOST = (1 << 63) - 1  # the feed counts with int64


@dataclass
class NodeBatch:
    """A sampled batch as NumPy arrays. They are views of shared memory and hold their slot in it.

    For a graph with one node type and one edge type, these are arrays; otherwise they are dicts by type.

    Attributes:
        n_id: int64 [nodes], type-wise ids: the seeds first, then in the order of discovery.
        edge_index: int64 [2, edges], local ids of source and destination.
        e_id: int64 [edges], the position of each edge in the imported input; `Edges.find` makes the edge ids of it, by which
            the columns of a store are ordered.
        x: columns of the nodes, by name; bfloat16 as float32.
        edge_attr: columns of the edges, by name.
        input_id: int64 [seeds], the index of each seed in the loader's seeds.
        seed_local: int64 [seeds], the local id of each seed; equal seeds share a node. For links [links, 2], source and
            destination.
        batch_size: number of seeds.
        num_sampled_nodes: number of nodes that each hop found, from hop 0.
        num_sampled_edges: number of edges that were kept in each hop, from hop 1.
        number: the batch's number in the epoch, over all ranks.
        batch: int64 [nodes], with ``scope="seed"`` the index in the batch of each node's seed; else None.
        seed_time: the time of each seed, with ``before=``; else None.
        links: columns of the links, by name, if seeds are links.
    """

    n_id: Any
    edge_index: Any
    e_id: Any
    x: Any
    edge_attr: Any
    input_id: Array
    seed_local: Array
    batch_size: int
    num_sampled_nodes: Any
    num_sampled_edges: Any
    number: int
    batch: Any = None
    seed_time: Array | None = None
    links: dict[str, Array] = field(default_factory=dict)


class Raw:
    """The columns of a batch by type, from which the frameworks' objects are made."""

    def __init__(self, columns: dict[str, Array], seeds: int, number: int, hops: int) -> None:
        self.columns, self.seeds, self.number, self.hops = columns, seeds, number, hops

    @property
    def input_id(self) -> Array:
        return self.columns["input_id"]

    @property
    def seed_local(self) -> Array:
        return self.columns["seed_local"]


class Schema:
    """The types in a feed's columns and the names of their features."""

    def __init__(
        self,
        names: Sequence[str],
        ops: Sequence[tuple[str, int]],
        seed_types: Sequence[str],
        batch_size: int = 0,
        link_type: tuple[str, str, str] | None = None,
        bfloat16: frozenset[str] = frozenset(),
    ) -> None:
        self.batch_size = batch_size  # of all batches except the last
        self.bfloat16 = bfloat16  # names of bfloat16 columns, whose values are given as uint16
        self.op_list = list(ops)  # edge type and hop of each op, from op 1
        self.seed_types = list(seed_types)  # one, or two for links
        self.link_columns = [n[len("links/") :] for n in names if n.startswith("links/")]
        self.timed = "seed_time" in names
        self.disjoint = f"nodes/{seed_types[0]}/batch" in names
        self.nodes: list[str] = []
        self.edges: list[tuple[str, str, str]] = []
        self.node_columns: dict[str, list[str]] = {}
        self.edge_columns: dict[tuple[str, str, str], list[str]] = {}
        for name in names:
            kind, _, rest = name.partition("/")
            if kind == "nodes" and rest.endswith("/n_id"):
                self.nodes.append(rest[: -len("/n_id")])
            elif kind == "edges" and rest.endswith("/edge_index"):
                self.edges.append(_triple(rest[: -len("/edge_index")]))
        for t in self.nodes:
            at = f"nodes/{t}/x/"
            self.node_columns[t] = [n[len(at) :] for n in names if n.startswith(at)]
        for e in self.edges:
            at = f"edges/{':'.join(e)}/x/"
            self.edge_columns[e] = [n[len(at) :] for n in names if n.startswith(at)]
        self.homogeneous = len(self.nodes) == 1 and len(self.edges) <= 1
        self.linked = len(self.seed_types) == 2
        of = [e for e in self.edges if [e[0], e[2]] == self.seed_types]
        self.link_type = link_type or (of[0] if len(of) == 1 else None)  # edge type of the links, None if it is not known

    def node(self, c: Mapping[str, Any], t: str, what: str) -> Any:
        return c[f"nodes/{t}/{what}"]

    def edge(self, c: Mapping[str, Any], e: tuple[str, str, str], what: str) -> Any:
        x = c[f"edges/{':'.join(e)}/{what}"]
        return x.reshape(2, -1) if what == "edge_index" else x


    def node_features(self, t: str) -> dict[str, str]:
        """The feed's names of a type's features, by feature name."""
        return {n: f"nodes/{t}/x/{n}" for n in self.node_columns[t]}

    def edge_features(self, e: tuple[str, str, str]) -> dict[str, str]:
        return {n: f"edges/{':'.join(e)}/x/{n}" for n in self.edge_columns[e]}

    def link_features(self) -> dict[str, str]:
        return {n: f"links/{n}" for n in self.link_columns}


def _triple(name: str) -> tuple[str, str, str]:
    src, rel, dst = name.split(":")
    return src, rel, dst


def _numpy(schema: Schema, raw: Raw) -> NodeBatch:
    c = raw.columns
    nodes = {t: t for t in schema.nodes}
    edges = {e: e for e in schema.edges}

    def of(types: dict[Any, Any], f: Callable[[Any], Any]) -> Any:
        out = {t: f(t) for t in types}
        return next(iter(out.values()), None) if schema.homogeneous else out

    def values(names: dict[str, str]) -> dict[str, Array]:
        return {n: _arrays.widened(c[full]) if full in schema.bfloat16 else c[full] for n, full in names.items()}

    return NodeBatch(
        n_id=of(nodes, lambda t: schema.node(c, t, "n_id")),
        edge_index=of(edges, lambda e: schema.edge(c, e, "edge_index")),
        e_id=of(edges, lambda e: schema.edge(c, e, "e_id")),
        x=of(nodes, lambda t: values(schema.node_features(t))),
        edge_attr=of(edges, lambda e: values(schema.edge_features(e))),
        input_id=raw.input_id,
        seed_local=raw.seed_local.reshape(-1, 2) if schema.linked else raw.seed_local,
        batch_size=raw.seeds,
        num_sampled_nodes=of(nodes, lambda t: schema.node(c, t, "by_hop").tolist()),
        num_sampled_edges=of(edges, lambda e: schema.edge(c, e, "by_hop").tolist()),
        number=raw.number,
        batch=of(nodes, lambda t: schema.node(c, t, "batch")) if schema.disjoint else None,
        seed_time=c["seed_time"] if schema.timed else None,
        links=values(schema.link_features()),
    )


class NodeLoader(Feeding):
    """Batches of subgraphs sampled around seeds. A separate process samples them ahead.

    Each pass over it is the next epoch. Batch b of an epoch is the same with any number of threads and ranks, and after any
    restart. In a ``torch.utils.data.DataLoader`` worker, it yields the worker's share. Give the DataLoader
    ``batch_size=None``, and ``persistent_workers=True``, or call `set_epoch` before each pass: new workers begin with the
    epoch of this loader.

    Args:
        store: path of a store (``graphmill import``).
        fanout: edges per node at each hop, from the seeds outwards: ``[15, 10]``, or by relation
            ``{"cites": [15, 10], "author:writes:paper": [5, 5]}``; -1 takes all.
        batch_size: seeds per batch.
        seeds: node ids, a mask of all nodes of the seed type, or a text: ``"paper"``, ``"paper:split=train"``, a file.
            Default: all nodes of the seed type. Links are a [2, links] array of sources and destinations, or a file.
        seed_type: node type of the seeds, if the store has several; for links, the types of source and destination, or
            their edge type: ``("user", "rates", "movie")``.
        as_: what is yielded: "numpy" (`NodeBatch`), "pyg" (``Data`` or ``HeteroData``), "dgl" (``input_nodes, output_nodes,
            blocks``; for links, their graph in place of the output nodes), "tfgnn" (``GraphTensor``), "jraph"
            (``GraphsTuple``).
        shuffle: use the shuffled order of the seeds for each epoch.
        order: another order of the seeds: "weighted:COLUMN" draws as many seeds in proportion to the column, with
            replacement; "stratified:COLUMN" mixes the values of the column evenly; "windowed:BLOCK,BLOCKS" shuffles blocks of
            BLOCK seeds, and then the seeds within each BLOCKS blocks, so that seeds with nearby ids stay close. Columns are
            those of the seed nodes, or of the links.
        seed: the random seed of all draws and orders.
        features, edge_features: names of the columns of a batch, "all" or "none".
        label: the column that becomes y (PyG); it is then not in x, and need not be among the features. None: the column
            label, if the features have one.
        rank, world_size: rank r gets the batches r, r + world_size, ...
        tail: what happens to seeds that do not fill a batch, and to batches that cannot be divided evenly between ranks.
            "fill", the default for several ranks: all ranks get equally many batches; some batches repeat the seeds of
            earlier ones, with different draws. "short", the default for one rank: some ranks may get one batch less. "drop":
            only full batches, equally many for every rank.
        drop_last: True means ``tail="drop"``.
        threads: number of sampling threads; default: one less than the number of cores.
        slots: number of batches that can be ready or held at a time.
        options: other flags of ``graphmill feed``, as keywords: ``replace=True``, ``weight="w"``, ``direction="out"``,
            ``plan="plan.json"``, ``scope="seed"`` (each seed has its own subgraph), and with it ``before="time<="`` (only
            edges that are not younger than the seed).

    Raises:
        GraphmillError: an error of the command, with its text.
    """

    def __new__(cls, *_: Any, **__: Any) -> "NodeLoader":
        if cls is NodeLoader and "torch" in sys.modules:
            from ._torch_loader import TorchNodeLoader  # what torch's DataLoader takes

            return object.__new__(TorchNodeLoader)
        return object.__new__(cls)

    def __init__(
        self,
        store: str | os.PathLike[str],
        fanout: Sequence[int] | Mapping[str, Sequence[int]] | None = None,
        batch_size: int = 1024,
        seeds: Any = None,
        seed_type: str | Sequence[str] | None = None,
        as_: str = "numpy",
        shuffle: bool = False,
        order: str | None = None,
        seed: int = 0,
        features: str | Sequence[str] = "all",
        edge_features: str | Sequence[str] = "none",
        label: str | None = None,
        rank: int = 0,
        world_size: int = 1,
        threads: int | None = None,
        slots: int = 4,
        tail: str | None = None,
        drop_last: bool | None = None,
        **options: Any,
    ) -> None:
        if as_ not in _FORMS:
            raise ValueError(f"found as_={as_!r}, expected one of {', '.join(_FORMS)}")
        self._rank, self._world = _ranks.checked(rank, world_size)
        self._tail = _ranks.tail_of(tail, drop_last, self._world, _TAILS)
        self._slots, batch_size = integer("slots", slots, 1, 1024), integer("batch_size", batch_size, 1, _MOST)
        seeds = seed_ids(seeds)
        ends, self._link_type = link_ends(store, seeds, seed_type)
        features = _with_label(store, features, label) if as_ == "pyg" else features
        flags = {"order": order, "batch_size": batch_size, "features": _names(features), "edge_features": _names(edge_features), "shuffle": bool(shuffle)}
        if as_ == "dgl":
            if options.get("direction", "in") != "in":
                raise ValueError(f"found direction={options['direction']!r} with as_='dgl', expected 'in', because the edges of a block lead to the nodes that were expanded")
            flags.update(expand="all", ops=True)
        arguments = feed_arguments(store, fanout, seed, threads, ends, {**flags, **options})
        self._batch_size = batch_size
        self._form, self._label = as_, label
        check_mask(store, seeds, seed_type)
        with seed_file(seeds) as given:
            self._start(arguments + given)
            self._data = _fingerprint(store, arguments, given)
        self._of = (0, 0, 0)  # process, worker and number of workers of the connection
        left = self._connect().left_out
        if left:
            shown = ", ".join(left[:8]) + (f" and {len(left) - 8} others" if len(left) > 8 else "")
            warnings.warn(
                f"batches leave out columns of strings and lists: {shown}; import texts with the dtype category and "
                "lists of one length with a shape such as float32[3], or read the rows from the store by node or edge id; features= names the columns that you want",
                stacklevel=2,
            )
        try:
            self._check_form(order or "")
            check_mask(store, seeds, self._schema.seed_types[0])
        except ValueError:
            self.close()
            raise
        self._epoch, self._first = 0, 0
        self._at = (0, 0)
        self._stats = LoaderStats()
        self._warned = False

    def _connect(self) -> Connection:
        """The connection of this process and worker; a forked child or a worker makes a new one."""
        worker = _arrays.worker() or (0, 1)
        mine = (os.getpid(), *worker)
        if self._connection is None or self._of != mine:
            c = self._connected(self._rank, self._world, self._slots, self._tail, worker)
            self._of, self._schema = mine, Schema(c.names, c.ops, c.seed_types, self._batch_size, self._link_type, c.bfloat16)
            return c
        return self._connection

    def _check_form(self, order: str) -> None:
        """Reject options that the form of the batches cannot represent."""
        s, form, label = self._schema, self._form, self._label
        columns = {n for of in s.node_columns.values() for n in of}.union(s.link_columns)
        if label is not None and form != "pyg":
            raise ValueError(f"found label={label!r} with as_={form!r}, expected as_='pyg', because other forms have columns by name")
        if label is not None and label not in columns:
            raise ValueError(unknown("label", label, columns))
        if form in ("tfgnn", "jraph") and s.linked:
            raise ValueError(f"found links with as_={form!r}, expected as_='pyg', 'dgl' or 'numpy'")
        if form in ("pyg", "dgl") and s.linked and not s.homogeneous and s.link_type is None:
            raise ValueError(f"found links of {' and '.join(s.seed_types)}, expected their edge type too; give seed_type=(SOURCE, RELATION, TARGET)")
        if order.startswith("weighted:") and form != "numpy" and not (s.linked or s.disjoint):
            raise ValueError(f"found order={order!r} with as_={form!r}, expected as_='numpy' or scope='seed', because otherwise a seed that is drawn twice has one node")

    def __len__(self) -> int:
        """The number of batches of an epoch for this rank, over all DataLoader workers."""
        batches: int = self._connect().batches
        return batches

    def __iter__(self) -> Iterator[Any]:
        connection = self._connect()
        epoch, first = self._epoch, self._first
        self._epoch, self._first = epoch + 1, 0
        self._at = (epoch, first)
        end = _ranks.end(self._tail, connection.total, first, self._world)
        convert = _converter(self._form)
        began = asked = time.perf_counter()
        run = connection.start(epoch, first)
        before = self._stats.seconds
        while True:
            b = connection.next(run)
            came = time.perf_counter()
            if b is None:
                self._at = (epoch + 1, 0)
                self._stats.waited += came - asked
                self._stats.seconds = before + came - began  # includes the trainer's time for the last batch
                return
            raw = Raw(b.columns, b.seeds, b.number, connection.hops)
            out = convert(self._schema, raw, self._label)
            now = time.perf_counter()
            self._stats.batches += 1
            self._stats.waited += came - asked
            self._stats.converted += now - came
            self._stats.seconds = before + now - began
            taken = b.number - self._rank + self._world
            self._at = (epoch, taken) if taken < end else (epoch + 1, 0)
            self._watch()
            del b, raw
            yield out
            del out
            asked = time.perf_counter()

    def _watch(self) -> None:
        """Warn once if the trainer mostly waits for the feed."""
        s = self._stats
        if not self._warned and s.seconds > 10 and s.waiting_share > 0.3:
            self._warned = True
            warnings.warn(
                f"the trainer waited {s.waiting_share:.0%} of the time for batches: give threads=, fewer features or a smaller fanout",
                RuntimeWarning,
                stacklevel=3,
            )

    def stats(self) -> LoaderStats:
        """The number of batches, the seconds, and the share of the time that the trainer waited."""
        return self._stats

    def state_dict(self) -> dict[str, Any]:
        """The position of the iteration: after the batch that was returned last; the same for all ranks."""
        return {"version": LAW, "data": self._data, "epoch": self._at[0], "batch": self._at[1]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next pass continue from a state.

        Raises:
            ValueError: the state is for another store, other seeds, or options that give other subgraphs.
        """
        check_state(state, data=self._data)
        epoch, first = integer("epoch", state["epoch"], 0, _MOST), integer("batch", state["batch"], 0)
        total = self._connect().total
        if first > total:
            raise ValueError(f"state does not match: found {first} batches taken, expected 0 to {total}")
        self._epoch, self._first = epoch, first
        self._at = (self._epoch, self._first)

    def set_epoch(self, epoch: int) -> None:
        """Make the next pass begin the given epoch. Running DataLoader workers are not affected."""
        self._epoch, self._first = integer("epoch", epoch, 0, _MOST), 0
        self._at = (self._epoch, 0)


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
        threads = max(1, len(os.sched_getaffinity(0)) - 1)
    seed, threads = integer("seed", seed, 0, (1 << 64) - 1), integer("threads", threads, 1)
    flags = {"seed": seed, "threads": threads, "fanout": None if fanout is None else _fanout(fanout), "seed_type": seed_type, **options}
    arguments = [os.fspath(store)]
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(flag)
        elif value is not False and value is not None:
            arguments += [flag, str(value)]
    return arguments


def _fingerprint(store: str | os.PathLike[str], arguments: list[str], seeds: list[str]) -> str:
    """A fingerprint of all that the subgraphs of a feed depend on: the store, the arguments that change draws, and the seeds."""
    h = hashlib.blake2b(digest_size=8)
    with open(os.path.join(os.fsdecode(store), "manifest.json.xxh3"), "rb") as f:
        h.update(f.read(4096))
    rest = iter(arguments[1:])
    for flag in rest:
        if flag in ("--threads", "--features", "--edge-features", "--memory"):
            next(rest)
        else:
            h.update(flag.encode() + b"\0")
    for path in seeds[1:]:
        if os.path.isfile(path):
            with open(path, "rb") as f:
                while part := f.read(1 << 20):
                    h.update(part)
        else:
            h.update(path.encode())
    return h.hexdigest()


def _fanout(fanout: Sequence[int] | Mapping[Any, Sequence[int]]) -> str:
    if isinstance(fanout, Mapping):
        return ";".join(f"{name if isinstance(name, str) else ':'.join(name)}={_fanout(f)}" for name, f in fanout.items())
    if isinstance(fanout, str):
        return fanout
    try:
        hops = list(fanout)
    except TypeError:
        raise TypeError(f"found fanout={fanout!r}, expected a list with the edges per node at each hop") from None
    return ",".join(str(integer("fanout", n, -1)) for n in hops)


def _names(names: str | Sequence[str]) -> str:
    return names if isinstance(names, str) else ",".join(names) or "none"


def _with_label(store: str | os.PathLike[str], features: str | Sequence[str], label: str | None) -> str | Sequence[str]:
    """The features, with a label that is a column of nodes; labels of links need not be named."""
    names = [n for n in features.split(",") if n != "none"] if isinstance(features, str) else list(features)
    if label is None or names == ["all"] or label in names or not any(label in n.columns for n in Store(store).nodes.values()):
        return features
    return [*names, label]


def link_ends(store: str | os.PathLike[str], seeds: Any, seed_type: str | Sequence[str] | None) -> tuple[str | None, EdgeType | None]:
    """The value of ``--seed-type``, and the edge type of links if it was given."""
    linked = isinstance(seeds, np.ndarray) and seeds.ndim == 2
    if seed_type is None and linked:
        types = Store(store).node_types
        if len(types) != 1:
            raise ValueError(f"found links in a store of the node types {', '.join(types)}, expected seed_type=(SOURCE, TARGET) of them")
        seed_type = types[0]
    if seed_type is None or isinstance(seed_type, str):
        return (f"{seed_type},{seed_type}" if linked and seed_type and "," not in seed_type else seed_type), None
    if len(seed_type) not in (2, 3):
        raise ValueError(f"found seed_type={seed_type!r}, expected a node type, or for links the two types of their ends or their edge type")
    ends = f"{seed_type[0]},{seed_type[-1]}"
    return ends, (seed_type[0], seed_type[1], seed_type[2]) if len(seed_type) == 3 else None


def seed_ids(seeds: Any) -> Any:
    """Seeds as an array: ids, links [2, links], or a mask. A text or None is returned unchanged."""
    if seeds is None or isinstance(seeds, (str, os.PathLike)):
        return seeds
    ids = _arrays.numpy(seeds)
    fits = ids.ndim == 1 and ids.dtype == bool or ids.dtype.kind in "iu" and (ids.ndim == 1 or ids.ndim == 2 and len(ids) == 2)
    if not fits:
        raise ValueError(f"found seeds of dtype {ids.dtype} and shape {ids.shape}, expected node ids, a mask, or links [2, links]")
    return ids


def check_mask(store: str | os.PathLike[str], seeds: Any, seed_type: Any) -> None:
    """Reject a mask whose length is not the number of nodes of the seed type, if that is known."""
    if not isinstance(seeds, np.ndarray) or seeds.dtype != bool:
        return
    nodes = Store(store).nodes
    if seed_type is None and len(nodes) == 1:
        (seed_type,) = nodes
    if isinstance(seed_type, str) and seed_type in nodes and nodes[seed_type].count != len(seeds):
        raise ValueError(f"found seeds that are a mask of {len(seeds)} values, expected {nodes[seed_type].count}, one per node of type {seed_type}")


@contextlib.contextmanager
def seed_file(seeds: Any) -> Iterator[list[str]]:
    """The flag for the result of `seed_ids`; an array is in a temporary file while the feed starts."""
    if seeds is None:
        yield []
        return
    if isinstance(seeds, (str, os.PathLike)):
        yield ["--seeds", os.fspath(seeds)]
        return
    ids = np.flatnonzero(seeds) if seeds.dtype == bool else seeds
    with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
        path = os.path.join(folder, "seeds.npy")
        np.save(path, np.ascontiguousarray(ids, np.int64))
        yield ["--seeds", path]


def _converter(form: str) -> Callable[[Schema, Raw, str | None], Any]:
    """The function that makes a framework's object from a batch. The framework is imported here, on first use."""
    if form == "numpy":
        return lambda schema, raw, label: _numpy(schema, raw)
    import importlib

    convert: Callable[[Schema, Raw, str | None], Any] = importlib.import_module(f"._as_{form}", __package__).convert
    return convert
