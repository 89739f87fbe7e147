"""Sampling N labels an image: naive draws, and counts.

The same work in one run: from log-probabilities of 128 images over 1,000 classes to the gradient
with respect to them. The step it belongs to is shown beside: forward and backward of the laptop's
network, or of ResNet-50 (--resnet50).

    python benchmarks/sampling.py [--resnet50]
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch

import lab
from lab.losses import policy_gradient
from lab.toy.gradient_source import GradientSource
from lab.toy.resnet import fresh_network

IMAGES, CLASSES, REPEATS = 128, 1000, 9


def milliseconds(work: Callable[[], object]) -> float:
    """The median time of `work`, after one call that is not counted."""
    work()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--resnet50", action="store_true", help="measure the step of ResNet-50 at 224 pixels"
    )
    resnet50 = parser.parse_args().resnet50
    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rng = torch.Generator(device).manual_seed(0)
    logits = torch.randn(IMAGES, CLASSES, device=device, requires_grad=True)
    right = torch.nn.functional.one_hot(torch.arange(IMAGES, device=device), CLASSES).bool()

    def naive(N: int) -> None:
        logp = logits.log_softmax(1)
        drawn = torch.multinomial(logp.detach().exp(), N, replacement=True, generator=rng)
        scores = lab.advantages("maxrl", right.gather(1, drawn), check=False)
        policy_gradient(logp.gather(1, drawn), scores).backward()

    def counts(N: int) -> None:
        GradientSource("maxrl", "sampled", N).loss(logits.log_softmax(1), right, seed=0).backward()

    size, net, batch = (224, "resnet50", 8) if resnet50 else (32, "small", IMAGES)
    model = fresh_network(0, net, 3, size, CLASSES, 16).to(device)
    pictures = torch.randn(batch, 3, size, size, device=device)
    step = milliseconds(lambda: model(pictures).sum().backward()) * IMAGES / batch
    cross_entropy = milliseconds(lambda: (-logits.log_softmax(1)[right]).mean().backward())
    print(f"torch {torch.__version__}, {device}, one thread; medians of {REPEATS}, ms")
    print(
        f"{IMAGES} images, {CLASSES} classes; step of {net} at {size} pixels: {step:.1f}; "
        f"cross-entropy from the logits, the floor: {cross_entropy:.2f}\n"
    )
    print(f"{'N':>6}{'naive':>9}{'counts':>9}{'ratio':>8}  share of the step")
    for N in (16, 128, 1024, 4096):
        naive_ms = milliseconds(lambda N=N: naive(N))
        counts_ms = milliseconds(lambda N=N: counts(N))
        share = 100 * (counts_ms - cross_entropy) / step
        print(f"{N:6}{naive_ms:9.2f}{counts_ms:9.2f}{naive_ms / counts_ms:7.1f}x{share:15.1f}%")


if __name__ == "__main__":
    main()
