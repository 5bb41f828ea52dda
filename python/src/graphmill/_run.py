"""Running the graphmill command."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from typing import IO, Any

from ._command import GraphmillError, command

_FLAGS = {"overwrite": "force"}  # keywords whose flags have other names
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_SAID = re.compile(r"^graphmill: ?", re.MULTILINE)
_ASIDE = ("graphmill: warning: ", "graphmill: note: ", "\r")
_JSON = re.compile(r"^ +--json\b", re.MULTILINE)
_CLEAR, _COLUMNS = "\r\x1b[2K", 79  # what the command clears its line with, and its width on a terminal without a size


def run(*arguments: Any, check: bool = True, **flags: Any) -> Any:
    """Run the ``graphmill`` command, and show its progress, notes and warnings on stderr, a terminal or the output of a notebook.

    Args:
        arguments: the arguments, such as ``"import", "edges.csv", "--out", "g.store"``.
        check: raise an error if the command fails. Without it, the result is what the command printed until then, such as
            the damage that ``verify`` found.
        flags: flags as keywords: ``dangling_edges="drop"`` is ``--dangling-edges drop``. True is a flag without a value;
            False and None leave it out.

    Returns:
        The report of the command as its ``--json`` prints it, or the text that it prints if it has no ``--json``.

    Raises:
        GraphmillError: the command failed; the text is its message.

    Example:
        >>> report = graphmill.run("import", "edges.csv", out="g.store", both=True)
    """
    given = [os.fsdecode(a) if isinstance(a, (bytes, os.PathLike)) else str(a) for a in arguments] + flags_of(flags)
    program = command()
    asked = "--json" in given
    if not asked:
        text = subprocess.run([program, *given, "--help"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        asked = _JSON.search(text) is not None
        given += ["--json"] if asked else []
    with tempfile.TemporaryFile() as out:
        status, words = _follow([program, *given], out)
        out.seek(0)
        printed = out.read().decode("utf-8", "replace")
    if status and check:
        raise GraphmillError(words or f"graphmill {' '.join(given)}: found exit status {status}, expected 0")
    if asked and printed:
        with contextlib.suppress(ValueError):
            return json.loads(printed)
    return printed


def flags_of(flags: Mapping[str, Any]) -> list[str]:
    """Keywords as flags."""
    out = []
    for name, value in flags.items():
        flag = "--" + _FLAGS.get(name, name.replace("_", "-"))
        if value is True:
            out.append(flag)
        elif value is not False and value is not None:
            out += [flag, os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)]
    return out


def keywords(text: str) -> str:
    """A message of the command with its flags as keywords."""
    names = {flag: keyword for keyword, flag in _FLAGS.items()}
    return re.sub("--([a-z][a-z-]*)", lambda m: names.get(m[1], m[1].replace("-", "_")), text)


def _follow(arguments: list[str], out: IO[bytes]) -> tuple[int, str]:
    """Run a program, show what it says, and return its exit status and, if that is not 0, its last message."""
    shown = sys.stderr is not None and (sys.stderr.isatty() or _notebook())
    if shown and sys.platform != "win32":
        import pty  # which Windows does not have

        ours, theirs = pty.openpty()  # the command draws its progress only on a terminal
    else:
        ours, theirs = os.pipe()
    try:
        p = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=theirs)
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    last = ""
    try:
        with contextlib.closing(_parts(ours)) as parts:
            # Lines that are neither progress nor warnings are held back, because those at the end are the error.
            for part in parts:
                if part.endswith("\n") and not _COLOUR.sub("", part).startswith(_ASIDE):
                    last += part
                    continue
                _show(last + part)
                last = ""
        status = p.wait()
    except BaseException:
        p.terminate()
        p.wait()
        raise
    if status == 0:
        _show(last)
        return 0, ""
    return status, _SAID.sub("", _COLOUR.sub("", last)).strip()


def _notebook() -> bool:
    """Whether stderr is the output of a notebook, which is no terminal, and shows a line that begins with a carriage return in place of the last one."""
    return type(sys.stderr).__module__.startswith("ipykernel.")


def _show(text: str) -> None:
    if text and sys.stderr is not None:
        # Notebooks know no codes that clear a line: spaces do it.
        sys.stderr.write(text.replace(_CLEAR, "\r" + " " * _COLUMNS + "\r") if _notebook() else text)
        sys.stderr.flush()


def _parts(fd: int) -> Generator[str, None, None]:
    """What is written to a pipe or terminal: lines, and beginnings of lines that do not become messages, such as progress."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    left = ""
    with open(fd, "rb", buffering=0) as f:
        while True:
            try:
                b = f.read(65536)
            except OSError:  # a terminal that its last writer has closed
                b = b""
            left += decode(b or b"", final=not b).replace("\r\n", "\n")
            *lines, left = left.split("\n")
            yield from (line + "\n" for line in lines)
            if not b:
                if left:
                    yield left + "\n"
                return
            if left.startswith("\r"):
                yield left
                left = ""
