#!/usr/bin/env python3
"""Trains the same models with the loaders of PyG, DGL and GraphBolt and with Graphmill's, and compares the results.

examples:
  bench/accuracy.py --made --seeds 3                      small random data, minutes
  GRAPHMILL_DATA=... bench/accuracy.py                    Cora, WordNet, the history of Rails, ENZYMES
  bench/accuracy.py --trainings papers links --peers dgl

Prints the results as JSON, and a table of means and standard deviations to stderr. Exits with 1 if a mean of Graphmill's differs from
its peer's mean by more than the bound, or does not exceed the control's mean by more than the bound.

The bound is 3.5 standard errors of the difference of the two means, sqrt((s1^2 + s2^2) / n), with s at least 0.01 for each: two
loaders of the same law exceed 3.5 standard errors once in some 2,000 runs, and the sample deviation of few runs can be far too
small. A control is the same training without what the loader must provide: the edges, the times, or the training itself.
"""

from __future__ import annotations

# Only the standard library: the frameworks are in the environments of bench/peers.sh.
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
DATA = {
    "papers": "cora",
    "words": "cora",
    "links": "wordnet",
    "held-out": "wordnet",
    "events": "rails_git",
    "graphs": "small/enzymes",
}  # an archive's folder, or a folder
OF = {"saint": "papers", "clusters": "papers", "shadow": "papers", "labor": "papers"}  # trainings with the data of another
ONLY = {"saint": "pyg", "clusters": "pyg", "shadow": "pyg", "words": "pyg", "held-out": "pyg", "labor": "dgl"}  # trainings with one peer
LAWS = {"saint": "GraphSAINT's walks", "clusters": "Cluster-GCN", "shadow": "ShaDow", "labor": "LABOR"}
WHAT = {
    "papers": "nodes of Cora, test accuracy",
    "words": "papers of Cora among words as nodes, test accuracy, by HGT",
    "links": "links of WordNet, MRR among 101",
    "held-out": "links of WordNet whose held-out edges are in the store, MRR among 101",
    "events": "commits of Rails before their time, test accuracy",
    "graphs": "graphs of ENZYMES, test accuracy",
}
MADE = {
    "papers": "nodes, test accuracy",
    "words": "papers among words as nodes, test accuracy, by HGT",
    "links": "links, MRR among 101",
    "held-out": "links whose held-out edges are in the store, MRR among 101",
    "events": "events before their time, test accuracy",
    "graphs": "small graphs, test accuracy",
}
# PyG's sampler of torch-sparse draws among all edges and then drops the later ones, so that it sees less: ours may be better.
BETTER = {("pyg", "events")}


def run(*command: object, **more: Any) -> str:
    """Run a command, show its errors, and return what it prints."""
    out: str = subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True, **more).stdout
    return out


def python_of(peer: str) -> str:
    return run(HERE / "peers.sh", peer).strip()


def folder_of(training: str, made: bool, work: pathlib.Path) -> pathlib.Path | str:
    """Where prepare.py finds the data."""
    if made:
        return "made"
    data = os.environ.get("GRAPHMILL_DATA")
    if not data:
        sys.exit("accuracy.py: found no GRAPHMILL_DATA, expected the folder of the data; or give --made")
    archive = pathlib.Path(data, DATA[training] + ".tar.gz")
    if not archive.exists():
        return pathlib.Path(data, DATA[training])
    with tarfile.open(archive) as t:
        t.extractall(work, filter="data")
    return work / DATA[training]


def prepared(training: str, made: bool, graphmill: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """The folder with the store, or with the collection and its pack layout."""
    training = OF.get(training, training)
    out = work / training
    if out.exists():
        return out
    run(python_of("tables"), HERE / "accuracy/prepare.py", training, folder_of(training, made, work), out)
    run(graphmill, "import", out / "tables", "--out", out / "store")
    if training == "papers":
        run(graphmill, "partition", out / "store", "--parts", 30, "--out", out / "parts")
    if training == "graphs":
        limits = [x for limit in (out / "limits").read_text().split() for x in ("--limit", limit)]
        run(graphmill, "pack", out / "store", *limits, "--max-graphs", 33, "--reserve", "--out", out / "layout")
    return out


def bound(a: list[float], b: list[float]) -> float:
    return 3.5 * math.sqrt(sum(max(statistics.stdev(x), 0.01) ** 2 / len(x) for x in (a, b)))


def faults(training: str, results: dict[str, list[float]], better: bool) -> Iterator[str]:
    """What is beyond the bound; results: the results of each contestant, the control last. If better, ours may be above the peer."""
    peer, (control, floor) = next(iter(results)), list(results.items())[-1]
    contestants = [who for who in results if who.startswith("Graphmill")]
    for ours in contestants:
        found = results[ours]
        theirs = ours.replace("Graphmill", peer)
        for name, other, below in ((theirs, results.get(theirs), False), (control, floor, True)):
            if other is None or (below and ours != contestants[-1]):  # a model that reads links off its batch may learn nothing else
                continue
            difference, most = statistics.mean(found) - statistics.mean(other), bound(found, other)
            if difference <= most if below else (-difference if better else abs(difference)) > most:
                yield f"{training}: found {difference:+.4f} between {ours} and {name}, expected {'more than' if below else 'at most'} {most:.4f}"


def row(what: str, results: dict[str, list[float]]) -> str:
    cells = [f"{who} **{statistics.mean(x):.3f}** ± {statistics.stdev(x):.3f}" for who, x in results.items()]
    return f"| {what} | {' | '.join(['<br>'.join(c for c in cells[:-1] if 'Graphmill' not in c), '<br>'.join(c for c in cells[:-1] if 'Graphmill' in c), cells[-1]])} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--made", action="store_true", help="small random data in place of those in GRAPHMILL_DATA")
    parser.add_argument("--seeds", type=int, default=5, help="random seeds per contestant, at least 2 (default 5)")
    parser.add_argument("--trainings", nargs="+", choices=[*DATA, *OF], default=[*DATA, *OF])
    parser.add_argument("--peers", nargs="+", choices=["pyg", "dgl"], default=["pyg", "dgl"])
    parser.add_argument("--graphmill", help="the command; default: it is built")
    o = parser.parse_args()
    if o.seeds < 2:
        parser.error(f"--seeds: found {o.seeds}, expected at least 2, for a standard deviation")
    result: dict[str, dict[str, dict[str, list[float]]]] = {peer: {} for peer in o.peers}
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="accuracy-") as folder:
        work = pathlib.Path(folder)
        graphmill = o.graphmill and pathlib.Path(o.graphmill).resolve()
        if not graphmill:
            graphmill = work / "graphmill"
            run("go", "build", "-o", graphmill, "./cmd/graphmill", cwd=HERE.parent)
        env = {
            **os.environ,
            "GRAPHMILL_COMMAND": str(graphmill),
            "PYTHONPATH": str(HERE.parent / "python/src"),
            "DGLBACKEND": "pytorch",
            "OMP_NUM_THREADS": "1",
        }
        for training in o.trainings:
            data = prepared(training, o.made, graphmill, work)
            for peer in o.peers:
                if ONLY.get(training, peer) != peer:
                    continue
                found = json.loads(run(python_of(peer), "-W", "ignore", HERE / f"accuracy/with_{peer}.py", training, data, o.seeds, env=env))
                result[peer][training] = found
                wrong += [f"{peer}, {f}" for f in faults(training, found, (peer, training) in BETTER)]
    for peer, trainings in result.items():
        print(f"\n{peer}\n\n| training | peer | Graphmill | control |\n|---|---|---|---|", file=sys.stderr)
        for training, found in trainings.items():
            what = (MADE if o.made else WHAT)[OF.get(training, training)]
            print(row(f"{what}, by {LAWS[training]}" if training in LAWS else what, found), file=sys.stderr)
    print(json.dumps(result))
    for line in wrong:
        print(f"accuracy.py: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
