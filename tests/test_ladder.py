"""The list of notebooks that `make lab` opens: complete, its pictures and its links true."""

import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
from browser import KERNEL, browser, jupyterlab, quiet
from PIL import Image

from lab.runs.experiments import NOTEBOOKS, experiment, experiments
from lab.runs.lessons import PICTURES, first_picture

ROOT = Path(__file__).parents[1]
PAGE = NOTEBOOKS / "README.md"


def test_the_list_has_each_notebook_with_its_question_and_its_picture():
    listed = dict(re.findall(r"\*\*\[\d\d\. (.+)\]\((.+)\)\*\*", PAGE.read_text()))
    ours = [one for one in map(experiment, experiments()) if one.notebook.parent == NOTEBOOKS]
    assert listed == {one.title: one.notebook.name for one in ours}
    shown = re.findall(r'src="pictures/([^"]+)"', PAGE.read_text())
    assert sorted(shown) == sorted(path.name for path in PICTURES.iterdir())
    for name in shown:
        lesson = nbformat.read(NOTEBOOKS / name.replace(".png", ".ipynb"), as_version=4)
        again, kept = (
            Image.open(file).convert("RGB")
            for file in (io.BytesIO(first_picture(lesson)), PICTURES / name)
        )
        assert again.size == kept.size and again.tobytes() == kept.tobytes(), (
            f"run lab lessons {name}"
        )


def test_each_link_of_the_list_leads_somewhere():
    targets = re.findall(r"\]\(([^)#]+)\)", PAGE.read_text())
    assert len(targets) > 18
    for target in targets:
        assert target.startswith("https://") or (NOTEBOOKS / target).exists(), target


def test_make_lab_opens_the_page_in_jupyterlab_and_a_link_opens_the_notebook(tmp_path):
    said = subprocess.run(
        ["make", "-n", "lab"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    (address,) = re.findall(r"--LabApp\.default_url=(\S+)", said)
    (config,) = re.findall(r"JUPYTER_CONFIG_PATH=(\S+)", said)
    assert "--ip=127.0.0.1" in said and "--ServerApp.root_dir=. " in said
    assert json.loads((ROOT / config / "labconfig" / "default_setting_overrides.json").read_text())
    with (
        jupyterlab(tmp_path, JUPYTER_CONFIG_PATH=str(ROOT / config)) as (server, books),
        browser() as chromium,
        quiet(chromium, server) as tab,
    ):
        shutil.copytree(NOTEBOOKS, books / "notebooks")  # JupyterLab saves what it opens
        tab.goto(f"{server.rstrip('/')}{address}")
        page = tab.locator(".jp-RenderedMarkdown")
        page.get_by_role("heading", name="Start here").wait_for(timeout=60_000)
        pictures = page.locator("img")
        assert pictures.count() == len(list(PICTURES.iterdir()))
        for place in range(pictures.count()):  # each is there, not only asked for
            tab.wait_for_function(
                "image => image.naturalWidth > 0", arg=pictures.nth(place).element_handle()
            )
        page.get_by_role("link", name=re.compile("^90. ")).click()
        tab.locator(".jp-Notebook").wait_for(timeout=60_000)
        assert tab.locator(".lm-TabBar-tabLabel", has_text="90_report.ipynb").count()
        # A server that is told to end while it starts a kernel does not end.
        tab.wait_for_function(f"{KERNEL}?.status === 'idle'", timeout=60_000)
