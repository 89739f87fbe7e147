"""Two places where verl 0.9.1 does not run with what is installed beside it, mended by the plug-in.

Floor 2.

| verl 0.9.1 | here |
|---|---|
| loads every critic with FlashAttention 2 | the attention of its configuration |
| patches a class that TRL 1.16 has dropped, for critics of TRL's kind | no critic is of that kind |

`tests/test_verl_workers.py` loads a policy and a critic through verl's own workers.
"""

from __future__ import annotations

from typing import Any


def repair() -> None:
    """Mend verl in this process. A second call changes nothing."""
    from verl.models.transformers import monkey_patch
    from verl.utils import model

    model.load_valuehead_model = value_model
    monkey_patch.is_trl_available = lambda: False


def value_model(
    local_path: str, torch_dtype: Any, model_config: Any, trust_remote_code: bool = False
) -> Any:
    """A critic: the model of a folder with one number a token, in the attention of `model_config`.

    The signature is that of verl's `load_valuehead_model`, which this replaces. Code that comes
    with a model is never run: `trust_remote_code` is not passed on.
    """
    from transformers import AutoModelForTokenClassification

    return AutoModelForTokenClassification.from_pretrained(
        local_path, dtype=torch_dtype, config=model_config
    )
