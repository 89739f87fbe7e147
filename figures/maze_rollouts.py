"""MaxRL Figure 3 at laptop scale: what more rollouts a maze are worth."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """With more rollouts a maze the mean pass@128 rises for MaxRL and GRPO, from 4 to 64, and
RLOO's does not. What more rollouts are worth (MaxRL Figure 3, there 4 to 128 rollouts of 256 mazes
of 17x17 for 9,000 steps): pass@k after the same 160 steps of 32 fresh 9x9 mazes, so that four times
the rollouts cost more. 128 held-out mazes, 128 rollouts each. Dotted: the supervised start. Lines:
mean of 2 seeds; strokes: each seed."""

NAMES = ("maxrl", "grpo", "rloo")
KS = [1, 32, 128]


def records() -> Results:
    return results("maze_rollouts", "maze")


def table(recorded: Results) -> pd.DataFrame:
    first = recorded.metrics[recorded.metrics["step"] == 0].groupby("seed").first()
    start = [{"estimator": "start", "k": k, "pass@k": first[f"pass@{k}"].mean()} for k in KS]
    measured = recorded.pass_at_k(KS, ["estimator", "rollouts"])
    return pd.concat([measured, pd.DataFrame(start).assign(rollouts=0)], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=len(KS), width=plots.PAGE, height=2.3, sharey=True)
    sizes = sorted(set(table["rollouts"]) - {0})
    for panel, k in zip(axes, KS, strict=True):
        # Shifted a little sideways, so that the marks do not cover each other.
        for shift, name in zip((0.94, 1, 1.06), NAMES, strict=True):
            style = plots.line_style(name)
            part = table[(table["estimator"] == name) & (table["k"] == k)]
            places = part["rollouts"] * shift
            panel.plot(places, part["pass@k"], marker=style.marker, label=style.label, **style.line)
            for column in part.filter(like="seed "):
                panel.plot(places, part[column], "_", color=style.color, markersize=6)
        start = table[(table["estimator"] == "start") & (table["k"] == k)]["pass@k"].item()
        reference = plots.REFERENCE_STYLES["start"]
        panel.axhline(start, label=reference.label, **reference.line)
        panel.set(xscale="log", xlabel="rollouts a maze", title=f"pass@{k}", ylim=(0, 1.02))
        panel.set_xticks(sizes, sizes)
        panel.minorticks_off()
    plots.letter(axes)
    axes[0].set_ylabel("held-out mazes")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
