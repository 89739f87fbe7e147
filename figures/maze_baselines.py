"""MaxRL Table 3 and Figure 18 at laptop scale: MaxRL beside the baselines of other papers."""

from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab.papers.published import printed_share
from lab.runs import Results, results
from lab.show import plots

CAPTION = """Mean pass@128 ends above the supervised start for MaxRL and SELF, and below it for the
other methods. MaxRL beside other methods (MaxRL Table 3 and Figure 18): pass@k on 128 held-out 9x9
mazes after 160 steps, filled, with a line from the lower to the higher of 2 seeds; open marks: the
published values at 17x17, pass@1, @128 and @256 (here @1, @32 and @128), after far longer training.
All from the same supervised start, dotted. Entropy bonus 0.01 and smoothing 0.05 were not tuned;
the paper states neither."""

METHODS = {
    "maxrl": "MaxRL",
    "pkpo(k=16)": "PKPO (T = 16)",
    "grpo": "GRPO",
    "entropy": "GRPO, entropy bonus",
    "self": "SELF",
    "smoothing": "Differential smoothing",
}
LOOKS = [plots.VARIANT_STYLES.get(key) or plots.line_style(key) for key in METHODS]
PRINTED = {
    "PKPO (T = 16)": "PKPO (T=16)",
    "GRPO, entropy bonus": "GRPO (with entropy bonus)",
    "Differential smoothing": "Differential Smoothing",
}  # as the paper names them
KS = [1, 32, 128]
PUBLISHED_KS = [1, 128, 256]


def records() -> Results:
    return results("maze_baselines", "maze")


def method(row: Any) -> str:
    """The method of a run, by the settings that set it apart."""
    changed = {
        "entropy": row.entropy_bonus > 0,
        "smoothing": row.smoothing > 0,
        "self": row.greedy_filter,
    }
    return METHODS[next((name for name, on in changed.items() if on), row.objective)]


def table(recorded: Results) -> pd.DataFrame:
    methods = [method(row) for row in recorded.groups.itertuples()]
    measured = replace(recorded, groups=recorded.groups.assign(method=methods)).pass_at_k(
        KS, ["method"]
    )
    measured["published k"] = measured["k"].map(dict(zip(KS, PUBLISHED_KS, strict=True)))
    measured["published"] = [
        printed_share("MaxRL", "Table 3", PRINTED.get(name, name), f"pass@{k}")
        for name, k in zip(measured["method"], measured["published k"], strict=True)
    ]
    places = {name: place for place, name in enumerate(METHODS.values())}
    first = recorded.metrics[recorded.metrics["step"] == 0].groupby("seed").first()
    start = pd.DataFrame({"k": KS, "pass@k": [first[f"pass@{k}"].mean() for k in KS]})
    return pd.concat(
        [
            measured.assign(place=measured["method"].map(places)),
            start.assign(method="supervised start"),
        ],
        ignore_index=True,
    )


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=len(KS), width=plots.PAGE, height=2.6, sharey=True)
    start = plots.REFERENCE_STYLES["start"]
    for panel, k, published_k in zip(axes, KS, PUBLISHED_KS, strict=True):
        part = table[table["k"] == k].set_index("method")
        for name, style in zip(METHODS.values(), LOOKS, strict=True):
            row = part.loc[name]
            panel.plot(row["pass@k"], row["place"], style.marker, color=style.color)
            seeds = row.filter(like="seed ").astype(float)
            panel.hlines(row["place"], seeds.min(), seeds.max(), color=style.color, linewidth=1)
            # A little above ours, so that neither hides the other.
            panel.plot(row["published"], row["place"] - 0.25, style.marker, **style.published)
        panel.axvline(part.loc["supervised start", "pass@k"], **start.line)
        title = f"pass@{k}" + ("" if k == published_k else f"\n(published: @{published_k})")
        panel.set(title=title, xlim=(0, 1.03), xlabel="share of mazes", ylim=(5.5, -0.6))
        panel.set_yticks(range(len(METHODS)), METHODS.values())
    plots.letter(axes)
    marks = {"linestyle": "none", "marker": "o", "color": plots.GREY}
    handles = [
        Line2D([], [], **marks),
        Line2D([], [], **marks | {"markerfacecolor": "white"}),
        Line2D([], [], **start.line),
    ]
    figure.legend(
        handles,
        ["ours, 9x9; line: between seeds", "published, 17x17", "supervised start, 9x9"],
        loc="outside lower center",
        ncols=3,
    )
    return figure
