"""Notebooks as runs: strict parameters, executed by papermill into a run folder."""

from __future__ import annotations

import ast
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from lab.configurations import Config
from lab.errors import LabError
from lab.project import CHECKOUT, VARIABLE, project
from lab.runs.experiments import NOTEBOOKS, Experiment, experiment
from lab.runs.readiness import say_ready
from lab.runs.run_folder import Run
from lab.training.termination import Terminated, on_sigterm

if TYPE_CHECKING:
    from jupyter_client.channels import AsyncZMQSocketChannel

KERNEL = "python3"
# jsonschema, which nbformat and papermill import, would build a grammar of web addresses: 2.8 of
# the 4.1 seconds that papermill's import takes. It does without where the import fails.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def run_notebook(config: Config) -> Run:
    """Execute an experiment's notebook into its run folder; a finished run is not repeated.

    At a GPU scale the machine is checked first (`lab.runs.readiness`). SIGTERM is passed on to the
    kernel, and then `Terminated` is raised (`lab.training.termination`).
    """
    import nbformat

    chosen = experiment(config.name)
    check_notebook(chosen)
    cells = nbformat.read(chosen.notebook, as_version=4).cells
    if (elsewhere := _where_it_runs(chosen)) and any("runs.results" in c.source for c in cells):
        raise LabError(f"{chosen.notebook.name} reads recorded runs, which are not here{elsewhere}")
    run = Run.of(config)
    if not run.finished:
        say_ready(chosen, config)
    run = run.open(config)
    with run.lock("run"):
        if not run.finished:
            began = time.monotonic()
            if not chosen.trainer:  # else its kernel says so, which knows the checkpoint
                run.begin_session(-1)
            _execute(chosen, run, config)
            run.finish(time.monotonic() - began)
    return run


def _execute(chosen: Experiment, run: Run, config: Config) -> None:
    import papermill
    import psutil
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    # The kernel of this interpreter, even if another one is registered under the same name.
    os.environ["JUPYTER_PATH"] = str(Path(sys.prefix) / "share" / "jupyter")
    # The kernel reads all settings in the folder; here they are for the reader. Inserted before
    # the execution, because papermill would warn of those that the parameters cell does not name.
    inserted = {"scale": config.scale, "folder": str(run.path.resolve()), **chosen.changed(config)}
    notebook = parameterize_notebook(load_notebook_node(str(chosen.notebook)), inserted)
    asked = False  # to stop, by SIGTERM

    def stop() -> None:
        """Pass SIGTERM on to the kernel, which is in a session of its own and would not get it.

        One that trains stops after the current step, and its cell fails with `Terminated`.
        """
        nonlocal asked
        asked = True
        for process in psutil.Process().children():
            process.terminate()

    def begin(cell: Any, cell_index: int) -> None:
        if asked:  # while the kernel was started
            stop()

    def check(cause: BaseException | None = None) -> None:
        if asked:
            raise Terminated("stopped by SIGTERM; the same command goes on from here") from cause

    handed_on = {VARIABLE: str(project().root)}  # the kernel's folder is another
    with on_sigterm(stop), mock.patch.dict(os.environ, handed_on):
        try:
            executed = papermill.execute_notebook(
                notebook,
                run.path / "notebook.ipynb",
                kernel_name=KERNEL,
                cwd=chosen.notebook.parent,  # a lesson has files beside it
                kernel_manager_class=_kernel_manager(),
                progress_bar={"desc": config.name, "disable": None, "leave": False},
                on_cell_start=begin,
                # A kernel warns that its connection is not encrypted. It is one of this machine
                # with itself, and the warning would end up among the lines of progress.
                extra_arguments=["--IPKernelApp.log_level=ERROR"],
            )
        except PapermillExecutionError as error:
            if error.ename == Terminated.__name__:
                raise Terminated(error.evalue) from error
            check(error)
            raise LabError(
                f"cell {error.exec_count} of {chosen.notebook.name} failed: {error.ename}:"
                f" {error.evalue}; see {run.path / 'notebook.ipynb'}{_where_it_runs(chosen)}"
            ) from error
        except DeadKernelError as error:
            check(error)
            raise LabError(
                f"the kernel of {chosen.notebook.name} died, often because memory ran out; see "
                f"{run.path / 'notebook.ipynb'}, and run it again to continue"
            ) from error
        except Exception as error:
            check(error)  # SIGTERM may have come while the kernel started
            raise
        check()
    for cell in executed.cells:  # papermill ends there, and calls the notebook executed
        if any(output.get("ename") == "SystemExit" for output in cell.get("outputs", ())):
            raise LabError(
                f"cell {cell.execution_count} of {chosen.notebook.name} called sys.exit, so the"
                f" cells after it did not run; see {run.path / 'notebook.ipynb'}"
            )


def _where_it_runs(chosen: Experiment) -> str:
    """What to do where a lesson of the lab lacks what is recorded in the lab's checkout."""
    if chosen.notebook.parent != NOTEBOOKS or project().root == CHECKOUT:
        return ""
    here = f", or here: lab train {chosen.name}" if chosen.trainer else ""
    return f": run this lesson in a clone of the lab{here}"


def _kernel_manager() -> type:
    """A kernel manager for nbclient whose client misses no reply (`answering_channel`)."""
    from jupyter_client import AsyncKernelManager
    from jupyter_client.asynchronous import AsyncKernelClient

    class Client(AsyncKernelClient):
        shell_channel_class = answering_channel()

    class Manager(AsyncKernelManager):
        client_factory = Client

    return Manager


def answering_channel() -> type[AsyncZMQSocketChannel]:
    """The channel of requests to a kernel and its replies; a request cannot hide a reply.

    jupyter_client sends past the asyncio side of its socket, which takes with it the one signal
    that a reply has come. nbclient waits for the reply to a cell while it tells the kernel what
    an Output widget shows, as one of `ipywidgets.interact` does: the cell is never seen to end.
    """
    import zmq
    from jupyter_client.channels import AsyncZMQSocketChannel

    class Channel(AsyncZMQSocketChannel):
        def send(self, message: dict[str, Any]) -> None:
            super().send(message)
            self.socket.get(zmq.EVENTS)  # pyzmq looks for what has come, and wakes who waits for it

    return Channel


def check_notebook(chosen: Experiment) -> None:
    """Refuse a notebook whose parameters have no effect.

    A cell tagged "parameters" holds `scale`, `folder` and some of the settings. Another makes the
    configuration of them (`lab.runs.configure` refuses what is no parameter), and the others read
    that.
    """
    import nbformat

    notebook = chosen.notebook.name
    if not chosen.notebook.exists():
        raise LabError(
            f"{chosen.notebook} is missing: run from a clone of the project, which holds the"
            f" notebooks, or without one: lab train {chosen.name}"
        )
    try:
        every = nbformat.read(chosen.notebook, as_version=4).cells
    except nbformat.reader.NotJSONError as error:
        raise LabError(f"{notebook} is not a notebook: {str(error).splitlines()[0]}") from error
    cells = [cell for cell in every if cell.cell_type == "code"]
    tagged = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise LabError(f"{notebook} has {len(tagged)} cells tagged 'parameters': tag exactly one")
    code = "\n".join(cell.source for cell in cells if cell is not tagged[0])
    # Magics and shell commands are not Python.
    lines = [line for line in code.splitlines() if not line.lstrip().startswith(("%", "!"))]
    try:
        nodes = [*ast.walk(ast.parse("\n".join(lines)))]
    except SyntaxError as error:
        place = (error.text or "").strip()
        raise LabError(f"{notebook}: {error.msg} in {place!r}: fix the cell") from error
    call = f"runs.configure('{chosen.name}', globals())"
    if not any(isinstance(node, ast.Call) and ast.unparse(node) == call for node in nodes):
        raise LabError(
            f"{notebook}: no cell has config = {call}: without it the parameters have no effect"
        )
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if used := sorted(names & chosen.rules.keys()):
        raise LabError(
            f"{notebook}: a cell uses the variable {used[0]}, a parameter's name: read"
            f" config.{used[0]}, or choose another name"
        )
    read = names & {"folder"} | {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "config"
    }
    # A trainer reads its settings itself; config.settings() is all of them.
    for key in ["folder"] if chosen.trainer else chosen.rules:
        if key not in read and "settings" not in read:
            raise LabError(f"{notebook}: no cell reads the parameter {key}: use it, or remove it")
