"""Starts from hardly trained to good: the exact pass rates after so many supervised steps.

    python benchmarks/maze_ladder.py [--size 7] [--steps 10 15 20 50 150] [--seed 0] [--loops 0]

The policy is the laptop's transformer. The supervised training of a run with `start_steps` of that
number ends with the same weights. Every mean is over `--mazes` mazes that may be trained on.
"""

import argparse

import numpy as np

from lab.configurations.toy_worlds import MazeConfig
from lab.runs import experiment
from lab.toy.maze import train_start
from lab.toy.maze_policy import load_policy

LENGTHS = {7: 18, 9: 32}  # of a rollout, by size
MAZES = {7: 192, 9: 128}
STEPS = {7: [10, 15, 20, 50, 150], 9: [30, 40, 50, 100, 250]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=7, choices=LENGTHS)
    parser.add_argument("--steps", type=int, nargs="+")
    parser.add_argument("--mazes", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--loops", type=float, default=0.0)
    args = parser.parse_args()
    rungs = sorted(args.steps or STEPS[args.size])
    config = experiment("maze").configure(
        "laptop",
        {
            "size": args.size,
            "length": LENGTHS[args.size],
            "mazes": args.mazes or MAZES[args.size],
            "measure": "fit",
            "loops": args.loops,
            "start_steps": rungs[-1] + 1,  # one more, whose evaluation is not needed
            "start_log_every": 10**6,
            "pass_rates": "exact",
            "seed": args.seed,
        },
    )
    assert isinstance(config, MazeConfig)
    print(
        f"{args.size}x{args.size}, seed {args.seed}, loops {args.loops}: {config.mazes} mazes\n\n"
        "| supervised steps | mean p | median p | least p | pass@128 | unknown | prefixes |\n"
        "|---|---|---|---|---|---|---|"
    )
    for output in train_start(config):
        if output.step in rungs:
            metrics, groups = load_policy(output.state(), config).evaluate()
            p = groups["pass_rate"]
            print(
                f"| {output.step} | {p.mean():.2g} | {np.median(p):.2g} | {p.min():.2g}"
                f" | {metrics['pass@128']:.2g} | {metrics['unknown pass@k']:.2g}"
                f" | {groups['prefixes'].mean():.0f} |",
                flush=True,
            )
        if output.step == rungs[-1]:
            return


if __name__ == "__main__":
    main()
