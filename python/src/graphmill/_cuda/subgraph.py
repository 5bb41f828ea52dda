"""The subgraphs of a batch, drawn op by op on a device. internal/sample/testdata/reference/sampling.py defines them.

Under scope seed the subgraphs of all seeds are drawn together: a node is then known by its subgraph and its id, as one number, its key. The nodes and
edges of a subgraph are found in the order in which they would be if it were alone, and come by hop and subgraph at the end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from .._arrays import Array
from .._folder import NO_TIME
from .._order import key
from . import kernels
from . import plan as plans
from .least import ages, decayed, least
from .lists import Lists
from .relabel import firsts, relabel
from .times import Intervals

_SCOPES = {"epoch": 0, "batch": 1, "seed": 2}
_MUL1, _MUL2, _GAMMA = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15)


@dataclasses.dataclass
class Edges:
    """Edges of a type: their ids and local ends, int64, the subgraph of each, and how many each hop has."""

    id: torch.Tensor
    src: torch.Tensor
    dst: torch.Tensor
    of: torch.Tensor


@dataclasses.dataclass
class Subgraph:
    """What was drawn.

    Attributes:
        nodes: by node type, int64 ids.
        batch: by node type, the subgraph of each node.
        nodes_by_hop: by node type, the number of nodes that each hop found, from hop 0.
        edges: by edge type.
        edges_by_hop: by edge type, the number of edges of each hop, from hop 1.
        seed_local: int64 [seeds x width].
        negative_local: int64 [negatives x 2], the local ids of the negatives of links.
        ops: of each op, the local ids that it expanded, and the edges that it drew.
    """

    nodes: dict[str, torch.Tensor]
    batch: dict[str, torch.Tensor]
    nodes_by_hop: dict[str, Array]
    edges: dict[str, Edges]
    edges_by_hop: dict[str, Array]
    seed_local: torch.Tensor
    negative_local: torch.Tensor
    ops: list[tuple[torch.Tensor, Edges]]


class Drawer:
    """Draws subgraphs by a plan.

    Args:
        counts: the number of nodes of each type.
        edge_counts: the number of edges of each type.
        lists: of each op, from op 1.
        node_times: by node type, the times by which edges to its nodes are left out, and their unit.
    """

    def __init__(
        self,
        plan: Mapping[str, Any],
        seed: int,
        counts: Mapping[str, int],
        edge_counts: Mapping[str, int],
        lists: Sequence[Lists],
        units: Sequence[str | None],
        node_times: Mapping[str, tuple[torch.Tensor, str | None]],
        device: torch.device,
    ) -> None:
        self._plan, self._seed, self._counts, self._edge_counts = plan, seed, counts, edge_counts
        self._lists, self._units, self._node_times, self._device = lists, units, node_times, device
        self._hops = plans.hops(plan)
        self.hops: int = max(plan.get("hops", 0), self._hops[-1])
        self._types = [plan["seed_type"]] if isinstance(plan["seed_type"], str) else list(plan["seed_type"])
        self._apart = plan["scope"] == "seed"
        ops = plan["ops"]
        self._repeated = {e for e in edge_counts if _repeats(plan, [op for op in ops if op["edges"] == e])}

    def draw(self, seeds: Array, negatives: tuple[Array, Array], times: Array | None, epoch: int, unit: int) -> Subgraph:
        """The subgraph of a batch, or the subgraphs of its seeds side by side.

        Args:
            seeds: int64 [seeds, types of a seed].
            negatives: int64 [negatives, 2], the negatives of links, and the seed of each.
            times: of the seeds, where the plan has times.
            unit: the number of the batch in the epoch.
        """
        return _Drawing(self, seeds, negatives, times, epoch, unit).run()


def _repeats(plan: Mapping[str, Any], ops: Sequence[Mapping[str, Any]]) -> bool:
    """Whether several of the ops of an edge type may draw an edge."""
    if len(ops) < 2:
        return False
    sources = [f for op in ops for f in op["from"]]
    return plan["expand"] == "all" or len({op["dir"] for op in ops}) > 1 or len(set(sources)) < len(sources)


class _Drawing:
    """A batch in the making."""

    def __init__(self, of: Drawer, seeds: Array, negatives: tuple[Array, Array], times: Array | None, epoch: int, unit: int) -> None:
        self._d, self._device = of, of._device
        words = _seed_words(seeds) if of._apart else np.array([unit if of._plan["scope"] == "batch" else 0], np.uint64)
        state = key(of._seed, epoch, _SCOPES[of._plan["scope"]])
        self._heads = torch.from_numpy(_absorbed(np.uint64(state), words).view(np.int64)).to(self._device)
        self._apart = len(words) if of._apart else 1
        before = of._plan.get("before")
        self._intervals = None if before is None or times is None else Intervals(before, times, self._device)
        empty = torch.empty(0, dtype=torch.int64, device=self._device)
        self._empty = empty
        self._keys = dict.fromkeys(of._counts, empty)
        self._found = {t: np.zeros(of.hops + 1, np.int64) for t in of._counts}
        self._reached: list[dict[str, tuple[torch.Tensor, torch.Tensor]]] = []  # of each op, by type: all nodes that it reached, and the new ones
        self._seeds = torch.from_numpy(np.ascontiguousarray(seeds.T)).to(self._device)
        self._negatives, self._negatives_of = (torch.from_numpy(np.ascontiguousarray(x.T)).to(self._device) for x in negatives)
        self._ops: list[tuple[torch.Tensor, Edges]] = []

    def run(self) -> Subgraph:
        seed_local, negative_local = self._visit_seeds()
        for number, op in enumerate(self._d._plan["ops"], 1):
            self._draw(number, op)
        edges, edges_by_hop = {}, {}
        for e in self._d._edge_counts:
            edges[e], edges_by_hop[e] = self._kept(e)
        nodes, batch = {}, {}
        for t, keys in self._keys.items():
            if self._d._apart:
                of = keys // self._d._counts[t] if len(keys) else keys
                order = self._by_hop(self._found[t], of)
                local = torch.empty_like(order)
                local[order] = torch.arange(len(order), device=self._device)
                nodes[t], batch[t] = (keys - of * self._d._counts[t])[order], of[order]
                for name, pair in edges.items():
                    src, _, dst = name.split(":")
                    edges[name] = dataclasses.replace(pair, **{side: local[getattr(pair, side)] for side, end in (("src", src), ("dst", dst)) if end == t})
                for i, end in enumerate(self._d._types):
                    if end == t:
                        seed_local[i] = local[seed_local[i]]
                        if negative_local:
                            negative_local[i] = local[negative_local[i]]
            else:
                nodes[t] = keys
        return Subgraph(
            nodes, batch, self._found, edges, edges_by_hop, _in_turn(seed_local), _in_turn(negative_local) if negative_local else self._empty, self._ops
        )

    def _by_hop(self, counts: Array, of: torch.Tensor) -> torch.Tensor:
        """The order, by hop and subgraph, of what was found hop by hop in the given subgraphs."""
        hop = torch.repeat_interleave(torch.arange(len(counts), device=self._device), torch.from_numpy(counts).to(self._device), output_size=int(counts.sum()))
        return (hop * self._apart + of).argsort(stable=True)

    def _visit(self, t: str, keys: torch.Tensor, hop: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The local ids of keys that a hop meets, and those that are new."""
        have = len(self._keys[t])
        self._keys[t], local = relabel(self._keys[t], keys)
        now = len(self._keys[t])
        self._found[t][hop] += now - have
        return local, torch.arange(have, now, device=self._device)

    def _visit_seeds(self) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """The local ids of the seeds, and of the negatives, by type of a seed."""
        seeds = self._seeds.shape[1]
        of, of_negatives = (torch.arange(seeds, device=self._device), self._negatives_of) if self._d._apart else (0, 0)
        local, negative, reached = [], [], {}
        for i, t in enumerate(self._d._types):
            local.append(self._visit(t, of * self._d._counts[t] + self._seeds[i], 0)[0])
            if len(self._negatives):
                negative.append(self._visit(t, of_negatives * self._d._counts[t] + self._negatives[i], 0)[0])
        for t in self._d._types:
            first = torch.arange(len(self._keys[t]), device=self._device)
            reached[t] = first, first
        self._reached.append(reached)
        return local, negative

    def _frontier(self, op: Mapping[str, Any], near: str) -> torch.Tensor:
        """The local ids that an op expands."""
        new = self._d._plan["expand"] == "new"
        parts = [self._reached[f][near][new] for f in op["from"]]
        if len(parts) == 1:
            return parts[0]
        joined = torch.cat(parts)
        return joined[firsts(joined)]

    def _draw(self, number: int, op: Mapping[str, Any]) -> None:
        """Draw the edges of an op, and visit what they reach."""
        d, lists = self._d, self._d._lists[number - 1]
        near, far = plans.ends(op)
        frontier = self._frontier(op, near)
        keys = self._keys[near][frontier]
        of = keys // d._counts[near] if d._apart else torch.zeros_like(keys)
        nodes = keys - of * d._counts[near]
        starts = lists.indptr[nodes]
        counts = lists.indptr[nodes + 1] - starts
        allowed: torch.Tensor | None = None  # the places of the edges that pass, list by list; None: all do
        if (self._intervals is not None and (lists.times is not None or far in d._node_times)) or plans.excluded(d._plan, op["edges"]):
            allowed, starts, counts = self._passing(number, op, of, nodes, starts, counts)
        rows, at = self._positions(number, op, lists, of, nodes, starts, counts, allowed)
        places = starts[rows] + at
        if allowed is not None:
            places = allowed[places]
        reached = lists.far[places].long()
        ids = places if lists.edge_id is None else lists.edge_id[places].long()
        graphs = of[rows]
        local, new = self._visit(far, graphs * d._counts[far] + reached, d._hops[number])
        every = local[firsts(local)] if d._plan["expand"] == "all" else new
        self._reached.append({far: (every, new)})
        ends = (local, frontier[rows]) if op["dir"] == "in" else (frontier[rows], local)
        self._ops.append((frontier, Edges(ids, *ends, graphs)))

    def _each(self, counts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """For rows with some items each: the row of each item, and its number in the row."""
        total = int(counts.sum())
        rows = torch.repeat_interleave(torch.arange(len(counts), device=self._device), counts, output_size=total)
        first = counts.cumsum(0) - counts
        return rows, torch.arange(total, device=self._device) - first[rows]

    def _passing(
        self, number: int, op: Mapping[str, Any], of: torch.Tensor, nodes: torch.Tensor, starts: torch.Tensor, counts: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The places of the edges that pass before the times of their seeds, and are no seeds that are excluded; and their lists."""
        lists, intervals = self._d._lists[number - 1], self._intervals
        far = plans.ends(op)[1]
        rows, at = self._each(counts)
        places, graphs = starts[rows] + at, of[rows]
        passing = torch.ones(len(places), dtype=torch.bool, device=self._device)
        if intervals is not None and lists.times is not None:
            passing = intervals.passes(lists.times[places], graphs, self._d._units[number - 1])
        if intervals is not None and far in self._d._node_times:
            times, unit = self._d._node_times[far]
            passing &= intervals.passes(times[lists.far[places].long()], graphs, unit)
        for back in plans.excluded(self._d._plan, op["edges"]):
            ends = nodes[rows], lists.far[places].long()
            # An in-edge leads from the far end to the node; of a reverse, the far end is the target of the seed.
            source, target = ends if (op["dir"] == "out") != back else ends[::-1]
            passing &= ~self._are_seeds(graphs, source, target)
        left = torch.zeros_like(counts).index_add_(0, rows, passing.long())
        return places[passing], left.cumsum(0) - left, left

    def _are_seeds(self, graphs: torch.Tensor, sources: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Whether pairs of nodes are seed links of their subgraphs."""
        if self._d._apart:
            return (self._seeds[0][graphs] == sources) & (self._seeds[1][graphs] == targets)
        count = self._d._counts[self._d._types[1]]  # products wrap, and differ all the same
        have = (self._seeds[0] * count + self._seeds[1]).sort().values
        pairs = sources * count + targets
        return have[torch.searchsorted(have, pairs).clamp(max=len(have) - 1)] == pairs

    def _positions(
        self,
        number: int,
        op: Mapping[str, Any],
        lists: Lists,
        of: torch.Tensor,
        nodes: torch.Tensor,
        starts: torch.Tensor,
        counts: torch.Tensor,
        allowed: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The positions that the rows of an op draw from their lists: the row of each, and the position in its list."""
        take, how = op["take"], op.get("how", "uniform")
        if how == "replace":
            if take == 0:
                return self._empty, self._empty
            rows, at = self._each((counts > 0) * take)
            return rows, kernels.alike(self._heads, of, nodes, counts, number, take, replace=True)[rows, at]
        if how in ("labor", "recent"):
            return self._least(number, op, lists, of, nodes, starts, counts, allowed)
        if take < 0 or take >= lists.longest or how == "top" or take == 0:
            return self._each(counts if take < 0 else counts.clamp(max=take))
        rows, at = self._each(counts.clamp(max=take))
        if how == "uniform":
            drawn = kernels.alike(self._heads, of, nodes, counts, number, take, replace=False)
        else:
            weights, prefix = lists.weights, lists.prefix
            assert weights is not None and prefix is not None
            if allowed is not None:
                weights = weights[allowed]
                prefix = kernels.sums(weights, starts, counts)
            drawn = kernels.heavy(self._heads, of, nodes, prefix, weights, starts, counts, number, take)
        return rows, drawn[rows, at]

    def _least(
        self,
        number: int,
        op: Mapping[str, Any],
        lists: Lists,
        of: torch.Tensor,
        nodes: torch.Tensor,
        starts: torch.Tensor,
        counts: torch.Tensor,
        allowed: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`_positions` of draws that take the smallest numbers."""
        rows, at = self._each(counts)
        places = starts[rows] + at
        places = places if allowed is None else allowed[places]
        take = op["take"] if op["take"] >= 0 else lists.longest
        if op["how"] == "labor":
            numbers = kernels.units(self._heads, of[rows], None, lists.far[places].long(), number)
            return least(rows, at, numbers if lists.weights is None else numbers / lists.weights[places], take)
        assert lists.ages is not None
        times = lists.ages[places]
        there = times.isfinite() if times.dtype == torch.float64 else times != int(NO_TIME) if lists.timed else torch.ones_like(times, dtype=torch.bool)
        rows, at, times = rows[there], at[there], times[there]
        units = kernels.units(self._heads, of[rows], nodes[rows], at, number)
        return least(rows, at, decayed(units, ages(rows, times, len(counts)), op["half_life"]), take)

    def _kept(self, e: str) -> tuple[Edges, Array]:
        """The edges of a type, each where it was drawn first, and how many each hop has."""
        d = self._d
        drawn = [(edges, op, d._hops[k]) for k, ((_, edges), op) in enumerate(zip(self._ops, d._plan["ops"]), 1) if op["edges"] == e]
        by_hop = np.zeros(d.hops, np.int64)
        if not drawn:
            return Edges(self._empty, self._empty, self._empty, self._empty), by_hop
        out = Edges(*(torch.cat([getattr(edges, name) for edges, _, _ in drawn]) for name in ("id", "src", "dst", "of")))
        sizes = [len(edges.id) for edges, _, _ in drawn]
        if e in d._repeated:
            keep = firsts(out.of * d._edge_counts[e] + out.id)
            at = 0
            for size, (_, op, _) in zip(sizes, drawn):
                if op.get("how") == "replace":
                    keep[at : at + size] = True  # each draw counts
                at += size
            sizes = [int(part.sum()) for part in keep.split(sizes)]
            out = Edges(out.id[keep], out.src[keep], out.dst[keep], out.of[keep])
        for size, (_, _, hop) in zip(sizes, drawn):
            by_hop[hop - 1] += size
        if d._apart:
            order = self._by_hop(by_hop, out.of)
            out = Edges(out.id[order], out.src[order], out.dst[order], out.of[order])
        return out, by_hop


def _in_turn(local: list[torch.Tensor]) -> torch.Tensor:
    """The local ids of the ends of seeds: of links, source and destination in turn."""
    return torch.stack(local, 1).reshape(-1)


def _mixed(x: Array) -> Array:
    x = (x ^ x >> np.uint64(30)) * _MUL1
    x = (x ^ x >> np.uint64(27)) * _MUL2
    out: Array = x ^ x >> np.uint64(31)
    return out


def _absorbed(h: Any, words: Array) -> Array:
    """The states after one more word, uint64."""
    with np.errstate(over="ignore"):
        return _mixed((h ^ _mixed(words + _GAMMA)) + _GAMMA)


def _seed_words(seeds: Array) -> Array:
    """What seeds absorb under scope seed, uint64: a node, or both ends of a link."""
    ends = seeds.astype(np.uint64)
    if ends.shape[1] == 1:
        return ends[:, 0]
    return _absorbed(_absorbed(np.uint64(0), ends[:, 0]), ends[:, 1])
