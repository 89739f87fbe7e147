"""What practice adds, in networks: clipped updates, judges that err and a sampler."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """Eight clipped updates on a batch bring RLOO nearer to MaxRL and not to it, and it is
the clip that does so; random errors of a judge cost more than was predicted. pass@1 at the end. (a)
Images of 100 classes from p = 0.01, N = 128, 80 batches of 64 images, each way at its best learning
rate by a rule; ten claims before the runs (sweeps/practice_images.toml): five hold, one does not
and four are undecided. (b) MaxRL on all 192 mazes of 7x7, N = 32, 120 steps of 8 mazes, one rate
for all (sweeps/practice_mazes.toml): both predictions of what errors cost that can be learned
failed, and three of the five runs with random errors collapsed. Marks: mean of five seeds with its
95% interval; strokes: each seed."""

RANDOM = "false_positive=0.5, false_negative=0.5"
# What the panels show, from the top, by estimator, practice and what a judge cannot see.
IMAGES = {
    ("maxrl", "updates=1", ""): "MaxRL, one update",
    ("maxrl", "clip=0.2, updates=8", ""): "MaxRL, 8 clipped",
    ("rloo", "updates=1", ""): "RLOO, one update",
    ("rloo", "updates=8", ""): "RLOO, 8 updates",
    ("rloo", "clip=0.2, updates=8", ""): "RLOO, 8 clipped",
    ("maxrl", "false_positive=0.010101", ""): "1 wrong label in 99 accepted",
    ("maxrl", "updates=1", "exploitable"): "the next label accepted",
    ("maxrl", "false_positive=0.2", ""): "a fifth of wrong ones accepted",
    ("maxrl", "temperature=0.7, top_p=0.9", ""): "truncated sampler",
    ("maxrl", f"{RANDOM}, updates=1", ""): "random rewards",
    ("maxrl", f"{RANDOM}, clip=0.2, updates=8", ""): "random, 8 clipped",
}
MAZES = {
    ("maxrl", "false_positive=0", ""): "perfect judge",
    ("maxrl", "false_positive=0.2", ""): "a fifth of wrong ones accepted",
    ("maxrl", "", "late walls"): "late walls unseen",
}
PANELS = {"images": IMAGES, "mazes": MAZES}
BY = ["world", "estimator", "practice", "unseen"]


def records() -> Results:
    return together([results("practice_images", "images"), results("practice_mazes", "maze")])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics
    unseen = metrics["rewards"].where(metrics["rewards"] == "exploitable", "")
    told = metrics.assign(
        world=metrics["rewards"].isna().map({True: "mazes", False: "images"}),
        unseen=unseen.where(metrics["checked_moves"] != 4, "late walls"),
    )
    curves = replace(recorded, metrics=told).each_over_seeds(["pass@1"], BY)
    ends = curves[curves["step"] == curves.groupby(BY)["step"].transform("max")]
    places = [list(PANELS[world]).index(tuple(key)) for world, *key in ends[BY].to_numpy()]
    return ends.assign(row=[-place for place in places])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=2, width=plots.PAGE, height=2.9)
    for panel, (title, shown) in zip(axes, PANELS.items(), strict=True):
        for name, part in table[table["world"] == title].groupby("estimator"):
            plots.spread(panel, part.dropna(axis=1, how="all"), plots.line_style(name))
        panel.set_yticks([-row for row in range(len(shown))], shown.values())
        panel.set(title=title, xlabel="pass@1", xlim=(0, None), ylim=(0.6 - len(shown), 0.6))
    plots.letter(axes)
    return figure
