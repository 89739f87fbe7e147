"""The explorer of weights w(p): a page, and the same page as a widget in a notebook.

`page.py` writes the stand-alone page, `widget.py` holds the widget, and `answers.py` computes what
the widget asks for. The front end is in `front/`; `npm run build` there makes `explorer.js`, which
is committed, so that users do not need npm.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.explorer.widget import Explorer

__all__ = ["Explorer"]


def __getattr__(name: str) -> Any:
    """The widget, which needs anywidget, is loaded when it is first asked for."""
    if name in __all__:
        return getattr(importlib.import_module("lab.explorer.widget"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
