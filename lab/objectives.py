"""Objectives: what is wanted, as a function of the pass rate p. Floor 0 (SciPy only inside
`power`).

An objective is a value J(p) and its derivative, the weight w(p) = dJ/dp. The population gradient of
any of them is E_x[w(p(x)) grad p(x)] (MaxRL, 2602.02710, eq. 8), so w says how much each difficulty
counts.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError, parse_call, real, unknown, whole

Array = NDArray[np.float64]
Function = Callable[[Array], Array]


def check_pass_rates(p: ArrayLike) -> Array:
    """`p` as float64, refused unless every entry lies in [0, 1]."""
    p = np.asarray(p, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        bad = p[~((p >= 0) & (p <= 1))].flat[0]
        raise LabError(
            f"pass rate {bad} is outside [0, 1]: a pass rate is the share of right rollouts"
        )
    return p


@dataclass(frozen=True, eq=False)
class Objective:
    """A function J of the pass rate and its derivative w.

    `value(p)` and `weight(p)` take any array of pass rates and return float64 of the same shape;
    both may be infinite at p = 0 or 1. J is defined up to a constant: it is anchored where its
    docstring says. Mixtures are made by `+` and by `*` with a number: `objective("rl") + 0.5 *
    objective("ml")`.
    """

    name: str
    label: str
    citation: str
    J: Function
    w: Function
    about: str = ""

    def value(self, p: ArrayLike) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.J(check_pass_rates(p))

    def weight(self, p: ArrayLike) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.w(check_pass_rates(p))

    def __add__(self, other: Objective) -> Objective:
        if not isinstance(other, Objective):
            return NotImplemented
        citations = dict.fromkeys(c for c in (self.citation, other.citation) if c)
        return Objective(
            f"{self.name} + {other.name}",
            f"{self.label} + {other.label}",
            "; ".join(citations),
            lambda p: self.J(p) + other.J(p),
            lambda p: self.w(p) + other.w(p),
        )

    def __mul__(self, factor: float) -> Objective:
        if not isinstance(factor, (int, float)):
            return NotImplemented
        name, label = ((f"({text})" if " + " in text else text) for text in (self.name, self.label))
        return Objective(
            f"{factor:g} * {name}",
            f"{factor:g} {label}",
            self.citation,
            lambda p: factor * self.J(p),
            lambda p: factor * self.w(p),
        )

    __rmul__ = __mul__


def objective(name: str | Callable[[ArrayLike], ArrayLike], **options) -> Objective:
    """The objective called `name`, or the one whose weight is the function `name`.

    `name` is a catalogue name (see `objective_names()`), a call or a mixture written as text
    ("power(a=0.5, b=0)", "rl + 0.5 * ml"), or any function w(p). Unknown names and options are
    errors that name the nearest valid one.

    >>> objective("truncated", order=2).weight([0.0, 0.5, 1.0])
    array([2. , 1.5, 1. ])
    >>> doubled = objective(lambda p: 2 * p)
    >>> round(float(doubled.value(0.75) - doubled.value(0.25)), 12)
    0.5
    """
    if callable(name):
        if options:
            raise LabError(
                f"option {next(iter(options))!r} given with a function: a weight function takes"
                " none"
            )
        return _from_function(name)
    if isinstance(name, str) and ("*" in name or " + " in name):
        return _mixture(name)
    name, written = parse_call(name)
    options = written | options
    if name not in _CATALOGUE:
        raise unknown("objective", name, _CATALOGUE)
    parameters = inspect.signature(_CATALOGUE[name]).parameters
    for option in options:
        if option not in parameters:
            raise unknown(f"option of objective {name!r}", option, parameters)
    for option in parameters:
        if option not in options:
            raise LabError(
                f"objective {name!r} needs {option}: write objective({name!r}, {option}=...)"
            )
    return replace(_CATALOGUE[name](**options), about=inspect.getdoc(_CATALOGUE[name]) or "")


def objective_names() -> list[str]:
    """The names of the catalogue of objectives."""
    return list(_CATALOGUE)


def _mixture(text: str) -> Objective:
    """Read sums and multiples of catalogue objectives; nothing is evaluated."""
    cure = LabError(
        f"cannot read {text!r}: write a mixture as sums and multiples, for example rl + 0.5 * ml"
    )

    def read(node: ast.expr) -> Objective | float:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if (
            isinstance(node, ast.UnaryOp)
            and isinstance(node.op, ast.USub)
            and isinstance(node.operand, ast.Constant)
        ):
            return -read(node.operand)
        if not isinstance(node, ast.BinOp):
            return objective(ast.unparse(node))
        left, right = read(node.left), read(node.right)
        if (
            isinstance(node.op, ast.Add)
            and isinstance(left, Objective)
            and isinstance(right, Objective)
        ):
            return left + right
        if isinstance(node.op, ast.Mult) and isinstance(left, Objective) != isinstance(
            right, Objective
        ):
            return left * right
        raise cure

    try:
        return read(ast.parse(text, mode="eval").body)
    except SyntaxError:
        raise cure from None


_CATALOGUE: dict[str, Callable[..., Objective]] = {}


def _entry(factory: Callable[..., Objective]) -> Callable[..., Objective]:
    _CATALOGUE[factory.__name__] = factory
    return factory


@_entry
def rl() -> Objective:
    """Expected reward: every problem counts the same. J = p, w = 1 (MaxRL eq. 1)."""
    return Objective("rl", "RL", "Williams 1992", lambda p: p.copy(), np.ones_like)


@_entry
def ml() -> Objective:
    """Maximum likelihood: hard problems count by 1/p. J = log p, w = 1/p (MaxRL eq. 2)."""
    return Objective("ml", "ML", "Tajwar et al. 2026, arXiv 2602.02710", np.log, lambda p: 1 / p)


@_entry
def truncated(order: int) -> Objective:
    """Maximum likelihood cut after `order` terms: J = -sum_{k<=T} (1-p)^k/k, w = (1-(1-p)^T)/p
    (MaxRL eq. 4).

    T = 1 is RL up to the constant -1; w(0) = T, so T is also the largest weight.
    """
    T = whole("order", order)

    def value(p: Array) -> Array:
        total = np.zeros_like(p)
        for k in range(T, 0, -1):  # Horner: one pass, no array of powers
            total = (total + 1 / k) * (1 - p)
        return -total

    def weight(p: Array) -> Array:
        return np.where(p > 0, -np.expm1(T * np.log1p(-p)) / np.where(p > 0, p, 1), T)

    return Objective(
        f"truncated(order={T})",
        f"MaxRL T={T}",
        "Tajwar et al. 2026, arXiv 2602.02710, eq. 4",
        value,
        weight,
    )


@_entry
def pass_at(k: int) -> Objective:
    """The chance that one of k samples is right: J = 1-(1-p)^k, w = k (1-p)^(k-1) (PKPO,
    2505.15201).
    """
    k = whole("k", k)
    return Objective(
        f"pass_at(k={k})",
        f"pass@{k}",
        "Walder & Karkhanis 2025, arXiv 2505.15201",
        lambda p: -np.expm1(k * np.log1p(-p)),
        lambda p: k * (1 - p) ** (k - 1),
    )


@_entry
def arcsine() -> Objective:
    """GRPO's limit for many rollouts: J = 2 arcsin sqrt p, w = 1/sqrt(p(1-p)) (MaxRL Table 2)."""
    return Objective(
        "arcsine",
        "GRPO limit",
        "Davis & Recht 2025, arXiv 2510.13651",
        lambda p: 2 * np.arcsin(np.sqrt(p)),
        lambda p: 1 / np.sqrt(p * (1 - p)),
    )


@_entry
def log_odds() -> Objective:
    """The log-odds of success, PACS with balanced weights at its anchor: J = log p/(1-p), w =
    1/(p(1-p)).
    """
    return Objective(
        "log_odds",
        "log-odds",
        "PACS 2025, arXiv 2509.02522, at psi = 0",
        lambda p: np.log(p) - np.log1p(-p),
        lambda p: 1 / (p * (1 - p)),
    )


@_entry
def power(a: float, b: float) -> Objective:
    """The family that holds the others at its corners: w = p^(-a) (1-p)^(-b).

    RL (0, 0), GRPO's limit (1/2, 1/2), ML (1, 0), log-odds (1, 1). J is integrated from 0 where
    that is finite (a < 1), else from 1 (b < 1), else from 1/2, which gives p, 2 arcsin sqrt p, log
    p and log p/(1-p) at those four corners. Computed by the hypergeometric function B(p; 1-a, 1-b),
    or by quadrature.
    """
    a, b = real("a", a), real("b", b)

    def weight(p: Array) -> Array:
        return p**-a * (1 - p) ** -b

    def from_zero(p: Array, a: float, b: float) -> Array:
        from scipy.special import hyp2f1

        return p ** (1 - a) / (1 - a) * hyp2f1(1 - a, b, 2 - a, p)

    def value(p: Array) -> Array:
        if a < 1:
            return from_zero(p, a, b)
        if b < 1:
            return -from_zero(1 - p, b, a)
        inside = (p > 0) & (p < 1)
        return np.where(
            inside, integral(weight, np.where(inside, p, 0.5)), np.where(p > 0, np.inf, -np.inf)
        )

    return Objective(
        f"power(a={a:g}, b={b:g})",
        f"$p^{{-{a:g}}}(1-p)^{{-{b:g}}}$",
        "Davis & Recht 2025, arXiv 2510.13651",
        value,
        weight,
    )


def integral(weight: Function, p: Array, nodes: int = 128) -> Array:
    """J(p) = integral of `weight` from 1/2 to p, by Gauss-Legendre in the log-odds, where w p (1-p)
    is mild.

    At p = 0 and 1 it is the limit where the weight is finite there, else nan: quadrature cannot
    tell.
    """
    x, share = np.polynomial.legendre.leggauss(nodes)
    end = np.log(p) - np.log1p(-p)
    end = np.where(np.isinf(end) & np.isfinite(weight(p)), np.copysign(40.0, end), end)
    z = end[..., None] * (x + 1) / 2
    s = 1 / (1 + np.exp(-z))
    return np.sum(weight(s) * s * (1 - s) * share, axis=-1) * end / 2


def _from_function(w: Callable[[ArrayLike], ArrayLike]) -> Objective:
    def weight(p: Array) -> Array:
        out = np.array(w(p), dtype=np.float64)
        if out.shape not in ((), p.shape):
            raise LabError(
                f"{name} gave shape {out.shape} for pass rates of shape {p.shape}: return one"
                " weight each"
            )
        return np.broadcast_to(out, p.shape).copy() if out.ndim == 0 else out

    name = getattr(w, "__name__", type(w).__name__)
    name = "w(p)" if name == "<lambda>" else name
    return Objective(name, name, "", lambda p: integral(weight, p), weight)
