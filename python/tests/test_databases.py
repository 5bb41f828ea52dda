"""Graphs of databases, from a real server of PostgreSQL: compared with RelBench's make_pkey_fkey_graph; passwords, and connections that are lost.

GRAPHMILL_COMMAND is the path of the command. The environment is the one of bench/peers.sh databases.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time
import unittest
from typing import Any

import graphmill
import numpy as np
from graphmill import NodeLoader
from graphmill._command import command
from server import PASSWORD, Server


def database(seed: int, reviews: int = 400) -> dict[str, list[Any]]:
    """Tables by name, as lists of rows: users, items, and reviews of both, some without a user, with times."""
    draw = random.Random(seed)
    users = [(i, draw.randrange(90)) for i in range(30)]
    items = [(i, draw.random()) for i in range(20)]
    rows = [(i, draw.choice([None, *range(30)]), draw.randrange(20), draw.randrange(1_500_000_000, 1_600_000_000), draw.random()) for i in range(reviews)]
    return {"users": users, "items": items, "reviews": rows}


def fill(server: Server, tables: dict[str, list[Any]]) -> None:
    """Replaces the tables of the server, with the rows in another order than their keys."""

    def value(v: object) -> str:
        return "NULL" if v is None else repr(v)

    text = """DROP TABLE IF EXISTS reviews; DROP TABLE IF EXISTS users; DROP TABLE IF EXISTS items;
        CREATE TABLE users (id int PRIMARY KEY, age int NOT NULL);
        CREATE TABLE items (id bigint PRIMARY KEY, price float8 NOT NULL);
        CREATE TABLE reviews (rid int PRIMARY KEY, "user" int REFERENCES users, item bigint NOT NULL REFERENCES items, at timestamptz NOT NULL, stars float8 NOT NULL);\n"""
    for name, rows in tables.items():
        rows = random.Random(1).sample(rows, len(rows))
        lines = ["(" + ", ".join(f"to_timestamp({v})" if name == "reviews" and i == 3 else value(v) for i, v in enumerate(row)) + ")" for row in rows]
        text += f"INSERT INTO {name} VALUES {', '.join(lines)};\n"
    server.sql(text)


@unittest.skipUnless(importlib.util.find_spec("relbench"), "RelBench is not installed")
class TestDatabases(unittest.TestCase):
    server: Server

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def imported(self, *more: str, address: str | None = None, password: str = PASSWORD) -> tuple[pathlib.Path, subprocess.CompletedProcess[str]]:
        out = self.folder / "g.store"
        env = {**os.environ, "PGPASSWORD": password, "PGPASSFILE": os.devnull}
        p = subprocess.run([command(), "import", address or self.server.address, "--out", str(out), "--force", *more], capture_output=True, text=True, env=env)
        self.assertNotIn(PASSWORD, p.stderr + p.stdout)
        return out, p

    def test_relbench(self) -> None:
        """The same nodes, edges and times, for random tables."""
        import pandas as pd
        from relbench.base import Database, Table
        from relbench.modeling.graph import make_pkey_fkey_graph
        from relbench.modeling.utils import get_stype_proposal

        for seed in range(3):
            tables = database(seed)
            fill(self.server, tables)
            out, p = self.imported("--time-column", "reviews.at")
            self.assertEqual(p.returncode, 0, p.stderr)
            users = pd.DataFrame(tables["users"], columns=["id", "age"])
            items = pd.DataFrame(tables["items"], columns=["id", "price"])
            reviews = pd.DataFrame(tables["reviews"], columns=["rid", "user", "item", "at", "stars"])
            reviews["user"] = reviews["user"].astype("Int64")
            reviews["at"] = pd.to_datetime(reviews["at"], unit="s").astype("datetime64[ns]")
            of = {"users": Table(users, {}, "id"), "items": Table(items, {}, "id"), "reviews": Table(reviews, {"user": "users", "item": "items"}, "rid", "at")}
            db = Database(of)
            theirs, _ = make_pkey_fkey_graph(db, get_stype_proposal(db))
            with graphmill.Store(out) as store:
                nodes, edges = store.to_arrays()
            self.assertEqual({t: len(x) for t, x in tables.items()}, {t: theirs[t].num_nodes for t in tables})
            for t, rows in tables.items():
                np.testing.assert_array_equal(nodes[t].get("#id", np.arange(len(rows))), [r[0] for r in rows])
            np.testing.assert_array_equal(nodes["reviews"]["at"].values, theirs["reviews"].time.numpy())
            named = {
                ("reviews", "f2p_user", "users"): ("reviews", "user", "users"),
                ("reviews", "f2p_item", "items"): ("reviews", "item", "items"),
                ("users", "rev_f2p_user", "reviews"): ("users", "rev_user", "reviews"),
                ("items", "rev_f2p_item", "reviews"): ("items", "rev_item", "reviews"),
            }
            self.assertEqual(set(theirs.edge_types), set(named))
            self.assertEqual(set(edges), set(named.values()))
            for theirs_of, ours_of in named.items():
                pairs = sorted(zip(*theirs[theirs_of].edge_index.tolist()))
                self.assertEqual(sorted(zip(*np.asarray(edges[ours_of]["edge_index"]).tolist())), pairs)
                when = dict(enumerate(theirs["reviews"].time.tolist()))
                review = np.asarray(edges[ours_of]["edge_index"])[0 if ours_of[0] == "reviews" else 1]
                np.testing.assert_array_equal(edges[ours_of]["at"].values, [when[r] for r in review.tolist()])

    def test_never_the_future(self) -> None:
        """Batches of users at a time have no review of that time or later."""
        fill(self.server, database(7))
        out, p = self.imported("--time-column", "reviews.at")
        self.assertEqual(p.returncode, 0, p.stderr)
        now = np.full(30, 1_550_000_000)
        found = 0
        with NodeLoader(out, [-1, -1], 10, "users", scope="seed", before_nodes={"reviews": "at"}, seed_time=now) as loader:
            for b in loader:
                at = np.asarray(b.x["reviews"]["at"]).astype("datetime64[s]").astype(np.int64)
                found += len(at)
                self.assertLess(at.max(), now[0])
        self.assertGreater(found, 100)

    def test_the_same(self) -> None:
        """Another order of the rows on the disk gives the same store."""
        fill(self.server, database(2))
        first, p = self.imported("--time-column", "reviews.at")
        self.assertEqual(p.returncode, 0, p.stderr)
        before = {f.name: f.read_bytes() for f in first.glob("*/**/*.npy")}
        self.server.sql("UPDATE users SET age = age; UPDATE reviews SET stars = stars WHERE rid % 3 = 0;")
        again, p = self.imported("--time-column", "reviews.at")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual({f.name: f.read_bytes() for f in again.glob("*/**/*.npy")}, before)

    def test_wrong(self) -> None:
        for address, password, want in (
            (None, "other", "password authentication failed"),
            (self.server.address + "x", PASSWORD, 'database "postgresx" does not exist'),
            (self.server.address.replace(str(self.server.port), "1"), PASSWORD, "connection refused"),
            (self.server.address.replace("postgres@", f"postgres:{PASSWORD}@"), PASSWORD, "found a password in the address of the database"),
        ):
            with self.subTest(want):
                _out, p = self.imported(address=address, password=password)
                self.assertIn(want, p.stderr)
                self.assertIn(p.returncode, (1, 2))
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_no_secret(self) -> None:
        fill(self.server, database(3))
        out, p = self.imported()
        self.assertEqual(p.returncode, 0, p.stderr)
        for f in out.rglob("*"):
            if f.is_file():
                self.assertNotIn(PASSWORD.encode(), f.read_bytes(), f)

    def asked(self, people: str, *more: str, edges: str = "SELECT 1 AS src, 1 AS dst WHERE false") -> tuple[pathlib.Path, subprocess.CompletedProcess[str]]:
        """The import of a graph.yaml with queries."""
        text = f"source: {self.server.address}\nnodes:\n  people:\n    id: {{column: id, dtype: integer}}\n    query: |\n      {people}\n"
        text += f"edges:\n  people:e:people:\n    query: |\n      {edges}\n"
        folder = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "graph.yaml").write_text(text)
        return self.imported("--allow-outside", *more, address=str(folder))

    def test_types(self) -> None:
        """Domains of domains, partitions, enumerations, uuids, numerics and texts of any kind; times that no store can have are errors."""
        clean = "DROP TABLE IF EXISTS c; DROP TABLE IF EXISTS p; DROP TABLE IF EXISTS a; DROP TYPE IF EXISTS mood; DROP DOMAIN IF EXISTS d2; DROP DOMAIN IF EXISTS d1;"
        self.addCleanup(self.server.sql, clean)
        self.server.sql("DROP TABLE IF EXISTS reviews; DROP TABLE IF EXISTS users; DROP TABLE IF EXISTS items; DROP TABLE IF EXISTS kept;" + clean)
        self.server.sql("""CREATE DOMAIN d1 AS numeric; CREATE DOMAIN d2 AS d1; CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE TABLE a (id uuid PRIMARY KEY, m mood, n d2, t text, f float8, k numeric UNIQUE);
            CREATE TABLE p (id int PRIMARY KEY, a uuid REFERENCES a) PARTITION BY RANGE (id);
            CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10); CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
            CREATE TABLE c (p int REFERENCES p, f float8);
            INSERT INTO a VALUES ('00000000-0000-0000-0000-000000000002', 'sad', 1.50, E'x\\r\\ny"', 'NaN', 1), ('00000000-0000-0000-0000-000000000001', NULL, NULL, '\\.', '-0', 2);
            INSERT INTO p VALUES (1, '00000000-0000-0000-0000-000000000002'), (11, '00000000-0000-0000-0000-000000000002');
            INSERT INTO c VALUES (11, 0), (11, '-0'), (1, 'Infinity');""")
        out, p = self.imported()
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        with graphmill.Store(out) as store:
            nodes, edges = store.to_arrays()
        self.assertEqual(set(nodes), {"a", "c", "p"})
        np.testing.assert_array_equal(nodes["a"]["n"], [np.nan, 1.5])
        self.assertEqual([str(t) for t in nodes["a"]["t"]], ["\\.", 'x\r\ny"'])
        self.assertEqual([str(t) for t in nodes["a"]["m"]], ["", "sad"])
        self.assertEqual([str(i) for i in edges["p", "a", "a"]["edge_index"][1]], ["00000000-0000-0000-0000-000000000002"] * 2)
        np.testing.assert_array_equal(nodes["c"]["f"], [np.inf, -0.0, 0.0])
        np.testing.assert_array_equal(np.signbit(nodes["c"]["f"]), [False, True, False])
        for value in ("infinity", "-infinity", "0044-03-15 BC"):
            self.server.sql(f"ALTER TABLE c ADD COLUMN at timestamp; UPDATE c SET at = '{value}';")
            with self.subTest(value):
                _, p = self.imported()
                self.assertEqual(p.returncode, 1)
                self.assertRegex(p.stderr, 'table c, line 2 of its copy in the order of the key: found ".*" in column "at", expected a time')
            self.server.sql("ALTER TABLE c DROP COLUMN at;")

    def test_decimal_keys(self) -> None:
        """1.5 and 1.50 are one key."""
        clean = "DROP TABLE IF EXISTS b; DROP TABLE IF EXISTS a;"
        self.addCleanup(self.server.sql, clean)
        self.server.sql(
            clean
            + """CREATE TABLE a (id numeric PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY, a numeric REFERENCES a);
            INSERT INTO a VALUES (1.50), (2); INSERT INTO b VALUES (1, 1.5), (2, 2.000);"""
        )
        out, p = self.imported()
        self.assertEqual(p.returncode, 0, p.stderr)
        with graphmill.Store(out) as store:
            self.assertEqual(sorted(str(i) for i in store.to_arrays()[1]["b", "a", "a"]["edge_index"][1]), ["1.5", "2"])

    def test_queries(self) -> None:
        """Columns have the types of the results, rows are in their order, and the store names the server."""
        self.server.sql("DROP TABLE IF EXISTS kinds; DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('sad', 'ok');")
        out, p = self.asked(
            "SELECT i AS id, i::numeric / 2 AS half, i % 2 = 0 AS even, lpad(i::text, 3, '0') AS code, date '2024-01-01' + i AS at FROM generate_series(9, 0, -1) i; ",
            edges="WITH e AS (SELECT i FROM generate_series(0, 8) i) SELECT i AS src, i + 1 AS dst, i::float8 AS w FROM e -- a path",
        )
        self.assertEqual(p.returncode, 0, p.stderr)
        with graphmill.Store(out) as store:
            nodes, edges = store.to_arrays()
        people = nodes["people"]
        np.testing.assert_array_equal(people["half"], np.arange(10) / 2)
        np.testing.assert_array_equal(people["even"], np.arange(10) % 2 == 0)
        self.assertEqual([str(c) for c in people["code"]], [f"{i:03}" for i in range(10)])
        self.assertEqual(edges["people", "e", "people"]["edge_index"].shape, (2, 9))
        info = subprocess.run([command(), "info", str(out), "--json"], capture_output=True, text=True, check=True)
        self.assertIn(f'"databases": "{self.server.address}"', info.stdout)
        for f in out.rglob("*"):
            self.assertFalse(f.is_file() and PASSWORD.encode() in f.read_bytes(), f)

    def test_wrong_queries(self) -> None:
        """A query that is not one SELECT, that writes, or that fails late names its type, changes nothing, and leaves nothing."""
        self.server.sql("""DROP TABLE IF EXISTS kept; CREATE TABLE kept (id int); INSERT INTO kept VALUES (1);
            CREATE OR REPLACE FUNCTION adds() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO kept VALUES (2); RETURN 1; END';""")
        for query, want in (
            ("SELEC 1", "syntax error"),
            ("SELECT 1 AS id; DROP TABLE kept", "cannot insert multiple commands"),
            ("SELECT 1 AS id) AS q) TO STDOUT; DROP TABLE kept; COPY (SELECT 1 FROM (SELECT 1", "syntax error"),
            ("UPDATE kept SET id = 3 RETURNING id", "syntax error"),
            ("DROP TABLE kept", "found a statement that has no result"),
            ("SHOW ALL", "syntax error"),
            ("WITH d AS (DELETE FROM kept RETURNING id) SELECT id FROM d", "data-modifying statement"),
            ("SELECT adds() AS id", "read-only transaction"),
            ("SELECT set_config('transaction_read_only', 'off', false) AS id, adds() AS x", "transaction"),
            ("SELECT nextval('kept_seq') AS id", "does not exist"),
            ("SELECT $1::int AS id", "no parameter $1"),
            ("SELECT 1 AS id, 2 AS id", "found two columns"),
            ("SELECT i AS id, 1 / (50000 - i) AS x FROM generate_series(0, 100000) i", "division by zero"),
        ):
            with self.subTest(query):
                _, p = self.asked(query)
                self.assertEqual(p.returncode, 1, p.stderr)
                self.assertRegex(p.stderr, "graph.yaml:5:5: query of people: postgres://")
                self.assertIn(want, p.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])
                self.assertEqual(self.server.sql("SELECT id FROM kept;").split(), ["1"])

    def test_lost_connections(self) -> None:
        """Connections that are ended at 20 moments: an error and an empty folder, or a whole store."""
        fill(self.server, database(4))
        self.server.sql("INSERT INTO reviews SELECT i, i % 30, i % 20, to_timestamp(1500000000 + i), i FROM generate_series(1000, 150000) i;")
        draw, lost, out = random.Random(5), 0, self.folder / "g.store"
        env = {**os.environ, "PGPASSWORD": PASSWORD}
        for _ in range(20):
            p = subprocess.Popen(
                [command(), "import", self.server.address, "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env
            )
            time.sleep(draw.uniform(0.0, 0.3))  # a random moment
            self.server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend';")
            _, err = p.communicate()
            if p.returncode == 0:
                self.assertEqual([f.name for f in self.folder.iterdir()], ["g.store"])
                subprocess.run([command(), "verify", str(out)], check=True, capture_output=True)
                shutil.rmtree(out)
                continue
            lost += 1
            self.assertEqual(p.returncode, 1, err)
            self.assertIn(self.server.address, err)
            self.assertEqual(list(self.folder.iterdir()), [])
        self.assertGreater(lost, 0)


if __name__ == "__main__":
    unittest.main()
