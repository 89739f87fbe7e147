r"""What our layer adds to a step of TRL, and how fast one GPU samples and trains: random weights,
no download.

    python benchmarks/trl_step.py [--model data/models/tiny] [--prompts 8] [--rollouts 16] [--limit 48] [--steps 8]
                             [--at-once 64] [--vllm SHARE] [--peak TFLOPS]

`--model` is a folder, or a name of lab.llm.engines.architectures such as Qwen/Qwen3-1.7B-Base,
whose architecture gets random weights. Two trainers make the same steps in turn: TRL's GRPOTrainer
and our ObjectiveTrainer upon it, with the same rollouts of exactly `--limit` tokens. `ours` is the
time inside what we override, less TRL's inside it. Generation runs on TRL's vLLM with `--vllm 0.3`
(30% of the GPU's memory), otherwise on our loop over transformers. For one H200:

    python benchmarks/trl_step.py --model Qwen/Qwen3-1.7B-Base --prompts 16 --limit 1024 --at-once 16 --vllm 0.3 \
                                  --peak 989
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import torch

from lab.llm.engines import imports
from lab.llm.engines.architectures import KNOWN, architecture, parameter_count
from lab.llm.train.tiny_model import tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="data/models/tiny")
    for name, value in {
        "prompts": 8,
        "rollouts": 16,
        "limit": 48,
        "steps": 8,
        "at-once": 64,
    }.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--vllm", type=float, default=0.0)
    parser.add_argument("--peak", type=float, default=0.0)
    asked = parser.parse_args()
    imports.trl()
    with tempfile.TemporaryDirectory() as scratch:
        model = asked.model if asked.model not in KNOWN else made(asked.model, Path(scratch))
        measured = {name: run(asked, model, name, scratch) for name in ("TRL", "lab")}
    tokens = asked.prompts * asked.rollouts * asked.limit
    print(
        f"{asked.model}: {asked.prompts} x {asked.rollouts} rollouts of {asked.limit} tokens,"
        f" {asked.at_once} at once; torch {torch.__version__}; median of {asked.steps} steps\n\n|"
        " trainer | step, s | generation, s | generated tokens/s | trained tokens/s | ours, ms"
        " |\n|---|---|---|---|---|---|"
    )
    for name, (steps, draws, added) in measured.items():
        step, draw, layer = (statistics.median(times) for times in (steps, draws, added))
        print(
            f"| {name} | {step:.3f} | {draw:.3f} | {tokens / draw:,.0f} |"
            f" {tokens / (step - draw):,.0f} | {1e3 * layer:.2f} |"
        )
    step, draw, layer = (statistics.median(times) for times in measured["lab"])
    print(f"\nour layer: {layer / step:.3%} of a step")
    if torch.cuda.is_available():
        print(f"most memory: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB by torch")
    if asked.peak:
        flops = 6 * parameter_count(architecture(asked.model)) * tokens / (step - draw)
        print(
            f"model FLOP utilisation of training: {flops / asked.peak / 1e12:.1%} of"
            f" {asked.peak:.0f} TFLOP/s"
        )


def made(name: str, scratch: Path) -> str:
    """A folder with this architecture, random weights and a tokenizer of bytes."""
    torch.manual_seed(0)
    model = imports.transformers().AutoModelForCausalLM.from_config(
        architecture(name), dtype=torch.bfloat16
    )
    model.save_pretrained(scratch / "model")
    tokenizer().save_pretrained(scratch / "model")
    return str(scratch / "model")


def run(asked: argparse.Namespace, model: str, kind: str, scratch: str) -> tuple[list, list, list]:
    """Seconds of each step, of its generation, and of what we add to it."""
    from datasets import Dataset

    from lab.llm.engines.base import Sampling, encode_prompts
    from lab.llm.engines.transformers_engine import TransformersEngine
    from lab.llm.train.trl_trainer import ObjectiveTrainer

    codes, gpu, draws, added, steps = tokenizer(), torch.cuda.is_available(), [], [], []
    rows = Dataset.from_dict(
        {
            "problem": range(asked.prompts),
            "prompt": [f"{at}+{at}=?\n" for at in range(asked.prompts)],
        }
    )

    def roll_out(prompts, trainer):
        began, N = time.perf_counter(), asked.rollouts
        ids = encode_prompts(codes, prompts[::N], asked.limit, 10**6, "")
        if asked.vllm:
            said = trainer._generate_single_turn(
                [one for one in ids for _ in range(N)], None, {}, N
            )
        else:
            engine = TransformersEngine.from_model(
                trainer.accelerator.unwrap_model(trainer.model), codes, ""
            )
            drawn = engine.sample(
                prompts[::N], Sampling(N, 1.0, 1.0, asked.limit, trainer.state.global_step)
            )
            said = (
                [list(one.ids) for group in drawn for one in group],
                [list(one.logp) for g in drawn for one in g],
            )
        tokens = [
            (one + [65] * asked.limit)[: asked.limit] for one in said[0]
        ]  # the same work for every step
        logp = [(list(one) + [0.0] * asked.limit)[: asked.limit] for one in said[1]]
        finish()
        draws.append(time.perf_counter() - began)
        return {
            "prompt_ids": [one for one in ids for _ in range(N)],
            "completion_ids": [one[:-1] + [codes.eos_token_id] for one in tokens],
            "logprobs": logp,
        }

    def reward(completions, **_):
        return [float(at % 3 == 0) for at in range(len(completions))]

    def finish():
        if gpu:
            torch.cuda.synchronize()

    class Timed(ObjectiveTrainer if kind == "lab" else imports.trl().GRPOTrainer):
        def training_step(self, *given, **named):
            finish()
            began, before = time.perf_counter(), spent[0]
            found = super().training_step(*given, **named)
            finish()
            if (
                self._step % self.args.gradient_accumulation_steps == 1
                or self.args.gradient_accumulation_steps == 1
            ):
                steps.append(0.0), added.append(0.0)
            steps[-1] += time.perf_counter() - began
            added[-1] += spent[0] - before
            return found

    spent = [0.0]
    if kind == "lab":
        for name in ("_group_rewards", "_log_batch", "_set_advantages", "_log_mismatch"):
            setattr(Timed, name, clocked(getattr(ObjectiveTrainer, name), spent, finish))
    accumulate = asked.prompts * asked.rollouts // asked.at_once
    vllm = {
        "use_vllm": True,
        "vllm_mode": "colocate",
        "vllm_gpu_memory_utilization": asked.vllm,
        "vllm_max_model_length": asked.limit + 64,
        "vllm_importance_sampling_correction": False,
    }
    config = imports.trl().GRPOConfig(
        output_dir=scratch,
        use_cpu=not gpu,
        bf16=gpu,
        per_device_train_batch_size=asked.at_once,
        report_to=[],
        gradient_accumulation_steps=accumulate,
        num_generations=asked.rollouts,
        max_steps=asked.steps + 2,
        max_completion_length=asked.limit,
        learning_rate=1e-6,
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1000,
        gradient_checkpointing=gpu,
        dataloader_pin_memory=gpu,
        **(vllm if asked.vllm else {}),
    )
    policy = imports.transformers().AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    trainer = Timed(
        *(["maxrl"] if kind == "lab" else []),
        model=policy,
        args=config,
        reward_funcs=[reward],
        train_dataset=rows,
        processing_class=codes,
        rollout_func=roll_out,
    )
    trainer.train()
    return steps[2:], draws[2:], added[2:]


def clocked(method, spent, finish):
    """The method, with its time added to `spent`."""

    def work(*given, **named):
        finish()
        began = time.perf_counter()
        found = method(*given, **named)
        finish()
        spent[0] += time.perf_counter() - began
        return found

    return work


if __name__ == "__main__":
    main()
