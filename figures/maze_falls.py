"""Which mazes fall while others rise, at which pass rate, and how their own gradient pushes."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.mathematics.stats import mean_interval
from lab.mathematics.weights import induced_weight
from lab.runs import Results, results_of_every_record
from lab.show import plots, rate_flow

CAPTION = """(a) Of the mazes with a pass rate in a range, how many have a lower one 40 steps later.
The runs of maze_fallen: 192 mazes of 7x7, exact pass rates, all ten intervals; mean of 5 seeds with
its 95% t interval, drawn at the middle of the range. (b) What a maze's own gradient does to its
log p, by formula: w(p) p in units of |grad log p|^2, at N = 64. Vertical: 1/64. The claims on (a)
in docs/why_mazes_fall.md were written before it was computed."""

LOOKS = {
    "ml": plots.line_style("ml")._replace(label="exact ML"),
    "maxrl": plots.line_style("maxrl"),
    "grpo": plots.line_style("grpo"),
}
ROLLOUTS = 64
EDGES = (0, 1e-9, 1e-6, 1e-4, 1e-3, 1 / 64, 1 / 4, 3 / 4, 1)
RANGES = {
    "below 1/64": (0, 1 / 64),
    "1/64 to 1/4": (1 / 64, 1 / 4),
    **{
        f"{low:.3g} to {high:.3g}": (low, high) for low, high in zip(EDGES, EDGES[1:], strict=False)
    },
}


def records() -> Results:
    return results_of_every_record("maze_exact_again", "maze")


def table(recorded: Results) -> pd.DataFrame:
    groups = recorded.groups.sort_values("step")
    later = groups.groupby(["run", "problem"])["pass_rate"].shift(-1)
    moves = groups.assign(falls=later < groups["pass_rate"])[later.notna()]
    rows = []
    for objective, of_objective in moves.groupby("estimator"):
        for name, (low, high) in RANGES.items():
            inside = of_objective[of_objective["pass_rate"].between(low, high, inclusive="left")]
            of_seed = inside.groupby("seed")["falls"].mean()
            share = mean_interval(of_seed.to_numpy(), "seeds", within=(0, 1))
            rows.append(
                {"estimator": objective, "pass_rate": name, "from": low, "to": high}
                | {"share of falls": share.point, "low": share.low, "high": share.high}
                | {"cases": len(inside)}
                | {f"seed {seed}": value for seed, value in of_seed.items()}
            )
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame) -> Figure:
    figure, (falls, pushes) = plots.panels(columns=2, width=plots.PAGE, height=2.7)
    odds = np.linspace(*rate_flow.LIMITS, 400)
    rates = 1 / (1 + 10**-odds)
    drawn = table[~table["pass_rate"].isin(("below 1/64", "1/64 to 1/4")) | (table["from"] > 0)]
    drawn = drawn.drop_duplicates(["estimator", "from", "to"])
    for place, (objective, look) in enumerate(LOOKS.items()):
        part = drawn[drawn["estimator"] == objective].sort_values("from")
        middle = np.sqrt(np.maximum(part["from"], 1e-12) * np.minimum(part["to"], 0.99))
        x = rate_flow.log_odds(middle.to_numpy()) + 0.15 * (place - 1)  # bars side by side
        style = look.line | {"marker": look.marker, "markersize": 3, "linewidth": 1}
        ends = np.abs(part[["low", "high"]].to_numpy().T - part["share of falls"].to_numpy())
        falls.errorbar(x, part["share of falls"], ends, label=look.label, elinewidth=0.8, **style)
        weight = 1 / rates if objective == "ml" else induced_weight(objective, ROLLOUTS, rates)
        pushes.plot(odds, weight * rates, **look.line)
    falls.set(ylim=(-0.02, 1.02), ylabel="share that falls in 40 steps", title="what mazes do")
    pushes.set(yscale="log", ylim=(1e-6, 20), ylabel="own push, w(p) p", title="by formula")
    places = rate_flow.log_odds(np.array(list(rate_flow.TICKS)))
    [mark] = rate_flow.log_odds(np.array([1 / ROLLOUTS]))
    for panel in (falls, pushes):
        panel.set(xticks=places, xticklabels=rate_flow.TICKS.values(), xlim=rate_flow.LIMITS)
        panel.set_xlabel("pass rate")
        panel.axvline(mark, color="black", linewidth=0.6)
        top = panel.get_xaxis_transform()
        panel.annotate(
            "1/64", (mark, 1), (2, -1), xycoords=top, textcoords="offset points", va="top"
        )
    plots.letter((falls, pushes))
    handles, labels = falls.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
