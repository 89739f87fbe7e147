r"""What our layer adds to a step of TRL, and how fast one GPU samples and trains.

    python benchmarks/trl_step.py [--model data/models/tiny] [--prompts 8] [--rollouts 16]
                                  [--limit 48] [--steps 8] [--at-once 64] [--vllm SHARE]
                                  [--peak TFLOPS]

Nothing is downloaded: weights are random.

`--model` is a folder, or a name of lab.llm.engines.model_costs such as Qwen/Qwen3-1.7B-Base,
whose architecture gets random weights. Two trainers make the same steps in turn: TRL's GRPOTrainer
and our ObjectiveTrainer upon it, with the same rollouts of exactly `--limit` tokens. `ours` is the
time inside what we override, less TRL's inside it. Generation runs on TRL's vLLM with `--vllm 0.3`
(30% of the GPU's memory), otherwise on our loop over transformers. For one H200:

    python benchmarks/trl_step.py --model Qwen/Qwen3-1.7B-Base --prompts 16 --limit 1024 \
                                  --at-once 16 --vllm 0.3 --peak 989
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import torch

from lab.llm.engines import imports
from lab.llm.engines.base import load_tokenizer
from lab.llm.engines.model_costs import KNOWN, architecture, parameter_count
from lab.project import CHECKOUT

TINY = str(CHECKOUT / "data" / "models" / "tiny")


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
    args = parser.parse_args()
    imports.trl()
    with tempfile.TemporaryDirectory() as scratch:
        model = args.model if args.model not in KNOWN else made(args.model, Path(scratch))
        measured = {name: run(args, model, name, scratch) for name in ("TRL", "lab")}
    tokens = args.prompts * args.rollouts * args.limit
    print(
        f"{args.model}: {args.prompts} x {args.rollouts} rollouts of {args.limit} tokens,"
        f" {args.at_once} at once; torch {torch.__version__}; median of {args.steps} steps\n\n|"
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
    if args.peak:
        flops = 6 * parameter_count(architecture(args.model)) * tokens / (step - draw)
        print(
            f"model FLOP utilisation of training: {flops / args.peak / 1e12:.1%} of"
            f" {args.peak:.0f} TFLOP/s"
        )


def made(name: str, scratch: Path) -> str:
    """A folder with this architecture, random weights and a tokenizer of bytes."""
    torch.manual_seed(0)
    model = imports.transformers().AutoModelForCausalLM.from_config(
        architecture(name), dtype=torch.bfloat16
    )
    model.save_pretrained(scratch / "model")
    load_tokenizer(TINY).save_pretrained(scratch / "model")
    return str(scratch / "model")


def run(args: argparse.Namespace, model: str, kind: str, scratch: str) -> tuple[list, list, list]:
    """Seconds of each step, of its generation, and of what we add to it."""
    from datasets import Dataset

    from lab.llm.engines.base import Sampling
    from lab.llm.engines.transformers_engine import TransformersEngine
    from lab.llm.train.trl_trainer import ObjectiveTrainer

    codes, gpu, draws, added, steps = load_tokenizer(TINY), torch.cuda.is_available(), [], [], []
    rows = Dataset.from_dict(
        {
            "problem": range(args.prompts),
            "prompt": [f"{n}+{n}=?\n" for n in range(args.prompts)],
        }
    )

    def roll_out(prompts, trainer):
        began, N = time.perf_counter(), args.rollouts
        ids = codes(prompts[::N], add_special_tokens=False)["input_ids"]
        if args.vllm:
            sampled = trainer._generate_single_turn(
                [prompt_ids for prompt_ids in ids for _ in range(N)], None, {}, N
            )
        else:
            engine = TransformersEngine(trainer.accelerator.unwrap_model(trainer.model), codes, "")
            drawn = engine.sample(
                prompts[::N], Sampling(N, 1.0, 1.0, args.limit, trainer.state.global_step)
            )
            sampled = (
                [list(answer.ids) for group in drawn for answer in group],
                [list(answer.logp) for group in drawn for answer in group],
            )
        tokens = [
            (ids + [65] * args.limit)[: args.limit] for ids in sampled[0]
        ]  # the same work for every step
        logp = [(list(values) + [0.0] * args.limit)[: args.limit] for values in sampled[1]]
        finish()
        draws.append(time.perf_counter() - began)
        return {
            "prompt_ids": [prompt_ids for prompt_ids in ids for _ in range(N)],
            "completion_ids": [ids[:-1] + [codes.eos_token_id] for ids in tokens],
            "logprobs": logp,
        }

    def reward(completions, **_):
        return [float(number % 3 == 0) for number in range(len(completions))]

    def finish():
        if gpu:
            torch.cuda.synchronize()

    class Timed(ObjectiveTrainer if kind == "lab" else imports.trl().GRPOTrainer):
        def training_step(self, *args, **kwargs):
            finish()
            began, before = time.perf_counter(), spent[0]
            loss = super().training_step(*args, **kwargs)
            finish()
            if (
                self._step % self.args.gradient_accumulation_steps == 1
                or self.args.gradient_accumulation_steps == 1
            ):
                steps.append(0.0)
                added.append(0.0)
            steps[-1] += time.perf_counter() - began
            added[-1] += spent[0] - before
            return loss

    spent = [0.0]
    if kind == "lab":
        for name in ("_groups", "_log_mismatch"):
            setattr(Timed, name, clocked(getattr(ObjectiveTrainer, name), spent, finish))
    accumulate = args.prompts * args.rollouts // args.at_once
    vllm = {
        "use_vllm": True,
        "vllm_mode": "colocate",
        "vllm_gpu_memory_utilization": args.vllm,
        "vllm_max_model_length": args.limit + 64,
        "vllm_importance_sampling_correction": False,
    }
    config = imports.trl().GRPOConfig(
        output_dir=scratch,
        use_cpu=not gpu,
        bf16=gpu,
        per_device_train_batch_size=args.at_once,
        report_to=[],
        gradient_accumulation_steps=accumulate,
        num_generations=args.rollouts,
        max_steps=args.steps + 2,
        max_completion_length=args.limit,
        learning_rate=1e-6,
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1000,
        gradient_checkpointing=gpu,
        dataloader_pin_memory=gpu,
        **(vllm if args.vllm else {}),
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

    def work(*args, **kwargs):
        finish()
        began = time.perf_counter()
        result = method(*args, **kwargs)
        finish()
        spent[0] += time.perf_counter() - began
        return result

    return work


if __name__ == "__main__":
    main()
