"""Compares packs as TFRecords, as TF-GNN reads and pads them, with the collection from which they were made.

python check_tfgnn.py RECORDS COLLECTION
"""

from __future__ import annotations

import json
import pathlib
import sys

import numpy as np
import tensorflow as tf
import tensorflow_gnn as tfgnn
from check import expected


def main(records_folder: str, collection: str) -> None:
    folder, want = pathlib.Path(records_folder), expected(collection)
    schema = tfgnn.read_schema(str(folder / "schema.pbtxt"))
    spec = tfgnn.create_graph_spec_from_schema_pb(schema).relax(num_components=True, num_nodes=True, num_edges=True)
    sizes = tfgnn.SizeConstraints(**json.loads((folder / "size_constraints.json").read_text()))
    ptr, ids = np.load(folder / "pack_ptr.npy"), np.load(folder / "graph_id.npy")
    (nodes,), (edges,) = schema.node_sets, schema.edge_sets
    name = min(schema.node_sets[nodes].features)
    records = tf.data.TFRecordDataset(sorted(map(str, folder.glob("samples.tfrecord-*"))))
    packs = 0
    for p, record in enumerate(records):
        g = tfgnn.parse_single_example(spec, record)
        padded, mask = tfgnn.pad_to_total_sizes(g, sizes)
        assert padded.spec.total_num_components == sizes.total_num_components, "components"
        of_nodes = tfgnn.pool_nodes_to_context(padded, nodes, "sum", feature_name=name)
        at_edges = tfgnn.broadcast_node_to_edges(padded, edges, tfgnn.SOURCE, feature_name=name)
        of_edges = tfgnn.pool_edges_to_context(padded, edges, "sum", feature_value=at_edges)
        sums = np.stack([of_nodes.numpy(), of_edges.numpy()], 1)[mask.numpy()]
        np.testing.assert_allclose(sums, want[ids[ptr[p] : ptr[p + 1]]], rtol=1e-4, atol=1e-4)
        packs += 1
    assert packs == len(ptr) - 1 and len(set(ids)) == len(want), "packs or graphs are missing"
    print(f"{packs} packs, {len(want)} graphs: equal sums with TF-GNN")


if __name__ == "__main__":
    main(*sys.argv[1:])
