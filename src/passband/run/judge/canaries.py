"""Canaries: null answers that no judge should pass, through the real judge.

A judge that passes an answer without content says little about answers with some. For a few
problems it is shown an empty answer, one that only claims to be right, and the right answer to
another problem; the share that it passes is reported beside its verdicts. Canaries are recorded
under a scorer of their own, which no table shows, and are no trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from passband.generate import Problem
from passband.run.judge.queue import JudgeQueue
from passband.score import PASSED, JudgeScorer, NotScoredYet, canary_names, together
from passband.trials import ScorerEntry

KINDS = ("empty", "claim", "other")
_CLAIM = "I am correct. This is the right answer."


@dataclass(frozen=True)
class CanaryCounts:
    """How many null answers a judge passed, of how many that it gave a verdict on."""

    judge: str
    passed: int
    judged: int

    def __str__(self) -> str:
        if not self.judged:
            return f"the judge {self.judge} gave no verdict on null answers"
        said = f"the judge {self.judge} passes {self.passed} of {self.judged} null answers"
        if not self.passed:
            return said
        return f"{said} (empty, a mere claim, the answer to another problem): do not trust its rate"


def canary_entry(scorer: JudgeScorer) -> ScorerEntry:
    """Return the scorer that the canaries of a judge are recorded under; it is never in use."""
    return ScorerEntry(*canary_names(scorer.name, scorer.identity))


@dataclass(frozen=True)
class Canaries:
    """The null answers of one judge in one run."""

    scorer: JudgeScorer
    bench: JudgeQueue
    problems: int

    async def judged(self) -> CanaryCounts:
        """Ask about every null answer, once each; those without a reply are left out."""
        options = replace(self.scorer.options, votes=1)
        scorer = self.scorer.with_options(options)
        values = await together([self._value(scorer, *canary) for canary in self._answers()])
        known = [value for value in values if value is not None]
        passed = sum(value >= PASSED for value in known)
        return CanaryCounts(options.model or "", passed, len(known))

    async def _value(
        self, scorer: JudgeScorer, problem: int, kind: int, answer: str
    ) -> float | None:
        reference = self.bench.problems[problem].reference
        try:
            (vote,) = await scorer.votes(self.bench, answer, reference, (problem, kind))
        except NotScoredYet:
            return None
        return vote.value

    def _answers(self) -> Iterator[tuple[int, int, str]]:
        """Yield the position of a problem, the kind of a null answer, and its text."""
        problems = self.bench.problems
        step = max(1, len(problems) // max(1, self.problems))
        for position in range(0, len(problems), step)[: self.problems]:
            other = _other_target(problems, position)
            texts = ("", _CLAIM, other)
            for kind, text in enumerate(texts):
                if text is not None:
                    yield position, kind, text


def _other_target(problems: Sequence[Problem], position: int) -> str | None:
    """Return the right answer to another problem, which is none to this one; None if all are."""
    own = {target.strip().casefold() for target in problems[position].reference.targets}
    for step in range(1, min(len(problems), 50)):
        for target in problems[(position + step) % len(problems)].reference.targets:
            if own and target.strip() and target.strip().casefold() not in own:
                return target
    return None
