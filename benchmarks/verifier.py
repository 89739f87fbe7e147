"""Answers a second: our verifier against math-verify called directly in one process.

    python benchmarks/verifier.py [--answers 2000]

The mixture: plain integers 60%, fractions and decimals 20%, expressions 20%; half of each right,
and no right answer but some integers spelt like its gold. Two sets, one after the other: the second
finds both sides warm.
"""

import argparse
import logging
import random
import time

from lab.judge.verifier import Verifier


def fraction(rng: random.Random) -> tuple[str, str, str]:
    a, b = rng.randint(1, 400), rng.choice([2, 4, 5, 8, 10, 16, 20, 25])
    spelt = rng.choice([rf"\dfrac{{{3 * a}}}{{{3 * b}}}", f"{a / b}", f"{a}/{b}"])
    return spelt, rf"\frac{{{a}}}{{{b}}}", rf"\frac{{{a + 1}}}{{{b}}}"


def expression(rng: random.Random) -> tuple[str, str, str]:
    a, b, c = rng.randint(2, 30), rng.randint(2, 30), rng.randint(2, 9)
    return rng.choice(
        [
            (f"(x+{a})(x+{b})", f"x^2+{a + b}x+{a * b}", f"x^2+{a + b}x+{a * b + 1}"),
            (rf"{c}\sqrt{{{a}}}", rf"\sqrt{{{a * c * c}}}", rf"\sqrt{{{a * c * c + 1}}}"),
            (rf"\frac{{{a}\pi}}{{{b}}}", rf"{2 * a}\pi/{2 * b}", rf"{2 * a + 1}\pi/{2 * b}"),
            (rf"({a}, \frac{{1}}{{{b}}})", f"({a},1/{b})", f"({a},1/{b + 1})"),
            (f"[{a}, {a + b})", rf"\left[{a},{a + b}\right)", rf"\left[{a},{a + b}\right]"),
            (f"x={a}y+{b}", f"{a}y+{b}", f"{a}y+{b + 1}"),
        ]
    )


def integer(rng: random.Random) -> tuple[str, str, str]:
    n = rng.randint(0, 99_999)
    return rng.choice([f"{n}", f"{n:,}"]), f"{n}", f"{n + rng.randint(1, 9)}"


def mixture(answers: int, seed: int) -> tuple[list[str], list[str], list[bool]]:
    """Responses, golds, and whether each response is right."""
    rng = random.Random(seed)
    kinds = rng.choices([integer, fraction, expression], [0.6, 0.2, 0.2], k=answers)
    rows = [(*kind(rng), rng.random() < 0.5) for kind in kinds]
    return (
        [f"Let us add 3 to it, so that the answer is $\\boxed{{{spelt}}}$." for spelt, *_ in rows],
        [gold if right else wrong for _, gold, wrong, right in rows],
        [right for *_, right in rows],
    )


def direct(responses: list[str], golds: list[str]) -> list[bool]:
    from math_verify import LatexExtractionConfig, parse, verify

    latex = [LatexExtractionConfig()]
    return [
        verify(parse(rf"\boxed{{{gold}}}", latex), parse(response))
        for response, gold in zip(responses, golds, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=2000)
    count = parser.parse_args().answers
    logging.disable()
    direct(["1"], ["2"])  # its import
    print(
        f"| {count} answers | math-verify, answers/s | lab, answers/s | ratio | mistaken: theirs,"
        " ours |"
    )
    print("|---|---|---|---|---|")
    with Verifier() as verifier:
        for seed, name in enumerate(["first", "next"]):
            responses, golds, right = mixture(count, seed)
            began = time.perf_counter()
            theirs = direct(responses, golds)
            between = time.perf_counter()
            ours = [verdict.outcome == "right" for verdict in verifier.check(responses, golds)]
            slow, fast = between - began, time.perf_counter() - between
            wrong = [
                sum(a != b for a, b in zip(judged, right, strict=True)) for judged in (theirs, ours)
            ]
            print(
                f"| {name} | {count / slow:.0f} | {count / fast:.0f} | {slow / fast:.1f} |"
                f" {wrong[0]}, {wrong[1]} |"
            )


if __name__ == "__main__":
    main()
