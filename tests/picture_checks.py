"""What a drawn figure must not do: words that meet or are cut."""

import itertools

from matplotlib.transforms import Bbox

EDGE = 1.5  # pixels that a box or a line may stick out: half of a line's width


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
    """The words that leave a figure, or that run into others."""
    figure.draw_without_rendering()
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
