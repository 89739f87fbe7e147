"""Mazes, rollouts and training steps a second: ours beside the usual ways, the same work.

    python benchmarks/maze.py [--threads 2] [--official FOLDER] [--size 17] [--mazes 8]
                              [--rollouts 32] [--steps 60]

The policy is the published transformer after `--steps` of supervised training (seed 0), so that
rollouts have the lengths and the entropy of a young policy; all ways sample from the same weights.
`--official` names a folder with the generator of MaxRL's code, generate_maze.py; without it the
same algorithm as the tests have it (made and solved). Needs transformers (`make setup-llm`).
"""

import argparse
import importlib.util
import sys
import time
import unittest.mock
from dataclasses import asdict
from pathlib import Path

import torch

from lab.configurations.toy_worlds import MazeConfig
from lab.losses import policy_gradient
from lab.mathematics.estimators import advantages
from lab.toy import maze_env
from lab.toy.maze import MazeRL, train_start
from lab.toy.maze_env import DONE, EOS, PAD, MazeStream, walk
from lab.toy.maze_policy import MazePolicy, load_policy
from lab.toy.transformer import ROPE_THETA
from lab.toy.tree_sampling import rollout_logits, sample_rows, sample_tree

LENGTH = 64
CPU = torch.device("cpu")


def seconds(work, repeats: int) -> float:
    """The best of `repeats` calls after one to warm up; that one alone where it takes over five
    seconds.
    """
    began = time.perf_counter()
    work()
    if (first := time.perf_counter() - began) > 5:
        return first
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--official", type=Path)
    for name, value in {"size": 17, "mazes": 8, "rollouts": 32, "steps": 60}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    print(
        f"torch {torch.__version__}, {args.threads} threads; {args.size}x{args.size}, "
        f"{args.mazes} mazes x {args.rollouts} rollouts of at most {LENGTH} tokens"
    )
    peak = measured_peak()
    print(
        f"measured peak: {peak / 1e9:.0f} GFLOP/s (float32 product of 4,096 x 256 and 256 x"
        " 1,024)\n"
    )
    maze_speed(args)
    policy = young_player(args)
    step_speed(args, policy, peak)


def measured_peak() -> float:
    a, b = torch.randn(4096, 256), torch.randn(256, 1024)
    return 2 * 4096 * 256 * 1024 / seconds(lambda: a @ b, 20)


def maze_speed(args) -> None:
    """Mazes made, solved and written as tokens."""
    folder = args.official or Path(__file__).parents[1] / "tests"
    name = "generate_maze" if args.official else "slow_maze"
    specification = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    slow = sys.modules[name] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(slow)
    if args.official:
        generator = slow.MazeGenerator(args.size, seed=0)

        def one() -> None:
            generator.generate()
            generator.to_text_sequence()

    else:
        import random

        source = random.Random(0)

        def one() -> None:
            slow.shortest_paths(slow.prim(args.size, source))

    def ours() -> None:
        mazes = maze_env.draw(args.size, 1024, 0, "benchmark", 0, CPU)
        mazes.prompts(), mazes.answers()

    theirs, batch = 300 / seconds(lambda: [one() for _ in range(300)], 3), 1024 / seconds(ours, 10)
    print(
        f"mazes a second, made, solved and written: {name}.py {theirs:,.0f}, ours {batch:,.0f}, "
        f"{batch / theirs:.0f}x\n"
    )


def young_player(args) -> MazePolicy:
    config = MazeConfig(
        name="maze",
        scale="benchmark",
        size=args.size,
        width=256,
        layers=4,
        positions=512,
        precision="float32",
        length=LENGTH,
        mazes=1,
        samples=1,
        seed=0,
        start_batch=8,
        start_steps=args.steps,
        start_learning_rate=5e-4,
        start_log_every=args.steps,
        estimator="maxrl",
        rollouts=args.rollouts,
        entropy_bonus=0.0,
        smoothing=0.0,
        greedy_filter=False,
        batch=args.mazes,
        steps=1,
        learning_rate=1e-4,
        log_every=1,
    )
    for record in train_start(config):
        state = record.state
    return load_policy(state(), config)


def step_speed(args, policy: MazePolicy, peak: float) -> None:
    """One step of MaxRL, four ways: rollouts alone, then with verifying, gradient and update."""
    model, N = policy.model, args.rollouts
    stream = MazeStream(args.size, args.mazes, 0, "mazes", CPU)
    world = MazeRL(policy, stream, policy.config)
    mazes = world.stream.at(0)
    uniforms = policy.uniforms("rollouts", 0, args.mazes, N)

    def shared(sample):
        def rollouts():
            with torch.no_grad():
                return sample(model, policy.read(mazes), N, LENGTH, [DONE, EOS], uniforms)

        def step():
            with unittest.mock.patch("lab.toy.maze_policy.sample_tree", sample):
                for part in world.losses(0):
                    part.backward()
            world.kept.clear()

        return rollouts, step

    def alone():
        """Our model used as others do: one prompt a rollout, whole sequences in the update."""
        one_by_one, apart = (
            mazes[torch.arange(args.mazes).repeat_interleave(N)],
            uniforms.view(-1, 1, LENGTH),
        )

        def rollouts():
            with torch.no_grad():
                return sample_rows(model, policy.read(one_by_one), 1, LENGTH, [DONE, EOS], apart)

        def step():
            played = rollouts()
            right = walk(one_by_one, played.tokens).right.view(args.mazes, N)
            update(
                lambda ids: model.logits(model.prefill(ids)[0]),
                one_by_one.prompts(),
                played.tokens[:, 0],
                right,
            )

        return rollouts, step

    def hugging_face():
        from transformers import GenerationConfig, Qwen2Config, Qwen2ForCausalLM

        rotary = {"rope_type": "default", "rope_theta": ROPE_THETA}
        shape = asdict(model.config) | {"tie_word_embeddings": True, "rope_parameters": rotary}
        theirs = Qwen2ForCausalLM(Qwen2Config(**shape)).train(False)
        theirs.load_state_dict(model.state_dict(), strict=False)
        config = GenerationConfig(
            do_sample=True,
            top_k=0,
            max_new_tokens=LENGTH,
            num_return_sequences=N,
            eos_token_id=[DONE, EOS],
            pad_token_id=PAD,
        )
        prompts = mazes.prompts().long()

        def rollouts():
            with torch.no_grad():
                return theirs.generate(
                    prompts, attention_mask=torch.ones_like(prompts), generation_config=config
                )

        def step():
            tokens = rollouts()[:, prompts.shape[1] :]
            right = walk(mazes, tokens.view(args.mazes, N, -1)).right
            update(lambda ids: theirs(ids).logits, prompts.repeat_interleave(N, 0), tokens, right)

        return rollouts, step

    def update(logits, prompts, tokens, right) -> None:
        """Whole sequences, prompt included, 32 rollouts at a time."""
        A, mask = advantages("maxrl", right.float()).flatten(), tokens != PAD
        for part in torch.arange(len(tokens)).split(32):
            ids = torch.cat((prompts[part], tokens[part]), 1).long()
            logp = (
                logits(ids)[:, prompts.shape[1] - 1 : -1]
                .log_softmax(-1)
                .gather(2, ids[:, prompts.shape[1] :, None])
            )
            (
                policy_gradient((logp[..., 0] * mask[part]).sum(1), A[part])
                * len(part)
                / mask.sum()
            ).backward()

    ways = {
        "Hugging Face generate, whole sequences": hugging_face(),
        "our model, a prompt a rollout": alone(),
        "shared prompts": shared(sample_rows),
        "shared prompts and prefixes": shared(sample_tree),
    }
    played = ways["shared prompts and prefixes"][0]()
    with torch.no_grad():
        rows = len(rollout_logits(model, policy.read(mazes), played))
    tokens, prompt = int(played.mask.sum()), maze_env.prompt_length(args.size) * args.mazes
    weights = sum(weight.numel() for weight in model.parameters() if weight.ndim == 2)
    floor = 2 * weights * (4 * rows + 3 * prompt) / peak
    print(
        f"{tokens:,} tokens said in {rows:,} forward rows; floor of a step that shares prompts and"
        f" prefixes: {floor:.2f} s at the measured peak (a prompt: forward, backward; a row:"
        " sampled, forward, backward)\n"
    )
    print(
        "| way | rollouts, s | rollouts/s | step, s | steps/s | step over floor"
        " |\n|---|---|---|---|---|---|"
    )
    total = args.mazes * N
    results = {
        name: (seconds(rollouts, 2), seconds(step, 2)) for name, (rollouts, step) in ways.items()
    }
    for name, (rollouts, step) in results.items():
        rates = (
            f"{rollouts:.2f} | {total / rollouts:.0f} | {step:.2f} | {1 / step:.3f} |"
            f" {step / floor:.1f}"
        )
        print(f"| {name} | {rates} |")
    first, last = (
        results["Hugging Face generate, whole sequences"],
        results["shared prompts and prefixes"],
    )
    print(
        f"\nrollouts {first[0] / last[0]:.1f}x, a step {first[1] / last[1]:.1f}x the Hugging"
        " Face way"
    )


if __name__ == "__main__":
    main()
