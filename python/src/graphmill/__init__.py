"""Graphmill: batches for people who train graph neural networks.

``BatchIter`` and ``GroupBatchIter`` iterate over arrays and tensors that are in memory.
``NodeLoader`` samples subgraphs of a store in a process of its own, and yields them as PyG, DGL, TF-GNN,
JAX or NumPy objects.
"""

from ._batches import BatchIter, GroupBatchIter
from ._command import GraphmillError
from ._feed import AllSlotsHeld, FeedDied
from ._loader import LoaderStats, NodeBatch, NodeLoader
from ._version import __version__

__all__ = [
    "AllSlotsHeld",
    "BatchIter",
    "FeedDied",
    "GraphmillError",
    "GroupBatchIter",
    "LoaderStats",
    "NodeBatch",
    "NodeLoader",
    "__version__",
]
