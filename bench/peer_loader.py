"""Batches for training, by the loaders of PyG, DGL, GraphBolt, DGF and Graphmill: seeds, subgraph, features.

usage: peer_loader.py STORE FEATURES.npy --loader graphmill|graphmill-pairs|graphmill-dgl|graphmill-seeds|pyg|dgl|graphbolt|dgf --batches N [--threads T] [--workers W] [--train]

Prints one JSON. STORE is a homogeneous one; its nodes have the float32 rows of FEATURES.npy, which Graphmill's store
holds as column x. Batches of 1024 shuffled seeds, fanout 15,10 (reversed for DGL and GraphBolt, which
count from the far end), torch with one thread; graphmill yields PyG's Data, graphmill-dgl DGL's blocks. PyG samples
by torch-sparse, in the trainer's process or in W workers. graphmill-pairs trains on the same batches as graphmill, but each
layer computes only the nodes and edges that later layers need, as on DGL's blocks. dgf is the in-memory sampler of Google's DGF, which
gives each seed a subgraph of its own, and its GraphMerger, which joins those of a batch; graphmill-seeds makes the same batches by
the same plan. With --train a
two-layer GraphSAGE (hidden 64, Adam) learns from each batch; "waiting" is the share of the time that it waits for
batches. The clock starts after 20 batches and --warm-seconds, when each loader has its features in memory. "rows" and
"edges" are the feature rows and the edges of all timed batches.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("DGLBACKEND", "pytorch")

import numpy as np
import numpy.typing as npt
import torch

BATCH, FANOUT, CLASSES = 1024, [15, 10], 16
WARM = 20
HOMOGENEOUS = "_N:_E:_N"


def adjacency(store: str) -> tuple[Any, Any]:
    with open(os.path.join(store, "graph.json")) as f:
        arrays = json.load(f)["edges"][HOMOGENEOUS]["arrays"]
    indptr, far = (np.load(os.path.join(store, arrays[a]), mmap_mode="r") for a in ("indptr", "far"))
    return torch.from_numpy(indptr.astype(np.int64)), torch.from_numpy(far.astype(np.int64))


def chosen(args: argparse.Namespace, count: int) -> npt.NDArray[Any]:
    """The seeds of an epoch."""
    return np.random.default_rng(0).permutation(count)[: BATCH * (WARM + args.batches)]


def graphmill(args: argparse.Namespace, count: int, as_: str = "pyg", pairs: bool = False) -> Iterator[Any]:
    from graphmill import NodeLoader

    with NodeLoader(args.store, fanout=FANOUT, batch_size=BATCH, seeds=chosen(args, count), as_=as_, threads=args.threads, features=["x"]) as loader:
        while True:
            for batch in loader:
                if as_ == "dgl":
                    yield batch[2][0].srcdata["x"], batch[2], BATCH
                elif pairs:
                    yield batch.x, (batch.edge_index, batch.num_sampled_nodes, batch.num_sampled_edges), batch.batch_size
                else:
                    yield batch.x, batch.edge_index, batch.batch_size
                del batch


def graphmill_dgl(args: argparse.Namespace, count: int) -> Iterator[Any]:
    return graphmill(args, count, "dgl")


def graphmill_pairs(args: argparse.Namespace, count: int) -> Iterator[Any]:
    return graphmill(args, count, pairs=True)


def pyg(args: argparse.Namespace, count: int) -> Iterator[Any]:
    import torch_geometric.typing
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    if torch_geometric.typing.WITH_PYG_LIB:
        raise SystemExit("found pyg-lib, expected torch-sparse alone, which the race is named after; uninstall pyg-lib")
    indptr, far = adjacency(args.store)
    dst = torch.repeat_interleave(torch.arange(count), indptr.diff())
    data = Data(x=torch.from_numpy(np.load(args.features)), edge_index=torch.stack([far, dst]), num_nodes=count)
    seeds = torch.from_numpy(chosen(args, count))
    loader = NeighborLoader(data, FANOUT, input_nodes=seeds, batch_size=BATCH, is_sorted=True, num_workers=args.workers, persistent_workers=args.workers > 0)
    while True:
        for batch in loader:
            yield batch.x, batch.edge_index, batch.batch_size


def dgl(args: argparse.Namespace, count: int) -> Iterator[Any]:
    import dgl as d

    indptr, far = adjacency(args.store)
    graph = d.graph(("csc", (indptr, far, torch.empty(0, dtype=torch.int64))))
    graph.ndata["x"] = torch.from_numpy(np.load(args.features))
    seeds = torch.from_numpy(chosen(args, count))
    sampler = d.dataloading.NeighborSampler(FANOUT[::-1], prefetch_node_feats=["x"])
    loader = d.dataloading.DataLoader(graph, seeds, sampler, batch_size=BATCH)
    while True:
        for _, _, blocks in loader:
            yield blocks[0].srcdata["x"], blocks, BATCH


def graphbolt(args: argparse.Namespace, count: int) -> Iterator[Any]:
    import dgl.graphbolt as gb

    graph = gb.fused_csc_sampling_graph(*adjacency(args.store))
    features = gb.BasicFeatureStore({("node", None, "x"): gb.TorchBasedFeature(torch.from_numpy(np.load(args.features)))})
    seeds = torch.from_numpy(chosen(args, count))
    pipe = gb.ItemSampler(gb.ItemSet(seeds, names="seed_nodes"), batch_size=BATCH)
    pipe = pipe.sample_neighbor(graph, FANOUT[::-1]).fetch_feature(features, node_feature_keys=["x"])
    loader = gb.DataLoader(pipe)
    while True:
        for batch in loader:
            yield batch.node_features["x"], batch.blocks, BATCH


# A node that a step reaches twice is expanded once: DGF is faster so, and others do the same.
DGF_PLAN = """{"root": {"nodeset": "node", "children": [{"edgeset": "edge", "reversed": true, "hop_width": 15, "node": {"nodeset": "node",
"children": [{"edgeset": "edge", "reversed": true, "hop_width": 10, "node": {"nodeset": "node", "children": []}}]}}]}, "multi_visit": false}"""


def dgf(args: argparse.Namespace, count: int) -> Iterator[Any]:
    import dgf as d

    indptr, far = adjacency(args.store)
    dst = torch.repeat_interleave(torch.arange(count), indptr.diff())
    x = np.load(args.features)
    features = {"x": d.data.FeatureSchema(d.data.FeatureFormat.FLOAT_32, d.data.FeatureSemantic.EMBEDDING, shape=x.shape[1:])}
    schema = d.data.GraphSchema({"node": d.data.NodeSchema(features)}, {"edge": d.data.EdgeSchema("node", "node")})
    edges = d.data.InMemoryEdgeSet(torch.stack([far, dst]).numpy())
    graph = d.data.InMemoryGraph({"node": d.data.InMemoryNodeSet(count, {"x": x})}, {"edge": edges})
    plan = d.sampling.SamplingPlan.from_json(DGF_PLAN)
    sampler = d.sampling.create_sampler(graph, plan, schema, batch_size=BATCH, num_threads=args.threads if args.threads > 1 else 0, seed=1)
    merger = d.transform.GraphMerger(schema)
    seeds = chosen(args, count)
    while True:
        for i in range(0, len(seeds), BATCH):
            merged, _ = merger(sampler.sample(seeds[i : i + BATCH]))
            yield torch.from_numpy(merged.node_sets["node"].features["x"]), torch.from_numpy(merged.edge_sets["edge"].adjacency), BATCH


def graphmill_seeds(args: argparse.Namespace, count: int) -> Iterator[Any]:
    from graphmill import NodeLoader

    with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
        plan.write(DGF_PLAN)
        plan.flush()
        with NodeLoader(args.store, plan=plan.name, batch_size=BATCH, seeds=chosen(args, count), as_="pyg", threads=args.threads, features=["x"]) as loader:
            while True:
                for batch in loader:
                    yield batch.x, batch.edge_index, batch.batch_size
                    del batch


LOADERS = {
    "graphmill-seeds": graphmill_seeds,
    "dgf": dgf,
    "graphmill": graphmill,
    "graphmill-pairs": graphmill_pairs,
    "graphmill-dgl": graphmill_dgl,
    "pyg": pyg,
    "dgl": dgl,
    "graphbolt": graphbolt,
}


def model(width: int, blocks: bool) -> Callable[[Any, Any, int], None]:
    """GraphSAGE on a PyG edge list, or on DGL's blocks."""
    if blocks:
        from dgl.nn import SAGEConv

        convs = torch.nn.ModuleList([SAGEConv(width, 64, "mean"), SAGEConv(64, CLASSES, "mean")])
    else:
        from torch_geometric.nn import SAGEConv

        convs = torch.nn.ModuleList([SAGEConv(width, 64), SAGEConv(64, CLASSES)])
    optimiser = torch.optim.Adam(convs.parameters())

    def step(x: Any, graph: Any, seeds: int) -> None:
        h = x
        for i, conv in enumerate(convs):
            if isinstance(graph, tuple):  # each layer computes the nodes that the layers after it need
                ends, nodes, edges = graph
                hops = len(convs) - i
                h = conv((h, h[: sum(nodes[:hops])]), ends[:, : sum(edges[:hops])])
            else:
                h = conv(graph[i], h) if blocks else conv(h, graph)
            if i == 0:
                h = h.relu()
        loss = torch.nn.functional.cross_entropy(h[:seeds], torch.zeros(min(seeds, len(h)), dtype=torch.long))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return step


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("store")
    p.add_argument("features")
    p.add_argument("--loader", required=True, choices=list(LOADERS))
    p.add_argument("--threads", type=int, default=1, help="threads of Graphmill's feed, and of DGF's sampler; the other peers sample in the trainer's thread")
    p.add_argument("--workers", type=int, default=0, help="processes in which PyG samples and gathers features; 0 is the trainer's own")
    p.add_argument("--warm-seconds", type=float, default=10, help="time before the clock starts")
    p.add_argument("--batches", type=int, required=True)
    p.add_argument("--train", action="store_true")
    args = p.parse_args()
    torch.set_num_threads(1)
    features = np.load(args.features, mmap_mode="r")
    count, width = features.shape
    step = model(width, args.loader in ("graphmill-dgl", "dgl", "graphbolt")) if args.train else None
    warm = rows = edges = done = 0
    waited = start = cpu = 0.0
    began = asked = time.perf_counter()
    for x, graph, seeds in LOADERS[args.loader](args, count):
        came = time.perf_counter()
        if step:
            step(x, graph, seeds)
        if start:
            waited += came - asked
            rows += len(x)
            edges += sum(block.num_edges() for block in graph) if isinstance(graph, list) else graph[0].shape[1] if isinstance(graph, tuple) else graph.shape[1]
            done += 1
        else:
            warm += 1
            if warm >= WARM and time.perf_counter() - began >= args.warm_seconds:
                start, cpu = time.perf_counter(), time.process_time()
        del x, graph
        if done == args.batches:
            break
        asked = time.perf_counter()
    seconds, trainer = time.perf_counter() - start, time.process_time() - cpu
    print(
        json.dumps(
            {
                "batches": done,
                "seconds": seconds,
                "batches_per_second": done / seconds,
                "rows": rows,
                "edges": edges,
                "waiting": waited / seconds,
                "trainer_cpu_seconds": trainer,
            }
        )
    )


if __name__ == "__main__":
    main()
