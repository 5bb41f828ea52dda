"""Graphmill: batches for training graph neural networks.

``BatchIter`` and ``GroupBatchIter`` iterate over arrays and tensors in memory. ``NodeLoader`` samples subgraphs of a
store in a separate process, and yields them as PyG, DGL, TF-GNN, JAX or NumPy objects. ``PackedLoader`` yields packs of
many small graphs, all of one shape. ``Store`` and ``Collection`` are views of the files. ``graphmill.pyg`` has a
sampler for PyG's own loaders, and ``graphmill.evaluate`` metrics of predictions.
"""

import importlib

from ._as.datasets import hf_dataset
from ._as.ray import ray_dataset
from ._batches import BatchIter, GroupBatchIter
from ._cache import Cache
from ._client import Busy, Client
from ._collection import Collection, Graph
from ._command import GraphmillError
from ._events import EventBatch, EventLoader
from ._files.read import read
from ._folder import Column
from ._inference import inference
from ._loader import NodeLoader
from ._log import log_stats
from ._mixed import MixedLoader
from ._packs import PackBatch, PackedLoader
from ._predictions import write_predictions
from ._process import FeedDied
from ._run import run
from ._schema import NodeBatch
from ._stats import LoaderStats
from ._store import Store
from ._top import write_top
from ._version import __version__
from ._whole.arrays import from_arrays
from ._whole.dgl import from_dgl
from ._whole.networkx import from_networkx
from ._whole.pyg import from_pyg
from ._whole.tables import from_tables

__all__ = [
    "BatchIter",
    "Busy",
    "Cache",
    "Client",
    "Collection",
    "Column",
    "EventBatch",
    "EventLoader",
    "FeedDied",
    "Graph",
    "GraphmillError",
    "GroupBatchIter",
    "LoaderStats",
    "MixedLoader",
    "NodeBatch",
    "NodeLoader",
    "PackBatch",
    "PackedLoader",
    "Store",
    "__version__",
    "from_arrays",
    "from_dgl",
    "from_networkx",
    "from_pyg",
    "from_tables",
    "hf_dataset",
    "inference",
    "log_stats",
    "ray_dataset",
    "read",
    "run",
    "write_predictions",
    "write_top",
]


def __getattr__(name: str) -> object:
    """Imports evaluate on first use, and tells the names of other libraries' loaders what to take in their place."""
    if name == "evaluate":
        return importlib.import_module(".evaluate", __name__)
    if name in ("NeighborLoader", "LinkNeighborLoader", "LinkLoader"):
        seeds = "" if name == "NeighborLoader" else '(seeds="SOURCE:RELATION:TARGET")'
        raise ImportError(f"found graphmill.{name}, expected graphmill.NodeLoader{seeds}; see docs/coming-from-pyg.md")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
