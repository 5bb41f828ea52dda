"""The modules of the client, and the programs of bench and scripts: what they import."""

from __future__ import annotations

import ast
import graphlib
import pathlib
import subprocess
import sys
import unittest
from collections.abc import Iterator, Mapping

import graphmill

FOLDER = pathlib.Path(graphmill.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = {".".join(p.relative_to(FOLDER.parent).with_suffix("").parts).removesuffix(".__init__"): p for p in FOLDER.rglob("*.py")}
# The folder of a program is on the path, so that a module has the name of its file.
PROGRAMS = {p.stem: p for folder in ("bench", "scripts") for p in (ROOT / folder).rglob("*.py")}


def imports(name: str, files: Mapping[str, pathlib.Path] = FILES) -> Iterator[str]:
    """The modules among the files that one of them imports anywhere, also in functions and for types alone."""
    file = files[name]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in files)
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: None if file.stem == "__init__" else -1]
            base = ".".join([*above[: len(above) + 1 - node.level], *([node.module] if node.module else [])]) if node.level else str(node.module)
            for a in node.names:
                of = f"{base}.{a.name}" if f"{base}.{a.name}" in files else base
                if of in files:
                    yield of


def circle(files: Mapping[str, pathlib.Path]) -> str:
    """Files that import each other, as a text; empty if there are none."""
    try:
        graphlib.TopologicalSorter({name: set(imports(name, files)) for name in files}).prepare()
    except graphlib.CycleError as e:
        return " <- ".join(e.args[1])
    return ""


class TestStructure(unittest.TestCase):
    def test_imports_are_found(self) -> None:
        for name, of in (("graphmill", "graphmill._store"), ("graphmill._feed", "graphmill._process"), ("graphmill.tfgnn._tensor", "graphmill._tensors")):
            self.assertIn(of, set(imports(name)), name)
        for name, of in (("bench", "book"), ("pages", "book"), ("book_profiles", "book_parts")):
            self.assertIn(of, set(imports(name, PROGRAMS)), name)

    def test_no_circle(self) -> None:
        """An import in a function would hide a circle, and counts. Objects of frameworks are made through graphmill._makers."""
        self.assertEqual(circle(FILES), "", "found modules that import each other, expected none; what makes an object of a framework is registered")

    def test_no_circle_of_programs(self) -> None:
        self.assertEqual(circle(PROGRAMS), "", "found programs that import each other, expected none; put what both need in a file of its own")

    def test_imports_by_name(self) -> None:
        """Only the registry imports modules of the client by a name that is made while it runs."""
        self.assertEqual([name for name, file in FILES.items() if "__package__" in file.read_text(encoding="utf-8")], ["graphmill._makers"])

    def test_frameworks_are_imported_on_use(self) -> None:
        """``import graphmill`` imports NumPy and the standard library, whatever else is installed."""
        program = "import sys, numpy; before = set(sys.modules); import graphmill; print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
        p = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(set(p.stdout.split()) - sys.stdlib_module_names - {"numpy"}, {"graphmill"})


if __name__ == "__main__":
    unittest.main()
