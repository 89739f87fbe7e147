"""In the repository a new estimator is one function, and at most one line of look."""

import shutil
import subprocess

import pytest

from lab.project import CHECKOUT as ROOT

FUNCTION = '''

@register(label="added", citation="a test", limit=2 * RL, least=2)
def added(N: int) -> Sequences:
    """Twice the advantages of RLOO."""
    gap, offset = rloo(N)
    return 2 * gap, 2 * offset
'''
LOOK = '    "added": (GREEN, (0, (9, 2)), "p"),\n'
# Fast tests that list estimators, looks or files: none of the browser, none that trains.
TESTS = ("catalogue", "explain", "explorer_catalogue", "layers", "looks")
CHOSEN = (
    "added or test_layers or test_every_look or test_one_colour or test_two_looks"
    " or entry_of_the_catalogue or options_that_were_asked_for or not_finite"
)


@pytest.fixture
def clone(tmp_path):
    """A copy of the tracked files, in a repository of its own."""
    tracked = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in filter(None, tracked):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    subprocess.check_call(["git", "init", "--quiet"], cwd=tmp_path)
    subprocess.check_call(["git", "add", "--all", "--force"], cwd=tmp_path)
    return tmp_path


def test_a_function_in_the_catalogue_breaks_no_test(clone, start):
    with (clone / "lab/mathematics/catalogue.py").open("a") as file:
        file.write(FUNCTION)
    styles = clone / "lab/show/line_styles.py"
    text = styles.read_text()
    styles.write_text(text.replace('    "from_weight":', LOOK + '    "from_weight":'))
    assert LOOK in styles.read_text()
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = start(
        *words, *(f"tests/test_{name}.py" for name in TESTS), "-k", CHOSEN, cwd=clone
    ).finish(300)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
