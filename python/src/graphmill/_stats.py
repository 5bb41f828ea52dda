"""Statistics of the time of an iteration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class LoaderStats:
    """How a loader spent its time since it was made. `stats` of all loaders and iterators returns it.

    Attributes:
        batches: number of batches that were yielded.
        waited: seconds that the trainer waited for batches, from the feed or while rows were gathered.
        converted: seconds for making the framework's objects.
        seconds: seconds of the passes, from the first request to the end, including the trainer's work.
        negatives: number of negative links that came, with ``negatives_strict="count"``; else 0.
        negative_edges: number of those among them that are edges all the same; else 0.
        rows: with ``cache``, number of nodes of batches, and of edges of packs, of types with kept rows; else 0.
        kept: number of those among them whose rows were on the device; else 0.
        bytes_sent: with ``cache``, ``device="cuda"`` or a device of JAX, number of bytes that the feed sent to the device, without padding; of packs with ``device`` or ``cache``, number of
            bytes that came to it; else 0.
    """

    batches: int = 0
    waited: float = 0.0
    converted: float = 0.0
    seconds: float = 0.0
    negatives: int = 0
    negative_edges: int = 0
    rows: int = 0
    kept: int = 0
    bytes_sent: int = 0

    @property
    def waiting_share(self) -> float:
        """The share of the time that the trainer waited."""
        return self.waited / self.seconds if self.seconds > 0 else 0.0

    @property
    def kept_share(self) -> float:
        """The share of the rows that were on the device."""
        return self.kept / self.rows if self.rows > 0 else 0.0
