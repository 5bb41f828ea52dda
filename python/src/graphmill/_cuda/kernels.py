"""The draw law as kernels of Triton. internal/sample/testdata/reference/draws.py defines what they draw.

Integers are unsigned 64-bit and wrap. torch has no arithmetic of such integers, so tensors have their bits as int64.

Each row of a kernel is a node that an op expands, and has a state of its own: that of its subgraph (``heads[of]``), which absorbs the number of the op
and then the node.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

_MUL1 = tl.constexpr(0xBF58476D1CE4E5B9)
_MUL2 = tl.constexpr(0x94D049BB133111EB)
_GAMMA = tl.constexpr(0x9E3779B97F4A7C15)
_MISSES = tl.constexpr(16)  # repeats after which a weighted draw walks what is left

# Numbers of a kernel of which Triton would make variants.
_ANY = ["rows", "number", "take"]

_CELLS = 4096  # positions that a program holds: its rows times the next power of two of the take
_ROWS = 128  # rows of a program at most


@triton.jit
def _mix(x):  # type: ignore[no-untyped-def]
    x = (x ^ (x >> 30)) * _MUL1
    x = (x ^ (x >> 27)) * _MUL2
    return x ^ (x >> 31)


@triton.jit
def _absorb(h, v):  # type: ignore[no-untyped-def]
    return _mix((h ^ _mix(v + _GAMMA)) + _GAMMA)


@triton.jit
def _draw(h, j):  # type: ignore[no-untyped-def]
    return _mix(h + (j.to(tl.uint64) + 1) * _GAMMA)


@triton.jit
def _state(heads, of, nodes, r, ok, number):  # type: ignore[no-untyped-def]
    """The states of rows of an op."""
    head = tl.load(heads + tl.load(of + r, mask=ok, other=0), mask=ok, other=0).to(tl.uint64, bitcast=True)
    node = tl.load(nodes + r, mask=ok, other=0).to(tl.uint64, bitcast=True)
    return _absorb(_absorb(head, tl.zeros_like(head) + number), node)


@triton.jit
def _unit(r):  # type: ignore[no-untyped-def]
    return ((r >> 11).to(tl.float64) + 0.5) * 1.1102230246251565e-16


@triton.jit
def _among(chosen, p):  # type: ignore[no-untyped-def]
    """Whether each row has chosen a position."""
    return tl.max((chosen == p[:, None]).to(tl.int32), axis=1) > 0


@triton.jit(do_not_specialize=_ANY)
def _alike(out, heads, of, nodes, counts, rows, number, take, REPLACE: tl.constexpr, SLOTS: tl.constexpr, ROWS: tl.constexpr):  # type: ignore[no-untyped-def]
    """without_replacement(), by Floyd's algorithm, or with_replacement()."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    ok = r < rows
    n = tl.load(counts + r, mask=ok, other=0)
    h = _state(heads, of, nodes, r, ok, number)
    slot = tl.arange(0, SLOTS)[None, :]
    chosen = tl.zeros((ROWS, SLOTS), tl.int64) - 1
    for i in range(take):
        random = _draw(h, tl.zeros_like(n) + i)
        if REPLACE:
            t = tl.umulhi(random, n.to(tl.uint64)).to(tl.int64)
        else:
            j = n - take + i
            t = tl.umulhi(random, (j + 1).to(tl.uint64)).to(tl.int64)
            t = tl.where(_among(chosen, t), j, t)
        chosen = tl.where(slot == i, t[:, None], chosen)
    if not REPLACE:
        chosen = tl.where(n[:, None] <= take, slot.to(tl.int64), chosen)
    tl.store(out + r[:, None] * take + slot, chosen, mask=ok[:, None] & (slot < take))


@triton.jit(do_not_specialize=["rows"])
def _sums(prefix, weights, starts, counts, rows, ROWS: tl.constexpr):  # type: ignore[no-untyped-def]
    """The prefix sums of each row's weights, added in order."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    ok = r < rows
    start = tl.load(starts + r, mask=ok, other=0)
    n = tl.load(counts + r, mask=ok, other=0)
    total = tl.zeros((ROWS,), tl.float64)
    for i in range(tl.max(n, axis=0)):
        here = i < n
        total = total + tl.load(weights + start + i, mask=here, other=0.0)
        tl.store(prefix + start + i, total, mask=here)


@triton.jit(do_not_specialize=_ANY)
def _heavy(out, heads, of, nodes, prefix, weights, starts, counts, rows, number, take, SLOTS: tl.constexpr, ROWS: tl.constexpr):  # type: ignore[no-untyped-def]
    """weighted() of lists whose weights are all above 0."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    ok = r < rows
    start = tl.load(starts + r, mask=ok, other=0)
    n = tl.load(counts + r, mask=ok, other=0)
    h = _state(heads, of, nodes, r, ok, number)
    slot = tl.arange(0, SLOTS)[None, :]
    busy = ok & (n > take)
    total = tl.load(prefix + start + n - 1, mask=busy, other=0.0)
    chosen = tl.where(n[:, None] <= take, slot.to(tl.int64), tl.zeros((ROWS, SLOTS), tl.int64) - 1)
    found = tl.zeros((ROWS,), tl.int32)
    misses = tl.zeros((ROWS,), tl.int32)
    j = tl.zeros((ROWS,), tl.int64)
    while tl.max(busy.to(tl.int32), axis=0) > 0:
        unit = _unit(_draw(h, j))
        j += busy.to(tl.int64)
        slow = busy & (misses >= _MISSES)
        quick = busy & (misses < _MISSES)
        # The first position whose prefix sum is above x.
        x = unit * total
        lo = tl.zeros((ROWS,), tl.int64)
        hi = tl.where(quick, n, 0)
        while tl.max(hi - lo, axis=0) > 0:
            open_ = lo < hi
            mid = (lo + hi) // 2
            below = tl.load(prefix + start + mid, mask=open_, other=0.0) <= x
            lo = tl.where(open_ & below, mid + 1, lo)
            hi = tl.where(open_ & (below == 0), mid, hi)
        p = lo
        miss = quick & ((p >= n) | _among(chosen, p))
        most = tl.max(tl.where(slow, n, 0), axis=0)
        if most > 0:
            # Heavy weights are gone: walk what is left, ascending.
            rest = tl.zeros((ROWS,), tl.float64)
            last = tl.zeros((ROWS,), tl.int64)
            for i in range(most):
                at = tl.zeros((ROWS,), tl.int64) + i
                left = slow & (at < n) & (_among(chosen, at) == 0)
                rest = rest + tl.load(weights + start + at, mask=left, other=0.0)
                last = tl.where(left, at, last)
            bound = unit * rest
            walked = tl.zeros((ROWS,), tl.float64)
            searching = slow
            for i in range(most):
                at = tl.zeros((ROWS,), tl.int64) + i
                left = searching & (at < n) & (_among(chosen, at) == 0)
                walked = walked + tl.load(weights + start + at, mask=left, other=0.0)
                hit = left & (walked > bound)
                last = tl.where(hit, at, last)
                searching = searching & (hit == 0)
            p = tl.where(slow, last, p)
        taken = slow | (quick & (miss == 0))
        chosen = tl.where(taken[:, None] & (slot == found[:, None]), p[:, None], chosen)
        found += taken.to(tl.int32)
        misses = tl.where(miss, misses + 1, tl.where(quick, 0, misses))
        busy = busy & (found < take)
    tl.store(out + r[:, None] * take + slot, chosen, mask=ok[:, None] & (slot < take))


@triton.jit(do_not_specialize=["rows", "number"])
def _units(out, heads, of, nodes, ids, rows, number, OWN: tl.constexpr, ROWS: tl.constexpr):  # type: ignore[no-untyped-def]
    """The unit floats of the draws with the ids as their numbers, of states that have a node or, without OWN, none."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    ok = r < rows
    if OWN:
        h = _state(heads, of, nodes, r, ok, number)
    else:
        head = tl.load(heads + tl.load(of + r, mask=ok, other=0), mask=ok, other=0).to(tl.uint64, bitcast=True)
        h = _absorb(head, tl.zeros_like(head) + number)
    tl.store(out + r, _unit(_draw(h, tl.load(ids + r, mask=ok, other=0))), mask=ok)


def _shape(take: int) -> dict[str, int]:
    """The sizes of a program for draws of some positions per row."""
    slots = triton.next_power_of_2(take)
    return {"SLOTS": slots, "ROWS": max(1, min(_ROWS, _CELLS // slots))}


EXACT = {"enable_fp_fusion": False}  # a product and a sum are rounded one after the other, as in the law


def alike(heads: torch.Tensor, of: torch.Tensor, nodes: torch.Tensor, counts: torch.Tensor, number: int, take: int, replace: bool) -> torch.Tensor:
    """Positions that rows draw alike: int64 [rows, take], where rows without replacement have the first ``min(counts, take)`` of them, and with
    replacement those with a count of 0 none.

    Args:
        heads: int64 [subgraphs], the bits of the states before the number of the op.
        of, nodes, counts: int64 [rows], the subgraph of a row, its node, and the length of its list.
        number: of the op.
        take: at least 1.
    """
    out = torch.empty((len(nodes), take), dtype=torch.int64, device=nodes.device)
    shape = _shape(take)
    if len(nodes):
        _alike[(triton.cdiv(len(nodes), shape["ROWS"]),)](out, heads, of, nodes, counts, len(nodes), number, take, REPLACE=replace, **shape, **EXACT)
    return out


def sums(weights: torch.Tensor, starts: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """The prefix sums of the weights of lists, float64, each list for itself, where the lists have the places ``starts`` to ``starts + counts``."""
    prefix = torch.empty_like(weights)
    if len(starts) and len(weights):
        _sums[(triton.cdiv(len(starts), _ROWS),)](prefix, weights, starts, counts, len(starts), ROWS=_ROWS, **EXACT)
    return prefix


def heavy(
    heads: torch.Tensor,
    of: torch.Tensor,
    nodes: torch.Tensor,
    prefix: torch.Tensor,
    weights: torch.Tensor,
    starts: torch.Tensor,
    counts: torch.Tensor,
    number: int,
    take: int,
) -> torch.Tensor:
    """`alike` without replacement, in proportion to weights, float64 and above 0, whose `sums` are ``prefix``."""
    out = torch.empty((len(nodes), take), dtype=torch.int64, device=nodes.device)
    shape = _shape(take)
    if len(nodes):
        _heavy[(triton.cdiv(len(nodes), shape["ROWS"]),)](out, heads, of, nodes, prefix, weights, starts, counts, len(nodes), number, take, **shape, **EXACT)
    return out


def units(heads: torch.Tensor, of: torch.Tensor, nodes: torch.Tensor | None, ids: torch.Tensor, number: int) -> torch.Tensor:
    """The unit floats, float64 [rows], of the draws with the numbers ``ids``. Without nodes, rows share the state of their subgraph and op."""
    out = torch.empty(len(ids), dtype=torch.float64, device=ids.device)
    if len(ids):
        grid = (triton.cdiv(len(ids), _ROWS),)
        _units[grid](out, heads, of, of if nodes is None else nodes, ids, len(ids), number, OWN=nodes is not None, ROWS=_ROWS, **EXACT)
    return out
