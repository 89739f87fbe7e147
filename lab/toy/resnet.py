"""torchvision's networks, imported so that its CUDA file works beside a CPU build of torch. Floor
2.
"""

import torch
from torch import nn

from lab.rng import stream_seed
from lab.torchvision_ops import define_torchvision_ops


def fresh_network(
    seed: int, name: str, channels: int, size: int, classes: int, width: int
) -> nn.Module:
    """The network called `name`, its weights a function of `seed`; torch's global generator is left
    alone.

    "small" is three of torchvision's basic blocks with `width` channels at the first; "resnet18"
    and "resnet50" are torchvision's own, for `size` of 32 and more.
    """
    define_torchvision_ops()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(seed, "weights"))
        if name == "small":
            return _small_resnet(channels, size, classes, width)
        from torchvision import models

        return getattr(models, name)(num_classes=classes)


def _small_resnet(channels: int, size: int, classes: int, width: int) -> nn.Module:
    """The stem's stride brings images above 16 pixels down to about 16, so that a step stays cheap;
    what is left, up to 4 by 4, goes to the last layer unpooled, since a network this shallow would
    lose where things are.
    """
    stride = max(1, size // 16)
    side = min(4, size // stride // 4)
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        _block(width, width),
        _block(width, 2 * width, stride=2),
        _block(2 * width, 4 * width, stride=2),
        nn.AdaptiveAvgPool2d(side),
        nn.Flatten(),
        nn.Linear(side * side * 4 * width, classes),
    )


def _block(inside: int, out: int, stride: int = 1) -> nn.Module:
    from torchvision.models.resnet import BasicBlock

    shortcut = (
        None
        if stride == 1 and inside == out
        else nn.Sequential(nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out))
    )
    return BasicBlock(inside, out, stride, shortcut)
