r"""The judge's labelled corpus: pairs (answer, gold), each with its label and the reason for it.

    python data/judge/build.py

Every pair follows from a rule below and from draws of a fixed seed, so that the file `pairs.csv` is
the same whoever writes it. A family is a kind of gold, in the style of the public sets (MATH,
GSM8K, AIME, Minerva, GPQA, POLARIS); a rule gives a gold with right spellings of it and with near
misses. Labels say what a careful reader with the problem before them would say.

`split`: a third of the pairs, by a hash of the pair, is "held out": rules of the judge were not
tuned on them.
"""

import csv
import hashlib
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

OUT = Path(__file__).with_name("pairs.csv")
Pairs = Iterator[tuple[str, str, str]]  # answer, gold, reason; the reason of a near miss ends in !
FAMILIES: dict[str, Callable[[random.Random], Pairs]] = {}


def family(rule: Callable[[random.Random], Pairs]) -> Callable[[random.Random], Pairs]:
    FAMILIES[rule.__name__.replace("_", " ")] = rule
    return rule


def frac(top: object, below: object) -> str:
    return rf"\frac{{{top}}}{{{below}}}"


@family
def integers(rng: random.Random) -> Pairs:
    n = rng.choice([rng.randint(1, 99), rng.randint(1000, 99_999_999)])
    gold = str(n)
    yield f"{n:,}", gold, "digits grouped by commas"
    yield f"{n:,}".replace(",", r",\!"), gold, "digits grouped by a comma and a negative space"
    yield f"{n:,}".replace(",", "{,}"), gold, "digits grouped by {,}"
    yield f"{n:,}".replace(",", r"\,"), gold, "digits grouped by thin spaces"
    yield f"+{n}", gold, "a plus sign"
    yield f"{n}.0", gold, "a decimal zero"
    yield f"${n}$", gold, "between dollars"
    yield f"{n}.", gold, "a full stop"
    yield rf"\text{{{n}}}", gold, "in text"
    yield rf"\mathbf{{{n}}}", gold, "in bold"
    yield f"x={n}", gold, "with its label"
    yield f"{n}=x", gold, "with its label on the right"
    yield rf"\boxed{{{n}}}", gold, "a box in the box"
    yield str(n + rng.choice([-1, 1])), gold, "another number!"
    yield f"-{n}", gold, "the opposite!"
    yield f"{n}0", gold, "ten times as much!"
    yield f"{n}.5", gold, "a half more!"
    yield f"{n}x", gold, "a letter more!"
    yield f"{n}, {n + 1}", gold, "two numbers!"
    yield f"{n}!" if n > 2 else "3!", gold, "a factorial!"
    yield rf"{n}\text{{ is not the answer}}", gold, "words that deny it!"
    yield f"{n} or {n + 1}", gold, "a second guess!"


@family
def fractions(rng: random.Random) -> Pairs:
    value = Fraction(rng.randint(1, 60), rng.randint(2, 60))
    while value.denominator == 1:
        value = Fraction(rng.randint(1, 60), rng.randint(2, 60))
    a, b = value.numerator, value.denominator
    gold, k = frac(a, b), rng.randint(2, 9)
    yield f"{a}/{b}", gold, "a slash"
    yield rf"\dfrac{{{a}}}{{{b}}}", gold, "a large fraction"
    yield rf"\tfrac{{{a}}}{{{b}}}", gold, "a small fraction"
    yield frac(k * a, k * b), gold, "not in lowest terms"
    yield rf"{a}\div {b}", gold, "a division sign"
    yield rf"{a} \cdot {frac(1, b)}", gold, "a product"
    yield rf"{b}^{{-1}}\cdot {a}", gold, "a negative power"
    yield rf"-{frac(f'-{a}', b)}", gold, "two minus signs"
    yield rf"\left(\frac{{{a}}}{{{b}}}\right)", gold, "in brackets"
    yield frac(b, a) if a != 1 else frac(b, 2 * b - 1), gold, "upside down!"
    yield frac(a + 1, b), gold, "another numerator!"
    yield frac(a, b + 1), gold, "another denominator!"
    yield f"-{a}/{b}", gold, "the opposite!"
    yield f"({a}, {b})", gold, "a pair!"
    yield f"{a}{b}", gold, "no bar!"
    yield (
        f"{float(value):.6f}",
        gold,
        "rounded to six places!" if (Fraction(f"{float(value):.6f}") != value) else "its decimals",
    )


@family
def decimals(rng: random.Random) -> Pairs:
    places = rng.randint(1, 4)
    digits = rng.randint(1, 9 * 10**places)
    if digits % 10 == 0:
        digits += 1
    value = Fraction(digits, 10**places)
    gold = f"{digits // 10**places}.{digits % 10**places:0{places}d}"
    yield f"{gold}0", gold, "a zero at the end"
    yield f"{gold}00", gold, "zeros at the end"
    yield f"0{gold}", gold, "a zero before it"
    yield gold.removeprefix("0"), gold, "no zero before the point"
    yield frac(digits, 10**places), gold, "the fraction"
    yield f"{value.numerator}/{value.denominator}", gold, "the fraction in lowest terms"
    yield rf"{digits}\times 10^{{-{places}}}", gold, "a power of ten"
    yield f"{gold}1", gold, "one digit more!"
    yield gold[:-1] or "0", gold, "one digit less!"
    yield gold.replace(".", ""), gold, "no point!"
    yield f"1{gold}", gold, "a one before it!"
    yield f"-{gold}", gold, "the opposite!"
    yield rf"\frac{{{digits + 1}}}{{{10**places}}}", gold, "another fraction!"


@family
def scientific_notation(rng: random.Random) -> Pairs:
    head, tail = rng.randint(1, 9), rng.randint(1, 99)
    tail_text = f"{tail:02d}".rstrip("0")
    power = rng.choice([rng.randint(3, 40), -rng.randint(3, 31)])
    gold = f"{head}.{tail_text}e{power}"
    mantissa = f"{head}.{tail_text}"
    digits = int(f"{head}{tail_text}")
    shift = len(tail_text)
    yield rf"{mantissa}\times10^{{{power}}}", gold, "a times sign"
    yield rf"{mantissa} \cdot 10^{{{power}}}", gold, "a dot"
    yield f"{mantissa}*10^{power}" if power > 0 else f"{mantissa}*10^({power})", gold, "a star"
    yield f"{mantissa}E{power}", gold, "a capital E"
    yield f"{mantissa}e{power:+d}", gold, "a sign in the exponent"
    yield rf"{digits} \times 10^{{{power - shift}}}", gold, "a whole mantissa"
    yield rf"0.{head}{tail_text}\times 10^{{{power + 1}}}", gold, "a mantissa below one"
    if power > 3:
        yield f"{digits}{'0' * (power - shift)}", gold, "all digits"
    else:
        yield f"0.{'0' * (-power - 1)}{digits}", gold, "all decimals"
    yield rf"{mantissa} × 10^{{{power}}}", gold, "a Unicode times sign"
    yield f"{power}e{mantissa}", gold, "the exponent before the mantissa!"
    yield rf"{mantissa}\times10^{{{power + 1}}}", gold, "ten times as much!"
    yield rf"{mantissa}\times10^{{{-power}}}", gold, "the other sign of the exponent!"
    yield f"{head}.{tail_text}1e{power}", gold, "a digit more!"
    yield rf"{mantissa}\times9^{{{power}}}", gold, "powers of nine!"
    yield mantissa, gold, "no power!"
    yield rf"{mantissa}+10^{{{power}}}", gold, "a sum!"
    yield f"{head + 1 if head < 9 else 1}.{tail_text}e{power}", gold, "another mantissa!"


@family
def tolerance_of_a_set(rng: random.Random) -> Pairs:
    head = Fraction(rng.randint(11, 99), 10)
    power = rng.choice([0, rng.randint(3, 30), -rng.randint(3, 30)])
    number = f"{float(head)}e{power}" if power else f"{float(head)}"
    gold = f"{number} [within 0.01 of it]"

    def near(share: str) -> str:
        value = head * (1 + Fraction(share))
        text = f"{value.numerator * 10**6 // value.denominator / 10**6:.6f}"
        return rf"{text}\times10^{{{power}}}" if power else text

    yield number, gold, "the number itself"
    yield near("0.009"), gold, "within the tolerance of the set"
    yield near("-0.009"), gold, "within the tolerance of the set, below"
    yield near("0.001"), gold, "within the tolerance of the set, close"
    yield near("0.02"), gold, "outside the tolerance of the set!"
    yield near("-0.02"), gold, "outside the tolerance of the set, below!"
    yield near("0.5"), gold, "far outside the tolerance of the set!"
    yield f"-{number}", gold, "the opposite!"
    yield near("0.001"), number, "near, and the set declares no tolerance!"


@family
def bases(rng: random.Random) -> Pairs:
    base = rng.choice([2, 3, 4, 5, 6, 7, 8, 9, 12, 16])
    digits = "123456789ABCDEF"[: base - 1]
    text = rng.choice("123456789"[: min(base - 1, 9)]) + "".join(
        rng.choice("0" + digits) for _ in range(rng.randint(2, 5))
    )
    while max(int(d, 36) for d in text) != base - 1 and base < 12:  # so that no lower base has it
        text = text[:-1] + digits[-1]
    gold = f"{text}_{base}" if base < 10 else f"{text}_{{{base}}}"
    words = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight",
             9: "nine", 12: "twelve", 16: "sixteen"}  # fmt: skip
    yield f"{text}_{{{base}}}", gold, "the base in braces"
    yield rf"{text}_{{\text{{{words[base]}}}}}", gold, "the base in words"
    yield f"({text})_{{{base}}}", gold, "digits in brackets"
    yield rf"\text{{{text}}}_{{{base}}}", gold, "digits in text"
    yield f"0{text}_{{{base}}}", gold, "a zero before it"
    yield rf"{text}\text{{ base }}{base}" if base != 16 else f"{text}_{{16}}", gold, "base in words"
    yield f"{text}_{{{base + 1}}}", gold, "another base!"
    if base > 2:
        yield f"{text}_{{{base - 1}}}", gold, "a base without these digits!"
    yield f"{text}0_{{{base}}}", gold, "a digit more!"
    yield f"{text[::-1] if text != text[::-1] else text + '1'}_{{{base}}}", gold, "digits reversed!"
    yield f"{text[:-1] + ('1' if text[-1] != '1' else '0')}_{{{base}}}", gold, "another digit!"
    yield f"-{text}_{{{base}}}", gold, "the opposite!"


@family
def repeating_decimals(rng: random.Random) -> Pairs:
    period = rng.choice(["3", "6", "12", "27", "142857", "45", "09"])
    once = rng.choice(["", "", "1", "25"])
    whole = rng.randint(0, 4)
    value = (
        whole
        + Fraction(int(once or 0), 10 ** len(once))
        + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(once))
    )
    gold = frac(value.numerator, value.denominator)
    if value.denominator == 1:
        return
    overlined = rf"{whole}.{once}\overline{{{period}}}"
    yield overlined, gold, "a line over the period"
    yield rf"{whole}.{once}\bar{{{period}}}", gold, "a bar over the period"
    yield gold, overlined, "the fraction of a repeating decimal"
    yield rf"{whole}.{once}{period * (4 if len(period) == 1 else 3)}\ldots", gold, "three dots"
    yield f"{whole}.{once}{period * (4 if len(period) == 1 else 3)}...", overlined, "dots as text"
    yield rf"{whole}.{once}{period}\overline{{{period}}}", overlined, "one period before the line"
    yield f"{whole}.{once}{period * 6}", gold, "decimals that end!"
    yield f"{whole}.{once}{period}", overlined, "one period that ends!"
    other = str((int(period) + 1) % 10 ** len(period)).zfill(len(period))
    yield rf"{whole}.{once}\overline{{{other}}}", gold, "another period!"
    yield rf"{whole + 1}.{once}\overline{{{period}}}", gold, "one more!"
    yield (
        rf"{whole}.{once}0\overline{{{period}}}",
        gold,
        "the period one place later!" if (set(period) != {"0"}) else "never",
    )


@family
def mixed_numbers(rng: random.Random) -> Pairs:
    below = rng.randint(2, 12)
    top = rng.choice([k for k in range(1, below) if math.gcd(k, below) == 1])
    whole = rng.randint(1, 20)
    gold = frac(whole * below + top, below)
    mixed = rf"{whole}\frac{{{top}}}{{{below}}}"
    yield mixed, gold, "a mixed number"
    yield gold, mixed, "the fraction of a mixed number"
    yield f"{whole} {top}/{below}", gold, "a mixed number without LaTeX"
    yield rf"{whole}\,\dfrac{{{top}}}{{{below}}}", mixed, "a space before the fraction"
    yield rf"{whole} + {frac(top, below)}", mixed, "a sum"
    yield f"-{mixed}", f"-{gold}", "a negative mixed number"
    yield rf"{whole}\cdot\frac{{{top}}}{{{below}}}", gold, "a product!"
    yield rf"{whole + 1}\frac{{{top}}}{{{below}}}", gold, "one more!"
    yield rf"{top}\frac{{{whole}}}{{{below}}}" if whole != top else str(whole), mixed, "exchanged!"
    yield frac(whole * top, below), mixed, "multiplied!"
    if Fraction(int(f"{whole}{top}"), below) != whole + Fraction(top, below):  # 1 9/10 is 19/10
        yield f"{whole}{top}/{below}", gold, "no space!"
    if below in (2, 4, 8) and (top, below) in ((1, 2), (1, 4), (3, 4), (1, 8), (3, 8)):
        mark = {(1, 2): "½", (1, 4): "¼", (3, 4): "¾", (1, 8): "⅛", (3, 8): "⅜"}[top, below]
        yield f"{whole}{mark}", gold, "a Unicode fraction"


@family
def percent(rng: random.Random) -> Pairs:
    n = rng.randint(1, 99)
    gold = rf"{n}\%"
    yield f"{n}%", gold, "no backslash"
    yield str(n), gold, "the sign left out where the question asks for percent"
    yield rf"{n}\text{{ percent}}", gold, "in words"
    yield rf"{n}.0\%", gold, "a decimal zero"
    yield gold, str(n), "the sign where the gold has none"
    yield frac(n, 100), gold, "the value as a fraction"
    yield gold, f"0.{n:02d}", "the percentage of a decimal"
    yield rf"{n + 1}\%", gold, "another percentage!"
    yield rf"{n}0\%", gold, "ten times as much!"
    yield rf"0.{n:02d}\%", gold, "divided by a hundred!"
    yield rf"{n}\text{{ cm}}", gold, "a length!"
    yield f"{n * 100}", gold, "multiplied by a hundred!"


@family
def money(rng: random.Random) -> Pairs:
    dollars, cents = rng.randint(1, 3000), rng.randint(0, 99)
    gold = f"{dollars}.{cents:02d}"
    yield rf"\${gold}", gold, "a dollar sign"
    yield f"${gold}", gold, "a bare dollar sign"
    yield rf"\${dollars:,}.{cents:02d}", gold, "grouped digits"
    yield rf"{gold}\text{{ dollars}}", gold, "in words"
    yield gold, rf"\${gold}", "no sign"
    yield rf"{dollars * 100 + cents}\text{{ cents}}", rf"\${gold}", "in cents"
    yield rf"\${dollars}.{(cents + 1) % 100:02d}", gold, "another amount!"
    yield rf"\${dollars + 1}.{cents:02d}", gold, "a dollar more!"
    yield rf"{gold}\text{{ cents}}", rf"\${gold}", "cents for dollars!"
    yield rf"{gold}\text{{ hours}}", rf"\${gold}", "hours for dollars!"


UNITS = [
    ("cm", "centimeters", "m", 100), ("km", "kilometers", "m", Fraction(1, 1000)),
    ("kg", "kilograms", "g", Fraction(1, 1000)), ("minutes", "min", "hours", 60),
    ("seconds", "s", "minutes", 60), ("feet", "ft", "inches", Fraction(1, 12)),
    ("hours", "h", "days", 24), ("meters", "m", "cm", Fraction(1, 100)),
]  # fmt: skip


@family
def units(rng: random.Random) -> Pairs:
    n = rng.randint(2, 400)
    unit, name, other, factor = rng.choice(UNITS)
    gold = rf"{n}\text{{ {unit}}}"
    converted = Fraction(n) / Fraction(factor)
    yield str(n), gold, "the unit left out"
    yield rf"{n}\text{{ {name}}}", gold, "the unit's other name"
    yield rf"{n}~\mathrm{{{unit}}}", gold, "a tie and upright letters"
    yield rf"{n}\,\text{{{unit}}}", gold, "a thin space"
    yield f"{n} {unit}", gold, "no LaTeX"
    yield rf"{n} \textbf{{ {unit}}}", gold, "in bold"
    yield gold, str(n), "a unit where the gold has none"
    yield rf"{converted.numerator}/{converted.denominator} \text{{ {other}}}", gold, "converted"
    yield rf"{n}\text{{ {other}}}", gold, "another unit of the same kind!"
    wrong = "kg" if unit not in ("kg",) else "cm"
    yield rf"{n}\text{{ {wrong}}}", gold, "a unit of another kind!"
    yield rf"{n + 1}\text{{ {unit}}}", gold, "another number!"
    yield rf"{n}\text{{ {unit}}}^2", gold, "squared!"
    yield rf"{n}\text{{ is wrong}}", gold, "words that deny it!"
    yield rf"{n}\text{{ {unit} less than it}}", gold, "words that change it!"


@family
def compound_units(rng: random.Random) -> Pairs:
    n = rng.randint(2, 200)
    unit, spelled, wrong = rng.choice([
        (r"\text{ m/s}", r"\text{ meters per second}", r"\text{ m/s}^2"),
        (r"\text{ km/h}", r"\text{ kilometers per hour}", r"\text{ km}"),
        (r"\text{ cm}^2", r"\text{ square centimeters}", r"\text{ cm}^3"),
        (r"\text{ ft}^3", r"\text{ cubic feet}", r"\text{ ft}^2"),
        (r"\text{ mph}", r"\text{ miles per hour}", r"\text{ hours}"),
        (r"\text{ m}^2", r"\text{ square meters}", r"\text{ m}"),
        (r"\text{ square units}", r"\text{ units}^2", r"\text{ cubic units}"),
    ])  # fmt: skip
    gold = f"{n}{unit}"
    yield f"{n}{spelled}", gold, "in words"
    yield f"{n}{unit}", f"{n}{spelled}", "in letters"
    yield str(n), gold, "the unit left out"
    yield gold, str(n), "a unit where the gold has none"
    yield f"{n}{wrong}", gold, "another unit!"
    yield f"{n * 2}{unit}", gold, "twice as much!"
    yield f"{n}{unit.replace('text', 'mathrm')}", gold, "upright letters"


@family
def degrees(rng: random.Random) -> Pairs:
    n = rng.choice([15, 30, 36, 45, 60, 72, 75, 90, 120, 135, 150, 210, 270])
    gold = rf"{n}^\circ"
    radians = Fraction(n, 180)
    pi = rf"\frac{{{radians.numerator}\pi}}{{{radians.denominator}}}"
    yield f"{n}°", gold, "a degree sign"
    yield rf"{n}^{{\circ}}", gold, "in braces"
    yield str(n), gold, "the sign left out"
    yield rf"{n}\text{{ degrees}}", gold, "in words"
    yield gold, str(n), "the sign where the gold has none"
    yield gold, pi, "degrees of radians"
    yield pi, gold, "radians of degrees"
    yield rf"{n + 1}^\circ", gold, "another angle!"
    yield rf"{n}\pi", gold, "times pi!"
    yield rf"{n}\text{{ radians}}", gold, "radians of the same number!"
    yield rf"-{n}^\circ", gold, "the opposite!"


@family
def trigonometry(rng: random.Random) -> Pairs:
    name, angle, value, wrong = rng.choice([
        ("sin", 30, r"\frac{1}{2}", r"\frac{\sqrt{3}}{2}"), ("cos", 60, r"\frac{1}{2}", "2"),
        ("sin", 45, r"\frac{\sqrt{2}}{2}", r"\sqrt{2}"), ("tan", 60, r"\sqrt{3}", "3"),
        ("cos", 30, r"\frac{\sqrt{3}}{2}", r"\frac{1}{2}"), ("tan", 45, "1", "0"),
        ("sin", 75, r"\frac{\sqrt{6}+\sqrt{2}}{4}", r"\frac{\sqrt{6}-\sqrt{2}}{4}"),
        ("cos", 36, r"\frac{1+\sqrt{5}}{4}", r"\frac{\sqrt{5}-1}{4}"),
        ("cos", 120, r"-\frac{1}{2}", r"\frac{1}{2}"),
    ])  # fmt: skip
    yield rf"\{name} {angle}^\circ", value, "a value of degrees"
    yield rf"\{name}({angle}^{{\circ}})", value, "a value of degrees in brackets"
    part = Fraction(angle, 180)
    yield rf"\{name}\frac{{{part.numerator}\pi}}{{{part.denominator}}}", value, "a value of radians"
    yield value, rf"\{name} {angle}^\circ", "the value of a function"
    k = rng.randint(1, 3) * 360
    yield rf"\{name} {angle + k}^\circ", value, "whole turns more"
    yield rf"\{name} {angle}", value, "radians of the same number!"
    yield wrong, value, "another value!"
    yield rf"\{name} {angle + 10}^\circ", value, "another angle!"
    yield rf"-\{name} {angle}^\circ", value, "the opposite!"


@family
def surds(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 12), rng.choice([2, 3, 5, 6, 7, 10, 11, 13, 14, 15, 17, 51])
    gold = rf"{a}\sqrt{{{b}}}"
    yield rf"\sqrt{{{a * a * b}}}", gold, "one root"
    yield f"{a}√{b}", gold, "a Unicode root"
    yield rf"\sqrt{{{b}}}\cdot {a}", gold, "the other order"
    yield rf"\frac{{{a * b}}}{{\sqrt{{{b}}}}}", gold, "a root in the denominator"
    yield rf"{a}\cdot {b}^{{1/2}}", gold, "a power of a half"
    yield rf"{a}\sqrt {b}" if b < 10 else rf"{a} \sqrt{{{b}}}", gold, "a root without braces"
    yield f"{a}*sqrt({b})", gold, "no LaTeX"
    yield rf"\frac{{{2 * a}\sqrt{{{b}}}}}{{2}}", gold, "twice its half"
    yield f"{a * math.sqrt(b):.6f}", gold, "rounded to six places!"
    yield f"{a * math.sqrt(b):.12f}", gold, "rounded to twelve places!"
    yield rf"{a}\sqrt{{{b + 1}}}", gold, "another root!"
    yield rf"\sqrt{{{a * b}}}", gold, "the factor under the root!"
    yield rf"{a}+\sqrt{{{b}}}", gold, "a sum!"
    yield rf"{a}\sqrt[3]{{{b}}}", gold, "a cube root!"
    yield rf"-{gold}", gold, "the opposite!"
    yield rf"{a}{b}", gold, "no root!"


@family
def nested_surds(rng: random.Random) -> Pairs:
    a, b = rng.sample([2, 3, 5, 6, 7, 10, 11], 2)
    c = rng.randint(2, 9)
    gold = rf"\sqrt{{{a}}}+\sqrt{{{b}}}"
    yield rf"\sqrt{{{b}}}+\sqrt{{{a}}}", gold, "the other order"
    yield rf"\sqrt{{{a + b}+2\sqrt{{{a * b}}}}}", gold, "one root in another"
    yield rf"\frac{{{a - b}}}{{\sqrt{{{a}}}-\sqrt{{{b}}}}}", gold, "a difference below"
    yield rf"\sqrt{{{a + b}}}", gold, "the root of the sum!"
    yield rf"\sqrt{{{a}}}-\sqrt{{{b}}}", gold, "the difference!"
    yield rf"\sqrt{{{a + b}+\sqrt{{{a * b}}}}}", gold, "another root in it!"
    yield f"{math.sqrt(a) + math.sqrt(b):.7f}", gold, "rounded!"
    second = rf"\frac{{{c}+\sqrt{{{a}}}}}{{2}}"
    yield rf"\frac{{{c}}}{{2}}+\frac{{\sqrt{{{a}}}}}{{2}}", second, "two fractions"
    yield rf"0.5({c}+\sqrt{{{a}}})", second, "a decimal factor"
    yield rf"\frac{{{c}-\sqrt{{{a}}}}}{{2}}", second, "the conjugate!"
    yield rf"{c}+\frac{{\sqrt{{{a}}}}}{{2}}", second, "half of one part!"


@family
def pi_and_e(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 40), rng.randint(2, 12)
    value = Fraction(a, b)
    top = r"\pi" if value.numerator == 1 else rf"{value.numerator}\pi"
    gold = top if value.denominator == 1 else frac(top, value.denominator)
    yield rf"\frac{{{a}}}{{{b}}}\pi", gold, "the factor before pi"
    yield rf"{a}\pi/{b}", gold, "a slash"
    yield f"{a}π/{b}", gold, "a Unicode pi"
    yield rf"\pi\cdot\frac{{{a}}}{{{b}}}", gold, "the other order"
    yield f"{a / b * math.pi:.6f}", gold, "rounded to six places!"
    yield f"{a / b * 3.14:.4f}", gold, "3.14 for pi!"
    yield frac(a, b), gold, "no pi!"
    yield rf"\frac{{{a + 1}\pi}}{{{b}}}", gold, "another factor!"
    yield rf"\frac{{{a}}}{{{b}\pi}}", gold, "pi below!"
    yield rf"\frac{{{a}\pi^2}}{{{b}}}", gold, "pi squared!"
    yield rf"e^{{{a}}}\cdot e^{{{b}}}", f"e^{{{a + b}}}", "a product of powers"
    yield f"e^{{{a}}}+e^{{{b}}}", f"e^{{{a + b}}}", "a sum of powers!"
    yield rf"\ln({a * b})", rf"\ln {a}+\ln {b}", "the logarithm of a product"
    yield (
        rf"\ln({a + b})",
        rf"\ln {a}+\ln {b}",
        "the logarithm of a sum!" if (a + b != a * b) else "the sum is the product",
    )


@family
def complex_numbers(rng: random.Random) -> Pairs:
    a, b = rng.randint(1, 20), rng.randint(2, 20)
    gold = f"{a}+{b}i"
    yield f"{b}i+{a}", gold, "the other order"
    yield rf"{a} + {b}\cdot i", gold, "a dot"
    yield rf"{a}-{b}i^3", gold, "a power of i"
    yield f"{a}+i{b}", gold, "i before its factor"
    yield rf"({a}+{b}i)", gold, "in brackets"
    yield rf"\frac{{{a * a + b * b}}}{{{a}-{b}i}}", gold, "a quotient"
    yield rf"z={a}+{b}i", gold, "with its label"
    yield f"{a}-{b}i", gold, "the conjugate!"
    yield f"{b}+{a}i" if a != b else f"{a}i", gold, "exchanged!"
    yield f"{a}+{b}", gold, "no i!"
    yield f"({a},{b})", gold, "a pair!"
    yield rf"\sqrt{{{a * a + b * b}}}", gold, "its modulus!"
    yield "i^2", "-1", "i squared"
    yield f"i^{{{4 * a + 3}}}", "-i", "a power of i"
    yield f"i^{{{4 * a + 2}}}", "1", "another power of i!"
    yield rf"\sqrt{{-{b * b}}}", f"{b}i", "the root of a negative number"


@family
def factorials(rng: random.Random) -> Pairs:
    n = rng.randint(4, 12)
    big = rng.randint(100, 2100)
    k = rng.randint(2, n - 1)
    yield f"{n}!", str(math.factorial(n)), "a factorial"
    yield str(math.factorial(n)), f"{n}!", "its digits"
    yield rf"\binom{{{n}}}{{{k}}}", str(math.comb(n, k)), "a binomial coefficient"
    yield rf"\frac{{{n}!}}{{{k}!({n}-{k})!}}", str(math.comb(n, k)), "a quotient of factorials"
    yield rf"{{{n} \choose {k}}}", str(math.comb(n, k)), "the old binomial"
    yield f"1/{big}!", rf"\frac{{1}}{{{big}!}}", "a slash"
    yield rf"\frac{{1}}{{{big}\cdot {big - 1}!}}", rf"\frac{{1}}{{{big}!}}", "one factor apart"
    yield f"1/{big + 2}!", f"1/{big}!", "another factorial!"
    yield f"1/{big - 1}!", f"1/{big}!", "the one before!"
    yield f"{n + 1}!", str(math.factorial(n)), "the next factorial!"
    yield f"{n}", f"{n}!", "no factorial!"
    yield rf"\binom{{{n}}}{{{k}}}+1", str(math.comb(n, k)), "one more!"
    yield f"{big}!", f"{big + 1}!", "large and another!"
    yield f"{big + 1}!", rf"{big + 1}\cdot {big}!", "large and the same"


@family
def powers(rng: random.Random) -> Pairs:
    a, n = rng.randint(2, 9), rng.randint(5, 60)
    gold = f"{a}^{{{n}}}"
    yield str(a**n), gold, "its digits"
    yield gold, str(a**n), "the power of its digits"
    yield rf"{a}\cdot {a}^{{{n - 1}}}", gold, "one factor apart"
    yield f"{a}^{n}", gold, "no braces"
    yield f"({a})^{{{n}}}", gold, "in brackets"
    yield str(a**n + 1), gold, "one more!"
    yield str(a**n)[:-1] + str((int(str(a**n)[-1]) + 5) % 10), gold, "another last digit!"
    yield f"{a}^{{{n + 1}}}", gold, "the next power!"
    yield f"{n}^{{{a}}}" if n**a != a**n else f"{n}^{{{a + 1}}}", gold, "exchanged!"
    yield f"{a * n}", gold, "a product!" if a * n != a**n else "never"
    large = rng.randint(100, 2100)
    yield f"{a}^{{{large}}}-1", f"{a}^{{{large}}}", "one less, and large!"
    yield rf"{a}^{{{large}}}", rf"{a}^{{{large - 1}}}\cdot {a}", "large and the same"


@family
def tiny_numbers(rng: random.Random) -> Pairs:
    a, b = rng.randint(11, 99), rng.randint(11, 99)
    p, q = rng.randint(12, 32), rng.randint(12, 32)
    gold = rf"{a / 10}\times 10^{{-{p}}}"
    yield f"{a / 10}e-{p}", gold, "in e notation"
    yield f"{a}e-{p + 1}", gold, "a whole mantissa"
    yield rf"\frac{{{a}}}{{10^{{{p + 1}}}}}", gold, "a fraction"
    yield f"0.{'0' * (p - 1)}{a}", gold, "all decimals"
    yield f"{b / 10}e-{q}" if (a, p) != (b, q) else "0", gold, "another tiny number!"
    yield f"{a / 10}e-{p + 1}", gold, "a tenth of it!"
    yield "0", gold, "zero!"
    yield rf"-{gold}", gold, "the opposite!"
    yield f"{a / 10}e{p}", gold, "huge!"


@family
def pairs_and_tuples(rng: random.Random) -> Pairs:
    a, b = rng.sample(range(-12, 13), 2)
    c = rng.randint(13, 30)
    gold = f"({a},{b})"
    yield f"({a}, {b})", gold, "a space"
    yield rf"\left({a},\,{b}\right)", gold, "large brackets"
    yield f"({a}.0, {b})", gold, "a decimal zero"
    yield rf"({frac(2 * a, 2)}, {b})", gold, "an item not in lowest terms"
    yield f"x={a}, y={b}", gold, "labels"
    yield rf"(x,y)=({a},{b})", gold, "a label for the pair"
    yield f"({b},{a})", gold, "exchanged!"
    yield rf"\{{{a},{b}\}}", gold, "a set!"
    yield f"({a},{b},{c})", gold, "a third item!"
    yield f"({a},{b + 1})", gold, "another item!"
    yield f"[{a},{b}]", gold, "an interval!"
    yield str(a + b), gold, "the sum!"
    yield f"x={b}, y={a}", gold, "labels exchanged!"
    yield str(a), gold, "the first item alone!"
    three = f"({a},{b},{c})"
    yield f"({a}, {b}, {c})", three, "spaces in a triple"
    yield f"({c},{b},{a})", three, "a triple reversed!"


@family
def sets(rng: random.Random) -> Pairs:
    a, b, c = sorted(rng.sample(range(-20, 40), 3))
    gold = rf"\{{{a},{b},{c}\}}"
    yield rf"\{{{c}, {a}, {b}\}}", gold, "another order"
    yield f"{a}, {b}, {c}", gold, "no braces"
    yield rf"\left\{{ {b},{c},{a} \right\}}", gold, "large braces"
    yield rf"\{{{a}.0,{b},{c}\}}", gold, "a decimal zero"
    yield f"{c}, {b}, {a}", f"{a}, {b}, {c}", "a bare list in another order"
    yield rf"{a}, {b}\text{{ and }}{c}", f"{a}, {b}, {c}", "and"
    yield rf"x={a}\text{{ or }}x={b}", f"{a}, {b}", "labels and or"
    yield rf"\{{{a},{b}\}}", gold, "an item less!"
    yield rf"\{{{a},{b},{c},{c + 1}\}}", gold, "an item more!"
    yield rf"\{{{a},{b},{c + 1}\}}", gold, "another item!"
    yield f"({b},{a},{c})", gold, "a tuple!"
    yield f"{a}, {b}", f"{a}, {b}, {c}", "a bare list with an item less!"
    yield f"{a + b + c}", gold, "the sum!"
    yield f"{a}, {b}, {c + 2}", f"{a}, {b}, {c}", "a bare list with another item!"


@family
def plus_minus(rng: random.Random) -> Pairs:
    a, b = rng.randint(1, 20), rng.choice([2, 3, 5, 7, 11])
    gold = rf"{a}\pm\sqrt{{{b}}}"
    yield rf"{a}+\sqrt{{{b}}}, {a}-\sqrt{{{b}}}", gold, "both values"
    yield rf"{a}-\sqrt{{{b}}}, {a}+\sqrt{{{b}}}", gold, "both values in the other order"
    yield f"{a} ± √{b}", gold, "Unicode"
    yield gold, rf"\{{{a}-\sqrt{{{b}}},{a}+\sqrt{{{b}}}\}}", "plus or minus for a set"
    yield rf"{a}+\sqrt{{{b}}}", gold, "one value!"
    yield rf"{a}\pm\sqrt{{{b + 1}}}", gold, "another root!"
    yield rf"-{a}\pm\sqrt{{{b}}}", gold, "another centre!"
    yield rf"\pm {a}", f"{a}, -{a}", "plus or minus a number"
    yield str(a), rf"\pm {a}", "the positive one alone!"
    yield rf"x=\pm {a}", rf"\pm {a}", "a label"
    yield rf"x={a}, x=-{a}", rf"\pm {a}", "labels"
    yield rf"\pm {a + 1}", rf"\pm {a}", "another number!"


@family
def orderings(rng: random.Random) -> Pairs:
    letters = rng.sample("ABCDEFGHKLMNPQRST", rng.randint(3, 5))
    gold = "".join(letters)
    other = letters[:]
    while other == letters:
        rng.shuffle(other)
    yield rf"\text{{{gold}}}", gold, "in text"
    yield gold, rf"\text{{{gold}}}", "not in text"
    yield rf"\mathrm{{{gold}}}", gold, "upright"
    yield f"${gold}$", gold, "between dollars"
    yield "".join(other), gold, "another order!"
    yield rf"\text{{{''.join(other)}}}", gold, "another order in text!"
    yield gold[::-1] if gold != gold[::-1] else gold + "A", gold, "reversed!"
    yield gold[:-1], gold, "a letter less!"
    yield gold + letters[0], gold, "a letter more!"


@family
def intervals(rng: random.Random) -> Pairs:
    a = rng.randint(-20, 20)
    b = a + rng.randint(1, 20)
    left, right = rng.choice("(["), rng.choice(")]")
    gold = f"{left}{a},{b}{right}"
    signs = {"(": "<", "[": r"\le", ")": "<", "]": r"\le"}
    yield f"{left}{a}, {b}{right}", gold, "a space"
    yield rf"\left{left}{a},{b}\right{right}", gold, "large brackets"
    if (left, right) in (("(", "]"), ("[", ")"), ("(", ")"), ("[", "]")):
        yield f"{a}{signs[left]} x {signs[right]}{b}", gold, "an inequality"
        yield rf"x\in {gold}", gold, "membership"
        yield gold, rf"{a} {signs[left]} x {signs[right]} {b}", "an interval for an inequality"
    flipped = ("[" if left == "(" else "(") + f"{a},{b}{right}"
    yield flipped, gold, "another end!"
    yield f"{left}{a},{b + 1}{right}", gold, "another number!"
    yield f"{left}{a},\\infty)", gold, "no end!"
    yield rf"\{{{a},{b}\}}", gold, "its ends alone!"
    yield rf"x {signs[right]} {b}", gold, "one end alone!"
    ray = rf"({a},\infty)"
    yield f"x>{a}", ray, "an inequality of a ray"
    yield f"{a}<x", ray, "an inequality from the right"
    yield rf"x\ge {a}", ray, "with its end!"
    yield f"x<{a}", ray, "the other direction!"
    yield rf"(-\infty,{a})", ray, "the other ray!"
    yield rf"[{a},\infty)", ray, "a closed end!"


@family
def unions(rng: random.Random) -> Pairs:
    a = rng.randint(-20, 5)
    b, c = a + rng.randint(1, 10), a + rng.randint(11, 20)
    gold = rf"(-\infty,{a})\cup({b},\infty)"
    yield rf"(-\infty, {a}) \cup ({b}, \infty)", gold, "spaces"
    yield f"(-∞,{a}) ∪ ({b},∞)", gold, "Unicode"
    yield rf"({b},\infty)\cup(-\infty,{a})", gold, "the other order"
    yield rf"x<{a}\text{{ or }}x>{b}", gold, "inequalities"
    yield rf"x\in(-\infty,{a})\cup({b},\infty)", gold, "membership"
    yield rf"(-\infty,{a}]\cup({b},\infty)", gold, "a closed end!"
    yield rf"(-\infty,{a})\cup({c},\infty)", gold, "another number!"
    yield rf"({a},{b})", gold, "what is between!"
    yield rf"x<{a}", gold, "one part!"
    yield rf"({b},\infty)", gold, "the other part!"
    holes = rf"(-\infty,{b})\cup({b},\infty)"
    yield rf"x\ne {b}", holes, "all but one"
    yield rf"x \neq {b}", holes, "all but one, in another spelling"
    yield r"\mathbb{R}", holes, "all!"


@family
def inequalities(rng: random.Random) -> Pairs:
    a = rng.randint(-30, 30)
    gold = rf"x\le {a}"
    yield f"x ≤ {a}", gold, "Unicode"
    yield rf"x \leq {a}", gold, "another spelling"
    yield rf"{a}\ge x", gold, "from the right"
    yield rf"(-\infty,{a}]", gold, "an interval"
    yield f"x<{a}", gold, "strict!"
    yield rf"x\ge {a}", gold, "the other direction!"
    yield rf"x\le {a + 1}", gold, "another number!"
    yield rf"(-\infty,{a})", gold, "an open interval!"
    yield str(a), gold, "the number alone!"
    yield f"x={a}", gold, "an equation!"


@family
def multiple_choice(rng: random.Random) -> Pairs:
    letter = rng.choice("ABCDE")
    other = rng.choice([x for x in "ABCDE" if x != letter])
    n = rng.randint(2, 300)
    for gold in (letter, f"({letter})", rf"\text{{({letter})}}"):
        yield letter, gold, "the letter"
        yield f"({letter})", gold, "the letter in brackets"
        yield rf"\text{{{letter}}}", gold, "the letter in text"
        yield rf"\textbf{{({letter})}}\ {n}", gold, "the letter and what it says"
        yield f"{letter}.", gold, "a full stop"
        yield other, gold, "another letter!"
        yield f"({other})", gold, "another letter in brackets!"
        yield rf"\textbf{{({other})}}\ {n}", gold, "another letter and what it says!"
        yield str(n), gold, "a number for a letter!"
        yield f"{letter}, {other}", gold, "two letters!"
    gold = rf"\textbf{{({letter})}}\ {n}"
    yield letter, gold, "the letter of an option with its text"
    yield str(n), gold, "what the option says"
    yield rf"\text{{({letter}) }}{n}", gold, "the option in another spelling"
    yield rf"\textbf{{({other})}}\ {n}", gold, "another letter!"
    yield rf"\textbf{{({letter})}}\ {n + 1}", gold, "another text!"
    yield str(n + 1), gold, "another number!"
    yield other, gold, "another letter alone!"
    yield gold, str(n), "the option for a number"


@family
def times(rng: random.Random) -> Pairs:
    hour, minute = rng.randint(1, 12), rng.randint(0, 59)
    gold = f"{hour}:{minute:02d}"
    half, other = rng.sample(["a.m.", "p.m."], 2)
    yield rf"\text{{{gold}}}", gold, "in text"
    yield rf"{gold}\text{{ {half}}}", gold, "the half of the day"
    yield gold, rf"{gold}\text{{ {half}}}", "the half of the day left out"
    yield (
        rf"{gold} \text{{{half.replace('.', '').upper()}}}",
        rf"{gold}\text{{ {half}}}",
        "capitals",
    )
    yield rf"{gold}\text{{ {other}}}", rf"{gold}\text{{ {half}}}", "the other half!"
    yield f"{hour}:{(minute + 1) % 60:02d}", gold, "a minute later!"
    yield f"{hour % 12 + 1}:{minute:02d}", gold, "an hour later!"
    yield f"{hour}{minute:02d}", gold, "no colon!"
    yield str(hour), gold, "the hour alone!"
    if half == "p.m." and hour < 12:
        yield f"{hour + 12}:{minute:02d}", rf"{gold}\text{{ p.m.}}", "24 hours"


@family
def ratios(rng: random.Random) -> Pairs:
    a, b = rng.sample(range(1, 30), 2)
    g = math.gcd(a, b)
    a, b = a // g, b // g
    k = rng.randint(2, 6)
    gold = f"{a}:{b}"
    yield f"{a} : {b}", gold, "spaces"
    yield f"{k * a}:{k * b}", gold, "not in lowest terms"
    yield f"{a}/{b}", gold, "a fraction"
    yield rf"\text{{{a}:{b}}}", gold, "in text"
    yield f"{b}:{a}" if a != b else "1:7", gold, "exchanged!"
    yield f"{a + 1}:{b}", gold, "another ratio!"
    yield f"({a},{b})", gold, "a pair!"
    yield f"{a}{b}", gold, "no colon!"


WORDS = ["Monday", "Tuesday", "Friday", "red", "blue", "green", "even", "odd", "ellipse",
         "circle", "hyperbola", "parabola", "Maria", "Navin", "Briana", "increasing", "decreasing",
         "rectangle", "rhombus", "isosceles", "equilateral", "north", "heads",
         "Wednesday"]  # fmt: skip


@family
def text(rng: random.Random) -> Pairs:
    word, other = rng.sample(WORDS, 2)
    gold = rf"\text{{{word}}}"
    yield word, gold, "not in text"
    yield rf"\text{{{word.upper()}}}", gold, "capitals"
    yield word.lower(), gold, "small letters"
    yield rf"\textbf{{{word}}}", gold, "in bold"
    yield rf"\text{{ {word} }}", gold, "spaces"
    yield f"{word}.", gold, "a full stop"
    yield gold, word, "in text where the gold is not"
    yield other, gold, "another word!"
    yield rf"\text{{not {word}}}", gold, "denied!"
    yield rf"\text{{{word} or {other}}}", gold, "two words!"
    yield "5", gold, "a number for a word!"
    yield word[:-1], gold, "a letter less!"
    yield rf"\text{{{word}{other}}}", gold, "two words in one!"
    for yes, no in (("yes", "no"), ("true", "false")):
        yield rf"\text{{{yes.capitalize()}}}", yes, "a capital"
        yield yes, rf"\text{{{no.capitalize()}}}", "the opposite!"
    yield r"\text{no solution}", r"\emptyset", "no solution is the empty set"
    yield r"\varnothing", r"\emptyset", "another empty set"
    yield "0", r"\text{no solution}", "zero for no solution!"


@family
def matrices(rng: random.Random) -> Pairs:
    a, b, c, d = rng.sample(range(-9, 10), 4)

    def matrix(kind: str, *rows: str) -> str:
        return rf"\begin{{{kind}matrix}}" + r"\\".join(rows) + rf"\end{{{kind}matrix}}"

    gold = matrix("p", f"{a}&{b}", f"{c}&{d}")
    yield matrix("b", f"{a}&{b}", f"{c}&{d}"), gold, "square brackets"
    yield matrix("p", f"{a} & {b}", f" {c} & {d} "), gold, "spaces"
    yield matrix("p", rf"\frac{{{2 * a}}}{{2}}&{b}", f"{c}&{d}"), gold, "an entry as a fraction"
    yield matrix("p", f"{a}.0&{b}", f"{c}&{d}"), gold, "a decimal zero"
    yield matrix("p", f"{a}&{c}", f"{b}&{d}"), gold, "transposed!"
    yield matrix("p", f"{a}&{b}", f"{c}&{d + 1}"), gold, "another entry!"
    yield matrix("p", f"{c}&{d}", f"{a}&{b}"), gold, "rows exchanged!"
    yield matrix("p", f"{a}&{b}&{c}&{d}"), gold, "one row!"
    yield f"({a},{b},{c},{d})", gold, "a tuple!"
    column = matrix("p", str(a), str(b))
    yield matrix("b", str(a), f"{b}.0"), column, "a column in square brackets"
    yield matrix("p", str(b), str(a)), column, "a column exchanged!"
    yield matrix("p", f"{a}&{b}"), column, "a row for a column!"


@family
def polynomials(rng: random.Random) -> Pairs:
    a, b = rng.sample(range(1, 15), 2)
    gold = f"x^2+{a + b}x+{a * b}"
    yield f"(x+{a})(x+{b})", gold, "in factors"
    yield f"(x+{b})(x+{a})", gold, "factors in the other order"
    yield f"{a * b}+{a + b}x+x^{{2}}", gold, "terms in another order"
    yield f"x(x+{a + b})+{a * b}", gold, "one x taken out"
    yield f"x² + {a + b}x + {a * b}", gold, "Unicode"
    yield rf"x^2+{a + b}\cdot x+{a * b}", gold, "a dot"
    yield f"y=x^2+{a + b}x+{a * b}", gold, "with its label"
    yield f"f(x)=x^2+{a + b}x+{a * b}", gold, "with the function's name"
    yield f"x^2+{a + b}x+{a * b + 1}", gold, "another constant!"
    yield f"x^2-{a + b}x+{a * b}", gold, "another sign!"
    yield f"(x-{a})(x-{b})", gold, "other roots!"
    yield f"x^3+{a + b}x+{a * b}", gold, "another degree!"
    yield f"y^2+{a + b}y+{a * b}", gold, "another letter!"
    yield f"x^2+{a + b}+{a * b}", gold, "a letter lost!"
    yield f"-{a}, -{b}", gold, "its roots!"
    yield f"2x^2+{2 * (a + b)}x+{2 * a * b}", gold, "twice as much!"


@family
def expressions(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 12), rng.randint(2, 12)
    yield rf"\frac{{x}}{{{a}}}", rf"\frac{{1}}{{{a}}}x", "the letter in the numerator"
    yield rf"{a}x^{{-1}}", rf"\frac{{{a}}}{{x}}", "a negative power"
    yield rf"\frac{{n(n+1)}}{{2}}+{a}", rf"\binom{{n+1}}{{2}}+{a}", "a binomial"
    yield rf"{a}\cdot 2^{{n+1}}", rf"{2 * a}\cdot 2^n", "a power taken out"
    yield rf"2\sin x\cos x+{a}", rf"\sin 2x+{a}", "the double angle"
    yield rf"{a}(1-\sin^2 x)", rf"{a}\cos^2 x", "sine and cosine"
    yield rf"\ln x^{{{a}}}", rf"{a}\ln x", "a power in the logarithm"
    yield (
        rf"\frac{{x^{{{a}}}-1}}{{x-1}}" if a < 7 else "x",
        ("+".join(["1", "x", *(f"x^{{{k}}}" for k in range(2, a))]) if a < 7 else "x"),
        "a geometric sum",
    )
    yield rf"\frac{{{a}}}{{x+{b}}}", rf"\frac{{{a}}}{{{b}+x}}", "a sum in the other order"
    yield rf"\sqrt{{{a * a}x}}", rf"{a}\sqrt{{x}}", "a factor under the root"
    yield f"{a}ab", f"{a}ba", "letters in the other order"
    yield rf"\frac{{x}}{{{a}}}", rf"\frac{{{a}}}{{x}}", "upside down!"
    yield rf"\frac{{{a}}}{{x+{b}}}", rf"\frac{{{a}}}{{x}}+{b}", "a sum out of the fraction!"
    yield rf"\sin {a}x", rf"{a}\sin x", "a factor in the sine!"
    yield rf"{a}\cdot 2^n", rf"{2 * a}^n", "a factor under the power!"
    yield rf"\sqrt{{x+{a}}}", rf"\sqrt{{x}}+\sqrt{{{a}}}", "the root of a sum!"
    yield rf"(x+{a})^2", f"x^2+{a * a}", "the square of a sum!"
    yield rf"x_{{{a}}}", rf"x_{{{a + 1}}}", "another index!"
    yield rf"\ln(x+{a})", rf"\ln x+\ln {a}", "the logarithm of a sum!"
    yield f"{a}x+{b}y", f"{b}x+{a}y" if a != b else f"{a}x-{b}y", "letters exchanged!"
    yield rf"|x|+{a}", rf"x+{a}", "an absolute value!"
    yield rf"\sqrt{{x^2}}+{a}", rf"|x|+{a}", "the root of a square"


@family
def equations(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 12), rng.randint(1, 12)
    gold = f"y={a}x+{b}"
    yield f"y = {a}x + {b}", gold, "spaces"
    yield f"{a}x+{b}=y", gold, "from the right"
    yield f"{a}x-y+{b}=0", gold, "all on one side"
    yield f"y-{b}={a}x", gold, "a term on the other side"
    yield f"{a}x+{b}", gold, "the right side alone"
    yield f"2y={2 * a}x+{2 * b}", gold, "twice both sides"
    yield f"y={a}x-{b}", gold, "another constant!"
    yield f"y={a + 1}x+{b}", gold, "another slope!"
    yield f"x={a}y+{b}", gold, "letters exchanged!"
    yield f"y>{a}x+{b}", gold, "an inequality!"
    yield f"{a}x+y+{b}=0", gold, "another sign!"
    circle = f"(x-{a})^2+(y-{b})^2={a * b}"
    yield f"x^2-{2 * a}x+y^2-{2 * b}y+{a * a + b * b - a * b}=0", circle, "multiplied out"
    yield f"(y-{b})^2+(x-{a})^2={a * b}", circle, "terms in the other order"
    yield f"(x-{a})^2+(y-{b})^2={a * b + 1}", circle, "another radius!"
    yield f"(x+{a})^2+(y-{b})^2={a * b}", circle, "another centre!"
    yield f"x={a}", str(a), "a label for a number"
    yield str(a), f"x={a}", "no label"
    yield f"y={a}", f"x={a}", "another label!"
    yield f"{a}={a + 1}", str(a), "an equation that is false!"


@family
def unicode_spellings(rng: random.Random) -> Pairs:
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    yield f"−{a}", f"-{a}", "a Unicode minus"
    yield f"–{a}", f"-{a}", "a dash for a minus"
    yield f"{a} × {b}", str(a * b), "a Unicode times sign"
    yield f"{a}·{b}", str(a * b), "a middle dot"
    yield f"x⁴+{a}", f"x^4+{a}", "a superscript"
    yield f"{a}x²", f"{a}x^2", "a square"
    yield f"α+{a}", rf"\alpha+{a}", "a Greek letter"
    yield f"√51+{a}", rf"\sqrt{{51}}+{a}", "a root of two digits"
    yield f"½+{a}", f"{a}.5", "a Unicode fraction"
    yield f"±{a}", rf"\pm {a}", "a Unicode plus or minus"
    yield f"（{a}，{b}）", f"({a},{b})", "full-width brackets"
    yield f"{a}÷{b}", frac(a, b), "a division sign"
    yield f"2^{{{a}}}⋅{b}", str(2**a * b), "a dot operator"
    yield f"x³+{a}", f"x^2+{a}", "another superscript!"
    yield f"β+{a}", rf"\alpha+{a}", "another Greek letter!"
    yield f"{a}²", str(2 * a) if a != 2 else "5", "a square for twice!"
    yield f"−{a}", str(a), "a minus more!"
    yield f"√{a}1", rf"\sqrt{{{a}}}", "a digit more under the root!"
    yield f"⅓+{a}", frac(2 * a + 1, 2), "another Unicode fraction!"
    yield f"≤{a}", str(a), "a sign before it!"


HOSTILE = [
    r"9^{9^{9^9}}", r"9^{9^{9^9}}+i", r"2^{8589934592}", r"5!!!!!", r"\binom{1000000}{500000}",
    r"(1+x)^{3000}", r"\gcd(9^{9^9},3)", r"1e999999999", r"9e9e9e9", r"x^{x^{x^{x^{x}}}}",
    r"1/0", r"0/0", r"0^{-1}", r"\frac{1}{0}", r"\infty-\infty", r"\int_0^1 x^{x^x} dx",
    r"\sum_{i=1}^{10^9} i", r"\prod_{i=1}^{10^9} i", r"\lim_{x\to 0} x^{x^x}", "__import__('os')",
    "exit(0)", "lambda: 5", "eval('2+3')", r"\input{file}", r"\operatorname{exit}(0)", "nan", "inf",
    "True", "None", "{0}", "%s", "()", "[]", "{{}}", "((((((5", "5))))))", r"\frac{5", r"\sqrt",
    r"\left(", "5@", "5#", "5?", "\\", "?", "...", "|", "||", "=", "==", "+", "5 5", "5;6", "5..5",
    r"10^{10^{10}}!", r"\sqrt{2}+10^{-9999}", r"5+10^{-5000}", r"5.0000000000000000000000000001",
    r"4.999999999999999999999999999999", r"\sin(10^{10^{10}})", r"e^{e^{e^{e^{e}}}}",
    r"\log(\log(\log(2)))", r"0.1^{10^{9}}", "the answer is five", "I do not know", r"\text{any}",
    "x", r"\text{the answer}", "gold", "correct", r"5\text{ or }6", r"\{5, 6, 7\}", "1,2,3,4,5,6,7",
    r"5\approx 6", r"x\in\mathbb{R}", r"\mathbb{R}", r"(-\infty,\infty)", r"5=6", r"5\ne 5", "5<6",
    r"\pm 5", r"5\pm 1", r"[4,6]", r"4<x<6", r"\text{5 or 6}", r"5_{}", r"_5", r"^5", r"5^",
]  # fmt: skip


@family
def hostile(rng: random.Random) -> Pairs:
    gold = rng.choice([str(rng.randint(8, 999)), frac(rng.randint(1, 9), 11),
                       f"x+{rng.randint(7, 99)}",
                       rf"{rng.randint(2, 9)}\sqrt{{3}}", rf"({rng.randint(7, 20)},2)",
                       rf"\text{{({rng.choice('ABCD')})}}"])  # fmt: skip
    for answer in rng.sample(HOSTILE, 12):
        yield answer, gold, "hostile or empty text!"


def pairs() -> list[dict[str, str]]:
    """All pairs in a fixed order, each once."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for name, rule in FAMILIES.items():
        rng = random.Random(name)
        wanted = 150 if name != "hostile" else 220
        made, tries = 0, 0
        while made < wanted and tries < 400:
            tries += 1
            for answer, gold, reason in rule(rng):
                if reason == "never" or (answer, gold) in found or made == wanted:
                    continue
                right = not reason.endswith("!")
                digest = hashlib.sha256(f"{answer}\0{gold}".encode()).digest()
                found[answer, gold] = {
                    "family": name,
                    "answer": answer,
                    "gold": gold,
                    "label": "right" if right else "wrong",
                    "reason": reason.rstrip("!"),
                    "split": "held out" if digest[0] % 3 == 0 else "tuned",
                }
                made += 1
    return list(found.values())


def main() -> None:
    rows = pairs()
    with OUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} pairs in {OUT.name}")


if __name__ == "__main__":
    main()
