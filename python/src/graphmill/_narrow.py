"""Features that travel to a device in the pieces that the store has, of few bits, and become numbers there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._features import Piece
from ._schema import Schema, key
from ._store import Store

if TYPE_CHECKING:
    import torch

_ROWS = 1 << 22  # numbers that are looked up together


class Narrow:
    """The features of nodes that a store has in pieces, by type: codes of 4 or 8 bits, and which numbers of a row are 1.

    Their numbers on the device are those that the feed makes, bit for bit.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._of = {t: dict(sorted(n.columns.wide.items())) for t, n in store.nodes.items() if n.columns.wide}
        self._sent: dict[str, list[str]] = {}  # by type, names of the features that batches bring in pieces
        self._numbers: dict[str, torch.Tensor] = {}  # of all codes of a piece, by its name in the feed

    def features(self, text: str | None) -> str | None:
        """The value of the flag ``--features`` with the pieces of features in their place."""
        if not self._of or text is None or text == "none":
            return text
        nodes = self._store.nodes
        asked = text.split(",")
        if text == "all":
            asked = [f"{t}/{c}" for t, n in nodes.items() for c in n.columns if n.columns.fixed(c) and not c.startswith("#")]
        whole = [x for x in asked if not any(x in (name, f"{t}/{name}") for t, of in self._of.items() for name in of)]
        for t, of in self._of.items():
            self._sent[t] = [name for name in of if name in asked or f"{t}/{name}" in asked]
            # A name without its type is that of a column of other types, too.
            whole += [f"{u}/{name}" for name in of if name in asked for u, n in nodes.items() if name in n.columns and name not in self._of.get(u, {})]
        pieces = [f"{t}/{p.column}" for t, names in self._sent.items() for name in names for p in self._of[t][name]]
        return ",".join(dict.fromkeys(whole + pieces)) or "none"

    def name(self, schema: Schema) -> None:
        """Put the features into a schema, in the place of their pieces."""
        for t, names in self._sent.items():
            first = {self._of[t][name][0].column: name for name in names}
            pieces = {p.column for name in names for p in self._of[t][name]}
            schema.node_columns[t] = [first.get(c, c) for c in schema.node_columns[t] if c in first or c not in pieces]
            schema.bfloat16 |= {key("nodes", t, "x", name) for name in names if self._dtype(t, name) == "bfloat16"}

    def _dtype(self, t: str, name: str) -> str:
        return self._store.nodes[t].columns.features[name].dtype

    def make(self, columns: dict[str, Any], made: Callable[[str, str, list[tuple[Piece, Any]]], Any]) -> None:
        """Make the features of a batch of their pieces.

        Args:
            columns: by the feed's name. The pieces are taken out.
            made: of a node type, the dtype of a feature, and its pieces with their rows.
        """
        for t, names in self._sent.items():
            for name in names:
                pieces = [(p, columns.pop(key("nodes", t, "x", p.column))) for p in self._of[t][name]]
                columns[key("nodes", t, "x", name)] = made(t, self._dtype(t, name), pieces)

    def widen(self, columns: dict[str, Any]) -> None:
        """Make the features of a batch of their pieces, which are tensors."""
        self.make(columns, self._made)

    def _made(self, t: str, dtype_name: str, pieces: list[tuple[Piece, torch.Tensor]]) -> torch.Tensor:
        import torch

        x = pieces[0][1]
        dtype = getattr(torch, dtype_name)
        out = torch.zeros((len(x), sum(p.width for p, _ in pieces)), dtype=dtype, device=x.device)
        at = 0
        for p, x in pieces:
            to = out[:, at : at + p.width]
            at += p.width
            if p.kind == "low-bit":
                self._codes(key(t, p.column), p, x, to)
            elif p.kind == "one-hot":
                to.scatter_(1, x.long().reshape(-1, 1), 1)
            elif p.kind == "multi-hot":
                bits = x[:, :, None] >> torch.arange(8, dtype=torch.uint8, device=x.device) & 1
                to.copy_(bits.reshape(len(x), x.shape[1] * 8)[:, : p.width])
            else:
                to.copy_(x.reshape(len(x), p.width))
        return out

    def _codes(self, name: str, p: Piece, x: torch.Tensor, to: torch.Tensor) -> None:
        """Write the numbers of rows of codes."""
        import torch

        if name not in self._numbers or self._numbers[name].device != x.device:
            numbers = p.numbers
            self._numbers[name] = (
                torch.from_numpy(numbers.view(np.int16)).view(torch.bfloat16) if to.dtype == torch.bfloat16 else torch.from_numpy(numbers)
            ).to(x.device)
        first = torch.arange(p.width, device=x.device) << p.bits
        step = max(1, _ROWS // p.width)
        for at in range(0, len(x), step):
            codes = x[at : at + step]
            if p.bits == 4:
                codes = torch.stack([codes & 15, codes >> 4], 2).reshape(len(codes), -1)[:, : p.width]
            to[at : at + step] = self._numbers[name][codes.long() + first]
