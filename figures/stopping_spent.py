"""Where MaxRL at fixed N spends its rollouts, and where a stopping rule does, on trained images."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.mathematics.stats import mean_interval
from lab.mathematics.stopping import until
from lab.runs import Results, results
from lab.show import plots

CAPTION = """MaxRL at fixed N spends most on images that it has solved, which also carry most of its
gradient; the rule spends nearly all on images that it cannot solve. What is spent where, after 300
steps of the runs of stopping_images: test images by pass rate, the share of rollouts that they take
(filled) and their share of the mean gradient in log-odds, p (1-p) w(p) (open), for MaxRL with N =
1,024 and for drawing until the first right label with a cap of 1,024, each on the images of its own
models. Exact, from the pass rates of 2,048 images. Bars: mean of 4 seeds; lines: 95% intervals over
seeds."""

EDGES = (-1, 1e-4, 0.5, 1)
BINS = ("below 1/10,000", "between", "above 1/2")
METHODS = {"maxrl": "MaxRL, N = 1024", "reinforce": "until right, cap 1024"}
SHARES = ("of rollouts", "of gradient")


def records() -> Results:
    return results("stopping", "images")


def table(recorded: Results) -> pd.DataFrame:
    groups = recorded.groups[recorded.groups["rollouts"] == 1024]
    rows = []
    for method, part in groups[groups["estimator"].isin(METHODS)].groupby("estimator"):
        p = part["pass_rate"].to_numpy()
        rule = until(right=1, cap=1024).weight(p)  # which is also what it spends
        weight = rule if method == "reinforce" else lab.induced_weight("maxrl", 1024, p)
        spent = rule if method == "reinforce" else np.full_like(p, 1024)
        place = pd.cut(p, EDGES, labels=BINS).astype(str)
        parts = part.assign(place=place, rollouts=spent, gradient=p * (1 - p) * weight)
        sums = parts.pivot_table(
            ["rollouts", "gradient"], "seed", "place", "sum", fill_value=0, observed=False
        )
        for what in SHARES:
            table = sums[what.removeprefix("of ")].reindex(columns=BINS, fill_value=0)
            shares = table.div(table.sum(axis=1), axis=0)
            shares["not between"] = 1 - shares["between"]
            for name, share in shares.items():
                found = mean_interval(share.to_numpy(), "seeds", within=(0, 1))
                numbers = {"share": found.point, "low": found.low, "high": found.high}
                of_seeds = share.add_prefix("seed ").to_dict()
                rows.append(
                    {"method": method, "what": what, "pass rate": name} | numbers | of_seeds
                )
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=2, width=plots.PAGE, height=2.2, sharey=True)
    places = np.arange(len(BINS))
    for panel, (method, title) in zip(axes, METHODS.items(), strict=True):
        color = plots.line_style(method).color
        for shift, what in zip((-0.2, 0.2), SHARES, strict=True):
            part = table[(table["method"] == method) & (table["what"] == what)]
            part = part.set_index("pass rate").loc[list(BINS)]
            face = color if what == SHARES[0] else "white"
            panel.bar(places + shift, part["share"], 0.36, color=face, edgecolor=color, label=what)
            panel.vlines(places + shift, part["low"], part["high"], color="black", linewidth=1)
        panel.set_xticks(places, BINS)
        panel.set(title=title, xlabel="pass rate of an image", ylim=(0, 1.02))
        panel.legend()
    plots.letter(axes)
    axes[0].set_ylabel("share")
    return figure
