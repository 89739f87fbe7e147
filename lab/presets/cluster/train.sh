#!/usr/bin/env bash
@HEADER@
# Runs where Ray's head runs: by slurm.sh, by ray_job.sh, or as it stands on a single machine. More words are verl's.
set -euo pipefail
RUN="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
STARTED="$(date +%Y%m%dT%H%M%S)"  # verl begins a log anew when it resumes
PYTHON="${PYTHON:-python}"
export LAB_PLUGINS=@PLUGINS@  # for this machine; verl's command hands them to Ray's workers

# verl says nothing when a plug-in does not load, and misses it only after the first rollouts.
"$PYTHON" - <<'END' || { echo "verl does not load the lab here: pip install -c constraints-cluster.txt -e '.[cluster,vllm]' on every node" >&2; exit 1; }
from verl.trainer.ppo.core_algos import get_adv_estimator_fn, get_policy_loss_fn
get_adv_estimator_fn("@ESTIMATOR@"), get_policy_loss_fn("@LOSS@")
END

# verl knows no revisions: a model of the hub is copied once, at ours, to where every node sees it.
MODEL='@MODEL@'
if [ -n "$MODEL" ] && [ ! -f "$RUN/model/REVISION" ]; then
    "$PYTHON" -m huggingface_hub.cli.hf download "${MODEL%@*}" --revision "${MODEL#*@}" --local-dir "$RUN/model" \
        --include '*.safetensors' --include '*.json' --include '*.txt' --include '*.model' --include '*.jinja' --exclude '*/*'
    echo "$MODEL" > "$RUN/model/REVISION"
fi

# The servers that verl starts for vLLM listen on this machine's address; nothing here calls them.
export VLLM_API_KEY="${VLLM_API_KEY:-$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')}"

exec @COMMAND@
