#!/usr/bin/env python3
"""Compares imports of OGB's data sets with what OGB itself reads (see ogb-requirements.txt).

usage: ogb_check.py make DIR SEED COUNT   writes random data sets, DIR/0, DIR/1, ...
       ogb_check.py check DIR             compares the stores DIR/N.store with OGB's own reading of DIR/N

Half of the sets are in OGB's text layout, written by hand; the others are archives, written by OGB's DatasetSaver, and
every second of those is then saved again without compression. DIR/N/options holds the options of the import. OGB reads
each set by NodePropPredDataset, with labels and splits. Edge features of typed text are compared with the file, since
OGB 1.3.6 returns an empty array for them.

stdout: one JSON object with counts of what was compared. exit 0 equal, 1 not equal (with a message), 2 usage.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

os.environ["OUTDATED_IGNORE"] = "1"
import numpy as np
import numpy.typing as npt
import pandas as pd
from ogb.io import DatasetSaver
from ogb.nodeproppred import NodePropPredDataset


def values(rng: np.random.Generator, rows: int, integer: bool) -> npt.NDArray[Any]:
    width = int(rng.integers(1, 4))
    if integer:
        return rng.integers(-9, 9, (rows, width))
    return rng.normal(size=(rows, width)).astype(np.float32)


def random_set(rng: np.random.Generator, typed: bool, many: bool, loops: bool) -> tuple[Any, ...]:
    """A graph as OGB's dict, with labels of one type and a split of the nodes of that type."""
    names = ["author", "field of study", "paper"][-int(rng.integers(1, 4)) :] if typed else ["_N"]
    top = 2000 if many else 8
    count = {n: int(rng.integers(1, top)) for n in names}
    count[names[-1]] += 3
    nodes: dict[str, dict[str, npt.NDArray[Any]]] = {}
    edges: dict[tuple[str, str, str], dict[str, npt.NDArray[Any]]] = {}
    for n in names:
        nodes[n] = {}
        if rng.random() < 0.6:
            nodes[n]["node_feat"] = values(rng, count[n], rng.random() < 0.3)
        if rng.random() < 0.5:
            nodes[n]["node_year"] = values(rng, count[n], True)
    triplets = [("_N", "_E", "_N")]
    if typed:
        triplets = sorted({(str(rng.choice(names)), f"rel_{i}", str(rng.choice(names))) for i in range(rng.integers(1, 4))})
    for s, r, d in triplets:
        rows = int(rng.integers(1, top * 3))
        e = np.stack([rng.integers(0, count[s], rows), rng.integers(0, count[d], rows)])
        if not loops and count[s] > 1:
            e[1] = np.where(e[0] == e[1], (e[1] + 1) % count[d], e[1])
        edges[s, r, d] = {"edge_index": e}
        if rng.random() < 0.5:
            edges[s, r, d]["edge_feat"] = values(rng, rows, rng.random() < 0.3)
        if rng.random() < 0.5:
            edges[s, r, d]["edge_reltype"] = values(rng, rows, True)
    labelled = names[-1]
    label = values(rng, count[labelled], rng.random() < 0.5)
    if label.dtype == np.float32:
        label[rng.random(label.shape) < 0.2] = np.nan
    code = rng.integers(-1, 3, count[labelled])
    code[:3] = rng.permutation(3)  # pandas reads no empty file
    split = {p: rng.permutation(np.flatnonzero(code == i)) for i, p in enumerate(["train", "valid", "test"])}
    return names, count, nodes, edges, labelled, label, split


def write_csv(path: pathlib.Path, rows: Any, header: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = pd.DataFrame(rows).to_csv(index=False, header=header, na_rep="nan" if np.ndim(rows) < 2 or np.shape(rows)[1] == 1 else "")
    path.write_bytes(gzip.compress(text.encode()))


def write_text(root: pathlib.Path, typed: bool, drawn: tuple[Any, ...]) -> None:
    """OGB's text layout, as the sets that it distributes have it."""
    names, count, nodes, edges, labelled, label, split = drawn
    raw = root / "raw"
    if typed:
        write_csv(raw / "num-node-dict.csv.gz", {n: [count[n]] for n in names}, True)
        write_csv(raw / "nodetype-has-label.csv.gz", {n: [n == labelled] for n in names}, True)
        write_csv(raw / "triplet-type-list.csv.gz", list(edges))
        for n in names:
            for k, v in nodes[n].items():
                write_csv(raw / "node-feat" / n / (k.replace("node_feat", "node-feat") + ".csv.gz"), v)
        write_csv(raw / "node-label" / labelled / "node-label.csv.gz", label)
        write_csv(root / "split" / "time" / "nodetype-has-split.csv.gz", {n: [n == labelled] for n in names}, True)
    else:
        write_csv(raw / "num-node-list.csv.gz", [count["_N"]])
        for k, v in nodes["_N"].items():
            write_csv(raw / (k.replace("node_feat", "node-feat") + ".csv.gz"), v)
        write_csv(raw / "node-label.csv.gz", label)
    for t, columns in edges.items():
        at = raw / "relations" / "___".join(t) if typed else raw
        write_csv(at / "num-edge-list.csv.gz", [columns["edge_index"].shape[1]])
        for k, v in columns.items():
            if k == "edge_index":
                write_csv(at / "edge.csv.gz", v.T)
            else:
                write_csv(at / (k.replace("edge_feat", "edge-feat") + ".csv.gz"), v)
    for p, ids in split.items():
        write_csv(root / "split" / "time" / (labelled if typed else ".") / (p + ".csv.gz"), ids)


def write_saver(root: pathlib.Path, typed: bool, drawn: tuple[Any, ...], stored: int) -> None:
    """The layout of OGB's DatasetSaver, and the split as text besides its pickle."""
    names, count, nodes, edges, labelled, label, split = drawn
    if typed:
        g = {"num_nodes_dict": count, "edge_index_dict": {t: e["edge_index"] for t, e in edges.items()}}
        for n in names:
            for k, v in nodes[n].items():
                g.setdefault(k + "_dict" if k == "node_feat" else k, {})[n] = v
        for t, columns in edges.items():
            for k, v in columns.items():
                if k != "edge_index":
                    g.setdefault(k + "_dict" if k == "edge_feat" else k, {})[t] = v
    else:
        e = edges["_N", "_E", "_N"]
        g = {"num_nodes": count["_N"], **nodes["_N"], **e}
    here = os.getcwd()
    os.chdir(root.parent)
    try:
        s = DatasetSaver("ogbn-" + root.name, typed, 1, root="submission")
        s.save_graph_list([g])
        s.save_target_labels({labelled: label} if typed else label)
        s.save_split({k: {labelled: v} for k, v in split.items()} if typed else split, "time")
    finally:
        os.chdir(here)
    os.rename(root.parent / ("submission_ogbn_" + root.name) / root.name, root)
    at = root / "split" / "time"
    (at / "split_dict.pt").unlink()
    if typed:
        write_csv(at / "nodetype-has-split.csv.gz", {n: [n == labelled] for n in names}, True)
    for p, ids in split.items():
        write_csv(at / (labelled if typed else ".") / (p + ".csv.gz"), ids)
    if stored:
        for f in (root / "raw").glob("*.npz"):
            arrays = dict(np.load(f))
            if stored > 1:  # as other programs save them
                arrays = {k: np.asfortranarray(a).astype(a.dtype.newbyteorder(">")) for k, a in arrays.items()}
            np.savez(f, **arrays)


def make(directory: str, seed: int, number: int) -> None:
    for i in range(number):
        rng = np.random.default_rng([seed, i])
        typed, text, inverse = bool(i & 1), bool(i & 2), i % 8 in (2, 6)
        drawn = random_set(rng, typed, i % 8 > 5, not inverse)
        root = pathlib.Path(directory) / str(i)
        if text:
            write_text(root, typed, drawn)
        else:
            write_saver(root, typed, drawn, i // 4 % 3)
        (root / "processed").mkdir(exist_ok=True)
        (root / "RELEASE_v1.txt").touch()
        json.dump({"typed": typed, "text": text, "inverse": inverse}, open(root / "kind.json", "w"))
        (root / "options").write_text("--symmetrise" if inverse else "")


def load_ogb(root: pathlib.Path, kind: dict[str, Any]) -> NodePropPredDataset:
    extra = {"additional node files": "None", "additional edge files": "None"}
    if kind["text"]:
        for of in ("node", "edge"):
            found = sorted({f.name[:-7] for f in (root / "raw").rglob(of + "_*.csv.gz")})
            extra[f"additional {of} files"] = ",".join(found) or "None"
    meta = {
        "dir_path": str(root),
        "binary": str(not kind["text"]),
        "num tasks": 1,
        "num classes": 2,
        "task type": "regression",
        "eval metric": "rmse",
        "add_inverse_edge": str(kind["inverse"]),
        "split": "time",
        "download_name": root.name,
        "url": "",
        "version": 1,
        "has_node_attr": "True",
        "has_edge_attr": "True",
        "is hetero": str(kind["typed"]),
        **extra,
    }
    return NodePropPredDataset("ogbn-" + root.name, root=str(root.parent), meta_dict=meta)


class Store:
    """The arrays of a store, with edges in the order of the input."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.meta = path, json.load(open(path / "graph.json"))

    def array(self, name: str) -> npt.NDArray[Any]:
        x: npt.NDArray[Any] = np.load(self.path / name)
        return x

    def nodes(self, name: str) -> tuple[int, dict[str, npt.NDArray[Any]]]:
        m = self.meta["nodes"][name]
        return m["count"], {k: self.array(c["file"]) for k, c in m["columns"].items()}

    def edges(self, name: str) -> tuple[npt.NDArray[Any], dict[str, npt.NDArray[Any]]]:
        m = self.meta["edges"][name]
        columns = {k: self.array(c["file"]) for k, c in m["columns"].items()}
        order = np.argsort(columns.pop("#input_position"), kind="stable")
        indptr = self.array(m["arrays"]["indptr"]).astype(np.int64)
        dst = np.repeat(np.arange(len(indptr) - 1), indptr[1:] - indptr[:-1])
        ends = np.stack([self.array(m["arrays"]["far"]).astype(np.int64), dst])[:, order]
        return ends, {k: v[order] for k, v in columns.items()}


class Compared:
    def __init__(self) -> None:
        self.arrays = 0

    def equal(self, where: str, want: Any, got: npt.NDArray[Any]) -> None:
        want = np.asarray(want)
        want = want.astype(want.dtype.newbyteorder("="))
        if want.dtype == np.float64:
            want = want.astype(np.float32)
        if got.ndim == 1 and want.ndim == 2 and want.shape[1] == 1:
            want = want[:, 0]
        if want.dtype != got.dtype and not (want.dtype.kind == got.dtype.kind == "i" and where.endswith("edge_index")):
            raise SystemExit(f"{where}: found {got.dtype}, expected {want.dtype}")
        if want.shape != got.shape or not np.array_equal(want, got, equal_nan=want.dtype.kind == "f"):
            raise SystemExit(f"{where}: found {got.shape}\n{got}, expected {want.shape}\n{want}")
        self.arrays += 1


def check(directory: str) -> None:
    seen = Compared()
    roots = sorted(p for p in pathlib.Path(directory).iterdir() if (p / "kind.json").exists())
    for root in roots:
        kind = json.load(open(root / "kind.json"))
        with contextlib.redirect_stdout(sys.stderr):
            d = load_ogb(root, kind)
        g, store = d.graph, Store(root.with_suffix(".store"))
        if not kind["typed"]:
            own = {"edge_index", "num_nodes"}
            g = {
                "num_nodes_dict": {"_N": g["num_nodes"]},
                "edge_index_dict": {("_N", "_E", "_N"): g["edge_index"]},
                **{k: {"_N" if k.startswith("node") else ("_N", "_E", "_N"): v} for k, v in g.items() if k not in own and v is not None},
            }
        labels = d.labels if kind["typed"] else {"_N": d.labels}
        with contextlib.redirect_stdout(sys.stderr):
            split = d.get_idx_split()
        if sorted(store.meta["nodes"]) != sorted(g["num_nodes_dict"]) or sorted(store.meta["edges"]) != sorted(":".join(t) for t in g["edge_index_dict"]):
            raise SystemExit(f"{root}: found other types than {g.keys()}")
        short: Callable[[str], str] = lambda k: "feat" if k in ("node_feat", "edge_feat", "node_feat_dict", "edge_feat_dict") else k
        for n, count in g["num_nodes_dict"].items():
            number, columns = store.nodes(n)
            if number != count:
                raise SystemExit(f"{root}: {n}: found {number} nodes, expected {count}")
            want = {short(k): v[n] for k, v in g.items() if k.startswith("node_") and n in (v or {})}
            if n in labels:
                want["label"] = labels[n]
                code = np.full(count, -1, np.int32)
                for i, p in enumerate(["train", "valid", "test"]):
                    code[np.asarray(split[p][n] if kind["typed"] else split[p], int)] = i
                want["split"] = code
            if sorted(want) != sorted(columns):
                raise SystemExit(f"{root}: {n}: found the columns {sorted(columns)}, expected {sorted(want)}")
            for k, v in want.items():
                seen.equal(f"{root}: {n} {k}", v, columns[k].astype(np.int32) if k == "split" else columns[k])
        for t, e in g["edge_index_dict"].items():
            ends, columns = store.edges(":".join(t))
            if kind["inverse"]:  # an edge and its reverse have one position, as they are one row
                e, ends = (np.sort(np.ascontiguousarray(x.T).reshape(-1, 2, 2).view("i8,i8"), axis=1).view("i8").reshape(-1, 2).T for x in (e, ends))
            seen.equal(f"{root}: {t} edge_index", e, ends)
            want = {short(k): v[t] for k, v in g.items() if k.startswith("edge_") and k != "edge_index_dict" and t in (v or {})}
            file = root / "raw" / "relations" / "___".join(t) / "edge-feat.csv.gz"
            if kind["text"] and kind["typed"] and file.exists():
                v = pd.read_csv(file, header=None).values
                want["feat"] = v if v.dtype.kind == "i" else v.astype(np.float32)
            if sorted(want) != sorted(columns):
                raise SystemExit(f"{root}: {t}: found the columns {sorted(columns)}, expected {sorted(want)}")
            for k, v in want.items():
                seen.equal(f"{root}: {t} {k}", v, columns[k])
    print(json.dumps({"sets": len(roots), "arrays": seen.arrays}))


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "make":
        with contextlib.redirect_stdout(sys.stderr):
            make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        sys.exit(__doc__)
