"""Compares packs with the collection from which they were made, by sums over each graph.

    python check.py PACKS COLLECTION

Sums the first column of nodes over each graph, and over the sources of its edges, three times: from the collection, from
a GraphsTuple, and from a PyG Batch. Uses jraph and torch_geometric if they are installed, and otherwise NumPy.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from packs import Packs


def segment(values: np.ndarray, owner: np.ndarray, graphs: int) -> np.ndarray:
    out = np.zeros((graphs, *values.shape[1:]))
    np.add.at(out, owner, values)
    return out


def expected(folder: str) -> np.ndarray:
    """The sums of the graphs of the collection, in its order."""
    path = pathlib.Path(folder)
    meta = json.loads((path / "graph.json").read_text())
    (node,), (edge,) = meta["nodes"].values(), meta["edges"].values()
    load: Callable[[str], np.ndarray] = lambda file: np.load(path / file)
    x = load(node["columns"][min(node["columns"])]["file"]).astype(np.float64)
    nodes, edges = load(node["arrays"]["graph_ptr"]).astype(np.int64), load(edge["arrays"]["graph_ptr"]).astype(np.int64)
    src = load(edge["arrays"]["src"])
    return np.array([np.stack([x[a:b].sum(0), x[a + src[c:d]].sum(0)]) for a, b, c, d in zip(nodes, nodes[1:], edges, edges[1:])])


def with_jraph(fields: dict[str, Any], name: str) -> tuple[np.ndarray, np.ndarray | None, Any]:
    try:
        import jraph
    except ImportError:
        jraph = None
    x, graphs = fields["nodes"][name].astype(np.float64), len(fields["n_node"])
    owner, of_edge = (np.repeat(np.arange(graphs), fields[k]) for k in ("n_node", "n_edge"))
    mask = None
    if jraph:
        g = jraph.GraphsTuple(**fields)
        mask = np.array(jraph.get_graph_padding_mask(g))
        assert np.array_equal(jraph.get_node_padding_mask(g), mask[owner]), "node padding"
        assert np.array_equal(jraph.get_edge_padding_mask(g), mask[of_edge]), "edge padding"
    return np.stack([segment(x, owner, graphs), segment(x[fields["senders"]], of_edge, graphs)], 1), mask, jraph


def with_pyg(fields: dict[str, Any], name: str) -> tuple[np.ndarray, Any]:
    x, graphs = fields[name].astype(np.float64), len(fields["graph_mask"])
    source, of_edge = fields["edge_index"][0], fields["batch"][fields["edge_index"][0]]
    try:
        import torch
        import torch_geometric
    except ImportError:
        return np.stack([segment(x, fields["batch"], graphs), segment(x[source], of_edge, graphs)], 1), None
    b = torch_geometric.data.Data(**{k: torch.from_numpy(np.array(v)) for k, v in fields.items()})
    add: Callable[[torch.Tensor, torch.Tensor], np.ndarray] = lambda v, index: torch_geometric.nn.global_add_pool(v, index, size=graphs).numpy()
    wide = b[name].double()
    return np.stack([add(wide, b.batch), add(wide[b.edge_index[0]], b.batch[b.edge_index[0]])], 1), torch_geometric


def main(folder: str, collection: str) -> None:
    packs, want = Packs(folder), expected(collection)
    name = min(next(iter(packs.nodes.values()))[1])
    seen = np.zeros(len(want), int)
    for p in range(len(packs)):
        real = packs.packs["graph_mask"][p]
        ids = packs.packs["graph_id"][p][real]
        seen[ids] += 1
        sums, mask, jraph = with_jraph(packs.graphs_tuple(p), name)
        assert mask is None or np.array_equal(mask, real), "graph padding"
        np.testing.assert_allclose(sums[real], want[ids], rtol=1e-12)
        assert len(ids) == packs.packs["num_graphs"][p]
        sums, pyg = with_pyg(packs.pyg(p), name)
        np.testing.assert_allclose(sums[real], want[ids], rtol=1e-12)
        assert not packs.pyg(p)[name][~packs.pyg(p)["node_mask"]].any(), "padding is not 0"
    assert (seen == 1).all(), "graphs are not each in one pack"
    print(f"{len(packs)} packs, {len(want)} graphs: equal sums with {'jraph' if jraph else 'NumPy'} and {'torch_geometric' if pyg else 'NumPy'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
