"""The explorer as a widget: the page in a notebook, with the lab behind it. Floor 3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from lab.errors import LabError
from lab.estimators import Estimator
from lab.explorer import answers
from lab.explorer.state import checked
from lab.show.audit import Counts, read_counts

HERE = Path(__file__).parent


class Explorer(anywidget.AnyWidget):
    """Explore w(p): `Explorer(N=64, curves=["maxrl", "grpo(ddof=1)"])`.

    | argument | meaning |
    |---|---|
    | `own` | estimators of yours (from `lab.from_weight`, say), drawn beside those of the catalogue |
    | `pass_rates` | a run folder or file for `lab.show.audit.read_counts`, or a pair (n, correct), "problems" each |
    | others | keys of the state, see `lab.explorer.state.DEFAULTS` |

    `.state` is what is on the screen: read it, or set it (`e.state = e.state | {"N": 8}`;
    `e.show(N=8)` is the same). What is drawn while a hand moves is computed by the page, and as
    soon as it rests by the lab; the page says by how much the two differed. Unknown keys,
    estimators and values out of range are errors that say what is valid.
    """

    _esm = HERE / "explorer.js"
    _css = HERE / "style.css"
    state = traitlets.Dict().tag(sync=True)
    has_counts = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        *,
        own: Sequence[Estimator] = (),
        pass_rates: str | Path | tuple | None = None,
        **state: Any,
    ):
        self._own = {_named(one): one for one in own}
        self._counts = _counts(pass_rates)
        if own and "curves" not in state:
            state["curves"] = [*self._own, "rloo", "grpo", "maxrl"][:8]
        super().__init__(state=checked(state, self._own), has_counts=self._counts is not None)
        self.on_msg(self._answer)

    @traitlets.validate("state")
    def _whole(self, proposal: dict[str, Any]) -> dict[str, Any]:
        return checked(proposal["value"], self._own)

    def show(self, **state: Any) -> None:
        """Change part of what is on the screen."""
        self.state = self.state | state

    def _answer(self, _: Any, asked: dict[str, Any], buffers: list) -> None:
        """Answer one question of the page; a refusal is its sentence."""
        try:
            content, arrays = self._questions(asked, buffers)
        except LabError as error:
            content, arrays = {"error": " ".join(str(error).splitlines())}, []
        buffers = [np.ascontiguousarray(row, np.float64).tobytes() for row in arrays]
        self.send({"id": asked["id"]} | content, buffers=buffers)

    def _questions(self, asked: dict[str, Any], buffers: list) -> tuple[dict[str, Any], list]:
        match asked["what"]:
            case "curves":
                facts = (asked[key] for key in ("specs", "N", "quantity", "axis"))
                return {}, answers.curves(*facts, self._own)
            case "estimator":
                label, arrays = answers.estimator_curves(
                    asked["spec"], asked["N"], asked["axis"], self._own
                )
                return {"label": label}, arrays
            case "sizes":
                sizes, arrays = answers.coefficients_by_size(
                    asked["spec"], asked["most"], self._own
                )
                return {"sizes": sizes}, arrays
            case "file":
                return answers.counts_answer(answers.dropped_file(asked["name"], bytes(buffers[0])))
            case "counts" if self._counts is not None:
                return answers.counts_answer(self._counts)
        raise LabError(
            f"the page asked {asked['what']!r}, which this lab does not know: build the page anew"
        )


def _named(one: Estimator) -> str:
    if not isinstance(one, Estimator):
        raise LabError(
            f"found {type(one).__name__} in own: give estimators, for example lab.from_weight(w,"
            " N=16)"
        )
    return one.label


def _counts(given: str | Path | tuple | None) -> Counts | None:
    if given is None:
        return None
    if isinstance(given, (str, Path)):
        return read_counts(given)
    n, correct = np.broadcast_arrays(*(np.asarray(part, dtype=np.int64) for part in given))
    if n.ndim != 1 or not ((correct >= 0) & (correct <= n) & (n > 0)).all():
        raise LabError(
            "pass_rates must be a path or a pair (n, correct) of counts, 0 <= correct <= n, one a"
            " problem"
        )
    return Counts(
        [str(i) for i in range(len(n))], n, correct, [f"{len(n)} problems, counts given in Python"]
    )
