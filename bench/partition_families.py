#!/usr/bin/env python3
"""Makes a wide set of small graphs for the profiles of partitioners.

usage: partition_families.py FOLDER [NAME ...]      (needs NumPy; no names: all graphs)

Writes, for each graph, FOLDER/NAME.xadj.npy, FOLDER/NAME.adjncy.npy and, last, FOLDER/NAME.graph (METIS text) as
partition_graphs.py does, leaves out those that exist, and prints their names. The graphs have 12,000 to 75,000 nodes
and come from ten families: meshes, grids with holes, small worlds, blobs of points, roads, trees, power laws,
planted communities, bipartite graphs, and a crawl. Each is a function of its name: the random seed is fixed, and floating
point is used only where IEEE 754 rounds it exactly. Nodes are numbered at random unless the name ends in -sorted.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import gen_community
import numpy as np
import numpy.typing as npt
from partition_graphs import simple, write_metis


def rng(name: str) -> np.random.Generator:
    """Random numbers that depend on the name alone."""
    return np.random.Generator(np.random.PCG64(int.from_bytes(name.encode(), "little")))


def lattice(shape: tuple[int, ...], steps: Sequence[tuple[int, ...]], wrap: bool = False) -> tuple[int, npt.NDArray[Any]]:
    """Pairs of a grid: each cell and the cells at the given steps from it."""
    cells = np.indices(shape).reshape(len(shape), -1).T
    pairs = []
    for step in steps:
        to = cells + np.array(step)
        inside = np.ones(len(to), bool) if wrap else ((to >= 0) & (to < shape)).all(1)
        pairs.append(np.stack([np.ravel_multi_index(cells[inside].T, shape), np.ravel_multi_index((to[inside] % shape).T, shape)], 1))
    return int(np.prod(shape)), np.concatenate(pairs)


def only(n: int, pairs: npt.NDArray[Any], keep: npt.NDArray[Any]) -> tuple[int, npt.NDArray[Any]]:
    """The graph of the nodes in keep, a mask."""
    name = np.cumsum(keep) - 1
    pairs = pairs[keep[pairs].all(1)]
    return int(keep.sum()), name[pairs]


AXES2, AXES3 = [(1, 0), (0, 1)], [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
ALL3 = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) > (0, 0, 0)]


def holes(r: np.random.Generator, shape: tuple[int, ...], count: int, radius: int) -> tuple[int, npt.NDArray[Any]]:
    """A grid without the cells of balls."""
    n, pairs = lattice(shape, AXES2 if len(shape) == 2 else AXES3)
    cells = np.indices(shape).reshape(len(shape), -1).T
    keep = np.ones(n, bool)
    for _ in range(count):
        centre = [r.integers(s) for s in shape]
        keep &= ((cells - centre) ** 2).sum(1) > r.integers(radius // 2, radius + 1) ** 2
    return only(n, pairs, keep)


def square(points: npt.NDArray[Any], others: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Squared distances, summed in the order of the dimensions."""
    sum_ = np.zeros((len(points), len(others)))
    for d in range(points.shape[1]):
        sum_ += (points[:, d, None] - others[None, :, d]) ** 2
    return sum_


def nearest(points: npt.NDArray[Any], k: int) -> tuple[int, npt.NDArray[Any]]:
    """Pairs of each point and the k nearest others."""
    n, step, pairs = len(points), 256, []
    for i in range(0, n, step):
        distance = square(points[i : i + step], points)
        distance[np.arange(len(distance)), np.arange(i, i + len(distance))] = np.inf
        to = np.argpartition(distance, k, axis=1)[:, :k]
        pairs.append(np.stack([np.repeat(np.arange(i, i + len(distance)), k), to.ravel()], 1))
    return n, np.concatenate(pairs)


def bell(r: np.random.Generator, n: int, dimensions: int) -> npt.NDArray[Any]:
    """Points around 0; a sum of twelve numbers is near enough to a normal one, and exact."""
    points: npt.NDArray[Any] = r.random((n, dimensions, 12)).sum(2) - 6
    return points


def blobs(r: np.random.Generator, n: int, centres: int, dimensions: int, width: float, k: int) -> tuple[int, npt.NDArray[Any]]:
    at = r.random((centres, dimensions)) * 10
    return nearest(at[r.integers(centres, size=n)] + width * bell(r, n, dimensions), k)


def small_world(r: np.random.Generator, n: int, k: int, share: float) -> tuple[int, npt.NDArray[Any]]:
    v = np.arange(n)
    pairs = np.concatenate([np.stack([v, (v + i + 1) % n], 1) for i in range(k)])
    again = r.random(len(pairs)) < share
    pairs[again, 1] = r.integers(n, size=int(again.sum()))
    return n, pairs


def roads(r: np.random.Generator, side: int, keep: float, chain: int) -> tuple[int, npt.NDArray[Any]]:
    """Crossings on a grid of which some streets are missing; each street is a chain of nodes."""
    n, pairs = lattice((side, side), AXES2)
    pairs = pairs[r.random(len(pairs)) < keep]
    length = r.integers(0, chain + 1, len(pairs))
    first = n + np.cumsum(length) - length
    links = [np.stack([np.where(length == 0, pairs[:, 1], first), pairs[:, 0]], 1)]
    long = length > 0
    links.append(np.stack([(first + length - 1)[long], pairs[long, 1]], 1))
    inner = np.arange(n, n + int(length.sum()))
    last = np.zeros(len(inner), bool)
    last[(first + length - 1 - n)[long]] = True
    links.append(np.stack([inner[~last], inner[~last] + 1], 1))
    return n + len(inner), np.concatenate(links)


def tree(r: np.random.Generator, n: int, children: int) -> tuple[int, npt.NDArray[Any]]:
    """Each node hangs under one of the last open ones: deep for few children."""
    v = np.arange(1, n)
    return n, np.stack([v, (v - 1 - (r.random(n - 1) * np.minimum(v, children)).astype(np.int64)) // 2], 1)


def preferential(r: np.random.Generator, n: int, m: int) -> tuple[int, npt.NDArray[Any]]:
    """Each new node takes m ends from the ends so far."""
    ends = np.zeros(2 * m * n, np.int64)
    for v in range(1, n):
        at = 2 * m * (v - 1)
        to = ends[r.integers(at, size=m)] if v > 1 else np.zeros(m, np.int64)
        ends[at : at + 2 * m : 2], ends[at + 1 : at + 2 * m : 2] = v, to
    used = 2 * m * (n - 1)
    return n, ends[:used].reshape(-1, 2)


def weighted(r: np.random.Generator, weights: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """Draws of indices by weight."""
    ends = np.cumsum(weights)
    drawn: npt.NDArray[Any] = np.searchsorted(ends, r.random(count) * ends[-1], side="right").clip(max=len(weights) - 1)
    return drawn


def ranked(n: int, power: int) -> npt.NDArray[Any]:
    """Weights that fall with the rank: 1/rank for power 2, 1/sqrt(rank) for 1."""
    rank = np.arange(1, n + 1, dtype=np.float64)
    return 1 / (np.sqrt(rank) if power == 1 else rank)


def chung_lu(r: np.random.Generator, n: int, edges: int, power: int) -> tuple[int, npt.NDArray[Any]]:
    w = ranked(n, power)
    return n, np.stack([weighted(r, w, edges), weighted(r, w, edges)], 1)


def rmat(r: np.random.Generator, scale: int, factor: int) -> tuple[int, npt.NDArray[Any]]:
    s, t = np.zeros((2, factor << scale), np.int64)
    for _ in range(scale):
        u = r.random(len(s))
        s, t = 2 * s + (u >= 0.76), 2 * t + ((u >= 0.57) & (u < 0.76) | (u >= 0.95))
    return 1 << scale, np.stack([s, t], 1)


def planted(r: np.random.Generator, sizes: list[int], inside: int, between: int) -> tuple[int, npt.NDArray[Any]]:
    """Groups of the given sizes: each node has inside ends in its group and between anywhere."""
    n, group = int(sum(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    size, first = np.array(sizes)[group], (np.cumsum(sizes) - sizes)[group]
    v = np.repeat(np.arange(n), inside)
    near = np.stack([v, first[v] + (r.random(len(v)) * size[v]).astype(np.int64)], 1)
    far = np.stack([r.integers(n, size=n * between // 4), r.integers(n, size=n * between // 4)], 1)
    return n, np.concatenate([near, far])


def uneven(r: np.random.Generator, n: int, least: int) -> list[int]:
    """Sizes of groups with a long tail."""
    sizes: list[int] = []
    while sum(sizes) < n:
        sizes.append(min(int(least / (r.random() + 1e-9)), n // 12, n - sum(sizes)))
    return sizes


def bipartite(r: np.random.Generator, left: int, right: int, edges: int, topics: int) -> tuple[int, npt.NDArray[Any]]:
    """Left nodes take right nodes by popularity, most of them within their topic."""
    popular = ranked(right, 1)
    topic = r.integers(topics, size=right)
    order = np.argsort(topic, kind="stable")
    ends = np.cumsum(popular[order])
    border = np.searchsorted(topic[order], np.arange(topics + 1))
    base = np.concatenate([[0], ends])
    v = r.integers(left, size=edges)
    mine = r.integers(topics, size=left)[v]
    lo, hi = base[border[mine]], base[border[mine + 1]]
    slot = lo + r.random(edges) * (hi - lo)
    to = order[np.searchsorted(ends, slot, side="right").clip(max=right - 1)]
    anywhere = r.random(edges) < 0.2
    to[anywhere] = weighted(r, popular, int(anywhere.sum()))
    return left + right, np.stack([v, left + to], 1)


def crawl(r: np.random.Generator, n: int, links: int, copy: float) -> tuple[int, npt.NDArray[Any]]:
    """Pages copy most links of an earlier page near them."""
    out = np.zeros((n, links), np.int64)
    near = np.maximum(np.arange(n) - 1 - (64 / (r.random(n) + 1e-3)).astype(np.int64), 0)
    drawn, fresh = r.random((n, links)), r.random((n, links))
    for v in range(1, n):
        p = near[v]
        new = p + ((v - p) * fresh[v]).astype(np.int64)
        out[v] = np.where(drawn[v] < copy, out[p], new)
    return n, np.stack([np.repeat(np.arange(n), links), out.ravel()], 1)


GRAPHS: dict[str, Callable[[np.random.Generator], tuple[int, npt.NDArray[Any]]]] = {
    "mesh-2d": lambda r: lattice((200, 200), AXES2),
    "mesh-triangles": lambda r: lattice((150, 240), [*AXES2, (1, 1)]),
    "mesh-torus": lambda r: lattice((160, 160), AXES2, True),
    "mesh-3d": lambda r: lattice((30, 30, 30), AXES3),
    "mesh-3d-27": lambda r: lattice((22, 24, 26), ALL3),
    "mesh-shell-sorted": lambda r: lattice((400, 60, 2), AXES3),
    "holes-few": lambda r: holes(r, (240, 240), 12, 30),
    "holes-many": lambda r: holes(r, (260, 260), 220, 8),
    "holes-3d": lambda r: holes(r, (36, 36, 36), 14, 9),
    "world-small": lambda r: small_world(r, 20_000, 4, 0.02),
    "world-random": lambda r: small_world(r, 12_000, 5, 0.3),
    "blobs-2": lambda r: blobs(r, 20_000, 40, 2, 0.5, 6),
    "blobs-3": lambda r: blobs(r, 16_000, 30, 3, 1.0, 8),
    "blobs-10": lambda r: blobs(r, 14_000, 24, 10, 1.5, 8),
    "roads-town": lambda r: roads(r, 120, 0.75, 2),
    "roads-land": lambda r: roads(r, 90, 0.62, 8),
    "roads-chains": lambda r: roads(r, 40, 0.7, 40),
    "tree-wide": lambda r: tree(r, 40_000, 1_000_000),
    "tree-deep": lambda r: tree(r, 30_000, 2),
    "power-preferential": lambda r: preferential(r, 15_000, 4),
    "power-steep": lambda r: chung_lu(r, 30_000, 150_000, 2),
    "power-flat": lambda r: chung_lu(r, 20_000, 200_000, 1),
    "power-rmat14": lambda r: rmat(r, 14, 12),
    "power-rmat16": lambda r: rmat(r, 16, 6),
    "planted-8": lambda r: planted(r, [2500] * 8, 5, 12),
    "planted-13": lambda r: planted(r, [1200] * 13, 4, 10),
    "planted-uneven": lambda r: planted(r, uneven(r, 25_000, 60), 5, 8),
    "planted-nested": lambda r: (30_000, np.stack(gen_community.edges(30_000, 7), 1)),
    "bipartite-topics": lambda r: bipartite(r, 30_000, 6_000, 180_000, 60),
    "bipartite-one": lambda r: bipartite(r, 20_000, 20_000, 120_000, 1),
    "crawl": lambda r: crawl(r, 40_000, 7, 0.7),
    "crawl-large": lambda r: crawl(r, 75_000, 9, 0.85),
}


def make(name: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The graph of a name, as xadj and adjncy."""
    r = rng(name)
    n, pairs = GRAPHS[name](r)
    if not name.endswith("-sorted"):
        pairs = r.permutation(n)[pairs]
    return simple(n, pairs[:, 0], pairs[:, 1])


def main(folder: pathlib.Path, names: list[str]) -> None:
    for name in names:
        if name not in GRAPHS:
            sys.exit(f"found graph {name!r}, expected one of {', '.join(GRAPHS)}")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or GRAPHS:
        prefix = folder / name
        if not prefix.with_name(name + ".graph").exists():
            xadj, adjncy = make(name)
            np.save(f"{prefix}.xadj.npy", xadj)
            np.save(f"{prefix}.adjncy.npy", adjncy)
            write_metis(xadj, adjncy, f"{prefix}.graph")
        print(name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
