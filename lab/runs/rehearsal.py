"""`lab rehearse` (`make gpu`): what to run in the first paid hour on a rented GPU.

Every preset runs for a few steps at the scale of this card, each part in a process of its own, so
that one that fails or hangs does not affect the others. The measurements are written to one JSON
file per device, with the estimate of `lab preflight` for comparison, and the README's cells that
say *not yet measured* are filled from these files.

Without a GPU the same parts run on the CPU at scale smoke. That checks the rehearsal itself; its
numbers are not kept in the project.
"""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from lab.configurations import Config
from lab.errors import LabError
from lab.project import CHECKOUT, project
from lab.runs.experiments import Experiment, experiment, experiments
from lab.runs.processes import last_words
from lab.runs.provenance import device, provenance
from lab.runs.run_folder import Run, runs_root, write_atomically, write_json
from lab.runs.training import load_checkpoint, state_of
from lab.training.costs import CARDS
from lab.training.device import compute_device
from lab.training.records import Record

README = CHECKOUT / "README.md"
PART_SECONDS = 20 * 60  # after which a part counts as hanging
# Evaluations and initial trainings are cut to a minimum: only the training step is measured.
CUT = {"mazes": 8, "samples": 64, "eval_problems": 4, "start_steps": 4, "start_log_every": 4}
# Two steps of a language model take minutes; the first ones of any world compile and allocate.
LANGUAGE_MODEL_STEPS, TOY_STEPS = 3, 20


class Part(NamedTuple):
    """One measurement: the name under which it is recorded, and how it is made."""

    name: str
    kind: str  # of MEASURES
    experiment: str
    scale: str


def scale_of_card(memory: float) -> str:
    """The scale for a card with `memory` GiB; smoke without one.

    >>> [scale_of_card(memory) for memory in (0, 23.5, 79.1, 139.8)]
    ['smoke', 'gpu24', 'h100', 'h200']
    """
    fitting = [scale for scale, card in CARDS.items() if card.memory <= memory + 0.5]
    return ["smoke", *fitting][-1]


def parts(scale: str) -> list[Part]:
    """What is measured on a card of this scale, the quickest and most informative parts first."""
    known = [experiment(name) for name in experiments()]
    trained = [one for one in known if one.trainer and "steps" in one.rules]
    toys = [one.name for one in trained if not _is_language_model(one)]
    presets = [one.name for one in trained if scale in one.scales]
    return [
        *(Part(f"{name}: device against CPU", "agreement", name, "smoke") for name in toys),
        *(
            Part(f"{name}: killed and resumed", "resume", name, "smoke")
            for name in ("maze", "images", "gsm8k")
        ),
        *(Part(f"{name} {scale}", "steps", name, scale) for name in presets),
    ]


def measured_folder() -> Path:
    """Where the project keeps what was measured on GPUs."""
    return project().results / "gpu"


def rehearse(folder: Path | None = None, only: str = "") -> dict[str, Any]:
    """Run the parts whose names contain `only` and return the content of this device's file.

    `folder` holds the file; by default data/results/gpu on a GPU, and the folder of runs on a CPU.
    A part that failed is recorded with the last line of its output and repeated by the next call;
    a part that was measured with this code is not repeated.
    """
    import torch

    on_gpu = compute_device().type == "cuda"
    memory = torch.cuda.get_device_properties(0).total_memory / 2**30 if on_gpu else None
    scale = scale_of_card(memory or 0)
    folder = folder or (measured_folder() if on_gpu else runs_root() / "rehearsal")
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", device().split(",")[0].lower()).strip("-")
    path = folder / f"{name}.json"
    about = {"device": device(), "memory": memory, "scale": scale, **provenance()}
    before = json.loads(path.read_text()) if path.exists() else {}
    done = before["parts"] if before.get("code") == about["code"] else {}
    every = parts(scale)
    chosen = [part for part in every if only in part.name]
    if not chosen:
        raise LabError(f"no part is called {only!r}: {', '.join(part.name for part in every)}")
    for part in chosen:
        if "failed" in done.get(part.name, {"failed": "never tried"}):
            print(f"{part.name} ...", flush=True)
            done[part.name] = _in_a_process(part)
            write_json(path, about | {"parts": done})
            print(f"  {_sentence(done[part.name])}", flush=True)
    print(path)
    return about | {"parts": done}


def _in_a_process(part: Part) -> dict[str, Any]:
    """What a part measured, or {"failed": why}."""
    command = [sys.executable, "-m", "lab.runs.rehearsal", *part[1:]]
    began = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, err = process.communicate(timeout=PART_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"failed": f"did not end within {PART_SECONDS // 60} minutes"}
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGTERM)
        raise
    if process.returncode != 0:
        return {"failed": last_words(process.returncode, err.splitlines())}
    return json.loads(out.splitlines()[-1]) | {"wall_seconds": round(time.monotonic() - began, 1)}


def _sentence(measured: dict[str, Any]) -> str:
    return ", ".join(
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in measured.items()
        if not isinstance(value, (dict, list))
    )


# --- The parts, each in a process of its own ----------------------------------------------------


def measure_steps(name: str, scale: str) -> dict[str, Any]:
    """Train a preset for a few steps: time per step, peak memory, last record, and the estimate."""
    import torch

    chosen = experiment(name)
    steps = LANGUAGE_MODEL_STEPS if _is_language_model(chosen) else TOY_STEPS
    config = chosen.configure(scale, _cut(name, scale, steps))
    on_gpu = compute_device().type == "cuda"
    seconds, last = [], None
    trainer = chosen.train(config, None, **_start(config))
    began = time.perf_counter()
    for output in trainer:
        if on_gpu:
            torch.cuda.synchronize()
        if isinstance(output, Record):
            last = output.metrics
        else:
            seconds.append(time.perf_counter() - began)
        began = time.perf_counter()
    if last is None:
        raise LabError(f"{name} gave no record")
    warm = seconds[len(seconds) // 2 :]  # the first steps compile and allocate
    result = {
        "steps": steps,
        "seconds_a_step": statistics.median(warm),
        "slowest_step": max(warm),
        "first_step": seconds[0],
        "metrics": last,
    }
    if on_gpu:
        result["memory_reserved"] = torch.cuda.max_memory_reserved() / 2**30
        result["memory_allocated"] = torch.cuda.max_memory_allocated() / 2**30
    if "log-probability mismatch" in last:
        result["log_probability_mismatch"] = last["log-probability mismatch"]
    module: Any = chosen.module
    if scale in CARDS and hasattr(module, "costs") and (costs := module.costs(config)):
        result["estimated_seconds_a_step"] = costs.step_seconds(CARDS[scale])
        result["estimated_memory"] = costs.peak_memory
    return result


def measure_agreement(name: str, scale: str) -> dict[str, Any]:
    """Compare training on this device with the CPU: the largest difference of each metric."""
    here, cpu = (
        _trained(name, scale, f"agreement-{name}-{kind}", LAB_DEVICE=kind).records()
        for kind in ("auto", "cpu")
    )
    if [record["step"] for record in here] != [record["step"] for record in cpu]:
        raise LabError(f"{name}: the device and the CPU gave records at different steps")
    differences = {
        key: max(
            abs(a[key] - b[key]) for a, b in zip(here, cpu, strict=True) if key in a.keys() & b
        )
        for key in cpu[-1].keys() - {"step"}
    }
    return {"largest_difference": max(differences.values()), "differences": differences}


def measure_resume(name: str, scale: str) -> dict[str, Any]:
    """Compare a training killed after its first checkpoint and resumed with an undisturbed one."""
    whole, killed = _trained(name, scale, f"resume-{name}-whole"), f"resume-{name}-killed"
    process = _training(name, scale, killed)
    checkpoints = f"{name}/*/checkpoints/step-*.safetensors"
    while process.poll() is None and not list(_scratch(killed).glob(checkpoints)):
        time.sleep(0.002)
    process.kill()
    process.communicate()
    if process.returncode == 0:
        raise LabError(f"{name} ended before it could be killed: nothing was resumed")
    killed_at = load_checkpoint(_only_run(killed, name)).step
    again = _trained(name, scale, killed)
    expected, resumed = state_of(whole), state_of(again)
    worst = max(
        float((expected[key].double() - resumed[key].double()).abs().max())
        for key in expected
        if expected[key].numel()
    )
    return {
        "killed_after_step": killed_at,
        "records_equal": whole.records() == again.records(),
        "largest_difference_of_a_weight": worst,
    }


def _is_language_model(chosen: Experiment) -> bool:
    return (chosen.trainer or "").startswith("lab.llm.")


def _cut(name: str, scale: str, steps: int) -> dict[str, Any]:
    """The parameters of a rehearsal: few steps and small evaluations, otherwise the preset's."""
    usual = experiment(name).configure(scale).settings()
    # 0 stands for all.
    cut = {key: min(value, usual[key] or value) for key, value in CUT.items() if key in usual}
    return cut | {"steps": steps, "log_every": steps}


def _start(config: Config) -> dict[str, Any]:
    """The state that a preset's training starts from, after a few steps; empty if it needs none."""
    before = experiment(config.name).before
    if before is None:
        return {}
    state = None
    for output in before.train(before.part_of(config), None):
        state = {key: value.detach().clone() for key, value in output.state().items()}
    return {"start": state}


def _scratch(place: str) -> Path:
    return runs_root() / "rehearsal" / "scratch" / place


def _training(name: str, scale: str, place: str, **environment: str) -> subprocess.Popen[str]:
    """A process that trains into a scratch folder."""
    command = [sys.executable, "-m", "lab", "train", name, f"scale={scale}", "checkpoint_minutes=0"]
    return subprocess.Popen(
        command,
        env=os.environ | {"LAB_RUNS": str(_scratch(place))} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _trained(name: str, scale: str, place: str, **environment: str) -> Run:
    """The run of `lab train` in a scratch folder. LabError: it failed."""
    process = _training(name, scale, place, **environment)
    _, err = process.communicate()
    if process.returncode != 0:
        why = last_words(process.returncode, err.splitlines())
        raise LabError(f"lab train {name} scale={scale}: {why}")
    return _only_run(place, name)


def _only_run(place: str, name: str) -> Run:
    (path,) = [path for path in (_scratch(place) / name).iterdir() if path.is_dir()]
    return Run(path)


# --- The README's cells -------------------------------------------------------------------------

CELL = re.compile(r"<!-- gpu: (.+?) -->.*?<!-- end -->")
WAITING = "*not yet measured*"


def filled(text: str, measured: list[dict[str, Any]]) -> str:
    """Fill the cells `<!-- gpu: PART -->...<!-- end -->` of a page from the files of `rehearse`."""

    def cell(match: re.Match[str]) -> str:
        measurements = [
            f"{part['seconds_a_step']:.3g} s a step, {part['memory_reserved']:.0f} GiB on one "
            f"{file['device']} ({part['steps']} steps, commit {str(file['commit'])[:7]})"
            for file in measured
            for name, part in file["parts"].items()
            if name.startswith(f"{match[1]} ")
            and "seconds_a_step" in part
            and "memory_reserved" in part
        ]
        return f"<!-- gpu: {match[1]} -->{'; '.join(measurements) or WAITING}<!-- end -->"

    return CELL.sub(cell, text)


def fill_readme() -> None:
    """Fill the cells of the README of the lab's checkout from the measurements on GPUs."""
    files = [json.loads(file.read_text()) for file in sorted(measured_folder().glob("*.json"))]
    if README.exists() and project().root == CHECKOUT:
        write_atomically(README, filled(README.read_text(), files))


MEASURES = {
    "steps": measure_steps,
    "agreement": measure_agreement,
    "resume": measure_resume,
}

if __name__ == "__main__":
    try:
        print(json.dumps(MEASURES[sys.argv[1]](*sys.argv[2:])))
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        raise SystemExit(1) from None
