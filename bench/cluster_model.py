#!/usr/bin/env python3
"""What a job of graphmill-beam takes on a cluster: tasks, time, CPU, bytes, memory and requests.

usage: cluster_model.py --forecast [--json]
       cluster_model.py --costs
       cluster_model.py --bytes JOB.json

--forecast and --costs print the tables of docs/cluster.md. --bytes prints what is predicted for the work folder of the job in a file, as JSON; a test compares that with runs.

The model
  The engine carries numbers of tasks, and the storage carries records: files that a task writes, and tasks of later stages read parts of. Bytes follow from the
  formats, numbers of tasks from the rules by which graphmill-beam divides a job. CPU seconds are rates of runs on one machine (RATES). A job takes as long as the slowest of three
  takes, since they overlap: CPU over all cores, bytes over the storage, and the submitter, which joins a small output of sample alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from typing import Any

MIB, GIB = 1 << 20, 1 << 30

# Bytes of records and pieces, as docs/cluster.md has them.
REQUEST, EDGE_ID = 7, 4  # a request and the head of its answer; per answered edge the far end and, where needed, the id
IMPORT_RECORD, IMPORT_PIECE = 2.5, 8  # per edge: beside the bytes of an end; far end and id, in each direction
MIRROR, PAIR, TOLD = 10, 8, 20  # of partition: per edge while the neighbours are listed, per pair in the rows, per node in the messages and the rows
LIST, PART = 4.9, 45  # per edge: of the lists that dispatch keeps for halo edges, and of a part with its halo and the format COO
INDEX = 12  # bytes of an entry in the index of a file

# CPU seconds of all processes, from runs of the steps on one machine of 2 cores, R-MAT 19 and a table of 8 million edges.
RATES = {
    "local": 1.69 / 64.7e6,  # per byte of output
    "shuffle": (3.03 - 1.69) / 31.6e6,  # per byte of records, in addition to local
    "import": 4.79 / 8e6,  # per edge, both directions
    "dispatch": 1.70 / 8.39e6,  # per edge
    "partition": 62 / 15.7e6,  # per pair, R-MAT 20 and 8 parts
}
# Of partition: passes over the rows (the last one measures, and reads the store again), barriers and seconds of each on Flink, and the core, which one machine divides: its share of the pairs on a graph without much locality, and CPU seconds and
# bytes of memory per pair of it.
PASSES, BARRIERS, BARRIER_S = 9, 170, 0.2
CORE_SHARE, CORE_RATE, CORE_BYTES = 0.45, 1.0e-6, 50
JOIN = 2.3e-9  # seconds per byte of output, in the submitter or in the tasks that write
SHARD = 256 * MIB  # of output per task that writes
MOST_SHARDS = 1 << 12

# List prices in dollars, on demand, of the eastern United States: a machine of 16 cores and 128 GiB (r6i.4xlarge) and requests to S3 of Amazon.
MACHINE_HOUR = 1.008
PUT, GET = 0.005 / 1000, 0.0004 / 1000
# CPU seconds that an engine takes per job, and the factor of its records, from runs on one machine.
ENGINES = {"steps": (0, 1.0), "Flink": (4, 1.3), "Spark": (13, 1.3)}
LEAST_MINUTES = 1  # that a machine is paid for

SORTED = 64 * MIB  # records that a task holds, of its input and of its output
WORKER = 60 * MIB
MOST_READS, MOST_FILES = 1 << 32, 1 << 22  # refused beyond them
MOST_TASKS = 1 << 13
MOST_NODES = 1 << 32  # of a type
MOST_DIVIDED = 1 << 31  # nodes that partition divides
PART_MIB = 16  # of a table, and of an upload in parts


@dataclasses.dataclass
class Cluster:
    """Where a job runs. Bandwidths are bytes per second."""

    machines: int
    cores: int = 16
    memory: int = 128 * GIB
    storage: float = 1e9  # per machine, up to most
    most: float = 10e9

    def bandwidth(self) -> float:
        """Return the bytes per second of the storage."""
        return min(self.machines * self.storage, self.most)


@dataclasses.dataclass
class Stage:
    """A stage of a job."""

    name: str
    tasks: int
    read: list[int] = dataclasses.field(default_factory=list)  # stages before it


def share(data: float, workers: int) -> int:
    """Tasks of a stage: each reads about 1 MiB of each file of as many tasks before, as stages.Tasks says."""
    n = max(4 * workers, math.isqrt(int(data) // MIB))
    return max(min(n, MOST_TASKS), 1)


def width(nodes: int) -> int:
    """Bytes of a far end in an answer."""
    return max((max(nodes - 1, 0).bit_length() + 7) // 8, 1)


def summed(stages: list[Stage]) -> dict[str, Any]:
    """Tasks, reads of files and bytes of indexes of a job."""
    reads = [sum(stages[i].tasks for i in s.read) * s.tasks for s in stages]
    index = sum(s.tasks * (sum(r.tasks for r in stages if i in r.read) + 1) * INDEX for i, s in enumerate(stages))
    return {
        "tasks": sum(s.tasks for s in stages),
        "most_tasks": max(s.tasks for s in stages),
        "reads": sum(reads),
        "most_reads": max(reads),
        "index_bytes": index,
    }


def sampled(j: dict[str, Any], workers: int) -> dict[str, Any]:
    """Sample, by the method local or shuffle. j has seeds, requests, answered edges (all beyond the first hop), edges, nodes, ids, output_bytes."""
    batch = j.get("group", 1024)
    group = min(max(j["seeds"] // (8 * workers), 1 << 12), 1 << 15)
    records = 0.0
    if j["op"] == "shuffle":
        records = REQUEST * j["requests"] + (width(j["nodes"]) + EDGE_ID * j["ids"]) * j["answered"]
        group = min(group, max(int(32 * MIB / (5 * j["most_edges"] + 1)), 1))
    groups = math.ceil(j["seeds"] / (max(group // batch, 1) * batch))
    stages = [Stage("sample", groups)]
    if j["op"] == "shuffle":
        n = share(5 * j["most_edges"] * j["seeds"], workers)
        hops = j["hops"]
        stages = [Stage("start", groups), *(Stage(f"range {h}", n, list(range(h))) for h in range(1, hops))]
        stages.append(Stage("assemble", n, list(range(hops))))
    writers = max(min(int(j["output_bytes"]) // SHARD, MOST_SHARDS), 1)
    if writers > 1:
        stages.append(Stage("write", writers, [len(stages) - 1]))
    return {
        "stages": stages,
        "records": records,
        "pieces": j["output_bytes"],
        "output": j["output_bytes"],
        "joined": writers == 1,
        "ends": groups * writers * (writers > 1),
    }


def imported(j: dict[str, Any], workers: int) -> dict[str, Any]:
    """Import of integer ids. j has edges, nodes, both and text_bytes."""
    record = (IMPORT_RECORD + width(j["nodes"])) * j["edges"]
    pieces = IMPORT_PIECE * (1 + j["both"]) * j["edges"] + 8 * j["nodes"]
    n = share(j["text_bytes"], workers)
    stages = [Stage("scan", math.ceil(j["text_bytes"] / (PART_MIB * MIB))), Stage("edges", n, [0]), Stage("sort", n, [1])]
    if j["both"]:
        stages.append(Stage("other", n, [2]))
    # Two stages have their records at a time where there is another direction; workers make the shards of the store from the pieces.
    return {"stages": stages, "records": record * (1 + j["both"]), "pieces": 2 * pieces, "output": 0, "joined": False, "later": True}


def dispatched(j: dict[str, Any], workers: int) -> dict[str, Any]:
    """Dispatch without columns, one hop. j has edges and parts."""
    segments = max(4 * workers, math.ceil(j["edges"] / (1 << 21)))
    stages = [Stage("cut", segments), Stage("gather", j["parts"], [0]), Stage("finish", j["parts"], [1])]
    return {"stages": stages, "records": LIST * j["edges"], "pieces": PART * j["edges"] + LIST * j["edges"], "output": 0, "joined": False, "later": True}


def divided(j: dict[str, Any], workers: int) -> dict[str, Any]:
    """Partition. j has edges, which are as many pairs, and nodes. Stages of the same kind are counted as often as there are barriers."""
    pieces = max(workers, 16 * j["edges"] // (64 * MIB))
    stages = [Stage("mirror", pieces), Stage("list", pieces, [0])]
    stages += [Stage("round", workers, [i + 1]) for i in range(BARRIERS - 2)]
    output = PAIR * j["edges"] + TOLD * j["nodes"]
    return {"stages": stages, "records": MIRROR * j["edges"], "pieces": output, "output": 0, "joined": False, "later": True}


OPERATIONS = {"local": sampled, "shuffle": sampled, "import": imported, "dispatch": dispatched, "partition": divided}


def predict(j: dict[str, Any], workers: int) -> dict[str, Any]:
    """Tasks, bytes and reads of a job. Bytes of the work folder are peaks."""
    x = OPERATIONS[j["op"]](j, workers)
    r = summed(x["stages"])
    r["records_bytes"] = x["records"] + r["index_bytes"] * (x["records"] > 0)
    r["pieces_bytes"] = x["pieces"]
    # Records of sample stay until the pieces are made; those of the other operations are gone before all pieces are joined or moved.
    r["peak_bytes"] = x["pieces"] + max(x["output"], r["records_bytes"] / 2) if x.get("later") else r["records_bytes"] + x["pieces"] + x["output"]
    r["written_bytes"] = r["records_bytes"] + x["pieces"] + x["output"]
    r["output_bytes"] = x["output"] or x["pieces"] - LIST * j.get("edges", 0)
    r["joined"] = x["joined"]
    r["ends"] = x.get("ends", 0)  # of pieces: each task that writes reads all of them
    return r


def cpu_seconds(j: dict[str, Any], r: dict[str, Any]) -> float:
    """CPU seconds of all processes."""
    if j["op"] in ("import", "dispatch", "partition"):
        return RATES[j["op"]] * float(j["edges"])
    writing = JOIN * float(r["output_bytes"]) * (not r["joined"])
    return writing + RATES["local"] * float(r["output_bytes"]) + RATES["shuffle"] * float(r["records_bytes"]) * int(j["op"] == "shuffle")


def with_engine(j: dict[str, Any], r: dict[str, Any], engine: str) -> float:
    """CPU seconds of all processes, the engine's among them."""
    fixed, factor = ENGINES[engine]
    return fixed + cpu_seconds(j, r) + (factor - 1) * RATES["shuffle"] * float(r["records_bytes"])


def machines_usd(cluster: Cluster, seconds: float) -> float:
    """Price of the machines for a time."""
    return cluster.machines * MACHINE_HOUR * max(seconds / 3600, LEAST_MINUTES / 60)


def memory(j: dict[str, Any], r: dict[str, Any]) -> float:
    """Memory of a process of one task at a time, without the mapped pages that the system takes back."""
    held = WORKER + 4 * min(SORTED, float(r["records_bytes"]) / int(r["most_tasks"]))
    if j["op"] in ("shuffle", "partition"):
        held += 4 * j["nodes"]
    if j["op"] == "dispatch":
        held += 6.2 * j["nodes"] + (4 * j["edges"] + 8 * j["nodes"]) / j["parts"]
    return held


def forecast_of(j: dict[str, Any], cluster: Cluster) -> dict[str, Any]:
    """What a job takes on a cluster, what bounds it, and which limit it meets first where it grows."""
    workers = cluster.machines * cluster.cores
    r = predict(j, workers)
    store = 4.08 * j["edges_of_graph"]
    reads = {"import": 2 * j.get("text_bytes", 0), "local": store * cluster.machines}.get(j["op"], 2 * store)
    r["read_bytes"] = reads + r["records_bytes"] + r["pieces_bytes"] * (j["op"] in ("local", "shuffle"))
    if j["op"] == "partition":  # each process reads all messages
        r["read_bytes"] += PASSES * PAIR * j["edges"] + 10 * j["nodes"] * workers
    r["cpu_s"], r["memory_bytes"] = cpu_seconds(j, r), memory(j, r)
    gets, puts = 2 * (r["reads"] + r["ends"]), r["tasks"] + r["written_bytes"] / (PART_MIB * MIB)
    r["requests"], r["requests_usd"] = gets + puts, gets * GET + puts * PUT
    bounds = {
        "CPU": r["cpu_s"] / workers,
        "storage": (r["written_bytes"] + r["read_bytes"]) / cluster.bandwidth(),
        "submitter": JOIN * r["output_bytes"] * r["joined"],
    }
    if j["op"] == "partition":
        bounds["the core"] = CORE_SHARE * CORE_RATE * j["edges"] / cluster.cores
        bounds["barriers"] = BARRIERS * BARRIER_S
    r["bound"] = max(bounds, key=lambda b: bounds[b])
    r["wall_s"] = bounds[r["bound"]]
    if j["op"] == "partition" and CORE_BYTES * CORE_SHARE * j["edges"] > cluster.memory:
        r["bound"] = "the core, which is out of core"
    r["machines_usd"] = machines_usd(cluster, r["wall_s"])
    r["engines_usd"] = {e: machines_usd(cluster, max(r["wall_s"], with_engine(j, r, e) / workers)) for e in ENGINES}
    limits = {
        "reads of files": math.sqrt(MOST_READS / max(r["most_reads"], 1)),
        "tasks of a stage": MOST_FILES / r["most_tasks"],
        "nodes of a type": MOST_NODES / j["nodes"],
        "memory of a machine": cluster.memory / cluster.cores / r["memory_bytes"],
    }
    if j["op"] == "local":
        limits["store in memory"] = cluster.memory / store
    if j["op"] == "partition":
        limits["nodes of a type"] = MOST_DIVIDED / j["nodes"]
    r["first"] = min(limits, key=lambda x: limits[x])
    r["grows"] = limits[r["first"]]
    r["refused"] = r["first"] if r["grows"] < 1 else ""
    return r


def jobs(edges: int) -> list[dict[str, Any]]:
    """Import with both directions, sample one subgraph of the fanout 10,5 per node, and dispatch, of a graph with 100 edges per node."""
    nodes = edges // 100
    graph = {"edges_of_graph": edges, "nodes": nodes}
    drawn = {
        "seeds": nodes,
        "requests": 10 * nodes,
        "answered": 50 * nodes,
        "edges": 60 * nodes,
        "most_edges": 60,
        "hops": 2,
        "ids": False,
        "output_bytes": 750 * nodes,
    }
    return [
        {"op": "import", "edges": edges, "both": True, "text_bytes": 20 * edges, **graph},
        {"op": "local", **drawn, **graph},
        {"op": "shuffle", **drawn, **graph},
        {"op": "partition", "edges": edges, **graph},
        {"op": "dispatch", "edges": edges, "parts": min(max(edges // 10**8, 8), 1024), **graph},
    ]


# Why a job is not possible, by the limit that it passes.
REFUSED = {
    "reads of files": "too many reads of files, which is refused; divide it by `--rank`",
    "tasks of a stage": "too many tasks, which is refused; divide it by `--rank`",
    "nodes of a type": "a store has no type of 2<sup>32</sup> nodes, and `partition` divides 2<sup>31</sup>",
    "memory of a machine": "the tasks of all cores exceed the memory of a machine; run fewer at a time",
    "store in memory": "the store exceeds the memory of each machine; `--method auto` takes shuffle",
}
SIZES = [(8, 1), (9, 2), (10, 8), (11, 32)]  # edges, as powers of ten, and machines


def forecast() -> list[dict[str, Any]]:
    """The rows of the table."""
    return [
        {"edges": 10**power, "machines": machines, "op": j["op"], **forecast_of(j, Cluster(machines))} for power, machines in SIZES for j in jobs(10**power)
    ]


def hours(s: float) -> str:
    """Text of seconds."""
    return f"{s:.0f} s" if s < 100 else f"{s / 60:.0f} min" if s < 7200 else f"{s / 3600:.1f} h"


def amount(b: float) -> str:
    """Text of bytes."""
    unit = max((u for u in range(5) if b >= 1000**u), default=0)
    return f"{b / 1000**unit:.3g} {['B', 'kB', 'MB', 'GB', 'TB'][unit]}"


def count(n: float) -> str:
    """Text of a number."""
    unit = max((u for u in range(4) if n >= 1000**u), default=0)
    return f"{n / 1000**unit:.3g}{['', 'k', 'M', 'G'][unit]}"


def main() -> None:
    """Print what is asked for."""
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = a.add_mutually_exclusive_group(required=True)
    what.add_argument("--forecast", action="store_true")
    what.add_argument("--costs", action="store_true")
    what.add_argument("--bytes", metavar="JOB.json")
    a.add_argument("--json", action="store_true")
    o = a.parse_args()
    if o.bytes:
        with open(o.bytes, encoding="utf-8") as f:
            j = json.load(f)
        print(json.dumps(predict(j, j["workers"])))
        return
    rows = forecast()
    if o.json:
        print(json.dumps(rows, indent=1))
        return
    names = {"import": "import --both", "local": "sample, local", "shuffle": "sample, shuffle", "partition": "partition", "dispatch": "dispatch"}
    if o.costs:
        print(
            "| edges | job | "
            + " | ".join(rows[0]["engines_usd"])
            + " | requests, if the storage is S3 |\n|---|---|"
            + "--:|" * (len(rows[0]["engines_usd"]) + 1)
        )
        for r in rows:
            if r["edges"] >= 10**9 and not r["refused"]:
                all_usd = [*r["engines_usd"].values(), r["requests_usd"]]
                print(
                    f"| 10<sup>{len(str(r['edges'])) - 1}</sup> | {names[r['op']]} | "
                    + " | ".join(f"{usd:.2f}" if usd < 10 else f"{usd:.0f}" for usd in all_usd)
                    + " |"
                )
        return
    print(
        "| edges | machines | job | tasks | time | CPU | written | read | peak on the storage | memory of a worker | requests to S3 | bound by | what breaks first |\n|"
        + "---|" * 13
    )
    for r in rows:
        head = f"| 10<sup>{len(str(r['edges'])) - 1}</sup> | {r['machines']} | {names[r['op']]} "
        if r["refused"]:
            print(head + "| " * 9 + f"| | **not possible**: {REFUSED[r['refused']]} |")
            continue
        print(
            head
            + f"| {count(r['tasks'])} | {hours(r['wall_s'])} | {hours(r['cpu_s'])} | {amount(r['written_bytes'])} | {amount(r['read_bytes'])} | {amount(r['peak_bytes'])} "
            f"| {amount(r['memory_bytes'])} | {count(r['requests'])} | {r['bound']} | {r['first']}, at {r['grows']:.2g} x |"
        )


if __name__ == "__main__":
    main()
