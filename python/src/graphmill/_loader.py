"""The loader of batches sampled from a store."""

from __future__ import annotations

import inspect
import os
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

from . import _arrays, _identity, _ranks
from ._arguments import choice, integer, truth
from ._arrays import Array
from ._columns import Looked, chosen, joined
from ._feed import Connection, Feeding
from ._folder import unknown
from ._keywords import PyGWords, note_of, translated
from ._options import checked_fanout, feed_arguments, flags_of, path_of, with_label
from ._order import LAW, check_state
from ._schema import Raw, Schema, as_numpy
from ._seeds import check_distinct, check_seeds, link_ends, link_labels, seed_file, seed_ids
from ._stats import LoaderStats
from ._store import Store

if TYPE_CHECKING:
    from typing_extensions import Unpack

_FORMS = ("numpy", "pyg", "dgl", "tfgnn", "jraph")
_TAILS = ("fill", "drop", "short")
_MOST = (1 << 63) - 1  # the feed counts with int64


class NodeLoader(Feeding):
    """Batches of subgraphs sampled around seeds. A separate process samples them ahead.

    Each pass over it is the next epoch. Batch b of an epoch is the same with any number of threads and ranks, and after any
    restart. In a ``torch.utils.data.DataLoader`` worker, it yields the worker's share. Give the DataLoader
    ``batch_size=None``, and ``persistent_workers=True``, or call `set_epoch` before each pass: new workers begin with the
    epoch of this loader.

    The words of PyG's NeighborLoader and LinkNeighborLoader are accepted as well: ``num_neighbors=``, ``input_nodes=``,
    ``edge_label_index=``, ``disjoint=`` and so on. docs/python.md has the table.

    Args:
        store: path of a store (``graphmill import``), or a `Store`.
        fanout: edges per node at each hop, from the seeds outwards: ``[15, 10]``, or by edge type
            ``{"cites": [15, 10], ("author", "writes", "paper"): [5, 5]}``; -1 takes all.
        batch_size: seeds per batch.
        seeds: node ids, a mask of all nodes of the seed type, or a text: ``"paper"``, ``"paper:split=train"``, a file.
            Default: all nodes of the seed type. Links are a [2, links] array of sources and destinations, a file, or edges of
            the store with their columns: ``"user:rates:movie"``, ``"user:rates:movie:split=train"``.
        seed_type: node type of the seeds, if the store has several; for links, the types of source and destination, or
            their edge type: ``("user", "rates", "movie")``.
        as_: what is yielded: "numpy" (`NodeBatch`), "pyg" (``Data`` or ``HeteroData``), "dgl" (``input_nodes, output_nodes,
            blocks``; for links ``input_nodes, pair_graph, blocks``, with negatives ``input_nodes, pair_graph, neg_graph,
            blocks``), "tfgnn" (``GraphTensor``), "jraph" (``GraphsTuple``).
        shuffle: use the shuffled order of the seeds for each epoch.
        order: another order of the seeds: "weighted:COLUMN" draws as many seeds in proportion to the column, with
            replacement; "stratified:COLUMN" mixes the values of the column evenly; "windowed:BLOCK,BLOCKS" shuffles blocks of
            BLOCK seeds, and then the seeds within each BLOCKS blocks, so that seeds with nearby ids stay close. Columns are
            those of the seed nodes, or of the links.
        seed: the random seed of all draws and orders.
        features, edge_features: names of the columns of a batch, as COLUMN or TYPE/COLUMN, "all" or "none". "all" has no columns
            of strings and lists; a list names them: ``["all", "title"]``. They are `Column` objects in NumPy, Python lists in
            PyG, and ragged tensors in TF-GNN.
        x: columns of nodes that come side by side as one column x, [nodes, values]: names or patterns, ``["f*", "year"]``, or
            a dict of these by node type. Its dtype is that of the columns if they share one; else float64 if one of them has it,
            and float32 if not. "all" in ``features`` leaves them out.
        edge_attr: the same for columns of edges and edge_attr; ``"*"`` is all of them.
        label: the column that becomes y (PyG); it is then not in x, and need not be among the features. None: the column
            label, if the features have one.
        rank, world_size: rank r gets the batches r, r + world_size, ...
        tail: what happens to seeds that do not fill a batch, and to batches that cannot be divided evenly between ranks.
            "fill", the default for several ranks: all ranks get equally many batches; some batches repeat the seeds of
            earlier ones, with different draws. "short", the default for one rank: some ranks may get one batch less. "drop":
            only full batches, equally many for every rank.
        drop_last: True means ``tail="drop"``.
        threads: number of sampling threads; default: the number of cores less one for each rank of this machine
            (``LOCAL_WORLD_SIZE`` in the environment, else 1), at least 1.
        slots: number of batches that can be ready, or held as views, at a time; further ones that are held are copies.
        share: share one feed with the loaders of the same user, training and arguments on this machine. Default: if there
            are several ranks. The ranks then share one copy of the columns and the threads.
        direction: "in", the default: a hop goes from a node to the sources of its edges; "out": to their destinations.
        expand: "new", the default: a hop expands the nodes that the hop before it reached first, as in PyG; "all": all nodes
            that were reached before, as in DGL.
        scope: "batch", the default: one subgraph per batch; "seed": each seed has its own; "epoch": one per batch, and a
            node draws the same edges in all batches of an epoch.
        replace: draw with replacement.
        weight: column of edges: draw in proportion to it.
        subgraph_type: "directional", the default: the edges that were drawn; "bidirectional": also their reverses;
            "induced": all edges between the nodes.
        before: column of edges with times; with ``scope="seed"``, only edges that are older than the seed are drawn. "time<="
            takes those of the same time too.
        before_columns: the column for each edge type, where they differ.
        before_nodes: a column of times for each node type: only nodes that are older than the seed are reached.
        untimed: edge types that lack the column of ``before``; their edges are drawn at any time.
        seed_time: column with the times of the seed nodes or links; default: the column of ``before``.
        window: draw only edges that are at most so much older than the seed: a number in the unit of the times, or "30d".
        temporal_strategy: "uniform", the default, or "last": the latest edges.
        negatives: negative links per link.
        negatives_how: "binary", the default: pairs of any nodes; "triplet": other destinations; "in-batch": destinations of
            other links of the batch.
        negatives_by: how negative nodes are drawn: None, uniformly; "degree", in proportion to degree^0.75; a column of nodes.
        negatives_strict: whether a negative link may be an edge: "no" does not look, "count" draws again up to 64 times and
            counts what is left; "error" refuses what is left.
        exclude: "self": the edges that are links of the batch are not drawn; "reverse:REL": nor are their reverses, of edge
            type REL.
        edge_label: a value per link, an array; it comes as the column edge_label of the links.
        plan: a file with a plan (docs/plan.md), in place of fanout and all that says how to draw.
        sampling_spec, time_column: a file with a TF-GNN SamplingSpec, and the column by which its LATEST_K orders edges.
        limit_seeds: take only the first so many seeds.
        memory: a bound on the memory of the feed: bytes, or "8GiB".
        transform: a function that gets each batch and returns what is yielded.
        words: words of PyG.

    Raises:
        TypeError: a keyword that does not exist, or a value of a wrong type.
        ValueError: a wrong value; the text names the keyword.
        GraphmillError: an error of the command, with its text.
    """

    def __new__(cls, *_: Any, **__: Any) -> "NodeLoader":
        if cls is NodeLoader and "torch" in sys.modules:
            from ._torch_loader import TorchNodeLoader  # what torch's DataLoader takes

            return object.__new__(TorchNodeLoader)
        return object.__new__(cls)

    def __init__(
        self,
        store: str | os.PathLike[str] | Store,
        fanout: Sequence[int] | Mapping[Any, Sequence[int]] | None = None,
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
        share: bool | None = None,
        *,
        direction: str | None = None,
        expand: str | None = None,
        scope: str | None = None,
        replace: bool | None = None,
        weight: str | None = None,
        subgraph_type: Any = None,
        before: str | None = None,
        before_columns: Mapping[Any, str] | None = None,
        before_nodes: Mapping[str, str] | None = None,
        untimed: Sequence[Any] | None = None,
        seed_time: str | None = None,
        window: float | str | None = None,
        temporal_strategy: str | None = None,
        negatives: int | None = None,
        negatives_how: str | None = None,
        negatives_by: str | None = None,
        negatives_strict: str | None = None,
        exclude: str | None = None,
        edge_label: Any = None,
        plan: str | os.PathLike[str] | None = None,
        sampling_spec: str | os.PathLike[str] | None = None,
        time_column: str | None = None,
        limit_seeds: int | None = None,
        memory: int | str | None = None,
        x: Any = None,
        edge_attr: Any = None,
        transform: Callable[[Any], Any] | None = None,
        **words: Unpack[PyGWords],
    ) -> None:
        self._form = choice("as_", as_, _FORMS)
        self._rank, self._world = _ranks.checked(rank, world_size)
        self._tail = _ranks.tail_of(tail, drop_last, self._world, _TAILS)
        self._slots, self._batch_size = integer("slots", slots, 1, 1024), integer("batch_size", batch_size, 1, _MOST)
        if transform is not None and not callable(transform):
            raise TypeError(f"found transform={transform!r}, expected a function of a batch")
        self._transform, self._label = transform, label
        self._shared = self._world > 1 if share is None else truth("share", share)
        self._store = store if isinstance(store, Store) else Store(path_of(store))  # a Store in a temporary folder lives as long as it is held
        own = {
            "fanout": fanout, "seeds": seeds, "seed_type": seed_type, "threads": threads, "direction": direction, "expand": expand, "scope": scope,
            "replace": replace, "weight": weight, "subgraph_type": subgraph_type, "before": before, "before_columns": before_columns,
            "before_nodes": before_nodes, "untimed": untimed, "seed_time": seed_time, "window": window, "temporal_strategy": temporal_strategy,
            "negatives": negatives, "negatives_how": negatives_how, "negatives_by": negatives_by, "negatives_strict": negatives_strict,
            "exclude": exclude, "plan": plan, "sampling_spec": sampling_spec, "time_column": time_column, "limit_seeds": limit_seeds, "memory": memory,
        }  # fmt: skip
        o = translated(own, words, self._store, inspect.signature(NodeLoader.__init__).parameters)
        with note_of(words):
            self._begin(o, truth("shuffle", shuffle), order, seed, (features, x), (edge_features, edge_attr), edge_label)
        self._epoch, self._first = 0, 0
        self._at = (0, 0)
        self._stats = LoaderStats()
        self._warned = False

    def _begin(self, o: dict[str, Any], shuffle: bool, order: str | None, seed: int, nodes: Any, edges: Any, edge_label: Any) -> None:
        """Check the options, and start the feed."""
        store = self._store
        fanout, seeds, seed_type, threads = checked_fanout(o.pop("fanout"), store), seed_ids(o.pop("seeds")), o.pop("seed_type"), o.pop("threads")
        flags = flags_of(o, store)
        of_edges = next((name for name in ("negatives", "exclude") if flags.get(name)), "")
        ends, self._link_type = link_ends(store, seeds, seed_type, of_edges)
        if ends is not None or len(store.nodes) == 1:
            check_seeds(store, seeds, ends.replace(":", ",").split(",") if ends else store.node_types)
        self._edge_label: Array | None = None
        if edge_label is not None and self._label is not None:
            raise ValueError(f"found label={self._label!r} and edge_label=, expected one of them, because both are the labels of a batch")
        if edge_label is not None and self._form == "pyg":
            self._label = "edge_label"
        flags.update(order=order, batch_size=self._batch_size, shuffle=shuffle, **self._choose(*nodes, *edges))
        if self._form == "dgl":
            if flags.get("direction", "in") != "in":
                raise ValueError(f"found direction={flags['direction']!r} with as_='dgl', expected 'in', because the edges of a block lead to the nodes that were expanded")
            if flags.get("expand", "all") != "all":
                raise ValueError(f"found expand={flags['expand']!r} with as_='dgl', expected 'all', because a block expands all nodes that were reached before")
            flags.update(expand="all", ops=True)
        arguments = feed_arguments(store.path, fanout, seed, threads, ends, flags)
        with seed_file(seeds) as given:
            identity = _identity.identity(arguments + given)
            self._data = _identity.of_draws(identity)
            self._start(arguments + given, _identity.shared_name(store.path, identity) if self._shared else None)
        self._of = (0, 0, 0)  # process, worker and number of workers of the connection
        try:
            connection = self._connect()
            left = connection.left_out
            if edge_label is not None:
                self._edge_label = link_labels(edge_label, connection.seeds, self._schema.linked)
                self._schema.add_link_column("edge_label", self._edge_label)
            self._check_form(order or "")
            check_seeds(store, seeds, self._schema.seed_types)  # which a plan may name
            if self._form == "pyg" and not self._schema.linked and not self._schema.disjoint:
                why = "because the first batch_size nodes of a batch are its seeds; give scope='seed', as_='numpy', or each seed once"
                check_distinct(seeds, self._batch_size, not shuffle and order is None, why)
        except (TypeError, ValueError):
            self.close()
            raise
        if left:
            shown = ", ".join(left[:8]) + (f" and {len(left) - 8} others" if len(left) > 8 else "")
            warnings.warn(
                f"batches leave out columns of strings and lists: {shown}; name those that you want, such as features=['all', 'title'], or import texts with the "
                "dtype category and lists of one length with a shape such as float32[3]; features='none' or a list of columns ends this warning",
                stacklevel=3,
            )

    def _choose(self, features: Any, x: Any, edge_features: Any, edge_attr: Any) -> dict[str, str | None]:
        """The flags of the columns of batches."""
        store = self._store
        nodes = {t: n.columns for t, n in store.nodes.items()}
        edges = {":".join(e): of.columns for e, of in store.edges.items()}
        labels = ("y", "label") if self._label is None else (self._label,)
        side, edge_side = joined("x", x, nodes, labels), joined("edge_attr", edge_attr, edges, ())
        if self._form == "pyg":
            features = with_label(store, features, self._label)
        of_nodes, of_edges = chosen("features", features, nodes, side), chosen("edge_features", edge_features, edges, edge_side)
        self._looked = Looked(store, of_nodes.looked, of_edges.looked)
        if self._looked and self._form in ("dgl", "jraph"):
            names = [c for of in (of_nodes, of_edges) for names in of.looked.values() for c in names]
            raise ValueError(f"found the columns {', '.join(names)} of strings or lists with as_={self._form!r}, expected as_='numpy', 'pyg' or 'tfgnn', because its graphs hold arrays alone")
        pairs = {**{f"{t}/x": of for t, of in side.items()}, **{f"{e}/edge_attr": of for e, of in edge_side.items()}}
        text = ";".join(f"{name}={','.join(of)}" for name, of in pairs.items() if of)
        return {"features": of_nodes.sent, "edge_features": of_edges.sent, "joined": text or None}

    def _connect(self) -> Connection:
        """The connection of this process and worker; a forked child or a worker makes a new one."""
        worker = _arrays.worker() or (0, 1)
        mine = (os.getpid(), *worker)
        if self._connection is None or self._of != mine:
            c = self._connected(self._rank, self._world, self._slots, self._tail, worker)
            self._of = mine
            self._schema = Schema(c.names, c.ops, c.seed_types, self._batch_size, self._link_type, c.bfloat16, c.seed_edges, c.negatives, c.least)
            self._looked.name(self._schema)
            if self._edge_label is not None:
                self._schema.add_link_column("edge_label", self._edge_label)
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
        if label is not None and form == "pyg" and label in s.link_columns and s.negatives and s.negatives_how != "binary":
            name = "edge_label=" if label == "edge_label" else f"label={label!r}"
            raise ValueError(f"found {name} with negatives_how={s.negatives_how!r} and as_='pyg', expected none, as in PyG, because its batches have the links in src_index and dst_pos_index")
        if form == "dgl" and not s.hopped:
            raise ValueError("found as_='dgl' with a subgraph_type other than 'directional', expected it, because blocks have the edges that each hop drew")
        if form in ("pyg", "dgl") and s.linked and not s.homogeneous and s.link_type is None:
            raise ValueError(f"found links of {' and '.join(s.seed_types)}, expected their edge type too; give seed_type=(SOURCE, RELATION, TARGET)")
        if order.startswith("weighted:") and form != "numpy" and not (s.linked or s.disjoint):
            raise ValueError(f"found order={order!r} with as_={form!r}, expected as_='numpy' or scope='seed', because otherwise a seed that is drawn twice has one node")

    @property
    def store(self) -> Store:
        """The store, such as for the texts of categories: ``loader.store.nodes["item"].columns.column("kind").categories``."""
        return self._store

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
            if self._looked:
                self._looked.add(self._schema, raw)
            if self._edge_label is not None:
                raw.columns["links/edge_label"] = self._edge_label[raw.input_id]
            out = convert(self._schema, raw, self._label)
            if self._transform is not None:
                out = self._transform(out)
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
            ValueError: the state is for another store, other seeds, or options that give other subgraphs; the text lists them.
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


def _converter(form: str) -> Callable[[Schema, Raw, str | None], Any]:
    """The function that makes a framework's object from a batch. The framework is imported here, on first use."""
    if form == "numpy":
        return lambda schema, raw, label: as_numpy(schema, raw)
    import importlib

    convert: Callable[[Schema, Raw, str | None], Any] = importlib.import_module(f"._as_{form}", __package__).convert
    return convert
