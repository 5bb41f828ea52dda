#!/usr/bin/env bash
# Builds the wheels of all platforms and the sdist: scripts/wheels.sh OUT. PYTHON has the packages of scripts/release-requirements.txt.
# The same commit gives the same bytes: times are the commit's.
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHON=$(realpath -s "${PYTHON:-.venv-release/bin/python}")
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
umask 022
rm -rf "$out"
mkdir -p "$out" python/bin
scripts/notices.sh
# A Go command without cgo needs no C library, so one serves both kinds of Linux. Go 1.26 needs macOS 12.
# Go 1.26 needs Windows 10 or Server 2016.
while read -r os arch tags; do
  rm -f python/bin/graphmill python/bin/graphmill.exe
  suffix=
  [ "$os" != windows ] || suffix=.exe
  scripts/build.sh "$os" "$arch" "python/bin/graphmill$suffix"
  for tag in $tags; do
    (cd python && GRAPHMILL_WHEEL_TAG=py3-none-$tag "$PYTHON" -m hatchling build -t wheel -d "$out" >/dev/null)
  done
done <<PLATFORMS
linux amd64 manylinux_2_17_x86_64 musllinux_1_2_x86_64
linux arm64 manylinux_2_17_aarch64 musllinux_1_2_aarch64
darwin arm64 macosx_12_0_arm64
darwin amd64 macosx_12_0_x86_64
windows amd64 win_amd64
windows arm64 win_arm64
PLATFORMS
rm python/bin/graphmill.exe
(cd python && "$PYTHON" -m hatchling build -t sdist -d "$out" >/dev/null)
