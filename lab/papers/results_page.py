"""docs/results.md and the README's table of results, written from the registry.

Nobody types a number or a verdict of a trained run into either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from lab.errors import LabError
from lab.papers.entries import our_numbers, verdict_text
from lab.papers.registry import WORLDS, Claim, Item
from lab.papers.verdicts import FAILS, HOLDS, UNDECIDED, UNKNOWN, signed

START, END = "<!-- results -->", "<!-- end of results -->"
LEARNED, END_OF_LEARNED = "<!-- learned -->", "<!-- end of learned -->"
HEAD = """\
# Our results and the published ones

Every claim that was tested, with our numbers, the paper's words and the verdict, by world. Written
by `lab figures` from [figures/papers.toml](../figures/papers.toml) and the recorded runs in
`data/results/`, which have the commit, versions, device and command of each.

Numbers are means with 95% intervals (Student's t) over seeds and, where they vary too, problems.
Differences are paired, and verdicts stand at 5% after Holm's correction over all tests of the same
paper, or of the same experiment of ours: [statistics.md](statistics.md). What was seen in a mean
and could be chance is *undecided*.

[papers.md](papers.md) goes through every figure and table of the two papers;
[paper_issues.md](paper_issues.md) lists remarks on the papers.
"""
FOOT = """\
## Not yet measured

Mazes of 17x17 and ResNet-50 on one H200 (`lab train maze scale=h200`, `lab train images
scale=h200`), ImageNet (`scale=paper`), and every result on Qwen3 and SmolLM2:
[papers.md](papers.md) names the commands.
"""


def page(items: Iterable[Item], own: Iterable[Claim]) -> str:
    """docs/results.md: a section for each world, a table of its claims."""
    rows = _all_claims(items, own)
    lines = [HEAD]
    for world in WORLDS:
        lines += [
            f"## {world.capitalize()}",
            "",
            "| claim | setting, figure | ours | published | verdict |",
            "|---|---|---|---|---|",
            *(
                f"| {claim.claim} | {_setting(claim, '../')} | {'<br>'.join(our_numbers(claim))} |"
                f" {_published(item, claim)} | {verdict_text(claim)} |"
                for item, claim in rows
                if claim.world == world and claim.verdict != UNKNOWN
            ),
            "",
        ]
    return "\n".join([*lines, FOOT])


def readme(text: str, items: Iterable[Item], own: Iterable[Claim]) -> str:
    """The README with what was learned and its table of results written anew.

    LabError: it lacks the marks between which these stand, or a sentence for a verdict.
    """
    rows = _all_claims(items, own)
    text = _between(LEARNED, END_OF_LEARNED, text, _learned(rows))
    table = [
        "| claim | ours, paired difference | published | verdict |",
        "|---|---|---|---|",
        *(
            f"| {claim.readme} ({_figures(claim, '')}) | {_first_difference(claim)} |"
            f" {_published(item, claim)} | {claim.verdict} |"
            for item, claim in rows
            if claim.readme
        ),
    ]
    return _between(START, END, text, table)


def _between(start: str, end: str, text: str, lines: list[str]) -> str:
    """`text` with these lines between its two marks."""
    found = re.search(f"{start}\n.*?{end}", text, re.DOTALL)
    if found is None:
        raise LabError(f"README.md lacks the marks {start} and {end}: put them around its results")
    return text.replace(found[0], "\n".join([start, *lines, end]))


def _learned(rows: list[tuple[Item | None, Claim]]) -> list[str]:
    """A sentence for each claim that has one, with what would show it wrong; at last the counts."""
    lines: list[str] = []
    for _, claim in rows:
        if not claim.learned or claim.numbers is None:
            continue
        if claim.verdict not in claim.learned:
            raise LabError(
                f"claim {claim.claim!r} is {claim.verdict!r} now, and its field `learned` has no"
                " sentence for that: write one in figures/papers.toml"
            )
        said = claim.learned[claim.verdict].format_map(claim.numbers)
        places = " ".join([*claim.ours.values(), str(claim.published)])
        named = re.findall(r"\b(\w+)/\w+:|\bsweeps/(\w+)\.toml", places)
        sweeps = dict.fromkeys(one or other for one, other in named)
        repeat = " && ".join(f"lab sweep sweeps/{sweep}.toml --train" for sweep in sweeps)
        lines.append(f"{len(lines) + 1}. {said} (`{repeat}`)")
    of_papers = [claim for _, claim in rows if claim.is_of_a_paper]
    counts = Counter(claim.verdict for claim in of_papers)
    hold, fail, open_ = (counts[verdict] for verdict in (HOLDS, FAILS, UNDECIDED))
    seeds = max((one.seeds for one in of_papers if one.verdict == UNDECIDED), default=0)
    lines.append(
        f"{len(lines) + 1}. Of the {hold + fail + open_} claims of the two papers that were tested"
        f" here, at small scale, {hold} hold, {fail} do not and {open_} are undecided, none of them"
        f" with more than {seeds} seeds, which tell only large differences from chance."
        " (`lab figures`)"
    )
    return lines


def _all_claims(items: Iterable[Item], own: Iterable[Claim]) -> list[tuple[Item | None, Claim]]:
    """Every claim with its figure or table; those of the lab have none."""
    of_items = [(item, claim) for item in items for claim in item.compare]
    return [*of_items, *((None, claim) for claim in own)]


def _setting(claim: Claim, up: str) -> str:
    """Where a claim was tested, with links to its figures."""
    return ", ".join(filter(None, [claim.setting, _figures(claim, up)]))


def _figures(claim: Claim, up: str) -> str:
    return ", ".join(f"[{name}]({up}figures/out/{name}.png)" for name in claim.figures)


def _published(item: Item | None, claim: Claim) -> str:
    return item.published_text(claim) if item else str(claim.published)


def _first_difference(claim: Claim) -> str:
    """Both numbers of the first step, and what they differ by; what else there is, on the page."""
    if claim.numbers is None:
        return UNKNOWN
    first, *rest = claim.steps
    found = first.comparison
    numbers = f"{first.left} {first.a}, {first.right} {first.b}"
    if first.right not in claim.numbers:
        numbers = f"{first.left} {first.a}, claimed {first.right}"
    if found is None:
        return numbers
    more = f"; {len(rest)} more" if rest else ""
    return f"{numbers}: {signed(found.difference)}{more}"
