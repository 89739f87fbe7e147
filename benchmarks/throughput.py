"""Images a second of the image world's training step, as a share of the device's peak.

    python benchmarks/throughput.py [--scale h200] [--limit TFLOPS] [key=value ...]

Times whole steps (pictures, forward, sampled labels, backward, update) of `lab train images` after
a warm-up, and counts the network's floating-point operations with torch's own counter. `--limit` is
the device's peak in TFLOP/s at the precision used: 989 for one H200 in bfloat16 without sparsity
(its data sheet).
"""

import argparse
import time

import torch
from torch.utils.flop_counter import FlopCounterMode

from lab.configurations.toy_worlds import ImagesConfig
from lab.runs import experiment
from lab.runs.experiments import read_assignments
from lab.toy.images import Images


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", default="laptop")
    parser.add_argument("--limit", type=float, help="the device's peak, TFLOP/s")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("values", nargs="*", metavar="key=value")
    args = parser.parse_args()
    config = experiment("images").configure(args.scale, read_assignments(args.values))
    assert isinstance(config, ImagesConfig)
    world = Images(config)
    optimizer = torch.optim.SGD(world.model.parameters(), lr=config.learning_rate, momentum=0.9)

    def step(number: int) -> None:
        optimizer.zero_grad(set_to_none=True)
        world.loss(number).backward()
        optimizer.step()

    with FlopCounterMode(display=False) as counter:  # of the network as written, not as compiled
        images, _ = world.pictures.train_batch(0, config.batch)
        world.model(images).sum().backward()
    work = counter.get_total_flops()
    for number in range(3):
        step(number)
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    wait()
    began = time.perf_counter()
    for number in range(args.steps):
        step(3 + number)
    wait()
    seconds = (time.perf_counter() - began) / args.steps
    rate = work / seconds / 1e12
    device = (
        torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else f"CPU, {torch.get_num_threads()} threads"
    )
    print(f"{device}, torch {torch.__version__}; {args.steps} steps")
    print(
        "{net} at {size} pixels, batch {batch}, {precision}, {estimator} {gradient}"
        " N = {rollouts}".format(**config.settings())
    )
    print(
        f"{1000 * seconds:.1f} ms a step, {config.batch / seconds:.0f} images a second,"
        f" {work / 1e9:.1f} GFLOP, {rate:.3f} TFLOP/s"
        + (f", {100 * rate / args.limit:.1f}% of {args.limit:g}" if args.limit else "")
    )


if __name__ == "__main__":
    main()
