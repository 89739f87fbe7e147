"""The command line `lab`. Every refusal is one sentence on standard error and exit code 1.

Commands import what they need when they run, so that `lab --help` and `lab explain` load neither
torch nor matplotlib.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.errors import LabError, one_of, real, unknown, whole
from lab.extras import EXTRAS, missing
from lab.plugins import hand_on
from lab.project import CHECKOUT, project
from lab.training.termination import EXIT_CODE, Terminated

if TYPE_CHECKING:
    from lab.configurations import Config
    from lab.llm.data.datasets import ProblemSet
    from lab.runs.run_folder import Run

# They change how a run is made, but not what it computes.
SETTINGS_OF_RUNS = ("checkpoint_minutes", "price", "max_hours")
SETTINGS = (
    "parameters, and settings of the run: scale=smoke|laptop|gpu24|h100|h200|paper, "
    "device=cpu|cuda, "
    "checkpoint_minutes=15, price=3.5 (per hour), max_hours=168"
)


def main(argv: list[str] | None = None) -> int:
    """Run the command in `argv` (default: that of this process) and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # letters that a terminal lacks end no command
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = PARSER.parse_args(argv)
    if arguments.runs:
        os.environ["LAB_RUNS"] = str(arguments.runs.resolve())
    try:
        hand_on(*arguments.plugin)
        exit_code: int | None = arguments.do(arguments)
        if sys.stdout:
            sys.stdout.flush()  # what a full disk or a reader that left refuses, it refuses here
    except LabError as error:
        return _refuse(error)
    except ModuleNotFoundError as error:
        # A package of an extra that is not installed; another module is a fault of the lab.
        if error.name not in EXTRAS:
            raise
        return _refuse(missing(error.name))
    except BrokenPipeError:
        # The reader, such as `head`, has what it wanted.
        _drop_output()
        return 0
    except OSError as error:
        # A path that was given, or a full disk; without either it is a fault of the program.
        if error.filename is not None:
            return _refuse(
                LabError(f"{error.filename}: {error.strerror}: give another path, or mend this one")
            )
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _drop_output()
        return _refuse(LabError(f"the output cannot be written ({error.strerror}): make room"))
    except KeyboardInterrupt:
        print("lab: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except Terminated as stop:
        # Processes that do not lead a distributed training stop without a sentence.
        if str(stop):
            print("lab:", stop, file=sys.stderr)
        return EXIT_CODE
    return exit_code or 0


def _drop_output() -> None:
    """Standard output takes no more; Python would complain of what is left of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(error: LabError) -> int:
    print("lab:", " ".join(str(error).splitlines()), file=sys.stderr)
    return 1


# --- The parser -------------------------------------------------------------------------------

Do = Callable[[argparse.Namespace], "int | None"]
Argument = tuple[tuple[str, ...], dict[str, Any]]  # names and options, as argparse takes them

PARSER = argparse.ArgumentParser(
    prog="lab",
    description=(
        "Objectives for reinforcement learning from verifiable rewards: explore, run, publish."
    ),
)
PARSER.add_argument(
    "--runs",
    type=Path,
    metavar="DIR",
    help="folder that holds the runs (default: runs/ in the project)",
)
PARSER.add_argument(
    "--plugin",
    action="append",
    default=[],
    metavar="FILE",
    help="a plugin of yours: a Python file, a module or a preset (may be repeated)",
)
COMMANDS = PARSER.add_subparsers(required=True, metavar="COMMAND")


def verb(help: str, *arguments: Argument) -> Callable[[Do], Do]:
    """Makes the function `_NAME` the command NAME, in the order of `lab --help`."""

    def add(function: Do) -> Do:
        name = function.__name__.removeprefix("_")
        command = COMMANDS.add_parser(name, help=help, description=help)
        command.set_defaults(do=function)
        for names, options in arguments:
            command.add_argument(*names, **options)
        return function

    return add


def option(*names: str, **options: Any) -> Argument:
    """An argument, with the options of `ArgumentParser.add_argument`."""
    return names, options


def path_to(*names: str, **options: Any) -> Argument:
    return names, {"type": Path, **options}


def flag(*names: str, **options: Any) -> Argument:
    return names, {"action": "store_true", **options}


def key_values(help: str) -> Argument:
    """Further words key=value."""
    return ("values",), {"nargs": "*", "metavar": "key=value", "help": help}


# --- Experiments and sweeps -------------------------------------------------------------------


def _read_request(name: str, assignments: list[str]) -> tuple[Config, dict[str, Any]]:
    """The configuration of a run, and the settings that do not change what it computes.

    `device=` is written to the environment, so that it also holds for processes started from here.
    """
    from lab.runs.experiments import experiment, read_assignments

    parameters = read_assignments(assignments)
    scale = str(parameters.pop("scale", "laptop"))
    if "device" in parameters:
        device = one_of("device", parameters.pop("device"), ("auto", "cpu", "cuda"))
        os.environ["LAB_DEVICE"] = device
    given = [key for key in SETTINGS_OF_RUNS if key in parameters]
    settings = {key: real(key, parameters.pop(key), 0) for key in given}
    return experiment(name).configure(scale, parameters), settings


def _announce(arguments: argparse.Namespace) -> tuple[Config, dict[str, Any]] | None:
    """As `_read_request`, the header of the run printed; None if only words were asked for."""
    from lab.runs.experiments import experiment, experiments

    if arguments.name is None:
        for name in experiments():
            print(f"{name:10} {experiment(name).title}")
        return None
    config, settings = _read_request(arguments.name, arguments.values)
    chosen = experiment(arguments.name)
    if arguments.show:
        print(f"{chosen.name}: {chosen.title}")
        print(f"scales: {', '.join(chosen.scales)}; here {config.scale}\n")
        for key, value in config.settings().items():
            print(f"  {key + ' = ' + repr(value):28} {chosen.rules[key].help}")
        return None
    print(chosen.header(config), flush=True)
    return config, settings


RUN = (
    option("name", help="the experiment; without it, list them all", nargs="?"),
    key_values(SETTINGS),
    flag("--show", help="print the parameters and their meaning, and run nothing"),
)


@verb(
    "make a project of your own: a repository in which every command works",
    path_to("folder", help="a new folder; its name is the project's", metavar="NAME"),
)
def _init(arguments: argparse.Namespace) -> None:
    from lab.runs.new_project import init

    print(*init(arguments.folder), sep="\n")
    print(f"next: cd {arguments.folder}, git init, commit, and what its README.md says")


@verb("execute the notebook of an experiment into its run folder", *RUN)
def _run(arguments: argparse.Namespace) -> None:
    if request := _announce(arguments):
        from lab.runs.notebooks import run_notebook
        from lab.runs.run_folder import Run

        config, settings = request
        before = Run.of(config).finished
        _print_outcome(arguments, run_notebook(config, **settings), before)


@verb(
    "train the same experiment without Jupyter into the same folder",
    *RUN,
    option(
        "--view",
        help="log the records to this tool as well",
        choices=["tensorboard", "wandb"],
        default="",
    ),
)
def _train(arguments: argparse.Namespace) -> None:
    if request := _announce(arguments):
        from lab.runs.run_folder import Run
        from lab.runs.training import leads, train

        config, settings = request
        before = Run.of(config).finished
        run = train(config, view=arguments.view, **settings)
        if leads():
            _print_outcome(arguments, run, before)


def _print_outcome(arguments: argparse.Namespace, run: Run, before: bool) -> None:
    """Print the last record; `before`: the run had finished before this command."""
    from lab.runs.remarks import learned_nothing

    if before:
        print("already finished, nothing trained; its last record:")
    for key, value in run.done["last"].items():
        print(f"  {key}: {value:.6g}")
    print(f"finished in {run.done['seconds']} s: {run.path}")
    if warning := learned_nothing(run.records()):
        print(f"lab: {warning}", file=sys.stderr)
    _name_reports(arguments, run.path, [run])


def _name_reports(arguments: argparse.Namespace, source: Path, runs: list[Run]) -> None:
    """Say how to write the report on `source`, one for each experiment that trained, and where.

    `source` is a sweep file or the folder of the only run.
    """
    from lab.runs.experiments import experiment
    from lab.runs.report_page import can_report, natural_metric, page_of

    trained = {run.params["experiment"]: run for run in runs} if can_report() else {}
    trained = {name: run for name, run in trained.items() if experiment(name).trainer}
    before = ["--runs", str(arguments.runs)] if arguments.runs else []
    before += [word for plugin in arguments.plugin for word in ("--plugin", plugin)]
    for name, run in trained.items():
        given = {"experiment": name if len(trained) > 1 else "", "metric": natural_metric(run)}
        words = ["lab", *before, "report", _from_here(source)]
        for key, value in given.items():
            words += [f"--{key}", value] if value not in ("", "pass@1") else []
        print(f"report: {shlex.join(words)}\n  writes {_from_here(page_of([source], given))}")


def _from_here(path: Path) -> str:
    """A path as one would type it: relative if it is in the working directory."""
    path = path.resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


@verb(
    "check whether this machine can finish a run and what it will cost, without training",
    option("name", help="the experiment"),
    key_values(SETTINGS),
)
def _preflight(arguments: argparse.Namespace) -> int:
    from lab.runs.experiments import experiment
    from lab.runs.readiness import readiness

    config, settings = _read_request(arguments.name, arguments.values)
    findings, paragraph = readiness(experiment(arguments.name), config, **settings)
    for subject, fault, remark in findings:
        print(f"{'FAULT' if fault else 'ok   '} {subject}: {fault or remark}")
    if paragraph:
        print(paragraph)
    return 1 if any(finding.fault for finding in findings) else 0


@verb(
    "run every preset for a few steps on this machine's GPU and record time and memory",
    option("--only", help="only the parts whose names contain TEXT", default="", metavar="TEXT"),
    path_to("--out", help="folder of the results (default: data/results/gpu)", metavar="DIR"),
)
def _rehearse(arguments: argparse.Namespace) -> int:
    from lab.runs.rehearsal import fill_readme, rehearse

    measured = rehearse(arguments.out, arguments.only)
    fill_readme()
    failed = {name: part["failed"] for name, part in measured["parts"].items() if "failed" in part}
    for name, reason in failed.items():
        print(f"failed: {name}: {reason}", file=sys.stderr)
    return 1 if failed else 0


@verb(
    "do every run of a TOML file that is not finished",
    path_to("file", help="a sweep file, such as sweeps/laptop.toml"),
    option(
        "--jobs",
        help="number of runs at the same time (default: one per GPU, without a GPU one per core, "
        "or as many as fit on the Ray cluster); with more jobs than GPUs, runs share GPUs",
        type=int,
    ),
    key_values(
        "executor=ray: run on an existing Ray cluster (RAY_ADDRESS) whose nodes see this "
        "folder; gpus=1: GPUs per run on that cluster"
    ),
    flag("--fail-fast", help="start no further runs after a failure"),
    flag("--train", help="use lab train instead of lab run, without Jupyter"),
)
def _sweep(arguments: argparse.Namespace) -> int:
    from lab.runs.experiments import read_assignments
    from lab.runs.sweep import sweep, visible_gpus
    from lab.runs.sweep_file import claims, rates, read_sweep

    if claims(arguments.file):
        from lab.papers.claims import claims_of_sweep  # imports Matplotlib

        claims_of_sweep(arguments.file)  # one that nobody could test is refused before it runs
    if arguments.jobs is not None and arguments.jobs < 1:
        raise LabError(f"--jobs {arguments.jobs}: at least one process is needed")
    keep_going = not arguments.fail_fast
    verb = "train" if arguments.train else "run"
    settings = {"executor": "local", "gpus": 0} | read_assignments(arguments.values)
    for key in settings.keys() - {"executor", "gpus"}:
        raise unknown("setting of a sweep", key, ["executor", "gpus"])
    gpus = whole("gpus", settings["gpus"], 0)
    if one_of("executor", settings["executor"], ("local", "ray")) == "ray":
        from lab.runs.ray_executor import RayExecutor

        read_sweep(arguments.file)  # a faulty file is refused before the cluster is contacted
        with RayExecutor(gpus) as executor:
            jobs = arguments.jobs or executor.slots
            outcome = sweep(arguments.file, jobs, keep_going, verb, executor)
    elif gpus:
        raise LabError(
            f"gpus = {gpus}: only Ray assigns GPUs to runs; add executor=ray, or leave gpus out"
        )
    else:
        visible = visible_gpus()
        jobs = arguments.jobs or len(visible) or os.cpu_count() or 1
        outcome = sweep(arguments.file, jobs, keep_going, verb, gpus=visible)
    print(
        f"{len(outcome.before)} finished before, {len(outcome.now)} now, "
        f"{len(outcome.failed)} failed"
    )
    for run, reason in outcome.failed:
        print(f"failed: {run.path / 'log.txt'}: {reason}", file=sys.stderr)
    for choice in rates(arguments.file):
        if not choice.missing:
            print(choice)
    done = outcome.before + outcome.now
    finished = [item.run for item in read_sweep(arguments.file) if item.run in done]
    _print_remarks(finished)
    if not outcome.failed:
        _name_reports(arguments, arguments.file, finished)
    return 1 if outcome.failed else 0


def _print_remarks(runs: list[Run]) -> None:
    """Say which of these runs learned nothing, and where the best learning rate is at an end."""
    from lab.runs.remarks import remarks
    from lab.runs.report_page import natural_metric
    from lab.runs.sweep_results import results_of_runs

    of_experiment: dict[str, list[Run]] = {}
    for run in runs:
        if run.records():  # a notebook that trains nothing has none
            of_experiment.setdefault(run.params["experiment"], []).append(run)
    for name, trained in of_experiment.items():
        for remark in remarks(results_of_runs(trained), natural_metric(trained[0])):
            print(f"lab: {name}: {remark}", file=sys.stderr)


@verb(
    "write a language model's preset for verl: command, configuration, Slurm and Ray scripts",
    option("name", help="the experiment"),
    key_values("parameters (estimator=ppo is possible too), and nodes=1 gpus=8 scale=paper"),
    flag("--dry", help="print verl's command and write nothing"),
)
def _cluster(arguments: argparse.Namespace) -> None:
    from lab.llm.train import verl_config
    from lab.runs.cluster import job, prepare
    from lab.runs.experiments import read_assignments

    cluster_job = job(arguments.name, read_assignments(arguments.values))
    if arguments.dry:
        if verl_config.installed():
            verl_config.compose(cluster_job.settings)
        else:
            print(f"not checked: {verl_config.INSTALL}", file=sys.stderr)
        print(cluster_job.command)
        return
    print(*cluster_job.header, sep="\n")
    print(prepare(cluster_job).path)


# --- Results ----------------------------------------------------------------------------------


@verb(
    "copy the results of a finished sweep to data/results",
    path_to("file", help="the sweep file"),
    flag(
        "--check",
        help="write nothing: compare the runs with the recorded ones, and exit with 1 if they "
        "differ by more than rounding explains",
    ),
)
def _record(arguments: argparse.Namespace) -> int:
    if not arguments.check:
        from lab.runs.sweep_file import claims
        from lab.runs.sweep_results import claims_file, record

        if claims(arguments.file) or claims_file(arguments.file).exists():
            from lab.papers.claims import record_with_claims, verdict_lines  # imports Matplotlib

            print(*record_with_claims(arguments.file), *verdict_lines(arguments.file), sep="\n")
        else:
            print(*record(arguments.file), sep="\n")
        return 0
    from lab.runs.reproduction import repetitions
    from lab.runs.sweep_file import claims

    if claims(arguments.file):
        from lab.papers.claims import claims_of_sweep

        claims_of_sweep(arguments.file)  # refuses claims that were changed
    repeated = repetitions(arguments.file)
    for repetition in repeated:
        print(*repetition.lines(), sep="\n")
    if all(repetition.agrees for repetition in repeated):
        print("the runs agree with the recorded ones")
        return 0
    print("the runs do not agree with the recorded ones", file=sys.stderr)
    return 1


@verb(
    "draw figures from theory and recorded runs into figures/out",
    option(
        "names",
        help="names of figures (default: all, with the papers' tables and pages)",
        nargs="*",
    ),
    option("--style", help="figure widths of icml (default) or neurips", default="icml"),
    flag(
        "--own",
        help="draw your own finished runs, not the recorded ones, into the folder figures of runs",
    ),
)
def _figures(arguments: argparse.Namespace) -> int:
    from lab.show.figure_files import draw_figures

    failed = draw_figures(arguments.names, arguments.style, arguments.own)
    for name, reason in failed.items():
        print(f"lab: figure {name} not drawn: {reason}", file=sys.stderr)
    if not (arguments.names or arguments.own) and arguments.style == "icml":
        from lab.papers import pages
        from lab.papers.registry import REGISTRY

        if REGISTRY.parent == project().figures:
            print(*pages.write(), sep="\n")
    return 1 if failed else 0


@verb(
    "write a page on finished runs: curves, table, paired comparison, provenance",
    path_to("sources", help="a sweep file, or folders of finished runs", nargs="+", metavar="RUNS"),
    option("--experiment", help="experiment, if the sweep file trains several", default=""),
    option("--metric", help="metric to plot and tabulate (default: pass@1)", default="pass@1"),
    option("--by", help="parameters that distinguish settings", default="", metavar="'KEY ...'"),
    option(
        "--against", help="setting that the others are compared with", default="", metavar="SETTING"
    ),
    path_to(
        "--out",
        help="file to write (default: report.html in the page's run folder)",
        metavar="FILE",
    ),
)
def _report(arguments: argparse.Namespace) -> None:
    from lab.papers.claims import verdict_lines
    from lab.runs.sweep_file import read_sweep
    from lab.show.report import report

    options = {key: getattr(arguments, key) for key in ("experiment", "metric", "by", "against")}
    sweeps = [path for path in arguments.sources if path.suffix == ".toml" and path.exists()]
    verdicts: list[str] = []
    for path in sweeps:
        read_sweep(path)  # refuses what is no sweep
        try:
            verdicts += verdict_lines(path)
        except LabError as error:  # the page may be about other runs of the file
            print(f"lab: no verdicts on the claims of {path.name}: {error}", file=sys.stderr)
    print(*verdicts, sep="\n", end="\n" if verdicts else "")
    print(report(arguments.sources, arguments.out, verdicts, **options))


@verb(
    "execute the notebooks that are committed with outputs, and write these into them",
    option("names", help="experiments (default: those whose notebooks have outputs)", nargs="*"),
    flag(
        "--index",
        help="only write notebooks/README.md, the list of all notebooks that make lab opens",
    ),
)
def _lessons(arguments: argparse.Namespace) -> None:
    from lab.runs import ladder
    from lab.runs.experiments import NOTEBOOKS, experiment
    from lab.runs.lessons import lessons, write_lesson

    ours = [name for name in arguments.names if experiment(name).notebook.parent == NOTEBOOKS]
    if (ours or not arguments.names) and project().root != CHECKOUT:
        raise LabError(
            f"{ours[0] if ours else 'the list of lessons'} is of the lab itself: name a lesson of"
            " this project, or run this in a clone of the lab"
        )
    if arguments.index and arguments.names:
        raise LabError("--index lists every notebook: leave the names out")
    written = []
    for name in [] if arguments.index else arguments.names or lessons():
        written.append(write_lesson(name))
        print(written[-1])
    # The list is of the project's own notebooks: one of a plugin leaves it as it is.
    if arguments.index or any(path.parent == ladder.PAGE.parent for path in written):
        for path in ladder.write():
            print(path)


@verb(
    "check the environment, data, presets and notebooks",
    flag(
        "--runs",
        help="verify instead what all run folders hold: records, groups, checkpoints, digests",
        dest="stored",
    ),
)
def _check(arguments: argparse.Namespace) -> int:
    from lab.runs.checks import check_runs, checks

    faults = 0
    for subject, fault in check_runs() if arguments.stored else checks():
        if fault:
            faults += 1
            print(f"FAULT {subject}: {fault}", flush=True)
        else:
            print(f"ok    {subject}", flush=True)
    print(f"{faults} faults" if faults else "all is well")
    return 1 if faults else 0


# --- Language models --------------------------------------------------------------------------


@verb(
    "sample a language model on problem sets, score the completions, print a table",
    option("model", help="a folder, a name on the hub, or RUN or RUN@STEP of a training"),
    option(
        "sets",
        help="problem sets (lab data check), arithmetic(level=2), or a file; and settings: n=128 "
        "temperature=0.6 top_p=0.95 engine=vllm reward=mine.py:score ...; of a run, what is not "
        "given is as in its training",
        nargs="*",
        metavar="SET|key=value",
    ),
)
def _eval(arguments: argparse.Namespace) -> None:
    from lab.runs.experiments import read_assignments
    from lab.runs.former_names import in_present_names
    from lab.runs.model_evaluation import Request, evaluate

    # arithmetic(level=2) is a problem set though it holds an equals sign.
    sets = [text for text in arguments.sets if "=" not in text or "(" in text]
    assignments = [text for text in arguments.sets if text not in sets]
    known = {each.name for each in fields(Request)}
    settings = in_present_names(read_assignments(assignments), known)
    for key in settings.keys() - known:
        raise unknown("setting of an evaluation", key, known)
    evaluate(arguments.model, sets, **settings)


@verb(
    "write a trained model as a folder for transformers, vLLM, lab eval and other tools",
    path_to("run", help="a run folder of gsm8k, qwen3, pacs or maze"),
    path_to("folder", help="folder to write"),
    flag("--merge", help="add a trained adapter to the model's weights"),
)
def _export(arguments: argparse.Namespace) -> None:
    from lab.runs.experiments import experiment
    from lab.runs.run_folder import Run
    from lab.runs.training import state_of
    from lab.show.model_card import write_card

    run = Run(arguments.run)
    chosen = experiment(run.params["experiment"])
    write = getattr(chosen.module, "export", None)
    if write is None:
        raise LabError(
            f"{run.path}: {chosen.name} has no model to write: give a run of gsm8k, qwen3, pacs or"
            " maze"
        )
    write(run.params["parameters"], state_of(run), arguments.folder, arguments.merge)
    write_card(run, arguments.folder)
    print(f"{arguments.folder}: the model after the training in {run.path}")


@verb(
    "compare two evaluations on the same problems: paired differences and samples saved",
    path_to("base", help="a folder that lab eval printed"),
    path_to("ours", help="another such folder: same problem set, same sampling settings"),
)
def _compare(arguments: argparse.Namespace) -> None:
    from lab.runs.model_evaluation import comparison

    print(comparison(arguments.base, arguments.ours))


@verb(
    "list the problem sets available without the network",
    option("what", choices=["check"]),
    option("folder", help="an offline folder of problem sets", nargs="?", default=""),
    flag(
        "--judge",
        help="also put ten spellings and ten near misses of every gold answer to the verifier",
    ),
)
def _data(arguments: argparse.Namespace) -> None:
    from lab.llm.data.datasets import describe_datasets

    print(*describe_datasets(arguments.folder, _contract if arguments.judge else None), sep="\n")


def _contract(loaded: ProblemSet) -> list[str]:
    """How far the verifier keeps its contract over the gold answers of a set."""
    from lab.judge.contract import check_contract
    from lab.judge.verifier import Verifier

    with Verifier(error_limit=1.0) as verifier:
        return check_contract([problem.answer for problem in loaded.problems], verifier).lines()


@verb(
    "judge stored answers a second time, independently, and list the disagreements",
    option("what", choices=["audit"]),
    path_to("file", help="a table with the columns response and gold"),
    option(
        "--style",
        help="how the answer is extracted",
        choices=["strict", "lenient"],
        default="strict",
    ),
)
def _verify(arguments: argparse.Namespace) -> None:
    from lab.judge.agreement import compare_checkers_in_file

    lines, table = compare_checkers_in_file(arguments.file, arguments.style)
    print(*lines, sep="\n")
    if len(table):
        print(table.to_string(index=False))


# --- Objectives and estimators ----------------------------------------------------------------


@verb(
    "analyse a file of rollouts: pass rates without sampling noise, gradients, dead groups",
    path_to(
        "path", help="a run folder, or a file or folder of rollouts or counts, see docs/rollouts.md"
    ),
    option(
        "--estimators",
        "--objectives",
        help="estimators to compare (default: %(default)s)",
        nargs="+",
        default=["rloo", "grpo", "maxrl", "pacs_anchor"],
    ),
    option(
        "--rollouts",
        help="group size N used in the calculation (default: that of the file)",
        type=int,
        metavar="N",
    ),
    option("--problem", help="column that names the problem", metavar="COLUMN"),
    option("--reward", help="column of the reward", metavar="COLUMN"),
    option("--n", help="the rollouts that a count or a rate is of", type=int, metavar="N"),
    option(
        "--threshold",
        help="a rollout is right if its reward is at least X",
        type=float,
        metavar="X",
    ),
    option("--success", help="a rollout is right if its reward is VALUE", metavar="VALUE"),
    option(
        "--only",
        help="read only rows with that value, such as those of one policy",
        nargs="+",
        default=[],
        metavar="COLUMN=VALUE",
    ),
    option(
        "--within",
        help="problems that differ in that column are different ones",
        nargs="+",
        default=[],
        metavar="COLUMN",
    ),
    option(
        "--pooled",
        help="rollouts of a problem that differ in that column are alike",
        nargs="+",
        default=[],
        metavar="COLUMN",
    ),
    flag(
        "--follow",
        help="of a run that trains: a line for each step, and the audit at its end or Ctrl-C",
    ),
    path_to("--picture", help="also draw a figure (pdf or png)", metavar="FILE"),
    path_to("--json", help="also write what was read and found to FILE", metavar="FILE"),
)
def _audit(arguments: argparse.Namespace) -> None:
    from lab.rollouts.counting import Choice
    from lab.show.audit import audit, draw
    from lab.show.following import follow

    if arguments.picture and arguments.picture.suffix not in (".pdf", ".png"):
        raise LabError(f"--picture {arguments.picture}: its name must end in .pdf or .png")
    choice = Choice(**{each.name: getattr(arguments, each.name) for each in fields(Choice)})
    if arguments.follow:
        with suppress(KeyboardInterrupt):  # after Ctrl-C comes the audit of what is there
            follow(arguments.path, partial(print, flush=True))
    report = audit(arguments.path, tuple(arguments.estimators), arguments.rollouts, choice)
    print(*report.lines(), sep="\n")
    if arguments.json:
        arguments.json.write_text(report.json(), encoding="utf-8")
        print(arguments.json)
    if arguments.picture:
        draw(report).savefig(arguments.picture)
        print(arguments.picture)


@verb(
    "open the explorer of weights w(p) in the browser: one page, no network",
    key_values("what it shows first: N=64 panel=toy ..."),
    path_to("--html", help="write the page to FILE and open no browser", metavar="FILE"),
)
def _explore(arguments: argparse.Namespace) -> None:
    import webbrowser

    from lab.explorer import page
    from lab.runs.experiments import read_assignments
    from lab.runs.run_folder import runs_root

    state = read_assignments(arguments.values)
    address = page.write(arguments.html or runs_root() / "explorer.html", state)
    print(address)
    if not arguments.html and not webbrowser.open(address):
        print("found no browser: open this address in one")


@verb(
    "explain one estimator, objective or recipe on one screen",
    option("name", help="for example maxrl, 'truncated(order=8)', or 'maxrl, N=16, gate=drop'"),
    option("--rollouts", help="group size (default: 16)", type=int, default=16, metavar="N"),
)
def _explain(arguments: argparse.Namespace) -> None:
    from lab.show.explain import explain

    print(explain(arguments.name, arguments.rollouts))
