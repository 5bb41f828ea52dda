"""Stores of a running Neo4j: compared with what its own driver gives, and with the imports of what APOC exports of the same database.

GRAPHMILL_COMMAND is the path of the command. The environment is the one of bench/peers.sh neo4j.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings
from typing import Any
from unittest import mock

import graphmill
import numpy as np
from graphmill import GraphmillError, Store
from graphmill._bolt import rows as bolt_rows
from graphmill._bolt import server as bolt_server
from neo4j_server import PASSWORD, USER, Server, cut

AUTH = (USER, PASSWORD)

EVERYTHING = """CREATE
 (a:Person {name: 'Ann', age: 42, big: 9223372036854775807, small: -9223372036854775808, h: 1.5, nan: 0.0/0.0, inf: -1.0/0.0, ok: true, empty: '', odd: 'ä \\u2028 "q", \\n',
  born: date('1980-02-29'), first: date('0001-01-01'), last: date('9999-12-31'), at: datetime('2024-01-02T03:04:05.123456789+02:00'),
  named: datetime('2024-07-02T03:04:05[Europe/Berlin]'), ms: datetime('1969-12-31T23:59:59.999Z'), us: localdatetime('2024-01-02T03:04:05.000001'), far: localdatetime('9999-12-31T23:59:59'),
  t: localtime('12:00:01.5'), tz: time('12:00:00+01:00'), dur: duration('P1Y2M3DT4H5M6.7S'), p: point({x: 1, y: -2}), q: point({latitude: 1, longitude: 2, height: 3}),
  xs: [1, 2, 3], fs: [1.5, 2], ss: ['a', 'b,c', ''], bs: [true, false], ds: [date('2020-01-01')], none: [], `we``ird name`: 1}),
 (b:Person {name: 'Bob', fs: [], ss: [], bs: [true], p: point({x: 3, y: 4, crs: 'cartesian'}), age: 7, ok: false, xs: [4]}),
 (c:Person), (d:Person:Actor {name: 'Cid'}), (e {x: 1}), (f:`a:b` {x: 'text'}),
 (a)-[:KNOWS {since: 2020, at: date('2020-01-01')}]->(b), (b)-[:KNOWS {since: 2021}]->(a), (a)-[:KNOWS]->(a), (a)-[:ACTED_IN {roles: ['x']}]->(d), (d)-[:`of:kind`]->(e), (e)-[:X]->(f)"""


def held(value: Any, server: Server) -> Any:
    """A value of the driver in the form in which a store has it. The server counts the milliseconds of times."""
    import neo4j.spatial
    import neo4j.time

    if isinstance(value, neo4j.time.DateTime):
        return ("time", server.run("RETURN datetime($x).epochMillis", x=value)[0][0] // 1000 * 10**9 + value.nanosecond)
    if isinstance(value, neo4j.time.Date):
        return ("time", server.run("RETURN datetime({date: $x}).epochSeconds", x=value)[0][0] * 10**9)
    if isinstance(value, (neo4j.time.Time, neo4j.time.Duration)):
        return value.iso_format()
    if isinstance(value, neo4j.spatial.Point):
        return list(value)
    if isinstance(value, list):
        return [x.iso_format() if isinstance(x, neo4j.time.Date) else x for x in value]
    return value


def values(columns: Any, rows: int) -> list[dict[str, Any]]:
    """The fields of each row that are not missing, of times in nanoseconds."""
    out: list[dict[str, Any]] = [{} for _ in range(rows)]
    for name in columns:
        if name.startswith("#") or name.endswith("_missing"):
            continue
        gone = columns.column(name + "_missing").values if name + "_missing" in columns else np.zeros(rows, bool)
        c = columns.column(name)
        per = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}.get(c.unit or "", 0)
        for i, v in enumerate(c.tolist()):
            if c.unit:
                if int(v) != np.iinfo(np.int64).min:
                    out[i][name] = ("time", int(v) * per)
            elif not gone[i]:
                out[i][name] = v.item() if isinstance(v, np.generic) else v.tolist() if isinstance(v, np.ndarray) else v
    return out


def same(a: Any, b: Any) -> bool:
    """Equal in value and type, with NaN equal to NaN."""
    if isinstance(a, dict) and isinstance(b, dict):
        return set(a) == set(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and (a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b)))


def ids(store: Store, type_: str) -> list[Any]:
    """The original ids of the nodes of a type."""
    of = store.nodes[type_].ids
    assert of is not None
    return of.tolist()


def content(store: Store) -> tuple[dict[str, list[Any]], dict[Any, list[Any]]]:
    """Nodes by type as fields in order, and edges by type as the numbers of their ends and fields, in the order of the input."""
    nodes = {t: values(n.columns, n.count) for t, n in store.nodes.items()}
    edges = {}
    for e, x in store.edges.items():
        rows = list(zip(*x.edge_index().tolist(), values(x.columns, x.count)))
        edges[e] = [rows[i] for i in np.argsort(x.columns.column("#input_position").values)] if "#input_position" in x.columns else rows
    return nodes, edges


class TestWithoutDriver(unittest.TestCase):
    """The driver is optional."""

    def test_not_installed(self) -> None:
        with mock.patch.dict(sys.modules, {"neo4j": None}), self.assertRaises(ModuleNotFoundError) as e:
            graphmill.read("neo4j+s://db.example.com")
        self.assertEqual(str(e.exception), 'neo4j+s://db.example.com: found no module neo4j, expected it; install it: pip install "graphmill[neo4j]"')

    def test_options_of_databases(self) -> None:
        for option in ("auth", "database", "mark", "queries"):
            with (
                self.subTest(option),
                self.assertRaisesRegex(ValueError, f"found {option}= with the file edges.csv, expected it with the address of a database"),
            ):
                given: Any = {option: "x"}
                graphmill.read("edges.csv", **given)


@unittest.skipUnless(importlib.util.find_spec("neo4j"), "the peer neo4j is not installed")
class TestNeo4j(unittest.TestCase):
    server: Server

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.path = self.folder / "g.store"

    def read(self, **options: Any) -> Store:
        store = graphmill.read(options.pop("address", self.server.address), options.pop("path", self.path), auth=AUTH, **options)
        assert isinstance(store, Store)
        return store

    def refused(self, *words: str, **options: Any) -> str:
        """The database is refused in a line that names it and has no password, and nothing changes on the disk."""
        before = {p: p.stat().st_mtime_ns for p in self.folder.rglob("*")}
        with self.assertRaises(GraphmillError) as e:
            self.read(**options)
        text = str(e.exception)
        for word in words:
            self.assertIn(word, text)
        self.assertNotIn("\n", text)
        self.assertNotIn(PASSWORD, text)
        self.assertEqual({p: p.stat().st_mtime_ns for p in self.folder.rglob("*")}, before)
        return text

    def of_driver(self) -> tuple[dict[str, list[Any]], dict[Any, list[Any]]]:
        """What the driver gives, as content has it."""
        nodes: dict[str, list[Any]] = {}
        edges: dict[Any, list[Any]] = {}
        number, names = {}, {}
        for (n,) in self.server.run("MATCH (n) RETURN n"):
            t = ";".join(sorted(n.labels)).replace(":", "%3A") or "_N"
            number[n.element_id] = len(nodes.setdefault(t, []))
            names[n.element_id] = t
            nodes[t].append({k: held(v, self.server) for k, v in n.items()})
        for (r,) in self.server.run("MATCH ()-[r]->() RETURN r"):
            a, b = r.start_node.element_id, r.end_node.element_id
            edges.setdefault((names[a], r.type.replace(":", "%3A"), names[b]), []).append(
                (number[a], number[b], {k: held(v, self.server) for k, v in r.items()})
            )
        return nodes, edges

    def test_all_types(self) -> None:
        """Each value is the one that the driver gives, and each node and edge is there."""
        self.server.fill(EVERYTHING)
        store = self.read()
        nodes, edges = content(store)
        for of in nodes.values():
            for row in of:
                for name in [n for n in row if n.endswith(".srid")]:
                    if name.removesuffix(".srid") not in row:
                        self.assertEqual(row[name], 0)
                    del row[name]
        want_nodes, want_edges = self.of_driver()
        self.assertEqual(set(nodes), set(want_nodes))
        for t in nodes:
            for got, want in zip(nodes[t], want_nodes[t]):
                self.assertTrue(same(got, want), f"{t}: {got}\n{want}")
        self.assertEqual(set(edges), set(want_edges))
        for e in edges:
            self.assertEqual(edges[e], want_edges[e])
        p = store.nodes["Person"].columns
        self.assertEqual(p.column("p.srid").values.tolist(), [7203, 7203, 0])
        self.assertEqual(p.column("q.srid").values.tolist(), [4979, 0, 0])
        self.assertEqual(
            {n: p.column(n).unit for n in ("born", "first", "at", "named", "ms", "us", "far")},
            {"born": "s", "first": "s", "at": "ns", "named": "s", "ms": "ms", "us": "us", "far": "s"},
        )
        want = [n.element_id for (n,) in self.server.run("MATCH (n:Person) WHERE NOT n:Actor RETURN n")]
        self.assertEqual(ids(store, "Person"), want)

    def test_in_batches(self) -> None:
        """Rows that are written after every few give the same store."""
        self.server.fill(EVERYTHING, "UNWIND range(1, 100) AS i CREATE (:Person {name: toString(i), ss: [x IN range(1, i % 3) | 'é' + x], bs: [i > 3]})")
        whole = self.read(path=self.folder / "whole.store")
        with mock.patch.object(bolt_rows, "_ROWS", 7):
            parts = self.read()
        for got, want in zip(content(parts), content(whole)):
            self.assertTrue(all(same(list(map(list, map(_listed, got[t]))), list(map(list, map(_listed, want[t])))) for t in want))
        self.assertEqual(*({p.relative_to(s): p.read_bytes() for p in sorted((s / "nodes").rglob("*.bin"))} for s in (self.path, self.folder / "whole.store")))

    def test_exports(self) -> None:
        """The store is the one that an import of APOC's export makes, besides the ids, which are the numbers of nodes there."""
        self.server.fill(
            """UNWIND range(1, 300) AS i
               CALL apoc.create.node(CASE i % 4 WHEN 0 THEN ['A'] WHEN 1 THEN ['B', 'A'] WHEN 2 THEN [] ELSE ['C'] END,
                 {n: i, f: i / 7.0, ok: i % 2 = 0, text: 'x' + i, at: datetime({epochMillis: i * 1000003}), xs: [i, i + 1], words: ['a' + i, 'b']}) YIELD node
               WITH node, i WHERE i % 5 = 0 SET node.rare = i, node.word = 'w' + i, node.mixed = CASE WHEN i % 2 = 0 THEN i ELSE i + 0.5 END""",
            """MATCH (a), (b) WHERE a.n * 7 % 300 = b.n OR a.n * 11 % 300 = b.n
               CALL apoc.create.relationship(a, CASE a.n % 2 WHEN 0 THEN 'R' ELSE 'S' END, {w: a.n * 0.25, k: b.n}, b) YIELD rel RETURN count(rel)""",
        )
        ours = self.read()
        for kind in ("json", "csv"):
            file = self.server.exported(kind, self.folder / f"all.{kind}")
            theirs = graphmill.read(file, self.folder / f"{kind}.store", missing="int=column,bool=column,float=column")
            assert isinstance(theirs, Store)
            self.assertEqual({t: n.count for t, n in ours.nodes.items()}, {t: n.count for t, n in theirs.nodes.items()})
            got, want = content(ours), content(theirs)
            for t in got[0]:
                for a, b in zip(got[0][t], want[0][t]):
                    b = {k: v for k, v in b.items() if v != "" or k in a}  # a text that is missing
                    b.update({k: json.loads(b[k]) for k in ("xs", "words") if isinstance(b[k], str)})  # as CSV has lists
                    if "mixed" in b:  # floats there, where a node of any type has one
                        a = {**a, "mixed": float(a["mixed"])}
                    if kind == "csv":  # whose floats have 32 bits
                        a = {k: float(np.float32(v)) if isinstance(v, float) else v for k, v in a.items()}
                    self.assertTrue(same(a, b), f"{kind} {t}: {a}\n{b}")
            self.assertEqual(set(got[1]), set(want[1]))
            for e in got[1]:
                self.assertEqual(sorted(map(repr, got[1][e])), sorted(map(repr, want[1][e])))  # w is a float of 32 bits, too

    def test_key(self) -> None:
        """A property is the id, of all nodes or by label."""
        self.server.fill("CREATE (a:P {id: 7, name: 'a'}), (b:Q {name: 'b'}), (a)-[:R]->(b), (b)-[:R]->(a)")
        store = self.read(key={"P": "id", "Q": "name"})
        self.assertEqual([ids(store, "P"), ids(store, "Q")], [[7], ["b"]])
        self.assertEqual([list(store.nodes["P"].columns), list(store.nodes["Q"].columns)], [["name"], []])
        self.assertEqual(store.edges[("P", "R", "Q")].edge_index().tolist(), [[0], [0]])
        self.assertEqual(ids(self.read(key="name", overwrite=True), "P"), ["a"])
        self.refused("node", "(Q)", "found no value in 'id'", "leave key= out", key="id", overwrite=True)
        with self.assertWarnsRegex(UserWarning, "key=: found no node with the label 'p' or 'q', expected one of P, Q; nodes of labels without a key"):
            self.read(key={"p": "id", "q": "id", "Q": "name"}, overwrite=True)
        for empty in ("", {"P": ""}, {"": "id"}):
            with self.assertRaisesRegex(ValueError, "found an empty name in key=, expected a property"):
                self.read(key=empty, overwrite=True)
        self.server.run("CREATE (:P {id: 7})")
        self.refused("7", key={"P": "id"}, overwrite=True)
        self.server.run("MATCH (n:P) SET n.id = CASE WHEN n.name IS NULL THEN 'x' ELSE 7 END")
        self.refused("nodes P", "keys that are integers and keys that are texts", key={"P": "id"}, overwrite=True)
        self.server.run("MATCH (n:P) SET n:Q")
        self.refused("the keys id and name, expected one", key={"P": "id", "Q": "name"}, overwrite=True)

    def test_mixed(self) -> None:
        """Values of several kinds are texts, and a warning says it; what no column can hold is left out, with a warning."""
        self.server.fill(
            "CREATE (:P {a: 1, b: 1, c: 1, l: [1], d: date('2020-01-01'), n: 9007199254740993}), (b:P {a: 'x', b: 2.5, c: true, l: ['x'], d: datetime('2020-01-01T00:00:00Z'), n: 0.5}), (b)-[:R]->(b)"
        )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            store = self.read()
        said_of = {name: next(str(w.message) for w in said if f"property {name!r}" in str(w.message)) for name in "acdln"}
        self.assertIn("nodes P: property 'a': found values of several kinds, integer and string, expected one; the column has the text of each", said_of["a"])
        self.assertIn("left out", said_of["l"])
        self.assertEqual(
            content(store)[0]["P"],
            [
                {"a": "1", "b": 1.0, "c": "1", "d": "2020-01-01", "n": "9007199254740993"},
                {"a": "x", "b": 2.5, "c": "true", "d": "2020-01-01T00:00:00.000000000+00:00", "n": "0.5"},
            ],
        )

    def test_queries(self) -> None:
        """Queries in place of the whole graph, whose columns are those of their results."""
        self.server.fill("UNWIND range(0, 9) AS i CREATE (:P {k: 'p' + i, age: i})", "MATCH (a:P), (b:P) WHERE b.age = a.age + 1 CREATE (a)-[:R {w: 0.5}]->(b)")
        queries = {
            "old": "MATCH (p:P) WHERE p.age > 4 RETURN p.k AS id, p.age AS age ORDER BY p.age",
            ("old", "next", "old"): "MATCH (a:P)-[r]->(b:P) WHERE a.age > 4 RETURN a.k AS src, b.k AS dst, r.w AS w",
        }
        store = self.read(queries=queries)
        self.assertEqual(ids(store, "old"), ["p5", "p6", "p7", "p8", "p9"])
        self.assertEqual(store.edges[("old", "next", "old")].edge_index().tolist(), [[0, 1, 2, 3], [1, 2, 3, 4]])
        for words, query in (
            (("query of old", "a node, a relationship or a path in the column 'p'", "RETURN n.name AS name"), "MATCH (p:P) RETURN p"),
            (("found a query that the server refuses", "nvalid input"), "MATCH (p:P RETURN p"),
            (("query of old", "found no rows"), "MATCH (p:NoSuchLabel) RETURN p.k AS id"),
            (("found a query that the server refuses", "Writing in read access mode not allowed"), "CREATE (p:Q) RETURN 1 AS id"),
        ):
            self.refused(*words, queries={**queries, "old": query}, overwrite=True)
        self.assertEqual(self.server.run("MATCH (n:Q) RETURN count(n)"), [[0]])

    def grow(self, first: int, last: int) -> None:
        self.server.run("UNWIND range($a, $b) AS i CREATE (:P {id: i, at: datetime({epochSeconds: i, nanosecond: i}), name: 'n' + i})", a=first, b=last)
        self.server.run("MATCH (a:P), (b:P) WHERE b.id = a.id + 1 AND b.id >= $a CREATE (a)-[:R {at: b.at, w: b.id}]->(b)", a=first)

    def test_marks(self) -> None:
        """A store that grew is the one of all rows; nothing new changes nothing."""
        self.server.fill()
        self.grow(1, 5)
        store = self.read(mark="at", key="id")
        for first, last in ((6, 6), (7, 20)):
            before = {p: p.stat().st_mtime_ns for p in self.path.rglob("*")}
            self.assertEqual(self.read(mark="at", key="id").nodes["P"].count, first - 1)
            self.assertEqual({p: p.stat().st_mtime_ns for p in self.path.rglob("*")}, before)
            self.grow(first, last)
            store = self.read(mark="at", key="id")
            self.assertEqual(store.nodes["P"].count, last)
        self.assertEqual(len(store.meta["segments"]), 2)
        whole = self.read(mark="at", key="id", path=self.folder / "whole.store")
        self.assertEqual(content(store), content(whole))
        self.assertEqual(ids(store, "P"), ids(whole, "P"))
        graphmill.run("compact", self.path)
        self.grow(21, 22)
        self.assertEqual(self.read(mark="at", key="id").nodes["P"].count, 22)

    def test_marks_in_zones(self) -> None:
        """A moment is one in all zones: its rows are not read again."""
        for mark in ("at", "day", "local", "number", "text"):
            with self.subTest(mark):
                self.server.fill(
                    "CREATE (a:P {at: datetime('2024-01-01T12:00:00Z'), day: date('2024-01-01'), local: localdatetime('2024-01-01T12:00:00.5'), number: 5, text: 'é'})"
                )
                self.server.run(
                    "CREATE (:P {at: datetime('2024-01-01T14:00:00+02:00'), day: date('2023-01-01'), local: localdatetime('2024-01-01T12:00:00.5'), number: -5, text: 'a'})"
                )
                self.server.run("MATCH (n:P) CREATE (n)-[r:R]->(n) SET r = n")
                path = self.folder / mark
                self.assertEqual(self.read(mark=mark, path=path).nodes["P"].count, 2)
                self.assertEqual(self.read(mark=(mark, mark), path=path).nodes["P"].count, 2)
                self.server.run(
                    "CREATE (n:P {at: datetime('2024-01-01T14:00:00.000000001+02:00'), day: date('2024-01-02'), local: localdatetime('2024-01-01T12:00:00.6'), number: 6, text: 'éa'})"
                )
                store = self.read(mark=mark, path=path)
                self.assertEqual([store.nodes["P"].count, len(store.meta["segments"])], [3, 1])

    def test_marks_of_changes(self) -> None:
        """A node with a new mark that the store has gets its new values, also where others are new."""
        self.server.fill()
        self.grow(1, 4)
        self.server.run("MATCH (n:P {id: 4}) SET n.rare = 1.5, n.age = 3")
        self.read(mark="at", key="id")
        self.server.run("MATCH (n:P {id: 2}) SET n.at = datetime({epochSeconds: 100}), n.name = 'new', n.rare = 2.5")
        self.assertEqual(content(self.read(mark="at", key="id"))[0]["P"][1], {"name": "new", "rare": 2.5, "at": ("time", 100 * 10**9)})
        self.server.run("MATCH (n:P {id: 4}) SET n.at = datetime({epochSeconds: 200}), n.rare = null, n.age = null")
        self.server.run("CREATE (:P {id: 9, at: datetime({epochSeconds: 300}), name: 'n9', age: 5})")
        nodes = content(self.read(mark="at", key="id"))[0]["P"]
        self.assertEqual(nodes[3:], [{"name": "n4", "at": ("time", 200 * 10**9)}, {"name": "n9", "age": 5, "at": ("time", 300 * 10**9)}])
        self.server.run("MATCH (n:P {id: 1})-[r]->() SET r.at = datetime({epochSeconds: 300})")
        with self.assertWarnsRegex(UserWarning, "found 1 between nodes that have an edge"):
            self.assertEqual(self.read(mark="at", key="id").edges[("P", "R", "P")].count, 4)

    def test_refused_marks(self) -> None:
        """What would be read differently later is refused, and the store is as it was."""
        self.server.fill()
        self.grow(1, 4)
        self.refused("relationship", "found no value in 'when', expected a time, an integer or a text", mark=("at", "when"))
        self.refused("node", "(P)", "found no value in 'when'", mark=("when", "at"))
        self.read(mark="at", key="id")
        self.refused("found a store whose mark is the property 'at', expected mark='at'", mark="name", key="id")
        undo = "MATCH (n:P) WHERE n.id > 4 OR n.id IS NULL DETACH DELETE n"
        for words, query in (
            (("(P)", "found no value in 'at'"), "CREATE (:P {id: 5, name: 'x'})"),
            (("found a string and a datetime in 'at', expected marks of one kind",), "CREATE (:P {id: 5, name: 'x', at: '2030'})"),
            (("found True in 'at'",), "CREATE (:P {id: 5, name: 'x', at: true})"),
            (("nodes P: found the property 'other', expected the columns of the store, at, name",), "CREATE (:P {id: 5, name: 'x', at: datetime(), other: 1})"),
            (("nodes P: property 'name': found integer in new or changed rows, expected string",), "CREATE (:P {id: 5, name: 7, at: datetime()})"),
            (("nodes P: property 'name': found 1 new or changed rows without it",), "CREATE (:P {id: 5, at: datetime()})"),
        ):
            self.server.run(query)
            self.refused(*words, mark="at", key="id")
            self.server.run(undo)
        self.server.fill("CREATE (a:P {at: 1})-[:R {at: 1}]->(a)")
        self.read(overwrite=True, mark="at")
        self.server.run("MATCH (n:P) SET n:Q, n.at = 2")
        self.refused("found the labels P;Q, expected P as in the store", mark="at")
        self.read(overwrite=True)
        self.refused("found a store without marks of a database", mark="at")

    def test_marks_of_queries(self) -> None:
        """$mark is null, and then the last mark."""
        self.server.fill("UNWIND range(0, 9) AS i CREATE (:P {k: 'p' + i, age: i})")
        queries = {
            "P": "MATCH (p:P) WHERE $mark IS NULL OR p.age > $mark RETURN p.k AS id, p.age AS age ORDER BY p.age",
            "P:R:P": "MATCH (p:P) WHERE $mark IS NULL OR p.age > $mark RETURN 'p0' AS src, p.k AS dst, p.age AS age ORDER BY p.age",
        }
        self.read(queries=queries, mark="age")
        self.server.run("CREATE (:P {k: 'new', age: 10})")
        for _ in range(2):
            store = self.read(queries=queries, mark={"P": "age", "P:R:P": "age"})
            self.assertEqual([ids(store, "P")[-1], store.edges[("P", "R", "P")].count, len(store.meta["segments"])], ["new", 11, 1])
        self.refused(
            "query of P",
            "found a row whose 'age' is not above the mark",
            "$mark IS NULL OR x.age > $mark",
            queries={"P": "MATCH (p:P) RETURN p.k AS id, p.age AS age"},
            mark="age",
        )
        with self.assertRaisesRegex(ValueError, "found mark= of p, expected types among those of queries=, P; correct the name"):
            self.read(queries={"P": "MATCH (p:P) RETURN p.k AS id, p.at AS at"}, mark={"p": "at"}, overwrite=True)
        self.refused("expected the mark 'at' among them", queries={"P": "MATCH (p:P) RETURN p.k AS id, p.age AS age"}, mark="at", overwrite=True)

    def test_no_database(self) -> None:
        """What cannot be reached is an error in a line, and leaves nothing behind."""
        self.server.fill("CREATE (a:P)-[:R]->(a)")
        self.refused("127.0.0.1:1: found no server that answers", address="bolt://127.0.0.1:1")
        self.refused("/nope: found a query that the server refuses", database="nope")
        self.refused("bolt://127.0.0.1:7687: found a user in the address", address=f"bolt://{USER}:{PASSWORD}@127.0.0.1:7687")
        self.refused("found a path in the address", address=self.server.address + "/movies")
        self.server.fill()
        self.refused("found no nodes, expected some")
        self.server.run("CREATE (:P)")
        self.refused("found no relationships, expected some")
        with self.assertRaisesRegex(GraphmillError, "found a server that wants a user and a password, expected them in the environment; set NEO4J_USERNAME"):
            graphmill.read(self.server.address, self.path)
        with self.assertRaisesRegex(GraphmillError, "found a user or password that the server refuses"):
            graphmill.read(self.server.address, self.path, auth=(USER, "wrong-word"))

    def test_lost_connections(self) -> None:
        """A server that ends in the middle leaves nothing behind, and a store that grows as it was."""
        self.server.fill()
        self.grow(1, 3000)
        with mock.patch.object(bolt_server, "_RETRIES", 0.5):
            for after in (10, 3000, 100_000):
                with self.subTest(after), cut(self.server.port, after) as address:
                    self.refused("found no server that answers", address=address, mark="at", key="id")
            self.read(mark="at", key="id")
            self.grow(3001, 6000)
            with cut(self.server.port, 100_000) as address:
                self.refused("found no server that answers", address=address, mark="at", key="id")
        self.assertEqual(self.read(mark="at", key="id").nodes["P"].count, 6000)

    def test_command(self) -> None:
        """The command reads the user and the password from the environment."""
        self.server.fill("CREATE (a:P {name: 'a', at: 1})-[:R {at: 1}]->(b:Q {title: 'b', at: 2})")
        arguments = [
            sys.executable,
            "-m",
            "graphmill",
            "import",
            self.server.address,
            "--out",
            str(self.path),
            "--key",
            "P=name",
            "--key",
            "Q=title",
            "--mark",
            "at",
        ]
        env = {**os.environ, "NEO4J_USERNAME": USER, "NEO4J_PASSWORD": PASSWORD}
        for nodes in (1, 2):
            p = subprocess.run(arguments, capture_output=True, text=True, env=env)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertEqual(Store(self.path).nodes["P"].count, nodes)
            self.server.run("CREATE (:P {name: 'c', at: 3})")
        p = subprocess.run(arguments, capture_output=True, text=True, env={**env, "NEO4J_PASSWORD": "wrong-word"})
        self.assertEqual(p.returncode, 1)
        self.assertTrue(p.stderr.startswith(f"graphmill: {self.server.address}: found a user or password"), p.stderr)
        self.assertNotIn("wrong-word", p.stderr + p.stdout)


def _listed(row: Any) -> list[Any]:
    return [row] if isinstance(row, dict) else list(row)


if __name__ == "__main__":
    unittest.main()
