"""The pages of docs/referee: each code block prints what the page says it prints."""

import contextlib
import io
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


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_verdict_on_a_page_is_that_of_the_index(path):
    index = (path.parent / "README.md").read_text(encoding="utf-8")
    if path.name != "README.md":
        (verdict,) = re.findall(r"^\*\*Verdict: (.*?)\*\*", path.read_text(encoding="utf-8"), re.M)
        assert re.search(rf"\]\({path.name}\).*\| {re.escape(verdict)}", index)
