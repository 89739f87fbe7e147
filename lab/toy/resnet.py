"""Image classifiers built of torchvision's networks."""

import torch
from torch import nn

from lab.training.rng import stream_seed


def fresh_network(
    seed: int, name: str, channels: int, size: int, classes: int, width: int
) -> nn.Module:
    """A network with initial weights that follow from `seed`; the global generator stays as it is.

    "small" has three of torchvision's basic blocks, the first with `width` channels. "resnet18" and
    "resnet50" are torchvision's own, for images of 32 pixels and more.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(seed, "weights"))
        if name == "small":
            return _small_resnet(channels, size, classes, width)
        from torchvision import models

        return getattr(models, name)(num_classes=classes)


def _small_resnet(channels: int, size: int, classes: int, width: int) -> nn.Module:
    """Three basic blocks between a stem and a linear layer.

    The stem's stride reduces larger images to about 16 pixels, which keeps a step cheap. The last
    layer sees up to 4 by 4 features without pooling, because in a network this shallow pooling
    would lose the positions.
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


def _block(channels: int, out: int, stride: int = 1) -> nn.Module:
    """torchvision's basic block, with a 1 by 1 convolution as shortcut where shapes change."""
    from torchvision.models.resnet import BasicBlock

    shortcut = None
    if stride != 1 or channels != out:
        shortcut = nn.Sequential(
            nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)
        )
    return BasicBlock(channels, out, stride, shortcut)
