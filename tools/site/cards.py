"""The claims of docs/results.md as cards: the verdict as a chip, the effect as a dot on a line, one
sentence; what was measured, published and set opens on a click.
"""

from __future__ import annotations

import re

CLAIM = re.compile(
    r"^- \*\*(?P<verdict>[^*]+)\*\*(?P<aside>[^:]*): (?P<sentence>.*?)<br>\n"
    r"  (?P<measured>.*)<br>\n  (?P<rest>.*)\n",
    re.MULTILINE,
)
EFFECT = re.compile(r"(?:\(margin ([\d.]+)\) )?([+-][\d.,]+) \[([+-][\d.,]+), ([+-][\d.,]+)\], p")
CHIPS = {
    "holds": "success",
    "shown": "success",
    "does not hold": "danger",
    "undecided": "secondary",
}
SAID = """A card opens by a click. The dot is the first effect that was tested, the line its
interval, the tick zero, the dotted ticks the margin that was named; each line has its own scale."""
WIDTH, HEIGHT = 120, 18  # of the line, in pixels
LINK = re.compile(r"\[\w+\]\([^)]*\)")
CARD = """::::{{dropdown}} {{bdg-{colour}}}`{verdict}` {sentence} {line}
{aside}{measured}<br>{links}

{rest}
::::

"""


def cards(page: str) -> str:
    """The page with a card in place of each claim, and what they show said above the first."""
    return CLAIM.sub(_card, page).replace(": the claims\n", f": the claims\n\n{SAID}\n", 1)


def _card(claim: re.Match[str]) -> str:
    aside = claim["aside"].strip(" ()")
    facts = claim.groupdict() | {
        "aside": f"*{aside}*<br>" if aside else "",
        "sentence": re.sub(rf" \({LINK.pattern}(?:, {LINK.pattern})*\)", "", claim["sentence"]),
        "links": ", ".join(LINK.findall(claim["sentence"])),
    }
    line = _line(claim["measured"])
    return CARD.format(**facts, colour=CHIPS[claim["verdict"]], line=line)


def _line(measured: str) -> str:
    """The first effect of a claim with its interval, beside zero and the margin; "" without one."""
    match = EFFECT.search(measured)
    if match is None:
        return ""
    margin, effect, low, high = (float((text or "0").replace(",", "")) for text in match.groups())
    most = 1.1 * max(abs(low), abs(high), margin)

    def x(value: float) -> str:
        return f"{WIDTH / 2 * (1 + value / most):.1f}"

    marks = "".join(
        f'<path class="{name}" d="M{x(value)} 1V{HEIGHT - 1}"/>'
        for name, value in (("zero", 0), *(("margin", side * margin) for side in (-1, 1) if margin))
    )
    y = HEIGHT // 2
    return (
        f'<svg class="effect" role="img" width="{WIDTH}" height="{HEIGHT}"'
        f' aria-label="{effect:+g}, 95% from {low:+g} to {high:+g}">{marks}'
        f'<path d="M{x(low)} {y}H{x(high)}"/><circle cx="{x(effect)}" cy="{y}" r="3.5"/></svg>'
    )
