"""The command `lab`. Floor 4. Every refusal is one sentence on standard error and exit code 1."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import LabError, one_of, real, unknown, whole
from lab.termination import EXIT_CODE, Terminated

REQUEST_HELP = (
    "how to run: scale=smoke|laptop|gpu24|h100|h200|paper, device=cpu|cuda, checkpoint_minutes=15, "
    "price=3.5 (of an hour), max_hours=168"
)


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.runs:
        os.environ["LAB_RUNS"] = str(arguments.runs.resolve())
    try:
        return arguments.do(arguments) or 0
    except LabError as error:
        print("lab:", " ".join(str(error).splitlines()), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except Terminated as stop:
        if str(stop):
            print("lab:", stop, file=sys.stderr)
        return EXIT_CODE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lab",
        description=(
            "Objectives for reinforcement learning from verifiable rewards: explore, run, publish."
        ),
    )
    parser.add_argument(
        "--runs",
        type=Path,
        metavar="DIR",
        help="where runs are kept (default: runs/ in the project)",
    )
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")

    def verb(name, function, help):
        sub = verbs.add_parser(name, help=help, description=help)
        sub.set_defaults(do=function)
        return sub

    for name, function, help in (
        ("run", _run, "execute an experiment's notebook into its run folder"),
        ("train", _train, "train the same experiment without Jupyter into the same folder"),
    ):
        sub = verb(name, function, help)
        sub.add_argument("name", nargs="?", help="the experiment; without it, all are listed")
        sub.add_argument(
            "values", nargs="*", metavar="key=value", help=f"parameters, and {REQUEST_HELP}"
        )
        sub.add_argument(
            "--show",
            action="store_true",
            help="print the parameters and their meaning, run nothing",
        )
        if name == "train":
            sub.add_argument(
                "--view",
                choices=["tensorboard", "wandb"],
                default="",
                help="show the records there too",
            )
    sub = verb(
        "preflight",
        _preflight,
        "can this machine finish this run, and what will it cost? Trains nothing",
    )
    sub.add_argument("name", help="the experiment")
    sub.add_argument(
        "values", nargs="*", metavar="key=value", help=f"parameters, and {REQUEST_HELP}"
    )
    sub = verb(
        "rehearse",
        _rehearse,
        "run every preset for a few steps on this machine's GPU and record what it takes",
    )
    sub.add_argument("--only", default="", metavar="TEXT", help="the parts whose names contain it")
    sub.add_argument(
        "--out", type=Path, metavar="DIR", help="where the file goes (default: data/results/gpu)"
    )
    sub = verb("sweep", _sweep, "run every run of a TOML file that is not finished")
    sub.add_argument("file", type=Path)
    sub.add_argument(
        "--jobs",
        type=int,
        help=(
            "runs at a time (default: one a GPU, without a GPU one a core, or what "
            "the Ray cluster holds); more than there are GPUs share them in turn"
        ),
    )
    sub.add_argument(
        "values",
        nargs="*",
        metavar="key=value",
        help=(
            "executor=ray: a Ray cluster that is there "
            "(RAY_ADDRESS) and sees this folder takes the runs; gpus=1: of each run on it"
        ),
    )
    sub.add_argument("--fail-fast", action="store_true", help="start nothing more after a failure")
    sub.add_argument(
        "--train", action="store_true", help="by lab train instead of lab run: no Jupyter"
    )
    sub = verb(
        "cluster",
        _cluster,
        "write a language model's preset for verl: command, configuration, Slurm and Ray",
    )
    sub.add_argument("name", help="the experiment")
    sub.add_argument(
        "values",
        nargs="*",
        metavar="key=value",
        help="parameters, estimator=ppo too, and nodes=1 gpus=8 scale=paper",
    )
    sub.add_argument("--dry", action="store_true", help="print verl's command, write nothing")
    sub = verb("record", _record, "copy what a finished sweep measured into data/results")
    sub.add_argument("file", type=Path)
    sub = verb("figures", _figures, "draw figures from theory and finished runs into figures/out")
    sub.add_argument(
        "names", nargs="*", help="which figures; without, all, the papers' tables and the gallery"
    )
    sub.add_argument("--style", default="icml", help="the widths of icml (default) or neurips")
    sub.add_argument(
        "--stale",
        action="store_true",
        help="only name the figures older than what they are made from",
    )
    sub = verb(
        "report", _page, "one page on finished runs: curves, table, paired comparison, provenance"
    )
    sub.add_argument(
        "sources",
        nargs="+",
        type=Path,
        metavar="RUNS",
        help="a sweep file, or folders of finished runs",
    )
    sub.add_argument(
        "--experiment", default="", help="which one of a sweep file that trains several"
    )
    sub.add_argument("--metric", default="pass@1", help="what is drawn and tabled (default pass@1)")
    sub.add_argument(
        "--by", default="", metavar="'KEY ...'", help="parameters that tell settings apart"
    )
    sub.add_argument(
        "--against", default="", metavar="SETTING", help="what the others are compared with"
    )
    sub.add_argument(
        "--out", type=Path, metavar="FILE", help="the page (default: report.html in its run folder)"
    )
    verb("check", _check, "look over the environment, data, presets and notebooks")
    sub = verb(
        "eval", _eval, "sample a language model on sets of problems, score it, print a table"
    )
    sub.add_argument("model", help="a folder or a name on the hub")
    sub.add_argument(
        "sets",
        nargs="+",
        metavar="SET|key=value",
        help=(
            "sets (lab data check), arithmetic(level=2), "
            "a file; and settings: n=128 temperature=0.6 top_p=0.95 engine=vllm ..."
        ),
    )
    sub = verb(
        "export",
        _export,
        "write a language model that was trained as a folder for lab eval, vLLM and others",
    )
    sub.add_argument("run", type=Path, help="the run folder of gsm8k, qwen3 or pacs")
    sub.add_argument("folder", type=Path)
    sub = verb(
        "compare",
        _compare,
        "two evaluations on the same problems: paired differences and samples saved",
    )
    sub.add_argument("base", type=Path, help="a folder that lab eval named")
    sub.add_argument("ours", type=Path, help="another one, of the same set sampled alike")
    sub = verb("data", _data, "what sets of problems are at hand, without the network")
    sub.add_argument("what", choices=["check"])
    sub.add_argument("folder", nargs="?", default="", help="an offline folder of sets")
    sub = verb(
        "verify",
        _verify,
        "judge stored answers a second time, independently, and list the disagreements",
    )
    sub.add_argument("what", choices=["audit"])
    sub.add_argument("file", type=Path, help="a table with the columns response and gold")
    sub.add_argument(
        "--style",
        choices=["strict", "lenient"],
        default="strict",
        help="how the answer is extracted",
    )
    sub = verb(
        "audit",
        _audit,
        "pass rates without sampling noise, gradients and dead groups of any rollouts file",
    )
    sub.add_argument(
        "path",
        type=Path,
        help="a run folder, or a table of counts or rollouts (csv, parquet, jsonl)",
    )
    sub.add_argument(
        "--estimators",
        "--objectives",
        nargs="+",
        default=["rloo", "grpo", "maxrl", "pacs_anchor"],
    )
    sub.add_argument("--rollouts", type=int, metavar="N", help="group size to reckon with")
    sub.add_argument("--reward", metavar="COLUMN", help="the column of rewards")
    sub.add_argument("--picture", type=Path, metavar="FILE", help="also draw it (pdf or png)")
    sub = verb(
        "explore",
        _explore,
        "open the explorer of weights w(p) in the browser: one page, no network",
    )
    sub.add_argument(
        "values", nargs="*", metavar="key=value", help="what it shows first: N=64 panel=toy ..."
    )
    sub.add_argument(
        "--html", type=Path, metavar="FILE", help="write the page there and open nothing"
    )
    sub = verb("explain", _explain, "one estimator or objective on one screen")
    sub.add_argument("name", help="for example maxrl, or 'truncated(order=8)'")
    sub.add_argument(
        "--rollouts", type=int, default=16, metavar="N", help="group size (default 16)"
    )
    return parser


@dataclass(frozen=True)
class _Request:
    """What `lab run`, `train` and `preflight` were asked for; `terms` do not change what is
    computed.
    """

    scale: str
    given: dict[str, Any]
    terms: dict[str, Any]


def _read_request(words: list[str]) -> _Request:
    """Tell the words on how to run from the experiment's parameters; device= holds for all that is
    started.
    """
    from lab.runs.experiments import read_assignments

    given = read_assignments(words)
    scale = str(given.pop("scale", "laptop"))
    if "device" in given:
        os.environ["LAB_DEVICE"] = one_of("device", given.pop("device"), ("auto", "cpu", "cuda"))
    limits = {"checkpoint_minutes": 0.0, "price": 0.0, "max_hours": 0.0}
    terms = {key: real(key, given.pop(key), least) for key, least in limits.items() if key in given}
    return _Request(scale, given, terms)


def _request(arguments) -> _Request | None:
    """The request of `lab run` or `lab train`, its header printed; None where only a list was asked
    for.
    """
    from lab.runs.experiments import experiment, experiments

    if arguments.name is None:
        for name in experiments():
            print(f"{name:10} {experiment(name).title}")
        return None
    request = _read_request(arguments.values)
    chosen = experiment(arguments.name)
    values = chosen.parameters(request.scale, request.given)
    if arguments.show:
        print(
            f"{chosen.name}: {chosen.title}\nscales: {', '.join(chosen.scales)}; here"
            f" {request.scale}\n"
        )
        for key, value in values.items():
            print(f"  {key + ' = ' + repr(value):28} {chosen.rules[key].get('help', '')}")
        return None
    print(chosen.header(values), flush=True)
    return request


def _run(arguments) -> None:
    from lab.runs.notebooks import run_notebook

    if request := _request(arguments):
        _report(run_notebook(arguments.name, request.scale, request.given, **request.terms))


def _train(arguments) -> None:
    from lab.runs.training import leads, train

    if request := _request(arguments):
        run = train(
            arguments.name,
            scale=request.scale,
            view=arguments.view,
            **request.terms,
            **request.given,
        )
        if leads():
            _report(run)


def _preflight(arguments) -> int:
    from lab.runs.experiments import experiment
    from lab.runs.readiness import readiness

    request = _read_request(arguments.values)
    chosen = experiment(arguments.name)
    ready = readiness(
        chosen, request.scale, chosen.parameters(request.scale, request.given), **request.terms
    )
    for finding in ready.findings:
        print(
            f"{'FAULT' if finding.fault else 'ok   '} {finding.subject}:"
            f" {finding.fault or finding.remark}"
        )
    if ready.paragraph:
        print(ready.paragraph)
    return 1 if ready.faults else 0


def _report(run) -> None:
    for key, value in run.done["last"].items():
        print(f"  {key}: {value:.6g}")
    print(f"finished in {run.done['seconds']} s: {run.path}")


def _rehearse(arguments) -> int:
    from lab.runs.rehearsal import fill_readme, rehearse

    measured = rehearse(arguments.out, arguments.only)
    fill_readme()
    failed = [name for name, part in measured["parts"].items() if "failed" in part]
    for name in failed:
        print(f"failed: {name}: {measured['parts'][name]['failed']}", file=sys.stderr)
    return 1 if failed else 0


def _sweep(arguments) -> int:
    from lab.runs.experiments import read_assignments
    from lab.runs.sweep import sweep, visible_gpus
    from lab.runs.sweep_file import read_sweep

    if arguments.jobs is not None and arguments.jobs < 1:
        raise LabError(f"--jobs {arguments.jobs}: at least one process is needed")
    keep_going, verb = not arguments.fail_fast, "train" if arguments.train else "run"
    given = {"executor": "local", "gpus": 0} | read_assignments(arguments.values)
    for key in given.keys() - {"executor", "gpus"}:
        raise unknown("setting of a sweep", key, ["executor", "gpus"])
    gpus = whole("gpus", given["gpus"], 0)
    if one_of("executor", given["executor"], ("local", "ray")) == "ray":
        from lab.runs.ray_executor import RayExecutor

        read_sweep(arguments.file)  # refuses before anything is asked of the cluster
        with RayExecutor(gpus) as executor:
            outcome = sweep(
                arguments.file, arguments.jobs or executor.slots, keep_going, verb, executor
            )
    elif gpus:
        raise LabError(f"gpus = {gpus}: only Ray deals out GPUs; add executor=ray, or leave it off")
    else:
        visible = visible_gpus()
        jobs = arguments.jobs or len(visible) or os.cpu_count()
        outcome = sweep(arguments.file, jobs, keep_going, verb, gpus=visible)
    print(
        f"{len(outcome.before)} finished before, {len(outcome.now)} now, {len(outcome.failed)}"
        " failed"
    )
    for run, words in outcome.failed:
        print(f"failed: {run.path / 'log.txt'}: {words}", file=sys.stderr)
    return 1 if outcome.failed else 0


def _cluster(arguments) -> None:
    from lab.llm.train import verl_config
    from lab.runs.cluster import job, prepare
    from lab.runs.experiments import read_assignments

    made = job(arguments.name, read_assignments(arguments.values))
    if arguments.dry:
        if verl_config.installed():
            verl_config.compose(made.settings)
        else:
            print(f"not checked: {verl_config.INSTALL}", file=sys.stderr)
        print(made.command)
        return
    print(*made.header, sep="\n")
    print(prepare(made).path)


def _record(arguments) -> None:
    from lab.runs.sweep_results import record

    for path in record(arguments.file):
        print(path)


def _figures(arguments) -> int:
    from lab.show import plots

    if arguments.stale:
        old = {
            name: words
            for name in arguments.names or plots.figure_names()
            if (words := plots.stale(name))
        }
        for name, words in old.items():
            print(f"{name}: {', '.join(words)}: run lab figures {name}")
        return 1 if old else 0
    failed = plots.draw_figures(arguments.names, arguments.style)
    for name, words in failed.items():
        print(f"lab: figure {name} not drawn: {words}", file=sys.stderr)
    if not arguments.names and arguments.style == "icml":
        from lab.papers import gallery

        print(*gallery.write(), sep="\n")
    return 1 if failed else 0


def _page(arguments) -> None:
    from lab.show.report import report

    print(
        report(
            arguments.sources,
            arguments.out,
            experiment=arguments.experiment,
            metric=arguments.metric,
            by=arguments.by,
            against=arguments.against,
        )
    )


def _check(arguments) -> int:
    from lab.runs.checks import checks

    faults = 0
    for subject, words in checks():
        faults += bool(words)
        print(
            f"{'FAULT' if words else 'ok   '} {subject}{': ' + words if words else ''}", flush=True
        )
    print(f"{faults} faults" if faults else "all is well")
    return 1 if faults else 0


def _explain(arguments) -> None:
    from lab.show.explain import explain

    print(explain(arguments.name, arguments.rollouts))


def _explore(arguments) -> None:
    import webbrowser

    from lab.explorer import page
    from lab.runs.experiments import read_assignments
    from lab.runs.run_folder import runs_root

    state = read_assignments(arguments.values)
    address = page.write(arguments.html or runs_root() / "explorer.html", state)
    print(address)
    if not arguments.html and not webbrowser.open(address):
        print("no browser was found: open this address in one")


def _eval(arguments) -> None:
    from lab.runs.experiments import read_assignments
    from lab.runs.former_names import in_present_names
    from lab.runs.model_evaluation import evaluate

    sets = [word for word in arguments.sets if "=" not in word or "(" in word]
    known = inspect.signature(evaluate).parameters.keys() - {"model", "sets"}
    words = [word for word in arguments.sets if word not in sets]
    given = in_present_names(read_assignments(words), known)
    for key in given.keys() - known:
        raise unknown("setting of an evaluation", key, known)
    if "engine" not in given:
        raise LabError(
            "no engine was named: add engine=transformers (a laptop) or engine=vllm (a GPU)"
        )
    evaluate(arguments.model, sets, **given)


def _export(arguments) -> None:
    from lab.llm.train.trainer import export
    from lab.runs.run_folder import Run
    from lab.runs.training import state_of

    run = Run(arguments.run)
    values = run.params["parameters"]
    if "model" not in values:
        raise LabError(f"{run.path} trained no language model: give a run of gsm8k, qwen3 or pacs")
    export(values["model"], state_of(run), arguments.folder)
    print(f"{arguments.folder}: {values['model']} after the training in {run.path}")


def _compare(arguments) -> None:
    from lab.runs.model_evaluation import comparison

    print(comparison(arguments.base, arguments.ours))


def _data(arguments) -> None:
    from lab.llm.data.datasets import describe_datasets

    print(*describe_datasets(arguments.folder), sep="\n")


def _verify(arguments) -> None:
    from lab.llm.verify.agreement import compare_checkers_in_file

    lines, table = compare_checkers_in_file(arguments.file, arguments.style)
    print(*lines, sep="\n")
    if len(table):
        print(table.to_string(index=False))


def _audit(arguments) -> None:
    from lab.show.audit import audit, draw

    found = audit(arguments.path, tuple(arguments.estimators), arguments.rollouts, arguments.reward)
    print(*found.lines(), sep="\n")
    if arguments.picture:
        draw(found).savefig(arguments.picture)
        print(arguments.picture)
