"""What a drawn figure must not do: words that meet or are cut, data cut, looks too alike.

Colour distance is CIEDE2000 (Sharma, Wu and Dalal 2005) in the sight of a reader with a colour
vision deficiency, simulated by the matrices of Machado, Oliveira and Fernandes 2009 for severity
1.0, on linear RGB.
"""

import itertools

import numpy as np
from matplotlib import colors
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from lab.show import line_styles

SIGHT = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
APART = 20  # colour distance, and lightness where dashes are alike
SHADES_APART = 7  # lightness of neighbouring shades of one method
EDGE = 1.5  # pixels that a box or a line may stick out: half of a line's width


# --- Colours ------------------------------------------------------------------------------------


def cielab(color, sight: str = "normal") -> np.ndarray:
    """L*, a*, b* under D65 of a colour as it is seen."""
    channels = np.array(colors.to_rgb(color))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    white = TO_XYZ.sum(axis=1)
    t = TO_XYZ @ np.clip(SIGHT[sight] @ linear, 0, 1) / white
    x, y, z = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def lightness(color) -> float:
    """CIE L*, 0 to 100: what is left of a colour in grey."""
    return float(cielab(color)[0])


def ciede2000(first: np.ndarray, second: np.ndarray) -> float:
    """The distance of two colours in CIELAB; equation numbers of Sharma, Wu and Dalal 2005."""
    (L1, a1, b1), (L2, a2, b2) = first, second
    mean_C = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    G = 0.5 * (1 - np.sqrt(mean_C**7 / (mean_C**7 + 25**7)))  # (4)
    a1, a2 = (1 + G) * a1, (1 + G) * a2
    C1, C2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    dh = (h2 - h1 + 180) % 360 - 180 if C1 * C2 else 0.0  # (10)
    dL, dC, dH = L2 - L1, C2 - C1, 2 * np.sqrt(C1 * C2) * np.sin(np.radians(dh / 2))
    L, C = (L1 + L2) / 2, (C1 + C2) / 2
    h = h1 + dh / 2 if C1 * C2 else h1 + h2  # (14)
    T = 1 + sum(
        share * np.cos(np.radians(times * h + shift))
        for share, times, shift in ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    )  # (15)
    twist = np.sin(np.radians(60 * np.exp(-(((h % 360 - 275) / 25) ** 2))))
    R_T = -2 * np.sqrt(C**7 / (C**7 + 25**7)) * twist  # (21)
    light = dL / (1 + 0.015 * (L - 50) ** 2 / np.sqrt(20 + (L - 50) ** 2))
    chroma, hue = dC / (1 + 0.045 * C), dH / (1 + 0.015 * C * T)
    return float(np.sqrt(light**2 + chroma**2 + hue**2 + R_T * chroma * hue))


def distance(first, second) -> float:
    """The smaller distance of two colours in deuteranopia and in protanopia."""
    return min(
        ciede2000(cielab(first, sight), cielab(second, sight))
        for sight in ("deuteranopia", "protanopia")
    )


def _hue(color: str) -> str:
    """The colour of the palette of which a colour is a shade, or the colour itself."""
    for base in line_styles.PALETTE:
        style = line_styles.LineStyle("", base)
        if color in {shade for count in range(2, 7) for shade in style.shades(count)}:
            return base
    return color


def looks_of(axes) -> dict[str, set[str]]:
    """The colours in which a panel draws curves or marks, each with the dashes it wears.

    Bars count as solid. Hairlines in grey or black are rules of the panel, and caps belong to
    their bars.
    """
    found: dict[str, set[str]] = {}
    for line in axes.lines:
        color = colors.to_hex(line.get_color())
        ruled = line.get_linewidth() <= 0.8 and np.ptp(colors.to_rgb(color)) < 0.01
        of_seed = line.get_linewidth() <= 0.5  # thin, beside the thick one of its method
        if (
            ruled
            or of_seed
            or not len(line.get_xdata())
            or line.get_marker() in ("|", "_", 0, 1, 2, 3)
        ):
            continue
        drawn = line.get_linestyle() not in ("None", "none", "")
        dash = str(line._unscaled_dash_pattern[1]) if drawn else f"mark {line.get_marker()}"
        found.setdefault(color, set()).add(dash)
    for bar in axes.patches:
        if isinstance(bar.get_facecolor(), tuple) and bar.get_facecolor()[3] == 1:
            found.setdefault(colors.to_hex(bar.get_facecolor()), set()).add("bar")
    return found


def too_alike(figure) -> list[str]:
    """The pairs of colours in a panel that not every reader tells apart."""
    out = []
    for axes in figure.axes:
        looks = looks_of(axes)
        for one, other in itertools.combinations(looks, 2):
            step = abs(lightness(one) - lightness(other))
            if _hue(one) == _hue(other):  # one method at two values of a parameter
                if step < SHADES_APART:
                    out.append(f"shades {one} and {other}: {step:.0f} in lightness")
                continue
            if (apart := distance(one, other)) < APART:
                out.append(f"{one} and {other}: {apart:.1f} in colour")
            if looks[one] & looks[other] and step < APART:
                out.append(f"{one} and {other}, dashes alike: {step:.0f} in lightness")
    return out


# --- Faults of the layout -----------------------------------------------------------------------


def faults(figure) -> list[str]:
    """Words that are cut or meet, data that are cut, legends on curves."""
    figure.draw_without_rendering()
    return words_astray(figure) + cut_data(figure) + legends_over_data(figure)


# --- Words --------------------------------------------------------------------------------------


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


# --- Data ---------------------------------------------------------------------------------------


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
