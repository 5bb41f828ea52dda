"""The negatives that a user gives for each link of a loader."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays
from ._arrays import Array
from ._store import Store

_FORMS = (
    "node ids [links, negatives] of targets, or [links, negatives, 2] of sources and targets; for lists of several lengths a list of arrays, or (ids, offsets); "
    "the name of a column of the links with lists of original ids; or an .npy file"
)


@dataclass
class NegativeLists:
    """Lists of negatives.

    Attributes:
        ids: integers [links, negatives] or [links, negatives, 2]; with offsets [all] or [all, 2].
        offsets: int64 [links + 1], where lists have several lengths; else None.
    """

    ids: Array
    offsets: Array | None = None

    @property
    def links(self) -> int:
        return len(self.ids) if self.offsets is None else len(self.offsets) - 1

    def place(self, i: int) -> str:
        """Where element i of the flat ids is in what the user gave."""
        if self.offsets is None:
            return ", ".join(map(str, np.unravel_index(i, self.ids.shape)))
        row = i if self.ids.ndim == 1 else i // 2
        link = int(np.searchsorted(self.offsets, row, "right")) - 1
        return f"{link}][{row - int(self.offsets[link])}"

    def save(self, folder: str) -> str:
        """Writes the lists to a folder, and returns the value of ``--negatives-from``."""
        name = os.path.join(folder, "negatives.npy")
        np.save(name, self.ids)
        if self.offsets is None:
            return name
        offsets = os.path.join(folder, "negative_offsets.npy")
        np.save(offsets, self.offsets)
        return f"{name},{offsets}"


def negative_lists(given: Any, seeds: Any) -> NegativeLists | str | None:
    """The value of ``negatives_from=``: lists, or the name of a column or file.

    Args:
        given: what the user gave.
        seeds: the result of `seed_ids`.

    Raises:
        TypeError: it is none of the forms.
        ValueError: another shape or dtype, or another number of lists than of links.
    """
    if given is None or isinstance(given, (str, os.PathLike)):
        return None if given is None else os.fspath(given)
    if isinstance(given, bool) or _arrays.numpy(given if not isinstance(given, (list, tuple)) else ()).ndim == 0:
        raise TypeError(f"found negatives_from={given!r}, expected {_FORMS}; negatives= is the number of negatives to draw")
    x = _given(given)
    if x.ids.dtype.kind not in "iu":
        raise ValueError(f"found negatives_from= of dtype {x.ids.dtype}, expected integers: {_FORMS}")
    if x.offsets is not None and (
        x.offsets.ndim != 1
        or x.offsets.dtype.kind not in "iu"
        or not len(x.offsets)
        or int(x.offsets[0]) != 0
        or int(x.offsets[-1]) != len(x.ids)
        or (np.diff(x.offsets.astype(np.int64)) < 0).any()
    ):
        raise ValueError(
            f"found negatives_from= with offsets {x.offsets!r} of {len(x.ids)} negatives, expected offsets [links + 1] that ascend from 0 to {len(x.ids)}"
        )
    inner = x.ids.ndim - (1 if x.offsets is not None else 2)
    if inner not in (0, 1) or (inner == 1 and x.ids.shape[-1] != 2):
        raise ValueError(f"found negatives_from= of shape {x.ids.shape}, expected {_FORMS}")
    if isinstance(seeds, np.ndarray) and seeds.ndim == 2 and x.links != seeds.shape[1]:
        raise ValueError(f"found negatives_from= with the negatives of {x.links} links, expected {seeds.shape[1]}, one list per seed link")
    if not x.ids.size:
        raise ValueError("found negatives_from= without a negative, expected some; negatives= draws them")
    return x


def _given(given: Any) -> NegativeLists:
    if isinstance(given, tuple) and len(given) == 2:
        ids, offsets = (_arrays.numpy(a) for a in given)
        return NegativeLists(ids, offsets)
    if not isinstance(given, (list, tuple)):
        return NegativeLists(_arrays.numpy(given))
    lists = [_arrays.numpy(a) for a in given]
    if any(a.ndim == 0 for a in lists):
        raise ValueError(f"found negatives_from= with {given[0]!r}, expected a list per link: {_FORMS}")
    lengths = np.array([len(a) for a in lists], np.int64)
    full = [a for a in lists if len(a)]  # NumPy makes an empty list one of floats
    ids = np.concatenate(full) if full else np.zeros(0, np.int64)
    if len(lengths) and (lengths == lengths[0]).all():
        return NegativeLists(ids.reshape(len(lists), int(lengths[0]), *ids.shape[1:]))
    return NegativeLists(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def check_listed(store: Store, given: NegativeLists | str | None, types: list[str]) -> None:
    """Reject ids that no node of their type has.

    Args:
        types: the node types of sources and targets.

    Raises:
        ValueError: with the position in the user's lists.
    """
    if not isinstance(given, NegativeLists):
        return
    pairs = given.ids.ndim == (2 if given.offsets is not None else 3)
    flat = given.ids.reshape(-1)
    for end, t in enumerate(types):
        ids, step = (flat[end::2], 2) if pairs else (flat, 1)
        n = store.nodes[t].count
        if (end == 0 and not pairs) or not len(ids) or (int(ids.min()) >= 0 and int(ids.max()) < n):
            continue
        i = int(np.flatnonzero((ids < 0) | (ids >= n))[0])
        raise ValueError(
            f"negatives_from[{given.place(i * step + (end if pairs else 0))}]: found node {ids[i]} of type {t}, expected 0 to {n - 1}; store.nodes[{t!r}].find gives the node ids of original ids"
        )
