"""Runs the blocks of the documentation as printed: the blocks of a page in order, in one new folder.

The fence says what a block is:

  sh      run by bash, with `graphmill` and `python` on the PATH
  python  run in the page's one namespace, with the same PATH, unless it imports a framework that is not installed
  text, yaml, json, go, pbtxt, mermaid   not run: output, a file, a message, a fragment, a drawing

The comment `<!-- not run: REASON -->` on the line before an sh or python block keeps it from being run. Any other fence is
an error, and so is a command in a text block. The folder has the repository's `examples`, like a clone. With only NumPy,
all pages run; with a framework, only the pages that use it.

GRAPHMILL_COMMAND is the path of the command.
"""

import ast
import contextlib
import dataclasses
import glob
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from graphmill._command import command

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "examples/README.md",
    "python/README.md",
    *sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)),
]
RUN, DATA = {"sh", "python"}, {"text", "yaml", "json", "go", "pbtxt", "mermaid"}
# The packages of each environment of `make interop`; a block needs packages of at most one.
PEERS = {
    "pyg": {"torch", "torch_geometric"},
    "lightning": {"torch", "torch_geometric", "lightning", "torchdata"},
    "integrations": {"torch", "torch_geometric", "datasets", "fastapi", "ray", "tensorboard"},
    "frames": {"torch", "torch_geometric", "dgf"},
    "dgl": {"torch", "dgl"},
    "jraph": {"jax", "jraph"},
    "tfgnn": {"tensorflow", "tensorflow_gnn"},
}
FRAMEWORKS = set().union(*PEERS.values())
FENCE = re.compile(r"( *)```(.*)")
NOT_RUN = re.compile(r" *<!-- not run: \S.* -->")
COMMAND = re.compile(r"(\$ )?(graphmill|bin/|bench/|python3?|make|pip|go) ")


@dataclasses.dataclass
class Block:
    line: int  # line of the fence, from 1
    kind: str
    text: str
    marked: bool  # marked as not run

    def frameworks(self) -> set[str]:
        """The frameworks that the block needs: the ones that it imports, and the ones of the batches that it asks for."""
        names: set[str] = set()
        if self.kind == "python":
            for node in ast.walk(ast.parse(self.text)):
                if isinstance(node, ast.Import):
                    names |= {a.name for a in node.names}
                elif isinstance(node, ast.ImportFrom):
                    names.add(node.module or "")
                    names |= {"tensorboard"} if node.module == "torch.utils.tensorboard" else set()
                elif isinstance(node, ast.keyword) and node.arg == "as_" and isinstance(node.value, ast.Constant):
                    names.add({"pyg": "torch_geometric", "dgl": "dgl", "tfgnn": "tensorflow_gnn", "jraph": "jraph"}.get(str(node.value.value), ""))
        return {n.partition(".")[0] for n in names} & FRAMEWORKS


def blocks(lines: list[str]) -> Iterator[Block]:
    """The fenced blocks of a page. Their text keeps the line numbers of the page, for messages."""
    at = 0
    while at < len(lines):
        fence = FENCE.fullmatch(lines[at])
        if not fence:
            at += 1
            continue
        indent, kind = fence.groups()
        end = next((i for i in range(at + 1, len(lines)) if lines[i] == indent + "```"), None)
        if end is None:
            raise AssertionError(f"{at + 1}: found no end of the block, expected a line {indent + '```'!r}")
        text = "\n".join(line.removeprefix(indent) for line in lines[at + 1 : end])
        yield Block(at + 1, kind, text, at > 0 and NOT_RUN.fullmatch(lines[at - 1]) is not None)
        at = end + 1


def fault(block: Block) -> Optional[str]:
    """The error of a block that can be found without running it."""
    if block.kind not in RUN | DATA:
        return f"found a block of kind {block.kind!r}, expected one of {sorted(RUN | DATA)}"
    if block.kind in DATA and block.marked:
        return f"found 'not run' before a block of kind {block.kind}, expected it before sh or python"
    if block.kind == "text" and (line := next(filter(COMMAND.match, block.text.splitlines()), None)):
        return f"found the command {line!r} in a block of kind text, expected sh; mark it as not run where it cannot be"
    if block.kind == "json":
        try:
            json.loads(block.text)
        except ValueError as e:
            return f"found no JSON: {e}"
    if block.kind == "python" and not block.marked and not any(block.frameworks() <= has for has in PEERS.values()):
        return f"found imports of {sorted(block.frameworks())}, expected what one environment has; mark the block as not run"
    return None


def installed(frameworks: Iterable[str]) -> bool:
    return all(map(importlib.util.find_spec, frameworks))


@contextlib.contextmanager
def on_path() -> Iterator[None]:
    """The programs that a reader has are on the PATH."""
    before = os.environ["PATH"]
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(os.path.abspath(command())), os.path.dirname(sys.executable), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def shell(text: str) -> None:
    """Run a block of commands; raise an error with its output if it fails."""
    env = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python", "src")}
    p = subprocess.run(["bash", "-euo", "pipefail", "-c", text], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        raise AssertionError(f"found exit status {p.returncode}, expected 0\n{text}\n{p.stdout}")


def run(page: str, block: Block, names: dict[str, Any]) -> None:
    with on_path():
        if block.kind == "sh":
            shell(block.text)
            return
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile("\n" * block.line + block.text, page, "exec"), names)


class TestBlocks(unittest.TestCase):
    def test_faults(self) -> None:
        """The errors that the test of pages reports."""
        for text, want in {
            "```\nls\n```": "kind ''",
            "```bash\nls\n```": "kind 'bash'",
            "```text\na\ngraphmill info g.store\n```": "the command 'graphmill info g.store'",
            "```json\n{]\n```": "found no JSON",
            "```python\nimport dgl, jax\n```": "imports of ['dgl', 'jax']",
            "<!-- not run: a reason -->\n```text\na\n```": "'not run' before",
            "```sh\nls\n```": None,
            "  ```sh\n  ls\n  ```": None,
            "<!-- not run: a reason -->\n```python\nimport dgl, jax\n```": None,
            "```text\ngraphmill: a.csv:1: found b, expected c\n```": None,
        }.items():
            (block,) = blocks(text.splitlines())
            got = fault(block)
            self.assertTrue(got is None if want is None else got and want in got, (text, got))
            self.assertEqual(block.marked, "not run" in text)
        with self.assertRaisesRegex(AssertionError, "2: found no end"):
            list(blocks(["a", "```sh", "ls"]))

    def test_a_failing_command_fails(self) -> None:
        for text in ("false | cat", "false\ntrue", "graphmill nonsense", 'test "$missing"'):
            with self.assertRaisesRegex(AssertionError, "found exit status"):
                shell(text)


class TestPages(unittest.TestCase):
    def page(self, name: str) -> None:
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            found = list(blocks(f.read().splitlines()))
        self.assertEqual([f"{name}:{b.line}: {fault(b)}" for b in found if fault(b)], [])
        todo = [b for b in found if b.kind in RUN and not b.marked]
        if any(installed({f}) for f in FRAMEWORKS) and not any(b.frameworks() and installed(b.frameworks()) for b in todo):
            return
        with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
            os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
            before = os.getcwd()
            os.chdir(folder)
            sys.path.insert(0, folder)
            try:
                names = {"__name__": "__main__"}
                for b in todo:
                    if installed(b.frameworks()):
                        try:
                            run(name, b, names)
                        except Exception as e:
                            raise AssertionError(f"{name}:{b.line}: {e}") from e
            finally:
                sys.path.remove(folder)
                os.chdir(before)


for _page in PAGES:
    setattr(TestPages, "test_" + re.sub(r"\W", "_", _page.removesuffix(".md")), lambda self, name=_page: self.page(name))


if __name__ == "__main__":
    unittest.main()
