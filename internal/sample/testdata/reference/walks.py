"""Random walks, as an executable definition (slow on purpose).

graph: as in sampling.py. A walk follows a path of edge types from its start node, one edge per step, and begins the path again at
its end until it has taken its steps.

rules: {"path": [{"edges": "src:rel:dst", "dir": "in" | "out"}, ...],
       "length": number of steps,
       "p": 1.0, "q": 1.0,           # node2vec's return and in-out parameters
       "stop": 0.0, "restart": 0.0,  # chances per step
       "end": 0.0,                   # chance to end at each end of the path but the last
       "column": name}               # weights of the edges; optional
The ends of the path must meet: each edge type leads to the type from which the next one starts and, if there are more steps than
the path has edge types, the last to the start's. p and q other than 1, and restart, need a path of one edge type within one node
type.

A step, number j from 1, of walk number r of start node v has the state h = key(seed, epoch, WALK, r, v, j), and these draws:
- draw 0: with chance stop the walk ends, or with chance stop + end where the path begins again; else with chance restart the next node is the start, and no edge is taken.
- draw 1: which edge of the node is taken: alike, or in proportion to its weight. Weights <= 0 and NaN are never drawn; an infinite
  weight or sum is an error. A walk ends at a node without an edge that can be taken.
- With p or q other than 1, from the second edge on: let t be the node before, and c the edge that draw 1 chose, to node x. Its bias is
  1/p if x is t, 1 if an edge of the path leads from t to x, and 1/q else. Draw 2 accepts c if it is at most the bias over the largest
  of 1/p, 1 and 1/q. Else draws 3 and 4 try again, and so on, 64 times; then draw 129 chooses among all edges in proportion to bias, or
  to weight times bias. So the law is node2vec's, and no p and q make a step endless. After a restart there is no node before.
"""

from draws import draw, key, unit
from sampling import adjacency, ends, one_of, with_messages

WALK = 6  # what a draw belongs to, as EPOCH, BATCH, SEED and ORDER in draws.py
TRIES = 64  # of a step with p or q


def path_of(rules):
    """Checks a path. Returns (edge type, direction) by step."""
    path, steps = rules["path"], rules["length"]
    for a, b in zip(path, path[1:] + path[:1] * (steps > len(path))):
        if ends(a)[1] != ends(b)[0]:
            raise ValueError(f"{a['edges']} leads to {ends(a)[1]}, and {b['edges']} starts from {ends(b)[0]}")
    biased = rules.get("p", 1.0) != 1 or rules.get("q", 1.0) != 1
    if (biased or rules.get("restart", 0)) and (len(path) > 1 or ends(path[0])[0] != ends(path[0])[1]):
        raise ValueError("p, q and restart need one edge type within one node type")
    return [path[j % len(path)] for j in range(steps)]


def walk(graph, rules, start, number, seed=0, epoch=0):
    """Walk number r of a start node. Returns (nodes, edges): length + 1 nodes, the start first, and the ids of the edges between
    them. After the end there are -1, and -1 is the edge of a restart."""
    if "there" not in graph:
        graph = with_messages(graph, rules)
    p, q = rules.get("p", 1.0), rules.get("q", 1.0)
    back, out = 1.0 / p, 1.0 / q
    top = max(back, 1.0, out)
    nodes, edges, before, node = [start], [], None, start
    for j, op in enumerate(path_of(rules), 1):
        h = key(seed, epoch, WALK, number, start, j)
        chance = unit(draw(h, 0))
        stop = rules.get("stop", 0.0)
        if j > 1 and (j - 1) % len(rules["path"]) == 0:
            stop += rules.get("end", 0.0)
        if chance <= stop:
            break
        if chance <= stop + rules.get("restart", 0.0):
            before, node = None, start
            nodes.append(node)
            edges.append(-1)
            continue
        adj, far = adjacency(graph, op)
        ids = adj.get(node, [])
        w = None
        if rules.get("column"):
            w = [float(x) if x > 0 else 0.0 for x in (graph["edges"][op["edges"]][rules["column"]][i] for i in ids)]
        if not ids or (w is not None and not any(w)):
            break

        def bias(e):
            if far[e] == before:
                return back
            return 1.0 if any(far[i] == far[e] for i in adj.get(before, [])) else out

        if before is None or (p == 1 and q == 1):
            e = ids[one_of(draw(h, 1), len(ids), w)]
        else:
            for t in range(TRIES):
                e = ids[one_of(draw(h, 1 + 2 * t), len(ids), w)]
                if unit(draw(h, 2 + 2 * t)) * top <= bias(e):
                    break
            else:
                e = ids[one_of(draw(h, 1 + 2 * TRIES), len(ids), [bias(i) * (w[k] if w else 1.0) for k, i in enumerate(ids)])]
        before, node = node, far[e]
        nodes.append(node)
        edges.append(e)
    gone = rules["length"] + 1 - len(nodes)
    return nodes + [-1] * gone, edges + [-1] * gone


def visits(graph, rules, start, numbers, take, seed=0, epoch=0):
    """PinSAGE's neighbours: the nodes that the walks of a start visit at the ends of the path, with the number of visits: the `take`
    most visited ones, most visits first, of equal visits the lower node first. The start itself counts as any other node."""
    counts = {}
    for r in range(numbers):
        nodes, _ = walk(graph, rules, start, r, seed, epoch)
        for v in nodes[len(rules["path"]) :: len(rules["path"])]:
            if v >= 0:
                counts[v] = counts.get(v, 0) + 1
    return sorted(counts.items(), key=lambda c: (-c[1], c[0]))[:take]


if __name__ == "__main__":
    import json
    import sys

    NAN = float("nan")

    def answer(case):
        for columns in case["graph"]["edges"].values():
            for name, column in columns.items():
                columns[name] = [NAN if x is None else x for x in column]
        if case.get("take"):
            return {"visits": [visits(case["graph"], case["rules"], v, case["walks"], case["take"], case["seed"], case["epoch"]) for v in case["starts"]]}
        found = [walk(case["graph"], case["rules"], v, r, case["seed"], case["epoch"]) for r in range(case["walks"]) for v in case["starts"]]
        return {"nodes": [n for n, _ in found], "edges": [e for _, e in found]}

    json.dump([answer(c) for c in json.load(open(sys.argv[1]))], open(sys.argv[2], "w"))
