"""The formats of rollouts: by which columns a file of a tool is known, and what they mean.

One `Format` for each tool, named for it, with the file of the tool's source that writes it. The
page reads the same list, as JSON in lab/explorer/front/formats.js; after a change write it anew:

    python -m lab.rollouts.formats > lab/explorer/front/formats.js
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

# Columns by which a file of no known tool is understood.
IDS = ("problem", "uid", "prompt_id", "index")
TEXTS = ("prompt", "input", "question", "messages", "doc.query")
SIZES = ("n", "N", "rollouts", "samples")
RIGHT = ("k", "K", "correct", "right")
REWARDS = ("correct", "acc", "reward", "score")
LARGEST_N = 10_000  # rollouts a problem; above it the audit takes minutes, and a claim of 10^9 all


@dataclass(frozen=True)
class Format:
    """How one tool writes rollouts.

    A file is in this format if it has all `columns`, and one of `problem` and of `reward`; a dot
    leads into a nested object. Of `problem`, `reward` and `within` the first that is there counts.

    | field | meaning |
    |---|---|
    | `tool` | the name, as the audit says it |
    | `source` | the file of the tool's source that writes it |
    | `problem` | the column that names the problem, or holds its prompt |
    | `within` | columns that set apart problems of equal names, such as those of a task |
    | `reward` | the column of the reward; empty: beside one of advantages, the only other number |
    | `one` | a column of which only the first value is read, the others would count twice |
    | `once` | a column that names the rollout: one that stands in two files counts once |
    | `cell` | what a cell of `reward` is, see below |
    | `n` | the rollouts behind a rate; 0: a column of SIZES, or the denominator of all rates |
    | `logged_twice` | whether a step may repeat another word for word, and is then dropped |

    `cell` is "reward" (a number, or a list of one for each rollout), "ratio" (text such as 5/8:
    right of all), "rate" (right divided by all), "metrics" (lighteval's object of metrics) or
    "counts" (right rollouts, with a column of SIZES beside it). Of a ratio or a rate, equal ones of
    one problem count once.
    """

    tool: str
    source: str
    columns: tuple[str, ...]
    problem: tuple[str, ...]
    reward: tuple[str, ...]
    within: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    one: str = ""
    once: str = ""
    cell: str = "reward"
    n: int = 0
    logged_twice: bool = False


# From the most particular to the least: the first that fits is taken.
FORMATS = (
    Format(
        "the lab's training",
        "lab/runs/rollout_store.py",
        columns=("step", "problem", "index", "tokens", "truncated"),
        problem=("problem",),
        reward=("reward",),
    ),
    Format(
        "open-instruct",
        "open_instruct/rl_utils.py, save_rollouts_to_disk (allenai/open-instruct)",
        columns=("step", "prompt_idx", "response_tokens"),
        problem=("prompt_idx",),
        reward=("reward",),
    ),
    Format(
        "NeMo Gym",
        "nemo_gym/rollout_collection.py, TASK_INDEX_KEY_NAME (NVIDIA-NeMo/Gym)",
        columns=("_ng_task_index",),
        problem=("_ng_task_index",),
        within=("agent_ref.name",),
        reward=("reward",),
    ),
    Format(
        "verifiers v1, prime-rl",
        "verifiers/v1/episode.py, Episode.to_record, as lab.rollouts.episodes unfolds it",
        columns=("task", "env_agent", "trace"),
        problem=("task",),
        within=("env_agent",),
        reward=("reward",),
        once="trace",  # prime-rl writes those of rollouts/step_N/train/effective to .../all too
    ),
    Format(
        "verifiers, prime-rl",
        "verifiers/legacy/utils/save_utils.py, state_to_output (PrimeIntellect-ai/verifiers)",
        columns=("example_id", "completion"),
        problem=("example_id",),
        within=("task", "env_id"),
        reward=("reward",),
    ),
    Format(
        "TRL",
        "trl/trainer/grpo_trainer.py, GRPOTrainer.log with log_completions",
        columns=("step", "prompt", "completion"),
        problem=("prompt",),
        reward=(),
        besides=("step", "completion", "advantage"),
        logged_twice=True,
    ),
    Format(
        "verl, its table in W&B",
        "verl/utils/tracking.py, val/generations, as lab.rollouts.wide_tables unfolds it",
        columns=("input", "output", "score", "step", "sample"),
        problem=("input",),
        reward=("score",),
        once="sample",  # every table holds the steps before it too
    ),
    Format(
        "verl",
        "verl/trainer/ppo/ray_trainer.py, _write_generations (trainer.rollout_data_dir)",
        columns=("input", "output", "score", "step"),
        problem=("uid", "input"),
        # DAPO's reward is 1 or -1 less a penalty for length, and `acc` says what is right.
        reward=("acc", "score"),
    ),
    Format(
        "OpenRLHF",
        "openrlhf/cli/batch_inference.py of OpenRLHF up to 0.9.6 (removed in March 2026)",
        columns=("input", "output"),
        problem=("input",),
        reward=("reward",),
    ),
    Format(
        "lm-eval",
        "lm_eval/evaluator.py, evaluate with log_samples; samples_TASK_DATE.jsonl",
        columns=("doc_id", "doc_hash", "filter"),
        problem=("doc_hash",),
        reward=("exact_match", "math_verify", "acc", "pass@1"),
        one="filter",
    ),
    Format(
        "lighteval",
        "src/lighteval/logging/info_loggers.py, DetailsLogger.Detail (huggingface/lighteval)",
        columns=("doc", "metric", "model_response"),
        problem=("doc.query",),
        reward=("metric",),
        cell="metrics",
    ),
    Format(
        "Qwen2.5-Math",
        "evaluation/math_eval.py, save_jsonl of all_samples (QwenLM/Qwen2.5-Math)",
        columns=("idx", "code", "pred"),
        problem=("question", "idx"),
        reward=("score",),
    ),
    Format(
        "Open-R1 generations",
        "the data sets open-r1/OpenR1-Math-220k and their kind on the Hugging Face hub",
        columns=("generations",),
        problem=("uuid", "problem", "prompt"),
        reward=("correctness_math_verify", "correctness", "correctness_llama"),
    ),
    Format(
        "Big-Math",
        "the data set SynthLabsAI/Big-Math-RL-Verified: 64 rollouts of Llama-3.1-8B a problem",
        columns=("llama8b_solve_rate",),
        problem=("problem", "prompt"),
        reward=("llama8b_solve_rate",),
        cell="rate",
        n=64,
    ),
    Format(
        "OpenMathReasoning",
        "the data set nvidia/OpenMathReasoning: 32 rollouts of Qwen2.5-Math-72B a problem",
        columns=("pass_rate_72b_tir",),
        problem=("problem",),
        reward=("pass_rate_72b_tir",),
        cell="rate",
        n=32,
    ),
    Format(
        "POLARIS",
        "the data set POLARIS-Project/Polaris-Dataset-53K",
        columns=("problem", "difficulty"),
        problem=("problem",),
        reward=("difficulty",),
        cell="ratio",
    ),
    Format("", "any tool", columns=(), problem=(*IDS, *TEXTS), reward=REWARDS),
    Format(
        "pass rates",
        "a column of that name, as in many data sets",
        columns=(),
        problem=(*IDS, *TEXTS),
        reward=("pass_rate", "solve_rate", "success_rate", "pass@1"),
        cell="rate",
    ),
)
COUNTS = Format("", "any tool", columns=(), problem=(*IDS, *TEXTS), reward=RIGHT, cell="counts")


def page_module() -> str:
    """The text of lab/explorer/front/formats.js."""
    names = {
        "IDS": IDS,
        "TEXTS": TEXTS,
        "SIZES": SIZES,
        "RIGHT": RIGHT,
        "LARGEST_N": LARGEST_N,
        "FORMATS": [asdict(each) for each in FORMATS],
    }
    lines = [
        f"export const {name} = {json.dumps(value, indent=2, ensure_ascii=False)};\n"
        for name, value in names.items()
    ]
    return (
        "// The formats of rollouts, written by `python -m lab.rollouts.formats`: edit that.\n"
        + "".join(lines)
    )


if __name__ == "__main__":
    print(page_module(), end="")
