#!/usr/bin/env bash
@HEADER@
# Submits train.sh to a Ray cluster of @TOTAL@ GPUs whose nodes all see this folder. Who may submit to it is that
# cluster's affair: with tokens (RAY_AUTH_MODE=token), RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH must hold its own.
set -euo pipefail
RUN="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
: "${RAY_ADDRESS:?set it to the address of the jobs of the cluster, for example http://127.0.0.1:8265}"
exec ray job submit --address "$RAY_ADDRESS" -- bash "$RUN/train.sh" "$@"
