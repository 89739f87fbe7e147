"""Mazes from a weak start, each objective at its best learning rate for what is asked."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """All 192 mazes of 7x7, exact pass rates, after 200 steps of 32 mazes with N = 64
rollouts and AdamW, from a start of 50 supervised steps. (a, b) each objective at up to six learning
rates, one seed; a ring marks its best rate for what the panel shows, by rules in
sweeps/maze_best_rates.toml and maze_pacs_rates.toml, written before the runs. The best rate for
mean log p is the smallest tried: there it learns little. PACS, at its anchor, has a rate for pass@1
alone. (c) other starts, each seed one mark: hollow at the best rate for mean log p (five starts),
filled at the best rate for pass@1 (fifteen), crosses the starts. No rate is best for both."""

SWEEPS = ("maze_best_rates", "maze_best", "maze_pacs_rates", "maze_pacs", "maze_best_again")
PANELS = {"log-likelihood": "mean log p, by rate", "pass@1": "pass@1, by rate"}
RULES = {"log-likelihood": ("maxrl", "grpo", "rloo"), "pass@1": ("maxrl", "grpo", "rloo", "pacs")}
RATES_SEED = 10


def records() -> Results:
    return together([results(sweep, "maze") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics
    last = metrics["step"] == metrics["steps"]
    kept = metrics[last | (metrics["step"] == 0)]
    columns = ["kind", "estimator", "learning_rate", "seed", "step", *PANELS, "pass@128"]
    kind = (kept["seed"] == RATES_SEED).map({True: "rates", False: "test"})
    told = kept.assign(kind=kind)[columns]
    told = told.sort_values(["kind", "estimator", "learning_rate", "seed", "step"])
    for metric in PANELS:  # which rate is the best one of its objective
        ends = told[(told["kind"] == "rates") & (told["step"] > 0)]
        ends = ends[ends["estimator"].isin(RULES[metric])]
        best = ends.loc[ends.groupby("estimator")[metric].idxmax()]
        rate = told["estimator"].map(best.set_index("estimator")["learning_rate"])
        told[f"best for {metric}"] = told["learning_rate"] == rate
    return told.reset_index(drop=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.6)
    tried = table[table["kind"] == "rates"]
    starts, ends = tried[tried["step"] == 0], tried[tried["step"] > 0]
    for panel, (metric, title) in zip(axes, PANELS.items(), strict=False):
        panel.axhline(starts[metric].iloc[0], color=plots.GREY, linewidth=0.8, label="start")
        for name in RULES[metric]:
            style, part = plots.line_style(name), ends[ends["estimator"] == name]
            plots.rates(panel, part, metric, style, best=part[part[f"best for {metric}"]])
        panel.set(title=title)
    tested = table[table["kind"] == "test"]
    begun = tested[tested["step"] == 0].drop_duplicates(["seed", "pass@1"])
    axes[2].plot(begun["pass@1"], begun["log-likelihood"], "x", color=plots.GREY, markersize=5)
    for metric, names in RULES.items():
        for name in names:
            style, part = plots.line_style(name), tested[tested["estimator"] == name]
            points = part[(part["step"] > 0) & part[f"best for {metric}"]]
            face = "none" if metric == "log-likelihood" else style.color
            marks = {"marker": style.marker, "markersize": 5, "markerfacecolor": face}
            marks |= {"color": style.color, "linestyle": ""}
            axes[2].plot(points["pass@1"], points["log-likelihood"], **marks)
    axes[2].set(title="other starts", xlabel="pass@1", ylabel="mean log p")
    plots.letter(axes)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
