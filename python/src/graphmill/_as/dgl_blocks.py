"""DGL's message-flow blocks from the columns of a batch.

``dgl.create_block`` looks for the largest id in each list of edges and makes a graph per relation, although their number
and order are known here: it takes 0.3 ms per block, and these functions a tenth of it. They call what it calls.
"""

from __future__ import annotations

import functools
from typing import Any

from dgl import graph_index, heterograph_index, utils
from dgl.heterograph import DGLBlock

from .._folder import EdgeType
from .._tensors import as_tensor

_FORMATS = ["coo", "csr", "csc"]  # in which DGL may hold the edges
_ALONE = "_N", "_E"  # names of the types of a homogeneous graph


def edges(src: Any, dst: Any, indptr: Any, sources: int, destinations: int) -> Any:
    """The edges of a relation, of arrays or tensors: int64 local ids of their ends, in the order of the edge ids.

    ``indptr`` is the offset of the edges of each destination and the end, if they are ordered by destination. If it is empty,
    DGL sorts them.
    """
    # Without ids of its own, DGL numbers the edges in their order.
    if len(indptr):
        return heterograph_index.create_unitgraph_from_csr(2, sources, destinations, as_tensor(indptr), as_tensor(src), as_tensor(src)[:0], _FORMATS, True)
    if not len(src):
        indptr = as_tensor(src).new_zeros(destinations + 1)
        return edges(src, dst, indptr, sources, destinations)
    return heterograph_index.create_unitgraph_from_coo(2, sources, destinations, as_tensor(src), as_tensor(dst), _FORMATS)


def homogeneous(of: Any) -> DGLBlock:
    """The block of a graph with one node type and one edge type, from what `edges` returned."""
    node, edge = _ALONE
    return DGLBlock(of, ([node], [node]), [edge])


def typed(of: dict[EdgeType, Any], sources: dict[str, int], destinations: dict[str, int]) -> DGLBlock:
    """The block of a graph with types, from what `edges` returned for each relation and the nodes of each type."""
    nodes, relations, metagraph = _metagraph(tuple(sorted(sources)), tuple(sorted(of)))
    count = utils.toindex([sources[t] for t in nodes] + [destinations[t] for t in nodes], "int64")
    graph = heterograph_index.create_heterograph_from_relations(metagraph, [of[e] for e in relations], count)
    return DGLBlock(graph, (list(nodes), list(nodes)), [e[1] for e in relations])


@functools.lru_cache(maxsize=16)
def _metagraph(nodes: tuple[str, ...], relations: tuple[EdgeType, ...]) -> Any:
    """The types in DGL's order, and the graph of them: the sources, then the destinations, are its nodes."""
    at = {t: i for i, t in enumerate(nodes)}
    src, dst = [at[e[0]] for e in relations], [len(nodes) + at[e[2]] for e in relations]
    return nodes, relations, graph_index.from_coo(2 * len(nodes), src, dst, True)
