"""``python -m graphmill ...`` is the command ``graphmill ...`` of this installation."""

import os
import subprocess
import sys

from ._command import command


def main() -> None:
    """Replace this process by the command, so that its signals and its exit status are the command's."""
    try:
        program = command()
        if sys.platform == "win32":  # where exec ends this process before the command, and whoever waits for it goes on
            sys.exit(subprocess.call([program, *sys.argv[1:]]))
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as e:
        sys.exit(f"graphmill: {e}")


if __name__ == "__main__":
    main()
