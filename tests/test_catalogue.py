"""Every named estimator against its paper's definition, over all reward vectors, and against its
closed form.

The definitions below are written from the papers, one reward vector at a time, in exact fractions
where no root is drawn. Section numbers are those of the catalogue of formulas
(docs/mathematics.md).
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest
import torch
from enumeration import (
    DIGITS,
    bernoulli_weight,
    reward_vectors,
    share_of_subsets_hit,
    zero_mean_weight,
)
from refusals import refusal
from torch.nn import functional

import lab

HALF = Fraction(1, 2)


def mean(values):
    return Fraction(sum(values), len(values)) if values else Fraction(0)


def others(values, i):
    return values[:i] + values[i + 1 :]


# --- The papers' definitions, on one vector of rewards ------------------------------------------


def reinforce(r):
    return list(r)


def minus_mean(r):
    return [x - mean(r) for x in r]


def rloo(r):
    return [x - mean(others(r, i)) for i, x in enumerate(r)]


def nsr(r):
    return [x - 1 for x in r]


def w_reinforce(r, lam):
    return [lam if x else -1 for x in r]


def std(r, ddof=0):
    return math.sqrt(sum((x - mean(r)) ** 2 for x in r) / (len(r) - ddof))


def grpo(r, ddof=0, eps=0.0):
    scale = std(r, ddof) + eps
    return [(x - mean(r)) / scale if scale else 0 for x in r]


def ngrpo(r, ddof=0, eps=0.0):
    """The rewards and one more of 1 give the mean and the standard deviation."""
    return grpo((*r, 1), ddof, eps)[:-1]


def over_mean(r, power=1):
    """(r - r̄)/r̄^power, zero where all are wrong: MaxRL's Algorithm 1 at power 1."""
    return [(x - mean(r)) / mean(r) ** power if any(r) else 0 for x in r]


def f_grpo(r, gamma):
    return [(1 - mean(r)) ** gamma * A for A in grpo(r)]


def dgpo(r):
    spread = sum(abs(x - mean(r)) for x in r)
    return [len(r) * (x - mean(r)) / spread if spread else 0 for x in r]


def mapo(r):
    lam = 1 - 4 * mean(r) * (1 - mean(r))
    return [(1 - lam) * a + lam * b for a, b in zip(grpo(r), over_mean(r), strict=True)]


def eq6(r):
    """g = (1/K) sum r_i S_i, and 0 at K = 0."""
    return [Fraction(len(r) * x, sum(r)) if any(r) else 0 for x in r]


def eq7(r):
    """g = sum (r_i/K - 1/N) S_i, the first term 0 at K = 0."""
    return [A - 1 for A in eq6(r)]


def maxrl_loo(r):
    return [
        (x - mean(others(r, i))) * Fraction(len(r), sum(others(r, i)) + 1) for i, x in enumerate(r)
    ]


def eq6_of_subsets(r, order):
    """Eq. 6 of a T-subset, averaged over all T-subsets: unbiased for order T."""
    A = [Fraction(0)] * len(r)
    for subset in itertools.combinations(range(len(r)), order):
        right = [i for i in subset if r[i]]
        for i in right:
            A[i] += Fraction(len(r), len(right) * math.comb(len(r), order))
    return A


def truncated_loo(r, order):
    """(r_i - mean of the others) (N/(K_-i+1)) rho(N, K_-i+1, T): one right rollout beside the
    others.
    """
    hits = [share_of_subsets_hit((*others(r, i), 1), order) for i in range(len(r))]
    return [A * hit for A, hit in zip(maxrl_loo(r), hits, strict=True)]


def transformed_reward(r, k):
    """PKPO: s_i, the sum of max over the k-subsets that hold i, divided by C(n, k)."""
    s = [Fraction(0)] * len(r)
    for subset in itertools.combinations(range(len(r)), k):
        best = max(r[i] for i in subset)
        for i in subset:
            s[i] += Fraction(best, math.comb(len(r), k))
    return s


def pkpo(r, k):
    return [len(r) * s for s in transformed_reward(r, k)]


def pkpo_sloo(r, k):
    return [
        len(r) * (s - mean(transformed_reward(others(r, i), k))) if any(r) else 0
        for i, s in enumerate(transformed_reward(r, k))
    ]


def pkpo_sloo_minus_one(r, k):
    """The k-subsets that hold i, each minus the best of its other k-1."""
    A = [Fraction(0)] * len(r)
    for subset in itertools.combinations(range(len(r)), k):
        for i in subset:
            rest = max((r[j] for j in subset if j != i), default=0)
            A[i] += Fraction(len(r) * (max(r[i], rest) - rest), math.comb(len(r), k))
    return A


def pass_at_k_training(r, k):
    """Chen et al.: the standardised reward of a k-group, averaged over the k-groups that hold i."""
    groups = list(itertools.combinations(range(len(r)), k))
    scores = grpo([max(r[i] for i in group) for group in groups])
    scored = list(zip(scores, groups, strict=True))
    mine = [[score for score, group in scored if i in group] for i in range(len(r))]
    return [sum(s) / len(s) for s in mine]


def pacs(r, beta=1, dr_grpo=False, balanced=True):
    """Section 3.6: u_i = w_i (R_i - 1/2), A_i = beta (G/(G-1)) (u_i - ū); Dr. GRPO has
    no G/(G-1).
    """
    G = len(r)
    count = {x: r.count(x) for x in r}
    u = [(Fraction(G, 2 * count[x]) if balanced and len(count) == 2 else 1) * (x - HALF) for x in r]
    return [beta * (1 if dr_grpo else Fraction(G, G - 1)) * (x - mean(u)) for x in u]


def real(r, tau):
    """Minus N times the slope at 0 of log(1 + sum_+ e^(-s/tau)) + log(1 + sum_- e^(s/tau))."""
    N, K = len(r), sum(r)
    return [N / (tau * (1 + K)) if x else -N / (tau * (1 + N - K)) for x in r]


def entropic(r, eta):
    lifted = [math.exp(eta * x) for x in r]
    return [(x / (sum(lifted) / len(r)) - 1) / eta for x in lifted]


def drawn_line(r):
    """w = 1 + p: b(j) = 1 + j/(N-1), by linearity of E[j] = (N-1) p, and the
    leave-one-out offset.
    """
    return [(1 + mean(others(r, i))) * A for i, A in enumerate(rloo(r))]


def drawn_line_zero_mean(r):
    """phi(K) = 1 + (K-1)/(N-2), E over J = K-1 ~ Bin(N-2, p), times RLOO."""
    return [(1 + Fraction(sum(r) - 1, len(r) - 2)) * A if any(r) else 0 for A in rloo(r)]


# --- What is known of each ----------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """`least`: the smallest N. `exact`: w_N is the limit at every N."""

    spec: str
    least: int
    definition: Callable
    limit: Callable[[float], float]
    exact: bool = False


def one(p):
    return 1.0


def arcsine(p):
    return (p * (1 - p)) ** -0.5


def one_over_root(p):
    return p**-0.5


def inverse(p):
    return 1 / p


def odds(factor):
    return lambda p: factor / (p * (1 - p))


CASES = [
    Case("reinforce", 1, reinforce, one, True),
    Case("reinforce_mean", 2, minus_mean, one),
    Case("rloo", 2, rloo, one, True),
    Case("dr_grpo", 2, minus_mean, one),
    Case("nsr", 1, nsr, one, True),
    Case("w_reinforce", 1, partial(w_reinforce, lam=Fraction(1, 10)), lambda p: 1.1, True),
    Case("w_reinforce(lam=0.5)", 1, partial(w_reinforce, lam=HALF), lambda p: 1.5, True),
    *(
        Case(f"grpo(ddof={ddof}, eps={eps})", 2, partial(grpo, ddof=ddof, eps=eps), arcsine)
        for ddof, eps in ((0, 0.0), (1, 0.0), (1, 1e-06), (1, 0.0001))
    ),
    Case("ngrpo", 1, ngrpo, arcsine),
    Case("ngrpo(ddof=1, eps=1e-06)", 1, partial(ngrpo, ddof=1, eps=1e-6), arcsine),
    Case("alpha(alpha=0.5)", 2, partial(over_mean, power=0.5), one_over_root),
    Case("f_grpo(gamma=0.5)", 2, partial(f_grpo, gamma=0.5), one_over_root),
    Case("f_grpo(gamma=2.0)", 2, partial(f_grpo, gamma=2), lambda p: (1 - p) ** 1.5 * p**-0.5),
    Case("dgpo", 2, dgpo, odds(0.5)),
    Case("mapo", 2, mapo, lambda p: 4 * (p * (1 - p)) ** 0.5 + (1 - 4 * p * (1 - p)) / p),
    Case("maxrl", 2, over_mean, inverse),
    Case("maxrl_eq6", 1, eq6, inverse),
    Case("maxrl_eq7", 1, eq7, inverse),
    Case("maxrl_loo", 2, maxrl_loo, inverse),
    Case("alpha(alpha=1)", 2, over_mean, inverse),
    *(
        Case(
            f"truncated(order={T}{form})",
            least,
            partial(definition, order=T),
            lambda p, T=T: (1 - (1 - p) ** T) / p,
            True,
        )
        for T in (1, 2, 4)
        for form, least, definition in (
            ("", T, eq6_of_subsets),
            (", form='loo'", max(2, T), truncated_loo),
        )
    ),
    *(
        Case(
            f"pkpo(k={k}{form})",
            least,
            partial(definition, k=k),
            lambda p, k=k: k * (1 - p) ** (k - 1),
            True,
        )
        for k in (1, 2, 4)
        for form, least, definition in (
            ("", k, pkpo),
            (", form='sloo'", k + 1, pkpo_sloo),
            (", form='sloom1'", k, pkpo_sloo_minus_one),
        )
    ),
    *(
        Case(
            f"pass_at_k_group(k={k})",
            max(2, k),
            partial(pass_at_k_training, k=k),
            lambda p, k=k: (1 - p) ** (k / 2 - 1) / (1 - (1 - p) ** k) ** 0.5,
        )
        for k in (1, 2, 4)
    ),
    Case("pacs_anchor", 2, pacs, odds(0.25)),
    Case("pacs_anchor(beta=2, score='dr_grpo')", 2, partial(pacs, beta=2, dr_grpo=True), odds(0.5)),
    Case(
        "pacs_anchor(beta=2, balanced=False)",
        2,
        partial(pacs, beta=2, balanced=False),
        lambda p: 2.0,
        True,
    ),
    Case(
        "pacs_anchor(score='dr_grpo', balanced=False)",
        2,
        partial(pacs, dr_grpo=True, balanced=False),
        one,
    ),
    Case("real_anchor", 1, partial(real, tau=HALF), odds(2)),
    Case("real_anchor(tau=2.0)", 1, partial(real, tau=2), odds(0.5)),
    Case(
        "entropic(eta=2.0)",
        2,
        partial(entropic, eta=2),
        lambda p: math.expm1(2) / (2 * (1 + math.expm1(2) * p)),
    ),
    *(
        Case(f"{spec}{zero_mean})", least, definition, lambda p: 1 + p, True)
        for spec in ("drawn(p=[0.0, 1.0], w=[1.0, 2.0]", "formula(text='1 + p'")
        for zero_mean, least, definition in (
            ("", 2, drawn_line),
            (", zero_mean=True", 3, drawn_line_zero_mean),
        )
    ),
]
BY_SPEC = {case.spec: case for case in CASES}
SPECS = pytest.mark.parametrize("spec", list(BY_SPEC))
DEFINED = {lab.estimator(spec).name for spec in BY_SPEC}
# One that was added and has no definition yet is held to what holds of every estimator.
UNDEFINED = set(lab.estimator_names()) - {
    lab.mathematics.estimators.ALIASES.get(name, name) for name in DEFINED
}
EVERY_SPEC = pytest.mark.parametrize("spec", [*BY_SPEC, *sorted(UNDEFINED)])
# A fit of size N: not at thousands.
FITTED = [spec for spec in BY_SPEC if spec.startswith(("drawn", "formula"))]


@cache
def defined(spec: str, rewards: tuple[int, ...]) -> tuple:
    """The advantages by the definition, or where there is none by the lab."""
    if spec in BY_SPEC:
        return tuple(BY_SPEC[spec].definition(rewards))
    return tuple(map(Fraction, lab.advantages(spec, np.array(rewards)).tolist()))


def sizes(spec: str, largest: int = 6) -> range:
    return range(lab.estimator(spec).least, largest + 1)


@SPECS
def test_advantages_are_the_definition_for_every_reward_vector(spec):
    for N in sizes(spec):
        vectors = reward_vectors(N)
        expected = np.array([[float(A) for A in defined(spec, r)] for r in vectors])
        np.testing.assert_allclose(
            lab.advantages(spec, np.array(vectors)), expected, rtol=1e-11, atol=1e-11
        )


@SPECS
def test_below_the_least_size_an_estimator_is_an_error_that_names_the_size(spec):
    assert lab.estimator(spec).least == BY_SPEC[spec].least
    for N in range(1, BY_SPEC[spec].least):
        with pytest.raises(
            lab.LabError,
            match=rf"at least {BY_SPEC[spec].least} rollouts, found N = {N}.*lower the order or k",
        ):
            lab.advantages(spec, np.ones(N))


@EVERY_SPEC
def test_induced_weight_is_the_mean_over_all_rewards_of_a_bernoulli_policy(spec):
    for N in sizes(spec):
        for p in (Fraction(1, 100), Fraction(3, 10), Fraction(9, 10)):
            expected = bernoulli_weight(partial(defined, spec), N, p)
            assert float(lab.induced_weight(spec, N, float(p))) == pytest.approx(
                float(expected), rel=1e-11
            )


@pytest.mark.parametrize(
    "spec, weight",
    [
        ("reinforce_mean", lambda N, p: (N - 1) / Decimal(N)),
        ("maxrl", lambda N, p: (1 - (1 - p) ** (N - 1)) / p),
        ("maxrl_eq6", lambda N, p: (1 - (1 - p) ** N) / p),
        ("maxrl_loo", lambda N, p: (1 - (1 - p) ** N) / p),
        ("dgpo", lambda N, p: (1 - p**N - (1 - p) ** N) / (2 * p * (1 - p))),
        ("pacs", lambda N, p: (1 - p**N - (1 - p) ** N) / (p * (1 - p)) * N / (4 * (N - 1))),
        (
            "grpo",
            partial(
                zero_mean_weight, lambda K, N: ((1 - Decimal(K) / N) / (Decimal(K) / N)).sqrt()
            ),
        ),
    ],
)
def test_closed_forms_hold_to_ten_digits_for_thousands_of_rollouts_too(spec, weight):
    p = [1e-6, 0.02, 0.5, 1 - 1e-6]
    with localcontext(prec=DIGITS):
        for N in (2, 5, 4096):
            expected = [float(weight(N, Decimal(x))) for x in p]
            np.testing.assert_allclose(lab.induced_weight(spec, N, p), expected, rtol=1e-10)


@SPECS
def test_limit_is_the_published_weight_and_is_approached(spec):
    p = np.array([0.05, 0.3, 0.7, 0.95])
    case, chosen = BY_SPEC[spec], lab.estimator(spec)
    limit = np.array([case.limit(x) for x in p])
    np.testing.assert_allclose(chosen.limit.weight(p), limit, rtol=1e-12)
    errors = [
        np.max(np.abs(lab.bias(chosen, N, p)) / limit)
        for N in ((8, 16, 64) if spec in FITTED or case.exact else (64, 512, 4096))
    ]
    if case.exact:
        assert max(errors) < (1e-8 if spec in FITTED else 1e-12)
    else:
        # eps in the denominator bounds how near one comes: a relative eps/std
        assert errors[0] > errors[1] > errors[2] - 1e-3 and errors[2] < 0.01 + 5 * (chosen.eps or 0)


@EVERY_SPEC
def test_rules_say_what_enumeration_finds(spec):
    rules = lab.estimator(spec).rules
    zero = {"all_wrong": True, "all_right": True, "zero_mean": True}
    paid = False
    for N in sizes(spec):
        for r in reward_vectors(N):
            A = [float(x) for x in defined(spec, r)]
            if sum(r) == 0:
                zero["all_wrong"] &= max(map(abs, A)) < 1e-12
            if sum(r) == N:
                zero["all_right"] &= max(map(abs, A)) < 1e-12
            zero["zero_mean"] &= abs(sum(A)) < 1e-9
            paid |= max((a for a, x in zip(A, r, strict=True) if not x), default=0) > 1e-9
    word = {True: "zero", False: "kept"}
    assert (rules.all_wrong, rules.all_right) == (word[zero["all_wrong"]], word[zero["all_right"]])
    assert rules.zero_mean == zero["zero_mean"]
    assert rules.wrong_paid == paid
    assert rules.singleton == ("scored" if lab.estimator(spec).least == 1 else "error")


@SPECS
def test_a_group_of_one_follows_the_stated_rule(spec):
    kind, one_rollout = lab.estimator(spec, singleton="zero"), np.array([[1.0], [0.0]])
    if BY_SPEC[spec].least > 1:
        assert kind.rules.singleton == "zero"
        assert lab.advantages(kind, one_rollout).tolist() == [[0.0], [0.0]]
        with pytest.raises(lab.LabError, match="singleton='zero'"):
            lab.advantages(spec, one_rollout)
    else:
        expected = [[float(A) for A in defined(spec, (r,))] for r in (1, 0)]
        np.testing.assert_allclose(lab.advantages(spec, one_rollout), expected, rtol=1e-14)


# --- Facts that can be seen by eye --------------------------------------------------------------


@pytest.mark.parametrize(
    "spec, named",
    [
        ("dr_grpo", "reinforce_mean"),
        ("pkpo(k=1)", "reinforce"),
        ("pass_at_k_group(k=1)", "grpo"),
        ("truncated(order=1)", "reinforce"),
        ("truncated(order=1, form='loo')", "rloo"),
        ("truncated(order=8)", "maxrl_eq6"),
        ("truncated(order=8, form='loo')", "maxrl_loo"),
        ("alpha(alpha=0)", "reinforce_mean"),
    ],
)
def test_corners_of_the_families_are_their_named_members(spec, named):
    rewards = np.array(reward_vectors(8))
    expected = lab.advantages(named, rewards)
    np.testing.assert_allclose(lab.advantages(spec, rewards), expected, rtol=1e-13, atol=1e-13)


def test_the_transformed_reward_of_pkpo_pays_wrong_rollouts_and_its_other_forms_do_not():
    form = {form: lab.estimator(f"pkpo(k=2, form={form!r})").rules for form in ("s", "sloo")}
    assert form["s"].wrong_paid and not form["sloo"].wrong_paid
    assert str(form["s"]).endswith("WARNING: some wrong rollouts are paid")
    assert "WARNING" not in str(form["sloo"])


# --- The two papers' statements -----------------------------------------------------------------


def test_grpo_saturates_where_successes_are_rare():
    for N in (2, 16, 1024):
        assert lab.induced_weight("grpo", N, 0.0) == pytest.approx(math.sqrt(N - 1))
        assert lab.induced_weight("grpo(ddof=1)", N, 0.0) == pytest.approx((N - 1) / math.sqrt(N))
    at = [
        round(float(lab.induced_weight(spec, 1024, 1e-3)), 1) for spec in ("rloo", "grpo", "maxrl")
    ]
    assert at == [1.0, 24.6, 640.7]  # the published comparison starts with a 640-fold larger step


# Wrong ones; +5 makes the right ones, repeats included.
ANSWERS = torch.tensor([0, 3, 1, 4, 2, 0, 1, 4])


@pytest.mark.parametrize("G", range(2, 9))
@pytest.mark.parametrize(
    "beta, score, balanced",
    [(1.0, "rloo", True), (0.5, "rloo", False), (2.0, "dr_grpo", True), (1.0, "dr_grpo", False)],
)
def test_first_gradient_of_the_pacs_loss_is_the_anchor_advantage(G, beta, score, balanced):
    rewards = torch.tensor(reward_vectors(G), dtype=torch.float64)
    groups = len(rewards)
    generator = torch.Generator().manual_seed(G)
    logits = torch.randn(groups, 10, generator=generator, dtype=torch.float64, requires_grad=True)
    answers = ANSWERS[:G] + 5 * rewards.long()
    log_policy = torch.log_softmax(logits, -1).gather(1, answers)
    # Eq. 7, the reference being the policy itself.
    proxy = beta * (log_policy - log_policy.detach())
    if score == "rloo":  # eq. 6
        rest = [[j for j in range(G) if j != i] for i in range(G)]
        psi = proxy - torch.stack([proxy[:, others].mean(1) for others in rest], 1)
    else:  # eq. 10
        psi = proxy - proxy.mean(1, keepdim=True)
    weights = torch.ones_like(rewards)
    if balanced:
        for row, r in enumerate(rewards):
            if 0 < r.sum() < G:
                weights[row] = torch.where(r == 1, G / (2 * r.sum()), G / (2 * (G - r.sum())))
    loss = functional.binary_cross_entropy_with_logits(
        psi, rewards, weight=weights, reduction="none"
    )
    gradient = torch.autograd.grad(loss.mean(1).sum(), logits)[0]

    A = lab.advantages(
        lab.estimator("pacs_anchor", beta=beta, score=score, balanced=balanced), rewards
    )
    scores = functional.one_hot(answers, 10) - torch.softmax(logits.detach(), -1)[:, None]
    np.testing.assert_allclose(gradient, -(A[..., None] * scores).mean(1), atol=1e-12)


@pytest.mark.parametrize("N", [1, 2, 5, 8])
def test_first_gradient_of_the_real_loss_is_the_anchor_advantage(N):
    rewards = torch.tensor(reward_vectors(N), dtype=torch.float64)
    s = torch.zeros_like(rewards, requires_grad=True)
    right, wrong = rewards * torch.exp(-s / 0.7), (1 - rewards) * torch.exp(s / 0.7)
    loss = torch.log1p(right.sum(1)) + torch.log1p(wrong.sum(1))
    gradient = torch.autograd.grad(loss.sum(), s)[0]
    np.testing.assert_allclose(
        gradient, -lab.advantages("real_anchor(tau=0.7)", rewards) / N, atol=1e-12
    )


# --- Refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec, message",
    [
        ("grpo(ddof=2)", "ddof = 2: it must be one of 0, 1"),
        ("grpo(eps=-1)", "eps = -1: it must be a finite number"),
        ("w_reinforce(lam=-0.1)", "lam = -0.1"),
        ("f_grpo(gamma=None)", "gamma = None"),
        ("truncated(order=0)", "order = 0: it must be a whole number of at least 1"),
        ("truncated(order=True)", "order = True"),
        ("truncated(order=2, form='half')", "form = 'half': it must be one of 'raw', 'loo'"),
        ("alpha(alpha=-1)", "alpha = -1"),
        ("ngrpo(ddof=2)", "ddof = 2: it must be one of 0, 1"),
        ("pkpo(k=0)", "k = 0"),
        ("pkpo(k=2, form='loo')", "form = 'loo': it must be one of 's', 'sloo', 'sloom1'"),
        ("pass_at_k_group(k=1.5)", "k = 1.5"),
        ("pacs_anchor(beta=-1)", "beta = -1"),
        ("pacs_anchor(score='grpo')", "score = 'grpo': it must be one of 'rloo', 'dr_grpo'"),
        ("pacs_anchor(balanced=2)", "balanced = 2"),
        ("real_anchor(tau=0)", "tau = 0"),
        ("entropic(eta=0)", "eta = 0"),
        ("drawn(p=[0.5, 0.1], w=[1, 2])", "p rising"),
        ("drawn(p=[0.1, 0.5], w=[1])", "two lists of equal length"),
    ],
)
def test_an_option_out_of_range_or_of_a_wrong_type_is_named(spec, message):
    assert message in refusal(lab.estimator, spec)


# --- Aliases ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["", "(beta=2)", "(score='dr_grpo')", "(balanced=False)"])
def test_pacs_anchor_is_pacs_under_the_name_that_recorded_runs_hold(options):
    new, old = lab.estimator(f"pacs{options}"), lab.estimator(f"pacs_anchor{options}")
    for N in (2, 5, 16):
        np.testing.assert_array_equal(new.coefficients(N), old.coefficients(N))
    assert (new.label, new.citation, new.rules) == (old.label, old.citation, old.rules)
    assert old.spec.startswith("pacs_anchor") and new.spec.startswith("pacs")
    assert "pacs" in lab.estimator_names() and "pacs_anchor" not in lab.estimator_names()
    assert "at its anchor" in new.about.splitlines()[0]
