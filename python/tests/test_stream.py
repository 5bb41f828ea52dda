"""NodeLoader on the stream executor: the batches of the memory executor, and its behaviour when processes end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from typing import Any

import made
import numpy as np
from graphmill import GraphmillError, NodeLoader

PLAN = {"seed_type": "package", "direction": "out", "edge_features": "versioned", "seed": 5, "shuffle": True}
COLUMNS = ["installed_size", "size"]


def flat(x: Any) -> Any:
    """The content of a batch, copied."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, dict):
        return {k: flat(v) for k, v in x.items()}
    return x


def same(test: unittest.TestCase, a: Any, b: Any) -> None:
    for name in (
        "number",
        "n_id",
        "edge_index",
        "e_id",
        "x",
        "edge_attr",
        "input_id",
        "seed_local",
        "num_sampled_nodes",
        "num_sampled_edges",
        "links",
        "negatives",
    ):
        np.testing.assert_equal(getattr(b, name), getattr(a, name), f"batch {a.number}: {name}")


def pair(memory: str = "96MiB", **options: Any) -> tuple[NodeLoader, NodeLoader]:
    """A loader on the memory executor, and one on the stream executor."""
    options = {"fanout": [4, 3], "batch_size": 512, "features": COLUMNS, **PLAN, **options}
    return NodeLoader(made.DEBIAN, executor="memory", **options), NodeLoader(made.DEBIAN, executor="stream", memory=memory, **options)


class TestStream(unittest.TestCase):
    def test_equals_memory(self) -> None:
        for options in ({}, {"scope": "seed"}, {"edge_ids": False, "edge_features": "none"}, {"order": "windowed:64,4", "shuffle": False}, {"slots": 1}):
            a, b = pair(**options)
            with a, b:
                self.assertEqual(len(a), len(b))
                for _ in range(2):
                    for x, y in zip(a, b, strict=True):
                        same(self, x, y)

    def test_links(self) -> None:
        a, b = pair(seeds="package:depends:package", seed_type=None, negatives=1, limit_seeds=5000)
        with a, b:
            for x, y in zip(a, b, strict=True):
                same(self, x, y)

    def test_positions(self) -> None:
        a, b = pair()
        with a, b:
            for n, _ in enumerate(b):
                if n == 4:
                    state = b.state_dict()
                    break
            for loader in (a, b):
                loader.load_state_dict(state)  # the same for both executors
            for x, y in zip(a, b, strict=True):
                self.assertGreater(x.number, 4)
                same(self, x, y)
            for loader in (a, b):
                loader.set_epoch(7)
            for x, y in zip(a, b, strict=True):
                same(self, x, y)

    def test_ranks(self) -> None:
        for share in (False, True):
            for tail in ("fill", "drop", "short"):
                loaders = [pair(rank=r, world_size=3, tail=tail, share=share) for r in range(3)]
                for a, b in loaders:
                    for x, y in zip(a, b, strict=True):
                        same(self, x, y)
                for a, b in loaders:
                    a.close()
                    b.close()

    def test_held(self) -> None:
        """Batches that are held longer than there are slots stay as they were."""
        a, b = pair(slots=2)
        with a, b:
            for x, y in zip([flat(vars(x)) for x in a], list(b), strict=True):
                np.testing.assert_equal(y.n_id, x["n_id"])
                np.testing.assert_equal(y.x, x["x"])

    def test_notes(self) -> None:
        options: dict[str, Any] = {"fanout": [4, 3], "batch_size": 64, "features": COLUMNS, "threads": 1, **PLAN}
        more: Any
        for more, want in (
            ({}, "executor memory"),
            ({"memory": "1GiB"}, "executor memory"),
            ({"executor": "stream"}, "executor stream, as executor says"),
            ({"executor": "stream", "memory": "1GiB"}, "forecast: "),
        ):
            with NodeLoader(made.DEBIAN, **options, **more) as loader:
                self.assertIn(want, "\n".join(loader.notes))

    def test_memory(self) -> None:
        """The feed holds no more than it was given, the slots included, and its forecast is near to that."""
        folder, store = made.path("papers"), made.path("papers.store")
        subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "../../examples/larger-than-memory/prepare.py"), folder, "16"], check=True)
        made.graphmill("import", folder, "--out", store)
        for size, threads, slots in (80, 2, 4), (96, 1, 8), (112, 2, 4):
            with (
                made.cold_command(),
                NodeLoader(store, [10, 5], 512, "paper:split=0", shuffle=True, memory=f"{size}MiB", executor="stream", threads=threads, slots=slots) as loader,
            ):
                peak = 0.0
                for _ in range(4):
                    held = list(loader)[-slots + 1 :]
                    with open(f"/proc/{made.feed_of(loader)}/status") as f:
                        own = sum(map(int, re.findall(r"Rss(?:Anon|Shmem):\s+(\d+) kB", f.read()))) / 1024
                    peak = max(peak, own + 22)  # and the pages of the program. Those of other files belong to the page cache, which maps few or many.
                told = float(re.findall(r"([0-9.]+) MiB of memory", loader.notes[-1])[0])
                self.assertLessEqual(peak, size, f"{threads} threads, {slots} slots")
                self.assertLessEqual(told, size)
                self.assertGreater(peak, 0.7 * told)
                del held

    def test_refusals(self) -> None:
        options: dict[str, Any] = {"fanout": [4, 3], "batch_size": 512, "features": COLUMNS, **PLAN}
        more: Any
        for more, want in (
            ({"memory": "30MiB"}, "which the stream executor needs"),
            ({"subgraph_type": "induced"}, "take the memory executor"),
            ({"seeds": "package:depends:package", "seed_type": None, "exclude": "self"}, "take the memory executor"),
            ({"seeds": "package:depends:package", "seed_type": None, "negatives": 1, "negatives_strict": "count"}, "take the memory executor"),
        ):
            with self.assertRaisesRegex(GraphmillError, want):
                NodeLoader(made.DEBIAN, executor="stream", **{**options, **more})
        with self.assertRaisesRegex(ValueError, "found executor='disk', expected one of auto, memory"):
            NodeLoader(made.DEBIAN, executor="disk", **options)

    def test_ends(self) -> None:
        """A process that reads a batch and ends, with the loader open, ends at once, and so does its feed."""
        code = (
            "import sys; sys.path.insert(0, sys.argv[2]); from graphmill import NodeLoader\n"
            "loader = NodeLoader(sys.argv[1], fanout=[4, 3], batch_size=64, executor='stream', seed_type='package', direction='out', features='none')\n"
            "batch = next(iter(loader)); print(loader._process.pid, flush=True)\n"
        )
        where = os.path.join(os.path.dirname(__file__), "../src")
        for end in ("", "import os; os._exit(0)\n", "loader.close()\n", "raise SystemExit(3)\n", "del loader\n", "import os; os.kill(os.getpid(), 9)\n"):
            p = subprocess.run([sys.executable, "-c", code + end, made.DEBIAN, where], capture_output=True, text=True, timeout=60)  # against a hang
            self.assertTrue(p.stdout.strip().isdecimal(), p.stderr)
            self.assertEqual(p.stderr, "")
            self.assertTrue(gone(int(p.stdout)), end)


def gone(pid: int, seconds: float = 5) -> bool:
    from test_loader import gone as of

    return of(pid, seconds)


if __name__ == "__main__":
    unittest.main()
