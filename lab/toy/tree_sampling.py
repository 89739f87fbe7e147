"""Rollouts of a small language model that never do the same work twice. Floor 2.

Rollout i draws its token at depth t from its own uniform number u[i, t], so what it says is a
function of these numbers whatever is computed together with it: sampling through a tree of prefixes
is independent sampling, not like it. Two ways to the same rollouts:

`sample_tree`  one forward pass per *distinct* prefix in use; finished rollouts leave the batch
(CPU) `sample_rows`   every rollout its own row, fixed shapes, nothing that the host must wait for
(GPU, `CUDAGraphSampler`)

`rollout_logits` then computes the same logits again with gradients, sharing the same prompts and
prefixes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from lab.toy.transformer import Transformer, attend

Memory = list[tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class Rollouts:
    """N rollouts of each problem.

    | field | shape | meaning |
    |---|---|---|
    | `tokens` | "problems rollouts length" | int64, padded after the end |
    | `mask` | "problems rollouts length" | boolean: not padding |
    | `logp` | "problems rollouts length" | log-probability of each token when drawn, 0 for padding |
    | `logit_rows` | "problems rollouts length" | the row of `rollout_logits` that a token was drawn from |
    | `truncated` | "problems rollouts" | boolean: it reached the length without an end |
    | `tree` | | the distinct prefixes, or None where every rollout stands apart |
    """

    tokens: torch.Tensor
    mask: torch.Tensor
    logp: torch.Tensor
    logit_rows: torch.Tensor
    truncated: torch.Tensor
    tree: PrefixTree | None

    @property
    def lengths(self) -> torch.Tensor:
        """Tokens said, int64 "problems rollouts"."""
        return self.mask.sum(2)

    def part(self, start: int, stop: int) -> Rollouts:
        """The rollouts of the problems from `start` up to `stop`, as if no others had been sampled."""
        device = self.tokens.device
        tokens, said = self.tokens[start:stop], self.mask[start:stop]
        logp, cut = self.logp[start:stop], self.truncated[start:stop]
        if self.tree is None:
            return Rollouts(tokens, said, logp, _rows_apart(*tokens.shape, device), cut, None)
        tree = self.tree
        kept = (tree.problems >= start) & (tree.problems < stop)
        # A row of `rollout_logits` is a prompt's or, after those of all prompts, a prefix's: each gets
        # its number among those that stay. Padding has no row of its own and may name any.
        rows = torch.zeros(len(self.tokens) + len(kept), dtype=torch.int64, device=device)
        rows[start:stop] = torch.arange(stop - start, device=device)
        rows[len(self.tokens) :] = stop - start + kept.cumsum(0) - 1
        logit_rows = rows[self.logit_rows[start:stop]] * said
        prefixes = PrefixTree(
            tree.tokens[kept],
            tree.depths[kept],
            tree.problems[kept] - start,
            tree.slots[kept],
            tree.visible[kept],
        )
        return Rollouts(tokens, said, logp, logit_rows, cut, prefixes)


@dataclass(frozen=True)
class PrefixTree:
    """The distinct prefixes of a batch of rollouts, shorter ones first, each at a slot of its
    problem.

    | field | shape | meaning |
    |---|---|---|
    | `tokens`, `depths` | "prefixes" | the last token of each, and how many came before it |
    | `problems`, `slots` | "prefixes" | where each stands |
    | `visible` | "prefixes slots" | boolean: the slots of its own prefixes, and its own |
    """

    tokens: torch.Tensor
    depths: torch.Tensor
    problems: torch.Tensor
    slots: torch.Tensor
    visible: torch.Tensor


def sample_token(logp: torch.Tensor, uniforms: torch.Tensor | None) -> torch.Tensor:
    """A token for each row of log-probabilities, "rows vocabulary": by inversion, or without
    uniforms the likeliest.

    `uniforms` is "rows", in [0, 1) with 24 bits: a token of probability below 6e-8 may never come.
    """
    if uniforms is None:
        return logp.argmax(-1)
    upto = logp.exp().cumsum(-1)
    return (upto <= uniforms[:, None] * upto[:, -1:]).sum(-1).clamp_max(logp.shape[-1] - 1)


@torch.no_grad()
def sample_tree(
    model: Transformer,
    first: torch.Tensor,
    memory: Memory,
    rollouts: int,
    length: int,
    ends: list[int],
    uniforms: torch.Tensor | None,
) -> Rollouts:
    """Sample through the tree of prefixes.

    | argument | shape | meaning |
    |---|---|---|
    | `first` | "problems vocabulary" | logits after each prompt |
    | `memory` | "problems heads prompt head" | keys and values of the prompts, a pair a layer (`Transformer.prefill`) |
    | `rollouts`, `length` | | how many of each problem, and their most tokens |
    | `ends` | | a rollout that says one of these tokens is finished |
    | `uniforms` | "problems rollouts length" | the random numbers; None for the likeliest token everywhere |
    """
    problems, words = first.shape
    size, device, start = (problems * rollouts, length), first.device, memory[0][0].shape[2]
    logp = torch.zeros(size, device=device)
    tokens, logit_rows, said = (
        torch.zeros_like(logp, dtype=kind) for kind in (torch.int64, torch.int64, torch.bool)
    )
    ends = torch.tensor(ends, device=device)
    going = torch.arange(problems * rollouts, device=device)
    row, logits, rows = going // rollouts, first, 0
    growing = _TreeBuilder(memory, problems)
    for depth in range(length):
        scores = logits.log_softmax(-1)
        token = sample_token(
            scores[row], None if uniforms is None else uniforms.flatten(0, 1)[going, depth]
        )
        tokens[going, depth], logit_rows[going, depth] = token, rows + row
        said[going, depth], logp[going, depth] = True, scores[row, token]
        on = ~torch.isin(token, ends)
        rows += len(scores)
        going, token, row = going[on], token[on], row[on]
        if depth + 1 == length or not len(going):
            break
        prefix, row = (row * words + token).unique(return_inverse=True)
        word = prefix % words
        attention = growing.deeper(prefix // words, word)
        logits = model.logits(model(word, torch.full_like(word, start + depth), attention))
    shape, cut = (
        (problems, rollouts, length),
        torch.zeros_like(said[:, 0]).index_fill_(0, going, True),
    )
    return Rollouts(
        tokens.view(shape),
        said.view(shape),
        logp.view(shape),
        logit_rows.view(shape),
        cut.view(shape[:2]),
        growing.tree(),
    )


class _TreeBuilder:
    """The tree while `sample_tree` goes deeper: keys and values of the prompts and all prefixes,
    slot by slot.
    """

    def __init__(self, memory: Memory, problems: int) -> None:
        self.kept, self.prompt, device = list(memory), memory[0][0].shape[2], memory[0][0].device
        self.problem = torch.arange(problems, device=device)
        self.used = torch.zeros_like(self.problem)  # slots by problem
        self.seen = torch.zeros(
            problems, 0, dtype=torch.bool, device=device
        )  # by prefix of the level above
        self.levels: list[tuple[torch.Tensor, ...]] = []

    def deeper(self, parent: torch.Tensor, word: torch.Tensor):
        """Add prefixes one token longer, given by their rows in the level above and last tokens;
        their attention.
        """
        problem = self.problem = self.problem[parent]
        nth = _nth(problem)
        slot = self.used[problem] + nth
        self.used = self.used + torch.bincount(problem, minlength=len(self.used))
        slots = int(self.used.max())
        seen = self.seen = F.pad(self.seen[parent], (0, slots - self.seen.shape[1])).scatter_(
            1, slot[:, None], True
        )
        self.levels.append((word, torch.full_like(word, len(self.levels)), problem, slot, seen))
        room, wanted = self.kept[0][0].shape[2], self.prompt + slots
        if wanted > room:
            self.kept = [
                tuple(F.pad(part, (0, 0, 0, wanted)) for part in pair) for pair in self.kept
            ]  # double
        see = _see(seen, problem, nth, len(self.used), self.prompt)

        def attention(
            layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
        ) -> torch.Tensor:
            keys, values = self.kept[layer]
            keys[problem, :, self.prompt + slot], values[problem, :, self.prompt + slot] = k, v
            return see(q, keys[:, :, :wanted], values[:, :, :wanted])

        return attention

    def tree(self) -> PrefixTree:
        if not self.levels:
            nothing = self.problem[:0]
            return PrefixTree(nothing, nothing, nothing, nothing, self.seen[:0])
        *columns, seen = zip(*self.levels, strict=True)
        slots = seen[-1].shape[1]
        return PrefixTree(
            *map(torch.cat, columns),
            torch.cat([F.pad(part, (0, slots - part.shape[1])) for part in seen]),
        )


def _nth(problem: torch.Tensor) -> torch.Tensor:
    """Each prefix's number among those of its problem; `problem` is sorted."""
    return torch.arange(len(problem), device=problem.device) - torch.searchsorted(problem, problem)


def _see(
    seen: torch.Tensor, problem: torch.Tensor, place: torch.Tensor, problems: int, prompt: int
):
    """Attention of prefixes, each to the whole prompt of its problem and to the slots it has
    `seen`.

    The prefixes of a problem are laid side by side at their `place`, so that one call serves all
    problems.
    """
    width = int(place.max()) + 1
    at = problem * width + place
    mask = torch.zeros(problems * width, prompt + seen.shape[1], device=seen.device)
    mask[at, prompt:] = torch.where(seen, 0.0, -torch.inf)
    mask = mask.view(problems, 1, width, -1)

    def see(q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        queries = _spread(q, at, problems, width)
        out = F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=mask.to(q.dtype), enable_gqa=True
        )
        return out.transpose(1, 2).flatten(0, 1)[at]

    return see


def _spread(x: torch.Tensor, at: torch.Tensor, problems: int, width: int) -> torch.Tensor:
    """ "rows heads head" to "problems heads width head", zero where no row stands."""
    rows = x.new_zeros(problems * width, *x.shape[1:]).index_copy(0, at, x)
    return rows.unflatten(0, (problems, width)).transpose(1, 2)


@torch.no_grad()
def sample_rows(
    model: Transformer,
    first: torch.Tensor,
    memory: Memory,
    rollouts: int,
    length: int,
    ends: list[int],
    uniforms: torch.Tensor | None,
) -> Rollouts:
    """Sample every rollout as a row of its own, `length` steps of fixed shape. Arguments as
    `sample_tree`.
    """
    problems, device, start = len(first), first.device, memory[0][0].shape[2]
    size = (problems, rollouts, length)
    tokens = torch.zeros(size, dtype=torch.int64, device=device)
    said, logp = (
        torch.zeros(size, dtype=torch.bool, device=device),
        torch.zeros(size, device=device),
    )
    kept = torch.zeros(len(memory), 2, *size, *model.kept, device=device, dtype=memory[0][0].dtype)
    going = torch.ones(size[:2], dtype=torch.bool, device=device)
    logits = first[:, None].expand(-1, rollouts, -1)
    for depth in range(length):
        scores = logits.log_softmax(-1)
        drawn = None if uniforms is None else uniforms[:, :, depth].flatten()
        token = sample_token(scores.flatten(0, 1), drawn).view(size[:2])
        tokens[:, :, depth], said[:, :, depth] = token * going, going
        logp[:, :, depth] = scores.gather(2, token[:, :, None])[:, :, 0] * going
        for end in ends:
            going = going & (token != end)
        if depth + 1 < length:
            position = torch.full((problems, rollouts, 1), start + depth, device=device)
            stream = model(tokens[:, :, depth, None], position, _next_of_each(kept, memory, depth))
            logits = model.logits(stream[:, :, 0])
    return Rollouts(
        tokens, said, logp, _rows_apart(problems, rollouts, length, device), going, None
    )


def _next_of_each(kept: torch.Tensor, memory: Memory, depth: int):
    def attention(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        own = kept[layer]
        own[0, :, :, depth], own[1, :, :, depth] = k[:, :, 0], v[:, :, 0]
        seen = torch.ones(1, 1, 1, depth + 1, dtype=torch.bool, device=q.device)
        return attend(q, memory[layer], own[0, :, :, : depth + 1], own[1, :, :, : depth + 1], seen)

    return attention


def _rows_apart(problems: int, rollouts: int, length: int, device: torch.device) -> torch.Tensor:
    """Row of `rollout_logits` for each token: the prompt's for the first, then that of the token before."""
    each = problems, rollouts, length - 1
    own = problems + torch.arange(math.prod(each), device=device).view(each)
    prompt = torch.arange(problems, device=device)[:, None, None].expand(-1, rollouts, 1)
    return torch.cat((prompt, own), 2)


class CUDAGraphSampler:
    """`sample_rows` recorded once as a CUDA graph and then replayed: hundreds of small kernels for
    one launch.

    The shapes and the places of the weights are those of the first call. What it returns is
    overwritten by the next.
    """

    def __init__(self) -> None:
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(
        self,
        model: Transformer,
        first: torch.Tensor,
        memory: Memory,
        rollouts: int,
        length: int,
        ends: list[int],
        uniforms: torch.Tensor,
    ) -> Rollouts:
        given = [first, uniforms, *(part for pair in memory for part in pair)]
        if self.graph is None:
            self.given = [part.clone() for part in given]
            pairs = list(zip(self.given[2::2], self.given[3::2], strict=True))

            def work() -> Rollouts:
                return sample_rows(
                    model, self.given[0], pairs, rollouts, length, ends, self.given[1]
                )

            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(
                side
            ):  # capture wants every kernel to have run once before, on another stream
                work()
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.said = work()
        torch._foreach_copy_(self.given, given)
        self.graph.replay()
        return self.said


def rollout_logits(
    model: Transformer, first: torch.Tensor, memory: Memory, rollouts: Rollouts
) -> torch.Tensor:
    """Logits "rows vocabulary" after every prompt and every prefix of the rollouts, in one forward
    pass with gradients.

    `first` and `memory` as in `sample_tree`, but with their graphs: gradients flow through the
    shared prompts.
    """
    start, tree = memory[0][0].shape[2], rollouts.tree
    if not (rollouts.tokens[..., 1:] if tree is None else tree.tokens).numel():
        return first
    if tree is None:
        tokens = rollouts.tokens[:, :, :-1]
        length = tokens.shape[2]
        seen = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()[None, None]
        positions = (start + torch.arange(length, device=tokens.device)).expand_as(tokens)
        stream = model(
            tokens, positions, lambda layer, q, k, v: attend(q, memory[layer], k, v, seen)
        )
        stream = stream.flatten(0, 2)
    else:
        problems, slots, prompt = len(first), tree.visible.shape[1], memory[0][0].shape[2]
        see = _see(tree.visible, tree.problems, tree.slots, problems, prompt)
        at = tree.problems * slots + tree.slots

        def attention(layer: int, q: torch.Tensor, *own: torch.Tensor) -> torch.Tensor:
            return see(
                q,
                *(
                    torch.cat((shared, _spread(part, at, problems, slots)), 2)
                    for shared, part in zip(memory[layer], own, strict=True)
                ),
            )

        stream = model(tree.tokens, start + tree.depths, attention)
    return torch.cat((first, model.logits(stream)))
