"""What notebooks show of stores, collections and loaders: a line of text and a small table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_MOST = 30  # columns that are listed per type


def table(title: str, headers: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    """HTML of a title and a table. All texts are escaped; numbers are aligned right."""
    lines = [
        f"<p>{escape(title)}</p>",
        "<table>",
        "<thead><tr>" + "".join(f'<th style="text-align:left">{escape(h)}</th>' for h in headers) + "</tr></thead>",
        "<tbody>",
    ]
    for row in rows:
        cells = (f'<td style="text-align:right">{x:,}</td>' if isinstance(x, int) else f'<td style="text-align:left">{escape(x)}</td>' for x in row)
        lines.append("<tr>" + "".join(cells) + "</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"])


def listed(names: Sequence[str]) -> str:
    """Columns as one text, which says how many it leaves out."""
    more = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {more} others" if more > 0 else "")


def counted(n: int, what: str, many: str | None = None) -> str:
    """A number with its noun: "1 edge", "2,000 edges"."""
    return f"{n:,} {what if n == 1 else many or what + 's'}"
