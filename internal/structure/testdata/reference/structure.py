"""Numbers of nodes from the graph alone, as an executable definition (slow on purpose: dense matrices).

graph: {"nodes": {type: count}, "edges": {"src:rel:dst": {"src": [...], "dst": [...], "keep": [...]}}}; keep is optional, and leaves out edges whose entry is false.
spec:  as the fields of Spec in spec.go: structure, edges, direction, typed, damping, steps, method, seed, dims.

Types are in byte order of their names. The square graph of a spec has the asked node type and all node types that its edge types touch, one
after the other, and A[u, v] edges from u to v.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3] / "sample" / "testdata" / "reference"))

from draws import draw, key

PROBE = 0x70726F6265  # what the draws of an estimate belong to
PROBES = 64
EXACT_STEPS, MOST_EXACT = 3, 10**12
EQUAL, TIE = 1e-6, 1e-9  # eigenvalues, by their relative distance, and entries that count as equal
LANES, SPARE = 16, 8  # the solver holds a multiple of LANES vectors, at least SPARE more than were asked for


def by_bytes(names):
    return sorted(names, key=lambda s: s.encode())


class Square:
    def __init__(self, graph, node, spec):
        self.degree = spec["structure"] in ("degree", "log-degree")
        self.direction = spec.get("direction") or ("out" if spec["structure"] == "pagerank" else "both")
        names = [t for t in by_bytes(graph["edges"]) if t in spec.get("edges", []) or (not spec.get("edges") and (not self.degree or self.touches(t, node)))]
        seen = {node}.union(*[{t.split(":")[0], t.split(":")[2]} for t in names])
        self.start, self.n = {}, 0
        for t in by_bytes(seen):
            self.start[t] = self.n
            self.n += graph["nodes"][t]
        self.rows = slice(self.start[node], self.start[node] + graph["nodes"][node])
        self.by_type, self.A, self.count = {}, np.zeros((self.n, self.n)), 0
        for t in names:
            e = graph["edges"][t]
            a = np.zeros((self.n, self.n))
            for i, (u, v) in enumerate(zip(e["src"], e["dst"])):
                if not e.get("keep") or e["keep"][i]:
                    a[self.start[t.split(":")[0]] + u, self.start[t.split(":")[2]] + v] += 1
            self.by_type[t] = a
            self.A += a
            self.count += int(a.sum())

    def touches(self, name, node):
        src, _, dst = name.split(":")
        return (self.direction != "out" and dst == node) or (self.direction != "in" and src == node)

    def directed(self):
        """A, as the direction says."""
        return {"out": self.A, "in": self.A.T, "both": self.A + self.A.T}[self.direction]

    def simple(self):
        """The simple undirected graph: each pair of neighbours once, no loops."""
        b = (self.A + self.A.T > 0).astype(float)
        np.fill_diagonal(b, 0)
        return b

    def components(self):
        """By node, the least node of its weakly connected component."""
        root = np.arange(self.n)
        linked = self.A + self.A.T > 0
        for start in range(self.n):
            if root[start] < start:
                continue
            todo = [start]
            while todo:
                for v in np.flatnonzero(linked[todo.pop()]):
                    if root[v] > start:
                        root[v] = start
                        todo.append(v)
        return root


def degrees(q, node, spec):
    columns = []
    for t, a in q.by_type.items():
        src, _, dst = t.split(":")
        if q.direction != "out" and dst == node:
            columns.append((t + " in", a.sum(0)))
        if q.direction != "in" and src == node:
            columns.append((t + " out", a.sum(1)))
    names, values = [c[0] for c in columns], [c[1] for c in columns]
    if not spec.get("typed"):
        names, values = [spec["structure"] + " " + q.direction], [sum(values, np.zeros(q.n))]
    values = np.array(values).reshape(len(names), q.n).T
    return names, np.log1p(values) if spec["structure"] == "log-degree" else values


def pagerank(q, damping):
    """The rank that is left as it is by: each node gives its rank to its edges alike, one without edges to all nodes."""
    if q.n == 0:
        return np.zeros(0)
    _, d, p = walk(q)
    p[d == 0] = 1 / q.n
    return np.linalg.solve(np.eye(q.n) - damping * p.T, np.full(q.n, (1 - damping) / q.n))


def walk(q):
    a = q.directed()
    d = a.sum(1)
    return a, d, a / np.maximum(d, 1)[:, None]  # a node without edges has a row of zeros: its walk ends


def returns(q, steps):
    """(P^k)_ii for k from 1 to steps."""
    _, _, p = walk(q)
    power, out = np.eye(q.n), []
    for _ in range(steps):
        power = power @ p
        out.append(power.diagonal().copy())
    return np.array(out).reshape(steps, q.n).T


def estimate(q, steps, seed):
    a, d, p = walk(q)
    out, error = returns(q, min(steps, EXACT_STEPS)), np.zeros(steps)
    out = np.hstack([out, np.zeros((q.n, steps - out.shape[1]))])
    bits = [draw(key(seed, 0, PROBE, v), 0) for v in range(q.n)]
    z = np.array([[1.0 if b >> i & 1 else -1.0 for i in range(PROBES)] for b in bits]).reshape(q.n, PROBES)
    symmetric = np.array_equal(a, a.T)
    known, turn = np.zeros(q.n), np.zeros(q.n)
    x = np.where(d[:, None] > 0, z, 0)
    scale = np.ones(q.n)
    if symmetric:
        scale = np.sqrt(d)
        root = q.components()
        for r in np.unique(root):
            nodes = root == r
            if d[nodes].sum() == 0:
                continue
            v = np.where(nodes, scale, 0) / np.sqrt(d[nodes].sum())
            known += v * v
            side = sides(a, r)
            straight = x - np.outer(v, v @ z)
            if side is not None:
                turn += np.where(nodes, side, 0)
                w = v * side
                straight = straight - np.outer(w, w @ z)
            x = np.where(nodes[:, None], straight, x)
        x = x / np.where(d > 0, scale, 1)[:, None]
    for k in range(1, steps + 1):
        x = p @ x
        if k <= EXACT_STEPS:
            continue
        e = z * scale[:, None] * x
        if k % 2:
            e[turn != 0] = 0
        mean, add = e.mean(1), known.copy()
        own = e[q.rows]
        error[k - 1] = np.sqrt((own.var(1, ddof=1) / PROBES).mean()) if len(own) else 0
        if symmetric and k % 2 == 0:
            mean, add = np.maximum(mean, 0), known * (1 + np.abs(turn))
        elif symmetric:
            add = np.where(turn != 0, 0, known)
            mean = np.where(turn != 0, 0, mean)
        out[:, k - 1] = np.clip(mean + add, 0, 1)
    return out, error


def sides(a, start):
    """+1 or -1 by node of the component of start, 0 elsewhere; None where it is not bipartite."""
    side, todo = np.zeros(len(a)), [start]
    side[start] = 1
    while todo:
        u = todo.pop()
        for v in np.flatnonzero(a[u]):
            if side[v] == side[u]:
                return None
            if side[v] == 0:
                side[v] = -side[u]
                todo.append(v)
    return side


def first_greatest(x):
    return int(np.flatnonzero(x >= x.max() - TIE)[0])


def laplacian(q, dims):
    """The eigenvectors of the dims smallest eigenvalues that are left when each component's vector of 0 is taken out, and the positions whose
    vectors exist but are undefined."""
    b, out, undefined = q.simple(), np.zeros((q.n, dims)), []
    d = b.sum(1)
    nodes = np.flatnonzero(d)
    if not len(nodes):
        return out, undefined
    r = 1 / np.sqrt(d[nodes])
    lap = np.eye(len(nodes)) - r[:, None] * b[np.ix_(nodes, nodes)] * r
    root = q.components()[nodes]
    for c in np.unique(root):
        v = np.where(root == c, np.sqrt(d[nodes]), 0)
        lap += 4 * np.outer(v, v) / (v @ v)  # moves the vector of 0 to 4, above the others
    w, V = np.linalg.eigh(lap)
    exist = len(nodes) - len(np.unique(root))
    held = -(-(dims + SPARE) // LANES) * LANES
    at = 0
    while at < min(dims, exist):
        end = at + 1
        while end < exist and w[end] - w[end - 1] <= EQUAL * w[end]:
            end += 1
        space = V[:, at:end]
        if end > held:
            undefined += range(at, min(end, dims))
            break
        for k in range(at, min(end, dims)):
            length = np.sqrt(np.maximum(0, (space**2).sum(1)))
            v = space @ space[first_greatest(length)]
            v /= np.linalg.norm(v)
            space = space - np.outer(v, v @ space)
            out[nodes, k] = v if v[first_greatest(np.abs(v))] > 0 else -v
        at = end
    return out, undefined


def core_numbers(b):
    core, left = np.zeros(len(b)), np.ones(len(b), bool)
    k = 0
    while left.any():
        d = np.where(left, b[:, left].sum(1), np.inf)
        k = max(k, d.min())
        core[left & (d <= k)] = k
        left &= d > k
    return core


def clustering(b):
    d = b.sum(1)
    closed = ((b @ b) * b).sum(1)  # twice the triangles
    return np.where(d > 1, closed / np.maximum(d * (d - 1), 1), 0)


def compute(graph, node, spec):
    """{"positions", "values": by row of the node type, "method", "errors", "undefined": positions of laplacian-pe}"""
    q = Square(graph, node, spec)
    kind = spec["structure"]
    out = {"method": "exact", "positions": [kind], "undefined": []}
    if q.degree:
        out["positions"], values = degrees(q, node, spec)
    elif kind == "pagerank":
        values = pagerank(q, spec.get("damping") or 0.85)
    elif kind == "random-walk-pe":
        steps = spec["steps"]
        out["positions"] = [f"step {k + 1}" for k in range(steps)]
        exact = graph["nodes"][node] * q.count <= MOST_EXACT if not spec.get("method") else spec["method"] == "exact"
        if exact or steps <= EXACT_STEPS:
            values = returns(q, steps)
        else:
            out["method"] = "estimate"
            values, errors = estimate(q, steps, spec.get("seed", 0))
            out["errors"] = errors.tolist()
    elif kind == "laplacian-pe":
        out["positions"] = [f"eigenvector {k + 1}" for k in range(spec["dims"])]
        values, out["undefined"] = laplacian(q, spec["dims"])
    elif kind == "core-number":
        values = core_numbers(q.simple())
    elif kind == "clustering":
        values = clustering(q.simple())
    elif kind == "component-size":
        root = q.components()
        values = np.bincount(root, minlength=q.n)[root] if q.n else np.zeros(0)
    values = values[q.rows]
    out["values"] = values.reshape(len(values), len(out["positions"])).tolist()
    return out


if __name__ == "__main__":
    import json

    cases = json.load(open(sys.argv[1]))
    json.dump([compute(c["graph"], c["node"], c["spec"]) for c in cases], open(sys.argv[2], "w"))
