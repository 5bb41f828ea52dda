"""The evaluation protocols of OGB's and TGB's link sets and TGB's node sets, by one call each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._arguments import choice, integer, meant
from .._arguments import path as as_path
from .._arrays import Array
from . import _ogb, _ranks, _tgb, _tgb_nodes
from ._evaluation import options, scored
from ._given import Given, Links, Nodes
from ._input import finite, numbers
from ._links import _AREAS, _Links, links
from ._names import Metric, parsed
from ._negatives import Ragged
from ._scores import Scores
from ._tgb_nodes import Asked, NodeSet, Times

_BLOCK = 1 << 17  # links that a model scores in one call, unless the user says how many
_SPLITS = {"train": "train", "valid": "valid", "val": "valid", "test": "test"}

Score = Callable[[Links], Any]


def given(folder: Any, split: str = "test", *, name: str | None = None) -> Given:
    """The links of a split of a data set of OGB or TGB, and the negatives that come with it.

    The pickles in which these data sets have them are read without being run: a file that names any function but the ones that make NumPy arrays and torch
    tensors is refused. Neither OGB, TGB nor torch is needed.

    Args:
        folder: the folder of the data set, as OGB and TGB unpack it, such as ``dataset/ogbl_collab``.
        split: ``"train"``, which has no negatives, ``"valid"`` (or ``"val"``) or ``"test"``.
        name: the data set, such as ``"ogbl-collab"``, if the name of the folder does not say it.

    Returns:
        The links and their negatives, in the form that the set has: ``links.edge_index`` [2, n], and ``negatives``, which is [2, m], links for all positives; [n, k];
        or flat with ``offsets`` [n + 1].

    Raises:
        ValueError: the data set is not known, or a file is damaged or has what is not read.
        OSError: a file cannot be read.
    """
    return _read(folder, split, name, {**_ogb.SETS, **_tgb.SETS, **_tgb_nodes.SETS})


def ogbl(
    folder: Any,
    score: Score,
    split: str = "test",
    metrics: Any = None,
    *,
    name: str | None = None,
    block: int = _BLOCK,
    groups: Any = None,
    bootstrap: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Scores:
    """Scores of a model on a link set of OGB, by the set's own protocol: its links, its negatives, its metric.

    The model is a function of links, so one function does for all sets: those with relations and types have them beside ``edge_index``. It is not told which links
    are positive.

    Args:
        folder: the folder of the data set, such as ``dataset/ogbl_collab``.
        score: a function that gets `Links` and returns a score for each, [n], an array or a tensor: ``lambda of: (z[of.edge_index[0]] * z[of.edge_index[1]]).sum(-1)``.
        split: ``"valid"`` or ``"test"``.
        metrics: names of metrics, as in `links`. By default it is the metric of the set: ``hits@100`` of ogbl-ppa, ``hits@50`` of ogbl-collab, ``hits@20`` of ogbl-ddi, ``mrr`` of
            ogbl-citation2, ogbl-wikikg2 and ogbl-biokg, ``auc`` of ogbl-vessel.
        name: the data set, such as ``"ogbl-collab"``, if the name of the folder does not say it.
        block: the most links that ``score`` gets at a time.
        groups: [n], the group of each link: numbers or texts. The result has Scores of each.
        bootstrap, level, seed: as in `links`.

    Returns:
        The Scores. Their items are the links. Of a knowledge graph each link is two items: first come all links among other targets, then all among other sources.

    Raises:
        ValueError: the data set is not known, a file is damaged, the split has no negatives or no links, or the scores are not one number per link.
        OSError: a file cannot be read.
    """
    of = _read(folder, split, name, _ogb.SETS)
    names = _metrics(metrics, _ogb.SETS[of.name].metric)
    most = integer("block", block, 1)
    if not len(of.links):
        raise ValueError(f"found no links in the split {of.split} of {of.name}, expected at least one")
    of_links = options(groups, len(of.links), "links", bootstrap, level, seed).groups
    more: dict[str, Any] = dict(bootstrap=bootstrap, level=level, seed=seed)
    if of.targets is None:
        if of.shared is None:
            raise ValueError(f"found no negatives in the split {of.split} of {of.name}, expected some; evaluate on valid or test")
        positive, negative = (_in_blocks(score, x, most) for x in (of.links, Links(of.shared)))
        return links(positive, negative, [m.name for m in names], ties="worst", groups=groups, **more)
    ends: list[tuple[Nodes, int]] = [(of.targets, 1)] + ([] if of.sources is None else [(of.sources, 0)])
    if of_links is not None:
        groups = np.concatenate([of_links] * len(ends))
    found = _Found(names, len(of.links) * len(ends))
    for nodes, end in ends:
        _rank(found, score, of.links, nodes, end, 0, len(of.links), most)
    return found.scores(groups, more)


def tgbl(
    folder: Any,
    score: Score,
    split: str = "test",
    metrics: Any = None,
    *,
    name: str | None = None,
    update: Callable[[Links], Any] | None = None,
    batch_size: int = 200,
    block: int = _BLOCK,
    groups: Any = None,
    bootstrap: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Scores:
    """Scores of a model on a link set of TGB, by TGB's protocol: batch after batch in the order of time, each link among its own negatives.

    As in TGB's examples, a model first scores a batch, and may then learn from it: ``update`` gets the positive links of a batch after all its scores, for a model
    with a memory or a sampler of neighbours. A model without state needs none. For test, bring the model up to the end of validation first, such as by this
    function on ``"valid"``.

    Args:
        folder: the folder of the data set, such as ``datasets/tgbl_wiki``, with the table of links, NAME_edgelist.csv, and the negatives, NAME_val_ns.pkl and NAME_test_ns.pkl.
        score: a function that gets `Links`, with their times and relations, and returns a score for each, [n], an array or a tensor. Each positive is followed by its negatives.
        split: ``"valid"`` (or ``"val"``) or ``"test"``.
        metrics: names of metrics, as in `links`. By default it is TGB's own, ``mrr``.
        name: the data set, such as ``"tgbl-wiki"``, if the name of the folder does not say it.
        update: a function that gets the positive links of a batch.
        batch_size: number of positive links of a batch. It is 200 in TGB's examples. The scores of a model with a memory depend on it.
        block: the most links that ``score`` gets at a time. A batch may take several calls.
        groups: [n], the group of each link of `given`: numbers or texts. The result has Scores of each.
        bootstrap, level, seed: as in `links`.

    Returns:
        The Scores. Their items are the links in the order of `given`. Those of sets named tkgl have each link in both directions, as TGB has them.

    Raises:
        ValueError: the data set is not known, a file is damaged or does not belong to the table, the split has no links, or the scores are not one number per link.
        OSError: a file cannot be read.
    """
    size, most = integer("batch_size", batch_size, 1), integer("block", block, 1)
    names = _metrics(metrics, _tgb.METRIC)
    of = _read(folder, split, name, _tgb.SETS)
    if of.targets is None:
        raise ValueError(f"found the split {of.split} of {of.name}, which has no negatives, expected valid or test")
    if not len(of.links):
        raise ValueError(f"found no links in the split {of.split} of {of.name}, expected at least one")
    options(groups, len(of.links), "links", bootstrap, level, seed)  # a mistake is found before the model runs
    found = _Found(names, len(of.links))
    for first in range(0, len(of.links), size):
        end = min(first + size, len(of.links))
        _rank(found, score, of.links, of.targets, 1, first, end, most)
        if update is not None:
            update(of.links.rows(first, end))
    return found.scores(groups, dict(bootstrap=bootstrap, level=level, seed=seed))


def tgbn(
    folder: Any,
    score: Callable[[Asked], Any],
    split: str = "test",
    metrics: Any = None,
    *,
    name: str | None = None,
    update: Callable[[Links], Any] | None = None,
    learn: Callable[[Asked, Array], Any] | None = None,
    batch_size: int = 200,
    bootstrap: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Scores:
    """Scores of a model on a node set of TGB, by TGB's protocol: at each time that has labels, the nodes that have some, by what was before.

    The labels of a node are weights of classes, such as how much a user listens to each genre in the next week. A time of labels belongs to the split of the first link
    at or after it. Before it ``update`` gets all links of the split that are older, after its scores ``learn`` gets the labels, and at the end ``update`` the other
    links. For test, bring the model up to the end of validation first, such as by this function on ``"train"`` and ``"valid"``.

    Args:
        folder: the folder of the data set, such as ``datasets/tgbn_genre``, with NAME_edgelist.csv and NAME_node_labels.csv.
        score: a function that gets `Asked`, a time and nodes, and returns the score of each class for each node, [n, classes], an array or a tensor.
        split: ``"train"``, ``"valid"`` (or ``"val"``) or ``"test"``.
        metrics: names of metrics, ``ndcg@K``. By default it is TGB's own, ``ndcg@10``.
        name: the data set, such as ``"tgbn-genre"``, if the name of the folder does not say it.
        update: a function that gets links in the order of time, at most ``batch_size`` at a time.
        learn: a function that gets what was asked, and the labels, [n, classes], float64.
        batch_size: number of links that ``update`` gets at a time.
        bootstrap, level, seed: as in `links`.

    Returns:
        The Scores. Their items are the times of labels, of which each has the mean of its nodes. Classes of equal scores share their places, and a node whose
        labels are all 0 has NDCG 0, as in scikit-learn.

    Raises:
        ValueError: the data set is not known, a file is damaged or does not belong to the others, the split has no labels, or the scores have another shape.
        OSError: a file cannot be read.
    """
    size = integer("batch_size", batch_size, 1)
    names = parsed([_tgb_nodes.METRIC] if metrics is None else metrics, (), ("ndcg",))
    path, part = as_path("folder", folder), _SPLITS[choice("split", split, tuple(_SPLITS))]
    of = NodeSet(path, _name(path, name, tuple(_tgb_nodes.SETS)))
    at, high, times = of.split(part)
    if not len(times):
        raise ValueError(f"found no labels in the split {part} of {path}, expected some at one time at least")
    more = options(None, len(times), "label times", bootstrap, level, seed)

    def seen(first: int, end: int) -> None:
        for low in range(first, end, size) if update is not None else ():
            update(of.links.rows(low, min(low + size, end)))  # type: ignore[misc]

    found = np.empty((len(names), len(times)))
    assert of.links.time is not None
    for i, time in enumerate(times.tolist()):
        before = int(np.searchsorted(of.links.time, time))
        seen(at, before)
        at = max(at, before)
        asked = of.asked(time)
        x = numbers("scores", score(asked), 2)
        if x.shape != (len(asked), of.classes):
            raise ValueError(f"found scores of shape {list(x.shape)}, expected {[len(asked), of.classes]}, one for each class of each node")
        finite("scores", x)
        found[:, i] = of.scored(asked, x.astype(np.float64), [m.k for m in names])
        if learn is not None:
            learn(asked, of.labels(time, 0, len(asked)))
    seen(at, high)
    return scored(Times(names, found), more)


def _read(folder: Any, split: Any, name: Any, sets: Any) -> Given:
    path, of = as_path("folder", folder), _SPLITS[choice("split", split, tuple(_SPLITS))]
    found = _name(path, name, tuple(sets))
    if found in _tgb_nodes.SETS:
        nodes = NodeSet(path, found)
        low, high, _ = nodes.split(of)
        return Given(found, of, nodes.links.rows(low, high), names=nodes.names)
    return _ogb.read(path, found, of) if found in _ogb.SETS else _tgb.read(path, found, of)


def _name(folder: str, name: Any, known: Sequence[str]) -> str:
    """The name of a data set: as given, or from the name of its folder, such as ogbl_collab or ogbl_collab_pyg."""
    if name is not None:
        return choice("name", name, known)
    base = os.path.basename(os.path.abspath(folder)).replace("_", "-")
    for end in ("", "-pyg", "-dgl"):
        if base.endswith(end) and base[: len(base) - len(end)] in known:
            return base[: len(base) - len(end)]
    raise ValueError(f"found the folder {folder}, expected one with the name of a data set, of {', '.join(known)}{meant(base, known)}; or give name")


def _metrics(metrics: Any, own: str) -> list[Metric]:
    return parsed([own] if metrics is None else metrics, ("mrr", "mr", *_AREAS), ("hits",))


def _scores(score: Score, of: Links) -> Array:
    x = numbers("scores", score(of), 1)
    if len(x) != len(of):
        raise ValueError(f"found {len(x)} scores of {len(of)} links, expected one of each")
    finite("scores", x)
    return np.array(x)  # a function may use one array for all its results


def _in_blocks(score: Score, of: Links, block: int) -> Array:
    return np.concatenate([_scores(score, of.rows(at, at + block)) for at in range(0, len(of), block)] or [np.empty(0)])


def _rank(found: _Found, score: Score, of: Links, nodes: Nodes, end: int, first: int, last: int, block: int) -> None:
    """Rank some links among their negatives, as many at a time as have a block of negatives, but at least one link."""
    for low, high in _steps(nodes.sizes(first, last), first, block):
        others, offsets = nodes.of(low, high)
        place = offsets[:-1] + np.arange(high - low)
        x = _in_blocks(score, of.rows(low, high).among(np.diff(offsets), others, place, end), block)
        found.add(x[place], np.delete(x, place), offsets)


def _steps(sizes: Array, first: int, block: int) -> Iterator[tuple[int, int]]:
    before = np.concatenate([[0], np.cumsum(sizes + 1)])
    at = 0
    while at < len(sizes):
        upto = max(at + 1, int(np.searchsorted(before, before[at] + block, "right")) - 1)
        yield first + at, first + upto
        at = upto


class _Found:
    """The ranks of links, and for metrics of all scores these, too."""

    def __init__(self, metrics: Sequence[Metric], count: int) -> None:
        self._metrics = metrics
        self._keep = any(m.of in _AREAS for m in metrics)
        self._ranks = np.empty(count)
        self._at = 0
        self._kept: list[tuple[Array, Array, Array]] = []

    def add(self, positive: Array, negative: Array, offsets: Array) -> None:
        above, equal = Ragged(negative, offsets, False).counts(positive)
        self._ranks[self._at : self._at + len(positive)] = _ranks.ranked(above, equal, _ranks.tie_rule("mean"))
        self._at += len(positive)
        if self._keep:
            self._kept.append((positive, negative, np.diff(offsets)))

    def scores(self, groups: Any, more: dict[str, Any]) -> Scores:
        if not self._keep:
            return scored(_Links(self._metrics, self._ranks), options(groups, len(self._ranks), "links", **more))
        positive, negative, sizes = (np.concatenate([k[i] for k in self._kept]) for i in range(3))
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return links(positive, negative, [m.name for m in self._metrics], offsets=offsets, groups=groups, **more)
