#!/usr/bin/env bash
# Lays out what Containerfile adds to an image, from the commands of a release: scripts/image.sh VERSION.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$1
rm -rf dist/image
for arch in amd64 arm64; do
  name=graphmill-$version-linux-$arch
  mkdir -p "dist/image/$arch/work" "dist/image/$arch/tmp"
  chmod 1777 "dist/image/$arch/tmp"
  tar --extract --gzip --file="dist/release-$version/$name.tar.gz" --strip-components=1 --directory="dist/image/$arch" "$name/graphmill" "$name/LICENSE" "$name/third-party.md"
done
