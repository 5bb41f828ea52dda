"""GraphSchemas, as the command reads and writes them."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._codec import codec

_DTYPES = {
    "DT_FLOAT": "float32", "DT_DOUBLE": "float64", "DT_INT32": "int32", "DT_UINT8": "uint8", "DT_INT16": "int16", "DT_INT8": "int8", "DT_STRING": "object",
    "DT_INT64": "int64", "DT_BOOL": "bool", "DT_BFLOAT16": "float32", "DT_UINT16": "uint16", "DT_HALF": "float16", "DT_UINT32": "uint32", "DT_UINT64": "uint64",
}  # fmt: skip
_NAMES = {v: k for k, v in _DTYPES.items() if k != "DT_BFLOAT16"}


@dataclasses.dataclass(frozen=True)
class Feature:
    """A feature: its dtype as TF-GNN names it, and the shape of an item, in which -1 is a variable dimension."""

    dtype: str
    shape: tuple[int, ...] = ()

    @property
    def numpy(self) -> Any:
        """The dtype of its values in NumPy; object for strings, which are bytes; float32 for bfloat16."""
        return np.dtype(_DTYPES[self.dtype])

    @property
    def ragged(self) -> bool:
        return -1 in self.shape


@dataclasses.dataclass(frozen=True)
class SetSchema:
    """The features of a node set, an edge set or the context; of an edge set also the node sets of its ends."""

    features: Mapping[str, Feature]
    source: str = ""
    target: str = ""


class GraphSchema:
    """A GraphSchema of TF-GNN.

    Attributes:
        json: the whole message in the JSON form of protocol buffers, with the names of its fields.
        context, node_sets, edge_sets: the features, by name.
    """

    def __init__(self, message: Mapping[str, Any]) -> None:
        self.json: dict[str, Any] = dict(message)
        self._text = json.dumps(self.json, sort_keys=True)
        self.context = _set(self.json.get("context", {}))
        self.node_sets: dict[str, SetSchema] = {n: _set(s) for n, s in sorted(self.json.get("node_sets", {}).items())}
        self.edge_sets: dict[str, SetSchema] = {n: _set(s) for n, s in sorted(self.json.get("edge_sets", {}).items())}

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, GraphSchema) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        """The text format of protocol buffers."""
        return str(codec().call({"op": "text", "schema": self.json})[0]["text"])

    def __repr__(self) -> str:
        return f"GraphSchema(node_sets={list(self.node_sets)}, edge_sets={list(self.edge_sets)})"


def _set(s: Mapping[str, Any]) -> SetSchema:
    features = {
        name: Feature(f.get("dtype", "DT_INVALID"), tuple(int(d.get("size", 0)) for d in f.get("shape", {}).get("dim", [])))
        for name, f in sorted(s.get("features", {}).items())
    }
    return SetSchema(features, s.get("source", ""), s.get("target", ""))


def feature(values: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """The JSON of a feature with such values."""
    out: dict[str, Any] = {"dtype": _NAMES[values.dtype.name]}
    if shape:
        out["shape"] = {"dim": [{"size": str(d)} for d in shape]}
    return out


def read_schema(path: str | os.PathLike[str]) -> GraphSchema:
    """The schema of a file, or of the folder that holds it.

    Raises:
        GraphmillError: the file is no valid schema; the text names the line.
    """
    return GraphSchema(codec().call({"op": "schema", "path": os.path.abspath(os.fsdecode(path))})[0]["schema"])


def write_schema(schema: GraphSchema, path: str | os.PathLike[str]) -> None:
    """Write a schema in the text format of protocol buffers. A file that is there is replaced, at once."""
    path = os.path.abspath(os.fsdecode(path))
    text = str(schema)
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(path), encoding="utf-8", delete=False) as f:
        try:
            f.write(text)
            f.close()
            os.chmod(f.name, 0o644)
            os.replace(f.name, path)
        except BaseException:
            os.unlink(f.name)
            raise
