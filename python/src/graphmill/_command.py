"""Finding the graphmill command."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig


class GraphmillError(RuntimeError):
    """An error of the graphmill command, with its text, or of a folder that the command wrote."""


def command() -> str:
    """The path of the command: GRAPHMILL_COMMAND, the command of this installation, or the first one on PATH."""
    given = os.environ.get("GRAPHMILL_COMMAND")
    if given:
        if not os.access(given, os.X_OK):
            raise FileNotFoundError(f"GRAPHMILL_COMMAND={given}: found no program, expected the graphmill command")
        return given
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        path = os.path.join(folder, "graphmill.exe" if sys.platform == "win32" else "graphmill")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("graphmill")
    if found is None:
        raise FileNotFoundError("found no graphmill command, expected it next to Python or on PATH; install the wheel, which has it, or set GRAPHMILL_COMMAND")
    return found
