"""A task: what a language model is asked, and how its answers are judged.

A training and an evaluation of what it trained take the same one. The judge is the verifier, or a
reward function that may grade answers. An estimator of real rewards (`lab.lift`) trains on the
grades as they are. What a run records of them is the mean reward, and the share of groups whose
rewards all agree; a pass rate is recorded only of the held-out sets, where an answer is right whose
reward reaches `right_from`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.judge.rewards import Judge, judge
from lab.llm.data.datasets import Problem, ProblemSet
from lab.llm.data.problem_sets import problem_set
from lab.llm.data.prompts import load_prompt
from lab.mathematics.estimators import estimator as find_estimator
from lab.mathematics.memories import has_memory

Usable = list[tuple[Problem, str]]  # problems, each with its prompt


def takes_real_rewards(config: LanguageModelConfig) -> bool:
    """Whether the estimator takes rewards other than 0 and 1; none with a memory does."""
    spec = config.estimator
    return not has_memory(spec) and find_estimator(spec).real is not None


@dataclass(frozen=True, kw_only=True)
class Task:
    """Problems with a prompt, and a judge; each field is a setting of `LanguageModelConfig`.

    | field | meaning |
    |---|---|
    | `prompt` | as `lab.llm.data.prompts.load_prompt` takes it |
    | `question_column`, `answer_column`, `folder_of_data` | where problems are read |
    | `max_prompt_tokens` | of a usable problem; 0: a problem is not left out for its length |
    | `style`, `reward`, `right_from`, `error_limit` | as `lab.judge.rewards.judge` takes them |
    """

    prompt: str = "plain"
    question_column: str = "question"
    answer_column: str = "answer"
    folder_of_data: str = ""
    max_prompt_tokens: int = 0
    style: str = "strict"
    reward: str = ""
    right_from: float | None = None
    error_limit: float = 0.02

    @classmethod
    def of(cls, config: LanguageModelConfig) -> Task:
        """The task of a training."""
        task = cls(
            prompt=config.prompt,
            question_column=config.question_column,
            answer_column=config.answer_column,
            folder_of_data=config.folder_of_data,
            max_prompt_tokens=config.max_prompt_tokens,
            style=config.style,
            reward=config.reward,
            right_from=config.right_from,
            error_limit=config.error_limit,
        )
        return task if takes_real_rewards(config) else replace(task, right_from=None)

    def judge(self) -> Judge:
        """The judge of answers, in a `with`: it may hold worker processes."""
        return judge(self.style, self.reward, self.error_limit, self.right_from)

    def problem_set(self, name: str, limit: int | None, split: str = "test") -> ProblemSet:
        """The first `limit` problems of a set; see `lab.llm.data.problem_sets.problem_set`."""
        columns = self.question_column, self.answer_column
        return problem_set(name, limit or None, self.folder_of_data, split, columns)

    def usable(self, loaded: ProblemSet, tokenizer: Any, judge: Judge) -> Usable:
        """The problems with a gold answer that `judge` reads and a prompt that is short enough.

        LabError: fewer than two are usable.
        """
        prompt = load_prompt(self.prompt)
        unreadable = judge.unparsable([problem.answer for problem in loaded.problems])
        rendered = [
            (problem, prompt.render(problem.question, tokenizer))
            for row, problem in enumerate(loaded.problems)
            if problem.answer and row not in unreadable
        ]
        token_ids = tokenizer([text for _, text in rendered], add_special_tokens=False)["input_ids"]
        usable = [
            pair
            for pair, ids in zip(rendered, token_ids, strict=True)
            if len(ids) <= self.max_prompt_tokens
        ]
        if len(usable) < 2:
            raise LabError(
                f"{loaded.source}: {len(usable)} of {len(loaded.problems)} problems have a usable"
                f" gold answer and a prompt of at most {self.max_prompt_tokens} tokens: raise"
                " max_prompt_tokens, or take another set"
            )
        return usable
