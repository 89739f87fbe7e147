"""Experiments and their presets: which parameters there are, what they may be, what each scale
sets. Floor 3.

One TOML file an experiment in lab/presets. `[laptop]` gives every parameter; the other scales list
only what differs. `[parameters]` says of each what it means and its range. A preset that says `like
= "OTHER"` has the other's trainer, parameters, laptop and smoke, except for what it lists itself.
Nothing runs before every value has passed.
"""

from __future__ import annotations

import importlib
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.errors import LabError, unknown
from lab.runs.former_names import in_present_names

PRESETS = Path(__file__).parents[1] / "presets"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SCALES = ("smoke", "laptop", "gpu24", "h100", "h200", "paper")
# Refused without a GPU, unless device=cpu is said aloud.
GPU_SCALES = ("gpu24", "h100", "h200", "paper")


@dataclass(frozen=True)
class Experiment:
    """`trainer` is "module:function", or None for a notebook that trains nothing."""

    name: str
    title: str
    notebook: Path
    trainer: str | None
    start: dict[str, Any] | None
    rules: dict[str, dict[str, Any]]
    scales: dict[str, dict[str, Any]]

    def parameters(
        self, scale: str = "laptop", given: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Every parameter at `scale` with those in `given` replaced; each is checked, then all
        together.
        """
        if scale not in self.scales:
            raise unknown(f"scale of {self.name}", scale, self.scales)
        values = self.scales["laptop"] | self.scales[scale]
        for key, value in in_present_names(given or {}, values).items():
            if key not in values:
                raise unknown(f"parameter of {self.name}", key, values)
            values[key] = value
        values = {key: self._checked(key, value) for key, value in values.items()}
        if self.trainer:
            self.module.preflight(**values)
        return values

    @property
    def before(self) -> Experiment | None:
        """The training that this one starts from: the trainer and the parameters under [start] of
        the preset.
        """
        if not self.start:
            return None
        kept = self.start["parameters"]
        scales = {
            scale: {key: value for key, value in values.items() if key in kept}
            for scale, values in self.scales.items()
        }
        return replace(
            self,
            name=f"{self.name}_start",
            title=f"{self.title} The start.",
            trainer=self.start["trainer"],
            start=None,
            rules={key: self.rules[key] for key in kept},
            scales=scales,
        )

    def train(
        self, parameters: dict[str, Any], state: dict[str, Any] | None, **start: dict[str, Any]
    ):
        """The trainer's generator of records; `start` is the last state of the training before it,
        if it has one.
        """
        return getattr(self.module, self.trainer.split(":")[1])(state=state, **start, **parameters)

    def header(self, parameters: dict[str, Any]) -> str:
        """What is about to run, for the top of its log: title, values, and the rules of its
        estimator.
        """
        lines = [f"{self.name}: {self.title}"] + [
            f"  {key} = {value!r}" for key, value in parameters.items()
        ]
        if self.trainer:
            from lab.device import describe_device

            lines += [*self.module.preflight(**parameters), f"  device: {describe_device()}"]
        return "\n".join(lines)

    @property
    def module(self):
        """The module of its trainer."""
        return importlib.import_module(self.trainer.split(":")[0])

    def _checked(self, key: str, value: Any) -> Any:
        usual, rule = self.scales["laptop"][key], self.rules[key]
        if isinstance(usual, list) and isinstance(value, list):
            if not value:
                raise LabError(f"{self.name}: {key} = [] is empty: give at least one value")
            return [self._checked_one(key, one, usual[0], rule) for one in value]
        return self._checked_one(key, value, usual, rule)

    def _checked_one(self, key: str, value: Any, usual: Any, rule: dict[str, Any]) -> Any:
        if isinstance(usual, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not type(usual):
            raise LabError(
                f"{self.name}: {key} = {value!r} is {type(value).__name__}, "
                f"it must be {type(usual).__name__} like {usual!r}"
            )
        self._in_range(key, value, rule)
        return value

    def _in_range(self, key: str, value: Any, rule: dict[str, Any]) -> None:
        low, high = rule.get("least", float("-inf")), rule.get("most", float("inf"))
        if isinstance(value, (int, float)) and not low <= value <= high:
            raise LabError(
                f"{self.name}: {key} = {value!r} is out of range, it must be in [{low}, {high}]"
            )
        if "choices" in rule and value not in rule["choices"]:
            raise unknown(f"value of {self.name}'s {key}", str(value), map(str, rule["choices"]))


def experiments() -> list[str]:
    """The names of all experiments."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def experiment(name: str) -> Experiment:
    """The experiment called `name`, its preset file read and checked."""
    if name not in experiments():
        raise unknown("experiment", name, experiments())
    return read_preset(PRESETS / f"{name}.toml")


def preflight(name: str, **given: Any) -> None:
    """Check the parameters of an experiment and print the header of its run: the first cell of
    every notebook.
    """
    chosen = experiment(name)
    print(chosen.header(chosen.parameters(given=given)))


def read_preset(path: Path) -> Experiment:
    """One preset file; a fault in it is an error that names the file and the key."""
    try:
        content = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path.name}: {error}; mend the file") from error
    if "like" in content:
        content = _alike(content.pop("like"), content, path)
    for key in ("title", "notebook", "parameters", "laptop"):
        if key not in content:
            raise LabError(
                f"{path.name}: no {key!r}; every preset needs title, notebook, parameters and"
                " laptop"
            )
    for key in content:
        if key not in ("title", "notebook", "trainer", "start", "parameters", *SCALES):
            raise unknown(
                f"key of {path.name}", key, ["like", "trainer", "start", "parameters", *SCALES]
            )
    rules, scales = content["parameters"], {s: content[s] for s in SCALES if s in content}
    for rule in rules.values():
        for key in rule.keys() - {"least", "most", "choices", "help"}:
            raise unknown(f"rule of {path.name}", key, ["least", "most", "choices", "help"])
    start = content.get("start")
    if not isinstance(start, dict | None):
        raise LabError(
            f"{path.name}: start = {start!r} is no table: write [start], then trainer and"
            " parameters"
        )
    for key in () if start is None else start.keys() ^ {"trainer", "parameters"}:
        raise unknown(
            f"key of {path.name} [start], or one that it lacks:", key, ["trainer", "parameters"]
        )
    for key in start["parameters"] if start else ():
        if key not in rules:
            raise unknown(f"parameter of {path.name} [start]", key, rules)
    for scale, values in scales.items():
        for key in (
            values.keys() ^ rules.keys() if scale == "laptop" else values.keys() - rules.keys()
        ):
            raise unknown(f"parameter of {path.name} [{scale}], or one that it lacks:", key, rules)
    return Experiment(
        path.stem,
        content["title"],
        NOTEBOOKS / content["notebook"],
        content.get("trainer"),
        start,
        rules,
        scales,
    )


def _alike(other: str, content: dict[str, Any], path: Path) -> dict[str, Any]:
    """The content of a preset that is like another one, with what it takes from there."""
    if not (path.parent / f"{other}.toml").exists():
        raise unknown(
            f"preset that {path.name} is like,",
            str(other),
            [one.stem for one in path.parent.glob("*.toml")],
        )
    model = tomllib.loads((path.parent / f"{other}.toml").read_text())
    for key in ("trainer", "start"):
        if key in model:
            content.setdefault(key, model[key])
    for key in ("parameters", "laptop", "smoke"):
        content[key] = model.get(key, {}) | content.get(key, {})
    return content


def read_assignments(words: list[str]) -> dict[str, Any]:
    """`key=value` words as a dictionary; a value is read as TOML, and as plain text where it is not
    TOML.

    >>> read_assignments(["steps=20", "estimator=maxrl", "rates=[0.1, 0.5]"])
    {'steps': 20, 'estimator': 'maxrl', 'rates': [0.1, 0.5]}
    """
    given: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key.isidentifier():
            raise LabError(f"cannot read {word!r}: write key=value, for example rollouts=16")
        if key in given:
            raise LabError(f"{key} is given twice: keep one")
        try:
            given[key] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            given[key] = text
    return given
