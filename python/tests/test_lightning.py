"""DataModule with Lightning's Trainer.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from typing import TYPE_CHECKING, Any

import made
import numpy as np
from graphmill import NodeLoader


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


OPTIONS: dict[str, Any] = dict(fanout=[3, 2], batch_size=400, seed=1, threads=1)


def flat(b: Any) -> list[Any]:
    return [b.input_id.tolist(), b.e_id.tolist()]


@functools.lru_cache(None)
def kept(package: str) -> Any:
    """A model that keeps the batches of each stage, of a package of Lightning."""
    import torch

    L: Any = importlib.import_module(package)

    class Kept(L.LightningModule):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.line = torch.nn.Linear(1, 1)
            self.train_batches: list[Any] = []
            self.val_batches: list[Any] = []
            self.test_batches: list[Any] = []

        def training_step(self, batch: Any, _: int) -> Any:
            self.train_batches.append(flat(batch))
            return self.line(batch.n_id[:1].float()[:, None]).sum() * 0

        def validation_step(self, batch: Any, _: int) -> None:
            self.val_batches.append(flat(batch))

        def test_step(self, batch: Any, _: int) -> None:
            self.test_batches.append(flat(batch))

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    return Kept


if TYPE_CHECKING:
    _Case = unittest.TestCase
else:
    _Case = object  # the tests of Base run in its subclasses only


class Base(_Case):
    package = ""

    def setUp(self) -> None:
        warnings.simplefilter("ignore")
        self.L = importlib.import_module(self.package)
        sys.modules.pop("graphmill.lightning", None)  # it looks for the packages when it is imported
        folder = tempfile.TemporaryDirectory(prefix="graphmill-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def trainer(self, **options: Any) -> Any:
        quiet = dict(accelerator="cpu", devices=1, logger=False, enable_progress_bar=False, enable_model_summary=False, default_root_dir=self.folder)
        return self.L.Trainer(**{**quiet, "enable_checkpointing": False, **options})

    def data(self, **options: Any) -> Any:
        from graphmill.lightning import DataModule

        data = DataModule(made.RMAT, **{**OPTIONS, **dict(train=np.arange(3000), val=np.arange(3000, 3500), test=np.arange(3500, 4096)), **options})
        self.assertIsInstance(data, self.L.LightningDataModule)
        return data

    def whole(self, epochs: int, seeds: int = 3000) -> list[list[Any]]:
        with NodeLoader(made.RMAT, seeds=np.arange(seeds), as_="pyg", shuffle=True, **OPTIONS) as loader:
            return [[flat(b) for b in loader] for _ in range(epochs)]

    def test_stages(self) -> None:
        model, data = kept(self.package)(), self.data()
        trainer = self.trainer(max_epochs=3)
        trainer.fit(model, data)
        self.assertEqual(model.train_batches, sum(self.whole(3), []))
        self.assertEqual(len(model.val_batches), 2 + 3 * 2)  # and two batches that Lightning tries first
        self.assertEqual(model.val_batches[:2] * 4, model.val_batches)
        self.assertEqual(sum((b[0] for b in model.val_batches[:2]), []), list(range(500)))
        trainer.test(model, data)
        self.assertEqual(sum((b[0] for b in model.test_batches), []), list(range(596)))
        self.assertEqual(data._loaders, {})  # closed

    def test_without_validation(self) -> None:
        model = kept(self.package)()
        self.trainer(max_epochs=1).fit(model, self.data(val=None, test=None))
        self.assertEqual((len(model.train_batches), model.val_batches), (8, []))

    def test_resume(self) -> None:
        """Checkpoints after any number of steps: the training goes on with the batches that are left, and the following epochs."""
        want = sum(self.whole(3), [])
        for step in (1, 5, 8, 11, 16):
            checkpoint = importlib.import_module(self.package + ".callbacks").ModelCheckpoint(
                self.folder, f"at{step}", every_n_train_steps=step, save_top_k=-1, enable_version_counter=False
            )
            model = kept(self.package)()
            self.trainer(max_epochs=3, max_steps=step, enable_checkpointing=True, callbacks=[checkpoint]).fit(model, self.data(val=None))
            self.assertEqual(model.train_batches, want[:step])
            model = kept(self.package)()
            self.trainer(max_epochs=3).fit(model, self.data(val=None), ckpt_path=os.path.join(self.folder, f"at{step}.ckpt"))
            self.assertEqual(model.train_batches, want[step:], step)

    def test_resume_from_the_end_of_an_epoch(self) -> None:
        """Lightning's own checkpoints, which it makes at the end of an epoch, with and without a validation before it."""
        want = self.whole(4)
        callbacks = importlib.import_module(self.package + ".callbacks")
        data: Any
        before: Any
        after: Any
        for name, data, before, after in (
            ("alone", dict(val=None), dict(max_epochs=2), dict(max_epochs=4)),
            ("validated", {}, dict(max_epochs=2), dict(max_epochs=4)),
            ("steps", dict(val=None), dict(max_epochs=2), dict(max_steps=32)),
            ("reloaded", dict(val=None), dict(max_epochs=2), dict(max_epochs=4, reload_dataloaders_every_n_epochs=1)),
            ("limited", dict(val=None), dict(max_epochs=2, limit_train_batches=3), dict(max_epochs=4)),
            ("limited and validated", {}, dict(max_epochs=2, limit_train_batches=3), dict(max_epochs=4)),
        ):
            with self.subTest(name):
                checkpoint = callbacks.ModelCheckpoint(self.folder, name)
                self.trainer(enable_checkpointing=True, callbacks=[checkpoint], **before).fit(kept(self.package)(), self.data(**data))
                model = kept(self.package)()
                self.trainer(**after).fit(model, self.data(**data), ckpt_path=checkpoint.best_model_path)
                self.assertEqual(model.train_batches, want[2] + want[3])

    def test_resume_after_the_last_step(self) -> None:
        """What is saved after max_steps ended a training: Lightning counts the epoch as done, so the next one follows.

        A training that has max_steps too goes on within the epoch.
        """
        want = self.whole(3)
        for steps, epoch in ((5, 1), (8, 1), (13, 2)):
            trainer, path = self.trainer(max_steps=steps), os.path.join(self.folder, f"after{steps}.ckpt")
            trainer.fit(kept(self.package)(), self.data(val=None))
            trainer.save_checkpoint(path)
            model = kept(self.package)()
            self.trainer(max_epochs=3).fit(model, self.data(val=None), ckpt_path=path)
            self.assertEqual(model.train_batches, sum(want[epoch:], []), steps)
            for reload in (0, 1):
                model = kept(self.package)()
                self.trainer(max_steps=20, reload_dataloaders_every_n_epochs=reload).fit(model, self.data(val=None), ckpt_path=path)
                self.assertEqual(model.train_batches, sum(want, [])[steps:20], (steps, reload))

    def test_second_fit(self) -> None:
        """The same Trainer goes on with its next epoch; another one begins."""
        want = self.whole(2)
        model, data, trainer = kept(self.package)(), self.data(val=None), self.trainer(max_epochs=1)
        trainer.fit(model, data)
        trainer.fit_loop.max_epochs = 2
        trainer.fit(model, data)
        self.assertEqual(model.train_batches, want[0] + want[1])
        model = kept(self.package)()
        self.trainer(max_epochs=1).fit(model, data)
        self.assertEqual(model.train_batches, want[0])

    def test_reload(self) -> None:
        """Lightning may ask for the loader before each epoch: it is the same, at its next epoch."""
        model = kept(self.package)()
        self.trainer(max_epochs=3, reload_dataloaders_every_n_epochs=1).fit(model, self.data())
        self.assertEqual(model.train_batches, sum(self.whole(3), []))

    def test_ranks(self) -> None:
        """Two processes of DDP get their shares of the batches."""
        program = f"""
import importlib, json, os, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = [{os.path.dirname(__file__)!r}]
L = importlib.import_module({self.package!r})
import numpy as np
from test_lightning import OPTIONS, kept
import made
from graphmill.lightning import DataModule
model = kept({self.package!r})()
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, logger=False, enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False)
trainer.fit(model, DataModule(made.RMAT, train=np.arange(3500), **OPTIONS))
with open(os.path.join({self.folder!r}, f"rank{{trainer.global_rank}}"), "w") as f:
    json.dump(model.train_batches, f)
"""
        script = os.path.join(self.folder, "ranks.py")
        with open(script, "w") as f:
            f.write(program)
        p = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)  # against a hang
        self.assertEqual(p.returncode, 0, p.stderr)
        got = []
        for r in range(2):
            with open(os.path.join(self.folder, f"rank{r}")) as f:
                got.append(json.load(f))
        want = self.whole(2, 3500)
        self.assertEqual([len(x) for x in want], [9, 9])
        for r, x in enumerate(got):
            self.assertEqual(len(x), 10)
            for epoch in range(2):
                of = x[5 * epoch :][:5]
                mine = want[epoch][r::2]
                self.assertEqual(of[: len(mine)], mine)

    def test_links_and_own_options(self) -> None:
        pairs = np.random.default_rng(1).integers(0, 4096, (2, 700))
        data = self.data(train={"seeds": pairs, "batch_size": 100}, order="windowed:10,4")
        b = next(iter(data.train_dataloader()))
        self.assertEqual(tuple(b.edge_label_index.shape), (2, 100))
        self.assertEqual(len(data.train_dataloader()), 7)
        self.assertEqual(len(data.val_dataloader()), 2)
        data.teardown()

    def test_errors(self) -> None:
        from graphmill.lightning import DataModule

        options: Any
        for options, text in (
            ({}, "found no stage, expected seeds for at least one of train=, val=, test= and predict="),
            (dict(train=[1], rank=0), "found rank=, expected none, because the Trainer has it"),
            (dict(train={"seeds": [1], "world_size": 2}), "found world_size=, expected none"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                DataModule(made.RMAT, **options)
        for options, text in (
            (dict(trian=[1]), "found the keyword trian=, expected train=, val=, test=, predict= or one of NodeLoader; did you mean train\\?"),
            (dict(train=[1], batchsize=5), "found the keyword batchsize=, .*; did you mean batch_size\\?"),
            (
                dict(train=[1], test={"seeds": [1], "fanuot": [2]}),
                "test=: found the keyword fanuot=, expected seeds= or one of NodeLoader; did you mean fanout\\?",
            ),
            (dict(train=[1], zzz=1), "found the keyword zzz=, expected train=, val=, test=, predict= or one of NodeLoader$"),
        ):
            with self.assertRaisesRegex(TypeError, text):
                DataModule(made.RMAT, **options)
        with self.assertRaisesRegex(ValueError, "found no seeds for the stage 'train', expected train= in DataModule"):
            self.data(train=None).train_dataloader()


@unittest.skipUnless(has("lightning"), "lightning is not installed")
class TestLightning(Base, unittest.TestCase):
    package = "lightning.pytorch"


@unittest.skipUnless(has("pytorch_lightning"), "pytorch_lightning is not installed")
class TestPytorchLightning(Base, unittest.TestCase):
    package = "pytorch_lightning"


if __name__ == "__main__":
    unittest.main()
