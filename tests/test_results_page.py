"""docs/results.md and the README's results come from the registry, and no prose says more."""

import re

import pytest

from lab.errors import LabError
from lab.papers import pages, results_page
from lab.papers.registry import items, own_claims
from lab.runs.provenance import ROOT

README = ROOT / "README.md"
PAGES = [
    README,
    *(
        path
        for path in sorted((ROOT / "docs").glob("*.md"))
        # these quote the papers, and their numbers and verdicts are written from the registry
        if path.name not in ("papers.md", "results.md", "paper_issues.md")
    ),
]
# Words that settle a comparison. In prose of ours none may: verdicts are the registry's.
SETTLED = re.compile(
    r"\b(outperform\w*|significant(ly)?|beats?|is (clearly|much) (better|worse)|confirms?"
    r"|proves that|holds in the means)\b",
    re.IGNORECASE,
)


@pytest.fixture
def kept(monkeypatch):
    """The figures as they lie in the repository."""
    monkeypatch.delenv("LAB_FIGURES")


def prose(text: str) -> str:
    """A text without its code, its quotations and what is written by the lab."""
    for pattern in (
        rf"{results_page.START}.*?{results_page.END}",
        rf"{results_page.LEARNED}.*?{results_page.END_OF_LEARNED}",
        r"```.*?```",
        r"`[^`]*`",
        r'"[^"]*"',
    ):
        text = re.sub(pattern, " ", text, flags=re.DOTALL)
    return text


def test_both_pages_in_the_repository_are_what_is_written_now(kept):
    now = pages.pages()
    for path in (README, ROOT / "docs" / "results.md"):
        assert path.read_text(encoding="utf-8") == now[path], "run lab figures"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_sentence_settles_a_comparison_that_the_registry_does_not(path):
    assert SETTLED.findall(prose(path.read_text(encoding="utf-8"))) == []


def test_no_caption_and_no_notebook_settles_a_comparison():
    for path in (*(ROOT / "figures").glob("*.py"), *(ROOT / "notebooks").glob("*.ipynb")):
        assert not SETTLED.search(prose(path.read_text(encoding="utf-8"))), path.name


def test_the_check_of_sentences_finds_one_and_lets_quotations_pass():
    assert SETTLED.search(prose("MaxRL significantly outperforms GRPO."))
    assert not SETTLED.search(prose('The paper says "significantly outperforms".'))


def test_the_readme_types_no_interval_of_its_own():
    text = prose(README.read_text(encoding="utf-8"))
    assert not re.search(r"\d\.\d+ \[-?\d\.\d+, -?\d\.\d+\]", text)


def test_the_readme_has_a_few_short_rows_some_of_them_negative_or_open(kept):
    text = README.read_text(encoding="utf-8")
    table = text.split(results_page.START)[1].split(results_page.END)[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert 5 <= len(rows) <= 8 and max(map(len, rows)) <= 420
    assert sum("| does not hold |" in row for row in rows) >= 2
    for target in re.findall(r"\]\(([^)]+)\)", table):
        assert (ROOT / target).exists()


def test_every_claim_stands_once_on_the_page_with_its_verdict_and_figures_that_exist(kept):
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    claims = [claim for item in items() for claim in item.compare] + own_claims()
    for claim in claims:
        assert f"| {claim.verdict}" in text and f"| {claim.claim} |" in text
    assert len([line for line in text.splitlines() if line.startswith("| ")]) == len(claims) + 4
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (ROOT / "docs" / target).exists(), target


def test_the_readme_says_in_six_sentences_what_was_learned_and_what_could_show_it_wrong(kept):
    text = README.read_text(encoding="utf-8")
    said = (
        text.split(results_page.LEARNED)[1].split(results_page.END_OF_LEARNED)[0].split("\n")[1:-1]
    )
    assert [line.partition(". ")[0] for line in said] == list("123456")
    for line in said:
        sentence, command = re.fullmatch(r"\d\. (.+[.!]) \(`(lab .+)`\)", line).groups()
        assert len(re.findall(r"[.!?](?:\s|\Z)", sentence)) == 1 and "{" not in sentence
        for file in re.findall(r"sweeps/\w+\.toml", command):
            assert "NOT RUN YET" not in (ROOT / file).read_text()


def test_a_sentence_stands_only_with_the_verdict_that_it_was_written_for(kept, monkeypatch):
    text, all_items, own = README.read_text(encoding="utf-8"), items(), own_claims()
    (claim,) = [one for one in own if one.published == "no paper; claim 2 of sweeps/stopping.toml"
                and one.learned]  # fmt: skip
    monkeypatch.setitem(claim.learned, "undecided", "Nobody knows.")
    before = claim.learned.pop("holds")
    with pytest.raises(LabError, match="is 'holds' now, and its field `learned` has no sentence"):
        results_page.readme(text, all_items, own)
    claim.learned["holds"] = before
    assert "Nobody knows." not in results_page.readme(text, all_items, own)
    monkeypatch.setattr(type(claim), "verdict", "undecided")
    for one in [*own, *(claim for item in all_items for claim in item.compare)]:
        if one.learned:
            one.learned["undecided"] = "Nobody knows."
    now = results_page.readme(text, all_items, own)
    assert "Nobody knows." in now and "{" not in now.split(results_page.END_OF_LEARNED)[0]


@pytest.mark.parametrize("mark", ["learned", "results"])
def test_a_readme_without_the_marks_is_refused(mark, kept):
    text = README.read_text(encoding="utf-8").replace(f"<!-- {mark} -->", "")
    with pytest.raises(LabError, match=f"README.md lacks the marks <!-- {mark} --> and"):
        results_page.readme(text, [], [])
