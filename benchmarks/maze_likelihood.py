"""Exact pass rates of mazes beside rollouts: seconds and uncertainty on the same policy.

    python benchmarks/maze_likelihood.py [--threads 1] [--size 9] [--mazes 128] [--steps 250]

The policy is the laptop's transformer after `--steps` of supervised training (seed 0). First an
evaluation of `--mazes` mazes, exact and from 128 and 2,048 rollouts of each; then one training step
of 32 mazes, backward pass included: exact maximum likelihood, expected and sampled MaxRL at N = 64.
"""

import argparse
import time
from dataclasses import replace

import torch

from lab.configurations.toy_worlds import MazeConfig
from lab.runs import experiment
from lab.toy.maze import MazeExactRL, MazeRL, train_start
from lab.toy.maze_policy import MazePolicy, load_policy, maze_stream

ROLLOUTS = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in {"threads": 1, "size": 9, "mazes": 128, "steps": 250}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    config = experiment("maze").configure(
        "laptop",
        {
            "size": args.size,
            "length": 18 if args.size == 7 else 32,
            "mazes": args.mazes,
            "measure": "fit",
            "start_steps": args.steps,
            "samples": 1,
        },
    )
    assert isinstance(config, MazeConfig)
    print(
        f"torch {torch.__version__}, {args.threads} threads; {args.mazes} mazes of"
        f" {args.size}x{args.size}, after {args.steps} steps of supervised training\n"
    )
    for record in train_start(config):
        state = record.state
    weights = state()
    print("| evaluation | seconds | pass@1 | prefixes a maze |\n|---|---|---|---|")
    for tolerance in (0.1, 0.01, 0.001):
        evaluate(load_policy(weights, replace(config, pass_rates="exact", tolerance=tolerance)))
    for samples in (128, 2048):
        evaluate(load_policy(weights, replace(config, samples=samples)))
    print("\n| training step of 32 mazes | seconds |\n|---|---|")
    policy = load_policy(weights, config)
    stream = maze_stream(config, 32, "mazes", policy.device)
    ml = replace(config, estimator="ml", gradient="exact")
    expected = replace(config, gradient="expected")
    worlds = {
        "exact maximum likelihood": MazeExactRL(policy, stream, ml),
        "expected MaxRL, N = 64": MazeExactRL(policy, stream, expected),
        "sampled MaxRL, N = 64": MazeRL(policy, stream, config),
    }
    for name, world in worlds.items():
        print(f"| {name} | {step_seconds(world):.3f} |")


def evaluate(policy: MazePolicy) -> None:
    """One row: an evaluation after one to warm up."""
    policy.evaluate()
    began = time.perf_counter()
    metrics, groups = policy.evaluate()
    seconds = time.perf_counter() - began
    if policy.config.pass_rates == "exact":
        name = f"exact, tolerance {policy.config.tolerance:g}"
        rate = f"{metrics['pass@1']:.4f} (+{metrics['unknown pass@k']:.4f} at most)"
        prefixes = f"{groups['prefixes'].mean():.0f}"
    else:
        p = groups["right"] / groups["n"]
        error = (p * (1 - p) / groups["n"]).sum() ** 0.5 / len(p)
        name = f"{policy.config.samples} rollouts"
        rate, prefixes = f"{metrics['pass@1']:.4f} +- {error:.4f}", ""
    print(f"| {name} | {seconds:.2f} | {rate} | {prefixes} |", flush=True)


def step_seconds(world: MazeRL | MazeExactRL) -> float:
    """The mean over eight steps, after one to warm up; no weight changes."""
    for step in range(9):
        if step == 1:
            began = time.perf_counter()
        for part in world.losses(step):
            part.backward()
        world.model.zero_grad(set_to_none=True)
    return (time.perf_counter() - began) / 8


if __name__ == "__main__":
    main()
