"""torchvision's import beside a CPU build of torch. Floor 1."""

import importlib.machinery
import importlib.util

import torch

_library = None


def define_torchvision_ops() -> None:
    """Name the two operators that torchvision's own file would define, where that file cannot load.

    The compiled part of a CUDA build of torchvision does not load beside a CPU build of torch, and
    torchvision's import, which most of transformers and all of vLLM need, then misses these names.
    Where it does load (a Mac, PyTorch's CPU build of torchvision) it defines them itself, and would
    end the process if they were there already. Call before the first import of any of the three;
    does nothing where the names exist, or beside a CUDA build.
    """
    global _library
    if (
        torch.version.cuda is not None
        or hasattr(torch.ops.torchvision, "nms")
        or _compiled_part_loads()
    ):
        return
    _library = torch.library.Library(
        "torchvision", "FRAGMENT"
    )  # the names live as long as this object
    for name in ("nms", "qnms"):
        _library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def _compiled_part_loads() -> bool:
    """Whether torchvision's file of operators loads here; torchvision's own import looks so too."""
    package = importlib.util.find_spec("torchvision")
    for folder in package.submodule_search_locations if package else ():
        loader = importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES
        found = importlib.machinery.FileFinder(folder, loader).find_spec("_C")
        if found is None:
            continue
        try:
            torch.ops.load_library(found.origin)
        except OSError:
            return False
        return True
    return False
