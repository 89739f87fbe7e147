r"""How often five judges err on the labelled pairs: writes `rates.csv` and `docs/judge.md`.

    python data/judge/measure.py

| judge | how it is asked |
|---|---|
| ours | `lab.llm.verify.verifier.Verifier`, strict |
| math-verify | `verify(parse(gold), parse(response))`, both in a box, its own time limits |
| verl math_reward | `compute_score`, the copy of Hendrycks' rules |
| verl math_dapo | `compute_score` on a response that ends in "Answer: ...", as DAPO's prompt asks |
| second judge | `lab.llm.verify.numeric_checker`; what it is unsure of is not right |

Only ours is told of a set's tolerance: the others get the gold without it. An exception is a wrong
answer. The intervals are Wilson's, 95%, and take the pairs as draws; they say nothing of answers
that no rule of `build.py` makes.
"""

import csv
import hashlib
import importlib.util
import json
import logging
import resource
import subprocess
import sys
from collections import Counter, defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lab.llm.verify.equality import split_tolerance
from lab.llm.verify.numeric_checker import check_numerically
from lab.llm.verify.verifier import Verifier

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "judge.md"
JUDGES = ("ours", "math-verify", "verl math_reward", "verl math_dapo", "second judge")
MEMORY = 3 << 30  # bytes of the process that holds the judges of others


def wilson(errors: int, n: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    z, share = 1.959964, errors / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def of_others() -> None:
    """In a process of its own: each line (answer, gold) of the input to a line of three verdicts.

    math-verify is sped up as our workers are (`sympy_worker.prepare`), which changes no result.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    replies, sys.stdout = sys.stdout, sys.stderr
    from math_verify import LatexExtractionConfig, parse, verify

    from lab.llm.verify.sympy_worker import prepare

    prepare()
    math_reward, math_dapo = verl_module("math_reward"), verl_module("math_dapo")
    logging.disable()
    config = [LatexExtractionConfig()]

    def judged(call) -> bool:
        try:
            return bool(call())
        except (Exception, MemoryError):
            return False

    for line in sys.stdin:
        answer, gold = json.loads(line)
        response = rf"So it is $\boxed{{{answer}}}$."
        boxed = rf"\boxed{{{gold}}}"
        verdicts = [
            judged(lambda b=boxed, r=response: verify(parse(b, config), parse(r))),
            judged(lambda r=response, g=gold: math_reward.compute_score(r, g) == 1),
            judged(lambda a=answer, g=gold: math_dapo.compute_score(f"Answer: {a}", g)["acc"]),
        ]
        print(json.dumps(verdicts), file=replies, flush=True)


def verl_module(name: str) -> Any:
    """One module of verl's rewards, without the import of all of verl."""
    package = importlib.util.find_spec("verl")
    assert package is not None and package.submodule_search_locations is not None
    path = Path(package.submodule_search_locations[0], "utils", "reward_score", f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # as for every name that ends in .py
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def asked_of_others(pairs: list[tuple[str, str]]) -> list[list[bool]]:
    """Three verdicts a pair; they are kept in others.json, and asked anew for other pairs."""
    text = "".join(json.dumps(pair) + "\n" for pair in pairs)
    key = f"{versions()}, pairs {hashlib.sha256(text.encode()).hexdigest()[:12]}"
    kept = HERE / "others.json"
    if kept.exists():
        stored = json.loads(kept.read_text("utf-8"))
        if stored["of"] == key:
            return [[mark == "1" for mark in marks] for marks in stored["right"]]
    found = subprocess.run(
        [sys.executable, str(Path(__file__)), "others"],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    said = [json.loads(line) for line in found.stdout.splitlines()]
    marks = ["".join("01"[right] for right in one) for one in said]
    kept.write_text(json.dumps({"of": key, "right": marks}, indent=0) + "\n", "utf-8")
    return said


def verdicts(rows: list[dict[str, str]]) -> dict[str, list[bool]]:
    """Whether each judge calls each pair right."""
    bare = [(row["answer"], split_tolerance(row["gold"])[0]) for row in rows]
    responses = [rf"So it is $\boxed{{{row['answer']}}}$." for row in rows]
    with Verifier(error_limit=1.0) as verifier:
        ours = [
            verdict.outcome == "right"
            for verdict in verifier.check(responses, [row["gold"] for row in rows])
        ]
    others = asked_of_others(bare)
    second = [
        check_numerically(response, gold, "strict") == "right"
        for response, (_, gold) in zip(responses, bare, strict=True)
    ]
    columns = [ours, *map(list, zip(*others, strict=True)), second]
    return dict(zip(JUDGES, columns, strict=True))


def rates(rows: list[dict[str, str]], said: dict[str, list[bool]]) -> list[dict[str, object]]:
    """A row a judge and split: pairs, errors of both kinds, their shares and intervals."""
    found: list[dict[str, object]] = []
    for split in ("tuned", "held out"):
        for judge in JUDGES:
            counts: Counter[tuple[str, bool]] = Counter(
                (row["label"], right)
                for row, right in zip(rows, said[judge], strict=True)
                if row["split"] == split
            )
            entry: dict[str, object] = {"split": split, "judge": judge}
            for label, wrong_verdict in (("wrong", True), ("right", False)):
                n = counts[label, True] + counts[label, False]
                errors = counts[label, wrong_verdict]
                low, high = wilson(errors, n)
                kind = "wrong called right" if label == "wrong" else "right called wrong"
                entry |= {f"{label} answers": n, kind: errors}
                entry |= {f"{kind}, low": f"{low:.5f}", f"{kind}, high": f"{high:.5f}"}
            found.append(entry)
    return found


def by_family(
    rows: list[dict[str, str]], said: dict[str, list[bool]]
) -> dict[str, dict[str, list[int]]]:
    """Per family and judge: wrong called right, right called wrong, over both splits."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: {j: [0, 0] for j in JUDGES})
    for judge in JUDGES:
        for row, right in zip(rows, said[judge], strict=True):
            if right != (row["label"] == "right"):
                found[row["family"]][judge][row["label"] == "right"] += 1
            else:
                found[row["family"]]
    return found


def by_hand() -> list[str]:
    """The lines on the pairs that were written by hand after the rules."""
    with (HERE / "by_hand.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with Verifier(error_limit=1.0) as verifier:
        verdicts = verifier.check(
            [rf"\boxed{{{row['answer']}}}" for row in rows], [row["gold"] for row in rows]
        )
    now = [verdict.outcome for verdict in verdicts]
    lines = [BY_HAND, "| judged | wrong called right | right called wrong |", "|---|---|---|"]
    for when, said in (("at first", [row["at_first"] for row in rows]), ("now", now)):
        cells = []
        for label, other in (("wrong", "right"), ("right", "wrong")):
            judged = [s for s, row in zip(said, rows, strict=True) if row["label"] == label]
            errors = judged.count(other)
            low, high = wilson(errors, len(judged))
            share = errors / len(judged)
            cells.append(f"{errors} of {len(judged)}: {share:.1%} ({low:.1%} to {high:.1%})")
        lines.append(f"| {when} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def page(table: list[dict[str, object]], families: dict[str, dict[str, list[int]]]) -> str:
    """The page as Markdown."""
    lines = [PREFACE.format(versions=versions())]
    for split, title in (("tuned", "The pairs that rules were tuned on"), ("held out", HELD_OUT)):
        lines += [
            f"## {title}",
            "",
            "| judge | wrong called right | right called wrong |",
            "|---|---|---|",
        ]
        for entry in table:
            if entry["split"] == split:
                lines.append(f"| {entry['judge']} | " + " | ".join(shares(entry)) + " |")
        lines.append("")
    lines += by_hand()
    lines += [FAMILIES, "| family | " + " | ".join(JUDGES) + " |", "|---" * (len(JUDGES) + 1) + "|"]
    for name, counts in families.items():
        cells = [f"{a}, {b}" for a, b in counts.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def shares(entry: dict[str, object]) -> list[str]:
    cells = []
    for label, kind in (("wrong", "wrong called right"), ("right", "right called wrong")):
        n, errors = int(str(entry[f"{label} answers"])), int(str(entry[kind]))
        low, high = (float(str(entry[f"{kind}, {end}"])) for end in ("low", "high"))
        cells.append(f"{errors} of {n}: {errors / n:.2%} ({low:.2%} to {high:.2%})")
    return cells


def versions() -> str:
    names = ("math-verify", "latex2sympy2_extended", "sympy", "verl", "mpmath")
    return ", ".join(f"{name} {version(name)}" for name in names)


PREFACE = r"""# How often the judge errs

A verifier's mistakes are the noise of every reward. These are counted on
[`data/judge/pairs.csv`](../data/judge/pairs.csv): pairs of an answer and a gold answer, each with
its label and the reason for it, made by the rules in
[`data/judge/build.py`](../data/judge/build.py). `python data/judge/measure.py` writes this page.

Versions: {versions}.

The pairs and the judge have the same authors, and the rules of `build.py` were known when the judge
was written. The split is by pair, not by rule: a held-out pair has siblings of the same rule in the
tuned part, with other numbers. So the table says how the judges differ on answers of these kinds,
and is no estimate for answers of other kinds. The part kept out of tuning was judged three times,
after rules had changed for other reasons, and had no failure at any time. Intervals are Wilson's,
95%.

Math-verify is given both texts in a box. Verl's `math_dapo` is given "Answer: ...", which its
prompt asks for. No judge but ours knows that a set declares a tolerance (family "tolerance of a
set"), and the second judge, which is literal by design, calls a percentage 1/100 of its number.
"""
HELD_OUT = "The pairs that were kept out of tuning"
BY_HAND = """## Pairs written by hand, later

[`data/judge/by_hand.csv`](../data/judge/by_hand.csv): pairs of other kinds, in the style of what
models write, made when the rules above were done. They were judged once, and then some of what
failed was mended, so that "now" is no longer a measurement. The row "at first" says most about
answers that no rule foresaw: none wrong was accepted, and unusual spellings were refused.
"""
FAMILIES = """## By family

Over both parts: wrong answers called right, then right answers called wrong.
"""


def main() -> None:
    with (HERE / "pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    said = verdicts(rows)
    table = rates(rows, said)
    with (HERE / "rates.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    PAGE.write_text(page(table, by_family(rows, said)), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    of_others() if sys.argv[1:] == ["others"] else main()
