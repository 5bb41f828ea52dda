#!/usr/bin/env python3
"""What networkx, SciPy and PyG compute of random graphs (see pyg-requirements.txt).

usage: structure_answers.py IN OUT

IN has a list of graphs {"nodes": n, "src": [...], "dst": [...], "steps": k, "dims": k}; OUT receives, for each, values by node:
  in, out, both   networkx, degrees of the MultiDiGraph
  pagerank, back  networkx, of the MultiDiGraph and of its reverse, damping 0.85
  core, clustering  networkx, of the simple undirected graph
  component       SciPy, sizes of the weakly connected components
  walk, walk_both PyG, AddRandomWalkPE of the edges, and of the edges in both directions
  eigenvalues     SciPy, of the symmetric normalised Laplacian of the simple undirected graph, ascending
  eigenvectors    PyG, AddLaplacianEigenvectorPE of it, a random sign each; null where it has no dims vectors of a connected graph

In graphs of at most 2,000 nodes, PyG counts parallel edges of walks once. So all graphs are joined to one, with at least 2,000 more nodes.

exit 0 done, 2 usage.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import networkx as nx
import numpy as np
import scipy.linalg
import scipy.sparse
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import AddLaplacianEigenvectorPE, AddRandomWalkPE

MORE_NODES = 2001


def walks(graphs: list[dict[str, Any]], both: bool) -> list[Any]:
    """Of each graph, the return probabilities of its nodes. All graphs have the same steps."""
    starts = np.cumsum([0] + [c["nodes"] for c in graphs])
    src = np.concatenate([np.array(c["src"], dtype=np.int64) + at for c, at in zip(graphs, starts)])
    dst = np.concatenate([np.array(c["dst"], dtype=np.int64) + at for c, at in zip(graphs, starts)])
    ends = [np.concatenate([src, dst]), np.concatenate([dst, src])] if both else [src, dst]
    data = Data(edge_index=torch.tensor(np.array(ends)), num_nodes=int(starts[-1]) + MORE_NODES)
    pe = AddRandomWalkPE(graphs[0]["steps"])(data).random_walk_pe
    return [pe[at : at + c["nodes"]].tolist() for c, at in zip(graphs, starts)]


def answer(c: dict[str, Any]) -> dict[str, Any]:
    n, src, dst = c["nodes"], c["src"], c["dst"]
    multi = nx.MultiDiGraph()
    multi.add_nodes_from(range(n))
    multi.add_edges_from(zip(src, dst))
    simple = nx.Graph()
    simple.add_nodes_from(range(n))
    simple.add_edges_from((u, v) for u, v in zip(src, dst) if u != v)
    a = scipy.sparse.coo_array((np.ones(len(src)), (src, dst)), shape=(n, n))
    _, label = scipy.sparse.csgraph.connected_components(a, connection="weak")
    b = nx.to_scipy_sparse_array(simple, nodelist=range(n), dtype=float, format="coo")
    lap = scipy.sparse.csgraph.laplacian(b, normed=True).toarray()
    out = {
        "in": [multi.in_degree(v) for v in range(n)],
        "out": [multi.out_degree(v) for v in range(n)],
        "both": [multi.degree(v) for v in range(n)],
        "pagerank": list(nx.pagerank(multi, tol=1e-13, max_iter=10_000).values()),
        "back": list(nx.pagerank(multi.reverse(), tol=1e-13, max_iter=10_000).values()),
        "core": list(nx.core_number(simple).values()),
        "clustering": list(nx.clustering(simple).values()),
        "component": np.bincount(label)[label].tolist(),
        "eigenvalues": scipy.linalg.eigvalsh(lap).tolist(),
        "eigenvectors": None,
    }
    if n > c["dims"] + 1 and nx.is_connected(simple):
        edges = torch.tensor(np.array(b.coords), dtype=torch.long)
        pe = AddLaplacianEigenvectorPE(c["dims"], is_undirected=True)(Data(edge_index=edges, num_nodes=n))
        out["eigenvectors"] = pe.laplacian_eigenvector_pe.tolist()
    return out


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        graphs = json.load(f)
    answers = [answer(c) for c in graphs]
    for name, both in (("walk", False), ("walk_both", True)):
        for a, values in zip(answers, walks(graphs, both)):
            a[name] = values
    with open(sys.argv[2], "w") as f:
        json.dump(answers, f)
