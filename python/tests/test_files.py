"""Files that a Python library reads: the stores have what the library itself reads.

GRAPHMILL_COMMAND is the path of the command. The environment is the one of bench/peers.sh files. Files of other programs are in testdata/files beside this one.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import warnings
from typing import Any

import numpy as np
from graphmill import Collection, GraphmillError, Store, read
from graphmill._command import command
from graphmill._files.kinds import KINDS

FILES = pathlib.Path(__file__).parent / "testdata" / "files"
STRANGERS = pathlib.Path(__file__).parents[2] / "testdata" / "strangers"  # absent outside the repository
E = ("_N", "_E", "_N")


def values(columns: Any, rows: int) -> list[dict[str, Any]]:
    """The fields of each row that are not missing."""
    out: list[dict[str, Any]] = [{} for _ in range(rows)]
    for name in columns:
        if name.startswith("#") or name.endswith("_missing"):
            continue
        gone = columns.column(name + "_missing").values if name + "_missing" in columns else np.zeros(rows, bool)
        c = columns.column(name)
        for i, v in enumerate(c.tolist() if c.unit is None else c.values.view(f"datetime64[{c.unit}]").tolist()):
            if not gone[i] and (c.unit is None or v is not None):
                out[i][name] = v.item() if isinstance(v, np.generic) else v
    return out


def content(store: Any) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any, Any]]]:
    """The nodes of a store of one type, and its edges by their original ids, both with their fields."""
    assert isinstance(store, Store)
    n, x = store.nodes["_N"], store.edges[E]
    ids: list[Any] = list(range(n.count)) if n.ids is None else n.ids.tolist()
    pairs = x.edge_index().tolist()
    return list(zip(ids, values(n.columns, n.count))), [(ids[a], ids[b], f) for a, b, f in zip(*pairs, values(x.columns, len(pairs[0])))]


def files(store: Any) -> dict[str, bytes]:
    """The bytes of the arrays of a store."""
    folder = pathlib.Path(store.path)
    paths = [p for of in ("nodes", "edges") for p in (folder / of).rglob("*") if p.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths}


def in_order(edges: Any) -> list[Any]:
    return sorted(edges, key=lambda e: [sorted(f.items()) if isinstance(f, dict) else f for f in e].__repr__())


class Case(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def file(self, name: str, content: str | bytes) -> pathlib.Path:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def refused(self, path: pathlib.Path, *words: str, **options: Any) -> None:
        """The file is refused in a line that names it, and nothing is left beside it."""
        before = sorted(os.listdir(self.folder))
        with self.assertRaises(GraphmillError) as e:
            read(path, self.folder / "refused.store", **options)
        text = str(e.exception)
        self.assertTrue(text.startswith(str(path) + ":"), text)
        self.assertNotIn("\n", text)
        for word in words:
            self.assertIn(word, text)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def same(self, got: Any, nodes: Any, edges: Any) -> None:
        have_nodes, have_edges = content(got)
        self.assertEqual(have_nodes, list(nodes))
        self.assertEqual(in_order(have_edges), in_order(edges))


def both(edges: Any) -> list[Any]:
    """Each edge in both directions, and a self-loop once."""
    return [e for a, b, f in edges for e in ([(a, b, f)] if a == b else [(a, b, f), (b, a, f)])]


NEEDS = unittest.skipUnless(all(map(importlib.util.find_spec, ("fastobo", "h5py", "igraph", "osmium", "rdflib", "rdkit"))), "the peer files is not installed")


def package(name: str, *path: str) -> pathlib.Path:
    """A file that the package of a library has."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    return pathlib.Path(spec.origin).parent.joinpath(*path)


def plain(of: Any) -> dict[str, Any]:
    """Attributes of networkx as the fields of a store."""
    out: dict[str, Any] = {}
    for name, v in of.items():
        out.update({f"{name}.{n}": x for n, x in plain(v).items()} if isinstance(v, dict) else {} if v is None or isinstance(v, list) else {name: v})
    return out


@NEEDS
class TestFilesDrawn(Case):
    """Files of programs that draw and analyse networks."""

    def of_networkx(self, path: pathlib.Path, g: Any) -> None:
        edges = [(a, b, plain(d)) for a, b, d in g.edges(data=True)]
        self.same(read(path), [(k, plain(d)) for k, d in g.nodes(data=True)], edges if g.is_directed() else both(edges))

    def test_gml(self) -> None:
        import networkx

        g = networkx.MultiGraph([("ü", "€", {"w": 1}), ("ü", "€", {"w": 2}), ("ü", "ü", {"w": 3})])
        text = "\n".join(networkx.generate_gml(g))
        want = networkx.parse_gml(text, label="id")
        for name, content in (("a.gml", text), ("b.gml", text.replace("multigraph 1", ""))):  # networkx alone refuses the latter
            self.same(read(self.file(name, content)), want.nodes(data=True), both(want.edges(data=True)))

    def test_gml_of_others(self) -> None:
        """As Newman's program writes it, without labels; labels that repeat, in UTF-8; nested values; a comment; no nodes; compression."""
        import bz2
        import gzip
        import lzma

        import pyarrow

        newman = 'Creator "Mark Newman on Fri Jul 21 12:39:27 2006"\ngraph\n[\n  node\n  [\n    id 1\n  ]\n  node\n  [\n    id 2\n  ]\n  edge\n  [\n    source 2\n    target 1\n  ]\n]\n'
        self.same(read(self.file("karate.gml", newman)), [(1, {}), (2, {})], [(2, 1, {}), (1, 2, {})])
        zst = bytes(pyarrow.compress(newman.encode(), codec="zstd", asbytes=True))
        for last, data in (
            ("gz", gzip.compress(newman.encode())),
            ("xz", lzma.compress(newman.encode())),
            ("bz2", bz2.compress(newman.encode())),
            ("zst", zst),
        ):
            self.same(read(self.file(f"karate.gml.{last}", data)), [(1, {}), (2, {})], [(2, 1, {}), (1, 2, {})])
        twice = '# a comment\ngraph [ directed 1\n node [ id 7 label "✅" graphics [ x 1.5 y 2 ] ]\n node [ id 9 label "✅" v -3 ]\n edge [ source 7 target 9 ]\n edge [ source 7 target 9 ] ]'
        want = [(7, {"label": "✅", "graphics.x": 1.5, "graphics.y": 2}), (9, {"label": "✅", "v": -3})]
        self.same(read(self.file("twice.gml", twice)), want, [(7, 9, {}), (7, 9, {})])
        self.same(read(self.file("none.gml", "graph [ ]")), [], [])

    def test_bad(self) -> None:
        self.refused(self.folder / "no.gml", "found no file")
        self.refused(self.file("a.gml", "graph [ node [ id 1"), "networkx cannot read", "expected a GML file")
        self.refused(self.file("b.gml", "graph [ ]\ngraph [ ]"), "several graphs")
        self.refused(self.file("c.gml", b'graph [\n node [ id 1 label "\xe4" ] ]'), ":2: found the byte 0xe4", "iconv")
        self.refused(self.file("d.gexf", "<gexf>"), "networkx cannot read")
        self.refused(self.file("e.dot", "digraph {"), "pydot cannot read")
        self.refused(self.file("f.net", "*Vertices 2\n*Arcs\n1 3\n"), ":3: found '1 3'", "vertices of 1 to 2")
        self.refused(self.file("f2.net", "*Vertices 2000000000\n"), "2000000000 vertices")
        self.refused(self.file("g.gdf", "nodedef>name VARCHAR,n INT\na,x\n"), ":2:", "correct the line")
        self.refused(self.file("h.g6", "\x01"), "networkx cannot read")
        self.refused(self.file("i.gml", 'graph [ node [ id 1 label "a" ] node [ id "1" label "b" ] ]'), "whose texts differ")
        with self.assertRaises(ValueError):
            read(self.file("k.gml", "graph [ ]"), kind="gmll")

    def test_symmetrise(self) -> None:
        """It is refused where the file has edges in both directions, and else adds the others."""
        undirected = {
            "a.gml": "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]",
            "b.net": "*Vertices 2\n*Edges\n1 2\n",
            "c.dot": "graph { a -- b }",
            "d.g6": "A_\n",
            "e.g6": "A_\nA_\n",
            "f.gexf": '<gexf><graph><nodes/><edges><edge source="1" target="2"/></edges></graph></gexf>',
            "g.smi": "CC\n",
        }
        for name, text in undirected.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.refused(self.file(name, text), "found symmetrise=", "both directions", symmetrise=True)
        self.same(read(self.file("h.dot", "digraph { a -> b }"), symmetrise=True), [("a", {}), ("b", {})], [("a", "b", {}), ("b", "a", {})])

    def test_empty(self) -> None:
        import gzip

        for kind in KINDS.values():
            for end in kind.endings:
                self.refused(self.file(f"a{end}", ""), "found an empty file, expected " + kind.what)
        self.refused(self.file("a.gml.gz", gzip.compress(b"")), "found an empty file")

    def test_existing_output(self) -> None:
        path, out = self.file("a.gml", "graph [ node [ id 1 ] ]"), self.folder / "g.store"
        read(path, out)
        self.assertRaises(GraphmillError, read, path, out)
        read(path, out, overwrite=True)

    def test_gexf(self) -> None:
        import networkx

        for name in ("case", "missing_nodes", "liststring"):
            g = networkx.read_gexf(FILES / f"{name}.gexf")
            for what in ("node", "edge"):
                for item in g.nodes(data=True) if what == "node" else g.edges(data=True):
                    for default, value in g.graph.get(f"{what}_default", {}).items():  # which networkx keeps apart
                        item[-1].setdefault(default, value)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.of_networkx(FILES / f"{name}.gexf", g)
        with self.assertWarnsRegex(UserWarning, "4 ends of edges"):
            read(FILES / "missing_nodes.gexf")

    def test_gexf_beyond_networkx(self) -> None:
        """Files that networkx refuses: edges of both kinds, attributes that are not declared, colours in hexadecimal digits."""
        import networkx

        for name in ("mixed", "undeclared_attribute", "v1_3", "v1_3_writer"):
            self.assertRaises((networkx.NetworkXError, TypeError, KeyError), networkx.read_gexf, FILES / f"{name}.gexf")
        one, two, three = [(k, {"label": v}) for k, v in (("1", "one"), ("2", "two"), ("3", "three"))]
        edges = [("1", "2", {"id": "1"}), ("2", "3", {"id": "2", "label": "Nice edge", "weight": 4.56}), ("3", "1", {"id": "3"}), ("1", "3", {"id": "3"})]
        self.same(read(FILES / "mixed.gexf"), [one, two, three], edges)
        nodes, edges = content(read(FILES / "undeclared_attribute.gexf"))
        self.assertEqual((nodes[0][1], edges[0][2]), ({"label": "Gephi", "url": "http://gephi.org"}, {"count": "43"}))
        nodes, _ = content(read(FILES / "v1_3.gexf"))
        self.assertEqual([nodes[0][1][f"viz.color.{c}"] for c in "rgb"], [255, 0, 255])

    def test_gexf_parallel_edges(self) -> None:
        """Edges with equal ends are all there: without ids, with equal ids, and with the same ends the other way round."""
        head = (
            '<gexf xmlns="http://www.gexf.net/1.2draft"><graph defaultedgetype="%s"><nodes><node id="1"/><node id="2"/></nodes><edges>%s</edges></graph></gexf>'
        )
        for ids in (("", "", ""), ("0", "0", "0"), ("", "1", "1"), ("2", "1", "0")):
            one, two, three = [f'<edge{f" id={chr(34)}{i}{chr(34)}" if i else ""} weight="{w}"' for w, i in enumerate(ids)]
            f = [{"weight": float(w), **({"id": i} if i else {})} for w, i in enumerate(ids)]
            ends = 'source="1" target="2"', 'source="2" target="1"'
            text = head % ("directed", f'{one} {ends[0]}/>{two} {ends[1]} type="mutual"/>{three} {ends[0]}/>')
            want = [("1", "2", f[0]), ("2", "1", f[1]), ("1", "2", f[1]), ("1", "2", f[2])]
            self.assertEqual(in_order(content(read(self.file("a.gexf", text)))[1]), in_order(want))
            text = head % ("undirected", f'{one} {ends[0]}/>{two} {ends[1]}/>{three} {ends[1]} type="directed"/>')
            want = [("1", "2", f[0]), ("2", "1", f[0]), ("2", "1", f[1]), ("1", "2", f[1]), ("2", "1", f[2])]
            self.assertEqual(in_order(content(read(self.file("b.gexf", text)))[1]), in_order(want))

    def test_gexf_times(self) -> None:
        head = '<gexf xmlns="http://www.gexf.net/1.2draft"><graph mode="dynamic" timeformat="%s" defaultedgetype="directed"><nodes><node id="a" label="A" start="%s"/><node id="b" label="B"/></nodes><edges>%s</edges></graph></gexf>'
        edges = '<edge source="a" target="b" start="{0}" end="{1}"/><edge source="b" target="a"><spells><spell start="{0}"/><spell start="{1}" end="{1}"/></spells></edge>'
        nodes, found = content(read(self.file("a.gexf", head % ("double", "1.5", edges.format("2", "3")))))
        self.assertEqual(nodes, [("a", {"label": "A", "time": 1.5}), ("b", {"label": "B"})])
        self.assertEqual(in_order(found), in_order([("a", "b", {"time": 2.0, "end": 3.0}), ("b", "a", {"time": 2.0}), ("b", "a", {"time": 3.0, "end": 3.0})]))
        store = read(self.file("b.gexf", head % ("date", "2012-03-28", edges.format("2012-03-28", "2012-03-29T10:00:00.5Z"))))
        assert isinstance(store, Store)
        times = store.edges[E].columns.column("time")
        self.assertEqual(times.unit, "us")
        self.assertEqual(sorted(map(str, times.values.view("datetime64[us]"))), ["2012-03-28T00:00:00.000000"] * 2 + ["2012-03-29T10:00:00.500000"])
        other = '<edge source="a" target="b" intervals="&lt;[1, 2); [3,4]&gt;"/><edge source="b" target="a" timestamps="&lt;[5.0, 6.0]&gt;"/><edge source="a" target="a"><slices><slice start="7" end="8"/></slices></edge>'
        _, found = content(read(self.file("d.gexf", head % ("double", "1", other))))
        spells = [("a", "b", 1.0, 2.0), ("a", "b", 3.0, 4.0), ("b", "a", 5.0, 5.0), ("b", "a", 6.0, 6.0), ("a", "a", 7.0, 8.0)]
        self.assertEqual(in_order(found), in_order((a, b, {"time": t, "end": u}) for a, b, t, u in spells))
        nodes, found = content(read(self.file("c.gexf", head % ("integer", "1", edges.format("2", "3")))))
        self.assertEqual((nodes[0][1]["time"], type(nodes[0][1]["time"])), (1, int))

    def test_pajek(self) -> None:
        """As networkx reads it, where it can; and what it would read otherwise: arcs above edges, lists, labels that repeat, comments, vertices without lines."""
        import networkx

        text = '*Vertices 3\n1 "a" 0.5 0.25 ellipse ic Red\n2 "b c" 0.1 0.2 box\n3 "€"\n*Arcs\n1 2 3.5 l "x y"\n1 2\n'
        g = networkx.parse_pajek(text)
        place = {d["id"]: k for k, d in g.nodes(data=True)}
        nodes = [(int(i), {"label": k, **{n: v for n, v in g.nodes[k].items() if n != "id"}}) for i, k in place.items()]
        number = {k: int(i) for i, k in place.items()}
        self.same(read(self.file("a.net", text)), nodes, [(number[a], number[b], d) for a, b, d in g.edges(data=True)])
        text = (
            '\ufeff% c\r\n*Network x\r\n*Vertices 5 2\r\n1 "a"\r\n2 "a"\r\n4 d 1 2 0.5 box\r\n*Arcs :1 "r"\r\n1 2 2\r\n*Edges\r\n2 4\r\n*Arcslist\r\n5 1 2\r\n'
        )
        edges = [(1, 2, {"weight": 2.0, "relation": 1}), (2, 4, {}), (4, 2, {}), (5, 1, {}), (5, 2, {})]
        nodes = [(1, {"label": "a"}), (2, {"label": "a"}), (3, {}), (4, {"label": "d", "x": 1.0, "y": 2.0, "z": "0.5", "shape": "box"}), (5, {})]
        for name in ("b.net", "b.paj", "b.txt"):
            self.same(read(self.file(name, text)), nodes, edges)
        self.same(read(self.file("c.net", "*Vertices 2\n*Matrix\n0 2\n0 0\n")), [(1, {}), (2, {})], [(1, 2, {"weight": 2})])
        with self.assertWarnsRegex(UserWarning, r"\*Partition"):
            read(self.file("d.paj", "*Vertices 1\n*Arcs\n1 1\n*Partition p\n*Vertices 1\n1\n"))

    def test_pajek_broken(self) -> None:
        head = "*Vertices 3\n% c\n\n*Arcs\n1 2 3\n"
        for bad in ("2", "2 3 x", "2 4", "a 1", "0 1", "1 -2"):
            self.refused(self.file("a.paj", f"{head}{bad}\n3 1 1.5\n"), f":6: found {bad!r}, expected two vertices")
        self.refused(self.file("b.paj", "*Vertices 3\n*Arcslist\n1 2 x\n"), ":3: found '1 2 x'")
        self.refused(self.file("c.paj", "*Vertices 2\n*Matrix\n0 1\n1\n"), ":4: found '1', expected 2 rows of 2 numbers")
        self.refused(self.file("d.paj", "*Vertices 2\n*Matrix\n0 1\n"), "found 1 rows in *Matrix")

    def test_dot(self) -> None:
        import networkx

        text = 'digraph g { a [label="A b"]; "ü:1" [x=2]; a -> "ü:1" [w=1]; a -> c; a -> c; }'
        g = networkx.nx_pydot.from_pydot(__import__("pydot").graph_from_dot_data(text)[0])
        edges = [(a, b, d) for a, b, d in g.edges(data=True)]
        self.same(read(self.file("a.dot", text)), [(k, {n: v.strip('"') for n, v in d.items()}) for k, d in g.nodes(data=True)], edges)
        names = "graph { a [name=x obj_dict=y]; b [name=z]; a -- b [src=p dst=q name=r] }"  # keywords of pydot's own
        self.same(
            read(self.file("c.dot", names)),
            [("a", {"name": "x", "obj_dict": "y"}), ("b", {"name": "z"})],
            both([("a", "b", {"src": "p", "dst": "q", "name": "r"})]),
        )
        inside = "strict graph { node [shape=box]; subgraph cluster_0 { n0 [foo=a]; n1:p -- n2 }; n0 -- { n1; n3 }; n0 -- n1 }"
        self.same(
            read(self.file("b.gv", inside)),
            [("n0", {"foo": "a"}), ("n1", {}), ("n2", {}), ("n3", {})],
            both([("n1", "n2", {}), ("n0", "n1", {}), ("n0", "n3", {})]),
        )
        self.same(read(self.file("c.dot", "graph {}")), [], [])

    def test_dl(self) -> None:
        import igraph

        for name, text in (
            ("edges", "DL n=5\nformat = edgelist1\nlabels:\ngeorge, sally, jim, billy, jane\ndata:\n1 2 3.5\n1 3 1\n4 3 2\n"),
            ("matrix", "DL N = 3\nData:\n0 1 1\n1 0 0\n0 0 0\n"),
            ("twice", "DL n=2\nformat = edgelist1\nlabels:\na, a\ndata:\n1 2\n"),
        ):
            path = self.file(f"{name}.dl", text)
            g = igraph.Graph.Read_DL(str(path))
            names = g.vs["name"] if name == "edges" else range(g.vcount())
            nodes = [(k, {} if name == "edges" else v.attributes()) for k, v in zip(names, g.vs)]
            self.same(read(path), nodes, [(names[e.source], names[e.target], e.attributes()) for e in g.es])

    def test_gdf(self) -> None:
        text = "nodedef>name VARCHAR,label VARCHAR,n INTEGER, ok BOOLEAN\ns1,'a, b',3,true\ns2,\"ü\",,false\nedgedef>node1 VARCHAR,node2 VARCHAR,weight DOUBLE,directed BOOLEAN\ns1,s2,1.5,true\ns2,s3,2,\n"
        nodes = [("s1", {"label": "a, b", "n": 3, "ok": True}), ("s2", {"label": "ü", "ok": False}), ("s3", {})]
        self.same(read(self.file("a.gdf", text)), nodes, [("s1", "s2", {"weight": 1.5}), ("s2", "s3", {"weight": 2.0}), ("s3", "s2", {"weight": 2.0})])

    def test_leda(self) -> None:
        """As networkx reads it, where labels differ and edges are not parallel; and all nodes and edges where they are not."""
        import networkx

        text = "LEDA.GRAPH\nstring\nint\n{}\n3\n|{{a}}|\n|{{b}}|\n|{{{}}}|\n# c\n2\n1 2 0 |{{4}}|\n{} 3 0 |{{5}}|\n"
        nodes = [(1, {"label": "a"}), (2, {"label": "b"})]
        g = networkx.parse_leda(text.format(-1, "c", 2))
        number = {k: i for i, k in enumerate(g, 1)}
        want = [(number[a], number[b], {"label": int(d["label"])}) for a, b, d in g.edges(data=True)]
        self.same(read(self.file("a.lgr", text.format(-1, "c", 2))), [*nodes, (3, {"label": "c"})], want)
        same = self.file("b.lgr", text.format(-2, "a", 2))
        self.same(read(same), [*nodes, (3, {"label": "a"})], both([(1, 2, {"label": 4}), (2, 3, {"label": 5})]))
        parallel = text.format(-1, "c", 1).replace("1 3 0", "1 2 0")
        self.same(read(self.file("c.lgr", parallel)), [*nodes, (3, {"label": "c"})], [(1, 2, {"label": 4}), (1, 2, {"label": 5})])
        self.refused(self.file("d.lgr", parallel.replace("\n2\n1", "\n3\n1")), ":13: found ''", "edge 3 of 3")
        self.refused(self.file("e.lgr", parallel.replace("\n2\n1", "\n1\n1")), ":12: found '1 2 0 |{5}|'", "expected 1 edges")
        self.refused(self.file("f.lgr", parallel.replace("1 2 0", "1 4 0")), ":11: found the ends 1 and 4")
        self.refused(self.file("g.lgr", parallel.replace("{4}", "{x}")), ":11: found 'x'")

    def test_graph6(self) -> None:
        import networkx

        g = networkx.gnp_random_graph(9, 0.4, seed=1)
        for name, write in (("a.g6", networkx.write_graph6), ("a.s6", networkx.write_sparse6), ("b.g6", None)):
            if write is None:
                (self.folder / name).write_bytes(networkx.to_graph6_bytes(g, header=False))
            else:
                write(g, self.folder / name)
            self.same(read(self.folder / name), [(k, {}) for k in g], both((a, b, {}) for a, b in g.edges()))
        many = [networkx.path_graph(2), networkx.empty_graph(3), networkx.complete_graph(4)]
        c = read(self.file("c.g6", b"".join(networkx.to_graph6_bytes(g, header=False) for g in many)))
        assert isinstance(c, Collection)
        for g, have in zip(many, c):
            self.assertEqual(have.nodes["_N"].count, len(g))
            self.assertEqual(
                in_order(have.edges[E].edge_index.T.tolist()), in_order([[a, b] for x, y, _ in both((a, b, {}) for a, b in g.edges()) for a, b in [(x, y)]])
            )

    def test_strangers(self) -> None:
        """Real files of other programs, those of GRAPHMILL_DATA too: each is read by the command that the hint of graphmill import names."""
        data = os.environ.get("GRAPHMILL_DATA")
        paths = sorted(p for p in FILES.iterdir() if p.suffix not in (".md", ".py", ".xyz"))
        if data:
            paths += [p for end in ("gml", "gexf", "net", "dot", "dl", "g6") for p in sorted(pathlib.Path(data, "strangers").glob(f"*/*.{end}"))]
        self.assertGreater(len(paths), 20 if data else 10)
        for path in paths:
            p = run("import", str(path), "--out", str(self.folder / "out"), "--force")
            if path.name == "twographs-10-28.gml":
                self.assertIn("found several graphs", p.stderr)
            else:
                self.assertEqual(p.returncode, 0, f"{path}: {p.stderr}")

    def test_kinds(self) -> None:
        """Files that other libraries wrote, with what is in them: nodes and edges, or graphs, atoms and bonds."""
        for name, counts in {
            "karate.gdf": (34, 156),
            "cells.h5ad": (4, 6),
            "testsparse_7.4_GLNX86.mat": (8, 7),
            "crossing.osm": (4, 5),
            "crossing.osm.pbf": (4, 5),
            "test-query.ttl": (14, 18),
            "test-query.n3": (14, 18),
            "test-query.jsonld": (14, 18),
            "IRI-resolution-01.trig": (74, 41),
            "test004.rdf": (9, 11),
            "simple.smi": (2, 13, 26),
            "two.sdf": (2, 21, 40),
            "CHEMBL2321810_scaffold.mol": (1, 17, 34),
        }.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                have = read(FILES / name)
            of = (len(have),) if isinstance(have, Collection) else ()
            self.assertEqual((*of, sum(n.count for n in have.nodes.values()), sum(e.count for e in have.edges.values())), counts, name)

    def test_repository_strangers(self) -> None:
        """Files of testdata/strangers that graphmill import refuses with the advice to read them in Python."""
        paths = [p for end in ("gml", "gexf", "net", "dot", "leda", "g6", "s6", "avro", "orc") for p in sorted(STRANGERS.rglob(f"*.{end}"))]
        self.assertGreater(len(paths), 15)
        for path in paths:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                store = read(path)
            assert isinstance(store, Store)
            self.assertGreater(sum(x.count for x in store.edges.values()), 0, path)


@NEEDS
class TestFilesOntologies(Case):
    def as_triples(self, path: pathlib.Path, form: str) -> None:
        """The store equals the one that N-Triples of the same triples give."""
        import rdflib
        from graphmill._files.ontologies import in_order as triples

        blank: dict[Any, str] = {}
        lines: list[str] = []

        def write(*triple: Any) -> None:
            if not isinstance(triple[2], rdflib.Literal):
                lines.append(" ".join(blank.setdefault(x, f"_:b{len(blank)}") if isinstance(x, rdflib.BNode) else x.n3() for x in triple) + " .\n")

        with open(path, "rb") as f:
            triples(f, form, str(path), write)
        want = sum(not isinstance(o, rdflib.Literal) for o in rdflib.Graph().parse(path, format=form).objects(None, None)) if form != "trig" else len(lines)
        self.assertEqual(len(lines), len(set(lines)))
        nt = self.file("want.nt", "".join(lines))
        for relations in ("types", "column"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                a, b = read(path, relations=relations), read(nt, relations=relations)
            assert isinstance(a, Store) and isinstance(b, Store)
            self.assertEqual(files(a), files(b))
            self.assertEqual(sum(x.count for x in a.edges.values()), want)

    def test_rdf(self) -> None:
        head = "@prefix : <http://e.org/x#> . @prefix o: <http://o.org/> .\n"
        turtle = head + ':a :p :b, :c ; o:p :b ; :name "A", "ü"@de . :a :p :b . _:x :p [ :q ( :a "1" ) ] . <rel ü> :p <http://e.org/%20> .\n'.replace(
            "rel ü", "relü"
        )
        self.as_triples(self.file("a[1]@2 ü.ttl", turtle), "turtle")
        self.as_triples(self.file("a.owl", turtle), "turtle")
        self.as_triples(self.file("a.n3", head + ":a :p :b . :a :q 3 ."), "n3")
        self.as_triples(self.file("a.trig", head + ":g { :a :p :b } :h { :a :p :b, :c . }"), "trig")
        self.as_triples(self.file("a.jsonld", '{"@id": "http://e.org/a", "http://e.org/p": {"@id": "http://e.org/b"}}'), "json-ld")
        self.as_triples(FILES / "go-basic.owl", "xml")
        self.refused(self.file("b.ttl", ":a :p :b"), "rdflib cannot read", "expected RDF in Turtle")
        self.refused(self.file("c.ttl", head + ":a :p 1 ."), "no triple whose object is a node")
        self.refused(self.file("c.jsonld", '{"@context": ["https://e.org/c"], "@id": "a"}'), "'https://e.org/c'", "nothing is fetched")
        self.refused(self.file("d.owl", "Ontology(<http://e.org>)"), "functional")
        with self.assertWarnsRegex(UserWarning, "2 triples are left out"):
            read(self.file("e.ttl", head + ":a :p 1, 2, :b ."))

    def test_obo(self) -> None:
        import pronto

        for name in ("cio", "go", "plana"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = pronto.Ontology(FILES / f"{name}.obo", import_depth=0)
            store = read(FILES / f"{name}.obo")
            assert isinstance(store, Store)
            n = store.nodes["term"]
            assert n.ids is not None
            ids = n.ids.tolist()
            for id_, row in zip(ids, values(n.columns, n.count)):
                t = want[id_]
                self.assertIsInstance(t, pronto.Term)
                self.assertEqual((row["name"], row.get("namespace"), row["obsolete"]), (t.name, t.namespace or want.metadata.default_namespace, t.obsolete))
                self.assertEqual(row.get("definition"), None if t.definition is None else str(t.definition))
            self.assertEqual(len(ids), len(list(want.terms())))
            pairs = {(e[1], ids[a], ids[b]) for e, x in store.edges.items() for a, b in x.edge_index().T.tolist()}
            expected = {("is_a", t.id, s.id) for t in want.terms() for s in t.superclasses(distance=1, with_self=False)}
            expected |= {(r.id, t.id, o.id) for t in want.terms() for r, others in t.relationships.items() for o in others}
            self.assertEqual(pairs, expected)
        self.refused(self.file("a.obo", "[Term\n"), "fastobo cannot read")
        with self.assertWarnsRegex(UserWarning, "1 terms that the file names and does not describe, such as Y:2"):
            store = read(self.file("b.obo", "format-version: 1.2\n\n[Term]\nid: X:1\nname: ü\nrelationship: part_of Y:2\n"))
        assert isinstance(store, Store) and store.nodes["term"].ids is not None
        self.assertEqual(store.nodes["term"].ids.tolist(), ["X:1", "Y:2"])


@NEEDS
class TestFilesMatrices(Case):
    def test_mat(self) -> None:
        import scipy.io
        import scipy.sparse

        a = scipy.sparse.random(6, 6, 0.4, random_state=1, format="csc")
        groups = scipy.sparse.csr_matrix(np.eye(6)[:, :3])
        names = np.array(["a", "b", "ü", "d", "", "f"], dtype=object)
        scipy.io.savemat(self.folder / "a.mat", {"network": a, "group": groups, "y": np.arange(6)[:, None], "junk": np.zeros((3, 7)), "names": names})
        with self.assertWarnsRegex(UserWarning, "'junk'"):
            store = read(self.folder / "a.mat")
        nodes, edges = content(store)
        back = np.zeros((6, 6))
        for i, j, f in edges:
            back[i, j] = f["weight"]
        np.testing.assert_array_equal(back, a.toarray())
        self.assertEqual([f["y"] for _, f in nodes], list(range(6)))
        self.assertEqual([f["names"] for _, f in nodes], names.tolist())
        np.testing.assert_array_equal(np.stack([f["group"] for _, f in nodes]), groups.toarray())
        scipy.io.savemat(self.folder / "suite.mat", {"Problem": {"A": a, "name": "x"}})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(in_order(content(read(self.folder / "suite.mat"))[1]), in_order(edges))
        scipy.io.savemat(self.folder / "two.mat", {"P": a, "Q": a * 2})
        self.refused(self.folder / "two.mat", "P [6, 6], Q [6, 6]", "key=")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(len(content(read(self.folder / "two.mat", key="Q"))[1]), a.nnz)
        self.refused(self.folder / "two.mat", "'R'", key="R")
        with self.assertRaisesRegex(ValueError, "found drop_invalid= with .*two.mat, expected it with a file of the kinds smiles, sdf, xyz; leave it out"):
            read(self.folder / "two.mat", drop_invalid=True)

    def test_mat_of_matlab(self) -> None:
        """Files that MATLAB itself wrote, which the package of SciPy has: a matrix that is not square."""
        import scipy.io

        for version in ("4.2c_SOL2", "6.5.1_GLNX86", "7.4_GLNX86"):
            path = package("scipy", "io", "matlab", "tests", "data", f"testsparse_{version}.mat")
            store = read(path)
            assert isinstance(store, Store)
            x = store.edges["row", "_E", "column"]
            want = scipy.io.loadmat(path)["testsparse"].tocoo()
            have = zip(*x.edge_index().tolist(), x.columns.column("weight").values.tolist())
            self.assertEqual(sorted(have), sorted(zip(want.row.tolist(), want.col.tolist(), want.data.tolist())))
            self.assertEqual((store.nodes["row"].count, store.nodes["column"].count), want.shape)
        self.refused(package("scipy", "io", "matlab", "tests", "data", "testcomplex_7.4_GLNX86.mat"), "expected one that is an adjacency matrix")

    def test_hdf5(self) -> None:
        import h5py
        import scipy.sparse

        r = np.random.default_rng(1)
        pairs = r.integers(0, 6, (2, 9))
        with h5py.File(self.folder / "pairs.h5", "w") as f:
            f["graph/edge_index"], f["x"], f["edge_attr"], f["name"] = pairs, r.random((6, 3)), np.arange(9.0), [c.encode() for c in "abüdef"]
            x = f["x"][()]
        nodes, edges = content(read(self.folder / "pairs.h5"))
        self.assertEqual(in_order(edges), in_order((*p, {"edge_attr": float(k)}) for k, p in enumerate(pairs.T.tolist())))
        self.assertEqual([f["name"] for _, f in nodes], list("abüdef"))
        np.testing.assert_array_equal(np.stack([f["x"] for _, f in nodes]), x)
        a = scipy.sparse.random(5, 5, 0.5, random_state=2, format="csr")
        for form in ("csr", "csc"):
            m = a.asformat(form)
            with h5py.File(self.folder / "m.hdf5", "w") as f:
                g = f.create_group("adj")
                g["data"], g["indices"], g["indptr"] = m.data, m.indices, m.indptr
                g.attrs["shape"], g.attrs["encoding-type"] = m.shape, f"{form}_matrix"
            back = np.zeros((5, 5))
            for i, j, fields in content(read(self.folder / "m.hdf5"))[1]:
                back[i, j] = fields["weight"]
            np.testing.assert_array_equal(back, a.toarray())
        m = a.tocsc()
        with h5py.File(self.folder / "v73.mat", "w", userblock_size=512) as f:
            g = f.create_group("A")
            g["data"], g["ir"], g["jc"] = m.data, m.indices.astype(np.uint64), m.indptr.astype(np.uint64)
            g.attrs["MATLAB_sparse"] = 5
            f["label"] = np.arange(5.0)[None]
            f["label"].attrs["MATLAB_class"] = b"double"
        with open(self.folder / "v73.mat", "r+b") as raw:
            raw.write(b"MATLAB 7.3 MAT-file")
        nodes, edges = content(read(self.folder / "v73.mat"))
        self.assertEqual(
            in_order(edges), in_order((i, j, {"weight": v}) for i, j, v in zip(*(x.tolist() for x in (a.tocoo().row, a.tocoo().col, a.tocoo().data))))
        )
        self.assertEqual([f["label"] for _, f in nodes], [0.0, 1.0, 2.0, 3.0, 4.0])
        self.refused(package("h5py", "tests", "data_files", "vlen_string_dset.h5"), "expected one that is an adjacency matrix")
        self.refused(self.file("a.h5", "no"), "h5py cannot read")
        with h5py.File(self.folder / "b.h5", "w") as f:
            f["adj"] = h5py.ExternalLink("m.hdf5", "/adj")
        self.refused(self.folder / "b.h5", "in another file")

    def test_hdf5_columns_of_edges(self) -> None:
        """Names decide, where there are as many edges as nodes."""
        import h5py

        with h5py.File(self.folder / "a.h5", "w") as f:
            f["edge_index"], f["edge_attr"], f["x"], f["other"] = [[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7, 8, 9]
        self.same(
            read(self.folder / "a.h5"),
            [(i, {"x": 4.0 + i, "other": 7 + i}) for i in range(3)],
            [(0, 1, {"edge_attr": 1.0}), (1, 2, {"edge_attr": 2.0}), (2, 0, {"edge_attr": 3.0})],
        )

    def test_mat_pairs(self) -> None:
        """They count from 1, and may be doubles."""
        import h5py
        import scipy.io

        pairs = np.array([[1, 2], [2, 3], [3, 4]])
        for kind in (np.int64, np.uint8, np.float64):
            scipy.io.savemat(self.folder / "a.mat", {"edges": pairs.astype(kind), "edge_weight": [0.5, 1.5, 2.5]})
            self.same(read(self.folder / "a.mat"), [(i, {}) for i in range(4)], [(i, i + 1, {"edge_weight": 0.5 + i}) for i in range(3)])
        with h5py.File(self.folder / "b.mat", "w", userblock_size=512) as f:
            f["edges"] = pairs.T.astype(float)
            f["edges"].attrs["MATLAB_class"] = b"double"
        with open(self.folder / "b.mat", "r+b") as raw:
            raw.write(b"MATLAB 7.3 MAT-file")
        self.same(read(self.folder / "b.mat"), [(i, {}) for i in range(4)], [(i, i + 1, {}) for i in range(3)])
        for name, bad, word in (("c", pairs - 1, "found 0 in edges"), ("d", pairs + 0.5, "found float64 in edges")):
            scipy.io.savemat(self.folder / f"{name}.mat", {"edges": bad})
            self.refused(self.folder / f"{name}.mat", word, "from 1 on, as MATLAB counts")

    def test_anndata(self) -> None:
        import h5py
        import scipy.sparse

        a = scipy.sparse.random(4, 4, 0.5, random_state=2, format="csr")
        with h5py.File(self.folder / "c.h5ad", "w") as f:
            f.attrs["encoding-type"] = "anndata"
            obs = f.create_group("obs")
            obs.attrs["_index"] = "cell"
            obs["cell"], obs["n"] = ["c1", "c2", "c3", "ü"], np.arange(4)
            kind = obs.create_group("kind")
            kind["categories"], kind["codes"] = ["T", "B"], np.array([0, 1, -1, 0], np.int8)
            f["obsm/X_pca"] = np.arange(8.0).reshape(4, 2)
            for name, m in (("connectivities", a), ("distances", a * 2)):
                g = f.create_group(f"obsp/{name}")
                g["data"], g["indices"], g["indptr"] = m.data, m.indices, m.indptr
                g.attrs["shape"], g.attrs["encoding-type"] = m.shape, "csr_matrix"
        nodes, edges = content(read(self.folder / "c.h5ad"))
        self.assertEqual(
            [(k, f["n"], f.get("kind"), f["X_pca"].tolist()) for k, f in nodes],
            [(k, i, kind, [2.0 * i, 2 * i + 1]) for i, (k, kind) in enumerate(zip(["c1", "c2", "c3", "ü"], ["T", "B", None, "T"]))],
        )
        ids = ["c1", "c2", "c3", "ü"]
        coo = a.tocoo()
        self.assertEqual(in_order(edges), in_order((ids[i], ids[j], {"weight": v}) for i, j, v in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist())))
        twice = content(read(self.folder / "c.h5ad", key="distances"))[1]
        self.assertEqual(sum(f["weight"] for *_, f in twice), 2 * sum(f["weight"] for *_, f in edges))


@NEEDS
class TestFilesTables(Case):
    def test_orc_and_avro(self) -> None:
        """The stores are those of the same table in Parquet."""
        import datetime

        import fastavro
        import pyarrow.orc
        import pyarrow.parquet

        n = 70_000
        table = pyarrow.table(
            {
                "src": [f"u{i % 97}" for i in range(n)],
                "dst": [f"u{i * 7 % 89}" for i in range(n)],
                "w": [i / 2 for i in range(n)],
                "k": [None if i % 5 == 0 else i for i in range(n)],
            }
        )
        pyarrow.parquet.write_table(table, self.folder / "e.parquet")
        pyarrow.orc.write_table(table, self.folder / "e.orc", stripe_size=1 << 16)
        fields = [
            {"name": "src", "type": "string"},
            {"name": "dst", "type": "string"},
            {"name": "w", "type": "double"},
            {"name": "k", "type": ["null", "long"]},
        ]
        schema = {"type": "record", "name": "e", "fields": fields}
        with open(self.folder / "e.avro", "wb") as f:
            fastavro.writer(f, schema, table.to_pylist(), codec="deflate")
        want = read(self.folder / "e.parquet", missing="k=0")
        for name in ("e.orc", "e.avro"):
            self.assertEqual(files(read(self.folder / name, missing="k=0")), files(want), name)
        with open(self.folder / "t.avro", "wb") as f:
            fastavro.writer(
                f,
                {
                    "type": "record",
                    "name": "e",
                    "fields": [
                        {"name": "from", "type": "long"},
                        {"name": "to", "type": "long"},
                        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
                    ],
                },
                [{"from": 0, "to": 1, "at": datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)}],
            )
        at = read(self.folder / "t.avro").edges[E].columns.column("at")
        self.assertEqual((at.unit, at.values.view("datetime64[us]").tolist()), ("us", [datetime.datetime(2026, 1, 2)]))
        with open(self.folder / "none.avro", "wb") as f:
            fastavro.writer(f, schema, [])
        pyarrow.parquet.write_table(table.slice(0, 0), self.folder / "none.parquet")
        self.assertEqual(files(read(self.folder / "none.avro")), files(read(self.folder / "none.parquet")))
        self.refused(self.file("a.avro", "Obj\x01x"), "fastavro cannot read")
        self.refused(self.file("a.orc", "ORC"), "pyarrow cannot read")

    def test_orc_of_others(self) -> None:
        path = package("pyarrow", "tests", "data", "orc", "TestOrcFile.testDate1900.orc")  # of Apache ORC
        self.refused(path, "found the columns time, date")


@NEEDS
class TestFilesMolecules(Case):
    @staticmethod
    def smiles2graph() -> Any:
        """OGB's own function, without the rest of OGB, which needs torch."""
        for name, folder in (("ogb", "ogb"), ("ogb.utils", "ogb/utils")):
            module = types.ModuleType(name)
            module.__path__ = [str(package("rdkit").parent / folder)]  # beside it
            sys.modules.setdefault(name, module)
        from ogb.utils.mol import smiles2graph

        return smiles2graph

    def test_smiles(self) -> None:
        """The lists of molecules in the package of RDKit, as OGB makes graphs of them."""
        smiles2graph = self.smiles2graph()
        lines = package("rdkit", "Contrib", "mmpa", "data", "sample.smi").read_text().splitlines()[:300]
        lines += ["F/C=C/F trans", "N[C@@H](C)C(=O)O l-alanine ü", "[Na+].[Cl-]", "[He]", "[CH3]", "[2H]C#N", "c1ccc2[nH]ccc2c1"]
        c = read(self.file("a.smi", "smiles name\n" + "\n".join(lines) + "\n\n"))
        assert isinstance(c, Collection)
        self.assertEqual(len(c), len(lines))
        names = c.context.column("name").tolist()
        for line, g, name in zip(lines, c, names):
            words = line.split(None, 1)
            want = smiles2graph(words[0])
            np.testing.assert_array_equal(g.nodes["_N"]["feat"], want["node_feat"])
            np.testing.assert_array_equal(g.edges[E].edge_index, want["edge_index"])
            np.testing.assert_array_equal(g.edges[E]["feat"], want["edge_feat"])
            self.assertEqual(name, words[1] if len(words) > 1 else "")

    def test_invalid(self) -> None:
        path = self.file("a.smi", "C one\nnot_a_molecule two\nCC\n")
        with self.assertRaisesRegex(GraphmillError, r"a\.smi:2: found a molecule that RDKit cannot read"):
            read(path, self.folder / "c")
        self.assertEqual(os.listdir(self.folder), ["a.smi"])
        with self.assertWarnsRegex(UserWarning, r"1 molecules are left out.*a\.smi:2"):
            self.assertEqual(len(read(path, drop_invalid=True)), 2)  # type: ignore[arg-type]
        with self.assertRaisesRegex(
            GraphmillError, r"ion\.xyz:1: found no bonds that fit the charge 0 .*; write it in the comment line, as charge=-1, or give it with charge="
        ):
            read(FILES / "ion.xyz")

    def test_sdf(self) -> None:
        """Files of others in the package of RDKit."""
        from rdkit import Chem

        path = package("rdkit", "Contrib", "FreeWilson", "data", "cmet_ligands.sdf")
        c = read(path)
        assert isinstance(c, Collection)
        mols = list(Chem.SDMolSupplier(str(path), removeHs=False))
        self.assertEqual(len(c), len(mols))
        for i in range(0, len(mols), 7):
            g, m = c[i], mols[i]
            self.assertEqual(g.nodes["_N"]["feat"][:, 0].tolist(), [a.GetAtomicNum() - 1 for a in m.GetAtoms()])
            np.testing.assert_array_equal(g.nodes["_N"]["pos"], m.GetConformer().GetPositions())
            self.assertEqual(g.edges[E].edge_index[:, ::2].T.tolist(), [[b.GetBeginAtomIdx(), b.GetEndAtomIdx()] for b in m.GetBonds()])
            for name in m.GetPropNames():
                self.assertEqual(str(c.context.column(name).tolist()[i]), m.GetProp(name))

    def test_sdf_cut(self) -> None:
        from rdkit import Chem

        block = Chem.MolToMolBlock(Chem.MolFromSmiles("CC"))
        self.refused(self.file("a.sdf", f"{block}$$$$\n{block}"), "found no $$$$ at the end")
        for name, text in (("b.sdf", f"{block}$$$$\n"), ("c.mol", block), ("d.sdf", f"{block}$$$$\r\n"), ("e.sdf", f"{block}$$$$\n\n \n")):
            self.assertEqual(len(read(self.file(name, text))), 1, name)  # type: ignore[arg-type]

    def test_xyz(self) -> None:
        from rdkit import Chem
        from rdkit.Chem import AllChem

        m = Chem.AddHs(Chem.MolFromSmiles("CC=O"))
        AllChem.EmbedMolecule(m, randomSeed=1)
        block = Chem.MolToXYZBlock(m)
        c = read(self.file("a.xyz", block + block.replace("\n\n", "\nthe second ü\n", 1)))
        assert isinstance(c, Collection)
        self.assertEqual(c.context.column("name").tolist(), ["", "the second ü"])
        for g in c:
            self.assertEqual(g.nodes["_N"]["feat"][:, 0].tolist(), [a.GetAtomicNum() - 1 for a in m.GetAtoms()])
            bonds = {(b.GetBeginAtomIdx(), b.GetEndAtomIdx()): b.GetBondTypeAsDouble() - 1 for b in m.GetBonds()}
            have = {(a, b): f[0] for (a, b), f in zip(g.edges[E].edge_index.T.tolist(), g.edges[E]["feat"].tolist())}
            self.assertEqual(have, {**bonds, **{(b, a): k for (a, b), k in bonds.items()}})
        self.refused(self.file("b.xyz", "x\n"), ":1: found 'x', expected the number of atoms")

    def test_xyz_of_an_ion(self) -> None:
        """A file of RDKit's tests. The charge is that of the comment line, or else the one given."""
        from rdkit import Chem

        text = (FILES / "ion.xyz").read_text()
        m = Chem.MolFromSmiles(text.split("\n")[1])  # which is its comment line
        c = read(FILES / "ion.xyz", charge=-1)
        assert isinstance(c, Collection)
        feat, bonds = c[0].nodes["_N"]["feat"][:5], c[0].edges[E]
        self.assertEqual(sorted((f[0] + 1, f[3] - 5) for f in feat.tolist()), sorted((a.GetAtomicNum(), a.GetFormalCharge()) for a in m.GetAtoms()))
        kinds = sorted(k[0] for (a, b), k in zip(bonds.edge_index.T.tolist(), bonds["feat"].tolist()) if a < b < 5)
        self.assertEqual(kinds, sorted(int(b.GetBondTypeAsDouble()) - 1 for b in m.GetBonds()))
        for comment in ("charge=-1", "ion charge: -1", 'Properties=species:S:1:pos:R:3 charge=-1.0 pbc="F F F"', 'total_charge="-1"', "Charge = -1, mult = 1"):
            path = self.file("a.xyz", text.replace("CS([O-])(=O)=O", comment))
            one = read(path, charge=2)
            np.testing.assert_array_equal(one[0].nodes["_N"]["feat"], c[0].nodes["_N"]["feat"], comment)  # type: ignore[index]
        self.refused(self.file("b.xyz", text.replace("CS([O-])(=O)=O", "charge=0.5")), ":1: found the charge '0.5', expected a whole number")
        self.refused(self.file("c.xyz", text), ":1: found no bonds that fit the charge 1 (", charge=1)
        with self.assertWarnsRegex(UserWarning, r"1 molecules are left out.*c\.xyz:1"):
            self.assertEqual(len(read(self.file("c.xyz", text), drop_invalid=True)), 0)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "charge: found str, expected a whole number"):
            read(FILES / "ion.xyz", charge="-1")  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, r"found charge= with .*a\.smi, expected it with a file of the kinds xyz; leave it out"):
            read(self.file("a.smi", "C\n"), charge=1)
        p = run("import", str(FILES / "ion.xyz"), "--charge", "-1", "--out", str(self.folder / "out"))
        self.assertEqual((p.returncode, "Collection" in p.stdout), (0, True), p.stderr)
        p = run("import", str(FILES / "ion.xyz"), "--out", str(self.folder / "none"))
        self.assertIn("or give it with --charge, or leave such molecules out with --drop-invalid", p.stderr)


@NEEDS
class TestFilesRoads(Case):
    def test_osm(self) -> None:
        """A map that pyosmium writes: lengths as the formula of the sphere has them, and the directions of OSM's wiki."""
        import osmium

        places = {10: (47.0, 9.0), 11: (47.001, 9.0), 12: (47.001, 9.002), 13: (46.9, 9.1)}
        ways = [
            (1, [10, 11, 12], {"highway": "residential", "name": "Straße"}),
            (2, [12, 13], {"highway": "primary", "oneway": "yes", "maxspeed": "50"}),
            (3, [13, 10], {"highway": "primary", "oneway": "-1"}),
            (4, [10, 12], {"highway": "service", "junction": "roundabout"}),
            (5, [10, 13], {"building": "yes"}),
            (6, [10, 99], {"highway": "track"}),
        ]
        want = {(10, 11), (11, 10), (11, 12), (12, 11), (12, 13), (10, 13), (10, 12)}
        for name in ("a.osm", "a.osm.pbf", "a.osm.bz2"):
            with osmium.SimpleWriter(str(self.folder / name)) as w:
                for i, (lat, lon) in places.items():
                    w.add_node(osmium.osm.mutable.Node(id=i, location=(lon, lat), version=1))
                for i, refs, tags in ways:
                    w.add_way(osmium.osm.mutable.Way(id=i, nodes=refs, tags=tags, version=1))
            with self.assertWarnsRegex(UserWarning, "1 nodes of roads"):
                nodes, edges = content(read(self.folder / name))
            self.assertEqual({k: (round(f["lat"], 7), round(f["lon"], 7)) for k, f in nodes}, places)
            self.assertEqual({(a, b) for a, b, _ in edges}, want)
            for a, b, f in edges:
                self.assertAlmostEqual(
                    f["length"],
                    osmium.geom.haversine_distance(*(osmium.osm.Location(lon, lat) for lat, lon in (places[a], places[b]))),
                    delta=f["length"] * 0.002,
                )
            self.assertEqual(next(f for a, b, f in edges if (a, b) == (12, 13))["maxspeed"], "50")
            self.assertEqual({f["name"] for a, b, f in edges if f["way"] == 1}, {"Straße"})
        self.refused(self.file("b.osm", "<osm"), "pyosmium cannot read")


def read_store(path: Any) -> Store:
    return Store(str(path))


def run(*arguments: str, **options: Any) -> Any:
    return subprocess.run([sys.executable, "-m", "graphmill", *arguments], capture_output=True, text=True, **options)


@NEEDS
class TestFilesCommand(Case):
    def test_import(self) -> None:
        path = self.file("a.gml", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]")
        out = str(self.folder / "g.store")
        p = run("import", str(path), "--out", out)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertIn("2 nodes", p.stdout)
        p = run("import", str(path), "--out", out)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("overwrite", p.stderr.replace("--force", "overwrite"))
        self.assertEqual(run("import", "--force", "--out", out, str(path)).returncode, 0)
        self.assertEqual(run("import", str(path)).returncode, 2)
        p = run("import", str(self.file("b.txt", "graph [ ]")), "--kind", "gml", "--out", out, "--force", "--memory", "1GiB", "--threads", "1")
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        p = run("import", str(self.file("c.gml", "graph [")), "--out", str(self.folder / "c"))
        self.assertEqual((p.returncode, p.stdout, p.stderr.count("\n")), (1, "", 1))
        p = run("import", str(self.file("d.csv", "src,dst\n0,1\n")), "--out", str(self.folder / "d"))  # what the command itself reads
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIsInstance(read(self.folder / "d.csv"), Store)

    def test_flags(self) -> None:
        """Flags of graphmill import reach it, in any order beside the file, and errors name flags."""
        gml, out = self.file("a.gml", "graph [ directed 1 node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"), str(self.folder / "g")
        for flags, edges in (([], 1), (["--symmetrise"], 2), (["--both", "--ids", "string", "--dangling-edges=drop"], 1), (["--self-loops", "add"], 3)):
            for arguments in ([*flags, str(gml)], [str(gml), *flags]):
                p = run("import", *arguments, "-o", out, "--force")
                self.assertEqual(p.returncode, 0, p.stderr)
                store = read_store(out)
                self.assertEqual(sum(x.count for x in store.edges.values()), edges, flags)
        p = run("import", str(gml), "--out", out)
        self.assertIn("give --force", p.stderr)
        self.assertNotIn("overwrite", p.stderr)
        p = run("import", str(self.file("b.gml", gml.read_text().replace("directed 1", ""))), "--out", out, "--force", "--symmetrise")
        self.assertIn("found --symmetrise,", p.stderr)
        p = run("import", str(gml), "--out", out, "--ids", "auto", "--ids", "string")
        self.assertEqual(p.returncode, 2, p.stderr)
        for arguments in ([str(gml), "--help"], ["--kind", "gml", "--help"], ["--help"]):
            p = run("import", *arguments)
            self.assertEqual(p.returncode, 0, p.stderr)
            for flag in ("--kind", "--key", "--drop-invalid"):
                self.assertIn(flag, p.stdout)

    def test_missing(self) -> None:
        """As text, a mapping and flags."""
        import fastavro

        fields = [{"name": n, "type": t} for n, t in (("src", "long"), ("dst", "long"), ("k", ["null", "long"]), ("w", ["null", "double"]))]
        rows = [{"src": 0, "dst": 1, "k": None, "w": 2.5}, {"src": 1, "dst": 0, "k": 3, "w": None}]
        path = self.folder / "a.avro"
        with open(path, "wb") as f:
            fastavro.writer(f, {"type": "record", "name": "e", "fields": fields}, rows)
        p = run("import", str(path), "--missing", "k=7", "--missing", "w=nan", "--out", str(self.folder / "g"))
        self.assertEqual(p.returncode, 0, p.stderr)
        want = files(read(path, missing="k=7,w=nan"))
        self.assertEqual(files(read(path, missing={"k": 7, "w": float("nan")})), want)
        self.assertEqual(files(read_store(self.folder / "g")), want)

    def test_hint(self) -> None:
        """What graphmill import says of each kind that is read here: the line with which it is read."""
        for kind in KINDS.values():
            for end in kind.endings:
                p = subprocess.run([command(), "import", str(self.file(f"a{end}", "x")), "--out", str(self.folder / "o")], capture_output=True, text=True)
                self.assertIn("python -m graphmill import FILE --out STORE", p.stderr, end)

    def test_no_library(self) -> None:
        program = "import sys; sys.modules['networkx'] = None; import graphmill; graphmill.read(sys.argv[1])"
        p = subprocess.run([sys.executable, "-c", program, str(self.file("a.gml", "graph [ ]"))], capture_output=True, text=True)
        self.assertIn('which reads a GML file, expected it; install it: pip install "graphmill[files]"', p.stderr)


if __name__ == "__main__":
    unittest.main()
