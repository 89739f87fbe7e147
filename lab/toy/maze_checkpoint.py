"""Maze policies in the format of MaxRL's official checkpoints (maze/ckpt-1500 of its repository).

A folder holds a Qwen2 model as transformers writes it, and the tokenizer of the mazes: a word-level
one over `maze_env.VOCABULARY`, completed by reserved words up to the size of the model's
vocabulary. Rollouts end with one of the `eos_token_id` of generation_config.json: <eos> and DONE.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.toy.maze_env import BOS, DONE, EOS, PAD, VOCABULARY
from lab.toy.transformer import Transformer, TransformerConfig, load, save

SPECIAL = VOCABULARY[:4]  # left out where a rollout is decoded
ROLES = {"pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>"}


def read_checkpoint(folder: Path, shape: TransformerConfig) -> Transformer:
    """The model in a folder, in float32.

    LabError: it has another shape, or its tokenizer has other numbers for the words of a maze. A
    folder without tokenizer.json is taken to have ours.
    """
    model = load(folder)
    if model.config != shape:
        raise LabError(
            f"{folder} holds {model.config}, and the settings ask for {shape}: set width, layers"
            " and positions to those of the folder"
        )
    _check_tokenizer(folder / "tokenizer.json")
    return model


def _check_tokenizer(path: Path) -> None:
    """LabError: a word of `VOCABULARY` has another number in this file, or none."""
    if not path.exists():
        return
    try:
        numbers = json.loads(path.read_text())["model"]["vocab"]
        found = {word: numbers.get(word) for word in VOCABULARY}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise LabError(
            f"{path} holds no vocabulary of words ({error!r}): use a checkpoint of MaxRL's mazes"
        ) from error
    for number, word in enumerate(VOCABULARY):
        if found[word] != number:
            raise LabError(
                f"{path}: {word!r} has the number {found[word]}, and {number} in the mazes here:"
                " use a checkpoint of MaxRL's mazes"
            )


def write_checkpoint(model: Transformer, folder: Path) -> None:
    """Write a model and its tokenizer, for `read_checkpoint` and for transformers.

    Its classes are AutoModelForCausalLM and PreTrainedTokenizerFast. AutoTokenizer takes the latter
    up to transformers 4, and Qwen2's own from 5 on, which does not know the words of a maze.
    LabError: the folder holds a model.
    """
    if (folder / "config.json").exists():
        raise LabError(f"{folder} already holds a model: name another folder, or remove it")
    save(model, folder)
    reserved = range(model.config.vocab_size - len(VOCABULARY))
    words = [*VOCABULARY, *(f"RESERVED_{number}" for number in reserved)]
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    special = [
        {"id": number, "content": word, **plain, "special": True}
        for number, word in enumerate(SPECIAL)
    ]
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate(words)},
            "unk_token": "<unk>",
        },
    }
    files: dict[str, dict[str, Any]] = {
        "tokenizer.json": tokenizer,
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": model.config.max_position_embeddings,
            "clean_up_tokenization_spaces": False,
            **ROLES,
        },
        "special_tokens_map.json": ROLES,
        "generation_config.json": {
            "bos_token_id": BOS,
            "eos_token_id": [EOS, DONE],
            "pad_token_id": PAD,
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")
