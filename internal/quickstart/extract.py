#!/usr/bin/env python3
"""Cuts the embedded graph out of the Debian package graph.

usage: extract.py DEBIAN_PACKAGES_FOLDER OUT_FOLDER

The part: the 4,000 packages that most packages depend on, directly or not,
counted over two steps, and everything known among them. Written as a unigraph:
gzipped CSV tables; schema.pbtxt and sampling_spec.pbtxt are written by hand.
Equal input gives equal bytes.
"""

import collections
import csv
import gzip
import io
import os
import sys

PACKAGES = 4000
RELATIONS = {"Depends": "depends", "Recommends": "recommends", "Suggests": "suggests", "Enhances": "enhances", "Breaks": "breaks", "Conflicts": "conflicts"}


def rows(folder, name):
    with gzip.open(os.path.join(folder, name + ".csv.gz"), "rt", encoding="utf-8") as f:
        yield from csv.DictReader(f)


def write(folder, name, header, lines):
    text = io.StringIO(newline="")
    out = csv.writer(text, lineterminator="\n")
    out.writerow(header)
    n = 0
    for line in lines:
        out.writerow(line)
        n += 1
    with open(os.path.join(folder, name + ".csv.gz"), "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(text.getvalue().encode())
    print(f"{name}: {n}")


def main(src, dst):
    relation = {r["id"]: RELATIONS.get(r["name"]) for r in rows(src, "names_relation")}
    packages = {r["id"]: r for r in rows(src, "nodes_package")}
    edges = [r for r in rows(src, "package_package") if r["dst"] in packages and relation[r["rel"]]]
    direct = collections.defaultdict(set)
    for r in edges:
        if relation[r["rel"]] in ("depends", "recommends"):
            direct[r["dst"]].add(r["src"])
    score = {p: len(direct[p]) + sum(len(direct[q]) for q in direct[p]) for p in packages}
    kept = set(sorted(packages, key=lambda p: (-score[p], int(p)))[:PACKAGES])
    name = {p: packages[p]["name"] for p in kept}
    section = {r["id"]: r["name"] for r in rows(src, "names_section")}
    priority = {r["id"]: r["name"] for r in rows(src, "names_priority")}
    source = {r["id"]: r["name"] for r in rows(src, "names_source")}
    tag = {r["id"]: r["name"] for r in rows(src, "names_tag")}

    ordered = sorted(kept, key=int)
    write(
        dst,
        "package",
        ["id", "section", "priority", "size", "installed_size", "essential", "label"],
        (
            [
                name[p],
                section[packages[p]["section"]],
                priority[packages[p]["priority"]],
                packages[p]["size"],
                packages[p]["installed_size"],
                packages[p]["essential"],
                packages[p]["section"],
            ]
            for p in ordered
        ),
    )
    for rel in RELATIONS.values():
        write(
            dst,
            rel,
            ["source", "target", "alternative", "versioned"],
            (
                [name[r["src"]], name[r["dst"]], r["alternative"], r["versioned"]]
                for r in edges
                if relation[r["rel"]] == rel and r["src"] in kept and r["dst"] in kept
            ),
        )

    built = [(r["package"], r["source"]) for r in rows(src, "package_source") if r["package"] in kept]
    write(dst, "source", ["id"], ([source[s]] for s in sorted({s for _, s in built}, key=int)))
    write(dst, "built_from", ["source", "target"], ([name[p], source[s]] for p, s in built))
    maintained = [(r["package"], r["maintainer"]) for r in rows(src, "package_maintainer") if r["package"] in kept]
    write(dst, "maintainer", ["id"], ([f"m{m}"] for m in sorted({m for _, m in maintained}, key=int)))
    write(dst, "maintained_by", ["source", "target"], ([name[p], f"m{m}"] for p, m in maintained))
    tagged = [(r["package"], r["tag"]) for r in rows(src, "package_tag") if r["package"] in kept]
    used = sorted({t for _, t in tagged}, key=int)
    write(dst, "tag", ["id", "facet"], ([tag[t], tag[t].split("::")[0]] for t in used))
    write(dst, "has_tag", ["source", "target"], ([name[p], tag[t]] for p, t in tagged))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
