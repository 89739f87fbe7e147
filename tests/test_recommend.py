"""Which estimator for a run: moments of recipes against every outcome, cases known in closed form,
and the command.
"""

import itertools

import numpy as np
import pytest

import lab
from lab.cli import main
from lab.errors import LabError
from lab.mathematics import recommend as model
from lab.mathematics.pass_rates import intervals, mixing, resampled_mixing
from lab.mathematics.recommend import (
    Scores,
    alike,
    candidates,
    metric_of,
    predict,
    rank,
    recipe,
    softmax,
    steeper,
    step_moments,
)
from lab.rollouts.counting import Choice
from lab.show.recommendation import recommend

ANSWERS = 3
PLAIN = ["rloo", "grpo", "maxrl", "maxrl_eq7", "reinforce", "nsr"]


def outcomes(name, N, p):
    """(chances, K, gradients) of every group of N answers: answer 0 is right, the others alike."""
    policy = np.array([p] + [(1 - p) / (ANSWERS - 1)] * (ANSWERS - 1))
    answers = np.array(list(itertools.product(range(ANSWERS), repeat=N)))
    right = (answers == 0).astype(float)
    A = lab.advantages(name, right)
    gradients = np.einsum("oi,oia->oa", A, (np.eye(ANSWERS) - policy)[answers]) / N
    return policy[answers].prod(axis=1), right.sum(axis=1), gradients


def moments(chances, gradients):
    """(mean, trace of the covariance)."""
    mean = chances @ gradients
    return mean, chances @ ((gradients - mean) ** 2).sum(axis=1)


def slope(p):
    policy = np.array([p] + [(1 - p) / (ANSWERS - 1)] * (ANSWERS - 1))
    return p * (np.eye(ANSWERS)[0] - policy)


def check(text, N, p, mean, noise):
    found = step_moments(text, N, [p], softmax(1, ANSWERS - 1))
    np.testing.assert_allclose(found.weight[0] * slope(p), mean, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found.noise[0], noise, rtol=1e-10)


# --- One visit of a problem -----------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.02, 0.4, 0.95])
@pytest.mark.parametrize("name", PLAIN)
def test_the_noise_of_an_estimator_is_that_of_all_outcomes(name, p):
    chances, _, gradients = outcomes(name, 4, p)
    check(name, 4, p, *moments(chances, gradients))


@pytest.mark.parametrize("p", [0.02, 0.4, 0.95])
@pytest.mark.parametrize("name", PLAIN)
def test_the_noise_behind_a_gate_is_that_of_all_outcomes(name, p):
    chances, K, gradients = outcomes(name, 4, p)
    mixed = (K > 0) & (K < 4)
    check(f"{name}, gate=drop", 4, p, *moments(chances, mixed[:, None] * gradients))
    kept = chances[mixed] / chances[mixed].sum()
    check(f"{name}, gate=redraw", 4, p, *moments(kept, gradients[mixed]))
    cost = step_moments(f"{name}, gate=redraw", 4, [p]).cost[0]
    assert cost == pytest.approx(4 / chances[mixed].sum())


@pytest.mark.parametrize("per", ["problem", "rollout"])
@pytest.mark.parametrize("name", ["rloo", "maxrl"])
def test_the_noise_of_an_allocation_has_that_of_the_numbers_of_rollouts(name, per):
    p = 0.3
    chances, gradients = [], []
    for n, share in zip((5, 3, 2), ((1 - p) ** 2, 2 * p * (1 - p), p**2), strict=True):
        group_chances, _, group = outcomes(name, n, p)
        chances.append(share * group_chances)
        gradients.append(group * (n if per == "rollout" else 1))
    check(
        f"{name}, allocation=by_last_rate(5, 3, 2), per={per}",
        16,
        p,
        *moments(np.concatenate(chances), np.concatenate(gradients)),
    )


def test_a_chance_multiplies_mean_noise_and_cost_of_a_visit():
    p = np.array([0.1, 0.5])
    plain, drawn = step_moments("maxrl", 8, p), step_moments("maxrl, chance=2*p", 8, p)
    for ours, expected in zip(drawn, plain, strict=True):
        np.testing.assert_allclose(ours, 2 * p * expected)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.9])
def test_what_correctness_explains_is_the_variance_between_the_classes(p):
    """P1: E|S|² = |grad p|²/(pq) + p v1 + q v0, for a softmax, whose scores can be written down."""
    policy = np.array([p] + [(1 - p) / (ANSWERS - 1)] * (ANSWERS - 1))
    fisher = policy @ ((np.eye(ANSWERS) - policy) ** 2).sum(axis=1)
    scores = softmax(1, ANSWERS - 1)(np.array([p]))
    assert scores.gradient[0] == pytest.approx((slope(p) ** 2).sum())
    parts = scores.gradient / (p * (1 - p)) + p * scores.right + (1 - p) * scores.wrong
    assert parts[0] == pytest.approx(fisher)


# --- Sums over problems ---------------------------------------------------------------------------


def score(name, metric, p, N=16, **options):
    """The gain for each unit of noise over problems that are equally many at each pass rate."""
    p = np.atleast_1d(np.asarray(p, float))
    return float(predict(name, N, metric, p, np.full(len(p), 1 / len(p)), **options).per_visit)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.9])
def test_where_all_problems_are_alike_unbiased_estimators_of_rl_rank_by_noise_alone(p):
    names = ["rloo", "reinforce_mean", "reinforce", "nsr", "w_reinforce", "pkpo(k=1)"]
    noise = {}
    for name in names:
        step = step_moments(name, 16, [p])
        noise[name] = (step.noise / step.weight**2).item()
    by_noise = sorted(names, key=lambda name: round(noise[name], 12))
    by_score = sorted(names, key=lambda name: -round(score(name, "pass@1", p), 12))
    assert by_noise == by_score
    for name in names:  # gain pq, for a step made as long as RLOO's
        assert score(name, "pass@1", p) == pytest.approx(p * (1 - p) / noise[name] ** 0.5)


def test_rloo_at_one_pass_rate_has_the_signal_to_noise_of_n_minus_1():
    assert score("rloo", "pass@1", 0.3) ** 2 == pytest.approx(0.3 * 0.7 * 15)


def test_of_equal_problems_the_squared_score_is_the_efficiency_times_n():
    for name in ("rloo", "grpo", "maxrl", "dgpo"):
        found = score(name, "pass@1", 0.2) ** 2
        assert found == pytest.approx(16 * 0.16 * lab.efficiency(name, 16, 0.2))


def test_the_log_likelihood_of_hard_problems_prefers_maxrl_and_pass_at_1_does_not():
    p = np.geomspace(0.005, 0.9, 30)
    assert score("maxrl", "ml", p) > 1.2 * score("rloo", "ml", p)
    assert score("maxrl", "pass@1", p) < score("rloo", "pass@1", p)


def test_more_pass_at_k_prefers_estimators_of_harder_problems():
    p = np.linspace(0.02, 0.98, 40)
    ratios = [
        score("maxrl_loo", f"pass@{k}", p) / score("rloo", f"pass@{k}", p) for k in (1, 4, 16)
    ]
    assert ratios[0] < ratios[1] < ratios[2]


@pytest.mark.parametrize("metric", ["pass@1", "pass@8", "ml"])
def test_a_multiple_of_an_estimator_scores_the_same(metric):
    p = np.geomspace(0.01, 0.9, 20)

    def scaled(N):
        gap, offset = lab.estimator("maxrl").coefficients(N)
        return 7 * gap, 7 * offset

    step = step_moments("maxrl", 16, p)
    seven = lab.Estimator("seven", scaled)
    np.testing.assert_allclose(lab.induced_weight(seven, 16, p), 7 * step.weight)
    noise = lab.second_moments(seven, 16, p)
    np.testing.assert_allclose((noise.right + noise.wrong) / 16, 49 * step.noise)
    # and of the recipes that the text can scale: chances, sums over rollouts
    plain = score("maxrl", metric, p)
    assert score("maxrl, chance=0.25", metric, p) == pytest.approx(plain / 2)  # a quarter drawn
    assert score("maxrl, per=rollout", metric, p) == pytest.approx(plain)
    whole = predict("maxrl", 16, metric, p, np.full(20, 0.05)).per_rollout
    quarter = predict("maxrl, chance=0.25", 16, metric, p, np.full(20, 0.05)).per_rollout
    assert quarter == pytest.approx(float(whole))


def test_other_scores_give_another_ranking():
    """A doctored model is noticed: the prediction is of the scores that it assumes."""

    def steep(p):
        return alike(p)._replace(gradient=np.where(p < 0.1, 0.0, p * (1 - p)))

    p = np.geomspace(0.005, 0.9, 30)
    assert score("maxrl", "ml", p) > score("rloo", "ml", p)
    assert score("maxrl", "ml", p, model=steep) < score("rloo", "ml", p, model=steep)


def test_problems_that_are_solved_always_or_never_add_noise_but_no_gain():
    p, mass = np.array([0.0, 0.3, 1.0]), np.array([0.4, 0.4, 0.2])
    for metric in ("pass@1", "pass@64", "ml"):
        found = predict("nsr", 4, metric, p, mass)
        inside = predict("nsr", 4, metric, p[1:2], mass[1:2])
        assert found.gain == pytest.approx(float(inside.gain))
        assert found.noise > inside.noise  # groups that are all wrong are paid


def test_redrawing_where_a_problem_is_never_solved_scores_nothing():
    found = predict("rloo, gate=redraw", 8, "pass@1", [0.0, 0.5], [0.1, 0.9])
    assert np.isinf(found.cost) and found.per_rollout == 0
    found = predict("rloo, gate=redraw", 8, "pass@1", [0.0, 0.5], [0.0, 1.0])
    assert found.per_rollout > 0


def test_an_estimator_on_one_softmax_per_problem_gains_what_its_mean_step_gains():
    """The gain is the derivative of the metric along the expected step."""
    p, rate = np.array([0.05, 0.4, 0.8]), 1e-6
    logits = np.log(np.stack([p, (1 - p) / 2, (1 - p) / 2], axis=1))
    before = metric_of("pass@8").value(p)
    directions = np.stack([slope(x) for x in p]) * lab.induced_weight("grpo", 8, p)[:, None]
    moved = np.exp(logits + rate * directions)
    after = metric_of("pass@8").value((moved / moved.sum(axis=1, keepdims=True))[:, 0])
    found = predict("grpo", 8, "pass@8", p, np.full(3, 1 / 3), softmax(1, 2)).gain
    assert (after - before).mean() / rate == pytest.approx(float(found), rel=1e-4)


# --- The ranking ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def simulated():
    """Counts of 16 rollouts of 2000 problems, many of them hard."""
    rng = np.random.default_rng(0)
    return rng.binomial(16, rng.beta(0.35, 0.45, 2000))


def test_resamples_of_the_problems_spread_like_a_fit_to_each():
    rng = np.random.default_rng(1)
    correct = rng.binomial(8, rng.beta(0.5, 0.5, 300))

    def sums(p, mass):
        return np.atleast_2d(mass) @ np.stack([p, (1 - p) ** 8, p * (1 - p)], axis=1)

    p, masses = resampled_mixing(8, correct, draws=100)
    fit = mixing(8, correct)
    chance = p[:, None] ** np.arange(9) * (1 - p[:, None]) ** (8 - np.arange(9))
    likelihood = np.log(masses[0] @ chance)[correct].sum()
    assert fit.log_likelihood - 1 <= likelihood <= fit.log_likelihood
    spread = sums(p, masses[1:]).std(axis=0)
    widths = [(x.high - x.low) / 3.92 for x in intervals(8, correct, sums, slack=1, draws=60)]
    np.testing.assert_allclose(spread, widths, rtol=0.35)


def test_the_best_is_first_and_the_rest_is_relative_to_it(simulated):
    rows = rank("pass@1", 16, *resampled_mixing(16, simulated, draws=50))
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    (best,) = [row for row in rows if row.verdict == "best"]
    assert (best.score, best.low, best.high, best.per_visit) == (1, 1, 1, 1)
    assert set(best.names) >= {"rloo", "reinforce_mean", "dr_grpo", "rloo, gate=drop"}
    every = [name for row in rows for name in row.names]
    assert sorted(every) == sorted(candidates(16, 1))


def test_the_steeper_model_has_a_best_of_its_own(simulated):
    p, masses = resampled_mixing(16, simulated, draws=20)
    rows = [row for row in rank("ml", 16, p, masses) if "=" not in row.names[0]]
    assert max(row.steeper for row in rows) <= 1
    (rloo,) = [row for row in rows if "rloo" in row.names]
    (maxrl,) = [row for row in rows if "maxrl" in row.names]
    found = [predict(name, 16, "ml", p, masses[0], steeper) for name in ("rloo", "maxrl")]
    ratio = float(found[0].per_rollout / found[1].per_rollout)
    assert rloo.steeper / maxrl.steeper == pytest.approx(ratio)
    assert ratio > rloo.score / maxrl.score  # hard problems move less


def test_a_recipe_that_must_know_the_pass_rates_is_not_best(simulated):
    rows = rank("ml", 16, *resampled_mixing(16, simulated, draws=50))
    first = rows[0]
    assert "allocation=max" in first.names[0] and first.score > 1 and first.verdict == "better"


def test_intervals_hold_together_and_a_close_race_is_undecided(simulated):
    few = rank("pass@4", 16, *resampled_mixing(16, simulated[:60], draws=100))
    many = rank("pass@4", 16, *resampled_mixing(16, simulated, draws=100))

    def undecided(rows):
        return sum(row.verdict == "undecided" for row in rows)

    def width(rows, name):
        (row,) = [row for row in rows if name in row.names]
        return row.high - row.low

    assert undecided(few) > undecided(many)
    assert width(few, "nsr") > 3 * width(many, "nsr")  # about the root of 2000/60


@pytest.mark.parametrize(
    "n, correct",
    [
        ([16] * 20, [0] * 20),
        ([16] * 20, [16] * 20),
        ([8] * 10 + [16] * 10, [0] * 20),
        ([16], [4]),
        ([16] * 20, [4] * 20),
    ],
    ids=["all wrong", "all right", "all wrong of several n", "one problem", "problems alike"],
)
def test_a_file_that_does_not_tell_problems_apart_decides_nothing(tmp_path, n, correct):
    file = tmp_path / "counts.csv"
    rows = [f"{i},{a},{b}\n" for i, (a, b) in enumerate(zip(n, correct, strict=True))]
    file.write_text("problem,n,k\n" + "".join(rows))
    # 4 of 16 in every row may be settings, until somebody says that they are counts
    report = recommend(file, choice=Choice(reward="k") if 4 in correct else None)
    assert {row.verdict for row in report.rows} == {"undecided"}
    told = "\n".join(report.lines())
    assert "does not tell how certain a score is" in told and "[not known]" in told
    assert "nan" not in told


def test_other_group_sizes_are_on_the_same_scale(simulated):
    p, masses = resampled_mixing(16, simulated, draws=20)
    rows = rank("pass@1", 16, p, masses, sizes=(4, 16))
    for row in rows:
        if "allocation" in row.names[0]:
            assert np.isnan(row.elsewhere[16])
        else:
            assert row.elsewhere[16] == pytest.approx(row.score)
    (rloo,) = [row for row in rows if "rloo" in row.names]
    # N rollouts of RLOO have N-1 times pq, so 4 of them are worth 3/4 : 15/16 a rollout
    assert rloo.elsewhere[4] / rloo.score == pytest.approx((0.75 / (15 / 16)) ** 0.5)


def test_candidates_hold_the_whole_catalogue_and_read_as_recipes():
    names = candidates(16, 8)
    assert len(names) == len(set(names))
    plain = {lab.errors.parse_call(name)[0] for name in names if "," not in name}
    wanted = set(lab.estimator_names()) - {"drawn", "formula"}
    assert wanted - plain <= {"truncated", "alpha"}  # which are written with a comma
    assert all(recipe(name, 16) for name in names)
    assert any("pkpo(k=8)" in name for name in names)
    assert not any("k=8" in name for name in candidates(4, 8))


# --- The command ----------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path, simulated):
    path = tmp_path / "counts.csv"
    rows = (f"{i},16,{right}\n" for i, right in enumerate(simulated))
    path.write_text("problem,n,correct\n" + "".join(rows))
    return path


def test_the_command_prints_the_ranking_its_model_and_what_is_extrapolated(file, capsys):
    assert main(["recommend", str(file), "metric=pass@64", "N=32", "budget=1024"]) == 0
    printed = capsys.readouterr().out
    assert "2000 problems" in printed and "extrapolated: pass@64" in printed
    assert "N = 32" in printed and "at N=16" in printed and "best N" in printed
    assert "Model: a step for one problem moves only that problem's pass rate" in printed
    (rloo,) = [line for line in printed.splitlines() if "  reinforce_mean; rloo; dr" in line]
    assert " 32 " in rloo  # problems a step: 1024/32
    assert "never ends" in printed


def test_exact_pass_rates_of_a_run_have_no_noise_to_remove(tmp_path):
    from lab.runs import configure, train

    run = train(configure("tabular", scale="smoke", estimator="rloo", rollouts=8))
    report = recommend(run.path, "pass@1")
    assert report.N == 8 and report.rows[0].score >= 1
    assert "no noise to remove" in " ".join(report.notes)


@pytest.mark.parametrize(
    "values, message",
    [
        (["metric=pas@64"], "did you mean 'pass@64'"),
        (["metric=pass@0"], "k of pass@k = 0"),
        (["metric=power"], "needs a"),
        (["N=1"], "N = 1"),
        (["budget=3"], "budget = 3"),
        (["rollout=3"], "unknown setting of lab recommend 'rollout'"),
        (["threshold=x"], "threshold"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(file, capsys, values, message):
    assert main(["recommend", str(file), *values]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_file_that_cannot_be_read_or_moves_nothing_is_one_sentence(tmp_path, capsys):
    assert main(["recommend", str(tmp_path / "none.csv")]) == 1
    assert "no such file" in capsys.readouterr().err
    with pytest.raises(LabError, match="solved always or never"):
        rank("pass@1", 4, [0.0, 1.0], [[0.5, 0.5]] * 3, names=["rloo"])


def test_the_default_model_gives_gradients_and_traces_in_the_units_it_says():
    assert alike(np.array([0.5])) == Scores(0.25, 1, 1, 0)
    assert model.LEVEL == 0.95
