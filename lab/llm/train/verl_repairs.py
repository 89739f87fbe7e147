"""Two patches that let verl 0.9.1 run with the installed versions of its dependencies.

| verl 0.9.1 | patched |
|---|---|
| loads every critic with FlashAttention 2 | the attention implementation of the configuration |
| patches a TRL class that TRL 1.16 has removed | skipped: no critic here is of that class |

`tests/test_verl_workers.py` loads a policy and a critic through verl's own workers.
"""

from __future__ import annotations

from typing import Any


def repair() -> None:
    """Patch verl in this process. A second call changes nothing."""
    from verl.models.transformers import monkey_patch
    from verl.utils import model

    # Modules as Any: their functions are declared with the types of what is replaced.
    patched_models: Any = model
    patched_models.load_valuehead_model = value_model
    patches: Any = monkey_patch
    patches.is_trl_available = lambda: False


def value_model(
    local_path: str, torch_dtype: Any, model_config: Any, trust_remote_code: bool = False
) -> Any:
    """A critic: the model in a folder with one output per token.

    It uses the attention implementation of `model_config`. The signature is that of verl's
    `load_valuehead_model`, which this replaces. Code that comes with a model is never run:
    `trust_remote_code` is not passed on.
    """
    from transformers import AutoModelForTokenClassification

    return AutoModelForTokenClassification.from_pretrained(
        local_path, dtype=torch_dtype, config=model_config
    )
