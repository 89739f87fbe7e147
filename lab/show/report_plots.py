"""The figures of a report, drawn by seaborn: curves, distributions and transitions.

Every number and every interval comes from the tables of `lab.show.report` and
`lab.show.problem_rates`; seaborn computes none.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lab.errors import LabError
from lab.show import plots
from lab.show.line_styles import PALETTE

COLUMNS = 3  # panels side by side
HEIGHT = 1.9  # of a panel, in inches
LEGEND_ROW = 0.17  # its height in inches
# Of settings that are no methods.
COLORS = tuple(color for color in PALETTE if color != plots.PURPLE)
# On and off in line widths; a solid line has none.
DASHES = ((), (5, 1.5), (1, 1), (4, 1, 1, 1), (2, 1), (6, 1, 1, 1, 1, 1))
Look = tuple[str, tuple[float, ...]]  # colour and dashes


def looks(table: pd.DataFrame, by: Sequence[str]) -> dict[str, Look]:
    """A colour and dashes of its own for every `setting`, sorted by the parameters `by`.

    A method keeps its colour and, for its first setting, its dashes (`plots.line_style`). If all
    settings are of one method, which the column `objective` names, they are shades of its colour,
    light to dark, and dashed in turns. What is no method takes the colours that are left.
    """
    # The tables hold an estimator under its former name, `lab.runs.former_names`.
    parameter = "objective" if "objective" in table else "setting"
    first = table.drop_duplicates("setting").sort_values(list(by))
    names = dict(zip(first["setting"], first[parameter], strict=True))
    own = {setting: style for setting in names if (style := _style_of(str(names[setting])))}
    if len(own) == len(names) > 1 and len(set(own.values())) == 1:
        shades = next(iter(own.values())).shades(len(names))
        turns = (DASHES[place % len(DASHES)] for place in range(len(names)))
        return dict(zip(names, zip(shades, turns, strict=True), strict=True))
    taken = {style.color for style in own.values()}
    free = [color for color in COLORS if color not in taken]
    assigned: dict[str, Look] = {}
    for setting in sorted(names, key=lambda setting: setting not in own):
        if setting in own:
            style = own[setting]
            dashes = () if style.dash == "-" else tuple(style.dash[1])
            choices = [(style.color, pattern) for pattern in (dashes, *DASHES)]
        else:
            choices = [(color, dashes) for dashes in DASHES for color in free or COLORS]
        free_looks = (look for look in choices if look not in assigned.values())
        assigned[setting] = next(free_looks, choices[0])
    return {setting: assigned[setting] for setting in names}


def _style_of(name: str) -> plots.LineStyle | None:
    """The look of a method; None of anything else."""
    try:
        return plots.line_style(name)
    except LabError:
        return None  # not an estimator, or one without a line style


def draw_curves(table: pd.DataFrame, by: Sequence[str]) -> Figure:
    """One panel for each `metric` of a table: `value` over `step` with the band `low` to `high`.

    LabError: the table has one step only.
    """
    steps = table["step"].nunique()
    if steps == 1:
        raise LabError(
            f"these runs have records of step {table['step'].iloc[0]} only, so there are no curves:"
            " the table below holds its values"
        )
    _use_style()
    style = looks(table, by)
    grid = seaborn.relplot(
        table,
        kind="line",
        x="step",
        y="value",
        col="metric",
        col_wrap=min(COLUMNS, table["metric"].nunique()),
        hue="setting",
        style="setting",
        hue_order=list(style),
        style_order=list(style),
        palette={setting: color for setting, (color, _) in style.items()},
        dashes={setting: dashes for setting, (_, dashes) in style.items()},
        estimator=None,
        errorbar=None,
        facet_kws={"sharey": False, "legend_out": False},
        **_size(table["metric"].nunique()),
    )

    def bands(data: pd.DataFrame, color: Any) -> None:
        for setting, part in data.groupby("setting"):
            grid.axes_dict[data["metric"].iloc[0]].fill_between(
                part["step"],
                part["low"],
                part["high"],
                color=style[setting][0],
                alpha=0.15,
                linewidth=0,
            )

    grid.map_dataframe(bands)
    grid.set_titles("{col_name}")
    grid.set_axis_labels("step", "")
    for axes in grid.axes.flat:
        axes.ticklabel_format(axis="y", useOffset=False)
    return _with_legend_below(grid)


def draw_distributions(rates: pd.DataFrame, by: Sequence[str]) -> Figure:
    """The share of problems at or below each pass rate: one panel for each `evaluation`."""
    _use_style()
    style = looks(rates, by)
    evaluations = rates["evaluation"].nunique()
    grid = seaborn.FacetGrid(
        rates,
        col="evaluation",
        hue="setting",
        hue_order=list(style),
        palette={setting: color for setting, (color, _) in style.items()},
        hue_kws={"linestyle": [(0, dashes) if dashes else "-" for _, dashes in style.values()]},
        legend_out=False,
        **_size(max(evaluations, 2)),
    )
    grid.map_dataframe(seaborn.ecdfplot, x="pass_rate")
    grid.set_titles("{col_name}")
    grid.set(xlabel="pass rate of a problem", ylabel="share of problems", xlim=(-0.02, 1.02))
    grid.add_legend()
    return _with_legend_below(grid)


def draw_transitions(table: pd.DataFrame, before: str, after: str) -> Figure:
    """One heat map for each `setting` of `transitions`: percentages, which add up to 100 in a row.

    Cells on the diagonal, where a problem stays in its bin, are framed. `before` and `after` name
    the two evaluations on the axes.
    """
    settings = table["setting"].unique()
    columns = min(COLUMNS, len(settings))
    rows = math.ceil(len(settings) / columns)
    width = plots.PAGE * columns / COLUMNS
    figure, axes = plots.panels(columns, rows, width, 2.35 * rows, squeeze=False)
    panels: list[Axes] = list(axes.flat)
    for panel, (setting, part) in zip(panels, table.groupby("setting", sort=False), strict=False):
        shares = part.pivot(index="before", columns="after", values="share")
        problems = part.drop_duplicates("before")["problems"].tolist()
        seaborn.heatmap(
            100 * shares,
            vmin=0,
            vmax=100,
            cmap="Blues",
            annot=True,
            fmt=".0f",
            annot_kws={"fontsize": 6},
            cbar=False,
            square=True,
            linewidths=0.5,
            yticklabels=[
                f"{name} ({count})" for name, count in zip(shares.index, problems, strict=True)
            ],
            ax=panel,
        )
        for place, count in enumerate(problems):
            if count:
                panel.add_patch(Rectangle((place, place), 1, 1, fill=False, linewidth=0.8))
        panel.tick_params(axis="x", rotation=90, length=0)
        panel.tick_params(axis="y", rotation=0, length=0)
        panel.grid(visible=False)
        title = textwrap.fill(setting, 28)
        panel.set(title=title, xlabel=f"{after}, %", ylabel=f"{before}, % (problems)")
    for panel in panels[len(settings) :]:
        panel.remove()
    return figure


def _use_style() -> None:
    """Set the house style, but leave the layout to seaborn until its grid is complete."""
    plots.use_style()
    plt.rcParams["figure.constrained_layout.use"] = False


def _size(panels: int) -> dict[str, float]:
    """Height and aspect of a panel, for rows that are as wide as the page."""
    width = plots.PAGE / min(COLUMNS, panels)
    return {"height": HEIGHT, "aspect": width / HEIGHT}


def _with_legend_below(grid: Any) -> Figure:
    """The figure of a seaborn grid, its legend moved from the panels to rows of its own."""
    names = [text.get_text() for text in grid.legend.get_texts()]
    figure: Figure = grid.figure
    # Characters are about 0.05 inches wide, and a line with its gaps half an inch.
    fitting = int(figure.get_figwidth() / (0.5 + 0.05 * max(map(len, names))))
    columns = min(len(names), max(1, fitting))
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * math.ceil(len(names) / columns))
    figure.set_layout_engine("constrained")
    seaborn.move_legend(grid, "outside lower center", ncols=columns, title=None, frameon=False)
    return figure
