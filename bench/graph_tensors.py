"""Reads and writes Examples with graphmill.tfgnn, as peer_tfgnn.py does with TF-GNN: one JSON on stdout.

graph_tensors.py read SCHEMA FILES...   parse_examples, to GraphTensors in NumPy
graph_tensors.py write SCHEMA FILES... [--seconds 10]   write_examples of the first 2000 of them
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time

from graphmill import tfgnn


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["read", "write"])
    p.add_argument("schema")
    p.add_argument("files", nargs="+")
    p.add_argument("--seconds", type=float, default=10)
    args = p.parse_args()
    schema = tfgnn.read_schema(args.schema)
    if args.what == "read":
        count, start = 0, time.perf_counter()
        for file in sorted(args.files):
            for _ in tfgnn.parse_examples(file, schema):
                count += 1
        seconds = time.perf_counter() - start
    else:
        graphs = []
        for g in tfgnn.parse_examples(min(args.files), schema):
            graphs.append(g)
            if len(graphs) == 2000:
                break
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.tfrecord")
            tfgnn.write_examples(out, graphs[:10])  # starts the codec
            count, start = 0, time.perf_counter()
            while (seconds := time.perf_counter() - start) < args.seconds:
                count += tfgnn.write_examples(out, graphs)
    print(json.dumps({"records": count, "seconds": seconds, "records_per_second": count / seconds}))


if __name__ == "__main__":
    main()
