#!/usr/bin/env bash
# Looks for known vulnerabilities in the code that the product calls: scripts/vulnerabilities.sh [MODULE...], by default in all
# modules that are shipped. The database is made of the newest version of golang.org/x/vulndb that the Go module proxy has, so
# that the search works wherever the product can be built. GOVULNDB=https://vuln.go.dev, or GOVULNDB=file:///path/to/folder, is another database.
# Exit status: 0 none, 1 no database, 3 found some.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=v1.9.0
GO="${GO:-go}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# "go run" would hide the exit status.
GOBIN=$folder "$GO" install "golang.org/x/vuln/cmd/govulncheck@$version"
if [ -z "${GOVULNDB:-}" ]; then
  "$GO" -C torture run ./supply/write database "$folder/database"
  GOVULNDB=file://$folder/database
fi
status=0
[ $# -gt 0 ] || set -- . flight beam
for module; do
  echo "== $module"
  found=0
  "$folder/govulncheck" -C "$module" -db "$GOVULNDB" ./... || found=$?
  [ "$found" -eq 0 ] || status=$found
done
exit "$status"
