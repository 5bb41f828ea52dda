#!/usr/bin/env python3
"""Compares the features of an import with features that pandas and scikit-learn make, and measures how much a test gains if they are fitted on all rows.

examples:
  GRAPHMILL_DATA=... bench/feature_fit.py                 ten minutes
  GRAPHMILL_DATA=... bench/feature_fit.py --seeds 2 --trainings returns share

Prints the results as JSON, and a table of means and standard deviations to stderr. Exits with 1 if the values by hand and by the import
differ, if their means differ by more than the bound of accuracy.py, or if a leak that docs/feature-fit.md describes is not there.
"""

from __future__ import annotations

# Only the standard library: pandas, scikit-learn and PyG are in an environment of bench/peers.sh.
import argparse
import json
import os
import pathlib
import statistics
import sys
import tarfile
import tempfile
from collections.abc import Iterator

from accuracy import bound, python_of, run

HERE = pathlib.Path(__file__).resolve().parent
HAND, FEATURES, ALL, NONE = "by hand", "features", "fitted on all rows", "without"
TRAININGS = {  # the archive, what is measured, and whether a fit on all rows leaks
    "sections": ("debian_packages", "sections of Debian's packages, accuracy", False),
    "names": ("debian_packages", "the same, with a column per maintainer", False),
    "returns": ("rails_git", "newcomers of Rails who return, AUROC", False),
    "clock": ("rails_git", "the newcomers, with the number of the commit by ranks", False),
    "past": ("rails_git", "the newcomers, with the number of earlier commits of the author", False),
    "share": ("rails_git", "the newcomers, with the share of the commits that its author has", True),
    "degree": ("rails_git", "the newcomers, with the degree of the author", True),
}


def faults(training: str, results: dict[str, list[float]]) -> Iterator[str]:
    """What is not as expected."""

    def difference(a: str, b: str) -> tuple[float, float]:
        return statistics.mean(results[a]) - statistics.mean(results[b]), bound(results[a], results[b])

    found, most = difference(FEATURES, HAND)
    if abs(found) > most:
        yield f"{training}: found {found:+.4f} between features and those by hand, expected at most {most:.4f}"
    found, most = difference(ALL, FEATURES)
    if TRAININGS[training][2] and found <= most:
        yield f"{training}: found {found:+.4f} by a fit on all rows, expected more than {most:.4f}"


def cell(x: list[float]) -> str:
    return f"{statistics.mean(x):.3f} ± {statistics.stdev(x):.3f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="random seeds per contestant, at least 2 (default 5)")
    parser.add_argument("--trainings", nargs="+", choices=[*TRAININGS], default=[*TRAININGS])
    parser.add_argument("--graphmill", help="the command; default: it is built")
    o = parser.parse_args()
    if o.seeds < 2:
        parser.error(f"--seeds: found {o.seeds}, expected at least 2, for a standard deviation")
    data = os.environ.get("GRAPHMILL_DATA")
    if not data:
        sys.exit("feature_fit.py: found no GRAPHMILL_DATA, expected the folder of the data")
    results: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory(prefix="features-") as folder:
        work = pathlib.Path(folder)
        graphmill = o.graphmill and pathlib.Path(o.graphmill).resolve()
        if not graphmill:
            graphmill = work / "graphmill"
            run("go", "build", "-o", graphmill, "./cmd/graphmill", cwd=HERE.parent)
        env = {**os.environ, "GRAPHMILL_COMMAND": str(graphmill), "PYTHONPATH": str(HERE.parent / "python/src"), "OMP_NUM_THREADS": "1"}
        for training in o.trainings:
            archive = TRAININGS[training][0]
            if not (work / archive).exists():
                with tarfile.open(pathlib.Path(data, archive + ".tar.gz")) as t:
                    t.extractall(work, filter="data")
            results[training] = json.loads(
                run(python_of("databases"), "-W", "ignore", HERE / "accuracy/with_features.py", training, work / archive, o.seeds, env=env)
            )
    print(f"\n| training | {' | '.join((HAND, FEATURES, ALL, NONE))} |\n|---|--:|--:|--:|--:|", file=sys.stderr)
    for training, found in results.items():
        print(f"| {TRAININGS[training][1]} | {' | '.join(cell(found[who]) for who in (HAND, FEATURES, ALL, NONE))} |", file=sys.stderr)
    print(json.dumps(results))
    wrong = [line for training, found in results.items() for line in faults(training, found)]
    for line in wrong:
        print(f"feature_fit.py: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
