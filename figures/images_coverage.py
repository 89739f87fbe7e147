"""MaxRL Figure 9 (fourth panel) at laptop scale: coverage of the final models."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """At N = 1,024, MaxRL's mean coverage hardly grows with k, while GRPO's rises and
REINFORCE's ends near that of guessing. Coverage of the final models (MaxRL Figure 9, last panel):
pass@k = mean of 1-(1-p)^k over 2,048 test images, exact (MaxRL D.4), for k up to 1,024; runs and
settings as in images_dynamics. Dotted, grey: a model that guesses among 1,000 classes. Lines: mean
of 3 seeds; thin: each seed."""

NAMES = ("ml", "maxrl", "grpo", "reinforce_mean")
KS = np.unique(np.geomspace(1, 1024, 41).round().astype(int)).tolist()


def records() -> Results:
    return results("images", "images")


def table(recorded: Results) -> pd.DataFrame:
    guessing = pd.DataFrame(
        {"estimator": "guessing", "k": KS, "pass@k": 1 - (1 - 1e-3) ** np.array(KS)}
    )
    measured = recorded.pass_at_k(KS, ["estimator", "rollouts"])
    return pd.concat([measured, guessing.assign(rollouts=0, seeds=0)], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    guess = table[table["estimator"] == "guessing"]
    sizes = sorted(set(table[table["estimator"] == "maxrl"]["rollouts"]))
    figure, axes = plots.panels(columns=len(sizes), width=plots.PAGE, height=2.6, sharey=True)
    for panel, N in zip(axes, sizes, strict=True):
        for name in NAMES:
            part = table[table["estimator"] == name]
            # Exact maximum likelihood samples no labels: it is the same in every column.
            part = part if name == "ml" else part[part["rollouts"] == N]
            plots.curve(panel, part, "k", "pass@k", plots.image_style(name))
        style = plots.REFERENCE_STYLES["guessing"]
        panel.plot(guess["k"], guess["pass@k"], label=style.label, **style.line)
        panel.set(xscale="log", xlabel="k", title=f"N = {N}", xlim=(0.8, 1300))
        # Not in log-odds: the pass@k of cross-entropy reaches 1.
        panel.set(yscale="log", ylim=(0.0006, 1.6))
        panel.set_yticks((0.001, 0.01, 0.1, 1), ("0.001", "0.01", "0.1", "1"))
    plots.letter(axes)
    axes[0].set_ylabel("pass@k")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
