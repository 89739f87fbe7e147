"""Which maze moved which: the trainings behind the explorer's panel "Who pushed me?".

    OMP_NUM_THREADS=1 python tools/maze_pushes.py

Sixteen mazes of 7x7 share the weights of a small transformer, which the lab's trainer moves for 32
steps with the mean gradient of GRPO, and again with that of MaxRL (N = 64; nothing is sampled).

A step of AdamW is a sum over mazes: the gradient is one, so the momentum is one, and the second
moments, which all mazes share, only divide. So each maze has its own part u_j of the step; what is
left is weight decay. A push is what such a part does to log p of maze i: u_j times the mean of
grad log p_i before and after the step. That is right to second order in the step, and what the
pushes on a maze miss of its change is on the page.

Then every maze is taken away in turn, and the trainer begins again on the fifteen others.

It writes start.safetensors and pushes.safetensors in data/models/mazes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from lab.configurations.toy_worlds import MazeConfig
from lab.losses import expected_factor
from lab.mathematics.estimators import estimator
from lab.project import SHIPPED
from lab.runs import experiment
from lab.runs.provenance import provenance
from lab.toy.maze import MazeExactRL, load_policy
from lab.toy.maze_env import Mazes, MazeStream
from lab.toy.maze_gradients import RateGradients, rate_gradients
from lab.toy.maze_likelihood import pass_rates
from lab.toy.maze_policy import as_texts
from lab.toy.worlds import AdamW, learn

FOLDER = SHIPPED / "data" / "models" / "mazes"
NAMES = ("grpo", "maxrl")
STEPS = 32
# The smaller transformer of the lessons in place of the presets' of 7x7, and pass rates to a
# thousandth: their gradients are those of the right answers that are found.
MAZES = 16
SETTINGS: dict[str, Any] = {
    "size": 7,
    "length": 18,
    "width": 32,
    "layers": 2,
    "mazes": MAZES,
    "measure": "fit",
    "start_steps": 150,
    "start_learning_rate": 4e-3,
    "pass_rates": "exact",
    "tolerance": 1e-3,
    "seed": 0,
}
TRAINING: dict[str, Any] = {"gradient": "expected", "rollouts": 64, "learning_rate": 3e-4}


def configured(name: str) -> MazeConfig:
    """The settings of a training with this estimator."""
    config = experiment("maze").configure("laptop", SETTINGS | TRAINING | {"estimator": name})
    assert isinstance(config, MazeConfig)
    return config


def start() -> dict[str, Tensor]:
    """The weights that every training begins with, after supervised steps."""
    before = experiment("maze").before
    assert before is not None
    *_, last = before.train(before.part_of(configured(NAMES[0])), None)
    return {key: value for key, value in last.state().items() if key.startswith("model/")}


class Same(MazeStream):
    """The same mazes at every step."""

    def __init__(self, mazes: Mazes, config: MazeConfig) -> None:
        super().__init__(mazes.size, len(mazes), config.seed, "same", mazes.walls.device)
        self.mazes = mazes

    def at(self, step: int) -> Mazes:
        return self.mazes


class Training:
    """The lab's training in some of the mazes, halted before each step and after the last."""

    def __init__(self, name: str, weights: dict[str, Tensor], chosen: Tensor | slice) -> None:
        self.config = configured(name)
        self.policy = load_policy(weights, self.config)
        self.mazes = self.policy.evaluation_set[chosen]
        self.world = MazeExactRL(self.policy, Same(self.mazes, self.config), self.config)
        rate = self.config.learning_rate
        self.optimizer = AdamW(self.policy.model.parameters(), lr=rate, weight_decay=0.01)

    def halts(self, steps: int) -> Iterator[int]:
        """The numbers of the steps that come next, up to `steps`."""
        for halt in learn(self.world, self.optimizer, steps, steps, None, clip=1.0):
            yield halt.step

    def log_p(self) -> Tensor:
        """The log pass rates of all mazes, "mazes", also of those that it does not train in."""
        given = self.policy.evaluation_set, self.config.length, self.config.tolerance
        return pass_rates(self.policy.model, *given)[0].log().float()


class Parts:
    """The step of AdamW as a sum over mazes. `momentum` is that of each maze, "mazes weights"."""

    def __init__(self, training: Training) -> None:
        self.training = training
        self.momentum: Tensor | float = 0.0

    def weights(self) -> Tensor:
        """All weights in a row, in float64."""
        return parameters_to_vector(self.training.policy.model.parameters()).detach().double()

    def of_step(self, step: int, before: Tensor, rates: RateGradients) -> tuple[Tensor, Tensor]:
        """The mazes' parts, "mazes weights", and weight decay's, of the step that was just taken.

        `before` and `rates` are the weights and the gradients before it.
        """
        config = self.training.config
        factor = expected_factor(rates.log_p, estimator(config.estimator), config.rollouts)
        length = ((self.training.mazes.path >= 0).sum(1) + 1).float().mean()
        gradients = (-factor[:, None] * rates.scores).double() / len(factor) / length
        gradients *= (1 / (gradients.sum(0).norm() + 1e-6)).clamp_max(1.0)
        group = self.training.optimizer.param_groups[0]
        first, second = group["betas"]
        self.momentum = first * self.momentum + (1 - first) * gradients
        state = self.training.optimizer.state
        squares = [state[weight]["exp_avg_sq"].flatten() for weight in group["params"]]
        size = (torch.cat(squares).double() / (1 - second ** (step + 1))).sqrt() + group["eps"]
        moved = -group["lr"] / (1 - first ** (step + 1)) * self.momentum / size
        return moved, -group["lr"] * group["weight_decay"] * before


def pushes(name: str, weights: dict[str, Tensor], steps: int = STEPS) -> dict[str, Tensor]:
    """A training in all mazes.

    `log_p` "steps+1 mazes"; `push` "steps mazes mazes", of the second maze on the first; `decay`
    "steps mazes", of weight decay; `missed`, the share of a step that its parts miss, "steps".
    """
    training = Training(name, weights, slice(None))
    parts = Parts(training)
    found: dict[str, list[Tensor]] = {"log_p": [], "push": [], "decay": [], "missed": []}
    now, rates = parts.weights(), rate_gradients(training.policy)
    for step in training.halts(steps):
        before, earlier = now, rates
        now, rates = parts.weights(), rate_gradients(training.policy)
        found["log_p"].append(training.log_p())
        if step == 0:
            continue
        moved, decay = parts.of_step(step - 1, before, earlier)
        scores = (earlier.scores + rates.scores).double() / 2
        found["push"].append(scores @ moved.T)
        found["decay"].append(scores @ decay)
        change = now - before
        found["missed"].append((change - moved.sum(0) - decay).norm() / change.norm())
    return {key: torch.stack(values).float() for key, values in found.items()}


def without(name: str, weights: dict[str, Tensor], maze: int, steps: int = STEPS) -> Tensor:
    """The log pass rates of all mazes, "steps+1 mazes", in a training without one of them."""
    training = Training(name, weights, torch.arange(MAZES) != maze)
    return torch.stack([training.log_p() for _ in training.halts(steps)])


def main() -> None:
    """Write both files, the second after each estimator; a start that is there is used again."""
    FOLDER.mkdir(exist_ok=True)
    made = provenance()
    if not (FOLDER / "start.safetensors").exists():
        save_file(start(), FOLDER / "start.safetensors")
    weights = load_file(FOLDER / "start.safetensors")
    mazes = load_policy(weights, configured(NAMES[0])).evaluation_set
    told = {"mazes": as_texts(mazes), "paths": paths(mazes), "made": made}
    told |= {"settings": SETTINGS | TRAINING | {"steps": STEPS}}
    metadata = {key: json.dumps(value) for key, value in told.items()}
    tensors: dict[str, Tensor] = {}
    for name in NAMES:
        tensors |= {f"{name}/{key}": value for key, value in pushes(name, weights).items()}
        replays = []
        for maze in range(len(mazes)):
            replays.append(without(name, weights, maze))
            print(name, "without", maze, flush=True)
        tensors[f"{name}/without"] = torch.stack(replays)
        save_file(tensors, FOLDER / "pushes.safetensors", metadata)
        for step in (1, 8, STEPS):
            print(
                name,
                step,
                "correlation {:.2f}, like signs {:.2f}".format(*agreement(tensors, name, step)),
            )


def agreement(tensors: dict[str, Tensor], name: str, step: int) -> tuple[float, float]:
    """Do pushes say what happens where a maze is taken away? Over all pairs of two mazes, after a
    step: the correlation of minus the push with the change of log p, and the share of like signs.
    """
    said = -tensors[f"{name}/push"][:step].sum(0).T
    happened = tensors[f"{name}/without"][:, step] - tensors[f"{name}/log_p"][step]
    pairs = ~torch.eye(MAZES, dtype=torch.bool)
    both = torch.stack((said[pairs], happened[pairs]))
    return float(both.corrcoef()[0, 1]), float((both.prod(0) > 0).float().mean())


def paths(mazes: Mazes) -> list[str]:
    """The shortest path of each maze, in letters."""
    return ["".join("UDLR"[move] for move in path if move >= 0) for path in mazes.path.tolist()]


if __name__ == "__main__":
    main()
