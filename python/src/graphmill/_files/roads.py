"""Roads of OpenStreetMap, which pyosmium reads."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._whole.build import EDGE, NODE
from .made import ID, SOURCE, TARGET, Given, Graph
from .rows import Rows
from .source import unpacked

_RADIUS = 6_371_009.0  # metres, the mean radius of the earth, as osmnx has it
_NO_ROADS = ("proposed", "construction", "abandoned", "razed", "platform", "elevator", "bus_stop", "rest_area", "services")


def osm(given: Given) -> Graph:
    """Roads by pyosmium: each node of a way with the tag highway is a node with lat and lon, and each step of such a way an edge with its length in metres.

    A road is an edge in both directions, unless it is one way: oneway=yes, 1 or true; -1 or reverse, against its nodes; roundabouts and motorways without that tag.
    """
    import osmium
    import pyarrow

    places: dict[int, tuple[float, float]] = {}
    ends, steps, ways = array("q"), array("q"), 0
    rows: list[dict[str, Any]] = []  # of ways
    gone, two_way = 0, False
    for way in osmium.FileProcessor(unpacked(given), osmium.osm.NODE | osmium.osm.WAY).with_locations().with_filter(osmium.filter.EntityFilter(osmium.osm.WAY)):
        tags = way.tags
        highway = tags.get("highway")
        if highway is None or highway in _NO_ROADS or tags.get("area") == "yes":
            continue
        known = [n for n in way.nodes if n.location.valid()]
        gone += len(way.nodes) - len(known)
        rows.append({"highway": highway, "name": tags.get("name"), "maxspeed": tags.get("maxspeed"), "way": way.id})
        one = tags.get("oneway", "yes" if tags.get("junction") in ("roundabout", "circular") or highway == "motorway" else "no")
        for n in known:
            places.setdefault(n.ref, (n.location.lat, n.location.lon))
        for a, b in zip(known, known[1:]):
            if one not in ("-1", "reverse"):
                ends.extend((a.ref, b.ref))
                steps.append(ways)
            if one not in ("yes", "1", "true"):
                ends.extend((b.ref, a.ref))
                steps.append(ways)
        two_way = two_way or one not in ("-1", "reverse", "yes", "1", "true")
        ways += 1
    if gone:
        warnings.warn(f"{given.path}: found {gone} nodes of roads that the file does not have, expected all; the roads go on without them", stacklevel=2)
    pairs = np.frombuffer(ends, np.int64).reshape(-1, 2) if ends else np.zeros((0, 2), np.int64)

    def edges() -> Iterator[dict[str, Any]]:
        for (a, b), length, way in zip(pairs.tolist(), lengths(pairs, places), steps):
            yield {SOURCE: a, TARGET: b, "length": length, **rows[way]}

    int64, float64 = pyarrow.int64(), pyarrow.float64()
    nodes = Rows(lambda: ({ID: i, "lat": lat, "lon": lon} for i, (lat, lon) in places.items()), {ID: int64, "lat": float64, "lon": float64})
    return Graph({NODE: nodes}, {EDGE: Rows(edges, {SOURCE: int64, TARGET: int64, "length": float64})}, two_way)


def lengths(pairs: Any, places: dict[int, tuple[float, float]]) -> list[float]:
    """The distances of pairs of nodes on a sphere, in metres."""
    at = np.radians(np.array([(*places[a], *places[b]) for a, b in pairs.tolist()], np.float64).reshape(-1, 4))
    lat_a, lon_a, lat_b, lon_b = at.T
    h = np.sin((lat_b - lat_a) / 2) ** 2 + np.cos(lat_a) * np.cos(lat_b) * np.sin((lon_b - lon_a) / 2) ** 2
    out: list[float] = (2 * _RADIUS * np.arcsin(np.sqrt(np.minimum(h, 1)))).tolist()
    return out
