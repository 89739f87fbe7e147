"""The sentence with which a call is refused."""

import pytest

from lab.errors import LabError


def refusal(call, *args, **options) -> str:
    """What LabError says, on one line, when `call` is called with these arguments."""
    with pytest.raises(LabError) as error:
        call(*args, **options)
    assert "\n" not in str(error.value)
    return str(error.value)
