"""The rows of an array with the greatest dot products with each row of another: all of them, exactly, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ._arrays import Array

_TOGETHER = 1 << 22  # scores that are looked at together, unless the user says how many rows
_GROUP = 64  # scores of which only the greatest helps to find a bound
_PRODUCTS = 1 << 20  # products that a score is made of, made at a time


def greatest(
    a: Array, b: Array, k: int, cosine: bool, block: int | None, leave_out: Callable[[int, int], tuple[Array, Array]]
) -> Iterator[tuple[Array, Array, Array, Array]]:
    """For blocks of the rows of ``a``: rows, their rows of ``b``, ranks from 1, and scores, by row and rank.

    A score is the sum of the products of two rows, or this divided by the lengths of both, 0 if one of them is 0. It is computed in float64 by
    one rule for all rows, and rounded to float32 if both arrays have at most 32 bits. So no size of a block and no library of linear algebra
    changes a bit of it, and equal rows have equal scores. Of equal scores, the lower row of ``b`` is first.

    A matrix product in the dtype of the scores finds the rows that can be among the k first: those within twice the bound of its error.

    Args:
        a, b: [rows, d] and [items, d], finite numbers.
        k: the number of rows of ``b``; there are fewer where fewer are left.
        cosine: whether to divide by the lengths.
        block: rows of ``a`` that are looked at together; None is as many as have 2^22 scores.
        leave_out: for a range of rows of ``a``, the row within it and the row of ``b`` of each pair that is left out.

    Raises:
        ValueError: a score exceeds the range of its dtype.
    """
    n, m, d = len(a), len(b), a.shape[1]
    dtype = np.dtype(np.float32 if all(x.dtype.kind == "f" and x.dtype.itemsize <= 4 for x in (a, b)) else np.float64)
    lengths = _lengths(b)
    longest, widest = float(lengths.max(initial=0)), _range(a, cosine) * _range(b, cosine)
    if widest > 1e280:
        raise ValueError("scores: found embeddings whose products or lengths leave the range of float64, expected numbers nearer to 1")
    work = np.dtype(np.float64) if cosine or widest > 1e37 else dtype  # products in float32 could leave its range where the score does not
    per = np.divide(1, lengths, out=np.zeros(m), where=lengths > 0)
    step = block or max(1, _TOGETHER // max(m, d, 1))
    together = max(1, _TOGETHER // max(d, 1))
    for at in range(0, n, step):
        rows = np.asarray(a[at : at + step], np.float64)
        own = _lengths(rows)
        left = np.divide(rows, own[:, None], out=np.zeros_like(rows), where=own[:, None] > 0) if cosine else rows
        left = left.astype(work)
        x = np.empty((len(rows), m), work)
        for j in range(0, m, together):
            np.matmul(left, np.asarray(b[j : j + together], work).T, out=x[:, j : j + together])
        if cosine:
            x *= per
        out_row, out_item = leave_out(at, at + len(rows))
        x[out_row, out_item] = -np.inf
        # Each sum of d products, in any order, is off by at most d half units in the last place of the product of the lengths.
        limits = np.finfo(np.float32 if dtype == np.float32 else np.float64)
        slack = 4 * (d + 16) * (float(limits.eps) * (np.ones(len(rows)) if cosine else own * longest) + float(limits.tiny))
        least = (_at_most_kth(x, k) - slack if k < m else np.full(len(rows), -np.inf)).astype(work)
        least = np.maximum(
            np.nextafter(least, work.type(-np.inf)), -np.finfo(np.float32 if work == np.float32 else np.float64).max
        )  # below the bound, and above what is left out
        row, item = np.divmod(np.flatnonzero((x >= least[:, None]).reshape(-1)), m)
        with np.errstate(over="ignore"):
            score = _scores(rows, b, row, item, (own, lengths) if cosine else None).astype(dtype)
        if not np.isfinite(score).all():
            bad = int(np.argmax(~np.isfinite(score)))
            raise ValueError(
                f"scores: found a product of source row {at + int(row[bad])} and item row {int(item[bad])} beyond the range of {dtype}, expected smaller numbers"
            )
        order = np.lexsort((-score, row))  # it is stable, and items are in their order
        row, item, score = row[order], item[order], score[order]
        sizes = np.bincount(row, minlength=len(rows))
        rank = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        first = rank < k
        yield row[first] + at, item[first], rank[first] + 1, score[first]


def _at_most_kth(x: Array, k: int) -> Array:
    """For each row, a number that at least k of the row are not below, and few more: the k-th of the greatest numbers of groups."""
    groups = x.shape[1] // _GROUP
    if groups >= 4 * k:
        x = np.maximum.reduce(x[:, : _GROUP * groups].reshape(len(x), _GROUP, groups), axis=1)
    out: Array = np.partition(x, x.shape[1] - k, axis=1)[:, -k].astype(np.float64)
    return out


def _lengths(x: Array) -> Array:
    """The length of each row, float64."""
    with np.errstate(over="ignore"):
        return np.concatenate([np.empty(0), *(np.sqrt(np.add.reduce(part * part, axis=1)) for part in _parts(x))])


def _range(x: Array, cosine: bool) -> float:
    """The greatest length of a row; for cosines, or the inverse of about the least that is not 0, if that is more."""
    out = float(_lengths(x).max(initial=0))
    if cosine:
        for part in _parts(x):
            largest = np.abs(part).max(axis=1, initial=0)
            out = max(out, 1 / float(largest[largest > 0].min(initial=1)))
    return out


def _parts(x: Array) -> Iterator[Array]:
    step = max(1, _PRODUCTS // max(x.shape[1], 1))
    for at in range(0, len(x), step):
        yield np.asarray(x[at : at + step], np.float64)


def _scores(rows: Array, b: Array, row: Array, item: Array, lengths: tuple[Array, Array] | None) -> Array:
    """The score of each pair of a row and a row of ``b``, float64."""
    out = np.empty(len(row))
    step = max(1, _PRODUCTS // max(rows.shape[1], 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for at in range(0, len(row), step):
            r, i = row[at : at + step], item[at : at + step]
            # A sum along contiguous rows adds in an order that only their length decides.
            out[at : at + step] = np.add.reduce(rows[r] * np.asarray(b[i], np.float64), axis=1)
    if lengths is not None:
        product = lengths[0][row] * lengths[1][item]
        out = np.divide(out, product, out=np.zeros_like(out), where=product > 0)
    return out
