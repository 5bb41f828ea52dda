#!/usr/bin/env bash
# Makes all files of a release: scripts/release.sh VERSION. They lie in dist/release-VERSION: wheels, sdist, static commands, their bills of materials, the
# notes, and SHA256SUMS over all. The same commit gives the same bytes. It uploads nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${1:-}
pages=(README.md python/README.md docs/python.md)
# scripts/release.sh --registry writes the line that installs from the registry into the pages, in place of the wheel made in a clone: into
# the block after each comment "install: PACKAGES". The first release is cut with it.
if [ "$version" = --registry ]; then
  sed -i -E '/^<!-- install:.* -->$/{
    s/^<!-- install:(.*) -->$/\1/; h
    s/.*//; N; N; s/^\n//
    :block
    N
    /\n```$/!b block
    G
    s/^([^\n]*)\n(```sh)\n(python3 -m venv[^\n]*\n)?.*\n```\n ?(.*)$/\1\n\2\n\3pip install graphmill \4\n```/
    s/ +\n```$/\n```/
  }' "${pages[@]}"
  exit
fi
fail() { echo "make release: $*" >&2; exit 1; }

[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "found VERSION=$version, expected three numbers; give VERSION=0.2.0"
check() { [ "$2" = "$version" ] || fail "$1: found version ${2:-none}, expected $version; set it there"; }
check internal/operation/version.go "$(sed -n 's/^const release = "\(.*\)"$/\1/p' internal/operation/version.go)"
check python/src/graphmill/_version.py "$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' python/src/graphmill/_version.py)"
notes=$(awk -v v="$version" '/^## \[/ { on = index($0, "## [" v "]") == 1; next } on' CHANGELOG.md)
[ -n "${notes//[[:space:]]/}" ] || fail "CHANGELOG.md: found no text under \"## [$version]\", expected what has changed; write it"
for page in "${pages[@]}"; do
  ! grep -q '^<!-- install:' "$page" || fail "$page: found the wheel of a clone, expected the line with the registry; run scripts/release.sh --registry and commit it"
done
changed=$(git status --porcelain)
[ -z "$changed" ] || fail "found files that differ from the commit, expected none; commit or remove them:
$changed"

out=dist/release-$version
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
umask 022
rm -rf "$out"
mkdir -p "$out"
scripts/wheels.sh "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
  os=${platform%/*} arch=${platform#*/}
  name=graphmill-$version-$os-$arch
  program=graphmill
  [ "$os" != windows ] || program=graphmill.exe
  mkdir "$work/$name"
  scripts/build.sh "$os" "$arch" "$work/$name/$program"
  cp LICENSE README.md CHANGELOG.md docs/third-party.md "$work/$name/"
  chmod 644 "$work/$name/"*.md "$work/$name/LICENSE"
  tar --create --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --directory="$work" "$name" | gzip --no-name -9 >"$out/$name.tar.gz"
  "${GO:-go}" -C torture run ./supply/write bill "$work/$name/$program" >"$out/$name.cdx.json"
done
printf '%s\n' "$notes" | sed -e '/./,$!d' >"$out/NOTES.md"
(cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
echo "$out: $(wc -l <"$out/SHA256SUMS") files, of commit $(git rev-parse HEAD)"
