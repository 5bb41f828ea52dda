#!/bin/sh
# One index of a stage: the script of the arrays that submit.sh submits. A node that dies has its index queued again, and what is whole is not made again.
#
#   step.sh WORK N STAGE
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
set -eu

# A file system of a cluster may show files of other nodes late.
tries=0
status=75
while [ "$status" -eq 75 ] && [ "$tries" -lt 10 ]; do
  [ "$tries" -eq 0 ] || sleep "$tries"
  tries=$((tries + 1))
  status=0
  ${GRAPHMILL_BEAM:-graphmill-beam} step "$1" --index "$SLURM_ARRAY_TASK_ID/$2" --stage "$3" || status=$?
done
exit "$status"
