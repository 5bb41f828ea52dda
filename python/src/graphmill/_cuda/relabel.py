"""Local ids by sorting: what is met gets the next id in the order in which it is met first."""

from __future__ import annotations

import torch


def firsts(keys: torch.Tensor) -> torch.Tensor:
    """Whether each key is the first of its value, bool [keys]."""
    out = torch.zeros(len(keys), dtype=torch.bool, device=keys.device)
    if len(keys):
        ordered, order = keys.sort(stable=True)
        begins = torch.ones_like(out)
        torch.ne(ordered[1:], ordered[:-1], out=begins[1:])
        out[order] = begins
    return out


def relabel(known: torch.Tensor, met: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The keys with those of them that are new, in the order in which they are met; and the place of each key that is met.

    Args:
        known: int64, each key once.
        met: int64.
    """
    keys = torch.cat([known, met])
    if not len(met):
        return known, met
    ordered, order = keys.sort(stable=True)
    begins = torch.ones(len(keys), dtype=torch.bool, device=keys.device)
    torch.ne(ordered[1:], ordered[:-1], out=begins[1:])
    group = begins.cumsum(0) - 1
    new = torch.zeros_like(begins)
    new[order] = begins
    place = new.cumsum(0) - 1  # of a key that is the first of its value
    local = torch.empty_like(keys)
    local[order] = place[order[begins]][group]
    return keys[new], local[len(known) :]
