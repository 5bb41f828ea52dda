"""Questions for the subgraphs of single nodes: graphmill serve over its socket, graphmill-flight, or a bare echo.

usage: peer_questions.py STORE --make SCALE --graphmill COMMAND
       peer_questions.py STORE --by frames|exchange|calls|echo --client go|python --graphmill COMMAND --flight COMMAND --asker COMMAND --connections C --questions N
                         [--rate R] [--appends] [--cgroup FOLDER]

With --make it makes a store of R-MAT with 100 floats per node, and a file of the nodes with at least 15 in-edges. The server of a run is started here; with
--appends a segment of 1,000 edges is appended each second while questions are asked, and the server takes each version over. With --cgroup the server joins a memory
cgroup, whose limit counts the page cache too, and the store is taken out of the page cache first.

Prints one JSON: questions per second, percentiles of their time in milliseconds, bytes of an answer, and CPU microseconds per question of client and server.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import threading
import time
from typing import Any

import numpy as np

FLOATS = 100


def make(args: argparse.Namespace) -> None:
    """The store, and the nodes that are asked for."""
    import graphmill

    folder = args.store + ".tables"
    os.makedirs(folder, exist_ok=True)
    drawn = os.path.join(folder, "drawn.store")
    subprocess.run([args.graphmill, "generate", "rmat", "--scale", str(args.make), "--edge-factor", "16", "--out", drawn, "--no-report"], check=True, stdout=2)
    (edges,) = graphmill.Store(drawn).edges.values()
    np.save(os.path.join(folder, "edges.npy"), edges.edge_index("input"))
    shutil.rmtree(drawn)
    x = np.lib.format.open_memmap(os.path.join(folder, "x.npy"), "w+", np.float32, (1 << args.make, FLOATS))
    r = np.random.default_rng(1)
    for i in range(0, len(x), 1 << 18):
        x[i : i + (1 << 18)] = r.random((min(1 << 18, len(x) - i), FLOATS), np.float32)
    x.flush()
    with open(os.path.join(folder, "graph.yaml"), "w") as f:
        f.write("nodes: {_N: {columns: {x: x.npy}}}\nedges: {'_N:_E:_N': {table: edges.npy}}\n")
    del x, edges
    subprocess.run([args.graphmill, "import", folder, "--out", args.store, "--no-report"], check=True, stdout=2)
    shutil.rmtree(folder)
    (edges,) = graphmill.Store(args.store).edges.values()
    degrees = np.diff(np.asarray(edges.indptr).astype(np.int64))
    np.flatnonzero(degrees >= 15).astype(np.int64).tofile(args.store + ".seeds")


def asks_frames(socket: str, seeds: Any, questions: int, connection: int, rate: float, start: Any) -> Any:
    """The times of questions by the client of the Python package."""
    import graphmill

    with graphmill.Client(socket) as client:
        client.ask(seeds=seeds[0])
        return timed(lambda v: client.ask(seeds=v).x["x"].shape, seeds, questions, connection, rate, start)


def asks_exchange(address: str, seeds: Any, questions: int, connection: int, rate: float, start: Any) -> Any:
    """The same in one exchange of pyarrow, with all columns as NumPy arrays."""
    import pyarrow.flight as fl

    client = fl.connect(f"grpc://{address}")
    writer, reader = client.do_exchange(fl.FlightDescriptor.for_command(b""))

    def ask(v: int) -> int:
        writer.write_metadata(b'{"seeds":[%d]}' % v)
        columns = reader.read_chunk().data.columns
        return sum(len(c.values.to_numpy()) for c in columns)

    ask(seeds[0])
    took = timed(ask, seeds, questions, connection, rate, start)
    writer.done_writing()
    return took


def timed(ask: Any, seeds: Any, questions: int, connection: int, rate: float, start: Any) -> Any:
    r = np.random.default_rng(connection)
    asked = seeds[r.integers(0, len(seeds), questions)].tolist()
    took = np.zeros(questions)
    start.wait()
    first = time.perf_counter()
    for i, v in enumerate(asked):
        began = time.perf_counter()
        if rate:
            began = first + i / rate
            time.sleep(max(0.0, began - time.perf_counter()))
        ask(v)
        took[i] = time.perf_counter() - began
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return took, time.perf_counter() - first, usage.ru_utime + usage.ru_stime


def python_client(args: argparse.Namespace, where: str) -> dict[str, Any]:
    """Processes that ask, each with a connection."""
    ask = asks_frames if args.by == "frames" else asks_exchange
    seeds = np.fromfile(args.store + ".seeds", np.int64)
    n = args.questions // args.connections
    with multiprocessing.get_context("spawn").Manager() as manager, multiprocessing.get_context("spawn").Pool(args.connections) as pool:
        start = manager.Barrier(args.connections)
        runs = pool.starmap(ask, [(where, seeds, n, i, args.rate / args.connections, start) for i in range(args.connections)], 1)
    took = np.concatenate([t for t, _, _ in runs]) * 1e3
    return {
        "questions_per_second": len(took) / max(s for _, s, _ in runs),
        "p50": float(np.quantile(took, 0.5)),
        "p99": float(np.quantile(took, 0.99)),
        "max": float(took.max()),
        "client_cpu": sum(c for _, _, c in runs),
    }


def go_client(args: argparse.Namespace, where: str) -> dict[str, Any]:
    command = [args.asker, "--connections", str(args.connections), "--questions", str(args.questions), "--rate", str(args.rate)]
    command += ["--echo", "69600"] if args.by == "echo" else ["--socket" if args.by == "frames" else f"--{args.by}", where, "--seeds", args.store + ".seeds"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    out["client_cpu"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return out


def cpu(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def settle(pid: int) -> None:
    """Wait until a server that has just started has made what it copies."""
    while True:
        before = cpu(pid)
        time.sleep(1)
        if cpu(pid) - before < 0.05:
            return


def evict(store: str, cgroup: str) -> list[str]:
    """Take a store out of the page cache; return the words before a command that joins a memory cgroup."""
    for folder, _, names in os.walk(store):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                os.fdatasync(f.fileno())
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', os.path.join(cgroup, "cgroup.procs")]


def appends(args: argparse.Namespace, store: str, ended: threading.Event) -> None:
    """Append a segment each second until the end."""
    r = np.random.default_rng(7)
    nodes = len(np.fromfile(args.store + ".seeds", np.int64))
    while not ended.wait(1):
        tables = f"{store}.edges.csv"
        with open(tables, "w") as f:
            f.write("src,dst\n" + "".join(f"{a},{b}\n" for a, b in r.integers(0, nodes, (1000, 2)).tolist()))
        subprocess.run(["nice", "-n", "19", args.graphmill, "append", store, tables, "--quiet"], check=True, stdout=2)


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("store")
    p.add_argument("--make", type=int)
    p.add_argument("--by", choices=["frames", "exchange", "calls", "echo"])
    p.add_argument("--client", choices=["go", "python"], default="go")
    p.add_argument("--graphmill", default="graphmill")
    p.add_argument("--flight", default="graphmill-flight")
    p.add_argument("--asker")
    p.add_argument("--connections", type=int, default=4)
    p.add_argument("--questions", type=int, default=20000)
    p.add_argument("--rate", type=float, default=0)
    p.add_argument("--appends", action="store_true")
    p.add_argument("--cgroup")
    args = p.parse_args()
    if args.make:
        make(args)
        return
    client = python_client if args.client == "python" else go_client
    if args.by == "echo":
        out = go_client(args, "")
        print(json.dumps({**out, "client_us": 1e6 * out["client_cpu"] / args.questions, "server_us": 0}))
        return
    store = args.store
    if args.appends:  # of a copy, whose files are hard links
        store = args.store + ".grows"
        shutil.rmtree(store, ignore_errors=True)
        subprocess.run([args.graphmill, "snapshot", args.store, "--segments", "0", "--out", store], check=True, stdout=2)
    program = [args.graphmill, "serve"] if args.by == "frames" else [args.flight]
    socket = store + ".sock"
    flags = ["--socket", socket] if args.by == "frames" else []
    flags += ["--refresh", "200ms"] if args.appends else []
    join = evict(store, args.cgroup) if args.cgroup else []
    with subprocess.Popen([*join, *program, store, "--fanout", "15,10", *flags], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            ready = json.loads(server.stdout.readline())
            where = socket if args.by == "frames" else ready["addr"]
            warm = argparse.Namespace(**{**vars(args), "questions": 200 if args.cgroup else 8000, "rate": 0})
            client(warm, where)  # pages of the store
            settle(server.pid)
            ended = threading.Event()
            growing = threading.Thread(target=appends, args=(args, store, ended))
            if args.appends:
                growing.start()
            before = cpu(server.pid)
            out = client(args, where)
            used = cpu(server.pid) - before
            ended.set()
            if args.appends:
                growing.join()
        finally:
            server.terminate()
            server.wait()
    out["client_us"], out["server_us"] = (1e6 * s / args.questions for s in (out.pop("client_cpu"), used))
    print(json.dumps(out))


if __name__ == "__main__":
    main()
