"""Colours that every reader tells apart; checks of pictures that notice what they are to notice."""

import itertools

import numpy as np
import picture_checks
import pytest
from picture_checks import APART, SHADES_APART, ciede2000, distance, lightness

from lab.show import plots
from lab.show.line_styles import OLIVE, PALETTE, REFERENCE_STYLES, VARIANT_STYLES

# Pairs from the table of Sharma, Wu and Dalal 2005 with their distance.
PUBLISHED_DISTANCES = [
    ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
    ((50.0, 2.5, 0.0), (50.0, 0.0, -2.5), 4.3065),
    ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
    ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0009), 7.1792),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
]
NEVER_TOGETHER = [{plots.PURPLE, plots.BLUE}, {plots.PURPLE, plots.GREEN}]


@pytest.mark.parametrize("first, second, expected", PUBLISHED_DISTANCES)
def test_the_distance_of_colours_is_the_published_one(first, second, expected):
    assert ciede2000(np.array(first), np.array(second)) == pytest.approx(expected, abs=5e-5)


def test_red_and_green_of_one_lightness_are_close_for_the_colour_blind_alone():
    red, green = "#c8504c", "#6e8a1e"
    normal = ciede2000(picture_checks.cielab(red), picture_checks.cielab(green))
    assert normal > 50 > APART > distance(red, green)


def test_the_colours_of_the_palette_are_told_apart_by_every_reader():
    for one, other in itertools.combinations(PALETTE, 2):
        if {one, other} not in NEVER_TOGETHER:
            assert distance(one, other) >= APART, (one, other)
    assert OLIVE not in PALETTE


def test_a_method_that_a_setting_sets_apart_looks_like_no_other():
    looks = {}
    for look in (*plots.LINE_STYLES.values(), *VARIANT_STYLES.values()):
        looks.setdefault((look.color, look.dash), set()).add(look.label)
    # An objective looks like the estimator that climbs it, whose name it may differ from.
    assert [labels for labels in looks.values() if len(labels) > 1] == [{"RL", "RLOO"}]
    assert {look.color for look in REFERENCE_STYLES.values()} == {plots.GREY, plots.BLACK}


@pytest.mark.parametrize("name", ["rloo", "grpo", "maxrl", "pacs", "from_weight"])
def test_shades_go_from_light_to_dark_in_steps_that_grey_shows(name):
    steps = -np.diff([lightness(shade) for shade in plots.line_style(name).shades(5)])
    assert (steps >= SHADES_APART).all()


@pytest.mark.parametrize("name", plots.LINE_STYLES)
def test_words_in_the_ink_of_a_look_are_readable_on_white(name):
    assert lightness(plots.line_style(name).ink) < 57


# --- Checks of pictures -------------------------------------------------------------------------


@pytest.fixture
def pair():
    figure, axes = plots.panels(columns=2)
    yield figure, axes
    plots.plt.close(figure)


def test_titles_that_are_cut_or_meet_would_be_noticed(pair):
    figure, axes = pair
    axes[0].set_title("a title too long for one of two panels")
    axes[1].set_title("another")
    (said,) = picture_checks.faults(figure)
    assert said.endswith("meets 'another'")
    axes[0].set_title("")
    axes[1].set_title("a title too long for one of two panels")
    (said,) = picture_checks.faults(figure)
    assert said.endswith("leaves the figure")


def test_ticks_that_meet_would_be_noticed(pair):
    figure, axes = pair
    axes[0].set_xticks([0.1, 0.12, 0.9], ["0.100", "0.120", "0.9"])
    assert picture_checks.faults(figure) == ["'0.100' meets '0.120'"]


def test_data_that_are_cut_or_covered_would_be_noticed(pair):
    figure, axes = pair
    axes[0].plot([0, 1, 2], [0, 1, 2], label="line")
    axes[1].plot([0, 1, 2], [0, 1, 2], "o-", label="marks")
    assert picture_checks.faults(figure) == []
    axes[0].set_ylim(0, 1.5)
    axes[1].set_ylim(0, 2.2)
    assert picture_checks.faults(figure) == [
        "panel 0: line is cut",
        "a mark of panel 1: marks is cut",
    ]
    axes[0].fill_between([0, 1], [0, 0], [1, 1.6])
    assert "panel 0: a band or bar is cut" in picture_checks.faults(figure)
    axes[1].legend(loc="center")
    assert picture_checks.faults(figure)[-1] == "the legend of panel 1 lies on a curve"


def test_looks_that_are_too_alike_would_be_noticed(pair):
    figure, (left, right) = pair
    line = [0, 1], [0, 1]
    left.plot(*line, color=plots.RED)
    left.plot(*line, color=plots.ORANGE, linestyle="--")
    right.plot(*line, color=plots.RED)
    right.plot(*line, color=plots.ORANGE, linestyle="-")
    assert picture_checks.too_alike(figure) == []
    left.plot(*line, color="#999933", linestyle=":")
    right.plot(*line, color=plots.BLUE)
    assert len(picture_checks.too_alike(figure)) == 3
    assert picture_checks.too_alike(figure)[-1].endswith("dashes alike: 2 in lightness")


def test_labels_at_the_ends_of_lines_are_moved_apart_and_stay_in_order(pair):
    figure, (left, _) = pair
    left.set_ylim(0, 1)
    heights = {"maxrl": 0.5, "grpo": 0.51, "rloo": 0.52, "pacs": 0.9}
    looks = {name: plots.line_style(name) for name in heights}
    plots.label_ends(left, [(looks[name].label, heights[name], looks[name]) for name in heights])
    assert picture_checks.faults(figure) == []
    places = {text.get_text(): text.get_window_extent().y0 for text in left.texts}
    assert sorted(places, key=places.get) == ["MaxRL", "GRPO", "RLOO", "PACS"]
    alone = left.transData.transform((0, 0.9))[1]
    (box,) = (text.get_window_extent() for text in left.texts if text.get_text() == "PACS")
    assert (box.y0 + box.y1) / 2 == pytest.approx(alone, abs=1.5)
