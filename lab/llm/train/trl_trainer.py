"""TRL's GRPO trainer, taught by any objective of the lab. Floor 2.

    ObjectiveTrainer("maxrl", model=..., reward_funcs=..., args=GRPOConfig(...), train_dataset=...)
    PACSTrainer(scale=1.0, model=..., ...)

TRL samples, scores, logs and steps; what changes is one array. Rewards come from all processes,
groups are told by the column `problem` of the data (a whole number a row), and `lab.advantages`
gives every rollout its advantage:

| TRL's own | here |
|---|---|
| advantages | of the estimator; of the rewards as they are, 0 or 1, which TRL logs raw |
| `scale_rewards`, `multi_objective_aggregation` | have no effect |
| a reward of None (the verifier could not judge) | the rollout is lost: a smaller group, advantage 0 |
| truncated rollouts | `truncation`: "score" as any other, "zero" as wrong, "mask" as lost |
| the order of rows in a batch | follows from (seed, step): a resumed run goes on exactly |
| micro-batches | on a GPU sorted by length, and cut to their longest: see `by_length` |
| vLLM's `max_num_seqs`, all rollouts of a batch | at most `SEQUENCES` |

Written for TRL 1.16, of which it overrides five methods, each checked by hand computation in
tests/test_trl.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import torch

from lab.errors import LabError, one_of, real
from lab.estimators import advantages
from lab.estimators import estimator as find_estimator
from lab.groups import check_binary
from lab.llm.engines.imports import trl
from lab.losses import SCORES, pacs, pacs_at_anchor
from lab.rng import stream_seed
from lab.weights import induced_weight

TRUNCATIONS = ("score", "zero", "mask")
# Sequences that vLLM decodes together, and its own choice for a card of 80 GB. TRL asks for all
# rollouts of a batch, and vLLM refuses more than the 4,096 tokens that TRL lets it read in one go.
SEQUENCES = 1024
Batch = dict[str, Any]


@lru_cache
def vllm_sampler_class() -> type:
    """TRL's vLLM in the trainer's process, as a class that bounds it and knows when it is awake."""
    from trl.generation.vllm_generation import VLLMGeneration

    class Sampler(VLLMGeneration):
        """TRL's, with at most `SEQUENCES` at once, for whoever samples outside of its `generate`."""

        def _init_vllm(self) -> None:
            if self.max_num_seqs is not None:
                self.max_num_seqs = min(self.max_num_seqs, SEQUENCES)
            super()._init_vllm()

        @contextmanager
        def awake(self, stale: bool) -> Iterator[Any]:
            """vLLM's `LLM` with the weights of now; `stale`: they have changed since the last push.

            In sleep mode it wakes for the block and then gives its memory back: weights, keys and
            values are dropped, so that they are pushed again when it wakes.
            """
            if stale or self._llm_weights_sleeping:
                self.sync_weights()  # wakes the memory of the weights first
            if self.enable_sleep_mode:
                self.llm.wake_up(tags=["kv_cache"])
            try:
                yield self.llm
            finally:
                if self.enable_sleep_mode:
                    self.llm.sleep(level=2)
                    self._llm_weights_sleeping = True

    return Sampler


@contextmanager
def bounded_vllm_sampler() -> Iterator[None]:
    """Let TRL's trainers make our `Sampler` in the block: they name theirs and take no other."""
    from trl.trainer import grpo_trainer

    theirs = grpo_trainer.VLLMGeneration
    grpo_trainer.VLLMGeneration = vllm_sampler_class()
    try:
        yield
    finally:
        grpo_trainer.VLLMGeneration = theirs


class ObjectiveTrainer(trl().GRPOTrainer):
    """GRPO's trainer with the advantages of an estimator.

    | option | meaning |
    |---|---|
    | `estimator` | an estimator or its spec, such as "maxrl" or "pkpo(k=4)" |
    | `truncation` | the policy for rollouts without an end token: "score", "zero" or "mask" |
    | `smoothing` | differential smoothing's c (Gai et al., 2511.19942): a right rollout gains and a wrong one loses |
    | | -c times its mean token log-probability |
    | `greedy_filter` | SELF (Nguyen et al., 2510.02230): only problems whose greedy answer is wrong count |
    | `first_step` | optimiser steps that were made before this training began |
    | `by_length` | micro-batches hold rows of like length and are cut to their longest; the loss is the same up to |
    | | rounding. None: on a GPU, where it saves time; a CPU's results stay those of TRL bit by bit |

    `smoothing` needs log-probabilities from the sampler (vLLM, or a rollout function that returns
    them), and `greedy_filter` a rollout function that returns a column `greedy`, the greedy answer
    to each row's prompt. All other arguments are TRL's.
    """

    def __init__(
        self,
        estimator: Any = "maxrl",
        *given: Any,
        truncation: str = "score",
        smoothing: float = 0.0,
        greedy_filter: bool = False,
        first_step: int = 0,
        by_length: bool | None = None,
        **named: Any,
    ) -> None:
        with bounded_vllm_sampler():
            super().__init__(*given, **named)
        self.estimator = find_estimator(estimator)
        self.estimator.coefficients(
            self.num_generations
        )  # refuses a group that is too small before anything runs
        self.truncation = one_of("truncation", truncation, TRUNCATIONS)
        self.smoothing, self.greedy_filter = real("smoothing", smoothing, 0), greedy_filter
        self.first_step, self.seen = first_step, {}
        on_gpu = self.accelerator.device.type == "cuda"
        self.by_length = on_gpu if by_length is None else by_length
        if "problem" not in (self.train_dataset.column_names or ()):
            raise LabError(
                "the training data have no column 'problem': give each row the number of its"
                " problem, by which the rollouts of a group are told"
            )

    @property
    def step(self) -> int:
        """Optimiser steps made so far, those before this training included."""
        return self.first_step + self.state.global_step

    def _generate_and_score_completions(self, inputs: list[Batch]) -> Batch:
        torch.manual_seed(
            stream_seed(self.args.seed, "rows", self.step)
        )  # TRL shuffles the rows after this
        made = super()._generate_and_score_completions(inputs)
        N = self.num_generations if self.model.training else self.num_generations_eval
        rewards = self._group_rewards(inputs, N)
        self._log_batch(rewards)
        first = self.accelerator.process_index * len(inputs)
        self._set_advantages(made, rewards, slice(first, first + len(inputs)))
        return made

    def _set_advantages(self, made: Batch, rewards: torch.Tensor, ours: slice) -> None:
        """Put what the loss needs into the batch; `rewards` "problems rollouts" of all processes,
        nan where lost.
        """
        A = group_advantages(self.estimator, rewards).flatten()
        if self.greedy_filter:
            A = A * ~self.seen["greedy"]
        made["advantages"] = A[ours].to(made["advantages"])
        if self.smoothing:
            if "sampling_per_token_logps" not in made:
                raise LabError(
                    "smoothing needs the log-probabilities of the sampler: use vLLM, or a rollout"
                    " function that returns logprobs"
                )
            mask = made["completion_mask"]
            mean = (made["sampling_per_token_logps"] * mask).sum(1) / mask.sum(1).clamp_min(1)
            mine = rewards.flatten()[ours]
            made["advantages"] -= self.smoothing * mean * (2 * mine - 1).nan_to_num()
        logged = self._logs["advantages"]  # TRL's table of completions shows what was used
        for place, value in zip(range(-len(A), 0), A.tolist(), strict=True):
            logged[place] = value

    def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
        """TRL's, gathered from all processes; what it does not return is kept in `seen`."""
        found = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        device, ends = found.device, [*self.eos_token_ids, self._tokenizer.pad_token_id]
        lost = found.isnan().all(1)
        reward = (found * self.reward_weights.to(device)).nansum(1).masked_fill(lost, torch.nan)
        cut = torch.tensor(
            [not len(ids) or ids[-1] not in ends for ids in completion_ids_list], device=device
        )
        problem = torch.tensor([row["problem"] for row in inputs], device=device)
        self.seen = {"reward": reward} | {
            name: self.accelerator.gather(of)
            for name, of in {"cut": cut, "problem": problem}.items()
        }
        if self.greedy_filter:
            self.seen["greedy"] = self._greedy_right(inputs, prompts, completion_ids_list)
        return found

    def _greedy_right(self, inputs, prompts, completion_ids_list) -> torch.Tensor:
        if "greedy" not in inputs[0]:
            raise LabError(
                "greedy_filter needs a rollout function that returns a column 'greedy' with the"
                " greedy answer to each prompt: lab.llm.train.trl_run has one"
            )
        found = super()._calculate_rewards(
            inputs, prompts, [row["greedy"] for row in inputs], completion_ids_list
        )
        return (found * self.reward_weights.to(found.device)).nansum(1) == 1

    def _group_rewards(self, inputs: list[Batch], N: int) -> torch.Tensor:
        """Rewards "problems rollouts" of all processes after the policy for truncated ones; nan for
        what is lost.
        """
        reward, cut, problem = (self.seen[name] for name in ("reward", "cut", "problem"))
        if cut.all():
            raise LabError(
                f"all {len(cut)} rollouts of step {self.step} were cut at"
                f" {self.max_completion_length} tokens: allow longer ones, or look at why none ends"
            )
        groups = problem.view(-1, N)
        if (groups != groups[:, :1]).any():
            at = int((groups != groups[:, :1]).any(1).nonzero()[0, 0])
            raise LabError(
                f"group {at} of step {self.step} holds rollouts of problems"
                f" {', '.join(map(str, groups[at].unique().tolist()))}: the rows of a problem must"
                f" come {N} in a row, in one order on all processes"
            )
        if self.truncation != "score":
            reward = reward.masked_fill(cut, 0.0 if self.truncation == "zero" else torch.nan)
        check_binary(reward.view(-1, N).double().nan_to_num().cpu().numpy())
        return reward.view(-1, N)

    def _log_batch(self, rewards: torch.Tensor) -> None:
        """What TRL does not log of a batch: by name into its metrics."""
        kept = ~rewards.isnan()
        n, K = kept.sum(1), rewards.nansum(1)
        rate = (K / n.clamp_min(1))[n > 0].double().cpu().numpy()
        told = {
            "solved": (K > 0).float().mean(),
            "dead_groups": ((K == 0) | (K == n)).float().mean(),
            "lost": 1 - kept.float().mean(),
        }
        if (weight := self._weight(rate)) is not None:
            told["induced_weight"] = weight.mean()
        if self.greedy_filter:
            told["greedy_solved"] = self.seen["greedy"].float().mean()
        for name, value in told.items():
            self._metrics["train" if self.model.training else "eval"][name].append(float(value))

    def _weight(self, rate):
        """w_N at the pass rates of the batch's groups."""
        return induced_weight(self.estimator, self.num_generations, rate)

    def _prepare_inputs(self, generation_batch):
        """TRL's micro-batch; those of one optimiser step are first sorted by length among
        themselves.
        """
        if not (self.by_length and self.model.training):
            return super()._prepare_inputs(generation_batch)
        before = self._buffered_inputs
        inputs = super()._prepare_inputs(generation_batch)
        if self._buffered_inputs is before:
            return inputs
        window = self.args.gradient_accumulation_steps
        parts = self._buffered_inputs
        # An entropy bonus is a mean over each micro-batch's tokens, so that sorting would change
        # it.
        if not self._entropy_bonus_enabled:
            parts = [
                part
                for start in range(0, len(parts), window)
                for part in sorted_by_length(parts[start : start + window])
            ]
        self._buffered_inputs = parts
        return parts[self._step % self.args.steps_per_generation]

    def _get_per_token_logps_and_entropies(
        self, model, input_ids, attention_mask, logits_to_keep, batch_size=None, **named
    ):
        if not self.by_length or any(
            value is not None
            for name, value in named.items()
            if name not in ("compute_entropy", "compute_aux_loss")
        ):
            found = super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, batch_size, **named
            )
        else:
            found = self._log_probabilities_by_length(
                model,
                input_ids,
                attention_mask,
                logits_to_keep,
                batch_size or len(input_ids),
                **named,
            )
        self._latest = found[0].detach()
        return found

    def _log_probabilities_by_length(self, model, ids, read, width, batch_size, **named):
        """TRL's log-probabilities "rows width" and entropies, rows of like length together and cut
        to their longest.

        Zero at what was cut off, which is TRL's own value at padding.
        """
        order = read.sum(1).argsort(stable=True)
        kept: list[list[torch.Tensor]] = []
        for rows in order.split(batch_size):
            used = read[rows].any(0).nonzero()[:, 0]
            first, last = int(used[0]), int(used[-1]) + 1
            # At least one completion token, which TRL's slices from the right need.
            first, last = min(first, ids.shape[1] - width - 1), max(last, ids.shape[1] - width + 1)
            cut = ids.shape[1] - last
            found = super()._get_per_token_logps_and_entropies(
                model, ids[rows, first:last], read[rows, first:last], width - cut, **named
            )
            kept.append(
                [
                    (
                        None
                        if one is None
                        else torch.nn.functional.pad(one, (0, cut))
                        if one.ndim == 2
                        else one
                    )
                    for one in found
                ]
            )
        logp, entropy, auxiliary = zip(*kept, strict=True)
        back = order.argsort()
        return (
            torch.cat(logp)[back],
            None if entropy[0] is None else torch.cat(entropy)[back],
            None if auxiliary[0] is None else torch.stack(auxiliary).mean(),
        )

    def _compute_loss(self, model, inputs):
        loss = super()._compute_loss(model, inputs)
        self._log_mismatch(inputs)
        return loss

    def _log_mismatch(self, inputs: Batch) -> None:
        """The largest difference between a token's log-probability when sampled and when trained."""
        if (sampled := inputs.get("sampling_per_token_logps")) is not None:
            gap = ((self._latest - sampled.nan_to_num()) * inputs["completion_mask"]).abs().max()
            self._metrics["train" if self.model.training else "eval"]["logp_mismatch"].append(
                float(gap)
            )


class PACSTrainer(ObjectiveTrainer):
    """PACS (2509.02522): `lab.losses.pacs` in place of the policy gradient.

    | option | meaning |
    |---|---|
    | `scale` | the paper's beta, of the log-ratio; TRL's own `beta` is a KL coefficient |
    | `score`, `balanced`, `actor` | as in `lab.losses.pacs` |

    The reference is the policy that made the rollouts, as in the official code; with one optimiser
    step a batch that is exactly the anchor. With a reference model (TRL's beta above 0) it is that
    model, and TRL's KL is left out; reset it with TRL's own `sync_ref_model=True,
    ref_model_mixup_alpha=1.0`, or as `lab.llm.train.trl_run` does.
    """

    def __init__(
        self,
        *given: Any,
        scale: float = 1.0,
        score: str = "rloo",
        balanced: bool = True,
        actor: bool = False,
        **named: Any,
    ) -> None:
        self.scale, self.score = real("beta", scale, 1e-12), one_of("score", score, SCORES)
        self.balanced, self.actor = balanced, actor
        super().__init__(pacs_at_anchor(scale, score, balanced), *given, **named)
        for name, value in {
            "smoothing": self.smoothing,
            "greedy_filter": self.greedy_filter,
            "an entropy bonus": self.args.entropy_coef,
            "use_vllm's importance sampling": (
                self.use_vllm and self.vllm_importance_sampling_correction
            ),
        }.items():
            if value:
                raise LabError(
                    f"PACS has a loss of its own, in which {name} has no place: turn it off"
                )
        if self.args.per_device_train_batch_size % self.num_generations:
            raise LabError(
                f"PACS compares whole groups: {self.args.per_device_train_batch_size} rollouts at"
                f" once are no multiple of {self.num_generations}, so a group would be split; give"
                " a multiple"
            )

    def _set_advantages(self, made: Batch, rewards: torch.Tensor, ours: slice) -> None:
        """Every tensor as "problems rollouts ...": TRL shuffles and splits the first axis, so
        groups stay whole.
        """
        super()._set_advantages(
            made, rewards, ours
        )  # the advantages at the anchor, for TRL's table
        N = rewards.shape[1]
        if (ours.stop - ours.start) % N:
            raise LabError(
                f"a process has {ours.stop - ours.start} rollouts, no multiple of {N}, so that a"
                " group is split across processes: change the rollouts at once"
            )
        made["rewards"] = rewards.flatten()[ours]
        for key, value in made.items():
            if torch.is_tensor(value) and value.ndim:
                made[key] = value.view(-1, N, *value.shape[1:])

    def _compute_loss(self, model, inputs):
        rewards = inputs["rewards"]
        flat = {
            key: value.flatten(0, 1) if torch.is_tensor(value) and value.ndim > 1 else value
            for key, value in inputs.items()
        }
        ids = torch.cat((flat["prompt_ids"], flat["completion_ids"]), 1)
        read = torch.cat((flat["prompt_mask"], flat["completion_mask"]), 1)
        mask = flat["completion_mask"]
        logp, entropy, _ = self._get_per_token_logps_and_entropies(
            model, ids, read, mask.shape[1], compute_entropy=True
        )
        reference = flat.get("ref_per_token_logps", flat.get("old_per_token_logps"))
        reference = logp.detach() if reference is None else reference
        log_ratio = ((logp - reference) * mask).sum(1).view_as(rewards)
        loss = pacs(
            log_ratio,
            rewards,
            beta=self.scale,
            score=self.score,
            balanced=self.balanced,
            actor=self.actor,
        )
        mode = "train" if self.model.training else "eval"
        share = self.accelerator.reduce(
            torch.stack(((entropy * mask).sum(), mask.sum())).detach(), reduction="sum"
        )
        self._metrics[mode]["entropy"].append(float(share[0] / share[1].clamp_min(1)))
        self._metrics[mode]["log_ratio"].append(
            float(self.accelerator.gather(log_ratio.detach().abs()).mean())
        )
        self._log_mismatch(flat)
        return loss / (self.current_gradient_accumulation_steps if self.model.training else 1)


def sorted_by_length(parts: list[Batch]) -> list[Batch]:
    """The same rows in micro-batches of the same size, the shortest first; whole groups move where
    rows are groups.

    A row's length is that of its prompt and answer, a group's that of its longest. The order
    follows from the lengths, and where they are equal from the order before.
    """
    tensors = {
        name: torch.cat([part[name] for part in parts])
        for name, value in parts[0].items()
        if torch.is_tensor(value) and value.ndim
    }
    lengths = tensors["prompt_mask"].sum(-1) + tensors["completion_mask"].sum(-1)
    order = lengths.view(len(lengths), -1).amax(1).argsort(stable=True)
    rows = order.split(len(order) // len(parts))
    return [
        part | {name: value[chosen] for name, value in tensors.items()}
        for part, chosen in zip(parts, rows, strict=True)
    ]


def group_advantages(chosen: Any, rewards: torch.Tensor) -> torch.Tensor:
    """`lab.advantages` of "problems rollouts"; nan marks lost ones: their group is smaller, their
    advantage 0.
    """
    lost = rewards.isnan()
    if not lost.any():
        return advantages(chosen, rewards)
    found, whole = torch.zeros_like(rewards), ~lost.any(1)
    found[whole] = advantages(chosen, rewards[whole])
    for group in (~whole & ~lost.all(1)).nonzero()[:, 0].tolist():
        kept = ~lost[group]
        found[group, kept] = advantages(chosen, rewards[group, kept])
    return found
