"""A reward for short answers, of sweeps/length_shorter.toml: odd or even, said at once."""

import re


def parity(completions: list[str], answers: list[str]) -> list[int]:
    r"""1 where a completion is a box alone whose number is odd or even as the gold answer is.

    >>> parity([r"\boxed{8}", r"2+4=6. \boxed{6}", r"\boxed{7}", r"\boxed{}"], ["6"] * 4)
    [1, 0, 0, 0]
    """
    boxes = [re.fullmatch(r"\s*\\boxed\{(\d{1,6})\}\s*", said, re.ASCII) for said in completions]
    return [
        int(box is not None and int(box[1]) % 2 == int(gold) % 2)
        for box, gold in zip(boxes, answers, strict=True)
    ]
