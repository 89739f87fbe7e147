r"""What must hold for every gold answer: ten spellings are right, ten near misses are wrong.

Both are made by rule from the text of the gold and its kind (`lab.judge.meaning`). A spelling
changes how the gold is written and never what it means; a near miss changes what it means.
`lab data check --judge` runs this on whole sets, the tests on their fixtures.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lab.judge.equality import read_gold, split_tolerance
from lab.judge.meaning import Choice, Several, Value, Words
from lab.judge.spelling import spell, unwrapped
from lab.judge.verifier import Verifier

COUNT = 10
_UNICODE = (
    (r"\pi", "π"), (r"\infty", "∞"), (r"\cup", "∪"), (r"\pm", "±"), (r"\le", "≤"), (r"\ge", "≥"),
    (r"\times", "×"), (r"\cdot", "·"), (r"\theta", "θ"), (r"\alpha", "α"), ("^2", "²"), ("-", "−"),
)  # fmt: skip


def spellings(gold: str) -> list[str]:
    """Up to ten other ways to write a gold; fewer only where it is no longer than a letter.

    >>> spellings("12")[:4]
    ['$12$', ' 12 ', '12.', '\\\\(12\\\\)']
    """
    gold = split_tolerance(gold)[0].strip()
    return list(dict.fromkeys(s for s in _spellings(gold) if s != gold))[:COUNT]


def near_misses(gold: str) -> list[str]:
    """Ten answers that are wrong for a gold.

    >>> near_misses("12")[:4]
    ['13', '-12', '120', '6']
    """
    bare = split_tolerance(gold)[0].strip()
    found = _near_misses(bare, split_tolerance(gold)[1] is not None)
    return list(dict.fromkeys(miss for miss in found if miss.strip() != bare))[:COUNT]


def _spellings(gold: str) -> Iterator[str]:
    yield from _wrapped(gold, ("${}$", " {} ", "{}.", r"\({}\)"))
    meaning = read_gold(gold)
    if isinstance(meaning, Value) and not (
        meaning.unit or meaning.label or meaning.others or meaning.near
    ):
        if meaning.tree[0] == "number":
            value = meaning.tree[1]
            if value.denominator == 1 and "." not in gold and "e" not in gold.lower():
                yield from (f"{int(value)}.0", f"{int(value):,}", rf"\frac{{{2 * value}}}{{2}}")
            yield f"{value.numerator}/{value.denominator}"
        if not re.search(r",|\\equiv", gold):
            yield rf"\left({gold}\right)"
        if not re.search(r"[=w]|\\equiv", gold):
            yield f"w = {gold}"
    for other in (r"\\dfrac", r"\\tfrac"):
        yield re.sub(r"\\frac(?![A-Za-z])", other, gold)
    if isinstance(meaning, Choice) and meaning.rest is None:
        yield from _wrapped(meaning.letter, ("({})", "{}", r"\textbf{{({})}}", r"\text{{{}}}"))
    if isinstance(meaning, Words):
        word = unwrapped(spell(gold))
        if not word.isupper():
            yield from (word.upper(), rf"\text{{{word.lower()}}}")
        yield from _wrapped(word, ("{}", r"\text{{{}}}", r"\textbf{{{}}}", r"\mathrm{{{}}}"))
    for latex, mark in _UNICODE:
        if r"\begin" not in gold:
            letters = "(?![A-Za-z0-9])" if latex != "-" else ""
            yield re.sub(re.escape(latex) + letters, mark, gold)
    yield from _wrapped(gold, (r"\boxed{{{}}}", r"{}\,", r"\displaystyle {}", r"\!{}", "$ {} $"))
    yield from _wrapped(gold, ("{}~", r"\;{}", r"{}\quad", "  {}", "{} ", " {}  "))


def _wrapped(gold: str, forms: Sequence[str]) -> list[str]:
    r"""A gold in each form that it may have: no second $, \( or full stop."""
    ends = ("$" in gold and ("$", r"\(")) or (gold.endswith((".", ":")) and ("{}.",)) or ()
    return [form.format(gold) for form in forms if not any(end in form for end in ends)]


def _near_misses(gold: str, tolerant: bool) -> Iterator[str]:
    meaning = read_gold(gold)
    if isinstance(meaning, Value) and meaning.tree[0] == "number" and not meaning.others:
        value = meaning.tree[1]
        rough = tolerant or value.denominator > 1
        changed = value + max(1, abs(value) / 50) if rough else value + 1
        for other in (changed, -value, 10 * value, value / 2, value**2 + value + 7, 3 * value + 5):
            if value not in (other, 100 * other) and other != 100 * value:
                yield str(Fraction(other))
        yield from (f"{value}x", f"{value}, {value + 1}", rf"\pm {value + 1}")
        yield from (f"({value}, {value + 1})", rf"{value}\text{{ is not the answer}}")
        yield rf"\sqrt{{{value**2 + 3}}}"
    elif isinstance(meaning, Value) and not meaning.others:
        core = gold
        if meaning.label or meaning.near:  # in x = 5, 5 = x and x = 5 ≈ 5.1 what is no label
            sides = [side.strip() for side in re.split(r"=|\\approx(?![A-Za-z])|≈", gold)]
            value = Value(meaning.tree, meaning.unit)
            core = next((side for side in sides if read_gold(side) == value), gold)
        if meaning.unit is None:
            yield from (rf"{core}+1", rf"{core}-1", rf"{core}+2", rf"{core}+\frac{{1}}{{7}}")
            yield from (rf"{core}+\pi", rf"{core}-10^{{-6}}", rf"{core}, 1", rf"{core}+q")
        else:
            yield from _other_numbers(gold)
    elif isinstance(meaning, Choice):
        yield from (letter for letter in "ABCDEFGHIJ" if letter != meaning.letter)
    elif isinstance(meaning, Words):
        word = unwrapped(spell(gold))
        yield from (rf"\text{{not {word}}}", word[:-1], f"{word}{word}", rf"\text{{{word} or no}}")
    elif isinstance(meaning, Several):
        yield from _other_numbers(gold)
        yield f"{gold}, 987654"
    yield from (r"\text{unknown}", "7919", "-7919.5", r"7919\sqrt{2}", r"\{7919, 1\}", "(7919, 2)")
    yield from ("7919x^3", r"\text{I do not know}", r"9^{9^{9^9}}", "[7919, 8000)", "x = 7919")


def _other_numbers(gold: str) -> Iterator[str]:
    """The gold with one of its numbers 7,001 larger, unless that number is an index or a power."""
    for match in re.finditer(r"(?<![0-9.^_,{!])(?<!\^\{)(?<!_\{)[0-9]+(?![0-9.,}])", gold):
        yield gold[: match.start()] + str(int(match[0]) + 7001) + gold[match.end() :]


@dataclass(frozen=True)
class Kept:
    """How far the contract was kept over some golds: counts, and (gold, answer) of each breach."""

    golds: int
    unreadable: int
    spellings: int
    near_misses: int
    refused: tuple[tuple[str, str], ...]  # spellings that were not called right
    accepted: tuple[tuple[str, str], ...]  # near misses that were called right

    def lines(self) -> list[str]:
        """What `lab data check --judge` prints: the counts, and the first breaches."""
        found = [
            f"{self.golds} golds, {self.unreadable} unreadable; {len(self.refused)} of"
            f" {self.spellings} spellings not called right, {len(self.accepted)} of"
            f" {self.near_misses} near misses called right"
        ]
        for kind, breaches in (("refused", self.refused), ("accepted", self.accepted)):
            found += [f"    {kind}: {answer!r} for {gold!r}" for gold, answer in breaches[:5]]
        return found


def check_contract(golds: Sequence[str]) -> Kept:
    """Run the contract on some golds."""
    verifier = Verifier(error_limit=1.0)
    distinct = list(dict.fromkeys(golds))
    unreadable = verifier.unparsable(distinct)
    readable = [gold for i, gold in enumerate(distinct) if i not in unreadable]
    counts, breaches = [], []
    for expected, write in (("right", spellings), ("wrong", near_misses)):
        pairs = [(gold, answer) for gold in readable for answer in write(gold)]
        boxed = [rf"\boxed{{{answer}}}" for _, answer in pairs]
        verdicts = verifier.check(boxed, [gold for gold, _ in pairs])
        counts.append(len(pairs))
        judged = zip(pairs, verdicts, strict=True)
        breaches.append(tuple(pair for pair, verdict in judged if verdict.outcome != expected))
    return Kept(len(distinct), len(unreadable), counts[0], counts[1], breaches[0], breaches[1])
