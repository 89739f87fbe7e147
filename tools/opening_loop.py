"""Draw the README's moving picture, docs/explorer/opening.svg: `make pictures`.

It is the explorer's first screen as a loop of eight seconds: the same run twice, with the slider at
its left end and at its right one. The numbers are those of `lab.toy.paired`, as on the page
(tests/test_explorer_story.py compares all three). Its ground is light or dark as the reader's page
is; who asks for less motion sees the end of the run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.toy import paired

FILE = Path(__file__).resolve().parents[1] / "docs" / "explorer" / "opening.svg"
# The run of the first screen (lab/explorer/front/scene_start.js).
RUN: dict[str, Any] = dict(problems=60, rollouts=16, steps=200, step_length=0.05, seed=0)
HARD = 15
PANELS = {
    "alpha(alpha=0)": "Right answers count the same",
    "alpha(alpha=1)": "Rare right answers count more",
}
BEGINS, ENDS = 5, 78  # the run's place in the loop, in percent; its end is held
EVERY = 5  # rounds between two places of a dot; browsers draw what lies between
LEFT, PANEL, APART, TOP, BASE = 82, 372, 36, 58, 318  # in a picture of 880 by 400
TITLE = """60 problems that a model practises, drawn as dots, as high as it solves them often. Twice
the same 200 rounds of 16 tries at each problem."""
STYLE = f"""
svg {{ --ground: #ffffff; --ink: #1c1e21; --muted: #4d525a; --line: #e3e5e9; --edge: #868b94;
  --band: #f4f5f7; --hard: #c42d08; --rest: #5d626b; font: 20px system-ui, -apple-system,
  "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }}
@media (prefers-color-scheme: dark) {{ svg {{ --ground: #16181c; --ink: #eceef1; --muted: #a9afba;
  --line: #2f333a; --edge: #767c87; --band: #1f2227; --hard: #ff8a4c; --rest: #a2a8b3; }} }}
text {{ fill: var(--muted); }} .name {{ fill: var(--ink); font-weight: 650; font-size: 21px; }}
.told {{ fill: var(--hard); font-weight: 650; }} .end {{ text-anchor: end; }}
.ground {{ fill: var(--ground); stroke: var(--line); }} .bar {{ fill: var(--edge); }}
.band {{ fill: var(--band); }} .grid {{ stroke: var(--line); }} .axis {{ stroke: var(--edge); }}
.hard {{ fill: var(--hard); }} .rest {{ fill: var(--rest); }} .stem {{ opacity: 0.35; }}
circle, .stem, .told, .bar {{ animation: 8s linear infinite; }}
.told {{ animation-name: told; }}
.bar {{ animation-name: bar; transform-box: fill-box; transform-origin: left; }}
@media (prefers-reduced-motion: reduce) {{ circle, .stem, .told, .bar {{ animation: none; }} }}
@keyframes told {{
  0%, {ENDS}% {{ opacity: 0 }} {ENDS + 2}%, 96% {{ opacity: 1 }} 98%, to {{ opacity: 0 }}
}}"""


def keyframes(name: str, values: list[str]) -> str:
    """A rule of CSS that moves something through `values` during the run."""
    places = np.linspace(BEGINS, ENDS, len(values)).tolist()
    stops = zip(
        [0, *places, 96, 98, 100], [values[0], *values, values[-1], *2 * values[:1]], strict=True
    )
    return f"@keyframes {name}{{{''.join(f'{at:.4g}%{{transform:{to}}}' for at, to in stops)}}}"


def dot(name: str, kind: str, x: float, y: NDArray[np.float64]) -> tuple[str, str]:
    """The rules and the elements, standing at the end, of a problem whose heights are `y`."""
    by = y[::EVERY] - y[0]
    moves, grows = [f"translateY({d:.1f}px)" for d in by], [f"scaleY({d:.1f})" for d in by]
    return keyframes(f"d{name}", moves) + keyframes(f"s{name}", grows), (
        f'<g transform="translate({x:.1f} {y[0]:.1f})"><rect class="stem {kind}" x="-0.8"'
        f' width="1.6" height="1" style="transform:{grows[-1]};animation-name:s{name}"/>'
        f'<circle class="{kind}" r="3.4" style="transform:{moves[-1]};animation-name:d{name}"/></g>'
    )


def panel(left: float, name: str, p: NDArray[np.float64]) -> tuple[list[str], list[str]]:
    """The rules and the elements of one run; `p` are pass rates, "rounds problems"."""
    each = (PANEL - 12) / p.shape[1]
    x, y = left + 6 + each * (np.arange(p.shape[1]) + 0.5), BASE - p * (BASE - TOP)
    solved = int((p[-1, :HARD] > 0.5).sum())
    high = f'y="{TOP - 8}" height="{BASE - TOP + 8}"'
    ground = [
        f'<rect class="band" x="{left}" {high} width="{6 + each * HARD:.1f}"/>',
        *(f'<path class="grid" d="M{left} {y}h{PANEL}"/>' for y in (TOP, (TOP + BASE) / 2)),
        f'<path class="axis" d="M{left} {BASE}h{PANEL}"/>',
        f'<text class="name" x="{left}" y="34">{name}</text>',
        f'<text x="{left}" y="{BASE + 24}">the {HARD} hardest</text>',
        f'<text class="end" x="{left + PANEL}" y="{BASE + 24}">easier →</text>',
        f'<text class="told" x="{left}" y="{BASE + 52}">{solved} of them solved at the end</text>',
    ]
    kinds = ["hard"] * HARD + ["rest"] * (p.shape[1] - HARD)
    dots = [dot(f"{left}-{i}", kinds[i], x[i], y[:, i]) for i in range(p.shape[1])]
    return [rules for rules, _ in dots], ground + [elements for _, elements in dots]


def drawn() -> str:
    """The picture as the text of an SVG file."""
    runs = paired.pass_rates(list(PANELS), **RUN)  # "panels rounds problems"
    lefts = [LEFT + k * (PANEL + APART) for k in range(len(runs))]
    parts = [panel(*one) for one in zip(lefts, PANELS.values(), runs, strict=True)]
    heights = {"always": TOP, "half": (TOP + BASE) / 2, "never": BASE}
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 400" role="img">',
            f"<title>{TITLE}</title>",
            f"<style>{STYLE}",
            keyframes("bar", ["scaleX(0)", "scaleX(1)"]),
            *(rule for rules, _ in parts for rule in rules),
            "</style>",
            '<rect class="ground" x="0.5" y="0.5" width="879" height="399" rx="8"/>',
            *(
                f'<text class="end" x="{LEFT - 8}" y="{y + 6}">{word}</text>'
                for word, y in heights.items()
            ),
            *(element for _, elements in parts for element in elements),
            f'<rect class="bar" x="{LEFT}" y="390" width="{PANEL * 2 + APART}" height="2"/>',
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    FILE.write_text(drawn(), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")
