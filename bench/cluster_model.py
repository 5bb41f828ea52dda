#!/usr/bin/env python3
"""What a run of graphmill-beam sample on Flink takes: time, CPU, bytes and memory, by simulating its stages.

usage: cluster_model.py --check RUNS.json [--json]
       cluster_model.py --forecast RUNS.json [--json]

--check fits the model to the runs marked "fit", and prints what it predicts for the others beside what was measured.
--forecast fits it, and prints what the jobs of FORECASTS below would take. bench/cluster_runs.py measures runs.

The model
  A run has the stages start, range (one per hop after the first) and assemble, or sample alone (method local). Flink ends a
  stage before the next begins, because it sorts the records in between. A stage has tasks: groups, dealt out in turn, or
  ranges, placed by a hash. The tasks of a slot follow each other. A slot uses at most two cores, one for Go and one for the
  JVM, and the slots of a machine share its cores. A stage also takes at least as long as the slowest of its transfers does:
  over the network, to and from the disk where Flink sorts, and from the storage with the store. The submitter copies
  pieces into the output, alone, while they are made.
  CPU seconds are linear in bytes of output, requests and answered edges (Go), and in shuffled bytes (JVM), with a fixed cost
  of a job.
Sizes
  A request takes 3 bytes; an answer takes 4, and 1 to 4 per edge, and 4 more per edge where the output needs edge ids.
"""

from __future__ import annotations

import argparse
import dataclasses
import heapq
import json
import math
import sys
from collections.abc import Callable
from typing import Any

MIB, GIB = 1 << 20, 1 << 30
REQUEST, ANSWER = 3, 4  # bytes
WAVE_BYTES = 256 * MIB  # internal/sample/cluster/run.go, as are the next four
REQUEST_ABOUT = 4
LEAST_GROUP, MOST_GROUP, GROUPS_PER_WORKER = 1 << 12, 1 << 15, 8
RANGE_NODES, MOST_RANGES = 1 << 13, 1 << 11
KEPT_RANGES = 1 << 12  # ranges.go
HELD = 64 * MIB  # requests that wait for their record, request.go

WORKER_BASE = 60 * MIB  # a worker without records
MAPPED = 1 << 30  # bytes of the store that count as memory of a worker here; the system takes them back where it needs them
COPIES = 4  # of a record in Go's memory, garbage included: measured once, 3.7
JOIN = 2.3e-9  # seconds per byte of output in the submitter: measured once, 2.4 GB in 5.4 CPU seconds


@dataclasses.dataclass
class Job:
    """What is sampled."""

    method: str  # local or shuffle
    seeds: int
    edges: int  # sampled
    requests: list[int]  # to ranges, by range stage; [] by the method local
    fanout: list[int]
    output_bytes: int
    nodes: int  # of the graph, which has one type here
    width: int = 0  # bytes of a far end in answers; 0: by the number of nodes
    ids: bool = False  # answers have edge ids
    degree: float = 0  # edges of the store per node: what workers read
    walks: int = 1  # edge types that the hops follow, in a direction each
    shuffled: bool = False  # seeds in random order; else in the order of the nodes
    pages: float = 0  # bytes of feature rows that assemblers read, whole pages
    feature_bytes: int = 0  # of output_bytes: the bytes of features
    skew: float = 0  # of requests over ranges: the share of the i-th is i^-skew


@dataclasses.dataclass
class Cluster:
    """Where it runs. Bandwidths are bytes per second."""

    machines: int = 1
    cores: int = 2
    slots: int = 1  # per machine, which has one worker process
    network: float = math.inf  # of a machine
    disk: float = math.inf  # of a machine
    storage: float = math.inf  # of all machines together
    managed: float = math.inf  # bytes that Flink sorts in memory, per slot


def solve(rows: list[list[float]], right: list[float]) -> list[float]:
    """Least squares without negative parameters: the columns of those are left out."""
    columns = list(range(len(rows[0])))
    while True:
        a = [[sum(r[i] * r[j] for r in rows) for j in columns] + [sum(r[i] * y for r, y in zip(rows, right))] for i in columns]
        for i in range(len(a)):
            pivot = max(range(i, len(a)), key=lambda k: abs(a[k][i]))
            a[i], a[pivot] = a[pivot], a[i]
            if not a[i][i]:
                raise ValueError("found runs that do not tell the parameters apart, expected different sizes; fit more runs")
            a[i] = [x / a[i][i] for x in a[i]]
            for k in range(len(a)):
                if k != i:
                    a[k] = [x - a[k][i] * y for x, y in zip(a[k], a[i])]
        found = {c: row[-1] for c, row in zip(columns, a)}
        if all(x >= 0 for x in found.values()):
            return [found.get(c, 0) for c in range(len(rows[0]))]
        columns.remove(min(found, key=lambda c: found[c]))


def fit(runs: list[dict[str, Any]]) -> dict[str, float]:
    """The parameters of the runs: for Go by bytes of output, requests and answered edges, for the JVM by shuffled bytes."""
    local, shuffle = ([r for r in runs if r["method"] == m] for m in ("local", "shuffle"))
    if len(local) < 2 or len(shuffle) < 2:
        raise ValueError(f"found {len(local)} local runs and {len(shuffle)} by shuffle to fit, expected 2 of each")
    go: Callable[[dict[str, Any]], float] = lambda r: r["measured"]["go_cpu_s"]
    jvm: Callable[[dict[str, Any]], float] = lambda r: r["measured"]["jvm_cpu_s"]
    # Small runs count as much as large ones.
    weigh: Callable[[list[list[float]], list[float]], list[float]] = lambda rows, right: solve(
        [[x / y for x in row] for row, y in zip(rows, right)], [1] * len(right)
    )
    fixed, byte = weigh([[1, r["output_bytes"]] for r in local], [go(r) for r in local])
    p = {"go_fixed": fixed, "go_byte": byte, "jvm_local": sum(map(jvm, local)) / len(local)}
    jobs = [job_of(r) for r in shuffle]
    more = [max(go(r) - fixed - byte * r["output_bytes"], 1e-3) for r in shuffle]
    p["go_request"], p["go_answer"] = weigh([[sum(j.requests), sum(answered(j))] for j in jobs], more)
    p["jvm_fixed"], p["jvm_byte"] = weigh([[1, moved(j)] for j in jobs], [jvm(r) for r in shuffle])
    p["wall_fixed"] = min(r["wall_fixed_s"] for r in runs if "wall_fixed_s" in r)
    return p


def job_of(r: dict[str, Any]) -> Job:
    requests = r["requests"] if isinstance(r["requests"], list) else [r["requests"]] * (r["requests"] > 0)
    keys = [f.name for f in dataclasses.fields(Job)]
    return Job(**{k: v for k, v in r.items() if k in keys and k != "requests"}, requests=requests)


def width(job: Job) -> int:
    return job.width or max((max(job.nodes - 1, 1).bit_length() + 7) // 8, 1)


def answered(job: Job) -> list[int]:
    """Edges in the answers, by range stage. The first hop is drawn by the groups; its edges are about the first requests."""
    later = [*job.requests[1:], 0]
    later[-1] = max(job.edges - sum(job.requests), 0)
    return later if job.requests else []


def sizes(job: Job) -> tuple[list[int], list[int]]:
    """Bytes of requests and of answers, by range stage."""
    per_edge = width(job) + 4 * job.ids
    return [REQUEST * n for n in job.requests], [ANSWER * n + per_edge * e for n, e in zip(job.requests, answered(job))]


def moved(job: Job) -> int:
    """Bytes through Flink's groupings. A range stage before the last sends all that it finds to both of its consumers."""
    asked, told = sizes(job)
    both = sum(a + t for a, t in zip(asked[1:], told[:-1]))
    return sum(asked) + sum(told) + both


def division(job: Job, slots: int) -> tuple[int, int, int, int, int, int]:
    """Seeds of a group, groups, seeds of a wave, waves, nodes of a range, ranges: as graphmill-beam chooses them."""
    group = min(max(job.seeds // (GROUPS_PER_WORKER * slots), LEAST_GROUP), MOST_GROUP)
    frontier = max([1, *(math.prod(job.fanout[:i]) for i in range(1, len(job.fanout)))])
    wave = max(WAVE_BYTES // (REQUEST_ABOUT * frontier) // group, 1) * group
    nodes = RANGE_NODES
    while math.ceil(job.nodes / nodes) > MOST_RANGES:
        nodes *= 2
    return group, math.ceil(job.seeds / group), wave, math.ceil(job.seeds / wave), nodes, max(math.ceil(job.nodes / nodes), 1)


def place(key: int) -> int:
    """A hash of a key."""
    key = (key + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 % 2**64
    return key ^ key >> 31


def stage(queues: list[list[float]], cluster: Cluster) -> float:
    """Seconds until the tasks of all slots are done. A task is CPU seconds; a slot has a queue of them, in order."""
    end: float = 0
    for m in range(cluster.machines):
        slots = [iter(q) for q in queues[m * cluster.slots : (m + 1) * cluster.slots]]
        # Cores are shared evenly, so work is counted on a clock of the share that each running slot has had.
        heap: list[tuple[float, int]] = []
        now, share = 0.0, 0.0
        for i, q in enumerate(slots):
            if (task := next(q, None)) is not None:
                heapq.heappush(heap, (task, i))
        while heap:
            done, i = heap[0]
            rate = min(2, cluster.cores / len(heap))
            now, share = now + (done - share) / rate, done
            heapq.heappop(heap)
            if (task := next(slots[i], None)) is not None:
                heapq.heappush(heap, (share + task, i))
        end = max(end, now)
    return end


def simulate(job: Job, cluster: Cluster, p: dict[str, float]) -> dict[str, Any]:
    """What a job takes."""
    slots = cluster.machines * cluster.slots
    group, groups, wave, waves, range_nodes, ranges = division(job, slots)
    asked, told = sizes(job)
    away = 1 - 1 / cluster.machines
    stages: list[dict[str, Any]] = []
    peak: float = 0

    def add(name: str, tasks: list[float], where: Callable[[int], int], received: float = 0, reads: float = 0) -> None:
        queues: list[list[float]] = [[] for _ in range(slots)]
        for i, t in enumerate(tasks):
            queues[where(i) % slots].append(t)
        # Flink sorts what it sends and what it receives.
        spill = 2 * 2 * received if received > slots * cluster.managed else 0
        parts = {
            "cpu": stage(queues, cluster),
            "network": received * away / cluster.machines / cluster.network,
            "disk": spill / cluster.machines / cluster.disk,
            "storage": reads / min(cluster.storage, cluster.machines * cluster.network),
        }
        stages.append({"stage": name, "seconds": max(parts.values()), "bound": max(parts, key=lambda part: parts[part]), "received": received, "read": reads})

    store = 4 * (job.degree + 1) * job.nodes  # of one edge type: far ends and offsets
    # A group reads each range of its seeds whole; a worker keeps those that it has read.
    together = max(range_nodes // group, 1)  # groups of one range
    near = store * (cluster.machines if job.shuffled else min(together, cluster.machines))
    go = p["go_byte"] * (job.output_bytes - job.feature_bytes)
    if job.method == "local":
        add("sample", [go / groups] * groups, lambda i: i, reads=store * job.walks * cluster.machines + job.pages)
        peak = WORKER_BASE
    else:
        jvm = p["jvm_byte"]
        requests, edges = p["go_request"], p["go_answer"]
        found = sum(answered(job))
        # Which stage takes which share of Go's time is not measured: half of the cost of requests and answers is taken to be
        # the cost of writing them, the other half the cost of reading them.
        write = requests * sum(job.requests[:1]) / 2 + jvm * sum(asked[:1]) / 2
        add("start", [write / groups] * groups, lambda i: i, reads=near)
        weights = [(i + 1) ** -job.skew for i in range(ranges)]
        total = sum(weights)
        for k, n in enumerate(job.requests):
            here = (requests * n + edges * answered(job)[k] + requests * sum(job.requests[k + 1 : k + 2])) / 2
            both = 2 if k + 1 < len(job.requests) else 1
            out = told[k] + (asked[k + 1] if both == 2 else 0)
            cost = here + jvm * (asked[k] + both * out) / 2
            add(f"range {k + 1}", [cost * w / total / waves for _ in range(waves) for w in weights], place, asked[k], store * min(waves, cluster.machines))
        rest = go + edges * found / 2 + jvm * sum(told) / 2
        add("assemble", [rest / groups] * groups, place, sum(told), near + job.pages)
        key = max([a * weights[0] / total * min(wave / job.seeds, 1) for a in asked] or [0])
        answers = (sum(told) + 20 * sum(job.requests)) / max(job.seeds, 1) * group
        waits = min(HELD, sum(asked) / groups)
        # Each range that a worker keeps has 4 bytes per node.
        kept = min(4 * range_nodes * KEPT_RANGES, 4 * job.nodes * job.walks)
        records = max(answers, waits) * cluster.slots + max(key - answers, 0) * min(cluster.slots, ranges)
        peak = WORKER_BASE + COPIES * records + kept
    made = sum(s["seconds"] for s in stages)
    before = made - stages[-1]["seconds"]
    join = JOIN * job.output_bytes
    wall = p["wall_fixed"] + max(made, before + join)
    go_cpu = p["go_fixed"] + go
    jvm_cpu = p["jvm_local"]
    if job.method == "shuffle":
        go_cpu += p["go_request"] * sum(job.requests) + p["go_answer"] * sum(answered(job))
        jvm_cpu = p["jvm_fixed"] + p["jvm_byte"] * moved(job)
    longest = max(stages, key=lambda s: s["seconds"])
    bound = "submitter" if before + join > made else f"{longest['bound']} of {longest['stage']}"
    return {
        "wall_s": wall,
        "go_cpu_s": go_cpu,
        "jvm_cpu_s": jvm_cpu,
        "request_bytes": sum(asked),
        "answer_bytes": sum(told),
        "worker_bytes": peak + min(store * job.walks, MAPPED),
        "held_bytes": peak,
        "read_bytes": sum(s["read"] for s in stages),
        "bound": bound,
        "stages": stages,
    }


def check(data: dict[str, Any], p: dict[str, float]) -> list[dict[str, Any]]:
    """Predicted and measured, for each run that was not fitted."""
    out = []
    for r in data["runs"]:
        if r["use"] == "fit":
            continue
        cluster = Cluster(cores=r.get("cores", 2), slots=r["parallelism"])
        predicted = simulate(job_of(r), cluster, p)
        for what, found in r["measured"].items():
            if predicted.get(what):
                out.append({"run": r["name"], "what": what, "predicted": predicted[what], "measured": found, "error": predicted[what] / found - 1})
    return out


# The graph has 10^11 edges in 25 types of 4 x 10^9, of which one is followed per hop here, and 4 x 10^7 nodes of each of 25 types. More seeds than nodes are several epochs. A machine has 16 cores, 8 slots, 25 Gbit/s and an NVMe; the storage gives 10 GB/s in all.
MACHINE: dict[str, Any] = {"cores": 16, "slots": 8, "network": 25e9 / 8, "disk": 2e9, "storage": 10e9, "managed": 1 * GIB}
TYPE: dict[str, Any] = {"method": "shuffle", "nodes": 4 * 10**7, "degree": 100, "skew": 0.5, "ids": False}


def sampled(
    name: str, seeds: int, fanout: list[int], machines: int, fill: float = 1.0, per_edge: float = 12.5, features: int = 0, **more: Any
) -> tuple[str, Job, Cluster]:
    """A job whose hops find `fill` of the edges that the fanout allows. Features take a page of 4 KiB per node."""
    found, requests, edges = seeds, [], 0
    for k in fanout:
        found = int(found * k * fill)
        edges += found
        requests.append(found)
    nodes = edges + seeds
    job = Job(
        walks=len(fanout),
        seeds=seeds,
        fanout=fanout,
        edges=edges,
        requests=requests[:-1],
        output_bytes=int(per_edge * edges + features * nodes),
        pages=4096 * nodes if features else 0,
        feature_bytes=features * nodes,
        **{**TYPE, **more},
    )
    return name, job, Cluster(machines=machines, **MACHINE)


FORECASTS = [
    sampled("10^8 seeds, 10,5", 10**8, [10, 5], 8),
    sampled("10^8 seeds, 10,5", 10**8, [10, 5], 32),
    sampled("10^8 seeds, 10,5, seeds shuffled", 10**8, [10, 5], 32, shuffled=True),
    sampled("10^8 seeds, 10,5, 400 B of features", 10**8, [10, 5], 32, features=400),
    sampled("10^8 seeds, 15,10,5", 10**8, [15, 10, 5], 32),
    sampled("1.67 x 10^9 seeds, 10,5", 1_666_666_667, [10, 5], 32),
    sampled("1.67 x 10^9 seeds, 10,5", 1_666_666_667, [10, 5], 128),
]


def hours(s: float) -> str:
    return f"{s:.1f} s" if s < 100 else f"{s / 60:.0f} min" if s < 7200 else f"{s / 3600:.1f} h"


def amount(b: float) -> str:
    unit = max((u for u in range(5) if b >= 1000**u), default=0)
    return f"{b / 1000**unit:.3g} {['B', 'kB', 'MB', 'GB', 'TB'][unit]}"


def forecast(p: dict[str, float]) -> list[dict[str, Any]]:
    rows = []
    for name, job, cluster in FORECASTS:
        r = simulate(job, cluster, p)
        rows.append(
            {
                "job": name,
                "machines": cluster.machines,
                "edges": job.edges,
                "wall_s": r["wall_s"],
                "cpu_s": r["go_cpu_s"] + r["jvm_cpu_s"],
                "moved": moved(job),
                "read": r["read_bytes"],
                "output": job.output_bytes,
                "held_bytes": r["held_bytes"],
                "bound": r["bound"],
                "stages": r["stages"],
            }
        )
    return rows


def main(args: list[str]) -> None:
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("runs", metavar="RUNS.json")
    what = a.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--forecast", action="store_true")
    a.add_argument("--json", action="store_true")
    o = a.parse_args(args)
    with open(o.runs, encoding="utf-8") as f:
        data = json.load(f)
    try:
        p = fit([r for r in data["runs"] if r["use"] == "fit"])
    except ValueError as e:
        sys.exit(f"cluster_model.py: {o.runs}: {e}")
    rows = check(data, p) if o.check else forecast(p)
    if o.json:
        print(json.dumps({"parameters": p, "check" if o.check else "forecast": rows}, indent=1))
        return
    print("  ".join(f"{k} {v:.3g}" for k, v in p.items()) + "  (seconds)")
    if o.check:
        for r in rows:
            show = amount if r["what"].endswith("bytes") else hours
            print(f"{r['run']:44} {r['what']:14} predicted {show(r['predicted']):>8}  measured {show(r['measured']):>8}  error {r['error']:+.0%}")
        return
    print("| job | machines | sampled edges | time | CPU | shuffled | read from the store | output | memory of a worker | bound by |\n|" + "---|" * 10)
    for r in rows:
        print(
            f"| {r['job']} | {r['machines']} | {r['edges']:.2g} | {hours(r['wall_s'])} | {r['cpu_s'] / 3600:.1f} h | {amount(r['moved'])} | {amount(r['read'])} | {amount(r['output'])} | "
            f"{r['held_bytes'] / GIB:.1f} GiB | {r['bound']} |"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
