"""Prompts: what is written around a question, as named text files with a hash, and how an answer
ends.

A file lab/presets/prompts/NAME.chat.txt becomes the one user turn of a chat, with no system text of
ours; NAME.txt is written as it stands. `{question}` is the place of the question, and the last
newline of the file is not part of it.

| name | from |
|---|---|
| maxrl_qwen | MaxRL, E.3.1 and the official data scripts; all its Qwen3 sets |
| maxrl_gsm8k | MaxRL, E.2.1 and the official data script: the suffix after one space |
| pacs | PACS, C.1 and the official data script: the suffix after one space |
| plain | ours, for tiny models: the question and a newline |

Known differences: MaxRL's E.3.1 prints an example with the other suffix and with a system turn; the
code has neither. PACS's C.1 prints the system turn "You are a helpful assistant.", which Qwen2.5's
chat template adds by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import LabError, unknown

FOLDER = Path(__file__).parents[2] / "presets" / "prompts"
ENDS = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<end_of_turn>",
)  # of a turn, of a text
STOP, LENGTH = "stop", "length"  # the reasons for which an answer ends


@dataclass(frozen=True)
class Prompt:
    """A prompt by name. `text` holds `{question}`; `chat` says whether it is the user turn of a
    chat template.
    """

    name: str
    text: str
    chat: bool

    @property
    def hash(self) -> str:
        """The first 12 hexadecimal digits of the SHA-256 of the text and of its form, for the
        record of a run.
        """
        return hashlib.sha256(
            f"{'chat' if self.chat else 'plain'}\n{self.text}".encode()
        ).hexdigest()[:12]

    def render(self, question: str, tokenizer: Any = None) -> str:
        """The prompt of one question, as text; a chat prompt needs a tokenizer with a chat
        template.

        The template gets one user turn and `add_generation_prompt=True`, as in both official codes.
        It writes its own special tokens: encode the result with `add_special_tokens=False`.
        """
        text = self.text.replace("{question}", question)
        if not self.chat:
            return text
        if getattr(tokenizer, "chat_template", None) is None:
            found = (
                "no tokenizer was given"
                if tokenizer is None
                else "the tokenizer has no chat template"
            )
            raise LabError(
                f"prompt {self.name!r} is the turn of a chat and {found}: give the tokenizer of a"
                " chat model, or take the prompt 'plain'"
            )
        return tokenizer.apply_chat_template(
            [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
        )


def load_prompt(name: str, upstream_braces: bool = False) -> Prompt:
    r"""The prompt of a name.

    `upstream_braces` writes `\boxed{{}}`, as five of MaxRL's six data scripts do (a template's
    doubled braces in a text that is no template): the prompt that its Qwen3 models were trained
    with, letter by letter.
    """
    files = _files()
    if name not in files:
        raise unknown("prompt", name, files)
    text = files[name].read_text(encoding="utf-8").removesuffix("\n")
    if upstream_braces:
        if r"\boxed{}" not in text:
            raise LabError(
                rf"prompt {name!r} holds no \boxed{{}}, so upstream_braces changes nothing: leave"
                r" it off"
            )
        text = text.replace(r"\boxed{}", r"\boxed{{}}")
    return Prompt(name, text, files[name].name.endswith(".chat.txt"))


def prompt_names() -> list[str]:
    """The names of all prompts."""
    return sorted(_files())


def _files() -> dict[str, Path]:
    return {path.name.split(".")[0]: path for path in FOLDER.glob("*.txt")}


def stop_tokens(tokenizer: Any) -> dict[str, int]:
    """Every token at which generation must stop, with its id: the tokenizer's own end, and the ends
    of a turn it knows.

    Both are needed: a Qwen base model has the end `<|endoftext|>` and chats end with `<|im_end|>`,
    and with one of them alone some answers never stop (QwenLM/Qwen3, issue 927).
    """
    special = {str(token): at for at, token in tokenizer.added_tokens_decoder.items()}
    stops = {token: special[token] for token in ENDS if token in special}
    if tokenizer.eos_token is not None:
        stops = {tokenizer.eos_token: tokenizer.eos_token_id} | stops
    if not stops:
        raise LabError(
            "the tokenizer has no end token: set its eos_token, or answers run to the length limit"
        )
    return stops


def finish_reason(ids: Sequence[int], stops: Mapping[str, int], max_tokens: int) -> tuple[str, str]:
    """Why an answer of token ids ended: ("stop", the token that ended it), or ("length", "") at the
    limit.

    Refuses an answer that is shorter than the limit and has no end token: keep the end token in
    `ids`.
    """
    for token, at in stops.items():
        if len(ids) and ids[-1] == at:
            return STOP, token
    if len(ids) < max_tokens:
        raise LabError(
            f"an answer of {len(ids)} tokens ends with none of {', '.join(stops)} below max_tokens ="
            f" {max_tokens}: keep the end token in the ids"
        )
    return LENGTH, ""
