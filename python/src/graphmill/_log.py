"""Statistics of loaders for TensorBoard and Weights & Biases."""

from __future__ import annotations

from typing import Any


def log_stats(loader: Any, writer: Any, step: int | None = None) -> dict[str, float]:
    """Write how a loader spent its time to TensorBoard or Weights & Biases, and return what was written, by name.

    The values are taken from `LoaderStats`, which counts from when the loader was made: ``graphmill/batches``, ``graphmill/batches_per_second``,
    ``graphmill/seconds``, ``graphmill/waited``, ``graphmill/converted``, ``graphmill/waiting_share``; with
    ``negatives_strict="count"`` also ``graphmill/negatives`` and ``graphmill/negative_edges``, with ``cache`` ``graphmill/kept_share``.

    Args:
        loader: anything with `stats`: `NodeLoader`, `PackedLoader`, `BatchIter`, `GroupBatchIter`.
        writer: a ``SummaryWriter``, which has ``add_scalar``, or ``wandb`` or a run of it, which have ``log``.
        step: the step of the training; None: the writer's own.

    Raises:
        TypeError: the writer has neither ``add_scalar`` nor ``log``.

    Example:
        >>> graphmill.log_stats(loader, SummaryWriter("runs"), step)
        >>> graphmill.log_stats(loader, wandb, step)
    """
    s = loader.stats()
    values = {"batches": s.batches, "batches_per_second": s.batches / s.seconds if s.seconds > 0 else 0.0}
    values.update(seconds=s.seconds, waited=s.waited, converted=s.converted, waiting_share=s.waiting_share)
    if s.negatives:
        values.update(negatives=s.negatives, negative_edges=s.negative_edges)
    if s.rows:
        values.update(kept_share=s.kept_share)
    named = {f"graphmill/{name}": value for name, value in values.items()}
    if hasattr(writer, "add_scalar"):
        for name, value in named.items():
            writer.add_scalar(name, value, step)
    elif hasattr(writer, "log"):
        writer.log(named, step=step)
    else:
        raise TypeError(f"writer: found {type(writer).__name__}, expected a SummaryWriter, wandb or a run of wandb")
    return named
