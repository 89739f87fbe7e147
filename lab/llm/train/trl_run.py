"""One training of a language model by TRL: what TRL is given, and what it calls back. Floor 2.

TRL makes the steps (`lab.llm.train.trl_trainer`); here are the model, the problems, the rollouts,
the examination and the state, so that a run is a function of its parameters: the order of problems,
every rollout and every row follow from (seed, step), and a killed run goes on exactly. A step is
one batch of rollouts; `updates` optimiser steps are made from it.

As in the papers, fully on-policy unless asked: one update a batch, no KL, no entropy bonus, no
importance ratio. AdamW with weight decay 0.01, gradients clipped to norm 1, a constant rate
(neither paper states them; verl's defaults).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from lab.budget import GIB
from lab.checkpoint import current_state, restore
from lab.device import compute_device
from lab.errors import LabError
from lab.llm.data.datasets import Problem
from lab.llm.data.problem_sets import problem_set
from lab.llm.data.prompts import load_prompt
from lab.llm.engines.base import Engine, Sampling, encode_prompts, load_tokenizer
from lab.llm.engines.imports import transformers, trl
from lab.llm.engines.models import model_folder
from lab.llm.train.loop_generator import Channel, LoopStopped
from lab.llm.verify.verifier import Verifier
from lab.metrics import pass_at_k
from lab.records import Pause, Record, Standing
from lab.rng import generator, stream_seed
from lab.termination import REQUEST

AGGREGATIONS = {
    "token-mean": "dapo",
    "sequence-mean": "grpo",
    "sequence-sum": "dr_grpo",
}  # TRL's names of them
METRIC_NAMES = {
    "reward": "train pass@1",
    "completions/mean_length": "mean length",
    "completions/clipped_ratio": "truncated",
    "dead_groups": "dead groups",
    "induced_weight": "induced weight",
    "logp_mismatch": "log-probability mismatch",
    "greedy_solved": "greedy solved",
    "log_ratio": "log-ratio",
}  # as the other worlds say it
# Processes wait for each other while one samples, judges or writes longer than the others, and for
# the first one's checkpoint. Torch's own limit, 30 minutes, is too short for that.
DDP_TIMEOUT_SECONDS = 6 * 3600
HIDDEN_METRICS = (
    "rewards/",
    "epoch",
    "step_time",
    "num_tokens",
    "learning_rate",
)  # said twice, or counted from TRL's start


def device_options(device: torch.device) -> dict[str, bool | str]:
    """TRL's options that depend on the device; nothing else of a training does.

    A GPU keeps the weights in float32 and computes in bfloat16 (autocast), and computes activations
    again in the backward pass. The fused AdamW is TRL's default on both, named so that it stays.
    """
    gpu = device.type == "cuda"
    return {
        "use_cpu": not gpu,
        "bf16": gpu,
        "gradient_checkpointing": gpu,
        "dataloader_pin_memory": gpu,
        "optim": "adamw_torch_fused",
    }


class TRLRun:
    """One training: everything that TRL is given, and what it calls back."""

    def __init__(
        self,
        channel: Channel,
        verifier: Verifier,
        scratch: str,
        state: dict | None,
        first: int,
        steps: int,
        **settings: Any,
    ) -> None:
        self.channel, self.verifier, self.state, self.first, self.steps = (
            channel,
            verifier,
            state,
            first,
            steps,
        )
        self.settings, self.seed = settings, settings["seed"]
        self.place, self.name = model_folder(settings["model"])
        self.tokenizer = load_tokenizer(self.place)
        self.train_problems, self.dropped_problems = self._problems(
            settings["train_set"], settings["problems"], "train"
        )
        self.eval_problems = {
            name: self._problems(name, settings["eval_problems"], "test")[0]
            for name in settings["eval_sets"]
        }
        self.updates = settings["updates"]
        self.trainer = self._trainer(scratch)
        self.losses: torch.Tensor | None = None  # of all processes, where there are several
        self._engine: Engine | None = None

    def _problems(self, name: str, most: int, split: str) -> tuple[list[tuple[Problem, str]], int]:
        """The problems of a set with their prompts, without those that are too long; and how many
        those are.
        """
        chosen = load_prompt(self.settings["prompt"])
        found = problem_set(name, most or None, self.settings["folder_of_data"], split).problems
        golds = self.verifier.unparsable([one.answer for one in found])
        asked = [
            (one, chosen.render(one.question, self.tokenizer))
            for at, one in enumerate(found)
            if one.answer and at not in golds
        ]
        ids = self.tokenizer([text for _, text in asked], add_special_tokens=False)["input_ids"]
        kept = [
            pair
            for pair, one in zip(asked, ids, strict=True)
            if len(one) <= self.settings["max_prompt_tokens"]
        ]
        if len(kept) < 2:
            raise LabError(
                f"{name}: {len(kept)} of {len(found)} problems have a usable gold answer and a"
                f" prompt of at most {self.settings['max_prompt_tokens']} tokens: raise max_prompt_tokens, or"
                " take another set"
            )
        return kept, len(found) - len(kept)

    def _trainer(self, scratch: str) -> Any:
        from datasets import Dataset

        from lab.llm.train.trl_trainer import ObjectiveTrainer, PACSTrainer

        settings = self.settings
        rows = Dataset.from_dict(
            {
                "problem": range(len(self.train_problems)),
                "prompt": [text for _, text in self.train_problems],
                "gold": [one.answer for one, _ in self.train_problems],
            }
        )
        kind, options = (
            ObjectiveTrainer,
            {
                "estimator": settings["estimator"],
                "smoothing": settings["smoothing"],
                "greedy_filter": settings["greedy_filter"],
            },
        )
        if settings["estimator"] == "pacs":
            kind = PACSTrainer
            options = {"scale": settings["beta"]} | {
                name: settings[name] for name in ("score", "balanced", "actor")
            }
        run = self

        class Ordered(kind):
            """The batches of steps first, first + 1, ...: a function of the seed and the step."""

            def _get_train_sampler(self, dataset=None):
                return StepSampler(run, self.args.steps_per_generation)

        made = Ordered(
            model=self._model(),
            args=self._config(scratch),
            reward_funcs=[self.correctness_reward],
            train_dataset=rows,
            processing_class=self.tokenizer,
            rollout_func=self.generate_rollouts,
            callbacks=[self._listener()],
            truncation=settings["truncation"],
            first_step=self.first * self.updates,
            **options,
        )
        made.remove_callback(transformers().PrinterCallback)
        if made.is_fsdp_enabled or made.is_deepspeed_enabled:
            raise LabError(
                "the weights are spread over processes (FSDP or DeepSpeed), and checkpoints here"
                " hold whole ones: launch with torchrun alone, or take lab cluster for models that"
                " need it"
            )
        return made

    def _model(self) -> Any:
        from lab.llm.engines.transformers_engine import load_causal_model

        made = load_causal_model(self.place, torch.float32)
        made.config._name_or_path = self.place  # TRL loads the reference from here
        return made

    def _config(self, scratch: str) -> Any:
        settings = self.settings
        batch, processes = (
            settings["prompts"] * settings["rollouts"],
            int(os.environ.get("WORLD_SIZE", 1)),
        )
        accumulate = batch // (self.updates * processes * settings["micro_batch"])
        vllm = (
            {}
            if settings["engine"] != "vllm"
            else {
                "use_vllm": True,
                "vllm_mode": "colocate",
                **self._engine_share(),
                "vllm_max_model_length": settings["max_prompt_tokens"] + settings["max_tokens"],
                "vllm_importance_sampling_correction": False,
            }
        )
        return trl().GRPOConfig(
            **device_options(compute_device()),
            output_dir=scratch,
            seed=self.seed,
            max_steps=(self.steps - self.first) * self.updates,
            per_device_train_batch_size=settings["micro_batch"],
            gradient_accumulation_steps=accumulate,
            steps_per_generation=accumulate * self.updates,
            num_generations=settings["rollouts"],
            max_completion_length=settings["max_tokens"],
            temperature=settings["temperature"],
            top_p=settings["top_p"],
            learning_rate=settings["learning_rate"],
            lr_scheduler_type="constant",
            weight_decay=0.01,
            max_grad_norm=1.0,
            beta=settings["kl"] or float(settings["reference_every"] > 0),
            epsilon=settings["clip"],
            entropy_coef=settings["entropy_bonus"],
            loss_type=AGGREGATIONS[settings["aggregation"]],
            logging_steps=settings["log_every"] * self.updates,
            logging_nan_inf_filter=False,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            ddp_timeout=DDP_TIMEOUT_SECONDS,
            **vllm,
        )

    def _engine_share(self) -> dict[str, Any]:
        """TRL's options on vLLM's memory; with engine_memory = 0 it sleeps while the model trains."""
        settings = self.settings
        if settings["engine_memory"]:
            return {"vllm_gpu_memory_utilization": settings["engine_memory"]}
        from lab.llm.engines.memory import awake_share

        device = compute_device()
        if device.type != "cuda":
            raise LabError(
                "engine_memory = 0: vLLM's sleep mode needs a GPU; give it a share of the memory"
            )
        total = torch.cuda.get_device_properties(device).total_memory / GIB
        config = transformers().AutoConfig.from_pretrained(self.place)
        reference = bool(settings["kl"] or settings["reference_every"])
        return {
            "vllm_enable_sleep_mode": True,
            "vllm_gpu_memory_utilization": awake_share(config, reference, total),
        }

    def correctness_reward(
        self, completions: Sequence[str], gold: Sequence[str], **_: Any
    ) -> list[float | None]:
        """TRL's reward function: 1 for right, 0 for wrong, None where the verifier could not tell."""
        return [verdict.reward for verdict in self.verifier.check(list(completions), list(gold))]

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Whoever samples from the model that is being trained, with the weights of now; only
        inside the block.
        """
        trainer = self.trainer
        if self.settings["engine"] == "transformers":
            from lab.llm.engines.transformers_engine import TransformersEngine

            model = trainer.accelerator.unwrap_model(trainer.model)
            yield TransformersEngine.from_model(model, self.tokenizer, self.name)
            return
        stale = trainer.state.global_step != trainer._last_loaded_step
        with trainer.vllm_generation.awake(stale) as llm:
            trainer._last_loaded_step = trainer.state.global_step
            if self._engine is None:
                from lab.llm.engines.vllm_engine import VLLMEngine

                self._engine = VLLMEngine.from_llm(llm, self.tokenizer, self.name)
            yield self._engine

    def generate_rollouts(self, prompts: list[str], trainer: Any) -> dict[str, list]:
        """TRL's rollout function: this process's part of the batch, whole groups of rollouts each
        in a row.
        """
        N, settings = self.settings["rollouts"], self.settings
        asked, step = prompts[::N], trainer.step // self.updates
        if len(prompts) % N or any(prompts[at] != asked[at // N] for at in range(len(prompts))):
            raise LabError(
                f"a process has {len(prompts)} rollouts of step {step} that are not groups of {N}:"
                " a group was split across processes; give a number of prompts that the processes"
                " divide"
            )
        accelerator = trainer.accelerator
        first = (step * accelerator.num_processes + accelerator.process_index) * len(asked)
        sampling = Sampling(
            N, settings["temperature"], settings["top_p"], settings["max_tokens"], self.seed
        )
        greedy = []
        with self.engine() as engine:
            drawn = engine.sample(asked, sampling, first)
            if settings["greedy_filter"]:
                greedy = engine.sample(
                    asked, Sampling(1, 0.0, 1.0, settings["max_tokens"], self.seed)
                )
        ids = encode_prompts(
            self.tokenizer, asked, settings["max_tokens"], engine.positions, self.name
        )
        made = {
            "prompt_ids": [one for one in ids for _ in range(N)],
            "completion_ids": [list(answer.ids) for group in drawn for answer in group],
            "logprobs": [list(answer.logp) for group in drawn for answer in group],
        }
        if greedy:
            made["greedy"] = [answer.text for [answer] in greedy for _ in range(N)]
        return made

    def evaluate(self) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Pass@k on every evaluation set from `samples` answers a problem, and the right ones of
        each problem.

        Every process samples and judges its share of the problems; what it draws follows from the
        problem's number, so that the result is that of one process. All processes return it.
        """
        settings, n = self.settings, self.settings["samples"]
        sampling = Sampling(
            n,
            settings["eval_temperature"],
            settings["eval_top_p"],
            settings["max_tokens"],
            stream_seed(self.seed, "examination") % 2**31,
        )
        metrics, groups = {}, {"set": [], "problem": [], "n": [], "right": []}
        for name, asked in self.eval_problems.items():
            judged, right = self._count_right(asked, sampling)
            some = judged > 0
            if not some.any():
                raise LabError(
                    f"{name}: no answer could be judged; look at its golds with lab data check"
                )
            prefix = "" if len(self.eval_problems) == 1 else f"{name} "
            for k in [
                2**power for power in range(n.bit_length()) if 2**power <= judged[some].min()
            ]:
                metrics[f"{prefix}pass@{k}"] = float(pass_at_k(judged[some], right[some], k).mean())
            for key, values in {
                "set": [name] * len(asked),
                "problem": [one.id for one, _ in asked],
                "n": judged,
                "right": right,
            }.items():
                groups[key].extend(values)
        return metrics, {key: np.array(values) for key, values in groups.items()}

    def _count_right(
        self, asked: list[tuple[Problem, str]], sampling: Sampling
    ) -> tuple[np.ndarray, np.ndarray]:
        """How many answers to each problem could be judged, and how many were right: from all
        processes.
        """
        accelerator, n = self.trainer.accelerator, sampling.n
        ours = np.array_split(np.arange(len(asked)), accelerator.num_processes)[
            accelerator.process_index
        ]
        counts = torch.zeros(2, len(asked), dtype=torch.int64)
        if len(ours):
            problems = [asked[at] for at in ours]
            with self.engine() as engine:
                answers = engine.sample([text for _, text in problems], sampling, int(ours[0]))
            verdicts = self.verifier.check(
                [one.text for each in answers for one in each],
                [one.answer for one, _ in problems for _ in range(n)],
            )
            outcome = np.reshape([verdict.outcome for verdict in verdicts], (-1, n))
            counts[0, ours] = torch.from_numpy((outcome != "error").sum(1))
            counts[1, ours] = torch.from_numpy((outcome == "right").sum(1))
        judged, right = accelerator.reduce(counts.to(accelerator.device)).cpu().numpy()
        return judged, right

    def send_record(self, step: int, logs: dict[str, float]) -> None:
        """Hand over the record of a step; processes that do not write have only a pause to tell."""
        metrics, groups = self.evaluate()
        if not self.trainer.accelerator.is_main_process:
            return self.send(Pause(step, Standing(step, self.state_at)))
        kept = {
            METRIC_NAMES.get(name, name): value
            for name, value in logs.items()
            if isinstance(value, (int, float)) and not name.startswith(HIDDEN_METRICS)
        }
        if step == 0:
            kept |= {
                "training problems": len(self.train_problems),
                "problems left out": self.dropped_problems,
            }
        self.send(Record(step, metrics | kept, Standing(step, self.state_at), groups))

    def send_pause(self, step: int) -> None:
        """Hand over the state of a step without a record, with what TRL has added up for the next
        one.
        """
        self.send(Pause(step, Standing(step, lambda at: self.state_at(at) | self.running_sums())))

    def send(self, told: Record | Pause) -> None:
        self.channel.send(told)
        if told.step < self.steps:  # after the last step nothing moves any more
            told.state.move_on()

    def state_at(self, step: int) -> dict[str, torch.Tensor]:
        """Weights, optimiser, step, and the reference where PACS resets one."""
        trainer = self.trainer
        state = current_state(
            trainer.accelerator.unwrap_model(trainer.model), trainer.optimizer, step
        )
        if self.settings["reference_every"]:
            reference = trainer.ref_model.state_dict()
            state |= {f"reference/{key}": value.detach() for key, value in reference.items()}
        return state

    def running_sums(self) -> dict[str, torch.Tensor]:
        """What TRL and transformers add up from one log to the next, of which a record gives the
        means.

        The metrics are numbered: their order is that of the record. `loss` holds that of every
        process.
        """
        trainer = self.trainer
        told = [
            (name, values)
            for name, values in trainer._metrics["train"].items()
            if not name.startswith(HIDDEN_METRICS)
        ]
        state = {
            f"added up/{place:03}/{name}": torch.tensor(values, dtype=torch.float64)
            for place, (name, values) in enumerate(told)
        }
        losses = trainer._tr_loss[None] if self.losses is None else self.losses
        updates = trainer.state.global_step - trainer._globalstep_last_logged
        return state | {"added up/loss": losses, "added up/updates": torch.tensor(updates)}

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Put a state back into what TRL has made."""
        trainer = self.trainer
        restore(trainer.accelerator.unwrap_model(trainer.model), trainer.optimizer, state)
        if self.settings["reference_every"]:
            trainer.ref_model.load_state_dict(
                {
                    key.removeprefix("reference/"): value
                    for key, value in state.items()
                    if key.startswith("reference/")
                }
            )
        running_sums = {
            key.removeprefix("added up/"): value
            for key, value in state.items()
            if key.startswith("added up/")
        }
        if running_sums:
            losses, here = running_sums.pop("loss"), trainer.accelerator
            # On another number of processes their mean says the same, up to rounding.
            mine = (
                losses[here.process_index] if len(losses) == here.num_processes else losses.mean()
            )
            trainer._tr_loss.copy_(mine)
            trainer._globalstep_last_logged = -int(running_sums.pop("updates"))
            for key in sorted(running_sums):
                trainer._metrics["train"][key.partition("/")[2]] = running_sums[key].tolist()

    def synchronize_processes(self) -> None:
        """Let all processes stop after the same step, should one be asked to, and know each other's
        losses.
        """
        accelerator = self.trainer.accelerator
        if accelerator.num_processes > 1:
            asked = torch.full((1,), float(REQUEST.came), device=accelerator.device)
            everyone = accelerator.gather(torch.stack((self.trainer._tr_loss[None], asked), 1))
            self.losses = everyone[:, 0]
            REQUEST.agree(bool(everyone[:, 1].any()))

    def reset_reference(self) -> None:
        """PACS, section 3.4: the reference becomes the policy, and the optimiser starts anew."""
        trainer = self.trainer
        trainer.ref_model.load_state_dict(
            trainer.accelerator.unwrap_model(trainer.model).state_dict()
        )
        getattr(trainer.optimizer, "optimizer", trainer.optimizer).state.clear()

    def _listener(self) -> Any:
        run = self

        class Listener(transformers().TrainerCallback):
            """What TRL calls back: step ends and logs."""

            def on_train_begin(self, args, state, control, **_):
                if run.trainer.accelerator.num_processes > 1:
                    REQUEST.agree(False)  # until the first step, where they can ask each other
                if run.state is None:
                    run.send_record(0, {})
                else:
                    run.restore(run.state)
                    run.state = None

            def on_step_end(self, args, state, control, **_):
                run.channel.raise_if_stopped()
                step, rest = divmod(run.trainer.step, run.updates)
                if rest:
                    control.should_log = False
                    return
                every = run.settings["reference_every"]
                if every and step % every == 0:
                    run.reset_reference()
                run.synchronize_processes()
                # By the steps of the whole training: TRL counts from where this process took it up.
                control.should_log = step % run.settings["log_every"] == 0 or step == run.steps
                if not control.should_log:
                    run.send_pause(step)

            def on_log(self, args, state, control, logs, **_):
                if "train_runtime" not in logs:  # TRL's farewell
                    run.send_record(run.trainer.step // run.updates, logs)

        return Listener()

    def run(self) -> None:
        try:
            self.trainer.train()
        except LoopStopped:
            if (
                REQUEST.due
            ):  # let the one that writes the checkpoint end before a launcher sees another one gone
                self.trainer.accelerator.wait_for_everyone()
            raise


class StepSampler(torch.utils.data.Sampler):
    """Rows in the order that TRL reads them: a step's problems, each `rollouts` times, once for
    every pass.
    """

    def __init__(self, run: TRLRun, passes: int) -> None:
        self.steps, self.seed, self.problems = (
            range(run.first, run.steps),
            run.seed,
            len(run.train_problems),
        )
        self.prompts, self.rollouts, self.passes = (
            run.settings["prompts"],
            run.settings["rollouts"],
            passes,
        )

    def __len__(self) -> int:
        return len(self.steps) * self.passes * self.prompts * self.rollouts

    def __iter__(self) -> Iterator[int]:
        for step in self.steps:
            rows = [
                row
                for row in problems_of_step(self.seed, step, self.prompts, self.problems)
                for _ in range(self.rollouts)
            ]
            for _ in range(self.passes):
                yield from rows


def problems_of_step(seed: int, step: int, prompts: int, problems: int) -> list[int]:
    """The problems of a step: every problem once an epoch, in an order drawn anew for each; batches
    run across epochs.

    >>> sorted(problems_of_step(0, 0, 2, 4) + problems_of_step(0, 1, 2, 4))
    [0, 1, 2, 3]
    """
    places = (divmod(place, problems) for place in range(step * prompts, (step + 1) * prompts))
    return [int(_epoch(seed, epoch, problems)[at]) for epoch, at in places]


@lru_cache(maxsize=2)
def _epoch(seed: int, epoch: int, problems: int) -> np.ndarray:
    return generator(seed, "order", epoch).permutation(problems)
