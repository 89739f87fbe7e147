"""Which extra brings a package, for the error where one is missing.

NumPy and SciPy suffice for the mathematics, `lab explain` and the explorer's page.
"""

from lab.errors import LabError

# By the name that is imported.
EXTRAS = {
    "anywidget": "notebooks",
    "ipykernel": "notebooks",
    "ipywidgets": "notebooks",
    "jupyterlab": "notebooks",
    "matplotlib": "notebooks",
    "nbconvert": "notebooks",
    "nbformat": "notebooks",
    "papermill": "notebooks",
    "seaborn": "notebooks",
    "traitlets": "notebooks",
    # In both extras: which one is wanted depends on what comes next.
    "filelock": "notebooks,toy",
    "pandas": "notebooks,toy",
    "pyarrow": "notebooks,toy",
    "tqdm": "notebooks,toy",
    "safetensors": "toy",
    "sklearn": "toy",
    "torch": "toy",
    "torchvision": "toy",
    "accelerate": "llm",
    "datasets": "llm",
    "huggingface_hub": "llm",
    "lm_eval": "llm",
    "peft": "llm",
    "transformers": "llm",
    "trl": "llm",
    "vllm": "vllm",
    "omegaconf": "cluster",
    "ray": "cluster",
    "verl": "cluster",
    "tensorboard": "views",
    "wandb": "views",
}

INSTALL = "pip install -c constraints.txt -e '.[{extras}]'"


def missing(package: str) -> LabError:
    """The error for a package of `EXTRAS` that is not installed.

    >>> print(missing("torch"))
    the package torch is missing: pip install -c constraints.txt -e '.[toy]'
    """
    return LabError(f"the package {package} is missing: {INSTALL.format(extras=EXTRAS[package])}")
