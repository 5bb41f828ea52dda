"""The registry of what makes objects of frameworks.

A module registers its functions here, and classes look them up, so that neither imports the other: `_as.pyg` reads the graphs of a
`Collection`, and ``Collection.to_pyg`` calls what `_as.pyg` registered.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
_MAKERS: dict[tuple[str, str], Callable[..., Any]] = {}


def makes(kind: str, framework: str) -> Callable[[_F], _F]:
    """A decorator of what makes an object of a framework. The kind says which object, and so which arguments it takes.

    Args:
        kind: "batch": a batch of `NodeLoader`, of (schema, raw, label); "packs": a batch of `PackedLoader`, of (schema, batch); "graph": a
            graph of a `Collection`, of (graph, label); "store": the graph of a `Store`, of the store and what its method takes; "append": what is appended to a
            `Store`, of the store and what its method takes; "loader": the class of a `NodeLoader`.
        framework: the name by which users ask for it, such as "pyg".
    """

    def register(make: _F) -> _F:
        _MAKERS[kind, framework] = make
        return make

    return register


def maker(kind: str, framework: str) -> Callable[..., Any]:
    """What was registered for a kind and a framework. Modules of `_whole` are imported with graphmill, and modules of `_as` here, on first use.

    Raises:
        ModuleNotFoundError: the framework is not installed.
    """
    if (kind, framework) not in _MAKERS:
        importlib.import_module(f"._as.{framework}", __package__)
    make = _MAKERS[kind, framework]
    importlib.import_module(make.__module__)  # waits if another thread is importing it
    return make
