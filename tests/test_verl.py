"""verl's own registries and loops on a CPU: our estimators there are `lab.advantages`, number by
number.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from refusals import refusal
from specs import SPECS

import lab
from lab.errors import LabError, parse_call
from lab.llm.train.verl_adapter import LOST, compute_score

pytestmark = pytest.mark.skipif(find_spec("verl") is None, reason="verl is not installed")


@pytest.fixture(scope="module")
def algos():
    """verl's module of registries, which loads our plug-in; 8 seconds."""
    from verl.trainer.ppo import core_algos

    return core_algos


def in_verl(spec: str, rewards, mask, uids, **options) -> torch.Tensor:
    """Advantages "rollouts tokens" by the very call that verl's trainer makes."""
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.trainer.ppo.ray_trainer import compute_advantage

    name, given = parse_call(spec)
    config = OmegaConf.create({"lab": given | options} if given | options else {})
    scores = torch.zeros(mask.shape)
    last = (mask * torch.arange(1, mask.shape[1] + 1)).argmax(1)
    scores[torch.arange(len(mask)), last] = torch.as_tensor(rewards, dtype=torch.float32)
    data = DataProto.from_single_dict(
        {"token_level_rewards": scores, "response_mask": mask, "uid": np.array(uids, dtype=object)}
    )
    made = compute_advantage(data, adv_estimator=f"lab.{name}", config=config)
    assert torch.equal(made.batch["advantages"], made.batch["returns"])
    return made.batch["advantages"]


def whole(n: int, tokens: int = 3) -> torch.Tensor:
    return torch.ones(n, tokens)


# --- Advantages ---------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_every_estimator_in_verl_is_ours_on_every_group_of_four_shuffled(spec):
    outcomes = np.array(list(product([0, 1], repeat=4)))
    uids = np.repeat([f"uid-{i}" for i in range(16)], 4)
    order = np.random.default_rng(0).permutation(64)
    found = in_verl(spec, outcomes.reshape(-1)[order], whole(64), uids[order])
    expected = lab.advantages(spec, outcomes).reshape(-1)[order]
    np.testing.assert_allclose(
        found.numpy(), np.repeat(expected[:, None], 3, axis=1).astype(np.float32), rtol=1e-7
    )


@pytest.mark.parametrize("spec", ["lift(maxrl)", "lift(pkpo(k=2), low=0, high=1)", "grpo_zscore"])
def test_graded_answers_have_the_labs_advantages_in_verl_too(spec):
    rewards = np.random.default_rng(1).integers(0, 9, (6, 4)) / 8
    uids = np.repeat([f"uid-{i}" for i in range(6)], 4)
    order = np.random.default_rng(0).permutation(24)
    found = in_verl(spec, rewards.reshape(-1)[order], whole(24), uids[order])
    expected = lab.advantages(spec, rewards).reshape(-1)[order]
    np.testing.assert_allclose(found[:, 0].numpy(), expected.astype(np.float32), rtol=1e-7)
    lost = in_verl(spec, [0.5, LOST, 0.25], whole(3), list("aaa"))[:, 0]
    expected = lab.advantages(spec, np.array([0.5, 0.25])).astype(np.float32)
    assert lost.tolist() == [expected[0], 0, expected[1]]


def test_only_tokens_that_the_model_wrote_carry_an_advantage():
    # The second was interrupted by a tool's words.
    mask = torch.tensor([[1, 1, 0, 0], [1, 0, 1, 1], [1, 1, 1, 1.0]])
    found = in_verl("rloo", [1, 0, 0], mask, ["a"] * 3)
    assert torch.equal(found, torch.tensor([[1.0], [-0.5], [-0.5]]) * mask)


def test_padding_and_lost_rewards_belong_to_no_group():
    mask = whole(7)
    mask[5:] = 0  # verl fills a batch up with rows of a uid of their own, without a token
    found = in_verl("grpo", [1, 0, LOST, 0, 1, 0, 0], mask, ["a", "a", "a", "a", "a", "pad", "pad"])
    ours = lab.advantages("grpo", np.array([1, 0, 0, 1]))
    assert found[[0, 1, 3, 4], 0].tolist() == pytest.approx(ours.tolist())
    assert not found[[2, 5, 6]].any()


def test_truncated_answers_are_scored_count_as_wrong_or_are_left_out_as_told():
    mask = torch.tensor([[1, 1, 0], [1, 1, 1], [1, 0, 0], [1, 1, 0.0]])
    for policy, ours, kept in (
        ("score", [1, 1, 0, 0], [0, 1, 2, 3]),
        ("zero", [1, 0, 0, 0], [0, 1, 2, 3]),
        ("mask", [1, 0, 0], [0, 2, 3]),
    ):
        given = {"truncation": policy, "max_tokens": 3}
        found = in_verl("maxrl", [1, 1, 0, 0], mask, ["a"] * 4, **given)[:, 0]
        assert found[kept].tolist() == lab.advantages("maxrl", np.array(ours)).tolist()
        assert len(kept) == 4 or found[1] == 0
    with pytest.raises(LabError, match="truncation=zero without max_tokens: add .algorithm.lab"):
        in_verl("maxrl", [1, 0, 0, 0], mask, ["a"] * 4, truncation="zero")


@pytest.mark.parametrize(
    "spec, rewards, options, sentence",
    [
        ("maxrl", [1, 0.5], {}, "reward 0.5 in problem 'a', rollout 1: a reward must be 0 or 1"),
        ("maxrl", [1, float("nan")], {}, "reward nan in problem 'a', rollout 1"),
        ("rloo", [1], {}, "rloo needs groups of at least 2 rollouts, found N = 1"),
        ("truncated", [1, 0], {}, "estimator 'truncated' needs order"),
        (
            "grpo",
            [1, 0],
            {"dof": 1},
            "unknown option of estimator 'grpo' 'dof': did you mean 'ddof",
        ),
        ("lift(maxrl, low=0, high=1)", [1, 1.5], {}, "rollout 1: the declared range of rewards is"),
        ("lift", [1, 0.5], {}, "estimator 'lift' needs of: write lift(ESTIMATOR)"),
        ("maxrl", [1, LOST] * 30, {}, "30 of 60 answers of this batch could not be judged, the"),
    ],
)
def test_what_cannot_be_right_stops_with_a_sentence(spec, rewards, options, sentence):
    assert sentence in refusal(
        in_verl, spec, rewards, whole(len(rewards)), ["a"] * len(rewards), **options
    )


def test_verls_own_names_are_untouched(algos):
    own = algos.get_adv_estimator_fn("grpo")
    assert own.__module__ == "verl.trainer.ppo.core_algos"
    assert {*lab.estimator_names(), "pacs_anchor", "lift"} == {
        name.removeprefix("lab.")
        for name in algos.ADV_ESTIMATOR_REGISTRY
        if name.startswith("lab.")
    }


def test_verl_loads_us_by_itself_through_its_entry_point():
    words = (
        "import verl; from verl.trainer.ppo.core_algos import get_adv_estimator_fn,"
        " get_policy_loss_fn; print(get_adv_estimator_fn('lab.maxrl').args,"
        " get_policy_loss_fn('lab.policy_gradient'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", words],
        capture_output=True,
        text=True,
        env=os.environ | {"VERL_USE_EXTERNAL_MODULES": ""},
    )
    assert done.returncode == 0, done.stderr[-800:]
    assert done.stdout.startswith("('maxrl',) <function compute_policy_loss_gpg")


# --- Loss ---------------------------------------------------------------------------------------


def settings(**info) -> SimpleNamespace:
    return SimpleNamespace(global_batch_info=info)


def test_the_loss_summed_over_tokens_has_the_gradient_of_the_estimator(algos):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(6, 4, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    answers = torch.randint(5, (6, 4), generator=generator)
    mask = torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]] * 2, dtype=torch.float64)
    logp = torch.log_softmax(logits, -1).gather(-1, answers[..., None])[..., 0]
    rewards = np.array([[1, 0, 0], [0, 1, 1]])
    tokens = in_verl("maxrl", rewards.reshape(-1), mask.float(), list("aaabbb")).double()
    loss, _ = algos.get_policy_loss_fn("lab.policy_gradient")(
        old_log_prob=logp.detach(),
        log_prob=logp,
        advantages=tokens,
        response_mask=mask,
        loss_agg_mode="seq-mean-token-sum",
        config=settings(),
    )
    A = torch.tensor(lab.advantages("maxrl", rewards)).reshape(-1)
    direct = -(A * (logp * mask).sum(1)).mean()
    ours, hand = (torch.autograd.grad(of, logits, retain_graph=True)[0] for of in (loss, direct))
    assert (ours - hand).abs().max() < 1e-6 * hand.abs().max()


def test_the_loss_follows_verls_batch_over_many_processes_and_its_rollout_correction(algos):
    given = dict(
        old_log_prob=torch.zeros(1, 2),
        log_prob=-torch.ones(1, 2),
        advantages=torch.ones(1, 2),
        response_mask=torch.ones(1, 2),
        loss_agg_mode="token-mean",
    )
    loss = algos.get_policy_loss_fn("lab.policy_gradient")
    shared, _ = loss(config=settings(dp_size=4, batch_num_tokens=16), **given)
    assert shared.item() == pytest.approx(2 / 16 * 4)
    corrected = loss(config=settings(), rollout_is_weights=torch.tensor([[0.5, 1.0]]), **given)
    assert corrected[0].item() == pytest.approx(0.75)


# --- Reward -------------------------------------------------------------------------------------


def test_the_reward_function_tells_right_wrong_and_lost():
    assert compute_score("x", r"so \boxed{7}", "7") == {"score": 1.0, "acc": 1.0, "lost": 0.0}
    wrong = compute_score("x", "so 7", "7", extra_info={"split": "train"})
    assert wrong == {"score": 0.0, "acc": 0.0, "lost": 0.0}
    assert compute_score("x", "so 7", "7", style="lenient")["score"] == 1.0
    assert compute_score("x", r"\boxed{7}", "}{") == {"score": LOST, "acc": 0.0, "lost": 1.0}


def test_many_threads_of_verls_reward_loop_share_one_verifier():
    pytest.importorskip("math_verify")
    answers = [rf"\boxed{{\frac{{{n}}}{{7}}x}}" for n in (1, 2, 3)] * 8
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda text: compute_score("x", text, r"\frac{2x}{7}")["score"], answers)
        )
    assert found == [0.0, 1.0, 0.0] * 8


def test_verls_reward_manager_finds_and_calls_it():
    import asyncio

    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    function = {"path": "pkg://lab.llm.train.verl_adapter", "name": "compute_score"}
    reward = {
        "custom_reward_function": function,
        "reward_manager": {"source": "register", "name": "naive"},
        "sandbox_fusion": {"url": None},
    }
    config = OmegaConf.create({"reward": reward})
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        manager = load_reward_manager(
            config, SimpleNamespace(decode=lambda ids, **_: r"it is \boxed{12}")
        )
        data = DataProto.from_single_dict(
            {
                "responses": torch.zeros(1, 5, dtype=torch.long),
                "attention_mask": torch.ones(1, 9, dtype=torch.long),
                "data_source": np.array(["gsm8k"], dtype=object),
                "extra_info": np.array([{}], dtype=object),
                "reward_model": np.array([{"ground_truth": "12", "style": "rule"}], dtype=object),
            }
        )
        found = manager.loop.run_until_complete(manager.run_single(data))
    finally:
        loop.close()
    scores = {"score": 1.0, "acc": 1.0, "lost": 0.0}
    assert found == {"reward_score": 1.0, "reward_extra_info": scores}
