"""The list of notebooks that `make lab` opens: up to date, in reading order, its links true."""

import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from browser import KERNEL, browser, jupyterlab, quiet
from PIL import Image

from lab.cli import main
from lab.runs import ladder
from lab.runs.experiments import NOTEBOOKS

ROOT = Path(__file__).parents[1]
AGAIN = "run lab lessons --index"


@pytest.fixture(scope="module")
def entries():
    return ladder.ladder()


def test_the_page_is_that_of_the_notebooks_as_they_are(entries):
    assert ladder.PAGE.read_text() == ladder.page(entries), AGAIN
    pictures = {f"{one.notebook.stem}.png": one.picture for one in entries if one.picture}
    assert {path.name for path in ladder.PICTURES.iterdir()} == pictures.keys(), AGAIN
    for name, made in pictures.items():
        ours, theirs = (
            Image.open(file).convert("RGB") for file in (ladder.PICTURES / name, io.BytesIO(made))
        )
        assert ours.size == theirs.size and ours.tobytes() == theirs.tobytes(), AGAIN


def test_each_link_and_picture_of_the_page_exists():
    text = ladder.PAGE.read_text()
    targets = re.findall(r"\]\(([^)#]+)\)", text) + re.findall(r'src="([^"]+)"', text)
    assert len(targets) > 18
    for target in targets:
        assert target.startswith("https://") or (ladder.PAGE.parent / target).exists(), target


def test_the_command_writes_the_page_and_removes_pictures_of_no_notebook(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(ladder, "PAGE", tmp_path / "README.md")
    monkeypatch.setattr(ladder, "PICTURES", tmp_path / "pictures")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "99_gone.png").write_bytes(b"")
    assert main(["lessons", "--index"]) == 0
    written = capsys.readouterr().out.split()
    assert (tmp_path / "README.md").read_text() == ladder.PAGE.read_text()
    names = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert "00_weights.png" in names and "99_gone.png" not in names
    assert len(written) == len(names) + 1
    assert main(["lessons", "weights", "--index"]) == 1


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
        assert pictures.count() == len(list(ladder.PICTURES.iterdir()))
        for place in range(pictures.count()):  # each is there, not only asked for
            tab.wait_for_function(
                "image => image.naturalWidth > 0", arg=pictures.nth(place).element_handle()
            )
        page.get_by_role("link", name=re.compile("^90. ")).click()
        tab.locator(".jp-Notebook").wait_for(timeout=60_000)
        assert tab.locator(".lm-TabBar-tabLabel", has_text="90_report.ipynb").count()
        # A server that is told to end while it starts a kernel does not end.
        tab.wait_for_function(f"{KERNEL}?.status === 'idle'", timeout=60_000)
