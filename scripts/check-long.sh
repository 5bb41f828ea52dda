#!/usr/bin/env bash
# The unit tests, the tests of peers, of other people's data and of the cluster in their long form, and at the end what this did that a push
# does not. make torture, with every case of the proofs over all commands, takes hours, and has a place of its own.
#
#   scripts/check-long.sh
#
# GRAPHMILL_DATA names the folder of other people's data; it is ../shared/data where that is there, as for .ci/run.
# RAPID_CHECKS is the number of cases of each property (500). Their random seed is new in each run unless RAPID_SEED is given; a
# failure prints it. Exit status: 0 all passed; 1 something failed, after all has run.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
go=${GO:-go}
data="${GRAPHMILL_DATA:-$(cd .. && pwd)/shared/data}"
# go test knows the results of a short form, and not what rapid reads from the environment.
GOFLAGS="$("$go" env GOFLAGS) -count=1"
export GOFLAGS TORTURE=long TORTURE_REPORT RAPID_CHECKS="${RAPID_CHECKS:-500}"
TORTURE_REPORT=$(mktemp)
failed=()

# part NAME COMMAND...: runs a part, and goes on if it fails.
part() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  "$@" || failed+=("$name")
  echo "== $name: $((SECONDS - start)) s"
}

part "unit tests" "$go" test -timeout 60m ./...
part "unit tests of flight" "$go" -C flight test -timeout 60m ./...
part "unit tests of beam" "$go" -C beam test -timeout 60m ./...
# A check of the stream executor has eight cases.
part "executors on sparse graphs" "$go" test ./internal/sample/outofcore -timeout 60m -run '^TestSparse$' -rapid.checks=1250
part "the cluster on sparse graphs" "$go" test ./internal/sample/cluster -timeout 60m -run '^TestSparse$' -rapid.checks=10000
for module in . flight beam torture examples/library; do part "modules of $module" "$go" -C "$module" mod verify; done
part "ARM" env GOOS=linux GOARCH=arm64 "$go" build ./...
part "peers" make interop
if [ -d "$data" ]; then
  part "other people's data" env GRAPHMILL_DATA="$data" make interop-data
else
  echo "== left out: other people's data; $data is not there, set GRAPHMILL_DATA"
fi
part "a cluster" make cluster

echo "== run beyond a push: each property with $RAPID_CHECKS cases of a new random seed (50 of seed 1 at a push), 10,000 sparse graphs per executor, and"
sort -u "$TORTURE_REPORT"
rm -f "$TORTURE_REPORT"
if [ ${#failed[@]} -gt 0 ]; then
  echo "check-long: failed: ${failed[*]}" >&2
  exit 1
fi
