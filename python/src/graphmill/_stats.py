"""How the time of an iteration goes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class LoaderStats:
    """How a loader's time went since it was made: what `stats` of all loaders and iterators returns.

    Attributes:
        batches: batches that were handed out.
        waited: seconds that the trainer waited for them: for the feed, or while rows were gathered.
        converted: seconds that went into making the framework's objects.
        seconds: seconds of the passes, from the first request to the end, with what the trainer did.
    """

    batches: int = 0
    waited: float = 0.0
    converted: float = 0.0
    seconds: float = 0.0

    @property
    def waiting_share(self) -> float:
        """The share of the time that the trainer waited."""
        return self.waited / self.seconds if self.seconds > 0 else 0.0
