"""The forms of a loader's batches: which there are, and what they cannot represent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._folder import unknown
from .._schema import Schema
from .._table import SETS

FORMS = ("numpy", "pyg", "dgl", "tfgnn", "jraph")


def check_flags(form: str, flags: Mapping[str, Any]) -> None:
    """Reject flags that the form of the batches cannot represent."""
    if form == "dgl":
        if flags.get("sampler") in SETS:
            raise ValueError(
                f"found sampler={flags['sampler']!r} with as_='dgl', expected as_='numpy' or 'pyg', because blocks have the edges that each hop drew"
            )
        if flags.get("direction", "in") != "in":
            raise ValueError(
                f"found direction={flags['direction']!r} with as_='dgl', expected 'in', because the edges of a block lead to the nodes that were expanded"
            )
        if flags.get("expand", "all") != "all":
            raise ValueError(f"found expand={flags['expand']!r} with as_='dgl', expected 'all', because a block expands all nodes that were reached before")


def check_schema(form: str, s: Schema, label: str | None, order: str) -> None:
    """Reject batches that the form cannot represent."""
    columns = {n for t in s.nodes for n, full in s.node_features(t).items() if full not in s.ages}.union(s.link_columns)
    if label is not None and form != "pyg":
        raise ValueError(f"found label={label!r} with as_={form!r}, expected as_='pyg', because other forms have columns by name")
    if label is not None and label not in columns:
        raise ValueError(unknown("label", label, columns))
    if label is not None and form == "pyg" and label in s.link_columns and s.negatives and s.keeps_sources:
        name = "edge_label=" if label == "edge_label" else f"label={label!r}"
        raise ValueError(
            f"found {name} with negatives_how={s.negatives_how!r} and as_='pyg', expected none, as in PyG, because its batches have the links in src_index and dst_pos_index"
        )
    if form == "pyg" and not s.typed and s.edges and s.ages.intersection(s.edge_features(s.edges[0]).values()):
        names = [n for n in s.node_columns[s.nodes[0]] if n != label]
        if "edge_age" in names and len(names) > 1:  # a column that is alone is x
            raise ValueError(
                "found a column 'edge_age' of nodes with age= of edges and as_='pyg', expected one of them, because a Data has the ages of edges in edge_age; leave the column out of features=, or put it into x="
            )
    if form == "dgl" and not s.hopped:
        raise ValueError("found as_='dgl' with a subgraph_type other than 'directional', expected it, because blocks have the edges that each hop drew")
    if form == "jraph" and s.uneven:
        raise ValueError(
            f"found links with several numbers of negatives and as_={form!r}, expected one number, because its arrays have fixed shapes; give as many negatives for each link"
        )
    if form in ("pyg", "dgl") and s.linked and not s.homogeneous and s.link_type is None:
        raise ValueError(f"found links of {' and '.join(s.seed_types)}, expected their edge type too; give seed_type=(SOURCE, RELATION, TARGET)")
    if order.startswith("weighted:") and form not in ("numpy", "dgl") and not (s.linked or s.disjoint):
        raise ValueError(
            f"found order={order!r} with as_={form!r}, expected as_='numpy', as_='dgl' or scope='seed', because otherwise a seed that is drawn twice has one node"
        )
