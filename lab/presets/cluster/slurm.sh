#!/usr/bin/env bash
#SBATCH --job-name=@NAME@
#SBATCH --nodes=@NODES@
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=@GPUS@
#SBATCH --exclusive
#SBATCH --output=slurm-%j.log
@HEADER@
# Say `sbatch slurm.sh` in this folder, with account, partition and time as your cluster wants them. A job that was cut
# goes on from its newest checkpoint when it is submitted again.
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
FIRST="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)"
on_first() { srun --overlap --nodes=1 --ntasks=1 --nodelist="$FIRST" "$@"; }

ADDRESS="$(on_first hostname --ip-address | awk '{print $1}')"
PORT="$((20000 + SLURM_JOB_ID % 10000))"
on_first ray start --head --node-ip-address="$ADDRESS" --port="$PORT" --num-gpus=@GPUS@ --include-dashboard=false --block &
REST="$((SLURM_JOB_NUM_NODES - 1))"
if [ "$REST" -gt 0 ]; then
    sleep 15
    srun --overlap --nodes="$REST" --ntasks="$REST" --exclude="$FIRST" \
        ray start --address="$ADDRESS:$PORT" --num-gpus=@GPUS@ --block &
fi

export RAY_ADDRESS="$ADDRESS:$PORT"
on_first bash wait.sh @TOTAL@
on_first bash train.sh "$@"
