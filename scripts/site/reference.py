"""The pages of reference, made from the code: the command's help, the comments of Go, the docstrings of Python."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable

import pages

GO = {
    "graphmill": ".",
    "graph": "graph",
    "draw": "draw",
    "batch": "batch",
    "option": "option",
    "report": "report",
    "format-example": "format/example",
    "format-npy": "format/npy",
    "format-parquet": "format/parquet",
    "format-tfgnn": "format/tfgnn",
    "format-tfrecord": "format/tfrecord",
}
PYTHON = {
    "graphmill": "The package `graphmill`",
    "graphmill.evaluate": "Metrics: `graphmill.evaluate`",
    "graphmill.pyg": "PyG's own loaders: `graphmill.pyg`",
    "graphmill.lightning": "Lightning: `graphmill.lightning`",
    "graphmill.tfgnn": "GraphTensors: `graphmill.tfgnn`",
}


def write(out: str, command: str) -> None:
    commands(os.path.join(out, "command"), command)
    go(os.path.join(out, "go"))
    python(os.path.join(out, "python"))


def save(folder: str, name: str, text: str) -> None:
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".md"), "w", encoding="utf-8") as f:
        f.write(text)


def contents(names: Iterable[str]) -> str:
    return "\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n"


# The command line: a page per command, with its subcommands.


def printed(*args: str) -> str:
    return subprocess.run(args, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def help_of(command: str, *words: str) -> str:
    """The help of a command with all of its flags."""
    text = printed(command, *words, "--help")
    return printed(command, *words, "--help-all") if "--help-all" in text else text


def below(command: str, *words: str) -> list[str]:
    """The subcommands of a command: the words that complete it and that its help lists."""
    text = help_of(command, *words)
    found = [line.partition("\t")[0] for line in printed(command, "__complete", *words, "").splitlines()]
    return sorted(name for name in found if name != "help" and re.search(rf"^ {{2,4}}{re.escape(name)}\s", text, re.MULTILINE))


def commands(out: str, command: str) -> None:
    top = below(command)
    if "sample" not in top:
        raise SystemExit(f"found the commands {top}, expected sample among them")
    save(out, "index", "# The command line\n\n" + sections(help_of(command), 2) + contents(top))
    for name in top:
        text = f"# graphmill {name}\n\n" + sections(help_of(command, name), 2)
        for sub in below(command, name):
            text += f"\n## graphmill {name} {sub}\n\n" + sections(help_of(command, name, sub), 3)
        save(out, name, text)


def sections(text: str, level: int) -> str:
    """A help text as Markdown: its paragraphs, and its lists (examples, usage, flags) as they are printed."""
    title: str | None = None
    out: list[str] = []
    lines: list[str] = []

    def end() -> None:
        body = "\n".join(lines).strip("\n")
        if title is None or not body:
            out.append(prose(body))
        else:
            out.append(f"{'#' * level} {title}\n\n```{'sh' if title == 'Examples' else 'text'}\n{dedented(body)}\n```\n")

    for line in text.splitlines():
        if m := re.fullmatch(r"([A-Z][^:.]*):", line):
            end()
            title, lines = m[1], []
        elif line and title is not None and not line.startswith(" "):
            end()
            title, lines = None, [line]
        else:
            lines.append(line)
    end()
    return "\n".join(out)


def dedented(text: str) -> str:
    return "\n".join(line.removeprefix("  ") for line in text.splitlines())


def prose(text: str) -> str:
    """Paragraphs, without a meaning of their signs in Markdown; indented lines as they are."""
    out = []
    for part in re.split(r"\n\s*\n", text):
        if part.startswith("  "):
            out.append(f"```text\n{dedented(part)}\n```\n")
        elif part:
            plain = re.sub(r"([\\`*_{}\[\]<>#|~$])", r"\\\1", part)
            out.append(re.sub(r"(?<![\w-])--[a-z][a-z-]*[a-z]", r"`\g<0>`", plain) + "\n")
    return "\n".join(out)


# Go: a page per public package.


def go(out: str) -> None:
    for name, folder in GO.items():
        path = "github.com/graphmill/graphmill" + ("" if folder == "." else "/" + folder)
        save(
            out, name, subprocess.run(["go", "run", "./scripts/site/goref", folder, path], cwd=pages.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        )
    text = "# Go\n\nThe public packages. Names below `internal` are no promise.\n"
    save(out, "index", text + contents(GO))


# Python: a page per public module; Sphinx reads the docstrings.


def python(out: str) -> None:
    for name, title in PYTHON.items():
        # A package offers the names of its __all__; graphmill.lightning has none, and defines what it offers.
        members = "" if name == "graphmill.lightning" else "   :imported-members:\n"
        save(out, name, f"# {title}\n\n```{{eval-rst}}\n.. automodule:: {name}\n{members}```\n")
    text = "# Python, by name\n\nEvery public class and function, with its docstring. [The client](../../docs/python.md) explains them by what they are for.\n"
    save(out, "index", text + contents(PYTHON))
