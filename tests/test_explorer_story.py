"""The explorer's story in a real Chromium: its first screen, seven scenes and its ending, their
numbers against the lab's, their addresses, and what readers with a phone, a keyboard or a screen
reader need.
"""

import json
import re
import runpy
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from browser import PHONE, quiet, served

import lab
from lab.explorer import page, page_catalogue
from lab.explorer.state import DEFAULTS
from lab.mathematics.forecast import fit
from lab.show.audit import audit
from lab.show.forecast import fan, visits_of
from lab.toy import paired

ROOT = Path(__file__).parents[1]
EXACT = 1e-9
SCENES = "start unseen limit both-ends dead-groups your-data go-on draw ending".split()
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
STILL = {"reduced_motion": "reduce"}


@pytest.fixture
def shown(chromium, address):
    """Show what is at a hash, its animation at its end; a context manager."""

    @contextmanager
    def lead(hash="", options=None):
        with quiet(chromium, address, **(STILL | (options or {}))) as tab:
            tab.goto(address + hash)
            tab.wait_for_selector(".lab-story[data-drawn]")
            yield tab

    return lead


def go(tab, hash):
    """Follow an address within the page that is open, and wait until what it names is drawn."""
    before = tab.locator(".lab-story").get_attribute("data-drawn")
    tab.evaluate("(hash) => { location.hash = hash; }", hash)
    tab.wait_for_selector(f'.lab-story:not([data-drawn="{before}"])')


def drag(tab, place):
    """Put the slider of the scene on its value number `place`, as a hand does."""
    tab.locator("#lab-drag").evaluate(
        """(bar, place) => { bar.value = place;
        bar.dispatchEvent(new Event('input', { bubbles: true })); }""",
        str(place),
    )


def finding(tab):
    return tab.locator(".finding").inner_text().replace("\u00a0", " ")


# --- What is shown is what the lab computes -----------------------------------------------------


def test_the_dots_of_the_first_screen_are_a_run_of_the_lab(shown):
    run = dict(rollouts=16, problems=60, steps=200, step_length=0.05, seed=0)
    with shown("#start") as tab:
        for place, alpha in ((0, 0), (10, 0.5), (20, 1)):
            ours = paired.pass_rates([f"alpha(alpha={alpha})"], **run)[0][-1]
            drag(tab, place)
            dots = tab.locator(".picture circle").all()
            drawn = [float(dot.get_attribute("data-p")) for dot in dots]
            np.testing.assert_allclose(drawn, ours, rtol=1e-7)
            hard, other = (ours[:15] > 0.5).sum(), (ours[15:] > 0.5).sum()
            assert f"solves {hard} of the 15 hardest problems" in finding(tab)
            assert f"{other} of the other 45" in finding(tab)
            assert tab.locator(".picture .ghost").count() == (60 if alpha else 0)
            if alpha:  # beside the left end: what it costs
                assert f"easiest right {100 * ours[-15:].mean():.0f} % of the time" in finding(tab)


def test_the_loop_of_the_readme_is_this_run_drawn_with_both_ends_of_the_slider():
    tool = runpy.run_path(str(ROOT / "tools" / "opening_loop.py"))
    picture = (ROOT / "docs" / "explorer" / "opening.svg").read_text()
    assert tool["drawn"]() == picture and len(picture) < 1.5e6
    assert tool["RUN"] == dict(rollouts=16, problems=60, steps=200, step_length=0.05, seed=0)
    moves = map(float, re.findall(r"<circle[^>]*translateY\(([-.\d]+)px", picture))
    runs = paired.pass_rates(["alpha(alpha=0)", "alpha(alpha=1)"], **tool["RUN"])
    heights = (runs[:, 0] - runs[:, -1]) * (tool["BASE"] - tool["TOP"])
    np.testing.assert_allclose(list(moves), heights.ravel(), atol=0.051)


def test_the_rounds_of_the_unseen_problem_are_drawn_with_the_numbers_of_the_lab(shown, front):
    with shown() as tab:
        for N in (1, 8, 64):
            right = paired.uniforms(0, 0, 20, N) < 0.01
            assert front("scene_unseen", "return m.rounds(a[0]);", N) == right.tolist()
            go(tab, f"#unseen&N={N}")
            assert tab.locator(".box").count() == 20
            assert tab.locator(".box.seen").count() == right.any(axis=1).sum()
            told = re.search(r"([\d.]+) % contain none, and teach nothing", finding(tab))
            assert float(told[1]) == pytest.approx(100 * 0.99**N, abs=0.51)


def test_the_solid_line_is_the_weight_of_maxrl(shown, front):
    p = page_catalogue.pass_rates("log")
    with shown() as tab:
        for N in (4, 16, 1024):
            told = front("scene_limit", "return Array.from(m.weight(a[0], a[1]));", p.tolist(), N)
            np.testing.assert_allclose(told, lab.induced_weight("maxrl", N, p), rtol=EXACT)
            go(tab, f"#limit&N={N}")
            weight = lab.induced_weight("maxrl", N, [0.001])[0]
            assert f"pulls {float(f'{weight:.3g}'):g} times" in finding(tab)
            told = front("scene_limit", "return Array.from(m.heard(a[0], a[1]));", p.tolist(), N)
            np.testing.assert_allclose(told, 1 - (1 - p) ** (N - 1), rtol=1e-9)
            strips = tab.locator(".picture text.over").all_text_contents()
            assert strips[2] == f"= how hard it pulls: {float(f'{weight:.3g}'):g}"


def test_each_answer_of_the_group_gets_what_grpo_gives_it(shown):
    with shown() as tab:
        for K in (0, 1, 5, 8):
            go(tab, f"#both-ends&K={K}")
            bars = tab.locator(".picture [data-advantage]").all()
            told = [float(bar.get_attribute("data-advantage")) for bar in bars]
            right = np.array(["right" in bar.get_attribute("class") for bar in bars])
            assert right.sum() == K
            np.testing.assert_allclose(told, lab.advantages("grpo", right * 1.0), atol=1e-12)


def test_the_shares_of_dead_groups_are_those_of_the_first_screens_problems(shown, front):
    start = paired.pass_rates(["rloo"], rollouts=2, problems=60, steps=0)[0][0]
    np.testing.assert_allclose(front("scene_dead", "return m.POPULATION;"), start, rtol=EXACT)
    with shown() as tab:
        for N in (2, 8, 128):
            wrong, right = np.mean((1 - start) ** N), np.mean(start**N)
            told = front("scene_dead", "return m.shares(a[0]);", N)
            np.testing.assert_allclose(told, [wrong, right], rtol=EXACT)
            go(tab, f"#dead-groups&N={N}")
            said = [float(x) for x in re.findall(r"([\d.]+) %", finding(tab))]
            shares = [100 * wrong, 100 * right, 100 * (wrong + right)]
            assert said == pytest.approx(shares, abs=0.11)


def test_a_drawing_is_fitted_as_the_lab_fits_it_by_mouse_and_by_keys(shown, front):
    p = [i / 20 for i in range(21)]
    told = front("scene_draw", "return Array.from(m.fitted(a[0], 16)[0]);", DEFAULTS["points"])
    ours = lab.estimator("drawn", p=p, w=DEFAULTS["points"]).coefficients(16)[0]
    np.testing.assert_allclose(told, ours, rtol=EXACT, atol=EXACT)
    with shown("#draw") as tab:
        before, undo = finding(tab), tab.get_by_role("button", name="Undo")
        tab.get_by_role("button", name="Flat").click()
        assert finding(tab) != before
        undo.click()
        assert finding(tab) == before and undo.get_attribute("aria-disabled") == "true"
        chart = tab.get_by_role("slider", name="drawn weight")
        value = float(chart.get_attribute("aria-valuenow"))
        chart.press("ArrowUp")
        assert float(chart.get_attribute("aria-valuenow")) == value + 0.2
        tab.get_by_text("What exactly is computed").click()
        tab.get_by_role("link", name="Open this in the workbench").click()
        tab.wait_for_selector(".lab-explorer[data-revision]")
        assert json.loads(unquote(tab.url.split("#")[1]))["panel"] == "draw"


def test_at_the_end_the_first_screens_problems_are_trained_by_the_drawn_weight(shown):
    p = [i / 20 for i in range(21)]
    run = dict(rollouts=16, problems=60, steps=200, step_length=0.05, seed=0)
    with shown("#draw", CLIPBOARD) as tab:
        tab.get_by_role("button", name="Flat").click()
        tab.get_by_role("link", name="Next: Train with it").click()
        tab.get_by_role("button", name="Train", exact=True).click()
        tab.locator(".finding", has_text="After 200 rounds").wait_for()
        dots = tab.locator(".picture circle").all()
        drawn = np.reshape([float(dot.get_attribute("data-p")) for dot in dots], (4, 60))
        flat = f"drawn(p={p}, w={[1] * 21})"
        ours = paired.pass_rates([flat, "rloo", "grpo", "maxrl"], **run)[:, -1]
        np.testing.assert_allclose(drawn, ours, rtol=1e-6)
        hard = (ours[:, :15] > 0.5).sum(axis=1)
        assert f"your weight solves {hard[0]} of the 15 hardest" in finding(tab)
        assert f"MaxRL {hard[3]} and " in finding(tab)
        tab.get_by_role("button", name="Copy my result").click()
        tab.get_by_text("Result copied.").wait_for()
        copied = tab.evaluate("navigator.clipboard.readText()")
        assert f"it solves {hard[0]} of the 15 hardest problems; RL solves {hard[1]}, " in copied
        assert copied.endswith(tab.locator(".bench").evaluate("(link) => link.href"))


def test_your_own_counts_say_what_the_audit_says(shown, tmp_path):
    counts = tmp_path / "counts.csv"
    k = np.random.default_rng(2).binomial(16, np.linspace(0.01, 0.9, 80))
    counts.write_text("problem,n,k\n" + "".join(f"{i},16,{x}\n" for i, x in enumerate(k)))
    table = audit(counts, ("rloo", "grpo", "maxrl"), rollouts=16).table
    shares = table[table["what"].str.startswith("share of gradient")].groupby("by")["value"].first()
    with shown("#your-data") as tab:
        (tmp_path / "bad.csv").write_text("x,y\n1,2\n")
        tab.get_by_label("Your file").set_input_files(tmp_path / "bad.csv")
        tab.locator(".fault:visible", has_text="found columns x, y").wait_for()
        assert finding(tab).startswith("In the invented example")
        tab.get_by_label("Your file").set_input_files(counts)
        tab.locator(".finding", has_text="In counts.csv").wait_for()
        assert not tab.locator(".fault:visible").count()
        said = [float(x) for x in re.findall(r"([\d.]+) %", finding(tab))]
        ours = [100 * shares[name] for name in ("rloo", "grpo", "maxrl")]
        assert said[2:5] == pytest.approx(ours, abs=0.51)


def test_the_first_fan_is_the_labs_forecast_of_a_recorded_training(shown, front):
    here = front("scene_fan", "return m.stopped(m.FANS[0], 30);")
    table = pd.read_parquet(ROOT / "data" / "forecast" / "counts.parquet")
    table = table[table["training"] == "arithmetic-maxrl"]
    n, right = visits_of(*(table[key].to_numpy() for key in ("problem", "visit", "n", "right")))
    seen, means = here["seen"], right.sum(axis=0) / n.sum(axis=0)
    found = fit(n[:, :seen], right[:, :seen], "maxrl")
    ours = [each[1:] for each in fan(found, here["end"] - seen, n[0, 0])]
    drawn = [here[of] for of in ("middle", "low", "high")]
    np.testing.assert_allclose(np.transpose(drawn), ours, atol=6e-4)
    np.testing.assert_allclose(here["before"] + here["rest"], means, atol=6e-4)
    with shown("#go-on") as tab:
        assert finding(tab).endswith("Would you pay for the rest?")
        tab.get_by_role("button", name="Show the rest").click()
        assert f"It was {100 * means[-1]:.0f} %: inside." in finding(tab)


# --- Steps and addresses ------------------------------------------------------------------------


def test_the_story_goes_forward_and_back_and_ends_at_the_workbench(shown):
    with shown() as tab:
        for name in SCENES[1:]:
            tab.locator(".step.next").click()
            tab.wait_for_selector(f'.lab-story[data-scene="{name}"]')
            assert tab.url.endswith(f"#{name}")
            assert tab.evaluate("document.activeElement.tagName") == "H2"  # it is read first
        tab.go_back()
        tab.wait_for_selector('.lab-story[data-scene="draw"]')
        tab.get_by_role("link", name="8: Train with it").click()
        tab.get_by_role("link", name="be the verifier").click()
        tab.get_by_role("button", name="Load the model").wait_for()


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_moves_by_keys_is_heard_keeps_its_value_in_its_address_and_opens_with_it(
    shown, name
):
    with shown(f"#{name}") as tab:
        assert tab.locator(".finding").get_attribute("role") == "status"
        assert tab.locator(".picture svg").first.get_attribute("aria-label")
        bar, before = tab.locator("#lab-drag"), finding(tab)
        bar.press("ArrowRight")
        assert bar.get_attribute("aria-valuetext") == tab.locator(".drag output").inner_text()
        assert finding(tab) != before
        tab.wait_for_url(re.compile(rf"#{name}&\w+="), wait_until="commit")
        pressed = tab.url
        drag(tab, 2 if bar.input_value() != "2" else 3)
        value, said = tab.locator(".drag output").inner_text(), finding(tab)
        tab.wait_for_url(lambda url: url != pressed, wait_until="commit")
        url = tab.url
    with shown(url[url.index("#") :]) as tab:
        assert (tab.locator(".drag output").inner_text(), finding(tab)) == (value, said)
        assert not tab.locator(".fault:visible").count()


NOTHING = (
    "hasOwnProperty constructor __proto__ nonsense limit&N=3 limit&M=4 limit&N= [1] & %E0%A4%A"
)
NOTHING += " limit&hasOwnProperty=1 limit&N=16&N start&count=2"


def test_an_address_that_names_nothing_is_a_sentence_and_the_start(shown):
    with shown("#nothing") as tab:
        for hash in NOTHING.split():
            go(tab, f"#{hash}")
            told = tab.locator(".fault:visible").inner_text()
            assert told.startswith("the address") and told.endswith("this is the start instead")
            assert tab.locator(".picture circle").count() == 60, hash


@pytest.mark.parametrize("state", ['{"hasOwnProperty":1}', '{"curves":["constructor"]}', "{"])
def test_a_state_that_names_nothing_opens_the_workbench_with_a_sentence(chromium, address, state):
    with quiet(chromium, address) as tab:
        tab.goto(f"{address}#{state}")
        tab.wait_for_selector(".lab-explorer[data-revision]")
        assert re.search("unknown|no state", tab.locator(".fault:visible").first.inner_text())


def test_the_link_and_the_code_of_a_frame_are_copied_and_the_frame_shows_one_scene(
    shown, chromium, address, tmp_path
):
    with shown("#limit&N=64", CLIPBOARD) as tab:
        tab.get_by_role("button", name="Copy link").click()
        tab.get_by_text("Link copied.").wait_for()
        assert tab.evaluate("navigator.clipboard.readText()") == f"{address}#limit&N=64"
        tab.get_by_role("button", name="Copy embed code").click()
        tab.get_by_text("Embed code copied.").wait_for()
        code = tab.evaluate("navigator.clipboard.readText()")
    (tmp_path / "other.html").write_text(f"<!doctype html><title>x</title>{code}")
    with chromium.new_context(**STILL) as context:
        tab = context.new_page()
        tab.goto((tmp_path / "other.html").as_uri())
        frame = tab.frame_locator("iframe")
        frame.locator(".lab-story[data-embed] .finding").wait_for()
        assert frame.locator(".drag output").inner_text() == "N = 64"
        assert tab.locator("iframe").bounding_box()["height"] == 420


FITS = {  # options, what follows the scene in its address, and the parts that share the screen
    "phone": (PHONE, "", (".picture", "#lab-drag", ".finding")),
    "laptop": (
        {"viewport": {"width": 1280, "height": 660}},
        "",
        (".picture", "#lab-drag", ".finding", ".steps"),
    ),
    "200 %": ({"viewport": {"width": 640, "height": 450}}, "", (".picture", "#lab-drag")),
    "embedded": ({"viewport": {"width": 700, "height": 420}}, "&embed", (".picture", ".finding")),
}


@pytest.mark.parametrize("screen", FITS)
def test_picture_and_slider_share_the_screen(shown, screen):
    options, words, parts = FITS[screen]
    size = options["viewport"]
    with shown("", options) as tab:
        for name in reversed(SCENES):
            go(tab, f"#{name}{words}")
            assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"], name
            tops = [tab.locator(part).first.bounding_box() for part in parts]
            assert all(box["y"] >= 0 for box in tops), name
            assert all(box["y"] + box["height"] <= size["height"] for box in tops[1:]), name


# --- Motion, phone, keyboard, screen reader -----------------------------------------------------


def test_the_first_screen_is_already_learning_and_can_be_paused(chromium, address):
    with quiet(chromium, address) as tab:
        tab.goto(address)
        tab.get_by_role("button", name="Pause").click(timeout=5000)
        assert tab.get_by_role("button", name="Play").is_visible()
        at = tab.locator(".picture text", has_text="of 200").text_content()
        tab.wait_for_timeout(300)
        assert tab.locator(".picture text", has_text="of 200").text_content() == at


def test_in_forced_colours_the_picture_keeps_to_them(shown):
    with shown("#unseen&N=64", {"forced_colors": "active"}) as tab:
        fill = "(one) => getComputedStyle(one).fill"
        right = tab.locator(".box.seen + path + path").first.evaluate(fill)
        wrong = tab.locator(".wrong").first.evaluate(fill)
        assert right != wrong and "196, 45, 8" not in right


# --- Previews of links ---


def test_every_scene_has_its_picture_and_its_words_in_the_order_of_the_story(front):
    """`make pictures` draws them; the site makes a page of each scene's own from them."""
    folder = ROOT / "docs" / "explorer"
    script = "return m.SCENES.map(({ name, title, lead }) => ({ name, title, lead }));"
    told = front("story", script)
    assert json.loads((folder / "scenes.json").read_text(encoding="utf-8")) == told
    assert {path.stem for path in folder.glob("*.png")} == {scene["name"] for scene in told}
    shown = re.findall(
        r"^## (.+)\n\n(.+)\n\n!\[\]\((.+)\.png\)$", (folder / "README.md").read_text(), re.M
    )
    assert shown == [(scene["title"], scene["lead"], scene["name"]) for scene in told]


def test_a_link_on_a_site_leads_by_the_scenes_own_page_to_its_value(chromium, tmp_path):
    page.write(tmp_path / "explorer.html", scenes="scenes/")
    write = runpy.run_path(str(ROOT / "tools" / "site" / "scenes.py"))["write"]
    write(ROOT / "docs" / "explorer", tmp_path / "scenes", "https://example.org/lab/scenes/")
    text = (tmp_path / "scenes" / "limit.html").read_text(encoding="utf-8")
    assert '<meta property="og:image" content="https://example.org/lab/scenes/limit.png">' in text
    with served(tmp_path) as address, quiet(chromium, address) as tab:
        tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab.goto(address + "explorer.html#limit&N=64")
        tab.get_by_role("button", name="Copy link").click()
        tab.get_by_text("Link copied.").wait_for()
        link = tab.evaluate("navigator.clipboard.readText()")
        assert link == address + "scenes/limit.html#N=64"
        tab.goto("about:blank")
        tab.goto(link)
        tab.wait_for_selector(".lab-story[data-scene=limit]")
        assert tab.url == address + "explorer.html#limit&N=64"
