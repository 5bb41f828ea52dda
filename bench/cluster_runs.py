#!/usr/bin/env python3
"""Measures runs of graphmill-beam on a Flink of this machine, as bench/cluster_model.py reads them.

usage: cluster_runs.py STORE --fanout 10,5 --seeds 1000000,4000000 [--flink=--embedded] > runs.json

Each run samples subgraphs of single seeds as TFRecords. The first job of a Flink takes three times as long, and is not
among the runs. CPU seconds of Go are of the submitter and the workers, CPU seconds of the JVM all others of scripts/flink.
Bytes and peak memory are measured where Flink is not embedded.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import bench

ROOT = pathlib.Path(__file__).resolve().parent.parent


def rest(flags: list[str], path: str) -> Any:
    """What Flink's REST interface answers."""
    with urllib.request.urlopen(flags[flags.index("--job-manager") + 1] + path) as r:
        return json.load(r)


def shuffled(flags: list[str]) -> dict[str, int]:
    """Bytes that the last job sent to keys: those that its stages before a grouping wrote, of requests and of answers."""
    jobs = [j for j in rest(flags, "/jobs/overview")["jobs"] if j["state"] == "FINISHED"]
    last = max(jobs, key=lambda j: j["start-time"])
    of: Callable[[str], int] = lambda name: sum(v["metrics"]["write-bytes"] for v in rest(flags, "/jobs/" + last["jid"])["vertices"] if name in v["name"])
    return {"request_bytes": of("startFn"), "answer_bytes": of("angeFn")}


def peaks(flink: bench.Flink, stop: threading.Event, found: dict[str, int]) -> None:
    """Peak memory of the workers and of the TaskManagers, looked at until stop."""
    while not stop.wait(0.2):
        pids = flink.processes()
        workers: list[str] = []
        for t in os.listdir(f"/proc/{pids['worker']}/task"):
            with contextlib.suppress(OSError):  # a thread that ended meanwhile
                workers += pathlib.Path(f"/proc/{pids['worker']}/task/{t}/children").read_text().split()
        for name, some in (("worker", workers), ("taskmanager", [p for n, p in pids.items() if n.startswith("taskmanager")])):
            found[name] = max([found.get(name, 0), *map(bench.peak, some)])


def run(flink: bench.Flink, binary: pathlib.Path, store: str, out: pathlib.Path, fanout: str, seeds: int, method: str, parallelism: int) -> dict[str, Any]:
    """One run, as JSON."""
    shutil.rmtree(out, ignore_errors=True)
    command = [
        binary,
        "sample",
        store,
        "--fanout",
        fanout,
        "--scope",
        "seed",
        "--limit-seeds",
        seeds,
        "--format",
        "tfrecord",
        "--shards",
        4,
        "--method",
        method,
        "--parallelism",
        parallelism,
        "--out",
        out,
        "--json",
        *flink.flags,
    ]
    pids = flink.processes()
    java: Callable[[], float] = lambda: sum(bench.tree_cpu(p) for n, p in pids.items() if n != "worker")
    service: Callable[[], float] = lambda: bench.tree_cpu(pids["worker"]) if "worker" in pids else 0
    before, worked, stop = java(), service(), threading.Event()
    peak: dict[str, int] = {}
    watch = threading.Thread(target=peaks, args=(flink, stop, peak))
    if "worker" in pids:
        watch.start()
    all_before, start = bench.busy(), time.perf_counter()
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    assert child.stdout  # a pipe
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall, all_after = time.perf_counter() - start, bench.busy()
    stop.set()
    if "worker" in pids:
        watch.join()
    if status:
        sys.exit(f"cluster_runs.py: {shlex.join(map(str, command))}: found status {status}, expected 0")
    report = json.loads(text)
    rows = {r["label"]: r["value"]["count"] for r in report["headline"] + report["out"] if "count" in r["value"]}
    measured = {"wall_s": round(wall, 2), "go_cpu_s": round(usage.ru_utime + usage.ru_stime + service() - worked, 2), "jvm_cpu_s": round(java() - before, 2)}
    # What other programs left of the machine.
    assert all_before is not None and all_after is not None, "found no /proc/stat"
    others = max(0, all_after - all_before - measured["go_cpu_s"] - measured["jvm_cpu_s"])
    cores = round(max((os.cpu_count() or 1) - others / wall, 0.1), 2)
    if "worker" in pids:
        measured |= {"worker_bytes": peak["worker"], "taskmanager_bytes": peak["taskmanager"]}
        if method == "shuffle":
            measured |= shuffled(flink.flags)
    written = sum(p.stat().st_size for p in pathlib.Path(out).rglob("*") if p.is_file())
    shutil.rmtree(out, ignore_errors=True)
    return {
        "method": method,
        "fanout": [int(k) for k in fanout.split(",")],
        "seeds": seeds,
        "parallelism": parallelism,
        "cores": cores,
        "edges": rows["sampled edges"],
        "requests": rows.get("requests to ranges", 0),
        "output_bytes": written,
        "measured": measured,
    }


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("store")
    p.add_argument("--fanout", default="10,5")
    p.add_argument("--seeds", type=lambda s: [int(n) for n in s.split(",")], default=[1_000_000])
    p.add_argument("--methods", type=lambda s: s.split(","), default=["local", "shuffle"])
    p.add_argument("--parallelism", type=int, default=1)
    p.add_argument("--flink", default="--embedded", help="flags of scripts/flink up, such as '--task-managers 1 --slots 2'")
    p.add_argument("--work", type=pathlib.Path, default=pathlib.Path.home() / ".cache/graphmill-bench")
    a = p.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    binary, runs = ROOT / "bin/graphmill-beam", []
    with bench.Flink(a.work, binary, *shlex.split(a.flink)) as flink:
        for method in a.methods:
            for seeds in [a.seeds[0], *a.seeds]:
                runs.append(run(flink, binary, a.store, a.work / "cluster", a.fanout, seeds, method, a.parallelism))
                print(json.dumps(runs[-1]), file=sys.stderr)
            del runs[-len(a.seeds) - 1]
    print(json.dumps(runs, indent=1))


if __name__ == "__main__":
    main()
