"""Gradient norms from two backward passes per problem, against one backward pass per objective."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import torch

from lab import advantages
from lab.errors import LabError
from lab.llm.evals import gradient_norms
from lab.llm.evals.gradient_norms import norms
from lab.losses import policy_gradient
from lab.mathematics.estimators import estimator

NAMES = ["rloo", "grpo", "maxrl", "pacs_anchor"]


class SampledGroup(NamedTuple):
    """One problem with its rollouts: token ids and rewards, 0 or 1."""

    problem: str
    prompt: list
    answers: list
    rewards: list


def moments(model, groups, **options):
    """The table of moments of some problems, as `norms` takes it."""
    rows = []
    for group in groups:
        right, wrong = (
            [answer for answer, r in zip(group.answers, group.rewards, strict=True) if r == kind]
            for kind in (1, 0)
        )
        found = gradient_norms.moments(model, group.problem, group.prompt, right, wrong, **options)
        rows.append({"problem": group.problem, "N": len(group.rewards), "K": len(right)} | found)
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def qwen():
    """A Qwen3 with 49,000 weights in float32, far from its initial values so that no gradient is
    small.
    """
    from transformers import Qwen3Config, Qwen3ForCausalLM

    sizes = dict(hidden_size=40, intermediate_size=80, num_hidden_layers=3, head_dim=10)
    sizes |= dict(num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)
    model = Qwen3ForCausalLM(Qwen3Config(vocab_size=50, **sizes, tie_word_embeddings=True))
    assert 40_000 < sum(weight.numel() for weight in model.parameters()) < 60_000
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.normal_(1.0 if "norm" in name else 0.0, 0.2, generator=random)
    return model.eval()


class Chain(torch.nn.Module):
    """A plain module that returns logits: the next token depends on the last one; `unused` has no
    effect.
    """

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(6, 6)
        self.unused = torch.nn.Linear(2, 2)

    def forward(self, ids):
        return self.table(ids)


@pytest.fixture
def chain():
    torch.manual_seed(3)
    return Chain().double().eval()


def asked(problem, rewards, seed=0, vocabulary=50, longest=9):
    """A prompt of 5 tokens and answers of 1 to `longest` tokens."""
    rng = np.random.default_rng(seed)
    answers = [
        rng.integers(vocabulary, size=rng.integers(1, longest + 1)).tolist() for _ in rewards
    ]
    return SampledGroup(problem, rng.integers(vocabulary, size=5).tolist(), answers, rewards)


RAGGED = [
    asked("few", [1, 0, 0, 0], 1),
    asked("half", [0, 1, 1, 0, 1, 0], 2),
    asked("most", [1, 1, 0], 3),
    asked("all wrong", [0, 0, 0, 0, 0], 4),
    asked("all right", [1, 1], 5),
]


def scored_alone(model, prompt, answer):
    """log pi(answer), token by token, with nothing padded."""
    ids = torch.tensor([[*prompt, *answer]])
    output = model(ids)
    logp = getattr(output, "logits", output)[0].log_softmax(-1)
    return sum(logp[len(prompt) + t - 1, token] for t, token in enumerate(answer))


def gradient(model, scalar):
    weights = list(model.parameters())
    found = torch.autograd.grad(scalar, weights, allow_unused=True)
    return torch.cat([g.flatten() for g in found if g is not None]).double()


def naive_norm(model, group, name):
    """One backward pass through the loss that a trainer would minimise."""
    logp = torch.stack([scored_alone(model, group.prompt, answer) for answer in group.answers])
    advantage = torch.as_tensor(advantages(name, np.array(group.rewards, dtype=np.float64))).to(
        logp
    )
    return float(gradient(model, policy_gradient(logp[None], advantage[None])).norm())


def with_each(model, groups):
    """The moments with the sums of the squares of single scores beside them."""
    table = moments(model, groups)
    for column, kind in (("right_each", 1), ("wrong_each", 0)):
        scores = [
            [
                gradient(model, scored_alone(model, group.prompt, answer))
                for answer, reward in zip(group.answers, group.rewards, strict=True)
                if reward == kind
            ]
            for group in groups
        ]
        table[column] = [sum(float(score @ score) for score in each) for each in scores]
    return table


def norm_of(table, problem, name):
    row = table[(table["problem"] == problem) & (table["estimator"] == name)]
    assert len(row) == 1
    return row["gradient_norm"].item()


def test_two_backward_passes_give_the_norm_of_every_objective(qwen):
    table = norms(moments(qwen, RAGGED), NAMES)
    assert len(table) == len(RAGGED) * len(NAMES)
    for group in RAGGED:
        for name in NAMES:
            assert norm_of(table, group.problem, name) == pytest.approx(
                naive_norm(qwen, group, name), rel=1e-5
            )


def test_other_objectives_follow_from_the_same_three_numbers(chain):
    group = asked("toy", [1, 0, 1, 0, 0, 0], 6, vocabulary=6)
    names = [
        *"reinforce reinforce_mean nsr grpo(ddof=1) f_grpo(gamma=1) dgpo maxrl_eq6".split(),
        *"maxrl_loo truncated(order=3) pkpo(k=2) pacs_anchor(balanced=False)".split(),
        estimator("rloo"),
    ]
    table = norms(moments(chain, [group]), names)
    for name in names:
        assert norm_of(table, "toy", estimator(name).spec) == pytest.approx(
            naive_norm(chain, group, name), rel=1e-12
        )


def test_a_class_that_is_empty_has_no_moments_and_silent_objectives_no_norm(qwen):
    table = moments(qwen, RAGGED[3:])
    assert table["right_sq"].tolist()[0] == 0 and table["wrong_sq"].tolist()[1] == 0
    assert table["cross"].tolist() == [0, 0]
    quiet = norms(table, NAMES)
    assert quiet["pass_rate"].tolist() == [0, 1] * 4
    assert (quiet["gradient_norm"] == 0).all()
    loud = norms(table, ["reinforce", "nsr"])  # these push on a group of one kind, too
    assert norm_of(loud, "all right", "reinforce") == pytest.approx(table["right_sq"][1] ** 0.5 / 2)
    assert norm_of(loud, "all wrong", "nsr") == pytest.approx(table["wrong_sq"][0] ** 0.5 / 5)


def test_the_size_of_a_micro_batch_does_not_matter(chain, qwen, monkeypatch):
    groups = [asked("a", [1, 0, 1, 0, 0], 7, 6), asked("b", [0, 1], 8, 6)]
    whole, together = moments(chain, groups), moments(qwen, RAGGED[:2])
    for tokens in (1, 13, 40):
        monkeypatch.setattr(gradient_norms, "MICRO_BATCH", tokens)
        part = moments(chain, groups)
        assert np.allclose(
            part.iloc[:, 1:].astype(float), whole.iloc[:, 1:].astype(float), rtol=1e-12, atol=0
        )
    monkeypatch.setattr(gradient_norms, "MICRO_BATCH", 1)
    alone = moments(qwen, RAGGED[:2])
    assert np.allclose(alone.iloc[:, 3:], together.iloc[:, 3:], rtol=1e-5)


def test_no_micro_batch_holds_more_tokens_than_allowed_unless_one_answer_does(chain, monkeypatch):
    monkeypatch.setattr(gradient_norms, "MICRO_BATCH", 30)
    seen = []
    chain.register_forward_pre_hook(lambda module, given: seen.append(given[0].shape))
    moments(chain, [asked("a", [1] * 12 + [0] * 12, 9, 6)])
    assert max(rows * (length + 1) for rows, length in seen) <= 30 and len(seen) < 24
    assert sum(rows for rows, _ in seen) == 24


def test_frozen_weights_do_not_count_and_unused_ones_add_nothing(chain):
    group = asked("a", [1, 0], 10, 6)
    whole = moments(chain, [group])
    chain.unused.requires_grad_(False)
    assert moments(chain, [group]).equals(whole)


def test_the_signal_is_made_of_pairs_of_different_rollouts(chain):
    group = asked("a", [1, 1, 0, 1, 0], 11, 6)
    scores = torch.stack(
        [gradient(chain, scored_alone(chain, group.prompt, answer)) for answer in group.answers]
    )
    gram, right = (scores @ scores.T).numpy(), np.array(group.rewards, dtype=bool)
    found = norms(with_each(chain, [group]), NAMES).set_index("estimator")["signal_sq"]
    for name in NAMES:
        a1, a0 = (a[3] for a in estimator(name).success_failure(5))
        same = [
            g[~np.eye(len(g), dtype=bool)].mean()
            for g in (gram[right][:, right], gram[~right][:, ~right])
        ]
        across = gram[right][:, ~right].mean()
        exact = (3 * a1) ** 2 * same[0] + 2 * (3 * a1) * (2 * a0) * across + (2 * a0) ** 2 * same[1]
        assert found[name] == pytest.approx(exact / 25, rel=1e-10)


def test_the_signal_is_unbiased_while_the_norm_counts_the_noise(chain):
    """All groups of four with two right, drawn from the right answers {0, 1} and the wrong ones {3,
    4}: by enumeration.

    In each class both answers are taken equally often, so the mean gradient of rloo is the sum of
    two class means.
    """
    with torch.no_grad():
        # uniform over six tokens: both answers of a class are equally likely
        chain.table.weight.zero_()
    pairs = [(a, b) for a in (0, 1) for b in (0, 1)]
    groups = [
        SampledGroup(f"{r}{w}", [2], [[r[0]], [r[1]], [w[0] + 3], [w[1] + 3]], [1, 1, 0, 0])
        for r in pairs
        for w in pairs
    ]
    table = norms(with_each(chain, groups), ["rloo"])
    a1, a0 = (a[2] for a in estimator("rloo").success_failure(4))
    mean = (
        np.array([a1 / 2, a1 / 2, 0, a0 / 2, a0 / 2, 0]) / 2
    )  # the uniform part of the scores cancels
    assert table["signal_sq"].mean() == pytest.approx(mean @ mean, rel=1e-12)
    assert (table["gradient_norm"] ** 2).mean() > 1.4 * mean @ mean


def test_one_rollout_alone_in_a_class_that_counts_has_no_signal(chain):
    table = with_each(chain, [asked("a", [1, 0, 0], 12, 6), asked("b", [0, 0, 0], 13, 6)])
    assert norms(table, ["rloo"])["signal_sq"].isna().tolist() == [True, False]
    assert norms(table, ["nsr"])["signal_sq"].notna().all()  # the right one has no advantage there
    assert "signal_sq" not in norms(table.drop(columns=["right_each"]), ["rloo"])


def test_the_model_is_left_as_it_was(chain):
    before = {name: weight.clone() for name, weight in chain.state_dict().items()}
    moments(chain, [asked("a", [1, 0], 14, 6)])
    assert all(weight.grad is None and weight.requires_grad for weight in chain.parameters())
    assert all(torch.equal(weight, before[name]) for name, weight in chain.state_dict().items())


def test_groups_that_are_too_small_and_infinite_weights_are_refused(chain):
    one = SampledGroup("p7", [1], [[2]], [1])
    table = moments(chain, [one])
    with pytest.raises(LabError, match="rloo needs groups of at least 2 rollouts, found N = 1"):
        norms(table, ["rloo"])
    with pytest.raises(LabError, match="did you mean 'maxrl'"):
        norms(table, ["maxlr"])
    with torch.no_grad():
        chain.table.weight[1] = torch.nan
    with pytest.raises(LabError, match="problem 'p7' has moments .*nan"):
        moments(chain, [one])
