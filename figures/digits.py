"""MaxRL Figure 2 on handwritten digits: sampled objectives beside exact maximum likelihood."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Where all start at p = 1/10, the means of all objectives end near exact cross-entropy
at N = 128 sampled labels, and below it at N = 4. Test pass@1, the mean probability of the right
label, of a small residual network on scikit-learn's handwritten digits (1,437 images to train, 360
to test, 10 classes), 200 steps of SGD; objectives see only N sampled labels an image and whether
each is right. Lines: mean of 5 seeds; thin: each seed. The regime in which REINFORCE fails (1,000
classes, p = 1/1000; MaxRL section 6.1) is not reached here."""

SIZES = (4, 128)
NAMES = ("ml", "maxrl", "grpo", "reinforce_mean")
METRIC = "pass@1"


def records() -> Results:
    return results("laptop", "digits")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.over_seeds(METRIC, ["estimator", "gradient", "rollouts"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=2, width=plots.PAGE, height=2.5, sharey=True)
    for panel, N in zip(axes, SIZES, strict=True):
        for name in NAMES:
            part = table[
                (table["estimator"] == name)
                & ((table["gradient"] == "exact") | (table["rollouts"] == N))
            ]
            plots.curve(panel, part, "step", METRIC, plots.image_style(name))
        panel.set(title=f"N = {N} sampled labels an image", xlabel="step", ylim=(0, 1.02))
    plots.letter(axes)
    axes[0].set_ylabel("test pass@1")
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
