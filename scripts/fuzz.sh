#!/usr/bin/env bash
# Fuzzes each parser for a while and prints one line per target: executions, executions per second, new inputs that reached new
# code, and the share of the statements of its package that its seeds and committed inputs reach.
#
#   FUZZTIME=30s scripts/fuzz.sh [PATTERN]          only targets whose "module/package target" matches
#   FUZZTIME=0s scripts/fuzz.sh --keep [PATTERN]    also copies inputs of Go's cache into testdata/fuzz
#
# An input that breaks a parser is written to testdata/fuzz of the package. The exit status is then 1. Inputs that reached new
# code are kept in Go's cache; scripts/fuzz.sh goes on from them. --keep copies inputs of at most 4 KiB that reach
# statements of the parsers which no committed input of the target reaches, the smallest first, at most KEEP (40) per target. FUZZTIME=0s does
# not fuzz.
#
# Go makes each new input smaller for up to a minute, and executes nothing else meanwhile. FUZZMINIMIZE bounds this to a number
# of executions. Targets that write files do it in memory where /dev/shm exists.
set -u
cd "$(dirname "$0")/.."
FUZZTIME=${FUZZTIME:-10s}
FUZZMINIMIZE=${FUZZMINIMIZE:-100x}
KEEP=${KEEP:-40}
GO=${GO:-go}
name=github.com/graphmill/graphmill
keep=false
[[ ${1:-} == --keep ]] && { keep=true; shift; }
pattern=${1:-.}
base=${TMPDIR:-/tmp}
[[ -d /dev/shm ]] && base=/dev/shm
TMPDIR=$(mktemp -d "$base/graphmill-fuzz-XXXXXX") || exit 1
export TMPDIR
trap 'chmod -R u+w "$TMPDIR"; rm -rf "$TMPDIR"' EXIT
failed=0 total=0

# keep_new PACKAGE TARGET copies inputs, in the folder of the module. The test runs candidates after the committed inputs, the
# smallest first, and tells which of them reached new statements.
keep_new() {
  local cache to=$1/testdata/fuzz/$2 binary=$TMPDIR/keep.test parsers size input kept=0
  cache=$($GO env GOCACHE)/fuzz/$($GO list "$1")/$2
  [[ -d $cache ]] || return 0
  parsers=$($GO list "$1")$($GO list -deps "$1" | grep "^$name/format/" | sed 's/^/,/' | tr -d '\n')
  $GO test -c -cover -coverpkg "$parsers" -o "$binary" "$1" || return 1
  mkdir -p "$to"
  find "$cache" -type f -size -4097c -printf '%s %f\n' | while read -r size input; do
    [[ -e $to/$input ]] || cp "$cache/$input" "$(printf '%s/zz%05d-%s' "$to" "$size" "$input")"
  done
  : >"$TMPDIR/reached"
  (cd "$1" && GRAPHMILL_REACHED=$TMPDIR/reached "$binary" -test.run "^$2\$" >"$TMPDIR/out" 2>&1) || { tail -5 "$TMPDIR/out" >&2; kept=failed; }
  for input in "$to"/zz*; do
    if [[ $kept != failed ]] && ((kept < KEEP)) && grep -qxF "$2/${input##*/}" "$TMPDIR/reached"; then
      mv "$input" "$to/${input##*-}"
      kept=$((kept + 1))
    else
      rm -f "$input"
    fi
  done
  rmdir -p "$to" 2>/dev/null
  echo "kept $kept inputs of ${1#./} $2"
  [[ $kept != failed ]]
}

printf '%-62s %12s %9s %6s %9s\n' target executions per-sec new coverage
for module in . flight beam; do
  while read -r package target; do
    label=$(sed 's|^\./||' <<<"$module/${package#./} $target")
    [[ $label =~ $pattern ]] || continue
    if [[ $FUZZTIME != 0s ]]; then
      out=$($GO -C $module test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime "$FUZZMINIMIZE" "$package" 2>&1) ||
        { failed=1; echo "$out" | tail -30 >&2; }
      execs=$(grep -o 'execs: [0-9]*' <<<"$out" | tail -1 | grep -o '[0-9]*')
      new=$(grep -o 'new interesting: [0-9]*' <<<"$out" | tail -1 | grep -o '[0-9]*')
      cover=$($GO -C $module test -run "^$target\$" -cover "$package" 2>&1 | grep -o 'coverage: [0-9.]*%' | grep -o '[0-9.]*%')
      total=$((total + ${execs:-0}))
      seconds=$(grep -o 'elapsed: [0-9hm]*s' <<<"$out" | tail -1 | sed -E 's/elapsed: (([0-9]+)h)?(([0-9]+)m)?([0-9]+)s/\2 \4 \5/' | awk '{n = 0; for (i = 1; i <= NF; i++) n = 60 * n + $i; print n}')
      printf '%-62s %12s %9s %6s %9s\n' "$label" "${execs:--}" "$((${execs:-0} / (${seconds:-1} > 0 ? ${seconds:-1} : 1)))" "${new:--}" "${cover:--}"
    fi
    if $keep; then
      (cd $module && keep_new "$package" "$target") || failed=1
    fi
  done < <(cd $module && grep -rn '^func Fuzz' --include='*_test.go' . | grep -v '^./\(flight\|beam\|torture\)/' |
    sed -E 's|^\./(.*/)?[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9_]*)\(.*|./\1 \2|' | sed 's|/ | |' | sort)
done
[[ $FUZZTIME == 0s ]] || echo "$total executions in all"
exit $failed
