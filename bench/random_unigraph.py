#!/usr/bin/env python3
"""Writes a random typed graph as a unigraph, for Graphmill and TF-GNN alike.

usage: random_unigraph.py FOLDER

It has the form of debian_unigraph.py's graph: four node sets, twelve edge sets and the reverse of each, spec.pbtxt with
fanouts 10 and 5 over every edge set that leaves the nodes found, and seeds.csv with 500 nodes of the set "item". A few nodes
of each set have most of its edges, so that most items have edges of few relations. Equal Python versions give equal bytes.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable

import debian_unigraph as form

SIZES = {"item": 60_000, "group": 20_000, "owner": 2_000, "label": 600}
RELATIONS = [f"links{i}" for i in range(9)]
form.NODE_SETS = {
    "item": {"kind": "STRING", "size": "INT64", "ratio": "FLOAT", "flag": "INT64"},
    "group": {},
    "owner": {},
    "label": {"facet": "STRING"},
}
form.EDGE_SETS = {r: ("item", "item", {"rank": "INT64", "exact": "INT64"}) for r in RELATIONS}
form.EDGE_SETS |= {"in_group": ("item", "group", {}), "owned_by": ("item", "owner", {}), "has_label": ("item", "label", {})}
EDGES = {r: 150_000 // 2**i for i, r in enumerate(RELATIONS)} | {"in_group": SIZES["item"], "owned_by": SIZES["item"], "has_label": 110_000}


def main(folder: str) -> None:
    draw = random.Random(1)
    partial = folder + ".partial"
    os.makedirs(partial, exist_ok=True)
    cell: dict[str, Callable[[], object]] = {
        "STRING": lambda: "".join(draw.choices("abcdefgh", k=6)),
        "INT64": lambda: draw.randrange(10**6),
        "FLOAT": lambda: draw.randrange(10**6) / 1024,
    }
    for name, features in form.NODE_SETS.items():
        form.write(partial, name, ["id", *features], ([f"{name}{i}", *(cell[t]() for t in features.values())] for i in range(SIZES[name])))
    for name, (source, target, features) in form.EDGE_SETS.items():
        power = 6 if name in RELATIONS[1:] else 2
        skewed: Callable[[str], int] = lambda of: int(SIZES[of] * draw.random() ** power)
        form.write(
            partial,
            name,
            ["source", "target", *features],
            ([f"{source}{skewed(source)}", f"{target}{skewed(target)}", *(draw.randrange(2) for _ in features)] for _ in range(EDGES[name])),
        )
    form.write(partial, "seeds", ["id"], ([f"item{i * SIZES['item'] // form.SEEDS}"] for i in range(form.SEEDS)))
    for name, lines in (("schema.pbtxt", form.schema()), ("spec.pbtxt", form.spec("item"))):
        with open(os.path.join(partial, name), "w", encoding="utf-8") as f:
            f.writelines(lines)
    os.replace(partial, folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
