#!/usr/bin/env python3
"""How many different results KaMinPar, Mt-KaHyPar and graphmill give for one graph, seed and number of parts.

    python -m venv v && v/bin/pip install -r bench/partition-requirements.txt
    v/bin/python bench/decisions/partition/same.py X.graph --graphmill bin/graphmill

X.graph is a graph in METIS's text form. Each partitioner runs several times with one thread, and several times with two.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

PEER = """
import json, sys
name, graph, parts, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if name == "kaminpar":
    import kaminpar
    g = kaminpar.load_graph(graph, kaminpar.GraphFileFormat.METIS)
    kaminpar.reseed(1)
    part = kaminpar.KaMinPar(num_threads=threads, ctx=kaminpar.context_by_name("default")).compute_partition(g, k=parts, eps=0.03)
else:
    import mtkahypar
    start = mtkahypar.initialize(threads)
    mtkahypar.set_seed(1)
    context = start.context_from_preset(mtkahypar.PresetType.DEFAULT)
    context.set_partitioning_parameters(parts, 0.03, mtkahypar.Objective.CUT)
    context.logging = False
    part = start.graph_from_file(graph, context, mtkahypar.FileFormat.METIS).partition(context).get_partition()
print(json.dumps([int(p) for p in part]))
"""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("graph", type=pathlib.Path)
    p.add_argument("--graphmill", default="graphmill")
    p.add_argument("--parts", type=int, default=8)
    p.add_argument("--runs", type=int, default=8)
    a = p.parse_args()

    def graphmill(threads):
        with tempfile.TemporaryDirectory() as folder:
            graph = pathlib.Path(folder, "x.graph")
            graph.write_bytes(a.graph.read_bytes())
            subprocess.run([a.graphmill, "partition", graph, "--parts", str(a.parts), "--imbalance", "1.03", "--seed", "1", "--threads", str(threads)],
                           check=True, capture_output=True)
            return [int(line) for line in pathlib.Path(folder, f"x.graph.part.{a.parts}").read_text().split()]

    def peer(name):
        def run(threads):
            out = subprocess.run([sys.executable, "-c", PEER, name, a.graph, str(a.parts), str(threads)], check=True, capture_output=True, text=True)
            return json.loads(out.stdout.splitlines()[-1])
        return run

    lines = [line for line in a.graph.read_text().splitlines() if not line.startswith("%")][1:]
    edges = [(u, int(v) - 1) for u, line in enumerate(lines) for v in line.split() if u < int(v) - 1]
    both = set()
    for name, run in ("graphmill", graphmill), ("kaminpar", peer("kaminpar")), ("mtkahypar", peer("mtkahypar")):
        both.clear()
        for threads in 1, 2:
            found = collections.Counter()
            cuts = set()
            for _ in range(a.runs):
                part = run(threads)
                digest = hashlib.sha256(json.dumps(part).encode()).hexdigest()
                found[digest] += 1
                both.add(digest)
                cuts.add(sum(part[u] != part[v] for u, v in edges))
            print(f"{name}, {threads} thread(s): {len(found)} different results in {a.runs} runs, cuts {min(cuts)} to {max(cuts)}", flush=True)
        print(f"{name}, both: {len(both)} different results")


if __name__ == "__main__":
    main()
