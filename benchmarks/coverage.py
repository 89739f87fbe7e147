"""How often the intervals of `lab.stats` cover the truth: `python benchmarks/coverage.py`.

Each row is a world whose truth is known; 2,000 experiments are drawn from it and the share counted
whose 95% interval holds the truth. Beside it stands the percentile bootstrap over the same axes,
which is what the lab did before and what many papers do. With `--write` the table of
docs/statistics.md is written anew. `--bands` does the same for bands that hold at all k, `--gains`
for those of the parts of a gain, which hold at all m.
"""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from lab.mathematics.counts import divided_gain, gain_bands, pass_bands  # noqa: E402
from lab.mathematics.metrics import exact_pass_at_k, k_values, pass_at_k  # noqa: E402
from lab.mathematics.stats import Over, mean_interval, mean_interval_each  # noqa: E402

PAGE = ROOT / "docs" / "statistics.md"
START, END = "<!-- coverage -->", "<!-- end of coverage -->"
BAND_MARKS = "<!-- bands -->", "<!-- end of bands -->"
GAIN_MARKS = "<!-- gains -->", "<!-- end of gains -->"
EXPERIMENTS, DRAWS, ROLLOUTS = 2000, 300, 64
GAIN_EXPERIMENTS = 300
Draw = Callable[[np.random.Generator, int, int], np.ndarray]  # (rng, seeds, problems) -> values


def chance(logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logit))


def of_pass_rates(k: int, of_seeds: float, shared: float = 0.0) -> Draw:
    """Pass@k of trained models, from 64 rollouts a problem.

    The log-odds of problems spread by 2 and each run moves each of them by 0.5 and all together by
    `of_seeds`. With `shared`, the difference from a second model of the same seeds, better by that.
    """

    def draw(rng: np.random.Generator, seeds: int, problems: int) -> np.ndarray:
        hardness = rng.normal(-1, 2, (1, problems))

        def run(better: float) -> np.ndarray:
            shift = rng.normal(0, of_seeds, (seeds, 1)) + rng.normal(0, 0.5, (seeds, problems))
            right = rng.binomial(ROLLOUTS, chance(hardness + shift + better))
            return pass_at_k(ROLLOUTS, right, k)

        return run(shared) - run(0.0) if shared else run(0.0)

    return draw


def normal(rng: np.random.Generator, seeds: int, problems: int) -> np.ndarray:
    return rng.normal(size=(seeds, problems))


def skewed(rng: np.random.Generator, seeds: int, problems: int) -> np.ndarray:
    return rng.lognormal(0, 0.5, (seeds, problems))


# name, how it is drawn, over, seeds, problems
WORLDS: list[tuple[str, Draw, Over, int, int]] = [
    *(("normal", normal, "seeds", seeds, 1) for seeds in (2, 3, 5, 10)),
    *(("log-normal, sigma 0.5", skewed, "seeds", seeds, 1) for seeds in (2, 3, 5, 10)),
    # The truth is that of the one run, so no other run's shift belongs in it.
    *(("pass@1 of one run", of_pass_rates(1, 0.0), "problems", 1, n) for n in (30, 128)),
    *(("pass@64 of one run", of_pass_rates(64, 0.0), "problems", 1, n) for n in (30, 128)),
    *(
        (f"pass@1, runs differ by {size}", of_pass_rates(1, size), "both", seeds, 128)
        for size in (0.0, 0.3, 1.0)
        for seeds in (2, 3, 5)
    ),
    *(("pass@64, runs differ by 0.3", of_pass_rates(64, 0.3), "both", n, 128) for n in (2, 3, 5)),
    *(
        (f"paired pass@1, runs differ by {size}", of_pass_rates(1, size, 0.5), "both", seeds, 128)
        for size in (0.0, 0.3, 1.0)
        for seeds in (2, 3, 5, 10)
    ),
]


def percentile(values: np.ndarray, over: Over, rng: np.random.Generator) -> tuple[float, float]:
    """The percentile bootstrap: over both axes, seeds and problems are drawn again and crossed."""
    seeds, problems = values.shape
    rows = (
        rng.integers(0, seeds, (DRAWS, seeds)) if over != "problems" else np.zeros((DRAWS, 1), int)
    )
    if over == "seeds":
        means = values.mean(axis=1)[rows].mean(axis=1)
    else:
        counts = rng.multinomial(problems, np.full(problems, 1 / problems), DRAWS) / problems
        means = np.einsum("ds,ds->d", (counts @ values.T), np.ones((DRAWS, seeds))) / seeds
        if over == "both":
            drawn = np.stack([np.bincount(row, minlength=seeds) for row in rows]) / seeds
            means = np.einsum("ds,ds->d", counts @ values.T, drawn)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def covered(draw: Draw, over: Over, seeds: int, problems: int) -> tuple[float, float, float]:
    """The coverage of ours and of the bootstrap, and how many times wider ours is (median)."""
    rng = np.random.default_rng([seeds, problems])
    truth = np.mean([draw(rng, 200 if over != "problems" else 1, 500).mean() for _ in range(400)])
    hits, widths = np.zeros((EXPERIMENTS, 2)), np.zeros((EXPERIMENTS, 2))
    for i in range(EXPERIMENTS):
        values = draw(rng, seeds, problems)
        of_axis = {"seeds": values.mean(axis=1), "problems": values[0], "both": values}[over]
        found = mean_interval(of_axis, over)
        for j, (low, high) in enumerate(((found.low, found.high), percentile(values, over, rng))):
            hits[i, j], widths[i, j] = low <= truth <= high, high - low
    return (*hits.mean(axis=0), float(np.median(widths[:, 0] / np.maximum(widths[:, 1], 1e-12))))


def table() -> str:
    lines = ["| what | over | seeds | problems | ours | bootstrap | width, ours / bootstrap |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name, draw, over, seeds, problems in WORLDS:
        ours, theirs, wider = covered(draw, over, seeds, problems)
        of_problems = problems if over != "seeds" else ""
        of_seeds = seeds if over != "problems" else ""
        lines.append(
            f"| {name} | {over} | {of_seeds} | {of_problems} | {ours:.1%} | {theirs:.1%}"
            f" | {wider:.2f} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


# name, problems, rollouts of each, how the base's pass rates are drawn, how log-odds change
Law = Callable[[np.random.Generator, int], np.ndarray]
Change = Callable[[np.random.Generator, np.ndarray], np.ndarray]
BANDS: list[tuple[str, int, int, Law, Change]] = [
    (name, problems, n, law, change)
    for name, law in (
        ("Beta(0.3, 3), many hard", lambda rng, size: rng.beta(0.3, 3, size)),
        ("Beta(0.4, 0.6), both ends", lambda rng, size: rng.beta(0.4, 0.6, size)),
        (
            "half p = 0, half Beta(1, 2)",
            lambda rng, size: rng.beta(1, 2, size) * (rng.random(size) < 0.5),
        ),
        ("Beta(4, 0.4), nearly all solved", lambda rng, size: rng.beta(4, 0.4, size)),
    )
    for problems, n in ((30, 64), (200, 8), (200, 64))
    for change in (
        lambda rng, odds: odds + rng.normal(0, 1, odds.size),
        lambda rng, odds: 1.5 * odds + 0.6,
    )
]


def world(
    rng: np.random.Generator, size: int, law: Law, change: Change
) -> tuple[np.ndarray, np.ndarray]:
    """The pass rates of some problems before and after a training; p = 0 stays."""
    p = law(rng, size)
    odds = np.log(np.clip(p, 1e-300, None)) - np.log1p(-np.clip(p, None, 1 - 1e-12))
    return p, np.where(p > 0, chance(change(rng, odds)), 0)


def gain_coverage(problems: int, n: int, law: Law, change: Change) -> tuple[float, float, float]:
    """The shares of experiments in which bands hold at every m at once: of what is gained on what m
    rollouts of the base solve, and on the rest; and plain t intervals of the rest.
    """
    ms = list(dict.fromkeys((*(k for k in k_values(n) if k < n), n - 1)))
    rng = np.random.default_rng([problems, n, 1])
    truths = []
    for _ in range(5):
        p, q = world(rng, 100_000, law, change)
        missed = (1 - p)[:, None] ** np.array(ms)
        gain = (q - p)[:, None]
        truths.append([((1 - missed) * gain).mean(axis=0), (missed * gain).mean(axis=0)])
    truth = np.mean(truths, axis=0)
    hits = np.zeros((GAIN_EXPERIMENTS, 3))
    for i in range(GAIN_EXPERIMENTS):
        first, second = (rng.binomial(n, x) for x in world(rng, problems, law, change))
        bands = gain_bands(n, first, n, second, ms)[:2]
        beyond = [divided_gain(n, first, n, second, m).beyond for m in ms]
        plain = mean_interval_each(np.stack(beyond, axis=1))
        for j, (each, of) in enumerate(zip((*bands, plain), (*truth, truth[1]), strict=True)):
            hits[i, j] = all(x.low <= t <= x.high for x, t in zip(each, of, strict=True))
    return tuple(hits.mean(axis=0))


def gains_table() -> str:
    lines = [
        "| pass rates of the base | training | problems | n | on what m solve | on the rest"
        " | the rest, t at each m |",
        "|---|---|---|---|---|---|---|",
    ]
    for i, (name, problems, n, law, change) in enumerate(BANDS):
        shares = " | ".join(f"{x:.1%}" for x in gain_coverage(problems, n, law, change))
        what = "sharpens" if i % 2 else "moves each at random"
        lines.append(f"| {name} | {what} | {problems} | {n} | {shares} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def band_coverage(problems: int, n: int, law: Law, change: Change) -> tuple[float, float, float]:
    """The shares of experiments in which bands, and plain t intervals, hold at every k at once, and
    the median half width of the bands at the largest k.
    """
    ks, rng = k_values(n), np.random.default_rng([problems, n])
    truth = np.mean(
        [
            np.subtract(*(exact_pass_at_k(x, ks) for x in world(rng, 100_000, law, change)[::-1]))
            for _ in range(5)
        ],
        axis=(0, 1),
    )
    hits, widths = np.zeros((EXPERIMENTS, 2)), np.zeros(EXPERIMENTS)
    for i in range(EXPERIMENTS):
        first, second = (rng.binomial(n, x) for x in world(rng, problems, law, change))
        bands = pass_bands(n, first, n, second, ks)
        plain = mean_interval_each(pass_at_k(n, second, ks) - pass_at_k(n, first, ks))
        for j, each in enumerate((bands, plain)):
            hits[i, j] = all(x.low <= t <= x.high for x, t in zip(each, truth, strict=True))
        widths[i] = (bands[-1].high - bands[-1].low) / 2
    return (*hits.mean(axis=0), float(np.median(widths)))


def bands_table() -> str:
    lines = [
        "| pass rates of the base | training | problems | n | bands | t at each k | +- at k = n |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for i, (name, problems, n, law, change) in enumerate(BANDS):
        ours, plain, width = band_coverage(problems, n, law, change)
        what = "sharpens" if i % 2 else "moves each at random"
        lines.append(
            f"| {name} | {what} | {problems} | {n} | {ours:.1%} | {plain:.1%} | {width:.3f} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    parser.add_argument("--bands", action="store_true", help="bands that hold at all k together")
    parser.add_argument("--gains", action="store_true", help="bands that hold at all m together")
    arguments = parser.parse_args()
    (start, end), computed = (START, END), table
    if arguments.bands:
        (start, end), computed = BAND_MARKS, bands_table
    elif arguments.gains:
        (start, end), computed = GAIN_MARKS, gains_table
    found = computed()
    if arguments.write:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(
            re.sub(f"{start}.*{end}", f"{start}\n{found}\n{end}", text, flags=re.DOTALL)
        )


if __name__ == "__main__":
    main()
