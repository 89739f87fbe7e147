"""Who pushed whom: the recorded trainings are the lab's, the page's numbers are the record's."""

import sys

import numpy as np
import pytest
import torch
from browser import PHONE, quiet
from safetensors.torch import load_file

from lab.explorer.page import PUSHES, html
from lab.project import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "tools"))
import maze_pushes

RECORD = load_file(PUSHES)


def test_the_record_is_what_the_labs_trainer_does(cpu):
    start = load_file(PUSHES.with_name("start.safetensors"))
    ours = maze_pushes.pushes("grpo", start, 2)
    ours["without"] = maze_pushes.without("grpo", start, 3, 2)
    theirs = {key: RECORD[f"grpo/{key}"][:2] for key in ("push", "decay", "missed")}
    theirs |= {"log_p": RECORD["grpo/log_p"][:3], "without": RECORD["grpo/without"][3, :3]}
    torch.testing.assert_close(ours, theirs, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("name", sorted({key.split("/")[0] for key in RECORD}))
def test_the_parts_of_mazes_are_the_step_and_their_pushes_the_change(name):
    assert RECORD[f"{name}/missed"].max() < 0.01
    change = RECORD[f"{name}/log_p"].diff(dim=0)
    summed = RECORD[f"{name}/push"].sum(2) + RECORD[f"{name}/decay"]
    assert (change - summed).abs().mean() < 0.05 * change.abs().mean()


def test_the_page_reads_and_sums_the_record(front):
    script = """const data = new m.Pushes(Uint8Array.from(a[0]).buffer);
    return [data.account('grpo', 7, 2, 5), data.curve('grpo', 3, 9)];"""
    account, curve = front("pushed", script, list(PUSHES.read_bytes()))
    np.testing.assert_allclose(account["by"], RECORD["grpo/push"][2:5, 7].sum(0), atol=1e-5)
    log_p = RECORD["grpo/log_p"][:, 7]
    assert account["change"] == pytest.approx(float(log_p[5] - log_p[2]))
    parts = sum(account["by"]) + account["decay"] + account["missed"]
    assert parts == pytest.approx(account["change"])
    np.testing.assert_array_equal(curve, RECORD["grpo/without"][9, :, 3])


def test_a_reader_asks_who_moved_a_maze_and_takes_one_away(chromium, address):
    assert len(html().encode()) < 1e6  # without what lies beside it
    with quiet(chromium, address.rsplit("/", 1)[0], **PHONE) as tab:
        tab.goto(address + "#ending")
        tab.get_by_role("link", name="Who pushed me?").click()
        tab.locator(".mazes button").nth(4).click()
        tab.get_by_text("Maze 5, in 32 steps: solved in").wait_for()
        tab.get_by_label("Steps taken", exact=True).press("ArrowLeft")
        tab.get_by_text("Maze 5, in 31 steps: solved in").wait_for()
        tab.get_by_role("button", name="take away maze 2 and replay").press("Enter")
        tab.get_by_text("Without maze 2, maze 5 is solved in").wait_for()
        assert tab.locator(".chart:visible .lines path").count() == 2
        assert tab.locator(".arrows path").count() > 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
