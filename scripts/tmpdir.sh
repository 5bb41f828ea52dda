#!/usr/bin/env bash
# Prints the folder for the temporary files of tests: TMPDIR, or where it is not set, one in memory. Tests make and remove many thousands of small files, and ext4
# without a journal looks at each number of a file that was removed in the last five seconds before it gives one to a new file. Memory is taken where it has room for
# 8 GiB, and programs in it may run.
set -euo pipefail
if [ -n "${TMPDIR:-}" ]; then
  echo "$TMPDIR"
  exit
fi
disk=/tmp memory=/dev/shm
free=$(df -Pk "$memory" 2>/dev/null | awk 'NR == 2 {print $4}') || free=0
if [ "${free:-0}" -ge $((8 << 20)) ] && probe=$(mktemp "$memory/graphmill-XXXXXX" 2>/dev/null); then
  trap 'rm -f "$probe"' EXIT
  printf '#!/bin/sh\n' >"$probe"
  chmod +x "$probe"
  if "$probe" 2>/dev/null; then
    echo "$memory"
    exit
  fi
fi
echo "$disk"
