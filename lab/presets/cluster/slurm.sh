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
export PYTHON="${PYTHON:-python}"
NODES="$(scontrol show hostnames "$SLURM_JOB_NODELIST")"
FIRST="$(head -n 1 <<< "$NODES")"
SECOND="$(sed -n 2p <<< "$NODES")"
on_first() { srun --export=ALL --overlap --nodes=1 --ntasks=1 --nodelist="$FIRST" "$@"; }

if [ -z "${ADDRESS:-}" ]; then
    ADDRESS="$(on_first bash address.sh ${SECOND:+"$SECOND"})"
fi
case "$ADDRESS" in
"" | 127.* | localhost)
    echo "ADDRESS = '$ADDRESS': no other node reaches the first there;" \
        "say ADDRESS=... before sbatch" >&2
    exit 1 ;;
esac

# Ray runs the code of whoever reaches its port and knows its token; before 2.52 it has none.
on_first "$PYTHON" -c 'import ray, sys
old = tuple(map(int, ray.__version__.split(".")[:2])) < (2, 52)
sys.exit(f"Ray {ray.__version__} admits everybody: install with -c constraints-cluster.txt" if old else 0)'
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$PWD/.ray-token-$SLURM_JOB_ID"
unset RAY_AUTH_TOKEN  # it would count before the file
trap 'rm -f "$RAY_AUTH_TOKEN_PATH"' EXIT
rm -f "$RAY_AUTH_TOKEN_PATH"
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > "$RAY_AUTH_TOKEN_PATH")
if [ "$(stat -c %a "$RAY_AUTH_TOKEN_PATH")" != 600 ]; then
    echo "others may read Ray's token in $RAY_AUTH_TOKEN_PATH:" \
        "put this folder on a file system that keeps modes" >&2
    exit 1
fi
# The servers that verl starts for vLLM listen there too; nothing here calls them over the network.
VLLM_API_KEY="$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"
export VLLM_API_KEY

PORT="$((20000 + SLURM_JOB_ID % 10000))"
on_first ray start --head --node-ip-address="$ADDRESS" --port="$PORT" --num-gpus=@GPUS@ --include-dashboard=false --block &
REST="$((SLURM_JOB_NUM_NODES - 1))"
if [ "$REST" -gt 0 ]; then
    sleep 15
    srun --export=ALL --overlap --nodes="$REST" --ntasks="$REST" --exclude="$FIRST" \
        ray start --address="$ADDRESS:$PORT" --num-gpus=@GPUS@ --block &
fi

export RAY_ADDRESS="$ADDRESS:$PORT"
on_first bash wait.sh @TOTAL@
on_first bash train.sh "$@"
