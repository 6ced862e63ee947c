#!/bin/bash
# A run in 16 shards on Slurm, and their merge:
#
#     sbatch examples/slurm-array.sh gsm8k openai:NAME
#
# The same command again asks only for what is missing. The folder it is started in, and
# OPENAI_API_KEY (or whatever the model needs), have to be there on every node.
#SBATCH --job-name=passband
#SBATCH --array=1-16
#SBATCH --cpus-per-task=2
#SBATCH --requeue
#SBATCH --signal=TERM@60
#SBATCH --output=passband-%A-%a.log
set -euo pipefail

task=$1 model=$2 run=${3:-runs/slurm} shards=16

if [ "$SLURM_ARRAY_TASK_ID" = 1 ]; then # merge when all have ended
    sbatch --job-name=passband-merge --dependency="afterany:$SLURM_ARRAY_JOB_ID" \
        --wrap "passband merge '$run-shards' -o '$run'"
fi
export PASSBAND_CPUS=${SLURM_CPUS_PER_TASK:-1} # for scorers
exec passband run "$task" --model "$model" -n 16 --name "$(basename "$run")" \
    --shard "$SLURM_ARRAY_TASK_ID/$shards" --out "$run-shards/$SLURM_ARRAY_TASK_ID" --quiet
