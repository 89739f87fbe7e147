"""The explorer's story in a real Chromium: its first screen and six scenes, their numbers against
the lab's, their addresses, and what readers with a phone, a keyboard or a screen reader need.
"""

import json
import re
import runpy
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from browser import FRONT, quiet, served, turn
from PIL import Image

import lab
from lab.explorer import axes, page
from lab.explorer.page_catalogue import described
from lab.explorer.state import DEFAULTS
from lab.show.audit import audit
from lab.toy import paired

ROOT = Path(__file__).parents[1]
EXACT = 1e-9
SCENES = ["start", "unseen", "limit", "both-ends", "dead-groups", "draw", "your-data"]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
STILL = {"reduced_motion": "reduce"}


@pytest.fixture
def story(tabs, address):
    """Open the page at a hash, its animation at its end; a context manager."""

    @contextmanager
    def open_page(hash="", options=None):
        with tabs.quiet(address, **(STILL | (options or {}))) as tab:
            tab.goto(address + hash)
            tab.wait_for_selector(".lab-story[data-drawn]")
            yield tab

    return open_page


@pytest.fixture
def shown(tabs, address):
    """Show what is at a hash on a page that is opened once for each kind of screen and `way` in:
    for what a scene is, however one came to it. A context manager.
    """

    @contextmanager
    def lead(hash, options=None, way=""):
        page = address + way
        with tabs.quiet(page, stays=True, **(STILL | (options or {}))) as tab:
            if tab.url.startswith(page):
                turn(tab, hash)
            else:
                tab.goto(page + hash)
            tab.wait_for_selector(".lab-story[data-drawn]")
            yield tab

    return lead


@pytest.fixture(scope="module")
def front(chromium):
    """Call `front(module, script, *arguments)`: the value of a script with the module as `m`."""
    with served(FRONT) as address:
        tab = chromium.new_page()
        tab.goto(address)
        learn = "async (a) => (await import('/given.js')).learn(a)"
        tab.evaluate(learn, described() | {"tables": []})

        def run(module, script, *arguments):
            text = f"async (a) => {{ const m = await import('/{module}.js'); {script} }}"
            return tab.evaluate(text, list(arguments))

        yield run
        tab.close()


def drag(tab, place):
    """Put the slider of the scene on its value number `place`, as a hand does."""
    bar = tab.locator("#lab-drag")
    bar.evaluate(
        """(bar, place) => { bar.value = place;
        bar.dispatchEvent(new Event('input', { bubbles: true })); }""",
        str(place),
    )


def finding(tab):
    return tab.locator(".finding").inner_text().replace("\u00a0", " ")


# --- What is shown is what the lab computes -----------------------------------------------------


@pytest.mark.parametrize("place, alpha", [(0, 0), (10, 0.5), (20, 1)])
def test_the_dots_of_the_first_screen_are_a_run_of_the_lab(shown, place, alpha):
    run = dict(rollouts=16, problems=60, steps=200, step_length=0.05, seed=0)
    ours = paired.pass_rates([f"alpha(alpha={alpha})"], **run)[0][-1]
    with shown("#start") as tab:
        drag(tab, place)
        dots = tab.locator(".picture circle").all()
        np.testing.assert_allclose(
            [float(dot.get_attribute("data-p")) for dot in dots], ours, rtol=1e-7
        )
        heights = [float(dot.get_attribute("cy")) for dot in dots]
        slope, start = np.polyfit(ours, heights, 1)
        assert slope < -100 and np.abs(slope * ours + start - heights).max() < 1e-3
        said = f"solves {(ours[:15] > 0.5).sum()} of the 15 hardest problems"
        assert said in finding(tab) and f"{(ours[15:] > 0.5).sum()} of the other 45" in finding(tab)


def test_the_ends_of_the_first_slider_are_the_group_mean_and_maxrl():
    for alpha, name in ((0, "reinforce_mean"), (1, "maxrl")):
        ours = lab.estimator(f"alpha(alpha={alpha})").coefficients(16)
        np.testing.assert_allclose(ours, lab.estimator(name).coefficients(16), atol=1e-12)


@pytest.mark.parametrize("N", [1, 8, 64])
def test_the_rounds_of_the_unseen_problem_are_drawn_with_the_numbers_of_the_lab(shown, front, N):
    right = paired.uniforms(0, 0, 20, N) < 0.01
    assert front("scene_unseen", "return m.rounds(a[0]);", N) == right.tolist()
    with shown(f"#unseen&N={N}") as tab:
        assert tab.locator(".box").count() == 20
        assert tab.locator(".box.seen").count() == right.any(axis=1).sum()
        told = re.search(r"([\d.]+) % would contain none", finding(tab))
        assert float(told[1]) == pytest.approx(100 * 0.99**N, abs=0.51)


@pytest.mark.parametrize("N", [4, 16, 1024])
def test_the_solid_line_is_the_weight_of_maxrl_and_the_dashed_one_its_limit(shown, front, N):
    p = axes.pass_rates("log")
    told = front("scene_limit", "return Array.from(m.weight(a[0], a[1]));", p.tolist(), N)
    np.testing.assert_allclose(told, lab.induced_weight("maxrl", N, p), rtol=EXACT)
    with shown(f"#limit&N={N}") as tab:
        drawn = {}
        for name in ("given", "promise"):
            d = tab.locator(f'.lines path[data-name="{name}"]').get_attribute("d")
            drawn[name] = np.array([[float(x) for x in s.split()] for s in re.split("[ML]", d)[1:]])
        for name, w in (("given", lab.induced_weight("maxrl", N, p)), ("promise", 1 / p)):
            pixel = drawn[name][:, 1]
            slope, start = np.polyfit(np.log(w), pixel, 1)
            assert slope < -20 and np.abs(slope * np.log(w) + start - pixel).max() < 0.02
        weight = lab.induced_weight("maxrl", N, [0.001])[0]
        assert f"pulls {float(f'{weight:.3g}'):g} times" in finding(tab)


@pytest.mark.parametrize("K", range(9))
def test_each_answer_of_the_group_gets_what_grpo_gives_it(shown, K):
    with shown(f"#both-ends&K={K}") as tab:
        bars = tab.locator(".picture [data-advantage]").all()
        told = np.array([float(bar.get_attribute("data-advantage")) for bar in bars])
        right = np.array(["right" in bar.get_attribute("class") for bar in bars])
        assert right.sum() == K
        np.testing.assert_allclose(told, lab.advantages("grpo", right.astype(float)), atol=1e-12)
        steps, why = tab.locator(".stepper .where"), tab.locator(".why")
        first = steps.inner_text()
        for _ in range(8):  # forward through all answers, and round
            at = int(steps.inner_text().split()[1]) - 1
            assert f"It is {'right' if right[at] else 'wrong'}" in why.inner_text()
            if 0 < K < 8:
                said = why.inner_text().replace("−", "-").replace("+", "")
                assert f"= {told[at]:.2f}, so" in said
            tab.get_by_role("button", name="next answer").click()
        assert steps.inner_text() == first
        tab.get_by_role("button", name="previous answer").click()
        assert steps.inner_text() != first


def test_a_right_answer_stays_right_when_more_are_right(front):
    groups = front(
        "scene_ends", "return a.map((K) => m.group(K).map((one) => one.right));", *range(9)
    )
    for fewer, more in zip(groups, groups[1:], strict=False):
        assert sum(more) == sum(fewer) + 1 and all(b for a, b in zip(fewer, more, strict=True) if a)


def test_the_shares_of_dead_groups_are_those_of_the_first_screens_problems(shown, front):
    start = paired.pass_rates(["rloo"], rollouts=2, problems=60, steps=0)[0][0]
    np.testing.assert_allclose(front("scene_dead", "return m.POPULATION;"), start, rtol=EXACT)
    for N in (2, 8, 128):
        wrong, right = np.mean((1 - start) ** N), np.mean(start**N)
        told = front("scene_dead", "return m.shares(a[0]);", N)
        np.testing.assert_allclose(told, [wrong, right], rtol=EXACT)
        with shown(f"#dead-groups&N={N}") as tab:
            said = [float(x) for x in re.findall(r"([\d.]+) %", finding(tab))]
            assert said == pytest.approx(
                [100 * wrong, 100 * right, 100 * (wrong + right)], abs=0.11
            )


def test_a_drawing_is_fitted_as_the_lab_fits_it_by_mouse_and_by_keys(story, front):
    p = [i / 20 for i in range(21)]
    told = front("scene_draw", "return Array.from(m.fitted(a[0], 16)[0]);", DEFAULTS["points"])
    ours = lab.estimator("drawn", p=p, w=DEFAULTS["points"]).coefficients(16)[0]
    np.testing.assert_allclose(told, ours, rtol=EXACT, atol=EXACT)
    with story("#draw") as tab:
        chart, before = tab.get_by_role("slider", name="drawn weight"), finding(tab)
        undo = tab.get_by_role("button", name="Undo")
        assert undo.get_attribute("aria-disabled") == "true"
        box = chart.bounding_box()
        tab.mouse.move(box["x"] + 200, box["y"] + 60)
        tab.mouse.down()
        tab.mouse.move(box["x"] + 500, box["y"] + 90, steps=6)
        tab.mouse.up()
        stroke = finding(tab)
        assert stroke != before
        tab.get_by_role("button", name="Flat").click()
        assert "the drawing is reached" in finding(tab)
        for found in (stroke, before):
            undo.click()
            assert finding(tab) == found
        assert undo.get_attribute("aria-disabled") == "true"
        tab.get_by_role("button", name="Flat").click()
        chart.focus()
        value = float(chart.get_attribute("aria-valuenow"))
        chart.press("ArrowUp")
        assert float(chart.get_attribute("aria-valuenow")) == value + 0.2
        chart.press("ArrowUp")
        undo.click()
        assert float(chart.get_attribute("aria-valuenow")) == value + 0.2
        tab.get_by_text("What exactly is computed").click()
        tab.get_by_role("link", name="Open this in the workbench").click()
        tab.wait_for_selector(".lab-explorer[data-revision]")
        state = json.loads(unquote(tab.url.split("#")[1]))
        assert state["panel"] == "draw" and sorted(set(state["points"])) == [1, 1.2]


def test_your_own_counts_say_what_the_audit_says(story, tmp_path):
    rng = np.random.default_rng(2)
    k = rng.binomial(16, rng.beta(0.4, 1, 80))
    counts = tmp_path / "counts.csv"
    counts.write_text("problem,n,k\n" + "".join(f"{i},16,{x}\n" for i, x in enumerate(k)))
    table = audit(counts, ("rloo", "grpo", "maxrl"), rollouts=16).table

    def hardest(what, by):
        rows = table[table["what"].str.startswith(what) & (table["by"] == by)]
        return 100 * rows["value"].iloc[0]

    with story("#your-data") as tab:
        assert finding(tab).startswith("In the invented example")
        (tmp_path / "bad.csv").write_text("x,y\n1,2\n")
        tab.get_by_label("Your file").set_input_files(tmp_path / "bad.csv")
        tab.locator(".fault:visible", has_text="found columns x, y").wait_for()
        assert finding(tab).startswith("In the invented example")
        tab.get_by_label("Your file").set_input_files(counts)
        tab.locator(".finding", has_text="In counts.csv").wait_for()
        assert not tab.locator(".fault:visible").count()
        said = [float(x) for x in re.findall(r"([\d.]+) %", finding(tab))]
        ours = [hardest("share of problems", "without noise")]
        ours += [hardest("share of gradient", name) for name in ("rloo", "grpo", "maxrl")]
        assert [said[0], *said[2:5]] == pytest.approx(ours, abs=0.51)
        dead = table[(table["by"] == "dead") & (table["at"].astype(str) == "16")]
        (at16,) = dead["value"]
        assert said[5] == pytest.approx(100 * at16, abs=0.51)


# --- Steps and addresses ------------------------------------------------------------------------


def test_the_story_goes_forward_and_back_and_ends_at_the_workbench(story):
    with story() as tab:
        for name in SCENES[1:]:
            tab.locator(".step.next").click()
            tab.wait_for_selector(f'.lab-story[data-scene="{name}"]')
            assert tab.url.endswith(f"#{name}")
            assert tab.evaluate("document.activeElement.tagName") == "H2"  # it is read first
        tab.go_back()
        tab.wait_for_selector('.lab-story[data-scene="draw"]')
        tab.locator(".step").first.click()
        tab.wait_for_selector('.lab-story[data-scene="dead-groups"]')
        tab.get_by_role("link", name="6: Your own data").click()
        tab.get_by_role("link", name="Next: the workbench").click()
        tab.wait_for_selector(".lab-explorer[data-revision]")
        assert tab.locator("h1").inner_text() == "Which problems does an objective care about?"
        tab.get_by_role("link", name="The story in seven steps").click()
        tab.wait_for_selector('.lab-story[data-scene="start"]')
        assert not tab.locator(".lab-explorer").count()


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_keeps_its_value_in_its_address_and_opens_with_it(shown, story, name):
    with shown(f"#{name}") as tab:
        drag(tab, 2)
        value, said = tab.locator(".drag output").inner_text(), finding(tab)
        tab.wait_for_url(re.compile(rf"#{name}&\w+="), wait_until="commit")
        url = tab.url
    with story(url[url.index("#") :]) as tab:
        assert (tab.locator(".drag output").inner_text(), finding(tab)) == (value, said)
        assert not tab.locator(".fault:visible").count()


@pytest.mark.parametrize(
    "hash",
    ["hasOwnProperty", "constructor", "__proto__", "nonsense", "limit&N=3", "limit&M=4", "limit&N="]
    + ["limit&hasOwnProperty=1", "limit&N=16&N", "%E0%A4%A", "&", "start&count=2", "[1]"],
)
def test_an_address_that_names_nothing_is_a_sentence_and_the_start(shown, hash):
    with shown(f"#{hash}") as tab:
        told = tab.locator(".fault:visible").inner_text()
        assert told.startswith("the address") and told.endswith("this is the start instead")
        assert tab.locator(".picture circle").count() == 60


@pytest.mark.parametrize("state", ['{"hasOwnProperty":1}', '{"curves":["hasOwnProperty"]}', "{"])
def test_a_state_that_names_nothing_opens_the_workbench_with_a_sentence(tabs, address, state):
    with tabs.quiet(address) as tab:
        tab.goto(f"{address}#{state}")
        tab.wait_for_selector(".lab-explorer[data-revision]")
        assert re.search("unknown|no state", tab.locator(".fault:visible").first.inner_text())


def test_links_of_before_the_story_open_the_workbench(tabs, address):
    for state in ({"N": 64, "panel": "toy"}, {"curves": ["maxrl"], "x": "logit"}):
        text = json.dumps(state)
        for hash in (text, text.replace("{", "%7B").replace('"', "%22").replace("}", "%7D")):
            with tabs.quiet(address) as tab:
                tab.goto(f"{address}#{hash}")
                tab.wait_for_selector(".lab-explorer[data-revision]")
                assert tab.locator("#lab-drag").count() == 0
                panel = {"toy": "Live toy"}.get(state.get("panel"), "Curves")
                pressed = tab.locator('nav [aria-pressed="true"]')
                assert pressed.inner_text() == panel


def test_the_link_and_the_code_of_a_frame_are_copied_and_the_frame_shows_one_scene(
    story, chromium, address, tmp_path
):
    with story("#limit&N=64", {"permissions": ["clipboard-read", "clipboard-write"]}) as tab:
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


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("way, words", [("", "&embed"), ("?embed", "")])
def test_an_embedded_scene_fits_into_700_by_420(shown, name, way, words):
    with shown(f"#{name}{words}", {"viewport": {"width": 700, "height": 420}}, way) as tab:
        tab.wait_for_selector(".lab-story[data-embed]")
        size = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        assert tab.evaluate(size) == [700, 420]
        for part in (":is(h1, h2):not(.unseen)", ".picture", "#lab-drag", ".finding"):
            box = tab.locator(part).first.bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= 420, part
        assert tab.locator(".picture").first.bounding_box()["height"] >= 140
        assert not tab.locator(".steps:visible").count()


# --- Motion, phone, keyboard, screen reader -----------------------------------------------------


def test_the_first_screen_is_already_learning_and_can_be_paused(chromium, address):
    with quiet(chromium, address) as tab:
        tab.goto(address)
        tab.get_by_role("button", name="Pause").click(timeout=5000)
        assert tab.get_by_role("button", name="Play").is_visible()
        at = tab.locator(".picture text", has_text="of 200").text_content()
        tab.wait_for_timeout(300)
        assert tab.locator(".picture text", has_text="of 200").text_content() == at


def test_without_motion_nothing_moves_by_itself(story):
    with story() as tab:
        assert tab.locator(".picture text", has_text="of 200").text_content() == "round 200 of 200"
        tab.wait_for_timeout(300)
        drawn = tab.locator(".lab-story").get_attribute("data-drawn")
        tab.wait_for_timeout(300)
        assert tab.locator(".lab-story").get_attribute("data-drawn") == drawn


@pytest.mark.parametrize("name", SCENES)
def test_on_a_phone_picture_slider_and_what_changed_share_the_screen(shown, name):
    with shown(f"#{name}", PHONE) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        for part in (".picture", "#lab-drag", ".finding"):
            box = tab.locator(part).first.bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= 844, part


@pytest.mark.parametrize("name", SCENES)
def test_at_twice_the_size_picture_and_slider_share_the_screen(shown, name):
    """1280 x 900 at 200 %."""
    with shown(f"#{name}", {"viewport": {"width": 640, "height": 450}}) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 640
        top = tab.locator(".picture").first.bounding_box()["y"]
        bar = tab.locator("#lab-drag").bounding_box()
        assert top >= 0 and bar["y"] + bar["height"] <= 450


STOPS = """() => [...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')]
  .filter((one) => one.checkVisibility() && one.getClientRects().length)
  .map((one) => { const { top, left, bottom } = one.getBoundingClientRect();
    return { top, left, bottom,
      named: !!(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length) };
  })"""


@pytest.mark.parametrize("options", [{}, PHONE])
@pytest.mark.parametrize("name", SCENES)
def test_the_order_of_tabs_is_that_of_the_page_and_every_stop_has_a_name(shown, name, options):
    with shown(f"#{name}", options) as tab:
        stops = tab.evaluate(STOPS)
        assert all(stop["named"] for stop in stops) and len(stops) <= 20
        for one, two in zip(stops, stops[1:], strict=False):
            below = two["top"] >= one["bottom"] - 1
            beside = two["left"] > one["left"] and two["top"] < one["bottom"]
            assert below or beside, (one, two)


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_has_one_first_heading_a_title_and_a_live_sentence(shown, name):
    with shown(f"#{name}") as tab:
        assert tab.locator("h1").count() == 1 and tab.locator("main").count() == 1
        claim = tab.locator(":is(h1, h2):not(.unseen)").inner_text()
        assert tab.title().startswith(claim.replace("\n", " "))
        assert tab.locator(".finding").get_attribute("role") == "status"
        bar, before = tab.locator("#lab-drag"), finding(tab)
        bar.focus()
        bar.press("ArrowRight")
        assert bar.get_attribute("aria-valuetext") == tab.locator(".drag output").inner_text()
        assert finding(tab) != before
        assert tab.locator(".picture svg").first.get_attribute("aria-label")


def test_in_forced_colours_the_picture_keeps_to_them(story):
    with story("#unseen&N=64", {"forced_colors": "active"}) as tab:
        fill = "(one) => getComputedStyle(one).fill"
        right = tab.locator(".box.seen + path + path").first.evaluate(fill)
        wrong = tab.locator(".wrong").first.evaluate(fill)
        assert right != wrong and "196, 45, 8" not in right


COLORS = """() => Object.fromEntries(
  ['ground', 'edge', 'muted', 'strong', 'hard', 'rest', 'wrong', 'fault'].map((name) => {
    const one = document.createElement('i');
    one.style.color = `var(--${name})`;
    document.querySelector('.lab-story').append(one);
    return [name, getComputedStyle(one).color.match(/\\d+/g).map(Number)];
  }))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_stand_out_by_three_to_one_and_words_by_four_and_a_half(story, scheme):
    def luminance(channels):
        parts = np.array(channels[:3]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    with story("", {"color_scheme": scheme}) as tab:
        colors = tab.evaluate(COLORS)
    ground = luminance(colors.pop("ground"))
    for name, channels in colors.items():
        low, high = sorted((luminance(channels), ground))
        least = 3 if name in ("edge", "wrong") else 4.5
        assert (high + 0.05) / (low + 0.05) >= least, name


# --- Previews of links ---


def test_every_scene_has_its_picture_and_its_words_in_the_order_of_the_story(front):
    """`make pictures` draws them; the site makes a page of each scene's own from them."""
    folder = ROOT / "docs" / "explorer"
    script = "return m.SCENES.map(({ name, title, lead }) => ({ name, title, lead }));"
    told = front("story", script)
    assert json.loads((folder / "scenes.json").read_text(encoding="utf-8")) == told
    assert {path.stem for path in folder.glob("*.png")} == {scene["name"] for scene in told}
    for path in folder.glob("*.png"):
        with Image.open(path) as picture:
            assert picture.size == (1200, 630)  # as previews of links are cut
            colors = picture.convert("RGB").getcolors(2**16)
            assert colors is None or len(colors) > 50, path.name  # it is no empty page
        assert path.stat().st_size < 200_000


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
