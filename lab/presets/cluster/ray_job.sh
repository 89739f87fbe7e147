#!/usr/bin/env bash
@HEADER@
# Submits train.sh to a Ray cluster of @TOTAL@ GPUs whose nodes all see this folder. A cluster that
# wants a token (RAY_AUTH_MODE=token) finds it in RAY_AUTH_TOKEN, or in the file RAY_AUTH_TOKEN_PATH.
set -euo pipefail
RUN="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
: "${RAY_ADDRESS:?set it to the address of the jobs of the cluster, for example http://127.0.0.1:8265}"
exec ray job submit --address "$RAY_ADDRESS" -- bash "$RUN/train.sh" "$@"
