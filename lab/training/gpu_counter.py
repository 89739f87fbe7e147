"""What GPU work needs, counted without a GPU: peak memory, kernels, traffic.

The work runs on fake tensors, which have a shape, a type and a device but no data: nothing is
allocated and nothing is computed, so a model that fills a GPU can be counted on a laptop. Their
device is the CPU, because autograd refuses CUDA tensors where torch was built without CUDA. The
counts are the same wherever the two devices choose the same operators; where they do not, the CUDA
operator is substituted: see `_FusedNorm`.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

BLOCK = 512  # bytes: PyTorch's CUDA allocator rounds every allocation up to a multiple

aten = torch.ops.aten
NO_KERNEL = {
    aten.empty,
    aten.empty_like,
    aten.empty_strided,
    aten.new_empty,
    aten.new_empty_strided,
}


_counters: list[Counter] = []  # those that count now


@dataclass(frozen=True)
class Counted:
    """What `count` saw.

    | field | unit | meaning |
    |---|---|---|
    | `peak` | bytes | the most that was alive at once, of all that the work itself made |
    | `kept` | bytes | what was still alive when the work had ended: its result |
    | `bytes` | bytes | read and written by all operators, each taking its arguments from memory |
    | `flops` | | of matrix products, convolutions and attention, forward and backward |
    | `launches` | | operators that compute or copy something: about one kernel each |
    """

    peak: int
    kept: int
    bytes: int
    flops: int
    launches: int


class Counter(TorchDispatchMode):
    """Counts the operators that PyTorch dispatches inside `with`; `counted` gives the totals.

    A storage is alive from the operator that made it until nothing refers to it, autograd included.
    Not seen: what a kernel allocates for itself (cuBLAS's workspaces), fragmentation of the
    allocator, and the CUDA context (about 0.5 GiB).
    """

    def __init__(self) -> None:
        super().__init__()
        self.live = self.peak = self.bytes = self.flops = self.launches = 0
        self.paused = False
        self._storages: dict[int, weakref.ref] = {}

    @property
    def counted(self) -> Counted:
        return Counted(self.peak, self.live, self.bytes, self.flops, self.launches)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.prim.device.default:  # more often than all others together
            return args[0].fake_device
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if func.namespace == "prim" or self.paused:
            return result
        inputs, outputs = _tensors((*args, *kwargs.values())), _tensors(result)
        # A view shares its storage with an input: nothing is allocated or computed for it.
        known = {id(tensor.untyped_storage()) for tensor in inputs}
        new = [tensor for tensor in outputs if id(tensor.untyped_storage()) not in known]
        for tensor in new:
            self._hold(tensor.untyped_storage())
        computes = bool(new) or func._schema.is_mutable
        if computes and func._overloadpacket not in NO_KERNEL:
            self.launch(inputs, outputs)
            self.flops += _flops(func._overloadpacket, args, kwargs, result)
        return result

    def launch(self, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        """Count one kernel that reads and writes these tensors."""
        self.launches += 1
        self.bytes += sum(map(_size, inputs)) + sum(map(_size, outputs))

    def _hold(self, storage: torch.UntypedStorage) -> None:
        """Count a storage as alive until it is freed."""
        key = id(storage)
        if key in self._storages:
            return
        blocks = math.ceil(storage.nbytes() / BLOCK)
        size = blocks * BLOCK

        def free(_: weakref.ref) -> None:
            del self._storages[key]
            self.live -= size

        self._storages[key] = weakref.ref(storage, free)
        self.live += size
        self.peak = max(self.peak, self.live)


def _tensors(values: Any) -> list[torch.Tensor]:
    """The tensors among an operator's arguments or results, of which some may be lists."""
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, (list, tuple)):
        return [tensor for value in values for tensor in _tensors(value)]
    return []


def _size(tensor: torch.Tensor) -> int:
    """Bytes that an operator reads or writes of a tensor; expanded elements count once."""
    return min(tensor.numel() * tensor.element_size(), tensor.untyped_storage().nbytes())


def _flops(operator: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> int:
    if operator is aten._scaled_dot_product_flash_attention_for_cpu:
        return sdpa_flop_count(*(tensor.shape for tensor in args[:3]))
    if operator is aten._scaled_dot_product_flash_attention_for_cpu_backward:
        return sdpa_backward_flop_count(*(tensor.shape for tensor in args[:4]))
    formula = flop_registry.get(operator)
    return 0 if formula is None else formula(*args, **kwargs, out_val=result)


class _FusedNorm(torch.autograd.Function):
    """`rms_norm` as the one kernel that CUDA has for it; a CPU takes several and keeps more."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        scale = x.new_empty(*x.shape[:-1], 1, dtype=torch.float32)
        ctx.save_for_backward(x, weight, scale)
        return x * weight

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, weight, _ = ctx.saved_tensors
        return gradient * x, torch.empty_like(weight)


class _OneKernel(torch.autograd.Function):
    """A function as what a compiler makes of it: see `as_one_kernel`."""

    @staticmethod
    def forward(ctx: Any, counter: Counter, function: Callable[..., Any], *operands: Any) -> Any:
        counter.paused = True
        results = function(*operands)
        counter.paused = False
        inputs, outputs = _tensors(operands), _tensors([results])
        for tensor in outputs:
            counter._hold(tensor.untyped_storage())
        counter.launch(inputs, outputs)
        ctx.counter = counter
        ctx.places = [isinstance(operand, torch.Tensor) for operand in operands]
        ctx.save_for_backward(*inputs)
        return results

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        kept = iter(ctx.saved_tensors)
        operands = [next(kept) if tensor else None for tensor in ctx.places]
        needed = ctx.needs_input_grad[2:]
        results = [
            torch.empty_like(operand) if operand is not None and need else None
            for operand, need in zip(operands, needed, strict=True)
        ]
        ctx.counter.launch([*ctx.saved_tensors, *gradients], _tensors(results))
        return None, None, *results


def as_one_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors, counted as a compiler would join it, inside `count` alone.

    That is one kernel forward and one backward, which read and write their operands once. The
    backward pass computes what lies between again, from the operands, which are kept.
    """

    def joined(*operands: Any) -> Any:
        return _OneKernel.apply(_counters[-1], function, *operands)

    return joined


class _AsOnCUDA(TorchFunctionMode):
    """Puts CUDA's operators in the place of the CPU's where they differ."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.nn.functional.rms_norm:
            return _FusedNorm.apply(args[0], kwargs["weight"])
        return func(*args, **kwargs)


def count(work: Callable[[], Any]) -> Counted:
    """Run `work` on fake tensors and count it.

    `work` creates everything that should be counted, models and their inputs included, on the CPU
    in the ordinary way. It may not read numbers out of tensors, since there are none. Its result
    stays alive until the end.
    """
    counter = Counter()
    _counters.append(counter)
    try:
        with FakeTensorMode(), _AsOnCUDA(), counter:
            result = work()
    finally:
        _counters.pop()
    counted = counter.counted
    del result
    return counted


def peak_memory(work: Callable[[], Any]) -> int:
    """Bytes alive at once, at most, while `work` runs on fake tensors: see `count`."""
    return count(work).peak
