#!/bin/sh
# Runs a command of graphmill-beam on Slurm: an array of jobs for each stage, one after the other, and a job at the end that makes the output.
#
#   beam/steps/slurm/submit.sh 64 sample /shared/g.store --fanout 10,5 --out /shared/samples --method shuffle
#
# 64 is the number of indexes, which may be more than run at a time. The arrays wait for each other by Slurm's dependencies, so that no process waits on a
# node. This script plans the stages, submits them, and submits itself for the time after them, until the output is whole. After a failure, give the same
# command again: it continues from what is whole.
#
#   GRAPHMILL_BEAM    the program, on all nodes at this path (default: graphmill-beam)
#   SBATCH_...        Slurm's own variables, for the account, the partition, the time and others
#
# Exit status: 0 the output is whole, or its jobs are submitted; else that of the command.
set -eu

[ $# -ge 3 ] || { echo "usage: submit.sh N COMMAND ARGUMENT... --out OUT" >&2; exit 2; }
here=${GRAPHMILL_STEPS:-$(cd "$(dirname "$0")" && pwd)}
n=$1
shift

out=
before=
for a in "$@"; do
  case $a in
    --out=*) out=${a#--out=} ;;
    *) [ "$before" != --out ] || out=$a ;;
  esac
  before=$a
done
[ -n "$out" ] || { echo "submit.sh: found no --out, expected the output; give it" >&2; exit 2; }
work=$(dirname "$out")/.$(basename "$out").work

status=0
${GRAPHMILL_BEAM:-graphmill-beam} "$@" --runner steps --parallelism "$n" --no-wait || status=$?
[ "$status" -eq 75 ] || exit "$status"

# An import has up to three jobs, in folders of their own; the last one that was planned waits.
plan=$(ls -t "$work"/steps.json "$work"/*/steps.json 2>/dev/null | head -n 1)
[ -n "$plan" ] || { echo "submit.sh: $work: found no steps.json, expected the plan of the job" >&2; exit 1; }
last=
rest=$(grep -o '"name":"[^"]*"' "$plan" | cut -d '"' -f 4)
# Slurm copies the script that it runs, so the copies find their neighbours by a variable.
export GRAPHMILL_STEPS="$here"
while IFS= read -r stage; do
  last=$(sbatch --parsable --job-name="graphmill $stage" --array="0-$((n - 1))" --requeue --kill-on-invalid-dep=yes ${last:+"--dependency=afterok:$last"} "$here/step.sh" "$work" "$n" "$stage" </dev/null)
  last=${last%%;*} # the name of the cluster may follow
done <<END
$rest
END
sbatch --parsable --job-name="graphmill end" --requeue --kill-on-invalid-dep=yes --dependency="afterok:$last" "$here/submit.sh" "$n" "$@" </dev/null
