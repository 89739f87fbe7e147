"""Training a language model with any estimator, in one file that reads from top to bottom.

    lab train gsm8k trainer=loop

A step samples N answers to each of its problems, judges them, gives every answer its advantage, and
takes `updates` optimiser steps. What a step draws follows from (seed, step) alone, so that a run
that was killed ends as one that was not, bit for bit. The loss is in `lab.llm.train.token_loss`;
what an estimator keeps between steps, and stopping rules, in `lab.llm.train.credit`.

This is one process; the path through TRL (`lab.llm.train.trl_callbacks`) also runs on several GPUs.
Given the same rollouts both take the same steps (tests/test_loop.py).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lab.configurations.language_models import LanguageModelConfig
from lab.judge.rewards import Judge
from lab.llm.data.prompts import LENGTH
from lab.llm.engines.adapters import load_trainable, with_adapter
from lab.llm.engines.base import encode_prompts, load_tokenizer
from lab.llm.engines.model_costs import micro_batches
from lab.llm.engines.models import model_folder
from lab.llm.engines.policy_engine import PolicyEngine
from lab.llm.train.credit import credit_of
from lab.llm.train.evaluation import (
    count_right,
    evaluation_is_due,
    evaluation_sampling,
    pass_rates,
    record_is_due,
)
from lab.llm.train.optimizer import adamw, recorded_rate, set_learning_rate
from lab.llm.train.rollouts import ask, measured, rollout_columns, rollouts_of
from lab.llm.train.task import Task, held_out_problems, problems_of_step, training_problems
from lab.llm.train.token_loss import Row, check_scores, frozen, in_pieces, token_loss
from lab.mathematics.groups import make_groups
from lab.training.checkpoint import current_state, restore, with_prefix
from lab.training.device import compute_device
from lab.training.records import Pause, Record, Standing
from lab.training.rng import stream_seed


def train(config: LanguageModelConfig, state: dict[str, Tensor] | None) -> Iterator[Record | Pause]:
    """Train from the beginning, or on from a checkpoint's `state`; yields as `trainer.train`."""
    with Task.of(config).judge() as verifier:
        yield from Loop(config, verifier, state).run()


class Loop:
    """A training: what it needs, and its steps."""

    def __init__(
        self, config: LanguageModelConfig, verifier: Judge, state: dict[str, Tensor] | None
    ) -> None:
        self.config = config
        self.verifier = verifier
        device = compute_device()
        place, name = model_folder(config.model)
        self.tokenizer = load_tokenizer(place)
        self.model = load_trainable(place, config.adapter).to(device).train()
        check_scores(self.model)
        if device.type == "cuda":
            self.model.gradient_checkpointing_enable()
        self.reference: Any = None
        if config.adapter != "none":
            self.model.enable_input_require_grads()
            self.model = with_adapter(self.model, config.rank, config.seed)
            self.reference = self.model  # without its adapter
        elif config.kl:
            self.reference = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = adamw(self.model, config)
        self.credit = credit_of(config)
        self.rollouts: dict[str, list[Any]] = {}  # of the step that was made last
        self.sums: dict[str, float] = {}  # the steps since the last record, and their metrics
        self.first = 0  # the step to begin with
        if state is not None:
            self.sums = {name: float(x) for name, x in with_prefix("sum/", state).items()}
            self.credit.restore(state)
            self.first = restore(self.model, self.optimizer, state)
        self.problems, self.left_out = training_problems(config, self.tokenizer, verifier)
        self.held_out = held_out_problems(config, self.tokenizer, verifier)
        self.engine = PolicyEngine(config, self.model, self.tokenizer, place, name)

    def run(self) -> Iterator[Record | Pause]:
        """The loop: rollouts, update, and every so often an evaluation."""
        if self.first == 0:
            standing = Standing(0, self.state)
            sizes = {"training problems": len(self.problems), "problems left out": self.left_out}
            yield self.evaluated(standing, sizes)
            standing.move_on()
        for step in range(self.first, self.config.steps):
            rows, metrics = self.roll_out(step)
            metrics |= self.update(rows, step)
            self.sums = added(self.sums, metrics | {"steps": 1})
            done = step + 1
            standing = Standing(done, self.state)
            if record_is_due(self.config, done):
                steps = self.sums.pop("steps")
                means = {name: self.sums[name] / steps for name in sorted(self.sums)}
                self.sums = {}
                means |= recorded_rate(self.config, done)
                yield replace(self.evaluated(standing, means), rollouts=self.rollouts)
            else:
                yield Pause(done, standing, self.rollouts)
            if done < self.config.steps:
                standing.move_on()

    def roll_out(self, step: int) -> tuple[list[Row], dict[str, float]]:
        """Judged answers to each problem of a step, with their advantages; and the metrics."""
        config = self.config
        numbers = problems_of_step(config.seed, step, config.prompts, len(self.problems))
        asked = [self.problems[i] for i in numbers]
        problems, prompts = zip(*asked, strict=True)
        with self.engine.current() as engine:
            answered = ask(config, self.credit, engine, self.verifier, step, asked)
            prompt_ids = encode_prompts(engine, prompts, config.max_tokens)
        rows = [
            [Row(ids, list(answer.ids), torch.tensor(answer.logp)) for answer, _ in each]
            for ids, each in zip(prompt_ids, answered, strict=True)
        ]
        # A group is smaller where rollouts are lost.
        groups = make_groups(rollouts_of(answered), config.truncation)
        advantages, metrics = self.credit.assign(groups, [len(each) for each in answered])
        for group, A in zip(groups, advantages, strict=True):
            for rollout, reward, advantage in zip(group.rollouts, group.rewards, A, strict=True):
                row = rows[int(group.problem)][rollout.index]
                row.reward, row.advantage = float(reward), advantage
        self.rollouts = rollout_columns(
            (
                problem,
                i,
                answer.text,
                len(answer.ids),
                verdict.reward,
                row.advantage,
                answer.finish == LENGTH,
            )
            for problem, each, of_problem in zip(problems, answered, rows, strict=True)
            for i, ((answer, verdict), row) in enumerate(zip(each, of_problem, strict=True))
        )
        metrics |= measured(answered, groups, self.credit.estimator)
        return [row for each in rows for row in each], metrics

    def update(self, rows: list[Row], step: int) -> dict[str, float]:
        """Take `updates` optimiser steps, each on its share of the rows; returns the metrics."""
        config = self.config
        size, heat = micro_batches(config)[0], config.temperature
        if config.updates > 1:
            for row, logp in zip(rows, frozen(self.model, rows, size, heat), strict=True):
                row.old = logp
        if config.kl:
            with self.model.disable_adapter() if self.reference is self.model else nullcontext():
                references = frozen(self.reference, rows, size, heat)
            for row, logp in zip(rows, references, strict=True):
                row.reference = logp
        # The rows of each update are drawn. PACS compares rows, so its groups stay whole.
        together = config.rollouts if config.estimator == "pacs" else 1
        seed = stream_seed(config.seed, "rows", step * config.updates)
        order = torch.randperm(len(rows) // together, generator=torch.Generator().manual_seed(seed))
        drawn = [rows[i * together + j] for i in order.tolist() for j in range(together)]
        sums: dict[str, float] = {}
        parts = in_pieces(drawn, len(rows) // config.updates)
        for number, part in enumerate(parts, step * config.updates):
            if together == 1:  # rows of similar length share a pass
                part.sort(key=lambda row: row.length)
            for micro_batch in in_pieces(part, size):
                loss, metrics = token_loss(config, self.model, micro_batch, part, rows)
                loss.backward()
                sums = added(sums, metrics | {"loss": loss.item()})
            limit = config.max_grad_norm or torch.inf
            norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit)
            sums = added(sums, {"grad_norm": norm.item()})  # before clipping
            set_learning_rate(self.optimizer, config, number)
            self.optimizer.step()
            self.optimizer.zero_grad()
        mismatches = [float((row.old.cpu() - row.sampled).abs().max()) for row in rows]
        means = {name: value / config.updates for name, value in sums.items()}
        return means | {"log-probability mismatch": max(mismatches)}

    def evaluated(self, standing: Standing, metrics: Mapping[str, float]) -> Record:
        """The record of a step: its metrics, and where one is due pass@k on every held-out set."""
        if not evaluation_is_due(self.config, standing.step):
            return Record(standing.step, {**metrics, **self.credit.totals()}, standing)
        sampling = evaluation_sampling(self.config)
        with self.engine.current() as engine:
            counts = {
                name: count_right(engine, self.verifier, problems, sampling)
                for name, problems in self.held_out.items()
            }
        rates, groups = pass_rates(self.held_out, counts)
        return Record(standing.step, {**rates, **metrics, **self.credit.totals()}, standing, groups)

    def state(self, step: int) -> dict[str, Tensor]:
        """Everything that the later steps depend on."""
        sums = {f"sum/{k}": torch.tensor(x, dtype=torch.float64) for k, x in self.sums.items()}
        return current_state(self.model, self.optimizer, step) | sums | self.credit.state()


def added(sums: dict[str, float], values: dict[str, float]) -> dict[str, float]:
    """The sums by name with `values` added to them."""
    return sums | {name: sums.get(name, 0.0) + value for name, value in values.items()}
