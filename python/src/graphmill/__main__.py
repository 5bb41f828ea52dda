"""``python -m graphmill ...`` is the command ``graphmill ...`` of this installation, and ``python -m graphmill import FILE`` also reads what a Python library reads."""

import argparse
import os
import subprocess
import sys
import warnings
from typing import Any, Optional

from ._command import GraphmillError, command
from ._files.kinds import KINDS, kind_of
from ._files.read import read


def main() -> None:
    """Replace this process by the command, so that its signals and its exit status are the command's, unless a library here reads the file."""
    arguments = sys.argv[1:]
    if (given := _to_read(arguments)) is not None:
        sys.exit(_import(given))
    try:
        program = command()
        if sys.platform == "win32":  # where exec ends this process before the command, and whoever waits for it goes on
            sys.exit(subprocess.call([program, *arguments]))
        os.execv(program, [program, *arguments])
    except OSError as e:
        sys.exit(f"graphmill: {e}")


def _to_read(arguments: list[str]) -> Optional[list[str]]:
    """The arguments after ``import`` if they are about a file that a library here reads."""
    if arguments[:1] != ["import"]:
        return None
    rest = arguments[1:]
    if any(a == "--kind" or a.startswith("--kind=") for a in rest):
        return rest
    files = [
        a for i, a in enumerate(rest) if not a.startswith("-") and (i == 0 or not rest[i - 1].startswith("--") or rest[i - 1] in ("--force", "--drop-invalid"))
    ]
    return rest if len(files) == 1 and not any(a == "--format" or a.startswith("--format=") for a in rest) and kind_of(files[0]) is not None else None


def _import(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m graphmill import",
        description="Read a file by a Python library, and import it as a store or a collection. The memory of reading is the library's. docs/files.md has the kinds.",
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", help="the file; it may be compressed, as .gz, .bz2, .xz or .zst")
    parser.add_argument("--out", metavar="STORE", required=True, help="the folder to write")
    parser.add_argument("--kind", choices=tuple(KINDS), help="the kind of the file; by default its name says it, or else its first bytes")
    parser.add_argument("--key", metavar="NAME", help="of files with several matrices or graphs, the one to take")
    parser.add_argument("--drop-invalid", action="store_true", help="leave out molecules that RDKit cannot read")
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")
    parser.add_argument("--memory", metavar="SIZE", help="the memory of the import, after the library has read the file")
    parser.add_argument("--threads", metavar="N", type=int, help="threads of the import")
    parser.add_argument("--relations", metavar="types|column", help="of RDF: an edge type for each predicate, or a column")
    o = parser.parse_args(arguments)
    options: dict[str, Any] = {} if o.relations is None else {"relations": o.relations}
    warnings.showwarning = lambda message, *_: print(f"graphmill: warning: {message}", file=sys.stderr)
    try:
        made = read(o.file, o.out, kind=o.kind, key=o.key, drop_invalid=o.drop_invalid, overwrite=o.force, memory=o.memory, threads=o.threads, **options)
    except (GraphmillError, ImportError, ValueError, OSError) as e:
        print(f"graphmill: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(repr(made))
    return 0


if __name__ == "__main__":
    main()
