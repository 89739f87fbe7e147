"""The papers on a page: figures/out/index.html with pictures, docs/papers.md with every number.

Both have the same content for each figure and table: claim, setting, command, our numbers with
their intervals, published numbers, verdict, runs, and where the paper contradicts itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from lab.papers import tables
from lab.papers.published import PAPERS, printed
from lab.papers.registry import Claim, Item
from lab.papers.verdicts import SHOWN, UNDECIDED, UNKNOWN
from lab.show import plots

HOW = """\
Numbers are means with 95% intervals (Student's t) over seeds and, where they vary too, problems.
A claimed order is tested step by step on paired differences, value by value on the same seeds and
problems, and p-values are adjusted by Holm's method for all tests of the same paper. A claim
"holds" where every step does and "does not hold" where one fails, at 5%; equality holds only within
a margin that was named before the runs. All else is "undecided", and then the difference is told
that would have shown with a chance of 80%. "Shown" is what is not tested. P(improvement) is the
chance that the first is better on one seed and problem, ties counted half. What the intervals cover
was measured: docs/statistics.md. A verdict is on our setting, which is smaller than the published
one wherever it says so: it is evidence about the claim, not a repetition of the paper's runs."""
STYLE = """body{font:16px/1.5 system-ui,sans-serif;color:#1b1b1b;max-width:60rem;\
margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem}h2{font-size:1.35rem;margin-top:3rem;border-bottom:2px solid #1b1b1b}\
h3{margin:2.5rem 0 .3rem}
img{max-width:100%;height:auto;display:block;margin:.6rem 0}\
figcaption,.small{color:#555;font-size:.85rem}
figure{margin:.8rem 0}table{border-collapse:collapse;font-size:.88rem;margin:.6rem 0}
td,th{border-bottom:1px solid #ddd;padding:.25rem .6rem .25rem 0;text-align:left;vertical-align:top}
code{background:#f3f3f3;padding:0 .25rem;font-size:.85em;overflow-wrap:anywhere}\
dl{margin:.4rem 0}
dt{font-weight:600;float:left;clear:left;width:8.5rem}dd{margin:0 0 .25rem 9rem}\
.wide{overflow-x:auto}
.verdict{font-weight:600}.no{color:#8a3b00}.open{color:#555}details{font-size:.85rem}
.claims td:nth-child(3){white-space:nowrap}"""


def our_numbers(claim: Claim) -> list[str]:
    """Each of our numbers with its label, then each difference that was tested, as text."""
    if claim.numbers is None:
        return [UNKNOWN]
    return [*(f"{label} {value}" for label, value in claim.numbers.items()), *claim.differences]


def verdict_text(claim: Claim) -> str:
    """The verdict, followed by the remark on it."""
    return f"{claim.verdict}; {claim.remark}" if claim.remark else claim.verdict


def details(item: Item) -> Iterator[tuple[str, str]]:
    """What is listed under an item besides its claims, as (name, text); code is in `backticks`."""
    if item.setting:
        yield "Setting", item.setting
    if item.missing:
        yield "Missing", item.missing
    for name in item.not_drawn:
        yield "Not recorded", f"`{name}`: its script or its runs are missing, so nothing is drawn"
    if item.commands:
        yield "Command", "; ".join(f"`{command}`" for command in item.commands)
    if item.printed:
        table = printed(item.paper, item.printed)
        yield (
            "Published",
            "; ".join(
                f"{row.method}, {row.benchmark}, {row.metric}: {row.text}"
                + ("%" if row.unit == "percent" else "x" if row.unit == "x" else "")
                + (f" ({row.remark})" if row.remark else "")
                for row in table.itertuples()
            ),
        )
    for note in item.notes:
        yield "The paper", note


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
                f"| [{item.item}](#{_anchor(item)}) | {item.title} | {item.verdict} |"
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
            if item.layout:
                name = f"table_{item.key}"
                lines += [
                    f"- **Table.** [Markdown](../figures/out/{name}.md),"
                    f" [LaTeX](../figures/out/{name}.tex)"
                ]
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


def page(all_items: list[Item]) -> str:
    """figures/out/index.html: one file without scripts; it loads only the pictures beside it."""
    parts = [
        (
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport"
            " content='width=device-width'>"
        ),
        f"<title>The papers, figure by figure</title><style>{STYLE}</style>",
        "<h1>The papers, figure by figure</h1>",
        f"<p>{escape(' '.join(HOW.split()))}</p>",
    ]
    for paper, archive in PAPERS.items():
        mine = [item for item in all_items if item.paper == paper]
        parts.append(f"<h2>{paper} ({archive})</h2><table>")
        parts += [
            f"<tr><td><a href='#{item.key}'>{item.item}</a>"
            f"<td>{escape(item.title)}<td>{_verdict(item.verdict)}"
            for item in mine
        ]
        parts.append("</table>")
        for item in mine:
            parts += [
                f"<h3 id={item.key}>{paper} {item.item}: {escape(item.title)}</h3>",
                *_item(item),
            ]
    return "\n".join([*parts, "</html>"]) + "\n"


def _item(item: Item) -> Iterator[str]:
    for name in item.figures:
        if (record := plots.figure_record(name)) is None:
            continue
        caption = escape(record["caption"], quote=True)
        # A PNG file holds its width in bytes 16 to 19. Half of it suits a screen.
        picture = (plots.out_folder() / f"{name}.png").read_bytes()
        width = int.from_bytes(picture[16:20], "big")
        yield (
            f"<figure><a href='{name}.pdf'><img src='{name}.png' width={width // 2} alt='{caption}'"
            f" loading=lazy></a><figcaption>{caption} <a href='{name}.csv'>data</a>, <a"
            f" href='{name}.txt'>caption</a></figcaption></figure>"
        )
    if item.compare:
        yield "<div class='wide claims'><table><tr><th>claim<th>published<th>ours<th>verdict"
        for claim in item.compare:
            remark = escape(verdict_text(claim).removeprefix(claim.verdict))
            numbers = "<br>".join(map(escape, our_numbers(claim)))
            yield (
                f"<tr><td>{escape(claim.claim)}<td>{escape(item.published_text(claim))}"
                f"<td>{numbers}<td>{_verdict(claim.verdict)}{remark}"
            )
        yield "</table></div>"
    if item.layout:
        yield _table(item)
    yield "<dl>"
    yield from (f"<dt>{name}<dd>{_with_code(text)}" for name, text in details(item))
    if item.also:
        yield "<dt>See also<dd>" + ", ".join(
            f"<a href='{name}.png'>{name}</a>" for name in item.also
        )
    yield "</dl>"
    if item.runs:
        runs = "".join(
            f"<li><code>{escape(id)}</code>: <code>{escape(run['command'])}</code>"
            for id, run in sorted(item.runs.items())
        )
        yield f"<details><summary>{len(item.runs)} runs</summary><ul>{runs}</ul></details>"


def _table(item: Item) -> str:
    head, *body = tables.lines(item)
    name = f"table_{item.key}"
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}" for cell in line) for line in body)
    return (
        f"<p class=small>{escape(tables.caption(item))} <a href='{name}.md'>Markdown</a>, <a"
        f" href='{name}.tex'>LaTeX</a></p><details><summary>{len(body)} rows</summary><div"
        " class=wide><table><tr>"
        + "".join(f"<th>{escape(cell)}" for cell in head)
        + rows
        + "</table></div></details>"
    )


def _verdict(verdict: str) -> str:
    if verdict.startswith("does not"):
        kind = "no"
    else:
        kind = "open" if verdict.startswith((UNKNOWN, UNDECIDED, SHOWN)) else "yes"
    return f"<span class='verdict {kind}'>{escape(verdict)}</span>"


def _with_code(text: str) -> str:
    """A text as HTML; what is in `backticks` becomes code."""
    return "".join(
        f"<code>{escape(part)}</code>" if number % 2 else escape(part)
        for number, part in enumerate(text.split("`"))
    )
