"""Batches for training, by the loaders of PyG, DGL, GraphBolt and Graphmill: seeds, subgraph, features.

usage: peer_loader.py STORE FEATURES.npy --loader graphmill|pyg|dgl|graphbolt --threads T --batches N [--train] [--graphmill BINARY]

Prints one JSON. STORE is a homogeneous one; its nodes have the float32 rows of FEATURES.npy, which Graphmill's store
holds as column x. Batches of 1024 shuffled seeds, fanout 15,10 (turned around for DGL and GraphBolt, which
count from the far end), torch with one thread. With --train a two-layer GraphSAGE (hidden 64, Adam) learns
from each batch; "waiting" is the share of the time that it waits for batches.
"""
import argparse
import json
import os
import time

os.environ.setdefault("DGLBACKEND", "pytorch")

import numpy as np
import torch

BATCH, FANOUT, WARM, CLASSES = 1024, [15, 10], 20, 16
HOMOGENEOUS = "_N:_E:_N"


def adjacency(store):
    with open(os.path.join(store, "graph.json")) as f:
        arrays = json.load(f)["edges"][HOMOGENEOUS]["arrays"]
    indptr, far = (np.load(os.path.join(store, arrays[a]), mmap_mode="r") for a in ("indptr", "far"))
    return torch.from_numpy(indptr.astype(np.int64)), torch.from_numpy(far.astype(np.int64))


def graphmill(args, count):
    from graphmill import NodeLoader

    seeds = np.random.default_rng(0).permutation(count)[: BATCH * (WARM + args.batches)]
    with NodeLoader(args.store, fanout=FANOUT, batch_size=BATCH, seeds=seeds, as_="pyg", threads=args.threads, features=["x"]) as loader:
        for data in loader:
            yield data.x, data.edge_index, data.batch_size
            del data


def pyg(args, count):
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    indptr, far = adjacency(args.store)
    dst = torch.repeat_interleave(torch.arange(count), indptr.diff())
    data = Data(x=torch.from_numpy(np.load(args.features)), edge_index=torch.stack([far, dst]), num_nodes=count)
    seeds = torch.from_numpy(np.random.default_rng(0).permutation(count)[: BATCH * (WARM + args.batches)])
    for batch in NeighborLoader(data, FANOUT, input_nodes=seeds, batch_size=BATCH, is_sorted=True):
        yield batch.x, batch.edge_index, batch.batch_size


def dgl(args, count):
    import dgl as d

    indptr, far = adjacency(args.store)
    graph = d.graph(("csc", (indptr, far, torch.empty(0, dtype=torch.int64))))
    graph.ndata["x"] = torch.from_numpy(np.load(args.features))
    seeds = torch.from_numpy(np.random.default_rng(0).permutation(count)[: BATCH * (WARM + args.batches)])
    sampler = d.dataloading.NeighborSampler(FANOUT[::-1], prefetch_node_feats=["x"])
    for _, _, blocks in d.dataloading.DataLoader(graph, seeds, sampler, batch_size=BATCH):
        yield blocks[0].srcdata["x"], blocks, BATCH


def graphbolt(args, count):
    import dgl.graphbolt as gb

    graph = gb.fused_csc_sampling_graph(*adjacency(args.store))
    features = gb.BasicFeatureStore({("node", None, "x"): gb.TorchBasedFeature(torch.from_numpy(np.load(args.features)))})
    seeds = torch.from_numpy(np.random.default_rng(0).permutation(count)[: BATCH * (WARM + args.batches)])
    pipe = gb.ItemSampler(gb.ItemSet(seeds, names="seed_nodes"), batch_size=BATCH)
    pipe = pipe.sample_neighbor(graph, FANOUT[::-1]).fetch_feature(features, node_feature_keys=["x"])
    for batch in gb.DataLoader(pipe):
        yield batch.node_features["x"], batch.blocks, BATCH


def model(width, blocks):
    """GraphSAGE on a PyG edge list, or on DGL's blocks."""
    if blocks:
        from dgl.nn import SAGEConv

        convs = torch.nn.ModuleList([SAGEConv(width, 64, "mean"), SAGEConv(64, CLASSES, "mean")])
    else:
        from torch_geometric.nn import SAGEConv

        convs = torch.nn.ModuleList([SAGEConv(width, 64), SAGEConv(64, CLASSES)])
    optimiser = torch.optim.Adam(convs.parameters())

    def step(x, graph, seeds):
        h = x
        for i, conv in enumerate(convs):
            h = conv(graph[i], h) if blocks else conv(h, graph)
            if i == 0:
                h = h.relu()
        loss = torch.nn.functional.cross_entropy(h[:seeds], torch.zeros(min(seeds, len(h)), dtype=torch.long))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return step


def main():
    p = argparse.ArgumentParser()
    p.add_argument("store")
    p.add_argument("features")
    p.add_argument("--loader", required=True, choices=["graphmill", "pyg", "dgl", "graphbolt"])
    p.add_argument("--threads", type=int, required=True, help="of Graphmill's feed; the peers sample in the trainer's thread")
    p.add_argument("--batches", type=int, required=True)
    p.add_argument("--train", action="store_true")
    args = p.parse_args()
    torch.set_num_threads(1)
    features = np.load(args.features, mmap_mode="r")
    count, width = features.shape
    step = model(width, args.loader in ("dgl", "graphbolt")) if args.train else None
    batches = {"graphmill": graphmill, "pyg": pyg, "dgl": dgl, "graphbolt": graphbolt}[args.loader](args, count)
    rows = done = 0
    waited = 0.0
    start = asked = time.perf_counter()
    for x, graph, seeds in batches:
        waited += time.perf_counter() - asked
        if done == WARM:
            start, waited, rows = time.perf_counter(), 0.0, 0
        if step:
            step(x, graph, seeds)
        rows += len(x)
        done += 1
        del x, graph
        if done == WARM + args.batches:
            break
        asked = time.perf_counter()
    seconds = time.perf_counter() - start
    done -= WARM
    print(json.dumps({"batches": done, "seconds": seconds, "batches_per_second": done / seconds, "rows": rows, "waiting": waited / seconds}))


if __name__ == "__main__":
    main()
