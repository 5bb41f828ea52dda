"""Trains one model with DGL's and GraphBolt's loaders and with Graphmill's, and prints the test results of each as JSON.

    python with_dgl.py papers|labor|links|events|graphs FOLDER SEEDS

As with_pyg.py, with DGL's models. The temporal training has GraphBolt as its peer, because DGL's own samplers know no times.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import dgl
import dgl.graphbolt as gb
import torch
import torch.nn.functional as F
from dgl.nn import GINConv, SAGEConv, SumPooling
from graphmill import NodeLoader, PackedLoader
from prepare import CLASSES, split
from shared import descend, main, mrr, some, tensors


class SAGE(torch.nn.Module):
    def __init__(self, features: int, out: int, dropout: float) -> None:
        super().__init__()
        self.first, self.second, self.dropout = SAGEConv(features, 64, "mean"), SAGEConv(64, out, "mean"), dropout

    def forward(self, blocks: list[Any], x: Any) -> Any:
        h = F.dropout(x, self.dropout, self.training)
        h = F.dropout(self.first(blocks[0], h).relu(), self.dropout, self.training)
        return self.second(blocks[1], h)


def papers(folder: str, who: str, seed: int, sampler: str = "neighbor") -> float:
    """Test accuracy at the epoch with the best validation accuracy."""
    a = tensors(folder)
    x, y, edges = a["x"], a["y"], a["edges"][:, : 0 if who == "no edges" else None]
    whole = dgl.graph(tuple(edges), num_nodes=len(y))
    whole.ndata["x"], whole.ndata["y"] = x, y
    fit, check, test = split(y.numpy(), seed)
    model = SAGE(x.shape[1], int(y.max()) + 1, 0.5)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    loader: Iterable[Any]
    if who == "Graphmill":
        loader = NodeLoader(f"{folder}/store", [10, 10], 64, fit, sampler=sampler, shuffle=True, seed=seed, as_="dgl", threads=1)
    else:
        of = dgl.dataloading.LaborSampler if sampler == "labor" else dgl.dataloading.NeighborSampler
        draws = of([10, 10], prefetch_node_feats=["x"], prefetch_labels=["y"])
        loader = dgl.dataloading.DataLoader(whole, torch.from_numpy(fit), draws, batch_size=64, shuffle=True)
    best = result = 0.0
    for _ in range(20):
        model.train()
        for _, _, blocks in loader:
            descend(optimiser, F.cross_entropy(model(blocks, blocks[0].srcdata["x"]), blocks[-1].dstdata["y"]))
        model.eval()
        with torch.no_grad():
            right = (model([whole, whole], x).argmax(1) == y).float()
        if float(right[check].mean()) > best:
            best, result = float(right[check].mean()), float(right[test].mean())
    return result


def labor(folder: str, who: str, seed: int) -> float:
    """The papers by LABOR: DGL's draws a random number of edges, Graphmill's the given one."""
    return papers(folder, who, seed, "labor")


def links(folder: str, who: str, seed: int) -> float:
    """MRR of the held-out links after 100,000 links, each with one negative target."""
    a = tensors(folder)
    x, edges = a["x"], a["edges"]
    whole = dgl.graph(tuple(edges), num_nodes=len(x))
    whole.ndata["x"] = x
    pairs = some(a["train"], 20000, seed)
    model = SAGE(x.shape[1], x.shape[1], 0.0)  # added to the features
    optimiser = torch.optim.Adam(model.parameters(), lr=0.002)
    loader: Iterable[Any]
    if who == "no training":
        loader = []
    elif who.startswith("DGL"):
        excluded = dict(exclude="reverse_id", reverse_eids=whole.edge_ids(edges[1], edges[0])) if "excluded" in who else {}
        sampler = dgl.dataloading.NeighborSampler([5, 10], prefetch_node_feats=["x"])  # DGL begins at the inputs
        sampler = dgl.dataloading.as_edge_prediction_sampler(sampler, negative_sampler=dgl.dataloading.negative_sampler.Uniform(1), **excluded)
        loader = dgl.dataloading.DataLoader(whole, whole.edge_ids(*pairs), sampler, batch_size=256, shuffle=True)
    else:
        exclude = "reverse:_E" if "excluded" in who else None
        loader = NodeLoader(
            f"{folder}/store", [10, 5], 256, pairs, ("_N", "_E", "_N"), shuffle=True, seed=seed, as_="dgl", threads=1,
            negatives=1, negatives_how="triplet", exclude=exclude,
        )  # fmt: skip
    for _ in range(100000 // pairs.shape[1]):
        for _, positive, negative, blocks in loader:
            h = blocks[0].srcdata["x"][: blocks[-1].num_dst_nodes()] + model(blocks, blocks[0].srcdata["x"])
            score = [(h[s] * h[d]).sum(1) for s, d in (positive.edges(), negative.edges())]
            target = torch.cat([torch.ones(len(score[0])), torch.zeros(len(score[1]))])
            descend(optimiser, F.binary_cross_entropy_with_logits(torch.cat(score), target))
    with torch.no_grad():
        return mrr(x + model([whole, whole], x), a["test"], a["others"])


# Relations, and how many edges each hop takes of them.
WROTE, BY, IN = ("person", "wrote", "commit"), ("commit", "by", "person"), ("component", "in", "commit")
PATHS = {WROTE: [1, 0, 0], BY: [0, 10, 0], IN: [0, 0, 1]}


class Commits(torch.nn.Module):
    """What an author worked on: the components of their earlier commits, averaged."""

    def __init__(self) -> None:
        super().__init__()
        self.commit, self.person, self.out = SAGEConv((CLASSES, CLASSES), 16, "mean"), SAGEConv((16, 16), 16, "mean"), SAGEConv((16, 16), CLASSES, "mean")

    def forward(self, parts: list[Any], x: Any) -> Any:
        """The scores of the commits that are the targets of the last part. Parts are bipartite, from the inputs to the seeds."""
        nothing = [torch.zeros(p.num_dst_nodes(), n) for p, n in zip(parts, (CLASSES, 16, 16))]
        h = self.commit(parts[0], (x, nothing[0])).relu()
        h = self.person(parts[1], (h, nothing[1])).relu()
        return self.out(parts[2], (h, nothing[2]))


def assert_past(parts: list[Any], commit_time: Any, seed_time: Any) -> None:
    """No seed can see a commit that is as late as itself: each author is reached from one seed alone."""
    author, seed = parts[2].edges()
    of_author = torch.full((parts[2].num_src_nodes(),), -1)
    of_author[author] = seed
    commit, author = parts[1].edges()
    assert (commit_time[commit] < seed_time[of_author[author]]).all(), "found a later commit"


def events(folder: str, who: str, seed: int) -> float:
    """Test accuracy on the last quarter of the commits."""
    a = tensors(folder)
    n, people = len(a["time"]), int(a["people"])
    edges = {WROTE: a["wrote"], BY: a["by"], IN: a["touched"]}
    times = {WROTE: a["before"], BY: a["time"], IN: a["time"]}

    whole = dgl.heterograph({e: tuple(x) for e, x in edges.items()}, {"commit": n, "person": people, "component": CLASSES})
    whole = gb.from_dglgraph(whole, include_original_edge_id=True)
    time = torch.empty_like(whole.indices)  # from_dglgraph would leave a column in the order of the input
    for name, k in whole.edge_type_to_id.items():
        at = whole.type_per_edge == k
        time[at] = times[tuple(name.split(":"))][whole.edge_attributes["_ORIGINAL_EDGE_ID"][at]]
    whole.edge_attributes = {"time": time}

    def bolt(seeds: Any, shuffle: bool) -> Iterator[tuple[list[Any], Any, Any]]:
        """GraphBolt's blocks, of edges that are strictly older than the seed."""
        order = list(whole.edge_type_to_id)
        takes = [torch.tensor([PATHS[tuple(e.split(":"))][h] for e in order]) for h in (2, 1, 0)]
        items = gb.ItemSetDict({"commit": gb.ItemSet((seeds, a["time"][seeds], a["label"][seeds]), names=("seed_nodes", "timestamp", "labels"))})
        pipe = gb.ItemSampler(items, batch_size=256, shuffle=shuffle).temporal_sample_neighbor(whole, takes, edge_timestamp_attr_name="time")
        for m in gb.DataLoader(pipe):
            parts = []
            for e, block in zip((IN, BY, WROTE), m.blocks):
                parts.append(dgl.create_block(tuple(x.long() for x in block.edges(etype=e)), block.num_src_nodes(e[0]), block.num_dst_nodes(e[2])))
            found = [sampled.original_row_node_ids for sampled in m.sampled_subgraphs]
            assert_past(parts, a["time"][found[1]["commit"]], m.timestamp["commit"])
            yield parts, a["component"][found[0]["component"]], m.labels["commit"]

    def mill(seeds: Any, shuffle: bool) -> Iterator[tuple[list[Any], Any, Any]]:
        """The edges of each relation in a subgraph per seed; all are strictly older than the seed."""
        paths = {":".join(e): [0, 0, 0] if who == "no history" and e == BY else takes for e, takes in PATHS.items()}
        with NodeLoader(f"{folder}/store", paths, 256, seeds, "commit", shuffle=shuffle, seed=seed, scope="seed", before="time", threads=1) as loader:
            for b in loader:
                count = {**{t: len(x) for t, x in b.n_id.items()}, "seed": b.batch_size}
                parts = []
                for e in (IN, BY, WROTE):
                    ends = tuple(torch.from_numpy(b.edge_index[e].copy()))
                    parts.append(dgl.create_block(ends, count[e[0]], count["seed" if e == WROTE else e[2]]))
                assert_past(parts, torch.from_numpy(b.x["commit"]["time"]), torch.from_numpy(b.seed_time))
                yield parts, torch.from_numpy(b.x["component"]["x"]), torch.from_numpy(b.x["commit"]["y"][: b.batch_size])
                del b

    batches = bolt if who == "GraphBolt" else mill
    fit = some(a["train"], 8000, seed)
    test = some(a["test"], 4000, seed)
    model = Commits()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(10):
        for parts, x, y in batches(fit, True):
            descend(optimiser, F.cross_entropy(model(parts, x), y))
    right = 0
    with torch.no_grad():
        for parts, x, y in batches(test, False):
            right += int((model(parts, x).argmax(1) == y).sum())
    return right / len(test)


class GIN(torch.nn.Module):
    def __init__(self, kinds: int, classes: int) -> None:
        super().__init__()
        self.convs = torch.nn.ModuleList(
            GINConv(torch.nn.Sequential(torch.nn.Linear(n, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32), torch.nn.ReLU()), "sum") for n in (kinds, 32, 32)
        )
        self.pool, self.out = SumPooling(), torch.nn.Linear(32, classes)

    def forward(self, g: Any, h: Any) -> Any:
        for conv in self.convs:
            h = conv(g, h)
        return self.out(self.pool(g, h) / 32)


def graph_list(a: dict[str, Any], prefix: str) -> list[tuple[Any, Any]]:
    """Pairs of a graph and its class."""
    nodes, edges = a[prefix + "nodes"].tolist(), a[prefix + "edges"].tolist()
    src, dst, out = a[prefix + "src"], a[prefix + "dst"], []
    for i, y in enumerate(a[prefix + "label"]):
        g = dgl.graph((src[edges[i] : edges[i + 1]], dst[edges[i] : edges[i + 1]]), num_nodes=nodes[i + 1] - nodes[i])
        g.ndata["x"] = a[prefix + "x"][nodes[i] : nodes[i + 1]]
        out.append((g, y))
    return out


def packed(p: Any) -> tuple[Any, Any, Any]:
    """A pack as a batched graph, and the classes of its graphs; the padding is in graphs of its own."""
    atom, bond = p.nodes["atom"], p.edges["atom", "bond", "atom"]
    g = dgl.graph((torch.from_numpy(bond.src), torch.from_numpy(bond.dst)), num_nodes=len(atom.mask))
    g.set_batch_num_nodes(torch.from_numpy(atom.n_node))
    g.set_batch_num_edges(torch.from_numpy(bond.n_edge))
    g.ndata["x"] = torch.from_numpy(atom.columns["x"])
    return g, torch.from_numpy(p.context["label"]), torch.from_numpy(p.graph_mask)


def graphs(folder: str, who: str, seed: int) -> float:
    """Test accuracy after 40 epochs of batches of about 32 graphs."""
    a = tensors(folder)
    if who == "no edges":
        a["edges"], a["test_edges"] = a["edges"] * 0, a["test_edges"] * 0
    model = GIN(a["x"].shape[1], int(a["label"].max()) + 1)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    loader: Iterable[Any]
    if who == "Graphmill":
        loader = PackedLoader(f"{folder}/layout", f"{folder}/store", seed=seed)
    else:
        loader = dgl.dataloading.GraphDataLoader(graph_list(a, ""), batch_size=32, shuffle=True)
    for _ in range(40):
        for b in loader:
            g, y, mask = packed(b) if who == "Graphmill" else (*b, slice(None))
            descend(optimiser, F.cross_entropy(model(g, g.ndata["x"])[mask], y[mask]))
    with torch.no_grad():
        test = dgl.dataloading.GraphDataLoader(graph_list(a, "test_"), batch_size=64)
        return float(torch.cat([(model(g, g.ndata["x"]).argmax(1) == y).float() for g, y in test]).mean())


TRAININGS = {
    "papers": (papers, ("DGL", "Graphmill", "no edges")),
    "labor": (labor, ("DGL", "Graphmill", "no edges")),
    "links": (links, ("DGL", "Graphmill", "DGL, seed links excluded", "Graphmill, seed links excluded", "no training")),
    "events": (events, ("GraphBolt", "Graphmill", "no history")),
    "graphs": (graphs, ("DGL", "Graphmill", "no edges")),
}

if __name__ == "__main__":
    dgl.seed(0)
    main(TRAININGS, *sys.argv[1:])
