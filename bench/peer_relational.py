"""From the tables of a database to batches for training, by Graphmill and by RelBench with PyG.

usage: peer_relational.py --by graphmill|relbench --command GRAPHMILL --work FOLDER --batches N [--threads T] [--workers W]

Prints one JSON. DATABASE is the address of a database that examples/relational-postgres/shop.py made, PGPASSWORD its password.
graphmill imports it with `graphmill import` and takes batches by NodeLoader with T threads. relbench reads the tables by ADBC as Arrow, the fastest of the ways
that its users have, and makes pandas frames of them; make_pkey_fkey_graph needs them, and materialises their columns by PyTorch Frame. The batches are
PyG's, in the trainer's process or in W workers, by the sampler of relbench_peer.py. Both give PyG's HeteroData with
all columns of the rows: 512 people at times in the first half of 2025, and what had happened before; the fanout 128,64 and
the 512 are as in RelBench's examples. The clock starts after the imports of Python.

"peak_bytes" is the memory of this process and its descendants without the server: the sum of the proportional shares (PSS),
which counts shared pages once. "edges" counts all batches.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "relational-postgres"))
BATCH, FANOUT = 512, [128, 64]
FROM, UNTIL = np.array(["2025-01-01", "2025-06-30"], "datetime64[s]").astype(np.int64)


def tree(pid: int | str) -> list[int | str]:
    """The process and its descendants."""
    found: list[int | str] = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a process that ended meanwhile
            found += [p for child in task.read_text().split() for p in tree(child)]
    return found


def share(pid: int | str) -> int:
    """The bytes of a process, of pages that n processes share an n-th."""
    try:
        return next(1024 * int(line.split()[1]) for line in open(f"/proc/{pid}/smaps_rollup") if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def watch(peak: list[int], done: threading.Event) -> None:
    """Keeps the highest memory of all processes in peak[0], looking five times a second."""
    while not done.wait(0.2):
        peak[0] = max(peak[0], sum(map(share, tree(os.getpid()))))


def chosen(count: int, people: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The people of the batches and their times, in seconds."""
    draw = np.random.default_rng(0)
    return draw.integers(0, people, BATCH * count), draw.integers(FROM, UNTIL, BATCH * count)


def graphmill(args: argparse.Namespace, mark: Callable[[str], None]) -> Iterator[Any]:
    from graphmill import NodeLoader, Store

    store = pathlib.Path(args.work) / "relational.store"
    shutil.rmtree(store, ignore_errors=True)
    flags = ["--time-column", "orders.at", "--time-column", "reviews.at", "--threads", str(args.threads), "--out", str(store)]
    subprocess.run([args.command, "import", os.environ["DATABASE"], *flags], check=True, stdout=sys.stderr)
    mark("graph_seconds")
    with Store(store) as s:
        people = len(s.nodes["people"])
    who, at = chosen(args.batches, people)
    with NodeLoader(
        str(store), FANOUT, BATCH, who, "people", as_="pyg", scope="seed", before_nodes={"orders": "at", "reviews": "at"}, seed_time=at, threads=args.threads
    ) as loader:
        yield from loader
    shutil.rmtree(store)


def relbench(args: argparse.Namespace, mark: Callable[[str], None]) -> Iterator[Any]:
    import adbc_driver_postgresql.dbapi
    import relbench_peer

    address = os.environ["DATABASE"].replace("@", f":{os.environ['PGPASSWORD']}@", 1)
    tables = {}
    with adbc_driver_postgresql.dbapi.connect(address) as connection, connection.cursor() as cursor:
        for t in relbench_peer.KEYS:
            cursor.execute(f"SELECT * FROM {t}")
            f = tables[t] = cursor.fetch_arrow_table().to_pandas().sort_values("id", ignore_index=True)
            if "at" in f:
                f["at"] = f["at"].dt.tz_localize(None).astype("datetime64[ns]")  # RelBench takes other units for nanoseconds
    mark("read_seconds")
    data = relbench_peer.graph(tables)
    mark("graph_seconds")
    who, at = chosen(args.batches, len(tables["people"]))
    del tables, f
    yield from relbench_peer.loader(data, who, at, FANOUT, batch_size=BATCH, num_workers=args.workers)


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("--by", required=True, choices=["graphmill", "relbench"])
    p.add_argument("--command", required=True)
    p.add_argument("--work", required=True)
    p.add_argument("--batches", type=int, required=True)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--workers", type=int, default=0)
    args = p.parse_args()
    torch.set_num_threads(1)
    by = {"graphmill": graphmill, "relbench": relbench}[args.by]
    if args.by == "graphmill":
        import torch_geometric.data  # noqa: F401  before the clock, as the others
    else:
        import relbench_peer  # noqa: F401
    peak, done, told = [0], threading.Event(), {}
    watcher = threading.Thread(target=watch, args=(peak, done))
    watcher.start()
    began, batches, edges = time.perf_counter(), 0, 0

    def mark(name: str) -> None:
        told[name] = time.perf_counter() - began

    try:
        for batch in by(args, mark):
            if not batches:
                mark("first_batch_seconds")
            batches += 1
            edges += sum(batch[e].edge_index.shape[1] for e in batch.edge_types)
        mark("seconds")
    finally:
        done.set()
        watcher.join()
    print(json.dumps({**told, "batches": batches, "edges": edges, "batches_per_second": batches / told["seconds"], "peak_bytes": peak[0]}))


if __name__ == "__main__":
    main()
