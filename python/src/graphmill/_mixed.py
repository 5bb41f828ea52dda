"""Several loaders as one, for seeds of several types."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from ._arguments import choice, integer
from ._loader import NodeLoader
from ._mixed_table import SeedTable
from ._order import LAW, check_state
from ._store import Store

_ORDERS = ("proportion", "turns")


class MixedLoader:
    """Yields the batches of several loaders, each with the name of its loader: seeds of several node types, or of nodes and links.

    An epoch has each batch of each loader once, in the order of its loader, so the same seeds give the same batches as alone. The order
    of the loaders depends on nothing but their numbers of batches: ranks with equally many batches take the same turns.

    Args:
        loaders: loaders by name. They may have different stores, plans and batch sizes, but the same rank and world_size. They belong to the
            MixedLoader, which closes them.
        order: "proportion", the default: at any time each loader has yielded about the same share of its batches; "turns": one batch of each
            in turn, as long as it has some.

    Raises:
        TypeError: something is no NodeLoader.
        ValueError: no loader, or another order.

    Example::

        with MixedLoader({"user": NodeLoader(store, fanout=[10, 5], seeds="user:split=train", shuffle=True),
                          "item": NodeLoader(store, fanout=[10, 5], seeds="item:split=train", shuffle=True)}) as loader:
            for name, batch in loader:
                loss = heads[name](model(batch))
    """

    def __init__(self, loaders: Mapping[str, NodeLoader], order: str = "proportion") -> None:
        if not isinstance(loaders, Mapping) or not all(isinstance(x, NodeLoader) for x in loaders.values()):
            raise TypeError(
                "found loaders that are no NodeLoaders by name, expected a dict of them, such as {'user': NodeLoader(...), 'item': NodeLoader(...)}"
            )
        if not loaders:
            raise ValueError("found no loader, expected at least one")
        if len(set(map(id, loaders.values()))) < len(loaders):
            raise ValueError("found a loader under two names, expected each once, because a loader has one pass at a time")
        self.loaders = dict(loaders)
        self.order = choice("order", order, _ORDERS)
        self._epoch = 0
        self._taken = [0] * len(self.loaders)  # batches of each loader that the next pass leaves out, after load_state_dict
        self._at = (0, self._taken)

    @classmethod
    def from_table(
        cls,
        store: str | os.PathLike[str] | Store,
        table: Any,
        *,
        types: str = "type",
        ids: str = "id",
        ends: tuple[str, str] = ("source", "target"),
        times: str | None = None,
        each: Mapping[Any, Mapping[str, Any]] | None = None,
        order: str = "proportion",
        **options: Any,
    ) -> MixedLoader:
        """A loader of the seeds that a table has, a row per seed: nodes and links of several types, by their original ids.

        Batches have the name of their type: that of a node type, or "user:buys:item". ``input_id`` of a batch has the rows of the table that
        its seeds are, from 0, so ``table[...][batch.input_id]`` are their labels and what else the table has.

        Args:
            store: the store, or its folder.
            table: a data frame of pandas or polars, an Arrow table, or a mapping from names to arrays or lists.
            types: the column of the types: names of node types, and of edge types, "user:buys:item" or "buys" alone. A link's relation may
                be one that the store lacks, such as "user:likes:item".
            ids: the column of the original ids of the rows that are nodes.
            ends: the columns of the original ids of the rows that are links: sources, targets. They may be missing where a row is a node, as
                ``ids`` may where it is a link.
            times: the column of the times of the seeds, for ``before=``; integers, floats or times.
            each: by type, further keywords of its loader, such as ``{"user:buys:item": {"negatives": 1}}``.
            order: that of `MixedLoader`.
            options: keywords of all loaders, those of `NodeLoader`, but for ``seeds``, ``seed_type`` and ``seed_time``.

        Raises:
            KeyError: the table lacks a column.
            TypeError: a column has values that are no types, ids or times, or an unknown keyword.
            ValueError: a type or an id that the store lacks, a missing value, with the row of the table; or a wrong value of a keyword.

        Example::

            rows = {"type": ["user", "item", "user"], "id": ["ann", "lamp", "bob"], "churned": [0, 1, 0]}
            with MixedLoader.from_table(store, rows, fanout=[10, 5], batch_size=256, shuffle=True) as loader:
                for name, batch in loader:
                    loss = criterion(heads[name](model(batch)), labels[batch.input_id])
        """
        store = store if isinstance(store, Store) else Store(store)
        choice("order", order, _ORDERS)
        return cls(SeedTable(store, table, types, ids, ends, times).loaders(options, each), order)

    def __len__(self) -> int:
        """The number of batches of an epoch, of all loaders."""
        return sum(map(len, self.loaders.values()))

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        counts, names = [len(x) for x in self.loaders.values()], list(self.loaders)
        epoch, taken = self._epoch, self._taken
        self._epoch, self._taken = epoch + 1, [0] * len(counts)
        self._at = epoch, list(taken)
        passes: dict[int, Iterator[Any]] = {}
        while (i := self._next(taken, counts)) is not None:
            if i not in passes:
                if taken[i] == 0:
                    self.loaders[names[i]].set_epoch(epoch)
                passes[i] = iter(self.loaders[names[i]])
            batch = next(passes[i])
            taken[i] += 1
            self._at = (epoch, list(taken)) if self._next(taken, counts) is not None else (epoch + 1, [0] * len(counts))
            yield names[i], batch
            del batch
        for p in passes.values():
            if next(p, None) is not None:
                raise AssertionError("found a batch after the last one of a loader")
        self._at = epoch + 1, [0] * len(counts)

    def _next(self, taken: list[int], counts: list[int]) -> int | None:
        """The loader that comes next; None at the end."""
        left = [i for i, n in enumerate(counts) if taken[i] < n]
        if not left:
            return None
        if self.order == "turns":
            return min(left, key=lambda i: (taken[i], i))
        # The middle of the share of its next batch: (taken + 1/2) / count, compared exactly.
        best = left[0]
        for i in left[1:]:
            if (2 * taken[i] + 1) * counts[best] < (2 * taken[best] + 1) * counts[i]:
                best = i
        return best

    def set_epoch(self, epoch: int) -> None:
        """Make the next pass begin the given epoch in all loaders."""
        self._epoch, self._taken = integer("epoch", epoch, 0), [0] * len(self.loaders)
        self._at = self._epoch, list(self._taken)
        for x in self.loaders.values():
            x.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """The position of the iteration: after the batch that was returned last."""
        return {
            "version": LAW,
            "order": self.order,
            "epoch": self._at[0],
            "taken": dict(zip(self.loaders, self._at[1])),
            "loaders": {name: x.state_dict() for name, x in self.loaders.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next pass continue from a state.

        Raises:
            ValueError: the state is of other loaders; the text says what differs.
        """
        check_state(state, order=self.order)
        taken, states = state.get("taken"), state.get("loaders")
        if not isinstance(taken, Mapping) or not isinstance(states, Mapping) or list(states) != list(self.loaders) or list(taken) != list(self.loaders):
            raise ValueError(
                f"state does not match: found loaders {list(states) if isinstance(states, Mapping) else states!r}, expected {list(self.loaders)}; make the loader with those of the state"
            )
        counts = [integer(f"taken[{name!r}]", n, 0, len(self.loaders[name])) for name, n in taken.items()]
        epoch = integer("epoch", state.get("epoch"), 0)
        for name, x in self.loaders.items():
            x.load_state_dict(states[name])
        self._epoch, self._taken = epoch, counts
        self._at = epoch, list(counts)

    def close(self) -> None:
        """Close all loaders. Batches that are in use stay readable."""
        for x in self.loaders.values():
            x.close()

    def __enter__(self) -> MixedLoader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        lines = "".join(f"\n  {name}: {x!r}" for name, x in self.loaders.items())
        return f"MixedLoader, order {self.order}, {len(self)} batches per epoch:{lines}"
