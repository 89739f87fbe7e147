"""figures/out/index.html: every figure and table of both papers on one page, to be filtered.

One file: its style and script stand in it, and it loads nothing but the pictures beside it. Without
scripts it is a plain page, and the filters stay hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from html import escape

from lab.papers import tables
from lab.papers.entries import (
    TONES,
    counted_verdicts,
    details,
    our_numbers,
    published_rows,
    summary,
    verdict_text,
    verdict_word,
    verdicts,
    worlds,
)
from lab.papers.published import PAPERS
from lab.papers.registry import WORLDS, Claim, Item
from lab.papers.verdicts import UNKNOWN
from lab.show import plots

STYLE, SCRIPT = plots.SCRIPTS / "gallery.css", plots.SCRIPTS / "gallery.js"
# The filters: what is asked of an item, by the name in the page's address.
FILTERS: dict[str, Callable[[Item], Iterable[str]]] = {
    "paper": lambda item: [item.paper],
    "kind": lambda item: [item.item.split()[0].lower()],
    "world": worlds,
    "verdict": verdicts,
}


def page(all_items: list[Item], how: str) -> str:
    """The whole page; `how` says how a verdict is made."""
    parts = [
        "<!doctype html>",
        "<html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        "<meta name='color-scheme' content='light dark'>",
        f"<title>The papers, figure by figure</title><style>{STYLE.read_text()}</style></head>",
        "<body><a class='skip' href='#contents'>Skip to the contents</a>",
        "<header><h1>The papers, figure by figure</h1>",
        "<p>What two papers on reinforcement learning with verifiable rewards publish, and beside"
        " it what was measured here: claims, values, settings and the commands behind them.</p>",
        "<details><summary>How a verdict is made</summary>"
        f"<p>{escape(' '.join(how.split()))}</p></details></header>",
        *_filters(all_items),
        *_contents(all_items),
        "<main>",
    ]
    for paper, archive in PAPERS.items():
        address = f"https://arxiv.org/abs/{archive.removeprefix('arXiv ')}"
        parts.append(f"<section><h2>{paper} <small><a href='{address}'>{archive}</a></small></h2>")
        for item in all_items:
            if item.paper == paper:
                parts += _article(item)
        parts.append("</section>")
    parts += ["</main>", f"<script>\n{SCRIPT.read_text()}</script>", "</body></html>"]
    return "\n".join(parts) + "\n"


def _filters(all_items: list[Item]) -> Iterator[str]:
    """The form: for each filter a box a value, with the number of items that have it."""
    yield (
        "<form id='filters' role='search' aria-label='Figures and tables' autocomplete='off'"
        " hidden>"
    )
    for name, values in FILTERS.items():
        count = Counter(value for item in all_items for value in values(item))
        yield f"<fieldset><legend>{name}</legend>"
        for value in _ordered(count):
            yield (
                f"<label><input type='checkbox' name='{name}' value='{escape(value)}'>"
                f"{escape(value)} <small>{count[value]}</small></label>"
            )
        yield "</fieldset>"
    yield (
        "<div class='find'><label for='words'>words</label><input type='search' id='words' name='q'"
        " placeholder='entropy, AIME, pass@128'><button type='button'>clear</button>"
        "<p role='status'></p></div></form>"
    )


def _ordered(values: Iterable[str]) -> list[str]:
    """Values of a filter in the order in which the lab names them; others follow as they came."""
    order = [*PAPERS, "figure", "table", *WORLDS, *TONES]
    return sorted(values, key=lambda value: order.index(value) if value in order else len(order))


def _contents(all_items: list[Item]) -> Iterator[str]:
    """How often each verdict was reached, then every item with its verdict."""
    counts = {
        paper: Counter(
            word for item in all_items if item.paper == paper for word in counted_verdicts(item)
        )
        for paper in PAPERS
    }
    yield "<nav id='contents' aria-label='Contents'><h2>Contents</h2><table class='counts'>"
    yield "<caption>Verdicts on claims; a figure or table without one counts once</caption>"
    yield f"<thead><tr><th>verdict{''.join(f'<th>{paper}' for paper in PAPERS)}</thead><tbody>"
    for word in _ordered(set().union(*counts.values())):
        numbers = "".join(f"<td>{count[word]}" for count in counts.values())
        yield f"<tr><th scope='row'>{_verdict(word)}{numbers}"
    yield "</tbody></table>"
    for paper in PAPERS:
        yield f"<div><h3>{paper}</h3><ol>"
        for item in all_items:
            if item.paper == paper:
                yield (
                    f"<li data-item='{item.key}'><a href='#{item.key}'>{item.item}</a> "
                    f"<span>{escape(item.title)}</span> {_verdict(summary(item))}</li>"
                )
        yield "</ol></div>"
    yield "</nav>"


def _article(item: Item) -> Iterator[str]:
    asked = " ".join(
        f"data-{name}='{escape('|'.join(_ordered(values(item))))}'"
        for name, values in FILTERS.items()
    )
    yield (
        f"<article id='{item.key}' aria-labelledby='{item.key}-title' {asked}>"
        f"<h3 id='{item.key}-title'>{item.paper} {item.item}: {escape(item.title)}</h3>"
        f"<p class='tags'>{_verdict(summary(item))} <span>{', '.join(worlds(item))}</span>"
        " <a href='#contents'>contents</a></p>"
    )
    for name in item.drawn:
        yield _picture(name)
    if item.compare:
        yield from _claims(item)
    if tables.has_table(item):
        yield from _table(item)
    if item.printed:
        yield from _printed(item)
    yield "<dl>"
    yield from (f"<dt>{name}<dd>{_with_code(text)}" for name, text in details(item))
    if item.also:
        links = ", ".join(f"<a href='{name}.png'>{name}</a>" for name in item.also)
        yield f"<dt>See also<dd>{links}"
    yield "</dl>"
    if item.runs:
        runs = "".join(
            f"<li><code>{escape(id)}</code>: <code>{escape(run['command'])}</code>"
            for id, run in sorted(item.runs.items())
        )
        yield f"<details><summary>{len(item.runs)} runs</summary><ul>{runs}</ul></details>"
    yield "</article>"


def _picture(name: str) -> str:
    record = plots.figure_record(name)
    assert record is not None, name  # `name` is one of those drawn
    caption = escape(record["caption"])
    # A PNG file holds its width and height in bytes 16 to 23. Half of them suit a screen.
    head = (plots.out_folder() / f"{name}.png").read_bytes()[16:24]
    width, height = (int.from_bytes(part, "big") // 2 for part in (head[:4], head[4:]))
    return (
        f"<figure><div class='scroll'><a href='{name}.pdf'><img src='{name}.png' width='{width}'"
        f" height='{height}' style='--width:{width}px' alt='{caption}' loading='lazy'></a></div>"
        f"<figcaption>{caption} <a href='{name}.csv'>data of {name}</a>,"
        f" <a href='{name}.txt'>caption of {name}</a></figcaption></figure>"
    )


def _claims(item: Item) -> Iterator[str]:
    """The claims, each with its numbers; on a phone each is a card, labelled by its head."""
    head = ("claim", "published", "ours", "verdict")
    yield "<table class='claims'><thead><tr>" + "".join(f"<th>{name}" for name in head)
    yield "</thead><tbody>"
    for claim in item.compare:
        remark = escape(verdict_text(claim).removeprefix(verdict_word(claim.verdict)))
        cells = (
            escape(claim.claim),
            _published(item, claim),
            "<br>".join(map(escape, our_numbers(claim))),
            _verdict(verdict_word(claim.verdict)) + remark,
        )
        yield "<tr>" + "".join(
            f"<td data-head='{name}'><div>{cell}</div>"
            for name, cell in zip(head, cells, strict=True)
        )
    yield "</tbody></table>"


def _published(item: Item, claim: Claim) -> str:
    """A quotation, or the cells of a table, one a line."""
    text = escape(item.published_text(claim))
    return text if isinstance(claim.published, str) else text.replace("; ", "<br>")


def _table(item: Item) -> Iterator[str]:
    """The item's table in a box that scrolls; where none of it is ours, the last row says so."""
    head, *body = tables.lines(item)
    words, mark = tables.text_columns(item), tables.mark_column(item)
    measured = bool(item.ours or not item.layout)
    classes = ["number" if column >= words else "words" for column in range(len(head))]
    classes[mark] = "mark"
    name = f"table_{item.key}"
    yield f"<p class='caption'>{escape(tables.caption(item))} <a href='{name}.md'>Markdown</a>,"
    yield f"<a href='{name}.tex'>LaTeX</a></p>"
    yield _box(f"{item.paper} {item.item}")
    shown = [column for column in range(len(head)) if measured or column != mark]
    yield "".join(f"<th class='{classes[column]}'>{escape(head[column])}" for column in shown)
    yield "</thead><tbody>"
    for line in body:
        yield f"<tr class='{line[mark]}'><th scope='row'>{escape(line[0])}"
        yield "".join(
            f"<td class='{classes[column]}'>{escape(line[column])}" for column in shown[1:]
        )
    if not measured:
        yield f"<tr class='missing'><th scope='row'>ours<td colspan='{len(shown) - 1}'>{UNKNOWN}"
    yield "</tbody></table></div>"


def _printed(item: Item) -> Iterator[str]:
    """The values that the paper prints beside its picture."""
    yield f"<p class='caption'>Printed in the paper ({escape(item.printed)}). Ours: "
    yield f"{UNKNOWN if item.missing else 'in the claims above'}.</p>"
    yield _box(f"{item.printed} of {item.paper}")
    yield "<th>method<th>benchmark<th>metric<th>published</thead><tbody>"
    for first, *others in published_rows(item):
        yield f"<tr><th scope='row'>{escape(first)}"
        yield "".join(f"<td>{escape(cell)}" for cell in others)
    yield "</tbody></table></div>"


def _box(name: str) -> str:
    """The start of a table in a box that scrolls, also by keys."""
    return (
        f"<div class='scroll' role='region' tabindex='0' aria-label='{escape(name)}, table'>"
        "<table class='values'><thead><tr>"
    )


def _verdict(verdict: str) -> str:
    tone = TONES.get(verdict_word(verdict), "plain")
    return f"<span class='verdict {tone}'>{escape(verdict)}</span>"


def _with_code(text: str) -> str:
    """A text as HTML; what is in `backticks` becomes code."""
    return "".join(
        f"<code>{escape(part)}</code>" if number % 2 else escape(part)
        for number, part in enumerate(text.split("`"))
    )
