"""The explorer under axe-core's rules: every scene, every panel of the workbench, on a phone in
light colours and on a desk in dark ones.

All rules of axe-core run, those of best practice and of WCAG's level AAA too. The package
axe-playwright-python brings axe-core along, so that no network is needed.
"""

import json
from urllib.parse import quote

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from browser import PHONE, quiet

SCREENS = {"light": PHONE, "dark": {"viewport": {"width": 1280, "height": 900}}}
SCENES = ["start", "unseen", "limit", "both-ends", "dead-groups", "your-data", "draw", "ending"]
PANELS = [
    {"gate": "between(0.2, 0.8)", "quantity": "contrast"},
    {"curves": ["grpo(ddof=3)", "truncated(order=99)", "lift(rloo)"]},
    {"panel": "draw"},
    {"panel": "draw", "by": "formula", "formula": "exp(-"},
    {"panel": "recipe", "false_positive": 0.5, "false_negative": 0.5, "averaged": True, "N": 8},
    {"panel": "verifier"},
    {"panel": "pushed", "away": 4},
    {"panel": "files"},
    {"panel": "toy", "across": "rollouts", "right_N": 32, "shared": 24},
    {"panel": "toy", "start": "own"},
]
# `resultTypes`: of what is in order the names of the rules are enough, and one element each.
FAULTS = """async () => {
  const runOnly = axe.getRules().map(({ ruleId }) => ruleId);
  const { violations, passes } = await axe.run(document, { runOnly, resultTypes: ['violations'] });
  const said = violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, html, failureSummary }) =>
      [id, impact, String(target), html.slice(0, 120), failureSummary].join(' | ')));
  return [said, passes.map(({ id }) => id)];
}"""


HASHES = [f"#{name}" for name in SCENES] + ["#limit&embed", "#workbench"]
HASHES += [f"#{quote(json.dumps(state))}" for state in PANELS]


def with_an_example(tab) -> None:
    tab.get_by_role("button", name="Show an invented example").click()
    tab.get_by_text("Lines: 95 %").wait_for()


def with_a_card(tab) -> None:
    tab.locator(".item .term").first.focus()
    tab.get_by_role("tooltip").wait_for()


PREPARE = {HASHES[-3]: with_an_example, "#workbench": with_a_card}
PREPARE[HASHES[-4]] = lambda tab: tab.locator(".mazes button").first.wait_for()


@pytest.fixture(scope="module", params=SCREENS)
def tab(request, chromium, address):
    """One for all screens of a kind, which compiles once; an error of any fails the last."""
    given = {"reduced_motion": "reduce", "color_scheme": request.param} | SCREENS[request.param]
    with quiet(chromium, address.rsplit("/", 1)[0], **given) as tab:
        yield tab


@pytest.mark.parametrize("hash", HASHES)
def test_no_screen_breaks_a_rule_of_axe(tab, address, hash):
    tab.goto("about:blank")  # or a page that stays would only hear of another hash
    tab.goto(address + hash)
    tab.wait_for_selector(".lab-explorer[data-revision], .lab-story[data-drawn]")
    tab.evaluate(AXE_SCRIPT)
    tab.evaluate("document.querySelectorAll('details').forEach((e) => e.open = true)")
    PREPARE.get(hash, lambda tab: None)(tab)
    said, kept = tab.evaluate(FAULTS)
    assert not said
    assert {"color-contrast-enhanced", "label", "aria-allowed-attr"} <= set(kept)
