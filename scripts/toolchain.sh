# Sourced in the root of the repository: sets go, and GOTOOLCHAIN where the Go on PATH lacks fixes.
go=${GO:-go}
# What is given to others is built with a Go that has the fixes of known vulnerabilities: the Go of go.mod, or a newer one.
need=$(sed -n 's/^toolchain //p' go.mod)
have=$("$go" env GOVERSION)
if [ "$(printf '%s\n' "$need" "${have%% *}" | sort -V | head -n 1)" != "$need" ]; then
  echo "scripts/toolchain.sh: found $have, expected $need or newer; getting that from the module proxy" >&2
  export GOTOOLCHAIN=$need
  "$go" version >/dev/null || { echo "scripts/toolchain.sh: cannot get $need, which has fixes of vulnerabilities that $have lacks; install it, or set GOPROXY to a proxy that has it" >&2; exit 1; }
fi
