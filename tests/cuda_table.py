"""Which operators CUDA has, for which types: torch's own table of operators, asked by ATen's names.

    with Recorder() as recorder:
        ...                 # a training, on the CPU
    recorder.complaints()   # what CUDA would have refused of it

The table (`torch.testing._internal`) is the one that torch's own tests run on every kernel. What it
does not name stands in `LISTED`, each entry with its types and where they come from.
"""

from __future__ import annotations

import re
import sys
import types
import unittest
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


@dataclass(frozen=True)
class Call:
    """One way in which an operator was called: types of the tensors by the names of its schema."""

    operator: str  # such as "mm", without the overload
    overload: str
    operands: tuple[tuple[str, torch.dtype], ...]
    results: tuple[torch.dtype, ...]
    differentiated: bool

    def __str__(self) -> str:
        operands = ", ".join(f"{name} {kind}" for name, kind in self.operands)
        return f"aten.{self.operator}.{self.overload}({operands})"


class Recorder(TorchDispatchMode):
    """The `calls` of ATen's operators inside `with`, each way once."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[Call, None] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        named = zip((one.name for one in func._schema.arguments), args, strict=False)
        tensors = [
            (name, tensor)
            for name, value in [*named, *kwargs.items()]
            for tensor in tree_leaves(value)
            if isinstance(tensor, torch.Tensor)
        ]
        operands = {(name, tensor.dtype) for name, tensor in tensors if name != "out"}
        made = [each.dtype for each in tree_leaves(result) if isinstance(each, torch.Tensor)]
        if not operands and not made:  # a mark for the profiler
            return result
        differentiated = torch.is_grad_enabled() and any(each.requires_grad for _, each in tensors)
        call = Call(
            func.overloadpacket.__name__,
            func._overloadname,
            tuple(sorted(operands, key=str)),
            tuple(dict.fromkeys(made)),
            differentiated,
        )
        self.calls[call] = None
        return result

    @property
    def operators(self) -> set[str]:
        return {call.operator for call in self.calls}

    @property
    def differentiated(self) -> set[str]:
        return {call.operator for call in self.calls if call.differentiated}

    def complaints(self) -> list[str]:
        """What CUDA would have refused of all that ran; something must have run."""
        assert self.calls
        return [said for call in self.calls if (said := refused(call))]


FLOATS = {torch.float16, torch.bfloat16, torch.float32, torch.float64}
WHOLE = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
ALL = FLOATS | WHOLE | {torch.bool}

# Operands that choose, and are not computed with: their type is no type of the kernel.
CHOOSING = {
    *"index indices target condition mask attn_mask total_weight count_include_pad".split(),
    *"rng_state philox_seed philox_offset".split(),
    "logsumexp",  # float32 for every type of queries
}

# ATen's name of an operator, without what `AFFIXES` takes off, and the name that the table has.
AFFIXES = re.compile(r"^_(?=[a-z])|^native_|^cudnn_|_(forward|backward|backward_data)$")
NAMES = {
    "safe_softmax": "softmax",
    "fused_rms_norm": "nn.functional.rms_norm",
    "convolution": "nn.functional.conv2d",
    "max_pool2d_with_indices": "nn.functional.max_pool2d",
    "embedding_dense": "nn.functional.embedding",
    "grid_sampler_2d": "nn.functional.grid_sample",
    "threshold": "nn.functional.relu",
    "affine_grid_generator": "nn.functional.linear",  # a product of matrices, and no more
    "linalg_vector_norm": "linalg.vector_norm",
    "local_scalar_dense": "item",
    "is_nonzero": "item",
    "unique_dim": "unique",
    "unique2": "unique",
    "to_copy": "to",
    "copy": "to",
    "__and__": "bitwise_and",
    "__rshift__": "bitwise_right_shift",
    "__lshift__": "bitwise_left_shift",
    "index": "__getitem__",
    "index_put_impl": "index_put",
    "rand": "uniform",
    "randn": "normal",
    "scaled_dot_product_flash_attention_for_cpu": "nn.functional.scaled_dot_product_attention",
}

# What the table does not know, with the types that CUDA takes and why.
VIEWS = "a view: no kernel runs"
LISTED: dict[str, tuple[set[torch.dtype], str]] = {
    "detach": (ALL, VIEWS),
    "detach_": (ALL, VIEWS),
    "alias": (ALL, VIEWS),
    "lift_fresh": (ALL, VIEWS),
    "_unsafe_view": (ALL, VIEWS),
    "_reshape_alias": (ALL, VIEWS),
    "set_": (ALL, VIEWS),
    "randperm": (ALL - {torch.bool}, "aten/native/cuda/Randperm.cu: all types of numbers"),
    "random_": (ALL, "aten/native/cuda/DistributionRandomKernel.cu: all types"),
    "binomial": (
        FLOATS,
        "aten/native/cuda/Distributions.cu, binomial_cuda: floating types, half and "
        "bfloat16, with a generator",
    ),
    "_fused_adamw_": (
        {torch.float16, torch.bfloat16, torch.float32, torch.float64},
        "aten/native/cuda/FusedAdamWKernel.cu: floating types; its steps are float32",
    ),
}


def _without_ending(name: str) -> str:
    """The operator itself from the name of its in-place form."""
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


@cache
def _table() -> dict[str, list]:
    """Torch's entries by all names that they have."""
    # The table's module wants one class of it, for other things.
    if "expecttest" not in sys.modules:
        try:
            import_module("expecttest")
        except ImportError:
            sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase)
    # Types that need a recent GPU stand in the table only where one is found: ours is an Ampere of
    # 2020 or newer, without the float8 of later ones.
    versions = import_module("torch.testing._internal.common_cuda")
    recent = re.compile("SM.*OrLater|PLATFORM_SUPPORTS_.*(BF16|ATTENTION|SDPA)")
    before = {name: value for name, value in vars(versions).items() if recent.match(name)}
    newer = {"SM89OrLater", "SM90OrLater", "SM100OrLater", "SM120OrLater"}
    new = {name: name not in newer for name in before}
    vars(versions).update(new)
    try:
        entries = import_module("torch.testing._internal.common_methods_invocations")
    finally:
        vars(versions).update(before)
    found: dict[str, list] = {}
    foreach = [f"foreach_{kind}_op_db" for kind in "unary binary pointwise reduce other".split()]
    for kind in ("op_db", *foreach):
        for entry in getattr(entries, kind):
            names = {entry.name, entry.aten_name, entry.aten_backward_name}
            for name in names.union(one.name for one in entry.aliases) - {None, ""}:
                found.setdefault(name, []).append(entry)
    return found


def entries_of(operator: str) -> list:
    """The table's entries for an operator of ATen; none where it does not know it."""
    plain = _without_ending(operator)
    base = AFFIXES.sub("", plain)
    names = (NAMES.get(base), operator, plain, base, f"nn.functional.{base}")
    return next((_table()[name] for name in names if name in _table()), [])


def supported(operator: str, differentiated: bool) -> set[torch.dtype] | None:
    """The types that CUDA computes an operator in; None for one that nobody knows."""
    if operator in LISTED:
        return LISTED[operator][0]
    entries = entries_of(operator)
    if not entries:
        return None
    backward = differentiated or operator.endswith(("_backward", "_backward_data"))
    kinds = set().union(*(entry.supported_dtypes("cuda") for entry in entries))
    if backward and any(entry.supports_autograd for entry in entries):
        kinds &= set().union(*(entry.supported_backward_dtypes("cuda") for entry in entries))
    return kinds


def refused(call: Call) -> str | None:
    """Why CUDA would not run this call; None where it would."""
    kinds = {kind for name, kind in call.operands if name not in CHOOSING} or set(call.results)
    known = supported(call.operator, call.differentiated)
    if known is None:
        return f"{call}: neither torch's table nor tests/cuda_table.py knows it"
    if call.differentiated:  # whole numbers have no gradient, and pass beside what has one
        known = known | (WHOLE | {torch.bool}) & (supported(call.operator, False) or set())
    if missing := kinds - known:
        return f"{call}: CUDA has no kernel for {', '.join(map(str, sorted(missing, key=str)))}"
    return None
