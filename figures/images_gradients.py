"""MaxRL Figure 8 at laptop scale: gradient norm against pass rate, image by image."""

import pandas as pd
from matplotlib.figure import Figure

from lab.papers.measured import expected_gradient_norms
from lab.runs import Results, results
from lab.show import plots

CAPTION = """The gradient norm of MaxRL peaks at images of far lower pass rates than that of GRPO,
which peaks around one half. One point for each of 1,000 test images (MaxRL Figure 8), each
objective on the model that it trained (seed 0, N = 1,024 where labels are sampled; runs and
settings as in images_dynamics). The norm is that of the expected gradient, w_N(p) grad p over all
weights, from one vectorised pass of per-image gradients of log p. The models differ, so that
panels show other pass rates: REINFORCE has solved no image."""

NAMES = ("ml", "maxrl", "grpo", "reinforce_mean")
N = 1024


def records() -> Results:
    return results("images", "images")


def table(recorded: Results) -> pd.DataFrame:
    groups = recorded.groups[(recorded.groups["seed"] == 0) & recorded.groups["score_norm"].notna()]
    frames = []
    for name in NAMES:
        part = groups[(groups["estimator"] == name) & ((name == "ml") | (groups["rollouts"] == N))]
        frames.append(
            pd.DataFrame(
                {
                    "estimator": name,
                    "image": part["problem"],
                    "pass_rate": part["pass_rate"],
                    "gradient_norm": expected_gradient_norms(part),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=4, width=plots.PAGE, height=2.2, sharex=True, sharey=True)
    for panel, name in zip(axes, NAMES, strict=True):
        part, style = table[table["estimator"] == name], plots.line_style(name)
        panel.plot(
            part["pass_rate"],
            part["gradient_norm"],
            "o",
            color=style.color,
            alpha=0.4,
            markersize=1.9,
            markeredgewidth=0,
            rasterized=True,
        )
        panel.set(title="cross-entropy" if name == "ml" else style.label, yscale="log")
        plots.logit_axis(panel.xaxis, 1e-12, 1 - 1e-7, (1e-10, 1e-5, 0.5))
    plots.letter(axes)
    axes[0].set_ylabel("gradient norm")
    figure.supxlabel("pass rate of the image (log-odds scale)", fontsize=8)
    return figure
