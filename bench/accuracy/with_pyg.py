"""Trains one model with PyG's loaders and with Graphmill's, and prints the test results of each as JSON.

    python with_pyg.py papers|saint|clusters|shadow|words|links|held-out|events|graphs FOLDER SEEDS

FOLDER is what prepare.py wrote, with the store or the collection beside the tables. The contestants have the same model, the same
random start, and the same hyperparameters; only the batches differ. One of them is a control that a loader which lost what
matters would equal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from graphmill import NodeLoader, PackedLoader
from prepare import CLASSES, split
from shared import descend, main, mrr, some, tensors
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import (
    ClusterData,
    ClusterLoader,
    DataLoader,
    GraphSAINTRandomWalkSampler,
    HGTLoader,
    LinkNeighborLoader,
    NeighborLoader,
    ShaDowKHopSampler,
)
from torch_geometric.loader import NodeLoader as PyGNodeLoader
from torch_geometric.nn import GINConv, GraphConv, SAGEConv, global_add_pool, global_mean_pool
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput
from torch_geometric.sampler.utils import remap_keys, to_hetero_csc


class SAGE(torch.nn.Module):
    def __init__(self, features: int, out: int, dropout: float) -> None:
        super().__init__()
        self.first, self.second, self.dropout = SAGEConv(features, 64), SAGEConv(64, out), dropout

    def forward(self, x: Any, edge_index: Any) -> Any:
        h = F.dropout(x, self.dropout, self.training)
        h = F.dropout(self.first(h, edge_index).relu(), self.dropout, self.training)
        return self.second(h, edge_index)


def papers(folder: str, who: str, seed: int) -> float:
    """Test accuracy at the epoch with the best validation accuracy."""
    a = tensors(folder)
    x, y, edges = a["x"], a["y"], a["edges"]
    fit, check, test = split(y.numpy(), seed)
    model = SAGE(x.shape[1], int(y.max()) + 1, 0.5)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    loader: Iterable[Any]
    if who == "Graphmill":
        loader = NodeLoader(f"{folder}/store", [10, 10], 64, fit, shuffle=True, seed=seed, as_="pyg", label="y", threads=1)
    else:
        if who == "no edges":
            edges = edges[:, :0]
        loader = NeighborLoader(Data(x=x, y=y, edge_index=edges), [10, 10], input_nodes=torch.from_numpy(fit), batch_size=64, shuffle=True)
    best = result = 0.0
    for _ in range(20):
        model.train()
        for b in loader:
            descend(optimiser, F.cross_entropy(model(b.x, b.edge_index)[: b.batch_size], b.y[: b.batch_size]))
        model.eval()
        with torch.no_grad():
            right = (model(x, edges).argmax(1) == y).float()
        if float(right[check].mean()) > best:
            best, result = float(right[check].mean()), float(right[test].mean())
    return result


def of_papers(folder: str, who: str, seed: int) -> tuple[Any, Any]:
    """The data of papers with their numbers, which the batches of PyG then have, and masks of the papers to train, validate and test."""
    a = tensors(folder)
    edges = a["edges"][:, :0] if who == "no edges" else a["edges"]
    data = Data(x=a["x"], y=a["y"], edge_index=edges, n_id=torch.arange(len(a["y"])))
    masks = []
    for ids in split(a["y"].numpy(), seed):
        masks.append(torch.zeros(len(a["y"]), dtype=torch.bool))
        masks[-1][torch.from_numpy(ids)] = True
    return data, masks


def best_of(model: Any, epochs: int, epoch: Callable[[], None], right: Callable[[], Any], masks: Any) -> float:
    """Test accuracy at the epoch with the best validation accuracy; right says of which papers the model finds the class."""
    best = result = 0.0
    for _ in range(epochs):
        model.train()
        epoch()
        model.eval()
        with torch.no_grad():
            found = right().float()
        if float(found[masks[1]].mean()) > best:
            best, result = float(found[masks[1]].mean()), float(found[masks[2]].mean())
    return result


class Weighted(torch.nn.Module):
    """A model whose messages have weights, as GraphSAINT's need."""

    def __init__(self, features: int, out: int) -> None:
        super().__init__()
        self.first, self.second = GraphConv(features, 64, aggr="add"), GraphConv(64, out, aggr="add")

    def forward(self, x: Any, edge_index: Any, weight: Any) -> Any:
        h = F.dropout(self.first(F.dropout(x, 0.5, self.training), edge_index, weight).relu(), 0.5, self.training)
        return self.second(h, edge_index, weight)


def saint(folder: str, who: str, seed: int) -> float:
    """The papers by GraphSAINT's random walks, whose losses and messages are weighted."""
    data, masks = of_papers(folder, who, seed)
    degree = torch.bincount(data.edge_index[1], minlength=data.num_nodes).clamp(min=1)
    model = Weighted(data.x.shape[1], int(data.y.max()) + 1)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    loader: Iterable[Any]
    if who == "Graphmill":
        loader = NodeLoader(f"{folder}/store", sampler="saint-walk", batch_size=200, walk_length=2, coverage=20, seed=seed, as_="pyg", label="y", threads=1)
    elif who == "PyG":
        loader = GraphSAINTRandomWalkSampler(data, 200, walk_length=2, num_steps=-(-data.num_nodes // 600), sample_coverage=20, log=False)
    else:
        loader = [data.clone() for _ in range(5)]
        for b in loader:
            b.node_norm, b.edge_norm = torch.full((data.num_nodes,), 1 / data.num_nodes), torch.ones(0)

    def epoch() -> None:
        for b in loader:
            out = model(b.x, b.edge_index, b.edge_norm / degree[b.n_id[b.edge_index[1]]])
            fit = masks[0][b.n_id]
            if fit.any():
                descend(optimiser, (F.cross_entropy(out, b.y, reduction="none") * b.node_norm)[fit].sum() * len(degree) / masks[0].sum())

    weight = 1 / degree[data.edge_index[1]]
    return best_of(model, 30, epoch, lambda: model(data.x, data.edge_index, weight).argmax(1) == data.y, masks)


PARTS = 30


def clusters(folder: str, who: str, seed: int) -> float:
    """The papers by parts of the graph, 5 of 30 per batch. All contestants have the same parts."""
    data, masks = of_papers(folder, who, seed)
    model = SAGE(data.x.shape[1], int(data.y.max()) + 1, 0.5)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

    class Parts(ClusterData):
        """Parts that `graphmill partition` made."""

        def _metis(self, *_: object) -> Any:
            with open(f"{folder}/parts/_N.txt") as f:
                return torch.tensor([int(line) for line in f])

    loader: Iterable[Any]
    if who == "Graphmill":
        loader = NodeLoader(
            f"{folder}/store", sampler="cluster", assignment=f"{folder}/parts", batch_size=5, shuffle=True, seed=seed, as_="pyg", label="y", threads=1
        )
    elif who == "PyG":
        loader = ClusterLoader(Parts(data, PARTS, log=False), batch_size=5, shuffle=True)
    else:
        loader = [data] * 6

    def epoch() -> None:
        for b in loader:
            fit = masks[0][b.n_id]
            if fit.any():
                descend(optimiser, F.cross_entropy(model(b.x, b.edge_index)[fit], b.y[fit]))

    return best_of(model, 30, epoch, lambda: model(data.x, data.edge_index).argmax(1) == data.y, masks)


def shadow(folder: str, who: str, seed: int) -> float:
    """The papers by a subgraph each: its seed beside the mean of its nodes."""
    data, masks = of_papers(folder, who, seed)
    body, head = SAGE(data.x.shape[1], 64, 0.5), torch.nn.Linear(128, int(data.y.max()) + 1)
    model = torch.nn.ModuleList([body, head])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

    def loader(mask: Any, shuffle: bool) -> Any:
        if who == "Graphmill":
            return NodeLoader(f"{folder}/store", [5, 5], 64, mask, sampler="shadow", shuffle=shuffle, seed=seed, as_="pyg", label="y", threads=1)
        return ShaDowKHopSampler(data, depth=2, num_neighbors=5, node_idx=mask, batch_size=64, shuffle=shuffle)

    def scores(b: Any) -> tuple[Any, Any]:
        h = body(b.x, b.edge_index)
        if who == "Graphmill":
            roots = torch.arange(b.batch_size)
            return head(torch.cat([h[roots], global_mean_pool(h, b.batch)], 1)), b.y[roots]
        return head(torch.cat([h[b.root_n_id], global_mean_pool(h, b.batch)], 1)), b.y

    fit, rest = loader(masks[0], True), loader(masks[1] | masks[2], False)

    def epoch() -> None:
        for b in fit:
            descend(optimiser, F.cross_entropy(*scores(b)))

    def right() -> Any:
        out = torch.zeros(data.num_nodes, dtype=torch.bool)
        out[masks[1] | masks[2]] = torch.cat([of.argmax(1) == y for of, y in map(scores, rest)])
        return out

    return best_of(model, 15, epoch, right, masks)


CITES, HAS, HELD = ("paper", "cites", "paper"), ("paper", "has", "word"), ("word", "in", "paper")


class OfWords(torch.nn.Module):
    """The mean of a paper's words, which are learned, beside the means of the papers that it cites and that cite it."""

    def __init__(self, words: int, out: int) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(words, 64)
        self.first, self.second = SAGEConv((64, 64), 64, root_weight=False), SAGEConv(64, out)

    def forward(self, words: Any, papers: int, held: Any, cites: Any) -> Any:
        h = self.first((self.words(words), torch.zeros(papers, 64)), held).relu()
        return self.second(F.dropout(h, 0.5, self.training), cites)


def words(folder: str, who: str, seed: int) -> float:
    """The papers among their words, by HGT's budgets of nodes of each type."""
    a = tensors(folder)
    y, count = a["y"], int(a["words"][0].max()) + 1
    edges = {CITES: a["edges"], HELD: a["words"], HAS: a["has"]}
    if who == "no edges":
        edges = {t: e[:, :0] for t, e in edges.items()}
    fit, check, test = split(y.numpy(), seed)
    loader: Iterable[Any]
    if who == "Graphmill":
        loader = NodeLoader(f"{folder}/store", [256, 256], 64, fit, "paper", sampler="hgt", shuffle=True, seed=seed, as_="pyg", label="y", threads=1)
    else:
        data = HeteroData()
        data["paper"].y, data["paper"].n_id = y, torch.arange(len(y))
        data["word"].n_id, data["word"].num_nodes, data["paper"].num_nodes = torch.arange(count), count, len(y)
        for t, e in edges.items():
            data[t].edge_index = e
        loader = HGTLoader(data, [256, 256], ("paper", torch.from_numpy(fit)), batch_size=64, shuffle=True)
    model = OfWords(count, int(y.max()) + 1)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

    def epoch() -> None:
        for b in loader:
            n = b["paper"].batch_size
            out = model(b["word"].n_id, len(b["paper"].n_id), b[HELD].edge_index, b[CITES].edge_index)
            descend(optimiser, F.cross_entropy(out[:n], b["paper"].y[:n]))

    masks = [torch.zeros(len(y), dtype=torch.bool) for _ in range(3)]
    for mask, ids in zip(masks, (fit, check, test)):
        mask[torch.from_numpy(ids)] = True
    return best_of(model, 20, epoch, lambda: model(torch.arange(count), len(y), edges[HELD], edges[CITES]).argmax(1) == y, masks)


def mrr_after(loader: Iterable[Any], a: dict[str, Any], edges: Any, epochs: int) -> float:
    """MRR of the held-out links, with edges as messages, after a training by the batches of links of a loader."""
    x = a["x"]
    model = SAGE(x.shape[1], x.shape[1], 0.0)  # added to the features
    optimiser = torch.optim.Adam(model.parameters(), lr=0.002)
    for _ in range(epochs):
        for b in loader:
            h = b.x + model(b.x, b.edge_index)
            score = (h[b.edge_label_index[0]] * h[b.edge_label_index[1]]).sum(1)
            descend(optimiser, F.binary_cross_entropy_with_logits(score, b.edge_label.float()))
    with torch.no_grad():
        return mrr(x + model(x, edges), a["test"], a["others"])


def links(folder: str, who: str, seed: int) -> float:
    """MRR of the held-out links after 100,000 links, half of which are negative."""
    a = tensors(folder)
    x, edges = a["x"], a["edges"]
    pairs = some(a["train"], 20000, seed)
    loader: Iterable[Any]
    if who == "no training":
        loader = []
    elif who == "PyG":
        loader = LinkNeighborLoader(Data(x=x, edge_index=edges), [10, 5], pairs, neg_sampling="binary", batch_size=256, shuffle=True)
    else:
        exclude = "reverse:_E" if who == "Graphmill, seed links excluded" else None
        loader = NodeLoader(
            f"{folder}/store", [10, 5], 256, pairs, ("_N", "_E", "_N"), shuffle=True, seed=seed, as_="pyg", threads=1, negatives=1, exclude=exclude
        )
    return mrr_after(loader, a, edges, 100000 // pairs.shape[1])


def held_out(folder: str, who: str, seed: int) -> float:
    """`links` where the held-out links are edges of the graph, too: they are messages, or not."""
    a = tensors(folder)
    x, edges, alone = a["x"], a["edges"], "all edges" not in who
    if alone:
        edges = edges[:, a["of_training"]]
    pairs = some(a["train"], 20000, seed)
    loader: Iterable[Any]
    if who == "no training":
        loader = []
    elif who.startswith("PyG"):
        loader = LinkNeighborLoader(Data(x=x, edge_index=edges), [10, 5], pairs, neg_sampling="binary", batch_size=256, shuffle=True)
    else:
        messages = "of_training" if alone else None
        loader = NodeLoader(
            f"{folder}/store", [10, 5], 256, pairs, ("_N", "_E", "_N"), shuffle=True, seed=seed, as_="pyg", threads=1, negatives=1, messages=messages
        )
    return mrr_after(loader, a, edges, 100000 // pairs.shape[1])


WROTE, BY, IN = ("person", "wrote", "commit"), ("commit", "by", "person"), ("component", "in", "commit")
PATHS = {WROTE: [1, 0, 0], BY: [0, 10, 0], IN: [0, 0, 1]}


class Past(BaseSampler):
    """PyG's temporal sampler of torch-sparse, which PyG's loaders used before pyg-lib."""

    def __init__(self, data: HeteroData, hops: dict[tuple[str, str, str], list[int]]) -> None:
        self.times = {t: data[t].time for t in data.node_types}
        colptr, row, self.edge_permutation_ = to_hetero_csc(data, device="cpu", node_time_dict=self.times)
        self.types = data.metadata()
        self.names = {e: "__".join(e) for e in self.types[1]}
        self.colptr, self.row, self.hops = remap_keys(colptr, self.names), remap_keys(row, self.names), hops

    @property
    def edge_permutation(self) -> Any:
        return self.edge_permutation_

    def sample_from_nodes(self, seeds: Any) -> HeteroSamplerOutput:
        takes = {self.names[e]: n for e, n in self.hops.items()}
        node, row, col, edge = torch.ops.torch_sparse.hetero_temporal_neighbor_sample(
            *self.types, self.colptr, self.row, {seeds.input_type: seeds.node}, takes, self.times, 3, False, True
        )
        back = {v: k for k, v in self.names.items()}
        return HeteroSamplerOutput(node, *(remap_keys(v, back) for v in (row, col, edge)), metadata=(seeds.input_id, seeds.time))

    def sample_from_edges(self, *_: object, **__: object) -> HeteroSamplerOutput:
        raise NotImplementedError("this training has seed nodes alone")


class Commits(torch.nn.Module):
    """What an author worked on: the components of their earlier commits, averaged."""

    def __init__(self) -> None:
        super().__init__()
        self.commit, self.person, self.out = SAGEConv((CLASSES, CLASSES), 16), SAGEConv((16, 16), 16), SAGEConv((16, 16), CLASSES)

    def forward(self, b: Any) -> Any:
        nothing = torch.zeros(b["commit"].num_nodes, CLASSES), torch.zeros(b["person"].num_nodes, 16), torch.zeros(b["commit"].num_nodes, 16)
        h = self.commit((b["component"].x, nothing[0]), b[IN].edge_index).relu()
        h = self.person((h, nothing[1]), b[BY].edge_index).relu()
        return self.out((h, nothing[2]), b[WROTE].edge_index)


def assert_past(b: Any) -> int:
    """No seed can see a commit that is later than itself: each node is reached from one seed alone."""
    commit = b["commit"]
    time, n = commit.time if "time" in commit else commit.x, commit.batch_size  # Graphmill names a column that is alone x
    of_person = torch.full((b["person"].num_nodes,), -1)
    of_person[b[WROTE].edge_index[0]] = b[WROTE].edge_index[1]
    assert int(b[WROTE].edge_index[1].max()) < n and (of_person[b[BY].edge_index[1]] >= 0).all()
    assert (time[b[BY].edge_index[0]] <= time[of_person[b[BY].edge_index[1]]]).all(), "found a later commit"
    return len(b[BY].edge_index[0])


def events(folder: str, who: str, seed: int) -> float:
    """Test accuracy on the last quarter of the commits."""
    a = tensors(folder)
    data = HeteroData()
    data["commit"].time, data["commit"].y, data["component"].x = a["time"], a["label"], a["component"]
    data["person"].time, data["component"].time = torch.zeros(int(a["people"]), dtype=torch.int64), torch.zeros(CLASSES, dtype=torch.int64)
    for t, n in (("commit", len(a["time"])), ("person", int(a["people"])), ("component", CLASSES)):
        data[t].num_nodes = n  # PyG cannot tell it from a column named time
    for e, name in ((WROTE, "wrote"), (BY, "by"), (IN, "touched")):
        data[e].edge_index = a[name]

    def loader(seeds: Any, shuffle: bool) -> Any:
        if who == "PyG":
            return PyGNodeLoader(data, Past(data, PATHS), ("commit", seeds), batch_size=256, shuffle=shuffle)
        paths = {":".join(e): n for e, n in PATHS.items()}
        if who == "no history":
            paths["commit:by:person"] = [0, 0, 0]
        return NodeLoader(
            f"{folder}/store", paths, 256, seeds, "commit", shuffle=shuffle, seed=seed, as_="pyg", label="y", scope="seed", before="time<=", threads=1
        )

    fit = some(a["train"], 8000, seed)
    test = some(a["test"], 4000, seed)
    model = Commits()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    training = loader(fit, True)
    for _ in range(10):
        for b in training:
            if who != "no history":
                assert_past(b)
            n = b["commit"].batch_size
            descend(optimiser, F.cross_entropy(model(b)[:n], b["commit"].y[:n]))
    right = total = 0
    with torch.no_grad():
        for b in loader(test, False):
            n = b["commit"].batch_size
            right += int((model(b)[:n].argmax(1) == b["commit"].y[:n]).sum())
            total += n
    return right / total


class GIN(torch.nn.Module):
    def __init__(self, kinds: int, classes: int) -> None:
        super().__init__()
        sizes = [kinds, 32, 32]
        self.convs = torch.nn.ModuleList(
            GINConv(torch.nn.Sequential(torch.nn.Linear(n, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32), torch.nn.ReLU())) for n in sizes
        )
        self.out = torch.nn.Linear(32, classes)

    def forward(self, b: Any) -> Any:
        h = b.x
        for conv in self.convs:
            h = conv(h, b.edge_index)
        return self.out(global_add_pool(h, b.batch, b.num_graphs) / 32)


def data_list(a: dict[str, Any], prefix: str) -> list[Data]:
    nodes, edges = a[prefix + "nodes"].tolist(), a[prefix + "edges"].tolist()
    ends = torch.stack([a[prefix + "src"], a[prefix + "dst"]])
    return [Data(x=a[prefix + "x"][nodes[i] : nodes[i + 1]], edge_index=ends[:, edges[i] : edges[i + 1]], y=y[None]) for i, y in enumerate(a[prefix + "label"])]


def graphs(folder: str, who: str, seed: int) -> float:
    """Test accuracy after 40 epochs of batches of about 32 graphs."""
    a = tensors(folder)
    if who == "no edges":
        a["edges"], a["test_edges"] = a["edges"] * 0, a["test_edges"] * 0
    model = GIN(a["x"].shape[1], int(a["label"].max()) + 1)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    loader: Iterable[Any]
    if who == "Graphmill":
        loader = PackedLoader(f"{folder}/layout", f"{folder}/store", as_="pyg", label="label", seed=seed)
    else:
        loader = DataLoader(data_list(a, ""), 32, shuffle=True)
    for _ in range(40):
        for b in loader:
            out, y = model(b), b.y
            if who == "Graphmill":
                out, y = out[b.graph_mask], y[b.graph_mask]
            descend(optimiser, F.cross_entropy(out, y))
    with torch.no_grad():
        return float(torch.cat([(model(b).argmax(1) == b.y).float() for b in DataLoader(data_list(a, "test_"), 64)]).mean())


TRAININGS = {
    "papers": (papers, ("PyG", "Graphmill", "no edges")),
    "saint": (saint, ("PyG", "Graphmill", "no edges")),
    "clusters": (clusters, ("PyG", "Graphmill", "no edges")),
    "shadow": (shadow, ("PyG", "Graphmill", "no edges")),
    "words": (words, ("PyG", "Graphmill", "no edges")),
    "links": (links, ("PyG", "Graphmill", "Graphmill, seed links excluded", "no training")),
    "held-out": (held_out, ("PyG", "PyG, all edges are messages", "Graphmill", "Graphmill, all edges are messages", "no training")),
    "events": (events, ("PyG", "Graphmill", "no history")),
    "graphs": (graphs, ("PyG", "Graphmill", "no edges")),
}

if __name__ == "__main__":
    main(TRAININGS, *sys.argv[1:])
