r"""A worker's work: math-verify on pairs of untrusted texts.

It runs in a process of its own (`lab.judge.worker`), with an address space of `memory` MiB
(Linux; macOS does not hold this), an environment with nothing of the caller's but where modules
lie, and no right to write a file.

No text is ever run as code. math-verify has two ways to Python's `eval`, both through
`sympy.parse_expr`: its extractor of plain expressions, which is not used, and `sympy.Number` of a
digit string, which `prepare` replaces. What is left, its LaTeX grammar, builds a formula node by
node; and only what `extract.is_readable` lets through is sent here.

An exception that math-verify swallows reads as "different"; a lack of memory among them is told by
a worker that used over half of its room. So a failure may hide a right answer, and never makes a
wrong one right.
"""

import logging
import re
import resource
import signal
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

WARM = (
    ("(x+1)^2", "x^2+2x+1"),
    (r"2\sqrt{2}", r"\sqrt{8}"),
    (r"\{1,2\}", "2,1"),
    ("(1,2]", "[1,2]"),
    ("x<3", "x>3"),
)


def work(seconds: str, memory: str) -> Generator[str, tuple[str, str], None]:
    """Yields "ready", then one reason for each pair (answer, gold) that it is sent.

    The process ends by SIGPROF where a comparison takes more than `seconds` of CPU time, of this
    process alone. `memory` is in MiB.
    """
    limit = int(memory)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with suppress(ValueError, OSError):  # macOS may refuse
        resource.setrlimit(resource.RLIMIT_AS, (limit << 20, limit << 20))
    logging.disable()
    prepare()
    for pair in WARM:  # the first of each kind takes up to half a second
        compare(*pair)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    tight = (limit + peak()) / 2  # MiB: half of the room that is left
    reply = "ready"
    while True:
        pair = yield reply
        signal.setitimer(signal.ITIMER_PROF, float(seconds))
        reply = compare(*pair)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if reply != "equivalent" and peak() > tight:
            reply = "memory"


def compare(answer: str, gold: str) -> str:
    """equivalent, different, unreadable, unreadable gold, memory or crash. May never return."""
    from math_verify import LatexExtractionConfig, parse, verify

    def read(text: str) -> list:
        return parse(
            rf"\boxed{{{text}}}",
            [LatexExtractionConfig(boxed_match_priority=0)],
            "no_fallback",
            "first_match",
            parsing_timeout=None,
            raise_on_error=True,
        )

    try:
        expected = read(gold)
        actual = read(answer)
        if not (expected and actual):
            return "unreadable" if expected else "unreadable gold"
        equivalent = verify(expected, actual, timeout_seconds=None, raise_on_error=True)
        return "equivalent" if equivalent else "different"
    except MemoryError:
        return "memory"
    except Exception:  # whatever sympy raises, this comparison has no result
        return "crash"


def prepare() -> None:
    """Change two things in math-verify's LaTeX parser; neither changes what it reads.

    Safety: a number becomes a sympy Integer or Float directly. Speed, tenfold: ANTLR predicts in
    two stages, SLL and, where that fails, LL. Under SLL "the parser will either return a correct
    parse tree (i.e. the same parse tree that would be returned with the LL prediction mode), or it
    will report a syntax error" (ANTLR 4, PredictionMode.SLL), and an error of syntax raises here.
    """
    import math_verify.parser
    from antlr4.atn.PredictionMode import PredictionMode
    from latex2sympy2_extended import latex2sympy2
    from sympy import Float, Integer

    create = latex2sympy2._Latex2Sympy.create_parser
    read = latex2sympy2.latex2sympy
    mode = PredictionMode.SLL

    def create_parser(self: Any, text: str) -> Any:
        parser = create(self, text)
        parser._interp.predictionMode = mode
        return parser

    def staged(*arguments: Any, **options: Any) -> Any:
        nonlocal mode
        try:
            mode = PredictionMode.SLL
            return read(*arguments, **options)
        except Exception:
            mode = PredictionMode.LL
            return read(*arguments, **options)

    def numeral(text: str) -> Any:
        text = text.replace(",", "").replace(" ", "")
        return Integer(int(text)) if text.isdecimal() else Float(text)

    latex2sympy2._Latex2Sympy.create_parser = create_parser
    math_verify.parser.latex2sympy = staged
    latex2sympy2._Latex2Sympy.parse_number = lambda self, text: numeral(text)
    latex2sympy2.Number = numeral


def peak() -> float:
    """The largest address space this process had, MiB; 0 where the system does not say."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    match = re.search(r"VmPeak:\s*(\d+)", status.read_text())
    assert match is not None  # Linux writes this line for every process
    return int(match[1]) / 1024
