"""The papers on a page: figures/out/index.html with pictures, docs/papers.md with every number.

Both have the same content for each figure and table: claim, setting, command, our numbers with
their intervals, published numbers, verdict, runs, and where the paper contradicts itself.
"""

from __future__ import annotations

from lab.papers import page_html, tables
from lab.papers.entries import details, our_numbers, published_text, summary, verdict_text
from lab.papers.published import PAPERS
from lab.papers.registry import Item

HOW = """\
Numbers are means with 95% intervals (Student's t) over seeds and, where they vary too, problems. A
claimed order is tested step by step on paired differences, value by value on the same seeds and
problems, and p-values are adjusted by Holm's method for all tests of the same paper, or of the same
experiment of ours. A claim "holds" where every step does and "does not hold" where one fails, at
5%; equality holds only within a margin that was named before the runs. All else is "undecided", and
then the difference is told that would have shown with a chance of 80%. "Shown" is what is not
tested. P(improvement) is the chance that the first is better on one seed and problem, ties counted
half. What the intervals cover was measured: docs/statistics.md. A verdict is on our setting, which
is smaller than the published one wherever it says so: it is evidence about the claim, not a
repetition of the paper's runs."""


def page(all_items: list[Item]) -> str:
    """figures/out/index.html, see `lab.papers.page_html`."""
    return page_html.page(all_items, HOW)


def markdown(all_items: list[Item]) -> str:
    """docs/papers.md: for each paper a table of verdicts, then its figures and tables."""
    lines = [
        "# The papers: every figure and table",
        "",
        (
            "Written by `lab figures` from [figures/papers.toml](../figures/papers.toml), the"
            " figures' own tables and"
        ),
        (
            "[data/published](../data/published/README.md). All pictures on one page:"
            " figures/out/index.html. The"
        ),
        "papers' own mistakes: [paper_issues.md](paper_issues.md).",
        "",
        *HOW.splitlines(),
        "",
    ]
    for paper, archive in PAPERS.items():
        mine = [item for item in all_items if item.paper == paper]
        lines += [
            f"## {paper} ({archive})",
            "",
            "| | what | verdict here |",
            "|---|---|---|",
            *(
                f"| [{item.item}](#{_anchor(item)}) | {item.title} | {summary(item)} |"
                for item in mine
            ),
            "",
        ]
        for item in mine:
            lines += [f"### {paper} {item.item}: {item.title}", ""]
            if item.drawn:
                shown = " ".join(
                    f"[![{name}](../figures/out/{name}.png)](../figures/out/{name}.pdf)"
                    for name in item.drawn
                )
                lines += [shown, ""]
            if item.compare:
                lines += [
                    "| claim | published | ours | verdict |",
                    "|---|---|---|---|",
                    *(
                        f"| {claim.claim} | {item.published_text(claim)}"
                        f" | {'<br>'.join(our_numbers(claim))} | {verdict_text(claim)} |"
                        for claim in item.compare
                    ),
                    "",
                ]
            if tables.has_table(item):
                name = f"table_{item.key}"
                lines += [
                    f"- **Table.** [Markdown](../figures/out/{name}.md),"
                    f" [LaTeX](../figures/out/{name}.tex)"
                ]
            if item.printed:
                lines += [f"- **Published.** {published_text(item)}"]
            lines += [f"- **{name}.** {text}" for name, text in details(item)]
            if item.also:
                lines += [
                    "- **See also.** "
                    + ", ".join(f"[{name}](../figures/out/{name}.png)" for name in item.also)
                ]
            if item.runs:
                lines += [
                    f"- **Runs.** {len(item.runs)}: "
                    + ", ".join(f"`{run}`" for run in sorted(item.runs))
                ]
            lines += [""]
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _anchor(item: Item) -> str:
    """The anchor that GitHub gives a heading: lower case, no punctuation, dashes for blanks."""
    heading = f"{item.paper} {item.item}: {item.title}".lower()
    letters = [letter for letter in heading if letter.isalnum() or letter in " -_"]
    return "".join(letters).replace(" ", "-")
