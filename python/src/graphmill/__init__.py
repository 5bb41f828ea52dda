"""Graphmill: batches for training graph neural networks.

``BatchIter`` and ``GroupBatchIter`` iterate over arrays and tensors in memory. ``NodeLoader`` samples subgraphs of a
store in a separate process, and yields them as PyG, DGL, TF-GNN, JAX or NumPy objects. ``PackedLoader`` yields packs of
many small graphs, all of one shape. ``Store`` and ``Collection`` are views of the files. ``graphmill.pyg`` has a
sampler for PyG's own loaders.
"""

from ._batches import BatchIter, GroupBatchIter
from ._collection import Collection, Graph
from ._command import GraphmillError
from ._feed import AllSlotsHeld, FeedDied
from ._folder import Column
from ._loader import NodeBatch, NodeLoader
from ._packs import PackBatch, PackedLoader
from ._stats import LoaderStats
from ._store import Store
from ._version import __version__

__all__ = [
    "AllSlotsHeld",
    "BatchIter",
    "Collection",
    "Column",
    "FeedDied",
    "Graph",
    "GraphmillError",
    "GroupBatchIter",
    "LoaderStats",
    "NodeBatch",
    "NodeLoader",
    "PackBatch",
    "PackedLoader",
    "Store",
    "__version__",
]
