"""Store and Collection.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import pathlib
import pickle
import shutil
import unittest
from collections.abc import Callable
from typing import Any

import made
import numpy as np
from graphmill import Collection, GraphmillError, NodeLoader, Store, from_tables
from graphmill._xxh3 import xxh3


class TestXXH3(unittest.TestCase):
    def test_vectors(self) -> None:
        # Hashes of the bytes 0, 1, 2, ..., from the Go library.
        for n, want in VECTORS.items():
            self.assertEqual(f"{xxh3(bytes(i & 255 for i in range(n))):016x}", want, n)

    def test_every_file_of_a_store(self) -> None:
        with open(os.path.join(made.DEBIAN, "manifest.json")) as f:
            files = json.load(f)["files"]
        for name, want in files.items():
            with open(os.path.join(made.DEBIAN, name), "rb") as f:
                self.assertEqual(f"{xxh3(f.read()):016x}", want["xxh3"], name)


class TestStore(unittest.TestCase):
    def setUp(self) -> None:
        self.store = Store(made.store())

    def test_types(self) -> None:
        s = self.store
        self.assertEqual((s.node_types, s.edge_types), (["item", "person"], [("person", "likes", "item")]))
        self.assertEqual((s.num_nodes, s.num_edges, len(s.nodes["person"])), (8, 4, 4))
        for name in ("likes", "person:likes:item", ("person", "likes", "item"), ["person", "likes", "item"]):
            self.assertEqual(s.edges[name].count, 4)
        self.assertIn("person: 4 nodes {deep: int64 [-1, -1], half: bfloat16, name: string", str(s))
        with self.assertRaisesRegex(KeyError, "did you mean person"):
            s.nodes["persn"]
        with self.assertRaisesRegex(KeyError, "person:likes:item"):
            s.edges["hates"]
        with self.assertRaisesRegex(KeyError, "did you mean name"):
            s.nodes["person"]["nme"]

    def test_columns(self) -> None:
        person: Any = self.store.nodes["person"]
        self.assertEqual(person["vec"].tolist(), [p[5] for p in made.PEOPLE])
        self.assertFalse(person["vec"].flags.writeable)
        self.assertEqual([t.tolist() for t in person["tags"]], [p[2] for p in made.PEOPLE])
        self.assertEqual(person["name"].tolist(), [p[1] for p in made.PEOPLE])
        self.assertEqual([[d.tolist() for d in row] for row in person["deep"]], [p[3] for p in made.PEOPLE])
        self.assertEqual((person["half"].dtype, np.asarray(person["half"]).tolist()), ("bfloat16", [p[4] for p in made.PEOPLE]))
        self.assertEqual((person["name"][0], person["tags"][-1].tolist()), ("Ada ü", [8, 9]))
        self.assertEqual((person["tags"].offsets[0].tolist(), person["tags"].values.tolist()), ([0, 3, 3, 4, 6], [1, 2, 3, 7, 8, 9]))
        with self.assertRaisesRegex(TypeError, "string_offsets"):
            np.asarray(person["name"])

    def test_parts_of_columns(self) -> None:
        person = self.store.nodes["person"]
        everything = {n: person.columns.column(n) for n in person.columns}
        for name, c in everything.items():
            want = json.loads(json.dumps(c.tolist(), default=lambda x: x.tolist()))
            for a in range(5):
                for b in range(a, 5):
                    part = c[a:b]
                    self.assertEqual(json.loads(json.dumps(part.tolist(), default=lambda x: x.tolist())), want[a:b], (name, a, b))
                    self.assertEqual(len(part), b - a)
            for rows in ([], [3], [2, 0, 2], [1, 1, 3, 0]):
                part = c.take(np.array(rows, np.int64))
                self.assertEqual(json.loads(json.dumps(part.tolist(), default=lambda x: x.tolist())), [want[i] for i in rows], (name, rows))
        with self.assertRaises(IndexError):
            everything["vec"][4]

    def test_edges(self) -> None:
        likes: Any = self.store.edges["likes"]
        place = {n: k for k, (n, *_) in enumerate(made.PEOPLE)}
        want = [[place[a] for a, _ in made.LIKES], [made.ITEMS.index(int(b)) for _, b in made.LIKES]]
        self.assertEqual(likes.edge_index("input").tolist(), want)
        pairs = likes.edge_index().T
        self.assertEqual(likes["weight"].tolist(), [np.array(want).T.tolist().index(p.tolist()) for p in pairs])
        self.assertEqual(likes.primary, "in")
        for v in range(4):
            self.assertEqual(likes.neighbours[likes.indptr[v] : likes.indptr[v + 1]].tolist(), [a for a, b in pairs.tolist() if b == v])
            out = slice(likes.other_indptr[v], likes.other_indptr[v + 1])
            self.assertEqual(likes.other_neighbours[out].tolist(), pairs[likes.other_edge_id[out]][:, 1].tolist())
            self.assertTrue((pairs[likes.other_edge_id[out]][:, 0] == v).all())
        self.assertIsNone(Store(made.RMAT).edges["_E"].other_indptr)

    def test_positions_of_the_input(self) -> None:
        likes = self.store.edges["likes"]
        self.assertEqual(likes["weight"][likes.find(np.arange(len(made.LIKES)))].tolist(), list(range(len(made.LIKES))))
        self.assertEqual((likes["weight"][likes.find(1)], likes.find([]).tolist()), (1, []))
        for bad in (len(made.LIKES), [0, 1 << 32], [-1]):
            with self.assertRaisesRegex(KeyError, "person:likes:item: found no edge at position"):
                likes.find(bad)
        with self.assertRaisesRegex(ValueError, "dtype float64, expected integers"):
            likes.find([0.5])
        rmat = Store(made.RMAT).edges["_E"]
        if "#input_position" not in rmat.columns:
            self.assertEqual(rmat.find([7, 0]).tolist(), [7, 0])

    def test_positions_of_edges_and_their_reverses(self) -> None:
        folder = made.write("both", {"e.csv": "src,dst,w\n2,0,20\n0,1,10\n1,1,11\n2,0,21\n"})
        made.graphmill("import", os.path.join(folder, "e.csv"), "--symmetrise", "--self-loops", "add", "--out", made.path("both.store"))
        with NodeLoader(made.path("both.store"), fanout=[-1], edge_features=["w"]) as loader:
            (b,) = loader
            e = Store(made.path("both.store")).edges["_E"]
            own = b.edge_index[0] == b.edge_index[1]
            listed = b.e_id < 4
            self.assertEqual((listed.sum(), (own & ~listed).sum()), (7, 2))
            self.assertEqual(e["w"][e.find(b.e_id[listed])].tolist(), b.edge_attr["w"][listed].tolist())
            with self.assertRaisesRegex(KeyError, "self-loops that the import added"):
                e.find(b.e_id)
            pairs = e.edge_index(order="input")  # one of each edge and its reverse, that which find gives
            self.assertEqual(pairs.tolist(), e.edge_index()[:, e.find(np.arange(4))].tolist())
            self.assertEqual([sorted(p) for p in pairs.T.tolist()], [[0, 2], [0, 1], [1, 1], [0, 2]])
        with self.assertRaisesRegex(
            GraphmillError, "_N:_E:_N: found edges at some positions of the input only, expected one at each, because the import left some out; give order='id'"
        ):
            from_tables({"_N": 3}, {("_N", "_E", "_N"): {"src": [0, 1, 1], "dst": [1, 1, 2]}}, self_loops="drop").edges["_E"].edge_index(order="input")

    def test_ids(self) -> None:
        person: Any = self.store.nodes["person"]
        item: Any = self.store.nodes["item"]
        bad: Any
        ids = [p[0] for p in made.PEOPLE]
        self.assertEqual((person.ids.tolist(), item.ids.tolist()), (ids, made.ITEMS))
        self.assertEqual((person.find(ids).tolist(), item.find(made.ITEMS).tolist()), ([0, 1, 2, 3], [0, 1, 2, 3]))
        self.assertEqual((person.find("dee"), person.find(b"dee"), item.find(1000), item.find("1000")), (3, 3, 2, 2))
        for nodes, bad in ((person, "eve"), (item, 3), (item, "x"), (Store(made.RMAT).nodes["_N"], 4096)):
            with self.assertRaisesRegex(KeyError, str(bad)):
                nodes.find(bad)
        self.assertEqual(Store(made.RMAT).nodes["_N"].find(7), 7)
        for bad in (7.0, True, np.float32(7), [1.5]):
            with self.assertRaisesRegex(TypeError, "found id=.*, expected an integer"):
                item.find(bad)
        packages: Any = Store(made.DEBIAN).nodes["package"]
        self.assertEqual(packages.find(packages.ids.tolist()).tolist(), list(range(4000)))
        ids = packages.ids.tolist()
        for some in ([], [7], [3999, 0, 7, 7], list(range(0, 4000, 5)) * 2):  # by the index of the store, and by reading all ids
            self.assertEqual(packages.find([ids[i] for i in some]).tolist(), some)
        for n in (1, 400):
            with self.assertRaisesRegex(KeyError, "package: found no node with the id 'eve'"):
                packages.find([*ids[:n], "eve"])
        for bad in (-1, 1 << 64, (1 << 64) + 17):  # no id is taken modulo 2^64
            with self.assertRaisesRegex(KeyError, f"item: found no node with the id {bad}"):
                item.find(bad)

    def test_closed(self) -> None:
        def mapped() -> int:
            gc.collect()
            with open("/proc/self/maps") as f:
                return f.read().count(made.store())

        del self.store
        self.assertEqual(mapped(), 0)
        with Store(made.store()) as s:
            vec = s.nodes["person"]["vec"]
            s.nodes["person"].find("ada")
            self.assertGreater(mapped(), 1)
        self.assertEqual((mapped(), vec.tolist()[0]), (1, [1.0, 2.0]))
        del vec
        self.assertEqual(mapped(), 0)
        self.assertEqual(s.nodes["item"].count, 4)

    def test_pickled(self) -> None:
        b = pickle.dumps(self.store)
        self.assertLess(len(b), 500)
        self.assertEqual(pickle.loads(b).nodes["person"]["vec"].tolist(), self.store.nodes["person"]["vec"].tolist())


class TestDamage(unittest.TestCase):
    def damaged(self, change: Callable[[Callable[[str], str]], object]) -> str:
        to = made.path("damaged")
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(made.store(), to)
        change(lambda name: os.path.join(to, name))
        return to

    def test_what_is_no_store(self) -> None:
        made.store()
        for folder, found in (("/no/such", "no such folder"), (made.path("people"), "no graph.json"), (os.path.join(made.store(), "graph.json"), "a file")):
            kind: Any
            for kind, expected in (
                (Store, "a store; graphmill import or graphmill generate makes one"),
                (Collection, "a collection; graphmill sample --format collection or graphmill import makes one"),
                (lambda path: Collection(made.molecules(), store=path), "a store; graphmill import or graphmill generate makes one"),
            ):
                for path in (folder, os.fsencode(folder), pathlib.Path(folder)):
                    with self.assertRaises(GraphmillError) as e:
                        kind(path)
                    self.assertEqual(str(e.exception), f"{folder}: found {found}, expected {expected}")
        with self.assertRaisesRegex(
            GraphmillError, "store: found a store of one graph, expected a collection of many; .* makes one, graphmill.Store opens a store"
        ):
            Collection(made.store())
        for f in (Store, lambda path: Collection(path, store=path)):
            with self.assertRaisesRegex(GraphmillError, "coll: found a collection, expected a store of one graph; graphmill.Collection opens a collection"):
                f(made.molecules())

    def test_what_was_changed(self) -> None:
        def cut(at: Callable[[str], str]) -> None:
            with open(at("nodes/person/vec.npy"), "r+b") as f:
                f.truncate(130)

        def edit(name: str, old: bytes, new: bytes) -> Callable[[Callable[[str], str]], None]:
            def change(at: Callable[[str], str]) -> None:
                with open(at(name), "rb") as f:
                    b = f.read()
                self.assertIn(old, b)
                with open(at(name), "wb") as f:
                    f.write(b.replace(old, new))

            return change

        for change, want in [
            (lambda at: os.remove(at("manifest.json")), "no manifest.json"),
            (lambda at: os.remove(at("manifest.json.xxh3")), "no manifest.json.xxh3"),
            (lambda at: os.remove(at("nodes/person/vec.npy")), "vec.npy"),
            (cut, "found 130 bytes"),
            (edit("graph.json", b'"in"', b'"on"'), "graph.json: damaged: found checksum"),
            (edit("manifest.json", b'"bytes"', b'"byteS"'), "manifest.json: damaged: found checksum"),
        ]:
            with self.assertRaisesRegex(GraphmillError, want):
                Store(self.damaged(change))

    def rewritten(self, change: Callable[[dict[str, Any]], object]) -> str:
        """A store whose graph.json was changed, with new checksums."""

        def write(at: Callable[[str], str]) -> None:
            with open(at("graph.json")) as f:
                graph = json.load(f)
            change(graph)
            text = json.dumps(graph).encode()
            with open(at("manifest.json")) as f:
                manifest = json.load(f)
            manifest["files"]["graph.json"] = {"bytes": len(text), "xxh3": f"{xxh3(text):016x}"}
            sums = json.dumps(manifest).encode()
            for name, b in (("graph.json", text), ("manifest.json", sums), ("manifest.json.xxh3", f"{xxh3(sums):016x}  manifest.json\n".encode())):
                with open(at(name), "wb") as f:
                    f.write(b)

        return self.damaged(write)

    def test_a_newer_format(self) -> None:
        with self.assertRaisesRegex(GraphmillError, "found format 3, expected 1 or 2; use a newer graphmill"):
            Store(self.rewritten(lambda g: g.update(format=3)))

    def test_metadata_of_another_kind(self) -> None:
        for change in (
            lambda g: g.pop("nodes"),
            lambda g: g["nodes"].update(person=None),
            lambda g: g["nodes"]["person"].update(count="many"),
            lambda g: g["edges"].update({"likes": g["edges"].pop("person:likes:item")}),
            lambda g: g["edges"]["person:likes:item"].pop("primary"),
        ):
            with self.assertRaisesRegex(GraphmillError, "graph.json: found metadata of another format"):
                Store(self.rewritten(change))
        with self.assertRaisesRegex(GraphmillError, "far.npy: found uint32"):
            Store(self.rewritten(lambda g: g["edges"]["person:likes:item"].update(count=1 << 60))).edges["likes"].edge_index()

    def test_arrays_are_held_to_graph_json(self) -> None:
        def other(**change: Any) -> Callable[[dict[str, Any]], object]:
            return lambda g: g["nodes"]["person"]["columns"]["vec"].update(change)

        for change, want in [
            (other(file="../../secret.npy"), "no such file in manifest.json"),
            (other(file="/etc/passwd"), "no such file in manifest.json"),
            (other(dtype="int32"), r"found float32 \[4, 2\], expected int32 \[4, 2\]"),
            (other(shape=[3]), r"expected float32 \[4, 3\]"),
            (other(shape=[-1]), "expected one per variable dimension"),
            (other(dtype="complex"), "found dtype 'complex'"),
            (lambda g: g["nodes"]["person"].update(count=5), r"expected float32 \[5, 2\]"),
        ]:
            with self.assertRaisesRegex(GraphmillError, want):
                Store(self.rewritten(change)).nodes["person"]["vec"]


class TestCollection(unittest.TestCase):
    def test_graphs(self) -> None:
        c = Collection(made.molecules())
        nodes, edges = made.sizes(300, 2)
        self.assertEqual((len(c), c.node_types, c.edge_types), (300, ["atom"], [("atom", "bond", "atom")]))
        folder = made.path("molecules")
        x, label = np.load(f"{folder}/x.npy"), np.load(f"{folder}/label.npy")
        src = np.load(f"{folder}/src.npy")
        at = np.append(0, np.cumsum(nodes))
        first = np.append(0, np.cumsum(edges))
        self.assertEqual([len(g.nodes["atom"]) for g in c], nodes.tolist())
        for i in (0, 1, 150, 299, -1):
            g, k = c[i], i % 300
            self.assertEqual(g.number, k)
            self.assertEqual(g.nodes["atom"]["x"].tolist(), x[at[k] : at[k + 1]].tolist())
            self.assertEqual(g.nodes["atom"]["element"].tolist(), ["CNO"[j % 3] for j in range(at[k], at[k + 1])])
            self.assertEqual(g.edges["bond"].edge_index[0].tolist(), src[first[k] : first[k + 1]].tolist())
            self.assertEqual(g.context["label"].tolist(), [label[k]])
            self.assertEqual(g.context["target"].shape, (1, 2))
        self.assertEqual([g.number for g in c[290:]], list(range(290, 300)))
        map_: Any = c[3].nodes["atom"]["x"]
        self.assertFalse(map_.flags.writeable)
        with self.assertRaises(IndexError):
            c[300]
        bad: Any
        for bad in (2.5, True, None):
            with self.assertRaisesRegex(TypeError, f"found graph={bad}, expected an integer"):
                c[bad]
        small: Any = np.int8(7)
        self.assertEqual(c[small].number, 7)
        self.assertIn("300 graphs", repr(c))
        self.assertEqual(repr(c[3]), f"Graph(3: nodes {nodes[3]} atom; edges {edges[3]} atom:bond:atom)")

    def test_sampled(self) -> None:
        store = Store(made.DEBIAN)
        c: Any = Collection(made.sampled(), store=store)
        self.assertEqual((len(c), c.seed_type), (22, ["package"]))
        self.assertEqual(c.context["epoch"].tolist(), [0] * 11 + [1] * 11)
        self.assertEqual(int(c.seed_ptr[-1]), 1400)
        depends = store.edges["depends"]
        whole = depends.edge_index()
        for i in (0, 10, 21):
            g = c[i]
            package, edges = g.nodes["package"], g.edges["depends"]
            seeds = package.node_id[g.seed_local]
            self.assertEqual(seeds.tolist(), list(range(700))[i % 11 * 64 :][:64])
            self.assertEqual(sum(package.num_sampled_nodes), package.count)
            self.assertEqual(sum(edges.num_sampled_edges), edges.count)
            self.assertEqual(whole[:, edges.edge_id].tolist(), package.node_id[edges.edge_index].tolist())
            # columns of the store
            self.assertEqual(package["size"].tolist(), store.nodes["package"]["size"][package.node_id].tolist())
            self.assertEqual(package["section"][2], store.nodes["package"]["section"][package.node_id[2]])
            self.assertEqual(edges["versioned"].tolist(), depends["versioned"][edges.edge_id].tolist())
            first = g.op(1)
            self.assertEqual(first.frontier.tolist(), g.seed_local.tolist())
            self.assertTrue(set(first.edge_id.tolist()) <= set(edges.edge_id.tolist()))
        with self.assertRaisesRegex(KeyError, "no op 9"):
            c[0].op(9)
        with self.assertRaisesRegex(KeyError, "size"):
            Collection(made.sampled())[0].nodes["package"]["size"]

    def test_components(self) -> None:
        out = made.path("joined.coll")
        made.graphmill("pack", "materialise", made.layout("molecules", "--reserve"), made.molecules(), "--format", "collection", "--out", out)
        c = Collection(out)
        self.assertEqual(sum(g.components for g in c), 300)
        for g in c[:5]:
            self.assertEqual(len(g.context["label"]), g.components)
        atoms: Any = c.nodes["atom"]
        self.assertEqual(int(atoms.component_ptr[-1]), atoms.count)

    def test_pickled(self) -> None:
        c = Collection(made.sampled(), store=made.DEBIAN)
        again = pickle.loads(pickle.dumps(c))
        self.assertEqual(again[3].nodes["package"]["size"].tolist(), c[3].nodes["package"]["size"].tolist())


@unittest.skipUnless(importlib.util.find_spec("torch_geometric"), "PyG is not installed")
class TestPyG(unittest.TestCase):
    def test_data(self) -> None:
        import torch
        from torch_geometric.data import Data

        c = Collection(made.molecules())
        d = c.to_pyg(7, label="label")
        g = c[7]
        self.assertIs(type(d), Data)
        self.assertTrue(d.validate())
        self.assertEqual(d.edge_index.tolist(), g.edges["bond"].edge_index.tolist())
        self.assertEqual((d.y.tolist(), d.target.shape, d.num_nodes), (g.context["label"].tolist(), (1, 2), g.nodes["atom"].count))
        self.assertEqual((d.edge_attr.dtype, d.charge.dtype, d.x.dtype), (torch.int32, torch.bfloat16, torch.float32))
        self.assertEqual(d.charge.tolist(), np.asarray(g.nodes["atom"]["charge"]).tolist())
        self.assertEqual(d.element, g.nodes["atom"]["element"].tolist())
        with self.assertRaisesRegex(KeyError, "nothing"):
            c.to_pyg(7, label="nothing")

    def test_lists_make_batches(self) -> None:
        from torch_geometric.loader import DataLoader

        for name, total in ((made.molecules(), 300), (made.typed(), 40), (made.small_samples(), 100)):
            c = Collection(name)
            seen = sum(b.num_graphs for b in DataLoader(c.to_pyg(), batch_size=16))
            self.assertEqual(seen, total)
        (b,) = DataLoader(c.to_pyg(range(5)), batch_size=5)
        self.assertEqual(b.n_id[b.seed_index].tolist(), list(range(5)))
        self.assertEqual(b.graph_batch.tolist(), [0, 1, 2, 3, 4])  # the column batch

    def test_types(self) -> None:
        c = Collection(made.typed())
        d = c.to_pyg([3, 4], label="label")[1]
        self.assertTrue(d.validate())
        self.assertEqual((d.node_types, d.edge_types), (["a", "b"], [("a", "of", "b"), ("b", "of", "a")]))
        self.assertEqual((d["b"].num_nodes, d.y.tolist()), (c[4].nodes["b"].count, c[4].context["label"].tolist()))
        self.assertEqual(d["a", "of", "b"].edge_index.flip(0).tolist(), d["b", "of", "a"].edge_index.tolist())


VECTORS = {
    0: "2d06800538d394c2",
    1: "c44bdff4074eecdb",
    2: "d6645fc3051a9457",
    3: "5f4299fc161c9cbb",
    4: "60dab036a58211f2",
    8: "3a1c2d7c85af88f8",
    9: "e9612598145bb9dc",
    16: "8355e3a6f61770db",
    17: "9ef341a99de37328",
    32: "3523581fe96e4c05",
    33: "e68c56ba88991e58",
    64: "6187eb9089b0ed55",
    96: "278a3e12ea046dfb",
    97: "e7220282dc4e14f4",
    128: "85c6174c7ff4c46b",
    129: "ec7642b431ba3e5a",
    143: "8222e885f060341d",
    144: "028e1e35ff4c0a01",
    240: "375a384d957fe865",
    241: "02e8cd95421c6d02",
    256: "9408a4433b952d71",
    1024: "a870f92984398d22",
    1025: "78c86e91ee939852",
    1088: "280d4e7cb6579eb6",
    5000: "1b74bda2c82a8c7a",
}

if __name__ == "__main__":
    unittest.main()
