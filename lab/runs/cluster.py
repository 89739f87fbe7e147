"""`lab cluster`: a preset for verl on many GPUs, as a folder that a cluster can run.

    train.sh        verl's complete command; on a single machine it can be run directly
    slurm.sh        for Slurm: starts Ray on every node, at the address of the first (address.sh)
                    and protected by a token of the job; waits for all (wait.sh), runs train.sh
    ray_job.sh      for a Ray cluster that already runs
    config.yaml     the complete configuration that verl derives from the command, checked; for
                    reading only, its paths are those of this folder
    train.parquet, eval-SET.parquet                    the problems in verl's format
    params.json, provenance.json                       as in every run folder

The folder must be visible to all nodes, and so must plugins that are files, at the same path from
there. Checkpoints, verl's log (verl-TIME.jsonl) and a model from
the hub (model/, with its revision in the file REVISION) are written to it as well.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError, whole
from lab.llm.train import verl_config
from lab.llm.train.task import Task, loaded_set, unusable
from lab.runs.experiments import PRESETS, experiment, experiments
from lab.runs.run_folder import Run, write_atomically, write_parquet

if TYPE_CHECKING:
    import pyarrow as pa

TRAINER = "lab.llm.train.trainer:train"
SCRIPTS = PRESETS / "cluster"


@dataclass(frozen=True)
class Job:
    """A preset's parameters for `nodes` machines with `gpus` GPUs each.

    `recorded` is the configuration as the folder of its `run` names it, `settings` are verl's.
    """

    config: LanguageModelConfig
    nodes: int
    gpus: int
    recorded: LanguageModelConfig
    run: Run
    settings: dict[str, Any]

    @property
    def header(self) -> list[str]:
        """What will run, and remarks on how verl's settings differ from those of the lab."""
        config, machines = self.config, f"{self.nodes} x {self.gpus} GPUs"
        run = f"{config.name} at scale {config.scale}, estimator {config.estimator}, on {machines}"
        return [run, *verl_config.remarks(config)]

    @property
    def command(self) -> str:
        """verl's complete command, one setting per line.

        train.sh sets the variables $RUN, $STARTED and $PYTHON.
        """
        settings = map(_quoted, verl_config.hydra_overrides(self.settings))
        return " \\\n    ".join(['"$PYTHON" -m verl.trainer.main_ppo', *settings, '"$@"'])

    @property
    def scripts(self) -> dict[str, str]:
        """The shell scripts by name; they hold no path of this machine."""
        placeholders = {
            "HEADER": "\n".join(f"# {line}" for line in self.header),
            "NAME": self.config.name,
            "NODES": str(self.nodes),
            "GPUS": str(self.gpus),
            "TOTAL": str(self.nodes * self.gpus),
            "COMMAND": self.command,
            "PLUGINS": _quoted(verl_config.plugins_from(self.run.path)),
            "MODEL": verl_config.hub_model(self.config.model),
            "ESTIMATOR": self.settings["algorithm.adv_estimator"],
            "LOSS": self.settings["actor_rollout_ref.actor.policy_loss.loss_mode"],
        }
        return {
            path.name: re.sub(r"@([A-Z]+)@", lambda match: placeholders[match[1]], path.read_text())
            for path in sorted(SCRIPTS.glob("*.sh"))
        }


def job(name: str, given: dict[str, Any]) -> Job:
    """The job of a language-model preset.

    `given` holds parameters, and may hold scale (default paper), nodes (1) and gpus (8).
    LabError: an experiment that trains no language model, or something that verl cannot do.
    """
    parameters = dict(given)
    scale = str(parameters.pop("scale", "paper"))
    nodes = whole("nodes", parameters.pop("nodes", 1))
    gpus = whole("gpus", parameters.pop("gpus", 8))
    chosen = experiment(name)
    if chosen.trainer != TRAINER:
        known = [other for other in experiments() if experiment(other).trainer == TRAINER]
        raise LabError(
            f"{name} trains no language model, and verl trains nothing else: take "
            f"{', '.join(known)}"
        )
    # The checks of the single-node trainer do not apply to verl.
    config = chosen.without_trainer(scale, parameters, ".")
    assert isinstance(config, LanguageModelConfig)
    recorded = replace(config, name=f"{chosen.name}_cluster")
    run = Run.of(recorded, nodes=nodes, gpus=gpus)
    settings = verl_config.settings(config, nodes, gpus, run.path, f"{chosen.name}-{run.path.name}")
    return Job(config, nodes, gpus, recorded, run, settings)


def prepare(cluster_job: Job) -> Run:
    """Write the folder of a job and return it; needs verl and the problem sets."""
    config = cluster_job.config
    verl_settings = verl_config.compose(cluster_job.settings)
    tables = {"train.parquet": _parquet(config, config.train_set, "train")}
    for name in config.eval_sets:
        tables[verl_config.eval_file_name(name)] = _parquet(config, name, "test")
    if len(tables) != 1 + len(config.eval_sets):
        raise LabError(
            f"eval_sets = {config.eval_sets}: two of them would have the same file; rename one"
        )
    machines = {"nodes": cluster_job.nodes, "gpus": cluster_job.gpus}
    run = cluster_job.run.open(cluster_job.recorded, **machines)
    for name, table in tables.items():
        write_parquet(run.path / name, table)
    from omegaconf import OmegaConf

    write_atomically(run.path / "config.yaml", OmegaConf.to_yaml(verl_settings, resolve=True))
    for name, text in cluster_job.scripts.items():
        write_atomically(run.path / name, text)
    return run


def _quoted(argument: str) -> str:
    """An argument quoted for bash, which substitutes only $RUN and $STARTED."""
    if shlex.quote(argument) == argument:
        return argument
    return '"' + re.sub(r'["`\\]|\$(?!RUN\b|STARTED\b)', r"\\\g<0>", argument) + '"'


def _parquet(config: LanguageModelConfig, name: str, split: str) -> pa.Table:
    """A problem set in verl's format.

    Problems are left out if their gold answers cannot be compared with.
    """
    import pyarrow as pa

    loaded, task = loaded_set(config, name, split), Task.of(config)
    with task.judge() as judge:
        broken = unusable(judge, loaded.problems)
    numbered = enumerate(loaded.problems)
    usable = [problem for index, problem in numbered if problem.answer and index not in broken]
    dropped = len(loaded.problems) - len(usable)
    remark = f"; {dropped} more have no usable gold answer" if dropped else ""
    print(f"{split}: {loaded}{remark}", flush=True)
    if split == "train" and len(usable) < config.prompts:
        raise LabError(
            f"{name} has {len(usable)} usable problems and a batch takes {config.prompts}: "
            "lower prompts, or take another set"
        )
    return pa.Table.from_pylist(verl_config.rows(usable, task, split))
