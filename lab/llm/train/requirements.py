"""Checks for `lab preflight`: packages, model and problem sets of a language-model run."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.judge.rewards import judge
from lab.llm.engines.models import is_cached, locate_model, pinned
from lab.llm.train.problems import loaded_set
from lab.training.device import compiler_fault, compute_device

INSTALL = "pip install -c constraints.txt -e '.[llm,vllm]'"


def requirements(config: LanguageModelConfig) -> Iterator[tuple[str, str, str]]:
    """What a run needs besides a GPU, one check at a time: (subject, fault or "", remark).

    Checked are the packages, a compiler for Triton's kernels, the model at its pinned revision (if
    it is not cached, the run downloads it), and that the gold answers of every problem set can be
    read.
    """
    packages = ("trl", "vllm") if config.engine == "vllm" else ("trl",)
    for package in packages:
        fault = "" if find_spec(package) else f"the package {package} is missing: {INSTALL}"
        yield f"package {package}", fault, "installed"
    if compute_device().type == "cuda":
        yield "compiler", compiler_fault(), "found, for the Triton kernels of TRL and vLLM"
    yield _model_check(config.model)
    sets = [(config.train_set, config.problems, "train")]
    sets += [(eval_set, config.eval_problems, "test") for eval_set in config.eval_sets]
    with judge(config.style, config.reward) as verifier:
        for set_name, count, split in sets:
            try:
                loaded = loaded_set(config, set_name, count, split).problems
            except LabError as error:
                # Without a network, each of the other sets would be tried for half a minute too.
                yield f"set {set_name}", f"{error} (the sets after it were not tried)", ""
                return
            unreadable = len(verifier.unparsable([problem.answer for problem in loaded]))
            fault = ""
            if unreadable >= len(loaded) - 1:
                fault = f"no two gold answers of {set_name} can be read: see lab data check"
            remark = f"{len(loaded)} problems, {unreadable} gold answers unreadable"
            yield f"set {set_name}", fault, remark


def _model_check(model: str) -> tuple[str, str, str]:
    """The line on the model; one that is not cached is no fault, since the run downloads it."""
    name, revision = pinned(model)
    if Path(locate_model(model)[0]).is_dir():
        remark = "a folder here"
    else:
        remark = f"revision {revision[:12]}" if revision else "newest revision, not pinned"
        remark += ", cached" if is_cached(model) else ", to be downloaded"
    return f"model {name}", "", remark
