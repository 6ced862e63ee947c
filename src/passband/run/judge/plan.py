"""The calls of judges that a run would make, counted and priced before any is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from passband.generate import Problem
from passband.run.judge.canaries import KINDS
from passband.run.judge.choice import JudgeChoice
from passband.run.judge.queue import question_of
from passband.run.task_run import Price, TaskRun
from passband.score import ANSWERS, JudgeScorer, judge_prompt, rubric_values

CHARACTERS_PER_TOKEN = 4  # per token: a rule of thumb for English
_LOOKED_AT = 20  # problems whose prompts are measured
_ANSWER = 400  # tokens of an answer, where none is recorded


@dataclass(frozen=True)
class JudgePlan:
    """The calls of one judge to one task."""

    task: str
    scorer: str
    model: str
    calls: int  # for votes, none of which is asked for again
    canaries: int
    prompt_tokens: int  # estimated, of all calls
    completion_tokens: int | None  # at most; None if nothing limits them
    price: Price | None

    @property
    def cost(self) -> float | None:
        """The cost, at most; None if there is no price or no limit."""
        if self.price is None or (self.completion_tokens is None and self.price.completion):
            return None
        return self.price.of(self.prompt_tokens, self.completion_tokens or 0)


def judge_plans(runs: Sequence[TaskRun], choice: JudgeChoice) -> list[JudgePlan]:
    """Return the calls that judging all missing trials takes, judge by judge."""
    return [
        _plan(run, scorer, choice)
        for run in runs
        for _, scorer in run.grader.scorers
        if isinstance(scorer, JudgeScorer)
    ]


def _plan(run: TaskRun, scorer: JudgeScorer, choice: JudgeChoice) -> JudgePlan:
    options, counters = scorer.options, run.counters
    calls = (counters.planned - counters.done) * options.calls
    canaries = min(choice.canaries, len(run.problems)) * len(KINDS) if calls else 0
    drawn = counters.completion_tokens / counters.done if counters.completion_tokens else _ANSWER
    answers = drawn * len(ANSWERS[options.rubric.form])
    prompt = fmean(_characters(scorer, problem) for problem in run.problems[:_LOOKED_AT])
    total = calls + canaries
    return JudgePlan(
        run.task.name,
        scorer.name,
        options.model or "",
        calls,
        canaries,
        round(total * (prompt / CHARACTERS_PER_TOKEN + answers)),
        None if options.max_tokens is None else total * options.max_tokens,
        choice.price_of(options.model or ""),
    )


def _characters(scorer: JudgeScorer, problem: Problem) -> int:
    """Return the length of a prompt about an empty answer."""
    rubric = scorer.options.rubric
    values = rubric_values(rubric, question_of(problem), problem.reference)
    answers = dict.fromkeys(ANSWERS[rubric.form], "")
    turns = judge_prompt(rubric, values, answers, scorer.options.longest)
    return sum(len(turn.content) for turn in turns)
