"""Readers of the kinds of files in this folder, by other libraries: each returns the lines of a file's nodes and edges, which read.py describes."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import math
import pathlib
import sqlite3
import struct
import tempfile
import xml.etree.ElementTree
from collections.abc import Callable, Iterable
from typing import Any

E = "_N:_E:_N"

Lines = tuple[list[str], list[str]]  # of nodes and of edges


def value(v: Any) -> str:
    if hasattr(v, "item") and getattr(v, "ndim", 0) == 0:
        v = v.item()
    if v is None:
        return ""
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, datetime.date):
        v = (v - datetime.date(1970, 1, 1)).days * 86400
    if isinstance(v, decimal.Decimal):
        v = float(v)
    if isinstance(v, int) and abs(v) >= 2**64:
        v = float(v)
    if isinstance(v, float):
        if math.isnan(v):
            return ""
        if v.is_integer() and abs(v) < 2**53:
            return str(int(v))
        return struct.pack(">f", v).hex()
    if isinstance(v, (list, tuple)) or hasattr(v, "tolist"):
        return ",".join(value(x) for x in v)
    return str(v).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def line(cells: Iterable[Any], fields: dict[str, Any]) -> str:
    texts = [f"{k}={value(v)}" for k, v in sorted(fields.items(), key=lambda f: f[0].encode()) if value(v) != ""]
    return "\t".join([value(c) for c in cells] + texts)


def graph(nodes: Iterable[tuple[Any, dict[str, Any]]], edges: Iterable[tuple[Any, Any, dict[str, Any]]], both: bool = False) -> Lines:
    """A graph of one type; both: each edge has two directions, and a loop one."""
    e = []
    for a, b, f in edges:
        e.append(line([E, a, b], f))
        if both and a != b:
            e.append(line([E, b, a], f))
    return [line(["_N", i], f) for i, f in nodes], e


def numbered(n: int) -> list[tuple[int, dict[str, Any]]]:
    return [(i, {}) for i in range(n)]


def named(edges: list[tuple[Any, Any, dict[str, Any]]]) -> list[tuple[Any, dict[str, Any]]]:
    """The ends of edges, each once."""
    return [(i, {}) for i in {x: 0 for a, b, _ in edges for x in (a, b)}]


def of_networkx(g: Any, both: bool) -> Lines:
    """A graph of networkx; both: where its edges have no direction."""
    return graph(g.nodes(data=True), g.edges(data=True), both and not g.is_directed())


# Matrices


def market(path: pathlib.Path) -> Lines:
    """SciPy's entries; a pattern has no values."""
    import numpy
    import scipy.io

    pattern = "pattern" in path.open(encoding="utf-8").readline()
    m = scipy.io.mmread(path)
    if isinstance(m, numpy.ndarray):
        m = scipy.sparse.coo_array(m)
    edges = [(int(i), int(j), {} if pattern else {"weight": v}) for i, j, v in zip(m.row, m.col, m.data)]
    if m.shape[0] == m.shape[1]:
        return graph(numbered(m.shape[0]), edges)
    nodes = [f"{t}\t{i}" for t, n in zip(("row", "column"), m.shape) for i in range(n)]
    return nodes, [line(["row:_E:column", a, b], f) for a, b, f in edges]


def dense(path: pathlib.Path) -> Lines:
    import numpy

    m = numpy.load(path)
    i, j = m.nonzero()
    return graph(numbered(len(m)), [(a, b, {} if m.dtype == bool else {"weight": m[a, b]}) for a, b in zip(i, j)])


# Lists and tables


def words(path: pathlib.Path, *names: str, comment: str = "#", numbers: bool = True, skip: int = 0, base: int = 0, **options: Any) -> Lines:
    """The words of the lines of a text, as pandas reads them."""
    import pandas

    options = {"sep": r"\s+", **options}
    t = pandas.read_csv(path, comment=comment, header=None, names=["src", "dst", *names], skiprows=skip, usecols=range(2 + len(names)), **options)
    edges = [(a, b, dict(zip(names, f))) for a, b, *f in t.itertuples(index=False)]
    if numbers:
        edges = [(a - base, b - base, f) for a, b, f in edges]
        return graph(numbered(1 + max(max(a, b) for a, b, _ in edges)), edges)
    return graph(named(edges), edges)


def table(path: pathlib.Path, src: str, dst: str, numbers: bool = False, **options: Any) -> Lines:
    """A table with a header, as pandas reads it."""
    import pandas

    t = pandas.read_parquet(path) if path.suffix == ".parquet" else pandas.read_csv(path, **options)
    edges = []
    for r in t.to_dict("records"):
        edges.append((r.pop(src), r.pop(dst), r))
    return graph(numbered(1 + max(max(a, b) for a, b, _ in edges)) if numbers else named(edges), edges)


def of_networkit(kind: str, *options: Any, weights: bool = False, directed: bool = False) -> Callable[[pathlib.Path], Lines]:
    """A graph as NetworKit reads it; each edge in both directions, unless the format is one of directed edges."""

    def read(path: pathlib.Path) -> Lines:
        import networkit

        # NetworKit reads the file of an edge list with options, and tells the other formats by their names.
        g = networkit.readGraph(str(path), getattr(networkit.Format, kind), *options)
        edges = [(a, b, {"weight": w} if weights else {}) for a, b, w in g.iterEdgesWeights()]
        return graph(numbered(g.numberOfNodes()), edges, both=not directed)

    return read


def metis_weights(path: pathlib.Path) -> Lines:
    """METIS with weights of nodes, which NetworKit leaves out: the numbers of the lines."""
    rows = [x.split() for x in path.read_text(encoding="utf-8").splitlines() if not x.startswith("%")]
    head, rows = rows[0], rows[1:]
    fmt = head[2].rjust(3, "0")
    count = int(head[3]) if len(head) > 3 else 1 if fmt[1] == "1" else 0
    nodes, edges = [], []
    for i, r in enumerate(rows[: int(head[0])]):
        numbers = [int(x) for x in r]
        w, numbers = numbers[:count], numbers[count:]
        nodes.append((i, {"weight": w} if count else {}))
        step = 2 if fmt[2] == "1" else 1
        edges += [(i, numbers[k] - 1, {"weight": numbers[k + 1]} if step == 2 else {}) for k in range(0, len(numbers), step)]
    return graph(nodes, edges)


def dimacs(path: pathlib.Path) -> Lines:
    rows = [x.split() for x in path.read_text(encoding="utf-8").splitlines()]
    n = next(int(r[2]) for r in rows if r[:1] == ["p"])
    return graph(numbered(n), [(int(r[1]) - 1, int(r[2]) - 1, {"weight": int(r[3])}) for r in rows if r[:1] == ["a"]])


# Graphs of programs that draw and analyse


def graphml(path: pathlib.Path) -> Lines:
    import networkx

    g = networkx.read_graphml(path)
    listed = {e.get("id") for e in xml.etree.ElementTree.parse(path).iter() if e.tag.endswith("}node")}
    for i, fields in g.nodes(data=True):  # networkx keeps the defaults of keys apart
        if i in listed:
            fields.update({k: v for k, v in g.graph.get("node_default", {}).items() if k not in fields})
    for *_, fields in g.edges(data=True):
        fields.update({k: v for k, v in g.graph.get("edge_default", {}).items() if k not in fields})
    for *_, fields in g.edges(data=True):
        fields.pop("id", None)  # networkx's name for the id of an edge, which is no value of a key
    return of_networkx(g, True)


def flat(v: dict[str, Any], *without: str) -> dict[str, Any]:
    """What is no list and no object."""
    return {k: x for k, x in v.items() if k not in without and not isinstance(x, (list, dict))}


def jgf(path: pathlib.Path) -> Lines:
    file, _, number = path.name.partition("@graph=")
    document = json.loads(path.with_name(file).read_text(encoding="utf-8"))
    g = document["graphs"][int(number)] if number else document["graph"]
    nodes = g.get("nodes", {})
    items = nodes.items() if isinstance(nodes, dict) else [(n.pop("id"), n) for n in nodes]
    return graph(
        [(i, flat(n) | flat(n.get("metadata", {}))) for i, n in items],
        [(e["source"], e["target"], flat(e, "source", "target") | flat(e.get("metadata", {}))) for e in g.get("edges", [])],
    )


def places(path: pathlib.Path) -> Lines:
    """A graph of D3, whose links name places in the list of nodes."""
    g = json.loads(path.read_text(encoding="utf-8"))
    return graph([(i, flat(n)) for i, n in enumerate(g["nodes"])], [(e["source"], e["target"], flat(e, "source", "target")) for e in g["links"]])


def cytoscape(path: pathlib.Path, both: bool = False) -> Lines:
    g = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(g, dict):
        g = g.get("elements", g)
        g = g["nodes"] + g["edges"] if isinstance(g, dict) else g
    data = [x["data"] for x in g]
    return graph(
        [(d["id"], flat(d, "id")) for d in data if "source" not in d],
        [(d["source"], d["target"], flat(d, "source", "target")) for d in data if "source" in d],
        both,
    )


def cx2(path: pathlib.Path) -> Lines:
    import ndex2.cx2

    net = ndex2.cx2.RawCX2NetworkFactory().get_cx2network(str(path))
    return graph(
        [(n["id"], flat(n["v"])) for n in net.get_nodes().values()],
        [(e["s"], e["t"], flat(e["v"])) for e in net.get_edges().values()],
    )


def sif(path: pathlib.Path) -> Lines:
    return triples([(a, r, b) for a, r, *bs in (x.split() for x in path.read_text(encoding="utf-8").splitlines() if len(x.split()) > 1) for b in bs])


# Triples


def triples(rows: list[tuple[Any, ...]]) -> Lines:
    """Rows of head, relation, tail and perhaps the file of the edge."""
    nodes = {x: 0 for a, _, b, *_ in rows for x in (a, b)}
    return [f"entity\t{value(x)}" for x in nodes], [line([f"entity:{r}:entity", a, b], {"split": s[0]} if s else {}) for a, r, b, *s in rows]


def ntriples(path: pathlib.Path) -> Lines:
    import rdflib

    g = rdflib.Graph().parse(path, format="nt")
    rows = [(str(a), str(p).replace("/", "#").split("#")[-1], str(b)) for a, p, b in g if not isinstance(b, rdflib.Literal)]
    return triples(rows)


def splits(path: pathlib.Path) -> Lines:
    import pandas

    rows = []
    for split in ("train", "valid", "test"):
        t = pandas.read_csv(path / f"{split}.txt", sep="\t", header=None, quoting=csv.QUOTE_NONE, keep_default_na=False)
        rows += [(*r, split) for r in t.itertuples(index=False)]
    return triples(rows)


# Data sets


def tu(path: pathlib.Path) -> Lines:
    """A data set of the TU collection: the numbers of its files, as NumPy reads them."""
    import numpy

    def load(name: str) -> Any:
        return numpy.loadtxt(path / f"{path.name}_{name}.txt", dtype=numpy.int64, delimiter=",")

    of, labels = load("graph_indicator") - 1, load("graph_labels")
    first = numpy.searchsorted(of, numpy.arange(len(labels)))
    nodes = [line([g], {"label": v}) for g, v in enumerate(labels)]
    nodes += [line([g, "_N", i - first[g]], {"label": v}) for i, (g, v) in enumerate(zip(of, load("node_labels")))]
    edges = [line([of[a - 1], E, a - 1 - first[of[a - 1]], b - 1 - first[of[a - 1]]], {"label": v}) for (a, b), v in zip(load("A"), load("edge_labels"))]
    return nodes, edges


def unigraph(features: tuple[str, ...], **sets: tuple[str, ...]) -> Callable[[pathlib.Path], Lines]:
    """A unigraph of TF-GNN: the rows of its tables, as the module csv reads them, with the features of its schema. A set of edges names the sets of its ends after its file."""

    def number(text: str) -> Any:
        try:
            return int(text)
        except ValueError:
            try:
                return float(text)
            except ValueError:
                return text

    def read(path: pathlib.Path) -> Lines:
        nodes, edges = [], []
        for name, (file, *ends) in sets.items():
            with open(path.parent / file, newline="", encoding="utf-8") as f:
                for r in csv.DictReader(f):
                    r = {k.lstrip("#"): v for k, v in r.items()}
                    keys = ("source", "target") if ends else ("id",)
                    ids = [r.pop(k) for k in keys]
                    fields = {k: number(v) for k, v in r.items() if k in features}
                    (edges if ends else nodes).append(line([f"{ends[0]}:{name}:{ends[1]}" if ends else name, *ids], fields))
        return nodes, edges

    return read


def kuzu(path: pathlib.Path) -> Lines:
    """A database that Kùzu makes of schema.cypher and copy.cypher: its nodes and edges."""
    import kuzu

    with tempfile.TemporaryDirectory() as folder:
        c = kuzu.Connection(kuzu.Database(folder + "/db"))
        c.execute((path / "schema.cypher").read_text(encoding="utf-8"))
        for statement in (path / "copy.cypher").read_text(encoding="utf-8").splitlines():
            if statement.strip():
                name = statement.split('"')[1]
                c.execute(statement.replace(name, str(path / pathlib.PurePath(name).name)))
        nodes, edges, keys = [], [], {}
        for _, table, kind, *_ in c.execute("CALL show_tables() RETURN *").get_all():
            if kind == "NODE":
                keys[table] = next(r[1] for r in c.execute(f"CALL table_info('{table}') RETURN *").get_all() if r[4])
        for (n,) in c.execute("MATCH (n) RETURN n").get_all():
            t = n["_label"]
            nodes.append(line([t, n[keys[t]]], {k: v for k, v in n.items() if k[0] != "_" and k != keys[t]}))
        for a, r, b in c.execute("MATCH (a)-[r]->(b) RETURN a, r, b").get_all():
            ends = [a["_label"], b["_label"]]
            fields = {k: v for k, v in r.items() if k[0] != "_"}
            edges.append(line([":".join([ends[0], r["_label"], ends[1]]), a[keys[ends[0]]], b[keys[ends[1]]]], fields))
        return nodes, edges


# Files that libraries wrote


def pairs(path: pathlib.Path) -> Lines:
    import numpy

    a = numpy.load(path)
    a = a if a.shape[0] == 2 else a.T
    return graph(numbered(int(a.max()) + 1), [(x, y, {}) for x, y in a.T])


def archive(path: pathlib.Path) -> Lines:
    """A graph of the arrays of an archive, with the names of PyTorch Geometric's data."""
    import numpy

    a = dict(numpy.load(path))
    ends = a.pop("edge_index") if "edge_index" in a else numpy.stack([a.pop("src"), a.pop("dst")])
    nodes = {k: v for k, v in a.items() if not k.startswith("edge_")}
    edges = {k: v for k, v in a.items() if k.startswith("edge_")}
    return graph(
        [(i, {k: v[i] for k, v in nodes.items()}) for i in range(int(ends.max()) + 1)],
        [(x, y, {k: v[i] for k, v in edges.items()}) for i, (x, y) in enumerate(ends.T)],
    )


def entries(m: Any) -> Lines:
    """The entries of a sparse matrix as edges from rows to columns."""
    m = m.tocoo()
    edges = [(int(i), int(j), {"weight": v}) for i, j, v in zip(m.row, m.col, m.data)]
    if m.shape[0] == m.shape[1]:
        return graph(numbered(m.shape[0]), edges)
    nodes = [f"{t}\t{i}" for t, n in zip(("row", "column"), m.shape) for i in range(n)]
    return nodes, [line(["row:_E:column", a, b], f) for a, b, f in edges]


def sparse(path: pathlib.Path) -> Lines:
    import scipy.sparse

    return entries(scipy.sparse.load_npz(path))


def dense_text(path: pathlib.Path) -> Lines:
    import numpy
    import scipy.sparse

    return entries(scipy.sparse.coo_array(numpy.loadtxt(path)))


def adjacency_frame(path: pathlib.Path) -> Lines:
    import pandas

    t = pandas.read_csv(path, index_col=0)
    return graph([(i, {}) for i in t.index], [(a, b, {"weight": v}) for a, r in t.iterrows() for b, v in r.items() if v])


def edge_list(path: pathlib.Path) -> Lines:
    """Directed, as Graphmill reads the lines; networkx reads the same file as an undirected graph by default."""
    import networkx

    options = {"data": (("weight", float),)} if "weights" in path.name else {"data": False}
    return of_networkx(networkx.read_edgelist(path, nodetype=int, create_using=networkx.DiGraph, **options), False)


def adjacency_list(path: pathlib.Path) -> Lines:
    import networkx

    return of_networkx(networkx.read_adjlist(path, create_using=networkx.DiGraph), False)


def node_link(path: pathlib.Path, edges: str) -> Lines:
    import networkx

    return of_networkx(networkx.node_link_graph(json.loads(path.read_text(encoding="utf-8")), edges=edges), True)


def neighbours(path: pathlib.Path) -> Lines:
    g = json.loads(path.read_text(encoding="utf-8"))
    return graph([(int(i), {}) for i in g], [(int(i), j, {}) for i, others in g.items() for j in others])


def of_igraph(kind: str) -> Callable[[pathlib.Path], Lines]:
    def read(path: pathlib.Path) -> Lines:
        import igraph

        g = getattr(igraph.Graph, "Read_" + kind)(str(path))
        names = g.vs["name"]
        weighted = "weight" in g.es.attributes()
        return graph([(x, {}) for x in names], [(names[e.source], names[e.target], {"weight": e["weight"]} if weighted else {}) for e in g.es])

    return read


def both_ways(lines: Lines) -> Lines:
    """The reverse of each edge, too, but of loops."""
    rows = [x.split("\t") for x in lines[1]]
    return lines[0], lines[1] + ["\t".join([t, b, a, *f]) for t, a, b, *f in rows if a != b]


def openke(path: pathlib.Path) -> Lines:
    import pandas

    def load(name: str, columns: list[str]) -> Any:
        return pandas.read_csv(path / f"{name}2id.txt", sep="\t", skiprows=1, header=None, names=columns)

    relations = dict(load("relation", ["name", "id"])[["id", "name"]].itertuples(index=False))
    edges = []
    for split in ("train", "valid", "test"):
        for a, b, r in load(split, ["head", "tail", "relation"]).itertuples(index=False):
            edges.append(line([f"entity:{relations[r]}:entity", a, b], {"split": split}))
    return [line(["entity", i], {"name": x}) for x, i in load("entity", ["name", "id"]).itertuples(index=False)], edges


def labelled(nodes: list[tuple[Any, list[str], dict[str, Any]]], edges: list[tuple[Any, Any, str, dict[str, Any]]]) -> Lines:
    """Nodes whose types are their labels in the order of bytes."""
    types = {i: ";".join(sorted(labels)) for i, labels, _ in nodes}
    return (
        [line([types[i], i], f) for i, _, f in nodes],
        [line([f"{types[a]}:{t}:{types[b]}", a, b], f) for a, b, t, f in edges],
    )


def memgraph_json(path: pathlib.Path) -> Lines:
    rows = json.loads(path.read_text(encoding="utf-8"))
    return labelled(
        [(r["id"], r["labels"], r["properties"]) for r in rows if r["type"] == "node"],
        [(r["start"], r["end"], r["label"], r["properties"]) for r in rows if r["type"] == "relationship"],
    )


def typed(text: str) -> Any:
    """A cell as Graphmill's rules of text say: a number, bool or time, and otherwise a text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    if text in ("True", "False"):
        return text == "True"
    try:
        return int(datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp())
    except ValueError:
        return text


def memgraph_csv(path: pathlib.Path) -> Lines:
    with open(path, newline="", encoding="utf-8") as f:
        rows = [{k: v for k, v in r.items() if v != ""} for r in csv.DictReader(f)]
    fields = [{k: typed(v) for k, v in r.items() if k[0] != "_"} for r in rows]
    return labelled(
        [(r["_id"], r["_labels"].strip(":").split(":"), f) for r, f in zip(rows, fields) if "_id" in r],
        [(r["_start"], r["_end"], r["_type"], f) for r, f in zip(rows, fields) if "_id" not in r],
    )


def frame(path: pathlib.Path, unit: int = 1, lines: bool = False, **options: Any) -> Lines:
    """A data frame of the edges of written/make.py; unit is the number of units of time per second."""
    import pandas
    import pyarrow.parquet

    if path.suffix in (".csv", ".gz"):
        t = pandas.read_csv(path, **options)
    elif path.suffix in (".json", ".jsonl", ".ndjson"):
        t = pandas.read_json(path, lines=lines, convert_dates=False)
    elif path.suffix == ".arrows":
        t = pyarrow.ipc.open_stream(path).read_all().to_pandas()
    elif path.suffix in (".arrow", ".feather"):
        t = pandas.read_feather(path)
    else:
        files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        t = pandas.concat([pyarrow.parquet.ParquetFile(f).read().to_pandas() for f in files])
    edges = []
    for r in t.drop(columns="Unnamed: 0", errors="ignore").to_dict("records"):
        if isinstance(r["since"], (str, pandas.Timestamp)):
            r["since"] = int(pandas.Timestamp(r["since"]).timestamp() * unit)
        edges.append((r.pop("source"), r.pop("target"), r))
    return graph(named(edges), edges)


def clubs(path: pathlib.Path) -> Lines:
    """The tables of written/make.py: a table of keys is an edge type to each table that it names, and its reverse."""
    db = sqlite3.connect(path)
    nodes = [f"{t}\t{x}" for t in ("woman", "event") for (x,) in db.execute(f"SELECT name FROM {t}")]
    edges = []
    for a, b in db.execute("SELECT woman, event FROM attended"):
        edges += [line(["woman:attended:event", a, b], {}), line(["event:rev_attended:woman", b, a], {})]
    return nodes, edges


def by_destination(folder: pathlib.Path) -> Lines:
    """A matrix whose rows are destinations."""
    import numpy

    indptr, indices = numpy.load(folder / "indptr.npy"), numpy.load(folder / "indices.npy")
    return graph(numbered(len(indptr) - 1), [(a, b, {}) for b in range(len(indptr) - 1) for a in indices[indptr[b] : indptr[b + 1]]])


def ogb_nodes(path: pathlib.Path) -> Lines:
    import numpy

    a = numpy.load(path / "raw" / "data.npz")
    labels = numpy.load(path / "raw" / "node-label.npz")["node_label"]
    nodes = [(i, {"feat": x, "label": y}) for i, (x, y) in enumerate(zip(a["node_feat"], labels))]
    return graph(nodes, [(x, y, {"feat": f}) for (x, y), f in zip(a["edge_index"].T, a["edge_feat"])])


def ogb_graphs(path: pathlib.Path) -> Lines:
    import pandas

    def load(name: str) -> Any:
        return pandas.read_csv(path / "raw" / f"{name}.csv.gz", header=None).to_numpy()

    nodes, edges = [line([g], {"label": v}) for g, v in enumerate(load("graph-label"))], []
    node_feat, edge, edge_feat = iter(load("node-feat")), iter(load("edge")), iter(load("edge-feat"))
    for g, ((n,), (m,)) in enumerate(zip(load("num-node-list"), load("num-edge-list"))):
        nodes += [line([g, "_N", i], {"feat": next(node_feat)}) for i in range(n)]
        edges += [line([g, E, *next(edge)], {"feat": next(edge_feat)}) for _ in range(m)]
    return nodes, edges
