"""What a configuration of TRL or verl climbs, what it wastes, which of its settings undo others.

Defaults and names are read from the installed packages' own files, without importing them. What is
said of the loss is tested against their functions (tests/test_field_losses.py).
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lab.errors import LabError, real, unknown, whole
from lab.extras import missing
from lab.mathematics.recipes import Recipe, recipe

WIDTH = 110
RATES = np.array([0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9])
# One override of Hydra in a script: a dotted name, "=", a value.
OVERRIDE = re.compile(
    r"""(?:^|(?<=[\s"'(]))\+{0,2}([A-Za-z_]\w*(?:\.\w+)+)=("[^"]*"|'[^']*'|[^\s\\"']+)""", re.M
)
VARIABLE = re.compile(r"""^\s*(?:export\s+)?(\w+)=("[^"]*"|'[^']*'|[^\s#]*)""", re.M)
READ_TRL = """
beta delta entropy_coef epsilon epsilon_high generation_batch_size gradient_accumulation_steps
importance_sampling_level loss_type mask_truncated_completions max_completion_length min_p
multi_objective_aggregation num_generations num_iterations per_device_train_batch_size
scale_rewards steps_per_generation temperature top_entropy_quantile top_k top_p
use_bias_correction_kl
""".split()
ACTOR, ROLLOUT = "actor_rollout_ref.actor.", "actor_rollout_ref.rollout."


@dataclass
class Reading:
    """A configuration in the terms of the calculus.

    `divisor` is a constant that divides the whole step; `reuses` how often a row is trained on,
    `splits` how many optimiser steps share a batch. Notes are sentences.
    """

    framework: str
    settings: dict[str, Any]  # as the framework will have them: given or default
    given: dict[str, Any]
    known: set[str]
    recipe: Recipe | None = None
    divisor: float = 1.0
    reuses: int = 1
    splits: int = 1
    undone: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)  # settings that the calculus does not have

    @property
    def unknown_keys(self) -> list[str]:
        """Names that the framework does not have."""
        return [name for name in self.given if name not in self.known]


def read(path: Path) -> Reading:
    """The configuration in a file: yaml or json, or a script with overrides of Hydra.

    LabError: it is neither TRL's nor verl's, or a value cannot be used.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise LabError(f"{path}: not a text in UTF-8; give a yaml, json or shell file") from error
    if path.suffix in (".yaml", ".yml", ".json") and "verl.trainer" not in text:
        given = _flat(_parsed(path, text))
    else:
        given = _overrides(text)
    if not given:
        raise LabError(f"{path}: no settings found; give TRL's yaml or json, or verl's overrides")
    if any(name.split(".")[0] in ("actor_rollout_ref", "algorithm") for name in given):
        return _verl(given)
    reading = _trl(given)
    if len(reading.unknown_keys) == len(given):
        raise LabError(
            f"{path}: none of its {len(given)} names, such as {next(iter(given))!r}, is TRL's or"
            " verl's; give a GRPOConfig, or settings under algorithm and actor_rollout_ref"
        )
    return reading


def _parsed(path: Path, text: str) -> Any:
    try:
        return json.loads(text) if path.suffix == ".json" else _yaml(text)
    except ValueError as error:
        raise LabError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error


def _yaml(text: str) -> Any:
    if find_spec("yaml") is None:
        raise missing("yaml")
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _flat(tree: Any, prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names."""
    if not isinstance(tree, dict):
        return {}
    found: dict[str, Any] = {}
    for name, value in tree.items():
        inner = _flat(value, f"{prefix}{name}.") if isinstance(value, dict) and value else None
        found |= inner if inner is not None else {f"{prefix}{name}": _number(value)}
    return found


def _number(value: Any) -> Any:
    """yaml takes 1e-6 for a text; TRL and Hydra do not."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+", value):
        return float(value)
    return value


def _overrides(text: str) -> dict[str, Any]:
    """The overrides of a script; its own variables are put in where they are plain values."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    text = "\n".join(lines)
    variables: dict[str, str] = {}
    for name, value in VARIABLE.findall(text):
        variables.setdefault(name, _expanded(value.strip("\"'"), variables))
    found = {}
    for name, value in OVERRIDE.findall(text):
        written = _expanded(value.strip("\"'"), variables)
        if "$" not in written:
            try:
                found[name] = _number(_yaml(written))
                continue
            except ValueError:
                pass
        found[name] = written
    return found


def _expanded(value: str, variables: dict[str, str]) -> str:
    """${NAME}, $NAME and ${NAME:-default} where the script gives them."""

    def put(match: re.Match[str]) -> str:
        name, default = match[1] or match[3], match[2]
        known = variables.get(name, "")
        return known if known and "$" not in known else match[0] if default is None else default

    return re.sub(r"\$\{(\w+)(?::-([^{}]*))?\}|\$(\w+)", put, value)


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise missing(name)
    return Path(next(iter(spec.submodule_search_locations)))


# --- TRL ------------------------------------------------------------------------------------------


def _trl(given: dict[str, Any]) -> Reading:
    trl, transformers = _package("trl"), _package("transformers")
    of_grpo = _fields(trl / "trainer/base_config.py") | _fields(trl / "trainer/grpo_config.py")
    files = ("trainer/model_config.py", "scripts/utils.py", "scripts/grpo.py")
    others = [_fields(trl / file) for file in files]
    arguments = _fields(transformers / "training_args.py")
    defaults = arguments | of_grpo
    known = {*defaults, *(name for one in others for name in one), "env"}
    settings: dict[str, Any] = {name: given.get(name, defaults.get(name)) for name in READ_TRL}
    reading = Reading(f"TRL {version('trl')}", settings, given, known)
    steps = whole("gradient_accumulation_steps", settings["gradient_accumulation_steps"])
    per_step = whole("per_device_train_batch_size", settings["per_device_train_batch_size"])
    batch, split = settings["generation_batch_size"], settings["steps_per_generation"]
    split = split or (max(1, int(batch) // per_step) if batch else steps)
    reading.splits = max(1, int(split) // steps)
    reading.reuses = whole("num_iterations", settings["num_iterations"])
    scale = {True: "group", False: "none"}.get(settings["scale_rewards"], settings["scale_rewards"])
    parts: dict[str, Any] = {
        "N": whole("num_generations", settings["num_generations"], 2),
        "clip": settings["epsilon"],
        "clip_high": settings["epsilon_high"],
        "ratio": settings["importance_sampling_level"],
        "dual": settings["delta"],
        "kl": settings["beta"],
        "kl_estimator": "k3_ratio" if settings["use_bias_correction_kl"] else "k3",
        "entropy": settings["entropy_coef"],
        **_sampling(settings["temperature"], settings["top_p"], settings["top_k"]),
        "min_p": settings["min_p"] or 0.0,
    }
    kind = settings["loss_type"]
    if kind == "cispo":
        cap = settings["epsilon_high"]
        cap = settings["epsilon"] if cap is None else cap
        # TRL's bound is the ratio itself; there is none below, and `delta` is not read.
        parts |= {"loss": "cispo", "clip": None, "clip_high": cap - 1, "dual": None}
    elif parts["dual"] is not None:
        high = 1 + (parts["clip"] if parts["clip_high"] is None else parts["clip_high"])
        if parts["dual"] < high:
            # TRL's `delta` caps the ratio before the minimum is taken, of all advantages.
            reading.undone.append(
                f"delta = {parts['dual']:g} is below 1 + epsilon_high = {high:g}: it ends the rise"
                " of right answers earlier, and wrong ones are held by epsilon_high instead"
            )
            parts |= {"clip_high": parts["dual"] - 1, "dual": high}
    sums = {"dr_grpo": "sequence-sum", "luspo": "sequence-sum"}
    means = {"grpo": "sequence-mean", "bnpo": "token-mean", "dapo": "token-mean"}
    parts["aggregation"] = (sums | means | {"cispo": "token-mean"}).get(kind)
    if kind == "dr_grpo":
        reading.divisor = whole("max_completion_length", settings["max_completion_length"])
    name = "grpo(ddof=1, eps=0.0001)" if scale == "group" else "dr_grpo"
    if parts["aggregation"] is None or scale == "batch":
        reading.outside.append(
            f"loss_type = {kind}" if scale != "batch" else "scale_rewards = batch"
        )
    else:
        reading.recipe = _made(name, parts)
    _trl_notes(reading, kind, scale, parts)
    return reading


def _fields(path: Path) -> dict[str, Any]:
    """The annotated fields of the classes in a file, with their defaults where these are plain."""
    found: dict[str, Any] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for each in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                value = each.value
                if isinstance(value, ast.Call):
                    named = {word.arg: word.value for word in value.keywords}
                    value = named.get("default")
                try:
                    found[each.target.id] = None if value is None else ast.literal_eval(value)
                except ValueError:
                    found[each.target.id] = None
    return found


def _trl_notes(reading: Reading, kind: str, scale: Any, parts: dict[str, Any]) -> None:
    settings, given, add = reading.settings, reading.given, reading.undone.append
    on_policy = reading.reuses == reading.splits == 1
    clips = [name for name in ("epsilon", "epsilon_high", "delta") if given.get(name) is not None]
    if kind == "cispo" and parts["clip_high"] < 0:
        add(
            f"loss_type = cispo with epsilon_high = {parts['clip_high'] + 1:g}: TRL takes it for"
            " the largest ratio itself, so every token, on-policy too, is multiplied by that;"
            " ScaleRL's value is 5"
        )
    elif on_policy and clips and kind != "cispo":
        add(
            f"{', '.join(clips)}: nothing is clipped, since each row is trained on once, by the"
            " policy that sampled it (num_iterations = 1, steps_per_generation ="
            " gradient_accumulation_steps)"
        )
    if kind == "dr_grpo" and scale == "group":
        add(
            "loss_type = dr_grpo with scale_rewards = group: the standard deviation that Dr. GRPO"
            " takes out is still there; scale_rewards = none is the paper's"
        )
    _sequence_clip(reading, parts["ratio"], parts["clip"])
    if kind == "luspo" and parts["ratio"] == "token":
        add("loss_type = luspo with ratios of tokens: LUSPO's are those of sequences")
    if settings["beta"] and not settings["use_bias_correction_kl"]:
        reading.outside.append(
            "beta: k3 in the loss pulls along grad KL(reference || policy), not the reverse; groups"
            " that agree are pulled too"
        )
    if settings["mask_truncated_completions"]:
        reading.outside.append(
            "mask_truncated_completions: a cut answer leaves the loss, and stays in its"
            " group's mean"
        )
    if (settings["top_entropy_quantile"] or 1.0) < 1.0:
        reading.outside.append("top_entropy_quantile: only part of the tokens is trained")
    if settings["multi_objective_aggregation"] == "normalize_then_sum":
        reading.outside.append("multi_objective_aggregation = normalize_then_sum")


# --- verl -----------------------------------------------------------------------------------------

READ_VERL = {
    f"{ACTOR}{name}"
    for name in "clip_ratio clip_ratio_low clip_ratio_high clip_ratio_c policy_loss.loss_mode"
    " loss_agg_mode loss_scale_factor use_kl_loss kl_loss_coef kl_loss_type entropy_coeff"
    " ppo_epochs ppo_mini_batch_size".split()
} | {f"{ROLLOUT}{name}" for name in ("n", "temperature", "top_p", "top_k")}
READ_VERL |= {
    f"algorithm.{name}"
    for name in "adv_estimator norm_adv_by_std_in_grpo use_kl_in_reward filter_groups.enable"
    " rollout_correction.rollout_is".split()
} | {"data.train_batch_size", "data.max_response_length"}
ESTIMATORS = {"grpo", "grpo_vectorized", "rloo", "rloo_vectorized"}
AGGREGATIONS = {
    "token-mean": "token-mean",
    "seq-mean-token-sum": "sequence-sum",
    "seq-mean-token-sum-norm": "sequence-sum",
    "seq-mean-token-mean": "sequence-mean",
}
LOSSES = {"vanilla": "clip", "gspo": "clip", "cispo": "cispo", "gpg": "score"}
# The gradient is what counts: of "k3+" it is that of k2.
KL_OF_VERL = {"kl": "k1", "k1": "k1", "mse": "k2", "k2": "k2", "low_var_kl": "k3", "k3": "k3"}
KL_OF_VERL |= {
    "kl+": "k2",
    "k1+": "k2",
    "mse+": "k2",
    "k2+": "k2",
    "low_var_kl+": "k2",
    "k3+": "k2",
}


def _verl(given: dict[str, Any]) -> Reading:
    shipped = _package("verl") / "trainer/config"
    trees = {
        file.stem: _flat(_parsed(file, file.read_text(encoding="utf-8")))
        for file in sorted(shipped.glob("_generated_ppo_*trainer.yaml"))  # one for each backend
    }
    defaults = trees["_generated_ppo_trainer"]
    settings = defaults | given
    names = {name for tree in trees.values() for name in tree}
    branches = {name.rsplit(".", 1)[0] for name in names}
    # What they hold is for other packages, which have names of their own.
    open_ended = ("_kwargs.", ".override_", "distillation.")
    known = {*names, *branches, *(n for n in given if any(part in n for part in open_ended))}
    reading = Reading(f"verl {version('verl')}", settings, given, known)
    for name in sorted(READ_VERL & given.keys()):
        if isinstance(given[name], str) and "$" in given[name]:
            settings[name] = defaults.get(name)
            reading.outside.append(
                f"{name} = {given[name]}: its value is not in the file; verl's default here"
            )
    estimator, mode = settings["algorithm.adv_estimator"], settings[f"{ACTOR}policy_loss.loss_mode"]
    N = whole("rollout.n", settings[f"{ROLLOUT}n"])
    low, high = settings[f"{ACTOR}clip_ratio_low"], settings[f"{ACTOR}clip_ratio_high"]
    clip = settings[f"{ACTOR}clip_ratio"]
    batch, mini = settings["data.train_batch_size"], settings[f"{ACTOR}ppo_mini_batch_size"]
    reading.splits = max(1, int(batch) // whole("ppo_mini_batch_size", mini))
    reading.reuses = whole("ppo_epochs", settings[f"{ACTOR}ppo_epochs"])
    kl_type = str(settings[f"{ACTOR}kl_loss_type"])
    aggregation = settings[f"{ACTOR}loss_agg_mode"]
    parts: dict[str, Any] = {
        "N": N,
        "loss": LOSSES.get(mode),
        "clip": clip if low is None else low,
        "clip_high": clip if high is None else high,
        "dual": settings[f"{ACTOR}clip_ratio_c"] if mode == "vanilla" else None,
        "ratio": "sequence" if mode == "gspo" else "token",
        "aggregation": AGGREGATIONS.get(aggregation),
        "kl": settings[f"{ACTOR}kl_loss_coef"] if settings[f"{ACTOR}use_kl_loss"] else 0.0,
        "kl_estimator": KL_OF_VERL.get(kl_type),
        "entropy": settings[f"{ACTOR}entropy_coeff"],
        **_sampling(*(settings[f"{ROLLOUT}{name}"] for name in ("temperature", "top_p", "top_k"))),
    }
    if aggregation == "seq-mean-token-sum-norm":
        own = settings[f"{ACTOR}loss_scale_factor"]
        reading.divisor = real("loss_scale_factor", own or settings["data.max_response_length"], 1)
    if settings["algorithm.filter_groups.enable"]:
        parts["gate"] = "drop"
    name = "rloo"
    if str(estimator).startswith("grpo"):
        by_std = settings["algorithm.norm_adv_by_std_in_grpo"]
        name = "grpo(ddof=1, eps=1e-06)" if by_std else "dr_grpo"
    distilled = bool(settings.get("distillation.enabled"))
    if distilled:
        reading.outside.append("distillation.enabled: a teacher is followed as well")
    if N == 1 and estimator in ESTIMATORS and not distilled:
        name = "reinforce"
        reading.undone.append(
            f"adv_estimator = {estimator} with rollout.n = 1: a group of one has no mean and no"
            " deviation, and verl gives it its reward as it is"
            if estimator != "rloo_vectorized"
            else "adv_estimator = rloo_vectorized with rollout.n = 1: verl gives a group of one 0"
        )
    unread = [
        f"{key} = {value}"
        for key, value, known_values in (
            ("algorithm.adv_estimator", estimator, ESTIMATORS),
            ("policy_loss.loss_mode", mode, LOSSES),
            ("loss_agg_mode", aggregation, AGGREGATIONS),
            ("kl_loss_type", kl_type, KL_OF_VERL if parts["kl"] else {kl_type}),
        )
        if value not in known_values
    ]
    reading.outside += unread
    if not unread and not (distilled and N == 1):
        if not parts["kl"]:
            parts.pop("kl_estimator")
        reading.recipe = _made(name, parts)
    _verl_notes(reading, mode, parts)
    return reading


def _verl_notes(reading: Reading, mode: str, parts: dict[str, Any]) -> None:
    settings, given, add = reading.settings, reading.given, reading.undone.append
    clips = [name for name in given if name.startswith(f"{ACTOR}clip_ratio")]
    if f"{ACTOR}clip_ratio" in given and not {
        f"{ACTOR}clip_ratio_low",
        f"{ACTOR}clip_ratio_high",
    } & set(given):
        add(
            "actor.clip_ratio alone changes nothing: clip_ratio_low and clip_ratio_high have"
            " defaults of their own (0.2), and those are used"
        )
    if reading.reuses == reading.splits == 1 and clips:
        add(
            "clip_ratio: nothing is clipped, since each row is trained on once, by the policy that"
            " sampled it (ppo_epochs = 1, ppo_mini_batch_size = train_batch_size)"
        )
    if mode == "gspo" and f"{ACTOR}clip_ratio_c" in given:
        add("clip_ratio_c with loss_mode = gspo: not read there")
    _sequence_clip(reading, parts["ratio"], parts["clip"])
    if parts["kl"] and settings["algorithm.use_kl_in_reward"]:
        add("use_kl_loss with use_kl_in_reward: the KL is paid for twice")
    if settings["algorithm.use_kl_in_reward"]:
        reading.outside.append(
            "algorithm.use_kl_in_reward: rewards are no longer 0 and 1; a standard deviation"
            " divides the penalty too"
        )
    if parts["kl"] and parts["kl_estimator"] == "k1":
        add(
            "kl_loss_type = kl: the gradient of k1 has mean zero, so it only adds noise; k2 is KL's"
        )
    if parts["kl"] and parts["kl_estimator"] == "k3":
        reading.outside.append(
            "kl_loss_type = low_var_kl: k3 in the loss pulls along grad KL(reference || policy)"
        )
    if settings["algorithm.rollout_correction.rollout_is"]:
        reading.outside.append("algorithm.rollout_correction: weights for the engine's own policy")


# --- Both -----------------------------------------------------------------------------------------


def _sampling(temperature: Any, top_p: Any, top_k: Any) -> dict[str, Any]:
    """Both train at the temperature that they sample at, and neither corrects for the cuts."""
    return {
        "temperature": temperature,
        "score_temperature": temperature,
        "top_p": float(top_p),
        "top_k": max(0, int(top_k or 0)),
    }


def _made(name: str, parts: dict[str, Any]) -> Recipe:
    return recipe(name, **{part: value for part, value in parts.items() if value is not None})


def _sequence_clip(reading: Reading, ratio: str, clip: Any) -> None:
    if ratio == "sequence" and clip and clip >= 0.05:
        reading.undone.append(
            f"a ratio of sequences with a clip of {clip:g}: it is the mean over an answer's tokens,"
            " so 100 tokens must together change by"
            f" a factor of {(1 + clip) ** 100:.0e}; verl's example of GSPO clips at 3e-4"
        )


def explain_config(path: Path, shown: Callable[[np.ndarray], str]) -> str:
    """The configuration in `path` on one screen; `shown` writes a row of numbers."""
    found = read(path)
    lines = [f"{found.framework}: {path.name}, {len(found.given)} settings given", ""]
    if found.recipe is None:
        lines += ["the calculus does not have: " + "; ".join(found.outside)]
    else:
        lines += _screen(found, found.recipe, shown)
    lines += _listed("undo each other", found.undone)
    lines += _listed("to know", found.outside if found.recipe else [])
    if names := found.unknown_keys:
        hints = [str(unknown("name", name, found.known)).split(" Valid:")[0] for name in names[:8]]
        lines += _listed(f"not names of {found.framework}", hints)
    lines += ["", "what each setting means: docs/trainers.md"]
    return "\n".join(_wrapped(line) for line in lines)


def _wrapped(line: str) -> str:
    """A line of words at the width of a screen; its further lines stand under its first word."""
    if not line.startswith(("recipe", "climbs", "steps", "the", "  -")):
        return line  # a row of numbers
    indent = " " * (4 if line.startswith("  -") else 9)
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _screen(found: Reading, one: Recipe, shown: Callable[[np.ndarray], str]) -> list[str]:
    N = one.N
    agree = RATES**N + (1 - RATES) ** N if N > 1 else np.zeros_like(RATES)
    small = recipe(one.estimator, N=N, gate=one.gate)
    lines = [f"recipe   {one.spec}", "climbs   " + _climbs(one)]
    rows = {"p": RATES, "w": small.weight(RATES), "agree": agree, "N/mixed": N / (1 - agree)}
    notes = {
        "w": "the weight on grad p, while steps are small",
        "agree": "groups whose rollouts agree",
        "N/mixed": "rollouts for a group that does not",
    }
    if N > 1 and (found.reuses > 1 or found.splits > 1) and one.loss.loss != "score":
        rows["clipped"] = (1 - agree) / RATES
        notes["clipped"] = "its shape where the clip is reached, times a constant"
    if found.divisor != 1:
        lines += [f"         every step is divided by a constant, {found.divisor:g}"]
    if found.reuses > 1 or found.splits > 1:
        lines += [
            f"steps    {found.splits} a batch, each row {found.reuses} times: ratios leave 1"
            + (" by the steps on other rows alone" if found.reuses == 1 else "")
        ]
    rest = [
        f"{name:>8} {shown(row)}   {notes.get(name, '')}".rstrip() for name, row in rows.items()
    ]
    return [*lines, "", *rest]


def _climbs(one: Recipe) -> str:
    """What the small steps of a recipe climb, in words."""
    said = f"w grad p of {one.estimator}"
    if one.loss.aggregation == "sequence-mean":
        said = (
            f"w Cov(r, S/length) of {one.estimator}: a long wrong answer is punished less a token"
        )
    if one.sampler.temperature != 1:
        said += f"; p is the pass rate at temperature {one.sampler.temperature:g}"
    if not one.sampler.is_policy:
        said += "; and a pull towards what the cut sampler can draw, which no reward asks for"
    if one.loss.kl:
        said += f"; minus {one.loss.kl:g} times a KL term"
    return said


def _listed(title: str, sentences: Iterable[str]) -> list[str]:
    sentences = list(sentences)
    return ["", f"{title}:", *(f"  - {one}" for one in sentences)] if sentences else []
