// The formats of rollouts, written by `python -m lab.rollouts.formats`: edit that.
export const IDS = [
  "problem",
  "uid",
  "prompt_id",
  "index"
];
export const TEXTS = [
  "prompt",
  "input",
  "question",
  "messages",
  "doc.query"
];
export const SIZES = [
  "n",
  "N",
  "rollouts",
  "samples"
];
export const RIGHT = [
  "k",
  "K",
  "correct",
  "right"
];
export const LARGEST_N = 10000;
export const FORMATS = [
  {
    "tool": "the lab's training",
    "source": "lab/runs/rollout_store.py",
    "columns": [
      "step",
      "problem",
      "index",
      "tokens",
      "truncated"
    ],
    "problem": [
      "problem"
    ],
    "reward": [
      "reward"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "open-instruct",
    "source": "open_instruct/rl_utils.py, save_rollouts_to_disk (allenai/open-instruct)",
    "columns": [
      "step",
      "prompt_idx",
      "response_tokens"
    ],
    "problem": [
      "prompt_idx"
    ],
    "reward": [
      "reward"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "NeMo Gym",
    "source": "nemo_gym/rollout_collection.py, TASK_INDEX_KEY_NAME (NVIDIA-NeMo/Gym)",
    "columns": [
      "_ng_task_index"
    ],
    "problem": [
      "_ng_task_index"
    ],
    "reward": [
      "reward"
    ],
    "within": [
      "agent_ref.name"
    ],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "verifiers v1, prime-rl",
    "source": "verifiers/v1/episode.py, Episode.to_record, as lab.rollouts.episodes unfolds it",
    "columns": [
      "task",
      "env_agent",
      "trace"
    ],
    "problem": [
      "task"
    ],
    "reward": [
      "reward"
    ],
    "within": [
      "env_agent"
    ],
    "besides": [],
    "one": "",
    "once": "trace",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "verifiers, prime-rl",
    "source": "verifiers/legacy/utils/save_utils.py, state_to_output (PrimeIntellect-ai/verifiers)",
    "columns": [
      "example_id",
      "completion"
    ],
    "problem": [
      "example_id"
    ],
    "reward": [
      "reward"
    ],
    "within": [
      "task",
      "env_id"
    ],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "TRL",
    "source": "trl/trainer/grpo_trainer.py, GRPOTrainer.log with log_completions",
    "columns": [
      "step",
      "prompt",
      "completion"
    ],
    "problem": [
      "prompt"
    ],
    "reward": [],
    "within": [],
    "besides": [
      "step",
      "completion",
      "advantage"
    ],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": true
  },
  {
    "tool": "verl, its table in W&B",
    "source": "verl/utils/tracking.py, val/generations, as lab.rollouts.wide_tables unfolds it",
    "columns": [
      "input",
      "output",
      "score",
      "step",
      "sample"
    ],
    "problem": [
      "input"
    ],
    "reward": [
      "score"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "sample",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "verl",
    "source": "verl/trainer/ppo/ray_trainer.py, _write_generations (trainer.rollout_data_dir)",
    "columns": [
      "input",
      "output",
      "score",
      "step"
    ],
    "problem": [
      "uid",
      "input"
    ],
    "reward": [
      "acc",
      "score"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "OpenRLHF",
    "source": "openrlhf/cli/batch_inference.py of OpenRLHF up to 0.9.6 (removed in March 2026)",
    "columns": [
      "input",
      "output"
    ],
    "problem": [
      "input"
    ],
    "reward": [
      "reward"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "lm-eval",
    "source": "lm_eval/evaluator.py, evaluate with log_samples; samples_TASK_DATE.jsonl",
    "columns": [
      "doc_id",
      "doc_hash",
      "filter"
    ],
    "problem": [
      "doc_hash"
    ],
    "reward": [
      "exact_match",
      "math_verify",
      "acc",
      "pass@1"
    ],
    "within": [],
    "besides": [],
    "one": "filter",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "lighteval",
    "source": "src/lighteval/logging/info_loggers.py, DetailsLogger.Detail (huggingface/lighteval)",
    "columns": [
      "doc",
      "metric",
      "model_response"
    ],
    "problem": [
      "doc.query"
    ],
    "reward": [
      "metric"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "metrics",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "Qwen2.5-Math",
    "source": "evaluation/math_eval.py, save_jsonl of all_samples (QwenLM/Qwen2.5-Math)",
    "columns": [
      "idx",
      "code",
      "pred"
    ],
    "problem": [
      "question",
      "idx"
    ],
    "reward": [
      "score"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "Open-R1 generations",
    "source": "the data sets open-r1/OpenR1-Math-220k and their kind on the Hugging Face hub",
    "columns": [
      "generations"
    ],
    "problem": [
      "uuid",
      "problem",
      "prompt"
    ],
    "reward": [
      "correctness_math_verify",
      "correctness",
      "correctness_llama"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "Big-Math",
    "source": "the data set SynthLabsAI/Big-Math-RL-Verified: 64 rollouts of Llama-3.1-8B a problem",
    "columns": [
      "llama8b_solve_rate"
    ],
    "problem": [
      "problem",
      "prompt"
    ],
    "reward": [
      "llama8b_solve_rate"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "rate",
    "n": 64,
    "logged_twice": false
  },
  {
    "tool": "OpenMathReasoning",
    "source": "the data set nvidia/OpenMathReasoning: 32 rollouts of Qwen2.5-Math-72B a problem",
    "columns": [
      "pass_rate_72b_tir"
    ],
    "problem": [
      "problem"
    ],
    "reward": [
      "pass_rate_72b_tir"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "rate",
    "n": 32,
    "logged_twice": false
  },
  {
    "tool": "POLARIS",
    "source": "the data set POLARIS-Project/Polaris-Dataset-53K",
    "columns": [
      "problem",
      "difficulty"
    ],
    "problem": [
      "problem"
    ],
    "reward": [
      "difficulty"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "ratio",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "",
    "source": "any tool",
    "columns": [],
    "problem": [
      "problem",
      "uid",
      "prompt_id",
      "index",
      "prompt",
      "input",
      "question",
      "messages",
      "doc.query"
    ],
    "reward": [
      "correct",
      "acc",
      "reward",
      "score"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "pass rates",
    "source": "a column of that name, as in many data sets",
    "columns": [],
    "problem": [
      "problem",
      "uid",
      "prompt_id",
      "index",
      "prompt",
      "input",
      "question",
      "messages",
      "doc.query"
    ],
    "reward": [
      "pass_rate",
      "solve_rate",
      "success_rate",
      "pass@1"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "rate",
    "n": 0,
    "logged_twice": false
  }
];
