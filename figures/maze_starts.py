"""Two sweeps of one setting: why does MaxRL end higher on six starts than on five others?"""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """MaxRL's pass@1 on 64 held-out mazes of 9x9, the same for all seeds: the five seeds
of maze_long and the six of maze_long_again, with the same settings and learning rate. (a) Each seed
while it trains, (b) at the end against its start, (c) at the end against what GRPO reaches from the
same start with mazes in the same order. The starts differ by 0.008 in the mean; the gap of 0.19
opens after step 320."""

LOOKS = {
    "maze_long": {"color": plots.BLACK, "marker": "o"},
    "maze_long_again": {"color": plots.RED, "marker": "^"},
}


def records() -> Results:
    return together([results(sweep, "maze") for sweep in LOOKS])


def table(recorded: Results) -> pd.DataFrame:
    del recorded  # names the sources; a seed does not say which sweep it is of
    parts = [results(sweep, "maze").metrics.assign(sweep=sweep) for sweep in LOOKS]
    both = pd.concat(parts)
    both = both[both["estimator"].isin(("maxrl", "grpo"))]
    return both[["sweep", "estimator", "seed", "step", "pass@1", "pass@128"]]


def draw(table: pd.DataFrame) -> Figure:
    figure, (curves, starts, ends) = plots.panels(
        columns=3, width=plots.PAGE, height=2.6, sharey=True
    )
    for sweep, look in LOOKS.items():
        of_sweep = table[table["sweep"] == sweep]
        rates = of_sweep.pivot(index=["estimator", "seed"], columns="step", values="pass@1")
        maxrl, grpo = rates.loc["maxrl"], rates.loc["grpo"]
        curves.plot(maxrl.columns, maxrl.T, markersize=3, linewidth=0.8, **look)
        starts.plot(maxrl[0], maxrl[640], linestyle="none", label=sweep, **look)
        ends.plot(grpo[640], maxrl[640], linestyle="none", **look)
    ends.axline((0, 0), slope=1, color=plots.GREY, linewidth=0.6)
    curves.set(xlabel="step", ylabel="MaxRL, pass@1", ylim=(0, 0.8), title="while it trains")
    starts.set(xlabel="pass@1 of the start", title="at the end")
    ends.set(xlabel="GRPO at the end", xlim=(0, 0.8), title="at the end; line: as GRPO")
    plots.letter((curves, starts, ends))
    figure.legend(*starts.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
