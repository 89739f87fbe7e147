"""The catalogue that the explorer reads from Python: a new estimator is drawn with no edit in
JavaScript, by its table in the page that stands alone and by Python's answers in a notebook.
"""

import json
import re
from urllib.parse import quote

import numpy as np
import pytest
from browser import close, columns, quiet, step

import lab
from lab.cli import main
from lab.explorer import page
from lab.explorer.page_catalogue import CLOSED_FORMS, SIZES, tables
from lab.toy import paired

PLUGIN = '''\
import lab


@lab.register(
    label=lambda factor: f"MaxRL times {factor:g}",
    limit=lambda factor: factor * lab.objective("ml"),
    least=3,
)
def Scaled(N, *, factor=2.0, signed=False):
    """The advantages of MaxRL </script> times a factor."""
    if N == 5:
        raise lab.LabError("not at N = 5")
    gap, offset = lab.estimator("maxrl").coefficients(N)
    factor = -factor if signed else factor
    return factor * gap, factor * offset


@lab.register(least=2)
def bare(N, *, order):
    """It has no label, no limit, and an option without a default."""
    return [order] * N, [0] * N
'''.replace("lambda factor:", "lambda factor, signed:")


@pytest.fixture
def plugin(own_folder, monkeypatch):
    """A folder of the user's with the plugin mine.py."""
    monkeypatch.setenv("LAB_PLUGINS", "mine.py")
    (own_folder / "mine.py").write_text(PLUGIN)
    return own_folder


def held(text: str) -> dict:
    """The catalogue in a page."""
    return json.loads(
        re.search(r'<script type="application/json"[^>]*>\s*(.*?)\s*</script>', text)[1]
    )


# --- What Python writes -------------------------------------------------------------------------


def test_what_has_a_closed_form_needs_no_table():
    assert not set(CLOSED_FORMS) & {table["spec"] for table in held(page.html())["tables"]}


def test_a_plugin_is_in_the_page_with_the_options_that_were_asked_for(plugin):
    found = held(page.html(["Scaled(factor=0.5)", "bare(order=3)", "rloo"]))
    assert found["estimators"]["Scaled"]["options"] == {
        "factor": {"kind": "written", "start": 2.0},
        "signed": {"kind": "choice", "values": [True, False], "start": False},
    }
    bare = found["estimators"]["bare"]
    assert bare["label"] is None
    assert bare["options"] == {"order": {"kind": "written", "required": True}}
    of = {table["spec"]: table for table in found["tables"]}
    assert list(of)[-3:] == ["Scaled", "Scaled(factor=0.5)", "bare(order=3)"]
    assert of["Scaled(factor=0.5)"]["label"] == "MaxRL times 0.5"
    assert of["bare(order=3)"]["limit"] is None and of["Scaled"]["least"] == 3
    sizes = [N for N in SIZES if N >= 3 and N != 5]
    assert list(map(int, of["Scaled"]["coefficients"])) == sizes
    usual = [table["spec"] for table in tables()]
    assert usual[-1] == "Scaled" and "bare" not in usual  # it has no default


# --- The page that stands alone -----------------------------------------------------------------


@pytest.fixture
def tab(chromium, plugin):
    """A tab for pages in the user's folder."""
    with quiet(chromium, plugin.as_uri()) as opened:
        yield opened


def show(tab, address: str, **state) -> None:
    tab.goto("about:blank")
    tab.goto(f"{address}#{quote(json.dumps(state))}")
    tab.wait_for_selector(".lab-explorer")


def test_the_page_of_the_command_draws_a_plugin(plugin, tab, capsys):
    specs = ["Scaled", "Scaled(factor=0.5)", "bare(order=3)"]
    path = plugin / "page.html"
    assert main(["--plugin", "mine.py", "explore", "--html", str(path), f"curves={specs}"]) == 0
    tab.goto(capsys.readouterr().out.strip())
    found = columns(tab)
    for spec in specs:
        close(found[f"{spec} N=16"], lab.induced_weight(spec, 16, found["p"]))
    close(found["limit of Scaled"], 2 / found["p"])
    assert "limit of bare(order=3)" not in found
    labels = tab.locator(".item strong").all_inner_texts()
    assert labels == ["MaxRL times 2", "MaxRL times 0.5", "bare"]
    tab.locator(".item .term").first.focus()
    assert "</script> times a factor" in tab.get_by_role("tooltip").inner_text()
    assert tab.locator(".item input, .item .segmented").count() == 0  # the page cannot change them
    tab.get_by_label("add an estimator").select_option("Scaled")
    assert tab.locator(".item").count() == 4
    assert "bare" not in tab.get_by_label("add an estimator").inner_text().split()


def test_a_size_that_the_page_does_not_hold_is_drawn_at_the_nearest_and_says_so(plugin, tab):
    address = page.write(plugin / "page.html")
    show(tab, address, curves=["Scaled", "rloo"], N=100)
    found = columns(tab)
    close(found["Scaled N=96"], lab.induced_weight("Scaled", 96, found["p"]))
    assert "rloo N=100" in found and "Scaled N=100" not in found
    assert tab.locator(".item strong").first.inner_text() == "MaxRL times 2 at N = 96"
    assert "w at N = 96, 100" in tab.locator(".readout thead").inner_text()
    show(tab, address, curves=["Scaled", "Scaled(factor=3)"], N=2)
    needs, absent = tab.locator(".item .fault").all_inner_texts()
    assert "needs groups of at least 3" in needs and "holds no numbers of" in absent


def test_the_toy_trains_with_a_plugin_and_refuses_a_size_that_the_page_does_not_hold(plugin, tab):
    address = page.write(plugin / "page.html")
    show(tab, address, panel="toy", left="Scaled", right="rloo", problems=8, N=16)
    step(tab, 3)
    found = columns(tab)
    settings = dict(rollouts=16, problems=8, steps=3, step_length=0.05, seed=0)
    ours = paired.pass_rates(["Scaled"], **settings)[0]
    close(np.stack([found[f"left {i}"] for i in range(8)], axis=1), ours)
    show(tab, address, panel="toy", left="Scaled", right="rloo", problems=8, N=100)
    said = tab.locator(".fault:visible").inner_text()
    assert "this page holds no N = 100, the nearest is 96" in said
