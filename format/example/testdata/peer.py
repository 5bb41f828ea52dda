"""Reads Examples with the real TF-GNN.

stdin: a JSON object a line: schema (text), record (base64), readout (bool).
stdout: an object a line: error, or graph, record, text and io_spec.
"""

import base64
import json
import math
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import tensorflow as tf
import tensorflow_gnn as tfgnn
from google.protobuf import text_format


def plain(v):
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, bytes):
        return v.decode("latin-1")
    if isinstance(v, float) and not math.isfinite(v):
        return "NaN" if math.isnan(v) else "Infinity" if v > 0 else "-Infinity"
    return v


def tensor(t):
    ragged = isinstance(t, tf.RaggedTensor)
    shape = t.shape.as_list()
    shape[0] = int(t.nrows() if ragged else tf.shape(t)[0])
    dtype = t.dtype.name
    if t.dtype.is_floating:
        widen = lambda x: tf.constant(x.numpy().astype("float64"))  # tf.cast takes subnormal numbers for 0
        t = tf.ragged.map_flat_values(widen, t) if ragged else widen(t)
    return {
        "dtype": dtype,
        "shape": shape,
        "ragged_rank": t.ragged_rank if ragged else 0,
        "value": plain(t.to_list() if ragged else t.numpy().tolist()),
    }


def features(piece):
    return {name: tensor(t) for name, t in piece.get_features_dict().items()}


def view(graph):
    return {
        "context": features(graph.context),
        "node_sets": {n: {"features": features(s), "sizes": s.sizes.numpy().tolist()} for n, s in graph.node_sets.items()},
        "edge_sets": {
            n: {
                "features": features(s),
                "sizes": s.sizes.numpy().tolist(),
                "source_set": s.adjacency.source_name,
                "source": s.adjacency.source.numpy().tolist(),
                "target_set": s.adjacency.target_name,
                "target": s.adjacency.target.numpy().tolist(),
            }
            for n, s in graph.edge_sets.items()
        },
    }


SPECS = {}


def answer(q):
    raw = base64.b64decode(q["record"])
    if q["schema"] not in SPECS:
        spec = tfgnn.create_graph_spec_from_schema_pb(tfgnn.parse_schema(q["schema"]))
        SPECS[q["schema"]] = spec, {k: repr(v) for k, v in tfgnn.get_io_spec(spec).items()}
    spec, io_spec = SPECS[q["schema"]]
    example = tf.train.Example.FromString(raw)
    sizes = [len(f.int64_list.value) for k, f in example.features.feature.items() if k.endswith("#size")]
    if max(sizes, default=1) > 1:
        spec = spec.relax(num_components=True)
    graph = tfgnn.parse_single_example(spec, tf.constant(raw), validate=True)
    if q["readout"]:
        for name in graph.node_sets:
            if name.startswith("_readout"):
                tfgnn.validate_graph_tensor_for_readout(graph, readout_node_set=name)
    return {
        "graph": view(graph),
        "record": base64.b64encode(tfgnn.write_example(graph).SerializeToString(deterministic=True)).decode(),
        "text": text_format.MessageToString(example),
        "io_spec": io_spec,
    }


for line in sys.stdin:
    try:
        out = answer(json.loads(line))
    except Exception as e:
        out = {"error": f"{type(e).__name__}: {e}"[:2000]}
    print(json.dumps(out), flush=True)
