"""What names of columns hint at, and the bounds of the rules: one table, also that of the page.

A name alone decides nothing: `lab.rollouts.meaning` also looks at the values. The page reads all
that is written in capitals here in lab/explorer/front/names.js; after a change write it anew:

    python -m lab.rollouts.names > lab/explorer/front/names.js
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from operator import itemgetter

# The first that is there counts, unless its values do not fit. A dot leads into an object; (key),
# (row) and (position) are made where a document is unfolded, see lab.rollouts.structure.
HINTS = {
    "problem": (
        "_ng_task_index example_id doc_hash prompt_idx problem_id prompt_id task_id question_id"
        " problem_idx question_idx qid instance_id problem uid uuid unique_id index idx id i (key)"
    ).split(),
    "prompt": (
        "prompt input question query problem_text instruction doc.query"
        " responses_create_params.input messages"
    ).split(),
    # what says that a rollout is right; behind it what a training gave it
    "correct": (
        "correct is_correct acc correctness_math_verify correctness exact_match math_verify"
        " extractive_match metric.extractive_match metric.acc passed success is_success solved"
        " resolved (value)"
    ).split(),
    "reward": ["reward", "rewards", "score", "scores"],
    "right": "n_correct num_correct num_pass n_pass n_right correct right k".split(),
    "size": (
        "n_samples num_samples n_rollouts num_rollouts completions_per_prompt n rollouts samples k"
    ).split(),
    "rate": (
        "pass_rate solve_rate success_rate pass@1 difficulty llama8b_solve_rate pass_rate_72b_tir"
        " accuracy mean_reward mean_score mean/reward"
    ).split(),
    "step": ["step", "visit"],
    # the number of a rollout among those of its problem, and a name that no other rollout has
    "sample": (
        "sample sample_idx sample_id sample_index rollout rollout_idx rollout_index"
        " _ng_rollout_index trial attempt (position)"
    ).split(),
    "trace": ["trace", "trace_id", "trajectory_id", "completion_id", "generation_id"],
    "text": (
        "completion output response text generation code full_model_response solution"
        " generated_solution rollout model_output responses generations"
    ).split(),
    "answer": (
        "extracted_answer model_answer pred prediction predicted pred_value extracted"
        " parsed_answer final_answer"
    ).split(),
    # what the judge held answers against
    "gold": (
        "gold gold_answer expected_answer reference_answer ground_truth gt target"
        " reward_model.ground_truth verifier_metadata.expected_answer meta.target"
    ).split(),
    "length": ["tokens", "response_length", "completion_length", "num_tokens", "length"],
    "truncated": ["truncated", "is_truncated"],
    "advantage": ["advantage", "advantages"],
    # problems of equal names that differ in these are different ones
    "within": ["agent_ref.name", "env_agent", "env_id"],
    # of rollouts that were judged several times the first judgement is read
    "filter": ["filter"],
    # what tells policies apart: a row of counts for each value is no row for each problem
    "policy": (
        "model model_name checkpoint ckpt revision policy adapter step global_step epoch iteration"
    ).split(),
}
# Of these a row may have its own, which then is no problem's.
OF_ROWS = "uuid unique_id index idx id i (key)".split()
# Lists of objects, and numbered columns, that hold the rollouts of a problem.
ROLLOUTS = [
    "",
    *(
        "rollout rollouts sample samples completion completions response responses generation"
        " generations trace traces attempt attempts trial trials try run seed output outputs score"
        " reward correct results answers predictions candidates solutions"
    ).split(),
]
# Parts of a name that may mean a reward, and those beside which they do not.
OUTCOMES = (
    "correct correctness reward score scored acc accuracy success solved passed graded".split()
)
OTHERWISE = (
    "step index idx mean avg std min max median best n num count total expected gt gold pred"
    " length penalty reason analysis prob logprob error threshold"
).split()
# A name that ends so says what is right, not whether it was.
ANSWERS = "answer answers option choice output text response solution id".split()
# Words of labels.
RIGHT = "1 1.0 true correct right pass passed success solved passed graded".split()
WRONG = "0 0.0 -1 -1.0 false incorrect wrong fail failed failure unsolved".split()
NO_NUMBER = ["", "n/a", "na", "nan", "none", "null"]  # cells that are empty
# Parts of the name of a rollout's number; a column of another name may count policies.
NUMBERS = (
    "sample rollout trial attempt repeat repetition completion response generation index idx"
).split()
# Rates whose n is known from where they are published.
SIZES = {"llama8b_solve_rate": 64, "pass_rate_72b_tir": 32}
RATE_OF = re.compile(r"(?:.*\.)?(?:pass@k:k=1&n=|avg@n:n=)(\d{1,9})")  # lighteval's
SUMMARY = re.compile(r"(mean|max|min|median|std)[/_].*|.*__(MIN|MAX)|.*[/_](mean|avg|std)")
RATIO = re.compile(r"\s*(\d{1,12})\s*/\s*(\d{1,12})\s*")
NUMBERED = re.compile(r"(.*?)[_\- ]?(\d{1,6})([_\- ]\D*)?", re.DOTALL)  # one of several columns

# Roles of what a single rollout got; of further columns that are read; of those that are told of;
# and of those that may differ between the rollouts of a problem.
OWN = ["correct", "reward"]
KEPT = "step sample trace within filter advantage size gold length truncated".split()
TOLD = ["text", "answer", "gold", "length", "truncated"]
VARYING = ["trace", "filter", "advantage", "prompt", "size", "right", "rate", *OWN]

LOOKED_AT = 100  # rows by which it is decided how all are unfolded and read
DEEP = 8  # lists within lists
SHORT = 200  # characters of a cell that is no text
LISTED = 20  # names in a sentence
SHARE = 0.8  # of the cells that must agree where a column divides: some rollouts are lost
ENOUGH = 8  # problems that tell a rule from chance, where a column varies in few of them
LARGEST_N = 10_000  # rollouts a problem; above it the audit takes minutes, and a claim of 10^9 all
RATE_SLACK = 1e-3  # how far k = rate * n may be from a whole number

PLACES = {role: {name: i for i, name in enumerate(names)} for role, names in HINTS.items()}


def rank(name: str, role: str) -> int:
    """The place of a name among the hints of a role, or -1; (name) is one of an outer object."""
    places, name = PLACES[role], name.lower()
    if role in ("problem", "prompt") and name not in places:
        name = name.removeprefix("(").removesuffix(")")
    return places.get(name, -1)


def has_role(name: str, *roles: str) -> bool:
    """Whether a name hints at one of some roles."""
    return any(rank(name, role) >= 0 for role in roles)


def hinted(names: Iterable[str], *roles: str) -> list[str]:
    """The names that hint at a role, the strongest first; of several roles one after another."""
    found = []
    for role in roles:
        places = [(rank(name, role), name) for name in names]
        found += [name for place, name in sorted(places, key=itemgetter(0)) if place >= 0]
    return found


def may_reward(name: str) -> bool:
    """Whether a part of a name means a reward, and none means another thing.

    >>> may_reward("samples_correct"), may_reward("first_error_step"), may_reward("reward_avg")
    (True, False, False)
    """
    parts = re.split(r"[^a-z0-9]+", name.lower())
    others = any(part in OTHERWISE for part in parts) or parts[-1] in ANSWERS
    return any(part in OUTCOMES for part in parts) and not others


def may_number(name: str) -> bool:
    """Whether a name means the number of a rollout, and of no policy.

    >>> may_number("rollout_idx"), may_number("checkpoint_idx"), may_number("version")
    (True, False, False)
    """
    parts = set(re.split(r"[^a-z0-9]+", name.lower()))
    return bool(parts & {*NUMBERS}) and not parts & {*HINTS["policy"]}


def may_outcome(name: str) -> bool:
    """Whether a name means what one rollout got, or how often a problem was solved."""
    return may_reward(name) or has_role(name, *OWN, "right", "rate")


def page_module() -> str:
    """The text of lab/explorer/front/names.js."""
    lines = ["// What names of columns hint at, written by `python -m lab.rollouts.names`."]
    for name, value in globals().items():
        if not name.isupper() or name == "PLACES":
            continue
        script = json.dumps(value) if not isinstance(value, re.Pattern) else _script(value)
        lines.append(f"export const {name} = {script};")
    return "\n".join(lines) + "\n"


def _script(pattern: re.Pattern[str]) -> str:
    """A pattern that matches whole texts, as JavaScript."""
    flags = "s" if pattern.flags & re.DOTALL else ""
    return f"/^(?:{pattern.pattern.replace('/', chr(92) + '/')})$/{flags}"


if __name__ == "__main__":
    print(page_module(), end="")
