r"""What an answer is: a value, a list, an interval, a choice, a time, words, ...

`read` gives the meaning of a text as one of the classes below, or refuses it (`Unreadable`). It is
linear in the length of the text, which is at most `extract.MAX_LENGTH`, and runs nothing.

Conventions: capital letters side by side are an ordering and not a product; (A) and A are choices;
digits with an index that is a number are a number in that base; 1,234 is one number outside of
brackets.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from lab.judge.extract import MAX_DEPTH, MAX_LENGTH
from lab.judge.formula_reader import Reader, Token, Tree, Unreadable, number, tokens
from lab.judge.spelling import plain_words, spell, unwrapped
from lab.judge.units import DEGREE, DOLLAR, EURO, PERCENT, Unit, read_unit

OPENING, CLOSING = ("(", "[", "{", r"\{", r"\langle"), (")", "]", "}", r"\}", r"\rangle")
RELATIONS = ("=", "<", ">", r"\le", r"\ge", r"\ne", r"\approx", r"\in", r"\equiv")


@dataclass(frozen=True)
class Value:
    """A formula, with the unit after it and the label before it, as in x = 5 cm.

    `others`: the formulas that stand beside it in a chain of equations; `near` those after ≈.
    """

    tree: Tree
    unit: Unit | None = None
    label: str = ""
    others: tuple[Tree, ...] = ()
    near: tuple[Tree, ...] = ()


@dataclass(frozen=True)
class Several:
    """Items in brackets: "" (a bare list), "()", "[]", "(]", "[)" or "{}" (a set)."""

    brackets: str
    items: tuple["Answer", ...]


@dataclass(frozen=True)
class Union:
    """Sets and intervals that are joined by ∪, or inequalities joined by "or"."""

    parts: tuple["Answer", ...]


@dataclass(frozen=True)
class Relation:
    """A chain of formulas: `signs[i]` stands between `sides[i]` and `sides[i + 1]`."""

    sides: tuple[Tree, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """An option, and what is written after its letter."""

    letter: str
    rest: "Answer | None" = None


@dataclass(frozen=True)
class InBase:
    """Digits in a base: 2516_8."""

    digits: str
    base: int


@dataclass(frozen=True)
class Time:
    """A time of day; `half`: am, pm or nothing."""

    hour: int
    minute: int
    second: int
    half: str


@dataclass(frozen=True)
class Ratio:
    """a:b, a:b:c."""

    terms: tuple[Tree, ...]


@dataclass(frozen=True)
class Matrix:
    """Rows of formulas."""

    rows: tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True)
class Words:
    """Text, in lower case without punctuation; `written`: its letters as they stand."""

    text: str
    written: str = field(default="", compare=False)


@dataclass(frozen=True)
class Residue:
    """The whole numbers that leave `value` when divided by `modulus`."""

    value: int
    modulus: int


Answer = (
    Value | Several | Union | Relation | Choice | InBase | Time | Ratio | Matrix | Words | Residue
)

NOTHING = Words("no solution")
_NOTHING = frozenset(
    "no solution|no solutions|no real solution|no real solutions|none|empty set|the empty set"
    "|undefined|does not exist|dne|no such number|no real roots|nonexistent".split("|")
)
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS = dict(zip(_ONES, range(20), strict=True)) | {
    f"{tens} {_ONES[one]}" if one else tens: 10 * ten + one
    for ten, tens in enumerate(_TENS, start=2)
    for one in range(10)
}
_CHOICE = re.compile(
    r"(?:(?:option|choice|answer)\s+)?(?:\(\s*([A-J])\s*\)|([A-J])\s*[).:])\s*[.:]?\s*(.*)",
    re.DOTALL,
)
_TIME = re.compile(
    r"(\d{1,2})(?::([0-5]\d))?(?::([0-5]\d))?\s*"
    r"(a\.?\s?m\.?|p\.?\s?m\.?|noon|midnight|o'clock)?", re.IGNORECASE
)  # fmt: skip
_BASE = re.compile(
    r"(-?)\s*\(?\s*([0-9][0-9A-Z]*(?:[ ,][0-9A-Z]+)*(?:\.[0-9A-Z]+)?)\s*\)?\s*"
    r"(?:_\s*\{?\s*(?:\\text\{)?\s*(\d{1,2}|[a-z]+)\s*\}?\s*\}?"
    r"|\s*(?:\\text\{)?\s*\(?\s*(?:in\s+)?base[\s-]+(\d{1,2}|[a-z]+)\s*\)?\s*\}?)"
)
_BASES = dict(
    zip(
        "two three four five six seven eight nine ten eleven twelve sixteen".split(),
        [*range(2, 13), 16],
        strict=True,
    )
)
_LETTERS = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")
_UNIT_TEXT = re.compile(
    r"(?P<before>.*?[0-9}!)\]a-zA-Z.]|.*?\\pi)\s*(?P<unit>(?:\\text\{[^{}]*\}|\^\s*\{?\s*-?[0-9]\s*\}?"
    r"|\s|\*|\\cdot|/|(?<=[\s/}0-9])[A-Za-z]+\.?)+)", re.DOTALL
)  # fmt: skip
_DEGREES = re.compile(
    r"(?P<before>.*?[0-9})])\s*\^?\s*(?:\{\s*\\circ\s*\}|\\circ)\s*(?P<scale>\\text\{\s*[CF]\s*\}|[CF])",
    re.DOTALL,
)
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*\\text\{([A-Za-z ]+)\}")
_QUANTITIES = re.compile(rf"(?:\s*{_QUANTITY.pattern}){{2,4}}\s*")
_DOLLARS = re.compile(r"(-?)\s*\\(dollar|euro)\s*(.*)", re.DOTALL)
_BETWEEN = re.compile(r"\\text\{\s*,?\s*(or|and)\s*,?\s*\}|(?<![A-Za-z\\])(or|and)(?![A-Za-z])")
_CONDITION = re.compile(
    r"\\\{\s*[a-z]\s*(?:\\in\s*\\mathbb\s*\{?R\}?\s*)?[|:]\s*(.*?)\s*\\\}", re.DOTALL
)
_MATRIX = re.compile(r"\\begin\{([pbv]?matrix)\}(.*)\\end\{\1\}", re.DOTALL)
_ARRAY = re.compile(r"[(\[]\s*\\begin\{array\}\s*\{[lcr| ]*\}(.*)\\end\{array\}\s*[)\]]", re.DOTALL)
_ROWS = re.compile(r"\\\\(?:\[[^\]]*\])?")  # \\ and \\[2mm] between rows
_CASES = re.compile(
    r"(?:(?P<label>[^=]*?)\s*=\s*)?(?:\\begin\{cases\}(?P<cases>.*)\\end\{cases\}"
    r"|\\\{\s*\\begin\{array\}\s*\{[lcr| ]*\}(?P<array>.*)\\end\{array\})", re.DOTALL
)  # fmt: skip
_IF = re.compile(r"\\text\{\s*,?\s*(?:if|for|when|where)\s*\}")
_RESIDUE = re.compile(
    r"(?:[A-Za-z]\s*\\equiv\s*(?P<value>-?[0-9]+)\s*(?:\\[pb]?mod\s*|\(\s*(?:\\[b]?mod\s*"
    r"|\\text\{\s*mod\s*\}\s*|mod\s*))|(?P<alone>-?[0-9]+)\s*\\pmod\s*)"
    r"\{?\s*(?P<modulus>[0-9]+)\s*\}?\s*\)?"
)
_INTEGER = r"(?:an |any |some |is an |is any )?integer"
_QUANTIFIED = re.compile(
    r"(?P<formula>.*?)\s*(?:[,;]\s*|(?=\())(?:\\text\{[^{}]*\}\s*)?\(?\s*(?:"
    rf"(?P<letter>[a-z])\s*(?:\\in\s*\\mathbb\s*\{{?\s*Z\s*\}}?|\\text\{{\s*{_INTEGER}\s*\}})"
    rf"|\\text\{{\s*(?:for )?{_INTEGER}\s*\}}\s*(?P<after>[a-z]))\s*\)?", re.DOTALL
)  # fmt: skip
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DATE = re.compile(
    rf"(?P<month>{_MONTHS}) (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?"
    rf"|(?P<first>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<then>{_MONTHS})"
)


def read(text: str) -> Answer:
    r"""The meaning of an answer. Errors: `Unreadable`.

    >>> read("x=5").label, read(r"\textbf{(A)}\ 12").letter, read("2516_8").base
    ('x', 'A', 8)
    """
    if not 0 < len(text) <= MAX_LENGTH:
        raise Unreadable("an answer without text, or a long one")
    spelt = _without_box(spell(text))
    _check_depth(spelt)
    while spelt[:1] in "=:" and spelt:
        spelt = spelt[1:].strip()
    if re.match(r"\\(?:approx|therefore|Rightarrow|implies)(?![A-Za-z])", spelt):
        spelt = re.sub(r"^\\[A-Za-z]+\s*", "", spelt)
    whole = re.fullmatch(r"\{([^{}]*)\}|\\text\{([^{}]*)\}", spelt)
    if whole and not re.search(r"\\(?:choose|over)(?![a-z])", spelt):
        inside = (whole[1] or whole[2] or "").strip()
        if whole[2] is None or re.search(r"[0-9,]", inside):
            spelt = inside
    if not spelt:
        raise Unreadable("nothing")
    if condition := _CONDITION.fullmatch(spelt):  # the set of all x with a property
        return read(condition[1])
    for special in (_choice, _based, _time, _matrix, _cases, _residue, _quantified):
        if (found := special(spelt)) is not None:
            return found
    words = _words(spelt)
    if words is not None and words.text in _ALL:
        return _REALS
    if words is not None and (len(words.text) > 5 or words.text in _NOTHING or not _plain(spelt)):
        return words
    if words is not None and (words.text[-1].isdigit() or words.text in NUMBERS):  # may 5, six
        return words
    try:
        return _joined(spelt)
    except (Unreadable, RecursionError) as error:
        if words is not None:
            return words
        raise Unreadable(str(error)) from error


def _plain(spelt: str) -> bool:
    """Whether letters stand as they do in a formula: in small ones, outside of a text."""
    return spelt.islower() or len(spelt) == 1


def _check_depth(text: str) -> None:
    depth = 0
    for mark in re.sub(r"[^(\[{}\])]", "", text):
        depth += 1 if mark in "([{" else -1
        if depth > MAX_DEPTH:
            raise Unreadable("brackets too deep")


def _without_box(text: str) -> str:
    r"""A text without a box, a line below it, or a font around a formula of commands."""
    while box := re.fullmatch(r"(?:\\(boxed|fbox|underline|text)\s*)?\{(.*)\}", text, re.DOTALL):
        inside = box[2].strip()
        if not _balanced(inside) or (box[1] in ("text", None) and "\\" not in inside):
            break
        text = inside
    return text


def _balanced(text: str) -> bool:
    """Whether no brace closes that the text has not opened."""
    depth = 0
    for mark in re.sub(r"\\.", "", text):
        depth += (mark == "{") - (mark == "}")
        if depth < 0:
            return False
    return depth == 0


def _choice(spelt: str) -> Choice | None:
    """One of the options A to J, with or without what it says."""
    plain = unwrapped(spelt)
    if named := re.fullmatch(r"(?:(?:[Oo]ption|[Cc]hoice)\s+)?([A-J])", plain):
        return Choice(named[1])
    match = _CHOICE.fullmatch(plain)
    if match is None or re.match(r"[-+*/^_!=<>,]|\\(?:cup|cap|in|cdot|times|le|ge)\b", match[3]):
        return None
    rest = match[3].strip()
    return Choice(match[1] or match[2], read(rest) if rest else None)


def _based(spelt: str) -> InBase | None:
    match = _BASE.fullmatch(unwrapped(spelt))
    if match is None:
        return None
    name = match[3] or match[4]
    base = int(name) if name.isdigit() else _BASES.get(name, 0)
    digits = re.sub("[ ,]", "", match[2])
    if not 2 <= base <= 36:
        return None
    if any(int(digit, 36) >= base for digit in digits if digit != "."):
        raise Unreadable(f"a digit that base {base} has not")
    whole, _, part = digits.partition(".")
    digits = (whole.lstrip("0") or "0") + ("." + part.rstrip("0") if part.rstrip("0") else "")
    return InBase(match[1] + digits, base)


def _time(spelt: str) -> Time | None:
    match = _TIME.fullmatch(unwrapped(spelt))
    if match is None or not (match[2] or match[4]) or int(match[1]) > 24:
        return None
    half = (match[4] or "").lower().replace(".", "").replace(" ", "").replace("o'clock", "")
    half = {"noon": "pm", "midnight": "am"}.get(half, half)
    return Time(int(match[1]), int(match[2] or 0), int(match[3] or 0), half)


def _matrix(spelt: str) -> Matrix | None:
    match = _MATRIX.fullmatch(spelt) or _ARRAY.fullmatch(spelt)
    if match is None:
        return None
    rows = [row for row in _ROWS.split(match[match.lastindex or 1]) if row.strip()]
    return Matrix(tuple(tuple(_tree(cell) for cell in row.split("&")) for row in rows))


def _cases(spelt: str) -> Answer | None:
    """A function by branches, as a set of pairs (formula, condition); or a system of equations."""
    match = _CASES.fullmatch(spelt)
    if match is None or (match["label"] and not _label(match["label"])):
        return None
    rows = [row.strip() for row in _ROWS.split(match["cases"] or match["array"]) if row.strip()]
    if not any("&" in row for row in rows):
        return _joined(", ".join(row.rstrip(",;. ") for row in rows))
    pairs = []
    for row in rows:
        formula, _, condition = (part.strip(",;. ") for part in row.partition("&"))
        pairs.append(Several("()", (_element(formula), _element(_IF.sub("", condition).strip()))))
    return Several("{}", tuple(pairs))


def _residue(spelt: str) -> Residue | None:
    r"""x \equiv 2 \pmod 3; a plain 7 \bmod 3 is a number, and not known here."""
    match = _RESIDUE.fullmatch(spelt)
    if match is None or not int(match["modulus"]):
        return None
    modulus = int(match["modulus"])
    return Residue(int(match["value"] or match["alone"]) % modulus, modulus)


def _quantified(spelt: str) -> Answer | None:
    """A formula of any whole number: its letter does not matter."""
    match = _QUANTIFIED.fullmatch(spelt)
    if match is None:
        return None
    letter = match["letter"] or match["after"]
    found = read(match["formula"])
    items = found.items if isinstance(found, Several) and not found.brackets else (found,)
    values = []
    for item in items:
        if not isinstance(item, Value) or not _mentions(letter, match["formula"]):
            raise Unreadable("a whole number that nothing depends on")
        values.append(Value(_renamed(item.tree, letter, "any integer"), item.unit, item.label))
    return values[0] if len(values) == 1 else Several("", tuple(values))


def _renamed(tree: Tree, old: str, new: str) -> Tree:
    if tree[0] == "number":
        return tree
    if tree[0] == "name":
        return ("name", new) if tree[1] == old else tree
    return (tree[0], *(_renamed(part, old, new) for part in tree[1:]))


def _words(spelt: str) -> Words | None:
    """The words of a text that is nothing else."""
    if spelt in (r"\emptyset", r"\{\}", r"\{ \}"):
        return NOTHING
    if re.search(r"[,;:()]", spelt):
        return None
    if spelt.count("\\") > spelt.count(r"\text{") + spelt.count("\\ "):
        return None
    text = plain_words(spelt)
    if date := _DATE.fullmatch(text):
        day = int(date["day"] or date["first"])
        return Words(f"{date['month'] or date['then']} {day}", unwrapped(spelt))
    if not _LETTERS.fullmatch(text) or re.fullmatch("[A-J](?: and [A-J])+", unwrapped(spelt)):
        return None
    if text in _NOTHING:
        return NOTHING
    # ABC, A B C: an ordering
    joined = unwrapped(spelt)
    if re.fullmatch(r"[A-Z](?: ?[A-Z])+", joined):
        return Words(joined.replace(" ", ""), joined.replace(" ", ""))
    return Words(text, joined) if len(text) > 1 else None


def _joined(spelt: str) -> Answer:
    """Parts joined by commas, "or" and "and"."""
    if re.search(r"\\text\{[^{}]*(?<![a-z])and(?![a-z])", spelt):  # 3 dollars and 20 cents
        with suppress(Unreadable):
            return _sum_of_units(spelt, falling=True)
    found = _split(spelt)
    if len(found) == 1:
        return _element(found[0])
    items: list[Answer] = []
    for part in found:
        item = _element(part)
        items.extend(item.items if isinstance(item, Several) and not item.brackets else [item])
    ranges = [item for item in items if isinstance(item, Relation) and item.signs[0] != "="]
    if len(ranges) == len(items) and re.search(r"\bor\b", spelt):
        return Union(tuple(items))
    labels = [item.label for item in items if isinstance(item, Value)]
    if labels and labels[0] and set(labels[1:]) == {""}:  # x = 1, 2
        items = [
            Value(item.tree, item.unit, labels[0]) if isinstance(item, Value) else item
            for item in items
        ]
    return Several("", tuple(items))


def _split(spelt: str) -> list[str]:
    """The text between commas, semicolons, "or" and "and" that stand in no brackets."""
    text = _BETWEEN.sub(" ; ", spelt)
    grouped = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?!,[0-9])")
    parts, depth, start, position = [], 0, 0, 0
    while position < len(text):
        if depth == 0 and (position == 0 or text[position - 1] not in "0123456789,."):
            if thousands := grouped.match(text, position):
                position = thousands.end()
                continue
        mark = text[position]
        if text.startswith(("\\langle", "\\rangle"), position):
            depth += 1 if text[position + 1] == "l" else -1
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif mark in ",;" and depth == 0:
            parts.append(text[start:position])
            start = position + 1
        position += 1
    parts.append(text[start:])
    parts = [part.strip() for part in parts]
    found = [part for part in parts if part]
    if not found:
        raise Unreadable("only commas")
    return found


def _element(text: str) -> Answer:
    """One item of a list: a union, a chain of relations, or a value."""
    words = _words(text)
    if words is not None and not (text.islower() and len(text) <= 5):
        if len(words.text) > 1:
            return words
    if choice := (_choice(text) if re.fullmatch(r"\(?[A-J]\)?", unwrapped(text)) else None):
        return choice
    parts = _outside(text, (r"\cup",))[0]
    if len(parts) > 1:
        return Union(tuple(_element(part) for part in parts))
    sides, signs = _outside(text, RELATIONS)
    if len(sides) > 1:
        return _related(sides, signs)
    if re.fullmatch(r"\\mathbb\s*\{?\s*R\s*\}?", text):
        return _REALS
    if hole := re.fullmatch(
        r"\\mathbb\s*\{?\s*R\s*\}?\s*\\(?:setminus|backslash)\s*\\\{([^,]*)\\\}", text
    ):
        return Relation((("name", "x"), _tree(hole[1])), (r"\ne",))
    if ":" in text:
        terms = _outside(text, (":",))[0]
        if len(terms) > 1:
            return Ratio(tuple(_tree(term) for term in terms))
    if bracketed := _bracketed(text):
        return bracketed
    return _signed_twice(_value(text))


_INFINITE: Tree = ("name", "infty")
_REALS = Several("()", (Value(("-", _INFINITE)), Value(_INFINITE)))
_ALL = frozenset("all real numbers|all reals|any real number|all real values".split("|"))


def _outside(text: str, marks: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The pieces of a text between marks that stand in no brackets, and those marks."""
    pattern = re.compile("|".join(
        re.escape(mark) + ("(?![A-Za-z])" if mark[0] == "\\" else "") for mark in marks
    ))  # fmt: skip
    parts, found, depth, start = [], [], 0, 0
    position = 0
    while position < len(text):
        if depth == 0 and (match := pattern.match(text, position)):
            parts.append(text[start:position].strip())
            found.append(match[0])
            start = position = match.end()
            continue
        depth += (text[position] in "([{") - (text[position] in ")]}")
        position += 1
    parts.append(text[start:].strip())
    return parts, found


def _bracketed(text: str) -> Several | None:
    """What stands in one pair of brackets, if it is a list or a set."""
    for opening in (r"\{", r"\langle", "(", "["):
        if text.startswith(opening):
            break
    else:
        return None
    closing = next((mark for mark in (r"\}", r"\rangle", ")", "]") if text.endswith(mark)), None)
    if closing is None or (opening == r"\{") != (closing == r"\}"):
        return None
    inside = text[len(opening) : -len(closing)]
    depth = 0
    for mark in re.sub(r"\\[{}]", lambda m: m[0][1], inside):
        depth += (mark in "([{") - (mark in ")]}")
        if depth < 0:  # (1)(2): the outer brackets are no pair
            return None
    brackets = {r"\{": "{", r"\langle": "("}.get(opening, opening)
    brackets += {r"\}": "}", r"\rangle": ")"}.get(closing, closing)
    if not inside.strip():
        if brackets == "{}":
            return Several("{}", ())
        raise Unreadable("empty brackets")
    parts = _split_inside(inside)
    if len(parts) == 1 and brackets != "{}":
        if brackets in ("(]", "[)"):
            raise Unreadable("half an interval")
        return None
    items: list[Answer] = []
    for part in parts:
        item = _element(part)
        items.extend(item.items if isinstance(item, Several) and not item.brackets else [item])
    return Several(brackets, tuple(items))


def _split_inside(text: str) -> list[str]:
    """The text between commas in brackets, where a comma always separates."""
    parts, _ = _outside(_BETWEEN.sub(" , ", text), (",", ";"))
    if any(not part for part in parts):
        raise Unreadable("a place without an item")
    return parts


def _related(sides: list[str], signs: list[str]) -> Answer:
    if any(not side for side in sides):
        raise Unreadable("a relation without a side")
    if signs == [r"\in"] and _label(sides[0]):  # x in (1, 2)
        return _element(sides[1])
    if r"\in" in signs or r"\equiv" in signs:
        raise Unreadable("a relation that is not known")
    if set(signs) <= {"=", r"\approx"}:
        return _equation(sides, signs)
    if r"\approx" in signs:
        raise Unreadable("an inequality that is near")
    return Relation(tuple(_value(side).tree for side in sides), tuple(signs))


def _equation(sides: list[str], signs: list[str]) -> Answer:
    r"""A chain of equations: a label and its value, or two sides."""
    if len(sides) == 2 and re.fullmatch(r"\([a-z](?:, ?[a-z])+\)", sides[0]):  # (x, y) = (1, 2)
        return _element(sides[1])
    cut = signs.index(r"\approx") + 1 if r"\approx" in signs else len(sides)
    exact, near = sides[:cut], sides[cut:]
    label = ""
    for first, rest in ((exact[0], exact[1:] + near), (exact[-1], exact[:-1])):
        label = _label(first)
        name = re.sub(r"\(.*", "", label)
        if label and rest and not any(_mentions(name, other) for other in rest):
            exact = [side for side in exact if side is not first]
            break
        label = ""
    if not exact:  # x ≈ 3.14
        exact, near = near[:1], near[1:]
    last = exact[-1]
    if label and len(exact) == 1 and not near:
        found = _element(last)
        if isinstance(found, Several) and not found.brackets:  # x = ±3
            return Several("", tuple(_relabelled(item, label) for item in found.items))
        return _relabelled(found, label)
    values = [_value(side) for side in exact]
    trees = [value.tree for value in values]
    if not label and any(_has_letters(tree) for tree in trees):
        return Relation(tuple(trees), ("=",) * (len(trees) - 1))
    nearly = tuple(_value(side).tree for side in near)
    return Value(trees[-1], values[-1].unit, label, tuple(trees[:-1]), nearly)


def _relabelled(item: Answer, label: str) -> Answer:
    return Value(item.tree, item.unit, label, item.others) if isinstance(item, Value) else item


def _has_letters(tree: Tree) -> bool:
    if tree[0] == "name":
        return tree[1] not in ("pi", "e", "i")
    return tree[0] != "number" and any(_has_letters(part) for part in tree[1:])


_LABEL = re.compile(
    r"(?:(?:\\text\{)?[A-Za-z]\}?|\\[A-Za-z]+)(?:_(?:[A-Za-z0-9]|\{[^{}]*\}))?(?:'|\^\{-1\}(?=\())?"
    r"(?:\((?:[A-Za-z](?:,\s*[a-z])*|\\[a-z]+)\))?"
)


def _label(text: str) -> str:
    """A side of an equation that only names what the other side is: x, f(x), A_1, P(x)."""
    match = _LABEL.fullmatch(text)
    if match is None or text in ("e", "i", r"\pi", r"\infty", r"\emptyset") or text.endswith("!"):
        return ""
    return re.sub(r"[\s{}]|\\text", "", text)


def _mentions(name: str, text: str) -> bool:
    text = re.sub(r"\\text\{[^{}]*\}", "", text)
    name = re.escape(name.removeprefix("\\"))
    return re.search(rf"(?<![A-Za-z]){name}(?![A-Za-z_])", text) is not None


def _value(text: str) -> Value:
    """A formula with its unit. Errors: `Unreadable`."""
    if money := _DOLLARS.fullmatch(text):
        inner = _value(money[1] + money[3])
        unit = {"dollar": DOLLAR, "euro": EURO}[money[2]]
        if inner.unit is not None and inner.unit.dimension != unit.dimension:
            if inner.unit.dimension != (("dollar", 1),):
                raise Unreadable("two units")
        return Value(inner.tree, unit)
    if text.endswith("%"):
        return Value(_tree(text[:-1]), PERCENT)
    if degrees := _DEGREES.fullmatch(text):
        scale = re.sub(r"\\text|[{}\s]", "", degrees["scale"])
        return Value(
            _tree(degrees["before"]), read_unit({"C": "celsius", "F": "fahrenheit"}[scale])
        )
    try:
        tree = _tree(text)
    except Unreadable:
        return _with_unit(text)
    return Value(tree[1], DEGREE) if tree[0] == "degrees" else Value(tree)


def _with_unit(text: str) -> Value:
    """A formula followed by words that are a known unit."""
    match = _UNIT_TEXT.fullmatch(text)
    # The longest unit that can be read: the formula before it is as short as it can be.
    starts = [
        m.start()
        for m in re.finditer(r"(?<=[0-9})!\].])\s*(?=\\text\{|[A-Za-z])|\s+(?=[A-Za-z\\])", text)
    ]
    for start in starts if match else []:
        before, words = text[:start].strip(), text[start:]
        plain = re.sub(r"\\cdot", "*", unwrapped(words))
        plain = re.sub(r"\^\s*\{\s*\\circ\s*\}", "", plain).strip()
        unit = read_unit(plain)
        if unit is not None and before:
            try:
                return Value(_tree(before), unit)
            except Unreadable:
                continue
    return _sum_of_units(text)


def _sum_of_units(text: str, falling: bool = False) -> Value:
    """4 hours and 30 minutes, in the base unit; `falling`: only if each unit is a smaller one."""
    joined = re.sub(r"(?<=[a-z]) and *\}", "}", re.sub(r"\\text\{ *and *\}|,", " ", text))
    if not _QUANTITIES.fullmatch(joined):
        raise Unreadable(f"words that are no unit: {text[-40:]}")
    total: Tree = number(0)
    dimensions, factors = set(), []
    for amount, word in _QUANTITY.findall(joined):
        unit = read_unit(re.sub(r"(?<![a-z])and(?![a-z])", "", word))
        if unit is None:
            raise Unreadable(f"words that are no unit: {word}")
        dimensions.add(unit.dimension)
        factors.append(unit.factor)
        total = ("+", total, ("*", number(Fraction(amount)), number(unit.factor)))
    if len(dimensions) != 1:
        raise Unreadable("units of several kinds")
    if falling and any(a <= b for a, b in pairwise(factors)):
        raise Unreadable("a list of quantities")
    return Value(total, Unit(Fraction(1), dimensions.pop()))


def _tree(text: str) -> Tree:
    found = tokens(text)
    _refuse_unit_letters(found)
    return Reader(found).formula()


def _refuse_unit_letters(found: list[Token]) -> None:
    r"""A single letter in \text after a number is a unit, and not a factor."""
    for before, token in zip(found, found[1:], strict=False):
        if token.startswith(r"\text{") and (before.value is not None or before in (")", "}")):
            raise Unreadable(token)
        if before.value is not None and token.isalpha() and len(token) > 1 and read_unit(token):
            raise Unreadable(token)


def _signed_twice(value: Value) -> Answer:
    """A value with ± as the two values that it stands for."""
    if not _two_signs(value.tree):
        return value
    plus, minus = (_with_sign(value.tree, sign) for sign in (1, -1))
    return Several(
        "", (Value(plus, value.unit, value.label), Value(minus, value.unit, value.label))
    )


def _two_signs(tree: Tree) -> bool:
    if tree[0] in ("number", "name"):
        return False
    return tree[0] in ("pm", "mp") or any(_two_signs(part) for part in tree[1:])


def _with_sign(tree: Tree, sign: int) -> Tree:
    if tree[0] in ("number", "name"):
        return tree
    parts = [_with_sign(part, sign) for part in tree[1:]]
    if tree[0] in ("pm", "mp"):
        positive = (sign > 0) == (tree[0] == "pm")
        return ("+", parts[0], parts[1] if positive else ("-", parts[1]))
    return (tree[0], *parts)
