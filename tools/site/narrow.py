"""Figures for a phone: each is drawn from its data once more, a panel a row.

It stays as it is where its panels belong side by side or its words would not fit.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matplotlib.pyplot as plt
import pandas as pd

from lab.show import figure_files, plots

PHONE = "(max-width: 40rem)"  # as in site.css
IMAGE = re.compile(r'<img (?![^>]*width)[^>]*src="((?:\.\./)*)_images/(\w+)\.png"[^>]*>')
SIDE_BY_SIDE = plots.panels


def add(site: Path) -> None:
    """Draw the figures that pages of the site show, and let phones load them in their place."""
    plt.switch_backend("agg")
    pages = {path: path.read_text() for path in site.rglob("*.html")}
    shown = {name for text in pages.values() for _, name in IMAGE.findall(text)}
    (folder := site / "figures" / "narrow").mkdir(parents=True)
    drawn = [name for name in figure_files.figure_names() if name in shown and draw(name, folder)]

    def both(image: re.Match[str]) -> str:
        source = f'<source media="{PHONE}" srcset="{image[1]}figures/narrow/{image[2]}.png">'
        return f"<picture>{source}{image[0]}</picture>" if image[2] in drawn else image[0]

    for path, text in pages.items():
        path.write_text(IMAGE.sub(both, text))


def draw(name: str, folder: Path) -> bool:
    """Write NAME.png into a folder, a panel a row; False: the figure stays as it is."""
    script = figure_files.load(name)
    table = pd.read_csv(figure_files.out_folder() / f"{name}.csv")
    for columns in (2, 1):  # of its legend
        plt.close("all")
        with patch.object(plots, "panels", one_column(columns)):
            figure = script.draw(table)
        first, *others = figure.axes
        for panel in others:  # one label was enough for a row
            if first.get_shared_y_axes().joined(first, panel) and not panel.get_ylabel():
                panel.set_ylabel(first.get_ylabel())
        figure.set_dpi(220)
        figure.canvas.draw()
        words = figure.get_tightbbox()
        if words.x0 >= 0 and words.x1 <= plots.COLUMN:
            plt.imsave(folder / f"{name}.png", figure.canvas.buffer_rgba())  # savefig draws again
            return True
    return False


def one_column(most: int) -> Any:
    """`plots.panels` with a panel a row, of a figure whose legend has at most so many columns."""

    def panels(
        columns: int = 1, rows: int = 1, width: float = plots.COLUMN, height: float = 0, **more: Any
    ) -> Any:
        if rows > 1 or not height or "width_ratios" in more:
            return SIDE_BY_SIDE(columns, rows, width, height, **more)
        figure, axes = SIDE_BY_SIDE(1, columns, plots.COLUMN, columns * height, **more)
        legend = figure.legend
        figure.legend = lambda *a, ncols=1, **of: legend(*a, ncols=min(ncols, most), **of)
        return figure, axes

    return panels
