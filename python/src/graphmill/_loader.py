"""The loader of batches sampled from a store."""

from __future__ import annotations

import inspect
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from . import _ages, _arrays, _identity, _ranks, _saint
from ._ahead import Ahead, Mover, check_device
from ._arguments import choice, integer, truth
from ._arrays import Array
from ._as.forms import FORMS, check_flags, check_schema
from ._cache import Cache, kept_file
from ._columns import flags_of_columns
from ._feed import Connection, Feeding, connecting
from ._html import listed, table
from ._keywords import PyGWords, note_of, translated
from ._makers import maker
from ._narrow import Narrow
from ._negatives import NegativeLists, check_listed, negative_lists
from ._options import checked_fanout, feed_arguments, flags_of, path_of
from ._order import LAW, check_state
from ._saint import Norms
from ._schema import Raw, Schema, key
from ._seeds import (
    check_distinct,
    check_last,
    check_linked,
    check_positives,
    check_seeds,
    link_ends,
    link_labels,
    one_time,
    seed_file,
    seed_ids,
    seed_times,
    unit_of_times,
)
from ._stats import LoaderStats
from ._store import Store

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._jax_transfer import JaxTransfer
    from ._transfer import Transfer

_TAILS = ("fill", "drop", "short")
_MOST = (1 << 63) - 1  # the feed counts with int64


class Place:
    """Where a pass is: the epoch and batch from which it began, and those after the batch that it yielded last."""

    began: tuple[int, int]
    at: tuple[int, int]


class NodeLoader(Feeding):
    """Batches of subgraphs sampled around seeds. A separate process samples them ahead.

    Each pass over it is the next epoch. Batch b of an epoch is the same with any number of threads and ranks, and after any
    restart. In a ``torch.utils.data.DataLoader`` worker, it yields the worker's share. Give the DataLoader
    ``batch_size=None``, and ``persistent_workers=True``, or call `set_epoch` before each pass: new workers begin with the
    epoch of this loader.

    The words of PyG's NeighborLoader and LinkNeighborLoader are accepted as well: ``num_neighbors=``, ``input_nodes=``,
    ``edge_label_index=``, ``disjoint=`` and so on. docs/python.md has the table.

    Args:
        store: path of a store (``graphmill import``) or its address in an object store (s3://BUCKET/KEY), or a `Store`.
        fanout: edges per node at each hop, from the seeds outwards: ``[15, 10]``, or by edge type
            ``{"cites": [15, 10], ("author", "writes", "paper"): [5, 5]}``; -1 takes all.
        batch_size: seeds per batch; default: 1024. With the samplers of sets of nodes: parts (default: 1), nodes, edges or walks.
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
            columns of the seed nodes, or of the links.
        seed: the random seed of all draws and orders.
        features, edge_features: names of the columns of a batch, as COLUMN or TYPE/COLUMN, "all" or "none". "all" has no columns
            of strings and lists; a list names them: ``["all", "title"]``. They are `Column` objects in NumPy, Python lists in
            PyG, and ragged tensors in TF-GNN.
        x: columns of nodes that come side by side as one column x, [nodes, values]: names or patterns, ``["f*", "year"]``, or
            a dict of these by node type. Patterns leave out columns with missing or infinite values, with a warning. It has the dtype of the columns if they share one; else float64 if one of them has it,
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
            (``LOCAL_WORLD_SIZE`` in the environment, else 1), at least 1; with ``hosts`` four times as many.
        slots: number of batches that can be ready, or held as views, at a time; further ones that are held are copies.
        share: share one feed with the loaders of the same user, training and arguments on this machine. Default: if there
            are several ranks. The ranks then share one copy of the columns and the threads.
        direction: "in", the default: a hop goes from a node to the sources of its edges; "out": to their destinations.
        expand: "new", the default: a hop expands the nodes that the hop before it reached first, as in PyG; "all": all nodes
            that were reached before, as in DGL.
        scope: "batch", the default: one subgraph per batch; "seed": each seed has its own; "epoch": one per batch, and a
            node draws the same edges in all batches of an epoch.
        sampler: "neighbor", the default: each node draws for itself; "labor": the nodes of a hop share the nodes that they draw, so
            that a batch has fewer nodes at the same fanout (LABOR, GraphBolt's LayerNeighborSampler); parallel edges share one number, so the first of them come first; "ladies" and "fastgcn": ``fanout`` is a number
            of nodes per hop and node type, which the nodes of a hop choose together, and the hop takes all edges to them. Messages are multiplied by the
            edge column ``edge_weights`` before they are averaged. "hgt": each hop adds
            ``fanout`` nodes of each node type, and a batch has all edges between its nodes (HGTLoader); "shadow": one subgraph per seed,
            with all edges between its nodes (ShaDowKHopSampler); "ppr": the same, with the ``fanout=[K]`` nodes that have the largest
            personalised PageRank for the seed; "walk": the same, with those that random walks from the seed visit most. Four others take no fanout and no seeds: a batch is a set of nodes with
            all edges between them. "cluster": the nodes of ``batch_size`` parts of ``assignment`` (Cluster-GCN, ClusterLoader);
            "saint-node", "saint-edge" and "saint-walk": GraphSAINT's, of ``batch_size`` nodes, edges, or walks.
        importance: with "labor", rounds that raise the chances of nodes which many nodes of a hop have as neighbours, so that a batch has
            fewer nodes (DGL's ``importance_sampling``); batches then have the edge column ``edge_weights``; default: 0.
        alpha: with "ppr", the chance that a walk ends before a step; default: 0.2.
        eps: with "ppr", the tolerance, as in PyG's ``get_ppr``; a smaller one takes longer; default: 1e-5.
        walk_length: steps of a walk of "walk" and "saint-walk".
        walks: with "walk", walks from each seed; default: 10.
        restart: with "walk", the chance that a step goes back to the seed; default: 0.
        coverage: with GraphSAINT's samplers, batches get the columns node_norm and edge_norm, which weight losses and messages (PyG's
            ``sample_coverage``): before the first pass, batches are counted until they have each node so many times on average.
        assignment: for "cluster", the folder with the part of each node that ``graphmill partition`` wrote. With ``shuffle``, the parts
            come in another order in each epoch.
        replace: draw with replacement.
        weight: column of edges: draw in proportion to it, one after the other. "labor" prefers heavy edges, but not in exact proportion.
        subgraph_type: "directional", the default: the edges that were drawn; "bidirectional": also their reverses;
            "induced": all edges between the nodes.
        before: column of edges with times; with ``scope="seed"``, only edges that are older than the seed are drawn. "time<="
            draws edges of the same time, too.
        before_columns: the column for each edge type, where they differ.
        before_nodes: a column of times for each node type: only nodes that are older than the seed are reached.
        untimed: edge types that lack the column of ``before``; their edges are drawn at any time.
        seed_time: column with the times of the seed nodes or links, one time for all (``"2024-04-01"``, a datetime64, a ``datetime`` or a number; UTC without a zone), or an array with a time per seed: integers in the unit of the
            times of the edges, floats, or datetime64. Default: the column of ``before``.
        window: draw only edges that are at most so much older than the seed: a number in the unit of the times, or "30d".
        temporal_strategy: "uniform", the default; "recent": late edges are drawn more often, by ``half_life``; "last": the latest edges.
        half_life: with "recent", the age at which an edge is drawn half as often as the latest one of the node, as ``window`` is given.
        age: columns with the times of nodes and edges, by type: ``{"user": "joined", ("user", "buys", "item"): "time"}``. Batches have, for
            each node and edge of these types, how long before the time of its seed it happened: the column age, float32, negative after it. In
            PyG ``batch["user"].age``; in ``Data`` ``age`` of nodes and ``edge_age``. Both ends of a seed link and its negatives have the time of the link.
            True: the columns of ``before``, ``before_columns`` and ``before_nodes``, one of which it needs in any case.
        age_unit: "seconds", "minutes", "hours", "days" (the default), "weeks" or "years" of 365.2425 days. Where times are plain numbers, none is
            given, and ages are their differences.
        negatives: negative links per link. Of a number with a fraction, a link has the whole part and, with the chance of the fraction, one more, by a draw of
            its own: 0.5 gives about every second link a negative, 1.5 one or two.
        negatives_how: "binary", the default: pairs of any nodes; "triplet": other destinations; "in-batch": destinations of
            other links of the batch.
        negatives_by: how negative nodes are drawn: None, uniformly; "degree", in proportion to degree^0.75; a column of nodes.
        negatives_strict: whether a negative link may be an edge: "no" does not look, "count" draws again up to 64 times and
            counts what is left; "error" refuses what is left.
        negatives_linked: which edges ``negatives_strict`` compares with: "ever", all; "before", those whose time in ``before`` is not after the link's.
        negatives_when: which nodes are drawn for the negatives of links with times: "existing", the default for node types in ``before_nodes``: those whose own
            time is not later than the link's; "any".
        negatives_from: the negatives of each link, in place of ``negatives``: node ids of destinations [links, negatives], or of sources and destinations
            [links, negatives, 2]; a list of arrays, or (ids, offsets), for lists of several lengths; the name of a column of the links with lists of original
            ids of destinations; or an .npy file.
        positives: an edge type, ``("user", "buys", "item")``, that makes each seed, a user, a seed link per epoch: one of its edges of the type, drawn alike among
            those that are ``messages`` and, with ``before``, not later than the time of the seed. So a user counts once per epoch, as in BPR. The batches are those
            of links: ``links`` has the columns of the edges. Seeds without such an edge are left out, which `notes` counts; ``input_id`` has the places in
            the seeds that were given.
        exclude: "self": the edges that are links of the batch are not drawn; "reverse:REL": nor are their reverses, of edge
            type REL.
        messages: the edges that batches can have, for draws, negatives and induced subgraphs: ``"split=train"``; a list of several values,
            ``["split=train", "split=valid"]``; a column of bools, ``"is_train"``; or a dict by edge type, whose other types keep all edges:
            ``{("user", "buys", "item"): "split=train"}``. The seeds can be any edges. Default: all edges.
        edge_label: a value per link, an array; it comes as the column edge_label of the links.
        plan: a file with a plan (docs/plan.md), in place of fanout and all that says how to draw.
        sampling_spec, time_column: a file with a TF-GNN SamplingSpec, and the column by which its LATEST_K orders edges.
        limit_seeds: take only the first so many seeds.
        memory: a bound on the memory of the feed: bytes, or "8GiB".
        executor: how neighbours and rows are read: "memory": at random, from the mapped store; "stream": in sweeps over the disk, for
            graphs larger than memory; "auto", the default: "stream" if the memory executor needs more than ``memory``; "cuda": from the memory of the CUDA
            device ``device``, on which batches are then drawn, with torch and Triton. docs/gpu.md has the plans that it draws. The
            batches are the same. `notes` says what was chosen.
        hosts: addresses "HOST:PORT" of all processes of ``graphmill host`` that have the store: edges are drawn and rows are read on their machines, in place of
            this one. The batches are the same. docs/hosts.md has what it takes.
        hosts_token, hosts_ca: with ``hosts``, the file with their token, and the PEM file with the certificates that theirs are signed by.
        http: an address "HOST:PORT" at which the feed answers /healthz, /readyz and /metrics, for Prometheus: batches, bytes, and who waits for whom; port 0 chooses a free one. ``loader.http`` is the
            address, None without. docs/serving.md has the metrics.
        edge_ids: False leaves e_id out of batches: the stream executor then draws and reads less.
        device: where the tensors of PyG and DGL come to: ``"cuda:0"``. A thread copies the next batch while the trainer works on this one: for CUDA as a
            whole, out of the feed's memory, on a stream of its own. For "jraph" a device of JAX: "cpu", "gpu", "tpu:1" or a ``jax.Device``. Arrays of 64 bits, which
            JAX has with ``jax_enable_x64`` alone, stay NumPy arrays.
        pin_memory: copy batches to pinned memory, where there is a CUDA device.
        cache: rows of nodes that stay on the device, so that batches bring only the others: the most bytes of them, "2GiB", or the `Cache` of another loader
            (``loader.cache``), whose columns have those of this one. Batches have the same values. For "pyg", "dgl" and "jraph". docs/gpu.md says what it takes.
        transform: a function that gets each batch, before it is copied to a device, and returns what is yielded; with ``cache`` after it.
        words: words of PyG.

    Raises:
        TypeError: a keyword that does not exist, or a value of a wrong type.
        ValueError: a wrong value; the text names the keyword.
        GraphmillError: an error of the command, with its text.
    """

    def __new__(cls, *_: Any, **__: Any) -> NodeLoader:
        if cls is NodeLoader and "torch" in sys.modules:
            of_torch: Any = maker("loader", "torch")  # what torch's DataLoader takes
            loader: NodeLoader = object.__new__(of_torch)
            return loader
        return object.__new__(cls)

    def __init__(
        self,
        store: str | os.PathLike[str] | Store,
        fanout: Sequence[int] | Mapping[Any, Sequence[int]] | None = None,
        batch_size: int | None = None,
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
        sampler: str | None = None,
        importance: int | None = None,
        alpha: float | None = None,
        eps: float | None = None,
        walk_length: int | None = None,
        walks: int | None = None,
        restart: float | None = None,
        coverage: int = 0,
        assignment: str | os.PathLike[str] | None = None,
        replace: bool | None = None,
        weight: str | None = None,
        subgraph_type: Any = None,
        before: str | None = None,
        before_columns: Mapping[Any, str] | None = None,
        before_nodes: Mapping[str, str] | None = None,
        untimed: Sequence[Any] | None = None,
        seed_time: Any = None,
        window: float | str | None = None,
        temporal_strategy: str | None = None,
        half_life: float | str | None = None,
        age: Mapping[Any, str] | bool | None = None,
        age_unit: str | None = None,
        negatives: float | None = None,
        negatives_how: str | None = None,
        negatives_by: str | None = None,
        negatives_strict: str | None = None,
        negatives_linked: str | None = None,
        negatives_when: str | None = None,
        negatives_from: Any = None,
        positives: Any = None,
        exclude: str | None = None,
        messages: str | Sequence[str] | Mapping[Any, Any] | None = None,
        edge_label: Any = None,
        plan: str | os.PathLike[str] | None = None,
        sampling_spec: str | os.PathLike[str] | None = None,
        time_column: str | None = None,
        limit_seeds: int | None = None,
        memory: int | str | None = None,
        executor: str | None = None,
        hosts: Sequence[str] | None = None,
        hosts_token: str | os.PathLike[str] | None = None,
        hosts_ca: str | os.PathLike[str] | None = None,
        http: str | None = None,
        edge_ids: bool = True,
        x: Any = None,
        edge_attr: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        cache: int | str | Cache | None = None,
        transform: Callable[[Any], Any] | None = None,
        **words: Unpack[PyGWords],
    ) -> None:
        self._form = choice("as_", as_, FORMS)
        self._rank, self._world = _ranks.checked(rank, world_size)
        self._tail = _ranks.tail_of(tail, drop_last, self._world, _TAILS)
        size = (1 if sampler == "cluster" else 1024) if batch_size is None else batch_size
        self._slots, self._batch_size = integer("slots", slots, 1, 1024), integer("batch_size", size, 1, _MOST)
        if transform is not None and not callable(transform):
            raise TypeError(f"found transform={transform!r}, expected a function of a batch")
        self._transform, self._label = transform, label
        self._device, self._pin = device, truth("pin_memory", pin_memory)
        self._ahead: Ahead | None = None
        self._on_card = isinstance(executor, str) and executor == "cuda"
        if self._pin and not self._on_card and self._form not in ("pyg", "dgl"):
            raise ValueError(f"found pin_memory=True with as_={as_!r}, expected as_='pyg' or 'dgl', whose batches are torch tensors")
        self._jax: Any = None  # the JaxDevice to which batches come
        if not self._on_card:
            self._jax = self._checked_device(device, cache)
        self._card: Any = None  # the Card of `_cuda`, which a copy of the loader makes anew
        if self._on_card:
            try:
                from ._cuda.card import check_device as of_card
            except ModuleNotFoundError as e:
                raise ModuleNotFoundError(
                    f"found executor='cuda' without {e.name}, expected torch and Triton; install them, or leave executor= out", name=e.name
                ) from e
            self._device = of_card(self._form, device)
        self._cache = cache if cache is None or isinstance(cache, Cache) else Cache(cache)
        if self._on_card and cache is not None:
            raise ValueError("found cache= with executor='cuda', expected one of them, because all rows are on the device then; leave cache= out")
        # Batches come to the device as a whole, before they take their form. A transform without a cache gets batches that are not copied yet.
        self._whole = self._cache is not None or (not self._on_card and transform is None and (self._jax is not None or Mover.is_cuda(device)))
        self._transfer: Transfer | JaxTransfer | None = None
        self._shared = self._world > 1 if share is None else truth("share", share)
        self._store = store if isinstance(store, Store) else Store(path_of(store))  # a Store in a temporary folder lives as long as it is held
        own = {
            "fanout": fanout, "seeds": seeds, "seed_type": seed_type, "threads": threads, "direction": direction, "expand": expand, "scope": scope,
            "sampler": sampler, "importance": importance, "alpha": alpha, "eps": eps, "walk_length": walk_length, "walks": walks, "restart": restart, "assignment": assignment, "replace": replace, "weight": weight, "subgraph_type": subgraph_type, "before": before, "before_columns": before_columns,
            "before_nodes": before_nodes, "untimed": untimed, "seed_time": seed_time, "window": window, "temporal_strategy": temporal_strategy, "half_life": half_life,
            "age": age, "age_unit": age_unit, "negatives": negatives, "negatives_how": negatives_how, "negatives_by": negatives_by, "negatives_strict": negatives_strict, "negatives_linked": negatives_linked, "negatives_when": negatives_when, "negatives_from": negatives_from, "positives": positives,
            "exclude": exclude, "messages": messages, "plan": plan, "sampling_spec": sampling_spec, "time_column": time_column, "limit_seeds": limit_seeds, "memory": memory,
            "executor": None if self._on_card else executor, "hosts": hosts, "hosts_token": hosts_token, "hosts_ca": hosts_ca, "http": http,
        }  # fmt: skip
        o = translated(own, words, self._store, inspect.signature(NodeLoader.__init__).parameters)
        self._norms: Norms | None = None
        coverage = integer("coverage", coverage, 0)
        _saint.check(sampler, coverage, (), truth("edge_ids", edge_ids))
        with note_of(words):
            self._begin(o, truth("shuffle", shuffle), order, seed, (features, x), (edge_features, edge_attr), edge_label, truth("edge_ids", edge_ids))
        if coverage:
            self._weigh(
                coverage, {"batch_size": self._batch_size, "sampler": sampler, "walk_length": walk_length, "seed": seed, "threads": threads, "memory": memory}
            )
        self._epoch, self._first = 0, 0
        self._at = (0, 0)
        self._stats = LoaderStats()
        self._warned = self._began = False

    def _begin(self, o: dict[str, Any], shuffle: bool, order: str | None, seed: int, nodes: Any, edges: Any, edge_label: Any, edge_ids: bool) -> None:
        """Check the options, and start the feed."""
        store = self._store
        fanout, seeds, seed_type, threads = checked_fanout(o.pop("fanout"), store, o["sampler"]), seed_ids(o.pop("seeds")), o.pop("seed_type"), o.pop("threads")
        self._places = np.flatnonzero(seeds) if isinstance(seeds, np.ndarray) and seeds.dtype == bool else None  # of the seeds in what the user gave
        o["seed_time"] = one_time(o.get("seed_time"))
        times = seed_times(o["seed_time"], seeds, unit_of_times(store, o))
        given = negative_lists(o["negatives_from"], seeds)
        o["negatives_from"] = given if isinstance(given, str) else None
        age = o.pop("age", None)
        flags = flags_of(o if times is None else {**o, "seed_time": None}, store)
        of_ages = _ages.ages(age, o, store)
        self._aged = _ages.keys(of_ages)
        of_edges = next(
            (name for name in ("negatives", "negatives_from", "exclude") if flags.get(name) or (name == "negatives_from" and given is not None)), ""
        )
        drawn = check_positives(store, flags.get("positives"), seeds, edge_label)
        if of_edges and not flags.get("plan") and drawn is None:
            check_linked(store, seeds, seed_type, of_edges)
        ends, self._link_type = link_ends(store, seeds, seed_type, of_edges if drawn is None else "")
        if drawn is not None:
            self._link_type = drawn
        if ends is not None or drawn is not None or len(store.nodes) == 1:
            types = ends.replace(":", ",").split(",") if ends else store.node_types if drawn is None else [drawn[0]]
            check_seeds(store, seeds, types)
            check_listed(store, given, [types[0], types[-1]])
        self._edge_label: Array | None = None
        names = tuple(seeds.split(":")) if isinstance(seeds, str) else ()
        if edge_label is not None and names in store.edges and not store.edges[names].has_positions:
            raise ValueError(
                f"found edge_label= with all links of {seeds}, whose order in the input the import left out (--no-positions), expected links as pairs, in the order of their labels"
            )
        if edge_label is not None and self._label is not None:
            raise ValueError(f"found label={self._label!r} and edge_label=, expected one of them, because both are the labels of a batch")
        if edge_label is not None and self._form == "pyg":
            self._label = "edge_label"
        of_columns, self._looked, gaps = flags_of_columns(store, self._form, self._label, nodes, edges)
        if self._looked.edges and not edge_ids:
            raise ValueError("found edge_ids=False and edge columns of strings or lists, expected edge_ids=True, because their rows are found by e_id")
        self._narrow = Narrow(store) if self._whole else None
        if self._narrow is not None:
            of_columns["features"] = self._narrow.features(of_columns["features"])
        flags.update(
            order=order,
            batch_size=self._batch_size,
            shuffle=shuffle,
            slots=None if flags.get("memory") is None and flags.get("executor") != "stream" else self._slots,
            no_edge_ids=not edge_ids,
            narrow_ids=self._whole,
            seeds_alone=self._on_card or None,
            age=";".join(f"{t}={column}" for t, column in of_ages.items()) or None,
            **of_columns,
        )
        check_flags(self._form, flags)
        if self._form == "dgl":
            flags.update(expand="all", ops=True)
        arguments = feed_arguments(store.path, fanout, seed, threads, ends, flags)
        with seed_file(seeds, times, given if isinstance(given, NegativeLists) else None) as files:
            identity = _identity.identity(store._folder.fingerprint, arguments + files)
            self._data = _identity.of_draws(identity)
            self._of = (0, 0, 0)  # process, worker and number of workers of the connection
            self._seed, self._joined = seed, of_columns["joined"] or ""
            self._start(arguments + files, _identity.shared_name(store.path, identity) if self._shared else None)
            if self._cache is not None:
                self._keep(self._cache, arguments + files, flags)
        try:
            connection = self._connect()
            left = connection.left_out
            if edge_label is not None:
                self._edge_label = link_labels(edge_label, connection.seeds, self._schema.linked)
                self._schema.add_link_column("edge_label", self._edge_label)
            check_schema(self._form, self._schema, self._label, order or "")
            if self._on_card:
                if self._aged:
                    raise ValueError("found executor='cuda' with age=, expected none; leave age= or executor= out")
                if self._looked:
                    raise ValueError(
                        "found executor='cuda' with columns of strings or lists, expected numbers; leave them out of features= and edge_features=, or executor="
                    )
                self._card = self._made_card(connection)
            check_seeds(store, seeds, self._schema.seed_types)  # which a plan may name
            check_listed(store, given, self._schema.seed_types)
            if times is not None and len(times) != connection.seeds and not flags.get("limit_seeds") and drawn is None:
                raise ValueError(f"found seed_time= of {len(times)} values, expected {connection.seeds}, one per seed")
            if self._schema.negatives_how == "in-batch":
                check_last(connection.seeds, self._batch_size, self._tail == "drop")
            if self._form not in ("numpy", "dgl") and not self._schema.linked and not self._schema.disjoint:
                why = "because the first batch_size nodes of a batch are its seeds; give scope='seed', as_='numpy', or each seed once"
                check_distinct(seeds, self._batch_size, not shuffle and order is None, why)
        except (TypeError, ValueError):
            self.close()
            raise
        if gaps:
            warnings.warn(gaps, stacklevel=3)
        if left:
            shown = ", ".join(left[:8]) + (f" and {len(left) - 8} others" if len(left) > 8 else "")
            warnings.warn(
                f"batches leave out columns of strings and lists: {shown}; name those that you want, such as features=['all', 'title'], or import texts with the "
                "dtype category and lists of one length with a shape such as float32[3]; features='none' or a list of columns ends this warning",
                stacklevel=3,
            )

    def _checked_device(self, device: Any, cache: Any) -> Any:
        """Reject a device and a cache that batches of this form cannot use. Returns the JaxDevice of JAX's forms; None for others."""
        given = "cache=" if device is None else f"device={device!r}"
        if device is None and cache is None:
            return None
        if self._form == "jraph":
            from ._jax_device import JaxDevice

            return JaxDevice(device)
        if self._form not in ("pyg", "dgl"):
            raise ValueError(f"found {given} with as_={self._form!r}, expected as_='pyg', 'dgl' or 'jraph', whose batches can be on a device")
        if device is not None:
            check_device(device)
        return None

    def _keep(self, cache: Cache, arguments: list[str], flags: dict[str, Any]) -> None:
        """Fill the cache with rows, and start the feed again without them."""
        store = self._store
        device = self._jax
        if device is None:
            from ._torch_device import TorchDevice

            device = TorchDevice(self._device)
            self._device = None if self._device is None else device.device
        try:
            cache.fill(store, device, self._connect(), self._schema, arguments, flags)
        finally:
            self.close()
        with kept_file(cache, store, self._schema.nodes) as more:
            name = _identity.shared_name(store.path, _identity.identity(store._folder.fingerprint, arguments + more)) if self._shared else None
            self._of = (0, 0, 0)
            self._start(arguments + more, name)
        if Store(store.path)._folder.fingerprint != store._folder.fingerprint:
            self.close()
            raise ValueError(
                f"{store.path}: found another version of the store than the one whose rows were kept for cache=; open the Store again, and make the loader again"
            )

    def _weigh(self, coverage: int, same: dict[str, Any]) -> None:
        """Count the nodes and edges of batches, for the columns of GraphSAINT. Each rank counts the same batches."""
        try:
            s = self._schema
            _saint.check(same["sampler"], coverage, [*s.node_columns[s.nodes[0]], *s.edge_columns[s.edges[0]]], True)
            n, e = self._store.nodes[s.nodes[0]].count, self._store.edges[s.edges[0]].count
            norms = Norms(n, e)
            with NodeLoader(self._store, features="none", **same) as counted:
                counted.set_epoch(_saint.FIRST_EPOCH)
                while norms.drawn < coverage * n:
                    norms.count(counted)
        except BaseException:
            self.close()
            raise
        self._norms = norms
        norms.name(self._schema)

    def _made_card(self, connection: Connection) -> Any:
        """The graph, the plan and the columns on the device."""
        from ._cuda.card import Card

        joined = {}
        for of in filter(None, self._joined.split(";")):
            name, _, columns = of.partition("=")
            t, _, column = name.rpartition("/")
            joined[t] = column, columns.split(",")
        assert connection.plan is not None
        return Card(self._store, connection.plan, connection.made, joined, self._seed, self._device)

    def _connect(self) -> Connection:
        """The connection of this process and worker; a forked child or a worker makes a new one."""
        worker = _arrays.worker() or (0, 1)
        mine = (os.getpid(), *worker)
        with connecting():
            if self._connection is not None and self._of == mine:
                return self._connection
            c = self._connected(self._rank, self._world, self._slots, self._tail, worker)
            self._of = mine
            self._schema = Schema(c.names, c.ops, c.seed_types, self._batch_size, self._link_type, c.bfloat16, c.seed_edges, c.negatives, c.least, self._aged)
            if self._narrow is not None:
                self._narrow.name(self._schema)
            self._looked.name(self._schema)
            if self._edge_label is not None:
                self._schema.add_link_column("edge_label", self._edge_label)
            if self._norms is not None:
                self._norms.name(self._schema)
            return c

    @property
    def cache(self) -> Cache | None:
        """The rows that stay on the device, which other loaders can be given; None without ``cache``."""
        return self._cache

    @property
    def store(self) -> Store:
        """The store, such as for the texts of categories: ``loader.store.nodes["item"].columns.column("kind").categories``."""
        return self._store

    @property
    def notes(self) -> list[str]:
        """Which executor makes the batches, why, and what it reads and holds, in lines of text."""
        notes = list(self._connect().notes)
        return notes if self._card is None else [self._card.note, *(text for text in notes if not text.startswith("executor "))]

    def __len__(self) -> int:
        """The number of batches of an epoch for this rank, over all DataLoader workers."""
        batches: int = self._connect().batches
        return batches

    def __iter__(self) -> Iterator[Any]:
        return self._pass(Place())

    def _pass(self, place: Place) -> Iterator[Any]:
        """The batches of the next epoch, and where that pass is."""
        self._leave()  # only one reader of the connection at a time
        connection = self._connect()
        epoch, first = self._epoch, self._first
        self._epoch, self._first = epoch + 1, 0
        self._at = place.began = (epoch, first)
        end = _ranks.end(self._tail, connection.total, first, self._world)
        began = asked = time.perf_counter()
        run = connection.start(epoch, first)
        before, drawn, edges = self._stats.seconds, self._stats.negatives, self._stats.negative_edges
        if self._on_card and self._card is None:
            self._card = self._made_card(connection)
        if self._device is not None and self._form != "jraph":
            self._device = Mover.device_of(self._device)
        if self._form == "jraph" and self._device is not None and self._jax is None:  # a copy of a loader, whose device is of its own process
            self._jax = self._checked_device(self._device, None)
        mover = self._mover() if self._card is None else self._card.mover()
        self._began = True
        made: Any = self._made(connection, run, epoch, mover, self._transfers(connection))
        if self._card is not None:
            made = self._card.on_stream(made)
        ahead = None
        if mover is not None:
            made = ahead = self._ahead = Ahead(made)
        try:
            for number, out, waited, converted, event in made:
                if mover is not None:
                    mover.arrived(out, event)
                now = time.perf_counter()
                self._stats.batches += 1
                self._stats.waited += waited if ahead is None else now - asked
                self._stats.converted += converted
                self._stats.seconds = before + now - began
                taken = number - self._rank + self._world
                self._at = place.at = (epoch, taken) if taken < end else (epoch + 1, 0)
                self._watch()
                yield out
                del out
                if mover is not None:
                    mover.hold_back()  # which is no waiting for batches
                asked = time.perf_counter()
            if ahead is not None and not ahead.done:
                raise connection.ended()
            now = time.perf_counter()
            self._at = (epoch + 1, 0)
            if self._stats.negative_edges > edges:
                warnings.warn(
                    f"{self._stats.negative_edges - edges} of {self._stats.negatives - drawn} negatives of this pass are edges all the same, after 64 draws each: give fewer "
                    "negatives=, or negatives_strict='no'",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._stats.waited += now - asked
            self._stats.seconds = before + now - began  # includes the trainer's time for the last batch
        finally:
            if ahead is not None:
                ahead.close()

    def _mover(self) -> Mover | None:
        """What copies batches of torch to the device; None if they stay as they are."""
        return None if self._jax is not None else Mover.of(self._device, self._pin, warn=not self._began)

    def _transfers(self, connection: Connection) -> Transfer | JaxTransfer | None:
        """What copies whole batches of a connection to the device; None if the parts of batches are copied one by one, or not at all."""
        if not self._whole:
            return None
        if self._transfer is None or self._transfer.connection is not connection:
            if self._transfer is not None:
                self._transfer.close()
            self._transfer = self._transfer_of(connection)
        self._transfer.begin()
        return self._transfer

    def _transfer_of(self, connection: Connection) -> Transfer | JaxTransfer:
        assert self._narrow is not None
        if self._jax is not None:
            from ._jax_transfer import JaxTransfer

            return JaxTransfer(self._jax, self._cache, connection, self._narrow)
        from ._transfer import Cuda, Transfer

        device = Mover.device_of(self._device)
        return Transfer(device, self._cache, connection, self._narrow, Cuda(device) if device.type == "cuda" else None)

    def _made(
        self, connection: Connection, run: int, epoch: int, mover: Mover | None, transfer: Transfer | JaxTransfer | None
    ) -> Iterator[tuple[int, Any, float, float, Any]]:
        """For each batch of a pass: its number, what is yielded, the seconds of waiting and of converting, and the event of its copy."""
        convert = maker("batch", self._form)
        while True:
            asked = time.perf_counter()
            b = connection.next(run)
            came = time.perf_counter()
            if b is None:
                return
            raw = Raw(b.columns if transfer is None else dict(b.columns), b.seeds, b.number, connection.hops)
            if self._card is not None:
                raw = self._card.batch(raw, epoch)
            if "negative_edges" in raw.columns:
                self._stats.negatives += len(raw.negative_pairs)
                self._stats.negative_edges += int(raw.columns["negative_edges"][0])
            if self._looked:
                self._looked.add(self._schema, raw)
            if self._norms is not None:
                self._norms.add(self._schema, raw)
            if self._edge_label is not None:
                raw.columns["links/edge_label"] = self._edge_label[raw.input_id]
            if self._places is not None:
                raw.columns["input_id"] = self._places[raw.input_id]
            if transfer is not None:
                self._stats.bytes_sent += b.base.nbytes
                for t in () if self._cache is None else self._cache.nodes:
                    nodes = len(b.columns[key("nodes", t, "place")])
                    self._stats.rows += nodes
                    self._stats.kept += nodes - len(b.columns[key("nodes", t, "sent")])
                out, event = transfer(b, self._schema, raw, lambda raw: self._converted(convert, raw))
                if self._pin and mover is not None and Mover.device_of(self._device).type == "cpu":
                    out, event = mover(out)
            else:
                out, event = self._converted(convert, raw), None
                if mover is not None:
                    out, event = mover(out)
                elif self._jax is not None:
                    out, _ = self._jax.moved(out)
            number = b.number
            del b, raw
            made = (number, out, came - asked, time.perf_counter() - came, event)
            del out
            yield made
            del made

    def _converted(self, convert: Callable[..., Any], raw: Raw) -> Any:
        """What is yielded for the columns of a batch."""
        out = convert(self._schema, raw, self._label)
        return out if self._transform is None else self._transform(out)

    def _leave(self) -> None:
        """End the thread of an earlier pass."""
        ahead, self._ahead = self._ahead, None  # another thread may leave it too
        if ahead is not None and self._connection is not None and self._connection._pid == os.getpid():
            ahead.close()

    def close(self) -> None:
        """End the feed, or leave it to the other ranks that use it. Batches that are in use stay readable."""
        self._leave()
        transfer, self._transfer = self._transfer, None
        try:
            if transfer is not None:
                transfer.close()
        finally:
            super().close()

    def __getstate__(self) -> dict[str, Any]:
        if self._cache is not None:
            raise TypeError(
                "found a loader with cache= that is sent to another process, expected one without: its rows are on a device of this process; leave num_workers=0"
            )
        return {**super().__getstate__(), "_ahead": None, "_transfer": None, "_card": None, "_jax": None}

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

    def __repr__(self) -> str:
        c = self._connection
        if c is None:
            return f"NodeLoader({self._store.path!r}, as_={self._form!r})"
        kind = " and ".join(c.seed_types) + " links" if self._schema.linked else f"{c.seed_types[0]} seeds"
        ranks = f", rank {self._rank} of {self._world}" if self._world > 1 else ""
        hops, batches = (f"{n} {what}{end * (n != 1)}" for n, what, end in ((c.hops, "hop", "s"), (c.batches, "batch", "es")))
        return f"NodeLoader({self._store.path!r}, as_={self._form!r}): {c.seeds:,} {kind} in batches of {self._batch_size}, {hops}, {batches} per epoch{ranks}"

    def _repr_html_(self) -> str:
        """What a batch has: for each type, its columns."""
        rows = []
        both: Any = ((self._store.nodes, self._schema.node_columns), (self._store.edges, self._schema.edge_columns))
        for of, columns in both:
            for t, names in columns.items():
                have = of[t].columns
                rows.append((of[t].name, listed([f"{n}: {have.described(n)}" if n in have else n for n in names])))
        return table(repr(self), ("type", "columns of a batch"), rows)

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


# What help() and editors show: __new__ takes any arguments, and would hide the arguments of __init__.
_signature = inspect.signature(NodeLoader.__init__)
NodeLoader.__signature__ = _signature.replace(parameters=list(_signature.parameters.values())[1:])  # type: ignore[attr-defined]
