"""`lab eval` and `lab compare`: evaluate models on sets of problems and print tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lab.errors import LabError, one_of, whole
from lab.judge.rewards import check_reward
from lab.llm.data.datasets import ProblemSet
from lab.llm.data.prompts import load_prompt
from lab.llm.evals import evaluation_tables
from lab.llm.evals.evaluation_metrics import compare_models, k_values, samples_ratio, summary
from lab.llm.train.task import Task
from lab.mathematics.metrics import pass_at_k
from lab.mathematics.stats import Interval, mean_interval
from lab.runs.contents import digest, reward_digest
from lab.runs.evaluation_folder import (
    PART_ANSWERS,
    Evaluation,
    request_settings,
    sample,
)
from lab.runs.run_folder import runs_root
from lab.runs.scoring import problem_counts
from lab.runs.trained_models import find_model

if TYPE_CHECKING:  # importing it loads torch
    from lab.llm.engines.base import Engine, Sampling

# The settings that the rows of a table share; its caption states them once.
SHARED_SETTINGS = ("prompt", "n", "temperature", "top_p", "limit", "seed", "reward")


@dataclass(frozen=True, kw_only=True)
class Request(Task):
    """An evaluation: a task, and how answers are sampled. LabError: a setting that cannot be.

    | field | meaning |
    |---|---|
    | `engine` | "transformers" or "vllm", see `lab.llm.engines.factory.load_engine` |
    | `n`, `temperature`, `top_p`, `max_tokens`, `seed` | as in `lab.llm.engines.base.Sampling` |
    | `problems` | problems of each set, the first ones; None: all |
    | `part` | answers per file, see `lab.runs.evaluation_folder.sample` |
    """

    engine: str = ""
    n: int = 128
    temperature: float = 0.6
    top_p: float = 0.95
    max_tokens: int = 4096
    seed: int = 0
    problems: int | None = None
    part: int = PART_ANSWERS

    def __post_init__(self) -> None:
        from lab.llm.engines.factory import ENGINES

        _ = self.sampling
        whole("part", self.part)
        if not self.engine:
            raise LabError(
                "no engine was named: add engine=transformers (a laptop) or engine=vllm (a GPU)"
            )
        one_of("engine", self.engine, ENGINES)
        one_of("style", self.style, ("strict", "lenient"))
        load_prompt(self.prompt)
        if self.reward:
            check_reward(self.reward)

    @property
    def sampling(self) -> Sampling:
        from lab.llm.engines.base import Sampling

        return Sampling(self.n, self.temperature, self.top_p, self.max_tokens, self.seed)

    @property
    def judged_by(self) -> dict[str, Any]:
        """What a folder stores of a reward function; nothing of the verifier."""
        if not self.reward:
            return {}
        named = {"function": self.reward, "code": reward_digest(self.reward)}
        return {"reward": named | {"right_from": self.right_from}}


def evaluate(model: str, sets: Sequence[str] = (), **settings: Any) -> list[evaluation_tables.Row]:
    """Evaluate a model on sets of problems, print the table, and return its rows.

    `model` is a name on the hub, a folder, or a run that trained it (`find_model`), and `settings`
    are fields of `Request`. What is not given of a run's model is as in its training, sets too, so
    that the evaluation at its last step is made again; other models need `sets` and `engine`.

    Each set has its folder in runs/evaluations, named by the model, the set and all settings.
    Existing answers are neither sampled nor judged again, and the model is loaded only if answers
    are missing. All arguments are checked before that. The rows hold every metric, the printed
    table a selection.
    """
    given = settings.keys() | ({"eval_sets"} if sets else set())
    found = find_model(model, given)
    request = Request(**{**found.settings, **settings})
    sets = sets or found.sets
    if not sets:
        raise LabError(
            "no set was named: name at least one, such as math500 or arithmetic(level=2)"
        )
    loaded_sets = [request.problem_set(name, request.problems) for name in sets]
    if request.max_prompt_tokens:
        loaded_sets = _usable(request, loaded_sets, found.tokenizer())
    template, sampling = load_prompt(request.prompt), request.sampling
    evaluations: list[Evaluation] = []
    loaded_engine: Engine | None = None
    for loaded in loaded_sets:
        wanted = request_settings(loaded, template, sampling) | request.judged_by
        name = result_name(found.name, loaded.source, [found.weights, request.engine, wanted])
        evaluation = Evaluation(runs_root() / "evaluations" / name)
        if not evaluation.finished:
            loaded_engine = loaded_engine or found.load(request.engine)
            sample(
                loaded_engine,
                loaded,
                template,
                sampling,
                evaluation.path,
                found.weights,
                request.part,
                request.judged_by,
            )
        evaluations.append(evaluation)
    rows = [table_row(evaluation, request) for evaluation in evaluations]
    print(evaluation_tables.markdown(rows, caption(evaluations, request), _main_columns(rows)))
    for evaluation, row in zip(evaluations, rows, strict=True):
        line = f"{row.set}: {evaluation.path}"
        lost = evaluation.settings["problems"] - row.metrics["pass@1"].n["problems"]
        if lost:
            line += f"; {lost} problems without a judged answer are left out"
        print(line)
    return rows


def _usable(task: Task, loaded_sets: list[ProblemSet], tokenizer: Any) -> list[ProblemSet]:
    """The sets without the problems that a training leaves out."""
    with task.judge() as judge:
        kept = [task.usable(loaded, tokenizer, judge) for loaded in loaded_sets]
    return [
        replace(loaded, problems=tuple(problem for problem, _ in usable))
        for loaded, usable in zip(loaded_sets, kept, strict=True)
    ]


def result_name(model: str, subject: str, identity: list[object]) -> str:
    """A readable part with model and subject, and 8 digits of the digest of all that matters."""
    readable = re.sub(r"[^a-z0-9_.-]+", "_", f"{model}-{subject}".lower())
    return f"{readable.strip('_.')[-100:]}-{digest([model, *identity])[:8]}"


def _main_columns(rows: Sequence[evaluation_tables.Row]) -> list[str]:
    """The metrics to print: pass@k at the smallest and largest k, majority, lengths and shares."""
    pass_names = [[name for name in row.metrics if name.startswith("pass@")] for row in rows]
    smallest_k = [names[0] for names in pass_names]
    largest_k = [names[-1] for names in pass_names]
    rest = [name for row in rows for name in row.metrics if not name.startswith(("pass", "solved"))]
    return list(dict.fromkeys([*smallest_k, *largest_k, *rest]))


def table_row(
    evaluation: Evaluation, task: Task | None = None, truncation: str = "score"
) -> evaluation_tables.Row:
    """The table row of an evaluation: `lab.llm.evals.evaluation_metrics.summary` of its counts.

    There is no entropy at temperature 0: greedy decoding has none, and the log-probabilities are
    those of the model itself. There is no vote on answers that a reward function does not extract.
    """
    settings = evaluation.settings
    metrics = summary(problem_counts(evaluation, task, truncation))
    if settings["temperature"] == 0:
        metrics.pop("entropy", None)
    if task and task.reward:
        metrics.pop("majority")
    return evaluation_tables.Row(settings["model"], settings["set"], metrics)


def comparison(base: Path, ours: Path, style: str = "strict") -> str:
    """A Markdown table that compares two models on the same problems, k by k.

    `base`, `ours`: evaluation folders, whose paths `evaluate` prints. Columns: pass@k of both, the
    paired difference, and how many times fewer samples ours needs to reach the pass@k of the base
    (MaxRL's "2.3x - 19.2x", Figure 5). LabError: different problems or sampling settings.
    """
    evaluations = [Evaluation(base), Evaluation(ours)]
    task = Task(style=style, **_reward_of(evaluations[0]))
    shared_caption = caption(evaluations, task)
    set_names = {evaluation.settings["set"] for evaluation in evaluations}
    if len(set_names) > 1:
        raise LabError(
            f"{base.name} and {ours.name} are evaluations on {' and '.join(sorted(set_names))}:"
            " compare two on the same set"
        )
    # Two checkpoints of one model share its name, so the last digits of the folder stand beside it.
    names = [f"{folder.settings['model']} ({folder.path.name[-8:]})" for folder in evaluations]
    base_counts, our_counts = (problem_counts(evaluation, task) for evaluation in evaluations)
    lines = [
        f"{set_names.pop()}: {names[1]} against {names[0]}. {shared_caption}",
        "",
        "| k | base | ours | ours - base | times fewer samples |",
        "|---|---|---|---|---|",
    ]
    for k in k_values(int(min(base_counts["n"].min(), our_counts["n"].min()))):
        intervals = [
            _pass_at_k(base_counts, k),
            _pass_at_k(our_counts, k),
            compare_models(our_counts, base_counts, k).difference,
            samples_ratio(base_counts, our_counts, k),
        ]
        cells = [f"{i.point:.3f} [{i.low:.3f}, {i.high:.3f}]" for i in intervals]
        lines.append(f"| {k} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _reward_of(evaluation: Evaluation) -> dict[str, Any]:
    """The settings of the reward function that an evaluation is judged by, if by one."""
    stored = evaluation.settings.get("reward")
    return {"reward": stored["function"], "right_from": stored["right_from"]} if stored else {}


def _pass_at_k(counts: pd.DataFrame, k: int) -> Interval:
    rates = pass_at_k(counts["n"].to_numpy(), counts["right"].to_numpy(), k)
    return mean_interval(rates, within=(0, 1))


def caption(
    evaluations: Sequence[Evaluation], task: Task | None = None, truncation: str = "score"
) -> str:
    """`lab.llm.evals.evaluation_tables.caption` for a table of evaluations.

    LabError: the evaluations were sampled with different settings.
    """
    from lab.llm.engines.base import Sampling

    first = evaluations[0]
    for other in evaluations[1:]:
        for key in SHARED_SETTINGS:
            if first.settings.get(key) != other.settings.get(key):
                raise LabError(
                    f"{first.path.name} has {key} = {first.settings.get(key)!r} and"
                    f" {other.path.name} has {other.settings.get(key)!r}: a table holds evaluations"
                    " that were sampled with the same settings"
                )
    sampling = Sampling(
        n=first.settings["n"],
        temperature=first.settings["temperature"],
        top_p=first.settings["top_p"],
        max_tokens=first.settings["limit"],
        seed=first.settings["seed"],
    )
    task = task or Task()
    prompt = first.settings["prompt"]
    return evaluation_tables.caption(sampling, prompt, task.style, truncation, reward=task.reward)
