r"""Whether two formulas have the same value: by fractions, or to more digits than they can differ.

A rational value is an exact fraction. Every other one (roots, pi, functions) is computed to so many
digits that a difference of the numbers as they are written cannot hide: more than the digits in the
texts, and more than the largest and the smallest value on the way are apart. Letters take values
that follow from both texts, so that no answer can be made for them; two formulas are equal if they
are at every one of these points where both are real.

What is too large is refused before it is computed (`TooLarge`).
"""

import hashlib
import math
import operator
import random
import threading
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from lab.judge.formula_reader import Tree, Unreadable, mentions, names, without_calls

MAX_BITS = 32_768  # of a numerator or denominator
MAX_DIGITS = 1_200  # of a value that is not rational
MAX_POWER = 1_000_000  # of the largest |x| whose exponential is computed, in bits
SMALL = 5  # letters of the small points are below it


class TooLarge(Unreadable):
    """A value of more digits than are ever compared."""


class Undefined(Unreadable):
    """No value: division by zero, or no real value where letters are real."""


_local = threading.local()


def _context() -> Any:
    """This thread's context of mpmath, made at the first call."""
    if not hasattr(_local, "context"):
        import mpmath

        _local.context = mpmath.MPContext()
    return _local.context


class Evaluation:
    """The value of formulas at one point, to `digits` digits where it is not rational.

    `log`: the base of a logarithm without one, 10 or "e". `smallest` and `largest` tell how far
    apart the values on the way are, in bits.
    """

    def __init__(
        self, point: dict[str, Fraction], digits: int, log: str = "10", real: bool = False
    ) -> None:
        self.point = point
        self.digits = digits
        self.log = log
        self.real = real
        self.mp = _context()
        self.mp.dps = digits
        self.smallest, self.largest = 0, 0

    def value(self, tree: Tree) -> Any:
        """A Fraction, or a number of mpmath. Errors: `TooLarge`, `Undefined`."""
        kind = tree[0]
        if kind == "number":
            return self.kept(tree[1])
        if kind == "name":
            return self.name(tree[1])
        parts = [self.value(part) for part in tree[1:]]
        try:
            if kind in _OPERATORS:
                if not all(isinstance(part, Fraction) for part in parts):
                    parts = [self.lifted(part) for part in parts]
                return self.kept(_OPERATORS[kind](*parts))
            return self.kept(getattr(self, "_" + _METHODS.get(kind, "function"))(kind, *parts))
        except (ZeroDivisionError, ValueError, OverflowError, TypeError) as error:
            raise Undefined(str(error)) from error

    def name(self, name: str) -> Any:
        if name in self.point:
            return self.point[name]
        constants = {"pi": self.mp.pi, "e": self.mp.e, "i": self.mp.j}
        if name not in constants:
            raise Undefined(name)
        return +constants[name]

    def kept(self, value: Any) -> Any:
        """The value, if it is small enough to go on with; its size is noted."""
        if isinstance(value, Fraction):
            top, below = value.numerator.bit_length(), value.denominator.bit_length()
            if top + below > 2 * MAX_BITS:
                raise TooLarge
            if top + below > 4096 and self.point:
                return self.kept(self.lifted(value))
            size = top - below
            if not value:
                return value
        else:
            if self.real and isinstance(value, self.mp.mpc):
                raise Undefined("not real")
            if not self.mp.isfinite(value):
                raise Undefined("not finite")
            magnitude = self.mp.mag(value)
            if magnitude == self.mp.ninf:
                return value
            size = int(magnitude)
        self.smallest, self.largest = min(self.smallest, size), max(self.largest, size)
        if size > 10 * MAX_POWER or size < -10 * MAX_POWER:
            raise TooLarge
        return value

    def lifted(self, value: Any) -> Any:
        """A number of mpmath; fractions are divided to the digits of this evaluation."""
        if isinstance(value, Fraction):
            return self.mp.mpf(value.numerator) / value.denominator
        return value

    def _raise(self, _: str, a: Any, b: Any) -> Any:
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            if a == b == 0:
                raise Undefined("0^0")
            bits = max(a.numerator.bit_length(), a.denominator.bit_length())
            if b.denominator == 1 and abs(b) * bits <= MAX_BITS:
                return a ** int(b)
            if b.denominator > 1 and b.denominator < 64 and abs(b) < 4096:
                base = self._root("root", a, Fraction(b.denominator))
                return self._raise("^", base, Fraction(b.numerator))
        size = abs(self.lifted(b)) * (abs(self.mp.mag(self.lifted(a))) + 1)
        if not self.mp.isfinite(size) or size > MAX_POWER:
            raise TooLarge
        return self.mp.power(self.lifted(a), self.lifted(b))

    def _root(self, _: str, a: Any, degree: Any) -> Any:
        if not (isinstance(degree, Fraction) and degree.denominator == 1 and 0 < degree < 1000):
            return self._raise("^", a, 1 / degree)
        n = int(degree)
        if not isinstance(a, Fraction) or (a < 0 and n % 2 == 0):
            return self.mp.root(self.lifted(a), n)
        if a < 0:
            return -self._root("root", -a, degree)
        with self.mp.workprec(max(map(int.bit_length, a.as_integer_ratio())) // n + 20):
            top, below = (int(self.mp.nint(self.mp.root(x, n))) for x in a.as_integer_ratio())
        exact = Fraction(top**n, below**n) == a
        return Fraction(top, below) if exact else self.mp.root(self.lifted(a), n)

    def _factorial(self, _: str, a: Any) -> Any:
        if _whole(a) > 3000:
            raise TooLarge
        return Fraction(math.factorial(int(a)))

    def _binomial(self, _: str, n: Any, k: Any) -> Any:
        if max(_whole(n), _whole(k)) > MAX_BITS:
            raise TooLarge
        return Fraction(math.comb(int(n), int(k)))

    def _applied(self, _: str, function: Any, *arguments: Any) -> Any:
        """An unknown that follows from the function and its arguments: of its sign and size."""
        text = ";".join(self.mp.nstr(self.lifted(a), self.mp.dps - 15) for a in arguments)
        digest = hashlib.sha256(f"{function};{text}".encode()).digest()
        return function * (1 + Fraction(int.from_bytes(digest[:6], "big"), 1 << 48))

    def _degrees(self, _: str, a: Any) -> Any:
        return self.lifted(a) * self.mp.pi / 180

    def _rounded(self, kind: str, a: Any) -> Any:
        return Fraction(int(getattr(self.mp, kind)(self.lifted(a))))

    def _function(self, kind: str, a: Any, base: Any = None) -> Any:
        a = self.lifted(a)
        if kind in ("ln", "log"):
            if self.real and not isinstance(a, self.mp.mpc) and a <= 0:
                raise Undefined("the logarithm of a negative number")
            value = self.mp.log(a)
            if base is None and (kind, self.log) != ("log", "10"):
                return value
            return value / self.mp.log(10 if base is None else self.lifted(base))
        if self.mp.mag(a) > 200 or (kind in ("exp", "sinh", "cosh", "tanh") and abs(a) > MAX_POWER):
            raise TooLarge
        if kind not in _MPMATH:
            raise Undefined(kind)
        return getattr(self.mp, _MPMATH[kind])(a)


def _whole(value: Any) -> Any:
    """The same value. Errors: `Undefined`, if it is no whole number from 0 on."""
    if not isinstance(value, Fraction) or value.denominator > 1 or value < 0:
        raise Undefined("no whole number")
    return value


_OPERATORS: dict[str, Any] = {
    "-": operator.neg, "+": operator.add, "*": operator.mul, "/": operator.truediv, "abs": abs
}  # fmt: skip
_METHODS = {
    "^": "raise", "root": "root", "!": "factorial", "binom": "binomial", "degrees": "degrees",
    "floor": "rounded", "ceil": "rounded", "apply": "applied",
}  # fmt: skip
_MPMATH = {
    name: name.replace("arc", "a")
    for name in "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan arccot exp".split()
}


def same_value(answer: Tree, gold: Tree, seed: str, tolerance: Fraction | None = None) -> bool:
    """Whether two formulas are equal; with a `tolerance`, relative to the gold, or close to it.

    `seed`: both texts; their digits set the precision, and letters take their values from it.
    Errors: `TooLarge`, `Undefined` (neither is ever equal).

    >>> one = ("number", Fraction(1))
    >>> same_value(("+", one, one), ("number", Fraction(2)), "1+1 2")
    True
    """
    answer, gold = without_calls(answer, gold)
    letters = sorted(names(answer) | names(gold))
    digits = 40 + sum(character.isdigit() for character in seed)
    real = bool(letters) and not (mentions(answer, "i") or mentions(gold, "i"))

    def same(log: str) -> bool:
        if not letters:
            return _near(answer, gold, Evaluation({}, digits, log), tolerance)
        compared = 0
        for point in points(letters, seed):
            try:
                if not _near(answer, gold, Evaluation(point, digits, log, real), tolerance):
                    return False
                compared += 1
            except Undefined:
                continue
            except TooLarge:  # e^{x^2} is, for an x of fifty; what is large everywhere is refused
                if max(map(abs, point.values())) < SMALL:
                    raise
        if not compared:
            raise Undefined("no point where both have a value")
        return True

    return any(map(same, ["10", "e"] if mentions(("", answer, gold), "log") else ["10"]))


def _near(answer: Tree, gold: Tree, at: Evaluation, tolerance: Fraction | None) -> bool:
    """Whether two formulas are equal at a point, to the digits that they need."""
    a, b = at.value(answer), at.value(gold)
    exact = isinstance(a, Fraction) and isinstance(b, Fraction)
    if exact and tolerance is None:
        return bool(a == b)
    spread = int((at.largest - at.smallest) * math.log10(2)) + 1
    if tolerance is None and spread + 35 > at.digits:
        if spread + 40 > MAX_DIGITS:
            raise TooLarge
        # What is smaller than before at twice the digits is zero, such as the cosine of 90 degrees.
        at = Evaluation(at.point, at.digits + spread + 40, at.log, at.real)
        a, b = at.value(answer), at.value(gold)
    if exact:
        return bool(abs(a - b) <= tolerance * abs(b))
    a, b = at.lifted(a), at.lifted(b)
    if tolerance is not None:
        return bool(abs(a - b) <= at.lifted(tolerance) * abs(b))
    bits = int((at.digits - 10) * math.log2(10))
    return bool(abs(a - b) <= at.mp.ldexp(1, max(at.largest, 0) - bits))


def points(letters: list[str], seed: str) -> Iterator[dict[str, Fraction]]:
    """Values of the letters: small, large, whole, and of both signs."""
    rng = random.Random(seed.encode(errors="replace"))
    ranges = (300, 3000, 1024), (30_000, 90_000, 1024), (2, 30, 1), (300, 5000, 1024), (2, 40, 1)
    for kind, (low, high, below) in enumerate(ranges):
        values = [Fraction(rng.randrange(low, high), below) for _ in letters]
        if kind > 2:  # each letter is negative at one of the last two points
            values = [value * (-1) ** (kind + k) for k, value in enumerate(values)]
        yield dict(zip(letters, values, strict=True))
