"""Where the outputs of a lesson, executed again, are not the committed ones."""

import base64
import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from nbformat import NotebookNode
from PIL import Image

OWN_RUN = "own-run"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
# Of numbers and pictures that another processor makes of the same code.
RELATIVE, ABSOLUTE = 1e-6, 1e-9
PIXEL, SHARE = 16, 1e-3  # a pixel differs if a channel does by more; so many of them may


def differences(committed: NotebookNode, made: NotebookNode) -> list[str]:
    """Where the outputs of two notebooks with the same cells differ, a line each.

    Texts must agree but for the last digits of their numbers, and pictures but for a few pixels.
    Where the first notebook has the cell tag OWN_RUN, outputs need only be of the same kinds.
    """
    lines = []
    for place, (ours, theirs) in enumerate(zip(committed.cells, made.cells, strict=True)):
        if ours.cell_type != "code":
            continue
        if len(ours.outputs) != len(theirs.outputs):
            lines.append(f"cell {place}: {len(ours.outputs)} outputs, not {len(theirs.outputs)}")
            continue
        same_kinds = OWN_RUN in ours.metadata.get("tags", [])
        for first, second in zip(ours.outputs, theirs.outputs, strict=True):
            faults = _kind_faults(first, second) if same_kinds else _output_faults(first, second)
            lines += [f"cell {place}: {fault}" for fault in faults]
    return lines


def _output_faults(ours: NotebookNode, theirs: NotebookNode) -> Iterator[str]:
    if kinds := [*_kind_faults(ours, theirs)]:
        yield from kinds
        return
    second = _contents(theirs)
    for kind, content in _contents(ours).items():
        if kind == "image/png":
            if not same_picture(content, second[kind]):
                yield "another picture"
        elif not same_text(content, second[kind]):
            yield f"{content!r}, not {second[kind]!r}"


def _kind_faults(ours: NotebookNode, theirs: NotebookNode) -> Iterator[str]:
    one, other = (output.get("name", output.output_type) for output in (ours, theirs))
    if one != other:
        yield f"{one}, not {other}"
        return
    first, second = _contents(ours), _contents(theirs)
    if first.keys() != second.keys():
        yield f"shown as {', '.join(first)}, not {', '.join(second)}"


def _contents(output: NotebookNode) -> dict[str, Any]:
    if output.output_type == "stream":
        return {"text": output.text}
    # How wide a terminal is decides how pandas breaks a table as text; readers see it as HTML.
    beside_html = {"text/plain"} if "text/html" in output.data else set()
    return {kind: content for kind, content in output.data.items() if kind not in beside_html}


def same_text(ours: str, theirs: str) -> bool:
    """Whether two texts agree, their numbers up to the rounding of another processor."""
    if NUMBER.split(ours) != NUMBER.split(theirs):
        return False
    first, second = ([float(number) for number in NUMBER.findall(text)] for text in (ours, theirs))
    return np.allclose(first, second, rtol=RELATIVE, atol=ABSOLUTE)


def same_picture(ours: str, theirs: str) -> bool:
    """Whether two PNG files, in base64, agree but for a few pixels."""
    pixels = [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB"), dtype=int)
        for picture in (ours, theirs)
    ]
    if pixels[0].shape != pixels[1].shape:
        return False
    differ = (np.abs(pixels[0] - pixels[1]) > PIXEL).any(axis=-1)
    return bool(differ.mean() <= SHARE)
