"""Draws that take the edges with the smallest numbers of each node. internal/sample/testdata/reference/draws.py defines the numbers.

Each step of float64 is an operation of torch of its own, and so is rounded by itself.
"""

from __future__ import annotations

import torch

_LN2 = 0.6931471805599453
_ROOT = 0.7071067811865476  # of 1/2
_LEAST = 2.0**-54  # stands for an exponential of 0


def least(rows: torch.Tensor, at: torch.Tensor, numbers: torch.Tensor, take: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The items with the smallest numbers of each row, at most ``take``, in the order of the items. Of equal numbers the first item comes first.

    Args:
        rows: int64, ascending.
        at: int64, the position of each item in its row.
        numbers: float64.
    """
    order = numbers.argsort(stable=True)
    order = order[rows[order].argsort(stable=True)]
    begins = torch.searchsorted(rows, rows)  # the place of the first item of the row
    rank = torch.arange(len(rows), device=rows.device) - begins
    keep = torch.zeros(len(rows), dtype=torch.bool, device=rows.device)
    keep[order] = rank < take
    return rows[keep], at[keep]


def decayed(units: torch.Tensor, ages: torch.Tensor, half_life: float) -> torch.Tensor:
    """The numbers of recent(): of items with units, float64 in (0, 1], and ages, float64."""
    halves = ages / torch.full_like(ages, half_life)  # on CUDA, torch divides by a number as it multiplies by its reciprocal, which rounds twice
    return _logarithm((-_logarithm(units)).clamp(min=_LEAST)) + _LN2 * halves


def ages(rows: torch.Tensor, times: torch.Tensor, count: int) -> torch.Tensor:
    """How long before the latest time of its row each time is, float64: the exact difference of whole numbers, rounded."""
    if times.dtype == torch.float64:
        latest = torch.full((count,), -torch.inf, dtype=torch.float64, device=rows.device).scatter_reduce_(0, rows, times, "amax")
        return latest[rows] - times
    latest = torch.full((count,), torch.iinfo(torch.int64).min, device=rows.device).scatter_reduce_(0, rows, times, "amax")
    d = latest[rows] - times  # as unsigned bits
    return ((d >> 32) & 0xFFFFFFFF).double() * 2.0**32 + (d & 0xFFFFFFFF).double()


def _logarithm(x: torch.Tensor) -> torch.Tensor:
    """logarithm() of the reference."""
    m, e = torch.frexp(x)
    low = m < _ROOT
    m, e = torch.where(low, m * 2, m), e - low.to(e.dtype)
    s = (m - 1) / (m + 1)
    z, total = s * s, torch.full_like(s, 1.0 / 21)
    for i in range(19, 0, -2):
        total = total * z
        total = total + 1.0 / i
    whole, part = e.double() * _LN2, 2 * s * total
    return whole + part
