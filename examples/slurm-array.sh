#!/bin/bash
# A run in 16 shards on Slurm, and a job that merges them:
#
#     sbatch examples/slurm-array.sh gsm8k openai:NAME
#
# The same command again asks only for what is missing; with --array=3,7 before the name of this
# file, only in these shards. Every node has to see the folder that the command is given in, and
# OPENAI_API_KEY (or whatever the model needs).
#
# A minute before the time limit passband gets SIGTERM, records what was answered and ends. "B:"
# sends the signal to this script's own process, which `exec` makes passband.
#SBATCH --job-name=passband
#SBATCH --array=1-16
#SBATCH --cpus-per-task=2
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
#SBATCH --output=passband-%A-%a.log
set -euo pipefail

usage="usage: sbatch slurm-array.sh TASK MODEL [RUN_DIRECTORY]"
task=${1:?$usage} model=${2:?$usage} run=${3:-runs/slurm} shards=16
merge="passband merge '$run-shards' -o '$run'"

# Once, and not again when Slurm requeues the job: merge when all shards have ended.
if [ "$SLURM_ARRAY_TASK_ID" = 1 ] && [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then
    sbatch --job-name=passband-merge --dependency="afterany:$SLURM_ARRAY_JOB_ID" --wrap "$merge" ||
        echo "This node may not submit jobs. When all shards have ended: $merge" >&2
fi
export PASSBAND_CPUS=${SLURM_CPUS_PER_TASK:-1} # for scorers
exec passband run "$task" --model "$model" -n 16 --name "$(basename "$run")" \
    --shard "$SLURM_ARRAY_TASK_ID/$shards" --out "$run-shards/$SLURM_ARRAY_TASK_ID" --quiet
