#!/usr/bin/env bash
# Waits until Ray has as many GPUs as are told, ten minutes at most.
set -euo pipefail
"${PYTHON:-python}" - "$1" <<'END'
import sys
import time

import ray

needed, found = int(sys.argv[1]), 0
for _ in range(120):
    try:
        ray.init(address="auto", logging_level="ERROR", ignore_reinit_error=True)
        found = ray.cluster_resources().get("GPU", 0)
    except ConnectionError:
        pass
    if found >= needed:
        sys.exit()
    time.sleep(5)
sys.exit(f"found {found:g} of {needed} GPUs: see in the log which node did not start")
END
