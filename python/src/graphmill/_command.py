"""Finding the graphmill command."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig


class GraphmillError(RuntimeError):
    """What the graphmill command said when it failed, word for word."""


def command() -> str:
    """The path of the command: GRAPHMILL_COMMAND, that of this installation, or the first on PATH."""
    given = os.environ.get("GRAPHMILL_COMMAND")
    if given:
        if not os.access(given, os.X_OK):
            raise FileNotFoundError(f"GRAPHMILL_COMMAND={given}: found no program, expected the graphmill command")
        return given
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        path = os.path.join(folder, "graphmill")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("graphmill")
    if found is None:
        raise FileNotFoundError("found no graphmill command, expected it beside Python or on PATH; pip install graphmill, or set GRAPHMILL_COMMAND")
    return found
