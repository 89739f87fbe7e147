"""The catalogue that the explorer reads from Python: a new estimator is drawn with no edit in
JavaScript, by its table in the page that stands alone and by Python's answers in a notebook.
"""

import csv
import json
import re
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from browser import FRONT, served, turn

import lab
from lab import plugins
from lab.cli import main
from lab.explorer import axes, page
from lab.explorer.page_catalogue import CLOSED_FORMS, SIZES, described, tables
from lab.mathematics import estimators
from lab.show.line_styles import line_style
from lab.toy import paired

EXACT = 1e-9
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
def plugin(tmp_path, monkeypatch):
    """A folder of the user's with the plugin mine.py; what this process registers is undone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAB_PLUGINS", "mine.py")
    monkeypatch.setattr(plugins, "_loaded", {})
    monkeypatch.setattr(estimators, "_CATALOGUE", dict(estimators._CATALOGUE))
    monkeypatch.setattr(estimators, "ALIASES", dict(estimators.ALIASES))
    estimators._named.cache_clear()
    (tmp_path / "mine.py").write_text(PLUGIN)
    yield tmp_path
    estimators._named.cache_clear()


def held(text: str) -> dict:
    """The catalogue in a page."""
    return json.loads(
        re.search(r'<script type="application/json"[^>]*>\s*(.*?)\s*</script>', text)[1]
    )


# --- What Python writes -------------------------------------------------------------------------


def test_an_entry_of_the_catalogue_is_in_the_page_and_what_has_a_closed_form_needs_no_table(
    monkeypatch,
):
    before = [table["spec"] for table in held(page.html())["tables"]]
    assert not set(CLOSED_FORMS) & set(before)
    monkeypatch.setattr(estimators, "_CATALOGUE", dict(estimators._CATALOGUE))

    @lab.register(label="twice RLOO", limit=2 * lab.objective("rl"), least=2)
    def twice(N):
        """Twice the advantages of RLOO."""
        gap, offset = lab.estimator("rloo").coefficients(N)
        return 2 * gap, 2 * offset

    found = held(page.html())
    assert found["estimators"]["twice"] == {
        "label": "twice RLOO",
        "about": "Twice the advantages of RLOO.",
        "citation": "",
        "options": {},
    }
    style = line_style("twice")
    assert found["looks"]["twice"] == [style.color, list(style.dash[1])]
    *others, table = found["tables"]
    assert [other["spec"] for other in others] == before
    assert (table["spec"], table["label"], table["least"]) == ("twice", "twice RLOO", 2)
    assert list(map(int, table["coefficients"])) == [N for N in SIZES if N >= 2]
    np.testing.assert_array_equal(
        table["coefficients"]["48"], lab.estimator("twice").coefficients(48)
    )
    for axis, limit in table["limit"].items():
        p = axes.pass_rates(axis)
        np.testing.assert_allclose(limit["weight"], np.full_like(p, 2))
        np.testing.assert_allclose(limit["objective"], 2 * (p - 0.5))


def test_a_plugin_is_in_the_page_with_the_options_that_were_asked_for(plugin):
    found = held(page.html(["Scaled(factor=0.5)", "bare(order=3)", "rloo"]))
    assert found["estimators"]["Scaled"]["options"] == {
        "factor": {"kind": "written", "start": 2.0},
        "signed": {"kind": "choice", "values": [True, False], "start": False},
    }
    assert found["estimators"]["bare"] | {"about": ""} == {
        "label": None,
        "about": "",
        "citation": "",
        "options": {"order": {"kind": "written", "required": True}},
    }
    of = {table["spec"]: table for table in found["tables"]}
    assert list(of)[-3:] == ["Scaled", "Scaled(factor=0.5)", "bare(order=3)"]
    assert of["Scaled(factor=0.5)"]["label"] == "MaxRL times 0.5"
    assert "5" not in of["Scaled"]["coefficients"] and of["bare(order=3)"]["limit"] is None
    usual = [table["spec"] for table in tables()]
    assert usual[-1] == "Scaled" and "bare" not in usual  # it has no default


def test_values_of_a_limit_that_are_not_finite_are_left_out(plugin):
    (plugin / "mine.py").write_text(
        "import lab\nimport numpy as np\n\n"
        "edge = lab.objective(lambda p: np.where(p < 0.5, np.inf, 1.0))\n\n"
        "@lab.register(limit=edge)\ndef edged(N):\n    return [1] * N, [0] * N\n"
    )
    table = held(page.html())["tables"][-1]
    assert table["spec"] == "edged"
    weight = table["limit"]["linear"]["weight"]
    assert weight[:120] == [None] * 120 and weight[120:] == [1] * 121


# --- The page that stands alone -----------------------------------------------------------------


@pytest.fixture
def tab(chromium):
    """An empty tab; fails if the page errs."""
    opened, said = chromium.new_page(viewport={"width": 1300, "height": 1000}), []
    opened.set_default_timeout(10_000)
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    opened.close()
    assert said == []


def columns(tab) -> dict[str, np.ndarray]:
    with tab.expect_download() as found:
        tab.locator(".saver:visible").get_by_role("button", name="CSV").click()
    rows = list(csv.reader(Path(found.value.path()).read_text().splitlines()))
    return {
        name: np.array([float(x) for x in column if x]) for name, *column in zip(*rows, strict=True)
    }


def hashed(**state) -> str:
    return quote(json.dumps(state))


def show(tab, address: str, **state) -> None:
    tab.goto("about:blank")
    tab.goto(f"{address}#{hashed(**state)}")
    tab.wait_for_selector(".lab-explorer")


def test_the_page_of_the_command_draws_a_plugin(plugin, tab, capsys):
    specs = ["Scaled", "Scaled(factor=0.5)", "bare(order=3)"]
    path = plugin / "page.html"
    assert main(["--plugin", "mine.py", "explore", "--html", str(path), f"curves={specs}"]) == 0
    tab.goto(capsys.readouterr().out.strip())
    found = columns(tab)
    for spec in specs:
        np.testing.assert_allclose(
            found[f"{spec} N=16"], lab.induced_weight(spec, 16, found["p"]), rtol=EXACT
        )
    np.testing.assert_allclose(found["limit of Scaled"], 2 / found["p"], rtol=EXACT)
    assert "limit of bare(order=3)" not in found
    labels = tab.locator(".item strong").all_inner_texts()
    assert labels == ["MaxRL times 2", "MaxRL times 0.5", "bare"]
    tab.locator(".item .term").first.focus()
    assert "</script> times a factor" in tab.get_by_role("tooltip").inner_text()
    assert tab.locator(".item input, .item .segmented").count() == 0  # the page cannot change them
    colors = tab.locator('.lines path[data-name="Scaled"]').first.get_attribute("stroke")
    # on a light ground the light looks are darker, see LIGHT in front/looks.js
    darker = {"#30c2fa": "#0d90c4", "#e6a31e": "#b97d00", "#999933": "#85852b"}
    color = line_style("Scaled").color
    assert colors == darker.get(color, color)

    tab.get_by_label("add an estimator").select_option("Scaled")
    assert tab.locator(".item").count() == 4
    assert "bare" not in tab.get_by_label("add an estimator").inner_text().split()


@pytest.mark.parametrize("axis", list(axes.AXES))
def test_the_limit_of_a_plugin_is_drawn_for_every_quantity_that_has_one(plugin, tab, axis):
    address = page.write(plugin / "page.html")
    ml = lab.objective("ml")
    expected = {
        "weight": lambda p: 2 / p,
        "objective": lambda p: 2 * (ml.value(p) - ml.value(0.5)),
        "contrast": lambda p: 2 * (1 - p),
    }
    show(tab, address, curves=["Scaled"], x=axis)
    for quantity, value in expected.items():
        turn(tab, f"#{hashed(curves=['Scaled'], quantity=quantity, x=axis)}")
        found = columns(tab)
        np.testing.assert_allclose(
            found["limit of Scaled"], value(found["p"]), rtol=EXACT, atol=EXACT
        )
    turn(tab, f"#{hashed(curves=['Scaled'], normalise=True, x=axis)}")
    found = columns(tab)
    np.testing.assert_allclose(found["limit of Scaled"], 0.5 / found["p"], rtol=EXACT)


def test_a_size_that_the_page_does_not_hold_is_drawn_at_the_nearest_and_says_so(plugin, tab):
    address = page.write(plugin / "page.html")
    show(tab, address, curves=["Scaled", "rloo"], N=100)
    found = columns(tab)
    np.testing.assert_allclose(
        found["Scaled N=96"], lab.induced_weight("Scaled", 96, found["p"]), rtol=EXACT
    )
    assert "rloo N=100" in found and "Scaled N=100" not in found
    assert tab.locator(".item strong").first.inner_text() == "MaxRL times 2 at N = 96"
    assert "w at N = 96, 100" in tab.locator(".readout thead").inner_text()
    show(tab, address, curves=["Scaled", "Scaled(factor=3)"], N=2)
    needs, absent = tab.locator(".item .fault").all_inner_texts()
    assert "needs groups of at least 3" in needs and "holds no numbers of" in absent


def test_the_toy_trains_with_a_plugin_and_refuses_a_size_that_the_page_does_not_hold(plugin, tab):
    address = page.write(plugin / "page.html")
    show(tab, address, panel="toy", left="Scaled", right="rloo", problems=8, N=16)
    for _ in range(3):
        tab.get_by_role("button", name="Step", exact=True).click()
    found = columns(tab)
    ours = paired.pass_rates(
        ["Scaled", "rloo"], rollouts=16, problems=8, steps=3, step_length=0.05, seed=0
    )
    np.testing.assert_allclose(
        np.stack([found[f"left {i}"] for i in range(8)], axis=1), ours[0], rtol=EXACT
    )
    show(tab, address, panel="toy", left="Scaled", right="rloo", problems=8, N=100)
    said = tab.locator(".fault:visible").inner_text()
    assert "this page holds no N = 100, the nearest is 96" in said


# --- The widget ---------------------------------------------------------------------------------

# A model as anywidget gives it, whose messages this process answers.
MODEL = """async ([state, catalogue]) => {
  const { default: widget } = await import('/main.js'), heard = {};
  const values = { state, catalogue, has_counts: false };
  window.model = {
    get: (key) => values[key],
    set: (key, value) => { values[key] = value; },
    save_changes: () => {},
    on: (event, listener) => { heard[event] = listener; },
    send: async (question) => {
      const [content, arrays] = await window.ask(question);
      const views = arrays.map((row) => new DataView(Float64Array.from(row).buffer));
      heard['msg:custom'](content, views);
    },
  };
  document.body.replaceChildren();
  widget.render({ model: window.model, el: document.body });
}"""


def test_a_notebook_draws_a_plugin_at_any_size_and_sets_its_options(plugin, tab, monkeypatch):
    from lab.explorer import Explorer

    explorer, sent = Explorer(curves=["Scaled", "rloo"], N=100), []
    assert explorer.catalogue == described() and "Scaled" in explorer.catalogue["estimators"]
    monkeypatch.setattr(explorer, "send", lambda *answer, buffers: sent.append((*answer, buffers)))

    def ask(question):
        explorer._answer(explorer, question, [])
        content, buffers = sent.pop()
        return content, [np.frombuffer(part).tolist() for part in buffers]

    with served(FRONT) as address:
        tab.goto(address)
        tab.expose_function("ask", ask)
        tab.evaluate(MODEL, [explorer.state, explorer.catalogue])
        tab.wait_for_selector(".badge:has-text('computed by lab')")
        found = columns(tab)
        for spec in ("Scaled", "rloo"):
            np.testing.assert_array_equal(
                found[f"{spec} N=100"], lab.induced_weight(spec, 100, axes.pass_rates("log"))
            )
        np.testing.assert_allclose(found["limit of Scaled"], 2 / found["p"], rtol=EXACT)
        gates = tab.get_by_role("group", name="gate", exact=True)
        gates.get_by_role("button", name="redraw").click()
        tab.wait_for_selector(".badge:has-text('computed by lab')")
        found, p = columns(tab), axes.pass_rates("log")
        for spec in ("Scaled", "rloo"):
            np.testing.assert_array_equal(
                found[f"{spec}, N=100, gate=redraw"],
                lab.recipe(f"{spec}, N=100, gate=redraw").weight(p),
            )
        gates.get_by_role("button", name="none").click()
        factor = tab.locator(".item").first.get_by_label("factor")
        factor.fill("7.5")
        factor.press("Enter")
        tab.wait_for_selector(".item strong:has-text('MaxRL times 7.5')")
        tab.get_by_role("group", name="signed").get_by_role("button", name="yes").click()
        signed = '.lines path[data-name="Scaled(factor=7.5, signed=True)"]'
        tab.wait_for_selector(signed, state="attached")  # negative: not on a logarithmic axis
        factor = tab.locator(".item").first.get_by_label("factor")
        factor.fill("seven")
        factor.press("Enter")
        assert factor.evaluate("element => element.validationMessage").startswith("write a number")
