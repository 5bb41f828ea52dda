#!/bin/sh
# Makes the golden files again with the real peers, into testdata/golden: DGL's and TF-GNN's.
#
#   scripts/goldens.sh [dgl|tfgnn]...      both, unless told otherwise; TF-GNN's take minutes
#
# Exit status: 0 the same files came out; 1 other files came out, which are in testdata/golden now, or a peer failed.
set -eu

cd "$(dirname "$0")/.."
golden=testdata/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- dgl tfgnn
differ=
for peer in "$@"; do
  python=$(bench/peers.sh "$peer")
  case $peer in
    dgl)
      "$python" -B bench/peers/goldens_dgl.py "$work/dgl" 2>"$work/log" || { tail -20 "$work/log" >&2; exit 1; }
      # DGL's wheel does not have the tools that wrote these.
      cp -R "$golden"/dgl/chunked_in "$golden"/dgl/chunked_assign "$golden"/dgl/chunked_out "$work/dgl"
      ;;
    tfgnn) "$python" -B bench/peers/goldens_tfgnn.py "$golden/tfgnn" "$work/tfgnn" 2>"$work/log" || { tail -20 "$work/log" >&2; exit 1; } ;;
    *) echo "goldens.sh: found peer '$peer', expected dgl or tfgnn" >&2; exit 1 ;;
  esac
  diff -rq "$golden/$peer" "$work/$peer" >&2 || differ="$differ $peer"
  rm -rf "${golden:?}/$peer"
  cp -R "$work/$peer" "$golden/$peer"
done
[ -z "$differ" ] || { echo "goldens.sh: found other files of$differ than $golden had, expected the same; see git diff, and commit them if they are right" >&2; exit 1; }
echo "goldens.sh: the same files came out"
