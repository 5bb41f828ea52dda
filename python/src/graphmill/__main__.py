"""``python -m graphmill ...`` is the command ``graphmill ...`` of this installation, and ``python -m graphmill import FILE`` also reads what a Python library reads."""

import argparse
import logging
import os
import re
import subprocess
import sys
import warnings
from typing import Any, Optional

from ._bolt.server import is_address
from ._command import GraphmillError, command
from ._files.kinds import KINDS, kind_of
from ._files.read import read

_NOTE = """
python -m graphmill import also reads files by Python libraries, such as GML, HDF5 and SDF (docs/files.md), and a running Neo4j or Memgraph (docs/databases.md), with these flags
of its own, which python -m graphmill import --kind KIND --help describes: --kind KIND, --key NAME, --drop-invalid, --charge N, --database NAME, --mark PROPERTY"""


def main() -> None:
    """Replace this process by the command, so that its signals and its exit status are the command's, unless a library here reads the file."""
    arguments = sys.argv[1:]
    if (given := _to_read(arguments)) is not None:
        sys.exit(_import(given))
    try:
        program = command()
        if arguments[:1] == ["import"] and {"-h", "--help"} & set(arguments):
            status = subprocess.run([program, *arguments]).returncode
            print(_NOTE)
            sys.exit(status)
        if sys.platform == "win32":  # where exec ends this process before the command, and whoever waits for it goes on
            sys.exit(subprocess.call([program, *arguments]))
        os.execv(program, [program, *arguments])
    except OSError as e:
        sys.exit(f"graphmill: {e}")


_SWITCHES = (
    "--force",
    "--drop-invalid",
    "--symmetrise",
    "--both",
    "--homogeneous",
    "--largest-component",
    "--no-positions",
    "--no-report",
    "--quiet",
    "--verbose",
)
_VALUES = {  # flags of graphmill import that mean the same here, and what their values are
    "--missing": "WHAT=VALUE",
    "--ids": "auto|integer|string",
    "--relations": "types|column",
    "--src": "COLUMN",
    "--dst": "COLUMN",
    "--columns": "COLUMNS",
    "--dangling-edges": "error|drop|zeros",
    "--duplicate-edges": "keep|drop|drop-equal|error|sum|count",
    "--duplicate-nodes": "error|drop",
    "--self-loops": "keep|drop|error|add",
    "--split": "SPLIT",
    "--split-seed": "N",
    "--normalise": "COLUMN",
    "--features": "FILE",
    "--like": "STORE",
    "--primary": "in|out",
}


def _to_read(arguments: list[str]) -> Optional[list[str]]:
    """The arguments after ``import`` if they are about a file that a library here reads."""
    if arguments[:1] != ["import"]:
        return None
    rest = arguments[1:]
    if any(a == "--kind" or a.startswith("--kind=") for a in rest):
        return rest
    files = [
        a
        for i, a in enumerate(rest)
        if not a.startswith("-") and (i == 0 or not (rest[i - 1].startswith("--") or rest[i - 1] == "-o") or "=" in rest[i - 1] or rest[i - 1] in _SWITCHES)
    ]
    if len(files) == 1 and is_address(files[0]):
        return rest
    return rest if len(files) == 1 and not any(a == "--format" or a.startswith("--format=") for a in rest) and kind_of(files[0]) is not None else None


def _import(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m graphmill import",
        description="Read a file by a Python library, or a running Neo4j or Memgraph, and import it as a store or a collection. docs/files.md has the kinds of files, whose reading takes the memory of the library; docs/databases.md is about databases. User and password are those of NEO4J_USERNAME and NEO4J_PASSWORD.",
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", help="the file; it may be compressed, as .gz, .bz2, .xz or .zst. Or bolt://HOST:PORT, neo4j://HOST")
    parser.add_argument("--out", "-o", metavar="STORE", required=True, help="the folder to write")
    parser.add_argument("--kind", choices=tuple(KINDS), help="the kind of the file; by default its name says it, or else its first bytes")
    parser.add_argument(
        "--key",
        metavar="NAME",
        action="append",
        help="of files with several matrices or graphs, the one to take; of a database, the property with the ids of nodes, or LABEL=PROPERTY, which may be repeated",
    )
    parser.add_argument("--database", metavar="NAME", help="of a server, its database (default NEO4J_DATABASE, or the user's own)")
    parser.add_argument(
        "--mark",
        metavar="PROPERTY[,PROPERTY]",
        help="of a database, the property that grows with each row, of nodes and of relationships; if the store is there, what is above its last mark is appended",
    )
    parser.add_argument("--drop-invalid", action="store_true", help="leave out molecules that RDKit cannot read")
    parser.add_argument("--charge", metavar="N", type=int, help="the charge of molecules of XYZ whose comment line gives none")
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")
    parser.add_argument("--memory", metavar="SIZE", help="the memory of the import, after the library has read the file")
    parser.add_argument("--threads", metavar="N", type=int, help="threads of the import")
    same = parser.add_argument_group(
        "flags of graphmill import", "graphmill import --help-all describes them; one that does not fit the kind of file is refused"
    )
    given = [same.add_argument(name, metavar=of, action="append", default=None) for name, of in _VALUES.items()]
    own = ("--force", "--drop-invalid", "--quiet", "--verbose")  # the others
    given += [same.add_argument(name, action="store_true", default=None) for name in _SWITCHES if name not in own]
    o = parser.parse_args(arguments)
    options: dict[str, Any] = {}
    for a in given:
        values = getattr(o, a.dest)
        if isinstance(values, list) and len(values) > 1 and a.dest != "missing":
            parser.error(f"found {a.option_strings[0]} {len(values)} times, expected it once")
        options.update({} if values is None else {a.dest: ",".join(values) if isinstance(values, list) else values})
    logging.getLogger("neo4j").addHandler(logging.NullHandler())  # whose notices of queries are not about what the user wrote
    warnings.showwarning = lambda message, *_: print(f"graphmill: warning: {_flags(str(message))}", file=sys.stderr)
    try:
        mark = o.mark and (o.mark if "," not in o.mark else tuple(o.mark.split(",")))
        more = {"database": o.database, "mark": mark}
        made = read(
            o.file,
            o.out,
            kind=o.kind,
            key=_key(o.key),
            **more,
            drop_invalid=o.drop_invalid,
            charge=o.charge,
            overwrite=o.force,
            memory=o.memory,
            threads=o.threads,
            **options,
        )
    except (GraphmillError, ImportError, ValueError, OSError) as e:
        print(f"graphmill: {_flags(str(e))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(repr(made))
    return 0


def _key(given: Optional[list[str]]) -> Any:
    """The values of --key: a name, or properties by label."""
    if given and all("=" in k for k in given):
        return dict(k.split("=", 1) for k in given)
    if given and len(given) > 1:
        raise ValueError(f"found --key {len(given)} times, expected it once, or LABEL=PROPERTY each time")
    return given[0] if given else None


def _flags(text: str) -> str:
    """The text of an error with flags in place of keywords."""
    text = text.replace("choose another out, or give overwrite ", "choose another --out, or give --force ")
    text = text.replace("with overwrite=True", "with --force")
    return re.sub(r"\b(symmetrise|drop_invalid|charge|kind|key|missing|split|mark|database)=(?=[;:,\s]|$)", lambda m: "--" + m[1].replace("_", "-"), text)


if __name__ == "__main__":
    main()
