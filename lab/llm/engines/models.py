"""Models of the hub at pinned revisions: from a model's name to the folder it is loaded from.

The known ones are in models.toml. Any other is loaded at the newest revision of its main branch,
unless its name gives one: `Qwen/Qwen3-0.6B@REVISION`. Only safetensors weights, configurations and
tokenizers are downloaded.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lab.errors import LabError, in_one_sentence
from lab.extras import needed
from lab.project import SHIPPED, read_toml

# One of these files holds the vocabulary.
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tekken.json")
MODELS = read_toml(Path(__file__).with_name("models.toml"))
REVISIONS = {name: model["revision"] for name, model in MODELS.items()}
WANTED_FILES = ["*.safetensors", "*.json", "*.txt", "*.model", "*.jinja"]
UNWANTED_FILES = ["*/*"]  # sub-folders hold other formats: onnx/, gguf/, runs/


def pinned(model: str) -> tuple[str, str | None]:
    """The hub's name of a model, and the revision to load; None for the newest.

    >>> pinned("Qwen/Qwen3-4B")
    ('Qwen/Qwen3-4B', '1cfa9a7208912126459214e8b04321603b3df60c')
    >>> pinned("someone/model@abc")
    ('someone/model', 'abc')
    """
    name, _, revision = str(model).partition("@")
    return name, revision or REVISIONS.get(name)


def locate_model(model: str | Path) -> tuple[str, str]:
    """The folder or hub name to load a model from, and its name for records.

    A relative folder is looked for in the working directory, then in the project. LabError: there
    is no such folder, or it lacks a configuration or a tokenizer.
    """
    folder = Path(model)
    if model and not folder.is_absolute() and not folder.is_dir() and (SHIPPED / folder).is_dir():
        folder = SHIPPED / folder
    if not (model and folder.is_dir()):
        # A hub name has at most one slash, and may end in @REVISION.
        if isinstance(model, Path) or not re.fullmatch(
            r"[\w-][\w.-]*(/[\w-][\w.-]*)?(@[\w.-]+)?", model
        ):
            raise LabError(
                f"there is no model folder {model}: check the path, or give a name of the hub"
            )
        return model, model
    if (folder / "adapter_config.json").is_file():
        raise LabError(
            f"{model} holds an adapter without its model: save the two together (peft's"
            " merge_and_unload), as lab export does"
        )
    if not (folder / "config.json").is_file():
        raise LabError(f"{model} holds no config.json: give a folder that save_pretrained wrote")
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise LabError(
            f"{model} holds no tokenizer ({', '.join(TOKENIZERS)}): save the model's tokenizer"
            " there too"
        )
    return str(folder), folder.resolve().name


def model_folder(model: str | Path) -> tuple[str, str]:
    """`locate_model` after the download of a hub model. LabError: the hub did not provide it."""
    place, name = locate_model(model)
    if not Path(place).is_dir():
        # A pinned revision never changes, so its cached copy is valid without asking the hub.
        there = cached(place) if pinned(place)[1] else None
        place = there or _snapshot(place, local_files_only=False)
    return place, name


def cached(model: str) -> str | None:
    """The folder of a hub model in the cache; None where its weights are not there."""
    try:
        folder = _snapshot(model, local_files_only=True)
    except LabError:
        return None
    # An interrupted download may leave only the small files.
    return folder if any(Path(folder).glob("*.safetensors")) else None


def _snapshot(model: str, **options: Any) -> str:
    """The folder of a model's files, from the hub or its cache."""
    hub = needed("huggingface_hub")
    name, revision = pinned(model)
    options |= {"allow_patterns": WANTED_FILES, "ignore_patterns": UNWANTED_FILES}
    version = f" at revision {revision}" if revision else ""
    fault = f"{name}{version} did not come from the hub"
    cure = "check name and network, log in where the model's terms ask for it, or give a folder"
    # The hub, a proxy and the cache each raise their own exceptions.
    with in_one_sentence(fault, cure, Exception):
        return hub.snapshot_download(name, revision=revision, **options)
