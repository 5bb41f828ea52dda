"""TF-GNN's GraphTensors in NumPy, and the Examples that hold them, without TensorFlow.

A `GraphTensor` is a graph with features, or several graphs (its components), in node sets and edge sets. `write_example`
and `parse_single_example` translate one from and to a ``tf.train.Example``, `write_examples` and `parse_examples` files of
them. Features are NumPy arrays with a row per item, or `Ragged`. The bytes of an Example equal the output of TF-GNN's
``write_example``, with the keys of its map in order.

The ``graphmill`` command encodes and decodes: a process of it is started on first use, and gets the arrays of many
GraphTensors at once through a pipe. So `write_examples`, `parse_examples` and lists are much faster than single Examples.
"""

from ._examples import parse_example, parse_examples, parse_single_example, random_graph_tensor, write_example, write_examples
from ._ragged import Ragged
from ._schema import Feature, GraphSchema, SetSchema, read_schema, write_schema
from ._tensor import Adjacency, Context, EdgeSet, GraphTensor, NodeSet

__all__ = [
    "Adjacency",
    "Context",
    "EdgeSet",
    "Feature",
    "GraphSchema",
    "GraphTensor",
    "NodeSet",
    "Ragged",
    "SetSchema",
    "parse_example",
    "parse_examples",
    "parse_single_example",
    "random_graph_tensor",
    "read_schema",
    "write_example",
    "write_examples",
    "write_schema",
]
