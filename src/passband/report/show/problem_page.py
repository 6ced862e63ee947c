"""Lay out a problem and its trials once; terminal, report and viewer render the same pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from passband.report.show.reason import Verdict, label_text, verdict, verdict_of_score
from passband.report.words import counted, latency_text, tokens_text
from passband.summary import ShownProblem, ShownTrial


class Passage(NamedTuple):
    """A text and its label: a role, the letter of a choice, or the name of a scorer."""

    label: str
    text: str


@dataclass(frozen=True)
class ProblemPage:
    """A problem: its question, its choices, the expected answers and how its trials ended."""

    question: tuple[Passage, ...]
    choices: tuple[Passage, ...]  #: by letter
    targets: tuple[str, ...]
    outcome: str


@dataclass(frozen=True)
class TrialPage:
    """A trial: its verdict, its ending, its measures, and the texts before the answer."""

    verdict: Verdict
    others: tuple[tuple[str, Verdict], ...]  #: of further scorers, by name
    labels: tuple[str, ...]  #: by people
    ending: tuple[str, ...]  #: where it is unusual
    measures: tuple[str, ...]
    reasoning: str | None
    steps: tuple[Passage, ...]  #: messages of the transcript

    @property
    def before_answer(self) -> list[Passage]:
        """The texts that come before the completion."""
        reasoning = [Passage("reasoning", self.reasoning)] if self.reasoning else []
        return [*reasoning, *self.steps]


def lay_out_problem(problem: ShownProblem) -> ProblemPage:
    """Lay out a problem.

    >>> page = lay_out_problem(ShownProblem("t", "m", "p", (), ("4",), ("3", "4"), 5, 4, 3))
    >>> page.choices[1], page.outcome
    (Passage(label='B', text='4'), '3 of 4 scored trials right')
    """
    return ProblemPage(
        tuple(Passage(message.role or "asked", message.text) for message in problem.messages),
        tuple(Passage(_letter(index), text) for index, text in enumerate(problem.choices)),
        problem.targets,
        _outcome(problem),
    )


def lay_out_trial(trial: ShownTrial) -> TrialPage:
    """Lay out a trial."""
    further = trial.scores[1:]
    return TrialPage(
        verdict(trial),
        tuple((score.scorer, verdict_of_score(score, trial.text)) for score in further),
        tuple(label_text(score) for score in further if score.is_label),
        tuple(_ending(trial)),
        tuple(_measures(trial)),
        trial.reasoning,
        tuple(Passage(m.role or "message", m.text) for m in trial.transcript),
    )


def _outcome(problem: ShownProblem) -> str:
    if not problem.scored:
        return f"{counted(problem.trials, 'trial')}, none scored"
    return f"{problem.right:,} of {counted(problem.scored, 'scored trial')} right"


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def _ending(trial: ShownTrial) -> list[str]:
    # without a score the verdict already names the status
    status = [f"status {trial.status}"] if trial.status != "ok" and trial.score else []
    return status + ([f"finish reason {trial.finish_reason}"] if trial.finish_reason else [])


def _measures(trial: ShownTrial) -> list[str]:
    measures = []
    if trial.prompt_tokens is not None or trial.completion_tokens is not None:
        measures.append(tokens_text(
            trial.prompt_tokens, trial.completion_tokens, trial.cached_tokens,
            trial.reasoning_tokens,
        ))  # fmt: skip
    if trial.latency_ms is not None:
        measures.append(latency_text(trial.latency_ms))
    if trial.attempts > 1:
        measures.append(counted(trial.attempts, "attempt"))
    if trial.seed is not None:
        measures.append(f"seed {trial.seed}")
    return measures
