"""Graphmill: batches for people who train graph neural networks.

``BatchIter`` and ``GroupBatchIter`` iterate over arrays and tensors that are in memory.
"""

from ._batches import BatchIter, GroupBatchIter
from ._version import __version__

__all__ = ["BatchIter", "GroupBatchIter", "__version__"]
