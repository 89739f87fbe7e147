r"""One spelling for the many ways to write an answer: Unicode and LaTeX dialects become one LaTeX.

Nothing here knows what an answer means; the length of a text grows by a constant factor at most.
"""

import re
import unicodedata
from functools import partial
from pathlib import Path
from typing import Any

from lab.judge.formula_reader import FUNCTIONS, GREEK
from lab.project import read_toml

_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
_FILE = read_toml(Path(__file__).with_name("spellings.toml"))
WORDS = _FILE["words"]
_MARKS = str.maketrans(
    {mark: rf"\{name} " for mark, name in zip(_GREEK, GREEK, strict=True)}
    | {mark: meant for marks, meant in _FILE["signs"].items() for mark in marks}
)
_SYNONYMS: dict[str, str] = {
    name: meant for names, meant in _FILE["commands"].items() for name in names.split()
}
# Marks that Unicode calls another form of plainer ones, and what goes around those.
_FORMS = (
    (re.compile("[⁰¹²³⁴-⁹⁺⁻ⁿ]+"), "^{%s}"),
    (re.compile("[₀-₉]+"), "_{%s}"),
    (re.compile("[¼-¾⅐-⅞]"), r" \frac{%s}"),
    (re.compile("[！-～𝐀-𝚣\u2009\u202f\u00a0\u3000]+"), "%s"),
)


def _plainer(around: str, marks: re.Match[str]) -> str:
    """The plainer ones of some marks; those of a fraction's sides are parted by braces."""
    plain = unicodedata.normalize("NFKC", marks[0]).replace("\N{FRACTION SLASH}", "}{")
    return around % plain


def _synonym(match: re.Match[str]) -> str:
    name = _SYNONYMS.get(match[1], match[1])
    return name if name in "<>|()i" else "\\" + name


# What is written, and what it becomes, one after the other.
_REWRITTEN: list[tuple[re.Pattern[str], Any]] = [
    (re.compile(written.replace("FUNCTION", "|".join(sorted(FUNCTIONS)))), meant)
    for written, meant in _FILE["rewritten"]
] + [(re.compile(r"\\([A-Za-z]+)"), _synonym)]


def spell(text: str) -> str:
    r"""A text in one LaTeX: ASCII where it can be, `\text{...}` for words, no spacing commands.

    A dollar sign becomes `\dollar` where it is money. Letters and marks that are not known stay.

    >>> spell("½ – √51 ∪ x⁴"), spell(r"5~\mathrm{km}"), spell(r"\$1{,}200")
    ('\\frac{1}{2} - \\sqrt 51 \\cup x^{4}', '5 \\text{km}', '\\dollar 1,200')
    """
    if not text.isascii():
        for marks, around in _FORMS:
            text = marks.sub(partial(_plainer, around), text)
        text = text.translate(_MARKS)
    if r"\begin" not in text:
        text = text.replace("\\\\", "\\")  # a response that escaped its commands twice
    text = re.sub(r"\\(?:math|text)dollar(?![A-Za-z])|\\text\s*\{\s*\\?\$\s*\}", r"\\$", text)
    # A dollar sign before a number is money, unless dollars delimit the text.
    dollars = 0 if r"\$" in text else text.count("$")
    money = "" if dollars and dollars % 2 == 0 else r"\\dollar "
    text = re.sub(r"\\?\$(?=\s*-?[0-9.])", money, text).replace(r"\$", "").replace("$", "")
    for written, meant in _REWRITTEN:
        text = written.sub(meant, text)
    text = " ".join(text.split())
    while len(text) > 1 and text[-1] in ".;," and not text.endswith(("..", r"\,")):
        text = text[:-1].rstrip()
    return text


def plain_words(text: str) -> str:
    r"""The words of a spelt text without their `\text{...}`, in lower case and single spaces.

    >>> plain_words(r"\text{No Solution}")
    'no solution'
    """
    text = unwrapped(text).replace(r"\ ", " ")
    text = unicodedata.normalize("NFC", text)
    return " ".join(re.sub(r"[-.,;:!\"'()]", " ", text).split()).casefold()


def letters(text: str) -> str:
    r"""What must agree for two texts to be the same letter by letter.

    >>> letters(r"x^{2} + \text{ no }") == letters("x^2+no"), letters("1 2") == letters("12")
    (True, False)
    """
    text = re.sub(r"\{([^\\{}])\}", r"\1", unwrapped(spell(text)))
    return re.sub(r"(?<![0-9]) | (?![0-9])", "", text)


def unwrapped(text: str) -> str:
    r"""A spelt text without `\text{...}` around its words, as far as they hold no braces."""
    return " ".join(re.sub(r"\\text\{([^{}]*)\}", r" \1 ", text).split())
