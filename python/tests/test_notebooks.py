"""The notebooks of examples/notebooks: each runs as it is, in an empty folder, and is committed without outputs.

GRAPHMILL_COMMAND is the path of the command. They run in the environment of bench/peers.sh integrations.
"""

from __future__ import annotations

import glob
import importlib.util
import json
import os
import re
import tempfile
import unittest
from typing import Any
from unittest import mock

FOLDER = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "examples", "notebooks"))
NAMES = ["citations", "database", "larger-than-memory", "molecules", "recommender"]
MACHINE = re.compile(r"/(?:home|root|tmp|Users|work|mnt|opt)/|\b[A-Z]:\\")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def read(name: str) -> dict[str, Any]:
    with open(os.path.join(FOLDER, f"{name}.ipynb"), encoding="utf-8") as f:
        notebook: dict[str, Any] = json.load(f)
        return notebook


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


class TestCommitted(unittest.TestCase):
    def test_names(self) -> None:
        self.assertEqual([os.path.basename(p) for p in sorted(glob.glob(FOLDER + "/*"))], [f"{n}.ipynb" for n in NAMES])

    def test_as_committed(self) -> None:
        """No outputs, no counts, nothing of the machine that wrote them, and links to files that are there."""
        for name in NAMES:
            with self.subTest(name):
                notebook = read(name)
                self.assertEqual(set(notebook["metadata"]), {"kernelspec", "language_info"})
                self.assertEqual(notebook["metadata"]["language_info"], {"name": "python"})
                for i, cell in enumerate(notebook["cells"]):
                    self.assertEqual((cell["id"], cell["metadata"]), (f"cell-{i}", {}))
                    self.assertIsNone(MACHINE.search(source(cell)), source(cell))
                    if cell["cell_type"] == "code":
                        self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                    else:
                        for target in LINK.findall(source(cell)):
                            self.assertTrue(os.path.exists(os.path.join(FOLDER, target)), target)

    def test_short(self) -> None:
        """The recommender has at most the 40 lines that examples/README.md says."""
        lines = [line for cell in read("recommender")["cells"] if cell["cell_type"] == "code" for line in source(cell).splitlines() if line.strip()]
        self.assertLessEqual(len(lines), 40)

    def test_machine_paths_are_found(self) -> None:
        for text, found in (("open('/home/me/x')", True), (r"C:\data", True), ("papers/x.npy", False), ("../../docs/guide.md", False)):
            self.assertEqual(MACHINE.search(text) is not None, found, text)


@unittest.skipUnless(all(map(importlib.util.find_spec, ("nbclient", "ipykernel", "torch_geometric"))), "nbclient or PyG is not installed")
class TestRun(unittest.TestCase):
    def execute(self, name: str) -> None:
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.read(os.path.join(FOLDER, f"{name}.ipynb"), 4)
        nbformat.validate(notebook)
        path = os.path.join(FOLDER, "..", "..", "python", "src")
        # One thread: torch's threads spin where others use the cores.
        with (
            tempfile.TemporaryDirectory(prefix="graphmill-") as folder,
            mock.patch.dict(os.environ, {"PYTHONPATH": os.path.abspath(path), "OMP_NUM_THREADS": "1"}),
        ):
            NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()  # against a hang
        outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
        self.assertTrue(any("text/html" in o.get("data", {}) for o in outputs), "found no table, expected those of stores and loaders")


for _name in NAMES:
    setattr(TestRun, "test_" + _name.replace("-", "_"), lambda self, name=_name: self.execute(name))


if __name__ == "__main__":
    unittest.main()
