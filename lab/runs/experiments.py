"""Experiments and their presets: the parameters, their allowed values, and the values by scale.

Each experiment has one TOML file in lab/presets. `[laptop]` sets every parameter; the other scales
list only what differs from it. `[parameters]` gives the meaning and the range of each parameter. A
preset with `like = "OTHER"` inherits the trainer, the start, the parameters, laptop and smoke of
the other preset, except for what it lists itself. Nothing runs before every value was checked.
"""

from __future__ import annotations

import importlib
import json
import shlex
import tomllib
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from lab.errors import LabError, unknown
from lab.records import Pause, Record
from lab.runs.former_names import in_present_names

PRESETS = Path(__file__).parents[1] / "presets"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SCALES = ("smoke", "laptop", "gpu24", "h100", "h200", "paper")
# Refused without a GPU, unless device=cpu is given.
GPU_SCALES = ("gpu24", "h100", "h200", "paper")


@dataclass(frozen=True)
class Experiment:
    """One experiment as its preset describes it.

    `trainer` is "module:function", or None for a notebook that trains nothing. `start` is the
    table [start] of the preset. `rules` holds help, range and choices by parameter, `scales` the
    values by scale and parameter.
    """

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
        """Every parameter at `scale`, with those in `given` replaced.

        Each value is checked by itself, then the trainer checks them together. LabError: an unknown
        scale or parameter, a wrong type, a value out of range, or values that exclude each other.
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

    def command(self, scale: str, parameters: dict[str, Any]) -> str:
        """The command line of a run at `scale`, with the parameters that the preset does not set.

        `parameters` are all of the run's, by their present or former names.
        """
        usual = self.scales["laptop"] | self.scales[scale]
        given = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in in_present_names(parameters, usual).items()
            if key not in usual or value != usual[key]
        }
        assignments = [f"{key}={value}" for key, value in given.items()]
        return shlex.join(["lab", "train", self.name, f"scale={scale}", *assignments])

    @property
    def before(self) -> Experiment | None:
        """The training whose result this one starts from ([start] of the preset), if any."""
        if not self.start:
            return None
        names = self.start["parameters"]
        scales = {
            scale: {key: value for key, value in values.items() if key in names}
            for scale, values in self.scales.items()
        }
        return replace(
            self,
            name=f"{self.name}_start",
            title=f"{self.title} The start.",
            trainer=self.start["trainer"],
            start=None,
            rules={key: self.rules[key] for key in names},
            scales=scales,
        )

    def train(
        self, parameters: dict[str, Any], state: dict[str, Any] | None, **start: dict[str, Any]
    ) -> Generator[Record | Pause, None, None]:
        """The trainer's generator of records, from the checkpoint `state` on if there is one.

        `start` is the final state of the training that this one starts from, if it has one.
        """
        trainer = getattr(self.module, self._trainer_path[1])
        return trainer(state=state, **start, **parameters)

    def header(self, parameters: dict[str, Any]) -> str:
        """The first lines of a run's log: title, parameters, and the rules of its estimator."""
        lines = [f"{self.name}: {self.title}"]
        lines += [f"  {key} = {value!r}" for key, value in parameters.items()]
        if self.trainer:
            from lab.device import describe_device

            lines += [*self.module.preflight(**parameters), f"  device: {describe_device()}"]
        return "\n".join(lines)

    @property
    def module(self) -> ModuleType:
        """The module of the trainer. LabError: the experiment has none."""
        return importlib.import_module(self._trainer_path[0])

    @property
    def _trainer_path(self) -> tuple[str, str]:
        """Module and function of the trainer."""
        if self.trainer is None:
            raise LabError(f"{self.name} trains nothing: use lab run {self.name}")
        module, _, function = self.trainer.partition(":")
        return module, function

    def _checked(self, key: str, value: Any) -> Any:
        usual, rule = self.scales["laptop"][key], self.rules[key]
        if isinstance(usual, list) and isinstance(value, list):
            if not value:
                raise LabError(f"{self.name}: {key} = [] is empty: give at least one value")
            return [self._checked_one(key, element, usual[0], rule) for element in value]
        return self._checked_one(key, value, usual, rule)

    def _checked_one(self, key: str, value: Any, usual: Any, rule: dict[str, Any]) -> Any:
        # A whole number is accepted for a real one; True is an int for Python, but not here.
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
    """Check the parameters of an experiment and print the header of its run.

    The first cell of every notebook calls it.
    """
    chosen = experiment(name)
    print(chosen.header(chosen.parameters(given=given)))


def read_preset(path: Path) -> Experiment:
    """Read a preset file. LabError: a fault in it, with the name of the file and the key."""
    try:
        content = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path.name}: {error}; fix the file") from error
    if "like" in content:
        content = _inherit(content.pop("like"), content, path)
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
    rules = content["parameters"]
    scales = {scale: content[scale] for scale in SCALES if scale in content}
    for rule in rules.values():
        for key in rule.keys() - {"least", "most", "choices", "help"}:
            raise unknown(f"rule of {path.name}", key, ["least", "most", "choices", "help"])
    start = content.get("start")
    if not isinstance(start, dict | None):
        raise LabError(
            f"{path.name}: start = {start!r} is not a table: write [start], then trainer and"
            " parameters"
        )
    if start is not None:
        for key in start.keys() ^ {"trainer", "parameters"}:
            raise unknown(
                f"key of {path.name} [start], or one that it lacks:", key, ["trainer", "parameters"]
            )
        for key in start["parameters"]:
            if key not in rules:
                raise unknown(f"parameter of {path.name} [start]", key, rules)
    for scale, values in scales.items():
        # laptop lists every parameter, the other scales only some.
        complete = scale == "laptop"
        for key in values.keys() ^ rules.keys() if complete else values.keys() - rules.keys():
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


def _inherit(parent: str, content: dict[str, Any], path: Path) -> dict[str, Any]:
    """The content of a preset, completed from the preset that it is `like`."""
    parent_path = path.parent / f"{parent}.toml"
    if not parent_path.exists():
        raise unknown(
            f"preset that {path.name} is like,",
            str(parent),
            [preset.stem for preset in path.parent.glob("*.toml")],
        )
    inherited = tomllib.loads(parent_path.read_text())
    for key in ("trainer", "start"):
        if key in inherited:
            content.setdefault(key, inherited[key])
    for key in ("parameters", "laptop", "smoke"):
        content[key] = inherited.get(key, {}) | content.get(key, {})
    return content


def read_assignments(assignments: list[str]) -> dict[str, Any]:
    """Texts of the form `key=value` as a dictionary.

    A value is read as TOML, and as plain text if it is not valid TOML.

    >>> read_assignments(["steps=20", "estimator=maxrl", "rates=[0.1, 0.5]"])
    {'steps': 20, 'estimator': 'maxrl', 'rates': [0.1, 0.5]}
    """
    values: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.isidentifier():
            raise LabError(f"cannot read {assignment!r}: write key=value, for example rollouts=16")
        if key in values:
            raise LabError(f"{key} is given twice: keep one")
        try:
            values[key] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            values[key] = text
    return values
