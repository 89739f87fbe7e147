"""Lets torchvision's public build, which is CUDA's, be imported beside a CPU build of torch.

`tools/install.py` puts this file into an environment that holds the two, with a .pth file that
imports it when Python starts: pip's sources may offer a CPU build of torch and none of torchvision.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys

_library = None


class BeforeTorchvision:
    """One of Python's finders: it finds nothing, but defines operators before torchvision's import.

    The compiled part of torchvision's public build does not load beside a CPU build of torch. The
    import of torchvision, which most of transformers, TRL and all of vLLM need, then misses two
    operators. Nothing is imported before torchvision itself is.
    """

    done = False

    def find_spec(self, name, path=None, target=None):
        if name == "torchvision" and not self.done:
            self.done = True  # first: what is asked below looks for torchvision again
            define_operators()


def define_operators() -> None:
    """Define the operators unless torchvision does so itself; twice would end the process."""
    global _library
    import torch

    if (
        torch.version.cuda is not None
        or hasattr(torch.ops.torchvision, "nms")
        or compiled_part_loads()
    ):
        return
    # The operators exist as long as this object.
    _library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        _library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def compiled_part_loads() -> bool:
    """Whether torchvision's file of operators loads; it is found as torchvision's import does."""
    import torch

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


sys.meta_path.insert(0, BeforeTorchvision())
