"""One step on all mazes: the change of log p that first order predicts, and the one realised."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """The first step of AdamW for exact maximum likelihood, maze by maze: the change of log p
that the gradients predict to first order, u . grad log p, against the change that the step makes.
(a) to (c) Three learning rates; 1e-4 is that of training. All 192 mazes of 7x7, policies of 100 and
250 supervised steps, each seed of 3. Grey: realised as predicted. The slope, sum of products over
sum of squares of the predicted changes, and the ratio of the mean changes are rows of the data, by
seed."""

STARTS = {100: ("o", plots.SKY), 250: ("^", plots.BLACK)}


def records() -> Results:
    return results("maze_gradients", "maze_gradients")


def table(recorded: Results) -> pd.DataFrame:
    groups = recorded.groups
    of_ml = (groups["kind"] == "step") & (groups["estimator"] == "ml")
    kept = ["rate", "start_steps", "seed", "problem", "predicted", "realised"]
    steps = groups.loc[of_ml & (groups["optimizer"] == "adamw"), kept]
    rows = []
    for (rate, start), part in steps.groupby(["rate", "start_steps"]):
        seeds = part.assign(
            product=part["predicted"] * part["realised"], square=part["predicted"] ** 2
        ).groupby("seed")[["product", "square", "predicted", "realised"]]
        sums = seeds.sum()
        for measure, of_seed in (
            ("slope", sums["product"] / sums["square"]),
            ("ratio of means", sums["realised"] / sums["predicted"]),
        ):
            row = {"measure": measure, "rate": rate, "start_steps": start}
            rows.append(row | {"value": of_seed.mean()} | of_seed.add_prefix("seed ").to_dict())
    return pd.concat([steps, pd.DataFrame(rows)], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    rates = sorted(table["rate"].unique())
    figure, axes = plots.panels(columns=len(rates), width=plots.PAGE, height=2.5)
    for panel, rate in zip(axes, rates, strict=True):
        for start, (marker, color) in STARTS.items():
            part = table[(table["rate"] == rate) & (table["start_steps"] == start)]
            look = {"color": color, "markersize": 2, "alpha": 0.5, "rasterized": True}
            label = f"{start} supervised steps"
            panel.plot(part["predicted"], part["realised"], marker, label=label, **look)
        panel.axline((0, 0), slope=1, color="0.6", zorder=0)
        panel.set(title=f"learning rate {rate:g}", xlabel="predicted change of log p")
    plots.letter(axes)
    axes[0].set_ylabel("realised change")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
