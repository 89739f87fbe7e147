"""`lab eval` and `lab compare`: evaluate models on sets of problems and print tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from lab.errors import LabError, one_of, whole
from lab.llm.data import prompts
from lab.llm.data.problem_sets import problem_set
from lab.llm.engines.models import pinned
from lab.llm.evals import evaluation_tables
from lab.llm.evals.evaluation_metrics import compare_models, k_values, samples_ratio, summary
from lab.mathematics.metrics import pass_at_k
from lab.mathematics.stats import Interval, mean_interval
from lab.runs.contents import digest, model_digest
from lab.runs.evaluation_folder import (
    PART_ANSWERS,
    Evaluation,
    request_settings,
    sample,
)
from lab.runs.run_folder import runs_root
from lab.runs.scoring import problem_counts

if TYPE_CHECKING:  # importing it loads torch
    from lab.llm.engines.base import Engine

# The settings that the rows of a table share; its caption states them once.
SHARED_SETTINGS = ("prompt", "n", "temperature", "top_p", "limit", "seed")


def evaluate(
    model: str,
    sets: Sequence[str],
    *,
    engine: str,
    n: int = 128,
    temperature: float = 0.6,
    top_p: float = 0.95,
    max_tokens: int = 4096,
    prompt: str = "plain",
    style: str = "strict",
    seed: int = 0,
    problems: int | None = None,
    folder_of_data: str = "",
    part: int = PART_ANSWERS,
) -> list[evaluation_tables.Row]:
    """Evaluate a model on sets of problems, print the table, and return its rows.

    | argument | meaning |
    |---|---|
    | `model` | a name on the hub, or a folder |
    | `engine` | "transformers" or "vllm", see `lab.llm.engines.factory.load_engine` |
    | `sets`, `problems`, `folder_of_data` | as `lab.llm.data.problem_sets.problem_set` takes them |
    | `n`, `temperature`, `top_p`, `max_tokens`, `seed` | as in `lab.llm.engines.base.Sampling` |
    | `style` | of the verifier, "strict" or "lenient" |
    | `part` | answers per file, see `lab.runs.evaluation_folder.sample` |

    Each set has its folder in runs/evaluations, named by the model, the set and all settings.
    Existing answers are neither sampled nor judged again, and the model is loaded only if answers
    are missing. All arguments are checked before that. The rows hold every metric, the printed
    table a selection.
    """
    from lab.llm.engines.base import Sampling
    from lab.llm.engines.factory import ENGINES, load_engine

    sampling = Sampling(n, temperature, top_p, max_tokens, seed)
    whole("part", part)
    one_of("engine", engine, ENGINES)
    one_of("style", style, ("strict", "lenient"))
    template = prompts.load_prompt(prompt)
    weights = weights_digest(model)
    if not sets:
        raise LabError(
            "no set was named: name at least one, such as math500 or arithmetic(level=2)"
        )
    model_name = Path(model).resolve().name if Path(model).is_dir() else model
    loaded_sets = [problem_set(name, problems, folder_of_data) for name in sets]
    evaluations: list[Evaluation] = []
    loaded_engine: Engine | None = None
    for loaded in loaded_sets:
        settings = request_settings(loaded, template, sampling)
        name = result_name(model_name, loaded.source, [weights, engine, settings])
        evaluation = Evaluation(runs_root() / "evaluations" / name)
        if not evaluation.finished:
            loaded_engine = loaded_engine or load_engine(engine, model)
            sample(loaded_engine, loaded, template, sampling, evaluation.path, weights, part)
        evaluations.append(evaluation)
    rows = [table_row(evaluation, style) for evaluation in evaluations]
    print(evaluation_tables.markdown(rows, caption(evaluations, style), _main_columns(rows)))
    for evaluation, row in zip(evaluations, rows, strict=True):
        line = f"{row.set}: {evaluation.path}"
        lost = evaluation.settings["problems"] - row.metrics["pass@1"].n["problems"]
        if lost:
            line += f"; {lost} problems without a judged answer are left out"
        print(line)
    return rows


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
    evaluation: Evaluation, style: str = "strict", truncation: str = "score"
) -> evaluation_tables.Row:
    """The table row of an evaluation: `lab.llm.evals.evaluation_metrics.summary` of its counts.

    There is no entropy at temperature 0: greedy decoding has none, and the log-probabilities are
    those of the model itself.
    """
    settings = evaluation.settings
    metrics = summary(problem_counts(evaluation, style, truncation))
    if settings["temperature"] == 0:
        metrics.pop("entropy", None)
    return evaluation_tables.Row(settings["model"], settings["set"], metrics)


def comparison(base: Path, ours: Path, style: str = "strict") -> str:
    """A Markdown table that compares two models on the same problems, k by k.

    `base`, `ours`: evaluation folders, whose paths `evaluate` prints. Columns: pass@k of both, the
    paired difference, and how many times fewer samples ours needs to reach the pass@k of the base
    (MaxRL's "2.3x - 19.2x", Figure 5). LabError: different problems or sampling settings.
    """
    evaluations = [Evaluation(base), Evaluation(ours)]
    shared_caption = caption(evaluations, style)
    set_names = {evaluation.settings["set"] for evaluation in evaluations}
    if len(set_names) > 1:
        raise LabError(
            f"{base.name} and {ours.name} are evaluations on {' and '.join(sorted(set_names))}:"
            " compare two on the same set"
        )
    # Two checkpoints of one model share its name, so the last digits of the folder stand beside it.
    names = [f"{folder.settings['model']} ({folder.path.name[-8:]})" for folder in evaluations]
    base_counts, our_counts = (problem_counts(evaluation, style) for evaluation in evaluations)
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


def _pass_at_k(counts: pd.DataFrame, k: int) -> Interval:
    rates = pass_at_k(counts["n"].to_numpy(), counts["right"].to_numpy(), k)
    return mean_interval(rates, within=(0, 1))


def caption(
    evaluations: Sequence[Evaluation], style: str = "strict", truncation: str = "score"
) -> str:
    """`lab.llm.evals.evaluation_tables.caption` for a table of evaluations.

    LabError: the evaluations were sampled with different settings.
    """
    from lab.llm.engines.base import Sampling

    first = evaluations[0]
    for other in evaluations[1:]:
        for key in SHARED_SETTINGS:
            if first.settings[key] != other.settings[key]:
                raise LabError(
                    f"{first.path.name} has {key} = {first.settings[key]!r} and {other.path.name}"
                    f" has {other.settings[key]!r}: a table holds evaluations that were sampled"
                    " with the same settings"
                )
    sampling = Sampling(
        n=first.settings["n"],
        temperature=first.settings["temperature"],
        top_p=first.settings["top_p"],
        max_tokens=first.settings["limit"],
        seed=first.settings["seed"],
    )
    return evaluation_tables.caption(sampling, first.settings["prompt"], style, truncation)


def weights_digest(model: str) -> str:
    """12 hexadecimal digits that identify a model's weights, tokenizer and chat template.

    For a folder, the digest of its files: if training changes the weights in place, their
    evaluation is a new one. For a model on the hub, its revision; empty if that is not pinned.
    """
    return model_digest(model) or (pinned(model)[1] or "")[:12]
