"""SGD and AdamW of PyTorch, without the compiler that PyTorch's optimizers import.

PyTorch wraps the methods of its optimizers so that torch.compile treats them specially, and the
wrappers import torch._dynamo at their first call: more than two seconds in every process that
trains, as long as importing torch. The toy worlds compile no optimizer, so they call the wrapped
methods. Should PyTorch drop the wrappers, these are the same classes.
"""

from __future__ import annotations

import inspect

import torch
from torch.optim import Optimizer


class _Unwrapped(Optimizer):
    add_param_group = inspect.unwrap(Optimizer.add_param_group)
    load_state_dict = inspect.unwrap(Optimizer.load_state_dict)
    state_dict = inspect.unwrap(Optimizer.state_dict)
    zero_grad = inspect.unwrap(Optimizer.zero_grad)


class SGD(_Unwrapped, torch.optim.SGD):
    """`torch.optim.SGD`."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.SGD.step))


class AdamW(_Unwrapped, torch.optim.AdamW):
    """`torch.optim.AdamW`."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))
