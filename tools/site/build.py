"""`make site`: the explorer, the lessons, the results and the reference as one static folder.

It is written into build/site and opens from disk or from any host of files. With
`make site ADDRESS=https://example.org/lab` links to a scene of the explorer have a picture; with
`REPOSITORY=owner/name` lessons have a link to Colab. Sphinx and MyST read the repository's own
pages; written here are only the front page, the sections and the reference.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import api
import cards
import colab
import course
import narrow
import scenes

from lab.explorer import page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SITE = ROOT / "build" / "site"
SOURCE = ROOT / "build" / "site-source"  # links to the repository's pages, and the pages made here
PAGES = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    *("docs", "notebooks", "figures", "data/published", "data/judge"),
)
LINKED = (
    "LICENSE",
    "CITATION.cff",
    "sweeps",
    "data/results",
    "data/forecast",
    "lab",
    "environment.yml",
)
LESSONS = """# Lessons

Each notebook asks one question and answers it by something you can turn. Open them with `make lab`;
on these pages they stand as they are committed.

"""
BEGIN = "The story of `lab explore`"  # what the list of lessons begins with, after its own head


def gather(repository: tuple[str, str] | None) -> None:
    """Put what Sphinx reads into one folder; `repository` is an owner and a name on GitHub.

    Pages are copied, because MyST follows links to where they lead; what they only refer to is not.
    """
    shutil.rmtree(SOURCE, ignore_errors=True)
    for name in PAGES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        (SOURCE / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, SOURCE / name)
    for name in LINKED:
        (SOURCE / name).symlink_to(ROOT / name)
    for path in (HERE / "conf.py", HERE / "_static", *(HERE / "pages").iterdir()):
        (SOURCE / path.name).symlink_to(path)
    pictures = SOURCE / "docs" / "explorer" / "README.md"
    link = '<a href="../../explorer.html">The explorer</a> is here; `lab explore` opens it'
    pictures.write_text(pictures.read_text().replace("`lab explore` opens the explorer", link))
    results = SOURCE / "docs" / "results.md"
    results.write_text(cards.cards(results.read_text()))
    (SOURCE / "figures.md").write_text(figures())
    (SOURCE / "lessons.md").write_text(lessons())
    if repository:
        colab.add(SOURCE / "notebooks", *repository)
    api.write(ROOT / "lab", SOURCE / "api")


def figures() -> str:
    """The gallery: every figure with its caption and its data, first those of the README."""
    first = re.findall(r"figures/out/(\w+)\.png", (ROOT / "README.md").read_text())
    every = sorted(path.stem for path in (ROOT / "figures" / "out").glob("*.json"))
    parts = ["# All figures\n"]
    for name in dict.fromkeys([*first, *every]):
        caption = json.loads((ROOT / f"figures/out/{name}.json").read_text())["caption"]
        links = ", ".join(f"[{kind}](figures/out/{name}.{kind})" for kind in ("csv", "pdf"))
        parts.append(f"## {name}\n\n![{name}](figures/out/{name}.png)\n\n{caption} ({links})\n")
    return "\n".join(parts)


def lessons() -> str:
    """The page of the lessons: the list in notebooks/README.md, and its order for the sidebar."""
    text = (ROOT / "notebooks" / "README.md").read_text()
    listed = re.sub(r'\]\((?!https?:)|src="', r"\g<0>notebooks/", text[text.index(BEGIN) :])
    order = re.findall(r"\*\*\[.+\]\((.+)\.ipynb\)\*\*", listed)
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *order, "```"])
    return f"{LESSONS}{listed}\n{toctree}\n"


def main() -> int:
    """Build the site anew; the exit status is 1 if a link or a page is broken."""
    gather(colab.checked(os.environ.get("REPOSITORY", "")))
    course.add(SOURCE)
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(SOURCE), str(SITE)]
    status = subprocess.run(command).returncode
    narrow.add(SITE)
    page.write(SITE / "explorer.html", scenes="scenes/")
    address = os.environ.get("ADDRESS", "").rstrip("/")
    scenes.write(ROOT / "docs" / "explorer", SITE / "scenes", address and f"{address}/scenes/")
    shutil.copytree(
        ROOT / "figures" / "out",
        SITE / "figures" / "out",
        ignore=shutil.ignore_patterns("provenance", "neurips", "*.json"),
        dirs_exist_ok=True,  # the tables in it are pages
    )
    print(f"{SITE / 'index.html'}: {sum(1 for _ in SITE.rglob('*.html'))} pages")
    return 1 if status else 0


if __name__ == "__main__":
    raise SystemExit(main())
