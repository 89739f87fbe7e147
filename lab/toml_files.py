"""TOML files that a user writes: sweeps, presets, pyproject.toml."""

import tomllib
from pathlib import Path
from typing import Any

from lab.errors import LabError


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. LabError: it is no file, no text or no TOML, or not readable."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError(
            f"{path} cannot be read ({error.strerror}): give the path of a TOML file"
        ) from error
    except UnicodeDecodeError as error:
        raise LabError(
            f"{path} is no TOML file: byte {error.start} is not UTF-8 text; give the path of one"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path}: {error}; fix the file") from error
