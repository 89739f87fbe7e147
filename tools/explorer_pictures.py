"""Draw the explorer's pictures: `make pictures`.

`docs/explorer.png` is the workbench for the README. `docs/explorer/NAME.png` is a scene of the
story, in the size that other pages show of a link, and `docs/explorer/scenes.json` has the titles:
the site makes a page of each scene's own from them (tools/site/scenes.py), and
`docs/explorer/README.md` shows all of them. It needs Chromium.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browser import FRONT, browser, served

from lab.explorer import page

ROOT = Path(__file__).resolve().parents[1]
WORKBENCH = ROOT / "docs" / "explorer.png"
SCENES = ROOT / "docs" / "explorer"
# Where the slider of a scene stands in its picture; elsewhere where the scene starts.
VALUES = {"start": "count=1", "unseen": "N=16", "dead-groups": "N=16", "ending": "round=200"}
# 1200 x 630 pixels, which is what previews of links are cut to, of a frame that scenes fit into.
FRAME: dict[str, Any] = {
    "viewport": {"width": 800, "height": 420},
    "device_scale_factor": 1.5,
    "color_scheme": "light",
    "reduced_motion": "reduce",  # a run that plays is shown at its end
}
HEAD = """# The explorer in pictures

`lab explore` opens the explorer as one page that needs no network. It tells this story, and every
picture moves under a slider.
"""
AFTER = "\n## After the story"  # from here on the page is written by hand
HIDDEN = "footer, .row, .picture button"  # what one presses; the picture takes its room
TOLD = """async () => {
  const { SCENES } = await import('/story.js');
  return SCENES.map(({ name, title, lead }) => ({ name, title, lead }));
}"""


def scenes(running: Any) -> list[dict[str, str]]:
    """The scenes in their order: `name`, `title` and `lead`, as the page has them."""
    with served(FRONT) as address:
        tab = running.new_page()
        tab.goto(address)
        found = tab.evaluate(TOLD)
        tab.close()
    return found


def main() -> None:
    """Write all pictures and the titles."""
    SCENES.mkdir(exist_ok=True)
    with browser() as running, TemporaryDirectory() as folder:
        file = Path(folder) / "explorer.html"
        found = scenes(running)
        (SCENES / "scenes.json").write_text(
            json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        shown = [
            f"\n## {one['title']}\n\n{one['lead']}\n\n![]({one['name']}.png)\n" for one in found
        ]
        told = (SCENES / "README.md").read_text(encoding="utf-8")
        by_hand = told[told.index(AFTER) :]
        (SCENES / "README.md").write_text(HEAD + "".join(shown) + by_hand, encoding="utf-8")
        address = page.write(file)
        tab = running.new_page(**FRAME)
        for name in (scene["name"] for scene in found):
            tab.goto("about:blank")
            value = f"&{VALUES[name]}" if name in VALUES else ""
            tab.goto(f"{address}?embed#{name}{value}")
            tab.wait_for_selector(".lab-story[data-drawn]")
            tab.add_style_tag(content=f".lab-story :is({HIDDEN}) {{ display: none }}")
            tab.wait_for_timeout(500)
            tab.screenshot(path=SCENES / f"{name}.png")
        tab.close()
        tab = running.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
        tab.goto(page.write(file, {"N": 32, "objectives": ["power(a=0.75, b=0.25)"]}))
        tab.wait_for_selector(".lab-explorer[data-revision]")
        tab.wait_for_timeout(500)
        tab.screenshot(path=WORKBENCH, full_page=True)
    for path in (WORKBENCH, *sorted(SCENES.glob("*.png"))):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
