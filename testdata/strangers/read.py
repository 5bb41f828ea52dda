"""Reads the files of this folder with other libraries, and writes what it found to expected.json: counts, and a digest of ids and values.

    python read.py          # all files; the versions of the libraries are in MANIFEST.md
    python read.py PATH     # prints the lines of one

A line is a node (type, id, values) or an edge (type, ids of the ends, values), and the digest is that of the sorted lines. Cells are separated by tabs, and a
value is NAME=VALUE: a text; true or false; a whole number in decimal; the bits of another number as float32. What is missing is left out. No code of Graphmill is
used. A file that is refused has a part of the error, and what the advice in it gave.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

from readers import (
    Lines,
    adjacency_frame,
    adjacency_list,
    archive,
    both_ways,
    by_destination,
    clubs,
    cx2,
    cytoscape,
    dense,
    dense_text,
    dimacs,
    edge_list,
    frame,
    graphml,
    jgf,
    kuzu,
    market,
    memgraph_csv,
    memgraph_json,
    metis_weights,
    neighbours,
    node_link,
    ntriples,
    of_igraph,
    of_networkit,
    ogb_graphs,
    ogb_nodes,
    openke,
    pairs,
    places,
    sif,
    sparse,
    splits,
    table,
    tu,
    unigraph,
    words,
)

HERE = pathlib.Path(__file__).parent

# The cases: path, kind in docs/formats.md, library, reader, what else.

Case = dict[str, Any]
CASES: list[Case] = []


def read(path: str, row: str, program: str, reader: Callable[[pathlib.Path], Lines], warning: str = "", **options: Any) -> None:
    CASES.append({"path": path, "row": row, "program": program, "reader": reader, "warning": warning, "options": options})


def refused(path: str, row: str, error: str, tried: str, **options: Any) -> None:
    CASES.append({"path": path, "row": row, "error": error, "tried": tried, "options": options})


MM, SCIPY = "Matrix Market", "scipy"
for name in [
    "A",
    "LFAT5",
    "LFAT5_hypersparse",
    "LFAT5_two",
    "comments_full",
    "comments_west0067",
    "cover",
    "cover_structure",
    "empty",
    "full",
    "full_symmetric",
    "karate",
    "ldbc-cdlp-directed-example",
    "ldbc-directed-example",
    "ldbc-directed-example-bool",
    "ldbc-undirected-example-unweighted",
    "ldbc-wcc-example",
    "lp_afiro",
    "lp_afiro_structure",
    "mangled14",
    "mangled_bool",
    "mangled_skew",
    "matrix_bool",
    "matrix_int8",
    "msf1",
    "sample",
    "skew_fp32",
    "skew_int16",
    "jagmesh7",
]:
    read(f"lagraph/{name}.mtx", MM, SCIPY, market)
for name in ("GD01_b", "Hamrle1", "Ragusa16", "chesapeake"):
    read(f"networkit/{name}.mtx", MM, SCIPY, market)
for name in ("4", "4w"):
    read(f"gapbs/{name}.mtx", MM, SCIPY, market)
read("networkit/tiny_05.matrixmarket", MM, SCIPY, market)
read("kuzu-npy/two_dim_double.npy", "dense matrix in NumPy", "numpy", dense)
read("kuzu-npy/two_dim_int64.npy", "dense matrix in NumPy", "numpy", dense)
for name in ("example", "comments", "spaceseparated"):
    read(f"networkit/{name}.edgelist", "table of edges", "pandas", words)
read("networkit/network.dat", "table of edges", "pandas", words)
read(
    "networkit/spaceseparated_weighted.edgelist",
    "table of edges",
    "pandas",
    lambda p: words(p, "weight"),
    "the file has no header: its columns are read as src, dst and weight",
)
read("networkit/alphabet.edgelist", "table of edges", "pandas", lambda p: words(p, "weight", numbers=False), Columns="src,dst,weight")
read("networkit/hamming6-4.edgelist", "table of edges", "pandas", lambda p: words(p, comment="%"), Format="edge-list")
read("gapbs/4.el", "table of edges", "pandas", words)
read("gapbs/4.wel", "table of edges", "pandas", lambda p: words(p, "weight"))
read("networkit/foodweb-baydry.konect", "KONECT network", "networkit", of_networkit("KONECT", weights=True, directed=True))
for name in ("celegans_metabolic", "example", "grid-5x5-dist-arch", "jazz", "karate", "tiny_01"):
    read(f"networkit/{name}.graph", "METIS graph", "networkit", of_networkit("METIS"))
for name in ("lesmis", "tie", "tiny_02"):
    read(f"networkit/{name}.graph", "METIS graph", "networkit", of_networkit("METIS", weights=True))
for name in ("networkit/tiny_03.graph", "networkit/tiny_04.graph", "kahip/example_weighted.graph"):
    read(name, "METIS graph", "Python's int", metis_weights)
read("gapbs/4.gr", "DIMACS graph", "Python's int", dimacs)
read("graphology/basic.graphml", "GraphML", "networkx", graphml)
read("graphology/miserables.graphml", "GraphML", "networkx", graphml)
read("jgf/empty_test.json", "JSON Graph Format", "Python's json", jgf)
read("jgf/les_miserables.json", "JSON Graph Format", "Python's json", jgf)
read("jgf/test.network.json", "JSON Graph Format", "Python's json", jgf, "lists and objects are left out: evidences")
read("jgf/usual_suspects.json", "JSON Graph Format", "Python's json", jgf)
read("vega/miserables.json", "node-link JSON", "Python's json", places)
for name in ("abcde", "cose-bilkent-layout-compound", "edge-arrows", "network-curve", "network-images"):
    read(f"cytoscape-js/{name}.json", "Cytoscape.js", "Python's json", cytoscape)
read("cytoscape-js/edge-types.json", "Cytoscape.js", "Python's json", cytoscape, Missing=["column"])
read("ndex2/demo.cx2", "Cytoscape Exchange 2", "ndex2", cx2)
read("ndex2/glypican2.cx2", "Cytoscape Exchange 2", "ndex2", cx2, "lists and objects are left out: alias")
read("ndex2/no_edge_style2.cx2", "Cytoscape Exchange 2", "ndex2", cx2)
read("py4cytoscape/galFiltered.sif", "simple interactions of Cytoscape", "Python's split", sif)
for name in ("rdfms-seq-representation-test003a", "rdfs-no-cycles-in-subClassOf-test001", "rdfs-subPropertyOf-semantics-test001"):
    read(f"rdf/{name}.nt", "RDF N-Triples, N-Quads", "rdflib", ntriples)
read("rdf/datatypes-test010.nt", "RDF N-Triples, N-Quads", "rdflib", ntriples, "1 triples are left out, because their object is a literal")
read("nations", "head, relation, tail", "pandas", splits)
read("MUTAG", "TU data set", "numpy", tu)
read(
    "tfgnn/homogeneous/citrus.pbtxt",
    "TF-GNN unigraph",
    "Python's csv",
    unigraph(("name", "weight"), fruits=("fruits.csv",), tastelike=("tastelike.csv", "fruits", "fruits")),
)
read(
    "tfgnn/node_vs_edge/schema.pbtxt",
    "TF-GNN unigraph",
    "Python's csv",
    unigraph(
        (),
        node_set_one=("node_set_one.csv",),
        node_set_two=("node_set_two.csv",),
        one_to_two=("edge_set_one_to_two.csv", "node_set_one", "node_set_two"),
        two_to_two=("edge_set_two_to_two.csv", "node_set_two", "node_set_two"),
    ),
)
for name in ("kuzu-demo-parquet", "kuzu-gds", "kuzu-rel-group"):
    read(name, "Kùzu, LadybugDB", "kuzu", kuzu)
for name, sep in (("delim1", "|"), ("delim2", ";"), ("quote1", ";")):
    read(f"kuzu-csv/eStudyAt_{name}.csv", "table of edges", "pandas", lambda p, sep=sep: table(p, "from", "to", True, sep=sep))

# What is refused, and what its advice gave.
PY = "expected a format of graphs or tables; read it in Python: python -m graphmill import FILE --out STORE"
refused(
    "lagraph/complex.mtx",
    MM,
    "found complex values, expected real, integer or pattern; save A.real, or abs(A)",
    "scipy.io.mmwrite(OUT, scipy.io.mmread(FILE).real): 3 nodes, 9 edges",
)
for name, error, tried in (
    (
        "full_noheader",
        "expected a first line such as %%MatrixMarket matrix coordinate real general",
        "with %%MatrixMarket matrix array real general above it: 3 nodes, 9 edges",
    ),
    ("mangled1", "expected a first line such as %%MatrixMarket matrix coordinate real general", ""),
    ("mangled2", 'found the form "mangled", expected coordinate', ""),
    ("mangled3", 'found the values "mangled", expected real, integer or pattern', ""),
    ("mangled4", 'found the symmetry "mangled", expected general', ""),
    (
        "mangled5",
        "5:5: found more than 2 fields, expected 2 (src, dst)",
        "without the third and the fourth field as the one of mangled6: 2 nodes, 1 edge, which SciPy reads as it is",
    ),
    ("mangled6", "5:7: found more than 3 fields, expected 3 (src, dst, weight)", "without the fourth field: 2 nodes, 1 edge, which SciPy reads as it is"),
    ("mangled7", "5:4: found 2 fields, expected 3 (src, dst, weight)", ""),
    ("mangled8", '4: found "3", expected the numbers of rows, columns and entries', ""),
    ("mangled9", "4: found 3 rows and 4 columns, expected as many rows as columns in a symmetric matrix", ""),
    ("mangled10", "found 2 rows, expected 3, as", ""),
    ("mangled11", '5:3: found "zero" in column "dst", expected an integer', ""),
    ("mangled12", "5:4: found 2 fields, expected 3 (src, dst, weight)", ""),
    ("mangled13", "7:3: found destination 9998, expected an id of node type column, below 4", ""),
    (
        "mangled15",
        '5: found ".646 .959", expected a number; write each entry on a line of its own',
        "the values each on a line: the next error is that there are more than the sizes say, which SciPy reads over",
    ),
    ("mangled_format", "found a dense matrix (array) of the values pattern, expected real or integer; write the values", ""),
    ("matrix_fp32", 'found "-inf" in column "weight", expected an integer from', "with real in place of integer in the first line: 7 nodes, 12 edges"),
    (
        "matrix_uint64",
        'found "18446744073709551615" in column "weight", expected an integer from',
        "with real in place of integer in the first line: 7 nodes, 12 edges",
    ),
):
    refused(f"lagraph/{name}.mtx", MM, error, tried or "SciPy refuses it, too: the file is wrong")
refused(
    "networkit/hamming6-4.edgelist",
    MM,
    'found "9 8", expected the numbers of rows, columns and entries',
    "--format edge-list, a case of its own: 65 nodes, 704 edges",
)
refused(
    "kuzu-npy/three_dim_int64.npy",
    "pairs in NumPy",
    "found shape [2 3 4], expected (2, E) or (E, 2), the ends of edges",
    "numpy.save(OUT, numpy.load(FILE)[0].T): shape (4, 3) is refused with the same line: the file is no graph",
)
refused(
    "networkit/alphabet.edgelist",
    "table of edges",
    "which contains a number, expected a header; name the columns if the file has none; for example `Columns` src,dst,weight:float32",
    "--columns src,dst,weight, a case of its own: 5 nodes, 4 edges",
)
refused(
    "kuzu-csv/eStudyAt_escape1.csv",
    "table of edges",
    '2:16: found "5" after a closing quote, expected a delimiter or the end of the line; write a quote inside quotes twice',
    "kuzu-csv/eStudyAt_escape2.csv is that file with the quotes twice: 9 nodes, 3 edges",
)
read("kuzu-csv/eStudyAt_escape2.csv", "table of edges", "pandas", lambda p: table(p, "from", "to", True, sep=";"))
FLIGHTS = "found the columns origin, destination, count, expected one of"
refused("vega/flights-airport.csv", "table of edges", FLIGHTS, "--src origin --dst destination, a case of its own: 305 nodes, 5366 edges")
read(
    "vega/flights-airport.csv",
    "table of edges",
    "pandas",
    lambda p: table(p, "origin", "destination"),
    'found equal ids in the columns "origin" and "destination"',
    Src="origin",
    Dst="destination",
)
refused(
    "cytoscape-web/autori_mreza_edge.csv", "table of edges", "expected one of", "--delimiter ';' --columns src,dst, a case of its own: 150 nodes, 750 edges"
)
read("cytoscape-web/autori_mreza_edge.csv", "table of edges", "pandas", lambda p: words(p, numbers=False, sep=";"), Delimiter=";", Columns="src,dst")
refused("ndex2/sample_edges.txt", "table of edges", "expected one of", "--columns src,dst,interaction, a case of its own: 7 nodes, 8 edges")
read("ndex2/sample_edges.txt", "table of edges", "pandas", lambda p: words(p, "interaction", numbers=False), Columns="src,dst,interaction")
read("ndex2/SIMPLE_WITH_ATTRIBUTES.txt", "table of edges", "pandas", lambda p: table(p, "SOURCE", "TARGET", sep="\t"))
refused(
    "ndex2/edge_list_network_adrian_small.txt",
    "table of edges",
    "found id 101060200 among 274 edges, expected ids below 67108864; read the ids as strings",
    "--ids string, a case of its own: 485 nodes, 274 edges",
)
read("ndex2/edge_list_network_adrian_small.txt", "table of edges", "pandas", lambda p: words(p, numbers=False, dtype=str), IDs="string")
for name in ("MDA1", "SIMPLE3"):
    refused(
        f"ndex2/{name}.txt",
        "table of edges",
        "found line ends that are carriage returns alone, expected LF or CRLF; convert the file: tr '\\r' '\\n' < FILE",
        "so: SIMPLE3.txt with --columns src,dst,interaction has 7 nodes and 8 edges; MDA1.txt with --src Bait --dst Prey, and then --missing for its cells NA, as the next error says",
    )
DISEASE = "which contains a number, expected a header; name the columns if the file has none"
SPARSE = "found ids up to 40, and at most 10 of them in use"
for name in ("extra-header", "interaction", "no-header"):
    path = f"py4cytoscape/disease.net.{name}.txt"
    refused(path, "table of edges", DISEASE, "--columns src,dst,weight,interaction, a case of its own: 41 nodes, 5 edges")
    read(path, "table of edges", "pandas", lambda p: words(p, "weight", "interaction"), SPARSE, Columns="src,dst,weight,interaction")
refused(
    "metis/test.mgraph",
    "METIS graph",
    "found a file of no known format, expected one of those that are imported; `ListFormats` shows them, and `Format` names one",
    "--format metis, a case of its own: 766 nodes, 2628 edges",
)
read("metis/test.mgraph", "METIS graph", "Python's int", metis_weights, Format="metis")
refused(
    "networkit/jazz2double.graph",
    "METIS graph",
    '2: found "0.1", expected a number below 2^32; METIS has whole weights alone: scale and round them',
    "the weights times 10, rounded: 5 nodes, 12 edges",
)
refused(
    "gapbs/4.graph",
    "METIS graph",
    "3: found 0 numbers, expected at least 1, as fmt says: the size and weights of the node, then its neighbours",
    "14 53 in place of 14 53 100 in the header: the next error says that the counts are of edges in one direction, which METIS's manual does not allow: gapbs/4.el is the same graph as a list",
)
refused(
    "gapbs/4w.graph",
    "METIS graph",
    "1: found 53 edges in the header, expected half of the 53 neighbours that the lines list; each edge counts once",
    "the graph is directed, which METIS does not read either: gapbs/4.wel is the same graph as a list",
)
refused(
    "graphology/attributes.graphml",
    "GraphML",
    'found "" in column "weight", expected a number in the range of float64; fill the cell, or give `Missing` a value for it',
    "--missing weight=column, a case of its own: 6 nodes, 14 edges",
)
read("graphology/attributes.graphml", "GraphML", "networkx", graphml, Missing=["weight=column"])
refused(
    "graphology/miserables_broken.graphml",
    "GraphML",
    '12: found data of the key "label", expected one of the keys before the graph',
    "with that key before the graph, the next error names the next: graphology/miserables.graphml is the file with all of them. networkx refuses it, too",
)
refused(
    "graphology/missing_nodes.graphml",
    "GraphML",
    '20: found destination "9306289", expected an id of node type _N; add the node, or give `DanglingEdges` drop or zeros',
    "--dangling-edges zeros, a case of its own: 51 nodes, 37 edges",
)
read("graphology/missing_nodes.graphml", "GraphML", "networkx", graphml, DanglingEdges="zeros")
for path, what in (
    ("graphology-gexf/data.gexf", "a GEXF file"),
    ("graphology-gexf/les_miserables.gexf", "a GEXF file"),
    ("networkit/dynamicTest3.gexf", "a GEXF file"),
    ("networkit/jazz2_directed.gml", "a GML file"),
    ("networkit/jazz2_undirected.gml", "a GML file"),
    ("networkit/looptest1.gml", "a GML file"),
):
    refused(
        path, "the kinds above", f"found {what}, {PY}", "python -m graphmill import FILE --out STORE: test_repository_strangers of python/tests/test_files.py"
    )
refused(
    "jgf/car_graphs.json",
    "JSON Graph Format",
    "found a second graph, expected one; name one by its number, from 0, as FILE@graph=0",
    "both graphs, which are cases",
)
for number in (0, 1):
    read(f"jgf/car_graphs.json@graph={number}", "JSON Graph Format", "Python's json", jgf)
for name in ("hyper-directed", "hyper-undirected"):
    refused(
        f"jgf/{name}.json",
        "JSON Graph Format",
        "found hyperedges, expected edges of two ends; write a node for each hyperedge, and an edge to each of its nodes",
        "a program of the user's: no library turns JGF's hyperedges into edges",
    )
refused(
    "cytoscape-js/edge-types.json",
    "Cytoscape.js",
    'found "" in column "flipLabel", expected 0, 1, true or false; fill the cell, or give `Missing` a value for it',
    "--missing column, a case of its own",
)
refused(
    "ndex2/SIMPLE_NETWORK.cx",
    "the first version of Cytoscape Exchange (CX)",
    "found a network of the first version of Cytoscape Exchange (CX), expected a format of graphs or tables; convert it in Python: ndex2.create_nice_cx_from_file(FILE).to_networkx()",
    "so, and given to from_networkx: 4 nodes, 10 edges",
)
refused(
    "tfgnn/heterogeneous/graph.pbtxt",
    "TF-GNN unigraph",
    'owns_card.csv:9:9: found destination "1238474857489384", expected an id of node type creditcard; add the node, or give `DanglingEdges` drop or zeros',
    "--dangling-edges drop: 108 nodes, 18 edges",
)
refused(
    "tfgnn/feature_repr.pbtxt",
    "TF-GNN unigraph",
    'edge set "is-friend": found no filename in its metadata, expected the table of its edges; add the filename of its table',
    "the schema has no tables: nothing to import",
)
refused(
    "kuzu-demo-csv",
    "Kùzu, LadybugDB",
    "schema.cypher:2: found CREATE within the statement of line 1, expected a semicolon before it; end each statement with one",
    "with a semicolon after each line: 7 nodes, 8 edges. Kùzu refuses it, too",
)
for path in ("networkit/celegans_metabolic.thrill", "networkit/example2.dgs", "networkit/foodweb-baydry.nkbg004", "networkit/tiny_05.rb"):
    refused(
        path,
        "others",
        "found a file of no known format, expected one of those that are imported; `ListFormats` shows them, and `Format` names one",
        "a format of its program alone, or of Fortran's matrices (.rb): no converter was tried",
    )
for path in ("kuzu-demo-csv/schema.cypher", "kuzu-demo-csv/copy.cypher"):
    refused(
        path,
        "Cypher (`.cypher`, `.cypherl`)",
        "found statements of Cypher, expected a format of graphs or tables; name the folder of an export of Kùzu",
        "the folder, a case of its own",
    )

# Files that libraries of others wrote: written/make.py.
W = "written/"
for name in ("dense_bool", "dense_float32"):
    read(W + f"numpy/{name}.npy", "dense matrix in NumPy", "numpy", dense)
for name in ("edge_index", "pairs_uint16"):
    read(W + f"numpy/{name}.npy", "pairs in NumPy", "numpy", pairs)
refused(
    W + "numpy/pairs_big_endian.npy",
    "pairs in NumPy",
    "found big-endian dtype \">i4\", expected little-endian; save a.astype(a.dtype.newbyteorder('<'))",
    "saved so: 34 nodes, 78 edges",
)
for name in ("data", "compressed", "rows"):
    read(W + f"numpy/{name}.npz", "archive of arrays", "numpy", archive)
for name in ("karate_csr", "karate_csc", "karate_coo", "southern"):
    read(W + f"scipy/{name}.npz", "sparse matrix of SciPy", "scipy", sparse)
refused(
    W + "scipy/karate_bsr.npz",
    "sparse matrix of SciPy",
    "found a sparse matrix in the format bsr, expected csr, csc or coo; save A.tocsr()",
    "saved so: 34 nodes, 156 edges",
)
for name in ("karate", "general", "array"):
    read(W + f"scipy/{name}.mtx", MM, "scipy", market)
read(W + "numpy/dense.txt", "dense matrix as text", "numpy", dense_text, Format="dense-matrix")
refused(
    W + "numpy/dense.txt",
    "dense matrix as text",
    "for example `Columns` src,dst,weight:float32, or `Format` dense-matrix if the file is a matrix",
    "--format dense-matrix, a case of its own: 34 nodes, 156 edges",
)
read(W + "pandas/adjacency.csv", "dense matrix as text", "pandas", adjacency_frame, Format="dense-matrix")
refused(
    W + "pandas/adjacency.csv",
    "dense matrix as text",
    "or give `Format` dense-matrix if the file is a matrix",
    "--format dense-matrix, a case of its own: 15 nodes, 40 edges",
)
read(W + "numpy/edges.csv", "table of edges", "pandas", lambda p: table(p, "source", "target", True))
NO_HEADER = "the file has no header: its columns are read as src, dst and weight"
read(
    W + "numpy/exponents.txt",
    "table of edges",
    "pandas",
    lambda p: words(p, "weight", numbers=False, dtype={"src": str, "dst": str}),
    " as ids in the column ",
    Columns="src,dst,weight",
)
for name in ("plain", "weights"):
    read(W + f"networkx/{name}.edgelist", "table of edges", "networkx", edge_list, "" if name == "plain" else NO_HEADER)
read(W + "networkx/names.edgelist", "table of edges", "pandas", lambda p: words(p, "weight", numbers=False, sep="\t"), Columns="src,dst,weight")
refused(
    W + "networkx/dicts.edgelist",
    "table of edges",
    'of Python in the first line, expected columns; write the file with networkx.write_weighted_edgelist, or with write_edgelist and data=False or data=["weight"]',
    "written so: written/networkx/weights.edgelist, a case of its own",
)
read(W + "networkx/families.adjlist", "adjacency list", "networkx", adjacency_list)
refused(
    W + "networkx/families.multiline_adjlist",
    "others",
    "found a multi-line adjacency list of networkx",
    "networkx.read_multiline_adjlist and write_adjlist: 15 nodes, 40 edges",
)
read(W + "networkx/karate.graphml", "GraphML", "networkx", graphml)
read(W + "networkx/southern.graphml", "GraphML", "networkx", graphml)
read(W + "igraph/miserables.graphml", "GraphML", "networkx", graphml)
read(W + "networkx/karate.json", "node-link JSON", "networkx", lambda p: node_link(p, "links"))
read(W + "networkx/southern.json", "node-link JSON", "networkx", lambda p: node_link(p, "edges"))
read(W + "networkx/karate.cyjs", "Cytoscape.js", "Python's json", lambda p: cytoscape(p, both=True))
read(W + "networkx/neighbours.json", "lists of neighbours in JSON", "Python's json", neighbours, Format="adjacency-json")
refused(
    W + "networkx/neighbours.json",
    "lists of neighbours in JSON",
    "give `Format` adjacency-json for neighbours, or name the file in a graph.yaml as a table with the columns id and values",
    "--format adjacency-json, a case of its own: 34 nodes, 156 edges",
)
refused(
    W + "networkx/adjacency.json",
    "node-link JSON",
    "found no list of nodes, or none of links or edges, expected both; write the file with networkx.node_link_data",
    "written so: written/networkx/karate.json, a case of its own",
)
for path, what in (
    ("networkx/karate.gml", "a GML file"),
    ("networkx/karate.gexf", "a GEXF file"),
    ("networkx/karate.net", "a Pajek file"),
    ("networkx/karate.g6", "a file of graph6 or sparse6"),
    ("networkx/karate.s6", "a file of graph6 or sparse6"),
    ("igraph/miserables.gml", "a GML file"),
    ("igraph/miserables.net", "a Pajek file"),
    ("igraph/miserables.leda", "a LEDA file"),
    ("igraph/miserables.dot", "a Graphviz file"),
    ("polars/edges.avro", "an Avro file"),
    ("arrow/edges.orc", "an ORC file"),
):
    refused(
        W + path,
        "the kinds above",
        f"found {what}, {PY}",
        "python -m graphmill import FILE --out STORE: test_repository_strangers of python/tests/test_files.py",
    )
read(W + "igraph/miserables.ncol", "list of LGL and igraph", "igraph", of_igraph("Ncol"))
read(W + "igraph/miserables.lgl", "list of LGL and igraph", "igraph", of_igraph("Lgl"))
read(W + "igraph/alone.lgl", "list of LGL and igraph", "igraph", of_igraph("Lgl"))
read(W + "igraph/miserables.txt", "table of edges", "pandas", words)
read(W + "snap/erdos.txt", "SNAP list", "pandas", lambda p: both_ways(words(p)), "the comment says that the graph is undirected")
read(W + "openke", "OpenKE", "pandas", openke)
read(W + "ndex2/karate.cx2", "Cytoscape Exchange 2", "ndex2", cx2)
read(W + "memgraph/export.csv", "Neo4j's APOC, Memgraph: one CSV", "Python's csv", memgraph_csv)
read(W + "memgraph/export.json", "Neo4j's APOC, Memgraph: JSON", "Python's json", memgraph_json)
read(W + "pandas/edges.csv", "table of edges", "pandas", frame)
read(W + "pandas/indexed.csv", "table of edges", "pandas", frame, "column 1 has no name and is left out, as the index of pandas")
read(W + "pandas/semicolons.csv", "table of edges", "pandas", lambda p: frame(p, sep=";", decimal=","))
read(W + "pandas/tabs.tsv.gz", "table of edges", "pandas", lambda p: frame(p, sep="\t"))
read(W + "pandas/edges.parquet", "table of edges in Parquet", "pandas", lambda p: frame(p, 1000))
read(W + "pandas/edges.feather", "table of edges in Arrow", "pandas", lambda p: frame(p, 1000))
read(W + "pandas/records.json", "table of edges as an array of JSON", "pandas", lambda p: frame(p, 1000))
read(W + "pandas/lines.jsonl", "table of edges in JSON lines", "pandas", lambda p: frame(p, 1000, lines=True))
for name in ("split", "columns"):
    refused(
        W + f"pandas/{name}.json",
        "table of edges as an array of JSON",
        'write a data frame with pandas.DataFrame.to_json(orient="records")',
        "written so: written/pandas/records.json, a case of its own",
    )
read(W + "polars/edges.csv", "table of edges", "pandas", lambda p: frame(p, 1000))
read(W + "polars/edges.parquet", "table of edges in Parquet", "pandas", lambda p: frame(p, 1000))
read(W + "polars/edges.arrow", "table of edges in Arrow", "pandas", lambda p: frame(p, 1000))
read(W + "polars/edges.arrows", "table of edges in Arrow", "pyarrow", lambda p: frame(p, 1000))
read(W + "polars/edges.ndjson", "table of edges in JSON lines", "pandas", lambda p: frame(p, lines=True))
read(W + "polars/edges.json", "table of edges as an array of JSON", "pandas", frame)
read(W + "polars/folder", "folder of tables", "pandas", lambda p: frame(p, 1000))
read(W + "polars/hive", "folder of tables", "pandas", lambda p: frame(p, 1000))
read(W + "arrow/edges.csv", "table of edges", "pandas", lambda p: frame(p, 1000))
read(W + "arrow/edges.feather", "table of edges in Arrow", "pandas", lambda p: frame(p, 1000))
read("sqlite:" + W + "sqlite/clubs.sqlite", "database", "Python's sqlite3", clubs)
refused(W + "sqlite/clubs.sqlite", "database", "name it as sqlite:FILE, and its tables become a graph by their keys", "sqlite:FILE, a case of its own")

read("tables.yaml", "node and edge tables", "kuzu", lambda p: kuzu(p.parent / "kuzu-demo-parquet"))
read(W + "scipy", "sparse matrix in NumPy", "numpy", by_destination, Indptr="indptr.npy", Indices="indices.npy")
read(W + "pandas/edges.csv", "table of edges from a pipe", "pandas", frame, Format="csv")
read(W + "ogb/karate", "OGB data set of nodes or links", "numpy", ogb_nodes, "split_dict.pt: not read: it is a pickle")
read(W + "ogb/text", "OGB data set of graphs", "pandas", ogb_graphs)
refused(
    W + "ogb/small",
    "OGB data set of graphs",
    "found many graphs, expected one, or OGB's text layout of many graphs of one type",
    "their arrays in a graph.yaml as docs/graph-yaml.md says: not tried with this file",
)


def digest(lines: Lines) -> dict[str, Any]:
    nodes, edges = sorted(lines[0], key=str.encode), sorted(lines[1], key=str.encode)
    return {"nodes": len(nodes), "edges": len(edges), "digest": hashlib.sha256("\n".join(nodes + edges).encode()).hexdigest()[:16]}


def main() -> None:
    out = []
    for c in CASES:
        if len(sys.argv) > 1 and c["path"] != sys.argv[1]:
            continue
        reader = c.pop("reader", None)
        if reader:
            try:
                lines = reader(HERE / c["path"].removeprefix("sqlite:"))
            except Exception as e:
                print("FAILED", c["path"], type(e), str(e)[:300])
                continue
            if len(sys.argv) > 1:
                print("\n".join(sorted(lines[0], key=str.encode) + sorted(lines[1], key=str.encode)))
            c.update(digest(lines))
            names = [
                n for n in c["program"].split() if n in ("networkx", "pandas", "scipy", "numpy", "networkit", "ndex2", "rdflib", "kuzu", "igraph", "pyarrow")
            ]
            c["program"] = " ".join(f"{n} {importlib.metadata.version(n)}" if n in names else n for n in c["program"].split())
        out.append({k: v for k, v in c.items() if v not in ("", {})})
    if len(sys.argv) == 1:
        (HERE / "expected.json").write_text("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in out) + "\n]\n", encoding="utf-8")
        print(len(out), "files")


if __name__ == "__main__":
    main()
