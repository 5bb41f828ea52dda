"""The peers' words for the keywords of NodeLoader, and the errors of keywords that it does not have.

Each thing has one keyword of ours. A word of PyG's NeighborLoader, LinkNeighborLoader or of torch's DataLoader either
stands for keywords of ours, or has no effect here, or is refused with the reason; the default value of a refused word asks
for nothing, and is accepted. docs/python.md has the table. Words of DGL and GraphBolt are refused with our keyword.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypedDict

import numpy as np

from ._arguments import choice, integer, meant, truth
from ._command import GraphmillError
from ._options import negatives_each, type_text
from ._store import Store


class PyGWords(TypedDict, total=False):
    """The words of PyG that NodeLoader accepts beside its own."""

    num_neighbors: Any  # fanout
    input_nodes: Any  # seeds, with seed_type
    input_time: Any  # seed_time
    edge_label_index: Any  # seeds, with seed_type
    edge_label_time: Any  # seed_time
    weight_attr: str | None  # weight
    time_attr: str | None  # before or before_nodes, with scope="seed"
    disjoint: bool  # scope="seed"
    directed: bool  # subgraph_type
    neg_sampling: Any  # negatives, negatives_how
    neg_sampling_ratio: float | None  # negatives
    num_workers: int  # threads
    is_sorted: bool
    filter_per_worker: bool | None
    prefetch_factor: int | None
    persistent_workers: bool
    multiprocessing_context: Any
    in_order: bool  # True


# Words that change nothing here, whatever their value: the feed is a process of its own that works ahead.
_IDLE = ("is_sorted", "filter_per_worker", "prefetch_factor", "persistent_workers", "multiprocessing_context")

_REFUSED = {
    "data": "store=, the path of a store or a Store; graphmill.from_pyg(data) makes one",
    "neighbor_sampler": "none, because the feed samples; graphmill.pyg.GraphmillSampler is a sampler for PyG's own loaders",
    "num_samples": 'fanout=, the nodes per hop and node type, with sampler="hgt"',
    "transform_sampler_output": "transform=, which gets the batch, because there is no output of a sampler before it",
    "custom_cls": "transform=, which can make any object of a batch",
    "input_id": "none: a batch's input_id is the place of each seed in seeds=",
    "collate_fn": "transform=, which gets each batch",
    "generator": "seed=, the number that all orders and draws follow from",
    "batch_sampler": "batch_size= with shuffle=True or order=, because the feed forms the batches itself",
    "worker_init_fn": "none, because no Python runs in the feed",
    "timeout": "none: a feed that ends, or that sends nothing for 10 minutes, raises FeedDied",
    "pin_memory_device": "device=, to which batches are copied",
    "in_order": "in_order=True, because batches always come in order",
}
_HARMLESS: dict[str, Any] = {"timeout": 0, "pin_memory_device": "", "in_order": True}  # the default values of refused words that are not None

# The words of DGL's and GraphBolt's loaders, and our keywords. docs/coming-from-dgl.md has them all.
_DGL = {
    "graph": "store=, the path of a store or a Store; graphmill.from_dgl(graph) makes one",
    "indices": "seeds=",
    "item_set": "seeds=",
    "graph_sampler": "fanout=, which begins at the seeds where DGL's list begins at the inputs",
    "fanouts": "fanout=, which begins at the seeds where DGL's list begins at the inputs",
    "edge_dir": "direction='in' or direction='out'",
    "prob": "weight=, a column of edges",
    "prob_name": "weight=, a column of edges",
    "mask": "weight=, a column of edges of zeros and ones; a mask of nodes is seeds=",
    "fused": "none, because all samplers of the feed are fused",
    "prefetch_node_feats": "features=, the columns of nodes in a batch",
    "prefetch_edge_feats": "edge_features=, the columns of edges in a batch",
    "prefetch_labels": "features= with the column of the labels, or edge_label= for links",
    "node_feature_keys": "features=, the columns of nodes in a batch",
    "edge_feature_keys": "edge_features=, the columns of edges in a batch",
    "output_device": "device=, to which batches are copied",
    "negative_sampler": "negatives=, the number per link; DGL's Uniform(1) is negatives=1, negatives_how='triplet'",
    "negative_ratio": "negatives=, the number per link",
    "reverse_etypes": "exclude='reverse:RELATION'",
    "reverse_eids": "exclude='reverse:RELATION'",
    "reverse_etypes_mapping": "exclude='reverse:RELATION'",
    "include_reverse_edges": "exclude='reverse:RELATION'",
    "use_ddp": "rank= and world_size=",
    "ddp_seed": "seed=",
    "use_uva": "none, because the graph stays on the CPU; device= is where batches are copied",
    "gpu_cache": "none, because features come with the batch",
    "use_prefetch_thread": "slots=, the number of batches that the feed makes ahead",
    "use_alternate_streams": "none, because copies to device= always have a stream of their own",
    "pin_prefetcher": "pin_memory=",
    "drop_uneven_inputs": "tail=",
    "edge_timestamp_attr_name": "before=",
    "node_timestamp_attr_name": "before_nodes=",
}


def known(names: Iterable[str]) -> set[str]:
    """Keywords of NodeLoader, and the words of PyG that it accepts."""
    return {*names, *_MEANINGS, *_IDLE}


def refused(word: str) -> bool:
    """Whether NodeLoader refuses a word of PyG with a reason."""
    return word in _REFUSED


def translated(own: Mapping[str, Any], words: Mapping[str, Any], store: Store, names: Iterable[str]) -> dict[str, Any]:
    """Keywords of NodeLoader, in which None is not given, with those that PyG's words stand for.

    Args:
        names: the names of all keywords.

    Raises:
        TypeError: a word is unknown, or has a wrong type.
        ValueError: a word is refused; two words, or a word and a keyword, say the same thing; a value is wrong.
    """
    out, of = dict(own), {name: name for name, value in own.items() if value is not None}
    for word, value in words.items():
        if word in _IDLE or (word in _REFUSED and word != "data" and _same(value, _HARMLESS.get(word))):
            continue
        for refused in (_REFUSED, _DGL):
            if word in refused:
                raise ValueError(f"found {word}=, expected {refused[word]}")
        if word not in _MEANINGS:
            raise TypeError(f"found the keyword {word}=, expected one of NodeLoader{meant(word, known(names))}")
        for name, x in _MEANINGS[word](value, store).items():
            if name in of and not (name == "scope" and out[name] == x):
                raise ValueError(f"found {of[name]}= and {word}=, expected one of them, because both say {name}=")
            out[name], of[name] = x, word
    if isinstance(out.get("seeds"), Mapping):
        t = next((repr(t) for t in out["seeds"]), "TYPE")
        raise TypeError(f"found {of['seeds']}= that is a dict by type, expected the seeds of one type; give seeds=..., seed_type={t}")
    if isinstance(out.get("exclude"), str) and out["exclude"] in ("reverse_id", "reverse_types"):  # DGL's
        raise ValueError(f"found exclude={out['exclude']!r}, expected 'self' or 'reverse:RELATION', with the edge type of the reverse edges")
    return out


def _same(x: Any, default: Any) -> bool:
    """Whether a value, of any type, is a default: None, a number, a bool or a text."""
    return x is default or (default is not None and isinstance(x, (bool, int, float, str)) and bool(x == default))


@contextlib.contextmanager
def note_of(words: Iterable[str]) -> Iterator[None]:
    """Adds to errors about our keywords the words that stand for them here."""
    try:
        yield
    except (GraphmillError, TypeError, ValueError) as e:
        if len(e.args) == 1 and isinstance(e.args[0], str):
            if (
                "time_attr" in words
                and isinstance(e, GraphmillError)
                and (m := re.search(r"found no column (\".*?\") of (.*?) for the times of the seeds", e.args[0]))
            ):
                given = "edge_label_time" if m[2] == "the links" else "input_time"
                e.args = (
                    f"found time_attr={json.loads(m[1])!r} without {given}=, expected the times of the seeds, because there is no such column of {m[2]}; give {given}= a time per seed, the name of a column, or one time",
                )
                raise
            pairs = [f"{word}= gives {name}=" for word, name in _SHOWN.items() if word in words and re.search(rf"\b{name}\b", e.args[0])]
            e.args = (e.args[0] + (f" ({', '.join(pairs)})" if pairs else ""),)
        raise


def _fanout(x: Any, store: Store) -> dict[str, Any]:
    if type(x).__name__ == "NumNeighbors":
        x = x.get_values(store.edge_types) if isinstance(x.values, dict) or x.default is not None else x.values
    return {} if x is None else {"fanout": x}


def _input_nodes(x: Any, store: Store) -> dict[str, Any]:
    out = _nodes(x, store)
    shape = getattr(out.get("seeds"), "shape", None)
    if shape is None and isinstance(out.get("seeds"), (list, tuple)):
        shape = np.shape(out["seeds"])
    if shape is not None and len(shape) == 2:
        raise ValueError(f"found input_nodes= of shape {tuple(shape)}, expected node ids or a mask; links are given to edge_label_index=")
    return out


def _nodes(x: Any, store: Store) -> dict[str, Any]:
    if isinstance(x, tuple) and len(x) == 2 and x[0] is None:  # a graph without types
        return {} if x[1] is None else {"seeds": x[1]}
    if isinstance(x, (tuple, list)) and len(x) == 2 and isinstance(x[0], str):
        type_, nodes = x
        return {"seed_type": type_} if nodes is None else {"seeds": nodes, "seed_type": type_}
    if isinstance(x, str) and x in store.nodes:
        return {"seed_type": x}
    return {} if x is None else {"seeds": x}


def _edge_label_index(x: Any, store: Store) -> dict[str, Any]:
    name, pairs = _links(x)
    if name is None and len(store.edges) != 1 and (pairs is None or len(store.nodes) != 1):
        raise ValueError(f"found edge_label_index= without an edge type, expected (EDGE TYPE, LINKS) with one of {', '.join(map(str, store.edge_types))}")
    if isinstance(name, str) and pairs is None and (os.path.exists(name) or any(name.startswith(":".join(e) + ":") for e in store.edge_types)):
        return {"seeds": name}  # a file, or edges with a value
    if isinstance(name, str) and pairs is None and "=" in name:
        relation = name.split(":")[0]
        whole = [repr(":".join(e) + name[len(relation) :]) for e in store.edge_types if e[1] == relation]
        if whole:
            raise ValueError(f"found edge_label_index={name!r}, expected all three names of the edge type before a column; did you mean {' or '.join(whole)}?")
    if name is None and len(store.edges) == 1:
        name = store.edge_types[0]
    if name is None:
        return {"seeds": pairs}
    names = tuple(name.split(":")) if isinstance(name, str) else tuple(name)
    if len(names) != 3 or pairs is None:
        names = tuple(type_text("edge_label_index", names[0] if len(names) == 1 else names, store).split(":"))
    if pairs is None:
        order = ":#input_position" if store.edges[names].has_positions else ""
        return {"seeds": ":".join(names) + order, "seed_type": names}
    return {"seeds": pairs, "seed_type": names}


def _links(x: Any) -> tuple[Any, Any]:
    """The name of an edge type, and the links; None where they are not given."""
    if isinstance(x, str):
        return x, None
    if isinstance(x, (tuple, list)) and len(x) > 0:
        if all(isinstance(n, str) for n in x):
            return tuple(x), None
        if len(x) == 2 and (isinstance(x[0], str) or (isinstance(x[0], (tuple, list)) and x[0] and isinstance(x[0][0], str))):
            return x[0], x[1]
    return None, x


def _time_attr(x: Any, store: Store) -> dict[str, Any]:
    if x is None:
        return {}
    nodes = [t for t, n in store.nodes.items() if x in n.columns]
    edges = [e for e, of in store.edges.items() if x in of.columns]
    if nodes and edges:
        raise ValueError(
            f"found time_attr={x!r}, a column of nodes ({', '.join(nodes)}) and of edges ({', '.join(map(':'.join, edges))}), expected one of the two; "
            f"give before={x + '<='!r} for the edges, or before_nodes= for the nodes"
        )
    if not nodes and not edges:
        have = {c for kind in (store.nodes, store.edges) for of in kind.values() for c in of.columns if not c.startswith("#")}
        raise ValueError(f"found time_attr={x!r}, expected a column of nodes or edges{meant(x, have)}")
    if nodes:
        return {"before_nodes": dict.fromkeys(nodes, f"{x}<="), "seed_time": x, "scope": "seed"}
    without = [":".join(e) for e in store.edges if e not in edges]
    return {"before": f"{x}<=", "scope": "seed", **({"untimed": without} if without else {})}


def _seed_time(x: Any, _: Store) -> dict[str, Any]:
    return {} if x is None else {"seed_time": x}


def _neg_sampling(x: Any, _: Store) -> dict[str, Any]:
    if x is None:
        return {}
    how: Any = x
    amount: Any = 1
    if isinstance(x, Mapping):
        extra = set(x) - {"mode", "amount", "src_weight", "dst_weight"}
        if extra or "mode" not in x:
            raise ValueError(f"found neg_sampling={dict(x)!r}, expected the keys mode and amount")
        how, amount = x["mode"], x.get("amount", 1)
        weights = x.get("src_weight"), x.get("dst_weight")
    else:
        how, amount = (x, 1) if isinstance(x, str) else (getattr(x, "mode", x), getattr(x, "amount", 1))
        weights = getattr(x, "src_weight", None), getattr(x, "dst_weight", None)
    if any(w is not None for w in weights):
        raise ValueError("found neg_sampling= with weights of nodes, expected none; negatives_by= names the column of nodes that has them, or 'degree'")
    how = choice("neg_sampling", getattr(how, "value", how), ("binary", "triplet"))
    return {"negatives": _ratio_of("neg_sampling", amount), "negatives_how": how}


def _ratio(x: Any, _: Store) -> dict[str, Any]:
    return {} if _same(x, None) or _same(x, 0) else {"negatives": _ratio_of("neg_sampling_ratio", x), "negatives_how": "binary"}


def _ratio_of(word: str, x: Any) -> int | float:
    n = negatives_each(word, x)
    if n == 0:
        raise ValueError(f"found {word}= with {x!r} negatives per link, expected a number above 0")
    return n


def _if(word: str, name: str, when: bool, x: str) -> Any:
    """The meaning of a bool: the keyword is x when the bool is `when`."""

    def meaning(value: Any, _: Store) -> dict[str, Any]:
        return {name: x} if truth(word, value) == when else {}

    return meaning


_MEANINGS: dict[str, Any] = {
    "num_neighbors": _fanout,
    "input_nodes": _input_nodes,
    "edge_label_index": _edge_label_index,
    "input_time": _seed_time,
    "edge_label_time": _seed_time,
    "weight_attr": lambda x, _: {} if x is None else {"weight": x},
    "time_attr": _time_attr,
    "disjoint": _if("disjoint", "scope", True, "seed"),
    "directed": _if("directed", "subgraph_type", False, "induced"),
    "neg_sampling": _neg_sampling,
    "neg_sampling_ratio": _ratio,
    "num_workers": lambda x, _: {"threads": x} if integer("num_workers", x, 0) else {},
}

_SHOWN = {
    "num_neighbors": "fanout",
    "input_nodes": "seeds",
    "edge_label_index": "seeds",
    "weight_attr": "weight",
    "time_attr": "before",
    "neg_sampling": "negatives",
    "input_time": "seed_time",
    "edge_label_time": "seed_time",
}
