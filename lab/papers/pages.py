"""Everything that is written from the registry: pages, tables, and the README's results."""

from __future__ import annotations

import os
from pathlib import Path

from lab.papers import gallery, issues, results_page, tables
from lab.papers.registry import items, own_claims
from lab.runs.provenance import ROOT
from lab.runs.run_folder import write_atomically
from lab.show import plots


def pages() -> dict[Path, str]:
    """The text of every page and table by its file.

    The pages are in docs/ and the project's folder; with the variable LAB_FIGURES all are in the
    folder that it names.
    """
    elsewhere = os.environ.get("LAB_FIGURES")
    docs = Path(elsewhere or ROOT / "docs")
    out, all_items, own = plots.out_folder(), items(), own_claims()
    found: dict[Path, str] = {}
    for item in all_items:
        if tables.has_table(item):
            found[out / f"table_{item.key}.md"] = tables.markdown(item)
            found[out / f"table_{item.key}.tex"] = tables.latex(item)
    found[out / "index.html"] = gallery.page(all_items)
    found[docs / "papers.md"] = gallery.markdown(all_items)
    found[docs / "paper_issues.md"] = issues.page()
    found[docs / "results.md"] = results_page.page(all_items, own)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found[Path(elsewhere or ROOT) / "README.md"] = results_page.readme(readme, all_items, own)
    return found


def write() -> list[Path]:
    """Write the pages that have changed; returns the files of all."""
    found = pages()
    for path, text in found.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_atomically(path, text)
    return list(found)
