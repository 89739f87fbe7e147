"""Small worlds where the truth is known: tabular and images."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

import lab
from lab.errors import LabError
from lab.runs import experiment
from lab.toy import gradient_source, image_data, images, worlds
from lab.toy.gradient_source import GradientSource
from lab.toy.image_data import Digits
from lab.toy.images import Images
from lab.toy.resnet import fresh_network
from lab.toy.tabular import Tabular
from lab.training.records import records

OBJECTIVES = [
    "rl",
    "ml",
    "arcsine",
    "log_odds",
    "truncated(order=3)",
    "pass_at(k=4)",
    "0.25 * log_odds",
    "0.5 * ml",
]


def make(
    objective: str, gradient: str, rollouts: int = 4, problems: int = 5, seed: int = 0
) -> Tabular:
    given = {"estimator": objective, "gradient": gradient, "rollouts": rollouts, "seed": seed}
    world = {"problems": problems, "answers": 3, "hardest": 0.05, "easiest": 0.8}
    return Tabular(experiment("tabular").configure("smoke", given | world))


def ascent(world, step: int = 0) -> torch.Tensor:
    """The direction in which a step moves the logits: minus the gradient of the loss."""
    world.model.zero_grad()
    world.loss(step).backward()
    return -world.model.logits.grad.clone()


def law(name, N, pi):
    """What N rollouts of a policy do whose first answer alone is right, over all groups."""
    return lab.recipe(name, N=N).on(lab.SoftmaxPolicy(pi, [True, False, False]))


# --- Tabular ------------------------------------------------------------------------------------


def test_tabular_starts_at_pass_rates_even_in_log_odds_between_hardest_and_easiest():
    ends = {"problems": 9, "answers": 7, "hardest": 0.001, "easiest": 0.9}
    world = Tabular(experiment("tabular").configure("smoke", ends))
    p = world.pass_rates()
    assert p[0] == pytest.approx(0.001, rel=1e-12) and p[-1] == pytest.approx(0.9, rel=1e-12)
    steps = np.diff(np.log(p / (1 - p)))
    np.testing.assert_allclose(steps, steps[0], rtol=1e-9)
    wrong = world.model.logits.detach().softmax(1)[:, 1:]
    # The wrong answers share the rest evenly.
    assert torch.allclose(wrong, wrong[:, :1].expand_as(wrong))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_exact_gradient_is_w_times_the_gradient_of_the_pass_rate(name):
    world = make(name, "exact")
    pi = world.model.logits.detach().softmax(1).numpy()
    p = pi[:, :1]
    grad_p = p * (np.eye(3)[0] - pi)
    np.testing.assert_allclose(
        ascent(world).numpy(), lab.objective(name).weight(p) * grad_p, rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize(
    "name", ["rloo", "grpo(ddof=1)", "maxrl", "maxrl_eq7", "pacs_anchor", "pkpo(k=2)"]
)
@pytest.mark.parametrize("N", [2, 5])
def test_the_expected_gradient_is_the_enumerated_mean_of_every_problem(name, N):
    world = make(name, "expected", rollouts=N)
    policy = world.model.logits.detach().softmax(1).numpy()
    for found, pi in zip(ascent(world), policy, strict=True):
        expected = law(name, N, pi).mean
        np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize(
    "name, N", [("rloo", 4), ("grpo", 4), ("maxrl", 4), ("maxrl_eq7", 2), ("pacs_anchor", 6)]
)
def test_sampled_gradients_have_the_enumerated_mean_and_spread(name, N):
    """4,000 groups a problem, within 4.5 standard errors: a near estimator would be seen."""
    groups, world = 4000, make(name, "sampled", rollouts=N, problems=4)
    logits = world.model.logits.detach().repeat(groups, 1).requires_grad_()
    right = world.rewards.repeat(groups, 1)
    loss = world.gradient_source.loss(logits.log_softmax(1), right, seed=0) * len(logits)
    draws = -torch.autograd.grad(loss, logits)[0].view(groups, 4, 3).numpy()
    mean, error = draws.mean(0), draws.std(0, ddof=1) / np.sqrt(groups)
    pi = world.model.logits.detach().softmax(1).numpy()
    truth = [law(name, N, row) for row in pi]
    z = (mean - np.array([one.mean for one in truth])) / error
    assert np.abs(z).max() < 4.5
    spread = ((draws - mean) ** 2).sum(2).mean(0)
    np.testing.assert_allclose(spread, [one.spread for one in truth], rtol=0.15)
    others = {
        "rloo": "reinforce_mean",
        "grpo": "grpo(ddof=1)",
        "maxrl": "grpo",
        "maxrl_eq7": "maxrl",
        "pacs_anchor": "pacs_anchor(score='dr_grpo')",
    }
    wrong = [law(others[name], N, row).mean for row in pi]
    assert np.abs((mean - np.array(wrong)) / error).max() > 6


def test_each_problem_moves_by_its_own_gradient_however_many_there_are():
    few, many = (ascent(make("ml", "exact", problems=problems)) for problems in (4, 200))
    assert torch.allclose(few[0], many[0]) and torch.allclose(few[-1], many[-1])


def test_tabular_metrics_are_means_over_problems_and_over_the_hardest_quarter():
    world = make("rloo", "sampled", problems=8)
    metrics, groups = world.evaluate(0)
    p = world.pass_rates()
    assert metrics["pass@1"] == pytest.approx(p.mean())
    assert metrics["hard pass@1"] == pytest.approx((p[0] + p[1]) / 2)
    assert metrics["log-likelihood"] == pytest.approx(np.log(p).mean())
    np.testing.assert_array_equal(groups["problem"], np.arange(8))
    np.testing.assert_array_equal(groups["pass_rate"], p)


def record_of(name: str, **given):
    chosen = experiment(name)
    return list(records(chosen.train(chosen.configure("smoke", given), None)))


def test_one_step_of_exact_ml_moves_the_logits_by_the_rate_times_the_gradient_of_log_p():
    before, after = record_of(
        "tabular", estimator="ml", gradient="exact", steps=1, learning_rate=0.5
    )
    p = before.groups["pass_rate"]
    wrong = (1 - p) / 7
    moved = np.stack([np.log(p) + 0.5 * (1 - p), *[np.log(wrong) - 0.5 * wrong] * 7])
    expected = np.exp(moved[0]) / np.exp(moved).sum(0)
    np.testing.assert_allclose(after.groups["pass_rate"], expected, rtol=1e-12)


def test_training_climbs_the_likelihood_and_many_rollouts_follow_their_expectation():
    given = {"estimator": "maxrl", "rollouts": 256, "steps": 60}
    (start, *_, sampled), (*_, expected) = (
        [record.metrics["log-likelihood"] for record in record_of("tabular", **given, gradient=way)]
        for way in ("sampled", "expected")
    )
    assert min(sampled, expected) > start + 0.5
    assert sampled == pytest.approx(expected, abs=0.1)


def test_two_objectives_with_one_seed_start_from_one_policy_and_sample_the_same_answers(
    monkeypatch,
):
    seen, real = [], gradient_source.counted
    monkeypatch.setattr(
        gradient_source,
        "counted",
        lambda logp, counts, *rest: seen.append(counts.clone()) or real(logp, counts, *rest),
    )
    starts = [record_of("tabular", estimator=name, seed=7)[0] for name in ("rloo", "maxrl")]
    np.testing.assert_array_equal(*(record.groups["pass_rate"] for record in starts))
    assert len(seen) == 40 and seen[0].shape == (16, 8)
    assert torch.equal(seen[0], seen[20]) and not torch.equal(seen[0], seen[1])


# --- Images -------------------------------------------------------------------------------------

CLASSES = 10


def world_of(
    objective: str, gradient: str, rollouts: int = 8, seed: int = 0, last_step: int = 100
) -> Images:
    given = {"estimator": objective, "gradient": gradient, "rollouts": rollouts, "seed": seed}
    small = {"data": "digits", "net": "small", "width": 4, "batch": 64, "steps": last_step}
    return Images(experiment("images").configure("smoke", given | small))


def gradients(world: Images, loss: torch.Tensor) -> torch.Tensor:
    return torch.cat(
        [g.flatten() for g in torch.autograd.grad(loss, list(world.model.parameters()))]
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_the_gradient_of_exact_ml_is_that_of_cross_entropy(seed):
    world = world_of("ml", "exact", seed=seed)
    pictures, labels = Digits(seed).train_batch(0, 64)
    world.model.train()
    entropy = nn.functional.cross_entropy(world.model(pictures), labels)
    expected = gradients(world, entropy)
    found = gradients(world, world.loss(0))
    assert expected.abs().max() > 0.05 and (found - expected).abs().max() < 1e-5
    other = world_of("rl", "exact", seed=seed)
    assert (gradients(other, other.loss(0)) - expected).abs().max() > 0.05


def test_building_and_training_leave_the_global_generator_alone_and_do_not_read_it():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = world_of("maxrl", "sampled")
    one_loss = one.loss(0)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert torch.equal(world_of("maxrl", "sampled").loss(0), one_loss)


def test_image_metrics_are_exact_means_over_the_test_images():
    world = world_of("maxrl", "sampled")
    metrics, groups = world.evaluate(0)
    p = groups["pass_rate"]
    with torch.no_grad():
        pictures, labels = next(world.pictures.test())
        scores = world.model.eval()(pictures).double()
    likelihood = -nn.functional.cross_entropy(scores, labels).item()
    assert len(p) == 360 and metrics["pass@1"] == pytest.approx(p.mean(), abs=1e-15)
    assert metrics["pass@128"] == pytest.approx((1 - (1 - p) ** 128).mean(), abs=1e-12)
    assert metrics["log-likelihood"] == pytest.approx(likelihood, abs=1e-9)
    assert metrics["accuracy"] == pytest.approx((scores.argmax(1) == labels).double().mean().item())
    assert set(groups) == {"problem", "pass_rate"}


def test_validation_images_change_what_is_recorded_and_not_what_is_trained(monkeypatch):
    monkeypatch.setattr(image_data, "TEST_IMAGES", 128)
    small = {"steps": 2, "log_every": 2, "batch": 16, "width": 4}
    ends = {}
    for evaluated_on in ("test", "validation"):
        config = experiment("images").configure("smoke", small | {"evaluated_on": evaluated_on})
        *_, record = records(images.train(config))
        ends[evaluated_on] = record.state(), record.metrics["log-likelihood"]
    (tested, one), (validated, other) = ends["test"], ends["validation"]
    assert all(torch.equal(tested[key], validated[key]) for key in tested)
    assert one != other
    with pytest.raises(LabError, match="data = 'digits' has no validation images"):
        experiment("images").configure("smoke", {"evaluated_on": "validation", "data": "digits"})


def test_the_gradient_norms_of_the_last_record_are_those_of_one_image_at_a_time():
    world = world_of("maxrl", "sampled", last_step=3)
    _, groups = world.evaluate(3)
    pictures, labels = next(world.pictures.test())
    for image in (0, 7, 359):
        world.model.zero_grad()
        world.model.eval()(pictures[image : image + 1]).log_softmax(1)[0, labels[image]].backward()
        norm = sum(weight.grad.square().sum() for weight in world.model.parameters()).sqrt().item()
        assert groups["score_norm"][image] == pytest.approx(norm, rel=1e-4)


def test_rescaling_gives_the_gradient_the_asked_norm_and_keeps_its_direction():
    world = world_of("maxrl", "sampled")
    world.loss(0).backward()
    before = [weight.grad.clone() for weight in world.model.parameters()]
    worlds.rescale_gradients(world.model, 3.0)
    after = [weight.grad for weight in world.model.parameters()]
    ratios = torch.cat([(a / b)[b != 0].flatten() for a, b in zip(after, before, strict=True)])
    assert sum(a.square().sum() for a in after).sqrt().item() == pytest.approx(3.0, rel=1e-5)
    assert ratios.std() < 1e-4 * ratios.mean()
    for weight in world.model.parameters():
        weight.grad.zero_()
    # Nothing was right: nothing moves, and nothing becomes nan.
    worlds.rescale_gradients(world.model, 3.0)
    assert all((weight.grad == 0).all() for weight in world.model.parameters())


def test_the_schedule_warms_up_linearly_and_falls_by_a_cosine(monkeypatch):
    rates = []

    def learn(world, optimizer, steps, *_, rate, **__):
        rates.extend(map(rate, range(steps + 1)))
        return iter(())

    monkeypatch.setattr(images, "learn", learn)
    record_of("digits", steps=20, warmup=4, learning_rate=0.1)
    assert rates[:5] == pytest.approx([0.025, 0.05, 0.075, 0.1, 0.1])
    assert rates[12] == pytest.approx(0.05) and rates[20] == pytest.approx(0)
    assert np.all(np.diff(rates[4:]) < 0)


def test_exact_gradients_learn_the_digits_also_where_a_weight_is_infinite_at_one():
    given = {"gradient": "exact", "steps": 60, "log_every": 60, "width": 8}
    first, last = record_of("digits", estimator="log_odds", **given)
    assert first.metrics["accuracy"] < 0.3 and last.metrics["accuracy"] > 0.9


@pytest.mark.parametrize(
    "name, size", [("small", 8), ("small", 32), ("small", 224), ("resnet18", 32), ("resnet50", 64)]
)
def test_networks_are_built_of_torchvisions_blocks_and_answer_for_every_class(name, size):
    model = fresh_network(0, name, 3, size, 12, width=4).eval()
    assert any(type(part).__module__ == "torchvision.models.resnet" for part in model.modules())
    assert model(torch.zeros(2, 3, size, size)).shape == (2, 12)


# --- Signals ------------------------------------------------------------------------------------


def test_answers_are_drawn_anew_at_every_step_and_for_every_seed(monkeypatch):
    seen = []
    monkeypatch.setattr(
        GradientSource, "loss", lambda self, logp, right, seed: seen.append(seed) or logp.sum()
    )
    for seed in (0, 1):
        for world in (make("rloo", "sampled", seed=seed), world_of("rloo", "sampled", seed=seed)):
            drawn = len(seen)
            for step in range(30):
                world.loss(step)
            assert len(set(seen[drawn:])) == 30
    assert len(set(seen)) == 60  # both worlds use one stream; seeds share none


@pytest.mark.parametrize(
    "name, gradient", [("maxrl", "sampled"), ("maxrl", "expected"), ("ml", "exact")]
)
def test_a_policy_that_is_not_a_number_stops_training_with_a_sentence(name, gradient):
    source, logp = GradientSource(name, gradient, 4), torch.full((2, 3), torch.nan)
    said = "^a log-probability is not a number: training diverged, lower the learning rate"
    with pytest.raises(LabError, match=said):
        source.loss(logp, torch.eye(3)[:2].bool(), 0)


def test_the_mask_of_right_answers_may_hold_several():
    logp = torch.tensor([[0.1, 0.2, 0.3, 0.4]], dtype=torch.float64).log().requires_grad_()
    right = torch.tensor([[True, False, True, False]])
    GradientSource("ml", "exact", 1).loss(logp, right, 0).backward()
    # The share of each in p.
    np.testing.assert_allclose(-logp.grad, [[0.25, 0, 0.75, 0]], atol=1e-12)


# --- Optimizers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, given",
    [
        ("SGD", {"momentum": 0.9, "weight_decay": 0.01}),
        ("AdamW", {"betas": (0.9, 0.95), "weight_decay": 0.01}),
    ],
)
def test_an_optimizer_steps_as_the_one_of_pytorch_to_the_bit(name, given):
    torch.manual_seed(0)
    ours = nn.Linear(3, 2)
    theirs = copy.deepcopy(ours)
    here = getattr(worlds, name)(ours.parameters(), lr=0.1, **given)
    there = getattr(torch.optim, name)(theirs.parameters(), lr=0.1, **given)
    for _ in range(3):
        inputs = torch.randn(4, 3)
        for model, optimizer in ((ours, here), (theirs, there)):
            optimizer.zero_grad(set_to_none=True)
            model(inputs).square().sum().backward()
            optimizer.step()
        here.load_state_dict(copy.deepcopy(here.state_dict()))
    assert all(map(torch.equal, ours.parameters(), theirs.parameters()))
    slots, same = (optimizer.state_dict()["state"] for optimizer in (here, there))
    assert slots.keys() == same.keys()
    assert all(torch.equal(slots[at][key], same[at][key]) for at in same for key in same[at])


def test_training_imports_no_compiler(start):
    code = (
        "import sys\nfrom lab.runs import configure, train\n"
        "train(configure('tabular', scale='smoke', steps=2))\n"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert start("-c", code).finish().returncode == 0
