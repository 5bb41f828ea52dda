"""NodeLoader as a torch IterableDataset, with passes that torchdata's StatefulDataLoader can save and continue."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from torch.utils.data import IterableDataset

from .. import _arrays
from .._arguments import integer
from .._loader import NodeLoader, Place
from .._makers import makes


@makes("loader", "torch")
class TorchNodeLoader(NodeLoader, IterableDataset):  # type: ignore[misc, type-arg, unused-ignore]
    """What `NodeLoader` makes where torch is imported: torch's DataLoader takes it without a wrapper, with ``batch_size=None``."""

    def __iter__(self) -> Pass:
        return Pass(self)


class Pass:
    """A pass over a loader, with its own state.

    Unlike the state of the loader, it is the state of this DataLoader worker, and after the last batch it is the end of the pass
    and not the beginning of the next one. So a pass that continues has exactly the batches that were left.
    """

    def __init__(self, loader: TorchNodeLoader) -> None:
        self._loader, self._ended = loader, False
        self._at: tuple[int, int] | None = None  # epoch, and the batch from which this worker goes on; None before the first request
        self._batches: Iterator[Any] | None = None

    def __iter__(self) -> Pass:
        return self

    def __next__(self) -> Any:
        if self._ended:
            batches, self._batches = self._batches, None
            with contextlib.suppress(RuntimeError):  # another pass began
                next(batches or iter(()), None)  # its end counts the time of the last step
            raise StopIteration
        if self._batches is None:
            self._place = Place()
            self._batches = self._loader._pass(self._place)
        try:
            batch = next(self._batches)
        except StopIteration:
            self._ended = True
            self._at = self._at or self._place.began
            raise
        epoch, taken = self._place.at
        if epoch != self._place.began[0]:
            self._ended = True
            self._at = self._at or self._place.began
        else:
            # A feed counts the share of a worker from the first batch of its pass, so this is where the share of this one goes on.
            worker, workers = _arrays.worker() or (0, 1)
            self._at = epoch, taken + self._loader._world * (workers - worker - 1)
        return batch

    def state_dict(self) -> dict[str, Any]:
        """The position after the batch that was returned last."""
        loader = self._loader
        epoch, batch = self._at or (loader._epoch, loader._first)
        _, workers = _arrays.worker() or (0, 1)
        return {
            **loader.state_dict(),
            "epoch": epoch,
            "batch": batch,
            "ended": self._ended,
            "workers": workers,
            "rank": loader._rank,
            "world_size": loader._world,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue a pass.

        Raises:
            ValueError: the state is for another store, other seeds, other options, or another number of ranks or workers.
        """
        _, workers = _arrays.worker() or (0, 1)
        for name, have in (("workers", workers), ("rank", self._loader._rank), ("world_size", self._loader._world)):
            if state.get(name) != have:
                raise ValueError(f"state does not match: found {name}={state.get(name)!r}, expected {have}")
        epoch, first = integer("epoch", state["epoch"], 0), integer("batch", state["batch"], 0)
        total = self._loader._connect().total
        self._loader.load_state_dict({**state, "batch": min(first, total)})
        self._at, self._batches, self._ended = (epoch, first), None, bool(state["ended"]) or first >= total
        if self._ended:
            self._loader.set_epoch(epoch + 1)
