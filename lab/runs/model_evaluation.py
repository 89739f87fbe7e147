"""`lab eval` and `lab compare`: models on sets of problems, sampled once into folders and told as
tables. Floor 3.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from lab.errors import LabError, one_of, whole
from lab.llm.data import prompts
from lab.llm.data.problem_sets import problem_set
from lab.llm.engines.models import pinned
from lab.llm.evals import evaluation_tables
from lab.llm.evals.evaluation_metrics import compare_models, grid, samples_ratio, summary
from lab.metrics import pass_at_k
from lab.runs.evaluation_folder import ANSWERS, Evaluation, asked, digest, sample
from lab.runs.run_folder import runs_root
from lab.runs.scoring import problem_counts
from lab.stats import bootstrap

SHARED = (
    "prompt",
    "n",
    "temperature",
    "top_p",
    "limit",
    "seed",
)  # what one caption says of all rows


def evaluate(
    model: str,
    sets: Sequence[str],
    *,
    engine: str,
    n: int = 128,
    temperature: float = 0.6,
    top_p: float = 0.95,
    limit: int = 4096,
    prompt: str = "plain",
    style: str = "strict",
    seed: int = 0,
    problems: int | None = None,
    folder_of_data: str = "",
    part: int = ANSWERS,
) -> list[evaluation_tables.Row]:
    """Evaluate a model on sets, print the table, and return its rows with every metric.

    `model`: a name on the hub or a folder; `engine`: as `lab.llm.engines.factory.engine` takes it;
    `sets`, `problems` and `folder_of_data`: as `lab.llm.data.problem_sets.problem_set`; `n`,
    `temperature`, `top_p`, `limit`, `seed`: as `lab.llm.engines.base.Sampling`; `style`: of the
    verifier; `part`: as `samples.sample`. Each set has its folder in runs/evaluations, named by
    model, set and all settings: what is there is neither sampled nor judged again, and where all
    is, the model is not loaded. Every argument is checked before it is.
    """
    from lab.llm.engines.base import Sampling
    from lab.llm.engines.factory import ENGINES
    from lab.llm.engines.factory import engine as engine_of

    sampling, part = Sampling(n, temperature, top_p, limit, seed), whole("part", part)
    one_of("engine", engine, ENGINES), one_of("style", style, ("strict", "lenient"))
    chosen, weights, answerer, made = prompts.prompt(prompt), weights_of(model), None, []
    if not sets:
        raise LabError(
            "no set was named: name one or more, for example math500 or 'arithmetic(level=2)'"
        )
    for one in [problem_set(name, problems, folder_of_data) for name in sets]:
        called = Path(model).resolve().name if Path(model).is_dir() else model
        words = re.sub(r"[^a-z0-9_.-]+", "_", f"{called}-{one.source}".lower()).strip("_.")[-100:]
        place = f"{words}-{digest([called, weights, engine, asked(one, chosen, sampling)])[:8]}"
        made.append(Evaluation(runs_root() / "evaluations" / place))
        if not made[-1].finished:
            answerer = answerer or engine_of(engine, model)
            sample(answerer, one, chosen, sampling, made[-1].path, weights, part)
    found = [row(one, style) for one in made]
    reach = [[name for name in one.metrics if name.startswith("pass@")] for one in found]
    rest = [
        name for one in found for name in one.metrics if not name.startswith(("pass", "solved"))
    ]
    columns = dict.fromkeys([*(names[at] for at in (0, -1) for names in reach), *rest])
    print(evaluation_tables.markdown(found, caption(made, style), [*columns]))
    for one, told in zip(made, found, strict=True):
        lost = one.settings["problems"] - told.metrics["pass@1"].n["problems"]
        print(
            f"{told.set}: {one.path}"
            + (f"; {lost} problems without a judged answer are left out" if lost else "")
        )
    return found


def row(
    evaluation: Evaluation, style: str = "strict", truncation: str = "score"
) -> evaluation_tables.Row:
    """The line of an evaluation in a table: `lab.llm.evals.evaluation_metrics.summary` of its
    counts.

    Without entropy at temperature 0, where what was sampled has none and the log-probabilities are
    the model's own.
    """
    settings, metrics = evaluation.settings, summary(problem_counts(evaluation, style, truncation))
    if settings["temperature"] == 0:
        metrics.pop("entropy", None)
    return evaluation_tables.Row(settings["model"], settings["set"], metrics)


def comparison(base: Path, ours: Path, style: str = "strict") -> str:
    """Ours against a base on the same problems, as a Markdown table: pass@k of both, the paired
    difference, and how many times fewer samples ours needs for what the base reaches with k
    (MaxRL's "2.3x - 19.2x", Figure 5).

    `base`, `ours`: folders of evaluations that `evaluate` names. LabError: other problems or
    another sampling.
    """
    both = [Evaluation(base), Evaluation(ours)]
    alike = caption(both, style)
    if (sets := {one.settings["set"] for one in both}) and len(sets) > 1:
        raise LabError(
            f"{base.name} and {ours.name} are of {' and '.join(sorted(sets))}: compare on one set"
        )
    names = [f"{one.settings['model']} ({one.path.name[-8:]})" for one in both]
    counts = [problem_counts(one, style) for one in both]
    lines = [
        f"{both[0].settings['set']}: {names[1]} against {names[0]}. {alike}",
        "",
        "| k | base | ours | ours - base | times fewer samples |",
        "|---|---|---|---|---|",
    ]
    for k in grid(int(min(table["n"].min() for table in counts))):
        reach = [
            bootstrap(pass_at_k(table["n"].to_numpy(), table["right"].to_numpy(), k))
            for table in counts
        ]
        cells = [
            *reach,
            compare_models(counts[1], counts[0], k).difference,
            samples_ratio(counts[0], counts[1], k),
        ]
        told = " | ".join(f"{one.point:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in cells)
        lines.append(f"| {k} | {told} |")
    return "\n".join(lines)


def caption(
    evaluations: Sequence[Evaluation], style: str = "strict", truncation: str = "score"
) -> str:
    """`lab.llm.evals.evaluation_tables.caption` for a table of evaluations; refuses those that were
    not sampled alike.
    """
    first, *others = evaluations
    for other in others:
        for key in SHARED:
            if first.settings[key] != other.settings[key]:
                raise LabError(
                    f"{first.path.name} has {key} = {first.settings[key]!r} and {other.path.name}"
                    f" has {other.settings[key]!r}: one table holds evaluations that were sampled"
                    " alike"
                )
    from lab.llm.engines.base import Sampling

    sampling = Sampling(**{field.name: first.settings[field.name] for field in fields(Sampling)})
    return evaluation_tables.caption(sampling, first.settings["prompt"], style, truncation)


def weights_of(model: str) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of a folder's weights and configuration; of a
    model of the hub those of its revision, empty where that is not pinned.

    So an evaluation of weights that were trained on since, in the same folder, is another
    evaluation.
    """
    hashes = []
    for path in sorted(
        path for kind in ("json", "safetensors") for path in Path(model).glob(f"*.{kind}")
    ):
        with open(path, "rb") as file:
            hashes.append([path.name, hashlib.file_digest(file, "sha256").hexdigest()])
    return digest(hashes) if hashes else (pinned(model)[1] or "")[:12]
