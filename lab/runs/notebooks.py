"""Notebooks as runs: strict parameters, executed by papermill into a run folder. Floor 3."""

from __future__ import annotations

import ast
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from lab.errors import LabError, unknown
from lab.runs.experiments import Experiment, experiment
from lab.runs.readiness import LONGEST_HOURS, require_ready
from lab.runs.run_folder import Run
from lab.runs.training import MINUTES
from lab.termination import Terminated, on_sigterm

KERNEL = "python3"


def run_notebook(
    name: str,
    scale: str = "laptop",
    given: dict[str, Any] | None = None,
    *,
    price: float = 0.0,
    max_hours: float = LONGEST_HOURS,
    checkpoint_minutes: float | None = None,
) -> Run:
    """Execute the notebook of an experiment into its run folder; a finished run is not done again.

    At a GPU scale the machine is looked at first, with `price` and `max_hours`
    (`lab.runs.readiness`). `checkpoint_minutes`: as for `lab.runs.training.train`. SIGTERM is
    passed on to the kernel, and then `Terminated` is raised (`lab.termination`).
    """
    chosen = experiment(name)
    values = chosen.parameters(scale, given)
    check_notebook(chosen)
    run = Run.place(name, values)
    if not run.finished:
        estimate = require_ready(
            chosen,
            scale,
            values,
            price=price,
            max_hours=max_hours,
            checkpoint_minutes=checkpoint_minutes,
        )
        if estimate:
            print(estimate, flush=True)
    if checkpoint_minutes is not None:
        os.environ[MINUTES] = str(checkpoint_minutes)  # the kernel trains, and inherits it
    run = run.open(name, scale, values)
    with run.lock("run"):
        if not run.finished:
            began = time.monotonic()
            _execute(chosen, run, values)
            run.finish(time.monotonic() - began)
    return run


def _execute(chosen: Experiment, run: Run, values: dict[str, Any]) -> None:
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    # This interpreter's kernel, whatever others the machine has registered under the same name.
    os.environ["JUPYTER_PATH"] = str(Path(sys.prefix) / "share" / "jupyter")
    folder = {"folder": str(run.path.resolve())} if chosen.trainer else {}
    stop = _Stop()
    with on_sigterm(stop.ask):
        try:
            papermill.execute_notebook(
                chosen.notebook,
                run.path / "notebook.ipynb",
                parameters=values | folder,
                kernel_name=KERNEL,
                cwd=chosen.notebook.parent,
                kernel_manager_class=_manager(stop),
            )
        except PapermillExecutionError as error:
            if error.ename == Terminated.__name__:
                raise Terminated(error.evalue) from error
            stop.check(error)
            raise LabError(
                f"cell {error.exec_count} of {chosen.notebook.name} failed: {error.ename}:"
                f" {error.evalue}; see {run.path / 'notebook.ipynb'}"
            ) from error
        except DeadKernelError as error:
            stop.check(error)
            raise LabError(
                f"the kernel of {chosen.notebook.name} died, often for want of memory; see "
                f"{run.path / 'notebook.ipynb'}, and run it again to go on"
            ) from error
        except Exception as error:
            stop.check(error)  # as the kernel started, say
            raise
        stop.check()


class _Stop:
    """SIGTERM on its way to the kernel, which is in a session of its own and would not get it.

    In a training the kernel stops after the step under way, and its cell fails with `Terminated`.
    Elsewhere it ends at once. Either way the notebook is not whole and the run not finished.
    """

    def __init__(self) -> None:
        self.asked = False
        self.kernel: int | None = None  # its process id

    def ask(self) -> None:
        self.asked = True
        self.pass_on()

    def pass_on(self) -> None:
        """Tell the kernel, if there is one and this process was told."""
        if self.asked and self.kernel is not None:
            with suppress(ProcessLookupError):
                os.kill(self.kernel, signal.SIGTERM)

    def check(self, cause: BaseException | None = None) -> None:
        if self.asked:
            raise Terminated("stopped by SIGTERM; the same command goes on from here") from cause


def _manager(stop: _Stop) -> type:
    """nbclient's manager of kernels, one that lets `stop` know the process of its kernel."""
    from jupyter_client import AsyncKernelManager

    class Manager(AsyncKernelManager):
        async def _async_post_start_kernel(self, **options: Any) -> None:
            await super()._async_post_start_kernel(**options)
            stop.kernel = self.provisioner.pid
            stop.pass_on()  # if it came while the kernel started

    return Manager


def parameter_cell(path: Path) -> tuple[dict[str, Any], str]:
    """The plain `name = value` lines of the cell tagged "parameters", and the code of all other
    cells.
    """
    import nbformat

    try:
        cells = [
            cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"
        ]
    except nbformat.reader.NotJSONError as error:
        raise LabError(f"{path.name} is no notebook: {str(error).splitlines()[0]}") from error
    tagged = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise LabError(f"{path.name} has {len(tagged)} cells tagged 'parameters': tag exactly one")
    values = {}
    for statement in _parse(path, tagged[0].source).body:
        if not (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            raise LabError(
                f"{path.name}: {ast.unparse(statement)!r} in the parameters cell: write name ="
                " value"
            )
        key = statement.targets[0].id
        if key in values:
            raise LabError(f"{path.name}: {key} is given twice in the parameters cell: keep one")
        try:
            values[key] = ast.literal_eval(statement.value)
        except ValueError:
            raise LabError(
                f"{path.name}: {ast.unparse(statement)!r} is not a plain value: write a number, "
                "a text, a list or True or False"
            ) from None
    return values, "\n".join(cell.source for cell in cells if cell is not tagged[0])


def _parse(path: Path, code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except SyntaxError as error:
        raise LabError(
            f"{path.name}: {error.msg} in {(error.text or '').strip()!r}: mend the cell"
        ) from error


def check_notebook(chosen: Experiment) -> None:
    """Refuse a notebook whose parameters are not those of its preset, or that leaves one of them
    unread.
    """
    if not chosen.notebook.exists():
        raise LabError(
            f"{chosen.notebook} is missing: run from a clone of the project, which holds the"
            " notebooks"
        )
    cell, code = parameter_cell(chosen.notebook)
    usual = chosen.scales["laptop"] | ({"folder": ""} if chosen.trainer else {})
    for key in cell.keys() ^ usual.keys():
        raise unknown(
            f"parameter, in only one of {chosen.notebook.name} and its preset,", key, usual
        )
    for key, value in cell.items():
        if value != usual[key]:
            raise LabError(
                f"{chosen.notebook.name}: {key} = {value!r}, but the preset says {usual[key]!r}: "
                "make them equal"
            )
    lines = [line for line in code.splitlines() if not line.lstrip().startswith(("%", "!"))]
    read = {
        node.id
        for node in ast.walk(_parse(chosen.notebook, "\n".join(lines)))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for key in cell:
        if key not in read:
            raise LabError(
                f"{chosen.notebook.name}: no cell reads the parameter {key}: use it, or remove it"
            )
