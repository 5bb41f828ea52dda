"""Writes the data of a training: tables for ``graphmill import``, and the same arrays for its peers.

    python prepare.py papers|words|links|held-out|events|graphs DATA|made OUT

OUT/tables has a graph.yaml and its arrays, OUT/arrays.npz what the peers and the tests of a model read, and for graphs OUT/limits
the limits of packs of about 32 graphs. DATA is the folder of
the real data: Cora, the unpacked wordnet and rails_git archives, a TU set. With "made" the data are small, random and learnable.
"""

from __future__ import annotations

import csv
import gzip
import pathlib
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

CLASSES = 8  # components that the commits of `events` are divided into: the largest ones


def table(path: pathlib.Path, columns: list[str]) -> list[npt.NDArray[Any]]:
    """Columns of integers of a compressed CSV with a header, [rows] each."""
    with gzip.open(path, "rt", newline="") as f:
        rows = csv.DictReader(f)
        return [np.array(x, np.int64) for x in zip(*([row[c] for c in columns] for row in rows))]


def both(src: npt.NDArray[Any], dst: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The distinct edges in both directions, int64 [2, edges], without self-loops."""
    pairs = np.stack([np.append(src, dst), np.append(dst, src)]).astype(np.int64)
    return np.unique(pairs[:, pairs[0] != pairs[1]], axis=1)


def split(y: npt.NDArray[Any], seed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """20 papers of each class to train, 500 to validate, 1,000 to test."""
    order = np.random.default_rng(seed).permutation(len(y))
    train = np.concatenate([order[y[order] == c][:20] for c in np.unique(y)])
    rest = order[~np.isin(order, train)]
    return train, rest[:500], rest[500:1500]


def papers(data: pathlib.Path | None) -> tuple[str, dict[str, npt.NDArray[Any]], dict[str, Any]]:
    if data is None:
        draw = np.random.default_rng(1)
        n, classes, words, each = 2000, 5, 300, 12
        y = draw.integers(0, classes, n)
        own = np.arange(words).reshape(classes, -1)
        x = np.zeros((n, words), np.float32)
        for i, c in enumerate(y):
            x[i, np.where(draw.random(each) < 0.25, draw.choice(own[c], each), draw.integers(0, words, each))] = 1
        of = [np.flatnonzero(y == c) for c in range(classes)]
        src = draw.integers(0, n, 5000)
        dst = np.array([draw.choice(of[y[s]]) if draw.random() < 0.8 else draw.integers(n) for s in src])
    else:
        indptr, words = np.load(data / "feat_indptr.npy"), np.load(data / "feat_indices.npy")
        x, y = np.zeros((len(indptr) - 1, words.max() + 1), np.float32), np.load(data / "labels.npy").astype(np.int64)
        x[np.repeat(np.arange(len(x)), np.diff(indptr)), words] = 1
        src, dst = table(data / "edges.csv.gz", ["src", "dst"])
    edges = both(np.array(src), np.array(dst))
    yaml = "nodes:\n  _N: {columns: {x: x.npy, y: y.npy}}\nedges:\n  _N:_E:_N: {table: edges.npy}\n"
    return yaml, dict(x=x, y=y, edges=edges), {}


def words(data: pathlib.Path | None) -> tuple[str, dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """The papers among the words that they have, as nodes of another type."""
    _, of, _ = papers(data)
    paper, word = np.nonzero(of["x"])
    yaml = f"""\
nodes:
  paper: {{columns: {{y: y.npy}}}}
  word: {{count: {of["x"].shape[1]}}}
edges:
  paper:cites:paper: {{table: edges.npy}}
  word:in:paper: {{table: words.npy}}
  paper:has:word: {{table: has.npy}}
"""
    return yaml, dict(y=of["y"], edges=of["edges"], words=np.stack([word, paper]), has=np.stack([paper, word])), {}


def links(data: pathlib.Path | None) -> tuple[str, dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Hypernyms of WordNet: 1,000 are held out, with their reverses. Features are the words of a gloss, hashed."""
    draw = np.random.default_rng(1)
    if data is None:
        n, group = 1500, draw.integers(0, 50, 1500)
        x = (draw.standard_normal((50, 32))[group] + 2 * draw.standard_normal((n, 32))).astype(np.float32) / 4
        of = [np.flatnonzero(group == g) for g in range(50)]
        src = np.repeat(np.arange(n), 8)
        dst = np.array([draw.choice(of[group[s]]) if draw.random() < 0.9 else draw.integers(n) for s in src])
    else:
        src, dst, relation = table(data / "synset_synset.csv.gz", ["src", "dst", "rel"])
        src, dst = src[relation == 1], dst[relation == 1]
        with gzip.open(data / "nodes_synset.csv.gz", "rt", newline="") as f:
            glosses = [row["gloss"].lower().split() for row in csv.DictReader(f)]
        vector, x = {}, np.zeros((len(glosses), 64), np.float32)
        for i, words in enumerate(glosses):
            for w in words:
                if w not in vector:
                    vector[w] = draw.standard_normal(64).astype(np.float32)
                x[i] += vector[w]
            length: Any = np.linalg.norm(x[i])  # float32
            x[i] *= 3 / max(length, 1e-6)
        n = len(x)
    pairs = np.unique(np.stack([src, dst])[:, src != dst], axis=1)
    codes = set((pairs[0] * n + pairs[1]).tolist())
    pairs = pairs[:, [c % n * n + c // n not in codes or c // n < c % n for c in (pairs[0] * n + pairs[1]).tolist()]]  # one direction of each
    pairs = pairs[:, draw.permutation(pairs.shape[1])]
    test, train = pairs[:, : (300 if data is None else 1000)], pairs[:, (300 if data is None else 1000) :]
    yaml = "nodes:\n  _N: {columns: {x: x.npy}}\nedges:\n  _N:_E:_N: {table: edges.npy}\n"
    return yaml, dict(x=x, edges=both(*train)), dict(train=train, test=test, others=draw.integers(0, n, (test.shape[1], 100)))


def held_out(data: pathlib.Path | None) -> tuple[str, dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """The links of `links` with all their edges in the store, and a column that tells which are for training."""
    _, arrays, more = links(data)
    every = np.concatenate([arrays["edges"], both(*more["test"])], axis=1)
    yaml = "nodes:\n  _N: {columns: {x: x.npy}}\nedges:\n  _N:_E:_N: {table: edges.npy, columns: {of_training: of_training.npy}}\n"
    return yaml, dict(x=arrays["x"], edges=every, of_training=np.arange(every.shape[1]) < arrays["edges"].shape[1]), more


def events(data: pathlib.Path | None) -> tuple[str, dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Commits with times, their authors, and the component that most of their files are in, which is to be predicted.

    An author tells about their earlier commits, and those about their components. Commits are in the order of their times. The
    edge from an author to a commit is a second older than the commit, so that samplers of strictly older edges find it too.
    """
    draw = np.random.default_rng(1)
    if data is None:
        people, n = 150, 8000
        author = draw.integers(0, people, n)
        time = np.arange(n) * 10
        favourite = draw.integers(0, CLASSES, people)
        label = np.empty(n, np.int64)
        for i, p in enumerate(author):
            if draw.random() < 0.01:
                favourite[p] = draw.integers(0, CLASSES)
            label[i] = favourite[p] if draw.random() < 0.85 else draw.integers(0, CLASSES)
    else:
        with gzip.open(data / "nodes_file.csv.gz", "rt", newline="") as f:
            top = [row["path"].split("/")[0] for row in csv.DictReader(f)]
        names, count = np.unique(top, return_counts=True)
        largest = {name: k for k, name in enumerate(names[np.argsort(-count)][:CLASSES])}
        of_file = np.array([largest.get(name, -1) for name in top])
        commit, file = table(data / "commit_file.csv.gz", ["commit", "file"])
        ids, who, when = table(data / "nodes_commit.csv.gz", ["id", "author", "commit_time"])
        votes = np.zeros((len(ids), CLASSES), np.int64)
        known = of_file[file] >= 0
        np.add.at(votes, (commit[known], of_file[file[known]]), 1)
        kept = np.flatnonzero(votes.any(1))
        kept = kept[np.argsort(when[kept], kind="stable")]
        label, time = votes[kept].argmax(1), when[kept]
        _, author = np.unique(who[kept], return_inverse=True)
        people = author.max() + 1
    n = len(label)
    commits = np.arange(n)
    wrote, by, touched = np.stack([author, commits]), np.stack([commits, author]), np.stack([label, commits])
    train, test = np.arange(n // 4, n * 3 // 4), np.arange(n * 3 // 4, n)  # the first quarter is only history
    yaml = f"""\
nodes:
  commit: {{columns: {{time: time.npy, y: label.npy}}}}
  person: {{count: {people}}}
  component: {{columns: {{x: component.npy}}}}
edges:
  person:wrote:commit: {{table: wrote.npy, columns: {{time: before.npy}}}}
  commit:by:person: {{table: by.npy, columns: {{time: time.npy}}}}
  component:in:commit: {{table: touched.npy, columns: {{time: time.npy}}}}
"""
    time = time.astype(np.int64)
    arrays = dict(time=time, before=time - 1, label=label.astype(np.int64), wrote=wrote, by=by, touched=touched, component=np.eye(CLASSES, dtype=np.float32))
    return yaml, arrays, dict(people=people, train=train, test=test)


def made_graphs() -> list[list[int]]:
    """The ends of the nodes and of the edges of each graph, the kinds of its nodes, both ends of its edges, and its class."""
    draw = np.random.default_rng(1)
    kinds: list[int] = []
    label: list[int] = []
    src: list[int] = []
    dst: list[int] = []
    nodes, edges = [0], [0]
    for _ in range(400):
        n = int(draw.integers(10, 28))
        kind = draw.integers(0, 4, n)
        bonds = {(int(draw.integers(v)), v) for v in range(1, n)} | {tuple(sorted(map(int, draw.choice(n, 2, replace=False)))) for _ in range(3)}
        label.append(sum({kind[a], kind[b]} == {1, 2} for a, b in bonds) >= 3)
        ends = sorted(bonds | {(b, a) for a, b in bonds})
        kinds.extend(kind)
        src.extend(a for a, _ in ends)
        dst.extend(b for _, b in ends)
        nodes.append(len(kinds))
        edges.append(len(src))
    return [nodes, edges, kinds, src, dst, label]


def graphs(data: pathlib.Path | None) -> tuple[str, dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Small graphs with kinds of nodes and a class each. The store has a random four fifths, the others are for the test."""
    if data is None:
        nodes, edges, kinds, src, dst, label = map(np.asarray, made_graphs())
    else:
        nodes, edges, kinds, src, dst, label = (
            np.load(data / f"{name}.npy") for name in ("graph_node_ptr", "graph_edge_ptr", "node_tag", "edge_src_local", "edge_dst_local", "graph_label")
        )
        kinds, label = (np.unique(x, return_inverse=True)[1] for x in (kinds, label))
    kinds = np.asarray(kinds, np.int64)
    x, nodes, edges, src, dst, label = np.eye(kinds.max() + 1, dtype=np.float32)[kinds], *(np.asarray(v, np.int64) for v in (nodes, edges, src, dst, label))
    order = np.random.default_rng(2).permutation(len(label))

    def taken(which: npt.NDArray[Any], prefix: str) -> dict[str, npt.NDArray[Any]]:
        """The arrays of some of the graphs."""
        of_nodes = np.concatenate([np.arange(nodes[i], nodes[i + 1]) for i in which])
        of_edges = np.concatenate([np.arange(edges[i], edges[i + 1]) for i in which])
        ptr = {name: np.append(0, np.cumsum(np.diff(p)[which])) for name, p in (("nodes", nodes), ("edges", edges))}
        return {prefix + k: v for k, v in dict(**ptr, src=src[of_edges], dst=dst[of_edges], label=label[which], x=x[of_nodes]).items()}

    fifth = len(label) // 5
    yaml = "graphs: {columns: {label: label.npy}}\nnodes:\n  atom: {graph_ptr: nodes.npy, columns: {x: x.npy}}\n"
    yaml += "edges:\n  atom:bond:atom: {graph_ptr: edges.npy, src: src.npy, dst: dst.npy, ends: local}\n"
    return yaml, taken(order[fifth:], ""), taken(order[:fifth], "test_")


def main(what: str, data: str, folder: str) -> None:
    out = pathlib.Path(folder)
    yaml, arrays, more = {"papers": papers, "words": words, "links": links, "held-out": held_out, "events": events, "graphs": graphs}[what](
        None if data == "made" else pathlib.Path(data)
    )
    tables = out / "tables"
    tables.mkdir(parents=True)
    for name, x in arrays.items():
        np.save(tables / f"{name}.npy", np.ascontiguousarray(x))
    (tables / "graph.yaml").write_text(yaml)
    saved: dict[str, Any] = {**arrays, **more}
    np.savez(out / "arrays.npz", **saved)
    if what == "graphs":
        full = 1.05 * 32 / len(arrays["label"])
        (out / "limits").write_text("".join(f"num_{t}={max(int(arrays[t][-1] * full), int(np.diff(arrays[t]).max()) + 1)}\n" for t in ("nodes", "edges")))


if __name__ == "__main__":
    main(*sys.argv[1:])
