"""The state of training as named tensors: what a checkpoint holds, and how it is put back. Floor 1."""

from __future__ import annotations

import torch

from lab.errors import LabError


def snapshot(model: torch.nn.Module, optimizer: torch.optim.Optimizer, step: int) -> dict[str, torch.Tensor]:
    """Weights, buffers, optimiser state and step as named tensors; random streams need none (see `lab.rng`)."""
    tensors = {f"model/{key}": value for key, value in model.state_dict().items()}
    for index, slots in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{index}/{key}": value for key, value in slots.items() if torch.is_tensor(value)}
    return {key: value.detach().clone() for key, value in tensors.items()} | {"step": torch.tensor(step)}


def restore(model: torch.nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, torch.Tensor]) -> int:
    """Put a snapshot back; returns its step. A snapshot of another model is an error."""
    try:
        model.load_state_dict({k.removeprefix("model/"): v for k, v in state.items() if k.startswith("model/")})
    except RuntimeError as error:
        said = str(error).splitlines()[0]
        raise LabError(f"the checkpoint is of another model ({said}): remove the run folder") from error
    slots: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in state.items():
        if key.startswith("optimizer/"):
            _, index, name = key.split("/")
            slots.setdefault(int(index), {})[name] = value.clone()  # AdamW writes into it
    optimizer.load_state_dict(optimizer.state_dict() | {"state": slots})
    return int(state["step"])
