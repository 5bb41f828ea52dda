#!/usr/bin/env bash
# Checks wheels and an sdist: scripts/wheels-check.sh FOLDER. The contents, the metadata, and the platform of each; then the wheel of this machine is installed into an
# empty environment, and its command and its client run there. The sdist must say that it needs Go.
set -euo pipefail
dir=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=$PWD/.venv-release/bin
fail() { echo "wheels-check.sh: $*" >&2; exit 1; }
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' python/src/graphmill/_version.py)
wheels=("$dir"/*.whl) sdist=$dir/graphmill-$version.tar.gz
[ ${#wheels[@]} -eq 8 ] || fail "$dir: found ${#wheels[@]} wheels, expected 8"
$bin/check-wheel-contents "${wheels[@]}"
$bin/twine check --strict "${wheels[@]}" "$sdist"
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
# The tag of a wheel is what its command is: the first bytes of the file, and the processor in it.
for wheel in "${wheels[@]}"; do
  $bin/python - "$wheel" <<'CHECK'
import re, struct, sys, zipfile
name = sys.argv[1]
with zipfile.ZipFile(name) as z:
    (command,) = [i for i in z.infolist() if re.fullmatch(r"graphmill-[^/]+\.data/scripts/graphmill(\.exe)?", i.filename)]
    head = z.read(command)[:1 << 16]
    assert command.external_attr >> 16 & 0o111 == 0o111, "found a command that is not executable"
if head[:4] == b"\x7fELF":
    system, machine = "linux", {62: "x86_64", 183: "aarch64"}[struct.unpack_from("<H", head, 18)[0]]
    start, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    kinds = [struct.unpack_from("<I", head, start + i * size)[0] for i in range(count)]
    assert not {2, 3} & set(kinds), "found a command that needs a C library, expected a static one"
elif head[:2] == b"MZ":
    assert command.filename.endswith(".exe"), "found a command for Windows that has no .exe"
    (at,) = struct.unpack_from("<I", head, 60)
    assert head[at : at + 4] == b"PE\0\0", "found no program of Windows"
    system, machine = "win", {0x8664: "amd64", 0xAA64: "arm64"}[struct.unpack_from("<H", head, at + 4)[0]]
else:
    assert head[:4] == b"\xcf\xfa\xed\xfe", "found no ELF, no PE and no Mach-O"
    system, machine = "macosx", {0x01000007: "x86_64", 0x0100000C: "arm64"}[struct.unpack_from("<I", head, 4)[0]]
tag = name.rsplit("-", 1)[1]
assert tag.endswith(f"_{machine}.whl") and (system in tag or system == "linux" and "linux" in tag), f"found a command for {system} {machine} in {tag}"
print(f"{name.rsplit('/', 1)[1]}: a static command for {system} {machine}")
CHECK
  case $wheel in
    *linux_*)
      $bin/auditwheel show "$wheel" >"$temporary/audit" 2>&1 || { cat "$temporary/audit"; fail "auditwheel show $wheel"; }
      grep -q 'requires no external shared libraries' "$temporary/audit" || { cat "$temporary/audit"; fail "$wheel: found shared libraries, expected none"; }
      ;;
  esac
done
python3 -m venv "$temporary/env"
"$temporary/env/bin/pip" install --quiet --disable-pip-version-check numpy
"$temporary/env/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$dir" --only-binary :all: "graphmill==$version"
(cd "$temporary" && PATH="$temporary/env/bin" GRAPHMILL_COMMAND='' env/bin/graphmill version &&
  PATH="$temporary/env/bin" GRAPHMILL_COMMAND='' env/bin/python -c '
import graphmill
import numpy as np
graphmill.from_arrays({"x": np.ones((100, 4))}, np.random.randint(0, 100, (2, 500)), "g.store")
with graphmill.NodeLoader("g.store", fanout=[5, 5], batch_size=10) as loader:
    assert sum(b.batch_size for b in loader) == 100
')
# Without Go, the sdist says what it needs.
mkdir "$temporary/sdist"
tar -xzf "$sdist" -C "$temporary/sdist" --strip-components 1
if (cd "$temporary/sdist" && PATH=/usr/bin/none "$bin/python" -m hatchling build -t wheel) >"$temporary/error" 2>&1; then
  fail "the sdist was built without Go"
fi
grep -q 'needs Go 1\.[0-9]* or newer' "$temporary/error" || { cat "$temporary/error"; fail "the sdist does not say that it needs Go"; }
# With Go, it builds the wheel of this machine.
(cd "$temporary/sdist" && "$bin/python" -m hatchling build -t wheel -d "$temporary/built" >/dev/null)
"$temporary/env/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$temporary"/built/*.whl
"$temporary/env/bin/graphmill" version
echo "wheels-check.sh: all wheels and the sdist are as they should be"
