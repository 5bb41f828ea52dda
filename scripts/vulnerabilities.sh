#!/usr/bin/env bash
# Looks for known vulnerabilities in the code that the product calls: scripts/vulnerabilities.sh [MODULE...], by default all
# modules that are shipped. The database is https://vuln.go.dev, or GOVULNDB, which may be a folder: file:///path/to/vulndb
# (a copy of https://vuln.go.dev/vulndb.zip, unpacked).
# Exit status: 0 none, 1 no database, 3 found some.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=v1.9.0
export GOVULNDB="${GOVULNDB:-https://vuln.go.dev}"
GO="${GO:-go}"
status=0
[ $# -gt 0 ] || set -- . flight beam
for module; do
  echo "== $module"
  found=0
  (cd "$module" && "$GO" run "golang.org/x/vuln/cmd/govulncheck@$version" ./...) || found=$?
  [ "$found" -eq 0 ] || status=$found
done
if [ "$status" -eq 1 ] && [ "$GOVULNDB" = https://vuln.go.dev ]; then
  echo "vulnerabilities.sh: the database $GOVULNDB could not be read; unpack its vulndb.zip and set GOVULNDB=file:///path/to/folder" >&2
fi
exit "$status"
