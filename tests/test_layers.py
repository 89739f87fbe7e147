"""Imports run one way: from the mathematics up to the command line, and between the rooms."""

import ast
import inspect
import os
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# From the bottom to the top: a file imports from its own layer and from those below.
LAYERS = {
    "ground": "lab.errors lab.extras lab.plugins lab.project lab.shapes",
    "mathematics": "lab lab.mathematics.*",
    "configurations": "lab.configurations.*",
    "torch": "lab.losses lab.training.*",
    "worlds": "lab.judge.* lab.toy.* lab.llm.*",
    "runs": "lab.rollouts.* lab.runs.* lab.show.* lab.papers.* lab.explorer.*",
    "door": "lab.cli lab.__main__",
}
ORDER = list(LAYERS)
LAYER = {name: layer for layer, names in LAYERS.items() for name in names.split()}

# What the rooms of one layer may import from each other.
NEIGHBOURS = {
    "lab.mathematics": (),
    "lab.configurations": (),
    "lab.training": (),
    "lab.judge": (),
    "lab.toy": (),
    "lab.llm.data": ("lab.judge",),
    "lab.llm.engines": ("lab.llm.data",),
    "lab.llm.train": ("lab.judge", "lab.llm.data", "lab.llm.engines"),
    "lab.llm.evals": ("lab.judge", "lab.llm.data", "lab.llm.engines"),
    "lab.rollouts": (),
    "lab.runs": ("lab.rollouts",),
    "lab.show": ("lab.rollouts", "lab.runs"),
    "lab.papers": ("lab.runs", "lab.show"),
    "lab.explorer": ("lab.rollouts", "lab.runs", "lab.show"),
}

# Beyond the standard library; the worlds and what lies above them choose for themselves.
WHEN_LOADED = {
    "ground": {"numpy"},
    "mathematics": {"numpy"},
    "configurations": set(),
    "torch": {"numpy", "torch"},
}
IN_FUNCTIONS = {
    "ground": {"numpy"},
    "mathematics": {"numpy", "torch", "scipy"},
    "configurations": set(),
    "torch": {"numpy", "torch"},
}
ONLY_IN_FUNCTIONS = {"vllm", "trl", "verl", "datasets", "wandb"}
FIGURES = {"matplotlib", "plotly"}  # a trainer knows no figure


def layer_of(module: str) -> str | None:
    package = ".".join(module.split(".")[:2])
    return LAYER.get(module, LAYER.get(f"{package}.*"))


def room_of(module: str) -> str | None:
    """The room of NEIGHBOURS that holds a module; None for files directly in lab/ or lab/llm/."""
    return next((room for room in NEIGHBOURS if fnmatch(f"{module}.", f"{room}.*")), None)


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    deepest = 3 if name.startswith("lab.llm.") else 2  # only lab.llm holds packages
    named = layer_of(name) is not None and name.count(".") <= deepest
    return named or path.with_suffix(".py").exists() or path.is_dir()


def imports(source: str):
    """Every imported module with its line and where it stands: "loaded", "function" or "types"."""
    found = []

    def names(node):
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            known = [name for name in inner if name.startswith("lab.") and is_module(name)]
            return known + ([node.module] if len(known) < len(inner) else [])
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
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


def violations(module: str, source: str) -> list[str]:
    layer, room = layer_of(module), room_of(module)
    if layer is None:
        return [f"{module}: give it a layer in tests/test_layers.py"]
    wrong = []
    loaded, called = WHEN_LOADED.get(layer), IN_FUNCTIONS.get(layer)  # None: any library
    for name, line, place in imports(source):
        top, where = name.split(".")[0], f"{module}:{line} imports {name}"
        if top == "lab":
            other_layer, other_room = layer_of(name), room_of(name)
            if other_layer is None:
                wrong.append(f"{where}, which has no layer: give it a layer")
            elif ORDER.index(other_layer) > ORDER.index(layer):
                wrong.append(f"{where}: {layer} may not import from {other_layer}")
            elif (
                other_layer == layer
                and room not in (None, other_room)
                and other_room not in NEIGHBOURS.get(room, ())
            ):
                wrong.append(f"{where}: {room} may not import from {other_room}")
        elif top in sys.stdlib_module_names:
            continue
        elif top in FIGURES and ORDER.index(layer) < ORDER.index("runs"):
            wrong.append(f"{where}: {layer} knows no figure")
        elif place == "loaded" and top in ONLY_IN_FUNCTIONS:
            wrong.append(f"{where}: import it inside the function that needs it")
        elif module == "lab.shapes" and top == "jaxtyping":
            continue  # types for mypy, checks for the tests, nothing for users
        elif place == "types" and layer == "mathematics" and top not in {"numpy", "torch"}:
            wrong.append(f"{where}: {layer} may name only numpy and torch in types")
        elif place == "loaded" and loaded is not None and top not in loaded:
            names = ", ".join(sorted(loaded)) or "the standard library"
            wrong.append(f"{where}: on loading {layer} may import only {names}")
        elif place == "function" and called is not None and top not in called:
            wrong.append(f"{where}: {layer} may import only {', '.join(sorted(called))}")
    return wrong


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in sorted((ROOT / "lab").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


# --- The lab as it stands -----------------------------------------------------------------------


@pytest.mark.parametrize("module", list(modules()))
def test_a_file_imports_only_from_its_layer_and_below_and_from_rooms_that_it_may(module):
    assert violations(module, modules()[module].read_text("utf-8")) == []


def test_every_room_is_there():
    folders = {name.rpartition(".")[0] for name in modules()} - {"", "lab", "lab.llm"}
    assert folders == set(NEIGHBOURS)


def graph() -> dict[str, set[str]]:
    """The files that each file imports: on loading, inside functions, and for types."""
    files = {name: path for name, path in modules().items() if path.name != "__init__.py"}
    return {
        module: {name for name, *_ in imports(path.read_text("utf-8")) if name in files}
        for module, path in files.items()
    }


def test_there_is_no_circle_of_imports():
    TopologicalSorter(graph()).prepare()  # else a CycleError that names one


# --- What importing the lab costs ---------------------------------------------------------------


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh process has loaded after one statement."""
    answer = subprocess.run(
        [sys.executable, "-c", f"import sys\n{statement}\nprint(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return set(answer.stdout.split())


def test_importing_the_lab_loads_numpy_and_nothing_heavier():
    loaded = loaded_by("import lab, lab.shapes")
    assert {"lab", "numpy"} <= loaded
    # How long the import takes is in benchmarks/import_time.py: a busy machine makes any bound here
    # wrong.
    heavy = "torch scipy pandas pyarrow matplotlib sklearn transformers jaxtyping"
    assert not loaded & set(heavy.split())


def test_the_settings_of_all_experiments_load_nothing_but_their_errors():
    for name, path in modules().items():
        if name.startswith("lab.configurations."):
            found = {each for each, *_ in imports(path.read_text("utf-8"))}
            own = {"lab.errors", "lab.configurations.settings"}
            assert {each for each in found if each.startswith("lab")} <= own, name


def test_importing_the_plots_loads_no_trainer_and_the_verdicts_no_plots():
    loaded = loaded_by("import lab.show.plots, lab.show.figure_files")
    assert {"lab.show.plots", "lab.runs.sweep_results"} <= loaded
    assert not loaded & {"lab.toy", "lab.llm.train", "lab.runs.notebooks", "papermill", "torch"}
    assert "matplotlib" not in loaded_by("import lab.papers.claims, lab.papers.pages")


def test_the_map_in_the_readme_names_every_folder_and_nothing_else():
    """The folders at the top, and all under lab/; a new project's own are told in its README."""
    asked = ["git", "ls-files"]
    files = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = {str(parent) for file in files.splitlines() for parent in Path(file).parents} - {"."}
    section = (ROOT / "README.md").read_text("utf-8").split("## Where things are\n")[1]
    paths = [line.split()[0] for line in section.split("```")[1].strip().splitlines()]
    assert len({*paths}) == len(paths) and all((ROOT / path).exists() for path in paths)
    told = {path.rstrip("/") for path in paths}
    assert {
        name
        for name in tracked - told
        if name.startswith("lab/") or "/" not in name
        if not name.startswith("lab/presets/project/")
    } == set()


def test_no_name_of_the_package_hides_one_of_its_modules():
    import lab

    for name in modules():
        if name.count(".") == 1 and name != "lab.__main__":
            assert inspect.ismodule(getattr(lab, name.removeprefix("lab."), lab)), name
