"""torchvision, imported so that its CUDA file works beside a CPU build of torch. Floor 2."""

import sys

import torch
from torch import nn

_library = None


def define_torchvision_ops() -> None:
    """Name the two operators that torchvision's own file would define, where that file cannot load.

    Beside a CPU build of torch, torchvision's compiled part is not loadable and its import then misses these
    names. Call before the first import of torchvision or transformers; does nothing beside a CUDA build.
    """
    global _library
    if torch.version.cuda is not None or "torchvision" in sys.modules or _library is not None:
        return
    _library = torch.library.Library("torchvision", "FRAGMENT")  # the names live as long as this object
    for name in ("nms", "qnms"):
        _library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def basic_block(inside: int, out: int, stride: int = 1) -> nn.Module:
    """torchvision's residual block of two 3x3 convolutions, with a 1x1 shortcut where shapes differ."""
    define_torchvision_ops()
    from torchvision.models.resnet import BasicBlock
    shortcut = None if stride == 1 and inside == out else nn.Sequential(
        nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out))
    return BasicBlock(inside, out, stride, shortcut)
