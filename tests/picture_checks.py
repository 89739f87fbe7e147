"""What a drawn figure must not do: words that meet or are cut, data that are cut or covered."""

import itertools

import numpy as np
from matplotlib.path import Path
from matplotlib.transforms import Bbox

EDGE = 1.5  # pixels that a box or a line may stick out: half of a line's width


def faults(figure) -> list[str]:
    """Words that are cut or meet, data that are cut, legends on curves."""
    figure.draw_without_rendering()
    return words_astray(figure) + cut_data(figure) + legends_over_data(figure)


def words_of(figure) -> list[tuple[str, Bbox, float]]:
    """Every text that a figure shows: what it says, its box in pixels, its rotation."""
    texts = [*figure.texts, *(part for part in (figure._supxlabel, figure._supylabel) if part)]
    legends = list(figure.legends)
    for axes in figure.axes:
        texts += [axes.title, axes._left_title, axes._right_title, *axes.texts]
        legends += [axes.get_legend()] if axes.get_legend() else []
        if not axes.axison:
            continue
        for axis in (axes.xaxis, axes.yaxis):
            ticks = [label for tick in axis._update_ticks() for label in (tick.label1, tick.label2)]
            texts += [*ticks, axis.label, axis.get_offset_text()]
    texts += [text for legend in legends for text in legend.get_texts()]
    seen = {id(text): text for text in texts if text.get_visible() and text.get_text().strip()}
    return [
        (text.get_text(), text.get_window_extent(), text.get_rotation()) for text in seen.values()
    ]


def words_astray(figure) -> list[str]:
    """The words that leave a figure whose layout is made, or that run into others."""
    room, words = figure.bbox.padded(EDGE), words_of(figure)
    out = [
        f"{text!r} leaves the figure"
        for text, box, _ in words
        if box.x0 < room.x0 or box.x1 > room.x1 or box.y0 < room.y0 or box.y1 > room.y1
    ]
    # The box of a slanted text is far larger than the text.
    upright = [(text, box.padded(-EDGE / 2)) for text, box, turn in words if turn % 90 == 0]
    for (one, box), (other, another) in itertools.combinations(upright, 2):
        if box.overlaps(another):
            out.append(f"{one!r} meets {other!r}")
    return out


def _marked(line) -> np.ndarray:
    """The points of a line that have a mark, "points 2", in data coordinates."""
    every = line.get_markevery()
    points = np.column_stack(line.get_data()).astype(float)
    return points[:: every or 1]


def cut_data(figure) -> list[str]:
    """The curves, marks, bands and bars that the edge of their panel cuts."""
    out = []
    for place, axes in enumerate(figure.axes):
        room = axes.bbox.padded(EDGE)

        def cut(points, margin=0.0, room=room) -> bool:
            points = points[np.isfinite(points).all(axis=1)]
            low, high = points - margin, points + margin
            inside = (low >= (room.x0, room.y0)) & (high <= (room.x1, room.y1))
            return bool(len(points)) and not inside.all()

        for line in axes.lines:
            if not line.get_clip_on() or line.get_transform() is not axes.transData:
                continue  # a rule across the panel, or drawn over its edge on purpose
            name = f"panel {place}: {line.get_label()}"
            points = axes.transData.transform(np.column_stack(line.get_data()).astype(float))
            if cut(points):
                out.append(f"{name} is cut")
            size = line.get_markersize() / 2 * figure.dpi / 72
            if line.get_marker() not in ("None", "", None) and cut(
                axes.transData.transform(_marked(line)), size
            ):
                out.append(f"a mark of {name} is cut")
        for collection in axes.collections:
            if collection.get_transform() is not axes.transData:
                continue
            for path in collection.get_paths():
                if len(path.vertices) and cut(axes.transData.transform(path.vertices)):
                    out.append(f"panel {place}: a band or bar is cut")
                    break
    return out


def legends_over_data(figure) -> list[str]:
    """The panels whose legend lies on a curve."""
    out = []
    for place, axes in enumerate(figure.axes):
        if legend := axes.get_legend():
            box = legend.get_window_extent().padded(-EDGE)
            curves = [
                Path(line.get_transform().transform(np.column_stack(line.get_data())))
                for line in axes.lines
                if len(line.get_xdata())
            ]
            if any(curve.intersects_bbox(box, filled=False) for curve in curves):
                out.append(f"the legend of panel {place} lies on a curve")
    return out
