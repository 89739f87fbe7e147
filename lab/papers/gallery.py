"""The gallery: figures/out/index.html with every picture, docs/papers.md with every number.

Both have the same content for each figure and table: claim, setting, command, our numbers with
their intervals, published numbers, verdict, runs, and where the paper contradicts itself.
"""

from __future__ import annotations

import os
from pathlib import Path

from lab.papers import issues, page_html, tables
from lab.papers.entries import details, our_numbers, published_text, summary, verdict_text
from lab.papers.published import PAPERS
from lab.papers.registry import Item, items
from lab.runs.provenance import ROOT
from lab.runs.run_folder import write_atomically
from lab.show import plots

# The line breaks (those without a backslash) are those of docs/papers.md.
HOW = """\
A verdict follows from the numbers. An order "holds" where no two neighbours' intervals \
touch; where they do it
"holds in the means" or "does not show"; it "does not hold" where two neighbours stand the \
other way round and their
intervals do not touch. Equality holds where intervals touch. Brackets are 95% bootstrap \
intervals, over what the
figure's caption says; with 2 or 3 seeds they reach from the lowest to the highest, so \
that two which do not touch are
no strong evidence. A verdict is on our setting, which is smaller than the published one \
wherever it says so: it is
evidence about the claim, not a repetition of the paper's runs."""


def docs_folder() -> Path:
    """docs/ in the project, or the folder named by the variable LAB_FIGURES."""
    return Path(os.environ.get("LAB_FIGURES") or ROOT / "docs")


def write() -> list[Path]:
    """Write the tables, the gallery and the two pages in docs/; returns the files."""
    out = plots.out_folder()
    all_items = items()
    pages: dict[Path, str] = {}
    for item in all_items:
        if tables.has_table(item):
            pages[out / f"table_{item.key}.md"] = tables.markdown(item)
            pages[out / f"table_{item.key}.tex"] = tables.latex(item)
    pages[out / "index.html"] = page(all_items)
    pages[docs_folder() / "papers.md"] = markdown(all_items)
    pages[docs_folder() / "paper_issues.md"] = issues.page()
    for path, text in pages.items():
        write_atomically(path, text)
    return list(pages)


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
