"""Rollouts: two samplers that are one, exact in distribution, scored with the right gradients."""

import itertools

import pytest
import torch

from lab.toy import tree_sampling as module
from lab.toy.transformer import Transformer, TransformerConfig, fresh_transformer
from lab.toy.tree_sampling import Rollouts, rollout_logits, sample_rows, sample_token, sample_tree

WORDS, ENDS = 9, [7, 2]
# Width, layers, heads, heads of keys, inner width, vocabulary, positions.
TINY = TransformerConfig(16, 2, 4, 2, 24, WORDS, 64)
SAMPLERS = [sample_tree, sample_rows]
PROMPTS = torch.randint(WORDS, (3, 6), generator=torch.Generator().manual_seed(1))


def perturbed(model: Transformer, seed: int = 0, spread: float = 1.0) -> Transformer:
    """All weights moved far from their start, so that no part is without effect."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            scale = 0.3 if weight.ndim == 1 else spread * weight.shape[-1] ** -0.5
            weight.add_(torch.randn(weight.shape, generator=random), alpha=scale)
    return model


@pytest.fixture(scope="module")
def model() -> Transformer:
    return perturbed(fresh_transformer(0, TINY))


def read(model: Transformer, prompts: torch.Tensor = PROMPTS):
    """The prompts, with their graphs."""
    return model.read(prompts)


def uniform(*size: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(size, generator=torch.Generator().manual_seed(seed))


def sampled(sample, model, uniforms: torch.Tensor, prompts=PROMPTS, ends=ENDS) -> Rollouts:
    with torch.no_grad():
        return sample(model, read(model, prompts), *uniforms.shape[1:], ends, uniforms)


@pytest.fixture
def scripted(monkeypatch, model):
    """Rollouts that say the given tokens, "problems rollouts length", whatever is likely."""

    def say(sample, tokens: torch.Tensor) -> Rollouts:
        with monkeypatch.context() as patch:
            patch.setattr(module, "sample_token", lambda logp, uniforms: (uniforms * WORDS).long())
            return sampled(sample, model, (tokens + 0.5) / WORDS)

    return say


def after(model: Transformer, prompt: torch.Tensor, said: list[int]) -> torch.Tensor:
    """Log-probabilities of the next token by reading prompt and answer whole."""
    tokens = torch.cat((prompt, torch.tensor(said, dtype=prompt.dtype)))[None]
    return model.logits(model.prefill(tokens)[0])[0, -1].log_softmax(-1)


@torch.no_grad()
def naive(
    model: Transformer, prompt: torch.Tensor, numbers: list[float], ends=ENDS
) -> tuple[list[int], list[float]]:
    """One rollout: always the first word up to which the probabilities exceed the number."""
    said, logp = [], []
    for number in numbers:
        scores, word = after(model, prompt, said), 0
        chances = scores.double().exp().tolist()
        while sum(chances[: word + 1]) <= number:
            word += 1
        said.append(word)
        logp.append(scores[word].item())
        if word in ends:
            break
    return said, logp


def words_of(played: Rollouts, problem: int, rollout: int) -> list[int]:
    return played.tokens[problem, rollout][played.mask[problem, rollout]].tolist()


# --- What is said -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_both_samplers_say_the_same_tokens_with_the_same_log_probabilities(model, seed):
    shared, apart = (sampled(sample, model, uniform(3, 40, 9, seed=seed)) for sample in SAMPLERS)
    assert torch.equal(shared.tokens, apart.tokens) and torch.equal(shared.mask, apart.mask)
    assert torch.allclose(shared.logp, apart.logp, atol=1e-5) and shared.logp.min() < -2
    assert len(shared.lengths.unique()) > 4 and len(shared.tokens.unique()) == WORDS


@pytest.mark.parametrize("sample", SAMPLERS)
def test_each_sampler_says_what_reading_the_whole_sequence_for_every_token_says(model, sample):
    numbers, finished = uniform(3, 8, 7), 0
    played = sampled(sample, model, numbers)
    for problem, rollout in itertools.product(range(3), range(8)):
        said, logp = naive(model, PROMPTS[problem], numbers[problem, rollout].tolist())
        assert words_of(played, problem, rollout) == said
        assert played.logp[problem, rollout, : len(said)].tolist() == pytest.approx(logp, abs=1e-5)
        finished += said[-1] in ENDS
    assert 3 < finished < 21


@pytest.mark.parametrize("sample", SAMPLERS)
def test_after_the_end_there_is_only_padding_and_before_it_none(model, sample):
    played = sampled(sample, model, uniform(3, 30, 8))
    for at in itertools.product(range(3), range(30)):
        said, mask, logp = played.tokens[at].tolist(), played.mask[at], played.logp[at]
        length = next((place + 1 for place, word in enumerate(said) if word in ENDS), 8)
        assert mask.tolist() == [place < length for place in range(8)]
        assert not any(said[length:]) and not logp[length:].any() and (logp[:length] < 0).all()
    assert torch.equal(played.lengths, played.mask.sum(2)) and played.tokens.dtype == torch.int64


@pytest.mark.parametrize("sample", SAMPLERS)
def test_a_rollout_that_never_ends_is_cut_at_the_length(model, sample):
    played = sampled(sample, model, uniform(3, 10, 5), ends=[])
    assert played.mask.all() and (played.lengths == 5).all()
    assert (played.tokens == 7).any()  # what would end it elsewhere
    assert sampled(sample, model, uniform(3, 10, 1), ends=[]).tokens.shape == (3, 10, 1)


@pytest.mark.parametrize("sample", SAMPLERS)
def test_what_a_rollout_says_depends_on_its_own_numbers_only(model, sample):
    numbers = uniform(3, 20, 6)
    together = sampled(sample, model, numbers)
    for one in range(3):
        alone = sampled(sample, model, numbers[one : one + 1], PROMPTS[one : one + 1])
        assert torch.equal(alone.tokens[0], together.tokens[one])
    few = sampled(sample, model, numbers[:, [6, 4]])
    assert torch.equal(few.tokens, together.tokens[:, [6, 4]])
    assert torch.equal(few.mask, together.mask[:, [6, 4]])


@pytest.mark.parametrize("sample", SAMPLERS)
def test_sampling_leaves_the_prompts_as_they_were_and_builds_no_graph(model, sample):
    prompts = read(model)
    before = prompts.map(lambda tensor: tensor.detach().clone())
    played = sample(model, prompts, 6, 6, ENDS, uniform(3, 6, 6))
    for pair, kept in zip(prompts.cache, before.cache, strict=True):
        assert all(map(torch.equal, pair, kept))
    assert not played.logp.requires_grad


@pytest.mark.parametrize("sample", SAMPLERS)
def test_greedy_rollouts_say_the_most_likely_token_every_time(model, sample):
    with torch.no_grad():
        played = sample(model, read(model), 2, 12, ENDS, None)
    for problem, prompt in enumerate(PROMPTS):
        said = []
        while len(said) < 12 and not (said and said[-1] in ENDS):
            with torch.no_grad():
                said.append(int(after(model, prompt, said).argmax()))
        assert words_of(played, problem, 0) == words_of(played, problem, 1) == said
    assert played.lengths.max() > 3


# --- With which probability ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "chances", [[0.25, 0.5, 0.25], [0.1, 0.0, 0.9], [0.0, 1.0, 0.0], [0.3, 0.7, 0.0]]
)
def test_inversion_gives_every_word_its_share_of_the_numbers(chances):
    """Of 1,000 even numbers as many per word as its probability says, none of an impossible one."""
    logp = torch.tensor(chances).log().expand(1000, -1)
    words = sample_token(logp, (torch.arange(1000) + 0.5) / 1000)
    assert torch.bincount(words, minlength=3).tolist() == pytest.approx(
        [1000 * one for one in chances], abs=1
    )
    ends = sample_token(logp[:2], torch.tensor([0.0, 1 - 2.0**-24]))
    possible = [word for word, chance in enumerate(chances) if chance]
    assert ends.tolist() == [possible[0], possible[-1]]


@pytest.mark.parametrize("sample", SAMPLERS)
@pytest.mark.parametrize("length, grid", [(2, 160), (3, 28)])
def test_the_share_of_numbers_that_say_a_sequence_is_its_probability(model, sample, length, grid):
    """Every sequence's probability by full forward passes; an even grid of numbers over the cube
    gives each sequence a box of that volume. A side of the box is off by at most one grid point,
    and so is the share of a word among the grid points that said the words before it.
    """
    prompt, rollouts = PROMPTS[:1], grid**length
    points = (torch.arange(grid) + 0.5) / grid
    numbers = torch.cartesian_prod(*[points] * length).view(1, rollouts, length)
    played = sampled(sample, model, numbers, prompt)
    counts: dict[tuple, int] = {}
    for said, mask in zip(played.tokens[0].tolist(), played.mask[0].tolist(), strict=True):
        for upto in range(sum(mask) + 1):
            counts[tuple(said[:upto])] = counts.get(tuple(said[:upto]), 0) + 1
    mass, sequences = 0.0, 0

    def follow(said: tuple, chance: float) -> None:
        nonlocal mass, sequences
        if len(said) == length or said and said[-1] in ENDS:
            mass, sequences = mass + chance, sequences + 1
            assert counts.get(said, 0) / rollouts == pytest.approx(chance, abs=1.01 * length / grid)
            return
        with torch.no_grad():
            scores = after(model, prompt[0], list(said)).exp().tolist()
        for word, one in enumerate(scores):
            if counts.get(said):
                assert counts.get((*said, word), 0) / counts[said] == pytest.approx(
                    one, abs=1.01 / grid
                ), said
            follow((*said, word), chance * one)

    follow((), 1.0)
    assert mass == pytest.approx(1, abs=1e-5)
    assert sequences == {2: 2 + 7 * 9, 3: 2 + 7 * 2 + 7 * 7 * 9}[length]
    assert len({said for said in counts if len(said) == length}) > 20


# --- Scored again, with gradients ---------------------------------------------------------------


def log_probabilities(model: Transformer, played: Rollouts) -> torch.Tensor:
    prompts = read(model)
    rows = rollout_logits(model, prompts, played).log_softmax(-1)
    return rows[played.logit_rows, played.tokens] * played.mask


@pytest.mark.parametrize("sample", SAMPLERS)
def test_the_row_a_token_was_drawn_from_holds_the_logits_of_a_full_forward_pass(model, sample):
    played = sampled(sample, model, uniform(3, 10, 6))
    with torch.no_grad():
        rows = rollout_logits(model, read(model), played).log_softmax(-1)
        for problem, rollout in itertools.product(range(3), range(10)):
            said = words_of(played, problem, rollout)
            for depth in range(len(said)):
                row = rows[played.logit_rows[problem, rollout, depth]]
                assert torch.allclose(row, after(model, PROMPTS[problem], said[:depth]), atol=2e-5)


@pytest.mark.parametrize("sample", SAMPLERS)
def test_gradients_are_those_of_one_full_sequence_for_every_rollout(model, sample):
    """Of a random linear functional of all log-probabilities, for every parameter."""
    rollouts = 12
    played = sampled(sample, model, uniform(3, rollouts, 7))
    along = torch.randn(played.tokens.shape, generator=torch.Generator().manual_seed(4))
    names, parameters = zip(*model.named_parameters(), strict=True)
    found = torch.autograd.grad((log_probabilities(model, played) * along).sum(), parameters)
    total = 0.0
    for problem, rollout in itertools.product(range(3), range(rollouts)):
        said = torch.tensor(words_of(played, problem, rollout))
        whole = torch.cat((PROMPTS[problem], said))[None]
        logits = model.logits(model.prefill(whole)[0])[0, PROMPTS.shape[1] - 1 : -1]
        logp = logits.log_softmax(-1).gather(1, said[:, None])[:, 0]
        total = total + (logp * along[problem, rollout, : len(said)]).sum()
    expected = torch.autograd.grad(total, parameters)
    for name, ours, theirs in zip(names, found, expected, strict=True):
        assert theirs.norm() > 1e-3 and (ours - theirs).norm() < 1e-5 * theirs.norm(), name


@pytest.mark.parametrize("sample", SAMPLERS)
@pytest.mark.parametrize(
    "tokens",
    [
        [[[3], [7]]] * 3,
        [[[7, 0, 0], [2, 0, 0]]] * 3,
        [[[7, 0, 0]] * 2, [[4, 7, 0], [4, 4, 4]], [[7, 0, 0]] * 2],
    ],
)
def test_rollouts_that_end_with_their_first_token_can_be_scored(model, scripted, sample, tokens):
    """All of them, for want of length or by choice, or those of some problems."""
    played = scripted(sample, torch.tensor(tokens))
    assert torch.equal(played.tokens, torch.tensor(tokens))
    logp = log_probabilities(model, played)
    gradients = torch.autograd.grad(logp.sum(), list(model.parameters()))
    assert torch.allclose(logp.detach(), played.logp, atol=1e-5) and (played.logp[..., 0] < 0).all()
    assert all(gradient.isfinite().all() for gradient in gradients) and gradients[0].norm() > 0.1


# --- No work twice ------------------------------------------------------------------------------


def test_sampling_reads_every_distinct_prefix_once(model, monkeypatch):
    read_rows, forward = [], Transformer.forward

    def counting(self, tokens, positions, attention):
        read_rows.append(tokens.numel())
        return forward(self, tokens, positions, attention)

    prompts = read(model)
    monkeypatch.setattr(Transformer, "forward", counting)
    played = sample_tree(model, prompts, 60, 8, ENDS, uniform(3, 60, 8))
    assert sum(read_rows) == len(played.tree.tokens) and len(read_rows) == 7
    read_rows.clear()
    rollout_logits(model, prompts, played)
    assert read_rows == [len(played.tree.tokens)]


def test_prefixes_of_different_problems_are_kept_apart_and_see_only_their_own(scripted):
    """Two problems that say 3 3, and the second also 3 4, which shares its first token."""
    said = [[[3, 3, 5]] * 2, [[3, 3, 5], [3, 4, 5]], [[7, 0, 0]] * 2]
    tree = scripted(sample_tree, torch.tensor(said)).tree
    words = (tree.tokens + 10 * tree.depths).tolist()
    seen = {}
    for at, (problem, word) in enumerate(zip(tree.problems.tolist(), words, strict=True)):
        own = (tree.problems == problem).nonzero()[:, 0]
        visible = own[tree.visible[at, tree.slots[own]]].tolist()
        seen[problem, word] = {words[other] for other in visible}
    assert seen == {(0, 3): {3}, (0, 13): {3, 13}, (1, 3): {3}, (1, 13): {3, 13}, (1, 14): {3, 14}}
