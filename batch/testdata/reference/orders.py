"""The orders of package batch, as an executable definition: slow on purpose, and what fast
code is checked against. draws.py (beside the sampler's reference) is the law they use.

    python orders.py > ../orders.json
"""

import json
import os
import sys
from fractions import Fraction

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../internal/sample/testdata/reference"))
from draws import draw, key, order, unit

WEIGHTED, STRATA, WINDOW, BUCKET = 6, 7, 8, 9  # first word after the epoch


def weighted(seed, epoch, weights, length):
    """Position p has the first item whose running sum of weights is above unit(draw) * total;
    the last item with a weight, should rounding find none. Sums are float64, added in order."""
    prefix, s, last = [], 0.0, None
    for i, w in enumerate(weights):
        if w > 0:
            s, last = s + w, i
        prefix.append(s)
    h = key(seed, epoch, WEIGHTED)
    out = []
    for p in range(length):
        i = int(np.searchsorted(prefix, unit(draw(h, p)) * s, side="right"))
        out.append(min(i, last))
    return out


def stratified(seed, epoch, classes):
    """Member j (from 0, in shuffled order) of a class of m items comes at time (2j+1) / 2m; items go by
    time, then class."""
    times = []
    for c in sorted(set(classes)):
        members = [i for i, x in enumerate(classes) if x == c]
        mixed = order(len(members), key(seed, epoch, STRATA, c))
        for j, at in enumerate(mixed):
            times.append((Fraction(2 * j + 1, 2 * len(members)), c, members[int(at)]))
    return [item for _, _, item in sorted(times)]


def windowed(seed, epoch, n, block, window):
    """Blocks of items are shuffled; window w has `window` of them in that order, one after the other, and is
    shuffled within."""
    blocks = order(-(-n // block), key(seed, epoch, WINDOW, 0)).tolist()
    out = []
    for w in range(0, len(blocks), window):
        items = [i for b in blocks[w : w + window] for i in range(b * block, min((b + 1) * block, n))]
        out += [items[int(p)] for p in order(len(items), key(seed, epoch, WINDOW, w // window + 1))]
    return out


def bucketed(seed, epoch, sizes, batch, drop=False):
    """Batches of groups of like size: bucket k has the groups of 2^(k-1) < size <= 2^k rows, bucket 0 the groups of no rows
    and one. The buckets with groups are numbered from 1 in ascending order; each one's groups are
    shuffled and cut into batches; all batches, bucket after bucket, are shuffled by number 0."""
    buckets = {}
    for g, s in enumerate(sizes):
        buckets.setdefault(0 if s <= 1 else int(s - 1).bit_length(), []).append(g)
    batches = []
    for number, k in enumerate(sorted(buckets), 1):
        groups = [buckets[k][int(i)] for i in order(len(buckets[k]), key(seed, epoch, BUCKET, number))]
        cut = [groups[i : i + batch] for i in range(0, len(groups), batch)]
        batches += [b for b in cut if not drop or len(b) == batch]
    return [batches[int(i)] for i in order(len(batches), key(seed, epoch, BUCKET, 0))]


def batches(items, size, drop=False):
    """An epoch's items in their order, cut into batches; with drop those that are full."""
    cut = [items[i : i + size] for i in range(0, len(items), size)]
    return [b for b in cut if not drop or len(b) == size]


def ranks(batches, world, tail, first=0):
    """What each of `world` ranks takes of the batches of an epoch, from number `first` on: (number, items) in
    order. Rank r takes the numbers first + r, first + r + world, ...
      short  as far as there are batches: some ranks may have one more than others;
      drop   as many on every rank as the rank with fewest has; `batches` are full ones;
      fill   as many on every rank as the rank with most has: batch b beyond the last one holds the items of
             batch b mod len(batches);
      pad    as fill, but batches beyond the last one hold no items."""
    left = max(0, len(batches) - first)
    least, most = left // world, -(-left // world)
    out = []
    for r in range(world):
        each = {"short": len(range(r, left, world)), "drop": least, "fill": most, "pad": most}[tail]
        numbers = range(first + r, first + r + each * world, world)
        out.append([(b, batches[b] if b < len(batches) else batches[b % len(batches)] if tail == "fill" else []) for b in numbers])
    return out


if __name__ == "__main__":
    h = key(5, 6)
    classes = [int(draw(h, i) % 5 % 3) for i in range(100)]
    weights = [float(draw(h, i) % 4) for i in range(50)] + [1e-9, -1.0, float("nan"), 1e3, 0.0]
    sizes = [int(draw(h, i) % 23) for i in range(70)]
    out = {
        "classes": classes,
        "weights": [None if w != w else w for w in weights],
        "sizes": sizes,
        "weighted(1,2,weights,40)": weighted(1, 2, weights, 40),
        "stratified(1,2,classes)": stratified(1, 2, classes),
        "bucketed(1,2,sizes,4)": bucketed(1, 2, sizes, 4),
        "bucketed(1,2,sizes,4,drop)": bucketed(1, 2, sizes, 4, True),
    }
    for n, b, w in [(100, 7, 3), (100, 10, 4), (1, 1, 1), (99, 100, 2), (96, 8, 100), (50, 1, 5), (41, 20, 1), (41, 20, 2)]:
        out[f"windowed(3,4,{n},{b},{w})"] = windowed(3, 4, n, b, w)
    h = key(7, 8)
    for i in range(100):
        n, size, world = [int(draw(h, 5 * i + j) % m) + least for j, (m, least) in enumerate([(31, 0), (8, 1), (5, 1)])]
        tail, first = ["short", "drop", "fill", "pad"][i % 4], int(draw(h, 5 * i + 3) % 4) * int(draw(h, 5 * i + 4) % 2)
        of = batches(list(range(n)), size, tail == "drop")
        first = min(first, len(of))
        out[f"ranks(batches(range({n}),{size}),{world},{tail},{first})"] = ranks(of, world, tail, first)
    print("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v) for k, v in out.items()) + "\n}")
