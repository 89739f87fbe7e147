"""The floors of the house: every file of lab/ imports only from its own floor and from below."""

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = {
    0: (
        "lab lab.errors lab.objectives lab.groups lab.estimators lab.catalogue lab.weights"
        " lab.design lab.formula lab.enumeration lab.metrics lab.stats lab.pass_rates"
        " lab.shapes lab.sequences lab.subsets lab.records"
        " lab.rng lab.budget lab.termination"
    ),
    1: "lab.losses lab.checkpoint lab.device lab.gpu_counter lab.torchvision_ops",
    2: "lab.toy.* lab.llm.*",
    3: "lab.runs.* lab.papers.* lab.show.* lab.explorer.*",
    4: "lab.cli lab.__main__",
}
FLOOR = {name: floor for floor, names in FLOORS.items() for name in names.split()}
STRANGERS = {"lab.toy": "lab.llm", "lab.llm": "lab.toy"}
WHEN_LOADED = {
    0: {"numpy"},
    1: {"numpy", "torch"},
}  # beyond the standard library; floors 2 and up choose
IN_FUNCTIONS = {0: {"numpy", "torch", "scipy"}, 1: {"numpy", "torch"}}
ONLY_IN_FUNCTIONS = {"vllm", "trl", "verl", "datasets", "wandb"}
FIGURES = {"matplotlib", "seaborn", "plotly"}  # a trainer knows no figure


def floor_of(module: str) -> int | None:
    package = ".".join(module.split(".")[:2])
    return FLOOR.get(module, FLOOR.get(f"{package}.*"))


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    deepest = 3 if name.startswith("lab.llm.") else 2  # only lab.llm holds packages
    named = floor_of(name) is not None and name.count(".") <= deepest
    return named or path.with_suffix(".py").exists() or path.is_dir()


def imports(module: str, source: str, is_package: bool = False):
    """Every imported module with its line and where it stands: "loaded", "function" or "types"."""
    found = []

    def names(node):
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                here = module.split(".")
                parents = here[: len(here) - node.level + is_package]
                base = ".".join([*parents, base]).rstrip(".")
            inner = [f"{base}.{alias.name}" for alias in node.names]
            known = [name for name in inner if name.startswith("lab.") and is_module(name)]
            return known + ([base] if len(known) < len(inner) else [])
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            return [str(node.args[0].value)] if called in ("import_module", "__import__") else []
        return []

    def walk(node, place):
        found.extend((name, node.lineno, place) for name in names(node))
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                walk(child, "types")
            for child in node.orelse:
                walk(child, place)
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            place = "function"
        for child in ast.iter_child_nodes(node):
            walk(child, place)

    walk(ast.parse(source), "loaded")
    return found


def violations(module: str, source: str, is_package: bool = False) -> list[str]:
    floor = floor_of(module)
    if floor is None:
        return [f"{module}: give it a floor in tests/test_layers.py"]
    package, wrong = ".".join(module.split(".")[:2]), []
    loaded, called = WHEN_LOADED.get(floor), IN_FUNCTIONS.get(floor)  # None: any library
    for name, line, place in imports(module, source, is_package):
        top, where = name.split(".")[0], f"{module}:{line} imports {name}"
        if top == "lab":
            other = floor_of(name)
            if other is None:
                wrong.append(f"{where}, which has no floor: give it a floor")
            elif other > floor:
                wrong.append(f"{where}: floor {floor} may not import from floor {other}")
            elif name.startswith(STRANGERS.get(package, "nothing")):
                wrong.append(f"{where}: {package} and {STRANGERS[package]} are strangers")
        elif top in sys.stdlib_module_names:
            continue
        elif top in FIGURES and floor < 3:
            wrong.append(f"{where}: floor {floor} knows no figure")
        elif place == "loaded" and top in ONLY_IN_FUNCTIONS:
            wrong.append(f"{where}: import it inside the function that needs it")
        elif module == "lab.shapes" and top == "jaxtyping":
            continue  # types for mypy, checks for the tests, nothing for users
        elif place == "types" and floor == 0 and top not in {"numpy", "torch"}:
            wrong.append(f"{where}: floor 0 may name only numpy and torch in types")
        elif place == "loaded" and loaded and top not in loaded:
            wrong.append(
                f"{where}: on loading floor {floor} may import only {', '.join(sorted(loaded))}"
            )
        elif place == "function" and called and top not in called:
            wrong.append(f"{where}: floor {floor} may import only {', '.join(sorted(called))}")
    return wrong


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted((ROOT / "lab").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


# --- The house as it stands ---------------------------------------------------------------------


@pytest.mark.parametrize("module", list(modules()))
def test_a_file_imports_only_from_its_floor_and_below(module):
    path = modules()[module]
    assert violations(module, path.read_text(encoding="utf-8"), path.name == "__init__.py") == []


def circle(module: str) -> list[str]:
    """The way of imports from a module back to itself, those inside functions too; empty: none."""
    paths = modules()
    waiting, seen = [[module]], set()
    while waiting:
        way = waiting.pop()
        path = paths[way[-1]]
        source = path.read_text(encoding="utf-8")
        for name, _, place in imports(way[-1], source, path.name == "__init__.py"):
            # the package itself imports the mathematics, which is no circle among its files
            if place == "types" or name == "lab" or name not in paths:
                continue
            if name == module:
                return [*way, name]
            if name not in seen:
                seen.add(name)
                waiting.append([*way, name])
    return []


@pytest.mark.parametrize("module", sorted(set(FLOORS[0].split()) - {"lab"}))
def test_the_mathematics_has_no_circle_of_imports(module):
    assert circle(module) == []


def test_the_ground_floor_is_there():
    missing = {name for name in FLOORS[0].split() if importlib.util.find_spec(name) is None}
    assert not missing and "lab.estimators" in modules()


@pytest.mark.parametrize("module", list(modules()))
def test_the_floor_that_a_file_names_in_its_docstring_is_the_one_it_has(module):
    text = ast.get_docstring(ast.parse(modules()[module].read_text(encoding="utf-8"))) or ""
    named = re.findall(r"\bFloor (\d)", text)
    assert set(named) <= {str(floor_of(module))}


# --- The checker itself -------------------------------------------------------------------------

TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"


@pytest.mark.parametrize(
    "module, source, message",
    [
        (
            "lab.estimators",
            "from lab.toy.images import train",
            "floor 0 may not import from floor 2",
        ),
        (
            "lab.estimators",
            "from lab import losses",
            "imports lab.losses: floor 0 may not import from floor 1",
        ),
        (
            "lab.estimators",
            "def f():\n    import lab.runs.run_folder",
            "lab.estimators:2 imports lab.runs.run_folder",
        ),
        ("lab.estimators", "from . import losses", "imports lab.losses"),
        ("lab.estimators", "from .toy.images import train", "imports lab.toy.images"),
        (
            "lab.estimators",
            "import importlib\nimportlib.import_module('lab.toy.maze')",
            "imports lab.toy.maze",
        ),
        ("lab.weights", "import torch", "on loading floor 0 may import only numpy"),
        (
            "lab.weights",
            "try:\n    import torch\nexcept ImportError:\n    torch = None",
            "on loading floor 0",
        ),
        ("lab.weights", "class A:\n    import torch", "on loading floor 0"),
        ("lab.weights", "from scipy.special import hyp2f1", "on loading floor 0"),
        (
            "lab.weights",
            TYPES + "    pass\nelse:\n    import torch",
            "on loading floor 0 may import only numpy",
        ),
        (
            "lab.weights",
            TYPES + "    import scipy",
            "floor 0 may name only numpy and torch in types",
        ),
        ("lab.stats", "def f():\n    import pandas", "floor 0 may import only numpy, scipy, torch"),
        ("lab.losses", "import pandas", "floor 1 may import only numpy, torch"),
        ("lab.losses", "from lab.show.plots import style", "floor 1 may not import from floor 3"),
        (
            "lab.toy.maze",
            "from lab.llm.verify.verifier import verdict",
            "lab.toy and lab.llm are strangers",
        ),
        (
            "lab.llm.train.trl_trainer",
            "def f():\n    from lab.toy import training_loop",
            "lab.llm and lab.toy are strangers",
        ),
        ("lab.toy.maze", "import matplotlib.pyplot as plt", "floor 2 knows no figure"),
        (
            "lab.toy.maze",
            "def f():\n    from lab.runs.run_folder import Run",
            "floor 2 may not import from floor 3",
        ),
        (
            "lab.llm.engines.base",
            "from vllm import LLM",
            "import it inside the function that needs it",
        ),
        ("lab.runs.run_folder", "from lab.cli import main", "floor 3 may not import from floor 4"),
        ("lab.show.plots", "from lab.attic import old", "imports lab.attic, which has no floor"),
        ("lab.attic", "import math", "lab.attic: give it a floor"),
    ],
)
def test_a_false_import_is_caught(module, source, message):
    wrong = violations(module, source)
    assert len(wrong) == 1 and message in wrong[0]


@pytest.mark.parametrize(
    "module, source",
    [
        (
            "lab.estimators",
            "import math\nfrom numpy.typing import NDArray\nfrom lab.errors import LabError",
        ),
        ("lab.estimators", TYPES + "    import torch"),
        ("lab.estimators", "def f():\n    import torch\n    from scipy import stats"),
        ("lab.estimators", "from .errors import LabError\nfrom . import weights"),
        (
            "lab.losses",
            "import torch\nfrom lab.weights import induced_weight\nfrom lab import advantages",
        ),
        (
            "lab.toy.maze",
            "import torch, numba\nfrom lab.losses import pacs\nfrom lab.toy import training_loop",
        ),
        ("lab.toy.maze", "from . import images\nfrom .training_loop import Signal"),
        ("lab.llm.engines.base", "def f():\n    from vllm import LLM"),
        ("lab.runs.training", "from lab.toy import images\nfrom lab.llm import trl\nimport pandas"),
        ("lab.show.plots", "import matplotlib\nfrom lab.runs.run_folder import Run"),
        ("lab.cli", "from lab.show.plots import draw_figures"),
    ],
)
def test_a_true_import_is_let_through(module, source):
    assert violations(module, source) == []


def test_relative_imports_of_a_package_are_those_of_its_own_files():
    package = imports("lab.toy", "from . import images\nfrom .. import losses", is_package=True)
    assert [name for name, *_ in package] == ["lab.toy.images", "lab.losses"]
    module = imports(
        "lab.toy.maze", "from ..toy import images\nfrom ..weights import x\nfrom .maps import y"
    )
    assert [name for name, *_ in module] == ["lab.toy.images", "lab.weights", "lab.toy.maps"]


# --- What importing the lab costs ---------------------------------------------------------------

FRESH = """
import sys
import lab
print(*sorted(m for m in sys.modules if "." not in m))
"""


def test_importing_the_lab_loads_numpy_and_nothing_heavier():
    answer = subprocess.run(
        [sys.executable, "-c", FRESH],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    loaded = set(answer.stdout.split())
    assert {"lab", "numpy"} <= loaded
    # How long the import takes is in benchmarks/import_time.py: a busy machine makes any bound here
    # wrong.
    assert not loaded & {
        "torch",
        "scipy",
        "pandas",
        "pyarrow",
        "matplotlib",
        "sklearn",
        "transformers",
        "papermill",
    }


PICTURES = """
import sys
import lab.show.plots
print(*sys.modules)
"""


def test_importing_the_plots_loads_no_trainer():
    answer = subprocess.run(
        [sys.executable, "-c", PICTURES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    loaded = set(answer.stdout.split())
    assert {"lab.show.plots", "lab.runs.sweep_results"} <= loaded
    assert not loaded & {
        "lab.runs.training",
        "lab.runs.sweep",
        "lab.runs.notebooks",
        "papermill",
        "torch",
    }


def test_what_is_shown_knows_no_paper():
    """lab.papers stands on lab.show, so lab.show may not import it."""
    for module, path in modules().items():
        if module.startswith("lab.show"):
            names = [name for name, *_ in imports(module, path.read_text(encoding="utf-8"))]
            assert not [name for name in names if name.startswith("lab.papers")]


def test_no_name_of_the_package_hides_one_of_its_modules():
    import lab

    for name in modules():
        if name.count(".") == 1 and name != "lab.__main__":
            assert inspect.ismodule(getattr(lab, name.removeprefix("lab."), lab)), name
