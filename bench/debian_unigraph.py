#!/usr/bin/env python3
"""Writes the whole Debian package graph as a unigraph, for Graphmill and TF-GNN alike.

usage: debian_unigraph.py debian_packages.tar.gz FOLDER

Node sets: package (the real ones, then the virtual names: `virtual` is 1),
source, maintainer, tag. Edge sets: the 9 relations between packages, built_from,
maintained_by and has_tag, and the reverse of each of these 12, from the same
file. The folder also gets
  spec.pbtxt    10 edges of every relation that leaves the seed package, then 5 of every
                relation that leaves the nodes found; one op per edge set and hop
  seeds.csv     500 packages, evenly spread.
Equal input gives equal bytes.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import tarfile
from collections.abc import Iterable, Iterator, Sequence

RELATIONS = ["depends", "pre_depends", "recommends", "suggests", "enhances", "breaks", "conflicts", "replaces", "provides"]
SEEDS = 500
FANOUTS = 10, 5

NODE_SETS = {
    "package": {
        "section": "STRING",
        "priority": "STRING",
        "size": "INT64",
        "installed_size": "INT64",
        "arch_all": "INT64",
        "essential": "INT64",
        "has_homepage": "INT64",
        "virtual": "INT64",
    },
    "source": {},
    "maintainer": {},
    "tag": {"facet": "STRING"},
}
# Edge set: source, target, features.
EDGE_SETS = {r: ("package", "package", {"alternative": "INT64", "versioned": "INT64"}) for r in RELATIONS}
EDGE_SETS |= {"built_from": ("package", "source", {}), "maintained_by": ("package", "maintainer", {}), "has_tag": ("package", "tag", {})}


def rows(tar: tarfile.TarFile, name: str) -> Iterator[dict[str, str]]:
    table = tar.extractfile(f"debian_packages/{name}.csv.gz")
    assert table, name  # a file, not a folder
    with gzip.open(table) as f:
        yield from csv.DictReader(io.TextIOWrapper(f, "utf-8", newline=""))


def names(tar: tarfile.TarFile, what: str) -> list[str]:
    return [r["name"] for r in rows(tar, "names_" + what)]


def write(folder: str, name: str, header: list[str], lines: Iterable[Sequence[object]]) -> None:
    with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(header)
        out.writerows(lines)


def tables(tar: tarfile.TarFile, folder: str) -> list[str]:
    """Writes the tables; returns the ids of the real packages."""
    section, priority = names(tar, "section"), names(tar, "priority")
    source, tag = names(tar, "source"), names(tar, "tag")
    real = list(rows(tar, "nodes_package"))
    package = [r["name"] for r in real] + names(tar, "virtual_package")
    write(
        folder,
        "package",
        ["id", *NODE_SETS["package"]],
        [
            [
                r["name"],
                section[int(r["section"])],
                priority[int(r["priority"])],
                r["size"],
                r["installed_size"],
                r["arch_all"],
                r["essential"],
                r["has_homepage"],
                0,
            ]
            for r in real
        ]
        + [[name, "", "", 0, 0, 0, 0, 0, 1] for name in package[len(real) :]],
    )
    write(folder, "source", ["id"], ([s] for s in source))
    write(folder, "tag", ["id", "facet"], ([t, t.split("::")[0]] for t in tag))

    edges: dict[str, list[list[str]]] = {r: [] for r in RELATIONS}
    for r in rows(tar, "package_package"):
        edges[RELATIONS[int(r["rel"])]].append([package[int(r["src"])], package[int(r["dst"])], r["alternative"], r["versioned"]])
    for relation, lines in edges.items():
        write(folder, relation, ["source", "target", "alternative", "versioned"], lines)
    maintained = [(int(r["package"]), int(r["maintainer"])) for r in rows(tar, "package_maintainer")]
    write(folder, "maintainer", ["id"], ([f"m{m}"] for m in range(max(m for _, m in maintained) + 1)))
    ends = ["source", "target"]
    write(folder, "maintained_by", ends, ([package[p], f"m{m}"] for p, m in maintained))
    write(folder, "built_from", ends, ([package[int(r["package"])], source[int(r["source"])]] for r in rows(tar, "package_source")))
    write(folder, "has_tag", ends, ([package[int(r["package"])], tag[int(r["tag"])]] for r in rows(tar, "package_tag")))
    return package[: len(real)]


def feature_lines(features: dict[str, str]) -> str:
    return "".join(f'    features {{ key: "{n}" value {{ dtype: DT_{t} }} }}\n' for n, t in features.items())


def schema() -> Iterator[str]:
    for name, features in NODE_SETS.items():
        yield (f'node_sets {{\n  key: "{name}"\n  value {{\n{feature_lines({"#id": "STRING"} | features)}    metadata {{ filename: "{name}.csv" }}\n  }}\n}}\n')
    for name, (source, target, features) in EDGE_SETS.items():
        for key, ends, extra in ((name, (source, target), ""), ("rev_" + name, (target, source), ' extra { key: "edge_type" value: "reversed" }')):
            yield (
                f'edge_sets {{\n  key: "{key}"\n  value {{\n    source: "{ends[0]}"\n    target: "{ends[1]}"\n'
                f'{feature_lines(features)}    metadata {{ filename: "{name}.csv"{extra} }}\n  }}\n}}\n'
            )


def spec(seeds: str = "package") -> Iterator[str]:
    """The ops of a fanout list of two hops: one per edge set and hop."""
    leaving = [e for name, (s, t, _) in EDGE_SETS.items() for e in ((name, s, t), ("rev_" + name, t, s))]
    yield f'seed_op {{ op_name: "seed" node_set_name: "{seeds}" }}\n'
    found = {seeds: ["seed"]}
    for hop, size in enumerate(FANOUTS, 1):
        after: dict[str, list[str]] = {}
        for edge_set, source, target in leaving:
            if source in found:
                inputs = ", ".join(f'"{op}"' for op in found[source])
                after.setdefault(target, []).append(f"{edge_set}-{hop}")
                yield (
                    f'sampling_ops {{ op_name: "{edge_set}-{hop}" input_op_names: [{inputs}] '
                    f'edge_set_name: "{edge_set}" sample_size: {size} strategy: RANDOM_UNIFORM }}\n'
                )
        found = after


def main(archive: str, folder: str) -> None:
    os.makedirs(folder)
    with tarfile.open(archive) as tar:
        packages = tables(tar, folder)
    write(folder, "seeds", ["id"], ([packages[i * len(packages) // SEEDS]] for i in range(SEEDS)))
    for name, lines in (("schema.pbtxt", schema()), ("spec.pbtxt", spec())):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.writelines(lines)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
