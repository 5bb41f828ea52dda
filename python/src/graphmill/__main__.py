"""``python -m graphmill ...`` is the command ``graphmill ...`` of this installation."""

import os
import sys

from ._command import command


def main() -> None:
    """Replace this process by the command, so that its signals and its exit status are the command's."""
    try:
        program = command()
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as e:
        sys.exit(f"graphmill: {e}")


if __name__ == "__main__":
    main()
