"""Lets a CUDA build of torchvision be imported beside a CPU build of torch."""

import importlib.machinery
import importlib.util

import torch

_library = None


def define_torchvision_ops() -> None:
    """Define the two operators of torchvision's compiled part, where that part cannot load.

    The compiled part of a CUDA build of torchvision does not load beside a CPU build of torch. The
    import of torchvision, which most of transformers and all of vLLM need, then misses these
    operators. Where the part does load (a Mac, PyTorch's CPU build of torchvision) it defines them
    itself, and would end the process if they existed already. Call this before the first import of
    any of the three. It does nothing where the operators exist, or with a CUDA build of torch.
    """
    global _library
    if (
        torch.version.cuda is not None
        or hasattr(torch.ops.torchvision, "nms")
        or _compiled_part_loads()
    ):
        return
    # The operators exist as long as this object.
    _library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        _library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def _compiled_part_loads() -> bool:
    """Whether torchvision's file of operators loads; it is found as torchvision's import does."""
    package = importlib.util.find_spec("torchvision")
    folders = package.submodule_search_locations if package else None
    loader = importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES
    for folder in folders or ():
        extension = importlib.machinery.FileFinder(folder, loader).find_spec("_C")
        if extension is None:
            continue
        try:
            torch.ops.load_library(extension.origin)
        except OSError:
            return False
        return True
    return False
