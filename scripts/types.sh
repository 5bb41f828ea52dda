#!/usr/bin/env bash
# Checks the types of the Python client and its tests, of python/wheel.py, and of all programs under bench, scripts and examples, as mypy.ini says.
#
# usage: scripts/types.sh MYPY      MYPY is the path of the command, such as .venv-lint/bin/mypy
#
# Programs have no package, so that a module has the name of its file, and one call of mypy takes no two files of one name. The first
# call takes all whose names differ; each later one has a train.py. All calls are made, and the exit status is 1 if one fails.
set -euo pipefail

if [ $# != 1 ]; then
  echo "usage: scripts/types.sh MYPY" >&2
  exit 2
fi
mypy=$(realpath "$1")
cd "$(dirname "$0")/.."

failed=0
check() {
  "$mypy" --no-error-summary "$@" || failed=1
}

# dgl_cpu_torch.py and pyg_mkstub.py are left out: bench/peers.sh names installed environments by a hash of them, and types would change it.
peers=()
for file in bench/peers/*.py; do
  case $file in
  */dgl_cpu_torch.py | */pyg_mkstub.py) ;;
  *) peers+=("$file") ;;
  esac
done

check python/src python/wheel.py bench/*.py "${peers[@]}" scripts/*.py scripts/site/*.py examples/packs/*.py examples/relational-postgres/*.py
MYPYPATH=python/src:python/tests check python/tests/*.py
check bench/accuracy/*.py examples/graphsage-cora-dgl/*.py
check examples/cora/*.py examples/graphsage-cora-pyg/*.py
for folder in examples/*/; do
  case $folder in
  examples/packs/ | examples/relational-postgres/ | examples/graphsage-cora-dgl/ | examples/cora/ | examples/graphsage-cora-pyg/) continue ;;
  esac
  if compgen -G "$folder*.py" >/dev/null; then
    check "$folder"*.py
  fi
done
exit $failed
