#!/usr/bin/env bash
# Fuzzes each parser for a while and prints one line per target: executions, new inputs that reached new code, and the share of
# the statements of its package that its seeds and committed inputs reach.
#
#   FUZZTIME=30s scripts/fuzz.sh [PATTERN]      only targets whose "package target" matches
#
# An input that breaks a parser is written to testdata/fuzz of the package. The exit status is then 1. Inputs that reached new
# code are kept in Go's cache; scripts/fuzz.sh goes on from them.
set -u
cd "$(dirname "$0")/.."
FUZZTIME=${FUZZTIME:-10s}
GO=${GO:-go}
pattern=${1:-.}
failed=0 total=0
printf '%-62s %12s %6s %9s\n' target executions new coverage
for module in . flight beam; do
  while read -r package target; do
    [[ "$package $target" =~ $pattern ]] || continue
    out=$($GO -C $module test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" "$package" 2>&1) || { failed=1; echo "$out" | tail -30 >&2; }
    execs=$(grep -o 'execs: [0-9]*' <<<"$out" | tail -1 | grep -o '[0-9]*')
    new=$(grep -o 'new interesting: [0-9]*' <<<"$out" | tail -1 | grep -o '[0-9]*')
    cover=$($GO -C $module test -run "^$target\$" -cover "$package" 2>&1 | grep -o 'coverage: [0-9.]*%' | grep -o '[0-9.]*%')
    total=$((total + ${execs:-0}))
    printf '%-62s %12s %6s %9s\n' "${package#github.com/graphmill/graphmill/} $target" "${execs:--}" "${new:--}" "${cover:--}"
  done < <(cd $module && grep -rn '^func Fuzz' --include='*_test.go' . | grep -v '^./\(flight\|beam\|torture\)/' |
    sed -E 's|^\./(.*/)?[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9_]*)\(.*|./\1 \2|' | sed 's|/ | |' | sort)
done
echo "$total executions in all"
exit $failed
