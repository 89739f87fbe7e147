"""The explorer as a person uses it: the page opened from disk, and the widget in JupyterLab, in a
real Chromium.

What is drawn is taken from the page (its paths, tables and saved files) and compared with the lab.
Every test ends by asserting that the page said nothing on its console and asked nothing of any
network.
"""

import csv
import json
import re
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote
from xml.etree import ElementTree

import nbformat
import numpy as np
import pandas as pd
import pytest
from browser import jupyterlab, quiet, run_notebook

import lab
from lab.errors import write_call
from lab.explorer import answers, axes, page
from lab.explorer.page_catalogue import described
from lab.explorer.state import DEFAULTS
from lab.show.audit import audit, population
from lab.show.explain import explain
from lab.toy import paired

ROOT = Path(__file__).parents[1]
ROLLOUTS = Path(__file__).parent / "data" / "rollouts"
EXACT = 1e-9
LOG = axes.pass_rates("log")


@pytest.fixture
def opened(tabs, address):
    """Open the workbench from disk with a state in its address; a context manager."""

    @contextmanager
    def open_page(options=None, **state):
        with tabs.quiet(address, **(options or {})) as tab:
            tab.goto(address + "#" + (quote(json.dumps(state)) if state else "workbench"))
            tab.wait_for_selector(".lab-explorer[data-revision]")
            yield tab

    return open_page


def saved(tab, kind: str) -> Path:
    """The file behind one of the Save buttons of the panel on the screen."""
    with tab.expect_download() as found:
        tab.locator(".saver:visible").get_by_role("button", name=kind).click()
    return Path(found.value.path())


def columns(tab) -> dict[str, np.ndarray]:
    rows = list(csv.reader(saved(tab, "CSV").read_text().splitlines()))
    return {
        name: np.array([float(x) for x in column if x]) for name, *column in zip(*rows, strict=True)
    }


def pixels(tab, name: str) -> np.ndarray:
    """The points of a drawn line, "points 2", in pixels of its chart."""
    d = tab.locator(f'.lines path[data-name="{name}"]:visible').last.get_attribute("d")
    return np.array([[float(x) for x in pair.split()] for pair in re.split("[ML]", d)[1:]])


def close(ours, theirs, tolerance=EXACT):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


def until(fact, seconds: float = 20) -> None:
    """Wait for `fact()`, asked from here: the page's own policy forbids the evaluation of text."""
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def number(tab):
    return tab.get_by_label("Rollouts a problem, N, as a number").locator("visible=true")


# --- Curves -------------------------------------------------------------------------------------


def test_the_page_from_disk_draws_the_numbers_of_the_lab(opened):
    with opened() as tab:
        found = columns(tab)
        assert len(found["p"]) == axes.POINTS
        for spec in DEFAULTS["curves"]:
            close(found[f"{spec} N=16"], lab.induced_weight(spec, 16, found["p"]))
            close(found[f"limit of {spec}"], lab.estimator(spec).limit.weight(found["p"]))


def test_a_drawn_line_lies_where_its_numbers_say(opened):
    """The pixels of the path are those of log p and log w, by one straight line each."""
    with opened(curves=["maxrl"], N=64) as tab:
        found, drawn = columns(tab), pixels(tab, "maxrl")
        for pixel, value in (
            (drawn[:, 0], found["p"]),
            (drawn[:, 1], lab.induced_weight("maxrl", 64, found["p"])),
        ):
            slope, start = np.polyfit(np.log(value), pixel, 1)
            assert (
                abs(slope) > 20 and np.abs(slope * np.log(value) + start - pixel).max() < 0.02
            )  # two decimals
        for words, value in (("0.01", 0.01), ("0.1", 0.1)):  # and the ticks lie on the same line
            tick = tab.locator(".axes:visible text", has_text=re.compile(f"^{words}$")).first
            slope, start = np.polyfit(np.log(found["p"]), drawn[:, 0], 1)
            assert float(tick.get_attribute("x")) == pytest.approx(
                slope * np.log(value) + start, abs=0.05
            )


def test_every_line_has_its_name_beside_it(opened):
    specs = {"grpo": "GRPO", "maxrl": "MaxRL", "pkpo(k=8)": "PKPO k=8"}
    with opened(curves=list(specs), N=32) as tab:
        texts = tab.locator(".stage > .chart .texts text")
        places = {
            one.text_content(): (float(one.get_attribute("x")), float(one.get_attribute("y")))
            for one in texts.all()
        }
        assert set(places) == set(specs.values())
        lines = {label: pixels(tab, spec) for spec, label in specs.items()}
        for label, place in places.items():
            near = {name: np.hypot(*(points - place).T).min() for name, points in lines.items()}
            assert min(near, key=near.get) == label and near[label] < 22, (label, near)


def test_the_axis_goes_down_to_a_millionth_and_n_up_to_4096(opened):
    with opened(curves=["maxrl", "grpo"], N=4096, x="deep") as tab:
        found = columns(tab)
        assert found["p"][0] == pytest.approx(1e-6)
        for spec in ("maxrl", "grpo"):
            close(found[f"{spec} N=4096"], lab.induced_weight(spec, 4096, found["p"]))


def test_a_gate_is_drawn_beside_the_estimator_alone_and_told_in_numbers(opened):
    with opened(curves=["maxrl", "maxrl_eq7"], N=8) as tab:
        for gate in ("drop", "redraw", "between"):
            gates = tab.get_by_role("group", name="gate", exact=True)
            gates.get_by_role("button", name=gate).click()
            text = "between(0.2, 0.8)" if gate == "between" else gate
            found = columns(tab)
            for spec in ("maxrl", "maxrl_eq7"):
                ours = lab.recipe(f"{spec}, N=8, gate={text}")
                close(found[ours.spec], ours.weight(found["p"]))
                close(found[f"{spec} N=8"], lab.induced_weight(spec, 8, found["p"]))
                assert len(pixels(tab, ours.spec)) > 50 and len(pixels(tab, spec)) > 50
            # the numbers at p = 0.1: weight, limit, weight behind the gate, rollouts, share kept
            cells = tab.locator(".readout tbody tr").first.locator("td").all_inner_texts()
            at = lab.effective_weight("maxrl", 8, 0.1, gate=text)
            shown = [float(cell) for cell in cells[2:5]]
            assert shown == pytest.approx([float(x) for x in at], rel=1e-3)
        lowest = tab.get_by_label("lowest K/N, as a number")
        lowest.fill("0.9")
        lowest.press("Enter")
        assert "This gate keeps no group" in tab.locator(".gate .fault").inner_text()
        assert not any("gate" in name for name in columns(tab))
        tab.get_by_label("Rollouts a problem, N, as a number").first.fill("10")
        tab.get_by_label("Rollouts a problem, N, as a number").first.press("Enter")
        found = columns(tab)
        ours = lab.recipe("maxrl, N=10, gate=between(0.9, 0.9)")
        close(found[ours.spec], ours.weight(found["p"]))
        # The page writes its address 150 ms after the last change.
        tab.wait_for_url(re.compile(r"between\(0\.9,"), wait_until="commit")
        assert unquote(tab.url).endswith('"gate":"between(0.9, 0.9)"}')
        tab.get_by_role("tab", name="efficiency").click()
        assert "It is drawn for weight and contrast." in tab.locator(".gate .rules").inner_text()
        assert not any("gate" in name for name in columns(tab))


@pytest.mark.parametrize(
    "quantity, words",
    [
        ("objective", "objective J"),
        ("efficiency", "efficiency"),
        ("mass", "signal mass"),
        ("contrast", "contrast"),
    ],
)
def test_each_quantity_is_one_press_away_and_is_that_of_the_lab(opened, quantity, words):
    with opened(N=40) as tab:
        tab.get_by_role("tab", name=words).click()
        tab.get_by_role("group", name="axis of the pass rate").get_by_role(
            "button", name="log-odds"
        ).click()
        found = columns(tab)
        for spec in DEFAULTS["curves"]:
            close(
                found[f"{spec} N=40"],
                answers.QUANTITIES[quantity](lab.estimator(spec), 40, found["p"]),
            )


def test_dragging_the_slider_moves_the_curves(opened):
    with opened() as tab:
        before = pixels(tab, "maxrl")
        box = tab.get_by_label("Rollouts a problem, N", exact=True).bounding_box()
        y = box["y"] + box["height"] / 2
        tab.mouse.move(box["x"] + box["width"] / 3, y)
        tab.mouse.down()
        tab.mouse.move(box["x"] + 0.8 * box["width"], y, steps=8)
        tab.mouse.up()
        N = int(number(tab).input_value())
        assert 300 < N < 1500 and np.abs(pixels(tab, "maxrl") - before).max() > 10
        close(columns(tab)[f"maxrl N={N}"], lab.induced_weight("maxrl", N, axes.pass_rates("log")))


def test_the_keyboard_alone_is_enough(opened):
    with opened() as tab:
        tab.get_by_label("Rollouts a problem, N", exact=True).focus()
        tab.keyboard.press("ArrowRight")
        assert number(tab).input_value() == "17"
        tab.get_by_role("tab", name="weight").focus()
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate("document.activeElement.textContent").startswith("objective J")
        assert "objective J" in tab.locator(".axes:visible").last.inner_html()
        tab.keyboard.press("ArrowLeft")
        tab.get_by_label("curves over the pass rate").focus()
        for _ in range(5):
            tab.keyboard.press("Shift+ArrowLeft")
        p = float(re.search(r"p = ([\d.]+)", tab.locator(".readout output").inner_text())[1])
        told = tab.locator(".readout tbody tr", has_text="MaxRL").locator("td").all_inner_texts()
        ours = [
            f(lab.estimator("maxrl"), 17, np.array([p]))[0] for f in answers.QUANTITIES.values()
        ]
        told = [float(text.replace("−", "-")) for text in (told[0], *told[2:])]
        np.testing.assert_allclose(told, ours, rtol=0.01)  # p is read out to three figures
        pad = tab.get_by_role("application")
        pad.focus()
        pad.press("ArrowRight")
        pad.press("ArrowUp")
        assert "power(a=0.55, b=0.55)" in columns(tab)


def test_the_readout_follows_the_pointer(opened):
    with opened() as tab:
        box = tab.get_by_label("curves over the pass rate").bounding_box()
        tab.mouse.move(box["x"] + 60, box["y"] + 100)
        first = tab.locator(".readout output").inner_text()
        tab.mouse.move(box["x"] + 600, box["y"] + 100)
        assert tab.locator(".readout output").inner_text() != first


def test_options_of_an_estimator_change_its_curve(opened):
    with opened(curves=["grpo", "maxrl", "pacs_anchor", "truncated(order=4)"]) as tab:
        rows = tab.locator(".item")
        rows.filter(has_text="GRPO").first.get_by_role("button", name="1", exact=True).click()
        rows.filter(has_text="where all are wrong").get_by_role("combobox").select_option(
            label="baseline kept (eq. 7)"
        )
        beta = rows.filter(has_text="beta").get_by_label("beta", exact=True)
        beta.focus()
        beta.press("ArrowRight")
        beta.press("ArrowRight")
        order = rows.filter(has_text="order T").get_by_label("order T", exact=True)
        order.focus()
        order.press("ArrowRight")
        assert order.evaluate(
            "element => element === document.activeElement"
        )  # the hand keeps what it holds
        found = columns(tab)
        for spec in ("grpo(ddof=1)", "maxrl_eq7", "pacs(beta=1.2)", "truncated(order=5)"):
            close(found[f"{spec} N=16"], lab.induced_weight(spec, 16, found["p"]))
        rows.filter(has_text="where all are wrong").get_by_role("button", name="remove").click()
        tab.get_by_label("add an estimator").select_option("entropic")
        assert {"entropic(eta=2) N=16"} <= columns(tab).keys() and "maxrl_eq7 N=16" not in columns(
            tab
        )


def test_the_point_of_the_family_can_be_dragged_and_touched(opened):
    with opened({"has_touch": True}) as tab:
        box = tab.get_by_role("application").bounding_box()
        place = lambda a, b: (  # noqa: E731
            box["x"] + (34 + (a + 0.1) / 1.25 * 150) / 220 * box["width"],
            box["y"] + (162 - (b + 0.1) / 1.25 * 150) / 202 * box["height"],
        )
        tab.mouse.move(*place(0.5, 0.5))
        tab.mouse.down()
        tab.mouse.move(*place(1, 0), steps=5)
        tab.mouse.up()
        found = columns(tab)
        close(found["power(a=1, b=0)"], 1 / found["p"])
        tab.get_by_role("application").scroll_into_view_if_needed()
        box = tab.get_by_role("application").bounding_box()
        tab.touchscreen.tap(*place(0.5, 0.5))
        found = columns(tab)
        close(found["power(a=0.5, b=0.5)"], 1 / np.sqrt(found["p"] * (1 - found["p"])))


def test_an_estimator_that_needs_more_rollouts_says_so_and_the_others_stay(opened):
    with opened(curves=["rloo", "pkpo(k=30)"]) as tab:
        assert "needs groups of at least 30" in tab.locator(".item .fault:visible").inner_text()
        assert "rloo N=16" in columns(tab)


def test_a_lifted_estimator_is_drawn_as_what_it_is_where_rewards_are_right_or_wrong(opened):
    lifted = ["lift(pkpo(k=4), low=0)", "lift(maxrl)", "lift()"]
    with opened(curves=["maxrl", *lifted]) as tab:
        found = columns(tab)
        assert found["lift(maxrl) N=16"].tolist() == found["maxrl N=16"].tolist()
        close(found["lift(pkpo(k=4), low=0) N=16"], lab.induced_weight("pkpo(k=4)", 16, found["p"]))
        _, first, second, empty = tab.locator(".item:visible").all_inner_texts()
        said = (
            "takes real rewards; where they are right or wrong it is pkpo(k=4), whose curve this is"
        )
        assert said in first and "it is maxrl, whose" in second
        assert "lift needs an estimator: write lift(maxrl)" in empty
        assert "where all are wrong" not in second


# --- Draw ---------------------------------------------------------------------------------------


def code(tab) -> str:
    return tab.locator("code.line:visible").inner_text()


def quoted(line: str) -> str:
    """The estimator in a line that trains, with its quotation marks."""
    return re.search(r'estimator=("(?:[^"\\]|\\.)*")', line)[1]


def test_a_weight_drawn_by_the_mouse_is_fitted_as_the_lab_fits_it_and_its_line_trains(
    opened, tmp_path
):
    with opened(panel="draw") as tab:
        chart = tab.get_by_role("slider", name="drawn weight")
        box = chart.bounding_box()
        tab.mouse.move(box["x"] + 100, box["y"] + 60)
        tab.mouse.down()
        for x in range(120, 900, 40):
            tab.mouse.move(box["x"] + x, box["y"] + 60 + x / 5)
        tab.mouse.up()
        found, line = columns(tab), code(tab)
        spec = json.loads(quoted(line))
        chosen = lab.estimator(spec)
        assert spec.startswith("drawn(p=") and chosen.options["w"] != DEFAULTS["points"]
        for name, ours in zip(("gap", "offset"), chosen.coefficients(16), strict=True):
            close(found[name], ours)
        close(found["w_N"], lab.induced_weight(chosen, 16, found["p"]))
        close(found["w"], chosen.limit.weight(found["p"]))
        close(found["residual"], found["w_N"] - found["w"])
    from lab import runs

    assert (
        line == 'from lab import runs; runs.train(runs.configure("tabular", '
        f"estimator={json.dumps(spec)}, rollouts=16))"
    )
    run = runs.train(
        runs.configure("tabular", estimator=spec, rollouts=16, scale="smoke"),
        folder=str(tmp_path / "run"),
    )
    assert run.params["parameters"]["objective"] == spec and len(run.records()) > 1


def test_a_formula_is_fitted_and_a_wrong_one_is_a_sentence(opened):
    with opened(panel="draw", by="formula", N=12) as tab:
        box = tab.get_by_label("w(p) =")
        box.fill("1/(p + 0.1)")
        spec = json.loads(quoted(code(tab)))
        assert spec == "formula(text='1/(p + 0.1)')"
        close(columns(tab)["gap"], lab.estimator(spec).coefficients(12)[0])
        for text, words in (
            ("import os", "expected p, q, pi, e or a function"),
            ("log(p - 2)", "is not finite"),
        ):
            box.fill(text)
            assert words in tab.locator(".fault:visible").inner_text()
        box.fill("4*p*q")
        assert tab.locator(".fault:visible").count() == 0
        tab.get_by_label("the advantages of every group sum to zero (one degree less)").check()
        ours = lab.estimator("formula", text="4*p*q", zero_mean=True).coefficients(12)
        close(columns(tab)["gap"], ours[0])
        tab.get_by_role("button", name="Add to the curves").click()
        found = columns(tab)
        close(
            found["formula(text='4*p*q', zero_mean=True) N=12"], 4 * found["p"] * (1 - found["p"])
        )


def test_a_drawing_can_be_made_by_keys(opened):
    with opened(panel="draw") as tab:
        chart = tab.get_by_role("slider", name="drawn weight")
        chart.focus()
        chart.press("ArrowRight")
        chart.press("ArrowUp")
        assert chart.get_attribute("aria-valuetext") == "w(0.35) = 4.1"


def test_a_size_that_the_page_does_not_fit_is_a_sentence(opened):
    with opened(panel="draw", N=500) as tab:
        assert (
            "up to N = 128; lab.from_weight goes on" in tab.locator(".fault:visible").inner_text()
        )


# --- Files --------------------------------------------------------------------------------------


@pytest.fixture
def counts(tmp_path):
    rng = np.random.default_rng(2)
    k = rng.binomial(16, rng.beta(0.4, 1, 80))
    path = tmp_path / "counts.csv"
    pd.DataFrame({"problem": range(80), "n": 16, "k": k}).to_csv(path, index=False)
    return path


DROP = """([text, name]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const event = new DragEvent('drop', { dataTransfer: data, cancelable: true });
  document.querySelector('.drop').dispatchEvent(event);
}"""


def test_a_dropped_file_tells_what_the_audit_tells(opened, counts):
    with opened(panel="files", curves=["rloo", "maxrl"]) as tab:
        tab.evaluate(DROP, [counts.read_text(), "counts.csv"])
        tab.wait_for_selector(".stage:visible .bars rect")
        found, table = columns(tab), audit(counts, ("rloo", "maxrl"), rollouts=16).table
        ours = lambda by, what: table[(table["by"] == by) & table["what"].str.startswith(what)][  # noqa: E731
            "value"
        ]
        close(found["problems"], ours("without noise", "share of problems"))
        close(found["dead"], ours("dead", "share of groups"))
        for name in ("rloo", "maxrl"):
            close(found[f"gradient {name}"], ours(name, "share of gradient"))
            close(found[f"mean gradient {name}"], ours(name, "mean gradient"))
        tab.locator(".notes", has_text="95 % over 80 problems").wait_for(timeout=30_000)
        found = columns(tab)
        inside = (found["dead, low"] <= found["dead"]) & (found["dead"] <= found["dead, high"])
        assert inside.all() and (found["dead, high"] - found["dead, low"] < 0.3).all()
        bars = tab.locator(".stage:visible .bars").first.locator("rect[fill-opacity='0.85']")
        close([float(bar.get_attribute("data-value")) for bar in bars.all()], found["problems"])


def test_a_file_with_advantages_says_how_its_rollouts_were_weighted(opened, tmp_path):
    a1, a0 = lab.estimator("dr_grpo").success_failure(4)
    rows = [
        {"step": 1, "prompt": f"problem {K}", "completion": "x", "reward": float(i < K)}
        | {"advantage": (a1 if i < K else a0)[K]}
        for K in (1, 2, 3)
        for i in range(4)
    ]
    file = tmp_path / "trl.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    weights = audit(file, ("maxrl", "rloo")).weights
    with opened(panel="files", curves=["maxrl", "lift(rloo)"]) as tab:
        tab.evaluate(DROP, [file.read_text(), "trl.jsonl"])
        table = tab.locator("table.weights")
        table.wait_for()
        said = tab.locator(".notes").inner_text()
        assert "Trained with dr_grpo (TRL's scale_rewards=none), by the advantages in the" in said
        head, *lines = [line.split("\t") for line in table.inner_text().splitlines()]
        assert head == ["K/n, %", "dr_grpo", "maxrl", "lift(rloo)"]
        shown = np.array([[float(cell) for cell in cells] for _, *cells in lines])
        close(shown, weights[["dr_grpo", "maxrl", "rloo"]].to_numpy().round(3))


def test_settings_that_come_with_rollouts_or_after_them_say_how_they_were_weighted(
    opened, tmp_path
):
    rollouts = ROLLOUTS / "verl" / "rollouts"
    files = sorted(rollouts.iterdir())
    settings = tmp_path / "config.yaml"
    settings.write_text("algorithm:\n  adv_estimator: grpo\n  norm_adv_by_std_in_grpo: false\n")
    said = (
        "Trained with dr_grpo (verl's adv_estimator=grpo, norm_adv_by_std_in_grpo=False), by conf"
    )
    with opened(panel="files", curves=["maxrl"]) as tab:
        box = tab.get_by_label("Drop a file here, or choose one")
        box.set_input_files(settings)
        tab.locator(
            ".fault:visible", has_text="config.yaml holds settings: give the rollo"
        ).wait_for()
        box.set_input_files(files)
        notes = tab.locator(".notes")
        notes.get_by_text("2 steps, their problems kept apart").wait_for()
        assert "Trained with" not in notes.inner_text()
        box.set_input_files(settings)
        notes.get_by_text(said).wait_for()
        assert tab.locator("table.weights th").all_inner_texts()[1:3] == ["dr_grpo", "maxrl"]
        box.set_input_files([*files, settings])
        notes.get_by_text(said).wait_for()
        box.set_input_files(files[0])  # another file, of which nothing is known
        notes.get_by_text("rollouts are right").wait_for()
        until(lambda: "Trained with" not in notes.inner_text())


def test_bad_files_are_sentences_and_a_good_one_mends_them(opened, counts, tmp_path):
    huge = tmp_path / "huge.csv"
    with open(huge, "wb") as file:
        file.truncate(10**9)
    bad = {
        "columns.csv": ("x,y\n1,2\n", "found columns x, y"),
        "more.csv": ("n,k\n4,5\n", "k = 5 of n = 4"),
        "many.csv": (
            "n,k\n" + "".join(f"400,{k}\n" for k in range(300)),
            "300 different counts: the page fits",
        ),
        "empty.csv": ("", "is empty"),
        "table.parquet": ("PAR1", "cannot be read (parquet file is too short)"),
    }
    with opened(panel="files") as tab:
        box = tab.get_by_label("Drop a file here, or choose one")
        for name, (text, words) in bad.items():
            (tmp_path / name).write_text(text)
            box.set_input_files(tmp_path / name)
            told = tab.locator(".fault:visible")
            told.filter(has_text=words).wait_for()
            assert told.inner_text().startswith((name, "300 different"))
        box.set_input_files(huge)
        tab.locator(
            ".fault:visible", has_text="huge.csv has 1000 MB: the page reads up to 30"
        ).wait_for()
        box.set_input_files(counts)
        tab.wait_for_selector(".stage:visible .bars rect")
        assert tab.locator(".fault:visible").count() == 0
        assert "80 problems" in tab.locator(".notes").inner_text()


def test_columns_and_right_rewards_are_said_in_the_page(opened):
    with opened(panel="files") as tab:
        box = tab.get_by_label("Drop a file here, or choose one")
        box.set_input_files(ROLLOUTS / "trl" / "two_rewards.jsonl")
        tab.locator(".fault:visible", has_text="name the reward (accuracy_reward or").wait_for()
        tab.get_by_text("Columns and right rewards").click()
        reward = tab.get_by_label("column of the reward")
        reward.fill("accuracy_reward")
        reward.press("Enter")
        tab.locator(".notes", has_text="3 of 8 rollouts are right").wait_for()
        reward.fill("")
        box.set_input_files(ROLLOUTS / "openrlhf" / "rewarded.jsonl")
        tab.locator(".fault:visible", has_text="reward 0.91 in row 1").wait_for()
        threshold = tab.get_by_label("right from a reward of")
        threshold.fill("0.5")
        threshold.press("Enter")
        tab.locator(".notes", has_text="3 of 8 rollouts are right").wait_for()
        assert tab.locator(".fault:visible").count() == 0


# --- Toy ----------------------------------------------------------------------------------------


def test_the_toy_of_the_page_gives_the_numbers_of_the_line_of_python_below_it(opened):
    state = dict(panel="toy", problems=20, seed=3, rate=0.8, N=8, left="grpo(ddof=1)", seeds=1)
    with opened(**state, equal="rate") as tab:
        for _ in range(3):
            tab.get_by_role("button", name="Step", exact=True).click()
        assert tab.locator("output.where:visible").inner_text() == "step 3"
        tab.get_by_role("button", name="Go on").click()
        until(lambda: int(tab.locator("output.where:visible").inner_text().split()[1]) > 40)
        tab.get_by_role("button", name="Pause").click()
        found = columns(tab)
        steps = len(found["step"]) - 1
        assert steps > 40
        words = (
            'from lab.toy import paired; paired.pass_rates(["grpo(ddof=1)", "maxrl"], rollouts=8,'
            f" problems=20, steps={steps}, learning_rate=0.8, seed=3)"
        )
        assert code(tab) == words
        settings = dict(rollouts=8, problems=20, learning_rate=0.8)
        ours = paired.pass_rates(["grpo(ddof=1)", "maxrl"], steps=steps, seed=3, **settings)
        for k, side in enumerate(("left", "right")):
            close(np.stack([found[f"{side} {i}"] for i in range(20)], axis=1), ours[k])
        tab.get_by_role("button", name="Reset", exact=True).click()
        assert (
            tab.locator("output.where:visible").inner_text() == "step 0"
            and len(columns(tab)["step"]) == 1
        )
        tab.get_by_label("First seed").fill("4")
        tab.get_by_label("First seed").press("Enter")
        tab.get_by_role("button", name="Step", exact=True).click()
        ours = paired.pass_rates(["maxrl"], steps=1, seed=4, **settings)[0]
        close(columns(tab)["right 0"], ours[:, 0])


def test_the_toy_takes_steps_of_equal_length_and_draws_the_range_over_seeds(opened):
    with opened(panel="toy", problems=16, seed=5, N=8, seeds=3) as tab:
        for _ in range(12):
            tab.get_by_role("button", name="Step", exact=True).click()
        found = columns(tab)
        assert code(tab) == (
            'from lab.toy import paired; [paired.pass_rates(["rloo", "maxrl"], rollouts=8,'
            " problems=16, steps=12, step_length=0.05, seed=seed) for seed in range(5, 8)]"
        )
        settings = dict(rollouts=8, problems=16, steps=12, step_length=0.05)
        every = [paired.pass_rates(["rloo", "maxrl"], seed=s, **settings) for s in (5, 6, 7)]
        for k, side in enumerate(("left", "right")):
            close(np.stack([found[f"{side} {i}"] for i in range(16)], axis=1), every[0][k])
            for seed, ours in zip((5, 6, 7), every, strict=True):
                close(found[f"{side} mean, seed {seed}"], ours[k].mean(axis=1))
                hard = ours[k][:, :4].mean(axis=1)
                close(found[f"{side} hardest quarter, seed {seed}"], hard)
        last = [ours[1][-1].mean() for ours in every]
        told = tab.locator(".pair h3").last.inner_text()
        assert f"mean {np.mean(last):.3g} ({min(last):.3g} to {max(last):.3g})" in told, told
        # one scale for both histograms, though their highest bars differ
        ticks = [
            chart.locator(".axes text").all_inner_texts()
            for chart in tab.get_by_label(re.compile("distribution of pass rates")).all()
        ]
        assert len(ticks) == 2 and ticks[0] == ticks[1]


def test_the_toy_compares_at_equal_rollouts(opened):
    state = dict(panel="toy", problems=12, N=4, right_N=16, across="rollouts", seeds=1, seed=1)
    with opened(**state) as tab:
        for _ in range(8):
            tab.get_by_role("button", name="Step", exact=True).click()
        found = columns(tab)
        left, right = len(found["left 0"]) - 1, len(found["right 0"]) - 1
        # the side that has used fewer goes on, until both have used 16, and then 32
        assert (left, right) == (8, 2) and tab.locator("output.where:visible").inner_text() == (
            "32 rollouts a problem"
        )
        for name, N, steps, spec in (("left", 4, left, "rloo"), ("right", 16, right, "maxrl")):
            ours = paired.pass_rates([spec], rollouts=N, problems=12, steps=steps, seed=1)[0]
            close(np.stack([found[f"{name} {i}"] for i in range(12)], axis=1), ours)
        assert 'paired.pass_rates(["maxrl"], rollouts=16, problems=12, steps=2' in code(tab)


def paths(found, name: str, problems: int) -> np.ndarray:
    """What a side of the toy has saved, "steps problems"; `name` has {} for the problem."""
    return np.stack([found[name.format(i)] for i in range(problems)], axis=1)


def gains_told(found, tab, problems: int) -> None:
    """The sentence below the chart of gains says what the saved numbers say."""
    told = tab.get_by_text("Mean gain since the start.").inner_text()
    for side, label in (("left", "RLOO"), ("right", "MaxRL")):
        predicted = paths(found, side + " {}, predicted", problems)
        gain = (predicted[-1] - predicted[0]).mean()
        means = [found[name] for name in found if name.startswith(f"{side} mean, seed")]
        realised = np.array([mean[-1] - mean[0] for mean in means])
        words = (
            f"{gain:.3g} predicted, {realised.mean():.3g} realised"
            f" ({realised.min():.3g} to {realised.max():.3g})"
        )
        assert f"{label}: {words}." in re.sub(r"MaxRL \([^)]*\):", "MaxRL:", told), (words, told)


def test_the_toy_starts_from_the_users_own_pass_rates(opened, counts):
    with opened(panel="files", problems=24, seeds=2, N=8) as tab:
        tab.evaluate(DROP, [counts.read_text(), "counts.csv"])
        tab.get_by_role("button", name="Train the toy from these pass rates").click()
        assert (
            "From 80 problems, counts from columns n and k."
            in tab.locator(".controls:visible").inner_text()
        )
        for _ in range(9):
            tab.get_by_role("button", name="Step", exact=True).click()
        found = columns(tab)
        assert code(tab) == (
            "from lab.show.audit import population; from lab.toy import paired; start ="
            ' population("counts.csv", 24); [paired.pass_rates(["rloo", "maxrl"], rollouts=8,'
            " start=start, steps=9, step_length=0.05, seed=seed) for seed in range(0, 2)]"
        )
        start = population(counts, 24)
        settings = dict(rollouts=8, start=start, steps=9, step_length=0.05)
        sampled = paired.pass_rates(["rloo", "maxrl"], seed=0, **settings)
        predicted = paired.pass_rates(["rloo", "maxrl"], sampled=False, **settings)
        assert start.min() < 0.005 and start.max() > 0.8  # not the population that is even
        for side, ours, theory in zip(("left", "right"), sampled, predicted, strict=True):
            close(paths(found, side + " {}", 24), ours, 1e-6)
            close(paths(found, side + " {}, predicted", 24), theory, 1e-6)
        gains_told(found, tab, 24)
        # other pass rates are another run
        tab.get_by_role("button", name="See them, or give others").click()
        tab.get_by_role("button", name="Show an invented example").click()
        tab.locator(".notes", has_text="an invented example").wait_for()
        tab.get_by_role("button", name="Live toy").click()
        assert tab.locator("output.where:visible").inner_text() == "step 0"
        first = paths(columns(tab), "left {}", 24)[0]
        line = code(tab).split("start = [")[1].split("]")[0]
        close([float(p) for p in line.split(", ")], first, 1e-12)


def test_a_link_to_a_run_from_pass_rates_that_are_not_there_says_so(opened):
    with opened(panel="toy", start="own") as tab:
        said = "starts from pass rates of your own, and the page has read none yet"
        tab.locator(".fault:visible", has_text=said).wait_for()
        assert tab.locator(".stage:visible").count() == 0
        tab.get_by_role("button", name="evenly spread").click()
        assert tab.locator(".stage:visible").count() == 1
        tab.get_by_role("button", name="your own", exact=True).click()
        tab.get_by_role("button", name="Give a file").click()
        assert tab.get_by_text("Drop a file here").is_visible()


def test_problems_that_share_parameters_are_trained_as_in_python(opened):
    with opened(panel="toy", problems=16, seed=2, N=8, seeds=2) as tab:
        assert not tab.get_by_label("Shared features", exact=True).is_visible()
        tab.get_by_label("problems share parameters").check()
        number = tab.get_by_label("Shared features, as a number")
        assert number.input_value() == "4"
        number.fill("5")
        number.press("Enter")
        for _ in range(15):
            tab.get_by_role("button", name="Step", exact=True).click()
        found = columns(tab)
        assert "problems=16, shared=5, steps=15, step_length=0.05" in code(tab)
        settings = dict(rollouts=8, problems=16, shared=5, steps=15, step_length=0.05)
        sampled = paired.pass_rates(["rloo", "maxrl"], seed=2, **settings)
        predicted = paired.pass_rates(["rloo", "maxrl"], sampled=False, **settings)
        for side, ours, theory in zip(("left", "right"), sampled, predicted, strict=True):
            close(paths(found, side + " {}", 16), ours)
            close(paths(found, side + " {}, predicted", 16), theory)
        assert (sampled[0, -1] < sampled[0, 0]).any()  # some problems lose to others
        gains_told(found, tab, 16)
        tab.get_by_label("problems share parameters").uncheck()
        assert "shared" not in code(tab)


# --- Sharing, saving, looks ---------------------------------------------------------------------


def test_the_address_holds_the_state_and_gives_it_back(opened, tabs, address):
    with opened() as tab:
        number(tab).fill("99")
        number(tab).press("Enter")
        tab.get_by_role("group", name="axis of the value").get_by_role(
            "button", name="linear"
        ).click()
        tab.wait_for_url(re.compile("linear"), wait_until="commit")
        assert json.loads(unquote(tab.url.split("#")[1])) == {"N": 99, "y": "linear"}
        first, url = columns(tab), tab.url
    with tabs.quiet(address) as tab:
        tab.goto(url)
        second = columns(tab)
    assert first.keys() == second.keys() and all(
        np.array_equal(first[key], second[key]) for key in first
    )


# --- Workers ------------------------------------------------------------------------------------

# A worker that hears nothing before `release()`: what the page shows until then is its own.
HELD = """() => {
  const Real = Worker, waiting = [];
  window.release = () => { while (waiting.length) waiting.shift()(); window.released = true; };
  window.Worker = class extends Real {
    postMessage(message) {
      if (window.released) super.postMessage(message);
      else waiting.push(() => super.postMessage(message));
    }
  };
}"""


@contextmanager
def at_work(chromium, address, script: str, **state):
    """The workbench with `script` run before the page's own."""
    with quiet(chromium, address) as tab:
        tab.add_init_script(f"({script})()")
        tab.goto(f"{address}#{quote(json.dumps(state))}")
        tab.wait_for_selector(".lab-explorer[data-revision]")
        yield tab


def reached(tab) -> bool:
    """Whether the drawn line is what the lab reaches at 28 rollouts.

    To 1e-5: beyond N = 24 the fit itself is known to some 1e-6 only.
    """
    found, chosen = columns(tab), lab.estimator(json.loads(quoted(code(tab))))
    close(found["w_N"], lab.induced_weight(chosen, 28, found["p"]), 1e-5)
    return len(found["gap"]) == 28


def test_a_fit_comes_from_a_worker_and_until_then_the_last_one_is_drawn(chromium, address):
    with at_work(chromium, address, HELD, panel="draw") as tab:
        legend, facts = tab.locator(".legend:visible text"), tab.locator(".meaning:visible")
        before = pixels(tab, "reached")
        number(tab).fill("28")
        number(tab).press("Enter")
        assert "the best that N = 16 reach" in legend.all_text_contents()
        assert facts.inner_text() == "Fitting 28 rollouts …"
        np.testing.assert_array_equal(pixels(tab, "reached"), before)
        tab.get_by_role("button", name="hard ones").click()  # the drawing follows the hand
        assert "0.001, 0])" in code(tab) and "Fitting" in facts.inner_text()
        tab.evaluate("release()")
        tab.get_by_text("At N = 28 the residual is").wait_for()
        assert "the best that N = 28 reach" in legend.all_text_contents() and reached(tab)
        assert [worker.url.startswith("blob:") for worker in tab.workers] == [True]


def test_a_drawn_curve_waits_for_its_fit_in_every_panel(chromium, address):
    spec = "drawn(p=[0, 0.5, 1], w=[4, 1, 0.5])"
    with at_work(chromium, address, HELD, curves=["maxrl", spec], N=28, left=spec) as tab:
        assert "it is being fitted …" in tab.locator(".item .rules").all_inner_texts()
        assert len(pixels(tab, "maxrl")) == len(LOG)  # the others wait for nobody
        tab.get_by_role("button", name="Live toy").click()
        assert tab.get_by_text("step 0").count() == 0
        tab.evaluate("release()")
        tab.get_by_text("step 0").wait_for()
        tab.get_by_role("button", name="Curves").click()
        ours = lab.induced_weight(spec, 28, LOG)
        close(columns(tab)[f"{spec} N=28"], ours, 1e-5)


REFUSED = "() => { window.Worker = class { constructor() { throw new Error('refused'); } }; }"


def test_where_workers_are_refused_the_page_itself_fits_and_reads(chromium, address, counts):
    with at_work(chromium, address, REFUSED, panel="draw", N=28) as tab:
        assert reached(tab)
        tab.get_by_role("button", name="Your pass rates").click()
        tab.locator("#lab-file").set_input_files(counts)
        tab.get_by_text("rollouts are right").wait_for()
        assert not tab.workers


def test_the_policy_allows_workers_and_without_its_line_the_page_still_works(chromium, tmp_path):
    text, line = page.html(), "worker-src blob:; "
    assert text.count(line) == 1 and text.count("worker-src") == 1
    path = tmp_path / "strict.html"
    path.write_text(text.replace(line, ""))
    with chromium.new_context() as context:  # its console says that a worker was refused
        tab = context.new_page()
        tab.goto(f"{path.as_uri()}#{quote(json.dumps({'panel': 'draw', 'N': 28}))}")
        tab.get_by_text("At N = 28 the residual is").wait_for()
        assert reached(tab)


def test_a_file_is_read_while_the_page_goes_on(chromium, address, counts):
    state = {"panel": "files", "curves": ["rloo", "maxrl"]}
    with at_work(chromium, address, HELD, **state) as tab:
        tab.locator("#lab-file").set_input_files(counts)
        tab.get_by_text(f"reading {counts.name} …").wait_for()
        tab.get_by_role("button", name="Curves").click()
        number(tab).fill("8")
        number(tab).press("Enter")
        close(columns(tab)["maxrl N=8"], lab.induced_weight("maxrl", 8, LOG))
        tab.get_by_role("button", name="Your pass rates").click()
        assert "reading" in tab.locator(".notes").inner_text()
        tab.evaluate("release()")
        tab.get_by_text("Lines: 95 %").wait_for()
        table = audit(counts, ("rloo", "maxrl"), rollouts=8).table
        ours = table[table["what"].str.startswith("share of gradient") & (table["by"] == "maxrl")]
        close(columns(tab)["gradient maxrl"], ours["value"].to_numpy())


# --- What a name stands for ---------------------------------------------------------------------

CHOSEN = {  # the required options that no control has a start for
    "drawn": "drawn(p=[0, 1], w=[1, 2])",
    "formula": "formula(text='p')",
}


@pytest.mark.parametrize("kind, held", [("estimator", "estimators"), ("objective", "objectives")])
def test_every_name_says_what_lab_explain_says_of_it(opened, kind, held):
    make = {"estimator": lab.estimator, "objective": lab.objective}[kind]
    with opened() as tab:
        tab.get_by_text(f"What each {kind} is").click()
        terms = tab.locator("details[open] .term").all()
        card, seen = tab.get_by_role("tooltip"), set()
        for term in terms:
            term.focus()
            name = card.locator("code").first.inner_text()
            seen.add(name)
            options = described()[held][name]["options"].items()
            starts = {key: rule.get("start") for key, rule in options if rule.get("required")}
            chosen = make(CHOSEN[name]) if name in CHOSEN else make(name, **starts)
            paragraphs = card.locator("p").all_inner_texts()
            written = "$" in chosen.label or name in CHOSEN  # TeX here, plain text there
            assert written or paragraphs[0].startswith(chosen.label)
            told = explain(chosen.spec if kind == "estimator" else write_call(name, starts))
            if kind == "objective" and name in lab.estimator_names():
                told = chosen.about + chosen.citation  # `explain` says what the estimator is
            told = " ".join(told.replace("`", "").split())
            assert len(paragraphs) > 2 and all(
                words.removeprefix("Source: ") in told for words in paragraphs[1:]
            )
            assert paragraphs[-1] == f"Source: {chosen.citation}"
        names = lab.estimator_names() if kind == "estimator" else lab.objective_names()
        assert seen == set(names)


def test_a_card_opens_under_the_pointer_stays_while_it_is_read_and_escape_closes_it(opened):
    with opened() as tab:
        card, terms = tab.get_by_role("tooltip"), tab.locator(".item .term")
        terms.filter(has_text="GRPO").hover()
        card.wait_for()
        assert "arXiv 2402.03300" in card.inner_text()
        id = terms.filter(has_text="GRPO").get_attribute("aria-describedby")
        assert card.get_attribute("id") == id
        card.hover()
        tab.wait_for_timeout(600)  # longer than a pointer may take from the name to the card
        assert card.is_visible()
        tab.keyboard.press("Escape")
        assert not card.is_visible() and tab.locator("[aria-describedby]").count() == 0
        terms.filter(has_text="MaxRL").hover()
        tab.get_by_text("Algorithm 1").last.wait_for()
        tab.mouse.move(900, 500)
        card.wait_for(state="hidden")


def test_the_keyboard_reaches_a_card_and_a_finger_does(opened):
    with opened() as tab:
        card = tab.get_by_role("tooltip")
        tab.get_by_role("button", name="remove RLOO").focus()
        tab.keyboard.press("Shift+Tab")
        assert card.inner_text().startswith("RLOO")
        tab.keyboard.press("Escape")
        assert not card.is_visible()
        tab.keyboard.press("Enter")
        assert card.is_visible()
        tab.keyboard.press("Tab")
        assert not card.is_visible()
    telephone = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 844}}
    with opened(telephone) as tab:
        card = tab.get_by_role("tooltip")
        for label in ("PACS", "RLOO"):
            tab.locator(".item .term", has_text=label).tap()
            assert card.inner_text().startswith(label)
            box = card.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 390
        tab.get_by_text("Estimators at N rollouts").tap()
        assert not card.is_visible()


# --- Undo, redo, reset --------------------------------------------------------------------------


def step_buttons(tab):
    return [tab.get_by_role("button", name=name, exact=True) for name in ("Undo", "Redo")]


def possible(tab) -> list[bool]:
    return [one.get_attribute("aria-disabled") == "false" for one in step_buttons(tab)]


def test_every_change_is_undone_and_redone_in_its_order(opened):
    with opened(curves=["maxrl"], N=8) as tab:
        undo, redo = step_buttons(tab)
        assert possible(tab) == [False, False]
        undo.click(force=True)  # it is there, and does nothing
        tab.keyboard.press("Control+z")
        assert number(tab).input_value() == "8"
        number(tab).fill("40")
        number(tab).press("Enter")
        tab.get_by_role("group", name="gate", exact=True).get_by_role("button", name="drop").click()
        tab.get_by_label("scale to 1 at p = ½").check()

        def shown():
            gate = tab.locator('.gate [aria-pressed="true"]').inner_text()
            scaled = tab.get_by_label("scale to 1 at p = ½").is_checked()
            return number(tab).input_value(), gate, scaled

        states = [("8", "none", False), ("40", "none", False), ("40", "drop", False)]
        states.append(("40", "drop", True))
        assert shown() == states[3] and possible(tab) == [True, False]
        for i in (2, 1, 0):
            tab.keyboard.press("Control+z")
            assert shown() == states[i] and possible(tab) == [i > 0, True]
        close(columns(tab)["maxrl N=8"], lab.induced_weight("maxrl", 8, LOG))
        redo.click()
        tab.keyboard.press("Control+Shift+Z")
        assert shown() == states[2]
        tab.keyboard.press("Control+y")
        assert shown() == states[3] and possible(tab) == [True, False]
        undo.click()
        tab.get_by_role("button", name="linear").last.click()  # what is new ends what was undone
        assert possible(tab) == [True, False]
        redo.click(force=True)
        assert shown() == states[2]


def test_a_drag_is_one_step_and_a_key_that_is_held_too(opened):
    with opened(panel="draw") as tab:
        first = code(tab)
        chart = tab.get_by_role("slider", name="drawn weight")
        box = chart.bounding_box()
        tab.mouse.move(box["x"] + 100, box["y"] + 60)
        tab.mouse.down()
        for x in range(120, 900, 40):
            tab.mouse.move(box["x"] + x, box["y"] + 60 + x / 5)
        tab.mouse.up()
        drawn = code(tab)
        assert drawn != first
        tab.get_by_role("button", name="level").click()
        level = code(tab)
        tab.keyboard.press("Control+z")
        assert code(tab) == drawn
        tab.keyboard.press("Control+z")
        assert code(tab) == first and possible(tab) == [False, True]
        close(columns(tab)["gap"], lab.estimator(json.loads(quoted(first))).coefficients(16)[0])
        for _ in range(2):
            tab.keyboard.press("Control+Shift+Z")
        assert code(tab) == level
        bar = tab.get_by_label("Rollouts a problem, N", exact=True).locator("visible=true")
        bar.focus()
        for _ in range(5):
            tab.keyboard.down("ArrowRight")  # from the second on it says that it repeats
        tab.keyboard.up("ArrowRight")
        tab.keyboard.press("ArrowRight")
        for N in ("22", "21", "16"):
            assert number(tab).input_value() == N
            tab.keyboard.press("Control+z")
        assert code(tab) == drawn


def test_undo_goes_to_the_panel_of_the_change_and_leaves_the_looks(opened):
    with opened() as tab:
        panels = tab.get_by_role("navigation", name="panels")
        number(tab).fill("64")
        number(tab).press("Enter")
        panels.get_by_role("button", name="Draw your own").click()
        tab.get_by_role("button", name="level").click()
        panels.get_by_role("button", name="Live toy").click()
        tab.get_by_role("button", name="light or dark").click()
        tab.keyboard.press("Control+z")
        pressed = panels.locator('[aria-pressed="true"]')
        assert pressed.inner_text() == "Draw your own" and "w=[0, 0, 0, 0, 0, 2, 4" in code(tab)
        tab.keyboard.press("Control+z")
        assert pressed.inner_text() == "Curves" and number(tab).input_value() == "16"
        assert possible(tab) == [False, True]
        assert tab.locator(".lab-explorer").get_attribute("data-theme") == "dark"


def test_everything_is_reset_but_the_panel_and_that_is_undone_too(opened):
    state = {"panel": "draw", "N": 6, "points": [1] * 21, "zero_mean": True, "curves": ["maxrl"]}
    with opened(**state) as tab:
        given = code(tab)
        tab.get_by_role("button", name="Reset all").click()
        tab.wait_for_url(re.compile(r"#%7B%22panel%22:%22draw%22%7D$"), wait_until="commit")
        assert "w=[0, 0, 0, 0, 0, 2, 4" in code(tab) and number(tab).input_value() == "16"
        step_buttons(tab)[0].click()
        assert code(tab) == given
        tab.wait_for_url(re.compile("maxrl"), wait_until="commit")


def test_a_formula_that_is_written_is_one_step(opened):
    with opened(panel="draw", by="formula") as tab:
        box = tab.get_by_label("w(p) =")
        box.press("End")
        box.press_sequentially(" + 1")
        tab.get_by_role("button", name="4*p*q").click()
        assert "text='4*p*q'" in code(tab)
        box.focus()
        for text in ("exp(-5*p) + 1", "exp(-5*p)"):
            box.press("Control+z")
            assert f"text='{text}'" in code(tab) and box.input_value() == text
        box.press("End")
        box.press_sequentially("/2")
        box.press("Control+z")
        assert box.input_value() == "exp(-5*p)" and possible(tab) == [False, True]


def test_links_and_lines_are_copied(opened):
    with opened({"permissions": ["clipboard-read", "clipboard-write"]}, N=20, panel="draw") as tab:
        tab.get_by_role("button", name="Copy this line").click()
        assert tab.evaluate("navigator.clipboard.readText()") == code(tab)
        tab.get_by_role("button", name="Copy link").click()
        tab.get_by_role("button", name="Copied").wait_for()
        path, state = tab.evaluate("navigator.clipboard.readText()").split("#")
        assert path == tab.url.split("#")[0] and json.loads(unquote(state)) == {
            "N": 20,
            "panel": "draw",
        }


def test_a_broken_address_is_a_sentence_and_the_start(opened):
    with opened(N=-3) as tab:
        told = tab.locator("[role=alert]:visible").inner_text()
        assert told.startswith(
            "N = -3: it must be a whole number from 2 to 4096"
        ) and "rloo N=16" in columns(tab)


def test_pictures_can_be_taken_along(opened):
    with opened() as tab:
        drawn = ElementTree.fromstring(saved(tab, "SVG").read_text())
        assert (
            len(drawn.findall(".//{http://www.w3.org/2000/svg}path")) == 8
        )  # four curves and their limits
        assert "MaxRL" in "".join(drawn.itertext())
        png = saved(tab, "PNG").read_bytes()
        assert png[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(png[16:20], "big") == 3 * int(
            drawn.get("width")
        )


def test_dark_follows_the_system_and_can_be_switched(opened):
    with opened({"color_scheme": "dark"}) as tab:
        ground = "getComputedStyle(document.querySelector('.lab-explorer')).backgroundColor"
        assert tab.evaluate(ground) == "rgb(22, 24, 28)"
        assert tab.locator(".chart:visible .ground rect").first.get_attribute("fill") == "#16181c"
        tab.get_by_role("button", name="light or dark").click()
        assert tab.evaluate(ground) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("panel", ["curves", "draw", "files", "toy"])
def test_a_telephone_shows_everything_without_scrolling_sideways(opened, panel):
    telephone = {"has_touch": True, "is_mobile": True, "viewport": {"width": 360, "height": 740}}
    with opened(telephone, panel=panel) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360
        slider = tab.get_by_label("Rollouts a problem, N", exact=True).locator("visible=true")
        assert slider.bounding_box()["width"] > 150


NAMELESS = """[
  ...document.querySelectorAll('button, input, select, svg[tabindex], [role=slider]')
].filter((one) => !one.closest('[hidden]')
  && !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length)
).map((one) => one.outerHTML)"""


@pytest.mark.parametrize("panel", ["curves", "draw", "files", "toy"])
def test_every_control_has_a_name(opened, panel):
    with opened(panel=panel) as tab:
        assert tab.evaluate(NAMELESS) == []


# --- In JupyterLab ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    """JupyterLab on 127.0.0.1 over a folder of its own; its address and that folder."""
    with jupyterlab(tmp_path_factory.mktemp("jupyter")) as found:
        yield found


@contextmanager
def notebook(chromium, jupyter, book):
    """A notebook opened in JupyterLab, every cell run, waited for until the explorer shows the
    lab's own numbers.
    """
    address, folder = jupyter
    nbformat.write(book, folder / "book.ipynb")
    with quiet(chromium, address) as tab:
        run_notebook(tab, f"{address}lab/tree/book.ipynb")
        yield tab
        tab.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
        tab.wait_for_timeout(300)


def test_notebook_00_shows_the_explorer_with_the_numbers_of_the_kernel(chromium, jupyter):
    with notebook(
        chromium, jupyter, nbformat.read(ROOT / "notebooks" / "00_weights.ipynb", as_version=4)
    ) as tab:
        assert float(tab.locator(".badge").get_attribute("data-worst")) < EXACT
        tab.locator(".lab-explorer").scroll_into_view_if_needed()
        found = columns(tab)
        for spec in DEFAULTS["curves"]:
            np.testing.assert_array_equal(found[f"{spec} N=64"], lab.induced_weight(spec, 64, LOG))
        number(tab).fill("32")
        number(tab).press("Enter")
        tab.wait_for_selector(".badge:has-text('computed by lab')")
        np.testing.assert_array_equal(
            columns(tab)["maxrl N=32"], lab.induced_weight("maxrl", 32, LOG)
        )


CELLS = [
    """import lab, numpy as np, sys
from lab.explorer import Explorer
mine = lab.from_weight(lambda p: np.exp(-5 * p), N=16)
explorer = Explorer(own=[mine], N=16, curves=[mine.label, "rloo"], pass_rates=FOLDER)
explorer"""
]


def execute(tab, source: str) -> str:
    """Run one more cell in the notebook's kernel; its text."""
    return tab.evaluate(
        """async (code) => {
      const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
      const run = kernel.requestExecute({ code });
      let text = '';
      run.onIOPub = (message) => { text += message.content.text ?? message.content.evalue ?? ''; };
      await run.done;
      return text.trim();
    }""",
        source,
    )


def test_the_widget_and_python_share_one_state_your_estimators_and_your_files(
    chromium, jupyter, counts, tmp_path
):
    from lab import runs

    run = runs.train(
        runs.configure("tabular", estimator="rloo", scale="smoke"), folder=str(tmp_path / "run")
    )
    cells = [f"FOLDER = {str(run.path)!r}", *CELLS]
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    with notebook(chromium, jupyter, book) as tab:
        found, mine = columns(tab), lab.from_weight(lambda p: np.exp(-5 * p), N=16)
        np.testing.assert_array_equal(
            found[f"{mine.label} N=16"], lab.induced_weight(mine, 16, LOG)
        )
        number(tab).fill("24")
        number(tab).press("Enter")
        tab.wait_for_selector(".badge:has-text('computed by lab')")
        assert execute(tab, "print(explorer.state['N'])") == "24"
        execute(tab, "explorer.show(N=9, curves=['maxrl'])")
        until(lambda: number(tab).input_value() == "9")
        tab.wait_for_selector(".badge:has-text('computed by lab')")
        np.testing.assert_array_equal(
            columns(tab)["maxrl N=9"], lab.induced_weight("maxrl", 9, LOG)
        )
        assert "did you mean 'maxrl'" in execute(tab, "explorer.show(curves=['maxlr'])")

        parquet = counts.with_suffix(".parquet")
        pd.read_csv(counts).to_parquet(parquet)
        tab.get_by_role("button", name="Your pass rates").click()
        assert (
            "there is no noise to remove" in tab.locator(".notes").inner_text()
        )  # of the run that Python gave
        last = run.groups().query("step == step.max()")["pass_rate"]
        assert columns(tab)["problems"][0] == pytest.approx((last <= 0.01).mean())
        box = tab.get_by_label("Drop a file here, or choose one")
        box.set_input_files(parquet)
        tab.locator(".notes", has_text="rollouts are right").wait_for()
        table = audit(counts, ("maxrl",), rollouts=9).table
        ours = table[table["by"].eq("without noise") & table["what"].eq("share of problems")][
            "value"
        ]
        close(columns(tab)["problems"], ours)
        (parquet.parent / "broken.parquet").write_bytes(b"PAR1 and nothing")
        box.set_input_files(parquet.parent / "broken.parquet")
        tab.locator(".fault:visible", has_text="broken.parquet").wait_for()

        tab.get_by_role("button", name="Draw your own").click()
        until(
            lambda: execute(tab, "print(explorer.state['panel'])") == "draw"
        )  # else the click comes after show
        execute(tab, "explorer.show(N=200)")
        until(lambda: number(tab).input_value() == "200")
        tab.wait_for_selector(".badge:has-text('fitted by lab')", timeout=20_000)
        chosen = lab.estimator("drawn", p=[i / 20 for i in range(21)], w=DEFAULTS["points"])
        np.testing.assert_allclose(
            columns(tab)["gap"], chosen.coefficients(200)[0], rtol=1e-6, atol=1e-6
        )
