#!/usr/bin/env bash
# Builds the graphmill command for a platform: scripts/build.sh GOOS GOARCH OUT. It is static and has the commit in it. The same commit and version of Go
# give the same bytes on any machine.
set -euo pipefail
os=$1 arch=$2 out=$(realpath -m "$3")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/toolchain.sh
commit=$(git rev-parse HEAD 2>/dev/null || true)
if [ -n "$commit" ] && [ -n "$(git status --porcelain)" ]; then
  commit+=+modified
fi
# The commit comes from here and not from Go's own stamp, which depends on the tags of the clone.
CGO_ENABLED=0 GOOS=$os GOARCH=$arch GOFLAGS= GOAMD64=v1 "$go" build -trimpath -buildvcs=false -ldflags="-s -X main.commit=$commit" -o "$out" ./cmd/graphmill
