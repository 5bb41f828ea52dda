"""The benchmark book: a page of Markdown per race, and an index.

bench.py calls write() with the result of a run. A page has the file NAME.json beside it, with the races of its last run, and the
index is made from all of these files, so that races can be run on different days. The site makes the plots from these files, too, with plots(),
in place of the comments <!-- plot NAME-1.svg --> of a page. They are SVG without fonts or scripts of others. The same result makes the same bytes.

A ratio of a disturbed race is not printed. Where a peer is faster, the page says so before anything else.
"""

from __future__ import annotations

import json
import pathlib
import re
import statistics
from collections.abc import Iterator
from typing import Any

import book_profiles
from book_parts import BETTER, LINE, STYLE, is_ours, text


def write(folder: pathlib.Path, result: dict[str, Any], table: dict[str, list[str]]) -> None:
    """Writes the pages of the races of a result to a folder, and the index of all pages there.

    table has the row of each race in docs/benchmarks.md: what Graphmill runs, what the peers run, and the measure.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in dict.fromkeys(r["race"] for r in result["races"]):
        races = [r for r in result["races"] if r["race"] == name]
        (folder / f"{name}.md").write_text("\n".join(page(name, races, result, table)) + "\n")
        kept = {key: result[key] for key in ("machine", "versions", "repeat")} | {"races": races}
        (folder / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")
    if result.get("profiles"):
        book_profiles.write(folder, result, table.get("profiles"))
    (folder / "README.md").write_text("\n".join(index(folder)) + "\n")


def plots(path: pathlib.Path) -> list[tuple[str, str, str]]:
    """The plots of the page beside a file of figures: name of the file, alternative text and SVG of each."""
    kept = json.loads(path.read_text())
    if path.stem == "profiles":
        return [(f"profiles-{i}.svg", book_profiles.title(found), book_profiles.plot(found)) for i, found in enumerate(kept["profiles"], 1)]
    return [(f"{path.stem}-{i}.svg", f"{race['what']}: {race['unit']} of each contestant", plot(race)) for i, race in enumerate(kept["races"], 1)]


def rows_of(page_of_benchmarks: str) -> dict[str, list[str]]:
    """The rows of the first table in docs/benchmarks.md, by the names of races. Their links lead from a page of the book."""
    rows: dict[str, list[str]] = {}
    for line in page_of_benchmarks.splitlines():
        line = line.replace("](#", "](benchmarks.md#")
        line = re.sub(r"\]\((?!https:)", "](../", line)
        cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 4:
            for name in cells[0].replace("`", "").split(", "):
                rows.setdefault(name, cells[1:])
    return rows


def lost(races: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str, float]]:
    """The peers that are faster than Graphmill, in races that nothing disturbed: (race, peer, ratio)."""
    return [(r, peer, ratio) for r in races if not r["disturbed"] for peer, ratio in r["ratios"].items() if ratio < 1]


def page(name: str, races: list[dict[str, Any]], result: dict[str, Any], table: dict[str, list[str]]) -> Iterator[str]:
    yield f"# Race: {name}"
    yield ""
    faster = lost(races)
    for race, peer, ratio in faster:
        yield f'- **{peer} is faster**: Graphmill has {ratio:.2g} of its rate in "{race["what"]}".'
    if faster:
        yield ""
    if name in BETTER:
        yield f"**What the peers do better.** {BETTER[name]}"
        yield ""
    if name in table:
        ours, peers, measured = table[name]
        yield "| | |"
        yield "|---|---|"
        yield f"| Graphmill | {ours} |"
        yield f"| peers | {peers} |"
        yield f"| measure | {measured} |"
        yield ""
    for i, race in enumerate(races, 1):
        yield from section(f"{name}-{i}.svg", race)
    machine = result["machine"]
    yield "## Machine and versions"
    yield ""
    yield (
        f"{machine['cpus']} processors ({machine['cpu']}), {machine['system']}. Contestants take turns, {result['repeat']} each, and the best turn counts. "
        + ", ".join(f"{k} {v}" for k, v in sorted(result["versions"].items()))
        + "."
    )
    yield ""
    yield "[All races](README.md) · [how they are measured](../benchmarks.md)"


TIMES = " half of the answers within | 99 % within | CPU of client and server per answer |"


def times(found: dict[str, float]) -> str:
    """How long answers took, of a race of questions."""
    cpu = f"{found['client']:.0f} + {found['server']:.0f} µs" if found["server"] else ""
    return f" {found['p50']:.3g} ms | {found['p99']:.3g} ms | {cpu} |"


def section(picture: str, race: dict[str, Any]) -> Iterator[str]:
    """A race: its plot, its table and its command lines."""
    yield f"## {race['what'][:1].upper()}{race['what'][1:]}"
    yield ""
    if race["disturbed"]:
        most = max((share(row) for row in race["contestants"].values()), default=None, key=lambda s: 1 if s is None else s)
        how = "an unknown share" if most is None else f"up to {most:.0%}"
        yield f"**Disturbed**: other programs took {how} of the machine in a best turn, so no ratio is given. Run the race again."
        yield ""
    yield f"<!-- plot {picture} -->"
    yield ""
    timed = all("p99" in row.get("found", {}) for row in race["contestants"].values())
    yield f"| | {race['unit']}, best | median | slowest turn | Graphmill's rate to it | at the same work | peak memory | other programs |" + TIMES * timed
    yield "|---|--:|--:|--:|--:|--:|--:|--:|" + "--:|--:|--:|" * timed
    same = race.get("same_work_ratios") or {}
    for contestant, row in race["contestants"].items():
        ratio, exact = "", ""
        if not is_ours(contestant) and not race["disturbed"]:
            ratio = f"**{race['ratios'][contestant]:.3g} x**"
            exact = f"{same[contestant]:.3g} x" if contestant in same else ""
        others = share(row)
        yield (
            f"| {contestant} | {number(row['best'])} | {number(statistics.median(row['all']))} | {number(min(row['all']))} | {ratio} | {exact} | "
            f"{row['peak_rss_bytes'] / 2**20:,.0f} MiB | {'unknown' if others is None else f'{others:.0%}'} |" + (times(row["found"]) if timed else "")
        )
    yield ""
    yield from limit(race)
    yield "<details><summary>Command lines</summary>"
    yield ""
    yield "<!-- not run: bench/bench.py has run these -->"
    yield "```sh"
    for contestant, row in race["contestants"].items():
        yield f"# {contestant}"
        yield row["command"]
    yield "```"
    yield ""
    yield "</details>"
    yield ""


def limit(race: dict[str, Any]) -> Iterator[str]:
    """How near the contestants of a race of draws come to what the memory of the machine allows, where that was measured."""
    reads = [row["found"] for row in race["contestants"].values() if "random_reads_per_second" in row.get("found", {})]
    if not reads or race["disturbed"]:
        return
    most = max(reads, key=lambda found: found["random_reads_per_second"])
    rate = most["random_reads_per_second"]
    shares = ", ".join(f"{contestant} {row['best'] / rate:.2f}" for contestant, row in race["contestants"].items())
    yield (
        f"**Limit**: as many threads read {number(rate)} values of 4 bytes per second at random places of {most['random_read_bytes'] / 2**20:,.0f} MiB of neighbours. "
        f"A draw reads one such place at least. Edges per such read: {shares}."
    )
    yield ""


def share(row: dict[str, Any]) -> float | None:
    """The share of the machine that others took from the best turn; None if it is not known."""
    others: list[float | None] = row["others"]
    best: int = row["all"].index(row["best"])
    return others[best]


def index(folder: pathlib.Path) -> Iterator[str]:
    """The page with all races that the folder has: where a peer is faster first."""
    yield "# The benchmark book"
    yield ""
    yield "`bench/bench.py RACE --book docs/bench` wrote the page of each race. [How races are measured](../benchmarks.md). A ratio is Graphmill's best rate to that of the peer, in one run on"
    yield "one machine; disturbed races have none."
    yield ""
    pages = {p.stem: json.loads(p.read_text())["races"] for p in sorted(folder.glob("*.json"))}
    for title, first in (("Where a peer is faster", True), ("Where Graphmill is faster", False)):
        lines = [
            f"| [{name}]({name}.md) | {race['what']} | {peer} | {ratio:.3g} x |"
            for name, races in pages.items()
            for race in races
            if not race["disturbed"]
            for peer, ratio in race["ratios"].items()
            if (ratio < 1) == first
        ]
        if lines:
            yield from (f"## {title}", "", "| race | work | peer | ratio |", "|---|---|---|--:|", *lines, "")
    alone = [f"- [{name}]({name}.md): {race['what']}" for name, races in pages.items() for race in races if not race["disturbed"] and not race["ratios"]]
    if alone:
        yield from ("## Without a peer that runs here", "", *alone, "")
    if "profiles" in pages:
        yield from (
            "## How often a partitioner is near the best",
            "",
            "[profiles](profiles.md): the cuts of Graphmill, METIS, KaMinPar and Mt-KaHyPar on many graphs.",
            "",
        )
    disturbed = [f"- [{name}]({name}.md): {race['what']}" for name, races in pages.items() for race in races if race["disturbed"]]
    if "profiles" in pages and any(found["disturbed"] for found in json.loads((folder / "profiles.json").read_text())["profiles"]):
        disturbed.append("- [profiles](profiles.md): CPU seconds")
    if disturbed:
        yield from ("## Disturbed, to be run again", "", *disturbed, "")


def number(x: float) -> str:
    """A rate with three digits."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(x) >= size:
            return f"{x / size:.3g} {unit}"
    return f"{x:.3g}"


NAME, BAR = 300, 360  # widths of names and bars


def plot(race: dict[str, Any]) -> str:
    """Bars of the best rates, with a dot per turn."""
    table = race["contestants"]
    most = max(row["best"] for row in table.values()) or 1
    height = LINE * len(table) + 34
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {NAME + BAR + 90} {height}" role="img" aria-label="{text(race["what"])}: {text(race["unit"])}">',
        STYLE,
    ]
    for i, (name, row) in enumerate(table.items()):
        y = LINE * i + 8
        short = name if len(name) <= 42 else name[:41] + "…"
        out.append(f'<text x="{NAME - 10}" y="{y + 15}" text-anchor="end">{text(short)}</text>')
        out.append(f'<rect class="{"ours" if is_ours(name) else "peer"}" x="{NAME}" y="{y}" width="{BAR * row["best"] / most:.1f}" height="20" rx="2"/>')
        out += [f'<circle class="turn" cx="{NAME + BAR * rate / most:.1f}" cy="{y + 10}" r="2.5"/>' for rate in row["all"]]
        out.append(f'<text class="value" x="{NAME + BAR * row["best"] / most + 8:.1f}" y="{y + 15}">{number(row["best"])}</text>')
    note = f"{race['unit']}; bars are best turns, dots all turns" + ("; disturbed" if race["disturbed"] else "")
    out.append(f'<text x="{NAME}" y="{height - 8}">{text(note)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
