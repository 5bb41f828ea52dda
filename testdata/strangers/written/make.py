"""Writes the files of this folder by the libraries that people write such files with: graphs that come with networkx, and small random ones.

    python make.py MAGE OPENKE

MAGE is the folder python of github.com/memgraph/mage (Apache 2.0), whose export_util is Memgraph's export: it gets objects with the members of Memgraph's
here, and writes as it does in the database. OPENKE is the folder of openke 0.96 (PyPI, MIT). snap.txt is what graphgen of github.com/snap-stanford/snap (BSD) writes:

    graphgen -g:e -n:60 -m:150 -o:snap.txt
"""

from __future__ import annotations

import collections
import datetime
import importlib
import importlib.util
import json
import pathlib
import sqlite3
import sys
import types
import unittest.mock

import igraph
import ndex2.cx2
import networkx as nx
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.feather
import pyarrow.orc
import scipy.io
import scipy.sparse

HERE = pathlib.Path(__file__).parent
KARATE = nx.karate_club_graph()
FAMILIES = nx.florentine_families_graph()
SOUTHERN = nx.davis_southern_women_graph()
WOMEN, EVENTS = SOUTHERN.graph.pop("top"), SOUTHERN.graph.pop("bottom")
MISERABLES = nx.les_miserables_graph()


def path(name: str) -> str:
    p = HERE / name
    p.parent.mkdir(parents=True, exist_ok=True)
    return str(p)


def networkx() -> None:
    nx.write_edgelist(KARATE, path("networkx/dicts.edgelist"))
    nx.write_edgelist(KARATE, path("networkx/weights.edgelist"), data=["weight"])
    nx.write_edgelist(KARATE, path("networkx/plain.edgelist"), data=False)
    nx.write_weighted_edgelist(MISERABLES, path("networkx/names.edgelist"), delimiter="\t")
    nx.write_adjlist(FAMILIES.to_directed(), path("networkx/families.adjlist"))
    nx.write_multiline_adjlist(FAMILIES, path("networkx/families.multiline_adjlist"))
    nx.write_graphml(KARATE, path("networkx/karate.graphml"))
    nx.write_graphml(SOUTHERN, path("networkx/southern.graphml"))
    for name, data in (("karate", nx.node_link_data(KARATE, edges="links")), ("southern", nx.node_link_data(SOUTHERN, edges="edges"))):
        pathlib.Path(path(f"networkx/{name}.json")).write_text(json.dumps(data), encoding="utf-8")
    pathlib.Path(path("networkx/karate.cyjs")).write_text(json.dumps(nx.cytoscape_data(KARATE)), encoding="utf-8")
    pathlib.Path(path("networkx/neighbours.json")).write_text(json.dumps(nx.to_dict_of_lists(KARATE)), encoding="utf-8")
    pathlib.Path(path("networkx/adjacency.json")).write_text(json.dumps(nx.adjacency_data(KARATE)), encoding="utf-8")
    for write, end in ((nx.write_gml, "gml"), (nx.write_gexf, "gexf"), (nx.write_pajek, "net"), (nx.write_graph6, "g6"), (nx.write_sparse6, "s6")):
        write(KARATE, path(f"networkx/karate.{end}"))


def of_igraph() -> None:
    g = igraph.Graph.from_networkx(MISERABLES)
    g.vs["name"] = [v["_nx_name"] for v in g.vs]
    g.write_ncol(path("igraph/miserables.ncol"))
    g.write_lgl(path("igraph/miserables.lgl"))
    alone = igraph.Graph([(0, 1), (1, 2)], n=4)
    alone.vs["name"] = ["a", "b", "c", "alone"]
    alone.write_lgl(path("igraph/alone.lgl"), weights=None, isolates=True)
    g.write_graphml(path("igraph/miserables.graphml"))
    g.write_edgelist(path("igraph/miserables.txt"))
    for end in ("gml", "dot", "net", "leda"):
        getattr(g, {"net": "write_pajek"}.get(end, "write_" + end))(path(f"igraph/miserables.{end}"))


def arrays() -> None:
    a = nx.to_numpy_array(KARATE, weight=None).astype(bool)
    edges = np.array(list(KARATE.edges), np.int64)
    np.save(path("numpy/dense_bool.npy"), a)
    np.save(path("numpy/dense_float32.npy"), nx.to_numpy_array(KARATE, dtype=np.float32))
    np.save(path("numpy/edge_index.npy"), edges.T)
    np.save(path("numpy/pairs_uint16.npy"), edges.astype(np.uint16))
    np.save(path("numpy/pairs_big_endian.npy"), edges.astype(">i4"))
    x = np.random.default_rng(0).normal(size=(34, 3)).astype(np.float32)
    weight = np.array([w for *_, w in KARATE.edges(data="weight")], np.float64)
    np.savez(path("numpy/data.npz"), edge_index=edges.T, x=x, edge_attr=weight, y=np.arange(34) % 2)
    np.savez_compressed(path("numpy/compressed.npz"), edge_index=edges.T, x=x, edge_weight=weight)
    np.savez(path("numpy/rows.npz"), src=edges[:, 0], dst=edges[:, 1])
    np.savetxt(path("numpy/dense.txt"), nx.to_numpy_array(KARATE), fmt="%g")
    np.savetxt(path("numpy/edges.csv"), edges, fmt="%d", delimiter=",", header="source,target", comments="")
    np.savetxt(path("numpy/exponents.txt"), np.column_stack([edges, weight]))
    m = scipy.sparse.csr_array(nx.to_scipy_sparse_array(KARATE, dtype=np.float64))
    for form in ("csr", "csc", "coo", "bsr"):
        scipy.sparse.save_npz(path(f"scipy/karate_{form}.npz"), m.asformat(form))
    scipy.sparse.save_npz(path("scipy/southern.npz"), nx.bipartite.biadjacency_matrix(SOUTHERN, WOMEN, dtype=np.int32))
    np.save(path("scipy/indptr.npy"), m.indptr)
    np.save(path("scipy/indices.npy"), m.indices)
    scipy.io.mmwrite(path("scipy/karate.mtx"), m)
    scipy.io.mmwrite(path("scipy/general.mtx"), m, symmetry="general")
    scipy.io.mmwrite(path("scipy/array.mtx"), m.toarray())


def tables() -> None:
    t = pandas.DataFrame([(a, b, d["weight"]) for a, b, d in MISERABLES.edges(data=True)], columns=["source", "target", "value"])
    t["since"] = pandas.date_range("2020-02-28", periods=len(t), freq="6h").astype("datetime64[ms]")
    t["kind"] = pandas.Categorical(["friend" if v > 3 else "met" for v in t["value"]])
    t["often"] = t["value"] > 3
    t.to_csv(path("pandas/edges.csv"), index=False)
    t.to_csv(path("pandas/indexed.csv"))
    t.to_csv(path("pandas/semicolons.csv"), index=False, sep=";", decimal=",")
    t.to_csv(path("pandas/tabs.tsv.gz"), index=False, sep="\t")
    t.to_parquet(path("pandas/edges.parquet"), index=False)
    t.to_feather(path("pandas/edges.feather"))
    t.to_json(path("pandas/records.json"), orient="records")
    t.to_json(path("pandas/lines.jsonl"), orient="records", lines=True)
    t.to_json(path("pandas/split.json"), orient="split")
    t.to_json(path("pandas/columns.json"))
    nx.to_pandas_adjacency(FAMILIES, dtype=int).to_csv(path("pandas/adjacency.csv"))
    p = polars.from_pandas(t)
    p.write_csv(path("polars/edges.csv"))
    p.write_parquet(path("polars/edges.parquet"))
    p.write_ipc(path("polars/edges.arrow"))
    p.write_ipc_stream(path("polars/edges.arrows"))
    p.write_ndjson(path("polars/edges.ndjson"))
    p.write_json(path("polars/edges.json"))
    p.with_columns(polars.col("kind").cast(str)).write_avro(path("polars/edges.avro"))
    for i, part in enumerate((p.head(100), p.slice(100))):
        part.write_parquet(path(f"polars/folder/part-{i}.parquet"))
    p.write_parquet(path("polars/hive"), partition_by="kind", mkdir=True)
    a = pyarrow.Table.from_pandas(t, preserve_index=False)
    pyarrow.csv.write_csv(a, path("arrow/edges.csv"))
    pyarrow.orc.write_table(a.drop(["kind"]), path("arrow/edges.orc"))
    pyarrow.feather.write_feather(a, path("arrow/edges.feather"), compression="zstd")
    pathlib.Path(path("sqlite/clubs.sqlite")).unlink(missing_ok=True)
    db = sqlite3.connect(path("sqlite/clubs.sqlite"))
    db.execute("CREATE TABLE woman (name TEXT PRIMARY KEY)")
    db.execute("CREATE TABLE event (name TEXT PRIMARY KEY)")
    db.execute("CREATE TABLE attended (woman TEXT REFERENCES woman, event TEXT REFERENCES event)")
    db.executemany("INSERT INTO woman VALUES (?)", [(x,) for x in WOMEN])
    db.executemany("INSERT INTO event VALUES (?)", [(x,) for x in EVENTS])
    db.executemany("INSERT INTO attended VALUES (?, ?)", list(SOUTHERN.edges))
    db.commit()
    db.close()


def cx2() -> None:
    net = ndex2.cx2.CX2Network()
    for i in KARATE:
        net.add_node(node_id=i, attributes={"name": f"member {i}", "club": KARATE.nodes[i]["club"]})
    for a, b, w in KARATE.edges(data="weight"):
        net.add_edge(source=a, target=b, attributes={"weight": float(w), "strong": w > 3})
    net.write_as_raw_cx2(path("ndex2/karate.cx2"))


def memgraph(mage: str) -> None:
    """What Memgraph gives its modules, as far as the export takes it."""
    sys.path.insert(0, mage)
    sys.modules["gqlalchemy"] = sys.modules["mgp"] = unittest.mock.MagicMock(read_proc=lambda f: f, write_proc=lambda f: f)
    export_util = importlib.import_module("export_util")
    name = collections.namedtuple("name", "name")
    vertex = collections.namedtuple("vertex", "id labels properties out_edges")
    edge = collections.namedtuple("edge", "id type from_vertex to_vertex properties")
    people = [vertex(10 + i, (name("Woman"),), {"name": x, "rank": i, "tall": i % 2 == 0}, []) for i, x in enumerate(WOMEN)]
    at = datetime.datetime(1936, 2, 23, 20, 30)
    events = [
        vertex(100 + i, (name("Event"), name("Evening")), {"name": x, "at": at + datetime.timedelta(days=i), "tags": ("a", f'b "{i}"')}, [])
        for i, x in enumerate(EVENTS)
    ]
    of = {v.properties["name"]: v for v in people + events}
    for i, (a, b) in enumerate(SOUTHERN.edges):
        of[a].out_edges.append(edge(i, name("ATTENDED"), of[a], of[b], {"weight": i / 4}))
    context = types.SimpleNamespace(graph=types.SimpleNamespace(vertices=people + events))
    export_util.json(context, path("memgraph/export.json"))
    export_util.csv_graph(people + events, [e for v in people for e in v.out_edges], path("memgraph/export.csv"))


def openke(package: str) -> None:
    spec = importlib.util.spec_from_file_location("utils", package + "/openke/data/utils.py")
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)
    splits = {
        s: [line.split("\t") for line in (HERE.parent / "nations" / f"{s}.txt").read_text(encoding="utf-8").splitlines()] for s in ("train", "valid", "test")
    }
    rows = [r for s in splits.values() for r in s]
    entities = {x: i for i, x in enumerate(dict.fromkeys(x for a, _, b in rows for x in (a, b)))}
    relations = {x: i for i, x in enumerate(dict.fromkeys(r for _, r, _ in rows))}
    utils.write_mapping(path("openke/entity2id.txt"), entities)
    utils.write_mapping(path("openke/relation2id.txt"), relations)
    for s, triples in splits.items():
        utils.write_triples(path(f"openke/{s}2id.txt"), [utils.Triple(entities[a], entities[b], relations[r]) for a, r, b in triples])


networkx()
of_igraph()
arrays()
tables()
cx2()
memgraph(sys.argv[1])
openke(sys.argv[2])
