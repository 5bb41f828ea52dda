"""The examples of docs/python.md run, those of frameworks where they are installed.

GRAPHMILL_COMMAND is the command, GRAPHMILL_TEST_STORES a folder with debian.store.
"""

import ast
import contextlib
import importlib.util
import io
import os
import re
import unittest

import made

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "python.md")


def imported(block):
    """The packages that a block imports."""
    for node in ast.walk(ast.parse(block)):
        for name in [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module] if isinstance(node, ast.ImportFrom) else []:
            yield name.partition(".")[0]


class TestPage(unittest.TestCase):
    def test_examples(self):
        with open(PAGE) as f:
            blocks = re.findall(r"```python\n(.*?)```", f.read(), re.S)
        self.assertEqual(len(blocks), 9)
        folder = made.path("page")
        os.makedirs(os.path.join(folder, "quickstart"))
        for name, path in (("quickstart/debian.store", made.DEBIAN), ("molecules.coll", made.molecules()), ("plan", made.layout("molecules", "--reserve"))):
            os.symlink(os.path.abspath(path), os.path.join(folder, name))
        before = os.getcwd()
        os.chdir(folder)
        self.addCleanup(os.chdir, before)
        run = 0
        for block in blocks:
            if all(importlib.util.find_spec(m) for m in imported(block)):
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(block, PAGE, "exec"), {})
                run += 1
        self.assertGreaterEqual(run, 4)


if __name__ == "__main__":
    unittest.main()
