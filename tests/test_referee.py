"""The pages of docs/referee: each code block prints what the page says it prints."""

import base64
import contextlib
import io
import json
import os
import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs" / "referee").glob("*.md"))
BLOCK = re.compile(r"```python\n(.*?)```\n+```text\n(.*?)```", re.DOTALL)
PUBLIC = re.compile(r"https://raw\.githubusercontent\.com/([\w.-]+)/([\w.-]+)/[0-9a-f]{40}")
FILES = os.environ.get("LAB_REFEREE", "")  # "online", or a folder of OWNER+NAME/PATH


def printed(code: str) -> str:
    """What a block prints, its public files read from where LAB_REFEREE says."""
    if FILES != "online":
        code = PUBLIC.sub(
            lambda found: (Path(FILES).resolve() / "+".join(found.groups())).as_uri(), code
        )
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, {"__name__": "page"})
    return out.getvalue()


BLOCKS = [
    pytest.param(code, text, id=f"{path.stem}-{number}")
    for path in PAGES
    for number, (code, text) in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")), 1)
]


@pytest.mark.parametrize(("code", "text"), BLOCKS)
def test_a_code_block_prints_what_its_page_says(code, text):
    if PUBLIC.search(code) and not FILES:
        pytest.skip("reads public files: LAB_REFEREE=online fetches them")
    assert printed(code) == text


def test_the_page_of_a_real_training_says_what_its_lines_print_and_shows_the_lesson_s_picture():
    root = PAGES[0].parents[2]
    blocks = BLOCK.findall((root / "docs" / "real_training.md").read_text(encoding="utf-8"))
    assert printed("".join(code for code, _ in blocks)) == "".join(text for _, text in blocks)
    lesson = json.loads((root / "notebooks" / "42_real_training.ipynb").read_text(encoding="utf-8"))
    shown = [out for cell in lesson["cells"] for out in cell.get("outputs", ()) if "data" in out]
    pictures = [base64.b64decode(out["data"].get("image/png", "")) for out in shown]
    assert (root / "docs" / "real_training.png").read_bytes() in pictures


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_verdict_on_a_page_is_that_of_the_index(path):
    index = (path.parent / "README.md").read_text(encoding="utf-8")
    if path.name != "README.md":
        (verdict,) = re.findall(r"^\*\*Verdict: (.*?)\*\*", path.read_text(encoding="utf-8"), re.M)
        assert re.search(rf"\]\({path.name}\).*\| {re.escape(verdict)}", index)
