#!/usr/bin/env python3
"""Reads and writes TFRecords by TF-GNN and TensorFlow, and times them: one JSON on stdout.

  peer_tfgnn.py parse SCHEMA FILES... [--batch 256] [--threads 2]     tfgnn.parse_example on batches
  peer_tfgnn.py write SCHEMA FILES... [--seconds 10]                  tfgnn.write_example, one graph after the other
  peer_tfgnn.py rows KEY,KEY FILES... [--batch 4096] [--threads 2]    tf.io.parse_example of string features

The clock starts after TensorFlow is imported and the first batch is done, so that neither
start-up nor tracing counts.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if importlib.util.find_spec("tf_keras"):
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf


def batches(args: argparse.Namespace, parse: Callable[[Any], Any]) -> tuple[int, float]:
    """Counts the records that go through parse, from the second batch on."""
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    files = sorted(args.files)
    data = tf.data.TFRecordDataset(files, num_parallel_reads=min(args.threads, len(files)))
    data = data.batch(args.batch).map(lambda b: (tf.shape(b)[0], parse(b)), num_parallel_calls=args.threads).prefetch(2)
    start: float | None = None
    count = 0
    for n, _ in data:
        if start is None:
            start = time.perf_counter()
            continue
        count += int(n)
        if args.records and count >= args.records:
            break
    assert start is not None, "found no batch"
    return count, time.perf_counter() - start


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["parse", "write", "rows"])
    p.add_argument("of", help="the schema, or the keys")
    p.add_argument("files", nargs="+")
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--records", type=int, default=0, help="stop after as many (default: read all)")
    p.add_argument("--seconds", type=float, default=10)
    args = p.parse_args()
    if args.what == "rows":
        spec = {key: tf.io.FixedLenFeature([], tf.string) for key in args.of.split(",")}
        count, seconds = batches(args, lambda b: tf.io.parse_example(b, spec))
    else:
        import tensorflow_gnn as tfgnn

        spec = tfgnn.create_graph_spec_from_schema_pb(tfgnn.read_schema(args.of))
        if args.what == "parse":
            count, seconds = batches(args, lambda b: tfgnn.parse_example(spec, b))
        else:
            graphs = [tfgnn.parse_single_example(spec, r) for r in tf.data.TFRecordDataset(sorted(args.files)).take(100)]
            tfgnn.write_example(graphs[0]).SerializeToString()
            count, start = 0, time.perf_counter()
            while (seconds := time.perf_counter() - start) < args.seconds:
                tfgnn.write_example(graphs[count % len(graphs)]).SerializeToString()
                count += 1
    print(json.dumps({"records": count, "seconds": seconds, "records_per_second": count / seconds}))


if __name__ == "__main__":
    main()
