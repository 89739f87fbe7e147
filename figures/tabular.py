"""Theory against practice on softmax problems: real sampling follows w_N, not its limit."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Sampled training follows the exact mean of its estimator at N = 16, not the limit of
its objective. Mean pass rate, on a log-odds scale, of the hardest quarter of 256 softmax problems
(start: pass rates from 0.001 to 0.9, even in log-odds) under plain gradient ascent: sampled
training with N = 16 rollouts (points: mean and 95% interval over 5 seeds, often smaller than the
mark), the exact mean of that estimator, w_16(p) grad p (line), and the exact gradient of its limit
objective (dotted). Where N p is small the limit promises more than 16 rollouts can give."""

PANELS = {
    "rloo": ("RLOO", "rl"),
    "grpo": ("GRPO", "arcsine"),
    "maxrl": ("MaxRL", "ml"),
    "pacs_anchor": ("PACS", "0.25 * log_odds"),
}
METRIC = "hard pass@1"


def records() -> Results:
    return results("laptop", "tabular")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.over_seeds(METRIC, ["estimator", "gradient"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=4, width=plots.PAGE, height=2.4, sharey=True)
    for panel, (name, (label, limit)) in zip(axes, PANELS.items(), strict=True):

        def part(objective: str, gradient: str) -> pd.DataFrame:
            return table[(table["estimator"] == objective) & (table["gradient"] == gradient)]

        style = plots.line_style(name)
        practice, mean, exact = part(name, "sampled"), part(name, "expected"), part(limit, "exact")
        panel.plot(exact["step"], exact[METRIC], **plots.REFERENCE_STYLES["exact"].line)
        panel.plot(mean["step"], mean[METRIC], color=style.color)
        # Every 40th step is enough, and error bars do not run into each other.
        few = practice[practice["step"] % 40 == 0]
        reach = (few[METRIC] - few["low"], few["high"] - few[METRIC])
        panel.errorbar(
            few["step"],
            few[METRIC],
            reach,
            fmt=style.marker,
            color=style.color,
            markersize=3,
            elinewidth=0.8,
        )
        panel.set(title=label, xlabel="step", xlim=(-25, 425))
        plots.logit_axis(panel.yaxis, 0.002, 0.998)
    plots.letter(axes)
    axes[0].set_ylabel("pass rate, hardest quarter")
    handles = [axes[0].lines[0], axes[0].lines[1], axes[0].containers[0]]
    labels = ["limit, exact gradient", "N = 16, exact mean", "N = 16, sampled"]
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
