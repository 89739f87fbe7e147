"""Models of the hub at pinned revisions: the one way from a model's name to the folder it is loaded
from.

A revision stands here only if at least two independent public repositories pin it for that model; a
model that is not listed is loaded at the newest revision of its main branch, unless its name says
which: `Qwen/Qwen3-0.6B@REVISION`. Only weights in safetensors, configurations and tokenizers are
downloaded.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.llm.engines.base import error_line

PROJECT = Path(__file__).parents[3]
TOKENIZERS = (
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "tekken.json",
)  # one of them holds the vocabulary
REVISIONS = {
    "Qwen/Qwen3-1.7B-Base": "ea980cb0a6c2ae4b936e82123acc929f1cec04c1",
    "Qwen/Qwen3-4B-Base": "906bfd4b4dc7f14ee4320094d8b41684abff8539",
    "Qwen/Qwen3-4B": "1cfa9a7208912126459214e8b04321603b3df60c",
    "Qwen/Qwen3-8B": "b968826d9c46dd6066d109eabc6255188de91218",
    "Qwen/Qwen2.5-1.5B": "8faed761d45a263340a0528343f099c05c9a4323",
    "HuggingFaceTB/SmolLM2-360M-Instruct": "a10cc1512eabd3dde888204e902eca88bddb4951",
}
WANTED_FILES = ["*.safetensors", "*.json", "*.txt", "*.model", "*.jinja"]
UNWANTED_FILES = ["*/*"]  # other formats lie in folders: onnx/, gguf/, runs/


def pinned(model: str) -> tuple[str, str | None]:
    """The hub's name of a model and the revision it is loaded at; None for the newest.

    >>> pinned("Qwen/Qwen3-4B")
    ('Qwen/Qwen3-4B', '1cfa9a7208912126459214e8b04321603b3df60c')
    >>> pinned("someone/model@abc")
    ('someone/model', 'abc')
    """
    name, _, revision = str(model).partition("@")
    return name, revision or REVISIONS.get(name)


def locate_model(model: str | Path) -> tuple[str, str]:
    """What to load a model from, and its name for records: the last part of a folder's path, or its
    name on the hub.

    A relative folder is looked for where the command runs, then in the project.
    """
    folder = Path(model)
    if model and not folder.is_absolute() and not folder.is_dir() and (PROJECT / folder).is_dir():
        folder = PROJECT / folder
    if not (model and folder.is_dir()):
        if isinstance(model, Path) or not re.fullmatch(
            r"[\w-][\w.-]*(/[\w-][\w.-]*)?(@[\w.-]+)?", model
        ):
            raise LabError(
                f"there is no model folder {model}: check the path, or give a name of the hub"
            )
        return model, model
    if not (folder / "config.json").is_file():
        raise LabError(f"{model} holds no config.json: give a folder that save_pretrained wrote")
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise LabError(
            f"{model} holds no tokenizer ({', '.join(TOKENIZERS)}): save the model's tokenizer"
            " there too"
        )
    return str(folder), folder.resolve().name


def model_folder(model: str | Path) -> tuple[str, str]:
    """The folder to load a model from, and its name for records; a model of the hub is downloaded
    first.

    Errors: there is no such folder, or the hub did not give the model.
    """
    place, name = locate_model(model)
    if Path(place).is_dir():
        return place, name
    # A pinned revision never changes, so what is cached of it is right, with or without a network.
    folder = _cached(place) if pinned(place)[1] else None
    return folder or _snapshot(place, local_files_only=False), name


def is_cached(model: str | Path) -> bool:
    """Whether the model can be loaded without the network, at its pinned revision."""
    place, _ = locate_model(model)
    return Path(place).is_dir() or _cached(place) is not None


def _cached(model: str) -> str | None:
    try:
        folder = _snapshot(model, local_files_only=True)
    except LabError:
        return None
    # An interrupted download leaves the small files alone.
    return folder if any(Path(folder).glob("*.safetensors")) else None


def revision_of(folder: str) -> str | None:
    """The hub's commit that a downloaded folder holds; None for a folder of one's own."""
    path = Path(folder)
    return path.name if path.parent.name == "snapshots" else None


def hub_copy(model: str, folder: str) -> str:
    """Copy a model of the hub into a folder, unless it is there, and return its name and revision.

    The file REVISION, written last, says which the folder holds: a run that goes on asks the hub
    for nothing. Errors: the folder holds another model, or the hub did not give this one.
    """
    name, revision = pinned(model)
    record = Path(folder) / "REVISION"
    if record.is_file():
        held = record.read_text().strip()
        if held.partition("@")[0] != name or revision and held != f"{name}@{revision}":
            raise LabError(f"{folder} holds {held}, not {model}: remove it, or use another folder")
        return held
    if not revision:
        revision = _newest(name)
    _snapshot(f"{name}@{revision}", local_dir=folder)
    record.write_text(f"{name}@{revision}\n")
    return f"{name}@{revision}"


def _newest(name: str) -> str:
    from huggingface_hub import HfApi

    try:
        return HfApi().model_info(name).sha
    except Exception as error:  # as in _snapshot
        raise LabError(
            f"{name} was not found on the hub ({error_line(error)}): check the model's name and "
            "the network, or give a folder"
        ) from error


def _snapshot(model: str, **options: Any) -> str:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise LabError(
            "the package huggingface_hub is missing: pip install -c constraints.txt -e '.[llm]'"
        ) from error
    name, revision = pinned(model)
    try:
        return snapshot_download(
            name,
            revision=revision,
            allow_patterns=WANTED_FILES,
            ignore_patterns=UNWANTED_FILES,
            **options,
        )
    except Exception as error:  # the hub, a proxy and the cache each raise kinds of their own
        at = f" at revision {revision}" if revision else ""
        raise LabError(
            f"{name}{at} did not come from the hub ({error_line(error)}): check the model's name and the "
            "network, log in where its terms ask for it, or give a folder"
        ) from error
