"""Predicts the section of Debian packages with TF-GNN, from TFRecords of graphmill, with a Keras model.

    graphmill quickstart --out quickstart
    python train.py quickstart/samples
    python train.py quickstart/samples 1      # one epoch in place of three

Each record is the neighbourhood of one package, which is its first node. A quarter of the records are for testing.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable

import tensorflow as tf
import tensorflow_gnn as tfgnn

GOAL = 0.70  # test accuracy for "time to accuracy"
WIDTH = 64
AROUND = ["depends", "needed_by", "recommends", "has_tag", "built_from", "maintained_by"]  # edge sets that begin at packages


def read(folder: pathlib.Path, spec: tfgnn.GraphTensorSpec, test: bool) -> tf.data.Dataset:
    """Batches of graphs as one graph of many components, and the label of the first package of each."""

    def parse(records: tf.Tensor) -> tuple[tfgnn.GraphTensor, tf.Tensor]:
        graph = tfgnn.parse_example(spec, records).merge_batch_to_components()
        return graph, tfgnn.gather_first_node(graph, "package", feature_name="label")

    records = tf.data.TFRecordDataset(sorted(map(str, folder.glob("samples.tfrecord-*"))))
    part = records.enumerate().filter(lambda i, _: (i % 4 == 0) == test).map(lambda _, record: record)
    if not test:
        part = part.shuffle(4000, seed=0)
    return part.batch(50).map(parse, num_parallel_calls=1).prefetch(2)


def build(spec: tfgnn.GraphTensorSpec, classes: int) -> tf.keras.Model:
    dense: Callable[[], tf.keras.layers.Layer] = lambda: tf.keras.layers.Dense(WIDTH, "relu")

    def nodes(node_set: tfgnn.NodeSet, *, node_set_name: str) -> tf.Tensor:
        if node_set_name == "package":  # without label and section, which are to be predicted
            sizes = [tf.math.log1p(tf.cast(node_set[name], tf.float32)) / 10 for name in ("size", "installed_size")]
            kind = tf.keras.layers.Hashing(16)(node_set["priority"])
            return dense()(tf.concat([tf.stack(sizes, 1), tf.one_hot(kind, 16)], 1))
        if node_set_name in ("tag", "maintainer"):
            return tf.keras.layers.Embedding(1024, WIDTH)(tf.keras.layers.Hashing(1024)(node_set["#id"]))
        return tfgnn.keras.layers.MakeEmptyFeature()(node_set)

    graph = inputs = tf.keras.layers.Input(type_spec=spec)
    graph = tfgnn.keras.layers.MapFeatures(node_sets_fn=nodes, edge_sets_fn=lambda *_, **__: {})(graph)
    for _ in range(2):
        convolutions = {e: tfgnn.keras.layers.SimpleConv(dense(), "mean", receiver_tag=tfgnn.SOURCE) for e in AROUND}
        update = tfgnn.keras.layers.NodeSetUpdate(convolutions, tfgnn.keras.layers.NextStateFromConcat(dense()))
        graph = tfgnn.keras.layers.GraphUpdate(node_sets={"package": update})(graph)
    seed = tfgnn.keras.layers.ReadoutFirstNode(node_set_name="package")(graph)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(classes)(seed))


def main(folder: pathlib.Path, epochs: int = 3) -> None:
    tf.keras.utils.set_random_seed(0)
    spec = tfgnn.create_graph_spec_from_schema_pb(tfgnn.read_schema(str(folder / "schema.pbtxt")))
    train, test = read(folder, spec, False), read(folder, spec, True)
    counts = tf.math.bincount(tf.concat([y for _, y in train], 0))
    largest = tf.concat([y for _, y in test], 0) == tf.argmax(counts)
    print(f"largest section: test accuracy {tf.reduce_mean(tf.cast(largest, tf.float32)):.3f}")

    model = build(train.element_spec[0], len(counts))
    optimiser = tf.keras.optimizers.Adam(0.003)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(reduce_retracing=True)
    def step(graph: tfgnn.GraphTensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            value = loss(y, model(graph, training=True))
        optimiser.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
        return value

    predict = tf.function(model, reduce_retracing=True)
    seconds, waited, reached = 0.0, 0.0, None
    for _ in range(epochs):
        start = asked = time.perf_counter()
        for graph, y in train:
            waited += time.perf_counter() - asked
            step(graph, y)
            asked = time.perf_counter()
        seconds += time.perf_counter() - start
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
        for graph, y in test:
            accuracy.update_state(y, predict(graph))
        now = float(accuracy.result())
        if now >= GOAL and reached is None:
            reached = seconds
    goal = f"{GOAL:.2f} after {reached:.1f} s" if reached else f"{GOAL:.2f} not reached"
    print(f"TFRecords: test accuracy {now:.3f}, {goal}, waited {waited / seconds:.0%} of the time")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:]))
