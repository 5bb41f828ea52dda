#!/usr/bin/env bash
# Writes python/THIRD-PARTY-NOTICES: the licences of the modules that are linked into the command, which go into each wheel and the sdist.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/toolchain.sh
"$go" -C torture run ./supply/write notices "$PWD/python/THIRD-PARTY-NOTICES"
