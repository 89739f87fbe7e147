r"""What a response answers: the last box after the thought, or what its end says in words.

Everything here is linear in the length of the text.
"""

import re
from collections import deque

from lab.judge.unboxed import unboxed

MAX_LENGTH = 500  # characters of an answer
MAX_DEPTH = 20  # brackets inside brackets
MAX_BOX = 10_000  # characters in which the brace of a box is looked for
MAX_BOXES = 10  # boxes that may be one answer
MAX_GAP = 60  # characters between two of them

_TAG = r"(?:think(?:ing)?|thoughts?|reasoning|reflection)"
_THOUGHT_OPENS = re.compile(rf"<\|?{_TAG}\|?>|\[THINK\]|◁think▷", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"<\|?/{_TAG}\|?>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_BLANK = re.compile(r"(?:[\s?_.…]|\\[,;:! ]|\\(?:[lc]?dots|quad)(?![A-Za-z]))*")
_BOX = re.compile(
    r"\\boxed(?:\s{0,3}\{|\s{0,3}(?P<bare>-?[0-9]+(?:[.,/][0-9]+)*)|\s{1,3}(?P<letter>[A-Za-z])(?![A-Za-z]))"
)
_MARK = r"[$*]|\\[,;:! ()\[\]]|\\q?quad(?![a-z])"  # that mean nothing between boxes
_GAP = rf"(?:\s|{_MARK})*"
_NAME = r"[A-Za-z](?:_\{?[A-Za-z0-9]\}?)?\s*=\s*"
_LABEL = re.compile(rf"(?<![A-Za-z\\]){_NAME}$")
_JOINT = re.compile(  # what may stand between the boxes of one answer
    rf"(?:(?:[^\S\n]|\.|{_MARK})*|{_GAP}(?:(?:[,;&]|and|or|alternatively|else|even|maybe|perhaps"
    rf"|possibly|\\(?:text|mathrm|mbox)\{{\s*,?\s*(?:and|or)\s*\}}){_GAP})+)"
    rf"(?:(?P<label>{_NAME}){_GAP})?"
)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def extract(response: str, style: str) -> str | None:
    r"""The answer given in a response, or None.

    "strict": what stands in the last \boxed{...} after the thought, if it is not cut or empty.
    "lenient": the same, and where there is no box what the end says in words (`unboxed`).
    A thought is what ends with </think>, or begins with <think> and does not end: no answer.

    >>> extract(r"It is \boxed{\frac{1}{2}}, not 3.", "strict"), extract("So it is 7.", "lenient")
    ('\\frac{1}{2}', '7')
    """
    *_, said = _THOUGHT_ENDS.split(response)
    if _THOUGHT_OPENS.search(said):
        return None
    answer = _boxed(said) if _BOX.search(said) or style == "strict" else unboxed(said)
    return answer.strip() if answer and not _BLANK.fullmatch(answer) else None


def _boxed(text: str) -> str | None:
    r"""What stands in the last \boxed{...} or \boxed 5; None without one, or if it stays open.

    Boxes that nothing, commas, "and" or "or" separate are one: x = \boxed{2} or x = \boxed{3}.
    """
    answers: list[str] = []
    start = 0
    for box in reversed(deque(_BOX.finditer(text), maxlen=MAX_BOXES)):
        inside, end = _inside(text, box)
        near = answers and inside and start - end <= MAX_GAP
        joint = _JOINT.fullmatch(text, end, start) if near else None
        if answers and joint is None:
            break
        if inside is None:
            return None
        if joint and joint["label"]:
            answers[0] = joint["label"] + answers[0]
        start = box.start()
        answers.insert(0, inside.strip())
    if len(answers) > 1 and (first := _LABEL.search(text, max(0, start - 20), start)):
        answers[0] = first[0] + answers[0]
    return ", ".join(dict.fromkeys(answers)) if answers else None


def _inside(text: str, box: re.Match[str]) -> tuple[str | None, int]:
    """What stands in a box, and where it ends; None if it stays open."""
    if bare := box["bare"] or box["letter"]:
        return bare, box.end()
    depth, end = 1, box.end() + MAX_BOX
    for brace in _BRACE.finditer(text, box.end(), end):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[box.end() : brace.start()], brace.end()
    too_long = text[box.end() : end].strip()
    return (too_long if end < len(text) and len(too_long) > MAX_LENGTH else None), end
