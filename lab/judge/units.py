r"""Units that may follow a number: a list of known ones, and how they convert into each other.

A unit is a factor and a dimension: `km/h` is 5/18 of m s^-1. What is not in the list is no unit, so
that trailing words never vanish. Things that are counted (apples, ways, students) are units of
their own.
"""

import re
from collections import Counter
from fractions import Fraction
from typing import NamedTuple


class Unit(NamedTuple):
    """`factor` in the base units of `dimension`, which is sorted (base, power) pairs."""

    factor: Fraction
    dimension: tuple[tuple[str, int], ...]


# dimension: names of one unit, each with its size in the base units
_SIZES = {
    "m": "m meter metre 1; km kilometer kilometre 1000; dm decimeter 1/10; cm centimeter"
    " centimetre 1/100; mm millimeter millimetre 1/1000; um micrometer micron 1/1000000;"
    " nm nanometer 1/1000000000; inch inche in 127/5000; ft foot feet 381/1250; yd yard 1143/1250;"
    " mi mile 1609344/1000; au 149597870700; ly lightyear 9460730472580800; pc parsec"
    " 30856775814913673; angstrom 1/10000000000",
    "s": "s sec second 1; ms millisecond 1/1000; us microsecond 1/1000000; ns nanosecond"
    " 1/1000000000; min minute 60; h hr hour 3600; day 86400; week 604800; yr year 31557600",
    "g": "g gram gramme 1; kg kilogram 1000; mg milligram 1/1000; tonne 1000000; lb pound"
    " 45359237/100000; oz ounce 45359237/1600000; ton 90718474/100",
    "liter": "l L liter litre 1; ml mL milliliter millilitre 1/1000; cl cL centiliter 1/100; dl dL"
    " deciliter 1/10; kl kL kiloliter 1000; gallon 1; quart 1/4; pint 1/8; cup 1/16",
    "dollar": "dollar usd buck 1; cent 1/100; dime 1/10; nickel 1/20; quarter 1/4; penny penn"
    " pennie 1/100",
    "euro": "euro eur 1",
    "sterling": "sterling gbp 1",
    "degree": "degree deg 1",
    "radian": "radian rad 1",
    "K": "K kelvin 1",
    "A": "A ampere amp 1; mA milliamp 1/1000",
    "mol": "mol mole 1",
    "percent": "percent percentage 1",
    "bit": "bit 1; byte 8; kilobyte 8000; megabyte 8000000; mb 8000000; gb 8000000000",
    "g m s-2": "N newton 1000; kN 1000000; dyne dyn 1/100",
    "g m2 s-2": "J joule 1000; kJ kilojoule 1000000; erg 1/10000; eV 1602176634e-25;"
    " keV 1602176634e-22; MeV 1602176634e-19",
    "g m2 s-3": "W watt 1000; kW kilowatt 1000000; mW 1",
    "g m-1 s-2": "Pa pascal 1000; kPa 1000000; atm 101325000",
    "s-1": "Hz hertz 1; kHz 1000; MHz 1000000; GHz 1000000000",
    "A s": "C coulomb 1",
    "A-1 g m2 s-3": "V volt 1000; mV 1",
    "A-2 g m2 s-3": "ohm Ohm 1000",
    "A-1 g s-2": "T tesla 1000",
    "A2 g-1 m-2 s4": "F farad 1/1000",
    "m s-1": "mph 1609344/3600000; kph 5/18",
    "m2": "acre 40468564224e-7; hectare 10000",
}
# What has no other unit, and what people count, in the singular.
_COUNTED = (
    "celsius fahrenheit month rupee unit yen"
    " animal apple arrangement atom bag ball balloon banana basket bead bean bird book bottle bowl"
    " box boy brick bunch cake candie candle candy car card cat cell chair chicken child children"
    " chocolate choice class coin color colour combination container cookie cow crate crayon cube"
    " customer day digit dog doll donation donut duck edge egg electron element employee face"
    " factor fish flower friend fruit game girl goat group guest hat horse house integer ion item"
    " jar job key kid kitten lap leaf leave lemon lesson letter line man marble match matche meal"
    " member men molecule move muffin number nut orange outcome pack packet page painting pair"
    " paper part particle passenger path peach peache pear pen pencil penguin people permutation"
    " person photo photon picture piece pile pizza place plant plate player plum point positive"
    " pot problem proton puppie puppy puzzle question rabbit ribbon room rose route row sandwich"
    " sandwiche score seat seed set sheep shelf shell shelve shirt shoe side slice solution song"
    " square stamp state step sticker stone stop student subset sweet table tablet tank teacher"
    " team term test ticket tile time tower toy trade tree triangle trip truck value vertex"
    " vertice visitor vote way window woman women word worker"
).split()


def _table() -> dict[str, Unit]:
    table = {name: Unit(Fraction(1), ((name, 1),)) for name in _COUNTED}
    for dimension, sizes in _SIZES.items():
        powers = re.findall(r"([A-Za-z]+)(-?\d?)", dimension)
        bases = tuple((base, int(power or 1)) for base, power in powers)
        for entry in sizes.split(";"):
            *names, size = entry.split()
            table |= dict.fromkeys(names, Unit(Fraction(size), bases))
    return table


_UNITS = _table()
DEGREE, PERCENT = _UNITS["degree"], _UNITS["percent"]
CURRENCIES = {name: _UNITS[name] for name in ("dollar", "euro", "sterling", "yen", "rupee")}
_MULTIPLES = {"dozen": 12, "gross": 144, "hundred": 100} | {
    name: 1000**power for power, name in enumerate("thousand million billion trillion".split(), 1)
}
_MULTIPLE = re.compile(rf"\s*({'|'.join(_MULTIPLES)})s?\b(?:\s*of\b)?\s*", re.IGNORECASE)
_SQUARED = {"square": 2, "sq": 2, "cubic": 3}
_OF = re.compile(r"\s*(?!percent|quarter)([a-z][a-z ]{0,40}?) of [a-z ]{2,40}")
_PIECE = re.compile(
    r"\s*(?P<word>[A-Za-z]+)\.?\s*(?:\^\s*\{?\s*(?P<power>-?\d)\s*\}?)?|\s*(?P<mark>[*/])"
)


def _named(word: str) -> Unit | None:
    """One unit by its name, in the singular or plural; names of two letters keep their case."""
    lower = word.lower()
    others = (lower, lower.removesuffix("s"), lower.removesuffix("es"))
    names = (word, *(name for name in others if len(name) > 2))
    return next((_UNITS[name] for name in names if name in _UNITS), None)


def read_multiple(text: str) -> tuple[int, str]:
    """The number that words such as "dozen" begin with, else 1, and the words after it.

    >>> read_multiple("dozen eggs"), read_multiple("eggs")
    ((12, 'eggs'), (1, 'eggs'))
    """
    match = _MULTIPLE.match(text)
    return (_MULTIPLES[match[1].lower()], text[match.end() :]) if match else (1, text)


def read_unit(text: str) -> Unit | None:
    r"""The unit that a text without LaTeX names, or None.

    >>> read_unit("km/h") == read_unit("kilometers per hour") != read_unit("km")
    True
    >>> read_unit("square feet") == read_unit("ft^2"), read_unit("is not the answer")
    (True, None)
    """
    if thing := _OF.fullmatch(text):  # cups of feed
        text = thing[1]
    factor, powers = Fraction(1), Counter[str]()
    position, sign, squared, seen = 0, 1, 1, False
    while position < len(text.rstrip()):
        piece = _PIECE.match(text, position)
        if piece is None or len(text) > 60:
            return None
        position = piece.end()
        word = piece["word"]
        if piece["mark"] == "/" or word == "per":
            if sign < 0 or not (seen or word):
                return None
            sign, seen = -1, True
        elif word and word.lower() in _SQUARED:
            squared = _SQUARED[word.lower()]
        elif word:
            unit = _named(word)
            power = sign * squared * int(piece["power"] or 1)
            if unit is None or abs(power) > 9:
                return None
            factor *= unit.factor**power
            powers.update({base: power * of_base for base, of_base in unit.dimension})
            squared, seen = 1, True
    dimension = tuple(sorted((base, power) for base, power in powers.items() if power))
    return Unit(factor, dimension) if seen and powers else None
