"""Training a language model with any estimator, in one file that reads from top to bottom.

    lab train gsm8k trainer=loop

A step samples N answers to each of its problems, judges them, gives every answer its advantage
(`lab.advantages`), and takes `updates` optimiser steps on the log-probabilities of their tokens.
What a step draws follows from (seed, step) alone, so that a run that was killed ends as one that
was not, bit for bit. The loss is in `lab.llm.train.token_loss`. With a stopping rule
(`lab.stopping`) a problem is asked in rounds until the rule is met, and N is the most.

This is one process, on a CPU or one GPU; the path through TRL (`lab.llm.train.trl_run`) also runs
on several GPUs. Given the same rollouts both take the same steps (tests/test_loop.py).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.judge.rewards import Judge
from lab.judge.verifier import Verdict
from lab.llm.data.prompts import LENGTH
from lab.llm.engines.adapters import load_trainable, with_adapter
from lab.llm.engines.base import Completion, Engine, Sampling, encode_prompts, load_tokenizer
from lab.llm.engines.models import model_folder
from lab.llm.engines.policy_engine import PolicyEngine
from lab.llm.train.evaluation import count_right, evaluation_sampling, pass_rates
from lab.llm.train.grading import judge_of
from lab.llm.train.problems import held_out_problems, problems_of_step, training_problems
from lab.llm.train.step_rollouts import rollout_columns
from lab.llm.train.token_loss import Row, check_scores, token_log_probabilities, token_loss
from lab.losses import pacs_at_anchor
from lab.mathematics.estimators import advantages
from lab.mathematics.estimators import estimator as find_estimator
from lab.mathematics.groups import Rollout, make_groups, shares
from lab.mathematics.memories import Memory, frozen_weights, has_memory, with_memory
from lab.mathematics.stopping import rule_of_training
from lab.mathematics.weights import induced_weight
from lab.training.checkpoint import (
    current_state,
    memory_state,
    restore,
    restored_memory,
    with_prefix,
)
from lab.training.device import compute_device
from lab.training.records import Pause, Record, Standing
from lab.training.rng import stream_seed

Answered = tuple[Completion, Verdict]


def train(config: LanguageModelConfig, state: dict[str, Tensor] | None) -> Iterator[Record | Pause]:
    """Train from the beginning, or on from a checkpoint's `state`.

    Yields a record before the first step, every `log_every` steps and after the last one: pass@k on
    each held-out set, and the means of the steps' metrics since the last record. After every other
    step it yields a pause.
    """
    with judge_of(config) as verifier:
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
        if config.adapter != "none":  # its reference is the model without the adapter
            self.model.enable_input_require_grads()
            self.model = with_adapter(self.model, config.rank, config.seed)
        elif config.kl or config.reference_every:
            self.reference = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = adamw(self.model, config.learning_rate)
        self.rollouts: dict[str, list[Any]] = {}  # of the step that was made last
        self.memory: Memory | None = None
        if has_memory(config.estimator):
            self.memory = with_memory(config.estimator, config.rollouts)
        self.sums: dict[str, float] = {}  # the steps since the last record, and their metrics
        self.rule = rule_of_training(config.stopping, config.estimator, config.rollouts)
        self.spent = 0  # rollouts since the beginning, with a rule
        self.first = 0 if state is None else self.resume(state)
        self.problems, self.left_out = training_problems(config, self.tokenizer, verifier)
        self.held_out = held_out_problems(config, self.tokenizer, verifier)
        self.engine = PolicyEngine(config, self.model, self.tokenizer, place, name)

    def run(self) -> Iterator[Record | Pause]:
        """The loop: rollouts, update, and every so often an evaluation."""
        config = self.config
        if self.first == 0:
            start = Standing(0, self.state)
            found = {"training problems": len(self.problems), "problems left out": self.left_out}
            yield self.evaluated(start, found)
            start.move_on()
        for step in range(self.first, config.steps):
            rows, metrics = self.roll_out(step)
            metrics |= self.update(rows, step)
            self.sums = added(self.sums, metrics | {"steps": 1})
            done = step + 1
            if config.reference_every and done % config.reference_every == 0:
                # PACS, section 3.4: the reference becomes the policy, the optimiser starts anew.
                self.reference.load_state_dict(self.model.state_dict())
                self.optimizer.state.clear()
            standing = Standing(done, self.state)
            if done % config.log_every == 0 or done == config.steps:
                steps = self.sums.pop("steps")
                means = {name: self.sums[name] / steps for name in sorted(self.sums)}
                self.sums = {}
                yield replace(self.evaluated(standing, means), rollouts=self.rollouts)
            else:
                yield Pause(done, standing, self.rollouts)
            if done < config.steps:
                standing.move_on()

    # --- Rollouts: sample, verify, advantages ---------------------------------------------------

    def roll_out(self, step: int) -> tuple[list[Row], dict[str, float]]:
        """N judged answers to each problem of a step, with their advantages; and the metrics.

        Where every answer was cut it warns, and `truncation` says what they count. LabError: none
        could be judged.
        """
        config, N = self.config, self.config.rollouts
        numbers = problems_of_step(config.seed, step, config.prompts, len(self.problems))
        problems, prompts = zip(*[self.problems[number] for number in numbers], strict=True)
        golds = [problem.answer for problem in problems]
        greedy = Sampling(1, 0.0, 1.0, config.max_tokens, config.seed)
        with self.engine.current() as engine:
            asked = self.ask(engine, step, prompts, golds)
            likeliest = engine.sample(prompts, greedy) if config.greedy_filter else []
            prompt_ids = encode_prompts(
                self.tokenizer, prompts, config.max_tokens, engine.positions, engine.name
            )
        drawn = [len(answered) for answered in asked]
        starts = np.cumsum([0, *drawn])  # of each problem's rows
        owner = [i for i, n in enumerate(drawn) for _ in range(n)]  # each row's problem
        answers, verdicts = zip(*[pair for answered in asked for pair in answered], strict=True)
        self.rollouts = rollout_columns(
            [problem.id for problem in problems],
            drawn,
            [answer.text for answer in answers],
            [len(answer.ids) for answer in answers],
            [verdict.reward for verdict in verdicts],
            [answer.finish == LENGTH for answer in answers],
        )
        rows = [
            Row(prompt_ids[i], list(answer.ids), torch.tensor(answer.logp))
            for i, answer in zip(owner, answers, strict=True)
        ]
        rollouts = [
            rollout for i, answered in enumerate(asked) for rollout in self.judged(i, answered)
        ]
        if all(rollout.truncated for rollout in rollouts):
            warnings.warn(
                f"all {len(rollouts)} rollouts of step {step} were cut at {config.max_tokens}"
                " tokens: allow longer ones, or look at why none ends",
                stacklevel=1,
            )
        if all(rollout.reward is None for rollout in rollouts):
            raise LabError(f"no rollout of step {step} could be judged: see lab data check")
        groups = make_groups(rollouts, config.truncation)  # lost rollouts make a group smaller

        if self.memory is not None:  # what earlier steps have made of it
            estimator = self.memory.estimator()
        elif config.estimator == "pacs":  # what its loss is where policy and reference agree
            estimator = pacs_at_anchor(config.beta, config.score, config.balanced)
        else:
            estimator = find_estimator(config.estimator)
        all_advantages = advantages(estimator, groups)
        if self.rule is not None:  # the loss is a mean over rows, and a rule's a sum a problem
            mean_drawn = len(rows) / len(problems)
            all_advantages = [(g.rewards - self.rule.baseline) * mean_drawn for g in groups]
        for group, A in zip(groups, all_advantages, strict=True):
            for rollout, reward, advantage in zip(group.rollouts, group.rewards, A, strict=True):
                row = rows[starts[int(group.problem)] + rollout.index]
                row.reward = float(reward)
                # Differential smoothing: a likely answer counts less if right, more if wrong.
                sign = 1 if row.reward else -1
                row.advantage = advantage - config.smoothing * sign * float(row.sampled.mean())

        mean_reward = np.mean([r.reward for r in rollouts if r.reward is not None])
        mixed = sum(np.ptp(group.rewards) > 0 for group in groups)
        metrics = shares(rollouts) | {
            "lost": 1 - sum(group.N for group in groups) / len(rows),
            "dead groups": 1 - mixed / len(problems),
            "mean length": np.mean([len(row.answer) for row in rows]),
        }
        if estimator.real is None:
            rates = np.array([group.pass_rate for group in groups])
            metrics |= {
                "train pass@1": mean_reward,
                "solved": (rates > 0).sum() / len(problems),
            }
            if self.rule is None:
                weights = induced_weight(estimator, N, rates)
                metrics["induced weight"] = weights.mean() if groups else 0.0
        else:
            metrics["mean reward"] = mean_reward
        if self.rule is not None:  # whose weight is the expected number of rollouts
            self.spent += len(rows)
            metrics["rollouts a problem"] = len(rows) / len(problems)
        if self.memory is not None:
            metrics |= frozen_weights(self.memory, N)
            K, n = (np.array([getattr(group, size) for group in groups]) for size in "KN")
            self.memory = self.memory.observe(K, n)
        if config.greedy_filter:  # SELF: problems that greedy decoding solves are not trained on
            greedy_verdicts = self.verifier.check([answer.text for [answer] in likeliest], golds)
            solved = [verdict.reward == 1 for verdict in greedy_verdicts]
            for i, row in enumerate(rows):
                row.advantage *= not solved[owner[i]]
            metrics["greedy solved"] = np.mean(solved)
        return rows, metrics

    def ask(
        self, engine: Engine, step: int, prompts: Sequence[str], golds: Sequence[str]
    ) -> list[list[Answered]]:
        """The answers to each prompt, each with its verdict: N, or until the rule is met."""
        config, rule = self.config, self.rule
        size = config.rollouts if rule is None else rule.round
        sampling = Sampling(size, config.temperature, config.top_p, config.max_tokens, config.seed)
        rounds = config.rollouts // size
        answered: list[list[Answered]] = [[] for _ in prompts]
        asked = list(range(len(prompts)))
        for number in range(step * rounds, (step + 1) * rounds):
            # Every round of every step has random numbers of its own.
            sampled = engine.sample(
                [prompts[i] for i in asked], sampling, first=number * len(prompts)
            )
            verdicts = self.verifier.check(
                [answer.text for group in sampled for answer in group],
                [golds[i] for i in asked for _ in range(size)],
            )
            judged = iter(verdicts)
            for i, group in zip(asked, sampled, strict=True):
                answered[i] += [(answer, next(judged)) for answer in group]
            if rule is not None:
                asked = [i for i in asked if not self.met(self.judged(i, answered[i]))]
            if not asked:
                break
        return answered

    def judged(self, problem: int, answered: Sequence[Answered]) -> list[Rollout]:
        """The rollouts of a step's problem as groups are made of them."""
        return [
            Rollout(str(problem), i, verdict.reward, truncated=answer.finish == LENGTH)
            for i, (answer, verdict) in enumerate(answered)
        ]

    def met(self, rollouts: Sequence[Rollout]) -> bool:
        """Whether the rule is met by a problem's rollouts, after the truncation policy."""
        assert self.rule is not None
        return any(
            self.rule.met(group.K, group.N - group.K)
            for group in make_groups(rollouts, self.config.truncation)
        )

    # --- Update: log-probabilities, loss, optimiser ---------------------------------------------

    def update(self, rows: list[Row], step: int) -> dict[str, float]:
        """Take `updates` optimiser steps, each on its share of the rows; returns the metrics."""
        config = self.config
        if config.updates > 1:
            for row, logp in zip(rows, self.frozen(self.model, rows), strict=True):
                row.old = logp
        if config.kl or config.reference_every:
            for row, logp in zip(rows, self.under_reference(rows), strict=True):
                row.reference = logp
        # The rows of each update are drawn. PACS compares rows, so its groups stay whole.
        together = config.rollouts if config.estimator == "pacs" else 1
        seed = stream_seed(config.seed, "rows", step * config.updates)
        order = torch.randperm(len(rows) // together, generator=torch.Generator().manual_seed(seed))
        drawn = [rows[i * together + j] for i in order.tolist() for j in range(together)]
        sums: dict[str, float] = {}
        norms = []
        for part in in_pieces(drawn, len(rows) // config.updates):
            if together == 1:  # rows of similar length share a pass
                part.sort(key=lambda row: row.length)
            for micro_batch in in_pieces(part, config.micro_batch):
                loss, measured = token_loss(config, self.model, micro_batch, part, rows)
                loss.backward()
                sums = added(sums, measured | {"loss": loss.item()})
            norms.append(torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0).item())
            self.optimizer.step()
            self.optimizer.zero_grad()
        metrics = {name: value / config.updates for name, value in sums.items()}
        metrics["grad_norm"] = sum(norms) / config.updates
        mismatches = [float((row.old.cpu() - row.sampled).abs().max()) for row in rows]
        return metrics | {"log-probability mismatch": max(mismatches)}

    @torch.no_grad()
    def frozen(self, model: Any, rows: list[Row]) -> list[Tensor]:
        """Each row's log-probabilities under a model as it is now."""
        found: list[Tensor] = []
        for micro_batch in in_pieces(rows, self.config.micro_batch):
            logp, _ = token_log_probabilities(model, micro_batch, self.config.temperature)
            found.extend(logp.split([len(row.answer) for row in micro_batch]))
        return found

    def under_reference(self, rows: list[Row]) -> list[Tensor]:
        """Each row's log-probabilities under the reference model."""
        if self.reference is not None:
            return self.frozen(self.reference, rows)
        with self.model.disable_adapter():
            return self.frozen(self.model, rows)

    # --- Evaluate, save, resume -----------------------------------------------------------------

    def evaluated(self, standing: Standing, metrics: Mapping[str, float]) -> Record:
        """The record of a step: its metrics, and pass@k on every held-out set."""
        sampling = evaluation_sampling(self.config)
        with self.engine.current() as engine:
            counts = {
                name: count_right(engine, self.verifier, problems, sampling)
                for name, problems in self.held_out.items()
            }
        rates, groups = pass_rates(self.held_out, counts)
        spent = {} if self.rule is None else {"rollouts spent": self.spent}
        return Record(standing.step, {**rates, **metrics, **spent}, standing, groups)

    def state(self, step: int) -> dict[str, Tensor]:
        """Everything that the later steps depend on."""
        state = current_state(self.model, self.optimizer, step)
        state |= {
            f"sum/{name}": torch.tensor(x, dtype=torch.float64) for name, x in self.sums.items()
        }
        if self.memory is not None:
            state |= memory_state(self.memory)
        if self.rule is not None:
            state["rollouts_spent"] = torch.tensor(self.spent)
        if self.config.reference_every:
            reference = self.reference.state_dict()
            state |= {f"reference/{name}": tensor for name, tensor in reference.items()}
        return state

    def resume(self, state: dict[str, Tensor]) -> int:
        """Load a state; returns the number of steps that were made."""
        self.sums = {name: float(x) for name, x in with_prefix("sum/", state).items()}
        if self.memory is not None:
            self.memory = restored_memory(self.memory, state)
        if self.rule is not None:
            self.spent = int(state["rollouts_spent"])
        if self.config.reference_every:
            self.reference.load_state_dict(with_prefix("reference/", state))
        return restore(self.model, self.optimizer, state)


def adamw(model: torch.nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """AdamW with weight decay 0.01, as in transformers without it for norms and biases."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    groups = [
        {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": 0.01},
        {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, learning_rate, fused=True)


def in_pieces(rows: list[Row], size: int) -> list[list[Row]]:
    """The rows, `size` at a time."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def added(sums: dict[str, float], values: dict[str, float]) -> dict[str, float]:
    """The sums by name with `values` added to them."""
    return {name: sums.get(name, 0.0) + value for name, value in values.items()}
