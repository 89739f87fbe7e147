"""The versions for many nodes are those that verl names itself, read from the metadata of the
installed verl.
"""

from importlib.metadata import distribution, requires
from importlib.util import find_spec

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_install import pins

pytestmark = pytest.mark.skipif(find_spec("verl") is None, reason="verl is not installed")

FILE = "constraints-cluster.txt"
PINNED_BY_VERL = {"torch", "torchvision", "torchaudio", "transformers", "vllm"}


def wanted(extra: str) -> list[Requirement]:
    """What verl requires with that extra, or with none for ""."""
    found = map(Requirement, requires("verl"))
    return [one for one in found if one.marker is None or one.marker.evaluate({"extra": extra})]


def test_the_nodes_get_the_torch_vllm_and_transformers_that_verl_pins_for_its_sampler():
    exact = {one.name: str(one.specifier) for one in wanted("vllm") if "==" in str(one.specifier)}
    assert set(exact) >= PINNED_BY_VERL
    held = pins(FILE)
    assert {name: f"=={held[name]}" for name in PINNED_BY_VERL} == {
        name: exact[name] for name in PINNED_BY_VERL
    }


@pytest.mark.parametrize("extra", ["", "verl-core", "vllm"])
def test_no_pin_of_the_nodes_contradicts_verl(extra):
    held, asked = pins(FILE), wanted(extra)
    checked = [one for one in asked if canonicalize_name(one.name) in held]
    assert len(checked) > 10
    for one in checked:
        assert one.specifier.contains(held[canonicalize_name(one.name)]), one


def test_the_nodes_get_all_that_verl_requires_and_what_its_trainer_imports_besides():
    held = pins(FILE)
    names = {canonicalize_name(one.name) for one in wanted("")} | {"transferqueue", "cachetools"}
    assert names <= set(held)
    assert held["verl"] == distribution("verl").version
