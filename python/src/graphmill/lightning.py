"""Loaders for Lightning's Trainer, of the packages ``lightning`` and ``pytorch_lightning``.

    import lightning
    from graphmill.lightning import DataModule

    data = DataModule("g.store", train="paper:split=train", val="paper:split=valid", fanout=[15, 10], label="label")
    lightning.Trainer(max_epochs=10).fit(model, data)

Import this module after the package of the Trainer: `DataModule` is a ``LightningDataModule`` of each of the two packages that
is imported, or else of the one that is installed.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ._arguments import meant
from ._keywords import known, refused
from ._loader import NodeLoader

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")
_STAGES = ("train", "val", "test", "predict")


def _bases() -> tuple[Any, ...]:
    found = [sys.modules[name].LightningDataModule for name in _PACKAGES if name in sys.modules]
    for name in () if found else _PACKAGES:
        try:
            return (importlib.import_module(name).LightningDataModule,)
        except ModuleNotFoundError as e:
            if not name.startswith(str(e.name)):
                raise
    if not found:
        raise ModuleNotFoundError("found neither lightning nor pytorch_lightning, expected one of them; pip install lightning", name="lightning")
    return tuple(found)


class DataModule(*_bases()):  # type: ignore[misc, unused-ignore]
    """A `NodeLoader` for each stage of Lightning's Trainer.

    Each rank of the Trainer gets its share of the batches. Epoch e of the Trainer has the batches of epoch e of the loader, also
    after ``fit(..., ckpt_path=...)`` and in a second ``fit`` of the same Trainer; a new Trainer begins with epoch 0. The other
    stages have the same batches in each of their passes. A checkpoint has the state of the loader of the training, so a training
    that continues within an epoch has exactly the batches that were left of it. Where ``max_steps`` or a limit ended an epoch
    early, the Trainer counts it as done: what is saved after that continues with the next epoch, or with the next batch if the new
    Trainer has ``max_steps`` too.

    A loader is made when the Trainer first asks for it, and closed by `teardown`.

    Args:
        store: path of a store.
        train, val, test, predict: the seeds of the stage, as `NodeLoader` takes them; or a dict of keywords for its loader,
            ``{"seeds": ..., "fanout": [-1, -1]}``, which replace the keywords in ``options``; None: there is no such stage.
        options: the keywords of `NodeLoader` for all stages; ``as_`` is "pyg" if it is not given, and the seeds of the training
            are shuffled if neither ``shuffle`` nor ``order`` is given, which hold for the training alone. Ranks are the Trainer's.

    Raises:
        TypeError: a keyword that does not exist.
        ValueError: an option that the Trainer decides, or no stage.
    """

    def __init__(self, store: str | os.PathLike[str], *, train: Any = None, val: Any = None, test: Any = None, predict: Any = None, **options: Any) -> None:
        super().__init__()
        given = {"train": train, "val": val, "test": test, "predict": predict}
        _check_keywords("", options, given)
        self._of: dict[str, dict[str, Any]] = {}
        for stage, x in given.items():
            if x is None:
                continue
            own = dict(x) if isinstance(x, Mapping) else {"seeds": x}
            _check_keywords(f"{stage}=: ", own, ())
            for name in ("rank", "world_size"):
                if name in options or name in own:
                    raise ValueError(f"found {name}=, expected none, because the Trainer has it")
            common = options if stage == "train" else {k: v for k, v in options.items() if k not in ("shuffle", "order")}
            of = {"as_": "pyg", **common, **own}
            if stage == "train" and not of.get("order"):
                of.setdefault("shuffle", True)
            self._of[stage] = of
        if not self._of:
            raise ValueError("found no stage, expected seeds for at least one of train=, val=, test= and predict=")
        self._store, self._loaders = store, dict[str, Any]()
        self._training: _Training | None = None  # one for all epochs of a fit, because the Trainer may ask before each of them

    def loader(self, stage: str) -> NodeLoader:
        """The loader of "train", "val", "test" or "predict", which is made if there is none yet."""
        if stage not in self._of:
            raise ValueError(f"found no seeds for the stage {stage!r}, expected {stage}= in DataModule(...)")
        loader: NodeLoader | None = self._loaders.get(stage)
        if loader is None:
            trainer = self.trainer
            ranks = {} if trainer is None else {"rank": trainer.global_rank, "world_size": trainer.world_size}
            loader = self._loaders[stage] = NodeLoader(self._store, **self._of[stage], **ranks)
        return loader

    def train_dataloader(self) -> Any:
        """The loader of the training. With a Trainer, its passes are the Trainer's epochs."""
        loader = self.loader("train")
        if self.trainer is None:
            return loader
        t = self._training
        if t is None or t._loader is not loader or t._trainer is not self.trainer:
            t = self._training = _Training(loader, self.trainer)
        return t

    def val_dataloader(self) -> Any:
        """The loader of the validation."""
        return self._same("val")

    def test_dataloader(self) -> Any:
        """The loader of the test."""
        return self._same("test")

    def predict_dataloader(self) -> Any:
        """The loader of the prediction."""
        return self._same("predict")

    def _same(self, stage: str) -> Any:
        # Lightning has no validation if there is no loader of it.
        return _Same(self.loader(stage)) if stage in self._of else []

    def teardown(self, stage: str | None = None) -> None:
        """Close the loaders. Batches that are in use stay readable."""
        for loader in self._loaders.values():
            loader.close()
        self._loaders.clear()
        self._training = None


def _check_keywords(place: str, words: Iterable[str], stages: Iterable[str]) -> None:
    """Raise a TypeError if one of the words is none of NodeLoader's. What it refuses, it refuses itself, with the reason."""
    names = {*stages, *known(inspect.signature(NodeLoader).parameters)} - {"store", "words"}
    for word in words:
        if word not in names and not refused(word):
            own = "train=, val=, test=, predict= or " if stages else "seeds= or "
            raise TypeError(f"{place}found the keyword {word}=, expected {own}one of NodeLoader{meant(word, names)}")


class _Training:
    """A loader each of whose passes is the current epoch of a Trainer, or what a state that was loaded leaves of it.

    The Trainer loads the state of a checkpoint if that is from within an epoch, or if the training has max_steps.
    """

    def __init__(self, loader: NodeLoader, trainer: Any) -> None:
        self._loader, self._trainer, self._loaded = loader, trainer, False
        self._ahead = 0  # how many epochs the Trainer has counted more than the loader, because max_steps ended them early

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        # The Trainer begins a pass before it has restored its epoch, so this looks at it when the first batch is wanted.
        fit = self._trainer.fit_loop
        epoch = fit.epoch_progress.current.processed  # what the Trainer gives to the set_epoch of a sampler
        state = self._loader.state_dict()
        within = state["batch"] == fit.epoch_loop.batch_progress.current.ready * self._trainer.world_size  # the Trainer goes on there too
        if self._loaded and within and state["epoch"] <= epoch:
            self._ahead = epoch - state["epoch"]
        elif not self._loaded or (state["epoch"], state["batch"]) < (epoch, 0):
            self._loader.set_epoch(epoch - self._ahead)
        self._loaded = False
        yield from self._loader

    def state_dict(self) -> dict[str, Any]:
        """The position after the batch that was returned last."""
        return self._loader.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next pass continue from a state, unless the Trainer is in a later epoch by then."""
        self._loader.load_state_dict(state)
        self._loaded = True


class _Same:
    """A loader each of whose passes is epoch 0."""

    def __init__(self, loader: NodeLoader) -> None:
        self._loader = loader

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        self._loader.set_epoch(0)
        return iter(self._loader)
