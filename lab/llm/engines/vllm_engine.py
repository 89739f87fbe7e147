"""Sampling with vLLM, in this process: for real models on a GPU, and the same code on a CPU for
tests.

Without a GPU vLLM starts in seconds with the settings below, and in a minute, or not at all, with
its own:

| setting | why |
|---|---|
| VLLM_ENABLE_V1_MULTIPROCESSING=0 | no child processes, which start slowly and outlive a killed parent (on a GPU too) |
| enforce_eager, dynamo off | nothing is compiled: 6 to 16 s of C++ otherwise |
| kv_cache_memory_bytes | the default, a share of all RAM, refuses to start where less is free |
| enable_chunked_prefill=False | a prompt that is read in parts breaks seeds: "CPU Generator does not use offset" |
| float32 | log-probabilities to 1e-6; bfloat16, vLLM's choice, gives 1e-2 |

Set OMP_NUM_THREADS=1 yourself before Python starts where the model is tiny: its threads would wait
for each other.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lab.device import compute_device
from lab.errors import LabError, real, whole
from lab.llm.data.prompts import stop_tokens
from lab.llm.engines.base import (
    Completion,
    Sampling,
    decode_completion,
    encode_prompts,
    error_line,
    load_tokenizer,
)
from lab.llm.engines.models import model_folder
from lab.rng import stream_seed
from lab.torchvision_ops import define_torchvision_ops


class VLLMEngine:
    """An engine on vLLM: one GPU in bfloat16, or the CPU in float32.

    | option | meaning |
    |---|---|
    | `model` | a folder, or a name of the hub; weights must be safetensors |
    | `positions` | the most tokens of a prompt and its answer; None: all that the model has |
    | `memory` | GiB for keys and values; None: on a GPU what is left of 90% of it, else 1 GiB |

    The seed of prompt j is `stream_seed(seed, "answers", first + j)`, and vLLM adds i for answer i.

    Errors: no such model, no tokenizer, vLLM missing or not importable, no room.
    """

    def __init__(
        self, model: str | Path, positions: int | None = None, memory: float | None = None
    ) -> None:
        place, name = model_folder(model)
        tokenizer = load_tokenizer(place)
        settings: dict[str, Any] = {
            "max_model_len": None if positions is None else whole("positions", positions, 2)
        }
        if not (gpu := compute_device().type == "cuda"):
            settings |= {"dtype": "float32", "enforce_eager": True, "enable_chunked_prefill": False}
            memory = 1.0 if memory is None else memory
        else:
            settings |= {"dtype": "bfloat16", "gpu_memory_utilization": 0.9}
        if memory is not None:
            settings["kv_cache_memory_bytes"] = int(real("memory", memory, 0) * 2**30)
        library = _vllm(gpu)
        try:
            _let_vllm_scan_llvmlite()
            with _as_it_was(), _without_children():
                llm = library.LLM(
                    place,
                    load_format="safetensors",
                    enable_prefix_caching=True,
                    logprobs_mode="processed_logprobs",
                    generation_config="vllm",
                    **settings,
                )
        except (OSError, ValueError, RuntimeError) as error:
            raise LabError(
                f"vLLM did not start with {place} ({error_line(error)}): give a causal language model"
                " with safetensors weights, fewer positions, or another memory"
            ) from error
        self._stand_on(llm, tokenizer, name)

    @classmethod
    def from_llm(cls, llm: Any, tokenizer: Any, name: str) -> VLLMEngine:
        """An engine on a `vllm.LLM` that runs already in this process, such as a trainer's own."""
        engine = cls.__new__(cls)
        engine._stand_on(llm, tokenizer, name)
        return engine

    def _stand_on(self, llm: Any, tokenizer: Any, name: str) -> None:
        from vllm import SamplingParams

        self.llm, self.tokenizer, self.name, self.stops = (
            llm,
            tokenizer,
            name,
            stop_tokens(tokenizer),
        )
        self.positions, self._parameters = llm.model_config.max_model_len, SamplingParams

    def sample(
        self, prompts: Sequence[str], sampling: Sampling, first: int = 0
    ) -> list[list[Completion]]:
        """See `Engine.sample`."""
        ids = encode_prompts(
            self.tokenizer, prompts, sampling.max_tokens, self.positions, self.name
        )
        asked = [
            self._parameters(
                n=sampling.n,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                max_tokens=sampling.max_tokens,
                seed=stream_seed(sampling.seed, "answers", first + j),
                stop_token_ids=list(self.stops.values()),
                logprobs=0,
                flat_logprobs=True,
                detokenize=False,
            )
            for j in range(len(ids))
        ]
        with torch.random.fork_rng(
            devices=[]
        ):  # on a CPU vLLM also draws numbers that it does not use
            found = (
                self.llm.generate([{"prompt_token_ids": one} for one in ids], asked, use_tqdm=False)
                if ids
                else []
            )
        return [
            [
                decode_completion(
                    self.tokenizer,
                    self.stops,
                    one.token_ids,
                    one.logprobs.logprobs,
                    sampling.max_tokens,
                )
                for one in request.outputs
            ]
            for request in found
        ]


def _vllm(gpu: bool) -> Any:
    """The package vllm, imported with the settings above."""
    wanted = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_NO_USAGE_STATS": "1",
    }
    if not gpu:
        wanted["TORCHDYNAMO_DISABLE"] = "1"
        torch._dynamo.config.disable = (
            True  # the variable is read on import, which may have been long ago
        )
    for name, value in wanted.items():
        os.environ.setdefault(name, value)
    define_torchvision_ops()
    try:
        import vllm
    except (ImportError, OSError) as error:
        if getattr(error, "name", "") == "vllm":
            raise LabError(
                "the package vllm is missing: pip install -c constraints.txt -e '.[vllm]' for "
                "a GPU, make setup-llm without one"
            ) from error
        raise LabError(
            f"the package vllm does not import ({error_line(error)}): beside a CPU build of torch say pip"
            " uninstall torchaudio torchcodec"
        ) from error
    return vllm


def _let_vllm_scan_llvmlite() -> None:
    """Give llvmlite's library object an empty `__dict__`.

    On a CPU vLLM 0.31 reads `vars()` of every global of every module, and that object answers any
    name, `__dict__` too, with a C function: wherever numba was imported first, vLLM would not
    start.
    """
    if ffi := sys.modules.get("llvmlite.binding.ffi"):
        ffi.lib._fntab["__dict__"] = {}


@contextmanager
def _without_children() -> Iterator[None]:
    """Let vLLM look at the model's class in this process: a child of it does not know torchvision's
    missing names.
    """
    from vllm.model_executor.models import registry

    asking = registry._run_in_subprocess
    registry._run_in_subprocess = lambda work: work()
    try:
        yield
    finally:
        registry._run_in_subprocess = asking


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Undo what starting vLLM does to the whole process: it seeds every global generator, and on a
    CPU loads its own memory allocator into all later child processes and forbids another number of
    threads.
    """
    python, numpy, ours = (
        random.getstate(),
        np.random.get_state(),  # noqa: NPY002
        torch.get_rng_state(),
    )
    threads, preload = torch.set_num_threads, os.environ.get("LD_PRELOAD")
    try:
        yield
    finally:
        random.setstate(python), np.random.set_state(numpy), torch.set_rng_state(ours)  # noqa: NPY002
        torch.set_num_threads = threads
        if preload is None:
            os.environ.pop("LD_PRELOAD", None)
        else:
            os.environ["LD_PRELOAD"] = preload
