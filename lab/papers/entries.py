"""What the pages say of a figure or table of a paper, before it is Markdown or HTML."""

from __future__ import annotations

from collections.abc import Iterator

from lab.papers import tables
from lab.papers.published import printed
from lab.papers.registry import WORLDS, Claim, Item
from lab.papers.verdicts import FAILS, HOLDS, SHOWN, UNDECIDED, UNKNOWN


def verdict_word(verdict: str) -> str:
    """A verdict without its remarks: the word that is counted, coloured and filtered by.

    >>> verdict_word("not yet measured as published; in another setting: holds")
    'not yet measured'
    """
    return UNKNOWN if verdict.startswith(UNKNOWN) else verdict.split(";")[0]


# How a page colours each word; a word that is missing here has no colour.
TONES = {
    HOLDS: "good",
    UNDECIDED: "open",
    FAILS: "bad",
    UNKNOWN: "missing",
    tables.AGREE: "good",
    tables.DIFFER: "open",
    SHOWN: "plain",
}


def summary(item: Item) -> str:
    """The verdict on an item: on its claims, or whether its table is as printed."""
    if item.hyperparameters or item.weights:
        return tables.agreement(item)
    return item.verdict


def counted_verdicts(item: Item) -> list[str]:
    """The words of the verdicts on its claims; without claims, that of the item alone."""
    return [verdict_word(claim.verdict) for claim in item.compare] or [verdict_word(summary(item))]


def verdicts(item: Item) -> set[str]:
    """The words under which an item is found: also "not yet measured" where its own world is."""
    own = {UNKNOWN} if summary(item).startswith(UNKNOWN) else set()
    return own | set(counted_verdicts(item))


def worlds(item: Item) -> list[str]:
    """The worlds that an item is about, and those in which its claims were tested."""
    found = {item.world, *(claim.world for claim in item.compare)}
    return [world for world in WORLDS if world in found]


def our_numbers(claim: Claim) -> list[str]:
    """Each of our numbers with its label, then each difference that was tested, as text."""
    if claim.numbers is None:
        return [UNKNOWN]
    return [*(f"{label} {value}" for label, value in claim.numbers.items()), *claim.differences]


def verdict_text(claim: Claim) -> str:
    """The verdict, followed by the remark on it."""
    return f"{claim.verdict}; {claim.remark}" if claim.remark else claim.verdict


def published_rows(item: Item) -> list[list[str]]:
    """The values that the paper prints beside its picture: method, benchmark, metric, value."""
    units = {"percent": "%", "x": "x"}
    return [
        [
            row.method,
            row.benchmark,
            row.metric,
            row.text + units.get(row.unit, "") + (f" ({row.remark})" if row.remark else ""),
        ]
        for row in printed(item.paper, item.printed).itertuples()
    ]


def published_text(item: Item) -> str:
    """The same values in one line."""
    return "; ".join(
        f"{method}, {benchmark}, {metric}: {value}"
        for method, benchmark, metric, value in published_rows(item)
    )


def details(item: Item) -> Iterator[tuple[str, str]]:
    """What is listed under an item, as (name, text); code is in `backticks`."""
    if item.setting:
        yield "Setting", item.setting
    if item.missing:
        yield "Missing", item.missing
    for name in item.not_drawn:
        yield "Not recorded", f"`{name}`: its script or its runs are missing, so nothing is drawn"
    if item.commands:
        yield "Command", "; ".join(f"`{command}`" for command in item.commands)
    for note in item.notes:
        yield "The paper", note
