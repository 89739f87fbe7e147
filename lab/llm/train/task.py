"""A task: what a language model is asked, how its answers are judged, and in which order.

The judge is the verifier, or a reward function that may grade answers. An estimator of real rewards
(`lab.lift`) trains on the grades as they are. What a run records of them is the mean reward, and
the share of groups whose rewards all agree; a pass rate is recorded only of the held-out sets,
where an answer is right whose reward reaches `right_from`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError, one_of
from lab.judge.rewards import Judge, check_reward, judge
from lab.judge.verifier import Verdict
from lab.llm.data.datasets import Problem, ProblemSet
from lab.llm.data.problem_sets import is_file, problem_set, reward_of
from lab.llm.data.prompts import Prompt, load_prompt
from lab.mathematics.estimators import Estimator
from lab.mathematics.estimators import estimator as find_estimator
from lab.plugins import is_ours
from lab.training.rng import epoch_order

Usable = list[tuple[Problem, str]]  # problems, each with its prompt


def estimator_of(config: LanguageModelConfig) -> Estimator:
    """The estimator of a training; of PACS, what its loss is where policy and reference agree."""
    if config.estimator == "pacs":
        from lab.losses import pacs_at_anchor  # it loads torch

        return pacs_at_anchor(config.beta, config.score, config.balanced)
    return find_estimator(config.estimator)


def takes_real_rewards(config: LanguageModelConfig) -> bool:
    """Whether the estimator takes rewards other than 0 and 1."""
    return estimator_of(config).real is not None


@dataclass(frozen=True, kw_only=True)
class Task:
    """Problems with a prompt, and a judge; each field is a setting of `LanguageModelConfig`.

    | field | meaning |
    |---|---|
    | `prompt`, `system_prompt` | as `lab.llm.data.prompts.load_prompt` takes them |
    | `question_column`, `answer_column` | of problems in a file |
    | `max_prompt_tokens` | of a usable problem; 0: a problem is not left out for its length |
    | `style`, `reward`, `right_from`, `error_limit` | as `lab.judge.rewards.judge` takes them |
    """

    prompt: str = "plain"
    system_prompt: str = ""
    question_column: str = "question"
    answer_column: str = "answer"
    max_prompt_tokens: int = 0
    style: str = "strict"
    reward: str = ""
    right_from: float | None = None
    error_limit: float = 0.02

    @classmethod
    def of(cls, config: LanguageModelConfig) -> Task:
        """The task of a training."""
        task = cls(**{each.name: getattr(config, each.name) for each in fields(cls)})
        if not takes_real_rewards(config):
            task = replace(task, right_from=None)
        return task.of_sets((config.train_set, *config.eval_sets))

    def of_sets(self, names: Collection[str]) -> Self:
        """The task with the reward that comes with its sets, unless it has one of its own."""
        if self.reward and not is_ours(self.reward):
            return self
        return replace(self, reward=reward_of(names, self.right_from is not None))

    def check(self) -> None:
        """LabError: a value that no training takes; a prompt or a reward that is not there."""
        one_of("style", self.style, ("strict", "lenient"))
        for each in fields(Task):  # a default may lie outside of what a training takes
            if (value := getattr(self, each.name)) != each.default:
                LanguageModelConfig.rules()[each.name].checked(each.name, value)
        _ = self.template
        if self.reward:
            check_reward(self.reward)

    def judge(self) -> Judge:
        """The judge of answers, in a `with`: it may hold worker processes."""
        return judge(self.style, self.reward, self.error_limit, self.right_from)

    @property
    def template(self) -> Prompt:
        """The prompt around a question."""
        return load_prompt(self.prompt, self.system_prompt)

    def problem_set(self, name: str, limit: int | None, split: str = "test") -> ProblemSet:
        """The first `limit` problems of a set; see `lab.llm.data.problem_sets.problem_set`.

        Each has its prompt.
        """
        columns = self.question_column, self.answer_column
        loaded = problem_set(name, limit or None, split, columns)
        of = self.template.of
        prompted = (replace(problem, prompt=of(problem.question)) for problem in loaded.problems)
        return replace(loaded, problems=tuple(prompted))

    def usable(self, loaded: ProblemSet, tokenizer: Any, judge: Judge) -> Usable:
        """The problems with a gold answer that `judge` reads and a prompt that is short enough.

        LabError: fewer than two are usable.
        """
        prompt, unreadable = self.template, unusable(judge, loaded.problems)
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


def described(task: Task, name: str) -> Iterator[str]:
    """What `lab data check SET` prints: size, columns, a prompt, and how its golds are judged.

    A gold is put to the verifiers in a box, to a function of one's own as it is.
    """
    own = task.reward and not is_ours(task.reward)
    for split in ("test",) if is_file(name) else ("train", "test"):
        loaded = task.problem_set(name, None, split)
        with task.judge() as judge:
            unreadable = unusable(judge, loaded.problems)
            first = loaded.problems[:100]
            golds = [each.answer if own else rf"\boxed{{{each.answer}}}" for each in first]
            right = sum(one.outcome == "right" for one in judged(judge, golds, first))
        yield f"{loaded}; {len(unreadable)} gold answers unreadable"
        for problem in (loaded.problems[place] for place in unreadable):
            yield f"    {problem.id}: {problem.answer!r} cannot be read"
        answers = defaultdict(list)
        for problem in loaded.problems:
            answers[str(problem.prompt)].append(problem.answer)
        repeated = [each for each in answers.values() if len(each) > 1]
        if repeated:
            unlike = sum(len({*each}) > 1 for each in repeated)
            yield f"    {len(repeated)} prompts stand there again, {unlike} with another gold"
        yield f"    columns: {', '.join(sorted(first[0].row))}"
        yield f"    prompt: {first[0].prompt!r}"
        yield f"    {right} of the first {len(first)} golds are right, as answers"


def unusable(judge: Judge, problems: Sequence[Problem]) -> dict[int, str]:
    """The problems whose gold answer `judge` cannot use, by index, with the reason.

    LabError: it is a reward function of a column that no problem has.
    """
    judge.require({name for problem in problems for name in problem.row})
    return judge.unparsable([problem.answer for problem in problems])


def judged(judge: Judge, completions: Sequence[str], problems: Sequence[Problem]) -> list[Verdict]:
    """One verdict a completion, each of the problem beside it."""
    golds = [problem.answer for problem in problems]
    return judge.check(completions, golds, [problem.row for problem in problems])


def problems_of(
    config: LanguageModelConfig, tokenizer: Any, verifier: Judge
) -> tuple[Usable, int, dict[str, Usable]]:
    """The usable problems to train on, how many were left out, and those of each evaluation set.

    Left out are problems without a readable gold answer, and those with too long a prompt.
    LabError: fewer than two of a set are usable.
    """
    task = Task.of(config)
    loaded = loaded_set(config, config.train_set, "train")
    usable = task.usable(loaded, tokenizer, verifier)
    held_out = {
        name: task.usable(loaded_set(config, name, "test"), tokenizer, verifier)
        for name in config.eval_sets
    }
    return usable, len(loaded.problems) - len(usable), held_out


def loaded_set(config: LanguageModelConfig, name: str, split: str) -> ProblemSet:
    """The problems of a set for "train" or "test"; see `lab.llm.data.problem_sets.problem_set`."""
    limit = config.problems if split == "train" else config.eval_problems
    return Task.of(config).problem_set(name, limit, split)


def problems_of_step(seed: int, step: int, prompts: int, problems: int) -> list[int]:
    """The problem numbers of a step's batch.

    Every problem comes once per epoch, in an order that is drawn anew for each epoch. A batch may
    span two epochs.

    >>> sorted(problems_of_step(0, 0, 2, 4) + problems_of_step(0, 1, 2, 4))
    [0, 1, 2, 3]
    """
    places = (divmod(place, problems) for place in range(step * prompts, (step + 1) * prompts))
    return [int(epoch_order(seed, epoch, problems)[row]) for epoch, row in places]
