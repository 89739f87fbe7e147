"""Models of the hub are loaded at pinned revisions, from the hub's own cache, without
the network.
"""

import re
import shutil
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.llm.engines.model_costs import KNOWN, architecture
from lab.llm.engines.models import REVISIONS, cached, model_folder, pinned

TINY = Path(__file__).parents[1] / "data/models/tiny"
NEWER = "0" * 40


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """An offline hub cache that holds a tiny model under the name of a pinned one, at two
    revisions.
    """
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    repository = tmp_path / "models--Qwen--Qwen3-4B"
    for revision in (REVISIONS["Qwen/Qwen3-4B"], NEWER):
        shutil.copytree(TINY, repository / "snapshots" / revision)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(NEWER)  # the newest is another than the pinned one
    return repository


def test_a_known_model_is_loaded_at_its_pinned_revision_though_a_newer_one_cached(hub):
    place, name = model_folder("Qwen/Qwen3-4B")
    assert (Path(place).name, name) == (REVISIONS["Qwen/Qwen3-4B"], "Qwen/Qwen3-4B")
    assert cached("Qwen/Qwen3-4B")


def test_a_revision_in_the_name_is_the_one_that_is_loaded(hub):
    place, _ = model_folder(f"Qwen/Qwen3-4B@{NEWER}")
    assert Path(place).name == NEWER


def test_an_interrupted_download_does_not_count_as_cached(hub):
    snapshot = hub / "snapshots" / REVISIONS["Qwen/Qwen3-4B"]
    for weights in snapshot.glob("*.safetensors"):
        weights.unlink()
    assert not cached("Qwen/Qwen3-4B")


def test_a_model_that_the_hub_does_not_give_is_one_sentence_with_its_revision(hub):
    assert not cached("Qwen/Qwen3-8B")
    with pytest.raises(
        LabError, match=f"Qwen/Qwen3-8B at revision {REVISIONS['Qwen/Qwen3-8B']}.*did not come"
    ):
        model_folder("Qwen/Qwen3-8B")


def test_every_model_of_a_preset_or_of_the_memory_table_is_pinned_to_a_whole_commit():
    from lab.runs.experiments import experiment, experiments

    presets = [experiment(name) for name in experiments()]
    named = {
        values["model"]
        for preset in presets
        for values in preset.scales.values()
        if "model" in values
    }
    hub_names = {name for name in named if "data/models/" not in name}
    assert len(hub_names) >= 3
    assert hub_names <= REVISIONS.keys() and KNOWN.keys() <= REVISIONS.keys()
    assert all(re.fullmatch("[0-9a-f]{40}", revision) for revision in REVISIONS.values())


def test_a_folder_has_no_revision_and_its_memory_is_counted_by_the_name_without_one():
    assert pinned("me/mine") == ("me/mine", None)
    found = architecture(f"Qwen/Qwen3-4B@{NEWER}")
    assert found.hidden_size == KNOWN["Qwen/Qwen3-4B"]["hidden_size"]
