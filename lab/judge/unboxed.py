r"""The answer of a response without a box: where it is said, and where what is said ends.

An answer is a run of mathematics between words, with the unit after it; "and" and "or" join runs,
so that 13 or 14 is neither 13 nor 14. It is looked for

1. after the last "the answer is", "####" or their like: the first run, or else the words;
2. without one, in the last sentence that has a number, up to its "since" or "because", and after
   the last verb in it that concludes ("is", "makes", "leaving"), if it has one: the one run that no
   "for", "of" or "in" makes a part of something else. Where two are left, the last, if it is an
   equation, or else none.
"""

import re

from lab.judge.units import read_multiple, read_unit

REACH = 4_000  # characters at the end of a response in which its answer is looked for

_DISPLAY = re.compile(r"\\\[[^\]]{1,400}\\\]|\$\$[^$]{1,400}\$\$")
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)|`")
_SIGN = re.compile(r"\b(?:minus|negative)\s+(?=[\d.$€£(√π\\])", re.IGNORECASE)
_RETRACTED = re.compile(
    r"\b(?:wait|actually|hold on|correction|oops|scratch that)\b", re.IGNORECASE
)
_CUE = re.compile(
    r"####|<answer>|(?:答案|答え|答)[是为為は：:\s]*"
    r"|\b(?:option|choice)\s(?=\(?[A-J]\b)"
    r"|\b(?:answers?|options?|choice|antwort|respuesta|resposta|risposta|réponse|ответ)\b"
    r"(?:[^.\n:=]{0,60}?(?:\b(?:is|are|be|lautet|ist|es|est|è|é)\b|[:=])|\W{0,4}\n|\s+[-–—]\s)",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"[.!?](?=[\s)\"”’]|$)|[。！？;\n—]|(?<=\S):(?=\s)|</|\b(?:so|thus|hence|therefore|i\.e\.)(?=\W)",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?<=\S)(?:[\s,(]+(?:since|because)|\s*[,(]\s*(?:as|where|when|if|using|which|whose))\b"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|equals?|makes?|making|gives?|giving|gets?|leaves?|leaving|has|have|becomes?"
    r"|comes to|totals?|costs?)\b"
)
_DENIED = re.compile(r"(?:\b(?:not|never|neither|nor|twice|half|double|triple)|n['’]t)\b")
_REFERS = re.compile(r"\s*(?:\w+ ){0,2}(?:than|times|of) [\d$]")
_PART_OF = re.compile(
    r"(?<!total )\b(?:of|than|from|by|for|per|in|within|with|on|after|before|every|at|over|until)"
    r"(?: the| all| these| those| each| every| another)?\W*$"
)
_JOINT = re.compile(
    r"[\s,(]*(?:(?:and|or|to|out of|but|maybe|perhaps|possibly|could|might|may|be|it|also|else|even"
    r"|alternatively|either)\s+)+"
)
_RUN = re.compile(
    r"(?:\$(?=[^\s$])[^$\n]{1,200}?(?<=\S)\$(?!\d)"
    r"|\\[A-Za-z]+(?:\s?\{[^{}]*\})*|\b(?:sin|cos|tan|sec|csc|cot|log|ln|exp|sqrt|pi)\b"
    r"|(?!\d+(?:st|nd|rd|th|-[a-z]{2,})\b)(?:\d[\d,.]*)?\d|(?<=\d)\s?[ap]\.?m\b\.?"
    r"|(?![aAI]\s+(?!and|or)[a-z]{2}|I['’])(?<![^\W\d_]['’])(?<![^\W\d_])[A-Za-zα-ω](?![^\W\d_²-¹⁰-₟])"
    r"|\b[a-z]{2,3}(?=\s*[+*/^])|[²-¹⁰-₟¼-¾⅐-⅞]|[^\w\n]|_)+"
)
_NUMBER = re.compile(r"[\d√π∞$]|\\[A-Za-z]{2}")
_AROUND = " \t\r≈~,:;*/•>'\"“”‘’?"  # marks that are no part of an answer
_UNIT = re.compile(r"\s?[A-Za-z][\w/^]*(?:\s[\w/^]+){0,3}")
_DELIMITED = re.compile(r"\$+([^$]+)\$+|\\\((.+)\\\)|\\\[(.+)\\\]")


def unboxed(response: str) -> str | None:
    """The answer that the end of a response gives, or None.

    >>> unboxed("The answer is (C), not 5."), unboxed("Tom ate 5 apples, Ann 3 pears.")
    ('(C)', None)
    """
    text = _DISPLAY.sub(lambda display: " ".join(display[0].split()), response[-REACH:])
    *_, text = _RETRACTED.split(_SIGN.sub("-", _BOLD.sub("", text)))
    *_, cue = [None, *_CUE.finditer(text)]
    parts = _STOP.split(text[cue.end() if cue else 0 :])
    sentences = [part for part in parts if part.strip(_AROUND)]
    if cue or not sentences:
        return _said(_REASON.split(sentences[0])[0]) if sentences else None
    numbered = (part for part in reversed(sentences) if _NUMBER.search(part))
    sentence = _REASON.split(next(numbered, sentences[-1]))[0]
    told = _NUMBER if _NUMBER.search(sentence) else re.compile(r"\w")
    verbs = [verb.end() for verb in _VERB.finditer(sentence) if told.search(sentence, verb.end())]
    return _alone(sentence[verbs[-1] :], True) if verbs else _alone(sentence, False)


def _said(clause: str) -> str | None:
    """What a clause says first."""
    heads = _heads(clause, _runs(clause, signed=True))
    return _shown(clause, heads[0]) if heads else _words(clause, 5)


def _alone(clause: str, after_verb: bool) -> str | None:
    """The one number, or else the one letter or few words, of a clause; or its last equation."""
    runs = _runs(clause, signed=after_verb)
    numbers = [run for run in runs if _NUMBER.search(clause, run.start, run.stop)]
    answers = list(dict.fromkeys(_shown(clause, run) for run in _heads(clause, numbers or runs)))
    if not answers:
        return _words(clause, 5 if after_verb else 2)
    return answers[-1] if len(answers) == 1 or "=" in answers[-1] else None


def _heads(clause: str, runs: list[slice]) -> list[slice]:
    """The runs that are no part of something else, as 7 is in "for 7 days", if there are any."""
    return [run for run in runs if not _PART_OF.search(clause, 0, run.start)] or runs


def _words(clause: str, most: int) -> str | None:
    """The words of a clause up to its comma, if they are few."""
    words = re.split(r"[,(]", clause)[0].strip(_AROUND)
    return words if 0 < len(words.split()) <= most else None


def _runs(clause: str, signed: bool) -> list[slice]:
    """The runs of a clause with their units; `signed`: a dash at its begin is a sign."""
    runs: list[slice] = []
    before = 0
    for match in _RUN.finditer(clause):
        run = _trimmed(clause, match, signed and not match.start())
        if run is None or run.start < before:  # the latter: a part of a unit
            continue
        if runs and _JOINT.fullmatch(clause, before, run.start):
            runs[-1] = slice(runs[-1].start, run.stop)
        elif not (_DENIED.search(clause, before, run.start) or _REFERS.match(clause, run.stop)):
            runs.append(run)
        before = run.stop
    return runs


def _trimmed(clause: str, match: re.Match[str], signed: bool) -> slice | None:
    """A run without the marks around it and with the unit after it; None if it says nothing."""
    run = match[0].strip(_AROUND)
    run = run if run.endswith("...") else run.rstrip(_AROUND + ".([=+-–−")
    run = run if signed else re.sub(r"^[-–−]\s+", "", run)
    if not re.search(r"[^\W_]|[∞∅]", run):
        return None
    if run.count("(") + run.count("[") > run.count(")") + run.count("]"):
        run = run.removeprefix("(")
    elif run.count("(") + run.count("[") < run.count(")") + run.count("]"):
        run = run.removesuffix(")")
    start = clause.rindex(run, match.start(), match.end())
    end = start + len(run)
    after = _UNIT.match(clause, end, end + 60) if run[-1].isalnum() else None
    named = re.split(r"\s+in\b", " " + after[0])[0].split() if after else []
    for count in range(len(named), 0, -1):
        multiple, noun = read_multiple(" ".join(named[:count]).rstrip("."))
        if read_unit(noun.replace("²", "^2").replace("³", "^3")) or (multiple > 1 and not noun):
            return slice(start, clause.index(named[count - 1], end) + len(named[count - 1]))
    return slice(start, end)


def _shown(clause: str, run: slice) -> str:
    """The text of a run without delimiters, and with a unit of one letter in LaTeX."""
    answer = clause[run]
    if delimited := _DELIMITED.fullmatch(answer):
        answer = delimited[delimited.lastindex or 0].strip()
    unit = re.search(r"(?<=\d)\s+([A-Za-z])$", answer)
    if unit and read_unit(unit[1]):
        answer = rf"{answer[: unit.start()]}\text{{ {unit[1]}}}"
    return answer
