"""The runs of a sweep on an existing Ray cluster, with the same folders, locks and resuming.

Every node needs the lab, and the folder of runs at the same path. A run takes one core and its
GPUs. If its node dies, Ray starts the run again on another node, where it resumes from its
checkpoint, as after any kill.
"""

from __future__ import annotations

import logging
import os
import socket
from typing import Any

from lab.errors import LabError, whole
from lab.extras import missing
from lab.plugins import VARIABLE
from lab.project import VARIABLE as PROJECT
from lab.project import project
from lab.runs.processes import Worker


class RayExecutor:
    """A connection to the cluster at RAY_ADDRESS, else to that of this machine.

    Use it in a `with` statement. `slots` is how many runs go at a time: `jobs`, else what fits on
    the cluster. LabError: Ray is not installed; there is no cluster; it has no room for a run.
    """

    def __init__(self, jobs: int | None, gpus: int = 0) -> None:
        try:
            import ray
        except ImportError as error:
            raise missing("ray") from error
        whole("gpus", gpus, 0)
        address = os.environ.get("RAY_ADDRESS", "auto")
        try:
            if address not in ("auto", "local"):  # Ray would try a wrong one for minutes
                host, _, port = address.rpartition("//")[2].rpartition(":")
                socket.create_connection((host, int(port)), timeout=10).close()
            handed = {PROJECT: str(project().root)}
            if VARIABLE in os.environ:
                handed[VARIABLE] = os.environ[VARIABLE]
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": handed},
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise LabError(
                f"no Ray cluster answers at RAY_ADDRESS={address} ({str(error).splitlines()[0]}):"
                " set it to the address of one, or start one here with ray start --head"
            ) from error
        self._ray = ray
        self._running: set[Any] = set()  # references to the tasks that have not finished
        resources = ray.cluster_resources()
        cores = resources.get("CPU", 0)
        cluster_gpus = resources.get("GPU", 0)
        self.slots = int(min(cores, cluster_gpus / gpus) if gpus else cores)
        if not self.slots:
            self.__exit__()
            raise LabError(
                f"the Ray cluster has {cores:g} cores and {cluster_gpus:g} GPUs, and a run needs 1"
                f" and {gpus}: ask for fewer, or add nodes"
            )
        self.slots = jobs or self.slots
        self._task = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=3)(_run)

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *_: Any) -> None:
        self._ray.shutdown()

    def run(self, words: list[str], log: str) -> str:
        """As `lab.runs.processes.Worker.run`, on one of the nodes; returns when the run ends."""
        task = self._task.remote(words, log)
        self._running.add(task)
        try:
            return self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            return f"Ray: {str(error).splitlines()[0]}"
        finally:
            self._running.discard(task)

    def terminate(self) -> None:
        self.cancel()

    def cancel(self) -> None:
        """Stop all running tasks; a later sweep resumes their runs."""
        for task in tuple(self._running):
            self._ray.cancel(task)


def _run(words: list[str], log: str) -> str:
    worker = Worker()
    try:
        return worker.run(words, log)
    finally:
        worker.close()
