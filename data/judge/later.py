r"""Rules of the labelled corpus that were written when the judge was done: `later.csv`.

    python data/judge/later.py

The rules of `build.py` were known when the judge was written; these were not. `split` goes by rule
(a family and a reason), not by pair: a third of the rules, by a hash of their names, is "held
out", and no rule of the judge was changed for what they show. `at_first.csv` holds the errors of
the judge as it was when these rules were written, before anything was mended.

`again.csv` holds new draws of the rules of `build.py`, from other seeds, all of them held out.
Labels follow from how a pair is made: an identity for a right answer, a change of the value for a
wrong one. What depends on a convention (a unit left out, a rounded number) has no rule here.
"""

import csv
import hashlib
import math
import random
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from build import FAMILIES as FIRST
from build import Pairs, frac
from build import pairs as first_pairs

HERE = Path(__file__).parent
LATER: dict[str, Callable[[random.Random], Pairs]] = {}
DRAWS = 150  # pairs a family in later.csv
AGAIN = 200  # pairs a family in again.csv


def family(rule: Callable[[random.Random], Pairs]) -> Callable[[random.Random], Pairs]:
    LATER[rule.__name__.replace("_", " ")] = rule
    return rule


def signed(n: int, letter: str = "") -> str:
    """A term with its sign: +3x, -x, +1.

    >>> signed(-1, "x"), signed(4), signed(1)
    ('-x', '+4', '+1')
    """
    number = "" if abs(n) == 1 and letter else str(abs(n))
    return f"{'-' if n < 0 else '+'}{number}{letter}"


@family
def three_unknowns(rng: random.Random) -> Pairs:
    a, b, c = rng.sample(range(-15, 16), 3)
    gold = f"({a},{b},{c})"
    yield f"x={a}, y={b}, z={c}", gold, "labels"
    yield f"x={a},\\ y={b},\\ z={c}", gold, "labels and LaTeX spaces"
    yield f"(x,y,z)=({a},{b},{c})", gold, "a label for the triple"
    yield rf"x={a},\; y={b},\; \text{{and }} z={c}", gold, "labels and a word"
    yield rf"\left( {a}, {b}, {c} \right)", gold, "large brackets"
    yield f"({a}, {b}, {c})", f"(x,y,z) = ({a},{b},{c})", "the triple without its label"
    yield f"x={b}, y={a}, z={c}", gold, "two labels exchanged!"
    yield f"(x,y,z)=({c},{b},{a})", gold, "reversed under a label!"
    yield f"x={a}, y={b}", gold, "an unknown left out!"
    yield f"x={a}, y={b}, z={c + 1}", gold, "another value!"
    yield f"({-a},{-b},{-c})", gold, "every sign changed!"


@family
def column_vectors(rng: random.Random) -> Pairs:
    a, b, c = rng.sample(range(-12, 13), 3)
    rows = rf"{a}\\{b}\\{c}"
    gold = rf"\begin{{pmatrix}}{rows}\end{{pmatrix}}"
    yield rf"\begin{{bmatrix}}{rows}\end{{bmatrix}}", gold, "square brackets"
    yield rf"\begin{{pmatrix}} {a} \\ {b} \\ {c} \end{{pmatrix}}", gold, "spaces"
    yield rf"\left[\begin{{array}}{{c}}{rows}\end{{array}}\right]", gold, "an array"
    yield (
        rf"\left(\begin{{array}}{{c}}{rows}\end{{array}}\right)",
        gold,
        "an array in round brackets",
    )
    yield rf"\begin{{pmatrix}}{a}\\[2mm]{b}\\[2mm]{c}\end{{pmatrix}}", gold, "space between rows"
    yield rf"\begin{{pmatrix}}{b}\\{a}\\{c}\end{{pmatrix}}", gold, "two entries exchanged!"
    yield rf"\begin{{pmatrix}}{a}\\{b}\\{c + 1}\end{{pmatrix}}", gold, "another entry!"
    yield rf"\begin{{pmatrix}}{a}\\{b}\end{{pmatrix}}", gold, "an entry less!"
    yield rf"-\begin{{pmatrix}}{rows}\end{{pmatrix}}", gold, "the opposite!"
    yield str(a + b + c), gold, "the sum of the entries!"


@family
def two_letters(rng: random.Random) -> Pairs:
    a, b = rng.sample(range(2, 12), 2)
    gold = f"x^2{signed(a - b, 'xy')}-{a * b}y^2"
    yield f"(x+{a}y)(x-{b}y)", gold, "in factors"
    yield f"x^2-{a * b}y^2{signed(a - b, 'xy')}", gold, "terms in another order"
    yield f"x(x{signed(a - b, 'y')})-{a * b}y^2", gold, "a letter taken out"
    yield f"x^{{2}}{signed(a - b)}x y-{a * b}y^{{2}}", gold, "spaces between letters"
    yield f"(x-{a}y)(x+{b}y)", gold, "factors with other signs!"
    yield f"x^2{signed(a - b, 'xy')}+{a * b}y^2", gold, "another sign!"
    yield f"x^2{signed(a - b, 'x')}-{a * b}y^2", gold, "a letter lost!"
    yield f"y^2{signed(a - b, 'xy')}-{a * b}x^2", gold, "letters exchanged!"
    yield f"x^2{signed(a - b, 'xy')}-{a * b + 1}y^2", gold, "another coefficient!"


@family
def partial_fractions(rng: random.Random) -> Pairs:
    a, b = sorted(rng.sample(range(1, 15), 2))
    gold = rf"\frac{{1}}{{x-{b}}}-\frac{{1}}{{x-{a}}}"
    yield rf"\frac{{{b - a}}}{{(x-{a})(x-{b})}}", gold, "over one denominator"
    yield rf"-\frac{{1}}{{x-{a}}}+\frac{{1}}{{x-{b}}}", gold, "the other order"
    yield rf"\frac{{1}}{{x-{b}}}+\frac{{1}}{{{a}-x}}", gold, "a sign in the denominator"
    yield rf"\frac{{{b - a}}}{{x^2-{a + b}x+{a * b}}}", gold, "multiplied out"
    yield rf"\frac{{1}}{{x-{a}}}-\frac{{1}}{{x-{b}}}", gold, "the opposite!"
    yield rf"\frac{{{b - a + 1}}}{{(x-{a})(x-{b})}}", gold, "another numerator!"
    yield rf"\frac{{1}}{{x-{b}}}-\frac{{1}}{{x+{a}}}", gold, "a sign in one denominator!"
    yield rf"\frac{{1}}{{{b - a}}}", gold, "the letter lost!"


@family
def logarithms_with_letters(rng: random.Random) -> Pairs:
    base, k, m = rng.randint(2, 9), rng.randint(2, 9), rng.randint(2, 9)
    gold = rf"{k}\log_{{{base}}} x"
    yield rf"\log_{{{base}}} x^{{{k}}}", gold, "the power under the logarithm"
    yield rf"\log_{base} (x^{k})", gold, "no braces"
    yield rf"\frac{{{k}\ln x}}{{\ln {base}}}", gold, "by natural logarithms"
    yield rf"{k}\cdot\frac{{\ln x}}{{\ln {base}}}", gold, "by natural logarithms, a factor before"
    yield rf"\log_{{{base + 1}}} x^{{{k}}}", gold, "another base!"
    yield rf"{k + 1}\log_{{{base}}} x", gold, "another factor!"
    yield rf"(\log_{{{base}}} x)^{{{k}}}", gold, "a power of the logarithm!"
    yield rf"\log_{{{base}}} ({k}x)", gold, "the factor under the logarithm!"
    second = rf"\ln x+\ln {m}"
    yield rf"\ln({m}x)", second, "a product under the logarithm"
    yield rf"\ln {m}x", second, "a product under the logarithm, no brackets"
    yield rf"\ln(x+{m})", second, "a sum under the logarithm!"
    yield rf"\ln x\cdot\ln {m}", second, "a product of logarithms!"


@family
def values_of_logarithms(rng: random.Random) -> Pairs:
    base, k = rng.randint(2, 9), rng.randint(2, 6)
    yield rf"\log_{{{base}}}({base}^{{{k}}})", str(k), "a power of the base"
    yield rf"\log_{{{base}}} {base**k}", str(k), "a power of the base, its digits"
    yield str(k), rf"\log_{{{base}}} {base**k}", "the value"
    yield rf"\ln e^{{{k}}}", str(k), "the natural logarithm of a power"
    yield rf"-\log_{{{base}}} \frac{{1}}{{{base**k}}}", str(k), "of a fraction"
    yield rf"\log_{{{base}}} {base**k + 1}", str(k), "one more under it!"
    yield rf"\log_{{{base + 1}}} {base**k}", str(k), "another base!"
    yield rf"\ln {base**k}", str(k), "the natural logarithm!"
    irrational = rf"\frac{{\ln {base + 1}}}{{\ln {base}}}"
    yield rf"\log_{{{base}}}({base + 1})", irrational, "another base for a quotient"
    yield rf"\log_{base} {base + 1}", irrational, "another base for a quotient, no braces"
    yield rf"\log_{{{base + 1}}}({base})", irrational, "base and argument exchanged!"
    yield rf"\ln {base + 1}-\ln {base}", irrational, "a difference for a quotient!"


@family
def trigonometric_identities(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 30), rng.randint(2, 9)
    identities = [
        (r"\sin^2 x", r"\frac{1-\cos 2x}{2}", r"\frac{1+\cos 2x}{2}", "half of a double angle"),
        (r"\cos^2 x", r"1-\sin^2 x", r"1+\sin^2 x", "one minus the other square"),
        (r"\sin x", r"\cos\left(\frac{\pi}{2}-x\right)", r"\cos\left(\frac{\pi}{2}+x\right)",
         "the complement"),
        (r"-\sin x", r"\sin(x+\pi)", r"\sin(x+2\pi)", "half a turn"),
        (r"\tan x", r"\frac{\sin x}{\cos x}", r"\frac{\cos x}{\sin x}", "a quotient"),
        (r"\cos 2x", r"2\cos^2 x-1", r"2\sin^2 x-1", "a double angle"),
        (r"\sec^2 x", r"1+\tan^2 x", r"1-\tan^2 x", "the secant"),
        (r"\cot x", r"\frac{1}{\tan x}", r"\frac{1}{\sin x}", "the cotangent"),
        (r"\sin 3x", r"3\sin x-4\sin^3 x", r"4\sin x-3\sin^3 x", "a triple angle"),
        (r"\csc x", r"\frac{1}{\sin x}", r"\frac{1}{\cos x}", "the cosecant"),
    ]  # fmt: skip
    gold, same, other, name = rng.choice(identities)
    yield f"{same}+{a}", f"{gold}+{a}", name
    yield f"{a}+{gold}", f"{same}+{a}", f"{name}, the other way round"
    yield (
        rf"{b}\left({same}\right)",
        f"{b}{gold}" if gold[0] != "-" else f"-{b}{gold[1:]}",
        (f"{name}, in brackets"),
    )
    yield f"{other}+{a}", f"{gold}+{a}", f"{name}, another!"
    yield f"{same}+{a + 1}", f"{gold}+{a}", f"{name}, and one more!"
    yield f"{same.replace('x', 'y')}+{a}", f"{gold}+{a}", f"{name}, of another letter!"


@family
def inverse_functions(rng: random.Random) -> Pairs:
    name, argument, value, other = rng.choice([
        ("tan", "1", r"\frac{\pi}{4}", r"\frac{\pi}{3}"),
        ("sin", r"\frac{1}{2}", r"\frac{\pi}{6}", r"\frac{\pi}{3}"),
        ("cos", r"\frac{1}{2}", r"\frac{\pi}{3}", r"\frac{\pi}{6}"),
        ("tan", r"\sqrt{3}", r"\frac{\pi}{3}", r"\frac{\pi}{6}"),
        ("sin", "1", r"\frac{\pi}{2}", r"\pi"), ("cos", "-1", r"\pi", r"\frac{\pi}{2}"),
        ("sin", r"\frac{\sqrt{2}}{2}", r"\frac{\pi}{4}", r"\frac{\pi}{8}"),
    ])  # fmt: skip
    k = rng.randint(2, 40)
    yield rf"\arc{name}\left({argument}\right)", value, "an arc function"
    yield rf"\{name}^{{-1}}\left({argument}\right)", value, "a power of minus one"
    yield value, rf"\arc{name}\left({argument}\right)", "the value of an arc function"
    yield other, rf"\arc{name}\left({argument}\right)", "another angle!"
    yield rf"\arc{name}\left({argument}\right)+{k}", value, "a number more!"
    yield rf"\{name}\left({argument}\right)", value, "the function for its inverse!"
    open_gold = rf"\arctan {k}"
    yield rf"\arctan({k})", open_gold, "brackets"
    yield rf"\tan^{{-1}}({k})", open_gold, "a power of minus one, no value known"
    yield rf"\tan^{{-1}} {k}", open_gold, "a power of minus one, no brackets"
    yield rf"\frac{{\pi}}{{2}}-\arctan\frac{{1}}{{{k}}}", open_gold, "the complement"
    yield rf"\arctan {k + 1}", open_gold, "another argument!"
    yield rf"\arcsin {k}", open_gold, "another function!"
    yield rf"\tan {k}", open_gold, "the tangent!"
    yield f"{math.atan(k):.5f}", open_gold, "rounded!"


@family
def prime_factors(rng: random.Random) -> Pairs:
    a, b, c = rng.randint(1, 6), rng.randint(1, 4), rng.randint(1, 3)
    n = 2**a * 3**b * 5**c
    gold = rf"2^{{{a}}}\cdot 3^{{{b}}}\cdot 5^{{{c}}}"
    yield str(n), gold, "its digits"
    yield gold, str(n), "the factors of digits"
    yield rf"2^{{{a}}} \times 3^{{{b}}} \times 5^{{{c}}}", gold, "times signs"
    yield rf"5^{c}\cdot 3^{b}\cdot 2^{a}", gold, "the other order"
    yield f"2^{a} * 3^{b} * 5^{c}", gold, "stars"
    yield rf"(2^{{{a}}})(3^{{{b}}})(5^{{{c}}})", gold, "brackets"
    yield rf"2^{{{a + 1}}}\cdot 3^{{{b}}}\cdot 5^{{{c}}}", gold, "another exponent!"
    yield rf"2^{{{a}}}+3^{{{b}}}+5^{{{c}}}", gold, "a sum!"
    yield str(n + 1), gold, "one more!"
    yield rf"2^{{{a}}}\cdot 3^{{{b}}}\cdot 7^{{{c}}}", gold, "another prime!"


@family
def negative_fractions(rng: random.Random) -> Pairs:
    b = rng.choice([3, 4, 5, 7, 8, 9, 11, 16, 25])
    a = rng.choice([k for k in range(1, 60) if math.gcd(k, b) == 1])
    gold = rf"-\frac{{{a}}}{{{b}}}"
    yield rf"\frac{{-{a}}}{{{b}}}", gold, "the sign above"
    yield rf"\frac{{{a}}}{{-{b}}}", gold, "the sign below"
    yield rf"-\left(\frac{{{a}}}{{{b}}}\right)", gold, "brackets"
    yield f"-({a}/{b})", gold, "a slash in brackets"
    yield rf"-\,\dfrac{{{a}}}{{{b}}}", gold, "a thin space after the sign"
    yield rf"-{{{a} \over {b}}}", gold, "TeX's over"
    yield rf"-\cfrac{{{a}}}{{{b}}}", gold, "a continued fraction's bar"
    yield rf"\frac{{{a}}}{{{b}}}\cdot(-1)", gold, "times minus one"
    yield rf"\frac{{{a}}}{{{b}}}", gold, "no sign!"
    yield rf"-\frac{{{b}}}{{{a}}}", gold, "upside down!"
    yield rf"\frac{{-{a}}}{{-{b}}}", gold, "two signs!"
    yield rf"-\frac{{{a}}}{{{b + 1}}}", gold, "another denominator!"
    yield rf"-{a}\cdot {b}", gold, "a product!"


@family
def chains_of_equations(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 40), rng.randint(2, 40)
    k = rng.choice([2, 3, 5, 6, 7, 10])
    yield f"x={a}+{b}={a + b}", str(a + b), "a sum worked out"
    yield rf"{a}\cdot {b}={a * b}", str(a * b), "a product worked out"
    yield rf"\frac{{{a * b}}}{{{b}}} = {a}", str(a), "a quotient worked out"
    yield rf"S = \frac{{{a}}}{{2}}\cdot {2 * b} = {a * b}", str(a * b), "a formula worked out"
    yield rf"x=\sqrt{{{a * a * k}}}={a}\sqrt{{{k}}}", rf"{a}\sqrt{{{k}}}", "a root worked out"
    yield f"{a * b} = {a} \\times {b}", str(a * b), "the product behind the value"
    yield f"x={a}+{b}={a + b + 1}", str(a + b + 1), "a sum worked out wrongly!"
    yield f"x={a}+{b}={a + b}", str(a + b + 1), "another value!"
    yield rf"{a}\cdot {b}={a * b}", str(a), "the value of a factor!"
    yield f"x={a}, x={a + b}", str(a), "two values!"
    yield rf"{a}+{b}\ne {a + b}", str(a + b), "a denial!"


@family
def exact_and_rounded(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 20), rng.choice([2, 3, 5, 6, 7, 10, 11, 13])
    gold, value = rf"{a}\sqrt{{{b}}}", a * math.sqrt(b)
    yield rf"{gold} \approx {value:.2f}", gold, "the exact value, then a rounded one"
    yield rf"x = {gold} \approx {value:.3f}", gold, "a label, the exact value, a rounded one"
    yield rf"{a}\pi \approx {a * math.pi:.2f}", rf"{a}\pi", "a multiple of pi, then rounded"
    yield (
        rf"\frac{{{a}}}{{7}} \approx {a / 7:.3f}" if a % 7 else "never",
        (rf"\frac{{{a}}}{{7}}"),
        ("a fraction, then rounded" if a % 7 else "never"),
    )
    yield rf"\approx {value:.2f}", gold, "rounded alone!"
    yield f"{value:.3f}", gold, "rounded, no sign!"
    yield rf"{a}\sqrt{{{b + 1}}} \approx {value:.2f}", gold, "another exact value!"
    yield rf"{a * math.pi:.2f}", rf"{a}\pi", "a multiple of pi, rounded alone!"


@family
def prefixes(rng: random.Random) -> Pairs:
    unit, other, factor, third = rng.choice([
        ("L", "mL", 1000, "m"), ("m", "mm", 1000, "s"), ("kg", "g", 1000, "m"),
        ("km", "m", 1000, "kg"), ("m", "cm", 100, "g"), ("cm", "mm", 10, "g"),
        ("hours", "minutes", 60, "km"), ("days", "hours", 24, "m"), ("weeks", "days", 7, "m"),
        ("feet", "inches", 12, "kg"), ("yards", "feet", 3, "s"), ("kJ", "J", 1000, "m"),
    ])  # fmt: skip
    n = rng.randint(2, 90)
    gold = rf"{n}\text{{ {unit}}}"
    yield rf"{n * factor}\text{{ {other}}}", gold, "in the smaller unit"
    yield gold, rf"{n * factor}\text{{ {other}}}", "in the larger unit"
    yield rf"{n}\ \mathrm{{{unit}}}", gold, "upright letters"
    yield rf"{n}\;\text{{{unit}}}", gold, "a medium space"
    yield rf"{n}\text{{ {other}}}", gold, "the smaller unit, the same number!"
    yield rf"{n * factor}\text{{ {unit}}}", gold, "the number of the smaller unit!"
    yield rf"{n}\text{{ {third}}}", gold, "a unit of another kind!"
    yield rf"{n * factor + 1}\text{{ {other}}}", gold, "converted, and one more!"


@family
def speeds_and_densities(rng: random.Random) -> Pairs:
    n = 5 * rng.randint(1, 60)
    gold = rf"{n}\text{{ m/s}}"
    yield rf"{Fraction(18 * n, 5)}\text{{ km/h}}", gold, "in kilometres per hour"
    yield rf"{n}\ \mathrm{{m}}/\mathrm{{s}}", gold, "a slash between upright letters"
    yield rf"{n}\ \frac{{\text{{m}}}}{{\text{{s}}}}", gold, "a fraction of units"
    yield rf"{n}\ \mathrm{{m\,s^{{-1}}}}", gold, "a negative power"
    yield rf"{n}\text{{ meters per second}}", gold, "in words"
    yield rf"{n}\text{{ km/h}}", gold, "kilometres per hour, the same number!"
    yield rf"{n}\text{{ s/m}}", gold, "upside down!"
    yield rf"{n}\text{{ m}}\cdot\text{{s}}", gold, "a product of units!"
    dense = rf"{n}\text{{ g/cm}}^3"
    yield rf"{1000 * n}\text{{ kg/m}}^3", dense, "a density in other units"
    yield rf"{n}\ \mathrm{{g/cm^3}}", dense, "the power among upright letters"
    yield rf"{n}\text{{ kg/m}}^3", dense, "a density in other units, the same number!"
    yield rf"{n}\text{{ g/cm}}^2", dense, "another power!"


@family
def areas(rng: random.Random) -> Pairs:
    n = rng.randint(2, 300)
    gold = rf"{n}\text{{ m}}^2"
    yield rf"{n * 10000}\text{{ cm}}^2", gold, "in a smaller unit"
    yield rf"{n}\ \mathrm{{m}}^{{2}}", gold, "upright letters"
    yield rf"{n}\ \mathrm{{m^2}}", gold, "the power among upright letters"
    yield rf"{n} \text{{ m}}²", gold, "a Unicode square"
    yield rf"{n}\text{{ square meters}}", gold, "in words"
    yield rf"{n}\text{{ sq m}}", gold, "abbreviated"
    yield rf"{n * 100}\text{{ cm}}^2", gold, "converted as a length!"
    yield rf"{n}\text{{ m}}^3", gold, "a volume!"
    yield rf"{n}\text{{ m}}", gold, "a length!"
    yield rf"{n}^2\text{{ m}}^2", gold, "the number squared!"


@family
def amounts_of_money(rng: random.Random) -> Pairs:
    dollars, cents = rng.randint(1, 900), rng.randint(10, 99)
    gold = rf"\${dollars}.{cents}"
    yield rf"\$ {dollars}.{cents}", gold, "a space after the sign"
    yield rf"\text{{\${dollars}.{cents}}}", gold, "in text"
    yield rf"{dollars}\text{{ dollars and }}{cents}\text{{ cents}}", gold, "dollars and cents"
    yield rf"\${dollars}.{cents}\text{{ dollars}}", gold, "sign and word"
    yield rf"\mathdollar {dollars}.{cents}", gold, "the sign as a command"
    yield rf"{dollars}.{cents}\text{{ USD}}", gold, "the code of the currency"
    yield rf"\${dollars}{cents}", gold, "no point!"
    yield rf"\${dollars}.{cents}0", rf"\${dollars + 1}.{cents}", "another amount!"
    yield rf"-\${dollars}.{cents}", gold, "a debt!"
    yield rf"{dollars}\text{{ dollars and }}{cents - 1}\text{{ cents}}", gold, "a cent less!"
    yield rf"{dollars}.{cents}\text{{ cents}}", gold, "cents!"


MONTHS = ["January", "February", "March", "April", "June", "July", "August", "October", "December"]


@family
def dates(rng: random.Random) -> Pairs:
    month, other = rng.sample(MONTHS, 2)
    day = rng.randint(1, 27)
    gold = rf"\text{{{month} {day}}}"
    yield f"{month} {day}", gold, "not in text"
    yield rf"\text{{{month} }}{day}", gold, "the month alone in text"
    yield rf"\textbf{{{month} {day}}}", gold, "in bold"
    yield rf"\text{{{month.lower()} {day}}}", gold, "small letters"
    yield rf"\text{{{month} {day + 1}}}", gold, "a day later!"
    yield rf"\text{{{other} {day}}}", gold, "another month!"
    yield rf"\text{{{month}}}", gold, "the month alone!"
    yield str(day), gold, "the day alone!"


NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
           "twelve"]  # fmt: skip


@family
def numbers_in_words(rng: random.Random) -> Pairs:
    n = rng.randint(2, 12)
    other = rng.choice([k for k in range(2, 13) if k != n])
    word = NUMBERS[n - 2]
    yield rf"\text{{{word}}}", str(n), "a word for a number"
    yield word, str(n), "a word for a number, not in text"
    yield rf"\text{{{word.capitalize()}}}", str(n), "a word with a capital"
    yield str(n), rf"\text{{{word}}}", "a number for a word"
    yield rf"\text{{{NUMBERS[other - 2]}}}", str(n), "another word!"
    yield str(other), rf"\text{{{word}}}", "another number for a word!"
    yield rf"\text{{minus {word}}}", str(n), "minus!"
    yield rf"\text{{{word} or {NUMBERS[other - 2]}}}", str(n), "two words!"


@family
def several_options(rng: random.Random) -> Pairs:
    a, b = sorted(rng.sample("ABCDE", 2))
    c = rng.choice([x for x in "ABCDE" if x not in (a, b)])
    gold = f"{a}, {b}"
    yield f"{a},{b}", gold, "no space"
    yield f"{b}, {a}", gold, "the other order"
    yield rf"\text{{{a}, {b}}}", gold, "in text"
    yield rf"\text{{{a} and {b}}}", gold, "and"
    yield rf"{a} \text{{ and }} {b}", gold, "and in text"
    yield f"({a}), ({b})", gold, "each in brackets"
    yield a, gold, "one of them!"
    yield f"{a}, {b}, {c}", gold, "one more!"
    yield f"{a}, {c}", gold, "another one!"
    yield rf"\text{{{a} or {c}}}", gold, "a guess!"


@family
def branches(rng: random.Random) -> Pairs:
    a, b = rng.randint(1, 20), rng.randint(2, 20)

    def cases(first: str, second: str, sign: str = "<", word: str = "") -> str:
        other = {"<": r"\ge", ">": r"\le"}[sign]
        rows = rf"{first} & {word}x{sign}0 \\ {second} & {word}x{other} 0"
        return rf"\begin{{cases}} {rows} \end{{cases}}"

    gold = cases(f"x+{a}", f"{b}x")
    yield cases(f"{a}+x", f"{b}x"), gold, "a branch in another order"
    yield cases(f"x+{a}", f"{b}x", word=r"\text{if } "), gold, "a word before the conditions"
    yield gold.replace(" ", ""), gold, "no spaces"
    yield gold.replace(" ", "  "), gold, "more spaces"
    yield f"f(x)={gold}", gold, "with its name"
    yield cases(f"x+{a + 1}", f"{b}x"), gold, "another branch!"
    yield cases(f"{b}x", f"x+{a}"), gold, "branches exchanged!"
    yield cases(f"x+{a}", f"{b}x", ">"), gold, "other conditions!"
    yield f"x+{a}", gold, "one branch alone!"


@family
def named_functions(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 20), rng.randint(1, 20)
    name, letter = rng.choice("fghp"), rng.choice("tnxs")
    gold = f"{a}{letter}+{b}"
    yield f"{name}({letter})={a}{letter}+{b}", gold, "with its name"
    yield rf"{name}({letter}) = {b} + {a} {letter}", gold, "with its name, terms exchanged"
    yield gold, f"{name}({letter})={a}{letter}+{b}", "the name left out"
    yield rf"{name}({letter}) = {a}\left({letter}+\frac{{{b}}}{{{a}}}\right)", gold, "a factor out"
    yield f"{name}({letter})={a}{letter}-{b}", gold, "with its name, another sign!"
    yield f"{name}({letter})={a + 1}{letter}+{b}", gold, "with its name, another slope!"
    yield f"{a}u+{b}", gold, "another letter!"
    yield f"{name}({a})={a * a + b}", gold, "a value of the function!"


@family
def sets_by_a_condition(rng: random.Random) -> Pairs:
    a = rng.randint(-20, 20)
    b = a + rng.randint(1, 20)
    ray, piece = rf"({a},\infty)", f"[{a},{b})"
    yield rf"\{{x \in \mathbb{{R}} : x > {a}\}}", ray, "a condition after a colon"
    yield rf"\{{x \in \mathbb{{R}} \mid x > {a}\}}", ray, "a condition after a bar"
    yield rf"\{{ x : x > {a} \}}", ray, "no set of numbers"
    yield rf"\left\{{x \mid {a} \le x < {b}\right\}}", piece, "two conditions"
    yield rf"\{{x \in \mathbb{{R}} : {a} \leq x < {b}\}}", piece, "two conditions after a colon"
    yield rf"x \in [{a}, {b})", piece, "membership"
    yield rf"\{{x \in \mathbb{{R}} : x \ge {a}\}}", ray, "with its end!"
    yield rf"\{{x : x < {a}\}}", ray, "the other direction!"
    yield rf"\{{x \mid {a} \le x \le {b}\}}", piece, "with its other end!"
    yield rf"\{{x \mid {a} < x < {b}\}}", piece, "without its end!"
    yield rf"\{{x \in \mathbb{{Z}} : x > {a}\}}", ray, "whole numbers alone!"


@family
def closed_unions(rng: random.Random) -> Pairs:
    a = rng.randint(-20, 10)
    b, c = a + rng.randint(1, 6), a + rng.randint(8, 12)
    d = c + rng.randint(1, 9)
    gold = rf"[{a},{b}]\cup[{c},{d}]"
    yield rf"[{c},{d}]\cup[{a},{b}]", gold, "the other order"
    yield rf"\left[{a}, {b}\right] \cup \left[{c}, {d}\right]", gold, "large brackets"
    yield rf"{a}\le x\le {b}\text{{ or }}{c}\le x\le {d}", gold, "inequalities"
    yield rf"x \in [{a},{b}] \cup [{c},{d}]", gold, "membership"
    yield rf"[{a},{d}]", gold, "the gap filled!"
    yield rf"[{a},{b})\cup[{c},{d}]", gold, "an open end!"
    yield rf"[{a},{b}]\cap[{c},{d}]", gold, "an intersection!"
    yield rf"[{a},{b}]", gold, "one part!"
    yield rf"\{{{a},{b},{c},{d}\}}", gold, "the ends alone!"
    yield rf"[{a},{b}]\cup[{c},{d + 1}]", gold, "another end!"


@family
def periodic_solutions(rng: random.Random) -> Pairs:
    below = rng.choice([3, 4, 6, 8, 12])
    top = rng.choice([k for k in range(1, below) if math.gcd(k, below) == 1])
    angle = rf"\frac{{{'' if top == 1 else top}\pi}}{{{below}}}"
    gold = rf"x = {angle} + 2\pi k, k \in \mathbb{{Z}}"
    yield rf"{angle}+2\pi k,\ k\in\mathbb{{Z}}", gold, "no label"
    yield rf"x={angle}+2k\pi, k\in\mathbb{{Z}}", gold, "factors exchanged"
    yield rf"x=2\pi k+{angle}, \quad k \in \mathbb{{Z}}", gold, "terms exchanged"
    yield rf"x={angle}+2\pi n, n\in\mathbb{{Z}}", gold, "another letter for the number"
    yield rf"x={angle}+2\pi k, k \text{{ an integer}}", gold, "integer in words"
    yield rf"x={angle}+\pi k, k\in\mathbb{{Z}}", gold, "half the period!"
    yield rf"x={angle}", gold, "one solution!"
    yield rf"x=-{angle}+2\pi k, k\in\mathbb{{Z}}", gold, "the opposite angle!"
    yield rf"x=\pm{angle}+2\pi k, k\in\mathbb{{Z}}", gold, "both angles!"


@family
def several_points(rng: random.Random) -> Pairs:
    a, b, c, d = rng.sample(range(-15, 16), 4)
    gold = f"({a},{b}),({c},{d})"
    yield f"({c},{d}),({a},{b})", gold, "the other order"
    yield rf"({a},{b})\text{{ and }}({c},{d})", gold, "and"
    yield rf"({a}, {b}), \quad ({c}, {d})", gold, "a wide space"
    yield rf"\{{({a},{b}),({c},{d})\}}", gold, "a set"
    yield rf"(x,y) = ({a},{b}) \text{{ or }} ({c},{d})", gold, "a label and or"
    yield f"({b},{a}),({d},{c})", gold, "coordinates exchanged!"
    yield f"({a},{d}),({c},{b})", gold, "coordinates mixed!"
    yield f"({a},{b})", gold, "one point!"
    yield f"({a},{b},{c},{d})", gold, "one tuple!"
    yield f"({a},{b}),({c},{d}),({a},{d})", gold, "a point more!"


@family
def lines_in_the_plane(rng: random.Random) -> Pairs:
    a, b = rng.sample(range(2, 12), 2)
    c = rng.randint(1, 30)
    gold = f"{a}x+{b}y={c}"
    yield f"{2 * a}x+{2 * b}y={2 * c}", gold, "twice both sides"
    yield f"{c}={a}x+{b}y", gold, "sides exchanged"
    yield f"{a}x+{b}y-{c}=0", gold, "all on one side"
    yield f"{b}y+{a}x={c}", gold, "terms exchanged"
    yield f"-{a}x-{b}y=-{c}", gold, "every sign changed"
    yield rf"y=-\frac{{{a}}}{{{b}}}x+\frac{{{c}}}{{{b}}}", gold, "solved for y"
    yield f"{a}x+{b}y={c + 1}", gold, "another constant!"
    yield f"{a}x-{b}y={c}", gold, "another sign!"
    yield f"{b}x+{a}y={c}", gold, "coefficients exchanged!"
    yield rf"y=\frac{{{a}}}{{{b}}}x+\frac{{{c}}}{{{b}}}", gold, "solved with another sign!"
    yield f"{a}x+{b}y={c}z", gold, "a letter more!"
    yield f"{a}x+{b}y>{c}", gold, "an inequality!"


@family
def ellipses(rng: random.Random) -> Pairs:
    a, b = rng.sample(range(2, 15), 2)
    gold = rf"\frac{{x^2}}{{{a * a}}}+\frac{{y^2}}{{{b * b}}}=1"
    yield rf"{b * b}x^2+{a * a}y^2={a * a * b * b}", gold, "no fractions"
    yield rf"\frac{{x^2}}{{{a}^2}}+\frac{{y^2}}{{{b}^2}}=1", gold, "squares below"
    yield rf"\frac{{y^2}}{{{b * b}}}+\frac{{x^2}}{{{a * a}}}=1", gold, "terms exchanged"
    yield rf"\left(\frac{{x}}{{{a}}}\right)^2+\left(\frac{{y}}{{{b}}}\right)^2=1", gold, "squares"
    yield rf"\frac{{x^2}}{{{b * b}}}+\frac{{y^2}}{{{a * a}}}=1", gold, "axes exchanged!"
    yield rf"\frac{{x^2}}{{{a * a}}}-\frac{{y^2}}{{{b * b}}}=1", gold, "a hyperbola!"
    yield rf"\frac{{x^2}}{{{a}}}+\frac{{y^2}}{{{b}}}=1", gold, "no squares below!"
    yield rf"\frac{{x^2}}{{{a * a}}}+\frac{{y^2}}{{{b * b}}}=0", gold, "another right side!"


@family
def whole_parts(rng: random.Random) -> Pairs:
    b = rng.randint(2, 12)
    a = rng.choice([k for k in range(3, 200) if k % b])
    low = a // b
    yield rf"\left\lfloor \frac{{{a}}}{{{b}}} \right\rfloor", str(low), "rounded down"
    yield rf"\lfloor {a}/{b} \rfloor", str(low), "rounded down, a slash"
    yield rf"\left\lceil \frac{{{a}}}{{{b}}} \right\rceil", str(low + 1), "rounded up"
    yield rf"|-{a}|", str(a), "an absolute value"
    yield rf"\left|{low}-{a}\right|", str(a - low), "the absolute value of a difference"
    yield rf"\left\lceil \frac{{{a}}}{{{b}}} \right\rceil", str(low), "rounded up for down!"
    yield rf"\left\lfloor \frac{{{a}}}{{{b}}} \right\rfloor", str(low + 1), "rounded down for up!"
    yield rf"\frac{{{a}}}{{{b}}}", str(low), "not rounded!"
    yield rf"-|{a}|", str(a), "a sign before!"


@family
def residues(rng: random.Random) -> Pairs:
    m = rng.randint(3, 40)
    a = rng.randint(0, m - 1)
    gold = rf"x \equiv {a} \pmod{{{m}}}"
    yield rf"x\equiv {a}\pmod {{{m}}}", gold, "spaces"
    yield rf"x \equiv {a} \ (\text{{mod }} {m})", gold, "brackets and text"
    yield rf"x \equiv {a} \bmod {m}", gold, "bmod"
    yield rf"x \equiv {a + m} \pmod{{{m}}}", gold, "another representative"
    yield rf"x \equiv {a + 1} \pmod{{{m}}}", gold, "another residue!"
    yield rf"x \equiv {a} \pmod{{{m + 1}}}", gold, "another modulus!"
    yield str(a), str(a + m), "a residue for a number!"
    yield rf"x \not\equiv {a} \pmod{{{m}}}", gold, "denied!"


@family
def probabilities(rng: random.Random) -> Pairs:
    b = rng.choice([4, 5, 8, 10, 16, 20, 25, 40, 50])
    a = rng.choice([k for k in range(1, b) if math.gcd(k, b) == 1 and 2 * k != b])
    gold, value = frac(a, b), Fraction(a, b)
    yield str(float(value)), gold, "as a decimal"
    yield rf"1-\frac{{{b - a}}}{{{b}}}", gold, "one minus the complement"
    yield rf"P=\frac{{{a}}}{{{b}}}", gold, "with its label"
    yield rf"P(A) = {float(value)}", gold, "with the name of its event"
    yield rf"\frac{{{a}}}{{{b}}} = {float(value)}", gold, "fraction and decimal"
    yield rf"\frac{{{7 * a}}}{{{7 * b}}}", gold, "not in lowest terms"
    yield frac(b - a, b), gold, "the complement!"
    yield f"{a}:{b - a}", gold, "odds!"
    yield rf"1-\frac{{{a}}}{{{b}}}", gold, "one minus it!"
    yield str(float(value / 10)), gold, "a tenth of it!"
    yield f"({a},{b})", gold, "a pair!"


@family
def factors_and_signs(rng: random.Random) -> Pairs:
    a, b = rng.sample(range(1, 15), 2)
    gold = f"-(x-{a})(x-{b})"
    yield f"({a}-x)(x-{b})", gold, "the sign in the first factor"
    yield f"(x-{a})({b}-x)", gold, "the sign in the second factor"
    yield f"-x^2+{a + b}x-{a * b}", gold, "multiplied out"
    yield f"-(x^2-{a + b}x+{a * b})", gold, "multiplied out in brackets"
    yield rf"-(x-{b})\cdot(x-{a})", gold, "factors exchanged"
    yield f"({a}-x)({b}-x)", gold, "a sign in both factors!"
    yield f"(x-{a})(x-{b})", gold, "no sign!"
    yield f"-(x+{a})(x+{b})", gold, "other roots!"
    yield f"-x^2-{a + b}x-{a * b}", gold, "multiplied out with another sign!"


@family
def higher_roots(rng: random.Random) -> Pairs:
    a = rng.choice([2, 3, 5, 6, 7, 10, 11])
    k, n = rng.randint(2, 6), rng.choice([3, 4, 5])
    gold = rf"{k}\sqrt[{n}]{{{a}}}"
    yield rf"\sqrt[{n}]{{{k**n * a}}}", gold, "the factor under the root"
    yield rf"{k}\cdot {a}^{{1/{n}}}", gold, "a power"
    yield rf"{k}\cdot {a}^{{\frac{{1}}{{{n}}}}}", gold, "a power with a fraction"
    yield rf"\sqrt[{n}]{{{a}}}\cdot {k}", gold, "factors exchanged"
    yield rf"{k}\sqrt[{2 * n}]{{{a * a}}}", gold, "twice the order"
    yield rf"{k}\sqrt[{n + 1}]{{{a}}}", gold, "another order!"
    yield rf"\sqrt[{n}]{{{k * a}}}", gold, "the factor under the root as it is!"
    yield rf"{k}\sqrt{{{a}}}", gold, "a square root!"
    yield rf"{k}\cdot {a}^{{{n}}}", gold, "a power for a root!"
    yield rf"{k}\cdot\frac{{{a}}}{{{n}}}", gold, "a fraction for a root!"


@family
def rational_denominators(rng: random.Random) -> Pairs:
    a, k = rng.choice([2, 3, 5, 6, 7, 10, 11, 13]), rng.randint(2, 12)
    gold = rf"\frac{{{k}\sqrt{{{a}}}}}{{{a}}}"
    yield rf"\frac{{{k}}}{{\sqrt{{{a}}}}}", gold, "a root below"
    yield rf"{k}/\sqrt{{{a}}}", gold, "a root below a slash"
    yield rf"\frac{{{k}}}{{{a}}}\sqrt{{{a}}}", gold, "the root beside the fraction"
    yield rf"\sqrt{{\frac{{{k * k}}}{{{a}}}}}", gold, "a fraction under the root"
    yield rf"{k}\cdot {a}^{{-1/2}}", gold, "a negative power"
    yield rf"\frac{{{k}}}{{{a}}}", gold, "no root!"
    yield rf"\frac{{\sqrt{{{a}}}}}{{{k}}}", gold, "upside down!"
    yield rf"\frac{{{k}\sqrt{{{a}}}}}{{{a + 1}}}", gold, "another denominator!"
    yield rf"\sqrt{{\frac{{{k}}}{{{a}}}}}", gold, "the factor under the root as it is!"


@family
def powers_of_e(rng: random.Random) -> Pairs:
    k, m = rng.randint(2, 9), rng.randint(2, 9)
    gold = rf"e^{{{k}}}-\frac{{1}}{{e^{{{m}}}}}"
    yield rf"e^{{{k}}}-e^{{-{m}}}", gold, "a negative power"
    yield rf"\frac{{e^{{{k + m}}}-1}}{{e^{{{m}}}}}", gold, "one fraction"
    yield rf"-e^{{-{m}}}+e^{{{k}}}", gold, "terms exchanged"
    yield rf"\exp({k})-\exp(-{m})", gold, "exp"
    yield rf"e^{{{k}}}+e^{{-{m}}}", gold, "a sum!"
    yield rf"e^{{{k + 1}}}-e^{{-{m}}}", gold, "another power!"
    yield rf"e^{{{k}}}-e^{{{m}}}" if k != m else "0", gold, "no fraction!"
    yield f"{math.e**k - math.e**-m:.4f}", gold, "rounded!"


@family
def complex_numbers_by_angle(rng: random.Random) -> Pairs:
    r = rng.randint(1, 20)
    degrees, turn, plain, conjugate = rng.choice([
        (60, r"\pi/3", rf"{r}+{r}\sqrt{{3}}i", rf"{r}-{r}\sqrt{{3}}i"),
        (90, r"\pi/2", f"{2 * r}i", f"-{2 * r}i"),
        (30, r"\pi/6", rf"{r}\sqrt{{3}}+{r}i", rf"{r}\sqrt{{3}}-{r}i"),
    ])  # fmt: skip
    gold = plain
    yield rf"{2 * r}e^{{i{turn}}}", gold, "an exponential"
    yield rf"{2 * r}(\cos {degrees}^\circ+i\sin {degrees}^\circ)", gold, "cosine and sine"
    yield rf"{2 * r}\,\text{{cis}}\,{degrees}^\circ", gold, "cis"
    yield gold, rf"{2 * r}e^{{i{turn}}}", "the value of an exponential"
    yield conjugate, gold, "the conjugate!"
    yield rf"{2 * r}e^{{-i{turn}}}", gold, "the exponential of the conjugate!"
    yield rf"{r}e^{{i{turn}}}", gold, "half its length!"
    yield rf"{2 * r}(\sin {degrees}^\circ-i\cos {degrees}^\circ)", gold, "a quarter turn off!"
    yield str(2 * r), gold, "its length!"


@family
def long_numbers(rng: random.Random) -> Pairs:
    n = rng.randint(10**6, 10**10)
    text, grouped = str(n), f"{n:,}"
    yield grouped.replace(",", " "), text, "digits grouped by spaces"
    yield grouped.replace(",", r"\ "), text, "digits grouped by LaTeX spaces"
    yield grouped + ".00", text, "commas and decimal zeros"
    yield rf"\text{{{grouped}}}", text, "commas in text"
    yield grouped.replace(",", r"{,}\!"), text, "commas in braces and negative spaces"
    yield grouped.replace(",", "~"), text, "digits grouped by ties"
    yield grouped[:-1], text, "the last digit lost!"
    yield grouped.replace(",", ".", 1).replace(",", ""), text, "a point for a comma!"
    yield text[:3] + text[4:], text, "a digit in the middle lost!"
    yield str(n + 1000), text, "a thousand more!"
    swapped = text[1] + text[0] + text[2:]
    yield swapped, text, "two digits exchanged!" if swapped != text else "never"


@family
def wrappers(rng: random.Random) -> Pairs:
    gold = rng.choice([str(rng.randint(2, 999)), frac(rng.randint(1, 9), rng.choice([11, 13, 17])),
                       rf"{rng.randint(2, 30)}\sqrt{{5}}"])  # fmt: skip
    other = gold + "1" if gold.isdigit() else "2" + gold
    for wrap in ("{{{}}}", "{{{{{}}}}}", r"\mathbf{{{}}}", r"\mathrm{{{}}}", r"\underline{{{}}}",
                 r"\textcolor{{blue}}{{{}}}", r"\color{{red}}{{{}}}", r"\fbox{{{}}}",
                 r"\Large {}", r"\ensuremath{{{}}}", r"\mathsf{{{}}}",
                 r"\displaystyle{{{}}}", r"\bm{{{}}}", r"\boldsymbol{{{}}}"):  # fmt: skip
        name = wrap.replace("{{{}}}", "").replace("{{", "{").replace("}}", "}") or "braces"
        yield wrap.format(gold), gold, f"wrapped: {name}"
        yield wrap.format(other), gold, f"another value, wrapped: {name}!"


@family
def ways_to_write_a_fraction(rng: random.Random) -> Pairs:
    a, b = rng.sample(range(2, 10), 2)
    gold = rf"\frac{{{a}}}{{{b}}}"
    yield rf"\frac{a}{b}", gold, "no braces"
    yield rf"\frac{a}{{{b}}}", gold, "braces below alone"
    yield rf"\frac{{{a}}}{b}", gold, "braces above alone"
    yield rf"{{{a} \over {b}}}", gold, "over"
    yield rf"\cfrac{{{a}}}{{{b}}}", gold, "cfrac"
    yield f"{a}⁄{b}", gold, "a fraction slash"
    yield rf"^{{{a}}}/_{{{b}}}", gold, "a raised numerator"
    yield rf"\frac {{{a}}} {{{b}}}", gold, "spaces"
    yield rf"{a}\div{b}", gold, "a division sign"
    yield rf"\frac{b}{a}", gold, "upside down, no braces!"
    yield rf"{{{b} \over {a}}}", gold, "over, upside down!"
    yield rf"\frac{{{a}}}{{{b}}}{a}", gold, "a digit behind it!"
    yield rf"\frac{a}{b}0", gold, "a zero behind it!"


@family
def signs_and_powers(rng: random.Random) -> Pairs:
    a, n = rng.randint(2, 9), rng.choice([2, 4, 6])
    yield f"-{a}^{n}", str(-(a**n)), "the sign before the power"
    yield f"(-{a})^{n}", str(a**n), "the sign in the power"
    yield f"(-{a})^{n + 1}", str(-(a ** (n + 1))), "the sign in an odd power"
    yield rf"{a}^{{-{n}}}", frac(1, a**n), "a negative power"
    yield rf"\left(\frac{{1}}{{{a}}}\right)^{{{n}}}", f"{a}^{{-{n}}}", "a power of a fraction"
    yield f"{a}^0", "1", "the power zero"
    yield f"-{a}^{n}", str(a**n), "the sign before the power, for the other!"
    yield f"(-{a})^{n}", str(-(a**n)), "the sign in the power, for the other!"
    yield rf"{a}^{{-{n}}}", str(-(a**n)), "a negative power for a negative number!"
    yield f"{a}^0", "0", "the power zero for zero!"
    yield rf"{a}^{{1/{n}}}", frac(1, a**n), "a root for a negative power!"


@family
def between_two_numbers(rng: random.Random) -> Pairs:
    a = rng.randint(1, 40)
    gold = f"(-{a},{a})"
    yield f"-{a}<x<{a}", gold, "a double inequality"
    yield f"|x|<{a}", gold, "an absolute value"
    yield rf"x>-{a} \text{{ and }} x<{a}", gold, "two inequalities"
    yield f"{a}>x>-{a}", gold, "a double inequality from the right"
    yield f"x^2<{a * a}", gold, "a square"
    yield rf"x>-{a} \text{{ or }} x<{a}", gold, "or for and!"
    yield rf"-{a}\le x\le {a}", gold, "with its ends!"
    yield f"|x|>{a}", gold, "outside!"
    yield f"|x|<{a + 1}", gold, "another bound!"
    yield f"x<{a}", gold, "one bound!"
    yield f"x^2<{a}" if a > 1 else "x^2<2", gold, "a square without its square!"


@family
def counting(rng: random.Random) -> Pairs:
    n = rng.randint(5, 20)
    k = rng.randint(2, n - 2)
    count, ordered = math.comb(n, k), math.perm(n, k)
    yield rf"\binom{{{n}}}{{{n - k}}}", str(count), "the complement"
    yield f"C({n},{k})", str(count), "a letter"
    yield rf"{{}}_{{{n}}}C_{{{k}}}", str(count), "indices"
    yield rf"\dbinom{{{n}}}{{{k}}}", str(count), "large"
    yield rf"\tbinom{{{n}}}{{{k}}}", str(count), "small"
    yield rf"\frac{{{n}!}}{{{k}!\,{n - k}!}}", str(count), "factorials"
    yield rf"\frac{{{n}!}}{{{n - k}!}}", str(ordered), "ordered, by factorials"
    yield f"P({n},{k})", str(ordered), "ordered, a letter"
    yield rf"\binom{{{n}}}{{{k}}}", str(ordered), "unordered for ordered!"
    yield rf"\binom{{{n + 1}}}{{{k}}}", str(count), "one more to choose from!"
    yield rf"\frac{{{n}!}}{{{k}!}}", str(count), "a factorial less!"
    yield rf"\frac{{{n}}}{{{k}}}", str(count), "a fraction!"


@family
def points_on_circles(rng: random.Random) -> Pairs:
    k, a = rng.randint(1, 20), rng.choice([2, 3, 5, 7])
    gold = rf"\left(\frac{{{k}}}{{\sqrt{{{a}}}}},-{k}\right)"
    yield rf"\left(\frac{{{k}\sqrt{{{a}}}}}{{{a}}}, -{k}\right)", gold, "a rational denominator"
    yield rf"({k}/\sqrt{{{a}}}, -{k})", gold, "a slash"
    yield rf"\left(\sqrt{{\frac{{{k * k}}}{{{a}}}}}, -{k}\right)", gold, "a fraction under a root"
    yield rf"x=\frac{{{k}}}{{\sqrt{{{a}}}}}, y=-{k}", gold, "labels"
    yield rf"\left(-{k},\frac{{{k}}}{{\sqrt{{{a}}}}}\right)", gold, "exchanged!"
    yield rf"\left(\frac{{{k}}}{{\sqrt{{{a}}}}},{k}\right)", gold, "another sign!"
    yield rf"\left(\frac{{{k}}}{{{a}}},-{k}\right)", gold, "no root!"
    yield rf"({k / math.sqrt(a):.4f}, -{k})", gold, "rounded!"


PHRASES = ["right triangle", "straight line", "two circles", "blue marble", "point of inflection",
           "arithmetic sequence", "local maximum", "second quadrant", "odd numbers"]  # fmt: skip


@family
def phrases(rng: random.Random) -> Pairs:
    phrase, other = rng.sample(PHRASES, 2)
    gold = rf"\text{{{phrase}}}"
    yield phrase, gold, "not in text"
    yield rf"\text{{{phrase.capitalize()}}}", gold, "a capital"
    yield rf"\text{{{phrase}}}.", gold, "a full stop"
    yield phrase.replace(" ", "~"), gold, "a tie"
    yield rf"\textit{{{phrase}}}", gold, "in italics"
    yield rf"\text{{{other}}}", gold, "another phrase!"
    yield phrase.split()[0], gold, "its first word!"
    yield rf"\text{{no {phrase}}}", gold, "denied!"
    yield rf"\text{{{phrase} and {other}}}", gold, "two phrases!"
    yield rf"\text{{neither {phrase} nor {other}}}", gold, "neither of two!"


@family
def temperatures(rng: random.Random) -> Pairs:
    n = rng.randint(-30, 120)
    gold = rf"{n}^\circ\text{{C}}"
    yield f"{n}°C", gold, "a degree sign"
    yield rf"{n}^{{\circ}}\mathrm{{C}}", gold, "braces and upright letters"
    yield rf"{n}\,^\circ\mathrm{{C}}", gold, "a thin space"
    yield rf"{n}^\circ C", gold, "a plain letter"
    yield rf"{n}\text{{ degrees Celsius}}", gold, "in words"
    yield rf"{n + 1}^\circ\text{{C}}", gold, "a degree more!"
    yield rf"{n}^\circ\text{{F}}", gold, "Fahrenheit!"
    yield rf"{-n if n else 5}^\circ\text{{C}}", gold, "the opposite!"
    yield rf"{n}\text{{ cm}}", gold, "a length!"


@family
def derivatives(rng: random.Random) -> Pairs:
    a, n = rng.randint(2, 12), rng.randint(2, 6)
    gold = rf"{a}x^{{{n}}}e^{{x^2}}"
    yield rf"{a}e^{{x^2}}x^{{{n}}}", gold, "factors exchanged"
    yield rf"{a}x^{n}\exp(x^2)", gold, "exp"
    yield rf"{a}x^{{{n}}}\cdot e^{{x^{{2}}}}", gold, "a dot"
    yield rf"\frac{{{a}x^{{{n}}}}}{{e^{{-x^2}}}}", gold, "a negative power below"
    yield rf"{a}x^{{{n}}}e^{{2x}}", gold, "a factor for a power!"
    yield rf"{a}x^{{{n + 1}}}e^{{x^2}}", gold, "another power!"
    yield rf"{a}x^{{{n}}}(e^x)^2", gold, "the square of the exponential!"
    yield rf"{a}x^{{{n}}}+e^{{x^2}}", gold, "a sum!"
    primitive = rf"\frac{{x^{{{n + 1}}}}}{{{n + 1}}}+C"
    yield rf"\frac{{1}}{{{n + 1}}}x^{{{n + 1}}}+C", primitive, "the factor before the power"
    yield rf"C+\frac{{x^{{{n + 1}}}}}{{{n + 1}}}", primitive, "the constant first"
    yield rf"\frac{{x^{{{n}}}}}{{{n}}}+C", primitive, "another power of a primitive!"
    yield rf"{n}x^{{{n - 1}}}+C", primitive, "a derivative for a primitive!"


@family
def sums_of_fractions(rng: random.Random) -> Pairs:
    a, b, c = rng.sample(range(2, 12), 3)
    value = Fraction(1, a) + Fraction(1, b) + Fraction(1, c)
    gold = frac(value.numerator, value.denominator)
    total = rf"\frac{{1}}{{{a}}}+\frac{{1}}{{{b}}}+\frac{{1}}{{{c}}}"
    yield total, gold, "the sum"
    yield gold, total, "the value of a sum"
    yield f"1/{a} + 1/{b} + 1/{c}", gold, "the sum with slashes"
    yield rf"\frac{{{b * c}+{a * c}+{a * b}}}{{{a * b * c}}}", gold, "over one denominator"
    yield rf"\frac{{3}}{{{a + b + c}}}", gold, "the fraction of sums!"
    yield rf"\frac{{1}}{{{a}+{b}+{c}}}", gold, "the fraction of a sum!"
    yield total.replace("+", "-", 1), gold, "a difference!"
    yield rf"{total}+1", gold, "one more!"


@family
def ratios_of_three(rng: random.Random) -> Pairs:
    a, b, c = rng.sample(range(1, 20), 3)
    g = math.gcd(a, b, c)
    a, b, c = a // g, b // g, c // g
    k = rng.randint(2, 6)
    gold = f"{a}:{b}:{c}"
    yield f"{a} : {b} : {c}", gold, "spaces"
    yield f"{k * a}:{k * b}:{k * c}", gold, "not in lowest terms"
    yield rf"\text{{{gold}}}", gold, "in text"
    yield rf"{a}\colon {b}\colon {c}", gold, "colons as commands"
    yield f"{b}:{a}:{c}", gold, "two exchanged!"
    yield f"{a}:{b}", gold, "one left out!"
    yield f"{a}:{b}:{c + 1}", gold, "another number!"
    yield f"{a + k}:{b + k}:{c + k}", gold, "the same added to each!"
    yield str(a + b + c), gold, "the sum!"


@family
def indexed_letters(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 15), rng.randint(1, 15)
    gold = f"a_n={a}n+{b}"
    yield f"a_{{n}} = {a}n + {b}", gold, "braces"
    yield f"{a}n+{b}", gold, "no label"
    yield f"a_n={b}+{a}n", gold, "terms exchanged"
    yield rf"a_n = {a + b} + {a}(n-1)", gold, "the first term and a difference"
    yield f"a_n={a}n-{b}", gold, "another sign!"
    yield f"a_n={a}(n+{b})", gold, "a factor too many!"
    yield f"a_n={a}^n+{b}", gold, "a power!"
    yield f"a_{{n+1}}={a}n+{b}", gold, "the next term!"
    yield f"x_1={a}, x_2={b}", f"x_{{1}}={a}, x_{{2}}={b}", "indices without braces"
    yield (
        f"x_1={b}, x_2={a}" if a != b else "x_1=0, x_2=0",
        f"x_{{1}}={a}, x_{{2}}={b}",
        ("values of indices exchanged!"),
    )


@family
def hyperbolic_functions(rng: random.Random) -> Pairs:
    a = rng.randint(2, 40)
    yield rf"\frac{{e^x-e^{{-x}}}}{{2}}+{a}", rf"\sinh x+{a}", "the hyperbolic sine"
    yield rf"\frac{{e^x+e^{{-x}}}}{{2}}+{a}", rf"\cosh x+{a}", "the hyperbolic cosine"
    yield rf"\frac{{\sinh x}}{{\cosh x}}+{a}", rf"\tanh x+{a}", "the hyperbolic tangent"
    yield rf"{a}+\cosh^2 x-\sinh^2 x", str(a + 1), "the difference of squares"
    yield rf"\frac{{e^x+e^{{-x}}}}{{2}}+{a}", rf"\sinh x+{a}", "the cosine for the sine!"
    yield rf"\sin x+{a}", rf"\sinh x+{a}", "the sine of angles!"
    yield rf"e^x-e^{{-x}}+{a}", rf"\sinh x+{a}", "not halved!"
    yield rf"{a}+\cosh^2 x+\sinh^2 x", str(a + 1), "the sum of squares!"


@family
def powers_of_ten(rng: random.Random) -> Pairs:
    n = rng.randint(3, 12)
    gold = f"10^{{{n}}}"
    yield "1" + "0" * n, gold, "its digits"
    yield f"{10**n:,}", gold, "its digits with commas"
    yield rf"1\times 10^{{{n}}}", gold, "a factor of one"
    yield f"1e{n}", gold, "e notation"
    yield rf"100\cdot 10^{{{n - 2}}}", gold, "a factor of a hundred"
    yield rf"2^{{{n}}}\cdot 5^{{{n}}}", gold, "its primes"
    yield "1" + "0" * (n + 1), gold, "a zero more!"
    yield f"10{n}", gold, "no power!"
    yield rf"10\times {n}", gold, "a product!"
    yield f"{n}^{{10}}" if n != 10 else "10^{11}", gold, "exchanged!"
    yield rf"10^{{-{n}}}", gold, "a negative power!"


@family
def polynomials_of_degree_three(rng: random.Random) -> Pairs:
    a, b, c = rng.sample(range(1, 9), 3)
    one, two, three = a + b + c, a * b + a * c + b * c, a * b * c
    gold = f"x^3-{one}x^2+{two}x-{three}"
    first, second, third = rng.choice(list(permutations((a, b, c))))
    yield f"(x-{first})(x-{second})(x-{third})", gold, "in factors"
    yield f"(x-{a})(x^2-{b + c}x+{b * c})", gold, "one factor"
    yield f"x(x(x-{one})+{two})-{three}", gold, "nested"
    yield f"-{three}+{two}x-{one}x^2+x^3", gold, "terms from the last"
    yield f"x^{{3}} - {one} x^{{2}} + {two} x - {three}", gold, "spaces and braces"
    yield f"(x+{a})(x+{b})(x+{c})", gold, "other roots!"
    yield f"x^3-{one}x^2+{two}x+{three}", gold, "another sign!"
    yield f"x^3-{two}x^2+{one}x-{three}" if one != two else "x", gold, "coefficients exchanged!"
    yield (
        f"x^3-{one}x^2+{two}x-{three}=0",
        f"x^3-{one}x^2+{two}x-{three + 1}=0",
        ("another constant of an equation!"),
    )
    yield f"{a}, {b}, {c}", gold, "the roots!"


def held_out(name: str, reason: str) -> bool:
    """Whether a rule is in the third that was kept out of tuning."""
    return hashlib.sha256(f"{name}\0{reason}".encode()).digest()[0] % 3 == 0


def drawn(
    families: dict[str, Callable[[random.Random], Pairs]],
    seed: str,
    wanted: int,
    known: set[tuple[str, str]],
) -> Iterator[dict[str, str]]:
    """Up to `wanted` new pairs a family, with their label and rule; `known` are left out."""
    for name, rule in families.items():
        rng = random.Random(f"{name}{seed}")
        made = 0
        for _ in range(1000):
            for answer, gold, reason in rule(rng):
                if reason == "never" or made == wanted or (answer, gold) in known:
                    continue
                known.add((answer, gold))
                made += 1
                yield {
                    "family": name,
                    "answer": answer,
                    "gold": gold,
                    "label": "wrong" if reason.endswith("!") else "right",
                    "reason": reason.rstrip("!"),
                }


def later() -> list[dict[str, str]]:
    """The pairs of `later.csv`, without `at_first`."""
    return [
        row | {"split": "held out" if held_out(row["family"], row["reason"]) else "tuned"}
        for row in drawn(LATER, "", DRAWS, set())
    ]


def again() -> list[dict[str, str]]:
    """The pairs of `again.csv`."""
    known = {(row["answer"], row["gold"]) for row in first_pairs()}
    return [row | {"split": "held out"} for row in drawn(FIRST, " again", AGAIN, known)]


def main() -> None:
    for name, rows in (("later", later()), ("again", again())):
        with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"{len(rows)} pairs in {name}.csv")


if __name__ == "__main__":
    main()
