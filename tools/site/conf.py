"""What Sphinx reads to build the site; `make site` runs tools/site/build.py, which runs Sphinx.

The pages ask for nothing outside their folder: formulas are MathML, which browsers draw themselves.
"""

from functools import cache
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

project = "The lab"
author = "The lab's maintainers"
copyright = "the lab's maintainers, Apache-2.0"
extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton"]
root_doc = "index"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/explorer/*.md",
    "docs/letters/*.md",
    "docs/referee/*.md",
    "notebooks/*.ipynb",
    "api/*.md",
    "figures/out/*.md",
    "data/published/*.md",
    "data/judge/*.md",
]
suppress_warnings = ["toc.not_included"]  # tables that pages link to

myst_enable_extensions = ["colon_fence", "dollarmath", "html_image"]
myst_dmath_double_inline = True  # a formula in $$ may follow a line of text
myst_heading_anchors = 4
nb_execution_mode = "off"  # lessons are committed with their outputs
nb_ipywidgets_js = {}
nb_merge_streams = True

html_theme = "pydata_sphinx_theme"
html_title = "The lab"
html_sidebars = {"notebooks/*": []}  # a lesson is read in its own order
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["focus.js", "course.js", "flow.js"]
html_scaled_image_link = False  # such a link would have no name
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # without it each page logs an error
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def setup(app: Sphinx) -> None:
    """Add the renderer of formulas."""
    SearchEnglish.stem = cache(SearchEnglish.stem)  # else again for each page: a tenth of the time

    def inline(self: nodes.NodeVisitor, node: nodes.math) -> None:
        self.body.append(convert(node.astext()))
        raise nodes.SkipNode

    def block(self: nodes.NodeVisitor, node: nodes.math_block) -> None:
        self.body.append(convert(node.astext(), display="block"))
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (block, None))
