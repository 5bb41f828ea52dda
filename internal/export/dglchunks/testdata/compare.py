"""Reads a chunked graph as DGL's tools do and compares it with a graph that DGL saved.

usage: python compare.py FOLDER GRAPH.bin

As DGL's tools: edges of CSV files are two columns without a header, separated by a
space whatever the metadata say; the table of a Parquet file becomes an array of the
shape that the file has in its metadata; a feature is its chunks end to end; paths are
relative to the folder; the counts are in num_nodes_per_type and
num_edges_per_type.
"""

import ast
import json
import os
import sys

os.environ["DGLBACKEND"] = "pytorch"
import dgl
import numpy as np
import pyarrow.csv
import pyarrow.parquet

folder, saved = sys.argv[1:]
meta = json.load(open(folder + "/metadata.json"))
g = dgl.load_graphs(saved)[0][0]


def read(spec, edges):
    parts = []
    for name in spec["data"]:
        assert not os.path.isabs(name), name
        path = os.path.join(folder, name)
        kind = spec["format"]["name"]
        if kind == "csv":
            assert edges and spec["format"]["delimiter"] == " "
            table = pyarrow.csv.read_csv(
                path,
                read_options=pyarrow.csv.ReadOptions(autogenerate_column_names=True),
                parse_options=pyarrow.csv.ParseOptions(delimiter=" "),
            )
            parts.append(np.stack([table["f0"].to_numpy(), table["f1"].to_numpy()], 1))
        elif kind == "parquet":
            array = pyarrow.parquet.read_table(path).to_pandas().to_numpy()
            said = (pyarrow.parquet.read_metadata(path).schema.to_arrow_schema().metadata or {}).get(b"shape")
            assert edges or said, path
            parts.append(array.reshape(ast.literal_eval(said.decode())) if said else array)
        else:
            parts.append(np.load(path))
        assert len(parts[-1]), f"{path} is empty"
    return np.concatenate(parts)


def same(what, found, expected):
    if expected.dtype == np.int16:  # at which DGL's dispatch stops
        expected = expected.astype(np.int32)
    assert found.dtype == expected.dtype and found.shape == expected.shape, (what, found.dtype, found.shape, expected.dtype, expected.shape)
    assert np.array_equal(found, expected), what


assert sorted(meta["node_type"]) == sorted(g.ntypes)
for t, n, chunks in zip(meta["node_type"], meta["num_nodes_per_type"], meta["num_nodes_per_chunk"]):
    assert n == sum(chunks) == g.num_nodes(t), t
    data = meta["node_data"].get(t, {})
    assert sorted(data) == sorted(g.nodes[t].data), t
    for name, spec in data.items():
        same(f"{t}/{name}", read(spec, False), g.nodes[t].data[name].numpy())
assert sorted(meta["edge_type"]) == sorted(":".join(e) for e in g.canonical_etypes)
for t, n, chunks in zip(meta["edge_type"], meta["num_edges_per_type"], meta["num_edges_per_chunk"]):
    e = tuple(t.split(":"))
    assert n == sum(chunks) == g.num_edges(e), t
    same(t, read(meta["edges"][t], True), np.stack([x.numpy() for x in g.edges(etype=e, order="eid")], 1))
    data = meta["edge_data"].get(t, {})
    assert sorted(data) == sorted(g.edges[e].data), t
    for name, spec in data.items():
        same(f"{t}/{name}", read(spec, False), g.edges[e].data[name].numpy())
print("ok")
