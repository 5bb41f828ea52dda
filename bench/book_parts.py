"""What the pages of the benchmark book share: words about peers, and the look of plots."""

from __future__ import annotations

# What the peers do that Graphmill does not, or does worse. It is true whatever the figures are.
BETTER = {
    "sample": "DGL and GraphBolt also sample on a GPU. They sample inside the trainer's process, from a graph that another program has built there in memory.",
    "csv": "polars and DuckDB are query engines: they filter and join while they read.",
    "parquet": "polars, DuckDB and pyarrow read only the columns that a query asks for, and do not sort rows.",
    "arrow": "polars and pyarrow map the file and copy nothing.",
    "npy": "DGL's graph is in memory when the conversion ends, ready for its own kernels.",
    "growing": "DGL's graph is in memory when the conversion ends, ready for its own kernels.",
    "ogb": "OGB's readers know every data set of OGB by name, and download it.",
    "strings": "polars and DuckDB join any tables by any columns.",
    "evaluate": "PyG's metrics and torchmetrics add batch to batch on a GPU, and average over ranks. scikit-learn and torchmetrics have many more metrics.",
    "features": "polars computes any expression, and scikit-learn has many more transformations; neither writes a graph or keeps the raw columns. "
    "PyTorch Frame also embeds texts and images by models, and DGF's normalizers also run in TensorFlow, inside an exported model.",
    "tfgnn": "tfgnn_sampler runs on Google Dataflow without a cluster of one's own.",
    "records": "tfgnn.parse_example is a part of a tf.data pipeline, with TensorFlow's augmentation and distribution.",
    "shards": "tf.io.parse_example parses on the workers of tf.data while a model trains.",
    "pack": "jraph and PyG pack batches while they train, without a pass over the data before.",
    "packs": "jraph and PyG need no collection and no layout on the disk, and take graphs that change in memory. PyG's batches are not padded.",
    "partition": "KaMinPar and Mt-KaHyPar use many cores better. METIS also partitions by several constraints, and KaMinPar on several machines.",
    "outofcore": "A partitioner that has the graph in memory is faster.",
    "profiles": "KaMinPar and Mt-KaHyPar use many cores better. METIS also partitions by several constraints.",
    "dispatch": "DGL's partition_graph also divides the graph; here both get the parts.",
    "batches": "torch's DataLoader takes any Python data set, and runs any Python code in its workers.",
    "loader": "PyG's and DGL's loaders run any Python transform in their workers, and take graphs that change in memory. DGL also loads features to a GPU by itself.",
    "larger": "PyG and DGL need no store of another format: they map arrays that NumPy wrote.",
    "links": "PyG's and DGL's loaders take any Python function that draws negatives.",
    "relational": "RelBench has data sets and tasks with published results, and PyTorch Frame encodes texts by models.",
    "inference": "PyG's BasicGNN.inference and DGL's loop run any model and any device that PyTorch has.",
    "walks": "DGL's and PyG's walks are tensors in the trainer's memory at once, also on a GPU.",
    "events": "PyG's LastNeighborLoader also runs on a GPU, and takes events one batch at a time as they happen, without a store.",
    "questions": "Alibaba's Dynamic Graph Service, which has no release to run here, publishes 20,000 questions per second on 64 processors, with a P99 of 20 ms, from a cache of one fixed query.",
    "neighbourhoods": "PyG's and DGL's samplers run in the trainer's process and take any graph in memory; GraphBolt's also run on a GPU.",
    "cluster": "tfgnn_sampler runs on every runner of Beam in Python.",
}

STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.ours { fill: #0b6bcb } .peer { fill: #8c959f } .turn { fill: #1f2328 } .value { text-anchor: start }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ours { fill: #4c9ff0 } .peer { fill: #6e7681 } .turn { fill: #e6edf3 } }
</style>"""
LINE = 30  # height of a line


def is_ours(name: str) -> bool:
    return name.startswith("graphmill")


def text(s: str) -> str:
    return s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
