"""The page of the race profiles in the benchmark book: how often the cut of each partitioner is near the least."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

from book_parts import BETTER, LINE, STYLE, is_ours, text

WIDTH, HEIGHT, LEFT, RIGHT = 420, 260, 60, 240  # of the plot, and room for the shares and the legend
DASHES = ("", "8 3", "2 3")  # of ours, and of the peers
LINES = "<style>.line { fill: none; stroke-width: 2.5 } .line.ours { stroke: #0b6bcb } .line.peer { stroke: #8c959f } .grid { stroke: #8c959f; stroke-opacity: 0.3 }</style>"


def write(folder: pathlib.Path, result: dict[str, Any], row: list[str] | None) -> None:
    """Writes the page and the figures. row has the cells for profiles in docs/benchmarks.md."""
    (folder / "profiles.md").write_text("\n".join(page(result, row)) + "\n")
    kept = {"machine": result["machine"], "profiles": result["profiles"], "races": []}
    (folder / "profiles.json").write_text(json.dumps(kept, indent=1) + "\n")


def page(result: dict[str, Any], row: list[str] | None) -> Iterator[str]:
    yield "# Race: profiles"
    yield ""
    yield f"**What the peers do better.** {BETTER['profiles']}"
    yield ""
    if row:
        yield from ("| | |", "|---|---|", f"| Graphmill | {row[0]} |", f"| peers | {row[1]} |", f"| measure | {row[2]} |", "")
    for i, found in enumerate(result["profiles"], 1):
        yield from section(f"profiles-{i}.svg", found)
    machine = result["machine"]
    yield "## Machine and versions"
    yield ""
    versions = {"graphmill": result["versions"]["graphmill"]} | {peer: version for found in result["profiles"] for peer, version in found["versions"].items()}
    yield (
        f"{machine['cpus']} processors ({machine['cpu']}), {machine['system']}; each run has one thread. "
        + ", ".join(f"{k} {v}" for k, v in sorted(versions.items()))
        + "."
    )
    yield ""
    yield "[All races](README.md) · [how they are measured](../benchmarks.md)"


def section(picture: str, found: dict[str, Any]) -> Iterator[str]:
    graphs = found["graphs"]
    yield f"## {len(graphs)} graphs into {found['parts']} parts, mean of {found['seeds']} random seeds"
    yield ""
    if found["disturbed"]:
        yield "**Disturbed**: other programs took more than a tenth of the machine, so the seconds mean little. Cuts do not depend on that."
        yield ""
    yield f"<!-- plot {picture} -->"
    yield ""
    taus = list(next(iter(found["profiles"].values())))
    yield "| cut at most | " + " | ".join(taus) + " of the least |"
    yield "|---|" + "--:|" * len(taus)
    for name, shares in found["profiles"].items():
        yield f"| {name} | " + " | ".join(f"{shares[t]:.0%}" for t in taus) + " |"
    yield ""
    yield "| ratio | geometric mean | largest | on | graphs above 1 |"
    yield "|---|--:|--:|---|--:|"
    for what, r in found["ratios"].items():
        yield f"| {what} | {r['mean']:.3f} | {r['most']:.3f} | {r['on']} | {len(r['above'])} |"
    yield ""
    names = list(next(iter(graphs.values())))
    yield "Mean cut / CPU milliseconds of dividing:"
    yield ""
    yield "| graph | " + " | ".join(names) + " |"
    yield "|---|" + "--:|" * len(names)
    for graph, table in graphs.items():
        least = min(f["cut"] for f in table.values())
        yield (
            f"| {graph} | "
            + " | ".join(f"{'**' * (f['cut'] == least)}{f['cut']:,.0f}{'**' * (f['cut'] == least)} / {1000 * f['seconds']:,.0f}" for f in table.values())
            + " |"
        )
    yield ""
    yield "<!-- not run: bench/bench.py has run this -->"
    yield from ("```sh", found["command"], "```", "")


def title(found: dict[str, Any]) -> str:
    """What the plot shows."""
    return f"The share of graphs on which the mean cut of each contestant is at most a factor of the least, for {found['parts']} parts"


def plot(found: dict[str, Any]) -> str:
    """A line for each contestant: the share of graphs over the factor."""
    taus = list(next(iter(found["profiles"].values())))
    x: Callable[[int], float] = lambda i: LEFT + WIDTH * i / (len(taus) - 1)
    y: Callable[[float], float] = lambda share: 10 + HEIGHT * (1 - share)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + RIGHT} {HEIGHT + 60}" role="img" aria-label="{text(title(found))}">',
        STYLE,
        LINES,
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        out.append(
            f'<path class="grid" d="M{LEFT} {y(share):.1f}H{LEFT + WIDTH}"/><text x="{LEFT - 8}" y="{y(share) + 5:.1f}" text-anchor="end">{share:.0%}</text>'
        )
    out += [f'<text x="{x(i):.1f}" y="{HEIGHT + 28}" text-anchor="middle">{t}</text>' for i, t in enumerate(taus)]
    used = {True: 0, False: 0}
    for i, (name, shares) in enumerate(found["profiles"].items()):
        ours = is_ours(name)
        style = f'class="line {"ours" if ours else "peer"}" stroke-dasharray="{DASHES[used[ours] % len(DASHES)]}"'
        used[ours] += 1
        out.append(f'<path {style} d="M' + "L".join(f"{x(k):.1f} {y(shares[t]):.1f}" for k, t in enumerate(taus)) + '"/>')
        at = 24 + LINE * i
        out.append(f'<path {style} d="M{LEFT + WIDTH + 20} {at - 4}h40"/><text x="{LEFT + WIDTH + 70}" y="{at}">{text(name)}</text>')
    out.append(f'<text x="{LEFT}" y="{HEIGHT + 50}">{text("factor of the least mean cut (not to scale)")}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
