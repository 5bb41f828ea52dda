"""A graph that grows by a hundredth a day.

usage: peer_growing.py make EDGES.npy FOLDER --graphmill COMMAND
       peer_growing.py day FOLDER --graphmill COMMAND

make writes stores of the same edges: whole.store, imported at once; segments4.store and segments16.store, whose last days came as segments; and dropped.store, of which a hundredth of the
edges is dropped. yesterday.store lacks the edges of the last day, which are in day.npy.

day appends the last day to a copy of yesterday.store, whose files are hard links, and prints one JSON: the time of the append, its new edges per second, and the bytes of
the store before and of the segment.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import subprocess
import time

import numpy as np


def run(graphmill: str, *args: object) -> None:
    subprocess.run([graphmill, *map(str, args), "--no-report", "--quiet"], check=True, stdout=2)


def make(args: argparse.Namespace) -> None:
    edges, folder = np.load(args.edges, mmap_mode="r"), args.folder
    n, nodes = edges.shape[1], int(max(edges[0].max(), edges[1].max())) + 1
    folder.mkdir(parents=True)
    part = folder / "part.npy"

    def grow(name: str, days: int) -> None:
        """A store whose last days came as segments."""
        bounds = [n * (100 - d) // 100 for d in range(days, -1, -1)]
        for i, (first, last) in enumerate(zip([0, *bounds], bounds)):
            np.save(part, edges[:, first:last])
            run(args.graphmill, *(["append", folder / name, part] if i else ["import", part, "--num-nodes", nodes, "--out", folder / name]))

    grow("whole.store", 0)
    grow("segments4.store", 4)
    grow("segments16.store", 16)
    run(args.graphmill, "import", args.edges, "--num-nodes", nodes, "--out", folder / "dropped.store")
    drawn = np.random.default_rng(1).choice(n, n // 100, replace=False)
    np.savetxt(folder / "gone.csv", np.unique(np.asarray(edges[:, np.sort(drawn)]).T, axis=0), "%d", ",", header="src,dst", comments="")
    run(args.graphmill, "append", folder / "dropped.store", "--drop", folder / "gone.csv")
    np.save(part, edges[:, : n * 99 // 100])
    run(args.graphmill, "import", part, "--num-nodes", nodes, "--out", folder / "yesterday.store")
    np.save(folder / "day.npy", edges[:, n * 99 // 100 :])
    part.unlink()


def size(folder: pathlib.Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def day(args: argparse.Namespace) -> None:
    today = args.folder / "today.store"
    shutil.rmtree(today, ignore_errors=True)
    run(args.graphmill, "snapshot", args.folder / "yesterday.store", "--segments", 0, "--out", today)
    before, start = size(today), time.perf_counter()
    run(args.graphmill, "append", today, args.folder / "day.npy")
    took = time.perf_counter() - start
    new = np.load(args.folder / "day.npy", mmap_mode="r").shape[1]
    print(json.dumps({"seconds": took, "edges_per_second": new / took, "bytes_before": before, "bytes_of_segment": size(today / "segments")}))
    shutil.rmtree(today)


def main() -> None:
    p = argparse.ArgumentParser()
    commands = p.add_subparsers(required=True)
    q = commands.add_parser("make")
    q.add_argument("edges", type=pathlib.Path)
    q.set_defaults(do=make)
    commands.add_parser("day").set_defaults(do=day)
    for q in commands.choices.values():
        q.add_argument("folder", type=pathlib.Path)
        q.add_argument("--graphmill", default="graphmill")
    args = p.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
