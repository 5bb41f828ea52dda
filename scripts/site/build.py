#!/usr/bin/env python3
"""Makes the documentation's site, dist/site, from the repository's Markdown and from the code.

The pages stay where they are, for a forge; this copies them into a folder like the repository (pages.py), adds pages of
reference made from the command's help, Go's comments and Python's docstrings (reference.py), and has Sphinx make HTML of
them. Any warning fails: a broken link, an image that is not there, a page that navigation.md does not name. The same
repository gives the same bytes.

    build.py COMMAND [OUT]   COMMAND is the built graphmill
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile

import pages
import reference
from sphinx.cmd.build import build_main

HERE = os.path.dirname(os.path.abspath(__file__))


# What the theme leaves out for readers with a keyboard or a screen reader: code and tables that scroll can be reached, the captions of
# the navigation have a level, and the two side bars have names.
NAMED = [
    ("<pre>", '<pre tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"'),
    ('<aside class="sidebar-drawer"', '<aside class="sidebar-drawer" aria-label="All pages"'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
]


def named(folder: str) -> None:
    for path in glob.glob(os.path.join(folder, "**", "*.html"), recursive=True):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for old, new in NAMED:
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def main(command: str, out: str) -> None:
    with tempfile.TemporaryDirectory(prefix="graphmill-site-") as work:
        source, beside, made = (os.path.join(work, name) for name in ("source", "beside", "made"))
        pages.collect(source)
        reference.write(os.path.join(source, "reference"), command)
        # One process, so that the order of the search index does not depend on the number of processors.
        if build_main(["-q", "-W", "--keep-going", "-c", HERE, "-d", beside, "-b", "html", source, made]):
            sys.exit("build.py: found the warnings above, expected none")
        os.remove(os.path.join(made, ".buildinfo"))
        named(made)
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        shutil.copytree(made, out)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2] if len(sys.argv) == 3 else os.path.join(pages.ROOT, "dist", "site")))
