"""What names of columns hint at: one table, also that of the page.

A name alone decides nothing: `lab.rollouts.meaning` also looks at the values. The page reads the
same table in lab/explorer/front/names.js; after a change write it anew:

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
    "step": ["step"],
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
# Rates whose n is known from where they are published.
SIZES = {"llama8b_solve_rate": 64, "pass_rate_72b_tir": 32}

OWN = ["correct", "reward"]  # the roles of what a single rollout got

PLACES = {role: {name: i for i, name in enumerate(names)} for role, names in HINTS.items()}
TABLES = (
    "HINTS OF_ROWS OWN ROLLOUTS OUTCOMES OTHERWISE ANSWERS RIGHT WRONG SIZES"  # of the page
).split()


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


def may_outcome(name: str) -> bool:
    """Whether a name means what one rollout got, or how often a problem was solved."""
    return may_reward(name) or has_role(name, *OWN, "right", "rate")


def page_module() -> str:
    """The text of lab/explorer/front/names.js."""
    head = "// What names of columns hint at, written by `python -m lab.rollouts.names`.\n"
    tables = (f"export const {name} = {json.dumps(globals()[name])};\n" for name in TABLES)
    return head + "".join(tables)


if __name__ == "__main__":
    print(page_module(), end="")
