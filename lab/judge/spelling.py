r"""One spelling for the many ways to write an answer: Unicode and LaTeX dialects become one LaTeX.

Nothing here knows what an answer means; the length of a text grows by a constant factor at most.
"""

import re
import unicodedata

from lab.judge.formula_reader import FUNCTIONS, GREEK

_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", [*"0123456789+-", "n"], strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_FRACTIONS = "½12 ⅓13 ⅔23 ¼14 ¾34 ⅕15 ⅖25 ⅗35 ⅘45 ⅙16 ⅚56 ⅛18 ⅜38 ⅝58 ⅞78"
_GREEK = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", GREEK, strict=True))
_SIGNS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "×": r"\times ", "÷": r"\div ",
    "·": r"\cdot ", "⋅": r"\cdot ", "∙": r"\cdot ", "•": r"\cdot ", "∗": "*", "∞": r"\infty ",
    "√": r"\sqrt ", "∛": r"\sqrt[3]", "≤": r"\le ", "≥": r"\ge ", "⩽": r"\le ", "⩾": r"\ge ",
    "≡": r"\equiv ", "≠": r"\ne ", "≈": r"\approx ", "±": r"\pm ", "∓": r"\mp ", "∪": r"\cup ",
    "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}",
    "°": r"^\circ ", "º": r"^\circ ", "℃": r"^\circ C", "′": "'", "’": "'", "∶": ":",
    "…": r"\ldots ", "⋯": r"\ldots ", "€": r"\euro ", "£": r"\sterling ", "¥": r"\yen ",
    "₹": r"\rupee ", "ı": "i", "⟨": r"\langle ", "⟩": r"\rangle ",
    "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "∣": "|",
    "∖": r"\setminus ", "∘": r"\circ ", "⇒": r"\Rightarrow ", "⟹": r"\implies ",
    "\u2009": " ", "\u202f": " ", "\u00a0": " ", "\u3000": " ", "“": '"', "”": '"',
}  # fmt: skip
_FOLD: dict[int, str] = (
    {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0x1D400, 0x1D6A4)}
    | {ord(mark): text for mark, text in _SIGNS.items()}
    | {ord(mark): rf"\{name} " for mark, name in _GREEK.items()}
    | {ord(mark[0]): rf" \frac{{{mark[1]}}}{{{mark[2]}}}" for mark in _FRACTIONS.split()}
)
_RAISED = re.compile(f"[{''.join(_SUPERSCRIPTS)}]+")
_LOWERED = re.compile(f"[{''.join(_SUBSCRIPTS)}]+")
_SPACE = re.compile(
    r"(?<!\\)\\[,;: ]|~|\\(?:quad|qquad|enspace|thinspace|space|hspace\{[^{}]*\})(?![A-Za-z])"
)
_NOTHING = re.compile(
    r"\\(?:left|right)\s*\.|(?<!\\)\\!"
    r"|\\(?:left|right|middle|bigg?|Bigg?|bigg?[lrm]|Bigg?[lrm]|displaystyle|textstyle|limits"
    r"|nolimits|rm|bf|it|bfseries|tiny|small|large|Large|LARGE|huge|Huge|ensuremath)(?![A-Za-z])"
    r"|\\phantom\s*\{[^{}]*\}|\\(?:text)?color\s*\{[A-Za-z0-9!]+\}"
)
_SYNONYMS = {
    "leq": "le", "leqslant": "le", "geq": "ge", "geqslant": "ge", "neq": "ne", "lt": "<", "gt": ">",
    "dots": "ldots", "cdots": "ldots", "dotsc": "ldots", "varnothing": "emptyset",
    "varepsilon": "epsilon", "varphi": "phi", "degree": "circ", "lbrace": "{", "rbrace": "}",
    "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "land": "text{ and }",
    "lor": "text{ or }", "vee": "text{ or }", "wedge": "text{ and }", "ast": "cdot",
    "bigcup": "cup", "bigcap": "cap", "pounds": "sterling",
    "backslash": "setminus", "smallsetminus": "setminus", "imath": "i",
    "dbinom": "binom", "tbinom": "binom", "bar": "overline", "simeq": "approx",
}  # fmt: skip
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|textnormal|textsf|texttt|mathrm|mathbf|mathit|mathsf|mathtt"
    r"|mathnormal|boldsymbol|bm|mbox|hbox|emph|bold)\s*\{"
)
_FONT = re.compile(r"\\(?:math(?:rm|bf|it|sf)|boldsymbol|bm)\s+([A-Za-z])(?![A-Za-z])")
_UNIT_POWER = re.compile(r"(\\text\{[A-Za-z /]+)\^\{(-?[0-9])\}(?=[^{}]*\})")
_UNIT_FRACTION = re.compile(  # \frac{\text{m}}{\text{s}} after a number
    r"(?<=[0-9}])(\s*)\\frac\s*\{\s*\\text\{([^{}]*)\}\s*\}"
    r"\s*\{\s*\\text\{([^{}]*)\}\s*(\^\s*\{?[0-9]\}?)?\s*\}"
)
_CHOOSE = re.compile(  # _nC_k, and P for those in an order
    r"(?:\{\s*\})?\s*[_^]\s*(?:\{\s*([0-9]+)\s*\}|([0-9]))\s*(?:\\text\{)?([CP])\}?"
    r"\s*_\s*(?:\{\s*([0-9]+)\s*\}|([0-9]))"
)
_ORDINAL = re.compile(r"(?<=[0-9])\s*\^?\s*\{?\s*\\text\{\s*(?:st|nd|rd|th)\s*\}\s*\}?")
_CENT = re.compile(r"\\(?:text|mathrm)\{\s*¢\s*\}|\\(?:text)?cent(?![A-Za-z])|¢")
_MARK = re.compile(r"\\math(?:bin|rel|ord|punct)\s*\{([^{}]*)\}")
_OPERATOR = re.compile(r"\\operatorname\*?\s*\{\s*([A-Za-z]+)\s*\}")
_COMPOSED = re.compile(r"\(\s*([A-Za-z])\s*\\circ\s*([A-Za-z])\s*\)\s*\(([^()]*)\)")  # (g∘f)(x)


def spell(text: str) -> str:
    r"""A text in one LaTeX: ASCII where it can be, `\text{...}` for words, no spacing commands.

    A dollar sign becomes `\dollar` where it is money. Letters and marks that are not known stay.

    >>> spell("½ – √51 ∪ x⁴"), spell(r"5~\mathrm{km}"), spell(r"\$1{,}200")
    ('\\frac{1}{2} - \\sqrt 51 \\cup x^{4}', '5 \\text{km}', '\\dollar 1,200')
    """
    if not text.isascii():
        text = _RAISED.sub(lambda m: "^{" + "".join(_SUPERSCRIPTS[c] for c in m[0]) + "}", text)
        text = _LOWERED.sub(lambda m: "_{" + "".join(_SUBSCRIPTS[c] for c in m[0]) + "}", text)
        text = text.translate(_FOLD)
    text = _MARK.sub(r"\1", _CENT.sub(r"\\text{ cents}", text))
    if r"\begin" not in text:
        text = text.replace("\\\\", "\\")  # a response that escaped its commands twice
    text = re.sub(r"\\(?:math|text)dollar(?![A-Za-z])|\\text\s*\{\s*\\?\$\s*\}", r"\\$", text)
    text = re.sub(r"\\?\$(?=\s*-?[0-9.])", _money(text), text).replace(r"\$", "").replace("$", "")
    text = re.sub(r",\s*\\!\s*(?=[0-9]{3})", ",", text)  # 10,\! 080
    text = (
        _SPACE.sub(" ", _NOTHING.sub("", text))
        .replace("{,}", ",")
        .replace(r"\%", "%")
        .replace("{:}", ":")
    )
    text = re.sub(r"(?<!\\)\\[()\[\]]", "", text)
    text = re.sub(r"\\[dtc]frac(?![A-Za-z])", r"\\frac", text)
    text = _OPERATOR.sub(lambda m: rf"\{m[1]} " if m[1] in FUNCTIONS else m[0], text)
    text = _TEXT.sub(r"\\text{", _FONT.sub(r"\\text{\1}", text))
    text = re.sub(r"\\text\{\s*(sin|cos|tan|cis|ln|log|infinity)\s*\}", r"\\\1 ", text)
    text = _ORDINAL.sub("", text)
    text = _COMPOSED.sub(r"\1(\2(\3))", text)
    text = re.sub(r"\\mu\s*\\text\{\s*(?=[ms]\s*\})", r"\\text{u", text)
    text = _UNIT_POWER.sub(r"\1^\2", text)
    text = _UNIT_FRACTION.sub(r"\1\\text{\2/\3\4}", text)
    text = _CHOOSE.sub(_chosen, text)
    text = _COMMAND.sub(_synonym, text)
    text = " ".join(text.split())
    while len(text) > 1 and text[-1] in ".;," and not text.endswith(("..", r"\,")):
        text = text[:-1].rstrip()
    return text


def _money(text: str) -> str:
    r"""What a dollar sign before a number means: money, unless dollars delimit the whole text."""
    bare = text.replace(r"\$", "").strip()
    delimits = bare.count("$") % 2 == 0 and "$" in bare
    if r"\$" in text and not delimits:
        return r"\\dollar "
    return "" if delimits and r"\$" not in text else r"\\dollar "


def _chosen(match: re.Match[str]) -> str:
    """The number of ways to choose k of n, in no order (C) or in order (P)."""
    n, kind, k = match[1] or match[2], match[3], match[4] or match[5]
    return rf"\binom{{{n}}}{{{k}}}" + ("" if kind == "C" else rf"\cdot {k}!")


def _synonym(match: re.Match[str]) -> str:
    name = _SYNONYMS.get(match[1], match[1])
    if name in "<>|i":
        return name
    return "\\" + name


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
