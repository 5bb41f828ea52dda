"""The repository's pages as the source of the site."""

from __future__ import annotations

import glob
import os
import pathlib
import posixpath
import re
import shutil
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
FORGE = "https://github.com/graphmill/graphmill"
PAGES = ["README.md", "examples/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
PLOT = re.compile(r"<!-- plot (.+) -->")
# Links and images: [text](target).
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)|\]\(([^()\s]+)\)")
ENTRY = re.compile(r"(.+) <(.+)>")
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1")
FENCE = re.compile(r" *```")
PACKAGE = re.compile(r'    (\w+)\["<b>([^<]+)</b><br>([^"]+)"\]')
ARROW = re.compile(r"    (\w+) --> (\w+)")


def names() -> list[str]:
    """The paths of the pages in the repository."""
    found = glob.glob("docs/**/*.md", root_dir=ROOT, recursive=True)
    return PAGES + sorted(found)


def place(page: str) -> str:
    """The path of a page in the source of the site."""
    return "index.md" if page == "README.md" else page


def navigation() -> str:
    """The text of the navigation."""
    with open(os.path.join(os.path.dirname(__file__), "navigation.md"), encoding="utf-8") as f:
        return f.read()


def collect(out: str) -> None:
    """Write all pages, with links that hold in the site, and their images."""
    known = dict.fromkeys(names())
    for line in navigation().splitlines():
        if (m := ENTRY.fullmatch(line)) and m[2] + ".md" in known:
            known[m[2] + ".md"] = m[1]
    for page in sorted(known):
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            text = converted(page, f.read(), known, out)
        if page == "README.md":
            text += "\n" + navigation()
        elif page in ("docs/decisions/README.md", "docs/bench/README.md"):
            text += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
        path = os.path.join(out, place(page))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def converted(page: str, text: str, known: dict[str, str | None], out: str) -> str:
    """The text of a page for the site: without comments of the tests, and with drawings of packages as tables."""
    lines: list[str] = []
    drawing: list[str] | None = None
    code = False
    plots = plots_of(page, out) if PLOT.search(text) else {}
    for line in text.splitlines():
        if drawing is not None:
            if line == "```":
                lines += table(drawing)
                drawing = None
            else:
                drawing.append(line)
        elif not code and line == "```mermaid":
            drawing = []
        elif FENCE.match(line):
            code = not code
            lines.append(line.replace("```pbtxt", "```text"))
        elif code:
            lines.append(line)
        elif m := PLOT.fullmatch(line):
            lines.append(f"![{plots[m[1]]}]({m[1]})")
        elif not re.fullmatch(r" *<!-- .* -->", line):
            lines.append(links(page, line, known, out))
    return "\n".join(lines) + "\n"


def plots_of(page: str, out: str) -> dict[str, str]:
    """Write the plots of a page of the benchmark book beside it, and return their alternative texts by the names of their files."""
    sys.path.insert(0, os.path.join(ROOT, "bench"))
    import book

    folder = os.path.join(out, os.path.dirname(page))
    os.makedirs(folder, exist_ok=True)
    texts = {}
    for name, title, svg in book.plots(pathlib.Path(ROOT, page).with_suffix(".json")):
        texts[name] = title
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(svg)
    return texts


def links(page: str, line: str, known: dict[str, str | None], out: str) -> str:
    """A line whose links lead to pages of the site, and to the forge for other files of the repository. A link whose text is
    the file of a page has the page's name in the navigation instead."""
    spans = [m.span() for m in CODE.finditer(line)]

    def link(m: re.Match[str]) -> str:
        text, whole = m[1], m[2] or m[3]
        target, hash_, anchor = whole.partition("#")
        if not target or ":" in target or any(a <= m.end() - 1 < b for a, b in spans):
            return m[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if posixpath.join(path, "README.md") in known:
            path = posixpath.join(path, "README.md")
        real = os.path.join(ROOT, path)
        if path in known:
            to = posixpath.relpath(place(path), posixpath.dirname(page) or ".")
            if text and posixpath.basename(text) == posixpath.basename(path):
                text = known[path] or text
        elif path.endswith((".svg", ".png")):
            os.makedirs(os.path.dirname(os.path.join(out, path)), exist_ok=True)
            shutil.copyfile(real, os.path.join(out, path))
            to = target
        elif os.path.exists(real):
            to = f"{FORGE}/{'tree' if os.path.isdir(real) else 'blob'}/main/{path}"
        else:
            raise SystemExit(f"{page}: found a link to {target}, expected a file of the repository")
        return f"{'' if text is None else '[' + text}]({to}{hash_}{anchor})"

    return LINK.sub(link, line)


def table(drawing: list[str]) -> list[str]:
    """A drawing of packages in the language of Mermaid, which needs a script, as a table of what each imports."""
    words: dict[str, tuple[str, str]] = {}
    uses: dict[str, list[str]] = {}
    for line in drawing:
        if m := PACKAGE.fullmatch(line):
            words[m[1]] = m[2], m[3]
            uses[m[1]] = []
        elif m := ARROW.fullmatch(line):
            uses[m[1]].append(m[2])
        elif line.strip() and not line.startswith("flowchart"):
            raise SystemExit(f"found {line!r} in a drawing, expected a package or an arrow")
    rows = ["| package | what it is | imports |", "|---|---|---|"]
    for name, (packages, what) in words.items():
        rows.append(f"| `{packages.replace(', ', '`, `')}` | {what} | {', '.join(f'`{words[u][0]}`' for u in uses[name])} |")
    return rows
