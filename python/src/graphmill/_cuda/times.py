"""Which times pass before the time of a seed: the intervals of seeds, made on the processor, and the test on the device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from .._arrays import Array
from .._folder import NO_TIME


class Intervals:
    """The interval of each seed, on a device.

    Args:
        before: the object of the plan.
        times: the time of each seed: int64 or float64, as the columns of times are.
    """

    def __init__(self, before: Mapping[str, Any], times: Array, device: torch.device) -> None:
        self._or_equal = bool(before["or_equal"])
        window = before.get("window", 0)
        self._upper = torch.from_numpy(times.copy()).to(device)
        self._lower: torch.Tensor | None = None
        self._bounded: torch.Tensor | None = None
        if not window:
            return
        if times.dtype == np.float64:
            self._lower = torch.from_numpy(times - window).to(device)
            return
        # How far a time is above the least integer; a window that is longer bounds nothing.
        above = times.view(np.uint64) ^ np.uint64(1 << 63)
        length = np.uint64(min(int(window), (1 << 64) - 1))
        bounded = (above >= length) & (window < 1 << 64)
        first = np.where(bounded, above - length, 0) ^ np.uint64(1 << 63)
        self._lower, self._bounded = torch.from_numpy(first.view(np.int64)).to(device), torch.from_numpy(bounded).to(device)

    def passes(self, times: torch.Tensor, of: torch.Tensor, unit: str | None) -> torch.Tensor:
        """Whether times pass before those of their seeds, bool [rows].

        Args:
            times: of the dtype of the seeds' times.
            of: int64 [rows], the seed of each.
            unit: of the times; whole numbers without one are never missing.
        """
        out = self._below(times, self._upper[of])
        if self._lower is not None:
            late = self._below(times, self._lower[of])
            if self._bounded is not None:
                late &= self._bounded[of]
            out &= ~late
        if unit is not None and times.dtype == torch.int64:
            out &= times != int(NO_TIME)
        return out

    def _below(self, times: torch.Tensor, bounds: torch.Tensor) -> torch.Tensor:
        return times <= bounds if self._or_equal else times < bounds
