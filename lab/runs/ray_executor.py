"""The runs of a sweep on a Ray cluster that is there already: same folders, locks and resume. Floor
3.

Every node needs the lab, and the folder of runs at the same path. A run takes one core and its
GPUs. If its node dies, Ray starts it again elsewhere, and it goes on from its checkpoint, as after
any kill.
"""

from __future__ import annotations

import os
import socket
from typing import Any

from lab.errors import LabError, whole
from lab.runs.processes import run_logged


class RayExecutor:
    """A connection to the cluster that RAY_ADDRESS names, else to this machine's; use it in a
    `with`.

    `slots`: how many runs it holds at a time. LabError: Ray is not installed, no cluster, or no
    place for one run.
    """

    def __init__(self, gpus: int = 0) -> None:
        try:
            import ray
        except ImportError as error:
            raise LabError(
                "Ray is not installed: pip install -c constraints.txt -e '.[cluster]'"
            ) from error
        whole("gpus", gpus, 0)
        address = os.environ.get("RAY_ADDRESS", "auto")
        try:
            _answers(address)
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (OSError, ValueError, RuntimeError) as error:
            raise LabError(
                f"no Ray cluster answers at RAY_ADDRESS={address} ({str(error).splitlines()[0]}):"
                " set it to the address of one, or start one here with ray start --head"
            ) from error
        self._ray, self._running = ray, set()
        there = ray.cluster_resources()
        self.slots = int(
            min(there.get("CPU", 0), there.get("GPU", 0) / gpus if gpus else float("inf"))
        )
        if not self.slots:
            self.__exit__()
            raise LabError(
                f"the Ray cluster has {there.get('CPU', 0):g} cores and {there.get('GPU', 0):g}"
                f" GPUs, and a run needs 1 and {gpus}: ask for fewer, or add nodes"
            )
        self._task = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=3)(run_logged)

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *_: Any) -> None:
        self._ray.shutdown()

    def run(self, words: list[str], log: str) -> str:
        """As `lab.runs.processes.run_logged`, on some node; waits for it."""
        task = self._task.remote(words, log)
        self._running.add(task)
        try:
            return self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            return f"Ray: {str(error).splitlines()[0]}"
        finally:
            self._running.discard(task)

    def cancel(self) -> None:
        """Stop the runs that are under way; a later sweep resumes them."""
        for task in tuple(self._running):
            self._ray.cancel(task)


def _answers(address: str) -> None:
    """Ray itself would try a wrong address for minutes; raises OSError or ValueError at once."""
    if address not in ("auto", "local"):
        host, _, port = address.rpartition("//")[2].rpartition(":")
        socket.create_connection((host, int(port)), timeout=10).close()
