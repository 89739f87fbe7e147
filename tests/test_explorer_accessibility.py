"""The explorer under axe-core's rules: every scene, every panel of the workbench, on a phone and on
a desk, light and dark.

All rules of axe-core run, those of best practice and of WCAG's level AAA too. The package
axe-playwright-python brings axe-core along, so that no network is needed.
"""

import json
from urllib.parse import quote

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from browser import PHONE, turn

DESK = {"viewport": {"width": 1280, "height": 900}}
SCENES = ["start", "unseen", "limit", "both-ends", "dead-groups", "draw", "your-data"]
PANELS = {
    "curves": {},
    "curves behind a gate": {
        "gate": "between(0.2, 0.8)",
        "objectives": ["power(a=0.75, b=0.25)"],
        "quantity": "contrast",
    },
    "curves with a fault": {"curves": ["grpo(ddof=3)", "truncated(order=99)", "lift(rloo)"]},
    "draw": {"panel": "draw"},
    "draw by formula": {"panel": "draw", "by": "formula"},
    "draw with a fault": {"panel": "draw", "by": "formula", "formula": "exp(-"},
    "files": {"panel": "files"},
    "toy": {"panel": "toy", "across": "rollouts", "right_N": 32},
    "toy of problems that compete": {"panel": "toy", "shared": 24},
    "toy without its file": {"panel": "toy", "start": "own"},
}
# `resultTypes`: of what is in order the names of the rules are enough, and one element each.
FAULTS = """async () => {
  const runOnly = axe.getRules().map(({ ruleId }) => ruleId);
  const { violations, passes } = await axe.run(document, { runOnly, resultTypes: ['violations'] });
  const said = violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, html, failureSummary }) =>
      [id, impact, String(target), html.slice(0, 120), failureSummary].join(' | ')));
  return [said, passes.map(({ id }) => id)];
}"""


def axe(tab) -> tuple[list[str], list[str]]:
    """What axe-core finds wrong on a page that it is loaded into, and the rules it found kept."""
    return tab.evaluate(FAULTS)


@pytest.fixture
def screens(tabs, address):
    """Show the page at a hash on a phone and on a desk, light and dark, every fold open; an
    iterator over the tabs. `prepare(tab)` is called once on each screen; where the page is `alone`,
    no other hash was on it before.
    """

    def each(hash, prepare=None, alone=False):
        for size in (PHONE, DESK):
            with tabs.quiet(address, stays=not alone, **size, reduced_motion="reduce") as tab:
                tab.emulate_media(color_scheme="light")
                if tab.url.startswith(address):
                    turn(tab, hash)
                else:
                    tab.goto(address + hash)
                    tab.evaluate(AXE_SCRIPT)
                tab.wait_for_selector(".lab-explorer[data-revision], .lab-story[data-drawn]")
                tab.evaluate("document.querySelectorAll('details').forEach((e) => e.open = true)")
                if prepare:
                    prepare(tab)
                for scheme in ("light", "dark"):
                    tab.emulate_media(color_scheme=scheme)
                    if tab.locator(".lab-explorer").count():  # whose script sets its colours
                        tab.wait_for_selector(f'.lab-explorer[data-theme="{scheme}"]')
                    yield tab

    return each


def of_panel(name: str) -> str:
    return f"#{quote(json.dumps(PANELS[name]))}" if PANELS[name] else "#workbench"


@pytest.mark.parametrize("name", [*SCENES, "limit&embed"])
def test_no_scene_breaks_a_rule_of_axe(screens, name):
    for tab in screens(f"#{name}"):
        said, kept = axe(tab)
        assert not said
        assert {"color-contrast-enhanced", "label", "aria-allowed-attr", "heading-order"} <= set(
            kept
        )


def with_an_example(tab) -> None:
    tab.get_by_role("button", name="Show an invented example").click()
    tab.get_by_text("Lines: 95 %").wait_for()


def with_a_card(tab) -> None:
    tab.locator(".item .term").first.focus()
    tab.get_by_role("tooltip").wait_for()


PREPARE = {"files": with_an_example, "curves": with_a_card}


@pytest.mark.parametrize("name", PANELS)
def test_no_panel_of_the_workbench_breaks_a_rule_of_axe(screens, name):
    # A file that was read stays on the page, and there is a panel without it.
    for tab in screens(of_panel(name), PREPARE.get(name), alone=name == "files"):
        said, kept = axe(tab)
        assert not said
        assert {"color-contrast-enhanced", "label", "aria-allowed-attr", "region"} <= set(kept)
