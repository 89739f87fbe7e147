"""The card of an exported model: README.md in its folder, in Hugging Face's format.

Everything in it is read from the run: its parameters, provenance and records. Values of the YAML
header are written as JSON, which YAML reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.configurations import Config
from lab.llm.data.datasets import DATASETS
from lab.mathematics.estimators import estimator
from lab.mathematics.metrics import exact_pass_at_k, pass_at_k
from lab.mathematics.stats import Interval, mean_interval
from lab.runs.experiments import Experiment, experiment
from lab.runs.former_names import in_present_names
from lab.runs.run_folder import Run, write_atomically

SHOWN_K = (1, 8, 128, 1024)  # of pass@k, as far as there are so many samples
LICENCE = "apache-2.0"  # of the lab, its models and its worlds
# Set, metric, samples a problem (None where pass rates were computed), mean over problems.
Metric = tuple[str, str, int | None, Interval]


def write_card(run: Run, folder: Path) -> Path:
    """Write README.md for the model of `run` into `folder`, and return its path."""
    file = folder / "README.md"
    write_atomically(file, card(run))
    return file


def card(run: Run) -> str:
    """The model card of a run, as text. LabError: no experiment of its name is here."""
    chosen = experiment(run.params["experiment"])
    values = in_present_names(run.params["parameters"], chosen.rules)
    config = chosen.configuration(name=chosen.name, scale=run.params["scale"], **values)
    results = list(final_results(run))
    header = _header(config, results)
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in header.items()]
    return "\n".join(["---", *lines, "---", "", *_body(run, chosen, config, results)]) + "\n"


def final_results(run: Run) -> Iterator[Metric]:
    """What the run measured at its last step.

    Nothing is yielded of a run that measured fewer than two problems one by one: there is no
    interval then.
    """
    groups = run.groups()
    if groups.empty or "problem" not in groups:
        return
    last = groups[groups["step"] == groups["step"].max()]
    sets = last.groupby("set", sort=False) if "set" in last else [("", last)]
    for name, rows in sets:
        if "pass_rate" in rows:
            for k in SHOWN_K:
                values = exact_pass_at_k(rows["pass_rate"].to_numpy(), k)
                if len(values) > 1:
                    yield str(name), f"pass@{k}", None, mean_interval(values, within=(0, 1))
        elif {"n", "right"} <= set(rows):
            judged = rows[rows["n"] > 0]  # the others have no completion that could be judged
            if len(judged) < 2:
                continue
            fewest = int(judged["n"].min())
            for k in (k for k in SHOWN_K if k <= fewest):
                values = pass_at_k(judged["n"].to_numpy(), judged["right"].to_numpy(), k)
                yield str(name), f"pass@{k}", fewest, mean_interval(values, within=(0, 1))


def _header(config: Config, results: list[Metric]) -> dict[str, Any]:
    """What the hub reads: names that it knows, and none that it does not."""
    settings = config.settings()
    header: dict[str, Any] = {"language": "en"} if "model" in settings else {}
    base = _hub_model(settings)
    if base:
        # The weights are derived from others, whose licence is theirs to say.
        header |= {"license": "other", "license_name": "that-of-the-base-model", "base_model": base}
    else:
        header["license"] = LICENCE
    if "model" in settings:
        header |= {"library_name": "transformers", "pipeline_tag": "text-generation"}
    trained_on = DATASETS.get(settings.get("train_set", ""))
    if trained_on is not None and trained_on.hub:
        header["datasets"] = [trained_on.hub]
    header["tags"] = ["reinforcement-learning", "verifiable-rewards"]
    header["tags"] += [settings["estimator"]] if "estimator" in settings else []
    task = {"type": "text-generation" if "model" in settings else "reinforcement-learning"}
    entries = [
        {
            "task": task,
            "dataset": {"type": _hub_set(name), "name": name or config.name},
            "metrics": [
                {
                    "type": metric,
                    "value": interval.point,
                    "name": f"95% interval over problems {_ends(interval)}",
                }
            ],
        }
        for name, metric, _, interval in results
    ]
    if entries:
        header["model-index"] = [{"name": _title(config), "results": entries}]
    return header


def _body(run: Run, chosen: Experiment, config: Config, results: list[Metric]) -> Iterator[str]:
    settings, provenance = config.settings(), run.provenance
    yield from (f"# {_title(config)}", "")
    if "estimator" in settings:
        yield "Trained by reinforcement learning from verifiable rewards: the model answers a"
        yield f"problem {settings['rollouts']} times, each answer is right or wrong, and the"
        yield "estimator decides how the right and wrong ones move it."
    else:
        yield "Trained by supervision, as the start of a training from verifiable rewards."
    yield from ("", "| | |", "|---|---|")
    if "estimator" in settings:
        spec = estimator(settings["estimator"])
        source = f": {spec.citation}" if spec.citation else ""
        yield f"| estimator | {spec.label} (`{settings['estimator']}`){source} |"
        yield f"| rollouts of a problem, N | {settings['rollouts']} |"
    if "model" in settings:
        yield f"| model before training | {settings['model']} |"
        yield f"| trained on | {_data(settings)} |"
    else:
        yield f"| trained on | {config.name}: worlds that the lab draws, no data set |"
    yield f"| preset | `{config.name}`, scale `{config.scale}` |"
    yield f"| commit of the lab | {provenance['commit'] or 'none: not in a clone'} |"
    yield f"| device | {provenance['device']} |"
    yield from ("", "## Results", "")
    if results:
        step = int(run.groups()["step"].max())
        yield f"At step {step}, with 95% intervals over problems; one training run, so they say"
        yield "nothing of another seed."
        yield from ("", "| set | metric | mean | problems | samples a problem |")
        yield "|---|---|---|---|---|"
        for name, metric, samples, interval in results:
            drawn = "computed" if samples is None else str(samples)
            mean = f"{interval.point:.3f} {_ends(interval)}"
            cells = (name or config.name, metric, mean, str(interval.n["problems"]), drawn)
            yield f"| {' | '.join(cells)} |"
    else:
        yield "The run measured fewer than two problems one by one: there are no intervals."
    yield from ("", "## Make it again", "", "```", chosen.command(config.scale, settings))
    yield from (f"lab export runs/{run.id} FOLDER", "```", "", "With these parameters:")
    yield from ("", "| parameter | value |", "|---|---|")
    yield from (f"| {key} | `{value!r}` |" for key, value in settings.items())
    versions = ", ".join(f"{name} {version}" for name, version in provenance["versions"].items())
    yield from ("", f"Versions: {versions}.", "", "## Licence", "")
    if _hub_model(settings):
        yield f"The weights are derived from {settings['model']}, whose licence holds for them."
    else:
        yield "Apache-2.0, as the lab that made it."
    trained_on = DATASETS.get(settings.get("train_set", ""))
    if trained_on is not None:
        yield f"The problems of {trained_on.hub or trained_on.name}: {trained_on.licence}."
    yield from ("", f"Question of the experiment: {chosen.title}")


def _title(config: Config) -> str:
    settings = config.settings()
    model = Path(settings["model"]).name if "model" in settings else "policy"
    return "-".join(filter(None, [config.name, model, settings.get("estimator")])).lower()


def _data(settings: dict[str, Any]) -> str:
    """The training set, how much of it, and the revision that it is pinned to."""
    name = settings["train_set"]
    part = f", its first {settings['problems']} problems" if settings["problems"] else ""
    spec = DATASETS.get(name)
    if spec is None:
        return f"{name}{part}, which the lab generates or reads from a file: no revision"
    return f"{spec.hub or name}{part}, revision {spec.revision or 'not pinned'}"


def _hub_model(settings: dict[str, Any]) -> str:
    """The model's name on the hub; "" for a folder, or a policy that has none."""
    model = str(settings.get("model", ""))
    is_folder = model.startswith((".", "/", "data/")) or Path(model).exists()
    return model if model.count("/") == 1 and not is_folder else ""


def _hub_set(name: str) -> str:
    spec = DATASETS.get(name)
    return spec.hub if spec is not None and spec.hub else "generated"


def _ends(interval: Interval) -> str:
    return f"[{interval.low:.3f}, {interval.high:.3f}]"
