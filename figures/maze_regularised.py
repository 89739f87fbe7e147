"""Does GRPO keep its coverage on mazes when its entropy is looked after?"""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """A KL penalty towards its start lets GRPO keep its coverage, within 0.1 of MaxRL;
whether an entropy bonus helps by more than 0.05 is undecided. pass@1 was not tested. GRPO with an
entropy bonus and with a KL penalty towards its start, each of the strength that a rule chose
(sweeps/maze_regularised_rates.toml, written with the claims before the runs), beside MaxRL and GRPO
without either: mazes of 9x9 never trained on, 640 steps of 16 mazes x 32 rollouts, exact pass rates
of 64 held-out mazes. (a) Where each coefficient ends, mean of two seeds; a ring marks the chosen
ones; the dotted line is the least pass@1 that the rule allows. (b, c) By step, mean of six fresh
starts; bands: 95% intervals."""

SWEEPS = ("maze_regularised_rates", "maze_regularised")
RATES_SEEDS = (90, 91)
# Where a coefficient stands beside its mark, in points.
REMEDIES = {"entropy_bonus": (5, -10), "kl": (6, 2)}
METRICS = ("pass@1", "pass@128")
TUNING = "by coefficient"
GIVEN_UP = 0.03  # of GRPO's pass@1, at most


def records() -> Results:
    return together([results(sweep, "maze") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    runs = recorded.metrics
    tuning = runs["seed"].isin(RATES_SEEDS)
    tried = runs[tuning & (runs["step"] == runs["steps"])]
    means = tried.groupby(["estimator", *REMEDIES], as_index=False)[[*METRICS]].mean()
    judged = replace(recorded, metrics=runs[~tuning])
    curves = judged.each_over_seeds(METRICS, ["estimator", *REMEDIES])
    return pd.concat([means.assign(metric=TUNING), curves], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.6)
    tried, curves = table[table["metric"] == TUNING], table[table["metric"] != TUNING]
    plain = tried[(tried[[*REMEDIES]] == 0).all(axis=1)].iloc[0]
    for remedy, beside in REMEDIES.items():
        with_it = tried[tried[remedy] > 0].sort_values(remedy)
        style = plots.method_style(with_it.iloc[0])
        path = pd.concat([plain.to_frame().T, with_it])
        axes[0].plot(path["pass@1"], path["pass@128"], marker=style.marker, **style.line)
        for _, row in path.iloc[1:].iterrows():
            place = (row["pass@1"], row["pass@128"])
            told = {"textcoords": "offset points", "color": style.ink}
            axes[0].annotate(f"{row[remedy]:g}", place, beside, **told)
            if row[remedy] == curves[remedy].max():
                axes[0].plot(*place, "o", color=plots.BLACK, markersize=9, markerfacecolor="none")
    axes[0].plot(plain["pass@1"], plain["pass@128"], "o", color=plots.line_style("grpo").color)
    axes[0].axvline(plain["pass@1"] - GIVEN_UP, color=plots.GREY, linestyle=":")
    axes[0].margins(0.12)
    axes[0].set(title="coefficients", xlabel="pass@1", ylabel="pass@128")
    for panel, metric in zip(axes[1:], METRICS, strict=True):
        for _, part in curves[curves["metric"] == metric].groupby(["estimator", *REMEDIES]):
            plots.curve(panel, part, "step", "mean", plots.method_style(part.iloc[0]))
        panel.set(title=metric, xlabel="step")
    plots.letter(axes)
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure
