"""The README's Python runs as it stands, and its numbers are those that it gives."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lab

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=[block.splitlines()[0] for block in BLOCKS])
def test_each_block_runs_in_a_fresh_process(block):
    done = subprocess.run([sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_numbers_in_its_comments_are_right():
    advantages, efficiency = (
        next(line for block in BLOCKS for line in block.splitlines() if line.startswith(start))
        for start in ("lab.advantages", "lab.efficiency")
    )
    values = {"lab": lab, "np": np}
    code, said = advantages.split("  # ")
    assert eval(code, values).tolist() == [float(each) for each in said.split(";")[0].split(",")]
    code, said = efficiency.split("  # ")
    assert round(float(eval(code, values)), 3) == float(said.split(":")[0])


def test_the_finding_of_the_first_screen_is_among_those_that_were_recorded():
    page = (ROOT / "README.md").read_text()
    finding = re.search(r"\*\*One finding\.\*\*.*?\n\n", page, re.DOTALL)[0]
    recorded = re.search("<!-- learned -->.*<!-- end of learned -->", page, re.DOTALL)[0]
    numbers = re.findall(r"\d\.\d+ \[[^]]*\]", finding)
    assert numbers and all(number in recorded for number in numbers)
