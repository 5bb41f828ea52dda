"""The graph that RelBench makes of tables, and batches of it by PyG: the peer that train.py is compared with.

    python relbench_peer.py TABLES rows.csv

TABLES is a folder with people.csv, items.csv, orders.csv and reviews.csv, as psql writes them. The network, its input and its training are the same as in
train.py.

NeighborLoader needs pyg-lib for its time_attr, which PyPI does not have. So the sampler here calls the operator of torch-sparse
that PyG called before there was pyg-lib. Its subgraphs are the same where the fanout takes all neighbours; else it draws among all neighbours and
then drops edges of the future, so it finds fewer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch_sparse  # noqa: F401  registers the operator
import train
from relbench.base import Database, Table
from relbench.modeling.graph import make_pkey_fkey_graph
from relbench.modeling.utils import get_stype_proposal
from torch_geometric.data import HeteroData
from torch_geometric.loader import NodeLoader
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput
from torch_geometric.sampler.utils import remap_keys, to_hetero_csc

KEYS = {"people": {}, "items": {}, "orders": {"person": "people", "item": "items"}, "reviews": {"person": "people", "item": "items"}}
ROW = "row"


class TemporalSampler(BaseSampler):
    """A subgraph per seed, of nodes that are not later than the seed's time. `data` has `time` where a type has times, in seconds.

    The operator takes the times of seeds from the nodes that are seeds, so each batch has nodes of the type ROW: one per seed, with its
    time, and the seed as the one neighbour. They are the first hop, and are left out of the result.
    """

    def __init__(self, data: HeteroData, seeds: str, fanout: list[int]) -> None:
        self.seeds, self.hops = seeds, len(fanout)
        self.types, self.edges = data.metadata()
        # A type without times is always in the past. The operator is slow for types that it finds no times of.
        self.time = {t: data[t].time if "time" in data[t] else torch.zeros(data[t].num_nodes, dtype=torch.int64) for t in self.types}
        colptr, row, self.perm = to_hetero_csc(data, device="cpu")
        self.names = {e: "__".join(e) for e in self.edges}
        self.colptr, self.row = remap_keys(colptr, self.names), remap_keys(row, self.names)
        self.first = (seeds, "of", ROW)
        self.fanout = {n: [0, *fanout] for n in self.names.values()} | {"__".join(self.first): [1] + [0] * len(fanout)}

    @property
    def edge_permutation(self) -> Any:
        return self.perm

    def sample_from_nodes(self, index: Any) -> HeteroSamplerOutput:
        count, first = len(index.node), "__".join(self.first)
        node, row, col, edge = torch.ops.torch_sparse.hetero_temporal_neighbor_sample(
            [*self.types, ROW],
            [*self.edges, self.first],
            {**self.colptr, first: torch.arange(count + 1)},
            {**self.row, first: index.node},
            {ROW: torch.arange(count)},
            self.fanout,
            {**self.time, ROW: index.time},
            self.hops + 1,
            False,
            True,
        )
        # The sampler does not say to which seed a node belongs: each node takes the seed of the node from which it was reached.
        batch = {t: torch.full((len(node[t]),), -1) for t in self.types}
        batch[self.seeds][:count] = torch.arange(count)
        for _ in range(self.hops):
            for e, name in self.names.items():
                of = batch[e[2]][col[name]]
                batch[e[0]][row[name][of >= 0]] = of[of >= 0]
        keep: Callable[[dict[str, torch.Tensor]], dict[tuple[str, str, str], torch.Tensor]] = lambda x: {e: x[name] for e, name in self.names.items()}
        return HeteroSamplerOutput({t: node[t] for t in self.types}, keep(row), keep(col), keep(edge), batch, metadata=(index.input_id, index.time))

    def sample_from_edges(self, index: Any, neg_sampling: Any = None) -> HeteroSamplerOutput:
        raise NotImplementedError("the seeds are nodes")


def graph(tables: dict[str, pd.DataFrame]) -> HeteroData:
    """RelBench's graph of data frames by name. A frame has `id`, from 0, and perhaps `at`."""
    db = Database({t: Table(f, KEYS[t], "id", "at" if "at" in f else None) for t, f in tables.items()})
    return make_pkey_fkey_graph(db, get_stype_proposal(db))[0]


def loader(data: HeteroData, person: np.ndarray, at: np.ndarray, fanout: list[int], **more: Any) -> NodeLoader:
    """Batches of people at times in seconds: nothing of a batch is as late as the time of its seed."""
    return NodeLoader(data, TemporalSampler(data, "people", fanout), ("people", torch.from_numpy(np.array(person))), torch.from_numpy(np.array(at) - 1), **more)


def renamed(batch: HeteroData) -> HeteroData:
    """A batch as train.py has it: seed times as they were given, and times of rows by the name of their column."""
    batch["people"].seed_time += 1
    for t in train.TIMED:
        batch[t].at = batch[t].time
    return batch


def main(folder: str, path: str, seeds: int = 5) -> None:
    torch.set_num_threads(1)
    parts = train.rows(path)
    tables = {t: pd.read_csv(f"{folder}/{t}.csv").sort_values("id", ignore_index=True) for t in KEYS}
    for t in train.TIMED:
        tables[t]["at"] = pd.to_datetime(tables[t]["at"], utc=True, format="ISO8601").dt.tz_localize(None).astype("datetime64[ns]")
    data = graph(tables)
    for t, columns in train.COLUMNS.items():
        data[t].x = torch.from_numpy(tables[t][columns].to_numpy(np.float32))
        del data[t].tf
    for a, name, b in data.edge_types:  # f2p_person is person, and rev_f2p_person rev_person
        data[a, name.replace("f2p_", ""), b].edge_index = data[a, name, b].edge_index
        del data[a, name, b]

    def loaders(seed: int) -> tuple[NodeLoader, NodeLoader]:
        torch.manual_seed(seed)
        fit, test = (loader(data, p["person"], p["at"], train.FANOUT, batch_size=train.BATCH, shuffle=p is parts[0], transform=renamed) for p in parts)
        return fit, test

    train.report("RelBench and PyG", [train.learn(*loaders(seed), parts, seed) for seed in range(seeds)])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
