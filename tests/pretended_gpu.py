"""A GPU that is not there: tensors that say "cuda" and keep their numbers on the CPU.

    with PretendedGPU() as gpu:
        ...            # torch.cuda.is_available() is true, and code takes the branches of a GPU
    gpu.calls          # every ATen operator that would have run there, with its types

Autocast, autograd and the optimisers treat a tensor of this GPU as CUDA's, and each operator is
carried out on the numbers below. What a GPU would refuse is refused: a tensor of the CPU beside one
of the GPU, a generator of the other device, and while a CUDA graph is captured everything that the
host would have to wait for. A captured graph is replayed as a real one is: the same operators on
the same memory.

Torch's own fake tensors cannot do this: they hold no numbers, so a loop that ends when a tensor
says so has no way on, and on a build without CUDA they know neither `x[0] = 1` nor `backward()`.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing

CUDA = torch.device("cuda", 0)
# What C++ believes. Autocast takes XLA's tensors for CUDA's, and the backward pass asks them for no
# stream, which it would ask of a tensor that says "cuda" in C++ too.
BELOW = torch.device("xla", 0)
TorchGenerator = torch.Generator  # before it is replaced
AUTOCAST = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)

# The host waits for the result, or the size of the result depends on the numbers.
WAITS = {
    "_local_scalar_dense",
    "nonzero",
    "masked_select",
    "unique_dim",
    "_unique",
    "_unique2",
    "unique_consecutive",
    "unique_dim_consecutive",
    "equal",
    "bincount",
    "repeat_interleave.Tensor",
    "is_nonzero",
    "_linalg_check_errors",
}
# An operand of the other device is copied over by these, of whatever shape.
COPIES = {"copy_", "_to_copy", "_foreach_copy_", "index", "index_put_", "_index_put_impl_", "set_"}


def _addmm(
    start: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    kind: torch.dtype,
    *,
    out: torch.Tensor,
    **factors: Any,
) -> torch.Tensor:
    return torch.addmm(start.to(kind), a.to(kind), b.to(kind), out=out, **factors)


def _flash_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, dropout: float = 0.0, causal: bool = False
) -> tuple[Any, ...]:
    _check_heads(q)
    out, log = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, dropout, causal)
    assert not causal or q.shape[2] == k.shape[2]  # else CUDA's last query sees the last key
    random = torch.zeros(2, dtype=torch.uint64), torch.zeros((), dtype=torch.uint64)
    # CUDA's kernel gives the normalisers as a tensor without gaps, and asks for such a one.
    return out, log.contiguous(), None, None, q.shape[2], k.shape[2], *random, q.new_zeros(0)


def _flash_attention_backward(
    gradient: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    log: torch.Tensor,
    *rest: Any,
) -> tuple[torch.Tensor, ...]:
    _check_heads(q)
    assert log.is_contiguous() and log.dtype == torch.float32
    lengths, (dropout, causal, seed, offset) = rest[:4], rest[4:]
    assert lengths == (None, None, q.shape[2], k.shape[2])
    assert seed.dtype == offset.dtype == torch.uint64
    return aten._scaled_dot_product_flash_attention_for_cpu_backward(
        gradient, q, k, v, out, log, dropout, causal
    )


def _check_heads(q: torch.Tensor) -> None:
    """FlashAttention's own conditions."""
    assert q.shape[3] % 8 == 0 and q.shape[3] <= 256 and q.stride(3) == 1


aten = torch.ops.aten
# Overloads that only CUDA has a kernel for: the same numbers on a CPU.
STAND_INS = {
    "addmm.dtype_out": _addmm,
    "_scaled_dot_product_flash_attention.default": _flash_attention,
    "_scaled_dot_product_flash_attention_backward.default": _flash_attention_backward,
}


class WrongDevice(RuntimeError):
    """What CUDA refuses because tensors, or a generator, lie on two devices."""


class NotCapturable(RuntimeError):
    """What CUDA refuses while it captures a graph."""


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


class OnGPU(torch.Tensor):
    """A tensor of the pretended GPU; `numbers` is the tensor of the CPU that it stands for."""

    __module__ = (
        "torch"  # as that of a real one: lab.mathematics.estimators tells torch from NumPy by it
    )
    numbers: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, numbers: torch.Tensor) -> OnGPU:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            numbers.shape,
            strides=numbers.stride(),
            storage_offset=numbers.storage_offset(),
            dtype=numbers.dtype,
            device=BELOW,
            _extra_dispatch_keys=AUTOCAST,
        )
        made.numbers = numbers
        return made

    @property
    def device(self) -> torch.device:
        return CUDA

    @property
    def is_cuda(self) -> bool:
        return True

    @property
    def is_xla(self) -> bool:
        return False

    def get_device(self) -> int:
        return 0

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def numpy(self, **_: Any) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy: use .cpu() first")

    __array__ = numpy

    def __repr__(self, **_: Any) -> str:
        return f"OnGPU({self.numbers!r})"

    def __deepcopy__(self, memo: dict) -> OnGPU:
        made = OnGPU(self.numbers.clone()).requires_grad_(self.requires_grad)
        made.__dict__.update(
            {key: value for key, value in self.__dict__.items() if key != "numbers"}
        )
        memo[id(self)] = made
        return made

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        return _carried_out(func, args, kwargs or {})


class Generator(TorchGenerator):
    """A generator that remembers for which device it was made; the numbers are the CPU's."""

    def __new__(cls, device: torch.device | str = "cpu") -> Generator:
        made = super().__new__(cls)
        made.place = torch.device(device)
        return made

    def __init__(self, device: torch.device | str = "cpu") -> None:
        pass

    @property
    def device(self) -> torch.device:
        return self.place


class _State:
    """What is observed now: the GPU whose `with` block runs, and the graph that is captured."""

    gpu: PretendedGPU | None = None
    graph: Graph | None = None


class Stream:
    """In place of `torch.cuda.Stream`: there is nothing to wait for."""

    def __init__(self, *given: Any, **named: Any) -> None:
        pass

    def wait_stream(self, other: Stream) -> None:
        pass


class Graph:
    """In place of `torch.cuda.CUDAGraph`."""

    def __init__(self) -> None:
        self.steps: list[tuple[Callable, tuple, dict, list[torch.Tensor]]] = []

    def replay(self) -> None:
        """Every operator again, on the memory that it had."""
        with torch._C._DisableTorchDispatch(), torch.no_grad(), torch._C.DisableTorchFunction():
            for func, args, kwargs, results in self.steps:
                again = [one for one in _leaves([func(*args, **kwargs)]) if torch.is_tensor(one)]
                for old, new in zip(results, again, strict=True):
                    if old.untyped_storage().data_ptr() != new.untyped_storage().data_ptr():
                        old.copy_(new)


@contextlib.contextmanager
def _capturing(graph: Graph) -> Iterator[None]:
    _State.graph = graph
    try:
        yield
    finally:
        _State.graph = None


def _leaves(values: Any) -> list[Any]:
    """What stands in the lists and tuples of an operator's arguments or results."""
    found: list[Any] = []
    for one in values.values() if isinstance(values, dict) else values:
        if isinstance(one, (list, tuple, dict)):
            found += _leaves(one)
        else:
            found.append(one)
    return found


def _mapped(kind: type, change: Callable, value: Any) -> Any:
    """The same with every object of a kind changed."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_mapped(kind, change, one) for one in value])
    if isinstance(value, dict):
        return {key: _mapped(kind, change, one) for key, one in value.items()}
    return value


@cache
def _aliases(func: Any) -> bool:
    """Whether an operator returns one of its operands, or a view of one."""
    return any(one.alias_info for one in (*func._schema.arguments, *func._schema.returns))


@cache
def _is_composite(func: Any) -> bool:
    """Whether an operator is made of others, on every device."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")


def _numbers(one: OnGPU) -> torch.Tensor:
    return one.numbers


def _carried_out(func: Any, args: tuple, kwargs: dict) -> Any:
    """An operator on the CPU copies, its results on the device where they belong."""
    name = func.overloadpacket.__name__
    tensors = [one for one in _leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
    ours = [one for one in tensors if isinstance(one, OnGPU)]
    here = bool(ours)
    below = kwargs
    if kwargs.get("device") is not None:
        here = torch.device(kwargs["device"]).type in ("cuda", "xla")
        below = kwargs | {"device": torch.device("cpu")} if here else kwargs
    if name == "_fused_sdp_choice" and ours:
        # CUDA chooses a fused kernel only where one supports the operands, else these products.
        return 0
    if (here or ours) and _is_composite(func):  # comes whole in inference mode
        with _Below():
            return func.decompose(*args, **kwargs)
    if here or ours:
        _check(func, name, tensors, ours, here, args, kwargs)
    plain_args, plain = _mapped(OnGPU, _numbers, args), _mapped(OnGPU, _numbers, below)
    func_here = STAND_INS.get(f"{name}.{func._overloadname}", func)
    found = func_here(*plain_args, **plain)
    if _State.graph is not None and (here or ours):
        results = [one for one in _leaves([found]) if torch.is_tensor(one)]
        _State.graph.steps.append((func_here, plain_args, plain, results))
    if here:
        wrapped = _mapped(torch.Tensor, OnGPU, found)
        differentiated = torch.is_grad_enabled() and any(one.requires_grad for one in ours)
        _record(func, name, args, kwargs, wrapped, differentiated)
        found = wrapped
        if _aliases(func):
            found = return_and_correct_aliasing(func, args, kwargs, wrapped)
    return found


def _check(
    func: Any, name: str, tensors: list, ours: list, here: bool, args: tuple, kwargs: dict
) -> None:
    """Refuse what CUDA would refuse."""
    strangers = [one for one in tensors if not isinstance(one, OnGPU)]
    if ours and name not in COPIES:
        fills = name in ("fill_", "masked_fill", "masked_fill_", "where")
        alone = fills or torch.Tag.pointwise in func.tags  # one number may lie on the CPU
        for one in strangers:
            if one.ndim or not alone:
                raise WrongDevice(
                    f"{func}: a {one.dtype} tensor {tuple(one.shape)} of the CPU beside "
                    "tensors of cuda:0"
                )
    if _State.graph is not None:
        waits = {name, f"{name}.{func._overloadname}"} & WAITS or (ours and not here)
        by_mask = name in ("index", "index_put", "index_put_", "_index_put_impl_") and any(
            isinstance(one, torch.Tensor) and one.dtype in (torch.bool, torch.uint8)
            for one in _leaves([args[1]])
        )
        if waits or by_mask or any(one.ndim for one in strangers):
            raise NotCapturable(
                f"{func}: the host would have to wait, which a captured graph cannot"
            )


def _record(
    func: Any, name: str, args: tuple, kwargs: dict, results: Any, differentiated: bool
) -> None:
    if _State.gpu is None:
        return
    given = *map(_types, args), *((key, _types(value)) for key, value in kwargs.items())
    way = func, differentiated, given, _types(results)
    if way in _State.gpu.ways:
        return
    _State.gpu.ways.add(way)
    named = list(zip((one.name for one in func._schema.arguments), args, strict=False))
    operands = {
        (key, one.dtype)
        for key, value in [*named, *kwargs.items()]
        if key != "out"
        for one in _leaves([value])
        if isinstance(one, OnGPU)
    }
    made = dict.fromkeys(one.dtype for one in _leaves([results]) if isinstance(one, OnGPU))
    _State.gpu.calls[
        Call(
            name, func._overloadname, tuple(sorted(operands, key=str)), tuple(made), differentiated
        )
    ] = None


def _types(value: Any) -> Any:
    """The types of the tensors in an argument or a result, in its own form."""
    if isinstance(value, OnGPU):
        return value.dtype
    if isinstance(value, (list, tuple)):
        return tuple(map(_types, value))
    return None


class _Below(TorchDispatchMode):
    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        return _carried_out(func, args, kwargs or {})


class _Above(TorchFunctionMode):
    """Turns the word "cuda" into what C++ believes, before torch looks for a driver."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.device:
            return func(*args, **kwargs)
        if kwargs.pop("pin_memory", False) or func is torch.Tensor.pin_memory:
            if func is torch.Tensor.pin_memory:
                return args[0]
        if func is torch.Tensor.is_pinned:
            return False
        if func in (torch.tensor, torch.as_tensor) and kwargs.get("device") is not None:
            place = kwargs.pop("device")
            wants = kwargs.pop("requires_grad", False)
            made = func(*args, **kwargs).to(_below(place))
            return made.requires_grad_() if wants else made
        if func in FUSED and _State.gpu is not None and isinstance(args[0], OnGPU):
            kinds = tuple({(FUSED[func], one.dtype) for one in args[:3] if isinstance(one, OnGPU)})
            _State.gpu.calls[
                Call(FUSED[func], "fused", kinds, (args[0].dtype,), args[0].requires_grad)
            ] = None
        _check_generator(func, args, kwargs)
        return func(*map(_below, args), **{key: _below(value) for key, value in kwargs.items()})


def _check_generator(func: Any, args: tuple, kwargs: dict) -> None:
    """Refuse a generator of another device than the tensor that it fills; C++ forgets it."""
    if not isinstance(generator := kwargs.get("generator"), TorchGenerator):
        return
    on_gpu = any(isinstance(one, OnGPU) for one in _leaves(args))
    place = torch.device(kwargs.get("device") or (CUDA if on_gpu else "cpu"))
    if place.type != generator.device.type:
        raise WrongDevice(f"{func}: a generator of {generator.device} for a tensor of {place}")
    if _State.graph is not None:
        raise NotCapturable(f"{func}: a generator that the graph does not know")


@contextlib.contextmanager
def _modes() -> Iterator[None]:
    """What belongs to a thread; the backward pass stays in it, so that its operators are seen."""
    with torch.autograd.set_multithreading_enabled(False), _Above(), _Below():
        yield


@contextlib.contextmanager
def _guarded() -> Iterator[None]:
    """C++ asks each device for a guard, which holds its current stream. `BELOW` has none on a build
    for CPUs: it gets that of meta tensors, which does nothing.
    """
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    guards = (ctypes.c_void_p * DEVICE_TYPES).in_dll(
        library, "_ZN3c104impl26device_guard_impl_registryE"
    )
    before, guards[XLA] = guards[XLA], guards[META]
    try:
        yield
    finally:
        guards[XLA] = before


XLA, META, DEVICE_TYPES = 9, 14, 20  # c10/core/DeviceType.h

# Functions that CUDA has a kernel of its own for and a CPU has not: recorded beside their parts.
FUSED = {
    torch.rms_norm: "rms_norm",
    torch.nn.functional.rms_norm: "rms_norm",
    torch.nn.functional.scaled_dot_product_attention: "scaled_dot_product_attention",
}


def _below(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cuda":
        return BELOW
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return BELOW
    return value


class PretendedGPU:
    """See the module's docstring. `calls`: a dict used as a set in the order of first calls.

    `ways`: the operators and types of operands that are in `calls` already.
    """

    def __init__(self) -> None:
        self.calls: dict[Call, None] = {}
        self.ways: set[tuple] = set()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> PretendedGPU:
        patch = self._stack.enter_context(pytest.MonkeyPatch.context())
        _pretend(patch)
        self._stack.callback(_forget)
        self._stack.callback(
            torch.__future__.set_swap_module_params_on_conversion,
            torch.__future__.get_swap_module_params_on_conversion(),
        )
        torch.__future__.set_swap_module_params_on_conversion(True)  # weights keep their identity
        self._stack.enter_context(_guarded())
        self._stack.enter_context(_modes())
        patch.setattr(_State, "gpu", self)
        _forget()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)


def _forget() -> None:
    """Drop what modules keep for a device, so that no tensor of this GPU outlives it."""
    from lab import losses
    from lab.mathematics import estimators
    from lab.toy import maze_env

    for kept in (
        estimators.success_failure_on,
        losses._bernstein,
        maze_env.any_set,
        maze_env.held_out_set,
    ):
        kept.cache_clear()


def _pretend(patch: pytest.MonkeyPatch) -> None:
    """The parts of torch's Python that ask for a GPU say that there is one."""
    one_gpu = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "init": lambda: None,
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
        "is_bf16_supported": lambda including_emulation=True: True,
        "get_device_capability": lambda device=None: (9, 0),
        "get_device_name": lambda device=None: "a pretended GPU",
        "get_device_properties": lambda device=None: types.SimpleNamespace(
            name="a pretended GPU",
            major=9,
            minor=0,
            total_memory=80 * 2**30,
            multi_processor_count=132,
        ),
        "mem_get_info": lambda device=None: (80 * 2**30, 80 * 2**30),
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
        "get_rng_state": lambda device="cuda": torch.get_rng_state(),
        "set_rng_state": lambda state, device="cuda": None,
        "get_rng_state_all": lambda: [],
        "set_rng_state_all": lambda states: None,
        "current_stream": lambda device=None: Stream(),
        "Stream": Stream,
        "stream": lambda stream: contextlib.nullcontext(),
        "CUDAGraph": Graph,
        "graph": _capturing,
    }
    for name, value in one_gpu.items():
        patch.setattr(torch.cuda, name, value)
    patch.setattr(torch, "Generator", Generator)

    def run(thread: threading.Thread, real: Callable = threading.Thread.run) -> None:
        with _modes():
            real(thread)

    patch.setattr(threading.Thread, "run", run)

    def enter(mode: Any) -> None:
        mode.instead = torch.no_grad()
        mode.instead.__enter__()

    def leave(mode: Any, *error: Any) -> None:
        mode.instead.__exit__(*error)

    # In inference mode such tensors cannot be views of others; no_grad computes the same.
    patch.setattr(torch.inference_mode, "__enter__", enter)
    patch.setattr(torch.inference_mode, "__exit__", leave)
    from torch.utils import _foreach_utils

    patch.setattr(_foreach_utils, "_foreach_supported_types", [torch.Tensor, OnGPU])
    optimizer = import_module("torch.optim.optimizer")
    patch.setattr(
        optimizer, "_foreach_supported_types", [*optimizer._foreach_supported_types, OnGPU]
    )
    known = _foreach_utils._get_foreach_kernels_supported_devices()
    patch.setattr(
        _foreach_utils, "_get_foreach_kernels_supported_devices", lambda: [*known, BELOW.type]
    )
