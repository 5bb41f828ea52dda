#!/usr/bin/env bash
# Checks that each commit is one idea: a subject that joins several with ";" is refused.
#
#   scripts/history.sh [RANGE]
#
# RANGE is what git log takes; without it, all commits since the rule holds, or the last one in a shallow clone.
# Exit status: 0 all are fine; 1 the commits on stderr are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
since=91b2e292bceccdce13891321beb630974d19c631
range=${1:-}
if [ -z "$range" ]; then
  range=-1
  if git rev-parse --quiet --verify "$since^{commit}" >/dev/null; then
    range="$since..HEAD"
  fi
fi
joined=$(git log --format='%h %s' "$range" | grep ';' || true)
if [ -n "$joined" ]; then
  printf 'history: found subjects that join ideas with ";", expected one idea per commit; split it, or name the idea:\n%s\n' "$joined" >&2
  exit 1
fi
