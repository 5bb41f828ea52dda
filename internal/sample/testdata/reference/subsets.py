"""Batches that are the subgraph of a set of nodes, as an executable definition (slow on purpose): GraphSAINT and Cluster-GCN.

graph: as in sampling.py, with one node type; but for "cluster" also one edge type.

rules: {"how": "saint-node" | "saint-edge" | "saint-walk" | "cluster",
        "size": number of draws per batch: nodes, edges, roots of walks, or parts,
        "length": steps per walk ("saint-walk"),
        "parts": part of each node, from 0 ("cluster"), "shuffle": order of the parts ("cluster")}
A batch has the nodes below, each once and in ascending order, and all edges between them. Draws are with replacement and number on
over the batches of an epoch: batch b has the draws b * size to (b + 1) * size - 1. Draw i has the state h = key(seed, epoch, SUBSET, i).

saint-node: a node in proportion to the number of its out-edges: the source of the edge at place below(draw(h, 0), edges) in the list
  of edges by destination, and of one destination by edge id.
saint-edge: an edge with both its ends, in proportion to 1 / in-degree of its destination + 1 / out-degree of its source (section 3.2
  of the GraphSAINT paper, arXiv 1907.04931). That sum counts each node with in-edges once, and each node with out-edges once. So draw 0
  chooses one of these nodes, those with in-edges first, each group ascending; and draw 1 chooses one of its edges.
saint-walk: the start is node below(draw(h, 0), nodes). The nodes are the nodes of walk number i of that start (walks.py), over the
  out-edges, as far as it gets.
cluster: no draws. Batch b has the nodes of the parts at the places b * size to (b + 1) * size - 1: of the parts in ascending order, or
  with shuffle of order(parts, key(seed, epoch, ORDER)). Parts without a node are left out.

An epoch of the draws has as many batches as are needed to draw as many nodes as the graph has: size, 2 * size or
(length + 1) * size per batch.
"""

from draws import ORDER, below, draw, key, order
from sampling import with_messages
from walks import walk

SUBSET = 10  # what a draw belongs to, as WALK in walks.py


def drawn(rules):
    """The most nodes that a batch draws."""
    return rules["size"] * {"saint-node": 1, "saint-edge": 2, "saint-walk": rules.get("length", 0) + 1}[rules["how"]]


def batches(graph, rules):
    """The number of batches per epoch."""
    if rules["how"] == "cluster":
        return -(-len(set(rules["parts"])) // rules["size"])
    (count,) = graph["nodes"].values()
    return -(-count // drawn(rules))


def nodes(graph, rules, b, seed=0, epoch=0):
    """The nodes of batch b of an epoch."""
    ((_ntype, count),) = graph["nodes"].items()
    size, how = rules["size"], rules["how"]
    if how == "cluster":
        parts = sorted(set(rules["parts"]))
        if rules.get("shuffle"):
            parts = [parts[i] for i in order(len(parts), key(seed, epoch, ORDER))]
        chosen = set(parts[b * size : (b + 1) * size])
        return [v for v in range(count) if rules["parts"][v] in chosen]
    ((etype, e),) = graph["edges"].items()
    ids = with_messages(graph, rules)["there"][etype]
    out = set()
    for i in range(b * size, (b + 1) * size):
        h = key(seed, epoch, SUBSET, i)
        if how == "saint-node":
            by_destination = sorted(ids, key=lambda p: (e["dst"][p], p))
            out.add(e["src"][by_destination[below(draw(h, 0), len(ids))]])
        elif how == "saint-edge":
            groups = [(end, v) for end in ("dst", "src") for v in sorted({e[end][p] for p in ids})]
            end, v = groups[below(draw(h, 0), len(groups))]
            of = [p for p in ids if e[end][p] == v]
            p = of[below(draw(h, 1), len(of))]
            out |= {e["src"][p], e["dst"][p]}
        else:
            start = below(draw(h, 0), count)
            steps = {"path": [{"edges": etype, "dir": "out"}], "length": rules["length"]}
            out |= {v for v in walk(graph, steps, start, i, seed, epoch)[0] if v >= 0}
    return sorted(out)


if __name__ == "__main__":
    import json
    import sys

    def answer(case):
        g, r = case["graph"], case["rules"]
        n = batches(g, r)
        return {"batches": n, "nodes": [nodes(g, r, b, case["seed"], case["epoch"]) for b in range(n)]}

    json.dump([answer(c) for c in json.load(open(sys.argv[1]))], open(sys.argv[2], "w"))
