"""Lessons alive on the web: scenes of the explorer beside their ideas, guesses made on the page,
and recorded mazes that a slider moves through their training.

course.toml says which. A guess is a probability that _static/course.js keeps on the reader's
machine; at the end of a lesson it draws how often claims held that the reader was so sure of.
"""

from __future__ import annotations

import json
import re
import tomllib
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_markdown_cell

from lab import runs
from lab.show import rate_flow

COURSE = tomllib.loads((Path(__file__).parent / "course.toml").read_text(encoding="utf-8"))
TOLD = re.compile(
    r"you said nothing; |; you said (?:nothing|None)|^(?:you +said|of the eight pairs you).*\n",
    re.M,
)
OWN_CLAIMS = re.compile(r"Of our own (\d+) hold, (\d+) do not")
FRAME = """<iframe class="explorer" loading="lazy" src="../explorer.html?embed#{scene}"
 title="A scene of the explorer: {scene}"></iframe>"""
GUESS = """<div class="guess" data-claim="{name}" data-holds="{holds}">
<p>{says}</p>
<details><summary>What was found</summary><p><strong>{verdict}.</strong> {because}</p></details>
</div>"""
ASKED = "<p>On this page: say how sure you are of each, then open what was found.</p>"
FLOW = """<section class="flow" aria-label="Where 192 mazes went, step by step">
<script type="application/json">{records}</script>
</section>"""
TRAININGS = {"exact ML": "ml", "MaxRL": "maxrl", "GRPO": "grpo", "RLOO": "rloo"}
SCORE = '<section class="calibration" data-hold="{}" data-fail="{}"></section>'


def add(source: Path) -> None:
    """Put scenes and guesses into the copies of notebooks below `source`, and the score."""
    score = score_of((source / "README.md").read_text(encoding="utf-8"))
    for path in sorted((source / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = alive(notebook.cells, path.stem, score)
        nbformat.write(notebook, path)
    with open(source / "lessons.md", "a", encoding="utf-8") as page:
        page.write(f"\n\n{raw(score)}\n")


def score_of(readme: str) -> str:
    """The place of the reader's score, beside that of the authors' own claims."""
    (counts,) = OWN_CLAIMS.findall(readme)
    return SCORE.format(*counts)


def raw(html: str) -> str:
    """HTML as it is in a page of MyST."""
    return f"```{{raw}} html\n{html}\n```"


def alive(cells: list[Any], lesson: str, score: str) -> list[Any]:
    """The cells of a lesson with what COURSE has for it.

    Code that only draws is folded, and nobody is told that they said nothing.
    """
    course = COURSE.get(lesson, {})
    scenes, claims = course.get("scenes", {}), course.get("claims", [])
    lively = []
    for cell in cells:
        for output in cell.get("outputs", []):
            if "text" in output:
                output.text = TOLD.sub("", output.text)
        if (
            cell.cell_type == "code"
            and "plots.panels(" in cell.source
            and "def " not in cell.source
        ):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]  # it draws
        if claims and cell.source.startswith("my_guess = "):
            cell = new_markdown_cell(raw(ASKED + "\n".join(guesses(lesson, claims))))
        lively.append(cell)
        for heading, scene in scenes.items():
            if heading in cell.source:
                lively.append(new_markdown_cell(raw(FRAME.format(scene=scene))))
        if course.get("flow", "\0") in cell.source:
            lively.append(new_markdown_cell(raw(flow())))
    return [*lively, new_markdown_cell(raw(score))] if claims else lively


def flow() -> str:
    """What lesson 21 draws as lines, for a slider: log-odds by training, record and maze."""
    every = runs.results_of_every_record("maze_exact", "maze").groups
    every = every.query("gradient != 'expected' and seed == 0")
    odds = every.assign(odds=rate_flow.log_odds(every["pass_rate"].to_numpy()).round(4))
    trainings = {
        title: odds.query("estimator == @name").pivot(index="step", columns="problem")["odds"]
        for title, name in TRAININGS.items()
    }
    moves = every.drop_duplicates("problem").sort_values("problem")["moves"]
    frames = {title: table.to_numpy().tolist() for title, table in trainings.items()}
    steps = trainings["exact ML"].index.tolist()
    records = {"steps": steps, "moves": moves.tolist(), "trainings": frames}
    return FLOW.format(records=json.dumps(records, separators=(",", ":")))


def guesses(lesson: str, claims: list[dict[str, Any]]) -> list[str]:
    """Each claim of a lesson as HTML, numbered from 1."""
    return [
        GUESS.format(
            name=f"{lesson}/{number}",
            holds=int(claim["holds"]),
            says=escape(claim["says"]),
            verdict="It holds" if claim["holds"] else "It does not",
            because=escape(claim["because"]),
        )
        for number, claim in enumerate(claims, 1)
    ]
