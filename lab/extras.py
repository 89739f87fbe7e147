"""Which extra brings a package, for the error where one is missing.

NumPy and SciPy suffice for the mathematics, `lab explain` and the explorer's page.
"""

from importlib import import_module
from types import ModuleType

from lab.errors import LabError

# The packages of each extra, by the name that is imported.
PACKAGES = {
    "notebooks": "anywidget argcomplete ipykernel ipywidgets jupyterlab matplotlib mistune"
    " nbformat papermill traitlets",
    # In both extras: which one is wanted depends on what comes next.
    "notebooks,toy": "filelock pandas pyarrow tqdm",
    "toy": "safetensors sklearn torch torchvision",
    "llm": "accelerate datasets huggingface_hub peft transformers trl yaml",
    "vllm": "vllm",
    "cluster": "omegaconf verl",
    "views": "tensorboard wandb",
    "reasoning-gym": "reasoning_gym",
}
EXTRAS = {package: extras for extras, names in PACKAGES.items() for package in names.split()}

INSTALL = "pip install -c constraints.txt -e '.[{extras}]'"


def missing(package: str) -> LabError:
    """The error for a package of `EXTRAS` that is not installed.

    >>> print(missing("torch"))
    the package torch is missing: pip install -c constraints.txt -e '.[toy]'
    """
    return LabError(f"the package {package} is missing: {INSTALL.format(extras=EXTRAS[package])}")


def needed(package: str) -> ModuleType:
    """A package of `EXTRAS`, imported when it is first needed. LabError: it is not installed."""
    try:
        return import_module(package)
    except ImportError as error:
        raise missing(package) from error
