"""`lab cluster`: a preset written for verl on many GPUs, as a folder that a cluster can run. Floor
3.

    train.sh        verl's complete command; also runs by itself on a single machine
    slurm.sh        for Slurm: starts Ray on every node, at the first one's address (address.sh) and
                    only for who knows the job's token, waits for all (wait.sh), then train.sh
    ray_job.sh      for a Ray cluster that is there already
    config.yaml     what verl makes of the command, whole and checked, for reading; its paths are of this folder
    train.parquet, eval-SET.parquet                    the problems in verl's form
    params.json, provenance.json                       as in every run folder

The folder must lie where all nodes see it; checkpoints, verl's log (verl-TIME.jsonl) and a model of
the hub (model/, which its file REVISION names) come to lie in it too.
"""

from __future__ import annotations

import io
import re
import shlex
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lab.errors import LabError, whole
from lab.llm.data.datasets import Problem
from lab.llm.data.problem_sets import problem_set
from lab.llm.data.prompts import load_prompt
from lab.llm.train import verl_config
from lab.llm.verify.verifier import Verifier
from lab.runs.experiments import PRESETS, experiment, experiments
from lab.runs.run_folder import Run, write_atomically

TRAINER = "lab.llm.train.trainer:train"
SCRIPTS = PRESETS / "cluster"


@dataclass(frozen=True)
class Job:
    """A preset's parameters on nodes x gpus."""

    name: str
    scale: str
    values: dict[str, Any]
    nodes: int
    gpus: int

    @property
    def parameters(self) -> dict[str, Any]:
        return self.values | {"nodes": self.nodes, "gpus": self.gpus}

    @property
    def run(self) -> Run:
        return Run.place(f"{self.name}_cluster", self.parameters)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """verl's settings, key by key; LabError for what verl cannot do."""
        place = self.run.path
        return verl_config.settings(
            self.values, self.nodes, self.gpus, place, f"{self.name}-{place.name}"
        )

    @property
    def header(self) -> list[str]:
        """What is about to run, and what a reader of the command must know besides."""
        return [
            (
                f"{self.name} at scale {self.scale}, estimator {self.values['estimator']}, "
                f"on {self.nodes} x {self.gpus} GPUs"
            ),
            *verl_config.remarks(self.values),
        ]

    @property
    def command(self) -> str:
        """verl's complete command, one setting a line; $RUN, $STARTED and $PYTHON are those of
        train.sh.
        """
        return " \\\n    ".join(
            [
                '"$PYTHON" -m verl.trainer.main_ppo',
                *map(_quoted, verl_config.hydra_overrides(self.settings)),
                '"$@"',
            ]
        )

    @property
    def scripts(self) -> dict[str, str]:
        """The shell scripts by name; none holds a path of this machine."""
        marks = {
            "HEADER": "\n".join(f"# {line}" for line in self.header),
            "NAME": self.name,
            "NODES": str(self.nodes),
            "GPUS": str(self.gpus),
            "TOTAL": str(self.nodes * self.gpus),
            "COMMAND": self.command,
            "MODEL": verl_config.hub_model(self.values["model"]),
            "ESTIMATOR": self.settings["algorithm.adv_estimator"],
            "LOSS": self.settings["actor_rollout_ref.actor.policy_loss.loss_mode"],
        }
        return {
            path.name: re.sub(r"@([A-Z]+)@", lambda mark: marks[mark[1]], path.read_text())
            for path in sorted(SCRIPTS.glob("*.sh"))
        }


def job(name: str, given: dict[str, Any]) -> Job:
    """The job of a language-model preset; `given` holds its parameters, scale (paper), nodes (1)
    and gpus (8).

    `estimator` may also be "ppo": verl's own, with a critic. LabError: another experiment, or what
    verl cannot do.
    """
    given = dict(given)
    scale, nodes, gpus = (
        str(given.pop("scale", "paper")),
        given.pop("nodes", 1),
        given.pop("gpus", 8),
    )
    chosen = experiment(name)
    if chosen.trainer != TRAINER:
        known = [one for one in experiments() if experiment(one).trainer == TRAINER]
        raise LabError(
            f"{name} trains no language model, and verl trains nothing else: take"
            f" {', '.join(known)}"
        )
    values = replace(chosen, trainer=None).parameters(
        scale, given
    )  # without the checks of one node's trainer
    made = Job(name, scale, values, whole("nodes", nodes), whole("gpus", gpus))
    _ = made.settings  # refuses before anything is written
    return made


def prepare(made: Job) -> Run:
    """Write the folder of a job and return it. Needs verl, for its check, and the sets of problems."""
    config = verl_config.compose(made.settings)
    written, names = load_prompt(made.values["prompt"]), made.values["eval_sets"]
    tables = {"train.parquet": _rows(made, made.values["train_set"], "train", written)}
    tables |= {
        verl_config.eval_file_name(name): _rows(made, name, "test", written) for name in names
    }
    if len(tables) != 1 + len(names):
        raise LabError(f"eval_sets = {names}: two of them would have the same file; rename one")
    run = made.run.open(f"{made.name}_cluster", made.scale, made.parameters)
    for name, table in tables.items():
        write_atomically(run.path / name, table)
    from omegaconf import OmegaConf

    write_atomically(run.path / "config.yaml", OmegaConf.to_yaml(config, resolve=True))
    for name, text in made.scripts.items():
        write_atomically(run.path / name, text)
    return run


def _quoted(word: str) -> str:
    """A word for bash, which fills in `RUN` and the time of the start and nothing else."""
    if shlex.quote(word) == word:
        return word
    return '"' + re.sub(r'["`\\]|\$(?!RUN\b|STARTED\b)', r"\\\g<0>", word) + '"'


def _rows(made: Job, name: str, split: str, written: Any) -> bytes:
    """A set as a parquet file of verl's, without the problems whose gold answers cannot be
    compared.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = problem_set(
        name,
        made.values["problems" if split == "train" else "eval_problems"] or None,
        made.values["folder_of_data"],
        split,
    )
    kept = _usable(found.problems, made.values["style"])
    print(
        f"{split}: {found}"
        + (
            f"; {len(found.problems) - len(kept)} more have no usable gold answer"
            if len(kept) < len(found.problems)
            else ""
        ),
        flush=True,
    )
    if split == "train" and len(kept) < made.values["prompts"]:
        raise LabError(
            f"{name} has {len(kept)} usable problems and a batch takes {made.values['prompts']}: "
            "lower prompts, or take another set"
        )
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(verl_config.rows(kept, written, split)), out)
    return out.getvalue()


def _usable(problems: tuple[Problem, ...], style: str) -> list[Problem]:
    with Verifier(style) as verifier:
        broken = verifier.unparsable([problem.answer for problem in problems])
    return [problem for at, problem in enumerate(problems) if problem.answer and at not in broken]
