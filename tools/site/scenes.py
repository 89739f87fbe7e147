"""A page for each scene of the explorer: what other sites show of a link to it.

A link to the explorer's own page shows no scene, because what follows the # stays in the browser.
"""

from __future__ import annotations

import json
import shutil
from html import escape
from pathlib import Path

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta name="description" content="{lead}">
<meta property="og:type" content="website">
<meta property="og:title" content="{title}">
<meta property="og:description" content="{lead}">
<meta property="og:image" content="{address}{name}.png">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta property="og:image:alt" content="{title}">
<meta name="twitter:card" content="summary_large_image">
<script>
location.replace("../explorer.html#{name}" + location.hash.replace("#", "&"));
</script>
</head>
<body>
<p><a href="../explorer.html#{name}">{title}</a></p>
<p>{lead}</p>
</body>
</html>
"""


def write(pictures: Path, folder: Path, address: str = "") -> None:
    """Write a page and copy a picture for each scene in `pictures` (docs/explorer).

    `address` is where the folder will be on the web, such as https://example.org/lab/scenes/. Most
    sites show a picture only by its whole address.
    """
    folder.mkdir()
    for scene in json.loads((pictures / "scenes.json").read_text(encoding="utf-8")):
        words = {key: escape(value) for key, value in scene.items()}
        page = PAGE.format(**words, address=escape(address))
        (folder / f"{scene['name']}.html").write_text(page, encoding="utf-8")
        shutil.copyfile(pictures / f"{scene['name']}.png", folder / f"{scene['name']}.png")
