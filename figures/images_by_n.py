"""Images from one success in a thousand: what each objective makes of more rollouts."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """More rollouts take MaxRL towards exact maximum likelihood, GRPO a little way, and
REINFORCE nowhere. 1,000 procedural classes from a pass rate of about 1/1000, SGD, 300 steps of 128
images, each objective at its best of six learning rates for its N, by a rule written before on
validation images (sweeps/images_rates_by_n.toml). After the last step, on test images: (a) pass@1,
(b) pass@128, which guessing brings to 0.12; both on a log-odds scale, by the rollouts of an image
and step. Lines: mean of 10 seeds (of 5 for N = 16 and for REINFORCE with N = 4,096); strokes: each
seed. The claims in sweeps/images_by_n.toml were written before these runs."""

SWEEPS = (("images_best", "images"), ("images_by_n", "images"))
NAMES = ("maxrl", "grpo", "reinforce_mean")
PANELS = ("pass@1", "pass@128")


def records() -> Results:
    return together([results(sweep, name) for sweep, name in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    curves = recorded.each_over_seeds(PANELS, ["objective", "rollouts"])
    return curves[curves["step"] == curves["step"].max()].sort_values(["metric", "rollouts"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=2, width=plots.PAGE, height=2.8)
    for panel, metric in zip(axes, PANELS, strict=True):
        shown = table[table["metric"] == metric]
        exact = plots.line_style("ml")
        [limit] = shown.loc[shown["objective"] == "ml", "mean"]
        panel.axhline(limit, label="cross-entropy (exact ML)", **exact.line)
        for name in NAMES:
            part, style = shown[shown["objective"] == name], plots.line_style(name)
            N = part["rollouts"]
            panel.plot(N, part["mean"], marker=style.marker, label=style.label, **style.line)
            for seed in part.filter(like="seed "):
                panel.plot(N, part[seed], "_", color=style.color, markersize=6, alpha=0.6)
        panel.set(xscale="log", xlabel="rollouts N", title=metric)
        panel.set_xticks([16, 128, 1024, 4096], ["16", "128", "1,024", "4,096"], minor=False)
        panel.minorticks_off()
    plots.logit_axis(axes[0].yaxis, 0.003, 0.98)
    plots.logit_axis(axes[1].yaxis, 0.05, 0.99997)
    plots.letter(axes)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
