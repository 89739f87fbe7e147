"""One training of a language model by TRL: what TRL is given, and the callbacks that it calls.

TRL makes the steps (`lab.llm.train.trl_trainer`); problems, rollouts, evaluation and checkpoints
are here. All that is drawn follows from (seed, step), and a killed run resumes exactly. A step is
one batch of rollouts, from which `updates` optimiser steps are made.

As in the papers, training is fully on-policy unless the settings say otherwise: one update per
batch, no KL term, no entropy bonus, no importance ratio. AdamW with weight decay 0.01, gradients
clipped to norm 1 and a constant learning rate are defaults (neither paper states them; verl's).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.judge.rewards import Judge
from lab.llm.engines.adapters import adapter_config, load_trainable
from lab.llm.engines.base import Engine, Sampling, encode_prompts, load_tokenizer
from lab.llm.engines.imports import transformers, trl
from lab.llm.engines.model_costs import micro_batches
from lab.llm.engines.models import model_folder
from lab.llm.engines.policy_engine import PolicyEngine
from lab.llm.train.evaluation import (
    count_right,
    evaluation_is_due,
    evaluation_sampling,
    pass_rates,
    record_is_due,
)
from lab.llm.train.grpo_options import grpo_options
from lab.llm.train.optimizer import recorded_rate, set_learning_rate
from lab.llm.train.rollouts import rollout_columns
from lab.llm.train.task import (
    Usable,
    held_out_problems,
    judged,
    problems_of_step,
    training_problems,
)
from lab.llm.train.thread_generator import Channel, LoopStopped
from lab.llm.train.trl_trainer import ObjectiveTrainer, PACSTrainer
from lab.shapes import Int
from lab.training.checkpoint import current_state, restore, with_prefix
from lab.training.device import compute_device
from lab.training.records import Pause, Record, Standing
from lab.training.termination import REQUEST

# The settings' names of loss aggregations, and TRL's.
AGGREGATIONS = {"token-mean": "dapo", "sequence-mean": "grpo", "sequence-sum": "dr_grpo"}
# TRL's names of metrics, and those under which the other worlds record them.
METRIC_NAMES = {
    "reward": "train pass@1",
    "completions/mean_length": "mean length",
    "completions/clipped_ratio": "truncated",
    "dead_groups": "dead groups",
    "induced_weight": "induced weight",
    "logp_mismatch": "log-probability mismatch",
    "greedy_solved": "greedy solved",
    "log_ratio": "log-ratio",
}
# Prefixes of TRL's metrics that are not recorded: duplicates, and counts that start with TRL.
HIDDEN_METRICS = ("rewards/", "epoch", "step_time", "num_tokens", "learning_rate")
# Processes wait for each other while one samples, judges or writes longer than the others, and for
# the first one's checkpoint. Torch's own limit, 30 minutes, is too short for that.
DDP_TIMEOUT_SECONDS = 6 * 3600

# transformers is imported through a function, so that its class is known at run time only.
_TrainerCallback: Any = transformers().TrainerCallback


def device_options(device: torch.device) -> dict[str, bool | str]:
    """TRL's options that depend on the device; nothing else of a training does.

    On a GPU the weights are float32, computation is bfloat16 (autocast), and activations are
    computed again in the backward pass.
    """
    gpu = device.type == "cuda"
    return {
        "use_cpu": not gpu,
        "bf16": gpu,
        "gradient_checkpointing": gpu,
        "dataloader_pin_memory": gpu,
        "optim": "adamw_torch_fused",
    }


class TRLRun(_TrainerCallback):
    """One training: everything that TRL is given, and what it calls back."""

    def __init__(
        self,
        channel: Channel,
        verifier: Judge,
        scratch: str,
        config: LanguageModelConfig,
        state: dict[str, Tensor] | None,
    ) -> None:
        self.channel = channel
        self.verifier = verifier
        self.state = state
        self.first = 0 if state is None else int(state["step"])
        self.config = config
        place, name = model_folder(config.model)
        self.tokenizer = load_tokenizer(place)
        self.problems, self.left_out = training_problems(config, self.tokenizer, verifier)
        self.held_out = held_out_problems(config, self.tokenizer, verifier)
        self.losses: Tensor | None = None  # one per process, where there are several
        self.trainer = self._trainer(place, scratch)
        self.engine = PolicyEngine(config, self.trainer.model, self.tokenizer, place, name)

    def run(self) -> None:
        """Train to the last step; sends records and pauses through the channel."""
        try:
            self.trainer.train()
        except LoopStopped:
            # A launcher ends all processes when one is gone: the main one writes its checkpoint
            # first.
            if REQUEST.due:
                self.trainer.accelerator.wait_for_everyone()
            raise

    # What TRL is given

    def _trainer(self, place: str, scratch: str) -> Any:
        """TRL's trainer for the run's estimator, with the problems of the steps to come."""
        from datasets import Dataset

        config = self.config
        model = load_trainable(place, config.adapter)
        model.config._name_or_path = place  # TRL loads the reference model from here
        rows = Dataset.from_list(
            [
                {"problem": number, "prompt": prompt}
                for number, (_, prompt) in enumerate(self.problems)
            ]
        )
        order = [
            row
            for step in range(self.first, config.steps)
            for row in problems_of_step(config.seed, step, config.prompts, len(self.problems))
        ]
        kind: Any = PACSTrainer if config.estimator == "pacs" else ObjectiveTrainer
        options: dict[str, Any] = {
            "estimator": config.estimator,
            "smoothing": config.smoothing,
            "greedy_filter": config.greedy_filter,
        }
        if kind is PACSTrainer:
            options = {
                "score": config.score,
                "balanced": config.balanced,
                "actor": config.actor,
                "scale": config.beta,
            }
        trainer = kind(
            model=model,
            args=self._config(scratch),
            reward_funcs=[self.correctness_reward],
            train_dataset=rows.select(order),
            processing_class=self.tokenizer,
            rollout_func=self.generate_rollouts,
            callbacks=[self],
            truncation=config.truncation,
            peft_config=None if config.adapter == "none" else adapter_config(config.rank),
            first_step=self.first * config.updates,
            **options,
        )
        trainer.remove_callback(transformers().PrinterCallback)
        if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
            raise LabError(
                "the weights are sharded over processes (FSDP or DeepSpeed), but the checkpoints of"
                " lab train hold complete weights: launch with torchrun alone, or use lab cluster"
                " for models that need sharding"
            )
        return trainer

    def _config(self, scratch: str) -> Any:
        """TRL's configuration from that of the run."""
        config = self.config
        micro_batch, accumulate = micro_batches(config)
        return trl().GRPOConfig(
            **device_options(compute_device()),
            output_dir=scratch,
            seed=config.seed,
            max_steps=(config.steps - self.first) * config.updates,
            shuffle_dataset=False,
            per_device_train_batch_size=micro_batch,
            gradient_accumulation_steps=accumulate,
            steps_per_generation=accumulate * config.updates,
            num_generations=config.rollouts,
            max_completion_length=config.max_tokens,
            temperature=config.temperature,
            top_p=config.top_p,
            learning_rate=config.learning_rate,
            lr_scheduler_type="constant",  # see on_step_begin
            weight_decay=config.weight_decay,
            max_grad_norm=config.max_grad_norm,
            # PACS needs a reference model where it resets one; TRL loads it for any beta above 0.
            beta=config.kl or float(config.reference_every > 0),
            epsilon=config.clip,
            epsilon_high=config.clip_high or config.clip,
            entropy_coef=config.entropy_bonus,
            loss_type=AGGREGATIONS[config.aggregation],
            logging_steps=config.log_every * config.updates,
            logging_nan_inf_filter=False,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            ddp_timeout=DDP_TIMEOUT_SECONDS,
            **grpo_options(config),
        )

    def correctness_reward(
        self, completions: Sequence[str], problem: Sequence[int], **_: Any
    ) -> list[float | None]:
        """TRL's reward function: 1, 0 or a grade; None where the verifier failed."""
        problems = [self.problems[number][0] for number in problem]
        return [verdict.reward for verdict in judged(self.verifier, list(completions), problems)]

    def generate_rollouts(self, prompts: list[str], trainer: Any) -> dict[str, list]:
        """TRL's rollout function, for this process's part of the batch.

        `prompts` holds whole groups: each prompt stands N times in a row.
        """
        config = self.config
        N = config.rollouts
        unique_prompts = prompts[::N]
        step = trainer.step // config.updates
        # The random stream of a prompt follows from its place in the whole run.
        accelerator = trainer.accelerator
        first = (step * accelerator.num_processes + accelerator.process_index) * len(unique_prompts)
        sampling = Sampling(N, config.temperature, config.top_p, config.max_tokens, config.seed)
        columns: dict[str, list] = {}
        with self.engine.current() as engine:
            groups = engine.sample(unique_prompts, sampling, first)
            if config.greedy_filter:
                greedy = Sampling(1, 0.0, 1.0, config.max_tokens, config.seed)
                greedy_groups = engine.sample(unique_prompts, greedy)
                columns["greedy"] = [answer.text for [answer] in greedy_groups for _ in range(N)]
            prompt_ids = encode_prompts(engine, unique_prompts, config.max_tokens)
        return columns | {
            "prompt_ids": [ids for ids in prompt_ids for _ in range(N)],
            "completion_ids": [list(answer.ids) for group in groups for answer in group],
            "logprobs": [list(answer.logp) for group in groups for answer in group],
        }

    # What TRL calls at the start, around each optimiser step, and when it logs

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Send the record of step 0, or take up the state of a checkpoint."""
        if self.trainer.accelerator.num_processes > 1:
            # Processes can first ask each other at the end of a step: none stops before.
            REQUEST.agree(False)
        if self.state is None:
            self.send_record(0, {})
        else:
            self.restore(self.state)
            self.state = None  # frees the memory

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Set the learning rate, which follows from the step of the whole training."""
        set_learning_rate(self.trainer.optimizer, self.config, self.trainer.step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """After the last update of a step, have TRL log, or send a pause."""
        self.channel.raise_if_stopped()
        step, remaining_updates = divmod(self.trainer.step, self.config.updates)
        if remaining_updates:
            control.should_log = False
            return
        every = self.config.reference_every
        if every and step % every == 0:
            self.reset_reference()
        self.synchronize_processes()
        # Logs follow the step of the whole training; TRL counts from where it resumed.
        control.should_log = record_is_due(self.config, step)
        if not control.should_log:
            # With TRL's sums for the next record.
            standing = Standing(step, lambda at: self.state_at(at) | self.running_sums())
            self.send(Pause(step, standing, self.rollouts()))

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float], **_: Any) -> None:
        """Send the record of a step; TRL's last log is a summary of the training."""
        if "train_runtime" not in logs:
            self.send_record(self.trainer.step // self.config.updates, logs)

    # Records

    def send_record(self, step: int, logs: dict[str, float]) -> None:
        """Evaluate where it is due, and send the record of a step, from the main process."""
        due = evaluation_is_due(self.config, step)
        metrics, groups = self.evaluate() if due else ({}, {})
        standing = Standing(step, self.state_at)
        if not self.trainer.accelerator.is_main_process:
            self.send(Pause(step, standing))
            return
        real = self.trainer.estimator.real is not None
        names = METRIC_NAMES | ({"reward": "mean reward"} if real else {})
        metrics |= {
            names.get(name, name): value
            for name, value in logs.items()
            if isinstance(value, (int, float)) and not name.startswith(HIDDEN_METRICS)
        }
        metrics |= recorded_rate(self.config, step)
        if step == 0:
            sizes = {"training problems": len(self.problems), "problems left out": self.left_out}
            metrics |= sizes
        self.send(Record(step, metrics, standing, groups, self.rollouts()))

    def send(self, event: Record | Pause) -> None:
        """Send a record or a pause; once training goes on, its state can no longer be read."""
        self.channel.send(event)
        # After the last step nothing changes any more.
        if event.step < self.config.steps and isinstance(event.state, Standing):
            event.state.move_on()

    def rollouts(self) -> dict[str, list[Any]]:
        """The rollouts of the batch in use, of all processes; empty before the first."""
        gathered = {name: values.tolist() for name, values in self.trainer.gathered.items()}
        if not gathered:
            return {}
        N, logs = self.config.rollouts, self.trainer._logs  # TRL's, of one batch
        columns = zip(
            logs["completion"],
            logs["advantages"],
            *(gathered[name] for name in ("problem", "tokens", "reward", "cut")),
            strict=True,
        )
        return rollout_columns(
            (
                self.problems[number][0],
                row % N,
                text,
                tokens,
                None if math.isnan(reward) else reward,
                advantage,
                cut,
            )
            for row, (text, advantage, number, tokens, reward, cut) in enumerate(columns)
        )

    def evaluate(self) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Pass@k on every held-out set, and each problem's counts; processes share the problems."""
        sampling = evaluation_sampling(self.config)
        with self.engine.current() as engine:
            counts = {
                name: self._count_right(engine, problems, sampling)
                for name, problems in self.held_out.items()
            }
        return pass_rates(self.held_out, counts)

    def _count_right(
        self, engine: Engine, problems: Usable, sampling: Sampling
    ) -> Int[np.ndarray, "2 problems"]:
        """`count_right` over all processes."""
        accelerator = self.trainer.accelerator
        shares = np.array_split(np.arange(len(problems)), accelerator.num_processes)
        share = shares[accelerator.process_index]
        counts = torch.zeros(2, len(problems), dtype=torch.int64)
        if len(share):
            local = [problems[row] for row in share]
            right = count_right(engine, self.verifier, local, sampling, int(share[0]))
            counts[:, share] = torch.from_numpy(right)
        return accelerator.reduce(counts.to(accelerator.device)).cpu().numpy()

    # State

    def state_at(self, step: int) -> dict[str, Tensor]:
        """Weights, optimiser, step, and the reference model where PACS resets one."""
        trainer = self.trainer
        model = trainer.accelerator.unwrap_model(trainer.model)
        state = current_state(model, trainer.optimizer, step)
        if self.config.reference_every:
            reference = trainer.ref_model.state_dict()
            state |= {f"reference/{key}": value.detach() for key, value in reference.items()}
        return state

    def running_sums(self) -> dict[str, Tensor]:
        """What TRL and transformers sum up from one log to the next; a record has the means.

        The metrics are numbered, because their order is that of the record. `loss` holds that of
        every process.
        """
        trainer = self.trainer
        metrics = trainer._metrics["train"]
        recorded = [name for name in metrics if not name.startswith(HIDDEN_METRICS)]
        state = {
            f"added up/{place:03}/{name}": torch.tensor(metrics[name], dtype=torch.float64)
            for place, name in enumerate(recorded)
        }
        losses = trainer._tr_loss[None] if self.losses is None else self.losses
        updates = trainer.state.global_step - trainer._globalstep_last_logged
        return state | {"added up/loss": losses, "added up/updates": torch.tensor(updates)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Load a state into TRL's model, optimiser, reference model and sums."""
        trainer = self.trainer
        accelerator = trainer.accelerator
        restore(accelerator.unwrap_model(trainer.model), trainer.optimizer, state)
        if self.config.reference_every:
            trainer.ref_model.load_state_dict(with_prefix("reference/", state))
        running_sums = with_prefix("added up/", state)
        if running_sums:
            losses = running_sums.pop("loss")
            # With another number of processes, their mean is the same up to rounding.
            same_processes = len(losses) == accelerator.num_processes
            loss = losses[accelerator.process_index] if same_processes else losses.mean()
            trainer._tr_loss.copy_(loss)
            # TRL counts its steps from 0 in this process.
            trainer._globalstep_last_logged = -int(running_sums.pop("updates"))
            for key in sorted(running_sums):
                name = key.partition("/")[2]
                trainer._metrics["train"][name] = running_sums[key].tolist()

    def synchronize_processes(self) -> None:
        """Share losses and requests to stop, so that all processes stop after the same step."""
        accelerator = self.trainer.accelerator
        if accelerator.num_processes > 1:
            stop = torch.full((1,), float(REQUEST.came), device=accelerator.device)
            rows = accelerator.gather(torch.stack((self.trainer._tr_loss[None], stop), 1))
            self.losses = rows[:, 0]
            REQUEST.agree(bool(rows[:, 1].any()))

    def reset_reference(self) -> None:
        """PACS, section 3.4: the reference becomes the policy, and the optimiser starts anew."""
        trainer = self.trainer
        policy = trainer.accelerator.unwrap_model(trainer.model)
        trainer.ref_model.load_state_dict(policy.state_dict())
        # Accelerate wraps the optimiser.
        optimizer = getattr(trainer.optimizer, "optimizer", trainer.optimizer)
        optimizer.state.clear()
