"""The bytes and the text of files, which may be compressed."""

from __future__ import annotations

import codecs
import importlib
import os
import re
import shutil
from typing import IO, Any, cast

from .._command import GraphmillError
from .made import Given

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}  # not each Python has all of them


def ending(path: str) -> str:
    """The extension of a file in lower case, without that of its compression."""
    base, last = os.path.splitext(path.lower())
    return os.path.splitext(base)[1] if last in COMPRESSED else last


def opened(path: str) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    last = os.path.splitext(path.lower())[1]
    f: Any
    if last == ".zst":
        import pyarrow

        f = pyarrow.input_stream(path, compression="zstd")
    elif last in _MODULES:
        f = importlib.import_module(_MODULES[last]).open(path)
    else:
        f = open(path, "rb")
    return cast("IO[bytes]", f)


def written(given: Given, last: str) -> str:
    """The path of a file in the folder, whose name tells the file that it was made of, without what the import takes for a pattern."""
    return os.path.join(given.folder, re.sub(r"[*?@\[\]]", "_", os.path.basename(given.path)) + last)


def unpacked(given: Given) -> str:
    """The path of the file, or of an unpacked copy if it is compressed, for libraries that take no bytes."""
    if not given.path.lower().endswith(COMPRESSED):
        return given.path
    path = os.path.join(given.folder, "unpacked" + ending(given.path))
    with opened(given.path) as f, open(path, "wb") as to:
        shutil.copyfileobj(f, to)
    return path


def text(path: str) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a mark, with line ends of LF.

    Raises:
        GraphmillError: a byte is not.
    """
    with opened(path) as f:
        data = f.read()
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise GraphmillError(
            f"{path}:{line}: found the byte {data[e.start]:#04x}, expected text in UTF-8; convert it, such as with iconv -f latin1 -t utf-8"
        ) from None
