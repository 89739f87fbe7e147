"""The gallery: complete and closed in itself as a file; as a page in a real Chromium, filtered,
on a phone, in the dark, without scripts and on paper.
"""

import inspect
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from lab.papers import entries, gallery, page_html, tables
from lab.papers.published import PAPERS, printed_hyperparameters
from lab.papers.registry import WORLDS, Item, items
from lab.papers.verdicts import UNKNOWN
from lab.runs.provenance import ROOT

ITEMS = items()
KEYS = [item.key for item in ITEMS]
OUT = ROOT / "figures" / "out"


@pytest.fixture(scope="module")
def page() -> str:
    """The page of the figures that lie in the repository."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LAB_FIGURES", raising=False)
        return gallery.page(ITEMS)


def by_key(key: str) -> Item:
    return ITEMS[KEYS.index(key)]


# --- Tables of hyperparameters and formulas -----------------------------------------------------


def test_every_printed_hyperparameter_has_a_setting_or_words_and_no_setting_is_left_over():
    with_settings = [item for item in ITEMS if item.hyperparameters]
    assert [item.key for item in with_settings] == [
        "maxrl_table_5",
        "maxrl_table_6",
        "pacs_table_4",
        "pacs_table_5",
    ]
    for item in with_settings:
        names = [*item.hyperparameters["settings"], *item.hyperparameters["words"]]
        printed = printed_hyperparameters(item.paper, item.item)["parameter"]
        assert sorted(names) == sorted(printed)


def test_the_presets_differ_from_the_printed_hyperparameters_in_one_place():
    different = [
        (item.key, line)
        for item in ITEMS
        if item.hyperparameters
        for line in tables.lines(item)[1:]
        if line[tables.mark_column(item)] == "differs"
    ]
    published = "GSM8K (E.2.1 says GSM8K-Platinum)"
    line = ["Test set", published, "gsm8k_platinum", "differs", "eval_sets"]
    assert different == [("maxrl_table_5", line)]
    assert tables.agreement(by_key("maxrl_table_5")) == f"{tables.DIFFER}; 14 of 15 rows agree"


@pytest.mark.parametrize(
    "text, value, same",
    [
        ("1e-5", 1e-5, True),
        ("1e-5", 1e-6, False),
        ("256", 256, True),
        ("0.0", 0.0, True),
        ("False", 0.0, True),
        ("True", 0.0, False),
        ("SmoLLM2-360M-Instruct", "HuggingFaceTB/SmolLM2-360M-Instruct", True),
        ("Qwen3-1.7B-Base, Qwen3-4B-Base", "Qwen/Qwen3-4B-Base", True),
        ("Qwen3-1.7B-Base, Qwen3-4B-Base", "Qwen/Qwen3-8B-Base", False),
        ("GSM8K", ["gsm8k"], True),
        ("GSM8K", ["gsm8k", "math500"], False),
    ],
)
def test_a_setting_agrees_with_the_printed_text(text, value, same):
    assert tables.agrees(text, value) is same


def test_the_words_beside_a_printed_value_are_what_the_engines_do():
    from lab.llm.engines.vllm_engine import VLLMEngine
    from lab.llm.train.verl_config import CRITIC_RATE

    words = by_key("pacs_table_4").hyperparameters["words"]
    assert float(words["Learning rate, critic in PPO"].split(",")[0]) == CRITIC_RATE
    words = by_key("pacs_table_5").hyperparameters["words"]
    share = inspect.signature(VLLMEngine).parameters["share"].default
    assert words["GPU memory utilization"].startswith(f"{share} ")


@pytest.mark.parametrize("key, rows", [("maxrl_table_1", 2), ("maxrl_table_2", 4)])
def test_the_lab_has_the_weights_that_the_printed_formulas_mean(key, rows):
    item = by_key(key)
    assert tables.agreement(item) == f"{tables.AGREE}; {rows} of {rows} rows agree"
    head, *body = tables.lines(item)
    words = tables.text_columns(item)
    for published, ours in zip(body[::2], body[1::2], strict=True):
        assert (published[1], ours[1]) == ("published", "ours")
        assert published[words:] == ours[words:] and len(ours) == len(head)


def test_a_printed_formula_that_the_lab_contradicts_is_counted():
    item = by_key("maxrl_table_2")
    wrong = item.weights | {"ML": {"formula": "2/p", "objective": "ml"}}
    assert tables.agreement(replace(item, weights=wrong)) == f"{tables.DIFFER}; 3 of 4 rows agree"


# --- Words on the page --------------------------------------------------------------------------


def test_every_item_belongs_to_a_world_and_every_verdict_has_a_colour(page):
    assert set().union(*map(entries.worlds, ITEMS)) == set(WORLDS)
    assert all(map(entries.worlds, ITEMS))
    assert entries.worlds(by_key("maxrl_figure_12")) == ["mazes", "language models"]
    words = [verdicts.split("|") for verdicts in re.findall(r"data-verdict='([^']+)'", page)]
    assert len(words) == len(ITEMS) and set().union(*words) <= set(entries.TONES)


def test_an_item_that_lacks_its_own_world_is_found_as_not_yet_measured_and_by_its_claims(page):
    (words,) = re.findall(r"<article id='maxrl_figure_4'.* data-verdict='([^']+)'", page)
    of_claims = {entries.verdict_word(claim.verdict) for claim in by_key("maxrl_figure_4").compare}
    assert UNKNOWN not in of_claims and set(words.split("|")) == {UNKNOWN} | of_claims


# --- The file -----------------------------------------------------------------------------------


def test_every_item_is_an_article_and_a_line_of_the_contents_and_no_id_is_there_twice(page):
    assert re.findall(r"<article id='(\w+)'", page) == KEYS
    assert re.findall(r"<li data-item='(\w+)'", page) == KEYS
    ids = re.findall(r"\bid='([^']+)'", page)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r"href='#([^']+)'", page)) == {*KEYS, "contents"} <= set(ids)


def test_every_link_leads_to_a_file_beside_the_page_or_to_a_paper(page):
    links = set(re.findall(r"(?:src|href)='([^'#]+)'", page))
    papers = {f"https://arxiv.org/abs/{archive.split()[1]}" for archive in PAPERS.values()}
    assert {link for link in links if ":" in link} == papers
    beside = links - papers
    assert len(beside) > 60 and all((OUT / link).exists() for link in beside)


def test_the_page_loads_nothing_but_its_pictures(page):
    assert page.count("<script") == page.count("<script>") == 1
    assert "<link" not in page and "@import" not in page and "url(" not in page
    assert "fetch(" not in page and page.count("<style>") == 1
    assert {link[-4:] for link in re.findall(r"src='([^']+)'", page)} == {".png"}


def test_every_table_stands_on_the_page_with_ours_or_the_word_that_it_is_not_measured(page):
    articles = dict(re.findall(r"<article id='(\w+)'(.*?)</article>", page, re.DOTALL))
    for item in ITEMS:
        if tables.has_table(item):
            rows = re.findall(r"<tr class='(\w*)'", articles[item.key])
            if item.layout and not item.ours:
                assert rows.pop() == "missing" and UNKNOWN in articles[item.key]
            assert len(rows) == len(tables.lines(item)) - 1


def test_words_of_the_registry_are_text_on_the_page_and_never_markup():
    item = Item(
        "MaxRL",
        "Figure 1",
        "theory",
        "a <b> & c",
        ["lab figures weights"],
        missing="<script>x</script>",
    )
    page = page_html.page([item], how="1 < 2 & 3")
    assert "<script>x" not in page and "&lt;script&gt;x" in page and "1 &lt; 2 &amp; 3" in page
    assert "a &lt;b&gt; &amp; c" in page and "<code>lab figures weights</code>" in page


# --- The page in a browser ----------------------------------------------------------------------


@contextmanager
def opened(chromium, state: str = "", width: int = 1200, **options):
    """A tab with the page in the repository; fails if the page errs or asks for a foreign file."""
    context = chromium.new_context(viewport={"width": width, "height": 844}, **options)
    said, asked = [], []
    context.on("request", lambda request: asked.append(request.url))
    tab = context.new_page()
    tab.set_default_timeout(10_000)
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(f"{(OUT / 'index.html').as_uri()}{state}")
    yield tab
    context.close()
    assert said == [] and all(url.startswith(OUT.as_uri()) for url in asked)


def shown(tab) -> list[str]:
    """The keys of the articles in sight; the contents must list the same."""
    visible = "(all) => all.filter((one) => one.checkVisibility())"
    keys = tab.eval_on_selector_all("article", f"(all) => ({visible})(all).map((one) => one.id)")
    assert keys == tab.eval_on_selector_all(
        "[data-item]", f"(all) => ({visible})(all).map((one) => one.dataset.item)"
    )
    return keys


def state_of(tab) -> dict[str, list[str]]:
    return parse_qs(tab.evaluate("location.hash.slice(1)"))


def test_boxes_and_words_narrow_the_page_and_the_address_brings_the_same_view_back(chromium):
    mazes = [item.key for item in ITEMS if "mazes" in entries.worlds(item)]
    with opened(chromium) as tab:
        assert shown(tab) == KEYS and tab.inner_text("[role=status]").startswith("44 of 44 ")
        tab.get_by_role("checkbox", name="mazes").focus()
        tab.keyboard.press("Space")
        assert shown(tab) == mazes and state_of(tab) == {"world": ["mazes"]}
        assert tab.inner_text("[role=status]").startswith(f"{len(mazes)} of 44 ")
        tab.get_by_role("checkbox", name="language models").check()
        assert len(mazes) < len(shown(tab)) < len(KEYS)  # either world
        tab.get_by_role("checkbox", name="table").check()  # of this kind
        tab.get_by_role("searchbox").fill("Six METHODS")
        assert shown(tab) == ["maxrl_table_3", "maxrl_table_4"]
        assert not tab.is_visible("main h2:has-text('PACS')")
        address = tab.evaluate("location.hash")
        tab.keyboard.press("Enter")  # sends nothing
        assert tab.evaluate("location.hash") == address
        tab.get_by_role("button", name="clear").click()
        assert shown(tab) == KEYS and state_of(tab) == {}
    with opened(chromium, address) as tab:
        assert shown(tab) == ["maxrl_table_3", "maxrl_table_4"]
        assert tab.get_by_role("checkbox", name="mazes").is_checked()
        assert tab.get_by_role("searchbox").input_value() == "Six METHODS"


def test_each_box_leaves_as_many_items_as_stand_beside_it(chromium):
    with opened(chromium) as tab:
        boxes = tab.eval_on_selector_all(
            "#filters label:has([type=checkbox])",
            """(all) => all.map((box) => {
              box.click();
              const left = document.querySelectorAll("article:not([hidden])").length;
              box.click();
              return [Number(box.querySelector("small").textContent), left];
            })""",
        )
        assert len(boxes) >= 11 and all(said == left > 0 for said, left in boxes)
        assert shown(tab) == KEYS


def test_a_link_to_an_item_that_the_filters_hide_shows_it(chromium):
    with opened(chromium, "#paper=PACS") as tab:
        assert {key.split("_")[0] for key in shown(tab)} == {"pacs"}
        tab.evaluate("location.hash = 'pacs_table_3'")
        assert {key.split("_")[0] for key in shown(tab)} == {"pacs"}
        tab.evaluate("location.hash = 'maxrl_figure_3'")
        tab.wait_for_function("maxrl_figure_3.getBoundingClientRect().top < innerHeight")
        assert shown(tab) == KEYS
        tab.go_back()
        tab.go_back()
        tab.wait_for_function("location.hash === '#paper=PACS' && maxrl_figure_3.hidden")


@pytest.mark.parametrize("width", [320, 390, 800])
def test_no_part_of_the_page_is_wider_than_the_screen(chromium, width):
    with opened(chromium, width=width) as tab:
        tab.eval_on_selector_all("details", "(all) => all.forEach((one) => (one.open = true))")
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        wide = tab.eval_on_selector_all(
            "body *",
            """(all) => all
              .filter((one) => !one.closest(".scroll, thead"))
              .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
              .map((one) => one.outerHTML.slice(0, 80))""",
        )
        assert wide == []


# The lowest contrast of any text with what lies behind it, by WCAG 2, and the text.
CONTRAST = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (one) => {
    const colour = parts(getComputedStyle(one).backgroundColor);
    if (colour.length === 3) return colour;
    return one.parentElement ? behind(one.parentElement) : [255, 255, 255];
  };
  let lowest = [Infinity, ""];
  for (const one of document.body.querySelectorAll("*")) {
    const text = [...one.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!text.length || !one.checkVisibility()) continue;
    const [a, b] = [parts(getComputedStyle(one).color), behind(one)].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, text[0].data];
  }
  return lowest;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_lies_behind_it(chromium, scheme):
    with opened(chromium, color_scheme=scheme) as tab:
        backs = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (backs == "rgb(255, 255, 255)") == (scheme == "light")
        ratio, text = tab.evaluate(CONTRAST)
        assert ratio >= 4.5, f"{text!r} has contrast {ratio:.2f}"


def test_on_a_phone_a_claim_is_a_card_with_its_labels_and_a_wide_table_scrolls_in_its_box(chromium):
    with opened(chromium, width=390) as tab:
        cell = "#maxrl_table_3 .claims td:nth-child(2)"
        label = tab.eval_on_selector(cell, "(one) => getComputedStyle(one, '::before').content")
        assert label == '"published"'
        box = tab.locator("#maxrl_table_3 [role=region]")
        box.focus()
        tab.keyboard.press("ArrowRight")
        tab.wait_for_function(
            "document.querySelector('#maxrl_table_3 [role=region]').scrollLeft > 0"
        )
        first = tab.locator("#maxrl_table_3 .values tbody th").first
        assert first.bounding_box()["x"] >= box.bounding_box()["x"]  # stays in sight


def test_without_scripts_and_on_paper_all_is_there_but_the_filters(chromium):
    with opened(chromium, java_script_enabled=False) as tab:
        assert tab.locator("article").count() == 44 and tab.is_visible("#pacs_table_13")
        assert not tab.is_visible("#filters")
    with opened(chromium, color_scheme="dark") as tab:
        tab.emulate_media(media="print")
        assert not tab.is_visible("#filters") and tab.is_visible("#pacs_table_13")
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") in (
            "rgb(255, 255, 255)",
            "rgba(0, 0, 0, 0)",
        )


def test_what_a_screen_reader_needs_has_a_name(chromium):
    with opened(chromium) as tab:
        assert tab.get_by_role("navigation", name="Contents").count() == 1
        assert tab.get_by_role("search", name="Figures and tables").count() == 1
        names = Counter(
            tab.eval_on_selector_all("[role=region]", "(all) => all.map((one) => one.ariaLabel)")
        )
        assert len(names) >= 20 and set(names.values()) == {1}
        assert tab.eval_on_selector_all("img", "(all) => all.every((one) => one.alt)")
        assert tab.get_by_role("article", name="PACS Table 13").count() == 1
