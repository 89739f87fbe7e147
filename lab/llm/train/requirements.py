"""What a language-model run needs besides a GPU, looked at before it starts. Floor 2."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lab.device import compiler_fault, compute_device
from lab.errors import LabError
from lab.llm.data.problem_sets import problem_set
from lab.llm.engines.models import is_cached, locate_model, pinned
from lab.llm.verify.verifier import Verifier

INSTALL = "pip install -c constraints.txt -e '.[llm,vllm]'"


def requirements(
    *,
    model: str,
    train_set: str,
    problems: int,
    eval_sets: list[str],
    eval_problems: int,
    folder_of_data: str,
    style: str,
    engine: str,
    **_: Any,
) -> Iterator[tuple[str, str, str]]:
    """For `lab preflight`: (subject, fault or nothing, remark).

    Packages, a compiler for Triton's kernels, the model at its pinned revision (one that is not
    cached is downloaded when the run starts), and every set of problems with gold answers that can
    be read.
    """
    for package in ("trl", "vllm") if engine == "vllm" else ("trl",):
        fault = "" if find_spec(package) else f"the package {package} is missing: {INSTALL}"
        yield f"package {package}", fault, "installed"
    if compute_device().type == "cuda":
        yield "compiler", compiler_fault(), "found, for the Triton kernels of TRL and vLLM"
    name, revision = pinned(model)
    if Path(locate_model(model)[0]).is_dir():
        remark = "a folder here"
    else:
        remark = f"revision {revision[:12]}" if revision else "newest revision, not pinned"
        remark += ", cached" if is_cached(model) else ", to be downloaded"
    yield f"model {name}", "", remark
    sets = [(train_set, problems, "train"), *((one, eval_problems, "test") for one in eval_sets)]
    with Verifier(style) as verifier:
        for set_name, count, split in sets:
            try:
                asked = problem_set(set_name, count or None, folder_of_data, split).problems
            except LabError as error:
                # Without a network each of the others would be tried for half a minute too.
                yield f"set {set_name}", f"{error} (the sets after it were not tried)", ""
                return
            unreadable = len(verifier.unparsable([problem.answer for problem in asked]))
            fault = ""
            if unreadable >= len(asked) - 1:
                fault = f"no two gold answers of {set_name} can be read: see lab data check"
            yield (
                f"set {set_name}",
                fault,
                f"{len(asked)} problems, {unreadable} gold answers unreadable",
            )
