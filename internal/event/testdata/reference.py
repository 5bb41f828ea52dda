"""The law of batches of events (package event), as plain as it can be said. It reads a list of cases as JSON, and writes
the batches of each."""

import json
import sys
from fractions import Fraction

M, GAMMA, ROOT, NEGATIVE = 2**64 - 1, 0x9E3779B97F4A7C15, 0x6A09E667F3BCC909, 18


def mix(x):
    x &= M
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M
    return x ^ x >> 31


def key(seed, *words):
    h = mix(seed ^ ROOT)
    for w in words:
        h = mix((h ^ mix(w + GAMMA)) + GAMMA)
    return h


def draw(h, j):
    return mix(h + (j + 1) * GAMMA)


def ordered(case):
    """The events by time, type and row: (time, type, row, source, destination, edge id, chosen), ends as numbers among all nodes."""
    events = []
    for t, of in enumerate(case["types"]):
        for row, src, dst, time, edge, chosen in of:
            events.append((Fraction(time), t, row, src, dst, edge, chosen))
    return sorted(events)


def divided(case, events):
    """The batches: lists of numbers of events."""
    chosen = [i for i, e in enumerate(events) if e[6]]
    if case["every"]:
        windows = {}
        for i in chosen:
            windows.setdefault(events[i][0] // Fraction(case["every"]), []).append(i)
        return [windows[w] for w in sorted(windows)]
    size = case["batch_size"]
    return [chosen[at : at + size] for at in range(0, len(chosen), size)]


def entries(events, node, counts):
    """The neighbours of a node by the events that count, latest first: (neighbour, event)."""
    out = []
    for i, (_, _, _, src, dst, _, _) in enumerate(events):
        if counts(i):
            out += [(dst, i)] * (src == node) + [(src, i)] * (dst == node)
    return out[::-1]


def like_pyg(events, node, before, k):
    """What PyG's LastNeighborLoader keeps of a node after the given batches of events."""
    kept = []
    for batch in before:
        as_dst = [(events[i][3], i) for i in batch if events[i][4] == node]
        as_src = [(events[i][4], i) for i in batch if events[i][3] == node]
        kept = sorted(kept + (as_dst + as_src)[-k:], key=lambda x: -x[1])[:k]
    return kept


def batches(case):
    events, k = ordered(case), case["neighbors"]
    division = divided(case, events)
    start = division[0][0] if division else len(events)
    size = case["batch_size"] if not case["every"] else 1
    earlier = [list(range(at, min(at + size, start))) for at in range(0, start, size)]
    # Events that are not chosen count with the batch of the last chosen one before them.
    grouped = [list(range(b[0], (division[j + 1][0] if j + 1 < len(division) else len(events)))) for j, b in enumerate(division)]
    for j, batch in enumerate(division):
        negatives = []
        for i in batch:
            if case["lists"] is not None:
                negatives.append(case["lists"][sum(map(len, division[:j])) + batch.index(i)])
                continue
            to = [e[4] for e in events if e[1] == events[i][1]]
            h = key(case["seed"], case["epoch"], NEGATIVE, i)
            negatives.append([min(to) + (draw(h, n) * (max(to) - min(to) + 1) >> 64) for n in range(case["negatives"])])
        ends = [events[i][3] for i in batch] + [events[i][4] for i in batch]
        flat = [v for list_ in negatives for v in list_]
        edges = []  # neighbour, root, event
        if case["history"] == 0:
            owners = batch + batch + [i for i, list_ in zip(batch, negatives) for _ in list_]
            for root, (node, i) in enumerate(zip(ends + flat, owners)):
                edges += [(far, root, by) for far, by in entries(events, node, lambda x: events[x][0] < events[i][0])[:k]]
        for node in sorted(set(ends + flat)) if case["history"] else []:
            found = entries(events, node, lambda x: x < batch[0])[:k] if case["history"] == 1 else like_pyg(events, node, earlier + grouped[:j], k)
            edges += [(far, node, by) for far, by in found]
        nodes = sorted({*ends, *flat, *(far for far, _, _ in edges)})
        local = {v: i for i, v in enumerate(nodes)}
        yield {
            "events": batch,
            "src": [local[v] for v in ends[: len(batch)]],
            "dst": [local[v] for v in ends[len(batch) :]],
            "negatives": [local[v] for v in flat],
            "lengths": [len(list_) for list_ in negatives],
            "nodes": nodes,
            "far": [local[far] for far, _, _ in edges],
            "root": [root if case["history"] == 0 else local[root] for _, root, _ in edges],
            "by": [by for _, _, by in edges],
            "edges": [events[i][5] for i in batch],
        }


with open(sys.argv[1]) as f:
    answers = [list(batches(case)) for case in json.load(f)]
with open(sys.argv[2], "w") as f:
    json.dump(answers, f)
