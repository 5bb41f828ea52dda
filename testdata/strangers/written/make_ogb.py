"""Writes ogb/ with ogb 1.3.6's DatasetSaver (bench/peers.sh ogb): a data set of nodes of one graph, and a data set of three graphs. OGB has no writer of
the text that its own data sets of graphs have, so pandas writes it, and OGB's reader must read from it what it was.

python make_ogb.py
"""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile

import networkx
import numpy as np
import pandas
import torch
from ogb.io import DatasetSaver
from ogb.io.read_graph_raw import read_csv_graph_raw

HERE = pathlib.Path(__file__).parent


def graph(g: networkx.Graph, seed: int) -> dict:
    rng = np.random.default_rng(seed)
    pairs = np.array(g.edges, np.int64).T
    return {
        "edge_index": np.concatenate([pairs, pairs[::-1]], axis=1),
        "num_nodes": g.number_of_nodes(),
        "node_feat": rng.normal(size=(g.number_of_nodes(), 4)).astype(np.float32),
        "edge_feat": rng.normal(size=(2 * g.number_of_edges(), 2)).astype(np.float32),
    }


def save(name: str, graphs: list, labels: np.ndarray, parts: list) -> None:
    with tempfile.TemporaryDirectory() as folder:
        saver = DatasetSaver(dataset_name=name, is_hetero=False, version=1, root=folder + "/root")
        saver.save_graph_list(graphs)
        saver.save_target_labels(labels)
        saver.save_split(dict(zip(("train", "valid", "test"), (torch.tensor(p) for p in parts))), split_name="random")
        os.mkdir(folder + "/mapping")
        pathlib.Path(folder, "mapping", "README.md").write_text("nodes have no names\n", encoding="utf-8")
        saver.copy_mapping_dir(folder + "/mapping")
        found = next(pathlib.Path(folder).rglob("raw")).parent
        shutil.rmtree(HERE / "ogb" / found.name, ignore_errors=True)
        shutil.copytree(found, HERE / "ogb" / found.name)


karate = networkx.karate_club_graph()
save("ogbn-karate", [graph(karate, 0)], np.array([[int(c == "Officer")] for _, c in karate.nodes(data="club")]), [range(20), range(20, 27), range(27, 34)])
small = [networkx.florentine_families_graph(), networkx.path_graph(4), networkx.star_graph(5)]
small = [networkx.convert_node_labels_to_integers(g) for g in small]
save("ogbg-small", [graph(g, i) for i, g in enumerate(small)], np.array([[0], [1], [1]]), [[0], [1], [2]])

raw = HERE / "ogb" / "text" / "raw"
raw.mkdir(parents=True, exist_ok=True)
graphs = [graph(g, i) for i, g in enumerate(small)]
for name, rows in (
    ("edge", np.concatenate([g["edge_index"].T for g in graphs])),
    ("edge-feat", np.concatenate([g["edge_feat"] for g in graphs])),
    ("node-feat", np.concatenate([g["node_feat"] for g in graphs])),
    ("num-node-list", [[g["num_nodes"]] for g in graphs]),
    ("num-edge-list", [[g["edge_index"].shape[1]] for g in graphs]),
    ("graph-label", [[0], [1], [1]]),
):
    pandas.DataFrame(rows).to_csv(raw / f"{name}.csv.gz", header=False, index=False, compression={"method": "gzip", "mtime": 0})
for have, want in zip(read_csv_graph_raw(str(raw)), graphs):
    assert all(np.allclose(have[k], want[k]) for k in want)
