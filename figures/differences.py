"""Every paired difference behind a verdict, with its interval and P(improvement)."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab.papers.registry import Claim, Item, items
from lab.papers.verdicts import FAILS, HOLDS, UNDECIDED, Step
from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """Of the claims of the two papers that are tested, those on pass rates and other
shares: each step of a claimed order, as a paired difference over seeds and, where they vary,
problems, (a) with its 95% interval, and (b) with the probability of improvement on one seed and
problem. Filled: the step holds at 5% after Holm's correction over all tests of the same paper;
crossed: it does not hold; open: undecided, whatever the mean says."""

WORLDS = {
    "images": "images",
    "maze": "mazes",
    "gsm8k": "LM",
    "pacs": "LM",
}
MARKS = {
    HOLDS: {"marker": "o", "color": "black"},
    FAILS: {"marker": "X", "color": plots.RED},
    UNDECIDED: {"marker": "o", "color": "black", "markerfacecolor": "white"},
}


def records() -> Results:
    tested = [claim for item in items() for claim in item.compare if claim.expects]
    sources = {place.partition(": ")[0] for claim in tested for place in claim.ours.values()}
    return together([results(*one.split("/")) for one in sorted(sources) if "/" in one])


def label(item: Item, claim: Claim, step: Step) -> str:
    """A step in a few words: where it is claimed, in which world, of which quantity."""
    place, metric = claim.ours[step.left].split(" where ")[0].split(": ")
    where = f"{item.paper} {item.item}".replace("Figure", "Fig.").removeprefix("MaxRL ")
    what = metric.removeprefix("record ").removesuffix(" at the start")
    left, right = (name.removesuffix(f", {what}") for name in (step.left, step.right))
    numbers = left if right == "0" else f"{what}: {left} - {right}"
    return f"{where}, {WORLDS[place.split('/')[1]]}, {numbers}"


def table(recorded: Results) -> pd.DataFrame:
    rows = []
    for item in items():
        for claim in item.compare:
            for step, verdict in claim.verdicts_of_steps:
                if step.comparison is None or not step.is_of_shares:
                    continue
                difference = step.comparison.difference
                better = step.comparison.probability_of_improvement
                rows.append(
                    (
                        len(rows),
                        label(item, claim, step),
                        *(difference.point, difference.low, difference.high),
                        *(better.point, better.low, better.high),
                        difference.over,
                        verdict,
                    )
                )
    columns = ["place", "step", "difference", "low", "high", "better", "better low", "better high"]
    return pd.DataFrame(rows, columns=[*columns, "over", "verdict"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(
        columns=2,
        width=plots.PAGE,
        height=0.5 + 0.165 * len(table),
        sharey=True,
        width_ratios=[5, 3],
    )
    for panel, (middle, low, high) in zip(
        axes,
        (("difference", "low", "high"), ("better", "better low", "better high")),
        strict=True,
    ):
        panel.hlines(table["place"], table[low], table[high], color="#777777", linewidth=1)
        for verdict, mark in MARKS.items():
            rows = (table["verdict"] == verdict).to_numpy()
            panel.plot(table[middle][rows], table["place"][rows], linestyle="none", **mark)
    axes[0].axvline(0, color="black", linewidth=0.6)
    axes[1].axvline(0.5, color="black", linewidth=0.6)
    axes[0].set(xlim=(-1.03, 1.03), title="paired difference")
    axes[1].set(xlim=(-0.06, 1.06), title="P(improvement)", xticks=[0, 0.5, 1])
    axes[0].set_yticks(table["place"], table["step"], fontsize=6)
    axes[0].set_ylim(len(table) - 0.5, -0.5)
    axes[0].grid(visible=False, axis="y")
    plots.letter(axes)
    marks = [Line2D([], [], linestyle="none", label=name, **mark) for name, mark in MARKS.items()]
    figure.legend(handles=marks, loc="outside lower center", ncols=3)
    return figure
