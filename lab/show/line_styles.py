"""Line styles: the colour, dash and marker of every objective and estimator, for all pictures.

They need no matplotlib, so that the explorer's page is written without it.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import Any, NamedTuple

from lab.errors import parse_call
from lab.estimators import OPERATIONS, estimator
from lab.memories import has_memory, with_memory
from lab.objectives import objective, objective_names


class LineStyle(NamedTuple):
    """How an objective is drawn in every figure; dashes and markers tell lines apart in grey."""

    label: str
    color: str
    dash: Any = "-"
    marker: str = "o"

    @property
    def line(self) -> dict[str, Any]:
        """Colour and dashes, as keyword arguments for matplotlib."""
        return {"color": self.color, "linestyle": self.dash}


# The palette of Okabe and Ito, told apart by colour-blind readers, ...
BLUE = "#0072b2"
ORANGE = "#e69f00"
RED = "#d55e00"
GREEN = "#009e73"
SKY = "#56b4e9"
BLACK = "#000000"
# ... and two colours of Paul Tol's.
PURPLE = "#aa4499"
OLIVE = "#999933"
# Objectives of one family share a colour. A dash is (offset, (on, off, ...)) in line widths.
LINE_STYLES = {
    "rl": LineStyle("RL", BLUE, "-", "s"),
    "rloo": LineStyle("RLOO", BLUE, "-", "s"),
    "reinforce_mean": LineStyle("REINFORCE", BLUE, (0, (5, 1.5)), "s"),
    "reinforce": LineStyle("REINFORCE, no baseline", SKY, (0, (1, 1)), "s"),
    "arcsine": LineStyle("GRPO", ORANGE, (0, (4, 1, 1, 1)), "^"),
    "grpo": LineStyle("GRPO", ORANGE, (0, (4, 1, 1, 1)), "^"),
    "maxrl": LineStyle("MaxRL", RED, "-", "o"),
    "truncated": LineStyle("MaxRL", RED, "-", "o"),
    "maxrl_eq6": LineStyle("MaxRL eq. 6", PURPLE, (0, (3, 1)), "v"),
    "maxrl_eq7": LineStyle("MaxRL eq. 7", SKY, (0, (2, 1)), "D"),
    "maxrl_loo": LineStyle("MaxRL leave-one-out", GREEN, (0, (6, 1, 1, 1, 1, 1)), "P"),
    "ml": LineStyle("maximum likelihood", BLACK, (0, (1, 1)), "*"),
    "log_odds": LineStyle("PACS", GREEN, (0, (6, 1.5, 1, 1.5)), "D"),
    "pacs_anchor": LineStyle("PACS", GREEN, (0, (6, 1.5, 1, 1.5)), "D"),
    "pacs": LineStyle("PACS", GREEN, (0, (6, 1.5, 1, 1.5)), "D"),
    "pkpo": LineStyle("PKPO", OLIVE, (0, (2, 1, 1, 1)), "<"),
    "from_weight": LineStyle("drawn", PURPLE, (0, (4, 1, 2, 1)), "X"),
}
# For estimators without a style above.
FURTHER_DASHES = ((0, (7, 1)), (0, (3, 1, 1, 1)), (0, (1, 2)), (0, (2, 2)), (0, (5, 1, 2, 1)))


def line_style(name: str) -> LineStyle:
    """The line style of an objective or estimator, by its name or spec."""
    key = parse_call(name)[0]
    return LINE_STYLES[key] if key in LINE_STYLES else further_style(name)


def further_style(name: str) -> LineStyle:
    """The style of an objective or estimator that has none of its own: its label, a made-up look.

    LabError: there is no such objective or estimator.
    """
    key, options = parse_call(name)
    if key in OPERATIONS:
        return line_style(options["of"])._replace(label=estimator(name).label)
    if has_memory(name):
        label = with_memory(name, 2).estimator().label
    else:
        label = (objective if key in objective_names() else estimator)(name).label
    return LineStyle(label, *made_up_look(key))


def made_up_look(name: str) -> tuple[str, Any, str]:
    """A colour, dash and marker that follow from a name: the same in every figure."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    looks = list(itertools.product((PURPLE, OLIVE, SKY, BLACK), FURTHER_DASHES, "vD<>pXh"))
    return looks[number % len(looks)]
